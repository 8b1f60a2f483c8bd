"""Names of earlier versions: they still work, with a warning that gives the name of today."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

# names of classes in model files of earlier versions, and their names of today
FORMER_CLASSES: dict[str, str] = {}


def former_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that answers to its former names with a `FutureWarning`.

    Model files that hold an object of a former class name are read as today's class.

    Parameters
    ----------
    module : str
        The module's ``__name__``.
    names : mapping of str to str
        Each former name, and its name of today in the same module; or ``"package.module:name"``
        where it has moved.

    Returns
    -------
    getattr : callable

    Examples
    --------
    In a module::

        __getattr__ = former_names(__name__, {"Agglomerative": "AgglomerativeClustering"})
    """
    for former, today in names.items():
        FORMER_CLASSES[former] = today.rpartition(":")[2]

    def __getattr__(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, today = names[name].rpartition(":")
        home = home or module
        warnings.warn(
            f"{module}.{name} is now {home}.{today}; the former name will be removed",
            FutureWarning,
            stacklevel=2,
        )
        return getattr(importlib.import_module(home), today)

    return __getattr__


def former_parameters(**names: str) -> Callable[[Any], Any]:
    """Let a class or function take parameters by their former names, with a `FutureWarning`.

    The signature shows the names of today only. Model files that hold a class's former parameters
    are read.

    Parameters
    ----------
    **names : str
        Each former name, and its name of today.

    Returns
    -------
    decorator : callable

    Examples
    --------
    >>> import warnings
    >>> from gnomon.engine.renamed import former_parameters
    >>> @former_parameters(n_starts="n_init")
    ... def run(n_init=1):
    ...     return n_init
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     run(n_starts=5)
    5
    >>> print(caught[0].message)
    run: the parameter n_starts is now n_init; the former name will be removed
    """

    def wrap(function: Callable[..., Any], title: str) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*given: Any, **named: Any) -> Any:
            for former in names.keys() & named.keys():
                today = names[former]
                if today in named:
                    raise TypeError(f"{title}: give {today}, not also {former}, its former name")
                warnings.warn(
                    f"{title}: the parameter {former} is now {today}; the former name will be "
                    "removed",
                    FutureWarning,
                    stacklevel=2,
                )
                named[today] = named.pop(former)
            return function(*given, **named)

        return called

    def decorate(target: Any) -> Any:
        if not isinstance(target, type):
            return wrap(target, target.__name__)
        target.__init__ = wrap(target.__init__, target.__name__)  # type: ignore[misc]
        target._former_parameters = names  # type: ignore[attr-defined]
        return target

    return decorate
