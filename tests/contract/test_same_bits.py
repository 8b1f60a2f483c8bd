"""Same seed, same bits: for any number of threads, again, and in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import gnomon
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    digest,
    each,
    every_method,
    fit,
    having,
    make,
    outputs,
    problem,
)

SEVERAL_CHUNKS = {"n": 1400, "d": 130}


def digests(cls: type, seed: int) -> dict[str, str]:
    """Fingerprints of all that a freshly fitted estimator says."""
    rng = np.random.default_rng(seed)
    X, y = problem(make(cls), rng)
    found = outputs(fit(make(cls), X, y), X)
    return {name: digest(values) for name, values in found.items()}


@each("cls", having("n_jobs"))
def test_any_number_of_threads_gives_the_same_bits(cls, rng):
    X, y = problem(make(cls), rng, **SEVERAL_CHUNKS)
    expected = outputs(fit(make(cls, n_jobs=1), X, y), X)
    for n_jobs in (2, 5):
        assert_same_bits(outputs(fit(make(cls, n_jobs=n_jobs), X, y), X), expected)


@every_method
def test_the_setting_for_threads_changes_no_bit(cls, rng):
    X, y = problem(make(cls), rng, **SEVERAL_CHUNKS)
    with gnomon.config(n_jobs=1):
        expected = outputs(fit(make(cls), X, y), X)
    with gnomon.config(n_jobs=3):
        assert_same_bits(outputs(fit(make(cls), X, y), X), expected)


@every_method
def test_fitting_again_gives_the_same_bits(cls, rng):
    X, y = problem(make(cls), rng)
    other, other_y = problem(make(cls), rng, n=50, d=6)
    estimator = fit(make(cls), X, y)
    expected = outputs(estimator, X)
    fit(estimator, other, other_y)
    assert_same_bits(outputs(fit(estimator, X, y), X), expected)
    assert_same_bits(outputs(fit(make(cls), X, y), X), expected)


@each("cls", having("random_state"))
@pytest.mark.parametrize("seed_kind", [int, np.random.RandomState])
def test_the_same_random_state_draws_the_same(cls, seed_kind, rng, seed):
    X, y = problem(make(cls), rng)
    one, other = (outputs(fit(make(cls, random_state=seed_kind(seed)), X, y), X) for _ in range(2))
    assert_same_bits(one, other)


@each("cls", having("random_state"))
def test_numpys_global_generator_is_left_alone_by_a_seeded_fit(cls, rng):
    X, y = problem(make(cls), rng)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    fit(make(cls), X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


PROGRAM = """
import json, sys
from tests.contract.cases import CLASSES
from tests.contract.test_same_bits import digests
print(json.dumps({cls.__name__: digests(cls, int(sys.argv[1])) for cls in CLASSES}))
"""


@pytest.fixture(scope="module")
def digests_elsewhere(seed, pytestconfig) -> dict[str, dict[str, str]]:
    """The fingerprints of every method in a process of another hash seed and thread number."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed)],
        cwd=pytestconfig.rootpath,
        env=os.environ | {"PYTHONHASHSEED": "12345", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@every_method
def test_a_fresh_process_gives_the_same_bits(cls, digests_elsewhere, seed):
    assert digests(cls, seed) == digests_elsewhere[cls.__name__]


def test_every_method_was_tried_elsewhere(digests_elsewhere):
    assert set(digests_elsewhere) == {cls.__name__ for cls in CLASSES}
