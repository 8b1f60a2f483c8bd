"""Correct letters that were changed on their way: python examples/correct_a_text.py BOOK.

The first part of a book teaches an n-gram model; a part of the rest goes through a channel that
changes letters to their neighbours, and the best path through the model's hidden letters is the
corrected text. Longer histories correct more.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from break_a_cipher import read

from gnomon.sequence import LETTERS, NGramModel, channel, correct_text, corrupt


def main(book: Path, n_letters: int, rate: float, seed: int) -> dict[int, float]:
    """Share of wrong letters before (0) and after correction by n-grams of each length."""
    text = read(book)
    truth, known = text[-n_letters:], text[:-n_letters]
    table = channel(rate)
    alphabet = "".join(sorted(LETTERS))
    noisy = corrupt(truth, table, alphabet, random_state=seed)
    wrong = {0: _wrong(noisy, truth)}
    print(f"noisy:     {noisy[:70]}   {wrong[0]:.1%} wrong")
    for n in (1, 2, 3):
        model = NGramModel(n, epsilon=0.01, alphabet=alphabet).fit([known])
        corrected = correct_text(noisy, model, table)
        wrong[n] = _wrong(corrected, truth)
        print(f"{n}-grams:   {corrected[:70]}   {wrong[n]:.1%} wrong")
    return wrong


def _wrong(text: str, truth: str) -> float:
    return sum(a != b for a, b in zip(text, truth, strict=True)) / len(truth)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("book", type=Path)
    asked.add_argument("--letters", type=int, default=1000)
    asked.add_argument("--rate", type=float, default=0.1)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    main(given.book, given.letters, given.rate, given.seed)
