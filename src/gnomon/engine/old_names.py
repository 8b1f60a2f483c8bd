"""Old names: parameters and public names of the last version, accepted with a warning.

A package ends its ``__init__`` with ``accept_old_names(globals(), ...)``. Functions, classes and
methods that take ``confidence_level`` then also accept ``level`` (see `OLD_PARAMETERS`), and old
names of the package answer with the new object. Both warn; both go in the next version.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

# a name that the last version used: the names of this version, the first that a function has counts
OLD_PARAMETERS: dict[str, tuple[str, ...]] = {
    "level": ("confidence_level",),
    "confidence": ("confidence_level",),
    "seed": ("random_state",),
    "n_folds": ("cv",),
    "splits": ("cv",),
    "n_splits": ("cv",),
    "max_steps": ("max_iter",),
    "max_turns": ("max_iter",),
    "max_passes": ("max_iter",),
    "n_rounds": ("max_iter",),
    "n_sweeps": ("max_iter",),
    "n_starts": ("n_init",),
    "n_tries": ("n_init",),
    "n_restarts": ("n_init",),
    "tolerance": ("tol",),
    "learner": ("estimator",),
    "learners": ("estimators",),
    "model": ("estimator",),
    "models": ("estimators",),
}


def accept_old_names(package: dict[str, Any], renamed: Mapping[str, str] | None = None) -> None:
    """Let a package accept the names of the last version, with a warning.

    Parameters
    ----------
    package : dict
        ``globals()`` of the package's ``__init__``; its ``__all__`` lists what is public.
    renamed : mapping of str to str, default=None
        Old public name: new public name of the package.
    """
    for name in package["__all__"]:
        public = package.get(name)
        if inspect.isfunction(public):
            package[name] = accepting_old_names(public)
        elif inspect.isclass(public):
            for method, function in list(vars(public).items()):
                if inspect.isfunction(function) and (method == "__init__" or method[0] != "_"):
                    setattr(public, method, accepting_old_names(function))
    if renamed:
        package["__getattr__"] = functools.partial(_renamed, package, dict(renamed))


def accepting_old_names(function: Callable) -> Callable:
    """The function itself, or a wrapper that translates old names of its parameters."""
    parameters = inspect.signature(function).parameters
    translated = {
        old: next(new for new in current if new in parameters)
        for old, current in OLD_PARAMETERS.items()
        if old not in parameters and any(new in parameters for new in current)
    }
    if not translated:
        return function

    @functools.wraps(function)
    def accepting(*arguments: Any, **options: Any) -> Any:
        for old in [name for name in options if name in translated]:
            new = translated[old]
            if new in options:
                raise TypeError(f"{function.__qualname__} got both {new} and its old name {old}")
            warnings.warn(
                f"{function.__qualname__}: the parameter {old} is now called {new}",
                FutureWarning,
                stacklevel=2,
            )
            options[new] = options.pop(old)
        return function(*arguments, **options)

    home = sys.modules.get(function.__module__)
    if getattr(home, function.__name__, None) is function:
        setattr(home, function.__name__, accepting)
    return accepting


def _renamed(package: dict[str, Any], renamed: Mapping[str, str], name: str) -> Any:
    """``__getattr__`` of a package: the object that an old name stands for."""
    if name in renamed:
        new = renamed[name]
        warnings.warn(
            f"{package['__name__']}.{name} is now called {new}", FutureWarning, stacklevel=2
        )
        return package[new]
    raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
