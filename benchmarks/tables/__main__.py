"""Run `gnomon learn` on the tables and write TABLES.md: ``python -m benchmarks.tables [name ...]``.

Every table is written as a CSV file and learnt by the command line in a process of its own, with a
budget; the peers get the same training and test rows. Recorded are the wall time of the whole
process over the budget, the score on the test rows, the verdict, the leaks that were found and
missed, and the peers' scores. Finished tables are kept in ``benchmarks/tables.json``: a run that
was stopped goes on, and tables that are named are run again, in the order of their names. With
``--keep FOLDER`` the runs stay on disk, and ``--peers-only`` adds further peers to them.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.tables.cases import CASES, Case
from benchmarks.tables.peers import PEERS, Said
from benchmarks.tables.scores import LOWER_IS_BETTER, compared

HERE = Path(__file__).parent.parent
RECORD, RESULTS = HERE / "tables.json", HERE / "TABLES.md"
DATA = HERE.parent.parent / "shared" / "data"
LEAK_CHECKS = ("leak", "exact relation", "rows of one key", "nearly perfect")
MOST_OVER = 1.2
IN_PROCESSOR_TIME = (
    "import time; time.perf_counter = time.process_time; "
    "from gnomon.workbench.cli import main; main()"
)
SURELY = 0.001
HEAD = """# Tables

`gnomon learn FILE --target COLUMN --budget {budget:g}s` on {n} of {all} tables, each in a process
of its own; `make tables` writes this page and goes on where it was stopped.{clock}

Time: wall time of the whole process, imports, reading and report included, over the budget (bar
{most}). Score: on test rows that were used once, with the standard error of a bootstrap over them
(RMSE and log loss: smaller is better). Peers: on the same training and test rows; "behind" is how
far ours is behind the best peer, in standard errors of the difference (0: not behind; bar 1).
Leaks: planted columns that were found, and alarms on tables without any.

{summary}

"""
PROCESSOR = (
    " On {n} of them budget and time are processor time of all threads, as the machine was shared "
    "(on a quiet machine the wall time was 0.7 to 0.95 of it). FLAML counts wall time: on two "
    "cores it had up to twice the processor time; it ran on {flaml} of the tables."
)
COLUMNS = (
    "table",
    "rows",
    "columns",
    "time / budget",
    "measure",
    "score",
    "best peer",
    "its score",
    "behind",
    "behind LightGBM",
    "verdict",
    "leaks",
    "chosen",
)


def main() -> None:
    """Run what is asked for and write the page."""
    words = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    words.add_argument("names", nargs="*", help="tables to run again; all unfinished ones if none")
    words.add_argument("--budget", type=float, default=60.0, help="seconds of every run")
    words.add_argument("--data", type=Path, default=DATA, help="folder of the stored tables")
    words.add_argument("--list", action="store_true", help="print the names of the tables")
    words.add_argument("--no-peers", action="store_true", help="run ours alone")
    words.add_argument("--peers", default=",".join(PEERS), help="names of peers, with commas")
    words.add_argument(
        "--only",
        nargs="+",
        default=[],
        help="tables to run where they are unfinished, in this order",
    )
    words.add_argument("--keep", type=Path, help="folder in which every table and run is kept")
    words.add_argument(
        "--peers-only", action="store_true", help="add the peers to runs that --keep has kept"
    )
    words.add_argument(
        "--processor-time",
        action="store_true",
        help="count the budget of ours in seconds of processor time, for a machine that is shared",
    )
    asked = words.parse_args()
    peers = [] if asked.no_peers else asked.peers.split(",")
    if strange := [name for name in peers if name not in PEERS]:
        sys.exit(f"there is no peer {strange[0]!r}; there are {', '.join(PEERS)}")
    if asked.list:
        print("\n".join(case.name for case in CASES))
        return
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    cases = {case.name: case for case in CASES}
    order = asked.names or asked.only or list(cases)
    if unknown := [name for name in order if name not in cases]:
        sys.exit(f"there is no table {unknown[0]!r}; --list names them")
    for name in order:
        case = cases[name]
        if asked.peers_only != (name in record) and not asked.names:
            continue
        if case.needs and not (asked.data / case.needs).exists():
            print(f"{name}: skipped, {asked.data / case.needs} is not there")
            continue
        if asked.peers_only:
            if not asked.keep or not (asked.keep / name / "run").exists():
                print(f"{name}: skipped, no run of it was kept")
                continue
            add_peers(record[name], judged(case, asked.keep / name, asked.budget, peers))
        else:
            record[name] = run(
                case, asked.data, asked.budget, peers, asked.processor_time, asked.keep
            )
        RECORD.write_text(json.dumps(record, indent=1))
        print(line_of(name, record[name]), flush=True)
        write_page(record)
    print(summary_of(record))


def add_peers(known: dict[str, Any], new: dict[str, Any]) -> None:
    """Put the peers of a later run on the same rows beside those that are known."""
    known["peers"] |= new["peers"]
    known["peer_p"] = min(known["peer_p"], new["peer_p"])


def run(
    case: Case,
    data: Path,
    budget: float,
    peers: list[str],
    processor_time: bool,
    keep: Path | None = None,
) -> dict[str, Any]:
    """One table: ours by the command line, then the peers."""
    folder = Path(tempfile.mkdtemp(prefix="gnomon-tables-"))
    if keep is not None:
        folder = keep / case.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    try:
        frame = case.frame(data)
        frame.to_csv(folder / "table.csv", index=False)
        begin = clock(processor_time)
        words = ["learn", str(folder / "table.csv"), "--target", case.target]
        words += ["--budget", f"{budget:g}s", "--runs", str(folder), "--name", "run", *case.flags]
        ended = command(words, (100 if processor_time else 20) * budget, processor_time)
        seconds = clock(processor_time) - begin
        found = {"rows": len(frame), "columns": frame.shape[1], "budget": budget}
        found |= {"clock": "processor" if processor_time else "wall"}
        found |= {"seconds": seconds, "error": ""}
        if ended.returncode:
            return found | {"error": (ended.stderr or "no message").strip()[-300:]}
        return found | judged(case, folder, budget, peers)
    finally:
        if keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def clock(processor_time: bool) -> float:
    """Seconds of the wall clock, or of processor time of the processes that have ended."""
    if not processor_time:
        return time.perf_counter()
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def command(
    words: list[str], timeout: float, processor_time: bool = False
) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own; too long a run counts as failed."""
    start = ["-c", IN_PROCESSOR_TIME] if processor_time else ["-m", "gnomon"]
    try:
        return subprocess.run(
            [sys.executable, *start, *words],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=os.environ | {"COLUMNS": "120"},
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"did not end in {timeout:g} s")


def judged(case: Case, folder: Path, budget: float, peers: list[str]) -> dict[str, Any]:
    """Scores, verdict and leaks of a finished run."""
    results = json.loads((folder / "run" / "run.json").read_text())["results"]
    table = pd.read_csv(folder / "table.csv")
    tested = pd.read_parquet(folder / "run" / "test_predictions.parquet")
    rows = tested["row"].to_numpy() - 1
    classify = results["measure"] not in ("rmse", "mae", "r2", "mse")
    known = table[case.target].notna().to_numpy() & (table[case.target] != "?").to_numpy()
    is_test = np.zeros(len(table), dtype=bool)
    is_test[rows] = True
    y = table[case.target].astype(str).to_numpy()
    if not classify:
        y = pd.to_numeric(table[case.target], errors="coerce").to_numpy(float)
    dropped = [case.target, *case.flags[1::2]] if "--groups" in case.flags else [case.target]
    X = table.drop(columns=[name for name in dropped if name in table])
    ours = ours_on(folder, table.iloc[rows], case.target, classify)
    theirs: dict[str, Said] = {}
    for name, peer in ((name, PEERS[name]) for name in peers):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                said = peer(
                    X[known & ~is_test], y[known & ~is_test], X.iloc[rows], classify, budget
                )
            except Exception as error:  # a peer that fails is no reason to lose ours
                print(f"{case.name}: {name} failed: {type(error).__name__}: {error}"[:200])
                continue
        if said is not None:
            theirs[name] = said
    scores = compared(results["measure"], y[rows], ours, theirs)
    alarms = [c for c in results["checks"] if c["name"] in LEAK_CHECKS and c["verdict"] == "bad"]
    told = " ".join(each["finding"] + each["remedy"] for each in alarms)
    return {
        "measure": results["measure"],
        "chosen": results["chosen"],
        "left_out": results["left_out"],
        "n_fitted": results["n_fitted"],
        "n_train": results["n_train"],
        "beats_baseline": results["beats_baseline"],
        "peer_p": peer_p(y[known & ~is_test], y[rows], theirs, classify),
        "leaks_found": [name for name in case.leaks if name in told],
        "leaks_missed": [name for name in case.leaks if name not in told],
        "false_leaks": [each["finding"] for each in alarms] if not case.leaks else [],
        **scores,
    }


def ours_on(folder: Path, test: pd.DataFrame, target: str, classify: bool) -> Said:
    """What the saved model says of the test rows, by ``gnomon predict``."""
    test.drop(columns=[target]).to_csv(folder / "test.csv", index=False)
    out = folder / "said.csv"
    ended = command(
        ["predict", str(folder / "run"), str(folder / "test.csv"), "--out", str(out)], 600
    )
    if ended.returncode:
        raise RuntimeError(f"predict failed: {ended.stderr[-300:]}")
    said = pd.read_csv(out, dtype={"prediction": str} if classify else None, keep_default_na=False)
    if not classify:
        return Said(said["prediction"].to_numpy(float))
    names = [name for name in said.columns if name.startswith("P(")]
    classes = np.array([name[2:-1] for name in names])
    scores = said[names].to_numpy(float) if names else None
    return Said(said["prediction"].to_numpy(str), scores, classes)


def peer_p(train: np.ndarray, y: np.ndarray, theirs: dict[str, Said], classify: bool) -> float:
    """The least p, times the number of peers, of a peer no better than a constant on test rows."""
    found = []
    for said in theirs.values():
        if classify:
            names, counts = np.unique(train, return_counts=True)
            gain = (said.predictions == y).astype(float) - (y == names[counts.argmax()])
        else:
            gain = (y - train.mean()) ** 2 - (y - said.predictions) ** 2
        if gain.std() > 0:
            found.append(float(stats.ttest_1samp(gain, 0, alternative="greater").pvalue))
    return min(1.0, min(found) * len(found)) if found else 1.0


def line_of(name: str, each: dict[str, Any]) -> str:
    """One line of the page."""
    over = each["seconds"] / each["budget"]
    head = f"| {name} | {each['rows']:,} | {each['columns']:,} | {over:.2f} |"
    if each["error"]:
        return f"{head} failed: {each['error'][:80].replace(chr(10), ' ')} | | | | | | | | |"
    sign = -1 if each["measure"] in LOWER_IS_BETTER else 1
    best, behind = best_peer(each)
    theirs = each["peers"].get(best, {"score": np.nan})["score"]
    light = each["peers"].get("LightGBM", {"behind": np.nan})["behind"]
    verdict = "predicts" if each["beats_baseline"] else "not shown"
    if not each["beats_baseline"] and each["peer_p"] < SURELY:
        verdict += " (wrong)"
    leaks = "".join(f" missed {name}" for name in each["leaks_missed"])
    leaks += f" found {len(each['leaks_found'])}" if each["leaks_found"] else ""
    leaks += f" false {len(each['false_leaks'])}" if each["false_leaks"] else ""
    return (
        f"{head} {each['measure']} | {sign * each['score']:.4g} ± {each['error_of_score']:.2g} | "
        f"{best or '-'} | {sign * theirs:.4g} | {behind:.1f} | {light:.1f} | {verdict} | "
        f"{leaks.strip() or '-'} | {each['chosen']} |"
    )


def best_peer(each: dict[str, Any]) -> tuple[str, float]:
    """The peer of the best score, and how far ours is behind it."""
    if not each["peers"]:
        return "", 0.0
    name = max(each["peers"], key=lambda peer: each["peers"][peer]["score"])
    return name, each["peers"][name]["behind"]


def write_page(record: dict[str, Any]) -> None:
    """TABLES.md from everything that was recorded."""
    order = [case.name for case in CASES if case.name in record]
    budget = record[order[0]]["budget"] if order else 60.0
    shared = [name for name in order if record[name].get("clock") == "processor"]
    flaml = sum("FLAML" in each.get("peers", {}) for each in record.values())
    clock = PROCESSOR.format(n=len(shared), flaml=flaml) if shared else ""
    head = HEAD.format(
        budget=budget,
        n=len(order),
        all=len(CASES),
        most=MOST_OVER,
        clock=clock,
        summary=summary_of(record),
    )
    lines = [line_of(name, record[name]) for name in order]
    names = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    RESULTS.write_text(head + "\n".join([*names, *lines]) + "\n")


def summary_of(record: dict[str, Any]) -> str:
    """How many tables hold each bar."""
    whole = [each for each in record.values() if not each["error"]]
    in_time = sum(each["seconds"] <= MOST_OVER * each["budget"] for each in record.values())
    equal = sum(best_peer(each)[1] <= 1 for each in whole)
    lost = sum(each["peers"].get("LightGBM", {"behind": 0.0})["behind"] > 2 for each in whole)
    wrong = sum(not each["beats_baseline"] and each["peer_p"] < SURELY for each in whole)
    missed = sum(len(each["leaks_missed"]) for each in whole)
    false = sum(bool(each["false_leaks"]) for each in whole)
    return (
        f"In time: {in_time} of {len(record)}. Best or equal to the best peer: {equal} of "
        f"{len(whole)}. Worse than LightGBM's defaults by more than two standard errors: {lost}. "
        f"Wrong 'not shown': {wrong}. Planted leaks missed: {missed}; false leaks: {false}."
    )


if __name__ == "__main__":
    main()
