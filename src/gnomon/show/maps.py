"""Pictures of maps: variances of components, rows in few coordinates, layouts, eigenimages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy.spatial.distance import pdist, squareform

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.points import SYMBOLS
from gnomon.show.theme import color, dress, faded, legend_below, look

MOST_PAIRS = 20_000  # judgement: more points hide each other


def scree(
    variances: Any,
    *,
    kept: int | None = None,
    noise: Any = None,
    normalized: bool = False,
    zoom: int | None = None,
    theme: str = "light",
):
    """Variances of components in falling order, and their cumulative share.

    A dotted line marks the spectral gap, the largest ratio of a variance to the next one. Texts:
    000a 5.1 (the knee; figures 5.5, 5.9, 7.1) · 002 "PCA" (the gap).

    Parameters
    ----------
    variances : array-like, PCA or ComponentChoice
        A fitted object's ``explained_variance_`` or ``variances`` are taken.
    kept : int or None, default=None
        How many to mark as kept; a choice brings its own.
    noise : array-like or None, default=None
        Variances of noise to compare with; a choice by "parallel" brings its own.
    normalized : bool, default=False
        Divide by the largest variance.
    zoom : int or None, default=None
        A second panel, with the variances from this component on, on its own scale.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(scree([4.0, 2.0, 0.1], kept=2).data)
    3
    >>> "gap after 2" in scree([4.0, 2.0, 0.1]).layout.title.text
    True
    """
    total = None
    if hasattr(variances, "explained_variance_"):
        kept = variances.n_components_ if kept is None else kept
        total = variances.total_variance_
        variances = variances.explained_variance_
    elif hasattr(variances, "criterion"):
        kept = variances.n_components if kept is None else kept
        noise = variances.reference if noise is None else noise
        variances = variances.variances
    values = np.asarray(variances, dtype=float)
    total = values.sum() if total is None else total
    number = np.arange(1, len(values) + 1)
    if zoom is not None and not 1 <= zoom <= len(values):
        raise DataError(f"zoom={zoom} is a component, 1 to {len(values)}")
    shares = np.cumsum(values) / max(total, 1e-300)
    gap = _spectral_gap(values)
    unit = max(float(values.max(initial=0.0)), 1e-300) if normalized else 1.0
    values = values / unit
    panels = [{"secondary_y": True}] if zoom is None else [{"secondary_y": True}, {}]
    figure = make_subplots(1, len(panels), specs=[panels], horizontal_spacing=0.26)
    ours = np.ones(len(values), bool) if kept is None else number <= kept
    for name, which, tint in (("kept", ours, color(0)), ("left out", ~ours, look(theme).faint)):
        if which.any():
            figure.add_bar(
                x=number[which],
                y=values[which],
                name=name if kept is not None else "variance",
                marker_color=tint,
                hovertemplate="component %{x}: %{y:.4g}<extra></extra>",
                row=1,
                col=1,
            )
    figure.add_scatter(
        x=number,
        y=shares,
        name="share so far",
        mode="lines+markers",
        line={"color": color(1), "width": 2},
        marker={"size": 5},
        secondary_y=True,
        hovertemplate="%{x} components: %{y:.1%}<extra></extra>",
        row=1,
        col=1,
    )
    if noise is not None:
        figure.add_scatter(
            x=number,
            y=np.asarray(noise) / unit,
            name="of noise",
            mode="lines",
            line={"color": color(3), "dash": "dash", "width": 2},
            row=1,
            col=1,
        )
    if zoom is not None:
        _zoomed(figure, number[zoom - 1 :], values[zoom - 1 :], theme)
    said = [] if kept is None else [f"{kept} kept: {shares[kept - 1] if kept else 0:.1%}"]
    if gap:
        line = {"color": look(theme).strong, "width": 2, "dash": "dot"}
        figure.add_vline(x=gap + 0.5, line=line, row=1, col=1)
        said.append(f"dotted: the spectral gap after {gap}")
    name = "variance / largest" if normalized else "variance"
    dress(
        figure,
        "Variance of components",
        theme,
        note="; ".join(said),
        barmode="overlay",
        **legend_below(),
    )
    few = len(values) <= (20 if zoom is None else 8)
    figure.update_xaxes(title="component", dtick=1 if few else None, showgrid=False)
    figure.update_yaxes(title=name, rangemode="tozero")
    if zoom is not None:
        figure.update_yaxes(title="", row=1, col=2)
    figure.update_yaxes(
        title="share so far",
        range=[0, 1.05],
        tickmode="array",
        tickvals=[0, 0.2, 0.4, 0.6, 0.8, 1],
        tickformat=".0%",
        showgrid=False,
        secondary_y=True,
    )
    return figure


def _spectral_gap(values: np.ndarray) -> int:
    """After how many components the ratio of a variance to the next is largest, 0 for one alone.

    What lies below rounding counts as equal, as in `gnomon.reduce.choose_components`.
    """
    real = np.maximum(values, max(float(values.max(initial=0.0)) * 1e-14, 1e-300))
    return int(np.argmax(real[:-1] / real[1:])) + 1 if len(real) > 1 else 0


def _zoomed(figure: go.Figure, number: np.ndarray, values: np.ndarray, theme: str) -> None:
    figure.add_scatter(
        x=number,
        y=values,
        mode="lines+markers",
        line={"color": look(theme).faint, "width": 2},
        marker={"size": 6, "color": color(0)},
        name=f"from component {number[0]} on",
        hovertemplate="component %{x}: %{y:.4g}<extra></extra>",
        row=1,
        col=2,
    )


def map_points(
    places: Any,
    classes: Any = None,
    *,
    names: Sequence[str] | None = None,
    axes: Sequence[str] = ("coordinate 1", "coordinate 2"),
    title: str = "Map of the rows",
    note: str = "",
    theme: str = "light",
):
    """Rows on a map of two dimensions, by class; both axes have the same scale.

    Parameters
    ----------
    places : array-like of shape (n, 2 or more), or an object with ``places`` or ``embedding_``
    classes : array-like of shape (n,) or None, default=None
    names : sequence of str or None, default=None
        Shown beside the points where they are at most 60, else on hovering.
    axes : two str
    title, note : str
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(map_points([[0, 0], [1, 1], [2, 0]], ["a", "b", "a"]).data)
    2
    """
    at = _places(places)
    groups = np.full(len(at), "") if classes is None else np.asarray(classes).astype(str)
    if len(groups) != len(at):
        raise DataError(f"there are {len(at)} points and {len(groups)} classes")
    written = np.arange(len(at)).astype(str) if names is None else np.asarray(names, dtype=str)
    beside = names is not None and len(at) <= 60
    figure = go.Figure()
    for k, each in enumerate(np.unique(groups)):
        mine = groups == each
        figure.add_scatter(
            x=at[mine, 0],
            y=at[mine, 1],
            mode="markers+text" if beside else "markers",
            text=written[mine],
            textposition="top center",
            name=label(each),
            marker={
                "color": color(k),
                "symbol": SYMBOLS[(k + k // 8) % 8],
                "size": 6 if len(at) > 500 else 8,
                "opacity": 0.75,
            },
            hovertemplate="%{text}: %{x:.3g}, %{y:.3g}<extra>" + label(each) + "</extra>",
        )
    dress(figure, title, theme, note=note, showlegend=classes is not None, **legend_below())
    figure.update_xaxes(title=axes[0])
    figure.update_yaxes(title=axes[1], scaleanchor="x")
    return figure


def keyword_map(places: Any, found: Any, *, most: int = 5, theme: str = "light"):
    """A map cut into blocks, with the words that go with lying in each.

    Text: 000a 6.3.3 (Figure 6.4).

    Parameters
    ----------
    places : array-like of shape (n, 2), or an object with ``places`` or ``embedding_``
    found : BlockKeywords
        From `gnomon.reduce.block_keywords`.
    most : int, default=5
        Words per block; hovering over a block's words shows all with their correlations.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.reduce import block_keywords
    >>> places = [[0.0, 0.0], [0.1, 1.0], [1.0, 0.1], [1.1, 1.1]]
    >>> counts = [[3, 0], [3, 1], [0, 1], [0, 2]]
    >>> found = block_keywords(places, counts, ["cat", "dog"], n_blocks=2)
    >>> len(keyword_map(places, found).data)
    2
    """
    at = _places(places)
    tint = look(theme)
    ends = [np.r_[at[:, c].min(), found.cuts[c], at[:, c].max()] for c in (0, 1)]
    figure = go.Figure()
    figure.add_scatter(
        x=at[:, 0],
        y=at[:, 1],
        mode="markers",
        marker={"color": color(0), "size": 5, "opacity": 0.3},
        hovertemplate="%{x:.3g}, %{y:.3g}<extra></extra>",
        showlegend=False,
    )
    blocks = list(found.keywords.items())
    figure.add_scatter(
        x=[(ends[0][a] + ends[0][a + 1]) / 2 for (a, _), _ in blocks],
        y=[(ends[1][b] + ends[1][b + 1]) / 2 for (_, b), _ in blocks],
        mode="text",
        text=["<br>".join(label(word) for word, _ in words[:most]) for _, words in blocks],
        textfont={"color": tint.ink, "size": 13},
        hovertext=[
            "<br>".join(f"{label(word)} {size:.2f}" for word, size in words) for _, words in blocks
        ],
        hoverinfo="text",
        showlegend=False,
    )
    for c, add in ((0, figure.add_vline), (1, figure.add_hline)):
        for cut in found.cuts[c]:
            add(cut, line={"color": tint.faint, "width": 1, "dash": "dot"})
    note = f"{len(at):,} items; words by correlation with lying in a block, cut at quantiles"
    dress(figure, "What lies where on the map", theme, note=note, showlegend=False)
    figure.update_xaxes(title="coordinate 1")
    figure.update_yaxes(title="coordinate 2")
    return figure


def _places(given: Any) -> np.ndarray:
    for name in ("places", "embedding_"):
        if hasattr(given, name):
            given = getattr(given, name)
    at = np.asarray(given, dtype=float)
    if at.ndim != 2 or at.shape[1] < 2:
        raise DataError(f"a map has two coordinates for each point, not shape {at.shape}")
    return at


def biplot(
    pca: Any,
    X: Any,
    classes: Any = None,
    *,
    names: Sequence[str] | None = None,
    most: int = 12,
    theme: str = "light",
):
    """Rows in the first two principal coordinates, and the columns as arrows.

    An arrow points where its column grows; columns with arrows in one direction go together. Text:
    000a 5.1.

    Parameters
    ----------
    pca : PCA
        Fitted with two components or more.
    X : array-like or table
        The rows.
    classes : array-like or None, default=None
    names : sequence of str or None, default=None
        Names of the columns.
    most : int, default=12
        Draw the arrows of so many columns, those with the largest loadings.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import PCA
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0], [3.0, 6.0]])
    >>> len(biplot(PCA(2).fit(X), X).layout.annotations)
    2
    """
    if pca.n_components_ < 2:
        raise DataError("a biplot needs two components; fit with n_components=2 or more")
    at = np.asarray(pca.transform(X))[:, :2]
    shares = pca.explained_variance_ratio_
    axes = [f"component {k + 1} ({shares[k]:.1%} of the variance)" for k in range(2)]
    d = pca.components_.shape[1]
    if names is None:
        seen = getattr(pca, "feature_names_in_", None)
        names = [f"x{j}" for j in range(d)] if seen is None or len(seen) != d else list(seen)
    figure = map_points(at, classes, axes=axes, title="Rows and columns together", theme=theme)
    loadings = pca.components_[:2].T * np.sqrt(pca.explained_variance_[:2])
    sizes = np.linalg.norm(loadings, axis=1)
    drawn = np.argsort(-sizes)[:most]
    reach = 0.9 * np.abs(at).max() / max(float(np.abs(loadings).max()), 1e-300)
    ink = look(theme).ink
    for j in drawn:
        x, y = reach * loadings[j]
        figure.add_annotation(
            x=x,
            y=y,
            ax=0,
            ay=0,
            axref="x",
            ayref="y",
            text="",
            showarrow=True,
            arrowhead=2,
            arrowwidth=1.5,
            arrowcolor=ink,
        )
        figure.add_scatter(
            x=[1.06 * x],
            y=[1.06 * y],
            mode="text",
            text=[f"<b>{label(names[j])}</b>"],
            textfont={"color": ink, "size": 13},
            showlegend=False,
            hoverinfo="skip",
        )
    left_out = d - len(drawn)
    note = "arrows: columns, scaled to the picture"
    if left_out > 0:
        note += f"; {left_out} with smaller loadings are not drawn"
    return dress(
        figure,
        "Rows and columns together",
        theme,
        note=note,
        showlegend=classes is not None,
        **legend_below(),
    )


def canonical_correlations(test: Any, *, theme: str = "light"):
    """Canonical correlations and Wilks' lambda by rank, each with the band of shuffled rows.

    Correlations of the shuffles follow from their lambdas, whose ratios are 1 - rho^2. Text: 000a
    7.3 (figure 7.1; figures 7.7-7.9 show one rank at a time).

    Parameters
    ----------
    test : CanonicalTest
        From `gnomon.reduce.cca_permutation_test`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import cca_permutation_test
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(2, 50, 3))
    >>> figure = canonical_correlations(cca_permutation_test(X, Y, n_permutations=19))
    >>> len(figure.data)
    6
    """
    r = np.arange(1, len(test.correlations) + 1)
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.45, 0.55], vertical_spacing=0.08
    )
    figure.add_scatter(
        x=r,
        y=test.correlations,
        mode="lines+markers",
        name="correlation",
        line={"color": color(0), "width": 2},
        row=1,
        col=1,
    )
    ahead = np.column_stack([np.ones(len(test.shuffled)), test.shuffled[:, :-1]])
    shuffled = np.sqrt(np.clip(1 - test.shuffled / np.maximum(ahead, 1e-300), 0.0, 1.0))
    for line, drawn in ((1, shuffled), (2, test.shuffled)):
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        for edge, fill in ((high, None), (low, "tonexty")):
            figure.add_scatter(
                x=r,
                y=edge,
                mode="lines",
                line={"width": 0},
                fill=fill,
                fillcolor=faded("#8C8C8C", 0.35),
                name="95% of shuffles",
                showlegend=line == 2 and fill is not None,
                hoverinfo="skip",
                row=line,
                col=1,
            )
    figure.add_scatter(
        x=r,
        y=test.wilks,
        mode="lines+markers",
        name="observed lambda",
        line={"color": color(1), "width": 2},
        customdata=np.column_stack([test.fractions, test.p_values]),
        hovertemplate="first %{x}: %{y:.3g}, f = %{customdata[0]:.3f}<extra></extra>",
        row=2,
        col=1,
    )
    dress(
        figure,
        "Canonical correlations",
        theme,
        note=f"{len(test.shuffled)} shuffles; a correlation above its band, and a lambda below it, "
        f"is more than chance; keep {test.kept}",
        height=560,
        **legend_below(),
    )
    figure.update_yaxes(title="correlation", range=[0, 1.03], row=1, col=1)
    decades = np.log10(max(min(test.wilks.min(), test.shuffled.min()), 1e-300))
    figure.update_yaxes(
        title="Wilks' lambda",
        type="log",
        exponentformat="power",
        dtick=max(1, int(-decades // 6)) if decades < -1 else None,
        row=2,
        col=1,
    )
    figure.update_xaxes(title="r", dtick=1 if len(r) <= 20 else None, row=2, col=1)
    return figure


def network(
    net: Any,
    places: Any,
    *,
    classes: Any = None,
    focus: int | None = None,
    steps: int = 1,
    weighted: bool = False,
    values: Any = None,
    known: Any = None,
    title: str = "Layout of the graph",
    note: str = "",
    theme: str = "light",
):
    """A graph drawn at given places; with a focus, its surroundings before the faded whole.

    Text: 004 15.1 (weighted graph), 16 (Figures 16.1-16.8; focus and context in 16.2-16.3), 17.3
    (known nodes with averaged values).

    Parameters
    ----------
    net : Graph
        From `gnomon.reduce.graph` and its kin.
    places : array-like of shape (n_nodes, 2), or an object with ``places``
    classes : array-like of shape (n_nodes,) or None, default=None
    focus : int or None, default=None
        Node whose surroundings are brought forward.
    steps : int, default=1
        How far they reach.
    weighted : bool, default=False
        Edges are as wide as the graph's values say, in five steps.
    values : array-like of shape (n_nodes,) or None, default=None
        A number for each node, shown by its colour (and written where nodes are few).
    known : array-like of bool of shape (n_nodes,) or None, default=None
        Nodes whose value was given, not averaged from neighbours: they have a thick rim.
    title, note : str
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.reduce import lattice, spectral_layout
    >>> net = lattice(3, 3)
    >>> len(network(net, spectral_layout(net), focus=4).data)
    4
    """
    from gnomon.reduce.layout import ego_network

    at = _places(places)
    if len(at) != net.n_nodes:
        raise DataError(f"the graph has {net.n_nodes} nodes, the layout {len(at)}")
    tint = look(theme)
    near = np.ones(net.n_nodes, bool)
    if focus is not None:
        near = np.zeros(net.n_nodes, bool)
        near[ego_network(net, focus, steps)[1]] = True
        note = note or f"{int(near.sum()) - 1} nodes within {steps} of {net.names[focus]}"
    figure = go.Figure()
    inside = near[net.edges].all(axis=1)
    for shown, line in ((~inside, {"color": tint.grid, "width": 1}), (inside, None)):
        line = line or {"color": tint.faint, "width": 1.2}
        for part, width in _by_weight(net, shown) if weighted else [(shown, line["width"])]:
            if part.any():
                x, y = _segments(at, net.edges[part])
                figure.add_scatter(
                    x=x,
                    y=y,
                    mode="lines",
                    line=line | {"width": width},
                    hoverinfo="skip",
                    showlegend=False,
                )
    groups = np.full(net.n_nodes, "") if classes is None else np.asarray(classes).astype(str)
    names = np.asarray(net.names, dtype=str)
    for k, each in enumerate(np.unique(groups)):
        for mine, opacity in ((groups == each) & ~near, 0.25), ((groups == each) & near, 1.0):
            if not mine.any():
                continue
            few = focus is not None and opacity == 1.0 and mine.sum() <= 30
            few = (few or net.n_nodes <= 40) and values is None
            figure.add_scatter(
                x=at[mine, 0],
                y=at[mine, 1],
                mode="markers+text" if few else "markers",
                text=names[mine],
                textposition="top center",
                marker={
                    "color": color(k),
                    "symbol": SYMBOLS[(k + k // 8) % 8],
                    "size": 9 if net.n_nodes <= 200 else 5,
                    "opacity": opacity,
                    "line": {"color": tint.paper, "width": 1},
                },
                name=label(each),
                legendgroup=str(each),
                showlegend=classes is not None and opacity == 1.0,
                hovertemplate="%{text}<extra>" + label(each) + "</extra>",
            )
    if values is not None:
        _valued(figure, at, net, np.asarray(values, dtype=float), known, tint)
    if weighted and not note:
        note = f"edges of {net.values.min():.3g} (thin) to {net.values.max():.3g} (thick)"
    note = note or f"{net.n_nodes} nodes, {len(net.edges)} edges"
    dress(figure, title, theme, note=note, showlegend=classes is not None, **legend_below())
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x")
    return figure


def _by_weight(net: Any, shown: np.ndarray) -> list[tuple[np.ndarray, float]]:
    """Edges in five steps of their values, each with its width."""
    low, high = float(net.values.min()), float(net.values.max())
    step = np.minimum((5 * (net.values - low) / max(high - low, 1e-300)).astype(int), 4)
    return [(shown & (step == k), 0.8 + 1.6 * k) for k in range(5)]


def _valued(figure: go.Figure, at, net, values: np.ndarray, known: Any, tint) -> None:
    """Nodes coloured by their values; those that were given have a thick rim."""
    if values.shape != (net.n_nodes,):
        raise DataError(f"the graph has {net.n_nodes} nodes, not values of shape {values.shape}")
    given = np.zeros(net.n_nodes, bool) if known is None else np.asarray(known, dtype=bool)
    few = net.n_nodes <= 40
    figure.add_scatter(
        x=at[:, 0],
        y=at[:, 1],
        mode="markers+text" if few else "markers",
        text=[f"{label(name)}<br>{v:.2g}" for name, v in zip(net.names, values, strict=True)],
        textposition="bottom center",
        textfont={"size": 12, "color": tint.ink},
        marker={
            "color": values,
            "colorscale": "Cividis",
            "size": 20 if few else 9,
            "line": {"color": tint.strong, "width": np.where(given, 4, 0)},
            "colorbar": {"title": {"text": "value"}, "thickness": 12, "len": 0.7},
        },
        hovertemplate="%{text}<extra></extra>",
        name="values (thick rim: known)",
        showlegend=False,
    )


def _segments(at: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gap = np.full(len(edges), np.nan)
    lines = [np.column_stack([at[edges[:, 0], c], at[edges[:, 1], c], gap]).ravel() for c in (0, 1)]
    return lines[0], lines[1]


def shepard(distances: Any, places: Any, *, random_state: int = 0, theme: str = "light"):
    """Distances on a map against those it should keep: on the line where it keeps them.

    Parameters
    ----------
    distances : array-like of shape (n, n) or condensed
    places : array-like of shape (n, k), or an object with ``places`` or ``embedding_``
    random_state : int, default=0
        Seed of the pairs drawn, where there are more than 20,000 (the note says so).
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> len(shepard([[0, 1], [1, 0]], [[0, 0], [0, 2]]).data)
    2
    """
    given = np.asarray(distances, dtype=float)
    given = squareform(given, checks=False) if given.ndim == 2 else given
    drawn = pdist(_places(places))
    if len(drawn) != len(given):
        raise DataError(f"there are {len(given)} distances and {len(drawn)} pairs on the map")
    known = np.flatnonzero(~np.isnan(given))
    said = f"{len(known):,} pairs"
    error = np.sqrt(((given - drawn)[known] ** 2).sum() / max((given[known] ** 2).sum(), 1e-300))
    if len(known) > MOST_PAIRS:
        said = f"{MOST_PAIRS:,} of {len(known):,} pairs, drawn at random"
        known = np.random.default_rng(random_state).choice(known, MOST_PAIRS, replace=False)
    figure = go.Figure()
    figure.add_scattergl(
        x=given[known],
        y=drawn[known],
        mode="markers",
        marker={"color": color(0), "size": 4, "opacity": 0.3},
        name="pairs",
        hovertemplate="given %{x:.3g}, on the map %{y:.3g}<extra></extra>",
    )
    top = max(given[known].max(initial=0.0), drawn[known].max(initial=0.0))
    figure.add_scatter(
        x=[0, top],
        y=[0, top],
        mode="lines",
        name="kept exactly",
        line={"color": look(theme).strong, "width": 2},
    )
    dress(
        figure,
        "Distances kept by the map",
        theme,
        note=f"{said}; relative error {error:.3g}",
        **legend_below(),
    )
    figure.update_xaxes(title="given distance", rangemode="tozero")
    figure.update_yaxes(title="distance on the map", rangemode="tozero")
    return figure


def eigenimages(
    pca: Any,
    shape: tuple[int, int],
    *,
    most: int = 8,
    item: Any = None,
    counts: Sequence[int] = (1, 2, 5, 10, 20, 50),
    theme: str = "light",
):
    """The mean and the components of images as images, and one image from ever more of them.

    Components have grey where they are zero; each has its own scale. Texts: 000a 5.3 · 002
    "eigen-images".

    Parameters
    ----------
    pca : PCA
        Fitted on images as rows.
    shape : (int, int)
        Height and width.
    most : int, default=8
        Components to show.
    item : array-like of shape (height * width,) or None, default=None
        An image to rebuild.
    counts : sequence of int
        By how many components.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import PCA
    >>> images = np.random.default_rng(0).normal(size=(30, 16))
    >>> len(eigenimages(PCA(3).fit(images), (4, 4)).data)
    4
    """
    d = pca.components_.shape[1]
    if shape[0] * shape[1] != d:
        raise DataError(f"images of shape {shape} have {shape[0] * shape[1]} cells, not {d}")
    pictures = [("mean", pca.mean_, False)]
    for k in range(min(most, pca.n_components_)):
        share = pca.explained_variance_ratio_[k]
        pictures.append((f"{k + 1} ({share:.1%})", pca.components_[k], True))
    if item is not None:
        given = np.asarray(item, dtype=float).ravel()
        scores = (given - pca.mean_) @ pca.components_.T
        for count in [c for c in counts if c <= pca.n_components_]:
            rebuilt = pca.mean_ + scores[:count] @ pca.components_[:count]
            pictures.append((f"from {count}", rebuilt, False))
        pictures.append(("the image", given, False))
    note = "mean and components (grey: zero, each on its own scale)"
    return _pictures(pictures, shape, "Components as images", note, theme)


def residual_images(
    residuals: Any, shape: tuple[int, int], *, most: int = 5, common: bool = True, theme="light"
):
    """What a model of images leaves: the mean residual and its first components, grey for zero.

    For any reconstruction: residual = image - reconstruction. Text: 000c exercises 19.1, 19.3.

    Parameters
    ----------
    residuals : array-like of shape (n, height * width)
    shape : (int, int)
        Height and width.
    most : int, default=5
        Components; each is drawn with the length of one standard deviation.
    common : bool, default=True
        One scale for all images, or one for each.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import numpy as np
    >>> left = np.random.default_rng(0).normal(size=(30, 16))
    >>> len(residual_images(left, (4, 4)).data)
    6
    """
    from gnomon.reduce import PCA

    left = np.asarray(residuals, dtype=float)
    if left.ndim != 2 or shape[0] * shape[1] != left.shape[1]:
        raise DataError(f"residuals have shape {left.shape}, which are no images of {shape}")
    pca = PCA(min(most, *left.shape), ddof=0).fit(left)
    pictures = [("mean", pca.mean_, True)]
    for k in range(pca.n_components_):
        spread = np.sqrt(pca.explained_variance_[k])
        share = pca.explained_variance_ratio_[k]
        pictures.append((f"{k + 1} ({share:.1%})", spread * pca.components_[k], True))
    size = max(float(np.abs(each).max()) for _, each, _ in pictures) if common else None
    scale = "one scale for all" if common else "each on its own scale"
    note = f"mean and components of one standard deviation; mid grey: zero; {scale}"
    return _pictures(pictures, shape, "What the model leaves", note, theme, size)


def _pictures(pictures, shape, title: str, note: str, theme: str, size: float | None = None):
    """A sheet of images; signed ones are grey at zero."""
    across = len(pictures) if len(pictures) <= 6 else 5
    down = -(-len(pictures) // across)
    figure = make_subplots(
        rows=down,
        cols=across,
        subplot_titles=[name for name, _, _ in pictures],
        horizontal_spacing=0.02,
        vertical_spacing=0.25 / down,
    )
    for k, (name, values, signed) in enumerate(pictures):
        top = size if size is not None else float(np.abs(values).max()) or 1.0
        limits = {"zmin": -top, "zmax": top} if signed else {}
        figure.add_heatmap(
            z=np.asarray(values).reshape(shape),
            colorscale="Greys_r",
            showscale=False,
            hovertemplate=f"{name}: row %{{y}}, column %{{x}}: %{{z:.3g}}<extra></extra>",
            row=k // across + 1,
            col=k % across + 1,
            **limits,
        )
    dress(figure, title, theme, note=note, height=150 + 200 * down, width=200 * across + 80)
    figure.update_xaxes(visible=False, constrain="domain")
    for k in range(len(pictures)):
        anchor = f"x{k + 1 if k else ''}"
        figure.update_yaxes(
            visible=False,
            autorange="reversed",
            scaleanchor=anchor,
            constrain="domain",
            row=k // across + 1,
            col=k % across + 1,
        )
    return figure
