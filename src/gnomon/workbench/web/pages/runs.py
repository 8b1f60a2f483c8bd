"""Runs: their list, how far each is, what it found, and runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import Table, read
from gnomon.workbench.base.runs import (
    RECORD,
    RunError,
    all_runs,
    plain_name,
    read_record,
    state_of,
)
from gnomon.workbench.decide.options import JOB as DECIDE
from gnomon.workbench.label.options import JOB as LABEL
from gnomon.workbench.label.result import LABELED
from gnomon.workbench.web.app import Asked, NotFound, Workbench, file_of, run_of, to
from gnomon.workbench.web.cells import as_text
from gnomon.workbench.web.guard import REPORT_POLICY
from gnomon.workbench.web.labels import questions_of
from gnomon.workbench.web.pages.decide import wishes_given
from gnomon.workbench.web.pages.label import labeling
from gnomon.workbench.web.tasks import TASK, TaskState, cancel, read_json

FIRST_TABLES = ("leaderboard", "proposals", "groupings", "forecasts", "rules")
P_VALUE = "p_against_best"  # of a leaderboard
SHOWN = 60  # judgement: rows of a table on the page; the file has all
MOST_BYTES = 5_000_000  # judgement: tables are read for the page; larger ones are not shown


def runs_page(bench: Workbench, asked: Asked) -> Response:
    """All runs, the newest first."""
    found = []
    for path, record in reversed(all_runs(bench.session.runs)):
        task = bench.session.state(path.name)
        found.append((path.name, record, task.status if task else state_of(record)))
    return bench.page("runs.html", here="runs", runs=found, folder=bench.session.runs)


def run_page(bench: Workbench, asked: Asked) -> Response:
    """A run: while it is at work its progress, then what it found."""
    folder = run_of(bench, asked)
    content = content_of(bench, folder)
    if asked.fragment and content["state"].status == "running":
        return bench.part("run_state.html", **content)
    if asked.fragment:
        return Response(headers={"hx-refresh": "true"})
    if content["asks"]:
        content |= labeling(bench, folder, asked)
    return bench.page("run.html", here="runs", **content)


def content_of(bench: Workbench, folder: Path) -> dict[str, Any]:
    """What the page of a run shows."""
    record = record_of(folder)
    state = bench.session.state(folder.name) or TaskState(state_of(record) if record else "stopped")
    finished = state.status == "finished"
    task = read_json(bench.session.task_folder(folder.name) / TASK) or {}
    return {
        "name": folder.name,
        "record": record,
        "job": record.get("job", task.get("job")),
        "source": bench.session.words_of_source(record.get("source") or "a table"),
        "state": state,
        "poll": f"/runs/{folder.name}",
        "tables": tables_of(folder) if finished else [],
        "files": sorted(each.name for each in folder.iterdir() if each.is_file()),
        "verdict": verdict_of(record) if finished else [],
        "has_model": (folder / "sample.parquet").exists() and (folder / "model.gnomon").exists(),
        "can_resume": record.get("job") == "learn" and state.status in ("stopped", "failed"),
        "proposals": record.get("results", {}).get("proposals") if finished else None,
        "wishes": wishes_given(record) if record.get("job") == DECIDE.name else {},
        "asks": finished and record.get("job") == LABEL.name,
    }


def record_of(folder: Path) -> dict[str, Any]:
    """The record of a run; empty before it has one."""
    if not (folder / RECORD).exists():
        return {}
    try:
        return read_record(folder)
    except RunError as error:
        return {"error": str(error)}


def verdict_of(record: dict[str, Any]) -> list[tuple[str, str]]:
    """What a run found, in sentences with their kind: its verdict, and its checks that matter."""
    results = record.get("results", {})
    found = []
    if isinstance(results.get("verdict"), str):
        found.append(("good" if results.get("clear", True) else "warning", results["verdict"]))
    if "chosen" in results and "test" in results:
        found.append(("good" if results["beats_baseline"] else "warning", chosen_sentence(results)))
    for check in results.get("checks", []):
        if check["verdict"] != "good":
            found.append(
                (check["verdict"], f"{check['name']}: {check['finding']} {check['remedy']}")
            )
    for each in results.get("findings", []):
        if isinstance(each, str):
            found.append(("warning", each))
        else:
            found.append((each["kind"], f"{each['about']}: {each['text']} {each['remedy']}"))
    return [(kind if kind in ("good", "bad", "note") else "warning", text) for kind, text in found]


def chosen_sentence(results: dict[str, Any]) -> str:
    """The chosen learner and its figure on the test rows."""
    test = results["test"]
    figure = "unknown" if test["value"] is None else f"{test['value']:.4g}"
    if test["value"] is not None and test["low"] is not None:
        figure += f" ({test['low']:.4g} to {test['high']:.4g})"
    better = "better" if results["beats_baseline"] else "not shown to be better"
    return (
        f"{results['chosen']} is chosen: {results['measure']} {figure} on the "
        f"{results['n_test']:,} test rows, used once; {better} than the baseline."
    )


def tables_of(folder: Path) -> list[dict[str, Any]]:
    """The tables that a run wrote, the most telling first."""
    found = []
    for path in sorted(folder.glob("*.csv"), key=_order):
        if path.stat().st_size > MOST_BYTES:
            continue
        try:
            table = read(path)
        except DataError:
            continue
        found.append(listed(table, path.name))
    return found


def listed(table: Table, file: str) -> dict[str, Any]:
    """The first rows of a table, and the file that has all of them."""
    rows = as_text(rounded(table[:SHOWN]))
    if P_VALUE in table.columns:
        at = list(table.columns).index(P_VALUE)
        for row in rows:
            row[at] = p_in_words(row[at])
    return {
        "title": Path(file).stem.replace("_", " "),
        "file": file,
        "headings": list(table.columns),
        "numeric": [column.kind.is_numeric for column in table.schema],
        "rows": rows,
        "n_rows": len(table),
    }


def p_in_words(cell: str | None) -> str | None:
    """A p-value as people write it: below a thousandth its digits mean nothing."""
    if not cell:
        return cell
    return "< 0.001" if float(cell) < 0.001 else f"{float(cell):.3f}"


def rounded(table: Table) -> Table:
    """A table whose numbers have four digits, as reports show them."""
    for column in table.schema:
        if column.kind == "number":
            values = table.column(column.name).to_pylist()
            short = [None if v is None else float(f"{v:.4g}") for v in values]
            table = table.with_column(column.name, short, kind="number")
    return table


def _order(path: Path) -> tuple[int, str]:
    first = [k for k, name in enumerate(FIRST_TABLES) if path.stem.startswith(name)]
    return (first[0] if first else len(FIRST_TABLES), path.name)


def report(bench: Workbench, asked: Asked) -> Response:
    """The report of a run, in a sandbox: it has its own scripts and reaches nothing here."""
    answer = file_of(run_of(bench, asked), "report.html")
    answer.headers["content-security-policy"] = REPORT_POLICY
    return answer


def run_file(bench: Workbench, asked: Asked) -> Response:
    """A file of a run, to keep."""
    folder, name = run_of(bench, asked), asked.path["file"]
    questions = questions_of(bench.session, folder) if name == LABELED else None
    if questions is not None:
        questions.refresh()
    answer = file_of(folder, name)
    answer.headers["content-disposition"] = f'attachment; filename="{plain_name(name)}"'
    return answer


def cancel_run(bench: Workbench, asked: Asked) -> Response:
    """Stop a run; what it has is kept."""
    folder = run_of(bench, asked)
    cancel(bench.session.task_folder(folder.name))
    return to(f"/runs/{folder.name}")


def resume_run(bench: Workbench, asked: Asked) -> Response:
    """Go on with a run that was stopped."""
    folder = run_of(bench, asked)
    session = bench.session
    state = session.state(folder.name)
    if state is not None and state.status == "running":
        raise DataError("The run is at work.")
    task = read_json(session.task_folder(folder.name) / TASK)
    if task is None:
        raise DataError(f"The run was begun elsewhere: gnomon learn --resume {folder}")
    session.begin(folder.name, task | {"do": "resume" if record_of(folder) else "job"})
    return to(f"/runs/{folder.name}")


def compare_page(bench: Workbench, asked: Asked) -> Response:
    """Runs side by side, with a test of their difference."""
    from gnomon.workbench.compare.job import compare

    names = chosen_runs(bench, asked.query.get("run", []))
    found = compare([*names], folder=bench.session.runs)
    return bench.page("compare.html", here="runs", found=found, names=names)


def compare_runs(bench: Workbench, asked: Asked) -> Response:
    """Write a comparison down and show it."""
    names = chosen_runs(bench, asked.form.get("run", []))
    if len(names) < 2:
        raise DataError("Tick two or more runs to compare them.")
    line = f"print(gnomon.compare({names!r}, folder={str(bench.session.runs)!r}))"
    bench.session.add("ask", {"lines": [line], "words": "compare runs"}, table=False)
    return to("/compare?" + "&".join(f"run={name}" for name in names))


def chosen_runs(bench: Workbench, names: list[str]) -> list[str]:
    """Names of runs that there are."""
    for name in names:
        if name != plain_name(name) or not (bench.session.runs / name).is_dir():
            raise NotFound(f"there is no run {name!r}")
    return names


ROUTES = [
    ("/runs", runs_page, "GET"),
    ("/runs/{name}", run_page, "GET"),
    ("/runs/{name}/report", report, "GET"),
    ("/runs/{name}/files/{file}", run_file, "GET"),
    ("/runs/{name}/cancel", cancel_run, "POST"),
    ("/runs/{name}/resume", resume_run, "POST"),
    ("/compare", compare_page, "GET"),
    ("/compare", compare_runs, "POST"),
]
