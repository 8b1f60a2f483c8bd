"""What `learn` says of the baseline: shown or not shown, and never against its own board."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import gnomon
from gnomon.evaluate import k_fold, leaderboard
from gnomon.table import Table
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.learn.lead import leads

QUICK = {"budget": None, "folds": 5, "repeats": 1, "curve": False}


def numbers(rng, n=100, explained=0.4):
    """A line that explains a share of the variance."""
    x = rng.normal(size=n)
    noise = rng.normal(size=n) * np.sqrt(1 / explained - 1)
    return {"x": x, "z": rng.normal(size=n), "y": x + noise}


def test_lines_that_explain_forty_percent_of_a_hundred_rows_are_found(rng):
    learners, found = {"line": LinearRegression()}, 0
    for table in (numbers(rng) for _ in range(30)):
        X, y = np.column_stack([table["x"], table["z"]])[:75], np.asarray(table["y"])[:75]
        board = leaderboard(learners, X, y, cv=k_fold(75, 5, 1, random_state=0), measures="rmse")
        found += leads(board)["line"].is_real
    assert found >= 22  # 98% of 300 such tables are found, so that fewer than 22 come once in 10^8


def test_a_verdict_names_the_rows_on_which_a_line_beats_the_baseline(rng):
    table = numbers(rng, explained=0.8)  # found in 300 of 300 such tables
    found = gnomon.learn(table, "y", learners=["linear regression"], **QUICK)
    assert found.beats_baseline
    assert "beats the baseline" in found.verdict()
    assert "75 rows" in found.verdict()


def test_noise_is_not_shown_with_the_rows_and_the_learners_that_were_tried(rng):
    noise = rng.normal(size=40)  # and its mirror image: no line can predict one from the other
    table = {"x": np.tile(rng.normal(size=40), 2), "y": np.concatenate([noise, -noise])}
    found = gnomon.learn(table, "y", learners=["linear regression", "ridge"], **QUICK)
    verdict = found.verdict()
    assert verdict.startswith("With 60 rows it is not shown")
    assert "2 of 2 learners were tried" in verdict
    assert "does not predict" not in verdict


def test_verdict_check_and_board_agree_on_every_table(rng):
    for n, share in ((30, 0.2), (60, 0.3), (120, 0.1)):
        found = gnomon.learn(
            numbers(rng, n, share), "y", learners=["linear regression", "pruned tree"], **QUICK
        )
        check = next(each for each in found.checks if each.name == "better than the baseline")
        assert (check.verdict == "good") == found.beats_baseline
        assert ("beats the baseline (" in found.verdict()) == found.beats_baseline
        line = next(each for each in found.leaderboard_lines() if each["learner"] == BASELINE)
        if found.best.name != BASELINE:
            assert line["p_against_best"] == found.leads[found.best.name].p
        if any(lead.is_real for lead in found.leads.values()):
            assert found.beats_baseline


def test_a_lopsided_target_is_judged_by_the_area_under_the_curve(rng):
    n = 300
    y = np.where(rng.permutation(n) < 30, "ill", "well")
    x = rng.normal(size=n) + 1.5 * (y == "ill")
    table = Table.from_dict({"x": x, "y": y.tolist()})
    found = gnomon.learn(table, "y", learners=["logistic regression"], **QUICK)
    assert found.measure == "auc"
    assert found.beats_baseline
    assert found.board[BASELINE].mean == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("counts", "measure"),
    [((50, 50), "accuracy"), ((85, 15), "auc"), ((92, 8), "log_loss"), ((90, 5, 5), "log_loss")],
)
def test_the_measure_follows_the_shares_of_the_classes(counts, measure):
    from gnomon.workbench.analysis.problem import usual_measure

    assert usual_measure(dict(enumerate(counts))) == measure


@pytest.fixture(scope="module")
def with_rare_classes():
    rng = np.random.default_rng(5)
    n = 120
    kind = rng.integers(0, 2, n)
    y = np.array(["a", "b"], dtype=object)[kind]
    y[0], y[1:4] = "single", "three"
    table = {"x": rng.normal(size=n) + 3 * kind, "y": y.tolist()}
    return gnomon.learn(table, "y", learners=["naive Bayes", "logistic regression"], **QUICK)


def test_rows_of_rare_classes_train_and_are_never_tested(with_rare_classes):
    found = with_rare_classes
    rare = {"single", "three"}
    assert rare <= set(found.model.classes_)
    assert not rare & set(found.problem.values(found.test_table))
    train = found.n_train
    for fitted, tested in found.plan.splits:
        assert len(fitted) + len(tested) == train
        assert len(tested) < train - 4
    assert found.beats_baseline
    assert any("only train" in each["what"] for each in found.decisions)


def test_the_check_names_the_classes_that_could_not_be_tested(with_rare_classes):
    check = next(each for each in with_rare_classes.checks if each.name == "rows of every class")
    assert check.verdict == "warning"
    assert "single" in check.finding
    assert "could not be tested" in check.finding


def test_balanced_accuracy_is_refused_where_a_class_cannot_be_tested():
    table = {"x": np.arange(40.0), "y": ["a", "b"] * 19 + ["c", "c"]}
    with pytest.raises(gnomon.engine.errors.DataError, match="'c' has fewer than 4 rows"):
        gnomon.learn(table, "y", measure="balanced_accuracy", **QUICK)


def test_board_and_drawing_tell_the_same_learners_apart_from_the_best(rng):
    found = gnomon.learn(
        numbers(rng, 90, 0.6), "y", learners=["linear regression", "pruned tree"], **QUICK
    )
    p = {line["learner"]: line["p_against_best"] for line in found.leaderboard_lines()}
    apart = {name for name, value in p.items() if value is not None and value < 0.05}
    assert found.as_good == set(p) - apart
    filled = found.plot("leaderboard").data
    marks = {name for mark in filled if mark.mode == "markers" for name in mark.y}
    assert marks == set(p)
    named = next(mark for mark in filled if mark.marker.size == 12)
    assert set(named.y) == found.as_good


def test_stretches_of_three_splits_are_enough_for_an_interval_and_searches_have_rows(rng):
    n = 72
    moments = [f"2020-{1 + i // 28:02d}-{1 + i % 28:02d}" for i in range(n)]
    table = {"day": moments, "x": rng.normal(size=n), "y": np.arange(n) + rng.normal(size=n)}
    found = gnomon.learn(
        table, "y", time="day", learners=["nearest neighbours"], budget=None, folds=3, curve=False
    )
    assert len(np.unique(found.plan.splits.groups[found.plan.splits[0][1]])) == 2
    assert not found.board["nearest neighbours"].failures
    figure = found.board["nearest neighbours"].figure()
    assert 0 < figure.low < figure.value < figure.high < 4 * figure.value
