"""The regression pipeline of 000 10.4.3, every step a decision that can be seen and doubted.

Find suspect rows and fit again; look at the shape of the residuals; transform the target by Box and
Cox where they bend or fan out; choose the ridge penalty between the least error of the folds and
one standard error above; predict in the target's own units; quote the error of the folds, not of
the training picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.contract.result import Result
from gnomon.evaluate import Estimate, cross_validation_estimates, k_fold, one_standard_error
from gnomon.linear import (
    LinearRegression,
    Ridge,
    TransformedRegression,
    box_cox,
    remove_outliers,
    trust_checks,
)
from gnomon.workbench.analysis.problem import set_up

ALPHAS = tuple(10.0**power for power in range(-3, 4))


class RepairStep(NamedTuple):
    """A decision of the pipeline."""

    step: str
    found: str
    decided: str


@dataclass(repr=False)
class RegressionRepair(Result):
    """What was done to a regression, and what it is worth.

    Attributes
    ----------
    steps : list of RepairStep
    removed : list of int
        Rows of the table that were left out of the fit.
    power : float
        Power of the target; 1 where it stays as it is.
    alpha : float
        Ridge penalty.
    before, after : Estimate
        Root mean squared error by folds, in the target's units: of plain least squares and of the
        repaired model, on the kept rows.
    model : estimator
        The repaired model, fitted on the kept rows; predicts in the target's units.
    """

    steps: list[RepairStep]
    removed: list[int]
    power: float
    alpha: float
    before: Estimate
    after: Estimate
    model: Any

    def _title(self) -> str:
        return f"rmse by folds {self.before} before, {self.after} after"

    def _columns(self) -> dict[str, list[Any]]:
        return {name: [getattr(each, name) for each in self.steps] for name in RepairStep._fields}

    def _remarks(self) -> list[str]:
        return ["removed rows are not counted in either error: they may be the discovery"]


def repair_regression(
    table: Any, target: str, *, most_removed: int = 10, n_folds: int = 5, random_state: int = 0
) -> RegressionRepair:
    """Repair a linear regression step by step.

    Use it where a linear model is wanted for its coefficients. Not where only predictions count:
    `learn` compares richer models. Every step is recorded; rows that were removed are named.

    Parameters
    ----------
    table : Table or data frame
    target : str
    most_removed : int, default=10
        Most rows to leave out; 0 to keep all.
    n_folds : int, default=5
    random_state : int, default=0

    Returns
    -------
    repair : RegressionRepair
    """
    problem = set_up(table, target, task="regress")
    inputs, y = problem.inputs(problem.rows), problem.values(problem.rows)
    columns = np.asarray(LinearRegression().fit(inputs, y).encoder_.transform(inputs), dtype=float)
    removals = remove_outliers(columns, y, most=most_removed)
    kept = np.setdiff1d(np.arange(len(y)), removals.removed)
    steps = [RepairStep("suspects", removals.stopped, removed_rows(removals.removed))]
    doubts = [name for name, _, _, good in trust_checks(columns[kept], y[kept]).checks if not good]
    steps.append(
        RepairStep(
            "shape of the residuals",
            f"doubtful: {', '.join(doubts)}" if doubts else "no pattern is found",
            "transform the target" if doubts else "go on",
        )
    )
    power, step = chosen_power(columns[kept], y[kept])
    steps.append(step)
    rows, target_values = inputs[kept], y[kept]
    splits = k_fold(len(kept), n_folds, random_state=random_state)

    def judged(model: Any) -> Estimate:
        found = cross_validation_estimates(
            model, rows, target_values, cv=splits, measures="rmse", random_state=random_state
        )
        return found.figure()

    candidates = [repaired(power, alpha) for alpha in ALPHAS]
    figures = [judged(each) for each in candidates]
    place = one_standard_error(
        [each.value for each in figures],
        [each.error for each in figures],
        [-alpha for alpha in ALPHAS],
        greater_is_better=False,
    )
    best = int(np.argmin([each.value for each in figures]))
    steps.append(
        RepairStep(
            "ridge penalty",
            f"least rmse by {n_folds} folds {figures[best]} at alpha = {ALPHAS[best]:g}",
            f"alpha = {ALPHAS[place]:g}, the greatest within one standard error",
        )
    )
    return RegressionRepair(
        steps,
        [int(row) for row in removals.removed],
        power,
        ALPHAS[place],
        judged(LinearRegression()),
        figures[place],
        candidates[place].fit(rows, target_values),
    )


def removed_rows(rows: list[int]) -> str:
    """Which rows are left out, in words."""
    if not rows:
        return "all rows are kept"
    return f"rows {', '.join(map(str, sorted(rows)))} are left out"


def chosen_power(columns: np.ndarray, y: np.ndarray) -> tuple[float, RepairStep]:
    """The power of the target, and why."""
    if not (y > 0).all():
        found = "the target is not above zero everywhere: Box-Cox powers do not apply"
        return 1.0, RepairStep("Box-Cox", found, "the target stays as it is")
    profile = box_cox(columns, y)
    found = f"power {profile.power:.2g}, 95% interval {profile.low:.2g} to {profile.high:.2g}"
    power = float(profile.simple)
    decided = "the target stays as it is" if power == 1 else f"power {power:g} of the target"
    return power, RepairStep("Box-Cox", found, decided)


def repaired(power: float, alpha: float) -> Any:
    """Ridge regression of a power of the target, back in its own units."""
    ridge = Ridge(alpha=alpha)
    if power == 1:
        return ridge
    return TransformedRegression(ridge, target="log" if power == 0 else power)
