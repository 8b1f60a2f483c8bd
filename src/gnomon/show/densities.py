"""Pictures of densities and posteriors: families, priors turning into posteriors, the simplex,
kriging surfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.show.labels import label
from gnomon.show.theme import (
    DIVERGING,
    SEQUENTIAL,
    color,
    dress,
    faded,
    legend_below,
    look,
)

N_PLACES = 501  # more places than a line has pixels
# Of a triangle with sides of length 1.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])


def density_curves(
    members: Mapping[str, Any],
    low: float,
    high: float,
    *,
    parts: bool = True,
    cumulated: bool = False,
    threshold: float | None = None,
    x_name: str = "outcome",
    theme: str = "light",
) -> go.Figure:
    """Density curves of distributions of one number, side by side: a family, its heavy tails.

    A mixture is drawn with its weighted components as thin lines below it. With a threshold the
    mass beyond it is shaded and told. Texts: 002 (normals, Student, mixtures), 003 3.2.

    Parameters
    ----------
    members : mapping of str to distribution
        Each has ``density``.
    low, high : float
        Between which the curves are drawn.
    parts : bool, default=True
        Draw the components of mixtures, too.
    cumulated : bool, default=False
        Draw the cumulated densities in a second panel.
    threshold : float, default=None
        Shade the mass beyond this number under the first curve.
    x_name : str, default="outcome"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.density import Normal, StudentT
    >>> figure = density_curves({"normal": Normal().member(mean=0, variance=1)}, -4, 4)
    >>> len(figure.data)
    1
    """
    if not members or not high > low:
        raise DataError("give one distribution or more, and low < high")
    x = np.linspace(low, high, N_PLACES)
    figure = make_subplots(rows=1, cols=2 if cumulated else 1, horizontal_spacing=0.1)
    told = ""
    for k, (name, member) in enumerate(members.items()):
        line = np.asarray(member.density(x))
        style = {"color": color(k), "width": 2.5}
        figure.add_scatter(
            x=x,
            y=line,
            mode="lines",
            name=label(name),
            line=style,
            legendgroup=str(k),
            row=1,
            col=1,
        )
        if parts and hasattr(member, "components"):
            _add_parts(figure, member, x, k)
        if cumulated:
            steps = np.diff(x) * (line[1:] + line[:-1]) / 2
            total = np.concatenate([[0.0], np.cumsum(steps)])
            figure.add_scatter(
                x=x, y=total, mode="lines", line=style, legendgroup=str(k), showlegend=False,
                row=1, col=2,
            )  # fmt: skip
        if k == 0 and threshold is not None:
            told = _shade(figure, member, threshold, high, look(theme))
    figure.update_xaxes(title=label(x_name))
    figure.update_yaxes(title="density", rangemode="tozero", col=1)
    if cumulated:
        figure.update_yaxes(title="mass up to here", col=2)
    return dress(
        figure,
        f"Densities of {len(members)} distributions" if len(members) > 1 else "Density",
        theme,
        note=told,
        width=1000 if cumulated else 820,
        height=520,
        showlegend=True,
        **legend_below(),
    )


def _add_parts(figure: go.Figure, mixture: Any, x: np.ndarray, k: int) -> None:
    for weight, part in zip(mixture.weights, mixture.components):
        figure.add_scatter(
            x=x,
            y=weight * np.asarray(part.density(x)),
            mode="lines",
            line={"color": color(k), "width": 1.2, "dash": "dot"},
            legendgroup=str(k),
            showlegend=False,
            hoverinfo="skip",
            row=1,
            col=1,
        )


def _shade(figure: go.Figure, member: Any, threshold: float, high: float, look_of) -> str:
    beyond = np.linspace(threshold, high, N_PLACES)
    line = np.asarray(member.density(beyond))
    mass = float(np.trapezoid(line, beyond))
    figure.add_scatter(
        x=np.concatenate([beyond, beyond[::-1]]),
        y=np.concatenate([line, np.zeros(len(line))]),
        fill="toself",
        fillcolor=faded(color(0), 0.35),
        line={"width": 0},
        mode="lines",
        showlegend=False,
        hoverinfo="skip",
        row=1,
        col=1,
    )
    figure.add_vline(x=threshold, line={"color": look_of.strong, "dash": "dash"}, row=1, col=1)
    return f"shaded: {mass:.3g} of the first beyond {threshold:g}"


def posterior_curves(
    beliefs: Mapping[str, Any],
    low: float,
    high: float,
    *,
    likelihood: Any = None,
    confidence_level: float = 0.95,
    name: str = "parameter",
    theme: str = "light",
) -> go.Figure:
    """Prior and posteriors of one number as data come in, with the last credible interval.

    Text: 002 (prior, likelihood and posterior; the sequence with growing n).

    Parameters
    ----------
    beliefs : mapping of str to posterior
        In the order of learning, such as {"prior": p, "4 rows": p.update(x)}; each has ``density``,
        the last also ``interval``.
    low, high : float
        Between which the curves are drawn.
    likelihood : callable, default=None
        Of the parameter: drawn dashed, scaled to unit area.
    confidence_level : float, default=0.95
    name : str, default="parameter"
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.bayes import BetaBinomial
    >>> prior = BetaBinomial(2, 2)
    >>> figure = posterior_curves({"prior": prior, "9 rows": prior.update([1] * 9)}, 0, 1)
    >>> [trace.name for trace in figure.data]
    ['95% credible', 'prior', '9 rows']
    """
    if not beliefs or not high > low:
        raise DataError("give one belief or more, and low < high")
    look_of = look(theme)
    x = np.linspace(low, high, N_PLACES)
    figure = go.Figure()
    last = list(beliefs.values())[-1]
    interval = last.interval(confidence_level)
    inside = x[(x >= interval.low) & (x <= interval.high)]
    band = np.concatenate([[interval.low], inside, [interval.high]])
    heights = np.asarray(last.density(band))
    figure.add_scatter(
        x=np.concatenate([band, band[::-1]]),
        y=np.concatenate([heights, np.zeros(len(band))]),
        fill="toself",
        fillcolor=faded(color(len(beliefs) - 1), 0.22),
        line={"width": 0},
        mode="lines",
        name=f"{confidence_level:.0%} credible",
        hoverinfo="skip",
    )
    for k, (told, belief) in enumerate(beliefs.items()):
        figure.add_scatter(
            x=x,
            y=np.asarray(belief.density(x)),
            mode="lines",
            line={"color": color(k), "width": 2.5},
            name=label(told),
        )
    if likelihood is not None:
        line = np.array([float(likelihood(t)) for t in x])
        line = line / np.trapezoid(line, x)
        figure.add_scatter(
            x=x,
            y=line,
            mode="lines",
            line={"color": look_of.ink, "width": 1.8, "dash": "dash"},
            name="likelihood (unit area)",
        )
    figure.update_xaxes(title=label(name))
    figure.update_yaxes(title="density", rangemode="tozero")
    return dress(
        figure,
        f"What is believed of the {label(name)}",
        theme,
        note=f"last: {interval} with {confidence_level:.0%} probability",
        width=860,
        height=540,
        **legend_below(),
    )


def simplex(
    density: Any = None,
    *,
    points: Any = None,
    names: Sequence[str] = ("first", "second", "third"),
    n_cells: int = 240,
    theme: str = "light",
) -> go.Figure:
    """The triangle of the probabilities of three categories, with a density, points, or both.

    A corner is certainty of its category. Text: 002 (Dirichlet densities for several alpha, and
    after an observation).

    Parameters
    ----------
    density : distribution, default=None
        Has ``density`` of rows of three probabilities: a `Dirichlet` member, or a posterior.
    points : array-like of shape (n, 3), default=None
    names : sequence of three str
    n_cells : int, default=240
        Cells of the heat map along an edge.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.density import Dirichlet
    >>> figure = simplex(Dirichlet(3).member(alpha=[2, 3, 4]))
    >>> figure.data[0].type
    'heatmap'
    """
    if density is None and points is None:
        raise DataError("give a density, points, or both")
    look_of = look(theme)
    figure = go.Figure()
    note = ""
    if density is not None:
        x = np.linspace(0, 1, n_cells)
        y = np.linspace(0, CORNERS[2, 1], n_cells)
        shares = _shares(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
        inside = (shares > 1e-6).all(axis=1)
        heights = np.full(len(shares), np.nan)
        heights[inside] = density.density(shares[inside])
        greatest = float(np.nanmax(heights))
        most = min(greatest, 2 * float(np.nanquantile(heights, 0.99)))
        figure.add_heatmap(
            x=x,
            y=y,
            z=heights.reshape(n_cells, n_cells),
            zmin=0,
            zmax=most,
            colorscale=SEQUENTIAL,
            colorbar={"title": "density", "thickness": 14},
            hoverinfo="skip",
        )
        if greatest > most:
            note = f"colours end at {most:.3g}; at the brightest places it reaches {greatest:.3g}"
    if points is not None:
        at = np.asarray(points, dtype=np.float64)
        if at.ndim != 2 or at.shape[1] != 3 or not np.allclose(at.sum(axis=1), 1):
            raise DataError("points are rows of three probabilities")
        places = at @ CORNERS
        figure.add_scatter(
            x=places[:, 0],
            y=places[:, 1],
            mode="markers",
            marker={
                "size": 6,
                "color": look_of.strong,
                "line": {"width": 1, "color": look_of.paper},
            },
            name="points",
        )
    edge = np.vstack([CORNERS, CORNERS[:1]])
    figure.add_scatter(
        x=edge[:, 0],
        y=edge[:, 1],
        mode="lines",
        line={"color": look_of.ink, "width": 2},
        hoverinfo="skip",
        showlegend=False,
    )
    for corner, name, (dx, dy) in zip(CORNERS, names, ((-10, -18), (10, -18), (0, 16))):
        figure.add_annotation(
            x=corner[0], y=corner[1], text=label(name), showarrow=False, xshift=dx, yshift=dy
        )
    figure.update_xaxes(visible=False, range=[-0.12, 1.12])
    figure.update_yaxes(visible=False, range=[-0.12, 1.0], scaleanchor="x")
    return dress(
        figure,
        "Probabilities of three categories",
        theme,
        note=note,
        width=760,
        height=660,
        showlegend=False,
    )


def _shares(places: np.ndarray) -> np.ndarray:
    """Probabilities of places in the triangle."""
    third = places[:, 1] / CORNERS[2, 1]
    second = places[:, 0] - third / 2
    return np.column_stack([1 - second - third, second, third])


def kriging_surface(
    estimator: Any,
    *,
    names: Sequence[str] = ("x", "y"),
    value_name: str = "value",
    n_cells: int = 60,
    rule: str = "expected-improvement",
    theme: str = "light",
) -> go.Figure:
    """A kriging surface of two columns with its pins, its uncertainty, and the next sample.

    Left the estimate, right the standard deviation; pins are what was measured. Text: 004 1.2.

    Parameters
    ----------
    estimator : Kriging
        Fitted on two columns.
    names : sequence of two str
        Names of the columns.
    value_name : str, default="value"
    n_cells : int, default=60
        Cells of the map along each column.
    rule : str, default="expected-improvement"
        By which the next sample is chosen; see `Kriging.next_sample`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.bayes import Kriging
    >>> sites = [[0, 0], [1, 0], [0, 1], [1, 1], [0.5, 0.5]]
    >>> figure = kriging_surface(Kriging(nugget=0).fit(sites, [0, 1, 1, 2, 1.5]))
    >>> [trace.type for trace in figure.data]
    ['contour', 'contour', 'scatter', 'scatter', 'scatter', 'scatter']
    """
    sites = estimator.sites_ * estimator.scale_ + estimator.center_
    if sites.shape[1] != 2:
        raise DataError(f"a map needs two columns; the model has {sites.shape[1]}")
    look_of = look(theme)
    low, high = sites.min(axis=0), sites.max(axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    axes = [np.linspace(a - m, b + m, n_cells) for a, b, m in zip(low, high, margin)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    following = estimator.next_sample(grid, rule)
    figure = make_subplots(
        rows=1,
        cols=2,
        subplot_titles=[f"estimated {label(value_name)}", "standard deviation"],
        horizontal_spacing=0.17,
    )
    layers = (
        (following.estimate, DIVERGING if following.estimate.min() < 0 else SEQUENTIAL, 0.43),
        (following.deviation, SEQUENTIAL, 1.02),
    )
    for column, (values, scale, place) in enumerate(layers, start=1):
        ends = {}
        if scale == DIVERGING:
            most = float(np.abs(values).max())
            ends = {"zmin": -most, "zmax": most}
        figure.add_contour(
            x=axes[0],
            y=axes[1],
            z=values.reshape(n_cells, n_cells),
            colorscale=scale,
            contours={"showlines": False},
            ncontours=24,
            colorbar={"x": place, "thickness": 12, "len": 0.9},
            row=1,
            col=column,
            **ends,
        )
    for column in (1, 2):
        figure.add_scatter(
            x=sites[:, 0],
            y=sites[:, 1],
            mode="markers",
            marker={
                "size": 7,
                "color": look_of.paper,
                "line": {"width": 1.5, "color": look_of.ink},
            },
            name="measured",
            showlegend=column == 1,
            row=1,
            col=column,
        )
        best = grid[following.place]
        figure.add_scatter(
            x=[best[0]],
            y=[best[1]],
            mode="markers",
            marker={"size": 15, "symbol": "star", "color": look_of.strong,
                    "line": {"width": 1.5, "color": look_of.ink}},
            name=f"next sample ({rule})",
            showlegend=column == 1,
            row=1,
            col=column,
        )  # fmt: skip
    figure.update_xaxes(title=label(names[0]))
    figure.update_yaxes(title=label(names[1]), col=1)
    kind = estimator.covariance_
    return dress(
        figure,
        f"Surface of {label(value_name)} from {len(sites)} measurements",
        theme,
        note=f"{kind['kind']} variogram, sill {kind['sill']:.3g}, nugget {kind['nugget']:.3g}",
        width=1080,
        height=560,
        **legend_below(top=110),
    )
