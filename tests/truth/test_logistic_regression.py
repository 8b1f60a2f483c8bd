"""Logistic and softmax regression against finite differences, enumeration and equal forms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad, linprog
from sklearn.exceptions import ConvergenceWarning

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.sums import ArraySource
from gnomon.linear import LogisticRegression, NoSummary
from gnomon.linear import logistic as implementation
from gnomon.table import scan


def problem(rng, n=300, p=3, n_classes=2):
    X = rng.normal(size=(n, p))
    y = (X @ rng.normal(size=(p, n_classes)) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    return X, y


def by_lbfgs(model, X, y, weights=None):
    """Fit with the solver for many columns, whatever their number."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implementation, "MOST_NEWTON", 0)
        return model.fit(X, y, weights)


@pytest.mark.covers("logistic-regression", "softmax-regression", "glm-newton")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_gradient_and_second_derivatives_agree_with_finite_differences(n_classes, rng):
    X, y = problem(rng, 20, 2, n_classes)
    weights = rng.uniform(0.5, 2, 20)
    (chunk,) = ArraySource(X, y, weights).chunks()
    shape = (1 if n_classes == 2 else n_classes, 3)
    state = {"shift": rng.normal(size=2), "factors": rng.uniform(1, 2, n_classes)}

    def at(flat, second=False):
        trial = state | {"trial": flat.reshape(shape)}
        return implementation.loss_sums(trial, chunk, n_classes, second)

    point = rng.normal(size=shape).ravel()
    assert check_grad(lambda v: at(v).loss, lambda v: at(v).gradient.ravel(), point) < 1e-4
    hessian = at(point, second=True).hessian
    step = 1e-6
    for j in range(point.size):
        ahead, behind = point.copy(), point.copy()
        ahead[j] += step
        behind[j] -= step
        slope = (at(ahead).gradient - at(behind).gradient).ravel() / (2 * step)
        np.testing.assert_allclose(hessian[j], slope, atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("C", [0.1, 1.0, np.inf])
def test_the_gradient_vanishes_at_the_result(n_classes, C, rng):
    X, y = problem(rng, 500, 4, n_classes)
    X = X * [1, 100, 0.01, 1] + [0, 1e4, 0, -3]
    model = LogisticRegression(C=C).fit(X, y)
    error = model.predict_proba(X) - np.eye(n_classes)[y]
    slope = error.T @ (X - X.mean(axis=0)) / X.std(axis=0)
    coef = model.coef_ if n_classes > 2 else np.vstack([np.zeros(4), model.coef_])
    penalty = coef / (C * X.std(axis=0))
    np.testing.assert_allclose((slope + penalty)[1:] / 500, 0.0, atol=1e-7)
    np.testing.assert_allclose(error.mean(axis=0), 0.0, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_both_solvers_reach_the_same_minimum_and_never_rise(n_classes, rng):
    X, y = problem(rng, 400, 5, n_classes)
    weights = rng.integers(1, 4, 400)
    newton = LogisticRegression(C=0.5).fit(X, y, weights)
    lbfgs = by_lbfgs(LogisticRegression(C=0.5, tol=1e-12), X, y, weights)
    assert (newton.solver_, lbfgs.solver_) == ("newton", "lbfgs")
    np.testing.assert_allclose(lbfgs.coef_, newton.coef_, atol=1e-5)
    np.testing.assert_allclose(lbfgs.intercept_, newton.intercept_, atol=1e-5)
    for model in (newton, lbfgs):
        assert (np.diff(model.history_.objective) <= 1e-15).all()
        assert model.history_.stopped == "converged"


def by_newton(model, X, y, weights=None):
    """Fit by Newton's method on all rows, however many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implementation, "MOST_PARTS", 1)
        patch.setattr(implementation, "MOST_SOFTMAX_WORK", 1e12)
        return model.fit(X, y, weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_start_from_a_part_of_the_rows_ends_where_newton_ends(n_classes, weighted, rng):
    X, y = problem(rng, 12_000, 15, n_classes)
    X = X * rng.uniform(0.1, 10, 15) + rng.normal(0, 100, 15)
    weights = rng.uniform(0.2, 3, len(y)) if weighted else None
    quick = LogisticRegression().fit(X, y, weights)
    slow = by_newton(LogisticRegression(), X, y, weights)
    assert (quick.solver_, slow.solver_) == ("lbfgs", "newton")
    # told before its last step, and what is left is an estimate
    assert quick.history_[-1] <= slow.history_[-1] + 3 * quick.tol
    scale = X.std(axis=0)
    np.testing.assert_allclose(quick.coef_ * scale, slow.coef_ * scale, rtol=1e-4, atol=1e-4)
    assert (np.diff(quick.history_.objective) <= 1e-12).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_part_solved_by_slopes_is_a_start_too(weighted, monkeypatch, rng):
    X, y = problem(rng, 12_000, 15, 3)
    weights = rng.uniform(0.2, 3, len(y)) if weighted else None
    slow = by_newton(LogisticRegression(), X, y, weights)
    monkeypatch.setattr(implementation, "MOST_NEWTON_WORK", 1.0)
    quick = LogisticRegression().fit(X, y, weights)
    assert quick.solver_ == "lbfgs"
    assert quick.n_iter_ < 16
    np.testing.assert_allclose(quick.coef_, slow.coef_, atol=1e-4)


def test_a_part_that_lacks_a_class_or_a_column_is_no_start(rng):
    X, y = problem(rng, 12_000, 15, 2)
    parts = LogisticRegression()._parts(*X.shape)
    assert parts > 1
    rare = np.zeros(len(y), int)
    rare[1::parts][:40] = 1
    X[:, 3] = 0.0
    X[1::parts, 3] = rng.normal(size=len(X[1::parts]))
    for target in (rare, y):
        # a column that is zero in most rows has so little curvature that the usual tolerance of
        # slopes leaves its coefficient open in the third digit
        quick = LogisticRegression(tol=1e-7).fit(X, target)
        slow = by_newton(LogisticRegression(tol=1e-7), X, target)
        np.testing.assert_allclose(quick.coef_, slow.coef_, atol=1e-3)


def test_newton_halves_steps_that_would_raise_the_objective():
    X = np.array([[-400.0], [-1], [0.1], [0.2], [1], [300]])
    y = [1, 0, 1, 0, 1, 0]
    model = LogisticRegression(C=1e4, max_iter=200).fit(X, y)
    assert (np.diff(model.history_.objective) <= 1e-15).all()
    assert model.history_.stopped == "converged"


@pytest.mark.covers("softmax-regression")
def test_a_third_class_of_almost_no_weight_leaves_the_odds_of_the_other_two(rng):
    X, y = problem(rng, 200, 2, 2)
    rows = np.vstack([X, X.mean(axis=0)])
    third = np.append(y, 2)
    two = LogisticRegression(C=np.inf).fit(X, y)
    rare = np.append(np.ones(200), 1e-9)
    three = LogisticRegression(C=np.inf, tol=1e-14).fit(rows, third, rare)
    np.testing.assert_allclose(three.coef_[1] - three.coef_[0], two.coef_[0], atol=1e-5)


def separable(X: np.ndarray, y: np.ndarray) -> bool:
    """Whether some plane has no row on its wrong side and some row off it (linear programme)."""
    signed = np.hstack([X, np.ones((len(X), 1))]) * np.where(y == 1, 1, -1)[:, None]
    bounds = [(-1, 1)] * signed.shape[1]
    best = linprog(-signed.sum(axis=0), -signed, np.zeros(len(X)), bounds=bounds)
    return -best.fun > 1e-9


@pytest.mark.covers("logistic-regression")
def test_separation_is_found_for_every_labeling_of_six_points():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.5], [0.5, 2.0]])
    for size in range(1, 6):
        for ones in combinations(range(6), size):
            y = np.zeros(6, dtype=int)
            y[list(ones)] = 1
            model = LogisticRegression(C=np.inf)
            if separable(X, y):
                with pytest.warns(GnomonWarning, match="separates"):
                    model.fit(X, y)
                with pytest.raises(NoSummary, match="separates"):
                    model.summary()
            else:
                model.fit(X, y)
            assert model.separated_ == separable(X, y), ones


@pytest.mark.parametrize("n_classes", [2, 3])
def test_partial_separation_by_one_column_is_found(n_classes, rng):
    X, y = problem(rng, 300, 2, n_classes)
    mark = (y == 1) & (rng.random(300) < 0.3)
    mark[np.flatnonzero(y == 1)[0]] = True
    X = np.column_stack([X, mark])
    for fit in (LogisticRegression.fit, by_lbfgs):
        with pytest.warns(GnomonWarning, match="separates"):
            assert fit(LogisticRegression(C=np.inf, max_iter=500), X, y).separated_


def test_dependent_columns_without_penalty_get_least_norm_and_no_summary(rng):
    X, y = problem(rng, 300, 2)
    levels = np.eye(3)[rng.integers(0, 3, 300)]
    full = LogisticRegression(C=np.inf).fit(np.hstack([X, levels]), y)
    reduced = LogisticRegression(C=np.inf).fit(np.hstack([X, levels[:, 1:]]), y)
    np.testing.assert_allclose(
        full.predict_proba(np.hstack([X, levels])),
        reduced.predict_proba(np.hstack([X, levels[:, 1:]])),
        atol=1e-9,
    )
    assert full.coef_[0, 2:].sum() == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(NoSummary, match="combinations"):
        full.summary()


def test_a_constant_column_gets_no_coefficient(rng):
    X, y = problem(rng)
    rows = np.column_stack([X, np.full(len(X), 0.1)])
    expected = LogisticRegression(C=np.inf).fit(X, y)
    for fit in (LogisticRegression.fit, by_lbfgs):
        found = fit(LogisticRegression(C=np.inf, tol=1e-12), rows, y)
        np.testing.assert_allclose(found.coef_[0], [*expected.coef_[0], 0.0], atol=1e-5)


def test_a_summary_with_penalty_or_class_weights_is_refused(rng):
    X, y = problem(rng)
    with pytest.raises(NoSummary, match="biased"):
        LogisticRegression().fit(X, y).summary()
    with pytest.raises(NoSummary, match="class weights"):
        LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y).summary()
    with pytest.raises(NoSummary, match="whole numbers"):
        LogisticRegression(C=np.inf).fit(X, y, np.full(len(y), 0.5)).summary()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_repetitions_also_in_the_summary(n_classes, rng):
    X, y = problem(rng, 120, 2, n_classes)
    counts = rng.integers(1, 4, 120)
    weighted = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y, counts).summary()
    repeated = LogisticRegression(C=np.inf, tol=1e-12).fit(X.repeat(counts, 0), y.repeat(counts))
    expected = repeated.summary()
    np.testing.assert_allclose(weighted.estimate, expected.estimate, atol=1e-9)
    np.testing.assert_allclose(weighted.standard_error, expected.standard_error, rtol=1e-8)
    assert weighted.facts == pytest.approx(expected.facts)


@pytest.mark.parametrize("weighting", ["balanced", {"a": 3.0, "b": 0.5}])
def test_class_weights_are_weights_of_rows_in_memory_and_streamed(weighting, rng, tmp_path):
    X, codes = problem(rng, 200, 2)
    X = X.round(6)
    y = np.array(["a", "b"])[codes]
    share = np.bincount(codes) / 200
    factors = 0.5 / share if weighting == "balanced" else np.array([3.0, 0.5])
    expected = LogisticRegression().fit(X, y, factors[codes])
    held = LogisticRegression(class_weight=weighting).fit(X, y)
    np.testing.assert_allclose(held.coef_, expected.coef_, atol=1e-7)
    lines = ["u,v,class", *(f"{u:.6f},{v:.6f},{c}" for (u, v), c in zip(X, y))]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    streamed = LogisticRegression(class_weight=weighting).fit(scan(path), "class")
    np.testing.assert_array_equal(streamed.coef_, held.coef_)


@pytest.mark.parametrize("p", [10, 300])
def test_sparse_rows_give_what_dense_rows_give(p, rng):
    X = sp.random_array((300, p), density=0.1, rng=rng, format="csr")
    y = np.arange(300) % 3
    sparse = LogisticRegression(tol=1e-12).fit(X, y)
    dense = LogisticRegression(tol=1e-12).fit(X.toarray(), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-5)


def test_one_class_and_a_class_without_weight_are_refused_by_name(rng):
    X = rng.normal(size=(6, 1))
    with pytest.raises(DataError, match="only one class, 'a'"):
        LogisticRegression().fit(X, ["a"] * 6)
    with pytest.raises(DataError, match="class 'c' has no row"):
        LogisticRegression().fit(X, list("aabbcc"), [1, 1, 1, 1, 0, 0])


def test_too_few_steps_are_said_with_the_remedy(rng):
    X, y = problem(rng)
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        LogisticRegression(max_iter=2).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        by_lbfgs(LogisticRegression(max_iter=2), X, y)


def test_probabilities_stay_probabilities_in_far_tails():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    far = model.predict_proba([[-1e9], [1e9]])
    np.testing.assert_allclose(far, [[1, 0], [0, 1]], atol=1e-300)
    assert np.isfinite(model.decision_function([[1e99]])).all()


def test_parameters_that_penalty_overrides_are_named(rng):
    X, y = problem(rng)
    with pytest.warns(GnomonWarning, match="penalty=None will ignore the C"):
        LogisticRegression(penalty=None, C=4.0).fit(X, y)
    with pytest.warns(GnomonWarning, match="penalty=l2 with l1_ratio=0.5"):
        LogisticRegression(penalty="l2", l1_ratio=0.5).fit(X, y)
    with pytest.raises(ValueError, match="needs l1_ratio"):
        LogisticRegression(penalty="elasticnet", l1_ratio=None).fit(X, y)
