"""Pictures of states over time: what a hidden Markov model says against the truth, how a chain
spreads, and its graph beside its trellis."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.sequence.costs import least_cost_path
from gnomon.show.arrows import one_scale, written
from gnomon.show.labels import label
from gnomon.show.sequences import chain_graph
from gnomon.show.theme import color, dress, legend_below, look


def state_inference(
    model: Any,
    sequence: Any,
    truth: Sequence | None = None,
    *,
    state: Hashable | None = None,
    theme: str = "light",
) -> go.Figure:
    """What is known of one state at each step: filtered, smoothed, decoded, and the truth.

    Filtered probabilities know the sequence up to a step, smoothed ones all of it; the decoded
    path is Viterbi's. Texts: 002 "Casino" (rolls, P(loaded), decoded and true states).

    Parameters
    ----------
    model : HiddenMarkovModel
        Fitted or known.
    sequence : sequence
        What was seen.
    truth : sequence, default=None
        The true states, by name.
    state : default=None
        Whose probability is drawn; the last one by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sequence import CategoricalEmission, HiddenMarkovModel
    >>> law = CategoricalEmission([[0.5, 0.5], [0.1, 0.9]], ["a", "b"])
    >>> model = HiddenMarkovModel.known([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], law)
    >>> [trace.name for trace in state_inference(model, "abba").data]
    ['seen', 'filtered', 'smoothed', 'decoded']
    """
    names = list(model.states_)
    state = names[-1] if state is None else state
    if state not in names:
        raise DataError(f"{state!r} is not a state of the model: {names}")
    if truth is not None and len(truth) != len(sequence):
        raise DataError(f"the sequence has {len(sequence)} steps, the truth {len(truth)}")
    k = names.index(state)
    steps = np.arange(1, len(sequence) + 1)
    figure = make_subplots(
        3, 1, shared_xaxes=True, row_heights=[0.24, 0.5, 0.26], vertical_spacing=0.04
    )
    _seen(figure, sequence, steps)
    lines = (
        (model.filter, "filtered", color(0), "dot"),
        (model.smooth, "smoothed", color(1), None),
    )
    for infer, name, tint, dash in lines:
        figure.add_scatter(
            x=steps,
            y=infer([sequence])[0][:, k],
            mode="lines",
            line={"color": tint, "width": 2.5, "dash": dash},
            name=name,
            hovertemplate=f"step %{{x}}, {name}: %{{y:.3f}}<extra></extra>",
            row=2,
            col=1,
        )
    decoded = model.predict([sequence])[0]
    paths = [("decoded", decoded, color(2))]
    note = f"P({label(state)}) given the sequence so far (filtered) and all of it (smoothed)"
    if truth is not None:
        paths.append(("true", list(truth), look(theme).ink))
        right = float(np.mean([one == two for one, two in zip(decoded, truth, strict=True)]))
        note += f"; decoded rightly: {right:.1%} of the steps"
    for number, (name, path, tint) in enumerate(paths):
        figure.add_scatter(
            x=steps,
            y=np.array([names.index(each) for each in path]) + 0.12 * number,
            mode="lines",
            line={"color": tint, "width": 2.5, "shape": "hvh"},
            name=name,
            row=3,
            col=1,
        )
    dress(figure, "States over time", theme, note=note, height=640, **legend_below())
    figure.update_yaxes(title="seen", row=1)
    figure.update_yaxes(title=f"P({label(state, 12)})", range=[-0.03, 1.03], row=2)
    figure.update_yaxes(
        title="state",
        tickvals=list(range(len(names))),
        ticktext=[label(each, 12) for each in names],
        range=[-0.35, len(names) - 0.5],
        row=3,
    )
    figure.update_xaxes(title="step", row=3)
    return figure


def _seen(figure: go.Figure, sequence: Any, steps: np.ndarray) -> None:
    """The first number of what was seen at each step, or which of the symbols it was."""
    first: list[Any] = [each if np.isscalar(each) else np.ravel(each)[0] for each in sequence]
    more: dict[str, Any] = {}
    if isinstance(first[0], str):
        symbols = sorted(set(first))
        first = [symbols.index(each) for each in first]
        more = {
            "tickvals": list(range(len(symbols))),
            "ticktext": [label(each) for each in symbols],
        }
    figure.add_scatter(
        x=steps,
        y=first,
        mode="markers",
        marker={"color": color(6), "size": 5},
        name="seen",
        showlegend=False,
        row=1,
        col=1,
    )
    figure.update_yaxes(row=1, **more)


def occupation(
    chain: Any, n_steps: int = 30, first: Hashable | None = None, *, theme: str = "light"
) -> go.Figure:
    """Probability of each state of a chain against the step, and where it tends.

    Texts: 003 3.4.2.

    Parameters
    ----------
    chain : MarkovChain
    n_steps : int, default=30
    first : state, default=None
        Where the chain starts; its own distribution of starts by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure
        Dashed lines are the limit, where there is one; the note says so where there is none.

    Examples
    --------
    >>> from gnomon.sequence import MarkovChain
    >>> figure = occupation(MarkovChain([[0.5, 0.5], [0.25, 0.75]]), 2, 0)
    >>> figure.data[0].y.tolist()
    [1.0, 0.5, 0.375]
    """
    shares = np.array([chain.distribution(n, first) for n in range(n_steps + 1)])
    figure = go.Figure()
    try:
        limit, said = chain.limit(first), "dashed: the limit"
    except DataError:
        limit, said = None, "there is no limit: the chain has a period"
    for k, name in enumerate(chain.states):
        figure.add_scatter(
            x=np.arange(n_steps + 1),
            y=shares[:, k],
            mode="lines+markers",
            line={"color": color(k), "width": 2.5},
            marker={"size": 5},
            name=label(name),
            hovertemplate=f"step %{{x}}, {label(name)}: %{{y:.4f}}<extra></extra>",
        )
        if limit is not None:
            figure.add_scatter(
                x=[0, n_steps],
                y=[limit[k], limit[k]],
                mode="lines",
                line={"color": color(k), "width": 1.2, "dash": "dash"},
                showlegend=False,
                hoverinfo="skip",
                name=f"limit of {label(name)}",
            )
    note = (
        "from the distribution of starts" if first is None else f"from {label(first)}"
    ) + f"; {said}"
    dress(figure, "Probability of each state by step", theme, note=note, **legend_below())
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="probability", range=[-0.02, 1.04])
    return figure


def chain_and_trellis(
    chain: Any, n_steps: int = 4, node_costs: Any = None, *, theme: str = "light"
) -> go.Figure:
    """The graph of a chain beside its trellis with the cost -ln p of each link, best path marked.

    Texts: 000b 13.2.2, figure 13.7, which prints ln 2 for ln(1/2): a link of probability 1/2
    costs -ln(1/2) = 0.69 · 000c 14.1, figure 14.2.

    Parameters
    ----------
    chain : MarkovChain
        Of at most 6 states.
    n_steps : int, default=4
        Columns of the trellis, at most 8.
    node_costs : array-like of shape (n_steps, n_states), default=None
        Such as -ln q of what was seen; the first line should hold the -ln of the starts too. By
        default that of the starts alone.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.sequence import MarkovChain
    >>> figure = chain_and_trellis(MarkovChain([[0.5, 0.5], [0, 1]]), 2)
    >>> sorted(note.text for note in figure.layout.annotations if "<b>" in (note.text or ""))
    ['<b>0.00</b>', '<b>0.69</b>', '<b>0.69</b>']
    """
    k = chain.n_states
    if k > 6 or not 2 <= n_steps <= 8:
        raise DataError("this picture has at most 6 states and 2 to 8 steps")
    graph = chain_graph(chain, theme=theme)
    table = np.asarray(chain.transition.toarray() if hasattr(chain.transition, "toarray")
                       else chain.transition)  # fmt: skip
    with np.errstate(divide="ignore"):
        edges = -np.log(table)
        if node_costs is None:
            nodes = np.zeros((n_steps, k))
            nodes[0] = -np.log(chain.start)
        else:
            nodes = np.asarray(node_costs, dtype=float)
    if nodes.shape != (n_steps, k):
        raise DataError(f"node costs have shape {nodes.shape}, not {(n_steps, k)}")
    best = least_cost_path(nodes, edges)
    figure = make_subplots(1, 2, column_widths=[0.42, 0.58], horizontal_spacing=0.06)
    for trace in graph.data:
        figure.add_trace(trace, row=1, col=1)
    figure.layout.annotations = graph.layout.annotations
    _trellis(figure, nodes, edges, best.path, theme)
    dress(
        figure,
        "A chain and its trellis",
        theme,
        note=f"in the trellis: −ln p, so 1/2 costs 0.69; the best path costs {best.cost:.3g}",
        width=1150,
        height=600,
        **legend_below(),
    )
    figure.update_xaxes(visible=False, range=[-1.6, 1.6], row=1, col=1)
    figure.update_yaxes(visible=False, range=[-1.6, 1.6], row=1, col=1)
    figure.update_xaxes(title="step", tickvals=np.arange(1, n_steps + 1), showgrid=False,
                        range=[0.7, n_steps + 0.3], row=1, col=2)  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(k)),
        ticktext=[label(each, 12) for each in chain.states],
        range=[k - 0.5, -0.5],
        showgrid=False,
        row=1,
        col=2,
    )
    one_scale(figure)
    return figure


def _trellis(figure: go.Figure, nodes, edges, path, theme: str) -> None:
    """Links with their costs, where those up and down do not meet, and the path."""
    colors = look(theme)
    k = nodes.shape[1]
    for step in range(len(nodes) - 1):
        for i, j in np.argwhere(np.isfinite(edges)):
            figure.add_scatter(
                x=[step + 1, step + 2],
                y=[i, j],
                mode="lines",
                line={"color": colors.faint, "width": 1},
                showlegend=False,
                hoverinfo="skip",
                row=1,
                col=2,
            )
            share = 0.5 if i == j else 0.34 if j > i else 0.18
            cost = edges[i, j] if edges[i, j] > 0 else 0.0
            written(
                figure,
                (step + 1 + share, i + share * (j - i)),
                f"<b>{cost:.2f}</b>",
                colors.ink,
                axis=2,
                bgcolor=colors.paper,
                font={"size": 11, "color": colors.ink},
            )
    figure.add_scatter(
        x=np.arange(1, len(path) + 1),
        y=path,
        mode="lines",
        line={"color": colors.strong, "width": 5},
        name="best path",
        row=1,
        col=2,
    )
    figure.add_scatter(
        x=np.repeat(np.arange(1, len(nodes) + 1), k),
        y=np.tile(np.arange(k), len(nodes)),
        mode="markers",
        marker={"size": 16, "color": color(0), "line": {"color": colors.paper, "width": 1}},
        customdata=nodes.ravel(),
        hovertemplate="cost of the node %{customdata:.3f}<extra></extra>",
        showlegend=False,
        name="nodes",
        row=1,
        col=2,
    )
