"""Gradient boosting against the definitions: every split, leaf value, score and round."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gnomon.contract import intake
from gnomon.engine.draw import canonical_order
from gnomon.trees import HistGradientBoostingClassifier, HistGradientBoostingRegressor, losses
from gnomon.trees.boosting_rounds import Booster, Target, Tickets
from gnomon.trees.learner import dense
from tests.truth.boosting_check import ModelCheck, derivatives, leaves_of, mean_loss

pytestmark = pytest.mark.timeout(120)

NUMBER_LOSSES = ["squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"]


def number_problem(rng, n, d=3, loss="squared_error"):
    rows = rng.normal(size=(n, d))
    if rng.random() < 0.3:
        rows = np.round(rows)
    y = np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, -1] + 0.3 * rng.normal(size=n)
    if loss == "poisson":
        y = rng.poisson(np.exp(y)).astype(float)
        y[0] += 1
    elif loss == "gamma":
        y = rng.gamma(2.0, np.exp(y)) + 1e-6
    return rows, y


def class_problem(rng, n, n_classes=2, d=3):
    rows, score = number_problem(rng, n, d)
    edges = np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1])
    y = np.searchsorted(edges, score + 0.3 * rng.normal(size=n))
    y[:n_classes] = np.arange(n_classes)
    return rows, np.array(["ant", "bee", "cat", "dog"])[y]


def any_limits(rng, n):
    """Parameters drawn at random, of every kind that shapes a tree."""
    return {
        "max_iter": int(rng.integers(1, 5)),
        "learning_rate": float(rng.choice([0.1, 0.5, 1.0])),
        "max_leaf_nodes": [None, 2, 4, 31][rng.integers(4)],
        "max_depth": [None, 1, 3][rng.integers(3)],
        "min_samples_leaf": int(rng.integers(1, max(n // 4, 2))),
        "l2_regularization": float(rng.choice([0.0, 0.0, 1.0, 20.0])),
    }


SIZES = [2, 3, 5, 8, 13, 30, 60, 120]


@pytest.mark.covers("gradient-tree-boosting")
@pytest.mark.parametrize("loss", NUMBER_LOSSES)
@pytest.mark.parametrize("n", SIZES)
def test_every_round_of_numbers_is_as_the_definitions_have_it(loss, n, rng):
    for _ in range(3):
        rows, y = number_problem(rng, n, loss=loss)
        model = HistGradientBoostingRegressor(loss, **any_limits(rng, n)).fit(rows, y)
        ModelCheck(model, rows, y).check()


@pytest.mark.covers("gradient-tree-boosting", "boosted-trees-exponential")
@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("n", SIZES)
def test_every_round_of_two_classes_is_as_the_definitions_have_it(loss, n, rng):
    for _ in range(3):
        rows, y = class_problem(rng, n)
        model = HistGradientBoostingClassifier(loss, **any_limits(rng, n)).fit(rows, y)
        ModelCheck(model, rows, y).check()


@pytest.mark.covers("gradient-tree-boosting")
@pytest.mark.parametrize("n", [4, 9, 30, 100])
def test_every_round_of_several_classes_is_as_the_definitions_have_it(n, rng):
    for n_classes in (3, 4):
        rows, y = class_problem(rng, n, n_classes)
        model = HistGradientBoostingClassifier(**any_limits(rng, n)).fit(rows, y)
        ModelCheck(model, rows, y).check()
        shares = np.exp(model.decision_function(rows))
        shares /= shares.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.predict_proba(rows), shares, rtol=1e-9)


def test_five_hundred_rows_share_bins_and_are_still_split_best(rng):
    rows, y = number_problem(rng, 500)
    model = HistGradientBoostingRegressor(max_iter=2, max_leaf_nodes=8).fit(rows, y)
    ModelCheck(model, rows, y).check()
    rows, y = class_problem(rng, 500)
    model = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=8).fit(rows, y)
    ModelCheck(model, rows, y).check()


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_the_unit_of_the_target_does_not_matter(scale, loss, rng):
    rows, y = number_problem(rng, 40)
    limits = any_limits(rng, 40) | {"l2_regularization": 0.0}
    model = HistGradientBoostingRegressor(loss, **limits).fit(rows, scale * y)
    ModelCheck(model, rows, scale * y).check()


@pytest.mark.parametrize("shift", [1e3, 1e9, 1e12])
def test_a_far_origin_of_the_target_does_not_matter(shift, rng):
    rows, y = number_problem(rng, 40)
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(rows, y + shift)
    plain = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=5).fit(rows, y)
    np.testing.assert_allclose(
        model.predict(rows) - shift, plain.predict(rows), atol=1e-3 + 1e-14 * shift
    )


@pytest.mark.parametrize("kind", ["whole", "zeros", "shares"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "log_loss"])
def test_weights_enter_every_sum(kind, loss, rng):
    n = 40
    weights = {
        "whole": rng.integers(1, 5, n).astype(float),
        "zeros": rng.integers(0, 3, n).astype(float),
        "shares": rng.uniform(0.2, 3, n),
    }[kind]
    limits = any_limits(rng, n) | {"min_samples_leaf": 3}
    if loss == "log_loss":
        rows, y = class_problem(rng, n)
        weights[:2] = np.maximum(weights[:2], 1)
        model = HistGradientBoostingClassifier(**limits).fit(rows, y, weights)
    else:
        rows, y = number_problem(rng, n)
        model = HistGradientBoostingRegressor(loss, **limits).fit(rows, y, weights)
    ModelCheck(model, rows, y, weights).check()


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_missing_cells_go_where_they_gain_most(loss, rng):
    for n in (6, 25, 80):
        rows, y = number_problem(rng, n) if loss == "squared_error" else class_problem(rng, n)
        rows[rng.random(rows.shape) < 0.3] = np.nan
        cls = (
            HistGradientBoostingRegressor
            if loss == "squared_error"
            else HistGradientBoostingClassifier
        )
        model = cls(**any_limits(rng, n)).fit(rows, y)
        ModelCheck(model, rows, y).check()


def test_a_column_without_any_value_is_never_asked(rng):
    rows, y = number_problem(rng, 30)
    rows[:, 1] = np.nan
    model = HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2).fit(rows, y)
    ModelCheck(model, rows, y).check()
    assert model.feature_importances_[1] == 0


@pytest.mark.parametrize("n_levels", [2, 3, 4, 7, 20])
@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_sets_of_levels_are_the_best_and_many_levels_are_held_back(n_levels, loss, rng):
    n = 80
    rows, y = number_problem(rng, n) if loss == "squared_error" else class_problem(rng, n)
    levels = rng.integers(0, n_levels, n)
    levels[:n_levels] = np.arange(n_levels)
    effect = rng.normal(size=n_levels)
    if loss == "squared_error":
        y = y + 2 * effect[levels]
    names = np.array([f"level {k}" for k in levels], dtype=object)
    names[rng.random(n) < 0.1] = None
    frame = pd.DataFrame({"number": rows[:, 0], "level": pd.Categorical(names)})
    cls = (
        HistGradientBoostingRegressor if loss == "squared_error" else HistGradientBoostingClassifier
    )
    limits = any_limits(rng, n) | {"category_smoothing": float(rng.choice([0.0, 10.0]))}
    model = cls(**limits).fit(frame, y)
    coded = np.concatenate([dense(block) for block in intake.blocks_of(model, frame)])
    ModelCheck(model, coded, y, is_category=np.array([False, True])).check(frame)


@pytest.mark.parametrize("loss", NUMBER_LOSSES)
def test_predictions_follow_the_wanted_direction_and_splits_are_the_best_that_do(loss, rng):
    rows, y = number_problem(rng, 70, loss=loss)
    limits = any_limits(rng, 70) | {"max_iter": 8}
    model = HistGradientBoostingRegressor(loss, monotonic_cst=[1, -1, 0], **limits).fit(rows, y)
    ModelCheck(model, rows, y, directions=np.array([1, -1, 0])).check()
    for column, direction in ((0, 1), (1, -1)):
        swept = np.repeat(rng.normal(size=(20, 1, 3)), 50, axis=1)
        swept[:, :, column] = np.linspace(-4, 4, 50)
        said = model.predict(swept.reshape(-1, 3)).reshape(20, 50)
        assert (direction * np.diff(said, axis=1) >= -1e-12 * np.abs(y).max()).all()


def test_the_odds_of_two_classes_follow_the_wanted_direction(rng):
    rows, y = class_problem(rng, 80)
    model = HistGradientBoostingClassifier(monotonic_cst=[1, 0, -1], min_samples_leaf=5).fit(
        rows, y
    )
    swept = np.repeat(rng.normal(size=(20, 1, 3)), 50, axis=1)
    swept[:, :, 0] = np.linspace(-4, 4, 50)
    said = model.decision_function(swept.reshape(-1, 3)).reshape(20, 50)
    assert (np.diff(said, axis=1) >= -1e-12).all()


@pytest.mark.parametrize(
    ("given", "sets"),
    [
        ([{0, 1}], [{0, 1}, {2, 3}]),
        ([{0, 1}, {1, 2, 3}], [{0, 1}, {1, 2, 3}]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
        ("pairwise", [{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}]),
    ],
)
def test_paths_keep_to_the_sets_of_columns_that_may_interact(given, sets, rng):
    rows, y = number_problem(rng, 80, d=4)
    y += rows[:, 0] * rows[:, 2]
    limits = any_limits(rng, 80) | {"min_samples_leaf": 3}
    model = HistGradientBoostingRegressor(interaction_cst=given, **limits).fit(rows, y)
    ModelCheck(model, rows, y, sets=sets).check()


def test_drawn_columns_are_split_at_their_best(rng):
    rows, y = number_problem(rng, 80, d=6)
    model = HistGradientBoostingRegressor(
        max_iter=40, max_features=2, max_leaf_nodes=4, min_samples_leaf=5, random_state=0
    ).fit(rows, y)
    ModelCheck(model, rows, y).check()
    roots = {int(tree.feature[0]) for tree in model.trees_}
    assert len(roots) >= 3


@pytest.fixture
def drawn_rows(monkeypatch):
    """The rows that each round drew."""
    kept = []
    plain = Booster.round

    def round_(self, drawn, seeds):
        kept.append(drawn.copy())
        return plain(self, drawn, seeds)

    monkeypatch.setattr(Booster, "round", round_)
    return kept


@pytest.mark.covers("stochastic-gradient-boosting")
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "log_loss"])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.8])
def test_rounds_are_grown_on_rows_drawn_without_replacement(loss, share, rng, drawn_rows):
    n = 60
    limits = any_limits(rng, 30) | {"max_iter": 4, "subsample": share}
    if loss == "log_loss":
        rows, y = class_problem(rng, n)
        model = HistGradientBoostingClassifier(**limits).fit(rows, y)
    else:
        rows, y = number_problem(rng, n)
        model = HistGradientBoostingRegressor(loss, **limits).fit(rows, y)
    assert [each.sum() for each in drawn_rows] == [round(share * n)] * 4
    assert max(each.max() for each in drawn_rows) == 1
    check = ModelCheck(model, rows, y, drawn=drawn_rows)
    check.check()


@pytest.mark.covers("stochastic-gradient-boosting")
def test_the_improvement_is_that_on_the_rows_a_round_did_not_draw(rng, drawn_rows):
    rows, y = number_problem(rng, 80)
    model = HistGradientBoostingRegressor(
        max_iter=6, subsample=0.5, min_samples_leaf=3, random_state=1
    ).fit(rows, y)
    F = np.repeat(model.baseline_, 80)
    for tree, drawn, told in zip(model.trees_, drawn_rows, model.oob_improvement_):
        out = drawn == 0
        before = mean_loss("squared_error", y[out], F[None, out], np.ones(out.sum()))
        F = F + tree.value[leaves_of(tree, rows), 0]
        after = mean_loss("squared_error", y[out], F[None, out], np.ones(out.sum()))
        assert told == pytest.approx(before - after, rel=1e-6, abs=1e-9)


def test_tickets_are_drawn_evenly_and_repetitions_are_tickets(rng):
    rows, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    plain = Tickets(canonical_order(rows, y), Target.of(y, None))
    total = sum(plain.draw(0.5, int(seed)) for seed in rng.integers(2**60, size=2000))
    assert (np.abs(total - 1000) < 6 * np.sqrt(500)).all()
    weights = rng.integers(1, 4, 12).astype(float)
    drawn = Tickets(canonical_order(rows, y), Target.of(y, weights)).draw(0.5, 3)
    assert drawn.sum() == round(0.5 * weights.sum())
    assert (drawn <= weights).all()


LOSSES = {
    "squared_error": losses.SquaredError(),
    "absolute_error": losses.AbsoluteError(),
    "quantile": losses.Quantile(0.7),
    "huber": losses.Huber(0.8),
    "poisson": losses.Poisson(),
    "gamma": losses.Gamma(),
    "log_loss": losses.BinomialDeviance(),
    "exponential": losses.Exponential(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_the_loss_by_finite_differences(name, rng):
    loss = LOSSES[name]
    y = rng.integers(0, 2, 40) if name in ("log_loss", "exponential") else rng.gamma(2, 1, 40)
    y = y.astype(float)
    F = rng.normal(size=(1, 40))
    loss.begin(y, np.ones(40))
    loss.begin_round(y, F, np.ones(40))
    g, h = np.empty_like(F), np.empty_like(F)
    values = loss.derivatives(y, F, g, h)
    step = 1e-6
    # a kink between both points of a difference would tell nothing
    smooth = np.abs(np.abs(y - F[0]) - getattr(loss, "delta", 0.0)) > 1e-4
    slope = (loss.values(y, F + step) - loss.values(y, F - step)) / (2 * step)
    np.testing.assert_allclose(g[0][smooth], slope[smooth], rtol=1e-5, atol=1e-6)
    if not loss.constant:
        g_up, g_down, spare = np.empty_like(F), np.empty_like(F), np.empty_like(F)
        loss.derivatives(y, F + step, g_up, spare)
        loss.derivatives(y, F - step, g_down, spare)
        np.testing.assert_allclose(h, (g_up - g_down) / (2 * step), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(values, loss.values(y, F), rtol=1e-12)


def test_derivatives_of_the_multinomial_deviance_by_finite_differences(rng):
    loss = losses.MultinomialDeviance(4)
    y, F, step = rng.integers(0, 4, 30), rng.normal(size=(4, 30)), 1e-6
    g, h, up, down, spare = (np.empty_like(F) for _ in range(5))
    loss.derivatives(y, F, g, h)
    for k in range(4):
        moved = np.zeros_like(F)
        moved[k] = step
        slope = (loss.values(y, F + moved) - loss.values(y, F - moved)) / (2 * step)
        np.testing.assert_allclose(g[k], slope, rtol=1e-5, atol=1e-6)
        loss.derivatives(y, F + moved, up, spare)
        loss.derivatives(y, F - moved, down, spare)
        curve = (up[k] - down[k]) / (2 * step)
        np.testing.assert_allclose(h[k], 4 / 3 * curve, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "huber"])
def test_the_first_score_is_the_best_constant(name, rng):
    loss = LOSSES[name]
    y = rng.integers(0, 2, 31) if name in ("log_loss", "exponential") else rng.gamma(2, 1, 31)
    y, weights = y.astype(float), rng.uniform(0.5, 2, 31)
    y[:2] = 0.0, 1.0
    if name == "gamma":
        y += 0.1
    base = loss.begin(y, weights)[0]

    def mean(score):
        return np.average(loss.values(y, np.full((1, 31), score)), weights=weights)

    assert all(mean(base) <= mean(base + step) + 1e-12 for step in (-0.3, -0.01, 0.01, 0.3))


@pytest.mark.covers("boosting-early-stopping", "histogram-boosting-early-stop")
@pytest.mark.parametrize("patience", [1, 3, 10])
@pytest.mark.parametrize("tol", [0.0, 1e-3])
def test_rounds_end_when_the_watching_rows_have_not_gained_and_the_best_is_kept(patience, tol, rng):
    rows, y = number_problem(rng, 150)
    rows_val, y_val = number_problem(rng, 150)
    settings = {"max_iter": 150, "learning_rate": 0.3, "min_samples_leaf": 5}
    every = HistGradientBoostingRegressor(**settings).fit(rows, y, X_val=rows_val, y_val=y_val)
    watched = [np.mean((y_val - said) ** 2) / 2 for said in every.staged_predict(rows_val)]
    np.testing.assert_allclose(every.validation_loss_, watched, rtol=1e-9)
    assert not hasattr(every, "best_round_")
    model = HistGradientBoostingRegressor(
        n_iter_no_change=patience, tol=tol, **settings, early_stopping=True, restore_best=True
    )
    model.fit(rows, y, X_val=rows_val, y_val=y_val)
    ended = next(
        (
            m
            for m in range(patience + 1, len(watched) + 1)
            if min(watched[m - patience : m]) >= min(watched[: m - patience]) - tol
        ),
        len(watched),
    )
    assert len(model.validation_loss_) == ended
    assert model.best_round_ == int(np.argmin(watched[:ended])) + 1 == model.n_estimators_
    stages = list(every.staged_predict(rows))
    np.testing.assert_array_equal(model.predict(rows), stages[model.best_round_ - 1])


@pytest.mark.covers("boosting-early-stopping")
def test_refit_uses_all_rows_for_the_chosen_number_of_rounds(rng):
    rows, y = class_problem(rng, 200)
    settings = {"learning_rate": 0.5, "min_samples_leaf": 3, "random_state": 4}
    once = HistGradientBoostingClassifier(
        n_iter_no_change=3, **settings, early_stopping=True, restore_best=True
    ).fit(rows, y)
    again = HistGradientBoostingClassifier(
        n_iter_no_change=3, refit=True, **settings, early_stopping=True, restore_best=True
    ).fit(rows, y)
    assert once.best_round_ == again.best_round_ == again.n_estimators_
    plain = HistGradientBoostingClassifier(max_iter=once.best_round_, **settings).fit(rows, y)
    assert again.trees_[0].n_node_samples[0] == 200 > once.trees_[0].n_node_samples[0]
    # bins come from the training part in both fits, so the trees may differ by a threshold
    gap = np.abs(again.predict_proba(rows) - plain.predict_proba(rows)).mean()
    assert gap < 0.1


@pytest.mark.covers("histogram-boosting-early-stop")
def test_a_score_on_the_rows_that_chose_the_rounds_is_warned_of(rng):
    rows, y = number_problem(rng, 100)
    rows_val, y_val = number_problem(rng, 60)
    model = HistGradientBoostingRegressor(
        n_iter_no_change=3, early_stopping=True, restore_best=True
    ).fit(rows, y, X_val=rows_val, y_val=y_val)
    with pytest.warns(UserWarning, match="chose the number of rounds"):
        model.score(rows_val, y_val)


@pytest.mark.covers("boosting-shrinkage")
@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_shrinkage_multiplies_what_a_tree_adds_and_nothing_else(rate, rng):
    rows, y = number_problem(rng, 90)
    full = HistGradientBoostingRegressor(max_iter=1, learning_rate=1.0).fit(rows, y)
    less = HistGradientBoostingRegressor(max_iter=1, learning_rate=rate).fit(rows, y)
    np.testing.assert_array_equal(full.trees_[0].feature, less.trees_[0].feature)
    np.testing.assert_allclose(less.trees_[0].value, rate * full.trees_[0].value, rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_a_bit(n_jobs, rng):
    rows, y = class_problem(rng, 3000, 3, d=10)
    settings = {"max_iter": 5, "subsample": 0.7, "max_features": 4, "random_state": 5}
    alone = HistGradientBoostingClassifier(n_jobs=1, **settings).fit(rows, y)
    together = HistGradientBoostingClassifier(n_jobs=n_jobs, **settings).fit(rows, y)
    for one, other in zip(alone.trees_, together.trees_):
        for name, array in one.arrays().items():
            np.testing.assert_array_equal(array, other.arrays()[name])


def test_staged_scores_end_at_the_model(rng):
    rows, y = class_problem(rng, 80, 3)
    model = HistGradientBoostingClassifier(max_iter=7, min_samples_leaf=3).fit(rows, y)
    stages = list(model.staged_predict_proba(rows))
    assert len(stages) == model.n_estimators_
    np.testing.assert_allclose(stages[-1], model.predict_proba(rows), rtol=1e-12)
    np.testing.assert_array_equal(list(model.staged_predict(rows))[-1], model.predict(rows))
    scores = list(model.staged_decision_function(rows))[2]
    F = model.baseline_ + sum(
        np.column_stack([model.trees_[3 * m + k].predict(rows)[:, 0] for k in range(3)])
        for m in range(3)
    )
    np.testing.assert_allclose(scores, F, rtol=1e-12)


def test_a_full_history_replays_the_rounds(rng):
    rows, y = number_problem(rng, 100)
    model = HistGradientBoostingRegressor(max_iter=5, keep_history="full").fit(rows, y)
    for state, tree in zip(model.history_.states, model.trees_):
        assert state["n_leaves"] == tree.n_leaves
        np.testing.assert_allclose(state["gains"].sum(), tree.gain.sum())
    total = sum(state["gains"] for state in model.history_.states)
    np.testing.assert_allclose(model.feature_importances_, total / total.sum())


def test_derivatives_of_the_second_opinion_agree_with_those_of_the_product(rng):
    y, F = rng.gamma(2, 1, 20), rng.normal(size=(1, 20))
    for name in ("poisson", "gamma"):
        g, h = np.empty_like(F), np.empty_like(F)
        LOSSES[name].derivatives(y, F, g, h)
        np.testing.assert_allclose((g, h), derivatives(name, y, F.copy()))
