"""The options of a job, declared once.

A job declares its options as the fields of a dataclass. From this declaration come the signature of
the Python function with its documentation and its checks, the command line, the record of a run,
the script that repeats the run, and any form that asks for the options.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

from gnomon.engine.errors import DataError

REQUIRED = dataclasses.MISSING
NAMES = {int: "a whole number", float: "a number", str: "a string", bool: "True or False"}


@dataclass(frozen=True)
class Option:
    """One option of a job.

    Attributes
    ----------
    name : str
        In Python and in the record of a run.
    type : type
        Of one value: ``str``, ``int``, ``float``, ``bool`` or ``Path``; ``object`` takes anything.
    default : object
        `REQUIRED` where there is none.
    help : str
        One or two sentences.
    choices : tuple of str
        The values that are allowed; empty where all are.
    least, greatest : float or None
        Bounds, themselves allowed unless `open`.
    open : bool
        Whether the bounds themselves are refused.
    many : bool
        Whether the value is a list; on the command line the flag may be repeated.
    optional : bool
        Whether None is a value.
    flag : str
        On the command line, without the dashes; empty where it is not offered there.
    free : bool
        Whether a run that was stopped may go on with another value.
    settled : bool
        Whether the run settles the value where none is given.
    complete : callable or None
        Completes the value in a shell.
    repeats : bool
        Whether the flag may be repeated although one value is usual; several are a list.
    column : bool
        Whether the value names a column of the table, or several; forms offer its columns.
    """

    name: str
    type: type
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    greatest: float | None = None
    open: bool = False
    many: bool = False
    optional: bool = False
    flag: str = ""
    free: bool = False
    settled: bool = False
    complete: Callable[..., list[str]] | None = None
    repeats: bool = False
    column: bool = False

    @property
    def is_required(self) -> bool:
        """Whether a value must be given."""
        return self.default is REQUIRED

    def checked(self, value: Any) -> Any:
        """The value in the declared type; refuses what is not allowed.

        Parameters
        ----------
        value : object

        Returns
        -------
        value : object
        """
        if value is None and (self.optional or self.many or self.type is object):
            return [] if self.many and not self.optional else None
        if not self.many:
            return self._one(value)
        several = [value] if isinstance(value, str) else list(value)
        return [self._one(each) for each in several]

    def _one(self, value: Any) -> Any:
        if self.type is object:
            return value
        fits = {
            int: isinstance(value, Integral) and not isinstance(value, bool),
            float: isinstance(value, Real) and not isinstance(value, bool),
            bool: isinstance(value, bool),
        }.get(self.type, isinstance(value, self.type))
        if not fits:
            what = NAMES.get(self.type, self.type.__name__)
            raise DataError(f"{self.name}={value!r} must be {what}")
        if self.choices and value not in self.choices:
            raise DataError(f"{self.name}={value!r} is not one of {', '.join(self.choices)}")
        self._require_in_bounds(value)
        return self.type(value)

    def _require_in_bounds(self, value: Any) -> None:
        least, greatest = self.least, self.greatest
        if least is None and greatest is None:
            return
        low = least is None or (value > least if self.open else value >= least)
        high = greatest is None or (value < greatest if self.open else value <= greatest)
        if low and high:
            return
        if least is not None and greatest is not None:
            raise DataError(f"{self.name}={value!r} must lie between {least:g} and {greatest:g}")
        bound, way = (least, "least") if least is not None else (greatest, "most")
        how = f"{'more' if way == 'least' else 'less'} than" if self.open else f"at {way}"
        raise DataError(f"{self.name}={value!r} must be {how} {bound:g}")

    def documentation(self) -> str:
        """The lines of a NumPy-style docstring."""
        kind = self.type.__name__ if self.type is not object else "object"
        if self.choices and not self.many:
            kind = "{" + ", ".join(f'"{each}"' for each in self.choices) + "}"
        if self.many:
            kind = f"list of {kind}"
        usual = "" if self.is_required else f", default={_shown(self.default)}"
        return f"{self.name} : {kind}{usual}\n    {self.help}"


def _shown(default: Any) -> str:
    return f'"{default}"' if isinstance(default, str) else repr(default)


def option(default: Any = REQUIRED, *, help: str, flag: str | None = "", **rest: Any) -> Any:
    """A field of a class of options.

    Parameters
    ----------
    default : object
        Left out where a value is required.
    help : str
    flag : str or None, default=""
        The name on the command line; by default that of the field, with dashes. None where the
        command line does not offer it.
    **rest : object
        Of `Option`: ``choices``, ``least``, ``greatest``, ``open``, ``free``, ``settled``,
        ``complete``, ``repeats``, ``column``.

    Returns
    -------
    field : dataclasses.Field
    """
    metadata = {"help": help, "flag": flag, **rest}
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=metadata)
    return field(default=default, metadata=metadata)


class Options:
    """Base of the classes that declare the options of jobs; values are checked when it is made."""

    def __post_init__(self) -> None:
        for each in self.declared():
            setattr(self, each.name, each.checked(getattr(self, each.name)))

    @classmethod
    def declared(cls) -> list[Option]:
        """The options in their order."""
        return list(_declared(cls))

    def record(self) -> dict[str, Any]:
        """Names and values, for the record of a run."""
        return {each.name: getattr(self, each.name) for each in self.declared()}

    def changed(self) -> dict[str, Any]:
        """Names and values of the options that differ from their defaults."""
        return {
            each.name: value
            for each in self.declared()
            if (value := getattr(self, each.name)) != each.default
        }


def _declared(cls: type) -> tuple[Option, ...]:
    found: tuple[Option, ...] | None = cls.__dict__.get("_options")
    if found is None:
        hints = typing.get_type_hints(cls)
        fields = dataclasses.fields(cls)
        found = tuple(_option_of(each, hints[each.name]) for each in fields)
        cls._options = found  # type: ignore[attr-defined]
    return found


def _option_of(declared: dataclasses.Field[Any], hint: Any) -> Option:
    default = declared.default
    if declared.default_factory is not dataclasses.MISSING:
        default = declared.default_factory()
    several = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    kinds = [each for each in several if each is not type(None)]
    many = typing.get_origin(kinds[0]) is list
    kind = typing.get_args(kinds[0])[0] if many else kinds[0]
    rest = dict(declared.metadata)
    flag = rest.pop("flag")
    return Option(
        declared.name,
        object if kind is Any else kind,
        default,
        many=many,
        optional=type(None) in several,
        flag="" if flag is None else flag or declared.name.replace("_", "-"),
        **rest,
    )
