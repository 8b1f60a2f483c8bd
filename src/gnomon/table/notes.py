"""Saying what was decided: notes stand in the result, warnings also reach the terminal."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from gnomon.engine.errors import GnomonWarning


def warn(note: str) -> None:
    """Warn that the result differs from what was given; the same sentence stands in the notes."""
    warnings.warn(note, GnomonWarning, stacklevel=level_of_caller())


def level_of_caller() -> int:
    """The ``stacklevel`` of the first caller outside gnomon, whose line a warning should show.

    For the function that warns. Frames of context managers are passed over too.
    """
    frame: FrameType | None = sys._getframe(2)
    level = 2
    while frame is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_inside(module: str) -> bool:
    return module.startswith("gnomon.") or module == "contextlib"


def counted(count: int, word: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
