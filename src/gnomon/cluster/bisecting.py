"""Bisecting k-means: one group is split in two by k-means, again and again.

Of the groups so far the one with the largest sum of squares (or the most rows) is split, until
there are k. A new row goes down the tree of splits, at each to the nearer of the two centres.

References: Steinbach, Karypis and Kumar (2000). Texts: 001 18.2 describes k-means, its step.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gnomon.cluster.centers import STARTING_WORDS, CentrePredictor, require_rows
from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.nearest import squared_distance
from gnomon.cluster.sparse_rows import dense_rows, for_dense_kernels
from gnomon.cluster.transfer import learn_quietly
from gnomon.contract import Data
from gnomon.contract.inert import without_effect
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import ArraySource, Chunk
from gnomon.engine.threads import in_order


class Part(NamedTuple):
    """A group that may still be split: its node, its rows, their weight and sum of squares."""

    node: int
    rows: np.ndarray
    weight: float
    inertia: float


@method(
    task="group",
    texts="001 18.2",
    use="Many groups of many rows: each split looks at the rows of one group only; a hierarchy.",
    avoid="Groups of unlike size in one part of the space: a first split may cut one in two.",
    peers=("sklearn.cluster.BisectingKMeans",),
)
@without_effect("verbose", "copy_x", "algorithm")
class BisectingKMeans(CentrePredictor):
    """Groups by splitting one group in two by k-means, again and again.

    Of the groups so far the one with the largest ``sum_i w_i |x_i - c|^2`` (or of the most weight)
    is split, until there are `n_clusters`. Use it for many groups, where k-means with all centres
    at once takes long, or for a hierarchy. Its objective is a little above that of `KMeans`, and a
    first split may cut a group in two for good.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    init : {"random", "k-means++", ...} or callable, default="random"
        The first two centres of a split, as in `KMeans`.
    n_init : int, default=1
        Starts of each split, of which the best is kept.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.
    max_iter : int, default=300
        Most passes of each split.
    tol : float, default=1e-4
        Relative movement of the centres at which a split ends, as in `KMeans`.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}, default="biggest_inertia"
        Which group is split next: that of the largest sum of squares, or of the most weight.
    n_jobs : int or None, default=None
        Threads; None for one per processor. The result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres after every split in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The means of the groups.
    labels_ : ndarray of shape (n_samples,)
        The group of each row that was given to ``fit``.
    inertia_ : float
        Sum of squared distances of the rows to their centres, by weight.
    children_ : ndarray of int of shape (n_nodes, 2)
        The two nodes that each node was split into; -1 for groups.
    node_centers_ : ndarray of shape (n_nodes, n_columns)
        The centre of each node; node 0 holds all rows.
    node_labels_ : ndarray of int of shape (n_nodes,)
        The group that each node is; -1 where it was split.
    n_iter_ : int
        Number of splits.
    history_ : History
        The sum of squares after each split. The passes within a split are not recorded.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    KMeans : All centres at once.
    KMeansTree : A hierarchy of k-means with several branches.

    Notes
    -----
    A group of equal rows cannot be split; where no other is left, there are fewer groups.

    Examples
    --------
    >>> from gnomon.cluster import BisectingKMeans
    >>> rows = [[1.0, 1.0], [10.0, 1.0], [3.0, 1.0], [10.0, 0.0], [2.0, 1.0], [10.0, 2.0]]
    >>> labels = BisectingKMeans(n_clusters=2, random_state=0).fit_predict(rows)
    >>> bool(labels[0] == labels[2] == labels[4] != labels[1])
    True
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "init": [STARTING_WORDS, callable],
        "n_init": [whole(1)],
        "random_state": SEED,
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "bisecting_strategy": [StrOptions({"biggest_inertia", "largest_cluster"})],
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "children_": Array("i8", ("n_children", 2), low=-1),
        "inertia_": Number(),
        "labels_": Array("i4", (None,), low=0, below="n_clusters"),
        "node_centers_": Array("f", ("n_children", "n_columns")),
        "node_labels_": Array("i8", ("n_children",), low=-1, below="n_clusters"),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="random",
        n_init=1,
        random_state=None,
        max_iter=300,
        verbose=0,
        tol=1e-4,
        copy_x=True,
        algorithm="lloyd",
        bisecting_strategy="biggest_inertia",
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.random_state = random_state
        self.max_iter = max_iter
        self.verbose = verbose
        self.tol = tol
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bisecting_strategy = bisecting_strategy
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _most_steps(self) -> int:
        return self.n_clusters - 1

    def _learn(self, X, y, sample_weight):
        vars(self).pop("labels_", None)
        super()._learn(X, y, sample_weight)
        if not hasattr(self, "labels_"):  # some rows had weight zero
            self.labels_ = self.predict(X)
        return self

    def _fit(self, data: Data) -> None:
        require_rows(data.n_rows, self.n_clusters)
        rows, weights, rng = data.rows, data.weight_array, self._rng()
        mean = dense_rows(weights @ rows[:] / weights.sum()).ravel()
        children, centers = [[-1, -1]], [mean]
        # a single group is never compared with another, so its sum of squares is not needed
        parts, done = [Part(0, np.arange(data.n_rows), float(weights.sum()), 0.0)], []
        course = self._course("split", self._most_steps())
        for _ in course:
            self._split_next(data, weights, parts, done, children, centers, rng)
            found = partial(tree_of_splits, [*children], [*centers])
            if course.end_step(
                sum(part.inertia for part in parts + done),
                not parts or len(parts) + len(done) == self.n_clusters,
                state=lambda found=found: {"cluster_centers": found()["cluster_centers_"]},
                attributes=lambda found=found: self._public() | found(),
            ):
                break
        self._keep(tree_of_splits(children, centers))
        self.history_, self.n_iter_ = course.history, len(course.history)
        self._label(parts + done, data)

    def _split_next(self, data, weights, parts, done, children, centers, rng) -> None:
        """Split the first part in order of importance that can be; the others before are done."""
        while parts:
            part = parts.pop(int(np.argmax([self._importance(each) for each in parts])))
            halves = self._split(data, weights, part, centers, rng)
            if halves is not None:
                children[part.node] = [half.node for half in halves]
                children += [[-1, -1], [-1, -1]]
                parts += halves
                return
            done.append(part)

    def _importance(self, part: Part) -> float:
        return part.weight if self.bisecting_strategy == "largest_cluster" else part.inertia

    def _split(self, data, weights, part: Part, centers: list, rng) -> list[Part] | None:
        """Two halves of a part, whose centres are appended; None where it cannot be split."""
        if len(part.rows) < 2:
            return None
        own, heavy = data.rows[part.rows], weights[part.rows]
        model = KMeans(
            2,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=int(rng.integers(2**31)),
            n_jobs=self.n_jobs,
        )
        some = Data(ArraySource(own, None, None if data.weights is None else heavy), data.columns)
        labels = learn_quietly(model, some).labels_
        if labels.min() == labels.max():
            return None
        squares = heavy * self._squares(some, model.cluster_centers_, labels)
        halves = []
        for label, center in enumerate(model.cluster_centers_):
            chosen = labels == label
            weight, inertia = float(heavy[chosen].sum()), float(squares[chosen].sum())
            halves.append(Part(len(centers), part.rows[chosen], weight, inertia))
            centers.append(center)
        return halves

    def _label(self, parts: list[Part], data: Data) -> None:
        """Set the sum of squares and the labels."""
        labels = np.empty(data.n_rows, np.int32)
        for part in parts:
            labels[part.rows] = self.node_labels_[part.node]
        inertia = sum(part.inertia for part in parts)
        if len(parts) == 1:
            alone = np.zeros(data.n_rows, np.int32)
            inertia = data.weight_array @ self._squares(data, self.node_centers_[:1], alone)
        self.inertia_ = float(inertia)
        if data.kept is None:
            self.labels_ = labels

    def _squares(self, data: Data, centers: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The squared distance of each row to the centre of its label."""
        squares = np.empty(data.n_rows)

        def fill(chunk: Chunk) -> None:
            here = slice(chunk.start, chunk.stop)
            squares_to_own(chunk.rows, centers, labels[here], squares[here])

        for _ in in_order(fill, for_dense_kernels(data).source.chunks(), self.n_jobs, short=True):
            pass
        return squares

    def _nearest(self, rows) -> np.ndarray:
        rows = dense_rows(rows)
        node = np.zeros(len(rows), np.int64)
        while True:
            below = self.children_[node]
            split = np.flatnonzero(below[:, 0] >= 0)
            if len(split) == 0:
                return self.node_labels_[node].astype(np.int32)
            pairs = np.asarray(self.node_centers_, dtype=np.float64)[below[split]]
            squares = ((rows[split, None] - pairs) ** 2).sum(axis=2)
            node[split] = below[split, (squares[:, 1] < squares[:, 0]).astype(np.int64)]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = KMeans(2, n_jobs=self.n_jobs)._working_memory(n_rows, n_columns)
        return inner + 8 * n_rows * (2 * n_columns + 8)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "children_"):
            return
        n = len(self.children_)
        order = np.arange(n)[:, None]
        below = self.children_
        if below.shape != (n, 2) or self.node_centers_.shape[0] != n or len(self.node_labels_) != n:
            raise ValueError("the tree of splits does not fit together")
        if ((below >= 0) & ((below <= order) | (below >= n))).any():
            raise ValueError("a node of the tree of splits is not below its parent")


def tree_of_splits(children: list, centers: list) -> dict[str, Any]:
    """The fitted attributes of a tree; groups are numbered from left to right in it."""
    below = np.array(children, dtype=np.int64)
    labels = np.full(len(below), -1, np.int64)
    waiting, leaves = [0], []
    while waiting:
        node = waiting.pop()
        left, right = below[node]
        if left < 0:
            labels[node] = len(leaves)
            leaves.append(node)
        else:
            waiting += [right, left]
    points = np.array(centers)
    return {
        "children_": below,
        "node_centers_": points,
        "node_labels_": labels,
        "cluster_centers_": points[leaves],
    }


@kernel("f8|f4[:,:]", "f8[:,:]", "i4[:]", "out f8[:]")
def squares_to_own(rows, centers, labels, squares):
    """Of each row to its centre, squared. rows (n, d), centers (k, d), labels, squares (n,)."""
    for i in range(len(rows)):
        squares[i] = squared_distance(rows[i], centers[labels[i]])
