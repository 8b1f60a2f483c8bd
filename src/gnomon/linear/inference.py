"""What a fitted linear model says of the world: estimates, standard errors, tests, intervals.

Everything here follows from sums that the fit has already made. Weights are read as repetitions:
a row of weight three counts as three rows, also in the degrees of freedom and so in every
standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.engine.notebook import table_html
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Number, Optional, Whole

ROUNDING = 4 * float(np.finfo(np.float64).eps)
KEPT_COLUMNS = 500  # up to which the inverse (2 MB) is kept for intervals of predictions


class NoSummary(DataError):
    """The statistical summary would not be valid; the message says why and what to do instead."""


@storable
@dataclass
class LeastSquaresStatistics:
    """The sums from which the summary of a least squares fit is made.

    Attributes
    ----------
    weight : float
        Number of rows, each counted as often as its weight says.
    fractional : int
        Rows whose weight is not a whole number.
    residual : ndarray of shape (n_targets,)
        Sum of squared residuals.
    total : ndarray of shape (n_targets,)
        Sum of squares of the target about its mean (about zero without intercept).
    inverse_diagonal : ndarray of shape (n_columns + intercept,)
        Diagonal of (X'X)^-1, the intercept first; empty where it does not exist.
    inverse : ndarray of shape (n_columns + intercept, n_columns + intercept) or None
        (X'X)^-1 itself; None where there are many columns, or the solver does not give it.
    columns : ndarray of shape (n_independent,) or None
        Where columns are dependent: those that are no combination of columns before them, to which
        the inverse and `estimates` belong. None where all are independent.
    estimates : ndarray of shape (n_targets, n_independent + intercept) or None
        The coefficients of these columns alone, the intercept first: the same fit.
    """

    weight: float
    fractional: int
    residual: np.ndarray
    total: np.ndarray
    inverse_diagonal: np.ndarray
    inverse: np.ndarray | None = None
    columns: np.ndarray | None = None
    estimates: np.ndarray | None = None
    _stored = {
        "columns": Optional(Array("i", ("n_independent",), low=0) | None),
        "estimates": Optional(Array("f8", ("n_residual", None)) | None),
        "fractional": Whole(),
        "inverse_diagonal": Array("f8", (None,)),
        "residual": Array("f8", ("n_residual",)),
        "total": Array("f8", ("n_residual",)),
        "weight": Number(),
        "inverse": Optional(Array("f8", (None, None)) | None),
    }


@storable
@dataclass
class LikelihoodStatistics:
    """What the summary of a maximum likelihood fit is made of.

    Attributes
    ----------
    weight : float
        Number of rows, each counted as often as its weight says.
    fractional : int
        Rows whose weight is not a whole number.
    log_likelihood : float
    null_log_likelihood : float
        Of the model without columns.
    estimates, standard_errors : ndarray of shape (n_equations, n_columns + intercept)
        One equation per class but the first, against the first; the intercept first.
    """

    weight: float
    fractional: int
    log_likelihood: float
    null_log_likelihood: float
    estimates: np.ndarray
    standard_errors: np.ndarray
    _stored = {
        "weight": Number(),
        "fractional": Whole(),
        "log_likelihood": Number(),
        "null_log_likelihood": Number(),
        "estimates": Array("f8", (None,)),
        "standard_errors": Array("f8", (None,), finite=False),
    }


@dataclass(repr=False)
class PredictionResults(Result):
    """Predictions of least squares with standard errors and intervals.

    Attributes
    ----------
    predicted_mean, se_mean : ndarray of shape (n_samples,)
        The estimated means and their standard errors.
    var_resid : float
        Variance of the noise.
    df : float
        Degrees of freedom of Student's distribution.
    confidence_level : float
    """

    predicted_mean: np.ndarray
    se_mean: np.ndarray
    var_resid: float
    df: float
    confidence_level: float = 0.95

    @property
    def se_obs(self) -> np.ndarray:
        """Standard errors of single new targets."""
        return np.sqrt(self.se_mean**2 + self.var_resid)

    def conf_int(self, obs: bool = False) -> np.ndarray:
        """Ends of the intervals of the means, or of single new targets (``obs=True``).

        Parameters
        ----------
        obs : bool, default=False

        Returns
        -------
        ends : ndarray of shape (n_samples, 2)
        """
        error = self.se_obs if obs else self.se_mean
        half = scipy.stats.t.ppf(0.5 + self.confidence_level / 2, self.df) * error
        return np.column_stack([self.predicted_mean - half, self.predicted_mean + half])

    def summary_frame(self):
        """The predictions and intervals as a `Table`, under statsmodels' names of columns."""
        return self.to_table()

    def _title(self) -> str:
        return f"Predictions with intervals of level {self.confidence_level:g}"

    def _columns(self) -> dict[str, Any]:
        mean, single = self.conf_int(), self.conf_int(obs=True)
        found = {
            "mean": self.predicted_mean,
            "mean_se": self.se_mean,
            "mean_ci_lower": mean[:, 0],
            "mean_ci_upper": mean[:, 1],
            "obs_ci_lower": single[:, 0],
            "obs_ci_upper": single[:, 1],
        }
        return {name: values.tolist() for name, values in found.items()}


@dataclass(repr=False)
class MeanPredictionResults(Result):
    """Estimated means of a generalised linear model, with standard errors and intervals.

    Attributes
    ----------
    predicted_mean, se_mean : ndarray of shape (n_samples,)
        The estimated means and their standard errors (by the delta method).
    ends : ndarray of shape (n_samples, 2)
        The ends of the intervals.
    confidence_level : float
    """

    predicted_mean: np.ndarray
    se_mean: np.ndarray
    ends: np.ndarray
    confidence_level: float = 0.95

    def conf_int(self) -> np.ndarray:
        """Ends of the intervals of the means: shape (n_samples, 2)."""
        return self.ends

    def summary_frame(self):
        """The predictions and intervals as a `Table`, under statsmodels' names of columns."""
        return self.to_table()

    def _title(self) -> str:
        return f"Estimated means with intervals of level {self.confidence_level:g}"

    def _columns(self) -> dict[str, Any]:
        found = {
            "mean": self.predicted_mean,
            "mean_se": self.se_mean,
            "mean_ci_lower": self.ends[:, 0],
            "mean_ci_upper": self.ends[:, 1],
        }
        return {name: values.tolist() for name, values in found.items()}


@dataclass
class FitSummary:
    """The statistical summary of a fitted model; prints itself as a table.

    Attributes
    ----------
    title : str
    names : tuple of str
        The coefficients.
    estimate, standard_error, statistic, p_value, low, high : ndarray
        Per coefficient; low and high are the ends of the interval of the given confidence.
    letter : str
        ``"t"`` or ``"z"``: what the statistic is compared with.
    confidence_level : float
    facts : dict of str to float
        Figures of the whole model: n, degrees of freedom, R2, AIC ...
    notes : list of str
        Conventions and cautions.

    Examples
    --------
    >>> from gnomon.linear import LinearRegression
    >>> s = LinearRegression().fit([[0], [1], [2], [3], [4]], [1, 3, 2, 5, 4]).summary()
    >>> round(s.facts["R2"], 3)
    0.64
    """

    title: str
    names: tuple[str, ...]
    estimate: np.ndarray
    standard_error: np.ndarray
    statistic: np.ndarray
    p_value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    letter: str = "t"
    confidence_level: float = 0.95
    facts: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def conf_int(self) -> np.ndarray:
        """The ends of the intervals, as statsmodels gives them: shape (n_coefficients, 2)."""
        return np.column_stack([self.low, self.high])

    @property
    def params(self) -> np.ndarray:
        """The estimates, under statsmodels' name."""
        return self.estimate

    @property
    def bse(self) -> np.ndarray:
        """The standard errors, under statsmodels' name."""
        return self.standard_error

    @property
    def tvalues(self) -> np.ndarray:
        """The statistics t or z, under statsmodels' name."""
        return self.statistic

    @property
    def pvalues(self) -> np.ndarray:
        """The p-values, under statsmodels' name."""
        return self.p_value

    @property
    def nobs(self) -> float:
        """Number of rows."""
        return self.facts["n"]

    @property
    def df_resid(self) -> float:
        """Degrees of freedom of the residuals."""
        return self.facts["degrees of freedom"]

    @property
    def llf(self) -> float:
        """Log-likelihood."""
        return self.facts["log-likelihood"]

    @property
    def aic(self) -> float:
        """AIC in the convention of statsmodels, which does not count the variance of the noise."""
        return 2 * len(self.estimate) - 2 * self.llf

    @property
    def bic(self) -> float:
        """BIC in the convention of statsmodels, which does not count the variance of the noise."""
        return float(len(self.estimate) * np.log(self.nobs) - 2 * self.llf)

    @property
    def rsquared(self) -> float:
        """R2."""
        return self.facts["R2"]

    @property
    def rsquared_adj(self) -> float:
        """R2 adjusted for the number of coefficients."""
        return self.facts["adjusted R2"]

    @property
    def fvalue(self) -> float:
        """The F statistic of the whole model."""
        return self.facts["F"]

    @property
    def f_pvalue(self) -> float:
        """The p-value of the F statistic."""
        return self.facts["F p"]

    def to_table(self):
        """The coefficients as a `gnomon.table.Table`, one row each."""
        import pyarrow as pa

        from gnomon.table.table import Table

        return Table(pa.table({"coefficient": list(self.names)} | self._columns()))

    def _columns(self) -> dict[str, np.ndarray]:
        values = (
            self.estimate,
            self.standard_error,
            self.statistic,
            self.p_value,
            self.low,
            self.high,
        )
        return dict(zip(self._headings(), values))

    def _headings(self) -> list[str]:
        percent = f"{100 * self.confidence_level:g}%"
        return ["estimate", "std. error", self.letter, "p", f"{percent} low", f"{percent} high"]

    def _cells(self) -> list[list[str]]:
        columns = self._columns()
        body = [
            [name, *(_p_value(v) if key == "p" else f"{v:.5g}" for key, v in zip(columns, row))]
            for name, row in zip(self.names, zip(*columns.values()))
        ]
        return [["", *columns], *body]

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = [self.title, ""]
        for row in cells:
            padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]
            lines.append("  ".join(padded).rstrip())
        facts = ", ".join(f"{key} {_fact(key, v)}" for key, v in self.facts.items())
        lines += ["", *_wrapped(facts, widest=max(sum(widths) + 2 * len(widths), 64))]
        return "\n".join(lines + self.notes)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        facts = ", ".join(f"{key} {_fact(key, value)}" for key, value in self.facts.items())
        return table_html(head, body, title=self.title, remarks=[facts, *self.notes])


def _wrapped(facts: str, widest: int) -> list[str]:
    """Facts in lines of at most `widest` characters."""
    lines = [""]
    for fact in facts.split(", "):
        if lines[-1] and len(lines[-1]) + len(fact) + 2 > widest:
            lines.append("")
        lines[-1] += f", {fact}" if lines[-1] else fact
    return lines


def _p_value(p: float) -> str:
    return "<1e-16" if p < 1e-16 else f"{p:.3g}"


def _fact(key: str, value: float) -> str:
    if key in ("n", "degrees of freedom"):
        return f"{value:.0f}"
    if key in ("AIC", "BIC") or key.endswith("log-likelihood"):
        return f"{value:.3f}"
    return _p_value(value) if key.endswith(" p") else f"{value:.6g}"


def coefficient_table(
    names, estimate, standard_error, distribution, letter, confidence_level, **rest
):
    """A `FitSummary` of estimates whose scaled errors follow `distribution` (t or normal)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(standard_error > 0, estimate / standard_error, np.inf)
    half = distribution.ppf(0.5 + confidence_level / 2) * standard_error
    return FitSummary(
        names=tuple(names),
        estimate=estimate,
        standard_error=standard_error,
        statistic=statistic,
        p_value=2 * distribution.sf(np.abs(statistic)),
        low=estimate - half,
        high=estimate + half,
        letter=letter,
        confidence_level=confidence_level,
        **rest,
    )


def least_squares_summary(
    statistics: LeastSquaresStatistics,
    names: list[str],
    estimate: np.ndarray,
    intercept: bool,
    target: int,
    confidence_level: float,
) -> FitSummary:
    """Classic inference for y = X b + e, e independent normal of one variance.

    AIC = 2k - 2L and BIC = k log n - 2L (corrected; 000 11.1.2 prints 2k log n), where L is the
    maximised log-likelihood and k counts all coefficients and the noise variance.
    """
    refuse_fractional(statistics.fractional)
    n = statistics.weight
    parameters = len(estimate)
    free = n - parameters
    if free <= 0:
        raise NoSummary(
            f"{parameters} coefficients were fitted to {n:g} rows, which leaves nothing to "
            "estimate the noise from; give more rows or fewer columns"
        )
    residual, total = float(statistics.residual[target]), float(statistics.total[target])
    refuse_without_noise(residual, total, n * float(estimate[0]) ** 2 if intercept else 0.0)
    variance = residual / free
    columns = parameters - intercept
    log_likelihood = -0.5 * n * (np.log(2 * np.pi * residual / n) + 1)
    facts = {
        "n": n,
        "degrees of freedom": free,
        "residual standard error": float(np.sqrt(variance)),
        "R2": 1 - residual / total,
        "adjusted R2": 1 - variance / (total / (n - intercept)),
    }
    if columns:
        f = (total - residual) / columns / variance
        facts |= {"F": f, "F p": float(scipy.stats.f.sf(f, columns, free))}
    facts |= {
        "log-likelihood": float(log_likelihood),
        "AIC": float(2 * (parameters + 1) - 2 * log_likelihood),
        "BIC": float((parameters + 1) * np.log(n) - 2 * log_likelihood),
    }
    notes = [] if intercept else ["Without intercept, R2 and F compare with predicting zero."]
    if len(statistics.residual) > 1:
        last = len(statistics.residual) - 1
        notes.append(f"Of target {target} alone; summary(target=...) shows each, from 0 to {last}.")
    return coefficient_table(
        names,
        estimate,
        np.sqrt(variance * statistics.inverse_diagonal),
        scipy.stats.t(free),
        "t",
        confidence_level,
        title="Least squares",
        facts=facts,
        notes=notes,
    )


def likelihood_summary(
    statistics: LikelihoodStatistics,
    names: list[str],
    title: str,
    intercept: bool,
    confidence_level,
) -> FitSummary:
    """Inference from the curvature of the log-likelihood at its maximum (Wald), with its tests."""
    refuse_fractional(statistics.fractional)
    estimates = statistics.estimates.ravel()
    slopes = estimates.size - intercept * len(statistics.estimates)
    fit, null = statistics.log_likelihood, statistics.null_log_likelihood
    ratio = 2 * (fit - null)
    facts = {
        "n": statistics.weight,
        "degrees of freedom": statistics.weight - estimates.size,
        "log-likelihood": fit,
        "null log-likelihood": null,
        "pseudo R2": 1 - fit / null,
        "likelihood ratio": ratio,
        "likelihood ratio p": float(scipy.stats.chi2.sf(ratio, slopes)),
        "AIC": 2 * estimates.size - 2 * fit,
        "BIC": estimates.size * np.log(statistics.weight) - 2 * fit,
    }
    return coefficient_table(
        names,
        estimates,
        statistics.standard_errors.ravel(),
        scipy.stats.norm,
        "z",
        confidence_level,
        title=title,
        facts={key: float(value) for key, value in facts.items()},
    )


def refuse_fractional(count: int) -> None:
    """Standard errors need to know how many rows there are."""
    if count:
        raise NoSummary(
            f"{count:,} rows have weights that are not whole numbers. Standard errors read a "
            "weight as the number of times that the row was observed; other weights do not "
            "say how many rows there are. Fit without weights, or with counts as weights"
        )


def refuse_without_noise(residual: float, total: float, level: float) -> None:
    """Standard errors are made of the noise: what rows scatter about the fit, beyond rounding.

    Parameters
    ----------
    residual, total : float
        Sums of squares (or deviances) about the fit and about the mean.
    level : float
        The same of a constant about zero: what rounding is to be compared with.
    """
    rounding = ROUNDING**2 * (total + level)
    if total <= rounding:
        raise NoSummary(
            "the target does not vary: every row has the same value, so that there is neither an "
            "effect nor noise to test it against. Is it the column that was meant?"
        )
    if residual == 0 or residual <= rounding:
        raise NoSummary(
            "the fit is exact: no row is off it by more than rounding, which leaves no noise to "
            "make standard errors and tests of; the coefficients stand in coef_ and intercept_. "
            "Was the target computed from the columns?"
        )


def column_names(model) -> list[str]:
    """Names of the columns that the model multiplies: encoded ones, given ones, or x0, x1 ..."""
    encoder = getattr(model, "encoder_", None)
    if encoder is not None:
        return list(encoder.columns.names)
    given = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if given is None else list(given)
