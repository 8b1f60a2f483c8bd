"""Code blocks of README and of the guide run as a reader would run them."""

from __future__ import annotations

import json
import pydoc
import re
from pathlib import Path

import pytest
import typer

from examples import notebooks
from gnomon.table import example
from gnomon.workbench.cli import app

ROOT = Path(__file__).parents[2]
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
SECONDS = re.compile(r'budget="\d+s"')


def blocks(page: Path) -> list[str]:
    """The blocks of Python of a page, with budgets of two seconds."""
    return [SECONDS.sub('budget="2s"', found) for found in BLOCK.findall(page.read_text("utf-8"))]


@pytest.fixture
def folder_of_a_reader(tmp_path, monkeypatch):
    """A folder with the files that README names."""
    customers = example("customers").to_pandas()
    customers["revenue"] = customers["monthly_charge"] * customers["tenure_months"]
    customers.to_csv(tmp_path / "sales.csv", index=False)
    customers.to_csv(tmp_path / "ten_million_rows.csv", index=False)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_to_pages(page):
    for target in re.findall(r"\]\(([^)#]+\.md)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
