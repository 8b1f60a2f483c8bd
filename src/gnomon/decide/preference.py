"""Search with a person in the loop: a few "A or B" answers, and the best candidates for them.

Candidates have several criteria and nobody states weights beforehand. The person's utility is taken
as additive, u(x) = sum_j w_j v_j(x_j), with weights w of unknown size (a Dirichlet prior) and
values v_j that rise with what is wanted, concave, straight or convex (unknown too); an answer "A
rather than B" has probability

    P(A over B) = e + (1 - 2 e) / (1 + exp(-(u(A) - u(B)) / s)),   e: rate of plain mistakes.

The posterior is a weighted sample of (w, shape), moved by Metropolis steps when few of its members
are left. The next question is the pair of good candidates whose answer tells most about which
candidate is best. Contradictory answers form a cycle, which is shown. Instead of pairs, a person
may name a reference point, or say per goal "improve", "improve until", "keep", "may give up
until".

Texts: 004 1.2, 1.3. Wierzbicki (1980); Miettinen and Mäkelä (NIMBUS, 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from gnomon.contract.result import Result
from gnomon.decide.pareto import WORDS, as_losses, non_dominated
from gnomon.engine.errors import DataError

MEMBERS = 2_000  # of the posterior sample
FEW = 0.3  # effective share of members below which they are moved
MOVES = 5  # Metropolis steps per member and move
MISTAKES = 0.1  # rate of plain mistakes that is assumed
SHARPNESS = 0.05  # s: differences of scaled utility below this are hard to tell
SHAPES = 0.5  # deviation of the logarithm of the exponent of v_j
SHORT_LIST = 12  # candidates from which the next question is made


class Answer(NamedTuple):
    """One answer: the candidate that was preferred, and the other."""

    preferred: int
    other: int


@dataclass(repr=False)
class Standing(Result):
    """Candidates by how probably each is the person's best.

    Attributes
    ----------
    rows : ndarray of int
        Candidates, best first.
    probabilities : ndarray
        Probability that each is the best one.
    utilities : ndarray
        Mean utility, scaled from 0 to 1 over the candidates.
    """

    rows: np.ndarray
    probabilities: np.ndarray
    utilities: np.ndarray

    def _title(self) -> str:
        return f"Candidate {self.rows[0]} is best with probability {self.probabilities[0]:.2f}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "candidate": self.rows.tolist(),
            "probability of being best": self.probabilities.tolist(),
            "mean utility": self.utilities.tolist(),
        }


class PreferenceSearch:
    """Find the candidate that a person likes best by asking which of two is better.

    Parameters
    ----------
    values : array-like of shape (n_candidates, n_criteria)
    goals : mapping of str to {"more", "less"}
        The criteria and what is wanted of them.
    random_state : int, default=0

    Attributes
    ----------
    answers : list of Answer
    front : ndarray of int
        Candidates that no other dominates; the best one is among them for every person.

    Examples
    --------
    >>> from gnomon.decide import PreferenceSearch
    >>> goals = {"power": "more", "price": "less"}
    >>> search = PreferenceSearch([[9, 5], [8, 2], [7, 4], [1, 1]], goals)
    >>> a, b = search.ask()
    >>> search.tell(preferred=1, other=0)
    >>> int(search.standing().rows[0])
    1
    """

    def __init__(self, values: ArrayLike, goals: Mapping[str, str], random_state: int = 0):
        self.values, losses = as_losses(values, goals)
        self.goals = dict(goals)
        spread = np.ptp(losses, axis=0)
        self._scaled = (losses.max(axis=0) - losses) / np.where(spread > 0, spread, 1.0)
        self.front = np.flatnonzero(non_dominated(losses))
        self.answers: list[Answer] = []
        self._rng = np.random.default_rng(random_state)
        self._draw_prior()

    def _draw_prior(self) -> None:
        n = self.values.shape[1]
        self._weights = self._rng.dirichlet(np.ones(n), MEMBERS)
        self._shapes = np.exp(SHAPES * self._rng.normal(size=(MEMBERS, n)))
        self._mass = np.full(MEMBERS, 1.0 / MEMBERS)

    def _utilities(self, rows: ArrayLike, weights: Any = None, shapes: Any = None) -> np.ndarray:
        """Utility of candidates for each member, of shape (n_members, n_rows)."""
        weights = self._weights if weights is None else weights
        shapes = self._shapes if shapes is None else shapes
        scaled = self._scaled[np.atleast_1d(rows)]
        found = np.zeros((len(weights), len(scaled)))
        with np.errstate(divide="ignore"):
            logs = np.log(scaled)
        for j in range(scaled.shape[1]):
            found += weights[:, j, None] * np.exp(shapes[:, j, None] * logs[:, j])
        return found

    def _log_likelihood(self, weights: np.ndarray, shapes: np.ndarray) -> np.ndarray:
        if not self.answers:
            return np.zeros(len(weights))
        better = self._utilities([a.preferred for a in self.answers], weights, shapes)
        worse = self._utilities([a.other for a in self.answers], weights, shapes)
        return np.log(agreement(better - worse)).sum(axis=1)

    def tell(self, preferred: int, other: int) -> None:
        """Take an answer into account.

        Parameters
        ----------
        preferred : int
            The candidate that the person likes better.
        other : int
        """
        for each in (preferred, other):
            if not 0 <= each < len(self.values):
                raise DataError(f"there are {len(self.values)} candidates, from 0 on; not {each}")
        if preferred == other:
            raise DataError("an answer is about two different candidates")
        self.answers.append(Answer(int(preferred), int(other)))
        gap = np.subtract(*self._utilities([preferred, other]).T)
        mass = self._mass * agreement(gap)
        self._mass = mass / mass.sum()
        if 1.0 / (self._mass**2).sum() < FEW * MEMBERS:
            self._move()

    def forget(self, answer: Answer) -> None:
        """Take an answer back, because the person changed their mind.

        Parameters
        ----------
        answer : Answer
            One of ``answers``.
        """
        if answer not in self.answers:
            raise DataError(f"{answer} is not among the answers")
        self.answers.remove(answer)
        self._draw_prior()
        found = self._log_likelihood(self._weights, self._shapes)
        mass = np.exp(found - found.max())
        self._mass = mass / mass.sum()
        self._move()

    def _move(self) -> None:
        """Draw members by their mass, then move them by Metropolis steps on the posterior."""
        rng = self._rng
        drawn = np.searchsorted(
            np.cumsum(self._mass), (np.arange(MEMBERS) + rng.random()) / MEMBERS
        )
        drawn = np.minimum(drawn, MEMBERS - 1)
        weights, shapes = self._weights[drawn], self._shapes[drawn]
        now = self._log_likelihood(weights, shapes)
        for _ in range(MOVES):
            # gamma variables of shape one, scaled to sum to one, are uniform on the simplex
            size = rng.gamma(weights.shape[1], size=(MEMBERS, 1))
            sizes = weights * size
            steps = np.exp(0.5 * rng.normal(size=weights.shape))
            other_sizes = sizes * steps
            other = other_sizes / other_sizes.sum(axis=1, keepdims=True)
            other_shapes = shapes * np.exp(0.3 * rng.normal(size=shapes.shape))
            then = self._log_likelihood(other, other_shapes)
            ratio = then - now
            ratio += (sizes - other_sizes).sum(axis=1) + np.log(steps).sum(axis=1)
            ratio += (np.log(shapes) ** 2 - np.log(other_shapes) ** 2).sum(axis=1) / (2 * SHAPES**2)
            takes = np.log(rng.random(MEMBERS)) < ratio
            weights = np.where(takes[:, None], other, weights)
            shapes = np.where(takes[:, None], other_shapes, shapes)
            now = np.where(takes, then, now)
        self._weights, self._shapes = weights, shapes
        self._mass = np.full(MEMBERS, 1.0 / MEMBERS)

    def standing(self) -> Standing:
        """The candidates of the front by how probably each is the best.

        Returns
        -------
        standing : Standing
        """
        utilities = self._utilities(self.front)
        best = np.bincount(utilities.argmax(axis=1), self._mass, minlength=len(self.front))
        mean = self._mass @ utilities
        order = np.lexsort((-best, -mean))
        return Standing(self.front[order], best[order], mean[order])

    def ask(self) -> tuple[int, int]:
        """The two candidates whose comparison tells most about which candidate is best.

        Returns
        -------
        pair : (int, int)
        """
        if len(self.front) < 2:
            raise DataError(
                f"candidate {self.front[0]} is at least as good as all others in every goal: "
                "there is nothing to ask"
            )
        asked = {frozenset(each) for each in self.answers}
        utilities = self._utilities(self.front)
        winner = utilities.argmax(axis=1)
        chance = np.bincount(winner, self._mass, minlength=len(self.front))
        mean = self._mass @ utilities
        short = np.lexsort((-mean, -chance))[:SHORT_LIST]
        best_pair, most = None, -1.0
        for i, a in enumerate(short):
            for b in short[i + 1 :]:
                pair = int(self.front[a]), int(self.front[b])
                if frozenset(pair) in asked:
                    continue
                says = agreement(utilities[:, a] - utilities[:, b])
                told = information(says, winner, self._mass, len(self.front))
                if told > most:
                    best_pair, most = pair, told
        if best_pair is None:
            raise DataError("every pair of good candidates was compared: choose among standing()")
        return best_pair

    def contradiction(self) -> list[int]:
        """Candidates of the shortest cycle that the answers form; empty where there is none.

        Returns
        -------
        cycle : list of int
            Each is preferred to the next, and the last to the first.
        """
        return preference_cycle(self.answers)


def agreement(gap: np.ndarray) -> np.ndarray:
    """Probability that the first of two candidates is preferred, given the gap of utilities."""
    return MISTAKES / 2 + (1 - MISTAKES) * expit(gap / SHARPNESS)


def information(says: np.ndarray, winner: np.ndarray, mass: np.ndarray, n_candidates: int) -> float:
    """Mutual information, in nats, of an answer and the best candidate."""
    chance = np.bincount(winner, mass, minlength=n_candidates)
    first = np.bincount(winner, mass * says, minlength=n_candidates)
    total = float(first.sum())
    inside = np.divide(first, chance, out=np.zeros_like(first), where=chance > 0)
    return float(binary_entropy(np.array(total)) - chance @ binary_entropy(inside))


def binary_entropy(share: np.ndarray) -> np.ndarray:
    """Entropy of a yes-or-no answer, in nats."""
    share = np.clip(share, 1e-300, 1 - 1e-16)
    return -(share * np.log(share) + (1 - share) * np.log1p(-share))


def preference_cycle(preferences: Sequence[tuple[Any, Any]]) -> list[Any]:
    """The shortest cycle of contradictory preferences.

    Parameters
    ----------
    preferences : sequence of (preferred, other)

    Returns
    -------
    cycle : list
        Each is preferred to the next, and the last to the first; empty where answers agree.

    Examples
    --------
    >>> from gnomon.decide import preference_cycle
    >>> preference_cycle([("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")])
    ['a', 'b', 'c']
    """
    below: dict[Any, list[Any]] = {}
    for preferred, other in preferences:
        below.setdefault(preferred, []).append(other)
    shortest: list[Any] = []
    for start in below:
        before: dict[Any, Any] = {}
        level = [start]
        while level and start not in before:
            following = []
            for here in level:
                for there in below.get(here, ()):
                    if there not in before:
                        before[there] = here
                        following.append(there)
            level = following
        if start in before:
            cycle, here = [start], before[start]
            while here != start:
                cycle.append(here)
                here = before[here]
            cycle = [cycle[0], *cycle[:0:-1]]
            if not shortest or len(cycle) < len(shortest):
                shortest = cycle
    return shortest


@dataclass(repr=False)
class ReferenceAnswer(Result):
    """Candidates nearest to what a person wants.

    Attributes
    ----------
    rows : ndarray of int
        Candidates, nearest first.
    shortfall : ndarray
        How far each is from the wish in its worst goal, in shares of that goal's range on the
        front; 0 or less where the wish is met.
    goals : dict of str to str
    values : ndarray of shape (n_rows, n_goals)
    """

    rows: np.ndarray
    shortfall: np.ndarray
    goals: dict[str, str]
    values: np.ndarray

    def _title(self) -> str:
        if self.shortfall[0] <= 0:
            return f"Candidate {self.rows[0]} meets the wish"
        return f"No candidate meets the wish; candidate {self.rows[0]} comes nearest"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "candidate": self.rows.tolist(),
            "shortfall": self.shortfall.tolist(),
        }
        return columns | {n: v.tolist() for n, v in zip(self.goals, self.values.T)}


def reference_point(
    values: ArrayLike, goals: Mapping[str, str], wish: Mapping[str, float], n: int = 5
) -> ReferenceAnswer:
    """The candidates of the front that come nearest to a wished point, or exceed it most.

    Minimizes max_j (loss_j - wish_j) / range_j + 1e-6 sum_j (loss_j - wish_j) / range_j, whose
    minimum is always on the front.

    Parameters
    ----------
    values : array-like of shape (n_candidates, n_goals)
    goals : mapping of str to {"more", "less"}
    wish : mapping of str to float
        Wished values of some or all goals.
    n : int, default=5
        How many candidates are returned at most.

    Returns
    -------
    answer : ReferenceAnswer

    Examples
    --------
    >>> from gnomon.decide import reference_point
    >>> goals = {"power": "more", "price": "less"}
    >>> reference_point([[9, 5], [8, 2], [7, 4]], goals, {"power": 7, "price": 3}).rows[0]
    np.int64(1)
    """
    table, losses, front = _front_of(values, goals)
    unknown = set(wish) - set(goals)
    if unknown or not wish:
        raise DataError(f"wish must name goals among {', '.join(goals)}")
    columns = [list(goals).index(name) for name in wish]
    signs = np.array([WORDS[goals[name]] for name in wish])
    target = signs * np.array(list(wish.values()), dtype=np.float64)
    spread = np.ptp(losses[front], axis=0)[columns]
    gaps = (losses[front][:, columns] - target) / np.where(spread > 0, spread, 1.0)
    return _nearest(table, goals, front, gaps, n)


def answer_by_goal(
    values: ArrayLike,
    goals: Mapping[str, str],
    current: int,
    wishes: Mapping[str, str | tuple[str, float]],
    n: int = 5,
) -> ReferenceAnswer:
    """Candidates that answer wishes about the current one, goal by goal.

    Parameters
    ----------
    values : array-like of shape (n_candidates, n_goals)
    goals : mapping of str to {"more", "less"}
    current : int
        The candidate that the wishes are about.
    wishes : mapping of str to "improve", ("until", value), "keep", ("give up", value) or "free"
        Goals without a wish may change freely. At least one goal must be improved and one may get
        worse: on the front nothing else is possible.
    n : int, default=5

    Returns
    -------
    answer : ReferenceAnswer
        Only candidates that keep what must be kept.

    Examples
    --------
    >>> from gnomon.decide import answer_by_goal
    >>> goals = {"power": "more", "price": "less"}
    >>> rows = [[9, 5], [8, 2], [7, 1]]
    >>> answer_by_goal(rows, goals, 0, {"price": "improve", "power": ("give up", 8)}).rows.tolist()
    [1]
    """
    table, losses, front = _front_of(values, goals)
    if not 0 <= current < len(table):
        raise DataError(f"there are {len(table)} candidates, from 0 on; not {current}")
    unknown = set(wishes) - set(goals)
    if unknown:
        raise DataError(f"unknown goals: {', '.join(sorted(unknown))}")
    spread = np.ptp(losses[front], axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    keeps = np.ones(len(front), dtype=bool)
    gaps = []
    for j, (name, want) in enumerate(goals.items()):
        given = wishes.get(name, "free")
        wish, bound = given if isinstance(given, tuple) else (given, None)
        here, now = losses[front, j], losses[current, j]
        if wish in ("improve", "until"):
            target = WORDS[want] * bound if wish == "until" and bound is not None else -np.inf
            keeps &= here < now
            gaps.append((np.maximum(here, target) - now) / spread[j])
        elif wish == "keep":
            keeps &= here <= now
        elif wish == "give up":
            if bound is None:
                raise DataError(f"say how far {name!r} may be given up: ('give up', value)")
            keeps &= here <= WORDS[want] * bound
        elif wish != "free":
            raise DataError(
                f"a wish is 'improve', ('until', value), 'keep', ('give up', value) or 'free', "
                f"not {given!r} for {name!r}"
            )
    if not gaps:
        raise DataError("no goal shall be improved: say 'improve' or ('until', value) for one")
    if not keeps.any():
        raise DataError("no candidate meets these wishes: allow more of a goal to be given up")
    return _nearest(table, goals, front[keeps], np.stack(gaps, axis=1)[keeps], n)


def _front_of(
    values: ArrayLike, goals: Mapping[str, str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    table, losses = as_losses(values, goals)
    return table, losses, np.flatnonzero(non_dominated(losses))


def _nearest(
    table: np.ndarray, goals: Mapping[str, str], front: np.ndarray, gaps: np.ndarray, n: int
) -> ReferenceAnswer:
    shortfall = gaps.max(axis=1)
    order = (shortfall + 1e-6 * gaps.sum(axis=1)).argsort(kind="stable")[:n]
    rows = front[order]
    return ReferenceAnswer(rows, shortfall[order], dict(goals), table[rows])
