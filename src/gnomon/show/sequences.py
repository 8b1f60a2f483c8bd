"""Pictures of sequences: the graph of a chain, state probabilities over time, the trellis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.sequence.costs import least_cost_path
from gnomon.show.arrows import arrow
from gnomon.show.replays import slider
from gnomon.show.theme import color, dress, faded, legend_below, look

MOST_STATES = 20  # judgement: more links cross
MOST_STEPS = 60  # judgement: more steps touch each other
LEAST_LINK = 0.005  # links that two decimals would write as 0.00
# where arrows end: the radius of a node, its double circle and a gap, in a picture of this size
NODE = 0.24


def chain_graph(chain: Any, *, theme: str = "light") -> Any:
    """A Markov chain as a graph: states on a circle, links as wide as they are probable.

    Parameters
    ----------
    chain : MarkovChain
        Of at most 20 states.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure
        Closed classes have a colour each, transient states are grey; links below half a per
        cent are left out, which the note says.

    Examples
    --------
    >>> from gnomon.sequence import MarkovChain
    >>> chain = MarkovChain([[0.9, 0.1], [0.4, 0.6]], states=["sun", "rain"])
    >>> figure = chain_graph(chain)
    """
    import plotly.graph_objects as go

    n = chain.n_states
    if n > MOST_STATES:
        raise ValueError(f"the graph of {n} states cannot be read; draw at most {MOST_STATES}")
    table = chain.transition.toarray() if hasattr(chain.transition, "toarray") else chain.transition
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n
    places = np.column_stack([np.cos(angle), np.sin(angle)])
    figure = go.Figure()
    hidden = 0
    for i in range(n):
        for j in range(n):
            if 0 < table[i, j] < LEAST_LINK:
                hidden += 1
            elif table[i, j] > 0:
                _draw_link(figure, places, i, j, table[i, j], theme)
    structure = chain.structure()
    groups = [
        (names, color(c), f"closed, period {period}: {_few(names)}")
        for c, (names, closed, period) in enumerate(
            zip(structure.classes, structure.closed, structure.periods, strict=True)
        )
        if closed
    ]
    if structure.transient:
        groups.append((structure.transient, "#6b7280", f"transient: {_few(structure.transient)}"))
    for names, fill, legend in groups:
        members = [chain.place(name) for name in names]
        figure.add_scatter(
            x=places[members, 0],
            y=places[members, 1],
            mode="markers+text",
            text=[str(name) for name in names],
            textfont={"color": "#ffffff", "size": 14},
            marker={"size": 42, "color": fill},
            name=legend,
            hovertemplate="%{text}<extra></extra>",
        )
    absorbing = [chain.place(name) for name in structure.absorbing]
    if absorbing:
        figure.add_scatter(
            x=places[absorbing, 0],
            y=places[absorbing, 1],
            mode="markers",
            marker={"size": 52, "symbol": "circle-open", "color": look(theme).ink},
            name="absorbing (double circle)",
            hoverinfo="skip",
        )
    note = "numbers are transition probabilities; colours are closed classes"
    if hidden:
        note += f"; {hidden} links below {LEAST_LINK:.1%} are not drawn"
    dress(
        figure,
        f"Markov chain of {n} states",
        theme,
        note=note,
        width=760,
        height=600,
        **legend_below(),
    )
    figure.update_xaxes(visible=False, range=[-1.65, 1.65])
    figure.update_yaxes(visible=False, range=[-1.6, 1.6], scaleanchor="x")
    return figure


def _few(names: Sequence) -> str:
    return ", ".join(map(str, names[:4])) + (" ..." if len(names) > 4 else "")


def _draw_link(figure: Any, places: np.ndarray, i: int, j: int, weight: float, theme: str) -> None:
    """A bent line with an arrow, or a loop outside the circle."""
    colors = look(theme)
    if i == j:
        out = places[i] / np.linalg.norm(places[i])
        turn = np.linspace(np.pi, 3 * np.pi, 41) + np.arctan2(out[1], out[0])
        curve = places[i] + 0.25 * out + 0.16 * np.column_stack([np.cos(turn), np.sin(turn)])
        label = places[i] + 0.47 * out
        curve = curve[np.linalg.norm(curve - places[i], axis=1) > NODE]
    else:
        gap = places[j] - places[i]
        side = np.array([-gap[1], gap[0]]) * 0.12
        t = np.linspace(0, 1, 40)[:, None]
        middle = (places[i] + places[j]) / 2 + side * 2
        curve = (1 - t) ** 2 * places[i] + 2 * t * (1 - t) * middle + t**2 * places[j]
        away = np.linalg.norm(curve - places[j], axis=1) > NODE
        curve = curve[away]
        label = curve[int(0.55 * len(curve))]
    figure.add_scatter(
        x=curve[:, 0],
        y=curve[:, 1],
        mode="lines",
        line={"width": 1 + 4 * weight, "color": colors.faint},
        showlegend=False,
        hoverinfo="skip",
    )
    arrow(figure, curve[-4], curve[-1], colors.faint, width=1.5 + weight)
    figure.add_annotation(
        x=label[0],
        y=label[1],
        text=f"{weight:.2g}",
        showarrow=False,
        bgcolor=colors.paper,
        font={"size": 12, "color": colors.ink},
    )


def state_probabilities(
    probabilities: Any,
    states: Sequence | None = None,
    *,
    path: Sequence | None = None,
    title: str = "Probability of each state over time",
    theme: str = "light",
) -> Any:
    """State probabilities of a sequence as stacked areas, with a path of states above them.

    Parameters
    ----------
    probabilities : array-like of shape (length, n_states)
        As of ``HiddenMarkovModel.smooth`` or ``filter`` of one sequence, or rows pi P^n of a chain.
    states : sequence, default=None
        Names.
    path : sequence, default=None
        A path of states, by name: decoded or true.
    title : str
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure

    Examples
    --------
    >>> import numpy as np
    >>> high = 1 / (1 + np.exp(-np.sin(np.arange(30) / 3) * 3))
    >>> figure = state_probabilities(np.column_stack([high, 1 - high]), ["sun", "rain"])
    """
    import plotly.graph_objects as go

    table = np.asarray(probabilities, dtype=float)
    names = list(range(table.shape[1])) if states is None else list(states)
    steps = np.arange(1, len(table) + 1)
    figure = go.Figure()
    for k, name in enumerate(names):
        figure.add_scatter(
            x=steps,
            y=table[:, k],
            stackgroup="states",
            name=f"state {name}",
            line={"width": 0.5, "color": color(k)},
            fillcolor=faded(color(k), 0.75),
            hovertemplate=f"step %{{x}}, {name}: %{{y:.3f}}<extra></extra>",
        )
    if path is not None:
        codes = [names.index(state) for state in path]
        figure.add_scatter(
            x=steps,
            y=np.full(len(steps), 1.05),
            mode="markers",
            marker={"symbol": "square", "size": 9, "color": [color(k) for k in codes]},
            name="path",
            showlegend=False,
            hovertext=[str(state) for state in path],
            hoverinfo="text",
        )
    note = "areas are probabilities of a state given the data" + (
        "; the band on top is the path" if path is not None else ""
    )
    dress(figure, title, theme, note=note, **legend_below())
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="probability", range=[0, 1.1], tickvals=[0, 0.25, 0.5, 0.75, 1])
    return figure


def trellis_replay(
    node_costs: Any, edge_costs: Any, states: Sequence | None = None, *, theme: str = "light"
) -> Any:
    """The dynamic programme of the least costly path, step by step from the end, with a slider.

    Parameters
    ----------
    node_costs : array-like of shape (n_steps, n_states)
        As of ``HiddenMarkovModel.costs`` or ``ChainCRF.costs``, or any.
    edge_costs : array-like of shape (n_states, n_states) or (n_steps - 1, n_states, n_states)
    states : sequence, default=None
        Names.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure
        Numbers are the least costs from a node to the end, its own among them; dashed links are
        the best way on from each node. The last step shows the best path.

    Examples
    --------
    >>> nodes = [[1.0, 2.0], [2.0, 0.5], [1.5, 1.0], [0.2, 2.0]]
    >>> figure = trellis_replay(nodes, [[0.1, 1.0], [1.0, 0.1]], ["sun", "rain"])
    """
    import plotly.graph_objects as go

    nodes = np.asarray(node_costs, dtype=float)
    length, k = nodes.shape
    if length > MOST_STEPS // 3 or k > MOST_STATES // 2:
        raise ValueError(
            f"a replay of {length} steps and {k} states cannot be read; draw at most "
            f"{MOST_STEPS // 3} steps of {MOST_STATES // 2} states"
        )
    found = least_cost_path(nodes, edge_costs)
    edges = np.broadcast_to(np.asarray(edge_costs, dtype=float), (max(length - 1, 0), k, k))
    total = nodes + found.to_go
    ahead = edges + total[1:, None, :]
    way = np.where(np.isfinite(ahead.min(axis=2)), ahead.argmin(axis=2), -1)
    colors = look(theme)

    def survivors(first: int) -> tuple[list, list]:
        links = [
            (n, i, way[n, i])
            for n in range(first, length - 1)
            for i in range(k)
            if way[n, i] >= 0 and np.isfinite(total[n, i])
        ]
        return _segments_of(links)

    def numbers(first: int) -> list[str]:
        return [
            f"{total[n, i]:.2f}" if n >= first and np.isfinite(total[n, i]) else ""
            for n in range(length)
            for i in range(k)
        ]

    possible = [(n, i, j) for n in range(length - 1) for i, j in np.argwhere(np.isfinite(edges[n]))]
    steps = np.arange(1, length + 1)
    x, y = _segments_of(possible)
    figure = go.Figure()
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": 1, "color": faded("#8C8C8C", 0.35)},
        name="possible",
        hoverinfo="skip",
    )
    x, y = survivors(length - 1)
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"width": 2, "dash": "dash", "color": color(0)},
        name="best way on from a node",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[],
        y=[],
        mode="lines",
        line={"width": 5, "color": colors.strong},
        name="best path",
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=np.repeat(steps, k),
        y=np.tile(np.arange(k), length),
        mode="markers+text",
        marker={"size": 14, "color": color(0), "line": {"width": 1, "color": colors.paper}},
        text=numbers(length - 1),
        textposition="top center",
        textfont={"size": 12, "color": colors.ink},
        name="node, with the least cost to the end",
        hoverinfo="skip",
    )
    figure.frames = [
        go.Frame(
            name=str(turn),
            traces=[1, 2, 3],
            data=[
                go.Scatter(**_line(survivors(max(length - 1 - turn, 0)))),
                go.Scatter(**_line((steps, found.path) if turn == length else ([], []))),
                go.Scatter(text=numbers(max(length - 1 - turn, 0))),
            ],
        )
        for turn in range(length + 1)
    ]
    names = list(range(k)) if states is None else list(states)
    dress(
        figure,
        "Best path by the cost to go",
        theme,
        note=f"from the end backwards; the best path costs {found.cost:.3g}",
        width=980,
        height=560,
        **legend_below(bottom=190),
    )
    figure.update_xaxes(title="step", tickvals=steps, range=[0.6, length + 0.4])
    figure.update_yaxes(
        title="state",
        tickvals=list(range(k)),
        ticktext=[str(name) for name in names],
        range=[k - 0.6, -0.6],
    )
    return figure.update_layout(sliders=[slider(range(length + 1), theme)])


def _line(ends: tuple[Any, Any]) -> dict[str, Any]:
    """Places of a line as arguments of a trace."""
    return {"x": ends[0], "y": ends[1]}


def _segments_of(links: Sequence[tuple[int, int, int]]) -> tuple[list, list]:
    """Links (step, state, next state) as one broken line."""
    x: list[float | None] = []
    y: list[float | None] = []
    for n, i, j in links:
        x += [n + 1, n + 2, None]
        y += [i, j, None]
    return x, y


def state_trellis(model: Any, sequence: Any, *, theme: str = "light") -> Any:
    """States down, time across: possible transitions, smoothed probabilities, the best path.

    Parameters
    ----------
    model : HiddenMarkovModel
        Fitted or known.
    sequence : sequence
        Of at most 60 steps.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly Figure
        Lines are as dark as the probability of a pair of states, discs as large as that of a
        state; the Viterbi path stands out.

    Examples
    --------
    >>> from gnomon.sequence import CategoricalEmission, HiddenMarkovModel
    >>> law = CategoricalEmission([[0.5, 0.5], [0.1, 0.9]], ["a", "b"])
    >>> moves, states = [[0.9, 0.1], [0.2, 0.8]], ["calm", "wild"]
    >>> model = HiddenMarkovModel.known([0.5, 0.5], moves, law, states)
    >>> figure = state_trellis(model, "abba")
    """
    import plotly.graph_objects as go

    length, k = len(sequence), len(model.states_)
    if length > MOST_STEPS or k > MOST_STATES:
        raise ValueError(
            f"a trellis of {length} steps and {k} states cannot be read; draw at most "
            f"{MOST_STEPS} steps of {MOST_STATES} states"
        )
    colors = look(theme)
    smooth = model.smooth([sequence])[0]
    pairs = model.pair_posteriors(sequence)
    best = [model.states_.index(state) for state in model.predict([sequence])[0]]
    figure = go.Figure()
    for n in range(length - 1):
        for i, j in np.argwhere(model.transition_ > 0):
            figure.add_scatter(
                x=[n + 1, n + 2],
                y=[i, j],
                mode="lines",
                line={
                    "width": 1 + 4 * pairs[n, i, j],
                    "color": faded("#8C8C8C", 0.15 + 0.7 * pairs[n, i, j]),
                },
                showlegend=False,
                hoverinfo="skip",
            )
    steps = np.arange(1, length + 1)
    figure.add_scatter(
        x=steps,
        y=best,
        mode="lines",
        line={"width": 4, "color": colors.strong},
        name="best path (Viterbi)",
    )
    figure.add_scatter(
        x=np.repeat(steps, k),
        y=np.tile(np.arange(k), length),
        mode="markers",
        marker={
            "size": 6 + 24 * smooth.ravel(),
            "color": color(0),
            "opacity": 1,
            "line": {"width": 1, "color": colors.paper},
        },
        customdata=smooth.ravel(),
        name="state (size: smoothed probability)",
        hovertemplate="step %{x}: %{customdata:.3f}<extra></extra>",
    )
    seen = [
        str(x) if not isinstance(x, (float, np.ndarray)) else f"{np.ravel(x)[0]:.3g}"
        for x in sequence
    ]
    dress(
        figure,
        "Trellis of a hidden Markov model",
        theme,
        note="lines are transitions that can happen, darker where the data speak for them",
        **legend_below(),
    )
    figure.update_xaxes(
        title="step, and what was seen",
        tickvals=steps,
        ticktext=[f"{n}<br>{x}" for n, x in zip(steps, seen, strict=True)],
    )
    figure.update_yaxes(
        title="state",
        tickvals=list(range(k)),
        ticktext=[str(s) for s in model.states_],
        autorange="reversed",
    )
    return figure
