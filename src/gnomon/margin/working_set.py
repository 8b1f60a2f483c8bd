"""The quadratic programme of kernel machines, by decomposition into working sets.

    min_a  1/2 sum_tu s_t s_u a_t a_u K(t, u) + sum_t p_t a_t,    0 <= a_t <= bound_t,
    sums of s_t a_t over each group of variables fixed

Osuna's and Joachims' idea: most variables stand on a bound, so take a working set of q variables
that violate the conditions of optimality most, solve their small problem exactly, and go on until
no pair violates them by more than the tolerance. q = 2 is sequential minimal optimisation.

Why it is fast: kernel rows of a whole working set come from one matrix product and one vectorised
exponential on all threads (an order of magnitude faster than row by row); the pairs inside the set
are solved by second-order selection on a matrix that fits the processor's cache; half of a set
stays in the next, so that its rows are there already.

Texts: 001 8.8 · 004 10.1.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.engine.threads import Crew, one_blas_thread
from gnomon.margin.kernels import Kernel
from gnomon.margin.smo_kernel import add_rows, gather, solve_pairs

# One thread, 2,500 x 10 and 5,000 x 30: 256 took 1.46 and 0.92 of the time, 1,024 0.86 and 0.96,
# 2,048 1.20 and 1.31.
WORKING_SET = 512
# Working sets in as many rows as which all are solved for at once: variables that stand on a bound
# are set aside within a set too, which costs less than another set (measured).
WHOLE = 2
# Of the tolerance, for pairs of all variables: sums that are computed anew differ by rounding.
NEARLY = 0.99
# Judgement: a block of kernel values, 2 MB, is one turn of a thread.
COLUMNS_AT_ONCE = 2048
ROWS_AT_ONCE = 128
# Rows times rows from which on threads are worth their start.
WORTH_CREW = 4_000_000
MOST_STEPS = 10**6
Tell = Callable[[float], bool]


class KernelRows:
    """Rows of a kernel matrix, computed in blocks when needed and cached while memory lasts.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray of shape (n, d)
        For a precomputed kernel the matrix itself; without ridge it is not copied.
    capacity : int
        Kernel rows that are kept at most.
    crew : Crew
    ridge : ndarray of shape (n,) or None
        Added to the diagonal.
    """

    def __init__(
        self, kernel: Kernel, rows: np.ndarray, capacity: int, crew: Crew, ridge: Any = None
    ):
        self.rows, self.kernel, self.crew, self.ridge = rows, kernel, crew, ridge
        n = rows.shape[0]
        self.borders = [(k, min(k + COLUMNS_AT_ONCE, n)) for k in range(0, n, COLUMNS_AT_ONCE)]
        self.blocks: Any = (
            None
            if kernel.pairwise
            else crew.each(lambda b: kernel.against(rows[b[0] : b[1]]), self.borders)
        )
        if kernel.pairwise and ridge is None:
            self.table = np.ascontiguousarray(rows, dtype=np.float64)
            self.slot_of, self.row_in = np.arange(n), np.arange(n)
        else:
            self.table = np.empty((min(capacity, n), n))
            self.slot_of = np.full(n, -1, dtype=np.int64)
            self.row_in = np.full(len(self.table), -1, dtype=np.int64)
        self.last_use = np.zeros(len(self.table), dtype=np.int64)
        self.clock = 0
        self.computed = 0

    def _fill(self, wanted: np.ndarray, out: np.ndarray, slots: np.ndarray) -> None:
        """Put kernel rows into slots of a table."""
        if self.blocks is None:
            out[slots] = self.rows[wanted]
        else:
            left = self.rows[wanted]

            def part(number: int) -> None:
                start, stop = self.borders[number]
                for first in range(0, len(wanted), ROWS_AT_ONCE):
                    here = slice(first, first + ROWS_AT_ONCE)
                    out[slots[here], start:stop] = self.blocks[number](left[here])

            self.crew.each(part, range(len(self.borders)))
        if self.ridge is not None:
            out[slots, wanted] += self.ridge[wanted]
        self.computed += len(wanted)

    def fetch(self, wanted: np.ndarray) -> np.ndarray:
        """Slots of the table that now hold the kernel rows of these different places."""
        self.clock += 1
        slots = self.slot_of[wanted]
        self.last_use[slots[slots >= 0]] = self.clock
        new = wanted[slots < 0]
        if len(new):
            oldest = np.argsort(self.last_use, kind="stable")[: len(new)]
            former = self.row_in[oldest]
            self.slot_of[former[former >= 0]] = -1
            self.row_in[oldest] = new
            self.slot_of[new] = oldest
            self.last_use[oldest] = self.clock
            self._fill(new, self.table, oldest)
        return self.slot_of[wanted]

    def add(self, slots: np.ndarray, factors: np.ndarray, total: np.ndarray) -> None:
        """Add factors times kernel rows to a total of length n."""
        self.crew.each(
            lambda border: add_rows(self.table, slots, factors, *border, total), self.borders
        )


@dataclass
class Programme:
    """A quadratic programme of the form above.

    Attributes
    ----------
    place : int64 array (m,)
        The row of each variable.
    sign : float64 array (m,)
    linear : float64 array (m,)
        The p.
    bound : float64 array (m,)
    group : int64 array (m,)
    start : float64 array (m,)
        Within the bounds; its sums of s a are kept.
    """

    place: np.ndarray
    sign: np.ndarray
    linear: np.ndarray
    bound: np.ndarray
    group: np.ndarray
    start: np.ndarray

    @classmethod
    def simple(cls, sign: np.ndarray, linear: np.ndarray, bound: np.ndarray) -> Programme:
        """One variable per row, one group, starting at zero."""
        m = len(sign)
        none = np.zeros(m, dtype=np.int64)
        return cls(np.arange(m), sign, linear, bound, none, np.zeros(m))

    @property
    def n_groups(self) -> int:
        return int(self.group.max()) + 1

    def open_sides(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which s a may rise, and which may fall."""
        below, above = alpha < self.bound, alpha > 0
        up = self.sign > 0
        return np.where(up, below, above), np.where(up, above, below)


@dataclass
class Solution:
    """Where a programme ended.

    Attributes
    ----------
    alpha : ndarray of shape (m,)
    values : ndarray of shape (n,)
        sum_t s_t a_t K(t, row) of each row, without offset.
    offsets : list of float
        Per group: the v that free variables share, where none is free the middle of the gap.
    objective : float
        The value of the programme, to be minimised.
    gap : float
        Greatest violation of the conditions of optimality.
    n_steps : int
        Pairs that were moved.
    converged : bool
    course : list of (float, float)
        Gap and objective after each working set; of the start, where that is the end.
    stopped : bool
        Whether it ended because it was asked to.
    """

    alpha: np.ndarray
    values: np.ndarray
    offsets: list[float]
    objective: float
    gap: float
    n_steps: int
    converged: bool
    course: list[tuple[float, float]] = field(default_factory=list)
    stopped: bool = False

    def coefficients(self, programme: Programme, n: int) -> np.ndarray:
        """sum of s a over the variables of each row."""
        return np.bincount(programme.place, programme.sign * self.alpha, minlength=n)


def solve(
    programme: Programme,
    kernel: Kernel,
    rows: np.ndarray,
    *,
    tol: float = 1e-3,
    ridge: np.ndarray | None = None,
    working_set: int = WORKING_SET,
    cache_bytes: int = 2**28,
    max_iter: int | None = None,
    max_steps: int | None = None,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Solution:
    """Solve a `Programme` over the rows of a kernel machine.

    Parameters
    ----------
    programme : Programme
    kernel : Kernel
        With numbers for all its parameters (``fitted``).
    rows : ndarray of shape (n, d)
    tol : float, default=1e-3
        Greatest violation of the conditions of optimality that is left.
    ridge : ndarray of shape (n,) or None, default=None
        Added to the diagonal of the kernel matrix.
    working_set : int, default=512
        Variables that are solved for together, or all where there are no more than twice as many;
        2 is sequential minimal optimisation.
    cache_bytes : int, default=2**28
        Memory for kernel rows.
    max_iter : int or None, default=None
        Most working sets; None for as many as `max_steps` allows.
    max_steps : int or None, default=None
        Most pair steps, where `max_iter` is not given, and of one working set; None for the greater
        of a million and a hundred per variable.
    n_jobs : int or None, default=None
    tell : callable, default=None
        Is given the objective after each working set, and says whether to stop.

    Returns
    -------
    solution : Solution
    """
    n = rows.shape[0]
    if n <= WHOLE * working_set and np.array_equal(programme.place, np.arange(n)):
        return _Whole(programme, kernel, rows, tol, ridge, max_iter, max_steps).run(tell)
    jobs = n_jobs if n * n >= WORTH_CREW else 1
    with Crew(jobs) as crew:
        capacity = cached_rows(n, working_set, cache_bytes)
        source = KernelRows(kernel, rows, capacity, crew, ridge)
        return _Decomposition(programme, source, tol, working_set, max_iter, max_steps).run(tell)


def cached_rows(n: int, working_set: int, cache_bytes: int) -> int:
    """Kernel rows that are kept: what fits the cache, and at least a working set."""
    return min(n, max(working_set, cache_bytes // (8 * max(n, 1))))


class _Decomposition:
    def __init__(
        self, programme: Programme, source: KernelRows, tol, working_set, max_iter, max_steps
    ):
        self.programme, self.source, self.tol = programme, source, tol
        m = len(programme.sign)
        self.size = min(max(working_set, 2), m)
        self.most_steps = max_steps or max(MOST_STEPS, 100 * m)
        self.max_iter = max_iter
        self.alpha = programme.start.astype(np.float64, copy=True)
        self.values = np.zeros(source.rows.shape[0])
        self.base = -programme.sign * programme.linear
        self.recent = np.zeros(0, dtype=np.int64)
        self.one_each = np.array_equal(programme.place, np.arange(m))

    def run(self, tell: Tell | None = None) -> Solution:
        self._add_start()
        course: list[tuple[float, float]] = []
        n_steps, stopped = 0, False
        while True:
            v = self.base - self.values[self.programme.place]
            up, low = self.programme.open_sides(self.alpha)
            gap, objective = self._gap(v, up, low), self._objective()
            if n_steps:
                course.append((gap, objective))
                stopped = tell is not None and tell(objective)
            if gap <= self.tol or stopped or self._is_enough(len(course), n_steps):
                break
            n_steps += max(self._step(v, up, low, gap), 1)
        offsets = [self._offset(g, v, up, low) for g in range(self.programme.n_groups)]
        return Solution(
            self.alpha,
            self.values,
            offsets,
            objective,
            gap,
            n_steps,
            gap <= self.tol,
            course or [(gap, objective)],
            stopped,
        )

    def _step(self, v: np.ndarray, up: np.ndarray, low: np.ndarray, gap: float) -> int:
        """Choose a working set and solve for it; gives the number of pairs that were moved."""
        return self._improve(self._choose(v, up, low), v, gap)

    def _is_enough(self, n_sets: int, n_steps: int) -> bool:
        if self.max_iter is not None:
            return n_sets >= self.max_iter
        return n_steps >= self.most_steps

    def _add_start(self) -> None:
        places = np.flatnonzero(self.alpha)
        for first in range(0, len(places), self.size):
            self._apply(places[first : first + self.size], self.alpha)

    def _apply(self, chosen: np.ndarray, change: np.ndarray) -> None:
        """Add the kernel rows of chosen variables times their change."""
        programme = self.programme
        places, where = self._places(chosen)
        factors = np.bincount(where, programme.sign[chosen] * change[chosen], minlength=len(places))
        moved = factors != 0
        if moved.any():
            slots = self.source.fetch(places[moved])
            self.source.add(slots, factors[moved], self.values)

    def _places(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The different rows of chosen variables, and which of them each has."""
        if self.one_each:
            return chosen, np.arange(len(chosen))
        return np.unique(self.programme.place[chosen], return_inverse=True)

    def _gap(self, v: np.ndarray, up: np.ndarray, low: np.ndarray) -> float:
        gap = 0.0
        for g in range(self.programme.n_groups):
            here = self.programme.group == g
            highest = v[up & here].max(initial=-np.inf)
            lowest = v[low & here].min(initial=np.inf)
            if np.isfinite(highest) and np.isfinite(lowest):
                gap = max(gap, float(highest - lowest))
        return gap

    def _objective(self) -> float:
        programme = self.programme
        quadratic = self.alpha * programme.sign @ self.values[programme.place]
        return float(0.5 * quadratic + programme.linear @ self.alpha)

    def _choose(self, v: np.ndarray, up: np.ndarray, low: np.ndarray) -> np.ndarray:
        """The most violating variables of each group, then such as were chosen before."""
        size, n_groups = self.size, self.programme.n_groups
        if size == len(v):
            return np.arange(size)
        fresh = size if len(self.recent) == 0 else max(size // 2, 2)
        share = max(fresh // (2 * n_groups), 1)
        parts = []
        for g in range(n_groups):
            here = self.programme.group == g
            parts += [_greatest(v, up & here, share), _greatest(-v, low & here, share)]
        chosen = np.unique(np.concatenate(parts))
        rest = self.recent[~np.isin(self.recent, chosen)][: size - len(chosen)]
        self.recent = np.concatenate([chosen, rest])
        return np.sort(self.recent)

    def _improve(self, chosen: np.ndarray, v: np.ndarray, gap: float) -> int:
        """Solve for the chosen variables alone; gives the number of steps."""
        programme, q = self.programme, len(chosen)
        places, where = self._places(chosen)
        slots = self.source.fetch(places)
        matrix = np.empty((q, q))
        gather(self.source.table, slots[where], programme.place[chosen], matrix)
        alpha, values = self.alpha[chosen], v[chosen]
        n_steps, _ = solve_pairs(
            matrix,
            values,
            alpha,
            programme.bound[chosen],
            programme.sign[chosen],
            programme.group[chosen],
            programme.n_groups,
            max(0.5 * self.tol, 0.1 * gap),
            self.most_steps,
            1,
            np.empty((0, 2), dtype=np.int64),
            np.empty(0),
        )
        change = np.zeros(len(self.alpha))
        change[chosen] = alpha - self.alpha[chosen]
        self.alpha[chosen] = alpha
        self._apply(chosen, change)
        return int(n_steps)

    def _offset(self, g: int, v: np.ndarray, up: np.ndarray, low: np.ndarray) -> float:
        here = self.programme.group == g
        free = here & up & low
        if free.any():
            return float(v[free].mean())
        highest = v[up & here].max(initial=-np.inf)
        lowest = v[low & here].min(initial=np.inf)
        ends = [float(end) for end in (highest, lowest) if np.isfinite(end)]
        return sum(ends) / len(ends) if ends else 0.0


class _Whole(_Decomposition):
    """A programme with one variable per row that is a working set by itself: no rows are fetched.

    The kernel matrix is at hand as a whole, and its pairs are solved to the end at once.
    """

    def __init__(self, programme: Programme, kernel, rows, tol, ridge, max_iter, max_steps):
        m = len(programme.sign)
        self.programme, self.tol, self.max_iter = programme, tol, max_iter
        self.most_steps = max_steps or max(MOST_STEPS, 100 * m)
        self.alpha = programme.start.astype(np.float64, copy=True)
        self.base = -programme.sign * programme.linear
        with one_blas_thread():  # so few rows are not worth more
            given = rows if kernel.pairwise else kernel.against(rows)(rows)
        self.matrix = np.ascontiguousarray(given, dtype=np.float64)
        if ridge is not None:
            self.matrix = self.matrix + np.diag(ridge)

    def _add_start(self) -> None:
        self.values = np.zeros(len(self.alpha))
        used = np.flatnonzero(self.alpha)
        factors = self.programme.sign[used] * self.alpha[used]
        add_rows(self.matrix, used, factors, 0, len(self.alpha), self.values)

    def _step(self, v: np.ndarray, up: np.ndarray, low: np.ndarray, gap: float) -> int:
        programme = self.programme
        n_steps, _ = solve_pairs(
            self.matrix,
            v,
            self.alpha,
            programme.bound,
            programme.sign,
            programme.group,
            programme.n_groups,
            NEARLY * self.tol,
            self.most_steps,
            1,
            np.empty((0, 2), dtype=np.int64),
            np.empty(0),
        )
        self._add_start()
        return int(n_steps)


def _greatest(values: np.ndarray, allowed: np.ndarray, count: int) -> np.ndarray:
    """Places of the greatest values among those allowed."""
    places = np.flatnonzero(allowed)
    if len(places) <= count:
        return places
    return places[np.argpartition(-values[places], count - 1)[:count]]
