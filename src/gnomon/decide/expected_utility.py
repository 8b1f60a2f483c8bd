"""Expected utility of options, of discrete or continuous outcomes, and of continuous choices.

    EU(option) = sum_o P(o) U(o)        EU(choice) = integral U(x, choice) p(x) dx

The best option has the greatest expected utility, per play or per unit spent; doing nothing is an
option too, worth 0. With a continuous choice, the choice is maximized over an interval.

Texts: 003 3.3.1 (lotteries), 3.3.3 (the Mars mission; the integral there lacks dx), 3.3.4
(a utility from the point of indifference).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.special import stdtrit

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.decide.utility_tree import SUM_TOLERANCE
from gnomon.engine.errors import DataError

CHOICES = 201  # places of a continuous choice that are compared before the best one is refined
POINTS = 256  # outcomes that stand for a distribution in that comparison
TAIL = 1e-12  # probability left out at each end of an unbounded distribution


@dataclass(repr=False)
class Options(Result):
    """Options and their expected utilities, best first.

    Attributes
    ----------
    names : list of str
    utilities : list of float
        Expected utility of a play.
    costs : list of float
        Price of a play, which is already counted in the utility.
    per : {"play", "unit"}
        By what options are compared.
    """

    names: list[str]
    utilities: list[float]
    costs: list[float]
    per: str

    @property
    def best(self) -> str:
        """The best option."""
        return self.names[0]

    def _title(self) -> str:
        return f"Best option: {self.best}"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "option": list(self.names),
            "expected utility": list(self.utilities),
        }
        if any(self.costs):
            columns["price"] = list(self.costs)
            columns["per unit spent"] = [
                u / c if c else None for u, c in zip(self.utilities, self.costs)
            ]
        return columns


def expected_utility(outcomes: Sequence[tuple[float, float]]) -> float:
    """Expected utility of outcomes.

    Parameters
    ----------
    outcomes : sequence of (probability, utility)
        The probabilities add up to 1, or to less: the rest has utility 0.

    Returns
    -------
    utility : float

    Examples
    --------
    >>> from gnomon.decide import expected_utility
    >>> expected_utility([(0.25, 8.0), (0.75, -1.0)])
    1.25
    """
    table = np.asarray(outcomes, dtype=np.float64)
    if table.ndim != 2 or table.shape[1:] != (2,) or not np.isfinite(table).all():
        raise DataError("outcomes must be pairs (probability, utility) of finite numbers")
    shares, utilities = table.T
    if (shares < 0).any() or shares.sum() > 1 + SUM_TOLERANCE:
        raise DataError(f"probabilities must be 0 or more and add up to 1, not {shares.sum():g}")
    return float(shares @ utilities)


def compare_options(
    options: Mapping[str, Sequence[tuple[float, float]]],
    *,
    prices: Mapping[str, float] | None = None,
    per: str = "play",
    do_nothing: bool = True,
) -> Options:
    """Options by their expected utility, best first.

    Parameters
    ----------
    options : mapping of str to sequence of (probability, utility)
    prices : mapping of str to float, default=None
        What a play costs; subtracted from its utility.
    per : {"play", "unit"}, default="play"
        Whether options are compared per play or per unit of money spent.
    do_nothing : bool, default=True
        Whether "do nothing", worth 0, is an option.

    Returns
    -------
    options : Options

    Examples
    --------
    >>> from gnomon.decide import compare_options
    >>> compare_options({"ticket": [(0.001, 500.0)]}, prices={"ticket": 1.0}).best
    'do nothing'
    """
    if per not in ("play", "unit"):
        raise DataError(f"per is 'play' or 'unit', not {per!r}")
    prices = dict(prices or {})
    unknown = set(prices) - set(options)
    if unknown:
        raise DataError(f"prices are given of unknown options: {', '.join(sorted(unknown))}")
    found = [
        (name, expected_utility(outcomes) - prices.get(name, 0.0), prices.get(name, 0.0))
        for name, outcomes in options.items()
    ]
    if per == "unit" and any(price <= 0 for _, _, price in found):
        raise DataError("per='unit' needs a price above 0 for every option")
    if do_nothing:
        found.append(("do nothing", 0.0, 0.0))

    def worth(each: tuple[str, float, float]) -> float:
        return each[1] / each[2] if per == "unit" and each[2] else each[1]

    found.sort(key=worth, reverse=True)
    names, utilities, costs = zip(*found)
    return Options(list(names), list(utilities), list(costs), per)


@dataclass(repr=False)
class Choice(Result):
    """The best of a continuum of choices.

    Attributes
    ----------
    choice : float
    utility : Estimate
        Its expected utility; with an interval where the uncertainty is given by samples.
    """

    choice: float
    utility: Estimate

    def _title(self) -> str:
        return f"Best choice {self.choice:.6g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {"choice": [self.choice], "expected utility": [self.utility]}


def expected_utility_over(
    utility: Callable[[Any], Any],
    distribution: Any,
    support: tuple[float, float] | None = None,
) -> Estimate:
    """Expected utility under continuous uncertainty.

    Parameters
    ----------
    utility : callable
        Of an outcome (an array of outcomes where samples are given); it may have steps.
    distribution : density, frozen distribution of SciPy, or array-like of samples
        A callable is a density over ``support``, whose integral must be 1.
    support : (float, float), default=None
        Where the density is not 0; needed for a callable.

    Returns
    -------
    utility : Estimate
        With an interval where samples are given; otherwise exact to the error of integration.

    Examples
    --------
    >>> from gnomon.decide import expected_utility_over
    >>> density = lambda x: 6 * x - 6 * x**2
    >>> won = lambda x: 4.0 if x > 150 / 365 else -6.0
    >>> round(expected_utility_over(won, density, (0, 1)).value, 6)
    0.321498
    """
    if callable(distribution) and not hasattr(distribution, "ppf"):
        if support is None:
            raise DataError("give support=(low, high) with a density")
        total = integral(distribution, *support)
        if abs(total - 1.0) > 1e-6:
            raise DataError(f"the density's integral over {support} is {total:.6g}, not 1")
        return exact(integral(lambda x: utility(x) * distribution(x), *support))
    if hasattr(distribution, "ppf"):
        low, high = support or (distribution.ppf(TAIL), distribution.ppf(1 - TAIL))
        if hasattr(distribution, "pmf") and not hasattr(distribution, "pdf"):
            places = np.arange(np.floor(low), np.ceil(high) + 1)
            return exact(float(sum(utility(x) * distribution.pmf(x) for x in places)))
        return exact(integral(lambda x: utility(x) * distribution.pdf(x), low, high))
    samples = np.asarray(distribution, dtype=np.float64)
    if samples.ndim != 1 or len(samples) < 2 or not np.isfinite(samples).all():
        raise DataError("samples must be at least two finite numbers")
    return mean_interval(np.asarray([utility(x) for x in samples], dtype=np.float64))


def best_choice(
    utility: Callable[[Any, float], Any],
    distribution: Any,
    bounds: tuple[float, float],
    support: tuple[float, float] | None = None,
) -> Choice:
    """The choice of the greatest expected utility.

    Parameters
    ----------
    utility : callable
        Of an outcome and a choice.
    distribution : density, frozen distribution of SciPy, or array-like of samples
        As of `expected_utility_over`.
    bounds : (float, float)
        Least and greatest choice. 201 places are compared roughly; around the best one the maximum
        is then found to full precision.
    support : (float, float), default=None

    Returns
    -------
    choice : Choice

    Examples
    --------
    >>> from scipy import stats
    >>> from gnomon.decide import best_choice
    >>> sold = lambda demand, stock: 3.0 * min(demand, stock) - 1.0 * stock
    >>> round(best_choice(sold, stats.uniform(0, 90), (0, 90)).choice, 3)
    60.0
    """
    low, high = bounds
    if not low < high:
        raise DataError(f"bounds must be (low, high), not {bounds}")

    def worth(choice: float) -> Estimate:
        return expected_utility_over(lambda x: utility(x, choice), distribution, support)

    outcomes, shares = points_of(distribution, support)
    places = np.linspace(low, high, CHOICES)
    rough = [sum(p * utility(x, c) for x, p in zip(outcomes, shares)) for c in places.tolist()]
    top = int(np.argmax(rough))
    around = places[max(top - 1, 0)], places[min(top + 1, CHOICES - 1)]
    refined = minimize_scalar(lambda c: -worth(c).value, bounds=around, method="bounded")
    at_place = worth(float(places[top]))
    if at_place.value >= -refined.fun:
        return Choice(float(places[top]), at_place)
    return Choice(float(refined.x), worth(float(refined.x)))


def points_of(distribution: Any, support: tuple[float, float] | None) -> tuple[list, list]:
    """A few hundred outcomes and their probabilities, for a first comparison of choices."""
    if hasattr(distribution, "ppf"):
        levels = (np.arange(POINTS) + 0.5) / POINTS
        return np.asarray(distribution.ppf(levels)).tolist(), [1.0 / POINTS] * POINTS
    if callable(distribution):
        if support is None:
            raise DataError("give support=(low, high) with a density")
        low, high = support
        places = (low + (high - low) * (np.arange(POINTS) + 0.5) / POINTS).tolist()
        heights = np.array([float(distribution(x)) for x in places])
        return places, (heights / heights.sum()).tolist()
    samples = np.asarray(distribution, dtype=np.float64)
    return samples.tolist(), [1.0 / len(samples)] * len(samples)


def integral(function: Callable[[float], float], low: float, high: float) -> float:
    """Integral of a function that may have steps, by parts."""
    edges = np.linspace(low, high, 17)
    parts = [
        quad(function, a, b, epsabs=1e-12, epsrel=1e-12, limit=200)[0] for a, b in pairwise(edges)
    ]
    return float(np.sum(parts))


def exact(value: float) -> Estimate:
    """A number without uncertainty."""
    return Estimate(value, value, value, how="integration")


@dataclass(repr=False)
class InferredUtilities(Result):
    """Utilities that answers imply.

    Attributes
    ----------
    utilities : dict of str to Estimate
        With an interval where there are more answers than unknowns.
    residuals : ndarray
        Expected utility of the first lottery less that of the second, per answer.
    """

    utilities: dict[str, Estimate]
    residuals: np.ndarray

    def _title(self) -> str:
        return f"Utilities from {len(self.residuals)} answers"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "outcome": list(self.utilities),
            "utility": list(self.utilities.values()),
        }


Lottery = Mapping[str, float]


def infer_utilities(
    indifferent: Sequence[tuple[Lottery, Lottery]],
    known: Mapping[str, float],
    confidence_level: float = 0.95,
) -> InferredUtilities:
    """Utilities of outcomes, from pairs of lotteries between which a person is indifferent.

    Each answer is a linear equation, sum_o (P(o) - Q(o)) U(o) = 0; more answers than unknowns are
    fitted by least squares.

    Parameters
    ----------
    indifferent : sequence of (lottery, lottery)
        A lottery is a mapping of outcomes to probabilities.
    known : mapping of str to float
        Utilities that are given; at least two different ones fix the scale.
    confidence_level : float, default=0.95

    Returns
    -------
    utilities : InferredUtilities

    Examples
    --------
    >>> from gnomon.decide import infer_utilities
    >>> sure, risky = {"nothing": 1.0}, {"meal": 0.9999999, "death": 0.0000001}
    >>> found = infer_utilities([(sure, risky)], {"nothing": 0.0, "meal": 8.0})
    >>> round(found.utilities["death"].value)
    -79999992
    """
    outcomes = list(dict.fromkeys(o for pair in indifferent for lottery in pair for o in lottery))
    unknown = [each for each in outcomes if each not in known]
    if not unknown:
        raise DataError("every outcome has a known utility: there is nothing to infer")
    for pair in indifferent:
        for lottery in pair:
            if abs(sum(lottery.values()) - 1.0) > SUM_TOLERANCE or min(lottery.values()) < 0:
                raise DataError(f"the probabilities of {dict(lottery)} do not add up to 1")
    gaps = np.array([[p.get(o, 0.0) - q.get(o, 0.0) for o in outcomes] for p, q in indifferent])
    is_known = np.array([o in known for o in outcomes])
    given = np.array([known.get(o, 0.0) for o in outcomes])
    design, target = gaps[:, ~is_known], -gaps[:, is_known] @ given[is_known]
    scale = np.abs(design).max(axis=0)
    if (scale == 0).any() or np.linalg.matrix_rank(design / scale) < len(unknown):
        raise DataError(
            f"the answers do not fix the utilities of {', '.join(unknown)}: ask for "
            "indifference between lotteries that hold each of them"
        )
    scaled, *_ = np.linalg.lstsq(design / scale, target, rcond=None)
    residuals = design / scale @ scaled - target
    return InferredUtilities(
        dict(zip(unknown, _with_errors(design, scale, scaled, residuals, confidence_level))),
        residuals,
    )


def _with_errors(
    design: np.ndarray,
    scale: np.ndarray,
    scaled: np.ndarray,
    residuals: np.ndarray,
    confidence_level: float,
) -> list[Estimate]:
    values = scaled / scale
    freedom = len(residuals) - len(scaled)
    if freedom < 1:
        how = "as many answers as unknowns"
        return [Estimate(v, -np.inf, np.inf, confidence_level, np.nan, how) for v in values]
    variance = residuals @ residuals / freedom
    inverse = np.linalg.inv((design / scale).T @ (design / scale))
    errors = np.sqrt(variance * np.diag(inverse)) / scale
    half = stdtrit(freedom, 0.5 + confidence_level / 2) * errors
    return [
        Estimate(v, v - h, v + h, confidence_level, e, "least squares")
        for v, h, e in zip(values, half, errors)
    ]


def as_probabilities(values: ArrayLike, what: str) -> np.ndarray:
    """Probabilities that add up to 1 along the last axis."""
    table = np.asarray(values, dtype=np.float64)
    if not np.isfinite(table).all() or (table < 0).any():
        raise DataError(f"{what} must be probabilities: finite and 0 or more")
    sums = table.sum(axis=-1)
    if np.abs(sums - 1.0).max(initial=0.0) > SUM_TOLERANCE:
        where = np.unravel_index(np.abs(sums - 1.0).argmax(), sums.shape)
        place = f" in row {where[0]}" if where else ""
        raise DataError(f"{what} add up to {sums[where]:g}{place}, not to 1")
    return table
