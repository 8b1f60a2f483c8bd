"""One side of a duel in a process of its own: runs on request, measures time and peak memory."""

from __future__ import annotations

import gc
import importlib
import json
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.duels.duel import DUELS

WARM_UP_ROWS = 2000
# Seconds: work that takes less is done so often in a row that it takes as much.
SHORT = 0.1


def resident(key: str) -> int:
    """A figure of this process from the kernel: VmRSS now or VmHWM, the peak, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {key}")


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def timed(work, data) -> tuple[float, Any]:
    """Seconds, and what came out."""
    begin = time.perf_counter()
    result = work(data)
    return time.perf_counter() - begin, result


def main() -> None:
    module, name, peer, side, n_rows = sys.argv[1:]
    warnings.simplefilter("ignore")
    importlib.import_module(module)
    duel = next(each for each in DUELS if (each.name, each.peer) == (name, peer))
    work = duel.ours if side == "ours" else duel.theirs
    work(duel.data(WARM_UP_ROWS))
    data = duel.data(int(n_rows))
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "end":
            return
        gc.collect()
        reset_peak()
        before = resident("VmRSS")
        seconds, result = timed(work, data)
        memory = max(resident("VmHWM") - before, 0)
        if seconds < SHORT:
            times = int(SHORT / seconds) + 1
            seconds = statistics.mean(timed(work, data)[0] for _ in range(times))
        answer = {"seconds": seconds, "memory": memory, "quality": duel.quality(result, data)}
        del result
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
