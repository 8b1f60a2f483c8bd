"""Few rows of many columns, in as many columns as there are rows.

With a penalty on squares alone the coefficients are combinations of the rows, b = X' a: what is
orthogonal to all rows changes no prediction and only adds to the penalty. In orthonormal
coordinates of the rows' span, X = L Q' with L lower triangular up to the order of the rows, the
same problem has the rows L and the penalty |c|^2 = |b|^2, so that a model is fitted to n rows of at
most n columns and b = Q c. L is the Cholesky factor of X X', with pivots, which leaves out rows
that follow from others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from gnomon.contract import Data
from gnomon.engine.sums import ArraySource
from gnomon.engine.threads import one_blas_thread
from gnomon.linear.design import is_sparse
from gnomon.linear.solve import EPS
from gnomon.table.encode import Columns

BLOCK_CELLS = 2**20  # judgement: of a block of columns in float64, eight megabytes
# Passes of L-BFGS over the rows, times how much longer a number takes in a product with few columns
# than in one of all rows; measured on 300 rows of 1,000 columns, 2 to 15 classes.
PASSES = 40


def has_fewer_rows(data: Data) -> bool:
    """Whether these are dense rows, fewer than columns."""
    return data.n_rows < data.n_columns and not is_sparse(data) and not sp.issparse(data.rows)


def shorter_rows_pay(n_rows: int, n_columns: int, n_equations: int) -> bool:
    """Whether passes of L-BFGS save more in shorter rows than the products of all rows cost."""
    return PASSES * n_equations * (n_columns - n_rows) > n_rows * n_columns


@dataclass(frozen=True)
class RowSpace:
    """The span of the rows of a table, about their mean where there is an intercept.

    Attributes
    ----------
    data : Data
        The rows in orthonormal coordinates of their span, with their target and weights.
    rows : ndarray of shape (rank, n_columns)
        The rows that the others follow from.
    location : ndarray of shape (n_columns,)
        What is taken off them first.
    triangle : ndarray of shape (rank, rank)
        Their coordinates, lower triangular.
    """

    data: Data
    rows: np.ndarray
    location: np.ndarray
    triangle: np.ndarray

    @classmethod
    def of(cls, data: Data, intercept: bool) -> RowSpace:
        """Of rows in memory; those of a stream are gathered, as they are fewer than columns."""
        rows, n = data.rows, data.n_rows
        location = np.zeros(data.n_columns)
        if intercept:
            location = np.asarray(rows.mean(axis=0, dtype=np.float64))
        products = np.zeros((n, n))
        with one_blas_thread():
            for part in blocks(n, data.n_columns):
                block = rows[:, part] - location[part]
                products += np.dot(block, block.T)
        tolerance = n * EPS * float(products.diagonal().max(initial=0.0))
        factor, order, rank, _ = dpstrf(products, tol=tolerance, lower=True, overwrite_a=True)
        rank, order = max(int(rank), 1), order - 1
        whole = np.tril(factor)[:, :rank]
        coordinates = np.empty_like(whole)
        coordinates[order] = whole
        weights = data.weights
        source = ArraySource(coordinates, data.y, weights)
        chosen = order[:rank]
        triangle = np.ascontiguousarray(whole[:rank])
        if not triangle[0, 0] > 0:  # no row differs from the others
            triangle = np.eye(1)
        return cls(
            Data(source, Columns.of_numbers(rank), data.kept, factors=data.factors),
            np.asarray(rows[chosen]),
            location,
            triangle,
        )

    def coefficients(self, inside: np.ndarray) -> np.ndarray:
        """Coefficients (or a slope) of the columns, from those of the coordinates (k, rank)."""
        shares = solve_triangular(self.triangle, inside.T, lower=True, trans=1).T
        whole = np.empty((len(inside), self.rows.shape[1]))
        total = shares.sum(axis=1)[:, None]
        with one_blas_thread():
            for part in blocks(len(self.rows), self.rows.shape[1]):
                whole[:, part] = np.dot(shares, self.rows[:, part].astype(np.float64))
        return whole - total * self.location


def blocks(n_rows: int, n_columns: int) -> list[slice]:
    """Columns, so many at once that their rows in float64 are small."""
    width = max(BLOCK_CELLS // max(n_rows, 1), 64)
    return [slice(begin, begin + width) for begin in range(0, n_columns, width)]
