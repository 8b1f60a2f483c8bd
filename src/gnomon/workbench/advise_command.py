"""The command ``gnomon advise``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer


def advise(
    file: Annotated[
        Path | None, typer.Argument(help="The table: CSV, Parquet, Excel, ARFF, JSON lines ...")
    ] = None,
    target: Annotated[str, typer.Option(help="The column to predict.")] = ...,  # type: ignore[assignment]
    example: Annotated[
        str | None, typer.Option(help="Use a bundled example table instead of a file.")
    ] = None,
    task: Annotated[str, typer.Option(help="classify, regress, or auto.")] = "auto",
    try_out: Annotated[
        bool, typer.Option("--try", help="Also compare the methods on the same folds.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the folds and of random learners.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Say which methods fit a table, and why, by the rules of the texts.

    Example: gnomon advise sales.csv --target churn --try
    """
    from gnomon.table import example as bundled
    from gnomon.table import read
    from gnomon.workbench.advise import advise as run

    if (file is None) == (example is None):
        raise typer.BadParameter("give a file, or --example NAME")
    table = bundled(example) if example is not None else read(file)
    found = run(table, target, task=task, try_out=try_out, seed=seed)
    typer.echo(json.dumps(found.to_dict(), default=str) if as_json else repr(found))
