"""Code blocks of README and of the guide run as a reader would run them."""

from __future__ import annotations

import json
import pydoc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from examples import notebooks
from gnomon import show
from gnomon.engine.registry import methods
from gnomon.show.theme import THEMES
from gnomon.table import example
from gnomon.workbench.cli import app
from tests.jobs.browser import opened

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "gnomon"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("tour_*.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "coming_from").glob("*.md")),
]
NAME = re.compile(r"`(gnomon(?:\.\w+)+)")
COMMAND = re.compile(r"`gnomon (\w+)")
LINK = re.compile(r"\]\(([^)#]+\.md)|^:link: (\S+)$", re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"gnomon (\w+)([^`\n#]*)")
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
OF_A_COMMAND = re.compile(r"`(--[a-z][\w-]*)[^`]*` of `gnomon (\w+)`")
PATH = re.compile(r"`([a-z_]+/[\w./]*\w|[a-z_]+/)`")  # of a file or folder
SECONDS = re.compile(r'budget="\d+s"')


def blocks(page: Path) -> list[str]:
    """The blocks of Python of a page, with budgets of two seconds."""
    return [SECONDS.sub('budget="2s"', found) for found in BLOCK.findall(page.read_text("utf-8"))]


def write_files_of_readme(folder: Path) -> None:
    """The files that README names."""
    customers = example("customers").to_pandas()
    customers["revenue"] = customers["monthly_charge"] * customers["tenure_months"]
    customers.to_csv(folder / "sales.csv", index=False)
    customers.to_csv(folder / "ten_million_rows.csv", index=False)


@pytest.fixture
def folder_of_a_reader(tmp_path, monkeypatch):
    """A folder with the files that README names."""
    write_files_of_readme(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda p: p.stem)
@pytest.mark.filterwarnings("ignore")
def test_code_blocks_of_a_page_run(page, folder_of_a_reader):
    names: dict = {}
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_and_commands_of_a_page_are_there(page):
    text = page.read_text("utf-8")
    for name in NAME.findall(text):
        assert pydoc.locate(name) is not None, name
    assert set(COMMAND.findall(text)) <= set(typer.main.get_command(app).commands)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_flags_that_a_page_gives_a_command_are_there(page):
    text = page.read_text("utf-8")
    given = [(command, flag) for command, rest in CALL.findall(text) for flag in FLAG.findall(rest)]
    given += [(command, flag) for flag, command in OF_A_COMMAND.findall(text)]
    commands = typer.main.get_command(app).commands
    known = {
        name: {flag for each in command.params for flag in each.opts + each.secondary_opts}
        for name, command in commands.items()
    }
    assert [(name, flag) for name, flag in given if flag not in known.get(name, {flag})] == []


def test_every_path_that_the_architecture_names_is_there():
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    places = [ROOT, SOURCE, SOURCE / "workbench"]
    named = sorted(set(PATH.findall(text)))
    assert "contract/learner.py" in named
    assert [each for each in named if not any((place / each).exists() for place in places)] == []


def test_every_task_is_at_most_three_clicks_from_the_landing_page():
    docs = ROOT / "docs"
    clicks = {docs / "index.md": 0}
    pages = list(clicks)
    for page in pages:
        for first, second in LINK.findall(page.read_text("utf-8")):
            target = (page.parent / (first or f"{second}.md")).resolve()
            if target.exists() and target not in clicks:
                clicks[target] = clicks[page] + 1
                pages.append(target)
    tasks = ["forecast", "explain", "compare", "cluster", "networks", "decide", "images", "text"]
    assert max(clicks.get(docs / "guide" / f"{task}.md", 99) for task in tasks) <= 3


@pytest.mark.parametrize("page", notebooks.PAGES)
def test_the_cells_of_a_notebook_are_the_blocks_of_its_page(page):
    kept = json.loads(notebooks.path_of(page).read_text("utf-8"))
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in kept["cells"]]
    assert cells == notebooks.cells_of(page)
    outputs = [output for cell in kept["cells"] for output in cell.get("outputs", [])]
    assert any("text/html" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error"]


@pytest.mark.slow
@pytest.mark.parametrize("page", notebooks.PAGES)
def test_a_notebook_runs(page, tmp_path):
    notebooks.executed(page, tmp_path)


def test_every_method_has_a_formula():
    lines = tomllib.loads((ROOT / "docs" / "formulas.toml").read_text("utf-8"))
    named = [name for names in lines for name in names.split()]
    assert sorted(named) == sorted(method.name for method in methods())


def test_every_picture_of_show_has_an_example_for_the_gallery():
    without = [name for name in show.__all__ if ">>>" not in (getattr(show, name).__doc__ or "")]
    assert without == []


@pytest.fixture(scope="module")
def site():
    """The built site, kept in its folder, so that only what is new is built."""
    pytest.importorskip("pydata_sphinx_theme", reason="`make docs` installs what the site needs")
    docs = ROOT / "docs"
    built = docs / "build" / "html"
    kept = ("-d", docs / "build" / "doctrees", docs, built)
    sphinx = (sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", *kept)
    subprocess.run(sphinx, check=True)
    return built


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_site_is_built_without_a_warning_and_searched_from_files(site):
    subprocess.run([sys.executable, ROOT / "docs" / "check_links.py", site], check=True)
    with opened(site / "index.html") as page:
        page.send("Page.navigate", url=(site / "search.html").as_uri() + "?q=dendrogram")
        page.wait_for("document.querySelectorAll('#search-results li a').length > 3")
        page.go(site / "gallery" / "clusters" / "dendrogram.html")
        page.wait_for("document.querySelector('.gnomon-figure .main-svg')")
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        background = "document.querySelector('.gnomon-figure').layout.paper_bgcolor"
        page.wait_for(f"{background} === {THEMES['dark'].paper!r}")
        assert page.errors == []
        assert page.requests == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_page_of_a_method_is_whole(site):
    for method in methods():
        text = (site / "methods" / method.package / f"{method.name}.html").read_text("utf-8")
        for part in ("<math", "gnomon-figure", "&gt;&gt;&gt;", "Use it", "Texts"):
            found = part in text
            assert found or (part == "gnomon-figure" and method.requires), (method.name, part)
    assert len(list((site / "gallery").rglob("*.html"))) > 60


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_newcomer_reaches_each_task_in_three_clicks(site):
    tasks = {
        "Forecast a series": "forecast",
        "Explain a prediction": "explain",
        "Compare two models honestly": "compare",
        "Cluster mixed data": "cluster",
        "Train a network": "networks",
        "Plan a decision": "decide",
    }
    link = "[...document.querySelectorAll('main a')].find(a => a.innerText.trim() === {!r})"
    with opened(site / "index.html") as page:
        for task, name in tasks.items():
            page.go(site / "index.html")
            page.follow("document.querySelector('main a[href=\"guide/index.html\"]').click()")
            page.follow(f"{link.format(task)}.click()")
            assert page.evaluate("location.pathname.split('/').pop()") == f"{name}.html"
            assert task in page.evaluate("document.querySelector('h1').innerText")
        assert page.errors == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_to_pages(page):
    for target in re.findall(r"\]\(([^)#]+\.md)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
