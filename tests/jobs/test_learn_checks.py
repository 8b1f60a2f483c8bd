"""The checks of `learn`: each speaks on a table made for it, and is silent on a sound one."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

import gnomon
from gnomon.table import Table
from gnomon.workbench.checks import CHECKS, stands_in
from tests.jobs.browser import opened, require_sound

QUICK = {"budget": None, "folds": 3, "repeats": 1, "curve": False}


def sound(rng, n=600) -> dict[str, list]:
    """Two independent columns that say something of two equal classes."""
    x = rng.normal(size=(n, 2))
    y = np.where(x[:, 0] + x[:, 1] + rng.logistic(size=n) > 0, "yes", "no")
    return {"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": y.tolist()}


def checks_of(columns: dict[str, list], **options) -> dict[str, object]:
    learners = options.pop("learners", ["naive Bayes"])
    found = gnomon.learn(Table.from_dict(columns), "y", learners=learners, **(QUICK | options))
    return {each.name: each for each in found.checks}


@pytest.mark.covers("trap-warnings")
def test_a_sound_table_has_no_leak_no_repeats_no_drift_and_beats_the_baseline(rng):
    found = checks_of(sound(rng), folds=5, repeats=2)  # three folds tell little apart
    for name in ("better than the baseline", "leak", "repeated rows", "time", "enough rows"):
        assert found[name].verdict == "good", found[name]
    assert len(found) >= 16
    assert len(CHECKS) >= 16


@pytest.mark.covers("trap-warnings")
def test_a_column_that_gives_the_target_away_is_named(rng):
    columns = sound(rng)
    columns["after"] = [float(y == "yes") + 0.01 * rng.normal() for y in columns["y"]]
    found = checks_of(columns)["leak"]
    assert found.verdict == "bad"
    assert "'after'" in found.finding
    assert found.remedy


@pytest.mark.covers("trap-warnings")
def test_rows_that_stand_in_training_and_test_are_counted(rng):
    columns = {name: cells * 2 for name, cells in sound(rng, 300).items()}
    found = checks_of(columns)["repeated rows"]
    assert found.verdict == "warning"
    assert found.figure > 0.5


@pytest.mark.covers("trap-warnings")
def test_moments_split_at_random_are_said(rng):
    columns = sound(rng, 300)
    first = datetime.datetime(2020, 1, 1)
    columns["when"] = [first + datetime.timedelta(days=int(d)) for d in rng.permutation(300)]
    found = checks_of(columns)["time"]
    assert found.verdict == "warning"
    assert "time='when'" in found.remedy


@pytest.mark.covers("trap-warnings", "unbalanced-class-workflow")
def test_a_rare_class_makes_accuracy_doubtful_and_another_measure_does_not(rng):
    columns = sound(rng)
    columns["y"] = ["yes" if i % 15 == 0 else "no" for i in range(600)]
    assert checks_of(columns)["balanced classes"].verdict == "warning"
    other = checks_of(columns, measure="balanced_accuracy")
    assert other["balanced classes"].verdict == "good"
    assert checks_of(columns)["rows of every class"].verdict == "warning"


@pytest.mark.covers("trap-warnings")
def test_columns_that_say_the_same_are_named(rng):
    columns = sound(rng)
    columns["twice"] = [2 * a + 1e-3 * rng.normal() for a in columns["a"]]
    found = checks_of(columns)["correlated columns"]
    assert found.verdict == "warning"
    assert "'twice'" in found.finding
    assert "'a'" in found.finding


@pytest.mark.covers("trap-warnings")
def test_a_forest_on_noise_is_said_to_overfit(rng):
    columns = sound(rng, 300)
    columns |= {f"noise{j}": rng.normal(size=300).tolist() for j in range(8)}
    columns["y"] = rng.choice(["yes", "no"], 300).tolist()
    options = {"learners": ["random forest"], "choose": "best"}
    table = Table.from_dict(columns)
    found = gnomon.learn(table, "y", **(QUICK | options))
    if found.chosen == "random forest":
        assert {c.name: c for c in found.checks}["overfitting"].verdict == "warning"
    else:
        assert found.checks[0].verdict == "bad"


@pytest.mark.covers("trap-warnings")
def test_a_group_for_which_the_model_fails_is_found(rng):
    columns = sound(rng, 2000)
    group = rng.choice(["left", "right"], 2000)
    x = np.array(columns["a"])
    columns["a"] = (4 * x).tolist()
    coin = rng.choice(["yes", "no"], 2000)
    columns["y"] = np.where(group == "left", coin, np.where(x > 0, "yes", "no")).tolist()
    columns["side"] = group.tolist()
    found = checks_of(columns)["worst group"]
    assert found.verdict == "warning"
    assert "'left'" in found.finding


def test_few_rows_are_said(rng):
    assert checks_of(sound(rng, 80))["enough rows"].verdict == "warning"


@pytest.mark.parametrize("kind", ["classify", "regress"])
@pytest.mark.covers("run-report")
def test_the_report_opens_without_errors_and_draws_every_figure(rng, tmp_path, kind):
    columns = sound(rng, 260)
    columns["<b>name & co</b>"] = rng.choice(["<i>x</i>", "y"], 260).tolist()
    if kind == "regress":
        columns["y"] = (np.array(columns["a"]) + rng.normal(size=260)).tolist()
    learner = "naive Bayes" if kind == "classify" else "linear regression"
    options = QUICK | {"curve": True, "learners": [learner]}
    found = gnomon.learn(Table.from_dict(columns), "y", **options)
    path = found.report(tmp_path / "report.html")
    assert path.stat().st_size < 6_000_000
    with opened(path) as page:
        require_sound(page)
        assert len(page.figures()) >= 5
        assert page.evaluate("document.body.innerText.includes('could not be drawn')") is False


def test_equal_rows_are_those_that_a_plain_search_finds(rng):
    def few(n):
        cells = {
            "a": [None if v == 0 else float(v) for v in rng.integers(0, 4, n)],
            "b": rng.choice(["x", "y", "z"], n).tolist(),
            "c": rng.integers(0, 3, n).astype(bool).tolist(),
        }
        return Table.from_dict(cells).set("b", kind="category")

    known, rows = few(12), few(40)
    names = ["a", "b", "c"]
    listed = [tuple(known.row(i)[n] for n in names) for i in range(len(known))]
    wanted = [tuple(rows.row(i)[n] for n in names) in listed for i in range(len(rows))]
    assert stands_in(known, rows, names).tolist() == wanted
