"""Worked numbers of the texts for optimizers: 000c 16.4, 001 5.2 and 6.4, 002, 003 4.1, 004 9.2."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.optimize import (
    BoldDriver,
    GradientDescent,
    Newton,
    Risk,
    critical_points,
    definiteness,
    diagonalize,
    interior_point,
    kkt_report,
    lagrange_multipliers,
    logsumexp,
    minimize,
    newton_root,
    power_iteration,
    schedules,
    stochastic_gradient_descent,
)

RULES = {
    "momentum": [(0.999, 0.9), (0.997101, 0.72), (0.9943948, 0.486), (0.95897906, -0.58878939)],
    "adagrad": [
        (0.90001, 0.9000001),
        (0.83311809, 0.83310367),
        (0.78047359, 0.78045636),
        (0.55375616, 0.55373145),
    ],
    "rmsprop": [
        (0.6838722, 0.68377323),
        (0.49900277, 0.49887193),
        (0.36932325, 0.36918198),
        (0.03217246, 0.03211763),
    ],
    "adam": [
        (0.9000001, 0.9),
        (0.80041243, 0.80041223),
        (0.70158658, 0.70158627),
        (0.07625015, 0.07624916),
    ],
}


@pytest.mark.covers("momentum", "adagrad", "rmsprop", "adam")
@pytest.mark.parametrize("method", RULES)
def test_steps_on_the_narrow_valley_of_000c_16_4_4(method):
    found = minimize(
        lambda x: 0.5 * (0.01 * x[0] ** 2 + x[1] ** 2),
        [1.0, 1.0],
        method,
        jac=lambda x: np.array([0.01 * x[0], x[1]]),
        max_evaluations=11,
    )
    path = [place for _, place, _ in found.history.path]
    for step, expected in zip((1, 2, 3, 10), RULES[method], strict=True):
        np.testing.assert_allclose(path[step], expected, atol=1e-7)


@pytest.mark.covers("gradient-descent", "objective-plus-optimiser")
def test_logistic_gradient_descent_of_001_5_2():
    risk = Risk([[0.0], [1], [2], [3]], [-1, -1, 1, 1], "logistic")
    found = minimize(risk, np.zeros(2), GradientDescent(0.1), jac=risk.gradient, max_evaluations=4)
    trace = found.history
    np.testing.assert_allclose(trace.values[:3], [0.693147, 0.669240, 0.649256], atol=1e-6)
    np.testing.assert_allclose(trace.gradients[0], [0, -0.5], atol=1e-6)
    np.testing.assert_allclose(trace.gradients[1], [0.018727, -0.456314], atol=1e-6)
    np.testing.assert_allclose(trace.gradients[2], [0.035234, -0.417458], atol=1e-6)
    np.testing.assert_allclose(trace.path[3][1], [-0.005396, 0.137377], atol=1e-6)


@pytest.mark.covers("objective-plus-optimiser")
@pytest.mark.parametrize(
    "method", ["newton", "l-bfgs", "bfgs", "conjugate-gradient", "one-step-secant", "nelder-mead"]
)
def test_every_optimizer_reaches_the_logistic_optimum_of_001(method):
    risk = Risk([[0.0], [1], [2], [3]], [-1, 1, -1, 1], "logistic")
    found = minimize(risk, np.zeros(2), method, jac=risk.gradient, hess=risk.hessian)
    np.testing.assert_allclose(found.x, [-1.362276, 0.908184], atol=2e-6)
    assert found.fun == pytest.approx(0.586872, abs=1e-6)


@pytest.mark.covers("gradient-descent")
def test_step_one_oscillates_on_a_parabola_as_002_does_not_say():
    for a, ends in ((1.0, "below tol"), (2.0, "oscillates"), (2.5, "diverges")):
        found = minimize(
            lambda x, a=a: a * x[0] ** 2 / 2,
            [1.0],
            GradientDescent(1.0),
            jac=lambda x, a=a: a * x,
        )
        assert ends in found.message
        assert found.success == (a == 1.0)


@pytest.mark.covers("newton-root")
def test_digits_double_for_the_root_of_two():
    found = newton_root(lambda x: x * x - 2, 1.0, lambda x: 2 * x)
    np.testing.assert_allclose(
        found.steps[:5], [1, 1.5, 1.4166667, 1.4142157, 1.4142136], atol=5e-8
    )
    errors = np.abs(np.array(found.steps[:5]) - np.sqrt(2))
    np.testing.assert_allclose(errors, [4.1e-1, 8.6e-2, 2.5e-3, 2.1e-6, 1.6e-12], rtol=0.05)
    digits = found.correct_digits
    assert digits[3] > 1.8 * digits[2] > 3 * digits[1]


@pytest.mark.covers("newton-minimise")
def test_newton_needs_damping_on_a_convex_function_against_002():
    def fun(x):
        return np.sqrt(1 + x[0] ** 2)

    def jac(x):
        return x / fun(x)

    def hess(x):
        return np.array([[fun(x) ** -3]])

    start = np.array([1.5])
    plain = minimize(fun, start, Newton(damped=False, max_iter=5), jac=jac, hess=hess)
    places = [place[0] for _, place, _ in plain.history.path]
    assert places[1] == pytest.approx(-(1.5**3))
    damped = minimize(fun, start, Newton(), jac=jac, hess=hess)
    assert abs(damped.x[0]) < 1e-8
    assert any(change.name == "step" for change in damped.history.changes)


@pytest.mark.covers("lagrange-multipliers", "kkt-duality-checker")
def test_nearest_point_of_a_line_of_002():
    found = lagrange_multipliers(lambda x: x @ x, [2.0, 0.0], [lambda x: x.sum() - 1])
    np.testing.assert_allclose(found.x, [0.5, 0.5], atol=1e-7)
    np.testing.assert_allclose(found.multipliers, [-1], atol=1e-6)
    report = kkt_report(lambda x: x @ x, found.x, equalities=[lambda x: x.sum() - 1])
    assert report.residual < 1e-6
    np.testing.assert_allclose(report.eq_multipliers, [-1], atol=1e-5)


@pytest.mark.covers("lagrange-multipliers")
def test_most_probable_shares_sum_to_one_as_in_003_4_4_4():
    counts = np.array([3.0, 5.0, 2.0])
    found = lagrange_multipliers(
        lambda p: -counts @ np.log(np.maximum(p, 1e-9)), [0.3, 0.4, 0.3], [lambda p: p.sum() - 1]
    )
    np.testing.assert_allclose(found.x, counts / 10, atol=1e-6)
    assert found.kind == "minimum"


@pytest.mark.covers("critical-points-optimiser", "hill-climber-adaptive")
def test_critical_point_of_003_4_1_3():
    def fun(w):
        return 1 + 2 * w[0] + 3 * w[1] + 4 * w[0] * w[1] + 5 * w[0] ** 2 + 6 * w[1] ** 2

    expected = [-3 / 26, -11 / 52]
    found = critical_points(fun, [(-2, 2), (-2, 2)], n_init=10)
    assert found.kinds == ["minimum"]
    np.testing.assert_allclose(found.points[0], expected, atol=1e-6)
    assert found.values[0] == pytest.approx(0.5673077, abs=1e-7)
    np.testing.assert_allclose(np.linalg.eigvalsh([[10, 4], [4, 12]]), [6.877, 15.123], atol=1e-3)
    climbed = minimize(fun, [0.0, 0.0], "adaptive-hill-climber", max_evaluations=5000)
    np.testing.assert_allclose(climbed.x, expected, atol=1e-8)


@pytest.mark.covers("bold-driver")
def test_bold_driver_of_004_9_2_1():
    found = minimize(
        lambda w: (w[0] ** 2 + 25 * w[1] ** 2) / 2,
        [1.0, 1.0],
        BoldDriver(0.01),
        jac=lambda w: np.array([w[0], 25 * w[1]]),
    )
    values = [value for _, _, value in found.history.path]
    expected = [13, 7.5213, 4.175129, 2.265829, 1.255952, 0.763940, 0.542880]
    np.testing.assert_allclose(values[:7], expected, atol=1e-6)
    assert values[60] == pytest.approx(8.01e-6, rel=1e-2)
    when = found.history.path[60][0]
    undone = [each for each in found.history.changes if "undone" in each.why]
    assert sum(each.evaluation <= when for each in undone) == 5


@pytest.mark.covers("log-sum-exp")
def test_log_sum_exp_of_001_6_4():
    assert logsumexp([1, 2, 3]) == pytest.approx(3.407606, abs=1e-6)
    assert logsumexp([1000, 1001, 1002]) == pytest.approx(1002.407606, abs=1e-6)


@pytest.mark.covers("matrix-kit", "symmetric-diagonalisation", "power-iteration")
def test_eigenvectors_of_002():
    U, values = diagonalize([[2, 1], [1, 2]])
    np.testing.assert_allclose(values, [3, 1], atol=1e-12)
    np.testing.assert_allclose(np.abs(U), np.full((2, 2), 0.5**0.5), atol=1e-12)
    assert definiteness([[2, 1], [1, 2]]) == "positive definite"
    assert definiteness([[2, 0], [0, -2]]) == "indefinite"
    found = power_iteration([[2, 1], [1, 2]], 2)
    np.testing.assert_allclose(found.values, [3, 1], atol=1e-8)
    assert found.rates[0] == pytest.approx(1 / 3, abs=0.01)
    negative = power_iteration([[-3, 0], [0, 1]])
    assert negative.flips == [True]
    assert negative.values[0] == pytest.approx(-3)


@pytest.mark.covers("step-size-schedules")
def test_schedules_of_000():
    assert schedules.inverse_time(100, 5000)(100) == pytest.approx(1 / (0.01 * 100 + 50))
    drops = schedules.step_drops(1.0, 1.77, 400)
    assert drops(399) == 1.0
    assert 0.09 < drops(1600) < 0.11
    assert schedules.geometric(1.0, 1.1)(10) == pytest.approx(1.1**-10)
    twins = schedules.TwinRates(0.1)
    assert twins.keep(0) == pytest.approx(0.05)


@pytest.mark.covers("stochastic-gradient-descent", "step-size-schedules")
@pytest.mark.parametrize("batches", ["shuffled", "replacement", "fixed"])
def test_stochastic_descent_reaches_the_minimum_with_every_kind_of_batch(batches, rng):
    X = rng.normal(size=(300, 2))
    y = X @ [2.0, -1.0] + 0.5 + 0.1 * rng.normal(size=300)
    risk = Risk(X, y, alpha=0.01)
    best = minimize(risk, np.zeros(3), "newton", jac=risk.gradient, hess=risk.hessian)
    found = stochastic_gradient_descent(
        risk.gradient,
        np.zeros(3),
        300,
        batch_size=10,
        batches=batches,
        learning_rate=schedules.inverse_time(2, 20),
        n_seasons=60,
        validate=lambda w, rows: risk(w),
        random_state=int(rng.integers(1000)),
    )
    assert risk(found.average) - best.fun < 1e-3
    assert found.learning_rates[0] == 0.1
    assert found.measured[-1] < risk(np.zeros(3))
    assert found.n_epochs == pytest.approx(60)


@pytest.mark.covers("interior-point", "log-barrier", "kkt-duality-checker")
def test_barrier_path_nears_the_optimum_within_its_gap():
    def fun(x):
        return (x[0] - 2) ** 2 + (x[1] - 1) ** 2

    inside = [lambda x: x[0] ** 2 - x[1], lambda x: x[0] + x[1] - 2]
    found = interior_point(fun, [0.0, 0.5], inside)
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-6)
    for t, _, value in found.path:
        assert -1e-6 <= value - 1.0 <= 2 / t + 1e-6
    np.testing.assert_allclose(found.multipliers, [2 / 3, 2 / 3], atol=1e-3)
    assert kkt_report(fun, found.x, inside).residual < 1e-4
    outside = interior_point(fun, [5.0, 5.0], inside)
    np.testing.assert_allclose(outside.x, [1, 1], atol=1e-6)
