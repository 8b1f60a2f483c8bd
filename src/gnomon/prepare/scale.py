"""Scaling filters: standardize, map to a range, round to whole numbers on the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing

from gnomon.contract.docstrings import shared_attributes
from gnomon.contract.inert import without_effect
from gnomon.contract.intake.arrays import FLOATS, is_plain, squares_are_small
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.sums import read_only_ones, rows_per_chunk
from gnomon.engine.threads import one_blas_thread
from gnomon.prepare.base import COLUMNS, NumberFilter
from gnomon.prepare.wrapped import BatchScaler, Unweighted
from gnomon.table.kinds import Kind

EPS = np.finfo(np.float64).eps
SAME = 10 * EPS
# Texts of attributes that classes here share, for their docstrings.
SCALER_ATTRIBUTES = """\
n_samples_seen_ : int
    Rows that were counted.
positions_ : ndarray of int
    Positions of the columns concerned.
kinds_ : list of str
    Kinds of all columns seen in ``fit``.
n_features_in_ : int
    Number of columns seen in ``fit``.
feature_names_in_ : ndarray of str
    Their names, where they had any.
"""


def refuse_partly_missing(scaler: Any, *names: str) -> None:
    """Raise where a file lacks some statistics of a column: one without values lacks all."""
    known = [np.isnan(a) for name in names if (a := getattr(scaler, name, None)) is not None]
    if any((each != known[0]).any() for each in known):
        raise ValueError(
            f"a {type(scaler).__name__} whose {', '.join(names)} are missing in different columns"
        )


@method(
    task="filter",
    texts="000a 1.2.1 · 000b 8.1.1 · 000c 16.2 · 004 4.7",
    use="Before methods that compare columns: distances, principal components, gradient descent.",
    avoid="Columns that are already in one unit (all money, all gray levels); trees.",
    peers=("sklearn.preprocessing.StandardScaler",),
    on="scikit-learn",
    synonyms=("standardize", "z-score"),
)
@without_effect("copy")
@shared_attributes(SCALER_ATTRIBUTES)
class StandardScaler(BatchScaler):
    """Number columns to mean zero and standard deviation one: x' = (x - mean) / sd.

    Use it before methods that compare columns (distances, principal components, gradient
    descent): a column with a large scale would dominate them. Do not use it where all columns are
    in one unit already (000b 8.1.1: all money), as it would weight them by their rarity, nor for
    trees, which do not depend on scale. Subtracting the mean "usually makes little difference"
    (000a); the division is what matters.

    Texts: 000a 1.2.1, 000b 8.1.1, 000c 16.2, 004 4.7. Mean and deviation are those of the training
    rows. A constant column becomes zero and comes back as it was. Missing cells stay missing and
    are not counted. On arrays it is scikit-learn's class.

    Parameters
    ----------
    with_mean : bool, default=True
        Whether to subtract the mean.
    with_std : bool, default=True
        Whether to divide by the standard deviation.
    ddof : {0, 1}, default=0
        Subtracted from the number of rows in the divisor of the variance.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    mean_ : ndarray of shape (n_columns,) or None
        Mean of each column concerned.
    var_ : ndarray of shape (n_columns,) or None
        Variance of each.
    scale_ : ndarray of shape (n_columns,) or None
        What each is divided by; 1 for a constant column.
    n_samples_seen_ : int or ndarray
        Rows that were counted, per column where some are missing.
    positions_, kinds_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from gnomon.prepare import StandardScaler
    >>> StandardScaler().fit_transform([[1.0], [3.0]])
    array([[-1.],
           [ 1.]])
    """

    _peer = preprocessing.StandardScaler
    _parameter_constraints = {
        "with_mean": FLAG,
        "with_std": FLAG,
        "ddof": [whole(0, 1)],
        "columns": COLUMNS,
    }
    _stored = {
        "mean_": Array("f8", ("n_mean",), missing=True),
        "scale_": Array("f8", ("n_mean",), missing=True) | None,
        "var_": Array("f8", ("n_mean",), low=0.0, missing=True) | None,
    }

    def __init__(self, *, copy=True, with_mean=True, with_std=True, ddof=0, columns=None):
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std
        self.ddof = ddof
        self.columns = columns

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Missing cells; sparse rows, whose zeros the subtraction would fill."""
        return Takes(missing=True, sparse=not self.with_mean)

    def _sparse_refusal(self):
        return ValueError(
            "Cannot center sparse matrices: pass `with_mean=False` instead, or X.toarray()"
        )

    def _check_loaded(self) -> None:
        refuse_partly_missing(self, "mean_", "var_", "scale_")

    def transform(self, X, copy=None):
        """Subtract the means and divide by the standard deviations.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        copy : bool, default=None
            Has no effect here: what is given is never written to.

        Returns
        -------
        X_new : array, sparse matrix, data frame or Table
            Of the kind that was given.
        """
        return super().transform(X)

    def inverse_transform(self, X, copy=None):
        """Multiply by the standard deviations and add the means.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
            As ``transform`` gives it.
        copy : bool, default=None
            Has no effect here: what is given is never written to.

        Returns
        -------
        X_original : array, sparse matrix, data frame or Table
            Of the kind that was given.
        """
        return super().inverse_transform(X)

    def _fitted(self, X, weights):
        weighted = weights is not None and (weights != 1).any()
        if weighted or not (self.with_mean or self.with_std):
            return super()._fitted(X, weights)
        rows = as_plain_floats(X)
        if not is_plain(self, rows, reset=True) or not squares_are_small(rows, self._largest):
            return super()._fitted(X, weights)
        scaler, n = self._unfitted(), np.int64(rows.shape[0])
        scaler.n_features_in_, scaler.n_samples_seen_ = rows.shape[1], n
        mean, squares = mean_and_squares(rows)
        scaler.mean_, scaler.var_, scaler.scale_ = mean, None, None
        if self.with_std:
            scaler.var_ = squares / n
            rounding = n * EPS * scaler.var_ + (n * mean * EPS) ** 2  # scikit-learn's bound of it
            scaler.scale_ = np.where(scaler.var_ <= rounding, 1.0, np.sqrt(scaler.var_))
        return scaler

    def _transformed(self, X):
        if not is_plain(self, X, reset=False) or not squares_are_small(X, self._largest):
            return super()._transformed(X)
        mean = self.mean_.astype(X.dtype, copy=False) if self.with_mean else None
        scale = self.scale_.astype(X.dtype, copy=False) if self.with_std else None
        result = np.empty_like(X)  # in the order of X, as scikit-learn's
        size = rows_per_chunk(X.shape[1])
        for start in range(0, len(X), size):  # a block stays in the processor's cache
            rows, out = X[start : start + size], result[start : start + size]
            if mean is not None:
                rows = np.subtract(rows, mean, out=out)
            out[...] = rows if scale is None else rows / scale
        return result

    def _keep_fitted(self, inner):
        super()._keep_fitted(inner)
        if self.ddof and self.with_std:
            n = np.asarray(self.n_samples_seen_, dtype=np.float64)
            self.var_ = self.var_ * n / np.maximum(n - self.ddof, 1)
            constant = self.scale_ == 1.0
            self.scale_ = np.where(constant & (self.var_ < SAME), 1.0, np.sqrt(self.var_))


@method(
    task="filter",
    texts="003 2.1.9.3 · 004 4.7, 12.2",
    use="Where a method wants inputs or targets in a fixed range ([-1, 1] for tanh outputs).",
    avoid="Columns with outliers: one far value squeezes all others together.",
    peers=("sklearn.preprocessing.MinMaxScaler",),
    on="scikit-learn",
    synonyms=("normalize to a range",),
)
@without_effect("copy")
@shared_attributes(SCALER_ATTRIBUTES)
class MinMaxScaler(BatchScaler):
    """Number columns from [a, b] to [low, high]: x' = (x-a)/(b-a) (high-low) + low.

    Use it where a method wants a fixed range (labels in [-1, 1] for a tanh output). Not where a
    column has outliers: one far value squeezes all others together. Later values beyond [a, b]
    leave the range, unless ``clip``.

    Texts: 003 2.1.9.3, 004 4.7. The texts do not say what becomes of a constant column (b = a):
    it goes to the low end and comes back as it was. On arrays it is scikit-learn's class.

    Parameters
    ----------
    feature_range : tuple of two float, default=(0, 1)
        Where the least and the greatest value go.
    clip : bool, default=False
        Whether to clip later values to the range.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    data_min_ : ndarray of shape (n_columns,)
        The least value a of each column concerned.
    data_max_ : ndarray of shape (n_columns,)
        The greatest value b.
    data_range_ : ndarray of shape (n_columns,)
        Their difference.
    scale_ : ndarray of shape (n_columns,)
        What each is multiplied by.
    min_ : ndarray of shape (n_columns,)
        What is added afterwards.
    n_samples_seen_, positions_, kinds_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from gnomon.prepare import MinMaxScaler
    >>> MinMaxScaler((-1, 1)).fit_transform([[2.0], [3.0], [4.0]]).ravel()
    array([-1.,  0.,  1.])
    """

    natively = Takes(missing=True)
    _peer = preprocessing.MinMaxScaler
    _parameter_constraints = {
        "feature_range": [tuple],
        "clip": FLAG,
        "columns": COLUMNS,
    }
    _stored = {
        "data_max_": Array("f", ("n_data_max",), missing=True),
        "data_min_": Array("f", ("n_data_max",), missing=True),
        "data_range_": Array("f", ("n_data_max",), missing=True),
        "min_": Array("f", ("n_data_max",), missing=True),
        "scale_": Array("f", ("n_data_max",), low=0.0, missing=True),
    }

    def __init__(self, feature_range=(0, 1), *, copy=True, clip=False, columns=None):
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip
        self.columns = columns

    def _check_loaded(self):
        """Files of version 0.1 hold the least and the greatest values only."""
        if "least_" in vars(self):
            low, high = self.feature_range
            self.data_min_, self.data_max_ = vars(self).pop("least_"), vars(self).pop("greatest_")
            self.data_range_ = self.data_max_ - self.data_min_
            self.scale_ = (high - low) / np.where(self.data_range_ > 0, self.data_range_, 1.0)
            self.min_ = low - self.data_min_ * self.scale_
        refuse_partly_missing(self, "data_min_", "data_max_", "data_range_", "min_", "scale_")


@method(
    task="filter",
    texts="004 4.7",
    use="For sparse rows, and columns that must keep their zeros.",
    avoid="Columns with outliers: one far value squeezes all others together.",
    peers=("sklearn.preprocessing.MaxAbsScaler",),
    on="scikit-learn",
)
@without_effect("copy")
@shared_attributes(SCALER_ATTRIBUTES)
class MaxAbsScaler(BatchScaler):
    """Number columns divided by their largest absolute value, so that zeros stay zeros.

    Use it for sparse rows. Not where a column has outliers: one far value squeezes all others.

    Texts: 004 4.7 (scaling to a range). On arrays it is scikit-learn's class.

    Parameters
    ----------
    clip : bool, default=False
        Whether to clip later values to [-1, 1].
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    max_abs_ : ndarray of shape (n_columns,)
        The largest absolute value of each column concerned.
    scale_ : ndarray of shape (n_columns,)
        What each is divided by; 1 for a column of zeros.
    n_samples_seen_, positions_, kinds_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from gnomon.prepare import MaxAbsScaler
    >>> MaxAbsScaler().fit_transform([[0.0], [-4.0], [2.0]]).ravel()
    array([ 0. , -1. ,  0.5])
    """

    natively = Takes(missing=True, sparse=True)
    _peer = preprocessing.MaxAbsScaler
    _parameter_constraints = {"clip": FLAG, "columns": COLUMNS}
    _stored = {
        "max_abs_": Array("f", ("n_max_abs",), missing=True),
        "scale_": Array("f", ("n_max_abs",), missing=True),
    }

    def __init__(self, *, copy=True, clip=False, columns=None):
        self.copy = copy
        self.clip = clip
        self.columns = columns

    def _check_loaded(self) -> None:
        refuse_partly_missing(self, "max_abs_", "scale_")


@method(
    task="filter",
    texts="000a 1.2.1 · 004 4.7",
    use="Before methods that compare columns, where some columns have outliers.",
    avoid="Columns of mostly one value, whose quartiles coincide.",
    peers=("sklearn.preprocessing.RobustScaler",),
    on="scikit-learn",
)
@without_effect("copy")
@shared_attributes(SCALER_ATTRIBUTES)
class RobustScaler(Unweighted):
    """Number columns minus their median, divided by their interquartile range.

    Use it in place of `StandardScaler` where columns have outliers, which move neither the median
    nor the quartiles. Not for columns of mostly one value.

    Texts: 000a 1.2.1, 004 4.7 (scaling); the quartiles are scikit-learn's choice. On arrays it is
    scikit-learn's class.

    Parameters
    ----------
    with_centering : bool, default=True
        Whether to subtract the median.
    with_scaling : bool, default=True
        Whether to divide by the range between the quantiles.
    quantile_range : tuple of two float, default=(25.0, 75.0)
        The quantiles, in percent.
    unit_variance : bool, default=False
        Whether to scale so that normally distributed columns get variance one.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    center_ : ndarray of shape (n_columns,) or None
        Median of each column concerned.
    scale_ : ndarray of shape (n_columns,) or None
        What each is divided by.
    positions_, kinds_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from gnomon.prepare import RobustScaler
    >>> RobustScaler().fit_transform([[0.0], [1.0], [2.0], [3.0], [1000.0]]).ravel()
    array([ -1. ,  -0.5,   0. ,   0.5, 499. ])
    """

    _peer = preprocessing.RobustScaler
    _parameter_constraints = {
        "with_centering": FLAG,
        "with_scaling": FLAG,
        "quantile_range": [tuple],
        "unit_variance": FLAG,
        "columns": COLUMNS,
    }
    _stored = {
        "center_": Array("f", ("n_center",), missing=True) | None,
        "scale_": Array("f8", ("n_center",), missing=True) | None,
    }

    def __init__(
        self,
        *,
        with_centering=True,
        with_scaling=True,
        quantile_range=(25.0, 75.0),
        copy=True,
        unit_variance=False,
        columns=None,
    ):
        self.with_centering = with_centering
        self.with_scaling = with_scaling
        self.quantile_range = quantile_range
        self.copy = copy
        self.unit_variance = unit_variance
        self.columns = columns

    @property
    def natively(self) -> Takes:  # type: ignore[override]
        """Missing cells; sparse rows, whose zeros the subtraction would fill."""
        return Takes(missing=True, sparse=not self.with_centering)

    def _sparse_refusal(self):
        return ValueError(
            "Cannot center sparse matrices: use `with_centering=False` instead, or X.toarray()"
        )

    def _check_loaded(self) -> None:
        refuse_partly_missing(self, "center_", "scale_")


@method(
    task="filter",
    texts="003 2.1.5",
    use="Around a target of whole numbers: learn it as real, round what is predicted.",
    avoid="Counts where a fraction is the right answer (an expected number).",
)
@shared_attributes(SCALER_ATTRIBUTES)
class RoundToInteger(NumberFilter):
    """Whole numbers are treated as real ones, and rounded on the way back.

    Use it on the label side of a `FilteredLearner`: the learner sees real numbers, the caller
    gets whole ones. Not where a fraction is the right answer (an expected count). ``transform``
    changes nothing. Halves are rounded to the even neighbour.

    Texts: 003 2.1.5.

    Parameters
    ----------
    clip : bool, default=False
        Whether to keep what comes back within the range seen in training.
    columns : list of str or int, or None, default=None
        Columns to round; None for all columns of whole numbers of a table, and all of an array.

    Attributes
    ----------
    least_ : ndarray of shape (n_columns,)
        The least value of each column concerned.
    greatest_ : ndarray of shape (n_columns,)
        The greatest value.
    positions_, kinds_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from gnomon.prepare import RoundToInteger
    >>> RoundToInteger(clip=True).fit([[0], [9]]).inverse_transform([[3.7], [9.6]]).ravel()
    array([4., 9.])
    """

    natively = Takes(missing=True)
    _kinds = (Kind.INTEGER,)
    _any_array = True
    _parameter_constraints = {"clip": FLAG, "columns": COLUMNS}
    _stored = {
        "greatest_": Array("f8", ("n_greatest",), finite=False),
        "least_": Array("f8", ("n_greatest",), finite=False),
    }

    def __init__(self, *, clip=False, columns=None):
        self.clip = clip
        self.columns = columns

    def _fit_block(self, block, weights):
        known = ~np.isnan(block)
        self.least_ = np.min(block, axis=0, where=known, initial=np.inf)
        self.greatest_ = np.max(block, axis=0, where=known, initial=-np.inf)

    def _forward(self, block):
        return block

    def _backward(self, block):
        rounded = np.rint(block)
        if not self.clip:
            return rounded
        return np.where(np.isnan(rounded), rounded, np.clip(rounded, self.least_, self.greatest_))


def as_plain_floats(X: Any) -> Any:
    """Numbers of any type as a plain array of floats, so that the type changes no bit of a sum.

    Other things, and what is no array of numbers, as they are.
    """
    if sp.issparse(X) or (type(X) is np.ndarray and X.dtype in FLOATS):
        return X
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.dtype.kind not in "biufO":
        return X
    if rows.dtype in FLOATS:
        return rows
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError):
        return X


def mean_and_squares(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sum of squares about it, of each column of finite floats of either order.

    Two passes over blocks of rows that stay in the processor's cache: threads would wait for
    memory, and whole copies (as in scikit-learn) leave the cache three times.
    """
    n, size = len(X), rows_per_chunk(X.shape[1])
    ones = read_only_ones(min(size, n))
    starts = range(0, n, size)
    total, rest, squares = np.zeros((3, X.shape[1]))
    with one_blas_thread():
        for start in starts:
            rows = np.ascontiguousarray(X[start : start + size], dtype=np.float64)
            total += ones[: len(rows)] @ rows
        mean = total / n
        for start in starts:
            # in one order, so that sums do not depend on the order of X
            about = np.ascontiguousarray(X[start : start + size]) - mean
            rest += ones[: len(about)] @ about
            squares += np.einsum("ij,ij->j", about, about)
    # what rounding left of the mean is known by now
    return mean + rest / n, np.maximum(squares - rest**2 / n, 0.0)
