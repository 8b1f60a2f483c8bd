"""Warnings of many folds or fits are shown once."""

from __future__ import annotations

import contextlib
import re
import threading
import warnings
from collections.abc import Iterator
from typing import Any, TextIO

from gnomon.engine.errors import GnomonWarning
from gnomon.table.notes import level_of_caller

ONCE_PER_PLACE = ("default", "module", "once")
_listening = threading.Lock()
_here = threading.local()


@contextlib.contextmanager
def in_fold(number: int) -> Iterator[None]:
    """Warnings of this thread belong to a fold; inside another fold they stay that one's."""
    outer = getattr(_here, "fold", None)
    _here.fold = number if outer is None else outer
    try:
        yield
    finally:
        _here.fold = outer


@contextlib.contextmanager
def said_once(n_folds: int) -> Iterator[None]:
    """Gather the warnings of folds, and say each of them once at the end.

    Warnings that differ in their numbers only are the same. Filters hold as ever: what is ignored
    is not counted, and what is an error is raised in its fold. Only the outermost call gathers:
    the handlers of warnings are the interpreter's, not a thread's.

    Parameters
    ----------
    n_folds : int
        Numbers from here on are fits for the interval, not folds.
    """
    if not _listening.acquire(blocking=False):
        yield
        return
    heard: dict[tuple[type[Warning], str], dict[int, str]] = {}
    try:
        with warnings.catch_warnings():
            _count_all()
            pass_on = warnings.showwarning

            def hear(
                message: Warning | str,
                category: type[Warning],
                filename: str,
                lineno: int,
                file: TextIO | None = None,
                line: str | None = None,
            ) -> None:
                fold = getattr(_here, "fold", None)
                if fold is None:
                    pass_on(message, category, filename, lineno, file, line)
                    return
                heard.setdefault((category, _without_numbers(message)), {}).setdefault(
                    fold, str(message)
                )

            warnings.showwarning = hear
            yield
    finally:
        _listening.release()
        for (category, _), texts in heard.items():
            _say(category, texts, n_folds)


@contextlib.contextmanager
def never_repeated() -> Iterator[None]:
    """Of warnings that differ in their numbers only, say the first."""
    said: set[tuple[type[Warning], str]] = set()
    with warnings.catch_warnings():
        pass_on = warnings.showwarning

        def say_new(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            what = (category, _without_numbers(message))
            if what not in said:
                said.add(what)
                pass_on(message, category, filename, lineno, file, line)

        warnings.showwarning = say_new
        yield


def _without_numbers(message: Warning | str) -> str:
    return re.sub(r"\d[\d.e+-]*", "#", str(message))


def _count_all() -> None:
    """Let through what filters would show once per place: folds are counted here."""
    filters: Any = warnings.filters  # a list, which the stub calls a Sequence
    filters[:] = [
        ("always" if action in ONCE_PER_PLACE else action, *rest) for action, *rest in filters
    ]
    warnings.simplefilter("always", append=True)


def _say(category: type[Warning], texts: dict[int, str], n_folds: int) -> None:
    own = sum(fold < n_folds for fold in texts)
    where = (
        f"in {own} of {n_folds} folds"
        if own
        else (f"in {len(texts)} fit{'s' if len(texts) > 1 else ''} for the interval")
    )
    text = texts[min(texts)]
    try:
        warning = category(f"{text} ({where})")
    except TypeError:
        # some categories are made of more than a text
        warning = GnomonWarning(f"{category.__name__}: {text} ({where})")
    warnings.warn(warning, stacklevel=level_of_caller())
