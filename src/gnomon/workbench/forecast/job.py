"""The job `forecast`: from a table with dates to the values ahead, with intervals that hold.

The rows are put on the equal steps of their calendar; the season is found from calendar and
autocorrelation; methods forecast from several points of the past (rolling origins) and are
compared with the naive baseline; the best by scaled error is asked once about the last window, then
fitted to all values. Prediction intervals come from its errors at the origins, by horizon.
Texts: beyond the texts; Hyndman and Athanasopoulos (2021), Forecasting: Principles and Practice.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from gnomon.evaluate import naive_error
from gnomon.sequence import RollingOrigin, horizon_intervals
from gnomon.sequence.lag_forecaster import spread_grows
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.forecast.competition import (
    Entrant,
    by_method,
    chosen_of,
    chosen_origins,
    competition,
    final_forecasts,
    require_inputs_ahead,
    tried,
    weights_of,
)
from gnomon.workbench.forecast.continued import around
from gnomon.workbench.forecast.options import JOB, ForecastOptions
from gnomon.workbench.forecast.result import ForecastResult, HeldOut, leaderboard_of
from gnomon.workbench.forecast.series import SeriesSet, season_of, series_of


@JOB.public
def forecast(table: Any, options: ForecastOptions, request: Request) -> ForecastResult:
    """Forecast the next values of one or several series, with prediction intervals.

    Use it where rows are in the order of time and the next values are asked for. Where the target
    depends on other columns rather than on its own past, use `gnomon.learn`.

    Returns
    -------
    result : ForecastResult

    Examples
    --------
    >>> import gnomon
    >>> months = [f"{year}-{month:02d}-01" for year in range(2015, 2021) for month in range(1, 13)]
    >>> sales = [100 + i + 20 * (i % 12 == 11) for i in range(72)]
    >>> found = gnomon.forecast({"month": months, "sales": sales}, "sales", "month", horizon=3)
    >>> found.period, found.forecasts.round().tolist()
    (12, [[172.0, 173.0, 174.0]])
    """
    begin = time.perf_counter()
    rows = as_table(table)
    source = source_of(table) or request.source
    with Run.begin(request.folder, rows, source, options, JOB.name) as run:
        found = series_of(rows, options)
        require_inputs_ahead(found, options)
        period, why = season_of(found, options.period)
        period = _fitting(period, found, options)
        options.period = period
        run.decide(f"steps are {found.calendar.name}", found.calendar.remark or "by the dates")
        run.decide(f"a season of {period} steps" if period > 1 else "no season", why)
        origins = chosen_origins(min(map(len, found.series)), period, options)
        run.decide(
            f"{len(origins.tried)} origins, {origins.tried[0]} to {origins.tried[-1]} steps before "
            "the end",
            "methods are fitted to the values before each origin only",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            competed, entrants = competition(found, period, origins, options, request.progress)
            board = leaderboard_of(competed.results, period, origins.overlap(options.horizon))
            chosen = chosen_of({line.name: line.mase.value for line in board})
            run.decide(
                f"{chosen} is chosen",
                "the least scaled error over the origins"
                if chosen == board[0].name
                else f"no method has an error 10% smaller; {board[0].name} has the least",
            )
            request.progress("the last window, and the forecast", 0, 0)
            named = {each.name: each for each in entrants}
            relative = spread_grows(found.values, period)
            held = held_out(chosen, named, competed.results, found, period, options, relative)
            ahead, model_name = ahead_of(chosen, named, competed.results, found, period, options)
        errors = [scaled_errors(competed.results[chosen], relative)]
        if held is not None:
            errors.append(scaled_errors(held.result, relative))
        intervals = horizon_intervals(
            np.concatenate(errors), confidence_level=options.confidence_level
        )
        units = np.array([naive_error(each, _within(period, each)) for each in found.values])
        low, high = around(ahead, intervals.half_widths, units, relative)
        for name, reason in competed.left_out.items():
            run.decide(f"{name} does not compete", reason)
        result = ForecastResult(
            found,
            period,
            why,
            origins,
            competed.results,
            competed.left_out,
            board,
            chosen,
            model_name,
            held,
            intervals,
            ahead,
            low,
            high,
            run,
            options,
            list(found.notes),
            relative=relative,
        )
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def _within(period: int, values: np.ndarray) -> int:
    return min(period, len(values) - 1)


def _fitting(period: int, found: SeriesSet, options: ForecastOptions) -> int:
    """The period, or 1 where the shortest series has too few seasons for it."""
    shortest = min(map(len, found.series))
    if period > 1 and shortest < 2 * period + 4 + options.horizon:
        found.notes.append(
            f"A season of {period} steps is not used: the shortest series has {shortest} values, "
            f"and {2 * period + 4 + options.horizon} are needed to try forecasts of "
            f"{options.horizon} steps."
        )
        return 1
    return period


def scaled_errors(result: RollingOrigin, relative: bool) -> np.ndarray:
    """Errors of forecasts, one row each, relative to the forecast or to the naive error."""
    units = np.abs(result.y_pred) if relative else result.scales[:, :, None]
    errors: np.ndarray = result.errors / units
    return errors.reshape(-1, errors.shape[2])


def held_out(
    chosen: str,
    named: dict[str, Entrant],
    results: dict[str, RollingOrigin],
    found: SeriesSet,
    period: int,
    options: ForecastOptions,
    relative: bool,
) -> HeldOut | None:
    """The last window, forecast by the chosen method and by the baseline, once."""
    from gnomon.workbench.forecast.competition import baseline_name

    origins = chosen_origins(min(map(len, found.series)), period, options)
    if not origins.test:
        return None

    def ask(name: str) -> RollingOrigin:
        return tried(named[name], found, options.horizon, [origins.test], period)

    parts = by_method(chosen, results, ask)
    y_pred = sum(weight * part.y_pred for weight, part in parts)
    result: RollingOrigin = parts[0][1]._replace(y_pred=y_pred)
    intervals = horizon_intervals(
        scaled_errors(results[chosen], relative), confidence_level=options.confidence_level
    )
    half_widths = intervals.half_widths
    low, high = around(result.y_pred[:, 0], half_widths, result.scales[:, 0], relative)
    truth = result.y_true[:, 0]
    known = ~np.isnan(truth)
    inside = int(((truth >= low) & (truth <= high) & known).sum())
    baseline = ask(baseline_name(period))
    return HeldOut(
        float(np.nanmean(result.scaled_losses())),
        float(np.nanmean(baseline.scaled_losses())),
        inside,
        int(known.sum()),
        result,
        low,
        high,
    )


def ahead_of(
    chosen: str,
    named: dict[str, Entrant],
    results: dict[str, RollingOrigin],
    found: SeriesSet,
    period: int,
    options: ForecastOptions,
) -> tuple[np.ndarray, str]:
    """Forecasts of the chosen method after the end of every series, and its name in full."""

    def ask(name: str) -> tuple[list[np.ndarray], list[Any]]:
        return final_forecasts(named[name], found, options.horizon, period)

    made = by_method(chosen, results, ask)
    ahead = np.sum([weight * np.array(forecasts) for weight, (forecasts, _) in made], axis=0)
    models = [model for _, (_, fits) in made for model in fits]
    forms = sorted({model.form_ for model in models if hasattr(model, "form_")})
    name = chosen[:1].upper() + chosen[1:]
    if chosen == "combination":
        parts = sorted(weights_of(results).items(), key=lambda part: -part[1])
        name = "Mean of " + ", ".join(f"{part} ({weight:.0%})" for part, weight in parts)
    if forms:
        name += f"; {', '.join(forms[:3])}{' ...' if len(forms) > 3 else ''}"
    return ahead, name
