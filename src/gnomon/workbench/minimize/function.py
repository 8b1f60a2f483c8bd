"""A function in a Python file, and the space that it is searched in."""

from __future__ import annotations

import importlib.util
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.optimize import Integer, Real, Space, as_space


@dataclass
class Problem:
    """A function to minimize, its space, and what the file says of it.

    Attributes
    ----------
    function : callable
    name : str
    source : str or None
        FILE.py:NAME, where it was read from a file.
    text : str
        The source text.
    space : Space or None
    gradient : callable or None
        The function ``NAME_gradient`` of the file, or the attribute ``gradient``.
    labels : list of str
        A name for every dimension of the space.
    """

    function: Callable[..., Any]
    name: str
    source: str | None
    text: str
    space: Space | None
    gradient: Callable[..., Any] | None
    labels: list[str] = field(default_factory=list)


def problem_of(given: Any, bounds: list[str]) -> Problem:
    """The function that is given: itself, or as ``FILE.py:NAME``.

    Parameters
    ----------
    given : callable or str
    bounds : list of str
        What varies; empty for the variable ``space`` of the file.

    Returns
    -------
    problem : Problem
    """
    module: Any = None
    source = None
    if callable(given):
        function, name = given, getattr(given, "__name__", "function")
    else:
        module, name, source = _loaded(str(given))
        function = getattr(module, name)
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        text = repr(name)
    space: Any = getattr(function, "space", None)
    gradient = getattr(function, "gradient", None)
    if module is not None:
        space = getattr(module, f"{name}_space", getattr(module, "space", space))
        gradient = getattr(module, f"{name}_gradient", gradient)
    if bounds:
        space = space_of(bounds)
    if space is None:
        return Problem(function, name, source, text, None, gradient)
    space = as_space(space)
    labels = space.names or [f"x{k}" for k in range(len(space.dimensions))]
    order = parameters_for(function, space)
    if order is not None:
        function = partial(called_one_by_one, function)
        gradient = None if gradient is None else partial(called_one_by_one, gradient)
        if space.names is not None and not space.constraints:
            # an array where all are numbers: every optimizer takes it
            known = dict(zip(space.names, space.dimensions, strict=True))
            space, labels = Space([known[each] for each in order]), order
    return Problem(function, name, source, text, space, gradient, labels)


def parameters_for(function: Callable[..., Any], space: Space) -> list[str] | None:
    """The parameters of a function that takes each coordinate by itself; None for a point.

    Parameters
    ----------
    function : callable
    space : Space

    Returns
    -------
    names : list of str or None
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [
        each.name for each in parameters if each.default is each.empty and each.kind in by_place
    ]
    if space.names is not None:
        return found if sorted(found) == sorted(space.names) else None
    return found if 1 < len(found) == len(space.dimensions) else None


def called_one_by_one(function: Callable[..., Any], point: Any) -> Any:
    """The value of a function of single coordinates at a point."""
    return function(**point) if isinstance(point, dict) else function(*point)


def _loaded(given: str) -> tuple[Any, str, str]:
    path, separator, name = given.rpartition(":")
    if not separator or not path.endswith(".py"):
        raise DataError(f"give the function as FILE.py:NAME, not {given!r}")
    file = Path(path)
    if not file.exists():
        raise DataError(f"there is no file {file}")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise DataError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    if not callable(getattr(module, name, None)):
        known = [each for each, value in vars(module).items() if inspect.isfunction(value)]
        raise DataError(f"{file} has no function {name!r}; it has: {', '.join(known) or 'none'}")
    return module, name, f"{file.resolve()}:{name}"


def space_of(bounds: list[str]) -> Space:
    """The space that words such as ``x=0:1:log`` describe.

    Parameters
    ----------
    bounds : list of str

    Returns
    -------
    space : Space

    Examples
    --------
    >>> space_of(["rate=0.001:1:log", "kind=a|b"]).names
    ['rate', 'kind']
    >>> space_of(["-1:1", "0:5"]).high.tolist()
    [1.0, 5.0]
    """
    named = [each.partition("=") for each in bounds]
    if all(equals for _, equals, _ in named):
        return Space({name: _dimension(words) for name, _, words in named})
    if any(equals for _, equals, _ in named):
        raise DataError("give a name to every bound or to none")
    return Space([_dimension(words) for words in bounds])


def _dimension(words: str) -> Any:
    if "|" in words:
        return words.split("|")
    low, _, rest = words.partition(":")
    high, _, kind = rest.partition(":")
    try:
        ends = float(low), float(high)
    except ValueError:
        raise DataError(f"{words!r} is no bound: write LOW:HIGH, LOW:HIGH:log or a|b|c") from None
    if kind == "int":
        if not all(math.isfinite(each) for each in ends):
            raise DataError(f"whole numbers need finite bounds, not {words!r}")
        return Integer(int(ends[0]), int(ends[1]))
    if kind not in ("", "log"):
        raise DataError(f"{kind!r} in {words!r} is neither 'log' nor 'int'")
    return Real(*ends, log=kind == "log")
