"""Words and pairs of adjacent words of texts, counted once per text and kept for the next fit.

A table of texts is read again in every fold and for every setting that is tried; splitting the
texts takes far longer than the fit. So texts are split once per process: every term has a number,
and of each text the numbers and counts of its terms are kept, up to a bound.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from itertools import pairwise

import numpy as np

WORD = re.compile(r"\w\w+")
MOST_KEPT = 20_000_000  # numbers of terms of all texts together: 160 MB


def words(text: object) -> list[str]:
    """Lower-case words of two characters or more."""
    return WORD.findall(str(text).lower())


class TermCounts:
    """Numbers of terms, and the counted terms of texts.

    Attributes
    ----------
    names : list of str
        The terms, by number.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._texts: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        self._lock = threading.Lock()
        self.n_kept = 0

    def of(self, texts: list[str | None]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers and counts of the terms of texts, one text after the other, and where each ends.

        Parameters
        ----------
        texts : list of str or None
            None has no terms.

        Returns
        -------
        numbers, counts : ndarray of shape (n_terms,)
        ends : ndarray of shape (n_texts + 1,)
            Terms of text i are those from ``ends[i]`` to ``ends[i + 1]``.
        """
        none = np.zeros(0, dtype=np.int64)
        with self._lock:
            found = [(none, none) if text is None else self._counted(text) for text in texts]
        ends = np.concatenate([[0], np.cumsum([len(each) for each, _ in found])]).astype(np.int64)
        if not found:
            return none, none, ends
        return (
            np.concatenate([each for each, _ in found]),
            np.concatenate([each for _, each in found]),
            ends,
        )

    def places(self, vocabulary: list[str]) -> np.ndarray:
        """For every term its place in a vocabulary, -1 for those that are not in it."""
        with self._lock:
            found = np.full(len(self.names), -1, dtype=np.int64)
            for place, term in enumerate(vocabulary):
                number = self._numbers.get(term)
                if number is not None:
                    found[number] = place
        return found

    def _counted(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        known = self._texts.get(text)
        if known is not None:
            return known
        single = words(text)
        pairs = [f"{one} {two}" for one, two in pairwise(single)]
        counts = Counter(single + pairs)
        numbers = np.fromiter((self._number(term) for term in counts), np.int64, len(counts))
        found = numbers, np.fromiter(counts.values(), np.int64, len(counts))
        self._texts[text] = found
        self.n_kept += len(counts)
        return found

    def _number(self, term: str) -> int:
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self.names)
            self.names.append(term)
        return number


_shared = TermCounts()


def shared_counts() -> TermCounts:
    """The counts of this process; fresh ones where those so far have grown too large."""
    global _shared
    if _shared.n_kept > MOST_KEPT:
        _shared = TermCounts()
    return _shared
