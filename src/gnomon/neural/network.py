"""Networks: layers in a chain or a graph without cycles, run forward and backward.

A network is a description. Its parameters are one flat array that a `Parameters` object cuts into
views by layer, so that an optimiser sees a vector and a layer sees its matrices. Running it changes
nothing in it: the forward pass gives the output and a tape, the backward pass gives the gradient
from the tape. The gradient of a node is the sum over the nodes that take it in.

Texts: 000c 17.1-17.2, 18.1.1 · 001 6.5 · 003 4.3 · 004 9.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.neural import normalization, pooling  # noqa: F401  declare their layers
from gnomon.neural.description import layer_of, parse, text_of
from gnomon.neural.initialization import draw_start
from gnomon.neural.layers import Layer, Parameter, Run, Shape

INPUT = "input"


class Node(NamedTuple):
    """A layer in its place.

    Attributes
    ----------
    name : str
    layer : Layer
    inputs : tuple of str
        Nodes that it takes in; "input" is that of the network.
    shape : tuple
        Shape of its input; a list of shapes for several.
    output_shape : tuple of int
    """

    name: str
    layer: Layer
    inputs: tuple[str, ...]
    shape: Any
    output_shape: Shape


class Place(NamedTuple):
    """Where a parameter stands in the flat array.

    Attributes
    ----------
    path : tuple of str
        The node, and the keys below it.
    parameter : Parameter
    start, stop : int
    """

    path: tuple[str, ...]
    parameter: Parameter
    start: int
    stop: int


class Parameters:
    """All parameters of a network: one flat array and views of it by node and name.

    Parameters
    ----------
    places : list of Place
    flat : ndarray of shape (n,)
    """

    def __init__(self, places: list[Place], flat: np.ndarray):
        self.places, self.flat = places, flat
        self.views: dict[str, Any] = {}
        for path, parameter, start, stop in places:
            inner = self.views
            for key in path[:-1]:
                inner = inner.setdefault(key, {})
            inner[path[-1]] = flat[start:stop].reshape(parameter.shape)

    def __getitem__(self, name: str) -> Any:
        return self.views[name]

    def copy(self) -> Parameters:
        """Parameters of their own."""
        return Parameters(self.places, self.flat.copy())

    def zeros(self) -> Parameters:
        """As many zeros, for a gradient."""
        return Parameters(self.places, np.zeros_like(self.flat))

    def astype(self, dtype: Any) -> Parameters:
        """The same in another precision."""
        return Parameters(self.places, self.flat.astype(dtype))


class Tape(NamedTuple):
    """What a forward pass leaves for the backward pass.

    Attributes
    ----------
    kept : dict
        By node.
    outputs : dict
        The output of each node.
    """

    kept: dict[str, Any]
    outputs: dict[str, np.ndarray]


class Network:
    """A network described by its layers.

    Parameters
    ----------
    layers : list of Layer or dict, or dict
        A chain; or a graph as a dict from names to layers, or to (layer, inputs) where inputs is a
        name or a list of names of other nodes ("input" is the network's). The last is the output.
    input_shape : int or tuple of int
        Shape of a row: ``(d,)``, or ``(height, width, channels)``.

    Attributes
    ----------
    nodes : list of Node
        In an order in which each comes after all that it takes in.
    input_shape, output_shape : tuple of int
    places : list of Place
        Where each parameter stands; those that are trained come first.
    n_parameters : int
        Trained numbers.
    n_stored : int
        These, and the running statistics of normalisation.

    Examples
    --------
    >>> from gnomon.neural import Dense, Network
    >>> net = Network([Dense(3, "tanh"), Dense(1)], 2)
    >>> net.n_parameters
    13
    >>> output, tape = net.forward(net.initial(0), np.zeros((5, 2)))
    >>> output.shape
    (5, 1)
    """

    def __init__(self, layers: Any, input_shape: Any):
        self.input_shape = _checked_shape(input_shape)
        self.nodes = list(_placed(_as_graph(layers), self.input_shape))
        self.output_shape = self.nodes[-1].output_shape
        self.places = _allocate(self.nodes)
        trained = [each for each in self.places if each.parameter.role != "statistic"]
        self.n_parameters = trained[-1].stop if trained else 0
        self.n_stored = self.places[-1].stop if self.places else 0
        consumers = {name for node in self.nodes for name in node.inputs}
        unused = [node.name for node in self.nodes[:-1] if node.name not in consumers]
        if unused:
            raise DataError(f"nothing takes in the layer {unused[0]!r}; leave it out or connect it")

    def __repr__(self) -> str:
        kinds = ", ".join(node.layer.kind for node in self.nodes)
        return f"Network({kinds}; {self.n_parameters:,} parameters)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def across_rows(self) -> bool:
        """Whether the rows of a training batch depend on each other."""
        return any(node.layer.across_rows for node in self.nodes)

    @cached_property
    def _unpools(self) -> bool:
        return "MaxUnpool2D" in str(self.as_dict())

    @cached_property
    def multiplications(self) -> int:
        """Multiplications of a forward pass for one row, about."""
        return sum(node.layer.multiplications(node.shape) for node in self.nodes)

    def initial(
        self,
        random_state: Any = None,
        *,
        init: str = "glorot_uniform",
        scale: float | None = None,
        dtype: Any = np.float64,
    ) -> Parameters:
        """First parameters: weights drawn at random, biases 0, gains 1.

        Parameters
        ----------
        random_state : int, Generator or None, default=None
        init : str, default="glorot_uniform"
            One of `gnomon.neural.INITIALIZATIONS`.
        scale : float, default=None
            Standard deviation of "normal", half width of "uniform", factor of the others.
        dtype : data-type, default=float64

        Returns
        -------
        parameters : Parameters
        """
        rng = np.random.default_rng(random_state)
        flat = np.empty(self.n_stored, dtype=dtype)
        for each in self.places:
            flat[each.start : each.stop] = draw_start(each.parameter, init, scale, rng).ravel()
        return Parameters(self.places, flat)

    def from_flat(self, flat: np.ndarray) -> Parameters:
        """Parameters that are views of a flat array; an error where its length does not fit."""
        flat = np.asarray(flat)
        if flat.shape != (self.n_stored,):
            raise DataError(
                f"the network stores {self.n_stored:,} numbers; the array has shape {flat.shape}"
            )
        return Parameters(self.places, flat)

    def rows(self, x: Any, dtype: Any = None) -> np.ndarray:
        """Rows in the shape that the network takes; flat rows of images are given their shape."""
        x = np.asarray(x) if dtype is None else np.asarray(x, dtype=dtype)
        if x.shape[1:] == self.input_shape:
            return x
        if x.ndim < 2 or prod(x.shape[1:]) != prod(self.input_shape):
            raise DataError(
                f"the network takes rows of shape {self.input_shape}; these have {x.shape[1:]}"
            )
        return x.reshape(len(x), *self.input_shape)

    def forward(
        self, parameters: Parameters, x: Any, run: Run | None = None
    ) -> tuple[np.ndarray, Tape]:
        """The output for some rows, and the tape for `backward`.

        Parameters
        ----------
        parameters : Parameters
        x : array-like of shape (n_samples, *input_shape)
        run : Run, default=None
            ``Run(training=True, rng=...)`` to learn; to predict by default.

        Returns
        -------
        output : ndarray of shape (n_samples, *output_shape)
        tape : Tape
        """
        run = run or Run()
        values: dict[str, np.ndarray] = {INPUT: self.rows(x, parameters.flat.dtype)}
        kept: dict[str, Any] = {}
        for node in self.nodes:
            given: Any = [values[name] for name in node.inputs]
            if node.layer.n_inputs == 1:
                given = given[0]
            views = parameters.views.get(node.name, {})
            values[node.name], kept[node.name] = node.layer.forward(views, given, run)
        return values[self.nodes[-1].name], Tape(kept, values)

    def predict(self, parameters: Parameters, x: Any) -> np.ndarray:
        """The output for some rows, with nothing kept.

        Parameters
        ----------
        parameters : Parameters
        x : array-like of shape (n_samples, *input_shape)

        Returns
        -------
        output : ndarray of shape (n_samples, *output_shape)
        """
        return self.forward(parameters, x, Run(keep=False, switching=self._unpools))[0]

    def backward(
        self,
        parameters: Parameters,
        tape: Tape,
        gradient: np.ndarray,
        slopes: Parameters | None = None,
        *,
        to_input: bool = True,
    ) -> tuple[Parameters, np.ndarray | None]:
        """Gradients from the gradient of the output.

        Parameters
        ----------
        parameters : Parameters
            Those of the forward pass.
        tape : Tape
        gradient : ndarray of shape (n_samples, *output_shape)
            Gradient of a number with respect to the output.
        slopes : Parameters, default=None
            Written to; made where it is not given.
        to_input : bool, default=True
            Whether the gradient of the input is needed.

        Returns
        -------
        slopes : Parameters
            The gradient with respect to the parameters, and the batch's statistics of
            normalisation in the place of theirs.
        input_gradient : ndarray of shape (n_samples, *input_shape) or None
        """
        slopes = parameters.zeros() if slopes is None else slopes
        found: dict[str, np.ndarray] = {self.nodes[-1].name: gradient}
        for node in reversed(self.nodes):
            mine = found.pop(node.name)
            views = parameters.views.get(node.name, {})
            own = slopes.views.get(node.name, {})
            if not to_input and node.inputs == (INPUT,):
                node.layer.backward_first(views, tape.kept[node.name], mine, own)
                continue
            back = node.layer.backward(views, tape.kept[node.name], mine, own)
            parts = [back] if node.layer.n_inputs == 1 else back
            for name, part in zip(node.inputs, parts):
                found[name] = part if name not in found else found[name] + part
        return slopes, found.get(INPUT) if to_input else None

    def slices(self, *roles: str) -> list[slice]:
        """Where the parameters of some roles stand ("weight", "bias", "gain", "statistic")."""
        found = [each for each in self.places if each.parameter.role in roles]
        return [slice(each.start, each.stop) for each in found]

    def summary(self) -> NetworkSummary:
        """Shapes, parameters, memory and receptive fields, layer by layer, before any training.

        Returns
        -------
        summary : NetworkSummary
        """
        return NetworkSummary(self)

    def as_dict(self) -> dict[str, Any]:
        """The description as plain values, which `Network.from_dict` reads."""
        layers = []
        for node in self.nodes:
            layers.append(node.layer.as_dict() | {"name": node.name, "inputs": list(node.inputs)})
        return {"input_shape": list(self.input_shape), "layers": layers}

    @classmethod
    def from_dict(cls, told: Any) -> Network:
        """A network from plain values.

        Parameters
        ----------
        told : dict
            With "input_shape" and "layers".

        Returns
        -------
        network : Network
        """
        if not isinstance(told, dict) or not {"input_shape", "layers"} <= set(told):
            raise DataError("a description is a dict with 'input_shape' and 'layers'")
        graph: dict[str, Any] = {}
        before = INPUT
        for number, each in enumerate(told["layers"]):
            each = dict(each) if isinstance(each, dict) else each
            inputs = each.pop("inputs", [before]) if isinstance(each, dict) else [before]
            layer = layer_of(each, f"layer {number + 1}")
            name = _free_name(layer, graph)
            graph[name] = (layer, inputs)
            before = name
        return cls(graph, told["input_shape"])

    def as_text(self) -> str:
        """The description as text, which `Network.from_text` reads."""
        nodes = [(node.name, node.layer, list(node.inputs)) for node in self.nodes]
        return text_of(nodes, self.input_shape)

    @classmethod
    def from_text(cls, text: str) -> Network:
        """A network from the text of its description; see `gnomon.neural.description`.

        Parameters
        ----------
        text : str

        Returns
        -------
        network : Network

        Examples
        --------
        >>> Network.from_text("input 4\\nDense units=3 activation=relu\\nDense units=2")
        Network(Dense, Dense; 23 parameters)
        """
        return cls.from_dict(parse(text))

    @classmethod
    def read(cls, path: str | Path) -> Network:
        """A network from a text file.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        network : Network
        """
        return cls.from_text(Path(path).read_text(encoding="utf-8"))


class NetworkSummary(Result):
    """The sizes of a network, layer by layer.

    Attributes
    ----------
    names, kinds : list of str
    output_shapes : list of tuple
    n_parameters : list of int
    receptive_fields : list of int or None
        Height of the part of the input that a cell of the output sees; None where the layer is no
        longer on an image.
    steps : list of int or None
        Input cells from one output cell to the next.
    megabytes : list of float
        Of the output of one row in float32.
    """

    def __init__(self, network: Network):
        self.network = network
        self.names = [node.name for node in network.nodes]
        self.kinds = [node.layer.kind for node in network.nodes]
        self.output_shapes = [node.output_shape for node in network.nodes]
        counts = dict.fromkeys(self.names, 0)
        for each in network.places:
            if each.parameter.role != "statistic":
                counts[each.path[0]] += each.stop - each.start
        self.n_parameters = list(counts.values())
        self.megabytes = [4 * prod(shape) / 1e6 for shape in self.output_shapes]
        fields = _receptive_fields(network)
        self.receptive_fields = [fields[name][0] for name in self.names]
        self.steps = [fields[name][1] for name in self.names]

    def _title(self) -> str:
        return (
            f"{self.network.n_parameters:,} parameters, "
            f"{self.network.multiplications:,} multiplications a row"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "layer": self.names,
            "kind": self.kinds,
            "output": [" x ".join(map(str, shape)) for shape in self.output_shapes],
            "parameters": [f"{count:,}" for count in self.n_parameters],
            "receptive field": ["" if r is None else str(r) for r in self.receptive_fields],
        }


def _receptive_fields(network: Network) -> dict[str, tuple[int | None, int | None]]:
    """Window and step of each node: r <- r + (k - 1) j, j <- j s; the largest of several inputs."""
    image = len(network.input_shape) == 3
    found: dict[str, tuple[int | None, int | None]] = {INPUT: (1, 1) if image else (None, None)}
    for node in network.nodes:
        r, j = max((found[name] for name in node.inputs), key=lambda each: each[0] or 0)
        if r is None or j is None or len(node.output_shape) != 3:
            found[node.name] = None, None
            continue
        k, s = node.layer.grows()
        found[node.name] = r + (k - 1) * j, j * s
    return found


def _checked_shape(shape: Any) -> Shape:
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if len(sizes) not in (1, 3) or any(
        not isinstance(s, (int, np.integer)) or isinstance(s, bool) or s < 1 for s in sizes
    ):
        raise DataError(
            f"input_shape is (columns,) or (height, width, channels), whole numbers above 0, not "
            f"{shape!r}"
        )
    return tuple(int(size) for size in sizes)


def _free_name(layer: Layer, taken: Any) -> str:
    """The layer's own name, or its kind with a number."""
    if layer.name:
        if layer.name in taken or layer.name == INPUT:
            raise DataError(f"two layers are named {layer.name!r}")
        return layer.name
    kind = layer.kind.lower()
    number = 1
    while f"{kind}{number}" in taken:
        number += 1
    return f"{kind}{number}"


def _as_graph(layers: Any) -> dict[str, tuple[Layer, list[str]]]:
    """Layers and their inputs by name; a chain takes in the one before."""
    graph: dict[str, tuple[Layer, list[str]]] = {}
    if isinstance(layers, dict):
        before = INPUT
        for name, told in layers.items():
            layer, inputs = told if isinstance(told, tuple) else (told, [before])
            inputs = [inputs] if isinstance(inputs, str) else list(inputs)
            graph[name] = layer_of(layer, f"layer {name!r}"), inputs
            before = name
    else:
        before = INPUT
        for number, told in enumerate(layers):
            layer = layer_of(told, f"layer {number + 1}")
            name = _free_name(layer, graph)
            graph[name] = layer, [before]
            before = name
    if not graph:
        raise DataError("a network needs one layer or more")
    if INPUT in graph:
        raise DataError("no layer may be called 'input', which is what the network takes in")
    return graph


def _placed(graph: dict[str, tuple[Layer, list[str]]], input_shape: Shape) -> Iterator[Node]:
    """The nodes in an order in which each comes after its inputs, with shapes; the last stays."""
    shapes: dict[str, Shape] = {INPUT: input_shape}
    for name, (_, inputs) in graph.items():
        for each in inputs:
            if each not in graph and each != INPUT:
                raise DataError(f"layer {name!r} takes in {each!r}, which is not there")
    waiting = list(graph)
    while waiting:
        ready = [name for name in waiting if all(each in shapes for each in graph[name][1])]
        if not ready:
            raise DataError(f"the network has a cycle through {' and '.join(waiting)}")
        for name in ready:
            layer, inputs = graph[name]
            node = _node(name, layer, inputs, shapes)
            shapes[name] = node.output_shape
            waiting.remove(name)
            yield node


def _node(name: str, layer: Layer, inputs: list[str], shapes: dict[str, Shape]) -> Node:
    named = layer if layer.name else replace(layer, name=name)  # type: ignore[type-var]
    if not inputs or (layer.n_inputs == 1 and len(inputs) != 1):
        raise DataError(f"layer {layer.kind} {name!r} takes one input, not {len(inputs)}: {inputs}")
    given: Any = [shapes[each] for each in inputs]
    shape = given[0] if layer.n_inputs == 1 else given
    return Node(name, named, tuple(inputs), shape, tuple(named.output_shape(shape)))


def _allocate(nodes: list[Node]) -> list[Place]:
    """Places of all parameters in the flat array, trained ones first."""
    listed = [
        (path, parameter)
        for node in nodes
        for path, parameter in _listed(node.layer.parameters(node.shape), (node.name,))
    ]
    places, start = [], 0
    for statistics in (False, True):
        for path, parameter in listed:
            if (parameter.role == "statistic") is statistics:
                stop = start + prod(parameter.shape)
                places.append(Place(path, parameter, start, stop))
                start = stop
    return places


def _listed(found: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[Any, Parameter]]:
    for key, value in found.items():
        if isinstance(value, dict):
            yield from _listed(value, (*path, key))
        else:
            yield (*path, key), value
