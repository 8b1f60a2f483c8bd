"""One side of the sweep in a process of its own: makes the data, does the work, measures.

Reads one request per line on standard input (JSON) and answers one line. ``prepare`` makes the data
of a shape and runs the method once on a small table of the same kind, so that neither imports nor
loading of compiled kernels are timed; ``run`` does the work and measures time and peak memory.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.duels.worker import reset_peak, resident
from benchmarks.sweep.methods import METHODS
from benchmarks.sweep.shapes import Shape, make

# Seconds: work that takes less is repeated until it has taken as much.
SHORT = 0.05
CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


def main() -> None:
    warnings.simplefilter("ignore")
    # what libraries print must not mix with the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    data: Any = None
    work: Any = None
    method: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["ask"] == "prepare":
                method = METHODS[request["method"]]
                side = request["side"]
                work = method.ours if side == "ours" else method.peers[side]
                shape = Shape(**request["shape"])
                data = None
                folder = Path(request["data"]) if request["data"] else None
                small = replace(
                    shape,
                    real="",
                    rows=300,
                    columns=min(shape.columns, 60),
                    groups=min(shape.groups, 5),
                )
                work(make(small))
                data = make(shape, folder)
                answer = {"ready": True}
            else:
                answer = measured(work, data, method, CLOCKS[request["clock"]])
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        print(json.dumps(answer), file=answers, flush=True)


def measured(work: Any, data: Any, method: Any, clock: Callable[[], float]) -> dict[str, float]:
    """Time by a clock (median of short runs, or the least processor time), memory and quality."""
    gc.collect()
    reset_peak()
    before = resident("VmRSS")
    begin = clock()
    result = work(data)
    seconds = clock() - begin
    memory = max(resident("VmHWM") - before, 0)
    times = [seconds]
    while sum(times) < SHORT:
        begin = clock()
        work(data)
        times.append(clock() - begin)
    quality = method.quality(result, data)
    seconds = min(times) if clock is time.process_time else sorted(times)[len(times) // 2]
    return {"seconds": seconds, "memory": memory, "quality": quality}


if __name__ == "__main__":
    main()
