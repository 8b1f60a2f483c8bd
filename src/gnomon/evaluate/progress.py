"""Progress of long runs: a bar in the terminal, or whatever the caller makes of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

Progress = bool | Callable[[int, int], None] | None
Tell = Callable[[int, int], None]


@contextlib.contextmanager
def told(progress: Progress, what: str) -> Iterator[Tell]:
    """A function ``tell(done, total)`` that shows a bar, calls the caller's function, or nothing.

    Parameters
    ----------
    progress : bool, callable or None
        True for a bar; a function is called with the numbers done and in all.
    what : str
        Stands before the bar.
    """
    if progress is not True:
        yield progress or (lambda done, total: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
