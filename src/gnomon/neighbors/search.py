"""NearestNeighbors: the nearest training rows of any rows, exactly.

Texts: 000a 1.2.1 · 003 2.2.4 · 004 2.1.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Data, Takes
from gnomon.engine.parameters import whole
from gnomon.engine.registry import method
from gnomon.neighbors.index import Neighbours
from gnomon.neighbors.stored import SEARCH, StoredRows


@method(
    task="search",
    texts="000a 1.2.1 · 003 2.2.4 · 004 2.1",
    use="To find the nearest rows themselves, in any distance.",
    avoid="Predicting from neighbors: KNeighborsClassifier, KNeighborsRegressor.",
    peers=("sklearn.neighbors.NearestNeighbors", "scipy.spatial.KDTree"),
    takes="index",
    synonyms=("knn", "k-d tree", "ball tree", "similarity search"),
)
class NearestNeighbors(StoredRows):
    """The nearest training rows of any rows, by any distance, exactly.

    Ties are settled by the number of the row, by every algorithm, so that all give the same.
    Use `ApproximateNeighbors` where being right nearly always is enough. Sparse rows are taken with
    ``metric="cosine"``. An array of numbers is kept as it is, not copied: do not change it later.

    Parameters
    ----------
    n_neighbors : int, default=5
        Asked for where ``kneighbors`` is not told.
    metric : str, Distance or callable, default="euclidean"
        See `gnomon.neighbors.distance_of`.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        See `gnomon.neighbors.index`.
    n_jobs : int or None, default=None
        Threads; None for one per processor.

    Attributes
    ----------
    distance_ : Distance
    index_ : NeighbourIndex
    weights_ : None
        Weights of rows do not matter here.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.

    Examples
    --------
    >>> from gnomon.neighbors import NearestNeighbors
    >>> search = NearestNeighbors(2).fit([[0.0], [1.0], [3.0]])
    >>> search.kneighbors([[0.9]]).indices
    array([[1, 0]])
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _parameter_constraints = {"n_neighbors": [whole(1)]} | SEARCH

    def __init__(self, n_neighbors=5, *, metric="euclidean", algorithm="auto", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        self._store(data)
        self.weights_ = None

    def radius_neighbors(self, X, radius: float) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """The training rows within a radius of each row, nearest first; lists may be empty.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        radius : float

        Returns
        -------
        distances : list of ndarray
        indices : list of ndarray of int
        """
        distances: list[np.ndarray] = []
        indices: list[np.ndarray] = []

        def found(rows: np.ndarray) -> np.ndarray:
            near, which = self.index_.within(rows, radius)
            return np.array([*zip(near, which), None], dtype=object)[:-1]

        for near, which in self._each_block(found, X):
            distances.append(near)
            indices.append(which)
        return distances, indices

    def kneighbors_graph(self, X=None, n_neighbors: int | None = None) -> sp.csr_array:
        """Distances to the nearest rows as a sparse matrix; of training rows where X is None.

        A training row is not its own neighbour.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan, default=None
        n_neighbors : int, default=None

        Returns
        -------
        graph : csr_array of shape (n_samples, n_rows)
            Zero distances are stored.
        """
        k = self.n_neighbors if n_neighbors is None else int(n_neighbors)
        found = self.kneighbors(X, k) if X is not None else self.others(k)
        n = len(found.distances)
        starts = np.arange(0, n * k + 1, k)
        return sp.csr_array(
            (found.distances.ravel(), found.indices.ravel(), starts), shape=(n, self.index_.n_rows)
        )

    def others(self, n_neighbors: int | None = None) -> Neighbours:
        """The nearest other training rows of every training row.

        Parameters
        ----------
        n_neighbors : int, default=None

        Returns
        -------
        neighbours : Neighbours
        """
        k = self.n_neighbors if n_neighbors is None else int(n_neighbors)
        return self.index_.others(k, self.n_jobs)
