"""The workbench in a real browser: a table is opened, read, changed, and the script says how."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import gnomon
from tests.jobs.web import browsed, served, submit, text_of

pytestmark = pytest.mark.covers("run-report")


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory):
    """A file whose names and cells hold markup."""
    path = tmp_path_factory.mktemp("data") / "shop <b>.csv"
    rng = np.random.default_rng(3)
    lines = ["<img src=x onerror=alert(1)>,price,pieces,kind"]
    kinds = ["<script>alert(1)</script>", "plain", "= 1 + 1"]
    lines += [f"name {k},{rng.normal(10, 2):.3f},{k % 7},{kinds[k % 3]}" for k in range(400)] + [
        "name 400,,3,plain"
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.covers("web-workbench")
def test_a_file_is_opened_read_changed_and_written_down(tmp_path, hostile_file):
    with served(tmp_path) as server, browsed(server) as page:
        assert "token" not in page.evaluate("location.href"), "the token does not stay in sight"
        assert "Drop a file here" in text_of(page)
        page.evaluate(f"document.getElementById('path').value = {str(hostile_file)!r}")
        page.follow("document.getElementById('open-path').click()")
        page.wait_for("document.querySelectorAll('#rows tr').length > 5")

        # markup is shown as it is written, in heads and in cells
        assert page.evaluate("document.querySelectorAll('main img, main b').length") == 0
        assert "<img src=x onerror=alert(1)>" in text_of(page, "thead")
        assert "<script>alert(1)</script>" in text_of(page, "#rows")
        assert "401 rows, 4 columns" in text_of(page)
        assert "1 missing" in text_of(page, "thead")
        drawn = page.evaluate("document.querySelector('thead svg.bars path').getAttribute('d')")
        assert drawn.count("M") > 10, "a bar for every step of the values"

        # rows by keyboard alone
        page.evaluate("document.getElementById('grid').focus()")
        page.press("End")
        page.wait_for("document.querySelector('#rows').innerText.includes('name 400')")
        assert page.evaluate("document.activeElement.id") == "grid"

        submit(page, "form:has(#where)", where="price > 10")
        kept = page.evaluate("Number(document.getElementById('grid').dataset.rows)")
        submit(page, "form:has([name=expression])", name="paid", expression="price * pieces")
        assert "5 columns" in text_of(page)
        open_menu(page, "pieces")
        submit(page, "th[data-column=pieces] form:has([value=kind])", kind="category")
        menu = page.evaluate("document.querySelector('th[data-column=pieces] .menu').textContent")
        assert "category: set by hand" in menu
        open_menu(page, "paid")
        page.follow("document.querySelector('th[data-column=paid] button[value=desc]').click()")
        page.wait_for("document.querySelectorAll('#rows tr').length > 5")
        lines = page.evaluate(
            "[...document.querySelectorAll('.script-steps pre')].map(each => each.innerText)"
        )
        assert len(lines) == 5
        assert "where=['price > 10']" in lines[1]

        # undo and redo walk along the script
        page.follow("document.getElementById('undo').click()")
        assert page.evaluate("document.querySelectorAll('.script-steps li').length") == 4
        page.follow("document.getElementById('redo').click()")
        assert page.evaluate("document.querySelectorAll('.script-steps li').length") == 5
        assert page.errors == []
        assert page.requests == []

        script = page.evaluate("fetch('/script/session.py').then(r => r.text())")
        last = server.bench.session.table
    again = tmp_path / "session.py"
    again.write_text(script + "table.save('again.arrow')\n", encoding="utf-8")
    subprocess.run([sys.executable, again], cwd=tmp_path, check=True)
    assert gnomon.read(tmp_path / "again.arrow").equals(last), "the script gives the same table"
    assert len(last) == kept


def open_menu(page, column: str) -> None:
    """Open the menu of a column by the keyboard, as the forms are made when it opens."""
    head = f"th[data-column={json.dumps(column)}]"
    page.evaluate(f"document.querySelector('{head} summary').focus()")
    page.press("Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    page.wait_for(f"document.querySelectorAll('{head} .menu form').length === 4")


def test_findings_stand_beside_their_columns_and_a_dropped_file_is_opened(tmp_path):
    with served(tmp_path) as server, browsed(server, width=1600) as page:
        content = "size,always\\n" + "".join(f"{k % 50},same\\n" for k in range(300))
        page.follow(
            "(() => { const given = new DataTransfer();"
            f"given.items.add(new File(['{content}'], '../../up <i>.csv'));"
            "const field = document.getElementById('file'); field.files = given.files;"
            "field.dispatchEvent(new Event('change')); })()"
        )
        page.wait_for("document.querySelector('#findings[data-done]')", 240)
        found = "document.querySelector('th[data-column=always] .found')"
        page.wait_for(f"{found} && {found}.textContent.includes('constant')", 30)
        assert "one value" in text_of(page, "#findings")
        assert "up _i_.csv" in text_of(page, "h1"), "the name is kept without its folder"
        inside = list((tmp_path / "session" / "uploads").rglob("*.csv"))
        assert len(inside) == 1
        assert page.errors == []


@pytest.mark.parametrize("dark", [False, True])
def test_pages_are_readable_on_a_phone_and_follow_the_theme(tmp_path, dark):
    with served(tmp_path) as server:
        server.bench.session.open("example:customers")
        with browsed(server, width=390, height=800, dark=dark) as page:
            for place in ("/", "/table"):
                page.go(server.root + place)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= 390, f"{place} is wider than a phone"
            shade = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert shade == ("rgb(20, 23, 31)" if dark else "rgb(255, 255, 255)")
            page.evaluate("document.getElementById('theme').click()")
            page.go(server.root + "/table")
            assert page.evaluate("document.documentElement.dataset.theme") != (
                "dark" if dark else "light"
            ), "the choice is kept on the next page"
            assert page.errors == []
