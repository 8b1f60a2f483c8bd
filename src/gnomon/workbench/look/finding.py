"""One thing that is worth knowing about a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One thing about a table.

    Attributes
    ----------
    kind : {"bad", "warning", "note"}
        ``bad``: results would be wrong; ``warning``: decide about it; ``note``: good to know.
    about : str
        The topic: ``"leak"``, ``"constant"``, ``"duplicates"`` ...
    columns : tuple of str
    text : str
        What was found, with its figures.
    remedy : str
        What to do about it.
    code : str
        A line that does it to ``table``; empty where a person must decide.
    """

    kind: Literal["bad", "warning", "note"]
    about: str
    columns: tuple[str, ...]
    text: str
    remedy: str
    code: str = ""


def named(columns: tuple[str, ...] | list[str], most: int = 6) -> str:
    """Some columns by name, and how many more there are."""
    listed = ", ".join(repr(name) for name in columns[:most])
    return listed if len(columns) <= most else f"{listed} and {len(columns) - most} more"
