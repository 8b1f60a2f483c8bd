"""Forecast and measured peak memory of every estimator: ``python -m tests.contract.peaks``.

Each fit runs in a process of its own, after a small fit that compiles kernels and imports modules:
what the interpreter, compiled code and modules take is no part of a forecast. Two meters are read:
what NumPy and Python allocate (traced), and by how much the process grows (resident, Linux alone),
which also sees what compiled libraries allocate; the larger is compared with the forecast. A fit
that takes longer than ``--seconds`` is tried again with half of the rows.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import io
import os
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gnomon
from tests.contract.cases import CLASSES, fit, make, parameters_of, problem, rng_of
from tests.contract.test_memory import FEW_STEPS, MANY_STEPS, MOST_MEMORY, peak_of

N_JOBS = 2
WARM_ROWS = 200
FACTOR = 2.0

Meter = Callable[[Callable[[], Any]], int]


class Peak(NamedTuple):
    """Bytes that a fit of some rows was said to allocate, and did allocate."""

    rows: int
    forecast: int
    measured: tuple[int, ...]  # by each meter

    @property
    def ratio(self) -> float:
        return self.forecast / max((*self.measured, 1))


def resident_peak(function: Callable[[], Any]) -> int:
    """Most bytes by which the process grew while the function ran (Linux)."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    function()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


METERS: dict[str, Meter] = {"resident": resident_peak, "traced": peak_of}


def few_steps(cls: type) -> dict[str, Any]:
    """Parameters that shorten a fit without a change of what it allocates."""
    few: dict[str, Any] = {"n_jobs": N_JOBS} if "n_jobs" in parameters_of(cls) else {}
    if "max_iter" in parameters_of(cls) and (make(cls).max_iter or 0) >= MANY_STEPS:
        few["max_iter"] = FEW_STEPS
    return few


def prepared(
    cls: type, rng: np.random.Generator, n_rows: int, n_columns: int
) -> tuple[int, int, Callable[[], Any]]:
    """Rows, the forecast and the fit to measure, after a small fit."""
    few = few_steps(cls)
    estimator = make(cls, **few)
    while estimator.forecast(n_rows, n_columns) > MOST_MEMORY:  # the square of the rows
        n_rows //= 2
    X, y = problem(estimator, rng, n=n_rows, d=n_columns, whole=True)
    fit(make(cls, **few), X[:WARM_ROWS], None if y is None else y[:WARM_ROWS])
    return len(X), estimator.forecast(*X.shape), lambda: fit(estimator, X, y)


def in_a_process(function: Callable[[], str], seconds: int) -> str | None:
    """What the function returns, computed in a fork; None where it takes too long or fails."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        try:
            with contextlib.redirect_stdout(io.StringIO()), gnomon.config(n_jobs=N_JOBS):
                os.write(writer, function().encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        found = told.read()
    os.waitpid(child, 0)
    return found or None


def peak(
    cls: type, seed: int, n_rows: int, n_columns: int, seconds: int, meters: Sequence[Meter]
) -> Peak | None:
    """Forecast and peak of a fit; None where even few rows take too long."""

    def measured_by(meter: Meter) -> str:
        rows, forecast, run = prepared(cls, rng_of(cls, seed), n_rows, n_columns)
        return f"{rows} {forecast} {meter(run)}"

    while n_rows > WARM_ROWS:
        found = [in_a_process(lambda meter=meter: measured_by(meter), seconds) for meter in meters]
        if all(found):
            figures = [[int(each) for each in told.split()] for told in found if told]
            return Peak(*figures[0][:2], tuple(each[2] for each in figures))
        n_rows //= 2
    return None


def main() -> int:
    """Print a line for every class; the number of forecasts outside the factor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--meters", nargs="+", choices=METERS, default=list(METERS))
    asked = parser.parse_args()
    outside = 0
    meters = [METERS[name] for name in asked.meters]
    print("class rows forecast", *asked.meters, "ratio")
    for cls in CLASSES:
        if asked.names and cls.__name__ not in asked.names:
            continue
        found = peak(cls, asked.seed, asked.rows, asked.columns, asked.seconds, meters)
        if found is None:
            print(cls.__name__, "-", flush=True)
            continue
        far = not 1 / FACTOR <= found.ratio <= FACTOR
        outside += far
        shown = (found.rows, found.forecast, *found.measured, f"{found.ratio:.2f}")
        print(cls.__name__, *shown, "outside" if far else "", flush=True)
    print(f"{outside} outside a factor of {FACTOR:g}")
    return outside


if __name__ == "__main__":
    sys.exit(bool(main()))
