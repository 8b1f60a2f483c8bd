"""Infinite scores in pictures: arrows at the edge of an axis, on which they have no place."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import numpy as np

from gnomon.evaluate import Estimate

PIXELS_OF_A_LETTER = 6.1  # judgement: a mean letter of the notes' font size


def edges(figures: Iterable[Estimate], scores: Iterable[float] = ()) -> tuple[float, float]:
    """Where minus and plus infinity are drawn: a little beyond finite figures and scores.

    Examples
    --------
    >>> edges([Estimate(1.0, 0.0, 2.0), Estimate(np.inf, 30.0, np.inf)])
    (-0.16, 2.16)
    """
    figures = list(figures)
    shown = [each for each in figures if np.isfinite(each.value)] or figures
    numbers = np.array([*(end for each in shown for end in each[:3]), *scores], dtype=float)
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    beyond = 0.08 * ((high - low) or abs(high) or 1.0)
    return low - beyond, high + beyond


def at_edge(figure: Estimate, ends: tuple[float, float]) -> Estimate:
    """An infinite figure drawn at the edge, with the end of its interval that is between the edges.

    Others are as they are.
    """
    if not np.isinf(figure.value):
        return figure
    low, high = (each if ends[0] < each < ends[1] else np.nan for each in (figure.low, figure.high))
    return figure._replace(value=float(np.clip(figure.value, *ends)), low=low, high=high)


def axis_range(ends: tuple[float, float]) -> list[float]:
    """The axis with space for arrows at its edges."""
    room = 0.05 * (ends[1] - ends[0])
    return [ends[0] - room, ends[1] + room]


def note_in_lines(note: str, width: int) -> tuple[str, int]:
    """A note in lines that fit in a picture of some width, and the space that they take on top.

    Lines end at semicolons where they can.

    Examples
    --------
    >>> note_in_lines("dots: folds; bars: intervals", 150)
    ('dots: folds;<br>bars: intervals', 116)
    """
    most = int((width - 50) / PIXELS_OF_A_LETTER)
    lines: list[str] = []
    for clause in re.split("(?<=;) ", note):
        if lines and len(lines[-1]) + 1 + len(clause) <= most:
            lines[-1] += f" {clause}"
        else:
            lines += textwrap.wrap(clause, most)
    return "<br>".join(lines), 64 + 26 * len(lines)
