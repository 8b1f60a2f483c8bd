"""What `gnomon detect` shows: pictures with boxes, and a report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gnomon import show
from gnomon.vision import read_image
from gnomon.workbench.base.report import Report, Verdict
from gnomon.workbench.detect.result import HEADINGS, DetectResult, Found

MOST_PICTURES = 12  # judgement: every picture is inside the report; some 100 KB each
GOOD = 0.5  # mean average precision


def shown(result: DetectResult) -> list[Found]:
    """Pictures of the report: those of the test first, then those with most boxes."""
    order = sorted(result.found, key=lambda each: (not each.is_test, -len(each.detections)))
    return order[:MOST_PICTURES]


def pictures_of(result: DetectResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a result: functions of the theme, by name."""
    return {each.name: partial(_draw, each) for each in shown(result)}


def _draw(each: Found, theme: str) -> Any:
    truth = None if each.truth is None else each.truth[0]
    image = np.asarray(read_image(each.path), dtype=np.float64)
    return show.detector_boxes(image, each.detections, truth, theme=theme)


def report_of(result: DetectResult) -> Report:
    """The report of detections."""
    source = result.run.record["source"] or "pictures"
    about = f"{type(result.model).__name__}: {', '.join(str(each) for each in _classes(result))}"
    report = Report(f"Objects in {source}", about)
    report.section("Verdict")
    report.verdict(result.verdict(), _mark(result))
    for text in result.notes:
        report.text(text)
    lines = result.lines()
    if lines:
        report.section("Classes")
        report.table(
            HEADINGS,
            lines,
            "On the test pictures, at the threshold of the model; a box is found where one of its "
            "class overlaps it by more than one half.",
        )
    report.section("Pictures")
    for each in shown(result):
        kind = "" if result.precision is None else f" ({'' if each.is_test else 'not '}in the test)"
        report.figure(_draw(each, "light"), f"{each.name}{kind}")
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report


def _mark(result: DetectResult) -> Verdict:
    """Good where the range of the precision begins at `GOOD` or above, bad where it is 0."""
    if result.precision is None:
        return "warning"
    if not result.precision.value:
        return "bad"
    return "good" if result.precision.low >= GOOD else "warning"


def _classes(result: DetectResult) -> Any:
    return result.model.classes_
