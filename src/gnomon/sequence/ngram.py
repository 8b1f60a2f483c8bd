"""n-gram models: the next item given the n - 1 items before it, by smoothed counts.

Five ways to treat n-grams that were never seen (c counts n-grams, N their number, K the alphabet's
size, U = K^n less the number of different n-grams seen):

- none: p(x | h) = c(hx) / c(h);
- constant: the joint p(hx) is c / N where seen and epsilon where not, divided by its sum;
- split: seen ones share 1 - epsilon, the unseen ones epsilon / U each (000b's choice);
- add: p(x | h) = (c(hx) + epsilon) / (c(h) + epsilon K);
- back-off: p(x | h) = max(c(hx) - epsilon, 0) / c(h) + epsilon (kinds of x after h) / c(h)
  p(x | shorter h), down to the uniform law.

The first two are smoothed as joint probabilities and divided by the history's sum, so that a
history never seen is followed by anything with equal probability.

Texts: 000b 13.1.3, 13.2.4 · 002 L5143-5274 (neither smooths by shorter histories).
"""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.parameters import StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, DictOf, ListOf, Whole
from gnomon.sequence.chain import MarkovChain, Seed
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.markov_model import tuple_chain

LETTERS = "abcdefghijklmnopqrstuvwxyz "
SMOOTHINGS = ("none", "constant", "split", "add", "back-off")
# Judgement: amounts that are usual for each smoothing (1.0: Laplace); `epsilon` sets it.
DEFAULT_EPSILON = {"none": 0.0, "constant": 1e-9, "split": 0.1, "add": 1.0, "back-off": 0.75}


def plain_letters(text: str) -> str:
    """Text in 27 symbols: lower case, spaces merged, all else dropped (000b 13.1.3).

    Examples
    --------
    >>> plain_letters("It's  a\\nDog.")
    'its a dog'
    """
    spaced = re.sub(r"\s+", " ", text.lower())
    return re.sub(r" +", " ", re.sub(r"[^a-z ]", "", spaced)).strip()


@method(
    task="forecast",
    texts="000b 13.1.3 · 002 L5143-5274",
    use="Sequences of letters, words or notes: scores, the next item, generation.",
    avoid="Few states and exact tables: MarkovModel.",
    peers=("nltk.lm.MLE",),
    takes="sequences",
    synonyms=("n-gram", "language model", "bigram", "trigram", "back-off"),
)
class NGramModel(SequenceEstimator):
    """n-gram model of letters, words, notes or any items: score, guess, generate.

    Use it to give sequences of many different items a probability, or as the transitions of a
    hidden Markov model. Not for few states: `MarkovModel` is simpler and exact.

    Parameters
    ----------
    n : int, default=3
        Length of the runs that are counted; the n - 1 items before decide what follows.
    smoothing : {"none", "constant", "split", "add", "back-off"}, default="split"
        What the unseen get; see the module.
    epsilon : float, default=None
        Its amount; by default 1e-9, 0.1, 1 and 0.75 in the order above.
    alphabet : sequence, default=None
        All items; those seen, sorted, by default.

    Attributes
    ----------
    alphabet_ : list
    counts_ : list of dict
        ``counts_[m][history][item]`` of runs of m + 1 items.
    n_different_, n_runs_ : list of int
        How many different runs of m + 1 items there were, and how many in all.

    Notes
    -----
    p(x_1 ... x_L) = prod p(x_l | the n - 1 items before), where the first items are scored with the
    shorter histories they have. Texts: 000b 13.1.3, 002 L5143-5274.

    Examples
    --------
    >>> from gnomon.sequence import NGramModel
    >>> model = NGramModel(2, smoothing="none").fit(["abab", "abba"])
    >>> model.probabilities("a")
    array([0., 1.])
    >>> model.guess("a")
    'b'
    >>> round(model.unseen_fraction(), 2)
    0.25
    """

    _parameter_constraints = {
        "n": [whole(1)],
        "smoothing": [StrOptions(set(SMOOTHINGS))],
        "epsilon": [at_least(0), None],
        "alphabet": ["array-like", str, None],
    }
    _stored = {
        "alphabet_": ListOf(Anything()),
        "counts_": ListOf(DictOf(DictOf(Whole())), "n_counts"),
        "n_different_": ListOf(Whole(), "n_counts"),
        "n_runs_": ListOf(Whole(), "n_counts"),
    }

    def __init__(
        self,
        n: int = 3,
        *,
        smoothing: str = "split",
        epsilon: float | None = None,
        alphabet: Sequence[Hashable] | None = None,
    ):
        self.n = n
        self.smoothing = smoothing
        self.epsilon = epsilon
        self.alphabet = alphabet

    @fits()
    def fit(self, sequences: Sequence[Sequence[Hashable]], y: Any = None) -> NGramModel:
        """Count the runs of 1 ... n items of each sequence.

        Parameters
        ----------
        sequences : list of sequences
            A list of strings has letters as items; a list of lists of words has words.
        y : ignored

        Returns
        -------
        self : NGramModel
        """
        self._check_epsilon()
        seen: set[Any] = {item for sequence in sequences for item in sequence}
        self.alphabet_ = sorted(seen) if self.alphabet is None else list(self.alphabet)
        strange = seen - set(self.alphabet_)
        if strange:
            raise DataError(
                f"{sorted(strange, key=repr)[:5]} are not in the alphabet; add them to it"
            )
        if not seen:
            raise DataError("the sequences hold no items")
        self.counts_ = [_counted(sequences, m + 1) for m in range(self.n)]
        rows = [list(table.values()) for table in self.counts_]
        self.n_different_ = [sum(map(len, each)) for each in rows]
        self.n_runs_ = [sum(sum(row.values()) for row in each) for each in rows]
        self._warn_of_unseen_mass()
        return self

    def _check_epsilon(self) -> None:
        amount = self._amount
        low, high = {"split": (0, 1), "back-off": (0, 1)}.get(self.smoothing, (0, np.inf))
        if not low <= amount <= high:
            raise DataError(f"epsilon is {amount}; {self.smoothing} needs {low} to {high}")

    @property
    def _amount(self) -> float:
        return DEFAULT_EPSILON[self.smoothing] if self.epsilon is None else self.epsilon

    def _warn_of_unseen_mass(self) -> None:
        if self.smoothing != "constant":
            return
        mass = self._amount * self._n_unseen(self.n - 1)
        if mass > 1:
            warnings.warn(
                f"{mass / (1 + mass):.0%} of the probability goes to {self.n}-grams that were "
                "never seen; lower epsilon or use smoothing='split'",
                GnomonWarning,
                stacklevel=3,
            )

    def _n_unseen(self, m: int) -> int:
        return len(self.alphabet_) ** (m + 1) - self.n_different_[m]

    def unseen_fraction(self) -> float:
        """Share of the K^n possible n-grams that never occurred."""
        return self._n_unseen(self.n - 1) / len(self.alphabet_) ** self.n

    def probabilities(self, history: Sequence[Hashable] = ()) -> np.ndarray:
        """Probabilities of the next item, in the order of ``alphabet_``; zeros where none is known.

        Parameters
        ----------
        history : sequence
            Only its last n - 1 items matter; where it has fewer, shorter runs are used.
        """
        items = tuple(history)
        return self._after(items[max(len(items) - self.n + 1, 0) :])

    def _after(self, history: tuple) -> np.ndarray:
        counts = self._row(history)
        k, total, amount = len(counts), counts.sum(), self._amount
        if self.smoothing == "back-off":
            shorter = self._after(history[1:]) if history else np.full(k, 1 / k)
            if total == 0:
                return shorter
            freed = np.minimum(counts, amount).sum() / total
            return np.maximum(counts - amount, 0) / total + freed * shorter
        if self.smoothing == "add":
            joint = counts + amount
        elif self.smoothing == "none":
            joint = counts
        else:
            joint = self._joint(counts, len(history))
        mass = joint.sum()
        return joint / mass if mass > 0 else joint

    def _joint(self, counts: np.ndarray, m: int) -> np.ndarray:
        """Smoothed probabilities of the runs (history, item), up to a factor of the whole table."""
        unseen = self._n_unseen(m)
        grams = self.n_runs_[m]
        share = counts / grams if grams else counts
        if self.smoothing == "constant":
            return np.where(counts > 0, share, self._amount)
        if unseen == 0:
            return share
        return np.where(counts > 0, (1 - self._amount) * share, self._amount / unseen)

    def joint(self) -> np.ndarray:
        """Smoothed joint probabilities of all n-grams, one axis for each item ("none" to
        "split")."""
        if self.smoothing in ("add", "back-off"):
            raise DataError(f"{self.smoothing!r} smooths conditional probabilities, not joint ones")
        k = len(self.alphabet_)
        rows = [
            self._joint(self._row(history), self.n - 1)
            if self.smoothing != "none"
            else self._row(history)
            for history in product(self.alphabet_, repeat=self.n - 1)
        ]
        table = np.array(rows).reshape((k,) * self.n)
        return table / table.sum()

    def _row(self, history: tuple) -> np.ndarray:
        found = self.counts_[len(history)].get(history, {})
        return np.array([found.get(item, 0) for item in self.alphabet_], dtype=float)

    def log_likelihood(self, sequence: Sequence[Hashable]) -> float:
        """Logarithm of the probability of a sequence; -inf where an n-gram has none."""
        alphabet = set(self.alphabet_)
        known: dict[tuple, tuple[int, float]] = {}
        items = tuple(sequence)
        total = 0.0
        for i, item in enumerate(items):
            if item not in alphabet:
                raise DataError(f"{item!r} at position {i} is not in the alphabet")
            chance = self._chance(items[max(i - self.n + 1, 0) : i], item, known)
            total += math.log(chance) if chance > 0 else -math.inf
        return total

    def _chance(self, history: tuple, item: Hashable, known: dict) -> float:
        """p(item | history), as in `_after`, without a row of the whole alphabet.

        `known` keeps the sums of histories that were met.
        """
        row = self.counts_[len(history)].get(history, {})
        if history not in known:
            values = row.values()
            known[history] = (sum(values), sum(min(each, self._amount) for each in values))
        total, freed = known[history]
        count, k, amount = row.get(item, 0), len(self.alphabet_), self._amount
        if self.smoothing == "back-off":
            shorter = self._chance(history[1:], item, known) if history else 1 / k
            if total == 0:
                return shorter
            return max(count - amount, 0) / total + freed / total * shorter
        if self.smoothing in ("add", "none"):
            mass = total + amount * k
            return (count + amount) / mass if mass else 0.0
        seen, unseen = self._joint(np.array([1.0, 0.0]), len(history)).tolist()
        mass = seen * total + unseen * (k - len(row))
        return (seen * count if count else unseen) / mass if mass else 0.0

    @of_sequences()
    def score(self, sequences: Sequence[Sequence[Hashable]], y: Any = None) -> float:
        """Sum of the log-likelihoods of some sequences."""
        return float(sum(self.log_likelihood(sequence) for sequence in sequences))

    @of_sequences()
    def perplexity(self, sequences: Sequence[Sequence[Hashable]]) -> float:
        """exp of minus the mean log-likelihood of an item: as if choosing among so many."""
        count = sum(len(sequence) for sequence in sequences)
        return float(np.exp(-self.score(sequences) / count))

    def guess(self, history: Sequence[Hashable] = ()) -> Hashable:
        """The commonest item after a history (000b, chapter 13's opening)."""
        chances = self.probabilities(history)
        if not chances.any():
            raise DataError(f"nothing was seen after {tuple(history)!r}; use some smoothing")
        return self.alphabet_[int(np.argmax(chances))]

    def sample(
        self, length: int, *, history: Sequence[Hashable] = (), random_state: Seed = None
    ) -> list:
        """New items, drawn one after another.

        Parameters
        ----------
        length : int
        history : sequence, default=()
            What stands before them.
        random_state : int, Generator or None, default=None

        Returns
        -------
        items : list
        """
        rng = np.random.default_rng(random_state)
        items = list(history)
        for _ in range(length):
            chances = self.probabilities(items)
            if not chances.any():
                raise DataError(
                    f"nothing was ever seen after {items[-self.n + 1 :]!r}; use some smoothing"
                )
            items.append(self.alphabet_[rng.choice(len(chances), p=chances)])
        return items[len(history) :]

    def chain(self) -> MarkovChain:
        """The model as a chain over tuples of n - 1 items; of n = 1, all rows alike."""
        order = max(self.n - 1, 1)
        histories = product(self.alphabet_, repeat=order)
        rows = np.array([self.probabilities(history) for history in histories])
        if not rows.any(axis=1).all():
            raise DataError("some histories are followed by nothing; use some smoothing")
        first = self.probabilities(())
        start = first if order == 1 else self._joint_start(order)
        return tuple_chain(rows, self.alphabet_, order, start)

    def _joint_start(self, order: int) -> np.ndarray:
        start = self.probabilities(())
        for m in range(1, order):
            rows = np.array([self._after(h) for h in product(self.alphabet_, repeat=m)])
            start = (start[:, None] * rows).ravel()
        return start


def corpus_needed(n_terms: int, n: int, per_context: int = 1) -> int:
    """Words that a corpus needs for so many observations of each n-gram: per_context x n_terms^n.

    Examples
    --------
    A hundred thousand words and trigrams (002 L5262): 10^15 combinations.

    >>> corpus_needed(100_000, 3) == 10**15
    True
    """
    return per_context * n_terms**n


def _counted(sequences: Sequence[Sequence[Hashable]], length: int) -> dict[tuple, dict]:
    found: dict[tuple, Counter] = defaultdict(Counter)
    for sequence in sequences:
        items = tuple(sequence)
        for i in range(len(items) - length + 1):
            found[items[i : i + length - 1]][items[i + length - 1]] += 1
    return {history: dict(row) for history, row in found.items()}
