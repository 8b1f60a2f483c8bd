"""Which cells are missing: how many, which together, and whether other columns say when.

Values that are missing at random cost rows only. Values whose absence goes with other columns bias
whatever leaves such rows out, and are worth a column of their own ("was missing").
Texts: 004 chapter 5 (missing values) · 003 2.1 (unknown values).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from gnomon.evaluate.significance import adjusted_p_values
from gnomon.table.table import Table
from gnomon.workbench.analysis.associations import (
    Standard,
    comparable_columns,
    cramers_v,
    pearson_matrix,
    ratio_of_groups,
)

MOST_ROWS = 100_000  # judgement: tests of so many rows find any tie that matters
MOST_COLUMNS = 30  # judgement: each column with holes is tested against each other column
TOGETHER = 0.5  # judgement: a phi of 0.5: a quarter of the variance of holes is shared


@dataclass(frozen=True)
class MissingPattern:
    """Missing cells of a table and what they go with.

    Attributes
    ----------
    rows, complete_rows : int
        All rows; those without a missing cell.
    counts : dict of str to int
        Missing cells by column, of the columns that have any; most first.
    patterns : list of (tuple of str, int)
        Sets of columns that are missing in the same rows, and in how many; commonest first. The
        empty set is left out.
    together : list of (str, str, float)
        Pairs of columns whose absence goes together, with the correlation of the absences.
    related : list of (str, str, float, float)
        A column, another column that says when the first is missing, how strongly (0 to 1), and p
        corrected for the number of pairs; only where p is at most 0.05; strongest first.
    tested_rows, random_state : int
        How many rows `related` is from, and the seed by which they were drawn.
    tested : int
        How many pairs were tested.
    """

    rows: int
    complete_rows: int
    counts: dict[str, int]
    patterns: list[tuple[tuple[str, ...], int]] = field(default_factory=list)
    together: list[tuple[str, str, float]] = field(default_factory=list)
    related: list[tuple[str, str, float, float]] = field(default_factory=list)
    tested_rows: int = 0
    tested: int = 0
    random_state: int = 0


def missing_pattern(table: Any, *, random_state: int = 0) -> MissingPattern:
    """Count missing cells, find which columns are missing together and what says when.

    Parameters
    ----------
    table : Table or data frame
    random_state : int, default=0
        Seed of the rows drawn for the tests, where the table has more than 100,000.

    Returns
    -------
    MissingPattern

    Examples
    --------
    >>> found = missing_pattern({"a": [1.0, None, None], "b": [None, None, 2.0]})
    >>> found.complete_rows, found.counts
    (0, {'a': 2, 'b': 2})
    """
    table = Table.from_frame(table)
    counts = {name: table.column(name).null_count for name in table.columns}
    counts = {n: c for n, c in sorted(counts.items(), key=lambda each: -each[1]) if c}
    if not counts:
        return MissingPattern(len(table), len(table), {}, random_state=random_state)
    absent = np.stack([table.column(name).is_null().to_numpy() for name in counts])
    patterns = _patterns(absent, list(counts))
    complete = len(table) - sum(count for _, count in patterns)
    looked = [name for name in counts if 0 < counts[name] < len(table)][:MOST_COLUMNS]
    related, tested, tested_rows = _related(table, looked, random_state)
    return MissingPattern(
        len(table),
        complete,
        counts,
        patterns,
        _together(absent, list(counts), looked),
        related,
        tested_rows,
        tested,
        random_state,
    )


def _patterns(absent: np.ndarray, names: list[str]) -> list[tuple[tuple[str, ...], int]]:
    """Sets of columns missing in the same rows with counts; rows are compared as packed bits."""
    incomplete = np.flatnonzero(absent.any(axis=0))
    words = -(-len(names) // 64)
    bits = np.zeros((64 * words, len(incomplete)), dtype=bool)
    bits[: len(names)] = absent[:, incomplete]
    packed = np.ascontiguousarray(np.packbits(bits, axis=0).T).view(np.uint64)
    keys = packed[:, 0] if words == 1 else packed
    _, first, counts = np.unique(keys, return_index=True, return_counts=True, axis=0)
    found = [
        (tuple(name for name, hole in zip(names, absent[:, incomplete[row]]) if hole), int(count))
        for row, count in zip(first, counts)
    ]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def _together(absent: Any, names: list[str], looked: list[str]) -> list[tuple[str, str, float]]:
    if len(looked) < 2:
        return []
    rows = [names.index(name) for name in looked]
    phi, _ = pearson_matrix([Standard.of(absent[row].astype(np.float64)) for row in rows])
    found = [
        (looked[i], looked[j], float(phi[i, j]))
        for i, j in combinations(range(len(looked)), 2)
        if phi[i, j] >= TOGETHER
    ]
    return sorted(found, key=lambda each: -each[2])


def _related(table: Table, looked: list[str], random_state: int) -> tuple[Any, ...]:
    """Which other columns say when a column is missing: number of tests and rows beside them."""
    if len(table) > MOST_ROWS:
        rng = np.random.default_rng(random_state)
        table = table[np.sort(rng.choice(len(table), MOST_ROWS, replace=False))]
    numbers, groups = comparable_columns(table, table.columns[:MOST_COLUMNS])
    standard = {name: Standard.of(values) for name, values in numbers.items()}
    found = []
    for name in looked:
        absent = table.column(name).is_null().to_numpy().astype(np.int64)
        for other, values in standard.items():
            if other != name:
                found.append((name, other, *ratio_of_groups(values, absent)[:2]))
        for other, group in groups.items():
            if other != name:
                found.append((name, other, *cramers_v(absent, group.codes)[:2]))
    found = [each for each in found if not np.isnan(each[2:]).any()]
    if not found:
        return [], 0, len(table)
    adjusted = adjusted_p_values([p for *_, p in found])
    kept = [(*each[:3], float(p)) for each, p in zip(found, adjusted) if p <= 0.05 and each[2] > 0]
    return sorted(kept, key=lambda each: -each[2]), len(found), len(table)
