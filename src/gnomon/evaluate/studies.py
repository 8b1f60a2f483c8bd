"""Studies on simulated data: what a wrong model costs, and when a rich one overfits.

The excess risk of a fitted model is approximation error (of the best member of its family, which no
number of rows removes) plus estimation error (which falls with rows). Overfitting is that a family
with the smaller training error has the larger true one; it grows with noise and with the complexity
of the target, and falls with rows.

Texts: 002 (misspecified models) · 001 4.3.2 and 7.1 (learning curves, catalysts of overfitting).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from sklearn.base import is_classifier

from gnomon.contract.estimate import Estimate, normal_quantile
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.bounds import check_at_least
from gnomon.evaluate.comparison import resampled_figure
from gnomon.evaluate.curves import Curve
from gnomon.evaluate.fold_run import seeded


def misspecification_study(
    estimator: Any,
    oracle: Any,
    sizes: Sequence[int],
    *,
    n_repeats: int = 30,
    n_best: int = 100_000,
    n_test: int = 20_000,
    confidence_level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Curve:
    """Approximation and estimation error of a model that may be wrong, against the number of rows.

    Parameters
    ----------
    estimator : estimator
        Such as a regression of too low an order.
    oracle : FunctionOracle, ClassOracle or alike
        A simulator whose truth is known; see `gnomon.table`.
    sizes : sequence of int
        Rows of training sets.
    n_repeats : int, default=30
        Training sets of each size.
    n_best : int, default=100000
        Rows whose fit stands for the best member of the family.
    n_test : int, default=20000
        Rows at which risks are taken, the same for all fits.
    confidence_level : float, default=0.95
    random_state : int, default=0
    n_jobs : int or None, default=None

    Returns
    -------
    curve : Curve
        Lines ``"approximation"`` (constant), ``"estimation"`` and ``"excess"``, their sum.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from gnomon.table import FunctionOracle
    >>> parabola = FunctionOracle(lambda X: X[:, 0] ** 2, d=1, noise=0.1, low=-1.0)
    >>> study = misspecification_study(LinearRegression(), parabola, [10, 100], random_state=0)
    >>> round(float(study.values("approximation")[0]), 2)  # variance of x^2 is 4/45
    0.09
    """
    if n_repeats < 2:
        raise DataError(f"n_repeats={n_repeats} must be 2 or more")
    quantile = normal_quantile(confidence_level)
    rows = oracle.sample(n_test, np.random.default_rng([random_state, 0])).X
    excess = _excess_of(oracle, rows, is_classifier(estimator))

    def of_fit(job: tuple[int, int]) -> float:
        n, repeat = job
        drawn = oracle.sample(n, np.random.default_rng([random_state, 1, n, repeat]))
        fitted = seeded(estimator, random_state, repeat).fit(drawn.X, drawn.y)
        return float(excess(np.asarray(fitted.predict(rows))).mean())

    counts = sorted({int(n) for n in sizes})
    drawn = oracle.sample(n_best, np.random.default_rng([random_state, 2]))
    best = seeded(estimator, random_state, 0).fit(drawn.X, drawn.y)
    by_row = excess(np.asarray(best.predict(rows)))
    approximation = float(by_row.mean())
    jobs = [(n, repeat) for n in counts for repeat in range(n_repeats)]
    fits = np.array(list(in_order(of_fit, jobs, n_jobs, anywhere=True))).reshape(
        len(counts), n_repeats
    )
    error = float(by_row.std(ddof=1) / np.sqrt(n_test))
    half = quantile * error
    floor = Estimate(
        approximation, approximation - half, approximation + half, confidence_level, error
    )
    return Curve(
        f"Excess risk of {type(estimator).__name__}",
        "training rows",
        counts,
        {
            "approximation": [floor] * len(counts),
            "estimation": [
                resampled_figure(each - approximation, 0.0, confidence_level) for each in fits
            ],
            "excess": [resampled_figure(each, 0.0, confidence_level) for each in fits],
        },
        samples={"excess": fits},
        notes=[f"the best member is the fit to {n_best:,} rows"],
    )


def _excess_of(oracle: Any, rows: np.ndarray, classes: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Predictions to expected loss beyond the best possible one, at every row."""
    if not classes:
        target = np.asarray(oracle.target(rows))
        return lambda said: (said - target) ** 2
    proba = np.asarray(oracle.proba(rows))
    every = np.arange(len(proba))
    return lambda said: proba.max(axis=1) - proba[every, said.astype(np.int64)]


@dataclass(frozen=True, repr=False, eq=False)
class OverfittingStudy(Result):
    """How much worse a rich family is than a simple one, over a grid.

    Attributes
    ----------
    sizes : list of int
        Training rows, one per line of the grid.
    catalyst : str
        ``"noise"`` or ``"target degree"``.
    levels : list of float
        Its values, one per column of the grid.
    overfit : ndarray of shape (n_sizes, n_levels)
        True error of the rich fit minus that of the simple one, in the median over data sets;
        positive where the rich one overfits.
    low, high : ndarray of shape (n_sizes, n_levels)
        Its 95 percent interval.
    fits_better : ndarray of shape (n_sizes, n_levels)
        Share of data sets on which the rich fit has the smaller training error.
    degrees : tuple of int
        Of the simple and the rich polynomial.
    """

    sizes: list[int]
    catalyst: str
    levels: list[float]
    overfit: np.ndarray
    low: np.ndarray
    high: np.ndarray
    fits_better: np.ndarray
    degrees: tuple[int, int]

    def _title(self) -> str:
        simple, rich = self.degrees
        return f"E_out(degree {rich}) - E_out(degree {simple}), by rows and {self.catalyst}"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"rows": self.sizes}
        for j, level in enumerate(self.levels):
            cells = zip(self.overfit[:, j], self.low[:, j], self.high[:, j])
            name = f"{self.catalyst} {level:g}"
            columns[name] = [Estimate(float(v), float(a), float(b)) for v, a, b in cells]
        return columns

    def _remarks(self) -> list[str]:
        share = float(self.fits_better.mean())
        return [f"the richer polynomial has the smaller training error in {share:.0%} of cases"]


def overfitting_study(
    sizes: Sequence[int] = (20, 40, 80, 120),
    *,
    noise: Sequence[float] | float = (0.0, 0.5, 1.0, 1.5),
    target_degree: Sequence[int] | int = 20,
    degrees: tuple[int, int] = (2, 10),
    n_repeats: int = 1000,
    random_state: int = 0,
) -> OverfittingStudy:
    """Compare a simple with a rich polynomial over rows and noise, or rows and target complexity.

    Targets are random Legendre series scaled to mean square 1, rows uniform on [-1, 1], noise
    normal. Stochastic noise changes when data are drawn again; what of the target lies outside the
    family ("deterministic noise") does not, but misleads in the same way. True errors are exact, by
    the orthogonality of the polynomials. Medians are shown: a rich fit to few rows is now and then
    so wild between them that the mean over data sets does not settle.

    Parameters
    ----------
    sizes : sequence of int
        Training rows, more than the rich degree plus 2.
    noise : sequence of float or float
        Standard deviations; a sequence makes the noise the second axis.
    target_degree : sequence of int or int, default=20
        Degree of targets; a sequence makes it the second axis, with a single noise.
    degrees : (int, int), default=(2, 10)
        Of the two fits.
    n_repeats : int, default=1000
        Data sets per cell.
    random_state : int, default=0

    Returns
    -------
    study : OverfittingStudy

    Examples
    --------
    >>> study = overfitting_study([20, 100], noise=[0.0, 1.0], target_degree=2, n_repeats=200)
    >>> bool(study.overfit[0, 1] > study.overfit[1, 1] > 0)
    True
    """
    by_noise = np.ndim(noise) == 1
    if by_noise and np.ndim(target_degree) == 1:
        raise DataError("give a sequence for the noise or for the target degree, not for both")
    if not by_noise and np.ndim(target_degree) == 0:
        by_noise = True
    simple, rich = degrees
    if not 0 <= simple < rich:
        raise DataError(f"degrees={degrees} must rise from 0 or more")
    counts = [int(n) for n in sizes]
    if min(counts) <= rich + 2:
        raise DataError(f"{min(counts)} rows are too few for degree {rich}; take over {rich + 2}")
    check_at_least("n_repeats", n_repeats, 2)
    levels = [float(each) for each in np.atleast_1d(noise if by_noise else target_degree)]
    rng = np.random.default_rng(random_state)
    grids = np.empty((4, len(counts), len(levels)))
    for i, n in enumerate(counts):
        for j, level in enumerate(levels):
            cell: tuple[Any, Any] = (level, target_degree) if by_noise else (noise, level)
            sd, degree = cell
            grids[:, i, j] = _one_cell(n, float(sd), int(degree), degrees, n_repeats, rng)
    catalyst = "noise" if by_noise else "target degree"
    overfit, low, high, smaller = grids
    return OverfittingStudy(counts, catalyst, levels, overfit, low, high, smaller, degrees)


def _one_cell(
    n: int,
    sd: float,
    degree: int,
    degrees: tuple[int, int],
    n_repeats: int,
    rng: np.random.Generator,
) -> tuple[float, float, float, float]:
    """The overfit measure, its interval, and how often the rich fit has the smaller E_in."""
    norms = 1 / (2 * np.arange(max(degree, degrees[1]) + 1) + 1)
    x = rng.uniform(-1, 1, (n_repeats, n))
    basis = np.polynomial.legendre.legvander(x, len(norms) - 1)
    target = np.zeros((n_repeats, len(norms)))
    # scaled to a mean square of one on average over targets
    target[:, : degree + 1] = rng.standard_normal((n_repeats, degree + 1))
    target /= np.sqrt(norms[: degree + 1].sum())
    y = np.einsum("rnk,rk->rn", basis, target) + sd * rng.standard_normal((n_repeats, n))
    inside, outside = [], []
    for order in degrees:
        design = basis[:, :, : order + 1]
        fitted = np.zeros_like(target)
        fitted[:, : order + 1] = (np.linalg.pinv(design) @ y[:, :, None])[:, :, 0]
        residual = y - np.einsum("rnk,rk->rn", basis, fitted)
        inside.append((residual**2).mean(axis=1))
        outside.append((((fitted - target) ** 2) * norms).sum(axis=1))
    overfit = np.sort(outside[1] - outside[0])
    # the median lies between order statistics that a fair coin sets apart
    below = int(scipy.stats.binom.ppf(0.025, n_repeats, 0.5))
    low, high = overfit[max(below - 1, 0)], overfit[min(n_repeats - below, n_repeats - 1)]
    smaller = float((inside[1] < inside[0]).mean())
    return float(np.median(overfit)), float(low), float(high), smaller


@dataclass(frozen=True, repr=False, eq=False)
class LinearLearningCurve(Result):
    """Expected errors of least squares in closed form.

    Attributes
    ----------
    sizes : list of int
    inside : ndarray
        Expected training error.
    outside : ndarray
        Expected error on new rows.
    sigma : float
    """

    sizes: list[int]
    inside: np.ndarray
    outside: np.ndarray
    sigma: float

    def _title(self) -> str:
        return f"Least squares with a constant, noise {self.sigma:g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {"rows": self.sizes, "E_in": self.inside.tolist(), "E_out": self.outside.tolist()}


def linear_learning_curve(
    sizes: Sequence[int], n_columns: int, sigma: float = 1.0
) -> LinearLearningCurve:
    """The learning curve of least squares when the straight model is true.

    With d normal columns and a constant, E_in = sigma^2 (1 - (d + 1) / N) and, exactly,
    E_out = sigma^2 (1 + 1/N) (N - 2) / (N - d - 2), which is about sigma^2 (1 + (d + 1) / N): both
    tend to the noise, from below and from above.

    Parameters
    ----------
    sizes : sequence of int
        More than n_columns + 2.
    n_columns : int
    sigma : float, default=1.0
        Standard deviation of the noise.

    Returns
    -------
    curve : LinearLearningCurve

    Examples
    --------
    >>> print(linear_learning_curve([20, 200], n_columns=5))
    Least squares with a constant, noise 1
    rows  E_in  E_out
      20   0.7  1.454
     200  0.97  1.031
    """
    n = np.asarray(list(sizes), dtype=np.float64)
    if not len(n) or n.min() <= n_columns + 2:
        raise DataError(f"E_out is infinite up to {n_columns + 2} rows; give more")
    inside = sigma**2 * (1 - (n_columns + 1) / n)
    outside = sigma**2 * (1 + 1 / n) * (n - 2) / (n - n_columns - 2)
    return LinearLearningCurve(n.astype(int).tolist(), inside, outside, float(sigma))
