"""Answers to the questions of `label`: steps of the session, and files of the run folder.

``answers.csv`` has every answer as soon as it is given; ``labeled.csv``, the copy of the table with
the answers, follows at once where the table is small, and else when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.runs import RECORD, read_record
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.label.options import JOB
from gnomon.workbench.label.result import LABELED, with_labels
from gnomon.workbench.web.session import Session

ANSWERS = "answers.csv"
AT_ONCE = 400_000  # cells: a copy of so many takes 0.2 s to write, and an answer must not wait


@dataclass
class Questions:
    """The questions of a run of `label`, and the answers that count.

    Attributes
    ----------
    session : Session
    folder : path
        Of the run.
    record : dict
        Of the run.
    step : dict
        That made the table which the run was given.
    """

    session: Session
    folder: Path
    record: dict[str, Any]
    step: dict[str, Any]

    @property
    def table(self) -> Table:
        """The table that the run was given."""
        return self.session.table_after(self.step)

    @property
    def target(self) -> str:
        return str(self.record["settings"]["target"])

    @property
    def rows(self) -> list[int]:
        """The rows to label, the most useful first."""
        return list(self.record["results"]["questions"])

    @property
    def answers(self) -> dict[int, str]:
        """The label of each answered row, by the steps of the session."""
        run = str(self.folder)
        given = [each["with"] for each in self.session.steps if each["do"] == "answer"]
        return {each["row"]: each["label"] for each in given if each["run"] == run}

    @property
    def skipped(self) -> list[int]:
        """Rows that were passed over and have no answer."""
        answers = self.answers
        passed = self.session.content["skipped"].get(self.folder.name, [])
        return [row for row in passed if row not in answers]

    @property
    def waiting(self) -> list[int]:
        """Rows that are neither answered nor skipped."""
        gone = {*self.answers, *self.skipped}
        return [row for row in self.rows if row not in gone]

    @property
    def classes(self) -> list[str]:
        """The labels that there are: those of the table, then new ones."""
        return list(dict.fromkeys([*self.record["results"]["classes"], *self.answers.values()]))

    @property
    def left(self) -> int:
        """Rows that stay without a label after these answers."""
        return self.table.column(self.target).null_count - len(self.answers)

    @property
    def used(self) -> bool:
        """Whether the open table has these answers already."""
        step = self.session.table_step()
        if step is None or step["do"] != "labels" or step["with"]["run"] != str(self.folder):
            return False
        later = self.session.steps[self.session.steps.index(step) + 1 :]
        return not any(each["do"] == "answer" for each in later)

    @property
    def changed(self) -> bool:
        """Whether the open table is another one than the run was given."""
        step = self.session.table_step()
        return step is not None and step["id"] != self.step["id"] and not self.used

    def require(self, row: int) -> int:
        """A row of the questions; refuses others."""
        if row not in self.rows:
            raise DataError(f"row {row} was not chosen; the rows to label are {self.rows}")
        return row

    def answer(self, row: int, label: str) -> None:
        """Note the label of a row, as a step of the session and in the run folder."""
        label = label.strip()
        if not label:
            raise DataError("Choose a class, or write a new one.")
        with self.session.lock:
            if self.answers.get(self.require(row)) == label:
                return  # a double click
            given = {"run": str(self.folder), "row": row, "label": label}
            self.session.add("answer", given, table=False)
            self.keep()

    def skip(self, row: int) -> None:
        """Pass a row over."""
        self._pass_over([*self.skipped, self.require(row)])

    def take_up_skipped(self) -> None:
        """Let the rows that were passed over wait again."""
        self._pass_over([])

    def _pass_over(self, rows: list[int]) -> None:
        with self.session.lock:
            known = self.session.content["skipped"]
            kept = known | {self.folder.name: list(dict.fromkeys(rows))}
            self.session.content["skipped"] = kept
            self.session.write()

    def keep(self) -> None:
        """Write the answers to the run folder."""
        answers = self.answers
        columns = {"row": list(answers), "label": list(answers.values())}
        written(Table.from_dict(columns), self.folder / ANSWERS)
        if self.table.shape[0] * self.table.shape[1] <= AT_ONCE:
            self.keep_table()

    def refresh(self) -> None:
        """Write the copy of the table anew where answers came after it."""
        answers, copy = self.folder / ANSWERS, self.folder / LABELED
        if answers.exists() and answers.stat().st_mtime_ns > copy.stat().st_mtime_ns:
            self.keep_table()

    def keep_table(self) -> Table:
        """Write the copy of the table with the answers, and give it."""
        labeled = with_labels(self.table, self.target, self.answers)
        written(labeled, self.folder / LABELED)
        return labeled

    def use(self) -> None:
        """Go on with the table that has the answers."""
        if not self.answers:
            raise DataError("No row has been labeled yet.")
        if not self.used:
            self.session.adopt(self.keep_table(), "labels", {"run": str(self.folder)})


def questions_of(session: Session, folder: Path) -> Questions | None:
    """The questions of a finished run of `label`; None of other runs.

    A run that is no step of the session has none either: its table may be another one by now.
    """
    step = session.step_of_run(folder)
    if step is None or not (folder / RECORD).exists():
        return None
    record = read_record(folder)
    if record.get("job") != JOB.name or record.get("status") != "finished":
        return None
    return Questions(session, folder, record, step)


def kept_again(session: Session, folder: Path) -> None:
    """Write the answers of a run anew, after one was taken back or given again."""
    questions = questions_of(session, folder)
    if questions is not None:
        questions.keep()
