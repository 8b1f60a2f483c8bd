"""What classifiers give: classes of several targets at once, and classes after each round.

With several targets, each column of the target has classes of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.contract import Classifier, Data


class ManyClasses(Classifier):
    """A classifier whose target may have several columns.

    Trees keep the class shares of all columns side by side, each padded to the greatest number of
    classes.
    """

    _many_targets = True
    classes_: Any

    @property
    def n_outputs_(self) -> int:
        """Number of columns of the target."""
        return len(self.classes_) if isinstance(self.classes_, list) else 1

    @property
    def n_classes_(self) -> int | list[int]:
        """Number of classes; a list of them where the target has several columns."""
        if isinstance(self.classes_, list):
            return [len(each) for each in self.classes_]
        return len(self.classes_)

    def _take_in(self, X, y, sample_weight) -> Data:
        if sp.issparse(y):
            raise TypeError(
                "Sparse data was passed for y, but dense data is required: sparse "
                "multilabel-indicator for y is not supported."
            )
        return super()._take_in(X, y, sample_weight)

    def _by_output(self, proba: np.ndarray) -> list[np.ndarray]:
        """Probabilities of each column of the target, without the padding."""
        width = proba.shape[1] // self.n_outputs_
        return [
            np.ascontiguousarray(proba[:, k * width : k * width + len(classes)])
            for k, classes in enumerate(self.classes_)
        ]


class StagedClasses(Classifier):
    """A boosted classifier, which predicts after each of its rounds."""

    classes_: Any

    def _staged_scores(self, X: Any) -> Iterator[np.ndarray]:
        """Raw scores after each round."""
        raise NotImplementedError

    def _shares(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes from raw scores."""
        raise NotImplementedError

    def staged_predict_proba(self, X) -> Iterator[np.ndarray]:
        """Probabilities of the classes after each round.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Yields
        ------
        proba : ndarray of shape (n_samples, n_classes)
        """
        for scores in self._staged_scores(X):
            yield self._shares(scores)

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The most probable class after each round.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)

        Yields
        ------
        classes : ndarray of shape (n_samples,)
        """
        for shares in self.staged_predict_proba(X):
            yield self.classes_[shares.argmax(axis=1)]
