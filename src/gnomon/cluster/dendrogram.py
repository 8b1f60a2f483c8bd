"""A tree of merges: cut it by height, by number of clusters or at its largest gap.

Texts: 000b 8.1 · 001 21.1-21.2 · 004 13.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster import hierarchy

from gnomon.cluster.intake import label_codes
from gnomon.cluster.linkage_kernel import label_leaves
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array


@storable
class Dendrogram:
    """The merges of a hierarchical clustering, from single leaves to one cluster.

    Where heights fall from one merge to the next (inversions, of mean and median linkage), a cut
    by height joins what has merged by then below it: levels are the largest height so far on the
    way up, so that cuts stay nested.

    Parameters
    ----------
    merges : ndarray of shape (n - 1, 4)
        SciPy's form: the two clusters (leaves are 0 .. n - 1, merge m makes n + m), the height, and
        the weight of the union.
    weights : ndarray of shape (n,)
        Weight of each leaf.

    Attributes
    ----------
    merges, weights : ndarray

    Examples
    --------
    >>> from gnomon.cluster import linkage_tree
    >>> tree = linkage_tree([[1.0], [2.0], [4.0], [7.0], [11.0]], "single")
    >>> tree.heights.tolist()
    [1.0, 2.0, 3.0, 4.0]
    >>> tree.cut(n_clusters=3).tolist()
    [0, 0, 0, 1, 2]
    """

    _stored = {
        "merges": Array("f8", (None, None)),
        "weights": Array("f8", (None,), low=0.0),
    }

    def __init__(self, merges: np.ndarray, weights: np.ndarray):
        self.merges = merges
        self.weights = weights

    def __repr__(self) -> str:
        return f"Dendrogram({self.n_leaves:,} leaves, heights up to {self.levels.max():.4g})"

    @property
    def n_leaves(self) -> int:
        return len(self.weights)

    @property
    def heights(self) -> np.ndarray:
        """Height of each merge."""
        return self.merges[:, 2]

    @property
    def levels(self) -> np.ndarray:
        """Height of each merge, or of a merge below it where that is larger."""
        if self.n_leaves < 2:
            return np.zeros(1)
        if self.n_inversions == 0:
            return self.heights
        levels = np.concatenate([np.zeros(self.n_leaves), self.heights])
        for number, (one, other) in enumerate(self.merges[:, :2].astype(int), self.n_leaves):
            levels[number] = max(levels[number], levels[one], levels[other])
        return levels[self.n_leaves :]

    @property
    def n_inversions(self) -> int:
        """Merges that are lower than the one before them."""
        return int((np.diff(self.heights) < 0).sum())

    def cut(self, n_clusters: int | None = None, *, height: float | None = None) -> np.ndarray:
        """Labels of the leaves: of `n_clusters`, of merges up to `height`, or at the largest gap.

        Parameters
        ----------
        n_clusters : int, default=None
            So many clusters (the last merges are undone).
        height : float, default=None
            Merges up to this height are made.

        Returns
        -------
        labels : ndarray of shape (n,)
            Numbered by the first leaf of each cluster.
        """
        if n_clusters is not None and height is not None:
            raise DataError("cut by n_clusters or by height, not by both")
        if height is not None:
            return self._joined(self.levels <= height if self.n_leaves > 1 else np.zeros(0, bool))
        if n_clusters is None:
            n_clusters = self.at_largest_gap()
        if not 1 <= n_clusters <= self.n_leaves:
            raise DataError(
                f"{self.n_leaves} leaves can be cut in 1 to {self.n_leaves} clusters, "
                f"not in {n_clusters}"
            )
        made = np.arange(self.n_leaves - 1) < self.n_leaves - n_clusters
        return self._joined(made)

    def at_largest_gap(self) -> int:
        """Number of clusters between the two consecutive levels that lie farthest apart."""
        if self.n_leaves < 3:
            return self.n_leaves
        levels = np.sort(self.levels)
        return int(self.n_leaves - 1 - np.argmax(np.diff(levels)))

    def height_of(self, n_clusters: int) -> float:
        """A height that cuts the tree in so many clusters: midway between two merges."""
        levels = np.concatenate([[0.0], np.sort(self.levels)])
        place = self.n_leaves - n_clusters
        above = levels[place + 1] if n_clusters > 1 else levels[-1] * 1.05
        return float((levels[place] + above) / 2)

    def _joined(self, made: np.ndarray) -> np.ndarray:
        children = np.ascontiguousarray(self.merges[:, :2], dtype=np.int64)
        labels = np.empty(self.n_leaves, np.int64)
        label_leaves(children, made, labels)
        return labels

    def leaf_order(self) -> np.ndarray:
        """Leaves from left to right, so that no two branches cross."""
        if self.n_leaves < 2:
            return np.zeros(self.n_leaves, int)
        order: list[int] = []
        waiting = [2 * self.n_leaves - 2]
        while waiting:
            node = waiting.pop()
            if node < self.n_leaves:
                order.append(node)
            else:
                one, other = self.merges[node - self.n_leaves, :2].astype(int)
                waiting += [other, one]
        return np.array(order)

    def cophenetic(self) -> np.ndarray:
        """For every two leaves the height at which they first share a cluster, SciPy's order."""
        need = 8 * self.n_leaves * (self.n_leaves - 1) // 2
        memory.require(need, f"heights of all pairs of {self.n_leaves:,} leaves", "Use fewer rows.")
        return hierarchy.cophenet(self.merges)


def is_nested(finer: Any, coarser: Any) -> bool:
    """Whether every cluster of one partition lies within one cluster of the other (001 21.1).

    Parameters
    ----------
    finer, coarser : array-like of shape (n,)
        Labels of the same rows. The finer must have more clusters, as the text asks.

    Returns
    -------
    nested : bool

    Examples
    --------
    >>> is_nested([0, 1, 2, 2], [0, 0, 1, 1]), is_nested([0, 1, 1, 2], [0, 0, 1, 1])
    (True, False)
    """
    names, fine = label_codes(finer)
    others, coarse = label_codes(coarser, len(fine))
    pairs = np.unique(fine * len(others) + coarse)
    return len(names) > len(others) and len(pairs) == len(names)


def number_of_dendrograms(n: int) -> int:
    """Number of binary trees over n labelled leaves: (2n - 3)!! (001 21.2).

    Parameters
    ----------
    n : int

    Returns
    -------
    count : int

    Examples
    --------
    >>> [number_of_dendrograms(n) for n in (2, 3, 4, 5)]
    [1, 3, 15, 105]
    """
    if n < 1:
        raise DataError(f"there are no trees of {n} leaves")
    count = 1
    for odd in range(3, 2 * n - 2, 2):
        count *= odd
    return count
