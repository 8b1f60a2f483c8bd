"""The command: python -m examples.notebooks [PAGE ...]."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat

from examples.notebooks import PAGES, executed, path_of

for page in sys.argv[1:] or PAGES:
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(executed(page, Path(folder)), path_of(page))
    print(path_of(page).name)
