"""Markov chain Monte Carlo: several chains, a warm-up that is left out, and whether they mixed.

`sample_chains` starts chains apart from each other, lets each warm up (and adapt, there only),
keeps what follows and looks at once whether all chains tell the same. A result whose chains have
not mixed says so, in its first line and as a warning.

Texts: 002 "Metropolis-Hastings", "Burn-in", "Posterior density" · 003 3.4.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import Estimate, normal_quantile
from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.threads import in_order
from gnomon.evaluate.progress import Progress, told
from gnomon.sample.diagnostics import (
    ChainComparison,
    autocorrelation,
    compare_chains,
    effective_sample_size,
    r_hat,
    thinning_lag,
)
from gnomon.sample.draws import Seed
from gnomon.sample.metropolis import Metropolis
from gnomon.sample.target import Target, as_target
from gnomon.sample.walker import Sampler, Walker

MIXED = 1.01  # bound of Vehtari et al. (2021)
NOT_MIXED = 1.05  # above this a warning is given
FEWEST_EFFECTIVE = 100  # per quantity; error bars from fewer are not trusted
FEW_DRAWS = 5000  # enough to judge mixing


@dataclass(repr=False)
class Chains(Result):
    """Draws of several chains, with all that says whether to trust them.

    Attributes
    ----------
    draws : ndarray of shape (n_chains, n_draws, d)
    log_density : ndarray of shape (n_chains, n_draws)
        Up to a constant; NaN where no density was given.
    acceptance : ndarray of shape (n_chains,)
        Share of proposals accepted after the warm-up.
    names : tuple of str
        The coordinates.
    n_warmup : int
        Draws left out at the beginning.
    thin : int
        Every so-many-th draw was kept.
    walkers : list
        The chains as they stand, for going on; see `continued`.
    """

    draws: np.ndarray
    log_density: np.ndarray
    acceptance: np.ndarray
    names: tuple[str, ...]
    n_warmup: int
    thin: int
    walkers: list[Walker]

    @property
    def flat(self) -> np.ndarray:
        """All draws in one array (n_chains * n_draws, d), chain after chain."""
        return self.draws.reshape(-1, self.draws.shape[2])

    def of(self, name: str | int) -> np.ndarray:
        """The draws of one coordinate, by name or position: (n_chains, n_draws).

        Parameters
        ----------
        name : str or int

        Returns
        -------
        draws : ndarray of shape (n_chains, n_draws)
        """
        if isinstance(name, str) and name not in self.names:
            raise DataError(f"there is no coordinate {name!r}; there are {', '.join(self.names)}")
        place = self.names.index(name) if isinstance(name, str) else int(name)
        return self.draws[:, :, place]

    def r_hat(self, kind: str = "rank") -> np.ndarray:
        """R-hat of every coordinate; see `gnomon.sample.r_hat`.

        Parameters
        ----------
        kind : {"rank", "split", "classic"}, default="rank"

        Returns
        -------
        r_hat : ndarray of shape (d,)
        """
        return np.array([r_hat(self.of(j), kind) for j in range(len(self.names))])

    def effective_sample_size(self, kind: str = "bulk") -> np.ndarray:
        """What the draws of every coordinate are worth.

        Parameters
        ----------
        kind : {"bulk", "tail", "mean"}, default="bulk"

        Returns
        -------
        size : ndarray of shape (d,)
        """
        return np.array([effective_sample_size(self.of(j), kind) for j in range(len(self.names))])

    @property
    def has_mixed(self) -> bool:
        """Whether R-hat is at most 1.01 everywhere and bulk and tail are worth 100 draws."""
        sizes = [self.effective_sample_size(kind).min() for kind in ("bulk", "tail")]
        return bool((self.r_hat() <= MIXED).all() and min(sizes) >= FEWEST_EFFECTIVE)

    def compare(self, name: str | int = 0, alpha: float = 0.01) -> ChainComparison:
        """Two-sample tests between the chains of one coordinate; see `compare_chains`.

        Parameters
        ----------
        name : str or int, default=0
        alpha : float, default=0.01

        Returns
        -------
        comparison : ChainComparison
        """
        return compare_chains(self.of(name), alpha=alpha)

    def autocorrelation(self, name: str | int = 0, most: int = 50) -> np.ndarray:
        """Autocorrelation of a coordinate, mean over chains, at lags 0 to `most`.

        Parameters
        ----------
        name : str or int, default=0
        most : int, default=50

        Returns
        -------
        correlations : ndarray
        """
        return np.mean([autocorrelation(chain, most) for chain in self.of(name)], axis=0)

    def thinned(self, lag: int | None = None) -> Chains:
        """Every lag-th draw; by default the lag at which no autocorrelation is left.

        Parameters
        ----------
        lag : int or None, default=None

        Returns
        -------
        chains : Chains
        """
        if lag is None:
            lag = max(thinning_lag(chain) for j in range(len(self.names)) for chain in self.of(j))
        lag = max(min(lag, self.draws.shape[1] // 4), 1)
        return Chains(
            self.draws[:, ::lag],
            self.log_density[:, ::lag],
            self.acceptance,
            self.names,
            self.n_warmup,
            self.thin * lag,
            self.walkers,
        )

    def expectation(
        self, function: Callable[[np.ndarray], float], confidence_level: float = 0.95
    ) -> Estimate:
        """E f(x) with the Monte Carlo error of correlated draws.

        Parameters
        ----------
        function : callable
            Of one draw of shape (d,).
        confidence_level : float, default=0.95

        Returns
        -------
        mean : Estimate
        """
        values = np.array([float(function(x)) for x in self.flat])
        return _mean(values.reshape(self.draws.shape[:2]), confidence_level)

    def means(self, confidence_level: float = 0.95) -> list[Estimate]:
        """The mean of every coordinate, with its Monte Carlo error.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        means : list of Estimate
        """
        return [_mean(self.of(j), confidence_level) for j in range(len(self.names))]

    def density(
        self, name: str | int = 0, points: ArrayLike | None = None, bins: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Density of a coordinate: a kernel estimate at points, or a histogram with `bins`.

        The bandwidth counts effective draws, not draws. 002 "Posterior density from samples".

        Parameters
        ----------
        name : str or int, default=0
        points : array-like, default=None
            Where; 200 points over the draws where None.
        bins : int, default=None
            A histogram of so many bins instead.

        Returns
        -------
        points, density : ndarray, ndarray
            With bins, the bins' borders and the height in each.
        """
        draws = self.of(name).ravel()
        if bins is not None:
            heights, borders = np.histogram(draws, bins, density=True)
            return borders, heights
        low, high = draws.min(), draws.max()
        if low == high:
            raise DataError("all draws are the same: there is no density to estimate")
        if points is None:
            reach = 0.05 * (high - low)
            points = np.linspace(low - reach, high + reach, 200)
        effective = min(effective_sample_size(self.of(name), "bulk"), draws.size)
        law = scipy.stats.gaussian_kde(draws, bw_method=float(effective) ** -0.2)
        where = np.asarray(points, dtype=np.float64)
        return where, law(where)

    def _title(self) -> str:
        m, n, _ = self.draws.shape
        verdict = "mixed" if self.has_mixed else "HAVE NOT MIXED"
        return (
            f"{m} chain{'s' * (m != 1)} of {n:,} draws after {self.n_warmup:,} of warm-up "
            f"(acceptance {self.acceptance.mean():.2f}): {verdict}"
        )

    def _columns(self) -> dict[str, list]:
        return {
            "coordinate": list(self.names),
            "mean": self.means(),
            "sd": self.flat.std(axis=0, ddof=1).tolist(),
            "R-hat": self.r_hat().tolist(),
            "ESS bulk": self.effective_sample_size("bulk").tolist(),
            "ESS tail": self.effective_sample_size("tail").tolist(),
        }

    def _remarks(self) -> list[str]:
        found = []
        if not self.has_mixed:
            found.append(
                "the chains do not tell the same, or are worth too few draws: run them longer, "
                "start elsewhere, or take another sampler; do not use the means yet"
            )
        if len(self.draws) == 1:
            found.append("one chain cannot show that it has missed a mode; run several")
        return found


def sample_chains(
    target: Any,
    sampler: Sampler | None = None,
    n_draws: int = 1000,
    *,
    starts: ArrayLike | None = None,
    n_chains: int = 4,
    n_warmup: int | None = None,
    thin: int = 1,
    dimension: int | None = None,
    start_spread: float = 2.0,
    random_state: Seed = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Chains:
    """Run several chains of a sampler on a target, and judge them.

    Each chain has a generator of its own, so that the draws do not depend on `n_jobs`. Samplers
    adapt in the warm-up only. Where the rank-normalised R-hat (of some 5,000 evenly spaced
    draws) exceeds 1.05 a warning says that the chains have not mixed.

    Parameters
    ----------
    target : Target, callable or None
        The density up to a constant; a plain function of a point needs `dimension`. None for
        `Gibbs`, which needs conditionals only.
    sampler : Sampler, default=None
        `Metropolis`, `MetropolisHastings`, `Gibbs`, `Slice` or `Hamiltonian`; None for Metropolis
        that adapts.
    n_draws : int, default=1000
        Kept draws of each chain.
    starts : array-like of shape (n_chains, d), default=None
        Where chains start, best far apart; None draws them from N(0, start_spread^2).
    n_chains : int, default=4
        Where `starts` are not given.
    n_warmup : int, default=None
        Draws left out; as many as are kept, at most 2,000, where None.
    thin : int, default=1
        Keep every so-many-th draw.
    dimension : int, default=None
        Coordinates, where the target does not say.
    start_spread : float, default=2
    random_state : int, Generator or None
    n_jobs : int or None, default=None
        Threads; chains side by side. Compiled targets gain by it, Python functions do not.
    progress : bool or callable, default=None

    Returns
    -------
    chains : Chains

    Examples
    --------
    >>> from gnomon.sample import Target
    >>> found = sample_chains(Target(lambda x: -0.5 * x[0] ** 2, 1), n_draws=1000, random_state=0)
    >>> bool(found.r_hat()[0] < 1.05)
    True
    """
    sampler = sampler or Metropolis()
    rng = np.random.default_rng(random_state)
    known = None if target is None else as_target(target, dimension)
    points = _starts(known, starts, dimension, n_chains, start_spread, rng)
    n_warmup = min(n_draws, 2000) if n_warmup is None else int(n_warmup)
    if n_draws < 4 or thin < 1 or n_warmup < 0:
        raise DataError("n_draws must be at least 4, thin at least 1, n_warmup zero or more")
    m, d = points.shape
    memory.require(
        8 * m * n_draws * thin * (2 * d + 3),
        f"{m} chains of {n_draws * thin:,} draws of {d:,} coordinates",
        "Keep fewer draws or chains.",
    )
    generators = rng.spawn(m)
    walkers = [sampler.begin(known, point) for point in points]

    def run(chain: int):
        walkers[chain].warm_up(n_warmup, generators[chain])
        part = walkers[chain].advance(n_draws * thin, generators[chain])
        kept = slice(thin - 1, None, thin)
        share = part.accepted / max(len(part.draws), 1)
        return part.draws[kept], part.log_density[kept], share, walkers[chain]

    found = []
    with told(progress, "chains") as tell:
        for each in in_order(run, range(m), n_jobs, anywhere=True):
            found.append(each)
            tell(len(found), m)
    *numbers, ended = zip(*found)  # a chain that ran elsewhere goes on from there
    draws, logs, acceptance = map(np.array, numbers)
    names = known.labels if known is not None else tuple(f"x{j}" for j in range(d))
    chains = Chains(draws, logs, acceptance, names, n_warmup, thin, list(ended))
    _warn_unless_mixed(chains)
    return chains


def continued(
    chains: Chains, n_draws: int, *, random_state: Seed = None, n_jobs: int | None = None
) -> Chains:
    """Go on where chains ended: the same chains with more draws, adapting nothing further.

    Parameters
    ----------
    chains : Chains
    n_draws : int
        Further draws of each chain.
    random_state : int, Generator or None
    n_jobs : int or None, default=None

    Returns
    -------
    chains : Chains

    Examples
    --------
    >>> from gnomon.sample import Slice, Target
    >>> first = sample_chains(Target(lambda x: -abs(x[0]), 1), Slice(), 200, random_state=0)
    >>> continued(first, 300, random_state=1).draws.shape
    (4, 500, 1)
    """
    generators = np.random.default_rng(random_state).spawn(len(chains.walkers))

    def run(chain: int):
        part = chains.walkers[chain].advance(n_draws * chains.thin, generators[chain])
        kept = slice(chains.thin - 1, None, chains.thin)
        share = part.accepted / len(part.draws)
        return part.draws[kept], part.log_density[kept], share, chains.walkers[chain]

    found = list(in_order(run, range(len(chains.walkers)), n_jobs, anywhere=True))
    *numbers, walkers = zip(*found)
    draws, logs, acceptance = map(np.array, numbers)
    before = chains.draws.shape[1]
    longer = Chains(
        np.concatenate([chains.draws, draws], axis=1),
        np.concatenate([chains.log_density, logs], axis=1),
        (chains.acceptance * before + acceptance * n_draws) / (before + n_draws),
        chains.names,
        chains.n_warmup,
        chains.thin,
        list(walkers),
    )
    _warn_unless_mixed(longer)
    return longer


def _starts(
    target: Target | None,
    starts: ArrayLike | None,
    dimension: int | None,
    n_chains: int,
    spread: float,
    rng: np.random.Generator,
) -> np.ndarray:
    if starts is not None:
        points = np.atleast_2d(np.asarray(starts, dtype=np.float64))
        if target is not None and points.shape[1] != target.dimension:
            raise DataError(
                f"starts have {points.shape[1]} coordinates, the target {target.dimension}"
            )
        return points
    d = target.dimension if target is not None else dimension
    if d is None:
        raise DataError("without a target, give starts= or dimension=")
    points = rng.normal(0, spread, (n_chains, d))
    if target is None:
        return points
    for chain in range(n_chains):
        for _ in range(100):
            if target(points[chain]) > -np.inf:
                break
            points[chain] = rng.normal(0, spread, d)
        else:
            raise DataError(
                f"the density is zero at 100 starts drawn with spread {spread:g}; give starts="
            )
    return points


def _mean(draws: np.ndarray, confidence_level: float) -> Estimate:
    mean, effective = float(draws.mean()), effective_sample_size(draws, "mean")
    error = float(draws.std(ddof=1) / np.sqrt(effective))
    half = normal_quantile(confidence_level) * error
    return Estimate(
        mean, mean - half, mean + half, confidence_level, error, f"{effective:.0f} effective draws"
    )


def _warn_unless_mixed(chains: Chains) -> None:
    """Look at some five thousand draws of each chain, evenly spaced: enough to see chains apart."""
    every = max(chains.draws.shape[1] // FEW_DRAWS, 1)
    found = np.array([r_hat(chains.of(j)[:, ::every]) for j in range(len(chains.names))])
    worst = int(np.argmax(np.where(np.isnan(found), np.inf, found)))
    if not found[worst] <= NOT_MIXED:
        warnings.warn(
            f"the chains have not mixed: R-hat of {chains.names[worst]} is {found[worst]:.3g} "
            f"(1 is good, {NOT_MIXED} too much). Run them longer or take another sampler",
            GnomonWarning,
            stacklevel=3,
        )
