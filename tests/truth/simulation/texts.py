"""What `topics` says of texts that have no topics."""

from __future__ import annotations

import numpy as np

from gnomon.workbench.topics.job import topics
from tests.truth.simulation.harness import Outcome, simulation

TEXTS, WORDS = 60, 30
# frequencies of words and lengths of texts; in the last law all texts are about one thing, and some
# are short
FREQUENCIES = {
    "equal words": lambda ranks: np.ones_like(ranks),
    "zipf": lambda ranks: 1 / ranks,
    "steep": lambda ranks: ranks**-1.5,
    "two levels": lambda ranks: np.where(ranks < 6, 8.0, 1.0),
    "short texts": lambda ranks: 1 / ranks,
    "lengths apart": lambda ranks: 1 / np.sqrt(ranks),
}


def lengths(law: str, rng: np.random.Generator) -> np.ndarray:
    if law == "short texts":
        return rng.integers(5, 9, size=TEXTS)
    if law == "lengths apart":
        return np.round(5 * np.exp(rng.exponential(size=TEXTS))).clip(5, 120).astype(int)
    return rng.integers(20, 40, size=TEXTS)


@simulation("topics", "gain over one topic", laws=tuple(FREQUENCIES), quick=1, quick_laws=1)
def no_topics(law: str, rng: np.random.Generator) -> Outcome:
    """All words of all texts are drawn from one distribution."""
    share = FREQUENCIES[law](np.arange(1.0, WORDS + 1))
    vocabulary = np.array([f"w{chr(97 + i // 10)}{chr(97 + i % 10)}" for i in range(WORDS)])
    drawn = [
        " ".join(rng.choice(vocabulary, size=n, p=share / share.sum())) for n in lengths(law, rng)
    ]
    found = topics({"text": drawn}, text="text", max_iter=30, random_state=int(rng.integers(1000)))
    return {"gain over one topic": found.n_topics > 1}
