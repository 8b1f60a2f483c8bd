"""Weighted rows as repeated rows, for classes of scikit-learn that read a weight otherwise."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.draw import canonical_key, canonical_order


class WrittenOut(OverScikitLearn):
    """Mixin: weighted rows go to scikit-learn's code as repeated rows.

    For classes that leave rows out, part them into folds, draw them, or end before convergence.
    ``_flags_of_rows`` names fitted attributes that say yes or no for each row: they are put back in
    the order of the rows that were given; no for rows of weight zero.
    """

    _flags_of_rows: ClassVar[tuple[str, ...]] = ()

    def _taken(self, X: Any, given: dict[str, Any], *more: Any) -> tuple[Any, Any, Any]:
        weights = given.get("sample_weight")
        rows, given, of_table = super()._taken(X, given, *more)
        order = None
        if self._writes_out():
            order = written_order(rows, given, self._in_canonical_order(rows, given))
        target = np.asarray(given.get("y"))
        if self._flags_of_rows and target.ndim:
            self._places = places_in(weights, len(target), order)
        if order is not None:
            rows, given = in_order(rows, given, order)
        return rows, given, of_table

    def _writes_out(self) -> bool:
        """Whether scikit-learn's code reads a weight otherwise, with these parameters."""
        return True

    def _in_canonical_order(self, rows: Any, given: dict[str, Any]) -> bool:
        """Whether rows are put in canonical order, as the method depends on their order."""
        return False

    def _pack(self) -> None:
        places = self.__dict__.pop("_places", None)
        if places is not None:
            for name in self._flags_of_rows:
                flags = np.zeros(places.n_given, dtype=bool)
                flags[places.of_rows] = getattr(self, name)
                setattr(self, name, flags)
        super()._pack()


class Places(NamedTuple):
    """Where rows of a fit stand among those that were given."""

    n_given: int
    of_rows: np.ndarray


def places_in(weights: Any, n_kept: int, order: np.ndarray | None) -> Places | None:
    """Places of the rows of a fit; None where they are those given.

    Parameters
    ----------
    weights : array-like of shape (n_given,) or None
        As they were given; rows of weight zero have been left out.
    n_kept : int
    order : ndarray of int or None
        Of the rows that were left, if they were moved or repeated.
    """
    kept, n_given = np.arange(n_kept), n_kept
    if weights is not None and not isinstance(weights, str) and len(np.asarray(weights)) > n_kept:
        kept, n_given = np.flatnonzero(np.asarray(weights)), len(np.asarray(weights))
    if order is None and n_given == n_kept:
        return None
    return Places(n_given, kept if order is None else kept[order])


def written_order(rows: Any, given: dict[str, Any], canonical: bool) -> np.ndarray | None:
    """Positions of rows with whole weights written out as repetitions.

    None where they stay as they are; input that scikit-learn refuses is left as it is.

    Parameters
    ----------
    rows : array-like or sparse matrix of shape (n_samples, n_features)
    given : dict
        The other arguments of ``fit``: y, sample_weight ...
    canonical : bool
        Whether rows are put in canonical order, for methods that depend on their order.
    """
    numbers = rows.tocsr() if sp.issparse(rows) else np.asarray(rows)
    weights = given.get("sample_weight")
    labels = np.asarray(given.get("y"))
    is_matrix = numbers.ndim == 2 and numbers.dtype.kind in "fiub" and 0 not in numbers.shape
    n = numbers.shape[0] if is_matrix else 0
    if not is_matrix or labels.shape not in ((n,), (n, 1)) or labels.dtype.kind not in "fiubUS":
        return None
    if weights is not None and np.asarray(weights).shape != (n,):
        return None
    repeats = weights is not None and is_whole(np.asarray(weights), n)
    if not repeats and not canonical:
        return None
    order = np.arange(n)
    if canonical:
        order = canonical_order(numbers, np.unique(labels.ravel(), return_inverse=True)[1])
    return np.repeat(order, np.asarray(weights)[order].astype(np.int64)) if repeats else order


def in_order(rows: Any, given: dict[str, Any], order: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """Rows and arguments of ``fit`` in an order of `written_order`."""
    y, weights = given["y"], given.get("sample_weight")
    changed = {"y": _safe_indexing(y if hasattr(y, "iloc") else np.asarray(y), order)}
    if weights is not None:
        weights = np.asarray(weights)
        is_written = is_whole(weights, len(weights))
        changed["sample_weight"] = None if is_written else weights[order]
    if getattr(rows, "iloc", None) is None:
        rows = rows.tocsr() if sp.issparse(rows) else np.asarray(rows)
    return _safe_indexing(rows, order), given | changed


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
