"""Classes whose objects may stand inside a model file, by a name of gnomon's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gnomon.engine import stored

STORABLE: dict[str, type] = {}
STORED_AS: dict[type, str] = {}
FUNCTIONS: dict[str, Callable[..., Any]] = {}

Class = TypeVar("Class", bound=type)


def storable(cls: Class, name: str | None = None, values: stored.Table | None = None) -> Class:
    """Let objects of this class be saved: ``__dict__`` is written, and put back by the loader.

    ``name`` is what model files call it, where another class bears its own name. The class declares
    its values in the attribute ``_stored`` (see `gnomon.engine.stored`); ``values`` is that table
    for a class of another library.

    A class may define ``_check_loaded(self)``; the loader calls it, and it raises where values do
    not fit together (an index beyond an array, say).
    """
    if values is not None:
        stored.FOREIGN[cls] = values
    if stored.table_of(cls) is None:
        raise TypeError(
            f"{cls.__name__} does not declare its values (_stored), so it is not storable"
        )
    name = name or cls.__name__
    known = STORABLE.get(name)
    if known is not None and known.__module__ != cls.__module__:
        raise TypeError(f"two storable classes are called {name}")
    STORABLE[name] = cls
    STORED_AS[cls] = name
    return cls


def storable_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function stand in a model file as a parameter: its name is written, never its code."""
    FUNCTIONS[function.__name__] = function
    return function
