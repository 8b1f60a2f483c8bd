"""Markov models of order M, learned by counting.

p(x_n | x_{n-1} ... x_{n-M}) = (count of the M states before and x_n + alpha) / (count of the M
states before + alpha K). K^M (K - 1) free numbers (001 14.1 prints K^(M-1) (K - 1), which has none
right at M = 1).

Texts: 000b 13.1 · 001 14.1 · 002 L5874-6035.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, ListOf
from gnomon.sequence.chain import MarkovChain, Seed
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences


@method(
    task="forecast",
    texts="000b 13.1 · 001 14.1 · 002 L5874-6035",
    use="Sequences of few different states: the next state, scores, simulation.",
    avoid="Many different items, such as words: NGramModel.",
    peers=("pomegranate.markov_chain.MarkovChain",),
    takes="sequences",
    synonyms=("Markov chain", "transition matrix"),
)
class MarkovModel(SequenceEstimator):
    """Markov model of any order over named states, fitted to sequences by counting.

    Use it for sequences of few different states, to predict the next one, to score and to
    simulate. Where there are many items (words), most histories are never seen: `NGramModel` keeps
    only those that were, and has better smoothing.

    Parameters
    ----------
    order : int, default=1
        How many states before matter; 0 makes steps independent.
    alpha : float, default=0.0
        Added to every count. With 0, a history that was never seen has no prediction: asking for
        it is an error.
    states : sequence, default=None
        Names of all states; those seen, sorted, by default.
    sparse : bool, default=False
        Keep only the runs that were seen: for chains of up to millions of states. `alpha` must
        be 0 then, as it gives every run a probability.

    Attributes
    ----------
    states_ : list
    counts_ : ndarray of shape (n_states,) * (order + 1)
        How often each run of order + 1 states was seen; where sparse, a csr_array of shape
        (n_states ** order, n_states).
    start_ : ndarray of shape (n_states,) * order
        Probabilities of the first `order` states.

    Notes
    -----
    p(x) = p(x_1 ... x_M) prod_n p(x_n | the M states before). Texts: 000b 13.1, 001 14.1 (number of
    parameters corrected), 002 L5874-6035.

    Examples
    --------
    >>> from gnomon.sequence import MarkovModel
    >>> model = MarkovModel().fit(["aababb", "abab"])
    >>> model.transition_.round(3)
    array([[0.2  , 0.8  ],
           [0.667, 0.333]])
    >>> model.n_parameters
    2
    """

    _parameter_constraints = {
        "order": [whole(0)],
        "alpha": [at_least(0)],
        "states": ["array-like", str, None],
        "sparse": FLAG,
    }
    _stored = {
        "counts_": Array("f8", low=0.0, sparse=True),
        "start_": Array("f8", low=0.0),
        "states_": ListOf(Anything(), "n_counts"),
    }

    def __init__(
        self,
        order: int = 1,
        *,
        alpha: float = 0.0,
        states: Sequence | None = None,
        sparse: bool = False,
    ):
        self.order = order
        self.alpha = alpha
        self.states = states
        self.sparse = sparse

    @fits()
    def fit(self, sequences: Sequence[Sequence[Hashable]], y: Any = None) -> MarkovModel:
        """Count.

        Parameters
        ----------
        sequences : list of sequences of states
        y : ignored

        Returns
        -------
        self : MarkovModel
        """
        if self.sparse and self.alpha > 0:
            raise DataError("sparse counts cannot be smoothed: use alpha=0, or sparse=False")
        seen: set[Any] = {state for sequence in sequences for state in sequence}
        self.states_ = sorted(seen) if self.states is None else list(self.states)
        if not self.states_:
            raise DataError("no states: the sequences are empty; give some, or name the states")
        n = len(self.states_)
        memory.require(
            16 * n ** (self.order + (not self.sparse)),
            f"a table of all runs of {self.order + 1} of {n} states",
            "Use a lower order, sparse=True, or NGramModel, which keep the runs that were seen.",
        )
        starts = np.zeros(n**self.order)
        runs = []
        places = self._places()
        for sequence in sequences:
            codes = self._codes(sequence, places)
            if len(codes) >= self.order:
                starts[self._runs(codes[: self.order], self.order)] += 1
            runs.append(self._runs(codes, self.order + 1))
        self.counts_ = self._counted(np.concatenate(runs) if runs else np.empty(0, dtype=np.int64))
        starts += self.alpha
        total = starts.sum()
        self.start_ = (starts / total if total else starts).reshape((n,) * self.order)
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not hasattr(self, "states_"):
            return
        n = len(self.states_)
        # an order beyond the axes of the array is refused before n ** order is computed
        runs = (n,) * self.order if self.order <= self.start_.ndim else None
        counts = (n**self.order, n) if runs is not None and self.sparse else (*(runs or ()), n)
        if n == 0 or self.start_.shape != runs or self.counts_.shape != counts:
            raise ValueError("the counts are not those of runs of the states")

    def _counted(self, runs: np.ndarray) -> Any:
        n = len(self.states_)
        if not self.sparse:
            counts = np.bincount(runs, minlength=n ** (self.order + 1)).astype(float)
            return counts.reshape((n,) * (self.order + 1))
        different, counts = np.unique(runs, return_counts=True)
        shape = (n**self.order, n)
        return sp.csr_array((counts.astype(float), (different // n, different % n)), shape=shape)

    def _places(self) -> dict:
        return {state: i for i, state in enumerate(self.states_)}

    def _codes(self, sequence: Sequence[Hashable], places: dict | None = None) -> np.ndarray:
        places = self._places() if places is None else places
        for n, state in enumerate(sequence):
            if state not in places:
                raise DataError(
                    f"{state!r} at position {n} is not among the {len(places)} states; name all of "
                    "them in `states`"
                )
        return np.array([places[state] for state in sequence], dtype=np.int64)

    def _runs(self, codes: np.ndarray, length: int) -> np.ndarray:
        """Numbers of all runs of a length, in base K."""
        if len(codes) < length:
            return np.empty(0, dtype=np.int64)
        if length == 0:
            return np.zeros(1, dtype=np.int64)
        windows = np.lib.stride_tricks.sliding_window_view(codes, length)
        return windows @ len(self.states_) ** np.arange(length - 1, -1, -1)

    @property
    def n_parameters(self) -> int:
        """Free numbers of the transitions: K^M (K - 1)."""
        n = len(self.states_)
        return n**self.order * (n - 1)

    @property
    def transition_(self) -> Any:
        """Probabilities of the next state, axes as in ``counts_``; after unseen histories NaN, or
        nothing where sparse."""
        if self.sparse:
            sums = np.asarray(self.counts_.sum(axis=1)).ravel()
            shares = np.divide(1.0, sums, out=np.zeros(len(sums)), where=sums > 0)
            return sp.csr_array(sp.diags_array(shares) @ self.counts_)
        smooth = self.counts_ + self.alpha
        with np.errstate(invalid="ignore"):
            return smooth / smooth.sum(axis=-1, keepdims=True)

    def predict_next(self, history: Sequence[Hashable]) -> np.ndarray:
        """Probabilities of the state that follows; only the last `order` of the history matter."""
        if len(history) < self.order:
            raise DataError(f"a history of {self.order} states is needed, not {len(history)}")
        last = list(history[len(history) - self.order :])
        counts = self._after(self._runs(self._codes(last), self.order)) + self.alpha
        row = counts / counts.sum() if counts.any() else np.full(len(counts), np.nan)
        if np.isnan(row).any():
            raise DataError(f"{last} was never followed by anything; set alpha above 0")
        return row

    def _after(self, history: np.ndarray) -> np.ndarray:
        """Counts of what followed a history, by its number."""
        n = len(self.states_)
        if self.sparse:
            return self.counts_[history].toarray().ravel()
        return self.counts_.reshape(-1, n)[history[0]]

    def log_likelihood(self, sequence: Sequence[Hashable]) -> float:
        """Logarithm of the probability of one sequence; -inf where it is impossible."""
        codes = self._codes(sequence)
        if len(codes) < self.order:
            raise DataError(
                f"a sequence of {len(codes)} is shorter than the order {self.order}; leave it out"
            )
        first = self.start_.ravel()[self._runs(codes[: self.order], self.order)]
        runs = self._runs(codes, self.order + 1)
        if self.sparse:
            n = len(self.states_)
            steps = np.asarray(self.transition_[runs // n, runs % n]).ravel()
        else:
            steps = self.transition_.ravel()[runs]
        with np.errstate(divide="ignore"):
            return float(np.log(first).sum() + np.log(np.nan_to_num(steps)).sum())

    @of_sequences()
    def score(self, sequences: Sequence[Sequence[Hashable]], y: Any = None) -> float:
        """Sum of the log-likelihoods of some sequences."""
        return float(sum(self.log_likelihood(sequence) for sequence in sequences))

    def chain(self) -> MarkovChain:
        """The same model as a chain of first order; over tuples of states where the order is above
        1."""
        if self.sparse:
            return self._sparse_chain()
        if self.order == 0:
            row = self.transition_
            return MarkovChain(np.tile(row, (len(row), 1)), self.states_, row)
        rows = self.transition_.reshape(-1, len(self.states_))
        if np.isnan(rows).any():
            raise DataError("some histories were never seen and lead nowhere; set alpha above 0")
        return tuple_chain(rows, self.states_, self.order, self.start_.ravel())

    def _sparse_chain(self) -> MarkovChain:
        if self.order != 1:
            raise DataError("a sparse model is a chain where its order is 1")
        rows = self.transition_
        stuck = np.flatnonzero(np.diff(rows.indptr) == 0)
        if len(stuck):
            raise DataError(
                f"{self.states_[stuck[0]]!r} was never followed by anything ({len(stuck)} such "
                "states); add what follows it, such as itself, to the sequences"
            )
        return MarkovChain(rows, self.states_, self.start_)

    def sample(self, length: int, *, random_state: Seed = None) -> list:
        """A new sequence of the model, by names."""
        path = self.chain().simulate(
            max(length - max(self.order, 1), 0), random_state=random_state
        )[0]
        n, width = len(self.states_), max(self.order, 1)
        opening = [path[0] // n ** (width - 1 - i) % n for i in range(width)]
        return [self.states_[code] for code in [*opening, *(path[1:] % n)]][:length]


def tuple_chain(
    rows: np.ndarray, states: Sequence[Hashable], order: int, start: np.ndarray | None = None
) -> MarkovChain:
    """Chain over tuples of `order` states: "abcde" goes ab, bc, cd, de. rows (K^order, K)."""
    n = len(states)
    count = n**order
    memory.require(12 * count * n, f"a chain over tuples of {order} states", "Use a lower order.")
    here = np.repeat(np.arange(count), n)
    ahead = (here * n) % count + np.tile(np.arange(n), count)
    table = sp.csr_array((rows.ravel(), (here, ahead)), shape=(count, count))
    if order == 1:
        return MarkovChain(table.toarray(), states, start)
    return MarkovChain(table, list(product(states, repeat=order)), start)
