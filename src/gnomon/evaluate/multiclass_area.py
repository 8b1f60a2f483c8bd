"""The area under the ROC curve for several classes: one against one, or one against the rest.

One against one (Hand and Till 2001): for every pair of classes i, j the area of p_i and that of
p_j over the rows of the two, averaged over all pairs,

    M = 1 / (c (c - 1)) sum_{i != j} A(i | j),

which does not depend on how common the classes are. One against the rest: the mean over classes of
the area of p_i for class i against all other rows, in which common classes weigh more as opponents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate, frequency_weights
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import plain, probability_block
from gnomon.evaluate.ranking import area_figure, area_under_roc, placements

AGAINST = ("one", "rest")


@dataclass(repr=False)
class MulticlassArea(Result):
    """Areas under the ROC curves of several classes, and their mean.

    Attributes
    ----------
    mean : Estimate
    parts : dict of (label, label or None) to Estimate
        Area of the first class's probability, against the second class or (None) all the others.
    against : str
        ``"one"`` or ``"rest"``.
    """

    mean: Estimate
    parts: dict[tuple[Any, Any], Estimate]
    against: str

    def _title(self) -> str:
        return f"Area under the ROC curves, one against {self.against}: {self.mean}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "class": [one for one, _ in self.parts],
            "against": ["all others" if other is None else other for _, other in self.parts],
            "area": list(self.parts.values()),
        }


def multiclass_area(
    y: Any,
    proba: Any,
    classes: Any = None,
    *,
    against: str = "one",
    sample_weight: Any = None,
    confidence_level: float = 0.95,
) -> MulticlassArea:
    """How well the probabilities of several classes order the rows (Hand and Till 2001).

    With two classes both forms are `area_under_roc`. The standard error adds up what every row does
    to the mean area (the components of DeLong), so it knows that the curves share their rows.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes; every class needs rows.
    proba : array-like of shape (n, n_classes)
    classes : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; sorted classes of y by default.
    against : {"one", "rest"}, default="one"
        ``"one"`` averages over pairs of classes; ``"rest"`` over classes against all others.
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.
    confidence_level : float, default=0.95

    Returns
    -------
    areas : MulticlassArea

    Examples
    --------
    >>> y = ["a", "a", "b", "b", "c", "c"]
    >>> proba = [[8, 1, 1], [6, 2, 2], [2, 7, 1], [5, 3, 2], [1, 1, 8], [1, 5, 4]]
    >>> round(multiclass_area(y, [[p / 10 for p in row] for row in proba]).mean.value, 4)
    0.9583
    """
    if against not in AGAINST:
        raise DataError(f"against={against!r} is none of {', '.join(AGAINST)}")
    codes, proba, names = probability_block(y, proba, classes)
    given = frequency_weights(sample_weight, len(codes))
    weights = np.ones(len(codes)) if given is None else given
    rows = np.bincount(codes, weights, minlength=len(names))
    if len(names) < 2 or not rows.all():
        absent = ", ".join(str(each) for each in names[rows == 0])
        raise DataError(
            f"the area compares classes, and there are no rows of {absent or 'a second class'}; "
            "stratify the folds, or take more rows"
        )
    contests = _contests(len(names), against)
    parts, effects, areas = {}, np.zeros(len(codes)), []
    for one, other in contests:
        inside = np.ones(len(codes), bool) if other is None else np.isin(codes, (one, other))
        figure, effect = _contest(
            codes[inside] == one, proba[inside, one], weights[inside], confidence_level
        )
        effects[inside] += effect / len(contests)
        areas.append(figure.value)
        parts[plain(names[one]), None if other is None else plain(names[other])] = figure
    n = float(weights.sum())
    bessel = n / (n - 1) if n > 1 else np.nan
    variances = bessel * np.bincount(codes, weights * effects**2, minlength=len(names))
    mean = area_figure(float(np.mean(areas)), variances, rows, confidence_level, "row effects")
    return MulticlassArea(mean, parts, against)


def multiclass_area_one(
    y: Any, proba: Any, classes: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean area over pairs of classes, as a measure."""
    return multiclass_area(y, proba, classes, confidence_level=confidence_level).mean


def multiclass_area_rest(
    y: Any, proba: Any, classes: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean area of the classes against all others, as a measure."""
    return multiclass_area(
        y, proba, classes, against="rest", confidence_level=confidence_level
    ).mean


def _contests(k: int, against: str) -> list[tuple[int, int | None]]:
    if against == "rest":
        return [(one, None) for one in range(k)]
    return [(one, other) for one in range(k) for other in range(k) if one != other]


def _contest(
    is_one: np.ndarray, scores: np.ndarray, weights: np.ndarray, confidence_level: float
) -> tuple[Estimate, np.ndarray]:
    """The area of one class against the other rows, and what a unit of each row does to it."""
    figure = area_under_roc(is_one, scores, True, confidence_level, sample_weight=weights)
    of_one, of_others = placements(is_one, scores, weights)
    effect = np.empty(len(scores))
    effect[is_one] = (of_one - figure.value) / weights[is_one].sum()
    effect[~is_one] = (of_others - figure.value) / weights[~is_one].sum()
    return figure, effect
