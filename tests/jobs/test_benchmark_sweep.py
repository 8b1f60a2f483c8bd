"""The sweep: shapes are those of the seed, data have their shape, figures are what they claim."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.sweep.methods import METHODS
from benchmarks.sweep.report import growth, mean, page
from benchmarks.sweep.shapes import Limits, Shape, draw, make


def shape(**changes) -> Shape:
    given = {"rows": 400, "columns": 60, "groups": 7, "dtype": "float32", "order": "F"}
    given |= {"density": None, "weighted": True, "structure": "integers", "seed": 3}
    return Shape(**(given | changes))


def test_there_are_forty_methods_or_more_and_scikit_learn_is_always_a_peer():
    assert len(METHODS) >= 40
    assert all("scikit-learn" in method.peers for method in METHODS.values())


def test_a_shape_depends_on_seed_method_and_number_only_and_keeps_its_limits():
    limits = Limits(rows=5000, columns=100, groups=20, cells=50_000, sparse=True, weighted=True)
    drawn = [draw(limits, "KMeans", 4, number) for number in range(60)]
    assert drawn == [draw(limits, "KMeans", 4, number) for number in range(60)]
    assert drawn[0] != draw(limits, "KMeans", 5, 0)
    assert drawn[0] != draw(limits, "Lasso", 4, 0)
    assert all(300 <= each.rows <= 5000 and 2 <= each.columns <= 100 for each in drawn)
    assert all(each.rows * each.columns <= 50_000 for each in drawn)
    assert {each.dtype for each in drawn} == {"float32", "float64"}
    assert any(each.density for each in drawn)
    assert any(each.weighted for each in drawn)


@pytest.mark.parametrize("order", ["C", "F"])
def test_data_have_the_shape_that_was_drawn(order):
    data = make(shape(order=order))
    assert data.X.shape == (400, 60)
    assert data.X.dtype == np.float32
    assert data.X.flags.f_contiguous == (order == "F")
    assert np.array_equal(data.X, np.round(data.X))
    assert sorted(set(data.y.tolist())) == list(range(7))
    assert data.weights is not None
    assert len(data.test_X) == len(data.test_y) == 100
    assert np.array_equal(data.X, make(shape(order=order)).X)


def test_sparse_shapes_give_sparse_rows_of_that_density():
    data = make(shape(density=0.05, structure="plain", weighted=False))
    assert sp.issparse(data.X)
    assert data.X.nnz == pytest.approx(0.05 * 400 * 60, rel=0.1)
    assert data.weights is None


def test_duplicated_columns_are_equal():
    X = make(shape(structure="duplicated")).X
    assert np.array_equal(X[:, :30], X[:, 30:])


def case(rows, seconds, peer_seconds, **changes):
    def side(time):
        return {"seconds": time, "memory": 0, "quality": 1.0}

    outcome = {"peer": "scikit-learn", "ours": side(seconds), "theirs": side(peer_seconds)}
    outcome |= {"ratio": peer_seconds / seconds, "reached": True, "stopped": {}} | changes
    record = shape(rows=rows).record()
    return {"method": "KMeans", "key": f"0.{rows}", "shape": record, "outcome": outcome}


def test_growth_finds_the_power_of_the_rows():
    rows = [case(400 * 4**k, 1e-6 * (400 * 4**k) ** 2, 1.0) for k in range(6)]
    assert "n^2.0" in growth(rows, "ours")
    assert "n^0.0" in growth(rows, "theirs")


def test_the_page_shows_the_geometric_mean_and_every_lost_case():
    assert mean([2.0, 8.0]) == pytest.approx(4.0)
    text = page([case(400, 1.0, 8.0), case(500, 2.0, 1.0), case(600, 1.0, 2.0, reached=False)])
    assert "3 cases of 1 methods: geometric mean 2.00x, 1 lost, 1 without" in text
    assert "| KMeans | 500 x 60" in text
    assert "QUALITY NOT REACHED" in text
