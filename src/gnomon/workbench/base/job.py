"""What a job is: a name, a class of options and a function, found by one convention.

The job ``learn`` lives in the folder ``gnomon/workbench/learn``: ``options.py`` declares its
options and its `Job`, ``job.py`` has the function, ``result.py`` what it gives back,
``report.py`` its pictures and its report, ``command.py`` what the command line shows.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import typing
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.workbench.base.notebook_bar import is_notebook, notebook_bar
from gnomon.workbench.base.options import REQUIRED, Options

Progress = Callable[[str, int, int], None]
Result = typing.TypeVar("Result")

SUBJECTS = {
    "table": 'table : Table, data frame, array of shape (n, d), path of a file, or "example:NAME"',
    "picture": "picture : path or array-like of shape (height, width)",
    "pictures": "pictures : path of a folder of pictures, or of one picture",
    "function": 'function : callable, or "FILE.py:NAME"',
}
COMMON = """\
source : str, default=None
    Where a table that is given in memory can be read again, for the record.
folder : path, default=None
    Run folder: the record and all results are written there.
progress : callable, default=None
    Called as ``progress(step, done, total)``. None: a bar in a notebook, and nothing elsewhere."""


# a step that begins so is a result that is kept on the screen, such as a score
INTERIM = "found: "


def quiet(step: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


def progress_or_bar(given: Progress | None) -> AbstractContextManager[Progress]:
    """The progress that is given; without one a bar in a notebook, and nothing elsewhere."""
    if given is not None:
        return nullcontext(given)
    return notebook_bar() if is_notebook() else nullcontext(quiet)


@dataclass(frozen=True)
class Request:
    """What a job is given beside its options.

    Attributes
    ----------
    source : str or None
        Where what is given can be read again.
    folder : path or None
        The run folder.
    progress : callable
        Called as ``progress(step, done, total)``.
    """

    source: str | None = None
    folder: str | os.PathLike[str] | None = None
    progress: Progress = quiet


@dataclass(frozen=True)
class Job:
    """A job as it is declared.

    Attributes
    ----------
    name : str
        Name of the job, its function, its command and its folder.
    options : type
        The class that declares the options.
    subject : {"table", "picture", "pictures", "function"}
        What the job is given first.
    always_written : bool
        Whether the command line writes a run folder without being asked to.
    positional : tuple of str
        Options that may be given by position in Python, after the subject.
    python : str
        The name of its function where a package of `gnomon` has the name of the job.
    """

    name: str
    options: type[Options]
    subject: str = "table"
    always_written: bool = True
    positional: tuple[str, ...] = ()
    python: str = ""

    @property
    def call(self) -> str:
        """The name of the public function in `gnomon`."""
        return self.python or self.name

    @property
    def function(self) -> Callable[..., Any]:
        """The public function."""
        module = importlib.import_module(f"gnomon.workbench.{self.name}.job")
        found: Callable[..., Any] = getattr(module, self.call)
        return found

    def public(self, work: Callable[[Any, Any, Request], Result]) -> Callable[..., Result]:
        """The public function of a job, its signature and documentation made from the options.

        Parameters
        ----------
        work : callable
            Called as ``work(subject, options, request)``.

        Returns
        -------
        function : callable
        """
        signature = self.signature(inspect.signature(work, eval_str=False).return_annotation)

        @functools.wraps(work)
        def called(*args: Any, **given: Any) -> Result:
            try:
                values = dict(signature.bind(*args, **given).arguments)
            except TypeError as error:
                raise TypeError(f"{self.call}(): {error}") from None
            subject = values.pop(self.subject)
            with progress_or_bar(values.pop("progress", None)) as progress:
                request = Request(values.pop("source", None), values.pop("folder", None), progress)
                return work(subject, self.options(**values), request)

        called.__signature__ = signature  # type: ignore[attr-defined]
        called.__annotations__ = {}
        called.__doc__ = self.documented(work.__doc__ or "")
        return called

    def signature(self, returned: Any = inspect.Signature.empty) -> inspect.Signature:
        """The signature of the public function."""
        either, named = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        hints = typing.get_type_hints(self.options)
        found = [inspect.Parameter(self.subject, either, annotation=Any)]
        for each in self.options.declared():
            default = inspect.Parameter.empty if each.default is REQUIRED else each.default
            kind = either if each.name in self.positional else named
            found.append(
                inspect.Parameter(each.name, kind, default=default, annotation=hints[each.name])
            )
        found += [inspect.Parameter(name, named, default=None) for name in COMMON_NAMES]
        found.sort(key=lambda each: each.kind)
        return inspect.Signature(found, return_annotation=returned)

    def documented(self, text: str) -> str:
        """A docstring with the parameters put before what is returned."""
        head, mark, tail = inspect.cleandoc(text).partition("Returns\n-------")
        parts = [SUBJECTS[self.subject]]
        parts += [each.documentation() for each in self.options.declared()]
        body = "\n".join([*parts, COMMON])
        return f"{head}Parameters\n----------\n{body}\n\n{mark}{tail}"

    def repeated(self, subject: Any, settings: dict[str, Any], **rest: Any) -> Any:
        """The job once more, with the options of a record."""
        known = {each.name for each in self.options.declared()}
        unknown = sorted(set(settings) - known)
        if unknown:
            raise DataError(
                f"the record has options that '{self.name}' of this version does not know: "
                f"{', '.join(unknown)}"
            )
        return self.function(subject, **settings, **rest)


COMMON_NAMES = ("source", "folder", "progress")
