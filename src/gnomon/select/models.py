"""Learners inside selectors: fitted on some columns of distinct rows, scored."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from gnomon.engine.draw import MOST_REPETITIONS
from gnomon.engine.errors import DataError
from gnomon.evaluate import BaselineClassifier, BaselineRegressor
from gnomon.select.problem import Problem


def require_kind(estimator: Any, problem: Problem) -> None:
    """Refuse a learner of classes for numbers and the other way round."""
    name = type(estimator).__name__
    if problem.n_classes and is_regressor(estimator):
        raise DataError(f"estimator={name} learns numbers, and the target holds classes")
    if not problem.n_classes and is_classifier(estimator):
        raise DataError(f"estimator={name} learns classes, and the target holds numbers")


def fitted(estimator: Any, rows: np.ndarray, problem: Problem, seed: int) -> Any:
    """A fresh learner, fitted on given columns of the problem's rows.

    Without columns, or where the rows show one class only, it is the baseline.
    """
    y, weights = problem.y, problem.weights
    if problem.n_classes and (rows.shape[1] == 0 or len(np.unique(y)) == 1):
        return BaselineClassifier().fit(np.zeros((len(y), 1)), y, sample_weight=weights)
    if rows.shape[1] == 0:
        return BaselineRegressor().fit(np.zeros((len(y), 1)), y, sample_weight=weights)
    model = clone(estimator)
    drawn = {
        name: seed
        for name, value in model.get_params().items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    if drawn:
        model.set_params(**drawn)
    if (weights == 1).all():
        return model.fit(rows, y)
    if has_fit_parameter(model, "sample_weight"):
        return model.fit(rows, y, sample_weight=weights)
    times = np.rint(weights)
    if (times != weights).any() or times.sum() > MOST_REPETITIONS * len(y):
        raise DataError(
            f"{type(model).__name__} takes no weights, and these are not whole numbers by which "
            "rows could be repeated; give another learner"
        )
    written_out = np.repeat(np.arange(len(y)), times.astype(np.int64))
    return model.fit(rows[written_out], y[written_out])


def asked(model: Any, rows: np.ndarray) -> np.ndarray:
    """What a learner says of rows, the baseline too."""
    if isinstance(model, (BaselineClassifier, BaselineRegressor)) and rows.shape[1] != 1:
        rows = np.zeros((len(rows), 1))
    return np.asarray(model.predict(rows))


def importances(estimator: Any, problem: Problem, columns: np.ndarray, seed: int) -> np.ndarray:
    """How much each of the given columns counts in a learner fitted on them, standardised."""
    require_kind(estimator, problem)
    model = fitted(estimator, problem.unit[:, columns], problem, seed)
    return read_importances(model, len(columns))


def read_importances(model: Any, n_columns: int) -> np.ndarray:
    """Importances out of bag, importances, or absolute weights of a fitted learner."""
    if isinstance(model, (BaselineClassifier, BaselineRegressor)):
        return np.zeros(n_columns)
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if hasattr(last, "oob_importances_"):
        return np.maximum(np.asarray(last.oob_importances_.mean, dtype=np.float64), 0.0)
    if hasattr(last, "feature_importances_"):
        return np.asarray(last.feature_importances_, dtype=np.float64)
    if hasattr(last, "coef_"):
        weights = np.asarray(last.coef_, dtype=np.float64).reshape(-1, n_columns)
        return np.sqrt((weights**2).sum(axis=0))
    raise DataError(
        f"{type(last).__name__} has neither weights (coef_) nor importances "
        "(feature_importances_, oob_importances_); give a learner that has"
    )
