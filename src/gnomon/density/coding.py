"""Codes: Huffman's and Lempel and Ziv's, and the entropy that no code beats.

n symbols of a source of entropy H (bits) need n H bits on average, and little more is enough. A
code that gives each symbol a word of its own needs between H and H + 1 bits per symbol; Huffman's
is the shortest of these.

Texts: 002 "Huffman codes", "Source coding" (L5453-5502).
"""

from __future__ import annotations

import heapq
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.density.information import entropy
from gnomon.engine.errors import DataError


@dataclass(frozen=True, eq=False)
class HuffmanCode:
    """The shortest code of one word per symbol, no word the beginning of another.

    Parameters
    ----------
    words : dict of symbol to str of "0" and "1"
    probabilities : dict of symbol to float

    Examples
    --------
    >>> code = HuffmanCode.of("abracadabra")
    >>> bits = code.encode("abracadabra")
    >>> len(bits), "".join(code.decode(bits))
    (23, 'abracadabra')
    """

    words: dict[Hashable, str]
    probabilities: dict[Hashable, float]

    @classmethod
    def of(cls, source: Iterable[Hashable] | Mapping[Hashable, float]) -> HuffmanCode:
        """From a text (any symbols), or from weights of symbols.

        The two rarest are merged again and again; equal ones in the order of their appearance.

        Parameters
        ----------
        source : iterable of symbols, or mapping of symbol to weight

        Returns
        -------
        code : HuffmanCode
        """
        weights = dict(source) if isinstance(source, Mapping) else dict(Counter(source))
        if not weights or min(weights.values()) <= 0:
            raise DataError("a code needs one symbol or more, of weights above zero")
        total = float(sum(weights.values()))
        heap: list[tuple[float, int, Any]] = [
            (weight, i, symbol) for i, (symbol, weight) in enumerate(weights.items())
        ]
        words = dict.fromkeys(weights, "0" if len(weights) == 1 else "")
        members = {i: [symbol] for i, symbol in enumerate(weights)}
        heapq.heapify(heap)
        for number in range(len(heap), 2 * len(heap) - 1):
            rare, common = heapq.heappop(heap), heapq.heappop(heap)
            for bit, (_, place, _) in zip("01", (rare, common)):
                for symbol in members[place]:
                    words[symbol] = bit + words[symbol]
            members[number] = members.pop(rare[1]) + members.pop(common[1])
            heapq.heappush(heap, (rare[0] + common[0], number, None))
        return cls(words, {symbol: weight / total for symbol, weight in weights.items()})

    @property
    def mean_length(self) -> float:
        """Expected bits per symbol."""
        return sum(p * len(self.words[symbol]) for symbol, p in self.probabilities.items())

    @property
    def entropy(self) -> float:
        """Bits per symbol that no code can go below."""
        return entropy(list(self.probabilities.values()), base=2)

    def encode(self, text: Iterable[Hashable]) -> str:
        """The text as a string of "0" and "1"."""
        try:
            return "".join([self.words[symbol] for symbol in text])
        except KeyError as error:
            raise DataError(f"the code has no word for {error.args[0]!r}") from None

    def decode(self, bits: str) -> list[Hashable]:
        """The symbols of a string of "0" and "1"."""
        symbols = {word: symbol for symbol, word in self.words.items()}
        found, word = [], ""
        for bit in bits:
            word += bit
            if word in symbols:
                found.append(symbols[word])
                word = ""
        if word:
            raise DataError(f"the bits end inside a word: {word!r} is left over")
        return found


def lempel_ziv(text: Sequence[Hashable]) -> list[tuple[int, Any]]:
    """Lempel and Ziv's code of 1978: pairs of an earlier phrase's number and the next symbol.

    Every phrase is the longest that was seen before, plus one symbol; number 0 is the empty phrase.
    It needs no probabilities and reaches the entropy of long texts.

    Parameters
    ----------
    text : sequence of symbols

    Returns
    -------
    pairs : list of (int, symbol)
        The last symbol is None where the text ends within a known phrase.

    Examples
    --------
    >>> lempel_ziv("abab")
    [(0, 'a'), (0, 'b'), (1, 'b')]
    """
    known: dict[tuple[int, Any], int] = {}
    pairs, phrase = [], 0
    for symbol in text:
        longer = known.get((phrase, symbol))
        if longer is not None:
            phrase = longer
            continue
        known[(phrase, symbol)] = len(known) + 1
        pairs.append((phrase, symbol))
        phrase = 0
    if phrase:
        pairs.append((phrase, None))
    return pairs


def lempel_ziv_decode(pairs: Iterable[tuple[int, Any]]) -> list[Any]:
    """The text of `lempel_ziv`'s pairs.

    Parameters
    ----------
    pairs : iterable of (int, symbol)

    Returns
    -------
    text : list of symbols

    Examples
    --------
    >>> "".join(lempel_ziv_decode([(0, "a"), (0, "b"), (1, "b")]))
    'abab'
    """
    phrases: list[list[Any]] = [[]]
    text: list[Any] = []
    for number, symbol in pairs:
        if not 0 <= number < len(phrases):
            raise DataError(f"phrase {number} is not known yet; there are {len(phrases) - 1}")
        phrase = phrases[number] + ([] if symbol is None else [symbol])
        phrases.append(phrase)
        text += phrase
    return text


def lempel_ziv_bits(text: Sequence[Hashable]) -> int:
    """Bits of `lempel_ziv`'s pairs: each number in as many as its largest needs, then a symbol.

    Parameters
    ----------
    text : sequence of symbols

    Returns
    -------
    bits : int

    Examples
    --------
    >>> lempel_ziv_bits("abab")
    6
    """
    per_symbol = int(np.ceil(np.log2(max(len(set(text)), 2))))
    pairs = lempel_ziv(text)
    return sum(int(np.ceil(np.log2(i + 1))) + per_symbol for i in range(len(pairs)))


@dataclass(repr=False, eq=False)
class SourceCoding(Result):
    """Bits of a text under several codes, beside the bounds by its entropies.

    Attributes
    ----------
    characters : int
    bits : dict of str to float
        Total bits of each code or bound.
    """

    characters: int
    bits: dict[str, float]

    def _title(self):
        return f"Codes of a text of {self.characters:,} characters"

    def _columns(self):
        return {
            "code": list(self.bits),
            "bits": list(self.bits.values()),
            "bits per character": [each / self.characters for each in self.bits.values()],
        }

    def _remarks(self):
        return [
            "Entropies count neither the table of symbols nor what neighbours tell of each other; "
            "word entropy knows the words of this very text"
        ]


def source_coding(text: str) -> SourceCoding:
    """How short a text can be: entropies of characters and words, Huffman, Lempel-Ziv, zlib.

    Parameters
    ----------
    text : str

    Returns
    -------
    comparison : SourceCoding

    Examples
    --------
    >>> found = source_coding("to be or not to be that is the question " * 20)
    >>> found.bits["characters: entropy"] <= found.bits["characters: Huffman"]
    True
    """
    if not text:
        raise DataError("there is no text to code")
    words = text.split()
    characters = HuffmanCode.of(text)
    bits = {
        "8 bits per character": 8.0 * len(text.encode()),
        "equal lengths": len(text) * float(np.ceil(np.log2(max(len(set(text)), 2)))),
        "characters: entropy": len(text) * characters.entropy,
        "characters: Huffman": float(len(characters.encode(text))),
    }
    if words:
        by_word = HuffmanCode.of(words)
        bits["words: entropy"] = len(words) * by_word.entropy
        bits["words: Huffman"] = float(len(by_word.encode(words)))
    bits["Lempel-Ziv 1978"] = float(lempel_ziv_bits(text))
    bits["zlib"] = 8.0 * len(zlib.compress(text.encode(), 9))
    return SourceCoding(len(text), bits)
