"""Workflows of the texts for one method: tune boosting, grow and prune a tree, verify a gradient.

Each gives the steps that it took with their figures, so that every choice can be seen and doubted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate import Estimate, cross_validation_estimates, k_fold, one_standard_error
from gnomon.optimize import check_gradient as check_gradient
from gnomon.table import Kind, Table
from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
)
from gnomon.workbench.analysis.diagnosis import strongest
from gnomon.workbench.analysis.problem import LearningProblem, set_up

MOST_ROUNDS = 1000  # judgement: never reached in practice; validation stops much earlier
PATIENCE = 20  # judgement: twice scikit-learn's n_iter_no_change, as steps get smaller
MANY_LEVELS = 20  # judgement: splits of more levels look better than they are


@dataclass(repr=False)
class BoostingTuning(Result):
    """The size of the trees, chosen by folds, with the rounds that early stopping found.

    Attributes
    ----------
    leaves : list of int
        Sizes that were tried.
    figures : list of Estimate
        Score of each on rows that it had not seen.
    chosen : int
        The smallest size within one standard error of the best.
    model : estimator
        Of the chosen size, fitted on all rows.
    rounds : int
        Trees that early stopping kept.
    columns : list of str
        The most important columns: those to draw partial dependence of.
    measure : str
    """

    leaves: list[int]
    figures: list[Estimate]
    chosen: int
    model: Any
    rounds: int
    columns: list[str]
    measure: str

    def _title(self) -> str:
        return f"Boosting: {self.chosen} leaves, {self.rounds} rounds ({self.measure})"

    def _columns(self) -> dict[str, list[Any]]:
        return {"leaves": self.leaves, self.measure: self.figures}

    def _remarks(self) -> list[str]:
        return [f"Look at the partial dependence on {', '.join(self.columns)}"]


def tune_boosting(
    table: Table,
    target: str,
    *,
    leaves: Sequence[int] = (4, 6, 8),
    learning_rate: float = 0.05,
    subsample: float = 0.5,
    n_folds: int = 5,
    random_state: int = 0,
) -> BoostingTuning:
    """Tune boosted trees in the order of the text: size and rates first, then rounds.

    Trees of 4 to 8 leaves, a rate below 0.1 and half of the rows per round are fixed early; the
    number of rounds is found by early stopping on a validation part, never on test rows (001
    13.10, 000b 5). Then look at importances and the partial dependence of the strongest columns.

    Parameters
    ----------
    table : Table
    target : str
    leaves : sequence of int, default=(4, 6, 8)
    learning_rate : float, default=0.05
    subsample : float, default=0.5
        Share of rows per round; less for many rows.
    n_folds : int, default=5
    random_state : int, default=0

    Returns
    -------
    tuning : BoostingTuning
    """
    if not leaves:
        raise DataError("give sizes of trees to try, such as leaves=(4, 6, 8)")
    problem = set_up(table, target)
    is_class = problem.task == "classify"
    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    candidates = [
        kind(
            max_leaf_nodes=size,
            learning_rate=learning_rate,
            subsample=subsample,
            max_iter=MOST_ROUNDS,
            early_stopping=True,
            n_iter_no_change=PATIENCE,
            restore_best=True,
            random_state=random_state,
        )
        for size in leaves
    ]
    figures = [judged(problem, each, n_folds, random_state) for each in candidates]
    place = one_standard_error(
        [each.value for each in figures],
        [each.error for each in figures],
        list(leaves),
        greater_is_better=problem.figure.greater_is_better,
    )
    rows = problem.rows
    model = candidates[place].fit(problem.inputs(rows), problem.values(rows))
    return BoostingTuning(
        list(leaves),
        figures,
        list(leaves)[place],
        model,
        int(model.n_estimators_),
        strongest(model),
        problem.measure,
    )


def judged(problem: LearningProblem, learner: Any, n_folds: int, random_state: int) -> Estimate:
    """A learner's score by folds, the same for every learner of a problem."""
    y = problem.values(problem.rows)
    strata = y if problem.task == "classify" else None
    splits = k_fold(len(y), n_folds, stratify=strata, random_state=random_state)
    found = cross_validation_estimates(
        learner,
        problem.inputs(problem.rows),
        y,
        cv=splits,
        measures=problem.measure,
        random_state=random_state,
    )
    if found.failures:
        raise DataError(f"{type(learner).__name__} failed: {found.failures[0]}")
    return found.figure()


@dataclass(repr=False)
class GrownAndPruned(Result):
    """A tree grown large, and what pruning left of it.

    Attributes
    ----------
    grown_leaves, pruned_leaves : int
    grown, pruned : Estimate
        Scores of both on rows that they had not seen.
    model : estimator
        The pruned tree, fitted on all rows.
    measure : str
    cautions : list of str
        What to doubt: categories of many levels, columns with missing cells.
    """

    grown_leaves: int
    pruned_leaves: int
    grown: Estimate
    pruned: Estimate
    model: Any
    measure: str
    cautions: list[str]

    def _title(self) -> str:
        return f"A tree of {self.grown_leaves} leaves, pruned to {self.pruned_leaves}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "tree": ["grown large", "pruned"],
            "leaves": [self.grown_leaves, self.pruned_leaves],
            self.measure: [self.grown, self.pruned],
        }

    def _remarks(self) -> list[str]:
        return self.cautions


def grow_and_prune(
    table: Table, target: str, *, n_folds: int = 10, random_state: int = 0
) -> GrownAndPruned:
    """Grow a tree large, prune it by cross-validation, and show what that changed.

    Impurity grows the tree, misclassification prunes it (001 11, 002, 004 6.1). Rows with missing
    cells are kept; identifiers are not looked at.

    Parameters
    ----------
    table : Table
    target : str
    n_folds : int, default=10
        Of the pruning; the scores of both trees come from five.
    random_state : int, default=0

    Returns
    -------
    result : GrownAndPruned
    """
    problem = set_up(table, target)
    is_class = problem.task == "classify"
    large = DecisionTreeClassifier if is_class else DecisionTreeRegressor
    small = PrunedTreeClassifier if is_class else PrunedTreeRegressor
    grown, pruned = (
        large(random_state=random_state),
        small(n_folds=n_folds, random_state=random_state),
    )
    figures = [judged(problem, each, 5, random_state) for each in (grown, pruned)]
    rows, y = problem.inputs(problem.rows), problem.values(problem.rows)
    sizes = [int(each.fit(rows, y).tree_.n_leaves) for each in (grown, pruned)]
    return GrownAndPruned(
        sizes[0],
        sizes[1],
        figures[0],
        figures[1],
        pruned,
        problem.measure,
        tree_cautions(problem),
    )


def tree_cautions(problem: LearningProblem) -> list[str]:
    """What misleads a tree in this table."""
    schema, found = problem.rows.schema, []
    for name in problem.features:
        levels = schema[name].levels or ()
        if schema[name].kind in (Kind.CATEGORY, Kind.ORDERED) and len(levels) > MANY_LEVELS:
            found.append(f"{name!r} has {len(levels):,} levels: splits on it are partly luck")
        missing = problem.rows.column(name).null_count
        if missing:
            found.append(f"{name!r} is missing in {missing:,} rows, which are kept")
    return found
