"""The job `compare`: runs side by side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import gnomon
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.runs import RunError, read_record

OPTIONS = {"budget": None, "folds": 4, "repeats": 1, "curve": False, "choose": "best"}


@pytest.fixture
def runs(tmp_path, rng):
    """Two learners on the same folds, and a run with another seed."""
    x = rng.normal(size=(240, 2))
    y = np.where(x[:, 0] + rng.logistic(size=240) > 0, "yes", "no")
    table = Table.from_dict({"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": y.tolist()})
    found = {}
    for name, learner, seed in (
        ("bayes", "naive Bayes", 0),
        ("tree", "pruned tree", 0),
        ("other", "naive Bayes", 1),
    ):
        options = OPTIONS | {"learners": [learner], "random_state": seed}
        found[name] = gnomon.learn(table, "y", folder=tmp_path / name, **options)
    return tmp_path, found


def test_runs_with_the_same_test_rows_are_compared_row_by_row(runs):
    folder, found = runs
    pair = gnomon.compare(["bayes", "tree"], folder=folder).pairs[0]
    one, two = found["bayes"], found["tree"]
    assert pair["difference"] == pytest.approx(one.test.value - two.test.value)
    right = [
        np.array(each.problem.values(each.test_table)) == each.said.predictions
        for each in (one, two)
    ]
    assert (right[0].mean() > right[1].mean()) == (pair["difference"] > 0)
    if (right[0] != right[1]).any():
        plain = stats.ttest_rel(*[each.astype(float) for each in right]).pvalue
        assert pair["p"] == pytest.approx(plain, abs=0.05)
    assert "the same 60 test rows" in pair["how"]


def test_runs_on_other_folds_are_compared_by_their_figures_and_it_is_said(runs):
    folder, found = runs
    compared = gnomon.compare(["bayes", "other"], folder=folder)
    gap = found["bayes"].test.value - found["other"].test.value
    assert compared.pairs[0]["difference"] == pytest.approx(gap)
    assert "different test rows" in compared.pairs[0]["how"]
    assert compared.notes


def test_runs_of_different_targets_are_not_compared(runs, rng):
    folder, found = runs
    rows = found["bayes"].problem.rows
    gnomon.learn(
        rows.drop(["y"]).with_column("z", rows["y"].to_pylist()),
        "z",
        folder=folder / "z",
        learners=["naive Bayes"],
        **OPTIONS,
    )
    compared = gnomon.compare(["bayes", "z"], folder=folder)
    assert not compared.pairs
    assert "different targets" in compared.notes[0]


def test_one_run_alone_and_an_unfinished_one_are_refused(runs):
    folder, _ = runs
    with pytest.raises(DataError, match="two or more"):
        gnomon.compare(["bayes"], folder=folder)
    place = folder / "tree" / "run.json"
    place.write_text(place.read_text().replace('"status": "finished"', '"status": "running"'))
    assert read_record(folder / "tree")["status"] == "running"
    with pytest.raises(RunError, match="--resume"):
        gnomon.compare(["bayes", "tree"], folder=folder)
