"""Whitening: uncorrelated columns of variance one, by any of the matrices that do it."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, between, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.sums import ArraySource, add_up
from gnomon.prepare.base import COLUMNS, NumberFilter, weighted_mean


@method(
    task="filter",
    texts="000a 1.2.1, 4.5 · 000b 8.1.1, 9.1.1 · 001 17.2.15",
    use="To make number columns uncorrelated and of one scale, for distances and mixtures.",
    avoid="Many columns and few rows: the covariance is then badly known, and noise is blown up.",
    peers=("sklearn.decomposition.PCA",),
)
class Whiten(NumberFilter):
    """Centre the number columns and map them so that their covariance is the identity.

    z = O W (x - mean) with W C W' = I. Three choices of W, for C = U diag(lambda) U' = L L':
    "pca" diag(lambda)^-1/2 U' (rotated to the principal axes), "zca" U diag(lambda)^-1/2 U'
    (symmetric: each new column stays nearest to its old one, and keeps its name), "cholesky"
    inv(L) (each new column is made of the columns before it). Whitening is not unique: any
    rotation O gives another.

    Holes of a table are read as the column's mean; an array must have none.

    Use it before distances and mixtures. Not with many columns and few rows: small eigenvalues
    are then mostly noise, and are blown up. Directions with an eigenvalue below ``floor`` times
    the largest (constant or dependent columns) are left out by "pca" and "zca": they come out as
    zero, and what a later row has along them is lost; "cholesky" reads such eigenvalues as the
    floor. ``rank_`` says how many are above it.

    Texts: 000a 1.2.1 and exercise 4.5, 000b 8.1.1 and 9.1.1 (x <- inv(A) (x - mean), C = A A'),
    001 17.2.15, whose form without the first U is not symmetric. The texts need all eigenvalues
    positive.

    Parameters
    ----------
    form : {"pca", "zca", "cholesky"}, default="pca"
        Which whitening matrix.
    floor : float, default=1e-12
        Least eigenvalue, as a share of the largest.
    rotation : array-like of shape (n_columns, n_columns) or None, default=None
        An orthonormal matrix O applied last.
    ddof : {0, 1}, default=0
        Subtracted from the number of rows in the divisor of the covariance.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    mean_ : ndarray of shape (n_columns,)
        Mean of each column concerned.
    matrix_ : ndarray of shape (n_columns, n_columns)
        The whitening matrix O W.
    inverse_ : ndarray of shape (n_columns, n_columns)
        The matrix that undoes it.
    eigenvalues_ : ndarray of shape (n_columns,)
        Eigenvalues of the covariance in falling order, before the floor.
    rank_ : int
        How many of them are above the floor.
    fill_ : ndarray of shape (n_columns,)
        What holes of a table are read as, the columns' means; only after a fit on a table.
    positions_ : ndarray of int
        Positions of the columns concerned.
    kinds_ : list of str
        Kinds of all columns seen in ``fit``.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.prepare import Whiten
    >>> rows = np.array([[0.0, 0.0], [2.0, 1.0], [4.0, 4.0], [1.0, 3.0]])
    >>> white = Whiten(form="zca").fit_transform(rows)
    >>> np.allclose(np.cov(white.T, ddof=0), np.eye(2))
    True
    """

    _parameter_constraints = {
        "form": [StrOptions({"pca", "zca", "cholesky"})],
        "floor": [between(0, 1, closed="neither")],
        "rotation": ["array-like", None],
        "ddof": [whole(0, 1)],
        "columns": COLUMNS,
    }
    _stored = {
        "eigenvalues_": Array("f8", ("n_eigenvalues",)),
        "inverse_": Array("f8", ("n_eigenvalues", "n_eigenvalues")),
        "matrix_": Array("f8", ("n_eigenvalues", "n_eigenvalues")),
        "mean_": Array("f8", ("n_eigenvalues",)),
        "rank_": Whole(),
    }

    def __init__(self, form="pca", *, floor=1e-12, rotation=None, ddof=0, columns=None):
        self.form = form
        self.floor = floor
        self.rotation = rotation
        self.ddof = ddof
        self.columns = columns

    def _fit_block(self, block, weights):
        self.mean_ = weighted_mean(block, weights)
        weight, scatter = add_up(self._scatter, ArraySource(block, None, weights))
        covariance = scatter / max(weight - self.ddof, np.finfo(float).tiny)
        if not np.all(np.isfinite(covariance)):
            raise DataError(
                f"weights that sum to {weight:g} allow no variance with ddof={self.ddof}"
            )
        values, vectors = np.linalg.eigh(covariance)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        largest = values[0] if values.size and values[0] > 0 else 1.0
        least = self.floor * largest
        self.eigenvalues_ = values
        self.rank_ = int((values > least).sum())
        signs = np.where(vectors[np.abs(vectors).argmax(axis=0), range(len(values))] < 0, -1, 1)
        matrix, inverse = self._matrices(np.sqrt(np.maximum(values, least)), vectors * signs)
        rotation = self._checked_rotation(len(values))
        self.matrix_ = matrix if rotation is None else rotation @ matrix
        self.inverse_ = inverse if rotation is None else inverse @ rotation.T

    def _scatter(self, chunk):
        deviations = chunk.rows - self.mean_
        weighted = deviations * chunk.weights[:, np.newaxis]
        return float(chunk.weights.sum()), inner(weighted, deviations)

    def _matrices(self, deviations: np.ndarray, vectors: np.ndarray):
        """W and its inverse, from the square roots of the eigenvalues, none below the floor."""
        factors = np.where(np.arange(len(deviations)) < self.rank_, 1 / deviations, 0.0)
        kept = np.where(factors > 0, deviations, 0.0)
        if self.form == "pca":
            return (vectors * factors).T, vectors * kept
        if self.form == "zca":
            return (vectors * factors) @ vectors.T, (vectors * kept) @ vectors.T
        upper = np.asarray(np.linalg.qr((vectors * deviations).T, mode="r"))
        lower = upper.T * np.where(np.diag(upper) < 0, -1.0, 1.0)
        return scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True), lower

    def _checked_rotation(self, size: int) -> np.ndarray | None:
        if self.rotation is None:
            return None
        rotation = np.asarray(self.rotation, dtype=np.float64)
        if rotation.shape != (size, size):
            raise DataError(f"rotation has shape {rotation.shape}, and {size} columns are whitened")
        if not np.allclose(rotation @ rotation.T, np.eye(size), atol=1e-8):
            raise DataError(
                "rotation must be orthonormal: its rows are not unit vectors at right angles"
            )
        return rotation

    def _forward(self, block):
        return (block - self.mean_) @ self.matrix_.T

    def _backward(self, block):
        return block @ self.inverse_.T + self.mean_

    def _new_names(self, names):
        if self.form == "pca" or self.rotation is not None:
            return [f"whiten{place}" for place in range(len(names))]
        return names

    def _working_memory(self, n_rows, n_columns):
        return 8 * (2 * n_rows * n_columns + 6 * n_columns**2)
