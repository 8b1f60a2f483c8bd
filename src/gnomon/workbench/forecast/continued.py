"""A forecast that goes on: the methods that a run has settled, on a table with later values.

The run has chosen methods, weights, season and widths of intervals. They are kept; the methods are
fitted to the values of the new table, since the best parameters of a series are those of all its
values. Nothing is compared again, so it takes a fraction of the time of a run.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.evaluate import naive_error
from gnomon.table import Table
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.forecast.competition import (
    entrants,
    final_forecasts,
    require_inputs_ahead,
)
from gnomon.workbench.forecast.options import ForecastOptions
from gnomon.workbench.forecast.series import SeriesSet, series_of


def continued(folder: Path, rows: Table) -> tuple[Table, list[str]]:
    """The forecasts after the end of the series of a table, as a run has settled them.

    Parameters
    ----------
    folder : path
        Of a finished run of `forecast`.
    rows : Table
        With the columns of the run's table; all values up to now.

    Returns
    -------
    forecasts : Table
        Series, time, forecast, low and high.
    notes : list of str
        What a person should know of the dates.
    """
    record = read_record(folder)
    settled = record.get("results", {}).get("settled")
    if settled is None:
        raise DataError(
            f"{folder} does not say what its forecast has settled: its run is not finished, or of "
            "an earlier version. Run 'gnomon forecast' again"
        )
    options = ForecastOptions(**record["settings"])
    found = series_of(rows, options)
    require_inputs_ahead(found, options)
    period = int(settled["period"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ahead = ahead_by(settled["weights"], found, period, options)
    units = np.array([naive_error(each, min(period, len(each) - 1)) for each in found.values])
    half_widths = np.array(settled["half widths"], dtype=float)
    low, high = around(ahead, half_widths, units, bool(settled["relative"]))
    return forecast_table(found, options, ahead, low, high), list(found.notes)


def ahead_by(
    weights: dict[str, float], found: SeriesSet, period: int, options: ForecastOptions
) -> np.ndarray:
    """The weighted mean of the forecasts of some methods (n_series, horizon)."""
    competing, left_out = entrants(found, period, options)
    named = {each.name: each for each in competing}
    ahead: Any = 0.0
    for name, weight in weights.items():
        if name not in named:
            raise DataError(
                f"the run forecasts by {name}, which these values do not allow: "
                f"{left_out.get(name, 'it is not known')}. Give all values up to now, or run "
                "'gnomon forecast' again"
            )
        forecasts, _ = final_forecasts(named[name], found, options.horizon, period)
        ahead = ahead + weight * np.array(forecasts)
    return np.asarray(ahead)


def around(
    ahead: np.ndarray, half_widths: np.ndarray, units: np.ndarray, relative: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals around forecasts (n_series, horizon).

    Where the spread is in proportion to the values they are of ratios, so that they stay positive.
    """
    widths = half_widths[: ahead.shape[1]]
    if relative:
        ends = ahead * np.exp(-widths), ahead * np.exp(widths)
        return np.minimum(*ends), np.maximum(*ends)
    reach = units[:, None] * widths
    return ahead - reach, ahead + reach


def forecast_table(
    found: SeriesSet, options: ForecastOptions, ahead: Any, low: Any, high: Any
) -> Table:
    """Forecasts as a table: series, time, forecast, low and high."""
    horizon, columns = options.horizon, {}
    if options.groups is not None:
        columns[options.groups] = [each.name for each in found.series for _ in range(horizon)]
    columns[options.time] = [time for each in found.series for time in found.dates(each, horizon)]
    for name, values in (("forecast", ahead), ("low", low), ("high", high)):
        columns[name] = values.ravel().tolist()
    return Table.from_dict(columns)
