"""The bars of the workbench in a browser: large tables, busy machines, killed servers, scripts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gnomon
from benchmarks.web import PARTS
from gnomon.table import example
from gnomon.workbench.again.job import numbers
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.web.columns import GROUPED
from gnomon.workbench.web.session import Session
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


@pytest.mark.parametrize("part", PARTS)
def test_the_bars_of_time_hold(tmp_path, part):
    load = os.getloadavg()[0]
    busy = max(load / (os.cpu_count() or 1), 1)  # processes per core: times are that much longer
    for line in PARTS[part](tmp_path):
        print(line, f"load {load:.1f}")
        assert line.seconds < line.bar * busy, str(line)


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
