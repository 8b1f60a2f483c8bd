"""Time of one row: ``python -m benchmarks.latency [words]`` writes benchmarks/LATENCY.md.

Every estimator that scikit-learn has under the same name is fitted on 500 rows of ten columns, here
and there, with its defaults; then ``predict`` (or ``transform``, where there is none) is called
with one row, in turns. Processor time of one thread, the least of the batches. With words, only the
classes whose names hold one are measured, and nothing is written.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import all_estimators
from threadpoolctl import threadpool_limits

import gnomon
from gnomon.engine.registry import methods

RESULTS = Path(__file__).parent / "LATENCY.md"
ROWS, COLUMNS, CLASSES = 500, 10, 3
BATCHES, SECONDS = 7, 0.01  # batches of each side, and how long one lasts
MOST = 100e-6  # seconds of one row that are allowed beside the method's own work


def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (none negative), classes and numbers."""
    rng = np.random.default_rng(0)
    classes = rng.integers(CLASSES, size=ROWS)
    rows = np.abs(rng.normal(size=(ROWS, COLUMNS)) + classes[:, None])
    return rows, classes, rows @ rng.normal(size=COLUMNS) + rng.normal(size=ROWS)


def call_of(cls: type, task: str) -> Callable[[], Any] | None:
    """The call with one row of a fitted object of the class; None where it has none."""
    rows, classes, numbers = table()
    target = {"classify": classes, "regress": numbers}.get(task, classes)
    seeded = {"random_state": 0} if "random_state" in cls().get_params() else {}
    fitted = cls(**seeded).fit(rows, target)
    for method in ("predict", "transform"):
        if hasattr(fitted, method):
            call, row = getattr(fitted, method), rows[:1].copy()
            call(row)
            return lambda: call(row)
    return None


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """Seconds of each call, measured in turns."""
    times, counts = [np.inf for _ in calls], []
    for call in calls:
        begin = time.process_time()
        call()
        counts.append(max(1, int(SECONDS / max(time.process_time() - begin, 1e-6))))
    for _ in range(BATCHES):
        for side, call in enumerate(calls):
            begin = time.process_time()
            for _ in range(counts[side]):
                call()
            times[side] = min(times[side], (time.process_time() - begin) / counts[side])
    return times


def measured(words: list[str]) -> list[tuple[str, float, float]]:
    """Name, our seconds and scikit-learn's, of each class that both have."""
    theirs, found = dict(all_estimators()), []
    for method in methods("table"):
        peer = theirs.get(method.name)
        if peer is None or method.requires:
            continue
        if words and not any(word.lower() in method.name.lower() for word in words):
            continue
        try:
            calls = [call_of(method.cls, method.task), call_of(peer, method.task)]
        except Exception as error:  # classes that need an estimator, another target ...
            print(f"{method.name}: not measured ({type(error).__name__}: {str(error)[:80]})")
            continue
        if None not in calls:
            ours, other = least(calls)
            found.append((method.name, ours, other))
            print(f"{method.name}: {ours * 1e6:.0f} us, scikit-learn {other * 1e6:.0f} us")
    return found


def page(found: list[tuple[str, float, float]]) -> str:
    slower = [name for name, ours, other in found if ours > other]
    beyond = [name for name, ours, other in found if ours > max(other, MOST)]
    ratios = np.array([other / ours for _, ours, other in found])
    lines = [
        "# One row",
        "",
        *(__doc__ or "").split("\n\n")[1].splitlines()[:4],
        "",
        f"**{len(found)} classes: geometric mean {np.exp(np.log(ratios).mean()):.2f}x "
        f"scikit-learn, {len(slower)} slower, {len(beyond)} of these above "
        f"{MOST * 1e6:.0f} microseconds.**",
        "",
        "| class | microseconds | scikit-learn | ratio |",
        "|---|--:|--:|--:|",
    ]
    for name, ours, other in sorted(found, key=lambda each: each[2] / each[1]):
        lines.append(f"| {name} | {ours * 1e6:.0f} | {other * 1e6:.0f} | {other / ours:.2f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    with threadpool_limits(1), gnomon.config(n_jobs=1):
        found = measured(words)
    if not words:
        RESULTS.write_text(page(found))


if __name__ == "__main__":
    main()
