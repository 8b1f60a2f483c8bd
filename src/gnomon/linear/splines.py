"""B-splines of each column, with scikit-learn's knots and rules beyond them.

Column x becomes B_1(x), ..., B_m(x): polynomials of one degree between neighbouring knots, each not
zero over degree + 1 neighbouring pieces, which add up to one between the outer knots. A linear
model of them is a smooth curve in x.

Texts: 002 "Feature maps" and 004 4.2 (bases in general; splines themselves are not in the texts).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Takes
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import memory_of_copies
from gnomon.engine.parameters import FLAG, JOBS, StrOptions, whole
from gnomon.engine.quantiles import repeated_quantiles
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, ListOf, Whole
from gnomon.linear.basis import Basis
from gnomon.linear.design import refuse_tiny


@method(
    task="filter",
    texts="002 feature maps · 004 4.2",
    use="To let a linear model follow a smooth curve of unknown shape, periodic ones included.",
    avoid="Relations with steps (trees); SplineBasis has natural splines and fits mixed tables.",
    peers=("sklearn.preprocessing.SplineTransformer",),
)
class SplineTransformer(Basis):
    """B-splines of each column: a smooth curve for a linear model to fit.

    Every column becomes n_knots + degree - 1 splines (n_knots - 1 with
    ``extrapolation="periodic"``). Use it where a relation is smooth and of unknown shape, or
    periodic; not for steps, nor far beyond the outer knots. `SplineBasis` has knots at distinct
    values, natural splines, and keeps columns of two values as they are.

    Texts: the basis functions of 002 "Feature maps" and 004 4.2.

    Parameters
    ----------
    n_knots : int, default=5
        Knots per column, the ends included; not used where knots are given.
    degree : int, default=3
        Degree of the pieces.
    knots : {"uniform", "quantile"} or array-like of shape (n_knots, n_columns), default="uniform"
        Evenly spaced, at quantiles of the rows, or as given.
    extrapolation : {"error", "constant", "linear", "continue", "periodic"}, default="constant"
        Beyond the outer knots: refuse, stay level, go on straight, go on with the outer
        polynomials, or repeat.
    include_bias : bool, default=True
        Whether the last spline of each column is kept; without it the splines of a column do not
        add up to a constant.
    order : {"C", "F"}, default="C"
        How the result is stored in memory: row by row or column by column.
    handle_missing : {"error", "zeros"}, default="error"
        Missing cells are refused, or all splines of their column are zero.
    sparse_output : bool, default=False
        Whether the result is a sparse matrix.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    knots_ : list of ndarray
        The knots of each column, degree of them beyond each end.
    bsplines_ : list of scipy.interpolate.BSpline
        The splines of each column.
    n_features_out_ : int
        Number of new columns.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    SplineBasis : Natural splines, and knots at distinct values.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import SplineTransformer
    >>> SplineTransformer(n_knots=3, degree=2).fit_transform(np.arange(3.0)[:, None])
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0.5, 0.5, 0. ],
           [0. , 0. , 0.5, 0.5]])
    """

    _parameter_constraints = {
        "n_knots": [whole(2)],
        "degree": [whole(0)],
        "knots": [StrOptions({"uniform", "quantile"}), "array-like"],
        "extrapolation": [StrOptions({"error", "constant", "linear", "continue", "periodic"})],
        "include_bias": FLAG,
        "order": [StrOptions({"C", "F"})],
        "handle_missing": [StrOptions({"error", "zeros"})],
        "sparse_output": FLAG,
        "n_jobs": JOBS,
    }
    _stored = {
        "knots_": ListOf(Array("f8", (None,)), "n_columns"),
        "n_features_out_": Whole(1),
    }

    def __init__(
        self,
        n_knots=5,
        degree=3,
        *,
        knots="uniform",
        extrapolation="constant",
        include_bias=True,
        order="C",
        handle_missing="error",
        sparse_output=False,
        n_jobs=None,
    ):
        self.n_knots = n_knots
        self.degree = degree
        self.knots = knots
        self.extrapolation = extrapolation
        self.include_bias = include_bias
        self.order = order
        self.handle_missing = handle_missing
        self.sparse_output = sparse_output
        self.n_jobs = n_jobs

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Missing cells where they have a meaning."""
        return Takes(missing=self.handle_missing == "zeros", float32=True)

    def _fit(self, data: Data) -> None:
        rows = np.asarray(data.rows, dtype=np.float64)
        if isinstance(self.knots, str):
            weights = data.weight_array
            there = np.where(np.isnan(rows), rows[:1], rows)
            refuse_tiny(np.nan_to_num(np.ptp(there, axis=0)), self._columns_in())
            base = np.array([self._placed(column, weights) for column in rows.T]).T
        else:
            base = self._given_knots(rows.shape[1])
        periodic = self.extrapolation == "periodic"
        if periodic and len(base) <= self.degree:
            raise DataError(
                "Periodic splines require degree < n_knots. Got n_knots="
                f"{len(base)} and degree={self.degree}"
            )
        extend = periodic_knots if periodic else extended_knots
        self.knots_ = [extend(column, int(self.degree)) for column in base.T]
        self.n_features_out_ = self._n_out()

    def _placed(self, column: np.ndarray, weights: np.ndarray) -> np.ndarray:
        there = ~np.isnan(column)
        if not there.any():
            return np.linspace(0.0, 1.0, self.n_knots)
        if self.knots == "uniform":
            return np.linspace(column[there].min(), column[there].max(), self.n_knots)
        return repeated_quantiles(
            column[there], weights[there], np.linspace(0.0, 1.0, self.n_knots)
        )

    def _given_knots(self, n_columns: int) -> np.ndarray:
        knots = np.asarray(self.knots, dtype=np.float64)
        if knots.ndim != 2 or len(knots) < 2:
            raise DataError("Number of knots, knots.shape[0], must be >= 2")
        if knots.shape[1] != n_columns:
            raise DataError(
                f"knots.shape[1] == n_features is violated: knots are of {knots.shape[1]} columns, "
                f"X has {n_columns}"
            )
        if not (np.diff(knots, axis=0) > 0).all():
            raise DataError("knots must be sorted without duplicates")
        return knots

    @property
    def bsplines_(self) -> list[BSpline]:
        """The splines of each column, all functions at once."""
        check_is_fitted(self)
        return [self._splines(knots) for knots in self.knots_]

    def _splines(self, knots: np.ndarray) -> BSpline:
        degree, n_splines = int(self.degree), self._n_splines(knots)
        weights = np.eye(n_splines)
        if self.extrapolation == "periodic":
            weights = np.concatenate([weights, weights[:degree]])
        goes_on = self.extrapolation in ("periodic", "continue")
        return BSpline.construct_fast(knots, weights, degree, extrapolate=goes_on)

    def _n_splines(self, knots: np.ndarray) -> int:
        periodic = self.extrapolation == "periodic"
        n_knots = len(knots) - 2 * int(self.degree)
        return n_knots - 1 if periodic else n_knots + int(self.degree) - 1

    def _n_out(self) -> int:
        dropped = 0 if self.include_bias else 1
        return sum(self._n_splines(knots) - dropped for knots in self.knots_)

    def transform(self, X) -> Any:
        """The splines of each column.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        splines : ndarray or csr_array of shape (n_samples, n_features_out_)
        """
        values = super().transform(X)
        if sp.issparse(values):
            return values
        return np.asfortranarray(values) if self.order == "F" else values

    def _map(self, rows) -> Any:
        parts = []
        for x, spline in zip(np.asarray(rows).T, self.bsplines_):
            values = self._values(x, spline)
            parts.append(values if self.include_bias else values[:, :-1])
        whole_values = np.hstack(parts)
        return sp.csr_array(whole_values) if self.sparse_output else whole_values

    def _values(self, x: np.ndarray, spline: BSpline) -> np.ndarray:
        """All splines of one column; of missing cells zeros."""
        missing = np.isnan(x)
        if missing.any():
            x = np.where(missing, spline.t[spline.k], x)
        values = self._beyond(x, spline)
        values[missing] = 0.0
        return values

    def _beyond(self, x: np.ndarray, spline: BSpline) -> np.ndarray:
        low, high = spline.t[spline.k], spline.t[len(spline.t) - spline.k - 1]
        if self.extrapolation == "periodic":
            return spline(low + (x - low) % (high - low))
        if self.extrapolation == "continue":
            return spline(x)
        inside = np.clip(x, low, high)
        if self.extrapolation == "error" and (inside != x).any():
            raise DataError(
                "X contains values beyond the limits of the knots; choose another extrapolation"
            )
        values = spline(inside)
        outside = np.flatnonzero(inside != x)
        if self.extrapolation == "linear" and spline.k > 0 and len(outside):
            slopes = spline(inside[outside], nu=1)
            values[outside] += (x - inside)[outside, None] * slopes
        return values

    def _names(self, names: list[str]) -> list[str]:
        dropped = 0 if self.include_bias else 1
        return [
            f"{name}_sp_{k}"
            for name, knots in zip(names, self.knots_)
            for k in range(self._n_splines(knots) - dropped)
        ]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return memory_of_copies(1, n_rows, n_columns)

    def _check_loaded(self) -> None:
        for knots in getattr(self, "knots_", []):
            if not np.isfinite(knots).all() or (np.diff(knots) < 0).any():
                raise ValueError("knots must be finite and rising")


def extended_knots(base: np.ndarray, degree: int) -> np.ndarray:
    """Knots with `degree` more at each end, as far apart as the outer ones."""
    low, high = base[1] - base[0], base[-1] - base[-2]
    steps = np.arange(1, degree + 1)
    return np.concatenate([base[0] - low * steps[::-1], base, base[-1] + high * steps])


def periodic_knots(base: np.ndarray, degree: int) -> np.ndarray:
    """Knots that go on beyond each end as they begin at the other."""
    period = base[-1] - base[0]
    before = base[len(base) - degree - 1 : -1] - period
    return np.concatenate([before, base, base[1 : degree + 1] + period])
