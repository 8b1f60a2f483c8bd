"""A layer of sigmoid units trained on squared error: the oldest neural classifier.

Every class has a unit  a(b0 + x b)  with a the logistic function or the hyperbolic tangent (two
classes share one unit), and the layer minimises

    sum_i w_i |t_i - a(b0 + x_i b)|^2 + alpha |b|^2

with targets t at the ends of the unit's range. Unlike the log-loss of logistic regression this is
*not* convex: a row far on the wrong side has hardly any slope, f(w) = (1 - a(w))^2 has f(-4) =
0.964 above the mean 0.625 of f(-8) and f(0). So the end depends on the start, which is zero here.

Texts: 003 4.3.1-4.3.2 (which calls the error surface convex because the activation is monotone).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Classifier, Data
from gnomon.engine.draw import WeightedDraw, canonical_order
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, HISTORY, SEED, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import one_blas_thread
from gnomon.linear.design import LARGEST, centered_rows, decision
from gnomon.linear.inference import column_names
from gnomon.linear.solve import symmetric_solve
from gnomon.optimize.losses import logistic

GREATEST_DAMPING = 1e12  # a step damped so much is below rounding
FLAT = 1e-10  # curvature, in units of its positive part, that may be rounding


class Batch(NamedTuple):
    """Columns of one length and a constant last, targets per unit, weights."""

    design: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


def activation(f: np.ndarray, tanh: bool) -> np.ndarray:
    """What a unit gives."""
    return np.tanh(f) if tanh else logistic(f)


def slopes(a: np.ndarray, tanh: bool) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative of the activation, from its value."""
    if tanh:
        first = 1 - a**2
        return first, -2 * a * first
    first = a * (1 - a)
    return first, first * (1 - 2 * a)


def unit_error(theta, batch: Batch, target, tanh: bool, costs) -> float:
    """The objective of one unit."""
    miss = activation(batch.design @ theta, tanh) - target
    return float(batch.weights @ miss**2 + costs @ theta**2)


def unit_step(theta, batch: Batch, target, tanh: bool, costs, damping: float):
    """A damped Newton step of one unit that lowers its error; the new damping.

    The curvature is the exact one; where it is negative in some direction, so that the step would
    go up there, the damping, in units of its positive part, makes it positive.
    """
    a = activation(batch.design @ theta, tanh)
    first, second = slopes(a, tanh)
    miss = a - target
    slope = 2 * (batch.design.T @ (batch.weights * miss * first) + costs * theta)
    sure = 2 * (batch.design.T * (batch.weights * first**2)) @ batch.design
    rest = 2 * (batch.design.T * (batch.weights * miss * second)) @ batch.design
    curve = sure + rest + 2 * np.diag(costs)
    unit = np.maximum(np.abs(np.diag(curve)), np.diag(sure)) + np.finfo(float).tiny
    root = np.sqrt(unit)
    error = unit_error(theta, batch, target, tanh, costs)
    while damping < GREATEST_DAMPING:
        damped = curve + np.diag(damping * unit)
        least = np.linalg.eigvalsh(damped / root[:, None] / root)[0]
        if least > (FLAT if damping > 0 else -FLAT):  # columns that repeat others are flat
            moved = theta - symmetric_solve(damped, slope)
            if unit_error(moved, batch, target, tanh, costs) <= error:
                return moved, damping / 8 if damping > 1e-6 else 0.0
        damping = max(4 * damping, 1e-3)
    return theta, damping


@method(
    task="classify",
    texts="003 4.3.1-4.3.2",
    use="To see what a layer of sigmoid units does, or where wrong labels should count little.",
    avoid="For a classifier as such: LogisticRegression is convex and gives better probabilities.",
)
class SigmoidUnits(Classifier):
    """A layer of logistic or tanh units trained on squared error, in batch or online.

    Minimises sum_i w_i |t_i - a(b0 + x_i b)|^2 + alpha |b|^2, a unit per class (one for two
    classes), columns scaled to one length first. Use it to learn what the text describes, or where
    some labels are wrong: a row far on the wrong side pulls less than in logistic regression. Not
    as a first classifier: the error is not convex, so that the end depends on the start (zero
    weights), and on separable rows only the penalty keeps the weights finite.

    Texts: 003 4.3.1-4.3.2 (whose claim that a monotone activation makes the error surface convex is
    false for squared error: f(w) = (1 - a(w))^2 has f(-4) above the mean of f(-8) and f(0); with
    log-loss it is true). The text trains online, ``solver="online"``; the batch goes by Newton's
    damped steps to the minimum itself.

    Parameters
    ----------
    activation : {"logistic", "tanh"}, default="logistic"
        What a unit applies to its sum; targets are 0 and 1, or -1 and 1.
    alpha : float, default=0.01
        Weight of the penalty on the squared weights (of the scaled columns).
    solver : {"batch", "online"}, default="batch"
        All rows at each step, or row by row in random order.
    learning_rate : float, default=0.1
        The first rate of ``"online"``; it falls to a tenth of it by the last season.
    fit_intercept : bool, default=True
        Whether units have a constant b0, which is not penalised.
    max_iter : int, default=200
        Most steps, or seasons of as many rows as there are.
    tol : float, default=1e-10
        Stops when the sums of units change by no more than this share of the largest; not online.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` keeps the weights of each step too.
    random_state : int, RandomState instance or None, default=None
        Draws the rows of ``"online"``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_units, n_columns)
        The weights b, in the columns' own units.
    intercept_ : ndarray of shape (n_units,)
        The constants b0.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    history_ : History
        The objective after each step; in batch it never rises.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LogisticRegression : The same units with log-loss.

    Examples
    --------
    >>> from gnomon.linear import SigmoidUnits
    >>> model = SigmoidUnits().fit([[0], [1], [2], [3]], ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['a', 'b']
    """

    _largest: ClassVar[float] = LARGEST
    _parameter_constraints = {
        "activation": [StrOptions({"logistic", "tanh"})],
        "alpha": [at_least(0.0)],
        "solver": [StrOptions({"batch", "online"})],
        "learning_rate": [above(0.0)],
        "fit_intercept": FLAG,
        "max_iter": [whole(1)],
        "tol": [at_least(0.0)],
        "keep_history": HISTORY,
        "random_state": SEED,
    }
    _stored = {
        "coef_": Array("f8", ("n_coef", "n_columns")),
        "intercept_": Array("f8", ("n_coef",)),
    }

    def __init__(
        self,
        activation="logistic",
        alpha=0.01,
        solver="batch",
        learning_rate=0.1,
        fit_intercept=True,
        max_iter=200,
        tol=1e-10,
        keep_history="objective",
        random_state=None,
    ):
        self.activation = activation
        self.alpha = alpha
        self.solver = solver
        self.learning_rate = learning_rate
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        with one_blas_thread():
            self._train(data)

    def _train(self, data: Data) -> None:
        batch, location, lengths = self._batch(data)
        costs = np.full(batch.design.shape[1], float(self.alpha))
        costs[data.n_columns :] = 0.0
        thetas = np.zeros((len(batch.targets), len(costs)))
        advance = (
            self._by_steps(batch, costs)
            if self.solver == "batch"
            else self._online(batch, costs, data)
        )
        course = self._course("step", self.max_iter)
        for step in course:
            thetas, still = advance(thetas, step)
            error = sum(
                unit_error(theta, batch, target, self._tanh, costs)
                for theta, target in zip(thetas, batch.targets)
            )
            found = partial(self._attributes, thetas, location, lengths)
            if course.end_step(
                error,
                still,
                state=partial(dict, theta=thetas.copy()),
                attributes=partial(self._so_far, found),
            ):
                break
        self._keep(found())
        self.history_, self.n_iter_ = course.history, len(course.history)
        if course.history.stopped == "max_iter" and self.solver == "batch":
            warnings.warn(
                f"SigmoidUnits has not converged in max_iter={self.max_iter} steps; error "
                f"{error:.6g}. Raise alpha, max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _so_far(self, found: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return self._public() | found()

    @property
    def _tanh(self) -> bool:
        return self.activation == "tanh"

    def _batch(self, data: Data):
        rows, location = centered_rows(data, self.fit_intercept, column_names(self))
        weights = data.weight_array
        lengths = np.sqrt(np.einsum("ij,ij,i->j", rows, rows, weights) / weights.sum())
        lengths[lengths == 0] = 1.0
        rows /= lengths
        if self.fit_intercept:
            rows = np.column_stack([rows, np.ones(len(rows))])
        n_classes = len(self.classes_)
        units = [1] if n_classes == 2 else range(n_classes)
        low = -1.0 if self._tanh else 0.0
        targets = np.array([np.where(data.y == unit, 1.0, low) for unit in units])
        return Batch(rows, targets, weights), location, lengths

    def _by_steps(self, batch: Batch, costs):
        damping = np.ones(len(batch.targets))

        def advance(thetas, step):
            moved = thetas.copy()
            still = True
            for unit, target in enumerate(batch.targets):
                moved[unit], damping[unit] = unit_step(
                    thetas[unit], batch, target, self._tanh, costs, damping[unit]
                )
                change = np.abs(batch.design @ (moved[unit] - thetas[unit])).max()
                size = max(np.abs(batch.design @ moved[unit]).max(), 1.0)
                still &= bool(change <= self.tol * size)
                if damping[unit] >= GREATEST_DAMPING:
                    damping[unit] = 1.0
            return moved, still

        return advance

    def _online(self, batch: Batch, costs, data: Data):
        rng = self._rng()
        draw = WeightedDraw(canonical_order(data.rows, data.y))
        total = float(batch.weights.sum())
        size = max(round(total), 1)

        def advance(thetas, season):
            share = season / max(self.max_iter - 1, 1)
            rate = float(self.learning_rate) * 0.1**share
            order = draw(batch.weights, rng, size)
            thetas = thetas.copy()
            season_of_rows(
                batch.design, batch.targets, order, costs / total, rate, int(self._tanh), thetas
            )
            return thetas, False

        return advance

    def _attributes(self, thetas, location, lengths) -> dict[str, Any]:
        p = len(lengths)
        coef = thetas[:, :p] / lengths
        constants = thetas[:, p] - coef @ location if self.fit_intercept else np.zeros(len(coef))
        return {"coef_": coef, "intercept_": constants}

    def unit_values(self, X) -> np.ndarray:
        """What each unit gives, between the ends of its range.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples, n_units)
        """
        check_is_fitted(self)
        return self._each_block(self._units, X)

    def _units(self, rows) -> np.ndarray:
        return activation(decision(rows, self.coef_, self.intercept_), self._tanh)

    def _proba(self, rows) -> np.ndarray:
        sums = decision(rows, self.coef_, self.intercept_)
        if self._tanh:
            sums = 2 * sums  # (1 + tanh f) / 2 is the logistic function of 2 f, exact in both tails
        if len(self.classes_) == 2:
            return logistic(np.hstack([-sums, sums]))
        values = logistic(sums) + np.finfo(np.float64).tiny
        return values / values.sum(axis=1, keepdims=True)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (2 * n_rows * n_columns + 24 * n_rows + 12 * n_columns**2)


@kernel("f8[:,:]", "f8[:,:]", "i8[:]", "f8[:]", "f8", "i8", "out f8[:,:]")
def season_of_rows(design, targets, order, costs, rate, tanh, thetas):
    """One step down per row: b <- b - rate (2 (a - t) a' x + 2 costs b) for every unit.

    design (n, q), targets (units, n), order (m,), costs (q,), thetas (units, q).
    """
    q = design.shape[1]
    for place in range(len(order)):
        i = order[place]
        for unit in range(len(thetas)):
            f = 0.0
            for j in range(q):
                f += design[i, j] * thetas[unit, j]
            if tanh == 1:
                a = np.tanh(f)
                first = 1.0 - a * a
            else:
                small = np.exp(-abs(f))
                a = (1.0 if f >= 0.0 else small) / (1.0 + small)
                first = a * (1.0 - a)
            pull = 2.0 * (a - targets[unit, i]) * first
            for j in range(q):
                thetas[unit, j] -= rate * (pull * design[i, j] + 2.0 * costs[j] * thetas[unit, j])
