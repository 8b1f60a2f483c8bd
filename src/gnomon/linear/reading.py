"""Reading coefficients: units, standard error and effect size side by side, with cautions.

A coefficient depends on the unit of its column, on the other columns in the model and on chance. So
it stands here beside what it does over one standard deviation of its column, b_j s_j, in units of
the target and of the target's deviation, with its error and with what may mislead.

Text: 000 11.1.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import intake
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.linear.inference import NoSummary, column_names

UNLIKE_SCALES = 10.0  # judgement: units that differ by less mislead no one
HIGH_INFLATION = 10.0  # the usual limit of a variance inflation factor
SMALL_EFFECT = 0.1  # Cohen's small correlation
LEVEL = 0.05  # the usual level


@dataclass(repr=False)
class CoefficientReport(Result):
    """Coefficients as one should read them, the greatest effect first.

    Attributes
    ----------
    names : list of str
    estimates : ndarray of shape (p,)
        Per unit of the column.
    units : list of str
    standard_errors, p_values : ndarray of shape (p,)
        NaN where the model has none.
    deviations : ndarray of shape (p,)
        Standard deviations of the columns.
    effects : ndarray of shape (p,)
        Change of the prediction for one standard deviation of the column.
    shares : ndarray of shape (p,)
        The same in standard deviations of the target (of the predictions, where no target was
        given).
    inflations : ndarray of shape (p,)
        Variance inflation 1 / (1 - R2 of the column on the others): 1 where it stands alone.
    cautions : list of str
    """

    names: list[str]
    estimates: np.ndarray
    units: list[str]
    standard_errors: np.ndarray
    p_values: np.ndarray
    deviations: np.ndarray
    effects: np.ndarray
    shares: np.ndarray
    inflations: np.ndarray
    cautions: list[str] = field(default_factory=list)

    def _title(self) -> str:
        return f"{len(self.names)} coefficients, greatest effect first"

    def _columns(self) -> dict[str, list]:
        order = np.argsort(-np.abs(self.effects), kind="stable")
        cells: dict[str, list] = {"column": [self.names[j] for j in order]}
        if any(self.units):
            cells["unit"] = [self.units[j] for j in order]
        for name, values in (
            ("per unit", self.estimates),
            ("std. error", self.standard_errors),
            ("p", self.p_values),
            ("per deviation", self.effects),
            ("share of target's deviation", self.shares),
            ("variance inflation", self.inflations),
        ):
            cells[name] = values[order].tolist()
        return cells

    def _remarks(self) -> list[str]:
        return list(self.cautions)


def coefficient_report(
    estimator, X, y=None, *, units: Mapping[str, str] | None = None
) -> CoefficientReport:
    """Coefficients of a linear model with units, errors, effect sizes and cautions.

    Parameters
    ----------
    estimator : fitted linear model of gnomon with one target
        Something with ``coef_`` of one number for each column.
    X : array-like, data frame or Table of shape (n_samples, n_features)
        Rows over which effects are measured: as a rule the training rows.
    y : array-like of shape (n_samples,), default=None
        The target, for effects in its standard deviations; without it those of the predictions.
    units : mapping of str to str, default=None
        Units of the columns, by name.

    Returns
    -------
    report : CoefficientReport

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import LinearRegression, coefficient_report
    >>> X = np.column_stack([np.arange(8.0), [3000.0, 1000, 4000, 1000, 5000, 9000, 2000, 6000]])
    >>> y = 2 * X[:, 0] + X[:, 1] / 1000 + [0.1, -0.1, 0, 0.1, -0.1, 0, 0.1, -0.1]
    >>> report = coefficient_report(LinearRegression().fit(X, y), X, y)
    >>> report.effects.round(1).tolist()
    [4.6, 2.5]
    """
    check_is_fitted(estimator)
    names = column_names(estimator)
    estimates = np.asarray(estimator.coef_, dtype=np.float64)
    if estimates.shape != (len(names),):
        raise DataError(
            f"the model has coefficients of shape {estimates.shape} for {len(names)} columns; "
            "a report is of one target and of models that are linear in their columns"
        )
    rows = dense_rows(estimator, X)
    deviations = rows.std(axis=0)
    effects = estimates * deviations
    spread = float(np.std(rows @ estimates if y is None else np.asarray(y, dtype=np.float64)))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = effects / spread
    errors, p_values, refusal = standard_errors(estimator, len(names))
    known = units or {}
    report = CoefficientReport(
        names,
        estimates,
        [known.get(name, "") for name in names],
        errors,
        p_values,
        deviations,
        effects,
        shares,
        inflations(rows),
    )
    report.cautions += cautions(report)
    if refusal:
        report.cautions.append(f"no standard errors: {refusal}")
    return report


def dense_rows(model, X) -> np.ndarray:
    """The rows as the model multiplies them."""
    blocks = list(intake.blocks_of(model, X))
    dense = [each.toarray() if hasattr(each, "toarray") else np.asarray(each) for each in blocks]
    return np.concatenate(dense).astype(np.float64, copy=False)


def standard_errors(model, n: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Standard errors and p-values of the columns, or the reason why there are none."""
    missing = np.full(n, np.nan)
    if not hasattr(model, "summary"):
        return missing, missing, f"{type(model).__name__} has no summary"
    try:
        summary = model.summary()
    except NoSummary as reason:
        return missing, missing, str(reason)
    return summary.standard_error[-n:], summary.p_value[-n:], ""


def inflations(rows: np.ndarray) -> np.ndarray:
    """Variance inflation factors: diagonal of the inverse correlation matrix.

    Infinite for columns that follow from others, NaN for those that do not vary.
    """
    centered = rows - rows.mean(axis=0)
    lengths = np.sqrt((centered**2).sum(axis=0))
    varies = np.flatnonzero(lengths > 1e-12 * np.sqrt((rows**2).sum(axis=0)))
    found = np.full(rows.shape[1], np.nan)
    if not len(varies):
        return found
    values, vectors = np.linalg.eigh(
        (centered[:, varies] / lengths[varies]).T @ (centered[:, varies] / lengths[varies])
    )
    hidden = values < 1e-12 * values[-1]
    found[varies] = (vectors[:, ~hidden] ** 2 / values[~hidden]).sum(axis=1)
    found[varies[(np.abs(vectors[:, hidden]) > 1e-6).any(axis=1)]] = np.inf
    return found


def cautions(report: CoefficientReport) -> list[str]:
    """What may mislead a reader of these coefficients."""
    found = []
    varying = report.deviations[report.deviations > 0]
    if len(varying) and varying.max() > UNLIKE_SCALES * varying.min():
        found.append(
            "the columns are of unlike scales: compare the effects per deviation, not the "
            "coefficients per unit"
        )
    clear, sizeable = report.p_values < LEVEL, np.abs(report.shares) >= SMALL_EFFECT
    unclear = report.p_values >= LEVEL
    for concerned, what in (
        (
            report.inflations > HIGH_INFLATION,
            " largely follow from other columns: their coefficients hold only beside these, and "
            "may change sign without them",
        ),
        (
            clear & ~sizeable,
            ": told apart from zero, yet a deviation moves the target by less than "
            f"{SMALL_EFFECT:g} of its own: statistically clear, of little practical weight",
        ),
        (
            unclear & sizeable,
            f": a sizeable effect that chance may explain (p >= {LEVEL:g}); more rows would tell",
        ),
    ):
        if concerned.any():
            found.append(_listed([report.names[j] for j in np.flatnonzero(concerned)]) + what)
    return found


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
