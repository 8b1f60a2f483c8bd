"""Rows of delimited text: quoted wherever a reader could take a cell for something else."""

from __future__ import annotations

import csv
from typing import Any, TextIO


def row_writer(file: TextIO, delimiter: str = ",") -> Any:
    r"""A writer of rows that end in ``"\n"``.

    The standard library's writer leaves a cell with a carriage return unquoted where rows end in
    ``"\n"``; a reader would then begin a new row inside the cell. It quotes the cell where rows end
    in ``"\r\n"``, so rows are written with that end, which is then shortened.

    Examples
    --------
    >>> import io
    >>> out = io.StringIO()
    >>> _ = row_writer(out).writerow(["a\rb", "c"])
    >>> out.getvalue()
    '"a\rb",c\n'
    """
    return csv.writer(_ShorterEnds(file), delimiter=delimiter, lineterminator="\r\n")


class _ShorterEnds:
    """Takes whole rows, as csv writes them, and shortens their ends."""

    def __init__(self, file: TextIO):
        self.file = file

    def write(self, row: str) -> int:
        return self.file.write(row.removesuffix("\r\n") + "\n")
