"""Locally weighted regression by the corrected formulas of 004 8.2 and 8.2.1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gnomon.linear import (
    BayesianLocallyWeightedRegression,
    LinearRegression,
    LocallyWeightedRegression,
)


def points(rng, n=40, d=2):
    rows = rng.normal(size=(n, d))
    return rows, np.sin(rows[:, 0]) + rows[:, -1] ** 2 + 0.1 * rng.normal(size=n)


def with_one(rows):
    return np.column_stack([rows, np.ones(len(rows))])


@pytest.mark.covers("locally-weighted-regression")
@pytest.mark.parametrize("power", [1, 2])
def test_the_answer_is_that_of_equation_8_2_with_either_power(power, rng):
    rows, y = points(rng)
    width, query = 0.8, rng.normal(size=2) / 2
    model = LocallyWeightedRegression(width, power=power, alpha=0, standardize=False)
    s = np.exp(-((rows - query) ** 2).sum(axis=1) / width**2) ** power
    X = with_one(rows)
    w = np.linalg.solve(X.T @ (s[:, None] * X), X.T @ (s * y))
    said = model.fit(rows, y).predict(query[None])[0]
    np.testing.assert_allclose(said, np.append(query, 1) @ w, rtol=1e-7, atol=1e-9)
    height, slopes = model.local_line(query)
    np.testing.assert_allclose(slopes, w[:2], rtol=1e-6, atol=1e-8)
    assert height == said


@pytest.mark.covers("locally-weighted-regression")
def test_a_very_wide_bandwidth_gives_least_squares(rng):
    rows, y = points(rng)
    wide = LocallyWeightedRegression(1e5, alpha=0).fit(rows, y)
    np.testing.assert_allclose(
        wide.predict(rows), LinearRegression().fit(rows, y).predict(rows), atol=1e-7
    )


@pytest.mark.covers("locally-weighted-regression")
def test_significances_are_one_at_the_query_and_fall_with_distance():
    model = LocallyWeightedRegression(2.0, standardize=False).fit([[0.0], [1.0], [3.0]], [1, 2, 3])
    np.testing.assert_allclose(model.significances([1.0]), np.exp([-0.25, 0, -1.0]))


@pytest.mark.covers("bayesian-locally-weighted-regression")
def test_the_bayesian_answer_is_that_of_the_corrected_equations_8_3_and_8_4(rng):
    rows, y = points(rng)
    width, query, k, theta = 0.9, rng.normal(size=2) / 2, 1.5, 0.2
    prior = np.array([4.0, 9.0, 25.0])
    model = BayesianLocallyWeightedRegression(
        width, prior_variance=prior, prior_shape=k, prior_rate=theta, standardize=False
    ).fit(rows, y)
    s2 = np.exp(-2 * ((rows - query) ** 2).sum(axis=1) / width**2)
    X, q = with_one(rows), np.append(query, 1)
    V = np.linalg.inv(np.diag(1 / prior) + X.T @ (s2[:, None] * X))
    w = V @ X.T @ (s2 * y)
    freedom = 2 * k + s2.sum()
    noise = (2 * theta + (y - X @ w) @ (s2 * y)) / freedom
    mean, std = model.predict(query[None], return_std=True)
    np.testing.assert_allclose(mean[0], q @ w, rtol=1e-8)
    np.testing.assert_allclose(std[0] ** 2, q @ V @ q * noise, rtol=1e-8)
    low, high = model.predict_interval(query[None], 0.9)[0]
    half = stats.t.ppf(0.95, freedom) * std[0]
    np.testing.assert_allclose([low, high], [mean[0] - half, mean[0] + half])


@pytest.mark.covers("bayesian-locally-weighted-regression")
def test_a_vanishing_prior_precision_gives_the_plain_form(rng):
    rows, y = points(rng)
    plain = LocallyWeightedRegression(1.5, alpha=0).fit(rows, y).predict(rows)
    flat = BayesianLocallyWeightedRegression(1.5, prior_variance=1e10).fit(rows, y)
    np.testing.assert_allclose(flat.predict(rows), plain, rtol=1e-4, atol=1e-4)


@pytest.mark.covers("bayesian-locally-weighted-regression")
def test_far_from_all_rows_the_prior_speaks(rng):
    rows, y = points(rng)
    model = BayesianLocallyWeightedRegression(1.0, standardize=False).fit(rows, y)
    mean, std = model.predict([[1e4, 1e4], *rows[:1]], return_std=True)
    assert mean[0] == 0.0
    assert std[0] > 1e3 * std[1]
