"""Hidden Markov models: a chain that is not observed, and observations that its states emit.

p(X, Z) = pi(z_1) prod_n A(z_{n-1}, z_n) prod_n p(x_n | z_n). Filtering asks p(z_n | x_1 .. x_n),
smoothing p(z_n | X), decoding the best path. Baum-Welch is EM: with the smoothed posteriors
gamma_n(k) and those of pairs xi_n(j, k),

    pi_k ~ sum gamma_1(k),   A_jk ~ sum_n xi_n(j, k),   emissions: maximum likelihood weighted by
    gamma.

Texts: 000b 13.2-13.3, 001 14.2, 002 L6337-6556. Three texts print wrong forms that let the
likelihood fall: 000b multiplies marginals where pairs are needed and sums transitions to the total
instead of to rows, its backward recursion is wrong, and 002 weights by filtered probabilities.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine import memory
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.history import History
from gnomon.engine.parameters import HasMethods, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, Flag, ListOf, Object
from gnomon.sequence import recursions
from gnomon.sequence.chain import MarkovChain, Seed, stochastic_rows
from gnomon.sequence.emissions import (
    CategoricalEmission,
    Emission,
    GaussianEmission,
    MixtureEmission,
    PoissonEmission,
    _normalized,
)
from gnomon.sequence.learner import SEEDS, SequenceEstimator, fits, of_sequences
from gnomon.sequence.passes import (
    Posteriors,
    Prepared,
    first_dead,
    hard_posteriors,
    log_alpha,
    log_beta,
    logsum,
    one_log_likelihood,
    path_log_joint,
    posteriors,
    prepare,
    refuse_dead_ends,
    refuse_impossible,
    scaled_forward,
    several_best,
    shown_by,
    viterbi,
)

EMISSIONS = {
    "categorical": CategoricalEmission,
    "gaussian": GaussianEmission,
    "poisson": PoissonEmission,
    "mixture": MixtureEmission,
}
PARTS = ("start", "transition", "emission")
EMISSION = [
    StrOptions(set(EMISSIONS)),
    HasMethods(["rows", "begin", "log_likelihood", "learn"]),
]


@dataclass(frozen=True, eq=False)
class NextObservation:
    """Distribution of a future observation: a mixture over the hidden states.

    Attributes
    ----------
    states : ndarray
        Probabilities of the state at that time.
    emission : Emission
    """

    states: np.ndarray
    emission: Any

    def log_density(self, sequence: Any) -> np.ndarray:
        """Logarithm of the probability (or density) of each of some values."""
        logs = self.emission.log_likelihood(self.emission.rows(sequence))
        largest = logs.max(axis=1, keepdims=True)
        largest = np.where(np.isfinite(largest), largest, 0.0)
        with np.errstate(divide="ignore"):
            return np.log(np.exp(logs - largest) @ self.states) + largest[:, 0]

    @property
    def symbols(self) -> np.ndarray:
        """Probabilities of the symbols, of categorical emissions."""
        return self.states @ self.emission.table

    @property
    def mean(self) -> np.ndarray:
        """Expected row, of Gaussian or Poisson emissions."""
        law = self.emission
        return self.states @ (law.means if hasattr(law, "means") else law.rates)


@method(
    task="density",
    texts="000b 13.2-13.3 · 001 14.2 · 002 L6337-6556",
    use="Sequences that move between a few hidden regimes: scores, states, simulation.",
    avoid="Labeled sequences with many dependent features: ChainCRF.",
    peers=("pomegranate.hmm.DenseHMM",),
    takes="sequences",
    synonyms=("hmm", "Baum-Welch", "Viterbi", "forward-backward", "regime switching"),
)
class HiddenMarkovModel(SequenceEstimator):
    """Hidden Markov model of several sequences, with missing observations and known states.

    Use it where a series goes through a few regimes that are not observed: parts of speech,
    machine states, volatility. Not for labelled sequences whose rows have many dependent features:
    `ChainCRF` need not explain them. The end of EM is a local maximum, so let it start several
    times (`n_init`).

    Parameters
    ----------
    n_states : int, default=2
        Ignored where names of states or parameters are given.
    emission : {"categorical", "gaussian", "poisson", "mixture"} or Emission, default="gaussian"
        Distribution of the observations; an object has its own options and known parameters.
    topology : {"any", "left-to-right"}, default="any"
        Left to right: begins in the first state and never goes back.
    max_jump : int, default=None
        Most states that one step may go ahead, left to right.
    training : {"baum-welch", "viterbi"}, default="baum-welch"
        Sums over all paths, or counts along the best one (faster, biased, not likelihood).
    frozen : tuple of {"start", "transition", "emission"}, default=()
        Parts that keep their first values.
    start, transition : array-like, default=None
        First values. Zeros stay zero.
    alpha : float, default=0.0
        Added to every count of starts and transitions that the topology allows.
    recursion : {"scaled", "log"}, default="scaled"
        Log space is slower, and right for weights of any size.
    n_init : int, default=1
        Starts, of which the best is kept.
    max_iter : int, default=200
    tol : float, default=1e-6
        Stop when a step raises the log-likelihood of one row by less.
    random_state : int, Generator or None, default=None

    Attributes
    ----------
    start_, transition_ : ndarray
    emission_ : Emission
    states_ : list
        Names: those of the labels, or 0, 1, 2 ...
    history_ : History
        Log-likelihood before each iteration and at the end (of the best paths in Viterbi training).
    n_iter_ : int
        Iterations that were made.
    converged_ : bool

    Notes
    -----
    Maximises sum_r log p(X_r) by EM, which never lowers it (`alpha` maximises the posterior under
    Dirichlet priors). Texts: 000b 13.2-13.3, 001 14.2, 002 L6337-6556; their printed updates are
    corrected, see the module.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import HiddenMarkovModel
    >>> rng = np.random.default_rng(0)
    >>> series = np.concatenate([rng.normal(0, 1, 50), rng.normal(6, 1, 50)])
    >>> model = HiddenMarkovModel(2, "gaussian", random_state=0).fit([series])
    >>> path = model.predict([series])[0]
    >>> bool(path[0] != path[-1]), len(set(path[:50]))
    (True, 1)
    """

    _parameter_constraints = {
        "n_states": [whole(1)],
        "emission": EMISSION,
        "topology": [StrOptions({"any", "left-to-right"})],
        "max_jump": [whole(1), None],
        "training": [StrOptions({"baum-welch", "viterbi"})],
        "frozen": ["array-like"],
        "start": ["array-like", None],
        "transition": ["array-like", None],
        "alpha": [at_least(0)],
        "recursion": [StrOptions({"scaled", "log"})],
        "n_init": [whole(1)],
        "max_iter": [whole(0)],
        "tol": [at_least(-np.inf)],
        "random_state": SEEDS,
    }
    _stored = {
        "converged_": Flag(),
        "emission_": Object(),
        "start_": Array("f8", ("n_states",), low=0.0),
        "states_": ListOf(Anything(), "n_states"),
        "transition_": Array("f8", ("n_states", "n_states"), low=0.0),
    }

    def __init__(
        self,
        n_states: int = 2,
        emission: str | Emission = "gaussian",
        *,
        topology: str = "any",
        max_jump: int | None = None,
        training: str = "baum-welch",
        frozen: Sequence[str] = (),
        start: Any = None,
        transition: Any = None,
        alpha: float = 0.0,
        recursion: str = "scaled",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Seed = None,
    ):
        self.n_states = n_states
        self.emission = emission
        self.topology = topology
        self.max_jump = max_jump
        self.training = training
        self.frozen = frozen
        self.start = start
        self.transition = transition
        self.alpha = alpha
        self.recursion = recursion
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def known(
        cls,
        start: Any,
        transition: Any,
        emission: Emission,
        states: Sequence | None = None,
        **options,
    ) -> HiddenMarkovModel:
        """A model with known parameters, ready to decode and to draw from.

        Parameters
        ----------
        start : array-like of shape (n_states,)
        transition : array-like of shape (n_states, n_states)
        emission : Emission
            With its parameters.
        states : sequence, default=None
            Names.
        **options
            Other parameters of the class.

        Returns
        -------
        model : HiddenMarkovModel

        Examples
        --------
        >>> model = HiddenMarkovModel.known(
        ...     [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]],
        ...     CategoricalEmission([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]))
        >>> round(float(np.exp(model.score([[0, 1, 2]]))), 5)
        0.03628
        """
        n = len(start)
        model = cls(n, emission, start=start, transition=transition, **options)
        model.start_ = stochastic_rows(np.atleast_2d(start), "the start")[0]
        model.transition_ = stochastic_rows(transition, "the transition matrix")
        if model.transition_.shape != (n, n):
            raise DataError(f"{n} states need a square transition matrix of that size")
        model.emission_ = emission
        model.states_ = list(range(n)) if states is None else list(states)
        model.history_, model.n_iter_, model.converged_ = History(), 0, True
        return model

    @fits("states")
    def fit(self, sequences: Sequence, states: Sequence | None = None) -> HiddenMarkovModel:
        """Learn from sequences, with all, some or none of their states known.

        Parameters
        ----------
        sequences : list of sequences, or array-like of shape (n_samples, n_features)
            Each a list of symbols or a table of numbers; missing ones None or NaN. An array is one
            sequence, or several end to end with `lengths`.
        states : list of sequences, default=None
            Known states, by name, None where one is not known. Where all are known, learning is
            counting, in one pass.
        lengths : array-like of int, default=None
            Lengths of the sequences in an array.

        Returns
        -------
        self : HiddenMarkovModel
        """
        self._check_options()
        law = self._law()
        if hasattr(law, "know"):
            law.know(sequences)
        data = prepare(law, sequences)
        self.states_, labels = self._labels(states, data)
        self._require_room(len(data.rows))
        rng = self._rng()
        best: dict[str, Any] = {}
        for _ in range(self.n_init if labels is None or (labels < 0).any() else 1):
            found = self._one_fit(data, labels, copy.deepcopy(law), rng)
            if not best or found["history"][-1] > best["history"][-1]:
                best = found
        self.start_, self.transition_ = best["start"], best["transition"]
        self.emission_ = best["emission"]
        self.history_, self.converged_ = best["history"], best["converged"]
        self.n_iter_ = len(self.history_) - 1
        if self.history_.stopped == "max_iter" and not self.converged_:
            warnings.warn(
                f"EM did not converge in {self.max_iter} iterations; increase max_iter (now "
                f"{self.max_iter}) or tol (now {self.tol})",
                GnomonWarning,
                stacklevel=6,
            )
        return self

    def _most_steps(self) -> int:
        return self.n_init * (self.max_iter + 1)

    def _check_options(self) -> None:
        unknown = set(self.frozen) - set(PARTS)
        if unknown:
            raise DataError(f"frozen may name {', '.join(PARTS)}, not {sorted(unknown)}")
        for part in ("start", "transition"):
            if part in self.frozen and getattr(self, part) is None:
                raise DataError(f"{part} is frozen and not given; give its values")

    def _law(self) -> Any:
        if isinstance(self.emission, str):
            return EMISSIONS[self.emission]()
        return copy.deepcopy(self.emission)

    def _labels(self, states: Sequence | None, data: Prepared) -> tuple[list, np.ndarray | None]:
        """Names of the states, and the number of each known state (-1 where it is not known)."""
        if states is None:
            count = len(self.start) if self.start is not None else self.n_states
            return list(range(count)), None
        flat = [label for path in states for label in path]
        if [len(path) for path in states] != np.diff(data.bounds).tolist():
            raise DataError("states must have the lengths of their sequences")
        seen = sorted({label for label in flat if label is not None})
        given = len(self.start) if self.start is not None else self.n_states
        whole = set(seen) <= set(range(max(given, len(seen))))
        names = list(range(max(given, len(seen)))) if whole else seen
        places = {name: k for k, name in enumerate(names)}
        return names, np.array([-1 if s is None else places[s] for s in flat], dtype=np.int64)

    def _require_room(self, n_rows: int) -> None:
        memory.require(
            8 * 5 * n_rows * len(self.states_),
            f"HiddenMarkovModel on {n_rows:,} rows x {len(self.states_)} states",
            "Use fewer rows or states.",
        )

    def _one_fit(self, data: Prepared, labels: np.ndarray | None, law: Any, rng) -> dict:
        start, transition = self._first_chain(rng)
        law.begin(data.rows, len(start), rng)
        allowed = (start > 0, transition > 0)
        known = labels is not None and (labels >= 0).all()
        clamp = None if labels is None else _clamp(labels, len(start))
        if labels is not None:
            self._begin_from_labels(law, data, labels, len(start))
        converged = False
        course = self._course("iteration", self.max_iter + 1)
        for step in course:
            found = self._expect(start, transition, law, data, clamp)
            value = float(found.log_likelihood.sum())
            gained = value - course.history[-1] if step else np.inf
            converged = bool((known and step >= 1) or gained < self.tol * len(data.rows))
            attributes = self._attributes(start, transition, law)
            if course.end_step(value, converged, attributes=attributes):
                break
            if step == self.max_iter:
                continue
            if "start" not in self.frozen:
                firsts = found.states[data.bounds[:-1][np.diff(data.bounds) > 0]]
                counts = firsts.sum(axis=0) + self.alpha * allowed[0]
                start = _normalized(counts[None, :], start[None, :])[0]
            if "transition" not in self.frozen:
                transition = _normalized(found.pairs + self.alpha * allowed[1], transition)
            if "emission" not in self.frozen:
                law.learn(data.rows, found.states)
        return {
            "start": start,
            "transition": transition,
            "emission": law,
            "history": course.history,
            "converged": converged,
        }

    def _attributes(self, start, transition, law) -> Callable[[], dict[str, Any]]:
        """What a callback needs to use the model as it is after a step."""
        return lambda: {
            "start_": start,
            "transition_": transition,
            "emission_": copy.deepcopy(law),
            "states_": self.states_,
        }

    def _begin_from_labels(
        self, law: Any, data: Prepared, labels: np.ndarray, n_states: int
    ) -> None:
        if "emission" in self.frozen:
            return
        weights = np.full((len(labels), n_states), 1e-6)
        weights[labels >= 0] = np.eye(n_states)[labels[labels >= 0]]
        law.learn(data.rows, weights)

    def _first_chain(self, rng) -> tuple[np.ndarray, np.ndarray]:
        """First start and transition: given, or drawn near uniform; zeros where the topology
        asks."""
        n = len(self.states_)
        ahead = np.ones((n, n), dtype=bool)
        begins = np.ones(n, dtype=bool)
        if self.topology == "left-to-right":
            jump = np.subtract.outer(np.arange(n), np.arange(n)) * -1
            ahead = (jump >= 0) & (jump <= (n if self.max_jump is None else self.max_jump))
            begins = np.arange(n) == 0
        start = self._known_table(self.start, (1, n), "the start")
        if start is None:
            start = _normalized((rng.uniform(0.5, 1.5, n) * begins)[None, :], None)
        transition = self._known_table(self.transition, (n, n), "the transition matrix")
        if transition is None:
            # states last a while: else the two ends of a coin flip are as good as two regimes
            weights = rng.uniform(0.5, 1.5, (n, n)) + 2.0 * n * np.eye(n)
            transition = _normalized(weights * ahead, None)
        return start[0], transition

    def _known_table(self, values: Any, shape: tuple[int, int], what: str) -> np.ndarray | None:
        if values is None:
            return None
        table = stochastic_rows(np.atleast_2d(values), what)
        if table.shape != shape:
            raise DataError(f"{what} has shape {table.shape}, the model needs {shape}")
        return table

    def _expect(
        self, start, transition, law, data: Prepared, clamp: np.ndarray | None
    ) -> Posteriors:
        logs, seen = shown_by(law, data.rows)
        if clamp is not None:
            logs, seen = np.where(clamp, logs[seen], -np.inf), np.arange(len(data.rows))
        if self.training == "viterbi":
            return hard_posteriors(start, transition, logs, data.bounds, seen=seen)
        return posteriors(start, transition, logs, data.bounds, self.recursion, seen=seen)

    def _shown(self, sequences: Sequence) -> tuple[Prepared, np.ndarray, np.ndarray]:
        data = prepare(self.emission_, sequences)
        return data, *shown_by(self.emission_, data.rows)

    @of_sequences()
    def log_likelihood(self, sequences: Sequence) -> np.ndarray:
        """log p(X) of each sequence, by the forward pass; -inf where it is impossible.

        Parameters
        ----------
        sequences : list of sequences

        Returns
        -------
        values : ndarray of shape (n_sequences,)
        """
        return np.array([self._one_log_likelihood(sequence) for sequence in sequences])

    def _one_log_likelihood(self, sequence: Any) -> float:
        _, logs, seen = self._shown([sequence])
        return one_log_likelihood(self.start_, self.transition_, logs, self.recursion, seen=seen)

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Sum of the log-likelihoods of the sequences."""
        return float(self.log_likelihood(sequences).sum())

    @of_sequences()
    def filter(self, sequences: Sequence) -> list[np.ndarray]:
        """p(z_n = k | x_1 ... x_n) at every step: what is known at that time.

        Returns
        -------
        probabilities : list of ndarray of shape (length, n_states)
        """
        data, logs, seen = self._shown(sequences)
        found = scaled_forward(self.start_, self.transition_, logs, data.bounds, seen)
        if found.stuck < 0:
            return data.split(found.alpha)
        forwards = log_alpha(self.start_, self.transition_, logs, data.bounds, seen)
        refuse_impossible(first_dead(forwards), data.bounds)
        weights = np.exp(forwards - forwards.max(axis=1, keepdims=True))
        return data.split(weights / weights.sum(axis=1, keepdims=True))

    @of_sequences()
    def smooth(self, sequences: Sequence) -> list[np.ndarray]:
        """p(z_n = k | all of X) at every step.

        Returns
        -------
        probabilities : list of ndarray of shape (length, n_states)
        """
        data, logs, seen = self._shown(sequences)
        found = posteriors(
            self.start_, self.transition_, logs, data.bounds, self.recursion, seen=seen
        )
        return data.split(found.states)

    def pair_posteriors(self, sequence: Any) -> np.ndarray:
        """p(z_n = j, z_{n+1} = k | X) of one sequence, of shape (length - 1, n_states,
        n_states)."""
        data, logs, seen = self._shown([sequence])
        forwards = log_alpha(self.start_, self.transition_, logs, data.bounds, seen)
        refuse_impossible(first_dead(forwards), data.bounds)
        backwards = log_beta(self.transition_, logs, data.bounds, seen)
        with np.errstate(divide="ignore"):
            moves = np.log(self.transition_)
        ahead = (logs[seen] + backwards)[1:, None, :]
        return np.exp(forwards[:-1, :, None] + moves + ahead - logsum(forwards[-1]))

    @of_sequences()
    def instantaneous(self, sequences: Sequence) -> list[np.ndarray]:
        """p(z_n = k | x_n alone), with prior pi A^(n-1): the baseline that filtering improves on.

        Texts: 002 L6439-6447 (the index in the denominator is wrong there).
        """
        data, logs, seen = self._shown(sequences)
        found = []
        for r, part in enumerate(data.split(logs[seen])):
            prior = self.start_
            rows = np.empty_like(part)
            for n, row in enumerate(part):
                with np.errstate(divide="ignore"):
                    joint = np.log(prior) + row
                if np.isneginf(joint).all():
                    raise DataError(
                        f"observation {n} of sequence {r} is impossible: no state that can be "
                        "reached by then shows it. Smooth the probabilities (alpha), or mark it "
                        "as missing"
                    )
                weights = np.exp(joint - joint.max())
                rows[n] = weights / weights.sum()
                prior = prior @ self.transition_
            found.append(rows)
        return found

    @of_sequences()
    def predict(self, sequences: Sequence) -> list[list]:
        """Best paths of states (Viterbi), by name."""
        return self.decode(sequences)[0]

    @of_sequences()
    def decode(self, sequences: Sequence, method: str = "viterbi") -> tuple[list[list], np.ndarray]:
        """States of each sequence, by name, and log p(X, path).

        Parameters
        ----------
        sequences : list of sequences
        method : {"viterbi", "posterior"}, default="viterbi"
            The path of highest joint probability, or the most probable state of each step: more
            single states right on average, though their path may be impossible (a warning says so,
            and its log p is -inf).

        Returns
        -------
        paths : list of list
        log_joint : ndarray of shape (n_sequences,)
        """
        data, logs, seen = self._shown(sequences)
        chain = (self.start_, self.transition_, logs)
        if method == "viterbi":
            path, joint = viterbi(*chain, data.bounds, seen=seen)
            refuse_dead_ends(joint, *chain, data.bounds, seen=seen)
        elif method == "posterior":
            path = posteriors(*chain, data.bounds, self.recursion, seen=seen).states.argmax(axis=1)
            joint = path_log_joint(*chain, path, data.bounds, seen=seen)
            self._warn_of_gaps(joint)
        else:
            raise DataError(f"method is 'viterbi' or 'posterior', not {method!r}")
        return [self._named(part) for part in data.split(path)], joint

    def _named(self, path: np.ndarray) -> list:
        if self.states_ == list(range(len(self.states_))):
            return path.tolist()
        return [self.states_[k] for k in path.tolist()]

    def k_best(self, sequence: Any, n_paths: int) -> tuple[list[list], np.ndarray]:
        """The most probable paths of states of one sequence, best first, and log p(X, path).

        Parameters
        ----------
        sequence : sequence
        n_paths : int
            Fewer come back where fewer are possible.

        Returns
        -------
        paths : list of list
            By the names of their states.
        log_joint : ndarray

        Notes
        -----
        Each state keeps its best ways there (list Viterbi). The shares
        ``exp(log_joint - log_likelihood)`` say how sure the best path is.

        Examples
        --------
        >>> model = HiddenMarkovModel.known(
        ...     [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]],
        ...     CategoricalEmission([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]]), states="HC")
        >>> paths, logs = model.k_best([0, 1, 2], 2)
        >>> ["".join(path) for path in paths], np.exp(logs).round(5)
        (['HHC', 'HCC'], array([0.01512, 0.00972]))
        """
        _, logs, seen = self._shown([sequence])
        with np.errstate(divide="ignore"):
            log_start, log_transition = np.log(self.start_), np.log(self.transition_)
        paths, joint = several_best(log_start, log_transition, logs, n_paths, seen=seen)
        if len(paths) == 0:
            bounds = np.array([0, len(seen)])
            dead = log_alpha(self.start_, self.transition_, logs, bounds, seen)
            refuse_impossible(first_dead(dead), bounds)
        return [self._named(path) for path in paths], joint

    def _warn_of_gaps(self, joint: np.ndarray) -> None:
        if np.isneginf(joint).any():
            warnings.warn(
                "the most probable states of sequence "
                f"{np.flatnonzero(np.isneginf(joint))[0]} follow each other by a "
                "transition of probability 0; for a possible path use "
                "method='viterbi'",
                GnomonWarning,
                stacklevel=3,
            )

    def log_joint(self, sequence: Any, path: Sequence[Hashable]) -> float:
        """log p(X, Z) of one sequence and one path of states, by name."""
        data, logs, seen = self._shown([sequence])
        places = {name: k for k, name in enumerate(self.states_)}
        codes = np.array([places[name] for name in path], dtype=np.int64)
        chain = (self.start_, self.transition_, logs)
        return float(path_log_joint(*chain, codes, data.bounds, seen=seen)[0])

    def costs(self, sequence: Any) -> tuple[np.ndarray, np.ndarray]:
        """Costs whose least sum is the best path's: of nodes (length, n_states) and of edges.

        Minus logarithms of p(x_n | k), with the start's in the first row, and of the transitions;
        for `least_cost_path` and the picture `trellis_replay`.
        """
        _, logs, seen = self._shown([sequence])
        with np.errstate(divide="ignore"):
            log_start, log_transition = np.log(self.start_), np.log(self.transition_)
        nodes = -logs[seen]
        if len(nodes):
            nodes[0] -= log_start
        return nodes, -log_transition

    def predict_states(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """p(z_{N+i} | X) for i = 1 ... n_steps, of shape (n_steps, n_states)."""
        now = self.filter([sequence])[0][-1] if len(sequence) else None
        rows = np.empty((n_steps, len(self.start_)))
        for i in range(n_steps):
            now = self.start_ if now is None else now @ self.transition_
            rows[i] = now
        return rows

    def predict_observation(self, sequence: Any, n_steps: int = 1) -> NextObservation:
        """Distribution of the observation `n_steps` after the end of a sequence.

        Texts: 001 eq. 13.30, 002 L6400-6404.
        """
        return NextObservation(self.predict_states(sequence, n_steps)[-1], self.emission_)

    def online(self) -> OnlineFilter:
        """A filter that takes one observation at a time."""
        return OnlineFilter(self)

    def sample(self, length: int, *, random_state: Seed = None) -> tuple[list, Any]:
        """A path of states, by name, and the observations that they emit."""
        rng = np.random.default_rng(random_state)
        path = np.empty(length, dtype=np.int64)
        if length:
            first = int(rng.choice(len(self.start_), p=self.start_ / self.start_.sum()))
            ladder = np.cumsum(self.transition_, axis=1)
            recursions.walk(first, ladder, rng.random(length), path)
        return [self.states_[k] for k in path], self.emission_.draw(path, rng)

    def chain(self) -> MarkovChain:
        """The hidden chain."""
        return MarkovChain(self.transition_, self.states_, self.start_)

    @property
    def n_parameters(self) -> int:
        """Free numbers: entries that are not zero, less one for each row, and the emissions'."""
        rows = [self.start_, *self.transition_]
        return sum(int((row > 0).sum()) - 1 for row in rows) + self.emission_.n_parameters()

    @of_sequences()
    def bic(self, sequences: Sequence) -> float:
        """-2 log p + parameters x log of the number of rows: lower is better."""
        n_rows = sum(len(sequence) for sequence in sequences)
        return -2 * self.score(sequences) + self.n_parameters * float(np.log(n_rows))

    @of_sequences()
    def aic(self, sequences: Sequence) -> float:
        """-2 log p + 2 x parameters: lower is better."""
        return -2 * self.score(sequences) + 2 * self.n_parameters


class OnlineFilter:
    """State probabilities after each observation, and the running log-likelihood.

    Made by `HiddenMarkovModel.online`.

    Attributes
    ----------
    states : ndarray
        p(z_n | x_1 ... x_n).
    log_likelihood : float
    n_seen : int
    """

    def __init__(self, model: HiddenMarkovModel):
        self.model = model
        self.states = model.start_
        self.log_likelihood = 0.0
        self.n_seen = 0

    def update(self, observation: Any) -> np.ndarray:
        """Take in one observation; the new state probabilities."""
        law = self.model.emission_
        logs = law.log_likelihood(law.rows([observation]))[0]
        ahead = self.states @ self.model.transition_ if self.n_seen else self.states
        shift = logs.max()
        joint = ahead * np.exp(logs - shift) if np.isfinite(shift) else np.zeros(len(logs))
        total = joint.sum()
        if not total > 0:
            raise DataError(
                f"observation {self.n_seen} ({observation!r}) is impossible in every state"
            )
        self.states = joint / total
        self.log_likelihood += float(np.log(total) + shift)
        self.n_seen += 1
        return self.states


def _clamp(labels: np.ndarray, n_states: int) -> np.ndarray:
    allowed = np.ones((len(labels), n_states), dtype=bool)
    known = labels >= 0
    allowed[known] = np.eye(n_states, dtype=bool)[labels[known]]
    return allowed
