"""What commands share: consoles, progress bars, printing of tables and of JSON."""

from __future__ import annotations

import json
import math
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.table import Table as RichTable

from gnomon.engine.config import settings
from gnomon.workbench.base.job import INTERIM

if TYPE_CHECKING:
    from gnomon.distributed import WorkerState

LOOK_EVERY = 2.0  # seconds; judgement: soon enough for a person, too seldom to cost anything
LONG_WORD = 10  # judgement: longer words may be broken, so that columns stay narrow
GAP = 2  # letters between two columns
_stop_asked = threading.Event()
console = Console()
complaints = Console(stderr=True)


class _Bars(Progress):
    """Bars of progress and, where a cluster computes, a table of what its workers do."""

    _workers: RichTable | None = None
    _looked_at = -math.inf

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        cluster = settings().executor
        if not hasattr(cluster, "workers"):
            return
        if time.monotonic() - self._looked_at > LOOK_EVERY:
            self._looked_at = time.monotonic()
            # a scheduler that is gone or slow to answer ends the job, not its display
            with suppress(Exception):
                self._workers = workers_table(cluster.workers())
        if self._workers is not None:
            yield self._workers


def workers_table(states: Sequence[WorkerState]) -> RichTable:
    """A line for each worker of a cluster: memory, tasks, results that it holds."""
    from gnomon.engine.memory import readable

    worker = Column("worker", overflow="fold")  # an address that is cut cannot be looked up
    table = RichTable(worker, "threads", "memory", "limit", "tasks", "held", "processor")
    for state in states:
        table.add_row(
            state.address,
            str(state.threads),
            readable(state.memory),
            readable(state.memory_limit) if state.memory_limit else "none",
            str(state.running),
            str(state.held),
            f"{state.processor:.0f}%",
        )
    return table


def progress_bar() -> Progress:
    """A bar with time spent and time left, on standard error so that output stays clean."""
    return _Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=complaints,
        transient=True,
    )


@contextmanager
def shown_progress(what: str) -> Iterator[Any]:
    """A function ``tell(step, done, total)`` that drives one bar."""
    with progress_bar() as bar:
        task = bar.add_task(what, total=None)

        def tell(step: str, done: int, total: int) -> None:
            if step.startswith(INTERIM):
                bar.console.print(f"  {step.removeprefix(INTERIM)}", markup=False, highlight=False)
                return
            bar.update(task, description=escape(step), completed=done, total=total or None)
            if _stop_asked.is_set():
                interrupt()

        yield tell


def interrupt(number: int = 0, frame: Any = None) -> None:
    """Handler of SIGTERM: as Ctrl-C, so that nothing is lost.

    Python drops an exception that is raised while it calls a destructor or a callback of a
    library, so a signal is remembered until something has been interrupted by it.
    """
    if number:
        _stop_asked.set()
    else:
        _stop_asked.clear()
    raise KeyboardInterrupt


def say(text: str) -> None:
    """A line on standard output, as it is."""
    console.print(escape(text), highlight=False)


def print_json(content: Any) -> None:
    """Plain data on standard output, for scripts."""
    from gnomon.workbench.base.plain_data import as_json

    sys.stdout.write(json.dumps(as_json(content), indent=1, ensure_ascii=False) + "\n")


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", caption: str = ""
) -> None:
    """A table on standard output; numbers stand to the right, and the first column is not broken.

    Names stand first: they can be copied whole from a terminal of any width.
    """
    shown = RichTable(
        title=escape(title) or None,
        caption=escape(caption) or None,
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    columns = [[row[place] for row in rows] for place in range(len(headings))]
    widths = column_widths(headings, columns, console.width)
    for place, (heading, cells) in enumerate(zip(headings, columns)):
        numeric = rows and all(_is_number(cell) for cell in cells)
        shown.add_column(
            escape(heading),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=place == 0,
            min_width=_longest_word([heading, *cells]),
            width=None if widths is None else widths[place],
        )
    for row in rows:
        shown.add_row(*(escape(str(cell)) for cell in row))
    console.print(shown)


def column_widths(
    headings: Sequence[str], columns: Sequence[Sequence[Any]], terminal: int
) -> list[int] | None:
    """Letters of each column of a table that is wider than the terminal; None where rich decides.

    Words stay whole, then numbers and intervals, then all else, from the first column on.
    """
    natural = [max(len(str(each)) for each in (h, *cells)) for h, cells in zip(headings, columns)]
    left = terminal - GAP * len(natural) - 1
    if sum(natural) <= left or not natural:
        return None
    words = [_longest_word([h, *cells]) for h, cells in zip(headings, columns)]
    widths = natural[:1] + words[1:]
    left -= sum(widths)
    if left < 0:
        return None
    for wanted in ([_longest_number(cells) for cells in columns], natural):
        for place, width in enumerate(wanted):
            more = min(max(width - widths[place], 0), left)
            if wanted is natural or more == width - widths[place]:
                widths[place], left = widths[place] + more, left - more
    return widths


def _longest_word(cells: Sequence[Any]) -> int:
    """Letters of the longest word that is to stay in one piece."""
    words = [len(word) for cell in cells for word in str(cell).split()]
    return max((length for length in words if length <= LONG_WORD), default=1)


def _longest_number(cells: Sequence[Any]) -> int:
    """Letters of the longest number or interval, which rather stays in one line."""
    return max((len(str(cell)) for cell in cells if _is_number(cell)), default=1)


def _is_number(cell: Any) -> bool:
    text = str(cell).split(" ")[0].replace(",", "").lstrip("<")
    try:
        float(text or "0")
    except ValueError:
        return False
    return True
