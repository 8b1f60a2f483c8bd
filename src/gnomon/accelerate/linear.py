"""Linear models: least squares by products of columns, quantile planes, losses block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.accelerate.blocks import each_block, require_doubles
from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require
from gnomon.engine.threads import one_blas_thread

# Products of columns square the condition: beyond this ratio of eigenvalues scikit-learn's
# decomposition of the rows themselves is the more accurate one.
LEAST_EIGENVALUE = 1e-8
MOST_CELLS_FOR_ONE_THREAD = 2**20  # 8 MB, which no processor's own cache holds
LOSS = "LogisticRegression.fit and GLMs (steps)"


@replaces("sklearn.linear_model._base", "LinearRegression.fit", "{}.fit")
def least_squares(original: Any, self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Least squares from the products of columns, with one step of refinement."""
    from sklearn.utils.validation import validate_data

    require(type(self).__name__ == "LinearRegression", f"a {type(self).__name__}")
    require(sample_weight is None, "sample_weight")
    require(self.positive is False, "positive=True")
    require(not sp.issparse(X), "sparse rows")
    require(self.copy_X is True, "copy_X=False")
    worth("least squares", np.size(X))
    self._validate_params()
    X, y = validate_data(self, X, y, y_numeric=True, multi_output=True)
    require_doubles(X)
    n, d = X.shape
    require(n >= 2 * d, "fewer than twice as many rows as columns")
    targets = np.asarray(y, dtype=np.float64).reshape(n, -1)
    x_mean, y_mean = np.zeros(d), np.zeros(targets.shape[1])
    if self.fit_intercept:
        x_mean, y_mean = X.mean(axis=0), targets.mean(axis=0)
    gram, against = np.zeros((d, d)), np.zeros((d, targets.shape[1]))

    def products(some: slice) -> tuple[np.ndarray, np.ndarray]:
        rows = X[some] - x_mean
        return np.dot(rows.T, rows), np.dot(rows.T, targets[some] - y_mean)

    for part, right in each_block(products, n, d):
        gram += part
        against += right
    values, vectors = np.linalg.eigh(gram)
    require(values[0] > LEAST_EIGENVALUE * values[-1] > 0, "columns are nearly collinear")
    require(values[0] > self.tol**2 * values[-1], "tol is large")

    def solve(right: np.ndarray) -> np.ndarray:
        return vectors @ ((vectors.T @ right) / values[:, None])

    coef = solve(against)

    def left_over(some: slice) -> np.ndarray:
        rows = X[some] - x_mean
        return np.dot(rows.T, targets[some] - y_mean - rows @ coef)

    coef = coef + solve(np.sum(list(each_block(left_over, n, d)), axis=0))
    several = np.ndim(y) > 1
    self.coef_ = np.ascontiguousarray(coef.T) if several else coef[:, 0].copy()
    self.rank_, self.singular_ = d, np.sqrt(values[::-1])
    intercept = y_mean - x_mean @ coef
    if not self.fit_intercept:
        self.intercept_ = 0.0
    else:
        self.intercept_ = intercept if several else intercept[0]
    return self


@replaces(
    "sklearn.linear_model._quantile",
    "linprog",
    "QuantileRegressor.fit",
    needs="gnomon.linear.quantile",
)
def quantile_programme(
    original: Any,
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: str = "highs",
    callback: Any = None,
    options: Any = None,
    x0: Any = None,
    integrality: Any = None,
) -> Any:
    """The linear programme that `QuantileRegressor` poses, by its dual and few of the rows."""
    from scipy.optimize import OptimizeResult

    n = len(b_eq)
    p = (len(c) - 2 * n) // 2
    require(method == "highs" and options is None, "a chosen solver or its options")
    worth("quantile", n * p)
    from gnomon.linear.quantile import quantile_plane

    design = A_eq[:, :p].toarray()
    weights = c[2 * p : 2 * p + n] + c[2 * p + n :]
    quantile = float(c[2 * p] / weights[0])
    intercept = c[0] == 0 and bool((design[:, 0] == 1).all())
    rows = np.ascontiguousarray(design[:, 1:] if intercept else design)
    scale = rows.std(axis=0)
    require(rows.shape[1] and (scale > 0).all(), "constant columns")
    costs = c[1:p] if intercept else c[:p]
    location = rows.mean(axis=0) if intercept else np.zeros(rows.shape[1])
    target = np.asarray(b_eq, dtype=np.float64)
    plane = quantile_plane(rows, location, scale, target, weights, quantile, intercept, costs)
    constant = plane.constant - location @ plane.coef
    residual = target - rows @ plane.coef - constant
    touched = np.abs(residual) <= 1e-9 * np.abs(target).max()
    used = np.concatenate([np.ones(int(intercept), bool), plane.coef != 0])
    signs = np.concatenate([np.zeros(int(intercept)), np.sign(plane.coef)])
    slopes = weights * (quantile - (residual < 0)) * ~touched
    pull = slopes @ design - c[:p] * signs
    limits = weights[touched] * (quantile - 1), weights[touched] * quantile
    require(_is_only_best(design[touched], pull, used, limits, c[:p]), "several planes are best")
    theta = np.concatenate([[constant], plane.coef]) if intercept else plane.coef
    x = np.concatenate([theta, -theta, residual, -residual]).clip(min=0)
    return OptimizeResult(x=x, success=True, status=0, nit=1, fun=float(c @ x), message="")


def _is_only_best(
    rows: np.ndarray, pull: np.ndarray, used: np.ndarray, limits: Any, costs: np.ndarray
) -> bool:
    """Whether a plane through these rows is the only best: its dual is inside all its limits.

    Parameters
    ----------
    rows : ndarray of shape (m, p)
        Those that the plane touches.
    pull : ndarray of shape (p,)
        The derivative of the loss of all other rows and of the costs, negative.
    used : ndarray of shape (p,)
        Coefficients that are not zero.
    limits : tuple of two ndarrays of shape (m,)
        Between which the dual of a touched row lies.
    costs : ndarray of shape (p,)
        What a coefficient's absolute value costs.
    """
    active = rows[:, used]
    if active.shape[0] != active.shape[1] or np.linalg.matrix_rank(active) < len(active):
        return False
    dual = np.linalg.solve(active.T, -pull[used])
    low, high = limits
    inside = 1e-9 * (high - low)
    rest = pull[~used] + dual @ rows[:, ~used]
    return bool(
        ((dual > low + inside) & (dual < high - inside)).all()
        and (np.abs(rest) < (1 - 1e-9) * costs[~used]).all()
    )


@replaces(
    "sklearn.linear_model._logistic",
    "_logistic_regression_path",
    "LogisticRegression.fit (L-BFGS)",
)
def vectors_on_one_thread(original: Any, *args: Any, **kwargs: Any) -> Any:
    """The original, with products of vectors on one thread.

    L-BFGS multiplies vectors of all coefficients, of which BLAS gives each thread too little: of
    16,000 coefficients the fit took twice the time and three times the processor time. Products
    with the rows have no BLAS (sparse rows) or threads of their own (`loss_gradient`).
    """
    X = args[0] if args else kwargs["X"]
    require(kwargs.get("solver", "lbfgs") == "lbfgs", "another solver than lbfgs")
    if not sp.issparse(X):
        require_doubles(X)
    with one_blas_thread():
        return original(*args, **kwargs)


@replaces("sklearn.linear_model._coordinate_descent", "ElasticNet.fit", "{}.fit")
@replaces("sklearn.linear_model._coordinate_descent", "_path_residuals", "LassoCV.fit (paths)")
@replaces("sklearn.linear_model._coordinate_descent", "enet_path", "enet_path")
def descent_on_one_thread(original: Any, *args: Any, **kwargs: Any) -> Any:
    """The original, with small products on one thread.

    Each step multiplies the rows by one vector, of which threads of BLAS get too little: ten folds
    of paths of 600 x 300 took 1.7 times the processor time.
    """
    X = kwargs["X"] if "X" in kwargs else next(each for each in args if np.ndim(each) == 2)
    worth("coordinate descent", np.size(X))
    require(np.size(X) <= MOST_CELLS_FOR_ONE_THREAD, "a large matrix")
    with one_blas_thread():
        return original(*args, **kwargs)


@replaces(
    "sklearn.linear_model._linear_loss",
    "LinearModelLoss.loss_gradient",
    LOSS,
)
def loss_gradient(
    original: Any,
    self: Any,
    coef: np.ndarray,
    X: Any,
    y: np.ndarray,
    sample_weight: Any = None,
    l2_reg_strength: float = 0.0,
    n_threads: int = 1,
    raw_prediction: Any = None,
) -> Any:
    """Loss and gradient in one pass over the rows, block by block."""
    require_doubles(X)
    require(raw_prediction is None, "given predictions")
    require(coef.dtype == np.float64, "coefficients of float32")
    worth("linear loss", X.size * (self.base_loss.n_classes or 1))
    weights, intercept = self.weight_intercept(coef)
    n, d = X.shape
    several = self.base_loss.is_multiclass
    transposed = np.ascontiguousarray(weights.T) if several else weights
    total = n if sample_weight is None else sample_weight.sum()

    def sums(some: slice) -> tuple[float, np.ndarray, Any]:
        rows = X[some]
        raw = np.dot(rows, transposed)
        raw += intercept
        loss, slope = self.base_loss.loss_gradient(
            y_true=y[some],
            raw_prediction=raw,
            sample_weight=None if sample_weight is None else sample_weight[some],
            n_threads=1,
        )
        return loss.sum(), np.dot(slope.T, rows), slope.sum(axis=0)

    loss: Any = 0.0
    products: Any = 0.0
    constant: Any = 0.0
    for part in each_block(sums, n, d):
        loss, products, constant = loss + part[0], products + part[1], constant + part[2]
    value = float(loss / total) + self.l2_penalty(weights, l2_reg_strength)
    gradient = np.empty((*weights.shape[:-1], d + int(self.fit_intercept)), order="F")
    gradient[..., :d] = products / total + l2_reg_strength * weights
    if self.fit_intercept:
        gradient[..., -1] = constant / total
    return value, gradient.ravel(order="F") if coef.ndim == 1 else gradient
