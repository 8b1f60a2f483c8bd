"""The job `forecast`: from a table with dates to the values ahead, with intervals that hold.

The rows are put on the equal steps of their calendar; the season is found from calendar and
autocorrelation; methods forecast from several points of the past (rolling origins) and are
compared with the naive baseline; the best by scaled error is asked once about the last window, then
fitted to all values. The weights of a combination then count that window too. Prediction intervals
come from its errors at the origins, by horizon.
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
    Origins,
    baseline_name,
    chosen_of,
    chosen_origins,
    chosen_weights,
    competition,
    final_forecasts,
    require_inputs_ahead,
    tried,
    weighted,
    with_last,
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
            last = last_window(chosen, named, competed.results, origins, found, period, options)
            held = held_out(chosen, last, competed.results, period, options, relative)
            weights = chosen_weights(chosen, with_last(competed.results, last) or competed.results)
            ahead, model_name = ahead_of(chosen, weights, named, found, period, options)
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
            weights,
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
    """Errors of forecasts, one row each: logarithms of ratios, or in units of the naive error."""
    if relative:
        both = (result.y_true > 0) & (result.y_pred > 0)
        errors = np.where(both, result.y_true, np.nan) / np.where(both, result.y_pred, 1.0)
        errors = np.log(errors)
    else:
        errors = result.errors / result.scales[:, :, None]
    return errors.reshape(-1, errors.shape[2])


def last_window(
    chosen: str,
    named: dict[str, Entrant],
    results: dict[str, RollingOrigin],
    origins: Origins,
    found: SeriesSet,
    period: int,
    options: ForecastOptions,
) -> dict[str, RollingOrigin]:
    """Forecasts of the last window, by the methods named; none where it is short.

    They are the chosen method, or all that a combination may have, and the baseline.
    """
    if not origins.test:
        return {}
    asked = dict.fromkeys([chosen, baseline_name(period)])
    names = [name for name in results if name in named] if chosen == "combination" else asked
    return {
        name: tried(named[name], found, options.horizon, [origins.test], period) for name in names
    }


def held_out(
    chosen: str,
    last: dict[str, RollingOrigin],
    results: dict[str, RollingOrigin],
    period: int,
    options: ForecastOptions,
    relative: bool,
) -> HeldOut | None:
    """The last window as the chosen method forecasts it, by the weights of earlier origins."""
    if not last:
        return None
    weights = chosen_weights(chosen, results)
    y_pred = weighted(weights, {name: last[name].y_pred for name in weights})
    baseline = last[baseline_name(period)]
    result = baseline._replace(y_pred=y_pred)
    intervals = horizon_intervals(
        scaled_errors(results[chosen], relative), confidence_level=options.confidence_level
    )
    half_widths = intervals.half_widths
    low, high = around(result.y_pred[:, 0], half_widths, result.scales[:, 0], relative)
    truth = result.y_true[:, 0]
    known = ~np.isnan(truth)
    inside = int(((truth >= low) & (truth <= high) & known).sum())
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
    weights: dict[str, float],
    named: dict[str, Entrant],
    found: SeriesSet,
    period: int,
    options: ForecastOptions,
) -> tuple[np.ndarray, str]:
    """Forecasts of the chosen method after the end of every series, and its name in full."""
    made = {name: final_forecasts(named[name], found, options.horizon, period) for name in weights}
    ahead = weighted(weights, {name: forecasts for name, (forecasts, _) in made.items()})
    models = [model for _, fits in made.values() for model in fits]
    forms = sorted({model.form_ for model in models if hasattr(model, "form_")})
    name = chosen[:1].upper() + chosen[1:]
    if chosen == "combination":
        parts = sorted(weights.items(), key=lambda part: -part[1])
        name = "Mean of " + ", ".join(f"{part} ({weight:.0%})" for part, weight in parts)
    if forms:
        name += f"; {', '.join(forms[:3])}{' ...' if len(forms) > 3 else ''}"
    return ahead, name
