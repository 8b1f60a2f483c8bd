"""GaussianProcessRegressor: a normal distribution over functions, given by a kernel.

    f(x) | data  ~  N(k' (K + alpha I)^-1 y,  k(x, x) - k' (K + alpha I)^-1 k)

scikit-learn's own class with its kernels, which takes any table here. `Kriging` is the same model
in the terms of geostatistics, with variograms.

Texts: 000 6 · 003 6.3 (kriging).
"""

from __future__ import annotations

import numpy as np
from sklearn import gaussian_process
from sklearn.gaussian_process import kernels

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.registry import method
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Number, Object
from gnomon.engine.threads import one_blas_thread

BLOCK = 2**18  # kernel values at once: a prediction allocates four such blocks, 8 MB

for _kernel in (
    kernels.CompoundKernel,
    kernels.ConstantKernel,
    kernels.DotProduct,
    kernels.Exponentiation,
    kernels.ExpSineSquared,
    kernels.Matern,
    kernels.PairwiseKernel,
    kernels.Product,
    kernels.RationalQuadratic,
    kernels.RBF,
    kernels.Sum,
    kernels.WhiteKernel,
):
    storable(_kernel, f"gaussian_process.{_kernel.__name__}", {})


@method(
    task="regress",
    texts="000 6 · 003 6.3",
    use="Few rows, a smooth target, and a standard deviation for each prediction.",
    avoid="More than some thousand rows: time grows with their cube.",
    peers=("sklearn.gaussian_process.GaussianProcessRegressor",),
    on="scikit-learn",
)
class GaussianProcessRegressor(OverScikitLearn, gaussian_process.GaussianProcessRegressor):
    """Gaussian process regression: predictions with standard deviations, by a kernel.

    Use it for few rows and a smooth target, with a kernel that says how smooth; not for more than
    some thousand rows, since time grows with their cube and memory with their square.

    Examples
    --------
    >>> from gnomon.bayes import GaussianProcessRegressor
    >>> model = GaussianProcessRegressor(alpha=0.01).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0])
    >>> model.predict([[1.0]]).round(2)
    array([0.97])
    """

    _target = "numbers"
    _transient = ("_rng",)  # the generator of one fit
    _stored = {
        "L_": Array("f8", ("n_L", "n_L")),
        "X_train_": Array("f", ("n_L", "n_columns")),
        "_y_train_mean": Array("f8", [(), (None,)]) | Number(),
        "_y_train_std": Array("f8", [(), (None,)], low=0.0) | Number(),
        "alpha_": Array("f8", [("n_L",), ("n_L", None)]),
        "kernel_": Object(),
        "log_marginal_likelihood_value_": Number(),
        "y_train_": Array("f8", [("n_L",), ("n_L", None)]),
    }
    _keeps_rows = True
    _many_targets = True

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (9 * n_rows**2 + 6 * n_rows * n_columns)

    @one_blas_thread()  # the bits of factors depend on the number of threads
    def _fit_peer(self, fit, rows, given):
        return super()._fit_peer(fit, rows, given)

    def _rows_at_once(self) -> int | None:
        if not hasattr(self, "X_train_"):  # before fit it answers with its prior
            return None
        return max(BLOCK // len(self.X_train_), 1)

    def _check_loaded(self) -> None:
        if not hasattr(self, "X_train_"):
            return
        n = len(self.X_train_)
        if np.shape(self.L_) != (n, n) or len(self.alpha_) != n or len(self.y_train_) != n:
            raise DataError("X_train_, y_train_, L_ and alpha_ do not fit together")
        if not np.isfinite(self.kernel_(self.X_train_[:1])).all():
            raise DataError("the kernel gives numbers that are not finite")

    def _memory_remedy(self) -> str:
        return "Use fewer rows: memory grows with the square of their number."
