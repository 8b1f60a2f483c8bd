"""Experiments: several learners on several tables, who wins where, and who ranks first over all.

Within a table learners are compared by the corrected resampled t test on the same folds; over the
tables by ranks (Friedman and Nemenyi), one mean score per table, because folds of one table are not
independent tables. Text: 003 2.6 (tables of learners on tables of data).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from gnomon.contract.estimate import Estimate, check_level
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.comparison import corrected_t_test
from gnomon.evaluate.cross_validation_result import CrossValidation, paired_scores
from gnomon.evaluate.leaderboard import BASELINE, Leaderboard, leaderboard, named
from gnomon.evaluate.progress import Progress, told
from gnomon.evaluate.several import RankTest, friedman_test


@dataclass(repr=False)
class Duels(Result):
    """One learner against each of the others, over tables: wins, ties and losses.

    Attributes
    ----------
    base : str
    names : list of str
        The others.
    outcome : ndarray of shape (n_tables, n_others)
        1 where the other is better than the base beyond chance, -1 where worse, 0 where they are
        not told apart; NaN where fewer than two folds are left of one of them, or scores are
        infinite.
    tables : list of str
    confidence_level : float
    """

    base: str
    names: list[str]
    outcome: np.ndarray
    tables: list[str]
    confidence_level: float

    def counts(self, name: str) -> tuple[int, int, int]:
        """Tables on which a learner wins against the base, ties, and loses.

        Parameters
        ----------
        name : str

        Returns
        -------
        wins, ties, losses : int
        """
        if name not in self.names:
            raise DataError(f"{name!r} is none of {', '.join(self.names)}")
        column = self.outcome[:, self.names.index(name)]
        return int((column == 1).sum()), int((column == 0).sum()), int((column == -1).sum())

    def _title(self) -> str:
        return (
            f"Against {self.base} on {len(self.tables)} tables (corrected resampled t test, "
            f"each at {self.confidence_level:.0%})"
        )

    def _columns(self) -> dict[str, list[Any]]:
        won, tied, lost = zip(*(self.counts(each) for each in self.names))
        return {"learner": self.names, "wins": [*won], "ties": [*tied], "losses": [*lost]}

    def _remarks(self) -> list[str]:
        return [
            f"Not compared, as folds failed or scores are infinite: {name} on {table}"
            for name, column in zip(self.names, self.outcome.T)
            for table, outcome in zip(self.tables, column)
            if np.isnan(outcome)
        ]


@dataclass(repr=False)
class Experiment(Result):
    """Leaderboards of the same learners on several tables.

    Attributes
    ----------
    boards : dict of str to Leaderboard
        By table.
    names : list of str
        Learners, in the order given.
    measure : str
    greater_is_better : bool
    """

    boards: dict[str, Leaderboard]
    names: list[str]
    measure: str
    greater_is_better: bool

    @property
    def scores(self) -> np.ndarray:
        """Mean scores, tables by learners; NaN where a learner failed everywhere."""
        return np.array([[self._figure(board, n).value for n in self.names] for board in self._all])

    @property
    def _all(self) -> list[Leaderboard]:
        return list(self.boards.values())

    def against(self, base: str = BASELINE, confidence_level: float = 0.95) -> Duels:
        """Wins, ties and losses of every learner against one of them.

        Parameters
        ----------
        base : str, default="baseline"
        confidence_level : float, default=0.95
            Level of each single test; they are not corrected for their number.

        Returns
        -------
        duels : Duels
        """
        check_level(confidence_level)
        if base not in self.names:
            raise DataError(f"{base!r} is none of {', '.join(self.names)}")
        others = [each for each in self.names if each != base]
        outcome = [
            [self._outcome(board[each], board[base], confidence_level) for each in others]
            for board in self._all
        ]
        return Duels(base, others, np.array(outcome), list(self.boards), confidence_level)

    def ranks(self, confidence_level: float = 0.95) -> RankTest:
        """Friedman's test of the mean ranks over the tables, with Nemenyi's critical difference.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        test : RankTest
            Of the learners and tables given; a learner that failed on a table is refused by name.
        """
        scores = self.scores
        failed = np.isnan(scores)
        if failed.any():
            row, column = np.argwhere(failed)[0]
            raise DataError(
                f"{self.names[column]} failed on {list(self.boards)[row]} and has no rank there; "
                "leave the learner or the table out"
            )
        # the test looks at ranks alone, and infinite scores have one, too
        places = scipy.stats.rankdata(scores, axis=1)
        return friedman_test(
            places,
            self.names,
            greater_is_better=self.greater_is_better,
            confidence_level=confidence_level,
        )

    def _outcome(
        self, one: CrossValidation, base: CrossValidation, confidence_level: float
    ) -> float:
        a, b = paired_scores(one, base)
        if len(a) < 2 or np.isinf([a, b]).any():
            return np.nan
        if corrected_t_test(a, b, one.test_share).p >= 1 - confidence_level:
            return 0.0
        return 1.0 if (a.mean() > b.mean()) == self.greater_is_better else -1.0

    def _figure(self, board: Leaderboard, name: str) -> Estimate:
        return board[name].figure(self.measure)

    def _title(self) -> str:
        return f"{self.measure} of {len(self.names)} learners on {len(self.boards)} tables"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {"table": list(self.boards)}
        return columns | {n: [self._figure(board, n) for board in self._all] for n in self.names}

    def _remarks(self) -> list[str]:
        failures = [
            f"{each.name} on {table} failed: {remark}"
            for table, board in self.boards.items()
            for each in board.results
            for remark in each.failure_remarks()
        ]
        return ["95% intervals; against() and ranks() say which differences are real", *failures]


def experiment(
    estimators: Mapping[str, Any] | list[Any],
    tables: Mapping[str, tuple[Any, Any]],
    *,
    cv: Any = "auto",
    measures: Any = None,
    baseline: bool = True,
    pair_fits: int | str = "auto",
    random_state: int | None = 0,
    n_jobs: int | None = None,
    progress: Progress = None,
    folder: str | Path | None = None,
) -> Experiment:
    """Cross-validate several learners on several tables, the baseline among them.

    Parameters
    ----------
    estimators : mapping of str to estimator, or list of estimators
    tables : mapping of str to (X, y)
        y may be the name of a column of X.
    cv : "auto", int or splitter, default="auto"
    measures : str, Measure, Loss, callable or list of these, default=None
        The first one counts; it must be comparable between tables, as accuracy is.
    baseline : bool, default=True
    pair_fits : int or "auto", default="auto"
        See `cross_validation_estimates`.
    random_state : int or None, default=0
    n_jobs : int or None, default=None
    progress : bool or callable, default=None
        Called as ``progress(done, total)`` over the tables.
    folder : str or Path, default=None
        Results are kept there; a killed run goes on.

    Returns
    -------
    experiment : Experiment

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> tables = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> found = experiment([GaussianNB()], tables, cv=5)
    >>> found.against("baseline").counts("GaussianNB")
    (2, 0, 0)
    """
    if not isinstance(tables, Mapping):
        raise DataError("give the tables by name: {'iris': (X, y), ...}")
    if not tables:
        raise DataError("there is no table to evaluate on")
    chosen = named(estimators)
    boards: dict[str, Leaderboard] = {}
    with told(progress, "tables") as tell:
        tell(0, len(tables))
        for place, (name, (X, y)) in enumerate(tables.items()):
            boards[str(name)] = leaderboard(
                chosen,
                X,
                y,
                cv=cv,
                measures=measures,
                baseline=baseline,
                pair_fits=pair_fits,
                random_state=random_state,
                n_jobs=n_jobs,
                folder=None if folder is None else Path(folder) / f"table-{place:03d}",
            )
            tell(place + 1, len(tables))
    first = next(iter(boards.values()))
    names = [*chosen, *(each for each in first.names if each not in chosen)]
    return Experiment(boards, names, first.measure, first.greater_is_better)
