"""The workbench in a browser, served for tests: by a thread of this process."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from gnomon.workbench.web.app import Workbench
from gnomon.workbench.web.server import bound, guarded, link_of
from gnomon.workbench.web.session import Session
from tests.jobs.browser import PROGRAM, Page, opened

NO_BROWSER = (
    "There is no Chromium on this machine, and the workbench must be tried in a real browser: "
    "install it (`make browser`, on Debian `apt-get install chromium`)"
)


@dataclass
class Served:
    """A server at work.

    Attributes
    ----------
    root : str
        Its address, without the last slash.
    link : str
        With the token.
    bench : Workbench
    """

    root: str
    link: str
    bench: Workbench


@contextlib.contextmanager
def served(folder: Path, niceness: int = 0, **settings: Any) -> Iterator[Served]:
    """A workbench whose session and runs are below a folder; its tasks do not wait for others."""
    bench = Workbench(Session(folder / "session", folder / "runs", niceness), **settings)
    held = bound("127.0.0.1", 0)
    port = held.getsockname()[1]
    config = uvicorn.Config(guarded(bench, "127.0.0.1", port), log_level="error")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([held],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    link = link_of("127.0.0.1", port, bench.session.token())
    try:
        yield Served(link.split("/?")[0], link, bench)
    finally:
        server.should_exit = True
        thread.join(10)


@contextlib.contextmanager
def browsed(server: Served, **settings: Any) -> Iterator[Page]:
    """A browser at the link of a server; a machine without one fails the test."""
    if PROGRAM is None:
        pytest.fail(NO_BROWSER)
    with opened(server.link, **settings) as page:
        yield page


def submit(page: Page, form: str, **fields: str) -> None:
    """Fill in a form and send it, and wait for the page that it leads to."""
    page.wait_for(f"document.readyState !== 'loading' && document.querySelector({form!r})")
    for name, value in fields.items():
        found = f"document.querySelector({form!r}).querySelector('[name=\"{name}\"]')"
        page.evaluate(f"{found}.value = {value!r}")
    click = "(form => form.requestSubmit(form.querySelector('[type=submit]')))"
    page.follow(f"{click}(document.querySelector({form!r}))")


def text_of(page: Page, selector: str = "main") -> str:
    """The words that a person sees in a part of the page, once that has arrived."""
    page.wait_for(f"document.readyState !== 'loading' && document.querySelector({selector!r})")
    return str(page.evaluate(f"document.querySelector({selector!r}).innerText"))


def ended(page: Page, seconds: float = 300) -> None:
    """Wait until the run of the page has ended well."""
    there = "document.readyState === 'complete' && document.querySelector('.state:not(.running)')"
    page.wait_for(there, seconds)
    assert "finished" in text_of(page, ".state"), text_of(page)
