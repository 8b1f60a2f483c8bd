"""The schema of a table: for every column its kind, and the reason why.

A schema is a value: `Schema.set` gives a changed copy, `Table.with_schema` recodes a table to it.
It is saved as a TOML file that a person can read and edit; `read` finds it beside the data.
"""

from __future__ import annotations

import dataclasses
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from gnomon.engine.errors import DataError
from gnomon.table.errors import ReadError
from gnomon.table.kinds import Kind
from gnomon.table.numbers import wrong_marks

FORMAT_VERSION = 1  # rises with every change that older versions cannot read
BY_HAND = "set by hand"
# fields of a column that say how its values are written
WRITING = ("unit", "format", "decimal", "thousands", "missing")


@dataclass(frozen=True)
class Column:
    """One column of a schema.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : Kind or str
        What the values mean.
    reason : str
        Why this kind was chosen, as a sentence.
    levels : tuple of str, optional
        Categories in their order; for a boolean the words for false and true. None: taken from the
        data.
    unit : str, optional
        Unit or currency that was written beside every number (``"kg"``, ``"€"``, ``"%"``).
    format : str, optional
        How dates are written, in the codes of `strptime` (``"%d.%m.%Y"``); ``"integer"`` for
        identifiers that are whole numbers.
    decimal, thousands : str, optional
        Marks in written numbers; None means ``"."`` and no mark.
    missing : tuple of str, optional
        Words that stand for a missing value in this column. None: the usual ones.

    Examples
    --------
    >>> Column("zip", "category", "leading zeros").kind
    <Kind.CATEGORY: 'category'>
    """

    name: str
    kind: Kind
    reason: str = ""
    levels: tuple[str, ...] | None = None
    unit: str | None = None
    format: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    missing: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise DataError(f"A column's name must be a string, not {self.name!r}.")
        object.__setattr__(self, "kind", _as_kind(self.kind, self.name))
        for field in ("levels", "missing"):
            object.__setattr__(self, field, _as_strings(getattr(self, field), field, self.name))
        wrong = wrong_marks(self.decimal or ".", self.thousands)
        if wrong is not None:
            raise DataError(f"Column {self.name!r}: {wrong}.")
        if self.levels is not None and len(set(self.levels)) != len(self.levels):
            raise DataError(f"Column {self.name!r}: a level occurs twice in {self.levels!r}.")
        if self.kind is Kind.BOOLEAN and self.levels is not None and len(self.levels) != 2:
            raise DataError(
                f"Column {self.name!r}: the levels of a boolean are the words for false and true, "
                f"not {self.levels!r}."
            )

    def set(self, **changes: Any) -> Column:
        """A copy with some fields changed; what belonged to the former kind only is forgotten."""
        unknown = set(changes) - _FIELDS
        if unknown:
            raise DataError(
                f"A column has no {_listed(unknown)}; its fields are {_listed(_FIELDS)}."
            )
        kind = _as_kind(changes.get("kind", self.kind), self.name)
        kept = {field: getattr(self, field) for field in _kept_fields(self.kind, kind)}
        renamed_only = set(changes) <= {"name"}
        reason = self.reason if renamed_only else BY_HAND
        return Column(**{"name": self.name, "reason": reason, **kept, **changes, "kind": kind})


_FIELDS = {field.name for field in dataclasses.fields(Column)}


class Schema:
    """Ordered columns with their kinds, the reasons for them, levels, units and formats.

    Parameters
    ----------
    columns : iterable of Column
        In the order of the table. Names must differ.

    Examples
    --------
    >>> schema = Schema([Column("zip", "integer"), Column("size", "category")])
    >>> schema = schema.set("zip", kind="category")
    >>> schema = schema.set("size", kind="ordered", levels=["S", "M", "L"])
    >>> schema["size"].levels
    ('S', 'M', 'L')
    >>> schema.names
    ('zip', 'size')
    """

    def __init__(self, columns: Iterable[Column] = ()):
        self._columns: dict[str, Column] = {}
        for column in columns:
            if column.name in self._columns:
                raise DataError(f"Two columns are named {column.name!r}: rename one of them.")
            self._columns[column.name] = column

    @classmethod
    def infer(cls, arrow: pa.Table) -> Schema:
        """The kinds of an Arrow table's columns, from their types and values.

        Strings are taken as they are (category, text or identifier); `read` also looks for numbers
        and dates that are written as text.

        Examples
        --------
        >>> Schema.infer(pa.table({"x": [1.5, None], "y": ["a", "b"]}))["x"].kind
        <Kind.NUMBER: 'number'>
        """
        from gnomon.table.inference import infer_arrow

        return infer_arrow(arrow).schema

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema that `save` wrote or that a person wrote in the same form."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_bytes().decode("utf-8"))
        except OSError as error:
            raise ReadError(
                f"the schema cannot be read ({error.strerror})", file=str(path)
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ReadError(
                f"not a schema file: {error}", file=str(path), remedy="Correct it or delete it."
            ) from error
        return cls._from_content(content, str(path))

    @classmethod
    def _from_content(cls, content: dict[Any, Any], file: str) -> Schema:
        version = content.get("version")
        if version != FORMAT_VERSION:
            raise ReadError(
                f"schema version {version!r} is not known to this gnomon",
                file=file,
                remedy=f"It reads version {FORMAT_VERSION}.",
            )
        columns = []
        entries = content.get("column", [])
        if not isinstance(entries, list):
            raise ReadError("columns must be written as [[column]] entries", file=file)
        for number, entry in enumerate(entries, start=1):
            unknown = set(entry) - _FIELDS
            if unknown or "name" not in entry or "kind" not in entry:
                wrong = f"has unknown {_listed(unknown)}" if unknown else "lacks a name or a kind"
                raise ReadError(f"[[column]] number {number} {wrong}", file=file)
            try:
                columns.append(Column(**entry))
            except DataError as error:
                raise ReadError(str(error), file=file) from error
        try:
            return cls(columns)
        except DataError as error:
            raise ReadError(str(error), file=file) from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as TOML; `read` finds ``x.schema.toml`` beside ``x.csv``."""
        try:
            content = self.to_toml().encode("utf-8")
        except UnicodeEncodeError as error:
            raise DataError(
                f"{path}: a name or level holds the character {error.object[error.start]!r}, "
                "which is not text; rename it."
            ) from error
        Path(path).write_bytes(content)

    def to_toml(self) -> str:
        """The schema as the text of a TOML file.

        Examples
        --------
        >>> print(Schema([Column("a", "number", "all values are numbers")]).to_toml())
        # Kinds: number, integer, category, ordered, boolean, datetime, text, identifier.
        version = 1
        <BLANKLINE>
        [[column]]
        name = "a"
        kind = "number"
        reason = "all values are numbers"
        <BLANKLINE>
        """
        lines = [f"# Kinds: {', '.join(Kind)}.", f"version = {FORMAT_VERSION}", ""]
        for column in self:
            lines.append("[[column]]")
            for field in dataclasses.fields(column):
                value = getattr(column, field.name)
                if value is not None:
                    lines.append(f"{field.name} = {_toml(value)}")
            lines.append("")
        return "\n".join(lines)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(self._columns)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self._columns)}

    def position(self, name: str) -> int:
        """The position of a column.

        Parameters
        ----------
        name : str

        Returns
        -------
        position : int
        """
        return self._positions[name]

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kind by name."""
        return {column.name: column.kind for column in self}

    def of_kind(self, *kinds: Kind | str) -> tuple[str, ...]:
        """Names of the columns of the given kinds."""
        wanted = {_as_kind(kind) for kind in kinds}
        return tuple(column.name for column in self if column.kind in wanted)

    def set(self, name: str, **changes: Any) -> Schema:
        """A copy in which one column is changed, for instance ``set("zip", kind="category")``."""
        changed = self[name].set(**changes)
        return Schema(changed if column.name == name else column for column in self)

    def select(self, names: Iterable[str]) -> Schema:
        """The schema of some columns, in the order given."""
        return Schema(self[name] for name in names)

    def rename(self, names: Mapping[str, str]) -> Schema:
        """A copy with new names; keys are the present names."""
        for name in names:
            self[name]
        return Schema(column.set(name=names.get(column.name, column.name)) for column in self)

    def with_column(self, column: Column) -> Schema:
        """A copy with a column replaced, or added at the end."""
        return Schema({**self._columns, column.name: column}.values())

    def __getitem__(self, name: str) -> Column:
        try:
            return self._columns[name]
        except (KeyError, TypeError):
            raise no_such_column(name, self.names) from None

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns.values())

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Schema):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        lines = [f"  {column.name:<{width}}  {column.kind:<10}  {column.reason}" for column in self]
        return "\n".join([f"Schema of {len(self)} columns", *(line.rstrip() for line in lines)])


class NoSuchColumn(DataError, KeyError):
    """The table has no column of the name given."""

    def __str__(self) -> str:
        return str(self.args[0])


def no_such_column(name: object, names: Iterable[str]) -> NoSuchColumn:
    """The error for an unknown column name, with the names that come near it."""
    names = list(names)
    near = get_close_matches(str(name), names, n=3)
    hint = f"Did you mean {_listed(near)}?" if near else f"There are {_listed(names[:20])}."
    return NoSuchColumn(f"No column is named {name!r}. {hint}")


def _kept_fields(before: Kind, after: Kind) -> tuple[str, ...]:
    if before == after:
        return ("levels", "unit", "format", "decimal", "thousands", "missing")
    if before is Kind.ORDERED and after is Kind.CATEGORY:
        return ("levels", "missing")
    if before.is_numeric and after.is_numeric:
        return ("unit", "format", "decimal", "thousands", "missing")
    return ("missing",)


def _as_kind(kind: Kind | str, name: str | None = None) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        place = f"Column {name!r}: " if name is not None else ""
        raise DataError(f"{place}{kind!r} is not a kind; the kinds are {_listed(Kind)}.") from None


def _as_strings(values: Any, field: str, name: str) -> tuple[str, ...] | None:
    if values is None:
        return None
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise DataError(f"Column {name!r}: {field} must be a list of strings, not {values!r}.")
    return tuple(values)


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(repr(str(name)) for name in names) or "nothing"


def _toml(value: str | Iterable[str]) -> str:
    if isinstance(value, str):
        return f'"{"".join(_escaped(character) for character in str(value))}"'
    return f"[{', '.join(_toml(each) for each in value)}]"


_SHORT_ESCAPES = {
    "\\": "\\\\",
    '"': '\\"',
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def _escaped(character: str) -> str:
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if character < " " or character == "\x7f":
        return f"\\u{ord(character):04x}"
    return character
