"""What a model must keep: directions of single columns, and columns that may not interact."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.table.encode import Columns


def directions_of(
    given: Mapping[str, int] | Sequence[int] | None, inputs: dict[str, np.ndarray], columns: Columns
) -> np.ndarray | None:
    """Direction of every encoded column: 1 must not fall, -1 must not rise, 0 free.

    Parameters
    ----------
    given : dict of name to direction, or one direction per column
    inputs : dict of str to int array
        The encoded columns of every column of the table.
    columns : Columns

    Examples
    --------
    >>> import numpy as np
    >>> inputs = {"age": np.array([0]), "dose": np.array([1])}
    >>> directions_of({"dose": 1}, inputs, Columns.of_numbers(2))
    array([0, 1])
    """
    if given is None:
        return None
    if not isinstance(given, Mapping):
        if len(given) != len(inputs):
            raise DataError(
                f"monotonic_cst has {len(given)} entries for {len(inputs)} columns; "
                "give one of -1, 0, 1 for each, or a dict of names"
            )
        given = dict(zip(inputs, given))
    directions = np.zeros(len(columns), np.int64)
    for name, direction in given.items():
        if direction not in (-1, 0, 1):
            raise DataError(
                f"monotonic_cst of column {name!r} is {direction!r}; it must be -1, 0 or 1"
            )
        places = _known(name, inputs, "monotonic_cst")
        if direction and columns.is_category[places].any():
            raise DataError(
                f"monotonic_cst names column {name!r}, whose categories have no order; "
                "leave it out, or make the column a number"
            )
        directions[places] = direction
    return directions


def interaction_sets(
    given: str | Sequence[Any] | None, inputs: dict[str, np.ndarray], n_columns: int
) -> np.ndarray | None:
    """The sets of encoded columns that may meet on a path: uint8 (n_sets, n_columns).

    Parameters
    ----------
    given : "pairwise", "no_interactions", or sequence of sets of names or positions
        Columns that are in no set form one more.
    inputs : dict of str to int array
    n_columns : int

    Examples
    --------
    >>> import numpy as np
    >>> inputs = {name: np.array([j]) for j, name in enumerate("abc")}
    >>> interaction_sets([{"a", "b"}], inputs, 3)
    array([[1, 1, 0],
           [0, 0, 1]], dtype=uint8)
    """
    if given is None:
        return None
    names = list(inputs)
    groups: list[set[str]]
    if isinstance(given, str):
        size = 1 if given == "no_interactions" or len(names) == 1 else 2
        groups = [set(chosen) for chosen in itertools.combinations(names, size)]
    else:
        if not all(isinstance(group, (set, frozenset, list, tuple)) for group in given):
            raise ValueError(
                "Interaction constraints must be a sequence of tuples or lists, got: "
                f"{given}. A single set of columns is written [{given}]"
            )
        groups = [{_name(entry, names) for entry in group} for group in given]
        rest = set(names).difference(*groups)
        groups += [rest] if rest else []
    sets = np.zeros((len(groups), n_columns), np.uint8)
    for place, group in enumerate(groups):
        for name in group:
            sets[place, _known(name, inputs, "interaction_cst")] = 1
    return sets


def _name(entry: Any, names: list[str]) -> str:
    if isinstance(entry, (int, np.integer)):
        if not 0 <= entry < len(names):
            raise DataError(f"interaction_cst names column {entry}; there are {len(names)}")
        return names[entry]
    return entry


def _known(name: str, inputs: dict[str, np.ndarray], where: str) -> np.ndarray:
    if name not in inputs:
        known = ", ".join(map(repr, list(inputs)[:20]))
        raise DataError(f"{where} names column {name!r}, which is not there; known: {known}")
    return inputs[name]
