"""Pictures of networks: their layers, units, activations, training and what they respond to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gnomon.engine.errors import DataError
from gnomon.neural.activations import activation_of, softmax
from gnomon.neural.layers import Dense
from gnomon.neural.network import Network, Parameters
from gnomon.neural.probes import AdversarialExample, head_of, own_parameters
from gnomon.show.arrows import arrow
from gnomon.show.theme import DIVERGING, color, dress, faded, legend_below, look

MOST_UNITS = 12  # judgement: more units of a layer touch each other
PANEL = 190  # judgement: pixels of a panel


def activation_curves(
    functions: Sequence[str] = ("logistic", "tanh", "relu", "algebraic", "arctan"),
    *,
    theme: str = "light",
) -> go.Figure:
    """Activation functions and their slopes, overlaid.

    Texts: 003 4.3.1 · 004 9.1.

    Parameters
    ----------
    functions : sequence of str
        Names of `gnomon.neural.ACTIVATIONS`.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = activation_curves(["tanh", "relu", "logistic"])
    """
    z = np.linspace(-4, 4, 401)
    figure = make_subplots(1, 2, subplot_titles=("value", "slope"))
    for k, name in enumerate(functions):
        function = activation_of(name)
        a = function.value(z)
        curves = (a, np.asarray(function.slope(z, a), dtype=float))
        for column, values in enumerate(curves, 1):
            line = {"color": color(k), "width": 2}
            figure.add_scatter(
                x=z, y=values, name=name, line=line, showlegend=column == 1, row=1, col=column
            )
    figure.update_xaxes(title="input z")
    note = "units with a slope near zero hardly learn"
    return dress(
        figure, "Activation functions", theme, note=note, **legend_below(top=110), height=460
    )


def sigmoid_sum(x: Any, y: Any, *, sharpness: float = 20.0, theme: str = "light") -> go.Figure:
    """n points joined by the sum of n - 1 sigmoid units, which proves little about other points.

    Texts: 003 4.3.3-4.3.4.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Points with distinct x.
    sharpness : float, default=20.0
        Slope of the units, in units of the smallest gap.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = sigmoid_sum(np.arange(6.0), [0.1, 1.2, 0.4, -0.6, 0.3, 0.9])
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    order = np.argsort(x)
    x, y = x[order], y[order]
    gaps = np.diff(x)
    if len(x) < 2 or gaps.min() <= 0:
        raise DataError("sigmoid_sum needs two points or more with distinct x")
    line = np.linspace(x[0] - gaps.min(), x[-1] + gaps.min(), 801)
    logistic = activation_of("logistic").value
    slope = sharpness / gaps.min()
    middles = (x[1:] + x[:-1]) / 2
    steps = np.linalg.solve(
        np.array([[logistic(np.array(slope * (p - m))) for m in middles] for p in x[1:]])
        - np.array([logistic(np.array(slope * (x[0] - m))) for m in middles]),
        y[1:] - y[0],
    )
    base = y[0] - sum(s * logistic(np.array(slope * (x[0] - m))) for s, m in zip(steps, middles))
    figure = go.Figure()
    total = np.full_like(line, base)
    for k, (step, middle) in enumerate(zip(steps, middles)):
        unit = step * logistic(slope * (line - middle))
        total += unit
        tint = {"color": faded(color(k), 0.6), "width": 1.5, "dash": "dot"}
        figure.add_scatter(x=line, y=unit, mode="lines", line=tint, name=f"unit {k + 1}")
    strong = {"color": look(theme).ink, "width": 3}
    figure.add_scatter(x=line, y=total, mode="lines", line=strong, name="their sum")
    dots = {"color": look(theme).strong, "size": 11}
    figure.add_scatter(x=x, y=y, mode="markers", marker=dots, name="points")
    note = f"{len(x) - 1} units join {len(x)} points exactly; between them the curve means nothing"
    return dress(
        figure, "A hidden layer adds up sigmoids", theme, note=note, **legend_below(), height=520
    )


def neuron(
    weights: Any, bias: float, *, activation: str = "logistic", names: Any = None,
    theme: str = "light",
) -> go.Figure:  # fmt: skip
    """One unit: inputs, weights on arrows, sum, activation.

    Texts: 003 4.3 · 004 9.1 · 000c 16.1.

    Parameters
    ----------
    weights : array-like of shape (n,)
    bias : float
    activation : str, default="logistic"
    names : sequence of str, default=None
        Names of the inputs.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> figure = neuron([0.5, -1.2], 0.3)
    """
    weights = np.asarray(weights, dtype=float).ravel()
    activation_of(activation)
    listed = [f"x{k + 1}" for k in range(len(weights))] if names is None else list(names)
    colors = look(theme)
    places = np.linspace(1, -1, len(weights) + 1)
    figure = go.Figure()
    largest = max(np.abs([*weights, bias]).max(), 1e-12)
    for place, weight in zip(places, [*weights, bias]):
        tint = color(0) if weight >= 0 else color(1)
        arrow(figure, (0.12, place), (0.93, 0.0), tint, width=1 + 4 * abs(weight) / largest)
        label = {"showarrow": False, "bgcolor": colors.paper, "font": {"size": 13}}
        figure.add_annotation(x=0.42, y=place * 0.62, text=f"{weight:.3g}", **label)
    _circles(figure, np.zeros(len(places)), places, [*listed, "1"], theme, 34)
    _circles(figure, [1.0, 1.9], [0, 0], ["Σ", activation], theme, 62)
    arrow(figure, (1.1, 0), (1.77, 0), colors.ink)
    arrow(figure, (2.04, 0), (2.5, 0), colors.ink)
    figure.update_xaxes(visible=False, range=[-0.2, 2.7])
    figure.update_yaxes(visible=False, range=[-1.3, 1.3])
    note = "blue weights are positive, orange negative; the input 1 carries the bias"
    return dress(figure, "A unit", theme, note=note, height=460, showlegend=False)


def _circles(figure: go.Figure, x: Any, y: Any, words: Any, theme: str, size: int) -> None:
    colors = look(theme)
    marker = {"size": size, "color": colors.paper, "line": {"color": colors.ink, "width": 2}}
    figure.add_scatter(
        x=list(x), y=list(y), mode="markers+text", text=list(words), marker=marker,
        textfont={"size": 12}, hoverinfo="text", showlegend=False,
    )  # fmt: skip


def network_units(
    network: Network, parameters: Parameters | None = None, *, theme: str = "light"
) -> go.Figure:
    """A network of dense layers as circles and arrows; colors show the weights.

    Texts: 003 4.3.3 · 004 9.1.

    Parameters
    ----------
    network : Network
        A chain of dense layers (others are passed over).
    parameters : Parameters, default=None
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Dense, Network
    >>> net = Network([Dense(4, "tanh"), Dense(2)], 3)
    >>> figure = network_units(net, net.initial(0))
    """
    dense = [node for node in network.nodes if isinstance(node.layer, Dense)]
    if not dense or len(network.input_shape) != 1:
        raise DataError("network_units draws networks of dense layers on columns")
    widths = [network.input_shape[0], *[node.layer.units for node in dense]]
    figure = go.Figure()
    places = [np.linspace(1, -1, min(w, MOST_UNITS)) if w > 1 else np.zeros(1) for w in widths]
    for k, node in enumerate(dense):
        weight = None if parameters is None else parameters[node.name]["weight"]
        _links(figure, k, places[k], places[k + 1], weight, theme)
    for k, (width, mine) in enumerate(zip(widths, places)):
        _circles(figure, np.full(len(mine), k), mine, [""] * len(mine), theme, 22)
        kind = "input" if k == 0 else f"{dense[k - 1].name}<br>{dense[k - 1].layer.activation}"
        figure.add_annotation(x=k, y=-1.32, text=f"{kind}<br>{width}", showarrow=False)
    figure.update_xaxes(visible=False, range=[-0.4, len(widths) - 0.6])
    figure.update_yaxes(visible=False, range=[-1.65, 1.2])
    left = any(width > MOST_UNITS for width in widths)
    note = f"{network.n_parameters:,} parameters" + (
        f"; of wide layers {MOST_UNITS} units are drawn" if left else ""
    )
    return dress(figure, "Units and weights", theme, note=note, height=520, showlegend=False)


def _links(figure: Any, k: int, before: Any, after: Any, weight: Any, theme: str) -> None:
    """Lines between two layers, by sign in two traces and by size in width where known."""
    for sign in (1, -1):
        x: list[float | None] = []
        y: list[float | None] = []
        for i, a in enumerate(before):
            for j, b in enumerate(after):
                if weight is None or np.sign(weight[i, j]) == sign:
                    x += [k, k + 1, None]
                    y += [a, b, None]
        tint = look(theme).faint if weight is None else color(0 if sign > 0 else 1)
        line = {"color": faded(tint, 0.55) if tint.startswith("#") else tint, "width": 1}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")
        if weight is None:
            return


def network_blocks(network: Network, *, theme: str = "light") -> go.Figure:
    """A network as blocks of data, with its layers listed: sizes, parameters, receptive fields.

    The height of a block is its height and width in cells, its breadth grows with its channels.
    Texts: 000c 17.2 (three views of a network).

    Parameters
    ----------
    network : Network
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Conv2D, Dense, Flatten, MaxPool2D, Network
    >>> net = Network([Conv2D(6, 3, "relu"), MaxPool2D(2), Flatten(), Dense(2)], (8, 8, 1))
    >>> figure = network_blocks(net)
    """
    summary = network.summary()
    shapes = [network.input_shape, *summary.output_shapes]
    names = ["input", *summary.names]
    told = ["", *[f"{n:,}" if n else "" for n in summary.n_parameters]]
    fields = ["", *["" if r is None else f"sees {r}" for r in summary.receptive_fields]]
    figure = go.Figure()
    tallest = max(shape[0] if len(shape) == 3 else 1 for shape in shapes)
    place = 0.0
    for k, shape in enumerate(shapes):
        high = np.sqrt(shape[0] / tallest) if len(shape) == 3 else 0.9
        wide = 0.18 + 0.11 * np.log2(1 + shape[-1]) if len(shape) == 3 else 0.14
        tint = faded(color(0 if len(shape) == 3 else 2), 0.5)
        border = {"color": look(theme).ink, "width": 1}
        figure.add_shape(
            type="rect", x0=place, x1=place + wide, y0=-high / 2, y1=high / 2, fillcolor=tint,
            line=border,
        )  # fmt: skip
        words = [names[k], " x ".join(map(str, shape)), told[k] and f"{told[k]} par.", fields[k]]
        middle = place + wide / 2
        figure.add_annotation(
            x=middle, y=-0.58, text="<br>".join(words), showarrow=False, yanchor="top",
            textangle=0, font={"size": 11},
        )  # fmt: skip
        place += wide + 0.62
        if k < len(shapes) - 1:
            arrow(figure, (place - 0.56, 0), (place - 0.06, 0), look(theme).faint)
    figure.update_xaxes(visible=False, range=[-0.35, place - 0.2])
    figure.update_yaxes(visible=False, range=[-1.15, 0.6])
    note = f"{network.n_parameters:,} parameters, {network.multiplications:,} multiplications a row"
    width = max(700, 115 * len(shapes))
    return dress(figure, "Blocks of data", theme, note=note, height=460, width=width)


def architectures(networks: Mapping[str, Network], *, theme: str = "light") -> go.Figure:
    """Several networks side by side, a box for each layer.

    Texts: 000c 18.1 (VGG A to E, residual networks).

    Parameters
    ----------
    networks : mapping of str to Network
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Dense, Network
    >>> wide, deep = Network([Dense(30), Dense(2)], 3), Network([Dense(9), Dense(9), Dense(2)], 3)
    >>> figure = architectures({"wide": wide, "deep": deep})
    """
    if not networks:
        raise DataError("give one network or more")
    kinds = sorted({node.layer.kind for net in networks.values() for node in net.nodes})
    deepest = max(len(net.nodes) for net in networks.values())
    figure = go.Figure()
    for column, (name, net) in enumerate(networks.items()):
        for row, node in enumerate(net.nodes):
            tint = faded(color(kinds.index(node.layer.kind)), 0.45)
            figure.add_shape(
                type="rect", x0=column - 0.42, x1=column + 0.42, y0=-row - 0.42, y1=-row + 0.42,
                fillcolor=tint, line={"width": 0},
            )  # fmt: skip
            size = " x ".join(map(str, node.output_shape))
            figure.add_annotation(
                x=column, y=-row, text=f"{node.layer.kind} {size}", showarrow=False,
                font={"size": 11},
            )  # fmt: skip
        figure.add_annotation(
            x=column, y=1, text=f"<b>{name}</b><br>{net.n_parameters:,} parameters", showarrow=False
        )
    figure.update_xaxes(visible=False, range=[-0.6, len(networks) - 0.4])
    figure.update_yaxes(visible=False, range=[-deepest + 0.3, 1.7])
    return dress(
        figure, "Architectures", theme, note="a box for each layer, with the size of its output",
        height=160 + 34 * (deepest + 2), width=max(500, 210 * len(networks)),
    )  # fmt: skip


def computation_graph(
    network: Network, parameters: Parameters, x: Any, gradient: Any = None, *, theme: str = "light"
) -> go.Figure:
    """The graph of a network with its values forward and gradients backward, for one row.

    Texts: 001 9.5 · 000c 16.3.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    x : array-like of shape (*input_shape,)
    gradient : array-like of shape (*output_shape,), default=None
        Gradient of the result with respect to the output; ones by default.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Add, Dense, Network
    >>> net = Network({"a": Dense(1), "b": (Dense(1), ["a"]), "out": (Add(), ["a", "b"])}, 1)
    >>> figure = computation_graph(net, net.initial(0), [1.0])
    """
    rows = np.asarray(x, dtype=float)[None]
    output, tape = network.forward(parameters, rows)
    slope = np.ones_like(output) if gradient is None else np.asarray(gradient, dtype=float)[None]
    slopes = _node_gradients(network, parameters, tape, slope)
    depth = {"input": 0}
    for node in network.nodes:
        depth[node.name] = 1 + max(depth[each] for each in node.inputs)
    levels: dict[int, list[str]] = {}
    for name, level in depth.items():
        levels.setdefault(level, []).append(name)
    place = {
        name: (level, (i - (len(names) - 1) / 2) * 1.0)
        for level, names in levels.items()
        for i, name in enumerate(names)
    }
    links = [(depth[each], depth[node.name]) for node in network.nodes for each in node.inputs]
    if any(last - first > 1 for first, last in links):  # long arrows pass beside the boxes
        place = {name: (level, y + 0.45 * (level % 2)) for name, (level, y) in place.items()}
    figure = go.Figure()
    for node in network.nodes:
        for each in node.inputs:
            (x0, y0), (x1, y1) = place[each], place[node.name]
            arrow(figure, (x0 + 0.3, y0), (x1 - 0.3, y1), look(theme).faint)
    kinds = {"input": "input"} | {node.name: node.layer.kind for node in network.nodes}
    for name, (level, height) in place.items():
        words = (
            f"<b>{name}</b> {kinds[name] if kinds[name] != name else ''}"
            f"<br>value {_short(tape.outputs[name])}"
            f"<br><span style='color:{look(theme).strong}'>gradient {_short(slopes[name])}</span>"
        )
        figure.add_annotation(
            x=level, y=height, text=words, showarrow=False, bordercolor=look(theme).ink,
            borderpad=6, bgcolor=look(theme).paper, font={"size": 12},
        )  # fmt: skip
    most = max(len(names) for names in levels.values())
    figure.update_xaxes(visible=False, range=[-0.5, len(levels) - 0.5])
    figure.update_yaxes(visible=False, range=[-0.5 * most - 0.3, 0.5 * most + 0.6])
    note = "values go to the right, gradients come back and add up where a node is used twice"
    return dress(
        figure, "Computation graph", theme, note=note, height=220 + 130 * most,
        width=max(700, 210 * len(levels)),
    )  # fmt: skip


def _node_gradients(network: Network, parameters: Parameters, tape: Any, slope: Any) -> Any:
    found = {network.nodes[-1].name: slope}
    spare = parameters.zeros()
    for node in reversed(network.nodes):
        views = parameters.views.get(node.name, {})
        own = spare.views.get(node.name, {})
        back = node.layer.backward(views, tape.kept[node.name], found[node.name], own)
        for name, part in zip(node.inputs, [back] if node.layer.n_inputs == 1 else back):
            found[name] = found[name] + part if name in found else part
    return found


def _short(values: np.ndarray) -> str:
    flat = np.asarray(values).ravel()
    shown = ", ".join(f"{each:.3g}" for each in flat[:3])
    return f"({shown}{', ...' if len(flat) > 3 else ''})"


def convolution_steps(
    image: Any, kernel: Any, *, stride: int = 1, padding: int = 0, theme: str = "light"
) -> go.Figure:
    """Convolution in numbers: the padded image with one window, the kernel, the response.

    Texts: 000c 17.1 · 001 9.2.

    Parameters
    ----------
    image : array-like of shape (height, width)
        Small, as its numbers are written.
    kernel : array-like of shape (height, width)
    stride : int, default=1
    padding : int, default=0
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> image = np.arange(1, 26).reshape(5, 5)
    >>> figure = convolution_steps(image, [[1, 0, -1]] * 3, stride=2, padding=1)
    """
    from gnomon.neural.convolution import convolve2d

    padded = np.pad(np.asarray(image, dtype=float), padding)
    kernel = np.asarray(kernel, dtype=float)
    if max(padded.shape) > 16:
        raise DataError(f"convolution_steps writes every number; {padded.shape} cells are too many")
    response = convolve2d(padded, kernel, stride=stride, flip=False)
    titles = ("image with padding", "kernel", "response")
    figure = make_subplots(1, 3, subplot_titles=titles, horizontal_spacing=0.06)
    for column, values in enumerate((padded, kernel, response), 1):
        limit = np.abs(values).max() or 1.0
        figure.add_heatmap(
            z=values, text=[[f"{v:.3g}" for v in row] for row in values], texttemplate="%{text}",
            colorscale=DIVERGING, zmin=-limit, zmax=limit, showscale=False, row=1, col=column,
            xgap=1, ygap=1, opacity=0.75,
        )  # fmt: skip
    box = {"line": {"color": look(theme).strong, "width": 4}, "type": "rect"}
    h, w = kernel.shape
    figure.add_shape(x0=-0.5, x1=w - 0.5, y0=-0.5, y1=h - 0.5, row=1, col=1, **box)
    figure.add_shape(x0=-0.5, x1=0.5, y0=-0.5, y1=0.5, row=1, col=3, **box)
    _as_image(figure, 3)
    products = padded[:h, :w] * kernel
    note = (
        f"first window: the products with the kernel sum to {products.sum():.4g}; stride {stride}"
    )
    return dress(figure, "Convolution", theme, note=note, height=420, width=1000)


def _as_image(figure: go.Figure, n_panels: int) -> None:
    figure.update_xaxes(visible=False, constrain="domain")
    for k in range(1, n_panels + 1):
        anchor = "x" if k == 1 else f"x{k}"
        figure.update_yaxes(
            visible=False, autorange="reversed", scaleanchor=anchor, constrain="domain",
            selector={"anchor": anchor},
        )  # fmt: skip


def _gray(image: Any) -> np.ndarray:
    """An image of one channel as two axes; of three channels their mean."""
    values = np.asarray(image, dtype=float)
    if values.ndim == 3:
        return values.mean(axis=2)
    if values.ndim != 2:
        raise DataError(f"an image has two axes or three, not shape {values.shape}")
    return values


def _panels(
    rows: Sequence[Sequence[Any]], titles: Sequence[str], theme: str, limits: Any = (0.0, 1.0)
) -> go.Figure:
    """Gray images in rows, with words over them."""
    n, m = len(rows), max(len(row) for row in rows)
    spaces = {"horizontal_spacing": 0.02, "vertical_spacing": 0.14 / n}
    figure = make_subplots(n, m, subplot_titles=list(titles), **spaces)
    for i, row in enumerate(rows, 1):
        for j, image in enumerate(row, 1):
            values = _gray(image)
            low, high = (values.min(), values.max()) if limits is None else limits
            figure.add_heatmap(
                z=values, colorscale="Gray", zmin=low, zmax=high, showscale=False, row=i, col=j
            )
            height, width = values.shape
            rim = {"line": {"color": look(theme).faint, "width": 1}, "type": "rect"}
            figure.add_shape(x0=-0.5, x1=width - 0.5, y0=-0.5, y1=height - 0.5, row=i, col=j, **rim)
    _as_image(figure, n * m)
    figure.update_annotations(font_size=12)
    figure.update_layout(height=130 + PANEL * n, width=60 + PANEL * m)
    return figure


def adversarial_triple(
    example: AdversarialExample,
    network: Network,
    parameters: Parameters,
    *,
    classes: Any = None,
    theme: str = "light",
) -> go.Figure:
    """An image, what was added to it on a scale of its own, and their sum, with probabilities.

    Texts: 000c 17.2.3.

    Parameters
    ----------
    example : AdversarialExample
        From `gnomon.neural.adversarial_example`, of images.
    network : Network
    parameters : Parameters
    classes : sequence, default=None
        Names of the classes.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Conv2D, Dense, Flatten, MaxPool2D, Network, train
    >>> rng = np.random.default_rng(0)
    >>> X, y = 0.05 * rng.random((60, 8, 8, 1)), np.arange(60) % 2
    >>> X[y == 1, 3], X[y == 0, :, 4] = 1.0, 1.0
    >>> layers = [Conv2D(6, 3, "relu", name="first"), MaxPool2D(2), Flatten(), Dense(2)]
    >>> net = Network(layers, (8, 8, 1))
    >>> found = train(net, X[:40], y[:40], validation=(X[40:], y[40:]), max_iter=6)
    >>> from gnomon.neural import adversarial_example
    >>> example = adversarial_example(net, found.parameters, X[0], 1, bounds=(0, 1))
    >>> figure = adversarial_triple(example, net, found.parameters, classes=["column", "row"])
    """
    pair = np.stack([example.original, example.changed])
    proba = softmax(network.predict(parameters, pair))
    words = [str(k if classes is None else classes[k]) for k in range(proba.shape[1])]
    best = proba.argmax(axis=1)
    change = _gray(example.changed) - _gray(example.original)
    limit = np.abs(change).max() or 1.0
    titles = [
        f"{words[best[0]]} ({proba[0, best[0]]:.0%})",
        f"change, at most {limit:.2g}",
        f"{words[best[1]]} ({proba[1, best[1]]:.0%})",
    ]
    shown = [example.original, 0.5 + 0.5 * change / limit, example.changed]
    low, high = float(pair.min()), float(pair.max())
    first, last = ((np.asarray(each) - low) / (high - low or 1.0) for each in (shown[0], shown[2]))
    scaled = [first, shown[1], last]
    figure = _panels([scaled], titles, theme)
    note = f"a change of norm {example.norm:.3g}; middle gray is no change"
    return dress(figure, "An adversarial example", theme, note=note)


def strongest_responses(
    network: Network,
    parameters: Parameters,
    layer: str,
    X: Any,
    *,
    units: Sequence[int] = tuple(range(5)),
    n_images: int = 8,
    theme: str = "light",
) -> go.Figure:
    """The images that excite units of a layer most, a row for each unit.

    Texts: 000c 18.1.

    Parameters
    ----------
    network : Network
        On images.
    parameters : Parameters
    layer : str
        The name of a node.
    X : array-like of shape (n_samples, height, width, channels)
    units : sequence of int
        Units (channels) of the layer.
    n_images : int, default=8
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Conv2D, Dense, Flatten, MaxPool2D, Network, train
    >>> rng = np.random.default_rng(0)
    >>> X, y = 0.05 * rng.random((60, 8, 8, 1)), np.arange(60) % 2
    >>> X[y == 1, 3], X[y == 0, :, 4] = 1.0, 1.0
    >>> layers = [Conv2D(6, 3, "relu", name="first"), MaxPool2D(2), Flatten(), Dense(2)]
    >>> net = Network(layers, (8, 8, 1))
    >>> found = train(net, X[:40], y[:40], validation=(X[40:], y[40:]), max_iter=6)
    >>> weights = found.parameters
    >>> figure = strongest_responses(net, weights, "first", X, units=(0, 3), n_images=4)
    """
    head = head_of(network, layer)
    rows = head.rows(X, parameters.flat.dtype)
    responses = head.predict(own_parameters(head, parameters), rows)
    largest = responses.reshape(len(rows), -1, responses.shape[-1]).max(axis=1)
    units = [unit for unit in units if unit < largest.shape[1]]
    chosen = [np.argsort(-largest[:, unit], kind="stable")[:n_images] for unit in units]
    pictures = [[rows[i] for i in mine] for mine in chosen]
    titles = [
        f"unit {unit}: {largest[i, unit]:.2g}" if k == 0 else f"{largest[i, unit]:.2g}"
        for unit, mine in zip(units, chosen)
        for k, i in enumerate(mine)
    ]
    figure = _panels(pictures, titles, theme, (float(rows.min()), float(rows.max())))
    note = f"from {len(rows):,} images; the number is the largest response"
    return dress(figure, f"What excites layer {layer}", theme, note=note)


def image_batches(
    batches: Mapping[str, Any], *, n_images: int = 8, theme: str = "light"
) -> go.Figure:
    """Batches of images below each other: noisy, recovered and true, say.

    Texts: 000c 19.2.

    Parameters
    ----------
    batches : mapping of str to array-like of shape (n, height, width) or (n, height, width, 1)
    n_images : int, default=8
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> true = np.tile(np.eye(6), (3, 1, 1))
    >>> figure = image_batches({"true": true, "noisy": true + 0.2 * rng.normal(size=true.shape)})
    """
    if not batches:
        raise DataError("give one batch of images or more")
    rows = [list(np.asarray(each)[:n_images]) for each in batches.values()]
    if len({len(row) for row in rows}) > 1:
        raise DataError("all batches must have as many images")
    titles = [name if k == 0 else "" for name in batches for k in range(len(rows[0]))]
    return dress(_panels(rows, titles, theme), "Input and output", theme)


def intensity_profile(images: Mapping[str, Any], row: int, *, theme: str = "light") -> go.Figure:
    """One row of pixels of several images, and the error against the first.

    A shifted edge has a large error although it looks right; a blurred one has a small error.
    Texts: 000c 19.2.

    Parameters
    ----------
    images : mapping of str to array-like of shape (height, width)
        The first is the true one.
    row : int
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> edge = np.repeat([[0.0, 1.0]], 4, axis=0).repeat(4, axis=1)
    >>> figure = intensity_profile({"true": edge, "blurred": edge * 0.8 + 0.1}, 2)
    """
    shown = {name: _gray(image) for name, image in images.items()}
    true = next(iter(shown.values()))
    if not 0 <= row < len(true):
        raise DataError(f"the images have {len(true)} rows; there is no row {row}")
    figure = go.Figure()
    for k, (name, image) in enumerate(shown.items()):
        error = float(np.mean((image[row] - true[row]) ** 2))
        label = name if k == 0 else f"{name}: mean squared error {error:.3g}"
        line = {"color": color(k), "width": 3 if k == 0 else 2, "shape": "hvh"}
        figure.add_scatter(y=image[row], mode="lines", name=label, line=line)
    figure.update_xaxes(title="column")
    figure.update_yaxes(title="intensity")
    return dress(
        figure, "Intensity along a row", theme, note=f"row {row}", **legend_below(), height=460
    )


def kernel_responses(
    image: Any, kernels: Any, *, threshold: float = 0.5, theme: str = "light"
) -> go.Figure:
    """An image, kernels, their responses, and where the response is strong.

    Texts: 000c 17.1.

    Parameters
    ----------
    image : array-like of shape (height, width)
    kernels : array-like of shape (n, height, width)
        Such as those of a first layer.
    threshold : float, default=0.5
        A detection has this share of the largest response.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> edge = np.repeat([[0.0, 1.0]], 4, axis=0).repeat(4, axis=1)
    >>> figure = kernel_responses(edge, [[[-1, 1]]])
    """
    from gnomon.neural.convolution import convolve2d

    image, kernels = _gray(image), np.asarray(kernels, dtype=float)
    limit = np.abs(kernels).max() or 1.0
    rows, titles = [], []
    for k, kernel in enumerate(kernels):
        response = convolve2d(image, kernel, mode="same", flip=False)
        most = np.abs(response).max() or 1.0
        found = response >= threshold * most
        low, high = image.min(), image.max()
        rows.append(
            [
                (image - low) / (high - low or 1.0),
                0.5 + 0.5 * kernel / limit,
                0.5 + 0.5 * response / most,
                found.astype(float),
            ]
        )
        titles += ["image", f"kernel {k}", "response", f"{int(found.sum())} detections"]
    note = "middle gray is zero; kernels share one scale"
    return dress(_panels(rows, titles, theme), "Kernels and responses", theme, note=note)


def training_curves(
    training: Any, *, baseline: float | None = None, theme: str = "light"
) -> go.Figure:
    """Loss and error of training and validation by epoch, with the baseline.

    Texts: 000c 16.2, 17.2.

    Parameters
    ----------
    training : Training, or list of them
        From `gnomon.neural.train`, or other objects with ``losses``, ``errors``,
        ``validation_losses`` and ``validation_errors``. Several are drawn on common axes: their
        validation curves, and of the last one the training curves too.
    baseline : float, default=None
        Error of the most frequent class; by default what the training recorded.
    theme : {"light", "dark"}, default="light"

    Returns
    -------
    figure : plotly.graph_objects.Figure

    Examples
    --------
    >>> from gnomon.neural import Conv2D, Dense, Flatten, MaxPool2D, Network, train
    >>> rng = np.random.default_rng(0)
    >>> X, y = 0.05 * rng.random((60, 8, 8, 1)), np.arange(60) % 2
    >>> X[y == 1, 3], X[y == 0, :, 4] = 1.0, 1.0
    >>> layers = [Conv2D(6, 3, "relu", name="first"), MaxPool2D(2), Flatten(), Dense(2)]
    >>> net = Network(layers, (8, 8, 1))
    >>> found = train(net, X[:40], y[:40], validation=(X[40:], y[40:]), max_iter=6)
    >>> figure = training_curves(found)
    """
    runs = list(training) if isinstance(training, list | tuple) else [training]
    last = runs[-1]
    level = getattr(last, "baseline", None) if baseline is None else baseline
    n = 2 if last.validation_errors else 1
    figure = make_subplots(1, n, subplot_titles=("loss", "share of wrong classes")[:n])
    faint = look(theme).faint
    for number, each in enumerate(runs[:-1]):
        shared = {"color": faint, "width": 1}
        for column, values in enumerate((each.validation_losses, each.validation_errors)[:n], 1):
            figure.add_scatter(
                x=list(range(1, len(values) + 1)),
                y=values,
                name="validation, other settings",
                legendgroup="others",
                showlegend=number == 0 and column == 1,
                mode="lines",
                line=shared,
                row=1,
                col=column,
                hovertext=getattr(each, "name", ""),
            )
    panels = ((last.losses, last.validation_losses), (last.errors, last.validation_errors))
    for column, (trained, validated) in enumerate(panels[:n], 1):
        for tint, (name, values) in enumerate((("training", trained), ("validation", validated))):
            if not values:
                continue
            figure.add_scatter(
                x=list(range(1, len(values) + 1)),
                y=values,
                name=name,
                legendgroup=name,
                showlegend=column == 1 or not panels[0][tint],
                mode="lines",
                line={"color": color(tint), "width": 2},
                row=1,
                col=column,
            )
    if n == 2 and level is not None:
        longest = max(len(each.validation_errors) for each in runs)
        figure.add_scatter(
            x=[1, longest],
            y=[level, level],
            name="most frequent class",
            mode="lines",
            line={"color": faint, "dash": "dash"},
            row=1,
            col=2,
        )
        figure.update_yaxes(rangemode="tozero", tickformat=".0%", row=1, col=2)
    if len(runs) > 1:
        figure.update_yaxes(type="log", row=1, col=1)
    figure.update_xaxes(title="epoch")
    note = f"{len(last.losses)} epochs: {last.stopped}"
    title = "Training" if len(runs) == 1 else "Trainings compared"
    return dress(figure, title, theme, note=note, **legend_below(top=110), height=460)
