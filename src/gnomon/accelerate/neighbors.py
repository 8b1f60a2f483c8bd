"""Nearest neighbors and kernel densities, by the searches of this library."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gnomon.accelerate.blocks import require_doubles
from gnomon.accelerate.limits import faster_if, worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require

# Distances that differ by less than this share are ties: rounding decides which comes first.
# scikit-learn's search without a tree computes distances by products, with larger errors.
TIE, TIE_OF_PRODUCTS = 1e-12, 1e-6
MOST_TIES = 0.1
# A tree pays up to log2(rows) - 8 columns: measured for 1,000 to 20,000 rows and 2 to 15 columns.
FEWER_COLUMNS = 8

_indexes: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()


def _kept(estimator: Any, rows: Any, make: Any) -> Any:
    """What was made for the rows of this fit of the estimator, or is made now."""
    known = _indexes.get(estimator)
    if known is None or known[0] is not rows:
        known = (rows, make())
        _indexes[estimator] = known
    return known[1]


@replaces(
    "sklearn.neighbors._base",
    "KNeighborsMixin.kneighbors",
    "{}.kneighbors",
    needs="gnomon.neighbors.index",
)
def kneighbors(
    original: Any, self: Any, X: Any = None, n_neighbors: Any = None, return_distance: bool = True
) -> Any:
    """The nearest rows of the training data; rows with ties are left to scikit-learn."""
    from sklearn.utils.validation import check_is_fitted, validate_data

    check_is_fitted(self)
    require(self.effective_metric_ == "euclidean", f"metric={self.effective_metric_!r}")
    require_doubles(self._fit_X, "the training data")
    k = self.n_neighbors if n_neighbors is None else n_neighbors
    require(isinstance(k, (int, np.integer)) and k >= 1, "n_neighbors is no positive integer")
    n, d = self._fit_X.shape
    queries = self._fit_X
    if X is not None:
        queries = validate_data(self, X, reset=False, order="C")
        require_doubles(queries)
    wanted = k + (X is None)
    require(wanted < n, "as many neighbors as rows")
    brute = self._fit_method == "brute"
    worth("neighbors", float(len(queries)) * d * (n if brute else 2000 * np.log2(n)))
    from gnomon.neighbors.distances import MinkowskiDistance
    from gnomon.neighbors.index import NeighborIndex

    def make() -> Any:
        algorithm = "kd_tree" if d <= np.log2(n) - FEWER_COLUMNS else "brute"
        distance = MinkowskiDistance(2).fit(self._fit_X)
        return NeighborIndex(distance, self._fit_X, algorithm).ready()

    found = _kept(self, self._fit_X, make).search(queries, wanted + 1)
    gaps = np.diff(found.distances, axis=1)
    near = TIE_OF_PRODUCTS if brute else TIE
    tied = np.flatnonzero((gaps <= near * found.distances[:, 1:]).any(axis=1))
    require(len(tied) <= MOST_TIES * len(queries), "many equal distances")
    distances, indices = found.distances[:, :wanted].copy(), found.indices[:, :wanted].copy()
    if len(tied):
        distances[tied], indices[tied] = original(self, queries[tied], wanted)
    if X is None:
        distances, indices = _without_itself(distances, indices)
    return (distances, indices) if return_distance else indices


def _without_itself(distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop each row from its own neighbors; where duplicates hide it, the first of them."""
    n, k = indices.shape
    others = indices != np.arange(n)[:, None]
    others[others.all(axis=1), 0] = False
    return distances[others].reshape(n, k - 1), indices[others].reshape(n, k - 1)


@replaces(
    "sklearn.neighbors._kde",
    "KernelDensity.score_samples",
    "{}.score_samples",
    needs="gnomon.density.kernel_density",
)
def score_samples(original: Any, self: Any, X: Any) -> np.ndarray:
    """Log densities, to a relative error of 1e-12."""
    from sklearn.utils.validation import check_is_fitted, validate_data

    check_is_fitted(self)
    require(self.kernel == "gaussian", f"kernel={self.kernel!r}")
    require(self.metric == "euclidean", f"metric={self.metric!r}")
    queries = validate_data(self, X, order="C", dtype=np.float64, reset=False)
    rows = np.asarray(self.tree_.data)
    faster_if(rows.shape[1] <= 4, "more than four columns")
    worth("kernel density", float(len(queries)) * len(rows))
    from gnomon.density import KernelDensity

    def make() -> Any:
        weights = self.tree_.sample_weight
        ours = KernelDensity(bandwidth=float(self.bandwidth_), tol=1e-12)
        return ours.fit(rows, sample_weight=None if weights is None else np.asarray(weights))

    return _kept(self, self.tree_, make).score_samples(queries)
