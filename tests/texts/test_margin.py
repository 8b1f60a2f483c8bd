"""Worked examples of the texts: planes, margins, perceptrons, kernels and machines."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.margin import (
    ANOVA,
    RBF,
    SVC,
    SVR,
    BatchPerceptron,
    Hyperplane,
    Linear,
    LinearDiscriminant,
    LinearThreshold,
    OneVsOneClassifier,
    OneVsRestClassifier,
    PocketPerceptron,
    Polynomial,
    Sigmoid,
    SquaredSlackSVM,
    hard_margin,
    hull_margin,
    margins,
    novikoff_bound,
)

HULLS = np.array([[0, 0], [1, 0], [0, 1], [3, 3], [4, 3], [3, 4]], dtype=float)
SIDES = np.array([-1, -1, -1, 1, 1, 1])
ONE, OTHER = np.array([[1.0, 2.0]]), np.array([[0.5, -1.0]])


@pytest.mark.covers("hull-svm")
def test_nearest_points_of_two_hulls_give_the_plane_of_002():
    found = hull_margin(HULLS, SIDES)
    np.testing.assert_allclose(found.nearest.first, [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(found.nearest.second, [3, 3], atol=1e-6)
    np.testing.assert_allclose(found.hull_normal, [2.5, 2.5], atol=1e-6)
    assert found.hull_threshold == pytest.approx(8.75, abs=1e-6)
    assert found.nearest.distance == pytest.approx(3.535534, abs=1e-6)
    np.testing.assert_allclose(found.plane.normal, [0.4, 0.4], atol=1e-6)
    assert found.plane.threshold == pytest.approx(1.4, abs=1e-6)
    assert found.margin == pytest.approx(1.767767, abs=1e-6)
    np.testing.assert_allclose(found.dual_alpha, [0, 0.08, 0.08, 0.16, 0, 0], atol=1e-6)
    assert found.alpha.sum() == pytest.approx(2)


@pytest.mark.covers("hard-margin-svm")
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_the_hard_margins_of_002_and_004_come_out_of_both_forms(form):
    found = hard_margin(HULLS, SIDES, form=form)
    np.testing.assert_allclose(found.alpha, [0, 0.08, 0.08, 0.16, 0, 0], atol=1e-6)
    assert found.dual_objective == pytest.approx(0.16, abs=1e-6)
    assert found.primal_objective == pytest.approx(0.16, abs=1e-6)
    X = np.array([[2, 2], [3, 3], [2, 3], [0, 0], [-1, 0], [0, -1]], dtype=float)
    found = hard_margin(X, [1, 1, 1, -1, -1, -1], form=form)
    np.testing.assert_allclose(found.plane.normal, [0.5, 0.5], atol=1e-7)
    assert found.plane.intercept == pytest.approx(-1, abs=1e-7)
    np.testing.assert_allclose(found.alpha, [0.25, 0, 0, 0.25, 0, 0], atol=1e-6)
    assert 2 * found.margin == pytest.approx(2.828427, abs=1e-6)
    assert found.kkt_violation < 1e-6


@pytest.mark.covers("hard-margin-svm")
def test_a_hard_margin_says_where_classes_meet_and_the_kernel_form_agrees():
    with pytest.raises(DataError, match="point"):
        hard_margin([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    model = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(HULLS, SIDES)
    np.testing.assert_allclose(model.dual_coef_[0] @ model.support_vectors_, [0.4, 0.4], atol=1e-6)
    with pytest.raises(DataError, match="finite C"):
        SVC(C=np.inf, kernel="linear", max_iter=2).fit([[0], [1], [0.5], [2]], [0, 0, 1, 1])


@pytest.mark.covers("kernel-linear", "kernel-polynomial", "kernel-rbf")
def test_kernels_of_004_at_two_points():
    assert Linear()(ONE, OTHER)[0, 0] == -1.5
    assert Polynomial(2)(ONE, OTHER)[0, 0] == pytest.approx(0.25)
    x, y = ONE[0], OTHER[0]

    def features(v):
        a, b = v
        root = np.sqrt(2)
        return np.array([1, root * a, root * b, a * a, b * b, root * a * b])

    assert features(x) @ features(y) == pytest.approx(0.25)
    assert RBF(0.5)(ONE, OTHER)[0, 0] == pytest.approx(0.009804, abs=1e-6)
    assert RBF(sigma=1.0)(ONE, OTHER)[0, 0] == pytest.approx(0.009804, abs=1e-6)


@pytest.mark.covers("kernel-anova", "kernel-sigmoid")
def test_the_anova_kernel_has_its_square_and_the_sigmoid_its_value():
    assert ANOVA(0.5, 2)(ONE, OTHER)[0, 0] == pytest.approx(0.798532, abs=1e-6)
    assert ANOVA(0.5, 2)(OTHER, ONE)[0, 0] == ANOVA(0.5, 2)(ONE, OTHER)[0, 0]
    assert Sigmoid(0.1)(ONE, OTHER)[0, 0] == pytest.approx(-0.148885, abs=1e-6)


@pytest.mark.covers("kernel-sigmoid")
def test_a_sigmoid_that_is_no_kernel_is_told_of(rng):
    X = rng.normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(GnomonWarning, match="positive semi-definite"):
        SVC(kernel=Sigmoid(1.0, -1.0), max_iter=5).fit(X, y)


@pytest.mark.covers("hyperplane-geometry")
def test_distances_do_not_change_with_the_length_of_the_normal(rng):
    normal, c = rng.normal(size=3), float(rng.normal())
    X = rng.normal(size=(20, 3))
    plane = Hyperplane.from_threshold(normal, c)
    length = np.linalg.norm(normal)
    np.testing.assert_allclose(plane.signed_distance(X), (X @ normal - c) / length)
    scaled = Hyperplane.from_threshold(7 * normal, 7 * c)
    np.testing.assert_allclose(scaled.signed_distance(X), plane.signed_distance(X))
    np.testing.assert_allclose(scaled.score(X), 7 * plane.score(X))
    # linear plane: cos(angle) |x|
    linear = Hyperplane(normal)
    cosine = X @ normal / (length * np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(linear.signed_distance(X), cosine * np.linalg.norm(X, axis=1))
    # affine plane H + w with w = t v: sgn(<x, v> - t |v|^2)
    moved = Hyperplane.from_point(normal, 0.3 * normal)
    np.testing.assert_array_equal(moved.side(X), np.sign(X @ normal - 0.3 * length**2))
    unit = plane.unit()
    np.testing.assert_allclose(unit.score(X), plane.signed_distance(X))
    assert np.linalg.norm(unit.normal) == pytest.approx(1)
    homogeneous = np.column_stack([np.ones(20), X]) @ plane.homogeneous
    np.testing.assert_allclose(homogeneous, plane.score(X))
    back = Hyperplane.from_homogeneous(plane.homogeneous)
    np.testing.assert_allclose(back.score(X), plane.score(X))
    np.testing.assert_allclose(plane.score(plane.project(X)), 0, atol=1e-12)


@pytest.mark.covers("linear-threshold-classifier")
def test_a_threshold_unit_computes_and_or_and_is_what_linear_classifiers_are(rng):
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert LinearThreshold([1, 1], 1.5, (0, 1)).predict(corners).tolist() == [0, 0, 0, 1]
    assert LinearThreshold([1, 1], 0.5, (0, 1)).predict(corners).tolist() == [0, 1, 1, 1]
    model = PocketPerceptron().fit(HULLS, np.where(SIDES > 0, "yes", "no"))
    unit = LinearThreshold.of(model)
    X = rng.normal(2, 3, size=(50, 2))
    np.testing.assert_array_equal(unit.predict(X), model.predict(X))
    with pytest.raises(DataError, match="two classes"):
        LinearThreshold([1.0], 0.0, (1, 2, 3))


@pytest.mark.covers("multiclass-linear-discriminant")
def test_the_greatest_score_decides_and_unlike_lengths_are_told_of(rng):
    weights, offsets = rng.normal(size=(4, 3)) * [[1], [2], [3], [9]], rng.normal(size=4)
    scores = LinearDiscriminant(weights, offsets, list("abcd"))
    X = rng.normal(size=(60, 3))
    with pytest.warns(GnomonWarning, match="normalized"):
        said = scores.predict(X)
    best = [max(range(4), key=lambda k: weights[k] @ x + offsets[k]) for x in X]
    np.testing.assert_array_equal(said, np.array(list("abcd"))[best])
    unit = scores.normalized()
    distances = np.column_stack(
        [Hyperplane(weights[k], offsets[k]).signed_distance(X) for k in range(4)]
    )
    np.testing.assert_allclose(unit.scores(X), distances)


@pytest.mark.covers("classifier-margin")
def test_margins_of_a_plane_and_of_its_multiples():
    plane = hull_margin(HULLS, SIDES).plane
    found = margins(plane, HULLS, SIDES)
    assert found.functional_margin == pytest.approx(1, abs=1e-6)
    assert found.geometric_margin == pytest.approx(1.767767, abs=1e-6)
    scaled = margins(Hyperplane(5 * plane.normal, 5 * plane.intercept), HULLS, SIDES)
    np.testing.assert_allclose(scaled.geometric, found.geometric)
    np.testing.assert_allclose(scaled.functional, 5 * found.functional)
    # the lesser of the two hulls' distances, not the same hull twice
    moved = Hyperplane(plane.normal, plane.intercept + 0.2)
    sides = [np.abs(moved.signed_distance(HULLS[s == SIDES])).min() for s in (-1, 1)]
    assert margins(moved, HULLS, SIDES).geometric_margin == pytest.approx(min(sides))
    assert margins(moved, HULLS, -SIDES).n_errors == 6


@pytest.mark.covers("classifier-margin")
def test_the_geometric_margin_of_a_kernel_machine_is_a_distance_in_its_feature_space(rng):
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = SVC(C=5.0, kernel=Polynomial(2), tol=1e-8).fit(X, y)
    root = np.sqrt(2)
    features = np.column_stack([np.ones(40), root * X, X**2, root * X[:, 0] * X[:, 1]])
    w = model.dual_coef_[0] @ features[model.support_]
    found = margins(model, X, y)
    assert found.norm == pytest.approx(np.linalg.norm(w))
    signed = np.where(y == 1, 1, -1) * (features @ w + model.intercept_[0])
    np.testing.assert_allclose(found.geometric, signed / np.linalg.norm(w), atol=1e-9)


@pytest.mark.covers("perceptron")
@pytest.mark.parametrize("pick", ["cyclic", "random", "first"])
def test_a_perceptron_ends_on_separable_rows_within_novikoffs_count(pick, rng):
    model = PocketPerceptron(pick, max_iter=5000, random_state=int(rng.integers(1000)))
    model.fit(HULLS, SIDES)
    assert model.separated_
    assert (model.predict(HULLS) == SIDES).all()
    bound = novikoff_bound(HULLS, SIDES, hull_margin(HULLS, SIDES).plane)
    assert 1 <= model.n_corrections_ <= bound
    # adding every row without the test, as printed, would never end: corrections are fewer
    assert model.n_corrections_ < 6 * model.n_iter_ or model.n_iter_ == 1


@pytest.mark.covers("perceptron")
def test_a_perceptron_says_that_xor_is_not_separated():
    X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    with pytest.warns(UserWarning, match="not separated"):
        model = PocketPerceptron(max_iter=20).fit(X, y)
    assert not model.separated_
    assert model.n_iter_ == 20
    # the pocket keeps the plane of fewest errors, and no plane has fewer than one
    assert (model.predict(X) != y).sum() <= 2


@pytest.mark.covers("batch-perceptron")
@pytest.mark.parametrize("rate", ["constant", "falling"])
def test_the_batch_perceptron_descends_to_cost_zero(rate):
    model = BatchPerceptron(rate, max_iter=20_000, keep_history="full").fit(HULLS, SIDES)
    assert model.separated_
    assert model.history_[-1] == 0
    rows = np.column_stack([HULLS, np.ones(6)])
    plane = np.zeros(3)
    for step, state in enumerate(model.history_.states):
        wrong = SIDES * (rows @ plane) <= 0
        length = 1.0 if rate == "constant" else 1.0 / (step + 1)
        plane = plane + length * (SIDES[wrong] @ rows[wrong])
        np.testing.assert_allclose(state["planes"][0], plane, atol=1e-9)


@pytest.mark.covers("one-vs-one")
@pytest.mark.parametrize(("n_classes", "n_pairs"), [(3, 3), (10, 45)])
def test_one_against_one_asks_a_question_for_every_pair(n_classes, n_pairs, rng):
    angles = 2 * np.pi * np.arange(n_classes) / n_classes
    centers = 10 * np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.repeat(centers, 5, axis=0) + rng.normal(0, 0.1, size=(5 * n_classes, 2))
    y = np.repeat(np.arange(n_classes), 5)
    model = OneVsOneClassifier(None).fit(X, y)
    assert len(model.estimators_) == n_pairs
    assert model.votes(X).sum(axis=1).tolist() == [n_pairs] * len(X)
    assert (model.predict(X) == y).all()


@pytest.mark.covers("one-vs-rest", "one-vs-one")
def test_regions_claimed_by_none_and_ties_of_votes_are_shown():
    angles = 2 * np.pi * np.arange(3) / 3
    X = 5 * np.column_stack([np.cos(angles), np.sin(angles)])
    y = np.array(["a", "b", "c"])
    rest = OneVsRestClassifier(None).fit(X, y)
    assert rest.claims(X).sum(axis=1).tolist() == [1, 1, 1]
    assert rest.claims([[0.0, 0.0]]).sum() == 0
    with_offset = OneVsRestClassifier(None, normalize=True).fit(X, y)
    assert with_offset.predict(X).tolist() == ["a", "b", "c"]
    # three planes of a ring of preferences: a beats b, b beats c, c beats a
    ring = OneVsOneClassifier(None).fit(X, y)
    for member, pair in zip(ring.estimators_, ring.pairs_):
        for_second = tuple(pair) == (0, 2)
        member.coef_ = np.zeros((1, 2))
        member.intercept_ = np.array([1.0 if for_second else -1.0])
    ring.estimators_[2].intercept_ = np.array([-3.0])
    assert ring.votes([[0.0, 0.0]]).tolist() == [[1, 1, 1]]
    assert ring.ties([[0.0, 0.0]]).tolist() == [True]
    assert ring.set_params(tie_rule="first").predict([[0.0, 0.0]]).tolist() == ["a"]
    assert ring.set_params(tie_rule="score").predict([[0.0, 0.0]]).tolist() == ["b"]
    ring.shares_ = np.array([0.2, 0.3, 0.5])
    assert ring.set_params(tie_rule="common").predict([[0.0, 0.0]]).tolist() == ["c"]


@pytest.mark.covers("support-vector-regression")
def test_slack_of_regression_widens_the_tube_and_never_narrows_it(rng):
    """004 prints epsilon - xi: with that sign rows outside the tube could not be paid for."""
    X = rng.uniform(-3, 3, size=(60, 1))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.2, size=60)
    model = SVR(C=2.0, epsilon=0.1, gamma=1.0, tol=1e-8).fit(X, y)
    residual = np.abs(y - model.predict(X))
    alpha = np.zeros(60)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    assert (residual[alpha == 0] <= 0.1 + 1e-6).all()
    assert (residual[alpha >= 2.0] >= 0.1 - 1e-6).all()
    free = (alpha > 1e-9) & (alpha < 2.0 - 1e-9)
    np.testing.assert_allclose(residual[free], 0.1, atol=1e-6)


@pytest.mark.covers("support-vector-regression")
def test_the_hard_tube_holds_every_row_where_it_can_and_is_refused_where_not():
    X = np.arange(6.0)[:, None]
    y = np.array([0.0, 1.2, 1.8, 3.1, 4.2, 4.9])
    model = SVR(C=np.inf, epsilon=0.3, kernel="linear", tol=1e-8).fit(X, y)
    assert np.abs(y - model.predict(X)).max() <= 0.3 + 1e-6
    with pytest.raises(DataError, match="finite C"):
        SVR(C=np.inf, epsilon=0.3, kernel="linear", max_iter=2).fit(
            [[0.0], [0.0], [1.0]], [0, 5, 1]
        )


@pytest.mark.covers("soft-margin-svm-squared", "kernel-svm-squared-slack")
def test_squared_slack_is_alpha_over_its_price_and_the_hulls_offset_is_wrong_there(rng):
    X = np.vstack([rng.normal(-1, 1, (25, 2)), rng.normal(1, 1, (25, 2))])
    sign = np.repeat([-1.0, 1.0], 25)
    gamma = 0.7
    for kernel in ("linear", RBF(sigma=1.5)):
        model = SquaredSlackSVM(gamma, kernel=kernel, tol=1e-9).fit(X, sign)
        alpha = np.zeros(50)
        alpha[model.support_] = np.abs(model.dual_coef_[0])
        slack = np.maximum(1 - sign * model.decision_function(X), 0)
        np.testing.assert_allclose(slack, alpha / gamma, atol=1e-6)
    linear = SquaredSlackSVM(gamma, kernel="linear", tol=1e-9).fit(X, sign)
    v = linear.dual_coef_[0] @ linear.support_vectors_
    scores = X @ v
    by_hulls = -(scores[sign < 0].max() + scores[sign > 0].min()) / 2
    assert abs(by_hulls - linear.intercept_[0]) > 1e-6
