"""Kernel ridge regression: ridge regression in the space of a kernel.

    f(x) = sum_i a_i k(x_i, x),    a = (K + alpha I)^-1 y

The plane of ridge regression is a sum of rows, so that only products of rows are needed, and a
kernel stands in their place. scikit-learn's own class, which takes any table here.

Texts: 002 L1584-1605, L1708-1714 (methods that see rows through products alone).
"""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import kernel_ridge
from sklearn.metrics.pairwise import pairwise_kernels

from gnomon.contract.in_units import InUnits
from gnomon.contract.over_scikit_learn import copied
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import one_blas_thread

CELLS_AT_ONCE = 500_000  # judgement: kernels of 4 MB, which stay in the cache of most machines


@method(
    task="regress",
    texts="002 L1584-1605, L1708-1714",
    use="Curves of few thousand rows by any kernel, in one solution of linear equations.",
    avoid="Many rows: time grows with their cube. Outliers (SVR), standard deviations (Kriging).",
    peers=("sklearn.kernel_ridge.KernelRidge",),
    on="scikit-learn",
    synonyms=("kernel regression", "regularization network", "least squares support vectors"),
)
class KernelRidge(InUnits, kernel_ridge.KernelRidge):
    """Ridge regression with kernels: a sum of kernels around all training rows.

    Use it for curves of at most some thousand rows, several targets at once; not for many rows,
    since it solves a system of as many equations, nor for wild targets, for which `SVR` is made.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import KernelRidge
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = KernelRidge(alpha=0.01, kernel="rbf").fit(X, np.sin(X).ravel())
    >>> model.predict([[1.5]]).round(2).tolist()
    [1.0]
    """

    natively = Takes(sparse=True)
    _target = "numbers"
    _many_targets = True
    _keeps_rows: ClassVar[bool] = True
    _stored = {
        "X_fit_": Array("f", (None, None), sparse=True),
        "dual_coef_": Array("f", [(None,), (None, None)]),
    }

    def _rows_at_once(self) -> int:
        """As many rows as make a small matrix of kernels."""
        return max(1, CELLS_AT_ONCE // self.X_fit_.shape[0])

    def _fit_peer(self, fit: Any, rows: Any, given: dict[str, Any]) -> Any:
        if self.kernel in ("chi2", "additive_chi2") and rows.min() < 0:
            raise DataError(
                f"kernel={self.kernel!r} compares counts and shares, and the rows hold values "
                "below 0; choose another kernel"
            )
        if self.kernel == "precomputed" and rows.shape[0] != rows.shape[1]:
            raise DataError(
                "kernel='precomputed' takes the kernels of all pairs of rows, a square matrix; "
                f"this one is {rows.shape[0]:,} x {rows.shape[1]:,}"
            )
        # kept rows are the method's own, so that kernels hang on values alone and not on whether
        # the rows that are asked about are the same object
        with one_blas_thread():  # the bits of a solution depend on the number of its threads
            return super()._fit_peer(fit, copied(rows), given)

    def _get_kernel(self, X: Any, Y: Any = None) -> Any:
        """scikit-learn's, which fails for chi2 without ``gamma``: 1, as of chi2_kernel."""
        if self.kernel != "chi2" or self.gamma is not None:
            return super()._get_kernel(X, Y)
        return pairwise_kernels(X, Y, metric="chi2", gamma=1.0)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (2 * n_rows**2 + 4 * n_rows * n_columns)
