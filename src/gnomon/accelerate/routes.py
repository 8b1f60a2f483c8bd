"""Routes: which routine of scikit-learn is replaced by which of ours, and how a call is decided.

A route replaces one routine of scikit-learn, a function of a module or a method of a class, in
place: the class itself stays scikit-learn's. So an estimator that was imported or made before
`install` is accelerated too, and pickles, clones, ``isinstance`` and signatures are those of
scikit-learn. Modules of scikit-learn that are not imported yet are changed when they are.
"""

from __future__ import annotations

import functools
import inspect
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from gnomon.accelerate import ledger, limits
from gnomon.accelerate.unsupported import Unsupported

ROUTES: list[Route] = []


@dataclass
class Route:
    """One routine of scikit-learn and what runs in its place.

    Attributes
    ----------
    module : str
        The module of scikit-learn that looks the routine up.
    path : str
        The routine in it: ``"function"``, ``"Class.method"`` or ``"table.key"``.
    serves : str
        The public call that uses the routine, as the report names it; "{}" stands for the name of
        the class of the estimator.
    ours : callable
        Takes the original routine and the arguments of a call. It returns what the original
        would, or raises `Unsupported`.
    needs : str or None
        The module with compiled code that the first call imports; None where there is none.
    counted : bool
        Whether the report counts its calls.
    """

    module: str
    path: str
    serves: str
    ours: Callable[..., Any]
    needs: str | None = None
    counted: bool = True
    original: Callable[..., Any] | None = field(default=None, init=False)

    def install(self, module: ModuleType) -> None:
        """Put ours in place of the routine; note it where scikit-learn has another routine."""
        owner, name = self._place(module)
        original = _entries(owner).get(name)
        if original is None or not callable(original):
            ledger.not_installed(self.label(), f"{self.module} has no {self.path} any more")
        elif not (inspect.isclass(original) or _passes_on(original, self.ours)):
            ledger.not_installed(self.label(), f"{self.path} has other parameters than expected")
        else:
            self.original = original
            _put(owner, name, self.routed(original))

    def uninstall(self) -> None:
        """Put scikit-learn's routine back."""
        if self.original is not None:
            owner, name = self._place(sys.modules[self.module])
            _put(owner, name, self.original)
            self.original = None

    def label(self, estimator: Any = None) -> str:
        name = type(estimator).__name__ if "." in self.path else ""
        return self.serves.format(name if estimator is not None else self.path.split(".")[0])

    def _place(self, module: ModuleType) -> tuple[Any, str]:
        *owner, name = self.path.split(".")
        found: Any = module
        for each in owner:
            found = getattr(found, each, None)
        return found, name

    def routed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Ours where it serves the call, else the original."""
        if isinstance(original, staticmethod):
            return staticmethod(self.routed(original.__func__))

        @functools.wraps(original)
        def replacement(*args: Any, **kwargs: Any) -> Any:
            label = self.label(args[0] if args else None)
            began = time.perf_counter()
            try:
                with limits.call_of(self.needs):
                    result = self.ours(original, *args, **kwargs)
            except Unsupported as reason:
                why, waits = str(reason), reason.waits
            except Exception as error:  # scikit-learn decides whether the call is at fault
                why, waits = f"failed here: {type(error).__name__}: {error}"[:200], False
            else:
                if self.counted:
                    ledger.accelerated(label, time.perf_counter() - began)
                return result
            began = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                seconds = time.perf_counter() - began
                ledger.fell_back(label, why, seconds)
                if waits:
                    limits.waited(seconds)

        return replacement


def replaces(
    module: str,
    path: str,
    serves: str,
    *,
    needs: str | None = None,
    also: Sequence[str] = (),
    counted: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a route; `also` names other modules that have imported the same function."""

    def declare(ours: Callable[..., Any]) -> Callable[..., Any]:
        ROUTES.extend(Route(each, path, serves, ours, needs, counted) for each in (module, *also))
        return ours

    return declare


def _entries(owner: Any) -> Any:
    """What a module, a class or a table of functions holds, by name."""
    if owner is None:
        return {}
    return owner if isinstance(owner, dict) else vars(owner)


def _put(owner: Any, name: str, function: Any) -> None:
    if isinstance(owner, dict):
        owner[name] = function
    else:
        setattr(owner, name, function)


def _passes_on(original: Callable[..., Any], ours: Callable[..., Any]) -> bool:
    """Whether ours takes the parameters of the original, or any that come."""
    names = _names(ours)[1:]
    return names in (["args", "kwargs"], _names(original))


def _names(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def install_in(module: ModuleType) -> None:
    """Install the routes of a module that has been imported."""
    for route in ROUTES:
        if route.module == module.__name__ and route.original is None:
            route.install(module)


def has_route(module: str) -> bool:
    """Whether a routine of the module of this name is replaced."""
    return any(route.module == module for route in ROUTES)
