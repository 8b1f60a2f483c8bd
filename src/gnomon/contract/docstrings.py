"""Docstrings of classes, put together where a text stands once and serves several classes.

Parameters that mean the same in several classes are described once: in the docstring of
scikit-learn's class (`with_peer`), or in a text beside the classes (`shared_parameters`, and
`shared_attributes` for attributes).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Class = TypeVar("Class", bound=type)

SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
NAMES = re.compile(r"\w+(, \w+)*")
ENTRY = re.compile(r"([*\w]+(?:, [*\w]+)*)\s*(?::|$)")  # the first line of a parameter


def shared_parameters(texts: str) -> Callable[[Class], Class]:
    """Document parameters of a class by a text that several classes share.

    The decorator puts the entries of those parameters that the constructor has, and the class does
    not describe itself, into the section "Parameters", in the order of the signature and with the
    defaults of the signature.

    Parameters
    ----------
    texts : str
        Entries of a section "Parameters", without defaults.

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> from gnomon.contract.docstrings import shared_parameters
    >>> @shared_parameters("shift : float\\n    Is added.\\ntol : float\\n    Unused here.")
    ... class Mean:
    ...     '''The mean.
    ...
    ...     Parameters
    ...     ----------
    ...     power : int, default=1
    ...         Power of the mean.
    ...     '''
    ...
    ...     def __init__(self, shift=0.5, power=1):
    ...         self.shift, self.power = shift, power
    >>> print(Mean.__doc__)
    The mean.
    <BLANKLINE>
    Parameters
    ----------
    shift : float, default=0.5
        Is added.
    power : int, default=1
        Power of the mean.
    """
    entries = entries_of(texts)

    def describe(cls: Class) -> Class:
        known = _places(inspect.cleandoc(cls.__doc__ or "").splitlines())
        found = {}
        for name, parameter in _parameters(cls).items():
            if name in entries and name not in known:
                first, *more = entries[name]
                found[name] = [f"{first}, default={stated(parameter.default)}", *more]
        cls.__doc__ = with_entries(cls, found)
        return cls

    return describe


def shared_attributes(texts: str) -> Callable[[Class], Class]:
    """Document attributes of a class by a text that several classes share.

    In the section "Attributes", a line of names alone stands for the entries of the text.

    Parameters
    ----------
    texts : str
        Entries of a section "Attributes".

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> from gnomon.contract.docstrings import shared_attributes
    >>> @shared_attributes("mean_ : float\\n    Of the rows.\\nscale_ : float")
    ... class Mean:
    ...     '''The mean.
    ...
    ...     Attributes
    ...     ----------
    ...     mean_, scale_
    ...     n_iter_ : int
    ...     '''
    >>> print(Mean.__doc__)
    The mean.
    <BLANKLINE>
    Attributes
    ----------
    mean_ : float
        Of the rows.
    scale_ : float
    n_iter_ : int
    """
    entries = entries_of(texts)

    def describe(cls: Class) -> Class:
        lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
        first, last = _section(lines, "Attributes")
        whole = lines[:first]
        for line in lines[first:last]:
            if NAMES.fullmatch(line):
                whole += [each for name in line.split(", ") for each in entries[name]]
            else:
                whole.append(line)
        cls.__doc__ = "\n".join(whole + lines[last:])
        return cls

    return describe


def entries_of(texts: str) -> dict[str, list[str]]:
    """The lines of each entry of a text, by name."""
    lines = texts.strip().splitlines()
    starts = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    parts = [lines[at:end] for at, end in zip(starts, [*starts[1:], len(lines)])]
    return {part[0].split(" : ")[0]: part for part in parts}


def with_entries(cls: type, entries: dict[str, list[str]]) -> str:
    """The docstring with further parameters, in the order of the signature."""
    lines = inspect.cleandoc(cls.__doc__ or "").splitlines()
    order = list(_parameters(cls))
    for name in sorted(entries, key=order.index):
        places = _places(lines)
        if name in places:
            raise TypeError(
                f"{cls.__name__}: {name!r} is documented already; leave it to the table"
            )
        later = [places[each] for each in order[order.index(name) + 1 :] if each in places]
        at = min(later) if later else _end_of_parameters(lines)
        lines[at:at] = entries[name]
    return "\n".join(lines)


def stated(default: Any) -> str:
    """A default as docstrings give it."""
    return f'"{default}"' if isinstance(default, str) else repr(default)


def _parameters(cls: type) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(cls.__init__).parameters)  # type: ignore[misc]


def _places(lines: list[str]) -> dict[str, int]:
    """The line at which each documented parameter starts."""
    first, last = _section(lines)
    places: dict[str, int] = {}
    for at in range(first, last):
        if entry := ENTRY.match(lines[at]):
            places |= {name.strip(): at for name in entry[1].split(",")}
    return places


def _end_of_parameters(lines: list[str]) -> int:
    first, last = _section(lines)
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def _section(lines: list[str], name: str = "Parameters") -> tuple[int, int]:
    """The lines of a section: first, and one after the last."""
    heads = [at - 1 for at, line in enumerate(lines) if at and re.fullmatch(r"-{3,}", line)]
    start = next((head for head in heads if lines[head] == name), None)
    if start is None:
        raise TypeError(f'the docstring has no section "{name}"')
    end = next((head for head in heads if head > start), len(lines))
    return start + 2, end


def with_peer(own: str, peer: Any, parameters: str = "", attributes: str = "") -> str:
    """A docstring: its own text and examples, with the parameters and attributes of the peer's.

    Those of its own follow, and then those that are given.
    """
    text, sections = parted(own)
    _, known = parted(peer.__doc__ or "")
    merged = {}
    for name, more in (("Parameters", parameters), ("Attributes", attributes)):
        entries = [known.get(name, "").rstrip(), sections.pop(name, "").rstrip(), more.rstrip()]
        if any(entries):
            merged[name] = "\n".join(filter(None, entries)) + "\n\n"
    merged |= sections
    body = "".join(f"{name}\n{'-' * len(name)}\n{merged[name]}" for name in merged)
    return text.rstrip() + "\n\n" + body


def with_defaults(text: str, peer: Any) -> str:
    """A docstring whose entries of parameters end with the defaults of the peer's constructor."""
    for name, parameter in _parameters(peer).items():
        if parameter.default is not inspect.Parameter.empty:
            given = parameter.default
            plain = given.item() if isinstance(given, np.generic) else given
            default = getattr(plain, "__name__", repr(plain))
            line = re.compile(rf"^({name} : .*?)(,? *\(?default *=.*)?$", re.MULTILINE)
            last = ", default=" + default.replace("\\", r"\\")
            text = line.sub(r"\1" + last, text, count=1)
    return text


def parted(text: str) -> tuple[str, dict[str, str]]:
    """The introduction of a docstring and its sections by name."""
    parts = SECTION.split(inspect.cleandoc(text))
    return parts[0], dict(zip(parts[1::2], parts[2::2]))
