"""What `learn` gives back: it prints, plots, predicts, writes its run folder and its report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import ModelFileError
from gnomon.evaluate import Contributions, CrossValidation, Curve, Estimate, Leaderboard
from gnomon.evaluate.measures import Said
from gnomon.table import Table
from gnomon.workbench.analysis.diagnosis import GroupScore, PermutationImportance, Shift
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.analysis.problem import LearningProblem
from gnomon.workbench.analysis.series_hint import forecast_hint
from gnomon.workbench.base.given import as_table
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.script import job_script
from gnomon.workbench.base.whole_file import write_whole, written
from gnomon.workbench.learn.cost import Cost
from gnomon.workbench.learn.evidence import Check
from gnomon.workbench.learn.final_figure import counted_as_one, owners_of
from gnomon.workbench.learn.lead import (
    LEVEL,
    Lead,
    leads,
    losses_of_rows,
    nearest_lead,
    p_against_best,
)
from gnomon.workbench.learn.options import LearnOptions
from gnomon.workbench.learn.plan import Plan
from gnomon.workbench.learn.threshold import Threshold
from gnomon.workbench.predict.explanation import explained, outcomes
from gnomon.workbench.predict.job import Predictions, predict

P_MEANS = (
    "p: no difference from the best, by paired losses of the rows; all learners that were tried "
    "are counted"
)


@dataclass(repr=False)
class LearnResult(JobResult):
    """What `learn` found.

    Attributes
    ----------
    problem : LearningProblem
        Target, task, measure; `card` prints it.
    settings : LearnOptions
        What was asked, and settled; repeats the run.
    plan : Plan
        Splits, learners that competed, forecasts, learners left out and why.
    board : Leaderboard
        Cross-validated scores, best first; the baseline is among them.
    chosen : str
        The learner that was chosen.
    model : estimator
        The chosen learner, fitted on all rows but the test rows.
    test : Estimate
        Its score on the test rows, which were used once.
    test_table : Table
    test_places : ndarray of int
        Positions of the test rows in the table that was given.
    said : Said
        What the model says of the test rows.
    n_train, n_fitted : int
        Rows that were not test rows, and those that the final model learnt from.
    importance : PermutationImportance
    worst : list of (position, truth, prediction, loss)
        Test rows that are missed most.
    groups : list of GroupScore
        Scores by level of the categories, the most doubtful first.
    shift : Shift or None
        Are training and test rows alike?
    curve : Curve or None
        Learning curve of the chosen learner.
    sample : Table
        Some training rows, to compare later rows with.
    checks : list of Check
        What is wrong comes first.
    decisions : list of dict
        What was decided, and why.
    threshold : Threshold or None
        The threshold of least cost, where costs were given.
    seconds : float
    run : Run
        Its folder, where there is one.
    forecast : Cost or None
    """

    problem: LearningProblem
    settings: LearnOptions
    plan: Plan
    board: Leaderboard
    chosen: str
    model: Any
    test: Estimate
    test_table: Table
    test_places: np.ndarray
    said: Said
    n_train: int
    n_fitted: int
    importance: PermutationImportance
    worst: list[tuple[int, Any, Any, float]]
    groups: list[GroupScore]
    shift: Shift | None
    curve: Curve | None
    sample: Table
    checks: list[Check]
    decisions: list[dict[str, str]]
    threshold: Threshold | None
    seconds: float
    run: Run
    forecast: Cost | None = None

    @property
    def task(self) -> str:
        """``"classify"`` or ``"regress"``."""
        return self.problem.task

    @property
    def target(self) -> str:
        """The column that is predicted."""
        return self.problem.target

    @property
    def measure(self) -> str:
        """What the scores are."""
        return self.problem.measure

    @property
    def scores(self) -> list[CrossValidation]:
        """Cross-validated learners, best first."""
        return self.board.results

    @property
    def best(self) -> CrossValidation:
        """The learner of the best mean; not always the chosen one."""
        return self.board.best

    @property
    def baseline(self) -> CrossValidation:
        """The learner that looks at no column."""
        return self.board[BASELINE]

    @property
    def beats_baseline(self) -> bool:
        """Whether the chosen learner is better than the baseline beyond chance."""
        return self.chosen != BASELINE and self.leads[self.chosen].is_real

    @cached_property
    def leads(self) -> dict[str, Lead]:
        """How far every learner is ahead of the baseline, by paired losses of the rows."""
        return leads(self.board)

    @property
    def competed(self) -> list[str]:
        """Names of the learners on the board, in the order of the portfolio."""
        names = self.board.names
        return [each.name for each in self.plan.entrants if each.name in names]

    @property
    def n_test(self) -> int:
        """Test rows."""
        return len(self.test_table)

    @property
    def worries(self) -> list[Check]:
        """The checks that found something."""
        return [each for each in self.checks if each.verdict in ("bad", "warning")]

    @property
    def script(self) -> str:
        """A short script in public calls that repeats the run."""
        options = self.settings.changed() | {"learners": self.competed, "budget": None}
        options["curve"] = bool(self.settings.curve)
        return job_script(self.run.record, options, self.same_if)

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same score on the test rows, as an expression."""
        return f"result.test.value == float({str(self.test.value)!r})"

    @property
    def forecast_hint(self) -> str:
        """What to type where the table is a series whose next values may be wanted, else empty."""
        hint = forecast_hint(self.problem.rows, self.target, self.run.record["source"])
        if not hint:
            return ""
        return f"One row for each date: to forecast the next values of this series, {hint}"

    def verdict(self) -> str:
        """What the figures mean, in words."""
        base = self.baseline.figure()
        if len(self.board.names) == 1:
            return (
                f"Nothing but the baseline ({self.measure} {base}) was tried: whether this table "
                "predicts the target is not known. Give a larger budget, or more rows where "
                "learners need them."
            )
        if self.beats_baseline:
            return (
                f"{self.chosen} beats the baseline ({self.measure} {base.value:.4g}) beyond chance "
                f"({self.leads[self.chosen]}, paired losses of {self._compared()})."
            )
        ahead = nearest_lead(self.leads)
        nearest = f"The nearest is {ahead.name} ({ahead})"
        if not ahead.gain > 0:
            nearest = "No learner was ahead of it"
        tried = len(self.leads)
        of_all = f"{tried} of {tried + len(self.plan.left_out)} learners were tried"
        return (
            f"With {self._compared()} it is not shown that any learner is better than the baseline "
            f"({self.measure} {base}). {nearest}; {of_all}. Do not act on the model: more rows or "
            "other columns"
            f"{', or a larger budget,' if self.plan.left_out else ''} may show more."
        )

    def _compared(self) -> str:
        """What was compared in pairs, in words."""
        n = max((each.n for each in self.leads.values()), default=0)
        if self.problem.groups is not None:
            return f"{n:,} values of {self.problem.groups!r}"
        if self.problem.time is not None:
            return f"{n:,} stretches of {self.problem.time!r}"
        return f"{n:,} rows"

    def test_sentence(self) -> str:
        """The final figure in a sentence."""
        rule = counted_as_one(self.problem)
        said = f"; {rule}" if rule else ""
        some = "" if self.n_fitted == self.n_train else self._fitted_on_some()
        found = f"On the {self.n_test:,} test rows, used once: {self.measure} {self.test}{said}."
        cost = "" if self.threshold is None else f" {self.threshold.sentence()}"
        return f"{some}{found}{cost}"

    def _fitted_on_some(self) -> str:
        """What is said first where the saved model has not seen all rows."""
        return (
            f"The saved model learnt from {self.n_fitted:,} of {self.n_train:,} training rows, as "
            "many as the budget allows. "
        )

    def leaderboard(self) -> Table:
        """The board as a table: score, interval, p against the best, times, memory, size.

        Returns
        -------
        table : Table
        """
        rows = self.leaderboard_lines()
        return Table.from_dict({key: [row[key] for row in rows] for key in rows[0]})

    def leaderboard_lines(self) -> list[dict[str, Any]]:
        """The lines of the board, best first."""
        return [self._line(each) for each in self.board.results]

    def _line(self, each: CrossValidation) -> dict[str, Any]:
        figure = each.figure()
        sizes = each.scores["model bytes"]
        return {
            "learner": each.name,
            "chosen": each.name == self.chosen,
            self.measure: figure.value,
            "low": figure.low,
            "high": figure.high,
            "p_against_best": self.p_against_best.get(each.name),
            "fit_seconds": each.fit_seconds / len(each.folds),
            "predict_seconds": each.predict_seconds / len(each.folds),
            "memory_mb": self._memory(each.name),
            "model_kb": float(np.nanmean(sizes)) / 1000 if np.isfinite(sizes).any() else None,
            "failed_folds": int(np.isnan(each.scores[self.measure]).sum()),
        }

    @cached_property
    def p_against_best(self) -> dict[str, float]:
        """p of no difference between the best learner and each other one, by paired losses."""
        return p_against_best(self.board)

    @property
    def as_good(self) -> set[str]:
        """The best learner, and those whose difference from it is not shown."""
        apart = {name for name, p in self.p_against_best.items() if p < LEVEL}
        return set(self.board.names) - apart

    def _memory(self, name: str) -> float:
        """Megabytes that the method forecasts for a fit on a training part."""
        entrant = next(each for each in self.plan.entrants if each.name == name)
        rows = len(self.plan.splits[0][0])
        return entrant.learner.forecast(rows, len(self.problem.features)) / 1e6

    def board_text(self) -> str:
        """The board in lines of text."""
        rows = [("learner", self.measure, "p", "fit s", "")]
        for line in self.leaderboard_lines():
            p = line["p_against_best"]
            rows.append(
                (
                    line["learner"],
                    str(self.board[line["learner"]].figure()),
                    "-" if p is None or np.isnan(p) else f"{p:.2g}",
                    f"{line['fit_seconds']:.2g}",
                    "chosen" if line["chosen"] else "",
                )
            )
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
        how = f"{self.plan.splits.how} of {self.n_train:,} rows; {P_MEANS}"
        failed = [remark for each in self.scores for remark in each.failure_remarks()]
        return "\n".join([*lines, how, *failed])

    def test_predictions(self) -> Table:
        """Truth, prediction and loss of every test row, and its row in the file, from 1.

        The loss is that of the measure, or where it is no mean over rows, the squared error or
        whether the class is wrong. Rows that hang together, by group or in time, count as one.

        Returns
        -------
        table : Table
        """
        y = self.problem.values(self.test_table)
        losses = losses_of_rows(self.problem.figure, y, self.said)
        owners = owners_of(self.problem, self.test_table)
        return Table.from_dict(
            {
                "row": (self.test_places + 1).tolist(),
                "truth": y.tolist(),
                "prediction": self.said.predictions.tolist(),
                "loss": losses,
                "counts as": list(range(len(y))) if owners is None else owners.tolist(),
            }
        )

    def fold_scores(self) -> Table:
        """Every score of every learner in every fold, not the winner's alone.

        Returns
        -------
        table : Table
        """
        columns: dict[str, list[Any]] = {"learner": [], "fold": [], "measure": [], "score": []}
        for each in self.board.results:
            for measure, scores in each.scores.items():
                for fold, score in enumerate(scores):
                    columns["learner"].append(each.name)
                    columns["fold"].append(fold)
                    columns["measure"].append(measure)
                    columns["score"].append(float(score))
        return Table.from_dict(columns)

    def summary(self) -> dict[str, Any]:
        """The result as plain data, for records and scripts."""
        return {
            "chosen": self.chosen,
            "measure": self.measure,
            "test": self.test._asdict(),
            "beats_baseline": self.beats_baseline,
            "scores": {each.name: each.figure()._asdict() for each in self.board.results},
            "left_out": self.plan.left_out,
            "n_train": self.n_train,
            "n_fitted": self.n_fitted,
            "n_test": self.n_test,
            "test_share_of_folds": self.plan.splits.test_share,
            "threshold": None if self.threshold is None else self.threshold.record(),
            "checks": [vars(each) for each in self.checks],
        }

    def predict(self, table: Any) -> Predictions:
        """Predictions for new rows; see `gnomon.predict`.

        Parameters
        ----------
        table : Table, data frame, or path

        Returns
        -------
        predictions : Predictions
        """
        return predict(self.model, table)

    def explain(self, rows: Any, **options: Any) -> Contributions:
        """How much every column adds to the predictions of rows (Shapley values).

        Parameters
        ----------
        rows : Table, data frame, or path
        **options
            Of `gnomon.evaluate.contributions`: ``target``, ``output``, ``most_columns``.

        Returns
        -------
        contributions : Contributions
            Compared with 100 training rows.
        """
        return explained(self.model, as_table(rows), self.sample, **options)

    def what_if(self, changes: dict[str, Any], row: Any = None) -> Table:
        """Predictions for a row in which some columns take other values.

        Parameters
        ----------
        changes : dict of str to value or list of values
            All combinations are tried.
        row : Table or data frame of one row, default=None
            By default a typical row: medians, and the commonest categories.

        Returns
        -------
        outcomes : Table
        """
        given = None if row is None else as_table(row)
        return outcomes(self.model, self.sample, changes, given)

    def write_files(self, folder: Path) -> None:
        """Write leaderboard, fold scores, schema, sample and model."""
        board = self.leaderboard()
        written(board, folder / "leaderboard.csv")
        written(board, folder / "leaderboard.parquet")
        written(self.fold_scores(), folder / "fold_scores.csv")
        written(self.test_predictions(), folder / "test_predictions.parquet")
        inputs = self.problem.inputs(self.problem.rows)
        write_whole(folder / "schema.toml", inputs.schema.to_toml())
        written(self.sample, folder / "sample.parquet")
        try:
            self.model.save(folder / "model.gnomon")
        except ModelFileError as error:
            if not self.settings.estimators:
                raise
            self.run.decide("model.gnomon is not written", f"{error}; result.model is the model")

    def __str__(self) -> str:
        head = [f"{label + ':':<15}{text}" for label, text in self.problem.card()]
        told = [f"  {name}: {why}" for name, why in self.plan.left_out.items()]
        apart = ["did not compete:", *told] if told else []
        worries = [str(each) for each in self.worries] or ["   nothing"]
        return "\n".join(
            [
                *head,
                "",
                self.board_text(),
                *apart,
                "",
                self.verdict(),
                self.test_sentence(),
                f"{len(self.checks)} checks; what they found:",
                *worries,
            ]
        )
