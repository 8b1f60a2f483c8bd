"""The options of the job ``prepare``; its function is `gnomon.reshape`."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class ReshapeOptions(Options):
    """The options of `reshape`, in the order in which they are done."""

    join: str | None = option(None, help="A file whose columns are added.")
    on: list[str] = option(
        [], column=True, help="Columns by which rows of both tables belong together."
    )
    how: str = option(
        "left",
        choices=("left", "inner"),
        help="Rows without a partner are kept with missing cells, or left out.",
    )
    derive: list[str] = option([], help="A new column: NAME=EXPRESSION, such as 'bmi=kg/(m*m)'.")
    where: list[str] = option([], help="Keep rows for which this holds, such as 'age >= 18'.")
    group_by: list[str] = option([], column=True, help="One row for each group of equal values.")
    total: list[str] = option(
        [],
        help="A column of the groups: NAME=EXPRESSION, such as 'sales=sum(price)'; their number "
        "of rows by default.",
    )
    pivot: str | None = option(
        None,
        column=True,
        help="A column whose values become columns, one for each; with `group_by`.",
    )
    value: str = option("count(*)", help="What stands in the cells of a pivot.")
    query: str | None = option(
        None, help="SQL over the table so far, which is called data (a joined file: other)."
    )
    select: list[str] = option([], column=True, help="Columns to keep, in this order.")
    without: list[str] = option([], column=True, help="Columns to leave out.")
    sort: list[str] = option([], help="Columns to sort by; 'COLUMN desc' for the largest first.")


JOB = Job("prepare", ReshapeOptions, python="reshape")
