"""``gnomon look FILE``: what is in a table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from gnomon.workbench.screen import complaints, console


def look(
    file: Annotated[
        Path | None, typer.Argument(help="The table: CSV, Parquet, Excel, ARFF, JSON lines ...")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="The column to predict later: adds class balance and leaks."),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report with pictures to this HTML file.")
    ] = None,
    example: Annotated[
        str | None, typer.Option(help="Use a bundled example table instead of a file.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print everything that was found as JSON.")
    ] = False,
    strict: Annotated[
        bool, typer.Option(help="End with code 1 where something is bad, for scripts.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the rows drawn for pictures.", min=0)] = 0,
) -> None:
    """Look at a table: kinds, missing cells, duplicates, leaks, associations, what predicts what.

    Example: gnomon look sales.csv --target churn --report look.html
    """
    if (file is None) == (example is None):
        raise typer.BadParameter("give a file, or --example NAME")
    name = f"the example {example!r}" if example is not None else str(file)
    with _progress() as bar:
        step = bar.add_task(f"reading {name}", total=None)

        def tell(what: str) -> None:
            bar.update(step, description=what)

        table, look_at = _table_and_method(file, example, pictures=report is not None)
        found = look_at(table, target, source=name, seed=seed, progress=tell)
        if report is not None:
            tell("report")
            written = found.save(report)
    if as_json:
        typer.echo(found.to_json())
    else:
        console.print(name, style="bold", markup=False, highlight=False)
        for note in found.table.notes:
            console.print(f"  · {note}", markup=False, highlight=False)
        console.print(found)
    if report is not None:
        size = written.stat().st_size / 1e6
        complaints.print(f"wrote {written} ({size:.1f} MB)", markup=False, highlight=False)
    if strict and any(finding.kind == "bad" for finding in found.findings):
        raise typer.Exit(1)


def _table_and_method(file: Path | None, example: str | None, *, pictures: bool):
    """The table, and what looks at it: its modules are loaded while the file is read."""
    from gnomon.table import example as bundled
    from gnomon.table import read

    with ThreadPoolExecutor(1) as aside:
        table = aside.submit(read, file) if example is None else aside.submit(bundled, example)
        from gnomon.workbench.look import look as look_at

        if pictures:
            import gnomon.workbench.look_report  # noqa: F401

        return table.result(), look_at


def _progress() -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=complaints,
        transient=True,
    )
