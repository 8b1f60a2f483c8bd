"""Ensembles beside scikit-learn's, given the same members and the same folds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import ensemble as theirs
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.multiclass import OutputCodeClassifier as TheirCodes
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gnomon.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    OutputCodeClassifier,
    StackingClassifier,
    StackingRegressor,
    StagewiseClassifier,
    StagewiseRegressor,
    VotingClassifier,
    VotingRegressor,
)


def blobs(rng, n=120, k=3):
    y = np.arange(n) % k
    return rng.normal(scale=2, size=(k, 3))[y] + rng.normal(size=(n, 3)), y


@pytest.mark.covers("majority-vote", "probability-averaging")
@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_voting_agrees_with_scikit_learn(voting, rng):
    X, y = blobs(rng)
    members = [("a", GaussianNB()), ("b", KNeighborsClassifier()), ("c", LogisticRegression())]
    ours = VotingClassifier(members, voting=voting, weights=[1, 2, 2]).fit(X, y)
    peer = theirs.VotingClassifier(members, voting=voting, weights=[1, 2, 2]).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    numbers = [("a", LinearRegression()), ("b", KNeighborsRegressor())]
    np.testing.assert_allclose(
        VotingRegressor(numbers).fit(X, X[:, 0]).predict(X),
        theirs.VotingRegressor(numbers).fit(X, X[:, 0]).predict(X),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.covers("stacking")
def test_stacking_agrees_with_scikit_learn_on_the_same_folds(rng):
    X, y = blobs(rng, k=2)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    members = [("a", GaussianNB()), ("b", KNeighborsClassifier())]
    final = LogisticRegression(tol=1e-10)
    ours = StackingClassifier(members, final, cv=folds).fit(X, y)
    peer = theirs.StackingClassifier(members, final, cv=folds).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-5)
    numbers = [("a", LinearRegression()), ("b", KNeighborsRegressor())]
    ours = StackingRegressor(numbers, Ridge(), cv=folds).fit(X, X[:, 0] * X[:, 1])
    peer = theirs.StackingRegressor(numbers, Ridge(), cv=folds).fit(X, X[:, 0] * X[:, 1])
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-8)


@pytest.mark.covers("adaboost")
def test_adaboost_of_their_stumps_is_theirs(rng):
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=200) > 0).astype(int)
    stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(stump, n_estimators=15).fit(X, y)
    peer = theirs.AdaBoostClassifier(stump, n_estimators=15).fit(X, y)
    np.testing.assert_allclose(ours.estimator_weights_, peer.estimator_weights_, rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))


@pytest.mark.covers("adaboost")
def test_fast_stumps_predict_as_well_as_theirs(rng):
    X = rng.normal(size=(4000, 10))
    y = ((X**2).sum(axis=1) > 9.34).astype(int)
    ours = AdaBoostClassifier(n_estimators=150).fit(X[:2000], y[:2000])
    peer = theirs.AdaBoostClassifier(n_estimators=150).fit(X[:2000], y[:2000])
    assert ours.score(X[2000:], y[2000:]) > peer.score(X[2000:], y[2000:]) - 0.07


@pytest.mark.covers("gradient-boosting-fit-regressor", "forward-stagewise-additive")
def test_squared_loss_with_their_trees_is_their_gradient_boosting(rng):
    X = rng.normal(size=(150, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=150)
    tree = DecisionTreeRegressor(max_depth=3)
    ours = StagewiseRegressor(tree, n_estimators=20, learning_rate=0.1).fit(X, y)
    peer = theirs.GradientBoostingRegressor(
        n_estimators=20, learning_rate=0.1, max_depth=3, criterion="squared_error"
    ).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=1e-6)


@pytest.mark.covers("gradient-boosting-fit-regressor")
def test_deviance_with_their_trees_is_as_good_as_their_gradient_boosting(rng):
    X = rng.normal(size=(2000, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000) > 0).astype(int)
    ours = StagewiseClassifier(DecisionTreeRegressor(max_depth=3), n_estimators=40)
    peer = theirs.GradientBoostingClassifier(n_estimators=40)
    ours.fit(X[:1000], y[:1000])
    peer.fit(X[:1000], y[:1000])
    assert ours.score(X[1000:], y[1000:]) > peer.score(X[1000:], y[1000:]) - 0.04


@pytest.mark.covers("bagging")
def test_bagged_trees_are_as_good_as_theirs(rng):
    X, y = blobs(rng, n=1200)
    half = np.arange(1200) < 600
    ours = BaggingClassifier(DecisionTreeClassifier(), 30, oob_score=True).fit(X[half], y[half])
    peer = theirs.BaggingClassifier(DecisionTreeClassifier(), 30).fit(X[half], y[half])
    score = ours.score(X[~half], y[~half])
    assert abs(score - peer.score(X[~half], y[~half])) < 0.06
    assert abs(score - ours.oob_score_) < 0.08


@pytest.mark.covers("error-correcting-output-codes")
def test_output_codes_are_as_good_as_theirs(rng):
    X, y = blobs(rng, n=800, k=6)
    half = np.arange(800) < 400
    ours = OutputCodeClassifier(LogisticRegression(), code="auto").fit(X[half], y[half])
    peer = TheirCodes(LogisticRegression(), code_size=5, random_state=0).fit(X[half], y[half])
    assert ours.score(X[~half], y[~half]) > peer.score(X[~half], y[~half]) - 0.06
    same = OutputCodeClassifier(LogisticRegression(), code_size=5, random_state=0)
    np.testing.assert_array_equal(same.fit(X[half], y[half]).predict(X), peer.predict(X))
    np.testing.assert_array_equal(same.code_book_, peer.code_book_)
