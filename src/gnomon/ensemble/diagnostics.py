"""Looking into ensembles: how members spread and agree, whether a learner is weak enough to be
boosted, how fast predictions come.

Texts: 001 12.3 (variance of an average) · 002 "Weak learners" · 003 3.3.7 (distribution of
predictions).
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from gnomon.contract import intake
from gnomon.engine.errors import GnomonWarning
from gnomon.ensemble.base import Ensemble, weighted_error
from gnomon.ensemble.member import takes_weights


def average_variance(variance: float, correlation: float, n: int) -> float:
    """Variance of the mean of n estimators of equal variance and equal correlation.

    r s^2 + (1 - r) s^2 / n: more members lower the second part only, so that r s^2 is the floor.

    Parameters
    ----------
    variance : float
        s^2 of one.
    correlation : float
        r between two; at least -1 / (n - 1).
    n : int

    Returns
    -------
    variance : float

    Examples
    --------
    >>> round(average_variance(2.0, 0.25, 10), 6)
    0.65
    """
    if variance < 0 or n < 1 or correlation > 1 or (n > 1 and correlation < -1 / (n - 1) - 1e-12):
        raise ValueError(
            f"there are no {n} estimators of variance {variance} and correlation {correlation}"
        )
    return correlation * variance + (1 - correlation) * variance / n


@dataclass(frozen=True)
class ErrorCorrelation:
    """How the errors of members go together; prints as a sentence.

    Attributes
    ----------
    mean_square : float
        Mean squared error of one member.
    correlation : float
        Mean product of two members' errors, as a share of it.
    floor : float
        What the mean of ever more such members would still have.
    of_average : float
        Mean squared error of the mean of these members.
    """

    mean_square: float
    correlation: float
    floor: float
    of_average: float

    def __str__(self) -> str:
        return (
            f"one member {self.mean_square:.4g}, their mean {self.of_average:.4g}, floor "
            f"{self.floor:.4g} (correlation {self.correlation:.3f})"
        )


def error_correlation(predictions, y) -> ErrorCorrelation:
    """Mean squared error of members, of their mean, and the floor that correlation sets.

    Parameters
    ----------
    predictions : array-like of shape (n_rows, n_members)
        What each member says: numbers, or probabilities of one class.
    y : array-like of shape (n_rows,)
        The truth.

    Returns
    -------
    found : ErrorCorrelation
        With r the correlation and s^2 the mean square, the mean of the members has exactly
        r s^2 + (1 - r) s^2 / B.

    Examples
    --------
    >>> print(error_correlation([[1.0, -1.0], [-1.0, 1.0]], [0.0, 0.0]))
    one member 1, their mean 0, floor -1 (correlation -1.000)
    """
    errors = np.asarray(predictions, dtype=np.float64) - np.asarray(y, dtype=np.float64)[:, None]
    n_members = errors.shape[1]
    if n_members < 2:
        raise ValueError("two members or more are needed to speak of their correlation")
    square = float(np.mean(errors**2))
    of_average = float(np.mean(errors.mean(axis=1) ** 2))
    product = (n_members * of_average - square) / (n_members - 1)
    return ErrorCorrelation(square, product / square if square > 0 else 0.0, product, of_average)


class WeakLearner(NamedTuple):
    """Whether a learner can be boosted on some data.

    Attributes
    ----------
    takes_weights : bool
        Whether ``fit`` takes ``sample_weight``; if not, boosting draws rows instead.
    error : float
        Its weighted error on the rows it learnt from.
    chance : float
        The error of guessing, 1 - 1 / K, that it must beat.
    is_weak_learner : bool
        Whether it does.
    """

    takes_weights: bool
    error: float
    chance: float
    is_weak_learner: bool


def check_weak_learner(estimator, X, y, sample_weight=None) -> WeakLearner:
    """Whether a classifier keeps the contract of weak learners on weighted rows.

    Parameters
    ----------
    estimator : estimator
        Cloned, not changed.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional

    Returns
    -------
    found : WeakLearner

    Examples
    --------
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> stump = DecisionTreeClassifier(max_depth=1)
    >>> check_weak_learner(stump, [[1.0], [2.0], [3.0]], [0, 1, 1]).is_weak_learner
    True
    """
    if not is_classifier(estimator):
        raise ValueError(f"{type(estimator).__name__} is not a classifier")
    y = np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    weighted = takes_weights(estimator)
    given = {"sample_weight": weights} if weighted and sample_weight is not None else {}
    fitted = clone(estimator).fit(X, y, **given)
    error = weighted_error(fitted.predict(X), y, weights)
    chance = 1.0 - 1.0 / max(len(np.unique(y)), 1)
    return WeakLearner(weighted, error, chance, error < chance - 1e-12)


@dataclass(frozen=True)
class ClassDistribution:
    """Shares of the members that predict each class.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    shares : ndarray of shape (n_rows, n_classes)
    """

    classes: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class NumberDistribution:
    """Spread of the members' estimates.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_members)
    weights : ndarray of shape (n_members,)
    """

    values: np.ndarray
    weights: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        return self.values @ self.weights

    @property
    def standard_deviation(self) -> np.ndarray:
        return np.sqrt((self.values - self.mean[:, None]) ** 2 @ self.weights)

    def quantile(self, share: float) -> np.ndarray:
        """Lower weighted quantile of the members' estimates, for each row."""
        order = np.argsort(self.values, axis=1, kind="stable")
        line = np.cumsum(self.weights[order], axis=1)
        place = np.minimum((line < share - 1e-12).sum(axis=1), self.values.shape[1] - 1)
        return np.take_along_axis(self.values, order, axis=1)[np.arange(len(self.values)), place]


def member_distribution(estimator, X) -> ClassDistribution | NumberDistribution:
    """What the members of any ensemble say, instead of one combined answer.

    Having a distribution is not having a right one: members that grew until they fit every row are
    sure of everything, and a warning says so.

    Parameters
    ----------
    estimator : fitted ensemble
        Of this room, a forest of `gnomon.trees`, or of scikit-learn (with ``estimators_``).
    X : array-like, data frame or Table of shape (n_rows, n_features)

    Returns
    -------
    distribution : ClassDistribution or NumberDistribution

    Examples
    --------
    >>> from gnomon.ensemble import VotingRegressor
    >>> model = VotingRegressor(None).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0])
    >>> member_distribution(model, [[2.0]]).values.round(6).tolist()
    [[2.0, 3.0]]
    """
    said, learners = _said(estimator, X)
    grown = [each for each in learners if _fits_every_row(each)]
    if grown:
        warnings.warn(
            f"{len(grown)} of {len(learners)} members are fully grown trees, which are sure of "
            "everything: the shares tell little. Limit their depth or leaves",
            GnomonWarning,
            stacklevel=2,
        )
    weights = _weights(estimator, said.shape[1])
    if not is_classifier(estimator):
        return NumberDistribution(said, weights)
    shares = (said[:, :, None] == np.arange(len(estimator.classes_))).astype(np.float64)
    return ClassDistribution(
        np.asarray(estimator.classes_), np.einsum("nmk,m->nk", shares, weights)
    )


def _said(model, X) -> tuple[np.ndarray, list[Any]]:
    """Class codes or numbers of every member, and the learners."""
    classes = is_classifier(model)
    if hasattr(model, "predict_each"):
        said = model.predict_each(X)
        return np.searchsorted(model.classes_, said) if classes else said, []
    if isinstance(model, Ensemble):
        if not model.members_:
            raise ValueError(f"this {type(model).__name__} has no members to ask one by one")
        rows = next(intake.tables_of(model, X))
        said = [m.codes(rows) if classes else m.estimate(rows) for m in model.members_]
        return np.column_stack(said), model.estimators_
    learners = list(np.ravel(model.estimators_))
    given = np.asarray(X) if not hasattr(X, "iloc") else X.to_numpy()
    said = [np.asarray(each.predict(given)) for each in learners]
    found = np.column_stack(said)
    if classes:
        own = getattr(learners[0], "classes_", model.classes_)
        known = np.array_equal(own, model.classes_)
        codes = np.searchsorted(model.classes_, found) if known else found
        return codes.astype(np.int64), learners
    return found.astype(np.float64), learners


def _weights(model, n_members: int) -> np.ndarray:
    for name in ("weights_", "estimator_weights_"):
        found = getattr(model, name, None)
        if found is not None and np.shape(found) == (n_members,) and np.sum(found) > 0:
            return np.asarray(found, dtype=np.float64) / np.sum(found)
    return np.full(n_members, 1.0 / n_members)


def _fits_every_row(learner) -> bool:
    known = learner.get_params(deep=False)
    limits = ("max_depth", "max_leaf_nodes")
    is_tree = all(name in known for name in limits)
    unlimited = is_tree and all(known[name] is None for name in limits)
    return unlimited and known.get("min_samples_leaf", 1) == 1


class PredictionSpeed(NamedTuple):
    """How fast a fitted model answers.

    Attributes
    ----------
    rows_per_second : float
        For all rows at once.
    single_row_seconds : float
        Median time for one row by itself.
    """

    rows_per_second: float
    single_row_seconds: float


def prediction_speed(estimator, X, n_single: int = 20) -> PredictionSpeed:
    """Rows per second for a batch, and the latency of a single row.

    Parameters
    ----------
    estimator : fitted estimator
    X : array-like, data frame or Table
    n_single : int, default=20
        Single rows that are timed.

    Returns
    -------
    speed : PredictionSpeed

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.ensemble import VotingRegressor
    >>> rows = np.arange(6.0)[:, None]
    >>> prediction_speed(VotingRegressor(None).fit(rows, rows[:, 0]), rows).rows_per_second > 0
    True
    """
    rows = X if hasattr(X, "iloc") or hasattr(X, "schema") else np.asarray(X)
    n_rows = rows.shape[0]
    one = rows.iloc[:1] if hasattr(rows, "iloc") else rows[:1]
    estimator.predict(one)
    begin = time.perf_counter()
    estimator.predict(rows)
    batch = time.perf_counter() - begin
    singles = []
    for _ in range(n_single):
        begin = time.perf_counter()
        estimator.predict(one)
        singles.append(time.perf_counter() - begin)
    return PredictionSpeed(n_rows / max(batch, 1e-9), float(np.median(singles)))
