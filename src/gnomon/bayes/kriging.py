"""Kriging: a surface through measured sites, with the variance of each estimate.

The estimate at x is a weighted mean of the measured values; the weights make it unbiased and of
least variance for a stationary surface of covariance C(h) = sill rho(h / range):

    [C 1; 1' 0] [w; m] = [c(x); 1],   estimate = w'y,   variance = C(0) - w'c(x) - m

(ordinary kriging, the same as Gaussian-process regression with an unknown constant mean). The
covariance comes from the variogram: half the mean squared difference of values at distance h.

Texts: 004 1.2 (the surface and the next sample; the equations are not in the text).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import nnls
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from gnomon.bayes.kernels import bin_pairs, greatest_distance
from gnomon.contract import Data, Regressor
from gnomon.engine.columns import location_and_scale
from gnomon.engine.draw import canonical_order
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, JOBS, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, DictOf, Number, Optional, Text
from gnomon.engine.sums import rows_per_chunk
from gnomon.engine.threads import one_blas_thread

MOST_SITES = 1500  # of the variogram: so many sites make a million pairs
N_BINS = 20  # judgement: some hundred pairs in a bin from 70 sites on, and the rise is still seen
N_RANGES = 60  # geometric steps of 9% from 0.02 to 3 of the largest distance
JITTER = 1e-10  # relative: lets equal sites without a nugget be factored; 1e-5 of a deviation
LARGEST_BLOCK = 2**18  # numbers of a block of predictions: 2 MB
MOST_AT_ONCE = 2000  # so many sites are solved together in a tenth of a second
NEAREST = 100  # judgement: a system of 100 per estimate; farther sites are screened by nearer ones
MOST_LEFT_OUT = 500  # sites up to which they are left out one by one: 0.05 s
STRIP = 256  # rows of the covariance filled at once, so that no second matrix is made
RULES = ("maximum", "variance", "expected-improvement", "upper-bound")


def correlation(kind: str, h: np.ndarray) -> np.ndarray:
    """rho at distances in units of the range."""
    if kind == "exponential":
        return np.exp(-h)
    if kind == "gaussian":
        return np.exp(-(h**2))
    if kind == "spherical":
        return np.where(h < 1, 1 - 1.5 * h + 0.5 * h**3, 0.0)
    root = np.sqrt(3.0) * h  # matern of smoothness 3/2
    return (1 + root) * np.exp(-root)


KINDS = ("exponential", "gaussian", "spherical", "matern")


class Variogram(NamedTuple):
    """Half the mean squared difference of values, by distance.

    Attributes
    ----------
    distance : ndarray of shape (n_bins,)
        Mean distance of the pairs of a bin.
    semivariance : ndarray of shape (n_bins,)
    pairs : ndarray of shape (n_bins,)
        Weight of the pairs.
    """

    distance: np.ndarray
    semivariance: np.ndarray
    pairs: np.ndarray


def variogram(
    sites: ArrayLike, values: ArrayLike, weights: ArrayLike | None = None, n_bins: int = N_BINS
) -> Variogram:
    """The empirical variogram, gamma(h) = mean of (y_i - y_j)^2 / 2 over pairs at distance h.

    Parameters
    ----------
    sites : array-like of shape (n, d)
    values : array-like of shape (n,)
    weights : array-like of shape (n,), default=None
    n_bins : int, default=20
        Bins of equal width up to half of the greatest distance.

    Returns
    -------
    variogram : Variogram
        Bins that hold pairs.

    Examples
    --------
    >>> found = variogram([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, 1.0], n_bins=2)
    >>> found.semivariance
    array([0.5])
    """
    sites = np.ascontiguousarray(sites, dtype=np.float64)
    values = np.ascontiguousarray(values, dtype=np.float64)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    farthest = greatest_distance(sites)
    edges = np.linspace(0, farthest / 2, n_bins + 1)
    total, distance, height = np.zeros((3, n_bins))
    if farthest > 0:
        bin_pairs(sites, values, weights, edges, total, distance, height)
    held = total > 0
    return Variogram(distance[held] / total[held], height[held] / total[held], total[held])


class Covariance(NamedTuple):
    """nugget + sill (1 - rho(h / range)): a model of a variogram."""

    kind: str
    range: float
    sill: float
    nugget: float


def fit_variogram(found: Variogram, kind: str, nugget: float | None = None) -> Covariance:
    """The model of least squares (weighted by pairs): ranges are tried, the rest is linear.

    Parameters
    ----------
    found : Variogram
    kind : {"exponential", "gaussian", "spherical", "matern"}
    nugget : float, default=None
        Known nugget; estimated by default.

    Returns
    -------
    covariance : Covariance

    Examples
    --------
    >>> import numpy as np
    >>> h = np.linspace(0.1, 3, 20)
    >>> found = fit_variogram(Variogram(h, 1 - np.exp(-h / 0.5), np.ones(20)), "exponential")
    >>> round(found.range, 1), round(found.sill, 1)
    (0.5, 1.0)
    """
    if kind not in KINDS:
        raise DataError(f"kind={kind!r} is none of {', '.join(KINDS)}")
    if not len(found.distance) or not found.semivariance.any():
        return Covariance(kind, 1.0, 0.0, nugget or 0.0)
    root = np.sqrt(found.pairs / found.pairs.sum())
    best: tuple[float, Covariance] | None = None
    ranges = found.distance.max() * np.geomspace(0.02, 3.0, N_RANGES)
    for reach in ranges:
        rise = 1 - correlation(kind, found.distance / reach)
        if nugget is None:
            design = np.column_stack([np.ones_like(rise), rise])
            (base, sill), misfit = nnls(design * root[:, None], found.semivariance * root)
        else:
            base = nugget
            wished = (found.semivariance - nugget) * root
            (sill,), misfit = nnls((rise * root)[:, None], wished)
        if best is None or misfit < best[0]:
            best = misfit, Covariance(kind, float(reach), float(sill), float(base))
    assert best is not None
    return best[1]


def nearest_sites(n_neighbors: int | str | None, n_sites: int) -> int | None:
    """Sites that an estimate is made of where there are so many; None for all."""
    if n_neighbors == "auto":
        return None if n_sites <= MOST_AT_ONCE else NEAREST
    if n_neighbors is None or n_sites <= int(n_neighbors):
        return None
    return int(n_neighbors)


class NextSample(NamedTuple):
    """Where to measure next.

    Attributes
    ----------
    place : int
        Which of the candidates.
    score : ndarray of shape (n,)
        What the rule gives to every candidate.
    estimate, deviation : ndarray of shape (n,)
        Of the surface there.
    """

    place: int
    score: np.ndarray
    estimate: np.ndarray
    deviation: np.ndarray


@method(
    task="regress",
    texts="004 1.2",
    use="Few costly measurements of a smooth surface in few columns; where to measure next.",
    avoid="Many columns, or a target that jumps or depends on categories.",
    peers=("sklearn.gaussian_process.GaussianProcessRegressor", "pykrige.OrdinaryKriging"),
)
class Kriging(Regressor):
    """Ordinary kriging: a surface through measured sites, with its variance; the next site.

    Use it where a measurement is costly and the surface is smooth: sites on a map, settings of an
    experiment, parameters of a slow programme. Do not use it with many columns, where all sites
    are equally far, nor where categories decide. The weights w of the estimate solve
    ``[C 1; 1' 0][w; m] = [c; 1]``.

    Parameters
    ----------
    variogram : {"exponential", "gaussian", "spherical", "matern"}, default="exponential"
        The form of the covariance: rough, very smooth, of finite reach, or once differentiable
        (Matern 3/2).
    range : float or None, default=None
        Distance over which values are alike, in the units of the sites (of standard deviations
        where ``standardize``); None to fit it to the variogram.
    sill : float or None, default=None
        Variance of the surface; None to fit it.
    nugget : float or None, default=None
        Variance of a measurement about the surface; 0 for a surface through every value, None to
        fit it.
    standardize : bool, default=True
        Measure distances in standard deviations of the columns, so that units do not matter.
    n_neighbors : int, "auto" or None, default="auto"
        Nearest sites that an estimate is made of, all where there are not more. None for all of
        them, which is exact and needs a matrix of all pairs of sites; "auto" for all up to 2000
        sites, and the 100 nearest of more.
    n_jobs : int or None, default=None
        Threads; None for all processors. The result does not depend on it.

    Attributes
    ----------
    sites_ : ndarray of shape (n_sites, n_columns)
        Different rows of the training data, centred and scaled.
    values_ : ndarray of shape (n_sites,)
        Mean target at each site.
    weights_ : ndarray of shape (n_sites,)
        Weight of each site.
    covariance_ : dict
        ``kind``, ``range``, ``sill`` and ``nugget`` of the surface.
    variogram_ : dict
        The empirical variogram: ``distance``, ``semivariance``, ``pairs``; of 1500 sites evenly
        drawn where there are more.
    dual_coef_ : ndarray of shape (n_sites,) or None
        Coefficients c of the estimate level + sum_i c_i C(x, x_i), where it is made of all sites.
    level_ : float
        The mean of the surface: by least variance where it is made of all sites, else of the
        values.
    std_scale_ : float
        Factor of all deviations, from the errors of sites left out one by one; 1 where range, sill
        and nugget are given, or sites are more than 500.
    center_ : ndarray of shape (n_columns,)
        What was taken from each column.
    scale_ : ndarray of shape (n_columns,)
        What each column was divided by.
    encoder_ : TableEncoder
        How the columns of a table became numbers; only after fitting on a table.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names; only where they have names.

    Notes
    -----
    Text: 004 1.2, which has the idea and the loop of sampling; the equations are those of ordinary
    kriging. Rows at one site are replaced by their mean, whose measurement variance is the nugget
    over their weight. 1e-10 of the sill is added to the nugget, so that systems can be solved.

    Examples
    --------
    >>> from gnomon.bayes import Kriging
    >>> model = Kriging(nugget=0).fit([[0.0], [1.0], [2.0], [4.0]], [0.0, 1.0, 2.0, 4.0])
    >>> model.predict([[1.0], [3.0]]).round(3)
    array([1.   , 2.986])
    >>> model.next_sample([[0.5], [3.0], [4.0]], rule="variance").place
    1
    """

    _keeps_rows = True
    _parameter_constraints = {
        "variogram": [StrOptions(set(KINDS))],
        "range": [above(0), None],
        "sill": [above(0), None],
        "nugget": [at_least(0), None],
        "standardize": FLAG,
        "n_neighbors": [StrOptions({"auto"}), whole(2), None],
        "n_jobs": JOBS,
    }
    _stored = {
        "std_scale_": Optional(Number()),
        "center_": Array("f8", ("n_columns",)),
        "covariance_": DictOf(Text() | Number()),
        "dual_coef_": Array("f8", ("n_dual_coef",)),
        "level_": Number(),
        "scale_": Array("f8", ("n_columns",)),
        "sites_": Array("f8", ("n_dual_coef", "n_columns")),
        "values_": Array("f8", ("n_dual_coef",)),
        "variogram_": DictOf(Array("f8", (None,))),
        "weights_": Array("f8", ("n_dual_coef",), low=0.0),
    }

    def __init__(
        self,
        variogram="exponential",
        *,
        range=None,
        sill=None,
        nugget=None,
        standardize=True,
        n_neighbors="auto",
        n_jobs=None,
    ):
        self.variogram = variogram
        self.range = range
        self.sill = sill
        self.nugget = nugget
        self.standardize = standardize
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    @one_blas_thread()  # the bits of factors depend on the number of threads
    def _fit(self, data: Data) -> None:
        rows = np.asarray(data.rows, dtype=np.float64)
        weights = np.asarray(data.weight_array, dtype=np.float64)
        self._merge(rows, np.asarray(data.y, dtype=np.float64), weights)
        d = data.n_columns
        self.center_, self.scale_ = np.zeros(d), np.ones(d)
        if self.standardize:
            self.center_, self.scale_ = location_and_scale(self.sites_, self.weights_)
        self.sites_ -= self.center_
        self.sites_ /= self.scale_
        found = self._surveyed()
        self.variogram_ = found._asdict()
        self.covariance_ = self._modelled(found)._asdict()
        self.level_ = float(self.weights_ @ self.values_ / self.weights_.sum())
        self.dual_coef_: np.ndarray | None = None
        self.std_scale_ = 1.0
        if self._asked() is None:
            self._solve_all()
            if None in (self.range, self.sill, self.nugget) and len(self.sites_) <= MOST_LEFT_OUT:
                self.std_scale_ = self._left_out_scale()

    def _left_out_scale(self) -> float:
        """Root mean square of the errors of sites left out one by one, in their deviations.

        At least one. A fitted nugget is often too small, and deviations then are: of 95% intervals
        85 to 91% held the surface, and 92 to 95% do with this factor.
        """
        n = len(self.sites_)
        if n < 3:
            return 1.0
        factor = self._factor()
        inverse = cho_solve(factor, np.eye(n), check_finite=False)
        ones = inverse.sum(axis=1)
        inverse -= np.outer(ones, ones) / ones.sum()
        precisions = np.maximum(np.diag(inverse), 1e-300)
        squares = (inverse @ (self.values_ - self.level_)) ** 2 / precisions
        return float(np.sqrt(max(np.average(squares, weights=self.weights_), 1.0)))

    def _merge(self, rows: np.ndarray, y: np.ndarray, weights: np.ndarray) -> None:
        """Rows at one site become one, in an order that does not depend on theirs.

        Three equal rows and one of weight three give the same bits: systems of smooth surfaces are
        so nearly singular that a last digit would show.
        """
        order = canonical_order(rows, y)
        rows, y, weights = rows[order], y[order], weights[order]
        sites, which = np.unique(rows, axis=0, return_inverse=True)
        which = which.ravel()
        total = np.bincount(which, weights)
        scale = max(float(np.abs(y).max()), np.finfo(float).tiny)
        self.sites_, self.weights_ = np.ascontiguousarray(sites), total
        mean = np.bincount(which, weights * (y / scale)) / total * scale
        low, high = np.full(len(total), np.inf), np.full(len(total), -np.inf)
        np.minimum.at(low, which, y)
        np.maximum.at(high, which, y)
        self.values_ = np.where(low == high, low, mean)

    def _surveyed(self) -> Variogram:
        n = len(self.sites_)
        some = np.arange(n)
        if n > MOST_SITES:
            line = np.cumsum(self.weights_)
            marks = (np.arange(MOST_SITES) + 0.5) / MOST_SITES * line[-1]
            some = np.unique(np.minimum(np.searchsorted(line, marks), n - 1))
        return variogram(self.sites_[some], self.values_[some], self.weights_[some])

    def _modelled(self, found: Variogram) -> Covariance:
        model = fit_variogram(found, self.variogram, self.nugget)
        if self.sill is not None:
            model = model._replace(sill=float(self.sill))
        if self.range is not None:
            model = model._replace(range=float(self.range))
        if model.sill == 0 and model.nugget == 0:
            model = model._replace(sill=1.0)  # a flat surface: any covariance gives it
        return model

    def _asked(self) -> int | None:
        """Nearest sites of an estimate; None for all."""
        return nearest_sites(self.n_neighbors, len(self.sites_))

    def _solve_all(self) -> None:
        """Coefficients of all sites: c = C^-1 (y - level), the level such that they sum to zero."""
        factor = self._factor()
        middle = self.level_
        both = np.column_stack([self.values_ - middle, np.ones(len(self.values_))])
        solved, ones = cho_solve(factor, both, check_finite=False).T
        shift = float(solved.sum() / ones.sum())
        self.level_ = middle + shift
        self.dual_coef_ = solved - shift * ones

    def _rows_at_once(self, rows) -> int:
        n, k = len(self.sites_), self._asked()
        per_row = 4 * n if k is None else n + 4 * (k + 1) ** 2
        return int(max(min(rows_per_chunk(rows.shape[1]), LARGEST_BLOCK // per_row), 1))

    def predict(self, X, return_std=False):
        """The height of the surface, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        return_std : bool, default=False
            Give the standard deviation too, as `predict_std` does.

        Returns
        -------
        y : ndarray of shape (n_samples,)
        std : ndarray of shape (n_samples,)
            Only with ``return_std``.
        """
        check_is_fitted(self)
        if return_std:
            both = self._both(X)
            return both[:, 0], np.sqrt(both[:, 1])
        if self.dual_coef_ is None:
            return self._both(X)[:, 0]
        return self._each_block(self._heights, X)

    def _heights(self, rows: np.ndarray) -> np.ndarray:
        assert self.dual_coef_ is not None
        beside = self._cover(cdist(self._scaled(rows), self.sites_))
        return self.level_ + np.dot(beside, self.dual_coef_)

    def _scaled(self, rows: np.ndarray) -> np.ndarray:
        return np.clip((rows - self.center_) / self.scale_, -1e100, 1e100)

    def _both(self, X) -> np.ndarray:
        """Estimate and variance of each row; of shape (n, 2)."""
        check_is_fitted(self)
        if self.dual_coef_ is None:
            return self._each_block(self._from_nearest, X)
        factor = self._factor()
        ones = cho_solve(factor, np.ones(len(self.sites_)), check_finite=False)
        found = self._each_block(partial(self._from_all, factor, ones), X)
        # files of earlier versions have no scale
        found[:, 1] *= getattr(self, "std_scale_", 1.0) ** 2
        return found

    def _factor(self) -> Any:
        """The factor of the covariance of all sites."""
        n = len(self.sites_)
        own = np.empty((n, n), order="F")
        for first in range(0, n, STRIP):
            strip = slice(first, first + STRIP)
            own[:, strip] = self._cover(cdist(self.sites_, self.sites_[strip]))
        own[np.diag_indices(n)] += self._noise(self.weights_)
        try:
            return cho_factor(own, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError as error:
            raise DataError(
                f"the covariance of {n} sites with {self.covariance_} cannot be solved: sites lie "
                "too close for their range; give a nugget above 0, or fewer neighbours"
            ) from error

    def _cover(self, apart: np.ndarray) -> np.ndarray:
        model = self.covariance_
        with np.errstate(over="ignore"):
            return model["sill"] * correlation(model["kind"], apart / model["range"])

    def _noise(self, weights: np.ndarray) -> np.ndarray:
        model = self.covariance_
        jitter = JITTER * max(model["sill"], model["nugget"])
        return model["nugget"] / weights + jitter

    def _from_all(self, factor: Any, ones: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Estimates and variances by one factor of C; the border is solved by hand."""
        beside = self._cover(cdist(self.sites_, self._scaled(rows)))
        solved = cho_solve(factor, beside, check_finite=False)
        border = (solved.sum(axis=0) - 1) / ones.sum()
        weights = solved - ones[:, None] * border
        variance = self._cover(np.zeros(1))[0] - (weights * beside).sum(axis=0) - border
        assert self.dual_coef_ is not None
        estimate = self.level_ + np.dot(self.dual_coef_, beside)
        return np.column_stack([estimate, np.maximum(variance, 0.0)])

    def _from_nearest(self, rows: np.ndarray) -> np.ndarray:
        """Estimates and variances by a bordered system of the nearest sites of every row."""
        queries, k = self._scaled(rows), self._asked()
        assert k is not None
        apart = cdist(queries, self.sites_)
        which = np.sort(np.argpartition(apart, k - 1, axis=1)[:, :k], axis=1)
        apart = np.take_along_axis(apart, which, axis=1)
        sites = self.sites_[which]
        squared = (sites**2).sum(axis=2)
        products = np.matmul(sites, sites.transpose(0, 2, 1))
        mutual = squared[:, :, None] + squared[:, None, :] - 2 * products
        mutual = np.sqrt(np.maximum(mutual, 0.0))
        system = np.ones((len(queries), k + 1, k + 1))
        system[:, :k, :k] = self._cover(mutual)
        system[:, np.arange(k), np.arange(k)] = self._cover(np.zeros(1))[0] + self._noise(
            self.weights_[which]
        )
        system[:, k, k] = 0.0
        right = np.ones((len(queries), k + 1))
        right[:, :k] = self._cover(apart)
        solved = np.linalg.solve(system, right[:, :, None])[:, :, 0]
        weights, border = solved[:, :k], solved[:, k]
        variance = self._cover(np.zeros(1))[0] - (weights * right[:, :k]).sum(axis=1) - border
        estimate = self.level_ + (weights * (self.values_[which] - self.level_)).sum(axis=1)
        return np.column_stack([estimate, np.maximum(variance, 0.0)])

    def predict_std(self, X) -> np.ndarray:
        """Standard deviation of the surface about its estimate, for each row.

        Zero at a site that was measured without error; grows to the root of the sill far away. It
        is for the surface, not for a new measurement, whose variance has the nugget more. Where the
        covariance is fitted, deviations are scaled by `std_scale_`; intervals of 1.96 of them hold
        the surface in 92 to 95% of places with 60 sites (100 tables of each of six laws).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        deviation : ndarray of shape (n_samples,)
        """
        return np.sqrt(self._both(X)[:, 1])

    def next_sample(
        self, X, rule="expected-improvement", *, minimize=False, strength=2.0
    ) -> NextSample:
        """Which of the candidates to measure next.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
            Candidates.
        rule : str, default="expected-improvement"
            "maximum" of the surface (004 1.2: never explores), "variance" (explores only),
            "expected-improvement" over the best measured value, or "upper-bound", estimate plus
            ``strength`` deviations.
        minimize : bool, default=False
            Look for small values instead of great ones.
        strength : float, default=2.0
            Of the upper bound.

        Returns
        -------
        next : NextSample
        """
        if rule not in RULES:
            raise ValueError(f"rule={rule!r} is none of {', '.join(RULES)}")
        found = self._both(X)
        sign = -1.0 if minimize else 1.0
        estimate, deviation = sign * found[:, 0], np.sqrt(found[:, 1])
        score = {
            "maximum": lambda: estimate,
            "variance": lambda: deviation,
            "upper-bound": lambda: estimate + strength * deviation,
            "expected-improvement": lambda: expected_improvement(
                estimate, deviation, float((sign * self.values_).max())
            ),
        }[rule]()
        return NextSample(int(score.argmax()), score, found[:, 0], deviation)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        k = nearest_sites(self.n_neighbors, n_rows)
        matrix = n_rows * (n_rows + 4 * STRIP) if k is None else 0
        return 8 * (n_rows * (4 * n_columns + 12) + matrix)

    def _memory_remedy(self) -> str:
        return "Take the nearest sites only (n_neighbors='auto'), or use fewer rows."


def expected_improvement(estimate: ArrayLike, deviation: ArrayLike, best: float) -> np.ndarray:
    """E[max(f - best, 0)] for a normal f: how much a measurement there should gain.

    Parameters
    ----------
    estimate, deviation : array-like of shape (n,)
    best : float
        The greatest value so far.

    Returns
    -------
    improvement : ndarray of shape (n,)

    Examples
    --------
    >>> expected_improvement([1.0, 0.0], [1.0, 0.0], 1.0).round(4)
    array([0.3989, 0.    ])
    """
    estimate, deviation = np.asarray(estimate, float), np.asarray(deviation, float)
    gap = estimate - best
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(deviation > 0, gap / deviation, 0.0)
    bell = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return np.where(deviation > 0, gap * special.ndtr(z) + deviation * bell, np.maximum(gap, 0.0))
