"""OPTICS: an order of rows in which dense groups are valleys of the distance to the next.

    core(x) = distance of the k-th nearest row,    reach(x | o) = max(core(o), d(o, x))

Rows are visited by their least reachability from those visited before. Groups of every density
then are valleys of reachability along the order; `cluster_method="dbscan"` cuts it at one height.
scikit-learn's own class, which takes any table here and places new rows.

Texts: 001 19 (DBSCAN) · 004 13 (groups by density); the order is that of Ankerst and others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import cluster
from sklearn.metrics.pairwise import _VALID_METRICS

from gnomon.cluster.any_metric import Metric
from gnomon.cluster.kept_rows import KeptRows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Optional

# scikit-learn names two more, which it does not know
METRICS = {*_VALID_METRICS, "precomputed"} - {"matching", "wminkowski"}


@method(
    task="group",
    texts="001 19 · 004 13",
    use="Groups of different density, and a picture of how rows lie together.",
    avoid="Many rows: time grows with their square (DBSCAN, HDBSCAN).",
    peers=("sklearn.cluster.OPTICS",),
    on="scikit-learn",
    synonyms=("reachability plot", "density-based"),
)
class OPTICS(KeptRows, cluster.OPTICS):
    """Groups of every density, from an order of the rows by reachability.

    Use it for groups of different density and for the plot of ``reachability_[ordering_]``; not
    for many rows, for which `DBSCAN` and `HDBSCAN` are faster. Noise is labelled -1. A new row
    belongs to the group of the nearest training row, which may be noise.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import OPTICS
    >>> line = np.arange(6.0)[:, None]
    >>> OPTICS(min_samples=3).fit(np.vstack([line, 50 + line])).predict([[2.4], [54.0]]).tolist()
    [0, 1]
    """

    _stored = {
        "cluster_hierarchy_": Optional(Array("i", (None, None), low=0)),
        "core_distances_": Array("f", ("n_rows",), finite=False),
        "ordering_": Array("i", ("n_rows",), low=0, below="n_rows"),
        "predecessor_": Array("i", ("n_rows",), low=-1),
        "reachability_": Array("f", ("n_rows",), finite=False),
    }

    _parameter_constraints = {"metric": [StrOptions(METRICS), callable]}

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        if self._is_given():
            self._require_square(rows, "metric='precomputed'")
        if self.metric == "seuclidean" and "V" not in (self.metric_params or {}):
            raise DataError(
                "metric='seuclidean' needs metric_params={'V': variances}, one for each column"
            )
        return super()._fit_peer(fit, rows, given)

    def _is_given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _labels_of_given(self, rows: Any) -> np.ndarray:
        return self.labels_[rows.argmin(axis=1)]

    def _labels_of(self, rows: Any) -> np.ndarray:
        metric = Metric(self.metric, self.metric_params, self.p)
        if self._is_given() or metric.is_euclidean:
            return super()._labels_of(rows)
        return self.labels_[metric.between(rows, self.rows_).argmin(axis=1)]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_rows * n_columns + 20 * n_rows)
