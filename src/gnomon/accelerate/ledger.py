"""The ledger: which calls ran where, why not here, and how long they took."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field


@dataclass
class Entry:
    """What happened to the calls of one routine.

    Attributes
    ----------
    accelerated, seconds : int, float
        Calls that ran here, and how long they took together.
    fell_back, seconds_there : int, float
        Calls that scikit-learn's routine served, and how long they took.
    reasons : dict of str to int
        Why these calls were not accelerated, with their numbers.
    """

    accelerated: int = 0
    seconds: float = 0.0
    fell_back: int = 0
    seconds_there: float = 0.0
    reasons: dict[str, int] = field(default_factory=lambda: defaultdict(int))


class Report:
    """The calls since `install` or `reset`; prints as a small table.

    Attributes
    ----------
    calls : dict of str to Entry
        By the public call that was served, such as ``"KMeans.fit"``.
    not_installed : dict of str to str
        Routines that were not replaced, with the reason: this release of scikit-learn differs.
    """

    def __init__(self, calls: dict[str, Entry], not_installed: dict[str, str]):
        self.calls = calls
        self.not_installed = not_installed

    def __str__(self) -> str:
        if not self.calls and not self.not_installed:
            return "gnomon.accelerate: no call of a routine that it replaces"
        rows = [("call", "here", "seconds", "scikit-learn", "seconds", "why not here")]
        for name, entry in sorted(self.calls.items()):
            ordered = sorted(entry.reasons.items(), key=lambda item: -item[1])
            reasons = [f"{why} ({n})" if entry.fell_back > n else why for why, n in ordered]
            rows.append(
                (
                    name,
                    str(entry.accelerated),
                    f"{entry.seconds:.3f}",
                    str(entry.fell_back),
                    f"{entry.seconds_there:.3f}",
                    "; ".join(reasons),
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = []
        for row in rows:
            numbers = [cell.rjust(width) for cell, width in zip(row[1:5], widths[1:])]
            lines.append("  ".join([row[0].ljust(widths[0]), *numbers, row[5]]).rstrip())
        lines += [f"{name} is not replaced: {why}" for name, why in self.not_installed.items()]
        return "\n".join(lines)

    __repr__ = __str__


_lock = threading.Lock()
_calls: dict[str, Entry] = defaultdict(Entry)
_not_installed: dict[str, str] = {}


def accelerated(name: str, seconds: float) -> None:
    """Note a call that ran here."""
    with _lock:
        entry = _calls[name]
        entry.accelerated += 1
        entry.seconds += seconds


def fell_back(name: str, reason: str, seconds: float) -> None:
    """Note a call that scikit-learn's own routine served."""
    with _lock:
        entry = _calls[name]
        entry.fell_back += 1
        entry.seconds_there += seconds
        entry.reasons[reason] += 1


def not_installed(name: str, reason: str) -> None:
    """Note a routine that could not be replaced."""
    _not_installed[name] = reason


def report() -> Report:
    """Which calls ran here and which in scikit-learn, why, and how long they took.

    Returns
    -------
    report : Report
        Prints as a table.

    Examples
    --------
    >>> import gnomon.accelerate
    >>> gnomon.accelerate.reset()
    >>> print(gnomon.accelerate.report())
    gnomon.accelerate: no call of a routine that it replaces
    """
    with _lock:
        return Report(dict(_calls), dict(_not_installed))


def reset() -> None:
    """Forget the calls that were noted so far."""
    with _lock:
        _calls.clear()
