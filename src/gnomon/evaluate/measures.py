"""Measures by name: what each needs of a learner, which way is better, its losses per row.

`cross_validation_estimates` and `leaderboard` take these names; `gnomon.evaluate.MEASURES` lists
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from gnomon.contract.estimate import Estimate
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
    cross_entropy,
    log_losses,
    mean_log_loss,
)
from gnomon.evaluate.ranking import area_under_roc, average_precision

# How scikit-learn names its measures, and the first two things that those of predictions take.
LOSS_ENDINGS = ("_error", "_loss", "_deviance")
SCORE_ENDINGS = ("_score", "_corrcoef")
OF_NUMBERS = ("rmse", "mse", "mae", "r2")
OF_PREDICTIONS = (("y_true", "y_pred"), ("labels_true", "labels_pred"), ("y1", "y2"))
SHARE_SCORERS = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "completeness_score",
    "f1",
    "fowlkes_mallows_score",
    "homogeneity_score",
    "jaccard",
    "normalized_mutual_info_score",
    "precision",
    "rand_score",
    "recall",
    "roc_auc",
    "top_k_accuracy",
    "v_measure_score",
)


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
    lacks : dict of str to str
        What the learner cannot say though a measure needs it (``"probabilities"``, ``"scores"``),
        and why.
    """

    predictions: np.ndarray
    probabilities: np.ndarray | None = None
    scores: np.ndarray | None = None
    classes: np.ndarray | None = None
    lacks: dict[str, str] = field(default_factory=dict)

    def part(self, rows: Any) -> Said:
        """The predictions for some of the rows.

        Parameters
        ----------
        rows : slice or ndarray

        Returns
        -------
        said : Said
        """
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        scores = None if self.scores is None else self.scores[rows]
        return Said(self.predictions[rows], probabilities, scores, self.classes, self.lacks)


@dataclass(frozen=True)
class Measure:
    """A measure of what learners say.

    Attributes
    ----------
    name : str
    function : callable
        ``function(y, said)`` with the part of `Said` that it needs; an `Estimate` or a number.
    needs : str
        ``"predictions"``, ``"probabilities"``, ``"scores"``, or ``"estimator"`` for functions
        ``function(estimator, X, y)`` such as scikit-learn's scorers.
    greater_is_better : bool
    losses : callable or None
        Values per row whose mean is the measure (or its square, with `root`).
    root : bool
    share : bool
        Whether it lies between 0 and 1: its intervals then do so, too.
    positive : bool
        Whether it is of the second of two classes, which its function then takes as third.
    every_class : bool
        Whether it needs rows of every class of the data; folds without one would be too good.
    least, most : float
        What its mean cannot go beyond, such as 0 for a loss: its intervals then do not, either.
    """

    name: str
    function: Callable[..., Estimate | float]
    needs: str = "predictions"
    greater_is_better: bool = True
    losses: Callable[..., np.ndarray] | None = None
    root: bool = False
    share: bool = False
    positive: bool = False
    every_class: bool = False
    least: float = -np.inf
    most: float = np.inf

    @property
    def is_of_squares(self) -> bool:
        """Whether its losses are squared errors, of which few rows may hold most."""
        return self.losses is _row_squares

    def at_level(self, confidence_level: float) -> Measure:
        """The measure with intervals of another level, where its function takes one.

        Parameters
        ----------
        confidence_level : float

        Returns
        -------
        measure : Measure
        """
        if "confidence_level" not in signature(self.function).parameters:
            return self
        return replace(self, function=partial(self.function, confidence_level=confidence_level))

    def kept_within(self, figure: Estimate) -> Estimate:
        """The figure, its interval not beyond what the measure can be.

        Parameters
        ----------
        figure : Estimate

        Returns
        -------
        figure : Estimate
        """
        least, most = (0.0, 1.0) if self.share else (self.least, self.most)
        low, high = max(figure.low, least), min(figure.high, most)
        return figure._replace(low=float(low), high=float(high))

    def figure(self, y: np.ndarray, said: Said) -> Estimate | float:
        """The measure of some rows.

        Parameters
        ----------
        y : ndarray
        said : Said

        Returns
        -------
        figure : Estimate or float
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

    def _call(self, function: Callable[..., Any], y: np.ndarray, said: Said) -> Any:
        if self.needs in said.lacks:
            raise DataError(said.lacks[self.needs])
        if self.every_class and said.classes is not None:
            self._require_every_class(y, said.classes)
        if self.needs == "probabilities":
            return function(y, said.probabilities, said.classes)
        if self.needs == "scores":
            return function(y, said.scores, self._second(said))
        if self.positive and said.classes is not None:
            return function(y, said.predictions, self._second(said))
        return function(y, said.predictions)

    def _second(self, said: Said) -> Any:
        if said.classes is None or len(said.classes) != 2:
            n = 0 if said.classes is None else len(said.classes)
            instead = (
                "auc_one_vs_one or log_loss" if self.needs == "scores" else "balanced_accuracy"
            )
            raise DataError(
                f"{self.name} is of two classes, and there are {n}; use {instead} for several"
            )
        return said.classes[1]

    def _require_every_class(self, y: np.ndarray, classes: np.ndarray) -> None:
        missing = np.setdiff1d(classes, y)
        if len(missing):
            shown = ", ".join(map(str, missing[:5].tolist())) + (
                ", ..." if len(missing) > 5 else ""
            )
            raise DataError(
                f"{self.name} is of every class, and none of the {len(y):,} rows is of {shown}; "
                "take fewer folds, or merge small classes"
            )


def _right(y: np.ndarray, said: np.ndarray) -> np.ndarray:
    return (y == said).astype(float)


def _quiet_log_loss(y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> Estimate:
    """Results say themselves where a loss is infinite; a warning per fold would only be noise."""
    return mean_log_loss(log_losses(y, proba, classes))


def _row_squares(y: np.ndarray, said: np.ndarray) -> np.ndarray:
    squares = residuals(y, said) ** 2
    return squares if squares.ndim == 1 else squares.mean(axis=1)


def _row_distances(y: np.ndarray, said: np.ndarray) -> np.ndarray:
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
        Measure("balanced_accuracy", balanced_accuracy, share=True, every_class=True),
        Measure("precision", precision, share=True, positive=True),
        Measure("recall", recall, share=True, positive=True),
        Measure("f_measure", f_measure, share=True, positive=True),
        Measure("kappa", cohen_kappa, most=1, every_class=True),
        Measure("log_loss", _quiet_log_loss, "probabilities", False, log_losses, least=0),
        Measure("brier", brier_score, "probabilities", False, brier_losses, least=0),
        Measure("auc", area_under_roc, "scores", share=True),
        Measure("auc_one_vs_one", multiclass_area_one, "probabilities", share=True),
        Measure("auc_one_vs_rest", multiclass_area_rest, "probabilities", share=True),
        Measure("average_precision", average_precision, "scores", share=True),
        Measure("rmse", root_mean_squared_error, "predictions", False, _row_squares, True, least=0),
        Measure("mse", mean_squared_error, "predictions", False, _row_squares, least=0),
        Measure("mae", mean_absolute_error, "predictions", False, _row_distances, least=0),
        Measure("r2", r_squared, most=1),
    )
}
SCORE = Measure("score", lambda estimator, X, y: float(estimator.score(X, y)), "estimator")
SCORE_ALONE = Measure("score", lambda estimator, X, y: float(estimator.score(X)), "estimator")


def as_measures(measures: Any, task: str) -> list[Measure]:
    """Measures from names, `Measure`, `Loss`, functions or scikit-learn's scorers.

    Parameters
    ----------
    measures : None, or one or several measures, or a mapping of names to measures
    task : {"classify", "regress", "other", "alone"}
        ``"alone"``: there is no target.
    """
    if measures is None:
        default = {"classify": "accuracy", "regress": "rmse"}.get(task)
        return [MEASURES[default] if default else (SCORE_ALONE if task == "alone" else SCORE)]
    if isinstance(measures, Mapping):
        found = [replace(_as_measure(each), name=str(name)) for name, each in measures.items()]
    elif isinstance(measures, (list, tuple, set)):
        found = [_as_measure(each) for each in measures]
    else:
        found = [_as_measure(measures)]
    if not found:
        raise DataError("there is no measure to score by")
    if task == "alone":
        require_no_target({each.name: each for each in found})
    wrong = [each.name for each in found if task == "regress" and _is_of_classes(each)]
    if wrong:
        raise DataError(
            f"{', '.join(wrong)} is of classes, and the learner predicts numbers; "
            "use rmse, mse, mae or r2, or a classifier"
        )
    names = [each.name for each in found]
    if len(set(names)) < len(names):
        raise DataError(f"two measures have one name: {', '.join(names)}")
    return found


def require_no_target(measures: Mapping[str, Any]) -> None:
    """Refuse measures that compare with a target where there is none.

    Parameters
    ----------
    measures : mapping of names to Measure or scorer
    """
    needing = [name for name, measure in measures.items() if _needs_target(measure)]
    if needing:
        raise DataError(
            f"{', '.join(needing)} compares predictions with a target, and none is given: give y, "
            "or choose no measure, so that the estimator's own score counts"
        )


def _needs_target(measure: Any) -> bool:
    """All but functions of the estimator, which may do without; ``make_scorer``'s do not."""
    if isinstance(measure, Measure):
        return measure.needs != "estimator" or _needs_target(measure.function)
    return hasattr(measure, "_score_func")


def _is_of_classes(measure: Measure) -> bool:
    """Whether it is one of the measures here that ask whether predicted classes are the true ones.

    Of numbers they would be zero; what measures of probabilities need, regressors do not say.
    """
    own = [each for each in MEASURES.values() if each.name not in OF_NUMBERS]
    return any(measure.function is each.function for each in own if each.needs == "predictions")


def one_measure(measure: Any, task: str) -> Measure:
    """The one measure that is given; several are refused.

    Parameters
    ----------
    measure : None or one measure, as in `as_measures`
    task : {"classify", "regress", "other", "alone"}
    """
    found = as_measures(measure, task)
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise DataError(f"one measure counts here, and {len(found)} were given: {names}")
    return found[0]


def is_named(measure: Measure) -> bool:
    """Whether the name alone says which measure it is.

    Parameters
    ----------
    measure : Measure
    """
    from sklearn.metrics import get_scorer, get_scorer_names

    function = measure.function
    if hasattr(function, "_score_func") and measure.name in get_scorer_names():
        known = get_scorer(measure.name)
        return function._score_func is known._score_func and repr(function) == repr(known)
    own = (*MEASURES.values(), SCORE, SCORE_ALONE)
    return any(measure is each for each in own)


def _as_measure(measure: Any) -> Measure:
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, Loss):
        if measure.takes == "margin":
            raise DataError(f"the {measure.name} loss is of margins, which learners do not predict")
        return Measure(
            measure.name,
            measure,
            "predictions",
            False,
            measure.values,
            share=measure.share,
            least=measure.least,
        )
    if isinstance(measure, str):
        return MEASURES[measure] if measure in MEASURES else _scorer(measure)
    if callable(measure):
        measure = getattr(measure, "estimate", measure)  # of a namesake of scikit-learn's
        if measure is cross_entropy:
            return MEASURES["log_loss"]
        known = next((each for each in MEASURES.values() if each.function is measure), None)
        if known is not None:
            return known
        return _made_scorer(measure) if hasattr(measure, "_score_func") else _function(measure)
    raise DataError(f"{measure!r} is no measure; give a name, a Measure, a Loss or a function")


def _scorer(name: str) -> Measure:
    """One of scikit-learn's scorers by name."""
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        raise DataError(
            f"there is no measure {name!r}; there are {', '.join(MEASURES)}, and scikit-learn's "
            "scorers"
        )
    scorer = get_scorer(name)
    return _of_scorer(name, scorer)


def _made_scorer(scorer: Any) -> Measure:
    """What ``make_scorer`` gave, by the name of its function and what it was given."""
    settings = ", ".join(f"{key}={value}" for key, value in scorer._kwargs.items())
    name = ("neg_" if scorer._sign < 0 else "") + _name_of(scorer._score_func)
    name += f"({settings})" if settings else ""
    return _of_scorer(name, scorer)


def _of_scorer(name: str, scorer: Any) -> Measure:
    """A scorer as a measure; scikit-learn's own losses, turned to scores, are never above 0."""
    function = scorer._score_func
    own = (getattr(function, "__module__", None) or "").startswith("sklearn.metrics")
    is_loss = own and scorer._sign < 0 and _name_of(function).endswith(LOSS_ENDINGS)
    most = 0.0 if is_loss else np.inf
    return Measure(name, scorer, "estimator", share=_lies_in_unit(scorer), most=most)


def _lies_in_unit(scorer: Any) -> bool:
    plain = scorer._sign > 0 and not scorer._kwargs.get("adjusted")
    return bool(plain) and _is_share(scorer._score_func)


def _is_share(function: Any) -> bool:
    """Whether a function of scikit-learn's gives values between 0 and 1."""
    from sklearn.metrics import get_scorer

    return any(get_scorer(name)._score_func is function for name in SHARE_SCORERS)


def _function(function: Callable[..., float]) -> Measure:
    """A bare function of true and predicted values; whether more is better must be known."""
    name = _name_of(function)
    if (getattr(function, "__module__", None) or "").startswith("sklearn.metrics"):
        _require_of_predictions(function, name)
        if name.endswith(LOSS_ENDINGS):
            return Measure(name, function, greater_is_better=False, least=0)
        if name.endswith(SCORE_ENDINGS):
            return Measure(name, function, share=_is_share(function))
    raise DataError(
        f"whether more of {name} is better is not known: give Measure({name!r}, function, "
        "greater_is_better=...), and needs='estimator' where it is called as "
        "function(estimator, X, y)"
    )


def _require_of_predictions(function: Callable[..., float], name: str) -> None:
    """Refuse functions of scores or probabilities, which predictions would be taken for."""
    from sklearn.metrics import get_scorer, get_scorer_names

    scorers = {each: get_scorer(each) for each in get_scorer_names()}
    mine = [each for each, scorer in scorers.items() if scorer._score_func is function]
    predicts = all(scorers[each]._response_method == "predict" for each in mine)
    if predicts and tuple(signature(function).parameters)[:2] in OF_PREDICTIONS:
        return
    instead = f"the name {mine[0]!r}" if mine else "a scorer (sklearn.metrics.make_scorer)"
    raise DataError(
        f"scikit-learn's {name} is not of predictions, which functions are given: give {instead}"
    )


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)
