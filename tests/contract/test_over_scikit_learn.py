"""Classes that stand on scikit-learn's give its results on arrays, bit by bit."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.utils import get_tags

from gnomon.contract.over_scikit_learn import COPYING
from gnomon.reduce import NMF
from tests.contract.cases import (
    ASKED,
    OVER_OTHERS,
    assert_same_bits,
    each,
    fit,
    having,
    make,
    outputs,
    parameters_of,
    peer_of,
    problem,
)


def fitted_arrays(estimator) -> dict[str, np.ndarray]:
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and isinstance(value, np.ndarray)
    }


@each("cls", OVER_OTHERS)
def test_an_array_gives_the_bits_of_scikit_learn(cls, rng):
    # a method that draws rows draws them from a canonical order
    ours = make(cls, **({"shuffle": False} if "shuffle" in parameters_of(cls) else {}))
    shared = {name: getattr(ours, name) for name in parameters_of(peer_of(cls))}
    theirs = peer_of(cls)(**shared)
    X, y = problem(ours, rng)
    found = outputs(fit(ours, X, y), X)
    fit(theirs, X, y)
    asked = [name for name in ASKED if hasattr(theirs, name)]
    expected = outputs(theirs, X) if asked else {}
    assert_same_bits({name: found[name] for name in asked}, expected)
    assert vars(theirs).keys() <= vars(ours).keys()
    for name, value in fitted_arrays(theirs).items():
        np.testing.assert_array_equal(getattr(ours, name), value, err_msg=name)
    assert get_tags(ours) == get_tags(theirs)
    own = set(parameters_of(cls)) - set(shared)
    assert all(parameters_of(cls)[name].kind is inspect.Parameter.KEYWORD_ONLY for name in own)


WRITING = [(cls, name) for name in COPYING for cls in having(name) if cls in OVER_OTHERS]


@pytest.mark.parametrize(
    ("cls", "name"), WRITING, ids=[f"{cls.__name__}-{name}" for cls, name in WRITING]
)
def test_without_copies_the_fit_is_the_same_and_the_input_is_unchanged(cls, name, rng):
    X, y = problem(make(cls), rng)
    expected = fit(make(cls), X, y)
    before = X.copy(), None if y is None else y.copy()
    found = fit(make(cls, **{name: False}), X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    assert_same_bits(outputs(found, X), outputs(expected, X))
    if hasattr(found, "history_"):
        assert found.history_.objective == expected.history_.objective


def test_a_users_subclass_keeps_its_own_constructor_and_methods(rng):
    class Halved(NMF):
        def __init__(self, part="whole", *, n_components=2):
            super().__init__(n_components, random_state=0)
            self.part = part

        def transform(self, X):
            return super().transform(X) / 2

    class Further(Halved):
        pass

    X = rng.random((9, 4))
    expected = NMF(n_components=2, random_state=0).fit(X)
    model = Further("half").fit(X)
    assert model.get_params() == {"part": "half", "n_components": 2}
    np.testing.assert_array_equal(model.transform(X), expected.transform(X) / 2)
    np.testing.assert_array_equal(model.history_, expected.history_)
