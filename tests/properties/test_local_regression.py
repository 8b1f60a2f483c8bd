"""What local regression keeps: planes, units, shifts, and blocks of any size."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.linear import BayesianLocallyWeightedRegression, LocallyWeightedRegression
from gnomon.linear import local as module


@pytest.mark.covers("locally-weighted-regression")
@pytest.mark.parametrize("kernel", ["gaussian", "tricube"])
def test_a_plane_is_answered_with_itself(kernel, rng):
    rows = rng.uniform(-1, 1, (200, 2))
    y = 3 + rows @ [2.0, -1.0]
    model = LocallyWeightedRegression(2.0, kernel=kernel, alpha=0).fit(rows, y)
    inside = rng.uniform(-0.8, 0.8, (20, 2))
    np.testing.assert_allclose(model.predict(inside), 3 + inside @ [2.0, -1.0], atol=1e-8)


@pytest.mark.covers("locally-weighted-regression", "bayesian-locally-weighted-regression")
@pytest.mark.parametrize("cls", [LocallyWeightedRegression, BayesianLocallyWeightedRegression])
def test_units_and_origins_of_columns_and_target_do_not_matter(cls, rng):
    rows = rng.normal(size=(60, 2))
    y = np.sin(rows[:, 0]) + rows[:, 1]
    factors, shift = np.array([1024.0, 0.125]), np.array([-64.0, 8.0])
    plain = cls().fit(rows, y)
    scaled = cls().fit(rows * factors + shift, 5 + 4 * y)
    assert scaled.bandwidth_ == plain.bandwidth_
    found = scaled.predict(rows * factors + shift)
    np.testing.assert_allclose(found, 5 + 4 * plain.predict(rows), atol=1e-6)


@pytest.mark.covers("locally-weighted-regression")
def test_rows_summed_in_small_blocks_give_the_same(monkeypatch, rng):
    rows = rng.normal(size=(100, 3))
    y = rng.normal(size=100)
    whole = LocallyWeightedRegression(1.5).fit(rows, y).predict(rows)
    monkeypatch.setattr(module, "ROWS_TOGETHER", 7)
    np.testing.assert_allclose(
        LocallyWeightedRegression(1.5).fit(rows, y).predict(rows), whole, rtol=1e-8, atol=1e-8
    )


@pytest.mark.covers("locally-weighted-regression")
def test_a_query_far_from_all_rows_is_answered_by_the_nearest(rng):
    rows = rng.normal(size=(50, 1))
    model = LocallyWeightedRegression(0.2, degree=0).fit(rows, rng.normal(size=50))
    said = model.predict([[1e6]])[0]
    np.testing.assert_allclose(said, model.targets_[model.rows_[:, 0].argmax()])


@pytest.mark.covers("locally-weighted-regression")
def test_a_query_that_no_row_is_near_to_is_told_where_weights_end():
    model = LocallyWeightedRegression(0.5, kernel="tricube").fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(DataError, match="widen bandwidth"):
        model.predict([[50.0]])


@pytest.mark.covers("locally-weighted-regression")
def test_noise_asks_for_a_wider_bandwidth_than_a_clear_wave(rng):
    x = rng.uniform(0, 20, (400, 1))
    wave = LocallyWeightedRegression().fit(x, np.sin(3 * x[:, 0]))
    # widths are judged by 64 rows: of one column of noise in forty the narrowest is best by chance
    noises = [LocallyWeightedRegression().fit(x, rng.normal(size=400)) for _ in range(7)]
    assert wave.bandwidth_ < np.median([noise.bandwidth_ for noise in noises])
    assert wave.validation_.shape == (8, 2)


@pytest.mark.covers("bayesian-locally-weighted-regression")
def test_intervals_cover_about_as_often_as_they_say(rng):
    hits = []
    for _ in range(15):
        x = rng.uniform(-2, 2, (150, 1))
        y = 2 * x[:, 0] + rng.normal(size=150)
        model = BayesianLocallyWeightedRegression(1.5).fit(x, y)
        new = rng.uniform(-1.5, 1.5, (100, 1))
        low, high = model.predict_interval(new, 0.8, of="row").T
        hits += list((low <= (truth := 2 * new[:, 0] + rng.normal(size=100))) & (truth <= high))
    assert 0.72 < np.mean(hits) < 0.88


@pytest.mark.covers("bayesian-locally-weighted-regression")
def test_variances_are_never_negative_and_fall_with_more_rows(rng):
    x = rng.uniform(-1, 1, (200, 2))
    y = x[:, 0] + 0.5 * rng.normal(size=200)
    few = BayesianLocallyWeightedRegression(1.0, standardize=False).fit(x[:20], y[:20])
    many = BayesianLocallyWeightedRegression(1.0, standardize=False).fit(x, y)
    queries = rng.uniform(-1, 1, (50, 2))
    narrow, wide = (each.predict(queries, return_std=True)[1] for each in (many, few))
    assert (narrow >= 0).all()
    assert np.median(narrow / wide) < 1


@pytest.mark.covers("locally-weighted-regression")
@pytest.mark.parametrize("kernel", ["gaussian", "tricube"])
@pytest.mark.parametrize("span", [None, 0.4])
def test_rows_outside_the_stretch_that_is_looked_at_do_not_count(kernel, span, rng, monkeypatch):
    rows = rng.normal(size=(300, 2))
    y = rng.normal(size=300)
    model = LocallyWeightedRegression(0.7, kernel=kernel, span=span).fit(rows, y)
    inside = rng.normal(size=(30, 2)) / 4
    found = model.predict(inside)
    monkeypatch.setattr(module, "between", lambda line, at, reach: (0, len(line)))
    np.testing.assert_allclose(model.predict(inside), found, rtol=1e-9, atol=1e-9)
