"""Code blocks of README and of the guide run as a reader would run them."""

from __future__ import annotations

import json
import os
import pydoc
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import typer

from examples import notebooks
from gnomon import show
from gnomon.engine.registry import methods
from gnomon.show.theme import THEMES
from gnomon.table import Table, example
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
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = ("", "bash", "sh")
OPEN = "gnomon is open at http"
BUILDING = ("make", "pip")  # what a page tells to do before, and other tests do
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


def commands_of(page: Path) -> list[list[str]]:
    """The words of every command of a page's blocks, without the place of the program."""
    fenced = FENCED.findall(page.read_text("utf-8"))
    lines = [line for kind, block in fenced if kind in SHELL for line in block.splitlines()]
    found = [shlex.split(line.removeprefix(".venv/bin/"), comments=True) for line in lines]
    return [words for words in found if words and words[0] not in BUILDING]


def write_files_of_commands(folder: Path) -> None:
    """The files that the commands of pages name: monthly sales, trials, baskets, letters."""
    rng = np.random.default_rng(0)
    n = 144
    months = [f"{2010 + k // 12}-{k % 12 + 1:02}-01" for k in range(n)]
    price = rng.uniform(5, 15, n)
    sales = 100 + np.arange(n) + 20 * np.sin(np.arange(n) * np.pi / 6) + rng.normal(0, 5, n)
    churn = np.where(price + rng.normal(0, 2, n) > 10, "yes", "no")
    columns = {"month": months, "price": price, "region": rng.choice(["north", "south"], n)}
    columns |= {"sales": sales, "revenue": sales * price, "churn": churn}
    Table.from_dict(columns).save(folder / "sales.csv")
    Table.from_dict(columns).drop(["churn"])[:20].save(folder / "new.csv")
    speed, pressure = rng.uniform(0, 10, 60), rng.uniform(0, 5, 60)
    gain = 3 * speed - 0.2 * speed**2 + rng.normal(0, 1, 60)
    trials = {"speed": speed, "pressure": pressure, "yield": gain, "cost": speed + 2 * pressure}
    Table.from_dict(trials).save(folder / "trials.csv")
    receipts = np.repeat(np.arange(80), 3)
    articles = rng.choice(["bread", "butter", "milk", "tea"], len(receipts))
    Table.from_dict({"receipt": receipts, "article": articles}).save(folder / "baskets.csv")
    words = (["ship", "port", "sea", "sail"], ["bread", "oven", "flour", "salt"])
    bodies = [" ".join(rng.choice(words[k % 2], 12)) for k in range(80)]
    Table.from_dict({"body": bodies}).save(folder / "letters.csv")
    script = "from sklearn.datasets import load_iris\nfrom sklearn.cluster import KMeans\n"
    script += "print(KMeans(3, n_init=1).fit(load_iris().data).inertia_)\n"
    (folder / "script.py").write_text(script, encoding="utf-8")


def run_command(words: list[str], folder: Path) -> None:
    """A command of a page, as a reader starts it, with a short budget where it takes one."""
    if words[0] != "python":
        words = ["python", "-m", *words]
    name = words[3] if words[2] == "gnomon" else ""
    for flag, value in (("--budget", "6s"), ("--epochs", "5")):
        known = typer.main.get_command(app).commands.get(name)
        flags = {each for option in known.params for each in option.opts} if known else set()
        if flag in flags and flag not in words:
            words = [*words, flag, value]
    if name == "open":
        words = [*words, "--no-browser", "--port", "0"]
    if words[2] == "benchmarks.stream":
        words = [*words, "100000"]  # rows
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT), *sys.path])
    }
    process = subprocess.Popen(
        [sys.executable, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        cwd=folder, env=environment,
    )  # fmt: skip
    try:
        said = ""
        while name == "open" and OPEN not in said and process.poll() is None:
            said += process.stdout.readline()
        if name == "open":
            process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=600)[0]
    finally:
        process.kill()
    right = OPEN in said if name == "open" else process.returncode == 0
    assert right, f"{' '.join(words)}: {said}"
    assert "Traceback" not in said, said
    assert said.strip(), f"{' '.join(words)} says nothing"


@pytest.mark.slow  # a process for each command
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands_of(page)], ids=lambda p: p.stem
)
def test_commands_of_a_page_run(page, tmp_path):
    write_files_of_commands(tmp_path)
    for words in commands_of(page):
        run_command(words, tmp_path)


def test_commands_are_found_in_the_pages_that_have_them():
    found = {page.stem: {words[1] for words in commands_of(page)} for page in PAGES}
    everyday = {"open", "look", "learn", "predict", "group", "forecast", "train", "prepare"}
    assert everyday < found["README"]
    assert {"look", "learn", "explain", "methods"} < found["tour_analyst"]
    assert found["decide"] == {"decide"}


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
        for part in ("<math", "gnomon-figure", "&gt;&gt;&gt;", "When to use it", "Texts"):
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
