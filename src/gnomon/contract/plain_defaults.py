"""Defaults of NumPy's types as Python's own: they print alike before and after a model file."""

from __future__ import annotations

import functools
import inspect
from typing import Any, TypeVar

import numpy as np

Class = TypeVar("Class", bound=type)


def plain_defaults(cls: Class) -> Class:
    """Make the defaults of a constructor that are NumPy's numbers Python's own.

    Parameters
    ----------
    cls : type

    Returns
    -------
    cls : type
        The same class.
    """
    init: Any = cls.__init__  # type: ignore[misc]
    signature = inspect.signature(init)
    plain = {
        name: each.default.item()
        for name, each in signature.parameters.items()
        if isinstance(each.default, np.generic)
    }

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **{**plain, **kwargs})

    changed = [
        each.replace(default=plain[name]) if name in plain else each
        for name, each in signature.parameters.items()
    ]
    __init__.__signature__ = signature.replace(parameters=changed)  # type: ignore[attr-defined]
    cls.__init__ = __init__  # type: ignore[misc]
    return cls
