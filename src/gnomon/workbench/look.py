"""Look: what is in a table, before anything is learned from it.

Kinds with their reasons, missing cells and their pattern, summaries, outliers, duplicates, columns
that repeat others, leaks, class balance, associations of all kinds, and which column predicts
which; with findings in plain words and a script of the cleaning steps that follow from them.
Texts: 000b 8 · 004 5 and 8 · 003 9.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError
from gnomon.table.kinds import Kind
from gnomon.table.schema import no_such_column
from gnomon.table.sql import open_duckdb
from gnomon.table.summary import Summary
from gnomon.table.table import Table
from gnomon.workbench.associations import (
    GROUPED,
    NUMBERED,
    Association,
    Associations,
    associations,
    associations_with,
)
from gnomon.workbench.findings import Finding, findings, named
from gnomon.workbench.missing_pattern import MOST_COLUMNS, MissingPattern, missing_pattern
from gnomon.workbench.overview import Overview, which_predicts_which
from gnomon.workbench.plain_data import as_json

MOST_COMPARED = 60
MOST_OVERVIEW = 25
# Columns that are tried alone on the target, at some milliseconds each.
MOST_ALONE = 500


@dataclass
class Look:
    """What was found in a table; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
    target : str or None
    source : str
        Where the table is from.
    summary : Summary
        Statistics by column.
    missing : MissingPattern
    duplicate_rows, duplicate_rows_apart : int
        Rows that repeat an earlier one, in all columns and in all but identifiers.
    associations : Associations
    overview : Overview
        Which column predicts which.
    with_target : list of Association
        Of every column with the target, the strongest first; empty without a target.
    alone : Overview or None
        What each column alone says of the target.
    class_counts : dict of str to int
        Rows by class of the target, commonest first; empty without a target of classes.
    limits : list of str
        What was sampled or left out, in sentences.
    findings : list of Finding
        The worst first.
    """

    table: Table
    target: str | None
    source: str
    summary: Summary
    missing: MissingPattern
    duplicate_rows: int
    duplicate_rows_apart: int
    associations: Associations
    overview: Overview
    seed: int
    limits: list[str] = field(default_factory=list)
    with_target: list[Association] = field(default_factory=list)
    alone: Overview | None = None

    @cached_property
    def class_counts(self) -> dict[str, int]:
        if self.target is None or self.table.schema[self.target].kind not in GROUPED:
            return {}
        return level_counts(self.table, self.target)

    @property
    def predictors(self) -> list[tuple[str, float, float]]:
        """What each column alone says of the target: name, explained share, its standard error."""
        return [] if self.alone is None or self.target is None else self.alone.of(self.target)

    @cached_property
    def findings(self) -> list[Finding]:
        return findings(self)

    def cleaning_script(self) -> str:
        """The steps that the findings ask for, as lines of Python; a person decides which to keep.

        Examples
        --------
        >>> print(look({"a": [1.0, 2.0, 3.0], "b": ["x", "x", "x"]}).cleaning_script())
        import gnomon
        <BLANKLINE>
        table = gnomon.read('table.csv')
        # 'b': one value only
        table = table.drop(['b'])
        """
        lines = ["import gnomon", "", f"table = gnomon.read({self.source or 'table.csv'!r})"]
        dropped: set[str] = set()
        for finding in self.findings:
            wanted = [name for name in finding.columns if name in finding.code]
            if not finding.code or (wanted and dropped.issuperset(wanted)):
                continue
            if finding.code.startswith("table = table.drop"):
                dropped.update(wanted)
            lines += [f"# {' '.join(finding.text.split())}", finding.code]
        return "\n".join(lines)

    def report(self) -> Any:
        """The findings, tables and pictures as a `Report`."""
        from gnomon.workbench.look_report import report_of

        return report_of(self)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the report to an HTML file."""
        return self.report().write(path)

    def figures(self, theme: str = "light") -> dict[str, Any]:
        """The pictures by name, as Plotly figures."""
        from gnomon.workbench.look_report import figures_of

        return figures_of(self, theme)

    def plot(self, theme: str = "light") -> None:
        """Show the pictures."""
        for figure in self.figures(theme).values():
            figure.show()

    def to_dict(self) -> dict[str, Any]:
        """Everything that was found as plain data, for JSON."""
        return as_json(
            {
                "source": self.source,
                "rows": len(self.table),
                "target": self.target,
                "seed": self.seed,
                "notes": list(self.table.notes),
                "columns": [
                    {**vars(each), "reason": self.table.schema[each.name].reason}
                    for each in self.summary
                ],
                "missing": vars(self.missing),
                "duplicate_rows": self.duplicate_rows,
                "duplicate_rows_apart_from_identifiers": self.duplicate_rows_apart,
                "class_counts": self.class_counts,
                "associations": [vars(pair) for pair in self.associations],
                "overview": {
                    **vars(self.overview),
                    "share": self.overview.share.tolist(),
                    "error": self.overview.error.tolist(),
                },
                "with_target": [vars(pair) for pair in self.with_target],
                "alone": [
                    {"column": name, "share": share, "error": error}
                    for name, share, error in self.predictors
                ],
                "findings": [vars(finding) for finding in self.findings],
                "limits": self.limits,
            }
        )

    def to_json(self) -> str:
        """Everything that was found as JSON."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False)

    def __rich__(self):
        from gnomon.workbench.look_report import printed

        return printed(self)

    def __repr__(self) -> str:
        from io import StringIO

        from rich.console import Console

        paper = StringIO()
        Console(width=100, file=paper, color_system=None).print(self)
        return paper.getvalue().rstrip()


def look(
    table: Any,
    target: str | None = None,
    *,
    source: str = "",
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Look:
    """Find out what is in a table.

    Use it first, on every table. It reads all rows; where rows are drawn (pictures, which column
    predicts which, ranks of more than 200,000 rows), the result says how many and by which seed.

    Parameters
    ----------
    table : Table, data frame, or dict of columns
    target : str, default=None
        The column that will be predicted: adds class balance and a search for leaks. Numbers of two
        values are looked at as classes.
    source : str, default=""
        Where the table is from, for the report.
    seed : int, default=0
        Of the drawn rows.
    progress : callable, default=None
        Called with the name of each step before it begins.

    Returns
    -------
    Look

    Examples
    --------
    >>> from gnomon.table import example
    >>> found = look(example("iris"), target="species")
    >>> [finding.about for finding in found.findings]
    ['duplicates', 'sorted']
    """
    table = Table.from_frame(table)
    if not len(table.columns) or not len(table):
        raise DataError(
            f"{source or 'the table'} has {len(table)} rows and {len(table.columns)} columns: "
            "there is nothing to look at. Check that it is the right file"
        )
    if target is not None and target not in table:
        raise no_such_column(target, table.columns)
    tell = progress or (lambda step: None)
    table = _with_classes(table, target)
    tell("summaries")
    summary = table.describe()
    tell("missing cells")
    first = [] if target is None else [target]
    ordered = table.select([*first, *(name for name in table.columns if name not in first)])
    missing = missing_pattern(ordered, seed=seed)
    tell("duplicates")
    duplicates, apart = _duplicates(table, summary)
    tell("associations")
    usable = _comparable(table, summary, target)
    pairs, with_target = _associated(table, usable, target, seed)
    tell("which column predicts which")
    strongest = _strongest(usable, with_target, target)
    overview = which_predicts_which(
        table, usable if len(usable) <= MOST_OVERVIEW else strongest[:MOST_OVERVIEW], seed=seed
    )
    alone = overview if target is not None else None
    if target in usable and len(usable) > MOST_OVERVIEW:
        alone = which_predicts_which(table, strongest[:MOST_ALONE], outputs=[target], seed=seed)
    found = Look(
        table,
        target,
        source,
        summary,
        missing,
        duplicates,
        apart,
        pairs,
        overview,
        seed,
        with_target=with_target,
        alone=alone,
    )
    found.limits += [*_left_out(found, usable), *_limits(found)]
    return found


def _with_classes(table: Table, target: str | None) -> Table:
    """The table with a target of two numbers as classes, which `learn` takes it for."""
    if target is None or table.schema[target].kind not in (Kind.NUMBER, Kind.INTEGER):
        return table
    values = pc.unique(table.column(target).drop_null())
    if len(values) != 2:
        return table
    table = table.set(target, kind=Kind.CATEGORY, reason="two numbers, taken for classes")
    words = " and ".join(table.schema[target].levels or ())
    amounts = "" if set(values.to_pylist()) == {0, 1} else " (amounts: learn with --task regress)"
    note = f"The target {target!r} has two values, {words}: they are taken for classes{amounts}."
    return Table(table.arrow, table.schema, [*table.notes, note])


def _associated(
    table: Table, usable: list[str], target: str | None, seed: int
) -> tuple[Associations, list[Association]]:
    """Associations of pairs of columns, and of every column with the target."""
    if len(usable) <= MOST_COMPARED:
        pairs = associations(table, usable, seed=seed)
        return pairs, [pair for pair in pairs if target in (pair.first, pair.second)]
    with_target = associations_with(table, target, usable, seed=seed) if target in usable else []
    compared = _strongest(usable, with_target, target)[:MOST_COMPARED]
    return associations(table, compared, seed=seed), with_target


def _strongest(usable: list[str], with_target: list[Association], target: str | None) -> list[str]:
    """The columns that can be compared: the target, then those that go most with it."""
    by_strength = [name for pair in with_target for name in (pair.first, pair.second)]
    first = [target] if target in usable else []
    return list(dict.fromkeys([*first, *by_strength, *usable]))


def _duplicates(table: Table, summary: Summary) -> tuple[int, int]:
    """Rows that repeat an earlier one: in all columns, and in all but identifiers."""
    identifiers = [c.name for c in table.schema if c.kind is Kind.IDENTIFIER]
    named = any(summary[name].distinct == len(table) for name in identifiers)
    whole = 0 if named else _repeats(table)
    if not identifiers or len(identifiers) == len(table.columns):
        return whole, whole
    return whole, _repeats(table.drop(identifiers))


def _repeats(table: Table) -> int:
    """How many rows repeat an earlier one; missing cells are alike."""
    columns = [
        column.combine_chunks().indices if pa.types.is_dictionary(column.type) else column
        for column in table.arrow.columns
    ]
    arrow = pa.table(columns, names=[f"c{k}" for k in range(len(columns))])
    connection = open_duckdb(tables={"cells": arrow})
    try:
        distinct = connection.execute("select count(*) from (select distinct * from cells)")
        return len(table) - int(distinct.fetchone()[0])
    finally:
        connection.close()


def _comparable(table: Table, summary: Summary, target: str | None) -> list[str]:
    """Columns that can be compared with each other, the target first."""
    usable = [
        c.name
        for c in table.schema
        if c.kind in (*GROUPED, *NUMBERED) and (summary[c.name].distinct > 1 or c.name == target)
    ]
    return sorted(usable, key=lambda name: name != target)


def _left_out(found: Look, usable: list[str]) -> list[str]:
    """Which columns were not compared, in sentences."""
    n, said = len(usable), []
    whole, target = len(usable) <= MOST_COMPARED, found.target in usable
    if not whole and target:
        said.append(
            f"The table has {n:,} columns that can be compared. The target is compared with all; "
            f"associations of other pairs are of the {MOST_COMPARED - 1} columns that go most with "
            "it."
        )
    elif not whole:
        said.append(
            f"The table has {n:,} columns that can be compared: associations are of the first "
            f"{MOST_COMPARED}; select columns to see others."
        )
    if n > MOST_OVERVIEW:
        those = f"the first {MOST_OVERVIEW}"
        if target:
            those = f"the target and the {MOST_OVERVIEW - 1} that go most with it,"
        said.append(f"Which column predicts which is of {those} of {n:,} columns.")
    if target and n > MOST_ALONE:
        said.append(
            f"Of {n - 1:,} columns, the {MOST_ALONE - 1} that go most with the target were tried "
            "alone."
        )
    unread = [c.name for c in found.table.schema if c.kind in (Kind.TEXT, Kind.IDENTIFIER)]
    unread = [name for name in unread if name != found.target]
    if found.target is not None and unread:
        said.append(f"Text and identifiers were not compared with the target: {named(unread)}.")
    holes = sum(count < len(found.table) for count in found.missing.counts.values())
    if holes > MOST_COLUMNS or (holes and len(found.table.columns) > MOST_COLUMNS):
        said.append(
            f"What missing cells go with is of the {min(holes, MOST_COLUMNS)} columns that miss "
            f"most, against {'the target and ' if target else ''}the first "
            f"{MOST_COLUMNS - target} columns."
        )
    return said


def _limits(found: Look) -> list[str]:
    n, said = len(found.table), []
    overview = found.overview
    if overview.rows < n:
        said.append(
            f"Which column predicts which is from {overview.rows:,} of {n:,} rows, drawn with seed "
            f"{found.seed}."
        )
    if found.associations.ranked_rows < n:
        said.append(
            f"Spearman's rho is from {found.associations.ranked_rows:,} of {n:,} rows, drawn with "
            f"seed {found.seed}; all else about associations is from all rows."
        )
    if found.missing.counts and found.missing.tested_rows < n:
        said.append(
            f"What missing cells go with is from {found.missing.tested_rows:,} of {n:,} rows, "
            f"drawn with seed {found.seed}."
        )
    return said


def level_counts(table: Table, name: str) -> dict[str, int]:
    """Rows by level of a column of categories or booleans, commonest first."""
    counts = pc.value_counts(table.column(name).drop_null())
    values = counts.field("values")
    if pa.types.is_dictionary(values.type):
        values = values.cast(pa.string())
    words = table.schema[name].levels
    listed = values.to_pylist()
    if words and all(isinstance(value, bool) for value in listed):
        listed = [words[int(value)] for value in listed]
    pairs = zip(listed, counts.field("counts").to_pylist())
    return {str(v): c for v, c in sorted(pairs, key=lambda each: (-each[1], str(each[0])))}
