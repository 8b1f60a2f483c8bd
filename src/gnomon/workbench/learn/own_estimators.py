"""Estimators and pipelines of scikit-learn that a user gives to `learn`: they compete like others.

An estimator gets the table as numbers, as any learner that is not of gnomon; a pipeline that picks
its columns by name (a ColumnTransformer in it) gets a data frame with the cells as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Estimator
from gnomon.prepare import FilteredLearner
from gnomon.table import Table
from gnomon.workbench.analysis.portfolio import STACK, Entrant, portfolio

# Judgement: as the richest of the portfolio, since nothing is known of them.
COMPLEXITY = 4


def own_entrants(estimators: Any, task: str) -> list[Entrant]:
    """The estimators that a user gives, as learners of the portfolio.

    Parameters
    ----------
    estimators : mapping of str to estimator, or None
    task : {"classify", "regress"}

    Returns
    -------
    entrants : list of Entrant
    """
    if estimators is None:
        return []
    if not isinstance(estimators, Mapping):
        raise DataError("estimators= is a dictionary of names and estimators: {'my name': ...}")
    taken = [each.name for each in portfolio(task, 1)] + [STACK]
    return [
        Entrant(name, _learner(name, each, task, taken), COMPLEXITY)
        for name, each in estimators.items()
    ]


def in_words(estimators: Any) -> dict[str, str] | None:
    """The estimators as the record of a run names them."""
    return estimators and {name: " ".join(repr(each).split()) for name, each in estimators.items()}


def frame_of(rows: Any) -> Any:
    """The data frame of a table."""
    return rows.to_pandas() if isinstance(rows, Table) else rows


def _learner(name: str, estimator: Any, task: str, taken: list[str]) -> Any:
    if name in taken:
        raise DataError(f"estimators=: {name!r} is a learner of the portfolio; give another name")
    if isinstance(estimator, str):
        raise DataError(
            f"estimators=: {name!r} is the text {estimator!r}; give the estimator itself, which a "
            "record cannot hold"
        )
    fits = is_classifier if task == "classify" else is_regressor
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not fits(estimator):
        kind = "classifier" if task == "classify" else "regressor"
        raise DataError(f"estimators=: {name!r} is no {kind}, and the task is to {task}")
    if isinstance(estimator, Estimator):
        return clone(estimator)
    parts = estimator.get_params(deep=True).values()
    if not any(isinstance(each, ColumnTransformer) for each in (estimator, *parts)):
        return FilteredLearner(estimator)
    steps = [("frame", FunctionTransformer(frame_of)), ("estimator", estimator)]
    return FilteredLearner(Pipeline(steps), features=None)
