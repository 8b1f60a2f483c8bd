"""The benchmark of tables: its cases are what they claim, its scores are those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss

from benchmarks.tables.__main__ import best_peer, line_of
from benchmarks.tables.cases import CASES
from benchmarks.tables.peers import Said
from benchmarks.tables.scores import compared, score

SMALL = ("rare_5_percent", "rare_of_many", "dated", "grouped", "holes", "leak_flag", "leak_key")


def test_there_are_forty_tables_or_more_with_names_of_their_own():
    names = [case.name for case in CASES]
    assert len(names) >= 40
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", SMALL)
def test_generated_tables_have_their_target_and_their_planted_columns(name, tmp_path):
    case = next(each for each in CASES if each.name == name)
    frame = case.frame(tmp_path)
    assert {case.target, *case.leaks} <= set(frame.columns)
    assert frame.equals(case.frame(tmp_path))


def test_scores_are_those_of_scikit_learn(rng):
    y = rng.choice(["a", "b", "c"], 80)
    given = rng.dirichlet(np.ones(3), 80)
    said = Said(np.array(["a", "b", "c"])[given.argmax(1)], given, np.array(["a", "b", "c"]))
    rows = np.arange(80)
    assert score("log_loss", y, said, rows) == pytest.approx(-log_loss(y, given))
    assert score("accuracy", y, said, rows) == np.mean(said.predictions == y)


def test_a_peer_that_says_the_same_is_not_ahead(rng):
    y = rng.normal(size=60)
    ours, worse = Said(y + 0.1 * rng.normal(size=60)), Said(y + 3 * rng.normal(size=60))
    found = compared("rmse", y, ours, {"same": ours, "worse": worse})
    assert found["peers"]["same"]["behind"] == 0
    assert compared("rmse", y, worse, {"ours": ours})["peers"]["ours"]["behind"] > 2
    assert best_peer(found)[0] == "same"


def test_a_run_that_failed_has_its_message_in_the_page():
    record = {"rows": 10, "columns": 2, "seconds": 3.0, "budget": 10.0, "error": "no such column"}
    assert "failed: no such column" in line_of("broken", record)
