"""Layers made of layers: sequences, residual blocks, parallel streams.

Texts: 000c 18.3 (residual, inception, stacking) · 001 6.4.2, 9.5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neural.activations import activation_of
from gnomon.neural.convolution import Conv2D
from gnomon.neural.layers import (
    Dense,
    Layer,
    Run,
    Shape,
    Stack,
    Views,
    activated,
    layer,
)


class Composite(Layer):
    """A layer that is made of others."""

    layers: tuple[Layer, ...]

    def as_dict(self) -> dict[str, Any]:
        told = super().as_dict()
        told["layers"] = [each.as_dict() for each in self.layers]
        return told

    def inside(self) -> tuple[Layer, ...]:
        """The layers that it is made of."""
        return self.layers

    @property
    def across_rows(self) -> bool:  # type: ignore[override]
        return any(each.across_rows for each in self.inside())


def chain_shapes(layers: tuple[Layer, ...], shape: Any) -> list[Any]:
    """The shape before each layer of a chain, and after the last."""
    shapes = [shape]
    for each in layers:
        shapes.append(each.output_shape(shapes[-1]))
    return shapes


def chain_forward(layers: Any, views: Views, x: Any, run: Run) -> tuple[Any, list[Any]]:
    """Layer after layer: the last output and what each keeps."""
    kept = []
    for place, each in enumerate(layers):
        x, mine = each.forward(views.get(str(place), {}), x, run)
        kept.append(mine)
    return x, kept


def chain_backward(layers: Any, views: Views, kept: Any, gradient: Any, slopes: Views) -> Any:
    """The same chain backwards."""
    for place in reversed(range(len(layers))):
        own, mine = views.get(str(place), {}), slopes.get(str(place), {})
        gradient = layers[place].backward(own, kept[place], gradient, mine)
    return gradient


def chain_parameters(layers: Any, shape: Any) -> dict[str, Any]:
    """The parameters of each layer of a chain, by place."""
    shapes = chain_shapes(layers, shape)
    return {str(place): each.parameters(shapes[place]) for place, each in enumerate(layers)}


def chain_growth(layers: Any) -> tuple[int, int]:
    """Window and step of a chain: r <- r + (k - 1) j, j <- j s."""
    window, step = 1, 1
    for each in layers:
        k, s = each.grows()
        window, step = window + (k - 1) * step, step * s
    return window, step


@layer
class Sequential(Composite):
    """Layers one after the other.

    Parameters
    ----------
    layers : tuple of Layer
    name : str, default=None
    """

    layers: tuple[Layer, ...]
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        return chain_shapes(self.layers, shape)[-1]

    def parameters(self, shape: Any) -> dict[str, Any]:
        return chain_parameters(self.layers, shape)

    def grows(self) -> tuple[int, int]:
        return chain_growth(self.layers)

    def multiplications(self, shape: Any) -> int:
        shapes = chain_shapes(self.layers, shape)
        return sum(each.multiplications(shapes[i]) for i, each in enumerate(self.layers))

    def forward(self, p: Views, x: Any, run: Run) -> tuple[np.ndarray, Any]:
        return chain_forward(self.layers, p, x, run)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return chain_backward(self.layers, p, kept, gradient, slopes)


@layer
class Residual(Composite):
    """A chain of layers whose input is added to its output: a(x + F(x)).

    Where F changes the size, the shortcut is a projection: a 1 x 1 convolution with the stride that
    gives the height and width of F (a dense layer for columns).

    Parameters
    ----------
    layers : tuple of Layer
        F.
    activation : str, default="relu"
        After the sum; "identity" where F ends with its own.
    name : str, default=None
    """

    layers: tuple[Layer, ...]
    activation: str = "relu"
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        activation_of(self.activation)
        out = chain_shapes(self.layers, shape)[-1]
        projection = self.projection(shape)
        found = shape if projection is None else projection.output_shape(shape)
        if found != out:
            raise self.refuse(shape, f"a shortcut to {out}, and a projection gives {found}")
        return out

    def projection(self, shape: Any) -> Layer | None:
        """The layer on the shortcut; None where the input is added as it is."""
        out = chain_shapes(self.layers, shape)[-1]
        if out == shape:
            return None
        if len(shape) == 1 and len(out) == 1:
            return Dense(out[0], bias=False)
        if len(shape) != 3 or len(out) != 3:
            raise self.refuse(shape, f"layers that end in its own kind of shape, not {out}")
        stride = tuple(max(-(-before // after), 1) for before, after in zip(shape[:2], out[:2]))
        return Conv2D(out[2], 1, stride=stride, bias=False)

    def parameters(self, shape: Any) -> dict[str, Any]:
        found = {"inner": chain_parameters(self.layers, shape)}
        projection = self.projection(shape)
        if projection is not None:
            found["projection"] = projection.parameters(shape)
        return found

    def grows(self) -> tuple[int, int]:
        return chain_growth(self.layers)

    def multiplications(self, shape: Any) -> int:
        projection = self.projection(shape)
        more = projection.multiplications(shape) if projection is not None else 0
        return more + Sequential(self.layers).multiplications(shape)

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        out, inner = chain_forward(self.layers, p.get("inner", {}), x, run)
        projection = self.projection(x.shape[1:])
        side = None
        shortcut = x
        if projection is not None:
            shortcut, side = projection.forward(p["projection"], x, run)
        a, kept = activated(self.activation, out + shortcut, x, run)
        return a, (kept, inner, side)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        (x, z, a), inner, side = kept
        gradient = activation_of(self.activation).pull_back(z, a, gradient)
        back = chain_backward(
            self.layers, p.get("inner", {}), inner, gradient, slopes.get("inner", {})
        )
        projection = self.projection(x.shape[1:])
        if projection is None:
            return back + gradient
        return back + projection.backward(p["projection"], side, gradient, slopes["projection"])


@layer
class Parallel(Composite):
    """Streams that all take the same input; their outputs are stacked, channel after channel.

    Parameters
    ----------
    layers : tuple of Layer
        One for each stream, mostly `Sequential`.
    name : str, default=None
    """

    layers: tuple[Layer, ...]
    name: str | None = None

    def output_shape(self, shape: Any) -> Shape:
        if not self.layers:
            raise DataError("Parallel needs one stream or more")
        return Stack(name=self.name).output_shape(
            [each.output_shape(shape) for each in self.layers]
        )

    def parameters(self, shape: Any) -> dict[str, Any]:
        return {str(i): each.parameters(shape) for i, each in enumerate(self.layers)}

    def grows(self) -> tuple[int, int]:
        return max((each.grows() for each in self.layers), default=(1, 1))

    def multiplications(self, shape: Any) -> int:
        return sum(each.multiplications(shape) for each in self.layers)

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        pairs = [each.forward(p.get(str(i), {}), x, run) for i, each in enumerate(self.layers)]
        out, ends = Stack().forward({}, [out for out, _ in pairs], run)
        return out, (ends, [kept for _, kept in pairs])

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        ends, inner = kept
        parts = np.split(gradient, ends, axis=-1)
        total = None
        for i, each in enumerate(self.layers):
            part = np.ascontiguousarray(parts[i])
            own, mine = p.get(str(i), {}), slopes.get(str(i), {})
            back = each.backward(own, inner[i], part, mine)
            total = back if total is None else total + back
        assert total is not None
        return total


def inception(
    one: int, three: tuple[int, int], five: tuple[int, int], pool: int, *, activation: str = "relu"
) -> Parallel:
    """An inception module: 1x1, 3x3 and 5x5 convolutions and pooling, side by side.

    Parameters
    ----------
    one : int
        Filters of the 1x1 stream.
    three, five : (int, int)
        Filters of the 1x1 reduction and of the convolution after it.
    pool : int
        Filters of the 1x1 convolution after the 3x3 max pooling.
    activation : str, default="relu"

    Returns
    -------
    module : Parallel

    Examples
    --------
    >>> inception(64, (96, 128), (16, 32), 32).output_shape((28, 28, 192))
    (28, 28, 256)
    """
    from gnomon.neural.pooling import MaxPool2D

    def conv(filters: int, size: int) -> Conv2D:
        return Conv2D(filters, size, activation, padding="same")

    return Parallel(
        (
            conv(one, 1),
            Sequential((conv(three[0], 1), conv(three[1], 3))),
            Sequential((conv(five[0], 1), conv(five[1], 5))),
            Sequential((MaxPool2D(3, 1, "same"), conv(pool, 1))),
        )
    )


def grid_reduction(filters: int, *, activation: str = "relu") -> Parallel:
    """A module that halves height and width: a strided 3x3 convolution beside 3x3 max pooling.

    Parameters
    ----------
    filters : int
        Of the convolution; the pooled channels come beside them.
    activation : str, default="relu"

    Returns
    -------
    module : Parallel
    """
    from gnomon.neural.pooling import MaxPool2D

    return Parallel(
        (Conv2D(filters, 3, activation, stride=2, padding="same"), MaxPool2D(3, 2, "same"))
    )
