"""The short forms in which a person names settings, goals and wishes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gnomon.decide import Goal, Turn
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.table.schema import no_such_column

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


def turns(given: Sequence[str], table: Table) -> dict[str, Turn]:
    """Inputs that may be set: ``name``, ``name=low:high[:step]`` or ``name=a|b``, then ``@cost``.

    Parameters
    ----------
    given : sequence of str
    table : Table

    Returns
    -------
    turns : dict of str to Turn
    """
    if not given:
        raise DataError("name at least one column that may be set, for example --turn speed")
    return {name: turn for name, turn in (_turn(each, table) for each in given)}


def _turn(text: str, table: Table) -> tuple[str, Turn]:
    if text in table:
        return text, Turn()
    rest, _, price = text.partition("@")
    cost = _number(price, f"the cost in {text!r}") if price else 0.0
    name, sign, span = rest.partition("=")
    require(name, table)
    if not sign:
        return name, Turn(cost=cost)
    if re.fullmatch(rf"{NUMBER}:{NUMBER}(?::{NUMBER})?", span):
        low, high, *step = (float(each) for each in span.split(":"))
        return name, Turn(low, high, step[0] if step else None, cost=cost)
    levels = tuple(each.strip() for each in span.split("|"))
    if len(levels) < 2:
        raise DataError(
            f"{text!r} cannot be read: write {name}=LOW:HIGH, {name}=LOW:HIGH:STEP or {name}=A|B"
        )
    return name, Turn(levels=levels, cost=cost)


def goals(given: Sequence[str], table: Table) -> dict[str, Goal]:
    """Outcomes that are wanted: ``name:more``, ``name:less`` or ``name:near=value``.

    Parameters
    ----------
    given : sequence of str
    table : Table

    Returns
    -------
    goals : dict of str to Goal
    """
    if not given:
        raise DataError("name at least one column that is wanted, for example --want yield:more")
    found = {}
    for text in given:
        name, _, want = text.rpartition(":")
        require(name, table, text)
        word, _, value = want.partition("=")
        if word not in ("more", "less", "near"):
            raise DataError(f"{text!r}: what is wanted is more, less or near=VALUE")
        if not table.schema[name].kind.is_numeric:
            raise DataError(f"column {name!r} is wanted and holds no numbers")
        found[name] = Goal(word, _number(value, f"the value in {text!r}") if value else None)
    return found


def settings(given: Sequence[str], table: Table, what: str) -> dict[str, Any]:
    """Values of columns, ``name=value``; numbers where the column holds numbers.

    Parameters
    ----------
    given : sequence of str
    table : Table
    what : str
        Which option it is, for errors.

    Returns
    -------
    values : dict
    """
    found: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign:
            raise DataError(f"--{what} {text!r}: write NAME=VALUE")
        require(name, table)
        numeric = table.schema[name].kind.is_numeric
        found[name] = _number(value, f"the value of {name!r}") if numeric else value
    return found


def wishes(given: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Wishes about outcomes: ``name:improve``, ``:until=v``, ``:keep``, ``:give-up=v``, ``:free``.

    Parameters
    ----------
    given : sequence of str
    names : sequence of str
        The outcomes.

    Returns
    -------
    wishes : dict
        As `gnomon.decide.answer_by_goal` takes them.
    """
    found: dict[str, Any] = {}
    for text in given:
        name, _, wish = text.rpartition(":")
        if name not in names:
            raise DataError(f"--wish {text!r}: the outcomes are {', '.join(names)}")
        word, _, value = wish.partition("=")
        if word in ("improve", "keep", "free") and not value:
            found[name] = word
        elif word in ("until", "give-up") and value:
            found[name] = word.replace("-", " "), _number(value, f"the value in {text!r}")
        else:
            raise DataError(
                f"--wish {text!r}: write {name}:improve, {name}:until=VALUE, {name}:keep, "
                f"{name}:give-up=VALUE or {name}:free"
            )
    return found


def answers(given: Sequence[str], n: int) -> list[tuple[int, int]]:
    """Answers such as ``B>D`` as places of the proposals.

    Parameters
    ----------
    given : sequence of str
    n : int
        Number of proposals.

    Returns
    -------
    answers : list of (int, int)
    """
    found = []
    for text in given:
        letters = [each.strip().upper() for each in text.split(">")]
        places = [ord(each) - ord("A") for each in letters if len(each) == 1]
        if len(letters) != 2 or len(places) != 2 or not all(0 <= p < n for p in places):
            raise DataError(f"--prefer {text!r}: write two letters from A to {chr(64 + n)}, as B>D")
        found.append((places[0], places[1]))
    return found


def require(name: str, table: Table, text: str = "") -> None:
    """Refuse a name that is no column."""
    if name not in table:
        if not name and text:
            raise DataError(f"{text!r} cannot be read: write NAME:more, NAME:less or NAME:near=V")
        raise no_such_column(name, table.columns)


def _number(text: str, what: str) -> float:
    if not re.fullmatch(NUMBER, text.strip()):
        raise DataError(f"{what} must be a number, not {text!r}")
    return float(text)
