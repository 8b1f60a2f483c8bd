"""Imports of scikit-learn that most processes never use, put off until their first use.

Of the 0.9 s of processor time that ``import sklearn.base`` takes, 0.7 s go to SciPy's statistics
and to pandas, which scikit-learn imports for few functions (ranks, quantiles of the normal, old
data frames). While one of these modules of scikit-learn runs its import statements, the two are
answered by a stand-in that imports them when it is used. All other importers, and functions that
import when they are called, do so as always; so does everything once a script has imported the two
itself. Gnomon's own modules write ``import scipy`` and ``scipy.stats.norm``: SciPy loads it late.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

PUT_OFF = ("pandas", "scipy.stats")
# Modules of scikit-learn that use them in calls only.
IMPORTERS = frozenset(
    {
        "sklearn._loss.link",
        "sklearn.covariance._robust_covariance",
        "sklearn.feature_selection._univariate_selection",
        "sklearn.impute._iterative",
        "sklearn.isotonic",
        "sklearn.metrics._ranking",
        "sklearn.model_selection._search",
        "sklearn.preprocessing._data",
        "sklearn.utils.fixes",
    }
)

_lock = threading.Lock()
_running: list[dict[str, Any]] = []  # the names of the modules that run now
_usual = builtins.__import__


class StandIn:
    """A module, or a name in it, that is imported when it is used."""

    def __init__(self, module: str, name: str = ""):
        self._module, self._name = module, name

    def _found(self) -> Any:
        module = importlib.import_module(self._module)
        return getattr(module, self._name) if self._name else module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._found(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._found()(*args, **kwargs)


@contextlib.contextmanager
def put_off(module: ModuleType) -> Iterator[None]:
    """While this module runs, its imports of `PUT_OFF` give stand-ins."""
    if module.__name__ not in IMPORTERS:
        yield
        return
    global _usual
    names = vars(module)
    with _lock:
        if not _running:
            _usual, builtins.__import__ = builtins.__import__, _import
        _running.append(names)
    try:
        yield
    finally:
        with _lock:
            _running[:] = [each for each in _running if each is not names]
            if not _running:
                builtins.__import__ = _usual


def _import(
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """What an import statement gives."""
    if level == 0 and any(globals is each for each in _running):
        if _may_wait(name):
            if fromlist:
                return SimpleNamespace(**{each: StandIn(name, each) for each in fromlist})
            return _usual(name.partition(".")[0]) if "." in name else StandIn(name)
        late = [each for each in fromlist or () if _may_wait(f"{name}.{each}")]
        if late:
            now = tuple(each for each in fromlist or () if each not in late)
            package = _usual(name, globals, locals, now or ("__name__",), level)
            return SimpleNamespace(
                **{each: getattr(package, each) for each in now},
                **{each: StandIn(f"{name}.{each}") for each in late},
            )
    return _usual(name, globals, locals, fromlist, level)


def _may_wait(name: str) -> bool:
    """Whether this is a module to put off that is there and not imported yet."""
    known = name in PUT_OFF and name not in sys.modules
    return known and importlib.util.find_spec(name) is not None


class Finder:
    """Finder of the modules whose imports are put off while they run.

    Parameters
    ----------
    also : callable, optional
        Of a module's name: whether to watch this one as well.
    then : callable, optional
        Called with every watched module after it ran.
    """

    def __init__(
        self,
        also: Callable[[str], bool] | None = None,
        then: Callable[[ModuleType], None] | None = None,
    ):
        self._also, self._then = also, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in IMPORTERS and not (self._also and self._also(fullname)):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            loader: Any = _Loader(spec.loader, self._then)
            spec.loader = loader
        return spec


class _Loader:
    """The usual loader, with imports put off while the module runs."""

    def __init__(self, loader: Any, then: Callable[[ModuleType], None] | None):
        self._loader, self._then = loader, then

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        with put_off(module):
            self._loader.exec_module(module)
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        if self._then is not None:
            self._then(module)


def install() -> None:
    """Put off the imports of scikit-learn's modules that are imported from now on."""
    sys.meta_path.insert(0, Finder())
