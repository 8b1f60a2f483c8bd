"""``python -m benchmarks.swap MODE [Class ...]``: count scikit-learn's tests that pass.

Modes: ``accelerate`` (through `gnomon.accelerate`), ``forced`` (the same, with inputs of every
size accelerated), ``native`` (gnomon's class in the place of scikit-learn's, one at a time).
Counted are the tests that construct a class and pass with plain scikit-learn, which is run first
(once; its log is kept in ``.swap``). ``counts.json`` holds the best counts so far: a count that
falls is an error, a count that rises is written there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.swap.classes import CASES

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
WORK = ROOT / ".swap"
COUNTS = HERE / "counts.json"
SECONDS_PER_TEST = 120


def run_module(mode: str, module: str, name: str = "") -> list[dict]:
    """The log of a test module in a mode, run now; that of plain scikit-learn is kept."""
    WORK.mkdir(exist_ok=True)
    log = WORK / ".".join(part for part in (mode, name, module, "jsonl") if part)
    if mode == "baseline" and log.exists():
        return read(log)
    log.unlink(missing_ok=True)
    (WORK / "pytest.ini").write_text("[pytest]\n")
    environment = os.environ | {
        "SWAP_MODE": mode,
        "SWAP_CLASS": name,
        "SWAP_LOG": str(log),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "SKLEARN_SKIP_NETWORK_TESTS": "1",
        "MPLBACKEND": "agg",
    }
    command = [sys.executable, "-m", "pytest", "--pyargs", module, "-q", "--tb=no", "-n0"]
    command += ["-p", "benchmarks.swap.plugin", "-p", "no:cacheprovider", "--no-header"]
    command += ["-c", str(WORK / "pytest.ini"), f"--timeout={SECONDS_PER_TEST}"]
    command += ["--disable-warnings", "-o", "addopts="]
    with log.with_suffix(".out").open("w") as out:
        subprocess.run(command, env=environment, cwd=WORK, stdout=out, stderr=subprocess.STDOUT)
    return read(log)


def read(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def counted(mode: str, name: str, done: dict[str, list[dict]]) -> dict:
    """How many of the tests of a class pass, and which do not."""
    applicable, passed = {}, set()
    for module in CASES[name].modules:
        for row in run_module("baseline", module):
            if row["passed"] and name in row["classes"]:
                applicable[row["id"]] = module
        key = f"{name} {module}" if mode == "native" else module
        if key not in done:
            done[key] = run_module(mode, module, name if mode == "native" else "")
        passed |= {row["id"] for row in done[key] if row["passed"]}
    failed = sorted(set(applicable) - passed)
    return {"passed": len(applicable) - len(failed), "of": len(applicable), "failed": failed}


def write(kept: dict[str, dict]) -> None:
    """Keep the counts, one class per line."""
    modes = []
    for mode, best in sorted(kept.items()):
        lines = ",\n".join(f'  "{name}": {count}' for name, count in sorted(best.items()))
        modes.append(f' "{mode}": {{\n{lines}\n }}')
    COUNTS.write_text("{\n" + ",\n".join(modes) + "\n}\n")


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.swap", description=__doc__)
    parser.add_argument("mode", choices=["accelerate", "forced", "native"])
    parser.add_argument("classes", nargs="*", metavar="Class", help="all by default")
    given = parser.parse_args()
    unknown = sorted(set(given.classes) - set(CASES))
    if unknown:
        parser.error(f"not among the classes of benchmarks/swap/classes.py: {', '.join(unknown)}")
    names = given.classes or list(CASES)
    if given.mode == "native":
        names = [name for name in names if CASES[name].ours is not None]
    kept = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    best = kept.setdefault(given.mode, {})
    done: dict[str, list[dict]] = {}
    fell, total, of = [], 0, 0
    for name in names:
        count = counted(given.mode, name, done)
        total, of = total + count["passed"], of + count["of"]
        print(f"{name}: {count['passed']} of {count['of']}", flush=True)
        for test in count["failed"][:20]:
            print(f"    {test}")
        if count["passed"] < best.get(name, [0])[0]:
            fell.append(f"{name}: {count['passed']} tests pass, {best[name][0]} did before")
        else:
            best[name] = [count["passed"], count["of"]]
            write(kept)
    print(f"swap ({given.mode}): {total} of {of} tests pass ({100 * total / max(of, 1):.1f} %)")
    print("\n".join(fell))
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
