"""Budgets: how long a job may take, in seconds, or in evaluations where it must be repeatable."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gnomon.engine.errors import DataError

_BEGAN: ContextVar[float | None] = ContextVar("began", default=None)
SECONDS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}  # units as people write them


@contextmanager
def counted_from_here() -> Iterator[None]:
    """Budgets that are read inside count from here on, so that reading the table is in them."""
    token = _BEGAN.set(time.perf_counter())
    try:
        yield
    finally:
        _BEGAN.reset(token)


def beginning() -> float:
    """When a budget that is read now began."""
    began = _BEGAN.get()
    return time.perf_counter() if began is None else began


@dataclass
class Budget:
    """What a job may spend, and when it began.

    Attributes
    ----------
    seconds : float or None
        Wall-clock time. What fits in it depends on the machine.
    evaluations : int or None
        Fits of the learners that are compared: the same work everywhere.
    began : float
    given : str or None
        As it was written.
    """

    seconds: float | None = None
    evaluations: int | None = None
    began: float = field(default_factory=beginning)
    given: str | None = None

    @classmethod
    def of(cls, given: Any) -> Budget:
        """Read ``"60s"``, ``"2 min"``, ``40`` (evaluations) or None (no limit).

        Parameters
        ----------
        given : Budget, str, int or None

        Returns
        -------
        budget : Budget

        Examples
        --------
        >>> Budget.of("1.5 min").seconds
        90.0
        >>> Budget.of("40").evaluations
        40
        """
        if isinstance(given, Budget):
            return given
        if given is None or str(given).strip().lower() in ("", "none"):
            return cls()
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", str(given).strip().lower())
        number = float(found[1]) if found else 0.0
        if found and found[2] in SECONDS and number > 0:
            return cls(seconds=number * SECONDS[found[2]], given=str(given))
        if found and not found[2] and number.is_integer() and number > 0:
            return cls(evaluations=int(number), given=str(given))
        raise DataError(
            f"{given!r} is no budget: write seconds or minutes with their unit ('60s', '2min', "
            "'1h'), or a whole number of evaluations ('40')"
        )

    def part(self, n: int) -> Budget:
        """An n-th of the budget, as it is for one of n equal jobs.

        Parameters
        ----------
        n : int

        Returns
        -------
        budget : Budget
        """
        if self.seconds is not None:
            return Budget.of(f"{self.seconds / n:g}s")
        return Budget() if self.evaluations is None else Budget.of(max(self.evaluations // n, 1))

    @property
    def spent(self) -> float:
        """Seconds since the job began."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """Seconds that are left; infinite where there is no limit."""
        return float("inf") if self.seconds is None else self.seconds - self.spent

    def over(self, share: float = 1.0) -> bool:
        """Whether this share of the seconds is spent."""
        return self.seconds is not None and self.spent > share * self.seconds

    def __str__(self) -> str:
        if self.seconds is not None:
            return f"{self.seconds:g} s"
        return "no limit" if self.evaluations is None else f"{self.evaluations:,} evaluations"
