"""Pictures of graphs of rows: geodesic paths, boundaries in low density, small subgraphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy.sparse.csgraph import dijkstra

from gnomon.density import KernelDensity
from gnomon.engine.errors import DataError
from gnomon.neighbors import NearestNeighbors
from gnomon.show.labels import label
from gnomon.show.points import SYMBOLS
from gnomon.show.theme import color, dress, faded, legend_below, look

MOST_SUBGRAPHS = 60  # judgement: more panels are too small to read


def _known(labels: Any, n: int) -> np.ndarray:
    """Names of classes, empty where a row has none: None, NaN or -1."""
    if labels is None:
        return np.full(n, "", dtype=object)
    given = np.asarray(labels, dtype=object)
    if len(given) != n:
        raise DataError(f"there are {n} rows and {len(given)} labels")
    return np.array(
        ["" if each is None or each != each or each == -1 else str(each) for each in given],
        dtype=object,
    )


def geodesic_path(
    X: Any,
    start: int,
    end: int,
    labels: Any = None,
    *,
    n_neighbors: int = 8,
    theme: str = "light",
) -> go.Figure:
    """The shortest way between two rows along the graph of neighbours, and the straight way.

    On a curved manifold the straight way leaves the data: rows near in space can be far along it.
    Texts: 004 17.2.

    Parameters
    ----------
    X : array-like of shape (n, 2) or (n, 3)
    start, end : int
        Two rows.
    labels : array-like of shape (n,), default=None
        Classes; None, NaN or -1 for rows without one.
    n_neighbors : int, default=8
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = geodesic_path([[0, 0], [0, 1], [1, 1], [1, 0]], 0, 3, n_neighbors=1)
    >>> figure.data[-2].name
    'along the graph: 1'
    """
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3):
        raise DataError(f"this picture has two or three columns, not shape {rows.shape}")
    links = NearestNeighbors(n_neighbors=n_neighbors).fit(rows).kneighbors_graph(mode="distance")
    lengths, before = dijkstra(links, directed=False, indices=start, return_predecessors=True)
    if not np.isfinite(lengths[end]):
        raise DataError(
            f"no way leads from row {start} to row {end}; link more than {n_neighbors} neighbours"
        )
    way = [int(end)]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    way.reverse()
    coo = links.tocoo()
    figure = go.Figure()
    edges = np.stack([rows[coo.row], rows[coo.col], np.full_like(rows[coo.row], np.nan)], axis=1)
    # lines in space are drawn without their opacity
    thin = faded("#8C8C8C", 0.35) if rows.shape[1] == 2 else look(theme).grid
    line = {"color": thin, "width": 1}
    _draw(figure, edges.reshape(-1, rows.shape[1]), mode="lines", line=line,
          name="neighbors", showlegend=False, hoverinfo="skip")  # fmt: skip
    _labeled(figure, rows, _known(labels, len(rows)), theme)
    straight = float(np.linalg.norm(rows[start] - rows[end]))
    _draw(figure, rows[way], mode="lines+markers", marker={"size": 5},
          line={"color": look(theme).strong, "width": 5},
          name=f"along the graph: {lengths[end]:.3g}")  # fmt: skip
    _draw(figure, rows[[start, end]], mode="lines", name=f"straight: {straight:.3g}",
          line={"color": look(theme).ink, "width": 3, "dash": "dash"})  # fmt: skip
    note = f"{len(way) - 1} steps, each to one of the {n_neighbors} nearest; "
    note += f"{lengths[end] / max(straight, 1e-300):.2f} times as long as the straight way"
    dress(figure, "Shortest way along the data", theme, note=note, height=620, **legend_below())
    if rows.shape[1] == 3:
        side = {"backgroundcolor": look(theme).paper, "gridcolor": look(theme).grid}
        scene = {f"{each}axis": side for each in "xyz"}
        return figure.update_layout(scene=scene | {"aspectmode": "data"})
    figure.update_xaxes(title="x1")
    figure.update_yaxes(title="x2", scaleanchor="x", constrain="domain")
    return figure


def _draw(figure: go.Figure, places: np.ndarray, **more: Any) -> None:
    """A trace in the plane or in space, by the number of coordinates."""
    kind = go.Scatter if places.shape[1] == 2 else go.Scatter3d
    figure.add_trace(kind(**dict(zip("xyz", places.T, strict=False)), **more))


def _labeled(figure: go.Figure, rows: np.ndarray, names: np.ndarray, theme: str) -> None:
    flat = rows.shape[1] == 2
    free = names == ""
    size = 7 if flat else 3
    if free.any():
        marker = {"color": look(theme).faint, "size": size, "opacity": 0.6}
        _draw(figure, rows[free], mode="markers", marker=marker,
              name="without label" if not free.all() else "rows")  # fmt: skip
    for k, each in enumerate(np.unique(names[~free].astype(str))):
        symbol = SYMBOLS[k % 8] if flat else "circle"
        marker = {
            "color": color(k),
            "symbol": symbol,
            "size": 1.8 * size,
            "line": {"color": look(theme).ink, "width": 1},
        }
        _draw(figure, rows[names == each], mode="markers", marker=marker, name=label(each))


def low_density_boundary(
    X: Any,
    labels: Any,
    lines: Mapping[str, tuple[Any, float]],
    *,
    theme: str = "light",
) -> go.Figure:
    """Lines that part the few labelled rows alike, over the density of all: the valley is better.

    Texts: 004 17.1 (boundary A against B).

    Parameters
    ----------
    X : array-like of shape (n, 2)
    labels : array-like of shape (n,)
        Classes; None, NaN or -1 for rows without one.
    lines : mapping from names to (w, b)
        Boundaries w'x + b = 0.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        A line's mean density, over the part inside the picture, stands in its legend.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.r_[np.random.default_rng(0).normal(size=(40, 2)), [[9, 9]]]
    >>> figure = low_density_boundary(X, [-1] * 40 + [1], {"A": ([1, 0], -5)})
    >>> figure.data[-1].name.split(":")[0]
    'A'
    """
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise DataError(f"this picture has two columns, not shape {rows.shape}")
    low, high = rows.min(axis=0), rows.max(axis=0)
    low, high = low - 0.08 * (high - low), high + 0.08 * (high - low)
    law = KernelDensity(bandwidth="silverman-scaled").fit(rows)
    x, y = (np.linspace(low[k], high[k], 80) for k in (0, 1))
    cells = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    figure = go.Figure()
    figure.add_contour(
        x=x,
        y=y,
        z=np.exp(law.score_samples(cells)).reshape(80, 80),
        colorscale=[[0, faded(color(5), 0.0)], [1, faded(color(5), 0.75)]],
        line={"width": 0.5, "color": look(theme).grid},
        showscale=False,
        hoverinfo="skip",
        name="density",
    )
    _labeled(figure, rows, _known(labels, len(rows)), theme)
    means = {}
    for k, (name, (w, b)) in enumerate(lines.items()):
        places = _inside(np.asarray(w, dtype=float), float(b), low, high)
        means[name] = float(np.exp(law.score_samples(places)).mean())
        figure.add_scatter(
            x=places[[0, -1], 0],
            y=places[[0, -1], 1],
            mode="lines",
            line={"color": [look(theme).strong, look(theme).ink][k % 2], "width": 3,
                  "dash": ["solid", "dash", "dot", "dashdot"][k % 4]},
            name=f"{label(name)}: mean density {means[name]:.2g}",
        )  # fmt: skip
    best = min(means, key=means.__getitem__)
    note = f"{label(best)} runs through the lowest density of rows, with and without labels"
    dress(figure, "Boundaries and the density of all rows", theme, note=note, **legend_below())
    figure.update_xaxes(title="x1", range=[low[0], high[0]], showgrid=False)
    figure.update_yaxes(title="x2", range=[low[1], high[1]], showgrid=False)
    return figure


def _inside(w: np.ndarray, b: float, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Places of the line w'x + b = 0 inside a rectangle, evenly spaced."""
    length = float(w @ w)
    if length == 0:
        raise DataError("a boundary w'x + b = 0 needs a w other than 0")
    along = np.array([-w[1], w[0]]) / np.sqrt(length)
    size = float(np.linalg.norm(high - low))
    middle = (low + high) / 2
    foot = middle - (w @ middle + b) / length * w
    places = foot + np.linspace(-size, size, 2001)[:, None] * along
    seen = ((places >= low) & (places <= high)).all(axis=1)
    if not seen.any():
        raise DataError("a boundary does not meet the rectangle of the rows")
    return places[seen]


def subgraphs(net: Any, places: Any, size: int = 3, *, theme: str = "light") -> go.Figure:
    """All subsets of so many nodes that hang together, each drawn over the faded graph.

    Texts: 002 "Graphs".

    Parameters
    ----------
    net : Graph
        From `gnomon.reduce.graph` and its kin.
    places : array-like of shape (n_nodes, 2), or an object with ``places``
    size : int, default=3
        Nodes of a subset; more than 60 subsets are refused.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        A panel for each, named by its nodes.

    Examples
    --------
    >>> from gnomon.reduce import graph
    >>> figure = subgraphs(graph([[0, 1], [1, 2], [2, 3]]), [[0, 0], [1, 0], [2, 0], [3, 0]])
    >>> [note.text for note in figure.layout.annotations]
    ['0 1 2', '1 2 3']
    """
    at = np.asarray(getattr(places, "places", places), dtype=float)
    found = connected_subsets(net, size)
    if not 0 < len(found) <= MOST_SUBGRAPHS:
        raise DataError(
            f"{len(found)} subgraphs of {size} nodes cannot be drawn; 1 to {MOST_SUBGRAPHS} can"
        )
    wide = min(len(found), 6)
    lines = -(-len(found) // wide)
    titles = [" ".join(str(net.names[k]) for k in each) for each in found]
    figure = make_subplots(lines, wide, subplot_titles=titles, vertical_spacing=0.25 / lines)
    for number, each in enumerate(found):
        place = {"row": number // wide + 1, "col": number % wide + 1}
        kept = np.isin(net.edges, each).all(axis=1)
        for mine, tint, width in (
            (~kept, look(theme).faint, 0.7),
            (kept, look(theme).strong, 3.0),
        ):
            ends = at[net.edges[mine]]
            gap = np.full((len(ends), 1), np.nan)
            figure.add_scatter(
                x=np.hstack([ends[:, :, 0], gap]).ravel(),
                y=np.hstack([ends[:, :, 1], gap]).ravel(),
                mode="lines",
                line={"color": tint, "width": width},
                hoverinfo="skip",
                **place,
            )
        inside = np.isin(np.arange(net.n_nodes), each)
        figure.add_scatter(
            x=at[:, 0],
            y=at[:, 1],
            mode="markers",
            marker={
                "size": np.where(inside, 10, 6),
                "color": np.where(inside, look(theme).strong, look(theme).faint),
            },
            text=[str(name) for name in net.names],
            hovertemplate="%{text}<extra></extra>",
            **place,
        )
    note = f"{len(found)} of them hang together"
    dress(figure, f"Subgraphs of {size} nodes", theme, note=note, showlegend=False,
          height=150 + 160 * lines, margin={"l": 20, "r": 20, "t": 120, "b": 20})  # fmt: skip
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return figure


def connected_subsets(net: Any, size: int) -> list[tuple[int, ...]]:
    """All subsets of so many nodes that hang together, in order of their numbers.

    Every one is a smaller one and a neighbour of it.
    """
    near: list[set[int]] = [set() for _ in range(net.n_nodes)]
    for i, j in net.edges:
        near[i].add(int(j))
        near[j].add(int(i))
    now = {(node,) for node in range(net.n_nodes)}
    for _ in range(size - 1):
        now = {
            tuple(sorted((*part, other)))
            for part in now
            for other in set().union(*(near[k] for k in part)) - set(part)
        }
        if len(now) > 100_000:
            raise DataError("the graph has too many subgraphs of this size to list them")
    return sorted(now)
