"""Spectral clustering: k-means on the lowest eigenvectors of a graph of affinities.

    L = D^(-1/2) (D - A) D^(-1/2),    D_ii = sum_j A_ij

With A_ij the affinity of two rows, the lowest eigenvectors of L, divided by D^(1/2), are nearly
constant on parts of the graph that little joins to the others; k-means of them finds the parts.
That is a relaxation of the normalized cut. scikit-learn's own class, which takes any table here
and places new rows.

Texts: 004 16.4, 17.1 (eigenvectors of the Laplacian) · 000b 8.1 (groups).
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from sklearn import cluster
from sklearn.metrics.pairwise import KERNEL_PARAMS

from gnomon.cluster.kept_rows import KeptRows
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.parameters import StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array

DISTANT = {"additive_chi2"}  # zero or less for all rows: a distance, no affinity
GIVEN = ("precomputed", "precomputed_nearest_neighbors")


@method(
    task="group",
    texts="004 16.4, 17.1 · 000b 8.1",
    use="Groups of any shape that are joined within and apart from others; a graph to be cut.",
    avoid="Many thousand rows (a matrix of all pairs), groups of very unlike density (HDBSCAN).",
    peers=("sklearn.cluster.SpectralClustering",),
    on="scikit-learn",
    synonyms=("normalized cut", "graph partitioning", "Laplacian"),
)
class SpectralClustering(KeptRows, cluster.SpectralClustering):
    """Groups by k-means on the lowest eigenvectors of the graph Laplacian of the rows.

    Use it for groups of any shape that gaps divide, and for graphs (``affinity="precomputed"``);
    not for many thousand rows, since all pairs of rows have an affinity, nor where no gap is. The
    default width ``gamma=1`` is of the columns' own units: scale them first. A new row belongs to
    the group of the nearest training row. ``eigen_solver="amg"`` without pyamg is "arpack", which
    finds the same eigenvectors.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.cluster import SpectralClustering
    >>> t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> ring = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = SpectralClustering(2, gamma=2.0, random_state=0).fit(np.vstack([ring, 4 * ring]))
    >>> inner, outer = model.predict([[1.1, 0.0], [0.0, 3.9]])
    >>> bool(inner != outer)
    True
    """

    natively = Takes(sparse=True)
    _stored = {
        "affinity_matrix_": Array("f", ("n_rows", "n_rows"), sparse=True),
    }

    _parameter_constraints = {
        "affinity": [StrOptions({*KERNEL_PARAMS, *GIVEN, "nearest_neighbors"} - DISTANT), callable]
    }

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        if self._is_given():
            self._require_square(rows, f"affinity={self.affinity!r}")
        if self.affinity == "chi2" and rows.min() < 0:
            raise DataError(
                "affinity='chi2' compares counts and shares, and the rows hold values below 0; "
                "choose another affinity"
            )
        chosen = self.eigen_solver
        if chosen == "amg" and importlib.util.find_spec("pyamg") is None:
            self.eigen_solver = "arpack"
        try:
            return super()._fit_peer(fit, rows, given)
        except ValueError as error:
            table = vars(self).get("affinity_matrix_")
            if table is None or table.min() >= 0:
                raise
            raise DataError(
                f"affinity={self.affinity!r} gives {table.min():.4g} for some of these rows, and "
                "the edges of a graph have no negative weights; choose 'rbf' or "
                "'nearest_neighbors', for instance"
            ) from error
        finally:
            self.eigen_solver = chosen

    def _is_given(self) -> bool:
        return self.affinity in GIVEN

    def _labels_of_given(self, rows: Any) -> np.ndarray:
        dense = rows.toarray() if hasattr(rows, "toarray") else rows
        nearest = dense.argmax if self.affinity == "precomputed" else dense.argmin
        return self.labels_[nearest(axis=1)]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_rows**2 + 3 * n_rows * n_columns)

    def _memory_remedy(self) -> str:
        return "Use affinity='nearest_neighbors', or group fewer rows."
