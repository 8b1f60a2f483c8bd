"""What `label` gives back: the rows to ask for, the answers, and the curve against chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.evaluate import Estimate
from gnomon.semi import LabelCurve
from gnomon.table import Table
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.label.options import LabelOptions

LABELED = "labeled.csv"


def with_labels(table: Table, target: str, answers: dict[int, str]) -> Table:
    """A table with labels, given by row, in the cells of its target."""
    column = [None if value is None else str(value) for value in table.column(target).to_pylist()]
    for row, label in answers.items():
        column[row] = label
    filled = table.drop(target).with_column(target, column, kind="category")
    return filled.select(list(table.columns))


def curve_of(summary: dict[str, Any], strategy: str) -> LabelCurve:
    """The curve that the record of a run holds; without its test."""

    def estimates(name: str) -> list[Estimate]:
        return [Estimate(**each) for each in summary[name]]

    return LabelCurve(strategy, summary["labels"], estimates(strategy), estimates("random"))


@dataclass(repr=False)
class LabelResult(JobResult):
    """Rows whose label would help most; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
        As it was given.
    questions : list of int
        Rows to label, the most useful first.
    sureness : list of float
        Probability of the most probable class of each, by the model of the labels so far.
    classes : list of str
        Labels that are there already.
    n_labeled : int
    curve : LabelCurve or None
        None where there are too few labels.
    answers : dict
        Labels that were given, by row.
    """

    table: Table
    questions: list[int]
    sureness: list[float]
    classes: list[str]
    n_labeled: int
    curve: LabelCurve | None
    run: Run
    settings: LabelOptions
    answers: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0

    def answer(self, row: int, label: str) -> None:
        """Note the label of a row, and write the copy of the table anew where there is a folder.

        Parameters
        ----------
        row : int
        label : str
        """
        if row not in self.questions:
            raise DataError(f"row {row} was not chosen; the rows to label are {self.questions}")
        self.answers[row] = label
        if self.run.path is not None:
            self.write_files(self.run.path)

    def labeled_table(self) -> Table:
        """The table with the answers in the empty cells of the target."""
        return with_labels(self.table, self.settings.target, self.answers)

    def verdict(self) -> str:
        """In a sentence: how many labels there are, and whether asking beats chance."""
        target = self.settings.target
        start = (
            f"{self.n_labeled:,} of {len(self.table):,} rows have a label in {target!r}; "
            f"{len(self.questions)} are asked for."
        )
        if self.curve is None:
            return f"{start} There are too few labels to compare the choice with chance."
        last, chance = self.curve.chosen[-1], self.curve.random[-1]
        compared = (
            f"{start} On the labels that are there, {self.curve.strategy} reaches an accuracy of "
            f"{last} with {self.curve.n_labels[-1]} labels and random choice {chance}"
        )
        test = self.curve.test
        assert test is not None
        sure = f"gain {test.difference}, p = {test.p:.2g}"
        if not self.curve.helps:
            return f"{compared}; it is not shown that it is better than random choice ({sure})."
        reached = self.curve.labels_for(chance.value)
        return f"{compared}, which {self.curve.strategy} has at {reached} ({sure})."

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        curve = None
        if self.curve is not None:
            curve = {
                "labels": self.curve.n_labels,
                self.curve.strategy: self.curve.chosen,
                "random": self.curve.random,
                "gain": None if self.curve.test is None else self.curve.test.difference,
                "p": None if self.curve.test is None else self.curve.test.p,
            }
        return as_json(
            {
                "verdict": self.verdict(),
                "clear": self.curve is not None and self.curve.helps,
                "questions": self.questions,
                "sureness": self.sureness,
                "classes": self.classes,
                "curve": curve,
                "answers": {str(row): label for row, label in self.answers.items()},
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the copy of the table with the answers."""
        written(self.labeled_table(), folder / LABELED)

    @property
    def same_if(self) -> str:
        """Whether a repetition asks for the same rows, as an expression."""
        return f"result.questions == {self.questions!r}"

    def __str__(self) -> str:
        return self.verdict()
