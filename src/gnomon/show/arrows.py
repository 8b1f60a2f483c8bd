"""Arrows and numbers that several pictures share."""

from __future__ import annotations

from typing import Any

import numpy as np


def arrow(
    figure: Any,
    start: Any,
    end: Any,
    tint: str,
    *,
    width: float = 2.0,
    axis: int = 1,
    text: str = "",
) -> None:
    """An arrow between two places of the axis-th panel of a figure."""
    number = "" if axis == 1 else str(axis)
    references = {"xref": f"x{number}", "yref": f"y{number}"}
    figure.add_annotation(
        x=float(end[0]),
        y=float(end[1]),
        ax=float(start[0]),
        ay=float(start[1]),
        axref=references["xref"],
        ayref=references["yref"],
        text="",
        showarrow=True,
        arrowhead=2,
        arrowsize=1.1,
        arrowwidth=width,
        arrowcolor=tint,
        **references,
    )
    if text:
        written(figure, np.asarray(start) + 1.08 * (np.asarray(end) - start), text, tint, axis=axis)


def written(figure: Any, place: Any, text: str, tint: str, *, axis: int = 1, **more: Any) -> None:
    """A word at a place of the axis-th panel of a figure."""
    number = "" if axis == 1 else str(axis)
    figure.add_annotation(
        **{
            "x": float(place[0]),
            "y": float(place[1]),
            "xref": f"x{number}",
            "yref": f"y{number}",
            "text": text,
            "showarrow": False,
            "font": {"color": tint, "size": 14},
        }
        | more
    )


def one_scale(figure: Any, *panels: int) -> None:
    """The same length for a unit along both axes of these panels, or of the first."""
    for axis in panels or (1,):
        number = "" if axis == 1 else str(axis)
        figure.layout[f"yaxis{number}"].update(scaleanchor=f"x{number}", constrain="domain")
        figure.layout[f"xaxis{number}"].update(constrain="domain")
