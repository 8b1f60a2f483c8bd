"""The options of the job ``forecast``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option

METHODS = (
    "naive",
    "seasonal naive",
    "drift",
    "exponential smoothing",
    "autoregression",
    "state space",
    "ridge on lags",
    "forest on lags",
    "boosting on lags",
    "combination",
)
EVERY = ("year", "quarter", "month", "week", "day", "hour")


@dataclass
class ForecastOptions(Options):
    """The options of `forecast`, and what the run settled where none was given."""

    target: str = option(column=True, help="The column of numbers to forecast.")
    time: str = option(column=True, help="The column of dates, or of numbers that count steps.")
    horizon: int = option(12, least=1, help="Steps to forecast.")
    groups: str | None = option(
        None, column=True, help="A column that names the series, where there are several."
    )
    known: list[str] = option(
        [],
        column=True,
        help="Columns whose future values are known, such as holidays. Rows in which the target is "
        "empty give them for the steps ahead.",
    )
    period: int | None = option(
        None,
        least=1,
        settled=True,
        help="Steps of the season; 1 for none. Found from the dates and the autocorrelation where "
        "it is not given.",
    )
    every: str | None = option(
        None, choices=EVERY, help="Join the rows of each such stretch of time into one step."
    )
    aggregate: str | None = option(
        None,
        choices=("mean", "sum"),
        help="How rows of one step of one series are joined; without it they are refused.",
    )
    methods: list[str] | None = option(
        None, flag="method", choices=METHODS, help="Methods that compete; by default all."
    )
    origins: int = option(
        10, least=2, help="Most points of the past from which forecasts are tried."
    )
    confidence_level: float = option(
        0.95, least=0, greatest=1, open=True, help="Level of the prediction intervals."
    )
    random_state: int = option(0, flag="seed", least=0, help="Seed of forests and boosting.")


JOB = Job("forecast", ForecastOptions, positional=("target", "time"))
