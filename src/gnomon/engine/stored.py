"""What the values of a stored class must be: one table per class, from which loading is checked.

A class that stands in model files declares its values in the class attribute ``_stored``::

    _stored = {
        "cluster_centers_": Array("f", ("n_clusters", "n_features_in_")),
        "labels_": Array("i4", ("n_rows",), low=0, below="n_clusters"),
        "n_iter_": Whole(),
    }

The table holds for subclasses too, which add to it or replace entries. Sizes are numbers, names or
sums of them. A name stands for the whole number that the object has under that name (an attribute
or a parameter); a name that is no attribute stands for one size all over the object: the first
array that has it sets it, the others must agree. ``n_columns`` is the number of columns that a
method sees: ``n_features_in_``, or those of its encoder where it was fitted to a table.

The loader compares every object with the table of its class before the object is used, so that no
kernel sees an array of another shape, kind or range. A value that is not declared can neither be
saved nor loaded. What a table cannot say (that links have no cycle, say) is checked by the method
``_check_loaded``, which is called afterwards.
"""

from __future__ import annotations

import ast
import functools
import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

LABELS = "biufUSOMm"  # kinds of arrays that labels of classes may be
Size = int | str | None
Shape = tuple[Size, ...]


class Unfit(ValueError):
    """A value is not what the table of its class says; the message says what is wrong."""


class Sizes:
    """The sizes that an object's own numbers state, and those that its arrays agree on."""

    def __init__(self, values: Mapping[str, Any]):
        self.known = {
            name: int(value)
            for name, value in values.items()
            if isinstance(value, numbers.Integral) and not isinstance(value, bool)
        }
        if "n_features_in_" in self.known:
            encoder = values.get("encoder_")
            n_columns = self.known["n_features_in_"] if encoder is None else len(encoder.columns)
            self.known.setdefault("n_columns", n_columns)

    def of(self, size: int | str) -> int | None:
        """The number that a size stands for; None where a name in it is not known yet."""
        if isinstance(size, int):
            return size
        found = _evaluate(_parsed(size), self.known)
        return None if found is None else int(found)

    def agree(self, size: Size, found: int) -> bool:
        """Whether a size is the one found; a name that is not known yet gets it."""
        if size is None:
            return True
        expected = self.of(size)
        if expected is None:
            if isinstance(size, str) and size.isidentifier():
                self.known[size] = found
            return True
        return expected == found


class Value:
    """One kind of value; ``a | b`` is either, ``a | None`` may also be None."""

    def check(self, value: Any, sizes: Sizes) -> None:
        """Raise `Unfit` where a value is not of this kind."""
        raise NotImplementedError

    def __or__(self, other: Value | None) -> Value:
        more = Nothing() if other is None else other
        return Either((*self.alternatives, *more.alternatives))

    @property
    def alternatives(self) -> tuple[Value, ...]:
        """The kinds that a value may be of."""
        return (self,)

    @property
    def is_optional(self) -> bool:
        """Whether a fitted object may lack it."""
        return False


@dataclass(frozen=True)
class Array(Value):
    """A NumPy array.

    Parameters
    ----------
    kinds : str
        Letters of `numpy.dtype.kind` ("f", "iu", "fiuUO" ...), or one type with its width ("f8").
    shape : tuple, or list of tuples, default=None
        Sizes of the axes, or the shapes that it may have; a size of None is any.
    finite : bool, default=True
        Numbers with a fraction are finite.
    missing : bool, default=False
        NaN may stand among finite numbers, as of a column that had no value.
    low, high : int, float or str, default=None
        Least and greatest value; a str is a size.
    below : int or str, default=None
        All values are less, as those of an index are.
    rising : bool, default=False
        No value along the last axis is less than the one before it.
    sparse : bool, default=False
        It may also be a sparse matrix.
    entry : Value, default=None
        What each entry of an array of objects must be.
    """

    kinds: str
    shape: Shape | list[Shape] | None = None
    finite: bool = True
    low: float | str | None = None
    high: float | str | None = None
    below: float | str | None = None
    rising: bool = False
    sparse: bool = False
    entry: Value | None = None
    missing: bool = False

    def check(self, value: Any, sizes: Sizes) -> None:
        if self.sparse and sp.issparse(value):
            if not _is_of_kind(value.dtype, self.kinds):
                raise Unfit(f"is a sparse matrix of {value.dtype}, not of {self.kinds}")
            self._check_shape(value.shape, sizes)
            if value.nnz:
                self._check_numbers(value.data, sizes)
            return
        if not isinstance(value, np.ndarray):
            raise Unfit(f"is a {type(value).__name__}, not an array")
        if not _is_of_kind(value.dtype, self.kinds):
            raise Unfit(f"is an array of {value.dtype}, not of {self.kinds}")
        self._check_shape(value.shape, sizes)
        if value.size and value.dtype.kind in "iuf":
            self._check_numbers(value, sizes)
        if self.entry is not None and value.dtype.kind == "O":
            for entry in value.ravel():
                self.entry.check(entry, sizes)

    def _check_shape(self, found: tuple[int, ...], sizes: Sizes) -> None:
        if self.shape is None:
            return
        shapes = self.shape if isinstance(self.shape, list) else [self.shape]
        for shape in shapes:
            if len(shape) == len(found) and _all_agree(shape, found, sizes):
                return
        wanted = " or ".join(_written(shape, sizes) for shape in shapes)
        raise Unfit(f"has shape {found}, not {wanted}")

    def _check_numbers(self, values: np.ndarray, sizes: Sizes) -> None:
        if self.finite and values.dtype.kind == "f":
            strange = np.isinf(values) if self.missing else ~np.isfinite(values)
            if strange.any():
                raise Unfit("holds numbers that are not finite")
        checks: tuple[tuple[Any, str, Callable[[float], bool]], ...] = (
            (self.low, "less than", lambda limit: np.nanmin(values) >= limit),
            (self.high, "greater than", lambda limit: np.nanmax(values) <= limit),
            (self.below, "not less than", lambda limit: np.nanmax(values) < limit),
        )
        for bound, name, is_within in checks:
            limit = sizes.of(bound) if isinstance(bound, str) else bound
            if limit is not None and not np.isnan(values).all() and not is_within(limit):
                raise Unfit(f"holds numbers {name} {limit}")
        if self.rising and (np.diff(values, axis=-1) < 0).any():
            raise Unfit("holds numbers that do not rise")


@dataclass(frozen=True)
class Whole(Value):
    """A whole number; `low` and `high` are its least and greatest value."""

    low: int | str | None = 0
    high: int | str | None = None

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.bool_)):
            raise Unfit(f"is {_short(value)}, not a whole number")
        _check_between(int(value), self.low, self.high, sizes)


@dataclass(frozen=True)
class Number(Value):
    """A number; `low` and `high` are its least and greatest value."""

    low: float | str | None = None
    high: float | str | None = None
    finite: bool = True

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
            raise Unfit(f"is {_short(value)}, not a number")
        if self.finite and not math.isfinite(value):
            raise Unfit(f"is {value}, which is not finite")
        _check_between(float(value), self.low, self.high, sizes)


@dataclass(frozen=True)
class Flag(Value):
    """True or False."""

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, (bool, np.bool_)):
            raise Unfit(f"is {_short(value)}, not True or False")


@dataclass(frozen=True)
class Text(Value):
    """A text; one of the choices where there are any."""

    choices: tuple[str, ...] = ()

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, str):
            raise Unfit(f"is {_short(value)}, not a text")
        if self.choices and value not in self.choices:
            raise Unfit(f"is {value!r}, not one of {', '.join(self.choices)}")


@dataclass(frozen=True)
class Nothing(Value):
    """None."""

    def check(self, value: Any, sizes: Sizes) -> None:
        if value is not None:
            raise Unfit(f"is {_short(value)}, not None")


@dataclass(frozen=True)
class ListOf(Value):
    """A list, or another sequence, whose entries are all of one kind.

    `length` is a size as of an array.
    """

    entry: Value
    length: Size = None
    kind: type[Any] = list

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, self.kind):
            raise Unfit(f"is {_short(value)}, not a {self.kind.__name__}")
        if not sizes.agree(self.length, len(value)):
            raise Unfit(f"has {len(value)} entries, not {_written((self.length,), sizes)}")
        for place, entry in enumerate(value):
            _check_inside(self.entry, entry, sizes, f"[{place}]")


@dataclass(frozen=True)
class TupleOf(Value):
    """A tuple whose entries are of these kinds."""

    entries: tuple[Value, ...]

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != len(self.entries):
            raise Unfit(f"is {_short(value)}, not a tuple of {len(self.entries)}")
        for place, (kind, entry) in enumerate(zip(self.entries, value)):
            _check_inside(kind, entry, sizes, f"[{place}]")


@dataclass(frozen=True)
class DictOf(Value):
    """A dict of values of one kind; `required` names keys with kinds of their own."""

    entry: Value
    required: Mapping[str, Value] = field(default_factory=dict)
    length: Size = None

    def check(self, value: Any, sizes: Sizes) -> None:
        if not isinstance(value, dict):
            raise Unfit(f"is {_short(value)}, not a dict")
        if not sizes.agree(self.length, len(value)):
            raise Unfit(f"has {len(value)} entries, not {_written((self.length,), sizes)}")
        for key in self.required:
            if key not in value:
                raise Unfit(f"has no {key!r}")
        for key, entry in value.items():
            _check_inside(self.required.get(key, self.entry), entry, sizes, f"[{key!r}]")


@dataclass(frozen=True)
class Object(Value):
    """An object of a stored class: of one of these names, or derived from one of them.

    `same` maps attributes of the part to sizes that they must have (the length, of an array).
    """

    classes: tuple[str, ...] = ()
    same: Mapping[str, Size] = field(default_factory=dict)

    def check(self, value: Any, sizes: Sizes) -> None:
        if not hasattr(type(value), "_stored") and type(value) not in FOREIGN:
            raise Unfit(f"is {_short(value)}, not an object of a stored class")
        names = {base.__name__ for base in type(value).__mro__}
        if self.classes and names.isdisjoint(self.classes):
            raise Unfit(f"is a {type(value).__name__}, not a {' or '.join(self.classes)}")
        for name, size in self.same.items():
            own = vars(value).get(name)
            if own is None:
                continue
            found = int(own) if isinstance(own, numbers.Integral) else len(own)
            if not sizes.agree(size, found):
                raise Unfit(f"has {name} of {found}, not {_written((size,), sizes)}")


@dataclass(frozen=True)
class Anything(Value):
    """Any value that a model file can hold: labels and settings of the user's."""

    def check(self, value: Any, sizes: Sizes) -> None:
        return


@dataclass(frozen=True)
class Either(Value):
    """A value of one of several kinds."""

    kinds: tuple[Value, ...]

    @property
    def alternatives(self) -> tuple[Value, ...]:
        return self.kinds

    def check(self, value: Any, sizes: Sizes) -> None:
        reasons = []
        for kind in self.kinds:
            attempt = Sizes({})
            attempt.known = dict(sizes.known)
            try:
                kind.check(value, attempt)
            except Unfit as reason:
                reasons.append(str(reason))
            else:
                sizes.known = attempt.known
                return
        raise Unfit(" and ".join(dict.fromkeys(reasons)))


@dataclass(frozen=True)
class Optional(Value):
    """A value that a fitted object need not have: some options do not set it."""

    kind: Value

    def check(self, value: Any, sizes: Sizes) -> None:
        self.kind.check(value, sizes)

    @property
    def is_optional(self) -> bool:
        return True


# labels of classes, sorted; a list of such arrays for several outputs
CLASSES = Array(LABELS, ("n_classes",)) | ListOf(Array(LABELS, (None,)))
Table = Mapping[str, Value]
# tables of classes of other libraries, which stand in model files too
FOREIGN: dict[type, Table] = {}


@functools.cache
def table_of(cls: type) -> Table | None:
    """The values that a class and its bases declare; None where there is no table."""
    if cls in FOREIGN:
        return FOREIGN[cls]
    declared = [vars(base)["_stored"] for base in reversed(cls.__mro__) if "_stored" in vars(base)]
    if not declared:
        return None
    return {name: value for table in declared for name, value in table.items()}


def undeclared(cls: type, values: Iterable[str], parameters: Iterable[str]) -> list[str]:
    """Names of values that are neither in the table of a class nor parameters."""
    known = set(table_of(cls) or ()) | set(parameters)
    return [name for name in values if name not in known]


def check(cls: type, values: Mapping[str, Any], parameters: Iterable[str], fitted: bool) -> None:
    """Raise `Unfit` where the values of an object are not what its class declares.

    Parameters
    ----------
    cls : type
    values : mapping
        Its attributes.
    parameters : iterable of str
        Names of constructor parameters, which have a table of their own.
    fitted : bool
        Whether values that the table names must be there.
    """
    for name in undeclared(cls, values, parameters):
        raise Unfit(f"has a value {name!r} that its class does not declare")
    sizes = Sizes(values)
    for name, kind in (table_of(cls) or {}).items():
        if name in values:
            _check_inside(kind, values[name], sizes, f".{name}")
        elif fitted and not kind.is_optional:
            raise Unfit(f"has no {name!r}")


def described(cls: type) -> list[tuple[str, str]]:
    """The stored values of a class and what each must be, in words."""
    return [(name, repr(kind)) for name, kind in (table_of(cls) or {}).items()]


def _check_inside(kind: Value, value: Any, sizes: Sizes, where: str) -> None:
    try:
        kind.check(value, sizes)
    except Unfit as reason:
        text = str(reason)
        raise Unfit(
            f"{where}{text}" if text.startswith(("[", ".")) else f"{where} {text}"
        ) from None


def _check_between(
    value: float, low: float | str | None, high: float | str | None, sizes: Sizes
) -> None:
    least = sizes.of(low) if isinstance(low, str) else low
    most = sizes.of(high) if isinstance(high, str) else high
    if least is not None and value < least:
        raise Unfit(f"is {value}, less than {least}")
    if most is not None and value > most:
        raise Unfit(f"is {value}, greater than {most}")


def _all_agree(shape: Shape, found: tuple[int, ...], sizes: Sizes) -> bool:
    attempt = Sizes({})
    attempt.known = dict(sizes.known)
    if all(attempt.agree(size, length) for size, length in zip(shape, found)):
        sizes.known = attempt.known
        return True
    return False


def _is_of_kind(dtype: np.dtype[Any], kinds: str) -> bool:
    if len(kinds) > 1 and kinds[1:].isdecimal():
        return dtype == np.dtype(kinds)
    return dtype.kind in kinds


def _written(shape: Sequence[Size], sizes: Sizes) -> str:
    known = ["any" if size is None else sizes.of(size) or size for size in shape]
    return "(" + ", ".join(str(size) for size in known) + ")"


def _short(value: Any) -> str:
    text = repr(value) if isinstance(value, (int, float, str, bool, type(None))) else ""
    return text if 0 < len(text) < 40 else f"a {type(value).__name__}"


@functools.cache
def _parsed(size: str) -> ast.expr:
    return ast.parse(size, mode="eval").body


def _evaluate(node: ast.expr, known: Mapping[str, int]) -> int | None:
    """The value of sums, differences, products and quotients of names and whole numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id)
    if isinstance(node, ast.BinOp):
        left, right = _evaluate(node.left, known), _evaluate(node.right, known)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv):
            return left // right if right else None
    raise ValueError(f"{ast.unparse(node)} is not a size")
