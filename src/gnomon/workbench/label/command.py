"""The command ``gnomon label``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import print_table, say
from gnomon.workbench.label.options import JOB

MOST_CELLS = 12  # judgement: what one line of question shows of a row


class LabelCommand(JobCommand):
    """Ask for the labels that would help most, and write a copy of the table with the answers.

    The run folder gets labeled.csv, which holds every answer as soon as it is given: label that
    file again to go on. Without a terminal the rows are listed and nothing is asked.

    Example: gnomon label calls.csv --target outcome --questions 20
    """

    job = JOB
    suffix = "label"

    def show(self, result: Any) -> None:
        """The verdict; then the questions, on a terminal."""
        say(str(result))
        if sys.stdin.isatty():
            ask(result)
        else:
            lines = [[row, cells(result, row)] for row in result.questions]
            print_table(["row", "cells"], lines, title="rows to label")

    def after(self, folder: Path) -> None:
        """How to go on."""
        say(f"go on with: gnomon label {folder / 'labeled.csv'} --target ...")


def cells(result: Any, row: int) -> str:
    """The first cells of a row, as text."""
    names = [name for name in result.table.columns if name != result.settings.target]
    values = result.table.select(names[:MOST_CELLS])[[row]].arrow.to_pylist()[0]
    return ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)


def ask(result: Any, prompt: Any = input) -> None:
    """Ask for the label of every row; an empty answer skips it, q ends."""
    known = ", ".join(result.classes) or "none yet"
    say(f"labels so far: {known}; enter skips a row, q ends")
    for number, row in enumerate(result.questions, start=1):
        say(f"{number} of {len(result.questions)}, row {row}: {cells(result, row)}")
        try:
            answer = prompt(f"{result.settings.target}? ").strip()
        except (EOFError, KeyboardInterrupt):
            break
        if answer.lower() == "q":
            break
        if answer:
            result.answer(row, answer)
    say(f"{len(result.answers)} labels were given")
