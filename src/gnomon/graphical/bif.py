"""BIF files: belief networks as text, the interchange format of network repositories.

    variable rain { type discrete [ 2 ] { yes, no }; }
    probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.2, 0.8; }

The texts have no file format; this one is what the public repositories of networks use.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.graphical.belief_network import ROUNDING, BeliefNetwork

TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/|(?P<token>\"[^\"]*\"|[{}()\[\];,|]|[^\s{}()\[\];,|\"]+)", re.DOTALL
)
PLAIN = re.compile(r"[^\s{}()\[\];,|\"]+")


def read_bif(path: str | Path) -> BeliefNetwork:
    """A belief network of a BIF file.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    network : BeliefNetwork
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    return parse_bif(text, str(path))


def parse_bif(text: str, source: str = "the text") -> BeliefNetwork:
    """A belief network of the text of a BIF file.

    Parameters
    ----------
    text : str
    source : str, default="the text"
        Named in errors, beside the line.

    Returns
    -------
    network : BeliefNetwork

    Notes
    -----
    Printed probabilities are rounded: rows that sum to one within 1 % are rescaled; others are
    refused. Properties are read over.

    Examples
    --------
    >>> net = parse_bif('''network n { }
    ... variable rain { type discrete [ 2 ] { yes, no }; }
    ... probability ( rain ) { table 0.2, 0.8; }''')
    >>> net.query("rain").probability(rain="yes")
    0.2
    """
    return _Parser(text, source).network()


def write_bif(network: BeliefNetwork, path: str | Path, name: str = "unknown") -> Path:
    """Write a belief network to a BIF file.

    Parameters
    ----------
    network : BeliefNetwork
    path : str or Path
    name : str, default="unknown"

    Returns
    -------
    path : Path
    """
    path = Path(path)
    path.write_text(format_bif(network, name), encoding="utf-8")
    return path


def format_bif(network: BeliefNetwork, name: str = "unknown") -> str:
    """The text of the BIF file of a network; numbers have all their digits.

    Parameters
    ----------
    network : BeliefNetwork
    name : str, default="unknown"

    Returns
    -------
    text : str
    """
    lines = [f"network {_word(name)} {{", "}"]
    for node, values in network.levels.items():
        listed = ", ".join(_word(str(value)) for value in values)
        lines += [
            f"variable {_word(node)} {{",
            f"  type discrete [ {len(values)} ] {{ {listed} }};",
            "}",
        ]
    for node, parents in network.parents.items():
        table = network.tables[node]
        if not parents:
            lines.append(f"probability ( {_word(node)} ) {{")
            lines += [f"  table {_numbers(table)};", "}"]
            continue
        lines.append(f"probability ( {_word(node)} | {', '.join(map(_word, parents))} ) {{")
        for place in itertools.product(*(range(size) for size in table.shape[:-1])):
            given = ", ".join(
                _word(str(network.levels[parent][i])) for parent, i in zip(parents, place)
            )
            lines.append(f"  ({given}) {_numbers(table[place])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _numbers(row: np.ndarray) -> str:
    return ", ".join(repr(float(each)) for each in row)


def _word(name: str) -> str:
    if PLAIN.fullmatch(name):
        return name
    if '"' in name:
        raise DataError(f"the name {name!r} has a quotation mark, which BIF files cannot hold")
    return f'"{name}"'


class _Parser:
    """Reads tokens one after the other; errors name the line."""

    def __init__(self, text: str, source: str):
        self.source = source
        self.tokens = list(_tokens(text, source))
        self.place = 0
        self.levels: dict[str, tuple[str, ...]] = {}
        self.parents: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, np.ndarray] = {}

    def network(self) -> BeliefNetwork:
        while self.place < len(self.tokens):
            word = self.take()
            if word == "network":
                self.take()
                self.expect("{")
                self.skip_block()
            elif word == "variable":
                self.variable()
            elif word == "probability":
                self.probability()
            else:
                raise self.wrong(f"{word!r} where network, variable or probability belongs")
        if not self.levels:
            raise DataError(f"{self.source} has no variable; is it a BIF file?")
        return BeliefNetwork(self.levels, self.parents, self.tables)

    def wrong(self, what: str) -> DataError:
        line = self.tokens[min(self.place, len(self.tokens)) - 1][1] if self.tokens else 1
        return DataError(f"{self.source}, line {line}: {what}")

    def take(self) -> str:
        if self.place >= len(self.tokens):
            raise self.wrong("the file ends in the middle of a block")
        self.place += 1
        return self.tokens[self.place - 1][0]

    def peek(self) -> str:
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    def expect(self, wanted: str) -> None:
        found = self.take()
        if found != wanted:
            raise self.wrong(f"{found!r} where {wanted!r} belongs")

    def skip_block(self) -> None:
        depth = 1
        while depth:
            depth += {"{": 1, "}": -1}.get(self.take(), 0)

    def skip_statement(self) -> None:
        while self.take() != ";":
            pass

    def words(self, end: str) -> list[str]:
        """Words between commas, up to a closing mark."""
        found = []
        while (word := self.take()) != end:
            if word != ",":
                found.append(word.strip('"'))
        return found

    def variable(self) -> None:
        name = self.take().strip('"')
        if name in self.levels:
            raise self.wrong(f"the variable {name!r} stands there twice")
        self.expect("{")
        while (word := self.take()) != "}":
            if word == "property":
                self.skip_statement()
                continue
            if word != "type":
                raise self.wrong(f"{word!r} where type or property belongs")
            if self.take() != "discrete":
                raise self.wrong(f"{name!r} is not discrete; only discrete variables are read")
            self.expect("[")
            count = self.number()
            self.expect("]")
            self.expect("{")
            values = tuple(self.words("}"))
            self.expect(";")
            if len(values) != count or len(set(values)) < len(values):
                raise self.wrong(f"{name!r} says {count:g} values and lists {', '.join(values)}")
            self.levels[name] = values
        if name not in self.levels:
            raise self.wrong(f"{name!r} has no type")

    def number(self) -> float:
        word = self.take()
        try:
            return float(word)
        except ValueError:
            raise self.wrong(f"{word!r} where a number belongs") from None

    def numbers(self) -> list[float]:
        found = [self.number()]
        while (mark := self.take()) != ";":
            if mark != ",":
                self.place -= 1
            found.append(self.number())
        return found

    def probability(self) -> None:
        self.expect("(")
        head: list[list[str]] = [[]]
        while (word := self.take()) != ")":
            if word == "|":
                head.append([])
            elif word != ",":
                head[-1].append(word.strip('"'))
        if len(head) > 2 or len(head[0]) != 1:
            raise self.wrong("a probability is of one variable, given others after one '|'")
        name, given = head[0][0], head[1] if len(head) == 2 else []
        for each in (name, *given):
            if each not in self.levels:
                raise self.wrong(f"the variable {each!r} is not declared")
        if name in self.tables:
            raise self.wrong(f"the probabilities of {name!r} stand there twice")
        self.parents[name] = tuple(given)
        self.tables[name] = self.block(name, given)

    def block(self, name: str, given: list[str]) -> np.ndarray:
        shape = tuple(len(self.levels[each]) for each in (*given, name))
        table = np.full(shape, np.nan)
        self.expect("{")
        while (word := self.take()) != "}":
            if word == "property":
                self.skip_statement()
            elif word == "table":
                row = self.numbers()
                if len(row) != table.size:
                    raise self.wrong(f"{name!r} needs {table.size} numbers, and {len(row)} stand")
                # the format lets the variable itself run slowest in a whole table
                table = np.moveaxis(np.reshape(row, (shape[-1], *shape[:-1])), 0, -1)
            elif word == "default":
                row = self.row(name)
                table[np.isnan(table).all(axis=-1)] = row
            elif word == "(":
                place = self.row_place(name, given)
                table[place] = self.row(name)
            else:
                raise self.wrong(f"{word!r} where table, default or a row belongs")
        if np.isnan(table).any():
            place = np.argwhere(np.isnan(table))[0]
            lacking = ", ".join(self.levels[each][i] for each, i in zip(given, place))
            raise self.wrong(f"the probabilities of {name!r} lack the row ({lacking})")
        return self.rescaled(table, name)

    def row_place(self, name: str, given: list[str]) -> tuple[int, ...]:
        values = self.words(")")
        if len(values) != len(given):
            raise self.wrong(f"{len(values)} values for the {len(given)} parents of {name!r}")
        for parent, value in zip(given, values):
            if value not in self.levels[parent]:
                raise self.wrong(f"{parent!r} has no value {value!r}")
        return tuple(self.levels[parent].index(value) for parent, value in zip(given, values))

    def row(self, name: str) -> list[float]:
        row = self.numbers()
        if len(row) != len(self.levels[name]):
            raise self.wrong(f"{len(row)} numbers for {len(self.levels[name])} values of {name!r}")
        return row

    def rescaled(self, table: np.ndarray, name: str) -> np.ndarray:
        sums = table.sum(axis=-1, keepdims=True)
        if (table < 0).any() or np.abs(sums - 1).max() > 0.01:
            raise self.wrong(f"a row of probabilities of {name!r} does not sum to 1")
        return table if np.abs(sums - 1).max() <= ROUNDING else table / sums


def _tokens(text: str, source: str) -> Iterator[tuple[str, int]]:
    place, line = 0, 1
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            raise DataError(f"{source}, line {line}: a quotation mark without its end")
        if match["token"] is not None:
            yield match["token"], line
        line += match[0].count("\n")
        place = match.end()
