"""Isomap: a map that keeps distances along the sheet on which rows lie.

Neighbours are joined to a graph; distances are lengths of shortest paths in it; the map is that of
principal coordinates,  -1/2 A D^2 A = U S U'.

Texts: 003 2.7.4.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn import manifold
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import SEED, Interval, StrOptions, above, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object, Optional
from gnomon.engine.threads import in_order, resolve_jobs
from gnomon.neighbors.index import Neighbors
from gnomon.reduce.falls_back import FallsBack, is_euclidean
from gnomon.reduce.float32 import KeepsFloat32
from gnomon.reduce.path_kernels import places_by_paths, shortest_paths
from gnomon.reduce.rows_map import GraphMap, Part, weighted_pairs
from gnomon.reduce.spectrum import ROWS_OF_EIGH, leading_of

SOURCES_TOGETHER = 64  # 16 to 256 took the same time within 1% (1,200 x 10)
# Judgement: the paths of 4,000 rows take 128 MB; `n_landmarks` sets both.
MOST_ALL = 4000
USUAL_LANDMARKS = 500


@method(
    task="reduce",
    texts="003 2.7.4",
    use="Rows on one smooth curved sheet, to be unrolled.",
    avoid="Noise that makes short cuts between folds; sheets with holes; several sheets.",
    peers=("sklearn.manifold.Isomap",),
)
@without_effect("eigen_solver", "tol", "max_iter", "path_method", "neighbors_algorithm")
class Isomap(KeepsFloat32, FallsBack, GraphMap):
    """A map that keeps distances along the sheet on which rows lie.

    Neighbours are joined to a graph, distances are lengths of shortest paths in it, and the map is
    that of `principal_coordinates`: ``-1/2 A D^2 A = U S U'``. Use it for rows on one smooth curved
    sheet. Not where noise makes short cuts between folds (fewer neighbours help).

    Of many rows all pairs of paths are too many: paths then lead from some rows, the landmarks,
    which are mapped as above, and every other row is placed by its paths to them (de Silva and
    Tenenbaum); with all rows as landmarks both are the same. Equal rows are one point that counts
    by their weight.

    Texts: 003 2.7.4 (the heading only).

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Neighbors of a row among the different rows; None with ``radius``.
    radius : float or None, default=None
        Distance within which rows are neighbors, instead of a number of them.
    n_components : int, default=2
        Less than the number of different rows.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    metric : str or callable, default="minkowski"
        Distance, as in scikit-learn; "precomputed" for a matrix of distances or a sparse graph.
    p : float, default=2
        Of "minkowski".
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_landmarks : int, "auto" or "all", default="auto"
        Rows that paths lead from; "auto": all of up to 4,000 different rows, and beyond that 500
        drawn at random, which a warning says.
    disconnected : {"apart", "join", "refuse"}, default="join"
        What to do when the graph falls into parts that nothing joins: map each for itself and lay
        them side by side, join them by their nearest rows, or refuse. The first two warn.
    random_state : int, RandomState instance or None, default=None
        The draw of landmarks.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    places_ : ndarray of shape (n_distinct, n_components)
        The places of the different rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Sums of squares along the axes; of the largest part, where there are several.
    n_parts_ : int
        Parts of the graph of neighbours.
    part_ : ndarray of shape (n_distinct,)
        The part of each different row; all 0 where parts were joined.
    landmarks_ : ndarray of shape (n_landmarks,)
        Which of the different rows paths lead from.
    paths_ : ndarray of shape (n_distinct, n_landmarks)
        Lengths of paths, infinite between parts.
    mean_squares_ : ndarray of shape (n_landmarks,)
        Mean squared path of each landmark to those of its part; with ``axes_`` it places new rows.
    axes_ : ndarray of shape (n_landmarks, n_components)
        Weights of the landmarks in each coordinate of a new row.
    shifts_ : ndarray of shape (n_parts, n_components)
        Where the parts were laid.
    point_ : ndarray of shape (n_samples,)
        Which of the different rows each row is; absent where some rows were not needed.
    n_neighbors_ : int
        Neighbours that were taken: fewer where fewer rows differ.
    index_ : NeighbourIndex
        The different rows.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Lengths of paths between all rows; only where every row is a landmark.
    peer_ : sklearn.manifold.Isomap
        Only where scikit-learn's class computed the map (``radius``, other metrics, sparse rows);
        its attributes ``nbrs_`` and ``kernel_pca_`` are then here too.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import Isomap
    >>> t = np.linspace(0, 3 * np.pi / 2, 60)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> along = Isomap(n_components=1, n_neighbors=2).fit_transform(circle)[:, 0]
    >>> abs(round(float(np.corrcoef(along, t)[0, 1]), 3))
    1.0
    """

    _parameter_constraints = {
        "n_neighbors": [whole(1), None],
        "radius": [Interval(Real, 0, None, closed="both"), None],
        "n_components": [whole(1)],
        "n_jobs": [None, Integral],
        "metric": [str, callable],
        "p": [above(0)],
        "metric_params": [dict, None],
        "n_landmarks": [whole(3), StrOptions({"auto", "all"})],
        "disconnected": [StrOptions({"apart", "join", "refuse"})],
        "random_state": SEED,
    }
    _stored = {
        "axes_": Optional(Array("f8", ("n_axes", "n_components"))),
        "eigenvalues_": Optional(Array("f8", ("n_components",))),
        "kernel_pca_": Optional(Object()),
        "landmarks_": Optional(Array("i8", ("n_axes",), low=0)),
        "mean_squares_": Optional(Array("f8", ("n_axes",))),
        "paths_": Optional(Array("f8", ("n_axes", "n_axes"), finite=False)),
        "shifts_": Optional(Array("f8", (None, "n_components"))),
    }

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=None,
        n_components=2,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        path_method="auto",
        neighbors_algorithm="auto",
        n_jobs=None,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_landmarks="auto",
        disconnected="join",
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_landmarks = n_landmarks
        self.disconnected = disconnected
        self.random_state = random_state
        self.n_jobs = n_jobs

    natively = Takes(sparse=True)
    _peer = manifold.Isomap
    _densifies = True
    _of_rows_dtype = ("embedding_",)

    def _is_own(self, X):
        return (
            self.radius is None
            and self.n_neighbors is not None
            and is_euclidean(self.metric, self.p, self.metric_params)
        )

    def _most_steps(self) -> int:
        return 0

    @property
    def dist_matrix_(self) -> np.ndarray:
        """Lengths of paths between all rows; only where every row is a landmark."""
        check_is_fitted(self)
        if "peer_" in vars(self):
            return self.peer_.dist_matrix_
        if len(self.landmarks_) != self.index_.n_rows:
            raise AttributeError("dist_matrix_ is known only with n_landmarks='all'")
        order = np.argsort(self.landmarks_)
        return self.paths_[:, order][np.ix_(self.point_, self.point_)]

    def reconstruction_error(self) -> float:
        """The Frobenius norm of what the map leaves of the centered squared paths, over n.

        Returns
        -------
        error : float
        """
        check_is_fitted(self)
        if "peer_" in vars(self):
            return self.peer_.reconstruction_error()
        squares = -0.5 * self.dist_matrix_**2
        means = squares.mean(axis=0)
        centered = squares - means - means[:, np.newaxis] + means.mean()
        left = (centered**2).sum() - (self.eigenvalues_**2).sum()
        return float(np.sqrt(max(left, 0.0)) / len(squares))

    def _begin(self, distinct: DistinctRows, found: Neighbors, n_parts: int) -> None:
        n = len(distinct.rows)
        self._marked = np.ones(n, dtype=bool)
        wanted = self._wanted_landmarks(n)
        if wanted < n:
            self._marked[:] = False
            self._marked[self._rng().choice(n, wanted, replace=False)] = True
            warnings.warn(
                f"Isomap measured paths from {wanted:,} of {n:,} different rows, drawn at random, "
                "and placed the others by these; n_landmarks='all' takes all",
                GnomonWarning,
                stacklevel=2,
            )
        self._kept: list[tuple] = []

    def _wanted_landmarks(self, n: int) -> int:
        if self.n_landmarks == "auto":
            return n if n <= MOST_ALL else USUAL_LANDMARKS
        return n if self.n_landmarks == "all" else min(self.n_landmarks, n)

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        try:
            places = super()._place(distinct)
            self._gather(len(distinct.rows), places)
        finally:
            self.__dict__.pop("_marked", None)
            self.__dict__.pop("_kept", None)
        return places

    def _place_part(self, distinct: DistinctRows, part: Part) -> np.ndarray:
        marks = np.flatnonzero(self._marked[part.members])
        fewest = min(self.n_components + 1, len(part.members))
        if len(marks) < fewest:  # a small part of which too few were drawn
            marks = np.arange(len(part.members))[:: max(len(part.members) // (2 * fewest), 1)]
        paths = self._paths(part.graph, marks)
        weights = distinct.weights[part.members][marks]
        squares = paths**2 if len(marks) == len(part.members) else paths[:, marks] ** 2
        means = squares @ weights / weights.sum()
        k = min(self.n_components, len(marks) - 1)
        values, functions = coordinates_of_squares(squares, means, weights, k)
        del squares
        values = np.maximum(values, 0.0)
        # a direction without variance has no coordinate
        safe = np.where(values > 1e-12 * max(values[0], np.finfo(float).tiny), values, np.inf)
        axes = weights[:, np.newaxis] * functions / np.sqrt(safe)
        self._kept.append((part.members, part.members[marks], paths, means, axes, values))
        if len(marks) == len(part.members):
            return functions * np.sqrt(np.where(np.isfinite(safe), safe, 0.0))
        return -0.5 * (paths**2 - means[:, np.newaxis]).T @ axes

    def _paths(self, graph, marks: np.ndarray) -> np.ndarray:
        lengths = np.empty((len(marks), graph.shape[0]))
        starts, columns = (each.astype(np.int64) for each in (graph.indptr, graph.indices))
        values = np.ascontiguousarray(graph.data)

        def some(start):
            mine = slice(start, start + SOURCES_TOGETHER)
            shortest_paths(starts, columns, values, marks[mine], lengths[mine])

        for _ in in_order(some, range(0, len(marks), SOURCES_TOGETHER), self.n_jobs):
            pass
        return lengths

    def _gather(self, n: int, places: np.ndarray) -> None:
        """What new rows need, of all parts together."""
        self.landmarks_ = np.concatenate([each[1] for each in self._kept])
        count = len(self.landmarks_)
        self.mean_squares_ = np.concatenate([each[3] for each in self._kept])
        self.axes_ = np.zeros((count, self.n_components))
        self.shifts_ = np.zeros((len(self._kept), self.n_components))
        largest = max(self._kept, key=lambda each: len(each[0]))
        self.eigenvalues_ = largest[5]
        if len(self._kept) == 1:
            # from all rows to all rows the table is its own transpose
            whole = largest[2].shape[0] == largest[2].shape[1]
            self.paths_ = largest[2] if whole else np.ascontiguousarray(largest[2].T)
            self.axes_[:, : largest[4].shape[1]] = largest[4]
            return
        self.paths_ = np.full((n, count), np.inf)
        start = 0
        for number, (members, marks, paths, means, axes, _) in enumerate(self._kept):
            stop = start + len(marks)
            self.paths_[np.ix_(members, np.arange(start, stop))] = paths.T
            self.axes_[start:stop, : axes.shape[1]] = axes
            own = -0.5 * (paths[:, 0] ** 2 - means) @ axes
            self.shifts_[number] = places[members[0]]
            self.shifts_[number, : axes.shape[1]] -= own
            start = stop

    def _place_new(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        near = np.where(self._near_parts(found), found.indices, -1)
        places = np.empty((len(rows), self.n_components))
        places_by_paths(
            np.ascontiguousarray(found.distances),
            np.ascontiguousarray(near),
            self.paths_,
            self.mean_squares_,
            self.axes_,
            places,
        )
        return places + self.shifts_[self.part_[found.indices[:, 0]]]

    def _working_memory(self, n_rows, n_columns):
        marks = self._wanted_landmarks(n_rows)
        threads = resolve_jobs(self.n_jobs)
        heaps = 32 * n_rows * (self.n_neighbors or n_rows) * (threads + 3)
        tables = 8 * (2 * n_rows * marks + marks * marks)
        return tables + heaps + self._rows_memory(n_rows, n_columns)

    def _memory_remedy(self):
        return "Ask for fewer n_landmarks, or map fewer rows."

    def _check_loaded(self):
        super()._check_loaded()
        if hasattr(self, "paths_"):
            shape = (self.index_.n_rows, len(self.landmarks_))
            fits = self.paths_.shape == shape and self.axes_.shape[0] == shape[1]
            if not fits or self.mean_squares_.shape != shape[1:]:
                raise ValueError("paths_, axes_ and mean_squares_ do not fit together")
            if self.part_.shape != shape[:1] or self.part_.min() < 0:
                raise ValueError("part_ does not fit the rows")
            if self.part_.max() >= len(self.shifts_):
                raise ValueError("part_ and shifts_ do not fit together")


def coordinates_of_squares(squares, means, weights: np.ndarray, k: int):
    """Leading values and functions of -1/2 J D^2 J', J = I - 1 w' / sum w, with weights w.

    The table is overwritten where it is small; a large one is centred by centring the vectors that
    it is multiplied by, so that it is read once for each product and never written.
    """
    total = weights.sum()
    if len(squares) <= ROWS_OF_EIGH or 4 * k > len(squares):
        squares -= means
        squares -= means[:, np.newaxis]
        squares += means @ weights / total
        squares *= -0.5
        return weighted_pairs(squares, weights, k)
    roots = np.sqrt(weights)

    def product(vector: np.ndarray) -> np.ndarray:
        spread = roots * vector.ravel()
        image = squares @ (spread - weights * (spread.sum() / total))
        return -0.5 * roots * (image - weights @ image / total)

    values, vectors = leading_of(product, len(squares), k)
    return values, vectors / roots[:, np.newaxis]
