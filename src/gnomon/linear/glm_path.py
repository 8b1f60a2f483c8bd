"""Generalised linear models for a whole range of penalties, each from the one before.

The penalty of least cross-validated deviance, or of fewest misclassified rows, is found along it.
Text: 000 11.4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from gnomon.contract import Data
from gnomon.engine.errors import DataError
from gnomon.engine.sums import ArraySource, add_up
from gnomon.engine.threads import in_order
from gnomon.linear.design import dealt_folds
from gnomon.linear.elastic_net import PenaltyPath, falling, over_folds
from gnomon.linear.inference import column_names
from gnomon.linear.newton import at_penalty

# As glmnet: a ridge has no strongest penalty, so l1_ratio counts as 0.001 at least.
LEAST_RATIO = 1e-3
MEASURES = {"deviance": "mean deviance", "misclassification": "misclassified share"}


def glm_path(
    model, data: Data, alphas, n_alphas: int, eps: float, cv, measure: str, rng
) -> PenaltyPath:
    """The path of a model that has been shown the table but is not fitted; see `GLM.path`."""
    if measure not in MEASURES:
        raise DataError(f"measure is 'deviance' or 'misclassification', not {measure!r}")
    if measure == "misclassification" and model.family != "binomial":
        raise DataError(
            f"family={model.family!r} has no classes to be misclassified; use measure='deviance'"
        )
    if alphas is None:
        alphas = (greatest_penalty(model, data) or 1.0) * np.geomspace(1.0, eps, n_alphas)
    alphas = falling(alphas)
    coefficients, intercepts, gaps, explained = along(model, data, alphas)
    path = PenaltyPath(
        alphas,
        coefficients,
        intercepts,
        gaps,
        explained,
        column_names(model),
        float(model.l1_ratio),
        measure=MEASURES[measure],
    )
    if cv is not None:
        found = fold_errors(model, data, alphas, dealt_folds(data, cv, rng), measure)
        path.errors, path.standard_errors = over_folds(found)
    return path


def with_settings(model, **changes):
    """The model, which has been shown a table, with other parameters."""
    other = type(model)(**model.get_params(deep=False) | changes)
    vars(other).update({k: v for k, v in vars(model).items() if k not in vars(other)})
    return other


def greatest_penalty(model, data: Data) -> float:
    """The least penalty that leaves no column; without absolute values a thousandfold of that."""
    state = model._start(data, None)
    total = add_up(partial(model._sums, state), data.source, model.n_jobs)
    slopes = np.abs(total.score[: data.n_columns])
    if state["fixed"] >= 0:
        slopes[state["fixed"]] = 0.0
    return float(slopes.max(initial=0.0)) / state["weight"] / max(model.l1_ratio, LEAST_RATIO)


def along(model, data: Data, alphas: np.ndarray):
    """Coefficients, intercepts, promised falls of the objective and explained deviance."""
    alone = with_settings(model)
    state = alone._start(data, None)
    coefficients = np.zeros((len(alphas), data.n_columns))
    intercepts, gaps, explained = (np.zeros(len(alphas)) for _ in range(3))
    for place, alpha in enumerate(alphas):
        alone.alpha = float(alpha)
        state, total = at_penalty(alone, data, state, model.n_jobs)
        found = alone._attributes(state)
        coefficients[place], intercepts[place] = found["coef_"], found["intercept_"]
        gaps[place] = state["fall"]
        explained[place] = 1 - total.deviance / (2 * state["weight"] * state["unit"])
    return coefficients, intercepts, gaps, explained


def fold_errors(
    model, data: Data, alphas, parts: np.ndarray, measure: str
) -> Iterable[tuple[float, np.ndarray]]:
    """Weight and total errors along the path of each fold's rows, learnt from the others."""
    if parts.max() == 0:
        raise DataError("cross-validation needs at least two different rows")
    single = with_settings(model, n_jobs=1)

    def errors(part: int) -> tuple[float, np.ndarray]:
        train, test = parts != part, parts == part
        weights = None if data.weights is None else data.weights[train]
        rest = Data(ArraySource(data.rows[train], data.y[train], weights), data.columns)
        coefficients, intercepts, *_ = along(single, rest, alphas)
        held = data.weight_array[test]
        predictors = data.rows[test] @ coefficients.T + intercepts
        losses = [loss(single, data.y[test], f, measure) for f in predictors.T]
        return held.sum(), np.array(losses) @ held

    return in_order(errors, np.unique(parts), model.n_jobs)


def loss(model, y: np.ndarray, predictor: np.ndarray, measure: str) -> np.ndarray:
    """What a row costs: its deviance, or the share of it that is on the wrong side."""
    mean = model._link().mean(predictor)
    if measure == "misclassification":
        return np.where(mean > 0.5, 1 - y, y)
    tiny = 1e-12 if model.family == "binomial" else 1e-300
    low, high = model._family().low, model._family().high
    return model._family().deviance(y, np.clip(mean, low + tiny, high - tiny))
