"""Linear support vector machines, and two forms of them on liblinear.

    min  1/2 |w|^2 + C sum_i w_i max(0, 1 - y_i (w . x_i + b))^k        k = 1, or 2 (squared)

Why it is fast: coordinate descent, which liblinear uses, needs many hundred passes where classes
overlap; Newton's method (k = 2) and an interior point method (k = 1) need some three to thirty
steps of one matrix product each, on all threads, and know their duality gap. Where columns
outnumber rows it is dual coordinate descent with shrinking. The offset is the weight of a constant
column, so that it is penalised a little (less with a greater ``intercept_scaling``).

Texts: 000a 2.1 · 001 8.7 · 004 10.1.2. L1 penalty: 000b; joint classes: 002 L1540-1569.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Liblinear

from gnomon.contract import Data, Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import DataError
from gnomon.engine.history import History
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    above,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.margin.distinct import DENSE_CELLS, distinct_data
from gnomon.margin.hyperplane import LinearDiscriminant
from gnomon.margin.linear_machine import LinearMachine, one_against_rest
from gnomon.margin.linear_solvers import CoordinateDescent, PlaneSearch
from gnomon.margin.searched_planes import CLOSER, SearchedPlanes


@method(
    task="classify",
    texts="000a 2.1 · 001 8.7 · 004 10.1.2",
    use="Classes with straight borders: very many rows, or very many columns.",
    avoid="Curved borders (SVC), columns of unlike scale, or where probabilities matter.",
    peers=("sklearn.svm.LinearSVC",),
)
@without_effect("verbose")
class LinearSVC(SearchedPlanes, LinearMachine):
    """Linear support vector machine for many rows or many columns.

    Minimises 1/2 |(w, b)|^2 + C sum_i w_i max(0, 1 - y_i (w . x_i + b))^k; several classes each
    against the rest. Use it for very many rows or columns; scale the columns first. Not for curved
    borders (`SVC`). Texts: 000a 2.1 (with lambda = 1 / (n C)) · 001 8.7 · 004 10.1.2 (k = 1).

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        Squares or absolute values of the weights; with these (by liblinear) many are zero.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Power of the slack: two or one.
    dual : bool or "auto", default="auto"
        Which problem liblinear solves, where it is used; our solvers need no choice.
    tol : float, default=0.0001
        Tolerance: a hundredth of it is the duality gap at which to stop, as a share of the
        objective; liblinear's own where it is used.
    C : float, default=1.0
        Price of slack.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        Several classes each against the rest, or all in one problem (by liblinear).
    fit_intercept : bool, default=True
        Whether the planes have offsets.
    intercept_scaling : float, default=1
        The constant column; with a greater one the offset is penalised less.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
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
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Normal vectors: one for two classes, else one per class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    dual_objective_ : ndarray of shape (1,) or (n_classes,)
        The dual objective reached, per plane.
    duality_gap_ : ndarray of shape (1,) or (n_classes,)
        Objective minus dual objective, as a share of the objective, per plane; NaN by liblinear.
    history_ : History
        The dual objective after each step, summed over planes.
    n_iter_ : int
        Steps.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    StochasticSVM : By stochastic gradient, as in 000a.
    SparseSVM : With few columns used.

    Examples
    --------
    >>> from gnomon.margin import LinearSVC
    >>> model = LinearSVC(random_state=0).fit([[0, 0], [1, 0], [3, 3], [4, 3]], [0, 0, 1, 1])
    >>> model.predict([[0.5, 0.5], [3.5, 3.0]])
    array([0, 1])
    """

    natively = Takes(sparse=True, many_levels=True)
    _parameter_constraints = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "tol": [above(0.0)],
        "C": [above(0.0)],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "fit_intercept": FLAG,
        "intercept_scaling": [above(0.0)],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "random_state": SEED,
        "max_iter": [whole(0)],
        "solver": [StrOptions({"auto", "second_order", "coordinate"})],
        "keep_history": HISTORY,
        "n_jobs": JOBS,
    }
    _stored = {
        "coef_": Array("f8", ("n_coef", "n_columns")),
        "dual_objective_": Array("f8", ("n_coef",), finite=False),
        "duality_gap_": Array("f8", ("n_coef",), finite=False),
        "intercept_": Array("f8", ("n_coef",)),
    }

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
        solver="auto",
        keep_history="objective",
        n_jobs=None,
    ):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _offsets(self, planes: np.ndarray) -> np.ndarray:
        return planes[:, -1] * (self.intercept_scaling if self.fit_intercept else 0.0)

    def _fit(self, data: Data) -> None:
        large = sp.issparse(data.rows) and data.n_rows * data.n_columns > DENSE_CELLS
        ours = self.penalty == "l2" and self.multi_class == "ovr" and not large
        if not ours and len(self.classes_) > 1:
            self._fit_liblinear(data)
            return
        with one_blas_thread():
            self._descend(data)

    def _fit_liblinear(self, data: Data) -> None:
        """Large sparse tables, absolute values in the penalty and joint classes are liblinear's."""
        given = distinct_data(data)
        peer = Liblinear(
            penalty=self.penalty,
            loss=self.loss,
            dual=self.dual,
            tol=self.tol,
            C=self.C,
            multi_class=self.multi_class,
            fit_intercept=self.fit_intercept,
            intercept_scaling=self.intercept_scaling,
            random_state=int(self._rng().integers(2**31)),
            max_iter=self.max_iter,
        ).fit(_as_liblinear_takes(given.rows), given.y, sample_weight=given.weights)
        self.coef_ = np.ascontiguousarray(peer.coef_)
        offsets = np.asarray(peer.intercept_, dtype=np.float64)
        self.intercept_ = np.broadcast_to(offsets, len(self.coef_)).copy()
        self.n_iter_ = int(np.max(peer.n_iter_))
        self.dual_objective_ = self.duality_gap_ = np.full(len(self.coef_), np.nan)
        self.history_ = History([])

    def _descend(self, data: Data) -> None:
        given = distinct_data(data)
        rows = np.empty((len(given.rows), data.n_columns + 1))
        rows[:, :-1] = given.rows
        rows[:, -1] = self.intercept_scaling if self.fit_intercept else 0.0
        search, cost = self._search(*rows.shape), self.C * given.weights
        squared = self.loss == "squared_hinge"
        runs: list[PlaneSearch] = [
            search(rows, sign, cost, squared, CLOSER * self.tol, self.n_jobs)
            for sign in np.ascontiguousarray(one_against_rest(given.y, len(self.classes_)))
        ]

        def planes() -> np.ndarray:
            return np.array([run.plane for run in runs]).reshape(-1, rows.shape[1])

        def attributes() -> dict[str, Any]:
            return self._planes(planes()) | {
                "dual_objective_": np.array([run.dual_objective for run in runs]),
                "duality_gap_": np.array([run.gap for run in runs]),
            }

        self._follow(runs, planes, attributes)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        # a plane per class; three are reckoned with; only few columns have matrices of columns
        coordinate = self._search(n_rows, n_columns) is CoordinateDescent
        matrices = 24 * n_columns if coordinate else 6 * n_columns**2
        return 8 * (n_rows * (3 * n_columns + 60) + matrices)


def _as_liblinear_takes(rows: Any) -> Any:
    """Sparse rows with indices of 32 bits, where these suffice."""
    if not sp.issparse(rows) or max(rows.nnz, *rows.shape) > np.iinfo(np.int32).max:
        return rows
    indices = (each.astype(np.int32, copy=False) for each in (rows.indices, rows.indptr))
    return sp.csr_array((rows.data, *indices), shape=rows.shape)


@method(
    task="classify",
    texts="000b (an SVM with an L1 penalty)",
    use="Classes with straight borders where few of many columns matter.",
    avoid="Columns that are alike: one of them is taken, by chance; LinearSVC uses them all.",
    peers=("sklearn.svm.LinearSVC(penalty='l1')",),
    on="scikit-learn",
)
class SparseSVM(LinearMachine):
    """Linear SVM with an L1 penalty: most weights are exactly zero.

    Minimises sum_j |w_j| + C sum_i w_i max(0, 1 - y_i (w . x_i + b))^2, by liblinear. Use it where
    few of many columns matter; `non_zeros` counts them along values of C. Not where columns are
    alike, of which it takes one by chance. Texts: 000b.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; a small one leaves few columns.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    fit_intercept : bool, default=True
        Whether the planes have offsets.
    max_passes : int, default=2000
        Most passes over the rows.
    tol : float, default=0.0001
        Tolerance of liblinear.
    random_state : int, RandomState instance or None, default=None
        Order of the columns.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Normal vectors: one for two classes, else one per class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    n_nonzero_ : int
        Columns with a weight in any plane.
    n_passes_ : int
        Passes that were made.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import SparseSVM
    >>> X, y = [[0, 1], [1, 0], [3, 1], [4, 0]], [0, 0, 1, 1]
    >>> SparseSVM(0.3, random_state=0).fit(X, y).n_nonzero_
    1
    """

    _parameter_constraints = {
        "C": [above(0.0)],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "fit_intercept": FLAG,
        "max_passes": [whole(1)],
        "tol": [above(0.0)],
        "random_state": SEED,
    }
    _stored = {
        "coef_": Array("f8", ("n_coef", "n_columns")),
        "intercept_": Array("f8", ("n_coef",)),
        "n_nonzero_": Whole(),
        "n_passes_": Whole(),
    }

    def __init__(
        self,
        C=1.0,
        *,
        class_weight=None,
        fit_intercept=True,
        max_passes=2000,
        tol=1e-4,
        random_state=None,
    ):
        self.C = C
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.max_passes = max_passes
        self.tol = tol
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        if len(self.classes_) < 2:
            self.coef_ = np.zeros((0, data.n_columns))
            self.intercept_ = np.zeros(0)
            self.n_passes_ = self.n_nonzero_ = 0
            return
        given = distinct_data(data)
        peer = Liblinear(
            C=self.C,
            penalty="l1",
            dual=False,
            fit_intercept=self.fit_intercept,
            max_iter=self.max_passes,
            tol=self.tol,
            random_state=int(self._rng().integers(2**31)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            peer.fit(given.rows, given.y, sample_weight=given.weights)
        self.coef_ = np.ascontiguousarray(peer.coef_)
        intercepts = np.asarray(peer.intercept_, dtype=np.float64)
        self.intercept_ = np.broadcast_to(intercepts, len(self.coef_)).copy()
        self.n_passes_ = int(np.max(peer.n_iter_))
        self.n_nonzero_ = int((self.coef_ != 0).any(axis=0).sum())
        if self.n_passes_ >= self.max_passes:
            warnings.warn(
                f"SparseSVM has not converged in max_passes={self.max_passes}; scale the columns, "
                "lower C, or raise max_passes or tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (5 * n_columns + 40)

    def non_zeros(self, X, y, costs, sample_weight=None) -> np.ndarray:
        """How many columns have a weight, for each of several values of C.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        costs : array-like of float
        sample_weight : array-like, default=None

        Returns
        -------
        counts : ndarray of int
        """
        fits = (clone(self).set_params(C=float(cost)) for cost in costs)
        return np.array([each.fit(X, y, sample_weight).n_nonzero_ for each in fits])


def joint_svm(
    X: Any,
    y: Any,
    C: float = 1.0,
    *,
    fit_intercept: bool = True,
    max_iter: int = 2000,
    tol: float = 1e-4,
    sample_weight: Any = None,
    random_state: int | None = 0,
) -> LinearDiscriminant:
    """All classes in one problem: every row's own score must beat each other's by one.

    Minimises 1/2 sum_k |v_k|^2 + C sum_i w_i max(0, 1 - (g_{y_i}(x_i) - max_{k != y_i} g_k(x_i))),
    by liblinear (Crammer and Singer). The v_k are found together, so that their scores can be
    compared as they are. Use it for three classes or more; not for very many classes or rows,
    since the time grows with the square of the classes. Texts: 002 L1540-1569 (named there).

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers, of like scale.
    y : array-like of shape (n,)
        Three classes or more.
    C : float, default=1.0
        Price of slack.
    fit_intercept : bool, default=True
    max_iter : int, default=2000
    tol : float, default=1e-4
        Tolerance of liblinear.
    sample_weight : array-like of shape (n,), default=None
    random_state : int or None, default=0
        Order of the rows.

    Returns
    -------
    discriminant : LinearDiscriminant

    Examples
    --------
    >>> from gnomon.margin import joint_svm
    >>> joint_svm([[0, 0], [5, 0], [0, 5]], ["a", "b", "c"]).predict([[4, 0], [1, 4]]).tolist()
    ['b', 'c']
    """
    peer = Liblinear(
        C=C,
        multi_class="crammer_singer",
        fit_intercept=fit_intercept,
        max_iter=max_iter,
        tol=tol,
        random_state=random_state,
    )
    n_classes = len(np.unique(np.asarray(y)))
    if n_classes < 3:
        raise DataError(f"a joint machine is of three classes or more, and y holds {n_classes}")
    peer.fit(X, y, sample_weight=sample_weight)
    intercepts = np.broadcast_to(np.asarray(peer.intercept_, dtype=np.float64), n_classes)
    return LinearDiscriminant(peer.coef_, intercepts, peer.classes_, comparable=True)
