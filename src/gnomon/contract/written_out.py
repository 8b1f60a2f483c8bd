"""Weighted rows as repeated rows, for classes of scikit-learn that read a weight otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from gnomon.contract.over_scikit_learn import OverScikitLearn


class WrittenOut(OverScikitLearn):
    """Mixin: weighted rows go to scikit-learn's code as repeated rows, in their order.

    For classes that leave rows out, part them into folds, draw them, or end before convergence.
    """

    def _taken(self, X: Any, given: dict[str, Any], *more: Any) -> tuple[Any, Any, Any]:
        rows, given, of_table = super()._taken(X, given, *more)
        return *written_out(rows, given), of_table


def written_out(rows: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Rows and arguments of ``fit`` with whole weights written out as repetitions.

    Other weights, and input that scikit-learn refuses, are left as they are.

    Parameters
    ----------
    rows : array-like or sparse matrix of shape (n_samples, n_features)
    given : dict
        The other arguments of ``fit``: y, sample_weight ...

    Returns
    -------
    rows, given : the same, changed
    """
    numbers = rows.tocsr() if sp.issparse(rows) else np.asarray(rows)
    y, labels = given.get("y"), np.asarray(given.get("y"))
    is_matrix = numbers.ndim == 2 and numbers.dtype.kind in "fiub" and 0 not in numbers.shape
    one_each = is_matrix and labels.shape in ((numbers.shape[0],), (numbers.shape[0], 1))
    if given.get("sample_weight") is None or not one_each or labels.dtype.kind not in "fiubUS":
        return rows, given
    weights = np.asarray(given["sample_weight"])
    if not is_whole(weights, numbers.shape[0]):
        return rows, given
    repeated = np.repeat(np.arange(numbers.shape[0]), weights.astype(np.int64))
    y = _safe_indexing(y if hasattr(y, "iloc") else labels, repeated)
    named = getattr(rows, "iloc", None) is not None
    changed = {"y": y, "sample_weight": None}
    return _safe_indexing(rows if named else numbers, repeated), given | changed


def is_whole(weights: np.ndarray, n: int) -> bool:
    """Whether weights are n counts, some of them positive."""
    if weights.shape != (n,) or weights.dtype.kind not in "fiub" or not np.isfinite(weights).all():
        return False
    return bool((weights == np.rint(weights)).all() and (weights >= 0).all() and weights.any())
