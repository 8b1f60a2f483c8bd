"""Encoded tables in units of their columns, for classes of scikit-learn that compare distances."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gnomon.contract.over_scikit_learn import ATTRIBUTES, ROUNDING, OverScikitLearn
from gnomon.engine.stored import Array, Optional


class InUnits(OverScikitLearn):
    """Mixin: the columns of an encoded table are standardized, since their units differ.

    For methods of distances and kernels. Arrays and frames of numbers stay as they are, as in
    scikit-learn; what is learned from an encoded table is in the standardized units.
    """

    _own_attributes: ClassVar[str] = (
        ATTRIBUTES.rstrip()
        + """
table_mean_, table_scale_ : ndarray of shape (n_columns,)
    Mean and standard deviation (one for constant columns) by which encoded columns are
    standardized; only when a table of other than numbers was given.

"""
    )
    table_mean_: np.ndarray
    table_scale_: np.ndarray
    _stored = {
        "table_mean_": Optional(Array("f8", ("n_columns",))),
        "table_scale_": Optional(Array("f8", ("n_columns",), low=0.0)),
    }

    def _encode(self, X: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        rows, changed, of_table = super()._encode(X, given)
        weights = changed.get("sample_weight")
        mean = np.average(rows, axis=0, weights=weights)
        scale = np.sqrt(np.average(np.square(rows - mean), axis=0, weights=weights))
        scale[scale <= ROUNDING * np.abs(mean)] = 1.0
        of_table |= {"table_mean_": mean, "table_scale_": scale}
        return (rows - mean) / scale, changed, of_table

    def _of_table(self, rows: Any) -> Any:
        return (rows - self.table_mean_) / self.table_scale_
