"""Pooling of regions: from a box of any size on a feature map to a grid of fixed size.

A region is divided into rows and columns of even blocks, and each block gives its largest value,
channel by channel. The gradient of a block goes to the cell that held its largest value; cells
that several regions chose add up what they get.

Texts: 000c 18.2.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.vision.boxes import as_boxes


class PooledRegions(NamedTuple):
    """Regions on a grid of fixed size, and where the values come from.

    Attributes
    ----------
    values : ndarray of shape (n_regions, rows, columns, channels)
    cells : ndarray of int of the same shape
        Position of each value in the maps, counted as in ``maps.ravel()``.
    """

    values: np.ndarray
    cells: np.ndarray


def roi_pool(features: Any, boxes: Any, size: Any = (7, 7), *, scale: float = 1.0) -> np.ndarray:
    """The largest value in each cell of a grid over each region of a feature map (000c 18.2.3).

    Parameters
    ----------
    features : array-like of shape (height, width, channels)
    boxes : array-like of shape (n, 4)
        Regions in pixels of the image: left, top, right, bottom.
    size : tuple of (rows, columns), default=(7, 7)
    scale : float, default=1.0
        Cells of the map for one pixel of the image, such as 1/16.

    Returns
    -------
    pooled : ndarray of shape (n, rows, columns, channels)
        Where a region does not divide evenly, neighboring cells share a row or column.

    Examples
    --------
    >>> maps = np.arange(16.0).reshape(4, 4, 1)
    >>> roi_pool(maps, [[0, 0, 4, 4]], (2, 2))[0, :, :, 0].tolist()
    [[5.0, 7.0], [13.0, 15.0]]
    """
    maps = np.asarray(features, dtype=np.float64)
    if maps.ndim != 3:
        raise DataError(f"features have the shape (height, width, channels), not {maps.shape}")
    regions = as_boxes(boxes) * scale
    return pool_regions(maps[None], np.zeros(len(regions), dtype=np.int64), regions, size).values


def pool_regions(
    maps: np.ndarray, image: np.ndarray, regions: np.ndarray, size: Any
) -> PooledRegions:
    """Regions of several maps on a grid; ``pool_gradient`` is its backward pass.

    Parameters
    ----------
    maps : ndarray of shape (n_images, height, width, channels)
    image : ndarray of int of shape (n_regions,)
        The map that each region lies on.
    regions : ndarray of shape (n_regions, 4)
        Left, top, right, bottom, in cells of the map.
    size : tuple of (rows, columns)

    Returns
    -------
    pooled : PooledRegions
    """
    rows, columns = (int(each) for each in size)
    shape = (len(regions), rows, columns, maps.shape[3])
    values, cells = np.empty(shape), np.empty(shape, dtype=np.int64)
    down = block_bounds(regions[:, 1], regions[:, 3], rows, maps.shape[1])
    across = block_bounds(regions[:, 0], regions[:, 2], columns, maps.shape[2])
    largest_of_blocks(
        np.ascontiguousarray(maps, dtype=np.float64),
        np.ascontiguousarray(image, dtype=np.int64),
        down,
        across,
        values,
        cells,
    )
    return PooledRegions(values, cells)


def pool_gradient(gradient: np.ndarray, cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The gradient with respect to the maps, from that with respect to the pooled values.

    Parameters
    ----------
    gradient : ndarray of shape (n_regions, rows, columns, channels)
    cells : ndarray of int of the same shape
    shape : tuple
        Shape of the maps.

    Returns
    -------
    gradient : ndarray of shape (n_images, height, width, channels)
    """
    total = np.bincount(cells.ravel(), gradient.ravel(), minlength=int(np.prod(shape)))
    return total.reshape(shape)


def block_bounds(start: np.ndarray, stop: np.ndarray, count: int, most: int) -> np.ndarray:
    """First and last entry of even blocks along a line, each of at least one entry.

    Parameters
    ----------
    start, stop : ndarray of shape (n,)
        Ends of the regions.
    count : int
        Blocks of each region.
    most : int
        Entries of the line.

    Returns
    -------
    bounds : ndarray of int of shape (n, count, 2)
    """
    first = np.clip(np.floor(start), 0, most - 1)
    last = np.clip(np.ceil(stop), first + 1, most)
    step = ((last - first) / count)[:, None]
    ends = np.arange(count + 1)
    low = first[:, None] + np.floor(ends[:-1] * step)
    high = np.maximum(first[:, None] + np.ceil(ends[1:] * step - 1e-9), low + 1)
    return np.ascontiguousarray(np.stack([low, high], axis=2).astype(np.int64))


@kernel("f8[:,:,:,:]", "i8[:]", "i8[:,:,:]", "i8[:,:,:]", "out f8[:,:,:,:]", "out i8[:,:,:,:]")
def largest_of_blocks(
    maps: Any, image: Any, down: Any, across: Any, values: Any, cells: Any
) -> None:
    """Largest value of each block and channel, and its position in maps (n, h, w, c).

    down (r, rows, 2) and across (r, columns, 2) are the blocks of r regions.
    """
    height, width, channels = maps.shape[1], maps.shape[2], maps.shape[3]
    for r in range(len(image)):
        begin = image[r] * height * width
        for i in range(down.shape[1]):
            for j in range(across.shape[1]):
                values[r, i, j, :] = -np.inf
                cells[r, i, j, :] = 0
                for y in range(down[r, i, 0], down[r, i, 1]):
                    for x in range(across[r, j, 0], across[r, j, 1]):
                        place = (begin + y * width + x) * channels
                        for c in range(channels):
                            value = maps[image[r], y, x, c]
                            if value > values[r, i, j, c]:
                                values[r, i, j, c] = value
                                cells[r, i, j, c] = place + c
