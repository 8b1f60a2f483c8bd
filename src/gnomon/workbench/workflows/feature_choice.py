"""Choosing features: knowledge first, then a ranking by filter, then a check by the learner itself.

The filter ranks columns one by one and so misses those that matter in combination; backward
elimination with the learner that will be used sees them, at its price. The choice is a part of the
learning and is judged inside cross-validation, on rows that took no part in it (004 5, 003 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate import Estimate
from gnomon.select import Backward, FeatureRanking, SelectionTrace, WrapperSelector, rank_features
from gnomon.table import Kind, Table
from gnomon.table.schema import no_such_column
from gnomon.trees import RandomForestClassifier, RandomForestRegressor
from gnomon.workbench.analysis.problem import LearningProblem, set_up
from gnomon.workbench.workflows.single_method import judged

FEW_ROWS = 500  # judgement: below it wrappers choose by noise, so scores by column are advised
MOST_BACKWARD = 40  # judgement: backward steps from d columns cost d (d + 1) / 2 cross-validations


@dataclass(repr=False)
class FeatureChoice(Result):
    """Which columns to keep, with the result of each step.

    Attributes
    ----------
    names : list of str
        The columns that were looked at: all but those that knowledge left out.
    left_out : list of str
    ranking : FeatureRanking
        Each column alone; see `gnomon.show.feature_ranking`.
    score : str
        The measure of the ranking, and why.
    trace : SelectionTrace
        Backward elimination with the learner; `selector` draws it by `gnomon.show.selection_trace`.
    selector : WrapperSelector
    chosen : list of str
    all_columns, chosen_columns : Estimate
        Scores by folds of the learner with all columns and with the choice made anew in each fold.
    measure : str
    cautions : list of str
    """

    names: list[str]
    left_out: list[str]
    ranking: FeatureRanking
    score: str
    trace: SelectionTrace
    selector: WrapperSelector
    chosen: list[str]
    all_columns: Estimate
    chosen_columns: Estimate
    measure: str
    cautions: list[str]

    def _title(self) -> str:
        return f"{len(self.chosen)} of {len(self.names)} columns: {', '.join(self.chosen)}"

    def _columns(self) -> dict[str, list[Any]]:
        alone = dict(zip(self.ranking.names, self.ranking.scores))
        ranks = dict(zip(self.names, self.selector.ranking_))
        return {
            "column": self.names,
            f"alone ({self.ranking.score})": [alone.get(name, np.nan) for name in self.names],
            "rank with the learner": [int(ranks[name]) for name in self.names],
            "kept": [name in self.chosen for name in self.names],
        }

    def _remarks(self) -> list[str]:
        return [
            f"{self.measure}: {self.all_columns} with all columns, {self.chosen_columns} with the "
            "choice made anew inside every fold",
            self.score,
            *self.cautions,
        ]


def choose_features(
    table: Table,
    target: str,
    learner: Any = None,
    *,
    leave_out: Sequence[str] = (),
    n_folds: int = 5,
    random_state: int = 0,
) -> FeatureChoice:
    """Choose columns in the order of the texts: knowledge, filter, wrapper, honest check.

    Use it where columns cost something to collect, or must be explained. Not to gain accuracy with
    learners that select by themselves (trees, lasso): they rarely do better with less.

    Parameters
    ----------
    table : Table
    target : str
    learner : estimator, default=None
        The one that will be used; a small forest where None.
    leave_out : sequence of str, default=()
        Columns that cannot help by what is known of them: made after the fact, copies, names.
    n_folds : int, default=5
    random_state : int, default=0

    Returns
    -------
    choice : FeatureChoice
    """
    for name in leave_out:
        if name not in table.columns:
            raise no_such_column(name, table.columns)
    if target in leave_out:
        raise DataError(f"the target {target!r} cannot be left out")
    problem = set_up(table.drop(leave_out) if leave_out else table, target)
    rows = problem.inputs(problem.rows)
    names = list(rows.columns)
    if len(names) < 2:
        raise DataError(f"there is one column beside the target ({names[0]!r}): nothing to choose")
    if len(names) > MOST_BACKWARD:
        raise DataError(
            f"backward elimination of {len(names):,} columns takes {len(names) ** 2 // 2:,} fits; "
            f"leave out by knowledge, or by gnomon.select.FilterSelector, down to {MOST_BACKWARD}"
        )
    y = problem.values(problem.rows)
    score, why = advised_score(problem)
    learner = _usual(problem, random_state) if learner is None else learner
    selector = WrapperSelector(
        clone(learner), Backward(), rule="one_se", n_folds=n_folds, task=problem.task,
        random_state=random_state,
    )  # fmt: skip
    ranking = rank_features(rows, y, score, task=problem.task, random_state=random_state)
    fitted = clone(selector).fit(rows, y)
    inside = Pipeline([("select", clone(selector)), ("learn", clone(learner))])
    return FeatureChoice(
        names,
        list(leave_out),
        ranking,
        f"ranked by {score}: {why}",
        fitted.trace_,
        fitted,
        [name for name, kept in zip(names, fitted.support_) if kept],
        judged(problem, learner, n_folds, random_state),
        judged(problem, inside, n_folds, random_state),
        problem.measure,
        _cautions(problem, names, ranking, fitted),
    )


def advised_score(problem: LearningProblem) -> tuple[str, str]:
    """The filter's measure for these columns and this target, and why."""
    schema = problem.rows.schema
    kinds = {schema[name].kind for name in problem.features}
    categories = {Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN}
    if kinds <= categories and problem.task == "classify":
        return "chi2", "both sides are categories"
    if not kinds & categories and problem.task == "classify" and len(problem.rows) < FEW_ROWS:
        return (
            "correlation_ratio",
            "numbers against classes, and too few rows for mutual information",
        )
    if len(problem.rows) >= FEW_ROWS:
        return "mutual_information", "it sees any dependence, and the rows are enough for it"
    return "association", "each column by the measure that fits its kind"


def _usual(problem: LearningProblem, random_state: int) -> Any:
    kind = RandomForestClassifier if problem.task == "classify" else RandomForestRegressor
    return kind(n_estimators=30, random_state=random_state)


def _cautions(
    problem: LearningProblem, names: list[str], ranking: FeatureRanking, fitted: WrapperSelector
) -> list[str]:
    """Columns on which filter and learner disagree."""
    found = []
    half = max(len(names) // 2, 1)
    kept = {name for name, each in zip(names, fitted.support_) if each}
    weak = [name for name in ranking.names[half:] if name in kept]
    if weak:
        found.append(
            f"{', '.join(weak)}: weak alone, kept by the learner: it counts in combination"
        )
    strong = [name for name in ranking.names[:half] if name not in kept]
    if strong:
        found.append(f"{', '.join(strong)}: strong alone, not needed beside the others")
    return found
