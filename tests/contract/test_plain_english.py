"""What users read is plain English: no private words of this project, no metaphors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gnomon

HOME = Path(gnomon.__file__).parent
# Words that this project used in senses of its own, and what to write instead.
PRIVATE = {
    "asked": "requested",
    "course": "history, steps",
    "hang on": "depend on",
    "hangs on": "depends on",
    "heard": "the name of what arrives",
    "hears": "the name of what arrives",
    "house": "package, library",
    "in turns": "alternately",
    "by turns": "alternately",
    "lots": "random parts",
    "mend": "fix",
    "mended": "fixed",
    "mends": "fixes",
    "of few values": "with few distinct values",
    "parted": "split, separated",
    "room": "package, space, margin",
    "rooms": "packages",
    "said": "predicted, reported, stated",
    "speaks": "is evidence, indicates",
    "told": "given, informed, distinguished",
    "whom": "which",
}
WORDS = re.compile(rf"\b({'|'.join(PRIVATE)})\b", re.IGNORECASE)
HELPFUL = ("option", "Option", "Argument", "argument")  # calls whose texts are command-line help
FILES = sorted(HOME.rglob("*.py"))


def literal(node: ast.AST) -> str:
    """The text of all strings inside a node."""
    inside = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return " ".join(text for text in inside if isinstance(text, str))


def name_of(node: ast.AST) -> str:
    """The name of the function that a node calls; empty where it is no call."""
    function = getattr(node, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of what users read: summaries of docstrings, errors, warnings, help."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            is_private = getattr(node, "name", "").startswith("_")
            text = None if is_private else ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text.split("\n\n")[0]
        elif isinstance(node, ast.Raise) or name_of(node) == "warn":
            yield node.lineno, literal(node)
        elif name_of(node) in HELPFUL:
            yield node.lineno, " ".join(literal(k) for k in node.keywords if k.arg == "help")


def private_words(text: str) -> list[str]:
    """The private words in a text; names in backticks or quotes are names."""
    return WORDS.findall(re.sub(r"`[^`]*`|\"[^\"]*\"|'\w+'|\w+=\S+|\w+_\w+", "", text))


@pytest.mark.parametrize("package", sorted({path.relative_to(HOME).parts[0] for path in FILES}))
def test_what_users_read_has_no_private_words(package):
    found = [
        f"{path.relative_to(HOME)}:{line}: {word!r} (write: {PRIVATE[word.lower()]}) in {text!r}"
        for path in FILES
        if path.relative_to(HOME).parts[0] == package
        for line, text in texts(path)
        for word in private_words(text)
    ]
    assert found == [], "\n".join(found)
