"""Evolution of a population: select, replenish, promote diversity; all the rules of 003.

*Selection* deletes members: by tournament (two members, the better survives with a probability
above one half) or with a probability that falls with fitness (003 prints that it rises).
*Replenishment* makes new members, by a rule drawn at random for each slot: a random member; a
clone; single-point, multi-point or uniform crossover; interpolation or extrapolation of parents.
*Diversity* mutates one element or all of a member, and replaces members too close to another.
Islands evolve apart and exchange their best now and then. Rules whose children do well are drawn
more often, and the trace tells it.

Texts: 003 4.1.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Optimizer, Run, Search, optimizer
from gnomon.optimize.populations import first_population
from gnomon.optimize.space import Categorical, Space, reflected

RULES = (
    "random",
    "clone",
    "single-point",
    "multi-point",
    "uniform",
    "interpolation",
    "extrapolation",
)
LEARNING = 0.1  # share of a generation's success in the weight of a rule


@optimizer("evolution", "003 4.1.6", "genetic", "genetic-algorithm", "ga")
class Evolution(Optimizer):
    """Evolutionary optimizer for numbers, categories, orders, subsets and bits.

    Parameters
    ----------
    population_size : int, default=40
        On each island.
    selection : {"tournament", "fitness"}, default="tournament"
    survival : float, default=0.9
        Probability that the better of two survives their tournament; above 0.5.
    turnover : float, default=0.5
        Share of members replaced in each generation; the best is kept.
    rules : sequence of str, default=None
        Of `gnomon.optimize.evolution.RULES`; all by default.
    mutation_rate : float, default=0.5
        Probability that a new member has one element mutated.
    mutation_scale : float, default=0.1
        Standard deviation of a mutated number, as a share of its range; it adapts itself.
    catastrophe_rate : float, default=0.01
        Probability that all elements are mutated.
    least_distance : float, default=1e-6
        Members nearer to another are replaced by random ones.
    n_islands : int, default=1
    migration : int, default=10
        Generations between exchanges of islands.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> space = {"x": (-1.0, 1.0), "shape": ["a", "b", "c"]}
    >>> found = minimize(lambda p: p["x"] ** 2 + (p["shape"] != "b"), space, "evolution",
    ...                  random_state=0)
    >>> found.x["shape"], bool(found.fun < 1e-3)
    ('b', True)
    """

    open_ended = True

    def __init__(
        self,
        population_size: int = 40,
        *,
        selection: str = "tournament",
        survival: float = 0.9,
        turnover: float = 0.5,
        rules: tuple[str, ...] | None = None,
        mutation_rate: float = 0.5,
        mutation_scale: float = 0.1,
        catastrophe_rate: float = 0.01,
        least_distance: float = 1e-6,
        n_islands: int = 1,
        migration: int = 10,
    ):
        if selection not in ("tournament", "fitness"):
            raise DataError(f"selection is 'tournament' or 'fitness', not {selection!r}")
        if not 0.5 < survival <= 1:
            raise DataError(f"survival must be above 0.5 and at most 1, not {survival}")
        if population_size < 4:
            raise DataError(f"population_size must be at least 4, not {population_size}")
        unknown = set(rules or ()) - set(RULES)
        if unknown:
            raise DataError(f"there are no rules {sorted(unknown)}; there are {RULES}")
        self.population_size, self.selection, self.survival = population_size, selection, survival
        self.turnover, self.rules, self.mutation_rate = turnover, rules, mutation_rate
        self.mutation_scale, self.catastrophe_rate = mutation_scale, catastrophe_rate
        self.least_distance, self.n_islands, self.migration = least_distance, n_islands, migration

    def _search(self, run: Run) -> Search:
        space, rng = run.space, run.rng
        rules = self.rules or RULES
        blocks = element_blocks(space)
        weights, scale = np.ones(len(rules)), self.mutation_scale
        size = self.population_size
        islands = []
        for _ in range(self.n_islands):
            members = first_population(run, size)
            values = yield from run.values(space.decode_all(members))
            islands.append((members, values))
        generation = 0
        while True:
            generation += 1
            used: list[int] = []
            won: list[bool] = []
            for k, (members, values) in enumerate(islands):
                deleted = self._deleted(values, rng)
                parents = np.setdiff1d(np.arange(size), deleted)
                drawn = rng.choice(len(rules), len(deleted), p=weights / weights.sum())
                chances = parent_chances(values[parents])
                children = self._children(drawn, rules, members[parents], chances, blocks, rng)
                children = self._mutated(children, blocks, scale, rng)
                children = self._apart(children, members[parents], run)
                new = yield from run.values(space.decode_all(children))
                median = float(np.median(values[parents]))
                used += drawn.tolist()
                won += (new < median).tolist()
                members, values = members.copy(), values.copy()
                members[deleted], values[deleted] = children, new
                islands[k] = (members, values)
                best = int(np.argmin(values))
                run.moved(space.decode(members[best]), values[best])
            weights = self._learned(run, weights, rules, used, won)
            scale = self._adapted(run, scale, float(np.mean(won)))
            if self.n_islands > 1 and generation % self.migration == 0:
                self._migrate(run, islands)

    def _deleted(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Members to delete: the worse of pairs, or by a probability that falls with fitness."""
        size = len(values)
        count = min(max(1, int(self.turnover * size)), size - 2)
        best = int(np.argmin(values))
        alive = np.setdiff1d(np.arange(size), [best])
        if self.selection == "fitness":
            ranks = np.argsort(np.argsort(values[alive], kind="stable"), kind="stable") + 1.0
            return rng.choice(alive, count, replace=False, p=ranks / ranks.sum())
        deleted: list[np.ndarray] = []
        while count > 0 and len(alive) > 1:  # rounds of tournaments of disjoint pairs
            pairs = rng.permutation(alive)[: 2 * min(count, len(alive) // 2)].reshape(-1, 2)
            first_is_worse = values[pairs[:, 0]] >= values[pairs[:, 1]]
            worse_loses = rng.random(len(pairs)) < self.survival
            losers = np.where(first_is_worse == worse_loses, pairs[:, 0], pairs[:, 1])
            deleted.append(losers)
            alive, count = np.setdiff1d(alive, losers), count - len(losers)
        return np.concatenate(deleted)

    def _children(
        self, drawn: np.ndarray, rules: Sequence[str], members: np.ndarray, chances: np.ndarray,
        blocks: list[slice], rng: np.random.Generator,
    ) -> np.ndarray:  # fmt: skip
        """One child for each drawn rule; ``members`` are the parents, with cumulated chances."""
        count = len(drawn)
        pairs = np.searchsorted(chances[:-1], rng.random((count, 2)), side="right")
        same = pairs[:, 0] == pairs[:, 1]  # a second parent that is another member, mostly
        pairs[same, 1] = rng.integers(len(members), size=int(same.sum()))
        mothers, fathers = members[pairs[:, 0]], members[pairs[:, 1]]
        children = mothers.copy()
        block_of = np.repeat(np.arange(len(blocks)), [each.stop - each.start for each in blocks])
        for number, rule in enumerate(rules):
            which = np.flatnonzero(drawn == number)
            if not len(which) or rule == "clone":
                continue
            if rule == "random":
                children[which] = rng.random((len(which), members.shape[1]))
            elif rule in ("interpolation", "extrapolation"):
                share = rng.random((len(which), 1)) + (rule == "extrapolation")
                children[which] = reflected(share * mothers[which] + (1 - share) * fathers[which])
            else:
                from_mother = inherited(rule, len(which), len(blocks), rng)[:, block_of]
                children[which] = np.where(from_mother, mothers[which], fathers[which])
        return children

    def _mutated(self, children, blocks, scale, rng: np.random.Generator) -> np.ndarray:
        """Mutate one element of some children, and all elements of few."""
        count, size = children.shape
        draws = rng.random((2, count))
        catastrophes = draws[0] < self.catastrophe_rate
        children[catastrophes] = rng.random((int(catastrophes.sum()), size))
        mutants = np.flatnonzero(~catastrophes & (draws[1] < self.mutation_rate))
        places = rng.integers(len(blocks), size=len(mutants))
        steps = scale * rng.normal(size=len(mutants))
        for child, place, step in zip(mutants, places, steps):
            block = blocks[place]
            if block.stop - block.start > 1:
                children[child, block] = rng.random(block.stop - block.start)
            else:
                children[child, block] += step
        return reflected(children)

    def _apart(self, children: np.ndarray, members: np.ndarray, run: Run) -> np.ndarray:
        """Children too close to a member are replaced by random points."""
        gaps = cdist(children, members, "chebyshev").min(axis=1)
        for k in np.flatnonzero(gaps < self.least_distance):
            children[k] = run.space.encode(run.space.sample(run.rng))
        return children

    def _learned(self, run: Run, weights, rules, used: list[int], won: list[bool]) -> np.ndarray:
        before = weights / weights.sum()
        counts = np.bincount(used, minlength=len(rules))
        shares = np.bincount(used, won, minlength=len(rules)) / np.maximum(counts, 1)
        new = np.maximum((1 - LEARNING) * weights + LEARNING * (0.1 + shares), 0.05)
        top, last = int(np.argmax(new)), int(np.argmax(before))
        if top != last:
            run.change("favored rule", rules[last], rules[top], "its children do better")
        return new

    def _adapted(self, run: Run, scale: float, share: float) -> float:
        """The scale of mutation: smaller while few children beat the median member."""
        new = min(scale * 1.1, 0.5) if share > 0.3 else max(scale * 0.92, 1e-6)
        if new != scale:
            run.change("mutation scale", scale, new, f"{share:.0%} of children beat the median")
        return new

    def _migrate(self, run: Run, islands: list) -> None:
        """The best of each island replaces the worst of the next."""
        best = [(m[int(np.argmin(v))].copy(), float(v.min())) for m, v in islands]
        for k, (members, values) in enumerate(islands):
            worst = int(np.argmax(values))
            members[worst], values[worst] = best[k - 1]
        run.change("islands", "apart", "exchanged", "migration of the best")


def parent_chances(values: np.ndarray) -> np.ndarray:
    """Cumulated chances to become a parent, in proportion to rank from the worst."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    chances = (len(values) - ranks).astype(float)
    return np.cumsum(chances) / chances.sum()


def inherited(rule: str, count: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Which elements come from the first parent: at random, or alternately between cuts."""
    if rule == "uniform":
        return rng.random((count, n)) < 0.5
    cuts = rng.integers(0, n + 1, (count, 4))
    n_cuts = np.ones(count) if rule == "single-point" else rng.integers(2, 5, count)
    cuts[np.arange(4) >= n_cuts[:, None]] = n + 1  # beyond the end: no cut
    return (cuts[:, :, None] <= np.arange(n)).sum(axis=1) % 2 == 0


def element_blocks(space: Space) -> list[slice]:
    """Coordinates that are inherited and mutated together: one block per element of the genome."""
    blocks, at = [], 0
    for each in space.dimensions:
        if isinstance(each, Categorical):
            blocks.append(slice(at, at + each.size))
        else:
            blocks += [slice(k, k + 1) for k in range(at, at + each.size)]
        at += each.size
    return blocks
