"""Names of columns: empty and duplicate ones are repaired, and the repair is reported."""

from __future__ import annotations

from collections.abc import Iterable


def repaired(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Names that are filled in and distinct, and what was changed, in sentences.

    Examples
    --------
    >>> repaired(["a", "", "a"])[0]
    ['a', 'column_2', 'a.1']
    """
    given = ["" if name is None else str(name) for name in names]
    taken = {name for name in given if name.strip()}
    out: list[str] = []
    notes: list[str] = []
    used: set[str] = set()
    for position, name in enumerate(given, start=1):
        new = name
        if not name.strip():
            new = _free(f"column_{position}", taken | used)
            notes.append(f"Column {position} has no name; it is called {new!r}.")
        elif name in used:
            new = _free(name, taken | used, start=1)
            notes.append(f"Two columns are named {name!r}; column {position} is called {new!r}.")
        used.add(new)
        out.append(new)
    return out, notes


def _free(name: str, taken: set[str], start: int = 0) -> str:
    if not start and name not in taken:
        return name
    number = max(start, 1)
    while f"{name}.{number}" in taken:
        number += 1
    return f"{name}.{number}"
