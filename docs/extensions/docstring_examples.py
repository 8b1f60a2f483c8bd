"""The examples of docstrings, run as pages are made."""

from __future__ import annotations

import doctest
import functools
import inspect
from typing import Any

from gnomon.engine.registry import Method


def examples(public: Any) -> list[doctest.Example]:
    """The examples of a docstring."""
    return doctest.DocTestParser().get_examples(inspect.getdoc(public) or "")


def run_example(public: Any, names: dict[str, Any]) -> None:
    """Run the examples of a docstring with these names."""
    for example in examples(public):
        exec(compile(example.source, public.__name__, "exec"), names)


def used_in_example(method: Method) -> tuple[Any, tuple[Any, ...]]:
    """The object of a method that its docstring's example works with, and what it is given.

    What is given are the arguments of the first call of `fit`, `fit_transform` or `transform`;
    nothing where the example calls none of them.
    """
    cls = method.cls
    calls: list[tuple[Any, tuple[Any, ...]]] = []

    def recorded(function: Any) -> Any:
        @functools.wraps(function)
        def call(self: Any, *arguments: Any, **options: Any) -> Any:
            calls.append((self, arguments))
            return function(self, *arguments, **options)

        return call

    # what a class inherits is put back by deleting the recorder
    own = {name: vars(cls).get(name) for name in ("fit", "fit_transform", "transform")}
    names: dict[str, Any] = {}
    for name in own:
        if hasattr(cls, name):
            setattr(cls, name, recorded(getattr(cls, name)))
    try:
        run_example(cls, names)
    finally:
        for name, function in own.items():
            if function is not None:
                setattr(cls, name, function)
            elif name in vars(cls):
                delattr(cls, name)
    made = [each for each in names.values() if isinstance(each, cls)]
    model = made[-1] if made else calls[-1][0]
    given = [arguments for used, arguments in calls if used is model]
    return model, given[0] if given else ()
