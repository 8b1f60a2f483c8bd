"""Every method also runs as plain Python, slowly: how kernels are debugged and covered."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.contract.cases import every_method, fit, make, outputs, problem

PROGRAM = """
import json, sys
import numpy as np
from gnomon.engine.kernel import KERNELS, jit_is_off
from tests.contract.cases import CLASSES, fit, make, outputs, problem

assert jit_is_off()
found = {}
for cls in CLASSES:
    rng = np.random.default_rng(int(sys.argv[1]))
    estimator = make(cls)
    X, y = problem(estimator, rng, n=24, d=3)
    try:
        said = outputs(fit(estimator, X, y), X)
        found[cls.__name__] = {k: v.tolist() for k, v in said.items() if v.dtype.kind == "f"}
    except Exception as error:
        found[cls.__name__] = repr(error)
assert all(k._compiled is None or k._compiled is k.function for k in KERNELS.values())
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def said_without_compiler(seed, pytestconfig) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seed)],
        cwd=pytestconfig.rootpath,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@every_method
def test_plain_python_says_what_compiled_kernels_say(cls, said_without_compiler, seed):
    found = said_without_compiler[cls.__name__]
    assert isinstance(found, dict), found
    estimator = make(cls)
    X, y = problem(estimator, np.random.default_rng(seed), n=24, d=3)
    compiled = outputs(fit(estimator, X, y), X)
    for name, values in found.items():
        plain, expected = np.array(values, float), compiled[name]
        if name == "predict_log_proba":  # of 1e-16 and of 0, which few rows that are apart have
            plain, expected = np.exp(plain), np.exp(expected)
        np.testing.assert_allclose(plain, expected, rtol=1e-7, atol=1e-7, err_msg=name)
