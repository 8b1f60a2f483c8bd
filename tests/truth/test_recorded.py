"""Steps of scikit-learn's loops, recorded from outside, are those that its code makes."""

from __future__ import annotations

import threading
import types

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

from gnomon.contract.recorded import replaced
from gnomon.linear import HuberRegressor, LassoCV, LogisticRegressionCV, TheilSenRegressor
from gnomon.margin import Perceptron
from gnomon.reduce import PLSCanonical


@pytest.fixture
def module():
    return types.ModuleType("one of scikit-learn's")


def test_a_function_is_replaced_for_the_thread_that_asks_and_put_back(module):
    module.double = original = lambda x: 2 * x
    elsewhere = []
    with replaced(module, "double", lambda first, x: first(x) + 1):
        with replaced(module, "double", lambda first, x: first(x) + 100):
            assert module.double(1) == 102
        assert module.double(1) == 3
        thread = threading.Thread(target=lambda: elsewhere.append(module.double(1)))
        thread.start()
        thread.join()
    assert elsewhere == [2]
    assert module.double is original


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(60, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=60)


@pytest.mark.parametrize("cls", [HuberRegressor, TheilSenRegressor])
def test_the_state_after_k_steps_is_what_a_fit_of_k_steps_ends_with(cls, rows):
    drawn = {"random_state": 0} if cls is TheilSenRegressor else {}
    states = cls(keep_history="full", **drawn).fit(*rows).history_.states
    for k in (1, 3):
        with pytest.warns(ConvergenceWarning):
            short = cls(max_iter=k, **drawn).fit(*rows)
        ours = next(iter(states[k - 1].values()))
        coef = ours[1:] if cls is TheilSenRegressor else ours[:3]
        np.testing.assert_array_equal(short.coef_, coef)


def test_the_passes_of_the_perceptron_end_at_its_coefficients(rows):
    X, y = rows
    classes = np.digitize(y, [-1, 1])
    model = Perceptron(random_state=0, keep_history="full").fit(X, classes)
    last = model.history_.states[-1]
    np.testing.assert_array_equal(last["coef"], model.coef_)
    np.testing.assert_array_equal(last["intercept"], model.intercept_)
    signs = np.where(classes[:, None] == model.classes_, 1, -1)
    loss = np.maximum(0, -signs * model.decision_function(X)).sum()
    assert model.history_[-1] == pytest.approx(loss)
    assert len(model.history_) == model.n_iter_


def test_the_objective_of_the_lasso_falls_to_that_of_its_solution(rows):
    X, y = rows
    model = LassoCV(cv=3).fit(X, y)
    assert (np.diff(model.history_) <= 1e-12).all()
    alone = ElasticNet(alpha=model.alpha_, l1_ratio=1, tol=1e-10).fit(X, y)
    errors = y - alone.predict(X)
    best = (errors @ errors) / 120 + model.alpha_ * np.abs(alone.coef_).sum()
    assert model.history_[-1] == pytest.approx(best, rel=1e-4)


def test_every_iteration_of_every_fold_is_in_the_history(rows):
    X, y = rows
    model = LogisticRegressionCV(Cs=2, cv=3, l1_ratios=(0,), use_legacy_attributes=False)
    model.fit(X, y > 0)
    assert len(model.history_) == model.n_iter_.sum()


def test_pairs_of_directions_are_reported_one_after_the_other(rng):
    X = rng.normal(size=(40, 4))
    Y = X[:, :3] + rng.normal(size=(40, 3))
    model = PLSCanonical(n_components=2, keep_history="full").fit(X, Y)
    assert len(model.history_) == sum(model.n_iter_)
    ends = np.cumsum(model.n_iter_) - 1
    for k, end in enumerate(ends):
        found = model.history_.states[end]["x_weights"]
        assert abs(found @ model.x_weights_[:, k]) == pytest.approx(1.0)


def test_passes_that_are_made_again_for_the_history_do_not_warn(rng, recwarn):
    X = rng.normal(size=(50, 5))
    model = LassoCV(cv=3).fit(X, X[:, 0] + 0.1 * rng.normal(size=50))
    assert len(model.history_) > 1
    assert not [each for each in recwarn if each.category is ConvergenceWarning]
