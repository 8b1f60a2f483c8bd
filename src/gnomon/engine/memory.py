"""Memory: what there is, what a fit will need, and a refusal before it is too late."""

from __future__ import annotations

import sys
from pathlib import Path

from gnomon.engine.config import settings
from gnomon.engine.errors import MemoryLimitError

SHARE = 0.8  # judgement: a fifth of free memory stays for the system and for errors of a forecast
# Bytes that are granted without asking the machine what it has.
TRIFLE = 2**24
# What the first fit of a process takes beside its forecast: measured, 145 MB where its kernels are
# in the cache, 350 MB where those of four methods are compiled.
COMPILER = 35 * 10**7
COMPILING = "numba.core.dispatcher"  # loaded with the first kernel
CGROUP = Path("/sys/fs/cgroup")


def available() -> int:
    """Bytes that this process can still get: the machine's free memory or its cgroup's rest."""
    candidates = [_machine_free(), _cgroup_rest()]
    known = [amount for amount in candidates if amount is not None]
    return min(known) if known else 2**62


def limit() -> int:
    """Most bytes that one fit may allocate now."""
    chosen = settings().memory_limit
    return chosen if chosen is not None else int(SHARE * available())


def require_fit(forecast: int, what: str, remedy: str) -> None:
    """`require` for a fit: a process's first one also loads the compiler of kernels.

    A limit that the user has set is of what fits allocate alone.
    """
    is_first = COMPILING not in sys.modules and settings().memory_limit is None
    require(forecast + COMPILER if is_first and forecast > TRIFLE else forecast, what, remedy)


def require(need: int, what: str, remedy: str) -> None:
    """Refuse `what` when it needs more than the limit, naming both figures and the remedy."""
    if need <= TRIFLE and settings().memory_limit is None:
        return
    allowed = limit()
    if need > allowed:
        raise MemoryLimitError(
            f"{what} would need about {readable(need)} of memory, and {readable(allowed)} are "
            f"allowed. {remedy} To allow more: gnomon.config(memory_limit=...)."
        )


def readable(amount: float) -> str:
    """Bytes for people: ``1.5 GB``."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{int(amount)} B"


def _machine_free() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return _physical_memory()
    return None


def _physical_memory() -> int | None:
    import os

    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def _cgroup_rest() -> int | None:
    """What the cgroup (version 2 or 1) still allows; file cache that it can drop is not in use."""
    old = CGROUP / "memory"
    for maximum, current, statistics, cache in (
        (CGROUP / "memory.max", CGROUP / "memory.current", CGROUP / "memory.stat", "inactive_file"),
        (
            old / "memory.limit_in_bytes",
            old / "memory.usage_in_bytes",
            old / "memory.stat",
            "total_inactive_file",
        ),
    ):
        try:
            used = int(current.read_text()) - _entry(statistics, cache)
            return max(int(maximum.read_text()) - max(used, 0), 0)
        except (OSError, ValueError):
            continue
    return None


def _entry(statistics: Path, name: str) -> int:
    try:
        lines = statistics.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [name]), 0)
