"""One-class machine: the smallest region of a kernel's space that holds most rows.

    min  1/2 |w|^2 - rho + 1 / (nu n) sum_i w_i xi_i,    w . phi(x_i) >= rho - xi_i,  xi_i >= 0

At most a share nu of the rows lies outside, and at least a share nu are support vectors.

Texts: 004 10.1 (its machine, with one class).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin

from gnomon.contract import Data
from gnomon.contract.docstrings import shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.parameters import between
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.margin.machine import (
    KERNEL_PARAMETERS,
    MACHINE_PARAMETERS,
    MACHINE_TEXTS,
    KernelMachine,
)
from gnomon.margin.svc import fill_up
from gnomon.margin.working_set import Programme

# What rounding may add to the score of a row on the border, as a share of the offset.
ROUNDING = 1e-12


@method(
    task="density",
    texts="004 10.1",
    use="Rows unlike those of a clean table: which new rows do not belong to it.",
    avoid="Tables with many outliers in them, columns of unlike scale, densities as such.",
    peers=("sklearn.svm.OneClassSVM",),
)
@without_effect("shrinking", "verbose")
@shared_parameters(MACHINE_TEXTS)
class OneClassSVM(OutlierMixin, KernelMachine):
    """The region in which rows lie: which new rows are unlike all that was seen.

    Minimises 1/2 |w|^2 - rho + 1 / (nu n) sum_i w_i xi_i with f(x_i) >= rho - xi_i. Use it to tell
    novel rows from those of a clean table; nu is the share of training rows that may lie outside.
    Not to estimate a density, nor with columns of unlike scale.

    Texts: 004 10.1 (its machine, with one class).

    Parameters
    ----------
    max_iter : int, default=-1
        Most working sets; -1 for as many as make a million pair steps, or a hundred per row
        if that is more.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the rows given; of equal rows the first.
    support_vectors_ : ndarray or csr_array of shape (n_support, n_columns)
        These rows; sparse where rows were given so, empty where the kernel is precomputed.
    n_support_ : ndarray of shape (1,)
        Their number.
    coef_ : ndarray or csr_array of shape (1, n_columns)
        Weights of the columns; only with the linear kernel.
    dual_coef_ : ndarray or csr_array of shape (1, n_support)
        The a_i, which are at most the weight of the row.
    intercept_ : ndarray of shape (1,)
        -rho.
    offset_ : ndarray of shape (1,)
        rho: scores of at least this are inside.
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

    Examples
    --------
    >>> from gnomon.margin import OneClassSVM
    >>> model = OneClassSVM(nu=0.2, gamma=0.5).fit([[0.0], [0.5], [1.0], [0.4], [0.6]])
    >>> model.predict([[0.5], [5.0]])
    array([ 1, -1])
    """

    _parameter_constraints = {
        **KERNEL_PARAMETERS,
        "nu": [between(0.0, 1.0, "right")],
        **MACHINE_PARAMETERS,
    }
    _stored = {
        "offset_": Array("f8", (None,)),
    }

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        nu=0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        given = self._machine_rows(data)
        n = given.rows.shape[0]
        group = np.zeros(n, dtype=np.int64)
        start = fill_up(given.weights, group, self.nu * given.weights.sum())
        programme = Programme(np.arange(n), np.ones(n), np.zeros(n), given.weights, group, start)
        solution = self._solve(programme, given, tell=self._working_sets())
        self._keep_one(given, solution.alpha, solution.offsets[0])
        self.offset_ = -self.intercept_
        self._keep_solution(solution)

    def decision_function(self, X) -> np.ndarray:
        """f(x) - rho: zero or more inside the region, zero on its border (but for rounding).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        scores = self._each_block(self._expansions(), X)[:, 0]
        scores[np.abs(scores) <= ROUNDING * np.abs(self.offset_)] = 0.0
        return scores

    def score_samples(self, X) -> np.ndarray:
        """f(x), greater where rows are more like those seen.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,)
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X) -> np.ndarray:
        """1 for rows inside the region, -1 for those outside.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        inside : ndarray of shape (n_samples,)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
