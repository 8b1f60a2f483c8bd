"""Weighted rows as repeated rows, for classes of scikit-learn that read a weight otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.draw import canonical_key, canonical_order


class WrittenOut(OverScikitLearn):
    """Mixin: weighted rows go to scikit-learn's code as repeated rows.

    For classes that leave rows out, part them into folds, draw them, or end before convergence.
    """

    def _taken(self, X: Any, given: dict[str, Any], *more: Any) -> tuple[Any, Any, Any]:
        rows, given, of_table = super()._taken(X, given, *more)
        if not self._writes_out():
            return rows, given, of_table
        return *written_out(rows, given, in_order=self._in_canonical_order(rows, given)), of_table

    def _writes_out(self) -> bool:
        """Whether scikit-learn's code reads a weight otherwise, with these parameters."""
        return True

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        """Whether rows are put in canonical order, as the method depends on their order."""
        return False


def written_out(rows: Any, given: dict[str, Any], in_order: bool) -> tuple[Any, dict[str, Any]]:
    """Rows and arguments of ``fit`` with whole weights written out as repetitions.

    Input that scikit-learn refuses is left as it is.

    Parameters
    ----------
    rows : array-like or sparse matrix of shape (n_samples, n_features)
    given : dict
        The other arguments of ``fit``: y, sample_weight ...
    in_order : bool
        Whether rows are put in canonical order, for methods that depend on their order.

    Returns
    -------
    rows, given : the same, changed
    """
    numbers = rows.tocsr() if sp.issparse(rows) else np.asarray(rows)
    y, weights = given.get("y"), given.get("sample_weight")
    labels = np.asarray(y)
    is_matrix = numbers.ndim == 2 and numbers.dtype.kind in "fiub" and 0 not in numbers.shape
    one_each = labels.shape in ((numbers.shape[0],), (numbers.shape[0], 1)) if is_matrix else False
    if not one_each or labels.dtype.kind not in "fiubUS":
        return rows, given
    repeats = None if weights is None else np.asarray(weights)
    if repeats is not None and not is_whole(repeats, numbers.shape[0]):
        repeats = None
    if repeats is None and not in_order:
        return rows, given
    order = np.arange(numbers.shape[0])
    if in_order:
        order = canonical_order(numbers, np.unique(labels.ravel(), return_inverse=True)[1])
    changed: dict[str, Any] = {}
    if repeats is not None:
        order, changed["sample_weight"] = np.repeat(order, repeats[order].astype(np.int64)), None
    elif weights is not None and np.shape(weights) == (numbers.shape[0],):
        changed["sample_weight"] = np.asarray(weights)[order]
    elif weights is not None:
        return rows, given
    changed["y"] = _safe_indexing(y if hasattr(y, "iloc") else labels, order)
    names = getattr(rows, "iloc", None) is not None
    return _safe_indexing(rows if names else numbers, order), given | changed


def is_weighted_or_repeated(rows: Any, given: dict[str, Any]) -> bool:
    """Whether rows have weights, or some stand there twice.

    Only then can a weight and repetitions be compared; other rows may be taken as they stand.
    """
    if given.get("sample_weight") is not None:
        return True
    numbers = rows if sp.issparse(rows) else np.asarray(rows)
    if numbers.ndim != 2 or numbers.dtype.kind not in "fiub" or 0 in numbers.shape:
        return False
    return len(np.unique(canonical_key(numbers))) < numbers.shape[0]


def is_whole(weights: np.ndarray, n: int) -> bool:
    """Whether weights are n counts, some of them positive."""
    if weights.shape != (n,) or weights.dtype.kind not in "fiub" or not np.isfinite(weights).all():
        return False
    return bool((weights == np.rint(weights)).all() and (weights >= 0).all() and weights.any())
