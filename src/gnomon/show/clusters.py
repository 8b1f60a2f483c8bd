"""Pictures of groups: trees, silhouettes, choices of k, maps, ellipses, cells, hills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.cluster.assignment import cluster_shapes
from gnomon.cluster.choice import ChoiceOfK, LikelihoodByK
from gnomon.cluster.dendrogram import Dendrogram
from gnomon.cluster.intake import label_codes, number_rows
from gnomon.cluster.signals import BlockTypes, Segmentation
from gnomon.cluster.validity import Silhouette
from gnomon.engine.errors import DataError
from gnomon.neighbors.voronoi import voronoi_cells as nearest_cells
from gnomon.show.labels import label
from gnomon.show.points import MOST_ROWS, SYMBOLS, drawn_rows, linked_views
from gnomon.show.theme import (
    SEQUENTIAL,
    color,
    dress,
    error_bars,
    faded,
    legend_below,
    look,
)
from gnomon.table.table import Table

MOST_LEAVES = 60  # judgement: more names on an axis cover each other
MOST_CUTS = 12  # judgement: steps of a slider
SPHERE = 24  # judgement: a surface of 24 by 48 looks round


def dendrogram(
    tree: Dendrogram,
    names: Sequence[Any] | None = None,
    *,
    n_clusters: int | None = None,
    fan: bool = False,
    most_leaves: int = MOST_LEAVES,
    theme: str = "light",
) -> go.Figure:
    """The tree of merges with a cut that a slider moves; or as a fan.

    Heights are distances of merges. Branches within a cluster of the cut have its colour; the
    slider moves the cut from one cluster to a dozen. Texts: 000b 8.1 · 001 21 · 004 13.1.

    Parameters
    ----------
    tree : Dendrogram
    names : sequence, default=None
        Names of the leaves; their numbers by default.
    n_clusters : int, default=None
        The cut shown first; at the largest gap of heights by default.
    fan : bool, default=False
        Leaves round a circle, as phylogenies are drawn.
    most_leaves : int, default=60
        Lower merges of larger trees are folded into leaves that say how many rows they hold.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import linkage_tree
    >>> figure = dendrogram(linkage_tree([[1.0], [2.0], [4.0], [7.0], [11.0]], "single"))
    >>> figure.layout.sliders[0].steps[1].label
    '2'
    """
    if tree.n_leaves < 2:
        raise DataError("a tree of one leaf has no picture")
    first = tree.at_largest_gap() if n_clusters is None else n_clusters
    folded = _Folded(tree, names, most_leaves)
    cuts = sorted({*range(1, min(MOST_CUTS, folded.n) + 1), min(first, folded.n)})
    colors = look(theme)
    figure = go.Figure()
    counts = []
    for k in cuts:
        traces = folded.traces(k, fan, colors.faint)
        for trace in traces:
            figure.add_trace(trace.update(visible=k == min(first, folded.n)))
        if not fan:
            height = tree.height_of(k)
            figure.add_scatter(
                x=[-0.5, folded.n - 0.5],
                y=[height, height],
                mode="lines",
                line={"color": colors.strong, "width": 2, "dash": "dash"},
                hoverinfo="skip",
                visible=k == min(first, folded.n),
            )
        counts.append(len(figure.data))
    steps = []
    for number, k in enumerate(cuts):
        begin = counts[number - 1] if number else 0
        shown = [begin <= place < counts[number] for place in range(len(figure.data))]
        steps.append({"label": str(k), "method": "update", "args": [{"visible": shown}]})
    note = f"cut into {first} clusters; the largest gap gives {tree.at_largest_gap()}"
    if tree.n_inversions:
        note += f"; {tree.n_inversions} merges lie lower than one below them (inversions)"
    if folded.n < tree.n_leaves:
        note += f"; {tree.n_leaves:,} leaves folded into {folded.n}"
    dress(
        figure,
        "Tree of merges",
        theme,
        note=note,
        width=900,
        height=680,
        showlegend=False,
        margin={"l": 70, "r": 30, "t": 90, "b": 170 if not fan else 90},
        sliders=[
            {
                "active": cuts.index(min(first, folded.n)),
                "steps": steps,
                "currentvalue": {"prefix": "Clusters: "},
                "pad": {"t": 80 if not fan else 20},
            }
        ],
    )
    if fan:
        figure.update_xaxes(visible=False)
        figure.update_yaxes(visible=False, scaleanchor="x")
        for place, text in enumerate(folded.names):
            angle = folded.angle(place)
            figure.add_annotation(
                x=1.06 * np.cos(angle),
                y=1.06 * np.sin(angle),
                text=text,
                showarrow=False,
                font={"size": 10},
            )
    else:
        figure.update_xaxes(
            tickvals=list(range(folded.n)),
            ticktext=folded.names,
            tickangle=-60 if folded.n > 12 else 0,
            tickfont={"size": 11},
            showgrid=False,
        )
        figure.update_yaxes(title="Distance of merge", rangemode="tozero")
    return figure


class _Folded:
    """The upper part of a tree, with places of its nodes."""

    def __init__(self, tree: Dendrogram, names: Sequence[Any] | None, most_leaves: int):
        n = tree.n_leaves
        self.tree = tree
        kept = np.arange(max(n - most_leaves, 0), n - 1)
        self.kept = kept + n
        inner = set(self.kept.tolist())
        sizes = np.concatenate([np.ones(n), np.zeros(n - 1)])
        for number, (one, other) in enumerate(tree.merges[:, :2].astype(int), n):
            sizes[number] = sizes[one] + sizes[other]
        leaves: list[int] = []
        waiting = [2 * n - 2]
        while waiting:
            node = waiting.pop()
            if node in inner:
                one, other = tree.merges[node - n, :2].astype(int)
                waiting += [other, one]
            else:
                leaves.append(node)
        self.n = len(leaves)
        self.names = [
            (label(names[leaf], 16) if names is not None else str(leaf))
            if leaf < n
            else f"({int(sizes[leaf]):,})"
            for leaf in leaves
        ]
        self.place = {leaf: float(i) for i, leaf in enumerate(leaves)}
        self.first = {leaf: leaf for leaf in leaves}
        for node in self.kept.tolist():
            one, other = tree.merges[node - n, :2].astype(int)
            self.place[node] = (self.place[one] + self.place[other]) / 2
            self.first[node] = self.first[one]
        self.top = float(tree.levels.max()) or 1.0

    def height(self, node: int) -> float:
        n = self.tree.n_leaves
        return float(self.tree.heights[node - n]) if node in self.inner_nodes else 0.0

    @property
    def inner_nodes(self) -> range:
        return range(int(self.kept[0]), 2 * self.tree.n_leaves - 1) if len(self.kept) else range(0)

    def angle(self, place: float) -> float:
        return 2 * np.pi * (place + 0.5) / (self.n + 0.5)

    def traces(self, k: int, fan: bool, above: str) -> list[go.Scatter]:
        """Branches of a cut in k clusters, one trace for each colour."""
        n = self.tree.n_leaves
        group: dict[int, int] = {}
        upper = set(range(2 * n - k, 2 * n - 1))
        tops = [node for node in self.place if node not in upper and self._parent(node) in upper]
        if k == 1:
            tops = [2 * n - 2]
        for number, node in enumerate(sorted(tops, key=lambda each: self.place[each])):
            waiting = [node]
            while waiting:
                each = waiting.pop()
                group[each] = number
                if each in self.inner_nodes:
                    waiting += self.tree.merges[each - n, :2].astype(int).tolist()
        lines: dict[int, list] = {}
        for node in self.kept.tolist():
            one, other = self.tree.merges[node - n, :2].astype(int)
            path = self._path(node, one, other, fan)
            lines.setdefault(group.get(node, -1), []).append(path)
        return [
            go.Scatter(
                x=np.concatenate([[*path[0], np.nan] for path in paths]),
                y=np.concatenate([[*path[1], np.nan] for path in paths]),
                mode="lines",
                line={"color": above if number < 0 else color(number), "width": 1.8},
                hovertemplate="distance %{y:.4g}<extra></extra>",
            )
            for number, paths in sorted(lines.items())
        ]

    def _parent(self, node: int) -> int:
        if not hasattr(self, "_parents"):
            n = self.tree.n_leaves
            self._parents = {
                int(child): number
                for number, pair in enumerate(self.tree.merges[:, :2], n)
                for child in pair
            }
        return self._parents.get(node, -1)

    def _path(self, node: int, one: int, other: int, fan: bool) -> tuple[np.ndarray, np.ndarray]:
        a, b = self.place[one], self.place[other]
        low_a, low_b, high = self.height(one), self.height(other), self.height(node)
        if not fan:
            return np.array([a, a, b, b]), np.array([low_a, high, high, low_b])
        places = np.concatenate([[a], np.linspace(a, b, 30), [b]])
        heights = np.concatenate([[low_a], np.full(30, high), [low_b]])
        radius, angle = 1 - heights / self.top, np.array([self.angle(each) for each in places])
        return radius * np.cos(angle), radius * np.sin(angle)


def silhouettes(
    found: Silhouette | ChoiceOfK, *, most_panels: int = 6, theme: str = "light"
) -> go.Figure:
    """Silhouettes of all rows, sorted within each cluster; a panel for each number of clusters.

    Wide blocks that reach far beyond the mean line are good clusters; bars to the left are rows
    that lie nearer to another one. Text: 001 20.5-20.6.

    Parameters
    ----------
    found : Silhouette or ChoiceOfK
        From `gnomon.cluster.silhouette` or `gnomon.cluster.choose_by_silhouette`.
    most_panels : int, default=6
        Panels drawn at most, the best numbers of clusters.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import silhouette
    >>> figure = silhouettes(silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]))
    >>> len(figure.data)
    2
    """
    if isinstance(found, ChoiceOfK):
        if "silhouettes" not in found.detail:
            raise DataError("this choice has no silhouettes; use choose_by_silhouette")
        all_of = found.detail["silhouettes"]
        best = np.sort(np.argsort(-found.values, kind="stable")[:most_panels])
        panels = [all_of[place] for place in best]
    else:
        panels = [found]
    columns = 2 if len(panels) == 4 else min(len(panels), 3)
    lines = -(-len(panels) // columns)
    titles = [f"{len(each.clusters)} clusters, mean {each.total:.3f}" for each in panels]
    figure = make_subplots(lines, columns, subplot_titles=titles, horizontal_spacing=0.06)
    colors = look(theme)
    for number, each in enumerate(panels):
        line, column = number // columns + 1, number % columns + 1
        base = 0
        gap = max(len(each.codes) // 40, 1)
        ticks = []
        for c, name in enumerate(each.clusters.tolist()):
            bars = np.sort(each.per_row[each.codes == c])
            at = base + np.arange(len(bars))
            figure.add_scatter(
                x=np.concatenate([[0], bars, [0]]),
                y=np.concatenate([[at[0]], at, [at[-1]]]),
                fill="tozerox",
                mode="lines",
                line={"color": color(c), "width": 1, "shape": "vh"},
                fillcolor=faded(color(c), 0.75),
                name=label(name),
                hovertemplate=f"cluster {label(name)}<br>%{{x:.3f}}<extra></extra>",
                row=line,
                col=column,
            )
            ticks.append((base + len(bars) / 2, f"{label(name, 24)}: {each.per_cluster[c]:.2f}"))
            base += len(bars) + gap
        figure.add_vline(
            x=each.total, line={"color": colors.ink, "dash": "dash"}, row=line, col=column
        )
        figure.update_yaxes(
            tickvals=[at for at, _ in ticks],
            ticktext=[text for _, text in ticks],
            showgrid=False,
            automargin=True,
            range=[-gap, base],
            row=line,
            col=column,
        )
        low = min(float(each.per_row.min()), 0.0)
        figure.update_xaxes(range=[low - 0.05, 1], title="silhouette", row=line, col=column)
    return dress(
        figure,
        "Silhouettes",
        theme,
        note="rows sorted within clusters; dashed: mean of all rows; at the side: mean of clusters",
        width=340 * columns + 160,
        height=max(300, 28 * max(len(each.clusters) for each in panels)) * lines + 190,
        showlegend=False,
        margin={"l": 80, "r": 30, "t": 120, "b": 60},
    )


def choice_of_k(choice: ChoiceOfK, *, theme: str = "light") -> go.Figure:
    """A measure against the number of clusters, with error bars; the chosen one is marked.

    Of the cost of k-means this is the curve whose knee one looks for. Texts: 000b 8.2.1 · 002.

    Parameters
    ----------
    choice : ChoiceOfK
        From one of the functions ``gnomon.cluster.choose_by_...``.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import choose_by_knee
    >>> rows = [[0, 0], [0, 1], [10, 0], [10, 1], [5, 9], [5, 10]]
    >>> choice_of_k(choose_by_knee(rows, range(1, 6), random_state=0)).data[1].x
    (3,)
    """
    figure = go.Figure()
    figure.add_scatter(
        x=choice.ks,
        y=choice.values,
        error_y=error_bars(choice.figures, theme),
        mode="lines+markers",
        line={"color": color(0), "width": 2.5},
        marker={"size": 8},
        name=choice.measure,
    )
    figure.add_scatter(
        x=(choice.chosen,),
        y=(choice.values[choice.ks.index(choice.chosen)],),
        mode="markers",
        marker={
            "size": 20,
            "symbol": "circle-open",
            "color": look(theme).strong,
            "line": {"width": 3},
        },
        name=f"chosen: {choice.chosen}",
    )
    for k in choice.reasonable:
        figure.add_vrect(
            x0=k - 0.5, x1=k + 0.5, fillcolor=color(4), opacity=0.12, line_width=0, layer="below"
        )
    figure.update_xaxes(title="number of clusters", dtick=1 if len(choice.ks) < 25 else None)
    figure.update_yaxes(title=choice.measure)
    better = "higher" if choice.higher_is_better else "lower"
    reasonable = ", ".join(map(str, choice.reasonable)) or "none"
    note = f"{better} is better; shaded: reasonable numbers ({reasonable})"
    return dress(
        figure,
        f"{choice.measure[0].upper()}{choice.measure[1:]} by number of clusters",
        theme,
        note=note,
        width=820,
        height=560,
        **legend_below(),
    )


def likelihood_by_k(found: LikelihoodByK, *, theme: str = "light") -> go.Figure:
    """Likelihood of mixtures on rows learnt from and held out, by number of components (002).

    Parameters
    ----------
    found : LikelihoodByK
        From `gnomon.cluster.likelihood_by_k`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster.choice import LikelihoodByK
    >>> from gnomon.contract.estimate import Estimate
    >>> few, many = Estimate(-2.0, -2.1, -1.9), Estimate(-1.5, -1.6, -1.4)
    >>> len(likelihood_by_k(LikelihoodByK([1, 5], [few, many], [few, few])).data)
    2
    """
    figure = go.Figure()
    for number, (name, figures) in enumerate(
        (("rows learnt from", found.learnt), ("rows held out", found.held_out))
    ):
        figure.add_scatter(
            x=found.ks,
            y=[each.value for each in figures],
            error_y=error_bars(figures, theme),
            mode="lines+markers",
            line={"color": color(number), "width": 2.5},
            marker={"symbol": SYMBOLS[number], "size": 8},
            name=name,
        )
    figure.update_xaxes(title="number of components", dtick=1 if len(found.ks) < 25 else None)
    figure.update_yaxes(title="log-likelihood per row (nats)")
    return dress(
        figure,
        "Likelihood by number of components",
        theme,
        note="it grows with every component on rows learnt from, so it cannot choose their number",
        width=820,
        height=560,
        **legend_below(),
    )


def principal_plane(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, the two principal axes (as lines) and their shares of the variance."""
    mean = rows.mean(axis=0)
    _, sizes, axes = np.linalg.svd(rows - mean, full_matrices=False)
    axes = np.vstack([axes[:2], np.zeros((max(2 - len(axes), 0), rows.shape[1]))])
    shares = np.zeros(2)
    total = float((sizes**2).sum()) or 1.0
    shares[: min(2, len(sizes))] = sizes[:2] ** 2 / total
    return mean, axes, shares


def _ellipse(mean: np.ndarray, covariance: np.ndarray, deviations: float) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 121)
    values, vectors = np.linalg.eigh(covariance)
    shape = vectors * np.sqrt(np.maximum(values, 0.0))
    return mean[:, None] + deviations * shape @ np.stack([np.cos(angle), np.sin(angle)])


def cluster_ellipses(
    X: Any,
    labels: Any,
    *,
    deviations: float = 2.0,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Clusters on the two principal components, each with the ellipse of its covariance.

    Rows are clustered in all their columns; only the picture is of two dimensions, so clusters may
    overlap in it that do not in truth. Noise (-1) is grey. Text: 000b 8.2.

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)
    deviations : float, default=2
        Mahalanobis distance of the ellipses.
    rows : int, default=2000
        Draw at most so many rows; ellipses are of all.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> rows = [[0, 0], [1, 1], [0, 1], [9, 9], [8, 9], [9, 8]]
    >>> figure = cluster_ellipses(rows, [0] * 3 + [1] * 3)
    >>> [trace.mode for trace in figure.data]
    ['markers', 'lines', 'markers', 'lines']
    """
    table = number_rows(X)
    names, codes = label_codes(labels, len(table))
    mean, axes, shares = principal_plane(table)
    flat = (table - mean) @ axes.T
    shapes = cluster_shapes(flat, codes)
    drawn, said = drawn_rows(len(table), rows, random_state)
    figure = go.Figure()
    colors = look(theme)
    shown = 0
    for c, name in enumerate(names.tolist()):
        noise = name == -1
        shade = colors.faint if noise else color(shown)
        picked = drawn[codes[drawn] == c]
        figure.add_scatter(
            x=flat[picked, 0],
            y=flat[picked, 1],
            mode="markers",
            marker={
                "color": shade,
                "symbol": "x-thin" if noise else SYMBOLS[shown % 8],
                "size": 6,
                "opacity": 0.75,
                "line": {"color": shade, "width": 1 if noise else 0},
            },
            name="noise" if noise else f"cluster {label(name)}",
            legendgroup=str(c),
        )
        if not noise:
            shown += 1
            x, y = _ellipse(shapes.means[c], shapes.covariances[c], deviations)
            figure.add_scatter(
                x=x,
                y=y,
                mode="lines",
                line={"color": shade, "width": 2.5},
                fill="toself",
                fillcolor=faded(shade, 0.08),
                legendgroup=str(c),
                showlegend=False,
                hoverinfo="skip",
            )
    for axis, number in ((figure.update_xaxes, 0), (figure.update_yaxes, 1)):
        axis(title=f"principal component {number + 1} ({shares[number]:.0%} of the variance)")
    return dress(
        figure,
        "Clusters on two principal components",
        theme,
        note=f"ellipses at {deviations:g} deviations; rows of {table.shape[1]} columns; {said}",
        width=860,
        height=640,
        **legend_below(),
    )


def core_border_noise(
    X: Any,
    estimator: Any,
    *,
    columns: tuple[int, int] = (0, 1),
    balls: int = 400,
    names: Sequence[str] | None = None,
    theme: str = "light",
) -> go.Figure:
    """Core, border and noise rows of DBSCAN, with the balls of core rows (001 19.1).

    Parameters
    ----------
    X : array-like of shape (n, d)
    estimator : DBSCAN
        Fitted.
    columns : tuple of two int, default=(0, 1)
        The columns drawn; balls are drawn where the rows have two columns only.
    balls : int, default=400
        Balls drawn at most.
    names : sequence of str, default=None
        Names of the columns.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import DBSCAN
    >>> rows = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 1], [9, 9]]
    >>> figure = core_border_noise(rows, DBSCAN(1.0, min_samples=4).fit(rows))
    >>> [trace.name for trace in figure.data]
    ['cluster 0, core', 'cluster 0, border', 'noise']
    """
    table = number_rows(X)
    labels, kinds = estimator.predict(table), estimator.kinds(table)
    x, y = columns
    figure = go.Figure()
    colors = look(theme)
    for cluster in [*range(estimator.n_clusters_), -1]:
        for kind in ("core", "border", "noise"):
            own = (labels == cluster) & (kinds == kind)
            if not own.any():
                continue
            noise = kind == "noise"
            shade = colors.faint if noise else color(cluster)
            figure.add_scatter(
                x=table[own, x],
                y=table[own, y],
                mode="markers",
                marker={
                    "color": shade,
                    "size": {"core": 9, "border": 8, "noise": 8}[kind],
                    "symbol": {"core": "circle", "border": "circle-open", "noise": "x-thin"}[kind],
                    "line": {"color": shade, "width": 2},
                },
                name="noise" if noise else f"cluster {cluster}, {kind}",
            )
    two = table.shape[1] == 2
    places = np.flatnonzero(kinds == "core")[: balls if two else 0]
    for place in places:
        center, shade = table[place, [x, y]], color(int(labels[place]))
        figure.add_shape(
            type="circle",
            x0=center[0] - estimator.eps,
            x1=center[0] + estimator.eps,
            y0=center[1] - estimator.eps,
            y1=center[1] + estimator.eps,
            line={"color": faded(shade, 0.35), "width": 1},
            fillcolor=faded(shade, 0.05),
            layer="below",
        )
    titles = names if names is not None else [f"column {j}" for j in range(table.shape[1])]
    figure.update_xaxes(title=label(titles[x]))
    figure.update_yaxes(title=label(titles[y]), scaleanchor="x" if two else None)
    core = int((kinds == "core").sum())
    note = (
        f"eps {estimator.eps:g}, {estimator.min_samples:g} rows make a core row; {core:,} core rows"
    )
    note += f"; balls of the first {len(places)}" if 0 < len(places) < core else ""
    return dress(
        figure,
        "Core, border and noise",
        theme,
        note=note,
        width=860,
        height=680,
        **legend_below(),
    )


def voronoi_cells(
    prototypes: Any,
    X: Any = None,
    *,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Which part of the plane is nearest to which prototype: cells with straight borders.

    Texts: 002 and 004 12.3 (Voronoi decomposition).

    Parameters
    ----------
    prototypes : array-like of shape (k, 2)
    X : array-like of shape (n, 2), default=None
        Rows drawn over the cells.
    rows : int, default=2000
        Draw at most so many.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(voronoi_cells([[0, 0], [4, 0], [0, 4]]).data)
    4
    """
    points = number_rows(prototypes, "prototypes")
    if points.shape[1] != 2:
        raise DataError(f"cells are drawn in two columns; the prototypes have {points.shape[1]}")
    table = points if X is None else np.vstack([points, number_rows(X)])
    low, high = table.min(axis=0), table.max(axis=0)
    margin = 0.08 * np.maximum(high - low, 1e-9)
    low, high = low - margin, high + margin
    colors = look(theme)
    figure = go.Figure()
    cells = nearest_cells(points, box=[low, high])
    for c, cell in enumerate(cells.polygons[place] for place in cells.copies):
        closed = np.vstack([cell, cell[:1]])
        figure.add_scatter(
            x=closed[:, 0],
            y=closed[:, 1],
            mode="lines",
            fill="toself",
            fillcolor=faded(color(c), 0.15),
            line={"color": colors.faint, "width": 1.5},
            name=f"cell {c}",
            hoverinfo="name",
            showlegend=False,
        )
    said = ""
    if X is not None:
        own = number_rows(X)
        drawn, said = drawn_rows(len(own), rows, random_state)
        nearest = ((own[drawn, None] - points) ** 2).sum(axis=2).argmin(axis=1)
        figure.add_scatter(
            x=own[drawn, 0],
            y=own[drawn, 1],
            mode="markers",
            marker={"color": [color(c) for c in nearest], "size": 5, "opacity": 0.7},
            name="rows",
        )
    figure.add_scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        marker={
            "color": [color(c) for c in range(len(points))],
            "size": 14,
            "symbol": "star",
            "line": {"color": colors.ink, "width": 1.5},
        },
        name="prototypes",
    )
    figure.update_xaxes(range=[low[0], high[0]], title="column 0", showgrid=False)
    figure.update_yaxes(range=[low[1], high[1]], title="column 1", showgrid=False)
    return dress(
        figure,
        "Cells of nearest prototypes",
        theme,
        note=f"borders lie midway between two prototypes; {said}".rstrip("; "),
        width=820,
        height=640,
        **legend_below(),
    )


def _hexagon(place: np.ndarray, radius: float, square: bool) -> tuple[np.ndarray, np.ndarray]:
    n = 4 if square else 6
    angle = 2 * np.pi * (np.arange(n + 1) + 0.5) / n
    return place[0] + radius * np.cos(angle), place[1] + radius * np.sin(angle)


def _draw_cells(figure, model, values, sizes, line, column, scale, unit, theme) -> None:
    """Cells of a map as polygons, coloured by values and sized by sizes (both 0 to 1)."""
    from plotly.colors import sample_colorscale

    square = model.grid == "square"
    full = np.sqrt(0.5) if square else np.sqrt(1 / 3)
    low, high = float(values.min()), float(values.max())
    shares = (values - low) / ((high - low) or 1.0)
    for cell, place in enumerate(model.grid_):
        x, y = _hexagon(place, full * 0.98 * sizes[cell], square)
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines",
            fill="toself",
            fillcolor=sample_colorscale(SEQUENTIAL, [float(shares[cell])])[0],
            line={"color": look(theme).paper, "width": 1},
            hoverinfo="text",
            text=f"cell {cell}: {values[cell]:.4g}",
            showlegend=False,
            row=line,
            col=column,
        )
    figure.add_scatter(
        x=[None],
        y=[None],
        mode="markers",
        marker={
            "colorscale": SEQUENTIAL,
            "cmin": low,
            "cmax": high if high > low else low + 1,
            "color": [low],
            "showscale": scale is not None,
            "colorbar": scale or {},
        },
        showlegend=False,
        hoverinfo="skip",
        row=line,
        col=column,
    )


def component_planes(
    estimator: Any,
    columns: Sequence[int] | None = None,
    *,
    names: Sequence[str] | None = None,
    size_by: int | None = None,
    theme: str = "light",
) -> go.Figure:
    """A map once for each column: cells coloured by that coordinate of their prototype.

    Columns whose planes look alike go together. Cells may be sized by another column, so that two
    are seen at once. Text: 004 14.2.

    Parameters
    ----------
    estimator : SelfOrganisingMap
        Fitted.
    columns : sequence of int, default=None
        The first six by default.
    names : sequence of str, default=None
        Names of the columns.
    size_by : int, default=None
        The column that makes cells large.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import SelfOrganizingMap
    >>> from gnomon.table import example
    >>> model = SelfOrganizingMap(3, 3).fit(example("iris").drop("species"))
    >>> len(component_planes(model, [0, 1]).layout.annotations)
    2
    """
    prototypes = estimator.prototypes_
    columns = list(range(min(prototypes.shape[1], 6))) if columns is None else list(columns)
    if names is None:
        names = [f"column {j}" for j in range(prototypes.shape[1])]
    wide = min(len(columns), 3)
    lines = -(-len(columns) // wide)
    figure = make_subplots(
        lines,
        wide,
        subplot_titles=[label(names[j]) for j in columns],
        horizontal_spacing=0.12,
        vertical_spacing=0.14 if lines > 1 else 0,
    )
    sizes = np.ones(len(prototypes))
    note = "each cell by its prototype"
    if size_by is not None:
        other = prototypes[:, size_by]
        sizes = 0.35 + 0.65 * (other - other.min()) / ((other.max() - other.min()) or 1.0)
        note += f"; size: {label(names[size_by])}"
    for number, j in enumerate(columns):
        line, column = number // wide + 1, number % wide + 1
        axis = figure.get_subplot(line, column)
        box = {
            "len": 0.8 / lines,
            "y": float(np.mean(axis.yaxis.domain)),
            "x": axis.xaxis.domain[1] + 0.005,
            "thickness": 10,
            "tickfont": {"size": 11},
        }
        _draw_cells(figure, estimator, prototypes[:, j], sizes, line, column, box, "", theme)
    return _map_look(figure, "Component planes", note, theme, 330 * wide + 80, 320 * lines + 110)


def _map_look(figure, title: str, note: str, theme: str, width: int, height: int) -> go.Figure:
    dress(figure, title, theme, note=note, width=width, height=height, showlegend=False)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    for axis in [name for name in figure.layout if str(name).startswith("yaxis")]:
        figure.layout[axis].scaleanchor = str(axis).replace("yaxis", "x")
    figure.update_layout(margin={"l": 30, "r": 70, "t": 120, "b": 30})
    return figure


def u_matrix(
    estimator: Any, names: Sequence[str] | None = None, *, theme: str = "light"
) -> go.Figure:
    """A map coloured by how far each prototype is from its neighbours: ridges part groups.

    Parameters
    ----------
    estimator : SelfOrganisingMap
        Fitted.
    names : sequence of str, default=None
        Names of the cells, written on them.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import SelfOrganizingMap
    >>> from gnomon.table import example
    >>> model = SelfOrganizingMap(3, 3).fit(example("iris").drop("species"))
    >>> len(u_matrix(model).data)
    10
    """
    figure = make_subplots(1, 1)
    values = estimator.u_matrix()
    bar = {"title": {"text": "distance"}, "thickness": 14, "len": 0.8}
    _draw_cells(figure, estimator, values, np.ones(len(values)), 1, 1, bar, "", theme)
    if names is not None:
        middle = (values.min() + values.max()) / 2
        figure.add_scatter(
            x=estimator.grid_[:, 0],
            y=estimator.grid_[:, 1],
            mode="text",
            text=[label(name, 10) if name else "" for name in names],
            textfont={
                "size": 11,
                "color": ["#ffffff" if value < middle else "#1f2430" for value in values],
            },
            hoverinfo="skip",
            showlegend=False,
        )
    return _map_look(
        figure,
        "Distances between neighbouring cells",
        "low: cells of one group; high: between groups",
        theme,
        760,
        680,
    )


def linked_map(
    estimator: Any,
    X: Any,
    *,
    names: Sequence[str] | None = None,
    rows: int = 1000,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Rows on a map beside two of their columns, and all columns below, sharing one selection.

    Each row stands in its winning cell, a little beside the middle so that many can be seen. In a
    report, a selection in one view marks the same rows in all. Text: 004 14.2.

    Parameters
    ----------
    estimator : SelfOrganisingMap
        Fitted.
    X : array-like of shape (n, d)
    names : sequence of str, default=None
        Names of the columns.
    rows : int, default=1000
        Draw at most so many rows.
    random_state : int, default=0
        Seed of the places within cells and the rows drawn.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import SelfOrganizingMap
    >>> rows = [[0.0, 1.0], [1.0, 0.0], [5.0, 4.0], [6.0, 5.0]]
    >>> figure = linked_map(SelfOrganizingMap(2, 2).fit(rows), rows)
    >>> sorted({trace.type for trace in figure.data})
    ['parcoords', 'scatter']
    """
    values = number_rows(X)
    if values.shape[1] < 2:
        raise DataError("linked views of a map need rows of two columns or more")
    if names is None:
        names = [f"column {j}" for j in range(values.shape[1])]
    angle, radius = np.random.default_rng(random_state).random((2, len(values)))
    aside = 0.35 * np.sqrt(radius) * np.stack([np.cos(7 * angle), np.sin(7 * angle)])
    places = estimator.transform(values) + aside.T
    columns = {name: values[:, j].tolist() for j, name in enumerate(names)}
    across, along = "cell across", "cell along"
    columns |= {across: places[:, 0].tolist(), along: places[:, 1].tolist()}
    return linked_views(
        Table.from_dict(columns),
        [(across, along), (names[0], names[1])],
        parallel=list(names),
        rows=rows,
        random_state=random_state,
        theme=theme,
    )


def attractors(
    X: Any, estimator: Any, *, grid: int = 80, paths: int = 40, theme: str = "light"
) -> go.Figure:
    """The density that DENCLUE climbs, its attractors, and the ways of some rows to them.

    One column: the density as a curve with the threshold; two: contours. Text: 001 19.3.

    Parameters
    ----------
    X : array-like of shape (n, 1) or (n, 2)
    estimator : Denclue
        Fitted.
    grid : int, default=80
        Places along each side at which the density is computed.
    paths : int, default=40
        Ways drawn at most.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import Denclue
    >>> rows = [[0.0], [0.5], [1.0], [9.0], [9.5]]
    >>> [trace.name for trace in attractors(rows, Denclue(1.0).fit(rows)).data]
    ['density', 'rows', 'attractors']
    """
    from gnomon.cluster.denclue import density_attractor

    table = number_rows(X)
    if table.shape[1] > 2:
        raise DataError(f"the density is drawn over one or two columns, not {table.shape[1]}")
    reach = 3 * estimator.bandwidth_
    sides = [
        np.linspace(low - reach, high + reach, grid if table.shape[1] == 2 else 400)
        for low, high in zip(table.min(axis=0), table.max(axis=0))
    ]
    tops, heights = estimator.attractors_, estimator.attractor_density_
    colors = look(theme)
    marker = {
        "symbol": ["star" if height >= estimator.xi else "star-open" for height in heights],
        "size": 16,
        "color": colors.strong,
        "line": {"color": colors.ink, "width": 1.5},
    }
    figure = go.Figure()
    if table.shape[1] == 1:
        figure.add_scatter(
            x=sides[0],
            y=estimator.density(sides[0][:, None]),
            mode="lines",
            line={"color": color(0), "width": 2.5},
            fill="tozeroy",
            fillcolor=faded(color(0), 0.12),
            name="density",
        )
        figure.add_scatter(
            x=table[:, 0],
            y=np.zeros(len(table)),
            mode="markers",
            marker={"symbol": "line-ns-open", "size": 12, "color": colors.faint},
            name="rows",
        )
        figure.add_scatter(
            x=tops[:, 0], y=heights, mode="markers", marker=marker, name="attractors"
        )
        if estimator.xi > 0:
            figure.add_hline(y=estimator.xi, line={"dash": "dash", "color": colors.faint})
        figure.update_xaxes(title="column 0")
        figure.update_yaxes(title="density", rangemode="tozero")
    else:
        x, y = np.meshgrid(*sides)
        density = estimator.density(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
        figure.add_contour(
            x=sides[0],
            y=sides[1],
            z=density,
            colorscale=SEQUENTIAL,
            contours={"coloring": "heatmap"},
            line={"width": 0.5},
            colorbar={"title": {"text": "density"}},
            name="density",
        )
        lines: list[np.ndarray] = []
        for row in table[:: max(len(table) // paths, 1)]:
            climb = density_attractor(
                table, row, estimator.bandwidth_, tol=0.01 * estimator.bandwidth_, max_iter=300
            )
            lines += [climb.path, np.full((1, 2), np.nan)]
        way = np.vstack(lines)
        figure.add_scatter(
            x=way[:, 0],
            y=way[:, 1],
            mode="lines",
            line={"color": "#ffffff", "width": 1.2},
            name="ways uphill",
            showlegend=False,
        )
        figure.add_scatter(
            x=table[:, 0],
            y=table[:, 1],
            mode="markers",
            marker={"size": 4, "color": "#ffffff", "opacity": 0.6},
            name="rows",
            showlegend=False,
        )
        figure.add_scatter(
            x=tops[:, 0], y=tops[:, 1], mode="markers", marker=marker, name="attractors"
        )
        figure.update_xaxes(title="column 0", showgrid=False)
        figure.update_yaxes(title="column 1", showgrid=False)
    note = (
        f"bandwidth {estimator.bandwidth_:.3g}, threshold {estimator.xi:g}; open stars lie below it"
    )
    if table.shape[1] == 2:
        note += "; white: rows and their ways uphill"
    return dress(
        figure, "Hills of density", theme, note=note, width=860, height=640, **legend_below()
    )


def ellipsoid_surface(mean: np.ndarray, covariance: np.ndarray, radius: float = 1.0) -> np.ndarray:
    """The points at one Mahalanobis distance from a mean: the unit sphere mapped by S^(1/2).

    004 eq 13.6 maps it by S itself, which puts the points of S = diag(4, 1, 1/4) at distances 2, 1
    and 1/2.

    Parameters
    ----------
    mean : ndarray of shape (3,)
    covariance : ndarray of shape (3, 3)
    radius : float, default=1

    Returns
    -------
    surface : ndarray of shape (3, n, m)

    Examples
    --------
    >>> import numpy as np
    >>> surface = ellipsoid_surface(np.zeros(3), np.diag([4.0, 1.0, 0.25]))
    >>> surface.reshape(3, -1).max(axis=1).round(2).tolist()
    [2.0, 1.0, 0.5]
    """
    return (
        np.einsum("ij,jnm->inm", _homogeneous(mean, covariance, radius)[:3, :3], _sphere())
        + (mean[:, None, None])
    )


def _sphere() -> np.ndarray:
    round_, up = np.meshgrid(
        np.linspace(0, 2 * np.pi, 2 * SPHERE + 1), np.linspace(0, np.pi, SPHERE + 1)
    )
    return np.stack([np.cos(round_) * np.sin(up), np.sin(round_) * np.sin(up), np.cos(up)])


def _homogeneous(mean: np.ndarray, covariance: np.ndarray, radius: float = 1.0) -> np.ndarray:
    """The 4 x 4 matrix that maps the unit sphere to the ellipsoid."""
    values, vectors = np.linalg.eigh(covariance)
    matrix = np.eye(4)
    matrix[:3, :3] = radius * (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    matrix[:3, 3] = mean
    return matrix


def _in_three(X: Any) -> np.ndarray:
    """Rows in their three principal components; fewer columns are filled with zeros."""
    rows = number_rows(X)
    if rows.shape[1] > 3:
        centered = rows - rows.mean(axis=0)
        return centered @ np.linalg.svd(centered, full_matrices=False)[2][:3].T
    return np.pad(rows, ((0, 0), (0, 3 - rows.shape[1])))


def _drawn_ellipsoid(matrix: np.ndarray, shade: str, name: str) -> go.Surface:
    surface = np.einsum("ij,jnm->inm", matrix[:3, :3], _sphere()) + matrix[:3, 3][:, None, None]
    return go.Surface(
        x=surface[0],
        y=surface[1],
        z=surface[2],
        colorscale=[[0, shade], [1, shade]],
        showscale=False,
        opacity=0.35,
        name=name,
        hoverinfo="name",
    )


def inertial_ellipsoids(
    X: Any,
    labels: Any,
    *,
    radius: float = 1.5,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Clusters in three dimensions, each as the ellipsoid of its covariance (004 13.3).

    More than three columns are shown by their three principal components.

    Parameters
    ----------
    X : array-like of shape (n, d)
    labels : array-like of shape (n,)
    radius : float, default=1.5
        Mahalanobis distance of the surfaces.
    rows : int, default=2000
        Draw at most so many rows.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(40, 3))
    >>> sorted(trace.type for trace in inertial_ellipsoids(rows, [0] * 20 + [1] * 20).data)
    ['scatter3d', 'scatter3d', 'surface', 'surface']
    """
    table = _in_three(X)
    names, codes = label_codes(labels, len(table))
    shapes = cluster_shapes(table, codes)
    drawn, said = drawn_rows(len(table), rows, random_state)
    figure = go.Figure()
    for c, name in enumerate(names.tolist()):
        picked = drawn[codes[drawn] == c]
        title = label(name) if isinstance(name, str) else f"cluster {label(name)}"
        figure.add_scatter3d(
            x=table[picked, 0],
            y=table[picked, 1],
            z=table[picked, 2],
            mode="markers",
            marker={"size": 3, "color": color(c)},
            name=title,
        )
        matrix = _homogeneous(shapes.means[c], shapes.covariances[c], radius)
        figure.add_trace(_drawn_ellipsoid(matrix, color(c), title))
    note = f"surfaces at Mahalanobis distance {radius:g}; {said}"
    return _space_look(figure, "Clusters as ellipsoids", note, theme)


def _space_look(figure: go.Figure, title: str, note: str, theme: str) -> go.Figure:
    colors = look(theme)
    axis = {
        "backgroundcolor": colors.paper,
        "gridcolor": colors.grid,
        "color": colors.faint,
    }
    return dress(
        figure,
        title,
        theme,
        note=note,
        width=880,
        height=700,
        scene={
            "xaxis": {"title": {"text": "first"}, **axis},
            "yaxis": {"title": {"text": "second"}, **axis},
            "zaxis": {"title": {"text": "third"}, **axis},
            "aspectmode": "data",
            "camera": {"eye": {"x": 1.5, "y": 1.5, "z": 1.05}, "center": {"z": -0.15}},
        },
        legend={
            "orientation": "h",
            "y": 0.02,
            "bgcolor": "rgba(0,0,0,0)",
            "itemsizing": "constant",
        },
        margin={"l": 20, "r": 20, "t": 90, "b": 20},
    )


def ellipsoid_morph(
    X: Any,
    coarse: Any,
    fine: Any,
    *,
    radius: float = 1.5,
    frames: int = 20,
    theme: str = "light",
) -> go.Figure:
    """One second from a level of a hierarchy to the next: parents become their children.

    The ellipsoid of each finer cluster starts as that of the cluster it was part of;
    ``T = (1 - l) T_parent + l T_child`` with l from 0 to 1 (004 13.3).

    Parameters
    ----------
    X : array-like of shape (n, d)
    coarse, fine : array-like of shape (n,)
        Labels of two levels; the finer must be nested in the coarser.
    radius : float, default=1.5
    frames : int, default=20
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(40, 3))
    >>> figure = ellipsoid_morph(rows, [0] * 40, [0] * 20 + [1] * 20, frames=10)
    >>> len(figure.frames), len(figure.data)
    (11, 2)
    """
    table = _in_three(X)
    parents, parent_of_row = label_codes(coarse, len(table))
    children, child_of_row = label_codes(fine, len(table))
    pairs = np.unique(np.column_stack([child_of_row, parent_of_row]), axis=0)
    if len(pairs) != len(children):
        raise DataError("the finer level is not nested in the coarser: a cluster has two parents")
    above, below = cluster_shapes(table, parent_of_row), cluster_shapes(table, child_of_row)
    starts = [_homogeneous(above.means[p], above.covariances[p], radius) for _, p in pairs]
    ends = [_homogeneous(below.means[c], below.covariances[c], radius) for c, _ in pairs]

    def drawn(share: float) -> list[go.Surface]:
        return [
            _drawn_ellipsoid(
                (1 - share) * start + share * end, color(c), f"cluster {label(children[c])}"
            )
            for c, (start, end) in enumerate(zip(starts, ends))
        ]

    figure = go.Figure(
        data=drawn(0.0),
        frames=[
            go.Frame(data=drawn(step / frames), name=f"{step / frames:.2f}")
            for step in range(frames + 1)
        ],
    )
    reach = np.ptp(table, axis=0) * 0.2
    note = f"from {len(parents)} to {len(children)} clusters"
    _space_look(figure, "From one level to the next", note, theme)
    ranges = np.stack([table.min(axis=0) - reach, table.max(axis=0) + reach])
    figure.update_layout(
        scene={f"{axis}axis": {"range": ranges[:, j].tolist()} for j, axis in enumerate("xyz")},
        updatemenus=[
            {
                "type": "buttons",
                "showactive": False,
                "x": 0.02,
                "y": 0.02,
                "xanchor": "left",
                "yanchor": "bottom",
                "direction": "right",
                "buttons": [
                    _morph_button("Finer", [frame.name for frame in figure.frames], frames),
                    _morph_button("Coarser", [f.name for f in figure.frames][::-1], frames),
                ],
            }
        ],
    )
    return figure


def _morph_button(text: str, names: list[str], frames: int) -> dict[str, Any]:
    timing = {"frame": {"duration": 1000 / frames, "redraw": True}, "transition": {"duration": 0}}
    return {"label": text, "method": "animate", "args": [names, {"mode": "immediate", **timing}]}


def navigate_clusters(
    X: Any,
    tree: Dendrogram,
    *,
    names: Sequence[str] | None = None,
    most_clusters: int = 8,
    rows: int = MOST_ROWS,
    random_state: int = 0,
    theme: str = "light",
) -> go.Figure:
    """Walk up and down a hierarchy: a slider for the level, the rows, their columns with selectors.

    Left the rows on two principal components with the clusters' prototypes; below all columns as
    parallel lines: drag along an axis to show only rows in that range. Text: 004 13.3.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The leaves of the tree.
    tree : Dendrogram
    names : sequence of str, default=None
        Names of the columns.
    most_clusters : int, default=8
        Levels of the slider.
    rows : int, default=2000
        Draw at most so many rows.
    random_state : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import linkage_tree
    >>> rows = [[1.0, 2.0], [2.0, 1.0], [7.0, 3.0], [8.0, 4.0]]
    >>> figure = navigate_clusters(rows, linkage_tree(rows), most_clusters=3)
    >>> len(figure.layout.sliders[0].steps)
    3
    """
    table = number_rows(X)
    if len(table) != tree.n_leaves:
        raise DataError(f"the tree has {tree.n_leaves:,} leaves and X {len(table):,} rows")
    names = list(names) if names is not None else [f"column {j}" for j in range(table.shape[1])]
    mean, axes, shares = principal_plane(table)
    drawn, said = drawn_rows(len(table), rows, random_state)
    flat = (table - mean) @ axes.T
    levels = list(range(1, min(most_clusters, tree.n_leaves) + 1))
    shown = min(tree.at_largest_gap(), levels[-1])
    figure = make_subplots(
        2,
        1,
        specs=[[{"type": "xy"}], [{"type": "domain"}]],
        row_heights=[0.55, 0.45],
        vertical_spacing=0.16,
    )
    scale = [[step, color(c)] for c in range(8) for step in (c / 8, (c + 1) / 8)]
    for k in levels:
        labels = tree.cut(k)
        prototypes = np.stack([table[labels == c].mean(axis=0) for c in range(k)])
        centers = (prototypes - mean) @ axes.T
        visible = k == shown
        figure.add_scatter(
            x=flat[drawn, 0],
            y=flat[drawn, 1],
            mode="markers",
            marker={"color": [color(c) for c in labels[drawn]], "size": 5, "opacity": 0.7},
            hovertext=[f"cluster {c}" for c in labels[drawn]],
            visible=visible,
            row=1,
            col=1,
        )
        figure.add_scatter(
            x=centers[:, 0],
            y=centers[:, 1],
            mode="markers+text",
            text=[str(c) for c in range(k)],
            textposition="top center",
            marker={
                "symbol": "star",
                "size": 15,
                "color": [color(c) for c in range(k)],
                "line": {"color": look(theme).ink, "width": 1.5},
            },
            hovertext=[
                "<br>".join(f"{label(name)}: {value:.3g}" for name, value in zip(names, each))
                for each in prototypes
            ],
            hoverinfo="text",
            visible=visible,
            row=1,
            col=1,
        )
        figure.add_trace(
            go.Parcoords(
                line={"color": labels[drawn] % 8 + 0.5, "colorscale": scale, "cmin": 0, "cmax": 8},
                dimensions=[
                    {"label": label(name, 16), "values": table[drawn, j]}
                    for j, name in enumerate(names)
                ],
                labelfont={"color": look(theme).ink},
                tickfont={"color": look(theme).faint},
                rangefont={"color": look(theme).faint},
                visible=visible,
            ),
            row=2,
            col=1,
        )
    steps = [
        {
            "label": str(k),
            "method": "update",
            "args": [{"visible": [place // 3 == i for place in range(3 * len(levels))]}],
        }
        for i, k in enumerate(levels)
    ]
    figure.update_xaxes(title=f"principal component 1 ({shares[0]:.0%})")
    figure.update_yaxes(title=f"principal component 2 ({shares[1]:.0%})")
    return dress(
        figure,
        "Up and down the hierarchy",
        theme,
        note=f"stars: prototypes (hover); drag along an axis below to select rows; {said}",
        width=900,
        height=860,
        showlegend=False,
        margin={"l": 70, "r": 50, "t": 90, "b": 110},
        sliders=[
            {
                "active": levels.index(shown),
                "steps": steps,
                "currentvalue": {"prefix": "Clusters: "},
                "pad": {"t": 40},
            }
        ],
    )


def type_histogram_grid(found: BlockTypes, *, columns: int = 3, theme: str = "light") -> go.Figure:
    """Histogram of record types in each block, in a grid of like axes (000b 8.2.5).

    Parameters
    ----------
    found : BlockTypes
        From `gnomon.cluster.block_types`.
    columns : int, default=3
        Panels in a line.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import block_types
    >>> rows = [[0.0], [0.1], [9.0], [9.1], [0.2], [9.2]]
    >>> found = block_types(rows, ["a", "a", "b", "b", "a", "b"], 2, random_state=0)
    >>> len(type_histogram_grid(found).data)
    2
    """
    shares = found.shares
    wide = min(columns, len(shares))
    lines = -(-len(shares) // wide)
    sizes = found.counts.sum(axis=1)
    titles = [f"{label(b)} ({n:,} rows)" for b, n in zip(found.blocks.tolist(), sizes)]
    figure = make_subplots(
        lines, wide, subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.05
    )
    for number, share in enumerate(shares):
        half = 1.96 * np.sqrt(share * (1 - share) / sizes[number])
        figure.add_bar(
            x=np.arange(len(share)),
            y=share,
            error_y={"array": half, "color": look(theme).faint, "thickness": 1.2, "width": 3},
            marker={"color": color(0)},
            row=number // wide + 1,
            col=number % wide + 1,
        )
    figure.update_xaxes(dtick=1 if shares.shape[1] <= 12 else None)
    for j in range(wide):
        figure.update_xaxes(title="type", row=lines, col=j + 1)
    for i in range(lines):
        figure.update_yaxes(title="share of rows", row=i + 1, col=1)
    figure.update_yaxes(range=[0, min(float(shares.max()) * 1.25, 1.05)])
    return dress(
        figure,
        "Types of records by block",
        theme,
        note=f"bars with 95 % intervals; that all blocks have one mix: p = {found.p_value:.2g}",
        width=320 * wide + 120,
        height=280 * lines + 170,
        showlegend=False,
        margin={"l": 80, "r": 30, "t": 120, "b": 70},
    )


def segmentation(
    found: Segmentation, image: Any = None, *, most_maps: int = 6, theme: str = "light"
) -> go.Figure:
    """An image with each pixel as the mean of its segment, beside a map of weights per segment.

    Texts: 000b 9.2 · 002.

    Parameters
    ----------
    found : Segmentation
        From `gnomon.cluster.segment_image`.
    image : array-like, default=None
        The image itself, shown first.
    most_maps : int, default=6
        Maps drawn at most.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.cluster import segment_image
    >>> found = segment_image([[0.0, 0.1, 0.9], [0.1, 0.9, 1.0]], 2, random_state=0)
    >>> len(segmentation(found).data)
    3
    """
    maps = found.weight_maps[:most_maps]
    panels: list[tuple[str, Any]] = [("means of segments", found.mean_image)]
    if image is not None:
        panels.insert(0, ("image", np.asarray(image, dtype=float)))
    panels += [(f"segment {k}", each) for k, each in enumerate(maps)]
    wide = len(panels) if len(panels) <= 4 else 3
    lines = -(-len(panels) // wide)
    figure = make_subplots(lines, wide, subplot_titles=[name for name, _ in panels])
    for number, (name, values) in enumerate(panels):
        values = np.squeeze(values)
        place = {"row": number // wide + 1, "col": number % wide + 1}
        if values.ndim == 3:
            figure.add_trace(go.Image(z=np.clip(values, 0, 1) * 255), **place)
        else:
            of_map = name.startswith("segment")
            figure.add_heatmap(
                z=values,
                colorscale="Greys_r" if not of_map else SEQUENTIAL,
                zmin=0 if of_map else None,
                zmax=1 if of_map else None,
                showscale=False,
                **place,
            )
    dress(
        figure,
        "Segments of an image",
        theme,
        note="maps: weight of each pixel in the segment, from 0 (dark) to 1 (bright)",
        width=260 * wide + 60,
        height=260 * lines + 130,
        margin={"l": 30, "r": 30, "t": 120, "b": 20},
    )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    for number in range(len(panels)):
        name = "yaxis" if number == 0 else f"yaxis{number + 1}"
        figure.layout[name].scaleanchor = "x" if number == 0 else f"x{number + 1}"
        figure.layout[name].autorange = "reversed"
    return figure
