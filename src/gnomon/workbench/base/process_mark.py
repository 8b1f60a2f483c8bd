"""Which process does a run, and whether it is still at work, as far as this machine can know.

A number of a process is given again after it has ended, and means nothing on another machine, after
a restart, or inside another container. So the mark has all of these beside the number, and the tick
at which the process began, where the system tells them (Linux).
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

SYSTEM = Path("/proc")
ENDED = ("Z", "X")


def mark_of_this_process() -> dict[str, Any]:
    """What tells this process from all others."""
    return {
        "host": platform.node(),
        "boot": boot_of_this_machine(),
        "numbered_in": space_of_numbers(),
        "pid": os.getpid(),
        "began": tick_of_begin(os.getpid()),
    }


def at_work(mark: dict[str, Any]) -> bool | None:
    """Whether a marked process still runs; None where it cannot be known from here."""
    own = mark_of_this_process()
    if mark.get("host") != own["host"]:
        return None
    if mark.get("boot") != own["boot"]:
        return False
    if mark.get("numbered_in") != own["numbered_in"]:
        return None
    if own["began"] is not None:
        return tick_of_begin(mark["pid"]) == mark["began"]
    return None if os.name == "nt" or has_number(mark["pid"]) else False


def boot_of_this_machine() -> str | None:
    """A name of the time since the machine was started; None where it does not tell."""
    try:
        return (SYSTEM / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return None


def space_of_numbers() -> str | None:
    """Within which processes are numbered: a container has numbers of its own."""
    try:
        return os.readlink(SYSTEM / "self/ns/pid")
    except OSError:
        return None


def tick_of_begin(pid: int) -> int | None:
    """When a process began, in ticks since the machine was started; None where there is none."""
    try:
        said = (SYSTEM / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *rest = said.rpartition(")")[2].split()
    return None if state in ENDED else int(rest[18])


def has_number(pid: int) -> bool:
    """Whether any process has this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
