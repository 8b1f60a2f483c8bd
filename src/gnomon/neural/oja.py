"""Hebbian learning: units that fire together link together, and Oja's rule that bounds it.

Hebb's rule w <- w + eta y x with y = w'x grows without bound along the first principal component.
Oja's rule subtracts eta y^2 w, which keeps |w| near one, so that w itself comes to rest there.
Sanger's rule does this for several units, each without what the units before it explain:
w_k <- w_k + eta y_k (x - sum_{l <= k} y_l w_l).

Texts: 003 4.3.7.3 names Hebbian learning; Oja (1982), Sanger (1989).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from gnomon.contract import Data, Transformer
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import HISTORY, SEED, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.neural.batches import Slots

ROWS_TOGETHER = 1024  # rows drawn for one call of the kernel


@method(
    task="reduce",
    texts="003 4.3.7.3",
    use="A principal component learned row by row, to show that a local rule of one unit finds it.",
    avoid="Results: PCA is exact and faster.",
    peers=("sklearn.decomposition.PCA",),
    synonyms=("Oja's rule", "Hebbian learning", "Sanger's rule", "generalized Hebbian algorithm"),
)
class OjaPCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """First principal components by Oja's and Sanger's rules of learning.

    Each row moves the weights by ``eta_t y (x - y w)``, with steps that shrink as 1 / t; they come
    to rest at the maximum of ``E (w'x)^2`` with ``|w| = 1``. Use it for teaching, to see a
    principal component appear row by row; not for results, which `PCA` gives exactly.

    Parameters
    ----------
    n_components : int, default=1
        Number of units; at most the number of columns.
    learning_rate : float, default=1.0
        The first step, in units of one over the total variance; it shrinks by half after the first
        pass, to a third after the second, and so on.
    max_iter : int, default=100
        Most passes over the rows.
    tol : float, default=1e-4
        Ends when no weight moves by more than this in a pass.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first weights and of the order of rows.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the weights after every pass in ``history_.states``.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Weights, of length near one.
    mean_ : ndarray of shape (n_features,)
    scale_ : float
        Root of the total variance, by which centered rows are divided while learning.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean squared output of the units, summed, pass by pass, in units of the total variance.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Notes
    -----
    Texts: 003 4.3.7.3. Rows far from the mean make a shorter step, at most one over their squared
    length, so that no row alone makes the weights explode.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import OjaPCA
    >>> rows = np.outer(np.linspace(-1, 1, 50), [3.0, 4.0])
    >>> abs(OjaPCA(random_state=0).fit(rows).components_).round(3)
    array([[0.6, 0.8]])
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "learning_rate": [above(0)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "random_state": SEED,
        "keep_history": HISTORY,
    }
    _stored = {
        "components_": Array("f8", ("n_units", "n_columns")),
        "mean_": Array("f8", ("n_columns",)),
        "scale_": Number(0.0),
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        learning_rate: float = 1.0,
        max_iter: int = 100,
        tol: float = 1e-4,
        random_state: Any = None,
        keep_history: str = "objective",
    ):
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.keep_history = keep_history

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _fit(self, data: Data) -> None:
        if self.n_components > data.n_columns:
            raise DataError(
                f"n_components={self.n_components} exceeds the {data.n_columns} columns; "
                "decrease n_components"
            )
        with one_blas_thread():
            self._pass_over(data)

    def _pass_over(self, data: Data) -> None:
        rng, slots = self._rng(), Slots(data.rows, weights=data.weights)
        distinct = distinct_rows(data.rows, data.weight_array)
        share = distinct.weights / distinct.weights.sum()
        self.mean_ = share @ distinct.rows
        variance = float(share @ ((distinct.rows - self.mean_) ** 2).sum(axis=1))
        self.scale_ = float(np.sqrt(variance)) or 1.0
        start = rng.standard_normal((self.n_components, data.n_columns))
        weights = np.ascontiguousarray(np.linalg.qr(start.T)[0].T)
        course = self._course("pass", self.max_iter)
        for turn in course:
            before, squared = weights.copy(), 0.0
            step = min(self.learning_rate, 1.0) / (1.0 + turn)
            for batch in slots.epoch(ROWS_TOGETHER, rng):
                rows = (data.rows[batch.rows] - self.mean_) / self.scale_
                counts = np.ones(len(rows)) if batch.weights is None else batch.weights
                squared += sanger_pass(rows, counts, step, weights)
            if course.end_step(
                squared / slots.n_slots,
                bool(np.abs(weights - before).max() <= self.tol),
                state=partial(dict, components=weights.copy()),
                attributes=partial(self._so_far, weights.copy(), len(course.history) + 1),
            ):
                break
        self.components_ = weights
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _so_far(self, weights: np.ndarray, n_iter: int) -> dict[str, Any]:
        return self._public() | {"components_": weights, "n_iter_": n_iter}

    def _map(self, rows: Any) -> np.ndarray:
        return (rows - self.mean_) @ self.components_.T

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (3 * n_rows * (n_columns + 3) + min(ROWS_TOGETHER, n_rows) * n_columns)


def hebb_step(weights: Any, x: Any, learning_rate: float) -> np.ndarray:
    """Weights of a unit after one step of Hebb's rule, w + eta (w'x) x.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
    x : array-like of shape (n_features,)
    learning_rate : float

    Returns
    -------
    weights : ndarray of shape (n_features,)

    Examples
    --------
    >>> hebb_step([1.0, 0.0], [1.0, 1.0], 0.5)
    array([1.5, 0.5])
    """
    w, row = np.asarray(weights, float), np.asarray(x, float)
    return w + learning_rate * (w @ row) * row


def oja_step(weights: Any, x: Any, learning_rate: float) -> np.ndarray:
    """Weights of a unit after one step of Oja's rule, w + eta y (x - y w) with y = w'x.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
    x : array-like of shape (n_features,)
    learning_rate : float

    Returns
    -------
    weights : ndarray of shape (n_features,)

    Examples
    --------
    >>> oja_step([1.0, 0.0], [1.0, 1.0], 0.5)
    array([1. , 0.5])
    """
    w, row = np.asarray(weights, float), np.asarray(x, float)
    y = w @ row
    return w + learning_rate * y * (row - y * w)


@kernel("f8[:,:]", "f8[:]", "f8", "out f8[:,:]")
def sanger_pass(rows: Any, counts: Any, step: float, weights: Any) -> float:
    """Sanger's rule for row after row; returns the sum of squared outputs.

    rows (n, d) centered, counts (n,) their weights, weights (k, d): w_k <- w_k + eta y_k (x -
    sum_{l <= k} y_l w_l), with eta the smaller of `step` times the weight and 1 / |x|^2.
    """
    k, d = weights.shape
    rest, output = np.empty(d), np.empty(k)
    total = 0.0
    for i in range(len(rows)):
        length = 0.0
        for j in range(d):
            length += rows[i, j] * rows[i, j]
            rest[j] = rows[i, j]
        eta = step * counts[i]
        eta = eta if eta * length <= 1.0 else 1.0 / length
        for unit in range(k):
            y = 0.0
            for j in range(d):
                y += weights[unit, j] * rows[i, j]
            output[unit] = y
            total += counts[i] * y * y
        for unit in range(k):
            y = output[unit]
            for j in range(d):
                rest[j] -= y * weights[unit, j]
                weights[unit, j] += eta * y * rest[j]
    return total
