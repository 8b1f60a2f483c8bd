"""Searches over subsets of features, each a list of steps that a selector follows.

A search yields what it visits; the selector keeps the best of it. Forward and backward make
d (d + 1) / 2 evaluations at most, exhaustive 2^d, beam and floating a few times the greedy number,
evolution as many as it is given. Forward is blind to features that tell only together (two wings,
XOR); backward is not, since it begins with all of them (003 finds it better in practice).

Texts: 003 2.7.1, 2.7.1.1 · 000b 11.1.4 (which calls it stagewise; coefficients are refitted, so it
is stepwise) · 004 7.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import Number, Text, Whole
from gnomon.select.criteria import Criterion, Score, Subset
from gnomon.select.filter import scored
from gnomon.select.problem import Problem

MOST_SUBSETS = 20_000  # judgement: 14 features at one fit or more each; `most_subsets` sets it


class Visit(NamedTuple):
    """A subset that a search came to, with its score; which feature came or went, or -1."""

    subset: Subset
    score: Score
    change: str
    feature: int = -1


@storable
@dataclass(frozen=True)
class Forward:
    """Start empty, add the best feature each time.

    Attributes
    ----------
    most : int or None
        Features at most; None for all.
    patience : int or None
        Stop after so many additions without a new best; 1 stops when none improves, None never.

    Examples
    --------
    >>> Forward(most=5)
    Forward(most=5, patience=1)
    """

    most: int | None = None
    patience: int | None = 1
    _stored = {
        "most": Whole() | None,
        "patience": Whole(),
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        current: Subset = ()
        best = scores([current])[0]
        yield Visit(current, best, "start")
        waited = 0
        while len(current) < min(self.most or problem.n_features, problem.n_features):
            feature, found = best_addition(problem, scores, current)
            waited = 0 if found.value > best.value else waited + 1
            if self.patience is not None and waited >= self.patience:
                return
            current = tuple(sorted((*current, feature)))
            yield Visit(current, found, "add", feature)
            best = max(best, found, key=lambda each: each.value)


@storable
@dataclass(frozen=True)
class Backward:
    """Start with all, remove the feature that is missed least each time, down to one.

    The order of removal is a ranking of all features (first removed: most worthless), and the
    score after each removal shows how many are needed.

    Attributes
    ----------
    least : int
        Stop at so many features.

    Examples
    --------
    >>> Backward()
    Backward(least=1)
    """

    least: int = 1
    _stored = {
        "least": Whole(),
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        current = tuple(range(problem.n_features))
        yield Visit(current, scores([current])[0], "start")
        while len(current) > max(self.least, 1):
            feature, found = best_removal(scores, current)
            current = without(current, feature)
            yield Visit(current, found, "remove", feature)


@storable
@dataclass(frozen=True)
class Floating:
    """Forward, and after each addition remove features as long as that is better than before.

    Attributes
    ----------
    most : int or None
        Features at most; None for all.

    Examples
    --------
    >>> Floating(most=4)
    Floating(most=4)
    """

    most: int | None = None
    _stored = {
        "most": Whole() | None,
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        current: Subset = ()
        best_of = {0: scores([current])[0].value}
        yield Visit(current, scores([current])[0], "start")
        while len(current) < min(self.most or problem.n_features, problem.n_features):
            feature, found = best_addition(problem, scores, current)
            current = tuple(sorted((*current, feature)))
            best_of[len(current)] = max(found.value, best_of.get(len(current), -np.inf))
            yield Visit(current, found, "add", feature)
            while len(current) > 2:
                gone, smaller = best_removal(scores, current)
                if gone == feature or smaller.value <= best_of[len(current) - 1]:
                    break
                current = without(current, gone)
                best_of[len(current)] = smaller.value
                yield Visit(current, smaller, "remove", gone)


@storable
@dataclass(frozen=True)
class Beam:
    """Greedy search that follows the best few subsets of each size side by side.

    Attributes
    ----------
    width : int
        Subsets that are followed; 1 is the greedy search.
    direction : {"forward", "backward"}
    most : int or None
        Features added or removed at most.

    Examples
    --------
    >>> Beam(3).direction
    'forward'
    """

    width: int = 5
    direction: str = "forward"
    most: int | None = None
    _stored = {
        "direction": Text(),
        "most": Whole() | None,
        "width": Whole(),
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        if self.direction not in ("forward", "backward") or self.width < 1:
            raise DataError("a beam has a width of 1 or more, and goes forward or backward")
        forward = self.direction == "forward"
        d = problem.n_features
        beam: list[Subset] = [() if forward else tuple(range(d))]
        yield Visit(beam[0], scores(beam)[0], "start")
        for _ in range(min(self.most or d, d if forward else d - 1)):
            nearby = dict.fromkeys(
                tuple(sorted((*subset, j))) if forward else without(subset, j)
                for subset in beam
                for j in range(d)
                if (j in subset) != forward
            )
            found = scores(nearby)
            order = sorted(range(len(found)), key=lambda k: (-found[k].value, k))[: self.width]
            beam = [list(nearby)[k] for k in order]
            for subset in reversed(beam):
                yield Visit(subset, scores([subset])[0], "add" if forward else "remove")


@storable
@dataclass(frozen=True)
class Exhaustive:
    """All subsets; refuses when there are more than `most_subsets`, naming their number.

    Attributes
    ----------
    most : int or None
        Features at most in a subset; None for any.
    most_subsets : int

    Examples
    --------
    >>> Exhaustive(most=2).most
    2
    """

    most: int | None = None
    most_subsets: int = MOST_SUBSETS
    _stored = {
        "most": Whole() | None,
        "most_subsets": Whole(),
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        d = problem.n_features
        most = min(self.most or d, d)
        total = sum(comb(d, size) for size in range(most + 1))
        if total > self.most_subsets:
            raise DataError(
                f"{d} features have {total:,} subsets of at most {most}, each fitted on every "
                f"fold; {self.most_subsets:,} are allowed (most_subsets=). Use Backward(), "
                "Forward() or Beam()"
            )
        for size in range(most + 1):
            subsets = list(combinations(range(d), size))
            found = scores(subsets)
            best = max(range(len(found)), key=lambda k: found[k].value)
            yield Visit(subsets[best], found[best], "best of its size")


@storable
@dataclass(frozen=True)
class Evolution:
    """A population of subsets as bit strings: tournaments, crossing, mutation.

    Attributes
    ----------
    population : int
    generations : int
    mutation : float or None
        Chance that a bit flips; 1 / d where None.
    elite : int
        Best subsets that live on unchanged.

    Examples
    --------
    >>> Evolution(generations=5).population
    24
    """

    population: int = 24
    generations: int = 15
    mutation: float | None = None
    elite: int = 2
    _stored = {
        "elite": Whole(),
        "generations": Whole(),
        "mutation": Number(0, 1) | None,
        "population": Whole(),
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        if self.population < 4 or not 0 < self.elite < self.population:
            raise DataError("a population has 4 subsets or more, of which some, not all, are elite")
        d = problem.n_features
        flip = self.mutation if self.mutation is not None else 1 / d
        bits = rng.random((self.population, d)) < rng.uniform(0.2, 0.8, (self.population, 1))
        for generation in range(self.generations):
            subsets = [tuple(np.flatnonzero(each).tolist()) for each in bits]
            found = scores(subsets)
            values = np.array([each.value for each in found])
            order = np.argsort(-values, kind="stable")
            best = int(order[0])
            yield Visit(subsets[best], found[best], f"generation {generation + 1}")
            pairs = rng.integers(self.population, size=(2 * self.population, 2))
            better = values[pairs[:, 0]] >= values[pairs[:, 1]]
            winners = np.where(better, pairs[:, 0], pairs[:, 1]).reshape(2, -1)
            mask = rng.random((self.population, d)) < 0.5
            children = np.where(mask, bits[winners[0]], bits[winners[1]])
            children ^= rng.random((self.population, d)) < flip
            children[: self.elite] = bits[order[: self.elite]]
            bits = children


@storable
@dataclass(frozen=True)
class AlongRanking:
    """Add features in the order of a ranking, until the score stops rising.

    One evaluation for each feature added; any ranking times any learner. 004 7.1.

    Attributes
    ----------
    score : str, callable or estimator
        What ranks the features; see `FilterSelector`.
    patience : int or None
        Stop after so many additions without a new best; None goes through all.

    Examples
    --------
    >>> AlongRanking("mutual_information").patience
    5
    """

    score: Any = "association"
    patience: int | None = 5
    _stored = {
        "patience": Whole(),
        "score": Text(),
    }

    def steps(
        self, problem: Problem, scores: Criterion, rng: np.random.Generator
    ) -> Iterator[Visit]:
        order = np.argsort(-scored(problem, self.score, rng).scores, kind="stable")
        current: Subset = ()
        best = scores([current])[0]
        yield Visit(current, best, "start")
        waited = 0
        for feature in order.tolist():
            current = tuple(sorted((*current, feature)))
            found = scores([current])[0]
            yield Visit(current, found, "add", feature)
            waited = 0 if found.value > best.value else waited + 1
            best = max(best, found, key=lambda each: each.value)
            if self.patience is not None and waited >= self.patience:
                return


def best_addition(problem: Problem, scores: Criterion, current: Subset) -> tuple[int, Score]:
    """The feature whose addition gives the best score, the first of equals."""
    left = [j for j in range(problem.n_features) if j not in current]
    found = scores([(*current, j) for j in left])
    best = max(range(len(left)), key=lambda k: found[k].value)
    return left[best], found[best]


def best_removal(scores: Criterion, current: Subset) -> tuple[int, Score]:
    """The feature whose removal leaves the best score, the last of equals."""
    found = scores([without(current, j) for j in current])
    best = max(range(len(found)), key=lambda k: (found[k].value, k))
    return current[best], found[best]


def without(subset: Subset, feature: int) -> Subset:
    return tuple(j for j in subset if j != feature)
