"""Corruption of rows for denoising: Gaussian, masking, salt and pepper, flips, removed blocks.

Texts: 000c 19.2.3 · 004 9.3.2 (flips of bits) · 003 4.4.2.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError

NOISES = ("gaussian", "masking", "salt-and-pepper", "flip", "block")


def corrupt_rows(
    rows: Any,
    noise: str,
    amount: float,
    random_state: Any = None,
    *,
    low: Any = 0.0,
    high: Any = 1.0,
    image_shape: tuple[int, ...] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Rows with fresh noise, and which of their cells were changed.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    noise : {"gaussian", "masking", "salt-and-pepper", "flip", "block"}
        Normal noise added to all cells; cells set to zero; cells set to their lowest or highest
        value; cells mirrored between these (0 becomes 1); a block of cells set to zero.
    amount : float
        Standard deviation of normal noise; the probability that a cell changes; the share of the
        cells that a block takes.
    random_state : int, Generator or None, default=None
    low, high : float or array-like of shape (d,), default=0.0, 1.0
        Lowest and highest value of the columns.
    image_shape : tuple of int, default=None
        (height, width) or (height, width, channels) of a row, for rectangular blocks; a block is a
        run of columns otherwise.

    Returns
    -------
    corrupted : ndarray of shape (n, d)
    changed : ndarray of bool of shape (n, d)

    Examples
    --------
    >>> corrupt_rows([[0.0, 1.0, 1.0]], "flip", 1.0)[0]
    array([[1., 0., 0.]])
    """
    clean = np.asarray(rows)
    rng = np.random.default_rng(random_state)
    if noise == "gaussian":
        added = rng.standard_normal(clean.shape) * amount
        return (clean + added).astype(clean.dtype), np.ones(clean.shape, dtype=bool)
    if not 0 <= amount <= 1:
        raise DataError(f"the noise {noise!r} changes a share of the cells, 0 to 1, not {amount}")
    if noise == "block":
        changed = blocks(clean.shape, amount, image_shape, rng)
    else:
        changed = rng.random(clean.shape) < amount
    if noise in ("masking", "block"):
        new: Any = 0.0
    elif noise == "salt-and-pepper":
        new = np.where(rng.random(clean.shape) < 0.5, low, high)
    elif noise == "flip":
        new = np.add(low, high) - clean
    else:
        raise DataError(f"there is no noise {noise!r}; choose one of {', '.join(NOISES)}")
    return np.where(changed, new, clean).astype(clean.dtype), changed


def blocks(
    shape: tuple[int, ...],
    amount: float,
    image_shape: tuple[int, ...] | None,
    rng: np.random.Generator,
) -> np.ndarray:
    """A block of cells for each row, as booleans."""
    n, d = shape
    height, width = (1, d) if image_shape is None else image_shape[:2]
    if image_shape is None:
        tall, wide = 1, int(np.ceil(amount * d))
    else:
        tall, wide = (int(np.ceil(np.sqrt(amount) * size)) for size in (height, width))
    top = rng.integers(0, height - min(tall, height) + 1, n)
    left = rng.integers(0, width - min(wide, width) + 1, n)
    down, across = np.arange(height)[None], np.arange(width)[None]
    in_rows = (down >= top[:, None]) & (down < top[:, None] + tall)
    in_columns = (across >= left[:, None]) & (across < left[:, None] + wide)
    inside = in_rows[:, :, None] & in_columns[:, None, :]
    return np.repeat(inside[..., None], d // (height * width), axis=3).reshape(n, d)
