"""Models of p(x_j | class) for naive Bayes: one class of this file per family of densities.

A model stands for one or several columns. It learns in up to two steps: it *looks* at the rows
where the family needs to know something first (the values that occur, the range, for kernel
densities the rows themselves), then adds up *sums* per class, from which it estimates its
parameters. Missing cells (NaN) are left out of both, and add nothing to a row's log-density. A
class that has no known value in a column takes the estimate of all classes together, so that the
column says nothing for or against it.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.bayes.kernels import (
    FARTHEST,
    add_code_log_densities,
    add_normal_log_densities,
    class_moments,
    count_codes,
    kernel_log_densities,
)
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Flag, ListOf, Text, Whole

# Judgement: with more values of a column most counts are ones; it may be a number.
MOST_VALUES = 10_000
FEW_CLASSES = 16  # judgement: as a dense table so few indicators of classes cost little memory
# A mean so far from its shift, in variances, costs a variance three of its 16 digits.
LOST_DIGITS = 1e3
# Shared weights change a density by (1/32)^2 / 8 of a bump's peak at most: 1.2e-4.
STEPS_PER_BANDWIDTH = 32


class Smoothing(NamedTuple):
    """What estimates are smoothed by.

    Attributes
    ----------
    alpha : float
        Added to counts.
    variance : float
        Added to the variances of normal columns.
    """

    alpha: float
    variance: float


class ColumnModel:
    """Base of the families.

    Parameters
    ----------
    columns : ndarray of int
        Positions of the model's columns among those that the classifier sees.
    names : tuple of str
        Their names.

    Attributes
    ----------
    statistics : tuple of ndarray
        What the estimates are made of, per class; more rows can be added to it.
    """

    name: ClassVar[str]
    n_sums: ClassVar[int] = 0
    looks_first: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False
    _stored = {
        "columns": Array("i8", ("n_columns",), low=0),
        "names": ListOf(Text(), "n_columns", kind=tuple),
        "statistics": ListOf(Array("f8", (None, None)), kind=tuple),
    }

    def __init__(self, columns: np.ndarray, names: tuple[str, ...]):
        self.columns = columns
        self.names = names
        self.statistics: tuple[np.ndarray, ...] = ()

    def block(self, rows: Any) -> Any:
        """The model's columns of some rows; dense where the family needs it."""
        if len(self.columns) != rows.shape[1]:
            rows = rows[:, self.columns]
        if sp.issparse(rows):
            return rows if self.takes_sparse else rows.toarray()
        return np.ascontiguousarray(rows)

    def look(self, block, y: np.ndarray, weights: np.ndarray) -> Any:
        """What one chunk shows before the sums begin."""
        raise NotImplementedError

    def settled(self, seen: list) -> ColumnModel:
        """A model that has looked at all chunks."""
        raise NotImplementedError

    def sums(self, block, y: np.ndarray, weights: np.ndarray, n_classes: int) -> tuple:
        """Sums of one chunk."""
        return ()

    def with_total(self, total: tuple) -> ColumnModel:
        """A copy that holds the statistics of a total."""
        made = copy.copy(self)
        made.statistics = made.digested(total)
        return made

    def digested(self, total: tuple) -> tuple:
        return total

    def lost_precision(self) -> bool:
        """Whether the rows must be passed once more, now that more is known."""
        return False

    def joined(self, more: ColumnModel) -> ColumnModel:
        """A copy with the statistics of two sets of rows together."""
        made = copy.copy(self)
        made.statistics = tuple(a + b for a, b in zip(self.statistics, more.statistics))
        return made

    def estimate(self, smoothing: Smoothing) -> None:
        """Set the parameters from the statistics."""
        raise NotImplementedError

    def log_likelihood(self) -> float:
        """Of the training cells; terms that are the same for all classes are left out."""
        return 0.0

    def add_log_densities(self, block, joint: np.ndarray) -> None:
        """Add the log-density of each row in each class to joint (n, n_classes)."""
        raise NotImplementedError

    def terms(self, block, chosen: np.ndarray) -> np.ndarray:
        """The log-density of each known cell, 0 for missing ones, in one chosen class per row."""
        raise NotImplementedError

    def refuse_negative(self, values) -> None:
        """Counts below zero have no probability in this family."""
        stored = values.data if sp.issparse(values) else values
        if not stored.size or not np.nanmin(stored, initial=0.0) < 0:
            return
        if sp.issparse(values):
            lowest = values.nanmin(axis=0).toarray().ravel()
        else:
            lowest = np.fmin.reduce(values, axis=0)
        place = int(np.nanargmin(lowest))
        raise DataError(
            f"column {self.names[place]!r} holds {lowest[place]:g}, and the {self.name!r} model is "
            "for counts, zero or more: choose another model for this column (models={...})"
        )

    def require(self, fits: bool) -> None:
        """Refuse values from a file that do not belong together."""
        if not fits:
            raise ModelFileError(f"its {type(self).__name__} holds arrays that do not fit together")

    def _check_loaded(self) -> None:
        columns = self.columns
        self.require(
            isinstance(columns, np.ndarray)
            and columns.dtype.kind == "i"
            and columns.ndim == 1
            and len(columns) == len(self.names)
            and (len(columns) == 0 or columns.min() >= 0)
        )


@storable
class NormalColumns(ColumnModel):
    """Normal densities: mean and variance per class and column, by maximum likelihood.

    Moments are summed about a shift near each class's values, so that a mean of 1e8 with a spread
    of one loses nothing; batches are joined by the formula of Chan, Golub and LeVeque.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_classes, n_columns)
    """

    name = "normal"
    n_sums = 3
    _stored = {
        "mean": Array("f8", ("n_mean", "n_mean_1")),
        "shift": Array("f8", ("n_mean", "n_mean_1")),
        "variance": Array("f8", ("n_mean", "n_mean_1"), low=0.0),
    }

    def __init__(self, columns, names, shift):
        super().__init__(columns, names)
        self.shift = shift

    def sums(self, block, y, weights, n_classes):
        known, first, second = (np.zeros((n_classes, block.shape[1])) for _ in range(3))
        complete = not np.isnan(block.sum())
        class_moments(block, y, weights, self.shift, complete, known, first, second)
        if complete:
            known += np.bincount(y, weights, minlength=n_classes)[:, None]
        return known, first, second

    def digested(self, total):
        known, first, second = total
        offset = np.divide(first, known, out=np.zeros_like(first), where=known > 0)
        scatter = np.maximum(second - first * offset, 0.0)
        return known, self.shift + offset, scatter

    def lost_precision(self):
        known, mean, scatter = self.statistics
        off = np.abs(mean - self.shift)
        visible = off > np.sqrt(np.finfo(float).eps) * np.abs(mean)
        return bool((visible & (known * off**2 > LOST_DIGITS * scatter)).any())

    def recentered(self) -> NormalColumns:
        """The same model, to be summed about the means that were found."""
        known, mean, _ = self.statistics
        return NormalColumns(self.columns, self.names, np.where(known > 0, mean, self.shift))

    def joined(self, more):
        made = copy.copy(self)
        made.statistics = pooled(
            *(np.stack(pair) for pair in zip(self.statistics, more.statistics))
        )
        return made

    def largest_variance(self) -> float:
        """The largest variance of a column over all classes together."""
        known, _, scatter = pooled(*self.statistics)
        return float(np.divide(scatter, known, out=np.zeros_like(known), where=known > 0).max())

    def estimate(self, smoothing):
        known, mean, scatter = _filled_from_all(*self.statistics)
        variance = np.divide(scatter, known, out=np.ones_like(known), where=known > 0)
        variance += smoothing.variance
        constant = variance <= (4 * np.finfo(float).eps * mean) ** 2
        if smoothing.variance == 0 and constant.any():
            which = int(constant.any(axis=0).argmax())
            raise DataError(
                f"column {self.names[which]!r} has one value only in some class, where a normal "
                "density has no width: choose var_smoothing above 0, or another model for it"
            )
        self.mean, self.variance = mean, variance

    def log_likelihood(self):
        known, _, scatter = self.statistics
        terms = known * np.log(2 * np.pi * self.variance) + scatter / self.variance
        return float(-0.5 * terms.sum())

    def add_log_densities(self, block, joint):
        scales = 1.0 / np.sqrt(2.0 * self.variance)
        peaks = -0.5 * np.log(2 * np.pi * self.variance)
        add_normal_log_densities(block, self.mean, scales, peaks, joint)

    def terms(self, block, chosen):
        variance = self.variance[chosen]
        with np.errstate(over="ignore"):
            distance = (block - self.mean[chosen]) ** 2 / (2 * variance)
        density = -0.5 * np.log(2 * np.pi * variance) - np.minimum(distance, FARTHEST)
        return np.where(np.isnan(block), 0.0, density)

    def _check_loaded(self):
        super()._check_loaded()
        if not hasattr(self, "mean"):
            return
        for array in (self.mean, self.variance):
            self.require(
                isinstance(array, np.ndarray)
                and array.dtype == np.float64
                and array.ndim == 2
                and array.shape == (len(self.mean), len(self.columns))
                and bool(np.isfinite(array).all())
            )
        self.require(bool((self.variance > 0).all()))


class CountColumns(ColumnModel):
    """Families whose log-density is slope * x + constant in each known cell; fast on sparse rows.

    Attributes
    ----------
    slope, constant : ndarray of shape (n_classes, n_columns)
    """

    n_sums = 2
    takes_sparse = True

    def values(self, block) -> tuple[Any, Any]:
        """The cells with 0 for missing ones, and where they are missing (None: nowhere)."""
        values = self.counted(block)
        stored = values.data if sp.issparse(values) else values
        if not np.isnan(stored.sum()):
            return values, None
        absent = np.isnan(stored)
        if not sp.issparse(values):
            return np.where(absent, 0.0, values), absent.astype(np.float64)
        places = (values.indices, values.indptr)
        missing = sp.csr_array((absent.astype(np.float64), *places), shape=values.shape)
        filled = sp.csr_array((np.where(absent, 0.0, stored), *places), shape=values.shape)
        return filled, missing

    def counted(self, block) -> Any:
        """The cells as the family reads them; NaN stays NaN."""
        self.refuse_negative(block)
        return block

    def sums(self, block, y, weights, n_classes):
        values, missing = self.values(block)
        member = sp.csr_array((weights, (y, np.arange(len(y)))), shape=(n_classes, len(y)))
        known = np.repeat(member.sum(axis=1)[:, None], block.shape[1], axis=1)
        if missing is not None:
            gaps = np.unique(missing.nonzero()[1])
            known[:, gaps] = member @ (1.0 - _dense(missing[:, gaps]))
        return known, _class_sums(member, values)

    def add_log_densities(self, block, joint):
        values, missing = self.values(block)
        joint += values @ self.slope.T
        joint += self.constant.sum(axis=1)
        if missing is not None:
            joint -= missing @ self.constant.T

    def terms(self, block, chosen):
        values, missing = self.values(block)
        terms = _dense(values) * self.slope[chosen] + self.constant[chosen]
        return terms if missing is None else np.where(_dense(missing) > 0, 0.0, terms)

    def log_likelihood(self):
        known, total = self.statistics
        return float((total * self.slope + known * self.constant).sum())

    def _check_loaded(self):
        super()._check_loaded()
        if hasattr(self, "slope"):
            for array in (self.slope, self.constant):
                self.require(
                    isinstance(array, np.ndarray)
                    and array.dtype == np.float64
                    and array.ndim == 2
                    and array.shape == (len(self.slope), len(self.columns))
                )


@storable
class PoissonColumns(CountColumns):
    """Poisson counts: rate (sum + alpha) / n, the posterior mean under a gamma(alpha, 0) prior.

    As alpha goes to 0 it is the maximum likelihood estimate. The term log x! is the same for all
    classes and left out.

    Attributes
    ----------
    rate : ndarray of shape (n_classes, n_columns)
    """

    name = "poisson"
    _stored = {
        "constant": Array("f8", (None, None)),
        "rate": Array("f8", (None, None)),
        "slope": Array("f8", (None, None)),
    }

    def estimate(self, smoothing):
        known, total = _filled_from_all(*self.statistics)
        self.rate = (total + smoothing.alpha) / np.where(known > 0, known, 1.0)
        self.slope, self.constant = np.log(self.rate), -self.rate


@storable
class BernoulliColumns(CountColumns):
    """Yes or no: a value above zero is yes, with probability (n_yes + alpha) / (n + 2 alpha).

    Attributes
    ----------
    log_yes : ndarray of shape (n_classes, n_columns)
        Log-probability of yes.
    """

    name = "bernoulli"
    _stored = {
        "constant": Array("f8", (None, "n_constant_1")),
        "log_yes": Array("f8", (None, "n_constant_1")),
        "slope": Array("f8", (None, "n_constant_1")),
    }

    def counted(self, block):
        if sp.issparse(block):
            yes = _yes(block.data)
            return sp.csr_array((yes, block.indices, block.indptr), shape=block.shape)
        return _yes(block)

    def estimate(self, smoothing):
        known, yes = self.statistics
        n = np.log(known + 2 * smoothing.alpha)
        self.log_yes = np.log(yes + smoothing.alpha) - n
        log_no = np.log(np.maximum(known - yes, 0.0) + smoothing.alpha) - n
        self.slope, self.constant = self.log_yes - log_no, log_no


@storable
class MissingColumns(BernoulliColumns):
    """Whether a cell is missing, as a Bernoulli variable of the class."""

    name = "missing"

    def counted(self, block):
        if sp.issparse(block):
            absent = np.isnan(block.data).astype(np.float64)
            return sp.csr_array((absent, block.indices, block.indptr), shape=block.shape)
        return np.isnan(block).astype(np.float64)


@storable
class MultinomialColumns(CountColumns):
    """Counts over a set of columns (words of a text): shares (c_j + alpha) / sum_j (c_j + alpha).

    All columns together are one draw of sum_j x_j items, so what counts is the mixture of the
    columns and not the length. A missing count adds nothing, to sums or scores.

    Attributes
    ----------
    log_share : ndarray of shape (n_classes, n_columns)
    """

    name = "multinomial"
    _stored = {
        "constant": Array("f8", (None, "n_constant_1")),
        "log_share": Array("f8", (None, "n_constant_1")),
        "slope": Array("f8", (None, "n_constant_1")),
    }

    def estimate(self, smoothing):
        _, count = self.statistics
        smoothed = count + smoothing.alpha
        self.log_share = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
        self.slope, self.constant = self.log_share, np.zeros_like(self.log_share)


class DiscreteColumns(ColumnModel):
    """Families of finitely many values per column: probability (count + alpha) / (n + alpha
    n_values).

    Attributes
    ----------
    starts : ndarray of int, shape (n_columns + 1,)
        Values of column j stand at starts[j] .. starts[j + 1] of the tables.
    log_probability : ndarray of shape (n_classes, n_values of all columns)
    """

    n_sums = 1
    _stored = {
        "log_probability": Array("f8", (None, None)),
        "starts": Array("i8", (None,), low=0),
    }

    def __init__(self, columns, names, sizes):
        super().__init__(columns, names)
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def codes(self, block) -> np.ndarray:
        """The place of each cell's value within its column's; -1 where missing or never seen."""
        raise NotImplementedError

    def sums(self, block, y, weights, n_classes):
        counts = np.zeros((n_classes, self.starts[-1]))
        count_codes(self.codes(block), self.starts, y, weights, counts)
        return (counts,)

    def estimate(self, smoothing):
        smoothed = self.statistics[0] + smoothing.alpha
        self.log_probability = np.log(smoothed)
        for start, stop in zip(self.starts, self.starts[1:]):
            if start < stop:
                total = smoothed[:, start:stop].sum(axis=1, keepdims=True)
                self.log_probability[:, start:stop] -= np.log(total)

    def log_likelihood(self):
        return float((self.statistics[0] * self.log_probability).sum())

    def add_log_densities(self, block, joint):
        table = np.ascontiguousarray(self.log_probability.T)
        add_code_log_densities(self.codes(block), self.starts, table, joint)

    def terms(self, block, chosen):
        codes = self.codes(block)
        terms = np.zeros(codes.shape)
        row, column = np.nonzero(codes >= 0)
        place = self.starts[column] + codes[row, column]
        terms[row, column] = self.log_probability[chosen[row], place]
        return terms

    def _check_loaded(self):
        super()._check_loaded()
        starts = self.starts
        self.require(
            isinstance(starts, np.ndarray)
            and starts.dtype == np.int64
            and starts.shape == (len(self.columns) + 1,)
            and starts[0] == 0
            and bool((np.diff(starts) >= 0).all())
        )
        if hasattr(self, "log_probability"):
            table = self.log_probability
            self.require(
                isinstance(table, np.ndarray)
                and table.dtype == np.float64
                and table.ndim == 2
                and table.shape[1] == starts[-1]
            )


@storable
class CategoricalColumns(DiscreteColumns):
    """Categories: the codes of a table's category columns, or the distinct numbers of a column.

    Attributes
    ----------
    categories : list of ndarray
        The values of each column, sorted.
    """

    name = "categorical"
    _stored = {
        "categories": ListOf(Array("f8", (None,))),
        "plain": Flag(),
    }

    def __init__(self, columns, names, categories=None):
        sizes = [1] * len(columns) if categories is None else [len(each) for each in categories]
        super().__init__(columns, names, sizes)
        self.categories = categories
        self.plain = all(np.array_equal(each, np.arange(len(each))) for each in categories or [])

    @property
    def looks_first(self):
        return self.categories is None

    def look(self, block, y, weights):
        distinct = [np.unique(column[~np.isnan(column)]) for column in block.T]
        for values, name in zip(distinct, self.names):
            _refuse_many_values(values, name)
        return distinct

    def settled(self, seen):
        return CategoricalColumns(self.columns, self.names, _united(seen, self.names))

    def codes(self, block):
        if self.plain:
            sizes = np.diff(self.starts)
            known = (block >= 0) & (block < sizes) & (block == np.floor(block))
            return np.where(known, block, -1.0).astype(np.int64)
        codes = np.full(block.shape, -1, dtype=np.int64)
        for j, values in enumerate(self.categories):
            if not len(values):
                continue
            place = np.minimum(np.searchsorted(values, block[:, j]), len(values) - 1)
            codes[:, j] = np.where(values[place] == block[:, j], place, -1)
        return codes

    def joined(self, more):
        united = _united([self.categories, more.categories], self.names)
        made = CategoricalColumns(self.columns, self.names, united)
        counts = np.zeros((len(self.statistics[0]), made.starts[-1]))
        for part in (self, more):
            for j, values in enumerate(part.categories):
                place = made.starts[j] + np.searchsorted(united[j], values)
                counts[:, place] += part.statistics[0][:, part.starts[j] : part.starts[j + 1]]
        made.statistics = (counts,)
        return made

    def _check_loaded(self):
        super()._check_loaded()
        sizes = [len(values) for values in self.categories or []]
        self.require(sizes == np.diff(self.starts).tolist())


@storable
class HistogramColumns(DiscreteColumns):
    """Histograms: bins of equal width over the column's range, the same for all classes.

    The outer bins are open, so every number has a bin. The log-density leaves out the bin's width,
    which is the same for all classes.

    Attributes
    ----------
    low, high : ndarray of shape (n_columns,)
        The range of the training rows.
    """

    name = "histogram"
    looks_first = True
    _stored = {
        "high": Array("f8", (None,)),
        "low": Array("f8", (None,)),
        "n_bins": Whole(1),
    }

    def __init__(self, columns, names, n_bins, low=None, high=None):
        super().__init__(columns, names, np.full(len(columns), n_bins))
        self.n_bins = n_bins
        self.low = low
        self.high = high

    def look(self, block, y, weights):
        return (
            np.fmin.reduce(block, axis=0, initial=np.inf),
            np.fmax.reduce(block, axis=0, initial=-np.inf),
        )

    def settled(self, seen):
        low = np.min([least for least, _ in seen], axis=0)
        high = np.max([most for _, most in seen], axis=0)
        nothing = low > high
        low, high = np.where(nothing, 0.0, low), np.where(nothing, 0.0, high)
        return HistogramColumns(self.columns, self.names, self.n_bins, low, high)

    def codes(self, block):
        width = (self.high - self.low) / self.n_bins
        with np.errstate(over="ignore"):
            position = (block - self.low) / np.where(width > 0, width, 1.0)
        place = np.clip(np.nan_to_num(position, nan=-1.0), -1, self.n_bins - 1).astype(np.int64)
        return np.where(np.isnan(block), -1, np.maximum(place, 0))

    def _check_loaded(self):
        super()._check_loaded()
        if self.low is not None:
            shape = (len(self.columns),)
            self.require(self.low.shape == shape and self.high.shape == shape)
            self.require(np.diff(self.starts).tolist() == [self.n_bins] * len(self.columns))


@storable
class KernelColumns(ColumnModel):
    """Kernel densities: a normal bump on every training value, per class and column.

    The bandwidth is, per class and column of total weight n, Silverman's 0.9 min(sd, IQR / 1.34)
    n^(-1/5), Scott's 1.06 sd n^(-1/5), or a given number. Where a class has no spread, that of all
    classes stands in; where the column has none at all, 1.

    Attributes
    ----------
    points, shares : list of list of ndarray
        Per column and class: the values that bumps stand on, sorted, and their shares of the
        weight.
    bandwidth : ndarray of shape (n_classes, n_columns)
    exact : ndarray of bool, shape (n_classes, n_columns)
        Whether every value has its own bump, or values were put on a lattice of a 32nd bandwidth.
    """

    name = "kernel"
    looks_first = True
    _stored = {
        "bandwidth": Array("f8", (None, None)),
        "exact": Array("b", (None, None)),
        "most_points": Whole(),
        "n_classes": Whole(1),
        "points": ListOf(ListOf(Array("f8", (None,)), "n_classes")),
        "rule": Text(),
        "shares": ListOf(ListOf(Array("f8", (None,), low=0.0), "n_classes")),
    }

    def __init__(self, columns, names, n_classes, rule, most_points):
        super().__init__(columns, names)
        self.n_classes = n_classes
        self.rule = rule
        self.most_points = most_points

    def look(self, block, y, weights):
        return block, y, weights

    def settled(self, seen):
        made = copy.copy(self)
        y, weights = (np.concatenate(parts) for parts in list(zip(*seen))[1:])
        shape = (self.n_classes, len(self.columns))
        made.points, made.shares = [], []
        made.bandwidth, made.exact = np.ones(shape), np.ones(shape, dtype=bool)
        for j in range(len(self.columns)):
            made._settle_column(j, np.concatenate([part[0][:, j] for part in seen]), y, weights)
        return made

    def _settle_column(self, j, values, y, weights):
        known = ~np.isnan(values)
        everything = None
        self.points.append([])
        self.shares.append([])
        for k in range(self.n_classes):
            mine = known & (y == k)
            points, weight = _distinct(values[mine], weights[mine])
            width = self._width(points, weight, weight.sum())
            if everything is None and not width:
                everything = _distinct(values[known], weights[known])
            if not len(points):
                points, weight = everything
            n = weight.sum()
            self.bandwidth[k, j] = width or self._width(*everything, n) or 1.0
            if self.most_points is not None and len(points) > self.most_points:
                step = self.bandwidth[k, j] / STEPS_PER_BANDWIDTH
                points, weight = on_lattice(points, weight, step)
                self.exact[k, j] = False
            self.points[j].append(points)
            self.shares[j].append(np.maximum(weight / n, np.finfo(float).tiny) if n > 0 else weight)

    def _width(self, points, weight, n) -> float:
        """The bandwidth by the rule; 0 where the values have no spread."""
        if not isinstance(self.rule, str):
            return float(self.rule)
        if len(points) < 2:
            return 0.0
        mean = weight @ points / weight.sum()
        spread = np.sqrt(weight @ (points - mean) ** 2 / weight.sum())
        factor = 1.06
        if self.rule == "silverman":
            line = np.cumsum(weight)
            lower, upper = points[np.searchsorted(line, line[-1] * np.array([0.25, 0.75]))]
            robust = (upper - lower) / 1.34
            spread = min(spread, robust) if robust > 0 else spread
            factor = 0.9
        return float(factor * spread * n**-0.2)

    def estimate(self, smoothing):
        pass

    def joined(self, more):
        raise NotImplementedError

    def add_log_densities(self, block, joint):
        density = np.empty(len(block))
        for j, column in enumerate(np.ascontiguousarray(block.T)):
            for k in range(self.n_classes):
                joint[:, k] += self._column_density(column, j, k, density)

    def terms(self, block, chosen):
        terms = np.zeros(block.shape)
        density = np.empty(len(block))
        for j, column in enumerate(np.ascontiguousarray(block.T)):
            for k in np.unique(chosen):
                mine = chosen == k
                terms[mine, j] = self._column_density(column, j, k, density)[mine]
        return terms

    def _column_density(self, column, j, k, out):
        points, shares = self.points[j][k], self.shares[j][k]
        if not len(points):
            out[:] = 0.0
        else:
            kernel_log_densities(column, points, shares, self.bandwidth[k, j], out)
        return out

    def _check_loaded(self):
        super()._check_loaded()
        if not hasattr(self, "points"):
            return
        self.require(
            self.bandwidth.shape == (self.n_classes, len(self.columns))
            and self.bandwidth.dtype == np.float64
            and bool((self.bandwidth > 0).all())
            and len(self.points) == len(self.shares) == len(self.columns)
        )
        for points, shares in zip(self.points, self.shares):
            self.require(len(points) == len(shares) == self.n_classes)
            for each, share in zip(points, shares):
                self.require(each.ndim == 1 and each.shape == share.shape)
                self.require(each.dtype == share.dtype == np.float64)
                self.require(bool((share > 0).all() and (np.diff(each) > 0).all()))


def pooled(known: np.ndarray, mean: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, ...]:
    """Weight, mean and sum of squares about it of several sets of rows together (first axis)."""
    total = known.sum(axis=0)
    share = np.divide(known, total, out=np.zeros_like(known), where=total > 0)
    center = (share * mean).sum(axis=0)
    return total, center, (scatter + known * (mean - center) ** 2).sum(axis=0)


def on_lattice(
    points: np.ndarray, weight: np.ndarray, step: float
) -> tuple[np.ndarray, np.ndarray]:
    """Weights moved to multiples of a step, shared by the two next ones so that means stay."""
    origin = points[0]
    position = (points - origin) / step
    left = np.floor(position)
    nearness = position - left
    places = np.concatenate([left, left + 1])
    moved = np.concatenate([weight * (1 - nearness), weight * nearness])
    lattice, gathered = _distinct(places[moved > 0], moved[moved > 0])
    return origin + lattice * step, gathered


def _distinct(values, weights) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values, sorted, and the weight of each."""
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, weights, minlength=len(distinct)).astype(np.float64)


def _united(parts: list, names: tuple[str, ...]) -> list[np.ndarray]:
    """Per column the distinct values of all parts."""
    united = []
    for name, *columns in zip(names, *parts):
        values = np.unique(np.concatenate(columns))
        _refuse_many_values(values, name)
        united.append(values)
    return united


def _refuse_many_values(values: np.ndarray, name: str) -> None:
    if len(values) > MOST_VALUES:
        raise DataError(
            f"column {name!r} has more than {MOST_VALUES:,} distinct values, too many for the "
            "'categorical' model: choose 'normal', 'histogram' or 'kernel' for it"
        )


def _filled_from_all(known: np.ndarray, *statistics: np.ndarray) -> list[np.ndarray]:
    """Statistics where a class without a known value in a column has those of all classes."""
    empty = known <= 0
    whole = (known, *statistics)
    if not empty.any():
        return list(whole)
    together = pooled(*whole) if len(whole) == 3 else [each.sum(axis=0) for each in whole]
    return [np.where(empty, all_, each) for each, all_ in zip(whole, together)]


def _class_sums(member: sp.csr_array, values) -> np.ndarray:
    """member @ values, dense; for few classes by the product that visits stored cells only once."""
    if sp.issparse(values) and member.shape[0] <= FEW_CLASSES:
        return np.ascontiguousarray((values.T @ member.toarray().T).T)
    return _dense(member @ values)


def _yes(values: np.ndarray) -> np.ndarray:
    """1 where a value is above zero, 0 where it is not, NaN where it is missing."""
    yes = (values > 0).astype(np.float64)
    if np.isnan(values.sum()):
        yes[np.isnan(values)] = np.nan
    return yes


def _dense(matrix) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
