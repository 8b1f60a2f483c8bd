"""Numba kernels: compiled inner loops with declared types, nothing compiled at import.

What BLAS, FFT or a sparse product cannot do is written as a kernel: a sequential function of
arrays and numbers. Threads belong to the engine (`gnomon.engine.threads`), so kernels release the
interpreter lock and never start threads of their own. Each kernel declares one signature: a call
with other types is an error instead of one more hidden compilation, and `gnomon warm` knows what
to compile beforehand. Arrays and numbers that belong together are one parameter, a named tuple.
"""

from __future__ import annotations

import functools
import importlib
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from gnomon.engine import kernel_cache

KERNELS: dict[str, Kernel] = {}
# kernels to compile that are worth new processes: one starts in 5 s, a kernel takes 1 s (measured)
WORTH_PROCESSES = 12
Entry = str | type


class Kernel:
    """A compiled function, to be called from Python; made by `kernel`.

    Parameters
    ----------
    function : callable
        The loop itself; it may call functions decorated with `subkernel`.
    signature : tuple of str or NamedTuple class
        One entry per parameter. A string is the type: ``"f8"``, ``"i8"``, ``"f8[:,:]"`` ... Arrays
        are C-contiguous and are taken read-only or writable alike, unless the entry starts with
        ``"out "``: the kernel writes there. A `typing.NamedTuple` class stands for a tuple of
        arrays and numbers; the type of each field is the string in its annotation,
        ``Annotated[np.ndarray, "out f8[:]"]``. One entry may be of rows of either precision,
        ``"f8|f4[:,:]"``: the function is then compiled for each when it is first needed. Next to
        other numbers, which are f8, float32 is converted one by one without a copy of the rows.

    Notes
    -----
    A compiled kernel takes the fields of its tuples one by one, so that a field may be read-only
    or writable like any other array, and puts the tuples together again inside.
    """

    def __init__(
        self, function: Callable[..., Any], signature: tuple[Entry, ...], name: str | None = None
    ):
        functools.update_wrapper(self, function)
        self.function = function
        self.signature = tuple(_of_precision(entry, "f8") for entry in signature)
        self.name = name or f"{function.__module__}.{function.__qualname__}"
        of_either = [i for i, entry in enumerate(signature) if entry != self.signature[i]]
        self._place_of_rows = of_either[0] if of_either else -1
        self._of_float32: Kernel | None = None
        if of_either:
            single = tuple(_of_precision(entry, "f4") for entry in signature)
            self._of_float32 = Kernel(function, single, f"{self.name} (float32)")
        self._tuples = {i: entry for i, entry in enumerate(signature) if isinstance(entry, type)}
        self._compiled: Callable[..., Any] | None = None
        KERNELS[self.name] = self

    def __call__(self, *arguments: Any) -> Any:
        other = self._of_float32
        if other is not None and arguments[self._place_of_rows].dtype == np.float32:
            return other(*arguments)
        if self._compiled is None:
            self._compiled = self.compile()
        try:
            return self._compiled(*arguments)
        except TypeError:
            # refused before anything ran: inputs in another memory order are copied
            ordered = [_in_c_order(*pair) for pair in zip(self.signature, arguments)]
            if all(new is old for new, old in zip(ordered, arguments)):
                raise
            return self._compiled(*ordered)

    def __repr__(self) -> str:
        entries = [entry if isinstance(entry, str) else entry.__name__ for entry in self.signature]
        return f"<kernel {self.name}({', '.join(entries)})>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _kernel_by_name, (self.name,)

    def compile(self) -> Callable[..., Any]:
        """The compiled function, from the cache on disk where it is already there."""
        if jit_is_off():
            return self.function
        types = tuple(_numba_type(text) for entry in self.signature for text in _entries(entry))
        compiled = kernel_cache.compiled(self._to_compile(), types)
        return self._with_fields(compiled) if self._tuples else compiled

    def is_cached(self) -> bool:
        """Whether the cache has a file of the function, of this version of it or a former one."""
        return jit_is_off() or kernel_cache.has_file_of(self._to_compile())

    def _to_compile(self) -> Callable[..., Any]:
        return self._function_of_fields() if self._tuples else self.function

    def _function_of_fields(self) -> Callable[..., Any]:
        """The function with one parameter per field; compiled under the file of the function.

        Numba keeps its cache beside the file that a function comes from and renews it when that
        file changes.
        """
        parameters: list[str] = []
        arguments = []
        scope: dict[str, Any] = {"function_of_tuples": subkernel(self.function)}
        for i, entry in enumerate(self.signature):
            names = [f"p{i}_{k}" for k in range(len(_entries(entry)))]
            parameters += names
            arguments.append(", ".join(names))
            if i in self._tuples:
                scope[f"Tuple{i}"] = entry
                arguments[-1] = f"Tuple{i}({arguments[-1]})"
        name = self.function.__name__
        source = (
            f"def {name}({', '.join(parameters)}):\n"
            f"    return function_of_tuples({', '.join(arguments)})"
        )
        code = self.function.__code__
        lines_before = "\n" * (code.co_firstlineno - 1)
        exec(compile(lines_before + source, code.co_filename, "exec"), scope)
        function = scope[name]
        function.__module__ = self.function.__module__
        function.__qualname__ = self.function.__qualname__
        return function

    def _with_fields(self, compiled: Callable[..., Any]) -> Callable[..., Any]:
        """A function that takes the tuples and calls the compiled one with their fields."""
        tuples, signature = self._tuples, self.signature

        def call(*arguments: Any) -> Any:
            fields: list[Any] = []
            for i, argument in enumerate(arguments):
                if i not in tuples:
                    fields.append(argument)
                elif isinstance(argument, tuple) and isinstance(argument, tuples[i]):
                    fields += argument
                else:
                    raise TypeError(
                        f"{self.name} takes a {tuples[i].__name__} as parameter {i + 1} of "
                        f"{len(signature)}, got {type(argument).__name__}"
                    )
            return compiled(*fields)

        return call


def kernel(*signature: Entry) -> Callable[[Callable[..., Any]], Kernel]:
    """Declare a kernel: ``@kernel("f8[:,:]", Tree, "out f8[:]")``. See `Kernel`."""

    def declare(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, signature)

    return declare


class Subkernel:
    """A function that kernels call, for numba as if it were its own; made by `subkernel`.

    Numba is imported when the first kernel is compiled, since importing it takes long.

    Parameters
    ----------
    function : callable
    options : dict
        Of ``numba.njit``.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        functools.update_wrapper(self, function)
        self.function, self.options = function, options

    @functools.cached_property
    def dispatcher(self) -> Any:
        """The function as numba calls it."""
        import numba

        return numba.njit(nogil=True, error_model="numpy", **self.options)(self.function)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


def subkernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels call; it takes its types from the calling kernel."""
    return function if jit_is_off() else Subkernel(function, {})


def lean_subkernel(
    function: Callable[..., Any], fused: bool = False, reordered: bool = False
) -> Callable[..., Any]:
    """A subkernel that makes no arrays (views aside), compiled without counting references to them.

    For functions that are called for every node or bin: there the counting costs as much as the
    work. `fused`: a product may be added without being rounded first, which is faster and no less
    exact, but breaks ties and cancellations that equal rounding would keep. `reordered`: sums may
    also be added in another order, so that they are vectorized; the same order in every call.
    """
    if jit_is_off():
        return function
    options: dict[str, Any] = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    if fused or reordered:
        options["fastmath"] = {"contract", "reassoc"} if reordered else {"contract"}
    return Subkernel(function, options)


def jit_is_off() -> bool:
    """Whether ``NUMBA_DISABLE_JIT=1`` asks for plain Python (to debug and to measure coverage)."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def warm(processes: int = 1) -> Iterator[str]:
    """Compile every kernel declared so far, yielding the name of each when it is ready.

    Several processes share what the cache does not hold (the compiler keeps the interpreter's
    lock, so threads would gain nothing). Kernels of one function, for rows of either precision,
    stand in one file of the cache and stay together.
    """
    kernel_cache.announce_nothing()
    groups: dict[Callable[..., Any], list[str]] = defaultdict(list)
    for name, each in KERNELS.items():
        groups[each.function].append(name)
    missing = {f: names for f, names in groups.items() if not KERNELS[names[0]].is_cached()}
    if processes == 1 or len(missing) < WORTH_PROCESSES:
        missing = {}
    else:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor, as_completed

        # new processes, since forked ones would inherit locks of threads
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(processes, len(missing)), mp_context=context) as pool:
            runs = [pool.submit(_compile, f.__module__, names) for f, names in missing.items()]
            for run in as_completed(runs):
                yield from run.result()
    for function, names in groups.items():
        if function not in missing:
            yield from _compile(function.__module__, names)


def _compile(module: str, names: list[str]) -> list[str]:
    """Compile kernels of a module, in a process that may not have imported it yet."""
    kernel_cache.announce_nothing()
    importlib.import_module(module)
    for name in names:
        KERNELS[name]._compiled = KERNELS[name].compile()
    return names


def _in_c_order(entry: Entry, argument: Any) -> Any:
    """An argument whose input arrays are C-contiguous; arrays that a kernel writes to stay."""
    if isinstance(entry, type):
        if not (isinstance(argument, tuple) and isinstance(argument, entry)):
            return argument
        fields = [_in_c_order(*pair) for pair in zip(_entries(entry), argument)]
        same = all(new is old for new, old in zip(fields, argument))
        return argument if same else entry(*fields)
    if entry.startswith("out ") or not isinstance(argument, np.ndarray):
        return argument
    return argument if argument.flags.c_contiguous else np.ascontiguousarray(argument)


def _kernel_by_name(name: str) -> Kernel:
    return KERNELS[name]


def _of_precision(entry: Entry, precision: str) -> Entry:
    """An entry of rows of either precision as one of this precision; others as they are."""
    return entry.replace("f8|f4", precision) if isinstance(entry, str) else entry


@functools.cache
def _entries(entry: Any) -> tuple[str, ...]:
    """The type strings of an entry: itself, or one per field of a named tuple."""
    if isinstance(entry, str):
        return (entry,)
    hints = get_type_hints(entry, include_extras=True)
    undeclared = [name for name in entry._fields if get_origin(hints.get(name)) is not Annotated]
    if undeclared:
        raise TypeError(
            f"{entry.__name__} is a parameter of a kernel, so each field needs a type such as "
            f'Annotated[np.ndarray, "f8[:]"]; {", ".join(undeclared)} has none'
        )
    return tuple(get_args(hints[name])[1] for name in entry._fields)


def _numba_type(entry: str) -> Any:
    from numba import types

    sigutils: Any = importlib.import_module("numba.core.sigutils")
    written = entry.startswith("out ")
    declared = sigutils._parse_signature_string(entry.removeprefix("out "))
    if isinstance(declared, types.Array):
        return types.Array(declared.dtype, declared.ndim, "C", readonly=not written)
    return declared
