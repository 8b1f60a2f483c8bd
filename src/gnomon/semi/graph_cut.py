"""Graph cuts: the labels that cut the least weight of edges between classes.

Minimizes  sum over edges of w_ij [y_i != y_j]  with given labels fixed: the minimum cut between the
labels of a class and all others, found as the maximum flow between them; several classes one
against the rest.

Texts: 003 2.9.1 (the heading only) · 004 17.1 (combinatorial optimization of labels).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from gnomon.engine.parameters import JOBS, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.semi.graph import GraphLabels, Points, neighbor_edges, reached_from

UNITS = 2**14  # whole units of the largest weight: flows are computed in 32-bit whole numbers


@method(
    task="classify",
    texts="003 2.9.1 · 004 17.1",
    use="Few labels of two classes and many unlabeled rows, a class border through thin regions.",
    avoid="Very few labels: the cheapest cut may separate the labels alone.",
    peers=("waffles graphcuttransducer",),
    synonyms=("min cut", "max flow", "transduction", "semi-supervised"),
)
class GraphCutClassifier(GraphLabels):
    """The division of all rows into classes that cuts the least weight of the graph.

    Minimizes ``sum_ij w_ij [y_i != y_j]`` with the given labels fixed, on a graph of nearest
    neighbors. For two classes this is the minimum cut, found as the maximum flow; for more, each
    class is cut from the rest and a row's classes share its probability. Use it for two classes
    whose border runs through thin regions. With very few labels the cheapest cut may separate the
    labeled rows alone: then take `PoissonLearning`.

    Unlabeled rows have a missing cell as target, or -1 where two other classes are left. Rows that
    no label reaches are unknown: their probabilities are equal, and ``transduction_`` marks them.
    Texts: 003 2.9.1, 004 17.1.

    Parameters
    ----------
    n_neighbors : int, default=10
        Edges of each different row.
    gamma : float, "local" or None, default="local"
        Weights of edges, as in `HarmonicLabelPropagation`.
    metric : str or callable, default="euclidean"
        Distance of rows, see `gnomon.neighbors.distance_of`.
    n_jobs : int or None, default=None
        Threads of the search of neighbors; the result does not depend on it.

    Attributes
    ----------
    X_ : ndarray or csr_array of shape (n_points, n_features)
        The different rows.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    cut_ : ndarray of shape (n_classes,)
        The weight that is cut around each class, in units of the largest weight.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Probabilities of the classes of every row.
    transduction_ : ndarray of shape (n_samples,)
        The class of every row; -1, "" or None where nothing is known.
    reached_ : ndarray of bool of shape (n_points,)
        Which points a label reaches.
    point_distributions_ : ndarray of shape (n_points, n_classes)
        Probabilities of the different rows.
    point_weights_ : ndarray of shape (n_points,)
        Their weights.
    place_ : ndarray of int of shape (n_samples,)
        The point of every row; -1 for rows of weight zero.
    index_ : NeighborIndex
        The points.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import GraphCutClassifier
    >>> rows = [[0.0], [1.0], [2.0], [5.0], [6.0], [7.0]]
    >>> model = GraphCutClassifier(n_neighbors=3).fit(rows, [0, None, 0, 1, None, 1])
    >>> model.transduction_.tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1)],
        "gamma": [above(0), StrOptions({"local"}), None],
        "metric": [str, callable],
        "n_jobs": JOBS,
    }
    _stored = {"cut_": Array("f8", ("n_classes",), low=0.0)}

    def __init__(self, n_neighbors=10, *, gamma="local", metric="euclidean", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.metric = metric
        self.n_jobs = n_jobs

    def _spread(self, points: Points) -> None:
        n_classes = points.n_classes
        self.cut_ = np.zeros(n_classes)
        sides = points.one_hot()
        reached = points.labeled.copy()
        if len(points.weights) > 1:
            near = self.index_.others(self._asked(len(points.weights)), self.n_jobs)
            edges = neighbor_edges(near, self.gamma)
            reached, _ = reached_from(edges, points.labeled)
            network = whole_weights(edges)
            for code in range(n_classes):
                if n_classes == 2 and code == 1:
                    sides[:, 1], self.cut_[1] = 1.0 - sides[:, 0], self.cut_[0]
                    break
                sides[:, code], cut = source_side(network, points.codes, code)
                self.cut_[code] = cut / UNITS
        sides[points.labeled] = points.one_hot()[points.labeled]
        self._keep(self._found(sides, reached))

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return super()._working_memory(n_rows, n_columns) + 100 * 2 * self.n_neighbors * n_rows


def whole_weights(edges: sp.csr_array) -> sp.csr_array:
    """Weights as whole numbers, the largest `UNITS`; none is rounded to zero."""
    largest = edges.data.max(initial=0.0) or 1.0
    values = np.maximum(np.rint(edges.data / largest * UNITS), 1).astype(np.int32)
    return sp.csr_array((values, edges.indices, edges.indptr), edges.shape)


def source_side(network: Any, codes: np.ndarray, code: int) -> tuple[np.ndarray, int]:
    """Which points are on the side of a class in the minimum cut from the other labels.

    Where several cuts have the same weight, half goes to points that some of them leave open: those
    that neither the source reaches nor the sink is reached from in the residual network.

    Parameters
    ----------
    network : csr_array of int32 of shape (n, n)
        Symmetric weights.
    codes : ndarray of int of shape (n,)
        Class codes; -1 without a label.
    code : int

    Returns
    -------
    side : ndarray of shape (n,)
        One on the side of the class, zero on the other, a half between.
    cut : int
        The weight of the cut.
    """
    n = len(codes)
    own, other = np.flatnonzero(codes == code), np.flatnonzero((codes >= 0) & (codes != code))
    if not len(other):
        return np.ones(n), 0
    entries = sp.coo_array(network)
    endless = np.int32(np.iinfo(np.int32).max)
    heads = np.concatenate([entries.row, np.full(len(own), n), other])
    tails = np.concatenate([entries.col, own, np.full(len(other), n + 1)])
    values = np.concatenate([entries.data, np.full(len(own) + len(other), endless)])
    capacities = sp.csr_array((values.astype(np.int32), (heads, tails)), shape=(n + 2, n + 2))
    flow = maximum_flow(capacities, n, n + 1)
    left = sp.csr_array(capacities.astype(np.int64) - flow.flow.astype(np.int64))
    left.data = np.maximum(left.data, 0)
    left.eliminate_zeros()
    from_source = breadth_first_order(left, n, return_predecessors=False)
    to_sink = breadth_first_order(sp.csr_array(left.T), n + 1, return_predecessors=False)
    side = np.full(n + 2, 0.5)
    side[to_sink] = 0.0
    side[from_source] = 1.0
    return side[:n], int(flow.flow_value)
