"""Rows of a chunk as the columns that a linear model multiplies: shifted, dense, constant last."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import check_cv

from gnomon.contract import Data
from gnomon.contract.coefficients import dense
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.products import inner
from gnomon.engine.sums import Chunk, read_only_ones
from gnomon.linear.solve import EPS

# Judgement: d^2 sums of a dense table stay small; wider sparse ones are taken as is.
MOST_DENSE_COLUMNS = 200
LEAST_VARIATION = 1e-120  # squares of smaller deviations are subnormal or near it
LARGEST = 1e50  # fourth powers of such numbers can be computed with


def first_means(data: Data) -> np.ndarray:
    """Weighted means of the first chunk's columns: near enough to the middle of the data.

    Shifting by them keeps products of columns with large offsets from cancelling.
    """
    chunk = next(iter(data.source.chunks()))
    weights = chunk.weights / max(chunk.weights.sum(), np.finfo(np.float64).tiny)
    return np.asarray(inner(chunk.rows, weights))


def dealt_folds(data: Data, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """The fold of every row; equal rows are in one, so that weights are repetitions.

    All rows are in fold 0 where they are all equal.
    """
    rows, y = data.rows, data.y
    order = canonical_order(rows, y)
    gaps = y[order][1:] != y[order][:-1]
    if sp.issparse(rows):
        rows = sp.csr_array(rows)
        gaps |= np.asarray(abs(rows[order[1:]] - rows[order[:-1]]).sum(axis=1)).ravel() != 0
    else:
        for j in range(rows.shape[1]):
            column = rows[:, j][order]
            gaps |= column[1:] != column[:-1]
    groups = np.concatenate([[0], np.cumsum(gaps)])
    n_groups = int(groups[-1]) + 1
    parts = np.empty(len(order), dtype=np.int64)
    parts[order] = (rng.permutation(n_groups) % n_folds)[groups]
    return parts


def folds_of(data: Data, cv: Any, rng: np.random.Generator) -> np.ndarray:
    """The fold of every row, by a number of folds or by a splitter or splits as in scikit-learn."""
    if isinstance(cv, (int, np.integer)):
        return dealt_folds(data, int(cv), rng)
    n = data.n_rows if data.kept is None else len(data.kept)
    parts = np.full(n, -1, dtype=np.int64)
    for k, (train, test) in enumerate(check_cv(cv).split(np.empty((n, 1)))):
        if (parts[test] >= 0).any() or len(train) + len(test) != n:
            raise DataError("cv must be a partition: every row is in exactly one test fold")
        parts[test] = k
    if (parts < 0).any():
        raise DataError("cv must be a partition: some rows are in no test fold")
    return parts if data.kept is None else parts[data.kept]


def count_of_folds(cv: Any) -> int:
    """How many folds a parameter ``cv`` stands for."""
    return int(cv) if isinstance(cv, (int, np.integer)) else check_cv(cv).get_n_splits()


def is_sparse(data: Data) -> bool:
    """Whether chunks come as sparse rows."""
    rows = getattr(data.source, "rows", None)
    return sp.issparse(rows)


def shifted_into(out: np.ndarray, rows, shift: np.ndarray) -> None:
    """Write rows - shift to `out`, which may be part of a wider array."""
    if sp.issparse(rows):
        out[:] = rows.toarray()
        out -= shift
    else:
        np.subtract(rows, shift, out=out)


def with_constant(chunk: Chunk, shift: np.ndarray, constant: bool) -> np.ndarray:
    """Shifted rows and, where there is an intercept, a last column of ones."""
    return Design(chunk.rows, shift, constant).times(read_only_ones(chunk.rows.shape[0]))


class Design(NamedTuple):
    """What `with_constant` writes, multiplied row by row without being written first.

    A kernel writes it: NumPy takes as long for a row of few columns as for one of many.
    """

    rows: Any
    shift: np.ndarray
    constant: bool

    @property
    def width(self) -> int:
        return len(self.shift) + self.constant

    def times(self, factors: np.ndarray) -> np.ndarray:
        """Each row times its factor, shape (n, width)."""
        out = np.empty((self.rows.shape[0], self.width))
        if sp.issparse(self.rows):
            shifted_into(out[:, : len(self.shift)], self.rows, self.shift)
            out[:, len(self.shift) :] = 1.0
            out *= factors[:, None]
        else:
            shifted_times(self.rows, self.shift, factors, out)
        return out


@kernel("f8[:,:]", "f8[:]", "f8[:]", "out f8[:,:]")
def shifted_times(rows, shift, factors, out):
    """Rows (n, p) minus shift (p,), times factors (n,); a further column of `out` is the factor."""
    n, p = rows.shape
    for i in range(n):
        factor = factors[i]
        for j in range(p):
            out[i, j] = (rows[i, j] - shift[j]) * factor
        if out.shape[1] > p:
            out[i, p] = factor


def decision(rows, coefficients: Any, intercepts) -> np.ndarray:
    """``rows @ coefficients.T + intercepts`` for dense or sparse rows and coefficients."""
    return np.asarray(rows @ dense(coefficients).T) + intercepts


def fractional_weights(weights: np.ndarray) -> int:
    """How many weights are not whole numbers."""
    return int(np.count_nonzero(weights != np.rint(weights)))


def refuse_tiny(variation: np.ndarray, names: list[str], least: float = LEAST_VARIATION) -> None:
    """Refuse columns whose variation (a root of summed squares) is lost when it is squared."""
    tiny = np.flatnonzero((variation > 0) & (variation < least))
    if len(tiny):
        raise DataError(
            f"column {names[tiny[0]]!r} varies by no more than {variation[tiny[0]]:.2g}, which "
            "is too little to compute with; multiply it by a large number, or leave it out"
        )


class Centered(NamedTuple):
    """Rows about their weighted mean, with columns that do not vary set to zero.

    Sparse rows stay where they are: about zero.
    """

    rows: Any
    location: np.ndarray


def centered_rows(data: Data, intercept: bool, names: list[str]) -> Centered:
    """A copy of the rows, dense ones shifted where there is a constant to take up the shift."""
    weights = data.weight_array
    if sp.issparse(data.rows):
        return Centered(varying(data.rows, weights, intercept, names), np.zeros(data.n_columns))
    rows = np.array(data.rows, dtype=np.float64, order="C")
    location = np.zeros(rows.shape[1])
    if intercept:
        location = weights @ rows / weights.sum()
        rows -= location
    variation = np.sqrt(np.einsum("ij,ij,i->j", rows, rows, weights))
    idle = variation <= 32 * EPS * np.abs(location) * np.sqrt(weights.sum())
    rows[:, idle] = 0.0
    refuse_tiny(np.where(idle, 0.0, variation), names, 1 / LARGEST)
    return Centered(rows, location)


def varying(rows, weights: np.ndarray, intercept: bool, names: list[str]) -> sp.csr_array:
    """Sparse rows, with columns that do not vary set to zero."""
    rows = sp.csr_array(rows, dtype=np.float64)
    squares = rows.power(2).T @ weights
    variation = squares
    if intercept:
        variation = squares - (rows.T @ weights) ** 2 / weights.sum()
    used = variation > 64 * EPS * squares
    refuse_tiny(np.sqrt(np.where(used, variation, 0.0)), names, 1 / LARGEST)
    return rows if used.all() else sp.csr_array(rows @ sp.diags_array(used.astype(np.float64)))
