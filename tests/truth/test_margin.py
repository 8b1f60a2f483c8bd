"""Margins against brute force, general solvers and exact enumeration."""

from __future__ import annotations

import copy
import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster import KMeans
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.margin import (
    ANOVA,
    RBF,
    SVC,
    SVR,
    ChiSquare,
    GraphletKernel,
    Linear,
    LinearSVC,
    NuSVC,
    NuSVR,
    OneClassSVM,
    PocketPerceptron,
    Polynomial,
    Programme,
    RandomWalkKernel,
    Sigmoid,
    SparseSVM,
    SpectrumKernel,
    SquaredSlackSVM,
    StochasticSVM,
    convex_hull,
    fewest_errors,
    joint_svm,
    kernel_k_means,
    kernel_nearest_mean,
    kernel_pca,
    kernel_perceptron,
    kernel_ridge,
    mercer_check,
    nearest_points,
    penalty_search,
    perceptron_cost,
    repair,
    separability,
    set_distance,
    smo,
    solve,
    support_vector_report,
)
from gnomon.margin.smo_kernel import solve_pairs
from gnomon.margin.stochastic_svm import hinge_steps


def overlapping(rng, n=40, d=2, gap=0.8):
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(n, d)) + gap * sign[:, None], sign


def quadratic_programme(gram, sign, bound):
    """The dual by a general solver: a box and one equality."""
    Q = gram * np.outer(sign, sign)
    found = minimize(
        lambda a: 0.5 * a @ Q @ a - a.sum(),
        np.zeros(len(sign)),
        jac=lambda a: Q @ a - 1,
        bounds=[(0, b) for b in bound],
        constraints={"type": "eq", "fun": lambda a: a @ sign, "jac": lambda a: sign},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return found.x, -found.fun


@pytest.mark.covers("soft-margin-svm", "kernel-svm", "svm-class-costs")
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.7), Polynomial(2), Linear() + 0.5 * RBF(1.0)])
def test_the_machine_reaches_the_optimum_of_a_general_solver(kernel, rng):
    X, sign = overlapping(rng, 30)
    weights = rng.integers(1, 4, 30).astype(float)
    model = SVC(C=0.8, kernel=kernel, class_weight={-1: 1.0, 1: 2.5}, tol=1e-9)
    model.fit(X, sign, sample_weight=weights)
    bound = 0.8 * weights * np.where(sign > 0, 2.5, 1.0)
    alpha, best = quadratic_programme(kernel(X), sign, bound)
    assert model.dual_objective_[0] == pytest.approx(best, rel=1e-6)
    assert model.dual_objective_[0] >= best - 1e-6 * abs(best)
    expected = kernel(X) @ (alpha * sign) + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=5e-3)
    assert (np.abs(model.dual_coef_[0]) <= bound[model.support_] + 1e-12).all()


@pytest.mark.covers("soft-margin-svm-squared", "kernel-svm-squared-slack")
@pytest.mark.parametrize("kernel", [Linear(), RBF(0.7)])
def test_squared_slack_is_the_hard_margin_of_a_ridged_matrix(kernel, rng):
    X, sign = overlapping(rng, 30)
    model = SquaredSlackSVM(2.0, kernel=kernel, tol=1e-9).fit(X, sign)
    gram = kernel(X) + np.eye(30) / 2.0
    _, best = quadratic_programme(gram, sign, np.full(30, 1e4))
    assert model.dual_objective_[0] == pytest.approx(best, rel=1e-6)


@pytest.mark.covers("soft-margin-svm")
def test_a_bound_on_the_weights_is_kept_at_the_least_slack(rng):
    X, sign = overlapping(rng, 30)
    free = SVC(C=5.0, kernel="linear", tol=1e-9).fit(X, sign)
    norm = np.linalg.norm(free.dual_coef_[0] @ free.support_vectors_)
    same = SVC(C=5.0, kernel="linear", tol=1e-9, max_norm=1.01 * norm).fit(X, sign)
    np.testing.assert_array_equal(same.dual_coef_, free.dual_coef_)
    model = SVC(C=5.0, kernel="linear", tol=1e-9, max_norm=0.6 * norm).fit(X, sign)
    w = model.dual_coef_[0] @ model.support_vectors_
    assert np.linalg.norm(w) == pytest.approx(0.6 * norm, rel=1e-3)
    assert np.linalg.norm(w) <= 0.6 * norm * (1 + 1e-9)

    def objective(z):
        return 0.5 * z[:2] @ z[:2] + 5 * np.maximum(0, 1 - sign * (X @ z[:2] + z[2])).sum()

    reached = objective(np.append(w, model.intercept_))
    for _ in range(500):
        z = np.append(w, model.intercept_) + 0.02 * rng.normal(size=3)
        if np.linalg.norm(z[:2]) <= 0.6 * norm:
            assert objective(z) >= reached - 2e-3 * reached


@pytest.mark.covers("svm-class-costs")
def test_a_dearer_class_is_missed_less(rng):
    X, sign = overlapping(rng, 400, gap=0.4)
    missed = []
    for cost in (1.0, 20.0):
        model = SVC(C=0.5, class_weight={1.0: cost}).fit(X, sign)
        missed.append((model.predict(X[sign > 0]) < 0).mean())
    assert missed[1] < missed[0]
    balanced = SVC(C=0.5, class_weight="balanced").fit(X[:300], sign[:300])
    plain = SVC(C=0.5).fit(X[:300], sign[:300])
    np.testing.assert_allclose(balanced.dual_objective_, plain.dual_objective_)


@pytest.mark.covers("smo")
@pytest.mark.parametrize("selection", ["second_order", "maximal_violation"])
@pytest.mark.parametrize("shrinking", [False, True])
def test_pairs_reach_the_optimum_whatever_their_choice(selection, shrinking, rng):
    X, sign = overlapping(rng, 30)
    gram = RBF(0.5)(X)
    run = smo(gram, sign, 1.0, selection=selection, shrinking=shrinking, tol=1e-9)
    _, best = quadratic_programme(gram, sign, np.ones(30))
    assert run.converged
    assert run.dual_objective == pytest.approx(best, rel=1e-6)
    model = SVC(C=1.0, kernel=RBF(0.5), tol=1e-9).fit(X, sign)
    np.testing.assert_allclose(run.decision(gram), model.decision_function(X), atol=1e-6)


@pytest.mark.covers("smo")
def test_shrinking_changes_the_way_and_not_the_end(rng):
    X, sign = overlapping(rng, 300, gap=0.5)
    gram = RBF(0.5)(X)
    plain, shrunk = (smo(gram, sign, 10.0, shrinking=s, tol=1e-8) for s in (False, True))
    assert plain.n_steps > 300  # so that shrinking took place
    assert shrunk.dual_objective == pytest.approx(plain.dual_objective, rel=1e-9)
    np.testing.assert_allclose(shrunk.decision(gram), plain.decision(gram), atol=1e-5)


@pytest.mark.covers("smo")
def test_a_replay_of_the_pairs_rises_to_the_end_that_was_reached(rng):
    X, sign = overlapping(rng, 20)
    run = smo(Linear()(X), sign, 1.0, tol=1e-6, keep_steps=10**5)
    states = list(run.replay())
    assert len(states) == run.n_steps
    objectives = [objective for _, _, objective in states]
    assert all(b >= a - 1e-10 for a, b in itertools.pairwise(objectives))
    np.testing.assert_allclose(states[-1][1], run.alpha, atol=1e-9)
    assert all(abs(alpha @ sign) < 1e-9 for _, alpha, _ in states)


@pytest.mark.covers("svm-working-set-decomposition")
@pytest.mark.parametrize("size", [2, 4, 10, 500])
def test_working_sets_of_any_size_reach_the_same_optimum(size, rng):
    X, sign = overlapping(rng, 120)
    programme = Programme.simple(sign, -np.ones(120), np.full(120, 1.0))
    whole = solve(programme, RBF(0.5), X, tol=1e-8, working_set=500)
    part = solve(programme, RBF(0.5), X, tol=1e-8, working_set=size, cache_bytes=8 * 120 * 12)
    assert part.converged
    assert part.objective == pytest.approx(whole.objective, rel=1e-9)
    objectives = [objective for _, objective in part.course]
    assert all(b <= a + 1e-9 * abs(a) for a, b in itertools.pairwise(objectives))


@pytest.mark.covers("support-vector-report")
def test_the_report_of_an_optimal_machine_has_no_gap_and_that_of_a_sloppy_one_has(rng):
    X, sign = overlapping(rng, 60)
    exact = SVC(C=2.0, tol=1e-9).fit(X, sign)
    report = support_vector_report(exact, X, sign)
    assert report.rows.tolist() == np.sort(exact.support_).tolist()
    assert report.share == len(exact.support_) / 60
    assert abs(report.duality_gap) < 1e-6 * report.primal_objective
    assert report.kkt_violation < 1e-6
    assert report.dual_objective == pytest.approx(exact.dual_objective_[0])
    slack = np.maximum(1 - sign * exact.decision_function(X), 0)
    np.testing.assert_allclose(report.slack, slack[report.rows])
    beyond = slack > 1e-6
    assert set(np.flatnonzero(beyond)) <= set(report.rows.tolist())
    assert report.at_bound.sum() >= beyond.sum()
    sloppy = support_vector_report(SVC(C=2.0, tol=0.5).fit(X, sign), X, sign)
    assert sloppy.duality_gap > report.duality_gap
    squared = SquaredSlackSVM(2.0, tol=1e-9).fit(X, sign)
    report = support_vector_report(squared, X, sign)
    assert abs(report.duality_gap) < 1e-6 * report.primal_objective
    assert "support vectors" in str(report)


@pytest.mark.covers("support-vector-report", "support-vector-regression")
def test_the_report_of_a_tube_has_no_gap(rng):
    X = rng.normal(size=(50, 2))
    y = X[:, 0] + rng.normal(size=50)
    model = SVR(C=1.5, epsilon=0.2, tol=1e-9).fit(X, y)
    report = support_vector_report(model, X, y)
    assert abs(report.duality_gap) < 1e-6 * report.primal_objective
    assert report.kkt_violation < 1e-6
    # the primal by a general solver, over w and b of an explicit feature map
    linear = SVR(C=1.5, epsilon=0.2, kernel="linear", tol=1e-9).fit(X, y)
    report = support_vector_report(linear, X, y)

    def primal(z):
        outside = np.maximum(np.abs(y - X @ z[:2] - z[2]) - 0.2, 0)
        return 0.5 * z[:2] @ z[:2] + 1.5 * outside.sum()

    start = np.append(linear.dual_coef_[0] @ linear.support_vectors_, linear.intercept_)
    assert primal(start) == pytest.approx(report.primal_objective, rel=1e-9)
    moved = [primal(start + 1e-3 * rng.normal(size=3)) for _ in range(200)]
    assert min(moved) >= primal(start) - 1e-7


def test_nu_bounds_the_shares_of_errors_and_of_support_vectors(rng):
    X, sign = overlapping(rng, 200, gap=1.5)
    for nu in (0.2, 0.5):
        model = NuSVC(nu=nu, tol=1e-7).fit(X, sign)
        beyond = (sign * model.decision_function(X) < 1 - 1e-5).mean()
        assert beyond <= nu + 1e-9
        assert len(model.support_) / 200 >= nu - 1e-9
        y = X[:, 0] + rng.normal(size=200)
        tube = NuSVR(nu=nu, tol=1e-7).fit(X, y)
        outside = (np.abs(y - tube.predict(X)) > tube.epsilon_ + 1e-5).mean()
        assert outside <= nu + 1e-9
        region = OneClassSVM(nu=nu, tol=1e-7).fit(X)
        assert (region.decision_function(X) < -1e-6).mean() <= nu + 1e-9
        assert len(region.support_) / 200 >= nu - 1e-9


def test_probabilities_of_a_machine_are_calibrated_on_new_rows(rng):
    X, sign = overlapping(rng, 1200, gap=0.5)
    model = SVC(probability=True).fit(X[:600], sign[:600])
    said = model.predict_proba(X[600:])[:, 1]
    truth = sign[600:] > 0
    assert ((said > 0.5) == (model.predict(X[600:]) > 0)).mean() > 0.8
    # squared error below that of the share of the class, which knows nothing
    assert ((said - truth) ** 2).mean() < 0.22
    assert abs(said.mean() - truth.mean()) < 0.1


@pytest.mark.covers("kernel-svm")
def test_a_precomputed_matrix_and_a_function_give_what_the_kernel_gives(rng):
    X, sign = overlapping(rng, 60)
    y = np.where(X[:, 0] > 1, 2, (sign > 0).astype(int))
    new = rng.normal(size=(15, 2))
    kernel = RBF(0.4)
    plain = SVC(kernel=kernel, tol=1e-8, probability=True).fit(X, y)
    given = SVC(kernel="precomputed", tol=1e-8, probability=True).fit(kernel(X), y)
    called = SVC(kernel=lambda a, b: np.exp(-0.4 * cdist(a, b) ** 2), tol=1e-8).fit(X, y)
    expected = plain.pair_scores(new)
    np.testing.assert_allclose(given.pair_scores(kernel(new, X)), expected, atol=1e-5)
    np.testing.assert_allclose(called.pair_scores(new), expected, atol=1e-5)
    np.testing.assert_array_equal(given.support_, plain.support_)
    assert given.predict_proba(kernel(new, X)).shape == (15, 3)
    with pytest.raises(DataError, match="square"):
        SVC(kernel="precomputed").fit(X, y)
    weights = np.ones(60)
    weights[:7] = 0
    with_gaps = SVC(kernel="precomputed", tol=1e-8).fit(kernel(X), y, sample_weight=weights)
    without = SVC(kernel=kernel, tol=1e-8).fit(X[7:], y[7:])
    np.testing.assert_allclose(
        with_gaps.pair_scores(kernel(new, X)), without.pair_scores(new), atol=1e-5
    )


@pytest.mark.covers("kernel-svm", "kernel-svm-squared-slack")
@pytest.mark.parametrize("cls", [SVC, NuSVC, SquaredSlackSVM])
def test_kernel_values_shared_by_all_pairs_change_nothing(cls, rng):
    y = np.repeat([0, 1, 2], [400, 300, 200])
    X = rng.normal(size=(900, 4)) + 1.5 * np.eye(4)[y]
    shared = cls(cache_size=200, tol=1e-6).fit(X, y)
    alone = cls(cache_size=1, tol=1e-6).fit(X, y)
    gram = shared.kernel_(X, X)
    before = gram.copy()
    given = cls(kernel="precomputed", tol=1e-6).fit(gram, y)
    np.testing.assert_array_equal(gram, before)
    expected = alone.pair_scores(X)
    np.testing.assert_allclose(shared.pair_scores(X), expected, atol=1e-4)
    np.testing.assert_allclose(given.pair_scores(gram), expected, atol=1e-4)
    np.testing.assert_allclose(shared.dual_objective_, alone.dual_objective_, rtol=1e-6)


@pytest.mark.covers("kernel-svm")
def test_columns_of_unlike_scale_are_told_of(rng):
    X, sign = overlapping(rng)
    with pytest.warns(GnomonWarning, match="scale"):
        SVC().fit(X * [1.0, 1e4], sign)


@pytest.mark.covers("kernel-linear", "kernel-polynomial", "kernel-rbf", "kernel-anova")
def test_blocks_of_kernel_values_are_those_of_single_pairs(rng):
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    formulas = {
        Linear(): lambda x, y: x @ y,
        Polynomial(3, 0.5, 0.3): lambda x, y: (0.3 * (x @ y) + 0.5) ** 3,
        RBF(0.7): lambda x, y: np.exp(-0.7 * ((x - y) ** 2).sum()),
        RBF(sigma=2.0): lambda x, y: np.exp(-((x - y) ** 2).sum() / 8),
        Sigmoid(0.2, -0.1): lambda x, y: np.tanh(0.2 * (x @ y) - 0.1),
        ANOVA(0.4, 2): lambda x, y: np.exp(-0.4 * (x - y) ** 2).sum() ** 2,
    }
    for kernel, formula in formulas.items():
        expected = [[formula(a, b) for b in B] for a in A]
        np.testing.assert_allclose(kernel(A, B), expected, atol=1e-12)
        diagonal = [formula(a, a) for a in A]
        np.testing.assert_allclose(kernel.fitted(A).diagonal(A), diagonal, atol=1e-12)
    A, B = np.abs(A), np.abs(B)
    expected = [[np.exp(-0.5 * ((a - b) ** 2 / (a + b)).sum()) for b in B] for a in A]
    np.testing.assert_allclose(ChiSquare(0.5)(A, B), expected, atol=1e-12)
    with pytest.raises(DataError, match="counts"):
        ChiSquare()([[-1.0]])


@pytest.mark.covers("kernel-rbf")
def test_the_bandwidth_may_come_from_the_rows(rng):
    X = rng.normal(size=(50, 3))
    pairs = [np.linalg.norm(a - b) for a, b in itertools.combinations(X, 2)]
    gamma = RBF("median").fitted(X).gamma
    assert gamma == pytest.approx(1 / (2 * np.median(pairs) ** 2))
    assert RBF("scale").fitted(X).gamma == pytest.approx(1 / (3 * X.var()))
    assert RBF(sigma=0.5).fitted(X).gamma == pytest.approx(2.0)


@pytest.mark.covers("kernel-algebra")
def test_sums_products_and_multiples_of_kernels_are_kernels(rng):
    X, Y = rng.normal(size=(12, 3)), rng.normal(size=(4, 3))
    one, other = RBF(0.5), Polynomial(2)
    np.testing.assert_allclose((one + other)(X, Y), one(X, Y) + other(X, Y))
    np.testing.assert_allclose((one * other)(X, Y), one(X, Y) * other(X, Y))
    np.testing.assert_allclose((3 * one)(X, Y), 3 * one(X, Y))
    mixed = 0.5 * one + one * other + Linear()
    assert mercer_check(mixed(X)).valid
    np.testing.assert_allclose(mixed.diagonal(X), np.diag(mixed(X)))
    with pytest.raises(DataError, match="zero or more"):
        (-1.0) * one
    sign = np.where(np.arange(12) % 2 == 0, 1, -1)
    assert SVC(kernel=mixed).fit(X, sign).kernel_ == mixed


@pytest.mark.covers("kernel-mercer-check")
def test_what_is_no_kernel_matrix_is_found_out_and_mended(rng):
    X = rng.normal(size=(20, 3))
    good = RBF(0.5)(X)
    assert mercer_check(good).valid
    bad = -cdist(X, X)
    check = mercer_check(bad)
    assert not check.valid
    assert check.symmetric
    assert check.least_eigenvalue == pytest.approx(np.linalg.eigvalsh(bad)[0])
    lopsided = good.copy()
    lopsided[0, 1] += 0.5
    assert not mercer_check(lopsided).symmetric
    values, vectors = np.linalg.eigh(bad)
    for how, mended in (("clip", np.maximum(values, 0)), ("flip", np.abs(values))):
        np.testing.assert_allclose(repair(bad, how), (vectors * mended) @ vectors.T, atol=1e-9)
        assert mercer_check(repair(bad, how), tol=1e-9).valid
    shifted = repair(bad, "shift")
    off = ~np.eye(20, dtype=bool)
    np.testing.assert_array_equal(shifted[off], bad[off])
    assert np.linalg.eigvalsh(shifted)[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(repair(good, "clip"), good, atol=1e-9)
    with pytest.warns(GnomonWarning, match="least eigenvalue"):
        SVC(kernel="precomputed", max_iter=3).fit(bad, np.arange(20) % 2)


def least_by_search(one, other, rng, n=4000):
    """The least distance of many random mixtures of two sets, an upper bound."""
    a = rng.dirichlet(np.full(len(one), 0.3), n) @ one
    b = rng.dirichlet(np.full(len(other), 0.3), n) @ other
    return np.linalg.norm(a - b, axis=1).min()


@pytest.mark.covers("set-distance")
def test_distances_of_sets_and_hulls_against_search_and_the_planes_between(rng):
    one, other = rng.normal(size=(8, 3)), rng.normal(size=(6, 3)) + 4
    assert set_distance(one, other) == pytest.approx(cdist(one, other).min())
    hulls = set_distance(one, other, hulls=True)
    assert hulls <= set_distance(one, other) + 1e-9
    assert hulls <= least_by_search(one, other, rng) + 1e-9
    # the greatest distance between parallel planes that part the sets is the hulls' distance
    found = nearest_points(one, other)
    normal = (found.second - found.first) / found.distance
    assert (other @ normal).min() - (one @ normal).max() == pytest.approx(hulls, abs=1e-5)
    np.testing.assert_allclose(found.first_weights @ one, found.first, atol=1e-12)
    assert found.first_weights.sum() == pytest.approx(1)
    assert found.first_weights.min() >= 0
    inside = rng.dirichlet(np.ones(8)) @ one
    assert set_distance([inside], one, hulls=True) == pytest.approx(0, abs=1e-4)
    with pytest.raises(DataError, match="columns"):
        set_distance(one, [[1.0]])


def is_mixture_by_triangles(point, corners):
    """Whether a point of the plane lies in a triangle of the corners, by signs of areas."""
    for a, b, c in itertools.combinations(corners, 3):
        sides = [np.linalg.det(np.array([q - p, point - p])) for p, q in ((a, b), (b, c), (c, a))]
        if min(sides) >= 0 or max(sides) <= 0:
            return True
    return False


@pytest.mark.covers("convex-hull")
def test_extreme_points_and_membership_against_all_triangles(rng):
    X = rng.normal(size=(12, 2))
    hull = convex_hull(X)
    expected = [i for i in range(12) if not is_mixture_by_triangles(X[i], np.delete(X, i, axis=0))]
    assert hull.extreme.tolist() == expected
    new = rng.normal(size=(30, 2))
    np.testing.assert_array_equal(hull.contains(new), [is_mixture_by_triangles(x, X) for x in new])
    for x in new[hull.contains(new)]:
        weights = hull.coordinates(x)
        np.testing.assert_allclose(weights @ hull.corners, x, atol=1e-9)
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)


@pytest.mark.covers("convex-hull")
def test_hulls_in_many_dimensions_in_planes_and_on_lines(rng):
    simplex = np.vstack([np.zeros(9), np.eye(9)])
    inside = rng.dirichlet(np.ones(10), 3) @ simplex
    hull = convex_hull(np.vstack([inside, simplex]))
    assert hull.extreme.tolist() == list(range(3, 13))
    flat = np.column_stack([rng.normal(size=(3, 2)), np.full(3, 2.0)])
    middle = flat.mean(axis=0)
    assert convex_hull(np.vstack([flat, middle])).extreme.tolist() == [0, 1, 2]
    line = convex_hull([[3.0], [1.0], [2.0], [1.0]])
    assert line.extreme.tolist() == [0, 1]
    assert line.contains([[2.5], [3.5]]).tolist() == [True, False]


@pytest.mark.covers("linear-separability-test")
def test_separability_comes_with_a_proof_either_way(rng):
    answers = set()
    for gap in (0.0, 0.3, 1.0, 4.0):
        X, sign = overlapping(rng, 12, gap=gap)
        answer = separability(X, sign)
        answers.add(answer.separable)
        if answer.separable:
            assert (sign * answer.plane.score(X) > 0).all()
            assert answer.common_point is None
        else:
            weights = answer.weights
            assert weights.min() >= 0
            for side in (1, -1):
                part = weights[sign == side]
                assert part.sum() == pytest.approx(1, abs=1e-6)
                np.testing.assert_allclose(part @ X[sign == side], answer.common_point, atol=1e-6)
    X, sign = overlapping(rng, 12, gap=6.0)
    assert separability(X, sign).separable
    assert not separability([[0.0], [1.0], [0.5]], [0, 0, 1]).separable
    model = PocketPerceptron(max_iter=10_000).fit(X, sign)
    assert model.separated_


def fewest_by_enumeration(X, sign):
    """Errors of every split of points in the plane by a line: lines through two points, tilted."""
    least = min((sign > 0).sum(), (sign < 0).sum())
    for i, j in itertools.combinations(range(len(X)), 2):
        direction = X[j] - X[i]
        normal = np.array([-direction[1], direction[0]])
        scores = (X - X[i]) @ normal
        scores[[i, j]] = 0
        # the two points on the line may fall on either side by a tilt or a shift
        for a, b in itertools.product((-1, 1), repeat=2):
            said = np.sign(scores)
            said[i], said[j] = a, b
            wrong = int((said != sign).sum())
            least = min(least, wrong, len(X) - wrong)
    return least


@pytest.mark.covers("zero-one-linear-erm")
def test_fewest_errors_against_every_line(rng):
    X, sign = overlapping(rng, 14, gap=0.5)
    found = fewest_errors(X, sign)
    expected = fewest_by_enumeration(X, sign)
    assert found.n_errors == expected
    assert found.exact
    assert (found.predict(X) != sign).sum() == expected
    rough = fewest_errors(X, sign, exact=False)
    assert rough.n_errors >= expected
    assert rough.exact is (rough.n_errors == 0)


@pytest.mark.covers("zero-one-linear-erm")
def test_the_number_of_errors_has_no_slope(rng):
    """Why gradients fail: almost every small move of a plane changes nothing."""
    X, sign = overlapping(rng, 30, gap=0.5)
    plane = rng.normal(size=3)
    rows = np.column_stack([X, np.ones(30)])
    moves = plane + 1e-9 * rng.normal(size=(50, 3))
    errors = [(sign * (rows @ z) <= 0).sum() for z in moves]
    assert len(set(errors)) == 1


@pytest.mark.covers("batch-perceptron")
def test_the_slope_of_the_perceptron_cost_is_the_sum_of_wrong_rows(rng):
    X, sign = overlapping(rng, 25)
    rows, plane = np.column_stack([X, np.ones(25)]), rng.normal(size=3)
    weights = rng.uniform(0.5, 2, 25)
    wrong = sign * (rows @ plane) < 0
    slope = -((weights * sign)[wrong] @ rows[wrong])
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-7
        ends = [perceptron_cost(plane + s * step, rows, sign, weights) for s in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-7 == pytest.approx(slope[j], abs=1e-4)


@pytest.mark.covers("perceptron")
def test_several_classes_are_separated_by_corrections_of_two_planes(rng):
    centers = np.array([[0, 0], [8, 0], [0, 8], [8, 8]])
    X = np.repeat(centers, 10, axis=0) + rng.uniform(-1, 1, size=(40, 2))
    y = np.repeat(list("abcd"), 10)
    model = PocketPerceptron(max_iter=5000, margin=0.5).fit(X, y)
    assert model.separated_
    assert (model.predict(X) == y).all()
    scores = np.sort(model.decision_function(X), axis=1)
    assert (scores[:, -1] - scores[:, -2] > 0.5).all()


@pytest.mark.covers("linear-svm-hinge-sgd")
@pytest.mark.parametrize("penalized", [0.0, 1.0])
def test_a_step_of_stochastic_gradient_is_that_of_the_procedure(penalized, rng):
    X, sign = overlapping(rng, 20)
    rows = np.column_stack([X, np.ones(20)])
    plane = rng.normal(size=3)
    drawn = rng.integers(0, 20, 30)
    rate, penalty = 0.05, 0.1
    expected = plane.copy()
    for k in drawn:
        a, b = expected[:2].copy(), expected[2]
        if sign[k] * (X[k] @ a + b) >= 1:
            expected[:2] = a - rate * penalty * a
            expected[2] = b - rate * penalty * penalized * b
        else:
            expected[:2] = a - rate * (penalty * a - sign[k] * X[k])
            expected[2] = b + rate * sign[k] - rate * penalty * penalized * b
    shrunk = np.array([1.0, 1.0, penalized])
    hinge_steps(rows, sign, drawn, 1, rate, penalty, shrunk, plane)
    np.testing.assert_allclose(plane, expected, atol=1e-12)


@pytest.mark.covers("linear-svm-hinge-sgd")
def test_stochastic_gradient_comes_near_the_optimum_and_watches_fresh_rows(rng):
    X, sign = overlapping(rng, 400, gap=1.0)
    penalty = 0.01
    model = StochasticSVM(penalty, n_seasons=100, n_steps=300, random_state=1).fit(X, sign)
    best = minimize(
        lambda z: np.maximum(0, 1 - sign * (X @ z[:2] + z[2])).mean() + penalty / 2 * z[:2] @ z[:2],
        np.zeros(3),
        method="Nelder-Mead",
        options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000},
    ).fun
    assert best - 1e-9 <= model.history_[-1] <= best + 0.1
    assert model.accuracy_.shape == (100, 10)
    assert model.accuracy_[-20:].mean() > 0.8
    assert model.squared_norm_[-1, -1] == pytest.approx((model.coef_**2).sum())
    with pytest.raises(DataError, match="rate"):
        StochasticSVM(1e4).fit(X, sign)


@pytest.mark.covers("linear-svm-hinge-sgd")
def test_the_search_takes_the_penalty_of_least_error_and_refits(rng):
    X, sign = overlapping(rng, 200, gap=1.5)
    search = penalty_search(X, sign, [1e-3, 15.0], n_splits=4)
    assert search.errors.shape == (2, 4)
    assert search.best == search.penalties[search.errors.mean(axis=1).argmin()]
    assert search.model.penalty == search.best
    assert search.errors[0].mean() < 0.1
    assert "0.001" in str(search)


def hinge_objective(model, X, sign, C, power, scaling=1.0):
    z = np.append(model.coef_[0], model.intercept_[0] / scaling)
    slack = np.maximum(0, 1 - sign * model.decision_function(X))
    return 0.5 * z @ z + C * (slack**power).sum()


@pytest.mark.covers("soft-margin-svm")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("solver", ["second_order", "coordinate"])
def test_linear_machines_reach_the_optimum_and_know_their_gap(loss, solver, rng):
    X, sign = overlapping(rng, 80, 3, gap=0.5)
    power = 1 if loss == "hinge" else 2
    model = LinearSVC(
        C=0.7, loss=loss, solver=solver, intercept_scaling=2.0, tol=1e-7, max_iter=20_000
    ).fit(X, sign)
    reached = hinge_objective(model, X, sign, 0.7, power, 2.0)
    gap = reached - model.dual_objective_[0]
    assert -1e-9 <= gap <= 2e-6 * reached
    assert model.duality_gap_[0] <= 1e-7
    moved = copy.deepcopy(model)
    for _ in range(100):
        moved.coef_ = model.coef_ + 1e-3 * rng.normal(size=model.coef_.shape)
        moved.intercept_ = model.intercept_ + 1e-3 * rng.normal(size=1)
        assert hinge_objective(moved, X, sign, 0.7, power, 2.0) >= reached * (1 - 1e-6)


@pytest.mark.covers("sparse-svm")
def test_a_small_price_leaves_few_columns_and_a_great_one_the_optimum(rng):
    X, sign = overlapping(rng, 200, 2)
    X = np.column_stack([X, rng.normal(size=(200, 10))])
    counts = SparseSVM(random_state=0).non_zeros(X, sign, [1e-5, 0.005, 10.0])
    assert counts[0] == 0
    assert counts[0] <= counts[1] <= counts[2]
    model = SparseSVM(0.05, tol=1e-8, max_passes=10**5, random_state=0).fit(X, sign)

    def objective(w, b):
        slack = np.maximum(0, 1 - sign * (X @ w + b))
        return np.abs(w).sum() + abs(b) + 0.05 * (slack**2).sum()

    reached = objective(model.coef_[0], model.intercept_[0])
    for _ in range(100):
        move = 1e-3 * rng.normal(size=12)
        shifted = objective(model.coef_[0] + move, model.intercept_[0] + 1e-3 * rng.normal())
        assert shifted >= reached - 1e-6


@pytest.mark.covers("multiclass-svm-joint")
def test_the_joint_machine_is_at_the_optimum_of_its_one_problem(rng):
    X = np.repeat(rng.normal(scale=3, size=(3, 2)), 30, axis=0) + rng.normal(size=(90, 2))
    y = np.repeat(np.arange(3), 30)
    found = joint_svm(X, y, 0.3, tol=1e-9, max_iter=10**5)

    def objective(V, b):
        scores = X @ V.T + b
        own = scores[np.arange(90), y]
        scores = scores + 1.0
        scores[np.arange(90), y] -= 1.0
        return 0.5 * (V**2).sum() + 0.5 * (b**2).sum() + 0.3 * (scores.max(axis=1) - own).sum()

    reached = objective(found.weights, found.intercepts)
    for _ in range(200):
        V = found.weights + 1e-3 * rng.normal(size=(3, 2))
        assert objective(V, found.intercepts + 1e-3 * rng.normal(size=3)) >= reached - 1e-6
    with pytest.raises(DataError, match="three classes"):
        joint_svm(X[:60], y[:60])


@pytest.mark.covers("kernel-trick")
def test_kernelised_algorithms_with_scalar_products_are_the_plain_ones(rng):
    X = rng.normal(size=(40, 3))
    new = rng.normal(size=(10, 3))
    gram, cross = Linear()(X), Linear()(new, X)
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=40)
    centered = X - X.mean(axis=0)
    ridge = kernel_ridge(gram, y, 2.0)
    w = X.T @ np.linalg.solve(gram + 2 * np.eye(40), y - y.mean())
    np.testing.assert_allclose(ridge(cross), new @ w + y.mean(), atol=1e-9)
    codes = rng.integers(0, 3, 40)
    means = np.array([X[codes == k].mean(axis=0) for k in range(3)])
    nearest = kernel_nearest_mean(gram, codes)
    np.testing.assert_array_equal(nearest(cross).argmax(axis=1), cdist(new, means).argmin(axis=1))
    components = kernel_pca(gram, 2)
    _, values, axes = np.linalg.svd(centered, full_matrices=False)
    np.testing.assert_allclose(components.variances, values[:2] ** 2 / 40)
    expected = np.abs((new - X.mean(axis=0)) @ axes[:2].T)
    np.testing.assert_allclose(np.abs(components.transform(cross)), expected, atol=1e-8)
    np.testing.assert_allclose(components.transform(gram), components.coordinates, atol=1e-8)
    separable, sign = overlapping(rng, 30, 3, gap=5.0)
    score = kernel_perceptron(Linear()(separable), sign)
    w, b = np.zeros(3), 0.0
    while True:
        wrong = 0
        for x, s in zip(separable, sign):
            if s * (w @ x + b) <= 0:
                w, b, wrong = w + s * x, b + s, wrong + 1
        if not wrong:
            break
    np.testing.assert_allclose(score(cross @ np.zeros((40, 30)) + new @ separable.T), new @ w + b)


@pytest.mark.covers("kernel-trick")
def test_kernel_k_means_is_k_means_of_the_features_and_parts_rings(rng):
    X = np.repeat([[0.0, 0], [9, 0], [0, 9]], 15, axis=0) + rng.normal(size=(45, 2))
    groups = kernel_k_means(Linear()(X), 3)
    plain = KMeans(3, random_state=0).fit(X)
    assert groups.objective == pytest.approx(plain.inertia_, rel=1e-9)
    pairs = set(zip(groups.labels.tolist(), plain.labels_.tolist()))
    assert len(pairs) == 3
    np.testing.assert_array_equal(groups.scores(Linear()(X)).argmax(axis=1), groups.labels)
    angle = rng.uniform(0, 2 * np.pi, 60)
    radius = np.repeat([0.5, 4.0], 30)
    rings = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    # products of squares see the radius alone
    squares = ((rings**2).sum(axis=1)[:, None]) * (rings**2).sum(axis=1)
    labels = kernel_k_means(squares, 2).labels
    assert len(set(labels[:30])) == len(set(labels[30:])) == 1
    assert labels[0] != labels[30]


@pytest.mark.covers("string-kernel-spectrum")
def test_the_spectrum_kernel_counts_common_substrings(rng):
    words = ["".join(rng.choice(list("ab"), rng.integers(4, 9))) for _ in range(6)]
    for counts in (True, False):
        gram = SpectrumKernel(3, counts=counts)(words)
        for i, s in enumerate(words):
            for j, t in enumerate(words):
                common = sum(
                    s[a : a + 3] == t[b : b + 3]
                    for a in range(len(s) - 2)
                    for b in range(len(t) - 2)
                )
                size = 1 if counts else (len(s) - 2) * (len(t) - 2)
                assert gram[i, j] == pytest.approx(common / size)
    assert mercer_check(gram).valid
    letters = SpectrumKernel(1, counts=True)([[1, 2, 2], (2, "x")])
    assert letters.tolist() == [[5.0, 2.0], [2.0, 2.0]]
    assert SpectrumKernel(2)(["a"], ["ab"]).tolist() == [[0.0]]
    names = [w + "zz" for w in ("abab", "ababab", "abababab")] + ["qqq", "qqqq", "qqqqq"]
    model = SVC(kernel="precomputed").fit(SpectrumKernel(2)(names), [0, 0, 0, 1, 1, 1])
    assert model.predict(SpectrumKernel(2)(["ababzz", "qqqqqq"], names)).tolist() == [0, 1]


def random_graph(rng, n, p=0.5):
    upper = np.triu(rng.random((n, n)) < p, 1).astype(int)
    return upper + upper.T


@pytest.mark.covers("graph-kernel-subgraph")
def test_graphlets_are_the_shares_of_all_induced_subgraphs(rng):
    graph = random_graph(rng, 8)
    by_edges = np.zeros(4)
    for nodes in itertools.combinations(range(8), 3):
        by_edges[graph[np.ix_(nodes, nodes)].sum() // 2] += 1
    features = GraphletKernel(3).features(graph)
    np.testing.assert_allclose([features.get(k, 0.0) for k in range(4)], by_edges / 56)
    # relabelled nodes change nothing, in any size
    order = rng.permutation(8)
    same = graph[np.ix_(order, order)]
    for size in (2, 3, 4):
        kernel = GraphletKernel(size)
        assert kernel.features(same) == pytest.approx(kernel.features(graph))
        assert sum(kernel.features(graph).values()) == pytest.approx(1)
    # eleven graphs of four nodes there are, and six edges on four of eight nodes is a clique
    whole = np.ones((6, 6), dtype=int) - np.eye(6, dtype=int)
    assert GraphletKernel(4).features(whole) == {(4, (1,) * 6): 1.0}
    triangle = np.ones((3, 3), dtype=int) - np.eye(3, dtype=int)
    chosen = GraphletKernel(patterns=(triangle,))
    assert chosen([graph], [whole])[0, 0] == pytest.approx(by_edges[3] / 56)
    gram = GraphletKernel(4)([random_graph(rng, 6) for _ in range(8)])
    assert mercer_check(gram).valid
    with pytest.raises(DataError, match="undirected"):
        GraphletKernel()([np.array([[0, 1], [0, 0]])])


@pytest.mark.covers("graph-kernel-random-walk")
def test_the_random_walk_kernel_is_the_sum_over_common_walks(rng):
    one, other = random_graph(rng, 4), random_graph(rng, 5)
    one[0, 1] = one[1, 0] = other[0, 1] = other[1, 0] = 1
    product = np.kron(one, other)
    radius = np.abs(np.linalg.eigvalsh(product)).max()
    decay = 0.5 / radius
    power, total = np.eye(20), 0.0
    for k in range(200):
        total += decay**k * power.sum()
        power = power @ product
    assert RandomWalkKernel(decay)([one], [other])[0, 0] == pytest.approx(total)
    closed = np.ones(20) @ np.linalg.solve(np.eye(20) - decay * product, np.ones(20))
    assert RandomWalkKernel(decay)([one], [other])[0, 0] == pytest.approx(closed)
    with pytest.raises(DataError, match="below"):
        RandomWalkKernel(1.01 / radius)([one], [other])
    assert mercer_check(RandomWalkKernel()([one, other, random_graph(rng, 6)])).valid


@pytest.mark.covers("kernel-svm")
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "median"])
def test_sparse_rows_make_the_machine_of_dense_ones(kernel, rng, monkeypatch):
    X = rng.integers(1, 4, (90, 12)) * (rng.random((90, 12)) < 0.3) * 0.5
    X[80:] = X[:10]
    y = (X[:, 0] + X[:, 1] - X[:, 2] + 0.3 * rng.normal(size=90) > 0.3).astype(int)
    y[:2] = 0, 1
    given = RBF("median") if kernel == "median" else kernel
    settings = {"kernel": given, "tol": 1e-7, "C": 0.5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)  # a sigmoid need not be a kernel
        dense = SVC(**settings).fit(X, y)
        monkeypatch.setattr("gnomon.margin.distinct.DENSE_CELLS", 0)
        sparse = SVC(**settings).fit(sp.csr_array(X), y)
    assert sp.issparse(sparse.support_vectors_)
    assert sparse.dual_objective_[0] == pytest.approx(dense.dual_objective_[0], rel=1e-5)
    if kernel != "sigmoid":
        expected = dense.decision_function(X)
        for rows in (X, sp.csr_array(X)):
            np.testing.assert_allclose(sparse.decision_function(rows), expected, atol=1e-4)
    np.testing.assert_allclose(dense.decision_function(sp.csr_array(X)), dense.decision_function(X))


@pytest.mark.covers("kernel-svm")
def test_a_kernel_that_looks_at_every_cell_refuses_many_sparse_rows(monkeypatch):
    monkeypatch.setattr("gnomon.margin.distinct.DENSE_CELLS", 0)
    with pytest.raises(DataError, match="ANOVA takes no sparse rows"):
        SVC(kernel=ANOVA()).fit(sp.csr_array(np.eye(4)), [0, 1, 0, 1])


@pytest.mark.covers("svm-working-set-decomposition")
def test_the_dual_objective_rises_from_working_set_to_working_set(rng):
    X = rng.normal(size=(1500, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=1500))
    model = SVC(C=10.0, keep_history="full").fit(X, y)
    course = np.asarray(model.history_)
    assert model.n_iter_ == len(course) > 1
    assert (np.diff(course) >= -1e-9 * np.abs(course[1:])).all()
    assert course[-1] == pytest.approx(model.dual_objective_.sum())
    assert model.history_.stopped == "converged"
    assert model.history_.states[-1]["kkt_violation"][0] == model.kkt_violation_[0] <= model.tol
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        short = SVC(C=10.0, max_iter=1).fit(X, y)
    assert short.n_iter_ == 1
    assert short.history_.stopped == "max_iter"
    assert short.dual_objective_[0] <= model.dual_objective_[0]


@pytest.mark.parametrize("n_groups", [1, 2])
def test_pairs_with_variables_set_aside_end_where_no_pair_violates(n_groups, rng):
    """Thousands of steps of few columns, so that most variables are set aside and come back."""
    n = 120
    rows = rng.normal(size=(n, 6)) * [1, 1, 2, 2, 4, 4]
    sign = np.where(rows[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    matrix = rows @ rows.T
    group = (np.arange(n) % n_groups).astype(np.int64)
    alpha, values = np.zeros(n), sign.copy()
    pairs, steps = np.empty((10**6, 2), np.int64), np.empty(10**6)
    count, gap = solve_pairs(
        matrix, values, alpha, np.ones(n), sign, group, n_groups, 1e-3, 10**6, 1,
        pairs, steps,
    )  # fmt: skip
    assert count > 3 * n  # so that variables were set aside
    expected = sign - matrix @ (sign * alpha)
    np.testing.assert_allclose(values, expected, atol=1e-7)
    rises = np.where(sign > 0, alpha < 1, alpha > 0)
    falls = np.where(sign > 0, alpha > 0, alpha < 1)
    for g in range(n_groups):
        here = group == g
        assert expected[rises & here].max() - expected[falls & here].min() <= 1e-3 + 1e-7
        assert abs(sign[here] @ alpha[here]) < 1e-7
    # the steps that were taken down lead there
    again = np.zeros(n)
    np.add.at(again, pairs[:count, 0], steps[:count])
    np.subtract.at(again, pairs[:count, 1], steps[:count])
    np.testing.assert_allclose(sign * again, alpha, atol=1e-7)
    assert gap <= 1e-3


def test_liblinear_is_given_sparse_rows_whose_indices_have_64_bits(rng):
    rows = sp.csr_array(rng.poisson(0.3, (40, 12)).astype(float))
    y = (rows[:, [0]].toarray().ravel() > rows[:, [1]].toarray().ravel()).astype(int)
    long = (each.astype(np.int64) for each in (rows.indices, rows.indptr))
    same = sp.csr_array((rows.data, *long), shape=rows.shape)
    assert same.indices.dtype == np.int64
    model = LinearSVC(multi_class="crammer_singer", random_state=0)
    expected = clone(model).fit(rows, y).coef_
    np.testing.assert_array_equal(model.fit(same, y).coef_, expected)
