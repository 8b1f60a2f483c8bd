"""Can this regression be trusted: leverage, influence, outliers, residuals, stability.

With X the columns and the constant, H = X (X'X + alpha I)^-1 X' takes targets to fitted values; its
diagonal, the leverage h_i, says how far a row's fitted value follows its own target. From
leverages and residuals e_i come the standardised residuals e_i / sqrt(m (1 - h_i)), Cook's
distances e_i^2 h_i / (d m (1 - h_i)^2) and the residuals e_i / (1 - h_i) that rows would have in a
fit without them, all from one fit.

Texts: 000 10.1.1, 10.2.5-10.2.6, 10.3, 10.4.3 · 004 4.5-4.6, 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy import optimize

from gnomon.contract import intake
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.normality import Normality, normality
from gnomon.linear.inference import column_names
from gnomon.linear.least_squares import LinearRegression
from gnomon.linear.solve import EPS

FEW_ROWS = 8  # judgement: the tests of residuals reject next to nothing below (as `evaluate`'s)


@dataclass
class Fit:
    """A small least squares fit with its leverages; the constant is the first column."""

    design: np.ndarray
    y: np.ndarray
    coef: np.ndarray
    leverage: np.ndarray
    covariance: np.ndarray
    names: list[str]
    condition: float

    @property
    def fitted(self) -> np.ndarray:
        return self.design @ self.coef

    @property
    def residuals(self) -> np.ndarray:
        return self.y - self.fitted


def _fit(X, y, fit_intercept: bool, alpha: float = 0.0) -> Fit:
    """Least squares (or ridge, the constant free) by singular values of the centred columns."""
    model = LinearRegression(fit_intercept=fit_intercept)
    data = intake.take_in(model, X, y, None)
    rows = np.asarray(data.rows.toarray() if hasattr(data.rows, "toarray") else data.rows, float)
    target, names = np.asarray(data.y, dtype=float), column_names(model)
    if target.ndim > 1:
        raise DataError("diagnostics are of one target; give a single column y")
    n, p = rows.shape
    if n <= p + fit_intercept:
        raise DataError(
            f"{p + fit_intercept} coefficients need more than {n} rows for residuals to mean "
            "anything; give more rows or fewer columns"
        )
    center = rows.mean(axis=0) if fit_intercept else np.zeros(p)
    level = target.mean() if fit_intercept else 0.0
    centered = rows - center
    left, values, right = np.linalg.svd(centered, full_matrices=False)
    lengths = np.sqrt((centered**2).sum(axis=0))
    scaled = np.linalg.svd(centered / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    seen = values > max(n, p) * EPS * values.max(initial=0.0)
    left, values, right = left[:, seen], values[seen], right[seen]
    shrink = values**2 / (values**2 + alpha)
    coef = right.T @ (shrink / values * (left.T @ (target - level)))
    leverage = (left**2 * shrink).sum(axis=1) + (1 / n if fit_intercept else 0.0)
    inverse = (right.T / (values**2 + alpha)) @ right
    design = rows
    if fit_intercept:
        back = np.vstack([-center, np.eye(p)])
        inverse = back @ inverse @ back.T
        inverse[0, 0] += 1 / n
        design = np.column_stack([np.ones(n), rows])
        coef = np.concatenate([[level - center @ coef], coef])
        names = ["(intercept)", *names]
    smallest = scaled.min(initial=np.inf)
    condition = float(scaled.max() / smallest) if seen.all() and smallest > 0 else np.inf
    return Fit(design, target, coef, np.minimum(leverage, 1.0), inverse, names, condition)


@dataclass(repr=False)
class Influence(Result):
    """What each row does to a least squares fit.

    Attributes
    ----------
    fitted, residuals : ndarray of shape (n,)
    leverage : ndarray of shape (n,)
        Diagonal of the hat matrix; its sum is the effective number of coefficients.
    standardized : ndarray of shape (n,)
        Residuals in units of their standard errors.
    studentised : ndarray of shape (n,)
        The same with the noise estimated without the row: t-distributed.
    left_out : ndarray of shape (n,)
        Residuals of each row in the fit without it.
    cooks : ndarray of shape (n,)
        Cook's distances.
    noise : float
        Variance of the errors that is used.
    condition : float
        Ratio of the extreme singular values of the columns, scaled to unit length.
    convention : str
    """

    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    standardized: np.ndarray
    studentised: np.ndarray
    left_out: np.ndarray
    cooks: np.ndarray
    noise: float
    condition: float
    convention: str

    @property
    def press(self) -> float:
        """Sum of squared residuals of rows left out."""
        return float((self.left_out**2).sum())

    @property
    def within(self) -> dict[int, tuple[float, float]]:
        """Shares of standardised residuals within 1, 2 and 3, and what a normal law would give."""
        sizes = np.abs(self.standardized)
        return {
            k: (float((sizes <= k).mean()), float(2 * scipy.stats.norm.cdf(k) - 1))
            for k in (1, 2, 3)
        }

    def suspects(self, most: int = 10) -> np.ndarray:
        """Places of the rows of greatest Cook's distance, the worst first.

        Parameters
        ----------
        most : int, default=10

        Returns
        -------
        places : ndarray of int
        """
        return np.argsort(-self.cooks, kind="stable")[:most]

    def _title(self) -> str:
        return (
            f"Influence of {len(self.residuals)} rows ({self.convention} convention), worst first"
        )

    def _columns(self) -> dict[str, list]:
        order = self.suspects(len(self.cooks))
        return {
            "row": order.tolist(),
            "residual": self.residuals[order].tolist(),
            "leverage": self.leverage[order].tolist(),
            "standardized": self.standardized[order].tolist(),
            "Cook's distance": self.cooks[order].tolist(),
        }

    def _remarks(self) -> list[str]:
        shares = ", ".join(
            f"{s:.0%} within {k} (normal {e:.0%})" for k, (s, e) in self.within.items()
        )
        return [
            f"standardised residuals: {shares}",
            f"condition of the columns {self.condition:.3g}",
        ]


def influence(
    X, y, *, fit_intercept: bool = True, alpha: float = 0.0, convention: str = "text"
) -> Influence:
    """Leverages, standardised residuals and Cook's distances of a least squares or ridge fit.

    Texts: 000 10.3.2-10.3.4. The text estimates the noise by e'e / N, R and statsmodels by e'e /
    (N - d); the distances differ by the factor (N - d) / N.

    Parameters
    ----------
    X : array-like, data frame or Table of shape (n_samples, n_features)
    y : array-like or str
    fit_intercept : bool, default=True
    alpha : float, default=0.0
        Weight of a ridge penalty; the constant is free.
    convention : {"text", "R"}, default="text"

    Returns
    -------
    influence : Influence

    Examples
    --------
    >>> found = influence([[0], [1], [2], [3], [10]], [0, 1, 2, 3, 0])
    >>> int(found.suspects(1)[0]), float(found.leverage.sum().round(6))
    (4, 2.0)
    """
    if convention not in ("text", "R"):
        raise ValueError(f"convention is 'text' or 'R', not {convention!r}")
    return _influence(_fit(X, y, fit_intercept, alpha), convention)


def _influence(fit: Fit, convention: str) -> Influence:
    n, d = fit.design.shape
    residuals = fit.residuals
    size = float(residuals @ residuals)
    noise = size / (n if convention == "text" else n - d)
    rest = np.maximum(1 - fit.leverage, EPS)
    unit = noise if noise > 0 else 1.0
    without = np.maximum(size - residuals**2 / rest, 0.0) / max(n - d - 1, 1)
    studentised = np.divide(
        residuals, np.sqrt(without * rest), out=np.zeros(n), where=without > EPS * size / n
    )
    return Influence(
        fit.fitted,
        residuals,
        fit.leverage,
        residuals / np.sqrt(unit * rest),
        studentised,
        residuals / rest,
        residuals**2 * fit.leverage / (d * unit * rest**2),
        noise,
        fit.condition,
        convention,
    )


@dataclass(repr=False)
class Removals(Result):
    """The record of a loop that removes suspect rows and fits again.

    Attributes
    ----------
    removed : list of int
        Places of the removed rows in the given table, in order.
    reasons : list of str
    explained : list of float
        R2 before the first removal and after each.
    coefficients : ndarray of shape (n_removed + 1, n_coefficients)
        Before the first removal and after each.
    names : list of str
    stopped : str
        Why the loop ended.
    """

    removed: list[int]
    reasons: list[str]
    explained: list[float]
    coefficients: np.ndarray
    names: list[str]
    stopped: str

    def _title(self) -> str:
        return f"{len(self.removed)} rows removed; {self.stopped}"

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list[Any]] = {
            "row": [None, *self.removed],
            "why": ["all rows", *self.reasons],
            "R2 after": list(self.explained),
        }
        return columns | {
            name: values.tolist() for name, values in zip(self.names, self.coefficients.T)
        }

    def _remarks(self) -> list[str]:
        return ["a removed row may be the discovery: look at each; or transform, or fit robustly"]


def remove_outliers(
    X, y, *, most: int = 10, limit: float = 3.5, fit_intercept: bool = True
) -> Removals:
    """Remove the row of greatest Cook's distance among the outlying, fit again, look again.

    A row is outlying when its studentised residual exceeds the limit; the loop ends when none
    does, or after `most` removals. Nothing is deleted: the record says what was left out, why, and
    what changed. Texts: 000 10.3.1, 10.4.3.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    most : int, default=10
        Most rows to remove.
    limit : float, default=3.5
        Studentised residual from which on a row is suspect.
    fit_intercept : bool, default=True

    Returns
    -------
    removals : Removals

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(20.0)
    >>> y = x + np.tile([0.1, -0.1], 10); y[4] = 50
    >>> remove_outliers(x[:, None], y).removed
    [4]
    """
    fit = _fit(X, y, fit_intercept)
    rows, target = fit.design[:, int(fit_intercept) :], fit.y
    kept = np.arange(len(target))
    names = fit.names
    removed: list[int] = []
    reasons: list[str] = []
    explained, coefficients = [_explained(fit)], [fit.coef]
    stopped = "no row is outlying any more"
    while True:
        found = _influence(fit, "R")
        suspects = np.flatnonzero(np.abs(found.studentised) > limit)
        if not len(suspects):
            break
        if len(removed) == most or len(kept) <= len(fit.coef) + 2:
            stopped = f"stopped at {len(removed)} removals, with rows still outlying"
            break
        worst = suspects[np.argmax(found.cooks[suspects])]
        reasons.append(
            f"studentised residual {found.studentised[worst]:.3g}, leverage "
            f"{found.leverage[worst]:.3g}, Cook's distance {found.cooks[worst]:.3g}"
        )
        removed.append(int(kept[worst]))
        kept = np.delete(kept, worst)
        fit = _fit(rows[kept], target[kept], fit_intercept)
        explained.append(_explained(fit))
        coefficients.append(fit.coef)
    return Removals(removed, reasons, explained, np.array(coefficients), names, stopped)


def _explained(fit: Fit) -> float:
    total = float(((fit.y - fit.y.mean()) ** 2).sum())
    return 1 - float(fit.residuals @ fit.residuals) / total if total > 0 else np.nan


def prediction_intervals(
    X, y, new, *, confidence_level: float = 0.95, fit_intercept: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions of least squares for new rows with intervals for single future targets.

    y(x) +- t s sqrt(1 + x'(X'X)^-1 x), right where errors are independent, normal and of one
    variance.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    new : array-like of shape (n_new, n_features)
    confidence_level : float, default=0.95
    fit_intercept : bool, default=True

    Returns
    -------
    prediction, low, high : ndarray of shape (n_new,)

    Examples
    --------
    >>> _, low, high = prediction_intervals([[0], [1], [2], [3]], [0, 1, 2, 4], [[1.5]])
    >>> float((high - low).round(3)[0])
    3.726
    """
    fit = _fit(X, y, fit_intercept)
    new = np.asarray(new, dtype=float)
    if fit_intercept:
        new = np.column_stack([np.ones(len(new)), new])
    n, d = fit.design.shape
    noise = float(fit.residuals @ fit.residuals) / (n - d)
    spread = np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", new, fit.covariance, new)))
    half = scipy.stats.t.ppf(0.5 + confidence_level / 2, n - d) * spread
    center = new @ fit.coef
    return center, center - half, center + half


@dataclass(repr=False)
class TrustChecks(Result):
    """Whether a regression works, check by check.

    Attributes
    ----------
    checks : list of tuple of (str, float, str, bool)
        What is looked at, the figure, the verdict in words, and whether it is good.
    normality : Normality
        Tests of the standardised residuals.
    """

    checks: list[tuple[str, float, str, bool]]
    normality: Normality

    @property
    def trusted(self) -> bool:
        """Whether all checks are good."""
        return all(good for *_, good in self.checks)

    def _title(self) -> str:
        bad = sum(not good for *_, good in self.checks)
        return "the regression looks sound" if not bad else f"{bad} checks raise doubts"

    def _columns(self) -> dict[str, list]:
        names, figures, verdicts, good = zip(*self.checks)
        return {
            "check": list(names),
            "figure": list(figures),
            "verdict": list(verdicts),
            "good": ["yes" if each else "no" for each in good],
        }


def trust_checks(X, y, *, fit_intercept: bool = True, alpha: float = 0.01) -> TrustChecks:
    """Is the regression working: R2, constant predictions, patterns left in the residuals.

    Residuals should be noise: no bend against the fitted values, one variance, no runs in the
    order of the rows, near to normal. Texts: 000 10.2.6 (which writes "independent variable" where
    the variance of y is meant) · 004 4.5-4.6.

    Parameters
    ----------
    X : array-like, data frame or Table of shape (n_samples, n_features)
    y : array-like or str
    fit_intercept : bool, default=True
    alpha : float, default=0.01
        Of each test: how seldom a sound regression may fail it.

    Returns
    -------
    checks : TrustChecks

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 50)
    >>> trust_checks(x[:, None], x**2 + x).trusted
    False
    """
    fit = _fit(X, y, fit_intercept)
    if len(fit.y) < FEW_ROWS:
        raise DataError(f"checks of residuals need at least {FEW_ROWS} rows, not {len(fit.y)}")
    found = _influence(fit, "R")
    explained = _explained(fit)
    tests = normality(found.standardized)
    bend = _bend(fit)
    spread = scipy.stats.spearmanr(fit.fitted, np.abs(found.standardized)).pvalue
    runs = _runs(found.residuals)
    spread = 1.0 if np.isnan(spread) else float(spread)
    checks = [
        (
            "R2",
            explained,
            "some of the target is explained" if explained > 0.1 else "predicts a constant, nearly",
            bool(explained > 0.1),
        ),
        _tested(
            "bend against fitted values", bend, alpha, "a curve is left: add columns or powers"
        ),
        _tested("one variance", spread, alpha, "spread changes with the fit: transform the target"),
        _tested("runs in row order", runs, alpha, "neighbours are alike: a factor is missing"),
        (
            "largest Cook's distance",
            float(found.cooks.max()),
            "no row rules the fit"
            if found.cooks.max() < 1
            else "one row rules the fit: look at it",
            bool(found.cooks.max() < 1),
        ),
    ]
    return TrustChecks(checks, tests)


def _tested(name: str, p: float, level: float, doubt: str) -> tuple[str, float, str, bool]:
    return (f"{name} (p)", p, doubt if p < level else "nothing seen", bool(p >= level))


def _bend(fit: Fit) -> float:
    """p of the squared fitted values as a further column."""
    spread = fit.fitted.std()
    if not spread > 0:
        return 1.0
    square = ((fit.fitted - fit.fitted.mean()) / spread) ** 2
    design = np.column_stack([fit.design, square])
    coef, _, rank, _ = np.linalg.lstsq(design, fit.y, rcond=None)
    residual = float(((fit.y - design @ coef) ** 2).sum())
    n, d = design.shape
    if rank < d or n <= d:
        return 1.0
    before = float(fit.residuals @ fit.residuals)
    if residual <= EPS * before:
        return 0.0 if before > 0 else 1.0
    return float(scipy.stats.f.sf((before - residual) / (residual / (n - d)), 1, n - d))


def _runs(residuals: np.ndarray) -> float:
    """p of too few runs of one sign, by the normal approximation (Wald and Wolfowitz)."""
    signs = residuals > 0
    up, down = int(signs.sum()), int((~signs).sum())
    if not up or not down:
        return 1.0
    runs = 1 + np.count_nonzero(signs[1:] != signs[:-1])
    n = up + down
    mean = 1 + 2 * up * down / n
    variance = (mean - 1) * (mean - 2) / (n - 1)
    return (
        float(scipy.stats.norm.cdf((runs + 0.5 - mean) / np.sqrt(variance)))
        if variance > 0
        else 1.0
    )


@dataclass(repr=False)
class BoxCox(Result):
    """The profile likelihood of Box and Cox's power of the target.

    Attributes
    ----------
    powers, log_likelihood : ndarray
        The curve.
    power : float
        Of greatest likelihood.
    low, high : float
        The interval of powers that are not refuted.
    simple : float
        The simplest power inside it: 1, 0 (the logarithm), 1/2, -1 ... or `power` itself.
    confidence_level : float
    """

    powers: np.ndarray
    log_likelihood: np.ndarray
    power: float
    low: float
    high: float
    simple: float
    confidence_level: float

    def transform(self, y, power: float | None = None) -> np.ndarray:
        """(y^power - 1) / power, or log y.

        Parameters
        ----------
        y : array-like
        power : float, default=None
            By default the simple one.

        Returns
        -------
        transformed : ndarray
        """
        return _box_cox(np.asarray(y, dtype=float), self.simple if power is None else power)

    def back(self, transformed, power: float | None = None) -> np.ndarray:
        """Transformed values, or predictions of them, in the target's own units.

        Parameters
        ----------
        transformed : array-like
        power : float, default=None
            By default the simple one.

        Returns
        -------
        y : ndarray
        """
        power = self.simple if power is None else power
        values = np.asarray(transformed, dtype=float)
        if power == 0:
            return np.exp(values)
        inner = power * values + 1
        if (inner <= 0).any():
            raise DataError(
                f"{int((inner <= 0).sum())} values lie where the power {power:g} has no inverse; "
                "use the logarithm (power=0)"
            )
        return inner ** (1 / power)

    def _title(self) -> str:
        return (
            f"Box-Cox power {self.power:.3g}, {self.confidence_level:.0%} interval "
            f"{self.low:.3g} to {self.high:.3g}; simple power {self.simple:g}"
        )

    def _columns(self) -> dict[str, list]:
        return {
            "power": self.powers.tolist(),
            "log-likelihood": self.log_likelihood.tolist(),
        }

    def _remarks(self) -> list[str]:
        return ["outliers move the power much: look for them first"]


def _box_cox(y: np.ndarray, power: float) -> np.ndarray:
    return np.log(y) if power == 0 else np.expm1(power * np.log(y)) / power


def box_cox(
    X, y, *, low: float = -2.0, high: float = 2.0, confidence_level: float = 0.95
) -> BoxCox:
    """Which power of the target is most nearly linear in the columns, with normal errors.

    l(p) = -(N/2) log(RSS_p / N) + (p - 1) sum_i log y_i, where RSS_p is that of regressing the
    transformed target on the columns. Use it where the target is positive and its spread grows.
    Texts: 000 10.2.5, 10.4.3 (which leave the likelihood to software).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Above zero.
    low, high : float, default=-2.0, 2.0
        Between which powers are looked for.
    confidence_level : float, default=0.95
        Level of the interval.

    Returns
    -------
    profile : BoxCox

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(1.0, 30.0)
    >>> y = (x + np.tile([0.3, -0.3, 0.1], 10)[:29]) ** 2
    >>> box_cox(x[:, None], y).simple
    0.5
    """
    fit = _fit(X, y, True)
    y = fit.y
    if not (y > 0).all():
        raise DataError(
            f"Box-Cox powers need a target above zero; {int((y <= 0).sum())} values are not. Add "
            "a constant, or leave these rows out"
        )
    lengths = np.sqrt((fit.design**2).sum(axis=0))
    basis, values, _ = np.linalg.svd(
        fit.design / np.where(lengths > 0, lengths, 1.0), full_matrices=False
    )
    basis = basis[:, values > len(y) * EPS * values[0]]
    n, logs = len(y), float(np.log(y).sum())

    def likelihood(power: float) -> float:
        values = _box_cox(y, power)
        values = values - basis @ (basis.T @ values)
        values = values - basis @ (basis.T @ values)
        residual = max(float(values @ values), 1e-300)
        return -n / 2 * np.log(residual / n) + (power - 1) * logs

    powers = np.linspace(low, high, 81)
    curve = np.array([likelihood(power) for power in powers])
    top = int(np.argmax(curve))
    around = (powers[max(top - 1, 0)], powers[min(top + 1, 80)])
    best = optimize.minimize_scalar(lambda p: -likelihood(p), bounds=around, method="bounded")
    line = -best.fun - scipy.stats.chi2.ppf(confidence_level, 1) / 2

    def crossing(end: float) -> float:
        if likelihood(end) >= line:
            return end
        return float(optimize.brentq(lambda p: likelihood(p) - line, end, best.x))

    left, right = crossing(low), crossing(high)
    simple = next(
        (p for p in (1.0, 0.0, 0.5, -1.0, 1 / 3, -0.5, 2.0) if left <= p <= right), float(best.x)
    )
    return BoxCox(powers, curve, float(best.x), left, right, simple, confidence_level)


@dataclass(repr=False)
class GroupResiduals(Result):
    """Residuals from a common trend, by group.

    Attributes
    ----------
    groups : list
    counts : list of int
    means, p_values : ndarray
        Mean residual of each group, and the p-value of its residuals' ranks among those of others.
    above : list of int
        Positive residuals.
    residuals : ndarray of shape (n,)
    alpha : float
    """

    groups: list
    counts: list[int]
    means: np.ndarray
    p_values: np.ndarray
    above: list[int]
    residuals: np.ndarray
    alpha: float

    @property
    def special(self) -> list:
        """Groups that lie to one side of the common trend."""
        return [g for g, p in zip(self.groups, self.p_values) if p * len(self.groups) < self.alpha]

    def _title(self) -> str:
        return f"residuals from the common trend; one-sided groups: {self.special or 'none'}"

    def _columns(self) -> dict[str, list]:
        return {
            "group": self.groups,
            "rows": self.counts,
            "above the trend": self.above,
            "mean residual": self.means.tolist(),
            "p (rank sum test)": self.p_values.tolist(),
        }


def compare_groups(X, y, groups, *, alpha: float = 0.05) -> GroupResiduals:
    """Remove a common trend, then ask whether a group lies to one side of it.

    Regresses on all rows together and compares the residuals of each group with those of the other
    rows by their ranks (Mann and Whitney, two-sided, corrected for the number of groups). The signs
    of the text's sketch (000 10.1.1) assume that residuals are symmetric: with exponential noise
    they call a group special in most tables without one, and ranks in at most 5%.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    groups : array-like of shape (n_samples,)
    alpha : float, default=0.05

    Returns
    -------
    residuals : GroupResiduals

    Examples
    --------
    >>> import numpy as np
    >>> x, lot = np.tile(np.arange(20.0), 2), np.repeat(["A", "B"], 20)
    >>> compare_groups(x[:, None], x + 3 * (lot == "A"), lot).special
    ['A', 'B']
    """
    fit = _fit(X, y, True)
    labels, codes = np.unique(np.asarray(groups), return_inverse=True)
    if len(codes) != len(fit.y):
        raise DataError(f"{len(codes)} group labels were given for {len(fit.y)} rows")
    residuals = fit.residuals
    counts, above, means, tests = [], [], [], []
    for k in range(len(labels)):
        own, others = residuals[codes == k], residuals[codes != k]
        counts.append(len(own))
        above.append(int((own > 0).sum()))
        means.append(float(own.mean()))
        tests.append(float(scipy.stats.mannwhitneyu(own, others).pvalue) if len(others) else 1.0)
    return GroupResiduals(
        labels.tolist(), counts, np.array(means), np.array(tests), above, residuals, alpha
    )


@dataclass(repr=False)
class Stability(Result):
    """How coefficients and predictions move when the data are moved a little.

    Attributes
    ----------
    names : list of str
    estimate, spread : ndarray
        Coefficients, and their standard deviations over the perturbed data.
    enlargement : float
        Root mean square change of the predictions in units of the changes made.
    condition : float
        Of the columns.
    """

    names: list[str]
    estimate: np.ndarray
    spread: np.ndarray
    enlargement: float
    condition: float

    def _title(self) -> str:
        return f"stability under small changes; condition of the columns {self.condition:.3g}"

    def _columns(self) -> dict[str, list]:
        size = np.abs(self.estimate)
        relative = np.divide(self.spread, size, out=np.full(len(size), np.inf), where=size > 0)
        return {
            "coefficient": self.names,
            "estimate": self.estimate.tolist(),
            "spread": self.spread.tolist(),
            "relative": relative.tolist(),
        }

    def _remarks(self) -> list[str]:
        if self.condition < 30:
            return []
        return ["columns are nearly dependent: leave some out, or use Ridge"]


def stability(
    X, y, *, share: float = 0.01, repeats: int = 200, random_state: int | None = 0
) -> Stability:
    """Fit again to data whose every number is moved by a small share of its column's spread.

    Texts: 004 4.6 ("a fit that jumps when points move a little is worth nothing").

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    share : float, default=0.01
        Standard deviation of the changes, in units of each column's.
    repeats : int, default=200
    random_state : int or None, default=0

    Returns
    -------
    stability : Stability

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(20.0)
    >>> found = stability(np.column_stack([x, x + 1e-3 * np.sin(x)]), x)
    >>> bool(found.condition > 1000)
    True
    """
    fit = _fit(X, y, True)
    rng = np.random.default_rng(random_state)
    rows = fit.design[:, 1:]
    noise, target_noise = share * rows.std(axis=0), share * fit.y.std()
    coefs, moves = [], []
    for _ in range(repeats):
        moved = _fit(
            rows + noise * rng.normal(size=rows.shape),
            fit.y + target_noise * rng.normal(size=len(fit.y)),
            True,
        )
        coefs.append(moved.coef)
        moves.append(((fit.design @ moved.coef - fit.fitted) ** 2).mean())
    enlargement = float(np.sqrt(np.mean(moves)) / target_noise) if target_noise > 0 else np.nan
    return Stability(fit.names, fit.coef, np.std(coefs, axis=0), enlargement, fit.condition)
