"""Practice of sampling: check an engine three ways on a tiny network, and run chains with care.

Verify a sampler or an inference engine on a tiny network with exact answers and with brute-force
simulation before trusting it (003 5). Chains: start several apart, tune the proposal, discard the
burn-in, see at which lag the autocorrelation is gone, and summarise nothing that has not mixed
(002 5, 003 5).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.contract.estimate import normal_quantile
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate import Estimate
from gnomon.graphical import BeliefNetwork
from gnomon.sample import (
    Chains,
    GaussianWalk,
    Metropolis,
    Target,
    burn_in,
    continued,
    effective_sample_size,
    sample_chains,
    thinning_lag,
)
from gnomon.sample.draws import Seed

# Half digits around the usual width, so that one is near the best.
WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0)
PILOT = 400  # judgement: draws of a pilot: acceptance is known to a few hundredths
LEVEL = 1 - 1e-5  # one false alarm in 100,000 checks, then divided by their number
ROUNDING = 1e-9  # relative; sums of enumerated terms agree to 1e-12 or so


@dataclass(repr=False)
class ThreeWayCheck(Result):
    """One question to a network, answered by every engine.

    Attributes
    ----------
    values : list of dict
        Values of the nodes that were asked for.
    exact : ndarray
        By writing the joint table down.
    answers : dict of str to list of Estimate
        Of each engine, with the error of those that draw (none where it computes).
    tolerance : float
        For engines without an error of their own.
    """

    values: list[dict[str, Any]]
    exact: np.ndarray
    answers: dict[str, list[Estimate]]
    tolerance: float

    @property
    def wrong(self) -> list[str]:
        """Engines whose answer is further off than chance (or rounding) explains."""
        return [name for name, figures in self.answers.items() if self._off(figures)]

    @property
    def agree(self) -> bool:
        """Whether every engine gives the exact answer."""
        return not self.wrong

    def _off(self, figures: Sequence[Estimate]) -> bool:
        level = 1 - (1 - LEVEL) / max(len(self.exact) * len(self.answers), 1)
        for figure, truth in zip(figures, self.exact):
            allowed = self.tolerance
            if np.isfinite(figure.error):
                allowed += normal_quantile(level) * float(figure.error)
            if not abs(figure.value - truth) <= allowed:
                return True
        return False

    def _title(self) -> str:
        if self.agree:
            return f"{', '.join(self.answers)} agree with enumeration"
        return f"{', '.join(self.wrong)} does NOT agree with enumeration"

    def _columns(self) -> dict[str, list[Any]]:
        asked = {name: [each[name] for each in self.values] for name in self.values[0]}
        return asked | {"exact": self.exact.tolist()} | self.answers


Engine = Callable[[BeliefNetwork, tuple[Any, ...], Mapping[str, Any]], Sequence[float]]


def three_way_check(
    network: BeliefNetwork,
    *wanted: str,
    evidence: Mapping[str, Any] | None = None,
    engines: Mapping[str, Engine] | None = None,
    n_draws: int = 4000,
    tolerance: float = ROUNDING,
    random_state: Seed = None,
) -> ThreeWayCheck:
    """Ask a tiny network one question by enumeration, by simulation and by chains.

    Use it before trusting an engine, your own included (``engines``), on a network that is small
    enough to write down. Not on a large one: its joint table is refused, and then cut the network
    down first.

    Parameters
    ----------
    network : BeliefNetwork
    *wanted : str
        Nodes whose joint law is asked for.
    evidence : mapping of str to value, default=None
    engines : mapping of str to callable, default=None
        Further engines: ``engine(network, wanted, evidence)`` gives the probabilities of all
        combinations, the last node running fastest; of plain numbers (judged by `tolerance`) or
        `Estimate` (judged by their errors).
    n_draws : int, default=4000
        Kept draws of the simulation, and of all chains together.
    tolerance : float, default=1e-9
    random_state : int, Generator or None

    Returns
    -------
    check : ThreeWayCheck

    Examples
    --------
    >>> net = BeliefNetwork({"a": "tf", "b": "tf"}, {"b": ["a"]},
    ...                     {"a": [0.4, 0.6], "b": [[0.7, 0.3], [0.2, 0.8]]})
    >>> three_way_check(net, "a", evidence={"b": "t"}, random_state=0).agree
    True
    """
    held = dict(evidence or {})
    rng = np.random.default_rng(random_state)
    exact = network.enumerate(*wanted, **held)
    cells = [
        dict(zip(wanted, place)) for place in np.ndindex(*(len(network.levels[w]) for w in wanted))
    ]
    sampler = network.sampler()
    codes = {name: float(network.levels[name].index(value)) for name, value in held.items()}
    forward = sampler.reject(codes, n_draws, random_state=rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)  # the check itself says what is off
        chains = sampler.gibbs(codes, max(n_draws // 4, 4), random_state=rng)
    answers: dict[str, list[Estimate]] = {
        "elimination": _plain(network.query(*wanted, **held).values.ravel()),
        "simulation": [_share(forward.probability(cell), n_draws) for cell in cells],
        "Gibbs chains": [_chain_share(chains, cell) for cell in cells],
    }
    for name, engine in (engines or {}).items():
        answers[name] = _plain(engine(network, wanted, held))
    values = [{name: network.levels[name][i] for name, i in cell.items()} for cell in cells]
    return ThreeWayCheck(values, exact.values.ravel(), answers, tolerance)


def _plain(values: Any) -> list[Estimate]:
    return [
        each
        if isinstance(each, Estimate)
        else Estimate(float(each), float(each), float(each), LEVEL, np.nan, "computed")
        for each in values
    ]


def _share(figure: Estimate, n: int) -> Estimate:
    """With an error that does not vanish where no draw, or every draw, had the value."""
    smoothed = (figure.value * n + 1) / (n + 2)
    error = float(np.sqrt(smoothed * (1 - smoothed) / n))
    return Estimate(
        figure.value, figure.low, figure.high, figure.confidence_level, error, f"{n:,} draws"
    )


def _chain_share(chains: Chains, cell: Mapping[str, int]) -> Estimate:
    hits = np.all([chains.of(name) == value for name, value in cell.items()], axis=0).astype(float)
    share = float(hits.mean())
    effective = hits.size
    if 0 < share < 1:
        effective = float(np.clip(effective_sample_size(hits, "mean"), 4, hits.size))
    smoothed = (share * effective + 1) / (effective + 2)
    error = float(np.sqrt(smoothed * (1 - smoothed) / effective))
    half = normal_quantile(0.95) * error
    return Estimate(
        share, max(share - half, 0.0), min(share + half, 1.0), 0.95, error, f"{effective:.0f} draws"
    )


@dataclass(repr=False)
class SamplingPractice(Result):
    """Chains that were tuned, lengthened and judged, with what each step found.

    Attributes
    ----------
    chains : Chains
        As they stand; look at them by `gnomon.show.chain_traces`.
    steps : list of tuple of str
        What was looked at, and what was found and done.
    widths : dict of float to tuple of float
        Proposal widths that were tried: acceptance and effective draws of a pilot run.
    burn_in : int
        First draws of a run without warm-up that would have to be left out.
    lag : int
        At which no autocorrelation is left.
    """

    chains: Chains
    steps: list[tuple[str, str]]
    widths: dict[float, tuple[float, float]] = field(default_factory=dict)
    burn_in: int = 0
    lag: int = 1

    @property
    def mixed(self) -> bool:
        """Whether the chains may be summarised."""
        return self.chains.has_mixed

    def summary(self, confidence_level: float = 0.95) -> dict[str, Estimate]:
        """The mean of every coordinate with its Monte Carlo error; refused for unmixed chains.

        Parameters
        ----------
        confidence_level : float, default=0.95

        Returns
        -------
        means : dict of str to Estimate
        """
        if not self.mixed:
            worst = int(np.argmax(self.chains.r_hat()))
            raise DataError(
                f"the chains have not mixed (R-hat of {self.chains.names[worst]} is "
                f"{self.chains.r_hat()[worst]:.3g}): there is nothing to summarise. Run them "
                "longer (most_draws), start elsewhere, or take a mixture of walks, slices or a "
                "gradient"
            )
        return dict(zip(self.chains.names, self.chains.means(confidence_level)))

    def figures(self, theme: str = "light") -> dict[str, Any]:
        """Traces, autocorrelation and ranks of every coordinate, by its name.

        Parameters
        ----------
        theme : {"light", "dark"}, default="light"

        Returns
        -------
        figures : dict of str to plotly.graph_objects.Figure
        """
        from gnomon.show.chains import chain_traces

        return {name: chain_traces(self.chains, name, theme=theme) for name in self.chains.names}

    def _title(self) -> str:
        return f"{'Mixed' if self.mixed else 'NOT MIXED'}: {self.chains._title()}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "step": [step for step, _ in self.steps],
            "found": [found for _, found in self.steps],
        }

    def _remarks(self) -> list[str]:
        if not self.mixed:
            return ["do not use the draws yet: summary() refuses them"]
        return ["give a few digits only: " + ", ".join(f"{k} {v}" for k, v in self._first_few())]

    def _first_few(self) -> list[tuple[str, Estimate]]:
        return list(self.summary().items())[:5]


def practise_mcmc(
    target: Target,
    sampler: Any = None,
    *,
    n_draws: int = 1000,
    most_draws: int = 16_000,
    n_chains: int = 4,
    starts: Any = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> SamplingPractice:
    """Run Markov chains as the texts advise, and refuse to summarise what has not mixed.

    Several chains from random starts; without a sampler, the width of the proposal is tuned on
    short pilot runs (too wide: refused; too narrow: slow), then adapted in the warm-up and frozen;
    the burn-in is read off several chains; chains that do not agree yet are continued, doubling,
    up to a limit; the lag at which no autocorrelation is left says what thinning would keep.

    Use it whenever a posterior is to be sampled once and for all. Not where a closed form or exact
    inference exists: never sample what you can solve (002).

    Parameters
    ----------
    target : Target
    sampler : Sampler, default=None
        Taken as it is; None for Metropolis with a tuned width.
    n_draws : int, default=1000
        Draws of each chain, to begin with.
    most_draws : int, default=16000
        Of each chain, at most.
    n_chains : int, default=4
    starts : array-like of shape (n_chains, d), default=None
        Drawn far apart where None.
    random_state : int, Generator or None
    n_jobs : int or None, default=None

    Returns
    -------
    practice : SamplingPractice

    Examples
    --------
    >>> from gnomon.sample import gaussian_mixture
    >>> found = practise_mcmc(gaussian_mixture([[3.0]], [[[4.0]]]), random_state=0)
    >>> abs(found.summary()["x0"].value - 3) < 0.5
    True
    """
    if n_chains < 2:
        raise DataError("one chain cannot show that it has missed a mode; run two at least")
    rng = np.random.default_rng(random_state)
    common: dict[str, Any] = {"n_chains": n_chains, "starts": starts, "n_jobs": n_jobs}
    steps: list[tuple[str, str]] = []
    widths: dict[float, tuple[float, float]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)  # the result says what has not mixed
        if sampler is None:
            best, widths = _tuned(target, common, rng)
            steps.append(
                ("proposal", f"width {best:g} moves most of {len(widths)} that were tried")
            )
            sampler = Metropolis(GaussianWalk(best))
        cold = sample_chains(target, sampler, PILOT, n_warmup=0, random_state=rng, **common)
        left_out = max(burn_in(cold.of(j)) for j in range(len(cold.names)))
        unsettled = left_out >= cold.draws.shape[1]
        steps.append(("burn-in", _burn_in_said(left_out, unsettled)))
        chains = sample_chains(
            target,
            sampler,
            n_draws,
            n_warmup=max(2 * left_out, min(n_draws, 1000)),
            random_state=rng,
            **common,
        )
        while not chains.has_mixed and 2 * chains.draws.shape[1] <= most_draws:
            chains = continued(chains, chains.draws.shape[1], random_state=rng, n_jobs=n_jobs)
    steps.append(("mixing", _mixing_said(chains)))
    lag = max(thinning_lag(chain) for j in range(len(chains.names)) for chain in chains.of(j))
    steps.append(("lag", f"no autocorrelation is left after {lag:,} draws"))
    return SamplingPractice(chains, steps, widths, left_out, lag)


def _tuned(
    target: Target, common: dict[str, Any], rng: np.random.Generator
) -> tuple[float, dict[float, tuple[float, float]]]:
    """The width whose pilot run travels farthest per draw (mean squared jump), and all runs."""
    found, travelled = {}, {}
    for width in WIDTHS:
        walk = Metropolis(GaussianWalk(width), adapt=False)
        pilot = sample_chains(target, walk, PILOT, n_warmup=PILOT // 4, random_state=rng, **common)
        jumps = np.diff(pilot.draws, axis=1)
        travelled[width] = float((jumps**2).mean())
        effective = float(np.nanmin(pilot.effective_sample_size()))
        found[width] = (float(pilot.acceptance.mean()), effective)
    return max(travelled, key=lambda width: travelled[width]), found


def _burn_in_said(left_out: int, unsettled: bool) -> str:
    if unsettled:
        return f"chains still differ after {PILOT:,} draws: the warm-up is longer"
    return f"{left_out:,} of {PILOT:,} draws until all chains tell the same"


def _mixing_said(chains: Chains) -> str:
    worst, effective = float(np.max(chains.r_hat())), float(chains.effective_sample_size().min())
    said = "mixed" if chains.has_mixed else "NOT mixed"
    return (
        f"{said} after {chains.draws.shape[1]:,} draws: largest R-hat {worst:.3g}, "
        f"{effective:,.0f} effective draws at least"
    )
