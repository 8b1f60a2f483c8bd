"""Histograms of oriented gradients (HOG).

The gradient at each pixel is the difference of its neighbors; its length is added to the bin of
its direction (without sign) in the histogram of its cell. Blocks of neighboring cells are
normalized together, so that local contrast does not matter. Of several channels a pixel takes the
one with the largest gradient. The definition is that of scikit-image.

Speed: one pass over the pixels in one kernel; the bin is found by comparing the gradient with the
directions between bins, by products, without an arc tangent.

Texts: 004 3 (features of images: edges, histograms).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import StrOptions, pair, whole
from gnomon.engine.registry import method
from gnomon.vision.base import FeatureTransformer

EPS = 1e-5  # scikit-image's
NORMS = ("L1", "L1-sqrt", "L2", "L2-Hys")


@method(
    task="filter",
    texts="004 3",
    use="Shapes in images for any classifier, most of all a linear one.",
    avoid="Where color or fine texture decides, or objects are turned.",
    peers=("skimage.feature.hog", "cv2.HOGDescriptor"),
    takes="images",
    synonyms=("histogram of oriented gradients",),
)
class HOG(FeatureTransformer):
    """Histograms of oriented gradients: where edges of which direction are.

    Use it before a linear classifier of shapes; not where color decides or objects are turned.
    Values are those of ``skimage.feature.hog``. Texts: 004 3.

    Parameters
    ----------
    orientations : int, default=9
        Bins of the direction, from 0 to 180 degrees.
    pixels_per_cell : tuple of (rows, columns), default=(8, 8)
    cells_per_block : tuple of (rows, columns), default=(3, 3)
    block_norm : {"L1", "L1-sqrt", "L2", "L2-Hys"}, default="L2-Hys"
        How blocks are normalized; "L2-Hys" clips at 0.2 and normalizes again.
    transform_sqrt : bool, default=False
        Take roots of pixels first; they must not be negative.
    image_shape : tuple, default=None
        Height, width and channels, where images are rows of pixels.
    n_jobs : int, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    image_shape_ : tuple
    n_features_in_ : int

    Examples
    --------
    >>> from gnomon.vision import HOG
    >>> import numpy as np
    >>> HOG(cells_per_block=(1, 1)).fit_transform(np.zeros((2, 16, 16))).shape
    (2, 36)
    """

    _parameter_constraints = {
        **FeatureTransformer._parameter_constraints,
        "orientations": [whole(1)],
        "pixels_per_cell": [pair(1)],
        "cells_per_block": [pair(1)],
        "block_norm": [StrOptions(set(NORMS))],
        "transform_sqrt": ["boolean"],
    }

    def __init__(
        self,
        orientations=9,
        pixels_per_cell=(8, 8),
        cells_per_block=(3, 3),
        block_norm="L2-Hys",
        transform_sqrt=False,
        *,
        image_shape=None,
        n_jobs=None,
    ):
        self.orientations = orientations
        self.pixels_per_cell = pixels_per_cell
        self.cells_per_block = cells_per_block
        self.block_norm = block_norm
        self.transform_sqrt = transform_sqrt
        self.image_shape = image_shape
        self.n_jobs = n_jobs

    def _fit(self, images: np.ndarray) -> None:
        self._sizes()

    def _sizes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pixels of a cell, cells of a block, how many cells and blocks: each (rows, columns)."""
        cell, block = (
            np.array(each, dtype=np.int64) for each in (self.pixels_per_cell, self.cells_per_block)
        )
        n_cells = np.array(self.image_shape_[:2]) // cell
        n_blocks = n_cells - block + 1
        if (n_blocks < 1).any():
            raise DataError(
                f"an image of {self.image_shape_[0]} x {self.image_shape_[1]} pixels has "
                f"{n_cells[0]} x {n_cells[1]} cells, fewer than a block of {block[0]} x {block[1]}"
                ". Use a smaller pixels_per_cell or cells_per_block"
            )
        return cell, block, n_cells, n_blocks

    def _map(self, images: np.ndarray) -> np.ndarray:
        if self.transform_sqrt:
            if images.min() < 0:
                raise DataError("transform_sqrt=True needs pixels that are not negative")
            images = np.sqrt(images)
        cell, block, n_cells, n_blocks = self._sizes()
        cells = np.zeros((len(images), *n_cells, self.orientations))
        cell_histograms(
            np.ascontiguousarray(images, dtype=np.float64), cell, _borders(self.orientations), cells
        )
        out = np.empty((len(images), int(np.prod([*n_blocks, *block, self.orientations]))))
        normalized_blocks(cells, block, NORMS.index(self.block_norm), out)
        return out


def _borders(n: int) -> np.ndarray:
    """Cosine and sine of the directions between bins, (n - 1, 2); exact at 45, 90, 135 degrees."""
    angles = np.arange(1, n) * np.pi / n
    borders = np.column_stack([np.cos(angles), np.sin(angles)])
    for quarter, exact in ((1, (1.0, 1.0)), (2, (0.0, 1.0)), (3, (-1.0, 1.0))):
        borders[4 * np.arange(1, n) == quarter * n] = exact
    return borders


@kernel("f8[:,:,:,:]", "i8[:]", "f8[:,:]", "out f8[:,:,:,:]")
def cell_histograms(images: Any, cell: Any, borders: Any, cells: Any) -> None:
    """Sum of gradient lengths by direction in each cell, over the pixels of a cell.

    images (n, h, w, c), cell (2,), borders (o - 1, 2), cells (n, rows, columns, o), zero.
    """
    n, height, width, channels = images.shape
    rows, columns = cells.shape[1] * cell[0], cells.shape[2] * cell[1]
    share = 1.0 / (cell[0] * cell[1])
    for i in range(n):
        for y in range(rows):
            has_rows = 0 < y < height - 1
            for x in range(columns):
                has_columns = 0 < x < width - 1
                best, down, across = -1.0, 0.0, 0.0
                for c in range(channels):
                    u = v = 0.0
                    if has_rows:
                        v = images[i, y + 1, x, c] - images[i, y - 1, x, c]
                    if has_columns:
                        u = images[i, y, x + 1, c] - images[i, y, x - 1, c]
                    square = u * u + v * v
                    if square > best:
                        best, down, across = square, v, u
                if best <= 0.0:
                    continue
                if down < 0.0 or (down == 0.0 and across < 0.0):
                    down, across = -down, -across
                place = 0
                for k in range(len(borders)):
                    place += borders[k, 0] * down >= borders[k, 1] * across
                cells[i, y // cell[0], x // cell[1], place] += np.sqrt(best) * share


@kernel("f8[:,:,:,:]", "i8[:]", "i8", "out f8[:,:]")
def normalized_blocks(cells: Any, block: Any, norm: Any, out: Any) -> None:
    """Blocks of cells, each normalized, side by side. norm: 0 L1, 1 L1-sqrt, 2 L2, 3 L2-Hys."""
    n, rows, columns, bins = cells.shape
    size = block[0] * block[1] * bins
    for i in range(n):
        start = 0
        for y in range(rows - block[0] + 1):
            for x in range(columns - block[1] + 1):
                at, total = start, 0.0
                for a in range(block[0]):
                    for b in range(block[1]):
                        for k in range(bins):
                            value = cells[i, y + a, x + b, k]
                            out[i, at] = value
                            total += value if norm < 2 else value * value
                            at += 1
                scale = 1 / (total + EPS) if norm < 2 else 1 / np.sqrt(total + EPS * EPS)
                again = 0.0
                for at in range(start, start + size):
                    value = out[i, at] * scale
                    if norm == 1:
                        value = np.sqrt(value)
                    elif norm == 3:
                        value = min(value, 0.2)
                        again += value * value
                    out[i, at] = value
                if norm == 3:
                    scale = 1 / np.sqrt(again + EPS * EPS)
                    for at in range(start, start + size):
                        out[i, at] *= scale
                start += size
