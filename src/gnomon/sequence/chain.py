"""Finite Markov chains: structure, equilibrium, absorption, simulation.

p(X_{n+1} = j | X_n = i) = P_ij; a distribution, as a row, moves by  pi_n = pi_0 P^n. A chain falls
into classes of states that reach each other; closed classes are never left. A stationary s = s P is
unique where there is one closed class. pi_n tends to it from every start only where that class is
aperiodic too: the umbrella chain of 000b has period 2 and oscillates, though 000b 13.1.2 says that
irreducible is enough; its s is then the share of time, not a limit.

Rows sum to 1 here; 002 writes columns (its p is the transpose).

Texts: 000b 13.1 · 001 14.1 · 002 L5874-6229 · 003 3.4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.sparse.linalg import eigs, spsolve

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.storable import storable
from gnomon.engine.stored import LABELS, Anything, Array, DictOf, ListOf, Whole

SUM_TOLERANCE = 1e-8  # rows of probabilities may miss 1 by rounding of written digits
MOST_DENSE_STATES = 1500  # a dense matrix of 18 MB; larger chains are solved sparse
MOST_NAMED = 8  # names in an error message
MOST_STEPS_TO_SETTLE = 20_000  # of the power method, then a direct solution
STEPS_BEFORE_JUDGING = 300  # the rate of convergence is known by then
SLOW = 0.995  # a rate that needs 6,000 steps for 13 digits
SETTLED = 1e-13  # change that rounding alone makes
MOST_FACTORED = 200_000  # states; a sparse factorization may fill up beyond
NARROW_BAND = 100  # diagonals; a band of this width factors without filling up

Seed = int | np.random.Generator | None


def stochastic_rows(matrix: Any, what: str) -> np.ndarray | sp.csr_array:
    """A matrix of transition probabilities, dense or sparse, checked row by row."""
    rows = sp.csr_array(matrix, dtype=np.float64) if sp.issparse(matrix) else None
    table = np.array(matrix, dtype=np.float64) if rows is None else rows
    if table.ndim != 2:
        raise DataError(f"{what} must be a matrix, one row for each state")
    entries: Any = table.data if rows is not None else table
    if not np.isfinite(entries).all() or (entries < 0).any():
        raise DataError(f"{what} holds entries that are negative or not finite")
    sums = np.asarray(table.sum(axis=1)).ravel()
    wrong = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if len(wrong):
        raise DataError(
            f"row {wrong[0]} of {what} sums to {sums[wrong[0]]:.6g}, not 1 ({len(wrong)} such rows "
            "of probabilities); divide each row by its sum, and give rows of zeros a meaning first"
        )
    return table


@dataclass(frozen=True)
class ChainStructure:
    """Classes of a chain's states.

    Attributes
    ----------
    classes : list of list
        States that reach each other, by name; in the order of their first states.
    closed : list of bool
        Whether a class is never left. States of other classes are transient.
    periods : list of int
        Greatest common divisor of the lengths of all ways back; 0 where there is no way back.
    absorbing : list
        States that are never left.
    """

    classes: list[list]
    closed: list[bool]
    periods: list[int]
    absorbing: list

    @property
    def irreducible(self) -> bool:
        """Whether every state reaches every other."""
        return len(self.classes) == 1

    @property
    def unique_equilibrium(self) -> bool:
        """Whether there is one stationary distribution only."""
        return sum(self.closed) == 1

    @property
    def has_limit(self) -> bool:
        """Whether pi P^n tends to the same distribution from every start."""
        return self.unique_equilibrium and self.periods[self.closed.index(True)] == 1

    @property
    def transient(self) -> list:
        """States that are left for ever."""
        return [
            s
            for names, shut in zip(self.classes, self.closed, strict=True)
            if not shut
            for s in names
        ]

    def __str__(self) -> str:
        lines = [
            f"{'closed' if shut else 'transient'} class of {len(names)}, "
            f"period {period or 'none'}: {_listed(names)}"
            for names, shut, period in zip(self.classes, self.closed, self.periods, strict=True)
        ]
        verdict = (
            "one equilibrium, reached from every start"
            if self.has_limit
            else (
                "one equilibrium; shares of time tend to it, the distribution itself oscillates"
                if self.unique_equilibrium
                else "several equilibria, one for each closed class and all their mixtures"
            )
        )
        return "\n".join([*lines, verdict])


@dataclass(frozen=True)
class Absorption:
    """Where a chain ends, from each transient state.

    Attributes
    ----------
    transient : list
        Names of the states that are left for ever.
    ends : list of list
        The closed classes, by the names of their states.
    probability : ndarray of shape (n_transient, n_ends)
    steps : ndarray of shape (n_transient,)
        Expected number of steps to a closed class.
    """

    transient: list
    ends: list[list]
    probability: np.ndarray
    steps: np.ndarray


@dataclass(frozen=True)
class PowerResult:
    """What the power method reached.

    Attributes
    ----------
    distribution : ndarray
    n_steps : int
    change : float
        Sum of absolute changes in the last step.
    converged : bool
    oscillates : bool
        Whether some steps ahead changed nothing while one step did: the chain is periodic.
    period : int
        How many such steps; 0 where it does not oscillate.
    """

    distribution: np.ndarray
    n_steps: int
    change: float
    converged: bool
    oscillates: bool = False
    period: int = 0


@storable
@dataclass(frozen=True, eq=False)
class MarkovChain:
    """A finite Markov chain of first order with named states and known probabilities.

    To learn one from sequences (of any order) use `MarkovModel`; its ``chain()`` is one of these,
    over tuples of states where the order is above 1.

    Parameters
    ----------
    transition : array-like or sparse of shape (n_states, n_states)
        Row i holds the probabilities of the next state after i.
    states : sequence, default=None
        Names; 0, 1, 2 ... by default.
    start : array-like, default=None
        Probabilities of the first state; all equal by default.

    Notes
    -----
    Texts: 000b 13.1, 001 14.1, 002 L5874 (columns there), 003 3.4.2. A sparse matrix may have
    a million states.

    Examples
    --------
    The virus of 000b 13.1.1, with mutation rate 0.2, after two steps:

    >>> virus = MarkovChain([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    >>> virus.distribution(2, first=0).round(2)
    array([0.66, 0.17, 0.17])
    >>> virus.stationary().round(3)
    array([0.333, 0.333, 0.333])
    """

    transition: Any
    states: Any = None
    start: Any = None
    _places: dict = field(init=False, repr=False, default_factory=dict)
    _stored = {
        "transition": Array("f8", ("n_states", "n_states"), low=0.0),
        "states": ListOf(Anything(), "n_states")
        | ListOf(Anything(), "n_states", kind=tuple)
        | Array(LABELS, ("n_states",)),
        "start": Array("f8", ("n_states",), low=0.0) | None,
        "_places": DictOf(Whole()),
    }

    def __post_init__(self):
        table = stochastic_rows(self.transition, "the transition matrix")
        n = table.shape[0]
        if table.shape[1] != n:
            raise DataError(f"the transition matrix has shape {table.shape}; it must be square")
        names = list(range(n)) if self.states is None else list(self.states)
        places = {name: i for i, name in enumerate(names)}
        if len(names) != n or len(places) != n:
            raise DataError(f"{n} states need {n} different names; there are {len(places)}")
        start = np.full(n, 1 / n) if self.start is None else np.array(self.start, dtype=float)
        if start.shape != (n,):
            raise DataError(f"start holds {start.size} probabilities for {n} states")
        stochastic_rows(start[None, :], "the start")
        for name, value in (("transition", table), ("states", names), ("start", start)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_places", places)

    def _check_loaded(self) -> None:
        self.__post_init__()

    @property
    def n_states(self) -> int:
        return self.transition.shape[0]

    @cached_property
    def _rows(self) -> sp.csr_array:
        """Transitions as sparse rows without stored zeros."""
        rows = sp.csr_array(self.transition)
        rows.eliminate_zeros()
        return rows

    def place(self, state: Hashable) -> int:
        """Number of a state, by its name."""
        if state not in self._places:
            raise DataError(f"{state!r} is not a state of this chain: {_listed(self.states)}")
        return self._places[state]

    def distribution(self, n_steps: int, first: Hashable | None = None) -> np.ndarray:
        """Probabilities of the states after some steps: pi P^n.

        Parameters
        ----------
        n_steps : int
        first : state, default=None
            The state at step 0; the chain's start by default.

        Returns
        -------
        probabilities : ndarray of shape (n_states,)
        """
        at = self.start if first is None else self._indicator([first])
        for _ in range(n_steps):
            at = self._step(at)
        return at

    def log_probability(self, path: Sequence[Hashable]) -> float:
        """Logarithm of the probability of a path of states; -inf where it is impossible."""
        codes = np.array([self.place(state) for state in path], dtype=np.int64)
        if not len(codes):
            return 0.0
        steps = np.asarray(self._rows[codes[:-1], codes[1:]]).ravel()
        with np.errstate(divide="ignore"):
            return float(np.log(self.start[codes[0]]) + np.log(steps).sum())

    @cached_property
    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        """The class of each state, numbered by first states; whether each class is closed."""
        count, label = connected_components(self._rows, directed=True, connection="strong")
        _, firsts, label = np.unique(label, return_index=True, return_inverse=True)
        rank = np.empty(count, dtype=np.int64)
        rank[np.argsort(firsts)] = np.arange(count)
        label = rank[label]
        links = self._rows.tocoo()
        closed = np.ones(count, dtype=bool)
        closed[label[links.row[label[links.row] != label[links.col]]]] = False
        return label, closed

    def structure(self) -> ChainStructure:
        """Classes, which of them are closed, their periods, absorbing states.

        Texts: 000b 13.1 (the period is missing there), 002 L6124-6209 (a positive diagonal is
        sufficient for period 1, not necessary).
        """
        label, closed = self._classes
        order = np.argsort(label, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(label))[:-1])
        stays = self._rows.diagonal() >= 1 - SUM_TOLERANCE
        return ChainStructure(
            [[self.states[i] for i in group] for group in groups],
            closed.tolist(),
            self._periods(label, np.array([group[0] for group in groups])).tolist(),
            [self.states[i] for i in np.flatnonzero(stays)],
        )

    def _periods(self, label: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """gcd over links u -> v inside a class of  level(u) + 1 - level(v),  levels from a root."""
        links = self._rows.tocoo()
        inside = label[links.row] == label[links.col]
        tail, head = links.row[inside], links.col[inside]
        n = self.n_states
        graph = sp.csr_array(
            (
                np.ones(len(tail) + len(roots)),
                (np.r_[tail, np.full(len(roots), n)], np.r_[head, roots]),
            ),
            shape=(n + 1, n + 1),
        )
        level = dijkstra(graph, indices=n, unweighted=True)[:n].astype(np.int64)
        periods = np.zeros(len(roots), dtype=np.int64)
        np.gcd.at(periods, label[tail], np.abs(level[tail] + 1 - level[head]))
        return periods

    def stationary(
        self,
        method: str = "solve",
        *,
        tol: float = 1e-12,
        max_iter: int = 100_000,
        start: Any = None,
    ) -> np.ndarray:
        """The stationary distribution s = s P; of a periodic chain, the shares of time.

        Parameters
        ----------
        method : {"solve", "eigen", "power"}, default="solve"
            Linear equations, left eigenvector of the eigenvalue 1, or repeated steps; the last
            for large sparse chains.
        tol, max_iter, start
            Of the power method, see `power_method`.

        Returns
        -------
        probabilities : ndarray of shape (n_states,)

        Raises
        ------
        DataError
            Where several closed classes make it ambiguous (then see `stationary_of_classes`), or
            where the power method oscillates or has not converged.
        """
        if method not in ("solve", "eigen", "power"):
            raise DataError(f"method is 'solve', 'eigen' or 'power', not {method!r}")
        label, closed = self._classes
        if closed.sum() > 1:
            ends = self.structure()
            named = [_listed(c) for c, s in zip(ends.classes, ends.closed, strict=True) if s]
            raise DataError(
                f"the chain has {len(named)} closed classes ({'; '.join(named[:MOST_NAMED])}), so "
                "its stationary distribution is not unique; ask stationary_of_classes(), or "
                "absorption() for where it ends"
            )
        if method == "power":
            return self._by_power(start, tol, max_iter)
        inside = np.flatnonzero(label == np.flatnonzero(closed)[0])
        return self._stationary_within(inside, method)

    def stationary_of_classes(self) -> np.ndarray:
        """One stationary distribution for each closed class, as rows; all others are mixtures."""
        label, closed = self._classes
        return np.array(
            [
                self._stationary_within(np.flatnonzero(label == c), "solve")
                for c in np.flatnonzero(closed)
            ]
        )

    def limit(self, first: Hashable | None = None) -> np.ndarray:
        """The limit of the distribution pi P^n from a start, of any chain that has one.

        A chain with several closed classes ends in each with the probability of being absorbed
        there, and is distributed inside it as its equilibrium.

        Parameters
        ----------
        first : state, default=None
            The state at step 0; the chain's start by default.

        Returns
        -------
        probabilities : ndarray of shape (n_states,)

        Raises
        ------
        DataError
            Where it may come into a class with a period, in which the distribution oscillates.

        Examples
        --------
        >>> MarkovChain([[0.5, 0.3, 0.2], [0, 1, 0], [0, 0, 1]]).limit(first=0)
        array([0. , 0.6, 0.4])
        """
        at = self.start if first is None else self._indicator([first])
        label, closed = self._classes
        ends = np.flatnonzero(closed)
        mass = np.array([at[label == end].sum() for end in ends])
        outside = np.flatnonzero(~closed[label])
        if at[outside].any():
            mass += at[outside] @ self.absorption().probability
        structure = self.structure()
        for end, share in zip(ends, mass, strict=True):
            if share > 0 and structure.periods[end] > 1:
                raise DataError(
                    f"there is no limit: the class of {_listed(structure.classes[end])} has period "
                    f"{structure.periods[end]}, so its distribution oscillates; stationary() gives "
                    "the shares of time"
                )
        return mass @ self.stationary_of_classes()

    def power_method(
        self, start: Any = None, *, tol: float = 1e-12, max_iter: int = 100_000
    ) -> PowerResult:
        """Repeat p <- p P until the sum of absolute changes is below `tol`.

        Parameters
        ----------
        start : array-like, default=None
            First distribution, such as the equilibrium of an older version of the chain.
        tol : float, default=1e-12
        max_iter : int, default=100000

        Returns
        -------
        result : PowerResult
        """
        now = self.start if start is None else np.array(start, dtype=float)
        # an older distribution, renewed after 1, 2, 4 ... steps: it comes back where there is a
        # period of any length
        older, renewed, change = now, 0, np.inf
        for step in range(1, max_iter + 1):
            after = self._step(now)
            change = np.abs(after - now).sum()
            if change <= tol:
                return PowerResult(after / after.sum(), step, float(change), True)
            if step - renewed > 1 and np.abs(after - older).sum() <= min(tol, 1e-3 * change):
                return PowerResult(after, step, float(change), False, True, step - renewed)
            if step == max(2 * renewed, 1):
                older, renewed = after, step
            now = after
        return PowerResult(now, max_iter, float(change), False)

    def _by_power(self, start: Any, tol: float, max_iter: int) -> np.ndarray:
        result = self.power_method(start, tol=tol, max_iter=max_iter)
        if not result.converged:
            reason = (
                f"oscillates with period {result.period}"
                if result.oscillates
                else "has not converged"
            )
            raise DataError(
                f"the power method {reason} after {result.n_steps} steps; the last change was "
                f"{result.change:.3g}. Use method='solve', which gives the shares of time"
            )
        return result.distribution

    def _stationary_within(self, inside: np.ndarray, method: str) -> np.ndarray:
        found = np.zeros(self.n_states)
        part = self._rows[inside][:, inside]
        found[inside] = _equilibrium(part, method)
        return found

    def absorption(self) -> Absorption:
        """Probability of ending in each closed class and expected steps until then.

        With Q the transitions among transient states and R those into closed classes, the
        probabilities solve (I - Q) B = R and the steps (I - Q) t = 1.
        """
        label, closed = self._classes
        ends = np.flatnonzero(closed)
        outside = np.flatnonzero(~closed[label])
        structure = self.structure()
        rows = self._rows[outside]
        into = np.column_stack([rows @ (label == end).astype(float) for end in ends])
        right = np.column_stack([into, np.ones(len(outside))])
        solved = _solve_remaining(rows[:, outside], right)
        return Absorption(
            [self.states[i] for i in outside],
            [structure.classes[end] for end in ends],
            solved[:, :-1],
            solved[:, -1],
        )

    def hitting_probability(self, targets: Sequence[Hashable]) -> np.ndarray:
        """Probability of ever visiting one of the targets, from each state.

        h = 1 on targets, 0 where no target can be reached, and h = P h elsewhere.
        """
        hit = self._indicator(targets) > 0
        chance = hit.astype(float)
        between = self._reaches(hit) & ~hit
        places = np.flatnonzero(between)
        rows = self._rows[places]
        chance[places] = _solve_remaining(rows[:, places], (rows @ hit.astype(float))[:, None])[
            :, 0
        ]
        return chance

    def hitting_time(self, targets: Sequence[Hashable]) -> np.ndarray:
        """Expected steps until a target is visited, from each state; inf where it may never be."""
        hit = self._indicator(targets) > 0
        missed = ~self._reaches(hit)
        # a state from which the chain may fall into one that never hits waits for ever on average
        doomed = self._reaches_avoiding(missed, hit)
        places = np.flatnonzero(~doomed & ~hit)
        steps = np.where(doomed, np.inf, 0.0)
        among = self._rows[places][:, places]
        steps[places] = _solve_remaining(among, np.ones((len(places), 1)))[:, 0]
        return steps

    def _reaches(self, targets: np.ndarray) -> np.ndarray:
        """Which states have a way to the targets."""
        return _led_to(self._rows, targets)

    def _reaches_avoiding(self, targets: np.ndarray, avoided: np.ndarray) -> np.ndarray:
        """Which states have a way to the targets that does not pass the avoided ones."""
        kept = sp.diags_array((~avoided).astype(float)) @ self._rows
        return _led_to(sp.csr_array(kept), targets)

    def simulate(
        self,
        n_steps: int,
        n_paths: int = 1,
        *,
        first: Hashable | None = None,
        random_state: Seed = None,
    ) -> np.ndarray:
        """Paths of the chain: state numbers of shape (n_paths, n_steps + 1).

        Parameters
        ----------
        n_steps : int
        n_paths : int, default=1
        first : state, default=None
            Where all paths begin; drawn from the chain's start by default.
        random_state : int, Generator or None, default=None

        Returns
        -------
        paths : ndarray of int
            Numbers of states; ``chain.states[number]`` is the name.
        """
        memory.require(
            8 * n_paths * (n_steps + 1), "simulated paths", "Simulate fewer or shorter paths."
        )
        rng = np.random.default_rng(random_state)
        paths = np.empty((n_paths, n_steps + 1), dtype=np.int64)
        paths[:, 0] = self._first(n_paths, first, rng)
        for n in range(n_steps):
            paths[:, n + 1] = self._move(paths[:, n], rng)
        return paths

    def simulate_until_absorbed(
        self,
        *,
        first: Hashable | None = None,
        max_steps: int = 10_000,
        random_state: Seed = None,
    ) -> list:
        """One path, by names, up to its first state in an absorbing state.

        Raises
        ------
        DataError
            Where the path has not been absorbed after `max_steps`.
        """
        rng = np.random.default_rng(random_state)
        at = self._first(1, first, rng)
        stays = self._rows.diagonal() >= 1 - SUM_TOLERANCE
        path = [self.states[at[0]]]
        while not stays[at[0]]:
            if len(path) > max_steps:
                raise DataError(
                    f"no absorbing state after {max_steps} steps; see structure() for whether one "
                    "can be reached, or raise max_steps"
                )
            at = self._move(at, rng)
            path.append(self.states[at[0]])
        return path

    def event_probability(
        self,
        event: Callable[[np.ndarray], np.ndarray],
        n_steps: int,
        n_paths: int = 10_000,
        *,
        first: Hashable | None = None,
        random_state: Seed = None,
    ) -> Estimate:
        """Share of simulated paths on which an event happens, with its interval.

        Parameters
        ----------
        event : callable
            ``event(paths)`` of state numbers (n_paths, n_steps + 1) says yes or no for each path.
        n_steps, n_paths, first, random_state
            As in `simulate`.

        Returns
        -------
        probability : Estimate
        """
        paths = self.simulate(n_steps, n_paths, first=first, random_state=random_state)
        happened = np.asarray(event(paths), dtype=bool)
        if happened.shape != (n_paths,):
            raise DataError(f"the event must answer yes or no for each of {n_paths} paths")
        return share_interval(int(happened.sum()), n_paths)

    def _first(self, n_paths: int, first: Hashable | None, rng) -> np.ndarray:
        if first is not None:
            return np.full(n_paths, self.place(first), dtype=np.int64)
        return rng.choice(self.n_states, size=n_paths, p=self.start / self.start.sum())

    @cached_property
    def _ladder(self) -> np.ndarray:
        """For each link: number of its row plus the row's cumulative probability up to it."""
        rows = self._rows
        total = np.cumsum(rows.data)
        before = np.r_[0.0, total][rows.indptr[:-1]]
        counts = np.diff(rows.indptr)
        inside = total - np.repeat(before, counts)
        inside /= np.repeat(inside[rows.indptr[1:] - 1], counts)
        return np.repeat(np.arange(self.n_states), counts) + inside

    def _move(self, at: np.ndarray, rng) -> np.ndarray:
        links = np.searchsorted(self._ladder, at + rng.random(len(at)), side="right")
        return self._rows.indices[np.minimum(links, self._rows.indptr[at + 1] - 1)].astype(np.int64)

    def _step(self, at: np.ndarray) -> np.ndarray:
        return self.transition.T @ at

    def _indicator(self, names: Sequence[Hashable]) -> np.ndarray:
        marked = np.zeros(self.n_states)
        marked[[self.place(name) for name in names]] = 1
        return marked


def run_lengths(path: Sequence[Hashable]) -> list[tuple[Hashable, int]]:
    """Runs of equal states in a path: ``[(state, length), ...]``.

    Examples
    --------
    >>> run_lengths("aabccc")
    [('a', 2), ('b', 1), ('c', 3)]
    """
    runs: list[tuple[Hashable, int]] = []
    for state in path:
        if runs and runs[-1][0] == state:
            runs[-1] = (state, runs[-1][1] + 1)
        else:
            runs.append((state, 1))
    return runs


def random_walk(graph: Any, states: Sequence[Hashable] | None = None) -> MarkovChain:
    """Random walk on a directed graph: each way out with a probability in proportion to its weight.

    Parameters
    ----------
    graph : array-like or sparse of shape (n, n)
        Weights of the links i -> j; ones where all are alike.
    states : sequence, default=None
        Names of the nodes.

    Returns
    -------
    chain : MarkovChain
        With a uniform start.

    Notes
    -----
    Texts: 002 L5876-5886, 6009-6035. Nodes without a way out are refused: a walk cannot go on
    there (`gnomon.sequence.pagerank` sends it anywhere).

    Examples
    --------
    >>> random_walk([[0, 1, 1], [0, 0, 2], [1, 0, 0]]).transition.toarray()
    array([[0. , 0.5, 0.5],
           [0. , 0. , 1. ],
           [1. , 0. , 0. ]])
    """
    rows = sp.csr_array(graph, dtype=np.float64)
    out = np.asarray(rows.sum(axis=1)).ravel()
    stuck = np.flatnonzero(out <= 0)
    if len(stuck):
        raise DataError(
            f"node {stuck[0] if states is None else list(states)[stuck[0]]!r} has no way out "
            f"({len(stuck)} such nodes); give it a link to itself, or use pagerank"
        )
    return MarkovChain(sp.csr_array(sp.diags_array(1 / out) @ rows), states)


def gamblers_ruin(p: float, goal: int) -> MarkovChain:
    """A gambler's purse 0 ... goal: one up with probability p, one down otherwise, until an end.

    Examples
    --------
    The chance of ruin from a stake of 3, of 10 (000b, worked example 13.2), by the closed form
    (rho^10 - rho^3) / (rho^10 - 1) with rho = (1 - p) / p, and by the chain:

    >>> rho = 0.6 / 0.4
    >>> round((rho**10 - rho**3) / (rho**10 - 1), 6)
    0.958087
    >>> round(float(gamblers_ruin(0.4, 10).hitting_probability([0])[3]), 6)
    0.958087
    """
    if not 0 < p < 1 or goal < 1:
        raise DataError("p lies between 0 and 1, and the goal is 1 or more")
    up = np.r_[0.0, np.full(goal - 1, p)]
    down = np.r_[np.full(goal - 1, 1 - p), 0.0]
    stay = np.r_[1.0, np.zeros(goal - 1), 1.0]
    return MarkovChain(np.diag(stay) + np.diag(up, 1) + np.diag(down, -1))


def _equilibrium(part: sp.csr_array, method: str) -> np.ndarray:
    """Stationary distribution of an irreducible chain."""
    n = part.shape[0]
    if n == 1:
        return np.ones(1)
    dense = n <= MOST_DENSE_STATES
    if method == "eigen":
        if dense:
            values, vectors = np.linalg.eig(part.T.toarray())
        else:
            # slightly beside 1, where P' - sigma I can be factored
            values, vectors = eigs(part.T.tocsc(), k=1, sigma=1 + 1e-8)
        leading = np.abs(vectors[:, np.argmin(np.abs(values - 1))].real)
        return leading / leading.sum()
    if dense:
        table = part.T.toarray() - np.eye(n)
        table[-1] = 1
        found = np.linalg.solve(table, np.r_[np.zeros(n - 1), 1.0])
    else:
        into = sp.csr_array(part.T)
        # half a step and half a stay: the same equilibrium, and no period
        settled = _settled(lambda at: 0.5 * (at + into @ at), np.full(n, 1 / n))
        if settled is None:
            _require_factors(part)
            among, last = part[:-1][:, :-1], part[[-1]][:, :-1].toarray().ravel()
            ratios = spsolve((sp.eye_array(n - 1) - among.T).tocsc(), last)
            settled = np.r_[ratios, 1.0]
        found = settled
    found = np.maximum(found, 0)
    return found / found.sum()


def _solve_remaining(among: sp.csr_array, right: np.ndarray) -> np.ndarray:
    """(I - Q) X = right, Q the transitions among states that are all left in the end."""
    n = among.shape[0]
    if n == 0:
        return np.zeros(right.shape)
    if n <= MOST_DENSE_STATES:
        return np.linalg.solve(np.eye(n) - among.toarray(), right)
    rows = sp.csr_array(among)
    found = _settled(lambda at: rows @ at + right, right)
    if found is None:
        _require_factors(rows)
        found = np.asarray(spsolve((sp.eye_array(n) - rows).tocsc(), right))
    return found.reshape(right.shape)


def _require_factors(rows: sp.csr_array) -> None:
    """Refuse equations whose factors might fill the memory: many states, links to anywhere."""
    links = rows.tocoo()
    band = int(np.abs(links.row - links.col).max(initial=0))
    if rows.shape[0] > MOST_FACTORED and band > NARROW_BAND:
        raise DataError(
            f"a chain of {rows.shape[0]:,} states that mixes so slowly has no quick solution: use "
            "power_method with a tolerance of your own, or number the states so that links are "
            f"short (at most {NARROW_BAND}; now {band:,})"
        )


def _settled(step: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> np.ndarray | None:
    """Where repeated steps settle; nothing where they are slow and equations must be solved.

    Steps only multiply sparse matrices, so a million states with links to anywhere are no trouble:
    factors of their equations would fill the memory. What is left after a change is judged by how
    fast changes shrink: a chain that mixes slowly has small ones long before its end.
    """
    before = np.inf
    for n in range(MOST_STEPS_TO_SETTLE):
        after = step(at)
        change = np.abs(after - at).sum() / np.abs(after).sum()
        rate = change / before if before > 0 else 0.0
        at, before = after, change
        if change == 0 or (n > 10 and rate < 1 and change * rate / (1 - rate) <= SETTLED):
            return at
        if n >= STEPS_BEFORE_JUDGING and rate > SLOW and len(at) <= MOST_FACTORED:
            return None
    return None


def _led_to(rows: sp.csr_array, targets: np.ndarray) -> np.ndarray:
    """Which nodes lead to the targets (targets do): one search from a node linked to all of
    them."""
    n = rows.shape[0]
    links = rows.tocoo()
    marked = np.flatnonzero(targets)
    used = links.data != 0
    graph = sp.csr_array(
        (
            np.ones(used.sum() + len(marked)),
            (np.r_[links.col[used], np.full(len(marked), n)], np.r_[links.row[used], marked]),
        ),
        shape=(n + 1, n + 1),
    )
    return np.isfinite(dijkstra(graph, indices=n, unweighted=True)[:n])


def _listed(names: Sequence[Hashable]) -> str:
    shown = ", ".join(str(name) for name in list(names)[:MOST_NAMED])
    return shown + (f" ... ({len(names)} in all)" if len(names) > MOST_NAMED else "")
