"""Several targets of one table: a run of `learn` for each, and what they found side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gnomon.table import Table
from gnomon.workbench.learn.result import LearnResult

HEADINGS = ["target", "chosen", "measure", "on test rows", "beats baseline"]


@dataclass(repr=False)
class LearnTargets:
    """Runs of `learn` on the same table, one per target; no target predicts another.

    Attributes
    ----------
    results : dict of str to LearnResult
        By target.
    """

    results: dict[str, LearnResult]

    def __getitem__(self, target: str) -> LearnResult:
        return self.results[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def board(self) -> list[list[str]]:
        """One line per target; `HEADINGS` are those of the columns."""
        return [line_of(each) for each in self.results.values()]

    def summary(self) -> dict[str, Any]:
        """The results as plain data, by target."""
        return {target: each.summary() for target, each in self.results.items()}

    def predict(self, table: Any) -> Table:
        """Predictions of all targets for new rows.

        Parameters
        ----------
        table : Table, data frame, or path

        Returns
        -------
        predictions : Table
            One column per target.
        """
        return Table.from_dict(
            {
                target: each.predict(table).table.to_dict()["prediction"]
                for target, each in self.results.items()
            }
        )

    def __str__(self) -> str:
        parts = [f"== {target} ==\n{each}" for target, each in self.results.items()]
        lines = [HEADINGS, *self.board()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(HEADINGS))]
        together = ["  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines]
        return "\n\n".join([*parts, "\n".join(together)])

    def __repr__(self) -> str:
        return str(self)


def line_of(result: LearnResult) -> list[str]:
    """A run in a line."""
    tried = len(result.board.names) > 1
    shown = "yes" if result.beats_baseline else ("not shown" if tried else "not tried")
    return [result.target, result.chosen, result.measure, str(result.test), shown]
