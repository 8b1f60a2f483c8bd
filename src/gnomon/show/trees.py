"""Pictures of trees: the drawing with the followed path, impurity curves, splits and rules.

Every function gives a Plotly figure, made from the public attributes of fitted objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from gnomon.show.theme import SEQUENTIAL, Theme, color, dress, faded, look
from gnomon.trees.conditions import Interval, NumberSet
from gnomon.trees.impurity import Entropy, Gini, Misclassification
from gnomon.trees.rules import Rule, RuleList
from gnomon.trees.view import TreeView

MOST_LEAVES = 120  # judgement: more leaves touch each other
# Judgement: in units of a level and a leaf, so that captions fit.
BAR_HEIGHT = 0.13
BOX_WIDTH = 0.84
ELBOW = 0.41


def tree(
    estimator,
    *,
    tree=None,
    row=None,
    max_depth: int | None = None,
    title: str | None = None,
    theme: str = "light",
) -> go.Figure:
    """A fitted tree as a drawing: tests on the branches, class bars or means at the nodes.

    Texts: 000a 2.2 · 001 13.12 · 003 2.3 · 004 6 (Figs 6.2 and 6.6: the path of a case, divided
    where its cell is missing).

    Parameters
    ----------
    estimator : fitted tree, or a forest together with one of its trees
    tree : Tree or GeneralTree, default=None
        One of the forest's ``trees_``.
    row : array-like or one-row data frame, default=None
        A case whose path is shown; parts of it where it is divided.
    max_depth : int, default=None
        Deepest level shown.
    title : str, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.show import tree
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1.0], [2.0], [8.0]], ["a", "a", "b"])
    >>> len(tree(model, row=[[1.5]]).layout.annotations) > 0
    True
    """
    view = TreeView.of(estimator, tree)
    drawing = Drawing(view, max_depth, look(theme))
    figure = go.Figure()
    drawing.draw(figure, _path(view, row))
    _legend_of_values(figure, [view], look(theme))
    name = title or f"{type(estimator).__name__}: {view.tree.n_leaves} leaves"
    return dress(
        figure,
        name,
        theme,
        note=drawing.note(row is not None),
        width=drawing.width + 40,
        height=drawing.height + 40,
        **_no_axes(drawing),
    )


def forest(
    estimator,
    which: Sequence[int] = (0, 1, 2),
    *,
    max_depth: int | None = 3,
    title: str | None = None,
    theme: str = "light",
) -> go.Figure:
    """Some trees of a forest side by side: how much they differ.

    Text: 002 (bootstrapped trees side by side).

    Parameters
    ----------
    estimator : fitted forest with ``trees_``
    which : sequence of int, default=(0, 1, 2)
        Numbers of the trees.
    max_depth : int, default=3
        Deepest level shown.
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
    >>> from gnomon.trees import RandomForestClassifier
    >>> figure = forest(RandomForestClassifier(5, random_state=0).fit(X, y))
    """
    views = [TreeView.of(estimator, estimator.trees_[k]) for k in which]
    drawings = [Drawing(view, max_depth, look(theme)) for view in views]
    widths = [drawing.width for drawing in drawings]
    figure = make_subplots(
        1,
        len(views),
        column_widths=[width / sum(widths) for width in widths],
        horizontal_spacing=0.02,
        subplot_titles=[f"tree {k}: {v.tree.n_leaves} leaves" for k, v in zip(which, views)],
    )
    for place, drawing in enumerate(drawings, 1):
        drawing.draw(figure, {}, place)
        suffix = "" if place == 1 else str(place)
        figure.update_layout(**_no_axes(drawing, suffix))
    _legend_of_values(figure, views, look(theme))
    height = max(drawing.height for drawing in drawings) + 60
    return dress(
        figure,
        title
        or f"{len(views)} of the {len(estimator.trees_)} trees of a {type(estimator).__name__}",
        theme,
        note=f"first {max_depth} levels; they differ by the draws of rows and columns",
        width=sum(widths) + 80,
        height=height,
    )


def _path(view: TreeView, row) -> dict[int, float]:
    """Nodes that a row passes, with the part of it that does."""
    if row is None:
        return {}
    places, nodes, parts = view.visits(row)
    if len(set(places.tolist())) > 1:
        raise ValueError("row holds several rows; give the one whose path is to be shown")
    return {int(node): float(part) for node, part in zip(nodes, parts)}


@dataclass
class Drawing:
    """Where the nodes of a tree stand on paper, and how they are drawn."""

    view: TreeView
    max_depth: int | None
    theme: Theme

    def __post_init__(self):
        depth = self.view.tree.node_depth
        deepest = int(depth.max())
        self.limit = deepest if self.max_depth is None else min(self.max_depth, deepest)
        self.place: dict[int, tuple[float, float]] = {}
        self.order: list[int] = []
        self.n_leaves = 0
        self._set(0, depth)
        if self.n_leaves > MOST_LEAVES:
            raise ValueError(
                f"the drawing would have {self.n_leaves} leaves, and more than {MOST_LEAVES} "
                "cannot be read; give max_depth"
            )

    def _set(self, root: int, depth: np.ndarray) -> None:
        """Leaves side by side in order, every other node above the middle of its children."""
        waiting = [(root, False)]
        while waiting:
            node, done = waiting.pop()
            below = self.shown_children(node, depth)
            if not below:
                self.place[node] = (float(self.n_leaves), -float(depth[node]))
                self.n_leaves += 1
                self.order.append(node)
            elif done:
                ends = self.place[below[0]][0], self.place[below[-1]][0]
                self.place[node] = (sum(ends) / 2, -float(depth[node]))
                self.order.append(node)
            else:
                waiting.append((node, True))
                waiting += [(child, False) for child in reversed(below)]

    def shown_children(self, node: int, depth: np.ndarray | None = None) -> list[int]:
        depth = self.view.tree.node_depth if depth is None else depth
        return self.view.children(node) if depth[node] < self.limit else []

    @property
    def width(self) -> int:
        return max(560, 148 * self.n_leaves + 40)

    @property
    def height(self) -> int:
        return 150 * (self.limit + 1) + 60

    def note(self, followed: bool) -> str:
        hidden = sum(bool(self.view.children(n)) and not self.shown_children(n) for n in self.order)
        parts = []
        if followed:
            parts.append("thick path: the case; numbers on it: its parts")
        if hidden:
            parts.append(f"{hidden} nodes have more below")
        return "; ".join(parts)

    def draw(self, figure: go.Figure, path: dict[int, float], column: int = 1) -> None:
        axes = {} if column == 1 else {"xaxis": f"x{column}", "yaxis": f"y{column}"}
        refs = {"xref": axes.get("xaxis", "x"), "yref": axes.get("yaxis", "y")}
        self._edges(figure, path, axes)
        for node in self.order:
            self._branch_texts(figure, node, path, refs)
        for node in self.order:
            self._node(figure, node, path, refs)
        self._hover(figure, axes)

    def _edges(self, figure, path, axes) -> None:
        for followed in (False, True):
            xs: list[float | None] = []
            ys: list[float | None] = []
            for node in self.order:
                for child in self.shown_children(node):
                    if (child in path) == followed:
                        (x0, y0), (x1, y1) = self.place[node], self.place[child]
                        xs += [x0, x0, x1, x1, None]
                        ys += [y0 - 0.3, y0 - ELBOW, y0 - ELBOW, y1, None]
            line = {"color": self.theme.faint, "width": 1.2}
            if followed:
                line = {"color": self.theme.ink, "width": 4.5}
            if xs:
                figure.add_scatter(
                    x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", showlegend=False, **axes
                )

    def _branch_texts(self, figure, node, path, refs) -> None:
        for branch, child in enumerate(self.shown_children(node)):
            x, y = self.place[child]
            text = wrapped(self.view.branch_text(node, branch, 3))
            part = path.get(child, 1.0)
            if child in path and part < 1:
                text = f"<b>{part:.2g}</b><br>{text}"
            figure.add_annotation(
                x=x,
                y=y + 0.36,
                text=text,
                showarrow=False,
                yanchor="middle",
                bgcolor=self.theme.paper,
                borderpad=1,
                font={"size": 11.5, "color": self.theme.ink},
                **refs,
            )

    def _node(self, figure, node, path, refs) -> None:
        x, y = self.place[node]
        half = BOX_WIDTH / 2
        border = {"color": self.theme.faint, "width": 1}
        if node in path:
            border = {"color": self.theme.ink, "width": 3.5}
        left = x - half
        for share, fill in self._segments(node):
            figure.add_shape(
                type="rect",
                x0=left,
                x1=left + share * BOX_WIDTH,
                y0=y - BAR_HEIGHT,
                y1=y + BAR_HEIGHT,
                fillcolor=fill,
                line={"width": 0},
                layer="above",
                **refs,
            )
            left += share * BOX_WIDTH
        figure.add_shape(
            type="rect",
            x0=x - half,
            x1=x + half,
            y0=y - BAR_HEIGHT,
            y1=y + BAR_HEIGHT,
            line=border,
            layer="above",
            **refs,
        )
        figure.add_annotation(
            x=x,
            y=y - BAR_HEIGHT,
            text=self._caption(node),
            showarrow=False,
            yanchor="top",
            yshift=-1,
            bgcolor=self.theme.paper,
            borderpad=1,
            font={"size": 11.5, "color": self.theme.ink},
            **refs,
        )

    def _segments(self, node: int) -> list[tuple[float, str]]:
        """The coloured parts of a node's bar: class shares, or the mean on a scale."""
        value = self.view.tree.value[node]
        if self.view.classes is not None:
            return [(float(share), color(k)) for k, share in enumerate(value) if share > 0]
        low, high = value_range(self.view)
        at = 0.5 if high == low else (float(value[0]) - low) / (high - low)
        return [(1.0, sample_colorscale(SEQUENTIAL, [min(max(at, 0.0), 1.0)])[0])]

    def _caption(self, node: int) -> str:
        view = self.view
        n = f"{view.n_rows[node]:.4g} row{'' if view.n_rows[node] == 1 else 's'}"
        if view.classes is None:
            spread = np.sqrt(max(float(view.tree.impurity[node]), 0.0))
            said = f"<b>{view.tree.value[node][0]:.4g}</b> ± {spread:.2g}"
        else:
            share = view.tree.value[node].max()
            label = view.classes[int(view.tree.value[node].argmax())]
            said = f"<b>{label}</b> {share:.0%}"
        more = " …" if view.children(node) and not self.shown_children(node) else ""
        return f"{said}{more}<br><span style='color:{self.theme.faint}'>{n}</span>"

    def _hover(self, figure, axes) -> None:
        view = self.view
        texts = []
        for node in self.order:
            lines = [f"node {node}: {view.n_rows[node]:.6g} rows", view.value_text(node)]
            lines.append(f"impurity {view.tree.impurity[node]:.4g}")
            lines += [f"if missing: {each}" for each in view.surrogate_texts(node)]
            texts.append("<br>".join(lines))
        figure.add_scatter(
            x=[self.place[node][0] for node in self.order],
            y=[self.place[node][1] for node in self.order],
            mode="markers",
            marker={"size": 22, "opacity": 0},
            text=texts,
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
            **axes,
        )


def value_range(view: TreeView) -> tuple[float, float]:
    """Least and greatest mean of a regression tree's leaves."""
    means = view.tree.value[:, 0]
    return float(means.min()), float(means.max())


def wrapped(text: str, width: int = 22) -> str:
    """A condition broken in lines; long lists of levels are cut."""
    if "{" in text:
        head, inside = text.split("{", 1)
        levels = inside.rstrip("}").split(", ")
        more = f", … {len(levels) - 3} more" if len(levels) > 3 else ""
        text = f"{head}{{{', '.join(levels[:3])}{more}}}"
    lines, line = [], ""
    for word in text.split(" "):
        if line and len(line) + len(word) + 1 > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "<br>".join([*lines, line]).replace("<=", "≤").replace(">=", "≥")


def _no_axes(drawing: Drawing, suffix: str = "") -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": False}
    sides = [-0.6, drawing.n_leaves - 0.4]
    return {
        f"xaxis{suffix}": {**hidden, "range": sides},
        f"yaxis{suffix}": {**hidden, "range": [-drawing.limit - 0.42, 0.2]},
    }


def _legend_of_values(figure: go.Figure, views: list[TreeView], theme: Theme) -> None:
    """Which colour is which class, or which number."""
    classes = views[0].classes
    if classes is not None:
        for k, name in enumerate(classes.tolist()):
            figure.add_scatter(
                x=[None],
                y=[None],
                mode="markers",
                marker={"size": 12, "symbol": "square", "color": color(k)},
                name=str(name),
            )
        figure.update_layout(
            legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"}
        )
        return
    low = min(value_range(view)[0] for view in views)
    high = max(value_range(view)[1] for view in views)
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="markers",
        showlegend=False,
        marker={
            "color": [low, high],
            "cmin": low,
            "cmax": high,
            "colorscale": SEQUENTIAL,
            "showscale": True,
            "colorbar": {"title": "mean", "thickness": 12, "len": 0.6, "outlinewidth": 0},
        },
    )


def impurity_curves(*, scaled: bool = True, theme: str = "light") -> go.Figure:
    """Misclassification, Gini index and entropy against the share of one of two classes.

    Text: 001 11.3 (Fig 9.3 of its source): the entropy is scaled to pass through (½, ½).

    Parameters
    ----------
    scaled : bool, default=True
        Scale the entropy so that all three meet at one half; else in bits.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = impurity_curves()
    """
    share = np.linspace(0, 1, 201)
    counts = np.column_stack([share, 1 - share])
    entropy = Entropy(2).total(counts) * (0.5 if scaled else 1.0)
    curves = {
        "entropy, halved" if scaled else "entropy in bits": entropy,
        "Gini index": Gini(2).total(counts),
        "misclassification": Misclassification(2).total(counts),
    }
    figure = go.Figure()
    dashes = ("solid", "dash", "dot")
    for k, (name, values) in enumerate(curves.items()):
        figure.add_scatter(
            x=share, y=values, name=name, line={"color": color(k), "width": 3, "dash": dashes[k]}
        )
    figure.update_xaxes(title="share of the first class", range=[0, 1])
    figure.update_yaxes(title="impurity", rangemode="tozero")
    note = "entropy and Gini index bend: they prefer one pure side to two equal ones"
    return dress(
        figure, "Impurity of a node of two classes", theme, note=note, width=760, height=500
    )


def split_purity(estimator, node: int = 0, *, tree=None, theme: str = "light") -> go.Figure:
    """The classes in a node and in each of its branches, as bars: what a question bought.

    Text: 004 6.1 (Figs 6.3-6.4: purification of sets).

    Parameters
    ----------
    estimator : fitted classification tree
    node : int, default=0
        The node whose question is shown.
    tree : Tree or GeneralTree, default=None
        One of a forest's ``trees_``.
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
    >>> from gnomon.trees import DecisionTreeClassifier
    >>> figure = split_purity(DecisionTreeClassifier(max_depth=2).fit(X, y))
    """
    view = TreeView.of(estimator, tree)
    if view.classes is None:
        raise ValueError("purity is of classes; this tree predicts numbers")
    children = view.children(node)
    if not children:
        raise ValueError(f"node {node} is a leaf: it asks nothing")
    sets = [node, *children]
    names = ["before", *(wrapped(view.branch_text(node, b, 3), 28) for b in range(len(children)))]
    weight = view.tree.weight[sets]
    figure = go.Figure()
    for k, label in enumerate(view.classes.tolist()):
        share = view.tree.value[sets, k]
        if not share.any():
            continue
        figure.add_bar(
            y=names,
            x=share * weight,
            name=str(label),
            orientation="h",
            marker={"color": color(k), "line": {"width": 0}},
            text=[f"{each:.0%}" if each >= 0.06 else "" for each in share],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate="%{x:.6g} rows<extra></extra>",
        )
    impurity = view.tree.impurity[sets]
    for name, w, each in zip(names, weight, impurity):
        figure.add_annotation(
            x=w, y=name, text=f"impurity {each:.3f}", showarrow=False, xanchor="left", xshift=8
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend={"traceorder": "normal"})
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(title="rows (by weight)", range=[0, float(weight.max()) * 1.25])
    saved = view.tree.gain[node] / view.tree.weight[node]
    note = f"impurity {impurity[0]:.3f} before, {impurity[0] - saved:.3f} after: {saved:.3f} saved"
    return dress(
        figure,
        f"What the question of node {node} parts",
        theme,
        note=note,
        width=820,
        height=180 + 90 * len(sets),
        margin={"l": 190, "r": 40, "t": 90, "b": 60},
    )


def split_candidates(
    X, y, *, columns: Sequence[int] = (0, 1), criterion: str = "entropy", theme: str = "light"
) -> go.Figure:
    """A pool of rows over two columns, with what every threshold of each would save.

    Text: 000a 2.2.2 (Figs 2.6-2.8: candidate splits and their thresholds).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Classes.
    columns : two ints, default=(0, 1)
    criterion : {"entropy", "gini", "misclassification"}, default="entropy"
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
    >>> figure = split_candidates(X, y)
    """
    rows, colors = np.asarray(X, float)[:, list(columns)], look(theme)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    savings = [threshold_savings(column, codes, criterion) for column in rows.T]
    figure = make_subplots(
        2,
        2,
        column_widths=[0.78, 0.22],
        row_heights=[0.25, 0.75],
        horizontal_spacing=0.03,
        vertical_spacing=0.04,
        shared_xaxes="columns",
        shared_yaxes="rows",
    )
    symbols = ("circle", "diamond", "square", "triangle-up", "cross", "x")
    for k, label in enumerate(classes.tolist()):
        mine = codes == k
        figure.add_scatter(
            x=rows[mine, 0],
            y=rows[mine, 1],
            mode="markers",
            name=str(label),
            marker={"color": color(k), "symbol": symbols[k % 6], "size": 8, "opacity": 0.85},
            row=2,
            col=1,
        )
    for side, (cuts, saved) in enumerate(savings):
        xs, ys = _ticks(cuts, saved)
        line = {"color": colors.faint, "width": 1.5}
        flat = {"mode": "lines", "line": line, "showlegend": False, "hoverinfo": "skip"}
        place = {"row": 1, "col": 1} if side == 0 else {"row": 2, "col": 2}
        figure.add_scatter(
            **({"x": xs, "y": ys} if side == 0 else {"x": ys, "y": xs}), **flat, **place
        )
    winner = int(savings[1][1].max(initial=-1.0) > savings[0][1].max(initial=-1.0))
    cuts, saved = savings[winner]
    best = float(cuts[saved.argmax()])
    add = figure.add_vline if winner == 0 else figure.add_hline
    for place in ((1, 1), (2, 1)) if winner == 0 else ((2, 1), (2, 2)):
        at = {"x": best} if winner == 0 else {"y": best}
        add(**at, row=place[0], col=place[1], line={"color": colors.strong, "width": 3})
    figure.update_xaxes(title=f"column {columns[0]}", row=2, col=1)
    figure.update_yaxes(title=f"column {columns[1]}", row=2, col=1)
    top = 1.08 * max(float(each.max(initial=0.0)) for _, each in savings)
    unit = "bits" if criterion == "entropy" else criterion
    figure.update_yaxes(title=f"saved ({unit})", range=[0, top], row=1, col=1)
    figure.update_xaxes(title=f"saved ({unit})", range=[0, top], row=2, col=2)
    note = (
        f"each tick: a threshold and what it saves per row; best: column {columns[winner]} at "
        f"{best:.4g}, {saved.max():.3f}"
    )
    return dress(figure, "Candidate splits of a pool", theme, note=note, width=860, height=680)


def threshold_savings(
    column: np.ndarray, codes: np.ndarray, criterion: str
) -> tuple[np.ndarray, np.ndarray]:
    """Midpoints of a column and the impurity per row that a split at each saves."""
    kinds = {"entropy": Entropy, "gini": Gini, "misclassification": Misclassification}
    impurity = kinds[criterion](int(codes.max()) + 1)
    order = np.argsort(column, kind="stable")
    values = column[order]
    sums = np.cumsum(impurity.addends(codes[order], np.ones(len(codes))), axis=0)
    parts = np.flatnonzero(values[:-1] < values[1:])
    left = impurity.total(sums[parts]) + impurity.total(sums[-1] - sums[parts])
    saved = (impurity.total(sums[-1]) - left) / len(codes)
    return (values[parts] + values[parts + 1]) / 2, np.maximum(saved, 0.0)


def _ticks(at: np.ndarray, heights: np.ndarray) -> tuple[list, list]:
    """Upright lines as one broken line."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for x, height in zip(at.tolist(), heights.tolist()):
        xs += [x, x, None]
        ys += [0.0, height, None]
    return xs, ys


def rules(
    rule_list: RuleList,
    x: str,
    y: str,
    *,
    limits: dict[str, tuple[float, float]] | None = None,
    theme: str = "light",
) -> go.Figure:
    """Rules as boxes over two columns of numbers; where rules of different labels meet is marked.

    Text: 004 6 (Fig 6.1: contradictory rules on a case).

    Parameters
    ----------
    rule_list : RuleList
    x, y : str
        The columns; tests of other columns are named in the hover text.
    limits : dict of str to (low, high), default=None
        Ends of the axes; by default a margin beyond the tests.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.trees import RuleList
    >>> first = "if age < 30 and income > 40 then buys"
    >>> parsed = RuleList.parse(first + "\\nif 25 <= age < 60 and income < 60 then waits")
    >>> figure = rules(parsed, "age", "income")
    """
    colors = look(theme)
    sides = {name: (limits or {}).get(name) or _limits(rule_list, name) for name in (x, y)}
    labels = list(dict.fromkeys(str(rule.label) for rule in rule_list))
    figure = go.Figure()
    named: set[str] = set()
    for number, rule in enumerate(rule_list, 1):
        label = str(rule.label)
        k = labels.index(label)
        for box in _boxes(rule, x, y, sides):
            _add_box(figure, box, color(k), label, rule.text(), label not in named)
            named.add(label)
            figure.add_annotation(
                x=box[0] + 0.02 * (sides[x][1] - sides[x][0]),
                y=box[3],
                text=f"<b>{number}</b>",
                showarrow=False,
                xanchor="left",
                yanchor="top",
                font={"color": colors.ink},
            )
    clashes = [c for c in rule_list.contradictions()]
    for clash in clashes:
        for box in _boxes(Rule(clash.where, None), x, y, sides):
            _add_box(figure, box, colors.ink, "contradiction", str(clash), False, hatched=True)
    if clashes:
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name="rules disagree",
            marker={"symbol": "hash-open", "size": 12, "color": colors.ink},
        )
    figure.update_xaxes(title=x, range=sides[x], showgrid=False)
    figure.update_yaxes(title=y, range=sides[y], showgrid=False)
    note = f"{len(clashes)} contradictions: the rule of the lower number decides" if clashes else ""
    return dress(figure, f"{len(rule_list)} rules", theme, note=note, width=780, height=600)


def _limits(rule_list: RuleList, name: str) -> tuple[float, float]:
    ends = [
        end
        for rule in rule_list
        for condition in rule.conditions
        if condition.column == name and isinstance(condition.region, NumberSet)
        for interval in condition.region.intervals
        for end in (interval.low, interval.high)
        if np.isfinite(end)
    ]
    if not ends:
        raise ValueError(f"no rule asks how large {name!r} is; its limits are needed")
    margin = 0.35 * (max(ends) - min(ends)) or 1.0
    return min(ends) - margin, max(ends) + margin


def _boxes(rule: Rule, x: str, y: str, sides) -> list[tuple[float, float, float, float]]:
    """The rule's boxes within the axes: x0, x1, y0, y1."""
    spans = {}
    for name in (x, y):
        intervals: Sequence[Interval] = (Interval(),)
        for condition in rule.conditions:
            if condition.column == name and isinstance(condition.region, NumberSet):
                intervals = condition.region.intervals
        low, high = sides[name]
        clipped = [(max(each.low, low), min(each.high, high)) for each in intervals]
        spans[name] = [(a, b) for a, b in clipped if a < b]
    return [(*one, *other) for one in spans[x] for other in spans[y]]


def _add_box(figure, box, fill: str, name: str, text: str, legend: bool, hatched=False) -> None:
    x0, x1, y0, y1 = box
    figure.add_scatter(
        x=[x0, x1, x1, x0, x0],
        y=[y0, y0, y1, y1, y0],
        mode="lines",
        fill="toself",
        fillcolor="rgba(0,0,0,0)" if hatched else faded(fill, 0.22),
        fillpattern={"shape": "/", "fgcolor": fill, "size": 7, "solidity": 0.25}
        if hatched
        else None,
        line={"color": fill, "width": 2},
        name=name,
        legendgroup=name,
        showlegend=legend,
        text=text,
        hoveron="fills",
        hoverinfo="text",
    )
