"""Active learning: the learner chooses which rows a person labels next.

Rows are asked for by uncertainty (the least sure of the model) or by committee (members that
learned from bootstrap samples disagree most), and the curve of accuracy against the number of
labels is compared with rows drawn at random.

Texts: 001 3.3.1 · 003 2.12 (the heading only).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.contract.estimate import Estimate, student_quantile
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.comparison import PairTest, corrected_standard_error, corrected_t_test

STRATEGIES = ("uncertainty", "margin", "entropy", "committee", "random")
MEMBERS = 7  # judgement: an odd committee has no ties of two classes; costs seven fits a round
# p below which the strategy is said to be better than random choice
LEVEL = 0.05


def query(
    estimator: Any,
    X: Any,
    *,
    strategy: str = "uncertainty",
    n_queries: int = 1,
    labeled: tuple[Any, Any] | None = None,
    random_state: Any = None,
) -> np.ndarray:
    """The rows whose labels would help most.

    Parameters
    ----------
    estimator : classifier
        Fitted, with ``predict_proba``.
    X : array of shape (n_samples, n_features)
        Rows without labels.
    strategy : {"uncertainty", "margin", "entropy", "committee", "random"}, default="uncertainty"
        Least probability of the best class; least lead of the best over the second; entropy of the
        probabilities; disagreement of seven copies fitted to bootstrap samples of `labeled`; none.
    n_queries : int, default=1
        Rows to ask for.
    labeled : (X, y), default=None
        The labeled rows, which "committee" needs.
    random_state : int, Generator or None, default=None
        Draws of "committee" and "random", and ties.

    Returns
    -------
    rows : ndarray of int of shape (n_queries,)
        Their places in X, the most useful first.

    Examples
    --------
    >>> from gnomon.linear import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [10.0]], [0, 1])
    >>> query(model, [[1.0], [5.2], [9.0]], random_state=0).tolist()
    [1]
    """
    if strategy not in STRATEGIES:
        raise DataError(f"strategy is one of {', '.join(STRATEGIES)}, not {strategy!r}")
    rng = np.random.default_rng(random_state)
    n = n_rows(X)
    if n_queries > n:
        raise DataError(f"{n_queries} rows were requested and {n} have no label")
    use = usefulness(estimator, X, strategy, labeled, rng)
    order = np.lexsort((rng.permutation(n), -use))
    return order[:n_queries]


def n_rows(X: Any) -> int:
    """Number of rows of an array, a sparse matrix or a table."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def usefulness(estimator: Any, X: Any, strategy: str, labeled: Any, rng: Any) -> np.ndarray:
    """How much the label of each row would help; the greater, the more."""
    if strategy == "random":
        return np.zeros(n_rows(X))
    if strategy == "committee":
        return disagreement(estimator, X, labeled, rng)
    proba = np.sort(np.asarray(estimator.predict_proba(X), dtype=np.float64), axis=1)[:, ::-1]
    if strategy == "uncertainty" or proba.shape[1] == 1:
        return 1.0 - proba[:, 0]
    if strategy == "margin":
        return 1.0 - (proba[:, 0] - proba[:, 1])
    logs = np.log(np.maximum(proba, np.finfo(np.float64).tiny))
    return -(proba * logs).sum(axis=1)


def disagreement(estimator: Any, X: Any, labeled: Any, rng: np.random.Generator) -> np.ndarray:
    """Entropy of the votes of copies that learned from bootstrap samples with all classes."""
    if labeled is None:
        raise DataError("strategy='committee' needs labeled=(X, y), the rows to learn from")
    rows, y = labeled[0], np.asarray(labeled[1])
    classes, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((n_rows(X), len(classes)))
    first = np.array([np.flatnonzero(codes == c)[0] for c in range(len(classes))])
    for _ in range(MEMBERS):
        drawn = np.concatenate([first, rng.integers(len(y), size=max(len(y) - len(first), 0))])
        member = clone(estimator).fit(rows[drawn], y[drawn])
        said = np.searchsorted(classes, member.predict(X))
        votes[np.arange(len(said)), said] += 1.0
    shares = votes / MEMBERS
    return -(shares * np.log(np.maximum(shares, 1e-12))).sum(axis=1)


@dataclass
class LabelCurve(Result):
    """Accuracy against the number of labels, of a strategy and of random choice.

    Attributes
    ----------
    strategy : str
    n_labels : list of int
    chosen, random : list of Estimate
        Mean accuracy on the test rows over the repeats, with intervals.
    test : PairTest or None
        Of the gain over random choice with all labels, corrected for the rows that repeats share;
        None for one repeat.
    """

    strategy: str
    n_labels: list[int]
    chosen: list[Estimate]
    random: list[Estimate]
    test: PairTest | None = None

    @property
    def helps(self) -> bool:
        """Whether the strategy is better than random choice beyond chance, with all labels."""
        return self.test is not None and self.test.p < LEVEL and self.test.difference.value > 0

    def _title(self) -> str:
        return f"accuracy by number of labels: {self.strategy} against random"

    def _columns(self) -> dict[str, list[Any]]:
        return {"labels": self.n_labels, self.strategy: self.chosen, "random": self.random}

    def labels_for(self, accuracy: float) -> int | None:
        """The least number of labels at which the strategy reaches an accuracy; None if never.

        Parameters
        ----------
        accuracy : float

        Returns
        -------
        n_labels : int or None
        """
        reached = (n for n, at in zip(self.n_labels, self.chosen) if at.value >= accuracy)
        return next(reached, None)


def label_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    strategy: str = "uncertainty",
    n_start: int = 10,
    n_labels: int = 100,
    n_queries: int = 10,
    n_repeats: int = 5,
    test_size: float = 0.3,
    random_state: int | None = None,
) -> LabelCurve:
    """How accuracy grows with labels chosen by a strategy, against labels drawn at random.

    Both begin with the same rows, at least one of each class, in each repeat. Test rows are drawn
    anew in each repeat and no label of theirs is used.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` (not for "committee").
    X : ndarray or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        All classes; the experiment hides them.
    strategy : str, default="uncertainty"
        As in `query`.
    n_start : int, default=10
        Labels to begin with.
    n_labels : int, default=100
        Labels at the end.
    n_queries : int, default=10
        Labels between two fits.
    n_repeats : int, default=5
    test_size : float, default=0.3
        Share of the test rows.
    random_state : int, default=None

    Returns
    -------
    curve : LabelCurve

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import LogisticRegression
    >>> X = np.arange(60.0)[:, None]
    >>> curve = label_curve(
    ...     LogisticRegression(), X, X[:, 0] > 30, n_start=4, n_labels=12, n_queries=4,
    ...     n_repeats=2, random_state=0,
    ... )
    >>> curve.n_labels
    [4, 8, 12]
    """
    y = np.asarray(y)
    n = len(y)
    n_test = int(test_size * n)
    counts = list(range(n_start, n_labels + 1, n_queries))
    if n - n_test < n_labels or n_test < 1 or n_start < len(np.unique(y)):
        raise DataError(
            f"{n} rows with {n_test} for the test cannot give {n_labels} labels of which "
            f"{n_start} to begin with hold all {len(np.unique(y))} classes"
        )
    found: dict[str, list[list[float]]] = {strategy: [], "random ": []}
    for repeat in range(n_repeats):
        rng = np.random.default_rng([0 if random_state is None else random_state, repeat])
        order = rng.permutation(n)
        test, pool = order[:n_test], order[n_test:]
        start = first_labels(y[pool], n_start, rng)
        for name in found:
            scores = _one_curve(estimator, X, y, test, pool, start, name.strip(), counts, rng)
            found[name].append(scores)
    share = n_test / (n - n_test)
    columns = {name: [_mean(at, share) for at in zip(*rows)] for name, rows in found.items()}
    gain = None
    if n_repeats > 1:
        asked, drawn = ([scores[-1] for scores in each] for each in found.values())
        gain = corrected_t_test(asked, drawn, share)
    return LabelCurve(strategy, counts, columns[strategy], columns["random "], gain)


def _mean(values: Any, test_share: float) -> Estimate:
    """The mean of the repeats, with an interval within 0 and 1; one repeat has none.

    Repeats share rows: see `gnomon.evaluate.corrected_t_test`.
    """
    value = float(np.mean(values))
    if len(values) < 2:
        return Estimate(value, 0.0, 1.0)
    error = corrected_standard_error(values, test_share)
    half = student_quantile(0.95, len(values) - 1) * error
    low, high = max(value - half, 0.0), min(value + half, 1.0)
    return Estimate(value, low, high, 0.95, error, "corrected for rows that repeats share")


def first_labels(y: np.ndarray, n_start: int, rng: np.random.Generator) -> np.ndarray:
    """Places of the first labels: one of each class, the others at random."""
    order = rng.permutation(len(y))
    _, first = np.unique(y[order], return_index=True)
    rest = np.setdiff1d(np.arange(len(y)), first)
    return order[np.concatenate([first, rest])[:n_start]]


def _one_curve(estimator, X, y, test, pool, start, strategy, counts, rng) -> list[float]:
    labeled = np.zeros(len(pool), dtype=bool)
    labeled[start] = True
    scores: list[float] = []
    model = None
    for count in counts:
        missing = count - int(labeled.sum())
        if missing:
            free = np.flatnonzero(~labeled)
            given = (X[pool[labeled]], y[pool[labeled]])
            asked = query(
                model,
                X[pool[free]],
                strategy=strategy,
                n_queries=missing,
                labeled=given,
                random_state=rng,
            )
            labeled[free[asked]] = True
        model = clone(estimator).fit(X[pool[labeled]], y[pool[labeled]])
        scores.append(float((model.predict(X[test]) == y[test]).mean()))
    return scores
