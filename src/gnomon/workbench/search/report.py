"""What `gnomon search` shows: a report of the rows found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon.workbench.base.report import Report
from gnomon.workbench.search.result import HEADINGS, SearchResult

NAMES = {
    "bm25": "BM25",
    "cosine": "cosine of TF-IDF weights",
    "lsa": "cosine in the space of latent semantic analysis",
}


def pictures_of(result: SearchResult) -> dict[str, Callable[[str], Any]]:
    """A search has no pictures."""
    return {}


def report_of(result: SearchResult) -> Report:
    """The report of a search."""
    source = result.run.called or "a table"
    report = Report(f"Search in {source}", f"column {result.settings.text}")
    if result.unknown:
        report.section("Unknown words")
        report.verdict(f"No text holds {', '.join(result.unknown)}.", "warning")
    for query in dict.fromkeys(result.settings.query):
        report.section(query)
        lines = result.lines(query, 400)
        if lines:
            score = NAMES[result.settings.method]
            report.table(HEADINGS, lines, f"Score: {score}. Rows are counted from 0.")
        else:
            report.text("No text fits.")
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
