"""Support vector classification: the widest margin, with slack, in the space of a kernel.

    min  1/2 |w|^2 + C sum_i w_i xi_i,    y_i (w . phi(x_i) + b) >= 1 - xi_i,  xi_i >= 0

solved in its dual, max sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k(x_i, x_j) with 0 <= a_i <= C w_i
and sum_i a_i y_i = 0, by decomposition into working sets (see `working_set`). f(x) = sum_i a_i y_i
k(x_i, x) + b; rows with a_i > 0 are the support vectors. More than two classes are separated pair
by pair, by votes.

Texts: 001 8.3-8.7 (which prints max |w|^2 for min in 8.3) · 002 L717-978, L1716 · 004 10.1.
"""

from __future__ import annotations

import warnings

import numpy as np

from gnomon.contract.docstrings import shared_attributes, shared_parameters
from gnomon.contract.inert import without_effect
from gnomon.engine.errors import GnomonWarning
from gnomon.engine.parameters import FLAG, StrOptions, above, between
from gnomon.engine.registry import method
from gnomon.margin.machine import KERNEL_PARAMETERS, MACHINE_PARAMETERS, MACHINE_TEXTS, MachineRows
from gnomon.margin.pairwise import PairwiseMachine
from gnomon.margin.working_set import Programme, Solution

HALVINGS = 60  # of the price of slack that keeps max_norm: to the last digit
CLOSE_PRICE = 1e-6  # and when it is near enough
CLASSES_PARAMETERS: dict[str, list] = {
    "probability": [*FLAG, StrOptions({"deprecated"})],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "decision_function_shape": [StrOptions({"ovo", "ovr"})],
    "break_ties": FLAG,
}
# Texts of attributes that classes here share, for their docstrings.
SVC_ATTRIBUTES = """\
support_ : ndarray of shape (n_support,)
    Positions of the support vectors among the rows given, by class; of equal rows the first.
support_vectors_ : ndarray or csr_array of shape (n_support, n_columns)
    These rows; sparse where rows were given so, empty where the kernel is precomputed.
n_support_ : ndarray of shape (n_classes,)
    Their number per class.
coef_ : ndarray or csr_array of shape (n_pairs, n_columns)
    Weights of the columns; only with the linear kernel.
intercept_ : ndarray of shape (n_pairs,)
    The b of each pair.
kernel_ : Kernel
    The kernel with all its parameters.
dual_objective_ : ndarray of shape (n_pairs,)
    The dual objective reached.
kkt_violation_ : ndarray of shape (n_pairs,)
    Greatest violation of the conditions of optimality that is left.
n_iter_ : ndarray of shape (n_pairs,)
    Working sets that were solved.
n_steps_ : ndarray of shape (n_pairs,)
    Pair steps that were taken.
fit_status_ : int
    0 where the fit has converged, else 1.
shape_fit_ : tuple of int
    Shape of the rows seen in ``fit``.
history_ : History
    Sum of the dual objectives of all pairs, each after so many working sets.
class_weight_ : ndarray of shape (n_classes,)
    Factors of the classes.
classes_ : ndarray of shape (n_classes,)
    The classes.
n_features_in_ : int
    Number of columns seen in ``fit``.
"""


@method(
    task="classify",
    texts="001 8 · 002 L717-978, L1716 · 004 10.1",
    use="Classes with curved borders, up to some ten thousand rows of numbers.",
    avoid="Very many rows (LinearSVC), columns of unlike scale, or where probabilities matter.",
    peers=("sklearn.svm.SVC",),
)
@without_effect("shrinking", "verbose", "random_state")
@shared_parameters(MACHINE_TEXTS)
@shared_attributes(SVC_ATTRIBUTES)
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
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
        The kernel: a word, an object such as ``RBF(sigma=2) + Linear()``, or a function of two
        blocks of rows. "precomputed" takes matrices of similarities for X.
    class_weight : dict, "balanced" or None, default=None
        Factors of C per class.
    max_norm : float or None, default=None
        Bound on |w|, where the margin must not be narrower than 1 / max_norm; the price of slack is
        then lowered until it holds.

    Attributes
    ----------
    support_, support_vectors_, n_support_, coef_
    dual_coef_ : ndarray or csr_array of shape (n_classes - 1, n_support)
        y_i a_i; of several classes in libsvm's layout, see `gnomon.margin.pairwise`.
    intercept_, kernel_, dual_objective_, kkt_violation_, n_iter_, n_steps_, fit_status_
    shape_fit_, history_
    probA_, probB_ : ndarray of shape (n_pairs,)
        Platt's sigmoids, in libsvm's signs; empty without ``probability=True``.
    class_weight_, classes_, n_features_in_

    See Also
    --------
    LinearSVC : For very many rows, without kernel.
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
        **KERNEL_PARAMETERS,
        **CLASSES_PARAMETERS,
        **MACHINE_PARAMETERS,
        "max_norm": [above(0.0), None],
    }

    def __init__(
        self,
        *,
        C=1.0,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        max_norm=None,
        keep_history="objective",
        n_jobs=None,
    ):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.max_norm = max_norm
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
@shared_parameters(MACHINE_TEXTS)
@shared_attributes(SVC_ATTRIBUTES)
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
    class_weight : dict, "balanced" or None, default=None
        Factors of the slack's cost per class.

    Attributes
    ----------
    support_, support_vectors_, n_support_, coef_
    dual_coef_ : ndarray or csr_array of shape (n_classes - 1, n_support)
        y_i a_i; of several classes in libsvm's layout.
    intercept_, kernel_, dual_objective_, kkt_violation_, n_iter_, n_steps_, fit_status_
    shape_fit_, history_
    probA_, probB_ : ndarray of shape (n_pairs,)
        Platt's sigmoids, empty here.
    class_weight_, classes_, n_features_in_

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
        "class_weight": CLASSES_PARAMETERS["class_weight"],
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        slack_cost=1.0,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        max_iter=-1,
        keep_history="objective",
        n_jobs=None,
    ):
        self.slack_cost = slack_cost
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _two_classes(self, given: MachineRows, sign: np.ndarray, tell=None):
        ridge = 1.0 / (self.slack_cost * given.weights)
        if given.kernel.pairwise:  # a matrix of this pair alone: no other is needed
            given.rows[np.diag_indices(len(sign))] += ridge
            ridge = None
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
@without_effect("shrinking", "verbose", "random_state")
@shared_parameters(MACHINE_TEXTS)
@shared_attributes(SVC_ATTRIBUTES)
class NuSVC(PairwiseMachine):
    """Support vector classifier whose parameter is a share of rows.

    The same machines as `SVC`, chosen by nu: at most a share nu of the rows lies beyond its margin,
    and at least a share nu are support vectors. Use it where such a share is easier to choose than
    C; not for classes of very unequal size: nu is lowered there, with a warning (scikit-learn
    raises), to what is feasible, twice the share of the smaller class.

    Texts: 004 10.1 (which has the form with C).

    Parameters
    ----------
    class_weight : dict, "balanced" or None, default=None
        Factors per class of the C that nu stands for.

    Attributes
    ----------
    support_, support_vectors_, n_support_, coef_
    dual_coef_ : ndarray or csr_array of shape (n_classes - 1, n_support)
        y_i a_i / rho; of several classes in libsvm's layout.
    intercept_, kernel_, dual_objective_, kkt_violation_, n_iter_, n_steps_, fit_status_
    shape_fit_, history_
    probA_, probB_ : ndarray of shape (n_pairs,)
        Platt's sigmoids, in libsvm's signs; empty without ``probability=True``.
    class_weight_, classes_, n_features_in_

    Examples
    --------
    >>> from gnomon.margin import NuSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> NuSVC(nu=0.5, kernel="linear").fit(X, y).predict([[0.4], [2.2]])
    array([0, 1])
    """

    _parameter_constraints = {
        "nu": [between(0.0, 1.0, "right")],
        **KERNEL_PARAMETERS,
        **CLASSES_PARAMETERS,
        **MACHINE_PARAMETERS,
    }

    def __init__(
        self,
        *,
        nu=0.5,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        shrinking=True,
        probability="deprecated",
        tol=1e-3,
        cache_size=200,
        class_weight=None,
        verbose=False,
        max_iter=-1,
        decision_function_shape="ovr",
        break_ties=False,
        random_state=None,
        keep_history="objective",
        n_jobs=None,
    ):
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.keep_history = keep_history
        self.n_jobs = n_jobs

    def _two_classes(self, given: MachineRows, sign: np.ndarray, tell=None):
        positive = sign > 0
        factors = self.class_weight_[given.y]
        weights = given.weights / factors
        nu = self._feasible(weights, positive)
        group = positive.astype(np.int64)
        start = fill_up(weights, group, nu * weights.sum() / 2)
        zero = np.zeros(len(sign))
        programme = Programme(np.arange(len(sign)), sign, zero, weights, group, start)
        solution = self._solve(programme, given, tell=tell)
        below, above_zero = solution.offsets
        rho = max((below - above_zero) / 2, np.finfo(np.float64).tiny ** 0.25)
        if (factors != 1).any():
            priced = Programme.simple(sign, -np.ones(len(sign)), given.weights / rho)
            solution = self._solve(priced, given, tell=tell)
            return sign * solution.alpha, solution.offsets[0], solution
        return sign * solution.alpha / rho, (below + above_zero) / 2 / rho, solution

    def _feasible(self, weights: np.ndarray, positive: np.ndarray) -> float:
        """nu, or the greatest feasible one where it is none: twice the smaller class's share."""
        smaller = min(weights[positive].sum(), weights[~positive].sum())
        most = 2.0 * float(smaller / weights.sum())
        if self.nu <= most * (1 + 1e-12):
            return self.nu
        warnings.warn(
            f"nu={self.nu:g} is infeasible for classes of such unequal size; {most:.4g}, the "
            "greatest feasible value, was used for this pair",
            GnomonWarning,
            stacklevel=2,
        )
        return most


def fill_up(bound: np.ndarray, group: np.ndarray, total: float) -> np.ndarray:
    """Variables of each group at their bounds, one after the other, up to the total."""
    start = np.empty(len(bound))
    for g in np.unique(group):
        here = group == g
        before = np.cumsum(bound[here]) - bound[here]
        start[here] = np.clip(total - before, 0.0, bound[here])
    return start
