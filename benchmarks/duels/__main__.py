"""Run duels and write benchmarks/RESULTS.md: ``python -m benchmarks.duels [word ...]``.

Both sides run in processes of their own, in turns, on the same data; ratios are of medians. With
words, only duels whose name has one of them are run, and their lines alone are replaced in the
results.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks import shapes
from benchmarks.duels.duel import DUELS, Duel

ROOMS = (
    "neighbors",
    "neural",
    "bayes",
    "linear",
    "linear_bases",
    "margin",
    "cluster",
    "density",
    "reduce",
    "trees",
    "ensemble",
    "select",
    "graphical",
    "sample",
    "sequence",
    "workbench",
)
LONGEST = 60.0
MEMORY_NOISE = 8e6
HERE = Path(__file__).parent
RESULTS = HERE.parent / "RESULTS.md"
RECORD = HERE.parent / "results.json"


class Side:
    """A worker process."""

    def __init__(self, duel: Duel, side: str, n_rows: int):
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "benchmarks.duels.worker",
                duel.data.__module__,
                duel.name,
                duel.peer,
                side,
                str(n_rows),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=HERE.parents[1],
        )
        if self.process.stdout.readline().strip() != "ready":
            raise RuntimeError(f"{side} of {duel.name!r} did not start")

    def run(self) -> dict:
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        self.process.communicate("end\n")


def fight(duel: Duel, n_rows: int) -> dict:
    """Interleaved runs of both sides at one size."""
    sides = {side: Side(duel, side, n_rows) for side in ("ours", "theirs")}
    runs: dict[str, list[dict]] = {side: [] for side in sides}
    for turn in range(duel.repeats):
        for side in sorted(sides, reverse=turn % 2 == 1):
            runs[side].append(sides[side].run())
        if sum(run["seconds"] for side in runs.values() for run in side) > LONGEST:
            break
    for side in sides.values():
        side.end()
    ours, theirs = (summary(runs[side]) for side in ("ours", "theirs"))
    return {
        "duel": duel.name,
        "room": duel.data.__module__.rsplit(".", 1)[1],
        "peer": duel.peer,
        "rows": n_rows,
        "ours": ours,
        "theirs": theirs,
        "runs": len(runs["ours"]),
        "time_ratio": theirs["seconds"] / ours["seconds"],
        "memory_ratio": memory_ratio(ours["memory"], theirs["memory"]),
        "reached": duel.reached(ours["quality"], theirs["quality"]),
        "bar": duel.bar,
    }


def summary(runs: list[dict]) -> dict:
    """Medians of the runs; of memory the most, since later runs find room that is free already."""
    medians = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    return medians | {"memory": max(run["memory"] for run in runs)}


def memory_ratio(ours: float, theirs: float) -> float | None:
    """Our peak over theirs; None where both are too small to be told from noise."""
    if max(ours, theirs) < MEMORY_NOISE:
        return None
    return ours / max(theirs, 1e6)


def main() -> None:
    words = [word.lower() for word in sys.argv[1:]]
    for room in ROOMS:
        importlib.import_module(f"benchmarks.duels.{room}")
    record = json.loads(RECORD.read_text()) if RECORD.exists() else []
    failed = []
    for duel in DUELS:
        if words and not any(word in f"{duel.name} {duel.peer}".lower() for word in words):
            continue
        if reason := duel.missing():
            print(f"skipped {duel.name}: {reason}", flush=True)
            continue
        record = [row for row in record if (row["duel"], row["peer"]) != (duel.name, duel.peer)]
        for n_rows in duel.sizes:
            try:
                outcome = fight(duel, n_rows)
            except (RuntimeError, json.JSONDecodeError) as error:
                failed.append(f"{duel.name} · {n_rows:,} rows: {error}")
                print(f"FAILED {failed[-1]}", flush=True)
                break
            record.append(outcome)
            write(record)
            print(line_of(outcome), flush=True)
            if outcome["theirs"]["seconds"] + outcome["ours"]["seconds"] > LONGEST:
                break
    print(f"wrote {RESULTS.relative_to(Path.cwd())}")
    if failed:
        sys.exit("\n".join(["these duels failed:", *failed]))


def write(record: list[dict]) -> None:
    """What is known so far, in the order of the duels; those that no longer exist are left out."""
    known = {(duel.name, duel.peer): place for place, duel in enumerate(DUELS)}
    record = [row for row in record if (row["duel"], row["peer"]) in known]
    record.sort(key=lambda row: (known[row["duel"], row["peer"]], row["rows"]))
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    RESULTS.write_text(report(record))


def line_of(row: dict) -> str:
    ours, theirs = row["ours"], row["theirs"]
    verdict = "" if row["reached"] else "  QUALITY NOT REACHED"
    return (
        f"{row['duel']} · {row['rows']:,} rows · {row['peer']}: {row['time_ratio']:.2f}x "
        f"({ours['seconds']:.3g} s against {theirs['seconds']:.3g} s), "
        f"memory {said(row['memory_ratio'])}, "
        f"quality {ours['quality']:.6g} / {theirs['quality']:.6g}{verdict}"
    )


def said(ratio: float | None) -> str:
    return "both small" if ratio is None else f"{ratio:.2f}"


def report(record: list[dict]) -> str:
    """The table for people."""
    lines = [
        "# Duels",
        "",
        "Time ratio: the peer's median time over ours (above 1: gnomon is faster). Memory ratio:",
        "our peak over the peer's, each beyond what the data take (below 1: gnomon needs less;",
        "both small: under 8 MB). Quality: the figure that both must reach, ours / theirs.",
        "Work of less than a tenth of a second is done so often in a row that it takes as long.",
        "Growth: the power of the rows with which time grows from the smallest to the largest.",
        "",
        f"Made by `make duels` on {os.cpu_count()} processors ({platform.machine()}), "
        f"Python {platform.python_version()}.",
        "",
        "| room | work | peer | rows | time ratio | ours s | theirs s | memory ratio | ours MB | "
        "quality ours / theirs | bar | verdict |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|---|--:|---|",
    ]
    for row in record:
        ours, theirs = row["ours"], row["theirs"]
        lines.append(
            f"| {row['room']} | {row['duel']} | {row['peer']} | {row['rows']:,} "
            f"| {row['time_ratio']:.2f} | {ours['seconds']:.3g} | {theirs['seconds']:.3g} "
            f"| {said(row['memory_ratio'])} | {ours['memory'] / 1e6:.0f} "
            f"| {ours['quality']:.6g} / {theirs['quality']:.6g} | {row['bar']:g} | {verdict(row)} |"
        )
    lines += ["", "## Growth", "", "| work | peer | ours | theirs |", "|---|---|--:|--:|"]
    for (duel, peer), rows in grouped(record).items():
        first, last = rows[0], rows[-1]
        if first["rows"] == last["rows"]:
            continue
        powers = [
            math.log(last[side]["seconds"] / first[side]["seconds"])
            / math.log(last["rows"] / first["rows"])
            for side in ("ours", "theirs")
        ]
        lines.append(f"| {duel} | {peer} | n^{powers[0]:.2f} | n^{powers[1]:.2f} |")
    return "\n".join(lines + shapes.section()) + "\n"


def verdict(row: dict) -> str:
    if not row["reached"]:
        return "quality not reached"
    won = "won" if row["time_ratio"] >= 1 else "lost"
    if row["rows"] >= 10**5 and row["time_ratio"] < row["bar"]:
        return f"{won}, below the bar"
    return won


def grouped(record: list[dict]) -> dict[tuple[str, str], list[dict]]:
    groups: dict[tuple[str, str], list[dict]] = {}
    for row in record:
        groups.setdefault((row["duel"], row["peer"]), []).append(row)
    return groups


if __name__ == "__main__":
    main()
