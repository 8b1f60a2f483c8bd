"""Losses of scores: derivatives by finite differences, tails, and the same formulas in trees."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.optimize import losses
from gnomon.trees import losses as of_trees

SIGNS = np.array([1.0, -1.0] * 20)
COUNTS = np.arange(40.0) % 5
SCORES = np.linspace(-3.07, 2.91, 40)
LOSSES = {
    "squared": (losses.SQUARED, COUNTS),
    "absolute": (losses.ABSOLUTE, COUNTS),
    "huber": (losses.huber(1.3), COUNTS),
    "poisson": (losses.POISSON, COUNTS),
    "logistic": (losses.LOGISTIC, SIGNS),
    "log_loss": (losses.LOG_LOSS, COUNTS / 4),
    "exponential": (losses.EXPONENTIAL, SIGNS),
    "hinge": (losses.HINGE, SIGNS),
    "squared_hinge": (losses.SQUARED_HINGE, SIGNS),
}
TREES = {
    "squared": of_trees.SquaredError(),
    "absolute": of_trees.AbsoluteError(),
    "huber": of_trees.Huber(0.9),
    "poisson": of_trees.Poisson(),
    "logistic": of_trees.BinomialDeviance(),
    "exponential": of_trees.Exponential(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_finite_differences(name):
    loss, y = LOSSES[name]
    step = 1e-6
    slope = (loss.value(y, SCORES + step) - loss.value(y, SCORES - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, SCORES), slope, rtol=1e-6, atol=1e-8)
    if loss.curvature is not None:
        ahead, behind = loss.gradient(y, SCORES + step), loss.gradient(y, SCORES - step)
        expected = (ahead - behind) / (2 * step)
        np.testing.assert_allclose(loss.curvature(y, SCORES), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", TREES)
def test_boosted_trees_compute_the_same_losses_and_derivatives(name):
    loss, y = LOSSES[name]
    theirs, weights = TREES[name], np.ones(len(y))
    given = (y + 1) / 2 if y is SIGNS else y
    theirs.begin(given, weights)
    theirs.begin_round(given, SCORES[None], weights)
    if name == "huber":
        loss = losses.huber(theirs.delta)
    gradient, curvature = np.empty((1, len(y))), np.empty((1, len(y)))
    value = theirs.derivatives(given, SCORES[None], gradient, curvature)
    np.testing.assert_allclose(value, loss.value(y, SCORES), rtol=1e-12)
    np.testing.assert_allclose(gradient[0], loss.gradient(y, SCORES), rtol=1e-12)
    if not theirs.constant:
        np.testing.assert_allclose(curvature[0], loss.curvature(y, SCORES), rtol=1e-12)


def test_small_losses_of_sure_scores_keep_their_digits():
    sure = np.array([40.0, 300.0])
    np.testing.assert_allclose(losses.LOGISTIC.value(np.ones(2), sure), np.exp(-sure), rtol=1e-12)
    np.testing.assert_allclose(
        losses.LOGISTIC.gradient(np.ones(2), sure), -np.exp(-sure), rtol=1e-12
    )
    np.testing.assert_allclose(
        losses.LOGISTIC.curvature(np.ones(2), sure), np.exp(-sure), rtol=1e-12
    )


@pytest.mark.parametrize("loss", [losses.POISSON, losses.EXPONENTIAL])
def test_exponentials_of_wild_scores_stay_finite(loss):
    wild = np.array([1e4, -1e4])
    for function in loss:
        assert np.isfinite(function(np.ones(2), wild)).all()


def test_a_huber_loss_without_a_threshold_is_the_squared_one():
    for own, squared in zip(losses.huber(np.inf)[:2], losses.SQUARED[:2]):
        np.testing.assert_allclose(own(COUNTS, SCORES), squared(COUNTS, SCORES), rtol=1e-15)
