"""Commands as a person types them, in a process of their own."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

from gnomon.workbench import cli
from gnomon.workbench.base import screen

QUICK = ("--budget", "20", "--folds", "5", "--repeats", "1", "--learner", "naive Bayes")


def arguments(*words) -> list[str]:
    """The command line of gnomon."""
    return [sys.executable, "-m", "gnomon", *map(str, words)]


def environment() -> dict[str, str]:
    """A wide terminal that speaks UTF-8."""
    return os.environ | {"COLUMNS": "160", "PYTHONIOENCODING": "utf-8"}


def run(*words, folder: Path) -> subprocess.CompletedProcess:
    """Run a command to its end."""
    return subprocess.run(
        arguments(*words),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=170,
        env=environment(),
    )


def call(*words, folder: Path) -> subprocess.CompletedProcess:
    """The same in this process, which need not import everything anew."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["gnomon", *map(str, words)]),
        mock.patch.dict(os.environ, {"COLUMNS": "160"}),
        mock.patch.object(screen.console, "_width", 160),  # read from COLUMNS at import only
        warnings.catch_warnings(),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
