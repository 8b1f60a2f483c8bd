"""``python -m benchmarks.accelerate [script ...]``: time the scripts, write ACCELERATE.md.

Each script runs in its own process, plain and accelerated in turns. The time is that of the
whole process, imports and the loading of compiled code included; printed results must be equal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TABLE = HERE.parent / "ACCELERATE.md"
HEAD = """# Scripts under gnomon.accelerate

Scripts of the content of public scikit-learn examples, run plain and through
`python -m gnomon.accelerate`, in turns, each in its own process. Seconds are medians of the whole
process, imports included; processor seconds are those of all threads together (a figure that a busy
machine distorts less). Printed results are compared character by character.

Made by `python -m benchmarks.accelerate` with {repeats} repeats on {processors} processors; load
average at the start {load:.1f}.

| script | plain s | accelerated s | ratio | plain processor s | accelerated processor s | \
same results |
|---|--:|--:|--:|--:|--:|---|
"""


class Run(NamedTuple):
    """One run of a script: what it printed, its time, the time of its threads together."""

    printed: str
    seconds: float
    processor: float


def run(script: Path, accelerated: bool) -> Run:
    command = [sys.executable, *(["-m", "gnomon.accelerate"] if accelerated else []), str(script)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"}
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds, after = time.perf_counter() - began, os.times()
    if done.returncode:
        raise SystemExit(f"{script.name} failed:\n{done.stderr[-2000:]}")
    processor = after.children_user + after.children_system
    return Run(done.stdout, seconds, processor - before.children_user - before.children_system)


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.accelerate", description=__doc__)
    parser.add_argument("scripts", nargs="*", help="names of scripts; all by default")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    known = {path.stem: path for path in sorted((HERE / "scripts").glob("*.py"))}
    unknown = sorted(set(given.scripts) - set(known))
    if unknown:
        parser.error(f"no such scripts: {', '.join(unknown)}; there are {', '.join(known)}")
    load = os.getloadavg()[0]
    lines, ratios, processor_ratios, different = [], [], [], []
    for name in given.scripts or known:
        pairs = [(run(known[name], False), run(known[name], True)) for _ in range(given.repeats)]
        same = len({each.printed for pair in pairs for each in pair}) == 1
        plain, ours = (statistics.median(pair[i].seconds for pair in pairs) for i in (0, 1))
        busy, ours_busy = (statistics.median(pair[i].processor for pair in pairs) for i in (0, 1))
        ratios.append(plain / ours)
        processor_ratios.append(busy / ours_busy)
        if not same:
            different.append(name)
        lines.append(
            f"| {name} | {plain:.2f} | {ours:.2f} | {plain / ours:.2f} | {busy:.2f} | "
            f"{ours_busy:.2f} | {'yes' if same else '**no**'} |"
        )
        print(lines[-1], flush=True)
    end = (
        f"\nGeometric mean of the ratios: {statistics.geometric_mean(ratios):.2f} in time, "
        f"{statistics.geometric_mean(processor_ratios):.2f} in processor time.\n"
    )
    print(end)
    if not given.scripts:
        head = HEAD.format(repeats=given.repeats, processors=os.cpu_count(), load=load)
        TABLE.write_text(head + "\n".join(lines) + "\n" + end)
    if different:
        print(f"different results: {', '.join(different)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
