"""What `gnomon prepare` shows: the steps, the columns and the first rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.workbench.base.report import Report
from gnomon.workbench.prepare.result import ReshapeResult

ROWS_SHOWN = 20  # judgement: a look at the result; the file has all rows


def pictures_of(result: ReshapeResult) -> dict[str, Callable[[str], Any]]:
    """A prepared table has no pictures; `gnomon look` draws those of any table."""
    return {}


def report_of(result: ReshapeResult) -> Report:
    """The report of a preparation."""
    source = result.run.called or "a table"
    report = Report(f"Preparation of {source}", str(result).split("\n")[0])
    report.section("Steps")
    for note in result.notes:
        report.text(note)
    report.table(["step", "rows left", "columns"], result.step_lines())
    report.code("\n\n".join(f"-- {step.what}\n{step.sql};" for step in result.steps))
    report.section("Columns")
    kinds = [[column.name, str(column.kind), column.reason] for column in result.table.schema]
    report.table(["column", "kind", "why"], kinds)
    report.section("First rows")
    head = result.table.head(ROWS_SHOWN)
    rows = [list(head.row(i).values()) for i in range(len(head))]
    report.table(list(head.columns), rows, f"The first {len(head)} of {len(result.table):,} rows.")
    return report
