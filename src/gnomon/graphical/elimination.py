"""Exact inference by elimination: sum (or maximise) variables out one after the other.

Eliminating a variable multiplies the factors that hold it and sums it out; the tables on the way
have one axis for each variable that is then linked to it (its clique). Min-fill chooses next what
links fewest new pairs. The largest clique less one is the width: cost and memory are exponential in
it and linear in all else, so they are forecast from the graph before any table is made. Sending
messages up and then down the tree of cliques (a junction tree) gives all marginals in two passes.
Tables are logarithms, so that neither many factors nor extreme ones underflow.

Texts: 003 3.4 (any query given any evidence) · 001 15.1 (clever algorithms only do the two steps,
conditioning and marginalising, efficiently).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError

REMEDY = (
    "Give evidence on well-linked variables, ask for fewer targets, or sample instead "
    "(its draws carry error bars)."
)


@dataclass(frozen=True)
class Factor:
    """A table over some variables, as logarithms.

    Attributes
    ----------
    scope : tuple of int
        The variables, rising; one axis each.
    logs : ndarray
    """

    scope: tuple[int, ...]
    logs: np.ndarray

    @classmethod
    def of(cls, scope: Sequence[int], logs: np.ndarray) -> Factor:
        """A factor with its axes put into rising order."""
        order = np.argsort(scope)
        return cls(tuple(scope[i] for i in order), np.transpose(logs, order))

    def spread(self, scope: Sequence[int]) -> np.ndarray:
        """The table with axes of length one for the further variables of a larger scope."""
        own = set(self.scope)
        sizes = iter(self.logs.shape)
        return self.logs.reshape([next(sizes) if v in own else 1 for v in scope])

    def at(self, held: Mapping[int, int]) -> Factor:
        """The factor with values of some variables put in."""
        if not any(v in held for v in self.scope):
            return self
        index = tuple(held.get(v, slice(None)) for v in self.scope)
        return Factor(tuple(v for v in self.scope if v not in held), self.logs[index])


@dataclass(repr=False)
class EliminationPlan(Result):
    """An order of elimination and what it will cost, known before anything is computed.

    Attributes
    ----------
    order : tuple of int
    cliques : tuple of tuple of int
        The variables of the table that each elimination makes, itself included.
    width : int
        Largest clique less one: a bound on the treewidth.
    largest : int
        Cells of the largest table.
    cells : int
        Cells of all tables.
    """

    order: tuple[int, ...]
    cliques: tuple[tuple[int, ...], ...]
    width: int
    largest: int
    cells: int

    @property
    def memory(self) -> int:
        """Bytes that elimination needs at once, about."""
        return 24 * self.largest + 8 * self.cells

    def _title(self) -> str:
        return f"Elimination of {len(self.order)} variables, width {self.width}"

    def _columns(self) -> dict[str, list]:
        return {
            "largest table (cells)": [self.largest],
            "all tables (cells)": [self.cells],
            "memory": [memory.readable(self.memory)],
        }


def plan(
    scopes: Iterable[Sequence[int]], sizes: Sequence[int], kept: Iterable[int] = ()
) -> EliminationPlan:
    """Choose an order by min-fill (ties: the smaller table) and forecast its cost.

    Parameters
    ----------
    scopes : iterable of sequence of int
        The variables of each factor.
    sizes : sequence of int
        Number of values of each variable.
    kept : iterable of int, default=()
        Variables that stay.

    Returns
    -------
    plan : EliminationPlan

    Examples
    --------
    >>> plan([(0, 1), (1, 2), (2, 3)], [2, 2, 2, 2]).width
    1
    """
    links: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            links.setdefault(v, set()).update(scope)
    stay = set(kept)
    for v in stay:
        links.setdefault(v, set()).update(stay)
    for v in links:
        links[v].discard(v)
    weights = np.log2(np.asarray(sizes, dtype=float))
    scores = {v: _score(v, links, weights) for v in links if v not in stay}
    order, cliques = [], []
    while scores:
        v = min(scores, key=lambda each: (*scores[each], each))
        around = links.pop(v)
        del scores[v]
        order.append(v)
        cliques.append(tuple(sorted(around | {v})))
        touched = set(around)
        for u in around:
            links[u].discard(v)
            links[u] |= around - {u}
            touched |= links[u]
        for u in touched & scores.keys():
            scores[u] = _score(u, links, weights)
    tables = [*cliques, tuple(sorted(stay))] if stay else cliques
    cells = [_cells(clique, sizes) for clique in tables] or [1]
    width = max((len(clique) for clique in tables), default=1) - 1
    return EliminationPlan(tuple(order), tuple(cliques), width, max(cells), sum(cells))


def _score(v: int, links: dict[int, set[int]], weights: np.ndarray) -> tuple[int, float]:
    around = links[v]
    fill = sum(len(around - links[u]) - 1 for u in around) // 2
    return fill, float(weights[v] + sum(weights[u] for u in around))


def _cells(clique: Sequence[int], sizes: Sequence[int]) -> int:
    cells = 1
    for v in clique:
        cells *= int(sizes[v])
    return cells


def require(forecast: EliminationPlan, what: str) -> None:
    """Refuse where the tables would not fit into memory."""
    if forecast.width >= 64:
        raise DataError(f"{what} has the width {forecast.width}, far too much. {REMEDY}")
    memory.require(forecast.memory, f"{what} (width {forecast.width})", REMEDY)


def log_sum(logs: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """log sum exp over axes; minus infinity where all are."""
    if not axes:
        return logs
    top = logs.max(axis=axes, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(logs - top).sum(axis=axes, keepdims=True)) + top
    return total.squeeze(axes)


def log_max(logs: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Largest over axes."""
    return logs.max(axis=axes) if axes else logs


def multiply(factors: Sequence[Factor], scope: Sequence[int]) -> Factor:
    """The product of factors over a scope that holds them all."""
    total = factors[0].spread(scope)
    for factor in factors[1:]:
        total = total + factor.spread(scope)
    return Factor(tuple(scope), total)


def reduce_to(factor: Factor, scope: Iterable[int], reduction: Callable) -> Factor:
    """Sum or maximise out what is not in the scope."""
    kept = set(scope)
    axes = tuple(i for i, v in enumerate(factor.scope) if v not in kept)
    return Factor(tuple(v for v in factor.scope if v in kept), reduction(factor.logs, axes))


def _buckets(factors: Sequence[Factor], forecast: EliminationPlan) -> tuple[list[list], list]:
    """Factors by the variable that is eliminated first among theirs; the others at the end."""
    rank = {v: i for i, v in enumerate(forecast.order)}
    buckets: list[list[Factor]] = [[] for _ in forecast.order]
    rest: list[Factor] = []
    for factor in factors:
        first = min((rank[v] for v in factor.scope if v in rank), default=None)
        (rest if first is None else buckets[first]).append(factor)
    return buckets, rest


def eliminate(
    factors: Sequence[Factor], sizes: Sequence[int], kept: Sequence[int], what: str = "elimination"
) -> Factor:
    """The sum over all other variables of the product, as a table of the kept ones.

    Parameters
    ----------
    factors : sequence of Factor
    sizes : sequence of int
    kept : sequence of int
    what : str, default="elimination"
        Named in a refusal.

    Returns
    -------
    table : Factor
        Over the kept variables, rising; not normalised.
    """
    forecast = plan([factor.scope for factor in factors], sizes, kept)
    require(forecast, what)
    buckets, rest = _buckets(factors, forecast)
    rank = {v: i for i, v in enumerate(forecast.order)}
    for v, bucket in zip(forecast.order, buckets):
        scope = sorted({u for factor in bucket for u in factor.scope})
        message = reduce_to(multiply(bucket, scope), set(scope) - {v}, log_sum)
        first = min((rank[u] for u in message.scope if u in rank), default=None)
        (rest if first is None else buckets[first]).append(message)
    asked = tuple(sorted(kept))
    rest.append(Factor(asked, np.zeros([sizes[v] for v in asked])))
    return multiply(rest, asked)


@dataclass(frozen=True)
class Calibrated:
    """All beliefs of a junction tree.

    Attributes
    ----------
    beliefs : list of Factor
        One per clique; unnormalised log marginals, all with the same total.
    log_total : float
        Logarithm of the sum over all variables of the product of all factors.
    home : dict of int to int
        For each variable, the clique in which it was eliminated.
    """

    beliefs: list[Factor]
    log_total: float
    home: dict[int, int]

    def marginal(self, v: int) -> np.ndarray:
        """Probabilities of the values of a variable."""
        logs = reduce_to(self.beliefs[self.home[v]], {v}, log_sum).logs
        return np.exp(logs - self.log_total)

    def pair(self, u: int, v: int) -> np.ndarray:
        """Joint probabilities (u, v) of two variables that one factor holds."""
        first = min(self.home[u], self.home[v])
        logs = reduce_to(self.beliefs[first], {u, v}, log_sum).logs
        table = np.exp(logs - self.log_total)
        return table if u < v else table.T


def calibrate(
    factors: Sequence[Factor], sizes: Sequence[int], what: str = "the junction tree"
) -> Calibrated:
    """Messages up and down the tree of cliques: all marginals in two passes.

    Parameters
    ----------
    factors : sequence of Factor
        Every variable must be in one of them.
    sizes : sequence of int
    what : str, default="the junction tree"

    Returns
    -------
    tree : Calibrated
    """
    forecast = plan([factor.scope for factor in factors], sizes)
    require(forecast, what)
    buckets, rest = _buckets(factors, forecast)
    rank = {v: i for i, v in enumerate(forecast.order)}
    parents: list[int] = []
    upward: list[Factor] = []
    beliefs: list[Factor] = []
    log_total = float(sum(factor.logs for factor in rest))
    for i, v in enumerate(forecast.order):
        clique = forecast.cliques[i]
        full = Factor(clique, np.zeros([sizes[u] for u in clique]))
        belief = multiply([full, *buckets[i]], clique)
        message = reduce_to(belief, set(clique) - {v}, log_sum)
        parent = min((rank[u] for u in message.scope), default=-1)
        if parent < 0:
            log_total += float(message.logs)
        else:
            buckets[parent].append(message)
        beliefs.append(belief)
        upward.append(message)
        parents.append(parent)
    roots_total = [float(m.logs) if p < 0 else 0.0 for m, p in zip(upward, parents)]
    for i in range(len(beliefs) - 1, -1, -1):
        if parents[i] < 0:
            # other trees and constants only scale: every belief then has the same total
            shift = log_total - roots_total[i] if np.isfinite(log_total) else 0.0
            beliefs[i] = Factor(beliefs[i].scope, beliefs[i].logs + shift)
            continue
        down = reduce_to(beliefs[parents[i]], upward[i].scope, log_sum)
        sent = upward[i].logs
        news = np.subtract(down.logs, sent, out=np.full(sent.shape, -np.inf), where=sent > -np.inf)
        beliefs[i] = multiply([beliefs[i], Factor(down.scope, news)], beliefs[i].scope)
    return Calibrated(beliefs, log_total, rank)


def most_probable(
    factors: Sequence[Factor], sizes: Sequence[int], what: str = "the search for the mode"
) -> tuple[dict[int, int], float]:
    """The values that maximise the product, and its logarithm; the first among ties.

    Parameters
    ----------
    factors : sequence of Factor
    sizes : sequence of int
    what : str

    Returns
    -------
    values : dict of int to int
    log_value : float
    """
    forecast = plan([factor.scope for factor in factors], sizes)
    require(forecast, what)
    buckets, rest = _buckets(factors, forecast)
    rank = {v: i for i, v in enumerate(forecast.order)}
    products: list[Factor] = []
    for v, bucket in zip(forecast.order, buckets):
        scope = sorted({u for factor in bucket for u in factor.scope})
        product = multiply(bucket, scope)
        message = reduce_to(product, set(scope) - {v}, log_max)
        first = min((rank[u] for u in message.scope), default=None)
        (rest if first is None else buckets[first]).append(message)
        products.append(product)
    values: dict[int, int] = {}
    for v, product in zip(reversed(forecast.order), reversed(products)):
        values[v] = int(product.at(values).logs.argmax())
    return values, float(sum(factor.logs for factor in rest))
