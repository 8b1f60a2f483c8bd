"""KeptRows: classes of scikit-learn that group rows, and here place new rows too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from gnomon.cluster.distinct import nearest_label
from gnomon.contract.in_units import InUnits
from gnomon.contract.over_scikit_learn import copied, wrapped
from gnomon.engine.errors import DataError
from gnomon.engine.stored import Array

CELLS_AT_ONCE = 500_000  # judgement: distances of 4 MB, which stay in the cache of most machines


def group_of_nearest(self: Any, X: Any) -> np.ndarray:
    """The group of the training row that is nearest to each row.

    Parameters
    ----------
    X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        Where distances or affinities were given in ``fit``, those to the training rows.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
    """
    check_is_fitted(self)
    rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
    return self._labels_of(rows)


class KeptRows(InUnits):
    """Mixin: the training rows are kept, and ``predict`` gives the group of the nearest one."""

    _keeps_rows: ClassVar[bool] = True
    labels_: np.ndarray
    rows_: Any
    _own_attributes: ClassVar[str] = (
        InUnits._own_attributes.rstrip()
        + """
rows_ : ndarray or sparse array of shape (n_samples, n_columns) or None
    The training rows, of which ``predict`` finds the nearest; None where distances or affinities
    were given.

"""
    )
    _stored = {
        "labels_": Array("i", ("n_rows",), low=-1),
        "rows_": Array("f", ("n_rows", "n_columns"), sparse=True) | None,
    }
    predict = wrapped("predict", group_of_nearest)

    def _fit_peer(self, fit: Callable[..., Any], rows: Any, given: dict[str, Any]) -> Any:
        result = super()._fit_peer(fit, rows, given)
        kept = None if self._is_given() else copied(rows)
        self.rows_ = kept.tocsr() if sp.issparse(kept) else kept
        return result

    def _is_given(self) -> bool:
        """Whether distances or affinities are given instead of rows."""
        raise NotImplementedError

    def _require_square(self, rows: Any, parameter: str) -> None:
        """Refuse what is no table of distances or affinities."""
        if rows.shape[0] != rows.shape[1] or rows.min() < 0:
            raise DataError(
                f"{type(self).__name__} with {parameter} needs a square table of non-negative "
                f"numbers, a row and a column for each item; the shape is {rows.shape}, and the "
                f"smallest number is {rows.min():.4g}"
            )

    def _labels_of_given(self, rows: Any) -> np.ndarray:
        """The labels of rows of given distances or affinities to the training rows."""
        raise NotImplementedError

    def _labels_of(self, rows: Any) -> np.ndarray:
        if self._is_given():
            return self._labels_of_given(rows)
        if sp.issparse(rows) or sp.issparse(self.rows_):
            return self.labels_[pairwise_distances(rows, self.rows_).argmin(axis=1)]
        return nearest_label(rows, np.asarray(self.rows_, dtype=np.float64), self.labels_)

    def _rows_at_once(self) -> int:
        return max(1, CELLS_AT_ONCE // len(self.labels_))
