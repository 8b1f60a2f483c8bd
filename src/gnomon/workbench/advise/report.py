"""What `advise` shows: the methods tried, where they were, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon import show
from gnomon.workbench.advise.result import Advice
from gnomon.workbench.base.report import Report


def pictures_of(advice: Advice) -> dict[str, Callable[[str], Any]]:
    """The pictures of an advice: functions of the theme, by name."""
    if advice.tried is None:
        return {}
    return {"leaderboard": lambda theme: show.leaderboard(advice.tried, theme=theme)}


def report_of(advice: Advice) -> Report:
    """The report of an advice."""
    facts = advice.facts
    report = Report(
        f"Methods to predict {advice.target}",
        f"to {facts.task}: {facts.rows:,} rows · {facts.columns} columns",
    )
    report.section("Methods")
    report.table(
        ["method", "weight", "reason", "text"],
        [
            [each.name, reason.weight, reason.why, reason.texts]
            for each in advice.recommendations
            for reason in each.reasons
        ],
    )
    if advice.cautions:
        report.section("Cautions")
        for reason in advice.cautions:
            report.verdict(f"{reason.why} ({reason.texts})", "warning")
    if advice.tried is not None:
        report.section("The methods on the same folds")
        report.figure(advice.plot(), "Scores with 95% intervals.")
    return report
