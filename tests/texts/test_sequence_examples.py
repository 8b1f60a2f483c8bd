"""The examples of noisy text do on a real book what they say (000b 13.2.4, 13.3.1)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BOOK = ROOT.parent / "shared" / "data" / "shakespeare_8_plays.txt.gz"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not BOOK.exists(), reason="the book is not here"),
]


@pytest.fixture
def examples(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples")
    yield
    for name in ("break_a_cipher", "correct_a_text"):
        sys.modules.pop(name, None)


@pytest.mark.covers("substitution-cipher", "baum-welch-frozen")
def test_a_cipher_of_27_letters_is_broken(examples, rng):
    import break_a_cipher

    assert break_a_cipher.main(BOOK, 10_000, int(rng.integers(10**6))) > 0.9


@pytest.mark.covers("noisy-channel-correction")
def test_longer_histories_correct_more(examples, rng):
    import correct_a_text

    wrong = correct_a_text.main(BOOK, 3000, 0.1, int(rng.integers(10**6)))
    assert wrong[3] < wrong[2] < wrong[0]
