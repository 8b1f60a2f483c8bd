"""Layers: what a network is described with. Dense, activation, dropout, reshaping, sums.

A layer is a small immutable description. It infers the shape of its output, declares its
parameters, and computes forward and backward from arrays that it is given; it keeps no state of a
run, so that threads share it. Shapes leave out the rows: ``(d,)`` for columns, ``(height, width,
channels)`` for images (channels last).

Texts: 000c 17.1-18.1 · 001 6.1-6.5 · 003 4.3 · 004 9.1-9.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from math import prod
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything
from gnomon.neural.activations import activation_of

Shape = tuple[int, ...]
Views = dict[str, Any]  # arrays by name; of a layer made of layers, such dicts by place
LAYERS: dict[str, type[Layer]] = {}
Class = TypeVar("Class", bound=type)


class Parameter(NamedTuple):
    """An array that a layer needs.

    Attributes
    ----------
    shape : tuple of int
    role : {"weight", "bias", "gain", "statistic"}
        Weights are drawn at random and penalised. A bias starts at 0 and a gain at 1. A statistic
        is not trained: the layer writes the batch's value in the place of its gradient, and the
        stored one moves towards it.
    fan_in, fan_out : int
        Numbers that a unit takes in, and units that an input goes to; scale the first weights.
    start : float or None
        The first value, where it is another one.
    rate : float
        How far a statistic moves in a step.
    """

    shape: Shape
    role: str = "weight"
    fan_in: int = 1
    fan_out: int = 1
    start: float | None = None
    rate: float = 0.1


@dataclass
class Run:
    """How a network is run: to learn or to predict.

    Attributes
    ----------
    training : bool
        Dropout drops, and batch normalisation uses the batch.
    rng : numpy.random.Generator, callable or None
        For layers that draw; a callable makes it when it is needed.
    weights : ndarray of shape (n_samples,) or None
        Weights of the rows of a batch.
    keep : bool
        Whether layers keep what the backward pass needs.
    switching : bool
        Whether max pooling records where it found its largest numbers, for unpooling.
    """

    training: bool = False
    rng: np.random.Generator | Callable[[], np.random.Generator] | None = None
    weights: np.ndarray | None = None
    keep: bool = True
    switching: bool = True

    def __post_init__(self) -> None:
        self.switches: dict[str, Any] = {}

    def draws(self, layer: Layer) -> np.random.Generator:
        """The generator; an error that names the layer where there is none."""
        if self.rng is None:
            raise DataError(f"{layer.kind} draws at random in training: give rng")
        if not isinstance(self.rng, np.random.Generator):
            self.rng = self.rng()
        return self.rng


class Layer:
    """The base of all layers; see the module for what a layer is."""

    n_inputs: ClassVar[int | None] = 1  # None: two or more
    across_rows: ClassVar[bool] = False  # a row's output depends on the other rows of the batch
    name: str | None

    @property
    def kind(self) -> str:
        """The name of the class, by which descriptions call it."""
        return type(self).__name__

    def output_shape(self, shape: Any) -> Shape:
        """The shape of the output for that of the input (a list of shapes for several inputs)."""
        return shape

    def parameters(self, shape: Any) -> dict[str, Any]:
        """Its parameters by name, for the shape of the input."""
        return {}

    def forward(self, p: Views, x: Any, run: Run) -> tuple[np.ndarray, Any]:
        """The output, and what the backward pass needs."""
        raise NotImplementedError

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> Any:
        """Write the gradients of the parameters to `slopes`; the gradient of the input."""
        raise NotImplementedError

    def backward_first(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> Any:
        """The same for a layer whose input needs no gradient."""
        self.backward(p, kept, gradient, slopes)

    def grows(self) -> tuple[int, int]:
        """Width of the window of inputs that an output sees, and the step between windows."""
        return 1, 1

    def multiplications(self, shape: Any) -> int:
        """Multiplications for one row, about."""
        return prod(self.output_shape(shape))

    def as_dict(self) -> dict[str, Any]:
        """The description as plain values: the kind and what differs from the defaults."""
        told: dict[str, Any] = {"kind": self.kind}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if each.default is MISSING or value != each.default:
                told[each.name] = list(value) if isinstance(value, tuple) else value
        return told

    def refuse(self, shape: Any, wanted: str) -> DataError:
        """The error for an input whose shape does not fit."""
        name = f"{self.kind} {self.name!r}" if self.name else self.kind
        return DataError(f"layer {name} needs {wanted}; its input has shape {shape}")


def layer(cls: Class) -> Class:
    """Make a class a layer that descriptions may name."""
    cls = dataclass(frozen=True)(cls)
    cls._stored = {each.name: Anything() for each in fields(cls)}  # type: ignore[attr-defined]
    LAYERS[cls.__name__] = cls
    return storable(cls)


def require_flat(layer: Layer, shape: Any) -> None:
    """Refuse images where a layer needs columns."""
    if len(shape) != 1:
        raise layer.refuse(shape, "columns, shape (d,): put Flatten before it")


def require_image(layer: Layer, shape: Any) -> None:
    """Refuse columns where a layer needs images."""
    if len(shape) != 3:
        raise layer.refuse(shape, "images, shape (height, width, channels)")


def require_share(layer: Layer, rate: float) -> None:
    """Refuse a share to drop that is not at least 0 and below 1."""
    if not 0 <= rate < 1:
        raise DataError(f"{layer.kind}: rate must be at least 0 and below 1, not {rate}")


def require_positive(layer: Layer, **sizes: int) -> None:
    """Refuse sizes that are not whole and positive."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise DataError(f"{layer.kind}: {name} must be a whole number above 0, not {size!r}")


@layer
class Dense(Layer):
    """Every unit takes in every column: a(x W + b).

    Parameters
    ----------
    units : int
    activation : str, default="identity"
        One of `gnomon.neural.ACTIVATIONS`.
    bias : bool, default=True
    bias_start : float, default=0.0
        A small positive number keeps ReLU units alive at the start (001 6.3.1).
    name : str, default=None
    """

    units: int
    activation: str = "identity"
    bias: bool = True
    bias_start: float = 0.0
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        require_positive(self, units=self.units)
        require_flat(self, shape)
        activation_of(self.activation)
        return (self.units,)

    def parameters(self, shape: Any) -> dict[str, Any]:
        d = shape[0]
        found = {"weight": Parameter((d, self.units), "weight", d, self.units)}
        if self.bias:
            found["bias"] = Parameter((self.units,), "bias", d, self.units, self.bias_start)
        return found

    def multiplications(self, shape: Any) -> int:
        return shape[0] * self.units

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        z = np.dot(x, p["weight"])
        if self.bias:
            z += p["bias"]
        return activated(self.activation, z, x, run)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return np.dot(self.backward_first(p, kept, gradient, slopes), p["weight"].T)

    def backward_first(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> Any:
        x, z, a = kept
        gradient = activation_of(self.activation).pull_back(z, a, gradient)
        np.dot(x.T, gradient, out=slopes["weight"])
        if self.bias:
            gradient.sum(axis=0, out=slopes["bias"])
        return gradient


def activated(name: str, z: np.ndarray, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
    """The value of an activation, and (input of the layer, z or None, value) for the way back."""
    function = activation_of(name)
    if function.name == "identity":
        return z, (x, None, z) if run.keep else None
    if function.name == "relu":
        a = np.maximum(z, 0, out=z)
    else:
        a = function.value(z)
    if not run.keep:
        return a, None
    return a, (x, None if function.of_value else z, a)


@layer
class Activation(Layer):
    """An activation function by itself.

    Parameters
    ----------
    function : str
        One of `gnomon.neural.ACTIVATIONS`.
    name : str, default=None
    """

    function: str
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        activation_of(self.function)
        return shape

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        a = activation_of(self.function).value(x)
        return a, (x, a)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return activation_of(self.function).pull_back(*kept, gradient)


@layer
class PReLU(Layer):
    """Parametric ReLU: max(z, 0) + s min(z, 0), with a trained slope s for each channel.

    Parameters
    ----------
    start : float, default=0.25
        The first slope.
    name : str, default=None
    """

    start: float = 0.25
    name: str | None = None

    def parameters(self, shape: Any) -> dict[str, Any]:
        return {"slope": Parameter((shape[-1],), "gain", start=self.start)}

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        return np.maximum(x, 0) + p["slope"] * np.minimum(x, 0), x

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        rows = tuple(range(gradient.ndim - 1))
        (gradient * np.minimum(kept, 0)).sum(axis=rows, out=slopes["slope"])
        return np.where(kept > 0, gradient, gradient * p["slope"])


@layer
class Maxout(Layer):
    """Units that give the largest of several linear functions of their inputs.

    Parameters
    ----------
    units : int
    pieces : int, default=2
        Linear functions of a unit.
    name : str, default=None
    """

    units: int
    pieces: int = 2
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        require_positive(self, units=self.units, pieces=self.pieces)
        require_flat(self, shape)
        return (self.units,)

    def parameters(self, shape: Any) -> dict[str, Any]:
        width = self.units * self.pieces
        return {
            "weight": Parameter((shape[0], width), "weight", shape[0], self.units),
            "bias": Parameter((width,), "bias", shape[0], self.units),
        }

    def multiplications(self, shape: Any) -> int:
        return shape[0] * self.units * self.pieces

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        z = (np.dot(x, p["weight"]) + p["bias"]).reshape(len(x), self.units, self.pieces)
        best = z.argmax(axis=2)[:, :, None]
        return np.take_along_axis(z, best, axis=2)[:, :, 0], (x, best)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        x, best = kept
        spread = np.zeros((len(x), self.units, self.pieces), dtype=gradient.dtype)
        np.put_along_axis(spread, best, gradient[:, :, None], axis=2)
        spread = spread.reshape(len(x), -1)
        np.dot(x.T, spread, out=slopes["weight"])
        spread.sum(axis=0, out=slopes["bias"])
        return np.dot(spread, p["weight"].T)


@layer
class Dropout(Layer):
    """Sets a share of the numbers to zero in training and scales up the others (000c 17.2.3).

    Parameters
    ----------
    rate : float, default=0.5
        The share that is dropped.
    name : str, default=None
    """

    rate: float = 0.5
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        require_share(self, self.rate)
        return shape

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        if not run.training or self.rate == 0:
            return x, None
        factors = dropped(x.shape, self.rate, run.draws(self), x.dtype)
        return x * factors, factors

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return gradient if kept is None else gradient * kept


def dropped(shape: Shape, rate: float, rng: np.random.Generator, dtype: Any) -> np.ndarray:
    """Factors that are 0 with probability `rate`, else 1 / (1 - rate)."""
    kept = rng.random(shape, dtype=np.float32) >= rate
    return kept * np.asarray(1 / (1 - rate), dtype=dtype)


@layer
class DropConnect(Layer):
    """A dense layer of which a share of the weights is zero in each training batch (003 4.3).

    Parameters
    ----------
    units : int
    rate : float, default=0.5
        The share of weights that is dropped; the others are scaled up.
    activation : str, default="identity"
    name : str, default=None
    """

    units: int
    rate: float = 0.5
    activation: str = "identity"
    name: str | None = None
    across_rows: ClassVar[bool] = True  # one draw for the whole batch

    def output_shape(self, shape: Any) -> Shape:
        require_share(self, self.rate)
        return Dense(self.units, self.activation, name=self.name).output_shape(shape)

    def parameters(self, shape: Any) -> dict[str, Any]:
        return Dense(self.units).parameters(shape)

    def multiplications(self, shape: Any) -> int:
        return shape[0] * self.units

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        weight, factors = p["weight"], None
        if run.training and self.rate:
            factors = dropped(weight.shape, self.rate, run.draws(self), weight.dtype)
            weight = weight * factors
        z = np.dot(x, weight) + p["bias"]
        a, kept = activated(self.activation, z, x, run)
        return a, (kept, weight, factors)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        (x, z, a), weight, factors = kept
        gradient = activation_of(self.activation).pull_back(z, a, gradient)
        np.dot(x.T, gradient, out=slopes["weight"])
        if factors is not None:
            slopes["weight"] *= factors
        gradient.sum(axis=0, out=slopes["bias"])
        return np.dot(gradient, weight.T)


@layer
class Flatten(Layer):
    """Images to columns: height, width and channels in one."""

    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        return (prod(shape),)

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        return x.reshape(len(x), -1), x.shape

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return gradient.reshape(kept)


@layer
class Reshape(Layer):
    """Another shape of as many numbers.

    Parameters
    ----------
    shape : tuple of int
        Without the rows.
    name : str, default=None
    """

    shape: tuple[int, ...]
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        if prod(shape) != prod(self.shape):
            raise self.refuse(shape, f"{prod(self.shape)} numbers for {tuple(self.shape)}")
        return tuple(self.shape)

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        return x.reshape(len(x), *self.shape), x.shape

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return gradient.reshape(kept)


@layer
class Add(Layer):
    """The sum of several inputs of one shape, with an activation after it."""

    activation: str = "identity"
    name: str | None = None
    n_inputs: ClassVar[int | None] = None

    def output_shape(self, shape: Any) -> Shape:
        if any(each != shape[0] for each in shape):
            raise self.refuse(shape, "inputs of one shape")
        activation_of(self.activation)
        return shape[0]

    def forward(self, p: Views, x: list[np.ndarray], run: Run) -> tuple[np.ndarray, Any]:
        total = x[0].copy()
        for each in x[1:]:
            total += each
        a, kept = activated(self.activation, total, total, run)
        return a, (len(x), kept)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> Any:
        n, (_, z, a) = kept
        return [activation_of(self.activation).pull_back(z, a, gradient)] * n


@layer
class Stack(Layer):
    """Inputs side by side: columns after columns, channels after channels."""

    name: str | None = None
    n_inputs: ClassVar[int | None] = None

    def output_shape(self, shape: Any) -> Shape:
        if any(each[:-1] != shape[0][:-1] for each in shape):
            raise self.refuse(shape, "inputs of equal height and width")
        return (*shape[0][:-1], sum(each[-1] for each in shape))

    def forward(self, p: Views, x: list[np.ndarray], run: Run) -> tuple[np.ndarray, Any]:
        return np.concatenate(x, axis=-1), np.cumsum([each.shape[-1] for each in x])[:-1]

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> Any:
        return np.split(gradient, kept, axis=-1)
