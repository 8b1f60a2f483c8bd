"""Stems of words: related forms become one term, by the Snowball stemmers.

A stem helps where texts are few; it can merge unrelated words (stock and stocking).

Texts: 000a 6.3.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from gnomon.engine.errors import DataError


def stem_words(words: Iterable[str], language: str = "english") -> list[str]:
    """The stem of each word.

    Parameters
    ----------
    words : iterable of str
        In lower case.
    language : str, default="english"
        A language of the package snowballstemmer, such as "german" or "french"; "porter" is
        Porter's first stemmer of English.

    Returns
    -------
    stems : list of str

    Examples
    --------
    >>> stem_words(["stock", "stocking", "stocks"])
    ['stock', 'stock', 'stock']
    """
    stem = stemmer_of(language)
    return [stem(word) for word in words]


@functools.cache
def stemmer_of(language: str) -> Callable[[str], str]:
    """The function that stems words of a language."""
    try:
        import snowballstemmer
    except ImportError:
        raise DataError(
            "stemming needs the package snowballstemmer: pip install gnomon[text]"
        ) from None
    try:
        return snowballstemmer.stemmer(language).stemWord
    except KeyError:
        known = ", ".join(sorted(snowballstemmer.algorithms()))
        raise DataError(f"there is no stemmer for {language!r}; there are {known}") from None
