"""A function of `gnomon.evaluate` with scikit-learn's name returns what scikit-learn's returns."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn import metrics, model_selection
from sklearn.naive_bayes import GaussianNB

from gnomon import evaluate


def namesakes() -> dict[str, object]:
    """The callables of `gnomon.evaluate` that scikit-learn has too, with scikit-learn's."""
    found = {}
    for home in (metrics, model_selection):
        theirs = {name: getattr(home, name) for name in home.__all__ if not name.startswith("Halv")}
        both = theirs.keys() & set(evaluate.__all__)
        found |= {name: theirs[name] for name in both if inspect.isfunction(theirs[name])}
    return found


NAMESAKES = namesakes()


def arguments(name: str, rng) -> tuple[tuple, dict]:
    """Arguments for a function, by the names of its parameters."""
    X = rng.normal(size=(60, 3))
    classes = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    answers = (X[:, 0] > 0).astype(int)
    numbers, estimates = X[:, 0] + rng.normal(size=60), X[:, 0]
    if name in ("cross_validate", "cross_val_score", "cross_val_predict", "learning_curve"):
        return (GaussianNB(), X, classes), {}
    if name == "validation_curve":
        more = {"param_name": "var_smoothing", "param_range": [1e-9, 1e-3]}
        return (GaussianNB(), X, classes), more
    second = list(inspect.signature(NAMESAKES[name]).parameters)[1]
    if second == "pred_decision":
        return (2 * classes - 1, estimates), {}
    if second in ("y_score", "y_proba"):
        return (classes, np.round(1 / (1 + np.exp(-estimates)), 1)), {}
    if name.endswith("_error") or name == "r2_score":
        return (numbers, estimates), {}
    return (classes, answers), {}


def assert_equal(found, expected):
    """Equal numbers, of the same form: a float, an array, a tuple of arrays or a dict of them."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in [key for key in expected if not key.endswith("_time")]:
            assert_equal(found[key], expected[key])
    elif isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    else:
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_namesakes_are_found():
    known = {"accuracy_score", "log_loss", "mean_squared_error", "roc_curve", "cross_validate"}
    assert known <= NAMESAKES.keys()


@pytest.mark.parametrize("name", sorted(NAMESAKES))
def test_a_namesake_returns_what_scikit_learn_returns(name, rng):
    given, more = arguments(name, rng)
    assert_equal(getattr(evaluate, name)(*given, **more), NAMESAKES[name](*given, **more))


@pytest.mark.parametrize("name", sorted(NAMESAKES))
def test_a_namesake_takes_the_parameters_of_scikit_learn(name):
    theirs = inspect.signature(NAMESAKES[name]).parameters
    ours = inspect.signature(getattr(evaluate, name)).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert all(ours[each].kind is theirs[each].kind for each in theirs)


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve"])
def test_curves_unpack_as_scikit_learn_with_weights_and_intermediate_points(name, drop, rng):
    (y, score), _ = arguments(name, rng)
    more = {"drop_intermediate": drop, "sample_weight": rng.integers(1, 4, size=60)}
    curve = getattr(evaluate, name)(y, score, **more)
    assert_equal(tuple(curve), NAMESAKES[name](y, score, **more))
    np.testing.assert_array_equal(curve[0], next(iter(curve)))


def test_calls_in_the_former_form_reach_the_functions_with_intervals(rng):
    (learner, X, y), _ = arguments("cross_validate", rng)
    with pytest.warns(FutureWarning, match="call cross_validation_estimates"):
        found = evaluate.cross_validate(learner, X, y, measures="accuracy")
    assert isinstance(found, evaluate.CrossValidation)
    with pytest.warns(FutureWarning, match="call validation_curve_estimates"):
        curve = evaluate.validation_curve(learner, X, y, "var_smoothing", [1e-9], cv=3)
    assert isinstance(curve, evaluate.Curve)
