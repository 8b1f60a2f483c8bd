"""Kernels run where no folder can be written; a warm folder is read; a compilation is announced."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys

import numpy as np
import pytest
from numba import types
from numba.core import caching

from gnomon.engine import kernel_cache
from gnomon.engine.kernel import jit_is_off

pytestmark = pytest.mark.skipif(jit_is_off(), reason="nothing is compiled")

SOURCE = "def double(values):\n    return 2.0 * values.sum()\n"
TYPES = (types.Array(types.float64, 1, "C"),)


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A function of a module of its own, and a process that has announced nothing yet."""
    monkeypatch.setattr(kernel_cache, "_announced", False)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(caching.config, "CACHE_DIR", "")
    (tmp_path / "module_of_its_own.py").write_text(SOURCE)
    spec = importlib.util.spec_from_file_location(
        "module_of_its_own", tmp_path / "module_of_its_own.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.double


def forbid_writing(monkeypatch) -> None:
    def refuse(self):
        raise PermissionError("read-only")

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)


def test_a_compilation_is_announced_once_and_kept(double, tmp_path, capsys):
    assert kernel_cache.compiled(double, TYPES)(np.ones(3)) == 6.0
    kernel_cache.announce("again")
    assert capsys.readouterr().err == (
        "gnomon: compiling kernels once, usually 1 to 10 seconds for a method; "
        "`gnomon warm` does it beforehand\n"
    )
    assert list((tmp_path / "__pycache__").glob("*.nbi"))


def test_a_warm_folder_that_cannot_be_written_is_read(double, monkeypatch, capsys):
    kernel_cache.compiled(double, TYPES)
    capsys.readouterr()
    monkeypatch.setattr(kernel_cache, "_announced", False)
    forbid_writing(monkeypatch)
    again = kernel_cache.compiled(double, TYPES)
    assert again(np.ones(3)) == 6.0
    assert sum(again.stats.cache_hits.values()) == 1
    assert capsys.readouterr().err == ""


def test_kernels_compile_where_nothing_can_be_written_or_read(
    double, tmp_path, monkeypatch, capsys
):
    shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
    forbid_writing(monkeypatch)
    assert kernel_cache.compiled(double, TYPES)(np.ones(3)) == 6.0
    assert "in every process" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.nbi"))


def test_warming_announces_nothing(double, capsys):
    kernel_cache.announce_nothing()
    kernel_cache.compiled(double, TYPES)
    assert capsys.readouterr().err == ""


def test_a_changed_subkernel_of_another_file_compiles_its_kernels_anew(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(caching.config, "CACHE_DIR", "")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "with_a_kernel.py").write_text(
        "from with_a_subkernel import times\ndef scaled(x):\n    return times(x)\n"
    )
    for factor in (2.0, 3.0):
        (tmp_path / "with_a_subkernel.py").write_text(
            "from gnomon.engine.kernel import subkernel\n"
            f"@subkernel\ndef times(x):\n    return {factor} * x\n"
        )
        for name in ("with_a_kernel", "with_a_subkernel"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        for cached in (tmp_path / "__pycache__").glob("with_a_subkernel*.pyc"):
            cached.unlink()
        kernel_cache._hash_of.cache_clear()
        scaled = importlib.import_module("with_a_kernel").scaled
        assert kernel_cache.compiled(scaled, (types.float64,))(1.0) == factor
