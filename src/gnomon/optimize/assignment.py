"""Quadratic assignment: which item goes to which place, so that flows times distances are least.

    f(p) = sum_ij flow_ij distance_{p_i p_j}

The values of all orders that differ by one swap come from a table of differences. After a swap of r
and s, the difference of a pair that touches neither changes by a product of two sums of four
terms, and only pairs with r or s are added up anew: O(n^2) for all swaps instead of O(n^4).

Taillard, "Robust taboo search for the quadratic assignment problem" (1991). Texts: 004 1.3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel

FRESH = 1000  # updates after which the table is added up anew, against rounding; not tuned


class QuadraticAssignment:
    """The cost of an order: flows between items times distances of their places.

    Parameters
    ----------
    flow, distance : array-like of shape (n, n)

    Examples
    --------
    >>> from gnomon.optimize import Permutation, minimize
    >>> flow = [[0, 3, 0], [3, 0, 1], [0, 1, 0]]
    >>> distance = [[0, 5, 2], [5, 0, 4], [2, 4, 0]]
    >>> cost = QuadraticAssignment(flow, distance)
    >>> found = minimize(cost, Permutation(3), "tabu", max_evaluations=100, random_state=0)
    >>> found.fun
    20.0
    """

    def __init__(self, flow: ArrayLike, distance: ArrayLike):
        self.flow = np.ascontiguousarray(flow, dtype=float)
        self.distance = np.ascontiguousarray(distance, dtype=float)
        n = len(self.flow)
        if self.flow.shape != (n, n) or self.distance.shape != (n, n):
            raise DataError(
                "flow and distance must be square and of one size, and have the shapes "
                f"{self.flow.shape} and {self.distance.shape}"
            )
        if not (np.isfinite(self.flow).all() and np.isfinite(self.distance).all()):
            raise DataError("flow and distance must be finite")
        self._known: tuple[np.ndarray, float, np.ndarray, int] | None = None

    def __call__(self, order: np.ndarray) -> float:
        """The cost of an order: item i is at place ``order[i]``."""
        return float((self.flow * self.distance[np.ix_(order, order)]).sum())

    def neighbor_values(self, order: np.ndarray) -> np.ndarray:
        """Costs of all orders with two items swapped, pairs in the order of `np.triu_indices`.

        Parameters
        ----------
        order : ndarray of shape (n,)

        Returns
        -------
        values : ndarray of shape (n (n - 1) / 2,)
        """
        order = np.ascontiguousarray(order, dtype=np.int64)
        n, known = len(order), self._known
        if known is not None and known[3] < FRESH:
            changed = np.flatnonzero(order != known[0])
            if len(changed) == 2:
                r, s = int(changed[0]), int(changed[1])
                place = r * (2 * n - r - 1) // 2 + s - r - 1
                cost, table = known[1] + known[2][place], known[2].copy()
                swap_differences(self.flow, self.distance, order, r, s, table)
                self._known = (order.copy(), cost, table, known[3] + 1)
                return cost + table
        cost, table = self(order), np.empty(n * (n - 1) // 2)
        swap_differences(self.flow, self.distance, order, -1, -1, table)
        self._known = (order.copy(), cost, table, 0)
        return cost + table


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", "i8", "i8", "out f8[:]")
def swap_differences(flow, distance, p, r, s, table):
    """What each swap adds to the cost; ``table`` is that of p before r and s were swapped.

    With r < 0 it is added up from nothing.
    """
    n = len(p)
    at = -1
    for u in range(n):
        for v in range(u + 1, n):
            at += 1
            a, b = p[u], p[v]
            if r >= 0 and u != r and u != s and v != r and v != s:
                c, d = p[r], p[s]
                table[at] += (flow[r, u] - flow[r, v] + flow[s, v] - flow[s, u]) * (
                    distance[d, a] - distance[d, b] + distance[c, b] - distance[c, a]
                ) + (flow[u, r] - flow[v, r] + flow[v, s] - flow[u, s]) * (
                    distance[a, d] - distance[b, d] + distance[b, c] - distance[a, c]
                )
                continue
            total = (flow[u, u] - flow[v, v]) * (distance[b, b] - distance[a, a])
            total += (flow[u, v] - flow[v, u]) * (distance[b, a] - distance[a, b])
            for k in range(n):
                if k != u and k != v:
                    q = p[k]
                    total += (flow[k, u] - flow[k, v]) * (distance[q, b] - distance[q, a])
                    total += (flow[u, k] - flow[v, k]) * (distance[b, q] - distance[a, q])
            table[at] = total
