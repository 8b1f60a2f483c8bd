"""Linear models by stochastic gradient descent: SGDClassifier and SGDRegressor.

    minimize  1/n sum_i w_i L(y_i, w . x_i + b) + alpha R(w)

one row after the other: w <- w - eta (w_i dL/dw + alpha dR/dw). The loss L and the penalty R are
chosen by name; the step eta follows a schedule. A pass costs as much as reading the rows, and rows
may arrive in batches (``partial_fit``). scikit-learn's own classes, which take any table here.

Texts: 000a 2.1 · 003 4.4.2 · 004 8.1, 10.1.2 (stochastic steps on these losses).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.linear_model._stochastic_gradient import LEARNING_RATE_TYPES, PENALTY_TYPES

from gnomon.contract.stochastic_gradient import Call, Rows, StochasticGradient
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.optimize import losses

TEXTS = "000a 2.1 · 003 4.4.2 · 004 8.1, 10.1.2"
PASSIVE = {LEARNING_RATE_TYPES["pa1"], LEARNING_RATE_TYPES["pa2"]}


class ByStochasticGradient(StochasticGradient):
    """What both share: the objective that the steps make smaller."""

    loss: str
    epsilon: float

    def _objective(self, rows: Rows, call: Call, coef: np.ndarray, intercept: float) -> float:
        """Mean loss of the rows learnt from, and the penalty; one class against the others."""
        factors = np.where(rows.y > 0, call.weight_positive, call.weight_negative) * rows.weights
        losses = LOSSES[self.loss](rows.y, rows.X @ coef + intercept, self.epsilon)
        learnt = call.is_trained_on()
        mean = (losses * factors)[learnt].sum() / np.count_nonzero(learnt)
        if call.penalty == PENALTY_TYPES["none"] or call.learning_rate in PASSIVE:
            return float(mean)
        fixed = {PENALTY_TYPES["l1"]: 1.0, PENALTY_TYPES["l2"]: 0.0}
        share = fixed.get(call.penalty, call.l1_ratio)
        penalty = share * np.abs(coef).sum() + (1 - share) / 2 * (coef @ coef)
        return float(mean + call.alpha * penalty)


@method(
    task="classify",
    texts=TEXTS,
    use="Very many rows, sparse ones, or rows that arrive in batches, and a linear border.",
    avoid="Columns of very different units; few rows: LogisticRegression, LinearSVC.",
    peers=("sklearn.linear_model.SGDClassifier",),
    on="scikit-learn",
    synonyms=("stochastic gradient descent", "online learning", "passive-aggressive"),
)
class SGDClassifier(ByStochasticGradient, linear_model.SGDClassifier):
    """Linear classifier by stochastic gradient descent: SVM, logistic regression and others.

    ``loss="hinge"`` is a linear support vector machine, ``"log_loss"`` logistic regression, which
    has probabilities. Use it for very many or sparse rows and for rows that arrive in batches
    (``partial_fit``); scale the columns first. Not for few rows, where `LogisticRegression` and
    `LinearSVC` find the minimum itself. Sparse rows give what dense rows give, where scikit-learn's
    class takes a hundredth of the intercept's steps.

    Attributes
    ----------
    history_ : History
        Mean loss of the training rows and the penalty after each pass, summed over classes if more
        than two, of the coefficients of that pass (not their average). With
        ``learning_rate="adaptive"`` of the last pass only.

    Examples
    --------
    >>> from gnomon.linear import SGDClassifier
    >>> X, y = [[-2.0, -1.0], [-1.0, -1.0], [1.0, 1.0], [2.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    >>> model.predict([[-1.5, -1.0], [3.0, 2.0]]).tolist()
    ['no', 'yes']
    """

    _copies = 0.5
    _target = "classes"
    _stored = {
        "_expanded_class_weight": Array("f", ("n_classes",)),
        "coef_": Array("f", (None, "n_columns")),
    }


@method(
    task="regress",
    texts=TEXTS,
    use="Very many rows, sparse ones, or rows that arrive in batches.",
    avoid="Columns of very different units; few rows: LinearRegression, Ridge, HuberRegressor.",
    peers=("sklearn.linear_model.SGDRegressor",),
    on="scikit-learn",
    synonyms=("stochastic gradient descent", "online learning", "passive-aggressive"),
)
class SGDRegressor(ByStochasticGradient, linear_model.SGDRegressor):
    """Linear regression by stochastic gradient descent, with several losses and penalties.

    Use it for very many or sparse rows and for rows that arrive in batches (``partial_fit``); scale
    the columns first, or the steps diverge. Not for few rows, where `LinearRegression` and `Ridge`
    find the minimum itself. Sparse rows give what dense rows give, where scikit-learn's class takes
    a hundredth of the intercept's steps.

    Attributes
    ----------
    history_ : History
        Mean loss of the training rows and the penalty after each pass, of the coefficients of that
        pass (not their average). With ``learning_rate="adaptive"`` of the last pass only.

    Examples
    --------
    >>> from gnomon.linear import SGDRegressor
    >>> X, y = [[-1.0], [0.0], [1.0], [2.0]], [-2.0, 0.0, 2.0, 4.0]
    >>> model = SGDRegressor(alpha=0.0, max_iter=5000, tol=1e-9, random_state=0).fit(X, y)
    >>> model.coef_.round(2).tolist()
    [2.0]
    """

    _copies = 0.5
    _target = "numbers"
    _stored = {"coef_": Array("f", ("n_columns",))}


def modified_huber(y: np.ndarray, p: np.ndarray, epsilon: float) -> np.ndarray:
    margin = y * p
    return np.where(margin >= -1, np.maximum(0, 1 - margin) ** 2, -4 * margin)


def beyond(y: np.ndarray, p: np.ndarray, epsilon: float) -> np.ndarray:
    return np.maximum(0, np.abs(y - p) - epsilon)


LOSSES: dict[str, Callable[[np.ndarray, np.ndarray, float], Any]] = {
    "hinge": lambda y, p, epsilon: losses.HINGE.value(y, p),
    "squared_hinge": lambda y, p, epsilon: losses.SQUARED_HINGE.value(y, p),
    "perceptron": lambda y, p, epsilon: np.maximum(0, -y * p),
    "modified_huber": modified_huber,
    "log_loss": lambda y, p, epsilon: losses.LOG_LOSS.value(y, p),  # the target is 0 or 1 here
    "squared_error": lambda y, p, epsilon: losses.SQUARED.value(y, p),
    "huber": lambda y, p, epsilon: losses.huber(epsilon).value(y, p),
    "epsilon_insensitive": beyond,
    "squared_epsilon_insensitive": lambda y, p, epsilon: beyond(y, p, epsilon) ** 2,
}
