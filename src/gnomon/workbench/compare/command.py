"""The command ``gnomon compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.base.completion import run_names
from gnomon.workbench.base.screen import (
    print_json,
    print_table,
    say,
)
from gnomon.workbench.base.shared_options import AsJson, RunsFolder


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
    from gnomon.workbench.base.recorded import figure_of, number
    from gnomon.workbench.compare.job import compare as put

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
