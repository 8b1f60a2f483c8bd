"""Bayes' rule in logarithms: probabilities of classes from the scores of each."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from gnomon.contract import Classifier


class BayesClassifier(Classifier):
    """A classifier by Bayes' rule: gives ``_scores(rows)``.

    These are log p(class, x), up to what is the same for all classes; probabilities are their
    exponentials, divided by their sum.
    """

    def _scores(self, rows) -> np.ndarray:
        """Scores of shape (n, n_classes) for a block of rows."""
        raise NotImplementedError

    def _log_proba(self, rows) -> np.ndarray:
        scores = self._scores(rows)
        return scores - logsumexp(scores, axis=1, keepdims=True)

    def _proba(self, rows) -> np.ndarray:
        proba = np.exp(self._log_proba(rows))
        return proba / proba.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithm of the probability of each class, for each row, without underflow.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return self._each_block(self._log_proba, X)

    def predict(self, X) -> np.ndarray:
        """The most probable class, for each row; ties go to the class that sorts first.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        best = self._each_block(lambda rows: self._scores(rows).argmax(axis=1), X)
        return self.classes_[best]
