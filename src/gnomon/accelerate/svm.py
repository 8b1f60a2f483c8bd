"""Support vector machines: kernels as products of matrices, on all processors.

The fit gives libsvm, which scikit-learn uses, the table of kernel values instead of the rows: its
steps are the same. Predictions sum over the support vectors as libsvm does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.accelerate.blocks import fill_blocks, require_doubles
from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require

KERNELS = ("linear", "poly", "rbf", "sigmoid")
# Rows whose table of kernel values takes half a gigabyte.
MOST_ROWS = 8_000


def kernel_rows(estimator: Any, rows: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Kernel values between rows, by the parameters of the estimator."""
    found = np.dot(rows, other.T)
    if estimator.kernel == "rbf":
        found *= -2.0
        found += np.einsum("nd,nd->n", rows, rows)[:, None]
        found += np.einsum("nd,nd->n", other, other)
        np.maximum(found, 0.0, out=found)
        found *= -estimator._gamma
        np.exp(found, out=found)
    elif estimator.kernel != "linear":
        found *= estimator._gamma
        found += estimator.coef0
        if estimator.kernel == "poly":
            found **= estimator.degree
        else:
            np.tanh(found, out=found)
    return found


@replaces("sklearn.svm._base", "BaseLibSVM._dense_fit", "{}.fit")
def dense_fit(
    original: Any,
    self: Any,
    X: Any,
    y: np.ndarray,
    sample_weight: np.ndarray,
    solver_type: int,
    kernel: str,
    random_seed: int,
) -> None:
    """Train with a table of kernel values."""
    from sklearn.svm import _libsvm as libsvm

    require(kernel == "rbf", f"kernel={kernel!r}")
    require(not self.verbose, "verbose output")
    require_doubles(X)
    n, d = X.shape
    require(n <= MOST_ROWS, f"more than {MOST_ROWS:,} rows")
    worth("support vectors", float(n) * n * d)
    center = X.mean(axis=0)
    rows = X - center
    table = np.empty((n, n))

    def fill(some: slice) -> None:
        table[some] = kernel_rows(self, rows[some], rows)

    fill_blocks(fill, n, n)
    np.fill_diagonal(table, 1.0)
    libsvm.set_verbosity_wrap(self.verbose)
    (
        self.support_,
        _,
        self._n_support,
        self.dual_coef_,
        self.intercept_,
        self._probA,
        self._probB,
        self.fit_status_,
        self._num_iter,
    ) = libsvm.fit(
        table,
        y,
        svm_type=solver_type,
        sample_weight=sample_weight,
        class_weight=getattr(self, "class_weight_", np.empty(0)),
        kernel="precomputed",
        C=self.C,
        nu=self.nu,
        probability=self._effective_probability,
        shrinking=self.shrinking,
        tol=self.tol,
        cache_size=self.cache_size,
        epsilon=self.epsilon,
        max_iter=self.max_iter,
        random_seed=random_seed,
    )
    self.support_vectors_ = X[self.support_]
    self._warn_from_fit_status()


def decision_values(self: Any, X: np.ndarray) -> np.ndarray:
    """What libsvm computes for each row: one column for each pair of classes, or one."""
    require(self.kernel in KERNELS, "a kernel function or a table of kernel values")
    require_doubles(X)
    vectors = self.support_vectors_
    require_doubles(vectors, "support vectors")
    require(len(vectors), "no support vectors")
    worth("support vector predictions", len(X) * float(vectors.size))
    weights = _pair_weights(self) if self._impl in ("c_svc", "nu_svc") else self._dual_coef_.T
    center = vectors.mean(axis=0) if self.kernel == "rbf" else np.zeros(X.shape[1])
    around = vectors - center
    found = np.empty((len(X), weights.shape[1]))

    def fill(some: slice) -> None:
        found[some] = np.dot(kernel_rows(self, X[some] - center, around), weights)

    fill_blocks(fill, len(X), len(vectors))
    return found + self._intercept_


def _pair_weights(self: Any) -> np.ndarray:
    """The weight of each support vector in the decision between each pair of classes."""
    ends = np.cumsum(self._n_support)
    parts = [slice(end - size, end) for end, size in zip(ends, self._n_support)]
    coef = self._dual_coef_
    columns = []
    for i in range(len(parts)):
        for j in range(i + 1, len(parts)):
            column = np.zeros(coef.shape[1])
            column[parts[i]] = coef[j - 1, parts[i]]
            column[parts[j]] = coef[i, parts[j]]
            columns.append(column)
    return np.stack(columns, axis=1)


@replaces("sklearn.svm._base", "BaseLibSVM._dense_decision_function", "{}.decision_function")
def dense_decision_function(original: Any, self: Any, X: Any) -> np.ndarray:
    """Decision values of rows."""
    return decision_values(self, X)


@replaces("sklearn.svm._base", "BaseLibSVM._dense_predict", "{}.predict")
def dense_predict(original: Any, self: Any, X: Any) -> np.ndarray:
    """Predictions: votes of the pairs of classes, the side of a one-class machine, or numbers."""
    values = decision_values(self, X)
    if self._impl == "one_class":
        return np.where(values[:, 0] > 0, 1.0, -1.0)
    if self._impl not in ("c_svc", "nu_svc"):
        return values[:, 0]
    k = len(self._n_support)
    votes: np.ndarray = np.zeros((len(values), k), dtype=np.intp)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    for (i, j), column in zip(pairs, values.T):
        votes[:, i] += column > 0
        votes[:, j] += column <= 0
    return votes.argmax(axis=1).astype(np.float64)
