"""`gnomon forecast` against statsmodels' ETS and the seasonal naive forecast, on later values.

Each series is cut at several origins; the job sees the values before, and the next `horizon` values
judge it: mean absolute scaled error and the share of values inside the 95% intervals. ETS of
statsmodels chooses its form by AICc, as the job's own does.

    python -m benchmarks.forecast [--data FOLDER] [--series NAME ...] [--write]

The folder holds the CSV files airline_passengers, lynx and el_nino where they are there; the other
series come with statsmodels or are generated. `--write` writes benchmarks/FORECAST.md.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gnomon
from gnomon.evaluate import naive_error

PLACE = Path(__file__).parent / "FORECAST.md"


class Problem(NamedTuple):
    """A series with its steps."""

    name: str
    values: np.ndarray
    period: int
    horizon: int
    start: str  # "1949-01" for months, "1959Q1" for quarters, a year, or "day"


def dates_of(problem: Problem) -> list:
    n = len(problem.values)
    if problem.start == "day":
        return [str(day) for day in np.datetime64("2020-01-01") + np.arange(n)]
    if "Q" in problem.start:
        year, quarter = problem.start.split("Q")
        first = np.datetime64(f"{year}-{3 * int(quarter) - 2:02d}")
        return [str(month.astype("M8[D]")) for month in first + 3 * np.arange(n)]
    if "-" in problem.start:
        return [str(m.astype("M8[D]")) for m in np.datetime64(problem.start) + np.arange(n)]
    return [int(problem.start) + i for i in range(n)]


def problems(folder: Path | None) -> list[Problem]:
    """The series: public ones where they are there, and generated ones."""
    found = []
    for name, make in (("airline", _airline), ("lynx", _lynx), ("el nino", _el_nino)):
        try:
            found.append(make(folder)) if folder else None
        except FileNotFoundError:
            print(f"{name}: no file in {folder}, left out")
    return [*found, *_of_statsmodels(), *_generated()]


def _column(path: Path, name: str) -> np.ndarray:
    with path.open(encoding="utf-8") as file:
        return np.array([float(row[name]) for row in csv.DictReader(file)])


def _airline(folder: Path) -> Problem:
    values = _column(folder / "airline_passengers.csv", "Passengers")
    return Problem("airline passengers", values, 12, 12, "1949-01")


def _lynx(folder: Path) -> Problem:
    return Problem("lynx", _column(folder / "lynx.csv", "value"), 1, 6, "1821")


def _el_nino(folder: Path) -> Problem:
    with (folder / "el_nino.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    values = np.array([float(cell) for row in rows for cell in row[1:]])
    return Problem("el nino", values[-240:], 12, 12, "1990-01")


def _of_statsmodels() -> list[Problem]:
    from statsmodels import datasets

    macro = datasets.macrodata.load_pandas().data
    co2 = datasets.co2.load_pandas().data["co2"].resample("MS").mean().interpolate()
    return [
        Problem("nile", datasets.nile.load_pandas().data["volume"].to_numpy(), 1, 8, "1871"),
        Problem(
            "sunspots",
            datasets.sunspots.load_pandas().data["SUNACTIVITY"].to_numpy()[-120:],
            1,
            6,
            "1889",
        ),
        Problem("co2", co2.to_numpy()[-180:], 12, 12, "1987-01"),
        Problem("real gdp", macro["realgdp"].to_numpy(), 4, 8, "1959Q1"),
        Problem("consumer prices", macro["cpi"].to_numpy(), 4, 8, "1959Q1"),
        Problem("unemployment", macro["unemp"].to_numpy(), 4, 8, "1959Q1"),
        Problem("investment", macro["realinv"].to_numpy(), 4, 8, "1959Q1"),
        Problem(
            "copper",
            datasets.copper.load_pandas().data["WORLDCONSUMPTION"].to_numpy(),
            1,
            3,
            "1951",
        ),
    ]


def _generated() -> list[Problem]:
    rng = np.random.default_rng(7)
    months, days = np.arange(120), np.arange(210)
    wave = np.sin(2 * np.pi * months / 12) + 0.4 * np.cos(4 * np.pi * months / 12)
    week = np.tile([0.0, 1, 2, 2, 3, 6, 5], 30)
    level = np.cumsum(rng.normal(size=120))
    regimes = np.repeat(rng.normal(size=10) * 3, 12)
    autoregressive = np.zeros(120)
    for t in range(2, 120):
        autoregressive[t] = 1.2 * autoregressive[t - 1] - 0.5 * autoregressive[t - 2] + rng.normal()
    promotions = rng.random(210) < 0.1
    return [
        Problem(
            "additive season",
            100 + 0.5 * months + 10 * wave + 3 * rng.normal(size=120),
            12,
            12,
            "2010-01",
        ),
        Problem(
            "growing season",
            (50 + months) * np.exp(0.2 * wave + 0.05 * rng.normal(size=120)),
            12,
            12,
            "2010-01",
        ),
        Problem("random walk", 100 + level, 1, 6, "1900"),
        Problem("autoregressive", 20 + autoregressive, 1, 6, "1900"),
        Problem("regimes", 30 + regimes + rng.normal(size=120), 1, 6, "1900"),
        Problem(
            "weekly pattern", 40 + 4 * week + 0.05 * days + 3 * rng.normal(size=210), 7, 14, "day"
        ),
        Problem(
            "weekly, with peaks",
            40 + 4 * week + 30 * promotions + 3 * rng.normal(size=210),
            7,
            14,
            "day",
        ),
    ]


def peer_ets(values: np.ndarray, period: int, horizon: int) -> np.ndarray:
    """The forecast of statsmodels' ETS, its form chosen by AICc."""
    from statsmodels.tsa.exponential_smoothing.ets import ETSModel

    positive = values.min() > 0
    seasons = [None, "add", "mul"] if period > 1 else [None]
    best = None
    for error, trend, season in itertools.product(["add", "mul"], [None, "add", "damped"], seasons):
        if (not positive and "mul" in (error, season)) or (error, season) == ("add", "mul"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = ETSModel(
                    values,
                    error=error,
                    trend="add" if trend else None,
                    damped_trend=trend == "damped",
                    seasonal=season,
                    seasonal_periods=period if season else None,
                ).fit(disp=0)
        except (ValueError, np.linalg.LinAlgError):
            continue
        if best is None or fit.aicc < best.aicc:
            best = fit
    return np.asarray(best.forecast(horizon))


class Outcome(NamedTuple):
    """Errors and intervals at one origin."""

    ours: float
    ets: float
    naive: float
    inside: int
    values: int
    chosen: str


def outcome(problem: Problem, back: int, job: Callable) -> Outcome:
    """The job, ETS and the seasonal naive forecast on the values after one origin."""
    n, horizon = len(problem.values), problem.horizon
    head, later = problem.values[: n - back], problem.values[n - back : n - back + horizon]
    table = {"time": dates_of(problem)[: len(head)], "y": head}
    found = job(table, "y", "time", horizon=horizon)
    scale = naive_error(head, problem.period)
    naive = np.resize(head[len(head) - problem.period :], horizon)
    errors = [
        float(np.abs(later - forecast).mean()) / scale
        for forecast in (found.forecasts[0], peer_ets(head, problem.period, horizon), naive)
    ]
    inside = int(((later >= found.low[0]) & (later <= found.high[0])).sum())
    return Outcome(*errors, inside, horizon, found.chosen)


def backs_of(problem: Problem, count: int = 4) -> list[int]:
    """Origins that are judged: the last windows, half of each overlapping the next."""
    step = max(problem.horizon // 2, 1)
    return [problem.horizon + k * step for k in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--series", nargs="*")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    lines, everything = [], []
    for problem in problems(asked.data):
        if asked.series and problem.name not in asked.series:
            continue
        begin = time.perf_counter()
        outcomes = [outcome(problem, back, gnomon.forecast) for back in backs_of(problem)]
        everything += outcomes
        ours, ets, naive = (np.mean([each[k] for each in outcomes]) for k in range(3))
        inside, values = (sum(each[k] for each in outcomes) for k in (3, 4))
        chosen = ", ".join(dict.fromkeys(each.chosen for each in outcomes))
        lines.append((problem.name, ours, ets, naive, inside, values, chosen))
        print(
            f"{problem.name:22} ours {ours:.3f}  ETS {ets:.3f}  naive {naive:.3f}  "
            f"inside {inside}/{values}  {chosen}  {time.perf_counter() - begin:.0f} s",
            flush=True,
        )
    text = page(lines)
    print(text)
    if asked.write:
        PLACE.write_text(text, encoding="utf-8")


def page(lines: list[tuple]) -> str:
    """The table of results with its summary."""
    ours, ets, naive = (np.array([line[k] for line in lines]) for k in (1, 2, 3))
    inside, values = (sum(line[k] for line in lines) for k in (4, 5))
    rows = [
        f"| {name} | {a:.3f} | {b:.3f} | {c:.3f} | {i} of {v} | {chosen} |"
        for name, a, b, c, i, v, chosen in lines
    ]
    return "\n".join(
        [
            "# Forecasts on later values",
            "",
            "Written by `python -m benchmarks.forecast --data FOLDER --write`. Mean absolute "
            "scaled error (MASE) over four later windows of each series, and values inside the 95% "
            "prediction intervals. ETS: statsmodels', its form chosen by AICc. The power that "
            "weights the combination was chosen on three of the four windows of these series, so "
            "that the ratios are a little optimistic.",
            "",
            f"MASE at most that of ETS on {int((ours <= ets).sum())} of {len(lines)} series, at "
            f"most that of the seasonal naive forecast on {int((ours <= naive).sum())}; geometric "
            f"mean of the ratios {np.exp(np.log(ours / ets).mean()):.3f} to ETS and "
            f"{np.exp(np.log(ours / naive).mean()):.3f} to the naive forecast. "
            f"{inside} of {values} values ({inside / values:.1%}) lie inside their intervals.",
            "",
            "| series | gnomon | ETS | seasonal naive | inside | chosen |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main()
