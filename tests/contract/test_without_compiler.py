"""Every method also runs as plain Python, slowly: how kernels are debugged and covered."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np

from tests.contract.cases import CLASSES, Failures, batches, fit, make, outputs, problem

PROGRAM = """
import json, sys
from gnomon.engine.kernel import KERNELS, jit_is_off
from tests.contract.cases import CLASSES
from tests.contract.test_without_compiler import said

assert jit_is_off()
names, seed = set(sys.argv[2:]), int(sys.argv[1])
found = {}
for cls in CLASSES:
    if cls.__name__ in names:
        try:
            answers = said(cls, seed)
            found[cls.__name__] = {name: values.tolist() for name, values in answers.items()}
        except Exception as error:
            found[cls.__name__] = repr(error)
assert all(k._compiled is None or k._compiled is k.function for k in KERNELS.values())
print(json.dumps(found))
"""


def said(cls: type, seed: int) -> dict[str, np.ndarray]:
    """The numbers that an estimator of the class gives for the few rows that it learnt from."""
    estimator = make(cls)
    X, y = problem(estimator, np.random.default_rng(seed), n=24, d=3)
    found = outputs(fit(estimator, X, y), X)
    return {name: values for name, values in found.items() if values.dtype.kind == "f"}


@batches(CLASSES)
def test_plain_python_says_what_compiled_kernels_say(classes, seed, pytestconfig):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed), *(cls.__name__ for cls in classes)],
        cwd=pytestconfig.rootpath,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    with Failures() as failures:
        for cls in classes:
            with failures.case(cls.__name__):
                assert_agree(found[cls.__name__], said(cls, seed))


def assert_agree(found: dict | str, compiled: dict[str, np.ndarray]) -> None:
    assert isinstance(found, dict), found
    assert found.keys() == compiled.keys()
    for name, values in found.items():
        plain, expected = np.array(values, float), compiled[name]
        if name == "predict_log_proba":  # of 1e-16 and of 0, which few rows that are apart have
            plain, expected = np.exp(plain), np.exp(expected)
        np.testing.assert_allclose(plain, expected, rtol=1e-7, atol=1e-7, err_msg=name)
