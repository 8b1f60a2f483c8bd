"""What `image` shows: the picture before and after, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon import show
from gnomon.workbench.base.report import Report
from gnomon.workbench.image.result import ImageResult


def pictures_of(result: ImageResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a result: functions of the theme, by name."""
    return {
        "before and after": lambda theme: show.labeled_image(
            result.found, result.picture, theme=theme
        )
    }


def report_of(result: ImageResult) -> Report:
    """The report of a picture."""
    report = Report(f"Picture {result.run.record['source'] or ''}", str(result))
    report.section("Before and after")
    report.figure(result.plot(), "Where the answer is unsure: 1 less the largest share.")
    report.section("Decisions")
    made = [[each["what"], each["why"]] for each in result.run.decisions]
    report.table(["what", "why"], made)
    return report
