"""Pictures of graphical models: belief networks with their tables, fields and their links.

Every function gives a Plotly figure, made from the public attributes of models.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gnomon.engine.errors import DataError
from gnomon.graphical import PairwiseModel, markov_blanket, topological_order
from gnomon.graphical.dag import children_of
from gnomon.show.theme import Theme, color, dress, legend_below, look

NODE_SIZE = 46  # judgement: pixels that hold five letters
ROWS_SHOWN = 8  # judgement: rows of a probability table beside a node
LABEL_INSIDE = 5  # letters that fit in a node
MOST_NODES = 400  # judgement: more nodes touch each other

Places = dict[Any, tuple[float, float]]


def belief_network(
    network,
    *,
    tables: bool = True,
    blanket: str | None = None,
    observed: Iterable[str] = (),
    plates: Mapping[str, tuple[Sequence[str], int]] | None = None,
    title: str | None = None,
    theme: str = "light",
) -> go.Figure:
    """A belief network: parents above children, tables beside nodes, plates, a Markov blanket.

    Texts: 002 (directed graphical models) · 003 3.4 (networks, plates, Markov blanket).

    Parameters
    ----------
    network : BeliefNetwork, GaussianNetwork or gnomon.sample.Network
    tables : bool, default=True
        Whether conditional tables stand beside the nodes; rows beyond the eighth are counted.
    blanket : str, default=None
        A node whose Markov blanket is coloured.
    observed : iterable of str, default=()
        Nodes to shade.
    plates : mapping of str to (names, count), default=None
        Frames around nodes that stand for many copies.
    title : str, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.graphical import BeliefNetwork
    >>> net = BeliefNetwork({"rain": "yn", "wet": "yn"}, {"wet": ["rain"]},
    ...                     {"rain": [0.2, 0.8], "wet": [[0.9, 0.1], [0.2, 0.8]]})
    >>> len(belief_network(net).data)
    1
    """
    parents = _parents(network)
    around = markov_blanket(parents, blanket) if blanket is not None else set()
    places = layered_places(parents)
    colors = look(theme)
    figure = go.Figure()
    _frames(figure, places, plates or {}, colors)
    links = [(parent, name) for name, each in parents.items() for parent in each]
    _arrows(figure, places, links, colors)
    held = set(observed)
    _refuse_unknown(held, places)
    others = set(places) - around - {blanket}
    groups = (
        {"node": others}
        if blanket is None
        else {
            blanket: {blanket},
            f"Markov blanket of {blanket}": around,
            "other nodes": others,
        }
    )
    for k, (name, members) in enumerate(groups.items()):
        paint = color((1, 4, 0)[k]) if blanket is not None else color(0)
        _nodes(figure, places, sorted(members, key=str), held, paint, name, colors)
    if tables and hasattr(network, "tables"):
        for name, place in places.items():
            _table_beside(figure, place, _table_lines(network, name), colors)
    note = f"{len(parents)} nodes, {len(links)} links"
    note += "; shaded nodes are observed" if held else ""
    return _dressed(figure, places, title or "Belief network", note, theme, blanket is not None)


def graphical_model(
    model,
    *,
    shape: tuple[int, int] | None = None,
    observed: Iterable = (),
    names: Sequence[str] | None = None,
    positions: Mapping | None = None,
    title: str | None = None,
    theme: str = "light",
) -> go.Figure:
    """Nodes and links of a graphical model; observed nodes are shaded.

    Lines for pairwise models (fields, chains, grids), arrows for networks and directed graphs.

    Texts: 000 14.1.2, 15.1 (shaded observations, grids) · 001 15.2 (dependency graph) · 002.

    Parameters
    ----------
    model : PairwiseModel, belief network, or mapping of names to their parents
    shape : pair of int, default=None
        Height and width, where a pairwise model is a grid, row by row.
    observed : iterable, default=()
        Nodes to shade: numbers of variables, or names.
    names : sequence of str, default=None
        Labels of the variables of a pairwise model.
    positions : mapping of node to (x, y), default=None
        Where nodes stand; a line for chains, layers for trees and networks, a circle otherwise.
    title : str, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.graphical import potts_model
    >>> len(graphical_model(potts_model((2, 3), 1.0), shape=(2, 3)).data)
    2
    """
    directed = not isinstance(model, PairwiseModel)
    colors = look(theme)
    if directed:
        parents = dict(model) if isinstance(model, Mapping) else _parents(model)
        places = layered_places(parents)
        links = [(parent, name) for name, each in parents.items() for parent in each]
        labels = {name: str(name) for name in places}
    else:
        links = [(int(i), int(j)) for i, j in model.edges]
        places = _field_places(model, shape)
        labels = {i: str(names[i]) if names is not None else f"x{i}" for i in places}
    places |= {node: tuple(place) for node, place in (positions or {}).items()}
    held = set(observed)
    _refuse_unknown(held, places)
    figure = go.Figure()
    if directed:
        _arrows(figure, places, links, colors)
    else:
        _lines(figure, places, links, colors)
    free = [node for node in places if node not in held]
    for members, name in ((free, "unknown"), ([n for n in places if n in held], "observed")):
        if members:
            _nodes(figure, places, members, held, color(0), name, colors, labels)
    note = f"{len(places)} variables, {len(links)} links"
    kind = "Directed graphical model" if directed else "Markov random field"
    return _dressed(figure, places, title or kind, note, theme, bool(held))


def layered_places(parents: Mapping[str, Sequence[str]]) -> Places:
    """Places of the nodes of a directed graph: each below all its parents, few crossings.

    Parameters
    ----------
    parents : mapping of str to sequence of str

    Returns
    -------
    places : dict of str to (x, y)

    Examples
    --------
    >>> layered_places({"a": (), "b": ("a",)})
    {'a': (0.0, 0.0), 'b': (0.0, -1.0)}
    """
    order = topological_order(parents)
    if len(order) > MOST_NODES:
        raise DataError(f"{len(order)} nodes are too many for a drawing; {MOST_NODES} are possible")
    depth: dict[str, int] = {}
    for name in order:
        depth[name] = max((depth[parent] + 1 for parent in parents[name]), default=0)
    children = children_of(parents)
    for name in reversed(order):
        # roots stand just above their first child, so that links stay short
        if not parents[name] and children[name]:
            depth[name] = min(depth[child] for child in children[name]) - 1
    above, below, layers = _with_passers(parents, depth)
    across = {node: float(i) for layer in layers for i, node in enumerate(layer)}
    for sweep in range(8):
        near = above if sweep % 2 == 0 else below
        for layer in layers if sweep % 2 == 0 else layers[::-1]:
            layer.sort(key=lambda node: _mean([across[each] for each in near[node]], across[node]))
            for i, node in enumerate(layer):
                across[node] = i - (len(layer) - 1) / 2
    return {name: (across[name], 0.0 - depth[name]) for name in parents}


def _with_passers(parents: Mapping, depth: Mapping) -> tuple[dict, dict, list[list]]:
    """Neighbours above and below, and layers, with a place kept for links that pass a layer."""
    above: dict[Any, list] = {name: [] for name in parents}
    below: dict[Any, list] = {name: [] for name in parents}
    layers: list[list] = [[] for _ in range(max(depth.values()) + 1)]
    for name in parents:
        layers[depth[name]].append(name)
    for name, each in parents.items():
        for parent in each:
            last = parent
            for level in range(depth[parent] + 1, depth[name]):
                passer = (parent, name, level)
                above[passer], below[passer] = [last], []
                below[last].append(passer)
                layers[level].append(passer)
                last = passer
            above[name].append(last)
            below[last].append(name)
    return above, below, layers


def _mean(values: Sequence[float], otherwise: float) -> float:
    return float(np.mean(values)) if len(values) else otherwise


def _parents(network) -> dict[str, tuple[str, ...]]:
    if hasattr(network, "parents"):
        return dict(network.parents)
    if hasattr(network, "nodes"):
        return {node.name: tuple(node.parents) for node in network.nodes}
    raise DataError(f"{type(network).__name__} is no network that can be drawn")


def _refuse_unknown(nodes: set, places: Places) -> None:
    strange = [node for node in nodes if node not in places]
    if strange:
        raise DataError(f"there is no node {strange[0]!r} to shade")


def _field_places(model: PairwiseModel, shape: tuple[int, int] | None) -> Places:
    n = model.n_variables
    if n > MOST_NODES:
        raise DataError(f"{n} variables are too many for a drawing; {MOST_NODES} are possible")
    if shape is not None:
        if shape[0] * shape[1] != n:
            raise DataError(f"a grid of {shape} does not have {n} variables")
        return {i: (float(i % shape[1]), -float(i // shape[1])) for i in range(n)}
    degree = np.bincount(model.edges.ravel(), minlength=n)
    if model.is_forest and len(model.edges) == n - 1 and degree.max(initial=0) <= 2:
        return {i: (float(k), 0.0) for k, i in enumerate(_along_chain(model, degree))}
    if model.is_forest:
        return layered_places_of_forest(model)
    angles = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    radius = max(1.0, n / 6)
    return {i: (float(radius * np.cos(a)), float(radius * np.sin(a))) for i, a in enumerate(angles)}


def _along_chain(model: PairwiseModel, degree: np.ndarray) -> list[int]:
    around: dict[int, list[int]] = {i: [] for i in range(model.n_variables)}
    for i, j in model.edges.tolist():
        around[i].append(j)
        around[j].append(i)
    path = [int(degree.argmin())]
    while len(path) < model.n_variables:
        path.append(next(j for j in around[path[-1]] if j not in path[-2:]))
    return path


def layered_places_of_forest(model: PairwiseModel) -> Places:
    """Places of the variables of a forest, each below the one that leads to it."""
    around: dict[int, list[int]] = {i: [] for i in range(model.n_variables)}
    for i, j in model.edges.tolist():
        around[i].append(j)
        around[j].append(i)
    parents: dict[Any, tuple] = {}
    for root in sorted(around, key=lambda i: -len(around[i])):
        waiting = [] if root in parents else [(root, ())]
        while waiting:
            i, above = waiting.pop(0)
            parents[i] = above
            waiting += [(j, (i,)) for j in around[i] if j not in parents]
    return layered_places(parents)


def _lines(figure: go.Figure, places: Places, links: Sequence[tuple], colors: Theme) -> None:
    x: list[float | None] = []
    y: list[float | None] = []
    for first, second in links:
        x += [places[first][0], places[second][0], None]
        y += [places[first][1], places[second][1], None]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=y,
            mode="lines",
            line={"color": colors.faint, "width": 2},
            hoverinfo="skip",
            showlegend=False,
        )
    )


def _arrows(figure: go.Figure, places: Places, links: Sequence[tuple], colors: Theme) -> None:
    for parent, child in links:
        figure.add_annotation(
            x=places[child][0],
            y=places[child][1],
            ax=places[parent][0],
            ay=places[parent][1],
            xref="x",
            yref="y",
            axref="x",
            ayref="y",
            text="",
            arrowhead=2,
            arrowsize=1.2,
            arrowwidth=1.6,
            arrowcolor=colors.faint,
            standoff=node_size(places) / 2 + 2,
            startstandoff=node_size(places) / 2,
        )


def _nodes(
    figure: go.Figure,
    places: Places,
    members: Sequence,
    held: set,
    paint: str,
    legend: str,
    colors: Theme,
    labels: Mapping | None = None,
) -> None:
    said = [str(labels[node]) if labels else str(node) for node in members]
    size = node_size(places)
    inside = _labels_inside(places, labels)
    figure.add_trace(
        go.Scatter(
            x=[places[node][0] for node in members],
            y=[places[node][1] for node in members],
            mode="markers+text" if inside else "markers",
            text=said if inside else None,
            textfont={"size": font_size(places), "color": colors.ink},
            marker={
                "size": size,
                "color": [
                    mixed(paint, colors.paper, 0.5) if node in held else colors.paper
                    for node in members
                ],
                "line": {"color": paint, "width": 2.5},
                "opacity": 1,
            },
            name=legend,
            hovertext=said,
            hoverinfo="text",
        )
    )
    if not inside:
        for node, name in zip(members, said):
            _name_below(figure, places, node, name, colors)


def _labels_inside(places: Places, labels: Mapping | None) -> bool:
    return all(len(str(labels[node] if labels else node)) <= LABEL_INSIDE for node in places)


def _name_below(figure: go.Figure, places: Places, node, name: str, colors: Theme) -> None:
    figure.add_annotation(
        x=places[node][0],
        y=places[node][1],
        text=name,
        showarrow=False,
        yanchor="top",
        yshift=-node_size(places) / 2 - 3,
        font={"size": font_size(places), "color": colors.ink},
        bgcolor=colors.paper,
        borderpad=1,
    )


def node_size(places: Places) -> int:
    """Diameter of nodes in pixels: smaller where there are many."""
    return NODE_SIZE if len(places) <= 30 else 26


def font_size(places: Places) -> int:
    """Size of the nodes' names: smaller where there are many."""
    return 14 if len(places) <= 30 else 10


def mixed(paint: str, paper: str, share: float) -> str:
    """A colour mixed with the background, opaque, so that links do not shine through."""
    parts = [[int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in (paint, paper)]
    return "rgb({},{},{})".format(*(round(share * a + (1 - share) * b) for a, b in zip(*parts)))


def _table_lines(network, name: str) -> list[str]:
    """Rows of a conditional table as text, values of the parents first."""
    parents, table = network.parents[name], network.tables[name]
    widths = [max(len(str(v)), 4) for v in network.levels[name]]
    rows = list(itertools.product(*(network.levels[parent] for parent in parents)))
    given = [", ".join(str(value) for value in row) for row in rows]
    margin = max(len(each) for each in (*given, ", ".join(parents)))
    head = ", ".join(parents).ljust(margin)
    head += "  " + " ".join(str(v).rjust(width) for v, width in zip(network.levels[name], widths))
    lines = [f"<b>{head}</b>"]
    for said, row in zip(given[:ROWS_SHOWN], table.reshape(-1, table.shape[-1])):
        cells = " ".join(f"{p:.2f}".rjust(width) for p, width in zip(row, widths))
        lines.append(f"{said.ljust(margin)}  {cells}")
    if len(rows) > ROWS_SHOWN:
        lines.append(f"... and {len(rows) - ROWS_SHOWN} more rows")
    return [line.replace(" ", "&nbsp;") for line in lines]


def _table_beside(figure: go.Figure, place: tuple, lines: list[str], colors: Theme) -> None:
    figure.add_annotation(
        x=place[0],
        y=place[1],
        text="<br>".join(lines),
        showarrow=False,
        xanchor="left",
        xshift=NODE_SIZE / 2 + 12,
        yanchor="top",
        yshift=8,
        align="left",
        font={"family": "Menlo, Consolas, 'DejaVu Sans Mono', monospace", "size": 11},
        bordercolor=colors.grid,
        borderwidth=1,
        borderpad=4,
        bgcolor=colors.paper,
    )


def _frames(figure: go.Figure, places: Places, plates: Mapping, colors: Theme) -> None:
    for label, (members, count) in plates.items():
        _refuse_unknown(set(members), places)
        x, y = np.array([places[name] for name in members]).T
        figure.add_shape(
            type="rect",
            x0=x.min() - 0.42,
            x1=x.max() + 0.42,
            y0=y.min() - 0.42,
            y1=y.max() + 0.36,
            line={"color": colors.faint, "width": 1.5, "dash": "dot"},
            layer="below",
        )
        figure.add_annotation(
            x=x.max() + 0.4,
            y=y.min() - 0.41,
            text=f"{label} = 1 ... {count}",
            showarrow=False,
            xanchor="right",
            yanchor="bottom",
            font={"size": 12, "color": colors.faint},
        )


def _dressed(
    figure: go.Figure, places: Places, title: str, note: str, theme: str, legend: bool
) -> go.Figure:
    x, y = np.array(list(places.values()), dtype=float).T
    layers = len(np.unique(y))
    dress(figure, title, theme, note=note, showlegend=legend, height=max(450, 95 * layers + 200))
    if legend:
        figure.update_layout(**legend_below(bottom=60))
    figure.update_xaxes(visible=False, range=[x.min() - 0.6, x.max() + 0.9])
    figure.update_yaxes(visible=False, range=[y.min() - 0.6, y.max() + 0.6])
    return figure
