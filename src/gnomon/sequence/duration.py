"""Hidden Markov models with explicit durations (hidden semi-Markov models).

A plain state lasts a geometric time. Here a state k is entered, lasts t steps with probability
p(t | k), and goes to another state by A with A_kk = 0. It is the plain model over pairs (state,
steps left), for which all recursions are exact; the last stay may be cut off by the end.

Texts: 001 14.2.7 (sketched).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Object
from gnomon.sequence.chain import Seed, stochastic_rows
from gnomon.sequence.emissions import Emission, _normalized
from gnomon.sequence.hmm import EMISSION, EMISSIONS
from gnomon.sequence.learner import SEEDS, SequenceEstimator, fits, of_sequences
from gnomon.sequence.passes import (
    Posteriors,
    posteriors,
    prepare,
    refuse_dead_ends,
    viterbi,
)


@method(
    task="density",
    texts="001 14.2.7",
    use="Hidden regimes whose stays have a typical length.",
    avoid="Long stays: a step costs the square of states times durations.",
    takes="sequences",
    synonyms=("hsmm", "hidden semi-Markov model", "explicit-duration HMM"),
)
class DurationHMM(SequenceEstimator):
    """Hidden Markov model with an explicit distribution of the duration of every state.

    Use it where stays have a typical length, such as sounds or shifts. Not for long stays: a step
    costs the square of states times durations, so keep `max_duration` small.

    Parameters
    ----------
    n_states : int, default=2
        At least 2, as a state is always left for another.
    emission : {"categorical", "gaussian", "poisson", "mixture"} or Emission, default="gaussian"
    max_duration : int, default=10
    start, transition, durations : array-like, default=None
        First values: (n_states,), (n_states, n_states) with a zero diagonal, and
        (n_states, max_duration).
    n_init : int, default=1
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when a step raises the log-likelihood of one row by less.
    random_state : int, Generator or None, default=None

    Attributes
    ----------
    start_, transition_ : ndarray
    durations_ : ndarray of shape (n_states, max_duration)
        p(t | k) of t = 1, 2 ...
    emission_ : Emission
    history_ : History
        Log-likelihood before each iteration and at the end; it never falls.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    Texts: 001 14.2.7.

    Examples
    --------
    >>> from gnomon.sequence import DurationHMM
    >>> model = DurationHMM(2, max_duration=5, random_state=0).fit([[0, 0.1, 0, 5, 5.1, 5] * 5])
    >>> model.durations_.argmax(axis=1) + 1
    array([3, 3])
    """

    _parameter_constraints = {
        "n_states": [whole(2)],
        "emission": EMISSION,
        "max_duration": [whole(1)],
        "start": ["array-like", None],
        "transition": ["array-like", None],
        "durations": ["array-like", None],
        "n_init": [whole(1)],
        "max_iter": [whole(0)],
        "tol": [at_least(-np.inf)],
        "random_state": SEEDS,
    }
    _stored = {
        "durations_": Array("f8", ("n_states", None), low=0.0),
        "emission_": Object(),
        "start_": Array("f8", ("n_states",), low=0.0),
        "transition_": Array("f8", ("n_states", "n_states"), low=0.0),
    }

    def __init__(
        self,
        n_states: int = 2,
        emission: str | Emission = "gaussian",
        *,
        max_duration: int = 10,
        start: Any = None,
        transition: Any = None,
        durations: Any = None,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Seed = None,
    ):
        self.n_states = n_states
        self.emission = emission
        self.max_duration = max_duration
        self.start = start
        self.transition = transition
        self.durations = durations
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> DurationHMM:
        """Fit by EM.

        Parameters
        ----------
        sequences : list of sequences, or array-like of shape (n_samples, n_features)
            An array is one sequence, or several end to end with `lengths`.
        y : None
            Not used.
        lengths : array-like of int, default=None
            Lengths of the sequences in an array.

        Returns
        -------
        self : DurationHMM
        """
        law = EMISSIONS[self.emission]() if isinstance(self.emission, str) else self.emission
        law = copy.deepcopy(law)
        if hasattr(law, "know"):
            law.know(sequences)
        data = prepare(law, sequences)
        memory.require(
            8 * 5 * len(data.rows) * self.n_states * self.max_duration,
            f"DurationHMM on {len(data.rows):,} rows",
            "Use fewer rows, states or durations.",
        )
        rng = self._rng()
        tried = []
        for _ in range(self.n_init):
            self._one_fit(data, copy.deepcopy(law), rng)
            tried.append(self._public())
        for name, value in max(tried, key=lambda each: each["history_"][-1]).items():
            setattr(self, name, value)
        return self

    def _most_steps(self) -> int:
        return self.n_init * (self.max_iter + 1)

    def _one_fit(self, data, law, rng) -> None:
        k, d = self.n_states, self.max_duration
        off = 1 - np.eye(k)
        self.start_ = self._first(self.start, rng.uniform(0.5, 1.5, (1, k)), "the start")[0]
        weights = rng.uniform(0.5, 1.5, (k, k)) * off
        self.transition_ = self._first(self.transition, weights, "the transition matrix")
        if np.diag(self.transition_).any():
            raise DataError("a state is never followed by itself: the diagonal must be zero")
        self.durations_ = self._first(
            self.durations, rng.uniform(0.5, 1.5, (k, d)), "the durations"
        )
        law.begin(data.rows, k, rng)
        self.emission_ = law
        course = self._course("iteration", self.max_iter + 1)
        for step in course:
            found = self._posteriors(data)
            value = float(found.log_likelihood.sum())
            gained = value - course.history[-1] if step else np.inf
            converged = bool(gained < self.tol * len(data.rows))
            if course.end_step(value, converged, attributes=self._public):
                break
            if step < self.max_iter:
                self._maximize(found, data)
        self.history_, self.n_iter_ = course.history, len(course.history) - 1

    def _first(self, given: Any, drawn: np.ndarray, what: str) -> np.ndarray:
        if given is None:
            return drawn / drawn.sum(axis=1, keepdims=True)
        table = stochastic_rows(np.atleast_2d(given), what)
        if table.shape != drawn.shape:
            raise DataError(f"{what} has shape {table.shape}; {drawn.shape} is needed")
        return table

    def expanded(self) -> tuple[np.ndarray, np.ndarray]:
        """Start and transitions of the plain chain over (state, steps left), states first."""
        k, d = self.durations_.shape
        start = (self.start_[:, None] * self.durations_).ravel()
        moves = np.zeros((k, d, k, d))
        for state in range(k):
            for left in range(1, d):
                moves[state, left, state, left - 1] = 1
            moves[state, 0] = self.transition_[state][:, None] * self.durations_
        return start, moves.reshape(k * d, k * d)

    def _logs(self, data) -> np.ndarray:
        return np.repeat(self.emission_.log_likelihood(data.rows), self.durations_.shape[1], axis=1)

    def _posteriors(self, data) -> Posteriors:
        return posteriors(*self.expanded(), self._logs(data), data.bounds)

    def _maximize(self, found: Posteriors, data) -> None:
        k, d = self.durations_.shape
        by_state = found.states.reshape(-1, k, d)
        firsts = by_state[data.bounds[:-1][np.diff(data.bounds) > 0]].sum(axis=0)
        # pairs that leave a stay in its last step enter the next state for a new duration
        entered = found.pairs.reshape(k, d, k, d)[:, 0].copy()
        entered[np.arange(k), np.arange(k)] = 0
        self.start_ = _normalized(firsts.sum(axis=1)[None, :], self.start_[None, :])[0]
        self.transition_ = _normalized(entered.sum(axis=2), self.transition_)
        self.durations_ = _normalized(firsts + entered.sum(axis=0), self.durations_)
        self.emission_.learn(data.rows, by_state.sum(axis=2))

    @of_sequences()
    def log_likelihood(self, sequences: Sequence) -> np.ndarray:
        """log p(X) of each sequence."""
        return self._posteriors(prepare(self.emission_, sequences)).log_likelihood

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Sum of the log-likelihoods of the sequences."""
        return float(self.log_likelihood(sequences).sum())

    @of_sequences()
    def smooth(self, sequences: Sequence) -> list[np.ndarray]:
        """p(state | X) at every step."""
        data = prepare(self.emission_, sequences)
        states = self._posteriors(data).states.reshape(-1, *self.durations_.shape).sum(axis=2)
        return data.split(states)

    @of_sequences()
    def predict(self, sequences: Sequence) -> list[list[int]]:
        """Best paths of states (with their durations)."""
        data = prepare(self.emission_, sequences)
        chain = (*self.expanded(), self._logs(data), data.bounds)
        path, joint = viterbi(*chain)
        refuse_dead_ends(joint, *chain)
        return [part.tolist() for part in data.split(path // self.durations_.shape[1])]

    def sample(self, length: int, *, random_state: Seed = None) -> tuple[list[int], Any]:
        """A path of states and the observations that they emit."""
        rng = np.random.default_rng(random_state)
        path: list[int] = []
        state = int(rng.choice(len(self.start_), p=self.start_))
        while len(path) < length:
            stay = 1 + int(rng.choice(self.durations_.shape[1], p=self.durations_[state]))
            path += [state] * stay
            state = int(rng.choice(len(self.start_), p=self.transition_[state]))
        return path[:length], self.emission_.draw(np.array(path[:length]), rng)
