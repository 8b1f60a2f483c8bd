"""Classes by regression, and layers of sigmoid units on squared error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from gnomon.engine.errors import DataError
from gnomon.linear import (
    LinearRegression,
    LogisticRegression,
    QuantileRegressor,
    RegressionClassifier,
    Ridge,
    SigmoidUnits,
)
from gnomon.linear.sigmoid_units import Batch, activation, slopes, unit_error, unit_step
from gnomon.trees import RandomForestRegressor


def groups(rng, k, n=90, d=2, apart=4.0):
    codes = np.arange(n) % k
    centers = apart * np.eye(k, d) if k <= d else apart * rng.normal(size=(k, d))
    return centers[codes] + rng.normal(size=(n, d)), codes


@pytest.mark.covers("regression-classifier")
def test_two_classes_are_the_sign_of_a_regression_on_plus_and_minus_one(rng):
    X, codes = groups(rng, 2)
    y = np.array(["no", "yes"])[codes]
    model = RegressionClassifier().fit(X, y)
    plane = np.linalg.pinv(np.column_stack([X, np.ones(len(X))])) @ np.where(codes == 1, 1.0, -1.0)
    values = X @ plane[:2] + plane[2]
    np.testing.assert_allclose(model.decision_function(X), values, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), np.where(values >= 0, "yes", "no"))


@pytest.mark.covers("regression-classifier")
def test_more_classes_have_a_regression_each_and_the_greatest_decides(rng):
    X, codes = groups(rng, 3, d=3)
    model = RegressionClassifier(Ridge(2.0)).fit(X, codes)
    each = [Ridge(2.0).fit(X, (codes == c).astype(float)).predict(X) for c in range(3)]
    values = np.column_stack(each)
    np.testing.assert_allclose(model.decision_function(X), values, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), values.argmax(axis=1))
    assert len(model.estimators_) == 3


@pytest.mark.covers("regression-classifier")
@pytest.mark.parametrize(
    "regressor", [QuantileRegressor(alpha=0), RandomForestRegressor(10, random_state=0)]
)
def test_any_regressor_may_classify(regressor, rng):
    X, codes = groups(rng, 2, apart=6.0)
    assert RegressionClassifier(regressor).fit(X, codes).score(X, codes) > 0.8


@pytest.mark.covers("regression-classifier")
def test_a_classifier_is_no_regressor(rng):
    X, codes = groups(rng, 2)
    with pytest.raises(DataError, match="no regressor"):
        RegressionClassifier(LogisticRegression()).fit(X, codes)


@pytest.mark.covers("regression-classifier")
def test_rows_far_on_the_right_side_spoil_what_is_separable():
    """004 4.3: the demand of squared error on +-1 is stronger than that of separability."""
    x = np.array([[-1.0], [-0.5], [0.5], [1.0], [60.0]])
    y = np.array([0, 0, 1, 1, 1])
    assert RegressionClassifier().fit(x, y).score(x, y) < 1
    assert LogisticRegression(C=100.0).fit(x, y).score(x, y) == 1


@pytest.mark.covers("regression-classifier")
def test_probabilities_are_not_made_up(rng):
    model = RegressionClassifier().fit(*groups(rng, 2))
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError) as caught:
        model.__getattribute__("predict_proba")
    assert "decision_function" in str(caught.value.__cause__)


@pytest.mark.covers("logistic-units-squared-error")
@pytest.mark.parametrize("name", ["logistic", "tanh"])
def test_the_slope_of_the_squared_error_is_zero_at_the_end(name, rng):
    X, codes = groups(rng, 2, apart=2.0)
    model = SigmoidUnits(name, alpha=0.1).fit(X, codes)
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / spread
    target = codes.astype(float) if name == "logistic" else 2.0 * codes - 1
    theta = np.append(
        model.coef_[0] * spread, model.intercept_[0] + model.coef_[0] @ X.mean(axis=0)
    )
    batch = Batch(np.column_stack([scaled, np.ones(len(X))]), target[None], np.ones(len(X)))
    costs = np.array([0.1, 0.1, 0.0])

    def error(t):
        return unit_error(t, batch, target, name == "tanh", costs)

    assert error(theta) == pytest.approx(model.history_[-1])
    slope = approx_fprime(theta, error, 1e-6)
    assert np.abs(slope).max() < 1e-3


@pytest.mark.covers("logistic-units-squared-error")
@pytest.mark.parametrize("tanh", [False, True])
def test_derivatives_of_the_activation_are_its_finite_differences(tanh, rng):
    f, h = rng.normal(size=50), 1e-5
    first, second = slopes(activation(f, tanh), tanh)
    up, here, down = (activation(f + step, tanh) for step in (h, 0.0, -h))
    np.testing.assert_allclose(first, (up - down) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(second, (up - 2 * here + down) / h**2, atol=1e-4)


@pytest.mark.covers("logistic-units-squared-error")
@pytest.mark.parametrize("solver", ["batch", "online"])
@pytest.mark.parametrize("name", ["logistic", "tanh"])
@pytest.mark.parametrize("k", [2, 3])
def test_a_layer_learns_groups_that_lie_apart(solver, name, k, rng):
    X, codes = groups(rng, k, d=3, apart=8.0)
    model = SigmoidUnits(name, solver=solver, random_state=0).fit(X, codes)
    assert model.score(X, codes) > 0.95
    assert model.coef_.shape == (1 if k == 2 else 3, 3)
    low = -1 if name == "tanh" else 0
    assert model.unit_values(X).min() >= low
    assert model.unit_values(X).max() <= 1


@pytest.mark.covers("logistic-units-squared-error")
def test_a_step_goes_down_in_a_direction_of_negative_curvature_too():
    # Newton's own step would go up along the first weight and be accepted for the second's sake.
    theta, target = np.array([-2.0, 0.3]), np.ones(2)
    batch = Batch(np.eye(2), target[None], np.ones(2))
    moved, damping = unit_step(theta, batch, target, True, np.zeros(2), 0.0)
    assert damping > 0
    assert (moved > theta).all()


@pytest.mark.covers("logistic-units-squared-error")
def test_the_batch_never_raises_the_error_and_the_online_rule_comes_near_it(rng):
    X, codes = groups(rng, 2, apart=2.0)
    batch = SigmoidUnits(alpha=0.5).fit(X, codes)
    assert (np.diff(np.asarray(batch.history_)) <= 1e-12).all()
    online = SigmoidUnits(
        alpha=0.5, solver="online", learning_rate=0.05, max_iter=300, random_state=0
    ).fit(X, codes)
    assert online.history_[-1] >= batch.history_[-1] - 1e-9
    assert online.history_[-1] <= 1.1 * batch.history_[-1] + 0.2


@pytest.mark.covers("logistic-units-squared-error")
def test_a_wrong_label_far_off_moves_squared_error_less_than_log_loss(rng):
    x = np.concatenate([rng.normal(-2, 1, 100), rng.normal(2, 1, 100)])[:, None]
    y = np.repeat([0, 1], 100)
    wrong = np.vstack([x, np.full((5, 1), 12.0)]), np.append(y, np.zeros(5, dtype=int))

    def change(make):
        clean, spoilt = make().fit(x, y), make().fit(*wrong)
        return abs(clean.predict_proba([[2.0]])[0, 1] - spoilt.predict_proba([[2.0]])[0, 1])

    assert change(lambda: SigmoidUnits(alpha=0.1)) < change(lambda: LogisticRegression())


def test_least_squares_is_the_default(rng):
    X, codes = groups(rng, 2)
    assert isinstance(RegressionClassifier().fit(X, codes).estimators_[0], LinearRegression)
