"""Which optimizer fits a function, and why: the table of 003 4.1.7 and a few trial evaluations.

Texts: 003 4.1.7, 5 · 002 (Newton) · 004 1.3, 9.2.3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize import Space, as_space, check_convexity
from gnomon.optimize.minimize import suggest

FEW, MANY = 3, 50  # columns up to which a grid is thinkable, beyond which populations are slow
COSTLY = 0.5  # seconds of an evaluation from which every one counts
SAMPLES = 12  # judgement: evaluations may be costly, and none of these is used by the search

# scaling with dimensions, optimality, needs, convergence, parallel (003 4.1.7, and ours below)
TABLE = {
    "grid": ("terrible", "approximates the global", "few columns", "none", "great"),
    "hill-climber": ("good", "local", "a start", "good", "poor"),
    "gradient-descent": ("great", "local", "a gradient", "slow in valleys", "poor"),
    "l-bfgs": ("great", "local", "smoothness", "fast", "poor"),
    "newton": ("poor", "local", "second derivatives", "fastest", "poor"),
    "nelder-mead": ("poor", "local", "values only", "good in few columns", "poor"),
    "cma-es": ("good", "often global", "values only", "good", "great"),
    "affine-shaker": ("good", "local, with restarts", "values only", "good", "poor"),
    "annealing": ("good", "may find the global", "any space", "slow", "poor"),
    "evolution": ("good", "may find the global", "any space", "poor", "great"),
    "bayesian-optimization": ("poor", "often global", "costly functions", "few values", "some"),
    "reactive-tabu-search": ("good", "often global", "one discrete thing", "good", "great"),
}


@dataclass(repr=False)
class OptimizerAdvice(Result):
    """Optimizers with the reasons for and against each.

    Attributes
    ----------
    facts : dict of str to object
        What trial evaluations showed.
    methods : list of str
        Best first.
    reasons : dict of str to list of (int, str)
        Weight and reason.
    """

    facts: dict[str, Any]
    methods: list[str]
    reasons: dict[str, list[tuple[int, str]]]

    def weight(self, method: str) -> int:
        """The sum of the weights of a method's reasons."""
        return sum(weight for weight, _ in self.reasons[method])

    def _title(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        return f"optimizers for this function ({told})"

    def _columns(self) -> dict[str, list[Any]]:
        names = ("scaling", "optimality", "needs", "convergence", "parallel")
        columns: dict[str, list[Any]] = {
            "method": self.methods,
            "weight": [self.weight(each) for each in self.methods],
        }
        for k, name in enumerate(names):
            columns[name] = [TABLE[each][k] for each in self.methods]
        return columns

    def _remarks(self) -> list[str]:
        return [
            f"{'+' if weight > 0 else '-'} {method}: {why}"
            for method in self.methods[:5]
            for weight, why in self.reasons[method]
        ]


def optimizer_advice(
    function: Callable[..., Any], space: Any, *, gradient: bool = False, random_state: int = 0
) -> OptimizerAdvice:
    """Which optimizer fits a function, by its space and a few trial evaluations.

    Parameters
    ----------
    function : callable
    space : Space, dimensions or bounds
    gradient : bool, default=False
        Whether a gradient can be given.
    random_state : int, default=0

    Returns
    -------
    advice : OptimizerAdvice

    Examples
    --------
    >>> optimizer_advice(lambda x: float(x @ x), [(-1, 1)] * 2, gradient=True).methods[0]
    'l-bfgs'
    """
    where = as_space(space)
    if not where.bounded:
        raise DataError("advice needs bounds: give low and high of every number")
    facts = _facts(function, where, random_state)
    reasons: dict[str, list[tuple[int, str]]] = {name: [] for name in TABLE}
    for names, holds, weight, why in _rules(facts, where, gradient):
        if holds:
            for name in names:
                reasons[name].append((weight, why))
    first = suggest(where, jac=gradient, convex=facts["convex"])
    if first[0] in reasons:
        reasons[first[0]].append((1, first[1]))
    order = sorted(TABLE, key=lambda name: -sum(weight for weight, _ in reasons[name]))
    return OptimizerAdvice(facts, order, reasons)


def _facts(function: Callable[..., Any], space: Space, random_state: int) -> dict[str, Any]:
    rng = np.random.default_rng(random_state)
    points = [space.sample(rng) for _ in range(SAMPLES)]
    begin = time.perf_counter()
    values, errors = np.full(SAMPLES, np.nan), []
    for k, point in enumerate(points):
        try:
            values[k] = float(function(point))
        except Exception as error:  # the user's function may raise anything
            errors.append(error)
    seconds = (time.perf_counter() - begin) / SAMPLES
    if len(errors) == SAMPLES:
        where = f"at all {SAMPLES} points, first at {points[0]}"
        raise DataError(f"the function raised {where}: {type(errors[0]).__name__}: {errors[0]}")
    again = values[0] if np.isnan(values[0]) else float(function(points[0]))
    failing = bool(np.isnan(values).any())
    convex = None
    if space.is_real and not failing and seconds < COSTLY / 10:
        convex = bool(check_convexity(function, space, n_samples=40).convex)
    return {
        "columns": len(space.dimensions),
        "seconds": float(f"{seconds:.1g}"),
        "noisy": bool(again != values[0] and not (np.isnan(again) and np.isnan(values[0]))),
        "failing": failing,
        "convex": convex,
    }


def _rules(
    facts: dict[str, Any], space: Space, gradient: bool
) -> Iterator[tuple[tuple[str, ...], bool, int, str]]:
    """Methods, whether the rule holds, its weight and its reason."""
    n = facts["columns"]
    slopes = ("l-bfgs", "newton", "gradient-descent")
    local = (*slopes, "nelder-mead", "hill-climber")
    discrete = space.is_single and hasattr(space.dimensions[0], "steps")
    numbers = (*slopes, "nelder-mead", "affine-shaker", "cma-es")
    yield ("reactive-tabu-search",), discrete, 4, "one order, subset or bit string"
    yield ("reactive-tabu-search",), not discrete, -9, "only for one discrete thing"
    yield numbers, not space.is_real, -6, "the space is not of real numbers alone"
    yield ("evolution", "annealing"), not space.is_real and not discrete, 3, "any kind of value"
    yield slopes, facts["noisy"], -4, "values are noisy: slopes of noise mislead"
    yield ("cma-es", "evolution"), facts["noisy"], 2, "ranks of a population bear noise"
    yield ("l-bfgs", "newton"), bool(facts["convex"]), 4, "samples do not refute convexity"
    yield local, facts["convex"] is False, -2, "not convex: a local search may end anywhere"
    yield ("cma-es",), facts["convex"] is False, 2, "not convex: a population looks around"
    yield slopes, gradient, 2, "a gradient is given"
    yield ("newton",), n > MANY, -4, f"{n} columns: a Hessian of {n * n:,} entries in each step"
    yield ("cma-es",), n > 4 * MANY, -2, f"{n} columns: a large covariance"
    yield ("nelder-mead",), n > 10, -3, f"{n} columns: simplexes degenerate"
    yield ("grid",), n > FEW, -4, f"{n} columns: v values each are v^{n} evaluations"
    yield ("grid",), n <= 2 and facts["seconds"] < COSTLY, 1, "few columns: everything is seen"
    costly = facts["seconds"] >= COSTLY
    yield ("bayesian-optimization",), costly, 5, "costly: every evaluation must be planned"
    yield ("bayesian-optimization",), not costly, -3, "cheap: planning costs more than trying"
    yield ("evolution", "annealing", "grid"), costly, -3, "costly: they need many evaluations"
