"""Words of texts as numbers, read from their bytes in one pass.

A word is a run of two or more letters, digits or underscores, as in scikit-learn's default
pattern. A kernel walks over the UTF-8 bytes of many texts, numbers each new word in the order of
its first occurrence (open addressing, compared byte by byte), and so never makes a Python string
of a word that it has seen before, which is faster than splitting with a regular expression.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from gnomon.engine.kernel import kernel, lean_subkernel

LETTERS_AT_ONCE = 2**22  # characters of a chunk, to bound memory
FIRST_SLOTS = 2**17  # a chunk of English prose has about 40,000 different words
HASH_BITS = (1 << 42) - 1  # a product with the factor stays below 2^63


class Words(NamedTuple):
    """The words of a chunk of texts.

    Attributes
    ----------
    names : list of str
        The different words, in the order of their first occurrence.
    numbers : ndarray of shape (n_words,)
        Each word's place in `names`, text after text.
    ends : ndarray of shape (n_texts + 1,)
        Words of text i are those from ``ends[i]`` to ``ends[i + 1]``.
    """

    names: list[str]
    numbers: np.ndarray
    ends: np.ndarray


class Grams(NamedTuple):
    """Counted terms of a chunk of texts: a CSR matrix in the order of first occurrence."""

    names: list[str]
    counts: np.ndarray
    numbers: np.ndarray
    ends: np.ndarray


def chunks_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in lists of about `LETTERS_AT_ONCE` characters."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size >= LETTERS_AT_ONCE:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def split_words(texts: list[str]) -> Words:
    """The words of some texts, in small and capital letters as they stand.

    Examples
    --------
    >>> found = split_words(["to be or not to be", "a bee"])
    >>> found.names, found.numbers.tolist(), found.ends.tolist()
    (['to', 'be', 'or', 'not', 'bee'], [0, 1, 2, 3, 0, 1, 4], [0, 6, 7])
    """
    joined = "".join(texts)
    if joined.isascii():
        letters, sizes, table = joined.encode(), map(len, texts), word_letters()[:128]
    else:
        parts = [text.encode("utf-8", "surrogatepass") for text in texts]
        letters, sizes, table = b"".join(parts), map(len, parts), word_letters()
    borders = np.concatenate([[0], np.cumsum(np.fromiter(sizes, np.int64, len(texts)))])
    most = (len(letters) + len(texts)) // 3 + 1  # two letters and a border make a word
    numbers = np.empty(most, dtype=np.int32)
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    places = np.empty((most, 2), dtype=np.int64)
    content, n_slots, n_different = np.frombuffer(letters, dtype=np.uint8), FIRST_SLOTS, -1
    while n_different < 0:
        slots = np.full(n_slots, -1, dtype=np.int32)
        n_different = number_words(content, borders, table, slots, numbers, ends, places)
        n_slots *= 8
    found = places[:n_different].tolist()
    names = [letters[start:end].decode("utf-8", "surrogatepass") for start, end in found]
    return Words(names, numbers[: ends[-1]].astype(np.int64), ends)


@functools.cache
def word_letters() -> np.ndarray:
    """Whether each character of Unicode belongs to words: Python's ``\\w``."""
    characters = np.arange(0x110000, dtype=np.uint32).view("U1")
    table = np.strings.isalnum(characters)
    table[ord("_")] = True
    return table.astype(np.uint8)


@lean_subkernel
def character_at(letters, i):
    """The character whose first byte is not ASCII, and its number of bytes."""
    first = np.int64(letters[i])
    second = np.int64(letters[i + 1]) & 0x3F
    if first < 0xE0:
        return ((first & 0x1F) << 6) | second, 2
    third = np.int64(letters[i + 2]) & 0x3F
    if first < 0xF0:
        return ((first & 0x0F) << 12) | (second << 6) | third, 3
    fourth = np.int64(letters[i + 3]) & 0x3F
    return ((first & 0x07) << 18) | (second << 12) | (third << 6) | fourth, 4


@lean_subkernel
def place_of(slots, hashes, places, letters, mixed, start, end):
    """The slot that holds a word, or the free one where it belongs."""
    last = len(slots) - 1
    slot = (mixed ^ (mixed >> 21)) & last
    while slots[slot] >= 0:
        number = slots[slot]
        if hashes[number] == mixed and places[number, 1] - places[number, 0] == end - start:
            shift = places[number, 0] - start
            j = start
            while j < end and letters[j] == letters[j + shift]:
                j += 1
            if j == end:
                return slot
        slot = (slot + 1) & last
    return slot


@kernel("u1[:]", "i8[:]", "u1[:]", "out i4[:]", "out i4[:]", "out i8[:]", "out i8[:,:]")
def number_words(letters, borders, is_word, slots, numbers, ends, places):
    """Number the words of texts that lie end to end as UTF-8.

    letters (n_bytes,), borders (n_texts + 1,), is_word (n_characters,), slots (a power of two,)
    filled with -1. Writes the number of each word, where the words of each text end, and start and
    end of each different word; returns how many different words there are, -1 where they fill more
    than half of the slots.
    """
    hashes = np.empty(len(slots) // 2 + 1, dtype=np.int64)
    n_words = 0
    n_different = 0
    for t in range(len(borders) - 1):
        end = borders[t + 1]
        i = borders[t]
        while i < end:
            start = i
            length = 0
            mixed = 0
            while i < end:
                character = np.int64(letters[i])
                step = 1
                if character >= 128:
                    character, step = character_at(letters, i)
                if is_word[character] == 0:
                    break
                length += 1
                mixed = ((mixed * 1000003) ^ (character + 1)) & HASH_BITS
                i += step
            if length >= 2:
                slot = place_of(slots, hashes, places, letters, mixed, start, i)
                if slots[slot] < 0:
                    if 2 * n_different >= len(slots):
                        return -1
                    slots[slot] = n_different
                    hashes[n_different] = mixed
                    places[n_different, 0] = start
                    places[n_different, 1] = i
                    n_different += 1
                numbers[n_words] = slots[slot]
                n_words += 1
            if i < end:
                i += step
        ends[t + 1] = n_words
    return n_different


def renumbered(words: Words, names: list[str | None]) -> Words:
    """Words under other names: equal ones become one word, None is left out.

    Parameters
    ----------
    words : Words
    names : list of str or None
        One for each entry of ``words.names``.
    """
    kept = np.array([name is not None for name in names], dtype=bool)
    known: dict[str, int] = {}
    map_to = np.array([-1 if n is None else known.setdefault(n, len(known)) for n in names], int)
    present = kept[words.numbers] if len(names) else np.zeros(0, dtype=bool)
    before = np.concatenate([[0], np.cumsum(present)])
    return Words(list(known), map_to[words.numbers[present]], before[words.ends])


def counted_grams(words: Words, shortest: int, longest: int) -> Grams:
    """Runs of `shortest` to `longest` words, counted in each text."""
    if (shortest, longest) == (1, 1):
        return counted(words)
    streams, texts = [], []
    names: list[str] = []
    n_texts = len(words.ends) - 1
    of_text = np.repeat(np.arange(n_texts), np.diff(words.ends))
    gram_names, grams, owners = words.names, words.numbers, of_text
    longest = min(longest, max(int(np.diff(words.ends).max(initial=0)), shortest))
    for n in range(1, longest + 1):
        if n > 1:
            # a run of n words is a run of n - 1 followed by a word of the same text
            after = words.numbers[n - 1 :]
            whole = of_text[n - 1 :] == of_text[: len(after)]
            keys = grams[: len(after)] * len(words.names) + after
            kept = np.flatnonzero(whole)
            different, coded = first_seen(keys[kept])
            left, right = np.divmod(different, len(words.names))
            gram_names = [
                f"{gram_names[a]} {words.names[b]}" for a, b in zip(left.tolist(), right.tolist())
            ]
            grams = np.zeros(len(words.numbers), dtype=np.int64)
            grams[kept] = coded
            streams_of_n, owners = coded, of_text[kept]
        else:
            streams_of_n = grams
        if n >= shortest:
            streams.append(streams_of_n + len(names))
            texts.append(owners)
            names += gram_names
    together, whose = np.concatenate(streams), np.concatenate(texts)
    order = np.argsort(whose, kind="stable")
    different, coded = first_seen(together[order])
    ends = np.searchsorted(whose[order], np.arange(n_texts + 1))
    return counted(Words([names[k] for k in different.tolist()], coded, ends))


def first_seen(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different keys in the order of their first occurrence, and each key's place among them."""
    coded = pa.array(keys).dictionary_encode()
    different = coded.dictionary.to_numpy(zero_copy_only=False)
    return different, coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def counted(words: Words) -> Grams:
    """How often each word occurs in each text."""
    numbers = np.empty(len(words.numbers), dtype=np.int64)
    counts = np.empty(len(words.numbers), dtype=np.int64)
    ends = np.zeros(len(words.ends), dtype=np.int64)
    last = np.full(len(words.names), -1, dtype=np.int64)
    count_words(words.numbers, words.ends, last, numbers, counts, ends)
    return Grams(words.names, counts[: ends[-1]], numbers[: ends[-1]], ends)


@kernel("i8[:]", "i8[:]", "out i8[:]", "out i8[:]", "out i8[:]", "out i8[:]")
def count_words(words, borders, last, numbers, counts, ends):
    """Count the words of each text. last (n_different,) is filled with -1."""
    n = 0
    for t in range(len(borders) - 1):
        first = n
        for i in range(borders[t], borders[t + 1]):
            word = words[i]
            place = last[word]
            if place < first:
                last[word] = n
                numbers[n] = word
                counts[n] = 1
                n += 1
            else:
                counts[place] += 1
        ends[t + 1] = n
