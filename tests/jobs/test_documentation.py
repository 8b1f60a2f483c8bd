"""Code blocks of README and of the guide run as a reader would run them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gnomon.table import example

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("tour_*.md")),
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]
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
def test_links_between_pages_lead_to_pages(page):
    for target in re.findall(r"\]\(([^)#]+\.md)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
