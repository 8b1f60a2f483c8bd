"""What `gnomon topics` shows: pictures, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon import show
from gnomon.workbench.base.report import Report
from gnomon.workbench.topics.result import HEADINGS, TopicsResult

MOST_LETTERS = 300  # judgement: the start of a text, enough to recognize it
COMPARED = ["topics", "log-probability of a word", "perplexity", "by seed", "gain over one topic"]
CAPTIONS = {
    "words": "The most probable words of each topic.",
    "map": "Circles are topics, as large as their share of the texts; near ones share words.",
    "time": "Mean share of each topic in the texts of each stretch of time.",
    "document": "The text that is most typical of the most frequent topic.",
}


def pictures_of(result: TopicsResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of topics: functions of the theme, by name."""
    model = result.model
    n_words = result.settings.n_words
    found: dict[str, Callable[[str], Any]] = {
        "words": lambda theme: show.topic_words(model, n_words=n_words, theme=theme)
    }
    if result.n_topics > 1:
        found["map"] = lambda theme: show.topic_map(model, result.shares, theme=theme)
        text = result.texts[result.typical(result.order()[0], 1)[0]]
        found["document"] = lambda theme: show.document_topics(text, model, theme=theme)
    if result.periods:
        names = [", ".join(words) for words in model.top_words(3)]
        found["time"] = lambda theme: show.topics_over_time(
            result.periods["shares"],
            result.periods["period"],
            names,
            errors=result.periods["half"],
            theme=theme,
        )
    return found


def report_of(result: TopicsResult) -> Report:
    """The report of topics."""
    source = result.run.called or "a table"
    report = Report(
        f"Topics of {source}",
        f"column {result.settings.text}: {len(result.texts):,} texts, "
        f"{len(result.model.terms_):,} terms",
    )
    report.section("Verdict")
    report.verdict(result.verdict(), "good" if result.n_topics > 1 else "warning")
    for text in result.notes:
        report.text(text)
    report.section("Topics")
    report.table(
        HEADINGS,
        result.lines(),
        "By share of the texts. Stability: cosine of the topic's words with those of its match "
        "from another seed. Coherence: NPMI of its top words in these texts, from -1 to 1.",
    )
    for name, draw in pictures_of(result).items():
        report.figure(draw("light"), CAPTIONS[name])
    report.section("Number of topics")
    report.table(
        COMPARED,
        result.candidate_lines(),
        "A fifth of the texts put aside and completed: half of the words of each given, the other "
        "half predicted. 95% intervals over texts.",
    )
    report.section("Typical texts")
    rows = [
        [t + 1, row, f"{result.model.doc_topic_[row, t]:.0%}", result.texts[row][:MOST_LETTERS]]
        for t in result.order()
        for row in result.typical(t)
    ]
    report.table(["topic", "row", "share", "text"], rows, "Rows are counted from 0.")
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
