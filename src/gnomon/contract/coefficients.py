"""Coefficients of linear classifiers, which may be kept as a sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine.stored import Array


def dense(coefficients: Any) -> np.ndarray:
    """Coefficients as an array, whether they are sparse or not."""
    return coefficients.toarray() if sp.issparse(coefficients) else np.asarray(coefficients)


class SparseCoefficients:
    """Coefficients of a classifier that can be kept as a sparse matrix."""

    coef_: Any
    _stored = {
        "coef_": Array("f", (None, "n_columns")),
    }

    def sparsify(self) -> Any:
        """Keep ``coef_`` as a sparse matrix: saves memory where most coefficients are zero.

        Returns
        -------
        self : object
        """
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Any:
        """Keep ``coef_`` as an array, which is the default.

        Returns
        -------
        self : object
        """
        self.coef_ = dense(self.coef_)
        return self
