"""Gaussian naive Bayes: moments and log densities block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.accelerate.blocks import each_block, fill_blocks, require_doubles
from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require


@replaces("sklearn.naive_bayes", "GaussianNB._joint_log_likelihood", "{}.predict")
def joint_log_likelihood(original: Any, self: Any, X: Any) -> np.ndarray:
    """The log of prior times density of each row in each class."""
    require_doubles(X)
    require(self.theta_.dtype == np.float64, "moments of float32")
    worth("naive Bayes", X.size * len(self.theta_))
    factors = 1.0 / np.sqrt(2.0 * self.var_)
    shifts = self.theta_ * factors
    constants = np.log(self.class_prior_) - 0.5 * np.log(2.0 * np.pi * self.var_).sum(axis=1)
    found = np.empty((len(X), len(shifts)))

    def fill(some: slice) -> None:
        for k, shift in enumerate(shifts):
            away = X[some] * factors[k]
            away -= shift
            found[some, k] = constants[k] - np.einsum("nd,nd->n", away, away)

    fill_blocks(fill, *X.shape)
    return found


@replaces("sklearn.naive_bayes", "GaussianNB._update_mean_variance", "GaussianNB.fit")
def update_mean_variance(
    original: Any, n_past: Any, mu: Any, var: Any, X: Any, sample_weight: Any = None
) -> Any:
    """Means and variances of the rows of one class."""
    require_doubles(X)
    require(sample_weight is None, "sample_weight")
    require(n_past == 0, "partial_fit")
    worth("moments", X.size)
    n = len(X)
    mean = sum(each_block(lambda some: X[some].sum(axis=0), *X.shape)) / n

    def squares(some: slice) -> np.ndarray:
        away = X[some] - mean
        return np.einsum("nd,nd->d", away, away)

    return mean, sum(each_block(squares, *X.shape)) / n
