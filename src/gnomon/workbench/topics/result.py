"""What `topics` gives back: the topics, their number, their documents, how far to trust them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnomon.evaluate import Estimate
from gnomon.table import Table
from gnomon.text import GibbsLDA
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.topics.options import TopicsOptions

HEADINGS = ["topic", "share", "stability", "coherence", "words"]
SHAKY = 0.7  # cosine with the match from another seed below which a topic is called unstable


class Candidate(NamedTuple):
    """One number of topics and how well it predicts.

    Attributes
    ----------
    n_topics : int
    likelihood : Estimate
        Mean log-probability of a held-out word.
    by_seed : list of float
        The same for each seed of the sampler.
    gain : Estimate
        The difference to one topic, over the same words.
    """

    n_topics: int
    likelihood: Estimate
    by_seed: list[float]
    gain: Estimate


@dataclass(repr=False)
class TopicsResult(JobResult):
    """Topics of texts; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    model : GibbsLDA
    candidates : list of Candidate
        Numbers of topics that were compared; the first is one topic.
    stability : ndarray of shape (n_topics,)
        Cosine of each topic's words with those of its match from another seed.
    coherence : ndarray of shape (n_topics,)
        NPMI of its top words.
    periods : dict
        Texts and shares of topics by stretch of time; empty without dates.
    """

    model: GibbsLDA
    candidates: list[Candidate]
    stability: np.ndarray
    coherence: np.ndarray
    periods: dict[str, np.ndarray]
    data: Table
    texts: list[str]
    run: Run
    settings: TopicsOptions
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def n_topics(self) -> int:
        """The number of topics; 1 means that there are none."""
        return len(self.model.components_)

    @property
    def shares(self) -> np.ndarray:
        """Mean share of each topic in the texts."""
        return np.asarray(self.model.doc_topic_.mean(axis=0))

    def order(self) -> list[int]:
        """Topics by their share, the most frequent first."""
        return np.argsort(-self.shares, kind="stable").tolist()

    def verdict(self) -> str:
        """In a sentence: are there topics, and how many."""
        best = max(self.candidates, key=lambda each: each.likelihood.value)
        if self.n_topics == 1:
            return (
                "There are no topics that predict: no number of topics completes held-out texts "
                "better than the frequencies of words alone."
            )
        mine = next((c for c in self.candidates if c.n_topics == self.n_topics), best)
        gain = mine.gain
        sure = "" if gain.low > 0 else " This is not beyond chance."
        return (
            f"{self.n_topics} topics: a held-out word is {np.exp(gain.value):.2f} times as "
            f"probable as by word frequencies alone ({np.exp(gain.low):.2f} to "
            f"{np.exp(gain.high):.2f}, 95% interval); {int((self.stability < SHAKY).sum())} of "
            f"the topics are not found again from another seed.{sure}"
        )

    def lines(self) -> list[list[Any]]:
        """The topics as text; `HEADINGS` are those of the columns."""
        words = self.model.top_words(self.settings.n_words)
        return [
            [
                t + 1,
                f"{self.shares[t]:.1%}",
                f"{self.stability[t]:.2f}",
                f"{self.coherence[t]:.2f}",
                ", ".join(words[t]),
            ]
            for t in self.order()
        ]

    def candidate_lines(self) -> list[list[Any]]:
        """The numbers of topics that were compared."""
        return [
            [
                each.n_topics,
                str(each.likelihood),
                f"{np.exp(-each.likelihood.value):.0f}",
                ", ".join(f"{value:.4f}" for value in each.by_seed),
                "" if each.n_topics == 1 else str(each.gain),
            ]
            for each in self.candidates
        ]

    def typical(self, topic: int, n_texts: int = 3) -> list[int]:
        """Rows whose texts have the largest share of a topic."""
        found: list[int] = np.argsort(-self.model.doc_topic_[:, topic], kind="stable").tolist()
        return found[:n_texts]

    def table(self) -> Table:
        """Shares of the topics in each text."""
        shares = self.model.doc_topic_
        columns: dict[str, Any] = {"row": np.arange(len(shares))}
        columns |= {f"topic {t + 1}": shares[:, t] for t in range(shares.shape[1])}
        return Table.from_dict(columns)

    def word_table(self) -> Table:
        """Top words of the topics with their probabilities."""
        words = self.model.top_words(self.settings.n_words)
        probability = -np.sort(-self.model.topic_word_, axis=1)
        pairs = [(t, r) for t in range(self.n_topics) for r in range(len(words[t]))]
        return Table.from_dict(
            {
                "topic": [t + 1 for t, _ in pairs],
                "rank": [r + 1 for _, r in pairs],
                "word": [words[t][r] for t, r in pairs],
                "probability": [float(probability[t, r]) for t, r in pairs],
            }
        )

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "texts": len(self.texts),
                "terms": len(self.model.terms_),
                "n_topics": self.n_topics,
                "candidates": [each._asdict() for each in self.candidates],
                "topics": [
                    {
                        "words": words,
                        "share": float(self.shares[t]),
                        "stability": float(self.stability[t]),
                        "coherence": float(self.coherence[t]),
                    }
                    for t, words in enumerate(self.model.top_words(self.settings.n_words))
                ],
                "notes": self.notes,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the words of the topics, their shares in the texts, and the model."""
        written(self.word_table(), folder / "words.csv")
        written(self.table(), folder / "shares.csv")
        self.save(folder / "model.gnomon")

    @property
    def same_if(self) -> str:
        """Whether a repetition finds the same topics, as an expression."""
        return f"result.n_topics == {self.n_topics}"

    def __str__(self) -> str:
        sizes = f"{len(self.texts):,} texts, {len(self.model.terms_):,} terms"
        return "\n".join([sizes, *self.notes, self.verdict()])
