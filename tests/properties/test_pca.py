"""What must hold for any rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gnomon.reduce import PCA

TABLES = arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 8)),
    elements=st.floats(-1e6, 1e6, allow_subnormal=False),
)


@given(X=TABLES)
def test_all_components_together_lose_nothing(X):
    pca = PCA().fit(X)
    back = pca.inverse_transform(pca.transform(X))
    np.testing.assert_allclose(back, X, atol=1e-6 * (1 + np.abs(X).max()))


@given(X=TABLES)
def test_variances_fall_and_their_shares_are_at_most_one(X):
    pca = PCA().fit(X)
    assert np.all(np.diff(pca.explained_variance_) <= 1e-9 * (1 + pca.total_variance_))
    assert pca.explained_variance_.min() >= 0
    assert pca.explained_variance_ratio_.sum() <= 1 + 1e-9


@given(X=TABLES, shift=st.floats(-1e3, 1e3))
def test_a_shift_of_all_rows_changes_no_variance(X, shift):
    here, there = PCA(1).fit(X), PCA(1).fit(X + shift)
    scale = 1e-9 * (1 + here.total_variance_ + np.abs(X).max() ** 2 * 1e-3)
    np.testing.assert_allclose(here.explained_variance_, there.explained_variance_, atol=scale)
