"""What `train` shows: curves on common axes, the network, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gnomon import show
from gnomon.workbench.base.report import Report
from gnomon.workbench.train.result import TrainResult

CAPTIONS = {
    "curves": "Loss and share of wrong classes by epoch, of training rows and of rows that only "
    "validate. The dashed line is the most frequent class. Loss is not error: a loss that rises "
    "while the error falls means probabilities that are too sure.",
    "search": "Validation loss of every setting that was tried, on common axes.",
    "network": "The layers, with the shape of what each gives and its number of parameters.",
}


def pictures_of(result: TrainResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a training: functions of the theme, by name."""
    found: dict[str, Callable[[str], Any]] = {
        "curves": lambda theme: show.training_curves(
            [result.curves], baseline=baseline_of(result), theme=theme
        )
    }
    if result.tried:
        found["search"] = lambda theme: show.training_curves(
            [*result.tried, result.curves], baseline=baseline_of(result), theme=theme
        )
    found["network"] = lambda theme: show.network_blocks(result.network, theme=theme)
    return found


def baseline_of(result: TrainResult) -> float | None:
    """Share of rows that are not of the most frequent class; None for numbers."""
    counts = result.problem.classes
    return 1 - max(counts.values()) / sum(counts.values()) if counts else None


def report_of(result: TrainResult) -> Report:
    """The report of a training."""
    source = result.run.called or "a table"
    report = Report(f"A network for {result.problem.target}", f"{source}")
    report.section("Verdict").verdict(
        result.verdict(), "good" if result.beats_baseline else "warning"
    )
    report.text(result.training())
    for each in result.findings:
        report.verdict(each, "warning")
    report.section("Training")
    for name, draw in pictures_of(result).items():
        report.figure(draw("light"), CAPTIONS[name])
    if result.tried:
        report.section("Settings that were tried")
        lines = [
            [each.name, *(f"{value:.3g}" for value in each.settings.values()), f"{each.least:.4g}"]
            for each in sorted(result.tried, key=lambda each: each.least)
        ]
        report.table(["", *result.tried[0].settings, "least validation loss"], lines)
    report.section("Description of the network").code(result.model.network_)
    report.section("Problem")
    report.table(["what", "value"], [list(line) for line in result.problem.card()])
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report
