"""NearestNeighbors: the nearest training rows of any rows, exactly.

Texts: 000a 1.2.1 · 003 2.2.4 · 004 2.1.
"""

from __future__ import annotations

from gnomon.contract import Data
from gnomon.contract.inert import without_effect
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.neighbors.index import Neighbors
from gnomon.neighbors.queries import NearestQueries, RadiusQueries
from gnomon.neighbors.stored import RADIUS, SKLEARN_SEARCH, StoredRows


@method(
    task="search",
    texts="000a 1.2.1 · 003 2.2.4 · 004 2.1",
    use="To find the nearest rows themselves, in any distance.",
    avoid="Predicting from neighbors: KNeighborsClassifier, KNeighborsRegressor.",
    peers=("sklearn.neighbors.NearestNeighbors", "scipy.spatial.KDTree"),
    takes="index",
    synonyms=("knn", "k-d tree", "ball tree", "similarity search"),
)
@without_effect("leaf_size")
class NearestNeighbors(NearestQueries, RadiusQueries, StoredRows):
    """The nearest training rows of any rows, by any distance, exactly.

    Ties are settled by the number of the row, by every algorithm, so that all give the same.
    Use `ApproximateNeighbors` where being right nearly always is enough. Sparse rows stay sparse;
    "euclidean", "manhattan", "cosine", functions and "precomputed" take them. An array of numbers
    is kept as it is, not copied: do not change it later.

    Parameters
    ----------
    n_neighbors : int or None, default=5
        Asked for where ``kneighbors`` is not told.
    radius : float or None, default=1.0
        Asked for where ``radius_neighbors`` is not told.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How the nearest rows are found; all give the same: see `gnomon.neighbors.index`.
    metric : str, Distance or callable, default="minkowski"
        How rows are compared: see `gnomon.neighbors.distance_of`. In a `Table`, and in a data frame
        that holds more than numbers, the columns of "minkowski" are divided by their deviation.
    p : float or None, default=2
        Power of "minkowski".
    metric_params : dict or None, default=None
        Further arguments of the metric.
    n_jobs : int or None, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    effective_metric_ : str, Distance or callable
        The metric; "euclidean" for "minkowski" with p=2, and so on.
    effective_metric_params_ : dict
        Its further arguments.
    n_samples_fit_ : int
        Number of training rows.
    distance_ : Distance
    index_ : NeighbourIndex or GraphIndex
    weights_ : None
        Weights of rows do not matter here.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.

    Examples
    --------
    >>> from gnomon.neighbors import NearestNeighbors
    >>> search = NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> search.kneighbors([[0.9]]).indices
    array([[1, 0]])
    """

    _parameter_constraints = SKLEARN_SEARCH | {
        "n_neighbors": [whole(1), None],
        "radius": [*RADIUS["radius"], None],
    }

    def __init__(
        self,
        *,
        n_neighbors=5,
        radius=1.0,
        algorithm="auto",
        leaf_size=30,
        metric="minkowski",
        p=2,
        metric_params=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        self._store(data)
        self.weights_ = None

    def others(self, n_neighbors: int | None = None) -> Neighbors:
        """The nearest other training rows of every training row: ``kneighbors()``.

        Parameters
        ----------
        n_neighbors : int, default=None

        Returns
        -------
        neighbors : Neighbours
        """
        return self.kneighbors(None, n_neighbors)
