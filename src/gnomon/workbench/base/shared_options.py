"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RunsFolder = Annotated[Path, typer.Option("--runs", help="Folder of the run folders.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
