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
    report = Report(f"Picture {result.run.called or ''}", str(result))
    report.section("Before and after")
    unsure = getattr(result.found, "probabilities", None) is not None
    shown = "Where the answer is unsure: 1 less the largest share." if unsure else ""
    report.figure(result.plot(), shown)
    report.section("Decisions")
    made = [[each["what"], each["why"]] for each in result.run.decisions]
    report.table(["what", "why"], made)
    return report
