"""Splits, cross-validation, bootstrap and choosing, against plain loops and definitions."""

import doctest
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    cohen_kappa_score,
    f1_score,
    make_scorer,
    roc_auc_score,
    zero_one_loss,
)
from sklearn.metrics import mean_squared_error as sklearn_mse
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from gnomon import evaluate
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate import (
    BaselineClassifier,
    HoldOut,
    Measure,
    MemorizingClassifier,
    RandomGuessClassifier,
    RandomHyperplaneClassifier,
    auto_folds,
    bootstrap,
    bootstrap_bags,
    bootstrap_error,
    bootstrap_predictions,
    complexity_penalized,
    cost_loss,
    cross_validation_estimates,
    experiment,
    forward_in_time,
    hold_out_split,
    k_fold,
    label_permutation_test,
    leaderboard,
    learning_curve_estimates,
    leave_group_out,
    leave_one_out,
    linear_leave_one_out,
    monte_carlo_error_bars,
    nested_cross_validation,
    one_standard_error,
    property_table,
    r_squared,
    random_splits,
    three_way,
)
from gnomon.evaluate.number_measures import mean_squared_error
from gnomon.table import Table

X_IRIS, Y_IRIS = load_iris(return_X_y=True)


class FailsOnce(ClassifierMixin, BaseEstimator):
    """Fails where a certain row is among the training rows."""

    def __init__(self, row=0.0, stage="fit"):
        self.row = row
        self.stage = stage

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.armed_ = not (X[:, 0] == self.row).any()
        if self.armed_ and self.stage == "fit":
            raise RuntimeError("cannot fit this")
        return self

    def predict(self, X):
        if self.armed_ and self.stage == "predict":
            raise RuntimeError("cannot predict this")
        if self.armed_ and self.stage == "nan":
            return np.full(len(X), np.nan)
        return np.full(len(X), self.classes_[0])


class Even(RegressorMixin, BaseEstimator):
    """Draws its predictions from its random state."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.shift_ = np.random.default_rng(self.random_state).normal()
        return self

    def predict(self, X):
        return np.full(len(X), self.shift_)


@pytest.mark.covers("kfold-cv", "stratified-cv", "repeated-cv")
def test_every_row_is_tested_once_per_repetition_with_the_shares_of_the_classes(seed, rng):
    y = rng.permutation(np.repeat(["a", "b", "c"], [60, 30, 10]))
    splits = k_fold(100, 5, 3, stratify=y, random_state=seed)
    for repeat in range(3):
        tests = [test for _, test in splits[repeat * 5 : repeat * 5 + 5]]
        assert sorted(np.concatenate(tests)) == list(range(100))
        assert all((y[test] == "c").sum() == 2 for test in tests)
    assert all(not set(train) & set(test) for train, test in splits)
    assert not np.array_equal(splits[0][1], splits[5][1])
    again = k_fold(100, 5, 3, stratify=y, random_state=seed)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again))


@pytest.mark.covers("stratified-cv")
def test_classes_smaller_than_the_folds_are_named_in_a_warning():
    y = np.repeat(["common", "rare"], [30, 3])
    with pytest.warns(GnomonWarning, match=r"rare \(3\)"):
        splits = k_fold(33, 5, stratify=y)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(33))
    with pytest.raises(DataError, match="no class has 5 rows"):
        k_fold(8, 5, stratify=list("aabbccdd"))


@pytest.mark.covers("kfold-cv")
def test_groups_are_never_on_both_sides(rng):
    groups = rng.integers(0, 12, 90)
    y = rng.integers(0, 2, 90)
    makers = [
        k_fold(90, 4, groups=groups),
        k_fold(90, 4, groups=groups, stratify=y),
        random_splits(90, 5, 0.3, groups=groups),
        leave_group_out(groups),
        auto_folds(90, groups=groups),
    ]
    for splits in makers:
        for train, test in splits:
            assert not set(groups[train]) & set(groups[test])
    with pytest.raises(DataError, match="3 groups cannot be cut in 5"):
        k_fold(6, 5, groups=[0, 0, 1, 1, 2, 2])


@pytest.mark.covers("kfold-cv")
def test_forward_splits_test_later_moments_only_and_keep_the_gap(rng):
    times = rng.integers(0, 40, 200)
    for train, test in forward_in_time(times, 4, gap=2):
        assert times[train].max() < times[test].min() - 2
    windowed = forward_in_time(np.arange(60), 5, window=10)
    assert all(len(train) == 10 for train, _ in windowed)
    with pytest.raises(DataError, match="3 moments"):
        forward_in_time([1, 2, 3], 5)


def test_impossible_splits_are_refused_with_the_remedy():
    with pytest.raises(DataError, match="take at most 3 folds"):
        k_fold(3, 5)
    with pytest.raises(DataError, match="test_share"):
        random_splits(10, 2, 1.5)
    with pytest.raises(DataError, match="stratified or grouped"):
        random_splits(10, 2, 0.3, stratify=[0, 1] * 5, groups=[0, 1] * 5)
    with pytest.raises(DataError, match="beyond the 5"):
        cross_validation_estimates(GaussianNB(), np.eye(5), [0, 1, 0, 1, 0], cv=[([0, 1], [9])])
    with pytest.raises(DataError, match="150 rows and X has 10"):
        cross_validation_estimates(GaussianNB(), np.eye(10), [0, 1] * 5, cv=k_fold(150, 5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: k_fold(10, "5"), "n_folds='5' must be a whole number"),
        (lambda: k_fold(10.0, 5), "n_rows=10.0 must be a whole number"),
        (lambda: random_splits(10, 2.5), "n_splits=2.5"),
        (lambda: bootstrap_bags(10, None), "n_bags=None"),
        (
            lambda: cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=3.0),
            "whole number of folds",
        ),
        (
            lambda: cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=[1, 2]),
            "pairs of training",
        ),
        (
            lambda: cross_validation_estimates(
                GaussianNB(), X_IRIS, Y_IRIS, cv=[(Y_IRIS > 0, Y_IRIS == 0)]
            ),
            "positions of rows",
        ),
        (lambda: forward_in_time(range(12), 3, gap=-2), "would be test rows too"),
        (lambda: forward_in_time(range(12), 3, window=0), "no moment to train on"),
        (lambda: forward_in_time(np.array(["2020", "NaT", "2021"], "M8[Y]"), 1), "missing in 1"),
    ],
)
def test_splits_refuse_what_is_no_number_and_what_would_test_training_rows(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.covers("stratified-cv")
def test_automatic_folds_are_no_more_than_the_largest_class_has_rows():
    assert auto_folds(18, stratify=[0, 1] * 9).n_folds == 9
    assert auto_folds(40, stratify=[0, 1] * 20).n_folds == 10
    with pytest.raises(DataError, match="no class has 2 rows"):
        auto_folds(5, stratify=list("abcde"))


@pytest.mark.covers("kfold-cv")
@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_beside_splits_are_refused_on_both_sides_and_count_as_one_in_intervals(rng):
    groups = np.repeat(np.arange(30), 5)
    for splits in (k_fold(150, 5), KFold(5, shuffle=True), list(k_fold(150, 5))):
        with pytest.raises(DataError, match="groups on both sides"):
            cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=splits, groups=groups)
    groups = np.repeat(np.arange(30), 20)
    X, y = rng.normal(size=(30, 1))[groups], rng.normal(size=30)[groups]
    apart = k_fold(600, 5, groups=groups)
    plain = [
        cross_validation_estimates(LinearRegression(), X, y, cv=list(apart), groups=g)
        for g in (None, groups)
    ]
    known = cross_validation_estimates(LinearRegression(), X, y, cv=apart)
    assert plain[1].standard_error == known.standard_error > 1.1 * plain[0].standard_error


@pytest.mark.covers("repeated-cv", "random-split-cv")
def test_tests_per_row_are_counted_row_by_row():
    for splits in (random_splits(50, 7, 0.3), k_fold(50, 5, 3), bootstrap_bags(50, 9)):
        times = [sum(row in test for _, test in splits) for row in range(50)]
        expected = sum(each**2 for each in times) / sum(times)
        assert splits.tests_per_row == pytest.approx(expected)
    assert k_fold(50, 5, 3).tests_per_row == 3


@pytest.mark.covers("repeated-cv", "random-split-cv")
@pytest.mark.parametrize("measure", ["auc", "kappa", "f_measure"])
def test_the_same_splits_again_do_not_make_the_error_smaller(measure, rng):
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 2)) + y[:, None]
    once = k_fold(120, 4, stratify=y)
    first, again = (
        cross_validation_estimates(GaussianNB(), X, y, cv=s, measures=measure, pair_fits=0).figure()
        for s in (once, list(once) * 6)
    )
    assert again.error == pytest.approx(first.error)
    assert again.value == pytest.approx(first.value)


@pytest.mark.covers("repeated-cv", "random-split-cv")
def test_splitters_of_scikit_learn_know_their_repetitions(rng):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=0)
    found = cross_validation_estimates(GaussianNB(), X, y, cv=repeated, measures="auc")
    assert (found.splits.n_repeats, found.splits.n_folds) == (4, 3)
    assert len(found.pairs) == 3
    assert len(found.predictions) == 60
    shuffled = cross_validation_estimates(GaussianNB(), X, y, cv=ShuffleSplit(5, test_size=0.5))
    assert shuffled.splits.n_repeats == 5
    assert cross_validation_estimates(GaussianNB(), X, y, cv=KFold(5)).splits.n_repeats == 1


@pytest.mark.covers("random-split-cv", "holdout-validation", "bootstrap-prediction-error")
def test_random_splits_and_bags_leave_out_what_they_say(seed):
    for train, test in random_splits(40, 6, 0.25, random_state=seed):
        assert len(test) == 10
        assert sorted([*train, *test]) == list(range(40))
    (pair,) = hold_out_split(40, random_state=seed)
    assert len(pair[1]) == 8
    for train, test in bootstrap_bags(40, 20, random_state=seed):
        assert len(train) == 40
        assert set(test) == set(range(40)) - set(train)


@pytest.mark.covers("kfold-cv")
def test_cross_validation_is_a_plain_loop_over_the_folds():
    splits = k_fold(150, 5, 2, stratify=Y_IRIS)
    measures = ["accuracy", "log_loss", "balanced_accuracy", "f1_macro"]
    found = cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=splits, measures=measures)
    for number, (train, test) in enumerate(splits):
        model = GaussianNB().fit(X_IRIS[train], Y_IRIS[train])
        assert found.scores["accuracy"][number] == model.score(X_IRIS[test], Y_IRIS[test])
        proba = model.predict_proba(X_IRIS[test])
        expected = -np.log(proba[np.arange(len(test)), Y_IRIS[test]]).mean()
        assert found.scores["log_loss"][number] == pytest.approx(expected)
    rows, _ = found.out_of_fold(1)
    assert rows.tolist() == list(range(150))
    assert found.predictions.shape == (150,)
    assert found.pooled() == pytest.approx(found.mean)
    assert np.isfinite(found.scores["f1_macro"]).all()
    assert found.fit_seconds > 0
    assert "GaussianNB" in str(found)
    assert len(found.to_table()) == 10
    assert "<table>" in found._repr_html_()


@pytest.mark.covers("kfold-cv", "squared-error-measures")
def test_pooled_and_fold_averaged_measures_are_both_there_and_differ(rng):
    X, y = rng.normal(size=(47, 2)), rng.normal(size=47)
    found = cross_validation_estimates(LinearRegression(), X, y, cv=k_fold(47, 5))
    errors = y - found.predictions
    assert found.pooled("rmse") == pytest.approx(np.sqrt((errors**2).mean()))
    assert found.figure().value == pytest.approx(found.pooled())
    assert found.mean_over_folds() == pytest.approx(found.scores["rmse"].mean())
    assert found.mean_over_folds() != pytest.approx(found.pooled(), rel=1e-6)


@pytest.mark.covers("kfold-cv")
@pytest.mark.parametrize("measure", ["mse", "r2"])
def test_covariance_of_folds_is_that_of_a_plain_loop_over_pairs(measure, rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    found = cross_validation_estimates(
        LinearRegression(), X, y, cv=6, measures=measure, pair_fits=4
    )
    assert found.pairs == [(0, 1), (2, 3), (4, 5), (1, 2)]
    score = {"mse": mean_squared_error, "r2": r_squared}[measure]
    changes = []
    for one, other in found.pairs:
        tests = [found.splits[k][1] for k in (one, other)]
        both = np.setdiff1d(np.arange(40), np.concatenate(tests))
        for test in tests:
            rest = np.setdiff1d(np.arange(40), test)
            alone, without = (
                score(y[test], LinearRegression().fit(X[rows], y[rows]).predict(X[test])).value
                for rows in (rest, both)
            )
            changes.append(alone - without)
    one, other = np.array(changes).reshape(-1, 2).T
    # and a fifth pair, of correlation one half
    expected = ((one * other).sum() + np.mean(np.square(changes)) / 2) / 5
    assert found.fold_covariance() == pytest.approx(max(expected, 0), rel=1e-9)


def test_pairs_whose_measure_is_undefined_do_not_count(rng):
    class Shy(GaussianNB):
        def predict(self, X):
            return super().predict(X) if self.n_rows_ > 30 else np.zeros(len(X), dtype=int)

        def fit(self, X, y):
            self.n_rows_ = len(X)
            return super().fit(X, y)

    y = np.tile([0, 1], 20)
    X = rng.normal(size=(40, 2)) + 5 * y[:, None]
    found = cross_validation_estimates(Shy(), X, y, cv=5, measures=["precision", "log_loss"])
    assert len(found.pairs) == 5
    assert np.isnan(found.fold_covariance("precision"))
    assert found.figure("precision").value == 1


def test_pairs_of_folds_are_left_out_only_where_rows_are_dealt_out_in_folds(rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for splits in (k_fold(30, 2), random_splits(30, 5), forward_in_time(np.arange(30), 3)):
        assert cross_validation_estimates(LinearRegression(), X, y, cv=splits).pairs == []
    assert len(cross_validation_estimates(LinearRegression(), X, y, cv=k_fold(30, 3, 2)).pairs) == 3
    spared = cross_validation_estimates(LinearRegression(), X, y, cv=5, pair_fits=0)
    assert np.isnan(spared.fold_covariance())
    assert "may be too narrow" in str(spared)
    with pytest.raises(DataError, match="pair_fits"):
        cross_validation_estimates(LinearRegression(), X, y, pair_fits=-1)


@pytest.mark.covers("leave-one-out-cv", "analytic-loocv")
@pytest.mark.parametrize("penalty", [0.0, 0.3, 5.0])
def test_leave_one_out_in_closed_form_is_that_of_n_fits(penalty, rng):
    X, y = rng.normal(size=(25, 3)), rng.normal(size=25)
    learner = Ridge(penalty) if penalty else LinearRegression()
    found = cross_validation_estimates(learner, X, y, cv=leave_one_out(25), measures="mse")
    closed = linear_leave_one_out(X, y, penalty)
    assert closed.residuals == pytest.approx(y - found.predictions)
    assert closed.mean_squared_error.value == pytest.approx(found.mean)
    assert closed.press == pytest.approx(25 * found.mean)
    with pytest.raises(DataError, match="leverage"):
        linear_leave_one_out(np.eye(4), np.arange(4.0))


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_results_are_the_same_to_the_bit_for_every_number_of_jobs(n_jobs):
    learner = RandomForestClassifier(5)
    kwargs = {"cv": 4, "measures": ["accuracy", "log_loss"], "random_state": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        one = cross_validation_estimates(learner, X_IRIS, Y_IRIS, n_jobs=1, **kwargs)
        other = cross_validation_estimates(learner, X_IRIS, Y_IRIS, n_jobs=n_jobs, **kwargs)
    for name in one.scores:
        assert np.array_equal(one.scores[name], other.scores[name])
        np.testing.assert_equal(one.fold_covariance(name), other.fold_covariance(name))
    assert np.array_equal(one.out_of_fold()[1].probabilities, other.out_of_fold()[1].probabilities)


def test_every_fold_of_a_random_learner_has_its_own_seed_and_given_seeds_are_kept(rng):
    X, y = rng.normal(size=(30, 1)), rng.normal(size=30)
    unseeded = cross_validation_estimates(Even(), X, y, cv=5, keep_models=True)
    assert len({model.shift_ for model in unseeded.models}) == 5
    again = cross_validation_estimates(Even(), X, y, cv=5, keep_models=True)
    assert [m.shift_ for m in again.models] == [m.shift_ for m in unseeded.models]
    seeded = cross_validation_estimates(Even(7), X, y, cv=5, keep_models=True)
    assert len({model.shift_ for model in seeded.models}) == 1
    nested = make_pipeline(StandardScaler(), RandomForestClassifier(3))
    pipes = cross_validation_estimates(nested, X_IRIS, Y_IRIS, cv=3, keep_models=True)
    assert len({model[-1].random_state for model in pipes.models}) == 3
    assert nested[-1].random_state is None


def test_tables_frames_and_arrays_give_the_same_scores():
    from gnomon.bayes import NaiveBayes

    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X_IRIS, columns=names)
    splits = k_fold(150, 3, stratify=Y_IRIS)
    labels = np.array(["x", "y", "z"])[Y_IRIS]
    whole = frame.assign(kind=labels)
    expected = cross_validation_estimates(NaiveBayes(), X_IRIS, labels, cv=splits)
    makes = [frame, pl.from_pandas(frame), Table.from_frame(frame)]
    for X in makes:
        found = cross_validation_estimates(NaiveBayes(), X, labels, cv=splits)
        assert np.array_equal(found.predictions, expected.predictions)
    for table in (whole, pl.from_pandas(whole), Table.from_frame(whole)):
        found = cross_validation_estimates(NaiveBayes(), table, "kind", cv=splits)
        assert np.array_equal(found.predictions, expected.predictions)
    with pytest.raises(DataError, match="no column 'klnd'"):
        cross_validation_estimates(NaiveBayes(), whole, "klnd", cv=splits)


def test_sparse_rows_weights_and_groups_are_passed_on(rng):
    rows = sp.random_array((60, 5), density=0.3, rng=rng, format="coo")
    y = rng.integers(0, 2, 60)
    found = cross_validation_estimates(LogisticRegression(), rows, y, cv=3)
    assert not found.failures
    weights = np.where(y == 1, 1e6, 1e-6)
    heavy = cross_validation_estimates(BaselineClassifier(), rows, y, cv=3, sample_weight=weights)
    assert (heavy.predictions == 1).all()
    groups = np.repeat(np.arange(20), 3)
    grouped = cross_validation_estimates(
        LogisticRegression(), rows, y, cv=GroupKFold(4), groups=groups
    )
    for train, test in grouped.splits:
        assert not set(groups[train]) & set(groups[test])


def test_equal_rows_of_a_group_count_as_one_in_the_interval(rng):
    X, y = rng.normal(size=(200, 2)), rng.normal(size=200)
    ten = np.repeat(np.arange(200), 10)
    single = cross_validation_estimates(LinearRegression(), X, y, cv=k_fold(200, 5, shuffle=False))
    many = cross_validation_estimates(
        LinearRegression(), X[ten], y[ten], cv=k_fold(2000, 5, groups=ten, random_state=1)
    )
    fooled = cross_validation_estimates(LinearRegression(), X[ten], y[ten], cv=k_fold(2000, 5))
    assert fooled.standard_error < 0.6 * many.standard_error
    assert many.standard_error == pytest.approx(single.standard_error, rel=0.5)


@pytest.mark.parametrize("stage", ["fit", "predict", "nan"])
def test_a_learner_that_fails_in_one_fold_is_scored_on_the_others(stage):
    X = np.arange(30.0)[:, None]
    y = np.array([0, 1] * 15)
    found = cross_validation_estimates(FailsOnce(0.0, stage), X, y, cv=k_fold(30, 5, shuffle=False))
    assert [each.fold for each in found.failures] == [0]
    assert found.failures[0].stage == ("fit" if stage == "fit" else "predict")
    assert np.isnan(found.scores["accuracy"]).tolist() == [True] + [False] * 4
    assert found.figure().value == pytest.approx(0.5)
    assert "1 of 5 folds failed" in str(found)
    rows, _ = found.out_of_fold()
    assert rows.tolist() == list(range(6, 30))
    with pytest.raises(DataError, match="not every row"):
        _ = found.predictions


def test_a_learner_that_always_fails_is_last_on_the_board_and_its_reason_is_kept():
    X = np.arange(30.0)[:, None]
    y = np.array([0, 1] * 15)
    board = leaderboard({"bad": FailsOnce(-1.0), "good": GaussianNB()}, X, y, cv=3)
    assert board.names[-1] == "bad"
    assert np.isnan(board["bad"].figure().value)
    assert "cannot fit this" in str(board["bad"].failures[0])
    assert board.differences().left_out == ["bad"]
    assert str(board)


def test_folds_of_one_class_keep_their_failure_and_the_rest_goes_on():
    X = np.arange(20.0)[:, None]
    y = np.repeat([0, 1], [16, 4])
    found = cross_validation_estimates(
        GaussianNB(), X, y, cv=k_fold(20, 5, shuffle=False), measures=["accuracy", "auc"]
    )
    assert np.isnan(found.scores["auc"]).all() or np.isnan(found.scores["auc"]).sum() >= 4
    assert np.isfinite(found.scores["accuracy"]).sum() == 5
    assert any("all 4 rows are" in str(each) for each in found.failures)


def test_measures_that_a_learner_cannot_give_are_failures_with_the_reason():
    found = cross_validation_estimates(
        KNeighborsRegressor(), X_IRIS, Y_IRIS.astype(float), cv=3, measures="log_loss"
    )
    assert "predict_proba" in found.failures[0].error
    three = cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=3, measures="auc")
    assert "there are 3" in three.failures[0].error
    with pytest.raises(DataError, match="no measure 'accurracy'"):
        cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, measures="accurracy")
    with pytest.raises(DataError, match="is no learner"):
        cross_validation_estimates(GaussianNB, X_IRIS, Y_IRIS)
    with pytest.raises(DataError, match="needs a target"):
        cross_validation_estimates(GaussianNB(), X_IRIS)


def test_a_measure_that_a_learner_cannot_give_leaves_the_others(tmp_path):
    X, y = X_IRIS[:100], Y_IRIS[:100]
    asked = {"cv": 5, "measures": ["accuracy", "log_loss", "neg_log_loss", "auc"]}
    for folder in (None, tmp_path, tmp_path):
        found = cross_validation_estimates(SVC(), X, y, folder=folder, **asked)
        assert np.isfinite(found.scores["accuracy"]).all()
        assert np.isfinite(found.scores["auc"]).all()
        assert np.isnan(found.scores["log_loss"]).all()
        assert {each.measure for each in found.failures} == {"log_loss", "neg_log_loss"}
        assert "log_loss could not be taken of 5 of 5 folds" in str(found)
        assert "folds failed" not in str(found)
    board = leaderboard([SVC(), GaussianNB()], X, y, **asked)
    assert "SVC: log_loss could not be taken" in str(board)
    assert board.to_table().column("failed folds").to_pylist() == [0, 0, 0]


def test_measures_of_two_classes_fail_alone_with_three_and_know_their_positive_class():
    three = cross_validation_estimates(
        GaussianNB(), X_IRIS, Y_IRIS, cv=3, measures=["f1_macro", "precision"]
    )
    assert "precision could not be taken of 3 of 3 folds" in str(three)
    assert "there are 3" in str(three)
    assert "folds failed" not in str(three)
    y = np.repeat([0, 1], [16, 4])
    alone = cross_validation_estimates(
        BaselineClassifier(),
        np.zeros((20, 1)),
        y,
        cv=k_fold(20, 5, shuffle=False),
        measures="recall",
    )
    assert alone.scores["recall"][4] == 0
    assert all("no row is truly positive" in each.error for each in alone.failures)


def test_scores_of_training_rows_that_cannot_be_got_leave_those_of_test_rows(rng):
    y = np.arange(40) % 2
    seen = []

    def once(model, X, y):
        seen.append(len(y))
        if len(y) > 20:
            raise ValueError("too many rows")
        return 1.0

    found = cross_validation_estimates(
        GaussianNB(),
        rng.normal(size=(40, 2)),
        y,
        cv=4,
        measures=["accuracy", Measure("few", once, "estimator")],
        train_scores=True,
    )
    assert np.isfinite(found.scores["few"]).all()
    assert np.isnan(found.train_scores["few"]).all()
    assert np.isfinite(found.train_scores["accuracy"]).all()
    assert "train few could not be taken" in str(found)


@pytest.mark.covers("error-rate-accuracy")
def test_folds_without_a_class_have_no_balanced_accuracy(rng):
    y = np.repeat([0, 1], [197, 3])
    with pytest.warns(GnomonWarning, match="Some folds will lack them"):
        found = cross_validation_estimates(
            BaselineClassifier(), np.zeros((200, 1)), y, cv=10, measures="balanced_accuracy"
        )
    assert found.mean == 0.5 == found.pooled()
    assert np.isnan(found.scores["balanced_accuracy"]).sum() == 7
    assert "take fewer folds" in str(found)


def test_functions_rank_by_what_is_known_of_them_and_others_are_refused(rng):
    X = rng.normal(size=(80, 2))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=80)
    names = leaderboard([LinearRegression()], X, y, cv=4, measures=sklearn_mse).names
    assert names == ["LinearRegression", "baseline"]
    kappa = leaderboard([GaussianNB()], X_IRIS, Y_IRIS, cv=4, measures=cohen_kappa_score)
    assert kappa.names == ["GaussianNB", "baseline"]

    def worst(y, said):
        return np.abs(y - said).max()

    with pytest.raises(DataError, match=r"Measure\('worst', function, greater_is_better="):
        leaderboard([LinearRegression()], X, y, cv=4, measures=worst)
    own = Measure("worst", worst, greater_is_better=False)
    assert leaderboard([LinearRegression()], X, y, cv=4, measures=own).names[0] != "baseline"
    with pytest.raises(DataError, match=r"not of predictions.*'roc_auc'"):
        cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, measures=roc_auc_score)


def test_scorers_have_names_of_their_own_and_stay_between_0_and_1():
    X, y = X_IRIS[50:90], Y_IRIS[50:90].copy()
    y[::2] = 3
    scorers = [
        "f1_macro",
        "roc_auc",
        make_scorer(f1_score, average="micro"),
        make_scorer(zero_one_loss, greater_is_better=False),
    ]
    found = cross_validation_estimates(KNeighborsClassifier(1), X, y, cv=3, measures=scorers)
    names = ["f1_macro", "roc_auc", "f1_score(average=micro)", "neg_zero_one_loss"]
    assert list(found.scores) == names
    assert [each.share for each in found.measures] == [True, True, True, False]
    named = cross_validation_estimates(GaussianNB(), X, y, cv=3, measures={"right": "accuracy"})
    assert list(named.scores) == ["right"]


@pytest.mark.covers("kfold-cv")
def test_shares_of_folds_without_spread_are_not_certain():
    y = np.repeat([0, 1], [57, 3])
    X = np.column_stack([10.0 * y + np.arange(60) / 100, np.arange(60) % 5])
    measures = ["auc", "balanced_accuracy", "recall", "precision", "roc_auc", "f1"]
    found = cross_validation_estimates(KNeighborsClassifier(1), X, y, cv=3, measures=measures)
    for measure in measures:
        figure = found.figure(measure)
        assert figure.value == figure.high == 1
        assert figure.low < 0.85, measure
        assert found.figure(measure, confidence_level=0.5).low > figure.low
    alone = cross_validation_estimates(GaussianNB(), X, y, cv=hold_out_split(60, 0.4, stratify=y))
    assert 0 <= alone.figure().low <= alone.figure().high <= 1


@pytest.mark.covers("squared-error-measures", "learning-curve")
def test_intervals_of_losses_over_folds_are_never_negative(rng):
    X, y = rng.normal(size=(12, 3)), rng.normal(size=12)
    measures = ["mse", "mae", sklearn_mse, "neg_mean_squared_error"]
    found = cross_validation_estimates(LinearRegression(), X, y, cv=3, measures=measures)
    for method in ("rows", "folds"):
        *losses, score = (found.figure(each.name, method=method) for each in found.measures)
        assert all(0 <= figure.low <= figure.value for figure in losses)
        assert score.high <= 0
    curve = learning_curve_estimates(LinearRegression(), X, y, sizes=[5, 8], cv=3)
    assert all(figure.low >= 0 for line in curve.lines.values() for figure in line)


@pytest.mark.covers("kfold-cv")
def test_measures_of_classes_are_refused_for_numbers_and_folds_of_one_class_for_kappa():
    with pytest.raises(DataError, match="accuracy is of classes, and the learner predicts numbers"):
        cross_validation_estimates(
            LinearRegression(), X_IRIS, Y_IRIS, measures=["accuracy", "rmse"]
        )
    X, y = X_IRIS[50:110:3], Y_IRIS[50:110:3]
    alone = cross_validation_estimates(GaussianNB(), X, y, cv=leave_one_out(20), measures="kappa")
    assert np.isnan(alone.scores["kappa"]).all()
    assert "kappa is of every class" in alone.failures[0].error
    with pytest.raises(DataError, match=r"weights must not be negative \(first: row 1, -1\)"):
        cross_validation_estimates(
            GaussianNB(), X, y, sample_weight=np.where(np.arange(20) == 1, -1, 1)
        )


@pytest.mark.covers("squared-error-measures")
def test_a_perfect_regression_has_no_interval_of_a_share():
    X = np.arange(60.0)[:, None]

    class Exact(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return 1000 * X[:, 0]

    found = cross_validation_estimates(Exact(), X, 1000 * X[:, 0], cv=5)
    assert found.figure()[:3] == (0, 0, 0)


def test_classes_that_a_training_fold_lacks_get_probability_zero():
    X = np.arange(12.0)[:, None]
    y = np.repeat([0, 1, 2], 4)
    found = cross_validation_estimates(
        GaussianNB(), X, y, cv=k_fold(12, 3, shuffle=False), measures="brier"
    )
    _, said = found.out_of_fold()
    assert said.probabilities.shape == (12, 3)
    assert (said.probabilities[:4, 0] == 0).all()


def test_learners_without_target_are_scored_by_their_own_score():
    found = cross_validation_estimates(GaussianMixture(2, random_state=0), X_IRIS, cv=3)
    train, test = found.splits[0]
    expected = GaussianMixture(2, random_state=0).fit(X_IRIS[train]).score(X_IRIS[test])
    assert found.scores["score"][0] == pytest.approx(expected)


@pytest.mark.covers("pointwise-loss-object", "empirical-risk")
def test_losses_of_ones_own_and_training_scores_work_as_measures():
    costs = cost_loss([[0, 1, 1], [5, 0, 1], [5, 1, 0]], [0, 1, 2])
    found = cross_validation_estimates(
        KNeighborsClassifier(1), X_IRIS, Y_IRIS, cv=5, measures=costs, train_scores=True
    )
    expected = costs.values(Y_IRIS, found.predictions).mean()
    assert found.mean == pytest.approx(expected)
    assert found.train_scores["cost"] == pytest.approx(np.zeros(5))
    assert found.generalization_gap().value == pytest.approx(found.mean_over_folds())


def test_progress_is_told_fold_by_fold(capsys):
    seen = []
    cross_validation_estimates(
        GaussianNB(), X_IRIS, Y_IRIS, cv=4, progress=lambda done, total: seen.append(done)
    )
    assert seen == [0, 1, 2, 3, 4]
    cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=4, progress=True)
    assert "4/4" in capsys.readouterr().err


def test_memory_is_measured_when_asked_and_scores_do_not_change(rng):
    class Greedy(LinearRegression):
        def fit(self, X, y):
            np.ones(3_000_000)
            return super().fit(X, y)

    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    plain = cross_validation_estimates(Greedy(), X, y, cv=3)
    measured = cross_validation_estimates(Greedy(), X, y, cv=3, measure_memory=True)
    assert np.isnan(plain.peak_memory)
    assert 24e6 <= measured.peak_memory <= 60e6
    assert np.array_equal(plain.scores["rmse"], measured.scores["rmse"])


LEARNER = """
    import os, signal
    import numpy as np
    from pathlib import Path
    from sklearn.naive_bayes import GaussianNB
    from sklearn.datasets import load_iris
    from gnomon.evaluate import cross_validation_estimates

    class Fragile(GaussianNB):
        def fit(self, X, y):
            count = Path("fits")
            done = int(count.read_text()) if count.exists() else 0
            if done == 3 and "KILL" in os.environ:
                os.kill(os.getpid(), signal.SIGKILL)
            count.write_text(str(done + 1))
            return super().fit(X, y)

    if __name__ == "__main__":
        X, y = load_iris(return_X_y=True)
        names = np.array(["setosa", "versicolor", "virginica"])[y]
        found = cross_validation_estimates(Fragile(), X, names, cv=8, folder="run", n_jobs=1,
                               measures=["accuracy", "brier"])
        print(found.scores["accuracy"].tolist(), found.scores["brier"].tolist(), found.figure())
"""


def test_a_killed_run_goes_on_where_it_ended(tmp_path):
    (tmp_path / "job.py").write_text(textwrap.dedent(LEARNER))
    run = [sys.executable, "job.py"]
    environment = dict(os.environ)
    killed = subprocess.run(run, cwd=tmp_path, env=environment | {"KILL": "1"}, check=False)
    assert killed.returncode == -9
    assert len(list((tmp_path / "run").glob("fold-*.json"))) == 3
    resumed = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, check=True)
    # eight folds, and five pairs of folds for the interval
    assert (tmp_path / "fits").read_text() == "13"
    (tmp_path / "run").rename(tmp_path / "first")
    whole = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert resumed.stdout == whole.stdout
    assert {p.suffix for p in (tmp_path / "first").iterdir()} == {".json", ".npy"}


def test_a_folder_of_another_run_is_refused_and_a_broken_fold_is_run_again(tmp_path):
    kwargs = {"cv": 4, "folder": tmp_path / "run"}
    first = cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, **kwargs)
    with pytest.raises(DataError, match="differs in learner"):
        cross_validation_estimates(GaussianNB(var_smoothing=0.1), X_IRIS, Y_IRIS, **kwargs)
    with pytest.raises(DataError, match="differs in rows"):
        cross_validation_estimates(GaussianNB(), X_IRIS + 1, Y_IRIS, **kwargs)
    (tmp_path / "run" / "fold-0002.predictions.npy").write_bytes(b"broken")
    with pytest.warns(GnomonWarning, match="run again"):
        again = cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, **kwargs)
    assert np.array_equal(first.predictions, again.predictions)
    facts = json.loads((tmp_path / "run" / "fold-0000.json").read_text())
    assert facts["failure"] is None


def scaled(function):
    return make_pipeline(FunctionTransformer(function), LinearRegression())


def power(exponent):
    return lambda X: X**exponent


def test_a_folder_tells_functions_by_what_they_do(tmp_path, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    functions = [
        lambda X: X,
        lambda X: X[:, :1],
        lambda X: 2 * X,
        lambda X, times=3: times * X,
        power(2),
        power(3),
    ]
    for k, function in enumerate(functions):
        cross_validation_estimates(scaled(function), X, y, cv=3, folder=tmp_path / str(k))
        for other in range(k):
            with pytest.raises(DataError, match="differs in learner"):
                cross_validation_estimates(
                    scaled(function), X, y, cv=3, folder=tmp_path / str(other)
                )
    again = cross_validation_estimates(scaled(power(3)), X, y, cv=3, folder=tmp_path / "5")
    assert again.mean == cross_validation_estimates(scaled(power(3)), X, y, cv=3).mean


def test_a_folder_tells_measures_by_what_they_do(tmp_path, rng):
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    one = Measure("q", lambda model, X, y: 1.0, "estimator")
    two = Measure("q", lambda model, X, y: 2.0, "estimator")
    asked = {"cv": 3, "folder": tmp_path}
    assert cross_validation_estimates(LinearRegression(), X, y, measures=one, **asked).mean == 1
    with pytest.raises(DataError, match="differs in measures"):
        cross_validation_estimates(LinearRegression(), X, y, measures=two, **asked)
    named = {"cv": 3, "folder": tmp_path / "named", "measures": ["r2", "neg_max_error"]}
    cross_validation_estimates(LinearRegression(), X, y, **named)
    plan = json.loads((tmp_path / "named" / "plan.json").read_text())
    assert plan["measures"] == ["neg_max_error", "r2"]


def test_failed_folds_are_tried_again_when_a_run_goes_on(tmp_path):
    X, y = np.arange(20.0)[:, None], np.array([0, 1] * 10)
    splits = k_fold(20, 4, shuffle=False)
    found = cross_validation_estimates(FailsOnce(0.0), X, y, cv=splits, folder=tmp_path)
    assert len(found.failures) == 1
    again = cross_validation_estimates(FailsOnce(0.0), X, y, cv=splits, folder=tmp_path)
    assert len(again.failures) == 1
    assert again.folds[1].fit_seconds == found.folds[1].fit_seconds


@pytest.mark.covers("learner-comparison")
def test_learners_on_the_same_folds_are_ranked_with_the_baseline_among_them():
    board = leaderboard(
        [GaussianNB(), KNeighborsClassifier()], X_IRIS, Y_IRIS, cv=k_fold(150, 5, 2)
    )
    assert set(board.names) == {"GaussianNB", "KNeighborsClassifier", "baseline"}
    assert board.names[-1] == "baseline"
    assert board.beats_baseline()
    assert board.differences(rope=0.02).equal is not None
    assert len(board.to_table()) == 3
    other = cross_validation_estimates(GaussianNB(), X_IRIS, Y_IRIS, cv=3)
    with pytest.raises(DataError, match="different splits"):
        board.best.p_against(other)
    twice = leaderboard([GaussianNB(), GaussianNB(var_smoothing=1)], X_IRIS, Y_IRIS, cv=3)
    assert "GaussianNB 2" in twice.names


@pytest.mark.covers("learner-property-table")
def test_properties_of_learners_are_measured():
    table = property_table([GaussianNB(), KNeighborsClassifier()], X_IRIS, Y_IRIS, cv=3)
    columns = table.to_table().columns
    for name in ("fit s", "predict s", "peak MB", "model kB", "sparse rows", "accuracy low"):
        assert name in columns
    assert table.model_bytes["KNeighborsClassifier"] > table.model_bytes["GaussianNB"]
    assert table.takes_sparse["KNeighborsClassifier"]


@pytest.mark.covers("holdout-validation")
def test_held_out_rows_count_their_uses_and_the_shipped_model_knows_all_rows():
    held = HoldOut(X_IRIS, Y_IRIS, random_state=1)
    figures = [held.evaluate(KNeighborsClassifier(k)) for k in (1, 5)]
    assert held.uses == 2
    assert "used 2 times" in repr(held)
    train, test = held.splits[0]
    expected = KNeighborsClassifier(1).fit(X_IRIS[train], Y_IRIS[train])
    assert figures[0].value == expected.score(X_IRIS[test], Y_IRIS[test])
    assert len(test) == 30
    assert held.refit(KNeighborsClassifier(1)).n_samples_fit_ == 150


@pytest.mark.covers("three-way-protocol", "model-selection-cv")
@pytest.mark.parametrize("validation", [0.2, 4])
def test_the_winner_is_fitted_again_on_all_but_the_test_rows(validation):
    candidates = {str(k): KNeighborsClassifier(k) for k in (1, 7, 60)}
    chosen = three_way(candidates, X_IRIS, Y_IRIS, validation=validation, random_state=2)
    assert chosen.model.n_samples_fit_ == 120
    assert chosen.name == chosen.board.best.name
    assert chosen.validation_uses == 3
    train, test = hold_out_split(150, 0.2, stratify=Y_IRIS, random_state=2)[0]
    expected = clone(candidates[chosen.name]).fit(X_IRIS[train], Y_IRIS[train])
    assert chosen.test.value == expected.score(X_IRIS[test], Y_IRIS[test])
    if validation == 0.2:
        assert len(chosen.board.best.splits[0][1]) == 30


@pytest.mark.covers("model-selection-cv")
def test_the_winners_own_score_is_too_good_and_the_nested_one_is_not(rng):
    gaps, nested = [], []
    for seed in range(12):
        X, y = rng.normal(size=(60, 8)), np.tile([0, 1], 30)
        columns = {str(j): make_pipeline(Column(j), GaussianNB()) for j in range(8)}
        found = nested_cross_validation(columns, X, y, outer=3, inner=3, random_state=seed)
        gaps.append(found.optimism.value)
        nested.append(found.figure.value)
    assert np.mean(gaps) > 0.01
    assert np.mean(nested) == pytest.approx(0.5, abs=0.1)


class Column(BaseEstimator):
    """One column of the rows."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, [self.number]]

    def __sklearn_is_fitted__(self):
        return True


def test_nested_results_do_not_depend_on_the_number_of_jobs():
    candidates = {str(k): KNeighborsClassifier(k) for k in (1, 15)}
    one = nested_cross_validation(candidates, X_IRIS, Y_IRIS, outer=3, inner=3, n_jobs=1)
    other = nested_cross_validation(candidates, X_IRIS, Y_IRIS, outer=3, inner=3, n_jobs=3)
    assert one.chosen == other.chosen
    assert np.array_equal(one.inner, other.inner)
    assert np.array_equal(one.outer.scores["accuracy"], other.outer.scores["accuracy"])
    assert "inner score" in str(one)


@pytest.mark.covers("complexity-penalised-selection", "model-selection-cv")
def test_the_simplest_of_the_near_best_is_taken():
    means, errors = [0.40, 0.22, 0.20, 0.205], [0.03] * 4
    assert one_standard_error(means, errors, [1, 2, 3, 4]) == 1
    assert one_standard_error(means, [0.0] * 4, [1, 2, 3, 4]) == 2
    assert one_standard_error([0.6, 0.78, 0.8], [0.03] * 3, [1, 2, 3], greater_is_better=True) == 1
    assert complexity_penalized([0.5, 0.2, 0.1], [1, 2, 3], 0.05) == 2
    assert complexity_penalized([0.5, 0.2, 0.1], [1, 2, 3], 0.2) == 1
    candidates = {str(k): KNeighborsClassifier(k) for k in (1, 9)}
    found = three_way(
        candidates,
        X_IRIS,
        Y_IRIS,
        validation=5,
        rule="one-standard-error",
        complexity={"1": 2.0, "9": 1.0},
    )
    assert found.name == "9"


def test_shuffled_targets_tell_learning_from_luck(rng):
    X, y = rng.normal(size=(60, 2)), np.tile([0, 1], 30)
    informed = X + 3 * y[:, None]
    found = label_permutation_test(GaussianNB(), informed, y, n_permutations=40)
    assert found.p == pytest.approx(1 / 41)
    assert len(found.null) == 40
    error = label_permutation_test(GaussianNB(), informed, y, n_permutations=40, measure="brier")
    assert error.p == pytest.approx(1 / 41)


@pytest.mark.covers("null-hypothesis-test")
def test_what_looks_at_no_column_scores_alike_on_every_shuffle():
    y = np.repeat([0, 1], [12, 9])
    found = label_permutation_test(
        BaselineClassifier(), np.zeros((21, 1)), y, cv=7, measure="log_loss", n_permutations=9
    )
    assert found.p == 1
    assert (found.null == found.statistic).all()
    with pytest.raises(DataError, match="one measure counts here, and 2 were given"):
        label_permutation_test(GaussianNB(), X_IRIS, Y_IRIS, measure=["accuracy", "kappa"])
    with pytest.raises(DataError, match="n_permutations=0"):
        label_permutation_test(GaussianNB(), X_IRIS, Y_IRIS, n_permutations=0)


@pytest.mark.covers("bootstrap-prediction-error")
def test_out_of_bag_and_632_by_their_formulas(rng):
    X = rng.normal(size=(40, 2))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    found = bootstrap_error(KNeighborsClassifier(1), X, y, n_bags=40)
    losses = [[] for _ in range(40)]
    for train, test in bootstrap_bags(40, 40):
        said = KNeighborsClassifier(1).fit(X[train], y[train]).predict(X[test])
        for row, wrong in zip(test, said != y[test]):
            losses[row].append(wrong)
    oob = np.mean([np.mean(each) for each in losses if each])
    assert found.out_of_bag.value == pytest.approx(oob)
    assert found.training == 0
    assert found.point632.value == pytest.approx((1 - 1 / np.e) * oob)
    p = y.mean()
    gamma = p * (1 - p) + (1 - p) * p
    assert found.no_information == pytest.approx(gamma)
    rate = min(oob / gamma, 1)
    weight = 0.632121 / (1 - 0.367879 * rate)
    assert found.point632_plus.value == pytest.approx(weight * oob, rel=1e-4)
    assert found.point632.value < found.point632_plus.value <= oob + 1e-12


@pytest.mark.covers("bootstrap-prediction-error")
def test_no_information_error_is_the_mean_over_all_pairings(rng):
    X, y = rng.normal(size=(15, 1)), rng.normal(size=15)
    said = LinearRegression().fit(X, y).predict(X)
    for name, loss in (("mse", np.square), ("mae", np.abs)):
        found = bootstrap_error(LinearRegression(), X, y, measure=name, n_bags=20)
        assert found.no_information == pytest.approx(loss(y[:, None] - said).mean())
    with pytest.raises(DataError, match="no mean of losses"):
        bootstrap_error(LinearRegression(), X, y, measure="rmse")


@pytest.mark.covers("bootstrap-estimate")
def test_bootstrap_of_columns_and_tables_does_not_depend_on_jobs_or_blocks(rng):
    x, y = rng.normal(size=(2, 60))
    one = bootstrap(lambda a, b: np.corrcoef(a, b)[0, 1], x, y, n_resamples=120, n_jobs=1)
    two = bootstrap(lambda a, b: np.corrcoef(a, b)[0, 1], x, y, n_resamples=120, n_jobs=3)
    assert np.array_equal(one.replicates, two.replicates)
    table = Table.from_dict({"x": x.tolist(), "y": y.tolist()})
    frame = bootstrap(lambda t: np.mean(t.column("x").to_numpy()), table, n_resamples=60)
    flat = bootstrap(np.mean, x, n_resamples=60)
    assert frame.replicates == pytest.approx(flat.replicates)
    vector = bootstrap(lambda a: [a.mean(), a.std()], x, n_resamples=60)
    assert len(vector.interval()) == 2
    assert len(vector.to_table()) == 2


@pytest.mark.covers("bootstrap-estimate")
def test_bootstrap_error_of_a_mean_is_sd_over_root_n(rng):
    x = rng.normal(size=100)
    found = bootstrap(lambda a: a.mean(axis=-1), x, n_resamples=4000, vectorized=True)
    assert found.standard_error == pytest.approx(x.std() / 10, rel=0.06)
    low, high = np.quantile(found.replicates, [0.025, 0.975])
    basic = found.interval(method="basic")
    assert (basic.low, basic.high) == pytest.approx((2 * x.mean() - high, 2 * x.mean() - low))
    with pytest.raises(DataError, match="NaN or infinite"):
        bootstrap(lambda a: np.nan, x)


@pytest.mark.covers("bootstrap-interval", "bootstrap-estimate")
def test_error_bars_of_predictions_are_those_of_least_squares(rng):
    x = rng.uniform(-1, 1, (150, 1))
    y = 2 * x[:, 0] + rng.normal(size=150)
    found = bootstrap_predictions(LinearRegression(), x, y, [[0.0], [1.0]], n_resamples=400)
    design = np.column_stack([np.ones(150), x])
    # resampled rows have the errors of White's formula, which takes each row's own residual
    pull = np.array([[1, 0.0], [1, 1.0]]) @ np.linalg.pinv(design)
    residuals = y - design @ np.linalg.lstsq(design, y)[0]
    expected = np.sqrt(pull**2 @ residuals**2)
    assert found.standard_error == pytest.approx(expected, rel=0.25)
    assert found.interval()[0].confidence_level == 0.9
    proba = bootstrap_predictions(
        GaussianNB(), X_IRIS, (Y_IRIS == 2).astype(int), X_IRIS[:2], n_resamples=20
    )
    assert all(0 <= each.low <= each.high <= 1 for each in proba.interval())


@pytest.mark.covers("bootstrap-interval")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "foo"}, "none of"),
        ({"method": "expanded"}, "n more fits"),
        ({"confidence_level": 95}, "95"),
    ],
)
def test_the_interval_is_checked_before_any_fit_or_draw(options, words):
    with pytest.raises(DataError, match=words):
        bootstrap_predictions(None, X_IRIS, Y_IRIS, X_IRIS[:2], **options)
    if options != {"method": "expanded"}:
        with pytest.raises(DataError, match=words):
            bootstrap(None, X_IRIS, **options)


@pytest.mark.covers("monte-carlo-error-bars")
def test_error_bars_from_a_simulator(seed):
    found = monte_carlo_error_bars(
        lambda rng: rng.normal(3, 2, 50), lambda x: [x.mean(), x.var()], random_state=seed
    )
    assert found.estimate == pytest.approx([3, 4 * 49 / 50], abs=0.2)
    assert found.standard_error[0] == pytest.approx(2 / np.sqrt(50), rel=0.12)
    one = monte_carlo_error_bars(lambda rng: rng.normal(), float, n_simulations=50, n_jobs=1)
    two = monte_carlo_error_bars(lambda rng: rng.normal(), float, n_simulations=50, n_jobs=3)
    assert np.array_equal(one.replicates, two.replicates)


@pytest.mark.covers("random-guess-baseline")
@pytest.mark.parametrize("by", ["even", "shares"])
def test_guesses_err_as_often_as_expected_and_the_same_row_gets_the_same_guess(by, seed, rng):
    X = rng.normal(size=(6000, 2))
    y = np.repeat([0, 1, 2], [3000, 2000, 1000])
    model = RandomGuessClassifier(by, random_state=seed).fit(X, y)
    error = np.mean(model.predict(X) != y)
    assert error == pytest.approx(model.expected_error_, abs=5 * 0.5 / np.sqrt(6000))
    order = rng.permutation(6000)[:100]
    assert np.array_equal(model.predict(X[order]), model.predict(X)[order])
    other = RandomGuessClassifier(by, random_state=seed + 1).fit(X, y)
    assert not np.array_equal(other.predict(X), model.predict(X))


@pytest.mark.covers("random-hyperplane-baseline")
def test_random_hyperplanes_err_half_the_time_and_so_does_their_majority(seed, rng):
    X = rng.normal(size=(200, 3)) + np.repeat([[-1.0], [1.0]], 100, axis=0)
    y = np.repeat([0, 1], 100)
    models = [RandomHyperplaneClassifier(random_state=seed + i).fit(X, y) for i in range(400)]
    votes = np.array([model.predict(X) for model in models])
    errors = (votes != y).mean(axis=1)
    assert errors.mean() == pytest.approx(0.5, abs=5 * errors.std() / np.sqrt(400))
    majorities = [votes[rng.integers(0, 400, 15)].mean(axis=0) > 0.5 for _ in range(400)]
    wrong = np.mean([(each != y).mean() for each in majorities])
    assert wrong == pytest.approx(0.5, abs=0.15)


@pytest.mark.covers("memorising-classifier")
def test_memory_has_no_training_error_and_chance_beyond(seed, rng):
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 4, 300)
    model = MemorizingClassifier(random_state=seed).fit(X, y)
    assert np.array_equal(model.predict(X), y)
    new, truth = rng.normal(size=(4000, 2)), rng.integers(0, 4, 4000)
    assert np.mean(model.predict(new) != truth) == pytest.approx(0.75, abs=0.04)
    twice = MemorizingClassifier(random_state=0).fit([[0.0], [-0.0], [0.0], [1.0]], [0, 1, 1, 0])
    assert twice.predict([[0.0]])[0] == 1
    gaps = MemorizingClassifier(random_state=0).fit([[np.nan], [1.0]], [0, 1])
    assert gaps.predict([[np.nan]])[0] == 0


@pytest.mark.covers("random-split-cv")
def test_rows_that_are_tested_several_times_do_not_make_the_error_smaller_for_ever(rng):
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    few = cross_validation_estimates(LinearRegression(), X, y, cv=k_fold(60, 5), measures="mse")
    many = cross_validation_estimates(
        LinearRegression(), X, y, cv=k_fold(60, 5, 10), measures="mse"
    )
    assert many.standard_error == pytest.approx(few.standard_error, rel=0.25)


def room_of_results():
    """Modules of the room, and the kinds of results that they define."""
    for each in pkgutil.iter_modules(evaluate.__path__):
        module = importlib.import_module(f"gnomon.evaluate.{each.name}")
        kinds = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, Result)]
        yield module, {kind for kind in kinds if kind.__module__ == module.__name__} - {Result}


def test_every_kind_of_result_of_the_room_prints(monkeypatch):
    """One of each kind, as the examples of the documentation make them."""
    made = {}

    def remember(kind):
        build = kind.__init__

        def build_and_keep(self, *args, **kwargs):
            build(self, *args, **kwargs)
            made.setdefault(type(self), self)

        monkeypatch.setattr(kind, "__init__", build_and_keep)

    room = list(room_of_results())
    for _, kinds in room:
        for kind in kinds:
            remember(kind)
    for module, kinds in room:
        for test in doctest.DocTestFinder(exclude_empty=True).find(module):
            if test.examples and not kinds <= made.keys():
                doctest.DocTestRunner(verbose=False).run(test, out=lambda text: None)
        assert kinds <= made.keys(), f"no example makes {kinds - made.keys()}"
    for result in made.values():
        assert str(result) == repr(result)
        assert result._repr_html_().startswith('<div class="gnomon">')


@pytest.mark.covers("cross-entropy-loss")
def test_infinite_scores_go_through_every_tool(rng):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + y[:, None]
    # grown to the end it is sure of every row, and wrong about some
    tree = DecisionTreeClassifier(random_state=0)
    learners = {"tree": tree, "bayes": GaussianNB()}
    asked = {"cv": 4, "measures": "log_loss", "pair_fits": 0}
    board = leaderboard(learners, X, y, **asked)
    assert board["tree"].mean == np.inf
    assert board.names[-1] == "tree"
    assert np.isnan(board["tree"].p_against(board["bayes"]))
    assert "log_loss is infinite, so there is no p: tree (" in str(board)
    differences = board.differences()
    assert (differences.infinite, differences.left_out) == (["tree"], [])
    assert "Left out, as scores are infinite: tree" in str(differences)
    assert board["tree"].figure(method="folds").high == np.inf
    tables = experiment(learners, {"a": (X, y), "b": (X, y)}, **asked)
    assert np.isnan(tables.against().outcome[0, 0])
    assert "Not compared" in str(tables.against())
    assert tables.ranks().ranks[0] == 3
    curve = learning_curve_estimates(tree, X, y, sizes=[1.0], cv=4, measures="log_loss")
    assert curve.values("validation")[0] == np.inf
    assert "inf" in str(curve)
    bags = bootstrap_error(tree, X, y, measure="log_loss", n_bags=30)
    assert bags.out_of_bag.value == bags.point632_plus.value == np.inf
    assert "infinite" in str(bags)
    shuffled = label_permutation_test(tree, X, y, measure="log_loss", n_permutations=4)
    assert shuffled.p == 1
    nested = nested_cross_validation({"tree": tree}, X, y, measure="log_loss", outer=3, inner=3)
    assert "inf" in str(nested)
    assert "inf" in str(three_way({"tree": tree}, X, y, measure="log_loss", validation=4))


@pytest.mark.covers("model-selection-cv")
def test_nested_folds_keep_groups_together_pass_weights_on_and_go_on_from_a_folder(tmp_path, rng):
    groups = np.repeat(np.arange(12), 5)
    y = np.arange(60) % 2
    X = np.column_stack([rng.normal(size=60) + y, groups])
    weights = rng.integers(1, 4, 60).astype(float)
    fits = []

    class Noted(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            self.trained_, self.total_ = set(X[:, 1]), sample_weight.sum()
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            fits.append((self.trained_, self.total_, set(X[:, 1])))
            return super().predict(X)

    asked = {"outer": 3, "inner": 3, "groups": groups, "sample_weight": weights, "n_jobs": 1}
    candidates = {"noted": Noted(), "other": Noted(var_smoothing=1e-3)}
    first = nested_cross_validation(candidates, X, y, folder=tmp_path, **asked)
    assert len(fits) == 3 * (2 * 3 + 1)
    assert all(not trained & tested for trained, _, tested in fits)
    assert all(total > 5 for _, total, _ in fits)
    again = nested_cross_validation(candidates, X, y, folder=tmp_path, **asked)
    assert len(fits) == 3 * (2 * 3 + 1)
    assert str(again.to_table()) == str(first.to_table())
    with pytest.raises(DataError, match="differs in weights"):
        nested_cross_validation(
            candidates, X, y, folder=tmp_path, **asked | {"sample_weight": y + 1}
        )


def test_shuffled_targets_and_learning_curves_go_on_from_a_folder(tmp_path, rng):
    fits = []

    class Noted(GaussianNB):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    tools = {
        "shuffles": lambda folder: label_permutation_test(
            Noted(), X, y, cv=4, n_permutations=3, folder=folder
        ),
        "curve": lambda folder: learning_curve_estimates(
            Noted(), X, y, cv=4, sizes=[10, 30], folder=folder
        ),
    }
    for name, tool in tools.items():
        fits.clear()
        first = str(tool(tmp_path / name))
        assert len(fits) == {"shuffles": 16, "curve": 8}[name]
        assert str(tool(tmp_path / name)) == first == str(tool(None))
        assert len(fits) == 2 * {"shuffles": 16, "curve": 8}[name]


@pytest.mark.parametrize("repeats", [1, 2])
def test_an_interval_of_squares_that_one_row_rules_says_that_it_is_too_short(repeats, rng):
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    calm = cross_validation_estimates(
        LinearRegression(), X, y, cv=k_fold(60, 5, repeats), measures="rmse"
    )
    assert "too short" not in calm.figure().how
    y[7] = 40.0
    ruled = cross_validation_estimates(
        LinearRegression(), X, y, cv=k_fold(60, 5, repeats), measures="rmse"
    )
    assert "one row holds" in ruled.figure().how
