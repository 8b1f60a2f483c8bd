"""Importing gnomon loads no statistics, data frames, compiler or pictures: they come when used."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from gnomon.engine import late_imports

LATE = ["scipy.stats", "pandas", "numba", "plotly", "torch", "dask", "matplotlib"]


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_every_package_loads_no_statistics_frames_compiler_or_pictures():
    loaded = run(
        "import importlib, pkgutil, sys, gnomon\n"
        "for each in pkgutil.iter_modules(gnomon.__path__):\n"
        "    importlib.import_module('gnomon.' + each.name)\n"
        f"print([name for name in {LATE} if name in sys.modules])"
    )
    assert loaded == "[]"


def test_modules_of_scikit_learn_use_what_was_put_off_as_if_it_had_been_imported():
    rows = np.random.default_rng(0).lognormal(size=(50, 2)).tolist()
    script = (
        "import {first}\n"
        "from sklearn.metrics import roc_auc_score\n"
        "from sklearn.preprocessing import PowerTransformer, QuantileTransformer\n"
        "from sklearn.utils.fixes import _mode\n"
        f"rows = {rows}\n"
        "power = PowerTransformer('box-cox').fit_transform(rows)\n"
        "normal = QuantileTransformer(n_quantiles=9, output_distribution='normal')\n"
        "print(power.sum(), normal.fit_transform(rows).sum(), _mode([1, 1, 2]).mode,\n"
        "      roc_auc_score([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.9]))"
    )
    assert run(script.format(first="gnomon.table")) == run(script.format(first="numpy"))


@pytest.mark.parametrize("name", sorted(late_imports.IMPORTERS))
def test_a_module_whose_imports_may_be_put_off_exists(name):
    __import__(name)
