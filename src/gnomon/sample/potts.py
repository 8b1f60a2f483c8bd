"""Potts and Ising models on a grid, by Gibbs sampling.

p(theta) is proportional to exp(beta sum over edges of [theta_i = theta_j] + sum of fields
field_i(theta_i)), edges of a grid counted once (a sum over ordered pairs would count them twice).
The law of a site given the others: exp(beta n_k + field_k), n_k neighbours being in state k. Sites
of one colour of a checkerboard have no neighbours among themselves, so that drawing all of them,
then all others, is a Gibbs sweep too.

Texts: 002 "Potts and Ising models", "Gibbs sampler for Potts".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, subkernel
from gnomon.evaluate.result import Result
from gnomon.sample.draws import Seed

SCANS = ("sequential", "checkerboard")


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
    n_sweeps: int,
    *,
    n_states: int = 2,
    field: ArrayLike | None = None,
    start: ArrayLike | None = None,
    n_burn_in: int = 0,
    keep_every: int = 0,
    scan: str = "sequential",
    random_state: Seed = None,
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
    n_sweeps : int
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
    random_state : int, Generator or None

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
    if height < 1 or width < 1 or n_states < 2 or n_sweeps < 1:
        raise DataError("a Potts model needs a site, two states and a sweep at least")
    if scan not in SCANS:
        raise DataError(f"scan={scan!r} is none of {', '.join(SCANS)}")
    if not 0 <= n_burn_in < n_sweeps:
        raise DataError(f"n_burn_in={n_burn_in} must be less than n_sweeps={n_sweeps}")
    n_kept = (n_sweeps - n_burn_in) // keep_every if keep_every else 0
    memory.require(
        8 * height * width * (n_kept + 4 * n_states + 2),
        f"a Potts model of {height:,} x {width:,} sites with {n_kept:,} kept states",
        "Keep fewer states or take a smaller grid.",
    )
    beta = float(beta)
    rng = np.random.default_rng(random_state)
    states = _start(start, shape, n_states, rng)
    outer = _field(field, (height, width, n_states))
    pull = np.exp(outer - outer.max(axis=2, keepdims=True))
    liking = np.exp(beta * np.arange(5) - max(4 * beta, 0.0))
    energy = np.empty(n_sweeps)
    counts = np.zeros((height, width, n_states), dtype=np.int32)
    kept = np.empty((n_kept, height, width), dtype=np.int64)
    for sweep in range(n_sweeps):
        uniforms = rng.random((height, width))
        passes = (0, 1) if scan == "checkerboard" else (-1,)
        for colour in passes:
            energy[sweep] = potts_sweep(states, beta, outer, pull, liking, uniforms, colour)
        after = sweep - n_burn_in + 1
        if after > 0:
            count_states(states, counts)
            if keep_every and after % keep_every == 0:
                kept[after // keep_every - 1] = states
    return PottsSample(states, energy, counts, kept, beta, n_burn_in)


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


@kernel("out i8[:,:]", "f8", "f8[:,:,:]", "f8[:,:,:]", "f8[:]", "f8[:,:]", "i8")
def potts_sweep(states, beta, field, pull, liking, uniforms, colour):
    """Draw every site (of one checkerboard colour 0 or 1, or all for -1) given its neighbours.

    states (h, w) is rewritten; field (h, w, q) in logarithms, pull (h, w, q) = exp(field) and
    liking (5,) = exp(beta times 0 to 4 equal neighbours), both scaled to 1 at most, so that no
    exponential is computed unless all of them vanish; uniforms (h, w). A field for all sites alike
    is (1, 1, q). Returns the energy.
    """
    height, width = states.shape
    rows, columns, n_states = field.shape
    equal, weight = np.zeros(n_states, np.int64), np.empty(n_states)
    for i in range(height):
        first, step = 0, 1
        if colour >= 0:
            first, step = (i + colour) % 2, 2
        for j in range(first, width, step):
            above = states[i - 1, j] if i > 0 else -1
            below = states[i + 1, j] if i + 1 < height else -1
            left = states[i, j - 1] if j > 0 else -1
            right = states[i, j + 1] if j + 1 < width else -1
            total = 0.0
            for k in range(n_states):
                equal[k] = (above == k) + (below == k) + (left == k) + (right == k)
                weight[k] = liking[equal[k]] * pull[min(i, rows - 1), min(j, columns - 1), k]
                total += weight[k]
            if total < 1e-200:
                largest, total = -np.inf, 0.0
                for k in range(n_states):
                    weight[k] = field[min(i, rows - 1), min(j, columns - 1), k] + beta * equal[k]
                    largest = max(largest, weight[k])
                for k in range(n_states):
                    weight[k] = np.exp(weight[k] - largest)
                    total += weight[k]
            mark, line, chosen = uniforms[i, j] * total, 0.0, 0
            for k in range(n_states - 1):
                line += weight[k]
                chosen += mark >= line
            states[i, j] = chosen
    return potts_energy(states, beta, field)


@subkernel
def potts_energy(states, beta, field):
    """-beta times equal neighbours, less the field. states (h, w), field (h, w, q)."""
    height, width = states.shape
    rows, columns, _ = field.shape
    equal, outer = 0, 0.0
    for i in range(height):
        for j in range(width):
            outer += field[min(i, rows - 1), min(j, columns - 1), states[i, j]]
            if i + 1 < height:
                equal += states[i + 1, j] == states[i, j]
            if j + 1 < width:
                equal += states[i, j + 1] == states[i, j]
    return -beta * equal - outer


@kernel("i8[:,:]", "out i4[:,:,:]")
def count_states(states, counts):
    """Add one to the count of each site's state. states (h, w), counts (h, w, q)."""
    for i in range(states.shape[0]):
        for j in range(states.shape[1]):
            counts[i, j, states[i, j]] += 1


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
