"""Changed model files and random tables, counted: ``make fuzz FUZZ="--minutes 3 --seed 1"``.

Model files: classes are taken in turn, each with a new seed; every change is tried with kernels as
plain Python. Tables: random files of tables are read, and learned from. ``--what`` names the parts
(models, read, learn); each gets its share of the time. The process ends with status 1 where
something was neither refused with an error of gnomon's nor harmless.
"""

from __future__ import annotations

import argparse
import collections
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.contract.cases import CLASSES
from tests.jobs.test_model_file_mutants import (
    FINE,
    OTHER_NAMES,
    outcomes,
    prepared,
    prepared_others,
)

AT_ONCE = 10  # classes per process, which takes seconds to start
CASES = {"read": 500, "learn": 20}  # random tables per process
PARTS = ("models", *CASES)


def main() -> int:
    """Try cases until the time is up; the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--what", nargs="+", choices=PARTS, default=PARTS)
    asked = parser.parse_args()
    failures: list[str] = []
    for part in asked.what:
        end = time.monotonic() + 60 * asked.minutes / len(asked.what)
        counts: collections.Counter[str] = collections.Counter()
        seed = asked.seed
        while time.monotonic() < end:
            found, seed = changed_models(seed) if part == "models" else random_tables(part, seed)
            for line in found:
                result = line[-1].split(":")[0] if is_fine(line[-1]) else "failed"
                counts[result] += 1
                if result == "failed":
                    failures.append("  ".join(line))
            print(f"{part}, next seed {seed}: {dict(counts)}", flush=True)
    print("\n".join(failures))
    return len(failures)


def is_fine(result: str) -> bool:
    return result in FINE | {"done"} or result.startswith("refused:")


def changed_models(seed: int) -> tuple[list[list[str]], int]:
    """The outcomes of changed files of some classes, and the next seed."""
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(CLASSES))[:AT_ONCE]
    others = rng.permutation(OTHER_NAMES)[: AT_ONCE // 3].tolist()
    with tempfile.TemporaryDirectory() as folder:
        folders, _ = prepared([CLASSES[i] for i in chosen], seed, Path(folder), times=1)
        more, _ = prepared_others(others, seed, Path(folder), times=1)
        return outcomes(folders + more), seed + 1


def random_tables(kind: str, seed: int, n: int | None = None) -> tuple[list[list[str]], int]:
    """The outcomes of n random tables, and the next seed; a crash is an outcome."""
    command = [sys.executable, "-m", "tests.table_fuzz", kind, str(seed), str(n or CASES[kind])]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    lines = [line.split("\t") for line in done.stdout.split("\n") if line]
    found = [line for line in lines if line[-1] != "begun"]
    last = int(lines[-1][1])
    if lines[-1][-1] == "begun":
        found.append([kind, str(last), f"crash, status {done.returncode}: {done.stderr[-200:]}"])
    return found, last + 1


if __name__ == "__main__":
    sys.exit(bool(main()))
