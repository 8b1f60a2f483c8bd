"""A headless Chromium, driven over its DevTools pipe with the standard library alone.

`opened(path)` opens a file as a reader would; the page then says which script errors it had, what
it asked the network for, and which figures were drawn.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import selectors
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
needs_browser = pytest.mark.skipif(
    PROGRAM is None or os.name == "nt", reason="no Chromium on this machine"
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# Chromium reads commands from descriptor 3 and answers on descriptor 4.
ON_THREE_AND_FOUR = (
    "import os, sys; os.dup2(int(sys.argv[1]), 13); os.dup2(int(sys.argv[2]), 14); "
    "os.dup2(13, 3); os.dup2(14, 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class Page:
    """A page of a running browser, and what happened on it.

    Attributes
    ----------
    errors : list of str
        Script errors, refused loads and whatever the page said on the console as an error.
    requests : list of str
        Addresses that the page asked for, its own file or server and data inside it left out.
    """

    def __init__(self, commands: int, answers: int):
        self._commands, self._answers = commands, answers
        self._waiting = b""
        self._number = 0
        self._session: str | None = None
        self._target = ""
        self._loads: list[str] = []  # documents of the page that are loaded, in order
        self._own = ("file:", "data:", "blob:", "about:")
        self.errors: list[str] = []
        self.requests: list[str] = []

    def attach(self, width: int, height: int, dark: bool) -> None:
        self._target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=self._target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Page.setLifecycleEventsEnabled", enabled=True)
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def go(self, place: Path | str) -> None:
        """Open a file or an address and wait until it is loaded."""
        address = str(place) if is_address(place) else Path(place).resolve().as_uri()
        if is_address(place):
            self._own = (*self._own, "/".join(address.split("/")[:3]) + "/")
        document = self.send("Page.navigate", url=address).get("loaderId")
        self._until(lambda: document in (None, *self._loads), f"{place} to load")

    def follow(self, script: str) -> None:
        """Do something that leads to another page, and wait until that is loaded."""
        shown = self.send("Page.getFrameTree")["frameTree"]["frame"]["loaderId"]
        known = {shown, *self._loads}  # the page that is shown may still be loading
        self.evaluate(f"void ({script})")
        self._until(lambda: self._loads[-1] not in known, f"{script} to lead to a page")

    def press(self, key: str, **more: Any) -> None:
        """Press a key, as a person does."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, **more)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression, awaited where it is a promise."""
        found = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait_for(self, condition: str, seconds: float = 30) -> None:
        """Wait until a JavaScript condition holds."""
        end = time.monotonic() + seconds
        while not self._holds(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"{condition} does not hold; errors: {self.errors}")
            time.sleep(0.05)

    def _holds(self, condition: str) -> bool:
        """Whether a condition holds; not while the page makes way for the next one."""
        try:
            return self.evaluate(f"Boolean({condition})")
        except RuntimeError as error:
            if "navigated or closed" in str(error):
                return False
            raise

    def scroll_through(self) -> None:
        """Show every figure in turn, as a reader who scrolls down, until all are drawn."""
        count = self.evaluate("document.querySelectorAll('.figure').length")
        for k in range(count):
            place = f"document.querySelectorAll('.figure')[{k}]"
            self.evaluate(f"{place}.scrollIntoView({{behavior: 'instant'}})")
            self.wait_for(f"{place}.dataset.figure === 'drawn'")

    def figures(self) -> list[dict[str, Any]]:
        """Of every figure: whether it is drawn, and its size in pixels."""
        return self.evaluate(
            "[...document.querySelectorAll('.figure')].map(f => ({drawn: f.dataset.figure === "
            "'drawn' && f.querySelector('.main-svg, canvas') !== null, "
            "width: f.querySelector('.plot-container')?.clientWidth ?? 0, "
            "height: f.clientHeight, spoken: f.ariaLabel}))"
        )

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Write what is seen, or the whole page, to a PNG file."""
        found = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def pdf(self, path: Path) -> None:
        """Print to a PDF file."""
        found = self.send("Page.printToPDF", printBackground=False, preferCSSPageSize=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and give its answer."""
        self._number += 1
        number, message = self._number, {"id": self._number, "method": method, "params": parameters}
        if self._session is not None and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer: dict[str, Any] = {}

        def answered() -> bool:
            return answer.get("id") == number

        self._until(answered, method, answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _until(self, done, what: str, keep: dict | None = None, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._answers, selectors.EVENT_READ)
            while not done():
                if not selector.select(max(end - time.monotonic(), 0)):
                    raise TimeoutError(f"waited {seconds:.0f} s for {what}")
                arrived = os.read(self._answers, 1 << 20)
                if not arrived:
                    raise ConnectionError(f"the browser ended while waiting for {what}")
                *whole, self._waiting = (self._waiting + arrived).split(b"\0")
                for message in map(json.loads, whole):
                    if "id" in message and keep is not None:
                        keep.update(message)
                    self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, facts = message.get("method"), message.get("params", {})
        if method == "Page.lifecycleEvent":
            if facts["name"] == "load" and facts["frameId"] == self._target:
                self._loads.append(facts["loaderId"])
        elif method == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            said = details.get("exception", {}).get("description", details["text"])
            self.errors.append(said)
        elif method == "Runtime.consoleAPICalled" and facts["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(a.get("value", a)) for a in facts["args"]))
        elif method == "Log.entryAdded" and facts["entry"]["level"] == "error":
            self.errors.append(facts["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            address = facts["request"]["url"]
            if not address.startswith(self._own):
                self.requests.append(address)


def is_address(place: Path | str) -> bool:
    """Whether a place is that of a server."""
    return str(place).startswith("http://")


@contextlib.contextmanager
def opened(
    path: str | Path, *, width: int = 1280, height: int = 900, dark: bool = False
) -> Iterator[Page]:
    """A file or an address in a headless browser, which ends with the block."""
    import tempfile

    if PROGRAM is None:
        pytest.skip("no Chromium on this machine")
    command_end, commands = os.pipe()
    answers, answer_end = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        arguments = [PROGRAM, *FLAGS, f"--user-data-dir={profile}"]
        ends = (command_end, answer_end)
        browser = subprocess.Popen(
            [sys.executable, "-c", ON_THREE_AND_FOUR, *map(str, ends), *arguments],
            pass_fds=ends,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in ends:
            os.close(end)
        page = Page(commands, answers)
        try:
            page.attach(width, height, dark)
            page.go(path)
            yield page
        finally:
            with contextlib.suppress(OSError, RuntimeError, TimeoutError):
                page.send("Browser.close")
            try:
                browser.wait(10)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
            os.close(commands)
            os.close(answers)


def require_sound(page: Page) -> None:
    """Fail unless the page has no errors, asked for nothing outside, and drew every figure."""
    page.scroll_through()
    assert page.errors == []
    assert page.requests == []
    blank = [figure for figure in page.figures() if not figure["drawn"] or figure["height"] < 50]
    assert blank == []
