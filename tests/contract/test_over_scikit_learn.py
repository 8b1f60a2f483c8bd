"""Classes that stand on scikit-learn's give its results on arrays, bit by bit."""

from __future__ import annotations

import inspect

from sklearn.utils import get_tags

from tests.contract.cases import (
    OVER_OTHERS,
    assert_same_bits,
    each,
    fit,
    make,
    outputs,
    parameters_of,
    peer_of,
    problem,
)


@each("cls", OVER_OTHERS)
def test_an_array_gives_the_bits_of_scikit_learn(cls, rng):
    # a method that draws rows draws them from a canonical order
    ours = make(cls, **({"shuffle": False} if "shuffle" in parameters_of(cls) else {}))
    shared = {name: getattr(ours, name) for name in parameters_of(peer_of(cls))}
    theirs = peer_of(cls)(**shared)
    X, y = problem(ours, rng)
    assert_same_bits(outputs(fit(ours, X, y), X), outputs(fit(theirs, X, y), X))
    assert vars(theirs).keys() <= vars(ours).keys()
    assert get_tags(ours) == get_tags(theirs)
    own = set(parameters_of(cls)) - set(shared)
    assert all(parameters_of(cls)[name].kind is inspect.Parameter.KEYWORD_ONLY for name in own)
