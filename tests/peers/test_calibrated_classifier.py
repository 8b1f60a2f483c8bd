"""CalibratedClassifierCV: scikit-learn's probabilities on its folds, and on any table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn import calibration
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC as TheirSVC

import gnomon
from gnomon.engine.errors import DataError
from gnomon.ensemble import CalibratedClassifierCV
from gnomon.ensemble.calibrated import sigmoid_map
from gnomon.linear import LogisticRegression

# scikit-learn stops where the gradient is small, and these maps where the loss falls no further
CLOSE = {"sigmoid": 2e-4, "isotonic": 1e-9, "temperature": 1e-5}


def problem(rng, n_classes, n=240):
    X = rng.normal(size=(n, 3))
    score = X[:, 0] + rng.normal(size=n)
    codes = np.searchsorted(np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]), score)
    return X, np.array(["low", "middle", "up"])[codes]


@pytest.mark.covers("probability-calibration")
@pytest.mark.parametrize("learner", [GaussianNB(), TheirSVC(random_state=0)], ids=["nb", "svc"])
@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", list(CLOSE))
def test_probabilities_are_those_of_scikit_learn_on_its_folds(
    method, n_classes, ensemble, learner, rng, tmp_path
):
    X, y = problem(rng, n_classes)
    options = {"method": method, "ensemble": ensemble, "cv": StratifiedKFold(4)}
    theirs = calibration.CalibratedClassifierCV(learner, **options).fit(X, y)
    ours = CalibratedClassifierCV(learner, **options).fit(X, y)
    expected = theirs.predict_proba(X)
    np.testing.assert_allclose(ours.predict_proba(X), expected, atol=CLOSE[method])
    clear = np.sort(expected, axis=1)[:, -1] - np.sort(expected, axis=1)[:, -2] > 1e-3
    np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])
    assert len(ours.calibrated_classifiers_) == len(theirs.calibrated_classifiers_)
    assert list(ours.classes_) == list(theirs.classes_)


@pytest.mark.parametrize("method", list(CLOSE))
@pytest.mark.parametrize("ensemble", ["auto", True])
def test_a_frozen_estimator_is_calibrated_as_it_is(method, ensemble, rng, tmp_path):
    X, y = problem(rng, 3)
    fitted = TheirLogistic().fit(X[:100], y[:100])
    options = {"method": method, "ensemble": ensemble, "cv": StratifiedKFold(4)}
    theirs = calibration.CalibratedClassifierCV(FrozenEstimator(fitted), **options)
    ours = CalibratedClassifierCV(FrozenEstimator(fitted), **options)
    expected = theirs.fit(X[100:], y[100:]).predict_proba(X)
    found = ours.fit(X[100:], y[100:]).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=CLOSE[method])
    assert len(ours.calibrated_classifiers_) == (1 if ensemble == "auto" else 4)
    with pytest.raises(DataError, match="knows the class 'up'"):
        CalibratedClassifierCV(FrozenEstimator(fitted)).fit(X[y != "up"], y[y != "up"])


def test_a_frozen_estimator_of_a_table_stands_in_a_model_file(rng, tmp_path):
    X, y = problem(rng, 2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(sign=np.where(X[:, 0] > 0, "+", "-"))
    fitted = LogisticRegression().fit(frame[:100], y[:100])
    model = CalibratedClassifierCV(FrozenEstimator(fitted), cv=3).fit(frame[100:], y[100:])
    found = model.predict_proba(frame)
    assert np.abs(found - fitted.predict_proba(frame)).max() < 0.25
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict_proba(frame), found)


def test_the_sigmoid_has_the_greatest_likelihood(rng):
    scores = rng.normal(size=60)
    positive = scores + rng.normal(size=60) > 0
    weights = rng.uniform(0.5, 2.0, size=60)
    many, few = weights[positive].sum(), weights[~positive].sum()
    target = np.where(positive, (many + 1) / (many + 2), 1 / (few + 2))

    def loss(parameters):
        p = 1 / (1 + np.exp(parameters[0] * scores + parameters[1]))
        return -weights @ (target * np.log(p) + (1 - target) * np.log(1 - p))

    found = sigmoid_map(scores, positive, weights)
    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    np.testing.assert_allclose([found.a_, found.b_], best.x, atol=1e-5)


def test_a_class_with_fewer_rows_than_folds_is_warned_of(rng):
    X, y = problem(rng, 2)
    y = np.where(np.arange(len(y)) < 2, "rare", y)
    with pytest.warns(UserWarning, match="less than 5 examples for class 'rare'"):
        model = CalibratedClassifierCV(GaussianNB(), cv=5).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    with pytest.raises(ValueError, match="Requesting 200-fold"):
        CalibratedClassifierCV(GaussianNB(), cv=200).fit(X, y)


def test_probabilities_do_not_depend_on_the_order_of_rows(rng):
    X, y = problem(rng, 3)
    shuffle = rng.permutation(len(y))
    ours = CalibratedClassifierCV(GaussianNB(), method="isotonic")
    expected = ours.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours.fit(X[shuffle], y[shuffle]).predict_proba(X), expected)
