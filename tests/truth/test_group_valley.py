"""Valleys between groups: seen between groups of any shape, and in no cloud of one piece."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array

from gnomon.workbench.group.search import made
from gnomon.workbench.group.valley import Counts, p_of_counts, valley_p, widest_step
from tests.truth.simulation.group import CLOUDS


def grouped(points: np.ndarray, method: str, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows on one scale, and their groups by a method."""
    rows = (points - points.mean(axis=0)) / points.std(axis=0)
    return rows, np.asarray(made(method, k, 0.9, rows, 0).predict(rows))


def moons(rng, n):
    angle, upper = np.pi * rng.random(n), rng.random(n) < 0.5
    x = np.where(upper, np.cos(angle), 1 - np.cos(angle))
    y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
    return np.column_stack([x, y]) + 0.06 * rng.normal(size=(n, 2))


def rings(rng, n):
    angle, radius = 2 * np.pi * rng.random(n), rng.choice([1.0, 3.0], n)
    points = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return points + 0.1 * rng.normal(size=(n, 2))


def blobs(rng, n):
    centers = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [0.0, 6.0, 3.0]])
    return centers[rng.integers(3, size=n)] + rng.normal(size=(n, 3))


@pytest.mark.parametrize(
    ("shape", "method", "k"),
    [(blobs, "k-means", 3), (moons, "DBSCAN", 0), (rings, "DBSCAN", 0)],
)
def test_a_valley_is_seen_between_groups_of_any_shape(shape, method, k, rng):
    found = [valley_p(*grouped(shape(rng, 500), method, k), 0) for _ in range(3)]
    assert np.median(found) <= 0.05


@pytest.mark.parametrize("shape", ["turned square", "crescent", "banana", "skewed factor"])
def test_no_valley_is_seen_in_most_clouds_of_one_piece(shape, rng):
    found = [valley_p(*grouped(CLOUDS[shape](rng, 200), "k-means", 2), 0) for _ in range(4)]
    assert np.median(found) > 0.05


def test_counts_of_both_halves_are_compared_with_the_sparser_group():
    one, other = Counts(0, (10, 4), (2, 1)), Counts(1, (9, 5), (2, 1))
    sides = [stats.binom.cdf(1, 20, 2 / 6), stats.binom.cdf(1, 10, 2 / 4)]
    assert p_of_counts(one, other) == pytest.approx(max(sides))


def test_the_widest_step_of_a_path_is_found():
    line = np.zeros((4, 4))
    for i, length in enumerate([1.0, 5.0, 2.0]):
        line[i, i + 1] = line[i + 1, i] = length
    assert sorted(widest_step(csr_array(line), 0, 3)) == [1, 2]
    assert sorted(widest_step(csr_array(line), 3, 2)) == [2, 3]


def test_one_group_alone_has_no_valley(rng):
    assert valley_p(rng.normal(size=(50, 2)), np.zeros(50, dtype=int), 0) == 1.0
