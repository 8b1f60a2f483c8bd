"""``python -m benchmarks.swap MODE [Class ...]``: count scikit-learn's tests that pass.

Modes: ``accelerate`` (through `gnomon.accelerate`), ``forced`` (the same, with inputs of every
size accelerated), ``native`` (gnomon's class in the place of scikit-learn's, one at a time),
``page`` (write the counts of ``native`` to ``benchmarks/SWAP.md``).
Counted are the tests that construct a class and pass with plain scikit-learn, which is run first
(once; its log is kept in ``.swap``). ``counts.json`` holds the best counts so far: a count that
falls is an error, a count that rises is written there. With ``SWAP_MOST=3`` in the environment at
most three cases of each parametrized test are run, and the counts are kept apart, with that number.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.swap.classes import CASES, some_of_each
from benchmarks.swap.triage import kind_of, not_applicable

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ENVIRONMENT = {  # set before NumPy is imported
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "SKLEARN_SKIP_NETWORK_TESTS": "1",
    "MPLBACKEND": "agg",
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
}
MOST = int(os.environ.get("SWAP_MOST", "0"))
SECONDS = float(os.environ.get("SWAP_SECONDS", "60"))
WORK = ROOT / ".swap" / (f"most-{MOST}" if MOST else "")
COUNTS = HERE / "counts.json"
SECONDS_PER_TEST = 900  # of the clock; the plugin limits processor time


def log_of(mode: str, module: str, name: str = "") -> Path:
    return WORK / ".".join(part for part in (mode, name, module, "jsonl") if part)


def lost_of(mode: str, name: str) -> Path:
    return WORK / f"{mode}.{name}.lost.json"


def run_module(
    mode: str, module: str, name: str = "", only: set[str] | None = None, kept: bool = False
) -> list[dict]:
    """The log of a test module in a mode (of the tests `only`); plain scikit-learn's is kept."""
    WORK.mkdir(parents=True, exist_ok=True)
    log = log_of(mode, module, name)
    if (kept or (mode == "baseline" and only is None)) and log.exists():
        return read(log)
    part = log.with_suffix(".part")  # a log that is there is whole
    part.unlink(missing_ok=True)
    (WORK / "pytest.ini").write_text("[pytest]\n")
    environment = {"SWAP_MODE": mode, "SWAP_CLASS": name, "SWAP_LOG": str(part)}
    if only is not None:
        log.with_suffix(".only").write_text("\n".join(sorted(only)))
        environment["SWAP_ONLY"] = str(log.with_suffix(".only"))
    command = ["--pyargs", module, "-q", "--tb=no", "-n0"]
    command += ["-p", "benchmarks.swap.plugin", "-p", "no:cacheprovider", "--no-header"]
    command += ["-c", str(WORK / "pytest.ini"), f"--timeout={SECONDS_PER_TEST}"]
    command += ["--disable-warnings", "-o", "addopts="]
    in_a_fork(command, environment, log.with_suffix(".out"))
    part.touch()
    part.rename(log)
    return read(log)


def in_a_fork(command: list[str], environment: dict[str, str], out: Path) -> None:
    """Run pytest in a copy of this process, which has imported what takes seconds to import."""
    for package in {case.package for case in CASES.values()} | {"utils.estimator_checks"}:
        importlib.import_module(f"sklearn.{package}")
    for package in {case.ours for case in CASES.values()} - {None}:
        importlib.import_module(f"gnomon.{package}")
    importlib.import_module("gnomon.accelerate")
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.environ.update(environment)
        os.chdir(WORK)
        written = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(written, 1)
        os.dup2(written, 2)
        pytest.main(command)
    finally:
        sys.stdout.flush()
        os._exit(0)


def read(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def counted(mode: str, name: str, done: dict[str, list[dict]], kept: bool = False) -> dict:
    """How many of the tests of a class pass, and the rows of those that do not."""
    applicable: set[str] = set()
    rows: dict[str, dict] = {}
    for module in CASES[name].modules:
        alone = sum(module in case.modules for case in CASES.values()) == 1
        if mode == "native" and alone and not log_of("baseline", module).exists():
            ours = run_module(mode, module, name, None, kept)
            ids = {row["id"] for row in ours if row["classes"] and row["passed"]}
            failed = {row["id"] for row in ours if row["classes"] and not row["passed"]}
            if failed:
                theirs = run_module("baseline", module, name, failed, kept)
                ids |= {row["id"] for row in theirs if row["passed"]}
            if ours:  # else it could not be imported with our class
                applicable |= ids
                rows |= {row["id"]: row for row in ours if row["id"] in ids}
                continue
        baseline = run_module("baseline", module)
        native = mode == "native"
        rows_of = [row for row in baseline if row["passed"]]
        uses = {row["id"] for row in rows_of if name in row["classes"]}
        tried = [row["id"] for row in rows_of if row["id"] in uses or not native]
        only = set(some_of_each(tried, MOST) if MOST else tried)
        ids = only & uses
        if not ids:
            continue
        key = f"{name} {module}" if native else module
        if key not in done:
            done[key] = run_module(mode, module, name if native else "", only, kept)
        applicable |= ids
        rows |= {row["id"]: row for row in done[key] if row["id"] in ids}
    if mode == "native":  # what constructs scikit-learn's class within scikit-learn says nothing
        applicable -= {i for i, row in rows.items() if row["passed"] and not row["classes"]}
    lost = [rows.get(i, {"id": i, "passed": False}) for i in sorted(applicable)]
    lost = [row for row in lost if not row["passed"]]
    return {"passed": len(applicable) - len(lost), "of": len(applicable), "failed": lost}


def lost_logs(mode: str) -> list[tuple[str, Path]]:
    """The classes that were counted, and where."""
    return [(name, lost_of(mode, name)) for name in CASES if lost_of(mode, name).exists()]


def write_page(counts: dict[str, dict]) -> None:
    """A table of the classes: tests that apply, that pass, and why the others do not."""
    lines, passed, total, of = [], 0, 0, 0
    reasons: Counter[str] = Counter()
    for name, count in counts.items():
        kinds = Counter(kind_of(r) for r in count["failed"] if not_applicable(name, r) is None)
        applicable = count["passed"] + sum(kinds.values())
        passed, total, of = passed + count["passed"], total + applicable, of + count["of"]
        reasons += kinds
        rest = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        lines.append(f"| {name} | {count['of']} | {applicable} | {count['passed']} | {rest} |")
    missing = sorted(name for name in CASES if CASES[name].ours and name not in counts)
    cases = f"at most {MOST} cases of each parametrized test" if MOST else "all cases"
    share = f"**{passed} of {total} applicable tests pass ({100 * passed / max(total, 1):.1f} %)**"
    text = f"""# scikit-learn's own tests with our classes

`python -m benchmarks.swap native` puts one class of gnomon in the place of scikit-learn's of the
same name and runs scikit-learn's test modules for it. A test counts for a class if it passes with
plain scikit-learn and constructs the class. It does not apply if it reads private attributes, mocks
internals, or compares the text of a message (`benchmarks/swap/triage.py`).

Counted: {cases}, {SECONDS:g} seconds of processor time per test, {len(counts)} classes.
{share}; {passed} of {of} without that triage.

What the others end with: {", ".join(f"{kind} {n}" for kind, n in reasons.most_common())}.

| class | tests | applicable | pass | what the others end with |
|---|---|---|---|---|
"""
    text += "\n".join(lines) + "\n"
    if missing:
        text += f"\nNot counted yet: {', '.join(missing)}.\n"
    (ROOT / "benchmarks" / "SWAP.md").write_text(text)


def write(kept: dict[str, dict]) -> None:
    """Keep the counts, one class per line."""
    modes = []
    for mode, best in sorted(kept.items()):
        lines = ",\n".join(f'  "{name}": {count}' for name, count in sorted(best.items()))
        modes.append(f' "{mode}": {{\n{lines}\n }}')
    COUNTS.write_text("{\n" + ",\n".join(modes) + "\n}\n")


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.swap", description=__doc__)
    parser.add_argument("mode", choices=["accelerate", "forced", "native", "page"])
    parser.add_argument("classes", nargs="*", metavar="Class", help="all by default")
    parser.add_argument("--kept", action="store_true", help="read the logs that are there")
    given = parser.parse_intermixed_args()
    unknown = sorted(set(given.classes) - set(CASES))
    if unknown:
        parser.error(f"not among the classes of benchmarks/swap/classes.py: {', '.join(unknown)}")
    if given.mode == "page":
        write_page({name: json.loads(log.read_text()) for name, log in lost_logs("native")})
        return 0
    names = given.classes or list(CASES)
    if given.mode == "native":
        names = [name for name in names if CASES[name].ours is not None]
    os.environ.update(ENVIRONMENT)
    kept = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    best = kept.setdefault(f"{given.mode}, at most {MOST} cases" if MOST else given.mode, {})
    done: dict[str, list[dict]] = {}
    fell, total, of = [], 0, 0
    for name in names:
        count = counted(given.mode, name, done, given.kept)
        lost_of(given.mode, name).write_text(json.dumps(count))
        total, of = total + count["passed"], of + count["of"]
        print(f"{name}: {count['passed']} of {count['of']}", flush=True)
        for row in count["failed"][:20]:
            print(f"    {row['id']}  {row.get('error', 'did not run')[:120]!r}")
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
