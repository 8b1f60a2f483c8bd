"""Look: what is in a table, before anything is learned from it.

Kinds with their reasons, missing cells and their pattern, summaries, outliers, duplicates, columns
that repeat others, leaks, class balance, associations of all kinds, and which column predicts
which; with findings in plain words and a script of the cleaning steps that follow from them.
Texts: 000b 8 · 004 5 and 8 · 003 9.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gnomon.engine.errors import DataError
from gnomon.table.kinds import Kind
from gnomon.table.schema import no_such_column
from gnomon.table.summary import Summary
from gnomon.table.table import Table
from gnomon.workbench.analysis.associations import (
    GROUPED,
    NUMBERED,
    Association,
    Associations,
    associations,
    associations_with,
)
from gnomon.workbench.analysis.class_codes import are_class_codes
from gnomon.workbench.base.given import as_table, left_out, source_of
from gnomon.workbench.base.job import Progress, Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.look.finding import named
from gnomon.workbench.look.findings import findings
from gnomon.workbench.look.missing_pattern import MOST_COLUMNS, missing_pattern
from gnomon.workbench.look.options import JOB, LookOptions
from gnomon.workbench.look.overview import which_predicts_which
from gnomon.workbench.look.result import Look

MOST_COMPARED = 60  # 1,770 pairs of columns; with twice the columns there are four times as many
MOST_OVERVIEW = 25  # judgement: 600 pairs that each cost a tree, and a picture that is still read
# Columns that are tried alone on the target, at some milliseconds each.
MOST_ALONE = 500


@JOB.public
def look(table: Any, options: LookOptions, request: Request) -> Look:
    """Find out what is in a table.

    Use it first, on every table. It reads all rows; where rows are drawn (pictures, which column
    predicts which, ranks of more than 200,000 rows), the result says how many and by which seed.

    Returns
    -------
    result : Look

    Examples
    --------
    >>> import gnomon
    >>> found = gnomon.look("example:iris", target="species")
    >>> [finding.about for finding in found.findings]
    ['duplicates', 'sorted']
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    if not len(rows.columns) or not len(rows):
        raise DataError(
            f"{source or 'the table'} has {len(rows)} rows and {len(rows.columns)} columns: "
            "there is nothing to look at. Check that it is the right file"
        )
    if options.target is not None and options.target not in rows:
        raise no_such_column(options.target, rows.columns)
    marked = request.folder is not None  # 3 s on a million rows of 20 columns
    with Run.begin(request.folder, rows, source, options, JOB.name, fingerprinted=marked) as run:
        used = left_out(rows, options.without, (options.target,))
        found = _found(used, options, run, request.progress)
        found.seconds = time.perf_counter() - begin
        run.finish(found)
    return found


def _found(table: Table, options: LookOptions, run: Run, tell: Progress) -> Look:
    """Everything that is found in a table."""
    target, random_state = options.target, options.random_state
    table = _with_classes(table, target)
    tell("summaries", 0, 0)
    summary = table.describe()
    tell("missing cells", 0, 0)
    first = [] if target is None else [target]
    ordered = table.select([*first, *(name for name in table.columns if name not in first)])
    missing = missing_pattern(ordered, random_state=random_state)
    tell("duplicates", 0, 0)
    duplicates, apart = _duplicates(table, summary)
    tell("associations", 0, 0)
    usable = _comparable(table, summary, target)
    pairs, with_target = _associated(table, usable, target, random_state)
    tell("which column predicts which", 0, 0)
    strongest = _strongest(usable, with_target, target)
    overview = which_predicts_which(
        table,
        usable if len(usable) <= MOST_OVERVIEW else strongest[:MOST_OVERVIEW],
        random_state=random_state,
    )
    alone = overview if target is not None else None
    if target in usable and len(usable) > MOST_OVERVIEW:
        alone = which_predicts_which(
            table, strongest[:MOST_ALONE], outputs=[target], random_state=random_state
        )
    found = Look(
        table,
        target,
        run.record["source"] or "",
        summary,
        missing,
        duplicates,
        apart,
        pairs,
        overview,
        run,
        options,
        with_target=with_target,
        alone=alone,
    )
    found.limits += [*_left_out(found, usable), *_limits(found)]
    found.findings = findings(found)
    return found


def _with_classes(table: Table, target: str | None) -> Table:
    """The table with a target of numbers that `learn` takes for classes as classes."""
    if target is None or table.schema[target].kind not in (Kind.NUMBER, Kind.INTEGER):
        return table
    values = pc.unique(table.column(target).drop_null())
    if len(values) != 2 and not are_class_codes(table, target):
        return table
    table = table.set(target, kind=Kind.CATEGORY, reason="few numbers, taken for classes")
    words = ", ".join(table.schema[target].levels or ())
    amounts = "" if set(values.to_pylist()) == {0, 1} else " (amounts: learn with --task regress)"
    many = f"{len(values)} values, {words}"
    note = f"The target {target!r} has {many}: they are taken for classes{amounts}."
    return Table(table.arrow, table.schema, [*table.notes, note])


def _associated(
    table: Table, usable: list[str], target: str | None, random_state: int
) -> tuple[Associations, list[Association]]:
    """Associations of pairs of columns, and of every column with the target."""
    if len(usable) <= MOST_COMPARED:
        pairs = associations(table, usable, random_state=random_state)
        return pairs, [pair for pair in pairs if target in (pair.first, pair.second)]
    with_target = (
        associations_with(table, target, usable, random_state=random_state)
        if target in usable
        else []
    )
    compared = _strongest(usable, with_target, target)[:MOST_COMPARED]
    return associations(table, compared, random_state=random_state), with_target


def _strongest(usable: list[str], with_target: list[Association], target: str | None) -> list[str]:
    """The columns that can be compared: the target, then those that go most with it."""
    by_strength = [name for pair in with_target for name in (pair.first, pair.second)]
    first = [target] if target in usable else []
    return list(dict.fromkeys([*first, *by_strength, *usable]))


def _duplicates(table: Table, summary: Summary) -> tuple[int, int]:
    """Rows that repeat an earlier one: in all columns, and in all but identifiers."""
    identifiers = [c.name for c in table.schema if c.kind is Kind.IDENTIFIER]
    named = any(summary[name].distinct == len(table) for name in identifiers)
    whole = 0 if named else _repeats(table, summary)
    if not identifiers or len(identifiers) == len(table.columns):
        return whole, whole
    return whole, _repeats(table.drop(identifiers), summary)


def _repeats(table: Table, summary: Summary) -> int:
    """How many rows repeat an earlier one; missing cells are alike.

    Rows are divided by the values of one column after the other, those of most values first. A row
    that is alone in its part repeats no other and is not divided further, so that few columns are
    read where rows differ.
    """
    rows = np.arange(len(table))
    parts = np.zeros(len(table), dtype=np.int64)
    for name in sorted(table.columns, key=lambda each: -summary[each].distinct):
        codes = _codes(table.column(name).take(rows))
        keys = parts * (int(codes.max(initial=0)) + 1) + codes
        _, parts, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = counts[parts] > 1
        rows, parts = rows[shared], parts[shared]
        if not len(rows):
            return 0
    return len(rows) - len(np.unique(parts))


def _codes(column: pa.ChunkedArray) -> np.ndarray:
    """Whole numbers from 0 that are equal where cells are; missing cells are alike."""
    if pa.types.is_floating(column.type):
        column = pc.add(column, 0.0)  # -0.0 is 0.0
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.unify_dictionaries().combine_chunks().indices
    return pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64) + 1


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
    if found.missing.related or any(pair.is_beyond_chance for pair in found.associations):
        said.append(
            "p is for independent rows; where rows come in groups or follow each other in time, it "
            "is too small."
        )
    overview = found.overview
    if overview.rows < n:
        said.append(
            f"Which column predicts which is from {overview.rows:,} of {n:,} rows, drawn with seed "
            f"{found.settings.random_state}."
        )
    if found.associations.ranked_rows < n:
        said.append(
            f"Spearman's rho is from {found.associations.ranked_rows:,} of {n:,} rows, drawn with "
            f"seed {found.settings.random_state}; all else about associations is from all rows."
        )
    if found.missing.counts and found.missing.tested_rows < n:
        said.append(
            f"What missing cells go with is from {found.missing.tested_rows:,} of {n:,} rows, "
            f"drawn with seed {found.settings.random_state}."
        )
    return said
