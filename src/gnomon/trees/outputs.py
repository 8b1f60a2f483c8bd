"""Classifiers of several targets at once: each column of the target has classes of its own."""

from __future__ import annotations

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
