"""Surrogate splits: what to ask about another column when the cell that a node asks for is missing.

For each other column, the question whose branches agree best with the node's own (a split of the
branch numbers by misclassification). A surrogate is kept only where it agrees more often than
always naming the commonest branch; the list is ranked by the weight of the rows that agree.

Text: 001 11.4 (and rpart, whose ranking this is).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gnomon.trees.impurity import Misclassification
from gnomon.trees.questions import AT_MOST, LEVELS, UNKNOWN, Questions, make_question
from gnomon.trees.splits import ROUNDING, BestOfColumns, LeastBranch, LevelTable, Pool


@dataclass
class Surrogate:
    """A question, the weight of the rows that it sends like the node's own, and their share."""

    question: Questions
    agreeing: float
    agreement: float


def surrogates_of(
    pool: Pool, branches: np.ndarray, asked: int, n_branches: int, most: int
) -> list[Surrogate]:
    """The best surrogates of a node's question, best first.

    Parameters
    ----------
    pool : Pool
        The rows in the node.
    branches : int array (m,)
        Where the question sends them; -1 where it has no answer.
    asked : int
        The column that it asks about.
    n_branches : int
    most : int
        Surrogates kept.
    """
    known = branches != UNKNOWN
    within = replace(
        pool,
        places=pool.places[known],
        y=branches[known],
        weights=pool.weights[known],
        counts=pool.counts[known],
        columns=np.arange(len(pool.levels)),
    )
    others = np.flatnonzero(np.arange(len(pool.levels)) != asked)
    numbers, categories = others[pool.levels[others] == 0], others[pool.levels[others] > 0]
    finder = BestOfColumns(Misclassification(n_branches), least=LeastBranch(0))
    cuts = finder.cuts(within, numbers)
    found = {j: _of_levels(within, int(j), n_branches) for j in categories}
    for j, cut in cuts.items():
        if cut is not None and cut.saving > 0:
            found[j] = _of_threshold(within, j, float(cut.threshold), n_branches)
    there = [found[j] for j in sorted(found) if found[j] is not None]
    return sorted(there, key=lambda each: -each.agreeing)[:most]


def _of_threshold(pool: Pool, j: int, threshold: float, n_branches: int) -> Surrogate | None:
    values = pool.column(j)
    known = ~np.isnan(values)
    is_low = values[known] <= threshold
    y, weights = pool.y[known], pool.weights[known]
    low = np.bincount(y[is_low], weights[is_low], n_branches)
    high = np.bincount(y[~is_low], weights[~is_low], n_branches)
    question = make_question(
        AT_MOST, feature=j, threshold=threshold, low=int(low.argmax()), high=int(high.argmax())
    )
    return _better_than_the_commonest(question, low.max() + high.max(), low + high)


def _of_levels(pool: Pool, j: int, n_branches: int) -> Surrogate | None:
    table = LevelTable.of(pool, j, Misclassification(n_branches), missing_is_level=False)
    if not len(table.present):
        return None
    branch = np.full(table.n_levels, UNKNOWN)
    branch[table.present] = table.sums.argmax(axis=1)
    question = make_question(LEVELS, feature=j, level_branch=branch)
    return _better_than_the_commonest(question, table.sums.max(axis=1).sum(), table.total)


def _better_than_the_commonest(
    question: Questions, agreeing: float, by_branch: np.ndarray
) -> Surrogate | None:
    total = by_branch.sum()
    if agreeing <= by_branch.max() + ROUNDING * total:
        return None
    return Surrogate(question, float(agreeing), float(agreeing / total))
