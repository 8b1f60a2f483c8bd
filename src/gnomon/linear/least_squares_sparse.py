"""Least squares of very many sparse columns, without the matrix of their products.

The normal equations (X'WX + alpha I) b = X'Wy, a constant beside, are solved by conjugate
gradients: each step needs one look at the stored cells (see `gnomon.linear.glm_sparse`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.contract import Data
from gnomon.linear.design import fractional_weights
from gnomon.linear.glm_sparse import conjugate_gradients

# Columns whose products are still added up.
MOST_WITH_MATRIX = 2000
ENOUGH = 1e-13


def solve_sparse(data: Data, alpha: float, intercept: bool) -> dict[str, Any]:
    """What `gnomon.linear.least_squares.solve_wide` gives, of sparse rows with a penalty."""
    rows, weights = data.rows, data.weight_array
    targets = data.y.reshape(data.n_rows, -1)
    p = data.n_columns
    share = weights / weights.sum()
    middle = share @ targets if intercept else np.zeros(targets.shape[1])

    def times(vector: np.ndarray) -> np.ndarray:
        fitted = weights * (rows @ vector[:p] + (vector[p] if intercept else 0.0))
        image = np.append(rows.T @ fitted, fitted.sum()) if intercept else rows.T @ fitted
        image[:p] += alpha * vector[:p]
        return image

    squares = rows.power(2).T @ weights
    diagonal = np.append(squares + alpha, weights.sum()) if intercept else squares + alpha
    coef, residual = np.empty((p + intercept, targets.shape[1])), np.empty(targets.shape[1])
    for place, target in enumerate((targets - middle).T):
        right = rows.T @ (weights * target)
        if intercept:
            right = np.append(right, weights @ target)
        coef[:, place] = found = conjugate_gradients(times, diagonal, right, ENOUGH)
        rest = target - rows @ found[:p] - (found[p] if intercept else 0.0)
        residual[place] = weights @ rest**2
    return {
        "single": data.y.ndim == 1,
        "coef": coef[:p],
        "intercept": middle + coef[p] if intercept else None,
        "rank": p,
        "condition": np.nan,
        "solver": "conjugate gradients",
        "weight": weights.sum(),
        "fractional": fractional_weights(weights),
        "residual": residual,
        "total": weights @ (targets - middle) ** 2,
        "inverse_diagonal": np.empty(0),
        "objective": float(residual.sum() + alpha * (coef[:p] ** 2).sum()),
    }
