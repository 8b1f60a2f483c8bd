"""Newton's step of a generalised linear model with very many sparse columns, without their matrix.

A category of 10^5 levels has 10^5 columns, and the matrix of Fisher's information 10^10 cells. Its
product with a vector, X'(w (X v)), needs one look at the stored cells, so the step is found by
conjugate gradients, scaled by the matrix's diagonal: for the levels of one category that diagonal
is all there is, and few looks suffice.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from gnomon.engine.sums import Chunk, Source, add_up
from gnomon.linear.families import Family, Link, newton_weights

# Rows that are worked on at once.
SPARSE_CHUNK = 2**16
MOST_LOOKS = 1000


class SparseSums(NamedTuple):
    """Sums at given coefficients: deviance, score, and the diagonal of the information."""

    deviance: float
    score: np.ndarray
    diagonal: np.ndarray


class SparseInformation:
    """Fisher's information of sparse rows, known by its products with vectors.

    Parameters
    ----------
    family : Family
    link : Link
    source : Source
        Its chunks are sparse.
    intercept : bool
        A last coefficient is that of a column of ones.
    n_jobs : int or None
    """

    def __init__(
        self, family: Family, link: Link, source: Source, intercept: bool, n_jobs: int | None
    ):
        self.family, self.link, self.source = family, link, source
        self.intercept, self.n_jobs = intercept, n_jobs
        self.weights = np.zeros(source.n_rows)

    def sums(self, parameters: np.ndarray) -> SparseSums:
        """The sums at some coefficients, whose information is known from then on."""
        return SparseSums(*add_up(partial(self._sums, parameters), self.source, self.n_jobs))

    def _sums(self, parameters: np.ndarray, chunk: Chunk) -> SparseSums:
        assert chunk.y is not None
        predictor = self._predictor(parameters, chunk)
        nothing = np.zeros(len(parameters))
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            mean = self.link.mean(predictor)
            if not self.family.valid(mean):
                return SparseSums(np.inf, nothing, nothing)
            deviance = float(chunk.weights @ self.family.deviance(chunk.y, mean))
            score, weights = newton_weights(
                self.family, self.link, predictor, mean, chunk.y, chunk.weights
            )
        if not (np.isfinite(deviance) and np.isfinite(score).all() and np.isfinite(weights).all()):
            return SparseSums(np.inf, nothing, nothing)
        self.weights[chunk.start : chunk.stop] = weights
        return SparseSums(
            deviance, self._across(chunk.rows, score), self._across(chunk.rows.power(2), weights)
        )

    def times(self, vector: np.ndarray) -> np.ndarray:
        """The information times a vector."""
        return add_up(partial(self._times, vector), self.source, self.n_jobs)[0]

    def _times(self, vector: np.ndarray, chunk: Chunk) -> tuple[np.ndarray]:
        weights = self.weights[chunk.start : chunk.stop]
        return (self._across(chunk.rows, weights * self._predictor(vector, chunk)),)

    def _predictor(self, parameters: np.ndarray, chunk: Chunk) -> np.ndarray:
        p = chunk.rows.shape[1]
        return chunk.rows @ parameters[:p] + (parameters[p] if self.intercept else 0.0)

    def _across(self, rows, values: np.ndarray) -> np.ndarray:
        """Products of the columns, and of the column of ones, with a value per row."""
        products = rows.T @ values
        return np.append(products, values.sum()) if self.intercept else products


def conjugate_gradients(
    times, diagonal: np.ndarray, right: np.ndarray, tolerance: float
) -> np.ndarray:
    """The solution of A x = right for a matrix known by its products, scaled by its diagonal.

    Ends when the residual, in units of the diagonal, is this share of the first; a matrix without
    an inverse ends it too, at the best that was reached.

    Parameters
    ----------
    times : callable
        Vector to A vector; A is symmetric and not negative.
    diagonal : ndarray
        Of A; coefficients of zeros there stay zero.
    right : ndarray
    tolerance : float

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> conjugate_gradients(lambda v: A @ v, A.diagonal(), np.array([3.0, 4.0]), 1e-12)
    array([1., 1.])
    """
    scale = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    found, residual = np.zeros_like(right), right.copy()
    scaled = scale * residual
    direction, size = scaled, float(residual @ scaled)
    enough = tolerance**2 * size
    for _ in range(MOST_LOOKS):
        if not size > enough:
            break
        image = times(direction)
        curvature = float(direction @ image)
        if not curvature > 0:
            break
        found = found + size / curvature * direction
        residual = residual - size / curvature * image
        scaled = scale * residual
        size, before = float(residual @ scaled), size
        direction = scaled + size / before * direction
    return found
