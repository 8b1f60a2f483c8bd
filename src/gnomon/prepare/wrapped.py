"""Filters that stand on a transformer of scikit-learn's: its results on arrays, and any table.

An array is given to scikit-learn's class as it is. Of a table, the columns that the filter concerns
are given to it as one block, and the others pass through. What was fitted stands on the filter
under scikit-learn's names, so that model files hold data only.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import _check_feature_names, has_fit_parameter

from gnomon.contract.intake.arrays import checked_weights, own_refusals, refuse_huge
from gnomon.contract.over_scikit_learn import HoldsPeer, PeerRows, quietly
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import validated
from gnomon.engine.stored import Anything, Array, DictOf, Number, Whole
from gnomon.prepare.base import NumberFilter
from gnomon.table.grid import Grid, is_table
from gnomon.table.kinds import Kind
from gnomon.table.table import Table

OWN = ("positions_", "kinds_", "fill_", "weight_name_", "feature_names_in_", "n_features_in_")


class WrappedFilter(HoldsPeer, NumberFilter):
    """A filter that computes with the class ``_peer`` of scikit-learn's.

    Columns that are chosen (``columns``, a table) are given to it as one block.
    """

    # public attributes that are objects of scikit-learn's
    _kept_apart: ClassVar[tuple[str, ...]] = ()
    # sklearn classes whose fitted objects may stand inside a fitted one
    _inner_classes: ClassVar[tuple[type[BaseEstimator], ...]] = ()
    _stored = {
        "_private": DictOf(Anything()),
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._unfitted())
        tags.input_tags = inner.input_tags
        tags.input_tags.sparse = self.natively.sparse
        tags.transformer_tags = inner.transformer_tags
        return tags

    def _is_for_peer(self, X, sample_weight):
        return not (is_table(X) or self.columns is not None or isinstance(sample_weight, str))

    def _peer_rows(self, X, sample_weight):
        if sample_weight is None:
            return PeerRows(X)
        X = X if sp.issparse(X) else np.asarray(X)
        weights = checked_weights(sample_weight, X)
        return PeerRows(X[weights > 0], weights[weights > 0])

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_private", None)

    def _fit_peer(self, given):
        self._keep_array(self._fitted(given.X, given.weights))

    def _keep_array(self, inner: Any) -> None:
        self.n_features_in_ = inner.n_features_in_
        self.positions_ = np.arange(self.n_features_in_)
        self.kinds_ = [str(Kind.NUMBER)] * self.n_features_in_
        self._keep_fitted(inner)

    def _fitted(self, X: Any, weights: np.ndarray | None) -> Any:
        X = self._checked_array(X)
        inner = self._unfitted()
        if weights is not None and (weights == 1).all():
            weights = None
        weighted = weights is not None and has_fit_parameter(inner, "sample_weight")
        with quietly(), own_refusals(self):
            return inner.fit(X, sample_weight=weights) if weighted else inner.fit(X)

    def _checked_array(self, X: Any) -> Any:
        """X without numbers that overflow, in C order; what else it must be, scikit-learn says."""
        if sp.issparse(X):
            if not self.natively.sparse:
                raise self._sparse_refusal()
            refuse_huge(self, X.tocsr())
            return X
        rows = np.asarray(X)
        if rows.dtype.kind == "f" and rows.ndim == 2 and rows.shape[0]:
            refuse_huge(self, rows)
            precise = rows.dtype if rows.dtype.itemsize > 2 else np.dtype(np.float64)
            return np.ascontiguousarray(rows, dtype=precise)
        return X

    def _sparse_refusal(self) -> Exception:
        return TypeError(
            f"Sparse data was passed, and {type(self).__name__} with these parameters "
            "takes dense rows only; use X.toarray()"
        )

    def _fit_block(self, block, weights):
        self._keep_fitted(self._fitted(block, weights))

    def _keep_fitted(self, inner: Any) -> None:
        """Keep what was fitted: public attributes as attributes, others apart."""
        self._keep_public(inner, {*OWN, *self._kept_apart})
        self._private = {
            name: _packed(value)
            for name, value in vars(inner).items()
            if name.startswith("_") or name in self._kept_apart
        }

    def _inner(self) -> Any:
        """scikit-learn's fitted transformer, made of what is kept."""
        self._require_fitted()
        inner = self._unfitted()
        public = {name: value for name, value in self._public().items() if name not in OWN}
        kept = getattr(self, "_private", {})
        private = {name: self._unpacked(value) for name, value in kept.items()}
        vars(inner).update(public | private | {"n_features_in_": len(self.positions_)})
        return inner

    def _unpacked(self, value: Any) -> Any:
        if not isinstance(value, dict) or "class" not in value:
            return value
        cls = {each.__name__: each for each in self._inner_classes}[value["class"]]
        made = cls()
        for name, content in value["values"].items():
            if not hasattr(cls, name):
                vars(made)[name] = self._unpacked(content)
        return made

    def _example_row(self) -> np.ndarray | None:
        """A row that can be transformed, to try out what was read from a model file."""
        return np.ones((1, self.n_features_in_)) if hasattr(self, "n_features_in_") else None

    def _is_whole_array(self, X: Any) -> bool:
        """Whether X goes to scikit-learn as it is: an array, after a fit of such an array."""
        all_numbers = all(kind == str(Kind.NUMBER) for kind in self.kinds_)
        whole = len(self.positions_) == self.n_features_in_
        return self.columns is None and not is_table(X) and all_numbers and whole

    def transform(self, X):
        """Transform the columns concerned; the others pass through.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)

        Returns
        -------
        X_new : array, sparse matrix, data frame or Table
            Of the kind that was given.
        """
        self._require_fitted()
        if self._is_whole_array(X):
            return self._transformed(X)
        return super().transform(X)

    def _transformed(self, X: Any) -> Any:
        """An array that goes to scikit-learn as it is."""
        X = self._checked_array(X)
        with quietly(), own_refusals(self):
            return self._inner().transform(X)

    def inverse_transform(self, X):
        """Undo the transformation.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features_out)
            As ``transform`` gives it.

        Returns
        -------
        X_original : array, sparse matrix, data frame or Table
            Of the kind that was given.
        """
        self._require_fitted()
        if self._is_whole_array(X) and not self._why_not:
            return self._inner().inverse_transform(X)
        return super().inverse_transform(X)

    def _working_memory(self, n_rows, n_columns):
        return 8 * 2 * n_rows * n_columns

    def _forward(self, block):
        with quietly():
            return _dense(self._inner().transform(block))

    def _backward(self, block):
        return _dense(self._inner().inverse_transform(block))

    def _new_names(self, names):
        if self._one_to_one:
            return names
        inner = self._inner()
        if not names:  # nothing was fitted
            return names
        vars(inner).pop("feature_names_in_", None)
        return [str(name) for name in inner.get_feature_names_out(names)]


class BatchScaler(WrappedFilter):
    """A wrapped filter that can learn from one batch of rows after another."""

    _stored = {
        "n_samples_seen_": Whole() | Number() | Array("f8", (None,)),
    }

    @validated
    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more batch of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        if self.columns is not None:
            raise DataError(f"{type(self).__name__}.partial_fit takes all columns: columns=None")
        first = not hasattr(self, "n_samples_seen_")
        if is_table(X):
            _check_feature_names(self, X.arrow if isinstance(X, Table) else X, reset=first)
            grid = Grid.of(X, kinds=False)
            X = grid.numbers(range(len(grid.names)))
        X = self._checked_array(X)
        inner = self._unfitted() if first else self._inner()
        weights = checked_weights(sample_weight, X)
        more = {} if weights is None else {"sample_weight": weights}
        if more and not has_fit_parameter(inner, "sample_weight"):
            X, more = np.asarray(X)[weights > 0], {}
        inner.partial_fit(X, **more)
        self._keep_array(inner)
        return self


class Unweighted(WrappedFilter):
    """A wrapped filter that fits without weights, as scikit-learn's class does."""

    def fit(self, X, y=None):  # type: ignore[override]
        """Learn from the training rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        return super().fit(X, y)

    def fit_transform(self, X, y=None):  # type: ignore[override]
        """Learn from the rows and transform them.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or Table of shape (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        X_new : array, sparse matrix, data frame or Table
            Of the kind that was given.
        """
        return self.fit(X, y).transform(X)


def _packed(value: Any) -> Any:
    """A fitted object of scikit-learn's inside another, as data."""
    if not isinstance(value, BaseEstimator):
        return value
    return {
        "class": type(value).__name__,
        "values": {name: _packed(content) for name, content in vars(value).items()},
    }


def _dense(block: Any) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block
