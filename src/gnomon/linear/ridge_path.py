"""Ridge regression for a whole range of penalties, by one decomposition.

With the eigenvalues and eigenvectors of X'X = V diag(l) V' the coefficients of every penalty are
V (V'X'y / (l + alpha)); with more columns than rows, X'U (U'y / (l + alpha)) of XX' = U diag(l) U'.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gnomon.contract import Takes
from gnomon.engine.parameters import FLAG, JOBS, SEED
from gnomon.linear.coordinate_descent import ColumnQuadratic, GramQuadratic, Quadratic
from gnomon.linear.elastic_net import Centered, PenalizedLeastSquares


class RidgePaths(PenalizedLeastSquares):
    """The paths of `gnomon.linear.Ridge`; its penalties are those of sums over rows."""

    natively = Takes(sparse=True)
    alpha = 1.0
    positive = warm_start = False
    _parameter_constraints = {"fit_intercept": FLAG, "random_state": SEED, "n_jobs": JOBS}

    def __init__(self, fit_intercept=True, random_state=None, n_jobs=None):
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _ratio(self) -> float:
        return 0.0

    def _greatest(self, centered: Centered) -> float:
        return float(centered.problem.squares.sum()) * centered.weight

    def _along(self, alphas: np.ndarray, centered: Centered):
        coefficients, explained = ridge_solutions(centered.problem, alphas / centered.weight)
        return coefficients, np.zeros(len(alphas)), explained


def ridge_solutions(problem: Quadratic, alphas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (n_alphas, p) of least |y - X b|^2 + alpha |b|^2, and R2 of each."""
    if isinstance(problem, GramQuadratic):
        values, vectors = scipy.linalg.eigh(problem.gram, check_finite=False)
        values, turned = np.maximum(values, 0.0), vectors.T @ problem.cross
        shrunk = turned / (values + alphas[:, None])
        residuals = problem.total - 2 * shrunk @ turned + shrunk**2 @ values
        coefficients = shrunk @ vectors.T
    else:
        assert isinstance(problem, ColumnQuadratic)
        values, vectors = scipy.linalg.eigh(problem.outer(), check_finite=False)
        shrunk = (vectors.T @ problem.y) / (np.maximum(values, 0.0) + alphas[:, None])
        dual = shrunk @ vectors.T
        residuals = alphas**2 * (dual**2).sum(axis=1)
        coefficients = problem.across(dual)
    coefficients[:, problem.squares == 0] = 0.0
    explained = np.zeros(len(alphas))
    if problem.total > 0:
        explained = 1 - np.maximum(residuals, 0.0) / problem.total
    return coefficients, explained
