"""Pooling and its inverses: max and mean pooling, unpooling, bilinear upsampling.

Max pooling gives the largest number of each window and channel, mean pooling their mean (over the
cells of the image alone where windows reach beyond it). Max unpooling puts numbers back where the
pooling layer of a given name found its largest ones; mean unpooling copies them to whole windows.

Texts: 000c 17.1.4, 18.1, 19.2.2 · 001 9.3.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neural.convolution import Padding, Pair, Windows, padded, pair, unpadded, windows
from gnomon.neural.layers import (
    Layer,
    Run,
    Shape,
    Views,
    layer,
    require_image,
    require_positive,
)


class _Pool(Layer):
    size: Pair
    stride: Pair | None
    padding: Padding

    def _windows(self, shape: Any) -> Windows:
        stride = self.size if self.stride is None else self.stride
        return windows(self, shape, self.size, stride, self.padding)

    def output_shape(self, shape: Any) -> Shape:
        where = self._windows(shape)
        return where.rows, where.columns, shape[2]

    def grows(self) -> tuple[int, int]:
        return pair(self.size)[0], pair(self.size if self.stride is None else self.stride)[0]

    def multiplications(self, shape: Any) -> int:
        return prod(self.output_shape(shape)) * prod(pair(self.size))


@layer
class MaxPool2D(_Pool):
    """The largest number of each window, channel by channel; the first of equal ones.

    Parameters
    ----------
    size : int or (int, int), default=2
        Height and width of a window.
    stride : int or (int, int), default=None
        From window to window; the size by default, so that windows do not overlap.
    padding : {"valid", "same"}, int or tuple, default="valid"
        As of `Conv2D`; added cells are never the largest.
    name : str, default=None
        By which `MaxUnpool2D` refers to it.
    """

    size: Pair = 2
    stride: Pair | None = None
    padding: Padding = "valid"
    name: str | None = None

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        where = self._windows(x.shape[1:])
        whole = padded(x, where, -np.inf)
        best = found = None
        for place, (_, _, down, across) in enumerate(where.offsets()):
            cells = whole[:, down, across]
            if best is None:
                best = cells.copy()
                found = np.zeros(
                    best.shape, dtype=np.int32 if prod(where.kernel) > 255 else np.uint8
                )
            elif run.keep or run.switching:
                larger = cells > best
                np.copyto(best, cells, where=larger)
                np.copyto(found, place, where=larger, casting="unsafe")
            else:
                np.maximum(best, cells, out=best)
        assert best is not None
        if self.name is not None:
            run.switches[self.name] = found, where
        return best, (found, where)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return _scatter(gradient, *kept)


def _scatter(values: np.ndarray, found: np.ndarray, where: Windows) -> np.ndarray:
    """Numbers added at the places of their windows that `found` says."""
    whole = np.zeros((len(values), *where.padded, values.shape[3]), dtype=values.dtype)
    for place, (_, _, down, across) in enumerate(where.offsets()):
        whole[:, down, across] += values * (found == place)
    return unpadded(whole, where)


def _gather(values: np.ndarray, found: np.ndarray, where: Windows) -> np.ndarray:
    """Numbers at the places of their windows that `found` says."""
    whole = padded(values, where)
    total = np.zeros(found.shape, dtype=values.dtype)
    for place, (_, _, down, across) in enumerate(where.offsets()):
        total += whole[:, down, across] * (found == place)
    return total


@layer
class MeanPool2D(_Pool):
    """The mean of each window, channel by channel; of the cells of the image alone.

    Parameters
    ----------
    size : int or (int, int), default=2
    stride : int or (int, int), default=None
        The size by default.
    padding : {"valid", "same"}, int or tuple, default="valid"
    name : str, default=None
    """

    size: Pair = 2
    stride: Pair | None = None
    padding: Padding = "valid"
    name: str | None = None

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        where = self._windows(x.shape[1:])
        counts = _sums(np.ones((1, *x.shape[1:3], 1), dtype=x.dtype), where)
        return _sums(x, where) / counts, (counts, where)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        counts, where = kept
        return _spread(gradient / counts, where)


def _sums(x: np.ndarray, where: Windows) -> np.ndarray:
    whole = padded(x, where)
    total = np.zeros((len(x), where.rows, where.columns, x.shape[3]), dtype=x.dtype)
    for _, _, down, across in where.offsets():
        total += whole[:, down, across]
    return total


def _spread(values: np.ndarray, where: Windows) -> np.ndarray:
    whole = np.zeros((len(values), *where.padded, values.shape[3]), dtype=values.dtype)
    for _, _, down, across in where.offsets():
        whole[:, down, across] += values
    return unpadded(whole, where)


class _Unpool(Layer):
    size: Pair

    def output_shape(self, shape: Any) -> Shape:
        require_image(self, shape)
        height, width = pair(self.size)
        require_positive(self, size=height)
        return shape[0] * height, shape[1] * width, shape[2]


@layer
class MeanUnpool2D(_Unpool):
    """Every number copied to a window: the upsampling that mean pooling undoes.

    Parameters
    ----------
    size : int or (int, int), default=2
    name : str, default=None
    """

    size: Pair = 2
    name: str | None = None

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        height, width = pair(self.size)
        return x.repeat(height, axis=1).repeat(width, axis=2), x.shape

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        n, h, w, c = kept
        return gradient.reshape(n, h, gradient.shape[1] // h, w, -1, c).sum(axis=(2, 4))


@layer
class MaxUnpool2D(_Unpool):
    """Numbers put back where a pooling layer found its largest ones; zeros elsewhere.

    Parameters
    ----------
    of : str
        The name of the `MaxPool2D` layer, which comes earlier in the network.
    size : int or (int, int), default=2
        Of the windows of that layer, which must not overlap.
    name : str, default=None
    """

    of: str
    size: Pair = 2
    name: str | None = None

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        if self.of not in run.switches:
            raise DataError(
                f"MaxUnpool2D: no MaxPool2D layer named {self.of!r} comes before it; "
                f"there are {sorted(run.switches)}"
            )
        found, where = run.switches[self.of]
        if (
            found.shape != x.shape
            or (where.height, where.width) != self.output_shape(x.shape[1:])[:2]
        ):
            raise DataError(
                f"MaxUnpool2D: its input has shape {x.shape[1:]} and the output of {self.of!r} "
                f"{found.shape[1:]}, pooled from {where.height} x {where.width}; these must agree"
            )
        return _scatter(x, found, where), (found, where)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        return _gather(gradient, *kept)


@layer
class Upsample2D(_Unpool):
    """Bilinear upsampling of each channel (corners of cells are not aligned, as in torch).

    Parameters
    ----------
    size : int or (int, int), default=2
        How many times larger.
    name : str, default=None
    """

    size: Pair = 2
    name: str | None = None

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        down, across = _matrices(x, self.size)
        return _both_axes(x, down, across), (down, across)

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        down, across = kept
        return _both_axes(gradient, down.T, across.T)


def _matrices(x: np.ndarray, size: Any) -> tuple[np.ndarray, np.ndarray]:
    height, width = pair(size)
    return bilinear_matrix(x.shape[1], height, x.dtype), bilinear_matrix(x.shape[2], width, x.dtype)


def _both_axes(x: np.ndarray, down: np.ndarray, across: np.ndarray) -> np.ndarray:
    return np.einsum("rh,nhwc,sw->nrsc", down, x, across, optimize=True)


def bilinear_matrix(n: int, times: int, dtype: Any = np.float64) -> np.ndarray:
    """The matrix that upsamples n numbers along a line: rows of at most two shares that sum to 1.

    Parameters
    ----------
    n, times : int
    dtype : data-type, default=float64

    Returns
    -------
    matrix : ndarray of shape (n * times, n)

    Examples
    --------
    >>> bilinear_matrix(2, 2).tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    place = np.clip((np.arange(n * times) + 0.5) / times - 0.5, 0, n - 1)
    low = np.minimum(np.floor(place).astype(int), n - 1)
    high = np.minimum(low + 1, n - 1)
    matrix = np.zeros((n * times, n), dtype=dtype)
    each = np.arange(n * times)
    np.add.at(matrix, (each, low), 1 - (place - low))
    np.add.at(matrix, (each, high), place - low)
    return matrix
