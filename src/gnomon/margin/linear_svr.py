"""Linear support vector regression for many rows or columns.

    min  1/2 |(w, b)|^2 + C sum_i w_i max(0, |y_i - w . x_i - b| - epsilon)^k    k = 1 or 2

An error beyond epsilon is the slack of one of two rows: of (x, 1) with the margin y - epsilon, or
of (-x, -1) with the margin -y - epsilon. So the searches of `LinearSVC` solve it
(`gnomon.margin.linear_solvers`): few steps of second order where rows outnumber columns, else dual
coordinate descent, each with its duality gap.

Texts: 004 10.1.4, eq. 10.7.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVR as Liblinear

from gnomon.contract import Data, Regressor, Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.history import History
from gnomon.engine.parameters import FLAG, HISTORY, JOBS, SEED, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.margin.distinct import DENSE_CELLS, distinct_data
from gnomon.margin.linear_machine import LARGEST
from gnomon.margin.linear_solvers import (
    CoordinateDescent,
    InteriorPoint,
    NewtonDescent,
    PlaneSearch,
)
from gnomon.margin.searched_planes import CLOSER, SearchedPlanes

# Rows (each twice) or columns; coordinate descent does not end where columns differ in scale, and
# for 300 rows of 1,000 columns and squared errors took 16 times as long as liblinear.
ALWAYS_SECOND_ORDER = 600


@method(
    task="regress",
    texts="004 10.1.4",
    use="A straight relation, very many rows or columns, and outliers in the target.",
    avoid="Curved relations: SVR. Where intervals are wanted: LinearRegression.",
    peers=("sklearn.svm.LinearSVR",),
    synonyms=("epsilon-insensitive", "linear support vector regression"),
)
@without_effect("verbose")
class LinearSVR(SearchedPlanes, Regressor):
    """Linear support vector regression: errors below epsilon are free, larger ones cost.

    Minimises 1/2 |(w, b)|^2 + C sum_i w_i max(0, |y_i - w . x_i - b| - epsilon)^k. Use it for very
    many rows or columns and for outliers in the target; scale the columns first. Not for curved
    relations (`SVR`). The minimum is found to a duality gap, where scikit-learn's often ends before
    it.

    Texts: 004 10.1.4, eq. 10.7.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors up to it are free; in the units of the target.
    tol : float, default=0.0001
        Tolerance: a hundredth of it is the duality gap at which to stop, as a share of the
        objective; liblinear's own where it is used.
    C : float, default=1.0
        Price of errors.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        Power of the errors beyond epsilon: one or two.
    fit_intercept : bool, default=True
        Whether there is an offset.
    intercept_scaling : float, default=1.0
        The constant column; with a greater one the offset is penalised less.
    dual : bool or "auto", default="auto"
        Which problem liblinear solves, where it is used; our solvers need no choice.
    random_state : int, RandomState instance or None, default=None
        Order of the rows in coordinate descent.
    max_iter : int, default=1000
        Most steps, each a pass over the rows.
    solver : {"auto", "second_order", "coordinate"}, default="auto"
        Newton's method or interior points, coordinate descent, or what suits the shape.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the planes of each step too.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        Coefficients.
    intercept_ : ndarray of shape (1,)
        Offset.
    dual_objective_ : float
        The dual objective reached.
    duality_gap_ : float
        Objective minus dual objective, as a share of the objective; NaN by liblinear.
    history_ : History
        The dual objective after each step.
    n_iter_ : int
        Steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    SVR : With kernels.

    Examples
    --------
    >>> from gnomon.margin import LinearSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 5.0, 7.0, 90.0]
    >>> LinearSVR(C=100.0).fit(X, y).coef_.round(2).tolist()
    [2.0]
    """

    natively = Takes(sparse=True)
    _largest = LARGEST
    _parameter_constraints = {
        "epsilon": [at_least(0.0)],
        "tol": [above(0.0)],
        "C": [above(0.0)],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "fit_intercept": FLAG,
        "intercept_scaling": [above(0.0)],
        "dual": ["boolean", StrOptions({"auto"})],
        "random_state": SEED,
        "max_iter": [whole(0)],
        "solver": [StrOptions({"auto", "second_order", "coordinate"})],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
    }
    _stored = {
        "coef_": Array("f8", ("n_columns",)),
        "intercept_": Array("f8", (1,)),
        "dual_objective_": Number(finite=False),
        "duality_gap_": Number(finite=False),
    }

    def __init__(
        self,
        *,
        epsilon=0.0,
        tol=1e-4,
        C=1.0,
        loss="epsilon_insensitive",
        fit_intercept=True,
        intercept_scaling=1.0,
        dual="auto",
        verbose=0,
        random_state=None,
        max_iter=1000,
        solver="auto",
        keep_history="objective",
        n_jobs=None,
    ):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        if sp.issparse(data.rows) and data.n_rows * data.n_columns > DENSE_CELLS:
            self._fit_liblinear(data)
            return
        with one_blas_thread():
            self._descend(data)

    def _fit_liblinear(self, data: Data) -> None:
        """Large sparse tables are liblinear's."""
        given = distinct_data(data)
        peer = Liblinear(
            epsilon=self.epsilon,
            tol=self.tol,
            C=self.C,
            loss=self.loss,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            dual=self.dual,
            random_state=int(self._rng().integers(2**31)),
            max_iter=self.max_iter,
        ).fit(given.rows, given.y, sample_weight=given.weights)
        self.coef_ = np.ascontiguousarray(peer.coef_)
        self.intercept_ = np.atleast_1d(np.asarray(peer.intercept_, dtype=np.float64))
        self.n_iter_ = int(peer.n_iter_)
        self.dual_objective_ = self.duality_gap_ = float("nan")
        self.history_ = History([])

    def _descend(self, data: Data) -> None:
        given = distinct_data(data)
        n, d = given.rows.shape
        columns = np.empty((n, d + 1))
        columns[:, :-1] = given.rows
        columns[:, -1] = self.intercept_scaling if self.fit_intercept else 0.0
        search = self._search(2 * n, d + 1)
        # the best plane is a sum of rows: where these are few, it is searched among such sums
        basis = None
        if search is not CoordinateDescent and n < d + 1:
            basis, coordinates = np.linalg.qr(columns.T)
            columns = np.ascontiguousarray(coordinates.T)
        run = search(
            np.concatenate([columns, columns]),
            np.repeat([1.0, -1.0], n),
            self.C * np.tile(given.weights, 2),
            self.loss == "squared_epsilon_insensitive",
            CLOSER * self.tol,
            self.n_jobs,
            np.concatenate([given.y, -given.y]) - self.epsilon,
        )

        def planes() -> np.ndarray:
            return (run.plane if basis is None else basis @ run.plane)[None].copy()

        def attributes() -> dict[str, Any]:
            plane = planes()[0]
            offset = self.intercept_scaling * plane[-1:] if self.fit_intercept else np.zeros(1)
            return {
                "coef_": plane[:-1].copy(),
                "intercept_": offset,
                "dual_objective_": run.dual_objective,
                "duality_gap_": run.gap,
            }

        self._follow([run], planes, attributes)

    def _search(self, n: int, d: int) -> type[PlaneSearch]:
        """As for classes; of few rows or columns always by steps of second order."""
        if self.solver == "auto" and min(n, d) <= ALWAYS_SECOND_ORDER:
            squared = self.loss == "squared_epsilon_insensitive"
            return NewtonDescent if squared else InteriorPoint
        return super()._search(n, d)

    def _estimate(self, rows: Any) -> np.ndarray:
        return np.asarray(rows @ self.coef_) + self.intercept_

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        coordinate = self._search(2 * n_rows, n_columns) is CoordinateDescent
        matrices = 24 * n_columns if coordinate else 6 * min(n_rows, n_columns) ** 2
        return 8 * (n_rows * (7 * n_columns + 100) + matrices)
