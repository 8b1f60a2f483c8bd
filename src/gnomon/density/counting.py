"""Joint, marginal and conditional probabilities by counting the rows of a table.

P(a and b) = share of rows with both, P(a | b) = P(a and b) / P(b), P(a) = sum_b P(a | b) P(b). The
product P(a) P(b) is P(a and b) only where they are independent.

Text: 003 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.frequencies import chi2_independence
from gnomon.table.table import Table


@dataclass(repr=False, eq=False)
class ContingencyTable(Result):
    """Probabilities of combinations of values, counted.

    Attributes
    ----------
    names : list of str
        The columns.
    levels : list of list
        The values of each column.
    counts : ndarray
        Rows of each combination; one axis per column.
    """

    names: list[str]
    levels: list[list[Any]]
    counts: np.ndarray

    @property
    def probabilities(self) -> np.ndarray:
        """P of every combination."""
        return self.counts / self.counts.sum()

    def _selected(self, event: dict[str, Any]) -> np.ndarray:
        """Counts where the event holds, zero elsewhere; an event names values of columns."""
        held = np.ones(self.counts.shape, dtype=bool)
        for name, value in event.items():
            if name not in self.names:
                raise DataError(f"there is no column {name!r}; there are {', '.join(self.names)}")
            axis = self.names.index(name)
            wanted = value if isinstance(value, (set, frozenset, list, tuple)) else [value]
            same = np.array([level in wanted for level in self.levels[axis]])
            held &= same.reshape([-1 if i == axis else 1 for i in range(held.ndim)])
        return np.where(held, self.counts, 0)

    def probability(self, event: dict[str, Any], given: dict[str, Any] | None = None) -> float:
        """P(event), or P(event | given).

        Parameters
        ----------
        event : dict of column to value, or to a set of values
        given : dict, default=None

        Returns
        -------
        probability : float
        """
        if given is None:
            return float(self._selected(event).sum() / self.counts.sum())
        base = self._selected(given)
        if base.sum() == 0:
            raise DataError(f"no row has {given}: probabilities given it are not defined")
        both = np.minimum(base, self._selected(event))
        return float(both.sum() / base.sum())

    def marginal(self, *names: str) -> ContingencyTable:
        """The table of some of the columns, the others summed over.

        Parameters
        ----------
        *names : str

        Returns
        -------
        table : ContingencyTable
        """
        places = [self.names.index(name) for name in names]
        others = tuple(i for i in range(self.counts.ndim) if i not in places)
        counts = self.counts.sum(axis=others)
        kept = [i for i in range(self.counts.ndim) if i in places]
        order = [kept.index(place) for place in places]
        return ContingencyTable(
            list(names), [self.levels[i] for i in places], np.transpose(counts, order)
        )

    def conditional(self, name: str, given: str) -> np.ndarray:
        """P(name | given): one row per value of `given`, which sums to one.

        Parameters
        ----------
        name, given : str

        Returns
        -------
        table : ndarray of shape (levels of given, levels of name)
        """
        counts = self.marginal(given, name).counts
        total = counts.sum(axis=1, keepdims=True)
        return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)

    def independence(self, one: str, other: str) -> Any:
        """Chi-squared test of whether two columns are independent.

        Parameters
        ----------
        one, other : str

        Returns
        -------
        test : object
            As `gnomon.evaluate.chi2_independence`.
        """
        return chi2_independence(self.marginal(one, other).counts)

    def _title(self):
        return f"Joint probabilities of {', '.join(self.names)}"

    def _columns(self):
        places = np.argwhere(self.counts > 0)
        columns = {
            name: [self.levels[axis][i] for i in places[:, axis]]
            for axis, name in enumerate(self.names)
        }
        held = self.counts[tuple(places.T)]
        return columns | {"rows": held.tolist(), "probability": (held / held.sum()).tolist()}


def count_probabilities(table: Any, columns: list[str] | None = None) -> ContingencyTable:
    """Count how often each combination of values occurs.

    Parameters
    ----------
    table : Table, data frame, or mapping of str to sequence
    columns : list of str, default=None
        All by default. Missing cells are a value of their own, None.

    Returns
    -------
    counted : ContingencyTable

    Examples
    --------
    >>> rain = {"sky": ["gray", "gray", "blue", "blue"], "wet": ["yes", "no", "no", "no"]}
    >>> counted = count_probabilities(rain)
    >>> counted.probability({"wet": "yes"}), counted.probability({"wet": "yes"}, {"sky": "gray"})
    (0.25, 0.5)
    """
    if isinstance(table, dict):
        values = {name: list(cells) for name, cells in table.items()}
    else:
        whole = table if isinstance(table, Table) else Table.from_frame(table)
        values = {name: whole.column(name).to_pylist() for name in columns or whole.columns}
    names = list(columns or values)
    lengths = {len(values[name]) for name in names}
    if len(lengths) != 1 or lengths == {0}:
        raise DataError("columns need one length, one row or more")
    levels, codes = [], []
    for name in names:
        own = sorted(set(values[name]), key=lambda each: (each is None, repr(each)))
        place = {value: i for i, value in enumerate(own)}
        levels.append(own)
        codes.append([place[value] for value in values[name]])
    counts = np.zeros([len(own) for own in levels], dtype=np.int64)
    np.add.at(counts, tuple(np.array(codes)), 1)
    return ContingencyTable(names, levels, counts)
