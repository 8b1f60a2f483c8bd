"""Bisecting k-means: one group is split in two by k-means, again and again.

Of the groups so far the one with the largest sum of squares (or the most rows) is split, until
there are k. A new row goes down the tree of splits, at each to the nearer of the two centres.

References: Steinbach, Karypis and Kumar (2000). Texts: 001 18.2 describes k-means, its step.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.cluster.centers import STARTING_WORDS, CentrePredictor, given_centers, require_rows
from gnomon.cluster.sparse_rows import dense_rows, for_dense_kernels
from gnomon.cluster.starts import STARTS, SurveyedData
from gnomon.cluster.two_means import Halves, sparse_squares, squares_to_own, two_means
from gnomon.contract import Data
from gnomon.contract.inert import without_effect
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, at_least, meant, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import ArraySource, chunks_memory
from gnomon.engine.threads import one_blas_thread

# Rows drawn at once for one that differs from the first; where none does, all rows are compared.
DRAWS = 8
# Objectives that differ by a smaller share count as equal, whatever the rounding of their sums.
SAME_END = 1e-9


class Part(NamedTuple):
    """A group that may still be split.

    Attributes
    ----------
    node : int
    which : ndarray of int
        Its rows, ascending.
    ordered : ndarray of int
        The same in their canonical order.
    squares : ndarray
        Squared distance of each to the center of the node.
    weight, inertia : float
        Their weight and weighted sum of squares.
    """

    node: int
    which: np.ndarray
    ordered: np.ndarray
    squares: np.ndarray
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
        with one_blas_thread():
            self._split_all(data)

    def _split_all(self, data: Data) -> None:
        surveyed = SurveyedData.of(for_dense_kernels(data), self.n_jobs)
        rows, weights = Table.of(data, self.n_jobs), data.weight_array
        rng = self._rng()
        children, centers = [[-1, -1]], [surveyed.mean]
        parts, done = [rows.whole(surveyed, weights)], []
        course = self._course("split", self._most_steps())
        for _ in course:
            self._split_next(rows, weights, parts, done, children, centers, rng)
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

    def _split_next(self, rows, weights, parts, done, children, centers, rng) -> None:
        """Split the first part in order of importance that can be; the others before are done."""
        while parts:
            part = parts.pop(int(np.argmax([self._importance(each) for each in parts])))
            halves = self._halves(rows, weights, part, centers[part.node], rng)
            if halves is not None:
                children[part.node] = [len(centers), len(centers) + 1]
                children += [[-1, -1], [-1, -1]]
                parts += rows.halves_of(part, halves, weights, len(centers))
                centers += list(halves.points)
                return
            done.append(part)

    def _importance(self, part: Part) -> float:
        return part.weight if self.bisecting_strategy == "largest_cluster" else part.inertia

    def _halves(self, rows: Table, weights, part: Part, center, rng) -> Halves | None:
        """The best split of a part in two, of `n_init`; None where it cannot be split."""
        if len(part.which) < 2 or not part.squares.any():
            return None
        radii = np.sqrt(part.squares)
        variance = part.inertia / part.weight / rows.table.shape[1]
        best, least = None, np.inf
        for _ in range(self.n_init):
            points = self._first_two(rows, weights, part, rng)
            if points is None:
                continue
            halves = two_means(
                rows.table,
                part.which,
                weights,
                radii,
                center,
                points,
                self.max_iter,
                self.tol * variance,
                self.n_jobs,
            )
            inertia = np.inf if halves is None else float(weights[part.which] @ halves.squares)
            if inertia < least * (1 - SAME_END) or (best is None and halves is not None):
                best, least = halves, inertia
        return best

    def _first_two(self, rows: Table, weights, part: Part, rng) -> np.ndarray | None:
        """Where a split starts; None where all rows are equal."""
        init = meant(self, "init")
        if init == "random-rows":
            return rows.two_different(part, weights, rng)
        own = rows.table[part.which]
        if callable(init):
            seed = np.random.RandomState(int(rng.integers(2**31)))
            return given_centers(init(own, 2, random_state=seed), 2, own.shape[1])
        some = Data(ArraySource(own, None, weights[part.which]), rows.columns)
        return STARTS[init](SurveyedData.of(for_dense_kernels(some), self.n_jobs), 2, rng)

    def _label(self, parts: list[Part], data: Data) -> None:
        """Set the sum of squares and the labels."""
        labels = np.empty(data.n_rows, np.int32)
        for part in parts:
            labels[part.which] = self.node_labels_[part.node]
        self.inertia_ = float(sum(part.inertia for part in parts))
        if data.kept is None:
            self.labels_ = labels

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
        chunks = chunks_memory(n_rows, n_columns, self.n_jobs)
        return chunks + 8 * n_rows * (2 * n_columns + 16)

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


class Table:
    """The rows that are split in place, and which node each is in."""

    def __init__(self, table: Any, columns: Any, n_jobs: int | None):
        self.table, self.columns, self.n_jobs = table, columns, n_jobs
        self.sparse = sp.issparse(table)
        self.node = np.zeros(table.shape[0], np.int64)

    @classmethod
    def of(cls, data: Data, n_jobs: int | None) -> Table:
        rows = data.rows
        if sp.issparse(rows):
            return cls(sp.csr_array(rows, dtype=np.float64), data.columns, n_jobs)
        return cls(np.ascontiguousarray(rows), data.columns, n_jobs)

    def whole(self, data: SurveyedData, weights: np.ndarray) -> Part:
        """All rows as one part."""
        which = np.arange(data.n_rows)
        squares = self.squares_to(data.mean, which)
        inertia = float(weights @ squares)
        return Part(0, which, data.order, squares, float(weights.sum()), inertia)

    def squares_to(self, point: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Squared distance of some rows to a point."""
        sides = np.zeros(len(which), np.int32)
        if self.sparse:
            return sparse_squares(self.table[which], point[None], sides)
        squares = np.empty(len(which))
        squares_to_own(self.table, which, point[None], sides, squares)
        return squares

    def halves_of(self, part: Part, halves: Halves, weights: np.ndarray, first: int) -> list[Part]:
        """The two parts that a split makes, of the nodes `first` and the next."""
        self.node[part.which] = first + halves.sides
        nodes = self.node[part.ordered]
        made = []
        for side in (0, 1):
            chosen = halves.sides == side
            which, squares = part.which[chosen], halves.squares[chosen]
            heavy = weights[which]
            ordered = part.ordered[nodes == first + side]
            weight, inertia = float(heavy.sum()), float(heavy @ squares)
            made.append(Part(first + side, which, ordered, squares, weight, inertia))
        return made

    def two_different(self, part: Part, weights: np.ndarray, rng) -> np.ndarray | None:
        """Two different rows, drawn by weight along the canonical order."""
        draw = WeightedDraw(part.ordered).by(weights)
        [first] = self._points(draw(rng, 1))
        others = self._points(draw(rng, DRAWS))
        different = np.flatnonzero((others != first).any(axis=1))
        if len(different):
            return np.stack([first, others[different[0]]])
        away = np.flatnonzero(self.squares_to(first, part.ordered))
        if len(away) == 0:
            return None
        draw = WeightedDraw(part.ordered[away]).by(weights)
        return np.stack([first, *self._points(draw(rng, 1))])

    def _points(self, which: np.ndarray) -> np.ndarray:
        return dense_rows(self.table[which])
