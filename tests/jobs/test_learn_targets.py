"""Several targets of one table are learnt each for itself, and shown side by side."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon
from gnomon.table import Table
from gnomon.workbench.base.budget import Budget
from tests.jobs.terminal import call

OPTIONS = {"learners": ["linear regression"], "budget": None, "folds": 3, "repeats": 1}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(8)
    x, z = rng.normal(size=(2, 80))
    return Table.from_dict(
        {"x": x, "z": z, "fat": x + 0.3 * rng.normal(size=80), "moisture": z - x}
    )


def test_every_target_has_its_board_and_none_predicts_another(table, tmp_path):
    found = gnomon.learn(table, ["fat", "moisture"], folder=tmp_path, curve=False, **OPTIONS)
    assert list(found) == ["fat", "moisture"]
    for target in found:
        assert list(found[target].model.feature_names_in_) == ["x", "z"]
        assert (tmp_path / target / "run.json").exists()
    alone = gnomon.learn(table, "fat", without="moisture", curve=False, **OPTIONS)
    assert found["fat"].test.value == alone.test.value
    assert [line[0] for line in found.board()] == ["fat", "moisture"]
    assert "moisture" in str(found)
    assert found.predict(table[:5]).columns == ("fat", "moisture")


def test_the_shell_learns_every_target_that_is_given(table, tmp_path):
    table.save(tmp_path / "t.csv")
    words = ["learn", "t.csv", "--target", "fat", "--target", "moisture", "--budget", "20"]
    words += ["--folds", 3, "--repeats", 1, "--learner", "linear regression"]
    done = call(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(each.name for each in (tmp_path / "runs").iterdir()) == [
        "t-fat-1",
        "t-moisture-1",
    ]
    assert "all targets" in done.stdout
    done = call(*words, "--json", folder=tmp_path)
    assert set(json.loads(done.stdout)) == {"fat", "moisture"}


def test_a_budget_is_shared_among_the_targets():
    assert Budget.of("60s").part(4).seconds == 15
    assert Budget.of("40").part(3).evaluations == 13
    assert Budget.of(None).part(2).seconds is None
