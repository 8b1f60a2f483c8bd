"""Every named option of every method keeps the contract, not only the defaults.

Options are read from the table that validates parameters: each word or flag, one at a time.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils._param_validation import StrOptions

import gnomon
from tests.contract.cases import (
    CLASSES,
    assert_clear,
    assert_close,
    assert_same_bits,
    assert_sound,
    fit,
    make,
    marks_missing,
    mixed_problem,
    outputs,
    parameters_of,
    problem,
    takes_weights,
)


def options_of(cls: type) -> list[tuple[str, object]]:
    """Each word or flag that a parameter may be, other than its default."""
    found = []
    for name, constraints in cls._parameter_constraints.items():
        if name in getattr(cls, "_inert", ()):  # test_signatures proves that it changes nothing
            continue
        default = parameters_of(cls)[name].default
        for constraint in constraints:
            if isinstance(constraint, StrOptions):
                choices = sorted(constraint.options)
            elif constraint == "boolean":
                choices = [False, True]
            else:
                continue
            found += [(name, choice) for choice in choices if choice != default]
    return found


OPTIONS = [(cls, name, value) for cls in CLASSES for name, value in options_of(cls)]
every_option = pytest.mark.parametrize(
    ("cls", "name", "value"), OPTIONS, ids=[f"{c.__name__}-{n}={v}" for c, n, v in OPTIONS]
)


@every_option
def test_an_option_gives_a_sound_result_that_is_saved_and_repeated(cls, name, value, rng, tmp_path):
    estimator = make(cls, **{name: value})
    X, y = problem(estimator, rng)
    try:
        fit(estimator, X, y)
    except Exception as error:
        assert_clear(error, naming=name)
        return
    found = outputs(estimator, X)
    assert_sound(found, missing=marks_missing(estimator))
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(loaded, X), found)
    again = fit(make(cls, **{name: value}), X, y)
    assert_same_bits(outputs(again, X), found)


@every_option
def test_an_option_takes_a_mixed_table_or_says_why_not(cls, name, value, rng):
    estimator = make(cls, **{name: value})
    frame, y = mixed_problem(estimator, rng)
    try:
        fit(estimator, frame, y)
        found = outputs(estimator, frame)
    except Exception as error:
        assert_clear(error)
        return
    assert_sound(found, missing=marks_missing(estimator))


@every_option
def test_an_option_gives_the_same_bits_for_any_number_of_threads(cls, name, value, rng):
    X, y = problem(make(cls), rng, n=1400, d=130)
    results = []
    for n_jobs in (1, 3):
        estimator = make(cls, **{name: value})
        with gnomon.config(n_jobs=n_jobs):
            try:
                results.append(outputs(fit(estimator, X, y), X))
            except Exception as error:
                assert_clear(error)
                return
    assert_same_bits(*results)


@every_option
def test_an_option_keeps_weights_as_repetitions(cls, name, value, rng):
    estimator = make(cls, **{name: value})
    if not takes_weights(estimator):
        pytest.skip("takes no weights")
    X, y = problem(estimator, rng)
    weights = rng.integers(1, 4, len(X))
    rows = rng.permutation(np.repeat(np.arange(len(X)), weights))
    try:
        weighted = outputs(fit(estimator, X, y, sample_weight=weights), X)
    except Exception as error:
        assert_clear(error)
        return
    repeated = fit(make(cls, **{name: value}), X[rows], None if y is None else y[rows])
    assert_close(weighted, outputs(repeated, X))
