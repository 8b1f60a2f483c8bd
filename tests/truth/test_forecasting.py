"""Forecasters: recursions by hand, exact answers on made series, levels of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    diebold_mariano_test,
    mean_absolute_scaled_error,
    mean_over_origins,
    symmetric_mean_absolute_percentage_error,
)
from gnomon.sequence import (
    ETSModel,
    LagForecaster,
    LinearGaussianModel,
    NaiveForecaster,
    StructuralModel,
    decomposition,
    find_season,
    horizon_intervals,
    rolling_origin,
)
from gnomon.sequence.exponential_smoothing import Form, filtered, first_states, log_likelihood

pytestmark = pytest.mark.covers("job-forecast")


def smoothed_by_hand(form, smoothing, series, start):
    """The recursion as the tables of Hyndman et al. (2008) write it, in both kinds of errors."""
    alpha, beta, gamma, phi = smoothing
    level, slope, seasons = start[0], start[1], list(start[2:])
    means = []
    for y in series:
        b = slope**phi if form.trend == "mul" else phi * slope
        q = {None: level, "add": level + b, "mul": level * b}[form.trend]
        s = seasons.pop(0)
        mean = {None: q, "add": q + s, "mul": q * s}[form.seasonal]
        means.append(mean)
        if form.error == "mul":  # the relative error, with the updates of table 2.3
            relative = (y - mean) / mean
            if form.seasonal == "add":
                moved, changed, turned = mean * relative, mean * relative, mean * relative
            else:
                moved, changed, turned = q * relative, q * relative, s * relative
        else:
            error = y - mean
            share = error / s if form.seasonal == "mul" else error
            moved, changed = share, share
            turned = error / q if form.seasonal == "mul" else error
        slope = b + beta * (changed / level if form.trend == "mul" else changed)
        slope = slope if form.trend else 0.0
        level = q + alpha * moved
        seasons.append(s + gamma * turned if form.seasonal else s)
    return np.array(means)


@pytest.mark.parametrize("error", ["add", "mul"])
@pytest.mark.parametrize("trend", [None, "add", "mul"])
@pytest.mark.parametrize("seasonal", [None, "add", "mul"])
def test_the_kernel_runs_the_recursions_of_both_kinds_of_errors(error, trend, seasonal, rng):
    form = Form(error, trend, trend is not None, seasonal, 4)
    series = 50 + np.tile([0.0, 4, -3, 1], 6) + rng.normal(size=24)
    smoothing = np.array([0.4, 0.1 if trend else 0, 0.2 if seasonal else 0, 0.9 if trend else 1])
    start = first_states(form, series)
    made = filtered(form, smoothing, series, start).fitted
    by_hand = smoothed_by_hand(form, smoothing, series, start)
    np.testing.assert_allclose(made, by_hand, rtol=1e-9)


def test_no_grid_point_of_smoothing_is_more_likely_than_the_fit(rng):
    series = np.cumsum(rng.normal(size=60)) + rng.normal(size=60)
    model = ETSModel().fit([series])
    form = Form("add", None, False, None, 1)
    best = max(
        log_likelihood(form, np.array([alpha, 0, 0, 1]), series, np.array([level, 0.0, 0.0]))
        for alpha in np.linspace(0.02, 0.98, 25)
        for level in series[0] + np.linspace(-3, 3, 25)
    )
    assert model.log_likelihood_ >= best - 1e-3


def test_a_missing_value_moves_no_state_and_gives_a_forecast():
    season = np.tile([10.0, 20.0, 30.0, 25.0], 6)
    season[7] = np.nan
    model = ETSModel(seasonal="add", seasonal_periods=4).fit([season])
    np.testing.assert_allclose(model.forecast_rows(season, 4)[:, 0], [10, 20, 30, 25], atol=1e-6)


def test_the_form_is_chosen_by_the_structure_of_the_series(rng):
    noise = rng.normal(size=64)
    trend = 100 + 2.0 * np.arange(64)
    wave = np.tile([0.0, 9, 4, -8], 16)
    auto = ETSModel("auto", "auto", "auto", "auto", 4)
    assert auto.fit([trend + noise]).form_[6] == "A"
    assert auto.fit([trend + 4 * wave + noise]).form_.endswith("A)")
    grown = trend * np.exp(wave / 20 + noise / 100)
    assert auto.fit([grown]).form_.endswith("M)")


def test_what_a_series_does_not_allow_is_refused_with_the_remedy():
    with pytest.raises(DataError, match="positive values"):
        ETSModel("mul").fit([[1.0, -2, 3, 4, 5, 6, 7, 8]])
    with pytest.raises(DataError, match="seasonal_periods is needed"):
        ETSModel(seasonal="add").fit([np.arange(20.0)])
    with pytest.raises(DataError, match="24 values"):
        ETSModel(seasonal="add", seasonal_periods=12).fit([np.arange(20.0)])
    with pytest.raises(DataError, match="too few"):
        ETSModel(trend="add", damped_trend=True).fit([[1.0, 2.0, 3.0]])
    with pytest.raises(DataError, match="one number"):
        ETSModel().fit([np.zeros((20, 2))])


def test_the_structural_model_is_the_kalman_filter_of_its_state_space(rng):
    series = np.cumsum(rng.normal(size=40)) + rng.normal(size=40)
    model = StructuralModel().fit([series])
    q, r, _ = model.ratios_
    exact = LinearGaussianModel(
        [[1, 1], [0, 1]],
        [[1, 0]],
        np.diag([q, r]) * model.error_variance_,
        [[model.error_variance_]],
        [series[0], 0],
        1e4 * model.error_variance_ * np.eye(2),
    )
    states = exact.filter(series[:, None])
    level, slope = states.means[-1]
    ahead = [level + slope * h for h in (1, 2, 3)]
    np.testing.assert_allclose(model.forecast_rows(series, 3)[:, 0], ahead, rtol=1e-6, atol=1e-6)


def test_the_structural_model_follows_a_season_through_a_gap():
    wave = np.tile([0.0, 9, 4, -8, 2, 1], 10) + 0.5 * np.arange(60)
    gap = wave.copy()
    gap[20:23] = np.nan
    found, std = (
        StructuralModel(seasonal_periods=6).fit([gap]).forecast_rows(gap, 6, return_std=True)
    )
    np.testing.assert_allclose(
        found[:, 0], np.tile([0.0, 9, 4, -8, 2, 1], 1) + 30 + 0.5 * np.arange(6), atol=0.1
    )
    assert (std >= 0).all()


def test_naive_forecasts_by_hand():
    series = [1.0, 5.0, 2.0, 6.0, 3.0]
    assert NaiveForecaster().fit([series]).forecast_rows(series, 2).ravel().tolist() == [3, 3]
    seasonal = NaiveForecaster(seasonal_periods=2).fit([series])
    assert seasonal.forecast_rows(series, 3).ravel().tolist() == [6, 3, 6]
    drift = NaiveForecaster("drift").fit([series])
    assert drift.forecast_rows(series, 2).ravel().tolist() == [3.5, 4.0]
    mean = NaiveForecaster("mean", seasonal_periods=2).fit([series])
    assert mean.forecast_rows(series, 2).ravel().tolist() == [5.5, 2.0]


def test_a_lag_forecaster_learns_inputs_that_are_known_ahead(rng):
    inputs = (rng.random((120, 1)) < 0.2).astype(float)
    series = 20 + 10 * inputs[:, 0] + 0.1 * rng.normal(size=120)
    model = LagForecaster(LinearRegression(), lags=3, log=False)
    model.fit([series], inputs=[inputs])
    known = np.vstack([inputs, [[1.0], [0.0], [1.0]]])
    np.testing.assert_allclose(
        model.forecast_rows(series, 3, inputs=known)[:, 0], [30, 20, 30], atol=0.6
    )
    with pytest.raises(DataError, match=r"inputs of shape \(122, 1\)"):
        model.forecast_rows(series, 2)


def test_a_lag_forecaster_is_fitted_to_series_of_any_size_together():
    waves = [size * np.tile([1.0, 2, 3, 2], 8) for size in (1.0, 1000.0)]
    model = LagForecaster(LinearRegression(), lags=4, seasonal_periods=4).fit(waves)
    for size, wave in zip((1.0, 1000.0), waves, strict=True):
        np.testing.assert_allclose(
            model.forecast_rows(wave, 4)[:, 0], size * np.array([1, 2, 3, 2]), rtol=1e-6
        )


def test_no_value_after_an_origin_changes_the_forecasts_from_it(rng):
    series = rng.normal(size=50)
    changed = series.copy()
    changed[40:] += 100
    model = LagForecaster(LinearRegression(), lags=3)
    first = rolling_origin(model, [series], 5, [20, 15, 10])
    second = rolling_origin(model, [changed], 5, [20, 15, 10])
    np.testing.assert_array_equal(first.y_pred, second.y_pred)
    assert first.origins.tolist() == [20, 15, 10]
    with pytest.raises(DataError, match="origins must lie"):
        rolling_origin(model, [series], 5, [60])


def test_intervals_hold_their_level_from_few_and_from_many_errors(rng):
    held = {}
    for n in (8, 300):
        inside = []
        for _ in range(100):
            errors = rng.normal(size=(n + 20, 6)) * np.sqrt(np.arange(1, 7))
            found = horizon_intervals(errors[:n], confidence_level=0.9)
            inside.append((np.abs(errors[n:]) <= found.half_widths).mean())
        held[n] = np.mean(inside)
    assert 0.88 < held[300] < 0.92
    assert 0.88 < held[8] < 0.96


def test_seasons_are_found_and_none_is_found_in_noise(rng):
    jagged = np.tile(rng.permutation(12.0 * np.arange(12)), 6) + rng.normal(size=72)
    assert find_season(jagged, [12]).period == 12
    # without a calendar, a jagged season may look like one of its parts (in 1 of 20 draws)
    wave = 12 * np.sin(2 * np.pi * (np.arange(72) / 12 + rng.random())) + 0.3 * rng.normal(size=72)
    assert find_season(wave).period == 12
    found = [find_season(rng.normal(size=60)).period for _ in range(100)]
    assert np.mean(np.array(found) > 1) < 0.2
    parts = decomposition(wave, 12)
    np.testing.assert_allclose(sum(parts.values()), wave, atol=1e-9)


def test_measures_of_forecasts_by_hand():
    assert mean_absolute_scaled_error([3, 5], [4, 5], y_train=[0, 2, 0, 2]) == 0.25
    scaled = mean_absolute_scaled_error([3, 5], [4, 5], y_train=[0, 2, 1, 5], seasonal_periods=2)
    assert scaled == 0.25
    assert symmetric_mean_absolute_percentage_error([1, np.nan], [3, 5]) == 1.0


def test_the_mean_over_overlapping_origins_has_a_wider_interval(rng):
    noise = rng.normal(size=400)
    moving = np.convolve(noise, np.ones(6) / 6, mode="valid")
    plain, honest = mean_over_origins(moving), mean_over_origins(moving, overlap=5)
    assert honest.error > 1.5 * plain.error
    assert diebold_mariano_test(moving, moving).p == 1.0
