"""A measured table of learners: score, times, memory, size of the model, sparse rows or not.

003 2.6 prints such a table with empty cells; here they are measured on the user's own rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from gnomon.contract.result import Result
from gnomon.evaluate.fold_run import Problem, seeded
from gnomon.evaluate.leaderboard import Leaderboard, leaderboard, named
from gnomon.evaluate.splits import as_splits


@dataclass(repr=False)
class PropertyTable(Result):
    """What learners cost and give on the same rows.

    Attributes
    ----------
    board : Leaderboard
        Scores, times and memory per fold.
    model_bytes : dict of str to int or None
        Size of a model fitted on the first training rows, as written; None where it cannot be.
    takes_sparse, takes_missing : dict of str to bool
        What each learner declares.
    """

    board: Leaderboard
    model_bytes: dict[str, int | None]
    takes_sparse: dict[str, bool]
    takes_missing: dict[str, bool]

    def _title(self) -> str:
        return f"Learners measured by {self.board.results[0].splits.how}"

    def _columns(self) -> dict[str, list[Any]]:
        columns = self.board._columns()
        sizes = [self.model_bytes[name] for name in self.board.names]
        columns["model kB"] = [None if size is None else size / 1000 for size in sizes]
        columns["sparse rows"] = [self.takes_sparse[name] for name in self.board.names]
        columns["missing cells"] = [self.takes_missing[name] for name in self.board.names]
        return columns


def property_table(
    estimators: Mapping[str, Any] | list[Any],
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    measures: Any = None,
    random_state: int = 0,
) -> PropertyTable:
    """Measure learners on the same folds: score with error bar, seconds, peak memory, model size.

    Folds run one after another, so that times and memory are those of one learner alone.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list of estimators
    X : array-like, sparse matrix, data frame or Table of shape (n, d)
    y : array-like or str, default=None
    cv : "auto", int, Splits, splitter or list of pairs, default=5
    measures : str, Measure, Loss, callable or list of these, default=None
    random_state : int, default=0

    Returns
    -------
    table : PropertyTable

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> table = property_table([GaussianNB()], *load_iris(return_X_y=True), cv=3)
    >>> table.model_bytes["GaussianNB"] > 100
    True
    """
    chosen = named(estimators)
    problem = Problem.of(next(iter(chosen.values())), X, y, None, None)
    plan = as_splits(cv, problem.n_rows, problem.strata, None, random_state)
    board = leaderboard(
        chosen,
        problem.X,
        problem.y,
        cv=plan,
        measures=measures,
        measure_memory=True,
        random_state=random_state,
        baseline=False,
    )
    tags = {name: get_tags(learner).input_tags for name, learner in chosen.items()}
    return PropertyTable(
        board,
        {name: _bytes(learner, problem, plan[0][0]) for name, learner in chosen.items()},
        {name: bool(each.sparse) for name, each in tags.items()},
        {name: bool(each.allow_nan) for name, each in tags.items()},
    )


def _bytes(learner: Any, problem: Problem, rows: np.ndarray) -> int | None:
    part, labels, _ = problem.part(rows)
    try:
        model = seeded(learner, 0, 0).fit(part, labels)
        return len(pickle.dumps(model))
    except Exception:
        return None
