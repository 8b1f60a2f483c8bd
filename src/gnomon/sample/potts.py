"""Potts and Ising models on a grid, by Gibbs sampling.

p(theta) is proportional to exp(beta sum over edges of [theta_i = theta_j] + sum of fields
field_i(theta_i)), edges of a grid counted once (a sum over ordered pairs would count them twice).
The law of a site given the others: exp(beta n_k + field_k), n_k neighbours being in state k. Sites
of one colour of a checkerboard have no neighbours among themselves, so that drawing all of them,
then all others, is a Gibbs sweep too, and one that rows of sites can share between threads.

Why it is fast: without a field a site's law depends on how many neighbours are in each state only,
so that the few laws stand in a table and a draw is a look-up; a rim around the grid spares every
question about edges; uniform numbers are a hash of the site's running number (SplitMix64), made
where they are used, the same for any number of threads.

Texts: 002 "Potts and Ising models", "Gibbs sampler for Potts".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.engine.threads import in_order
from gnomon.sample.draws import Seed

SCANS = ("sequential", "checkerboard")
MOST_STATES = 32_000  # states are stored in 16 bits
MOST_TABLED = 5  # states; the table has 5^states rows and must stay in the cache
SITES_AT_ONCE = 2**18  # sites in one piece of work for a thread
ONE, TWO, STEP, FIRST_MIX, SECOND_MIX = (
    np.uint64(each) for each in (1, 2, 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(repr=False)
class PottsSample(Result):
    """A grid after sweeps of Gibbs, and how its energy went.

    Attributes
    ----------
    states : ndarray of int of shape (height, width)
        After the last sweep.
    energy : ndarray of shape (n_sweeps,)
        -beta times equal neighbours, less the field, after each sweep.
    counts : ndarray of shape (height, width, n_states)
        How often each site was in each state after the burn-in.
    kept : ndarray of int of shape (n_kept, height, width)
        States after the burn-in; only those that were asked for.
    beta : float
    n_burn_in : int
    """

    states: np.ndarray
    energy: np.ndarray
    counts: np.ndarray
    kept: np.ndarray
    beta: float
    n_burn_in: int

    @property
    def marginals(self) -> np.ndarray:
        """Share of sweeps after the burn-in that each site spent in each state."""
        return self.counts / self.counts.sum(axis=2, keepdims=True)

    def _title(self) -> str:
        height, width, n_states = self.counts.shape
        return f"Potts model, {height} x {width} sites, {n_states} states, beta = {self.beta:g}"

    def _columns(self) -> dict[str, list]:
        n = len(self.energy)
        places = sorted({min(k, n) for k in (1, 10, 100, n)})
        return {"sweep": places, "energy": [float(self.energy[k - 1]) for k in places]}


def potts_gibbs(
    shape: tuple[int, int],
    beta: float,
    max_iter: int,
    *,
    n_states: int = 2,
    field: ArrayLike | None = None,
    start: ArrayLike | None = None,
    n_burn_in: int = 0,
    keep_every: int = 0,
    scan: str = "sequential",
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> PottsSample:
    """Sweeps of Gibbs over a Potts model (Ising with two states).

    Use it for smooth labellings of images and to see phase transitions. Above the critical beta
    (log(1 + sqrt(q)) for q states) chains stay in one phase for very long: start several.

    Parameters
    ----------
    shape : pair of int
        Height and width of the grid; neighbours left, right, above, below, none beyond the edge.
    beta : float
        Liking of neighbours for being equal; negative for being different.
    max_iter : int
    n_states : int, default=2
    field : array-like of shape (height, width, n_states), default=None
        What each site adds to the log density for each state (a likelihood, say).
    start : array-like of int of shape (height, width), default=None
        Random states where None.
    n_burn_in : int, default=0
        Sweeps that ``counts`` and ``kept`` leave out.
    keep_every : int, default=0
        Keep the states of every so-many-th sweep after the burn-in; none where 0.
    scan : {"sequential", "checkerboard"}, default="sequential"
        Site after site, or all sites of one colour before those of the other.
    random_state : int, Generator or None
    n_jobs : int or None, default=None
        Threads, for the checkerboard only; the draws do not depend on it.

    Returns
    -------
    sample : PottsSample

    Examples
    --------
    >>> cold = potts_gibbs((20, 20), 2.0, 50, random_state=0)
    >>> hot = potts_gibbs((20, 20), 0.0, 50, random_state=0)
    >>> bool(cold.energy[-1] < hot.energy[-1])
    True
    """
    height, width = shape
    if height < 1 or width < 1 or not 2 <= n_states <= MOST_STATES or max_iter < 1:
        raise DataError(
            f"a Potts model needs a site, a sweep and 2 to {MOST_STATES:,} states at least"
        )
    if scan not in SCANS:
        raise DataError(f"scan={scan!r} is none of {', '.join(SCANS)}")
    if not 0 <= n_burn_in < max_iter:
        raise DataError(f"n_burn_in={n_burn_in} must be less than n_sweeps={max_iter}")
    n_kept = (max_iter - n_burn_in) // keep_every if keep_every else 0
    memory.require(
        8 * height * width * (n_kept + 4 * n_states + 2),
        f"a Potts model of {height:,} x {width:,} sites with {n_kept:,} kept states",
        "Keep fewer states or take a smaller grid.",
    )
    rng = np.random.default_rng(random_state)
    grid = np.full((height + 2, width + 2), n_states, dtype=np.uint16)
    grid[1:-1, 1:-1] = _start(start, shape, n_states, rng)
    outer = _field(field, (height, width, n_states))
    sweep_rows = _tabled(float(beta), n_states) if field is None else _weighed(float(beta), outer)
    key = rng.integers(2**64, dtype=np.uint64)
    energy = np.empty(max_iter)
    counts = np.zeros((height, width, n_states), dtype=np.int32)
    kept = np.empty((n_kept, height, width), dtype=np.int64)
    for sweep in range(max_iter):
        number = np.uint64(sweep * height * width)
        with np.errstate(over="ignore"):
            _sweep(grid, sweep_rows, key, number, scan, n_jobs)
            after = sweep - n_burn_in + 1
            energy[sweep] = note_states(grid, float(beta), outer, counts, after > 0)
        if after > 0 and keep_every and after % keep_every == 0:
            kept[after // keep_every - 1] = grid[1:-1, 1:-1]
    states = grid[1:-1, 1:-1].astype(np.int64)
    return PottsSample(states, energy, counts, kept, float(beta), n_burn_in)


def _sweep(grid: np.ndarray, sweep_rows, key, number, scan: str, n_jobs: int | None) -> None:
    """Draw every site once."""
    height, width = grid.shape[0] - 2, grid.shape[1] - 2
    if scan == "sequential":
        sweep_rows(grid, key, number, 0, height, -1)
        return
    rows = max(SITES_AT_ONCE // width, 1)
    for color in (0, 1):
        if height <= rows:
            sweep_rows(grid, key, number, 0, height, color)
            continue
        parts = in_order(
            lambda begin: sweep_rows(
                grid,
                key,
                number,
                begin,
                min(begin + rows, height),
                color,  # noqa: B023
            ),
            range(0, height, rows),
            n_jobs,
            short=True,
        )
        for _ in parts:
            pass


def _tabled(beta: float, n_states: int):
    """Sweeps without a field; beyond a few states the table would leave the processor's cache."""
    if n_states > MOST_TABLED:
        return _weighed(beta, np.zeros((1, 1, n_states)))
    place = np.arange(5**n_states)
    counts = place[:, None] // 5 ** np.arange(n_states) % 5
    logs = beta * counts
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    marks = np.cumsum(weights, axis=1)
    marks = np.ascontiguousarray(marks[:, :-1] / marks[:, -1:])
    steps = np.append(5 ** np.arange(n_states), 0).astype(np.uint64)

    def sweep_rows(grid, key, number, begin, end, color):
        draw_tabled(grid, steps, marks, key, number, begin, end, color)

    return sweep_rows


def _weighed(beta: float, field: np.ndarray):
    """Sweeps with a field."""
    pull = np.exp(field - field.max(axis=2, keepdims=True))
    liking = np.exp(beta * np.arange(5) - max(4 * beta, 0.0))

    def sweep_rows(grid, key, number, begin, end, color):
        draw_weighed(grid, beta, field, pull, liking, key, number, begin, end, color)

    return sweep_rows


def potts_log_density(states: ArrayLike, beta: float, field: ArrayLike | None = None) -> float:
    """log p of a grid of states, up to the constant -log Z.

    Parameters
    ----------
    states : array-like of int of shape (height, width)
    beta : float
    field : array-like of shape (height, width, n_states), default=None

    Returns
    -------
    log_density : float

    Examples
    --------
    >>> potts_log_density([[0, 0], [0, 1]], 1.5)
    3.0
    """
    grid = np.asarray(states, dtype=np.int64)
    equal = (grid[1:] == grid[:-1]).sum() + (grid[:, 1:] == grid[:, :-1]).sum()
    outer = 0.0
    if field is not None:
        outer = np.take_along_axis(np.asarray(field, float), grid[:, :, None], axis=2).sum()
    return float(beta * equal + outer)


@lean_subkernel
def uniform(key, number):
    """The number-th number in [0, 1) of a key: SplitMix64 (Steele, Lea and Flood 2014)."""
    mixed = key + number * STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST_MIX
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND_MIX
    mixed = mixed ^ (mixed >> np.uint64(31))
    return np.float64(mixed >> np.uint64(11)) * 2.0**-53


@kernel("out u2[:,:]", "u8[:]", "f8[:,:]", "u8", "u8", "i8", "i8", "i8")
def draw_tabled(grid, steps, marks, key, number, begin, end, color):
    """Draw the sites of some rows (of one checkerboard colour 0 or 1, or all for -1) by look-up.

    grid (h + 2, w + 2) with a rim of the state q; steps (q + 1,) says what a neighbour in each
    state adds to the row of marks (5^q, q - 1), cumulative probabilities.
    """
    width = grid.shape[1] - 2
    for i in range(begin + 1, end + 1):
        above, here, below = grid[i - 1], grid[i], grid[i + 1]
        before = number + np.uint64((i - 1) * width)
        # unsigned places need no look at whether they count from the end
        if color < 0:
            left = here[0]
            for j in range(ONE, np.uint64(width + 1)):
                place = steps[above[j]] + steps[below[j]] + steps[left] + steps[here[j + ONE]]
                left = looked_up(marks, place, uniform(key, before + j))
                here[j] = left
            continue
        first = np.uint64(1 + (i + color) % 2)
        for j in range(first, np.uint64(width + 1), TWO):
            place = steps[above[j]] + steps[below[j]] + steps[here[j - ONE]] + steps[here[j + ONE]]
            here[j] = looked_up(marks, place, uniform(key, before + j))


@lean_subkernel
def looked_up(marks, place, drawn):
    """The state whose stretch of a row of marks (n, q - 1) holds a number in [0, 1)."""
    chosen = np.uint16(0)
    for k in range(marks.shape[1]):
        chosen += np.uint16(drawn >= marks[place, k])
    return chosen


@kernel("out u2[:,:]", "f8", "f8[:,:,:]", "f8[:,:,:]", "f8[:]", "u8", "u8", "i8", "i8", "i8")
def draw_weighed(grid, beta, field, pull, liking, key, number, begin, end, color):
    """Draw the sites of some rows (of one colour, or all for -1) by weights that a field changes.

    grid (h + 2, w + 2) with a rim of the state q; field (h, w, q) in logarithms, pull (h, w, q) =
    exp(field) and liking (5,) = exp(beta times 0 to 4 equal neighbours), both scaled to 1 at most,
    so that no exponential is computed unless all of them vanish. A field for all sites alike is
    (1, 1, q).
    """
    width = grid.shape[1] - 2
    rows, columns, n_states = field.shape
    equal, weight = np.zeros(n_states, np.int64), np.empty(n_states)
    for i in range(begin + 1, end + 1):
        first, step = 1, 1
        if color >= 0:
            first, step = 1 + (i + color) % 2, 2
        before = number + np.uint64((i - 1) * width)
        row = min(i - 1, rows - 1)
        for j in range(first, width + 1, step):
            above, below, left, right = (
                grid[i - 1, j],
                grid[i + 1, j],
                grid[i, j - 1],
                grid[i, j + 1],
            )
            column = min(j - 1, columns - 1)
            total = 0.0
            for k in range(n_states):
                equal[k] = above == k
                equal[k] += below == k
                equal[k] += left == k
                equal[k] += right == k
                weight[k] = liking[equal[k]] * pull[row, column, k]
                total += weight[k]
            if total < 1e-200:
                largest, total = -np.inf, 0.0
                for k in range(n_states):
                    weight[k] = field[row, column, k] + beta * equal[k]
                    largest = max(largest, weight[k])
                for k in range(n_states):
                    weight[k] = np.exp(weight[k] - largest)
                    total += weight[k]
            mark, line, chosen = uniform(key, before + np.uint64(j)) * total, 0.0, 0
            for k in range(n_states - 1):
                line += weight[k]
                chosen += mark >= line
            grid[i, j] = chosen


@kernel("u2[:,:]", "f8", "f8[:,:,:]", "out i4[:,:,:]", "b1")
def note_states(grid, beta, field, counts, counted):
    """The energy: -beta times equal neighbours, less the field; states are counted on request.

    grid (h + 2, w + 2) with a rim, field (h, w, q) or (1, 1, q), counts (h, w, q).
    """
    height, width = grid.shape[0] - 2, grid.shape[1] - 2
    rows, columns, _ = field.shape
    equal, outer = 0, 0.0
    for i in range(1, height + 1):
        for j in range(1, width + 1):
            equal += grid[i + 1, j] == grid[i, j]
            equal += grid[i, j + 1] == grid[i, j]
    for i in range(height):
        if rows > 1 or columns > 1 or height == 1:
            for j in range(width):
                outer += field[min(i, rows - 1), min(j, columns - 1), grid[i + 1, j + 1]]
        if counted:
            for j in range(width):
                counts[i, j, grid[i + 1, j + 1]] += 1
    return -beta * equal - outer


def _start(start, shape, n_states: int, rng: np.random.Generator) -> np.ndarray:
    if start is None:
        return rng.integers(n_states, size=shape)
    states = np.array(start, dtype=np.int64)
    if states.shape != tuple(shape) or states.min() < 0 or states.max() >= n_states:
        raise DataError(f"start must be a grid {shape} of states 0 to {n_states - 1}")
    return states


def _field(field, shape: tuple[int, int, int]) -> np.ndarray:
    if field is None:
        return np.zeros((1, 1, shape[2]))
    outer = np.ascontiguousarray(field, dtype=np.float64)
    if outer.shape != shape or not np.isfinite(outer).all():
        raise DataError(f"field must be finite numbers of shape {shape}, not {outer.shape}")
    return outer
