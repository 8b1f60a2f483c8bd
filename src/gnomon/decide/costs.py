"""Decisions of least expected cost, and thresholds for costs or rates.

    action(x) = argmin_a sum_k P(k | x) C(k, a)

C may have more actions than classes: to reject (send to a person) is one. A threshold on a score is
such a decision for two classes: act where P >= c_fp / (c_fp + c_fn), or where validation rows give
the least cost or a wanted detection rate.

Texts: 002 L241-262, L2435-2458 · 004 3.3, 10.1.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, mean_interval, share_interval
from gnomon.contract.result import Result
from gnomon.decide.expected_utility import as_probabilities
from gnomon.engine.errors import DataError

TIES = 1e-12  # costs or scores this near to each other, of their size, are equal


@dataclass(repr=False)
class CostDecisions(Result):
    """The action of least expected cost for each row.

    Attributes
    ----------
    actions : ndarray of shape (n_samples,)
    expected : ndarray of shape (n_samples,)
        Expected cost of the action chosen.
    names : list
        All actions.
    paid : Estimate or None
        Cost per row with the true classes, where these were given.
    baseline : float or None
        Cost per row of the best action that is the same for all rows.
    """

    actions: np.ndarray
    expected: np.ndarray
    names: list[Any]
    paid: Estimate | None = None
    baseline: float | None = None

    def _title(self) -> str:
        return f"Expected cost {self.expected.mean():.4g} per row"

    def _columns(self) -> dict[str, list[Any]]:
        chosen = [self.actions == name for name in self.names]
        return {
            "action": list(self.names),
            "rows": [int(each.sum()) for each in chosen],
            "expected cost": [
                float(self.expected[each].mean()) if each.any() else None for each in chosen
            ],
        }

    def _remarks(self) -> list[str]:
        if self.paid is None:
            return []
        return [
            f"Cost with the true classes: {self.paid} per row; one action for all rows: "
            f"{self.baseline:.4g}."
        ]


def least_expected_cost(
    proba: ArrayLike,
    costs: ArrayLike,
    *,
    actions: Sequence[Any] | None = None,
    classes: Sequence[Any] | None = None,
    y_true: ArrayLike | None = None,
) -> CostDecisions:
    """The action of least expected cost for each row.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
    costs : array-like of shape (n_classes, n_actions) or (n_samples, n_classes, n_actions)
        Cost of each action in each class; a table for every row where costs differ by row.
        Actions beyond the classes may be rejection or anything else.
    actions : sequence, default=None
        Names of the actions: the classes where there are as many, then "reject", where left out.
    classes : sequence, default=None
        Names of the classes; their places where left out.
    y_true : array-like of shape (n_samples,), default=None
        True classes, for the cost that was really paid.

    Returns
    -------
    decisions : CostDecisions

    Examples
    --------
    >>> from gnomon.decide import least_expected_cost
    >>> costs = [[0, 1, 0.3], [10, 0, 0.3]]  # class, action: 0, 1 or reject
    >>> least_expected_cost([[0.99, 0.01], [0.9, 0.1], [0.2, 0.8]], costs).actions.tolist()
    [0, 'reject', 1]
    """
    proba = as_probabilities(proba, "proba")
    if proba.ndim != 2:
        raise DataError("proba must have a row for each sample and a column for each class")
    costs = np.asarray(costs, dtype=np.float64)
    n, n_classes = proba.shape
    if costs.ndim not in (2, 3) or costs.shape[-2] != n_classes or not np.isfinite(costs).all():
        raise DataError(f"costs must be finite, with a row for each of the {n_classes} classes")
    if costs.ndim == 3 and len(costs) != n:
        raise DataError(f"costs are given for {len(costs)} samples, proba for {n}")
    names = _actions(actions, classes, n_classes, costs.shape[-1])
    expected = np.einsum("nk,...ka->na" if costs.ndim == 2 else "nk,nka->na", proba, costs)
    chosen = expected.argmin(axis=1)
    named = np.empty(len(names), dtype=object)
    named[:] = names
    found = CostDecisions(named[chosen], expected[np.arange(n), chosen], names)
    if y_true is not None:
        codes = _codes(y_true, classes, n_classes)
        if len(codes) != n:
            raise DataError(f"y_true has {len(codes)} samples, proba has {n}")
        per_row = costs[codes] if costs.ndim == 2 else costs[np.arange(n), codes]
        found.paid = mean_interval(per_row[np.arange(n), chosen])
        found.baseline = float(per_row.mean(axis=0).min())
    return found


def _actions(
    actions: Sequence[Any] | None, classes: Sequence[Any] | None, n_classes: int, n_actions: int
) -> list[Any]:
    if actions is not None:
        if len(actions) != n_actions:
            raise DataError(f"{len(actions)} names are given for {n_actions} actions")
        return list(actions)
    known = list(classes) if classes is not None else list(range(n_classes))
    if n_actions == n_classes:
        return known
    if n_actions == n_classes + 1:
        return [*known, "reject"]
    raise DataError(f"give the names of the {n_actions} actions (actions=)")


def _codes(y: ArrayLike, classes: Sequence[Any] | None, n_classes: int) -> np.ndarray:
    known = list(classes) if classes is not None else list(range(n_classes))
    places = {name: code for code, name in enumerate(known)}
    values = np.asarray(y).tolist()
    unknown = sorted({str(each) for each in values if each not in places})
    if unknown:
        raise DataError(f"y_true holds {', '.join(unknown)}, which is no class of {known}")
    return np.array([places[each] for each in values])


@dataclass(repr=False)
class Threshold(Result):
    """A threshold on a score: rows at or above it are called positive.

    Attributes
    ----------
    threshold : float
        Infinite where no row shall be called positive.
    detection_rate, false_alarm_rate : Estimate
        Shares of positive and of negative rows at or above it.
    cost : Estimate or None
        Per row, where costs were given.
    """

    threshold: float
    detection_rate: Estimate
    false_alarm_rate: Estimate
    cost: Estimate | None = None

    def _title(self) -> str:
        return f"Call positive from a score of {self.threshold:.6g} on"

    def _columns(self) -> dict[str, list[Any]]:
        names, values = ["detection rate", "false alarm rate"], [
            self.detection_rate,
            self.false_alarm_rate,
        ]  # fmt: skip
        if self.cost is not None:
            names, values = [*names, "cost per row"], [*values, self.cost]
        return {"measure": names, "estimate": values}

    def _remarks(self) -> list[str]:
        return ["Chosen on these rows, so slightly optimistic: use rows that trained no model."]


def cost_threshold(
    y_true: ArrayLike, y_score: ArrayLike, *, false_negative: float, false_positive: float
) -> Threshold:
    """The threshold of least cost on given rows.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_samples,)
        Whether each row is positive.
    y_score : array-like of shape (n_samples,)
        Greater for rows that are more likely positive.
    false_negative, false_positive : float
        Cost of a positive row below the threshold, and of a negative one at or above it.

    Returns
    -------
    threshold : Threshold

    Examples
    --------
    >>> from gnomon.decide import cost_threshold
    >>> y, score = [0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.9]
    >>> cost_threshold(y, score, false_negative=10, false_positive=1).threshold
    0.3
    """
    if min(false_negative, false_positive) < 0 or max(false_negative, false_positive) <= 0:
        raise DataError("costs must be 0 or more, and one of them above 0")
    positive, score = _scored(y_true, y_score)
    places, missed, alarms = _counts(positive, score)
    cost = false_negative * missed + false_positive * alarms
    best = places[int(cost.argmin())]
    per_row = np.where(positive, false_negative * (score < best), false_positive * (score >= best))
    return _threshold(positive, score, best, mean_interval(per_row))


def threshold_for_rate(
    y_true: ArrayLike, y_score: ArrayLike, rate: float, *, of: str = "detection"
) -> Threshold:
    """The threshold that reaches a rate on given rows.

    Parameters
    ----------
    y_true : array-like of bool of shape (n_samples,)
        Whether each row is positive.
    y_score : array-like of shape (n_samples,)
    rate : float
        Between 0 and 1.
    of : {"detection", "false alarm"}, default="detection"
        The highest threshold with at least this detection rate, or the lowest with at most this
        false alarm rate.

    Returns
    -------
    threshold : Threshold

    Examples
    --------
    >>> from gnomon.decide import threshold_for_rate
    >>> y, score = [0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.6, 0.9]
    >>> threshold_for_rate(y, score, 0.5).threshold
    0.9
    """
    if not 0 <= rate <= 1:
        raise DataError(f"rate must be between 0 and 1, not {rate}")
    if of not in ("detection", "false alarm"):
        raise DataError(f"of is 'detection' or 'false alarm', not {of!r}")
    positive, score = _scored(y_true, y_score)
    places, missed, alarms = _counts(positive, score)
    if of == "detection":
        reached = 1 - missed / max(positive.sum(), 1) >= rate - TIES
        best = places[np.flatnonzero(reached)[-1]]
    else:
        best = places[np.flatnonzero(alarms / max((~positive).sum(), 1) <= rate + TIES)[0]]
    return _threshold(positive, score, best, None)


def _scored(y_true: ArrayLike, y_score: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    score = np.asarray(y_score, dtype=np.float64)
    truth = np.asarray(y_true)
    if truth.shape != score.shape or score.ndim != 1 or not np.isfinite(score).all():
        raise DataError("y_true and y_score must be of one length, and scores finite")
    if not np.isin(truth, (0, 1)).all():
        raise DataError("y_true must be 0 or 1 (or False, True)")
    positive = truth.astype(bool)
    if positive.all() or not positive.any():
        raise DataError("y_true must hold rows of both kinds")
    return positive, score


def _counts(positive: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, ...]:
    """Thresholds in rising order, with positives below and negatives at or above each."""
    places = np.append(np.unique(score), np.inf)
    missed = np.searchsorted(np.sort(score[positive]), places, side="left")
    negatives = np.sort(score[~positive])
    return places, missed, len(negatives) - np.searchsorted(negatives, places, side="left")


def _threshold(
    positive: np.ndarray, score: np.ndarray, best: float, cost: Estimate | None
) -> Threshold:
    above = score >= best
    return Threshold(
        float(best),
        share_interval(int(above[positive].sum()), int(positive.sum())),
        share_interval(int(above[~positive].sum()), int((~positive).sum())),
        cost,
    )
