"""The plan of a run: which splits, which learners, what was decided and why."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gnomon.evaluate.splits import Splits, forward_in_time, k_fold, random_splits
from gnomon.table import Table
from gnomon.workbench.budget import Budget
from gnomon.workbench.forecast import Cost, forecast_cost
from gnomon.workbench.portfolio import BASELINE, Entrant
from gnomon.workbench.problem import LearningProblem

PLENTY = 10_000
VERY_MANY = 100_000
FORECAST_FROM = 4_000
SHARE_TO_COMPARE = 0.65
SPLITS_OF_MANY = 3
TRAIN_OF_MANY = 80_000
TEST_OF_MANY = 40_000


@dataclass
class Plan:
    """What will be done.

    Attributes
    ----------
    splits : Splits
        The same for every learner.
    entrants : list of Entrant
        Those that compete, in order.
    costs : list of Cost
        Forecasts, where they were made.
    left_out : dict of str to str
        Learners that do not compete, and why.
    decisions : list of (str, str)
        What was decided, and why.
    """

    splits: Splits
    entrants: list[Entrant]
    costs: list[Cost] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    decisions: list[tuple[str, str]] = field(default_factory=list)

    def cost_of(self, name: str) -> Cost | None:
        """The forecast of a learner, where there is one."""
        return next((each for each in self.costs if each.name == name), None)


def splits_for(
    problem: LearningProblem,
    train: Table,
    y: np.ndarray,
    n_folds: int | None,
    n_repeats: int | None,
    seed: int,
) -> tuple[Splits, str]:
    """The splits that compare the learners, and why these.

    Parameters
    ----------
    problem : LearningProblem
    train : Table
    y : ndarray
    n_folds, n_repeats : int or None
        None to choose by the number of rows.
    seed : int

    Returns
    -------
    splits : Splits
    why : str
    """
    n = len(y)
    if problem.time is not None:
        moments = train.column(problem.time).to_numpy(zero_copy_only=False)
        splits = forward_in_time(moments, n_folds or 5)
        return splits, f"rows have a time ({problem.time}): train on the past, test on the future"
    labels = y if problem.task == "classify" else None
    groups = None
    if problem.groups is not None:
        groups = np.asarray(train.column(problem.groups).to_pylist(), dtype=object).astype(str)
    if n > VERY_MANY and n_folds is None and groups is None:
        return splits_of_many(n, labels, seed)
    repeats = n_repeats or (2 if n < PLENTY else 1)
    folds = n_folds or 5
    if labels is not None:
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        folds = max(2, min(folds, rarest))
    splits = k_fold(n, folds, repeats, stratify=labels, groups=groups, random_state=seed)
    why = "asked for" if n_folds else f"{n:,} training rows: folds use every row for a test"
    return splits, why


def splits_of_many(n: int, labels: np.ndarray | None, seed: int) -> tuple[Splits, str]:
    """A few random splits of bounded size for very many rows."""
    share = TEST_OF_MANY / n
    drawn = random_splits(n, SPLITS_OF_MANY, share, stratify=labels, random_state=seed)
    rng = np.random.default_rng(seed)
    pairs = [
        (np.sort(rng.choice(train, min(TRAIN_OF_MANY, len(train)), replace=False)), test)
        for train, test in drawn
    ]
    how = (
        f"{SPLITS_OF_MANY} random splits, {TRAIN_OF_MANY:,} training and {TEST_OF_MANY:,} test rows"
    )
    why = (
        f"{n:,} training rows are plenty: learners are compared on {TRAIN_OF_MANY:,} of them at a "
        "time, drawn at random; the chosen one learns from all"
    )
    return Splits(pairs, n, how), why


def make_plan(
    problem: LearningProblem,
    train: Table,
    y: np.ndarray,
    entrants: list[Entrant],
    splits: Splits,
    budget: Budget,
    seed: int,
    tell,
) -> Plan:
    """Let in the learners that the budget allows.

    Parameters
    ----------
    problem : LearningProblem
    train : Table
    y : ndarray
    entrants : list of Entrant
    splits : Splits
    budget : Budget
    seed : int
    tell : callable
        ``tell(what)``.

    Returns
    -------
    plan : Plan
    """
    plan = Plan(splits, [])
    if budget.evaluations is not None:
        return within_evaluations(plan, entrants, budget.evaluations)
    if budget.seconds is None or len(y) < FORECAST_FROM:
        plan.entrants = entrants
        return plan
    rows = len(splits[0][0])
    spent = budget.spent
    limit = SHARE_TO_COMPARE * budget.seconds
    for entrant in entrants:
        tell(f"forecast: {entrant.name}")
        cost = forecast_cost(entrant, problem, train, y, seed)
        plan.costs.append(cost)
        expected = len(splits) * cost.at(rows)
        final = cost.at(len(y))
        if entrant.name != BASELINE and max(spent, budget.spent) + expected + final > limit:
            plan.left_out[entrant.name] = (
                f"forecast: {expected:.0f} s for {len(splits)} fits on {rows:,} rows, and "
                f"{final:.0f} s for one on all; {max(limit - spent, 0):.0f} s are left for "
                "comparing"
            )
            continue
        spent = max(spent, budget.spent) + expected
        plan.entrants.append(entrant)
    return plan


def within_evaluations(plan: Plan, entrants: list[Entrant], most: int) -> Plan:
    """As many learners, in order, as the number of evaluations allows; the baseline always."""
    left = most
    for entrant in entrants:
        if entrant.name != BASELINE and left < len(plan.splits):
            plan.left_out[entrant.name] = (
                f"{len(plan.splits)} evaluations needed, {max(left, 0)} of {most} left"
            )
            continue
        left -= len(plan.splits)
        plan.entrants.append(entrant)
    return plan
