"""Perceptrons: planes that are corrected by the rows they get wrong.

z = (b, w); a row is wrong where y_i <(1, x_i), z> <= margin (a score of zero is an error, so that
z = 0 does not stop at once). One row at a time, z <- z + rate y_i (1, x_i) for a wrong row; in
batches, the sum over all wrong rows, which is gradient descent on the perceptron cost
C(z) = sum_i w_i [i wrong] |<z, (1, x_i)>|. Both end on separable rows only: after at most (R /
gamma)^2 corrections where |(1, x)| <= R and some unit z has margin gamma (Novikoff).

Texts: 001 3.2 · 002 L532-606 · 004 4.4. 001 and 002 leave out the test whether a row is wrong;
without it the loop does not end.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract import Data
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, HISTORY, SEED, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Flag, Whole
from gnomon.engine.threads import one_blas_thread
from gnomon.margin.distinct import distinct_data
from gnomon.margin.hyperplane import Hyperplane, margins
from gnomon.margin.linear_machine import LinearMachine, one_against_rest


@kernel("f8[:,:]", "f8[:]", "i8[:]", "f8", "f8", "out f8[:]")
def correct_in_turn(rows, sign, order, rate, margin, plane):
    """One pass: each row that is wrong when its turn comes corrects the plane; gives their number.

    rows (n, d + 1) with the constant last, sign (n,), order (n,) of visits, plane (d + 1,).
    """
    corrections = 0
    d = rows.shape[1]
    for i in order:
        score = 0.0
        for j in range(d):
            score += rows[i, j] * plane[j]
        if sign[i] * score <= margin:
            corrections += 1
            for j in range(d):
                plane[j] += rate * sign[i] * rows[i, j]
    return corrections


@kernel("f8[:,:]", "i8[:]", "i8[:]", "f8", "out f8[:,:]")
def correct_classes_in_turn(rows, codes, order, margin, planes):
    """One pass over several classes: a wrong row is added to its own plane and taken from the best.

    rows (n, d + 1) with the constant last, codes (n,) of the classes, planes (k, d + 1). A row is
    wrong where another class's score reaches its own less the margin. Gives how many were.
    """
    corrections = 0
    d = rows.shape[1]
    for i in order:
        own = 0.0
        best = -np.inf
        rival = -1
        for k in range(len(planes)):
            score = 0.0
            for j in range(d):
                score += rows[i, j] * planes[k, j]
            if k == codes[i]:
                own = score
            elif score > best:
                best = score
                rival = k
        if own - best <= margin:
            corrections += 1
            for j in range(d):
                planes[codes[i], j] += rows[i, j]
                planes[rival, j] -= rows[i, j]
    return corrections


def perceptron_cost(plane: np.ndarray, rows: np.ndarray, sign: np.ndarray, weights=None) -> float:
    """sum_i w_i |score_i| over the rows on the wrong side; rows with the constant last.

    Texts: 002 L532-556.

    Parameters
    ----------
    plane : ndarray of shape (d + 1,)
    rows : ndarray of shape (n, d + 1)
    sign : ndarray of shape (n,)
        -1 or +1.
    weights : ndarray of shape (n,) or None, default=None

    Returns
    -------
    cost : float

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import perceptron_cost
    >>> perceptron_cost(np.array([1.0, 0]), np.array([[2.0, 1], [-3, 1]]), np.array([-1.0, -1]))
    2.0
    """
    wrong = np.maximum(-sign * (rows @ plane), 0.0)
    return float(wrong.sum() if weights is None else weights @ wrong)


class _Corrected(LinearMachine):
    """What both perceptrons share: passes, a pocket, and what is told at the end."""

    _stored = {
        "n_corrections_": Whole(),
        "separated_": Flag(),
    }

    def _fit(self, data: Data) -> None:
        with one_blas_thread():
            self._correct(data)

    def _correct(self, data: Data) -> None:
        given = distinct_data(data)
        rows = np.column_stack([given.rows, np.full(len(given.rows), float(self.fit_intercept))])
        signs = one_against_rest(given.y, len(self.classes_))
        planes = np.zeros((len(signs), rows.shape[1]))
        best, fewest, corrections = planes.copy(), np.inf, 0
        rng = self._rng()
        course = self._course("pass", self.max_iter)
        for step in course:
            corrections += self._pass(step, rows, given, signs, planes, rng)
            room = self._room(rows, given.y, signs, planes)
            wrong = float(given.weights[room <= self._least_room()].sum())
            if wrong < fewest or not self.pocket:
                best, fewest = planes.copy(), wrong
            separated = bool((room > self._least_room()).all())
            attributes = self._planes(best) | {
                "separated_": separated,
                "n_corrections_": corrections,
            }
            if course.end_step(
                float(given.weights @ np.maximum(-room, 0.0)),
                converged=separated,
                state=lambda: {"planes": planes.copy()},
                attributes=partial(dict, attributes),
            ):
                break
        self._keep(attributes)
        self.history_, self.n_iter_ = course.history, len(course.history)
        if not separated and course.history.stopped == "max_iter":
            warnings.warn(
                f"{type(self).__name__} has not separated the classes in max_iter={self.max_iter} "
                f"passes: rows of weight {fewest:g} are wrong. Perhaps no plane separates them: "
                "see gnomon.margin.separability",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _room(self, rows, codes, signs, planes) -> np.ndarray:
        """How far each row is on its side, of the plane where it is least so."""
        if not len(signs):
            return np.ones(len(rows))
        return (signs * (planes @ rows.T)).min(axis=0)

    def _least_room(self) -> float:
        return 0.0

    def _pass(self, step, rows, given, signs, planes, rng) -> int:
        """Correct the planes; gives the number of corrections."""
        raise NotImplementedError

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * n_rows * (4 * n_columns + 40)


@method(
    task="classify",
    texts="001 3.2 · 002 L589-606",
    use="Classes that a plane separates, and to see how learning by correction goes.",
    avoid="Overlapping classes, unless with pocket; LinearSVC finds the plane with most room.",
    peers=("sklearn.linear_model.Perceptron",),
)
class PocketPerceptron(_Corrected):
    """Perceptron with a pocket: one row at a time; only rows on the wrong side correct the plane.

    A wrong row, y_i (w . x_i + b) <= margin, does w <- w + y_i x_i, b <- b + y_i. Use it on classes
    that a plane separates, where it ends by itself after at most (R / gamma)^2 corrections; on
    others it goes round for ever, so that ``max_iter`` passes are made, a warning says so, and the
    plane with fewest errors is kept (``pocket``). Not where the widest margin is wanted.

    Of several classes each has a plane, and a row that another class's plane gives as much is added
    to its own and taken from the other's. Equal rows count once in the passes (a row seen twice in
    turn would correct once more); weights count in the errors by which the pocket chooses.

    Texts: 001 3.2 · 002 L589-606, both of which leave out the test whether the row is wrong.

    Parameters
    ----------
    pick : {"cyclic", "random", "first"}, default="cyclic"
        Order of visits: in turn, in a new random order each pass, or always the first wrong row in
        turn (then a pass is one correction).
    margin : float, default=0.0
        Rows whose y times score is no greater correct the plane too.
    pocket : bool, default=True
        Whether to keep the plane of fewest errors of all passes; else the last.
    fit_intercept : bool, default=True
        Whether the plane has an offset.
    max_iter : int, default=1000
        Most passes.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the planes of each pass too.
    random_state : int, RandomState instance or None, default=None
        Seed for ``pick="random"``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Normal vectors: one for two classes, else one per class.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    separated_ : bool
        Whether no row is wrong.
    n_corrections_ : int
        Corrections that were made.
    history_ : History
        The perceptron cost after each pass.
    n_iter_ : int
        Passes.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import PocketPerceptron
    >>> model = PocketPerceptron().fit([[0, 0], [1, 1], [2, 2], [3, 3]], [0, 0, 1, 1])
    >>> model.predict([[0.5, 0.5], [2.5, 2.5]]).tolist(), model.separated_
    ([0, 1], True)
    """

    _parameter_constraints = {
        "pick": [StrOptions({"cyclic", "random", "first"})],
        "margin": [at_least(0.0)],
        "pocket": FLAG,
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "keep_history": HISTORY,
        "random_state": SEED,
    }

    def __init__(
        self,
        pick="cyclic",
        *,
        margin=0.0,
        pocket=True,
        fit_intercept=True,
        max_iter=1000,
        keep_history="objective",
        random_state=None,
    ):
        self.pick = pick
        self.margin = margin
        self.pocket = pocket
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.keep_history = keep_history
        self.random_state = random_state

    def _least_room(self) -> float:
        return self.margin

    def _room(self, rows, codes, signs, planes):
        if len(planes) <= 1:
            return super()._room(rows, codes, signs, planes)
        scores = rows @ planes.T
        every = np.arange(len(rows))
        own = scores[every, codes]
        scores[every, codes] = -np.inf
        return own - scores.max(axis=1)

    def _pass(self, step, rows, given, signs, planes, rng):
        order = np.arange(len(rows))
        if self.pick == "random":
            order = rng.permutation(len(rows))
        elif self.pick == "first":
            room = self._room(rows, given.y, signs, planes)
            order = np.flatnonzero(room <= self.margin)[:1]
        if len(planes) == 0:
            return 0
        if len(planes) == 1:
            return correct_in_turn(rows, signs[0], order, 1.0, self.margin, planes[0])
        return correct_classes_in_turn(rows, given.y, order, self.margin, planes)


@method(
    task="classify",
    texts="002 L532-587",
    use="To see gradient descent on the perceptron cost, on classes that a plane separates.",
    avoid="Overlapping classes; LinearSVC or LogisticRegression for use.",
    peers=(),
)
class BatchPerceptron(_Corrected):
    """Batch perceptron: gradient descent on the perceptron cost.

    z <- z + rate(k) sum_i w_i [i wrong] y_i (1, x_i), until no row is wrong. Use it to see how a
    piecewise linear cost is descended; it ends on separable rows only, and where it ends depends on
    the rate. Not for overlapping classes: after ``max_iter`` steps a warning says so, and the plane
    of fewest errors is kept. Texts: 002 L553-587.

    Parameters
    ----------
    rate : {"constant", "falling"}, default="constant"
        Length of steps: ``rate0``, or ``rate0`` / k at step k.
    rate0 : float, default=1.0
        The first rate.
    pocket : bool, default=True
        Whether to keep the plane of fewest errors of all steps; else the last.
    fit_intercept : bool, default=True
        Whether the plane has an offset.
    max_iter : int, default=1000
        Most steps.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the planes of each step too.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        Normal vectors: one for two classes, else one per class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Offsets.
    separated_ : bool
        Whether no row is wrong.
    n_corrections_ : int
        Wrong rows that have corrected a plane, summed over steps and planes.
    history_ : History
        The perceptron cost after each step: of several planes each row's greatest.
    n_iter_ : int
        Steps.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import BatchPerceptron
    >>> model = BatchPerceptron().fit([[0, 0], [1, 1], [2, 2], [3, 3]], [0, 0, 1, 1])
    >>> model.predict([[0.5, 0.5], [2.5, 2.5]]).tolist()
    [0, 1]
    """

    _parameter_constraints = {
        "rate": [StrOptions({"constant", "falling"})],
        "rate0": [above(0.0)],
        "pocket": FLAG,
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "keep_history": HISTORY,
    }

    def __init__(
        self,
        rate="constant",
        *,
        rate0=1.0,
        pocket=True,
        fit_intercept=True,
        max_iter=1000,
        keep_history="objective",
    ):
        self.rate = rate
        self.rate0 = rate0
        self.pocket = pocket
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.keep_history = keep_history

    def _pass(self, step, rows, given, signs, planes, rng):
        rate = self.rate0 if self.rate == "constant" else self.rate0 / (step + 1)
        corrections = 0
        for plane, sign in zip(planes, signs):
            wrong = np.flatnonzero(sign * (rows @ plane) <= 0)
            plane += rate * ((given.weights[wrong] * sign[wrong]) @ rows[wrong])
            corrections += len(wrong)
        return corrections


def novikoff_bound(X: Any, y: Any, estimator: Any) -> float:
    """Most corrections that a perceptron makes on rows that a given plane separates.

    (R / gamma)^2, with R the greatest length of (1, x) and gamma the margin of the plane z = (b, w)
    in homogeneous coordinates, min_i y_i <(1, x_i), z> / |z|. Texts: 002 L600-606.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Of two classes.
    estimator : Hyperplane or linear classifier of two classes
        Must separate the rows; the better its margin, the tighter the bound.

    Returns
    -------
    bound : float
        Infinite where the plane does not separate the rows.

    Examples
    --------
    >>> from gnomon.margin import Hyperplane, novikoff_bound
    >>> novikoff_bound([[-1.0], [1.0]], [-1, 1], Hyperplane([1.0]))
    2.0
    """
    plane = estimator if isinstance(estimator, Hyperplane) else Hyperplane.of(estimator)
    X = np.asarray(X, dtype=np.float64)
    gamma = margins(estimator, X, y).functional_margin / float(np.linalg.norm(plane.homogeneous))
    if gamma <= 0:
        return float("inf")
    return float((1 + (X**2).sum(axis=1).max()) / gamma**2)
