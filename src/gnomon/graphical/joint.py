"""Joint tables with named axes: condition, marginalize, check independence.

p(x, y | z) = p(x, y, z) / p(z) and p(x | z) = sum_y p(x, y | z): all of exact inference is these
two steps, and everything faster is a way not to write the whole table down.

Texts: 001 15.1 · 002 "Conditional independence" · 003 3.4.3.1 (exact inference).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.result import Result, p_text
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.renamed import former_attributes
from gnomon.graphical.cells import coded_columns


@dataclass(repr=False)
class IndependenceCheck(Result):
    """How far two sets of variables are from being independent given a third.

    Attributes
    ----------
    x, y, given : tuple of str
    holds : bool
        Whether no conditional probability differs by more than the tolerance; for counts, whether
        the test does not reject.
    largest_difference : float
        Largest |p(x | y, z) - p(x | z)| over values with p(y, z) > 0.
    information : float
        Mutual information of x and y given z, in nats; zero where independent.
    statistic, p_value : float
        Likelihood-ratio (G) test on counts; NaN for a table of probabilities.
    degrees : int
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    given: tuple[str, ...]
    holds: bool
    largest_difference: float
    information: float
    statistic: float = np.nan
    p_value: float = np.nan
    degrees: int = 0

    def _title(self) -> str:
        given = f" given {', '.join(self.given)}" if self.given else ""
        verb = "are" if self.holds else "are not"
        return f"{', '.join(self.x)} and {', '.join(self.y)} {verb} independent{given}"

    def _columns(self) -> dict[str, list]:
        return {
            "largest difference": [self.largest_difference],
            "information (nats)": [self.information],
        }

    def _remarks(self) -> list[str]:
        if np.isnan(self.p_value):
            return []
        return [f"G = {self.statistic:.4g} on {self.degrees} degrees, {p_text(self.p_value)}"]


@former_attributes(marginalise="marginalize")
class JointTable(Result):
    """Probabilities of all combinations of the values of some variables.

    Use it for a handful of variables: it has as many cells as there are combinations. Not for whole
    networks: `BeliefNetwork.query` gives the table of the few variables that you ask about.

    Texts: 001 15.1, where conditioning and marginalising are defined; 003 3.4.3.1.

    Parameters
    ----------
    values : array-like
        Non-negative, one axis per variable. Normalised to sum to one.
    levels : mapping of str to sequence
        The variables in the order of the axes, and the names of their values.
    n_rows : int, default=0
        How many rows were counted, where it was made of counts.

    Attributes
    ----------
    values : ndarray
        Probabilities that sum to one.
    levels : dict of str to tuple
    n_rows : int

    Examples
    --------
    >>> joint = JointTable([[0.1, 0.3], [0.2, 0.4]], {"X": ("a", "b"), "Z": (0, 1)})
    >>> joint.condition(Z=1).probability(X="a")
    0.4285714285714286
    >>> joint.marginalize("Z").values.round(2).tolist()
    [0.4, 0.6]
    """

    def __init__(self, values: ArrayLike, levels: Mapping[str, Sequence], n_rows: int = 0):
        table = np.asarray(values, dtype=np.float64)
        self.levels = {name: tuple(each) for name, each in levels.items()}
        shape = tuple(len(each) for each in self.levels.values())
        if table.shape != shape:
            raise DataError(f"the values have the shape {table.shape} and the levels {shape}")
        if not np.isfinite(table).all() or (table < 0).any():
            raise DataError("a joint table holds finite numbers that are not negative")
        total = table.sum()
        if not total > 0:
            raise DataError("every cell of the joint table is zero: nothing can happen")
        self.values = table / total
        self.n_rows = int(n_rows)

    @classmethod
    def from_counts(cls, data: Any, columns: Sequence[str] | None = None) -> JointTable:
        """Shares of all combinations of values in a table of data.

        Parameters
        ----------
        data : data frame, Table or mapping of columns
        columns : sequence of str, default=None
            All where None.

        Returns
        -------
        joint : JointTable
        """
        codes, levels = coded_columns(data, columns)
        shape = tuple(len(each) for each in levels.values())
        check_cells(shape, f"a joint table of {len(shape)} columns")
        missing = [name for name in levels if (codes[name] < 0).any()]
        if missing:
            raise DataError(
                f"the columns {', '.join(missing)} have missing cells; fill them or leave out rows"
            )
        flat = np.ravel_multi_index(tuple(codes.values()), shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape)))
        return cls(counts.reshape(shape), levels, len(flat))

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of the axes."""
        return tuple(self.levels)

    def axis(self, name: str) -> int:
        """The axis of a variable."""
        if name not in self.levels:
            raise DataError(f"there is no variable {name!r}; there are {', '.join(self.levels)}")
        return self.names.index(name)

    def position(self, name: str, value: Any) -> int:
        """Where a value stands among those of its variable."""
        self.axis(name)
        return level_position(self.levels, name, value)

    def condition(self, /, **evidence: Any) -> JointTable:
        """The law of the other variables, given values of some.

        Parameters
        ----------
        **evidence : name=value

        Returns
        -------
        joint : JointTable
            Without the given variables.
        """
        index: list[Any] = [slice(None)] * len(self.levels)
        for name, value in evidence.items():
            index[self.axis(name)] = self.position(name, value)
        rest = {name: each for name, each in self.levels.items() if name not in evidence}
        if not rest:
            raise DataError("every variable is given; ask for probability(...)")
        part = self.values[tuple(index)]
        if not part.sum() > 0:
            raise DataError(f"the evidence {evidence} has probability zero")
        return JointTable(part, rest)

    def marginalize(self, *names: str) -> JointTable:
        """Sum the named variables out.

        Parameters
        ----------
        *names : str

        Returns
        -------
        joint : JointTable
        """
        axes = tuple(self.axis(name) for name in names)
        rest = {name: each for name, each in self.levels.items() if name not in names}
        if not rest:
            raise DataError("summing every variable out leaves 1; keep one variable at least")
        return JointTable(self.values.sum(axis=axes), rest, self.n_rows)

    def marginal(self, *names: str) -> JointTable:
        """The law of the named variables, axes in that order.

        Parameters
        ----------
        *names : str

        Returns
        -------
        joint : JointTable
        """
        kept = [self.axis(name) for name in names]
        others = tuple(axis for axis in range(len(self.levels)) if axis not in kept)
        summed = self.values.sum(axis=others)
        places = np.argsort(np.argsort(kept))
        return JointTable(
            summed.transpose(places), {name: self.levels[name] for name in names}, self.n_rows
        )

    def probability(self, /, **event: Any) -> float:
        """Probability that variables have the given values.

        Parameters
        ----------
        **event : name=value

        Returns
        -------
        probability : float
        """
        index: list[Any] = [slice(None)] * len(self.levels)
        for name, value in event.items():
            index[self.axis(name)] = self.position(name, value)
        return float(self.values[tuple(index)].sum())

    def most_probable(self) -> dict[str, Any]:
        """The most probable combination; the first where several are.

        Returns
        -------
        values : dict of name to value
        """
        place = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return {name: each[i] for (name, each), i in zip(self.levels.items(), place)}

    def independence(
        self,
        x: str | Sequence[str],
        y: str | Sequence[str],
        given: str | Sequence[str] = (),
        *,
        tol: float = 1e-9,
        alpha: float = 0.05,
    ) -> IndependenceCheck:
        """Check whether p(x | y, z) = p(x | z) for all values.

        On a table of probabilities the equation is checked as it stands; on one made of counts,
        where it never holds exactly, the G test decides. The test's law is chi-square with
        (|x| - 1)(|y| - 1) |z| degrees, values of x and y that never occur with a z left out;
        do not trust it where expected counts are below about five.

        Parameters
        ----------
        x, y, given : str or sequence of str
        tol : float, default=1e-9
        alpha : float, default=0.05
            For counts: independence is rejected where the p-value is below it.

        Returns
        -------
        check : IndependenceCheck

        Examples
        --------
        >>> coins = JointTable([[0.25, 0.25], [0.25, 0.25]], {"a": "ht", "b": "ht"})
        >>> coins.independence("a", "b").holds
        True
        """
        sets = [(each,) if isinstance(each, str) else tuple(each) for each in (x, y, given)]
        names = [name for each in sets for name in each]
        if len(set(names)) < len(names) or not sets[0] or not sets[1]:
            raise DataError("x, y and given must be different variables, with one at least in x, y")
        table = self.marginal(*names).values
        sizes = [int(np.prod([len(self.levels[name]) for name in each])) for each in sets]
        return _independence(table.reshape(sizes), tuple(sets), self.n_rows, tol, alpha)

    def _title(self) -> str:
        return f"Joint table of {', '.join(self.levels)}"

    def _columns(self) -> dict[str, list]:
        places = np.unravel_index(np.arange(self.values.size), self.values.shape)
        columns = {
            name: [each[i] for i in place]
            for (name, each), place in zip(self.levels.items(), places)
        }
        return columns | {"probability": self.values.ravel().tolist()}


def _independence(
    p: np.ndarray, sets: tuple, n_rows: int, tolerance: float, level: float
) -> IndependenceCheck:
    """Of a table (x, y, z)."""
    x, y, given = sets
    xz, yz, z = p.sum(1, keepdims=True), p.sum(0, keepdims=True), p.sum((0, 1), keepdims=True)
    possible = yz > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(possible, p / yz - xz / z, 0.0)
        information = float(np.where(p > 0, p * np.log(p * z / (xz * yz)), 0.0).sum())
    largest = float(np.abs(gap).max())
    information = max(information, 0.0)
    if not n_rows:
        return IndependenceCheck(x, y, given, largest <= tolerance, largest, information)
    rows, columns = (xz > 0).sum(0).ravel() - 1, (yz > 0).sum(1).ravel() - 1
    degrees = int((np.maximum(rows, 0) * np.maximum(columns, 0)).sum())
    statistic = 2 * n_rows * information
    p_value = float(scipy.stats.chi2.sf(statistic, degrees)) if degrees else 1.0
    return IndependenceCheck(
        x, y, given, p_value >= level, largest, information, statistic, p_value, degrees
    )


def check_cells(shape: Sequence[int], what: str) -> None:
    """Refuse a table that would not fit into memory."""
    cells = 1
    for size in shape:
        cells *= int(size)
    if len(shape) > 64:
        raise DataError(f"{what} has {len(shape)} axes; 64 are possible. Eliminate variables first")
    memory.require(
        24 * cells, f"{what} ({cells:,} cells)", "Ask for fewer variables, or sample instead."
    )


def level_position(levels: Mapping[str, tuple], name: str, value: Any) -> int:
    """Where a value stands among those of its variable."""
    if value not in levels[name]:
        known = ", ".join(repr(each) for each in levels[name])
        raise DataError(f"{name!r} has no value {value!r}; it has {known}")
    return levels[name].index(value)
