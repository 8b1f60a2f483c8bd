"""Pages of the workbench in a real browser: forms of all jobs, joins, comparisons, print, keys."""

from __future__ import annotations

import time

import pytest

import gnomon
from gnomon.engine.modelfile import save
from gnomon.evaluate import BaselineClassifier
from gnomon.linear import LogisticRegression
from gnomon.table import Table, example
from gnomon.table.picture_files import write_picture
from gnomon.workbench.jobs import JOBS
from gnomon.workbench.web.forms import fields_of, values_of
from tests.jobs.test_web_guard import client_of
from tests.jobs.web import browsed, ended, served, submit, text_of

pytestmark = pytest.mark.covers("run-report")
PHONE = 390
ENTER = {"code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}


def changed_by(job, sent: list[list[str]]) -> dict:
    """The options that a form changes, those left out that must be given."""
    form = {}
    for name, text in sent:
        form.setdefault(name, []).append(text)
    needed = {each.name for each in job.options.declared() if each.is_required}
    given = values_of(job, form | {name: ["age"] for name in needed}, None)
    return {name: value for name, value in given.items() if name not in needed}


def press_tab_until(page, condition: str, most: int = 60) -> None:
    """Go from one control to the next by the Tab key until a condition holds."""
    for _ in range(most):
        page.press("Tab", code="Tab", windowsVirtualKeyCode=9)
        if page.evaluate(condition):
            return
    raise AssertionError(f"{condition} does not hold after {most} times Tab")


def test_every_job_has_a_form_that_fits_a_phone(tmp_path):
    with served(tmp_path) as server:
        server.bench.session.open("example:customers")
        with browsed(server, width=PHONE, height=800) as page:
            for job in JOBS.values():
                page.go(f"{server.root}/jobs/{job.name}")
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= PHONE, f"{job.name} is wider than a phone"
                labeled = page.evaluate(
                    "[...document.querySelectorAll('#job [name]')].every(each => "
                    "each.labels?.length || each.type === 'hidden' || each.type === 'submit')"
                )
                assert labeled, job.name
                unhelped = page.evaluate(
                    "[...document.querySelectorAll('#job .field')]"
                    ".filter(each => !each.querySelector('.help').textContent.trim()).length"
                )
                assert unhelped == 0, job.name
                shown = page.evaluate("document.querySelectorAll('#job .field').length")
                assert shown == len(fields_of(job)) + (job.subject != "table"), job.name
                sent = page.evaluate("[...new FormData(document.querySelector('#job'))]")
                assert changed_by(job, sent) == {}, "a form as it comes changes no option"
            assert page.errors == []
            assert page.requests == []


def test_a_second_table_is_joined_and_the_step_undone_by_keys_alone(tmp_path):
    visits = Table.from_dict({"id": [f"p{k}" for k in range(30)], "visits": list(range(30))})
    people = Table.from_dict({"id": [f"p{k}" for k in range(20)], "age": list(range(20, 40))})
    visits.save(tmp_path / "visits.csv")
    people.save(tmp_path / "people.csv")
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open(str(tmp_path / "visits.csv"))
        page.go(f"{server.root}/")
        page.evaluate("document.activeElement.blur()")
        page.press("t", text="t")
        page.wait_for("location.pathname === '/table' && document.querySelector('#rows tr')")
        press_tab_until(page, "document.activeElement.innerText === 'Join'")
        page.press("Enter", **ENTER)
        press_tab_until(page, "document.activeElement.name === 'file'")
        page.send("Input.insertText", text=str(tmp_path / "people.csv"))
        page.press("Enter", **ENTER)
        page.wait_for("document.querySelector('#shape')?.innerText.includes('3 columns')")
        assert "30 rows" in text_of(page, "#shape"), "rows without a partner stay"
        assert "10 missing" in text_of(page, "th[data-column=age]")
        page.wait_for("document.querySelector('#rows tr')")
        page.press("z", code="KeyZ", windowsVirtualKeyCode=90, modifiers=2)
        page.wait_for("document.querySelector('#shape')?.innerText.includes('2 columns')")
        page.wait_for("document.querySelector('#rows tr')")
        page.press("Z", code="KeyZ", windowsVirtualKeyCode=90, modifiers=2 | 8)
        page.wait_for("document.querySelector('#shape')?.innerText.includes('3 columns')")
        assert page.errors == []


@pytest.mark.slow
def test_runs_are_compared_side_by_side(tmp_path):
    for k, learner in enumerate(("naive Bayes", "logistic regression"), 1):
        gnomon.learn(
            example("iris"),
            target="species",
            learners=[learner],
            budget="22",
            source="example:iris",
            folder=tmp_path / "runs" / f"iris-{k}",
        )
    with served(tmp_path) as server, browsed(server) as page:
        page.go(f"{server.root}/runs")
        page.evaluate("document.querySelectorAll('[name=run]').forEach(each => each.click())")
        page.follow("document.querySelector('main form').requestSubmit()")
        shown = text_of(page)
        assert {"iris-1", "iris-2"} <= set(shown.split())
        assert "p = " in shown, "the difference has its test"
        assert page.errors == []


def test_a_model_is_written_as_a_file_that_runs_without_gnomon(tmp_path):
    client = client_of(tmp_path)
    run = tmp_path / "runs" / "one"
    gnomon.rules(example("contact_lenses"), folder=run)
    iris = example("iris")
    X, y = iris.drop("species"), iris.column("species")
    save(LogisticRegression().fit(X, y), run / "model.gnomon")
    for target, file in (("python", "model.py"), ("onnx", "model.onnx")):
        answer = client.post("/runs/one/export", data={"to": target})
        assert answer.status_code == 200, answer.text
        assert f">{file}</a>" in answer.text
        assert (run / file).stat().st_size > 100
        assert client.bench.session.steps[-1]["with"]["lines"] == [
            f"gnomon.export({str(run)!r}, {target!r})"
        ]
    refused = client.post("/runs/one/export", data={"to": "../up"})
    assert refused.status_code == 400
    save(BaselineClassifier().fit(X, y), run / "model.gnomon")
    refused = client.post("/runs/one/export", data={"to": "onnx"})
    assert "BaselineClassifier cannot be exported" in refused.text
    assert client.get("/runs/one/again").status_code == 404, "it was not repeated"


def test_a_printed_page_holds_the_content_alone(tmp_path):
    with served(tmp_path) as server, browsed(server, dark=True) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/table")
        page.wait_for("document.querySelector('#rows tr')")
        page.send("Emulation.setEmulatedMedia", media="print")
        hidden = "getComputedStyle(document.querySelector('.top')).display"
        assert page.evaluate(hidden) == "none"
        ink = page.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(0, 0, 0)", "dark pages are printed black on white"
        page.pdf(tmp_path / "table.pdf")
        assert (tmp_path / "table.pdf").read_bytes().startswith(b"%PDF")


def test_a_tree_is_drawn_among_the_views(tmp_path):
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/views")
        submit(page, "#add-view form", kind="tree", x="species")
        page.wait_for("document.querySelectorAll('.plot[data-drawn]').length === 5", 60)
        assert "species" in text_of(page, ".view:last-of-type h3")
        assert page.errors == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("job", "fields"),
    [
        ("look", {}),
        ("group", {}),
        ("map", {"methods": "PCA"}),
        ("advise", {"target": "churn"}),
        ("train", {"target": "churn", "max_iter": "5"}),
        ("prepare", {"where": "age > 40"}),
        ("search", {"query": "good service"}),
        ("topics", {"text": "last_message", "n_topics": "3", "max_iter": "20"}),
        ("rules", {"max_length": "2"}),
        ("label", {"target": "paperless"}),
    ],
)
def test_a_job_runs_from_its_form(tmp_path, job, fields):
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open("example:customers")
        server.bench.session.change("reshape", {"query": "select * from data limit 400"})
        page.go(f"{server.root}/jobs/{job}")
        submit(page, "#job", **fields)
        ended(page)
        assert f"gnomon.{JOBS[job].python or job}(" in text_of(page, "#script")
        assert page.errors == []
        assert page.requests == []


@pytest.mark.slow
def test_a_run_is_repeated_and_its_figures_are_the_same(tmp_path):
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open("example:contact_lenses")
        page.go(f"{server.root}/jobs/rules")
        submit(page, "#job")
        ended(page)
        page.follow("document.getElementById('again').click()")
        page.wait_for(
            "location.pathname.endsWith('/again') && document.querySelector('main tbody')", 200
        )
        assert "The same figures, to the last bit" in text_of(page)
        assert len(page.evaluate("[...document.querySelectorAll('tbody tr')]")) > 3
        assert "gnomon.again(" in text_of(page, "#script")
        assert page.errors == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_jobs_of_pictures_and_functions_run_from_their_forms(tmp_path, rng):
    write_picture(rng.integers(0, 2, (40, 40)) * 255.0, tmp_path / "noisy.png")
    bowl = "def bowl(x):\n    return float(((x - 1) ** 2).sum())\n"
    (tmp_path / "bowl.py").write_text(bowl, encoding="utf-8")
    with served(tmp_path) as server, browsed(server) as page:
        page.go(f"{server.root}/jobs/image")
        submit(page, "#job", subject=str(tmp_path / "noisy.png"))
        ended(page)
        assert "gnomon.image(" in text_of(page, "#script")
        page.go(f"{server.root}/jobs/minimize")
        fields = {"bounds": "-5:5\n-5:5", "max_evaluations": "200"}
        submit(page, "#job", subject=f"{tmp_path / 'bowl.py'}:bowl", **fields)
        ended(page)
        assert "gnomon.minimize(" in text_of(page, "#script")
        assert page.errors == []
        assert page.requests == []


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_model_made_in_the_browser_forecasts_and_groups(tmp_path, rng):
    months = [f"{2010 + k // 12}-{k % 12 + 1:02d}-01" for k in range(96)]
    sales = [100 + k + 10 * (k % 12) + float(rng.normal()) for k in range(96)]
    Table.from_dict({"month": months, "sales": sales}).save(tmp_path / "sales.csv")
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open(str(tmp_path / "sales.csv"))
        page.go(f"{server.root}/jobs/forecast")
        submit(page, "#job", target="sales", time="month", horizon="6")
        ended(page)
        assert "gnomon.forecast(" in text_of(page, "#script")
        assert page.errors == []


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("method", "settings", "target"),
    [
        ("GaussianMixture", "n_components=3", ""),
        ("SelfOrganizingMap", "", ""),
        ("HistGradientBoostingClassifier", "max_iter=10", "species"),
        ("LogisticRegression", "", "species"),
        ("MLPClassifier", "max_iter=20", "species"),
        ("TSNE", "max_iter=250", ""),
    ],
)
def test_iterative_methods_are_replayed(tmp_path, method, settings, target):
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/replay")
        submit(page, "#replay", method=method, settings=settings, target=target)
        page.wait_for("document.getElementById('player')?.dataset.drawn", 200)
        first = page.evaluate("document.getElementById('player').dataset.at")
        page.evaluate("document.getElementById('forward').click()")
        page.wait_for(f"document.getElementById('player').dataset.at !== {first!r}")
        assert page.evaluate("Number(document.getElementById('step').max)") >= 2
        assert page.errors == []


@pytest.mark.slow
@pytest.mark.parametrize("method", ["PCA", "TSNE", "SelfOrganizingMap", "KMeans"])
def test_a_method_makes_columns_that_are_drawn(tmp_path, method):
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/views")
        submit(page, "#add-columns form", method=method)
        page.wait_for("location.pathname === '/views'", 200)
        made = [name for name in server.bench.session.table.columns if name.startswith(method)]
        assert made
        kind = {"kind": "bars", "x": made[0]}
        if len(made) == 2:
            kind = {"kind": "scatter", "x": made[0], "y": made[1], "color": "species"}
        submit(page, "#add-view form", **kind)
        page.wait_for("document.querySelectorAll('.plot[data-drawn]').length === 5", 60)
        assert page.errors == []


@pytest.mark.slow
def test_tabs_show_the_same_progress_and_a_closed_one_loses_nothing(tmp_path):
    with served(tmp_path) as server:
        session = server.bench.session
        session.open("example:customers")
        name = session.run_job("learn", {"target": "churn", "budget": "600s"})
        with browsed(server) as kept:
            with browsed(server) as closed:
                for page in (closed, kept):
                    page.go(f"{server.root}/runs/{name}")
                    page.wait_for("document.querySelector('#task')?.dataset.status === 'running'")
                end = time.monotonic() + 120
                while not session.state(name).interim:
                    assert time.monotonic() < end, session.state(name)
                    time.sleep(0.2)
                for page in (closed, kept):
                    page.wait_for("document.querySelector('.interim li')")
            with browsed(server) as opened_later:
                opened_later.go(f"{server.root}/runs/{name}")
                assert "so far" in text_of(opened_later, "#task"), "the run goes on"
                opened_later.follow("document.querySelector('#cancel').click()")
                kept.wait_for("document.querySelector('#task')?.dataset.status === 'stopped'", 30)
