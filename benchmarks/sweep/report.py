"""The page of the sweep: benchmarks/SWEEP.md, and the line that is printed for a case."""

from __future__ import annotations

import math
import os
import platform
import statistics
from typing import Any

import numpy as np

from benchmarks.sweep.explained import EXPLAINED
from benchmarks.sweep.methods import METHODS
from benchmarks.sweep.shapes import Shape

# Bytes: peaks below are the allocator's own, not the method's.
MEMORY_NOISE = 16e6
# Cases from which on the growth is fitted: a coefficient per dimension and one to spare.
ENOUGH_CASES = 5


def line_of(row: dict[str, Any]) -> str:
    outcome, shape = row["outcome"], Shape(**row["shape"])
    if outcome is None:
        return f"{row['method']} · {shape}: no figure (both stopped at the limit)"
    if "error" in outcome:
        return f"{row['method']} · {shape}: FAILED {outcome['error']}"
    ours, theirs = outcome["ours"], outcome["theirs"]
    verdict = "" if outcome["reached"] else "  QUALITY NOT REACHED"
    return (
        f"{row['method']} · {shape}: {outcome['ratio']:.2f}x {outcome['peer']} "
        f"({ours['seconds']:.3g} s, {theirs['seconds']:.3g} s), memory {memory(outcome)}, quality "
        f"{figure(ours['quality'])} / {figure(theirs['quality'])}{verdict}"
    )


def figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.5g}"


def memory_ratio(outcome: dict[str, Any]) -> float | None:
    """Our peak over the peer's; None where both are small or one was stopped."""
    ours, theirs = outcome["ours"]["memory"], outcome["theirs"]["memory"]
    if max(ours, theirs) < MEMORY_NOISE or outcome["stopped"].get("ours"):
        return None
    return ours / max(theirs, MEMORY_NOISE / 4)


def memory(outcome: dict[str, Any]) -> str:
    ratio = memory_ratio(outcome)
    return "small" if ratio is None else f"{ratio:.2f}"


def mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def growth(rows: list[dict[str, Any]], side: str) -> str:
    """Powers of rows, columns and groups with which the time of a side grows (least squares)."""
    if len(rows) < ENOUGH_CASES:
        return ""
    sizes = np.log([[row["shape"][key] for key in ("rows", "columns", "groups")] for row in rows])
    times = np.log([row["outcome"][side]["seconds"] for row in rows])
    centered = sizes - sizes.mean(axis=0)
    # a little shrinkage: a dimension that hardly varies gets no power
    powers = np.linalg.solve(
        centered.T @ centered + 0.5 * np.eye(3), centered.T @ (times - times.mean())
    )
    return " ".join(f"{name}^{power:.1f}" for name, power in zip("ndk", powers))


def page(record: list[dict[str, Any]]) -> str:
    rows = [row for row in record if row["outcome"] and "error" not in row["outcome"]]
    rows = [row for row in rows if row["method"] in METHODS]
    failed = [row for row in record if row["outcome"] and "error" in row["outcome"]]
    ratios = [row["outcome"]["ratio"] for row in rows]
    lost = [row for row in rows if row["outcome"]["ratio"] < 1]
    peaks = [ratio for row in rows if (ratio := memory_ratio(row["outcome"])) is not None]
    worse = [row for row in rows if row["outcome"]["reached"] is False]
    lines = [
        "# Sweep",
        "",
        "Every method on shapes drawn at random, and on real sets where a folder was given,",
        "against the fastest of its peers in the same run. Ratio: the peer's time over ours",
        "(above 1: gnomon is faster). Growth: powers of rows (n), columns (d) and classes or",
        "clusters (k) in the times, ours and the peer's. Memory: our peak over the peer's, where",
        "one exceeds 16 MB.",
        *clock_lines(rows),
        f"Made by `make sweep` on {os.cpu_count()} processors ({platform.machine()}), "
        f"Python {platform.python_version()}.",
        "",
    ]
    if ratios:
        lines += [
            f"**{len(rows)} cases of {len({row['method'] for row in rows})} methods: geometric "
            f"mean {mean(ratios):.2f}x, {len(lost)} lost, {len(worse)} without the peer's quality, "
            f"{sum(peak > 1.1 for peak in peaks)} of {len(peaks)} with more memory.**",
            "",
        ]
    lines += [
        "| method | cases | mean | quartiles | bar | lost | worst case | memory mean, most "
        "| growth ours | growth peer |",
        "|---|--:|--:|---|--:|--:|---|---|---|---|",
    ]
    for name, method in METHODS.items():
        of_method = [row for row in rows if row["method"] == name]
        if of_method:
            lines.append(method_line(name, method.bar, of_method))
    lines += [
        "",
        "## Lost cases",
        "",
        "| method | shape | ratio | peer | why |",
        "|---|---|--:|---|---|",
    ]
    for row in sorted(lost, key=lambda row: row["outcome"]["ratio"]):
        outcome = row["outcome"]
        reason = EXPLAINED.get(row["method"], "not explained")
        lines.append(
            f"| {row['method']} | {Shape(**row['shape'])} | {outcome['ratio']:.2f} "
            f"| {outcome['peer']} | {reason} |"
        )
    lines += ["", "## Quality not reached, or failed", ""]
    lines += [f"- {line_of(row)}" for row in worse + failed] or ["None."]
    real = [row for row in rows if row["shape"]["real"]]
    if real:
        lines += [
            "",
            "## Real sets",
            "",
            "| method | set | ratio | peer | memory |",
            "|---|---|--:|---|---|",
        ]
        lines += [
            f"| {row['method']} | {Shape(**row['shape'])} | {row['outcome']['ratio']:.2f} "
            f"| {row['outcome']['peer']} | {memory(row['outcome'])} |"
            for row in real
        ]
    return "\n".join(lines) + "\n"


def clock_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Which time was measured, in how many of the cases."""
    by_processor = sum(row["outcome"].get("clock") == "processor" for row in rows)
    return [
        f"Time: in {len(rows) - by_processor} cases the median wall time on all processors, in",
        f"{by_processor} the least processor time of one thread (`--clock processor`).",
    ]


def method_line(name: str, bar: float, rows: list[dict[str, Any]]) -> str:
    ratios = [row["outcome"]["ratio"] for row in rows]
    worst = min(rows, key=lambda row: row["outcome"]["ratio"])
    peaks = [ratio for row in rows if (ratio := memory_ratio(row["outcome"])) is not None]
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return (
        f"| {name} | {len(rows)} | {mean(ratios):.2f} | {low:.2f} {middle:.2f} {high:.2f} "
        f"| {bar:g} "
        f"| {sum(ratio < 1 for ratio in ratios)} | {min(ratios):.2f}: {Shape(**worst['shape'])} "
        f"| {f'{mean(peaks):.2f}, {max(peaks):.2f}' if peaks else 'small'} "
        f"| {growth(rows, 'ours')} | {growth(rows, 'theirs')} |"
    )
