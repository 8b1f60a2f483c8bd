"""Settings and memory: amounts are read right; the limit is what machine or cgroup has."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.engine import memory
from gnomon.engine.config import to_bytes
from gnomon.engine.errors import GnomonError, MemoryLimitError


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (1000, 1000),
        (1.5e9, 1_500_000_000),
        ("1000", 1000),
        ("12 B", 12),
        ("500MB", 500_000_000),
        (" 4 gb ", 4_000_000_000),
        ("1.5GB", 1_500_000_000),
        ("2GiB", 2 * 2**30),
        ("1 kib", 1024),
        ("1e3 KB", 1_000_000),
        ("0.5TB", 500_000_000_000),
    ],
)
def test_amounts_of_memory_are_read_as_people_write_them(amount, expected):
    assert to_bytes(amount) == expected


@pytest.mark.parametrize(
    "amount", ["", "GB", "much", "4 GG", "4,5GB", "nan", "inf", -1, 0, "0GB", float("inf")]
)
def test_what_is_no_amount_of_memory_is_refused(amount):
    with pytest.raises(ValueError, match="amount of memory"):
        to_bytes(amount)


@given(st.integers(1, 10**16))
def test_readable_amounts_are_read_back_to_three_digits(amount):
    assert to_bytes(memory.readable(amount)) == pytest.approx(amount, rel=0.006)


def test_settings_hold_for_the_with_block_only():
    before = gnomon.settings()
    with gnomon.config(memory_limit="2GB", n_jobs=3) as inside:
        assert inside.memory_limit == 2 * 10**9
        assert gnomon.settings().n_jobs == 3
        with gnomon.config(n_jobs=1):
            assert gnomon.settings().memory_limit == 2 * 10**9
            assert gnomon.settings().n_jobs == 1
        assert gnomon.settings().n_jobs == 3
    assert gnomon.settings() == before


def test_settings_are_put_back_after_an_error():
    before = gnomon.settings()
    with pytest.raises(KeyError), gnomon.config(n_jobs=7):
        raise KeyError
    assert gnomon.settings() == before


def test_an_unknown_setting_is_named_with_those_there_are():
    with pytest.raises(TypeError, match=r"no setting memory.*memory_limit, n_jobs, executor"):
        gnomon.config(memory="2GB")
    assert gnomon.settings().memory_limit is None


def write_cgroup(folder, version: int, maximum: str, used: int, cache: int | None) -> None:
    names = {
        2: ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        1: (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "memory/memory.stat",
            "total_inactive_file",
        ),
    }[version]
    (folder / "memory").mkdir(exist_ok=True)
    (folder / names[0]).write_text(f"{maximum}\n")
    (folder / names[1]).write_text(f"{used}\n")
    if cache is not None:
        (folder / names[2]).write_text(f"anon 12\n{names[3]} {cache}\nslab 3\n")


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("maximum", "used", "cache", "rest"),
    [
        ("1000000", 300_000, None, 700_000),
        ("1000000", 900_000, 800_000, 900_000),
        ("1000000", 2_000_000, 0, 0),
        ("max", 300_000, 0, None),
        ("", 300_000, 0, None),
    ],
)
def test_the_rest_of_a_cgroup_is_its_limit_less_what_it_cannot_drop(
    version, maximum, used, cache, rest, tmp_path, monkeypatch
):
    write_cgroup(tmp_path, version, maximum, used, cache)
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory._cgroup_rest() == rest


def test_without_a_cgroup_the_machines_free_memory_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory._cgroup_rest() is None
    assert memory.available() == pytest.approx(memory._machine_free(), rel=0.2)


def test_the_smaller_of_machine_and_cgroup_counts(tmp_path, monkeypatch):
    write_cgroup(tmp_path, 2, "5000000", 1_000_000, 0)
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.available() == 4_000_000
    assert memory.limit() == int(memory.SHARE * 4_000_000)


def test_the_first_fit_of_a_process_counts_its_compiler(tmp_path, monkeypatch):
    write_cgroup(tmp_path, 2, "1000000000", 0, 0)
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    need = int(memory.SHARE * 10**9) - memory.COMPILER // 2
    monkeypatch.setitem(sys.modules, memory.COMPILING, object())
    memory.require_fit(need, "this", "Do that.")
    monkeypatch.delitem(sys.modules, memory.COMPILING)
    with pytest.raises(MemoryLimitError, match="about 975 MB"):
        memory.require_fit(need, "this", "Do that.")
    memory.require_fit(memory.TRIFLE, "this", "Do that.")
    with gnomon.config(memory_limit=need):
        memory.require_fit(need, "this", "Do that.")


def test_a_limit_that_is_set_counts_alone():
    with gnomon.config(memory_limit="123MB"):
        assert memory.limit() == 123_000_000


def test_a_refusal_names_what_both_figures_and_the_remedy():
    with gnomon.config(memory_limit="1MB"):
        memory.require(1_000_000, "this", "Do that.")
        with pytest.raises(MemoryLimitError) as refused:
            memory.require(3_500_000_000, "Sorting", "Sort less.")
    message = str(refused.value)
    for part in ("Sorting", "3.5 GB", "1 MB", "Sort less.", "gnomon.config(memory_limit="):
        assert part in message
    assert isinstance(refused.value, (GnomonError, MemoryError))
