"""Worked examples of the texts on nearest neighbours: 000a 1.2, 000b 8.3, 003 2.2, 004 2.1, 12."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gnomon.neighbors import (
    CosineDistance,
    CosineRatioDistance,
    HammingDistance,
    KNeighborsClassifier,
    KNeighborsRegressor,
    MahalanobisDistance,
    MinkowskiDistance,
    break_even_rows,
    hamming,
    similarity_to_distance,
)

PEOPLE = pd.DataFrame({"gender": ["M", "F", "M"], "siblings": [4, 0, 1], "age": [35, 12, 17]})
COLORS = ["blue", "pink", "black"]
QUERY = pd.DataFrame({"gender": ["F"], "siblings": [1], "age": [75]})
CODES = np.array([[1, 4, 35], [0, 0, 12], [1, 1, 17]], dtype=float)
QUERY_CODES = np.array([[0, 1, 75]], dtype=float)
LEVELS = (2, 0, 0)


@pytest.mark.covers("mixed-distance")
def test_mixed_distances_of_003_section_2_2_1():
    distance = MinkowskiDistance().fit(CODES, LEVELS)
    found = distance.pairwise(QUERY_CODES, CODES)[0]
    np.testing.assert_allclose(found**2, [1610, 3970, 3365], rtol=1e-12)
    np.testing.assert_allclose(found, [40.1248, 63.0079, 58.0086], atol=5e-5)
    model = KNeighborsClassifier(1, metric="euclidean").fit(PEOPLE, COLORS)
    assert model.predict(QUERY) == ["blue"]
    np.testing.assert_allclose(model.kneighbors(QUERY, 3).distances ** 2, [[1610, 3365, 3970]])


@pytest.mark.covers("standardized-mixed-distance")
def test_standardized_distances_of_003_section_2_2_1_2():
    distance = MinkowskiDistance(units="deviation").fit(CODES, LEVELS)
    np.testing.assert_allclose(distance.scale, [4 / 9, np.sqrt(13 / 3), np.sqrt(439 / 3)])
    found = distance.pairwise(QUERY_CODES, CODES)[0]
    np.testing.assert_allclose(found, [4.2513, 5.2301, 5.2963], atol=5e-5)
    assert KNeighborsClassifier(1).fit(PEOPLE, COLORS).predict(QUERY) == ["blue"]


@pytest.mark.covers("standardized-mixed-distance")
def test_expected_hamming_deviation_of_003_section_2_2_1_2():
    animals = np.repeat([0.0, 1.0, 2.0], [20, 40, 10])[:, None]
    distance = MinkowskiDistance(units="deviation").fit(animals, [3])
    assert distance.scale[0] == pytest.approx(4 / 7)


@pytest.mark.covers("standardized-mixed-distance")
def test_standardizing_may_change_the_nearest_row():
    rows = np.array([[0.0, 0.0], [0.5, 1000.0]])
    query = [[0.5, 400.0]]
    plain = KNeighborsClassifier(1, metric="euclidean").fit(rows, ["far", "near"])
    standard = KNeighborsClassifier(1, metric="standardized").fit(rows, ["far", "near"])
    assert plain.predict(query) == ["far"]
    assert standard.predict(query) == ["near"]


@pytest.mark.covers("ball-tree")
def test_break_even_of_003_section_2_2_4_2():
    n = break_even_rows(500)
    assert n == pytest.approx(6311.9, abs=0.05)
    assert n == pytest.approx(500 * np.log2(n))


@pytest.mark.covers("knn-distance-weighted")
@pytest.mark.parametrize(
    ("offset", "expected"), [(0.0, 2.6), (0.1, 2.584906), (1.0, 2.5), (1e12, 2.333333)]
)
def test_weighted_means_of_004_equation_2_1(offset, expected):
    model = KNeighborsRegressor(3, weights="distance", offset=offset, metric="euclidean")
    model.fit([[0], [1], [3], [7]], [1, 2, 4, 10])
    assert model.predict([[2]])[0] == pytest.approx(expected, abs=5e-7)


@pytest.mark.covers("knn-distance-weighted")
def test_a_large_offset_gives_the_mean_of_all_only_where_all_are_neighbors():
    rows, targets = [[0], [1], [3], [7]], [1, 2, 4, 10]
    model = KNeighborsRegressor(4, weights="distance", offset=1e12, metric="euclidean")
    assert model.fit(rows, targets).predict([[2.5]])[0] == pytest.approx(4.25)
    exact = KNeighborsRegressor(3, weights="distance", metric="euclidean").fit(rows, targets)
    assert exact.predict([[1]])[0] == 2


@pytest.mark.covers("knn-distance-weighted")
def test_between_two_neighbors_power_one_interpolates_linearly():
    model = KNeighborsRegressor(2, weights="distance", metric="euclidean")
    model.fit([[0.0], [1.0]], [10.0, 20.0])
    x = np.linspace(0.1, 0.9, 9)[:, None]
    np.testing.assert_allclose(model.predict(x), 10 + 10 * x.ravel())


@pytest.mark.covers("minkowski-distance")
def test_special_cases_of_l_p_of_003_section_2_2_3_1():
    a, b = np.array([[1.0, -2.0, 3.0]]), np.array([[4.0, 2.0, 3.0]])
    expected = {1: 7, 2: 5, np.inf: 4, 0: 2, 0.5: (np.sqrt(3) + 2) ** 2}
    for p, value in expected.items():
        assert MinkowskiDistance(p).fit(a).pairwise(a, b)[0, 0] == pytest.approx(value)
        assert MinkowskiDistance(p).fit(a).pairwise(b, a)[0, 0] == pytest.approx(value)


@pytest.mark.covers("hamming-distance")
def test_hamming_counts_places_that_differ():
    assert hamming([1, 2, 3], [1, 3, 2]) == 2
    assert hamming("abcd", "abce", scaled=True) == 0.25
    rows = np.array([[0, 1, 2, 0], [0, 2, 2, 1]], dtype=float)
    assert HammingDistance().fit(rows).pairwise(rows, rows).tolist() == [[0, 2], [2, 0]]
    assert HammingDistance(scaled=True).fit(rows).pairwise(rows, rows)[0, 1] == 0.5
    with pytest.raises(ValueError, match="4 and 3 places"):
        hamming("abcd", "abc")


@pytest.mark.covers("cosine-similarity")
def test_unit_differences_are_two_less_two_cosines(rng):
    rows = rng.normal(size=(20, 5))
    cosine = CosineDistance().fit(rows).similarity(rows, rows)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    squared = ((unit[:, None] - unit[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, 2 - 2 * cosine, atol=1e-12)
    np.testing.assert_allclose(cosine, unit @ unit.T, atol=1e-12)


@pytest.mark.covers("cosine-similarity")
def test_the_ratio_of_004_equation_12_3_is_the_inverse_cosine(rng):
    rows = rng.random(size=(10, 4))
    ratio = CosineRatioDistance(eps=0).fit(rows).pairwise(rows, rows)
    cosine = CosineDistance().fit(rows).similarity(rows, rows)
    np.testing.assert_allclose(ratio, 1 / cosine)
    with pytest.raises(ValueError, match="counts and shares"):
        CosineRatioDistance().fit(rows - 1)


@pytest.mark.covers("mahalanobis-distance")
def test_mahalanobis_of_uncorrelated_columns_is_euclid_in_deviations():
    rows = np.array([[0, 0], [4, 0], [0, 2], [4, 2]], dtype=float)
    full, diagonal = MahalanobisDistance().fit(rows), MahalanobisDistance("diagonal").fit(rows)
    np.testing.assert_allclose(full.covariance, [[4, 0], [0, 1]])
    assert full.pairwise([[0, 0]], [[2, 1]])[0, 0] == pytest.approx(np.sqrt(2))
    np.testing.assert_allclose(diagonal.pairwise(rows, rows), full.pairwise(rows, rows))


@pytest.mark.covers("similarity-to-distance")
def test_similarities_become_distances_as_in_000():
    similarity = np.array([[1, np.exp(-2)], [np.exp(-2), 1]])
    np.testing.assert_allclose(similarity_to_distance(similarity), [[0, 2], [2, 0]])
    people = np.array([[[5, 2], [2, 5]], [[5, 4], [4, 5]]], dtype=float)
    np.testing.assert_allclose(
        similarity_to_distance(people, "linear", low=1, high=5), [[0, 0.5], [0.5, 0]]
    )
    with pytest.raises(ValueError, match="rescale"):
        similarity_to_distance([[1, 0], [0, 1]])


@pytest.mark.covers("knn-class-distribution")
def test_laplace_smoothing_of_003_section_3_3_7():
    model = KNeighborsClassifier(1, smoothing=2, proba_neighbors=4, metric="euclidean")
    model.fit([[0], [1], [2], [3], [50]], ["a", "a", "a", "b", "c"])
    expected = (np.array([3, 1, 0]) + 2 / 3) / (4 + 2)
    np.testing.assert_allclose(model.predict_proba([[0.1]])[0], expected)
    assert model.predict([[2.9]]) == ["b"]


@pytest.mark.covers("knn-reject")
def test_the_k_l_rule_answers_only_with_more_than_l_votes():
    rows, classes = [[0], [1], [2], [3]], ["a", "a", "b", "b"]
    for votes, answer in ((1, "a"), (2, "unknown")):
        model = KNeighborsClassifier(3, votes=votes, metric="euclidean").fit(rows, classes)
        assert model.predict([[0.4]]).tolist() == [answer]
    unanimous = KNeighborsClassifier(2, votes="all", metric="euclidean").fit(rows, classes)
    assert unanimous.predict([[0.4], [1.6]]).tolist() == ["a", "unknown"]
    numbers = KNeighborsClassifier(2, votes=1, unknown=None, metric="euclidean")
    assert numbers.fit(rows, [1, 1, 2, 2]).predict([[0.4], [1.6]]).tolist() == [1, None]
