"""Classes of sequences: one hidden Markov model for each, joined by Bayes' rule.

p(m | X) = p(X | theta_m) p(m) / sum_l p(X | theta_l) p(l). Each model learns from its own class
alone, or all of them together so that the sum of log p(m_r | X_r) rises: then every sequence is
scored by every model, and start, transitions and tables of symbols are softmaxes of free numbers,
whose gradients are expected counts less row sums times probabilities.

Texts: 001 14.2.7 · 002 L6558-6602 (adaptation to a speaker is named there).
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.base import clone

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, ListOf, Object
from gnomon.sequence.emissions import CategoricalEmission, GaussianEmission
from gnomon.sequence.hmm import HiddenMarkovModel
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.passes import posteriors, prepare


@method(
    task="classify",
    texts="001 14.2.7",
    use="Sequences of different lengths with one label each: words, gestures, machine noise.",
    avoid="A label for every step: ChainCRF, or HiddenMarkovModel fitted with known states.",
    takes="sequences",
    synonyms=("sequence classification",),
)
class HMMClassifier(SequenceEstimator):
    """One hidden Markov model per class, and Bayes' rule.

    Use it for sequences of different lengths with one label each: words, gestures, kinds of
    machine noise. Where each step has a label of its own, use `HiddenMarkovModel.fit` with states,
    or `ChainCRF`.

    Parameters
    ----------
    model : HiddenMarkovModel, default=None
        What is fitted to each class; two Gaussian states by default.
    priors : dict, default=None
        Probability of each class; their shares in the data by default.
    discriminative : bool, default=False
        Whether to go on and maximise sum_r log p(class_r | X_r) over start, transitions and tables
        of symbols (emissions of other kinds stay as they are).
    penalty : float, default=1e-3
        Times the squared distance of the free numbers from where maximum likelihood left them;
        without it a separable data set has no maximum.
    max_iter : int, default=100
        Steps of L-BFGS, where discriminative.

    Attributes
    ----------
    classes_ : list
    models_ : list of HiddenMarkovModel
    log_priors_ : ndarray

    Notes
    -----
    Texts: 001 14.2.7.

    Examples
    --------
    >>> from gnomon.sequence import HMMClassifier, HiddenMarkovModel
    >>> model = HiddenMarkovModel(1, "categorical", alpha=1.0)
    >>> texts = ["aaab", "aab", "bbba", "bb"]
    >>> HMMClassifier(model).fit(texts, ["A", "A", "B", "B"]).predict(["aa", "bbb"])
    ['A', 'B']
    """

    _parameter_constraints = {
        "model": [HiddenMarkovModel, None],
        "priors": [dict, None],
        "discriminative": FLAG,
        "penalty": [at_least(0)],
        "max_iter": [whole(1)],
    }
    _stored = {
        "classes_": ListOf(Anything(), "n_classes"),
        "log_priors_": Array("f8", ("n_classes",)),
        "models_": ListOf(Object(("HiddenMarkovModel",)), "n_classes"),
    }

    def __init__(
        self,
        model: HiddenMarkovModel | None = None,
        *,
        priors: dict | None = None,
        discriminative: bool = False,
        penalty: float = 1e-3,
        max_iter: int = 100,
    ):
        self.model = model
        self.priors = priors
        self.discriminative = discriminative
        self.penalty = penalty
        self.max_iter = max_iter

    @fits()
    def fit(self, sequences: Sequence, y: Sequence[Hashable]) -> HMMClassifier:
        """Fit one model to the sequences of each class.

        Parameters
        ----------
        sequences : list of sequences
        y : sequence
            Class of each.

        Returns
        -------
        self : HMMClassifier
        """
        if len(sequences) != len(y):
            raise DataError(f"{len(sequences)} sequences have {len(y)} labels")
        seen: set[Any] = set(y)
        self.classes_ = sorted(seen)
        shares = self.priors or {c: list(y).count(c) / len(y) for c in self.classes_}
        missing = [c for c in self.classes_ if shares.get(c, 0) <= 0]
        if missing:
            raise DataError(f"the class {missing[0]!r} has no prior; give one above 0")
        weights = np.array([shares[c] for c in self.classes_], dtype=float)
        self.log_priors_ = np.log(weights / weights.sum())
        prototype = self._prototype(sequences)
        self.models_ = [
            clone(prototype).fit([x for x, label in zip(sequences, y, strict=True) if label == c])
            for c in self.classes_
        ]
        if self.discriminative:
            self._sharpen(sequences, np.array([self.classes_.index(label) for label in y]))
        return self

    def _prototype(self, sequences: Sequence) -> HiddenMarkovModel:
        """The model to fit, which knows the symbols of all classes."""
        prototype = clone(self.model) if self.model is not None else HiddenMarkovModel()
        law = prototype._law()
        if isinstance(law, CategoricalEmission):
            if law.symbols is None:
                law.know(sequences)
                law.alpha = max(law.alpha, prototype.alpha)
            prototype.emission = law
        return prototype

    def _joint(self, sequences: Sequence) -> np.ndarray:
        scores = np.column_stack([model.log_likelihood(sequences) for model in self.models_])
        return scores + self.log_priors_

    @of_sequences()
    def predict_proba(self, sequences: Sequence) -> np.ndarray:
        """p(class | sequence), in the order of ``classes_``."""
        joint = self._joint(sequences)
        total = logsumexp(joint, axis=1, keepdims=True)
        if np.isneginf(total).any():
            raise DataError(
                f"sequence {np.flatnonzero(np.isneginf(total))[0]} is impossible in every class; "
                "smooth the models (alpha)"
            )
        return np.exp(joint - total)

    @of_sequences()
    def predict(self, sequences: Sequence) -> list:
        """The most probable class of each sequence."""
        return [self.classes_[k] for k in self.predict_proba(sequences).argmax(axis=1)]

    @of_sequences()
    def score(self, sequences: Sequence, y: Sequence[Hashable]) -> float:
        """Share of sequences with the right class."""
        return float(np.mean([a == b for a, b in zip(self.predict(sequences), y, strict=True)]))

    def adapt(
        self, sequences: Sequence, y: Sequence[Hashable] | None = None, *, n_iter: int = 5
    ) -> HMMClassifier:
        """A copy adapted to one user from a few sequences: one map of the means of all classes.

        So a few sequences of some classes also improve classes of which the user gave none.

        Parameters
        ----------
        sequences : list of sequences
            Of the user.
        y : sequence, default=None
            Their classes; those that are predicted, by default.
        n_iter : int, default=5
            Steps of EM.

        Returns
        -------
        adapted : HMMClassifier
            Same transitions, covariances and priors; see `adapt_means`.
        """
        labels = self.predict(sequences) if y is None else list(y)
        unknown = [label for label in labels if label not in self.classes_]
        if unknown or len(labels) != len(sequences):
            raise DataError(
                f"{unknown[0]!r} is not one of the classes"
                if unknown
                else f"{len(sequences)} sequences have {len(labels)} labels"
            )
        own = [
            [x for x, c in zip(sequences, labels, strict=True) if c == each]
            for each in self.classes_
        ]
        adapted = copy.deepcopy(self)
        adapted.models_ = _moved_means(self.models_, own, n_iter)
        return adapted

    def _sharpen(self, sequences: Sequence, codes: np.ndarray) -> None:
        """Raise sum log p(class | X) by L-BFGS."""
        first = np.concatenate([_free_numbers(model) for model in self.models_])
        sizes = np.cumsum([len(_free_numbers(model)) for model in self.models_])[:-1]

        def loss(numbers: np.ndarray) -> tuple[float, np.ndarray]:
            for model, part in zip(self.models_, np.split(numbers, sizes), strict=True):
                _set_free_numbers(model, part)
            joint = self._joint(sequences)
            shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
            chosen = np.arange(len(codes)), codes
            away = numbers - first
            value = -np.log(shares[chosen]).sum() + self.penalty * away @ away
            pull = shares.copy()
            pull[chosen] -= 1
            slopes = [
                _likelihood_slope(model, sequences, pull[:, m])
                for m, model in enumerate(self.models_)
            ]
            return value, np.concatenate(slopes) + 2 * self.penalty * away

        found = minimize(
            loss, first, jac=True, method="L-BFGS-B", options={"maxiter": self.max_iter}
        )
        loss(found.x)


def _tables(model: HiddenMarkovModel) -> list[np.ndarray]:
    """The tables whose rows are softmaxes of free numbers."""
    tables = [model.start_[None, :], model.transition_]
    if isinstance(model.emission_, CategoricalEmission):
        tables.append(model.emission_.table)
    return tables


def _free_numbers(model: HiddenMarkovModel) -> np.ndarray:
    """Logarithms of the entries that are not zero; zeros stay zero."""
    return np.concatenate([np.log(table[table > 0]) for table in _tables(model)])


def _set_free_numbers(model: HiddenMarkovModel, numbers: np.ndarray) -> None:
    used = 0
    made = []
    for table in _tables(model):
        free = table > 0
        logs = np.full(table.shape, -np.inf)
        logs[free] = numbers[used : used + free.sum()]
        used += int(free.sum())
        made.append(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))
    model.start_, model.transition_ = made[0][0], made[1]
    if len(made) == 3:
        model.emission_.table = made[2]


def _likelihood_slope(
    model: HiddenMarkovModel, sequences: Sequence, weights: np.ndarray
) -> np.ndarray:
    """Gradient of sum_r weights_r log p(X_r) by the free numbers: counts less row sums x shares."""
    tables = _tables(model)
    counts = [np.zeros(table.shape) for table in tables]
    for sequence, weight in zip(sequences, weights, strict=True):
        if weight == 0 or len(sequence) == 0:
            continue
        data = prepare(model.emission_, [sequence])
        logs = model.emission_.log_likelihood(data.rows)
        found = posteriors(model.start_, model.transition_, logs, data.bounds)
        counts[0] += weight * found.states[:1]
        counts[1] += weight * found.pairs
        if len(tables) == 3:
            seen = data.rows >= 0
            np.add.at(counts[2].T, data.rows[seen], weight * found.states[seen])
    return np.concatenate(
        [
            (count - count.sum(axis=1, keepdims=True) * table)[table > 0]
            for count, table in zip(counts, tables, strict=True)
        ]
    )


def adapt_means(
    model: HiddenMarkovModel, sequences: Sequence, *, n_iter: int = 5
) -> HiddenMarkovModel:
    """Adapt Gaussian emissions to a new speaker from a few sequences: mu' = A mu + b for all
    states.

    Parameters
    ----------
    model : HiddenMarkovModel
        With `GaussianEmission`; it is not changed.
    sequences : list of sequences
        Of the new speaker.
    n_iter : int, default=5
        Steps of EM; each raises the likelihood of the sequences.

    Returns
    -------
    adapted : HiddenMarkovModel
        Same transitions and covariances, moved means. Of all maps that fit equally well, the one
        closest to none at all.

    Notes
    -----
    Maximum likelihood linear regression with one class of Gaussians. Texts: 002, speaker adaptation
    (named there). Covariances must be diagonal, so that each row of (b, A) is a least-squares
    problem.
    """
    return _moved_means([model], [sequences], n_iter)[0]


def _moved_means(
    models: Sequence[HiddenMarkovModel], sequences: Sequence[Sequence], n_iter: int
) -> list[HiddenMarkovModel]:
    """Copies of models whose means all went through one linear map, fitted to their sequences."""
    laws = [model.emission_ for model in models]
    for law in laws:
        if not isinstance(law, GaussianEmission) or law.covariance != "diagonal":
            raise DataError("adaptation needs GaussianEmission with covariance='diagonal'")
    adapted = copy.deepcopy(list(models))
    heard = [m for m, own in enumerate(sequences) if len(own)]
    if not heard:
        raise DataError("there are no sequences to adapt to")
    data = {m: prepare(laws[m], sequences[m]) for m in heard}
    means = np.concatenate([law.means for law in laws])
    inputs = np.column_stack([np.ones(len(means)), means])
    variances = np.concatenate([np.diagonal(law.covariances, axis1=1, axis2=2) for law in laws])
    cuts = np.cumsum([len(law.means) for law in laws])[:-1]
    for _ in range(n_iter):
        mass, sums = np.zeros((2, *means.shape))
        for m in heard:
            rows = data[m].rows
            logs = adapted[m].emission_.log_likelihood(rows)
            chain = (models[m].start_, models[m].transition_)
            weights = posteriors(*chain, logs, data[m].bounds).states
            np.split(mass, cuts)[m][:] = weights.T @ (~np.isnan(rows)).astype(float)
            np.split(sums, cuts)[m][:] = weights.T @ np.nan_to_num(rows)
        moved = means.copy()
        for i in range(means.shape[1]):
            share = mass[:, i] / variances[:, i]
            left = inputs.T @ (share[:, None] * inputs)
            right = inputs.T @ (sums[:, i] / variances[:, i] - share * means[:, i])
            moved[:, i] += inputs @ np.linalg.lstsq(left, right, rcond=1e-10)[0]
        for model, part in zip(adapted, np.split(moved, cuts), strict=True):
            model.emission_.means = part
    return adapted
