"""KeepsFloat32: rows of single precision give coordinates and attributes of single precision."""

from __future__ import annotations

from typing import Any

import numpy as np


class KeepsFloat32:
    """Mixin of transformers that compute in double precision and answer in that of the rows.

    A method lists in ``_of_rows_dtype`` the fitted attributes that have the precision of the rows.
    """

    _of_rows_dtype: tuple[str, ...] = ()

    def _learn(self, X, y, sample_weight):
        super()._learn(X, y, sample_weight)
        if is_float32(X):
            for name in self._of_rows_dtype:
                if hasattr(self, name):
                    setattr(self, name, np.asarray(getattr(self, name)).astype(np.float32))
        return self

    def _each_block(self, function, X, **more):
        answer = super()._each_block(function, X, **more)
        is_map = getattr(function, "__name__", "") == "_map"
        return answer.astype(np.float32) if is_map and is_float32(X) else answer

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def is_float32(X: Any) -> bool:
    return getattr(X, "dtype", None) == np.float32
