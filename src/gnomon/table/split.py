"""Splits: training, validation and test rows by a rule that does not look at the answer.

Random, stratified by class, by whole groups, or by time. Texts: 000a 1.3.1 · 000b 12.2.7 · 003
2.1.7 · 004 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table.grid import Grid, is_table, label_array, n_rows_of, take_rows
from gnomon.table.scan import Scan
from gnomon.table.table import Table

NAMES = {1: ("train",), 2: ("train", "test"), 3: ("train", "validation", "test")}


class TestRowsUsed(DataError):
    """The test rows were used a second time."""

    __test__ = False


@dataclass
class Split:
    """Rows of a table in parts; prints their sizes and, when stratified, their class shares.

    Attributes
    ----------
    names : tuple of str
        Names of the parts: train and test, or train, validation and test.
    rows : tuple of ndarray of int
        Positions of the rows of each part, ascending.
    table : array, frame or Table
        What was split.
    how : str
        The rule, in words.
    labels : ndarray or None
        The labels that it was stratified by.
    lock_test : bool
        Whether the last part is given out once only.
    """

    names: tuple[str, ...]
    rows: tuple[np.ndarray, ...]
    table: Any
    how: str
    labels: np.ndarray | None = None
    lock_test: bool = False
    _test_used: bool = field(default=False, repr=False)

    def __getitem__(self, part: int | str) -> Any:
        """The table of a part, by its name or number."""
        place = self._place(part)
        self._note_use(place)
        return take_rows(self.table, self.rows[place])

    def __iter__(self) -> Any:
        return (self[place] for place in range(len(self.rows)))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def train(self) -> Any:
        """The training rows."""
        return self["train"]

    @property
    def validation(self) -> Any:
        """The rows to choose a model by."""
        return self["validation"]

    @property
    def test(self) -> Any:
        """The rows to judge by, once; locked ones are refused a second time."""
        return self["test"]

    def take(self, part: int | str, *columns: Any) -> Any:
        """The rows of a part of what stands beside the table (labels, weights).

        Parameters
        ----------
        part : int or str
        *columns : array, series or table
            Each with as many rows as the table.

        Returns
        -------
        parts : object, or tuple of objects
            One per column.
        """
        place = self._place(part)
        for column in columns:
            if n_rows_of(column) != n_rows_of(self.table):
                raise DataError(
                    f"the split table has {n_rows_of(self.table):,} rows, "
                    f"this column {n_rows_of(column):,}"
                )
        self._note_use(place)
        taken = tuple(take_rows(column, self.rows[place]) for column in columns)
        return taken[0] if len(taken) == 1 else taken

    def _place(self, part: int | str) -> int:
        if isinstance(part, str):
            if part not in self.names:
                raise DataError(f"there is no part {part!r}; the parts are {', '.join(self.names)}")
            return self.names.index(part)
        return range(len(self.rows))[part]

    def _note_use(self, place: int) -> None:
        if not self.lock_test or place != len(self.rows) - 1:
            return
        if self._test_used:
            raise TestRowsUsed(
                "the test rows have been used already, and a second look makes their verdict "
                "optimistic. Choose by the validation rows, or split with lock_test=False"
            )
        self._test_used = True

    def __repr__(self) -> str:
        total = sum(map(len, self.rows))
        lines = [f"{total:,} rows split {self.how}"]
        for place, (name, rows) in enumerate(zip(self.names, self.rows)):
            locked = self.lock_test and place == len(self.rows) - 1
            line = f"  {name:<10} {len(rows):>8,}  {len(rows) / total:6.1%}"
            lines.append(line + self._shares(rows) + ("  locked" if locked else ""))
        return "\n".join(lines)

    def _shares(self, rows: np.ndarray) -> str:
        if self.labels is None or not len(rows):
            return ""
        values, counts = np.unique(self.labels[rows], return_counts=True)
        shown = [f"{value} {count / len(rows):.1%}" for value, count in zip(values, counts)]
        return "  " + ", ".join(shown[:6]) + (" ..." if len(shown) > 6 else "")


def split(
    table: Any,
    parts: Sequence[float] = (0.6, 0.2, 0.2),
    *,
    stratify: Any = None,
    groups: Any = None,
    time: Any = None,
    random_state: Any = None,
    lock_test: bool = False,
) -> Split:
    """Split rows in two or three parts: train and test, or train, validation and test.

    Fit on the training rows, choose by the validation rows (they may be used again and again),
    judge once by the test rows. Split before anything else looks at the data. With dates, split
    by time: a random split lets a model see the future. With several rows of one person, split by
    groups: it would otherwise recognise the person.

    Parameters
    ----------
    table : array-like, data frame or Table
    parts : sequence of float
        Shares of the parts, which sum to one; their sizes are right to one row (to one group).
    stratify : array-like, or str (a column of the table), optional
        Labels: every part gets each class in its share.
    groups : array-like, or str, optional
        Rows of one group stay together.
    time : array-like, or str, optional
        Earlier rows go to the earlier parts; rows of one moment stay together. Nothing is drawn.
    random_state : int, Generator, RandomState or None
    lock_test : bool
        Give the last part out once only.

    Returns
    -------
    parts : Split

    Examples
    --------
    >>> from gnomon.table import split
    >>> rows = [[i] for i in range(10)]
    >>> halves = split(rows, (0.5, 0.5), stratify=["a", "b"] * 5, random_state=0)
    >>> halves
    10 rows split at random, stratified by class
      train             5   50.0%  a 60.0%, b 40.0%
      test              5   50.0%  a 40.0%, b 60.0%
    """
    if isinstance(table, Scan):
        raise DataError(
            "a scan is passed over, not split: read it first, split(scan.read(), ...), or write "
            "the parts to files of their own and scan these"
        )
    table = table if is_table(table) else np.asarray(table)
    n = len(table) if isinstance(table, Table) else n_rows_of(table)
    shares = _checked_shares(parts)
    if n < len(shares):
        raise DataError(f"{n} rows cannot be split in {len(shares)} parts")
    if time is not None and (stratify is not None or groups is not None):
        raise DataError("a split by time follows the clock; it cannot be stratified or grouped")
    rng = _generator(random_state)
    labels = None if stratify is None else _beside(table, stratify, n, "stratify")
    if time is not None:
        places = _by_time(_beside(table, time, n, "time"), shares)
        how = "by time"
    elif groups is not None:
        places = _by_group(_beside(table, groups, n, "groups"), labels, shares, rng)
        how = "by groups" + (
            ", stratified by class as far as groups allow" if stratify is not None else ""
        )
    elif labels is not None:
        places = _by_class(labels, shares, rng)
        how = "at random, stratified by class"
    else:
        places = _at_random(n, shares, rng)
        how = "at random"
    rows = tuple(np.flatnonzero(places == place) for place in range(len(shares)))
    names = NAMES.get(len(shares)) or tuple(f"part {k + 1}" for k in range(len(shares)))
    empty = [name for name, each in zip(names, rows) if not len(each)]
    if empty:
        raise DataError(
            f"the part {empty[0]!r} would be empty: {n} rows are too few for shares of "
            f"{', '.join(f'{share:g}' for share in shares)}"
        )
    return Split(names, rows, table, how, labels, lock_test)


def _checked_shares(parts: Sequence[float]) -> np.ndarray:
    shares = np.asarray(parts, dtype=np.float64)
    if shares.ndim != 1 or len(shares) < 2:
        raise DataError(f"parts must be two or more shares, such as (0.6, 0.2, 0.2), not {parts!r}")
    if np.any(shares <= 0) or abs(shares.sum() - 1) > 1e-6:
        raise DataError(f"parts must be positive shares that sum to one, not {parts!r}")
    return shares


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def _beside(table: Any, given: Any, n: int, role: str) -> np.ndarray:
    """Labels, groups or moments: a column of the table by name, or an array."""
    if isinstance(given, str):
        if not is_table(table):
            raise DataError(f"{role}={given!r} names a column, and an array has no names")
        grid = Grid.of(table, kinds=False)
        if given not in grid.names:
            raise DataError(f"{role}: the table has no column {given!r}; it has {grid.names}")
        given = grid.column(grid.names.index(given))
    values = label_array(given)
    if len(values) != n:
        raise DataError(f"{role} has {len(values):,} values for {n:,} rows")
    missing = np.array([value is None or value != value for value in values.tolist()])
    if missing.any():
        raise DataError(
            f"{role} is missing in {int(missing.sum()):,} rows "
            f"(first: row {int(missing.argmax())}); "
            "fill them in or leave those rows out"
        )
    return values


def _codes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values in their order, and the place of each row's."""
    if values.dtype.kind == "O":
        distinct = sorted(set(values.tolist()))
        place = {value: code for code, value in enumerate(distinct)}
        return np.array(distinct, dtype=object), np.array([place[v] for v in values.tolist()])
    return np.unique(values, return_inverse=True)


def _sizes(n: int, shares: np.ndarray) -> np.ndarray:
    """Whole sizes that sum to n and are nearest to the shares (largest remainders)."""
    exact = shares / shares.sum() * n
    sizes = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(sizes - exact, kind="stable")
    sizes[order[: n - sizes.sum()]] += 1
    return sizes


def _at_random(n: int, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    places = np.repeat(np.arange(len(shares)), _sizes(n, shares))
    return rng.permutation(places)


def _by_class(labels: np.ndarray, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal the rows, class after class, along one line of slots that holds each part evenly."""
    classes, codes = _codes(labels)
    counts = np.bincount(codes)
    if counts.min() < 2:
        alone = classes.tolist()[int(counts.argmin())]
        raise DataError(
            f"class {alone!r} has one row, which cannot stand in several parts; leave such classes "
            "out (drop_rare_classes) or split without stratify"
        )
    places = np.empty(len(codes), dtype=np.int64)
    owed = np.zeros(len(shares))
    for code in rng.permutation(len(classes)):
        rows = rng.permutation(np.flatnonzero(codes == code))
        owed += shares * len(rows)
        sizes = np.floor(shares * len(rows) + 1e-9).astype(np.int64)
        left = len(rows) - sizes.sum()
        behind = np.argsort(-(owed - sizes), kind="stable")
        sizes[behind[:left]] += 1
        owed -= sizes
        places[rows] = np.repeat(np.arange(len(shares)), sizes)
    return places


def _by_group(groups: Any, labels: Any, shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give whole groups, the largest first, to the part that lacks most of their classes."""
    names, codes = _codes(groups)
    if len(names) < len(shares):
        raise DataError(
            f"{len(names)} groups cannot be split in {len(shares)} parts: a group stays together"
        )
    classes = np.zeros(len(codes), dtype=np.int64) if labels is None else _codes(labels)[1]
    table = np.zeros((len(names), classes.max() + 1))
    np.add.at(table, (codes, classes), 1)
    wanted = shares[:, np.newaxis] * table.sum(axis=0)
    order = rng.permutation(len(names))
    order = order[np.argsort(-table[order].sum(axis=1), kind="stable")]
    part_of = np.empty(len(names), dtype=np.int64)
    filled = np.zeros(len(shares), dtype=np.int64)
    for turn, group in enumerate(order):
        lack = ((wanted * table[group]).sum(axis=1)) / shares
        groups_left = len(order) - turn
        empty = np.flatnonzero(filled == 0)
        choice = empty if groups_left <= len(empty) else np.arange(len(shares))
        part = choice[np.argmax(lack[choice])]
        part_of[group] = part
        filled[part] += 1
        wanted[part] -= table[group]
    return part_of[codes]


def _by_time(moments: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Cut the line of moments where it comes nearest to the shares; a moment is not cut."""
    distinct, codes = _codes(moments)
    if len(distinct) < len(shares):
        raise DataError(f"{len(distinct)} moments cannot be split in {len(shares)} parts by time")
    line = np.cumsum(np.bincount(codes))
    cuts: list[int] = []
    for number, mark in enumerate(np.cumsum(shares)[:-1] * line[-1]):
        low = cuts[-1] + 1 if cuts else 0
        high = len(distinct) - (len(shares) - 1 - number)
        cuts.append(low + int(np.argmin(np.abs(line[low:high] - mark))))
    return np.searchsorted(np.array(cuts), codes, side="left")
