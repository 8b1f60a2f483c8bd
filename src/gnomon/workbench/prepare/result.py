"""What `reshape` gives back: the table, and the steps that made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.evaluate.run_folder import fingerprint
from gnomon.table import Table
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import write_whole, written
from gnomon.workbench.prepare.options import ReshapeOptions
from gnomon.workbench.prepare.steps import Step


@dataclass(repr=False)
class ReshapeResult(JobResult):
    """A prepared table; prints itself, writes a report.

    Attributes
    ----------
    before : tuple of int
        Rows and columns of the table that was given.
    table : Table
        After all steps.
    steps : list of Step
    """

    before: tuple[int, int]
    table: Table
    steps: list[Step]
    run: Run
    settings: ReshapeOptions
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def step_lines(self) -> list[list[Any]]:
        """Each step with the rows and columns that it left."""
        first = ["as read", self.before[0], self.before[1]]
        return [first, *([step.what, step.rows, step.columns] for step in self.steps)]

    def summary(self) -> dict[str, Any]:
        """The steps and the shape, as plain data."""
        return as_json(
            {
                "rows": len(self.table),
                "columns": list(self.table.columns),
                "kinds": {column.name: str(column.kind) for column in self.table.schema},
                "steps": [step._asdict() for step in self.steps],
                "notes": self.notes,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the table with its schema, and the steps as SQL."""
        written(self.table, folder / "table.parquet")
        written(self.table, folder / "table.csv")
        write_whole(folder / "schema.toml", self.table.schema.to_toml())
        lines = [f"-- {step.what}\n{step.sql};" for step in self.steps]
        write_whole(folder / "steps.sql", "\n\n".join(lines) + "\n")

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same table, as an expression."""
        return f"result.mark == {self.mark!r}"

    @property
    def mark(self) -> str:
        """The fingerprint of the prepared table."""
        return str(fingerprint(self.table))

    def __str__(self) -> str:
        rows, columns = self.before
        made = f"{len(self.table):,} rows and {len(self.table.columns)} columns"
        return "\n".join([f"{made} from {rows:,} rows and {columns} columns", *self.notes])
