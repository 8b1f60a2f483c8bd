"""What `gnomon forecast` shows: pictures, and a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import show
from gnomon.sequence import autocorrelation, decomposition
from gnomon.workbench.base.report import Report, drawn_together
from gnomon.workbench.forecast.competition import without_gaps
from gnomon.workbench.forecast.result import HEADINGS, ForecastResult

MOST_FANS = 6  # judgement: series drawn one by one; the table has all
CAPTIONS = {
    "forecast": "The series, the forecast and its interval. The gray band shows the last window, "
    "forecast from the values before it.",
    "errors by horizon": "Root mean squared scaled error at each step ahead, over all origins: how "
    "far ahead a method can be trusted.",
    "residuals": "Errors one step ahead from the origins and their autocorrelation: bars beyond "
    "the lines are a pattern that the method has missed.",
    "decomposition": "Trend, season and rest by moving averages; they add up to the series.",
}


def pictures_of(result: ForecastResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a forecast: functions of the theme, by name."""
    return drawn_together(lambda theme: figures_of(result, theme))


def figures_of(result: ForecastResult, theme: str = "light") -> dict[str, Any]:
    """The pictures of a forecast by name."""
    found: dict[str, Any] = {}
    several = len(result.series.series) > 1
    for place, each in enumerate(result.series.series[:MOST_FANS]):
        name = f"forecast of {each.name}" if several else "forecast"
        found[name] = _fan(result, place, theme)
    found["errors by horizon"] = show.horizon_errors(
        {
            line.name: np.sqrt(_mean(_scaled(result, line.name) ** 2, axis=0))
            for line in result.board[:6]
        },
        theme=theme,
    )
    found["residuals"] = _residuals(result, theme)
    first = result.series.series[0]
    values = without_gaps(first.values)
    found["decomposition"] = show.series_parts(
        result.series.dates(first),
        {"series": values} | decomposition(values, result.period),
        title="Decomposition" + (f" of {first.name}" if several else ""),
        theme=theme,
    )
    return found


def _fan(result: ForecastResult, place: int, theme: str) -> Any:
    each = result.series.series[place]
    held = result.held_out
    before = None
    if held is not None:
        count = result.settings.horizon
        dates = result.series.dates(each)[-count:]
        before = (dates, held.low[place], held.high[place])
    return show.forecast_fan(
        result.series.dates(each),
        each.values,
        result.series.dates(each, result.settings.horizon),
        result.forecasts[place],
        result.low[place],
        result.high[place],
        earlier=before,
        name=each.name or result.settings.target,
        note=f"{result.model_name}; {result.settings.confidence_level:.0%} intervals",
        theme=theme,
    )


def _scaled(result: ForecastResult, name: str) -> np.ndarray:
    found = result.results[name]
    return (found.errors / found.scales[:, :, None]).reshape(-1, found.errors.shape[2])


def _mean(values: np.ndarray, axis: int) -> np.ndarray:
    count = (~np.isnan(values)).sum(axis=axis)
    return np.where(count > 0, np.nansum(values, axis=axis) / np.maximum(count, 1), np.nan)


def _residuals(result: ForecastResult, theme: str) -> Any:
    found = result.results[result.chosen]
    errors = (found.errors / found.scales[:, :, None])[0, :, 0]
    known = ~np.isnan(errors)
    dates = result.series.dates(result.series.series[0])
    starts = [dates[len(dates) - back] for back in found.origins.tolist()]
    lags = max(min(len(errors) - 2, 12), 1)
    return show.forecast_residuals(
        [start for start, keep in zip(starts, known, strict=True) if keep],
        errors[known],
        autocorrelation(errors[known], lags) if known.sum() > 2 else np.ones(1),
        theme=theme,
    )


def report_of(result: ForecastResult) -> Report:
    """The report of a forecast."""
    options = result.settings
    source = result.run.called or "a table"
    report = Report(f"Forecast of {options.target}", f"{source}, {options.horizon} steps ahead")
    report.section("Verdict")
    report.verdict(result.verdict(), "good" if result.beats_baseline else "warning")
    report.text(result.held_out_text())
    for note in result.notes:
        report.text(note)
    figures = figures_of(result)
    report.section("Forecast")
    fans = [name for name in figures if name.startswith("forecast")]
    for name in fans:
        report.figure(figures.pop(name), CAPTIONS["forecast"])
    if len(result.series.series) > MOST_FANS:
        report.text(f"Pictures of the first {MOST_FANS} of {len(result.series.series)} series.")
    table = result.table()
    rows = [list(table.row(i).values()) for i in range(min(len(table), 200))]
    report.table(list(table.columns), rows, _interval_note(result))
    report.section("Methods that competed")
    report.table(
        HEADINGS,
        result.board_lines(),
        f"Over {len(result.origins.tried)} origins. MASE: mean absolute error in units of the "
        "naive forecast's on earlier values; p of the Diebold-Mariano test against the baseline; "
        "intervals of 95% that allow for overlapping windows.",
    )
    for name, figure in figures.items():
        report.figure(figure, CAPTIONS[name])
    if result.left_out:
        report.table(["did not compete", "why"], list(result.left_out.items()))
    report.section("Decisions")
    report.table(["what", "why"], [[each["what"], each["why"]] for each in result.run.decisions])
    return report


def _interval_note(result: ForecastResult) -> str:
    return (
        f"Intervals of {result.settings.confidence_level:.0%}, from the errors of the chosen "
        "method at the origins, by horizon."
    )
