"""Measures by name: what each needs of a learner, which way is better, its losses per row.

`cross_validate` and `leaderboard` take these names; `gnomon.evaluate.MEASURES` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.evaluate.class_measures import (
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    error_rate,
    f_measure,
    precision,
    recall,
)
from gnomon.evaluate.figure import Figure
from gnomon.evaluate.losses import Loss
from gnomon.evaluate.multiclass_area import multiclass_area_one, multiclass_area_rest
from gnomon.evaluate.number_measures import (
    mean_absolute_error,
    mean_squared_error,
    r_squared,
    residuals,
    root_mean_squared_error,
)
from gnomon.evaluate.probability_measures import (
    brier_losses,
    brier_score,
    log_loss,
    log_losses,
    mean_log_loss,
)
from gnomon.evaluate.ranking import area_under_roc, average_precision


@dataclass
class Said:
    """What a fitted learner says of some rows.

    Attributes
    ----------
    predictions : ndarray
    probabilities : ndarray of shape (n, n_classes) or None
        Columns in the order of `classes`.
    scores : ndarray of shape (n,) or None
        Of the second of two classes.
    classes : ndarray or None
        All classes of the data, also those that the learner never saw.
    """

    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    scores: np.ndarray | None = None
    classes: np.ndarray | None = None

    def part(self, rows: Any) -> Said:
        """What is said of some of the rows.

        Parameters
        ----------
        rows : slice or ndarray

        Returns
        -------
        said : Said
        """
        chosen = (
            None if each is None else each[rows] for each in (self.probabilities, self.scores)
        )
        return Said(self.predictions[rows], *chosen, self.classes)


@dataclass(frozen=True)
class Measure:
    """A measure of what learners say.

    Attributes
    ----------
    name : str
    function : callable
        ``function(y, said)`` with the part of `Said` that it needs; a `Figure` or a number.
    needs : str
        ``"predictions"``, ``"probabilities"``, ``"scores"``, or ``"estimator"`` for functions
        ``function(estimator, X, y)`` such as scikit-learn's scorers.
    greater_is_better : bool
    losses : callable or None
        Values per row whose mean is the measure (or its square, with `root`).
    root : bool
    share : bool
        Whether it lies between 0 and 1: its intervals then do so, too.
    """

    name: str
    function: Callable[..., Figure | float]
    needs: str = "predictions"
    greater_is_better: bool = True
    losses: Callable[..., np.ndarray] | None = None
    root: bool = False
    share: bool = False

    def figure(self, y: np.ndarray, said: Said) -> Figure | float:
        """The measure of some rows.

        Parameters
        ----------
        y : ndarray
        said : Said

        Returns
        -------
        figure : Figure or float
        """
        return self._call(self.function, y, said)

    def row_losses(self, y: np.ndarray, said: Said) -> np.ndarray | None:
        """The value of every row, where the measure is a mean of such values.

        Parameters
        ----------
        y : ndarray
        said : Said

        Returns
        -------
        losses : ndarray or None
        """
        return None if self.losses is None else self._call(self.losses, y, said)

    def _call(self, function, y, said):
        if self.needs == "probabilities":
            return function(y, said.probabilities, said.classes)
        if self.needs == "scores":
            if said.classes is None or len(said.classes) != 2:
                raise DataError(
                    f"{self.name} is of two classes; use auc_one_vs_one or log_loss for several"
                )
            return function(y, said.scores, said.classes[1])
        return function(y, said.predictions)


def _right(y, said) -> np.ndarray:
    return (y == said).astype(float)


def _quiet_log_loss(y, proba, classes) -> Figure:
    """Results say themselves where a loss is infinite; a warning per fold would only be noise."""
    return mean_log_loss(log_losses(y, proba, classes))


def _row_squares(y, said) -> np.ndarray:
    squares = residuals(y, said) ** 2
    return squares if squares.ndim == 1 else squares.mean(axis=1)


def _row_distances(y, said) -> np.ndarray:
    gaps = np.abs(residuals(y, said))
    return gaps if gaps.ndim == 1 else gaps.mean(axis=1)


MEASURES: dict[str, Measure] = {
    each.name: each
    for each in (
        Measure("accuracy", accuracy, losses=_right, share=True),
        Measure(
            "error",
            error_rate,
            greater_is_better=False,
            losses=lambda y, said: 1 - _right(y, said),
            share=True,
        ),
        Measure("balanced_accuracy", balanced_accuracy, share=True),
        Measure("precision", precision, share=True),
        Measure("recall", recall, share=True),
        Measure("f_measure", f_measure, share=True),
        Measure("kappa", cohen_kappa),
        Measure("log_loss", _quiet_log_loss, "probabilities", False, log_losses),
        Measure("brier", brier_score, "probabilities", False, brier_losses),
        Measure("auc", area_under_roc, "scores", share=True),
        Measure("auc_one_vs_one", multiclass_area_one, "probabilities", share=True),
        Measure("auc_one_vs_rest", multiclass_area_rest, "probabilities", share=True),
        Measure("average_precision", average_precision, "scores", share=True),
        Measure("rmse", root_mean_squared_error, "predictions", False, _row_squares, True),
        Measure("mse", mean_squared_error, "predictions", False, _row_squares),
        Measure("mae", mean_absolute_error, "predictions", False, _row_distances),
        Measure("r2", r_squared),
    )
}
SCORE = Measure("score", lambda estimator, X, y: float(estimator.score(X, y)), "estimator")
SCORE_ALONE = Measure("score", lambda estimator, X, y: float(estimator.score(X)), "estimator")


def as_measures(measures: Any, task: str) -> list[Measure]:
    """Measures from names, `Measure`, `Loss`, functions or scikit-learn's scorers.

    Parameters
    ----------
    measures : None, or one or several measures
    task : {"classify", "regress", "other", "alone"}
        ``"alone"``: there is no target.
    """
    if measures is None:
        default = {"classify": "accuracy", "regress": "rmse"}.get(task)
        return [MEASURES[default] if default else (SCORE_ALONE if task == "alone" else SCORE)]
    if isinstance(measures, (list, tuple, set)):
        given = list(measures)
    else:
        given = [measures]
    found = [_as_measure(each) for each in given]
    if not found:
        raise DataError("there is no measure to score by")
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise DataError(f"two measures have one name: {', '.join(names)}")
    return found


def _as_measure(measure: Any) -> Measure:
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, Loss):
        if measure.takes == "margin":
            raise DataError(f"the {measure.name} loss is of margins, which learners do not predict")
        return Measure(measure.name, measure, "predictions", False, measure.values)
    if isinstance(measure, str):
        return MEASURES[measure] if measure in MEASURES else _scorer(measure)
    if callable(measure):
        name = getattr(measure, "__name__", type(measure).__name__)
        if measure is log_loss:
            return MEASURES["log_loss"]
        known = next((each for each in MEASURES.values() if each.function is measure), None)
        if known is not None:
            return known
        if hasattr(measure, "_score_func"):
            return Measure(name, measure, "estimator")
        return Measure(name, measure)
    raise DataError(f"{measure!r} is no measure; give a name, a Measure, a Loss or a function")


def _scorer(name: str) -> Measure:
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        raise DataError(
            f"there is no measure {name!r}; there are {', '.join(MEASURES)}, and scikit-learn's "
            "scorers"
        )
    return Measure(name, get_scorer(name), "estimator")
