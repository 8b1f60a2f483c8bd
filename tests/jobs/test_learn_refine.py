"""The rest of a budget: boosting's settings for the final model."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon.evaluate.fold_run import seeded
from gnomon.table import Table
from gnomon.trees import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from gnomon.workbench.analysis.portfolio import BOOSTING, boosted
from gnomon.workbench.learn import refine
from gnomon.workbench.learn.job import last_fold
from gnomon.workbench.learn.plan import Stretches
from gnomon.workbench.learn.refine import mean_loss, refined


@pytest.fixture
def shops(rng) -> tuple[Table, np.ndarray]:
    """Rows of many shops of one kind, so that a penalty on categories pays."""
    x, shop = rng.normal(size=1500), rng.integers(0, 60, 1500)
    table = Table.from_dict({"x": x.tolist(), "shop": [f"s{k}" for k in shop]})
    return table, x + rng.normal(size=1500)


def test_kept_settings_have_the_least_loss_of_all_that_were_tried(shops, monkeypatch):
    table, y = shops
    losses = []

    def noted(*args):
        losses.append(mean_loss(*args))
        return losses[-1]

    monkeypatch.setattr(refine, "mean_loss", noted)
    fold = np.arange(1000), np.arange(1000, 1500)
    first = [boosted(HistGradientBoostingRegressor, leaves) for leaves in (8, 31)]
    found = refined(first, table, y, fold, "squared", 0, lambda tried, longest, best: tried < 7)
    assert found.tried == len(losses) == 7
    again = seeded(found.learner, 0, 0).fit(table[fold[0]], y[fold[0]])
    assert mean_loss(again, table[fold[1]], y[fold[1]], "squared") == min(losses)
    assert min(losses) < losses[0]


def test_no_setting_is_tried_twice_and_the_search_ends_by_itself(shops):
    table, y = shops
    fold = np.arange(300), np.arange(300, 600)
    first = [boosted(HistGradientBoostingRegressor, leaves) for leaves in (8, 31)]
    seen = set()
    moves = refine.changes(lambda: first[0], seen)
    assert len(list(moves)) == len(seen)
    first = [seeded(each, 0, 0) for each in first]
    found = refined(first, table, y, fold, "squared", 0, lambda *_: True)
    assert found.learner.random_state is None, "copies of one seed would be equal"
    assert 2 < found.tried < 60


def test_a_class_that_the_model_has_not_seen_does_not_stop_the_search(rng):
    table = Table.from_dict({"x": rng.normal(size=200).tolist()})
    y = np.array(["a", "b"] * 100)
    model = HistGradientBoostingClassifier(max_iter=3).fit(table, y)
    strange = np.where(np.arange(200) < 5, "c", y)
    loss = mean_loss(model, table, strange, "log_loss")
    assert loss == pytest.approx(mean_loss(model, table[5:], y[5:], "log_loss"))


def test_the_fold_of_settings_is_the_last_one_among_the_rows_that_are_taken():
    splits = Stretches.of(np.arange(40), 4)

    class Planned:
        pass

    plan = Planned()
    plan.splits = splits
    taken = np.arange(0, 40, 2)
    learnt, held = last_fold(plan, taken)
    assert set(taken[learnt]) <= set(splits[-1][0])
    assert set(taken[held]) <= set(splits[-1][1])
    assert taken[learnt].max() < taken[held].min()


@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes"])
def test_the_average_has_the_mean_score_and_is_loaded(kind, shops, tmp_path):
    table, y = shops
    table, y = table[:300], y[:300]
    if kind == "numbers":
        learner = HistGradientBoostingRegressor(max_iter=20, early_stopping=True)
    else:
        learner = HistGradientBoostingClassifier(max_iter=20, early_stopping=True)
        y = np.digitize(y, [0.0] if kind == "two classes" else [-0.5, 0.5])
    models = [seeded(learner, 0, k).fit(table, y) for k in range(3)]
    model, made = refine.averaged_fits(learner, table, y, 0, lambda made, _: made < 3)
    say = "predict" if kind == "numbers" else "decision_function"
    mean = np.mean([getattr(each, say)(table) for each in models], axis=0)
    np.testing.assert_allclose(getattr(model, say)(table), mean, atol=1e-12)
    assert made == 3
    assert np.abs(mean - getattr(models[0], say)(table)).max() > 1e-3
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    assert (getattr(loaded, say)(table) == getattr(model, say)(table)).all()


def test_a_run_repeats_the_settings_that_were_tried(shops):
    table, y = shops
    rows = table.with_column("y", y.tolist())
    options = {"learners": [BOOSTING], "budget": None, "folds": 2, "repeats": 1, "pair_fits": 0}
    options |= {"fit_settings": 4, "fit_copies": 2, "choose": "best", "curve": False}
    found = gnomon.learn(rows, "y", **options)
    assert found.chosen == BOOSTING
    assert "fit_settings=4" in found.script
    assert "fit_copies=2" in found.script
    assert any("the best of 4 settings" in each["why"] for each in found.decisions)
    twice = gnomon.learn(rows, "y", **options)
    assert twice.test.value == found.test.value
