"""The stack of `learn`: weights from the folds, judged without the rows that it is judged by."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

import gnomon
from gnomon.bayes import NaiveBayes
from gnomon.ensemble import VotingClassifier, VotingRegressor
from gnomon.evaluate import cross_validation_estimates
from gnomon.evaluate.splits import forward_in_time, k_fold
from gnomon.linear import LinearRegression, LogisticRegression
from gnomon.table import Table
from gnomon.trees import DecisionTreeRegressor
from gnomon.workbench.analysis.portfolio import Entrant, portfolio
from gnomon.workbench.learn.blend import blended, weights_for, weights_from


def compared(learners, X, y, splits, measures):
    """Entrants and their results on the same splits."""
    entrants = [Entrant(type(each).__name__, each, 1) for each in learners]
    results = [
        cross_validation_estimates(
            e.learner, X, y, cv=splits, measures=measures, train_scores=True, name=e.name
        )
        for e in entrants
    ]
    return entrants, results


@pytest.fixture
def numbers(rng):
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + np.where(X[:, 1] > 0, 2.0, -2.0) + 0.3 * rng.normal(size=120)
    learners = [LinearRegression(), DecisionTreeRegressor(max_depth=3)]
    return learners, X, y


@pytest.mark.covers("model-recycling")
def test_the_weights_are_those_of_least_squares_of_what_was_said_out_of_fold(numbers):
    learners, X, y = numbers
    entrants, results = compared(learners, X, y, k_fold(120, 5), "rmse")
    said = np.full((120, 2), np.nan)
    for m, each in enumerate(results):
        for k, (_, test) in enumerate(each.splits):
            said[test, m] = each.folds[k].said.predictions
    best = minimize(
        lambda a: ((said @ [a[0], 1 - a[0]] - y) ** 2).sum(), [0.5], bounds=[(0, 1)], tol=1e-14
    )
    weights = weights_from(results, range(5))
    assert weights == pytest.approx([best.x[0], 1 - best.x[0]], abs=1e-4)
    entrant, found = blended("regress", entrants, results)
    assert entrant.learner.weights == pytest.approx(weights, abs=1e-3)
    assert found.mean <= min(each.mean for each in results) + 0.05
    model = entrant.learner.fit(X, y)
    apart = [learner.fit(X, y).predict(X) for learner in learners]
    assert model.predict(X) == pytest.approx(np.stack(apart, 1) @ entrant.learner.weights, abs=1e-2)


def test_a_stack_of_all_learners_can_be_saved_and_loaded(numbers, tmp_path):
    _, X, y = numbers
    for task, target, kind in (
        ("regress", y, VotingRegressor),
        ("classify", np.where(y > 0, "up", "down"), VotingClassifier),
    ):
        named = [(e.name, e.learner) for e in portfolio(task, 120, search=False)[1:]]
        how = {"voting": "soft"} if task == "classify" else {}
        shares = [1 / len(named)] * len(named)
        model = kind(named, weights=shares, **how).fit(X, target)
        model.save(tmp_path / f"{task}.gnomon")
        read = gnomon.load(tmp_path / f"{task}.gnomon")
        assert np.array_equal(read.predict(X), model.predict(X))


@pytest.mark.parametrize("repeats", [1, 2])
def test_no_fold_is_judged_with_weights_that_its_own_targets_chose(numbers, repeats):
    learners, X, y = numbers
    splits = k_fold(120, 4, repeats)
    _, results = compared(learners, X, y, splits, "rmse")
    before = weights_for(results, 0)
    for each in results:
        each.y = np.array(each.y)
        each.y[splits[0][1]] += 1e6
    assert weights_for(results, 0) == pytest.approx(before)


def test_in_time_the_weights_are_those_of_the_past(numbers):
    learners, X, y = numbers
    _, results = compared(learners, X, y, forward_in_time(np.arange(120), 3), "rmse")
    assert weights_for(results, 0) == pytest.approx([0.5, 0.5])
    expected = weights_from(results, [0])
    for each in results:
        each.y = np.array(each.y)
        each.y[np.concatenate([results[0].splits[k][1] for k in (1, 2)])] = 0.0
    assert weights_for(results, 1) == pytest.approx(expected)


def test_probabilities_of_classes_are_joined(rng):
    X = rng.normal(size=(150, 3))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.4 * rng.normal(size=150) > 0.3, "b", "a")
    entrants, results = compared(
        [NaiveBayes(), LogisticRegression()], X, y, k_fold(150, 3, stratify=y), ["log_loss", "auc"]
    )
    stack = blended("classify", entrants, results)
    if isinstance(stack, str):
        assert "all the weight" in stack
        assert max(weights_from(results, range(3))) > 0.95
        return
    for fold in stack[1].folds:
        assert fold.said.probabilities.sum(axis=1) == pytest.approx(1)
    assert np.isfinite(stack[1].scores["log_loss"]).all()
    assert stack[1].figure().low < stack[1].figure().value < stack[1].figure().high
    assert len(stack[1].pair_folds) == len(results[0].pair_folds)


def test_one_learner_alone_is_no_stack(numbers):
    learners, X, y = numbers
    entrants, results = compared(learners[:1], X, y, k_fold(120, 3), "rmse")
    assert "no two learners" in blended("regress", entrants, results)


def test_every_learner_of_the_portfolio_may_be_a_member():
    for task, kind in (("classify", VotingClassifier), ("regress", VotingRegressor)):
        members = [(each.name, each.learner) for each in portfolio(task, 500)]
        assert kind(members).forecast(1_000, 10) > 0


@pytest.mark.parametrize(
    ("task", "name"), [("classify", "logistic regression"), ("regress", "ridge")]
)
@pytest.mark.parametrize("search", [True, False])
def test_penalized_learners_do_not_depend_on_the_units_of_columns(task, name, search, rng):
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=80)
    y = np.where(y > 0, "up", "down") if task == "classify" else y
    found = []
    for unit in (1.0, 1e5):
        rows = Table.from_dict({"a": (unit * X[:, 0]).tolist(), "b": X[:, 1].tolist()})
        entrant = next(each for each in portfolio(task, 80, search=search) if each.name == name)
        model = clone(entrant.learner).fit(rows, y)
        found.append(model.predict_proba(rows) if task == "classify" else model.predict(rows))
    if search:  # other bits of the rows draw other folds, which may choose another penalty
        assert np.corrcoef(*map(np.ravel, found))[0, 1] > 0.98
    else:
        np.testing.assert_allclose(*found, rtol=1e-4)
