"""DBSCAN: groups are maximal sets of rows connected through dense neighbourhoods.

A row is *core* when its closed ball of radius eps holds at least min_samples rows (itself counted),
*border* when it is not core and lies in the ball of a core row, else *noise*. Core rows within eps
of each other share a cluster.

Texts: 001 19.1 and 22.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.any_metric import METRICS, Metric, known_distances
from gnomon.cluster.boxes import (
    DEEPEST,
    Boxes,
    BoxTree,
    box_tree,
    closest_pair,
    count_within,
    least_between,
    least_squared,
    most_squared,
    nearest_rows,
    squared_between,
    weights_within,
)
from gnomon.cluster.cells import Lattice, cores_of_cells, join_lattice, lattice, nearest_cores, top
from gnomon.cluster.distinct import RowsClusterer, numbered_by_first
from gnomon.cluster.intake import distance_table, number_rows
from gnomon.cluster.reach import Reach
from gnomon.cluster.sparse_rows import dense_rows, for_dense_kernels
from gnomon.cluster.starts import SurveyedData
from gnomon.contract import Data, Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.costs import boxes_pay, effective_columns
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, subkernel
from gnomon.engine.parameters import JOBS, StrOptions, above, at_least
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, Whole
from gnomon.engine.threads import in_order

CELLS_AT_ONCE = 4096  # 512 took 0.98 of the time (5,000 x 10)
CORE, BORDER, NOISE = "core", "border", "noise"


@method(
    task="group",
    texts="001 19.1, 22",
    use="Groups of any shape among noise, where dense regions are separated by thin ones.",
    avoid="Groups of very different density: no one eps fits them all; many columns.",
    peers=("sklearn.cluster.DBSCAN",),
)
@without_effect("algorithm", "leaf_size")
class DBSCAN(RowsClusterer):
    """Groups of any shape: rows connected through balls of radius eps that hold min_samples rows.

    A row is core when ``sum of weights in |x - y| <= eps`` is at least `min_samples`; core rows
    within eps of each other share a cluster; other rows within eps of a core row are its border;
    the rest is noise, labelled -1. Use it for groups of any shape among outliers, in few columns of
    one scale. Not where densities differ much between groups: too small an eps makes noise of the
    thin ones, too large a one joins the dense.

    The result is exact for every eps and the same for every order of rows. Memory is O(rows): no
    neighbourhood is ever stored. The time hardly depends on eps.

    Parameters
    ----------
    eps : float, default=0.5
        Radius of the balls.
    min_samples : float, default=5
        Weight of rows in a ball that makes its centre core; the centre counts.
    metric : str or callable, default="euclidean"
        A metric of scikit-learn's, or "precomputed" where X holds the distances (a sparse matrix:
        those that are known). Other than Euclidean distances, and sparse rows, take the memory of
        all pairs within eps.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    p : float or None, default=None
        Power of "minkowski"; None for 2.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    border : {"nearest", "first"}, default="nearest"
        A border row within reach of several clusters goes to that of its nearest core row, or to
        the first of them (scikit-learn's rule; the listing of 001 lets the last take it).
    rho : float, default=0
        Above 0: rho-approximate DBSCAN. Core rows within eps share a cluster, those beyond
        ``eps (1 + rho)`` are not joined directly, and between the two whatever is quicker holds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row, numbered by the canonical order of rows; -1 for noise.
    n_clusters_ : int
        Number of clusters.
    core_rows_ : ndarray of shape (n_core, n_columns)
        The distinct core rows.
    core_labels_ : ndarray of shape (n_core,)
        Their clusters.
    core_sample_indices_ : ndarray of int
        Which of the given rows are core rows.
    effective_metric_params_ : dict
        Arguments of the metric, with what it learnt from the rows where these are not given.
    components_ : ndarray or sparse matrix of shape (n_core_samples, n_columns)
        These rows.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    dbscan_on_distances : The same on a table of any distances.

    Notes
    -----
    Texts: 001 19.1 (the printed recursion lacks a test whether a row was visited and does not end)
    and 22 (exact DBSCAN on cells of diameter eps, joined by their closest pairs; rho-approximate
    DBSCAN with its sandwich guarantee: each cluster of eps lies within one found here, and each of
    these within one of eps (1 + rho)). The text's cells are those of a lattice of side
    eps / sqrt(d), and so are ours up to three columns; with more, or ``rho > 0``, a tree halves the
    rows until a node is at most eps across, which does the same: all rows of a cell with
    min_samples are core, two cells are joined when one pair of their core rows is within eps, and
    joined cells are not compared again. In many columns, where hardly a cell holds two rows, all
    pairs are compared by products of matrices (`gnomon.cluster.reach`).

    A new row gets the cluster of a core row within eps by the same rule, else -1.

    Examples
    --------
    >>> from gnomon.cluster import DBSCAN
    >>> rows = [[0.0], [1.0], [2.0], [3.5], [5.0], [6.0], [7.0], [20.0]]
    >>> DBSCAN(eps=1.5, min_samples=3).fit_predict(rows).tolist()
    [0, 0, 0, 0, 0, 0, 0, -1]
    """

    _parameter_constraints = {
        "eps": [at_least(0)],
        "min_samples": [above(0)],
        "metric": [StrOptions(METRICS), callable],
        "metric_params": [dict, None],
        "p": [at_least(0), None],
        "border": [StrOptions({"nearest", "first"})],
        "rho": [at_least(0)],
        "n_jobs": JOBS,
    }
    _largest = 1e140
    _keeps_rows = True

    natively = Takes(sparse=True)
    _stored = {
        "components_": Array("f", ("n_components", "n_columns"), sparse=True),
        "core_labels_": Array("i8", ("n_components",), low=0, below="n_clusters_"),
        "core_rows_": Array("f8", ("n_components", "n_columns"), sparse=True),
        "core_sample_indices_": Array("i8", ("n_components",), low=0),
        "effective_metric_params_": DictOf(Anything()),
        "n_clusters_": Whole(),
    }

    def __init__(
        self,
        eps=0.5,
        *,
        min_samples=5,
        metric="euclidean",
        metric_params=None,
        algorithm="auto",
        leaf_size=30,
        p=None,
        n_jobs=None,
        border="nearest",
        rho=0.0,
    ):
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs
        self.border = border
        self.rho = rho

    def _metric(self) -> Metric:
        params = getattr(self, "effective_metric_params_", self.metric_params)
        return Metric(self.metric, params, self.p)

    def _group(self, distinct: DistinctRows) -> np.ndarray:
        cells = lattice(distinct.rows, self.eps) if self.rho == 0 else None
        if cells is None and self.rho == 0 and compares_all(distinct.rows):
            core, group = self._of_all_pairs(distinct)
        elif cells is None:
            boxed = dense_cells(distinct, self.eps, self.min_samples, self.n_jobs)
            core, group = joined_cores(boxed, self.eps, self.rho)
        else:
            core, group = self._swept(cells, distinct.weights)
        labels = numbered_by_first(np.where(core, group, -1))
        self.core_rows_, self.core_labels_ = distinct.rows[core], labels[core]
        self.core_sample_indices_ = np.flatnonzero(core[distinct.places])
        self.n_clusters_ = int(labels.max()) + 1
        others = np.flatnonzero(~core)
        if len(others) == 0 or not core.any():
            return labels
        if cells is None or self.border == "first":
            labels[others] = self._reached(distinct.rows[others])
        else:
            reached = self._nearest_cores(cells, core)[others]
            labels[others] = np.where(reached >= 0, labels[reached], -1)
        return labels

    def _of_all_pairs(self, distinct: DistinctRows) -> tuple[np.ndarray, np.ndarray]:
        """Which rows are core, and the group of each core row, by products of matrices."""
        reach = Reach(distinct.rows, self.eps)
        core = reach.dense(distinct.weights, float(self.min_samples), self.n_jobs)
        group = np.zeros(len(core), np.int64)
        group[core] = (reach if core.all() else reach.of(core)).groups(self.n_jobs)
        return core, group

    def _fit(self, data: Data) -> None:
        params = dict(self.metric_params or {})
        if self.metric == "mahalanobis" and not params:
            params["VI"] = np.linalg.pinv(_covariance(data))
        elif self.metric == "seuclidean" and not params:
            params["V"] = np.diag(_covariance(data)).copy()
        self.effective_metric_params_ = params
        if self._metric().is_euclidean and not sp.issparse(data.rows):
            super()._fit(data)
        else:
            self._fit_any_metric(data)
        self.components_ = data.rows[self.core_sample_indices_]
        if data.kept is not None:  # indices of the given rows, also of those of weight zero
            given = np.flatnonzero(data.kept)
            self.core_sample_indices_ = given[self.core_sample_indices_]

    def _fit_any_metric(self, data: Data) -> None:
        """The same from the list of all pairs within eps."""
        if self.rho > 0:
            raise ValueError("rho > 0 needs dense rows and metric='euclidean'; leave rho at 0")
        near = self._metric().neighbors(data.rows, self.eps)
        n = near.shape[0]
        place = np.repeat(np.arange(n), np.diff(near.indptr))
        core = np.bincount(place, data.weight_array[near.indices], minlength=n) >= self.min_samples
        edges = core[place] & core[near.indices]
        joined = sp.coo_array((np.ones(edges.sum()), (place[edges], near.indices[edges])), (n, n))
        group = connected_components(joined, directed=False)[1]
        order = np.arange(n)
        if not self._metric().is_precomputed:
            order = SurveyedData.of(for_dense_kernels(data), self.n_jobs).order
        labels = np.empty(n, np.int64)
        labels[order] = numbered_by_first(np.where(core, group, -1)[order])
        self.core_sample_indices_ = np.flatnonzero(core)
        self.core_labels_ = labels[core]
        self.core_rows_ = data.rows[self.core_sample_indices_]
        self.n_clusters_ = int(labels.max(initial=-1)) + 1
        reach = ~core[place] & core[near.indices]
        rank = near.data if self.border == "nearest" else labels[near.indices]
        pairs = np.flatnonzero(reach)
        pairs = pairs[np.lexsort((labels[near.indices[pairs]], rank[pairs], place[pairs]))]
        border, first = np.unique(place[pairs], return_index=True)
        labels[border] = labels[near.indices[pairs[first]]]
        if data.kept is None:
            self.labels_ = labels

    def _by_distances(self, rows) -> np.ndarray:
        """The cluster of a core row within eps of each row, by any metric."""
        labels = np.full(rows.shape[0], -1, np.int64)
        if len(self.core_labels_) == 0:
            return labels
        metric = self._metric()
        if metric.is_precomputed:
            table = known_distances(rows) if sp.issparse(rows) else rows
            away = table[:, self.core_sample_indices_]
        else:
            away = metric.between(rows, self.components_)
        if self.border == "first":
            known = self.labels_of_components()
            reached = np.where(away <= self.eps, known, self.n_clusters_).min(axis=1)
            return np.where(reached < self.n_clusters_, reached, -1)
        best = away.argmin(axis=1)
        near = away[np.arange(len(best)), best] <= self.eps
        labels[near] = self.labels_of_components()[best[near]]
        return labels

    def labels_of_components(self) -> np.ndarray:
        """The cluster of each of ``components_``.

        Returns
        -------
        labels : ndarray of shape (n_core_samples,)
        """
        check_is_fitted(self)
        if len(self.core_labels_) == len(self.core_sample_indices_) and not self._has_tree():
            return self.core_labels_
        return self._labels_in_reach()(dense_rows(self.components_))

    def _has_tree(self) -> bool:
        return self._metric().is_euclidean and not sp.issparse(self.core_rows_)

    def _swept(self, cells: Lattice, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which rows of the table are core, and the group of each row's cell, on a lattice."""
        n = len(cells.rows)
        columns, weights = cells.columns(), weights[cells.order]
        before = np.concatenate([[0.0], np.cumsum(weights)])
        swept, above = np.zeros(n, dtype=np.bool_), np.arange(len(cells.grid.keys))
        enough = float(self.min_samples)

        def find(some: tuple[int, int]) -> None:
            counted = columns, weights, before
            cores_of_cells(*some, *counted, cells.grid, square(self.eps), enough, swept)

        for _ in in_order(find, cells.stretches_of_work(), self.n_jobs, short=True):
            pass
        join_lattice(cells.rows, swept, cells.grid, square(self.eps), above)
        core, group = np.empty(n, dtype=bool), np.empty(n, np.int64)
        core[cells.order] = swept
        group[cells.order] = np.repeat(above, np.diff(cells.grid.start))
        return core, group

    def _nearest_cores(self, cells: Lattice, core: np.ndarray) -> np.ndarray:
        """The nearest core row within eps of each row, by its place in the table, or -1."""
        swept, found = core[cells.order], np.empty(len(core), np.int64)

        def find(some: tuple[int, int]) -> None:
            rows = cells.rows, cells.order, swept
            nearest_cores(*some, *rows, cells.grid, square(self.eps), found)

        for _ in in_order(find, cells.stretches_of_work(), self.n_jobs, short=True):
            pass
        nearest = np.empty(len(core), np.int64)
        nearest[cells.order] = np.where(found >= 0, cells.order[found], -1)
        return nearest

    def predict(self, X) -> np.ndarray:
        """The cluster of a core row within eps of each row, or -1.

        A tree over the core rows is built at each call; give many rows at once.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if not self._has_tree():
            return self._each_block(self._by_distances, X)
        labels = self._labels_in_reach()
        return self._each_block(lambda rows: labels(dense_rows(rows)), X)

    def kinds(self, X) -> np.ndarray:
        """Of each row whether it is "core", "border" or "noise"; of new rows, as what they lie at.

        A row that equals a core row is core.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        kinds : ndarray of str of shape (n_samples,)
        """
        labels = self.predict(X)
        kinds = np.where(labels >= 0, BORDER, NOISE)
        self._require_tree("kinds")
        if len(self.core_rows_):
            found = nearest_in_reach(self.core_rows_, 0.0)
            kinds[self._each_block(lambda rows: found(rows) >= 0, X)] = CORE
        return kinds

    def memberships(self, X) -> np.ndarray:
        """All clusters that have a core row within eps of each row: overlapping groups.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        member : ndarray of bool of shape (n_samples, n_clusters)
        """

        def of_block(rows: np.ndarray) -> np.ndarray:
            member = np.zeros((len(rows), self.n_clusters_), dtype=bool)
            for cluster, found in enumerate(finders):
                member[:, cluster] = found(rows) >= 0
            return member

        check_is_fitted(self)
        self._require_tree("memberships")
        groups = [self.core_rows_[self.core_labels_ == c] for c in range(self.n_clusters_)]
        finders = [nearest_in_reach(rows, self.eps) for rows in groups]
        return self._each_block(of_block, X)

    def _require_tree(self, what: str) -> None:
        if not self._has_tree():
            raise ValueError(f"{what} needs dense rows and metric='euclidean'")

    def _reached(self, rows: np.ndarray) -> np.ndarray:
        labels = self._labels_in_reach()
        starts = range(0, len(rows), CELLS_AT_ONCE)
        parts = in_order(
            lambda start: labels(rows[start : start + CELLS_AT_ONCE]),
            starts,
            self.n_jobs,
            short=True,
        )
        return np.concatenate(list(parts))

    def _labels_in_reach(self) -> Callable[[np.ndarray], np.ndarray]:
        """A function of rows: the cluster of a core row within eps of each, or -1."""
        if len(self.core_rows_) == 0:
            return lambda rows: np.full(len(rows), -1, np.int64)
        if self.border == "first":
            tree = box_tree(self.core_rows_)
            numbers = self.core_labels_[tree.order].astype(np.int64)

            def least(rows: np.ndarray) -> np.ndarray:
                labels = np.empty(len(rows), np.int64)
                least_labels(rows, tree.rows, tree.boxes, numbers, square(self.eps), labels)
                return labels

            return least
        found = nearest_in_reach(self.core_rows_, self.eps)

        def nearest(rows: np.ndarray) -> np.ndarray:
            near = found(rows)
            return np.where(near >= 0, self.core_labels_[near], -1)

        return nearest

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        tree = 8 * n_rows * (2 * n_columns + 20)
        return tree + self._distinct_memory(n_rows, n_columns)

    def _check_loaded(self) -> None:
        if hasattr(self, "core_rows_"):
            if not sp.issparse(self.core_rows_) and not self._metric().is_precomputed:
                self._check_points("core_rows_")
            self._check_numbers("core_labels_", self.core_rows_.shape[0], 0, self.n_clusters_)
            if not 0 <= self.n_clusters_ <= self.core_rows_.shape[0]:
                raise ValueError("there are more clusters than core rows")


def _covariance(data: Data) -> np.ndarray:
    """Covariance of the rows, each counted by its weight."""
    weights = data.weight_array
    away = data.rows - weights @ data.rows / weights.sum()
    return (away * weights[:, None]).T @ away / max(weights.sum() - 1.0, 1.0)


def square(length: float) -> float:
    """A length squared; infinite where it overflows."""
    return float(length) * float(length)


def compares_all(rows: np.ndarray) -> bool:
    """Whether all pairs are compared by products of matrices, since boxes would leave out few."""
    return not boxes_pay(len(rows), effective_columns(rows))


def nearest_in_reach(rows: np.ndarray, eps: float) -> Callable[[np.ndarray], np.ndarray]:
    """A function of points: the nearest of the rows within eps of each, of equals the first; -1."""
    if compares_all(rows):
        return Reach(rows, eps).nearest
    tree = box_tree(rows)

    def found(points: np.ndarray) -> np.ndarray:
        places, distances = np.empty(len(points), np.int64), np.empty(len(points))
        nearest_rows(points, *tree, square(eps), places, distances)
        return places

    return found


class Cells(NamedTuple):
    """Rows in cells of diameter eps, and which are core, in the order of the tree.

    Attributes
    ----------
    tree : BoxTree
    nodes : ndarray of shape (n_cells,)
        The node of each cell, in the order of rows.
    cell_of : ndarray of shape (n_nodes,)
        The cell that a node is, or -1.
    cores_before : ndarray of shape (n + 1,)
        Number of core rows before each row.
    """

    tree: BoxTree
    nodes: np.ndarray
    cell_of: np.ndarray
    cores_before: np.ndarray


def dense_cells(
    distinct: DistinctRows, eps: float, min_samples: float, n_jobs: int | None
) -> Cells:
    """Cut the rows in cells of diameter eps and find the core rows."""
    tree = box_tree(distinct.rows, eps)
    nodes, cell_of = (
        np.empty(len(distinct.rows), np.int64),
        np.empty(len(tree.boxes.start), np.int64),
    )
    nodes = nodes[: mark_cells(square(eps), tree.boxes, nodes, cell_of)].copy()
    nodes = nodes[np.argsort(tree.boxes.start[nodes])]
    cell_of[nodes] = np.arange(len(nodes))
    before = np.concatenate([[0.0], np.cumsum(distinct.weights[tree.order])])
    core = np.zeros(len(distinct.rows), dtype=np.bool_)

    def find(start: int) -> None:
        some = nodes[start : start + CELLS_AT_ONCE]
        find_cores(some, tree.rows, before, tree.boxes, square(eps), float(min_samples), core)

    for _ in in_order(find, range(0, len(nodes), CELLS_AT_ONCE), n_jobs, short=True):
        pass
    return Cells(tree, nodes, cell_of, np.concatenate([[0], np.cumsum(core)]))


def joined_cores(cells: Cells, eps: float, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of the table are core, and the group of each row's cell."""
    tree = cells.tree
    above = np.arange(len(cells.nodes))
    lax = square(eps * (1.0 + rho))
    join_cells(
        cells.nodes,
        cells.cell_of,
        cells.cores_before,
        tree.rows,
        tree.boxes,
        square(eps),
        lax,
        above,
    )
    core, group = np.empty(len(tree.rows), dtype=bool), np.empty(len(tree.rows), np.int64)
    core[tree.order] = np.diff(cells.cores_before) > 0
    group[tree.order] = np.repeat(
        above, tree.boxes.stop[cells.nodes] - tree.boxes.start[cells.nodes]
    )
    return core, group


@kernel("f8", Boxes, "out i8[:]", "out i8[:]")
def mark_cells(squared, boxes, nodes, cell_of):
    """The highest nodes that are at most eps across; returns how many. nodes (n,), cell_of (m,)."""
    count = 0
    inside = np.zeros(len(boxes.start), np.bool_)
    for node in range(len(boxes.start)):
        cell_of[node] = -1
        if not inside[node]:
            across = 0.0
            for j in range(boxes.low.shape[1]):
                side = boxes.high[node, j] - boxes.low[node, j]
                across += side * side
            if across <= squared or boxes.child[node] < 0:
                nodes[count] = node
                cell_of[node] = count
                count += 1
                inside[node] = True
        if boxes.child[node] >= 0:
            inside[boxes.child[node]] = inside[node]
            inside[boxes.child[node] + 1] = inside[node]
    return count


@kernel("i8[:]", "f8[:,:]", "f8[:]", Boxes, "f8", "f8", "out b1[:]")
def find_cores(nodes, rows, before, boxes, squared, enough, core):
    """Mark the core rows of some cells. rows (n, d), before (n + 1,), core (n,)."""
    stack = np.empty(DEEPEST, np.int64)
    for node in nodes:
        dense = before[boxes.stop[node]] - before[boxes.start[node]] >= enough
        for i in range(boxes.start[node], boxes.stop[node]):
            core[i] = dense or (
                count_within(
                    rows[i],
                    rows,
                    before,
                    boxes,
                    squared,
                    squared,
                    enough,
                    stack,
                )
                >= enough
            )


@subkernel
def core_in_reach(point, root, cores_before, rows, boxes, squared, lax_squared, stack):
    """Whether a core row of a node is within reach of a point."""
    stack[0], waiting = root, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if cores_before[boxes.stop[node]] == cores_before[boxes.start[node]]:
            continue
        if least_squared(point, boxes.low[node], boxes.high[node]) > squared:
            continue
        if most_squared(point, boxes.low[node], boxes.high[node]) <= lax_squared:
            return True
        if boxes.child[node] >= 0:
            stack[waiting], stack[waiting + 1] = boxes.child[node], boxes.child[node] + 1
            waiting += 2
            continue
        for i in range(boxes.start[node], boxes.stop[node]):
            is_core = cores_before[i + 1] > cores_before[i]
            if is_core and squared_between(point, rows[i]) <= squared:
                return True
    return False


@kernel("i8[:]", "i8[:]", "i8[:]", "f8[:,:]", Boxes, "f8", "f8", "out i8[:]")
def join_cells(nodes, cell_of, cores_before, rows, boxes, squared, lax_squared, above):
    """Join cells that have core rows within reach of each other.

    At the end above (n_cells,) holds for each cell the one that stands for its group.
    """
    start, stop, child, low, high = boxes
    stack, inner = np.empty(DEEPEST, np.int64), np.empty(DEEPEST, np.int64)
    for cell in range(len(nodes)):
        own = nodes[cell]
        if cores_before[stop[own]] == cores_before[start[own]]:
            continue
        stack[0], waiting = 0, 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if stop[node] <= stop[own] or cores_before[stop[node]] == cores_before[start[node]]:
                continue
            if least_between(low[own], high[own], low[node], high[node]) > squared:
                continue
            other = cell_of[node]
            if other < 0:
                stack[waiting], stack[waiting + 1] = child[node], child[node] + 1
                waiting += 2
                continue
            one, two = top(above, cell), top(above, other)
            if one == two:
                continue
            few, many = own, node
            if stop[own] - start[own] > stop[node] - start[node]:
                few, many = node, own
            for i in range(start[few], stop[few]):
                if cores_before[i + 1] == cores_before[i]:
                    continue
                if core_in_reach(
                    rows[i], many, cores_before, rows, boxes, squared, lax_squared, inner
                ):
                    above[max(one, two)] = min(one, two)
                    break
    for cell in range(len(nodes)):
        above[cell] = top(above, cell)


@kernel("f8[:,:]", "f8[:,:]", Boxes, "i8[:]", "f8", "out i8[:]")
def least_labels(points, rows, boxes, numbers, squared, labels):
    """The smallest of the numbers of rows within reach of each point, or -1. numbers (n,)."""
    stack = np.empty(DEEPEST, np.int64)
    for p in range(len(points)):
        labels[p] = -1
        stack[0], waiting = 0, 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if least_squared(points[p], boxes.low[node], boxes.high[node]) > squared:
                continue
            if boxes.child[node] >= 0:
                stack[waiting], stack[waiting + 1] = boxes.child[node], boxes.child[node] + 1
                waiting += 2
                continue
            for i in range(boxes.start[node], boxes.stop[node]):
                if labels[p] >= 0 and numbers[i] >= labels[p]:
                    continue
                if squared_between(points[p], rows[i]) <= squared:
                    labels[p] = numbers[i]


class DistanceClusters(NamedTuple):
    """DBSCAN of a table of distances.

    Attributes
    ----------
    labels : ndarray of int
        -1 for noise; a border item is in the first cluster that reaches it.
    core : ndarray of bool
    """

    labels: np.ndarray
    core: np.ndarray


def dbscan_on_distances(distances: Any, eps: float, min_samples: float = 5) -> DistanceClusters:
    """DBSCAN of items of which only distances are known, by its definition (001 19.1).

    Parameters
    ----------
    distances : array-like of shape (n, n)
    eps : float
    min_samples : float, default=5
        Items within eps, itself counted, that make an item core.

    Returns
    -------
    clusters : DistanceClusters

    Examples
    --------
    >>> dbscan_on_distances([[0, 1, 5], [1, 0, 5], [5, 5, 0]], 1.0, 2).labels.tolist()
    [0, 0, -1]
    """
    near = distance_table(distances) <= eps
    core = near.sum(axis=1) >= min_samples
    labels = np.full(len(near), -1)
    clusters = 0
    for seed in np.flatnonzero(core):
        if labels[seed] >= 0:
            continue
        waiting = [int(seed)]
        while waiting:
            item = waiting.pop()
            if labels[item] >= 0:
                continue
            labels[item] = clusters
            if core[item]:
                waiting += np.flatnonzero(near[item] & (labels < 0)).tolist()
        clusters += 1
    return DistanceClusters(labels, core)


def approximate_range_count(X: Any, points: Any, eps: float, rho: float = 0.01) -> np.ndarray:
    """Rows near each point: a count between those within eps and within eps (1 + rho) (001 22.4).

    A box wholly within eps (1 + rho) is counted at once, so that the time does not depend on how
    many rows there are in it. ``rho=0`` counts exactly.

    Parameters
    ----------
    X : array-like of shape (n, d)
    points : array-like of shape (m, d)
    eps : float
    rho : float, default=0.01

    Returns
    -------
    counts : ndarray of int of shape (m,)

    Examples
    --------
    >>> approximate_range_count([[0.0], [1.0], [3.0]], [[0.0]], 1.0, rho=0.1).tolist()
    [2]
    """
    rows, points = number_rows(X), number_rows(points, "points")
    if rows.shape[1] != points.shape[1]:
        raise DataError(f"rows have {rows.shape[1]} columns and points {points.shape[1]}")
    if not eps >= 0 or not rho >= 0:
        raise DataError(f"eps={eps} and rho={rho} must not be negative")
    tree = box_tree(rows, eps * rho)
    before = np.arange(len(rows) + 1, dtype=np.float64)
    counts = np.empty(len(points))
    lax = square(eps * (1.0 + rho))
    weights_within(points, tree.rows, before, tree.boxes, square(eps), lax, counts)
    return counts.astype(np.int64)


class ClosestPair(NamedTuple):
    """A pair of rows of two sets.

    Attributes
    ----------
    first, second : int
        Their places.
    distance : float
    """

    first: int
    second: int
    distance: float


def bichromatic_closest_pair(first: Any, second: Any, within: float = 0.0) -> ClosestPair:
    """The closest pair of a row of one set and a row of another (001 22.2).

    Parameters
    ----------
    first, second : array-like of shape (n_1, d) and (n_2, d)
    within : float, default=0
        Ends at the first pair found that is so near; it need not be the closest then.

    Returns
    -------
    pair : ClosestPair

    Examples
    --------
    >>> bichromatic_closest_pair([[0.0], [4.0]], [[9.0], [5.5]])
    ClosestPair(first=1, second=1, distance=1.5)
    """
    points, rows = number_rows(first, "first"), number_rows(second, "second")
    if rows.shape[1] != points.shape[1]:
        raise DataError(f"the sets have {points.shape[1]} and {rows.shape[1]} columns")
    tree = box_tree(rows)
    pair, distance = np.zeros(2, np.int64), np.zeros(1)
    closest_pair(points, tree.rows, tree.order, tree.boxes, square(within), pair, distance)
    return ClosestPair(int(pair[0]), int(pair[1]), float(distance[0]))


def any_point_covered(points: Any, centers: Any, radius: float) -> bool:
    """Whether a point lies in a ball of one radius round a centre, by reduction to DBSCAN.

    Unit-spherical emptiness checking (001 22.2, lemmas 3 and 4): with min_samples=1 every row is
    core, so a cluster of points and centres holds both kinds exactly where some point and some
    centre are within the radius. It shows that DBSCAN is as hard as that problem; to compute it,
    `bichromatic_closest_pair` is the plain way.

    Parameters
    ----------
    points, centers : array-like of shape (n, d) and (m, d)
    radius : float

    Returns
    -------
    covered : bool

    Examples
    --------
    >>> any_point_covered([[0.0], [3.0]], [[4.5]], 1.0), any_point_covered([[0.0]], [[0.5]], 1.0)
    (False, True)
    """
    points, centers = number_rows(points, "points"), number_rows(centers, "centers")
    labels = DBSCAN(radius, min_samples=1).fit_predict(np.vstack([points, centers]))
    return bool(np.isin(labels[: len(points)], labels[len(points) :]).any())
