"""What the checks of a run look at, and what a check says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gnomon.evaluate import CrossValidation, Curve, Estimate, Leaderboard
from gnomon.evaluate.measures import Said
from gnomon.table import Table
from gnomon.workbench.analysis.associations import Association
from gnomon.workbench.analysis.diagnosis import GroupScore, PermutationImportance, Shift
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.analysis.problem import LearningProblem

# the titles of checks that found something
WRONG = {
    "better than the baseline": "Not better than the baseline",
    "leak": "A column gives the target away",
    "exact relation": "Columns sum to the target",
    "rows of one key": "Rows of one key are in training and test",
    "nearly perfect": "Too good to be true",
    "repeated rows": "Test rows repeat training rows",
    "time": "Rows have a time and are split at random",
    "overfitting": "The model overfits",
    "underfitting": "The model underfits",
    "folds agree": "Folds disagree",
    "stable choice": "The choice of the learner is not stable",
    "test agrees with folds": "Test rows and folds disagree",
    "interval of the score": "The interval of the test score may be too short",
    "same target": "The target differs between training and test rows",
    "drift": "Training and test rows differ",
    "balanced classes": "Classes are unbalanced",
    "rows of every class": "Classes with few rows",
    "enough rows": "Few rows",
    "more rows": "More rows would help",
    "calibration": "Probabilities are off",
    "worst group": "A group of rows is predicted worse",
    "useful columns": "Many columns are not shown to help",
    "correlated columns": "Columns say the same",
    "levels of categories": "Categories with many levels",
    "comparable coefficients": "Coefficients cannot be compared",
    "search": "The best setting is at the edge of the search",
    "speed": "An equivalent learner predicts faster",
    "failures": "Folds failed",
}
# the titles of warnings, where they differ from those of what is bad
DOUBTFUL = {
    "better than the baseline": "Nothing but the baseline was tried",
    "leak": "One column does nearly all",
}


@dataclass(frozen=True)
class Check:
    """One check and its outcome.

    Attributes
    ----------
    name : str
    verdict : {"good", "warning", "bad", "not made"}
    finding : str
        What was found, with the figure.
    figure : float
        NaN where there is none.
    limit : str
        From where on it would be said.
    remedy : str
        What to do; empty where nothing is wrong.
    """

    name: str
    verdict: str
    finding: str
    figure: float = np.nan
    limit: str = ""
    remedy: str = ""

    @property
    def title(self) -> str:
        """What is wrong, where something is; else the name."""
        if self.verdict not in ("bad", "warning"):
            return self.name
        titles = WRONG | (DOUBTFUL if self.verdict == "warning" else {})
        return titles.get(self.name, self.name)

    def __str__(self) -> str:
        mark = {"good": "ok", "warning": "!", "bad": "!!", "not made": "-"}[self.verdict]
        return f"{mark:>2} {self.title}: {self.finding}" + (
            f" {self.remedy}" if self.remedy and self.verdict != "good" else ""
        )


@dataclass
class Evidence:
    """What the checks look at."""

    problem: LearningProblem
    board: Leaderboard
    chosen: str
    model: Any
    train: Table
    test: Table
    said: Said
    figure: Estimate
    importance: PermutationImportance
    groups: list[GroupScore]
    shift: Shift | None
    curve: Curve | None
    ties: list[Association]
    in_time: Callable[[], bool]
    source: str = "FILE"
    times_the_rows: float = 1.0  # rows of the final fit for each row of a fold's fit

    @property
    def scores(self) -> CrossValidation:
        """The chosen learner on the folds."""
        return self.board[self.chosen]

    @property
    def baseline(self) -> CrossValidation:
        """The baseline on the folds."""
        return self.board[BASELINE]

    @cached_property
    def losses(self) -> tuple[float, float, float]:
        """Loss of the chosen learner in training and in test folds, and of the baseline."""
        measure = self.problem.measure
        trained = self.scores.train_scores[measure]
        train = float(np.nanmean(trained)) if np.isfinite(trained).any() else np.nan
        test, base = self.scores.mean_over_folds(), self.baseline.mean_over_folds()
        sign = -1.0 if self.problem.figure.greater_is_better else 1.0
        return sign * train, sign * test, sign * base

    @cached_property
    def y_train(self) -> np.ndarray:
        return self.problem.values(self.train)

    @cached_property
    def y_test(self) -> np.ndarray:
        return self.problem.values(self.test)
