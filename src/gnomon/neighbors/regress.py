"""Numbers by nearest neighbours: the mean of the targets of the nearest training rows.

    y(x) = sum_j w_j y_j / sum_j w_j   over the k nearest rows, w_j = 1 or 1 / (d_j + d0)^q, or
    over all rows with w_j = exp(-d_j^2 / (2 sigma^2)), which is smooth (Nadaraya and Watson)

Texts: 003 2.2.1 to 2.2.2 · 004 2.1.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Data, Regressor
from gnomon.contract.docstrings import shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.neighbors.queries import NearestQueries
from gnomon.neighbors.stored import NEIGHBOR_PARAMETERS, SKLEARN_SEARCH, WEIGHING, WeighedNeighbors


@method(
    task="regress",
    texts="003 2.2.1 to 2.2.2 · 004 2.1",
    use="A relation of unknown shape in a few columns where a distance makes sense.",
    avoid="Many columns that say nothing, extrapolation, little memory.",
    peers=("sklearn.neighbors.KNeighborsRegressor", "statsmodels KernelReg (constant)"),
)
@without_effect("leaf_size")
@shared_parameters(NEIGHBOR_PARAMETERS)
class KNeighborsRegressor(NearestQueries, WeighedNeighbors, Regressor):
    """The mean target of the nearest training rows, by equal weights or by nearness.

    y(x) = sum w_j y_j / sum w_j. Use it for relations of unknown shape in a few columns; several
    target columns are averaged together. An answer lies within the targets of its neighbours, so it
    is not for extrapolation; with many columns that say nothing no row is near, and with all rows
    and equal weights it is the mean (the baseline). "gaussian" weighs all rows, which makes a
    smooth function with derivatives.

    Rows that are tied at the distance of the k-th share what is left of k. With weights by
    distance, rows at distance zero decide alone (their mean). A row of weight two counts as two
    neighbours.

    Texts: 003 2.2.1 to 2.2.2.1, 004 2.1 and its equation 2.1. 004 says that for d0 to infinity the
    answer is the mean of all training rows: it is that of the k nearest.

    Parameters
    ----------
    n_neighbors : int, default=5
        Rows whose targets are averaged.
    weights : {"uniform", "distance", "gaussian"}, callable or None, default="uniform"
        Equal; 1/(d + offset)^power; exp(-d^2/(2 bandwidth^2)) for all training rows, near or not;
        or a function of an array of distances. None is "uniform".
    power : float, default=1.0
        The exponent q of "distance"; any number (0 gives equal weights).

    Attributes
    ----------
    targets_ : ndarray of shape (n_rows,) or (n_rows, n_targets)
        The targets of the stored rows.
    weights_ : ndarray of shape (n_rows,) or None
        Their weights; None where all are one.
    bandwidth_ : float or None
        The sigma of "gaussian"; None with other weights.
    effective_metric_, effective_metric_params_ : str, Distance or callable, and dict
        The metric ("euclidean" for "minkowski" with p=2, and so on) and its further arguments.
    n_samples_fit_ : int
        Number of training rows.
    distance_ : Distance
        The fitted distance.
    index_ : NeighbourIndex
        The stored rows, ready for searches.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    target_name_ : str
        The target's column; only where it was given by name.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> from gnomon.neighbors import KNeighborsRegressor
    >>> model = KNeighborsRegressor(3, weights="distance", metric="euclidean")
    >>> model.fit([[0], [1], [3], [7]], [1, 2, 4, 10]).predict([[2]])
    array([2.6])
    """

    _many_targets = True
    _parameter_constraints = WEIGHING | SKLEARN_SEARCH
    _stored = {
        "targets_": Array("f8", [("n_samples_fit_",), (None, None)]),
    }

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        algorithm="auto",
        leaf_size=30,
        p=2,
        metric="minkowski",
        metric_params=None,
        n_jobs=None,
        power=1.0,
        offset=0.0,
        bandwidth="auto",
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.power = power
        self.offset = offset
        self.bandwidth = bandwidth

    def _fit(self, data: Data) -> None:
        self._store(data)
        self.targets_ = np.array(data.y, dtype=np.float64)
        self._learn_bandwidth(data.rows)

    def predict(self, X) -> np.ndarray:
        """The estimated target, for each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            None for the training rows, each estimated from the others.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._each_query(self._estimate, X)

    def _estimate(self, rows):
        self._require_neighbors(self.n_neighbors)
        targets = self.targets_.reshape(len(self.targets_), -1)
        if self.weights == "gaussian":
            found = self._kernel_means(rows, targets)
        else:
            n = self.index_.n_rows if rows is None else rows.shape[0]
            found = np.empty((n, targets.shape[1]))
            for near in self._weighed(rows, self.n_neighbors):
                found[near.places] = np.einsum("ij,ijt->it", near.counted, targets[near.indices])
        return found[:, 0] if self.targets_.ndim == 1 else found

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "targets_"):
            return
        if self.targets_.ndim not in (1, 2) or len(self.targets_) != self.index_.n_rows:
            raise ValueError("the targets are not as many as the stored rows")
        if self.targets_.dtype != np.float64:
            raise ValueError("the targets are not numbers")
