"""Reports in a real browser: no script errors, every figure drawn, nothing asked of the network."""

from __future__ import annotations

import gzip
import hashlib
import time

import numpy as np
import plotly.graph_objects as go
import pytest

import gnomon
from gnomon import show
from gnomon.show.plotly_script import IN_A_PLANE, packed_script
from gnomon.show.theme import THEMES
from gnomon.table import example
from gnomon.workbench.base.report import Report
from tests.jobs.browser import needs_browser, opened, require_sound

pytestmark = [needs_browser, pytest.mark.covers("run-report")]
# plotly-cartesian.min.js of the npm package plotly.js-cartesian-dist-min 4.1.1
AS_PUBLISHED = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"


@pytest.fixture(scope="module")
def report_path(tmp_path_factory):
    """The report of a look at a table with odd names in it."""
    rng = np.random.default_rng(5)
    n = 200
    table = {
        "height": rng.normal(size=n),
        "<script>alert(1)</script>": rng.normal(size=n),
        "</script><img src=http://example.org/x.png>": np.where(rng.random(n) < 0.2, np.nan, 1.5),
        "kind": rng.permutation(np.repeat(["<b>a</b>", "b & c"], n // 2)),
    }
    path = tmp_path_factory.mktemp("report") / "report.html"
    return gnomon.look(table, target="kind", source="a <file>").report(path)


def color_of(page, selector: str) -> str:
    return page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).backgroundColor")


def rgb(code: str) -> str:
    return "rgb({}, {}, {})".format(*(int(code[k : k + 2], 16) for k in (1, 3, 5)))


@pytest.mark.parametrize("dark", [False, True])
def test_a_look_opens_without_errors_and_draws_every_figure(report_path, dark):
    with opened(report_path, dark=dark) as page:
        require_sound(page)
        assert len(page.figures()) >= 6
        assert all(figure["spoken"] for figure in page.figures())
        assert color_of(page, "body") == rgb(THEMES["dark" if dark else "light"].paper)


def test_names_with_markup_are_shown_as_they_are(report_path):
    with opened(report_path) as page:
        page.scroll_through()
        assert page.evaluate("document.querySelectorAll('main img, main b').length") == 0
        assert "<script>alert(1)</script>" in page.evaluate("document.body.innerText")
        assert page.evaluate("document.querySelector('h1').innerText") == "A look at a <file>"


def test_the_theme_can_be_switched_and_figures_follow(report_path):
    with opened(report_path) as page:
        page.scroll_through()
        page.evaluate("document.getElementById('theme').click()")
        assert color_of(page, "body") == rgb(THEMES["dark"].paper)
        shown = page.evaluate(
            "[...document.querySelectorAll('.figure')].map(f => f._fullLayout.paper_bgcolor)"
        )
        assert set(shown) == {THEMES["dark"].paper}
        assert page.errors == []


def test_figures_wait_until_they_are_seen_and_all_are_there_on_paper(report_path, tmp_path):
    with opened(report_path, height=300) as page:
        page.wait_for("window.Plotly")
        drawn = [figure["drawn"] for figure in page.figures()]
        assert not all(drawn), "far figures wait"
        page.pdf(tmp_path / "report.pdf")
        assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
        assert all(figure["drawn"] for figure in page.figures())
        assert page.errors == []


def test_a_click_on_a_heading_sorts_by_its_numbers(tmp_path):
    rows = [["b", 10.5], ["a", None], ["c", 2], ["d", 1_000]]
    path = Report("r").section("s").table(["name", "value"], rows).write(tmp_path / "r.html")
    column = "[...document.querySelectorAll('tbody tr')].map(r => r.cells[0].innerText).join('')"
    with opened(path) as page:
        for expected in ("cbda", "adbc"):
            page.evaluate("document.querySelectorAll('thead button')[1].click()")
            assert page.evaluate(column) == expected
        page.evaluate("document.querySelectorAll('thead button')[0].click()")
        assert page.evaluate(column) == "abcd"


def test_reports_fit_a_narrow_screen(report_path):
    with opened(report_path, width=400) as page:
        page.scroll_through()
        assert page.evaluate("document.documentElement.scrollWidth") <= 401


def drag(page, start, end):
    moves = [("mousePressed", start, 1), ("mouseMoved", start, 1)]
    halfway = tuple((a + b) / 2 for a, b in zip(start, end))
    moves += [("mouseMoved", halfway, 1), ("mouseMoved", end, 1), ("mouseReleased", end, 0)]
    for kind, (x, y), buttons in moves:
        page.send(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left",
            buttons=buttons,
            clickCount=1,
        )
        time.sleep(0.05)


@pytest.mark.covers("linked-views")
def test_rows_selected_in_one_view_are_marked_in_all(tmp_path):
    figure = show.linked_views(
        example("iris"), [("petal_length", "petal_width"), ("sepal_length", "sepal_width")]
    )
    path = Report("r").section("s").figure(figure).write(tmp_path / "r.html")
    state = (
        "document.querySelector('.figure')._fullData.map(t => t.type === 'parcoords' "
        "? [...t.line.color].reduce((a, b) => a + b, 0) : (t.selectedpoints ?? []).length)"
    )
    with opened(path, height=1000) as page:
        page.scroll_through()
        assert page.evaluate(state) == [0, 0, 150]
        x, y, width, height = page.evaluate(
            "(r => [r.x, r.y, r.width, r.height])"
            "(document.querySelector('.figure .nsewdrag').getBoundingClientRect())"
        )
        drag(page, (x + 3, y + 3), (x + 0.4 * width, y + height - 3))
        page.wait_for(f"{state}[2] < 150")
        time.sleep(0.5)
        first, second, lines = page.evaluate(state)
        assert first == second == lines
        assert 0 < lines < 150
        assert page.errors == []


def test_a_report_of_figures_in_a_plane_holds_the_script_that_draws_just_these(tmp_path):
    flat, deep = go.Figure(go.Bar(y=[1, 2])), go.Figure(go.Surface(z=[[1, 2], [3, 4]]))
    report = Report("r").section("s").figure(flat)
    path = report.write(tmp_path / "r.html")
    assert path.stat().st_size < 1_000_000
    with opened(path) as page:
        require_sound(page)
        known = page.evaluate("Object.keys(Plotly.PlotSchema.get().traces)")
    assert set(known) == set(IN_A_PLANE)
    whole = len(report.figure(deep).html())
    assert whole > 1_500_000, "other figures need all of the script"
    script = gzip.decompress(packed_script(True))
    assert hashlib.sha256(script).hexdigest() == AS_PUBLISHED
