"""Classifiers that give scores and no probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from gnomon.contract.learner import Classifier


def _refuse_probabilities(machine: Any) -> bool:
    raise AttributeError(
        f"{type(machine).__name__} gives scores and no probabilities; take decision_function, or "
        "correct its scores by gnomon.evaluate"
    )


class ScoringClassifier(Classifier):
    """A classifier by scores: the sign of one decides of two classes, the greatest of more."""

    def _scores(self, rows: Any) -> np.ndarray:
        """Scores of a block of rows, a column per plane; none where there is one class."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: of two classes one, positive for the second; of more one per class.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._each_block(self._scores, X)
        if len(self.classes_) == 1:
            return np.zeros(len(scores))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of the greatest score, for each row; of two, the second from zero on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[((scores >= 0) & (len(self.classes_) == 2)).astype(np.int64)]
        return self.classes_[scores.argmax(axis=1)]

    @available_if(_refuse_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Not given: a score is no probability.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : None
            Asking for it raises AttributeError.
        """
        raise NotImplementedError

    @available_if(_refuse_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Not given, as `predict_proba`.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : None
            Asking for it raises AttributeError.
        """
        raise NotImplementedError
