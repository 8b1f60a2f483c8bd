"""Same seed, same bits: for any number of threads, again, and in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import gnomon
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    batches,
    digest,
    each,
    every_method,
    fit,
    fitted_on_numbers,
    having,
    make,
    outputs,
    problem,
)


def digests(cls: type, seed: int) -> dict[str, str]:
    """Fingerprints of all that an estimator of the class says of the rows that it learnt from."""
    return {name: digest(values) for name, values in fitted_on_numbers(cls, seed).outputs.items()}


@every_method
def test_any_number_of_threads_gives_the_same_bits(cls, on_numbers, small_chunks):
    """One by the parameter where there is such, three by the setting."""
    X, y = on_numbers.X, on_numbers.y
    alone = {"n_jobs": 1} if cls in having("n_jobs") else {}
    with gnomon.config(n_jobs=1):
        expected = outputs(fit(make(cls, **alone), X, y), X)
    with gnomon.config(n_jobs=3):
        assert_same_bits(outputs(fit(make(cls), X, y), X), expected)


@pytest.mark.slow
@every_method
def test_any_number_of_threads_gives_the_same_bits_of_many_rows(cls, rng):
    X, y = problem(make(cls), rng, n=1400, d=130)
    with gnomon.config(n_jobs=1):
        expected = outputs(fit(make(cls), X, y), X)
    changes = [{"n_jobs": n} for n in (2, 5)] if cls in having("n_jobs") else [{}]
    with gnomon.config(n_jobs=3):
        for change in changes:
            assert_same_bits(outputs(fit(make(cls, **change), X, y), X), expected)


# their fits factor matrices that are large enough for several threads of BLAS
FACTORING = {
    "GaussianProcessRegressor",
    "Isomap",
    "KernelPCA",
    "Kriging",
    "LocallyLinearEmbedding",
    "SpectralEmbedding",
}


@pytest.mark.parametrize(
    "cls",
    [
        pytest.param(
            cls,
            id=cls.__name__,
            marks=() if cls.__name__ in FACTORING else pytest.mark.slow,
        )
        for cls in CLASSES
    ],
)
def test_any_number_of_blas_threads_gives_the_same_bits(cls, rng):
    X, y = problem(make(cls), rng, n=400, d=12)
    found = []
    for n_threads in (1, 3):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(outputs(fit(make(cls), X, y), X[:60]))
    assert_same_bits(found[1], found[0])


@every_method
def test_a_fit_leaves_nothing_to_the_next(cls, on_numbers, rng):
    X, y = on_numbers.X, on_numbers.y
    estimator = fit(make(cls), *problem(make(cls), rng, n=50, d=6))
    assert_same_bits(outputs(fit(estimator, X, y), X), on_numbers.outputs)


@each("cls", having("random_state"))
def test_the_same_random_state_draws_the_same_and_nothing_from_numpys_global_generator(
    cls, on_numbers, seed
):
    X, y = on_numbers.X, on_numbers.y
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    states = (np.random.RandomState(seed) for _ in range(2))
    one, other = (outputs(fit(make(cls, random_state=state), X, y), X) for state in states)
    assert_same_bits(one, other)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


PROGRAM = """
import json, sys
from tests.contract.cases import CLASSES
from tests.contract.test_same_bits import digests
names, seed = set(sys.argv[2:]), int(sys.argv[1])
print(json.dumps({cls.__name__: digests(cls, seed) for cls in CLASSES if cls.__name__ in names}))
"""


@batches(CLASSES, 2)
def test_a_fresh_process_gives_the_same_bits(classes, seed, pytestconfig):
    """A process of another hash seed and another number of threads."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed), *(cls.__name__ for cls in classes)],
        cwd=pytestconfig.rootpath,
        env=os.environ | {"PYTHONHASHSEED": "12345", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    elsewhere = json.loads(done.stdout.splitlines()[-1])
    assert elsewhere == {cls.__name__: digests(cls, seed) for cls in classes}
