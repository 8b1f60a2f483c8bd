"""The command ``gnomon export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.base.completion import run_names
from gnomon.workbench.base.screen import say
from gnomon.workbench.base.shared_options import RunsFolder


def export(
    model: Annotated[
        str, typer.Argument(help="A run, or a .gnomon file.", autocompletion=run_names)
    ],
    to: Annotated[str, typer.Option(help="onnx or python.")] = "onnx",
    out: Annotated[Path | None, typer.Option(help="Write it here.")] = None,
    folder: RunsFolder = Path("runs"),
) -> None:
    """Write the model of a run as an ONNX file, or as Python code without dependencies.

    Example: gnomon export sales-churn-1 --to python
    """
    from gnomon.workbench.export.job import export as write

    path = write(model, to, out, runs=folder)
    say(f"wrote {path} ({path.stat().st_size / 1000:,.0f} kB)")
