"""What `gnomon rules` shows: pictures, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon import show
from gnomon.workbench.base.report import Report
from gnomon.workbench.rules.result import HEADINGS, RulesResult

MOST_LISTED = 200  # judgement: rows of a table in the report; the file has all
CAPTIONS = {
    "lifts": "How many times more frequent the right item is among baskets with the left side than "
    "among all, with 95% intervals; 1 is no association.",
    "rules": "Each rule: how many baskets it holds in, how often it is right, and its lift.",
}


def pictures_of(result: RulesResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of rules: functions of the theme, by name."""
    if not result.rules:
        return {}
    return {
        "lifts": lambda theme: show.rule_lifts(result.rules, theme=theme),
        "rules": lambda theme: show.rule_points(result.rules, theme=theme),
    }


def report_of(result: RulesResult) -> Report:
    """The report of rules."""
    source = result.run.called or "a table"
    report = Report(
        f"Rules of {source}",
        f"{result.itemsets.n_baskets:,} baskets, {len(result.itemsets.items):,} items",
    )
    report.section("Verdict").verdict(result.verdict(), "good" if result.rules else "warning")
    for text in filter(None, [result.completion_text(), *result.notes]):
        report.text(text)
    if result.settings.has:
        report.section(f"Who has {' and '.join(result.settings.has)}")
        report.table(["item", "confidence", "lift", "by the rule"], result.suggestion_lines())
    if result.rules:
        report.section("Rules")
        for name, draw in pictures_of(result).items():
            report.figure(draw("light"), CAPTIONS[name])
        report.table(
            HEADINGS,
            result.lines(MOST_LISTED),
            f"By lift; the first {min(MOST_LISTED, len(result.rules))} of {len(result.rules):,}. "
            "p of Fisher's exact test, corrected for all rules searched.",
        )
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
