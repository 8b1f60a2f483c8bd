"""k-means as the texts work it: 000 8.2, 001 18.2, 004 12.3."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.cluster import contingency_matrix

from gnomon.cluster import KMeans
from gnomon.cluster.starts import STARTS, SurveyedData
from gnomon.contract import Columns, Data
from gnomon.engine.sums import ArraySource

LINE = np.array([2.0, 3, 4, 10, 11, 12, 20, 25, 30])[:, None]
SEVEN = np.array([[1, 1], [1.5, 2], [3, 4], [5, 7], [3.5, 5], [4.5, 5], [3.5, 4.5]])


@pytest.mark.covers("kmeans")
def test_nine_numbers_of_001_section_18_2_pass_by_pass():
    model = KMeans(2, init=[[2.0], [4.0]], tol=0, keep_history="full").fit(LINE)
    centers = [state["cluster_centers"].ravel() for state in model.history_.states]
    expected = [(2.5, 16), (3, 18), (4.75, 19.6), (7, 25)]
    np.testing.assert_allclose(centers[:4], expected, rtol=1e-12)
    np.testing.assert_allclose(model.cluster_centers_.ravel(), [7, 25], rtol=1e-12)
    assert model.inertia_ == pytest.approx(150, rel=1e-12)


@pytest.mark.covers("kmeans")
def test_errors_of_001_section_18_2_are_those_of_the_new_means_for_the_old_groups():
    model = KMeans(2, init=[[2.0], [4.0]], tol=0, keep_history="full").fit(LINE)
    before = np.array([[2.0], [4.0]])
    errors = []
    for state in model.history_.states[:4]:
        own = np.abs(LINE - before.T).argmin(axis=1)
        before = state["cluster_centers"]
        errors.append(((LINE - before[own]) ** 2).sum())
    np.testing.assert_allclose(errors, [514.5, 348, 307.95, 150], rtol=1e-12)


@pytest.mark.covers("kmeans", "quantisation-error")
def test_quantization_error_of_seven_points_of_004_section_12_3():
    model = KMeans(2, init=SEVEN[[0, 3]], tol=0).fit(SEVEN)
    np.testing.assert_allclose(model.history_.objective, [33.25, 11.225694, 8.525], rtol=1e-6)
    np.testing.assert_allclose(model.cluster_centers_, [[1.25, 1.5], [3.9, 5.1]], rtol=1e-12)
    assert model.inertia_ == pytest.approx(8.525, rel=1e-12)


@pytest.mark.covers("kmeans", "kmeans-knee")
def test_iris_costs_fall_as_000_section_8_2_1_shows(seed):
    rows = load_iris().data
    best = [KMeans(k, n_init=40, random_state=seed).fit(rows).inertia_ for k in (1, 2, 3)]
    np.testing.assert_allclose(best, [681.37, 152.35, 78.85], atol=0.01)


@pytest.mark.covers("kmeans")
def test_three_groups_of_iris_mix_versicolor_and_virginica_as_in_000_section_8_2_1(seed):
    rows, species = load_iris(return_X_y=True)
    groups = KMeans(3, n_init=40, random_state=seed).fit_predict(rows)
    counts = np.sort(contingency_matrix(species, groups), axis=1)
    assert counts.tolist() == [[0, 0, 50], [0, 2, 48], [0, 14, 36]]


@pytest.mark.covers("kmeans-plus-plus-seeding")
def test_first_center_variant_of_000_draws_by_squared_distance_to_the_first_center(seed):
    rows = np.array([0.0, 1, 4, 5, 9])[:, None]
    data = SurveyedData.of(Data(ArraySource(rows), Columns.of_numbers(1)), 1)
    rng = np.random.default_rng(seed)
    starts = np.array([STARTS["first-centre-d2"](data, 2, rng).ravel() for _ in range(6000)])
    second = starts[starts[:, 0] == 0, 1]
    shares = [(second == value).mean() for value in rows.ravel()]
    expected = np.array([0, 0.008130, 0.130081, 0.203252, 0.658537])
    slack = 5 * np.sqrt(expected * (1 - expected) / len(second))
    assert (np.abs(shares - expected) <= slack).all()


@pytest.mark.covers("kmeans")
def test_an_emptied_cluster_takes_over_the_farthest_row_as_000_procedure_8_3_repairs():
    rows = np.array([[0.0], [1.0], [10.0]])
    model = KMeans(2, init=[[0.0], [100.0]], tol=0, keep_history="full").fit(rows)
    first = model.history_.states[0]["cluster_centers"].ravel()
    np.testing.assert_allclose(first, [11 / 3, 10.0])
    assert model.labels_.tolist() == [0, 0, 1]
    assert model.inertia_ == pytest.approx(0.5)
