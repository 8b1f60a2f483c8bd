"""Errors of reading: they know the file, the line and the column."""

from __future__ import annotations

from typing import Any

from gnomon.engine.errors import DataError, GnomonError


class UnknownOption(GnomonError, TypeError):
    """An option of reading that this source does not have."""


class ReadError(DataError):
    """A source cannot be read as a table, or a value does not fit its column.

    Parameters
    ----------
    problem : str
        What is wrong, in one sentence.
    file : str, optional
        The file or other source.
    line : int, optional
        Line of the file, counted from 1.
    column : str, optional
        Name of the column.
    remedy : str, optional
        What the reader can do about it.
    row : int, optional
        Row of data, counted from 1, for what has no lines.
    choices : tuple of str and list of str, optional
        The option that says which of several tables is meant, and the names that it may have.

    Examples
    --------
    >>> error = ReadError("'abc' is not a number", file="x.csv", line=7, column="age")
    >>> print(error)
    x.csv, line 7, column 'age': 'abc' is not a number.
    >>> error.line
    7
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        remedy: str | None = None,
        row: int | None = None,
        choices: tuple[str, list[str]] | None = None,
    ):
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.remedy = remedy
        self.row = row
        self.choices = choices
        super().__init__(self._message())

    def _message(self) -> str:
        places = [self.file] if self.file else []
        if self.line is not None:
            places.append(f"line {self.line}")
        elif self.row is not None:
            places.append(f"row {self.row}")
        if self.column is not None:
            places.append(f"column {self.column!r}")
        place = ", ".join(places)
        problem = self.problem if self.problem.endswith((".", "!", "?")) else self.problem + "."
        message = f"{place}: {problem}" if place else problem
        return f"{message} {self.remedy}" if self.remedy else message

    def at(self, *, file: str | None = None, line: int | None = None) -> ReadError:
        """The same error with a place that was not known where it was raised."""
        return ReadError(
            self.problem,
            file=self.file or file,
            line=self.line if self.line is not None else line,
            column=self.column,
            remedy=self.remedy,
            row=self.row,
            choices=self.choices,
        )

    def __reduce__(self) -> Any:
        names = ("file", "line", "column", "remedy", "row", "choices")
        return _rebuild, (self.problem, {name: getattr(self, name) for name in names})


def _rebuild(problem: str, rest: dict[str, Any]) -> ReadError:
    return ReadError(problem, **rest)
