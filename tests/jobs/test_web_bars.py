"""The bars of the workbench in a browser: large tables, busy machines, killed servers, scripts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import gnomon
from gnomon.table import Table, example
from gnomon.workbench.again.job import numbers
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.web.columns import GROUPED
from gnomon.workbench.web.server import prepare
from gnomon.workbench.web.session import NICENESS, Session
from tests.jobs.test_web_runs import results_of_script
from tests.jobs.test_web_table import open_menu
from tests.jobs.web import browsed, ended, served, submit, text_of

pytestmark = [pytest.mark.slow, pytest.mark.covers("run-report"), pytest.mark.timeout(1800)]
SERVER = """
import sys
from pathlib import Path
from gnomon.workbench.web.server import serve
from gnomon.workbench.web.session import Session
folder = Path(sys.argv[1])
session = Session(folder / "session", folder / "runs")
serve(session, "/", "127.0.0.1", 0, "", False, lambda line: print(line, flush=True))
"""
# table, columns that stay as they are, job, and the fields of its form that are filled in
SESSIONS = [
    ("iris", ["species"], "group", {"groups": "3"}),
    ("iris", ["species"], "map", {"methods": "PCA"}),
    ("wine", ["alcohol"], "look", {}),
    ("diabetes", ["progression"], "learn", {"target": "progression", "budget": "22"}),
    ("customers", ["last_message"], "topics",
     {"text": "last_message", "n_topics": "3", "max_iter": "20"}),
    ("contact_lenses", ["lenses"], "rules", {}),
    ("iris", ["species"], "train", {"target": "species", "max_iter": "5"}),
    ("wine", ["alcohol"], "prepare", {"where": "alcohol > 12"}),
    ("breast_cancer", ["diagnosis"], "advise", {"target": "diagnosis"}),
    ("customers", ["last_message"], "search", {"query": "late invoice"}),
]  # fmt: skip


def finished(session: Session, name: str, seconds: float = 300) -> None:
    """Wait until a task has ended well."""
    end = time.monotonic() + seconds
    while (state := session.state(name)) is None or state.status == "running":
        assert time.monotonic() < end, f"{name} takes too long"
        time.sleep(0.2)
    assert state.status == "finished", state.error


def clicked(page, server, rng, kept: list[str]) -> None:
    """A step on the table or a view of it, drawn at random and done as a person does it."""
    table = server.bench.session.table
    free = [name for name in table.columns if name not in kept]
    numbers_ = [name for name in free if table.schema[name].kind.is_numeric]
    ways = ["sort", "rename", "drop", "group", *(["filter", "derive", "kind"] if numbers_ else [])]
    way, column = str(rng.choice(ways)), str(rng.choice(free))
    page.go(f"{server.root}/table")
    page.wait_for("document.querySelector('#rows tr')")
    if way == "group":
        level = next(filter(None, table.column(column).to_pylist()), 0)
        brush = {"column": column, "in": [str(level)]}
        if table.schema[column].kind.is_numeric:
            brush = {"column": column, "low": float(level), "high": float(level) + 1}
        elif table.schema[column].kind not in GROUPED:
            return
        page.go(f"{server.root}/views")
        sent = f"new URLSearchParams({{brush: {json.dumps(json.dumps([brush]))}}})"
        page.evaluate(
            f"fetch('/views/brush', {{method: 'POST', body: {sent}}}).then(r => r.text())"
        )
        page.go(f"{server.root}/views")
        page.wait_for("!document.getElementById('brush').hidden")
        submit(page, "form:has(button[value=group])", name=f"picked {len(free)}")
    elif way in ("filter", "derive"):
        name = str(rng.choice(numbers_))
        if way == "filter":
            values = np.array(table.column(name).to_pylist(), dtype=float)
            submit(page, "form:has(#where)", where=f'"{name}" >= {np.nanquantile(values, 0.2)}')
        else:
            made = {"name": f"made {len(free)}", "expression": f'"{name}" * 2 + 1'}
            submit(page, "form:has([name=expression])", **made)
    else:
        column = str(rng.choice(numbers_)) if way == "kind" else column
        open_menu(page, column)
        menu = f"th[data-column={json.dumps(column)}] form"
        more = {"kind": {"kind": "category"}, "rename": {"name": f"{column} again"}}.get(way, {})
        submit(page, f"{menu}:has([value={way}])", **more)


@pytest.mark.parametrize("number", range(len(SESSIONS)))
def test_an_exported_script_gives_the_same_bits(tmp_path, rng, number):
    table, kept, job, fields = SESSIONS[number]
    with served(tmp_path) as server, browsed(server, width=1600) as page:
        session = server.bench.session
        page.go(f"{server.root}/")
        page.follow(
            f"document.querySelector(\"form:has([value='example:{table}']) button\").click()"
        )
        for _ in range(4):
            clicked(page, server, rng, kept)
        page.follow("document.getElementById('undo').click()")
        if rng.random() < 0.5:
            page.follow("document.getElementById('redo').click()")
        page.go(f"{server.root}/jobs/{job}")
        submit(page, "#job", **fields)
        ended(page)
        name = page.evaluate("location.pathname.split('/').pop()")
        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        last = session.table
        assert page.errors == []
    recorded = numbers(read_record(tmp_path / "runs" / name)["results"])
    (found,) = results_of_script(script + "table.save('again.arrow')\n", tmp_path)
    print(f"{table}, {job}: {len(recorded)} figures; {len(session.steps)} steps")
    assert numbers(found) == recorded
    assert recorded
    assert gnomon.read(tmp_path / "again.arrow").equals(last)


def test_ten_million_rows_scroll_smoothly(tmp_path, rng):
    n = 10_000_000
    columns = {"x": rng.normal(size=n).round(4), "k": rng.integers(0, 1000, n)}
    pa.csv.write_csv(pa.table({"row": np.arange(n), **columns}), tmp_path / "big.csv")
    with served(tmp_path) as server, browsed(server) as page:
        task = server.bench.session.open(str(tmp_path / "big.csv"))
        finished(server.bench.session, task, 900)
        page.go(f"{server.root}/table")
        page.wait_for("document.querySelectorAll('#rows tr').length > 5")
        took = []
        for row in rng.integers(0, n - 60, 60):
            took.append(
                page.evaluate(
                    "new Promise(done => { const begin = performance.now(); "
                    f"gnomonTable.moveTo({row}); const look = () => "
                    f"Number(document.getElementById('rows').dataset.first) === {row} "
                    "? done(performance.now() - begin) : setTimeout(look, 1); look() })"
                )
            )
            shown = page.evaluate("document.querySelector('#rows td').innerText")
            assert shown == str(row), "every row is there"
        print(f"p95 {np.quantile(took, 0.95):.0f} ms, {load()}")
        assert np.quantile(took, 0.95) < 150 * busy()


def test_pages_stay_quick_while_a_fit_uses_all_cores(tmp_path):
    with served(tmp_path, niceness=NICENESS) as server, browsed(server) as page:
        session = server.bench.session
        session.open("example:digits")
        name = session.run_job("learn", {"target": example("digits").columns[-1], "budget": "600s"})
        time.sleep(8)
        took = []
        for _ in range(12):
            for place in ("/", "/table", "/jobs/learn", f"/runs/{name}"):
                begin = time.monotonic()
                page.go(server.root + place)
                took.append(time.monotonic() - begin)
        assert session.state(name).status == "running", session.state(name).error
        begin = time.monotonic()
        page.follow("document.querySelector('#cancel').click()")
        cancelled = time.monotonic() - begin
        assert page.evaluate("document.querySelector('#task').dataset.status") == "stopped"
        print(f"p95 {np.quantile(took, 0.95):.2f} s, cancelled in {cancelled:.1f} s, {load()}")
        assert np.quantile(took, 0.95) < 0.3 * busy()
        assert cancelled < 2 * busy()


def busy() -> float:
    """Processes per core: times of a busy machine are that much longer."""
    return max(os.getloadavg()[0] / (os.cpu_count() or 1), 1)


def load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"


def test_a_cold_page_comes_within_a_second_and_asks_nobody_else(tmp_path):
    with served(tmp_path) as server:
        prepare(server.bench)  # as the server does two seconds after its start
        server.bench.session.open("example:customers")
        for place in ("/", "/table", "/views", "/jobs/learn", "/runs", "/replay", "/help"):
            with browsed(server) as page:  # a new browser each time: nothing is cached
                begin = time.monotonic()
                page.go(server.root + place)
                took = time.monotonic() - begin
                print(f"{place} {took:.2f} s, {load()}")
                assert took < 1 * busy()
                page.wait_for("[...document.querySelectorAll('.plot')].every(p => p.dataset.drawn)")
                print(f"{place} with its figures {time.monotonic() - begin:.2f} s")
                assert page.errors == []
                assert page.requests == []


def test_a_table_of_200_columns_takes_a_second_of_processor_time(tmp_path, rng):
    numbers_ = {f"x{k}": rng.normal(size=2000) for k in range(120)}
    whole = {f"k{k}": rng.integers(0, 50, 2000) for k in range(40)}
    groups = {f"g{k}": rng.choice(list("abcdef"), 2000) for k in range(40)}
    Table.from_dict(numbers_ | whole | groups).save(tmp_path / "wide.csv")
    with served(tmp_path) as server:
        task = server.bench.session.open(str(tmp_path / "wide.csv"))
        if task is not None:
            finished(server.bench.session, task)
        got = build_opener(HTTPCookieProcessor())
        got.open(f"{server.root}/help?token={server.link.split('token=')[1]}").read()
        begin = time.process_time()  # of the server's thread and those of DuckDB, here
        shown = got.open(f"{server.root}/table").read().decode()
        took = time.process_time() - begin
    print(f"200 columns: {took:.2f} s of processor time")
    assert shown.count("data-column=") == 200
    assert took < 1


def test_a_killed_server_loses_nothing(tmp_path):
    def started() -> tuple[subprocess.Popen, str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVER, tmp_path], stdout=subprocess.PIPE, text=True
        )
        return process, process.stdout.readline().split()[-1]

    first, _ = started()
    session = Session(tmp_path / "session", tmp_path / "runs")
    session.open("example:customers")
    name = session.run_job("learn", {"target": "churn", "budget": "45s"})
    while session.state(name).step == "starting":
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.wait()
    second, link = started()
    try:
        from tests.jobs.browser import opened

        with opened(link) as page:
            page.go(f"{link.split('/?')[0]}/runs/{name}")
            page.wait_for("document.querySelector('.state.finished')", 200)
            assert "leaderboard" in text_of(page)
            assert "gnomon.learn" in text_of(page, "#script"), "the steps are kept too"
    finally:
        second.send_signal(signal.SIGINT)
        second.wait(20)


AXE = Path(os.environ.get("AXE_CORE", "node_modules/axe-core/axe.min.js"))


ACCESSIBLE = [
    "/", "/table", "/views", "/jobs", "/jobs/learn", "/runs", "/replay", "/help",
    "/help?word=accuracy", "/runs/churn-1", "/runs/churn-1/model",
    "/compare?run=churn-1&run=churn-2", "/runs/label-1",
]  # fmt: skip


def test_axe_finds_nothing_serious(tmp_path):
    if not AXE.exists():
        pytest.fail("axe-core is not here: `make test-all` installs it; AXE_CORE names its file")
    script = AXE.read_text(encoding="utf-8")
    for k, learner in enumerate(("naive Bayes", "logistic regression"), 1):
        gnomon.learn(
            example("customers"),
            target="churn",
            learners=[learner],
            budget="12",
            source="example:customers",
            folder=tmp_path / "runs" / f"churn-{k}",
        )
    with served(tmp_path) as server:
        session = server.bench.session
        session.open("example:customers")
        run = session.runs / "label-1"
        gnomon.label(session.table[:200], "paperless", strategy="random", folder=run)
        given = {"job": "label", "options": {}, "run": str(run), "subject": ""}
        session.add("job", given, table=False)
        for dark in (False, True):
            with browsed(server, dark=dark) as page:
                for place in ACCESSIBLE:
                    page.go(server.root + place)
                    time.sleep(1)
                    page.evaluate(script + "; true")
                    found = page.evaluate(
                        "axe.run().then(r => r.violations.filter(v => ['serious', 'critical']"
                        ".includes(v.impact)).map(v => v.id + ': ' + v.nodes[0].html))"
                    )
                    assert found == [], place
