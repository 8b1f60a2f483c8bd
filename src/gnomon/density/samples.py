"""How far two samples are apart: sorted pairing, random projections, the witness function.

Texts: 000c 19.3.3 (witness function), 19.3.4 (sorted pairing, sliced distance).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist

from gnomon.contract.estimate import Estimate, finite_column, mean_interval
from gnomon.contract.numbers import plain_numbers
from gnomon.density.draws import as_generator
from gnomon.engine import memory
from gnomon.engine.errors import DataError

BLOCK = 2048  # judgement: bounds memory at 32 kB per row of the sample
MOST_FOR_MEDIAN = 1000  # half a million distances with their median take 6 ms


def sorted_pairing_distance(x: ArrayLike, y: ArrayLike, mean: bool = False) -> float:
    """Sum of squared differences of the order statistics: the best one-to-one pairing of numbers.

    Samples of different sizes are paired by quantiles (the squared Wasserstein distance, times the
    greater size where a sum is asked for).

    Parameters
    ----------
    x, y : array-like of shape (n,) and (m,)
    mean : bool, default=False
        Divide by the number of pairs: the squared Wasserstein distance.

    Returns
    -------
    distance : float

    Examples
    --------
    >>> sorted_pairing_distance([3, 1, 2], [2, 4, 3])
    3.0
    """
    x, y = np.sort(finite_column(x, "x")), np.sort(finite_column(y, "y"))
    n, m = len(x), len(y)
    if n == m:
        total = float(((x - y) ** 2).sum())
        return total / n if mean else total
    steps = np.unique(np.concatenate([np.arange(1, n + 1) * m, np.arange(1, m + 1) * n]))
    share = np.diff(np.concatenate([[0], steps])) / (n * m)
    first = np.minimum((steps - 1) // m, n - 1)
    second = np.minimum((steps - 1) // n, m - 1)
    found = float(share @ (x[first] - y[second]) ** 2)
    return found if mean else found * max(n, m)


class Sliced(NamedTuple):
    """Distance of two samples over random directions.

    Attributes
    ----------
    distance : Estimate
        Mean squared Wasserstein distance of the projections, with its interval over directions.
    worst : ndarray of shape (d,)
        The direction that separates most, found from the worst of the random ones.
    worst_distance : float
        The distance along it.
    """

    distance: Estimate
    worst: np.ndarray
    worst_distance: float


def sliced_distance(
    X: ArrayLike, Y: ArrayLike, n_directions: int = 100, random_state: Any = None
) -> Sliced:
    """Mean sorted-pairing distance of the projections of two samples on random directions.

    Zero for equal samples; much cheaper than a pairing in several dimensions, which it bounds from
    below (times d, on average).

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (m, d)
    n_directions : int, default=100
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    sliced : Sliced

    Examples
    --------
    >>> found = sliced_distance([[0, 0], [1, 1]], [[1, 1], [0, 0.0]], random_state=0)
    >>> found.distance.value
    0.0
    """
    X = np.asarray(plain_numbers(X), dtype=np.float64)
    Y = np.asarray(plain_numbers(Y, "Y"), dtype=np.float64)
    if X.ndim != 2 or Y.ndim != 2 or X.shape[1] != Y.shape[1]:
        raise DataError(f"samples of shapes {X.shape} and {Y.shape} do not compare")
    rng = as_generator(random_state)
    directions = rng.standard_normal((n_directions, X.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distances = np.array([sorted_pairing_distance(X @ a, Y @ a, mean=True) for a in directions])
    worst, reached = _steepest(X, Y, directions[distances.argmax()])
    return Sliced(mean_interval(distances), worst, reached)


def _steepest(X: np.ndarray, Y: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, float]:
    def cost(a: np.ndarray) -> float:
        unit = a / max(float(np.linalg.norm(a)), 1e-300)
        return -sorted_pairing_distance(X @ unit, Y @ unit, mean=True)

    found = minimize(cost, start, method="Nelder-Mead", options={"maxiter": 200 * len(start)})
    best = found.x if found.fun < cost(start) else start
    unit = best / np.linalg.norm(best)
    return unit, float(-cost(unit))


@dataclass(frozen=True, eq=False)
class WitnessFunction:
    """Where two samples differ most: the smooth function of the greatest difference of means.

    Of all functions of unit length in the space of the Gaussian kernel k, the one with the
    greatest mean_X f - mean_Y f is proportional to f(t) = mean_i k(x_i, t) - mean_j k(y_j, t):
    above zero where X is the denser, below where Y is. The squared greatest difference is the
    maximum mean discrepancy.

    Parameters
    ----------
    X, Y : ndarray of shape (n, d) and (m, d)
    bandwidth : float
        Of the kernel exp(-|x - t|^2 / (2 h^2)).

    Examples
    --------
    >>> witness = WitnessFunction.of([[0.0], [0.1]], [[2.0], [2.1]], bandwidth=0.5)
    >>> values = witness([[0.0], [2.0]])
    >>> bool(values[0] > 0 > values[1])
    True
    """

    X: np.ndarray
    Y: np.ndarray
    bandwidth: float

    @classmethod
    def of(cls, X: ArrayLike, Y: ArrayLike, bandwidth: float | None = None) -> WitnessFunction:
        """From two samples; the bandwidth is the median distance of rows where none is given.

        Parameters
        ----------
        X, Y : array-like of shape (n, d) and (m, d)
        bandwidth : float, default=None
            The median is that of 1000 rows, evenly taken, where there are more.

        Returns
        -------
        witness : WitnessFunction
        """
        X = np.asarray(plain_numbers(X), dtype=np.float64)
        Y = np.asarray(plain_numbers(Y, "Y"), dtype=np.float64)
        X, Y = (each[:, None] if each.ndim == 1 else each for each in (X, Y))
        if X.shape[1] != Y.shape[1] or not len(X) or not len(Y):
            raise DataError(f"samples of shapes {X.shape} and {Y.shape} do not compare")
        if bandwidth is None:
            both = np.vstack([X, Y])
            some = both[np.linspace(0, len(both) - 1, min(len(both), MOST_FOR_MEDIAN)).astype(int)]
            bandwidth = float(np.median(pdist(some)))
            if not bandwidth > 0:
                raise DataError("most rows are equal: give the bandwidth")
        return cls(X, Y, float(bandwidth))

    def __call__(self, at: ArrayLike) -> np.ndarray:
        """f at places, of shape (m, d)."""
        at = np.asarray(at, dtype=np.float64)
        at = at[:, None] if at.ndim == 1 else at
        return self._mean_kernel(at, self.X) - self._mean_kernel(at, self.Y)

    def _mean_kernel(self, at: np.ndarray, rows: np.ndarray) -> np.ndarray:
        memory.require(
            8 * BLOCK * len(rows) * 2,
            f"a witness function of {len(rows):,} rows",
            "Use fewer rows.",
        )
        parts = [
            np.exp(
                -cdist(at[start : start + BLOCK], rows, "sqeuclidean") / (2 * self.bandwidth**2)
            ).mean(axis=1)
            for start in range(0, len(at), BLOCK)
        ]
        return np.concatenate(parts)

    @property
    def discrepancy(self) -> float:
        """Maximum mean discrepancy squared (biased): |mean embedding X - mean embedding Y|^2."""
        return max(float(self(self.X).mean() - self(self.Y).mean()), 0.0)

    def strongest(self, candidates: ArrayLike | None = None) -> np.ndarray:
        """The place of the greatest |f|; among the rows of both samples by default."""
        places = (
            np.vstack([self.X, self.Y]) if candidates is None else np.asarray(candidates, float)
        )
        return places[int(np.abs(self(places)).argmax())]
