"""Locally weighted regression: a plane fitted anew for every query, by the rows near to it.

A row at distance |x_i - q| from the query has the significance s_i = exp(-|x_i - q|^2 / h^2); the
plane minimises sum_i s_i^2 (y_i - b0 - b'(x_i - q))^2 and its height at q is the answer. The
Bayesian form puts a normal-gamma prior on the plane and the noise, so that each answer has
a variance, also where few rows are near.

All that a query needs are the sums of products of the significant rows, added up block by block:
distances by a kernel, products by BLAS, queries on threads. The rows are kept sorted by one column,
so that only the stretch of them is looked at that can count.

Texts: 004 8.2, 8.2.1.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy

from gnomon.contract import Data, Regressor
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.engine.parameters import FLAG, JOBS, StrOptions, above, at_least, share, whole
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number, Whole
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.linear.basis import location_and_scale

ROWS_TOGETHER = 2048  # judgement: a block of rows and one column more stays in the cache
NEGLIGIBLE = 42.0  # e^-42 of the nearest row's weight changes no digit of a sum
N_PROBES = 64  # judgement: 64 leave-one-out errors tell widths apart that differ by a factor of two
# In standardized units, steps of a factor of two: errors change little between them.
WIDTHS = 2.0 ** np.arange(-6, 2)


class LocalModel(Regressor):
    """What the two forms share: rows kept in common units, significances, sums, the width."""

    _keeps_rows = True
    _stored = {
        "bandwidth_": Number(),
        "center_": Array("f8", ("n_columns",)),
        "guide_": Whole(),
        "rows_": Array("f8", ("n_rows", "n_columns")),
        "scale_": Array("f8", ("n_columns",)),
        "targets_": Array("f8", ("n_rows",)),
        "validation_": Array("f8", (None, 2), finite=False),
        "weights_": Array("f8", ("n_rows",), low=0.0),
    }

    def _power(self) -> int:
        return 2

    def _fit(self, data: Data) -> None:
        rows = np.array(data.rows, dtype=np.float64, order="C")
        weights = data.weight_array
        d = data.n_columns
        self.center_, self.scale_ = np.zeros(d), np.ones(d)
        if self.standardize:
            self.center_, self.scale_ = location_and_scale(rows, weights)
        rows -= self.center_
        rows /= self.scale_
        self.guide_ = 0
        if d > 1:
            self.guide_ = int(np.argmax([len(np.unique(column)) for column in rows.T]))
        order = np.argsort(rows[:, self.guide_], kind="stable")
        self.rows_, self.weights_ = rows[order], np.asarray(weights, dtype=np.float64)[order]
        self.targets_ = np.asarray(data.y, dtype=np.float64)[order]
        self._settle_target()
        self.validation_ = None
        if self.span is not None:
            self.bandwidth_ = np.nan
        elif self.bandwidth == "auto":
            self.validation_ = self._validated()
            self.bandwidth_ = float(self.validation_[self.validation_[:, 1].argmin(), 0])
        else:
            self.bandwidth_ = float(self.bandwidth)

    def _settle_target(self) -> None:
        """Change the units of the target, where the method wishes so."""

    def _origin(self, query: np.ndarray) -> np.ndarray:
        """The point about which products of rows are summed."""
        return query

    def _relative(self) -> bool:
        """Whether significances count relative to that of the nearest row."""
        return True

    def _answers(self, products: np.ndarray, queries: np.ndarray) -> np.ndarray:
        """What is said of queries, the estimate first, from sums of products about each."""
        raise NotImplementedError

    def _validated(self) -> np.ndarray:
        """Widths and their mean squared errors at probes, each left out with its equals."""
        probes, weights = self._probes()
        d = max(self.rows_.shape[1], 1)
        widths = WIDTHS * np.sqrt(2 * d)
        errors = in_order(partial(self._probe_errors, widths), probes, self.n_jobs, short=True)
        found = np.array(list(errors))
        usable = np.isfinite(found).all(axis=0)
        mean = np.where(usable, weights @ np.where(np.isfinite(found), found, 0.0), np.inf)
        if not usable.any():
            mean[-1] = np.nan_to_num(mean[-1], posinf=0.0)
        return np.column_stack([widths, mean])

    def _probes(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows at even steps of the canonical order, by weight, and their shares."""
        order = canonical_order(self.rows_, self.targets_)
        line = np.cumsum(self.weights_[order])
        marks = (np.arange(N_PROBES) + 0.5) / N_PROBES * line[-1]
        places = np.minimum(np.searchsorted(line, marks), len(line) - 1)
        found = order[places]
        return found, np.full(len(found), 1 / len(found))

    def _probe_errors(self, widths: np.ndarray, probe: int) -> np.ndarray:
        query = self.rows_[probe : probe + 1]
        squared = np.empty(len(self.rows_))
        nearest = squared_distances(self.rows_, query[0], True, squared)
        errors = np.full(len(widths), np.inf)
        if not np.isfinite(nearest):
            return errors
        line = self.rows_[:, self.guide_]
        for place, width in enumerate(widths):
            low, high = between(line, query[0, self.guide_], self._reach(nearest, width))
            sums = self._products(query[0], squared[low:high], nearest, width, low)
            if sums[-2, -2] > 0:
                estimate = self._answers(sums[None], query)[0, 0]
                errors[place] = (estimate - self._known(probe)) ** 2
        return errors

    def _known(self, place: int) -> float:
        """The target of a training row in the units of answers."""
        return float(self.targets_[place])

    def _reach(self, nearest: float, width: float) -> float:
        """The distance beyond which no row counts, the nearest one's square being `nearest`."""
        if self.kernel == "tricube":
            return width
        return float(np.sqrt(nearest + NEGLIGIBLE / self._power() * width**2))

    def _products(self, query, squared, nearest: float, width: float, low: int) -> np.ndarray:
        """Z'SZ for rows z = (x - origin, 1, y), S their significances to the power times weights.

        Of the rows from `low` on, whose squared distances are given; of shape (d + 2, d + 2).
        """
        n, d = len(squared), self.rows_.shape[1]
        rows, targets = self.rows_[low : low + n], self.targets_[low : low + n]
        weights = self.weights_[low : low + n]
        design = np.empty((min(n, ROWS_TOGETHER), d + 2))
        total = np.zeros((d + 2, d + 2))
        start, tricube = 0, self.kernel == "tricube"
        base = nearest if self._relative() and not tricube else 0.0
        origin = np.ascontiguousarray(self._origin(query))
        while start < n:
            filled, start = significant_rows(
                rows,
                targets,
                weights,
                squared,
                start,
                origin,
                base,
                nearest,
                width,
                self._power(),
                tricube,
                design,
            )
            total += inner(design[:filled], design[:filled])
        return total

    def _queries(self, rows: np.ndarray) -> np.ndarray:
        """Rows in the units in which distances are measured."""
        if rows.shape[1] != len(self.center_):
            raise ValueError(f"{rows.shape[1]} columns were given for {len(self.center_)}")
        return np.ascontiguousarray((rows - self.center_) / self.scale_)

    def _said(self, rows: np.ndarray) -> np.ndarray:
        """Answers for a block of rows in the user's units."""
        queries = self._queries(rows)
        sums = self._sums_of_line(queries) if queries.shape[1] == 1 else self._sums(queries)
        if self._relative() and not (sums[:, -2, -2] > 0).all():
            alone = int(np.argmin(sums[:, -2, -2]))
            width = float(self._widths(queries[alone : alone + 1])[0])
            raise DataError(
                f"no training row is within the bandwidth {width:.4g} of a row of X (in "
                "units of the columns' deviations, where these are standardised); widen "
                "bandwidth or span, or use kernel='gaussian'"
            )
        return self._answers(sums, queries)

    def _sums(self, queries: np.ndarray) -> np.ndarray:
        """Sums of products about each query."""
        n, d = self.rows_.shape
        line = np.ascontiguousarray(self.rows_[:, self.guide_])
        squared = np.empty(n)
        sums = np.empty((len(queries), d + 2, d + 2))
        for place, (query, width) in enumerate(zip(queries, self._widths(queries))):
            low, high = self._window(query, line, width)
            near = squared[: high - low]
            nearest = squared_distances(self.rows_[low:high], query, False, near)
            sums[place] = self._products(query, near, nearest, width, low)
        return sums

    def _sums_of_line(self, queries: np.ndarray) -> np.ndarray:
        """The same for a single column, without arrays of distances."""
        sums = np.empty((len(queries), 3, 3))
        line_sums(
            self.rows_[:, 0],
            self.targets_,
            self.weights_,
            queries[:, 0],
            np.array([self._origin(query)[0] for query in queries]),
            self._widths(queries),
            self._power(),
            self.kernel == "tricube",
            self._relative(),
            sums,
        )
        return sums

    def _window(self, query: np.ndarray, line: np.ndarray, width: float) -> tuple[int, int]:
        """The rows that may count for a query: a stretch of the sorted `line`.

        A row of the stretch's neighbourhood bounds the distance of the nearest one.
        """
        at = query[self.guide_]
        place = int(np.searchsorted(line, at))
        beside = self.rows_[max(place - 1, 0) : place + 1]
        nearest = float(((beside - query) ** 2).sum(axis=1).min())
        return between(line, at, self._reach(nearest, width))

    def _widths(self, queries: np.ndarray) -> np.ndarray:
        """The width for each query: the same, or within which the share `span` of weight lies."""
        if self.span is None:
            return np.full(len(queries), self.bandwidth_)
        line = np.cumsum(self.weights_)
        wanted = self.span * line[-1] * (1 - 1e-12)
        widths = np.empty(len(queries))
        if self.rows_.shape[1] == 1:
            below = np.concatenate([[0.0], line])
            reaches_of_weight(self.rows_[:, 0], below, queries[:, 0], wanted, widths)
        else:
            squared = np.empty(len(self.rows_))
            for i, query in enumerate(queries):
                squared_distances(self.rows_, query, False, squared)
                order = np.argsort(squared, kind="stable")
                place = np.searchsorted(np.cumsum(self.weights_[order]), wanted)
                widths[i] = np.sqrt(squared[order[min(place, len(order) - 1)]])
        return np.where(widths > 0, widths, 1.0)

    def _estimate(self, rows) -> np.ndarray:
        return self._said(rows)[:, 0]

    def significances(self, query) -> np.ndarray:
        """How much each row of ``rows_`` counts for a query: s_i, one for a row at the query.

        Parameters
        ----------
        query : array-like of shape (n_columns,)

        Returns
        -------
        significances : ndarray of shape (n_rows,)
        """
        return self._each_block(self._significances, np.atleast_2d(query))[0]

    def _significances(self, rows: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), len(self.rows_)))
        queries = self._queries(rows)
        for row, query, width in zip(found, queries, self._widths(queries)):
            squared_distances(self.rows_, query, False, row)
            u = np.sqrt(row) / width
            row[:] = np.exp(-(u**2)) if self.kernel == "gaussian" else tricube(u)
        return found

    def _rows_at_once(self, rows) -> int:
        d = self.rows_.shape[1]
        return 256 if d == 1 else int(np.clip(2**18 // (d + 2) ** 2, 1, 64))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        block = min(n_rows, ROWS_TOGETHER) * (n_columns + 2) + 4 * (n_columns + 2) ** 2
        return 8 * (n_rows * (n_columns + 8) + 2 * threads * (n_rows + block))

    def _memory_remedy(self) -> str:
        return "Use fewer rows: all of them are kept."

    def _check_loaded(self) -> None:
        if not hasattr(self, "rows_"):
            return
        n, d = self.rows_.shape
        if self.targets_.shape != (n,) or self.weights_.shape != (n,):
            raise ValueError("rows, targets and weights differ in length")
        if not 0 <= self.guide_ < d or (np.diff(self.rows_[:, self.guide_]) < 0).any():
            raise ValueError("the rows are not sorted by the column that guides the search")
        if self.center_.shape != (d,) or self.scale_.shape != (d,):
            raise ValueError("centre and scale do not have one number for each column")


@method(
    task="regress",
    texts="004 8.2",
    use="A smooth relation of unknown shape in a few columns, with many rows.",
    avoid="Many columns (nothing is near), fast answers from many rows, far extrapolation.",
    peers=("statsmodels lowess (one column)", "skmisc.loess"),
)
class LocallyWeightedRegression(LocalModel):
    """A plane fitted anew for every query, rows counting by their nearness to it.

    For a query q minimises sum_i w_i s_i^power (y_i - b0 - b'(x_i - q))^2 with the significance
    s_i = exp(-|x_i - q|^2 / h^2) and answers b0. Use it for smooth relations of unknown shape in
    a few columns. It is lazy: ``fit`` keeps the rows, and every answer costs a pass over them. Not
    for many columns, where no row is near to another.

    A wide h gives one plane for all (least squares), a narrow one follows every row.

    Texts: 004 8.2. Its equation 8.1 weighs squared errors by s_i and 8.2 by s_i^2: ``power`` says
    which, 2 as in its Bayesian form. Its W_K is h^2. It measures distances in the columns' own
    units (``standardize=False``). Where the rows near to a query do not determine a plane the text
    advises a ridge: ``alpha``.

    Parameters
    ----------
    bandwidth : float or "auto", default="auto"
        The distance h, in standard deviations of the columns where these are standardised. "auto"
        takes the best of eight widths by the squared error at 64 rows spread evenly over the
        table, each left out together with rows at the same place.
    kernel : {"gaussian", "tricube"}, default="gaussian"
        Significance by distance: exp(-u^2) for u = distance / h, or (1 - u^3)^3 and zero from h on.
    span : float or None, default=None
        A share of the rows: h is then, for each query, the distance within which so many rows
        lie, as in lowess; in place of bandwidth.
    power : {1, 2}, default=2
        Errors are weighed by s_i or by s_i^2.
    degree : {0, 1}, default=1
        A plane, or a constant (the mean by significance).
    alpha : float, default=1e-6
        Ridge on the slopes in units of the local sums of squares; 0 gives the plane of least slopes
        where there are several.
    standardize : bool, default=True
        Whether distances are measured after dividing each column by its standard deviation.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    bandwidth_ : float
        The distance h; NaN where `span` gives it.
    validation_ : ndarray of shape (8, 2) or None
        Widths tried and their mean squared errors; None where the width was given.
    rows_ : ndarray of shape (n_rows, n_columns)
        The training rows, in the units in which distances are measured, sorted by one column.
    guide_ : int
        That column: the one of most different values.
    targets_, weights_ : ndarray of shape (n_rows,)
        Their targets and weights.
    center_, scale_ : ndarray of shape (n_columns,)
        What is subtracted from columns, and what they are divided by.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    BayesianLocallyWeightedRegression : With a variance for each answer.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import LocallyWeightedRegression
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = LocallyWeightedRegression().fit(x, np.sin(x[:, 0]))
    >>> bool(abs(model.predict([[2.0]])[0] - np.sin(2.0)) < 0.01)
    True
    """

    _parameter_constraints = {
        "bandwidth": [StrOptions({"auto"}), above(0.0)],
        "kernel": [StrOptions({"gaussian", "tricube"})],
        "span": [None, share()],
        "power": [whole(1, 2)],
        "degree": [whole(0, 1)],
        "alpha": [at_least(0.0)],
        "standardize": FLAG,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        bandwidth="auto",
        *,
        kernel="gaussian",
        span=None,
        power=2,
        degree=1,
        alpha=1e-6,
        standardize=True,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.span = span
        self.power = power
        self.degree = degree
        self.alpha = alpha
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _power(self) -> int:
        return int(self.power)

    def _answers(self, products, queries) -> np.ndarray:
        """Heights of the local planes at the queries, and their slopes."""
        p = products.shape[1] - 2
        weight = products[:, p, p]
        mean = products[:, :p, p] / weight[:, None]
        level = products[:, p + 1, p] / weight
        if self.degree == 0:
            return np.column_stack([level, np.zeros_like(mean)])
        about = products[:, :p, :p] - weight[:, None, None] * mean[:, :, None] * mean[:, None, :]
        cross = products[:, :p, p + 1] - weight[:, None] * mean * level[:, None]
        slopes = ridge_slopes(about, cross, products, float(self.alpha))
        return np.column_stack([level - (mean * slopes).sum(axis=1), slopes])

    def local_line(self, query) -> tuple[float, np.ndarray]:
        """The plane at a query: its height there and its slopes, in the user's units.

        Parameters
        ----------
        query : array-like of shape (n_columns,)

        Returns
        -------
        height : float
        slopes : ndarray of shape (n_columns,)
        """
        said = self._each_block(self._said, np.atleast_2d(query))[0]
        return float(said[0]), said[1:] / self.scale_


@method(
    task="regress",
    texts="004 8.2.1",
    use="Local regression that says how sure it is, also far from all rows.",
    avoid="Many columns, and very many queries: each answer costs a pass over the rows.",
)
class BayesianLocallyWeightedRegression(LocalModel):
    """Local planes with a prior, so that each answer has a variance and an interval.

    With x = (x_1 .. x_d, 1), significances S and the prior w ~ N(0, sigma^2 Sigma), 1 / sigma^2 ~
    Gamma(k, rate theta), the plane at a query has V = (Sigma^-1 + X'S^2 X)^-1, mean w = V X'S^2 y,
    noise sigma^2 = (2 theta + (y - X w)'S^2 y) / (2 k + sum_i s_i^2), and the answer q'w has
    variance sigma^2 q'V q and a Student distribution of 2 k + sum_i s_i^2 degrees of freedom.

    Use it for local regression with error bars: near many rows these are narrow, far from all
    rows the prior speaks. Not for many columns.

    Texts: 004 8.2.1, corrected: Cov(w) is sigma^2 times the inverse V; the degrees of freedom are
    2 k + sum s_i^2 (printed: k + sum s_i^2); theta is a rate. Sigma^-1 to zero gives
    `LocallyWeightedRegression`. The text takes columns and target as they are
    (``standardize=False``); by default both are standardised, so that the prior does not
    depend on units.

    Parameters
    ----------
    bandwidth : float or "auto", default="auto"
        The distance h of s_i = exp(-|x_i - q|^2 / h^2); "auto" as in `LocallyWeightedRegression`.
    prior_variance : float or array-like of shape (n_columns + 1,), default=400.0
        Diagonal of Sigma; the constant last.
    prior_shape : float, default=0.8
        The k of the prior of the noise.
    prior_rate : float, default=0.001
        The theta of the prior of the noise.
    standardize : bool, default=True
        Whether columns and target are standardised first.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    bandwidth_ : float
        The distance h.
    validation_ : ndarray of shape (8, 2) or None
        Widths tried and their mean squared errors; None where the width was given.
    rows_ : ndarray of shape (n_rows, n_columns)
        The training rows, in the units in which distances are measured, sorted by one column.
    guide_ : int
        That column: the one of most different values.
    targets_, weights_ : ndarray of shape (n_rows,)
        Their targets (standardised as they are) and weights.
    center_, scale_ : ndarray of shape (n_columns,)
        What is subtracted from columns, and what they are divided by.
    target_center_, target_scale_ : float
        The same of the target.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    See Also
    --------
    LocallyWeightedRegression : Without the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import BayesianLocallyWeightedRegression
    >>> x = np.linspace(0, 6, 200)[:, None]
    >>> model = BayesianLocallyWeightedRegression().fit(x, np.sin(x[:, 0]))
    >>> near, far = model.predict([[3.0], [30.0]], return_std=True)[1]
    >>> bool(near < far)
    True
    """

    kernel = "gaussian"
    span = None

    _parameter_constraints = {
        "bandwidth": [StrOptions({"auto"}), above(0.0)],
        "prior_variance": ["array-like", above(0.0)],
        "prior_shape": [above(0.0)],
        "prior_rate": [above(0.0)],
        "standardize": FLAG,
        "n_jobs": JOBS,
    }
    _stored = {
        "target_center_": Number(),
        "target_scale_": Number(),
    }

    def __init__(
        self,
        bandwidth="auto",
        *,
        prior_variance=400.0,
        prior_shape=0.8,
        prior_rate=0.001,
        standardize=True,
        n_jobs=None,
    ):
        self.bandwidth = bandwidth
        self.prior_variance = prior_variance
        self.prior_shape = prior_shape
        self.prior_rate = prior_rate
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _settle_target(self) -> None:
        self.target_center_, self.target_scale_ = 0.0, 1.0
        if self.standardize:
            center, scale = location_and_scale(self.targets_[:, None], self.weights_)
            self.target_center_, self.target_scale_ = float(center[0]), float(scale[0])
            self.targets_ = (self.targets_ - self.target_center_) / self.target_scale_

    def _known(self, place: int) -> float:
        return float(self.targets_[place] * self.target_scale_ + self.target_center_)

    def _origin(self, query: np.ndarray) -> np.ndarray:
        return np.zeros_like(query)

    def _relative(self) -> bool:
        return False

    def _prior_precision(self, d: int) -> np.ndarray:
        variances = np.atleast_1d(np.asarray(self.prior_variance, dtype=np.float64))
        if variances.shape not in ((1,), (d + 1,)) or not (variances > 0).all():
            raise DataError(
                f"prior_variance must be one positive number or {d + 1} (one for each of {d} "
                f"columns, the constant last), not of shape {variances.shape}"
            )
        return np.broadcast_to(1 / variances, d + 1)

    def _answers(self, products, queries) -> np.ndarray:
        """Mean, variance of the mean, noise variance, degrees of freedom; in the user's units."""
        d = queries.shape[1]
        precision = products[:, : d + 1, : d + 1] + np.diag(self._prior_precision(d))
        cross = products[:, : d + 1, d + 1]
        full = np.column_stack([queries, np.ones(len(queries))])
        solved = np.linalg.solve(precision, np.stack([cross, full], axis=2))
        plane, along = solved[:, :, 0], solved[:, :, 1]
        freedom = 2 * self.prior_shape + products[:, d, d]
        left = np.maximum(products[:, d + 1, d + 1] - (plane * cross).sum(axis=1), 0.0)
        noise = (2 * self.prior_rate + left) / freedom
        spread = np.maximum((full * along).sum(axis=1), 0.0) * noise
        mean = (full * plane).sum(axis=1)
        return np.column_stack(
            [
                self.target_center_ + self.target_scale_ * mean,
                self.target_scale_**2 * spread,
                self.target_scale_**2 * noise,
                freedom,
            ]
        )

    def predict(self, X, return_std: bool = False) -> Any:
        """The estimated target, for each row, and on request its standard deviation.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        return_std : bool, default=False
            Whether to give the standard deviation of the estimate too (the root of Var(q'w)).

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Or a pair (y, std) of such.
        """
        if not return_std:
            return super().predict(X)
        said = self._each_block(self._said, X)
        return said[:, 0], np.sqrt(said[:, 1])

    def predict_interval(self, X, confidence_level: float = 0.95, of: str = "mean") -> np.ndarray:
        """Intervals by Student's distribution, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        confidence_level : float, default=0.95
        of : {"mean", "row"}, default="mean"
            Of the plane's height, or of a new target (its noise added).

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2)
            Low and high ends.
        """
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must lie between 0 and 1, not {confidence_level!r}")
        if of not in ("mean", "row"):
            raise ValueError(f"of is 'mean' or 'row', not {of!r}")
        mean, spread, noise, freedom = self._each_block(self._said, X).T
        variance = spread + noise if of == "row" else spread
        half = scipy.stats.t.ppf(0.5 + confidence_level / 2, freedom) * np.sqrt(variance)
        return np.column_stack([mean - half, mean + half])


def ridge_slopes(about: np.ndarray, cross: np.ndarray, products: np.ndarray, alpha: float):
    """Slopes of many small problems, in units of their columns' local lengths.

    about (m, p, p) and cross (m, p) are sums about the local means; `products` tells how far these
    are rounding: a column that varies no more than that gets no slope.
    """
    variation = np.einsum("mjj->mj", about)
    size = np.einsum("mjj->mj", products)[:, : variation.shape[1]]
    varies = variation > 1e-14 * size
    lengths = np.sqrt(np.where(varies, variation, 1.0))
    scaled = about / lengths[:, :, None] / lengths[:, None, :]
    scaled *= varies[:, :, None] & varies[:, None, :]
    target = np.where(varies, cross / lengths, 0.0)
    diagonal = np.einsum("mjj->mj", scaled)
    if alpha == 0:
        inverse = np.linalg.pinv(scaled, rcond=1e-12, hermitian=True)
        return np.einsum("mij,mj->mi", inverse, target) / lengths
    diagonal += np.where(varies, alpha, 1.0)
    return np.linalg.solve(scaled, target[:, :, None])[:, :, 0] / lengths


def tricube(u: np.ndarray) -> np.ndarray:
    """(1 - u^3)^3 below one, else zero."""
    return np.maximum(1 - u**3, 0.0) ** 3


def between(line: np.ndarray, at: float, reach: float) -> tuple[int, int]:
    """The part of a sorted line within `reach` of a point, with a margin for rounding."""
    reach = reach * (1 + 1e-9) + 1e-12 * abs(at)
    low, high = np.searchsorted(line, at - reach), np.searchsorted(line, at + reach, side="right")
    return int(low), int(high)


@kernel("f8[:]", "f8[:]", "f8[:]", "f8", "out f8[:]")
def reaches_of_weight(line, below, queries, wanted, reaches):
    """The distance from each query within which so much weight of a sorted line lies.

    below[i] is the weight before place i, n + 1 numbers. By halving, on either side of a query,
    the rows whose distance may be the one.
    """
    n = len(line)
    for q in range(len(queries)):
        at = queries[q]
        split = np.searchsorted(line, at)
        reach = np.inf
        low, high = split, n
        while low < high:
            middle = (low + high) // 2
            if weight_within(line, below, at, split, line[middle] - at) >= wanted:
                high = middle
            else:
                low = middle + 1
        if low < n:
            reach = line[low] - at
        low, high = -1, split - 1
        while low < high:
            middle = (low + high + 1) // 2
            if weight_within(line, below, at, split, at - line[middle]) >= wanted:
                low = middle
            else:
                high = middle - 1
        if low >= 0:
            reach = min(reach, at - line[low])
        reaches[q] = reach if reach < np.inf else max(at - line[0], line[n - 1] - at)


@lean_subkernel
def weight_within(line, below, at, split, reach):
    """Weight of the rows of a sorted line that are no farther from a point; split is its place."""
    low, high = 0, split
    while low < high:
        middle = (low + high) // 2
        if at - line[middle] <= reach:
            high = middle
        else:
            low = middle + 1
    first = low
    low, high = split, len(line)
    while low < high:
        middle = (low + high) // 2
        if line[middle] - at <= reach:
            low = middle + 1
        else:
            high = middle
    return below[low] - below[first]


@kernel(
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "i8",
    "b1",
    "b1",
    "out f8[:,:,:]",
)
def line_sums(line, targets, weights, queries, origins, widths, power, tricubic, relative, sums):
    """Sums (m, 3, 3) of products of (x - origin, 1, y), by weight and significance^power.

    line, sorted, targets and weights (n,); queries, origins and widths (m,). The significances are
    those of `significant_rows`.
    """
    n = len(line)
    for q in range(len(queries)):
        at, width = queries[q], widths[q]
        place = np.searchsorted(line, at)
        gap = np.inf
        if place > 0:
            gap = at - line[place - 1]
        if place < n:
            gap = min(gap, line[place] - at)
        nearest = gap * gap
        base = nearest if relative and not tricubic else 0.0
        reach = width if tricubic else np.sqrt(nearest + NEGLIGIBLE / power * width * width)
        low = np.searchsorted(line, at - reach)
        high = np.searchsorted(line, at + reach, side="right")
        one = x1 = x2 = y1 = y2 = xy = 0.0
        for i in range(low, high):
            gap = line[i] - at
            if tricubic:
                u = abs(gap) / width
                rest = max(1.0 - u * u * u, 0.0)
                significance = rest * rest * rest
                if power == 2:
                    significance *= significance
            else:
                significance = np.exp(-power * (gap * gap - base) / (width * width))
            weight = significance * weights[i]
            x, y = line[i] - origins[q], targets[i]
            one += weight
            x1 += weight * x
            x2 += weight * x * x
            y1 += weight * y
            y2 += weight * y * y
            xy += weight * x * y
        sums[q, 0, 0], sums[q, 0, 1], sums[q, 0, 2] = x2, x1, xy
        sums[q, 1, 0], sums[q, 1, 1], sums[q, 1, 2] = x1, one, y1
        sums[q, 2, 0], sums[q, 2, 1], sums[q, 2, 2] = xy, y1, y2


@kernel("f8[:,:]", "f8[:]", "b1", "out f8[:]")
def squared_distances(rows, query, leave, squared):
    """Squared distances of rows (n, d) from a query (d,), and the least of them.

    With `leave`, rows at the query's own place are at infinity.
    """
    nearest = np.inf
    for i in range(len(rows)):
        total = 0.0
        for j in range(len(query)):
            gap = rows[i, j] - query[j]
            total += gap * gap
        if leave and total == 0.0:
            total = np.inf
        squared[i] = total
        if total < nearest:
            nearest = total
    return nearest


@kernel(
    "f8[:,:]",
    "f8[:]",
    "f8[:]",
    "f8[:]",
    "i8",
    "f8[:]",
    "f8",
    "f8",
    "f8",
    "i8",
    "b1",
    "out f8[:,:]",
)
def significant_rows(
    rows, targets, weights, squared, start, origin, base, nearest, width, power, tricubic, design
):
    """Fill `design` with rows (x - origin, 1, y) times the root of significance^power * weight.

    Rows whose significance is below e^-42 of the nearest row's are passed over. Gives how many
    were filled in and where to go on.
    """
    n, d = rows.shape
    filled = 0
    i = start
    while i < n and filled < len(design):
        if tricubic:
            u = np.sqrt(squared[i]) / width
            rest = max(1.0 - u * u * u, 0.0)
            significance = rest * rest * rest
            if power == 2:
                significance *= significance
        elif power * (squared[i] - nearest) > NEGLIGIBLE * width * width:
            significance = 0.0
        else:
            significance = np.exp(-power * (squared[i] - base) / (width * width))
        if significance > 0.0:
            root = np.sqrt(significance * weights[i])
            for j in range(d):
                design[filled, j] = root * (rows[i, j] - origin[j])
            design[filled, d] = root
            design[filled, d + 1] = root * targets[i]
            filled += 1
        i += 1
    return filled, i
