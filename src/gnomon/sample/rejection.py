"""Rejection: draw where it is easy, keep in proportion to the density that is wanted.

From a box: points (x, y) uniform on [a, b] x [0, c], kept where y <= p(x). From a proposal q with
p <= M q: x from q is kept with probability p(x) / (M q(x)). What is kept is independent draws of p,
whatever p's constant is; the share kept is Z / (M Zq). It falls to nothing as dimensions are added.

Texts: 002 "Rejection sampling".
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.renamed import former_attributes
from gnomon.sample.draws import Seed

SCOUTS = 2048  # points at which the largest ratio is looked for
MARGIN = 1.1  # above the largest ratio that was found
LOW_ACCEPTANCE = 0.01  # a hundred proposals for each draw


@former_attributes(normaliser="normalizer")
@dataclass(repr=False)
class RejectionSample(Result):
    """Independent draws and what it took to get them.

    Attributes
    ----------
    draws : ndarray of shape (n,) or (n, d)
    n_tried, n_kept : int
        Proposals that were made and kept (a few more than were asked for).
    bound : float
        Height c of the box, or factor M of the proposal.
    area : float
        Area of the box, or M: the share kept times this is the integral of the unnormalised
        density.
    tried, heights, kept : ndarray
        The proposals (at most 5,000 of them), their heights under the bound, which were kept.
    """

    draws: np.ndarray
    n_tried: int
    n_kept: int
    bound: float
    area: float
    tried: np.ndarray
    heights: np.ndarray
    kept: np.ndarray

    @property
    def acceptance(self) -> Estimate:
        """Share of the proposals that were kept, with its interval."""
        return share_interval(self.n_kept, self.n_tried)

    @property
    def normalizer(self) -> Estimate:
        """Integral of the unnormalised density: acceptance times area."""
        share = self.acceptance
        value, low, high = (each * self.area for each in (share.value, share.low, share.high))
        return Estimate(value, low, high, share.confidence_level, how=share.how)

    def _title(self) -> str:
        return f"{len(self.draws):,} draws by rejection, acceptance {self.acceptance}"

    def _columns(self) -> dict[str, list]:
        return {"proposals": [self.n_tried], "bound": [self.bound]}

    def _remarks(self) -> list[str]:
        if self.acceptance.value >= LOW_ACCEPTANCE:
            return []
        return ["few proposals are kept: a chain (sample_chains) is cheaper here"]


def rejection_box(
    density: Callable[[np.ndarray], np.ndarray],
    interval: tuple[float, float],
    n: int,
    *,
    bound: float | None = None,
    most_tried: int = 10_000_000,
    random_state: Seed = None,
) -> RejectionSample:
    """Independent draws on an interval: points under the curve, their heights forgotten.

    The scale of the density does not matter. Use it in one dimension on a bounded interval; not
    for densities with high narrow peaks (most points miss) or unbounded ones. A height above the
    bound is an error, since draws would be wrong. 002 "Rejection sampling".

    Parameters
    ----------
    density : callable
        p(x) >= 0 up to a factor, of an array of points.
    interval : pair of float
        [a, b].
    n : int
    bound : float, default=None
        Height c of the box; None looks at a grid of 2,048 points and adds a tenth.
    most_tried : int, default=10**7
        Give up after so many points.
    random_state : int, Generator or None

    Returns
    -------
    sample : RejectionSample

    Examples
    --------
    >>> found = rejection_box(lambda x: x * (1 - x), (0, 1), 5000, bound=0.25, random_state=0)
    >>> bool(abs(found.acceptance.value - 2 / 3) < 0.03)
    True
    """
    low, high = map(float, interval)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise DataError(f"interval={interval} must be two finite numbers, the first the smaller")
    if bound is None:
        bound = MARGIN * float(_heights(density, np.linspace(low, high, SCOUTS)).max())
    if not bound > 0:
        raise DataError(f"the density is zero on the whole of {interval}, or bound={bound} is")
    rng = np.random.default_rng(random_state)

    def propose(size: int) -> tuple[np.ndarray, np.ndarray]:
        points = rng.uniform(low, high, size)
        return points, _heights(density, points) / bound

    return _kept(propose, n, bound, bound * (high - low), most_tried, rng)


def rejection(
    log_density: Callable[[np.ndarray], np.ndarray],
    propose: Callable[[int, np.random.Generator], np.ndarray],
    log_proposal: Callable[[np.ndarray], np.ndarray],
    n: int,
    *,
    bound: float | None = None,
    most_tried: int = 10_000_000,
    random_state: Seed = None,
) -> RejectionSample:
    """Independent draws of p from a proposal q that, times M, lies above it.

    Use it where such a q is known and the dimension is low: acceptance is 1 / M for normalised
    densities, and with the dimension M grows beyond all bounds (10^6 to 10^20, 002). Where p
    exceeds M q anywhere that is met, it stops with an error, and says by how much.

    Parameters
    ----------
    log_density : callable
        log p up to a constant, of an array of draws.
    propose : callable
        ``propose(size, rng)`` draws from q.
    log_proposal : callable
        log q, of an array of draws.
    n : int
    bound : float, default=None
        M; None takes the greatest ratio p / q of 2,048 draws and a tenth more, which is a guess: a
        warning says so.
    most_tried : int, default=10**7
    random_state : int, Generator or None

    Returns
    -------
    sample : RejectionSample

    Examples
    --------
    >>> found = rejection(lambda x: -x**2 / 2, lambda size, rng: rng.standard_cauchy(size),
    ...                   lambda x: -np.log(np.pi * (1 + x**2)), 1000,
    ...                   bound=2 * np.pi * np.exp(-0.5), random_state=0)
    >>> len(found.draws)
    1000
    """
    rng = np.random.default_rng(random_state)

    def log_ratio(points: np.ndarray) -> np.ndarray:
        return np.asarray(log_density(points), dtype=float) - np.asarray(log_proposal(points))

    if bound is None:
        greatest = float(np.nanmax(log_ratio(propose(SCOUTS, rng))))
        bound = MARGIN * float(np.exp(greatest))
        warnings.warn(
            f"the bound M = {bound:.4g} was guessed from {SCOUTS:,} draws; give bound= where the "
            "greatest ratio of the densities is known",
            GnomonWarning,
            stacklevel=2,
        )
    if not (np.isfinite(bound) and bound > 0):
        raise DataError(f"bound={bound} must be a positive number")

    def tried(size: int) -> tuple[np.ndarray, np.ndarray]:
        points = np.asarray(propose(size, rng), dtype=float)
        return points, np.exp(log_ratio(points) - np.log(bound))

    return _kept(tried, n, bound, bound, most_tried, rng)


def _kept(propose, n: int, bound: float, area: float, most_tried: int, rng) -> RejectionSample:
    """Proposals with their acceptance probability, until n are kept; all that were tried count."""
    draws: list[np.ndarray] = []
    seen: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    n_tried = n_kept = 0
    size = max(n, 64)
    while n_kept < n:
        if n_tried >= most_tried:
            raise DataError(
                f"{n_kept:,} of {n:,} draws after {n_tried:,} proposals: the acceptance is too low "
                "for rejection. Take a nearer proposal, or a chain (sample_chains)"
            )
        points, chance = propose(size)
        _refuse_above(points, chance)
        heights = rng.random(size)
        kept = heights < chance
        draws.append(points[kept])
        if sum(len(part[0]) for part in seen) < 5000:
            seen.append((points, heights * bound, kept))
        n_tried += size
        n_kept += int(kept.sum())
        share = max(n_kept, 1) / n_tried
        size = int(min(max((n - n_kept) / share * 1.1, 64), 1e6, max(most_tried - n_tried, 64)))
    tried, heights, kept = (np.concatenate(part)[:5000] for part in zip(*seen))
    values = np.concatenate(draws)[:n]
    return RejectionSample(values, n_tried, n_kept, bound, area, tried, heights, kept)


def _refuse_above(points: np.ndarray, chance: np.ndarray) -> None:
    if np.isnan(chance).any():
        raise DataError(f"the density is not a number at {points[np.isnan(chance)][0]}")
    worst = int(np.argmax(chance))
    if chance[worst] > 1 + 1e-9:
        raise DataError(
            f"the density exceeds the bound by a factor of {chance[worst]:.4g} at "
            f"{np.round(points[worst], 6)}: draws would be wrong. Give a larger bound"
        )


def _heights(density, points: np.ndarray) -> np.ndarray:
    heights = np.asarray(density(points), dtype=np.float64)
    if heights.shape != points.shape or not (heights >= 0).all():
        raise DataError("the density must give a number that is zero or more for every point")
    return heights
