"""Kernels: one declared signature each, nothing compiled before it is called."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

from gnomon.engine import kernel as kernels
from gnomon.engine.kernel import KERNELS, Kernel, jit_is_off, kernel, subkernel


@subkernel
def squared(x):
    return x * x


@kernel("f8[:,:]", "i8", "out f8[:]")
def squares_of_a_column(rows, column, out):
    """out[i] = rows[i, column]^2; rows (n, d), out (n,)."""
    for i in range(rows.shape[0]):
        out[i] = squared(rows[i, column])


needs_jit = pytest.mark.skipif(jit_is_off(), reason="types are checked by compiled kernels only")


def test_a_kernel_computes_what_its_python_function_does(rng):
    rows = rng.normal(size=(50, 3))
    out, expected = np.empty(50), np.empty(50)
    squares_of_a_column(rows, 1, out)
    squares_of_a_column.function(rows, 1, expected)
    np.testing.assert_array_equal(out, rows[:, 1] ** 2)


def test_read_only_rows_are_accepted(rng):
    rows = rng.normal(size=(5, 3))
    rows.flags.writeable = False
    out = np.empty(5)
    squares_of_a_column(rows, 0, out)
    np.testing.assert_array_equal(out, rows[:, 0] ** 2)


@needs_jit
@pytest.mark.parametrize(
    "rows",
    [
        np.ones((4, 2), dtype=np.float32),
        np.ones((4, 2), dtype=np.int64),
        np.ones(4),
        np.asfortranarray(np.ones((4, 2))),
        np.ones((4, 4))[:, ::2],
    ],
    ids=["float32", "int64", "one-dimensional", "Fortran order", "strided"],
)
def test_other_types_than_declared_are_an_error_not_a_compilation(rows):
    with pytest.raises(TypeError):
        squares_of_a_column(rows, 0, np.empty(4))


@needs_jit
def test_a_read_only_array_cannot_be_written_to():
    out = np.empty(2)
    out.flags.writeable = False
    with pytest.raises(TypeError):
        squares_of_a_column(np.ones((2, 1)), 0, out)


def test_kernels_can_be_sent_by_name():
    assert pickle.loads(pickle.dumps(squares_of_a_column)) is squares_of_a_column
    assert KERNELS[squares_of_a_column.name] is squares_of_a_column


def test_a_kernel_shows_its_signature_and_keeps_its_docstring():
    assert "f8[:,:], i8, out f8[:]" in repr(squares_of_a_column)
    assert "rows (n, d)" in squares_of_a_column.__doc__


def test_declaring_compiles_nothing():
    declared = kernel("f8")(lambda x: x)
    try:
        assert isinstance(declared, Kernel)
        assert declared._compiled is None
    finally:
        del KERNELS[declared.name]


def test_warming_yields_every_kernel_once(monkeypatch):
    monkeypatch.setattr(kernels, "KERNELS", {squares_of_a_column.name: squares_of_a_column})
    assert list(kernels.warm()) == [squares_of_a_column]


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def seconds_of(code: str) -> float:
    start = time.perf_counter()
    done = python(code)
    assert done.returncode == 0, done.stderr
    return time.perf_counter() - start


def test_importing_gnomon_is_quick():
    """Under 0.7 s beyond an idle machine's numpy; a loaded machine slows both alike."""
    pairs = [(seconds_of("import gnomon"), seconds_of("import numpy")) for _ in range(3)]
    gnomon_time, numpy_time = np.median(pairs, axis=0)
    slowness = max(numpy_time / 0.2, 1.0)
    assert gnomon_time < 0.7 * slowness


@pytest.mark.parametrize(
    "code", ["import gnomon", "import gnomon; gnomon.config(n_jobs=1); gnomon.settings()"]
)
def test_importing_gnomon_imports_no_compiler(code):
    done = python(f"{code}\nimport sys\nprint(sorted({{'numba', 'llvmlite'}} & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr


@needs_jit
def test_importing_every_room_compiles_nothing():
    done = python(
        "from gnomon.engine.registry import load_rooms\n"
        "from gnomon.engine.kernel import KERNELS\n"
        "load_rooms()\n"
        "print([k.name for k in KERNELS.values() if k._compiled is not None])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_whatever_may_stand_in_a_model_file_is_declared_with_the_rooms():
    done = python(
        "import importlib, pkgutil, gnomon\n"
        "from gnomon.engine.registry import load_rooms\n"
        "from gnomon.engine.storable import STORABLE\n"
        "load_rooms()\n"
        "known = set(STORABLE)\n"
        "for each in pkgutil.walk_packages(gnomon.__path__, 'gnomon.'):\n"
        "    if not each.name.endswith('__main__'):\n"
        "        importlib.import_module(each.name)\n"
        "print(sorted(set(STORABLE) - known), 'GroupModel' in known)"
    )
    assert done.stdout.strip() == "[] True", done.stderr
