"""Does a generator copy its training rows? Nearest training rows of new rows tell (000c 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError

COPIED_P = 0.01  # judgement: an accusation of copying needs more than 5%


@dataclass(repr=False)
class CopyCheck(Result):
    """How near generated and held-out rows come to the training rows.

    Attributes
    ----------
    generated, held_out : ndarray
        Distance of each row to its nearest training row, columns in units of their spread.
    nearest : ndarray of int
        The training row nearest to each generated one.
    p : float
        Chance of generated rows as near as these if they were drawn like the held-out ones.
    """

    generated: np.ndarray
    held_out: np.ndarray
    nearest: np.ndarray
    p: float

    @property
    def copies(self) -> bool:
        """Whether generated rows are nearer than new rows should be (p < 0.01)."""
        return self.p < COPIED_P

    def _title(self) -> str:
        how = "copies its training rows" if self.copies else "is not seen to copy"
        return f"the generator {how} (p = {self.p:.2g})"

    def _columns(self) -> dict[str, list[Any]]:
        quarters = (0.0, 0.25, 0.5, 0.75)
        return {
            "quantile": list(quarters),
            "generated": np.quantile(self.generated, quarters).tolist(),
            "held out": np.quantile(self.held_out, quarters).tolist(),
        }


def copy_check(train: ArrayLike, generated: ArrayLike, held_out: ArrayLike) -> CopyCheck:
    """Compare the distances to the nearest training row of generated and of held-out rows.

    Use it before generated rows are given away in place of private ones. Not with many columns of
    noise, in which all rows are about as far from each other. The test is Mann and Whitney's.

    Parameters
    ----------
    train, generated, held_out : array-like of shape (n, d)
        What the generator learnt from, what it made, and rows of the same source that it has not
        seen.

    Returns
    -------
    check : CopyCheck

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(300, 2))
    >>> copy_check(rows[:100], rows[:100] + 1e-3, rows[100:200]).copies
    True
    """
    parts = [np.asarray(each, dtype=float) for each in (train, generated, held_out)]
    for name, part in zip(("train", "generated", "held_out"), parts):
        if part.ndim != 2 or not len(part) or not np.isfinite(part).all():
            raise DataError(f"{name} must be rows of finite numbers")
        if part.shape[1] != parts[0].shape[1]:
            raise DataError(f"{name} has {part.shape[1]} columns, train {parts[0].shape[1]}")
    spread = parts[0].std(axis=0)
    known, made, new = (part / np.where(spread > 0, spread, 1.0) for part in parts)
    tree = cKDTree(known)
    distances, nearest = tree.query(made)
    others, _ = tree.query(new)
    p = scipy.stats.mannwhitneyu(distances, others, alternative="less").pvalue
    return CopyCheck(distances, others, nearest, float(p))
