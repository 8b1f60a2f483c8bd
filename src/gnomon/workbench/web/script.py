"""The script of a session, as Python and as a notebook."""

from __future__ import annotations

import json
from typing import Any

from gnomon.workbench.web.code import Code
from gnomon.workbench.web.steps import code_of, words_of

WITH_RESULT = ("job",)


def codes(steps: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Code]]:
    """Every step with its lines; results are numbered, and later steps of a run use its number."""
    found = []
    numbers: dict[str, int] = {}
    for step in steps:
        run = step["with"].get("run", "")
        if step["do"] in WITH_RESULT:
            numbers[run] = len(numbers) + 1
        found.append((step, code_of(step, numbers.get(run, 0))))
    return found


def imports_of(parts: list[Code]) -> list[str]:
    """The imports of all steps, sorted, each once."""
    found = {line for code in parts for line in code.imports}
    return sorted(found, key=lambda line: (line.startswith("from"), line))


def as_python(steps: list[dict[str, Any]]) -> str:
    """The session as a script in public calls."""
    from gnomon import __version__

    found = codes(steps)
    lines = [f'"""A session of gnomon {__version__}."""', ""]
    lines += [*imports_of([code for _, code in found]), ""]
    for _, code in found:
        lines += code.lines
    return "\n".join(lines) + "\n"


def as_notebook(steps: list[dict[str, Any]]) -> str:
    """The session as a notebook: one cell per step, under its name."""
    from gnomon import __version__

    found = codes(steps)
    cells = [_cell("markdown", [f"A session of gnomon {__version__}"], 0)]
    cells.append(_cell("code", imports_of([code for _, code in found]), 1))
    for step, code in found:
        cells.append(_cell("markdown", [words_of(step)], len(cells)))
        cells.append(_cell("code", list(code.lines), len(cells)))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, lines: list[str], number: int) -> dict[str, Any]:
    text = [f"{line}\n" for line in lines[:-1]] + lines[-1:]
    cell: dict[str, Any] = {"cell_type": kind, "id": f"step-{number}", "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text}
