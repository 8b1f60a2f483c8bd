"""The job `learn`: which learner predicts this column best, and how well, honestly.

Test rows are put aside first and used once, at the end. All learners, the baseline among them, are
compared on the same folds of the other rows; the intervals allow for the overlap of the folds'
training rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gnomon.bayes import NaiveBayes
from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    BaselineClassifier,
    BaselineRegressor,
    CrossValidation,
    Figure,
    accuracy,
    cross_validate,
    k_fold,
    ranked,
    root_mean_squared_error,
)
from gnomon.linear import LinearRegression, LogisticRegression, Ridge
from gnomon.table import Kind, Table
from gnomon.table.split import split
from gnomon.trees import RandomForestClassifier, RandomForestRegressor

FEWEST_ROWS = 20


@dataclass
class LearnResult:
    """What `learn` found.

    Attributes
    ----------
    task : str
        ``"classify"`` or ``"regress"``.
    target : str
    measure : str
        What the scores are.
    scores : list of CrossValidation
        Best first; the baseline is among them.
    model : estimator
        The best learner, fitted on all rows but the test rows.
    test : Figure
        Its score on the test rows.
    n_train, n_test : int
    """

    task: str
    target: str
    measure: str
    scores: list[CrossValidation]
    model: Any
    test: Figure
    n_train: int
    n_test: int
    test_table: Table

    @property
    def best(self) -> CrossValidation:
        return self.scores[0]

    @property
    def baseline(self) -> CrossValidation:
        return next(each for each in self.scores if each.name.startswith("Baseline"))

    @property
    def beats_baseline(self) -> bool:
        """Whether the best is better than the baseline beyond chance (p below 0.05)."""
        return self.best is not self.baseline and self.best.p_against(self.baseline) < 0.05


def portfolio(task: str, seed: int) -> list:
    """The learners that are tried: the baseline and three of different natures."""
    if task == "classify":
        return [
            BaselineClassifier(),
            NaiveBayes(),
            LogisticRegression(),
            RandomForestClassifier(random_state=seed),
        ]
    return [
        BaselineRegressor(),
        LinearRegression(),
        Ridge(),
        RandomForestRegressor(random_state=seed),
    ]


def learn(
    table: Table,
    target: str,
    *,
    n_folds: int = 5,
    n_repeats: int = 2,
    test_share: float = 0.25,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda name, total, done: None,
) -> LearnResult:
    """Compare learners on a table and give the best with an honest figure of its quality.

    Parameters
    ----------
    table : Table
    target : str
        The column to predict; categories and booleans are classified, numbers regressed.
    n_folds, n_repeats : int
        Of the cross-validation that compares the learners.
    test_share : float, default=0.25
        Rows put aside for the final figure.
    seed : int, default=0
        Of the splits and of random learners.
    progress : callable
        Called as ``progress(learner, folds in all, folds done)``.

    Returns
    -------
    result : LearnResult
    """
    task = task_of(table, target)
    measure, name, score = {
        "classify": ("accuracy", "accuracy", accuracy),
        "regress": ("root mean squared error", "rmse", root_mean_squared_error),
    }[task]
    parts = split(
        table,
        (1 - test_share, test_share),
        stratify=target if task == "classify" else None,
        random_state=seed,
    )
    train, test = parts.train, parts.test
    y = target_values(train, target)
    rows = train.drop(target)
    strata = y if task == "classify" else None
    splits = k_fold(len(y), n_folds, n_repeats, stratify=strata, random_state=seed)
    learners = {type(each).__name__: each for each in portfolio(task, seed)}
    scores = []
    for label, learner in learners.items():
        tell = partial(told, progress, label)
        scores.append(cross_validate(learner, rows, y, splits=splits, measures=name, progress=tell))
    board = ranked(scores)
    model = learners[board.best.name].fit(train, target)
    figure = score(target_values(test, target), model.predict(test))
    return LearnResult(
        task,
        target,
        measure,
        board.results,
        model,
        figure,
        len(train),
        len(test),
        test,
    )


def told(progress: Callable[[str, int, int], None], name: str, done: int, total: int) -> None:
    """Say how far a learner is, in the job's own form."""
    progress(name, total, done)


def task_of(table: Table, target: str) -> str:
    """Classify or regress, from the kind of the target; refuses targets that cannot be learnt."""
    if target not in table.columns:
        import difflib

        near = difflib.get_close_matches(target, table.columns, n=3, cutoff=0.4)
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise DataError(
            f"the table has no column {target!r}.{hint} Its columns: {', '.join(table.columns)}"
        )
    column = table.column(target)
    if column.null_count:
        raise DataError(
            f"the target {target!r} is missing in {column.null_count:,} of {len(table):,} rows; "
            "leave those rows out first"
        )
    distinct = len(column.unique())
    if distinct < 2:
        raise DataError(f"the target {target!r} has one value only: there is nothing to learn")
    if len(table) < FEWEST_ROWS:
        raise DataError(
            f"{len(table)} rows are too few to learn and test on; {FEWEST_ROWS} are the least"
        )
    kind = table.schema[target].kind
    if kind in (Kind.CATEGORY, Kind.ORDERED, Kind.BOOLEAN):
        return "classify"
    if kind in (Kind.NUMBER, Kind.INTEGER):
        return "classify" if distinct == 2 else "regress"
    raise DataError(
        f"the target {target!r} is {kind} ({table.schema[target].reason}); only categories, "
        "booleans and numbers can be learnt. Give it another kind in the schema if that is wrong"
    )


def target_values(table: Table, target: str) -> np.ndarray:
    """The target column as an array."""
    column = table.column(target)
    if table.schema[target].kind in (Kind.NUMBER, Kind.INTEGER, Kind.BOOLEAN):
        return column.to_numpy()
    return np.asarray(column.to_pylist(), dtype=object)
