"""Two-means against its definition, and splits that do not depend on how the rows are stored."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.cluster import BisectingKMeans, two_means
from gnomon.cluster.two_means import two_means as halves_of


def by_definition(rows, weights, points, passes):
    """Lloyd's algorithm with two centers; an emptied center goes to the farthest row."""
    points = points.copy()
    for _ in range(passes):
        squared = ((rows[:, None] - points[None]) ** 2).sum(axis=2)
        sides = (squared[:, 1] < squared[:, 0]).astype(int)
        before = points.copy()
        for side in (0, 1):
            if (sides == side).any():
                points[side] = np.average(
                    rows[sides == side], axis=0, weights=weights[sides == side]
                )
        for side in (0, 1):
            if not (sides == side).any():
                away = ((rows - points[1 - side]) ** 2).sum(axis=1)
                points[side] = rows[away.argmax()]
        if np.array_equal(points, before):
            break
    squared = ((rows[:, None] - points[None]) ** 2).sum(axis=2)
    return points, (squared[:, 1] < squared[:, 0]).astype(int), squared.min(axis=1)


def found(table, which, weights, points, passes=100, n_jobs=1):
    dense = np.asarray(table.toarray() if sp.issparse(table) else table, dtype=np.float64)
    shift = dense[which].mean(axis=0)
    radii = np.sqrt(((dense[which] - shift) ** 2).sum(axis=1))
    return halves_of(table, which, weights, radii, shift, points, passes, 0.0, n_jobs)


@pytest.mark.parametrize("stored", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("d", [1, 2, 19])
@pytest.mark.parametrize("passes", [1, 2, 100])
def test_halves_are_those_of_the_definition(stored, offset, d, passes, rng):
    rows = (rng.normal(size=(700, d)) + offset).astype(np.float32).astype(np.float64)
    table = {"float64": rows, "float32": rows.astype(np.float32), "sparse": sp.csr_array(rows)}
    weights = rng.uniform(0.5, 2, 700)
    which = np.flatnonzero(rng.random(700) < 0.7)
    points = rows[which[[0, 5]]]
    halves = found(table[stored], which, weights, points, passes)
    points, sides, squares = by_definition(rows[which], weights[which], points, passes)
    np.testing.assert_array_equal(halves.sides, sides)
    np.testing.assert_allclose(halves.points, points, rtol=1e-11, atol=1e-11 * (1 + offset))
    np.testing.assert_allclose(halves.squares, squares, rtol=1e-7, atol=1e-9 * (1 + offset**2))


def test_ties_are_on_the_side_of_the_first_center(rng):
    rows = rng.integers(0, 3, size=(300, 2)).astype(float)
    points = np.array([[2.0, 0.0], [0.0, 2.0]])
    halves = found(rows, np.arange(300), np.ones(300), points, 1)
    sides = rows[:, 0] < rows[:, 1]
    expected = np.stack([rows[~sides].mean(axis=0), rows[sides].mean(axis=0)])
    np.testing.assert_allclose(halves.points, expected, rtol=1e-12)


def test_an_emptied_center_goes_to_the_farthest_row(rng):
    rows = np.vstack([rng.normal(size=(50, 3)), [[40.0, 0, 0]]])
    halves = found(rows, np.arange(51), np.ones(51), np.array([[0.0, 0, 0], [1e6, 0, 0]]))
    np.testing.assert_array_equal(halves.sides, np.arange(51) == 50)
    equal = np.ones((6, 3))
    start = np.array([[1.0, 1, 1], [5.0, 5, 5]])
    assert found(equal, np.arange(6), np.ones(6), start) is None


def test_a_side_that_loses_nearly_all_its_weight_has_an_exact_mean(rng):
    rows = np.concatenate([rng.normal(size=400) * 1e6, [3e7 + 1 / 3]])[:, None]
    points = np.array([[-1e6], [1.0]])
    halves = found(rows, np.arange(401), np.ones(401), points)
    for side in (0, 1):
        own = rows[halves.sides == side]
        np.testing.assert_allclose(halves.points[side], own.mean(axis=0), rtol=1e-15)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_chunks_on_threads_give_the_bits_of_one_thread(n_jobs, rng, monkeypatch):
    monkeypatch.setattr(two_means, "CHUNK_NUMBERS", 1200)
    rows = rng.normal(size=(3000, 4))
    which = np.arange(3000)
    one = found(rows, which, np.ones(3000), rows[:2])
    other = found(rows, which, np.ones(3000), rows[:2], n_jobs=n_jobs)
    for each, same in zip(one, other):
        np.testing.assert_array_equal(each, same)
    plain = by_definition(rows, np.ones(3000), rows[:2], 200)
    np.testing.assert_array_equal(one.sides, plain[1])


@pytest.mark.parametrize("init", ["random", "k-means++", "uniform", "farthest-first"])
def test_bisecting_depends_neither_on_order_nor_on_weight_versus_repetition(init, rng):
    rows = rng.normal(size=(80, 3)) + 6 * rng.integers(0, 3, size=(80, 1))
    weights = rng.integers(1, 4, 80)
    order = rng.permutation(weights.sum())
    options = {"init": init, "n_init": 2, "random_state": 3}
    weighted = BisectingKMeans(6, **options).fit(rows, sample_weight=weights)
    repeated = BisectingKMeans(6, **options).fit(np.repeat(rows, weights, axis=0)[order])
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-9)
    np.testing.assert_allclose(weighted.node_centers_, repeated.node_centers_, atol=1e-9)


def test_groups_of_equal_rows_are_not_split(rng):
    rows = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 9.0]], 30, axis=0)
    model = BisectingKMeans(5, random_state=0).fit(rows)
    assert len(model.cluster_centers_) == 3
    assert model.inertia_ < 1e-25
