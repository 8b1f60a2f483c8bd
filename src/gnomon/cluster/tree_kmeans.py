"""A tree of k-means: many thousand prototypes, found and looked up level by level.

Texts: 000b 8.2.2 and 8.3.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from gnomon.cluster.centers import check_centers
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.nearest import Centers, Nearest, find_nearest
from gnomon.cluster.transfer import fit_quietly
from gnomon.contract import Data, Transformer
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.parameters import JOBS, SEED, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole


@method(
    task="reduce",
    texts="000b 8.2.2, 8.3",
    use="To quantise rows by hundreds to many thousands of prototypes; dictionaries of pieces.",
    avoid="Few clusters: plain KMeans finds better ones.",
    peers=("sklearn.cluster.BisectingKMeans", "faiss"),
)
class KMeansTree(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A tree of k-means: the rows of each cluster are clustered again, level after level.

    Each node runs k-means on a sample of its rows, ``min sum min_k |x - c_k|^2``, and hands all its
    rows down to their nearest centres. A row is looked up by descending: nearest centre at each
    level, in all ``n_branches * depth`` distances for up to ``n_branches ^ depth`` leaves. Use it
    to quantise very many rows with very many prototypes. For few clusters use `KMeans`, whose
    objective is lower.

    ``predict`` gives the number of the leaf, ``transform`` its centre in place of the row.

    Parameters
    ----------
    n_branches : int, default=10
        Centres of every node.
    depth : int, default=2
        Levels.
    n_drawn : int, default=10000
        Rows that a node's k-means sees at most, drawn by weight.
    random_state : int, RandomState, Generator or None, default=None
        Seed of samples and starts.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    centers_ : ndarray of shape (n_nodes, n_columns)
        Centres of all nodes below the root, level by level; siblings stand together.
    first_child_ : ndarray of shape (n_nodes + 1,)
        First child of the root (entry 0) and of each node (entry i + 1), or -1.
    n_children_ : ndarray of shape (n_nodes + 1,)
        How many there are.
    leaf_number_ : ndarray of shape (n_nodes,)
        Number of the leaf that a node is, or -1.
    n_leaves_ : int
        Number of leaves.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 000b 8.2.2 (samples at every level) and 8.3 (40 x 12 and 50 x 50 leaves). A node with no
    more different rows than branches has a child for each of them.

    Examples
    --------
    >>> from gnomon.cluster import KMeansTree
    >>> rows = [[0.0], [1.0], [9.0], [10.0]]
    >>> tree = KMeansTree(2, depth=2, random_state=0).fit(rows)
    >>> tree.n_leaves_, tree.transform([[9.2]]).tolist()
    (4, [[9.0]])
    """

    _parameter_constraints = {
        "n_branches": [whole(2)],
        "depth": [whole(1)],
        "n_drawn": [whole(2)],
        "random_state": SEED,
        "n_jobs": JOBS,
    }
    _largest = 1e100
    _grows = True
    _keeps_rows = True
    _stored = {
        "centers_": Array("f8", ("n_centers", "n_columns")),
        "first_child_": Array("i8", ("n_first_child",), low=-1),
        "leaf_number_": Array("i8", ("n_centers",), low=-1, below="n_leaves_"),
        "n_children_": Array("i8", ("n_first_child",), low=0),
        "n_leaves_": Whole(1),
    }

    def __init__(self, n_branches=10, *, depth=2, n_drawn=10_000, random_state=None, n_jobs=None):
        self.n_branches = n_branches
        self.depth = depth
        self.n_drawn = n_drawn
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        rng = self._rng()
        distinct = distinct_rows(data.rows, data.weight_array)
        centers: list[np.ndarray] = []
        first_child, n_children = [], []
        level = [np.arange(len(distinct.rows))]
        n_nodes = 0
        for _ in range(self.depth):
            below = []
            for members in level:
                found = self._split(distinct, members, rng)
                first_child.append(n_nodes if len(found) else -1)
                n_children.append(len(found))
                for center, own in found:
                    centers.append(center)
                    below.append(own)
                n_nodes += len(found)
            level = below
        first_child += [-1] * len(level)
        n_children += [0] * len(level)
        self.centers_ = np.ascontiguousarray(centers)
        self.first_child_ = np.array(first_child, dtype=np.int64)
        self.n_children_ = np.array(n_children, dtype=np.int64)
        is_leaf = self.n_children_[1:] == 0
        self.leaf_number_ = np.where(is_leaf, np.cumsum(is_leaf) - 1, -1)
        self.n_leaves_ = int(is_leaf.sum())

    def _split(self, distinct, members: np.ndarray, rng: np.random.Generator) -> list:
        """Centres of a node's children and the rows of each; none where the node is one row."""
        rows, weights = distinct.rows[members], distinct.weights[members]
        seed = int(rng.integers(2**31))
        if len(rows) < 2 and len(distinct.rows) > 1:
            return []
        if len(rows) <= self.n_branches:
            return [(row, members[[i]]) for i, row in enumerate(rows)]
        seen, seen_weights = rows, weights
        if len(rows) > self.n_drawn:
            drawn = WeightedDraw(np.arange(len(rows)))(weights, rng, self.n_drawn)
            places, counts = np.unique(drawn, return_counts=True)
            seen, seen_weights = rows[places], counts.astype(np.float64)
        k = min(self.n_branches, len(seen))
        model = fit_quietly(KMeans(k, random_state=seed, n_jobs=self.n_jobs), seen, seen_weights)
        labels = _nearest_of(rows, model.cluster_centers_)
        return [
            (center, members[labels == c])
            for c, center in enumerate(model.cluster_centers_)
            if (labels == c).any()
        ]

    def _leaves(self, rows: np.ndarray) -> np.ndarray:
        """The node of the leaf of each row."""
        node = np.full(len(rows), -1)
        for _ in range(self.depth):
            for parent in np.unique(node):
                first, count = self.first_child_[parent + 1], self.n_children_[parent + 1]
                if count == 0:
                    continue
                here = node == parent
                centers = self.centers_[first : first + count]
                node[here] = first + _nearest_of(np.ascontiguousarray(rows[here]), centers)
        return node

    def _map(self, rows: np.ndarray) -> np.ndarray:
        return self.centers_[self._leaves(rows)]

    @property
    def _n_features_out(self) -> int:
        return self.centers_.shape[1]

    def predict(self, X) -> np.ndarray:
        """Number of the leaf of each row, from 0 to ``n_leaves_ - 1``.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        leaves : ndarray of shape (n_samples,)
        """
        return self._each_block(lambda rows: self.leaf_number_[self._leaves(rows)], X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = KMeans(self.n_branches, n_jobs=self.n_jobs)
        used = min(n_rows, self.n_drawn)
        return 8 * n_rows * (4 * n_columns + 10) + inner.forecast(used, n_columns)

    def _check_loaded(self) -> None:
        if not hasattr(self, "centers_"):
            return
        encoder = getattr(self, "encoder_", None)
        n_columns = self.n_features_in_ if encoder is None else len(encoder.columns)
        check_centers(self.centers_, n_columns)
        n = len(self.centers_)
        first, count = self.first_child_, self.n_children_
        whole_numbers = all(each.dtype.kind == "i" for each in (first, count, self.leaf_number_))
        if not whole_numbers or len(first) != n + 1 or len(count) != n + 1:
            raise ValueError("the nodes of the tree do not fit its centres")
        inside = (first >= -1) & (count >= 0) & (count <= n) & (first + count <= n)
        if not inside.all() or len(self.leaf_number_) != n or count[0] == 0:
            raise ValueError("the tree points to nodes that it has not")
        if self.depth > n:
            raise ValueError("the tree is deeper than it has nodes")


def _nearest_of(rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    centers = Centers.at(points, points.mean(axis=0))
    return find_nearest(rows, centers, Nearest.of(len(rows))).labels
