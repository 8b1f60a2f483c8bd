"""The command ``gnomon runs``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnomon.workbench.base.screen import (
    print_json,
    print_table,
    say,
)
from gnomon.workbench.base.shared_options import AsJson, RunsFolder


def runs(folder: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """List the runs: their options, what was found, what is not finished.

    Example: gnomon runs
    """
    from gnomon.workbench.base.runs import all_runs, state_of

    found = [(path, record | {"status": state_of(record)}) for path, record in all_runs(folder)]
    if as_json:
        print_json([{"run": str(path), **record} for path, record in found])
        return
    if not found:
        say(f"there are no runs in {folder}; begin with: gnomon learn FILE --target NAME")
        return
    rows = [run_line(path, record) for path, record in found]
    print_table(["run", "begun", "target", "rows", "status", "chosen", "on test rows"], rows)
    for path, record in found:
        if record["status"] not in ("finished", "running"):
            say(f"{path.name}: {what_to_do(path, record)}")


def what_to_do(path: Path, record: dict[str, Any]) -> str:
    """How to go on with a run that is not finished."""
    on = f"gnomon learn --resume {path}"
    if record["job"] != "learn":
        on = f"gnomon {record['job']} again, which is not resumed"
    if record["status"] == "running?":
        host = record.get("process", {}).get("host")
        where = f"on {host}" if host else "by an earlier version of gnomon"
        return f"begun {where}; whether it still runs is not known here. If not: {on}"
    error = record.get("error")
    return f"go on with: {on}" if not error else f"{error}. Go on with: {on}"


def run_line(path: Path, record: dict[str, Any]) -> list[str]:
    """One run as cells."""
    results = record.get("results")
    if record["job"] != "learn":
        return other_line(path, record)
    figure = ""
    if results:
        test = results["test"]
        from gnomon.workbench.base.recorded import figure_of

        value = figure_of(test, "value")
        figure = f"{results['measure']} {value}"
    return [
        path.name,
        record["begun"][:16].replace("T", " "),
        record["settings"]["target"],
        f"{record['data']['rows']:,}",
        record["status"],
        results["chosen"] if results else "",
        figure,
    ]


def other_line(path: Path, record: dict[str, Any]) -> list[str]:
    """A run of another job as cells."""
    results = record.get("results")
    chosen = figure = ""
    if results and record["job"] == "group":
        chosen = f"{results['chosen']['method']}, {results['chosen']['k']} groups"
        figure = "clear" if results["clear"] else "not clear"
    elif results and record["job"] == "map":
        chosen = results["best"]
        figure = f"trustworthiness {results['quality'][chosen]['trustworthiness']['value']:.3f}"
    return [
        path.name,
        record["begun"][:16].replace("T", " "),
        f"({record['job']})",
        f"{record['data']['rows']:,}",
        record["status"],
        chosen,
        figure,
    ]
