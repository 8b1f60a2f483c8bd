"""What `forecast` gives back: the values ahead with intervals, and how methods did before."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from gnomon.evaluate import Estimate, diebold_mariano_test, mean_over_origins
from gnomon.sequence import HorizonErrors, RollingOrigin
from gnomon.table import Table
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.forecast.competition import Origins, baseline_name
from gnomon.workbench.forecast.continued import forecast_table
from gnomon.workbench.forecast.options import ForecastOptions
from gnomon.workbench.forecast.series import SeriesSet

HEADINGS = ["method", "MASE", "sMAPE", "RMSE", "MASE less than baseline's", "p"]
SHOWN = 0.05  # the usual level of 5%


@dataclass(frozen=True)
class Line:
    """How one method did at the origins.

    Attributes
    ----------
    name : str
    mase, smape, rmse : Estimate
        Mean absolute scaled error (1: as the naive forecast on earlier values), symmetric mean
        absolute percentage error, root mean squared error.
    gain : Estimate or None
        The baseline's scaled error less this method's; None for the baseline.
    p : float or None
        Of the Diebold-Mariano test of no difference.
    """

    name: str
    mase: Estimate
    smape: Estimate
    rmse: Estimate
    gain: Estimate | None
    p: float | None


@dataclass(frozen=True)
class HeldOut:
    """The last window, which no choice has seen.

    Attributes
    ----------
    mase, baseline_mase : float
    inside, values : int
        Values within the prediction intervals, and all values.
    result : RollingOrigin
    low, high : ndarray of shape (n_series, horizon)
        The intervals.
    """

    mase: float
    baseline_mase: float
    inside: int
    values: int
    result: RollingOrigin
    low: np.ndarray
    high: np.ndarray


def positive_estimate(losses: np.ndarray, overlap: int, root: bool = False) -> Estimate:
    """A mean of positive losses (or its root), with an interval on the scale of logarithms."""
    mean = mean_over_origins(losses, overlap=overlap)
    value = float(np.sqrt(mean.value)) if root else mean.value
    if not np.isfinite(mean.error) or mean.value <= 0:
        return (
            Estimate(value, value, value) if mean.value == 0 else Estimate(value, -np.inf, np.inf)
        )
    n = int((~np.isnan(losses)).sum())
    relative = mean.error / mean.value / (2 if root else 1)
    reach = float(np.exp(scipy.stats.t.ppf(0.975, n - 1) * relative))
    return Estimate(value, value / reach, value * reach, 0.95, value * relative, mean.how)


def per_origin(losses: np.ndarray) -> np.ndarray:
    """Losses of series and origins as one mean for each origin, or for each of many series.

    Few origins of many series tell more by series: these are then the units.
    """
    axis = 1 if losses.shape[0] >= 2 * losses.shape[1] else 0
    count = (~np.isnan(losses)).sum(axis=axis)
    return np.where(count > 0, np.nansum(losses, axis=axis) / np.maximum(count, 1), np.nan)


def leaderboard_of(results: dict[str, RollingOrigin], period: int, overlap: int) -> list[Line]:
    """The methods, the least scaled error first."""
    baseline = baseline_name(period)
    reference = per_origin(results[baseline].scaled_losses())
    by_series = results[baseline].scaled_losses().shape
    overlap = 0 if by_series[0] >= 2 * by_series[1] else overlap
    lines = []
    for name, result in results.items():
        losses = per_origin(result.scaled_losses())
        size = np.abs(result.y_true) + np.abs(result.y_pred)
        shares = 2 * np.abs(result.errors) / np.where(size > 0, size, 1.0)
        gain = p = None
        if name != baseline:
            test = diebold_mariano_test(reference, losses, overlap=overlap)
            gain, p = test.effects["mean difference"], test.p
        lines.append(
            Line(
                name,
                positive_estimate(losses, overlap),
                positive_estimate(per_origin(_mean_of(shares)), overlap),
                positive_estimate(per_origin(_mean_of(result.errors**2)), overlap, root=True),
                gain,  # type: ignore[arg-type]
                p,
            )
        )
    return sorted(lines, key=lambda line: line.mase.value)


def _mean_of(values: np.ndarray) -> np.ndarray:
    """Means over the horizon; NaN where nothing is known."""
    count = (~np.isnan(values)).sum(axis=2)
    return np.where(count > 0, np.nansum(values, axis=2) / np.maximum(count, 1), np.nan)


@dataclass(repr=False)
class ForecastResult(JobResult):
    """Forecasts with intervals; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    series : SeriesSet
        What was forecast.
    period : int
        Steps of the season; 1 for none.
    season_reason : str
    origins : Origins
    results : dict of str to RollingOrigin
        Forecasts of every method from the origins.
    board : list of Line
        The methods, the best first.
    chosen : str
    model_name : str
        The chosen method with what it settled.
    weights : dict of str to float
        Weights of the methods whose mean is the forecast; they count the last window too.
    held_out : HeldOut or None
        The last window; None where there were too few values.
    intervals : HorizonErrors
        By horizon, in units of `units`.
    forecasts, low, high : ndarray of shape (n_series, horizon)
    relative : bool
        Whether the widths of the intervals are logarithms of ratios to the forecast.
    """

    series: SeriesSet
    period: int
    season_reason: str
    origins: Origins
    results: dict[str, RollingOrigin]
    left_out: dict[str, str]
    board: list[Line]
    chosen: str
    model_name: str
    weights: dict[str, float]
    held_out: HeldOut | None
    intervals: HorizonErrors
    forecasts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    run: Run
    settings: ForecastOptions
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    relative: bool = False

    @property
    def settled(self) -> dict[str, Any]:
        """What `predict` needs to go on: weights of the methods, widths of the intervals."""
        return {
            "weights": self.weights,
            "period": self.period,
            "half widths": self.intervals.half_widths.tolist(),
            "relative": self.relative,
        }

    @property
    def baseline(self) -> str:
        """The forecast that others must beat."""
        return baseline_name(self.period)

    @property
    def line(self) -> Line:
        """How the chosen method did."""
        return next(line for line in self.board if line.name == self.chosen)

    @property
    def beats_baseline(self) -> bool:
        """Whether the chosen method is shown to be better than the baseline."""
        line = self.line
        return line.p is not None and line.p < SHOWN and line.gain.value > 0  # type: ignore[union-attr]

    def verdict(self) -> str:
        """In a sentence: which method, how good, and whether it beats the baseline."""
        line = self.line
        windows = f"{len(self.origins.tried)} origins"
        if self.chosen == self.baseline:
            return (
                f"No method has smaller errors than the {self.baseline} forecast (scaled error "
                f"{line.mase}, {windows}); that forecast is given."
            )
        baseline = next(each for each in self.board if each.name == self.baseline)
        less = 1 - line.mase.value / baseline.mase.value
        p = "< 0.001" if line.p < 0.001 else f"= {line.p:.3f}"  # type: ignore[operator]
        start = f"{self.model_name}: scaled error {line.mase} over {windows}"
        if less < 0:
            return (
                f"{start}, {-less:.0%} more than the {self.baseline} forecast: no method is shown "
                "to be better than it."
            )
        if self.beats_baseline:
            return f"{start}, {less:.0%} less than the {self.baseline} forecast (p {p})."
        return (
            f"{start}, {less:.0%} less than the {self.baseline} forecast, which is not shown to be "
            f"more than chance (p {p})."
        )

    def held_out_text(self) -> str:
        """In a sentence: how the chosen method did on the last window."""
        held = self.held_out
        if held is None:
            return "There are too few values to put a last window aside."
        return (
            f"Last {self.settings.horizon} steps, not used for the choice: scaled error "
            f"{held.mase:.3g} ({self.baseline} {held.baseline_mase:.3g}), {held.inside} of "
            f"{held.values} values inside their {self.settings.confidence_level:.0%} intervals."
        )

    def table(self) -> Table:
        """The forecasts: series, time, forecast, low and high."""
        return forecast_table(self.series, self.settings, self.forecasts, self.low, self.high)

    def board_table(self) -> Table:
        """The leaderboard in numbers."""
        columns: dict[str, list[Any]] = {"method": [line.name for line in self.board]}
        for name in ("mase", "smape", "rmse"):
            for part in ("value", "low", "high"):
                heading = name if part == "value" else f"{name} {part}"
                columns[heading] = [getattr(getattr(line, name), part) for line in self.board]
        columns["p"] = [line.p for line in self.board]
        return Table.from_dict(columns)

    def board_lines(self) -> list[list[Any]]:
        """The leaderboard as text; `HEADINGS` are those of the columns."""
        return [
            [
                line.name,
                str(line.mase),
                f"{line.smape.value:.2%}",
                str(line.rmse),
                "baseline" if line.gain is None else str(line.gain),
                "" if line.p is None else ("<0.001" if line.p < 0.001 else f"{line.p:.3f}"),
            ]
            for line in self.board
        ]

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        horizon = self.settings.horizon
        held = self.held_out
        return as_json(
            {
                "verdict": self.verdict(),
                "chosen": self.chosen,
                "model": self.model_name,
                "beats baseline": self.beats_baseline,
                "settled": self.settled,
                "steps": self.series.calendar.name,
                "season": {"period": self.period, "why": self.season_reason},
                "leaderboard": {
                    line.name: {
                        "mase": line.mase._asdict(),
                        "smape": line.smape._asdict(),
                        "rmse": line.rmse._asdict(),
                        "p": line.p,
                    }
                    for line in self.board
                },
                "left out": self.left_out,
                "held out": None
                if held is None
                else {
                    "mase": held.mase,
                    "baseline mase": held.baseline_mase,
                    "inside": held.inside,
                    "values": held.values,
                },
                "forecasts": [
                    {
                        "series": each.name,
                        "time": self.series.dates(each, horizon),
                        "forecast": self.forecasts[place].tolist(),
                        "low": self.low[place].tolist(),
                        "high": self.high[place].tolist(),
                    }
                    for place, each in enumerate(self.series.series)
                ],
                "notes": self.notes,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the forecasts and the leaderboard."""
        written(self.table(), folder / "forecast.csv")
        written(self.board_table(), folder / "leaderboard.csv")

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same method and the same forecasts, as an expression."""
        total = float(self.forecasts.sum())
        return (
            f"result.chosen == {self.chosen!r} and "
            f"abs(float(result.forecasts.sum()) - {total!r}) <= 1e-9 * {abs(total) + 1!r}"
        )

    def __str__(self) -> str:
        count = len(self.series.series)
        longest = max(map(len, self.series.series))
        what = f"{count} series of" if count > 1 else ""
        season = f"season of {self.period} steps" if self.period > 1 else "no season"
        return "\n".join(
            [
                f"{what} {'up to ' if count > 1 else ''}{longest:,} {self.series.calendar.name}; "
                f"{season} ({self.season_reason})".strip(),
                *self.notes,
                self.verdict(),
                self.held_out_text(),
            ]
        )
