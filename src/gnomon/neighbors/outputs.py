"""Votes for classes of one target or of several, for classifiers that count their neighbours."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length

from gnomon.contract import Classifier
from gnomon.contract.intake import is_frame
from gnomon.engine.stored import Array, Flag, Object


class ClassVotes(Classifier):
    """A classifier that keeps the class of each row, of one target or of several side by side."""

    index_: Any
    _stored = {
        "codes_": Array("i8", ("n_samples_fit_",), low=0, below="n_classes"),
        "index_": Object(("NeighborIndex",)),
        "outputs_2d_": Flag(),
    }

    def _learn(self, X, y, sample_weight):
        several = self._several(y)
        if several is None:
            self.outputs_2d_ = False
            return super()._learn(X, y, sample_weight)
        found = [np.unique(column, return_inverse=True) for column in several.T]
        codes = np.column_stack([code for _, code in found]).astype(np.int64)
        check_consistent_length(X, codes)
        together, which = np.unique(codes, axis=0, return_inverse=True)
        self.outputs_2d_ = True
        self._together = together
        try:
            # each combination of classes is one class of a single target
            super()._learn(X, which.ravel().astype(np.int64), sample_weight)
        finally:
            del self._together
        self.classes_ = [classes for classes, _ in found]
        return self

    def _several(self, y) -> np.ndarray | None:
        """The targets as columns where there are several; None for a single target."""
        if y is None or isinstance(y, str):
            return None
        columns = y.to_numpy() if is_frame(y) else y
        if not hasattr(columns, "ndim"):
            columns = np.asarray(columns)
        if columns.ndim != 2 or columns.shape[1] < 2:
            return None
        columns = check_array(columns, dtype=None, input_name="y")
        check_classification_targets(columns)
        return columns

    def _keep_codes(self, y: np.ndarray) -> None:
        codes = np.array(y, dtype=np.int64)
        if self.outputs_2d_:
            codes = self._together[self.classes_][codes]
        self.codes_ = codes

    def _n_classes(self) -> list[int]:
        several = self.classes_ if self.outputs_2d_ else [self.classes_]
        return [len(classes) for classes in several]

    def _starts(self) -> np.ndarray:
        return np.concatenate([[0], np.cumsum(self._n_classes())])

    def _columns(self) -> np.ndarray:
        """The code of each row for each target, counted on from those of the targets before."""
        return self.codes_.reshape(len(self.codes_), -1) + self._starts()[:-1]

    def _counted_votes(self, indices: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """Votes for each class of each target; indices and counted of shape (n, m)."""
        n, total = len(indices), int(self._starts()[-1])
        votes = np.zeros(n * total)
        places = np.arange(n)[:, None] * total
        for column in self._columns().T:
            cells = places + column[indices]
            votes += np.bincount(cells.ravel(), counted.ravel(), minlength=len(votes))
        return votes.reshape(n, total)

    def _indicators(self) -> np.ndarray:
        """One column per class of each target: one where a row has it."""
        columns = self._columns()
        found = np.zeros((len(columns), int(self._starts()[-1])))
        found[np.arange(len(columns))[:, None], columns] = 1.0
        return found

    def _parts_of(self, shares: np.ndarray) -> list[np.ndarray]:
        """The columns of each target."""
        starts = self._starts()
        return [shares[:, a:b] for a, b in itertools.pairwise(starts)]

    def _decoded(self, codes: np.ndarray) -> np.ndarray:
        """Classes of codes of shape (n, n_targets)."""
        if not self.outputs_2d_:
            return self.classes_[codes[:, 0]]
        return np.column_stack([c[code] for c, code in zip(self.classes_, codes.T)])

    def predict_proba(self, X) -> np.ndarray | list[np.ndarray]:
        """Probability of each class, for each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)
            None for the training rows, none of which votes for itself.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or a list of one for each target
            Columns in the order of ``classes_``.
        """
        found = self._parts_of(self._each_query(self._proba, X))
        return found if self.outputs_2d_ else found[0]

    def predict_log_proba(self, X) -> np.ndarray | list[np.ndarray]:
        """Logarithm of the probability of each class, for each row.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or a list of one for each target
        """
        found = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(each) for each in found] if self.outputs_2d_ else np.log(found)

    def _check_codes(self) -> None:
        """Raise where classes read from a model file do not fit the rows."""
        if not hasattr(self, "codes_"):
            return
        if len(self.codes_) != self.index_.n_rows or self.codes_.dtype != np.int64:
            raise ValueError("the classes of the stored rows are not as many as the rows")
        codes = self.codes_.reshape(len(self.codes_), -1)
        counts = self._n_classes()
        if codes.shape[1] != len(counts) or (codes < 0).any() or (codes >= counts).any():
            raise ValueError("a stored row has a class that is not there")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags
