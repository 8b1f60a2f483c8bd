"""Pictures of matrices: where entries stand, and what a matrix does to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.show.arrows import arrow, one_scale, written
from gnomon.show.labels import label
from gnomon.show.theme import color, dress, legend_below, look

# Judgement: beyond, entries hide each other and pages grow; blocks are counted instead.
MOST_DRAWN = 50_000


def spy(
    matrix: Any,
    groups: Any = None,
    *,
    names: Sequence[Any] | None = None,
    what: str = "rows and columns",
    theme: str = "light",
) -> go.Figure:
    """Where a matrix has entries other than zero; rows and columns in the order of groups.

    Groups can be clusters, or "components" for the connected components of the graph whose links
    the matrix holds: entries then fall into blocks along the diagonal. Texts: 002 "PageRank".

    Parameters
    ----------
    matrix : array-like, sparse matrix, LinkGraph or Graph
        Square where groups are given.
    groups : array-like of shape (n,), "components" or None, default=None
    names : sequence, default=None
        Of rows and columns, shown on hovering.
    what : str
        What rows and columns are.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        More than 50,000 entries are drawn as shares of filled cells in blocks, which the note says.

    Examples
    --------
    >>> figure = spy([[0, 0, 1], [0, 1, 0], [1, 0, 0]], "components")
    >>> figure.data[0].x.tolist(), figure.data[0].y.tolist()
    ([1, 0, 2], [0, 1, 2])
    """
    if hasattr(matrix, "links"):
        names = matrix.pages if names is None else names
        matrix = matrix.links
    elif callable(getattr(matrix, "matrix", None)):
        names = matrix.names if names is None else names
        matrix = matrix.matrix()
    table = sp.coo_array(matrix)
    order = np.arange(max(table.shape))
    edges: list[int] = []
    if groups is not None:
        order, edges = _by_groups(table, groups)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    filled = table.data != 0
    rows, columns = place[table.row[filled]], place[table.col[filled]]
    # one order for any storage, row by row
    sort = np.lexsort((columns, rows))
    rows, columns = rows[sort], columns[sort]
    figure = go.Figure()
    share = len(rows) / max(table.shape[0] * table.shape[1], 1)
    note = f"{len(rows):,} of {table.shape[0]:,} × {table.shape[1]:,} entries, {share:.2%}"
    if len(rows) > MOST_DRAWN:
        note += _blocks(figure, rows, columns, table.shape)
    else:
        called = np.arange(len(order)) if names is None else np.asarray(names, dtype=object)
        _entries(figure, rows, columns, called[order], max(table.shape))
    for edge in edges:
        for line in ({"x0": edge, "x1": edge, "y0": -0.5, "y1": table.shape[0] - 0.5},
                     {"y0": edge, "y1": edge, "x0": -0.5, "x1": table.shape[1] - 0.5}):  # fmt: skip
            figure.add_shape(type="line", line={"color": look(theme).strong, "width": 1}, **line)
    if edges:
        note += f"; {len(edges) + 1} groups, parted by lines"
    dress(figure, "Where the entries stand", theme, note=note, width=720, height=740,
          showlegend=False)  # fmt: skip
    figure.update_xaxes(title=what, range=[-0.6, table.shape[1] - 0.4], showgrid=False)
    figure.update_yaxes(range=[table.shape[0] - 0.4, -0.6], showgrid=False)
    figure.update_xaxes(mirror=True, showline=True)
    figure.update_yaxes(mirror=True, showline=True)
    one_scale(figure)
    return figure


def _by_groups(table: Any, groups: Any) -> tuple[np.ndarray, list[float]]:
    """Order of rows by their groups, and the places between groups."""
    if table.shape[0] != table.shape[1]:
        raise DataError(f"groups order a square matrix, not one of {table.shape}")
    if isinstance(groups, str):
        if groups != "components":
            raise DataError(f"groups are given for each row, or 'components', not {groups!r}")
        groups = sp.csgraph.connected_components(table.tocsr(), directed=False)[1]
        size = np.bincount(groups)
        # the largest first: it is what one looks for
        groups = np.argsort(np.argsort(-size, kind="stable"))[groups]
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    if len(codes) != table.shape[0]:
        raise DataError(f"there are {table.shape[0]} rows and {len(codes)} groups")
    ends = np.cumsum(np.bincount(codes))[:-1]
    return np.argsort(codes, kind="stable"), [float(end) - 0.5 for end in ends]


def _entries(figure: go.Figure, rows, columns, names, n: int) -> None:
    figure.add_scattergl(
        x=columns,
        y=rows,
        mode="markers",
        marker={"color": color(0), "symbol": "square", "size": float(np.clip(480 / n, 1.5, 14))},
        text=[f"{label(names[i])} → {label(names[j])}" for i, j in zip(rows, columns, strict=True)],
        hovertemplate="%{text}<extra></extra>",
        name="entries",
    )


def _blocks(figure: go.Figure, rows, columns, shape) -> str:
    side = -(-max(shape) // 500)
    counts = sp.coo_array((np.ones(len(rows)), (rows // side, columns // side)))
    figure.add_heatmap(
        z=counts.toarray() / side**2,
        x0=(side - 1) / 2,
        dx=side,
        y0=(side - 1) / 2,
        dy=side,
        colorscale="Blues",
        zmin=0,
        colorbar={"title": {"text": "share<br>filled"}, "thickness": 12},
        name="entries",
    )
    return f"; colours: share filled in blocks of {side} × {side}"


def vector_sum(vectors: Any, *, theme: str = "light") -> go.Figure:
    """Vectors of the plane laid end to end, and their sum.

    Texts: 003 5.1.

    Parameters
    ----------
    vectors : array-like of shape (k, 2)
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> vector_sum([[1, 2], [3, 0]]).layout.annotations[-2].x
    4.0
    """
    steps = np.asarray(vectors, dtype=float)
    if steps.ndim != 2 or steps.shape[1] != 2:
        raise DataError(f"vectors of the plane have two numbers each, not shape {steps.shape}")
    ends = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    figure = go.Figure()
    for k, step in enumerate(steps):
        arrow(figure, ends[k], ends[k + 1], color(k), width=3)
        _beside(figure, ends[k], ends[k + 1], f"({step[0]:g}, {step[1]:g})", look(theme).ink)
    arrow(figure, ends[0], ends[-1], look(theme).strong, width=4)
    total = f"<b>({ends[-1, 0]:g}, {ends[-1, 1]:g})</b>"
    _beside(figure, ends[0], ends[-1], total, look(theme).ink, -1)
    return _plane(figure, ends, "Vectors end to end", "the thick arrow is the sum", theme)


def _beside(figure, start, end, text: str, tint: str, side: float = 1.0) -> None:
    """A word beside the middle of an arrow."""
    way = np.asarray(end) - start
    across = side * np.array([-way[1], way[0]]) / max(float(np.linalg.norm(way)), 1e-300)
    written(
        figure,
        (np.asarray(start) + end) / 2,
        text,
        tint,
        xshift=36 * across[0],
        yshift=18 * across[1],
    )


def _plane(figure: go.Figure, places: np.ndarray, title: str, note: str, theme: str) -> go.Figure:
    """Axes of one scale with room around the places; arrows alone would leave them at random."""
    low, high = places.min(axis=0), places.max(axis=0)
    room = 0.12 * max(float((high - low).max()), 1e-9)
    figure.add_scatter(
        x=places[:, 0],
        y=places[:, 1],
        mode="markers",
        marker={"size": 5, "color": look(theme).ink},
        showlegend=False,
        name="ends",
    )
    dress(figure, title, theme, note=note, **legend_below(bottom=70))
    figure.update_xaxes(range=[low[0] - room, high[0] + room], zeroline=True)
    figure.update_yaxes(range=[low[1] - room, high[1] + room], zeroline=True)
    figure.update_xaxes(zerolinecolor=look(theme).faint)
    figure.update_yaxes(zerolinecolor=look(theme).faint)
    one_scale(figure)
    return figure


def change_of_basis(basis: Any, vector: Any, *, theme: str = "light") -> go.Figure:
    """One vector in the usual coordinates and in those of another basis, with that basis' grid.

    Texts: 002 "Change of basis".

    Parameters
    ----------
    basis : array-like of shape (2, 2)
        Basis vectors as columns.
    vector : array-like of shape (2,)
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> "(2, 1)" in change_of_basis([[1, 1], [0, 1]], [3, 1]).layout.title.text
    True
    """
    columns, given = np.asarray(basis, dtype=float), np.asarray(vector, dtype=float)
    if columns.shape != (2, 2) or abs(np.linalg.det(columns)) < 1e-12 * np.abs(columns).max() ** 2:
        raise DataError("a basis of the plane has two columns that do not lie on one line")
    inner = np.linalg.solve(columns, given)
    reach = int(np.ceil(np.abs(inner).max())) + 1
    figure = go.Figure()
    ticks = np.arange(-reach, reach + 1)
    for j in (0, 1):
        one, other = columns[:, j], columns[:, 1 - j]
        ends = ticks[:, None] * other, ticks[:, None] * other
        lines = np.stack(
            [ends[0] - reach * one, ends[1] + reach * one, np.full_like(ends[0], np.nan)]
        )
        figure.add_scatter(
            x=lines[:, :, 0].T.ravel(),
            y=lines[:, :, 1].T.ravel(),
            mode="lines",
            line={"color": look(theme).faint, "width": 0.7, "dash": "dot"},
            showlegend=False,
            hoverinfo="skip",
        )
    corner = inner[0] * columns[:, 0]
    parts = [(np.zeros(2), corner, f"{inner[0]:.3g} b₁", color(2)),
             (corner, given, f"{inner[1]:.3g} b₂", color(2)),
             (np.zeros(2), columns[:, 0], "", color(0)),
             (np.zeros(2), columns[:, 1], "", color(0))]  # fmt: skip
    for start, end, text, tint in parts:
        arrow(figure, start, end, tint, width=2.5)
        if text:
            _beside(figure, start, end, text, look(theme).ink, -1)
    for k in (0, 1):
        written(figure, columns[:, k], f"<b>b{'₁₂'[k]}</b>", look(theme).ink, xshift=-16, yshift=12)
    arrow(figure, np.zeros(2), given, look(theme).strong, width=4)
    note = f"({given[0]:g}, {given[1]:g}) is ({inner[0]:.3g}, {inner[1]:.3g}) in the basis b"
    places = np.array([np.zeros(2), given, corner, columns[:, 0], columns[:, 1]])
    return _plane(figure, places, "One vector, two bases", note, theme)


def matrix_product(A: Any, B: Any, *, theme: str = "light") -> go.Figure:
    """How a product is laid out: B above, A at the left, each entry of AB where they cross.

    Hovering over an entry shows the sum that it is. Texts: 003 5.1.

    Parameters
    ----------
    A : array-like of shape (n, k)
    B : array-like of shape (k, m)
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = matrix_product([[1, 2]], [[3], [4]])
    >>> figure.data[-1].text
    ('11',)
    """
    left, right = np.atleast_2d(np.asarray(A, float)), np.atleast_2d(np.asarray(B, float))
    if left.shape[1] != right.shape[0]:
        raise DataError(
            f"a table of {left.shape[1]} columns multiplies one of as many rows, not "
            f"{right.shape[0]}"
        )
    k = left.shape[1]
    figure = go.Figure()
    blocks = [
        ("A", left, 0, k + 1, color(0)),
        ("B", right, k + 1, 0, color(2)),
        ("AB", left @ right, k + 1, k + 1, look(theme).strong),
    ]
    for name, table, across, down, tint in blocks:
        n, m = table.shape
        figure.add_shape(
            type="rect", x0=across - 0.5, x1=across + m - 0.5, y0=down - 0.5, y1=down + n - 0.5,
            line={"color": tint, "width": 2.5},
        )  # fmt: skip
        sums = None
        if name == "AB":
            sums = [
                " + ".join(f"{left[i, t]:g}·{right[t, j]:g}" for t in range(k))
                for i in range(n)
                for j in range(m)
            ]
        figure.add_scatter(
            x=np.tile(np.arange(m), n) + across,
            y=np.repeat(np.arange(n), m) + down,
            mode="text",
            text=[f"{value:.4g}" for value in table.ravel()],
            textfont={"color": look(theme).ink, "size": 17},
            hovertext=sums,
            hoverinfo="text" if sums else "skip",
            name=name,
            showlegend=False,
        )
        written(figure, (across + (m - 1) / 2, down - 0.5), f"<b>{name}</b>", tint, yshift=14)
    n, m = left.shape[0], right.shape[1]
    note = f"{n} × {k} times {k} × {m} is {n} × {m}; an entry is its row of A times its column of B"
    dress(figure, "Layout of a product", theme, note=note)
    figure.update_xaxes(visible=False, range=[-0.8, k + m + 0.8])
    figure.update_yaxes(visible=False, range=[k + n + 0.8, -1.2])
    one_scale(figure)
    return figure


def repeated_application(
    matrix: Any, vector: Any, n: int = 6, *, theme: str = "light"
) -> go.Figure:
    """A vector multiplied by a matrix again and again: its direction turns to an eigenvector.

    Texts: 002 "Eigenvalues".

    Parameters
    ----------
    matrix : array-like of shape (2, 2)
    vector : array-like of shape (2,)
    n : int, default=6
        Times.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        Lines of real eigenvectors are dashed.

    Examples
    --------
    >>> repeated_application([[2, 0], [0, 1]], [1, 1], 3).data[-1].x.tolist()
    [0.0, 1.0, 2.0, 4.0, 8.0]
    """
    table = np.asarray(matrix, dtype=float)
    path = [np.asarray(vector, dtype=float)]
    if table.shape != (2, 2) or path[0].shape != (2,):
        raise DataError("this picture has a 2 x 2 matrix and a vector of two numbers")
    for _ in range(n):
        path.append(table @ path[-1])
    places = np.vstack([np.zeros(2), *path])
    figure = go.Figure()
    values, vectors = np.linalg.eig(table)
    size = float(np.linalg.norm(places, axis=1).max())
    for k, value in enumerate(values):
        if abs(value.imag) < 1e-12:
            way = size * vectors[:, k].real
            figure.add_scatter(
                x=[-way[0], way[0]],
                y=[-way[1], way[1]],
                mode="lines",
                line={"color": color(k + 1), "dash": "dash", "width": 1.5},
                name=f"eigenvalue {value.real:.3g}",
            )
    for k, end in enumerate(path):
        strong = k == len(path) - 1
        tint = look(theme).strong if strong else color(0)
        arrow(figure, (0, 0), end, tint, width=3 if strong else 1.8)
    _plane(figure, places, "A matrix applied again and again", f"{n} times", theme)
    shown = [k for k in range(n + 1) if k in (0, n) or _apart(path[k], path[k - 1], size)]
    for k in shown:
        text = "v" if k == 0 else "Av" if k == 1 else f"A<sup>{k}</sup>v"
        written(figure, path[k], text, look(theme).ink, xshift=14, yshift=12)
    return figure.update_layout(**legend_below())


def _apart(one: np.ndarray, other: np.ndarray, size: float) -> bool:
    return float(np.linalg.norm(one - other)) > 0.08 * size
