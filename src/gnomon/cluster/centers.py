"""What clusterers by centres share: first centres, nearest centre, labels, checks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster.nearest import Centers, Nearest, all_distances, find_nearest
from gnomon.cluster.sparse_rows import dense_rows
from gnomon.cluster.starts import STARTS, SurveyedData
from gnomon.contract import Clusterer, Data, SumLearner, Takes, Transformer
from gnomon.engine.parameters import Words, meant
from gnomon.engine.stored import Array, Optional
from gnomon.engine.sums import Chunk, chunks_memory

MOST_ROWS = 2**16  # rows whose shares of all centers are held at once, on all threads
STARTING_WORDS = Words(STARTS, {"random": "random-rows"})


class CentreClusterer(Clusterer, SumLearner):
    """A loop of sums over rows whose state holds centres; a row's group is its nearest centre."""

    _stored = {
        "cluster_centers_": Optional(Array("f8", ("n_clusters", "n_columns"))),
        "labels_": Array("i", (None,), low=0, below="n_clusters"),
    }

    def _learn(self, X, y, sample_weight):
        vars(self).pop("labels_", None)
        super()._learn(X, y, sample_weight)
        self.labels_ = self.predict(X)
        warn_fewer_clusters(self.labels_, self.n_clusters)
        return self

    def _fit(self, data: Data) -> None:
        require_rows(data.n_rows, self.n_clusters)
        super()._fit(SurveyedData.of(data, self.n_jobs))

    def _first_centers(self, data: SurveyedData, rng: np.random.Generator) -> np.ndarray:
        """Where the centres start: by k-means++, or as given."""
        given = meant(self, "init") if hasattr(self, "init") else "k-means++"
        if isinstance(given, str):
            return STARTS[given](data, self.n_clusters, rng)
        return given_centers(given, self.n_clusters, data.n_columns)

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"cluster_centers_": state["centers"].points}

    def _replayable(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"cluster_centers": state["centers"].points.copy()}

    def _prepared(self) -> Centers:
        return Centers.at(self.cluster_centers_, self.cluster_centers_.mean(axis=0))

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return find_nearest(rows, self._prepared(), Nearest.of(len(rows))).labels

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        shares = 8 * self.n_clusters * min(n_rows, MOST_ROWS)
        chunks = chunks_memory(n_rows, n_columns, self.n_jobs)
        return 8 * (4 * n_rows + 8 * self.n_clusters * n_columns) + shares + chunks

    def _memory_remedy(self) -> str:
        return "Stream the rows with gnomon.table.scan."

    def _check_loaded(self) -> None:
        if hasattr(self, "cluster_centers_"):
            encoder = getattr(self, "encoder_", None)
            n_columns = self.n_features_in_ if encoder is None else len(encoder.columns)
            check_centers(self.cluster_centers_, n_columns)


class CentrePredictor(ClassNamePrefixFeaturesOutMixin, Clusterer, Transformer):
    """A clusterer with ``cluster_centers_``: what it does with new rows."""

    natively = Takes(sparse=True, float32=True)
    _stored = {
        "cluster_centers_": Optional(Array("f", ("n_clusters", "n_columns"))),
    }

    def _prepared(self) -> Centers:
        points = dense_rows(self.cluster_centers_)
        return Centers.at(points, points.mean(axis=0))

    def _nearest(self, rows) -> np.ndarray:
        rows = dense_rows(rows)
        return find_nearest(rows, self._prepared(), Nearest.of(len(rows))).labels

    def _map(self, rows) -> np.ndarray:
        return distances_to(dense_rows(rows), dense_rows(self.cluster_centers_))

    def transform(self, X) -> np.ndarray:
        """Distance of each row to each centre.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
        """
        return super().transform(X)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Minus the objective on these rows.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : array-like, default=None
            Weights of the rows.

        Returns
        -------
        score : float
        """

        def squared(rows):
            rows = dense_rows(rows)
            return find_nearest(rows, self._prepared(), Nearest.of(len(rows))).squared

        distances = self._each_block(squared, X)
        if sample_weight is None:
            return -float(distances.sum())
        return -float(np.asarray(sample_weight, dtype=np.float64) @ distances)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _check_loaded(self) -> None:
        if hasattr(self, "cluster_centers_"):
            encoder = getattr(self, "encoder_", None)
            n_columns = self.n_features_in_ if encoder is None else len(encoder.columns)
            check_centers(self.cluster_centers_, n_columns)


def require_rows(n_rows: int, n_clusters: int) -> None:
    """Refuse more clusters than rows."""
    if n_rows < n_clusters:
        raise ValueError(
            f"n_samples={n_rows} should be >= n_clusters={n_clusters}: there are fewer rows (of "
            "positive weight) than clusters; choose fewer clusters"
        )


def warn_fewer_clusters(labels: np.ndarray, n_clusters: int) -> None:
    """Warn that rows fell into fewer clusters than n_clusters; negative labels are none."""
    n_found = np.count_nonzero(np.bincount(labels[labels >= 0]))
    if n_found < n_clusters:
        warnings.warn(
            f"Number of distinct clusters ({n_found}) found smaller than n_clusters "
            f"({n_clusters}). Possibly due to duplicate points in X; choose fewer.",
            ConvergenceWarning,
            stacklevel=3,
        )


def given_centers(centers: Any, n_clusters: int, n_columns: int) -> np.ndarray:
    """First centres that the user gives, checked; a C-ordered copy."""
    centers = np.array(centers, dtype=np.float64, order="C")
    if centers.ndim != 2 or len(centers) != n_clusters:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"clusters {n_clusters}."
        )
    if centers.shape[1] != n_columns:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"features of the data {n_columns}."
        )
    if not np.isfinite(centers).all():
        raise ValueError("the initial centers hold numbers that are missing or infinite")
    return centers


def check_centers(centers: Any, n_columns: int) -> None:
    """Raise where centres read from a model file do not fit the columns."""
    wrong = not isinstance(centers, np.ndarray) or centers.dtype.kind != "f"
    if wrong or centers.ndim != 2 or centers.shape[1] != n_columns or len(centers) == 0:
        raise ValueError(f"the centres do not fit rows of {n_columns} columns")


def distances_to(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Distance of every row to every centre."""
    distances = np.empty((len(rows), len(centers)))
    all_distances(np.ascontiguousarray(rows), np.ascontiguousarray(centers), distances)
    return distances


def squared_spread(chunk: Chunk, centers: Centers) -> tuple[float, float]:
    """Weight of a chunk, and squared distances of its rows to their nearest centres, summed."""
    found = find_nearest(chunk.rows, centers, Nearest.of(len(chunk.rows)))
    return float(chunk.weights.sum()), float(chunk.weights @ found.squared)
