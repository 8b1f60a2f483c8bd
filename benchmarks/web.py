"""The workbench in a browser, timed: ``python -m benchmarks.web [part ...]`` writes WEB.md.

Pages are loaded in a real Chromium; a time is that from the request until the page is loaded.
Parts: ``cold`` (a new browser for every page), ``wide`` (a table of 200 columns), ``scroll`` (10^7
rows of a CSV file, moved to at random), ``fit`` (pages while a fit uses all cores, and its
cancellation). With parts named, the lines of the others are kept. ``--folder PLACE`` keeps the
table of ``scroll``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.request import HTTPCookieProcessor, build_opener

import numpy as np
import pyarrow as pa
import pyarrow.csv

from gnomon.table import Table, example
from gnomon.workbench.web.server import prepare
from gnomon.workbench.web.session import NICENESS, Session
from tests.jobs.web import Served, browsed, served

RESULTS = Path(__file__).parent / "WEB.md"
PAGES = ("/", "/table", "/views", "/jobs/learn", "/runs", "/replay", "/help")
DURING_A_FIT = ("/", "/table", "/jobs/learn")
ROWS = 10_000_000
MOVES = 60  # places that are scrolled to; the third slowest is the 95th percentile
ROUNDS = 12  # of the pages during a fit
WARM_UP = 8.0  # seconds until a fit uses all cores


class Line(NamedTuple):
    """One figure: what was timed, the bar in seconds, the seconds, and more in words."""

    part: str
    what: str
    bar: float
    seconds: float
    more: str = ""

    def __str__(self) -> str:
        verdict = "holds" if self.seconds <= self.bar else "does not hold"
        return (
            f"| {self.part} | {self.what} | {self.seconds:.3f} s | {self.bar:g} s | {verdict} | "
            f"{self.more} |"
        )


def done(session: Session, name: str | None, seconds: float = 900) -> None:
    """Wait until a task has ended well."""
    end = time.monotonic() + seconds
    while name and ((state := session.state(name)) is None or state.status == "running"):
        if time.monotonic() > end:
            raise TimeoutError(f"{name} takes too long")
        time.sleep(0.2)
    if name and state.status != "finished":
        raise RuntimeError(f"{name} {state.status}: {state.error}")


def cold(folder: Path) -> list[Line]:
    """Pages in a browser that knows none of them, from a server that has just started."""
    found = []
    with served(folder) as server:
        prepare(server.bench)  # as the server does two seconds after its start
        server.bench.session.open("example:customers")
        for place in PAGES:
            with browsed(server) as page:
                begin = time.monotonic()
                page.go(server.root + place)
                took = time.monotonic() - begin
                page.wait_for("[...document.querySelectorAll('.plot')].every(p => p.dataset.drawn)")
                drawn = time.monotonic() - begin
                if page.errors or page.requests:
                    raise RuntimeError(f"{place}: {page.errors}, foreign: {page.requests}")
                found.append(Line("cold", f"cold page `{place}`", 1.0, took, "no foreign request"))
                if place == "/views":
                    found.append(Line("cold", "its four figures", 1.5, drawn, "from the request"))
    return found


def wide_table() -> Table:
    """2,000 rows of 120 columns of numbers, 40 of whole numbers and 40 of groups."""
    rng = np.random.default_rng(0)
    numbers = {f"x{k}": rng.normal(size=2000) for k in range(120)}
    whole = {f"k{k}": rng.integers(0, 50, 2000) for k in range(40)}
    groups = {f"g{k}": rng.choice(list("abcdef"), 2000) for k in range(40)}
    return Table.from_dict(numbers | whole | groups)


def wide(folder: Path) -> list[Line]:
    """The page of a table of 200 columns: processor time of the server, and time in a browser."""
    wide_table().save(folder / "wide.csv")
    with served(folder) as server:
        prepare(server.bench)
        done(server.bench.session, server.bench.session.open(str(folder / "wide.csv")))
        client = build_opener(HTTPCookieProcessor())
        client.open(f"{server.root}/help?token={server.link.split('token=')[1]}").read()
        begin = time.process_time()  # of the server's thread and those of DuckDB, here
        shown = client.open(f"{server.root}/table").read().decode()
        took = time.process_time() - begin
        columns = shown.count("data-column=")
        for kept in (folder / "session" / "tables").glob("*.headers.json"):
            kept.unlink()  # so that the browser's page is the first one too
        with browsed(server) as page:
            begin = time.monotonic()
            page.go(f"{server.root}/table")
            loaded = time.monotonic() - begin
    about = f"{columns} columns"
    return [
        Line("wide", "`/table` of 200 columns, processor time of the server", 1.0, took, about),
        Line("wide", "`/table` of 200 columns, cold page", 1.0, loaded, about),
    ]


def opened_once(server: Served, folder: Path, n_rows: int = ROWS) -> None:
    """Open a CSV file of that many rows; nothing where the session has it already."""
    if server.bench.session.table is not None:
        return
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=n_rows).round(4), "k": rng.integers(0, 1000, n_rows)}
    pa.csv.write_csv(pa.table({"row": np.arange(n_rows), **columns}), folder / "big.csv")
    begin = time.monotonic()
    done(server.bench.session, server.bench.session.open(str(folder / "big.csv")))
    print(f"{n_rows:,} rows are converted in {time.monotonic() - begin:.0f} s", flush=True)


def scroll(folder: Path) -> list[Line]:
    """From the wish to see a row of 10^7 until it stands in the page."""
    with served(folder) as server:
        opened_once(server, folder)
        n_rows = len(server.bench.session.require_table()[0])
        with browsed(server) as page:
            page.go(f"{server.root}/table")
            page.wait_for("document.querySelectorAll('#rows tr').length > 5")
            took = []
            for row in np.random.default_rng(1).integers(0, n_rows - 60, MOVES):
                took.append(
                    page.evaluate(
                        "new Promise(done => { const begin = performance.now(); "
                        f"gnomonTable.moveTo({row}); const look = () => "
                        f"Number(document.getElementById('rows').dataset.first) === {row} "
                        "? done(performance.now() - begin) : setTimeout(look, 1); look() })"
                    )
                )
                shown = page.evaluate("document.querySelector('#rows td').innerText")
                if shown != str(row):
                    raise RuntimeError(f"row {row} shows {shown!r}")
    late = float(np.quantile(took, 0.95)) / 1000
    more = f"median {np.median(took):.0f} ms, slowest {max(took):.0f} ms"
    return [Line("scroll", f"scrolling {n_rows:,} rows, 95th percentile", 0.15, late, more)]


def fit(folder: Path) -> list[Line]:
    """Pages while a fit uses all cores, and how soon it is cancelled."""
    with served(folder, niceness=NICENESS) as server, browsed(server) as page:
        session = server.bench.session
        session.open("example:digits")
        name = session.run_job("learn", {"target": example("digits").columns[-1], "budget": "600s"})
        time.sleep(WARM_UP)
        took = []
        for _ in range(ROUNDS):
            for place in (*DURING_A_FIT, f"/runs/{name}"):
                begin = time.monotonic()
                page.go(server.root + place)
                took.append(time.monotonic() - begin)
        state = session.state(name)
        if state is None or state.status != "running":
            raise RuntimeError(f"the fit is not running: {state}")
        begin = time.monotonic()
        page.follow("document.querySelector('#cancel').click()")
        cancelled = time.monotonic() - begin
        ended = page.evaluate("document.querySelector('#task').dataset.status")
    late = float(np.quantile(took, 0.95))
    more = f"{len(took)} pages, median {np.median(took):.3f} s, slowest {max(took):.3f} s"
    return [
        Line("fit", "pages while a fit uses all cores, 95th percentile", 0.3, late, more),
        Line("fit", "cancelling that fit", 2.0, cancelled, f"then the run is {ended}"),
    ]


PARTS: dict[str, Callable[[Path], list[Line]]] = {
    "cold": cold,
    "wide": wide,
    "scroll": scroll,
    "fit": fit,
}


def main() -> None:
    arguments = sys.argv[1:]
    folder = None
    if "--folder" in arguments:
        place = arguments.index("--folder")
        folder = Path(arguments[place + 1])
        arguments = arguments[:place] + arguments[place + 2 :]
    asked = arguments or list(PARTS)
    measured: dict[str, list[str]] = {}
    for part in asked:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as fresh:
            used = folder if folder is not None and part == "scroll" else Path(fresh)
            used.mkdir(parents=True, exist_ok=True)
            measured[part] = [str(line) for line in PARTS[part](used)]
        print(*measured[part], sep="\n", flush=True)
    known = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    kept = {part: [line for line in known if line.startswith(f"| {part} |")] for part in PARTS}
    lines = [line for part in PARTS for line in (kept | measured)[part]]
    head = (
        "# The workbench in a browser\n\n"
        "`python -m benchmarks.web` on a quiet machine, Chromium without a window; the bars are "
        "those of `tests/jobs/test_web_bars.py`.\n\n"
        "| part | what | measured | bar | verdict | more |\n|---|---|---|---|---|---|\n"
    )
    RESULTS.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
