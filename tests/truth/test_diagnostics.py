"""Diagnostics of regressions against refits without a row, and data of known structure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gnomon.engine.errors import DataError
from gnomon.linear import (
    LinearRegression,
    Ridge,
    box_cox,
    compare_groups,
    influence,
    prediction_intervals,
    remove_outliers,
    stability,
    trust_checks,
)

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the texts' data are not beside it")


@pytest.fixture
def line(rng):
    X = rng.normal(size=(25, 2)) + 3
    return X, X @ [1.0, -2.0] + rng.normal(size=25)


@pytest.mark.covers("leverage-hat-matrix")
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_the_leverage_is_how_far_a_fitted_value_follows_its_target(alpha, line):
    X, y = line
    found = influence(X, y, alpha=alpha)
    for i in (0, 7, 24):
        moved = y.copy()
        moved[i] += 1.0
        change = Ridge(alpha).fit(X, moved).predict(X)[i] - Ridge(alpha).fit(X, y).predict(X)[i]
        assert found.leverage[i] == pytest.approx(change, rel=1e-7)


@pytest.mark.covers("leverage-hat-matrix", "least-squares-projection")
def test_leverages_add_up_to_the_number_of_coefficients(line):
    X, y = line
    found = influence(X, y)
    assert found.leverage.sum() == pytest.approx(3)
    assert ((found.leverage >= 1 / 25 - 1e-12) & (found.leverage <= 1)).all()


@pytest.mark.covers("cooks-distance", "standardized-residuals")
@pytest.mark.parametrize("convention", ["text", "R"])
def test_cooks_distance_is_that_of_the_fit_without_the_row(convention, line):
    X, y = line
    found = influence(X, y, convention=convention)
    whole = LinearRegression().fit(X, y).predict(X)
    residual = y - whole
    noise = residual @ residual / (25 if convention == "text" else 22)
    for i in range(25):
        others = np.arange(25) != i
        without = LinearRegression().fit(X[others], y[others])
        distance = ((whole - without.predict(X)) ** 2).sum() / (3 * noise)
        assert found.cooks[i] == pytest.approx(distance, rel=1e-6, abs=1e-12)
        left = y[i] - without.predict(X[[i]])[0]
        assert found.left_out[i] == pytest.approx(left, rel=1e-7)
    expected = residual / np.sqrt(noise * (1 - found.leverage))
    np.testing.assert_allclose(found.standardized, expected)


@pytest.mark.covers("cooks-distance", "standardized-residuals", "leverage-hat-matrix")
def test_every_figure_agrees_with_statsmodels(line):
    import statsmodels.api as sm

    X, y = line
    found = influence(X, y, convention="R")
    expected = sm.OLS(y, sm.add_constant(X)).fit().get_influence()
    np.testing.assert_allclose(found.leverage, expected.hat_matrix_diag)
    np.testing.assert_allclose(found.cooks, expected.cooks_distance[0])
    np.testing.assert_allclose(found.standardized, expected.resid_studentized_internal)
    np.testing.assert_allclose(found.studentised, expected.resid_studentized_external)
    assert found.press == pytest.approx((expected.resid_press**2).sum())


@pytest.mark.covers("outlier-removal-loop")
def test_planted_outliers_are_removed_and_recorded(rng):
    x = np.linspace(0, 10, 60)
    y = 2 * x + rng.normal(size=60)
    y[[5, 40]] += [40, -40]
    found = remove_outliers(x[:, None], y)
    assert {5, 40} <= set(found.removed)
    assert len(found.reasons) == len(found.removed)
    kept = np.setdiff1d(np.arange(60), found.removed)
    again = LinearRegression().fit(x[kept, None], y[kept])
    np.testing.assert_allclose(found.coefficients[-1], [again.intercept_, *again.coef_])
    assert found.explained[-1] > found.explained[0]


@pytest.mark.covers("outlier-removal-loop")
def test_the_loop_stops_at_its_most_and_says_so(rng):
    x = np.linspace(0, 10, 60)
    y = x + 1e-3 * rng.normal(size=60)
    y[::12] += 100 * np.arange(1, 6) ** 3
    found = remove_outliers(x[:, None], y, most=1)
    assert len(found.removed) == 1
    assert "still outlying" in found.stopped


@pytest.mark.covers("regression-summary-table")
def test_prediction_intervals_hold_as_often_as_they_say(rng):
    inside = []
    for _ in range(400):
        x = rng.normal(size=(12, 1))
        y = 1 + 2 * x[:, 0] + rng.normal(size=12)
        new = rng.normal(size=(5, 1))
        _, low, high = prediction_intervals(x, y, new, confidence_level=0.8)
        target = 1 + 2 * new[:, 0] + rng.normal(size=5)
        inside.append(((low <= target) & (target <= high)).mean())
    assert np.mean(inside) == pytest.approx(0.8, abs=6 * np.std(inside) / 20)


@pytest.mark.covers("regression-trust-checks", "residual-analysis")
def test_checks_find_a_bend_a_growing_spread_and_neighbors_alike(rng):
    x = np.linspace(1, 5, 200)
    bent = trust_checks(x[:, None], (x - 2) ** 2 + 0.1 * rng.normal(size=200))
    assert not bent.checks[1][-1]
    growing = trust_checks(x[:, None], x * (1 + 0.5 * rng.normal(size=200)) + 5 * x)
    assert growing.checks[2][1] < 0.05
    waves = trust_checks(x[:, None], x + np.sin(8 * x) + 0.1 * rng.normal(size=200))
    assert not waves.checks[3][-1]
    assert "doubts" in str(bent)


@pytest.mark.covers("regression-trust-checks")
def test_a_sound_regression_seldom_raises_doubts(rng):
    doubts = 0
    for _ in range(40):
        x = rng.normal(size=(80, 1))
        doubts += not trust_checks(x, 2 * x[:, 0] + rng.normal(size=80), alpha=0.001).trusted
    assert doubts <= 6


@pytest.mark.covers("box-cox-regression")
@pytest.mark.parametrize(("power", "tolerance"), [(0.5, 0.25), (0.0, 0.15), (1.0, 0.35)])
def test_the_power_that_made_the_target_is_found(power, tolerance, rng):
    x = rng.uniform(1, 4, size=(400, 1))
    value = 5 + 2 * x[:, 0] + 0.3 * rng.normal(size=400)
    y = np.exp(value / 4) if power == 0 else value ** (1 / power)
    found = box_cox(x, y)
    assert found.low < found.power < found.high
    assert found.power == pytest.approx(power, abs=4 * tolerance)
    np.testing.assert_allclose(found.back(found.transform(y)), y)


@pytest.mark.covers("box-cox-regression")
def test_the_profile_without_columns_is_scipys(rng):
    y = rng.gamma(3.0, size=60)
    constant = np.zeros((60, 1))
    found = box_cox(constant, y)
    assert found.power == pytest.approx(stats.boxcox(y)[1], abs=1e-3)
    shift = found.log_likelihood - [stats.boxcox_llf(power, y) for power in found.powers]
    np.testing.assert_allclose(shift, shift[0], atol=1e-6)


def test_a_target_that_is_not_positive_has_no_box_cox_power(rng):
    with pytest.raises(DataError, match="above zero"):
        box_cox(rng.normal(size=(20, 1)), rng.normal(size=20))


@needs_data
@pytest.mark.covers("trend-compare-residuals")
def test_lot_a_of_the_hormone_devices_is_special():
    """000 10.1.1: after the common trend in hours, lot A lies on one side of it."""
    lines = [line.split(",") for line in (DATA / "hormone_devices.csv").read_text().split()[1:]]
    lots = [line[0] for line in lines]
    amount, hours = np.array([line[1:] for line in lines], dtype=float).T
    found = compare_groups(hours[:, None], amount, lots)
    assert found.groups == ["A", "B", "C"]
    assert np.argmin(found.means) == 0
    assert found.above[0] <= 1


@pytest.mark.covers("fit-stability-diagnostic", "condition-number-collinearity")
def test_nearly_dependent_columns_make_the_fit_unstable(rng):
    x = rng.normal(size=(60, 1))
    near = np.hstack([x, x + 1e-4 * rng.normal(size=(60, 1))])
    apart = np.hstack([x, rng.normal(size=(60, 1))])
    y = x[:, 0] + 0.1 * rng.normal(size=60)
    shaky, steady = stability(near, y, repeats=50), stability(apart, y, repeats=50)
    assert shaky.condition > 100 * steady.condition
    assert shaky.spread[1] > 5 * steady.spread[1]
    assert "Ridge" in str(shaky)


def test_fewer_rows_than_coefficients_have_no_diagnostics(rng):
    with pytest.raises(DataError, match="more than 3 rows"):
        influence(rng.normal(size=(3, 2)), rng.normal(size=3))
