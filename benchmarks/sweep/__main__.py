"""Run the sweep and write benchmarks/SWEEP.md: ``python -m benchmarks.sweep [options]``.

Shapes are drawn from the seed (printed) for every method; case 0 of all methods comes first, then
case 1, and so on. Finished cases are kept in ``benchmarks/sweep.json``, so that a run that was
stopped, or that ended after ``--seconds``, goes on; ``--again`` measures cases anew. Each side runs
in a process of its own, in turns; a side that exceeds ``--limit`` in one run is ended, and the
limit is what is recorded. ``--clock processor`` counts the processor time of one thread, the least
of the repeats, which other work on the machine disturbs little; the default is wall time on all
processors, the median of the repeats.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.sweep import real, report
from benchmarks.sweep.methods import METHODS, Method
from benchmarks.sweep.shapes import Limits, Shape, draw

HERE = Path(__file__).parent.parent
RECORD, RESULTS = HERE / "sweep.json", HERE / "SWEEP.md"
# Seconds of timed work per side of a case, after which no further repeat begins.
ENOUGH = 3.0
# Seconds to make the data and to compile the kernels of a method that were not compiled before.
PREPARATION = 240.0


class Stopped(Exception):
    """A side took longer than its limit, or its process ended."""


class Side:
    """A worker process that lives from case to case; a new one is started when it was ended."""

    def __init__(self, clock: str) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.environment = dict(os.environ)
        if clock == "processor":
            names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            self.environment.update(dict.fromkeys(names, "1"))

    def ask(self, limit: float, **request: Any) -> dict[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.sweep.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=HERE.parent,
                env=self.environment,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.end()
            raise Stopped
        return json.loads(line)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def measure(
    method: Method, shape: Shape, workers: dict[str, Side], options: argparse.Namespace
) -> dict[str, Any] | None:
    """One case on our side and all peers, in turns; None where no peer could be measured."""
    sides = ["ours", *method.peers]
    runs: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    stopped: dict[str, str] = {}
    for side in sides:
        request = {"method": method.name, "side": side, "shape": shape.record()}
        try:
            answer = workers[side].ask(PREPARATION, ask="prepare", data=options.data, **request)
        except Stopped:
            answer = {"error": f"not prepared in {PREPARATION:g} s"}
        if "error" in answer:
            stopped[side] = answer["error"]
    for turn in range(options.repeats):
        for side in sides if turn % 2 == 0 else sides[::-1]:
            spent = sum(run["seconds"] for run in runs[side])
            if side in stopped or (runs[side] and spent > ENOUGH):
                continue
            try:
                answer = workers[side].ask(options.limit + 5, ask="run", clock=options.clock)
            except Stopped:
                stopped[side] = "limit"
                runs[side] = [{"seconds": options.limit, "memory": 0, "quality": None}]
                continue
            if "error" in answer:
                stopped[side] = answer["error"]
                continue
            runs[side].append(answer)
    of_times = min if options.clock == "processor" else statistics.median
    found = {side: summary(each, of_times) for side, each in runs.items() if each}
    if "ours" in stopped and stopped["ours"] != "limit":
        return {"error": stopped["ours"]}
    if options.clock == "processor":  # the limit is wall time, and no figure of a side it ended
        found = {side: each for side, each in found.items() if stopped.get(side) != "limit"}
        if "ours" not in found:
            return None
    finished = [side for side in found if side != "ours"]
    if not finished or all(stopped.get(side) == "limit" for side in found):
        return None
    best = min(finished, key=lambda side: found[side]["seconds"])
    ours, theirs = found["ours"], found[best]
    known = ours["quality"] is not None and theirs["quality"] is not None
    return {
        "peer": best,
        "ours": ours,
        "theirs": theirs,
        "all": {side: each["seconds"] for side, each in found.items()},
        "ratio": theirs["seconds"] / ours["seconds"],
        "reached": method.reached(ours["quality"], theirs["quality"]) if known else None,
        "stopped": stopped,
        "clock": options.clock,
    }


def summary(runs: list[dict[str, Any]], of_times: Callable[..., float]) -> dict[str, Any]:
    """One figure of the times; the most memory, since later runs find memory that is free."""
    return {
        "seconds": of_times(run["seconds"] for run in runs),
        "memory": max(run["memory"] for run in runs),
        "quality": runs[0]["quality"],
    }


def real_shape(method: Method, name: str, folder: Path) -> Shape | None:
    """The shape of a real set within the limits of a method; None where they cannot agree."""
    import numpy as np

    X, y, _ = real.read(name, folder)
    sparse, limits = not isinstance(X, np.ndarray), method.limits
    if (sparse and not limits.sparse) or X.shape[1] > limits.columns:
        return None
    if method.target == "numbers" and name not in real.NUMBERS:
        return None
    groups = len(np.unique(y)) if method.target == "classes" else min(10, limits.groups)
    rows = min(int(0.8 * X.shape[0]), limits.rows, limits.cells // X.shape[1])
    if rows < 300 or groups > limits.groups:
        return None
    density = X.nnz / (X.shape[0] * X.shape[1]) if sparse else None
    return Shape(rows, X.shape[1], groups, "float64", "C", density, False, "plain", 0, name)


def cases(options: argparse.Namespace) -> list[tuple[Method, Shape, str]]:
    """What is to be measured, in order: real sets first where a folder was given."""
    words = [word.lower() for word in options.only]
    chosen = [
        method
        for name, method in METHODS.items()
        if not words or any(word in name.lower() for word in words)
    ]
    if options.data:
        folder = Path(options.data)
        sets = [name for name in real.found(folder) if not options.sets or name in options.sets]
        named = [
            (method, name, real_shape(method, name, folder)) for name in sets for method in chosen
        ]
        return [(method, shape, name) for method, name, shape in named if shape is not None]
    drawn = []
    for number in range(options.first, options.first + options.cases):
        for method in chosen:
            limits = scaled(method.limits, options.scale)
            shape = draw(limits, method.name, options.seed, number)
            drawn.append((method, shape, f"{options.seed}.{number}@{options.scale:g}"))
    return drawn


def scaled(limits: Limits, scale: float) -> Limits:
    """The same limits with a share of the rows and cells, for a quick look."""
    from dataclasses import replace

    return replace(
        limits,
        rows=max(400, int(limits.rows * scale)),
        cells=max(20_000, int(limits.cells * scale)),
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="methods whose name has a word")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=4, help="shapes per method")
    parser.add_argument("--first", type=int, default=0, help="number of the first shape")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the largest sizes")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after this time")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one run of a side")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--data", default="", help="folder of real sets, measured instead")
    parser.add_argument("--sets", nargs="*", default=[], help="of the real sets only these")
    parser.add_argument("--again", action="store_true", help="measure finished cases anew")
    parser.add_argument("--record", type=Path, default=RECORD)
    return parser.parse_args()


def main() -> None:
    options = parsed()
    begin = time.monotonic()
    record: list[dict[str, Any]] = (
        json.loads(options.record.read_text()) if options.record.exists() else []
    )
    workers: dict[str, Side] = {side: Side(options.clock) for side in peers_and_ours()}
    todo = cases(options)
    print(f"seed {options.seed}: {len(todo)} cases", flush=True)
    try:
        for method, shape, key in todo:
            done = any((row["method"], row["key"]) == (method.name, key) for row in record)
            if done and not options.again:
                continue
            if time.monotonic() - begin > options.seconds:
                print("time is up; the same command goes on")
                break
            outcome = measure(method, shape, workers, options)
            record = [row for row in record if (row["method"], row["key"]) != (method.name, key)]
            record.append(
                {"method": method.name, "key": key, "shape": shape.record(), "outcome": outcome}
            )
            options.record.write_text(json.dumps(record, indent=1) + "\n")
            print(report.line_of(record[-1]), flush=True)
    finally:
        for worker in workers.values():
            worker.end()
    if options.record == RECORD:
        RESULTS.write_text(report.page(record))
        print(f"wrote {RESULTS}")


def peers_and_ours() -> list[str]:
    return ["ours", *dict.fromkeys(peer for method in METHODS.values() for peer in method.peers)]


if __name__ == "__main__":
    main()
