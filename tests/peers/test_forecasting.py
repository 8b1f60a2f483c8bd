"""Forecasters against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.sequence import ETSModel, StructuralModel, autocorrelation
from gnomon.sequence.exponential_smoothing import Form, log_likelihood

pytestmark = [
    pytest.mark.covers("job-forecast"),
    pytest.mark.filterwarnings("ignore"),
]

FORMS = [
    ("add", None, False, None),
    ("add", "add", False, None),
    ("add", "add", True, "add"),
    ("mul", "add", False, "mul"),
    ("mul", None, False, "add"),
    ("mul", "mul", False, "mul"),
]


@pytest.fixture(scope="module")
def sales() -> np.ndarray:
    """Four years of months: a growing level with a season in proportion to it."""
    months = np.arange(48)
    noise = np.sin(np.arange(48) ** 2)  # no pattern that a model of this kind could use
    return (200 + 3 * months) * (1 + 0.3 * np.sin(2 * np.pi * months / 12)) + 5 * noise


@pytest.mark.parametrize("form", FORMS)
def test_the_likelihood_is_that_of_statsmodels_and_its_maximum_no_lower(form, sales):
    ets = pytest.importorskip("statsmodels.tsa.exponential_smoothing.ets")
    error, trend, damped, seasonal = form
    period = 12 if seasonal else None
    theirs = ets.ETSModel(
        sales,
        error=error,
        trend=trend,
        damped_trend=damped,
        seasonal=seasonal,
        seasonal_periods=period,
    ).fit(disp=0)
    found = dict(zip(theirs.model.param_names, theirs.params, strict=True))
    seasons = [found.get(f"initial_seasonal.{k}", 0.0) for k in range(period or 1)][::-1]
    smoothing = [found.get(f"smoothing_{name}", 0.0) for name in ("level", "trend", "seasonal")]
    ours = log_likelihood(
        Form(error, trend, damped, seasonal, period or 1),
        np.array([*smoothing, found.get("damping_trend", 1.0)]),
        sales,
        np.array([found["initial_level"], found.get("initial_trend", 0.0), *seasons]),
    )
    assert ours == pytest.approx(theirs.llf, rel=1e-6)
    model = ETSModel(error, trend, damped, seasonal, period).fit([sales])
    assert model.log_likelihood_ >= theirs.llf - 0.1


def test_the_structural_model_forecasts_as_statsmodels_does(rng):
    structural = pytest.importorskip("statsmodels.tsa.statespace.structural")
    series = 10 + 0.5 * np.arange(80) + np.cumsum(0.3 * rng.normal(size=80)) + rng.normal(size=80)
    theirs = structural.UnobservedComponents(series, "local linear trend").fit(disp=0)
    ours = StructuralModel().fit([series])
    reach = np.abs(theirs.forecast(5) - series[-1]).max() + series[-10:].std()
    np.testing.assert_allclose(
        ours.forecast_rows(series, 5)[:, 0], theirs.forecast(5), atol=0.15 * reach
    )


def test_autocorrelations_are_those_of_statsmodels(rng):
    stattools = pytest.importorskip("statsmodels.tsa.stattools")
    series = rng.normal(size=50)
    np.testing.assert_allclose(autocorrelation(series, 10), stattools.acf(series, nlags=10))
