"""What maps must keep for any rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from gnomon.reduce import (
    NIPALS,
    NormalizedPCA,
    linear_projection,
    low_rank,
    principal_coordinates,
    procrustes,
    raw_stress,
)

shapes = st.tuples(st.integers(3, 12), st.integers(2, 6), st.integers(0, 10**6))


def rows_of(shape) -> np.ndarray:
    n, d, seed = shape
    return np.random.default_rng(seed).normal(size=(n, d)) * np.arange(1, d + 1)


@given(shapes)
def test_projected_distances_are_never_larger(shape):
    X = rows_of(shape)
    directions = np.random.default_rng(shape[2] + 1).normal(size=(2, X.shape[1]))
    places = linear_projection(X, directions).transform(X)
    assert (pdist(places) <= pdist(X) + 1e-9).all()


@given(shapes)
def test_more_components_never_raise_the_error(shape):
    X = rows_of(shape)
    errors = [low_rank(X, k).error for k in range(1, min(X.shape) + 1)]
    assert (np.diff(errors) <= 1e-9 * (X**2).sum()).all()


@given(shapes)
def test_maps_of_distances_do_not_depend_on_where_rows_lie(shape):
    X = rows_of(shape)
    turn = np.linalg.qr(np.random.default_rng(shape[2]).normal(size=(X.shape[1],) * 2))[0]
    one, other = (
        principal_coordinates(squareform(pdist(each)), 2).places for each in (X, X @ turn + 3)
    )
    D = squareform(pdist(X))
    assert abs(raw_stress(D, one).total - raw_stress(D, other).total) <= 1e-6 * (D**4).sum()
    assert procrustes(one, one[:, ::-1]).disparity < 1e-9


@given(shapes)
def test_the_order_of_rows_changes_no_direction(shape):
    X = rows_of(shape)
    order = np.random.default_rng(shape[2]).permutation(len(X))
    for method in (NormalizedPCA(1), NIPALS(1, tol=1e-13)):
        one = method.fit(X).components_.copy()
        other = method.fit(X[order]).components_
        assert abs((one * other).sum()) > 1 - 1e-5 or len(X) < 4
