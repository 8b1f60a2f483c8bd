"""Ensembles as the texts work them: 000b 12, 001 12-13, 002 "Ensembles", 003 2.5, 004 11."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

from gnomon.ensemble import (
    AdaBoostClassifier,
    BackfittingRegressor,
    BaggingClassifier,
    FeatureWeightedStackingRegressor,
    GreedyStagewiseRegressor,
    LogitBoostClassifier,
    OutputCodeClassifier,
    StagewiseClassifier,
    average_variance,
    cascade_rates,
    check_weak_learner,
    find_cycle,
    majority_probability,
    probabilistic_team,
    qualified_majority,
    simulate_majority,
    two_thresholds,
    unanimity,
)
from gnomon.ensemble.feature_weighted import products
from gnomon.ensemble.output_codes import codeword_distances, exhaustive_code, minimal_code
from gnomon.evaluate import rejection_curve
from gnomon.trees import DecisionTreeClassifier


class WrongOnOne(ClassifierMixin, BaseEstimator):
    """Three hypotheses on three points, each wrong on one: takes the one that costs least."""

    def fit(self, X, y, sample_weight=None):
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_ = np.unique(y)
        self.table_ = {float(x): label for x, label in zip(np.asarray(X)[:, 0], y)}
        self.spoilt_ = float(np.asarray(X)[np.argmin(weights), 0])
        return self

    def predict(self, X):
        found = [self.table_[float(x)] for x in np.asarray(X)[:, 0]]
        spoilt = np.asarray(X)[:, 0] == self.spoilt_
        return np.where(spoilt, 1 - np.array(found), found)


class WrongOnFirst(ClassifierMixin, BaseEstimator):
    """Knows the labels of a line of points and spoils the first few."""

    def __init__(self, n_wrong=3):
        self.n_wrong = n_wrong

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.table_ = {float(x): label for x, label in zip(np.asarray(X)[:, 0], y)}
        return self

    def predict(self, X):
        x = np.asarray(X)[:, 0]
        found = np.array([self.table_[float(each)] for each in x])
        return np.where(x < self.n_wrong, 1 - found, found)


@pytest.mark.covers("adaboost")
def test_one_round_of_004_d17():
    rows = np.arange(10.0)[:, None]
    model = AdaBoostClassifier(WrongOnFirst(), n_estimators=1, keep_history="full").fit(
        rows, [0, 1] * 5
    )
    assert model.estimator_errors_[0] == pytest.approx(0.3)
    assert model.estimator_weights_[0] / 2 == pytest.approx(0.423649, abs=1e-6)
    weights = model.history_.states[0]["weights"]
    np.testing.assert_allclose(weights[:3], 1 / 6, rtol=1e-6)
    np.testing.assert_allclose(weights[3:], 1 / 14, rtol=1e-6)
    assert model.history_[0] == pytest.approx(0.916515, abs=1e-6)


@pytest.mark.covers("adaboost-weight-cycles")
def test_three_points_of_002_end_in_a_cycle_of_three_with_golden_weights():
    rows = np.arange(3.0)[:, None]
    model = AdaBoostClassifier(WrongOnOne(), n_estimators=60, keep_history="full").fit(
        rows, [0, 1, 1]
    )
    weights = np.array([state["weights"] for state in model.history_.states])
    cycle = find_cycle(weights, tol=1e-5)
    assert cycle is not None
    assert cycle.period == 3
    root = np.sqrt(5)
    np.testing.assert_allclose(
        np.sort(weights[-1]), [(3 - root) / 4, (root - 1) / 4, 1 / 2], atol=1e-5
    )


@pytest.mark.covers("adaboost", "adaboost-margin-monitor")
def test_after_each_round_of_002_the_last_learner_errs_on_half_of_the_new_weight(rng):
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=15, keep_history="full").fit(X, y)
    said = model._codes_of_all(X)
    for m, state in enumerate(model.history_.states[: len(model.estimator_weights_)]):
        assert state["weights"][said[:, m] != y].sum() == pytest.approx(0.5, abs=1e-9)
    errors = model.estimator_errors_
    np.testing.assert_allclose(
        np.asarray(model.history_), np.cumprod(2 * np.sqrt(errors * (1 - errors))), rtol=1e-12
    )
    assert (np.diff(np.asarray(model.history_)) <= 1e-12).all()
    assert (model.staged_errors(X, y) <= np.asarray(model.history_) + 1e-12).all()
    margins = model.staged_margins(X, y)
    assert margins.shape == (len(errors), 120)
    np.testing.assert_array_equal(margins[-1] > 0, model.predict(X) == y)


@pytest.mark.covers("adaboost")
def test_importance_of_a_column_in_002_is_the_say_of_its_stumps(rng):
    X = rng.normal(size=(200, 4))
    y = (X[:, 1] + 0.5 * X[:, 3] + 0.3 * rng.normal(size=200) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    by_hand = np.zeros(4)
    for feature, alpha in zip(model.stumps_.feature, model.estimator_weights_):
        by_hand[feature] += alpha
    np.testing.assert_allclose(model.feature_importances_, by_hand / by_hand.sum(), rtol=1e-12)
    assert set(np.argsort(by_hand)[-2:]) == {1, 3}


@pytest.mark.covers("forward-stagewise-additive", "gradient-boosting-general")
def test_exponential_loss_stage_by_stage_is_adaboost_with_half_alpha(rng):
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    stump = DecisionTreeClassifier(criterion="misclassification", max_depth=1)
    boosted = AdaBoostClassifier(stump, n_estimators=12).fit(X, y)
    stagewise = StagewiseClassifier(
        stump, "exponential", 12, learning_rate=1.0, direction="vote", start="zero"
    ).fit(X, y)
    n = len(boosted.estimator_weights_)
    np.testing.assert_allclose(stagewise.steps_[:n], boosted.estimator_weights_ / 2, rtol=1e-6)
    np.testing.assert_allclose(stagewise.predict_proba(X), boosted.predict_proba(X), atol=1e-6)


@pytest.mark.covers("adaboost-resampling")
def test_learners_without_weights_are_boosted_by_drawing_rows(rng):
    from sklearn.neighbors import KNeighborsClassifier

    X = rng.normal(size=(150, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = AdaBoostClassifier(KNeighborsClassifier(7), n_estimators=30, random_state=0).fit(X, y)
    assert len(model.members_) >= 1
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match="KNeighborsClassifier"):
        AdaBoostClassifier(KNeighborsClassifier(), reweighting="weights").fit(X, y)


@pytest.mark.covers("weak-learner-check")
def test_a_weak_learner_of_002_beats_a_coin_on_the_weighted_rows():
    X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    found = check_weak_learner(DecisionTreeClassifier(max_depth=1), X, y, [1, 2, 3, 4])
    assert found.takes_weights
    assert found.error == 0
    assert found.is_weak_learner
    hopeless = check_weak_learner(DecisionTreeClassifier(max_depth=1), np.zeros((4, 1)), y)
    assert not hopeless.is_weak_learner
    assert hopeless.chance == 0.5


@pytest.mark.covers("condorcet-jury", "majority-vote")
@pytest.mark.parametrize(
    ("p", "m", "error"),
    [
        (0.6, 1, 0.4),
        (0.6, 3, 0.352),
        (0.6, 5, 0.31744),
        (0.6, 11, 0.246502),
        (0.6, 21, 0.174378),
        (0.6, 101, 0.020897),
        (0.55, 101, 0.156245),
        (0.55, 1001, 0.000755),
        (0.4, 101, 0.979103),
    ],
)
def test_error_of_the_majority_as_004_d12_has_it(p, m, error):
    assert 1 - majority_probability(p, m) == pytest.approx(error, abs=1e-6)


@pytest.mark.covers("condorcet-jury")
def test_correlated_juries_are_simulated_as_they_are_computed(rng):
    for correlation in (0.0, 0.3):
        found = simulate_majority(0.6, 11, correlation, 40_000, random_state=rng)
        exact = majority_probability(0.6, 11, correlation)
        assert abs(found.probability - exact) < 5 * found.standard_error
        assert found.correlation == pytest.approx(correlation, abs=0.03)
    assert majority_probability(0.6, 11, 0.3) < majority_probability(0.6, 11)


@pytest.mark.covers("classifier-cascade")
def test_ten_stages_of_002_w2():
    rates = cascade_rates(0.99, 0.30, 10)
    assert rates.detection == pytest.approx(0.904382, abs=1e-6)
    assert rates.false_positive == pytest.approx(5.9049e-6, rel=1e-6)


@pytest.mark.covers("bagging")
def test_a_bootstrap_sample_of_002_w3_shows_its_share_of_the_rows(rng):
    n = 100
    X = rng.normal(size=(n, 1))
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=1), 200, random_state=int(rng.integers(2**31))
    )
    shares = model.fit(X, rng.integers(0, 2, n)).distinct_shares_
    error = shares.std() / np.sqrt(len(shares))
    assert abs(shares.mean() - (1 - 0.366032)) < 5 * error


@pytest.mark.covers("correlated-average-variance")
def test_variance_of_an_average_of_001_section_12_3(rng):
    assert average_variance(2.0, 0.0, 8) == pytest.approx(0.25)
    assert average_variance(2.0, 1.0, 8) == pytest.approx(2.0)
    common, own = rng.normal(size=(40_000, 1)), rng.normal(size=(40_000, 6))
    together = np.sqrt(0.3) * common + np.sqrt(0.7) * own
    assert together.mean(axis=1).var() == pytest.approx(average_variance(1.0, 0.3, 6), rel=0.05)


@pytest.mark.covers("error-correcting-output-codes")
def test_the_shortest_code_of_000a_corrects_nothing_and_the_exhaustive_one_does():
    assert codeword_distances(minimal_code(5)).min() == 1
    for n_classes in (3, 4, 5):
        assert set(codeword_distances(exhaustive_code(n_classes))) == {2 ** (n_classes - 2)}
    rows = np.repeat(np.eye(5) * 4, 6, axis=0)
    y = np.repeat(np.arange(5), 6)
    model = OutputCodeClassifier(None, code="auto", decoding="hamming").fit(rows, y)
    assert (model.min_distance_, model.n_corrected_) == (8, 3)
    for spoilt in range(3):
        member = model.members_[spoilt].estimator
        member.predict = lambda rows, own=member.predict: 1 - own(rows)
    np.testing.assert_array_equal(model.predict(rows), y)


@pytest.mark.covers("feature-weighted-stacking")
def test_weights_of_004_minimize_the_square_of_the_sum_not_the_sum_of_squares(rng):
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, 3 * X[:, 1], -X[:, 1]) + 0.1 * rng.normal(size=60)
    folds = [(np.flatnonzero(np.arange(60) % 3 != k), np.arange(60)[k::3]) for k in range(3)]
    learners = [LinearRegression(), KNeighborsRegressor(3)]
    model = FeatureWeightedStackingRegressor(learners, alpha=0.5, cv=folds).fit(X, y)
    outputs = np.empty((60, 2))
    for learn, held in folds:
        for m, learner in enumerate(learners):
            outputs[held, m] = learner.fit(X[learn], y[learn]).predict(X[held])
    unit = np.abs(y - y.mean()).max()
    made = products(model.meta_features_(X), (outputs - y.mean()) / unit)
    target = (y - y.mean()) / unit
    start = np.zeros(6)
    start[[0, 3]] = 0.5
    v = model.coefficients_.ravel()
    gradient = made.T @ (made @ v - target) + 0.5 * (v - start)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)


@pytest.mark.covers("greedy-stagewise-linear")
def test_residuals_of_000b_never_grow_and_all_columns_at_once_leave_nothing_to_do(rng):
    X = rng.normal(size=(80, 6))
    y = X @ rng.normal(size=6) + rng.normal(size=80)
    model = GreedyStagewiseRegressor(2, random_state=int(rng.integers(2**31))).fit(X, y)
    assert (np.diff(np.asarray(model.history_)) <= 1e-12).all()
    least = LinearRegression().fit(X, y)
    everything = GreedyStagewiseRegressor(6, max_iter=2).fit(X, y)
    assert everything.history_[0] == pytest.approx(everything.history_[1], rel=1e-9)
    np.testing.assert_allclose(everything.coef_, least.coef_, rtol=1e-8)
    turns = GreedyStagewiseRegressor(subsets=[[j] for j in range(6)], max_iter=600).fit(X, y)
    np.testing.assert_allclose(turns.coef_, least.coef_, atol=1e-6)


@pytest.mark.covers("backfitting")
def test_backfitting_of_lines_in_004_ends_at_least_squares(rng):
    X = rng.normal(size=(100, 3)) + 0.5 * rng.normal(size=(100, 1))
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=100)
    model = BackfittingRegressor(LinearRegression(), max_iter=500, tol=1e-14).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-4)
    terms = model.contributions(X)
    np.testing.assert_allclose(terms.sum(axis=1) + model.constant_, model.predict(X), atol=1e-9)
    np.testing.assert_allclose(terms.mean(axis=0), 0, atol=1e-8)


@pytest.mark.covers("logitboost-additive-logistic")
@pytest.mark.parametrize("kind", ["logit", "gentle", "real"])
def test_probabilities_of_004_have_the_factor_two(kind, rng):
    X = rng.normal(size=(4000, 2))
    p = 1 / (1 + np.exp(-2 * X[:, 0]))
    y = (rng.random(4000) < p).astype(int)
    model = LogitBoostClassifier(kind=kind, n_estimators=10).fit(X, y)
    score = sum(model._term(member, X) for member in model.members_)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * score)), rtol=1e-9
    )
    middle = np.abs(X[:, 0]) < 1
    assert np.abs(model.predict_proba(X)[middle, 1] - p[middle]).mean() < 0.15


@pytest.mark.covers("committee-reject-rules")
def test_rules_of_004_section_11_7_accept_what_they_should(rng):
    votes = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 1], [0, 1, 2, 3]])
    np.testing.assert_array_equal(unanimity(votes).accepted, [True, False, False, False])
    np.testing.assert_array_equal(
        qualified_majority(votes, 0.75).accepted, [True, True, False, False]
    )
    proba = np.array([[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.2, 0.8]]])
    verdict = two_thresholds(proba, 0.55, 0.3, classes=["no", "yes"])
    assert verdict.accepted.tolist() == [True, False]
    assert verdict.labels.tolist() == ["no", "yes"]
    many = rng.integers(0, 2, size=(4000, 5))
    strict, lax = unanimity(many), qualified_majority(many, 0.6)
    between = probabilistic_team([strict, lax], [0.5, 0.5], random_state=rng)
    middle = (strict.rejection_rate + lax.rejection_rate) / 2
    assert between.rejection_rate == pytest.approx(middle, abs=0.05)


@pytest.mark.covers("committee-reject-rules")
def test_the_accuracy_rejection_curve_begins_at_plain_accuracy_and_rises_for_true_posteriors(rng):
    p = rng.uniform(0.5, 1, 20_000).round(2)
    right = (rng.random(20_000) < p).astype(int)
    curve = rejection_curve(np.ones(20_000, int), right, p)
    accuracy = np.array([each.value for each in curve.accuracy])
    assert curve.rejected[0] == 0
    assert accuracy[0] == pytest.approx(right.mean())
    tenths = np.searchsorted(curve.rejected, np.arange(0, 0.9, 0.1))
    assert (np.diff(accuracy[tenths]) > 0).all()
    assert curve.rejection_for(0.9) > 0
