"""The command ``gnomon map``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.completion import example_names
from gnomon.workbench.screen import print_table, say, shown_progress


def map_rows(
    file: Annotated[
        Path | None, typer.Argument(help="The table: CSV, Parquet, Excel, ARFF, JSON lines ...")
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(
            help="Use a bundled example table instead of a file.", autocompletion=example_names
        ),
    ] = None,
    colour: Annotated[
        str | None, typer.Option(help="Colour rows by this column first; the report offers all.")
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Do not make distances from this column; may be repeated."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            help="PCA, stress, Sammon, t-SNE (these four by default), Isomap, LLE, spectral or "
            "UMAP; may be repeated."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of draws and starts.")] = 0,
    rows: Annotated[
        int,
        typer.Option(min=5, help="Map at most so many rows; time grows with their square."),
    ] = 2000,
    place_all: Annotated[
        bool,
        typer.Option(
            "--place-all",
            help="In coordinates.csv, place the other rows too where the method can.",
        ),
    ] = False,
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = Path("runs"),
    name: Annotated[str | None, typer.Option(help="Name of this run's folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Draw the rows on the plane by several methods, and say how far each map can be trusted.

    The run folder gets coordinates.csv and report.html, in which the maps are linked. Of more than
    2,000 rows so many are drawn unless --rows says otherwise.

    Examples:

      gnomon map customers.csv --colour churn --without churn

      gnomon map --example wine --colour cultivar --without cultivar
    """
    from gnomon.workbench.given import source_of
    from gnomon.workbench.map import map as draw
    from gnomon.workbench.runs import new_name

    if (file is None) == (example is None):
        raise typer.BadParameter("give a file, or --example NAME")
    given = f"example:{example}" if example is not None else str(file)
    folder = runs / (name or new_name(runs, source_of(given), "map"))
    with shown_progress("mapping") as tell:
        result = draw(
            given,
            colour=colour,
            without=without,
            methods=method,
            seed=seed,
            rows=rows,
            place_all=place_all,
            folder=folder,
            progress=tell,
        )
    if as_json:
        typer.echo(result.to_json())
        return
    say(str(result))
    print_table(["map", "trustworthiness", "continuity", "stress"], result.board())
    say(f"wrote {folder}: report.html, coordinates.csv, again.py")
