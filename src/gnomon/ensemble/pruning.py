"""Pruning a boosted ensemble with the lasso: keep the few members that are needed.

The members' answers f_m(x_i) are the columns of a logistic regression with the penalty lambda sum_m
|b_m|; members of coefficient zero go. The strength lambda is chosen by cross-validation. The rows
must not be those that the members learnt from: on these the ensemble is nearly perfect, and
cross-validation would find next to no error (000b 12.2.7).

Solved by Newton steps, each a lasso by coordinate descent on the members that are used or want to
be, shortened where the whole step would not lower the objective.

Texts: 000b 12.2.7.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import intake
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.kernel import kernel
from gnomon.engine.threads import one_blas_thread
from gnomon.ensemble.adaboost import AdaBoostClassifier
from gnomon.ensemble.base import dense, fingerprint
from gnomon.ensemble.losses import Deviance
from gnomon.ensemble.lots import Lots
from gnomon.ensemble.stagewise import StagewiseClassifier

# Steps of 17% from the strongest penalty to a hundredth of it.
N_STRENGTHS = 30
LEAST_STRENGTH = 1e-2
MOST_STEPS = 50  # judgement: far more than Newton's steps usually are
FLATTEST = 1e-5  # keeps the curvature of rows that are sure above zero, so that a step is finite


@dataclass(frozen=True)
class Pruned:
    """A pruned ensemble and how it was found; prints as a sentence.

    Attributes
    ----------
    model : estimator
        A copy of the ensemble with the members that are left, and their new weights.
    kept : ndarray of int
        Their places in the ensemble as it was.
    n_before : int
        How many there were.
    strengths : ndarray of shape (n_strengths,)
        The lambdas that were tried, greatest first.
    cv_losses : ndarray of shape (n_strengths, n_folds)
        Held-out deviance of each.
    chosen : int
        The place of the lambda that was taken.
    coefficients : ndarray of shape (n_strengths, n_members)
        The whole path, on all rows.
    """

    model: Any
    kept: np.ndarray
    n_before: int
    strengths: np.ndarray
    cv_losses: np.ndarray
    chosen: int
    coefficients: np.ndarray

    def __str__(self) -> str:
        loss = self.cv_losses[self.chosen].mean()
        return (
            f"{len(self.kept)} of {self.n_before} members kept at lambda "
            f"{self.strengths[self.chosen]:.3g}, held-out deviance {loss:.4g}"
        )


def lasso_prune(
    estimator, X, y, *, cv: int = 5, rule: str = "one_se", sample_weight=None, random_state=None
) -> Pruned:
    """Keep the members of a boosted two-class ensemble that an L1 logistic regression needs.

    Parameters
    ----------
    estimator : AdaBoostClassifier or StagewiseClassifier
        Fitted, of two classes.
    X : array-like, data frame or Table of shape (n, d)
        Rows that the model has not learnt from; a warning says where they are the training rows.
    y : array-like of shape (n,)
    cv : int, default=5
        Folds by which lambda is chosen.
    rule : {"one_se", "best"}, default="one_se"
        The strongest lambda within one standard error of the least held-out deviance, or the best.
    sample_weight : array-like of shape (n,), optional
    random_state : int or Generator, optional
        Seed of the folds.

    Returns
    -------
    pruned : Pruned

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.ensemble import AdaBoostClassifier
    >>> rows = np.random.default_rng(0).normal(size=(400, 3))
    >>> y = rows[:, 0] + 0.5 * rows[:, 1] > 0
    >>> model = AdaBoostClassifier(n_estimators=60).fit(rows[:200], y[:200])
    >>> pruned = lasso_prune(model, rows[200:], y[200:], random_state=0)
    >>> len(pruned.kept) < 60
    True
    """
    if not isinstance(estimator, (AdaBoostClassifier, StagewiseClassifier)):
        raise ValueError(f"{type(estimator).__name__} is not a boosted ensemble that can be pruned")
    if rule not in ("one_se", "best"):
        raise ValueError(f"rule={rule!r} must be 'one_se' or 'best'")
    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise DataError(f"pruning is for two classes; the model knows {len(estimator.classes_)}")
    _warn_of_training_rows(estimator, X)
    outputs = estimator._each_block(lambda rows: _outputs(estimator, rows), X)
    signs = _signs(estimator, y, len(outputs))
    weights = np.ones(len(signs)) if sample_weight is None else np.asarray(sample_weight, float)
    free = isinstance(estimator, StagewiseClassifier)
    problem = _Problem(outputs, signs, weights, free)
    strengths = problem.strongest() * np.geomspace(1.0, LEAST_STRENGTH, N_STRENGTHS)
    with one_blas_thread():
        path = problem.path(strengths)
        losses = _held_out(outputs, signs, weights, free, strengths, cv, random_state)
    chosen = _choose(losses, rule)
    coefficients = path[chosen]
    members = coefficients[1:] if free else coefficients
    kept = np.flatnonzero(members)
    if not len(kept):
        kept = np.array([int(np.abs(problem.gradient_at_zero()).argmax())])
    made = _with_members(estimator, kept, members[kept], float(coefficients[0]) if free else 0.0)
    return Pruned(made, kept, outputs.shape[1], strengths, losses, chosen, path[:, int(free) :])


def _outputs(model, rows) -> np.ndarray:
    """What each member says of each row: plus and minus one, or its number."""
    if isinstance(model, StagewiseClassifier):
        return np.column_stack(list(model._ask(lambda m: model._moves(m, rows), rows)))
    return 2.0 * model._codes_of_all(dense(rows)) - 1.0


def _signs(model, y, n_rows: int) -> np.ndarray:
    y = np.asarray(y)
    if len(y) != n_rows:
        raise ValueError(f"y has {len(y)} entries for {n_rows} rows")
    unknown = y[~np.isin(y, model.classes_)]
    if len(unknown):
        raise DataError(f"y holds the class {unknown[0]!r}, which the model does not know")
    return np.where(y == model.classes_[1], 1.0, -1.0)


def _warn_of_training_rows(model, X) -> None:
    seen = getattr(model, "_fingerprint", None)
    if seen is None:
        return
    rows = np.vstack([dense(block) for block in intake.blocks_of(model, X)])
    n_rows, mark = fingerprint(rows)
    if n_rows == seen[0] and np.isclose(mark, seen[1], rtol=1e-9, atol=0):
        warnings.warn(
            "these are the rows that the members learnt from: held-out deviance looks far too good "
            "and too many members are kept. Prune on other rows",
            GnomonWarning,
            stacklevel=3,
        )


class _Problem:
    """L1 logistic regression of signs on the members' answers."""

    def __init__(self, outputs: np.ndarray, signs: np.ndarray, weights: np.ndarray, free: bool):
        ones = np.ones((len(signs), 1)) if free else np.empty((len(signs), 0))
        self.outputs = np.hstack([ones, outputs])
        self.signs = signs
        self.weights = weights / weights.sum()
        self.penalized = np.ones(self.outputs.shape[1])
        self.penalized[: int(free)] = 0.0
        self.free = free

    def gradient(self, coefficients: np.ndarray) -> np.ndarray:
        pull = self.signs * expit(-self.signs * (self.outputs @ coefficients))
        return -self.outputs.T @ (self.weights * pull)

    def gradient_at_zero(self) -> np.ndarray:
        return self.gradient(self._start())[int(self.free) :]

    def _start(self) -> np.ndarray:
        start = np.zeros(self.outputs.shape[1])
        if self.free:
            share = np.clip(self.weights[self.signs > 0].sum(), 1e-9, 1 - 1e-9)
            start[0] = np.log(share / (1 - share))
        return start

    def strongest(self) -> float:
        """The least lambda at which no member is left."""
        return max(float(np.abs(self.gradient_at_zero()).max()), 1e-12)

    def objective(self, coefficients: np.ndarray, penalty: np.ndarray) -> float:
        losses = np.logaddexp(0, -self.signs * (self.outputs @ coefficients))
        return float(self.weights @ losses + penalty @ np.abs(coefficients))

    def path(self, strengths: np.ndarray) -> np.ndarray:
        """Coefficients for each lambda, each begun at the one before."""
        now, found = self._start(), []
        for strength in strengths:
            now = self._solve(now, strength * self.penalized)
            found.append(now)
        return np.array(found)

    def _solve(self, now: np.ndarray, penalty: np.ndarray) -> np.ndarray:
        """Newton steps, each a lasso on the members that are used or want to be."""
        for _ in range(MOST_STEPS):
            gradient = self.gradient(now)
            used = (now != 0) | (self.penalized == 0) | (np.abs(gradient) > penalty * (1 + 1e-9))
            some = np.ascontiguousarray(self.outputs[:, used])
            p = expit(self.outputs @ now)
            bend = self.weights * np.maximum(p * (1 - p), FLATTEST)
            gram = (some * bend[:, None]).T @ some
            moved = now[used].copy()
            lasso_by_gram(gram, gram @ moved - gradient[used], penalty[used], moved)
            move = np.zeros(len(now))
            move[used] = moved - now[used]
            ahead = self._downhill(now, move, penalty)
            change = np.abs(ahead - now).max()
            now = ahead
            if change <= 1e-6 * max(np.abs(now).max(), 1e-3):
                break
        return now

    def _downhill(self, now: np.ndarray, move: np.ndarray, penalty: np.ndarray) -> np.ndarray:
        """The whole move, or as much of it as lowers the objective."""
        before = self.objective(now, penalty)
        for _ in range(20):
            if self.objective(now + move, penalty) <= before:
                return now + move
            move = move / 2
        return now


def _held_out(outputs, signs, weights, free, strengths, cv: int, random_state) -> np.ndarray:
    order = np.lexsort([*outputs.T[::-1], signs])
    rng = np.random.default_rng(random_state)
    losses = []
    for fold in Lots(order, weights).folds(cv, rng, (signs > 0).astype(np.int64)):
        at, held = fold.learn.positions, fold.held.positions
        path = _Problem(outputs[at], signs[at], fold.learn.weight_array, free).path(strengths)
        given = np.hstack([np.ones((len(held), int(free))), outputs[held]])
        margins = signs[held][:, None] * (given @ path.T)
        losses.append(
            fold.held.weight_array @ np.logaddexp(0, -margins) / fold.held.weight_array.sum()
        )
    return np.array(losses).T


def _choose(losses: np.ndarray, rule: str) -> int:
    means = losses.mean(axis=1)
    best = int(means.argmin())
    if rule == "best" or losses.shape[1] < 2:
        return best
    error = losses[best].std(ddof=1) / np.sqrt(losses.shape[1])
    return int(np.flatnonzero(means <= means[best] + error)[0])


def _with_members(model, kept: np.ndarray, coefficients: np.ndarray, constant: float):
    made = copy.copy(model)
    if isinstance(model, StagewiseClassifier):
        made.members_ = [model.members_[place] for place in kept]
        made.steps_ = coefficients
        made.start_ = np.array([constant])
        made.loss_ = Deviance()
        return made
    if model.stumps_ is not None:
        made.stumps_ = model.stumps_.at(kept)
        totals = np.bincount(
            made.stumps_.feature, np.abs(coefficients), minlength=len(model.feature_importances_)
        )
        made.feature_importances_ = totals / max(totals.sum(), 1e-300)
    else:
        made.members_ = [model.members_[place] for place in kept]
    made.estimator_weights_ = coefficients
    made.estimator_errors_ = model.estimator_errors_[kept]
    return made


@kernel("f8[:,:]", "f8[:]", "f8[:]", "out f8[:]")
def lasso_by_gram(gram, wanted, penalty, coefficients):
    """Minimise b'Gb/2 - wanted'b + sum_m penalty_m |b_m| by coordinate descent.

    What is left of the gradient is kept up to date, so that a coefficient that stays costs nothing.
    """
    m = wanted.size
    left = wanted - gram @ coefficients
    for _ in range(300):
        greatest = 0.0
        for j in range(m):
            curve = gram[j, j]
            if curve <= 0.0:
                continue
            pull = left[j] + curve * coefficients[j]
            size = abs(pull) - penalty[j]
            value = 0.0
            if size > 0.0:
                value = size / curve if pull > 0.0 else -size / curve
            move = value - coefficients[j]
            if move != 0.0:
                coefficients[j] = value
                for k in range(m):
                    left[k] -= move * gram[k, j]
                greatest = max(greatest, abs(move))
        if greatest <= 1e-8:
            break
