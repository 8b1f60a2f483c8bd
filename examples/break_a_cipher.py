"""Break a substitution cipher of 27 symbols: python examples/break_a_cipher.py BOOK [--letters N].

The first part of a book (any plain text) teaches which letter follows which. The rest is written in
a random cipher; Baum-Welch with these transitions held fixed finds the key from the cipher alone.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from gnomon.sequence import LETTERS, NGramModel, SubstitutionCipher, break_cipher, plain_letters


def read(path: Path) -> str:
    """The letters of a book, plain or compressed."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return plain_letters(raw.decode("utf-8", errors="replace"))


def main(book: Path, n_letters: int, seed: int) -> float:
    """Share of the secret text that is read right with the key that was found."""
    text = read(book)
    secret, known = text[-n_letters:], text[:-n_letters]
    language = NGramModel(2, epsilon=0.01, alphabet=LETTERS).fit([known])
    key = SubstitutionCipher.random(random_state=seed)
    seen = key.encode(secret)
    found, _ = break_cipher(seen, language, n_init=10, random_state=seed)
    opened = found.decode(seen)
    right = sum(a == b for a, b in zip(opened, secret, strict=True)) / len(secret)
    print(f"in cipher: {seen[:70]}")
    print(f"opened:    {opened[:70]}")
    print(f"truth:     {secret[:70]}")
    print(f"{right:.1%} of {len(secret):,} letters right; {found.agreement(key):.0%} of the key")
    return right


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("book", type=Path)
    asked.add_argument("--letters", type=int, default=10_000)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    main(given.book, given.letters, given.seed)
