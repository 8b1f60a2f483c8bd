"""Support vector regression: a tube of half-width epsilon, and a price for what lies outside.

    min  1/2 |w|^2 + C sum_i w_i (xi_i + xi*_i)
    y_i - f(x_i) <= epsilon + xi*_i,   f(x_i) - y_i <= epsilon + xi_i,   xi_i, xi*_i >= 0

(004 10.1.4 prints epsilon - xi.) Rows inside the tube cost nothing and are no support vectors. The
dual has two variables per row, one for each side of the tube; `working_set` solves it.

Texts: 004 10.1.4.
"""

from __future__ import annotations

import numpy as np

from gnomon.contract import Data, Regressor
from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.parameters import at_least, between
from gnomon.engine.registry import method
from gnomon.engine.stored import Number
from gnomon.margin.machine import (
    KERNEL_PARAMETERS,
    MACHINE_PARAMETERS,
    MACHINE_TEXTS,
    KernelMachine,
    MachineRows,
    WorkingSets,
)
from gnomon.margin.svc import fill_up
from gnomon.margin.working_set import Programme, Solution

# Texts of attributes that classes here share, for their docstrings.
SVR_ATTRIBUTES = """\
support_ : ndarray of shape (n_support,)
    Positions of the support vectors among the rows given; of equal rows the first.
support_vectors_ : ndarray or csr_array of shape (n_support, n_columns)
    These rows; sparse where rows were given so, empty where the kernel is precomputed.
n_support_ : ndarray of shape (1,)
    Their number.
coef_ : ndarray or csr_array of shape (1, n_columns)
    Weights of the columns; only with the linear kernel.
dual_coef_ : ndarray or csr_array of shape (1, n_support)
    a_i - a*_i.
intercept_ : ndarray of shape (1,)
    The b.
kernel_ : Kernel
    The kernel with all its parameters.
dual_objective_ : float
    The dual objective reached.
kkt_violation_ : float
    Greatest violation of the conditions of optimality that is left.
n_iter_ : int
    Working sets that were solved.
n_steps_ : int
    Pair steps that were taken.
fit_status_ : int
    0 where the fit has converged, else 1.
shape_fit_ : tuple of int
    Shape of the rows seen in ``fit``.
history_ : History
    The dual objective after each working set.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


def both_sides(linear: np.ndarray, bound: np.ndarray) -> Programme:
    """A programme of two variables per row: above the tube, then below it, in one group."""
    n = len(bound)
    return Programme(
        np.tile(np.arange(n), 2),
        np.repeat([1.0, -1.0], n),
        linear,
        np.tile(bound, 2),
        np.zeros(2 * n, dtype=np.int64),
        np.zeros(2 * n),
    )


class TubeMachine(KernelMachine, Regressor):
    """A regression with a tube; a class writes ``_tube``."""

    _stored = {
        "epsilon_": Number(),
    }

    def _tube(
        self, given: MachineRows, tell: WorkingSets
    ) -> tuple[np.ndarray, float, float, Solution]:
        """Coefficients of the rows, offset, half-width of the tube, solution."""
        raise NotImplementedError

    def _fit(self, data: Data) -> None:
        given = self._machine_rows(data)
        coefficients, offset, width, solution = self._tube(given, self._working_sets())
        self._keep_one(given, coefficients, offset)
        self.epsilon_ = float(width)
        self._keep_solution(solution)

    def predict(self, X) -> np.ndarray:
        """The estimated target, for each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        return self._each_block(self._expansions(), X)[:, 0]

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return super()._working_memory(n_rows, n_columns) + 8 * 20 * n_rows


@method(
    task="regress",
    texts="004 10.1.4",
    use="A number that bends with its columns, up to some ten thousand rows; errors of no matter.",
    avoid="Very many rows, columns of unlike scale, or where intervals are wanted.",
    peers=("sklearn.svm.SVR",),
)
@without_effect("shrinking", "verbose")
@shared_parameters(MACHINE_TEXTS)
@shared_attributes(SVR_ATTRIBUTES)
class SVR(TubeMachine):
    """Support vector regression: errors below epsilon are free, larger ones cost in proportion.

    Minimises 1/2 |w|^2 + C sum_i w_i max(0, |y_i - f(x_i)| - epsilon). Use it where small errors do
    not matter and outliers should not pull; scale the columns first, and choose epsilon in the
    units of the target. Not for very many rows. ``C=numpy.inf`` allows nothing outside the tube and
    is an error where no function of this kernel stays inside.

    Texts: 004 10.1.4, eq. 10.7 (whose slack has the wrong sign in print).

    Parameters
    ----------
    tol : float, default=0.001
        Greatest violation of the conditions of optimality, in units of the target.
    epsilon : float, default=0.1
        Half-width of the tube, in units of the target.
    max_iter : int, default=-1
        Most working sets; -1 for as many as make a million pair steps, or a hundred per row
        if that is more.

    Attributes
    ----------
    support_, support_vectors_, n_support_, coef_, dual_coef_, intercept_
    epsilon_ : float
        Half-width of the tube.
    kernel_, dual_objective_, kkt_violation_, n_iter_, n_steps_, fit_status_, shape_fit_, history_
    n_features_in_

    Examples
    --------
    >>> from gnomon.margin import SVR
    >>> model = SVR(C=100, epsilon=0.5, kernel="linear", tol=1e-9).fit([[0], [1], [2]], [0, 1, 2])
    >>> model.predict([[0], [2]]).round(6)
    array([0.5, 1.5])
    """

    _parameter_constraints = {
        **KERNEL_PARAMETERS,
        "C": [between(0.0, np.inf, "right")],
        "epsilon": [at_least(0.0)],
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        C=1.0,
        epsilon=0.1,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        keep_history="objective",
        n_jobs=None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _tube(self, given: MachineRows, tell: WorkingSets):
        y = given.y
        linear = np.concatenate([self.epsilon - y, self.epsilon + y])
        programme = both_sides(linear, self.C * given.weights)
        solution = self._solve(programme, given, tell=tell)
        coefficients = solution.coefficients(programme, len(y))
        return coefficients, solution.offsets[0], self.epsilon, solution


@method(
    task="regress",
    texts="004 10.1.4 (the nu form of its machine)",
    use="As SVR, where the share of rows outside the tube is easier to choose than its width.",
    avoid="Very many rows, columns of unlike scale, or where the width of the tube is known.",
    peers=("sklearn.svm.NuSVR",),
)
@without_effect("shrinking", "verbose")
@shared_parameters(MACHINE_TEXTS)
@shared_attributes(SVR_ATTRIBUTES)
class NuSVR(TubeMachine):
    """Support vector regression that finds the width of its tube.

    Minimises 1/2 |w|^2 + C (nu n epsilon + sum_i w_i max(0, |y_i - f(x_i)| - epsilon)) over epsilon
    too: at most a share nu of the rows lies outside the tube. Use it where that share is easier to
    choose than a width; not where errors of a known size are free (`SVR`).

    Texts: 004 10.1.4 (which has the form with epsilon).

    Parameters
    ----------
    tol : float, default=0.001
        Greatest violation of the conditions of optimality, in units of the target.
    max_iter : int, default=-1
        Most working sets; -1 for as many as make a million pair steps, or a hundred per row
        if that is more.

    Attributes
    ----------
    support_, support_vectors_, n_support_, coef_, dual_coef_, intercept_
    epsilon_ : float
        Half-width of the tube that was found.
    kernel_, dual_objective_, kkt_violation_, n_iter_, n_steps_, fit_status_, shape_fit_, history_
    n_features_in_

    Examples
    --------
    >>> from gnomon.margin import NuSVR
    >>> model = NuSVR(nu=0.5, C=100, kernel="linear", tol=1e-9).fit([[0], [1], [2]], [0, 1, 2])
    >>> model.predict([[3]]).round(6)
    array([3.])
    """

    _parameter_constraints = {
        "nu": [between(0.0, 1.0, "right")],
        "C": [between(0.0, np.inf, "neither")],
        **KERNEL_PARAMETERS,
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        *,
        nu=0.5,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        tol=1e-3,
        cache_size=200,
        verbose=False,
        max_iter=-1,
        keep_history="objective",
        n_jobs=None,
    ):
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _tube(self, given: MachineRows, tell: WorkingSets):
        y, bound = given.y, self.C * given.weights
        programme = both_sides(np.concatenate([-y, y]), bound)
        programme.group = np.repeat(np.arange(2), len(y))
        programme.start = fill_up(programme.bound, programme.group, self.nu * bound.sum() / 2)
        solution = self._solve(programme, given, tell=tell)
        above, below = solution.offsets
        width = max((above - below) / 2, 0.0)
        return solution.coefficients(programme, len(y)), (above + below) / 2, width, solution
