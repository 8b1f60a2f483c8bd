"""``python -m benchmarks.accelerate [script ...]``: time the scripts, write ACCELERATE.md.

Each script runs in its own process, plain and accelerated in turns. The time is that of the
whole process, imports and the loading of compiled code included; printed results must be equal.
Figures are kept by script in results.json, so that the scripts may be run in parts; the table
is of all that were run.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TABLE = HERE.parent / "ACCELERATE.md"
FIGURES = HERE / "results.json"
HEAD = """# Scripts under gnomon.accelerate

Scripts of the content of public scikit-learn examples, run plain and through
`python -m gnomon.accelerate`, in turns, each in its own process. Seconds are medians of the whole
process, imports included; processor seconds are those of all threads together (a figure that a busy
machine distorts less). Printed results are compared character by character.

About 0.5 s of processor time of each script is saved by imports that are put off: scikit-learn
imports pandas and SciPy's statistics, which most scripts never use. Bytecode of both packages is
there, as after an installation.

Made by `python -m benchmarks.accelerate` on {processors} processors; repeats and load average (of
the minute before the start) are those of the script's last run.

| script | plain s | accelerated s | ratio | plain processor s | accelerated processor s | \
same results | repeats | load |
|---|--:|--:|--:|--:|--:|---|--:|--:|
"""


class Run(NamedTuple):
    """One run of a script: what it printed, its time, the time of its threads together."""

    printed: str
    seconds: float
    processor: float


def run(script: Path, accelerated: bool) -> Run:
    command = [sys.executable, *(["-m", "gnomon.accelerate"] if accelerated else []), str(script)]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PYTHONWARNINGS": "ignore"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # bytecode of both, as pip leaves it
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
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    compileall.compile_dir(ROOT / "src" / "gnomon", quiet=2)
    for name in given.scripts or known:
        figures[name] = measured(known[name], given.repeats)
        print(line(name, figures[name]), flush=True)
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
    TABLE.write_text(table({name: figures[name] for name in known if name in figures}))
    different = [name for name in given.scripts or known if not figures[name]["same"]]
    if different:
        print(f"different results: {', '.join(different)}")
    return 1 if different else 0


def measured(script: Path, repeats: int) -> dict[str, Any]:
    """Medians of the times of one script, and whether all runs printed the same."""
    load = os.getloadavg()[0]
    pairs = [(run(script, False), run(script, True)) for _ in range(repeats)]
    plain, ours = ([pair[i] for pair in pairs] for i in (0, 1))
    return {
        "plain": statistics.median(each.seconds for each in plain),
        "accelerated": statistics.median(each.seconds for each in ours),
        "plain_processor": statistics.median(each.processor for each in plain),
        "accelerated_processor": statistics.median(each.processor for each in ours),
        "same": len({each.printed for pair in pairs for each in pair}) == 1,
        "repeats": repeats,
        "load": load,
    }


def line(name: str, found: dict[str, Any]) -> str:
    """A row of the table."""
    return (
        f"| {name} | {found['plain']:.2f} | {found['accelerated']:.2f} | "
        f"{found['plain'] / found['accelerated']:.2f} | {found['plain_processor']:.2f} | "
        f"{found['accelerated_processor']:.2f} | {'yes' if found['same'] else '**no**'} | "
        f"{found['repeats']} | {found['load']:.1f} |"
    )


def table(figures: dict[str, dict[str, Any]]) -> str:
    """The page of all scripts, and the geometric means of their ratios."""
    in_time, in_processor = (
        statistics.geometric_mean(
            each[f"plain{kind}"] / each[f"accelerated{kind}"] for each in figures.values()
        )
        for kind in ("", "_processor")
    )
    lines = "\n".join(line(name, found) for name, found in figures.items())
    return (
        HEAD.format(processors=os.cpu_count())
        + f"{lines}\n\nGeometric mean of the ratios of {len(figures)} scripts: {in_time:.2f} in "
        f"time, {in_processor:.2f} in processor time.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
