"""Ensembles against brute force: what is computed fast or in parts equals what is spelt out."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor as TheirTree

import gnomon
from gnomon.bayes import NaiveBayes
from gnomon.engine.errors import DataError, GnomonWarning, ModelFileError
from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BayesianAveragingClassifier,
    BayesianCombinationClassifier,
    BayesianCombinationRegressor,
    BucketClassifier,
    BucketRegressor,
    CascadeClassifier,
    CVCommitteeClassifier,
    CVCommitteeRegressor,
    FeatureSubsetClassifier,
    GatingClassifier,
    GatingRegressor,
    LogitBoostClassifier,
    Loss,
    OutputCodeClassifier,
    ReferralClassifier,
    SeedEnsembleClassifier,
    StackingClassifier,
    StackingRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    VotingClassifier,
    VotingRegressor,
    error_correlation,
    lasso_prune,
    member_distribution,
    prediction_speed,
)
from gnomon.ensemble.cascade import StageRuns
from gnomon.ensemble.lots import Lots, Part
from gnomon.ensemble.pruning import _Problem
from gnomon.ensemble.stacking import convex_weights
from gnomon.ensemble.stumps import StumpFinder
from gnomon.linear import LogisticRegression
from gnomon.trees import DecisionTreeClassifier, DecisionTreeRegressor


def blobs(rng, n=90, d=3, k=3):
    y = np.arange(n) % k
    return rng.normal(scale=3, size=(k, d))[y] + rng.normal(size=(n, d)), y


class Spy(RegressorMixin, BaseEstimator):
    """Remembers the rows that it learnt from, and answers whether it knows a row."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = {row.tobytes() for row in np.ascontiguousarray(X)}
        return self

    def predict(self, X):
        return np.array([float(row.tobytes() in self.seen_) for row in np.ascontiguousarray(X)])


class Refuses(ClassifierMixin, BaseEstimator):
    """Cannot take anything."""

    def fit(self, X, y):
        raise TypeError("numbers like these are beneath me")

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.covers("bagging")
def test_a_bag_of_one_without_resampling_is_the_learner_itself(rng):
    X, y = blobs(rng)
    bag = BaggingClassifier(DecisionTreeClassifier(max_depth=3), 1, bootstrap=False).fit(X, y)
    alone = DecisionTreeClassifier(max_depth=3).fit(X, y)
    np.testing.assert_array_equal(bag.predict_proba(X), alone.predict_proba(X))


@pytest.mark.covers("bagging")
def test_out_of_bag_is_what_members_say_of_rows_that_they_have_not_seen(rng):
    X, _ = blobs(rng, n=40)
    y = X[:, 0] + rng.normal(size=40)
    model = BaggingRegressor(Spy(), 8, oob_score=True, random_state=int(rng.integers(2**31)))
    model.fit(X, y)
    known = np.column_stack([learner.predict(X) for learner in model.estimators_])
    has_outsider = (known == 0).any(axis=1)
    np.testing.assert_array_equal(np.isnan(model.oob_prediction_), ~has_outsider)
    np.testing.assert_array_equal(model.oob_prediction_[has_outsider], 0.0)
    np.testing.assert_allclose(model.distinct_shares_, known.mean(axis=0))


@pytest.mark.covers("bagging")
def test_members_may_be_of_several_kinds_and_libraries(rng):
    X, y = blobs(rng)
    labels = np.array(["a", "b", "c"])[y]
    kinds = [DecisionTreeClassifier(), GaussianNB(), KNeighborsClassifier(3)]
    model = BaggingClassifier(kinds, 6, oob_score=True, random_state=1).fit(X, labels)
    assert [type(each) for each in model.estimators_] == [type(each) for each in kinds] * 2
    assert model.score(X, labels) > 0.7
    assert len(model.oob_member_scores_) == 6


def test_a_member_that_saw_fewer_classes_gives_the_others_probability_zero(rng):
    X, y = blobs(rng, n=30)
    y = np.where(np.arange(30) == 0, 7, y)
    model = BaggingClassifier(GaussianNB(), 10, random_state=3).fit(X, y)
    lacking = [m for m in model.members_ if len(m.estimator.classes_) < 4]
    assert lacking
    for member in lacking:
        proba = member.proba(X, 4)
        assert proba.shape == (30, 4)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_member_that_cannot_take_the_data_is_named_with_its_reason(rng):
    X, y = blobs(rng)
    model = VotingClassifier([("good", NaiveBayes()), ("proud", Refuses())])
    with pytest.raises(DataError, match=r"'proud' \(Refuses\).*beneath me"):
        model.fit(X, y)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match=r"'linear' \(LogisticRegression\).*NaN"):
        VotingClassifier(None).fit(X, y)


def test_a_regressor_among_classifiers_is_refused():
    with pytest.raises(ValueError, match=r"'LinearRegression'.*not a classifier"):
        VotingClassifier([LinearRegression()]).fit([[0.0], [1.0]], [0, 1])


def test_members_of_other_libraries_take_mixed_tables_by_codes_of_their_own_rows(rng):
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "place": rng.choice(["north", "south"], 60),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), unit="D"),
        }
    )
    frame.loc[3, "size"] = np.nan
    y = np.where(frame["place"] == "north", "cold", "warm")
    model = BaggingClassifier(TheirLogistic(), 4, random_state=0).fit(frame, y)
    assert model.score(frame, y) == 1.0
    means = [member.encoder.codes[0].mean for member in model.members_]
    assert len(set(means)) == 4


def test_a_foreign_member_makes_saving_refuse_with_the_reason(rng, tmp_path):
    X, y = blobs(rng)
    model = VotingClassifier([("theirs", GaussianNB())]).fit(X, y)
    with pytest.raises(ModelFileError, match="GaussianNB"):
        model.save(tmp_path / "model.gnomon")


def test_nested_ensembles_are_saved_and_loaded(rng, tmp_path):
    X, y = blobs(rng)
    inner = BaggingClassifier(DecisionTreeClassifier(max_depth=2), 3)
    model = StackingClassifier(
        [("bag", inner), ("bayes", NaiveBayes())], "weights", random_state=0
    ).fit(X, y)
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_parameters_of_named_members_are_reached_by_name():
    model = VotingClassifier(
        [("tree", DecisionTreeClassifier()), ("bayes", NaiveBayes())], voting="soft"
    )
    model.set_params(tree__max_depth=2)
    assert model.get_params()["tree__max_depth"] == 2
    assert clone(model).estimators[0][1].max_depth == 2


@pytest.mark.covers("majority-vote", "probability-averaging")
def test_votes_and_means_are_those_of_the_members(rng):
    X, y = blobs(rng)
    learners = [DecisionTreeClassifier(max_depth=2), NaiveBayes(), LogisticRegression()]
    probas = np.array([clone(each).fit(X, y).predict_proba(X) for each in learners])
    weights = np.array([2.0, 1.0, 1.0]) / 4
    soft = VotingClassifier(learners, voting="soft", weights=weights).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(soft, np.tensordot(weights, probas, 1), atol=1e-8)
    hard = VotingClassifier(learners, voting="hard").fit(X, y)
    one_hot = (probas.argmax(axis=2)[:, :, None] == np.arange(3)).mean(axis=0)
    shares = (hard.votes(X)[:, :, None] == hard.classes_).mean(axis=1)
    np.testing.assert_allclose(shares, one_hot, atol=1e-12)
    np.testing.assert_array_equal(hard.predict(X), one_hot.argmax(axis=1))
    assert not hasattr(hard, "predict_proba")
    logs = np.log(np.maximum(probas, 1e-300)).mean(axis=0)
    geometric = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    found = VotingClassifier(learners, voting="geometric").fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found, geometric, atol=1e-6)
    shares = hard.agreement(X).shares
    same = probas.argmax(axis=2)[0] == probas.argmax(axis=2)[1]
    assert shares[0, 1] == pytest.approx(same.mean())
    assert "1.000" in str(hard.agreement(X))


class Says(ClassifierMixin, BaseEstimator):
    """Gives every row the same probabilities."""

    def __init__(self, proba=(0.5, 0.5)):
        self.proba = proba

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile(self.proba, (len(X), 1))

    def predict(self, X):
        return self.classes_[np.full(len(X), int(np.argmax(self.proba)))]


@pytest.mark.covers("majority-vote")
@pytest.mark.parametrize(("tie", "winner"), [("first", "a"), ("commonest", "b"), ("probable", "c")])
def test_ties_are_broken_by_the_rule_that_is_asked_for(tie, winner):
    y = ["a", "b", "b", "b", "c", "c"]
    members = [Says((0.6, 0.2, 0.2)), Says((0.1, 0.5, 0.4)), Says((0.0, 0.2, 0.8))]
    model = VotingClassifier(members, voting="hard", tie=tie).fit(np.zeros((6, 1)), y)
    assert model.predict(np.zeros((2, 1))).tolist() == [winner] * 2


def test_a_median_of_estimates_is_not_moved_by_one_wild_member(rng):
    X = rng.normal(size=(30, 1))
    model = VotingRegressor([LinearRegression(), LinearRegression(), Spy()], voting="median")
    model.fit(X, 5 * X[:, 0])
    np.testing.assert_allclose(model.predict(X + 7), 5 * (X[:, 0] + 7), rtol=1e-9)


@pytest.mark.covers("stacking")
@pytest.mark.parametrize("split", ["folds", "holdout"])
def test_level_one_never_sees_an_output_of_a_model_that_learnt_from_the_row(split, rng):
    X = rng.normal(size=(40, 2))
    model = StackingRegressor([Spy(), LinearRegression()], LinearRegression(), split=split)
    model.fit(X, rng.normal(size=40))
    assert model.final_.estimator.coef_[0] == 0  # the spy has said "unknown" of every row
    known = model.estimators_[0].predict(X).mean()
    assert known == (1.0 if split == "folds" else 0.5)


@pytest.mark.covers("stacking")
def test_convex_weights_are_the_best_on_a_grid_of_the_simplex(rng):
    outputs, y = rng.normal(size=(50, 3)), rng.normal(size=50)
    weights = rng.uniform(0.5, 2, 50)
    found = convex_weights(outputs, y, weights)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    grid = np.array([(a, b, 100 - a - b) for a in range(101) for b in range(101 - a)]) / 100
    losses = weights @ (outputs @ grid.T - y[:, None]) ** 2
    assert weights @ (outputs @ found - y) ** 2 <= losses.min() + 1e-9


@pytest.mark.covers("stacking")
def test_stacking_gives_all_weight_to_the_member_that_is_right(rng):
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 2.0, -1.0]
    model = StackingRegressor([("line", LinearRegression()), ("tree", TheirTree())], "weights").fit(
        X, y
    )
    assert model.weights_[0] == pytest.approx(1, abs=1e-6)


@pytest.mark.covers("stacking")
def test_levels_may_be_stacked_on_levels_and_columns_passed_through(rng):
    X, y = blobs(rng)
    upper = StackingClassifier([NaiveBayes(), DecisionTreeClassifier(max_depth=3)], "weights")
    model = StackingClassifier(None, upper, passthrough=True, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.6
    assert model.final_.estimator.n_features_in_ == 3 + 3 * 3
    frame = pd.DataFrame(X, columns=["p", "q", "r"]).assign(place=np.array(["n", "s"])[y % 2])
    assert StackingClassifier(None, DecisionTreeClassifier(), passthrough=True).fit(
        frame, y
    ).predict(frame).shape == (90,)


@pytest.mark.covers("bucket-of-models")
def test_the_bucket_keeps_the_candidate_of_least_held_out_loss(rng):
    X = rng.normal(size=(60, 2))
    y = X[:, 0] ** 2 + 0.1 * rng.normal(size=60)
    folds = [(np.flatnonzero(np.arange(60) % 4 != k), np.arange(60)[k::4]) for k in range(4)]
    candidates = {"line": LinearRegression(), "near": KNeighborsRegressor(3)}
    model = BucketRegressor(list(candidates.items()), cv=folds).fit(X, y)
    for name, learner in candidates.items():
        by_hand = [((learner.fit(X[a], y[a]).predict(X[b]) - y[b]) ** 2).mean() for a, b in folds]
        place = model.scores_.names.index(name)
        np.testing.assert_allclose(model.scores_.losses[place], by_hand, rtol=1e-9)
    assert model.best_name_ == model.scores_.names[0] == "near"
    np.testing.assert_allclose(
        model.predict(X), KNeighborsRegressor(3).fit(X, y).predict(X), rtol=1e-9
    )
    assert "near" in str(model.scores_)


@pytest.mark.covers("gating-ensemble")
def test_the_master_sends_rows_to_the_member_that_knows_their_region(rng):
    X = rng.uniform(-3, 3, size=(400, 1))
    y = np.where(X[:, 0] > 0, 4 * X[:, 0], np.sin(8 * X[:, 0]))
    line = LinearRegression()
    model = GatingRegressor([("line", line), ("near", KNeighborsRegressor(2))], random_state=0)
    found = np.abs(model.fit(X, y).predict(X) - y).mean()
    assert found < np.abs(line.fit(X, y).predict(X) - y).mean()
    assert model.shares_.sum() == pytest.approx(1)
    routes = model.route(X)
    for place, member in enumerate(model.members_):
        mine = routes == place
        np.testing.assert_allclose(model.predict(X)[mine], member.estimate(X[mine]))


@pytest.mark.covers("gating-ensemble")
@pytest.mark.parametrize("ties", ["confidence", "random"])
def test_where_all_members_are_right_ties_go_as_asked(ties, rng):
    X, y = blobs(rng, n=300, k=2)
    sure, unsure = Says((0.01, 0.99)), Says((0.45, 0.55))
    model = GatingClassifier([("sure", sure), ("unsure", unsure)], ties=ties, random_state=1)
    model.fit(X, y)
    # both say class 1: right rows go to the surer, wrong ones to the less sure, or to either
    expected = 0.5
    assert model.shares_[0] == pytest.approx(expected, abs=0.01 if ties == "confidence" else 0.2)


@pytest.mark.covers("bayesian-model-averaging")
def test_weights_of_averaging_are_likelihoods_spelt_out(rng):
    X, y = blobs(rng, n=60)
    model = BayesianAveragingClassifier(
        DecisionTreeClassifier(max_depth=2), 4, holdout=None, noise=0.1, random_state=2
    ).fit(X, y)
    likelihood = [
        np.prod(0.9 * m.proba(X, 3)[np.arange(60), y].astype(np.longdouble) + 0.1 / 3)
        for m in model.members_
    ]
    expected = np.array(likelihood) / np.sum(likelihood)
    np.testing.assert_allclose(model.weights_, expected.astype(float), rtol=1e-8)
    assert model.effective_members_ == pytest.approx(1 / (model.weights_**2).sum())
    prior = BayesianAveragingClassifier(
        DecisionTreeClassifier(max_depth=2),
        4,
        holdout=None,
        noise=0.1,
        random_state=2,
        prior=[1, 2, 3, 4],
    ).fit(X, y)
    expected = expected * np.arange(1, 5)
    np.testing.assert_allclose(prior.weights_, (expected / expected.sum()).astype(float), rtol=1e-8)


@pytest.mark.covers("bayesian-model-combination")
def test_combination_of_two_members_is_the_integral_over_the_segment(rng):
    X, y = blobs(rng, n=50, k=2)
    y = np.where(rng.random(50) < 0.2, 1 - y, y)
    model = BayesianCombinationClassifier(
        [NaiveBayes(), DecisionTreeClassifier(max_depth=1)],
        2,
        n_combinations=20_000,
        holdout=None,
        random_state=int(rng.integers(2**31)),
    ).fit(X, y)
    right = np.column_stack([m.proba(X, 2)[np.arange(50), y] for m in model.members_])

    def likelihood(c):
        mixed = 0.95 * (right @ [c, 1 - c]) + 0.05 / 2
        return np.exp(np.log(mixed).sum() + 50 * 0.5)

    total = integrate.quad(likelihood, 0, 1)[0]
    mean = integrate.quad(lambda c: c * likelihood(c), 0, 1)[0] / total
    assert model.weights_[0] == pytest.approx(mean, abs=0.02)
    numbers = BayesianCombinationRegressor(
        [LinearRegression(), TheirTree(max_depth=1)], 2, random_state=0
    )
    line = rng.normal(size=(80, 1))
    assert numbers.fit(line, 3 * line[:, 0] + rng.normal(size=80)).weights_[0] > 0.5


@pytest.mark.covers("cv-committee")
def test_out_of_fold_predictions_come_from_the_member_that_left_the_row_out(rng):
    X = rng.normal(size=(31, 2))
    model = CVCommitteeRegressor(Spy(), 4, random_state=int(rng.integers(2**31)))
    model.fit(X, rng.normal(size=31))
    np.testing.assert_array_equal(model.oof_prediction_, 0)
    known = np.column_stack([learner.predict(X) for learner in model.estimators_])
    np.testing.assert_array_equal(known.sum(axis=1), 3)
    labels = CVCommitteeClassifier(cv=3, random_state=0).fit(*blobs(rng))
    assert labels.oof_proba_.shape == (90, 3)


@pytest.mark.covers("feature-subset-ensemble")
def test_members_see_the_named_columns_and_little_redundancy_is_warned_of(rng):
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = (frame["a"] > 0).astype(int)
    with pytest.warns(GnomonWarning, match="redundant"):
        model = FeatureSubsetClassifier(groups={"one": ["a"], "rest": ["b", "c"]}).fit(frame, y)
    assert [member.columns.tolist() for member in model.members_] == [[0], [1, 2]]
    assert model.members_[0].estimator.feature_names_in_.tolist() == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twice = frame.assign(d=frame["a"] * 2, e=-frame["b"], f=frame["c"] + 1)
        assert FeatureSubsetClassifier(random_state=0).fit(twice, y).redundancy_ > 0.99
    with pytest.raises(DataError, match="'z'"):
        FeatureSubsetClassifier(groups=[["z"]]).fit(frame, y)


@pytest.mark.covers("seed-ensemble")
def test_members_differ_by_seed_only_and_learners_without_chance_are_warned_of(rng):
    X, y = blobs(rng, n=200, d=6)
    model = SeedEnsembleClassifier(n_estimators=4, random_state=0).fit(X, y)
    seeds = {learner.random_state for learner in model.estimators_}
    assert len(seeds) == 4
    with pytest.warns(GnomonWarning, match="random_state"):
        same = SeedEnsembleClassifier(GaussianNB(), 2).fit(X, y)
    one, other = same.members_
    np.testing.assert_array_equal(one.proba(X, 3), other.proba(X, 3))


def best_stump_error(column, y, weights, n_classes):
    """Least weighted error over all thresholds and classes on either side, by enumeration."""
    best = np.inf
    for t in [-np.inf, *np.unique(column)]:
        left = column <= t
        right_weight = 0.0
        for side in (left, ~left):
            totals = np.bincount(y[side], weights[side], minlength=n_classes)
            right_weight += totals.max() if side.any() else 0.0
        best = min(best, weights.sum() - right_weight)
    return best / weights.sum()


@pytest.mark.covers("adaboost")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_fast_stump_has_the_least_error_of_all_stumps(n_classes, rng):
    X = np.round(rng.normal(size=(70, 4)), 1)
    y = rng.integers(0, n_classes, 70)
    weights = rng.integers(1, 5, 70).astype(float)
    finder = StumpFinder(X, y, n_classes, weights, np.zeros(4, bool), 1)
    for _ in range(4):
        error, place = finder.find()
        now = finder.share_of_weights()
        expected = min(best_stump_error(X[:, j], y, now, n_classes) for j in range(4))
        assert error == pytest.approx(expected, abs=1e-9)
        wrong = finder.wrong(place)
        assert now[wrong].sum() == pytest.approx(error, abs=1e-9)
        np.testing.assert_array_equal(finder.stumps.codes(X)[:, place] != y, wrong)
        finder.reweight(wrong, 1.7)


@pytest.mark.covers("adaboost")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_stumps_split_missing_cells_and_categories(n_classes, rng):
    y = rng.integers(0, n_classes, 200)
    frame = pd.DataFrame(
        {
            "gap": np.where(y == 0, np.nan, rng.normal(size=200)),
            "level": np.array(["x", "y", "z"])[(y + (rng.random(200) < 0.05)) % 3],
        }
    )
    model = AdaBoostClassifier(n_estimators=10).fit(frame, y)
    assert model.score(frame, y) > 0.9
    assert (model.stumps_.levels >= 0).any() or n_classes == 2
    new = pd.DataFrame({"gap": [0.0, np.nan], "level": ["unheard", None]})
    assert model.predict(new).shape == (2,)


@pytest.mark.covers("adaboost")
def test_a_perfect_learner_ends_boosting_and_chance_stands_alone():
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimator_weights_) == 1
    assert model.history_.stopped == "converged"
    with pytest.warns(GnomonWarning, match="chance"):
        nothing = AdaBoostClassifier().fit(np.zeros((6, 1)), y)
    assert nothing.predict([[0.0]]).shape == (1,)


class Cosh(Loss):
    """A loss of the user's own: log cosh of the residual."""

    def value(self, y, score):
        return np.logaddexp(score - y, y - score)[:, 0] - np.log(2)

    def gradient(self, y, score):
        return np.tanh(score - y)


def probabilities_of_equal_rows(model, y, weights):
    X = np.full((len(y), 1), 3.0)
    return model.fit(X, y, sample_weight=weights).predict_proba(X[:1])[0]


@pytest.mark.covers("logitboost-additive-logistic")
@pytest.mark.parametrize("scale", [None, 1 / 200, 1e3])
@pytest.mark.parametrize("kind", ["logit", "gentle", "real"])
def test_logitboost_gives_the_share_of_a_rare_class_where_rows_are_alike(kind, scale):
    y = (np.arange(200) < 11).astype(int)
    weights = None if scale is None else np.full(200, scale)
    model = LogitBoostClassifier(kind=kind)
    assert probabilities_of_equal_rows(model, y, weights)[1] == pytest.approx(0.055, abs=1e-4)


@pytest.mark.covers("logitboost-additive-logistic")
def test_logitboost_gives_the_shares_of_three_classes_where_rows_are_alike():
    y = np.repeat([0, 1, 2], [150, 45, 5])
    shares = probabilities_of_equal_rows(LogitBoostClassifier(n_estimators=150), y, None)
    np.testing.assert_allclose(shares, [0.75, 0.225, 0.025], atol=2e-3)


@pytest.mark.covers("logitboost-additive-logistic")
def test_logitboost_lowers_the_deviance_of_a_rare_class_every_round(rng):
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 2.2).astype(int)
    course = LogitBoostClassifier(n_estimators=30).fit(X, y).history_.objective
    assert (np.diff(course) <= 1e-9).all()


@pytest.mark.covers("forward-stagewise-additive", "gradient-boosting-fit-regressor")
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", Cosh()])
def test_the_training_loss_never_rises(loss, rng):
    X = rng.normal(size=(120, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.standard_t(2, size=120)
    learner = TheirTree(max_depth=2)
    model = StagewiseRegressor(learner, loss, 25).fit(X, y)
    objective = np.asarray(model.history_)
    if loss != "huber":  # whose threshold changes from round to round
        assert (np.diff(objective) <= 1e-9).all()
    assert objective[-1] < objective[0]
    staged = list(model.staged_predict(X))
    np.testing.assert_allclose(staged[-1], model.predict(X), rtol=1e-9)


@pytest.mark.covers("gradient-boosting-general", "gradient-boosting-fit-regressor")
@pytest.mark.parametrize("direction", ["gradient", "newton", "vote"])
@pytest.mark.parametrize("step", ["search", "newton"])
def test_every_direction_and_step_learns_two_and_three_classes(direction, step, rng):
    for k in (2, 3):
        X, y = blobs(rng, n=120, k=k)
        model = StagewiseClassifier(n_estimators=20, direction=direction, step=step).fit(X, y)
        assert model.history_[-1] < model.history_[0]
        assert model.score(X, y) > 0.8


@pytest.mark.covers("gradient-boosting-general")
def test_a_validation_part_ends_boosting_before_it_overfits(rng):
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + 2 * rng.normal(size=300)
    model = StagewiseRegressor(
        DecisionTreeRegressor(), n_estimators=200, validation_fraction=0.3, random_state=0
    ).fit(X, y)
    assert len(model.steps_) < 50
    assert len(model.steps_) == np.argmin(np.asarray(model.history_)) + 1


def test_poisson_boosting_keeps_the_total_of_the_counts(rng):
    X = rng.normal(size=(300, 2))
    y = rng.poisson(np.exp(0.5 * X[:, 0]))
    model = StagewiseRegressor(loss="poisson", n_estimators=20).fit(X, y)
    assert model.predict(X).sum() == pytest.approx(y.sum(), rel=0.1)
    with pytest.raises(ValueError, match="below zero"):
        StagewiseRegressor(loss="poisson").fit(X, y - 5.0)


@pytest.mark.covers("boosting-lasso-pruning")
def test_pruning_solves_the_lasso_and_keeps_the_accuracy(rng):
    X = rng.normal(size=(900, 5))
    y = (X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=900) > 0).astype(int)
    model = AdaBoostClassifier(n_estimators=80).fit(X[:300], y[:300])
    pruned = lasso_prune(model, X[300:600], y[300:600], random_state=0)
    assert len(pruned.kept) < len(model.estimator_weights_)
    assert pruned.model.score(X[600:], y[600:]) > model.score(X[600:], y[600:]) - 0.05
    outputs = 2.0 * model._codes_of_all(X[300:600]) - 1
    problem = _Problem(outputs, np.where(y[300:600] == 1, 1.0, -1.0), np.ones(300), False)
    strength, found = pruned.strengths[10], pruned.coefficients[10]
    gradient = problem.gradient(found)
    used = found != 0
    np.testing.assert_allclose(gradient[used], -strength * np.sign(found[used]), atol=1e-4)
    assert (np.abs(gradient[~used]) <= strength + 1e-4).all()
    with pytest.warns(GnomonWarning, match="learnt from"):
        lasso_prune(model, X[:300], y[:300], random_state=0)


@pytest.mark.covers("error-correcting-output-codes")
@pytest.mark.parametrize("code", ["exhaustive", "random", "one_vs_rest", "minimal"])
def test_rows_go_to_the_nearest_codeword(code, rng):
    X, y = blobs(rng, n=100, k=4)
    model = OutputCodeClassifier(NaiveBayes(), code=code, decoding="hamming", random_state=0)
    bits = np.column_stack([m.codes(X) for m in model.fit(X, y).members_])
    distance = (bits[:, None, :] != model.code_[None]).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), model.classes_[distance.argmin(axis=1)])
    with pytest.raises(ValueError, match="same codeword"):
        OutputCodeClassifier(None, code=np.zeros((4, 3))).fit(X, y)


@pytest.mark.covers("classifier-cascade")
def test_a_cascade_goes_on_where_one_row_of_weight_two_is_left():
    kinds = np.array([1, 1, 0, 0])
    for positions, weights, goes_on in (
        ([0, 1, 2], [1.0, 1.0, 2.0], True),
        ([0, 1, 2], [1.0, 1.0, 1.0], False),
        ([0, 1, 2, 3], [0.1, 0.1, 0.1, 0.1], True),
    ):
        part = Part(np.array(positions), np.array(weights))
        runs = SimpleNamespace(is_positive=kinds, part=part)
        assert StageRuns.both_left(runs) is goes_on


@pytest.mark.covers("classifier-cascade")
def test_a_cascade_finds_nearly_all_of_a_rare_class_and_says_its_rates(rng):
    n = 2000
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=n) > 2.6, "rare", "usual")
    model = CascadeClassifier(detection_rate=0.98, random_state=0).fit(X, y)
    found = model.predict(X) == "rare"
    assert model.classes_[model.positive_] == "rare"
    assert (model.detection_rates_ >= 0.98 - 1e-9).all()
    rates = model.rates()
    assert found[y == "rare"].mean() > rates.detection - 0.1
    assert found[y == "usual"].mean() < 0.2
    assert rates.detection == pytest.approx(np.prod(model.detection_rates_))
    assert rates.false_positive == pytest.approx(model.history_[-1])
    passed = model.stages_passed(X)
    np.testing.assert_array_equal(found, passed == len(model.members_))


@pytest.mark.covers("second-level-cascade")
def test_doubtful_rows_are_referred_and_costs_add_up(rng):
    X, y = blobs(rng, n=300, d=2)
    model = ReferralClassifier(thresholds=[0.9, 0.8], costs=[1, 5], person_cost=50, random_state=0)
    model.fit(X, y)
    level = model.level(X)
    cheap = model.members_[0].proba(X, 3).max(axis=1)
    np.testing.assert_array_equal(level == 0, cheap >= 0.9)
    np.testing.assert_array_equal(model.waiting(X), np.flatnonzero(level == 2))
    report = model.cost_report(X, y)
    assert report.n_rows.sum() == 300
    by_hand = 300 * 1 + (level > 0).sum() * 5 + (level > 1).sum() * 50
    assert report.total == pytest.approx(by_hand)
    assert "person" in str(report)


@pytest.mark.covers("correlated-average-variance")
def test_error_of_the_mean_follows_from_correlation_exactly(rng):
    said, y = rng.normal(size=(50, 7)) + rng.normal(size=(50, 1)), rng.normal(size=50)
    found = error_correlation(said, y)
    by_formula = found.correlation * found.mean_square
    by_formula += (1 - found.correlation) * found.mean_square / 7
    assert ((said.mean(axis=1) - y) ** 2).mean() == pytest.approx(by_formula)
    assert "floor" in str(found)


@pytest.mark.covers("ensemble-distribution")
def test_the_distribution_is_of_what_members_say(rng):
    X, y = blobs(rng)
    labels = np.array(["p", "q", "r"])[y]
    model = BaggingClassifier(DecisionTreeClassifier(max_depth=2), 7, random_state=0).fit(X, labels)
    found = member_distribution(model, X)
    by_hand = np.mean([m.votes(X, 3) for m in model.members_], axis=0)
    np.testing.assert_allclose(found.shares, by_hand)
    with pytest.warns(GnomonWarning, match="fully grown"):
        member_distribution(BaggingClassifier(random_state=0).fit(X, labels), X)
    from sklearn.ensemble import BaggingRegressor as Theirs

    numbers = member_distribution(Theirs(TheirTree(max_depth=2), 5).fit(X, X[:, 0]), X)
    assert numbers.values.shape == (90, 5)
    assert (numbers.quantile(0.1) <= numbers.quantile(0.9)).all()
    np.testing.assert_allclose(numbers.standard_deviation, numbers.values.std(axis=1), atol=1e-12)


def test_prediction_speed_is_told_for_batches_and_single_rows(rng):
    X, y = blobs(rng)
    speed = prediction_speed(VotingClassifier(None).fit(X, y), X, n_single=3)
    assert speed.rows_per_second > 0
    assert speed.single_row_seconds > 0


def test_folds_cover_every_lot_once_and_follow_the_classes(rng):
    weights = rng.integers(1, 4, 30).astype(float)
    strata = rng.integers(0, 2, 30)
    folds = Lots(rng.permutation(30), weights).folds(4, rng, strata)
    held = np.zeros(30)
    for fold in folds:
        held[fold.held.positions] += fold.held.weight_array
        both = np.zeros(30)
        both[fold.held.positions] += fold.held.weight_array
        both[fold.learn.positions] += fold.learn.weight_array
        np.testing.assert_array_equal(both, weights)
    np.testing.assert_array_equal(held, weights)
    sizes = [fold.held.weight_array.sum() for fold in folds]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("cls", [BaggingClassifier, StackingClassifier, BucketClassifier])
def test_weights_reach_learners_of_other_libraries_as_repetitions(cls, rng):
    X, y = blobs(rng, n=60)
    weights = rng.integers(1, 4, 60)
    rows = rng.permutation(np.repeat(np.arange(60), weights))
    learner = KNeighborsClassifier(3)  # takes no weights
    given = {"estimator": learner} if cls is BaggingClassifier else {"estimators": [learner]}
    one = cls(**given, random_state=0).fit(X, y, sample_weight=weights)
    other = cls(**given, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


@pytest.mark.covers("bagging")
def test_rows_that_every_member_saw_are_told_and_have_no_answer_out_of_bag(rng):
    X, y = blobs(rng, n=60)
    weights = np.r_[np.zeros(5), np.ones(55)]
    model = BaggingClassifier(GaussianNB(), 1, oob_score=True, random_state=0)
    with pytest.warns(GnomonWarning, match=r"of 55 rows were drawn by every member"):
        model.fit(X, y, sample_weight=weights)
    answers = model.oob_decision_function_
    assert answers.shape == (60, 3)
    assert np.isnan(answers[:5]).all()
    answered = ~np.isnan(answers[:, 0])
    assert 0 < answered.sum() == 55 - round(55 * model.distinct_shares_[0])
    assert model.oob_score_ == pytest.approx(
        (answers[answered].argmax(axis=1) == y[answered]).mean()
    )


@pytest.mark.covers("bagging")
def test_out_of_bag_without_any_row_left_out_is_refused():
    with pytest.raises(ValueError, match="were drawn by each member"):
        BaggingRegressor(oob_score=True).fit([[1.0]], [2.0])
