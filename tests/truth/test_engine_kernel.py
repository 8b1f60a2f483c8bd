"""Kernels: one declared signature each, nothing compiled before it is called."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from gnomon.engine import kernel as kernels
from gnomon.engine.kernel import KERNELS, Kernel, jit_is_off, kernel, subkernel
from gnomon.engine.registry import load_packages


@subkernel
def squared(x):
    return x * x


@kernel("f8[:,:]", "i8", "out f8[:]")
def squares_of_a_column(rows, column, out):
    """out[i] = rows[i, column]^2; rows (n, d), out (n,)."""
    for i in range(rows.shape[0]):
        out[i] = squared(rows[i, column])


class Line(NamedTuple):
    slope: Annotated[float, "f8"]
    places: Annotated[np.ndarray, "f8[:]"]
    heights: Annotated[np.ndarray, "out f8[:]"]


@kernel(Line, "f8")
def draw_line(line, offset):
    """line.heights[i] = slope * places[i] + offset; returns the greatest height."""
    greatest = -np.inf
    for i in range(line.places.size):
        line.heights[i] = line.slope * line.places[i] + offset
        greatest = max(greatest, line.heights[i])
    return greatest


@kernel("f8[:]", "f8|f4[:,:]", "out f8[:]")
def squared_distances(point, rows, out):
    """out[i] = |rows[i] - point|^2; point (d,), rows (n, d) of either precision, out (n,)."""
    for i in range(len(rows)):
        out[i] = 0.0
        for j in range(len(point)):
            out[i] += squared(rows[i, j] - point[j])


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


def test_inputs_in_any_memory_order_are_taken(rng):
    rows, out = np.asfortranarray(rng.normal(size=(6, 3))), np.empty(6)
    squares_of_a_column(rows, 1, out)
    np.testing.assert_array_equal(out, rows[:, 1] ** 2)
    places, heights = np.arange(8.0)[::2], np.empty(4)
    assert draw_line(Line(2.0, places, heights), 1.0) == 13.0
    np.testing.assert_array_equal(heights, 2 * places + 1)


def test_rows_of_either_precision_give_the_same_bits(rng):
    rows, point = rng.normal(size=(9, 3)).astype(np.float32), rng.normal(size=3)
    single, double = np.empty(9), np.empty(9)
    squared_distances(point, rows, single)
    squared_distances(point, rows.astype(np.float64), double)
    np.testing.assert_array_equal(single, double)
    np.testing.assert_allclose(double, ((rows - point) ** 2).sum(axis=1), rtol=1e-12)
    assert squared_distances.name in KERNELS
    assert f"{squared_distances.name} (float32)" in KERNELS


@needs_jit
def test_only_the_rows_may_be_of_either_precision(rng):
    rows, point = rng.normal(size=(9, 3)), rng.normal(size=3).astype(np.float32)
    with pytest.raises(TypeError):
        squared_distances(point, rows, np.empty(9))


@needs_jit
def test_an_output_that_is_not_contiguous_is_refused():
    with pytest.raises(TypeError):
        squares_of_a_column(np.ones((2, 1)), 0, np.empty(4)[::2])


@needs_jit
@pytest.mark.parametrize(
    "rows",
    [
        np.ones((4, 2), dtype=np.float32),
        np.ones((4, 2), dtype=np.int64),
        np.ones(4),
    ],
    ids=["float32", "int64", "one-dimensional"],
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


def test_a_kernel_takes_a_named_tuple_of_arrays_and_numbers():
    places, heights = np.arange(4.0), np.empty(4)
    places.flags.writeable = False
    assert draw_line(Line(2.0, places, heights), 1.0) == 7.0
    np.testing.assert_array_equal(heights, [1.0, 3.0, 5.0, 7.0])


@needs_jit
def test_fields_of_a_named_tuple_have_their_declared_types():
    with pytest.raises(TypeError, match="takes a Line as parameter 1 of 2, got tuple"):
        draw_line((2.0, np.ones(2), np.ones(2)), 1.0)
    with pytest.raises(TypeError):
        draw_line(Line(2.0, np.ones(2, np.float32), np.ones(2)), 1.0)
    heights = np.ones(2)
    heights.flags.writeable = False
    with pytest.raises(TypeError):
        draw_line(Line(2.0, np.ones(2), heights), 1.0)


@needs_jit
def test_a_kernel_with_a_named_tuple_is_loaded_from_the_cache(tmp_path):
    (tmp_path / "drawing.py").write_text(
        "from typing import Annotated, NamedTuple\n"
        "import numpy as np\n"
        "from gnomon.engine.kernel import kernel\n"
        "class Pair(NamedTuple):\n"
        "    left: Annotated[np.ndarray, 'f8[:]']\n"
        "    right: Annotated[float, 'f8']\n"
        "@kernel(Pair)\n"
        "def first_plus_right(pair):\n"
        "    return pair.left[0] + pair.right\n"
    )
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import numba, numpy as np\n"
        "from drawing import Pair, first_plus_right\n"
        "from gnomon.engine.kernel import warm\n"
        "hits = []\n"
        "load = numba.core.caching.FunctionCache.load_overload\n"
        "def note(self, *arguments):\n"
        "    found = load(self, *arguments)\n"
        "    hits.append(found is not None)\n"
        "    return found\n"
        "numba.core.caching.FunctionCache.load_overload = note\n"
        "list(warm())\n"
        "print(first_plus_right(Pair(np.ones(1), 2.0)), hits)"
    )
    cache = str(tmp_path / "cache")
    runs = [python(program, NUMBA_CACHE_DIR=cache) for _ in range(2)]
    assert [run.stdout.strip() for run in runs] == ["3.0 [False]", "3.0 [True]"], runs[0].stderr


@needs_jit
def test_kernels_compiled_by_two_processes_are_in_the_cache(tmp_path):
    (tmp_path / "sums.py").write_text(
        "from gnomon.engine.kernel import kernel\n"
        "@kernel('f8|f4[:]')\n"
        "def first(x):\n"
        "    return x[0]\n"
        "@kernel('f8[:]')\n"
        "def second(x):\n"
        "    return x[1]\n"
    )
    (tmp_path / "main.py").write_text(
        "import sums\n"
        "from gnomon.engine import kernel\n"
        "if __name__ == '__main__':\n"
        "    kernel.WORTH_PROCESSES = 2\n"
        "    before = [each.is_cached() for each in kernel.KERNELS.values()]\n"
        "    names = sorted(kernel.warm(processes=2))\n"
        "    print(before, names, [each._compiled is None for each in kernel.KERNELS.values()])\n"
    )
    cache = str(tmp_path / "cache")
    program = f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r})\n" + (
        f"runpy.run_path({str(tmp_path / 'main.py')!r}, run_name='__main__')"
    )
    names = ["sums.first", "sums.first (float32)", "sums.second"]
    first, second = (python(program, NUMBA_CACHE_DIR=cache) for _ in range(2))
    assert first.stdout.strip() == f"{[False] * 3} {names} {[True] * 3}", first.stderr
    assert second.stdout.strip() == f"{[True] * 3} {names} {[False] * 3}", second.stderr


def test_a_field_without_a_declared_type_is_named():
    class Untyped(NamedTuple):
        places: np.ndarray

    with pytest.raises(TypeError, match=r"Untyped .* places has none"):
        kernels._entries(Untyped)


def test_no_kernel_has_more_than_twelve_parameters():
    load_packages()
    assert [name for name, each in KERNELS.items() if len(each.signature) > 12] == []


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
    assert list(kernels.warm()) == [squares_of_a_column.name]


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
def test_importing_every_package_compiles_nothing_and_imports_no_compiler():
    done = python(
        "import sys\n"
        "from gnomon.engine.registry import load_packages\n"
        "from gnomon.engine.kernel import KERNELS\n"
        "load_packages()\n"
        "print([k.name for k in KERNELS.values() if k._compiled is not None])\n"
        "print('numba' in sys.modules)"
    )
    assert done.stdout.split() == ["[]", "False"], done.stderr


def test_whatever_may_stand_in_a_model_file_is_declared_with_the_rooms():
    done = python(
        "import importlib, pkgutil, gnomon\n"
        "from gnomon.engine.registry import load_packages\n"
        "from gnomon.engine.storable import STORABLE\n"
        "load_packages()\n"
        "known = set(STORABLE)\n"
        "for each in pkgutil.walk_packages(gnomon.__path__, 'gnomon.'):\n"
        "    if not each.name.endswith('__main__'):\n"
        "        importlib.import_module(each.name)\n"
        "print(sorted(set(STORABLE) - known), 'GroupModel' in known)"
    )
    assert done.stdout.strip() == "[] True", done.stderr
