"""Lines of Python, with what they import."""

from __future__ import annotations

from dataclasses import dataclass

GNOMON = "import gnomon"


@dataclass(frozen=True)
class Code:
    """The lines of a step.

    Attributes
    ----------
    lines : tuple of str
    imports : tuple of str
    """

    lines: tuple[str, ...]
    imports: tuple[str, ...] = (GNOMON,)
