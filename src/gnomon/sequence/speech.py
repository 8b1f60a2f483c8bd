"""Speech: features of sound, and words as chains of sounds.

Sound is cut into windows that overlap; each gives its spectrum, whose energy in bands of the mel
scale, as logarithms through a cosine transform, are the cepstra; their slopes in time are added. A
word is a chain of phonemes (its lexicon entry), each of three parts that are passed from left to
right; the parts are shared by all words, so that few recordings teach many words.

Texts: 002 L6558-6602 (the digits' lexicon is given there).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from scipy.fft import dct, rfft

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Anything, Array, DictOf, ListOf, Object, TupleOf, Whole
from gnomon.sequence.chain import Seed
from gnomon.sequence.emissions import GaussianEmission
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.passes import one_log_likelihood, posteriors, prepare, viterbi

DIGITS = {
    "zero": "Z IH R OW",
    "one": "W AH N",
    "two": "T UW",
    "three": "TH R IY",
    "four": "F OW R",
    "five": "F AY V",
    "six": "S IH K S",
    "seven": "S EH V AX N",
    "eight": "EY T",
    "nine": "N AY N",
    "oh": "OW",
}
SILENCE = 1e-10  # added to energies, so that silence has a finite logarithm


def spectrogram(signal: Any, *, window: int = 400, hop: int = 160) -> np.ndarray:
    """Power of the Fourier transform of Hamming windows, of shape (n_windows, window // 2 + 1).

    Examples
    --------
    >>> tone = np.sin(2 * np.pi * 10 / 64 * np.arange(256))
    >>> spectrogram(tone, window=64, hop=32).argmax(axis=1)
    array([10, 10, 10, 10, 10, 10, 10])
    """
    sound = np.asarray(signal, dtype=float)
    if sound.ndim != 1 or len(sound) < window:
        raise DataError(f"a signal of one channel with at least {window} samples is needed")
    pieces = np.lib.stride_tricks.sliding_window_view(sound, window)[::hop]
    return np.abs(rfft(pieces * scipy.signal.get_window("hamming", window), axis=1)) ** 2


def mel_filters(n_filters: int, window: int, rate: float) -> np.ndarray:
    """Triangles of equal width on the mel scale, 2595 log10(1 + f / 700): (n_filters, window // 2 +
    1)."""
    top = 2595 * np.log10(1 + rate / 2 / 700)
    corners = 700 * (10 ** (np.linspace(0, top, n_filters + 2) / 2595) - 1)
    pitch = np.arange(window // 2 + 1) * rate / window
    rising = (pitch - corners[:-2, None]) / np.diff(corners)[:-1, None]
    falling = (corners[2:, None] - pitch) / np.diff(corners)[1:, None]
    return np.maximum(0, np.minimum(rising, falling))


def deltas(features: np.ndarray, width: int = 2) -> np.ndarray:
    """Slope of each column over `width` rows on both sides, by least squares; ends are repeated."""
    padded = np.pad(features, ((width, width), (0, 0)), mode="edge")
    n = len(features)
    sums = sum(
        i * (padded[width + i : width + i + n] - padded[width - i : width - i + n])
        for i in range(1, width + 1)
    )
    return sums / (2 * sum(i * i for i in range(1, width + 1)))


def cepstra(
    signal: Any,
    rate: float = 16_000,
    *,
    n_coefficients: int = 13,
    n_filters: int = 26,
    window: int = 400,
    hop: int = 160,
    slopes: bool = True,
) -> np.ndarray:
    """Mel-frequency cepstral coefficients, with their slopes and the slopes of those.

    Parameters
    ----------
    signal : array-like
        Amplitudes.
    rate : float, default=16000
        Samples in a second.
    n_coefficients, n_filters : int
        Of the cosine transform, and bands of the mel scale.
    window, hop : int
        Samples of a window, and from one to the next.
    slopes : bool, default=True

    Returns
    -------
    features : ndarray of shape (n_windows, n_coefficients) or three times as wide

    Examples
    --------
    >>> cepstra(np.sin(np.arange(16_000) / 5)).shape
    (98, 39)
    """
    if n_coefficients > n_filters:
        raise DataError("n_coefficients cannot exceed n_filters")
    energy = spectrogram(signal, window=window, hop=hop) @ mel_filters(n_filters, window, rate).T
    found = dct(np.log(energy + SILENCE), type=2, norm="ortho", axis=1)[:, :n_coefficients]
    if not slopes:
        return found
    first = deltas(found)
    return np.hstack([found, first, deltas(first)])


@method(
    task="classify",
    texts="002 L6558-6602",
    use="A small vocabulary of spoken words, from frames of sound features.",
    avoid="Free speech: a pretrained network does it far better.",
    takes="sequences",
    synonyms=("speech recognition", "phoneme model"),
)
class WordRecognizer(SequenceEstimator):
    """Words as chains of phonemes of three parts, with one Gaussian for each part of a phoneme.

    Use it for a small vocabulary whose phonemes are known, as in the text. Not for free speech: a
    pretrained network does that far better.

    Parameters
    ----------
    lexicon : mapping of word to phonemes, default=None
        Phonemes as a string with spaces or a list; the digits by default.
    parts : int, default=3
        Of a phoneme.
    covariance : {"diagonal", "full"}, default="diagonal"
    max_iter : int, default=20
        Steps of EM, all words together.

    Attributes
    ----------
    parts_ : list of (phoneme, part)
    emission_ : GaussianEmission
        One state for each part.
    stay_ : ndarray
        Probability that a part goes on for another step.
    history_ : History
        Log-likelihood before each iteration and at the end; it never falls.
    n_iter_ : int
        Iterations that were made.

    Notes
    -----
    Texts: 002 L6558-6602. Words are recognized alone (``predict``) or in a row
    (``predict_words``, with all words equally probable after each).

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import WordRecognizer
    >>> rng = np.random.default_rng(0)
    >>> low, high = np.zeros((9, 2)), np.ones((9, 2))
    >>> sounds = {"la": [low, high], "hi": [high, low]}
    >>> spoken = [np.vstack(sounds[w]) + 0.1 * rng.normal(size=(18, 2)) for w in ("la", "hi")]
    >>> model = WordRecognizer({"la": "L A", "hi": "H I"}, parts=1).fit(spoken, ["la", "hi"])
    >>> model.predict(spoken)
    ['la', 'hi']
    """

    _parameter_constraints = {
        "lexicon": [Mapping, None],
        "parts": [whole(1)],
        "covariance": [StrOptions({"diagonal", "full"})],
        "max_iter": [whole(0)],
    }
    _stored = {
        "emission_": Object(("GaussianEmission",)),
        "parts_": ListOf(TupleOf((Anything(), Whole())), "n_parts"),
        "stay_": Array("f8", ("n_parts",), low=0.0, high=1.0),
        "words_": DictOf(Array("i8", (None,), low=0, below="n_parts")),
    }

    def __init__(
        self,
        lexicon: Mapping[str, Any] | None = None,
        *,
        parts: int = 3,
        covariance: str = "diagonal",
        max_iter: int = 20,
    ):
        self.lexicon = lexicon
        self.parts = parts
        self.covariance = covariance
        self.max_iter = max_iter

    @fits()
    def fit(self, sequences: Sequence, words: Sequence[str]) -> WordRecognizer:
        """Learn from recordings of single words.

        Parameters
        ----------
        sequences : list of arrays
            Features, as of `cepstra`; each at least as long as its word has parts.
        words : list of str

        Returns
        -------
        self : WordRecognizer
        """
        spelled = {w: _phonemes(s) for w, s in (self.lexicon or DIGITS).items()}
        unknown = sorted(set(words) - set(spelled))
        if unknown:
            raise DataError(f"{unknown[0]!r} is not in the lexicon; add its phonemes")
        names = sorted({p for spelling in spelled.values() for p in spelling})
        self.parts_ = [(p, i) for p in names for i in range(self.parts)]
        place = {part: j for j, part in enumerate(self.parts_)}
        self.words_ = {
            word: np.array([place[p, i] for p in spelling for i in range(self.parts)])
            for word, spelling in spelled.items()
        }
        law = GaussianEmission(self.covariance)
        data = [prepare(law, [sequence]) for sequence in sequences]
        self._begin(law, data, words)
        self._learn(data, words)
        return self

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if hasattr(self, "words_") and any(len(chain) == 0 for chain in self.words_.values()):
            raise ValueError("a word has no parts")
        if hasattr(self, "emission_") and len(self.emission_.means) != len(self.parts_):
            raise ValueError("the Gaussians are not one for each part")

    def _begin(self, law: GaussianEmission, data: list, words: Sequence[str]) -> None:
        """First Gaussians: each word's recording cut into equal pieces, one for each part."""
        rows = np.concatenate([each.rows for each in data])
        weights = np.zeros((len(rows), len(self.parts_)))
        at = 0
        for each, word in zip(data, words, strict=True):
            chain = self.words_[word]
            if len(each.rows) < len(chain):
                raise DataError(
                    f"a recording of {word!r} has {len(each.rows)} rows, "
                    f"fewer than its {len(chain)} parts"
                )
            cut = np.arange(len(each.rows)) * len(chain) // len(each.rows)
            weights[at + np.arange(len(cut)), chain[cut]] = 1
            at += len(cut)
        law.ridge = 1e-3 * rows.var(axis=0) + 1e-12
        law.means = np.tile(rows.mean(axis=0), (len(self.parts_), 1))
        law.learn(rows, weights)
        self.emission_ = law
        self.stay_ = np.full(len(self.parts_), 0.5)

    def _learn(self, data: list, words: Sequence[str]) -> None:
        rows = np.concatenate([each.rows for each in data])
        course = self._course("iteration", self.max_iter + 1)
        for step in course:
            weights = np.zeros((len(rows), len(self.parts_)))
            stays, leaves = np.zeros(len(self.parts_)), np.zeros(len(self.parts_))
            at, total = 0, 0.0
            for each, word in zip(data, words, strict=True):
                chain = self.words_[word]
                found = posteriors(*self._word(chain), self._logs(each.rows, chain), each.bounds)
                total += float(found.log_likelihood.sum())
                part = slice(at, at + len(each.rows))
                for j, state in enumerate(chain):
                    weights[part, state] += found.states[:, j]
                    stays[state] += found.pairs[j, j]
                    leaves[state] += found.pairs[j].sum() - found.pairs[j, j]
                at += len(each.rows)
            if course.end_step(total, attributes=self._public):
                break
            if step == self.max_iter:
                continue
            self.emission_.learn(rows, weights)
            heard = stays + leaves > 0
            self.stay_[heard] = (stays / np.where(heard, stays + leaves, 1))[heard]
        self.history_, self.n_iter_ = course.history, len(course.history) - 1

    def _most_steps(self) -> int:
        return self.max_iter + 1

    def _logs(self, rows: np.ndarray, chain: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self.emission_.log_likelihood(rows)[:, chain])

    def _word(self, chain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Start and transitions of one word; its last part goes on until the recording ends."""
        stay = self.stay_[chain].copy()
        moves = np.diag(stay) + np.diag(1 - stay[:-1], 1)
        moves[-1, -1] = stay[-1]
        return np.eye(len(chain))[0], moves

    @of_sequences()
    def log_likelihood(self, sequences: Sequence) -> np.ndarray:
        """log p(recording | word), of shape (n_sequences, n_words), words as in ``words_``."""
        found = np.empty((len(sequences), len(self.words_)))
        for i, sequence in enumerate(sequences):
            data = prepare(self.emission_, [sequence])
            for j, chain in enumerate(self.words_.values()):
                logs = self._logs(data.rows, chain)
                found[i, j] = one_log_likelihood(*self._word(chain), logs)
        return found

    @of_sequences()
    def predict(self, sequences: Sequence) -> list[str]:
        """The word of each recording."""
        names = list(self.words_)
        return [names[j] for j in self.log_likelihood(sequences).argmax(axis=1)]

    def predict_words(self, sequence: Any) -> list[str]:
        """The words of one recording, one after another, by the best path through all of them."""
        chains = list(self.words_.values())
        firsts = np.cumsum([0, *(len(chain) for chain in chains)])
        everything = np.concatenate(chains)
        start = np.zeros(len(everything))
        start[firsts[:-1]] = 1 / len(chains)
        moves = np.zeros((len(everything), len(everything)))
        for first, end, chain in zip(firsts[:-1], firsts[1:], chains, strict=True):
            moves[first:end, first:end] = self._word(chain)[1]
            moves[end - 1, firsts[:-1]] += (1 - self.stay_[chain[-1]]) / len(chains)
        data = prepare(self.emission_, [sequence])
        path, _ = viterbi(start, moves, self._logs(data.rows, everything), data.bounds)
        words = np.searchsorted(firsts, path, side="right") - 1
        names = list(self.words_)
        begun = [0] + [
            n for n in range(1, len(path)) if path[n] in firsts[:-1] and path[n] != path[n - 1]
        ]
        return [names[words[n]] for n in begun]

    def sample(self, word: str, *, random_state: Seed = None) -> np.ndarray:
        """Features of a word as the model would say it."""
        rng = np.random.default_rng(random_state)
        path: list[Hashable] = []
        for state in self.words_[word]:
            path += [state] * int(rng.geometric(max(1 - self.stay_[state], 1e-3)))
        return self.emission_.draw(np.array(path), rng)


def _phonemes(spelling: Any) -> list[str]:
    return spelling.split() if isinstance(spelling, str) else list(spelling)
