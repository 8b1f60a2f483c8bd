"""Numbers to levels: buckets learnt from the data, or thresholds that are given."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything, Array, ListOf
from gnomon.prepare.base import COLUMNS, Change, ColumnFilter, NumberFilter
from gnomon.table.codes import as_numbers


@method(
    task="filter",
    texts="003 2.1.9.2",
    use="To give numbers to a method that takes levels only, or to flatten an odd distribution.",
    avoid="Methods that take numbers: what lies within a bucket is lost.",
    peers=("sklearn.preprocessing.KBinsDiscretizer",),
)
class Discretize(NumberFilter):
    """Number columns to bucket numbers 0, 1, 2 ...; back to the centres of the buckets.

    "width" cuts the range seen in training in buckets of equal width (some may be empty),
    "quantile" in buckets that hold about equally many training rows. ``n_bins="sqrt"`` is
    floor(sqrt(n)) buckets, so that there are about as many buckets as rows in a bucket. Later
    values beyond the range go to the end buckets. Missing cells stay missing.

    Use it to give numbers to a method that takes levels only. Not for methods that take numbers:
    what lies within a bucket is lost, and the way back gives its centre.

    Texts: 003 2.1.9.2. The text has equal width only. n counts rows by their weights.

    Parameters
    ----------
    n_bins : int or "sqrt", default="sqrt"
        Number of buckets; "quantile" makes fewer where values are tied.
    strategy : {"width", "quantile"}, default="width"
        How the buckets are cut.
    columns : list of str or int, or None, default=None
        Columns to change; None for all number columns.

    Attributes
    ----------
    edges_ : list of ndarray
        Borders of the buckets, per column concerned; one more than buckets.
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
    >>> from gnomon.prepare import Discretize
    >>> buckets = Discretize(n_bins=2).fit([[0.0], [1.0], [4.0]])
    >>> buckets.transform([[1.5], [2.5]]).ravel()
    array([0., 1.])
    >>> buckets.inverse_transform([[0.0], [1.0]]).ravel()
    array([1., 3.])
    """

    natively = Takes(missing=True)
    _parameter_constraints = {
        "n_bins": [whole(1), StrOptions({"sqrt"})],
        "strategy": [StrOptions({"width", "quantile"})],
        "columns": COLUMNS,
    }
    _stored = {
        "edges_": ListOf(Array("f8", (None,)), "n_positions"),
    }

    def __init__(self, n_bins="sqrt", *, strategy="width", columns=None):
        self.n_bins = n_bins
        self.strategy = strategy
        self.columns = columns

    def _fit_block(self, block, weights):
        weights = np.ones(len(block)) if weights is None else weights
        cut = equal_widths if self.strategy == "width" else equal_masses
        self.edges_ = []
        for column in block.T:
            known = ~np.isnan(column)
            mass = weights[known]
            self.edges_.append(cut(column[known], mass, self._buckets(float(mass.sum()))))

    def _buckets(self, mass: float) -> int:
        if self.n_bins == "sqrt":
            return max(int(np.floor(np.sqrt(mass) + 1e-9)), 1)
        return self.n_bins

    def _forward(self, block):
        levels = np.empty_like(block)
        for place, edges in enumerate(self.edges_):
            found = np.searchsorted(edges[1:-1], block[:, place], side="right")
            levels[:, place] = np.where(np.isnan(block[:, place]), np.nan, found)
        return levels

    def _backward(self, block):
        values = np.empty_like(block)
        for place, edges in enumerate(self.edges_):
            centers = np.append((edges[:-1] + edges[1:]) / 2, np.nan)
            missing = np.isnan(block[:, place])
            levels = np.rint(np.where(missing, 0, block[:, place])).astype(np.int64)
            levels = np.clip(levels, 0, len(edges) - 2)
            values[:, place] = centers[np.where(missing, -1, levels)]
        return values


def equal_widths(values: np.ndarray, weights: np.ndarray, buckets: int) -> np.ndarray:
    """Borders of buckets of one width; a single point where all values are the same."""
    if values.size == 0:
        return np.zeros(2)
    least, greatest = values.min(), values.max()
    return np.linspace(least, greatest, buckets + 1 if greatest > least else 2)


def equal_masses(values: np.ndarray, weights: np.ndarray, buckets: int) -> np.ndarray:
    """Borders of buckets of about one weight: where the cumulated weight passes i / buckets."""
    if values.size == 0:
        return np.zeros(2)
    distinct, places = np.unique(values, return_inverse=True)
    if len(distinct) == 1:
        return np.repeat(distinct, 2)
    line = np.cumsum(np.bincount(places, weights))
    marks = line[-1] * np.arange(1, buckets) / buckets
    below = np.searchsorted(line, marks * (1 - 1e-12), side="left")
    below = np.unique(below[below < len(distinct) - 1])
    inner = (distinct[below] + distinct[below + 1]) / 2
    return np.concatenate([distinct[:1], inner, distinct[-1:]])


@storable
class Levels(Change):
    """One column of numbers as the number (or the name) of the interval that each falls in."""

    _stored = {
        "labels": ListOf(Anything()) | None,
        "thresholds": Array("f8", (None,)),
    }

    def __init__(self, name: str, thresholds: np.ndarray, labels: list[str] | None):
        super().__init__(name)
        self.thresholds = thresholds
        self.labels = labels

    def look(self, column, weights):
        as_numbers(column, self.name)

    def forward(self, column):
        values = as_numbers(column, self.name)
        missing = np.isnan(values)
        levels = np.searchsorted(self.thresholds, values, side="left")
        if self.labels is None:
            return [np.where(missing, np.nan, levels)]
        codes = pa.array(np.where(missing, 0, levels).astype(np.int32), mask=missing)
        return [pa.DictionaryArray.from_arrays(codes, pa.array(self.labels, pa.string()))]


@method(
    task="filter",
    texts="000a 1.3, exercises 1.2 and 1.3, worked example 2.1",
    use="When the cuts are known beforehand: pass or fail, none or some, age groups.",
    avoid="When the cuts must be learnt (Discretize), or the number itself can be used.",
    peers=("pandas.cut",),
)
class Quantize(ColumnFilter):
    """Number columns to levels: how many of the given thresholds a value exceeds.

    ``x > 12`` against ``x <= 12`` is ``Quantize([12])``: level 1 and level 0. Use it when the
    cuts are known beforehand, for features or (in a `FilteredLearner`) for making a target of
    classes. Use `Discretize` when they must be learnt. There is no way back: a level does not say
    which value it came from. Missing cells stay missing.

    Texts: 000a 1.3, exercises 1.2 (G3 > 12) and 1.3 (num > 0), worked example 2.1.

    Parameters
    ----------
    thresholds : array-like of float, or dict of column to them, default=(0.0,)
        Rising numbers, for all columns concerned or for each.
    labels : list of str or None, default=None
        Names of the levels, one more than thresholds; None for the numbers 0, 1, 2 ...
    columns : list of str or int, or None, default=None
        Columns to change; None for those that ``thresholds`` names, or all number columns.

    Attributes
    ----------
    codes_ : list
        How each column concerned is changed.
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
    >>> from gnomon.prepare import Quantize
    >>> Quantize([12]).fit_transform([[11.0], [12.0], [13.0]]).ravel()
    array([0., 0., 1.])
    """

    natively = Takes(missing=True)
    _why_not = "a level does not say which value it came from"
    _parameter_constraints = {
        "thresholds": ["array-like", dict],
        "labels": ["array-like", None],
        "columns": COLUMNS,
    }

    def __init__(self, thresholds=(0.0,), *, labels=None, columns=None):
        self.thresholds = thresholds
        self.labels = labels
        self.columns = columns

    def _asked(self):
        if self.columns is None and isinstance(self.thresholds, dict):
            return list(self.thresholds)
        return super()._asked()

    def _code(self, column):
        given = self.thresholds
        if isinstance(given, dict):
            if column.name not in given:
                raise DataError(f"thresholds does not say where to cut column {column.name!r}")
            given = given[column.name]
        thresholds = np.atleast_1d(np.asarray(given, dtype=np.float64))
        if thresholds.ndim != 1 or not np.all(np.diff(thresholds) > 0):
            raise DataError(f"column {column.name!r}: thresholds must rise, not {given!r}")
        labels = None if self.labels is None else [str(label) for label in self.labels]
        if labels is not None and len(labels) != len(thresholds) + 1:
            raise DataError(
                f"{len(thresholds)} thresholds make {len(thresholds) + 1} levels; "
                f"labels has {len(labels)} names"
            )
        return Levels(column.name, thresholds, labels)
