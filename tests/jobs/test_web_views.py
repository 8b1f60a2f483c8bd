"""Views, models, replays and decisions in a real browser."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.cluster import KMeans
from gnomon.optimize import minimize
from gnomon.reduce import PCA
from gnomon.sequence import pagerank
from gnomon.table import Table, example
from gnomon.workbench.web.brush import brush_sql
from gnomon.workbench.web.columns import headers_of
from gnomon.workbench.web.pages.views import first_views
from gnomon.workbench.web.tasks import read_json
from gnomon.workbench.web.views import KINDS, view
from gnomon.workbench.workflows import LinkedPages, RowTour
from tests.jobs.web import browsed, ended, served, submit, text_of

pytestmark = pytest.mark.covers("run-report")
DRAWN = "document.querySelector('.view') && !document.querySelector('.plot:not([data-drawn])')"


def test_views_count_all_rows_and_mark_the_selected_ones(rng):
    n = 9000
    values = rng.normal(size=n)
    groups = rng.choice(["a", "b"], n)
    table = Table.from_dict({"v": values, "g": groups, "w": values + rng.normal(size=n)})
    where = brush_sql([{"column": "v", "low": 0, "high": 1}, {"column": "g", "in": ["a"]}], table)
    chosen = (values >= 0) & (values <= 1) & (groups == "a")
    bars = view(table, "bars", x="g", where=where)
    assert sum(bars.data[0].y) == n
    assert sum(bars.data[1].y) == chosen.sum()
    spread = view(table, "histogram", x="w", where=where)
    assert sum(spread.data[0].y) == n
    assert sum(spread.data[1].y) == chosen.sum()
    boxes = view(table, "box", y="v", x="g", where=where)
    at = list(boxes.data[0].x).index("b")
    assert boxes.data[0].median[at] == pytest.approx(np.median(values[groups == "b"]))
    matrix = view(table, "correlation map", where=where).data[0].z
    expected = np.corrcoef(values[chosen], np.asarray(table.column("w"))[chosen])[0, 1]
    assert matrix[0][1] == pytest.approx(expected, abs=1e-4)
    points = view(table, "scatter", x="v", y="w", color="g", where=where)
    assert sum(len(trace.x) for trace in points.data) == 3000, "every third row"


def test_the_first_views_are_of_columns_with_many_values(rng):
    columns = {
        "sex": rng.integers(0, 2, 50),
        "age": rng.normal(size=50),
        "pulse": rng.normal(size=50),
    }
    table = Table.from_dict(columns)
    first = first_views(table, headers_of(table))
    assert [(each["kind"], each["x"]) for each in first[:2]] == [
        ("scatter", "age"),
        ("histogram", "age"),
    ]
    assert first[0]["y"] == "pulse"
    few = table.select(["sex"])
    assert [each["x"] for each in first_views(few, headers_of(few))] == ["sex"]


def test_steps_of_whole_numbers_hold_equally_many_of_them():
    table = Table.from_dict({"pieces": [1, 2, 2, 3, 4] * 6, "age": list(range(18, 48))})
    bars = view(table, "histogram", x="pieces").data[0]
    assert list(bars.x) == [1, 2, 3, 4]
    assert list(bars.y) == [6, 12, 6, 6]
    assert set(view(table, "histogram", x="age").data[0].y) == {2}


def test_every_kind_of_view_is_drawn_of_a_table_with_missing_cells():
    table = example("customers")
    columns = {"x": "age", "y": "monthly_charge"}
    for kind in KINDS:
        x = {"bars": "region", "box": "plan", "time line": "joined", "tree": "churn"}.get(
            kind, "age"
        )
        assert view(table, kind, **columns | {"x": x}).data


@pytest.mark.parametrize(
    "brush",
    [
        {"column": "age"},
        [{"column": "nothing", "low": 1, "high": 2}],
        [{"column": "age", "low": "1; drop table data", "high": 2}],
        [{"column": "age", "low": float("nan"), "high": 2}],
        [{"column": "joined", "low": "now()", "high": "2020-01-01"}],
        [{"column": "region", "low": 1, "high": 2}],
        [{"column": "region", "in": []}],
    ],
)
def test_a_selection_that_is_none_is_refused(brush):
    with pytest.raises(gnomon.engine.errors.DataError):
        brush_sql(brush, example("customers"))


def test_one_brush_selects_in_all_views_and_is_kept(tmp_path):
    with served(tmp_path) as server, browsed(server, width=1500) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/views")
        page.wait_for(DRAWN)
        assert page.evaluate("document.querySelectorAll('.view').length") == 4

        # a box is drawn with the mouse in the histogram
        page.evaluate("document.querySelectorAll('.view')[1].scrollIntoView({block: 'center'})")
        box = page.evaluate(
            "(r => [r.left, r.top, r.width, r.height])(document.querySelectorAll('.view')[1]"
            ".querySelector('.nsewdrag').getBoundingClientRect())"
        )
        left, top, width, height = box
        mouse = {"button": "left", "clickCount": 1}
        begin = {"x": left + 3, "y": top + height / 2}
        page.send("Input.dispatchMouseEvent", type="mousePressed", **begin, **mouse)
        for share in (0.2, 0.45):
            here = {"x": left + share * width, "y": top + height / 3}
            page.send("Input.dispatchMouseEvent", type="mouseMoved", **here, **mouse)
        page.send("Input.dispatchMouseEvent", type="mouseReleased", **here, **mouse)
        page.wait_for("!document.getElementById('brush').hidden")
        brush = server.bench.session.content["brush"]
        assert brush[0]["column"] == "sepal_length"
        where = f"{brush[0]['low']} <= sepal_length and sepal_length <= {brush[0]['high']}"
        count = len(gnomon.reshape(example("iris"), where=[where]).table)
        assert 10 < count < 140
        assert f"{count} of 150 rows" in text_of(page, "#brush")
        marked = page.evaluate(
            "document.querySelectorAll('.view .plot')[2]._fullData[1].y.reduce((a, b) => a + b)"
        )
        assert marked == count, "the bars mark the rows that the histogram selected"
        bright = page.evaluate(
            "document.querySelectorAll('.view .plot')[0]._fullData[0].marker.opacity"
            ".filter(o => o > 0.5).length"
        )
        assert bright == count, "and the scatter"
        assert "Selected rows" in text_of(page)

        submit(page, "form:has(button[value=group])", name="short ones")
        page.wait_for(DRAWN)
        assert "short ones" in server.bench.session.table.columns
        kept = server.bench.session.table.column("short ones").to_pylist()
        assert kept.count("in") == count

        # a map of the rows is two columns more
        submit(page, "#add-columns form", method="PCA")
        page.wait_for("location.pathname === '/views'", 90)
        page.wait_for(DRAWN)
        assert {"PCA 1", "PCA 2"} <= set(server.bench.session.table.columns)
        submit(page, "#add-view form", kind="scatter", x="PCA 1", y="PCA 2", color="species")
        page.wait_for(DRAWN)
        assert page.evaluate("document.querySelectorAll('.view').length") == 5
        assert page.errors == []
        assert page.requests == []
        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        last = server.bench.session.table
    known: dict = {}
    exec(script, known)  # the lines that a person runs
    assert known["table"].equals(last), "the script gives the same table"


def test_a_model_answers_sweeps_explains_and_moves_its_threshold(tmp_path):
    gnomon.learn(
        example("customers"),
        target="churn",
        learners=["logistic regression"],
        budget="22",
        source="example:customers",
        folder=tmp_path / "runs" / "churn-1",
    )
    with served(tmp_path) as server, browsed(server) as page:
        page.go(f"{server.root}/runs/churn-1/model")
        page.wait_for("document.getElementById('sweeps').dataset.drawn", 60)
        page.wait_for("document.getElementById('threshold').dataset.ready", 60)
        shown = float(text_of(page, "#chances .slider-row:last-child span:last-child"))
        typed = page.evaluate("Object.fromEntries(new FormData(document.getElementById('row')))")
        row = {k: [float(v)] if v.replace(".", "").isdigit() else [v] for k, v in typed.items()}
        said = gnomon.predict(tmp_path / "runs" / "churn-1", Table.from_dict(row, parse=True))
        assert shown == pytest.approx(said.table.column("P(yes)").to_pylist()[0], abs=6e-4)

        # another contract, another answer
        page.evaluate(
            "(f => { f.value = 'two years'; f.dispatchEvent(new Event('input', {bubbles: true})) })"
            "(document.querySelector('[name=contract]'))"
        )
        page.wait_for("document.getElementById('said').innerText === 'no'", 60)

        def cell(name):
            return int(text_of(page, f"#{name}").replace(",", ""))

        total = sum(cell(name) for name in ("tn", "fp", "fn", "tp"))
        assert total == 500
        before = cell("fn")
        page.evaluate(
            "(f => { f.value = 10; f.dispatchEvent(new Event('input', {bubbles: true})) })"
            "(document.getElementById('miss'))"
        )
        page.evaluate("document.getElementById('cheapest').click()")
        assert cell("fn") < before, "dear misses are avoided"
        assert float(page.evaluate("document.getElementById('t').value")) < 0.3
        assert "miss%3D10" in page.evaluate("document.getElementById('learn-cost').href")
        page.evaluate("document.getElementById('why-button').click()")
        page.wait_for("document.querySelector('#why-figure .main-svg')", 90)
        assert "training rows" in text_of(page, "#why-text")

        # the card, and all rows of a file at once
        card = text_of(page, "#card")
        assert "method\tlogistic regression" in card
        assert "on test rows, used once" in card
        new = example("customers")[:40]
        new.save(tmp_path / "new.csv")
        place = str(tmp_path / "new.csv")
        page.evaluate(f"document.getElementById('predict-path').value = {place!r}")
        page.evaluate("document.getElementById('predict-button').click()")
        page.wait_for("document.querySelector('#predictions table')", 60)
        assert "target is known: accuracy" in text_of(page, "#predictions")
        (file,) = (tmp_path / "runs" / "churn-1").glob("predictions-*.csv")
        answers = gnomon.predict(tmp_path / "runs" / "churn-1", new).table
        kept = [line.split(",")[0] for line in file.read_text().splitlines()[1:]]
        assert kept == answers.column("prediction").to_pylist()
        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        assert f"predictions = gnomon.predict({str(tmp_path / 'runs' / 'churn-1')!r}" in script
        assert page.errors == []


def same_groups(one, other) -> bool:
    """Whether two lists part the rows alike."""
    pairs = set(zip(one, other, strict=True))
    return len(pairs) == len(set(one)) == len(set(other))


def test_a_fit_is_replayed_step_by_step(tmp_path):
    with served(tmp_path) as server, browsed(server, dark=True) as page:
        server.bench.session.open("example:iris")
        page.go(f"{server.root}/replay")
        page.evaluate("document.querySelector('[name=columns][value=species]').click()")
        submit(page, "#replay", method="KMeans", settings="n_clusters=3")
        page.wait_for("document.getElementById('player')?.dataset.drawn", 90)
        page.evaluate("document.getElementById('forward').click()")
        page.wait_for("document.getElementById('player').dataset.at === '1'")
        shown = "document.getElementById('parameters').data.at(-2).x[0]"
        page.wait_for(f"{shown} === 1")
        rows = example("iris").select(list(example("iris").columns[:4]))
        model = KMeans(3, n_init=1, random_state=0, keep_history="full").fit(rows)
        centers = "Array.from(document.getElementById('rows')._fullData[1].x)"
        places = PCA().fit(rows)
        expected = (
            model.history_.states[1]["cluster_centers"] - places.mean_
        ) @ places.components_.T
        assert page.evaluate(centers) == pytest.approx(expected[:, 0], abs=1e-3)
        page.evaluate(
            "(s => { s.value = s.max; s.dispatchEvent(new Event('input')) })"
            "(document.getElementById('step'))"
        )
        steps = page.evaluate("Number(document.getElementById('step').max)")
        page.wait_for(f"{shown} === {steps}")
        groups = page.evaluate("document.getElementById('rows').data[0].marker.color")
        assert same_groups(groups, model.predict(rows)), "the colors are the groups of the fit"

        # played from the start again, and from near the end to the end
        page.evaluate("document.getElementById('play').click()")
        page.wait_for(f"{shown} === 1")
        page.evaluate("document.getElementById('play').click()")
        page.evaluate(
            "(s => { s.value = s.max - 2; s.dispatchEvent(new Event('input')) })"
            "(document.getElementById('step'))"
        )
        page.evaluate("document.getElementById('play').click()")
        page.wait_for(
            f"document.getElementById('play').innerText === 'Play' && {shown} === {steps}"
        )
        lines = text_of(page, "#script")
        assert "keep_history='full'" in lines
        assert page.errors == []


def to_the_last_step(page, form, **fields) -> None:
    """Send a form of replays, wait for its player and move that to its end."""
    submit(page, form, **fields)
    page.wait_for("document.getElementById('player')?.dataset.drawn", 60)
    page.evaluate(
        "(s => { s.value = s.max; s.dispatchEvent(new Event('input')) })"
        "(document.getElementById('step'))"
    )


def test_a_search_and_a_pagerank_are_replayed_and_the_notebook_repeats_them(tmp_path):
    links = Table.from_dict({"page": ["a", "a", "b", "c"], "to": ["b", "c", "c", "a"]})
    links.save(tmp_path / "links.csv")
    with served(tmp_path) as server, browsed(server) as page:
        session = server.bench.session
        session.open("example:iris")
        page.go(f"{server.root}/replay")
        page.evaluate("document.querySelector('#replay-tour [value=species]')?.click()")
        to_the_last_step(page, "#replay-tour", settings="max_evaluations=3000")
        searched = session.steps[-1]["id"]
        assert "annealing" in text_of(page, "h1")
        assert "temperature" in text_of(page, "#parameters")
        rows = example("iris").select(list(example("iris").columns[:4]))
        tour = RowTour(rows)
        found = minimize(tour, tour.space, "annealing", max_evaluations=3000, random_state=0)
        order = found.history.path[-1][1]
        line = "Array.from(document.getElementById('rows')._fullData[0].x)"
        expected = PCA().fit_transform(rows[tour.shown])[order, 0]
        page.wait_for(f"Math.abs({line}[0] - {expected[0]}) < 1e-3")
        assert page.evaluate(line)[::3] == pytest.approx(expected, abs=1e-3)

        session.open(str(tmp_path / "links.csv"))
        page.go(f"{server.root}/replay")
        to_the_last_step(page, "#replay-links", settings="alpha=0.5")
        scored = session.steps[-1]["id"]
        pages = LinkedPages(links, "page", "to")
        best = pagerank(pages.graph, alpha=0.5).scores.max()
        points = "document.getElementById('rows')._fullData[1]"
        page.wait_for(f"{points}.hovertext[0] === 'c: {best:.4g}'")
        sizes = page.evaluate(f"Array.from({points}.marker.size)")
        assert sizes == sorted(sizes, reverse=True)
        assert page.errors == []
        assert page.requests == []
        kept = [
            read_json(session.task_folder(f"replay-{number}") / "figures.json")
            for number in (searched, scored)
        ]
        notebook = json.loads(page.evaluate("fetch('/script/session.ipynb').then(r => r.text())"))
    known, figures = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)  # the lines that a person runs
            if "figure" in known:
                figures.append(json.loads(known.pop("figure").to_json()))
    assert figures == [each["figures"]["parameters"]["light"] for each in kept]


@pytest.mark.slow
def test_the_loop_of_decide_takes_an_answer_and_a_trial(tmp_path, rng):
    speed, heat = rng.uniform(0, 10, 80), rng.uniform(0, 5, 80)
    output, cost = 3 * speed + rng.normal(0, 1, 80), speed + 2 * heat + rng.normal(0, 0.2, 80)
    table = Table.from_dict({"speed": speed, "heat": heat, "output": output, "cost": cost})
    table.save(tmp_path / "trials.csv")
    with served(tmp_path) as server, browsed(server) as page:
        server.bench.session.open(str(tmp_path / "trials.csv"))
        page.go(f"{server.root}/jobs/decide")
        goals = {"turn": "speed\nheat", "want": "output:more\ncost:less"}
        submit(page, "#job", **goals, budget="80", learners="ridge")
        ended(page)
        assert "Proposals" in text_of(page), text_of(page)
        submit(page, "#prefer", better="A", worse="B")
        ended(page)
        assert "By the answers, in this order" in text_of(page), text_of(page)
        goal = {"wish output": "free", "wish cost": "improve"}
        submit(page, "form:has([name='value output'])", **goal)
        ended(page)
        assert "wish=['output:free', 'cost:improve']" in text_of(page, "#script")
        wish = "document.querySelector('[name=\"wish cost\"]').value"
        assert page.evaluate(wish) == "improve", "the next search begins with the same wishes"
        page.evaluate("document.querySelector('#trial').closest('details').open = true")
        page.resize(390, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.resize(1280, 900)
        fields = {"cell speed": "9", "cell heat": "2", "cell output": "28", "cell cost": "13"}
        submit(page, "#trial", **fields)
        ended(page)
        assert "81 rows" in text_of(page), text_of(page)
        assert page.errors == []
