"""Losses that boosting lowers: value, derivatives, the best constant, and the best step of a leaf.

A model's raw score F is boosted; `response` turns it into a prediction. With y the target:

================  ==========================================  ======================================
loss              L(y, F)                                     value of a leaf
================  ==========================================  ======================================
squared_error     (y - F)^2 / 2                               mean residual
absolute_error    abs(y - F)                                  median residual
huber             r^2 / 2, beyond delta: delta (|r|-delta/2)  minimiser, found by Newton's method
quantile          (alpha - [r < 0]) r                         alpha-quantile of the residuals
poisson           exp(F) - y F                                log(sum y / sum exp(F))
gamma             y exp(-F) + F                               log(sum y exp(-F) / n)
log_loss          log(1 + exp(-y F)), y = -1 or 1             Newton step -G / H
                  -F_y + log sum_k exp(F_k)                   Newton step -(K-1)/K G / H
exponential       exp(-y F), y = -1 or 1                      half the log-odds of the weights
================  ==========================================  ======================================

The Huber loss here is half of 001's (13.6.2), as its table of gradients has it; delta is the
alpha-quantile of the absolute residuals, computed anew in each round. A leaf of zeros (poisson), or
of one class (exponential), has no finite best step: half an event, or a thousandth of the weight,
is added to both sums there.

Texts: 000b 12.2 · 001 13.4 to 13.9.
"""

from __future__ import annotations

import math

import numpy as np

from gnomon.engine.kernel import kernel
from gnomon.optimize.losses import logistic, softmax

# Residuals of a good fit are rounding where they are smaller than this share of the target.
RESOLUTION = 2.0**-46

# Share of a class without rows: small beside that of any row, whatever the scale of the weights.
LEAST_SHARE = 2.0**-30


class Loss:
    """A loss with one raw score per row, and leaves whose value follows from sums.

    Attributes
    ----------
    n_scores : int
        Raw scores per row.
    constant : bool
        The second derivative is one everywhere.
    needs_rows : bool
        The value of a leaf does not follow from sums of derivatives.
    """

    n_scores = 1
    constant = False
    needs_rows = False

    def begin(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The best constant score, shape (n_scores,), for a target with weights."""
        raise NotImplementedError

    def begin_round(self, y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> None:
        """Look at all rows before the derivatives of a round are taken."""

    def derivatives(
        self, y: np.ndarray, scores: np.ndarray, gradients: np.ndarray, hessians: np.ndarray
    ) -> np.ndarray:
        """Fill both derivatives, arrays of shape (n_scores, n), and give the loss per row.

        Where the second is `constant`, its array is left alone.
        """
        raise NotImplementedError

    def values(self, y: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """The loss per row for scores of shape (n_scores, n)."""
        return self.derivatives(y, scores, np.empty_like(scores), np.empty_like(scores))

    def step(
        self, gradient: np.ndarray, hessian: np.ndarray, is_leaf: np.ndarray, l2: float
    ) -> np.ndarray:
        """Values of all nodes from their sums of derivatives: the Newton step -G / (H + l2).

        Zero where there is no curvature: the step would have no end.
        """
        curved = hessian + l2 > 0
        return np.where(curved, -gradient, 0.0) / np.where(curved, hessian + l2, 1.0)

    def step_of_rows(self, residuals: np.ndarray, weights: np.ndarray) -> float:
        """Value of a leaf from the residuals of its rows, where `needs_rows`."""
        raise NotImplementedError

    def response(self, scores: np.ndarray) -> np.ndarray:
        """Predictions from raw scores of shape (n, n_scores)."""
        return scores[:, 0]


class SquaredError(Loss):
    """(y - F)^2 / 2."""

    constant = True

    def begin(self, y, weights):
        self._unit = RESOLUTION * float(np.abs(y).max(initial=0.0))
        return np.array([exact_mean(y, weights)])

    def derivatives(self, y, scores, gradients, hessians):
        losses = np.empty(y.size)
        squared_derivatives(y, scores[0], self._unit, gradients[0], losses)
        return losses

    def values(self, y, scores):
        return 0.5 * (scores[0] - y) ** 2


@kernel("f8[:]", "f8[:]", "f8", "out f8[:]", "out f8[:]")
def squared_derivatives(y, scores, unit, gradients, losses):
    """Derivative of half the squared error, and it; differences below the unit are none."""
    for i in range(y.size):
        gradient = scores[i] - y[i]
        gradient = 0.0 if abs(gradient) < unit else gradient
        gradients[i] = gradient
        losses[i] = 0.5 * gradient * gradient


class Quantile(Loss):
    """(alpha - [r < 0]) r, least at the alpha-quantile; with alpha one half, half of abs(r)."""

    constant = True
    needs_rows = True
    scale = 1.0

    def __init__(self, alpha: float):
        self.alpha = alpha

    def begin(self, y, weights):
        self._unit = RESOLUTION * float(np.abs(y).max(initial=0.0))
        return np.array([weighted_quantile(y, weights, self.alpha)])

    def derivatives(self, y, scores, gradients, hessians):
        residual = y - scores[0]
        residual[np.abs(residual) < self._unit] = 0.0
        sign = np.sign(residual)
        np.copyto(gradients[0], np.where(sign < 0, 1 - self.alpha, -self.alpha * sign))
        gradients[0] *= self.scale
        return -gradients[0] * residual

    def step_of_rows(self, residuals, weights):
        return weighted_quantile(residuals, weights, self.alpha)


class AbsoluteError(Quantile):
    """abs(y - F)."""

    scale = 2.0

    def __init__(self):
        super().__init__(0.5)


class Huber(Loss):
    """r^2 / 2 up to delta, delta (abs(r) - delta / 2) beyond; delta is a quantile of abs(r)."""

    constant = True
    needs_rows = True

    def __init__(self, alpha: float):
        self.alpha = alpha
        self.delta = math.inf

    def begin(self, y, weights):
        median = weighted_quantile(y, weights, 0.5)
        self._find_delta(y, np.full((1, y.size), median), weights)
        return np.array([huber_location(y, weights, self.delta)])

    def begin_round(self, y, scores, weights):
        self._find_delta(y, scores, weights)

    def _find_delta(self, y, scores, weights):
        self.delta = weighted_quantile(np.abs(y - scores[0]), weights, self.alpha)

    def derivatives(self, y, scores, gradients, hessians):
        residual = y - scores[0]
        np.clip(-residual, -self.delta, self.delta, out=gradients[0])
        inside = np.abs(gradients[0])
        return inside * (np.abs(residual) - 0.5 * inside)

    def step_of_rows(self, residuals, weights):
        return huber_location(residuals, weights, self.delta)


class Poisson(Loss):
    """exp(F) - y F, for counts; the prediction is exp(F)."""

    def begin(self, y, weights):
        if (y < 0).any() or not (y > 0).any():
            raise ValueError(
                "loss='poisson' needs a target of numbers that are zero or more, some positive"
            )
        return np.array([math.log(exact_mean(y, weights))])

    def derivatives(self, y, scores, gradients, hessians):
        np.exp(scores[0], out=hessians[0])
        np.subtract(hessians[0], y, out=gradients[0])
        return hessians[0] - y * scores[0]

    def step(self, gradient, hessian, is_leaf, l2):
        events = np.maximum(hessian - gradient, 0.0)
        empty = np.where(events <= 1e-9 * hessian, 0.5, 0.0)
        return np.log((events + l2 + empty) / (hessian + l2 + empty))

    def response(self, scores):
        return np.exp(scores[:, 0])


class Gamma(Loss):
    """y exp(-F) + F, for positive numbers; the prediction is exp(F)."""

    def begin(self, y, weights):
        if (y <= 0).any():
            raise ValueError("loss='gamma' needs a target of positive numbers")
        return np.array([math.log(exact_mean(y, weights))])

    def derivatives(self, y, scores, gradients, hessians):
        np.exp(-scores[0], out=hessians[0])
        hessians[0] *= y
        np.subtract(1.0, hessians[0], out=gradients[0])
        return hessians[0] + scores[0]

    def step(self, gradient, hessian, is_leaf, l2):
        return np.log((hessian + l2) / (gradient + hessian + l2))

    def response(self, scores):
        return np.exp(scores[:, 0])


class BinomialDeviance(Loss):
    """log(1 + exp(-y F)) for y = -1 or 1, given as 0 or 1; F is the logarithm of the odds."""

    def begin(self, y, weights):
        return np.array([log_odds(y, weights)])

    def derivatives(self, y, scores, gradients, hessians):
        losses = np.empty(y.size)
        binomial_derivatives(y, scores[0], gradients[0], hessians[0], losses)
        return losses

    def response(self, scores):
        return np.column_stack([logistic(-scores[:, 0]), logistic(scores[:, 0])])


@kernel("f8[:]", "f8[:]", "out f8[:]", "out f8[:]", "out f8[:]")
def binomial_derivatives(y, scores, gradients, hessians, losses):
    """Derivatives of the binomial deviance, and it; y (n,) is 0 or 1. No tail overflows."""
    for i in range(y.size):
        score = scores[i]
        decay = np.exp(-abs(score))
        one_plus = 1.0 + decay
        gradients[i] = (1.0 if score >= 0.0 else decay) / one_plus - y[i]
        hessians[i] = decay / (one_plus * one_plus)
        losses[i] = np.log(one_plus) + max(score, 0.0) - y[i] * score


class Exponential(Loss):
    """exp(-y F) for y = -1 or 1, given as 0 or 1; F is half the logarithm of the odds.

    Parameters
    ----------
    votes : bool
        A tree's leaves are -1 or 1, and the tree as a whole is scaled: AdaBoost with trees.
    """

    def __init__(self, votes: bool = False):
        self.votes = votes

    def begin(self, y, weights):
        return np.array([0.5 * log_odds(y, weights)])

    def derivatives(self, y, scores, gradients, hessians):
        sign = 2.0 * y - 1.0
        np.exp(-sign * scores[0], out=hessians[0])
        np.multiply(-sign, hessians[0], out=gradients[0])
        return hessians[0].copy()

    def step(self, gradient, hessian, is_leaf, l2):
        positive = np.maximum(hessian - gradient, 0.0) / 2
        negative = np.maximum(hessian + gradient, 0.0) / 2
        if self.votes:
            return self._scaled_votes(positive, negative, is_leaf)
        return half_log_odds(positive + l2 / 2, negative + l2 / 2)

    @staticmethod
    def _scaled_votes(
        positive: np.ndarray, negative: np.ndarray, is_leaf: np.ndarray
    ) -> np.ndarray:
        votes = np.where(positive >= negative, 1.0, -1.0)
        right = np.maximum(positive, negative)[is_leaf].sum()
        wrong = np.minimum(positive, negative)[is_leaf].sum()
        return votes * half_log_odds(np.array([right]), np.array([wrong]))[0]

    def response(self, scores):
        return BinomialDeviance().response(2.0 * scores)


class MultinomialDeviance(Loss):
    """-F_y + log sum_k exp(F_k): one score per class, probabilities by softmax."""

    def __init__(self, n_classes: int):
        self.n_scores = n_classes

    def begin(self, y, weights):
        totals = np.array([math.fsum(weights[y == k]) for k in range(self.n_scores)])
        return np.log(np.maximum(totals / totals.sum(), LEAST_SHARE))

    def derivatives(self, y, scores, gradients, hessians):
        top = scores.max(axis=0)
        np.subtract(scores, top, out=gradients)
        np.exp(gradients, out=gradients)
        total = gradients.sum(axis=0)
        gradients /= total
        np.subtract(1.0, gradients, out=hessians)
        hessians *= gradients
        hessians *= self.n_scores / (self.n_scores - 1)
        places = np.arange(y.size)
        gradients[y, places] -= 1.0
        return np.log(total) + top - scores[y, places]

    def response(self, scores):
        return softmax(scores)


def exact_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """The weighted mean, to the same bits in any order of the rows and for repeated rows.

    Examples
    --------
    >>> import numpy as np
    >>> exact_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    top = float(np.abs(values).max(initial=0.0))
    if top == 0:
        return 0.0
    total = float(weights.sum())
    exponent = 52 - math.frexp(top)[1]
    whole_weights = np.array_equal(weights, np.rint(weights)) and total < 2.0**52
    if not whole_weights:
        return math.fsum(values * (weights / math.fsum(weights)))
    whole = np.rint(np.ldexp(values, exponent)).astype(np.int64)
    # halves of 26 bits, so that products with weights stay within 63 bits
    high, low = whole >> 26, whole & (2**26 - 1)
    counts = weights.astype(np.int64)
    if total < 2.0**36:
        exact = (int(high @ counts) << 26) + int(low @ counts)
    else:
        exact = sum(int(v) * int(w) for v, w in zip(whole, counts))
    return math.ldexp(exact / int(total), -exponent)


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The value with `share` of the weight below it; the middle of two, where both fit.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantile(np.array([1.0, 9.0, 2.0, 8.0]), np.ones(4), 0.5)
    5.0
    """
    order = np.argsort(values, kind="stable")
    line = np.cumsum(weights[order])
    mark = share * line[-1]
    place = int(np.searchsorted(line, mark * (1 - 1e-12)))
    lower = values[order[min(place, values.size - 1)]]
    if abs(line[min(place, values.size - 1)] - mark) > 1e-12 * line[-1] or place + 1 >= values.size:
        return float(lower)
    return float(lower / 2 + values[order[place + 1]] / 2)


def huber_location(values: np.ndarray, weights: np.ndarray, delta: float) -> float:
    """The location c that minimises the weighted Huber loss of values - c.

    Its derivative, the sum of clipped residuals, is piecewise linear and falls with c: Newton's
    method from the median ends after few steps. The result is rounded to 40 bits, which removes
    what the order of the rows adds.

    Examples
    --------
    >>> import numpy as np
    >>> huber_location(np.array([0.0, 1.0, 2.0, 100.0]), np.ones(4), 1.5)
    1.5
    """
    center = weighted_quantile(values, weights, 0.5)
    if not delta > 0:
        return center
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    low, high = float(values[0]), float(values[-1])
    for _ in range(100):
        residual = values - center
        slope = weights[np.abs(residual) < delta].sum()
        pull = (weights * np.clip(residual, -delta, delta)).sum()
        low, high = (center, high) if pull > 0 else (low, center)
        moved = center + pull / slope if slope > 0 else (low + high) / 2
        moved = moved if low <= moved <= high else (low + high) / 2
        if abs(moved - center) <= 1e-13 * max(abs(low), abs(high), delta):
            break
        center = moved
    return rounded(moved, 40)


def rounded(value: float, bits: int) -> float:
    """A number with so many bits of precision."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, bits)), exponent - bits)


def log_odds(y: np.ndarray, weights: np.ndarray) -> float:
    """Logarithm of the odds of class 1; a class without rows has the share `LEAST_SHARE`."""
    positive, negative = math.fsum(weights[y == 1]), math.fsum(weights[y != 1])
    least = LEAST_SHARE * (positive + negative)
    return math.log(max(positive, least) / max(negative, least))


def half_log_odds(positive: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """log(positive / negative) / 2; where one side is empty, a thousandth of both is added."""
    total = positive + negative
    empty = np.minimum(positive, negative) <= 1e-9 * total
    extra = np.where(empty, 1e-3 * total, 0.0)
    return 0.5 * np.log((positive + extra) / (negative + extra))
