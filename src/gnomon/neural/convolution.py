"""Convolution layers on images, by products of matrices of windows.

With weights W (height, width, channels, filters), stride s and dilation d, an output cell is

    y[r, c, f] = b_f + sum_{i, j, k} W[i, j, k, f] x[s r + d i - pad, s c + d j - pad, k]

(a cross-correlation, as all libraries call convolution; `convolve2d` has the flip as an option).
The windows are written as rows of a matrix, so that the sum is one matrix product; its transpose is
the gradient, and the transposed convolution.

Texts: 000c 17.1.3, 18.1, 18.3, 19.2 · 001 9.1-9.5 · 003 4.3.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.neural.activations import activation_of
from gnomon.neural.layers import (
    Layer,
    Parameter,
    Run,
    Shape,
    Views,
    activated,
    layer,
    require_image,
    require_positive,
)

Pair = int | tuple[int, int]
Padding = str | int | tuple[int, ...]


def pair(value: Any) -> tuple[int, int]:
    """One number for height and width, or two."""
    if isinstance(value, (int, np.integer)):
        return int(value), int(value)
    first, second = value
    return int(first), int(second)


class Windows(NamedTuple):
    """Where the windows of a layer lie on images of one size.

    Attributes
    ----------
    height, width : int
        Of the images.
    kernel, stride, dilation : (int, int)
    pad : (int, int, int, int)
        Cells added above, below, left and right.
    rows, columns : int
        Windows down and across.
    """

    height: int
    width: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad: tuple[int, int, int, int]
    rows: int
    columns: int

    @property
    def padded(self) -> tuple[int, int]:
        """Height and width with what is added."""
        return self.height + self.pad[0] + self.pad[1], self.width + self.pad[2] + self.pad[3]

    def offsets(self) -> Any:
        """Each place in a window, with the slices of the padded image that windows see there."""
        for i in range(self.kernel[0]):
            top = i * self.dilation[0]
            down = slice(top, top + (self.rows - 1) * self.stride[0] + 1, self.stride[0])
            for j in range(self.kernel[1]):
                left = j * self.dilation[1]
                across = slice(left, left + (self.columns - 1) * self.stride[1] + 1, self.stride[1])
                yield i, j, down, across


def windows(
    layer: Layer, shape: Shape, kernel: Any, stride: Any, padding: Any, dilation: Any = 1
) -> Windows:
    """The windows of a layer on images of a shape; an error that names the layer if none fits."""
    require_image(layer, shape)
    kernel, stride, dilation = pair(kernel), pair(stride), pair(dilation)
    for name, sizes in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        for size in sizes:
            require_positive(layer, **{name: size})
    covers = [d * (k - 1) + 1 for d, k in zip(dilation, kernel)]
    pad = _pad(layer, padding, shape, covers, stride)
    counts = [
        (size + pad[2 * axis] + pad[2 * axis + 1] - covers[axis]) // stride[axis] + 1
        for axis, size in enumerate(shape[:2])
    ]
    if min(counts) < 1:
        raise layer.refuse(shape, f"images of at least {covers[0]} x {covers[1]} cells (padded)")
    return Windows(shape[0], shape[1], kernel, stride, dilation, pad, counts[0], counts[1])


def _pad(layer: Layer, padding: Any, shape: Shape, covers: list[int], stride: Any) -> Any:
    if padding == "valid":
        return 0, 0, 0, 0
    if padding == "same":  # ceil(size / stride) windows; an odd cell goes below or right
        missing = [
            max((-(-size // step) - 1) * step + cover - size, 0)
            for size, step, cover in zip(shape, stride, covers)
        ]
        return tuple(part for each in missing for part in (each // 2, each - each // 2))
    sides = (padding,) if isinstance(padding, (int, np.integer)) else tuple(padding)
    if len(sides) == 1:
        sides = sides * 4
    elif len(sides) == 2:
        sides = (sides[0], sides[0], sides[1], sides[1])
    if len(sides) != 4 or any(not isinstance(s, (int, np.integer)) or s < 0 for s in sides):
        raise DataError(
            f"{layer.kind}: padding is 'valid', 'same', a whole number, or those of (height, "
            f"width) or (top, bottom, left, right), not {padding!r}"
        )
    return sides


def padded(x: np.ndarray, where: Windows, fill: float = 0.0) -> np.ndarray:
    """Images with cells added around them."""
    if not any(where.pad):
        return x
    top, _, left, _ = where.pad
    n, h, w, c = x.shape
    whole = np.full((n, *where.padded, c), fill, dtype=x.dtype)
    whole[:, top : top + h, left : left + w] = x
    return whole


def unpadded(x: np.ndarray, where: Windows) -> np.ndarray:
    """The images without the cells that were added."""
    top, _, left, _ = where.pad
    return x[:, top : top + where.height, left : left + where.width]


def window_rows(x: np.ndarray, where: Windows) -> np.ndarray:
    """The windows as rows: (n * rows * columns, kernel height * width * channels)."""
    n, c = len(x), x.shape[3]
    if where.kernel == (1, 1) and where.stride == (1, 1) and not any(where.pad):
        return x.reshape(-1, c)
    x = padded(x, where)
    found = np.empty((n, where.rows, where.columns, *where.kernel, c), dtype=x.dtype)
    if where.dilation[1] == 1 and c * where.kernel[1] < 64:  # runs along a row are copied at once
        x = np.ascontiguousarray(x)
        size = x.itemsize  # strides of axes of length one may be anything
        step = (x[0].size * size, x.shape[2] * c * size, c * size, size)
        runs = np.lib.stride_tricks.as_strided(
            x,
            (n, where.rows, where.columns, where.kernel[0], where.kernel[1] * c),
            (
                step[0],
                step[1] * where.stride[0],
                step[2] * where.stride[1],
                step[1] * where.dilation[0],
                step[3],
            ),
            writeable=False,
        )
        found.reshape(runs.shape)[:] = runs
    else:
        for i, j, down, across in where.offsets():
            found[:, :, :, i, j] = x[:, down, across]
    return found.reshape(n * where.rows * where.columns, -1)


def add_windows(rows: np.ndarray, where: Windows, n: int, channels: int) -> np.ndarray:
    """Rows of windows added up in their places: the transpose of `window_rows`."""
    rows = rows.reshape(n, where.rows, where.columns, *where.kernel, channels)
    if where.kernel == (1, 1) and where.stride == (1, 1) and not any(where.pad):
        return rows.reshape(n, where.height, where.width, channels)
    whole = np.zeros((n, *where.padded, channels), dtype=rows.dtype)
    for i, j, down, across in where.offsets():
        whole[:, down, across] += rows[:, :, :, i, j]
    return unpadded(whole, where)


@layer
class Conv2D(Layer):
    """Filters over all windows of an image.

    Parameters
    ----------
    filters : int
        Output channels.
    kernel_size : int or (int, int)
        Height and width of a window; 1 mixes the channels of each cell.
    activation : str, default="identity"
    stride : int or (int, int), default=1
    padding : {"valid", "same"}, int or tuple, default="valid"
        Zeros around the image: none, as many as keep the size (at stride 1), or so many: on all
        sides, (height, width), or (top, bottom, left, right).
    dilation : int or (int, int), default=1
    groups : int, default=1
        Channels are split in so many groups, each with filters of its own.
    bias : bool, default=True
    bias_start : float, default=0.0
    name : str, default=None
    """

    filters: int
    kernel_size: Pair
    activation: str = "identity"
    stride: Pair = 1
    padding: Padding = "valid"
    dilation: Pair = 1
    groups: int = 1
    bias: bool = True
    bias_start: float = 0.0
    name: str | None = None

    def _windows(self, shape: Any) -> Windows:
        return windows(self, shape, self.kernel_size, self.stride, self.padding, self.dilation)

    def output_shape(self, shape: Any) -> Shape:
        require_positive(self, filters=self.filters, groups=self.groups)
        activation_of(self.activation)
        where = self._windows(shape)
        if shape[2] % self.groups or self.filters % self.groups:
            raise self.refuse(
                shape, f"channels and filters ({self.filters}) divisible by {self.groups} groups"
            )
        return where.rows, where.columns, self.filters

    def parameters(self, shape: Any) -> dict[str, Any]:
        size = pair(self.kernel_size)
        channels = shape[2] // self.groups
        fans = prod(size) * channels, prod(size) * self.filters // self.groups
        found = {"weight": Parameter((*size, channels, self.filters), "weight", *fans)}
        if self.bias:
            found["bias"] = Parameter((self.filters,), "bias", *fans, self.bias_start)
        return found

    def grows(self) -> tuple[int, int]:
        return pair(self.dilation)[0] * (pair(self.kernel_size)[0] - 1) + 1, pair(self.stride)[0]

    def multiplications(self, shape: Any) -> int:
        cells = prod(self.output_shape(shape)) * shape[2] // self.groups
        return cells * prod(pair(self.kernel_size))

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        where = self._windows(x.shape[1:])
        parts = np.split(x, self.groups, axis=3) if self.groups > 1 else [x]
        rows = [window_rows(part, where) for part in parts]
        weights = np.split(p["weight"], self.groups, axis=3) if self.groups > 1 else [p["weight"]]
        outs = [
            np.dot(each, weight.reshape(-1, weight.shape[3])) for each, weight in zip(rows, weights)
        ]
        z = outs[0] if len(outs) == 1 else np.concatenate(outs, axis=1)
        if self.bias:
            z += p["bias"]
        z = z.reshape(len(x), where.rows, where.columns, self.filters)
        a, kept = activated(self.activation, z, x, run)
        return a, (kept, rows, where) if run.keep else None

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        parts = self.backward_first(p, kept, gradient, slopes)
        (x, _, _), _, where = kept
        channels, width = x.shape[3] // self.groups, self.filters // self.groups
        found = []
        for g, part in enumerate(parts):
            weight = p["weight"][..., g * width : (g + 1) * width].reshape(-1, width)
            found.append(add_windows(np.dot(part, weight.T), where, len(x), channels))
        return found[0] if len(found) == 1 else np.concatenate(found, axis=3)

    def backward_first(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> Any:
        (_, z, a), rows, _ = kept
        gradient = activation_of(self.activation).pull_back(z, a, gradient)
        flat = gradient.reshape(-1, self.filters)
        if self.bias:
            flat.sum(axis=0, out=slopes["bias"])
        if self.groups == 1:
            np.dot(rows[0].T, flat, out=slopes["weight"].reshape(-1, self.filters))
            return [flat]
        parts = [np.ascontiguousarray(part) for part in np.split(flat, self.groups, axis=1)]
        found = [np.dot(each.T, part) for each, part in zip(rows, parts)]
        slopes["weight"][:] = np.concatenate(found, axis=1).reshape(slopes["weight"].shape)
        return parts


@layer
class ConvTranspose2D(Layer):
    """Transposed convolution: every input cell adds a window of filters to a larger image.

    It is the transpose of `Conv2D` with the same numbers, so that stride 2 doubles the size.

    Parameters
    ----------
    filters : int
    kernel_size : int or (int, int)
    activation : str, default="identity"
    stride : int or (int, int), default=1
    padding : int or (int, int), default=0
        Cells cut off the output on each side.
    output_padding : int or (int, int), default=0
        Rows and columns added below and right.
    bias : bool, default=True
    name : str, default=None
    """

    filters: int
    kernel_size: Pair
    activation: str = "identity"
    stride: Pair = 1
    padding: Pair = 0
    output_padding: Pair = 0
    bias: bool = True
    name: str | None = None

    def _size(self, shape: Any) -> tuple[int, int]:
        numbers = map(pair, (self.kernel_size, self.stride, self.padding, self.output_padding))
        height, width = (
            (size - 1) * stride - 2 * pad + kernel + more
            for size, kernel, stride, pad, more in zip(shape[:2], *numbers)
        )
        return height, width

    def _windows(self, shape: Any) -> Windows:
        """Those of the convolution whose transpose this is: on the output."""
        return windows(
            self, (*self._size(shape), self.filters), self.kernel_size, self.stride, self.padding
        )

    def output_shape(self, shape: Any) -> Shape:
        require_positive(self, filters=self.filters)
        require_image(self, shape)
        activation_of(self.activation)
        if min(self._size(shape)) < 1:
            raise self.refuse(shape, "images that are larger than the padding")
        more, stride = pair(self.output_padding), pair(self.stride)
        if any(not 0 <= m < max(s, 1) for m, s in zip(more, stride)):
            raise self.refuse(shape, f"output_padding below the stride {stride}, not {more}")
        return (*self._size(shape), self.filters)

    def parameters(self, shape: Any) -> dict[str, Any]:
        size = pair(self.kernel_size)
        fans = prod(size) * shape[2], prod(size) * self.filters
        found = {"weight": Parameter((*size, self.filters, shape[2]), "weight", *fans)}
        if self.bias:
            found["bias"] = Parameter((self.filters,), "bias", *fans)
        return found

    def multiplications(self, shape: Any) -> int:
        return prod(shape) * prod(pair(self.kernel_size)) * self.filters

    def forward(self, p: Views, x: np.ndarray, run: Run) -> tuple[np.ndarray, Any]:
        where = self._windows(x.shape[1:])
        weight = p["weight"].reshape(-1, x.shape[3])
        z = add_windows(np.dot(x.reshape(-1, x.shape[3]), weight.T), where, len(x), self.filters)
        z = z + p["bias"] if self.bias else np.ascontiguousarray(z)
        a, kept = activated(self.activation, z, x, run)
        return a, (kept, where) if run.keep else None

    def backward(self, p: Views, kept: Any, gradient: np.ndarray, slopes: Views) -> np.ndarray:
        (x, z, a), where = kept
        gradient = activation_of(self.activation).pull_back(z, a, gradient)
        if self.bias:
            gradient.sum(axis=(0, 1, 2), out=slopes["bias"])
        rows = window_rows(np.ascontiguousarray(gradient), where)
        channels = x.shape[3]
        np.dot(rows.T, x.reshape(-1, channels), out=slopes["weight"].reshape(-1, channels))
        return np.dot(rows, p["weight"].reshape(-1, channels)).reshape(x.shape)


def convolve2d(
    image: Any, kernel: Any, *, mode: str = "valid", stride: int = 1, flip: bool = True
) -> np.ndarray:
    """Convolution of an image with one kernel, or cross-correlation.

    Parameters
    ----------
    image : array-like of shape (height, width)
    kernel : array-like of shape (height, width)
    mode : {"valid", "same", "full"}, default="valid"
        Windows inside the image; as many as the image has cells (zeros around it); all windows
        that touch it. As in SciPy.
    stride : int, default=1
    flip : bool, default=True
        Turn the kernel by 180 degrees, which makes it a convolution; False correlates.

    Returns
    -------
    result : ndarray

    Examples
    --------
    >>> convolve2d([[1, 2, 3], [4, 5, 6]], [[1, -1]]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    image, kernel = np.asarray(image, dtype=np.float64), np.asarray(kernel, dtype=np.float64)
    if image.ndim != 2 or kernel.ndim != 2:
        raise DataError(
            f"convolve2d takes an image and a kernel of two axes, not shapes {image.shape} and "
            f"{kernel.shape}"
        )
    if flip:
        kernel = kernel[::-1, ::-1]
    h, w = kernel.shape
    pads = {
        "valid": (0, 0, 0, 0),
        # scipy's "same" is centred in the full result: a flipped even kernel has its odd cell above
        "same": (h // 2, (h - 1) // 2, w // 2, (w - 1) // 2)
        if flip
        else ((h - 1) // 2, h // 2, (w - 1) // 2, w // 2),
        "full": (h - 1, h - 1, w - 1, w - 1),
    }
    if mode not in pads:
        raise DataError(f"mode is one of {', '.join(pads)}, not {mode!r}")
    conv = Conv2D(1, (h, w), stride=stride, padding=pads[mode], bias=False)
    views = {"weight": np.ascontiguousarray(kernel)[:, :, None, None]}
    conv.output_shape((*image.shape, 1))
    return conv.forward(views, image[None, :, :, None], Run(keep=False))[0][0, :, :, 0]
