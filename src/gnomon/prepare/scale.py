"""Scaling filters: standardise, map to a range, round to whole numbers on the way back."""

from __future__ import annotations

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import FLAG, whole
from gnomon.engine.registry import method
from gnomon.prepare.base import COLUMNS, NumberFilter, weighted_mean
from gnomon.table.kinds import Kind

SAME = 10 * np.finfo(np.float64).eps


@method(
    task="filter",
    texts="000a 1.2.1 · 000b 8.1.1 · 000c 16.2 · 004 4.7",
    use="Before methods that compare columns: distances, principal components, gradient descent.",
    avoid="Columns that are already in one unit (all money, all grey levels); trees.",
    peers=("sklearn.preprocessing.StandardScaler",),
)
class Standardize(NumberFilter):
    """Number columns to mean zero and standard deviation one: x' = (x - mean) / sd.

    Use it before methods that compare columns (distances, principal components, gradient
    descent): a column with a large scale would dominate them. Do not use it where all columns are
    in one unit already (000b 8.1.1: all money), as it would weigh them by their rarity, nor for
    trees, which do not care. To take off the mean "usually makes little difference" (000a); the
    division is what matters.

    Texts: 000a 1.2.1, 000b 8.1.1, 000c 16.2, 004 4.7. The mean and deviation are those of the
    training rows. A constant column becomes zero and comes back as it was. Missing cells stay
    missing and are not counted.

    Parameters
    ----------
    with_mean : bool, default=True
        Whether to take off the mean.
    with_std : bool, default=True
        Whether to divide by the standard deviation.
    ddof : {0, 1}, default=0
        Subtracted from the number of rows in the divisor of the variance.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    mean_ : ndarray of shape (n_columns,)
        Mean of each column concerned.
    scale_ : ndarray of shape (n_columns,)
        What each is divided by; 1 for a constant column.
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
    >>> from gnomon.prepare import Standardize
    >>> Standardize().fit_transform([[1.0], [3.0]])
    array([[-1.],
           [ 1.]])
    """

    natively = Takes(missing=True)
    _parameter_constraints = {
        "with_mean": FLAG,
        "with_std": FLAG,
        "ddof": [whole(0, 1)],
        "columns": COLUMNS,
    }

    def __init__(self, *, with_mean=True, with_std=True, ddof=0, columns=None):
        self.with_mean = with_mean
        self.with_std = with_std
        self.ddof = ddof
        self.columns = columns

    def _fit_block(self, block, weights):
        mean = weighted_mean(block, weights)
        weights = np.ones(len(block)) if weights is None else weights
        deviations = block - mean
        known = ~np.isnan(deviations)
        deviations[~known] = 0.0
        mass = weights @ known - self.ddof
        squares = weights @ np.square(deviations, out=deviations)
        spread = np.sqrt(squares / np.where(mass > 0, mass, 1.0))
        spread[(spread <= SAME * np.abs(mean)) | (mass <= 0)] = 1.0
        self.mean_ = mean if self.with_mean else np.zeros_like(mean)
        self.scale_ = spread if self.with_std else np.ones_like(spread)

    def _forward(self, block):
        return (block - self.mean_) / self.scale_

    def _backward(self, block):
        return block * self.scale_ + self.mean_


@method(
    task="filter",
    texts="003 2.1.9.3 · 004 4.7, 12.2",
    use="Where a method wants inputs or targets in a fixed range ([-1, 1] for tanh outputs).",
    avoid="Columns with outliers: one far value squeezes all others together.",
    peers=("sklearn.preprocessing.MinMaxScaler",),
)
class ScaleRange(NumberFilter):
    """Number columns from [a, b] to [low, high]: x' = (x-a)/(b-a) (high-low) + low.

    Use it where a method wants a fixed range (labels in [-1, 1] for a tanh output). Not where a
    column has outliers: one far value squeezes all others together. Later values beyond [a, b]
    leave the range.

    Texts: 003 2.1.9.3, 004 4.7. The texts do not say what becomes of a constant column (b = a):
    it goes to the low end and comes back as it was.

    Parameters
    ----------
    feature_range : tuple of two float, default=(0.0, 1.0)
        Where the least and the greatest value go.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    least_ : ndarray of shape (n_columns,)
        The least value a of each column concerned.
    greatest_ : ndarray of shape (n_columns,)
        The greatest value b.
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
    >>> from gnomon.prepare import ScaleRange
    >>> ScaleRange((-1, 1)).fit_transform([[2.0], [3.0], [4.0]]).ravel()
    array([-1.,  0.,  1.])
    """

    natively = Takes(missing=True)
    _parameter_constraints = {
        "feature_range": [tuple],
        "columns": COLUMNS,
    }

    def __init__(self, feature_range=(0.0, 1.0), *, columns=None):
        self.feature_range = feature_range
        self.columns = columns

    def _fit_block(self, block, weights):
        low, high = self.feature_range
        if not (low < high and np.isfinite(high - low)):
            raise DataError(f"feature_range={self.feature_range!r} must rise")
        known = ~np.isnan(block)
        empty = ~known.any(axis=0)
        self.least_ = np.where(empty, 0.0, np.min(block, axis=0, where=known, initial=np.inf))
        self.greatest_ = np.where(empty, 0.0, np.max(block, axis=0, where=known, initial=-np.inf))

    def _spread(self) -> np.ndarray:
        spread = self.greatest_ - self.least_
        return np.where(spread > 0, spread, 1.0)

    def _forward(self, block):
        low, high = self.feature_range
        return (block - self.least_) / self._spread() * (high - low) + low

    def _backward(self, block):
        low, high = self.feature_range
        return (block - low) / (high - low) * self._spread() + self.least_


@method(
    task="filter",
    texts="003 2.1.5",
    use="Around a target of whole numbers: learn it as real, round what is predicted.",
    avoid="Counts where a fraction is the right answer (an expected number).",
)
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
    >>> from gnomon.prepare import RoundToInteger
    >>> RoundToInteger(clip=True).fit([[0], [9]]).inverse_transform([[3.7], [9.6]]).ravel()
    array([4., 9.])
    """

    natively = Takes(missing=True)
    _kinds = (Kind.INTEGER,)
    _any_array = True
    _parameter_constraints = {"clip": FLAG, "columns": COLUMNS}

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
