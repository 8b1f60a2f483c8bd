"""The commands about models and runs: ``predict``, ``compare``, ``runs``, ``again``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gnomon.workbench.completion import run_names
from gnomon.workbench.screen import (
    complaints,
    console,
    print_json,
    print_table,
    say,
    shown_progress,
)

DIFFERENT = 1
RunsFolder = Annotated[Path, typer.Option("--runs", help="Folder of the run folders.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, or a run folder.")],
    file: Annotated[Path, typer.Argument(help="The table with the new rows.")],
    out: Annotated[
        Path, typer.Option(help="Where predictions are written: .csv, .tsv, .parquet.")
    ] = Path("predictions.csv"),
    keep: Annotated[
        list[str] | None, typer.Option(help="Copy this column too (an identifier).")
    ] = None,
    undecided: Annotated[
        float | None,
        typer.Option(help="Mark rows whose best class is less probable than this."),
    ] = None,
    queue: Annotated[
        Path | None, typer.Option(help="Write the undecided rows here, for people to answer.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask a saved model about new rows.

    Columns are found by name; further ones are ignored. Text that a spreadsheet would run as a
    formula is written with a ' before it.

    Examples:

      gnomon predict runs/sales-churn-1 new.csv --keep customer_id

      gnomon predict model.gnomon new.csv --undecided 0.6 --queue ask.csv
    """
    from gnomon.engine.errors import DataError
    from gnomon.workbench.predict import predict as ask
    from gnomon.workbench.result import written

    if queue is not None and undecided is None:
        raise typer.BadParameter("--queue needs --undecided, such as --undecided 0.6")
    found = ask(model, file, undecided=undecided)
    table = found.table
    for name in reversed(keep or []):
        if name not in found.rows.columns:
            raise DataError(f"--keep {name}: there is no such column in {file}")
        table = with_first(found.rows, name, table)
    written(table, out)
    if queue is not None:
        written(found.queue(), queue)
    for note in found.notes:
        complaints.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    if as_json:
        print_json({"rows": len(found), "out": str(out), "undecided": len(found.undecided)})
        return
    say(f"wrote {out}: {len(found):,} predictions ({', '.join(table.columns)})")
    if undecided is not None:
        where = f", written to {queue}" if queue is not None else ""
        say(f"{len(found.undecided):,} rows are undecided (below {undecided:g}){where}")


def with_first(rows: Any, name: str, table: Any) -> Any:
    """A table with a column of the rows put first."""
    from gnomon.table import Schema, Table

    arrow = table.arrow.add_column(0, name, rows.column(name))
    return Table(arrow, Schema([rows.schema[name], *table.schema]))


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(help="Two or more runs, by name or folder.", autocompletion=run_names),
    ],
    folder: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Put runs side by side and say which differences are real.

    Example: gnomon compare sales-churn-1 sales-churn-2
    """
    from gnomon.workbench.compare import compare as put

    found = put(list(runs), folder=folder)
    if as_json:
        print_json(vars(found))
        return
    rows = [
        [
            each["run"],
            each["target"],
            each["chosen"],
            each["measure"],
            str(figure_of(each, "test")),
            "yes" if each["beats_baseline"] else "NO",
        ]
        for each in found.lines
    ]
    print_table(["run", "target", "chosen", "measure", "on test rows", "beats baseline"], rows)
    for pair in found.pairs:
        p = "unknown" if pair["p"] is None else f"{pair['p']:.3g}"
        say(
            f"{pair['first']} - {pair['second']}: {number(pair['difference']):+.4g}, p = {p} "
            f"({pair['how']})"
        )
    for note in found.notes:
        say(note)


def figure_of(record: dict[str, Any], name: str) -> Any:
    """A figure of a record with its interval."""
    from gnomon.evaluate import Estimate

    return Estimate(number(record[name]), number(record["low"]), number(record["high"]))


def number(value: float | None) -> float:
    """A number of a record; what is unknown is NaN."""
    return float("nan") if value is None else value


def runs(folder: RunsFolder = Path("runs"), as_json: AsJson = False) -> None:
    """List the runs: what was asked, what was found, what is not finished.

    Example: gnomon runs
    """
    from gnomon.workbench.runs import all_runs, state_of

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


def again(
    run: Annotated[
        str,
        typer.Argument(
            help="A finished run: its name, its folder, or 'last'.", autocompletion=run_names
        ),
    ],
    folder: RunsFolder = Path("runs"),
    as_json: AsJson = False,
) -> None:
    """Repeat a run from its record and say whether the numbers are the same.

    Exits with 1 where they are not. The run's own again.py does the same in Python.

    Example: gnomon again last
    """
    from gnomon.workbench.again import again as repeat

    with shown_progress("again") as tell:
        found = repeat(run, runs=folder, progress=tell)
    if as_json:
        print_json(vars(found) | {"same": found.same})
    else:
        names = {**found.recorded, **found.found}
        rows = [[n, found.recorded.get(n, ""), found.found.get(n, "")] for n in names]
        print_table(["figure", "recorded", "now"], rows, f"{found.name}, repeated")
        verdict = "the same numbers, to the last bit" if found.same else "OTHER numbers"
        console.print(verdict, style="bold green" if found.same else "bold red")
    if not found.same:
        raise typer.Exit(DIFFERENT)
