"""Docstrings as pages.

Links into other projects' guides become plain words, and marks of notes that are not there go;
bars are absolute values and trailing underscores belong to names of attributes, where
reStructuredText would read references.
"""

from __future__ import annotations

import re
from typing import Any

GUIDE = re.compile(r"^\s*Read more in the :ref:`.*$")
LINK = re.compile(r":(?:ref|term|doi|arxiv):`([^`<]+?)\s*(?:<[^`]*>)?`", re.DOTALL)
CODE = re.compile(r"(``.*?``|`[^`]*`_?|:\w+:`[^`]*`)")
NAME = re.compile(r"(?<=[A-Za-z0-9])_(?=[\s,.;:)\]]|$)")
STAR = re.compile(r"(?<=[ (])\*(?=\w+[,)])")
NOTE = re.compile(r"\s*\[(\d+)\]_")
FORMULA = re.compile(r"^(\s*)\.\. math::\s*(.*)$", re.MULTILINE)
MATH = re.compile(r":math:`([^`]+)`")  # as code: a renderer would be loaded from outside
BAR = re.compile(r"(?<!\\)\|")


def _plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    text = LINK.sub(r"\1", "\n".join(line for line in lines if not GUIDE.match(line)))
    text = FORMULA.sub(as_code, MATH.sub(r"``\1``", text))
    text = NOTE.sub(lambda found: found[0] if f".. [{found[1]}]" in text else "", text)
    escaped, in_example, block = [], False, -1
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent <= block:
            block = -1
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        escaped.append(line if in_example or block >= 0 else _escaped(line))
        if line.lstrip().startswith(".. code-block::"):
            block = indent
    lines[:] = escaped


def as_code(formula: re.Match[str]) -> str:
    """A displayed formula as a block of code: a renderer would be loaded from outside."""
    indent, first = formula.groups()
    return f"{indent}.. code-block:: text\n" + (f"\n{indent}    {first}" if first else "")


def _escaped(line: str) -> str:
    text = line.strip()
    if text.startswith(("| ", "+-", "..")) or (text.startswith("|") and text.endswith("|")):
        return line  # of a table or a directive
    parts = CODE.split(line)
    parts[::2] = [_escaped_part(part) for part in parts[::2]]
    return "".join(parts)


def _escaped_part(part: str) -> str:
    part = STAR.sub(r"\\*", NAME.sub(r"\\_", part))
    return BAR.sub(r"\\|", part)


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", _plain, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
