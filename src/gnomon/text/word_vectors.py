"""Vectors of words from the words around them: skip-gram word2vec and GloVe.

word2vec gives a word w and a word c near it vectors u_w and v_c that maximize

    log s(u_w' v_c) + sum over n words drawn at random of log s(-u_w' v_random),   s the sigmoid,

by stochastic gradient steps; words are drawn in proportion to count^(3/4), and frequent words are
left out at random. GloVe fits u_w' v_c + b_w + b'_c to the logarithm of how often the words are
near each other, x_wc, by least squares with the weights min(1, (x_wc / x_max)^(3/4)), with AdaGrad.

Texts: 000a 6.3.4 (names both). Mikolov and others (2013); Pennington and others (2014).
"""

from __future__ import annotations

import functools
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.engine.parameters import SEED, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Text
from gnomon.text.base import TextEstimator, fits, texts_of
from gnomon.text.lsa import nearest_words, of_length_one
from gnomon.text.tokens import Words, chunks_of, renumbered, split_words

NEGATIVE_POWER = 0.75  # Mikolov et al. (2013)
TABLE_SIZE = 2**20  # entries from which words are drawn; rare words of 10^6 get one each
LARGEST = 6.0  # arguments of the sigmoid beyond which the gradient is taken as 0
SIGMOID_STEPS = 2048  # steps of 0.006: values are exact to 0.0015, and the table takes 16 kB
MODULUS, FACTOR = 2147483647, 48271  # Park and Miller's generator

vectorized = functools.partial(lean_subkernel, reordered=True)


class WordVectors(TextEstimator):
    """A vector for each word, learned from running text."""

    _stored = {
        "terms_": Array("O", ("n_terms",), entry=Text()),
        "vectors_": Array("f4", ("n_terms", "vector_size")),
        "counts_": Array("i8", ("n_terms",), low=1),
    }

    def _words(self, X: Any) -> Words:
        """Words of texts, those of fewer occurrences than `min_count` left out; sets ``terms_``."""
        words = all_words(X)
        counts = np.bincount(words.numbers, minlength=len(words.names))
        kept = counts >= self.min_count
        if not kept.any():
            raise DataError(
                f"{type(self).__name__}: no word occurs min_count={self.min_count} times: lower it "
                "or give more text"
            )
        names = [name if keep else None for name, keep in zip(words.names, kept.tolist())]
        words = renumbered(words, names)
        self.terms_ = np.array(words.names, dtype=object)
        self.counts_ = np.bincount(words.numbers, minlength=len(words.names))
        return words

    def vector(self, word: str) -> np.ndarray:
        """The vector of a word.

        Parameters
        ----------
        word : str

        Returns
        -------
        vector : ndarray of shape (vector_size,)
        """
        found = np.flatnonzero(self.terms_ == word)
        if not len(found):
            raise DataError(f"{word!r} is not in the vocabulary of {len(self.terms_):,} words")
        return self.vectors_[found[0]]

    def nearest_words(self, word: str, n_words: int = 10) -> list[tuple[str, float]]:
        """The words whose vectors have the smallest angles with a word's.

        Parameters
        ----------
        word : str
        n_words : int, default=10

        Returns
        -------
        words : list of (str, float)
            Words and cosines.
        """
        return nearest_words(word, self.terms_, of_length_one(self.vectors_), n_words)

    def transform(self, X: Any) -> np.ndarray:
        """The mean vector of the known words of each text; 0 where there are none.

        Parameters
        ----------
        X : texts, or lists of words

        Returns
        -------
        means : ndarray of shape (n_texts, vector_size)
        """
        known = {str(term): j for j, term in enumerate(self.terms_)}
        words = all_words(X)
        words = renumbered(words, [name if name in known else None for name in words.names])
        places = np.array([known[name] for name in words.names], dtype=np.int64)
        shape = (len(words.ends) - 1, len(known))
        ones = np.ones(len(words.numbers))
        rows = sp.csr_array((ones, places[words.numbers], words.ends), shape=shape)
        return np.asarray(rows @ self.vectors_) / np.maximum(np.diff(words.ends), 1)[:, None]


def all_words(X: Any) -> Words:
    """The words of texts, or of texts that are already lists of words."""
    texts = list(texts_of(X))
    if texts and not isinstance(texts[0], str):
        known: dict[str, int] = {}
        numbers = [known.setdefault(str(word), len(known)) for text in texts for word in text]
        ends = np.concatenate([[0], np.cumsum([len(text) for text in texts])])
        return Words(list(known), np.array(numbers, dtype=np.int64), ends.astype(np.int64))
    parts = [split_words(chunk) for chunk in chunks_of(text.lower() for text in texts)]
    if len(parts) == 1:
        return parts[0]
    names: dict[str, int] = {}
    numbers_of, ends_of = [np.zeros(0, dtype=np.int64)], [np.zeros(1, dtype=np.int64)]
    for part in parts:
        places = np.array([names.setdefault(name, len(names)) for name in part.names], dtype=int)
        numbers_of.append(places[part.numbers])
        ends_of.append(part.ends[1:] + ends_of[-1][-1])
    return Words(list(names), np.concatenate(numbers_of), np.concatenate(ends_of))


@method(
    task="reduce",
    texts="000a 6.3.4",
    use="Vectors of words from a large collection: words that stand in like places are near.",
    avoid="Few texts: LatentSemanticAnalysis.",
    peers=("gensim.models.Word2Vec",),
    takes="texts",
    synonyms=("skip-gram", "word embedding", "negative sampling"),
)
class Word2Vec(WordVectors):
    """Skip-gram word2vec with negative sampling.

    Use it on a million words or more; not for few texts, for which `LatentSemanticAnalysis` is
    better. Pairs are trained one after another, so that the bits depend on `random_state` alone.
    Texts: 000a 6.3.4.

    Parameters
    ----------
    vector_size : int, default=100
    window : int, default=5
        Most words between a word and one near it, plus one; the width is drawn up to it.
    min_count : int, default=5
        Least occurrences of a word.
    negative : int, default=5
        Words drawn at random for each pair.
    sample : float, default=0.001
        Words of a larger share of the text are left out at random; 0 keeps all.
    learning_rate : float, default=0.025
        First length of a step; it falls to nearly 0 along the fit.
    max_iter : int, default=5
        Passes over the text.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    vectors_ : ndarray of shape (n_terms, vector_size)
    terms_ : ndarray of str
    counts_ : ndarray of shape (n_terms,)
        Occurrences of each word.
    history_ : History
        Mean loss of a pair in each pass: minus the objective above.
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.text import Word2Vec
    >>> texts = ["red cat sleeps", "red dog sleeps", "old bond falls", "old stock falls"] * 50
    >>> model = Word2Vec(8, min_count=1, sample=0, max_iter=20, random_state=0).fit(texts)
    >>> model.vectors_.shape
    (8, 8)
    """

    _parameter_constraints = {
        "vector_size": [whole(1)],
        "window": [whole(1)],
        "min_count": [whole(1)],
        "negative": [whole(1)],
        "sample": [at_least(0)],
        "learning_rate": [above(0)],
        "max_iter": [whole(1)],
        "random_state": SEED,
    }

    def __init__(
        self,
        vector_size: int = 100,
        *,
        window: int = 5,
        min_count: int = 5,
        negative: int = 5,
        sample: float = 1e-3,
        learning_rate: float = 0.025,
        max_iter: int = 5,
        random_state: Any = None,
    ):
        self.vector_size = vector_size
        self.window = window
        self.min_count = min_count
        self.negative = negative
        self.sample = sample
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    @fits
    def fit(self, X: Any, y: Any = None) -> Word2Vec:
        """Learn the vectors.

        Parameters
        ----------
        X : texts, or lists of words
            A list of words is one sentence; pairs do not reach over its ends.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        words, rng = self._words(X), self._rng()
        n_terms = len(self.terms_)
        inner = (rng.random((n_terms, self.vector_size), dtype=np.float32) - 0.5) / self.vector_size
        nets = Nets(
            np.ascontiguousarray(inner, dtype=np.float32),
            np.zeros((n_terms, self.vector_size), dtype=np.float32),
            drawing_table(self.counts_),
            sigmoids(),
            np.empty(self.vector_size, dtype=np.float32),
        )
        share = self.counts_ / self.counts_.sum()
        kept = np.ones(n_terms)
        if self.sample:
            kept = np.minimum(np.sqrt(self.sample / share) + self.sample / share, 1.0)
        course = self._course("pass", self.max_iter)
        for step in course:
            stays = rng.random(len(words.numbers)) < kept[words.numbers]
            before = np.concatenate([[0], np.cumsum(stays)])
            text = words.numbers[stays], before[words.ends]
            rates = self.learning_rate * (1 - np.array([step, step + 1.0]) / self.max_iter)
            rates = np.maximum(rates, 1e-4 * self.learning_rate)
            state = int(rng.integers(1, MODULUS))
            loss = skip_grams(*text, nets, self.window, self.negative, rates, state)
            if course.end_step(loss):
                break
        self.vectors_ = nets.inner
        self.history_, self.n_iter_ = course.history, len(course.history)
        return self


class Nets(NamedTuple):
    """Vectors of words and of their neighbors, and what the steps need."""

    inner: Annotated[np.ndarray, "out f4[:,:]"]
    outer: Annotated[np.ndarray, "out f4[:,:]"]
    table: Annotated[np.ndarray, "i4[:]"]
    sigmoid: Annotated[np.ndarray, "f4[:,:]"]
    buffer: Annotated[np.ndarray, "out f4[:]"]


def drawing_table(counts: np.ndarray) -> np.ndarray:
    """Words in proportion to count^(3/4), each at least once."""
    weights = counts**NEGATIVE_POWER
    size = max(TABLE_SIZE, 4 * len(counts))
    times = np.maximum(np.rint(weights / weights.sum() * size), 1).astype(np.int64)
    return np.repeat(np.arange(len(counts)), times).astype(np.int32)


def sigmoids() -> np.ndarray:
    """Values of the sigmoid and of its negative logarithm on a grid from -LARGEST to LARGEST."""
    grid = (np.arange(SIGMOID_STEPS) + 0.5) / SIGMOID_STEPS * 2 * LARGEST - LARGEST
    return np.stack([1 / (1 + np.exp(-grid)), np.log1p(np.exp(-grid))], axis=1).astype(np.float32)


@vectorized
def inner_product(one, two):
    total = np.float32(0)
    for k in range(len(one)):
        total += one[k] * two[k]
    return total


@vectorized
def step_both(own, other, buffer, slope):
    """Add slope x other to buffer and slope x own to other."""
    for k in range(len(own)):
        before = other[k]
        buffer[k] += slope * before
        other[k] = before + slope * own[k]


@lean_subkernel
def train_pair(nets, near, word, negative, rate, state):
    """One step for a word and one near it; the loss and the state of the generator."""
    own = nets.inner[near]
    buffer = nets.buffer
    for k in range(len(buffer)):
        buffer[k] = 0
    loss = np.float32(0)
    for draw in range(negative + 1):
        target = word
        label = np.float32(1)
        if draw > 0:
            state = state * FACTOR % MODULUS
            target = nets.table[(state * len(nets.table)) >> 31]
            if target == word:
                continue
            label = np.float32(0)
        other = nets.outer[target]
        product = inner_product(own, other)
        signed = product if draw == 0 else -product
        if signed >= LARGEST:
            continue
        if signed <= -LARGEST:
            loss -= signed
            slope = rate if draw == 0 else -rate
        else:
            place = int((product + LARGEST) * (SIGMOID_STEPS / (2 * LARGEST)))
            mirror = place if draw == 0 else SIGMOID_STEPS - 1 - place
            loss += nets.sigmoid[mirror, 1]
            slope = (label - nets.sigmoid[place, 0]) * rate
        step_both(own, other, buffer, slope)
    for k in range(len(buffer)):
        own[k] += buffer[k]
    return loss, state


@kernel("i8[:]", "i8[:]", Nets, "i8", "i8", "f8[:]", "i8")
def skip_grams(words, ends, nets, window, negative, rates, state):
    """One pass over the texts; the mean loss of a pair.

    words (n_words,), ends (n_texts + 1,), rates: length of the first and of the last step.
    """
    total = 0.0
    n_pairs = 0
    for t in range(len(ends) - 1):
        for i in range(ends[t], ends[t + 1]):
            rate = np.float32(rates[0] + (rates[1] - rates[0]) * i / len(words))
            state = state * FACTOR % MODULUS
            width = 1 + state % window
            for j in range(max(i - width, ends[t]), min(i + width + 1, ends[t + 1])):
                if j != i:
                    loss, state = train_pair(nets, words[j], words[i], negative, rate, state)
                    total += loss
                    n_pairs += 1
    return total / max(n_pairs, 1)


@method(
    task="reduce",
    texts="000a 6.3.4",
    use="Vectors of words from counts of how often words are near each other.",
    avoid="Few texts: LatentSemanticAnalysis.",
    peers=("Stanford GloVe",),
    takes="texts",
    synonyms=("global vectors", "word embedding", "co-occurrence"),
)
class GloVe(WordVectors):
    """GloVe: vectors of words fitted to the logarithm of their co-occurrences.

    Use it like `Word2Vec`, where passes over the text are dear, since it counts once; not for few
    texts, for which prefer `LatentSemanticAnalysis`. Texts: 000a 6.3.4.

    Parameters
    ----------
    vector_size : int, default=50
    window : int, default=10
        Words at a distance of d words, up to this, count 1 / d.
    min_count : int, default=5
        Least occurrences of a word.
    x_max : float, default=100
        Co-occurrences from which all weigh the same.
    learning_rate : float, default=0.05
    max_iter : int, default=25
        Passes over the pairs of words.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    vectors_ : ndarray of shape (n_terms, vector_size)
        The sum of the vectors of a word as itself and as a neighbor.
    terms_ : ndarray of str
    counts_ : ndarray of shape (n_terms,)
        Occurrences of each word.
    history_ : History
        Weighed mean of squared errors in each pass.
    n_iter_ : int

    Examples
    --------
    >>> from gnomon.text import GloVe
    >>> texts = ["red cat sleeps", "red dog sleeps", "old bond falls", "old stock falls"] * 20
    >>> model = GloVe(4, min_count=1, random_state=0).fit(texts)
    >>> model.vectors_.shape
    (8, 4)
    """

    _parameter_constraints = {
        "vector_size": [whole(1)],
        "window": [whole(1)],
        "min_count": [whole(1)],
        "x_max": [above(0)],
        "learning_rate": [above(0)],
        "max_iter": [whole(1)],
        "random_state": SEED,
    }

    def __init__(
        self,
        vector_size: int = 50,
        *,
        window: int = 10,
        min_count: int = 5,
        x_max: float = 100.0,
        learning_rate: float = 0.05,
        max_iter: int = 25,
        random_state: Any = None,
    ):
        self.vector_size = vector_size
        self.window = window
        self.min_count = min_count
        self.x_max = x_max
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state

    @fits
    def fit(self, X: Any, y: Any = None) -> GloVe:
        """Count co-occurrences and learn the vectors.

        Parameters
        ----------
        X : texts, or lists of words
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        words, rng = self._words(X), self._rng()
        near = sp.coo_array(co_occurrences(words, self.window))
        if near.nnz == 0:
            raise DataError("GloVe: no two words stand near each other; give longer texts")
        n_terms, size = len(self.terms_), self.vector_size + 1  # the last entry is the bias
        sides = (rng.random((2, n_terms, size)) - 0.5) / self.vector_size
        squares = np.ones_like(sides)
        pairs = np.stack([near.row, near.col], axis=1).astype(np.int64)
        logs, weights = np.log(near.data), np.minimum(1.0, (near.data / self.x_max) ** 0.75)
        course = self._course("pass", self.max_iter)
        for _ in course:
            order = rng.permutation(len(pairs))
            loss = glove_steps(
                pairs[order], logs[order], weights[order], sides, squares, self.learning_rate
            )
            if course.end_step(loss / weights.sum()):
                break
        self.vectors_ = (sides[0] + sides[1])[:, :-1].astype(np.float32)
        self.history_, self.n_iter_ = course.history, len(course.history)
        return self


def co_occurrences(words: Words, window: int) -> sp.csr_array:
    """How often words are near each other: 1 / distance for each pair of a text, both ways."""
    n = len(words.names)
    of_text = np.repeat(np.arange(len(words.ends) - 1), np.diff(words.ends))
    total = sp.csr_array((n, n))
    for distance in range(1, window + 1):
        first, second = words.numbers[:-distance], words.numbers[distance:]
        same = of_text[:-distance] == of_text[distance:]
        ones = np.full(int(same.sum()), 1.0 / distance)
        total = total + sp.csr_array((ones, (first[same], second[same])), shape=(n, n))
    return sp.csr_array(total + total.T)


@kernel("i8[:,:]", "f8[:]", "f8[:]", "out f8[:,:,:]", "out f8[:,:,:]", "f8")
def glove_steps(pairs, logs, weights, sides, squares, rate):
    """One AdaGrad step for each pair of words; the weighed sum of squared errors.

    pairs (n, 2), sides and squares (2, n_terms, vector_size + 1).
    """
    size = sides.shape[2] - 1
    total = 0.0
    for p in range(len(pairs)):
        one = sides[0, pairs[p, 0]]
        two = sides[1, pairs[p, 1]]
        risen = squares[0, pairs[p, 0]]
        lifted = squares[1, pairs[p, 1]]
        error = one[size] + two[size] - logs[p]
        for k in range(size):
            error += one[k] * two[k]
        total += weights[p] * error * error
        slope = weights[p] * error
        for k in range(size):
            up = slope * two[k]
            down = slope * one[k]
            one[k] -= rate * up / np.sqrt(risen[k])
            two[k] -= rate * down / np.sqrt(lifted[k])
            risen[k] += up * up
            lifted[k] += down * down
        one[size] -= rate * slope / np.sqrt(risen[size])
        two[size] -= rate * slope / np.sqrt(lifted[size])
        risen[size] += slope * slope
        lifted[size] += slope * slope
    return total
