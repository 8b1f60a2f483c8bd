"""Gaussian mixtures: scikit-learn's EM, its steps taken block by block.

scikit-learn makes a few temporary arrays of the size of the data for every component and step.
Here a block of rows passes through all components while it is in the cache, on all processors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon.accelerate.blocks import each_block, fill_blocks, require_doubles
from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require

HOME = "sklearn.mixture._gaussian_mixture"
BAYESIAN = "sklearn.mixture._bayesian_mixture"
SERVES = "GaussianMixture.fit"


class Components:
    """Normal densities, ready to be evaluated at blocks of rows.

    Parameters
    ----------
    means : ndarray of shape (k, d)
    precisions_chol : ndarray
        scikit-learn's Cholesky factors of the precisions, of a shape by `kind`.
    kind : {"full", "tied", "diag", "spherical"}
    """

    def __init__(self, means: np.ndarray, precisions_chol: np.ndarray, kind: str):
        k, d = means.shape
        self.kind = kind
        self.factors = precisions_chol
        if kind == "full":
            diagonals = np.diagonal(precisions_chol, axis1=1, axis2=2)
            self.shifts = np.einsum("kd,kde->ke", means, precisions_chol)
        elif kind == "tied":
            diagonals = np.diagonal(precisions_chol)[None]
            self.shifts = means @ precisions_chol
        else:
            diagonals = np.broadcast_to(precisions_chol.reshape(k, -1), (k, d))
            precisions = diagonals**2
            self.factors = np.ascontiguousarray(precisions.T)
            self.shifts = np.ascontiguousarray((means * precisions).T) * 2.0
            self.squares = (means**2 * precisions).sum(axis=1)
        self.constants = np.log(diagonals).sum(axis=1) - 0.5 * d * math.log(2 * math.pi)

    def log_density(self, rows: np.ndarray) -> np.ndarray:
        """Of each row under each component."""
        if self.kind in ("diag", "spherical"):
            found = self.squares - np.dot(rows, self.shifts)
            found += np.dot(rows * rows, self.factors)
            found *= -0.5
            return found + self.constants
        found = np.empty((len(rows), len(self.shifts)))
        if self.kind == "tied":
            rows = rows @ self.factors
        for k, shift in enumerate(self.shifts):
            if self.kind == "full":
                away = np.dot(rows, self.factors[k])
                away -= shift
            else:
                away = rows - shift
            np.einsum("nd,nd->n", away, away, out=found[:, k])
        found *= -0.5
        found += self.constants
        return found


@replaces(HOME, "_estimate_log_gaussian_prob", SERVES, also=[BAYESIAN])
def log_gaussian_prob(
    original: Any,
    X: Any,
    means: np.ndarray,
    precisions_chol: np.ndarray,
    covariance_type: str,
    xp: Any = None,
) -> np.ndarray:
    """The log density of each row under each component."""
    require_doubles(X)
    worth("mixture", X.size * len(means))
    components = Components(means, precisions_chol, covariance_type)
    found = np.empty((len(X), len(means)))

    def fill(some: slice) -> None:
        found[some] = components.log_density(X[some])

    fill_blocks(fill, *X.shape)
    return found


@replaces("sklearn.mixture._base", "BaseMixture._estimate_log_prob_resp", "{}.fit")
def log_prob_resp(original: Any, self: Any, X: Any, xp: Any = None) -> Any:
    """The log density of each row under the mixture and its log responsibilities."""
    require(type(self).__name__ == "GaussianMixture", f"a {type(self).__name__}")
    require_doubles(X)
    worth("mixture", X.size * len(self.means_))
    components = Components(self.means_, self.precisions_cholesky_, self.covariance_type)
    components.constants = components.constants + np.log(self.weights_)
    norms, log_resp = np.empty(len(X)), np.empty((len(X), len(self.means_)))

    def fill(some: slice) -> None:
        joint = components.log_density(X[some])
        most = joint.max(axis=1)
        part = np.exp(joint - most[:, None])
        norms[some] = most + np.log(part.sum(axis=1))
        np.subtract(joint, norms[some, None], out=log_resp[some])

    fill_blocks(fill, *X.shape)
    require(np.isfinite(norms).all(), "densities underflow")
    return norms, log_resp


@replaces(HOME, "_estimate_gaussian_covariances_full", SERVES)
def full_covariances(
    original: Any,
    resp: np.ndarray,
    X: Any,
    nk: np.ndarray,
    means: np.ndarray,
    reg_covar: float,
    xp: Any = None,
) -> np.ndarray:
    """The covariance matrix of each component."""
    require_doubles(X)
    worth("mixture", X.size * len(means))
    d = X.shape[1]

    def sums(some: slice) -> np.ndarray:
        rows, part = X[some], np.empty((len(means), d, d))
        for k, mean in enumerate(means):
            away = rows - mean
            np.dot((away * resp[some, k, None]).T, away, out=part[k])
        return part

    covariances = np.zeros((len(means), d, d))
    for part in each_block(sums, *X.shape):
        covariances += part
    covariances /= nk[:, None, None]
    covariances.reshape(len(means), -1)[:, :: d + 1] += reg_covar
    return covariances
