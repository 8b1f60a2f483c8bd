"""What linear classifiers of this package share: planes, scores, and the class they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.contract import ScoringClassifier
from gnomon.contract.coefficients import SparseCoefficients, dense
from gnomon.engine.stored import Array, Optional

# products of several such numbers with their planes can still be computed with
LARGEST = 1e20


def one_against_rest(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Signs of the rows, a row per plane: one plane for two classes, else one per class."""
    if n_classes < 2:
        return np.zeros((0, len(codes)))
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[None, :]
    return np.where(codes[None, :] == np.arange(n_classes)[:, None], 1.0, -1.0)


class LinearMachine(SparseCoefficients, ScoringClassifier):
    """A classifier by planes ``coef_`` and ``intercept_``."""

    _largest = LARGEST
    _stored = {
        "coef_": Optional(Array("f8", ("n_coef", "n_columns"))),
        "intercept_": Optional(Array("f8", ("n_coef",))),
    }

    def _planes(self, planes: np.ndarray) -> dict[str, Any]:
        """Attributes of planes whose last entry is the offset."""
        return {"coef_": planes[:, :-1].copy(), "intercept_": self._offsets(planes)}

    def _offsets(self, planes: np.ndarray) -> np.ndarray:
        return planes[:, -1] * float(self.fit_intercept)

    def _scores(self, rows) -> np.ndarray:
        return np.asarray(rows @ dense(self.coef_).T) + self.intercept_
