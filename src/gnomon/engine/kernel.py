"""Numba kernels: compiled inner loops with declared types, nothing compiled at import.

What BLAS, FFT or a sparse product cannot do is written as a kernel: a sequential function of
arrays. Threads belong to the engine (`gnomon.engine.threads`), so kernels release the interpreter
lock and never start threads of their own. Each kernel declares one signature: a call with other
types is an error instead of one more hidden compilation, and `gnomon warm` knows what to compile
beforehand.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from typing import Any

KERNELS: dict[str, Kernel] = {}


class Kernel:
    """A compiled function, to be called from Python; made by `kernel`.

    Parameters
    ----------
    function : callable
        The loop itself; it may call functions decorated with `subkernel`.
    signature : tuple of str
        One entry per argument: ``"f8"``, ``"i8"``, ``"f8[:,:]"`` ... Arrays are C-contiguous and
        are taken read-only or writable alike, unless the entry starts with ``"out "``: the kernel
        writes there.
    """

    def __init__(self, function: Callable, signature: tuple[str, ...]):
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = signature
        self.name = f"{function.__module__}.{function.__qualname__}"
        self._compiled: Callable | None = None
        KERNELS[self.name] = self

    def __call__(self, *arguments):
        if self._compiled is None:
            self._compiled = self.compile()
        return self._compiled(*arguments)

    def __repr__(self):
        return f"<kernel {self.name}({', '.join(self.signature)})>"

    def __reduce__(self):
        return _kernel_by_name, (self.name,)

    def compile(self) -> Callable:
        """The compiled function, from the cache on disk where it is already there."""
        if jit_is_off():
            return self.function
        import numba

        types = tuple(_numba_type(entry) for entry in self.signature)
        return numba.njit(types, cache=True, nogil=True, error_model="numpy")(self.function)


def kernel(*signature: str) -> Callable[[Callable], Kernel]:
    """Declare a kernel: ``@kernel("f8[:,:]", "f8[:]", "out f8[:]")``. See `Kernel`."""

    def declare(function: Callable) -> Kernel:
        return Kernel(function, signature)

    return declare


def subkernel(function: Callable) -> Callable:
    """A function that kernels call; it takes its types from the calling kernel."""
    if jit_is_off():
        return function
    import numba

    return numba.njit(nogil=True, error_model="numpy")(function)


def lean_subkernel(function: Callable, fused: bool = False) -> Callable:
    """A subkernel that makes no arrays (views aside), compiled without counting references to them.

    For functions that are called for every node or bin: there the counting costs as much as the
    work. `fused`: products may be rounded together with the sum that they go into, which is quicker
    and no less exact, but breaks ties and cancellations that rounding alike would keep.
    """
    if jit_is_off():
        return function
    import numba

    options: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if fused:
        options["fastmath"] = {"contract"}
    return numba.njit(nogil=True, error_model="numpy", **options)(function)


def jit_is_off() -> bool:
    """Whether ``NUMBA_DISABLE_JIT=1`` asks for plain Python (to debug and to measure coverage)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def warm() -> Iterator[Kernel]:
    """Compile every kernel that has been declared so far, yielding each when it is ready."""
    for each in list(KERNELS.values()):
        each._compiled = each.compile()
        yield each


def _kernel_by_name(name: str) -> Kernel:
    return KERNELS[name]


def _numba_type(entry: str):
    from numba import types
    from numba.core import sigutils

    written = entry.startswith("out ")
    declared = sigutils._parse_signature_string(entry.removeprefix("out "))
    if isinstance(declared, types.Array):
        return types.Array(declared.dtype, declared.ndim, "C", readonly=not written)
    return declared
