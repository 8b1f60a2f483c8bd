"""Measures under scikit-learn's names: its values, with an interval on request.

Each function takes the arguments of its namesake in `sklearn.metrics` and returns the same number.
With ``confidence_level`` it returns an `Estimate`: the number with its standard error and interval.

Texts: 000a 1.1.1 · 003 2.1.7 · 004 3.3.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from sklearn import metrics

from gnomon.contract.estimate import check_level
from gnomon.engine.errors import DataError
from gnomon.evaluate.class_measures import (
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    f_measure,
    precision,
    recall,
)
from gnomon.evaluate.losses import margin_hinge_loss, misclassification_loss
from gnomon.evaluate.number_measures import mean_absolute_error as absolute_error
from gnomon.evaluate.number_measures import mean_squared_error as squared_error
from gnomon.evaluate.number_measures import r_squared
from gnomon.evaluate.number_measures import root_mean_squared_error as root_error
from gnomon.evaluate.probability_measures import cross_entropy
from gnomon.evaluate.ranking import area_under_roc, average_precision

Measured = Callable[..., Any]
PREDICTED = {"y_true", "y_pred", "y1", "y2", "y_score", "y_proba", "pred_decision"}


def with_interval(theirs: Measured, ours: Measured) -> Measured:
    """scikit-learn's measure with one keyword more: ``confidence_level``.

    Parameters
    ----------
    theirs : callable
        The measure of scikit-learn.
    ours : callable
        The same measure as an `Estimate`.

    Returns
    -------
    measure : callable
    """
    signature = inspect.signature(theirs)
    one_class = "pos_label" in signature.parameters

    @functools.wraps(theirs)
    def measure(*args: Any, confidence_level: float | None = None, **kwargs: Any) -> Any:
        if confidence_level is None:
            return theirs(*args, **kwargs)
        check_level(confidence_level)
        given = signature.bind(*args, **kwargs)
        changed = set(given.arguments) - PREDICTED
        unknown = changed - {"sample_weight", "pos_label"}
        unknown = {
            name for name in unknown if given.arguments[name] != signature.parameters[name].default
        }
        if unknown:
            raise DataError(
                f"{theirs.__name__} has an interval only with the default of {min(unknown)!r}; "
                "leave confidence_level out, or that parameter"
            )
        first, second = list(given.arguments.values())[:2]
        weights = given.arguments.get("sample_weight")
        more: dict[str, Any] = {"positive": _positive(given.arguments)} if one_class else {}
        return ours(first, second, confidence_level=confidence_level, sample_weight=weights, **more)

    keyword = inspect.Parameter(
        "confidence_level", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="float | None"
    )
    parameters = [*signature.parameters.values(), keyword]
    measure.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    measure.estimate = ours  # type: ignore[attr-defined]
    measure.__module__ = __name__
    measure.__doc__ = _documented(theirs)
    return measure


def _positive(given: dict[str, Any]) -> Any:
    return given.get("pos_label", 1)


def _documented(theirs: Measured) -> str:
    """scikit-learn's text, with the entry of the parameter that is added and an example."""
    text = inspect.cleandoc(theirs.__doc__ or "")
    entry = (
        "confidence_level : float or None, default=None\n"
        "    With a level such as 0.95 an `Estimate` is returned: the measure with its standard\n"
        "    error and an interval of this level.\n\n"
    )
    at, end = text.index("Returns\n-------"), text.index("Examples\n--------")
    example = (
        "Examples\n--------\n"
        f">>> from gnomon.evaluate import {theirs.__name__}\n"
        ">>> from sklearn import metrics\n"
        ">>> y, answer = [0, 1, 1, 0], [0, 1, 0, 0]\n"
        f">>> {theirs.__name__}(y, answer) == metrics.{theirs.__name__}(y, answer)\n"
        "True\n"
    )
    return text[:at] + entry + text[at:end] + example


accuracy_score = with_interval(metrics.accuracy_score, accuracy)
balanced_accuracy_score = with_interval(metrics.balanced_accuracy_score, balanced_accuracy)
precision_score = with_interval(metrics.precision_score, precision)
recall_score = with_interval(metrics.recall_score, recall)
f1_score = with_interval(metrics.f1_score, f_measure)
cohen_kappa_score = with_interval(metrics.cohen_kappa_score, cohen_kappa)
roc_auc_score = with_interval(metrics.roc_auc_score, area_under_roc)
average_precision_score = with_interval(metrics.average_precision_score, average_precision)
r2_score = with_interval(metrics.r2_score, r_squared)
mean_absolute_error = with_interval(metrics.mean_absolute_error, absolute_error)
mean_squared_error = with_interval(metrics.mean_squared_error, squared_error)
root_mean_squared_error = with_interval(metrics.root_mean_squared_error, root_error)
log_loss = with_interval(metrics.log_loss, cross_entropy)
hinge_loss = with_interval(metrics.hinge_loss, margin_hinge_loss)
zero_one_loss = with_interval(metrics.zero_one_loss, misclassification_loss)
