"""The progress of a job in a notebook: a bar below the cell, which goes away when the job ends."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gnomon.engine.notebook import framed

PAUSE = 0.2  # seconds between two looks of the bar


def is_notebook() -> bool:
    """Whether a notebook's kernel runs this process."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return getattr(shell, "kernel", None) is not None


def bar_html(step: str, done: int, total: int) -> str:
    """The look of the bar; without a total it only moves."""
    share = f' value="{done}" max="{total}"' if total else ""
    count = f" {done} / {total}" if total else ""
    label = html.escape(step)
    return framed(f'<p><progress aria-label="{label}"{share}></progress>{count} {label}</p>')


@contextmanager
def notebook_bar() -> Iterator[Callable[[str, int, int], None]]:
    """A function ``tell(step, done, total)`` that drives a bar in the output of a cell."""
    from IPython.display import HTML, display

    place: Any = display(HTML(""), display_id=True)
    shown = ("", 0.0)  # the step and when it was last drawn

    def tell(step: str, done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if step != shown[0] or now - shown[1] > PAUSE:
            shown = (step, now)
            place.update(HTML(bar_html(step, done, total)))

    try:
        yield tell
    finally:
        place.update(HTML(""))
