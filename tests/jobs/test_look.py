"""`gnomon look` as a person uses it: findings, terminal, JSON, reports, bad input."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.table import Table, example, examples
from gnomon.workbench.base.report import Report
from gnomon.workbench.base.whole_file import WriteError, write_whole
from gnomon.workbench.cli import main
from gnomon.workbench.look.report import report_of


def about(found) -> set[str]:
    return {finding.about for finding in found.findings}


def columns_of(found, topic: str) -> set[str]:
    return {name for f in found.findings if f.about == topic for name in f.columns}


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """Run ``gnomon look`` in an empty folder, as `main` does: exit code, output, complaints."""

    def run(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
        monkeypatch.setattr(sys, "argv", ["gnomon", "look", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code or 0, said.out, said.err

    return run


@pytest.fixture
def messy(rng):
    """A table with one of everything that look should find."""
    n = 400
    x = rng.normal(size=n)
    outcome = np.where(x + rng.normal(size=n) > 2.33, "yes", "no")
    gone = x > 0.8
    columns = {
        "key": [f"K{k:05d}" for k in rng.permutation(n)],
        "x": x,
        "x_in_cents": 100 * x + 3,
        "same": ["a"] * n,
        "empty": [None] * n,
        "hidden": np.where(gone, np.nan, rng.normal(size=n)),
        "code": np.where(rng.random(n) < 0.1, -999.0, rng.normal(10, 1, n)),
        "refund": np.where(outcome == "yes", "paid", "none given"),
        "outcome": outcome,
    }
    return columns


@pytest.mark.covers("data-profile", "data-cleaning-workflow")
def test_look_finds_what_is_wrong_with_a_messy_table(messy):
    found = gnomon.look(messy, target="outcome")
    assert columns_of(found, "leak") == {"refund"}
    assert columns_of(found, "constant") == {"same"}
    assert columns_of(found, "empty") == {"empty"}
    assert columns_of(found, "same columns") == {"x", "x_in_cents"}
    assert columns_of(found, "stands for missing") == {"code"}
    assert columns_of(found, "identifiers") == {"key"}
    assert "hidden" in columns_of(found, "missing not at random")
    assert "unbalanced classes" in about(found)
    assert found.findings[0].kind == "bad", "the worst comes first"


@pytest.mark.covers("data-cleaning-workflow")
def test_the_cleaning_script_runs_and_leaves_nothing_that_it_complains_of(messy, tmp_path):
    path = tmp_path / "messy.csv"
    Table.from_dict(messy).save(path)
    found = gnomon.look(gnomon.read(path), target="outcome", source=str(path))
    names: dict = {}
    exec(found.cleaning_script(), names)
    cleaned = gnomon.look(names["table"], target="outcome")
    assert not {"leak", "constant", "empty", "same columns"} & about(cleaned)
    assert {"outcome", "hidden", "code"} <= set(names["table"].columns)


def test_a_sound_table_has_no_bad_finding(rng):
    n = 200
    found = gnomon.look(
        {
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
            "class": rng.permutation(np.repeat(["a", "b"], n // 2)),
        },
        target="class",
    )
    assert not {f.kind for f in found.findings} & {"bad", "warning"}


def test_duplicate_rows_are_counted_with_and_without_identifiers(rng):
    x = rng.normal(size=100)
    x[50:60] = x[:10]
    names = [f"A{k:06d}" for k in rng.permutation(100)]
    found = gnomon.look({"id": names, "x": x, "c": ["a"] * 99 + ["b"]})
    assert found.duplicate_rows == 0
    assert found.duplicate_rows_apart == 10


def test_a_number_that_stands_for_a_category_is_called_the_same_column(rng):
    codes = rng.integers(0, 4, 200)
    school = np.array(["primary", "secondary", "college", "university"])[codes]
    found = gnomon.look({"school": school, "years": 3.0 + codes**2, "x": rng.normal(size=200)})
    assert columns_of(found, "same columns") == {"school", "years"}


def test_columns_whose_names_differ_in_case_only_are_kept_apart():
    found = gnomon.look({"a": [1.0, 2.0, 1.0], "A": [1.0, 2.0, 3.0]})
    assert found.duplicate_rows == 0


@pytest.mark.parametrize("name", sorted(examples()))
def test_every_example_table_can_be_looked_at(name, tmp_path):
    found = gnomon.look(example(name))
    assert len(repr(found)) > 100
    assert found.report(tmp_path / "report.html").stat().st_size < 6e6


ODD_TABLES = {
    "one column": {"a": [1.0, 2.0, 3.0]},
    "one row": {"a": [1.0], "b": ["x"]},
    "all missing": {"a": [None, None, None], "b": [None, None, None]},
    "text only": {"t": [f"sentence number {i} of some words" for i in range(60)]},
    "infinite": {"a": [1.0, np.inf, -np.inf, 3.0] * 10, "b": [1e308, -1e308, 1e300, 5.0] * 10},
    "truths": {"a": [True, False, None] * 20, "b": [True, True, False] * 20},
    "words": {"größe ✓ 数": [1.0, 2.0, 3.0, 4.0] * 20, "=1+1": [1, 2, 2, 1] * 20},
    "markup": {
        "<img src=x onerror=alert(1)>": ["a", "b", "<script>alert(2)</script>", "d"] * 20,
        "</script><b>": np.arange(80.0) % 7,
        "[bold]x[/bold]": np.arange(80.0) % 5,
    },
}


@pytest.mark.parametrize("name", ODD_TABLES)
def test_odd_tables_are_looked_at_without_a_warning_or_an_error(name, tmp_path, recwarn):
    table = ODD_TABLES[name]
    found = gnomon.look(table, target=next(iter(table)))
    assert json.loads(found.to_json())["rows"] == len(next(iter(table.values())))
    assert repr(found)
    found.report(tmp_path / "report.html")
    found.figures("dark")
    assert [str(w.message) for w in recwarn] == []


def test_a_hundred_thousand_categories_are_no_problem(rng):
    n = 120_000
    levels = np.array([f"v{k}" for k in range(100_000)])[rng.integers(0, 100_000, n)]
    table = Table.from_dict({"c": levels, "x": rng.normal(size=n)}).set("c", kind="category")
    found = gnomon.look(table, target="c")
    assert "many levels" not in about(found), "the target is judged as a target"
    assert found.columns["c"].distinct > 50_000
    assert report_of(found).html()


def test_wide_tables_are_limited_and_say_so(rng):
    found = gnomon.look({f"c{k}": rng.normal(size=60) for k in range(300)})
    assert any("300 columns" in limit for limit in found.limits)
    assert len(report_of(found).html()) < 6e6


@pytest.mark.covers("data-profile")
@pytest.mark.parametrize("kind", ["number", "class"])
def test_a_leak_is_found_in_whichever_of_many_columns_it_stands(rng, kind):
    n = 300
    columns = {f"c{k}": rng.normal(size=n) for k in range(100)}
    y = np.exp(rng.normal(size=n))
    given_away = y if kind == "number" else 1.0 * (y > 1)
    columns["c80"] = 0.92 * given_away + 1e-4 * rng.normal(size=n)
    columns["y"] = y if kind == "number" else np.where(y > 1, "high", "low")
    found = gnomon.look(columns, target="y")
    assert columns_of(found, "leak") == {"c80"}
    assert len(found.with_target) == len(found.predictors) == 100
    assert any("The target is compared with all" in limit for limit in found.limits)
    assert "c80" in report_of(found).html()


def test_columns_that_are_hardly_ever_known_together_are_not_called_the_same(rng):
    n = 60
    rare = np.where(np.arange(n) < 3, np.array(["a", "b", "c"])[np.arange(n) % 3], None)
    other = np.where(np.arange(n) < 3, "one", rng.choice(["one", "two"], n))
    found = gnomon.look({"rare": rare.tolist(), "other": other, "x": rng.normal(size=n)})
    assert "same columns" not in about(found)
    assert not any("nan" in f.text for f in found.findings)


def test_a_few_missing_cells_are_not_said_to_go_with_a_column(rng):
    n = 400
    kind = np.where(np.arange(n) == 7, "odd", rng.choice(["a", "b"], n))
    columns = {name: rng.normal(size=n) for name in ("x", "y", "z")}
    columns["x"][7] = np.nan
    low = kind == "a"
    for name in ("y", "z"):
        columns[name][low & (rng.random(n) < 0.5)] = np.nan
    found = gnomon.look({**columns, "kind": kind})
    said = [f for f in found.findings if f.about == "missing not at random"]
    assert not any("'x'" in f.text.split("goes with")[0] for f in said)
    assert {"y", "z"} <= {name for f in said for name in f.columns}


def test_zeros_far_below_the_other_values_may_stand_for_missing_ones(rng):
    pressure = rng.normal(72, 10, 400)
    pressure[:20] = 0
    amount = np.where(rng.random(400) < 0.3, 0.0, rng.exponential(100, 400))
    found = gnomon.look({"pressure": pressure, "amount": amount, "x": rng.normal(size=400)})
    assert columns_of(found, "stands for missing") == {"pressure"}


def test_text_that_is_not_compared_with_the_target_is_named(rng):
    words = [" ".join(rng.choice(list("abcdefgh"), 30)) for _ in range(200)]
    table = Table.from_dict({"note": words, "x": rng.normal(size=200), "y": rng.normal(size=200)})
    found = gnomon.look(table.set("note", kind="text"), target="y")
    assert any("not compared with the target: 'note'" in limit for limit in found.limits)


@pytest.mark.covers("data-profile")
def test_a_target_of_zeros_and_ones_is_shown_as_classes(rng):
    bought = rng.permutation(np.repeat([0, 1], [150, 50]))
    found = gnomon.look({"x": rng.normal(size=200), "bought": bought}, target="bought")
    assert found.class_counts == {"0": 150, "1": 50}
    assert "classes of bought: 0 75.0%, 1 25.0%" in repr(found)
    assert any("taken for classes" in note for note in found.table.notes)
    assert "classes" in found.figures()


def test_a_target_of_few_whole_numbers_has_a_hint_how_to_learn_classes(rng):
    found = gnomon.look({"x": rng.normal(size=200), "y": np.arange(200) % 5}, target="y")
    (hint,) = [f for f in found.findings if f.about == "target of few values"]
    assert "--task classify" in hint.remedy


def test_a_target_of_few_whole_numbers_called_class_is_shown_as_classes(rng):
    found = gnomon.look(
        {"x": rng.normal(size=200), "class": np.arange(200) % 4 + 1}, target="class"
    )
    assert found.class_counts == dict.fromkeys("1234", 50)
    assert any("learn with --task regress" in note for note in found.table.notes)
    assert not [f for f in found.findings if f.about == "target of few values"]


def test_an_infinite_cell_is_named_by_column_and_row(rng):
    x = rng.normal(size=60)
    place = int(rng.integers(60))
    x[place] = -np.inf
    found = gnomon.look({"x": x, "y": rng.normal(size=60)}, target="y")
    (finding,) = [f for f in found.findings if f.about == "infinite"]
    assert f"'x' is infinite in row {place + 1}:" in finding.text


def test_a_trend_is_no_leak(rng):
    days = np.datetime64("2020-01-01") + np.arange(300)
    found = gnomon.look({"day": days, "y": np.arange(300) + rng.normal(size=300)}, target="y")
    assert columns_of(found, "trend") == {"day"}
    assert "leak" not in about(found)


def test_drawn_rows_are_named_with_their_seed(rng):
    found = gnomon.look({"x": rng.normal(size=6000), "y": rng.normal(size=6000)}, random_state=7)
    assert any("4,000 of 6,000 rows" in limit and "seed 7" in limit for limit in found.limits)


def test_an_empty_table_is_refused():
    with pytest.raises(DataError, match="0 rows"):
        gnomon.look({"a": []})


def test_a_wrong_target_is_refused_with_the_nearest_name():
    with pytest.raises(DataError, match="species"):
        gnomon.look(example("iris"), target="specie")


def test_the_command_prints_findings_and_writes_a_report(tmp_path):
    done = subprocess.run(
        f"{sys.executable} -m gnomon look --example customers --target churn --report out.html",
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stderr
    assert "strongest associations" in done.stdout
    assert "alone predicts churn" in done.stdout
    assert "out.html" in done.stderr
    assert (tmp_path / "out.html").stat().st_size < 6e6
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_the_command_gives_json_for_scripts(command):
    code, out, _ = command("--example", "iris", "--target", "species", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["class_counts"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert {column["name"] for column in found["columns"]} == set(example("iris").columns)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nosuch.csv"], "nosuch.csv"),
        (["."], "directory"),
        (["--example", "iris", "--target", "specis"], "species"),
        (["--example", "iris", "--report", "no/such/folder/out.html"], "cannot write"),
        ([], "give a file"),
    ],
)
def test_bad_input_is_a_line_on_standard_error_and_a_code(command, tmp_path, arguments, words):
    code, out, complaint = command(*arguments)
    assert code == 2
    assert words in " ".join(complaint.split())
    assert "Traceback" not in complaint + out
    assert list(tmp_path.iterdir()) == []


def test_strict_ends_with_code_one_where_something_is_bad(command, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{k},a\n" for k in range(60)))
    assert command(path, "--target", "y", "--strict")[0] == 1
    assert command(path, "--target", "y")[0] == 0


def test_a_file_that_vanishes_is_said_to_have(command, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,2\n")
    real = gnomon.table.read

    def late(source, *arguments, **options):
        path.unlink()
        return real(source, *arguments, **options)

    monkeypatch.setattr("gnomon.workbench.base.given.read", late)
    code, _, complaint = command(path)
    assert code == 2
    assert "does not exist" in complaint


@pytest.mark.covers("run-report")
def test_a_full_disk_leaves_the_old_report_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    Report("old").text("before").write(path)
    before = path.read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        Report("new").text("after").write(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "x.txt"
    write_whole(path, "first")
    assert write_whole(path, b"second").read_bytes() == b"second"


def test_a_report_that_is_too_large_says_so(tmp_path):
    with pytest.warns(GnomonWarning, match="MB"):
        Report("large").text("x" * 6_100_000).write(tmp_path / "r.html")


def test_cells_of_reports_are_escaped_and_numbers_rounded():
    report = Report("<t>").table(["<h>", "n"], [["<c>", 1 / 3], [None, 1234567]], "<cap>")
    html = report.verdict("<v>", "bad").code("<code>").text("<p>").html()
    for name in ("t", "h", "c", "cap", "v", "p"):
        assert f"&lt;{name}&gt;" in html
        assert f"<{name}>" not in html.replace("<p>&lt;p&gt;</p>", "")
    assert "0.3333" in html
    assert "1,234,567" in html


def test_rows_of_the_wrong_length_are_refused():
    with pytest.raises(ValueError, match="1 cells"):
        Report("r").table(["a", "b"], [["x"]])


def test_the_target_by_category_is_the_first_picture(rng):
    plan = rng.choice(["basic", "gold"], 200)
    leaves = np.where(rng.random(200) < np.where(plan == "basic", 0.7, 0.2), "yes", "no")
    found = gnomon.look(
        {"plan": plan, "x": rng.normal(size=200), "leaves": leaves}, target="leaves"
    )
    assert next(iter(found.pictures)) == "rates"
    points = found.plot("rates").data[0]
    for level, value in zip(("basic", "gold"), (0.7, 0.2)):
        place = [each.endswith(level) for each in points.y].index(True)
        assert points.x[place] == pytest.approx((leaves[plan == level] == "yes").mean())
        assert abs(points.x[place] - value) < 0.25


def test_of_numbers_the_means_by_category_are_drawn(rng):
    kind = rng.choice(["a", "b"], 120)
    y = np.where(kind == "a", 5.0, 1.0) + rng.normal(size=120)
    found = gnomon.look({"kind": kind, "y": y}, target="y")
    points = found.plot("rates").data[0]
    means = {word: y[kind == word].mean() for word in ("a", "b")}
    assert sorted(points.x) == pytest.approx(sorted(means.values()))


def test_rows_that_repeat_are_counted_as_by_comparing_all_of_them(rng):
    columns = {
        "number": rng.choice([0.0, -0.0, 1.5, None], 60).tolist(),
        "class": rng.choice(np.array(["a", "b", None], dtype=object), 60).tolist(),
        "flag": rng.choice(np.array([True, False, None], dtype=object), 60).tolist(),
        "same": [1] * 60,
    }
    seen = list(zip(*columns.values()))
    found = gnomon.look(Table.from_dict(columns))
    assert found.duplicate_rows == len(seen) - len(set(seen)) > 0
    apart = Table.from_dict({**columns, "number": rng.permutation(60).astype(float).tolist()})
    assert gnomon.look(apart).duplicate_rows == 0


def test_names_kinds_and_headings_stay_whole_in_80_columns(tmp_path, rng):
    from rich.console import Console

    table = Table.from_dict(
        {
            "a_rather_long_name": rng.normal(size=50).tolist(),
            "code": rng.choice([1, 2, 9], 50, p=[0.9, 0.05, 0.05]).tolist(),
            "kind_of_thing": rng.choice(["one", "two"], 50).tolist(),
        }
    )
    with (tmp_path / "said").open("w") as file:
        Console(width=80, file=file).print(gnomon.look(table))
    said = (tmp_path / "said").read_text()
    head, *lines = said[said.index("column ") :].splitlines()
    lines = [line for line in lines if not line.startswith(" ")]  # others go on with the values
    assert head.split() == ["column", "kind", "missing", "distinct", "outliers", "values"]
    assert [line.split()[0] for line in lines[:3]] == list(table.columns)
    assert "category" in lines[2]
    assert "…" not in said
    assert lines[1].split()[4] == "-"  # codes have no outliers


def test_pictures_of_points_leave_out_columns_that_would_empty_or_flatten_them(rng):
    x = rng.normal(size=200)
    noise = 0.5 * rng.normal(size=(200, 3))
    table = {
        "x": x,
        "y": x + noise[:, 0],
        "grade": np.round(np.clip(x, -1, 1)),  # three distinct values, close to x
        "mostly_missing": np.where(rng.random(200) < 0.9, np.nan, x + 0.01 * noise[:, 1]),
    }
    found = gnomon.look(table)
    ellipses, parallel = found.plot("ellipses"), found.plot("parallel")
    assert {ellipses.layout.xaxis.title.text, ellipses.layout.yaxis.title.text} == {"x", "y"}
    axes = next(each for each in parallel.data if each.type == "parcoords").dimensions
    assert {each.label for each in axes} == {"x", "y", "grade"}
    assert "not drawn" not in parallel.layout.title.text
