"""Clustering: k-means, DBSCAN, Ward's trees and mean shift."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.accelerate.blocks import require_doubles
from gnomon.accelerate.limits import faster_if, worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require

# Columns up to which boxes of rows save most distances; measured 2 to 16.
MOST_COLUMNS_OF_BOXES = 6
# Centers from which bounds save more than they cost; measured 5 to 64, with 2 to 64 columns.
FEWEST_CENTERS = 32


@replaces(
    "sklearn.cluster._kmeans",
    "_kmeans_single_lloyd",
    "KMeans.fit",
    needs="gnomon.accelerate.lloyd",
    also=["sklearn.cluster._bisect_k_means"],
)
def lloyd(
    original: Any,
    X: Any,
    sample_weight: Any,
    centers_init: Any,
    max_iter: int = 300,
    verbose: bool = False,
    tol: float = 1e-4,
    n_threads: int = 1,
) -> Any:
    """Lloyd's iterations from scikit-learn's first centers."""
    require_doubles(X)
    require(not verbose, "verbose output")
    require(tol > 0, "tol=0")
    faster_if(len(centers_init) >= FEWEST_CENTERS, f"fewer than {FEWEST_CENTERS} centers")
    worth("k-means", len(X) * float(len(centers_init)))
    require((sample_weight > 0).all(), "weights of zero")
    from gnomon.accelerate.lloyd import lloyd_from

    return lloyd_from(X, sample_weight, centers_init, max_iter, tol)


@replaces("sklearn.cluster._dbscan", "DBSCAN.fit", "{}.fit", needs="gnomon.cluster.dbscan")
def dbscan(original: Any, self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Clusters of dense rows, numbered by their first core row."""
    from sklearn.utils.validation import validate_data

    require(sample_weight is None, "sample_weight")
    plain = self.metric == "euclidean" or (self.metric == "minkowski" and self.p in (None, 2))
    require(plain and self.metric_params is None, f"metric={self.metric!r}")
    self._validate_params()
    rows = validate_data(self, X, accept_sparse="csr")
    require_doubles(rows)
    faster_if(rows.shape[1] <= MOST_COLUMNS_OF_BOXES, f"over {MOST_COLUMNS_OF_BOXES} columns")
    worth("dbscan", len(rows))
    from gnomon.cluster import DBSCAN

    ours = DBSCAN(eps=self.eps, min_samples=self.min_samples, border="first").fit(rows)
    core = ours.core_sample_indices_
    labels: np.ndarray = np.full(len(rows), -1, dtype=np.intp)
    if len(core):
        _, first = np.unique(ours.labels_[core], return_index=True)
        numbers = np.empty(len(first), dtype=ours.core_labels_.dtype)
        numbers[np.argsort(first)] = np.arange(len(first))
        ours.core_labels_ = numbers[ours.core_labels_]
        labels[:] = ours._reached(np.ascontiguousarray(rows))
    self.core_sample_indices_, self.labels_ = core, labels
    self.components_ = rows[core].copy()
    return self


@replaces(
    "sklearn.cluster._agglomerative",
    "_TREE_BUILDERS.ward",
    "AgglomerativeClustering.fit",
    needs="gnomon.cluster.agglomerative",
)
def ward_tree(
    original: Any,
    X: Any,
    *,
    connectivity: Any = None,
    n_clusters: Any = None,
    return_distance: bool = False,
) -> Any:
    """Ward's tree of all rows."""
    require(connectivity is None, "connectivity")
    require(n_clusters is None, "a part of the tree")
    require_doubles(X)
    faster_if(X.shape[1] <= MOST_COLUMNS_OF_BOXES, f"over {MOST_COLUMNS_OF_BOXES} columns")
    worth("ward", len(X))
    from gnomon.cluster.agglomerative import tree_of_rows

    merges = tree_of_rows(X, np.ones(len(X)), "ward").merges
    heights = merges[:, 2]
    require((np.diff(heights) > 1e-12 * heights[1:]).all(), "merges of equal height")
    children = np.sort(merges[:, :2], axis=1).astype(np.intp)
    return (children, 1, len(X), None, *([heights.copy()] if return_distance else []))
