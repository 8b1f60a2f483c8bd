"""The command ``gnomon again``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.base.completion import run_names
from gnomon.workbench.base.screen import (
    console,
    print_json,
    print_table,
    shown_progress,
)
from gnomon.workbench.base.shared_options import AsJson, RunsFolder

DIFFERENT = 1  # exit status, as of `diff`: 1 where the results differ


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
    from gnomon.workbench.again.job import again as repeat

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
