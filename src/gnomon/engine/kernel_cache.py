"""Where compiled kernels are kept: a folder that can be written, else one that can be read.

Numba keeps what it compiles in ``NUMBA_CACHE_DIR``, beside the source, or in the user's cache
folder, and fails where none of these can be written. Here a folder that cannot be written but was
filled by `gnomon warm` is read; where there is none, kernels are compiled for this process only.
The first compilation of a process is announced by one line, since it takes seconds.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

# whether the line was printed, or must not be (`gnomon warm` shows its own progress)
_announced = False


def compiled(function: Callable[..., Any], types: tuple[Any, ...]) -> Any:
    """The function compiled for one signature, from a cache where it is already there.

    Parameters
    ----------
    function : callable
    types : tuple of numba types
        Types of the parameters.

    Returns
    -------
    dispatcher : numba dispatcher
        It compiles no other signature.
    """
    import numba

    dispatcher: Any = numba.njit(nogil=True, error_model="numpy")(function)
    dispatcher._cache = cache_of(function)
    dispatcher.compile(types)
    dispatcher.disable_compile()
    return dispatcher


def cache_of(function: Callable[..., Any]) -> Any:
    """The numba cache of a function: writable, else read-only, else none."""
    writable, read_only, none = _caches()
    try:
        cache = writable(function)
    except RuntimeError:  # numba found no folder that it can write to
        return _read_only_cache(read_only, function) or none()
    if _is_beside(cache, function):
        return cache
    return _read_only_cache(read_only, function) or cache


def has_file_of(function: Callable[..., Any]) -> bool:
    """Whether a cache has an index of compiled forms of a function, which may be outdated."""
    cache = cache_of(function)
    file = getattr(cache, "_cache_file", None)
    return file is not None and os.path.exists(file._index_path)


@functools.cache
def _caches() -> tuple[Any, Any, Any]:
    """The classes of caches; made when first needed, because importing numba takes long."""
    caching: Any = importlib.import_module("numba.core.caching")

    class Cache(caching.FunctionCache):
        def __init__(self, function: Callable[..., Any]) -> None:
            super().__init__(function)
            for file in sorted(files_of_subkernels(function)):
                self._cache_file._source_stamp += _hash_of(file)

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)
            if found is None:
                announce("once")
            return found

    class ReadOnlyImplementation(caching.CompileResultCacheImpl):
        _locator_classes = [
            _readable(caching.UserProvidedCacheLocator),
            _readable(caching.InTreeCacheLocator),
        ]

    class ReadOnlyCache(Cache):
        _impl_class = ReadOnlyImplementation

        def save_overload(self, sig: Any, data: Any) -> None:
            pass

    class NoCache(caching.NullCache):
        def load_overload(self, sig: Any, target_context: Any) -> None:
            announce("in every process, because no folder for them can be written")

    return Cache, ReadOnlyCache, NoCache


def files_of_subkernels(function: Callable[..., Any]) -> set[str]:
    """Other source files whose subkernels a function calls: a change there compiles it anew.

    Numba looks at the file of the function alone, and would keep code of the former subkernels.
    """
    own, found, seen = function.__code__.co_filename, set(), {function}
    waiting = [function]
    while waiting:
        each = waiting.pop()
        found.add(each.__code__.co_filename)
        for name in each.__code__.co_names:
            called: Any = getattr(each.__globals__.get(name), "function", None)
            if hasattr(called, "__code__") and called not in seen:
                seen.add(called)
                waiting.append(called)
    return found - {own}


@functools.cache
def _hash_of(file: str) -> bytes:
    with open(file, "rb") as source:
        return hashlib.sha256(source.read()).digest()


def _read_only_cache(read_only: Any, function: Callable[..., Any]) -> Any:
    """A cache that cannot be written and holds the function; None where there is none."""
    try:
        cache = read_only(function)
    except RuntimeError:
        return None
    return cache if os.path.exists(cache._cache_file._index_path) else None


def announce(how_often: str) -> None:
    """Print, once in a process, that kernels are compiled."""
    global _announced
    if not _announced:
        _announced = True
        print(
            f"gnomon: compiling kernels {how_often}, usually 1 to 10 seconds for a method; "
            "`gnomon warm` does it beforehand",
            file=sys.stderr,
        )


def announce_nothing() -> None:
    """Print no line in this process."""
    global _announced
    _announced = True


def _readable(locator: Any) -> Any:
    """A locator of folders that need not be writable."""

    class Readable(locator):
        def ensure_cache_path(self) -> None:
            if not os.path.isdir(self.get_cache_path()):
                raise OSError(f"{self.get_cache_path()} is not there")

    return Readable


def _is_beside(cache: Any, function: Callable[..., Any]) -> bool:
    """Whether a cache is the one that `gnomon warm` fills when it can: beside the source."""
    source = os.path.dirname(function.__code__.co_filename)
    return bool(os.environ.get("NUMBA_CACHE_DIR")) or cache.cache_path.startswith(source)
