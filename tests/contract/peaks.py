"""Forecast and measured peak memory of every estimator: ``python -m tests.contract.peaks``.

Each class is fitted to tables of several shapes in a process of its own, after a small fit that
compiles kernels and imports modules: what the interpreter, compiled code and modules take is no
part of a forecast. Two meters are read during one fit: what NumPy and Python allocate (traced), and
by how much the process grows (resident, Linux alone), which also sees what compiled libraries
allocate. The larger is the peak. Fits that take longer than ``--seconds`` of processor time are
left out. ``--write`` keeps peaks in ``peaks.json``; `test_memory` compares forecasts with them.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import io
import json
import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gnomon
from gnomon.engine.threads import one_blas_thread
from tests.contract.cases import CLASSES, fit, make, parameters_of, problem, rng_of

RECORD = Path(__file__).parent / "peaks.json"
SHAPES = ((3000, 20), (500, 400), (50_000, 20))
N_JOBS = 2
WARM_SHAPE = (300, 20)
WARM_SECONDS = 120  # enough to compile the kernels of any class
MANY_STEPS, FEW_STEPS = 1000, 50
GROWING = {"TSNE"}  # its grid grows with its map
FACTOR = 2.0
# Peaks below are not told from the noise of both meters: thread stacks, Python's own objects.
FLOOR = 4_000_000
MOST_MEMORY = 3 * 10**9  # a fit that takes more may disturb what else the machine does
MMAP_THRESHOLD = -3  # of mallopt; large blocks then always go back to the system when freed

Shape = tuple[int, int]


class Peak(NamedTuple):
    """Bytes that a fit was forecast to allocate and did allocate, and its processor time."""

    forecast: int
    traced: int
    resident: int
    seconds: float

    @property
    def bytes(self) -> int:
        return max(self.traced, self.resident)


def is_near(forecast: int, peak: int) -> bool:
    """Whether a forecast is within the factor of a peak, where both are not below the floor."""
    return 1 / FACTOR <= max(forecast, FLOOR) / max(peak, FLOOR) <= FACTOR


def estimator_of(cls: type) -> Any:
    """An estimator with few steps: the course of a fit allocates nothing more."""
    few: dict[str, Any] = {"n_jobs": N_JOBS} if "n_jobs" in parameters_of(cls) else {}
    steps = 0 if cls.__name__ in GROWING else getattr(make(cls), "max_iter", 0)
    if (steps or 0) >= MANY_STEPS:
        few["max_iter"] = FEW_STEPS
    return make(cls, **few)


def forecast_of(cls: type, shape: Shape) -> int:
    with gnomon.config(n_jobs=N_JOBS):
        return estimator_of(cls).forecast(*shape)


def shape_of(name: str) -> Shape:
    """Rows and columns of ``"3000x20"``."""
    n_rows, n_columns = name.split("x")
    return int(n_rows), int(n_columns)


def measured(cls: type, shape: Shape, seconds: int, seed: int) -> Peak:
    """Forecast and peak of a fit of this shape."""
    estimator = estimator_of(cls)
    X, y = problem(estimator, rng_of(cls, seed), n=shape[0], d=shape[1], whole=True)
    _end_after(seconds)
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    start = time.process_time()
    tracemalloc.start()
    try:
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        fit(estimator, X, y)
        grown = _status("VmHWM") - before - tracemalloc.get_tracemalloc_memory()
        traced = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    seconds = time.process_time() - start
    return Peak(forecast_of(cls, shape), traced, max(grown, 0), round(seconds, 2))


def _end_after(seconds: int) -> None:
    """End this process when it has computed for so much longer."""
    most = int(time.process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (most, -1))


def _warm(cls: type, seed: int) -> None:
    """A small fit, which compiles kernels and imports modules."""
    estimator = estimator_of(cls)
    fit(estimator, *problem(estimator, rng_of(cls, seed), *WARM_SHAPE, whole=True))


def _status(name: str) -> int:
    """A figure of this process in bytes; 0 where the system does not tell it."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
    return 0


def peaks(
    cls: type, shapes: Sequence[Shape], seconds: int, seed: int
) -> Iterator[tuple[Shape, Peak | str]]:
    """The peak for each shape, or what went wrong, measured in forked processes."""
    left = list(shapes)
    taken: dict[Shape, float] = {}
    while left:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            _tell(cls, left, taken, seconds, seed, writer)
        os.close(writer)
        with os.fdopen(reader) as told:
            for line in told:
                found = json.loads(line)
                yield left.pop(0), Peak(*found) if isinstance(found, list) else found
        _, status = os.waitpid(child, 0)
        if status and left:
            taken[left[0]] = seconds
            yield left.pop(0), f"ended with {status}"


def _takes_too_long(shape: Shape, taken: dict[Shape, float], seconds: int) -> bool:
    """Whether a fit of fewer rows was so slow that this one would be if time grew as cells do."""
    return any(
        shape[0] > rows
        and shape[1] >= columns
        and spent * (shape[0] * shape[1]) / (rows * columns) > 2 * seconds
        for (rows, columns), spent in taken.items()
    )


def _tell(
    cls: type,
    shapes: Sequence[Shape],
    taken: dict[Shape, float],
    seconds: int,
    seed: int,
    writer: int,
) -> None:
    """Write a line for each shape to the file of this number, then end this process."""
    try:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").mallopt(MMAP_THRESHOLD, 2**17)
        resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + 2 * MOST_MEMORY, -1))
        limits = gnomon.config(n_jobs=N_JOBS, memory_limit=MOST_MEMORY)
        with contextlib.redirect_stdout(io.StringIO()), limits:
            _end_after(WARM_SECONDS)
            with contextlib.suppress(Exception):
                _warm(cls, seed)
            for shape in shapes:
                try:
                    if _takes_too_long(shape, taken, seconds):
                        raise TimeoutError("slow for fewer rows")
                    found: Any = measured(cls, shape, seconds, seed)
                    if not is_near(found.forecast, found.bytes):  # another kernel was compiled?
                        again = measured(cls, shape, seconds, seed)
                        found = min(found, again, key=lambda each: each.bytes)
                    taken[shape] = found.seconds
                except Exception as error:
                    found = f"{type(error).__name__}: {error}"[:200]
                os.write(writer, json.dumps(found).encode() + b"\n")
    finally:
        os._exit(0)


def main() -> int:
    """Print a line for every fit; the number of forecasts that are not near the peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--shapes", nargs="+", default=[f"{n}x{d}" for n, d in SHAPES])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    shapes = [shape_of(shape) for shape in asked.shapes]
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    outside = 0
    with one_blas_thread():  # finding the libraries of BLAS takes memory once
        pass
    print("class shape forecast traced resident ratio seconds")
    by_name = {cls.__name__: cls for cls in CLASSES}
    for cls in [by_name[name] for name in asked.names or by_name]:
        for shape, found in peaks(cls, shapes, asked.seconds, asked.seed):
            name = f"{shape[0]}x{shape[1]}"
            if isinstance(found, str):
                print(cls.__name__, name, "-", found, flush=True)
                continue
            near = is_near(found.forecast, found.bytes)
            outside += not near
            ratio = f"{found.forecast / max(found.bytes, 1):.2f}"
            shown = (*found[:3], ratio, found.seconds, "" if near else "outside")
            print(cls.__name__, name, *shown, flush=True)
            record.setdefault(cls.__name__, {})[name] = found.bytes
        if asked.write:
            lines = (f'"{name}": {json.dumps(record[name])}' for name in sorted(record))
            RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{outside} not within a factor of {FACTOR:g}")
    return outside


if __name__ == "__main__":
    sys.exit(bool(main()))
