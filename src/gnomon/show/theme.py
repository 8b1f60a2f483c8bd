"""The look of every picture: colours that colour-blind people tell apart, light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# Okabe and Ito's colours, in an order in which neighbours differ much
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#B3A400")
SEQUENTIAL = "Cividis"
DIVERGING = "RdBu"
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Theme:
    """Colours of one look.

    Attributes
    ----------
    paper, ink, faint, grid, strong : str
        Background, text and lines, lesser text, grid lines, what is to be seen first.
    """

    paper: str
    ink: str
    faint: str
    grid: str
    strong: str


THEMES = {
    "light": Theme("#ffffff", "#1f2430", "#6b7280", "#e5e7eb", "#D55E00"),
    "dark": Theme("#14171f", "#e6e8ee", "#9aa3b2", "#2d3340", "#FF9E4A"),
}


def diverging(middle: str) -> list[list[Any]]:
    """Blue to red through the colour of the paper, so that nothing looks like nothing."""
    return [[0.0, "#2166AC"], [0.25, "#67A9CF"], [0.5, middle], [0.75, "#EF8A62"], [1.0, "#B2182B"]]


def look(theme: str) -> Theme:
    """The theme of a name."""
    if theme not in THEMES:
        raise ValueError(f"theme is one of {', '.join(THEMES)}, not {theme!r}")
    return THEMES[theme]


def color(k: int) -> str:
    """The colour of the k-th class or series."""
    return COLORS[k % len(COLORS)]


def faded(code: str, share: float = 0.18) -> str:
    """A colour such as #0072B2 with some of the background shining through."""
    red, green, blue = (int(code[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def error_bars(figures: Sequence[Any], theme: str) -> dict[str, Any]:
    """Plotly's error bars of figures with a value and an interval; none where it is infinite."""
    ends = np.array([(each.value, each.low, each.high) for each in figures], dtype=float)
    ends = np.where(np.isfinite(ends), ends, np.nan).reshape(-1, 3)
    return {
        "array": ends[:, 2] - ends[:, 0],
        "arrayminus": ends[:, 0] - ends[:, 1],
        "symmetric": False,
        "thickness": 1.5,
        "width": 4,
        "color": look(theme).faint,
    }


def legend_below(*, top: int = 90, bottom: int = 110) -> dict[str, Any]:
    """Layout with the legend at the bottom of the picture, clear of the title of the axis."""
    return {
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 0.01,
            "yanchor": "bottom",
            "bgcolor": "rgba(0,0,0,0)",
        },
        "margin": {"l": 70, "r": 30, "t": top, "b": bottom},
    }


def dress(figure: Any, title: str, theme: str, *, note: str = "", **layout: Any) -> Any:
    """Give a Plotly figure its title, a note below it, and the look of a theme."""
    colors = look(theme)
    text = f"<b>{title}</b>"
    if note:
        text += f"<br><span style='font-size:13px;color:{colors.faint}'>{note}</span>"
    figure.update_layout(
        title={
            "text": text,
            "x": 0.02,
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 24},
        },
        font={"family": FONT, "size": 14, "color": colors.ink},
        paper_bgcolor=colors.paper,
        plot_bgcolor=colors.paper,
        margin={"l": 70, "r": 30, "t": 90, "b": 60},
        hoverlabel={"font": {"family": FONT}},
        legend={"bgcolor": "rgba(0,0,0,0)"},
    )
    axis = {
        "gridcolor": colors.grid,
        "zeroline": False,
        "linecolor": colors.faint,
        "ticks": "outside",
        "tickcolor": colors.faint,
        "title_standoff": 10,
    }
    figure.update_xaxes(**axis)
    figure.update_yaxes(**axis)
    figure.update_layout(**layout)
    return figure
