"""Models of few rows of many columns, fitted in coordinates of the rows' span."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.contract import Data
from gnomon.engine.sums import ArraySource
from gnomon.linear import LogisticRegression, PoissonRegressor
from gnomon.linear.row_space import RowSpace, shorter_rows_pay
from gnomon.table.encode import Columns

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(30, 200)) + 3
ROWS[20:] = ROWS[:10]  # rows that follow from others


def space_of(rows: np.ndarray, intercept: bool) -> RowSpace:
    data = Data(ArraySource(rows, None, None), Columns.of_numbers(rows.shape[1]))
    return RowSpace.of(data, intercept)


@pytest.mark.parametrize("intercept", [True, False])
def test_coordinates_keep_predictions_and_penalty(intercept: bool) -> None:
    space = space_of(ROWS, intercept)
    assert space.data.n_columns == (19 if intercept else 20)
    inside = RNG.normal(size=(2, space.data.n_columns))
    coef = space.coefficients(inside)
    predictions = (ROWS - space.location) @ coef.T
    np.testing.assert_allclose(space.data.rows @ inside.T, predictions, atol=1e-9)
    np.testing.assert_allclose((coef**2).sum(axis=1), (inside**2).sum(axis=1), rtol=1e-9)


def test_equal_rows_span_nothing_about_their_mean() -> None:
    space = space_of(np.ones((4, 9)), True)
    assert not space.data.rows.any()


@pytest.mark.parametrize("intercept", [True, False])
def test_poisson_coefficients_are_those_of_the_columns(intercept: bool) -> None:
    y = RNG.poisson(2.0, len(ROWS))
    weights = RNG.uniform(0.5, 2.0, len(ROWS))
    in_rows, in_columns = (
        PoissonRegressor(alpha=0.5, tol=1e-9, fit_intercept=intercept, keep_history=kept).fit(
            ROWS, y, weights
        )
        for kept in ("objective", "full")  # a history of coefficients is one of all columns
    )
    np.testing.assert_allclose(in_rows.coef_, in_columns.coef_, atol=1e-9)
    assert in_rows.intercept_ == pytest.approx(in_columns.intercept_, abs=1e-8)
    assert in_rows.rank_ == in_columns.rank_


@pytest.mark.parametrize("intercept", [True, False])
def test_slopes_of_logistic_regression_vanish_in_the_columns(intercept: bool) -> None:
    y = np.arange(len(ROWS)) % 3
    assert shorter_rows_pay(*ROWS.shape, 3)
    model = LogisticRegression(C=0.5, tol=1e-6, fit_intercept=intercept).fit(ROWS, y)
    wrong = model.predict_proba(ROWS) - np.eye(3)[y]
    slopes = wrong.T @ ROWS + model.coef_ / 0.5
    assert np.abs(slopes).max() <= 1e-6 * len(ROWS) * 1.01 * np.abs(ROWS).max()
    if intercept:
        np.testing.assert_allclose(wrong.sum(axis=0), 0.0, atol=1e-4)
