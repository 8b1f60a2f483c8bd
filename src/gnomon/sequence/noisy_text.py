"""Text that was changed on its way: ciphers, noisy channels, misspelt words.

A noisy letter is the true one with probability 1 - p. Hidden are the true letters, with n-gram
transitions (pairs of letters for trigrams), and the best path is the corrected text. A substitution
cipher is an unknown permutation in the emission table: with the transitions known from a text of
the language, Baum-Welch on the emissions alone breaks it.

Texts: 000b 13.2.4, exercises 13.6-13.7 · 000c exercises 14.2-14.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from gnomon.engine.errors import DataError
from gnomon.sequence import recursions
from gnomon.sequence.chain import Seed
from gnomon.sequence.emissions import CategoricalEmission
from gnomon.sequence.hmm import HiddenMarkovModel
from gnomon.sequence.ngram import LETTERS, NGramModel


def channel(p: float, kind: str = "neighbour", n_symbols: int = len(LETTERS)) -> np.ndarray:
    """Table of what is seen, for each true symbol.

    Parameters
    ----------
    p : float
        Probability that a symbol is changed.
    kind : {"neighbour", "uniform"}, default="neighbour"
        Changed to one of the two neighbours in the cyclic order (000b 13.2.4), or replaced by any
        symbol, itself included (exercise 13.6).
    n_symbols : int, default=27

    Returns
    -------
    table : ndarray of shape (n_symbols, n_symbols)

    Examples
    --------
    >>> channel(0.2, n_symbols=4)[0]
    array([0.8, 0.1, 0. , 0.1])
    """
    if not 0 <= p <= 1 or n_symbols < 3:
        raise DataError("p lies between 0 and 1, and there are at least 3 symbols")
    same = np.eye(n_symbols)
    if kind == "neighbour":
        return (1 - p) * same + p / 2 * (np.roll(same, 1, axis=1) + np.roll(same, -1, axis=1))
    if kind == "uniform":
        return (1 - p) * same + p / n_symbols
    raise DataError(f"kind is 'neighbour' or 'uniform', not {kind!r}")


def corrupt(
    text: str, table: np.ndarray, alphabet: str = LETTERS, *, random_state: Seed = None
) -> str:
    """Send a text through a channel."""
    law = CategoricalEmission(table, list(alphabet))
    return "".join(law.draw(law.rows(text), np.random.default_rng(random_state)))


def corrupt_words(
    words: Sequence[str],
    n_letters: tuple[int, ...] = (1, 2),
    alphabet: str = LETTERS[:26],
    *,
    random_state: Seed = None,
) -> list[str]:
    """Replace some letters of each word, at different places, by letters drawn at random.

    Parameters
    ----------
    words : sequence of str
    n_letters : tuple of int, default=(1, 2)
        How many letters of a word are replaced, each number as probable as the others; never more
        than the word has. A letter may be replaced by itself (000c exercise 14.2).
    alphabet : str, default=26 letters
    random_state : int, Generator or None, default=None

    Returns
    -------
    words : list of str

    Examples
    --------
    >>> word = corrupt_words(["mist"], (1,), random_state=0)[0]
    >>> len(word), sum(a != b for a, b in zip(word, "mist")) <= 1
    (4, True)
    """
    rng = np.random.default_rng(random_state)
    changed = []
    for word in words:
        letters = list(word)
        count = min(int(rng.choice(n_letters)), len(letters))
        for place in rng.choice(len(letters), count, replace=False) if letters else ():
            letters[place] = alphabet[rng.integers(len(alphabet))]
        changed.append("".join(letters))
    return changed


def correct_text(text: str, model: NGramModel, table: np.ndarray) -> str:
    """The most probable true text, given a noisy one.

    Parameters
    ----------
    text : str or sequence
        Of symbols in the model's alphabet.
    model : NGramModel
        Of the language; smoothed, as every step must be possible.
    table : ndarray
        The channel, rows and columns in the order of the model's alphabet.

    Returns
    -------
    text : str

    Notes
    -----
    Viterbi over tuples of n - 1 symbols that visits only the links that exist: 27^3 a step for
    trigrams of letters, in the place of 27^4. Texts: 000b 13.2.4.

    Examples
    --------
    >>> model = NGramModel(2, epsilon=0.01, alphabet="ab").fit(["abababab"])
    >>> correct_text("abbbab", model, [[0.9, 0.1], [0.1, 0.9]])
    'ababab'
    """
    chain = model.chain()
    k = len(model.alphabet_)
    seen = CategoricalEmission(table, model.alphabet_)
    logs = seen.log_likelihood(seen.rows(text))
    into = sp.csc_array(chain.transition)
    with np.errstate(divide="ignore"):
        weights, start = np.log(into.data), np.log(chain.start)
    width = max(model.n - 1, 1)
    # the first state holds the first `width` letters: its emissions are those of all of them
    if len(logs) < width:
        raise DataError(f"a text of {len(logs)} is shorter than the {width} symbols of a state")
    digits = (np.arange(chain.n_states)[:, None] // k ** np.arange(width - 1, -1, -1)) % k
    shown = np.ascontiguousarray(logs[width - 1 :][:, digits[:, -1]])
    shown[0] = logs[np.arange(width)[None, :], digits].sum(axis=1)
    path = np.empty(len(shown), dtype=np.int64)
    score = recursions.best_path_sparse(
        into.indptr.astype(np.int64), into.indices.astype(np.int64), weights, start, shown, path
    )
    if not np.isfinite(score):
        raise DataError("no text of the language could have been seen so; smooth the n-gram model")
    codes = [*digits[path[0]], *digits[path[1:], -1]]
    return "".join(str(model.alphabet_[code]) for code in codes)


@dataclass(frozen=True)
class SubstitutionCipher:
    """Each symbol is written as another, always the same: one-hot rows times a permutation matrix.

    Attributes
    ----------
    key : str
        What stands for each symbol of the alphabet, in its order.
    alphabet : str, default=27 letters

    Examples
    --------
    >>> cipher = SubstitutionCipher("bca", "abc")
    >>> cipher.encode("abcab"), cipher.decode("bcabc")
    ('bcabc', 'abcab')
    """

    key: str
    alphabet: str = LETTERS

    def __post_init__(self):
        if sorted(self.key) != sorted(self.alphabet):
            raise DataError("a key must hold every symbol of the alphabet once")

    @classmethod
    def random(cls, alphabet: str = LETTERS, *, random_state: Seed = None) -> SubstitutionCipher:
        """A key drawn at random."""
        order = np.random.default_rng(random_state).permutation(len(alphabet))
        return cls("".join(alphabet[i] for i in order), alphabet)

    @property
    def matrix(self) -> np.ndarray:
        """The permutation: row of a true symbol, column of what is written."""
        return np.eye(len(self.alphabet))[[self.alphabet.index(symbol) for symbol in self.key]]

    def encode(self, text: str) -> str:
        """Write a text in cipher."""
        return text.translate(str.maketrans(self.alphabet, self.key))

    def decode(self, text: str) -> str:
        """Read a text in cipher."""
        return text.translate(str.maketrans(self.key, self.alphabet))

    def agreement(self, other: SubstitutionCipher) -> float:
        """Share of symbols for which two keys agree."""
        return float(np.mean([a == b for a, b in zip(self.key, other.key, strict=True)]))


def break_cipher(
    text: str,
    model: NGramModel,
    *,
    n_init: int = 5,
    max_iter: int = 200,
    random_state: Seed = None,
) -> tuple[SubstitutionCipher, HiddenMarkovModel]:
    """Find the key of a substitution cipher by Baum-Welch with known transitions.

    Parameters
    ----------
    text : str
        In cipher; ten thousand letters are plenty for 27 symbols.
    model : NGramModel
        Of the language, n = 2 (or 1: letters by their frequency alone).
    n_init : int, default=5
        Starts, each from what is about as common: EM has many local maxima here.
    max_iter : int, default=200
    random_state : int, Generator or None, default=None

    Returns
    -------
    cipher : SubstitutionCipher
        The permutation closest to the learned emissions (assignment of highest total log p).
    hmm : HiddenMarkovModel
        The learned model, whose start and emissions were free.

    Notes
    -----
    Texts: 000b 13.3.1, exercise 13.7.
    """
    if model.n > 2:
        raise DataError("break_cipher takes unigram or bigram models: use n=2")
    chain = model.chain()
    alphabet = "".join(str(symbol) for symbol in model.alphabet_)
    rng = np.random.default_rng(random_state)
    fits = []
    for _ in range(n_init):
        first = _alike_in_frequency(text, chain.stationary(), alphabet, rng)
        fitted = HiddenMarkovModel(
            emission=CategoricalEmission(first, list(alphabet), alpha=1e-3),
            start=chain.start,
            transition=chain.transition,
            frozen=("transition",),
            max_iter=max_iter,
            tol=1e-5,
        ).fit([text])
        fits.append(fitted)
    hmm = max(fits, key=lambda each: each.history_[-1])
    _, columns = linear_sum_assignment(-np.log(hmm.emission_.table + 1e-12))
    return SubstitutionCipher("".join(alphabet[j] for j in columns), alphabet), hmm


def _alike_in_frequency(text: str, common: np.ndarray, alphabet: str, rng) -> np.ndarray:
    """First emissions: a symbol stands for letters that are about as common as it is, by chance."""
    counts = np.array([text.count(symbol) for symbol in alphabet]) + 0.5
    gap = np.log(common + 1e-6)[:, None] - np.log(counts / counts.sum())[None, :]
    table = np.exp(-0.5 * gap**2) * rng.uniform(0.2, 1.8, gap.shape) + 1e-4
    return table / table.sum(axis=1, keepdims=True)


def matching_cost(true: Sequence, seen: Sequence, weight: float) -> float:
    """(number of equal letters) + weight x (number of different ones), of words of equal length.

    Examples
    --------
    >>> matching_cost("mist", "malt", 3.0)
    8.0
    """
    if len(true) != len(seen):
        raise DataError(f"{true!r} and {seen!r} have different lengths")
    different = sum(a != b for a, b in zip(true, seen, strict=True))
    return len(true) - different + weight * different


@dataclass(frozen=True)
class WordMatcher:
    """Correct a word to the one of least matching cost.

    Attributes
    ----------
    words : list of str
        The words that there are.
    weight : float
        Cost of a different letter; above 1, or else the least like word would win.

    Notes
    -----
    Texts: 000c exercise 14.2, the smallest case of structured learning. With words of one length
    only the sign of weight - 1 matters: all weights above 1 give the same answers.

    Examples
    --------
    >>> WordMatcher(["mist", "malt", "moss"], 2.0).correct("milt")
    'mist'
    """

    words: Sequence[str]
    weight: float = 2.0

    def correct(self, seen: str) -> str:
        """The word of least cost; the first of equals."""
        fitting = [word for word in self.words if len(word) == len(seen)]
        if not fitting:
            raise DataError(f"no word has {len(seen)} letters, as {seen!r} has")
        return min(fitting, key=lambda word: matching_cost(word, seen, self.weight))

    @classmethod
    def tuned(
        cls,
        words: Sequence[str],
        pairs: Sequence[tuple[str, str]],
        weights: Any = (0.5, 1.0, 2.0, 4.0),
    ) -> WordMatcher:
        """The weight that corrects most of some pairs (true, seen); the least of equals."""
        tried = [cls(words, float(weight)) for weight in weights]
        return max(tried, key=lambda m: sum(m.correct(seen) == true for true, seen in pairs))
