"""Support vector classification: the widest margin, with slack, in the space of a kernel.

    min  1/2 |w|^2 + C sum_i w_i xi_i,    y_i (w . phi(x_i) + b) >= 1 - xi_i,  xi_i >= 0

solved in its dual, max sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k(x_i, x_j) with 0 <= a_i <= C w_i
and sum_i a_i y_i = 0, by decomposition into working sets (see `working_set`). f(x) = sum_i a_i y_i
k(x_i, x) + b; rows with a_i > 0 are the support vectors. More than two classes are told apart pair
by pair, by votes.

Texts: 001 8.3-8.7 (which prints max |w|^2 for min in 8.3) · 002 L717-978, L1716 · 004 10.1.
"""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from gnomon.contract import Classifier, Data
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, StrOptions, above, between
from gnomon.engine.registry import method
from gnomon.margin.machine import (
    KERNEL_PARAMETERS,
    MACHINE_PARAMETERS,
    KernelMachine,
    MachineRows,
    WorkingSets,
)
from gnomon.margin.platt import couple, fit_sigmoid, sigmoid
from gnomon.margin.working_set import Programme, Solution

FOLDS = 5
HALVINGS = 60
CLOSE_PRICE = 1e-6


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """All pairs of classes, the smaller code first."""
    return list(combinations(range(n_classes), 2))


def votes_and_confidence(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes of pairs, plus less than half a vote by the sum of scores, so that ties are broken.

    A score above zero is for the second class of its pair.
    """
    votes = np.zeros((len(scores), n_classes))
    sums = np.zeros((len(scores), n_classes))
    for k, (a, b) in enumerate(class_pairs(n_classes)):
        for_b = scores[:, k] >= 0
        votes[:, b] += for_b
        votes[:, a] += ~for_b
        sums[:, b] += scores[:, k]
        sums[:, a] -= scores[:, k]
    return votes + sums / (3 * (np.abs(sums) + 1))


def _gives_probabilities(machine) -> bool:
    if not getattr(machine, "probability", False):
        raise AttributeError(
            f"{type(machine).__name__} gives probabilities only with probability=True, set before "
            "fit; a score is no probability"
        )
    return True


class PairwiseMachine(KernelMachine, Classifier):
    """A machine of two classes for each pair; a class writes ``_two_classes``."""

    def _two_classes(
        self, given: MachineRows, sign: np.ndarray, tell: WorkingSets | None = None
    ) -> tuple[np.ndarray, float, Any]:
        """Coefficients of the rows, the offset, and the solution."""
        raise NotImplementedError

    def _fit(self, data: Data) -> None:
        given = self._machine_rows(data)
        pairs = class_pairs(len(self.classes_))
        tell = self._working_sets()
        coefficients = np.zeros((len(pairs), given.rows.shape[0]))
        intercepts = np.zeros(len(pairs))
        solutions: list[Solution] = []
        for k, pair in enumerate(pairs):
            places = np.flatnonzero(np.isin(given.y, pair))
            part = given.part(places)
            sign = np.where(part.y == pair[1], 1.0, -1.0)
            coefficients[k, places], intercepts[k], solution = self._two_classes(part, sign, tell)
            solutions.append(solution)
            if tell.stop:
                break
        self._keep_support(given, coefficients, intercepts)
        supporting = np.isin(given.origin, self.support_)
        self.n_support_ = np.bincount(given.y[supporting], minlength=len(self.classes_))
        self.dual_objective_ = np.array([-each.objective for each in solutions])
        self.kkt_violation_ = np.array([each.gap for each in solutions])
        self.n_steps_ = np.array([each.n_steps for each in solutions], dtype=np.int64)
        self._keep_course(solutions)
        if getattr(self, "probability", False):
            self.sigmoids_ = np.array([self._pair_sigmoid(given, pair) for pair in pairs]).reshape(
                -1, 2
            )

    def _pair_sigmoid(self, given: MachineRows, pair: tuple[int, int]) -> np.ndarray:
        """Platt's sigmoid of one pair, from scores of rows that the machine has not seen."""
        places = np.flatnonzero(np.isin(given.y, pair))
        positive = given.y[places] == pair[1]
        scores = np.empty(len(places))
        for held in self._folds(positive):
            seen = np.flatnonzero(~held) if not held.all() else np.arange(len(places))
            part = given.part(places[seen])
            sign = np.where(positive[seen], 1.0, -1.0)
            coefficients, intercept, _ = self._two_classes(part, sign)
            scores[held] = self._scores_of(given, places[held], part, coefficients) + intercept
        return fit_sigmoid(scores, positive, given.weights[places])

    def _folds(self, positive: np.ndarray) -> list[np.ndarray]:
        """Rows that are held out in turn, each fold with its share of both classes."""
        fewest = int(min(positive.sum(), (~positive).sum()))
        n_folds = min(FOLDS, fewest)
        if n_folds < 2:
            warnings.warn(
                f"{type(self).__name__}: a class has a single row, so that probabilities come from "
                "scores of training rows and are overconfident",
                GnomonWarning,
                stacklevel=2,
            )
            return [np.ones(len(positive), dtype=bool)]
        fold = np.empty(len(positive), dtype=np.int64)
        for side in (positive, ~positive):
            fold[side] = np.arange(side.sum()) % n_folds
        return [fold == k for k in range(n_folds)]

    @staticmethod
    def _scores_of(
        given: MachineRows, wanted: np.ndarray, part: MachineRows, coefficients: np.ndarray
    ) -> np.ndarray:
        used = np.flatnonzero(coefficients)
        if given.kernel.pairwise:
            columns = np.searchsorted(given.origin, part.origin[used])
            return given.rows[np.ix_(wanted, columns)] @ coefficients[used]
        if not len(used):
            return np.zeros(len(wanted))
        against = given.kernel.against(part.rows[used])
        scores = np.empty(len(wanted))
        for first in range(0, len(wanted), 256):
            here = slice(first, first + 256)
            scores[here] = against(given.rows[wanted[here]]) @ coefficients[used]
        return scores

    def decision_function(self, X) -> np.ndarray:
        """Scores: of two classes the signed f(x), of more the votes with less than half for size.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self.pair_scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        return votes_and_confidence(scores, len(self.classes_))

    def pair_scores(self, X) -> np.ndarray:
        """f(x) of every pair of classes; above zero for the second class of the pair.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples, n_pairs)
        """
        return self._each_block(self._expansions(), X)

    def predict(self, X) -> np.ndarray:
        """The class of most votes, for each row; of two, the second from score zero on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            return self.classes_[(scores >= 0).astype(np.int64)]
        return self.classes_[scores.argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class, for each row; only with ``probability=True``.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
        """
        pairs = sigmoid(self.pair_scores(X), self.sigmoids_)
        if len(self.classes_) == 1:
            return np.ones((len(pairs), 1))
        if len(self.classes_) == 2:
            return np.column_stack([1 - pairs[:, 0], pairs[:, 0]])
        first, second = np.array(class_pairs(len(self.classes_))).T
        return couple(pairs, first, second, len(self.classes_))

    @available_if(_gives_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithm of `predict_proba`.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes)
        """
        return super().predict_log_proba(X)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return super()._working_memory(n_rows, n_columns) + 8 * n_rows * (n_columns + 10)

    def _sparse_memory(self, n_rows: int, n_columns: int, n_entries: int) -> int:
        return super()._sparse_memory(n_rows, n_columns, n_entries) + 16 * 2 * n_entries


@method(
    task="classify",
    texts="001 8 · 002 L717-978, L1716 · 004 10.1",
    use="Classes with curved borders, up to some ten thousand rows of numbers.",
    avoid="Very many rows (LinearSVM), columns of unlike scale, or where probabilities matter.",
    peers=("sklearn.svm.SVC",),
)
class SVC(PairwiseMachine):
    """Support vector classifier with linear slack, for any kernel.

    Minimises 1/2 |w|^2 + C sum_i w_i xi_i with y_i f(x_i) >= 1 - xi_i. Use it for classes with
    curved borders; scale the columns first (it warns where ranges differ much). Not for very many
    rows: the time grows with more than their square. ``C=numpy.inf`` allows no slack (hard margin)
    and is an error where the classes cannot be separated.

    Texts: 001 8.6-8.7 · 002 L1716 · 004 10.1.2-10.1.3 (slack power k = 1; different penalties per
    class are ``class_weight``; the bound |w|^2 <= c_r is ``max_norm``). 001 8.3 prints max for min.

    Parameters
    ----------
    C : float, default=1.0
        Price of slack; the texts' lambda is 1 / (n C).
    max_norm : float or None, default=None
        Bound on |w|, where the margin must not be narrower than 1 / max_norm; the price of slack is
        then lowered until it holds.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
        The kernel: a word, an object such as ``RBF(sigma=2) + Linear()``, or a function of two
        blocks of rows. "precomputed" takes matrices of similarities for X.
    gamma : float or {"scale", "auto", "median"}, default="scale"
        Scale of the kernels poly, rbf and sigmoid, or its rule; see `RBF`.
    degree : int, default=3
        Of the kernel poly.
    coef0 : float, default=1.0
        Constant of the kernels poly and sigmoid.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class (C+ and C-).
    probability : bool, default=False
        Whether to fit Platt's sigmoids on five folds, for ``predict_proba``: six times the work.
    tol : float, default=0.001
        Greatest violation of the conditions of optimality.
    cache_size : float, default=256.0
        Megabytes for rows of the kernel matrix.
    max_iter : int or None, default=None
        Most working sets of each pair of classes; None for as many as make a million pair steps, or
        a hundred per row if that is more.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps, after each working set, what violates the conditions of optimality most.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the rows given; of equal rows the first.
    support_vectors_ : ndarray or csr_array of shape (n_support, n_columns)
        These rows; sparse where rows were given so and have more than four million cells.
    n_support_ : ndarray of shape (n_classes,)
        Their number per class.
    dual_coef_ : ndarray of shape (n_pairs, n_support)
        y_i a_i, for each pair of classes.
    intercept_ : ndarray of shape (n_pairs,)
        The b of each pair.
    kernel_ : Kernel
        The kernel with all its numbers.
    dual_objective_ : ndarray of shape (n_pairs,)
        The dual objective reached.
    kkt_violation_ : ndarray of shape (n_pairs,)
        Greatest violation of the conditions of optimality that is left.
    n_iter_ : int
        Working sets that were solved, of the pair of classes that needed most.
    n_steps_ : ndarray of shape (n_pairs,)
        Pair steps that were taken.
    history_ : History
        Sum of the dual objectives of all pairs, each after so many working sets.
    sigmoids_ : ndarray of shape (n_pairs, 2)
        Platt's A and B; only with ``probability=True``.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LinearSVM : For very many rows, without kernel.
    SquaredSlackSVM : Slack squared.

    Examples
    --------
    >>> from gnomon.margin import SVC
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], ["same", "same", "other", "other"]
    >>> model = SVC(C=10, gamma=1.0).fit(X, y)
    >>> model.predict([[0.9, 0.1], [0.8, 0.9]]).tolist()
    ['other', 'same']
    >>> len(model.support_)
    4
    """

    _parameter_constraints = {
        "C": [between(0.0, np.inf, "right")],
        "max_norm": [above(0.0), None],
        **KERNEL_PARAMETERS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "probability": FLAG,
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        C=1.0,
        *,
        max_norm=None,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        class_weight=None,
        probability=False,
        tol=1e-3,
        cache_size=256.0,
        max_iter=None,
        keep_history="objective",
        n_jobs=None,
    ):
        self.C = C
        self.max_norm = max_norm
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _two_classes(self, given: MachineRows, sign: np.ndarray, tell=None):
        solution = self._priced(given, sign, self.C, tell)
        if self.max_norm is not None and self._norm(sign, solution) > self.max_norm:
            solution = self._bounded(given, sign, solution)
        return sign * solution.alpha, solution.offsets[0], solution

    def _priced(self, given: MachineRows, sign: np.ndarray, price: float, tell=None) -> Solution:
        programme = Programme.simple(sign, -np.ones(len(sign)), price * given.weights)
        return self._solve(programme, given, tell=tell)

    @staticmethod
    def _norm(sign: np.ndarray, solution: Solution) -> float:
        return float(np.sqrt(max((sign * solution.alpha) @ solution.values, 0.0)))

    def _bounded(self, given: MachineRows, sign: np.ndarray, dearest: Solution) -> Solution:
        """The dearest price of slack at which |w| keeps its bound.

        With a multiplier m of the bound, (1 + 2 m) / 2 |w|^2 + C sum xi is the same machine at the
        price C / (1 + 2 m), and |w| grows with the price.
        """
        high = min(self.C, 2 * float((dearest.alpha / given.weights).max()))
        low, best = 0.0, None
        for _ in range(HALVINGS):
            price = (low + high) / 2
            found = self._priced(given, sign, price)
            if self._norm(sign, found) <= self.max_norm:
                low, best = price, found
            else:
                high = price
            if best is not None and high - low <= CLOSE_PRICE * high:
                break
        return best if best is not None else found


@method(
    task="classify",
    texts="002 L907-978, L1716-1757",
    use="As SVC, where large slacks should cost more than in proportion.",
    avoid="Outliers or wrong labels: their squared slack pulls the border; many rows.",
    peers=("sklearn.svm.LinearSVC with squared_hinge, which has no kernels",),
)
class SquaredSlackSVM(PairwiseMachine):
    """Support vector classifier with squared slack, for any kernel.

    Minimises |w|^2 + slack_cost sum_i w_i xi_i^2 with y_i f(x_i) >= 1 - xi_i. Its dual is that of
    the hard margin with k(x_i, x_j) + (1 / slack_cost) [i = j]: slacks vanish from the problem, it
    always has a solution, and at the optimum xi_i = a_i / slack_cost. Every row beyond its margin
    becomes a support vector. Use it where large slacks should cost more than in proportion; not
    with wrong labels, which then pull the border.

    Texts: 002 L907-978, L1716-1757 (its gamma is ``slack_cost`` here, its sigma is that of `RBF`).
    The offset comes from support vectors, c = <v, x_i> - y_i (1 - a_i / gamma); the formula of the
    hulls is not valid here.

    Parameters
    ----------
    slack_cost : float, default=1.0
        The texts' gamma; a great one comes near the hard margin.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
        The kernel; see `SVC`.
    gamma : float or {"scale", "auto", "median"}, default="scale"
        Scale of the kernels poly, rbf and sigmoid, or its rule; see `RBF`.
    degree : int, default=3
        Of the kernel poly.
    coef0 : float, default=1.0
        Constant of the kernels poly and sigmoid.
    class_weight : dict, "balanced" or None, default=None
        Factors of the slack's cost per class.
    tol : float, default=0.001
        Greatest violation of the conditions of optimality.
    cache_size : float, default=256.0
        Megabytes for rows of the kernel matrix.
    max_iter : int or None, default=None
        Most working sets of each pair of classes; None for as many as make a million pair steps, or
        a hundred per row if that is more.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps, after each working set, what violates the conditions of optimality most.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the rows given; of equal rows the first.
    support_vectors_ : ndarray or csr_array of shape (n_support, n_columns)
        These rows; sparse where rows were given so and have more than four million cells.
    n_support_ : ndarray of shape (n_classes,)
        Their number per class.
    dual_coef_ : ndarray of shape (n_pairs, n_support)
        y_i a_i, for each pair of classes.
    intercept_ : ndarray of shape (n_pairs,)
        The b of each pair.
    kernel_ : Kernel
        The kernel with all its numbers.
    dual_objective_ : ndarray of shape (n_pairs,)
        The dual objective reached.
    kkt_violation_ : ndarray of shape (n_pairs,)
        Greatest violation of the conditions of optimality that is left.
    n_iter_ : int
        Working sets that were solved, of the pair of classes that needed most.
    n_steps_ : ndarray of shape (n_pairs,)
        Pair steps that were taken.
    history_ : History
        Sum of the dual objectives of all pairs, each after so many working sets.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import SquaredSlackSVM
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = SquaredSlackSVM(10.0, kernel="linear", tol=1e-9).fit(X, y)
    >>> model.decision_function([[1.5]]).round(6)
    array([0.])
    """

    _parameter_constraints = {
        "slack_cost": [above(0.0)],
        **KERNEL_PARAMETERS,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        slack_cost=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        class_weight=None,
        tol=1e-3,
        cache_size=256.0,
        max_iter=None,
        keep_history="objective",
        n_jobs=None,
    ):
        self.slack_cost = slack_cost
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _two_classes(self, given: MachineRows, sign: np.ndarray, tell=None):
        ridge = 1.0 / (self.slack_cost * given.weights)
        programme = Programme.simple(sign, -np.ones(len(sign)), np.full(len(sign), np.inf))
        solution = self._solve(programme, given, ridge, tell)
        return sign * solution.alpha, solution.offsets[0], solution


@method(
    task="classify",
    texts="004 10.1 (the nu form of its machine)",
    use="As SVC, where the share of rows beyond the margin is easier to choose than C.",
    avoid="Classes of very unequal size, for which a given nu need not be feasible.",
    peers=("sklearn.svm.NuSVC",),
)
class NuSVC(PairwiseMachine):
    """Support vector classifier whose parameter is a share of rows.

    The same machines as `SVC`, chosen by nu: at most a share nu of the rows lies beyond its margin,
    and at least a share nu are support vectors. Use it where such a share is easier to choose than
    C; not for classes of very unequal size: nu is lowered there, with a warning, to what is
    feasible, twice the share of the smaller class.

    Texts: 004 10.1 (which has the form with C).

    Parameters
    ----------
    nu : float, default=0.5
        The share, above 0 and at most 1.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
        The kernel; see `SVC`.
    gamma : float or {"scale", "auto", "median"}, default="scale"
        Scale of the kernels poly, rbf and sigmoid, or its rule; see `RBF`.
    degree : int, default=3
        Of the kernel poly.
    coef0 : float, default=1.0
        Constant of the kernels poly and sigmoid.
    probability : bool, default=False
        Whether to fit Platt's sigmoids on five folds, for ``predict_proba``: six times the work.
    tol : float, default=0.001
        Greatest violation of the conditions of optimality.
    cache_size : float, default=256.0
        Megabytes for rows of the kernel matrix.
    max_iter : int or None, default=None
        Most working sets of each pair of classes; None for as many as make a million pair steps, or
        a hundred per row if that is more.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps, after each working set, what violates the conditions of optimality most.
    n_jobs : int or None, default=None
        Threads; None for one per processor. Does not change the result.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors among the rows given; of equal rows the first.
    support_vectors_ : ndarray or csr_array of shape (n_support, n_columns)
        These rows; sparse where rows were given so and have more than four million cells.
    n_support_ : ndarray of shape (n_classes,)
        Their number per class.
    dual_coef_ : ndarray of shape (n_pairs, n_support)
        y_i a_i / rho, for each pair of classes.
    intercept_ : ndarray of shape (n_pairs,)
        The b of each pair.
    kernel_ : Kernel
        The kernel with all its numbers.
    dual_objective_ : ndarray of shape (n_pairs,)
        The dual objective reached.
    kkt_violation_ : ndarray of shape (n_pairs,)
        Greatest violation of the conditions of optimality that is left.
    n_iter_ : int
        Working sets that were solved, of the pair of classes that needed most.
    n_steps_ : ndarray of shape (n_pairs,)
        Pair steps that were taken.
    history_ : History
        Sum of the dual objectives of all pairs, each after so many working sets.
    sigmoids_ : ndarray of shape (n_pairs, 2)
        Platt's A and B; only with ``probability=True``.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import NuSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> NuSVC(0.5, kernel="linear").fit(X, y).predict([[0.4], [2.2]])
    array([0, 1])
    """

    _parameter_constraints = {
        "nu": [between(0.0, 1.0, "right")],
        **KERNEL_PARAMETERS,
        "probability": FLAG,
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        nu=0.5,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=1.0,
        probability=False,
        tol=1e-3,
        cache_size=256.0,
        max_iter=None,
        keep_history="objective",
        n_jobs=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _two_classes(self, given: MachineRows, sign: np.ndarray, tell=None):
        positive = sign > 0
        weights = given.weights
        smaller = min(weights[positive].sum(), weights[~positive].sum())
        feasible = 2.0 * float(smaller / weights.sum())
        nu = self.nu
        if nu > feasible * (1 + 1e-12):
            warnings.warn(
                f"nu={nu:g} is not feasible for classes of such unequal size; "
                f"{feasible:.4g}, the greatest that is, was used for this pair",
                GnomonWarning,
                stacklevel=2,
            )
            nu = feasible
        group = positive.astype(np.int64)
        start = fill_up(weights, group, nu * weights.sum() / 2)
        zero = np.zeros(len(sign))
        programme = Programme(np.arange(len(sign)), sign, zero, weights, group, start)
        solution = self._solve(programme, given, tell=tell)
        below, above_zero = solution.offsets
        rho = max((below - above_zero) / 2, np.finfo(np.float64).tiny ** 0.25)
        return sign * solution.alpha / rho, (below + above_zero) / 2 / rho, solution


def fill_up(bound: np.ndarray, group: np.ndarray, total: float) -> np.ndarray:
    """Variables of each group at their bounds, one after the other, up to the total."""
    start = np.empty(len(bound))
    for g in np.unique(group):
        here = group == g
        before = np.cumsum(bound[here]) - bound[here]
        start[here] = np.clip(total - before, 0.0, bound[here])
    return start
