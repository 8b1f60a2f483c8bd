"""Networks made from others: reused layers, deeper ones, curricula, dense as convolution.

Texts: 000c 16.4.3 (deeper from shallower), 17.1.1 (a dense layer is a convolution), 18.1.4
(features of a trained network) · 001 9.4.2 (linear regions; it prints a binomial for a fraction) ·
003 4.3.3, 4.4.3.1 (every unit feeds every later one) · 004 9.3.2 (curriculum, transfer).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neural.convolution import Conv2D
from gnomon.neural.layers import Dense, Layer, Stack
from gnomon.neural.network import Network, Parameters
from gnomon.neural.probes import head_of, own_parameters
from gnomon.neural.trainer import predict_all
from gnomon.neural.training import Training, train


def feature_stack(network: Network, parameters: Parameters, layer: str, X: Any) -> np.ndarray:
    """What a layer of a trained network gives for some rows, as columns.

    Parameters
    ----------
    network : Network
    parameters : Parameters
    layer : str
        The name of a node; those after it are not computed.
    X : array-like of shape (n_samples, ...)

    Returns
    -------
    features : ndarray of shape (n_samples, n_features)
    """
    head = head_of(network, layer)
    own = own_parameters(head, parameters)
    found = predict_all(head, own, head.rows(X, parameters.flat.dtype))
    return found.reshape(len(found), -1)


def fine_tune(
    network: Network,
    parameters: Parameters,
    layer: str,
    new_layers: list[Layer],
    X: Any,
    y: Any,
    *,
    freeze: bool = False,
    **options: Any,
) -> Training:
    """Train a network whose first layers come from another.

    Parameters
    ----------
    network : Network
        The trained one.
    parameters : Parameters
        Of it; not changed.
    layer : str
        Its last layer to keep.
    new_layers : list of Layer
        What follows, drawn at random.
    X : array-like of shape (n_samples, ...)
    y : array-like
    freeze : bool, default=False
        Whether the layers that were kept stay as they are.
    **options
        Of `train`.

    Returns
    -------
    training : Training
    """
    head = head_of(network, layer)
    graph: dict[str, Any] = {node.name: (node.layer, list(node.inputs)) for node in head.nodes}
    before = head.nodes[-1].name
    for number, each in enumerate(new_layers, 1):
        name = each.name or f"new{number}"
        graph[name] = (each, [before])
        before = name
    joined = Network(graph, network.input_shape)
    start = copied(joined, parameters, options.get("random_state", 0), options.get("init"))
    frozen = tuple(node.name for node in head.nodes) if freeze else ()
    return train(joined, X, y, parameters=start, frozen=frozen, **options)


def copied(
    network: Network, parameters: Parameters, random_state: Any = 0, init: str | None = None
) -> Parameters:
    """First parameters of a network, those of layers of the same name and shape from another.

    A deeper network thus starts from a shallower one that was trained, with new layers random.

    Parameters
    ----------
    network : Network
    parameters : Parameters
        Parameters of the other network.
    random_state : int, Generator or None, default=0
    init : str, default=None
        Rule of the new weights.

    Returns
    -------
    start : Parameters
    """
    rule = "glorot_uniform" if init is None else init
    start = network.initial(random_state, init=rule, dtype=parameters.flat.dtype)
    known = {place.path: place for place in parameters.places}
    for place in network.places:
        other = known.get(place.path)
        if other is not None and other.parameter.shape == place.parameter.shape:
            start.flat[place.start : place.stop] = parameters.flat[other.start : other.stop]
    return start


def train_curriculum(
    network: Network, X: Any, y: Any, difficulty: Any, *, stages: int = 3, **options: Any
) -> list[Training]:
    """Train on the easiest rows first, and on more and harder ones in each stage.

    Parameters
    ----------
    network : Network
    X : array-like of shape (n_samples, ...)
    y : array-like
    difficulty : array-like of shape (n_samples,)
        A number for each row, such as the loss of a simple model.
    stages : int, default=3
        Stage s takes the easiest s / stages of the rows.
    **options
        Of `train`, for each stage.

    Returns
    -------
    trainings : list of Training
        One for each stage; the last has the result.
    """
    X, y, difficulty = np.asarray(X), np.asarray(y), np.asarray(difficulty, dtype=np.float64)
    if difficulty.shape != (len(X),) or not np.isfinite(difficulty).all():
        raise DataError("difficulty has one finite number for each row")
    if stages < 1:
        raise DataError(f"stages must be 1 or more, not {stages}")
    parameters = options.pop("parameters", None)
    found = []
    for stage in range(1, stages + 1):
        limit = np.quantile(difficulty, stage / stages)
        easy = difficulty <= limit
        found.append(train(network, X[easy], y[easy], parameters=parameters, **options))
        parameters = found[-1].parameters
    return found


def fully_connected_dag(
    n_units: int, n_outputs: int, n_columns: int, activation: str = "tanh"
) -> Network:
    """A network without layers: every unit takes in the input and all units before it.

    Parameters
    ----------
    n_units : int
        Hidden units.
    n_outputs, n_columns : int
    activation : str, default="tanh"

    Returns
    -------
    network : Network

    Examples
    --------
    >>> fully_connected_dag(3, 1, 2).n_parameters  # 3 + 4 + 5 + 6
    18
    """
    graph: dict[str, Any] = {}
    seen = "input"
    for number in range(1, n_units + 1):
        graph[f"unit{number}"] = (Dense(1, activation), [seen])
        graph[f"seen{number}"] = (Stack(), [seen, f"unit{number}"])
        seen = f"seen{number}"
    graph["output"] = (Dense(n_outputs), [seen])
    return Network(graph, n_columns)


def dense_as_convolution(
    dense: Dense, weight: np.ndarray, shape: tuple[int, int, int]
) -> tuple[Conv2D, np.ndarray]:
    """A dense layer after `Flatten` as a convolution, which can scan larger images.

    Parameters
    ----------
    dense : Dense
    weight : ndarray of shape (height * width * channels, units)
    shape : (height, width, channels)
        Shape of the images before `Flatten`.

    Returns
    -------
    layer : Conv2D
        With a window of the whole image.
    weight : ndarray of shape (height, width, channels, units)
    """
    height, width, _ = shape
    layer = Conv2D(dense.units, (height, width), dense.activation, bias=dense.bias)
    return layer, weight.reshape(*shape, dense.units)


def linear_regions_bound(n_columns: int, depth: int, n_units: int) -> float:
    """How many linear regions a deep ReLU network can have, in order of size.

    (n / d)^(d (depth - 1)) n^d for d inputs and n units in each of `depth` layers: exponential in
    the depth (the text prints a binomial coefficient for the fraction n / d).

    Parameters
    ----------
    n_columns, depth, n_units : int

    Returns
    -------
    regions : float

    Examples
    --------
    >>> linear_regions_bound(2, 3, 8)
    16384.0
    """
    return float((n_units / n_columns) ** (n_columns * (depth - 1)) * n_units**n_columns)


def count_linear_regions(
    network: Network, parameters: Parameters, *, size: int = 200, bounds: tuple = (-1.0, 1.0)
) -> int:
    """The linear regions of a ReLU network of two inputs that the cells of a grid meet.

    A region is a set of inputs for which the same units are on.

    Parameters
    ----------
    network : Network
        Of two inputs.
    parameters : Parameters
    size : int, default=200
        Points along each axis.
    bounds : (float, float), default=(-1.0, 1.0)

    Returns
    -------
    regions : int
    """
    if network.input_shape != (2,):
        raise DataError(f"count_linear_regions needs two inputs, not {network.input_shape}")
    line = np.linspace(bounds[0], bounds[1], size)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    outputs = network.forward(parameters, points)[1].outputs
    signs = [
        outputs[node.name] > 0
        for node in network.nodes
        if getattr(node.layer, "activation", None) == "relu"
    ]
    if not signs:
        return 1
    return len(np.unique(np.packbits(np.concatenate(signs, axis=1), axis=1), axis=0))
