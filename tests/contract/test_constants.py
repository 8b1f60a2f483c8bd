"""Every tuning constant says why it has its value: on its line, or in a comment above its group."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import gnomon

SOURCE = Path(gnomon.__file__).parent
NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
# An assignment to a capital name: only files with one are parsed.
ASSIGNED = re.compile(r"^ *_?[A-Z][A-Z0-9_]*(, _?[A-Z][A-Z0-9_]*)*(: .*)? = ", re.MULTILINE)


def is_number(value: ast.expr | None) -> bool:
    """A number, a collection or dictionary of numbers, or a call with nothing but numbers."""
    match value:
        case ast.Constant():
            return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
        case ast.UnaryOp():
            return is_number(value.operand)
        case ast.BinOp():
            return is_number(value.left) and is_number(value.right)
        case ast.Tuple() | ast.List() | ast.Set():
            return bool(value.elts) and all(map(is_number, value.elts))
        case ast.Dict():
            return bool(value.values) and all(map(is_number, value.values))
        case ast.Call():
            enumerates = isinstance(value.func, ast.Name) and value.func.id == "range"
            return not enumerates and bool(value.args) and all(map(is_number, value.args))
    return False


def constants_in(body: list[ast.stmt]) -> Iterator[tuple[ast.stmt, str]]:
    """Assignments of numbers to capital names in a module and its classes."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from constants_in(statement.body)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = getattr(statement, "targets", None) or [statement.target]
            parts = targets[0].elts if isinstance(targets[0], ast.Tuple) else targets
            names = [part.id for part in parts if isinstance(part, ast.Name)]
            capital = names and all(map(NAME.fullmatch, names))
            if capital and is_number(statement.value):
                yield statement, ", ".join(names)


def has_comment(statement: str) -> bool:
    """Whether a comment stands on a line of a statement."""
    if "#" not in statement:
        return False
    tokens = tokenize.generate_tokens(io.StringIO(statement.strip()).readline)
    return any(each.type == tokenize.COMMENT for each in tokens)


def without_reason(text: str) -> list[tuple[int, str]]:
    """Line and names of the constants that no comment explains.

    A comment counts on a line of the constant, or alone on the line above it or above the constants
    that directly precede it.
    """
    lines = text.splitlines()
    explained_above: set[int] = set()
    found = []
    for statement, names in constants_in(ast.parse(text).body):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        before = lines[first - 2].lstrip() if first > 1 else ""
        above = before.startswith("#") or first - 1 in explained_above
        own = has_comment("\n".join(lines[first - 1 : last]))
        if above and not own:
            explained_above.add(last)
        if not above and not own:
            found.append((first, names))
    return found


def test_a_reason_is_found_on_the_line_or_above_the_group_only():
    text = """
# Why these have their values.
FIRST = 1
SECOND: int = 2
OWN = 3  # why
BARE = 2**10

NAMES = ("a", "b")
ONE, TWO = range(2)

class Settings:
    INNER = {"a": 1.5}
"""
    assert [names for _, names in without_reason(text)] == ["BARE", "INNER"]


def test_every_tuning_constant_says_why_it_has_its_value():
    found = [
        f"{path.relative_to(SOURCE).as_posix()}:{line} {names}"
        for path in sorted(SOURCE.rglob("*.py"))
        if ASSIGNED.search(text := path.read_text(encoding="utf-8"))
        for line, names in without_reason(text)
    ]
    assert not found, "constants without a reason:\n" + "\n".join(found)
