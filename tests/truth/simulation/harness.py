"""Repeat simulations, count, and judge the shares against their bands."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from gnomon.workbench.base.statements import Statement, statements_of
from tests.truth.simulation.laws import LAWS


@dataclass(frozen=True)
class Doubted:
    """An outcome of which the job itself says, where it prints it, that it holds less often."""

    value: float | bool


Outcome = dict[str, float | bool | Doubted | None]
FEWEST = 100  # repeats before a share inside its band counts as measured
MOSTLY = 0.95  # of the tables have to carry the sentence that a statement holds less often
SURE = 1e-4  # chance of a share as far outside its band by bad luck


@dataclass(frozen=True)
class Simulation:
    """Tables of several laws, and what a job says of each."""

    job: str
    name: str
    run: Callable[[str, np.random.Generator], Outcome]
    statements: tuple[str, ...]
    laws: tuple[str, ...]
    quick: int
    quick_laws: int

    def once(self, law: str, number: int, seed: int = 0) -> Outcome:
        """The outcomes of one table; the same for the same number and seed."""
        key = zlib.crc32(f"{self.job}/{self.name}/{law}".encode())
        rng = np.random.default_rng([key, number, seed])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.run(law, rng)


SIMULATIONS: list[Simulation] = []


def simulation(
    job: str,
    *statements: str,
    laws: tuple[str, ...] = tuple(LAWS),
    quick: int,
    quick_laws: int | None = None,
) -> Callable[[Callable[[str, np.random.Generator], Outcome]], Callable]:
    """Register a function ``(law, rng)``; the fast tests run `quick` tables of some laws."""

    def register(run: Callable[[str, np.random.Generator], Outcome]) -> Callable:
        few = len(laws) if quick_laws is None else quick_laws
        SIMULATIONS.append(Simulation(job, run.__name__, run, statements, laws, quick, few))
        return run

    return register


@dataclass
class Count:
    """How often a statement was made or held, and how often the job declined or doubted it."""

    n: int = 0
    total: float = 0.0
    declined: int = 0
    doubted: int = 0

    def add(self, outcome: float | bool | Doubted | None) -> None:
        if isinstance(outcome, Doubted):
            self.doubted += 1
            outcome = outcome.value
        if outcome is None or np.isnan(float(outcome)):
            self.declined += 1
        else:
            self.n += 1
            self.total += float(outcome)

    @property
    def share(self) -> float:
        return self.total / self.n if self.n else np.nan

    @property
    def error(self) -> float:
        """Monte Carlo standard error of the share; that of one more alarm where there is none."""
        if not self.n:
            return np.nan
        p = (self.total + 1) / (self.n + 2)
        return float(np.sqrt(p * (1 - p) / self.n))

    def verdict(self, band: tuple[float, float]) -> str:
        """Whether the share lies in a band, as far as so many repeats can tell.

        Outcomes between 0 and 1 spread less than those of a coin, whose law is used. A share
        outside is *said* where the job says, beside what it prints, that the statement holds less
        often.
        """
        if not self.n:
            return "not made" if self.declined else "not run"
        low, high = band
        if low <= self.share <= high:
            return "holds" if self.n >= FEWEST else "open"
        if self.doubted >= MOSTLY * self.n:
            return "said"
        below = stats.binom.cdf(np.floor(self.total), self.n, low) if self.share < low else 1.0
        above = stats.binom.sf(np.ceil(self.total) - 1, self.n, high) if self.share > high else 1.0
        return "FAILS" if min(below, above) < SURE else "open"


@dataclass
class Record:
    """What was counted in one simulation and law."""

    repeats: int = 0
    counts: dict[str, Count] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        self.repeats += 1
        for name, value in outcome.items():
            self.counts.setdefault(name, Count()).add(value)


def repeated(
    each: Simulation, law: str, record: Record, repeats: int, until: float = np.inf, seed: int = 0
) -> Record:
    """Run a simulation until it has been repeated so often, or the clock is past `until`."""
    known = statements_of(each.job)
    while record.repeats < repeats and time.time() < until:
        outcome = each.once(law, record.repeats, seed)
        unknown = set(outcome) - set(known)
        assert not unknown, f"{each.name} tells of {unknown}, which are no statements of {each.job}"
        record.add(outcome)
    return record


def lines(
    each: Simulation, law: str, record: Record
) -> Iterator[tuple[Statement, str, Count, str]]:
    """Statement, law, counts and verdict of every statement of a simulation."""
    known = statements_of(each.job)
    for name in each.statements:
        count = record.counts.get(name, Count())
        yield known[name], law, count, count.verdict(known[name].band)
