"""The commands ``gnomon verify`` and ``gnomon conventions``."""

from __future__ import annotations

from typing import Annotated

import typer

from gnomon.workbench.base.screen import print_json, print_table
from gnomon.workbench.base.shared_options import AsJson


def verify(
    word: Annotated[str, typer.Argument(help="A method; all by default.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare numbers of gnomon with other packages and worked numbers, here and now.

    Example: gnomon verify PCA
    """
    from gnomon.workbench.verify.verification import verify as compared

    found = compared(word)
    columns = found._columns()
    if as_json:
        print_json([dict(zip(columns, row)) for row in zip(*columns.values())])
    else:
        rows = [
            [f"{c:.6g}" if isinstance(c, float) else c for c in r] for r in zip(*columns.values())
        ]
        print_table(list(columns), rows, str(found).splitlines()[0])
    if not found.right:
        raise typer.Exit(1)


def conventions(as_json: AsJson = False) -> None:
    """Where texts and other programs define things differently, and how to switch.

    Example: gnomon conventions
    """
    from gnomon.workbench.verify.verification import conventions as both

    columns = both()._columns()
    if as_json:
        print_json([dict(zip(columns, row)) for row in zip(*columns.values())])
        return
    print_table(list(columns), list(zip(*columns.values())))


def levels(
    job: Annotated[str, typer.Argument(help="A job, such as learn; all by default.")] = "",
    as_json: AsJson = False,
) -> None:
    """How often each check and interval that a job prints may be wrong.

    `make truth` measures the shares by simulation and writes benchmarks/TRUTH.md.

    Example: gnomon levels learn
    """
    from gnomon.engine.errors import DataError
    from gnomon.workbench.base.statements import STATEMENTS

    jobs = list(dict.fromkeys(each.job for each in STATEMENTS))
    if job and job not in jobs:
        raise DataError(f"no statements of a job {job!r}; there are those of {', '.join(jobs)}")
    shown = [each for each in STATEMENTS if job in ("", each.job) and each.kind != "figure"]
    if as_json:
        print_json([each._asdict() for each in shown])
        return
    meaning = {"test": "false alarms", "interval": "holds the truth"}
    rows = [
        [e.job, e.name, meaning[e.kind], f"{e.nominal:.1%}", f"{e.band[0]:.1%} to {e.band[1]:.1%}"]
        for e in shown
    ]
    print_table(["job", "statement", "share of tables", "stated", "accepted in simulations"], rows)
