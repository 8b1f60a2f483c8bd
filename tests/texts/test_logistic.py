"""Logistic and softmax regression as the texts work them: 000 11.3, 001 5.2 and 6, 004 8.1."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import GnomonWarning
from gnomon.linear import LogisticRegression
from gnomon.linear.design import Design
from gnomon.linear.losses import curvature, logistic_loss, softmax_loss
from gnomon.optimize.losses import softmax


@pytest.mark.covers("logistic-regression")
def test_four_points_of_001_have_their_optimum():
    model = LogisticRegression(C=np.inf).fit([[0], [1], [2], [3]], [-1, 1, -1, 1])
    assert model.intercept_[0] == pytest.approx(-1.362276, abs=1e-6)
    assert model.coef_[0, 0] == pytest.approx(0.908184, abs=1e-6)
    assert model.history_[-1] == pytest.approx(0.586872, abs=1e-6)


@pytest.mark.covers("logistic-regression")
def test_gradient_descent_of_001_takes_the_same_slopes():
    rows, y = np.array([[1, 0], [1, 1], [1, 2], [1, 3]]), np.array([0, 0, 1, 1])
    w = np.zeros(2)
    seen = []
    for _ in range(3):
        terms = logistic_loss((rows @ w)[None], y, np.full(4, 0.25))
        seen.append([terms.loss, *(terms.slope[0] @ rows)])
        w = w - 0.1 * (terms.slope[0] @ rows)
    expected = [
        [0.693147, 0, -0.5],
        [0.669240, 0.018727, -0.456314],
        [0.649256, 0.035234, -0.417458],
    ]
    np.testing.assert_allclose(seen, expected, atol=1e-6)
    assert w == pytest.approx([-0.005396, 0.137377], abs=1e-6)


@pytest.mark.covers("logistic-regression")
def test_five_points_of_004_and_their_likelihoods():
    model = LogisticRegression(C=np.inf).fit([[-2], [-1], [0], [1], [2]], [0, 0, 1, 0, 1])
    assert model.intercept_[0] == pytest.approx(-0.622690, abs=1e-6)
    assert model.coef_[0, 0] == pytest.approx(1.090426, abs=1e-6)
    facts = model.summary().facts
    assert facts["log-likelihood"] == pytest.approx(-2.421967, abs=1e-6)
    uniform = LogisticRegression(C=np.inf, fit_intercept=False)
    uniform.fit([[-2], [-1], [0], [1], [2]], [0, 0, 1, 0, 1])
    assert uniform.summary().facts["null log-likelihood"] == pytest.approx(-3.465736, abs=1e-6)


@pytest.mark.covers("softmax-regression")
def test_softmax_of_one_two_three_in_001_and_its_second_derivatives():
    scores = np.array([[1.0, 2.0, 3.0]])
    assert softmax(scores)[0] == pytest.approx([0.090031, 0.244728, 0.665241], abs=1e-6)
    assert softmax(scores + 999)[0] == pytest.approx(softmax(scores)[0])
    terms = softmax_loss(scores.T, np.array([0]), np.ones(1))
    assert terms.loss == pytest.approx(3.407606 - 1, abs=1e-6)
    jacobian = curvature(
        Design(np.ones((1, 1)), np.zeros(1), False), terms.probabilities, np.ones(1)
    )
    expected = [
        [0.081925, -0.022033, -0.059892],
        [-0.022033, 0.184836, -0.162803],
        [-0.059892, -0.162803, 0.222695],
    ]
    np.testing.assert_allclose(jacobian, expected, atol=1e-6)


@pytest.mark.covers("softmax-regression")
def test_probabilities_of_the_reference_class_form_of_000_are_the_same(rng):
    rows = rng.normal(size=(200, 2))
    y = (rows @ [[1, -1, 0], [0, 1, -1]] + rng.gumbel(size=(200, 3))).argmax(axis=1)
    model = LogisticRegression(C=np.inf).fit(rows, y)
    coef = model.coef_ - model.coef_[2]
    scores = np.exp(rows @ coef[:2].T + (model.intercept_ - model.intercept_[2])[:2])
    below = 1 + scores.sum(axis=1, keepdims=True)
    expected = np.hstack([scores / below, 1 / below])
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-12)


@pytest.mark.covers("logistic-regression")
def test_separable_points_which_000_warns_of_are_found_and_said():
    with pytest.warns(GnomonWarning, match="separates"):
        model = LogisticRegression(C=np.inf).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    assert model.separated_
    assert not LogisticRegression(C=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).separated_
