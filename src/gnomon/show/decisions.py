"""Pictures of decisions: utility trees, regions of thresholds, fronts and swept models.

Every function gives a Plotly figure, made from the objects of `gnomon.decide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.decide.pareto import Front
from gnomon.decide.proposals import Proposals
from gnomon.decide.sweeper import Sweep
from gnomon.decide.utility_tree import Chance, Decision, Node, Payment, Regions, UtilityTree
from gnomon.show.theme import SEQUENTIAL, color, dress, error_bars, faded, legend_below, look

MOST_NAMED = 12  # lines that a legend names

LEVEL = 190  # pixels from a node to the next
LINE = 46  # pixels from a leaf to the next
MARKS = {Decision: ("square", 26), Chance: ("circle", 26), Payment: ("diamond", 18)}


class Drawing:
    """Places of the nodes of a tree: leaves below each other, nodes beside the middle of theirs."""

    def __init__(self, tree: UtilityTree, values: dict[str, float]):
        self.tree, self.values = tree, values
        self.places: dict[tuple[str, ...], tuple[float, float, Node]] = {}
        self.edges: list[tuple[tuple[str, ...], tuple[str, ...], str, bool]] = []
        self._next = 0.0
        self._place((), tree.root, 0, followed=True)

    def _place(self, path: tuple[str, ...], node: Node, depth: int, followed: bool) -> float:
        children = node.children()
        if not children:
            height, self._next = self._next, self._next + 1
        else:
            best = self._best(node)
            heights = []
            for key, child in children.items():
                below = (*path, key)
                taken = followed and key in best
                heights.append(self._place(below, child, depth + 1, taken))
                self.edges.append((path, below, self._label(node, key), taken))
            height = (heights[0] + heights[-1]) / 2
        self.places[path] = depth, -height, node
        return height

    def _best(self, node: Node) -> set[str]:
        """The branches that may be followed: the best of a decision, all of others."""
        children = node.children()
        if not isinstance(node, Decision):
            return set(children)
        worth = {key: self.tree.value(child, **self.values) for key, child in children.items()}
        return {max(worth, key=worth.__getitem__)}

    def _label(self, node: Node, key: str) -> str:
        if isinstance(node, Chance):
            return f"{key} ({node.probabilities(self.values)[key]:.3g})"
        if isinstance(node, Payment):
            return f"pay {node.amount.at(self.values):g}"
        return key


def utility_tree(
    tree: UtilityTree, *, title: str | None = None, theme: str = "light", **values: float
) -> go.Figure:
    """A utility tree with the expected utility of every node; branches not taken are grey.

    Squares are decisions, circles are chances, diamonds are payments. Text: 003 3.3.2.

    Parameters
    ----------
    tree : UtilityTree
    title : str, default=None
    theme : {"light", "dark"}, default="light"
    **values : float
        Values of the tree's unknowns.

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon import show
    >>> from gnomon.decide import Chance, Decision, UtilityTree
    >>> play = Chance({"win": (0.1, 5.0), "lose": (None, -1.0)})
    >>> figure = show.utility_tree(UtilityTree(Decision({"play": play, "refuse": 0.0})))
    >>> len(figure.data) > 0
    True
    """
    drawing, colors = Drawing(tree, values), look(theme)
    figure = go.Figure()
    for start, end, label, taken in drawing.edges:
        (x0, y0, _), (x1, y1, _) = drawing.places[start], drawing.places[end]
        line = {"color": color(0) if taken else colors.grid, "width": 3 if taken else 2}
        bend = x0 + 0.3
        figure.add_scatter(
            x=[x0, bend, x1], y=[y0, y1, y1], mode="lines", line=line, hoverinfo="skip"
        )
        figure.add_annotation(
            x=(bend + x1) / 2,
            y=y1,
            text=label,
            showarrow=False,
            yshift=11,
            font={"color": colors.ink if taken else colors.faint, "size": 13},
        )
    for kind in (Decision, Chance, Payment):
        _add_nodes(figure, drawing, kind)
    for path, (x, y, node) in drawing.places.items():
        worth = tree.value(node, **values)
        name = node.name if not node.children() or not path else ""
        figure.add_annotation(
            x=x,
            y=y,
            text=f"<b>{worth:.4g}</b>" + (f" {name}" if name else ""),
            showarrow=False,
            xanchor="left" if not node.children() else "center",
            xshift=8 if not node.children() else 0,
            yshift=0 if not node.children() else -24,
        )
    depth = max(place[0] for place in drawing.places.values())
    leaves = drawing._next
    solution = tree.solve(**values)
    best = f"best: {solution.best}" if solution.best else "no decision at the root"
    note = f"expected utility {solution.value:.5g}; {best}; grey branches are not taken"
    if tree.sunk:
        note += f"; {tree.sunk:g} paid before does not count"
    return dress(
        figure,
        title or "Utility tree",
        theme,
        note=note,
        showlegend=True,
        width=int(LEVEL * (depth + 1) + 160),
        height=int(max(LINE * 1.6 * leaves, 160) + 190),
        xaxis={"visible": False, "range": [-0.25, depth + 0.75]},
        yaxis={"visible": False, "range": [-leaves + 0.4, 0.6]},
        **legend_below(top=90, bottom=60),
    )


def _add_nodes(figure: go.Figure, drawing: Drawing, kind: type) -> None:
    found = [(x, y) for x, y, node in drawing.places.values() if isinstance(node, kind)]
    if not found:
        return
    symbol, size = MARKS[kind]
    x, y = zip(*found)
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers",
        name=kind.__name__.lower(),
        marker={"symbol": symbol, "size": size, "color": color(list(MARKS).index(kind) + 1)},
        hoverinfo="skip",
    )
    for trace in figure.data:
        trace.showlegend = trace.mode == "markers"


def threshold_regions(
    regions: Regions, *, title: str | None = None, theme: str = "light"
) -> go.Figure:
    """Which decision is best, over two unknowns of a utility tree.

    Text: 003 3.3.2.

    Parameters
    ----------
    regions : Regions
        Of `UtilityTree.regions`.
    title : str, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.decide import Chance, Decision, Unknown, UtilityTree
    >>> bet = Chance({"win": (Unknown("p"), Unknown("prize")), "lose": (None, -1.0)})
    >>> tree = UtilityTree(Decision({"bet": bet, "refuse": 0.0}))
    >>> figure = threshold_regions(tree.regions(("p", 0.0, 1.0), ("prize", 0.0, 10.0)))
    """
    n = len(regions.options)
    steps = [(k + edge) / n for k in range(n) for edge in (0, 1)]
    scale = [(step, faded(color(i // 2), 0.55)) for i, step in enumerate(steps)]
    figure = go.Figure(
        go.Heatmap(
            x=regions.x,
            y=regions.y,
            z=regions.codes,
            zmin=-0.5,
            zmax=n - 0.5,
            colorscale=scale,
            showscale=False,
            customdata=np.array(regions.options)[regions.codes],
            hovertemplate="%{x:.3g}, %{y:.3g}: %{customdata}<extra></extra>",
        )
    )
    for k, option in enumerate(regions.options):
        mark = {"symbol": "square", "size": 12, "color": faded(color(k), 0.55)}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=option)
    first, second = regions.unknowns
    return dress(
        figure,
        title or "Best decision",
        theme,
        note=f"by {first} and {second}",
        width=680,
        height=600,
        xaxis={"title": first},
        yaxis={"title": second},
        **legend_below(),
    )


def front(
    front: Front,
    values: Any = None,
    *,
    chosen: int | None = None,
    names: Sequence[str] | None = None,
    theme: str = "light",
) -> go.Figure:
    """A Pareto front: the first two goals as a scatter plot, more goals as parallel coordinates.

    Text: 004 1.2.

    Parameters
    ----------
    front : Front
        Of `pareto_front`.
    values : array-like of shape (n_samples, n_goals), default=None
        All rows, drawn behind the front.
    chosen : int, default=None
        A row that is marked.
    names : sequence of str, default=None
        Names of the rows that the front was found among, written beside its points.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.decide import pareto_front
    >>> values = np.random.default_rng(0).uniform(size=(60, 2))
    >>> figure = front(pareto_front(values, {"yield": "more", "cost": "less"}), values)
    """
    goals = [f"{name} ({want})" for name, want in front.goals.items()]
    what = "rows" if names is None else "proposals"
    note = f"{len(front.rows)} of {front.n_rows} {what} are beaten in all goals by no other"
    called = {row: f"row {row}" if names is None else names[row] for row in front.rows.tolist()}
    if len(goals) > 2:
        return _front_lines(front, goals, note, chosen, called, theme)
    order = front.values[:, 0].argsort()
    figure = go.Figure()
    if values is not None:
        rest = np.asarray(values, dtype=np.float64)
        mark = {"color": look(theme).faint, "size": 6, "opacity": 0.5}
        figure.add_scatter(
            x=rest[:, 0],
            y=rest[:, 1],
            mode="markers",
            marker=mark,
            name="measured rows" if names is not None else "rows",
        )
    figure.add_scatter(
        x=front.values[order, 0],
        y=front.values[order, 1],
        mode="lines+markers" if names is None else "lines+markers+text",
        line={"color": color(0), "shape": "linear", "dash": "dot", "width": 1.5},
        marker={"size": 10, "color": color(0)},
        text=[called[row] for row in front.rows[order].tolist()],
        textposition="top center",
        name="front",
    )
    if chosen is not None:
        place = np.flatnonzero(front.rows == chosen)
        mark = {"size": 18, "symbol": "circle-open", "color": look(theme).strong}
        mark["line"] = {"width": 3}
        figure.add_scatter(
            x=front.values[place, 0],
            y=front.values[place, 1],
            mode="markers",
            marker=mark,
            name=called.get(chosen, f"row {chosen}"),
        )
    return dress(
        figure,
        "Pareto front",
        theme,
        note=note,
        width=780,
        height=560,
        xaxis={"title": goals[0]},
        yaxis={"title": goals[-1] if len(goals) == 2 else ""},
        **legend_below(),
    )


def _front_lines(
    front: Front,
    goals: list[str],
    note: str,
    chosen: int | None,
    called: dict[int, str],
    theme: str,
) -> go.Figure:
    """One line per row of the front over all goals; up is better everywhere."""
    figure = go.Figure()
    good = 1 - front.losses
    for k, (row, line) in enumerate(zip(front.rows.tolist(), good)):
        marked = row == chosen
        figure.add_scatter(
            x=goals,
            y=line,
            mode="lines+markers",
            line={
                "color": look(theme).strong if marked else faded(color(k), 0.6),
                "width": 4 if marked else 1.5,
            },
            text=[f"{v:.4g}" for v in front.values[k]],
            hovertemplate=f"{called[row]}: %{{text}}<extra></extra>",
            name=called[row],
            showlegend=marked or len(called) <= MOST_NAMED,
        )
    return dress(
        figure,
        "Pareto front",
        theme,
        note=f"{note}; each line is a row, up is better in every goal",
        width=max(160 * len(goals), 700),
        height=520,
        yaxis={"title": "0 worst, 1 best on the front"},
    )


def sweeper(sweep: Sweep, *, title: str | None = None, theme: str = "light") -> go.Figure:
    """What a model predicts over one or two of its inputs; grey where there are no data.

    Text: 004 9.1 (Fig. 9.4).

    Parameters
    ----------
    sweep : Sweep
        Of `gnomon.decide.sweep`.
    title : str, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2))
    >>> y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=80) > 0, "yes", "no")
    >>> from gnomon.decide import sweep
    >>> from gnomon.linear import LinearRegression
    >>> model = LinearRegression().fit(X, X[:, 0] - X[:, 1])
    >>> figure = sweeper(sweep(model, X, (0, 1), n_points=20))
    """
    fixed = ", ".join(written(sweep.fixed)[:6])
    more = f" and {len(sweep.fixed) - 6} more" if len(sweep.fixed) > 6 else ""
    note = f"fixed: {fixed}{more}" if fixed else ""
    labels = [places.tolist() for places in sweep.places]
    figure = go.Figure()
    if len(sweep.names) == 1:
        inside = np.where(sweep.supported, sweep.values, np.nan)
        faint = {"color": look(theme).faint, "dash": "dot"}
        figure.add_scatter(x=labels[0], y=sweep.values, line=faint, name="no data near it")
        figure.add_scatter(x=labels[0], y=inside, line={"color": color(0), "width": 4}, name="data")
        axes = {"xaxis": {"title": sweep.names[0]}, "yaxis": {"title": sweep.label}}
    else:
        hidden = np.where(sweep.supported, np.nan, 1.0)
        figure.add_heatmap(
            x=labels[0],
            y=labels[1],
            z=sweep.values,
            colorscale=SEQUENTIAL,
            colorbar={"title": {"text": sweep.label, "side": "right"}},
        )
        cover = look(theme).grid
        figure.add_heatmap(
            x=labels[0],
            y=labels[1],
            z=hidden,
            colorscale=[[0, cover], [1, cover]],
            showscale=False,
            opacity=0.88,
            hovertemplate="no data near it<extra></extra>",
        )
        axes = {"xaxis": {"title": sweep.names[0]}, "yaxis": {"title": sweep.names[1]}}
        note = f"grey: no data near it. {note}"
    return dress(
        figure,
        title or f"{sweep.label[:1].upper()}{sweep.label[1:]} over {' and '.join(sweep.names)}",
        theme,
        note=note,
        width=780,
        height=560,
        **axes,
        **(legend_below() if len(sweep.names) == 1 else {}),
    )


def proposals(proposals: Proposals, *, theme: str = "light") -> go.Figure:
    """Proposed settings side by side: predicted outcomes with their intervals.

    Text: 004 1.

    Parameters
    ----------
    proposals : Proposals
        Of `propose_settings`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.decide import Goal, Turn, propose_settings
    >>> from gnomon.evaluate import cross_val_predict
    >>> from gnomon.linear import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2))
    >>> noise = rng.normal(size=(2, 60)) / 3
    >>> measured = {"yield": X @ [1, 1] + noise[0], "cost": X @ [1, -1] + noise[1]}
    >>> models = {name: LinearRegression().fit(X, y) for name, y in measured.items()}
    >>> errors = {
    ...     name: y - cross_val_predict(LinearRegression(), X, y) for name, y in measured.items()
    ... }
    >>> turns = {"x0": Turn(), "x1": Turn()}
    >>> wanted = {"yield": Goal("more"), "cost": Goal("less")}
    >>> figure = proposals(propose_settings(models, X, turns, wanted, errors=errors, n=5))
    """
    names = list(proposals.outcomes[0])
    letters = [chr(ord("A") + i) for i in range(len(proposals.settings))]
    texts = ["<br>".join(written(settings)) for settings in proposals.settings]
    figure = make_subplots(rows=1, cols=len(names), subplot_titles=names)
    for j, name in enumerate(names):
        estimates = [each[name] for each in proposals.outcomes]
        figure.add_scatter(
            x=letters,
            y=[each.value for each in estimates],
            error_y=error_bars(estimates, theme),
            mode="markers",
            marker={"size": 12, "color": color(j)},
            text=texts,
            hovertemplate="%{text}<br>%{y:.5g}<extra></extra>",
            showlegend=False,
            row=1,
            col=j + 1,
        )
    return dress(
        figure,
        "Proposed settings",
        theme,
        note="predicted outcomes with 95% intervals; the settings are shown on hovering",
        width=max(340 * len(names), 620),
        height=480,
    )


def written(settings: dict[str, Any]) -> list[str]:
    """Settings as "name = value", numbers with four digits."""
    return [
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in settings.items()
    ]
