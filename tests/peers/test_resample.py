"""Resampling against scikit-learn and SciPy."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedStratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB

import gnomon.evaluate as ge


@pytest.mark.covers("kfold-cv", "repeated-cv", "stratified-cv", "leave-one-out-cv")
@pytest.mark.parametrize(
    "splitter",
    [KFold(5, shuffle=True, random_state=0), RepeatedStratifiedKFold(n_repeats=2), LeaveOneOut()],
)
def test_scores_on_scikit_learns_splits_are_its_scores(splitter):
    X, y = load_iris(return_X_y=True)
    pairs = list(splitter.split(X, y))
    expected = cross_validate(
        GaussianNB(), X, y, cv=pairs, scoring=["accuracy"], return_train_score=True
    )
    found = ge.cross_validation_estimates(
        GaussianNB(), X, y, cv=pairs, measures="accuracy", train_scores=True
    )
    assert found.scores["accuracy"] == pytest.approx(expected["test_accuracy"])
    assert found.train_scores["accuracy"] == pytest.approx(expected["train_accuracy"])


@pytest.mark.covers("kfold-cv")
def test_predictions_out_of_fold_are_scikit_learns():
    X, y = load_iris(return_X_y=True)
    splitter = KFold(5, shuffle=True, random_state=1)
    found = ge.cross_validation_estimates(GaussianNB(), X, y, cv=splitter)
    assert np.array_equal(found.predictions, cross_val_predict(GaussianNB(), X, y, cv=splitter))


@pytest.mark.covers("analytic-loocv")
def test_leave_one_out_of_ridge_is_that_of_ridge_cv():
    X, y = load_diabetes(return_X_y=True)
    model = RidgeCV(alphas=[0.1, 1.0], store_cv_results=True).fit(X, y)
    for place, alpha in enumerate((0.1, 1.0)):
        expected = model.cv_results_[:, place].mean()
        found = ge.linear_leave_one_out(X, y, alpha)
        assert found.mean_squared_error.value == pytest.approx(expected)


@pytest.mark.covers("bootstrap-interval", "bootstrap-estimate")
@pytest.mark.parametrize(("ours", "theirs"), [("bca", "BCa"), ("percentile",) * 2, ("basic",) * 2])
def test_bootstrap_intervals_agree_with_scipy_up_to_the_draws(ours, theirs, rng):
    x = rng.exponential(size=60)
    expected = stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method=theirs, rng=np.random.default_rng(1)
    )
    found = ge.bootstrap(
        lambda a: a.mean(axis=-1), x, n_resamples=20_000, method=ours, vectorized=True
    )
    figure = found.interval()
    ends = expected.confidence_interval
    width = ends.high - ends.low
    assert figure.low == pytest.approx(ends.low, abs=0.03 * width)
    assert figure.high == pytest.approx(ends.high, abs=0.03 * width)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.04)
