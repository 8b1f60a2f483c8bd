"""Very many sparse columns: the step without the matrix is the step with it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.engine.errors import MemoryLimitError
from gnomon.linear import GLM, NoSummary, glm
from gnomon.linear.glm_sparse import conjugate_gradients


def counts_by_level(rng, n: int, n_levels: int):
    """A category in one-hot form without its first level, two numbers, and counts."""
    level = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n - n_levels)])
    numbers = rng.normal(size=(n, 2))
    effect = rng.normal(size=n_levels) / 2
    y = rng.poisson(np.exp(1 + numbers @ [0.3, -0.2] + effect[level])) + 1.0
    one_hot = sp.csr_array((np.ones(n), (np.arange(n), level)), shape=(n, n_levels))[:, 1:]
    return sp.hstack([sp.csr_array(numbers), one_hot]).tocsr(), y


@pytest.mark.covers("sparse-glm", "glm-newton")
@pytest.mark.parametrize(
    "settings",
    [
        {"family": "poisson"},
        {"family": "poisson", "offset": 0},
        {"family": "poisson", "alpha": 0.3},
        {"family": "gamma", "link": "log"},
        {"family": "gaussian"},
        {"family": "poisson", "fit_intercept": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fit_without_a_matrix_is_that_with_it(settings, weighted, monkeypatch, rng):
    rows, y = counts_by_level(rng, 800, 30)
    weights = rng.integers(1, 4, 800).astype(float) if weighted else None
    expected = GLM(**settings, tol=1e-12).fit(rows, y, sample_weight=weights)
    monkeypatch.setattr(glm, "MOST_WITH_MATRIX", 10)
    found = GLM(**settings, tol=1e-12).fit(rows, y, sample_weight=weights)
    assert found.statistics_ is None
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-4, atol=1e-5)
    assert found.intercept_ == pytest.approx(expected.intercept_, rel=1e-4, abs=1e-5)
    assert found.history_[-1] == pytest.approx(expected.history_[-1], rel=1e-8)
    assert (np.diff(found.history_.objective) <= 1e-12).all()


def test_a_category_of_many_levels_needs_little_memory(rng):
    rows, y = counts_by_level(rng, 60_000, 20_000)
    tracemalloc.start()
    model = GLM("poisson").fit(rows, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.history_.stopped == "converged"
    assert peak < min(1e8, model.forecast(*rows.shape, rows.nnz))
    with pytest.raises(NoSummary, match="at most 2,000 columns"):
        model.summary()


def test_an_absolute_penalty_needs_the_matrix_and_says_so(rng):
    rows, y = counts_by_level(rng, 3_000, 2_500)
    with gnomon.config(memory_limit="100MB"), pytest.raises(MemoryLimitError, match="L1"):
        GLM("poisson", alpha=0.1, l1_ratio=0.5).fit(rows, y)


def test_conjugate_gradients_solve_what_a_factor_solves(rng):
    root = rng.normal(size=(40, 20))
    matrix, right = root.T @ root, rng.normal(size=20)
    found = conjugate_gradients(lambda v: matrix @ v, matrix.diagonal(), right, 1e-12)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-6, atol=1e-9)
    assert (conjugate_gradients(lambda v: 0 * v, np.zeros(3), np.ones(3), 1e-9) == 0).all()
