"""The command ``gnomon group``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.completion import example_names
from gnomon.workbench.screen import console, print_table, say, shown_progress

NO_GROUPS = 3


def group(
    file: Annotated[
        Path | None, typer.Argument(help="The table: CSV, Parquet, Excel, ARFF, JSON lines ...")
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(
            help="Use a bundled example table instead of a file.", autocompletion=example_names
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Do not make groups from this column; may be repeated."),
    ] = None,
    groups: Annotated[
        int | None, typer.Option(min=2, help="How many groups; by default it is chosen.")
    ] = None,
    most: Annotated[int, typer.Option(min=2, help="Try at most so many groups.")] = 10,
    method: Annotated[
        list[str] | None,
        typer.Option(help="k-means, Gaussian mixture, Ward or DBSCAN; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of draws and starts.", min=0)] = 0,
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = Path("runs"),
    name: Annotated[str | None, typer.Option(help="Name of this run's folder.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 where no clear groups are found.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find groups of rows, name them, and say whether they can be trusted.

    Methods and numbers of groups compete; each is judged by how well groups are parted and by
    whether other rows would give the same ones. The run folder gets labels.csv, a model that
    assigns new rows (gnomon predict), and report.html.

    Examples:

      gnomon group customers.csv --without churn

      gnomon group --example wine --groups 3
    """
    from gnomon.workbench.given import source_of
    from gnomon.workbench.group import HEADINGS
    from gnomon.workbench.group import group as find
    from gnomon.workbench.runs import new_name

    if (file is None) == (example is None):
        raise typer.BadParameter("give a file, or --example NAME")
    given = f"example:{example}" if example is not None else str(file)
    folder = runs / (name or new_name(runs, source_of(given), "groups"))
    with shown_progress("grouping") as tell:
        result = find(
            given,
            without=without,
            groups=groups,
            most=most,
            methods=method,
            seed=seed,
            folder=folder,
            progress=tell,
        )
    if as_json:
        typer.echo(result.to_json())
    else:
        say(str(result))
        console.print()
        chosen, *others = result.board()[:8]
        lines = [[*chosen[:-1], "chosen"], *others]
        print_table([*HEADINGS[:-1], ""], lines, title="groupings that competed")
        say(f"chosen: {result.chosen.remark}")
        say(f"wrote {folder}: report.html, labels.csv, groupings.csv, model.gnomon, again.py")
        say(f"next: gnomon predict {folder} NEW_ROWS.csv")
    if strict and not result.clear:
        raise typer.Exit(NO_GROUPS)
