"""A network of one hidden layer, for objectives that ordinary training does not know.

Texts: 003 4.3, 4.5.5 · 004 17.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize


class SmallNet:
    """``f(x) = tanh(x V + a) W + b`` of standardized rows, with all weights in one vector.

    Parameters
    ----------
    n_in, n_hidden, n_out : int
    """

    def __init__(self, n_in: int, n_hidden: int, n_out: int):
        self.shapes = [(n_in, n_hidden), (n_hidden,), (n_hidden, n_out), (n_out,)]
        self.sizes = [int(np.prod(shape)) for shape in self.shapes]

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Small random weights, by the number of inputs of each unit."""
        parts = [
            rng.normal(scale=1.0 / np.sqrt(max(shape[0], 1)), size=shape)
            if len(shape) == 2
            else np.zeros(shape)
            for shape in self.shapes
        ]
        return np.concatenate([part.ravel() for part in parts])

    def parts(self, weights: np.ndarray) -> list[np.ndarray]:
        """V, a, W and b."""
        ends = np.cumsum(self.sizes)[:-1]
        split = np.split(weights, ends)
        return [part.reshape(shape) for part, shape in zip(split, self.shapes)]

    def outputs(self, weights: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Hidden values and outputs."""
        first, offset, second, last = self.parts(weights)
        hidden = np.tanh(np.dot(rows, first) + offset)
        return hidden, np.dot(hidden, second) + last

    def slope(
        self, weights: np.ndarray, rows: np.ndarray, hidden: np.ndarray, error: np.ndarray
    ) -> np.ndarray:
        """Gradient of a sum over rows whose gradient in the outputs is `error`."""
        _, _, second, _ = self.parts(weights)
        back = np.dot(error, second.T) * (1.0 - hidden**2)
        parts = [np.dot(rows.T, back), back.sum(axis=0), np.dot(hidden.T, error), error.sum(axis=0)]
        return np.concatenate([part.ravel() for part in parts])

    def decay(self, weights: np.ndarray, alpha: float) -> tuple[float, np.ndarray]:
        """``alpha / 2`` times the squares of V and W, and the gradient."""
        first, offset, second, last = self.parts(weights)
        value = 0.5 * alpha * float((first**2).sum() + (second**2).sum())
        parts = [alpha * first, 0 * offset, alpha * second, 0 * last]
        return value, np.concatenate([part.ravel() for part in parts])


def descend(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    max_iter: int,
    seen: Callable[[np.ndarray, float], bool],
) -> np.ndarray:
    """L-BFGS; ``seen(weights, objective)`` after every step says whether to stop."""
    last: dict[str, Any] = {"at": start}

    def watched(intermediate_result: Any) -> None:
        last["at"] = np.array(intermediate_result.x)
        if seen(last["at"], float(intermediate_result.fun)):
            raise StopIteration

    options = {"maxiter": max_iter, "gtol": 1e-6, "ftol": 1e-12}
    found = minimize(
        objective, start, jac=True, method="L-BFGS-B", callback=watched, options=options
    )
    return np.asarray(found.x)
