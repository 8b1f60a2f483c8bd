"""Hidden Markov models whose transitions depend on observed inputs (input-output models).

p(z_n = k | z_{n-1} = j, u_n) = softmax_k(w_jk'(1, u_n)). The forward and backward passes are those
of the plain model with one table of transitions for each different input; the M-step fits K
logistic regressions to the posteriors of pairs. With `InputEmission` the emissions depend on the
input too.

Texts: 001 14.2.7 (conditioning a model on inputs is named there).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from gnomon.engine import memory
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Object
from gnomon.engine.threads import one_blas_thread
from gnomon.sequence.chain import Seed
from gnomon.sequence.emissions import Emission, InputEmission, _normalized, number_rows
from gnomon.sequence.hmm import EMISSION, EMISSIONS
from gnomon.sequence.learner import SEEDS, SequenceEstimator, fits, of_sequences
from gnomon.sequence.passes import (
    Posteriors,
    Prepared,
    log_alpha,
    logsum,
    posteriors,
    prepare,
    refuse_dead_ends,
    viterbi,
)

STEPS_OF_EACH_REGRESSION = 20  # a partial M-step raises the likelihood too


@method(
    task="density",
    texts="001 14.2.7",
    use="Hidden regimes whose changes are driven by observed inputs.",
    avoid="Sequences without inputs: HiddenMarkovModel.",
    takes="sequences",
    synonyms=("iohmm", "input-output hidden Markov model"),
)
class InputHMM(SequenceEstimator):
    """Hidden Markov model whose transitions, and emissions on request, depend on inputs.

    Use it where something that is seen drives the changes of a hidden regime. Without inputs use
    `HiddenMarkovModel`; where only the labels given the inputs matter and labels are known, use
    `ChainCRF`.

    Parameters
    ----------
    n_states : int, default=2
    emission : {"categorical", "gaussian", "poisson", "mixture"} or Emission, default="gaussian"
        With `InputEmission`, rows are linear in the inputs, in each state in its own way.
    alpha : float, default=1e-3
        Times the squared weights of the transitions (not their constants), for each step.
    n_init : int, default=1
        Starts, of which the best is kept.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when a step raises the penalised log-likelihood of one row by less.
    random_state : int, Generator or None, default=None

    Attributes
    ----------
    start_ : ndarray of shape (n_states,)
    weights_ : ndarray of shape (n_states, 1 + n_inputs, n_states)
        ``weights_[j]``: constants, then weights of inputs, of the next state after j.
    emission_ : Emission
    history_ : History
        log p(X | U) less the penalty, before each iteration and at the end; it never falls.
    n_iter_ : int
        Iterations that were made.
    converged_ : bool

    Notes
    -----
    Maximises sum log p(X | U) - alpha n sum w^2 by EM whose second half makes some steps of L-BFGS.
    The input of the first step of a sequence moves nothing. Texts: 001 14.2.7.

    Examples
    --------
    A switch: the state stays where the input is 0 and changes where it is 1.

    >>> import numpy as np
    >>> from gnomon.sequence import InputHMM
    >>> rng = np.random.default_rng(0)
    >>> flips = (rng.random(200) < 0.3).astype(float)
    >>> states = np.cumsum(flips) % 2
    >>> series = 5 * states + rng.normal(0, 1, 200)
    >>> model = InputHMM(2, random_state=0).fit([series], [flips])
    >>> model.transitions([[0.0], [1.0]]).round(1)
    array([[[1. , 0. ],
            [0. , 1. ]],
    <BLANKLINE>
           [[0.1, 0.9],
            [0.9, 0.1]]])
    """

    _parameter_constraints = {
        "n_states": [whole(1)],
        "emission": EMISSION,
        "alpha": [at_least(0)],
        "n_init": [whole(1)],
        "max_iter": [whole(0)],
        "tol": [at_least(-np.inf)],
        "random_state": SEEDS,
    }
    _stored = {
        "converged_": Flag(),
        "emission_": Object(("GaussianEmission",)),
        "start_": Array("f8", ("n_states",), low=0.0),
        "weights_": Array("f8", ("n_states", None, "n_states")),
    }

    def __init__(
        self,
        n_states: int = 2,
        emission: str | Emission = "gaussian",
        *,
        alpha: float = 1e-3,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-6,
        random_state: Seed = None,
    ):
        self.n_states = n_states
        self.emission = emission
        self.alpha = alpha
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @fits("inputs")
    def fit(self, sequences: Sequence, inputs: Sequence) -> InputHMM:
        """EM over several sequences and their inputs.

        Parameters
        ----------
        sequences : list of sequences, or array-like of shape (n_samples, n_features)
            What was observed. An array is one sequence, or several end to end with `lengths`.
        inputs : list of sequences, or array-like of shape (n_samples, n_inputs)
            One number or row for each step, none missing.
        lengths : array-like of int, default=None
            Lengths of the sequences in an array.

        Returns
        -------
        self : InputHMM
        """
        law = EMISSIONS[self.emission]() if isinstance(self.emission, str) else self.emission
        law = copy.deepcopy(law)
        if hasattr(law, "know"):
            law.know(sequences)
        data, kinds, moves = self._prepared(law, sequences, inputs)
        memory.require(
            8 * (5 * len(data.rows) * self.n_states + 3 * len(kinds) * self.n_states**2),
            f"InputHMM on {len(data.rows):,} rows with {len(kinds):,} different inputs",
            "Use fewer rows or states, or round the inputs so that fewer are different.",
        )
        rng = self._rng()
        tried = []
        for _ in range(self.n_init):
            with one_blas_thread():
                self._one_fit(data, kinds, moves, copy.deepcopy(law), rng)
            tried.append(self._public())
        for name, value in max(tried, key=lambda each: each["history_"][-1]).items():
            setattr(self, name, value)
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"EM did not converge; increase max_iter (now {self.max_iter}) or tol (now "
                f"{self.tol})",
                GnomonWarning,
                stacklevel=6,
            )
        return self

    def _most_steps(self) -> int:
        return self.n_init * (self.max_iter + 1)

    def _prepared(self, law, sequences: Sequence, inputs: Sequence):
        """Rows end to end; different inputs with a leading 1; which of them each row has."""
        if len(sequences) != len(inputs):
            raise DataError(f"{len(sequences)} sequences have {len(inputs)} tables of inputs")
        tables = [number_rows(table) for table in inputs]
        for r, (sequence, table) in enumerate(zip(sequences, tables, strict=True)):
            if len(sequence) != len(table):
                raise DataError(f"sequence {r} has {len(sequence)} steps and {len(table)} inputs")
            if np.isnan(table).any():
                place = np.argwhere(np.isnan(table))[0][0]
                raise DataError(f"input {place} of sequence {r} is missing; fill it in")
        if isinstance(law, InputEmission):
            sequences = [
                np.column_stack([number_rows(x), u]) for x, u in zip(sequences, tables, strict=True)
            ]
        data = prepare(law, sequences)
        different, moves = np.unique(np.concatenate(tables), axis=0, return_inverse=True)
        kinds = np.column_stack([np.ones(len(different)), different])
        if hasattr(self, "weights_") and kinds.shape[1] != self.weights_.shape[1]:
            raise DataError(
                f"inputs have {kinds.shape[1] - 1} columns, the model {self.weights_.shape[1] - 1}"
            )
        return data, kinds, moves.ravel()

    def _one_fit(self, data: Prepared, kinds, moves, law, rng) -> None:
        k = self.n_states
        self.start_ = np.full(k, 1 / k)
        self.weights_ = rng.normal(0, 0.1, (k, kinds.shape[1], k))
        self.weights_[:, 0] += np.log(1 + 2.0 * k) * np.eye(k)
        law.begin(data.rows, k, rng)
        self.emission_ = law
        self.converged_ = False
        penalty = self.alpha * len(data.rows)
        firsts = data.bounds[:-1][np.diff(data.bounds) > 0]
        course = self._course("iteration", self.max_iter + 1)
        for step in course:
            found = self._expect(data, kinds, moves)
            squares = float((self.weights_[:, 1:] ** 2).sum())
            value = float(found.log_likelihood.sum()) - penalty * squares
            gained = value - course.history[-1] if step else np.inf
            self.converged_ = bool(gained < self.tol * len(data.rows))
            if course.end_step(value, self.converged_, attributes=self._public):
                break
            if step == self.max_iter:
                continue
            opened = found.states[firsts].sum(axis=0)
            self.start_ = _normalized(opened[None, :], self.start_[None, :])[0]
            for j in range(k):
                self.weights_[j] = _regression(self.weights_[j], kinds, found.pairs[:, j], penalty)
            self.emission_.learn(data.rows, found.states)
        self.history_, self.n_iter_ = course.history, len(course.history) - 1

    def _expect(self, data: Prepared, kinds, moves) -> Posteriors:
        logs = self.emission_.log_likelihood(data.rows)
        return posteriors(self.start_, self._tables(kinds), logs, data.bounds, moves=moves)

    def _tables(self, kinds: np.ndarray) -> np.ndarray:
        scores = np.einsum("si,jik->sjk", kinds, self.weights_)
        return np.exp(log_softmax(scores, axis=2))

    def _chain(self, sequences: Sequence, inputs: Sequence):
        data, kinds, moves = self._prepared(self.emission_, sequences, inputs)
        return data, self._tables(kinds), self.emission_.log_likelihood(data.rows), moves

    def transitions(self, inputs: Any) -> np.ndarray:
        """Tables of transitions under some inputs, of shape (n_rows, n_states, n_states)."""
        rows = number_rows(inputs)
        return self._tables(np.column_stack([np.ones(len(rows)), rows]))

    @of_sequences("inputs")
    def log_likelihood(self, sequences: Sequence, inputs: Sequence) -> np.ndarray:
        """log p(X | U) of each sequence; -inf where it is impossible."""
        data, tables, logs, moves = self._chain(sequences, inputs)
        forwards = log_alpha(self.start_, tables, logs, data.bounds, moves=moves)
        ends = data.split(forwards)
        return np.array([logsum(part[-1]) if len(part) else 0.0 for part in ends])

    @of_sequences("inputs")
    def score(self, sequences: Sequence, inputs: Sequence) -> float:
        """Sum of the log-likelihoods of the sequences."""
        return float(self.log_likelihood(sequences, inputs).sum())

    @of_sequences("inputs")
    def smooth(self, sequences: Sequence, inputs: Sequence) -> list[np.ndarray]:
        """p(state | X, U) at every step."""
        data, tables, logs, moves = self._chain(sequences, inputs)
        found = posteriors(self.start_, tables, logs, data.bounds, moves=moves)
        return data.split(found.states)

    @of_sequences("inputs")
    def predict(self, sequences: Sequence, inputs: Sequence) -> list[list[int]]:
        """Best paths of states (Viterbi)."""
        data, tables, logs, moves = self._chain(sequences, inputs)
        path, joint = viterbi(self.start_, tables, logs, data.bounds, moves=moves)
        refuse_dead_ends(joint, self.start_, tables, logs, data.bounds, moves=moves)
        return [part.tolist() for part in data.split(path)]

    def sample(self, inputs: Any, *, random_state: Seed = None) -> tuple[list[int], Any]:
        """A path of states under some inputs, and what they show."""
        rng = np.random.default_rng(random_state)
        rows = number_rows(inputs)
        tables = self.transitions(rows)
        path = np.empty(len(rows), dtype=np.int64)
        for n in range(len(rows)):
            chances = self.start_ if n == 0 else tables[n, path[n - 1]]
            path[n] = rng.choice(self.n_states, p=chances / chances.sum())
        if isinstance(self.emission_, InputEmission):
            return path.tolist(), self.emission_.draw_under(path, rows, rng)
        return path.tolist(), self.emission_.draw(path, rng)


def _regression(weights: np.ndarray, inputs: np.ndarray, counts: np.ndarray, penalty: float):
    """Weights of a softmax of the next state, from weighted counts (n_inputs, n_states)."""

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        now = flat.reshape(weights.shape)
        logs = log_softmax(inputs @ now, axis=1)
        value = penalty * float((now[1:] ** 2).sum()) - float((counts * logs).sum())
        slope = inputs.T @ (np.exp(logs) * counts.sum(axis=1, keepdims=True) - counts)
        slope[1:] += 2 * penalty * now[1:]
        return value, slope.ravel()

    found = minimize(
        loss,
        weights.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": STEPS_OF_EACH_REGRESSION},
    )
    return found.x.reshape(weights.shape)
