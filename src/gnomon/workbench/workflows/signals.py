"""Signals to classes by the recipe of 000b 8.3: pieces, dictionary, histogram, classifier, vote.

A representation is checked before anything is built on it: are histograms of one class nearer to
each other than to those of other classes, and does the nearest signal tell the class? The size of a
piece is chosen so, by experiment. Only then come a forest and the vote of several dictionaries, and
what they confuse. Every figure is of signals that took no part in dictionary or fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import clone

from gnomon.cluster import DictionaryVote, VectorQuantizer
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate import ConfusionTable, Estimate, accuracy, confusion_table, k_fold
from gnomon.trees import RandomForestClassifier


@dataclass(repr=False)
class SignalRecipe(Result):
    """What each step of the recipe found.

    Attributes
    ----------
    sizes : list of int
        Sizes of pieces that were tried.
    within, between : list of float
        Mean distance of held-out histograms to training histograms of their own class, and of
        other classes, for each size.
    nearest : list of Estimate
        Accuracy of the nearest training signal, for each size.
    chosen : int
        The size whose nearest signals told the class best.
    forest : Estimate
        Accuracy of a forest on one dictionary.
    vote : Estimate
        Accuracy of the vote of several dictionaries.
    confusion : ConfusionTable
        Of the vote.
    commonest : float
        Share of the commonest class: what guessing reaches.
    model : DictionaryVote
        Fitted on all signals.
    """

    sizes: list[int]
    within: list[float]
    between: list[float]
    nearest: list[Estimate]
    chosen: int
    forest: Estimate
    vote: Estimate
    confusion: ConfusionTable
    commonest: float
    model: DictionaryVote

    def _title(self) -> str:
        return f"Pieces of {self.chosen} samples; accuracy of the vote {self.vote}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "size of a piece": self.sizes,
            "distance within classes": self.within,
            "between classes": self.between,
            "accuracy of the nearest signal": self.nearest,
        }

    def _remarks(self) -> list[str]:
        place = self.sizes.index(self.chosen)
        remarks = [
            f"A forest on one dictionary: {self.forest}; the vote of "
            f"{self.model.n_dictionaries}: {self.vote}; the commonest class: {self.commonest:.3g}"
        ]
        if self.within[place] >= self.between[place]:
            remarks.append(
                "Signals of one class are no nearer to each other than to those of others: this "
                "representation does not tell them apart; try other sizes, steps or dictionaries"
            )
        if self.nearest[place].low <= self.commonest:
            remarks.append(
                "The nearest signal tells the class no better than guessing the commonest: mend "
                "the representation before the classifier"
            )
        return remarks


def signal_recipe(
    signals: Sequence[Any],
    labels: Any,
    *,
    sizes: Sequence[int] = (16, 32, 64),
    n_entries: int = 40,
    n_dictionaries: int = 3,
    n_folds: int = 5,
    groups: Any = None,
    classifier: Any = None,
    random_state: int = 0,
) -> SignalRecipe:
    """Classify signals of any length by histograms of their pieces, each step checked.

    Use it for accelerometers, sounds, sensors: many signals with a class each. Not where the order
    of pieces matters (`gnomon.sequence.HMMClassifier`): a histogram forgets it. Do not stretch
    signals to one length first. Texts: 000b 8.3 and its advice.

    Parameters
    ----------
    signals : sequence of arrays of shape (length,) or (length, n_channels)
    labels : array-like of shape (n_signals,)
    sizes : sequence of int, default=(16, 32, 64)
        Samples in a piece; none may be longer than the shortest signal.
    n_entries : int, default=40
        Entries of a dictionary.
    n_dictionaries : int, default=3
        That vote.
    n_folds : int, default=5
    groups : array-like of shape (n_signals,), default=None
        Signals that belong together (a person's), kept in one fold.
    classifier : estimator, default=None
        On the histograms; a `RandomForestClassifier`.
    random_state : int, default=0

    Returns
    -------
    recipe : SignalRecipe

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> slow = [np.sin(np.arange(rng.integers(60, 90)) / 4) for _ in range(10)]
    >>> fast = [np.sin(np.arange(rng.integers(60, 90)) / 1.5) for _ in range(10)]
    >>> found = signal_recipe(slow + fast, ["slow"] * 10 + ["fast"] * 10, sizes=(8, 16))
    >>> found.vote.value
    1.0
    """
    y = np.asarray(labels)
    sizes = [int(size) for size in sizes]
    _require_signals(signals, y, sizes)
    splits = k_fold(len(y), n_folds, stratify=y, groups=groups, random_state=random_state)
    learner = (
        RandomForestClassifier(random_state=random_state) if classifier is None else classifier
    )
    checked = []
    for size in sizes:
        quantizer = VectorQuantizer(size, n_entries=n_entries, random_state=random_state)
        checked.append(_checked(quantizer, signals, y, splits, learner))
    best = int(np.argmax([each.nearest.value for each in checked]))
    quantizer = VectorQuantizer(sizes[best], n_entries=n_entries, random_state=random_state)
    model = DictionaryVote(
        quantizer, learner, n_dictionaries=n_dictionaries, random_state=random_state
    )
    said = np.empty(len(y), dtype=y.dtype)
    for train, test in splits:
        fitted = clone(model).fit([signals[i] for i in train], y[train])
        said[test] = fitted.predict([signals[i] for i in test])
    counts = np.unique(y, return_counts=True)[1]
    return SignalRecipe(
        sizes=sizes,
        within=[each.within for each in checked],
        between=[each.between for each in checked],
        nearest=[each.nearest for each in checked],
        chosen=sizes[best],
        forest=checked[best].forest,
        vote=accuracy(y, said),
        confusion=confusion_table(y, said),
        commonest=float(counts.max() / len(y)),
        model=model.fit(signals, y),
    )


@dataclass(frozen=True)
class _Check:
    """How well histograms of one dictionary tell classes."""

    within: float
    between: float
    nearest: Estimate
    forest: Estimate


def _checked(quantizer: Any, signals: Any, y: np.ndarray, splits: Any, learner: Any) -> _Check:
    by_nearest, by_learner = np.empty_like(y), np.empty_like(y)
    sums, counts = np.zeros(2), np.zeros(2)
    for train, test in splits:
        fitted = clone(quantizer).fit([signals[i] for i in train])
        known = fitted.transform([signals[i] for i in train])
        asked = fitted.transform([signals[i] for i in test])
        distances = cdist(asked, known)
        by_nearest[test] = y[train][distances.argmin(axis=1)]
        by_learner[test] = clone(learner).fit(known, y[train]).predict(asked)
        same = y[test][:, None] == y[train]
        for place, pairs in enumerate((same, ~same)):
            sums[place] += distances[pairs].sum()
            counts[place] += pairs.sum()
    within, between = sums / np.maximum(counts, 1)
    return _Check(float(within), float(between), accuracy(y, by_nearest), accuracy(y, by_learner))


def _require_signals(signals: Sequence[Any], y: np.ndarray, sizes: list[int]) -> None:
    if len(signals) != len(y):
        raise DataError(f"there are {len(signals):,} signals and {len(y):,} labels; give one each")
    if len(np.unique(y)) < 2:
        raise DataError("all signals have one class; there is nothing to tell apart")
    lengths = [len(signal) for signal in signals]
    shortest = int(np.argmin(lengths))
    if not sizes or min(sizes) < 1 or max(sizes) > lengths[shortest]:
        raise DataError(
            f"sizes={sizes} must lie between 1 and {lengths[shortest]}, the length of signal "
            f"{shortest}, the shortest; give other sizes or leave short signals out"
        )
