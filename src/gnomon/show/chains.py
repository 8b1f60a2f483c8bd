"""Pictures of sampling: chains over the density, traces and ranks, draws kept and rejected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon.show.theme import SEQUENTIAL, color, dress, faded, legend_below, look

MOST_POINTS = 4000  # judgement: more points hide each other


def chain_path(
    chains: Any,
    target: Callable[[np.ndarray], float],
    *,
    coordinates: tuple[int, int] = (0, 1),
    chain: int = 0,
    n_steps: int = 150,
    theme: str = "light",
) -> Any:
    """The first steps of a chain over the contours of its density, then all draws without order.

    For targets of two coordinates; of more, the density is cut at the mean of the others.

    Parameters
    ----------
    chains : Chains
    target : Target or callable
        The log density that was sampled.
    coordinates : pair of int, default=(0, 1)
    chain : int, default=0
    n_steps : int, default=150
        Steps of the path.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sample import Metropolis, gaussian_mixture, sample_chains
    >>> target = gaussian_mixture([[0.0, 0.0]], [np.eye(2)])
    >>> found = sample_chains(target, Metropolis(), 2000, random_state=0)
    >>> len(chain_path(found, target).data)
    4
    """
    import plotly.graph_objects as go

    first, second = coordinates
    draws = chains.flat
    titles = (f"first {n_steps} steps of chain {chain}", "all draws, without order")
    figure = _over_contours(draws, target, coordinates, titles)
    figure.add_trace(_steps(chains.draws[chain, :n_steps], coordinates), 1, 1)
    shown = draws[:: max(len(draws) // MOST_POINTS, 1)]
    figure.add_trace(
        go.Scattergl(
            x=shown[:, first],
            y=shown[:, second],
            mode="markers",
            marker={"size": 3, "color": faded(color(0), 0.35)},
        ),
        1,
        2,
    )
    names = chains.names
    figure.update_xaxes(title=names[first])
    figure.update_yaxes(title=names[second], col=1)
    note = f"Acceptance {chains.acceptance[chain]:.2f}; {_mixing(chains)}."
    if len(shown) < len(draws):
        note += f" Right: {len(shown):,} of {len(draws):,} draws."
    dress(figure, "A chain over its density", theme, note=note, showlegend=False)
    return figure.update_layout(margin={"t": 110})


def proposal_widths(
    runs: Mapping[str, Any],
    target: Callable[[np.ndarray], float],
    *,
    coordinates: tuple[int, int] = (0, 1),
    n_steps: int = 200,
    theme: str = "light",
) -> Any:
    """Paths of several runs side by side: too small steps crawl, too large ones are refused.

    Parameters
    ----------
    runs : mapping of str to Chains
        A name (the width of the proposal, say) for each run; the first chain of each is drawn.
    target : Target or callable
        The log density that was sampled.
    coordinates : pair of int, default=(0, 1)
    n_steps : int, default=200
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> import warnings
    >>> from gnomon.sample import GaussianWalk, Metropolis, gaussian_mixture, sample_chains
    >>> target = gaussian_mixture([[0.0, 0.0]], [np.eye(2)])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     runs = {str(width): sample_chains(target, Metropolis(GaussianWalk(width), adapt=False),
    ...                                       300, random_state=0) for width in (0.1, 1.0, 10.0)}
    >>> len(proposal_widths(runs, target).data)
    6
    """
    draws = np.concatenate([each.flat for each in runs.values()])
    titles = [f"{name}: acceptance {each.acceptance[0]:.2f}" for name, each in runs.items()]
    figure = _over_contours(draws, target, coordinates, titles)
    for column, each in enumerate(runs.values(), 1):
        figure.add_trace(_steps(each.draws[0, :n_steps], coordinates), 1, column)
    names = next(iter(runs.values())).names
    figure.update_xaxes(title=names[coordinates[0]])
    figure.update_yaxes(title=names[coordinates[1]], col=1)
    note = f"The first {n_steps} steps after the warm-up, over the contours of the density."
    dress(figure, "Steps of different widths", theme, note=note, showlegend=False)
    return figure.update_layout(margin={"t": 110})


def chain_traces(chains: Any, coordinate: str | int = 0, *, theme: str = "light") -> Any:
    """Traces, autocorrelation and ranks of all chains of one coordinate.

    Traces should look alike and not drift; autocorrelations should fall to zero; ranks should be
    spread evenly in every chain (a chain that sits elsewhere has too many low or high ones).

    Parameters
    ----------
    chains : Chains
    coordinate : str or int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sample import Slice, Target, sample_chains
    >>> found = sample_chains(Target(lambda x: -abs(x[0]), 1), Slice(), 300, random_state=0)
    >>> len(chain_traces(found).data)
    12
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    from gnomon.engine.ranks import ranks
    from gnomon.sample.diagnostics import autocorrelation

    draws = chains.of(coordinate)
    m, n = draws.shape
    name = coordinate if isinstance(coordinate, str) else chains.names[coordinate]
    figure = make_subplots(
        2,
        2,
        specs=[[{"colspan": 2}, None], [{}, {}]],
        vertical_spacing=0.2,
        subplot_titles=("trace", "autocorrelation", "ranks among all draws"),
    )
    every = max(n // 1500, 1)
    places = ranks(draws.ravel()).reshape(m, n)
    borders = np.linspace(0, m * n, 21)
    for k in range(m):
        line = {"color": faded(color(k), 0.75), "width": 1}
        figure.add_trace(
            go.Scattergl(
                x=np.arange(0, n, every),
                y=draws[k, ::every],
                mode="lines",
                line=line,
                name=f"chain {k}",
            ),
            1,
            1,
        )
        lags = autocorrelation(draws[k], min(60, n - 1))
        figure.add_trace(
            go.Scatter(y=lags, mode="lines", line={"color": color(k)}, showlegend=False), 2, 1
        )
        counts = np.histogram(places[k], borders)[0]
        figure.add_trace(
            go.Scatter(
                x=(borders[1:] + borders[:-1]) / 2,
                y=counts,
                mode="lines",
                line={"color": color(k), "shape": "hvh"},
                showlegend=False,
            ),
            2,
            2,
        )
    figure.add_hline(y=0, line={"color": look(theme).faint, "width": 1}, row=2, col=1)
    figure.add_hline(y=n / 20, line={"color": look(theme).faint, "dash": "dot"}, row=2, col=2)
    figure.update_xaxes(title="draw after the warm-up", row=1, col=1)
    figure.update_xaxes(title="lag", row=2, col=1)
    figure.update_xaxes(title="rank", row=2, col=2)
    figure.update_yaxes(title=name, row=1, col=1)
    figure.update_yaxes(title="draws per bin", rangemode="tozero", row=2, col=2)
    dress(
        figure, f"Chains of {name}", theme, note=f"{_mixing(chains)}.", height=680, **legend_below()
    )
    return figure.update_layout(margin={"t": 110})


def rejection_points(
    sample: Any, density: Callable[[np.ndarray], np.ndarray] | None = None, *, theme: str = "light"
) -> Any:
    """Points under a box or an envelope: those below the density are kept.

    Parameters
    ----------
    sample : RejectionSample
        Of one dimension.
    density : callable, default=None
        The density that was sampled, in the units of the heights; drawn where given.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sample import rejection_box
    >>> found = rejection_box(lambda x: x * (1 - x), (0, 1), 500, random_state=0)
    >>> len(rejection_points(found, lambda x: x * (1 - x)).data)
    3
    """
    import plotly.graph_objects as go

    if sample.tried.ndim != 1:
        raise ValueError("points under a curve can be drawn for draws of one dimension only")
    shown = slice(0, MOST_POINTS)
    tried, heights, kept = sample.tried[shown], sample.heights[shown], sample.kept[shown]
    figure = go.Figure()
    for label, mask, code, symbol in (
        ("rejected", ~kept, color(6), "x"),
        ("accepted", kept, color(0), "circle"),
    ):
        figure.add_trace(
            go.Scattergl(
                x=tried[mask],
                y=heights[mask],
                mode="markers",
                name=label,
                marker={"size": 4, "color": faded(code, 0.6), "symbol": symbol},
            )
        )
    if density is not None:
        points = np.linspace(tried.min(), tried.max(), 400)
        line = {"color": look(theme).strong, "width": 3}
        figure.add_trace(
            go.Scatter(x=points, y=density(points), mode="lines", name="density", line=line)
        )
    figure.add_hline(y=sample.bound, line={"color": look(theme).faint, "dash": "dot"})
    figure.update_xaxes(title="x")
    figure.update_yaxes(title="height", rangemode="tozero")
    return dress(
        figure,
        f"Rejection: {sample.acceptance.value:.0%} of the points are kept",
        theme,
        note=f"Acceptance {sample.acceptance}; {len(tried):,} of {sample.n_tried:,} points shown.",
        **legend_below(),
    )


def posterior_density(chains: Any, coordinate: str | int = 0, *, theme: str = "light") -> Any:
    """Density of one coordinate from all draws, and from each chain: they should lie on each other.

    Parameters
    ----------
    chains : Chains
    coordinate : str or int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sample import Slice, Target, sample_chains
    >>> found = sample_chains(Target(lambda x: -abs(x[0]), 1), Slice(), 300, random_state=0)
    >>> len(posterior_density(found).data)
    6
    """
    import plotly.graph_objects as go
    from scipy.stats import gaussian_kde

    points, density = chains.density(coordinate)
    name = coordinate if isinstance(coordinate, str) else chains.names[coordinate]
    place = chains.names.index(name)
    borders, heights = chains.density(coordinate, bins=40)
    figure = go.Figure(
        go.Bar(
            x=(borders[1:] + borders[:-1]) / 2,
            y=heights,
            width=np.diff(borders),
            name="histogram",
            marker={"color": faded(color(0), 0.25)},
        )
    )
    for k, draws in enumerate(chains.of(coordinate)):
        if np.ptp(draws) > 0:
            figure.add_trace(
                go.Scatter(
                    x=points,
                    y=gaussian_kde(draws)(points),
                    mode="lines",
                    name=f"chain {k}",
                    line={"color": faded(color(k + 1), 0.6), "width": 1.2},
                )
            )
    figure.add_trace(
        go.Scatter(
            x=points, y=density, mode="lines", name="all", line={"color": color(0), "width": 3}
        )
    )
    figure.update_xaxes(title=name)
    figure.update_yaxes(title="density", rangemode="tozero")
    mean = chains.means()[place]
    note = f"Mean {mean} with its Monte Carlo error; {_mixing(chains)}."
    return dress(figure, f"Density of {name}", theme, note=note, bargap=0, **legend_below())


def _over_contours(
    draws: np.ndarray, target: Any, coordinates: tuple[int, int], titles: Sequence[str]
) -> Any:
    """A panel for each title, with the contours of the density in it."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    x, y, heights = _grid(draws, target, *coordinates)
    figure = make_subplots(
        1,
        len(titles),
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.06,
        subplot_titles=list(titles),
    )
    for column in range(1, len(titles) + 1):
        figure.add_trace(
            go.Contour(
                x=x,
                y=y,
                z=heights,
                colorscale=SEQUENTIAL,
                showscale=False,
                opacity=0.55,
                contours={"coloring": "lines"},
                line={"width": 1.5},
                hoverinfo="skip",
            ),
            1,
            column,
        )
    return figure


def _steps(path: np.ndarray, coordinates: tuple[int, int]) -> Any:
    import plotly.graph_objects as go

    first, second = coordinates
    return go.Scatter(
        x=path[:, first],
        y=path[:, second],
        mode="lines+markers",
        line={"color": faded(color(1), 0.7), "width": 1.2},
        marker={"size": 4, "color": color(1)},
    )


def _mixing(chains: Any) -> str:
    said = "mixed" if chains.has_mixed else "NOT mixed"
    return (
        f"{len(chains.draws)} chains {said}: largest R-hat {np.nanmax(chains.r_hat()):.3f}, "
        f"least effective size {chains.effective_sample_size().min():,.0f}"
    )


def _grid(draws: np.ndarray, target, first: int, second: int):
    """Density over the draws' range, the other coordinates at their means."""
    ends = np.quantile(draws[:, [first, second]], (0.001, 0.999), axis=0)
    reach = 0.15 * (ends[1] - ends[0])
    x, y = (np.linspace(ends[0, k] - reach[k], ends[1, k] + reach[k], 60) for k in (0, 1))
    point = draws.mean(axis=0)
    logs = np.empty((len(y), len(x)))
    for i, b in enumerate(y):
        for j, a in enumerate(x):
            point[first], point[second] = a, b
            logs[i, j] = target(point)
    return x, y, np.exp(logs - logs.max())
