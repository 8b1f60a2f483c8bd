"""The questions of `gnomon label`, answered in a real browser."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import gnomon
from gnomon.table import read
from gnomon.workbench.again.job import numbers
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.label.result import LABELED
from gnomon.workbench.web import labels
from gnomon.workbench.web.labels import questions_of
from tests.jobs.test_label import calls
from tests.jobs.test_web_guard import client_of
from tests.jobs.test_web_runs import REPEAT
from tests.jobs.web import browsed, ended, served, text_of

pytestmark = [pytest.mark.covers("run-report"), pytest.mark.covers("active-learning")]
ENTER = {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
FRAGMENT = {"hx-request": "true"}


def says(page, words: str) -> None:
    """Wait until the state of the answers begins with some words."""
    page.wait_for(f"document.getElementById('label-state')?.innerText.startsWith({words!r})")


def test_questions_are_answered_by_keys_and_survive_the_server(rng, tmp_path):
    calls(rng, 90, 62).save(tmp_path / "calls.csv")
    with served(tmp_path) as server, browsed(server) as page:
        session = server.bench.session
        session.open(str(tmp_path / "calls.csv"))
        name = session.run_job("label", {"target": "y", "n_questions": 4})
        page.go(f"{server.root}/runs/{name}")
        ended(page)
        first, second, third, fourth = read_record(tmp_path / "runs" / name)["results"]["questions"]
        assert f"What is y in row {first}?" in text_of(page, "#question")
        cell = session.table.column("a").to_pylist()[first]
        assert float(text_of(page, "#question table.cells td")) == pytest.approx(cell)
        page.wait_for("document.querySelector('#label-curve[data-drawn]')")
        curve = page.evaluate("document.getElementById('label-curve').data.map(t => t.name)")
        assert curve == ["uncertainty", "random"]

        page.press("2", text="2")
        says(page, "1 of 4 answered")
        page.press("s", text="s")
        says(page, "1 of 4 answered, 1 skipped")
        page.evaluate("document.getElementById('new-class').focus()")
        page.send("Input.insertText", text="<called again>")
        page.press("Enter", **ENTER)
        says(page, "2 of 4 answered, 1 skipped")
        assert "<called again> 3" in text_of(page, ".answers"), "a new class becomes a button"
        assert f"result_1.answer({first}, 'sold')" in text_of(page, "#script")
        assert page.errors == []
        assert page.requests == []

    with served(tmp_path) as server, browsed(server) as page:
        session = server.bench.session
        page.go(f"{server.root}/runs/{name}")
        says(page, "2 of 4 answered, 1 skipped")
        assert f"row {fourth}?" in text_of(page, "#question")
        copy = tmp_path / "runs" / name / LABELED
        assert read(copy).column("y").to_pylist()[third] == "<called again>"
        page.follow("document.getElementById('undo').click()")
        says(page, "1 of 4 answered, 1 skipped")
        assert read(copy).column("y").to_pylist()[third] is None
        page.follow("document.getElementById('redo').click()")
        says(page, "2 of 4 answered, 1 skipped")
        page.press("1", text="1")
        says(page, "3 of 4 answered, 1 skipped")
        page.press("Enter", **ENTER)  # the button of what follows has the focus
        page.wait_for("document.getElementById('question')")
        page.press("1", text="1")
        says(page, "4 of 4 answered")
        answers = {first: "sold", third: "<called again>", fourth: "lost", second: "lost"}
        page.follow("document.getElementById('next-rows').click()")
        ended(page)
        again = page.evaluate("location.pathname.split('/').pop()")
        cells = session.table.column("y").to_pylist()
        assert {row: cells[row] for row in answers} == answers
        records = [read_record(tmp_path / "runs" / each)["results"] for each in (name, again)]
        assert not {*answers} & {*records[1]["questions"]}
        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        assert page.errors == []
        last = session.table
    place = tmp_path / "session.py"
    place.write_text(script + "table.save('again.arrow')\n" + REPEAT, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, place], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stderr.splitlines()[-1])
    assert [numbers(each) for each in found] == [numbers(each) for each in records]
    assert read(tmp_path / "again.arrow").equals(last), "the script gives the same table"


@pytest.fixture
def labeling(rng, tmp_path):
    """A client, and the questions of a run that its session has."""
    client = client_of(tmp_path)
    session = client.bench.session
    calls(rng, 40, 20).save(tmp_path / "calls.csv")
    session.open(str(tmp_path / "calls.csv"))
    run = session.runs / "one"
    gnomon.label(session.table, "y", n_questions=3, folder=run)
    session.add("job", {"job": "label", "options": {}, "run": str(run), "subject": ""}, table=False)
    return client, questions_of(session, run)


def test_an_answer_that_is_none_is_refused_with_a_sentence(labeling):
    client, questions = labeling
    row = questions.rows[0]
    for given, words in (
        ({"do": "answer", "row": 0, "label": "sold"}, "row 0 was not chosen"),
        ({"do": "answer", "row": row, "label": "  "}, "Choose a class"),
        ({"do": "answer", "row": "x", "label": "sold"}, "not a whole number"),
        ({"do": "skip", "row": 0}, "row 0 was not chosen"),
        ({"do": "forget"}, "is no answer"),
        ({"do": "use"}, "No row has been labeled"),
    ):
        answer = client.post("/runs/one/label", data=given)
        assert answer.status_code == 400
        assert words in answer.text
    part = client.post("/runs/one/label", data={"do": "answer", "row": row}, headers=FRAGMENT)
    assert "Choose a class" in part.text
    assert 'id="question"' in part.text, "the question stays"
    assert questions.answers == {}
    for _ in range(2):
        client.post("/runs/one/label", data={"do": "answer", "row": row, "label": "<b>"})
    assert len(questions.session.steps) == 3, "a double click is one answer"
    assert "<b>" not in client.get("/runs/one").text


def test_the_copy_of_a_large_table_is_written_when_it_is_used(labeling, monkeypatch):
    monkeypatch.setattr(labels, "AT_ONCE", 0)
    client, questions = labeling
    row = questions.rows[0]
    client.post("/runs/one/label", data={"do": "answer", "row": row, "label": "sold"})
    kept = read(questions.folder / labels.ANSWERS)
    assert kept.column("row").to_pylist() == [row]
    assert kept.column("label").to_pylist() == ["sold"]
    assert read(questions.folder / LABELED).column("y").to_pylist()[row] is None
    client.get(f"/runs/one/files/{LABELED}")
    assert read(questions.folder / LABELED).column("y").to_pylist()[row] == "sold"
    assert client.post("/runs/one/label", data={"do": "use"}).headers["location"] == "/table"
    assert questions.session.table.column("y").to_pylist()[row] == "sold"
    assert questions.used
    assert client.get("/runs/one/curve").status_code == 404, "there are too few labels"


def test_a_run_of_elsewhere_says_where_it_goes_on(labeling):
    client, questions = labeling
    questions.session.undo()
    shown = client.get("/runs/one")
    assert "This run is no step of the session" in shown.text
    refused = client.post("/runs/one/label", data={"do": "answer", "row": 1, "label": "a"})
    assert refused.status_code == 400
