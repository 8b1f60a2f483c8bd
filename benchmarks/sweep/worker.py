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
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.duels.worker import reset_peak, resident
from benchmarks.sweep.methods import METHODS
from benchmarks.sweep.shapes import Shape, make

# Seconds: work that takes less is repeated until it has taken as much.
SHORT = 0.05


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
                answer = measured(work, data, method)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        print(json.dumps(answer), file=answers, flush=True)


def measured(work: Any, data: Any, method: Any) -> dict[str, float]:
    gc.collect()
    reset_peak()
    before = resident("VmRSS")
    begin = time.perf_counter()
    result = work(data)
    seconds = time.perf_counter() - begin
    memory = max(resident("VmHWM") - before, 0)
    times = [seconds]
    while sum(times) < SHORT:
        begin = time.perf_counter()
        work(data)
        times.append(time.perf_counter() - begin)
    quality = method.quality(result, data)
    return {"seconds": sorted(times)[len(times) // 2], "memory": memory, "quality": quality}


if __name__ == "__main__":
    main()
