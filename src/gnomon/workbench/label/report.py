"""What `gnomon label` shows: the curve, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon import show
from gnomon.workbench.base.report import Report
from gnomon.workbench.label.result import LabelResult

CAPTION = (
    "Mean accuracy on rows put aside against the number of labels, with 95% intervals "
    "(repeats share rows, which is corrected for): labels chosen by the strategy, and labels drawn "
    "at random."
)


def pictures_of(result: LabelResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of label: functions of the theme, by name."""
    if result.curve is None:
        return {}
    return {"curve": lambda theme: show.label_curves(result.curve, theme=theme)}


def report_of(result: LabelResult) -> Report:
    """The report of label."""
    source = result.run.called or "a table"
    report = Report(f"Labels of {source}", f"{len(result.table):,} rows")
    curve = result.curve
    helps = curve is not None and curve.helps
    report.section("Verdict").verdict(result.verdict(), "good" if helps else "warning")
    for _, draw in pictures_of(result).items():
        report.section("Curve").figure(draw("light"), CAPTION)
    report.section("Rows to label")
    lines = [
        [row, "" if sure != sure else f"{sure:.2f}", result.answers.get(row, "")]
        for row, sure in zip(result.questions, result.sureness)
    ]
    report.table(["row", "probability of the best class", "answer"], lines)
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
