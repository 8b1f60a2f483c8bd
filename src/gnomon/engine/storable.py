"""Classes whose objects may stand inside a model file, by a name of gnomon's own."""

from __future__ import annotations

from typing import TypeVar

STORABLE: dict[str, type] = {}

Class = TypeVar("Class", bound=type)


def storable(cls: Class) -> Class:
    """Let objects of this class be saved: ``__dict__`` is written, and put back by the loader.

    A class may define ``_check_loaded(self)``; the loader calls it, and it raises where values do
    not fit together (an index beyond an array, say).
    """
    known = STORABLE.get(cls.__name__)
    if known is not None and known.__module__ != cls.__module__:
        raise TypeError(f"two storable classes are called {cls.__name__}")
    STORABLE[cls.__name__] = cls
    return cls
