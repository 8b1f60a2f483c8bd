"""What the shell offers after a tab, beside commands and options: runs and example tables."""

from __future__ import annotations

from pathlib import Path

import typer


def run_names(context: typer.Context, incomplete: str) -> list[str]:
    """Names of the run folders, newest first, and ``last``."""
    given = [context.params.get(name) for name in ("folder", "runs")]
    folder = next((each for each in given if isinstance(each, Path)), Path("runs"))
    records = sorted(folder.glob("*/run.json"), key=lambda each: -each.stat().st_mtime)
    names = ["last", *(record.parent.name for record in records)]
    return [name for name in names if name.startswith(incomplete)]


def example_names(incomplete: str) -> list[str]:
    """Names of the bundled example tables."""
    from gnomon.table import examples

    return [name for name in examples() if name.startswith(incomplete)]
