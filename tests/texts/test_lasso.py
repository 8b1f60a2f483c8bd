"""Worked statements of the texts about penalised regression."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gnomon.linear import ElasticNet, Lasso

DATA = Path(__file__).parents[2] / "../shared/data"
needs_data = pytest.mark.skipif(not DATA.exists(), reason="the texts' data are not beside it")


@pytest.mark.covers("lasso")
def test_text_004_8_3_minimizes_its_own_form_with_alpha_lambda_by_two_n(rng):
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    penalty = 6.0

    def text(w):
        return ((X @ w - y) ** 2).sum() + penalty * np.abs(w).sum()

    found = Lasso(penalty / (2 * 40), fit_intercept=False, tol=0).fit(X, y).coef_
    for _ in range(200):
        assert text(found) <= text(found + rng.normal(size=5) * 10 ** rng.uniform(-6, 0)) + 1e-9


@pytest.mark.covers("elastic-net")
def test_text_000_11_4_1_has_twice_the_penalty(rng):
    X, y = rng.normal(size=(40, 5)), rng.normal(size=40)
    weight, share = 0.3, 0.5

    def text(b):
        squares = ((y - X @ b) ** 2).mean()
        return squares + weight * ((1 - share) / 2 * b @ b + share * np.abs(b).sum())

    found = ElasticNet(weight / 2, l1_ratio=share, fit_intercept=False, tol=0).fit(X, y).coef_
    for _ in range(200):
        assert text(found) <= text(found + rng.normal(size=5) * 10 ** rng.uniform(-6, 0)) + 1e-9


@needs_data
@pytest.mark.covers("lasso")
def test_gasoline_spectra_need_few_of_401_wavelengths():
    """000 11.4.2: 60 rows, 401 columns; the lasso keeps some 10 to 20 of them."""
    table = np.genfromtxt(DATA / "gasoline_nir.csv", delimiter=",", skip_header=1)
    y, X = table[:, 0], table[:, 1:]
    model = Lasso("1se", tol=1e-7, random_state=0).fit((X - X.mean(0)) / X.std(0), y)
    chosen = np.count_nonzero(model.coef_)
    assert 3 <= chosen <= 40
    assert model.path_.errors.min() < 0.1 < y.var()
