"""Measures of an order: ROC and precision-recall curves, ranked lists, detections, rejection.

Texts: 000c 18.2.5 (precision and recall down a list, interpolated precision, average precision) ·
002 "Detection curve" · 004 11.7 (ROC, accuracy against rejection).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy.optimize import brentq

from gnomon.contract.estimate import (
    Estimate,
    check_level,
    frequency_weights,
    joint_freedom,
    logit_scale_interval,
    normal_quantile,
    share_interval,
    share_like_interval,
    student_quantile,
)
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError
from gnomon.engine.renamed import former_parameters
from gnomon.evaluate.intake import both_present, label_pair, number_block, same_length, two_classes

# Recall 0, 0.1, ..., 1: the eleven points of TREC's average precision.
RECALL_LEVELS = np.arange(11) / 10
# Rows of the rarer class on the wrong side that tell as much of an area's spread as is assumed.
TELLING = 1.0
# Spread of rows that is assumed of either class, as a share of what is wrong.
SHRUNK = 0.1


@dataclass(repr=False)
class RocCurve(Result):
    """True against false positive rate over all thresholds.

    Attributes
    ----------
    thresholds : ndarray
        Falling, from plus infinity (nothing is called positive).
    false_positive_rate, true_positive_rate : ndarray
    area : Estimate
        Area under the curve: the chance that a positive row scores above a negative one, ties
        counting half.
    n_positive, n_negative : float
        Rows of both classes, or their weights.
    corners : ndarray of int
        Positions of the points that the curve unpacks to.
    """

    thresholds: np.ndarray
    false_positive_rate: np.ndarray
    true_positive_rate: np.ndarray
    area: Estimate
    n_positive: float
    n_negative: float
    corners: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        """``fpr, tpr, thresholds``, as scikit-learn's function returns them."""
        for each in (self.false_positive_rate, self.true_positive_rate, self.thresholds):
            yield each[self.corners]

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]

    def __len__(self) -> int:
        return 3

    def at(self, false_positive_rate: float) -> Estimate:
        """Largest true positive rate whose false positive rate is at most this.

        Parameters
        ----------
        false_positive_rate : float

        Returns
        -------
        figure : Estimate
            With the interval of `share_interval` at that threshold.
        """
        place = int(np.searchsorted(self.false_positive_rate, false_positive_rate, "right")) - 1
        hits = float(self.true_positive_rate[place]) * self.n_positive
        return share_interval(hits, self.n_positive, self.area.confidence_level)

    def _title(self) -> str:
        return f"ROC curve: area {self.area}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "threshold": self.thresholds.tolist(),
            "false positive rate": self.false_positive_rate.tolist(),
            "true positive rate": self.true_positive_rate.tolist(),
        }


@former_parameters(y="y_true", scores="y_score", positive="pos_label")
def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = True,
    confidence_level: float = 0.95,
) -> RocCurve:
    """The ROC curve of scores, with its area and DeLong's interval.

    The result unpacks as scikit-learn's does:
    ``fpr, tpr, thresholds = roc_curve(y_true, y_score)``.

    The area does not depend on how common the positive class is; where it is rare and the false
    alarms matter, use `precision_recall_curve`. Equal scores are one step of the curve.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of two classes.
    y_score : array-like of shape (n,)
        Larger for rows likelier to be positive.
    pos_label : label, default=None
        The positive class; the second in sorted order where there are two.
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.
    drop_intermediate : bool, default=True
        Whether points on a straight line between others are left out when the curve is unpacked;
        its attributes have them all.
    confidence_level : float, default=0.95

    Returns
    -------
    curve : RocCurve

    Examples
    --------
    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).area.value
    0.75
    """
    is_positive, scores = _scored(y_true, y_score, pos_label, "the ROC curve")
    area = area_under_roc(is_positive, scores, True, confidence_level, sample_weight=sample_weight)
    weights = _weights(sample_weight, len(scores))
    thresholds, hits, alarms = _steps(is_positive, scores, weights)
    kept = np.ones(len(hits), dtype=bool)
    if drop_intermediate and len(hits) > 2:
        kept[1:-1] = (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0)
    return RocCurve(
        np.concatenate([[np.inf], thresholds]),
        np.concatenate([[0.0], alarms / alarms[-1]]),
        np.concatenate([[0.0], hits / hits[-1]]),
        area,
        float(hits[-1]),
        float(alarms[-1]),
        np.concatenate([[0], 1 + np.flatnonzero(kept)]),
    )


def area_under_roc(
    y: Any,
    scores: Any,
    positive: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Estimate:
    """The area under the ROC curve with DeLong's standard error and an interval of its own.

    The interval holds the areas from which the one found is not too far, in their own standard
    errors (Newcombe 2006, method 5) and by Student's quantile for the two classes' degrees of
    freedom: see `area_ends`. Of 95% intervals 93 to 97% hold, from 10 rows of the rarer class on
    (92% in the worst of the laws that were tried: few of one class, some of them confused).
    Where an area near 1 leaves few rows on the wrong side, no interval can lie wholly above it:
    one side alone misses, once in forty times as it should, and up to 99% hold.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels of two classes.
    scores : array-like of shape (n,)
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> print(area_under_roc([0, 1] * 20, [i % 7 + (i % 2) for i in range(40)]))
    0.63 (0.44 to 0.78)
    """
    is_positive, scores = _scored(y, scores, positive, "the area under the ROC curve")
    weights = _weights(sample_weight, len(scores))
    high, low = weights[is_positive], weights[~is_positive]
    if not high.any() or not low.any():
        raise DataError("the rows of one class have no weight; the area compares two classes")
    of_positive, of_negative = placements(is_positive, scores, weights)
    area = float(np.average(of_positive, weights=high))
    variances = np.array([_variance(of_positive, high), _variance(of_negative, low)])
    rows, error = np.array([high.sum(), low.sum()]), float(np.sqrt(variances.sum()))
    if not np.isfinite(error):
        return area_figure(area, variances, rows, confidence_level, "DeLong")
    ends = area_ends(area, variances, rows, confidence_level)
    return Estimate(area, *ends, confidence_level, error, "DeLong and Newcombe")


def area_figure(
    area: float, variances: np.ndarray, rows: np.ndarray, confidence_level: float, how: str
) -> Estimate:
    """An area with its interval; where it is 0 or 1, that of a share of the rarer class.

    `variances` are what the rows of every class add to the area's variance.
    """
    error = float(np.sqrt(variances.sum()))
    if 0 < area < 1:
        freedom = joint_freedom(variances, rows - 1) if np.isfinite(error) else np.inf
        return share_like_interval(area, error, confidence_level, f"{how}, Agresti-Coull", freedom)
    ends = share_interval(area * rows.min(), float(rows.min()), confidence_level)
    return ends._replace(error=error, how="Agresti-Coull, of the rarer class")


def area_ends(
    area: float, variances: np.ndarray, rows: np.ndarray, confidence_level: float
) -> tuple[float, float]:
    """The areas from which this one is just as far as the level allows.

    An area's variance is [A (1 - A) + (n0 - 1) S1 + (n1 - 1) S0] / (n1 n0), S1 and S0 the spread of
    the two classes' rows. Their mean at an area in question is that of exponential laws (Newcombe
    2006, method 5); how it is shared between the classes, and how far it is right, the rows tell
    (DeLong), the more the more of them are on the wrong side: unlike classes and other laws are
    so held as well.

    Parameters
    ----------
    area : float
    variances : ndarray of shape (2,)
        What the rows of each class add to the variance of the area.
    rows : ndarray of shape (2,)
    confidence_level : float
    """
    wrong = min(area, 1 - area)
    spread = variances * rows + SHRUNK * wrong + 1e-300
    shares = spread / spread.sum()
    pairs, times = float(rows.prod()), float(shares @ (rows[::-1] - 1))

    def variance(true: float) -> float:
        spread = (1 - true) / (2 - true) + true / (1 + true)
        return true * (1 - true) * (1 + times * spread) / pairs

    told = wrong * rows.min() / (wrong * rows.min() + TELLING)
    ratio = 1.0 if wrong == 0 else 1 - told + told * float(variances.sum()) / variance(area)
    quantile = student_quantile(confidence_level, joint_freedom(shares / rows, rows - 1))

    def excess(true: float) -> float:
        return (area - true) ** 2 - quantile**2 * ratio * variance(true)

    # both ends of the line are roots too
    inside = min(max(area, 1e-12), 1 - 1e-12)
    low = brentq(excess, 0.0, inside) if area > 0 else 0.0
    high = brentq(excess, inside, 1.0) if area < 1 else 1.0
    return float(low), float(high)


def placements(
    is_positive: np.ndarray, scores: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Per positive row the share of negative rows below it; per negative the positives above it.

    DeLong's structural components, in O(n log n).
    """
    weights = np.ones(len(scores)) if weights is None else weights
    high, low = scores[is_positive], scores[~is_positive]
    above, below = weights[is_positive], weights[~is_positive]
    return _share_below(high, low, below), 1 - _share_below(low, high, above)


def _share_below(values: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Per value the share of others that are smaller, equal ones counting half."""
    order = np.argsort(others, kind="stable")
    line, mass = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    smaller = mass[np.searchsorted(line, values, "left")]
    not_larger = mass[np.searchsorted(line, values, "right")]
    return (smaller + not_larger) / (2 * mass[-1])


@dataclass(repr=False)
class AreaDifference(Result):
    """Two areas under ROC curves of the same rows, compared by DeLong's test.

    Attributes
    ----------
    first, second : Estimate
        The two areas.
    difference : Estimate
        First minus second.
    p : float
        Two-sided, of no difference.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    p: float

    def _title(self) -> str:
        return f"Difference of areas {self.difference}, {p_text(self.p)} (DeLong)"

    def _columns(self) -> dict[str, list[Any]]:
        return {"": ["first", "second"], "area": [self.first, self.second]}


def compare_areas(
    y: Any, first: Any, second: Any, positive: Any = None, confidence_level: float = 0.95
) -> AreaDifference:
    """Do two scores of the same rows differ in their area under the ROC curve? (DeLong 1988)

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels of two classes.
    first, second : array-like of shape (n,)
        The scores of two models for the same rows, none of which they were trained on.
    positive : label, default=None
    confidence_level : float, default=0.95

    Returns
    -------
    found : AreaDifference

    Examples
    --------
    >>> y = [0, 1] * 30
    >>> compare_areas(y, list(range(60)), list(range(60))).p
    1.0
    """
    is_positive, first = _scored(y, first, positive, "DeLong's test")
    _, second = _scored(y, second, positive, "DeLong's test")
    one, other = placements(is_positive, first), placements(is_positive, second)
    gap = float(one[0].mean() - other[0].mean())
    error = float(np.sqrt(sum(_variance(a - b, np.ones(len(a))) for a, b in zip(one, other))))
    half = normal_quantile(confidence_level) * error
    p = (
        1.0
        if gap == 0
        else (0.0 if error == 0 else float(2 * scipy.stats.norm.sf(abs(gap) / error)))
    )
    return AreaDifference(
        area_under_roc(is_positive, first, True, confidence_level),
        area_under_roc(is_positive, second, True, confidence_level),
        Estimate(gap, gap - half, gap + half, confidence_level, error, "DeLong"),
        p,
    )


@dataclass(repr=False)
class PrecisionRecallCurve(Result):
    """Precision against recall, down a list ordered by score.

    Attributes
    ----------
    depth : ndarray
        Rows retrieved, or their weight.
    precision, recall : ndarray
        At each depth; of equal scores only the last depth is kept.
    thresholds : ndarray
        The score at each depth.
    n_relevant : float
        All relevant rows there are, which may exceed those in the list; or their weight.
    average_precision : Estimate
        Area form, sum over the steps of (rise of recall) x precision.
    corners : ndarray of int
        Positions of the points that the curve unpacks to.
    """

    depth: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    thresholds: np.ndarray
    n_relevant: float
    average_precision: Estimate
    corners: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:
        """``precision, recall, thresholds``, as scikit-learn's function returns them."""
        rising = self.corners[::-1]
        yield np.append(self.precision[rising], 1.0)
        yield np.append(self.recall[rising], 0.0)
        yield self.thresholds[rising]

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]

    def __len__(self) -> int:
        return 3

    def interpolated(self, recall: Any) -> np.ndarray:
        """Largest precision at a recall of at least this; 0 where it is never reached.

        Parameters
        ----------
        recall : float or array-like

        Returns
        -------
        precision : ndarray
        """
        best = np.append(np.maximum.accumulate(self.precision[::-1])[::-1], 0.0)
        # a little slack, so that a wanted 0.3 is reached by 3 / 10
        wanted = np.atleast_1d(np.asarray(recall, dtype=float)) - 1e-9
        return best[np.searchsorted(self.recall, wanted, side="left")]

    @property
    def eleven_point(self) -> float:
        """Average of interpolated precision at recall 0, 0.1 ... 1 (000c 18.2.5)."""
        return float(self.interpolated(RECALL_LEVELS).mean())

    def _title(self) -> str:
        return (
            f"Precision-recall curve: average precision {self.average_precision} (area), "
            f"{self.eleven_point:.4g} (11 point)"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "depth": self.depth.tolist(),
            "threshold": self.thresholds.tolist(),
            "precision": self.precision.tolist(),
            "recall": self.recall.tolist(),
        }


@former_parameters(y="y_true", scores="y_score", positive="pos_label")
def precision_recall_curve(
    y_true: Any,
    y_score: Any = None,
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    drop_intermediate: bool = False,
    n_relevant: float | None = None,
    confidence_level: float = 0.95,
) -> PrecisionRecallCurve:
    """Precision TP / retrieved and recall TP / relevant, as functions of the list's depth.

    The result unpacks as scikit-learn's does:
    ``precision, recall, thresholds = precision_recall_curve(y_true, y_score)``.

    Average precision has two definitions, both here: the area (scikit-learn's), and the 11-point
    form of the text. The interval of the area is symmetric in its log-odds, with the
    standard error of the jackknife and Student's quantile for the rarer kind of rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of two classes, or marks of relevance 0 and 1.
    y_score : array-like of shape (n,), default=None
        Larger for rows likelier to be positive; None when the rows are in order already, the
        best first.
    pos_label : label, default=None
        The positive class; the second in sorted order where there are two.
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.
    drop_intermediate : bool, default=False
        Whether points with the true positives of both their neighbors are left out when the curve
        is unpacked; its attributes have them all.
    n_relevant : float, default=None
        All relevant rows there are (or their weight); those in the list by default.
    confidence_level : float, default=0.95

    Returns
    -------
    curve : PrecisionRecallCurve

    Examples
    --------
    >>> round(precision_recall_curve([1, 0, 1, 0]).eleven_point, 8)
    0.84848485
    """
    if y_score is None:
        y_score = -np.arange(len(y_true), dtype=float)
    is_positive, scores = _scored(y_true, y_score, pos_label, None)
    weights = _weights(sample_weight, len(scores))
    found = float(weights[is_positive].sum())
    relevant = found if n_relevant is None else float(n_relevant)
    if not relevant > 0 or relevant < found:
        raise DataError(f"{found:g} relevant rows are in the list, and n_relevant is {relevant:g}")
    thresholds, hits, alarms = _steps(is_positive, scores, weights)
    depth = hits + alarms
    reach = found / relevant
    inside = _area(hits / depth, hits / (found or 1.0))
    error = reach * _area_error(hits, depth, min(1.0, float(weights @ weights / weights.sum())))
    rarer = min(found, depth[-1] - found)
    quantile = student_quantile(confidence_level, rarer - 1) if rarer > 1 else None
    how = "jackknife, log-odds"
    kept = np.ones(len(hits), dtype=bool)
    if drop_intermediate and len(hits) > 2:
        kept[1:-1] = (np.diff(hits[:-1]) != 0) | (np.diff(hits[1:]) != 0)
    return PrecisionRecallCurve(
        depth,
        hits / depth,
        hits / relevant,
        thresholds,
        relevant,
        logit_scale_interval(reach * inside, error, confidence_level, how, quantile),
        np.flatnonzero(kept),
    )


def average_precision(
    y: Any,
    scores: Any,
    positive: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Estimate:
    """Area under the precision-recall curve (`precision_recall_curve` has the 11-point form too).

    Parameters
    ----------
    y : array-like of shape (n,)
    scores : array-like of shape (n,)
    positive : label, default=None
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> average_precision([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).value
    0.8333333333333333
    """
    is_positive, scores = _scored(y, scores, positive, "average precision")
    curve = precision_recall_curve(
        is_positive,
        scores,
        pos_label=True,
        confidence_level=confidence_level,
        sample_weight=sample_weight,
    )
    return curve.average_precision


@dataclass(repr=False)
class MeanAveragePrecision(Result):
    """Mean over classes of average precision, at one or several overlap thresholds.

    Attributes
    ----------
    classes : list of str
    thresholds : list of float
    values : ndarray of shape (n_thresholds, n_classes)
    """

    classes: list[str]
    thresholds: list[float]
    values: np.ndarray

    @property
    def value(self) -> float:
        """Mean over all thresholds and classes."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """Standard error of the mean over classes, taken as drawn from many."""
        per_class = self.values.mean(axis=0)
        n = len(per_class)
        return float(per_class.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan

    def _title(self) -> str:
        return f"mAP {self.value:.4g} +- {self.error:.2g} over {len(self.classes)} classes"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"class": self.classes}
        for threshold, row in zip(self.thresholds, self.values):
            columns[f"AP at {threshold:g}"] = row.tolist()
        return columns


def mean_average_precision(
    lists: dict[Any, dict[str, tuple[Any, int]]] | dict[str, tuple[Any, int]],
    form: str = "eleven_point",
) -> MeanAveragePrecision:
    """Mean over classes of average precision, from matched detections (000c 18.2.5).

    Parameters
    ----------
    lists : dict
        Per class ``(relevance, n_relevant)``: marks 0 and 1 down the list of detections, the most
        confident first, and how many objects of the class there are. Or per overlap threshold
        such a dict; the mean over 0.50, 0.55 ... 0.95 is the second form of the text.
    form : {"eleven_point", "area"}, default="eleven_point"

    Returns
    -------
    found : MeanAveragePrecision

    Examples
    --------
    >>> mean_average_precision({"cat": ([1, 0, 1], 2), "dog": ([0, 1], 1)}).classes
    ['cat', 'dog']
    """
    if not lists:
        raise DataError("there is no class to average over")
    nested: dict[Any, Any] = lists if isinstance(next(iter(lists.values())), dict) else {0.5: lists}
    classes = [str(each) for each in next(iter(nested.values()))]
    rows = [
        [_list_precision(relevance, n_relevant, form) for relevance, n_relevant in per.values()]
        for per in nested.values()
    ]
    if len({len(row) for row in rows}) != 1:
        raise DataError("every overlap threshold needs the same classes")
    return MeanAveragePrecision(classes, [float(each) for each in nested], np.array(rows))


@dataclass(repr=False)
class DetectionCurve(Result):
    """Detection rate against the number of false detections, as the threshold falls.

    Attributes
    ----------
    thresholds : ndarray
    false_detections : ndarray of int
    detected : ndarray of int
    n_objects : int
    confidence_level : float
    """

    thresholds: np.ndarray
    false_detections: np.ndarray
    detected: np.ndarray
    n_objects: int
    confidence_level: float = 0.95

    def at(self, false_detections: int) -> Estimate:
        """Largest detection rate with at most this many false detections.

        Parameters
        ----------
        false_detections : int

        Returns
        -------
        figure : Estimate
        """
        place = int(np.searchsorted(self.false_detections, false_detections, "right")) - 1
        hits = int(self.detected[place]) if place >= 0 else 0
        return share_interval(hits, self.n_objects, self.confidence_level)

    def table(self, false_detections: tuple[int, ...] = (0, 1, 10, 100)) -> dict[int, Estimate]:
        """Detection rates at chosen numbers of false detections.

        Parameters
        ----------
        false_detections : tuple of int, default=(0, 1, 10, 100)

        Returns
        -------
        rates : dict of int to Estimate
        """
        return {each: self.at(each) for each in false_detections}

    def _title(self) -> str:
        return f"Detection curve of {self.n_objects:,} objects"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "false detections": self.false_detections.tolist(),
            "detection rate": [
                share_interval(int(hits), self.n_objects, self.confidence_level)
                for hits in self.detected
            ],
            "threshold": self.thresholds.tolist(),
        }


def detection_curve(
    is_object: Any, scores: Any, n_objects: int | None = None, confidence_level: float = 0.95
) -> DetectionCurve:
    """Share of objects found against false detections in the whole test set.

    Parameters
    ----------
    is_object : array-like of shape (n,)
        1 where a detection is an object, each object counted once; 0 where it is false.
    scores : array-like of shape (n,)
        The detector's confidence.
    n_objects : int, default=None
        All objects, found or not; those among the detections by default.
    confidence_level : float, default=0.95

    Returns
    -------
    curve : DetectionCurve

    Examples
    --------
    >>> curve = detection_curve([1, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5], n_objects=4)
    >>> curve.at(1).value
    0.5
    """
    check_level(confidence_level)
    marks, scores = _scored(is_object, scores, 1, None)
    total = int(marks.sum()) if n_objects is None else int(n_objects)
    if total < max(int(marks.sum()), 1):
        raise DataError(f"{int(marks.sum())} objects were detected, and n_objects says {total}")
    thresholds, hits, alarms = _steps(marks, scores, np.ones(len(scores)))
    return DetectionCurve(thresholds, alarms.astype(int), hits.astype(int), total, confidence_level)


@dataclass(repr=False)
class RejectionCurve(Result):
    """Accuracy on the accepted rows against the share of rows rejected, least certain first.

    Attributes
    ----------
    rejected : ndarray
        Share rejected, from 0 on.
    accuracy : list of Estimate
        Of the rows that are left.
    thresholds : ndarray
        Least confidence that is accepted.
    """

    rejected: np.ndarray
    accuracy: list[Estimate]
    thresholds: np.ndarray

    @property
    def area(self) -> float:
        """Mean accuracy over all rejection rates on the curve (trapezoids)."""
        values = np.array([each.value for each in self.accuracy])
        if len(values) == 1:
            return float(values[0])
        width = self.rejected[-1] - self.rejected[0]
        return float(np.trapezoid(values, self.rejected) / width)

    def rejection_for(self, accuracy: float) -> float | None:
        """Least share to reject so that the accepted rows reach this accuracy; None if never.

        Parameters
        ----------
        accuracy : float

        Returns
        -------
        rejected : float or None
        """
        enough = [each.value >= accuracy for each in self.accuracy]
        return float(self.rejected[enough.index(True)]) if any(enough) else None

    def _title(self) -> str:
        return f"Accuracy against rejection: {self.accuracy[0]} without, mean {self.area:.4g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "rejected": self.rejected.tolist(),
            "accuracy": list(self.accuracy),
            "least confidence": self.thresholds.tolist(),
        }


def rejection_curve(
    y_true: Any,
    y_pred: Any,
    confidence: Any,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> RejectionCurve:
    """Reject the least certain rows first: what is the accuracy on the rest? (004 11.7)

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
    confidence : array-like of shape (n,)
        Any confidence, such as the largest probability; rows of equal confidence go together.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.

    Returns
    -------
    curve : RejectionCurve
        Starts at the plain accuracy.

    Examples
    --------
    >>> curve = rejection_curve([0, 0, 1, 1], [0, 1, 1, 1], [0.9, 0.5, 0.8, 0.7])
    >>> curve.rejected.tolist(), [each.value for each in curve.accuracy]
    ([0.0, 0.25, 0.5, 0.75], [0.75, 1.0, 1.0, 1.0])
    """
    y_true, y_pred = label_pair(y_true, y_pred)
    confidence = number_block(confidence, "confidence").ravel()
    same_length(y_true, confidence, "the confidences")
    weights = _weights(sample_weight, len(y_true))
    thresholds, right, wrong = _steps(y_true == y_pred, confidence, weights)
    accepted = right + wrong
    figures = [share_interval(r, a, confidence_level) for r, a in zip(right, accepted)]
    return RejectionCurve((1 - accepted / accepted[-1])[::-1], figures[::-1], thresholds[::-1])


def _scored(y: Any, scores: Any, positive: Any, what: str | None) -> tuple[np.ndarray, np.ndarray]:
    is_positive, _, _ = two_classes(y, positive)
    scores = number_block(scores, "scores")
    if scores.ndim == 2:
        raise DataError(
            f"scores must be one column, not {scores.shape[1]}: give those of the positive class"
        )
    same_length(is_positive, scores, "the scores")
    if what is not None:
        both_present(is_positive, what)
    return is_positive, scores


def _weights(sample_weight: Any, n: int) -> np.ndarray:
    given = frequency_weights(sample_weight, n)
    return np.ones(n) if given is None else given


def _steps(
    marks: np.ndarray, scores: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Falling distinct scores; weights of marked and unmarked rows at or above each."""
    order = np.argsort(-scores, kind="stable")
    order = order[weights[order] > 0]
    ordered, mass, marked = scores[order], weights[order], marks[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), len(ordered) - 1)
    hits = np.cumsum(mass * marked)[last]
    alarms = np.cumsum(mass * ~marked)[last]
    return ordered[last], hits, alarms


def _area(precision: np.ndarray, recall: np.ndarray) -> float:
    return float(precision @ np.diff(recall, prepend=0.0))


def jackknife_areas(
    hits: np.ndarray, depth: np.ndarray, part: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Areas under the precision-recall curve without a relevant, or without another, row per step.

    Of weighted rows a weight of `part` is left out.
    Taking row k away changes the precision of the steps at and below it only, so cumulated sums
    give all n areas in O(n).
    """
    relevant = hits[-1]
    rise = np.diff(hits, prepend=0.0)
    before = np.cumsum(rise * hits / depth) - rise * hits / depth
    others = np.maximum(depth - part, part)
    without_other = (before + _sums_below(rise * hits / others)) / relevant
    lost = rise * np.maximum(hits - part, 0) / others
    own = np.maximum(rise - part, 0) * np.maximum(hits - part, 0) / others
    without_relevant = (before + _sums_below(lost) - lost + own) / max(relevant - part, part)
    return without_relevant, without_other


def _area_error(hits: np.ndarray, depth: np.ndarray, part: float = 1.0) -> float:
    """Jackknife standard error of the area under the precision-recall curve.

    Of weighted rows a weight of one is left out, or that of the average unit of weight (the sum of
    squared weights by the sum of weights) where it is less.
    """
    relevant, n = hits[-1], depth[-1]
    if relevant < 2 or n - relevant < 2:
        return np.nan
    of_relevant, of_others = jackknife_areas(hits, depth, part)
    rise = np.diff(hits, prepend=0.0)
    rest = np.diff(depth, prepend=0.0) - rise
    mean = (rise @ of_relevant + rest @ of_others) / n
    spread = rise @ (of_relevant - mean) ** 2 + rest @ (of_others - mean) ** 2
    return float((n - part) / part * np.sqrt(spread / (n * (n - 1))))


def _sums_below(values: np.ndarray) -> np.ndarray:
    return np.cumsum(values[::-1])[::-1]


def _list_precision(relevance: Any, n_relevant: int, form: str) -> float:
    if form not in ("eleven_point", "area"):
        raise DataError(f"form={form!r} is neither 'eleven_point' nor 'area'")
    if len(relevance) == 0:
        return 0.0
    curve = precision_recall_curve(np.asarray(relevance), pos_label=1, n_relevant=n_relevant)
    return curve.eleven_point if form == "eleven_point" else curve.average_precision.value


def _variance(components: np.ndarray, weights: np.ndarray) -> float:
    """Variance of a weighted mean of components; NaN for a single row."""
    n = float(weights.sum())
    if n <= 1:
        return np.nan
    gaps = components - np.average(components, weights=weights)
    return float(weights @ gaps**2 / (n * (n - 1)))
