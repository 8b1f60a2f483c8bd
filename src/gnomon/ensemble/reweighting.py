"""Weights that change from round to round, kept exact, so that rounding decides nothing.

A row of weight k must give what k rows give, and the order of rows must not matter; yet a sum in
floating point depends on both in its last bits, and a tie between two splits may hang on them. So
what is carried from one round to the next has fewer bits than sums do.
"""

from __future__ import annotations

import numpy as np

from gnomon.ensemble.lots import Part, repeated, resampled
from gnomon.ensemble.member import Member, fit_on, takes_weights


def rounded(numbers):
    """Numbers to 32 bits, so that the last bits of a sum cannot tip a tie in the next round."""
    mantissa, exponent = np.frexp(numbers)
    return np.ldexp(np.rint(mantissa * 2.0**32), exponent - 32)


def boosted(weights: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Weights times factors, with the total kept within a factor of two.

    Factors are rounded to 30 bits of the greatest (and are at least one such bit), so that learners
    that sum in fixed point find a row of weight k and k rows of weight one exactly equal.
    """
    steps = np.maximum(np.rint(factor / factor.max() * 2.0**30), 1.0)
    made = weights * (steps * 2.0**-30)
    return made * 2.0 ** np.rint(np.log2(weights.sum() / made.sum()))


def fit_weighted(learner, name: str, rows, at, target, weights, factor, seed: int) -> Member:
    """Fit a learner on some rows with weights times factors, or on rows drawn by them."""
    weights = boosted(weights, factor)
    given = rows if len(at) == rows.shape[0] else rows[at]
    if (weights == 1).all():
        return fit_on(learner, name, given, target, None)
    if takes_weights(learner):
        return fit_on(learner, name, given, target, weights)
    part = Part(np.arange(len(at)), weights)
    places = repeated(part)
    if places is None:
        places = resampled(part, np.random.default_rng([seed, 1]))
    return fit_on(learner, name, rows[at[places]], target[places], None)
