"""Jobs and runs in a real browser: from a file to the leaderboard, and what the script gives."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gnomon.table import Table
from gnomon.workbench.again.job import numbers
from gnomon.workbench.base.job import quiet
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.jobs import JOBS
from gnomon.workbench.web.forms import fields_of
from gnomon.workbench.web.pages.runs import listed
from gnomon.workbench.web.tasks import END, TASK, write_json
from gnomon.workbench.web.worker import do_job
from tests.jobs.test_web_guard import client_of
from tests.jobs.web import browsed, ended, served, submit, text_of

pytestmark = pytest.mark.covers("run-report")
REPEAT = """
import json, sys
from gnomon.workbench.base.plain_data import as_json
sys.stderr.write(json.dumps(as_json([value.summary() for name, value in sorted(globals().items())
                                     if name.startswith("result_")])))
"""


def results_of_script(script: str, folder) -> list:
    """The results of an exported script, run from a shell."""
    place = folder / "session.py"
    place.write_text(script + REPEAT, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, place], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(ran.stderr.splitlines()[-1])


def test_every_option_of_every_job_has_a_field():
    for job in JOBS.values():
        offered = {field.option.name for field in fields_of(job)}
        assert offered == {each.name for each in job.options.declared() if each.flag}


def test_what_the_shell_completes_is_offered_by_forms():
    fields = {
        field.option.name: field for field in fields_of(JOBS["learn"], {"learners": ["mine"]})
    }
    assert fields["learners"].shape == "choices"
    assert {"ridge", "random forest", "stack"} < set(fields["learners"].choices)
    assert "mine" in fields["learners"].choices, "what stands there already is kept"
    assert "baseline" not in fields["learners"].choices, "it always runs"
    assert {"auc", "rmse"} < set(fields["measure"].choices)


def test_from_an_example_to_the_leaderboard_in_six_clicks(tmp_path):
    with served(tmp_path) as server, browsed(server) as page:
        clicks = []

        def click(selector: str) -> None:
            clicks.append(selector)
            page.follow(f"document.querySelector({selector!r}).click()")

        click("form:has([value='example:iris']) button")
        click("a[href='/jobs/learn']")
        clicks += ["target", "its value"]
        page.evaluate("document.querySelector('#f-target').value = 'species'")
        page.evaluate("document.querySelector('#f-budget').value = '22'")
        page.evaluate(
            "document.querySelector(\"[name=learners][value='naive Bayes']\").checked = true"
        )
        click("#run")
        assert page.evaluate("document.querySelector('#task').dataset.status") == "running"
        name = page.evaluate("location.pathname.split('/').pop()")
        ended(page)
        assert len(clicks) <= 6
        assert "leaderboard" in text_of(page)
        assert "baseline" in text_of(page, ".listing")
        assert page.evaluate("document.querySelector('iframe.report').sandbox.value")

        # a second tab and a reload show the same; the run is listed and can be repeated
        page.go(f"{server.root}/runs")
        assert name in text_of(page)
        page.go(f"{server.root}/jobs/learn?from={name}")
        assert page.evaluate("document.querySelector('#f-target').value") == "species"
        assert page.errors == []
        assert page.requests == []
        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        notebook = json.loads(page.evaluate("fetch('/script/session.ipynb').then(r => r.text())"))
        recorded = read_record(tmp_path / "runs" / name)["results"]
    code = "".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code")
    assert "gnomon.learn(table, target='species'" in code
    (found,) = results_of_script(script, tmp_path)
    assert numbers(found) == numbers(recorded), "the script gives the same bits"


def test_a_run_is_cancelled_seen_by_a_new_server_and_resumed(tmp_path):
    with served(tmp_path) as server:
        session = server.bench.session
        session.open("example:customers")
        name = session.run_job("learn", {"target": "churn", "budget": "600s"})
        while not (session.state(name).interim or session.state(name).status != "running"):
            time.sleep(0.1)
        assert session.state(name).status == "running", session.state(name).error
    # the server has ended, the run goes on: another server sees it
    with served(tmp_path) as server, browsed(server) as page:
        page.go(f"{server.root}/runs/{name}")
        assert "so far" in text_of(page, "#task")
        begin = time.monotonic()
        page.follow("document.querySelector('#cancel').click()")
        assert page.evaluate("document.querySelector('#task').dataset.status") == "stopped"
        assert time.monotonic() - begin < 5  # 2 s, and the page on a busy machine
        kept = {path for path in (tmp_path / "runs" / name / "folds").rglob("*") if path.is_file()}
        assert kept, "the folds that were done are kept"
        page.follow("document.querySelector('#resume').click()")
        assert page.evaluate("document.querySelector('#task').dataset.status") == "running"
        page.follow("document.querySelector('#cancel').click()")
        record = read_record(tmp_path / "runs" / name)
        assert record["source"] == "example:customers", "the table can be read again"
        assert page.errors == []


def test_a_wrong_form_is_shown_again_with_what_is_wrong(tmp_path):
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/jobs/learn")
        page.evaluate("document.querySelector('#f-test_share').removeAttribute('max')")
        page.evaluate("document.querySelector('#job').noValidate = true")
        submit(page, "#job", target="species", test_share="7")
        assert "test_share=7.0 must lie between 0 and 1" in text_of(page)
        assert page.evaluate("document.querySelector('#f-target').value") == "species"
        page.errors.clear()  # the browser reports the refusal
        page.go(f"{server.root}/help?word=accuracy")
        assert "share of rows whose predicted class is right" in text_of(page)
        assert page.errors == []


def test_p_values_of_a_leaderboard_are_written_as_people_do():
    board = Table.from_dict(
        {"learner": ["a", "b", "c"], "p_against_best": [5e-32, 0.0123456, None]}
    )
    shown = [row[1] for row in listed(board, "leaderboard.csv")["rows"]]
    assert shown == ["< 0.001", "0.012", None]


def test_the_report_of_a_changed_table_calls_it_as_the_session_does(tmp_path):
    session = client_of(tmp_path).bench.session
    session.open("example:iris")
    session.change("reshape", {"where": ["species <> 'setosa'"]})
    task = {"do": "job", "job": "prepare", "options": {"where": ["sepal_length > 5"]}}
    folder = tmp_path / "runs" / "one"
    do_job(task | session.table_task() | {"subject": "", "run": str(folder)}, quiet)
    record = read_record(folder)
    assert Path(record["source"]).is_file(), "the table can be read again"
    report = (folder / "report.html").read_text()
    assert "<title>Preparation of iris, changed in this session" in report
    assert "/tables/" not in report.partition("<h2")[0]


def test_a_run_that_failed_leads_back_to_its_filled_form(tmp_path):
    client = client_of(tmp_path)
    session = client.bench.session
    session.open("example:iris")
    session.change("reshape", {"where": ["species <> 'setosa'"]})
    assert session.words_of_source(session.source()) == "iris, changed in this session"
    assert session.words_of_source("/data/iris.csv") == "/data/iris.csv"
    (tmp_path / "runs" / "one").mkdir(parents=True)
    options = {"target": "species", "test_share": 0.37}
    folder = session.task_folder("one")
    folder.mkdir(parents=True)
    write_json(folder / TASK, {"do": "job", "job": "learn", "options": options})
    write_json(folder / END, {"status": "failed", "error": "It did not work."})
    shown = client.get("/runs/one").text
    assert "It did not work." in shown
    assert 'href="/jobs/learn?from=one"' in shown
    assert 'value="0.37"' in client.get("/jobs/learn?from=one").text
    assert client.get("/jobs/learn?from=nothing").status_code == 400
