"""Local outlier factor: rows in a sparser place than their neighbors are outliers.

    lrd(x) = 1 / mean over neighbors o of max(distance(x, o), k-distance(o))
    LOF(x) = mean over neighbors o of lrd(o) / lrd(x)

A factor of about 1 is that of a row whose neighbors lie as densely as it does; outliers have a
larger one. Densities are compared nearby only, so groups may differ in theirs. scikit-learn's own
class, which takes any table here.

Texts: 003 2.2.4 · 004 2.1 (neighbors); the factor is that of Breunig and others (2000).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn import neighbors

from gnomon.contract import intake
from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, Number, Text, Whole

# Sparse rows of at most so many cells are compared as dense ones (128 MB), so that of neighbors at
# one distance the same are taken.
MOST_DENSE_CELLS = 2**24


@method(
    task="density",
    texts="003 2.2.4 · 004 2.1",
    use="Outliers among groups of different density; new rows by novelty=True.",
    avoid="Very many rows or columns; columns of unlike scale that are not standardized.",
    peers=("sklearn.neighbors.LocalOutlierFactor",),
    on="scikit-learn",
    synonyms=("lof", "outlier detection", "anomaly detection", "novelty detection"),
)
class LocalOutlierFactor(OverScikitLearn, neighbors.LocalOutlierFactor):
    """Outliers by the density of a row beside that of its neighbors: +1 for usual rows, -1 else.

    Use it where groups differ in density, so that one bound on distances would not do.
    ``fit_predict`` judges the rows of ``fit``; with ``novelty=True``, ``predict`` judges new ones.
    Not for very many rows, which are all kept, nor for columns of unlike scale.

    Examples
    --------
    >>> from gnomon.neighbors import LocalOutlierFactor
    >>> LocalOutlierFactor(n_neighbors=2).fit_predict([[-1.1], [0.2], [101.1], [0.3]]).tolist()
    [1, 1, -1, 1]
    """

    natively = Takes(sparse=True)
    _keeps_rows: ClassVar[bool] = True
    _transient = ("_tree",)  # is built again from the rows
    _stored = {
        "_fit_X": Array("f", ("n_samples_fit_", None), sparse=True),
        "_fit_method": Text(("ball_tree", "kd_tree", "brute")),
        "_distances_fit_X_": Array("f", ("n_samples_fit_", "n_neighbors_")),
        "_lrd": Array("f", ("n_samples_fit_",)),
        "effective_metric_": Text(),
        "effective_metric_params_": DictOf(Anything()),
        "n_neighbors_": Whole(1),
        "n_samples_fit_": Whole(1),
        "negative_outlier_factor_": Array("f", ("n_samples_fit_",)),
        "offset_": Number(),
        "radius": Number() | None,  # which scikit-learn's neighbors have, and which has no use here
    }

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """The nearest rows of those in ``fit``.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table, default=None
            Rows whose neighbors are wanted; those of ``fit`` for None, without themselves.
        n_neighbors : int or None, default=None
            How many; as many as the parameter says for None.
        return_distance : bool, default=True
            Whether distances are given too.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_neighbors)
            Only with ``return_distance=True``.
        positions : ndarray of shape (n_samples, n_neighbors)
        """
        if X is None or "encoder_" not in vars(self):
            return super().kneighbors(X, n_neighbors, return_distance)
        rows = next(iter(intake.blocks_of(self, X)))
        return self._plain().kneighbors(rows, n_neighbors, return_distance)

    def _checked(self, X: Any) -> Any:
        rows = super()._checked(X)
        if sp.issparse(rows):
            small = rows.shape[0] * rows.shape[1] <= MOST_DENSE_CELLS
            is_plain = self.algorithm == "auto" and self.metric != "precomputed"
            return rows.toarray() if small and is_plain else rows
        is_float = isinstance(rows, np.ndarray) and rows.dtype.kind == "f"
        if is_float and self.metric != "nan_euclidean" and np.isnan(rows).any():
            raise DataError(
                "LocalOutlierFactor: Input X contains NaN. Fill missing cells in first, give a "
                "table, or use metric='nan_euclidean'"
            )
        return rows

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        try:
            return super()._fit_peer(fit, rows, given)
        except TypeError as error:
            if self.metric_params or not isinstance(self.metric, str):
                raise
            raise DataError(
                f"metric={self.metric!r} needs parameters: give them as metric_params ({error})"
            ) from None

    def _check_loaded(self) -> None:
        if not hasattr(self, "_fit_X"):
            return
        kept = dict(vars(self))
        neighbors.LocalOutlierFactor._fit(self, self._fit_X)
        tree = self._tree
        vars(self).clear()
        vars(self).update(kept, _tree=tree)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (4 * n_rows * n_columns + 6 * n_rows * (self.n_neighbors + 4))
