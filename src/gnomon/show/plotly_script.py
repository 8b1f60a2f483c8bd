"""Plotly's script for pages and reports: the part that flat figures need, or all of it.

The whole script of the installed package has 4.8 MB, and a browser takes 0.7 s of processor time to
begin with it. Traces in a plane need a third of both; that part is Plotly's own bundle, kept in
``static``.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any

IN_A_PLANE = (
    "bar", "box", "contour", "heatmap", "histogram", "histogram2d", "histogram2dcontour", "image",
    "pie", "scatter", "scatterternary", "violin",
)  # fmt: skip


def is_in_a_plane(figure: Any) -> bool:
    """Whether the smaller script draws a figure.

    Parameters
    ----------
    figure : plotly.graph_objects.Figure

    Returns
    -------
    flat : bool

    Examples
    --------
    >>> import plotly.graph_objects as go
    >>> is_in_a_plane(go.Figure(go.Bar(y=[1, 2]))), is_in_a_plane(go.Figure(go.Surface()))
    (True, False)
    """
    frames: Iterable[Any] = figure.frames or ()
    traces = [*figure.data, *(trace for frame in frames for trace in frame.data or ())]
    return all(trace.type in IN_A_PLANE for trace in traces)


@lru_cache(maxsize=2)
def packed_script(in_a_plane: bool) -> bytes:
    """Plotly's script, packed with gzip.

    Parameters
    ----------
    in_a_plane : bool
        The part for the traces of `IN_A_PLANE`; otherwise all.

    Returns
    -------
    packed : bytes
    """
    if in_a_plane:
        return files("gnomon.show").joinpath("static", "plotly-cartesian.min.js.gz").read_bytes()
    from plotly.offline import get_plotlyjs

    return gzip.compress(get_plotlyjs().encode(), 6, mtime=0)
