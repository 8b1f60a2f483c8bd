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
