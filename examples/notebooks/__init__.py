"""The tour and the guide as executed notebooks, made from the pages of the documentation.

    python -m examples.notebooks [PAGE ...]

A page's text becomes cells of text and its blocks of Python cells of code; ``print(result)`` at the
end of a block becomes ``result``, so that the notebook shows it as HTML.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
PAGES = ("tour_programmer", "guide/compare", "guide/cluster", "guide/explain", "guide/forecast")
BLOCK = re.compile(r"^```python\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\{doc\}`([^<`]+?) <[^`]*>`|\[([^\]]+)\]\([^)]*\.md\)")


def cells_of(page: str) -> list[tuple[str, str]]:
    """Kind ("markdown" or "code") and source of the cells of a page."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    cells = []
    for number, part in enumerate(BLOCK.split(text)):
        source = part.strip()
        if source:
            code = number % 2 == 1
            shown = last_value_shown(source) if code else LINK.sub(r"\1\2", source)
            cells.append(("code" if code else "markdown", shown))
    return cells


def last_value_shown(source: str) -> str:
    """The code with ``print(value)`` at its end as ``value``."""
    last = ast.parse(source).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "print" or len(call.args) != 1:
        return source
    lines = source.splitlines()[: last.lineno - 1]
    return "\n".join([*lines, str(ast.get_source_segment(source, call.args[0]))])


def notebook_of(page: str) -> Any:
    """The notebook of a page, not yet executed."""
    import nbformat

    notebook = nbformat.v4.new_notebook()
    for number, (kind, source) in enumerate(cells_of(page)):
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        notebook.cells.append(new(source, id=f"cell-{number}"))
    return notebook


def executed(page: str, folder: Path) -> Any:
    """The notebook of a page, executed in a folder."""
    from nbclient import NotebookClient

    notebook = notebook_of(page)
    metadata = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=metadata).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times: different in every run
        if "outputs" in cell:  # a bar that went away leaves an empty one
            cell.outputs = [each for each in cell.outputs if not is_empty(each)]
        for output in cell.get("outputs", []):
            if "text" in output:  # warnings name the file that they come from
                output["text"] = output["text"].replace(f"{ROOT}/src/", "")
    return notebook


def is_empty(output: Any) -> bool:
    return output.get("data", {}).get("text/html") == ""


def path_of(page: str) -> Path:
    return FOLDER / f"{Path(page).name}.ipynb"
