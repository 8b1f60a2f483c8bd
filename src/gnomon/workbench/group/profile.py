"""What sets the groups of a table apart, in plain words and with effect sizes.

A group is compared with all other rows, column by column. The groups were made from these columns,
so a p value would prove nothing: effects are described, with intervals for the drawing of rows.
Texts: 004 8 (naming groups by what is typical of them).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from gnomon.contract.estimate import normal_quantile
from gnomon.table import Table
from gnomon.table.recode import as_strings
from gnomon.table.schema import Column
from gnomon.workbench.analysis.associations import GROUPED

# Effects below are too small to be called typical (Cohen's "small").
LEAST_EFFECT = 0.2
NOTHING_TYPICAL = f"nothing sets it apart by {LEAST_EFFECT} standard deviations or more"
MOST_TRAITS = 8  # judgement: what a reader takes in; the strongest come first
MOST_LEVELS = 50  # judgement: bounds tests for each column; a level of lesser effect is no trait
MOST_IN_A_NAME = 3  # judgement: a name of three traits is still read as a name


class Trait(NamedTuple):
    """How a group differs from the other rows in one column.

    Attributes
    ----------
    column : str
    effect : float
        Numbers: the difference of means in standard deviations (Hedges' g). Categories: Cohen's h
        of the level's shares. Positive where the group has more; infinite where one number holds in
        all rows of the group, and another in all others.
    low, high : float
        95% interval of the effect.
    here, elsewhere : float
        Mean, or share of the level, in the group and in the other rows.
    level : str or None
        The level of a category; None for numbers.
    """

    column: str
    effect: float
    low: float
    high: float
    here: float
    elsewhere: float
    level: str | None = None

    @property
    def is_typical(self) -> bool:
        """Whether the effect is not small, and beyond what drawing rows would give."""
        return self.low * self.high > 0 and abs(self.effect) >= LEAST_EFFECT

    @property
    def label(self) -> str:
        """In two or three words, for a name."""
        more = self.effect > 0
        if self.level is None:
            return f"{'high' if more else 'low'} {self.column}"
        return f"{self.column} {self.level}" if more else f"{self.column} not {self.level}"

    def __str__(self) -> str:
        if self.level is None:
            more = "higher" if self.effect > 0 else "lower"
            if np.isinf(self.effect):
                here, elsewhere = digits(self.here), digits(self.elsewhere)
                return f"{self.column} is {more}: {here} in all rows, {elsewhere} in all others"
            return (
                f"{self.column} is {more}: mean {digits(self.here)} against "
                f"{digits(self.elsewhere)} "
                f"elsewhere ({abs(self.effect):.1f} standard deviations)"
            )
        return (
            f"{self.column} is {self.level!r} in {self.here:.0%} of the rows, against "
            f"{self.elsewhere:.0%} elsewhere"
        )


def digits(value: float) -> str:
    """A number in four digits, without a power of ten where people would write none."""
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"


@dataclass
class GroupProfile:
    """One group.

    Attributes
    ----------
    number : int
        Its label; -1 for rows of no group.
    name : str
    rows : int
    share : float
        Share of all rows.
    traits : list of Trait
        What is typical of it, the strongest first.
    """

    number: int
    name: str
    rows: int
    share: float
    traits: list[Trait] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.rows:,} rows ({self.share:.0%})"]
        if not self.traits:
            lines.append(f"  {NOTHING_TYPICAL}")
        return "\n".join([*lines, *(f"  {trait}" for trait in self.traits)])


def profiles(table: Table, labels: np.ndarray, unnamed: Collection[str] = ()) -> list[GroupProfile]:
    """What sets each group apart from all other rows.

    Parameters
    ----------
    table : Table
        Also columns that the groups were not made from.
    labels : int array of shape (n_rows,)
        Groups 0, 1 ...; -1 for rows of none.
    unnamed : collection of str, default=()
        Columns that no group is named by.

    Returns
    -------
    profiles : list of GroupProfile
        By number; rows of no group last.

    Examples
    --------
    >>> from gnomon.table import example
    >>> iris = example("iris")
    >>> labels = np.repeat([0, 1, 1], 50)
    >>> print(profiles(iris.select(["petal_length", "species"]), labels)[0].traits[0])
    petal_length is lower: mean 1.462 against 4.906 elsewhere (5.0 standard deviations)
    """
    numbers = sorted(set(labels.tolist()), key=lambda each: (each < 0, each))
    compared = [each for each in map(partial(_compared, table), table.schema) if each is not None]
    found = []
    for number in numbers:
        member = labels == number
        traits = [trait for column in compared for trait in column.traits(member)]
        typical = [each for each in traits if each.is_typical]
        typical.sort(key=lambda each: -abs(each.effect))
        share = float(member.mean())
        found.append(GroupProfile(number, "", int(member.sum()), share, typical[:MOST_TRAITS]))
    name_by_traits(found, unnamed)
    return found


def name_by_traits(groups: list[GroupProfile], unnamed: Collection[str] = ()) -> None:
    """Name every group by its strongest traits, as few as tell it from the others."""
    taken: dict[str, int] = {}
    words = {each.number: _words_of(each, unnamed) for each in groups}
    for group in groups:
        others = [words[each.number] for each in groups if each is not group]
        group.name = "no group" if group.number < 0 else _name_of(group, words, others)
        taken[group.name] = taken.get(group.name, 0) + 1
        if taken[group.name] > 1:
            group.name = f"{group.name} ({taken[group.name]})"


def _words_of(group: GroupProfile, unnamed: Collection[str]) -> list[str]:
    """What a group may be named by: its strongest traits, one per column."""
    traits = [each for each in group.traits if each.column not in unnamed]
    return [trait.label for trait in _one_per_column(traits)][:MOST_IN_A_NAME]


def _name_of(group: GroupProfile, words: dict[int, list[str]], others: list[list[str]]) -> str:
    """As few words as are not all true of another group."""
    labels = words[group.number]
    for count in range(1, len(labels) + 1):
        if not any(set(labels[:count]) <= set(other) for other in others):
            return ", ".join(labels[:count])
    return ", ".join(labels) or f"group {group.number}"


def _one_per_column(traits: list[Trait]) -> list[Trait]:
    first: dict[str, Trait] = {}
    for trait in traits:
        first.setdefault(trait.column, trait)
    return list(first.values())


def _compared(table: Table, column: Column) -> _Numbers | _Levels | None:
    """A column as profiles compare it; None for what has neither means nor shares."""
    if column.kind in GROUPED:
        return _Levels.of(table, column)
    return _Numbers.of(table, column.name) if column.kind.is_numeric else None


class _Numbers(NamedTuple):
    """A column of numbers."""

    name: str
    values: np.ndarray

    @classmethod
    def of(cls, table: Table, name: str) -> _Numbers:
        values = table.column(name).cast("float64", safe=False).to_numpy(zero_copy_only=False)
        return cls(name, np.asarray(values, dtype=np.float64))

    def traits(self, member: np.ndarray) -> list[Trait]:
        known = np.isfinite(self.values)
        here, elsewhere = self.values[known & member], self.values[known & ~member]
        n, m = len(here), len(elsewhere)
        if n < 2 or m < 2:
            return []
        spread = np.sqrt((here.var() * n + elsewhere.var() * m) / (n + m - 2))
        if not spread > 0:
            return self._parted(float(here[0]), float(elsewhere[0]))
        exact = 1 - 3 / (4 * (n + m - 2) - 1)
        effect = exact * (here.mean() - elsewhere.mean()) / spread
        half = normal_quantile(0.95) * np.sqrt((n + m) / (n * m) + effect**2 / (2 * (n + m)))
        return [
            Trait(
                self.name,
                float(effect),
                float(effect - half),
                float(effect + half),
                float(here.mean()),
                float(elsewhere.mean()),
            )
        ]

    def _parted(self, here: float, elsewhere: float) -> list[Trait]:
        """The trait where one value holds in all rows of the group, and one in all others."""
        if here == elsewhere:
            return []
        effect = float(np.copysign(np.inf, here - elsewhere))
        return [Trait(self.name, effect, effect, effect, here, elsewhere)]


class _Levels(NamedTuple):
    """A column of categories."""

    name: str
    levels: list[str]
    codes: np.ndarray

    @classmethod
    def of(cls, table: Table, column: Column) -> _Levels:
        words = as_strings(table.column(column.name), column)
        encoded = words.combine_chunks().dictionary_encode()
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        codes = np.where(np.isnan(codes), -1, codes) if codes.dtype.kind == "f" else codes
        return cls(column.name, encoded.dictionary.to_pylist(), codes.astype(np.int64))

    def traits(self, member: np.ndarray) -> list[Trait]:
        known = self.codes >= 0
        n, m = int((known & member).sum()), int((known & ~member).sum())
        if not n or not m:
            return []
        k = len(self.levels)
        here = np.bincount(self.codes[known & member], minlength=k) / n
        elsewhere = np.bincount(self.codes[known & ~member], minlength=k) / m
        effects = 2 * np.arcsin(np.sqrt(here)) - 2 * np.arcsin(np.sqrt(elsewhere))
        half = normal_quantile(0.95) * np.sqrt(1 / n + 1 / m)
        strongest = np.argsort(-np.abs(effects), kind="stable")[:MOST_LEVELS]
        if k == 2:  # the other level says the same
            strongest = strongest[effects[strongest] > 0]
        return [
            Trait(
                self.name,
                float(effects[place]),
                float(effects[place] - half),
                float(effects[place] + half),
                float(here[place]),
                float(elsewhere[place]),
                self.levels[place],
            )
            for place in strongest
        ]
