"""Cluster, then label: unlabeled rows take the class found in their cluster.

Texts: 004 17, 17.1 (the cluster assumption).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.transfer import fit_quietly
from gnomon.contract import Data
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import SEED, HasMethods, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object
from gnomon.ensemble.member import takes_weights
from gnomon.semi.graph import FewLabels, index_of, labels_of, normalized


@method(
    task="classify",
    texts="004 17, 17.1",
    use="Few labels, and groups of rows that each belong to one class.",
    avoid="Classes that share a group: look at the purity of the clusters first.",
    synonyms=("semi-supervised",),
)
class ClusterThenLabelClassifier(FewLabels):
    """Rows take the class that the labels in their cluster have.

    Clusters of all rows are found without labels; ``P(class | cluster)`` is the share of the class
    in the weight of the labels there. Use it where each group belongs to one class. Not where
    classes share groups. A cluster without label is unknown: its rows have equal probabilities and
    ``transduction_`` has the mark of unlabeled rows there, with a warning. Unlabeled rows have a
    missing cell as target, or -1 where two other classes are left. Texts: 004 17, 17.1.

    Parameters
    ----------
    clusterer : clusterer, default=None
        Any clusterer; None for KMeans. New rows go to the cluster that its ``predict`` names, or to
        that of the nearest row where it has none.
    n_clusters : int, default=8
        Clusters of KMeans, where no clusterer is given.
    random_state : int, RandomState instance or None, default=None
        Seed of KMeans, where no clusterer is given.

    Attributes
    ----------
    clusterer_ : clusterer
        The fitted clusterer.
    point_clusters_ : ndarray of int of shape (n_points,)
        The cluster of each different row; -1 for noise.
    cluster_distributions_ : ndarray of shape (n_clusters, n_classes)
        Shares of the classes in each cluster, equal where a cluster has no label.
    cluster_weights_ : ndarray of shape (n_clusters,)
        Weight of the labels in each cluster; zero: unknown.
    point_of_row_ : ndarray of int of shape (n_samples,)
        The different row that each row is; -1 for rows of weight zero.
    index_ : NeighborIndex
        The different rows.
    transduction_ : ndarray of shape (n_samples,)
        The class of every row; -1, "" or None where nothing is known.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import ClusterThenLabelClassifier
    >>> rows = [[0.0], [0.1], [5.0], [5.1]]
    >>> model = ClusterThenLabelClassifier(n_clusters=2, random_state=0)
    >>> model.fit(rows, ["a", None, "b", None]).transduction_.tolist()
    ['a', 'a', 'b', 'b']
    """

    _parameter_constraints = {
        "clusterer": [HasMethods(["fit"]), None],
        "n_clusters": [whole(1)],
        "random_state": SEED,
    }
    _keeps_rows = True
    _stored = {
        "clusterer_": Object(),
        "point_clusters_": Array("i8", ("n_points",), low=-1, below="n_found"),
        "cluster_distributions_": Array("f8", ("n_found", "n_classes"), low=0.0),
        "cluster_weights_": Array("f8", ("n_found",), low=0.0),
        "point_of_row_": Array("i8", ("n_given",), low=-1, below="n_points"),
        "index_": Object(("NeighborIndex",)),
    }

    def __init__(self, clusterer=None, *, n_clusters=8, random_state=None):
        self.clusterer = clusterer
        self.n_clusters = n_clusters
        self.random_state = random_state

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "index_"):
            self.index_.check_points(self, len(self.point_clusters_))

    def _clusterer(self, n_different: int, seed: int) -> Any:
        if self.clusterer is not None:
            return clone(self.clusterer)
        return KMeans(min(self.n_clusters, n_different), random_state=seed)

    def _fit(self, data: Data) -> None:
        found = distinct_rows(data.rows, data.weight_array, data.y)
        places = distinct_rows(data.rows, data.weight_array).rows
        seed = int(self._rng().integers(2**31))
        model = self._clusterer(len(places), seed)
        if takes_weights(model):
            fit_quietly(model, found.rows, found.weights)
        else:
            model.fit(found.rows)
        self.clusterer_ = model
        labels = np.asarray(model.labels_).astype(np.int64)
        self.point_clusters_ = np.where(labels < 0, -1, labels)
        self.index_ = index_of(found.rows, "euclidean")
        self.point_of_row_ = found.places
        if data.kept is not None:
            self.point_of_row_ = np.full(len(data.kept), -1, dtype=np.int64)
            self.point_of_row_[data.kept] = found.places
        self._label_clusters(found)

    def _label_clusters(self, found: Any) -> None:
        n_clusters = max(int(self.point_clusters_.max(initial=0)) + 1, 1)
        totals = np.zeros((n_clusters, len(self.classes_)))
        given = (found.y >= 0) & (self.point_clusters_ >= 0)
        np.add.at(totals, (self.point_clusters_[given], found.y[given]), found.weights[given])
        self.cluster_weights_ = totals.sum(axis=1)
        self.cluster_distributions_ = normalized(totals)
        unknown = int((self._cluster_weight(self.point_clusters_) == 0).sum())
        if unknown:
            warnings.warn(
                f"{unknown:,} of {len(found.y):,} different rows are in clusters without a label, "
                "or in none: nothing is known of them (transduction_ marks them); label a "
                "row of each cluster or use fewer clusters",
                GnomonWarning,
                stacklevel=2,
            )

    def _cluster_weight(self, clusters: np.ndarray) -> np.ndarray:
        return np.append(self.cluster_weights_, 0.0)[clusters]

    @property
    def transduction_(self) -> np.ndarray:
        """The class of each row that ``fit`` was given; the mark of unlabeled rows if unknown."""
        best = np.append(self.cluster_distributions_.argmax(axis=1), -1)
        codes = best[self.point_clusters_]
        codes[self._cluster_weight(self.point_clusters_) == 0] = -1
        return labels_of(np.append(codes, -1)[self.point_of_row_], self.classes_)

    def _proba(self, rows: Any) -> np.ndarray:
        if hasattr(self.clusterer_, "predict"):
            clusters = np.asarray(self.clusterer_.predict(rows)).astype(np.int64)
        else:
            clusters = self.point_clusters_[self.index_.nearest(rows, 1).indices[:, 0]]
        clusters = np.where(clusters < 0, len(self.cluster_weights_), clusters)
        equal = np.full((1, len(self.classes_)), 1.0 / len(self.classes_))
        return np.concatenate([self.cluster_distributions_, equal])[clusters]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = forecast_of(self._clusterer(max(n_rows, 1), 0), n_rows, n_columns)
        return inner + 8 * n_rows * (4 * n_columns + 16)
