"""The command ``gnomon prepare``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.options import Option
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.prepare.options import JOB


class PrepareCommand(JobCommand):
    """Filter, derive, join, group and pivot a table, and write it with the script that repeats it.

    The steps are done in the order of the options below. Expressions are those of DuckDB's SQL.
    The run folder gets table.csv, table.parquet, steps.sql and again.py.

    Examples:

      gnomon prepare sales.csv --where "year >= 2020" --derive "paid=price*pieces" --out new.csv

      gnomon prepare sales.csv --join shops.csv --on shop --group-by region --total "n=count(*)"

      gnomon prepare sales.csv --group-by shop --pivot month --value "sum(price)"
    """

    job = JOB
    suffix = "prepared"
    own = (Option("out", Path, None, "Write the table here too: .csv or .parquet.", flag="out"),)

    def show(self, result: Any) -> None:
        """The steps, and the first rows."""
        say(str(result))
        console.print()
        print_table(["step", "rows", "columns"], result.step_lines())
        console.print(str(result.table.head(5)), markup=False, highlight=False)

    def written(self, words: dict[str, Any], result: Any) -> list[Path]:
        """Write the table where ``--out`` asks for it."""
        from gnomon.workbench.base.whole_file import written

        return [] if words["out"] is None else [written(result.table, words["out"])]
