"""Kernel density: a bump on every row.

    f(x) = 1 / n sum_i prod_j K((x_j - x_ij) / h_j) / h_j

with the bandwidth h in the units of the data, one for all columns or one for each. The window
kernel counts the rows in a box of edge h about x (a hypercube, not a ball); the Gaussian one is
smooth, and its gradient is (1 / n) sum_i K_i(x) (x_i - x) / h^2. Kernels that depend on a distance
alone are in `gnomon.density.radial`.

Why it is fast: rows lie in leaves of a tree, 64 side by side, so that squares and exponentials are
taken eight at once; leaves whose boxes are too far to matter are left out, by a bound of all that
they could add. Sums are relative to the nearest box, so nothing underflows far from all rows. On
grids: linear binning and one convolution by FFT.

Texts: 001 19.2.2-19.2.3, 19.3 (gradient) · 000a 13.2 (class-conditional densities).
"""

from __future__ import annotations

import functools
import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft, optimize, special
from sklearn.metrics import DistanceMetric
from sklearn.neighbors import VALID_METRICS
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, DensityEstimator
from gnomon.contract.estimate import checked_weights, finite_column
from gnomon.contract.inert import without_effect
from gnomon.contract.numbers import plain_numbers
from gnomon.density.draws import as_generator
from gnomon.density.leaves import LEAF, Leaves, compact_sums, far_sums, gaussian_sums, leaf_order
from gnomon.density.radial import LOG_BUMPS, log_integral, radial_log_sums, uniform_in_ball
from gnomon.engine.columns import location_and_scale
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import JOBS, SEED, StrOptions, above, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import in_order

PRODUCTS = ("window", "epanechnikov-product")
OWN_RULES = ("silverman-scaled", "scott-scaled", "improved-sheather-jones", "leave-one-out")
MOST_PROBES = 2000  # judgement: error of a mean of 2,000 scores is 2% of their deviation
IMPOSSIBLE = -1e4  # log of a density that counts as none; keeps a sum of logs finite
ISJ_GRID = 2**12  # judgement: Botev's method takes 2^14; bins are far below any width at 2^12
SAME_VALUE = 1e-9  # values nearer than this share of the span differ by rounding
QUERIES_AT_ONCE = 256  # 64 to 5,000 took the same time within 4% (5,000 x 3)
# Judgement: each part has a grid of its own, so that parts are few.
ROWS_PER_BINNING, MOST_BINNINGS = 2**16, 8
NORMAL_IQR = 1.3489795003921634  # of the standard normal: 2 * norm.ppf(0.75)


@method(
    task="density",
    texts="001 19.2-19.3 · 000a 13.2",
    use="A density of any shape in one to a few columns; class conditionals, outliers, modes.",
    avoid="More than some five columns: nearly all places are far from every row there.",
    peers=("sklearn.neighbors.KernelDensity", "scipy.stats.gaussian_kde", "KDEpy.FFTKDE"),
)
@without_effect("algorithm", "atol", "rtol", "breadth_first", "leaf_size")
class KernelDensity(DensityEstimator):
    """A bump on every row: a density of any shape, without a model.

    f(x) = 1/n sum_i prod_j K((x_j - x_ij) / h_j) / h_j. Use it in one to a few columns, to look at
    a shape, for outliers, or per class in `gnomon.bayes.GenerativeClassifier`. Do not use it in
    many columns, nor where a density falls to zero sharply: bumps reach over the border.

    Parameters
    ----------
    bandwidth : float, str or array-like of shape (n_columns,), default=1.0
        h in the units of the data; one number for all columns, or one for each (Gaussian and
        product kernels only). Rules of scikit-learn, which do not look at the spread of the
        columns: "scott", n^(-1/(d + 4)), and "silverman", (n (d + 2)/4)^(-1/(d + 4)). Rules for
        columns in any units: "silverman-scaled" and "scott-scaled" (times the deviation of each
        column; right for one normal cloud, too wide for several bumps), "improved-sheather-jones"
        (one column; finds several bumps), "leave-one-out" (the multiple of Silverman's under which
        rows left out, each with its equals, are likeliest; 2000 rows evenly taken where there are
        more). These are made for the Gaussian kernel and widened for others to the same spread.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine", "window", \
            "epanechnikov-product"}, default="gaussian"
        The bump. The first six depend on the distance alone. "window" is flat in a box of edge h
        (h/2 to each side), "epanechnikov-product" is the product over columns of the parabola
        3/4 (1 - z^2) with z up to 1 to each side.
    metric : str or callable, default="euclidean"
        A metric of scikit-learn's ball tree, for kernels that depend on the distance.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    tol : float, default=1e-9
        Relative error of a Gaussian density by leaving out rows that are too far to matter.
    random_state : int, RandomState, Generator or None, default=None
        Seed of `sample`.
    n_jobs : int or None, default=None
        Threads; None for all processors. The result does not depend on it.

    Attributes
    ----------
    bandwidth_ : float or ndarray of shape (n_columns,)
        h, where it is one for all columns, or that of each.
    rows_ : ndarray of shape (n_rows, n_columns)
        The training rows in units of the bandwidth, neighbours beside each other.
    weights_ : ndarray of shape (n_rows,)
        Their shares.
    center_ : ndarray of shape (n_columns,)
        What was taken from each column.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    Notes
    -----
    Texts: 001 19.2.2-19.2.3 (window and Gaussian kernels; no selector is given there), 000a 13.2.
    A squared distance counts as 1e300 at most. Compact kernels are zero far from all rows: the log
    density is minus infinity there.

    Examples
    --------
    >>> from gnomon.density import KernelDensity
    >>> import numpy as np
    >>> model = KernelDensity(bandwidth=1.0).fit([[1.0], [2.0], [2.5], [4.0], [7.0]])
    >>> np.exp(model.score_samples([[2.0]])).round(6)
    array([0.209394])
    """

    _keeps_rows = True
    _parameter_constraints = {
        "bandwidth": [StrOptions({"scott", "silverman", *OWN_RULES}), above(0), "array-like"],
        "kernel": [StrOptions({*LOG_BUMPS, *PRODUCTS})],
        "metric": [StrOptions(set(VALID_METRICS["ball_tree"]) - {"pyfunc"}), callable],
        "metric_params": [dict, None],
        "tol": [between(1e-15, 0.1)],
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _stored = {
        "bandwidth_": Number() | Array("f8", ("n_columns",)),
        "center_": Array("f8", ("n_columns",)),
        "rows_": Array("f8", ("n_rows", "n_columns")),
        "weights_": Array("f8", ("n_rows",), low=0.0),
    }

    def __init__(
        self,
        *,
        bandwidth=1.0,
        algorithm="auto",
        kernel="gaussian",
        metric="euclidean",
        atol=0,
        rtol=0,
        breadth_first=True,
        leaf_size=40,
        metric_params=None,
        tol=1e-9,
        random_state=None,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        if data.n_rows == 0:
            raise DataError("no row has a weight above zero; there is nothing to learn from")
        rows = np.array(data.rows, dtype=np.float64, order="C")
        weights = np.asarray(data.weight_array, dtype=np.float64)
        self.center_, _ = location_and_scale(rows, weights)
        rows -= self.center_
        chosen = self._chosen(rows, weights)
        one = np.ndim(self.bandwidth) == 0 and self.bandwidth not in OWN_RULES
        self.bandwidth_ = float(chosen[0]) if one else chosen
        if self._is_radial(rows.shape[1]):
            self._require_radial(one, rows)
        self._keep_by_leaf(rows, weights)

    def _is_radial(self, n_columns: int) -> bool:
        """Whether only distances matter, so that no product over columns can be taken."""
        if self.kernel in PRODUCTS:
            return False
        euclidean = self.metric in ("euclidean", "l2", "minkowski", "p") and not self.metric_params
        quick = self.kernel == "gaussian" or (n_columns == 1 and self.kernel == "epanechnikov")
        return not (euclidean and quick)

    def _require_radial(self, one_bandwidth: bool, rows: np.ndarray) -> None:
        if not one_bandwidth:
            raise ValueError(
                f"kernel={self.kernel!r} with metric={self.metric!r} takes one bandwidth for all "
                "columns; give a number, or scale the columns and take kernel='gaussian'"
            )
        try:
            self._metric().pairwise(rows[:1], rows[:1])
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"metric={self.metric!r} with metric_params={self.metric_params!r} cannot compare "
                f"rows of {rows.shape[1]} columns: {error}"
            ) from error

    def _metric(self) -> DistanceMetric:
        if callable(self.metric):
            return DistanceMetric.get_metric("pyfunc", func=self.metric, **self.metric_params or {})
        try:
            return DistanceMetric.get_metric(self.metric, **self.metric_params or {})
        except (TypeError, ValueError) as error:
            raise DataError(
                f"metric={self.metric!r} does not go with metric_params={self.metric_params}: "
                f"{error}; see sklearn.metrics.DistanceMetric for the arguments of each metric"
            ) from error

    def _widths(self) -> np.ndarray:
        """The bandwidth of each column."""
        return np.broadcast_to(np.asarray(self.bandwidth_, dtype=np.float64), self.center_.shape)

    def _keep_by_leaf(self, rows: np.ndarray, weights: np.ndarray) -> None:
        if self._is_radial(rows.shape[1]):
            self.rows_, self.weights_ = rows, weights / weights.sum()
            return
        scaled = rows / self._widths()
        order = np.arange(len(rows))
        leaf_order(scaled, LEAF, order)
        self.rows_ = scaled[order]
        self.weights_ = weights[order] / weights.sum()

    def _chosen(self, rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        d = rows.shape[1]
        if not isinstance(self.bandwidth, str):
            given = np.asarray(self.bandwidth, dtype=np.float64)
            if given.shape not in ((), (d,)) or not (given > 0).all():
                raise ValueError(
                    f"bandwidth has shape {given.shape}; give a number, or {d} of them, above zero"
                )
            return np.broadcast_to(given, (d,)).copy()
        weights = np.ones(len(rows)) if weights is None else weights
        if self.bandwidth in ("scott", "silverman"):
            factor = 1.0 if self.bandwidth == "scott" else (d + 2) / 4
            return np.full(d, (weights.sum() * factor) ** (-1 / (d + 4)))
        widen = spread_ratio(self.kernel)
        if self.bandwidth == "improved-sheather-jones":
            if d != 1:
                raise ValueError(
                    f"bandwidth='improved-sheather-jones' is for one column, not {d}; take "
                    "'silverman-scaled' or 'leave-one-out'"
                )
            return widen * np.array([improved_sheather_jones(rows[:, 0], weights)])
        warn_flat(np.flatnonzero(np.ptp(rows, axis=0) == 0))
        first = widen * rule_bandwidth(rows, weights, self.bandwidth.removesuffix("-scaled"))
        if self.bandwidth == "leave-one-out":
            return first * self._best_factor(rows, weights, first)
        return first

    def _best_factor(self, rows, weights, first: np.ndarray) -> float:
        """The multiple of greatest likelihood of rows left out, each with its equals."""
        rows, which = np.unique(rows, axis=0, return_inverse=True)
        weights = np.bincount(which.ravel(), weights)
        total = weights.sum()
        probes, counts = np.arange(len(rows)), weights
        if len(rows) > MOST_PROBES:
            line = np.cumsum(weights)
            marks = (np.arange(MOST_PROBES) + 0.5) / MOST_PROBES * total
            found = np.minimum(np.searchsorted(line, marks), len(rows) - 1)
            probes, counts = np.unique(found, return_counts=True)
        if len(rows) < 2:
            return 1.0
        others = np.log1p(-weights[probes] / total)

        def cost(log_factor: float) -> float:
            trial = KernelDensity(kernel=self.kernel, tol=self.tol)
            trial.bandwidth_ = first * np.exp(log_factor)
            trial.center_ = np.zeros(rows.shape[1])
            trial._keep_by_leaf(rows, weights)
            logs = trial._log_density(rows[probes])
            own = np.exp(np.minimum(trial._log_peak() + np.log(weights[probes] / total) - logs, 0))
            with np.errstate(divide="ignore"):
                rest = logs + np.log1p(-np.minimum(own, 1.0)) - others
            return -float(counts @ np.maximum(rest, IMPOSSIBLE)) / float(counts.sum())

        grid = np.log(np.geomspace(0.05, 3.0, 13))
        costs = list(in_order(cost, grid, self.n_jobs))
        best = int(np.argmin(costs))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        fine = optimize.minimize_scalar(cost, bounds=(low, high), method="bounded")
        return float(np.exp(fine.x if fine.fun < costs[best] else grid[best]))

    def _log_peak(self) -> float:
        """log of the height of one bump at its middle."""
        d = len(self.center_)
        if self._is_radial(d):
            return -log_integral(self.kernel, d) - d * math.log(self.bandwidth_)
        height = {"gaussian": 1 / np.sqrt(2 * np.pi), "window": 1.0}.get(self.kernel, 0.75)
        return float(d * np.log(height) - np.log(self._widths()).sum())

    def score_samples(self, X) -> np.ndarray:
        """Log density of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self._is_radial(len(self.center_)):
            return self._each_block(self._log_density, X)
        leaves = Leaves.of(self.rows_, self.weights_)
        return self._each_block(lambda rows: self._log_density(rows, leaves), X)

    def score(self, X, y=None) -> float:
        """Total log density of the rows, as in scikit-learn (not the mean).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        log_likelihood : float
        """
        return float(self.score_samples(X).sum())

    def _rows_at_once(self, rows) -> int:
        return QUERIES_AT_ONCE

    def _log_density(self, rows: np.ndarray, leaves: Leaves | None = None) -> np.ndarray:
        if self._is_radial(len(self.center_)):
            return self._log_peak() + radial_log_sums(
                np.ascontiguousarray(rows - self.center_),
                self.rows_,
                self.weights_,
                self.kernel,
                self.bandwidth_,
                self._metric(),
            )
        leaves = Leaves.of(self.rows_, self.weights_) if leaves is None else leaves
        queries = np.ascontiguousarray((rows - self.center_) / self._widths())
        found = np.empty(len(queries))
        if self.kernel != "gaussian":
            compact_sums(queries, *leaves, self.kernel == "window", found)
            return found + self._log_peak()
        gaussian_sums(queries, *leaves, self.tol, found)
        far = np.flatnonzero(np.isnan(found))
        rest = np.empty(len(far))
        beyond = 2 * (math.log(len(self.rows_)) - math.log(self.tol))
        far_sums(np.ascontiguousarray(queries[far]), *leaves, beyond, rest)
        found[far] = rest
        return found + self._log_peak()

    def gradient(self, X) -> np.ndarray:
        """Gradient of the density at each row, for the Gaussian kernel.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        gradient : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        if self.kernel != "gaussian" or self._is_radial(len(self.center_)):
            raise ValueError(
                f"kernel={self.kernel!r} with metric={self.metric!r} has no gradient; take "
                "kernel='gaussian' and metric='euclidean'"
            )
        return self._each_block(self._slope, X)

    def _slope(self, rows: np.ndarray) -> np.ndarray:
        queries = np.ascontiguousarray((rows - self.center_) / self._widths())
        found = np.zeros(queries.shape)
        gaussian_pulls(queries, self.rows_, self.weights_, found)
        return found * np.exp(self._log_peak()) / self._widths()

    def sample(self, n_samples=1, random_state=None) -> np.ndarray:
        """Draw rows: a training row by its weight, then a point of its bump.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState, Generator or None, default=None
            None for the estimator's own.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
        """
        check_is_fitted(self)
        radial = self._is_radial(len(self.center_))
        if radial and self.kernel not in ("gaussian", "tophat"):
            raise NotImplementedError(
                f"kernel={self.kernel!r} cannot be sampled from; take 'gaussian' or 'tophat'"
            )
        rng = self._rng() if random_state is None else as_generator(random_state)
        chosen = self.rows_[rng.choice(len(self.rows_), n_samples, p=self.weights_)]
        centers = chosen if radial else chosen * self._widths()
        shape = chosen.shape
        if self.kernel == "gaussian":
            noise = rng.standard_normal(shape)
        elif self.kernel == "tophat":
            noise = uniform_in_ball(rng, *shape)
        elif self.kernel == "window":
            noise = rng.uniform(-0.5, 0.5, shape)
        else:
            noise = 2 * rng.beta(2, 2, shape) - 1
        return centers + noise * self._widths() + self.center_

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (5 * n_columns + 12)

    def _memory_remedy(self) -> str:
        return "Use fewer rows or columns, or a GaussianMixture, which keeps no rows."

    def _check_loaded(self) -> None:
        if not hasattr(self, "rows_"):
            return
        d = self.rows_.shape[1]
        fits = self.weights_.shape == self.rows_.shape[:1]
        fits &= np.shape(self.bandwidth_) in ((), (d,))
        if not fits or self.center_.shape != (d,):
            raise ValueError("rows_, weights_, bandwidth_ and centre_ do not fit together")


def spread_ratio(name: str) -> float:
    """What a Gaussian bandwidth is multiplied by for another kernel of the same deviation."""
    ratios = {"window": math.sqrt(12.0), "tophat": math.sqrt(3.0)}
    return math.sqrt(5.0) if name.startswith("epanechnikov") else ratios.get(name, 1.0)


def warn_flat(columns: np.ndarray) -> None:
    """Say that columns without spread tell no bandwidth."""
    if len(columns):
        warnings.warn(
            f"columns {columns.tolist()} do not vary, so that no rule can tell their bandwidth: it "
            "is that of a deviation of 1; give bandwidth in their units, or leave them out",
            GnomonWarning,
            stacklevel=3,
        )


def rule_bandwidth(rows: np.ndarray, weights: np.ndarray, rule: str) -> np.ndarray:
    """Silverman's or Scott's bandwidth of each column; by the deviation one where constant.

    With one column Silverman's takes the lesser of deviation and quartile range / 1.349, times
    0.9 n^-1/5; with several the deviations times (4 / (d + 2) / n)^(1 / (d + 4)).
    """
    _, scale = location_and_scale(rows, weights)
    n, d = weights.sum(), rows.shape[1]
    if rule == "scott":
        return scale * n ** (-1 / (d + 4))
    if d == 1:
        low, high = weighted_quantiles(rows[:, 0], weights, [0.25, 0.75])
        spread = (high - low) / NORMAL_IQR
        return np.where(spread > 0, np.minimum(scale, spread), scale) * 0.9 * n**-0.2
    return scale * (4 / (d + 2) / n) ** (1 / (d + 4))


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, shares) -> np.ndarray:
    """The least value whose cumulated weight reaches each share."""
    order = np.argsort(values, kind="stable")
    line = np.cumsum(weights[order])
    places = np.searchsorted(line, np.asarray(shares) * line[-1] * (1 - 1e-12))
    return values[order][np.minimum(places, len(values) - 1)]


def improved_sheather_jones(values: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Bandwidth by the improved Sheather-Jones rule (Botev, Grotowski and Kroese 2010).

    The fixed point of the plug-in rule for the squared norm of the density's derivatives, by the
    cosine transform of a fine histogram: no normal shape is assumed, so several bumps stay apart.
    The histogram is no finer than the smallest gap between different values, and the largest root
    is taken: else rounded values look like spikes, and a tiny bandwidth would show each of them.

    Parameters
    ----------
    values : array-like of shape (n,)
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    bandwidth : float
        Silverman's where the equation has no root (few rows); 1 with a warning where the values do
        not vary.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=500)
    >>> 0.15 < improved_sheather_jones(x) < 0.45
    True
    """
    x = finite_column(values, "values")
    weights = checked_weights(sample_weight, len(x))
    weights = np.ones(len(x)) if weights is None else weights
    span = float(np.ptp(x))
    if span == 0:
        warn_flat(np.array([0]))
        return 1.0
    low, width, n_bins = _bins_of_rounded(x, span)
    counts, _ = np.histogram(x, n_bins, (low, low + width), weights=weights)
    n = float(weights.sum())
    coefficients = fft.dct(counts / n, type=2)[1:]
    squared = (coefficients / 2) ** 2
    index = np.arange(1, n_bins, dtype=np.float64) ** 2

    def excess(t: float) -> float:
        return t - _plug_in(t, n, index, squared)

    grid = np.geomspace(1e-9, 0.1, 60)
    heights = [excess(t) for t in grid]
    for a, b, fa, fb in reversed(list(zip(grid, grid[1:], heights, heights[1:]))):
        if fa < 0 <= fb:
            return float(np.sqrt(optimize.brentq(excess, a, b)) * width)
    return float(rule_bandwidth(x[:, None], weights, "silverman")[0])


def _bins_of_rounded(x: np.ndarray, span: float) -> tuple[float, float, int]:
    """First edge, width and number of bins over twice the span, none finer than the rounding.

    Values that are rounded to multiples of one step lie in the middle of bins.
    """
    gaps = np.diff(np.unique(x))
    step = float(gaps[gaps > SAME_VALUE * span].min())
    if step * ISJ_GRID <= 2 * span:
        return float(x.min()) - 0.5 * span, 2 * span, ISJ_GRID
    n_bins = round(2 * span / step)
    return float(x.min()) - step * (n_bins // 4 + 0.5), n_bins * step, n_bins


def _plug_in(t: float, n: float, index: np.ndarray, squared: np.ndarray) -> float:
    """The bandwidth (squared, over the width) that the stages of derivatives lead to from t."""
    stages = 7
    with np.errstate(under="ignore"):
        norm = (
            2
            * np.pi ** (2 * stages)
            * (index**stages * squared * np.exp(-index * np.pi**2 * t)).sum()
        )
        for s in range(stages - 1, 1, -1):
            odd = np.prod(np.arange(1, 2 * s, 2, dtype=np.float64)) / math.sqrt(2 * math.pi)
            constant = (1 + 0.5 ** (s + 0.5)) / 3
            time = (2 * constant * odd / (n * max(norm, 1e-300))) ** (2 / (3 + 2 * s))
            norm = (
                2 * np.pi ** (2 * s) * (index**s * squared * np.exp(-index * np.pi**2 * time)).sum()
            )
        return float((2 * n * math.sqrt(math.pi) * max(norm, 1e-300)) ** (-0.4))


class GridDensity(NamedTuple):
    """A density on a regular grid.

    Attributes
    ----------
    axes : tuple of ndarray
    density : ndarray
        One axis per column.
    bandwidth : ndarray
    """

    axes: tuple[np.ndarray, ...]
    density: np.ndarray
    bandwidth: np.ndarray


def grid_density(
    rows: ArrayLike,
    bandwidth: Any = "silverman",
    *,
    n_points: int = 512,
    sample_weight: ArrayLike | None = None,
) -> GridDensity:
    """A Gaussian kernel density on a regular grid of one or two columns, by FFT.

    Rows are shared out to the neighbouring points of the grid (linear binning), then one
    convolution: the time hardly depends on the number of rows.

    Parameters
    ----------
    rows : array-like of shape (n,), (n, 1) or (n, 2)
    bandwidth : str, float or array-like, default="silverman"
        In the units of the columns, or a rule of `KernelDensity`; "silverman" and "scott" stand for
        "silverman-scaled" and "scott-scaled".
    n_points : int, default=512
        Of the grid along each column; it reaches four bandwidths and two steps or more beyond the
        rows. Where its step is wider than the bandwidth, bumps are averaged over steps, which a
        warning says.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    found : GridDensity

    Examples
    --------
    >>> found = grid_density([1.0, 2.0, 2.5, 4.0, 7.0], 1.0)
    >>> round(float(np.interp(2.0, found.axes[0], found.density)), 3)
    0.209
    """
    rows = np.asarray(plain_numbers(rows, "rows"), dtype=np.float64)
    rows = rows[:, None] if rows.ndim == 1 else rows
    n, d = rows.shape
    ends = np.array([(column.min(), column.max()) for column in rows.T]) if n else np.empty(0)
    if d > 2 or not n or not np.isfinite(ends).all():
        raise DataError("a grid is of one or two columns of finite numbers; else use KernelDensity")
    weights = checked_weights(sample_weight, n)
    scaled = bandwidth in ("silverman", "scott") if isinstance(bandwidth, str) else False
    h = KernelDensity(bandwidth=f"{bandwidth}-scaled" if scaled else bandwidth)._chosen(
        rows, weights
    )
    axes = tuple(_axis(low, high, width, n_points) for (low, high), width in zip(ends, h))
    steps = np.array([axis[1] - axis[0] for axis in axes])
    _warn_if_coarse(axes, steps, h)
    mass = _binned(rows, weights, axes, steps)
    bumps = [_bump(step, width) for step, width in zip(steps, h)]
    bump = bumps[0] if d == 1 else np.outer(*bumps)
    from scipy.signal import fftconvolve  # slow to import

    density = np.maximum(fftconvolve(mass, bump, mode="same"), 0.0)
    return GridDensity(axes, density, h)


def _axis(low: float, high: float, width: float, n_points: int) -> np.ndarray:
    beyond = max(4 * width, 2 * (high - low) / max(n_points - 5, 1))
    return np.linspace(low - beyond, high + beyond, n_points)


def _warn_if_coarse(axes: tuple[np.ndarray, ...], steps: np.ndarray, h: np.ndarray) -> None:
    for column, (axis, step, width) in enumerate(zip(axes, steps, h)):
        if step > width:
            needed = int(np.ceil((axis[-1] - axis[0]) / width)) + 1
            warnings.warn(
                f"the grid's step of {step:.3g} in column {column} is wider than the bandwidth of "
                f"{width:.3g}, so that bumps look as wide as a step: take n_points={needed:,} or "
                "more, a wider bandwidth, or leave out rows that lie far from the others",
                GnomonWarning,
                stacklevel=3,
            )


def _bump(step: float, width: float) -> np.ndarray:
    """The kernel at multiples of the step; its mean over each step where that is the wider one."""
    reach = max(int(np.ceil(6 * width / step)), 1)
    places = np.arange(-reach, reach + 1)
    if step > width:
        edges = special.ndtr(np.append(places - 0.5, reach + 0.5) * step / width)
        return np.diff(edges) / step
    return np.exp(-0.5 * (places * step / width) ** 2) / (width * np.sqrt(2 * np.pi))


def _binned(rows, weights, axes, steps) -> np.ndarray:
    """Shares of the weight at the points around each row, in proportion to nearness."""
    rows = np.ascontiguousarray(rows)
    n, d = rows.shape
    weights = np.empty(0) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    firsts = np.array([axis[0] for axis in axes])
    n_points = len(axes[0])
    size = max(ROWS_PER_BINNING, -(-n // MOST_BINNINGS))

    def some(start: int) -> np.ndarray:
        mass = np.zeros((n_points if d == 2 else 1, n_points))
        bin_rows(rows[start : start + size], weights[start : start + size], firsts, 1 / steps, mass)
        return mass

    mass = functools.reduce(np.add, in_order(some, range(0, n, size), short=True))
    return mass.reshape((n_points,) * d) / (weights.sum() if len(weights) else n)


@kernel("f8[:,:]", "f8[:]", "f8[:]", "f8[:]", "out f8[:,:]")
def bin_rows(rows, weights, firsts, per_step, mass):
    """Adds the weight of each row to the points around it, in proportion to nearness.

    rows (n, d) with d of 1 or 2, weights (n,) or (0,) for ones, firsts and per_step (d,): the
    grid's first points and points per unit; mass (1, g) or (g, g).
    """
    n, d = rows.shape
    last = mass.shape[1] - 2
    weighted = len(weights) > 0
    for i in range(n):
        weight = weights[i] if weighted else 1.0
        place = (rows[i, d - 1] - firsts[d - 1]) * per_step[d - 1]
        x = min(int(place), last)
        right = weight * (place - x)
        left = weight - right
        if d == 1:
            mass[0, x] += left
            mass[0, x + 1] += right
            continue
        place = (rows[i, 0] - firsts[0]) * per_step[0]
        y = min(int(place), last)
        up = place - y
        mass[y, x] += left * (1 - up)
        mass[y, x + 1] += right * (1 - up)
        mass[y + 1, x] += left * up
        mass[y + 1, x + 1] += right * up


@kernel("f8[:,:]", "f8[:,:]", "f8[:]", "out f8[:,:]")
def gaussian_pulls(queries, rows, weights, found):
    """sum_i weights[i] exp(-|q - row_i|^2 / 2) (row_i - q) of each query; found (m, d) of zeros."""
    n, d = rows.shape
    for i in range(len(queries)):
        for j in range(n):
            squared = 0.0
            for c in range(d):
                z = queries[i, c] - rows[j, c]
                squared += z * z
            if squared < 1400.0:
                bump = weights[j] * math.exp(-0.5 * squared)
                for c in range(d):
                    found[i, c] += bump * (rows[j, c] - queries[i, c])
