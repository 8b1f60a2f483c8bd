"""What `minimize` shows: progress, paths, self-changes, and a report."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from gnomon import show
from gnomon.workbench.base.report import Report
from gnomon.workbench.minimize.result import Minimum, shown

MOST_CHEAP = 1e-3  # seconds of an evaluation up to which a grid of level curves is drawn


def pictures_of(result: Minimum) -> dict[str, Callable[[str], Any]]:
    """The pictures of a result: functions of the theme, by name."""
    found: dict[str, Callable[[str], Any]] = {
        "progress": lambda theme: show.search_progress(result.results, theme=theme)
    }
    best = result.best
    space = best.history.space
    flat = space.is_real and space.size == 2 and space.bounded
    if flat and seconds_of(result.problem.function, result.x) < MOST_CHEAP:
        found["paths"] = lambda theme: show.optimizer_paths(
            result.problem.function,
            result.results,
            (float(space.low[0]), float(space.high[0])),
            (float(space.low[1]), float(space.high[1])),
            theme=theme,
        )
    if any(isinstance(each.after, float | int | np.number) for each in best.history.changes):
        found["changes"] = lambda theme: show.self_changes(best, theme=theme)
    return found


def seconds_of(function: Callable[[Any], Any], point: Any) -> float:
    """The fastest of three evaluations."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        function(point)
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def report_of(result: Minimum) -> Report:
    """The report of a minimization."""
    report = Report(f"Least value of {result.problem.name}", f"{result.fun:.8g}")
    report.section("Where it is")
    found = result.summary()["x"]
    report.table(["column", "value"], [[k, shown(v)] for k, v in found.items()])
    report.section("Methods")
    report.table(
        ["method", "least value", "evaluations", "end"],
        [[name, f"{r.fun:.6g}", r.nfev, r.message] for name, r in result.results.items()],
    )
    captions = {
        "progress": "The least value so far, on a logarithmic scale.",
        "paths": "Accepted points on the level curves of the function.",
        "changes": f"What {result.best.method} changed about itself; reasons are on the points.",
    }
    for name in result.pictures:
        report.figure(result.plot(name), captions[name])
    if not result.run.decisions:
        return report
    report.section("Decisions")
    made = [[each["what"], each["why"]] for each in result.run.decisions]
    report.table(["what", "why"], made)
    return report
