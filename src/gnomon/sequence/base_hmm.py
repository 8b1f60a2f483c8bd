"""Hidden Markov models under hmmlearn's names: the part that does not depend on the emissions.

EM: with the smoothed probabilities of states gamma and the sums xi of those of pairs of states,

    startprob ~ startprob_prior - 1 + sum of gamma at the first rows of the sequences,
    transmat ~ transmat_prior - 1 + xi, row by row.

Parameters, attributes and methods have hmmlearn's names, order, defaults and meaning. The forward
and backward passes run over all sequences in one call. Texts: 000b 13.2-13.3 · 001 14.2.
"""

from __future__ import annotations

import logging
import string
import sys
from typing import Any

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, SEED, StrOptions, at_least, validated, whole
from gnomon.engine.storable import storable
from gnomon.engine.stored import Array, Flag, ListOf, Number, Object, Optional, Whole
from gnomon.sequence.chain import MarkovChain
from gnomon.sequence.emissions import _normalized
from gnomon.sequence.learner import SequenceEstimator, as_sequences
from gnomon.sequence.passes import (
    Posteriors,
    one_log_likelihood,
    posteriors,
    scaled_forward,
    viterbi,
)

log = logging.getLogger(__name__)
SUM_TOLERANCE = 1e-6  # rows of probabilities that users write down to seven digits pass
PRIOR = [at_least(0), "array-like"]
# Texts of parameters that classes of several files share, for their docstrings.
HMM_PARAMETERS = """\
n_components : int
    Number of states.
algorithm : {"viterbi", "map"}
    How `decode` and `predict` find states: the most probable path, or the most probable state
    of each row.
random_state : int, RandomState instance or None
n_iter : int
    Maximum number of iterations of EM.
verbose : bool
    Whether every iteration is printed to stderr.
implementation : {"log", "scaling"}
    Has no effect here: both use the scaled recursion.
"""


@storable
class ConvergenceMonitor:
    """Keeps the log-likelihood of every iteration and decides when EM has converged.

    Set a model's ``monitor_`` to an object of a subclass with another ``converged`` to change the
    rule.

    Parameters
    ----------
    tol : float
        EM has converged when an iteration raises the log-likelihood by less.
    n_iter : int
        Maximum number of iterations.
    verbose : bool
        Whether every iteration is printed to stderr.

    Attributes
    ----------
    history : list of float
        Log-likelihood of each iteration.
    iter : int
        Number of iterations.

    Examples
    --------
    >>> from gnomon.sequence import ConvergenceMonitor
    >>> monitor = ConvergenceMonitor(tol=0.1, n_iter=10, verbose=False)
    >>> for log_prob in (-9.0, -5.0, -4.95):
    ...     monitor.report(log_prob)
    >>> monitor.converged
    True
    """

    _template = "{iter:>10d} {log_prob:>16.8f} {delta:>+16.8f}"
    _stored = {
        "history": ListOf(Number()),
        "iter": Whole(),
        "n_iter": Whole(),
        "tol": Number(),
        "verbose": Flag(),
    }

    def __init__(self, tol: float, n_iter: int, verbose: bool):
        self.tol = tol
        self.n_iter = n_iter
        self.verbose = verbose
        self.history: list[float] = []
        self.iter = 0

    def _reset(self) -> None:
        self.history.clear()
        self.iter = 0

    def report(self, log_prob: float) -> None:
        """Record the log-likelihood of an iteration.

        Parameters
        ----------
        log_prob : float
        """
        gain = log_prob - self.history[-1] if self.history else np.nan
        if self.verbose:
            line = self._template.format(iter=self.iter + 1, log_prob=log_prob, delta=gain)
            print(line, file=sys.stderr)
        if gain < -np.sqrt(np.finfo(float).eps):
            log.warning("The log-likelihood fell by %g in iteration %d.", -gain, self.iter + 1)
        self.history.append(float(log_prob))
        self.iter += 1

    @property
    def converged(self) -> bool:
        """Whether EM has converged, or has made all its iterations."""
        slow = len(self.history) >= 2 and self.history[-1] - self.history[-2] < self.tol
        return self.iter == self.n_iter or slow

    def __repr__(self) -> str:
        return (
            f"ConvergenceMonitor(tol={self.tol}, n_iter={self.n_iter}, iter={self.iter}, "
            f"history={self.history})"
        )


class BaseHMM(SequenceEstimator):
    """Base class of hidden Markov models under hmmlearn's names.

    A subclass gives ``_compute_log_likelihood(X)`` and what it needs of ``_init``, ``_check``,
    ``_learn_emissions``, ``_generate_sample_from_state`` and ``_get_n_fit_scalars_per_param``.
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "startprob_prior": PRIOR,
        "transmat_prior": PRIOR,
        "algorithm": [StrOptions({"viterbi", "map"})],
        "random_state": SEED,
        "n_iter": [whole(0)],
        "tol": [at_least(-np.inf)],
        "verbose": FLAG,
        "params": [str],
        "init_params": [str],
        "implementation": [StrOptions({"log", "scaling"})],
    }
    _stored = {
        "_monitor": Object(("ConvergenceMonitor",)),
        "n_features": Optional(Whole()),
        "startprob_": Array("f8", ("n_components",), low=0.0),
        "transmat_": Array("f8", ("n_components", "n_components"), low=0.0),
    }

    def __init__(
        self,
        n_components=1,
        startprob_prior=1.0,
        transmat_prior=1.0,
        algorithm="viterbi",
        random_state=None,
        n_iter=10,
        tol=1e-2,
        verbose=False,
        params=string.ascii_letters,
        init_params=string.ascii_letters,
        implementation="log",
    ):
        self.n_components = n_components
        self.startprob_prior = startprob_prior
        self.transmat_prior = transmat_prior
        self.algorithm = algorithm
        self.random_state = random_state
        self.n_iter = n_iter
        self.tol = tol
        self.verbose = verbose
        self.params = params
        self.init_params = init_params
        self.implementation = implementation

    @property
    def monitor_(self) -> ConvergenceMonitor:
        """The log-likelihood of every iteration; assign another to change when EM stops."""
        if "_monitor" not in vars(self):
            return ConvergenceMonitor(self.tol, self.n_iter, self.verbose)
        return self._monitor

    @monitor_.setter
    def monitor_(self, monitor: ConvergenceMonitor) -> None:
        self._monitor = monitor

    def _most_steps(self) -> int:
        return self.n_iter

    @validated
    @with_callbacks
    def fit(self, X, lengths=None):
        """Estimate the parameters by EM.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
            One sequence, sequences end to end with `lengths`, or a list of sequences.
        lengths : array-like of int of shape (n_sequences,), default=None
            Lengths of the sequences in `X`.

        Returns
        -------
        self : object
        """
        rows, bounds = self._rows_of(X, lengths)
        self._init(rows, np.diff(bounds))
        self._check()
        monitor = self.monitor_
        monitor._reset()
        if type(monitor) is ConvergenceMonitor:
            monitor.tol, monitor.n_iter, monitor.verbose = self.tol, self.n_iter, self.verbose
        self._monitor = monitor
        memory.require(
            8 * 5 * len(rows) * self.n_components,
            f"{type(self).__name__} on {len(rows):,} rows x {self.n_components} states",
            "Use fewer rows or states.",
        )
        with self._reported(self.n_iter):
            course = self._course("iteration", self.n_iter)
            for _ in course:
                found = self._expect(rows, bounds)
                log_prob = float(found.log_likelihood.sum())
                self._learn_chain(found, bounds)
                self._learn_emissions(rows, found.states)
                monitor.report(log_prob)
                if course.end_step(log_prob, bool(monitor.converged), attributes=self._public):
                    break
            self.history_, self.n_iter_ = course.history, len(course.history)
        return self

    def _rows_of(self, X: Any, lengths: Any) -> tuple[np.ndarray, np.ndarray]:
        """All rows end to end, and the bounds of the sequences."""
        if lengths is None and isinstance(X, (list, tuple)) and len(X) and np.ndim(X[0]) == 2:
            parts = [check_array(part) for part in X]
            if len({part.shape[1] for part in parts}) > 1:
                raise DataError("sequences have different numbers of columns")
        else:
            parts = list(as_sequences(check_array(X), lengths))
        bounds = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
        return parts[0] if len(parts) == 1 else np.concatenate(parts), bounds

    def _expect(self, rows: np.ndarray, bounds: np.ndarray) -> Posteriors:
        logs = self._compute_log_likelihood(rows)
        return posteriors(self.startprob_, self.transmat_, logs, bounds)

    def _learn_chain(self, found: Posteriors, bounds: np.ndarray) -> None:
        """Most probable start and transitions given the expected counts; zeros stay zero."""
        if "s" in self.params:
            counts = np.asarray(self.startprob_prior) - 1 + found.states[bounds[:-1]].sum(axis=0)
            counts = np.where(self.startprob_ > 0, np.maximum(counts, 0), 0)
            self.startprob_ = _normalized(counts[None, :], self.startprob_[None, :])[0]
        if "t" in self.params:
            counts = np.maximum(np.asarray(self.transmat_prior) - 1 + found.pairs, 0)
            counts = np.where(self.transmat_ > 0, counts, 0)
            self.transmat_ = _normalized(counts, self.transmat_)

    def _learn_emissions(self, rows: np.ndarray, weights: np.ndarray) -> None:
        """New emission parameters from rows weighted by the probabilities of the states."""

    def _compute_log_likelihood(self, X: np.ndarray) -> np.ndarray:
        """log p(row | state), of shape (n_samples, n_components)."""
        raise NotImplementedError

    def _generate_sample_from_state(self, state: int, random_state: np.random.RandomState) -> Any:
        """A row that a state emits."""
        return ()

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        """Number of free parameters, by the letter of `params`."""
        n = self.n_components
        return {"s": n - 1, "t": n * (n - 1)}

    def _init(self, X: np.ndarray, lengths: Any = None) -> None:
        """First values of the parameters whose letters are in `init_params` or that are not set."""
        self._check_and_set_n_features(X)
        rng = check_random_state(self.random_state)
        weights = np.full(self.n_components, 1 / self.n_components)
        if self._needs_init("s", "startprob_"):
            self.startprob_ = rng.dirichlet(weights)
        if self._needs_init("t", "transmat_"):
            self.transmat_ = rng.dirichlet(weights, size=self.n_components)
        sizes = self._get_n_fit_scalars_per_param()
        free = sum(sizes.get(letter, 0) for letter in self.params)
        if X.size < free:
            log.warning(
                "Fitting %d free parameters to only %d numbers will result in a degenerate "
                "solution.",
                free,
                X.size,
            )

    def _needs_init(self, letter: str, name: str) -> bool:
        is_set = hasattr(self, name)
        if letter in self.init_params and is_set:
            log.warning(
                "The attribute %r is set, but it will be overwritten because init_params "
                "contains %r.",
                name,
                letter,
            )
        return letter in self.init_params or not is_set

    def _check_and_set_n_features(self, X: np.ndarray) -> None:
        known = vars(self).get("n_features")
        if known is not None and known != X.shape[1]:
            raise DataError(f"X has {X.shape[1]} columns, but the model has {known}")
        self.n_features = X.shape[1]

    def _check(self) -> None:
        """Raise ValueError where the parameters of the model do not fit together."""
        n = self.n_components
        self.startprob_ = _distributions("startprob_", self.startprob_, (n,))
        self.transmat_ = _distributions("transmat_", self.transmat_, (n, n))

    def _fitted_rows(self, X: Any, lengths: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self, "startprob_")
        self._check()
        return self._rows_of(X, lengths)

    def score(self, X, lengths=None) -> float:
        """Log-likelihood of all sequences.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None

        Returns
        -------
        log_prob : float
        """
        rows, bounds = self._fitted_rows(X, lengths)
        logs = self._compute_log_likelihood(rows)
        found = scaled_forward(self.startprob_, self.transmat_, logs, bounds)
        if found.stuck < 0:
            return float(np.log(found.scale).sum() + found.shift.sum())
        parts = np.split(logs, bounds[1:-1])
        return float(sum(one_log_likelihood(self.startprob_, self.transmat_, p) for p in parts))

    def score_samples(self, X, lengths=None) -> tuple[float, np.ndarray]:
        """Log-likelihood of all sequences, and the probabilities of the states at every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None

        Returns
        -------
        log_prob : float
        posteriors : ndarray of shape (n_samples, n_components)
        """
        found = self._expect(*self._fitted_rows(X, lengths))
        states = found.states / found.states.sum(axis=1, keepdims=True)
        return float(found.log_likelihood.sum()), states

    def decode(self, X, lengths=None, algorithm=None) -> tuple[float, np.ndarray]:
        """Most probable states of the sequences.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None
        algorithm : {"viterbi", "map"}, default=None
            The most probable path, or the most probable state of each row; by default the
            parameter of that name.

        Returns
        -------
        log_prob : float
            log p(X, path) for "viterbi"; the sum of the largest probabilities for "map".
        state_sequence : ndarray of shape (n_samples,)
        """
        rows, bounds = self._fitted_rows(X, lengths)
        chosen = algorithm or self.algorithm
        if chosen not in ("viterbi", "map"):
            raise DataError(f"algorithm is 'viterbi' or 'map', not {chosen!r}")
        if chosen == "map":
            states = self._expect(rows, bounds).states
            return float(states.max(axis=1).sum()), states.argmax(axis=1)
        logs = self._compute_log_likelihood(rows)
        path, joint = viterbi(self.startprob_, self.transmat_, logs, bounds)
        return float(joint.sum()), path

    def predict(self, X, lengths=None) -> np.ndarray:
        """Most probable states of the sequences, by `algorithm`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None

        Returns
        -------
        state_sequence : ndarray of shape (n_samples,)
        """
        return self.decode(X, lengths)[1]

    def predict_proba(self, X, lengths=None) -> np.ndarray:
        """Probabilities of the states at every row, given the whole sequence.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None

        Returns
        -------
        posteriors : ndarray of shape (n_samples, n_components)
        """
        return self.score_samples(X, lengths)[1]

    def sample(self, n_samples=1, random_state=None, currstate=None):
        """Draw a sequence from the model.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int or RandomState, default=None
            By default the parameter of that name.
        currstate : int, default=None
            The first state; drawn from ``startprob_`` by default.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        state_sequence : ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "startprob_")
        self._check()
        rng = check_random_state(self.random_state if random_state is None else random_state)
        steps = np.cumsum(self.transmat_, axis=1)
        if currstate is None:
            currstate = int((np.cumsum(self.startprob_) > rng.rand()).argmax())
        states = [currstate]
        rows = [self._generate_sample_from_state(currstate, rng)]
        for _ in range(n_samples - 1):
            states.append(int((steps[states[-1]] > rng.rand()).argmax()))
            rows.append(self._generate_sample_from_state(states[-1], rng))
        return np.atleast_2d(rows), np.array(states, dtype=int)

    def get_stationary_distribution(self) -> np.ndarray:
        """The distribution of states that the transitions leave as it is.

        Returns
        -------
        probabilities : ndarray of shape (n_components,)
        """
        check_is_fitted(self, "transmat_")
        return MarkovChain(self.transmat_).stationary()

    def aic(self, X, lengths=None) -> float:
        """Akaike's information criterion, -2 log p + 2 parameters; lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None

        Returns
        -------
        aic : float
        """
        return -2 * self.score(X, lengths) + 2 * self._n_parameters()

    def bic(self, X, lengths=None) -> float:
        """Bayesian information criterion, -2 log p + parameters x log n; lower is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or list of such arrays
        lengths : array-like of int of shape (n_sequences,), default=None

        Returns
        -------
        bic : float
        """
        n_rows = len(self._fitted_rows(X, lengths)[0])
        return -2 * self.score(X, lengths) + self._n_parameters() * float(np.log(n_rows))

    def _n_parameters(self) -> int:
        return sum(self._get_n_fit_scalars_per_param().values())


def _distributions(name: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Probabilities of the given shape whose last axis sums to one, or an error."""
    table = np.array(values, dtype=np.float64)
    if table.shape != shape:
        raise DataError(f"{name} has shape {table.shape}; it must have shape {shape}")
    if not (table >= 0).all():
        raise DataError(f"{name} holds numbers that are not probabilities")
    sums = table.sum(axis=-1)
    if (np.abs(sums - 1) > SUM_TOLERANCE).any():
        raise DataError(f"{name} must sum to 1; the sums are {sums}")
    return table
