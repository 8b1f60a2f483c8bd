"""Workflows of the texts: curves read, regressions repaired, groups named, fits replayed."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon
from gnomon import show
from gnomon.bayes import NaiveBayes
from gnomon.cluster import KMeans
from gnomon.density import GaussianMixture
from gnomon.engine.errors import DataError
from gnomon.linear import LogisticRegression
from gnomon.table import Table
from gnomon.workbench.workflows import ImprovementLoop
from gnomon.workbench.workflows.curve_reading import read_curves
from gnomon.workbench.workflows.fit_replay import replay
from gnomon.workbench.workflows.generator_copies import copy_check
from gnomon.workbench.workflows.named_groups import name_groups
from gnomon.workbench.workflows.repair import repair_regression


def descent(rate: float, n_steps: int = 60, curvature: float = 1.0) -> np.ndarray:
    """Losses of gradient descent on a parabola: x <- (1 - rate * curvature) x."""
    x = (1 - rate * curvature) ** np.arange(n_steps)
    return 0.5 * curvature * x**2 + 0.05


@pytest.mark.covers("curve-reading-advisor")
@pytest.mark.parametrize(
    ("rate", "trouble"),
    [(0.002, ["rate too small"]), (0.2, []), (2.1, ["rate far too large"])],
)
def test_the_rate_of_gradient_descent_on_a_parabola_is_judged_right(rate, trouble):
    """Between 0 and 2 over the curvature it converges, beyond it diverges."""
    assert read_curves(descent(rate)).troubles == trouble


@pytest.mark.covers("curve-reading-advisor")
def test_a_curve_that_falls_fast_and_then_jumps_about_has_too_large_a_rate(rng):
    noise = np.where(np.arange(80) % 2, 0.2, -0.2) + 0.01 * rng.normal(size=80)
    loss = 1.0 + 2.0 * np.exp(-np.arange(80.0)) + noise
    assert read_curves(loss).troubles == ["rate too large"]


@pytest.mark.covers("curve-reading-advisor")
def test_dead_units_overfitting_and_loss_without_error_are_named():
    steps = np.arange(80.0)
    flat = read_curves(np.full(80, np.log(2)), error=np.full(80, 0.22), baseline_error=0.22)
    assert flat.troubles == ["flat from the start", "one class only"]
    falling = 0.02 + np.exp(-steps / 15)
    rising = 0.5 + 0.01 * np.abs(steps - 20)
    found = read_curves(falling, validation=rising)
    assert "overfitting" in found.troubles
    assert found.best_step == 20
    same_error = read_curves(falling, error=np.where(steps < 10, 0.5 - 0.03 * steps, 0.2))
    assert "loss without error" in same_error.troubles
    assert "no number" in read_curves([1.0, 2.0, 9.0, np.inf] + [np.nan] * 8).readings[0].seen


def test_curves_that_cannot_be_read_are_refused():
    with pytest.raises(DataError, match="8 steps"):
        read_curves([1.0, 0.5])
    with pytest.raises(DataError, match="validation has 9 steps, the loss 10"):
        read_curves(np.ones(10), validation=np.ones(9))


@pytest.mark.covers("regression-repair-pipeline")
def test_planted_outliers_are_left_out_and_the_square_root_is_found(rng):
    """y = (10 + 2a - b + e)^2 with five rows spoilt: 000 10.4.3 in small."""
    n = 160
    a, b = rng.uniform(0, 3, n), rng.uniform(0, 3, n)
    y = (10 + 2 * a - b + 0.25 * rng.normal(size=n)) ** 2
    spoilt = rng.choice(n, 4, replace=False)
    y[spoilt] = 900.0
    table = Table.from_dict({"a": a.tolist(), "b": b.tolist(), "y": y.tolist()})
    found = repair_regression(table, "y")
    assert set(spoilt) <= set(found.removed)
    assert len(found.removed) <= 10
    assert found.power < 1
    assert [each.step for each in found.steps] == [
        "suspects",
        "shape of the residuals",
        "Box-Cox",
        "ridge penalty",
    ]
    assert found.after.value <= found.before.value + found.before.error
    said = found.model.predict(table.drop("y"))
    good = np.setdiff1d(np.arange(n), found.removed)
    assert np.corrcoef(said[good], y[good])[0, 1] > 0.98


@pytest.mark.covers("regression-repair-pipeline")
def test_a_sound_regression_is_left_as_it_is(rng):
    x = rng.normal(size=(120, 2))
    y = 1 + x @ [2.0, -1.0] + rng.normal(size=120)
    table = Table.from_dict({"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": y.tolist()})
    found = repair_regression(table, "y", most_removed=0)
    assert found.removed == []
    assert found.power == 1
    assert "not above zero" in found.steps[2].found
    assert found.model.coef_ == pytest.approx([2.0, -1.0], abs=1.0)


def clouds(rng) -> np.ndarray:
    return np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 9])


@pytest.mark.covers("named-groups")
@pytest.mark.parametrize("kind", [KMeans, GaussianMixture])
def test_names_of_groups_are_kept_in_the_model_file_and_shown_in_predictions(rng, tmp_path, kind):
    rows = clouds(rng)
    table = Table.from_dict({"x0": rows[:, 0].tolist(), "x1": rows[:, 1].tolist()})
    model = kind(2, random_state=0).fit(table)
    near = int(model.predict(table)[0])
    name_groups(model, {near: "near", 1 - near: "far"}).save(tmp_path / "m.gnomon")
    new = Table.from_dict({"x0": [0.0, 9.0], "x1": [0.0, 9.0]})
    said = gnomon.predict(tmp_path / "m.gnomon", new).table.to_dict()
    assert said["group"] == ["near", "far"]


@pytest.mark.covers("named-groups")
def test_wrong_names_of_groups_are_refused(rng):
    model = KMeans(2, random_state=0).fit(clouds(rng))
    with pytest.raises(DataError, match="no group 2"):
        name_groups(model, {2: "third"})
    with pytest.raises(DataError, match="same name"):
        name_groups(model, {0: "a", 1: "a"})
    with pytest.raises(DataError, match="NaiveBayes"):
        name_groups(NaiveBayes(), {0: "a"})
    assert name_groups(model, {1: "far"}).group_names_ == ["group 0", "far"]


@pytest.mark.covers("algorithm-replay")
def test_a_replayed_k_means_has_the_objective_that_its_centers_give(rng):
    """The objective after a step is that of the rows against the centres before it moved them."""
    rows = rng.normal(size=(60, 2))
    model = KMeans(4, n_init=1, keep_history="full", random_state=0).fit(rows)
    steps = replay(model)
    gaps = [
        ((rows[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum()
        for centers in steps.path("cluster_centers")
    ]
    for before, objective, after in zip([np.inf, *gaps], steps.objective, gaps):
        assert after * (1 - 1e-9) <= objective <= before * (1 + 1e-9)
    np.testing.assert_array_equal(steps.at(-1).predict(rows), model.predict(rows))
    first = steps.at(0)
    np.testing.assert_array_equal(first.cluster_centers_, steps.states[0]["cluster_centers"])
    assert len(first.history_) == 1
    assert len(model.history_) == len(steps)


@pytest.mark.covers("algorithm-replay")
def test_the_last_step_of_a_replayed_mixture_predicts_as_the_fitted_one(rng):
    rows = clouds(rng) + rng.normal(size=(80, 2)) * 3
    model = GaussianMixture(2, keep_history="full", random_state=0).fit(rows)
    steps = replay(model)
    assert len(steps.objective) == len(steps)
    np.testing.assert_array_equal(steps.at(-1).means_, steps.path("means")[-1])
    np.testing.assert_allclose(steps.path("weights").sum(axis=1), 1.0)
    for theme in ("light", "dark"):
        figure = show.replay(steps, parameter="means", theme=theme)
        assert len(figure.frames) == len(figure.layout.sliders[0].steps) == len(steps)
        assert figure.frames[-1].data[0].y[0] == steps.objective[-1]


@pytest.mark.covers("algorithm-replay")
def test_a_replay_of_logistic_regression_ends_at_its_coefficients(rng):
    rows = clouds(rng) + rng.normal(size=(80, 2)) * 6
    model = LogisticRegression(keep_history="full").fit(rows, np.repeat(["a", "b"], 40))
    steps = replay(model)
    np.testing.assert_allclose(steps.path("parameters")[-1][:, :2], model.coef_, atol=1e-6)
    assert show.replay(steps).layout.annotations[1].text == "parameters"
    with pytest.raises(DataError, match="cannot be set back"):
        steps.at(0)
    with pytest.raises(DataError, match="parameters"):
        steps.path("coefficients")


@pytest.mark.covers("algorithm-replay")
def test_a_fit_without_kept_states_says_how_to_keep_them(rng):
    with pytest.raises(DataError, match="keep_history"):
        replay(KMeans(2, random_state=0).fit(clouds(rng)))


@pytest.mark.covers("improvement-loop")
def test_the_loop_finds_better_settings_than_as_many_random_trials(rng):
    """A bowl in two settings and a choice; the mean over some runs, so that luck evens out."""
    ends = {"by loop": [], "at random": []}
    for run in range(3):
        place = rng.uniform(0.2, 0.8, 2)

        def loss(settings, place=place):
            gap = (settings["a"] - place[0]) ** 2 + (settings["b"] - place[1]) ** 2
            return gap + 0.3 * (settings["tool"] != "saw")

        space = {"a": (0.0, 1.0), "b": (0.0, 1.0), "tool": ["saw", "axe", "knife"]}
        loop = ImprovementLoop(space, {"loss": 1.0}, random_state=run)
        for _ in range(20):
            settings = loop.propose()
            loop.record(settings, {"loss": loss(settings)})
        ends["by loop"].append(loop.losses.min())
        tried = [
            {"a": rng.random(), "b": rng.random(), "tool": rng.choice(space["tool"])}
            for _ in range(20)
        ]
        ends["at random"].append(min(map(loss, tried)))
    assert np.mean(ends["by loop"]) < 0.5 * np.mean(ends["at random"])


@pytest.mark.covers("improvement-loop")
def test_an_edited_goal_judges_the_same_trials_anew_and_a_persons_judgement_counts():
    loop = ImprovementLoop({"x": (0.0, 1.0)}, {"cost": 1.0})
    for x, cost, liked in ((0.1, 1.0, 2.0), (0.5, 2.0, 9.0), (0.9, 3.0, 5.0)):
        loop.record({"x": x}, {"cost": cost, "liked": liked})
    assert loop.best == {"x": 0.1}
    loop.goal = {"cost": 1.0, "liked": -1.0}
    assert loop.best == {"x": 0.5}
    assert loop.table().to_dict()["loss under the goal"] == [-1.0, -7.0, -2.0]
    loop.goal = {"speed": 1.0}
    with pytest.raises(DataError, match="speed"):
        loop.propose() if len(loop.trials) >= 6 else loop.best
    with pytest.raises(DataError, match="no number for speed"):
        loop.record({"x": 0.2}, {"cost": 1.0})


@pytest.mark.covers("generator-copy-check")
def test_a_copying_generator_is_found_and_its_sources_named(rng):
    scale = np.array([1.0, 1000.0])
    train, new = (rng.normal(size=(80, 2)) * scale for _ in range(2))
    copied = copy_check(train, train[::-1] + 1e-4 * scale, new)
    assert copied.copies
    np.testing.assert_array_equal(copied.nearest, np.arange(80)[::-1])
    gaps = (((new[:, None] - train) / train.std(axis=0)) ** 2).sum(axis=2)
    np.testing.assert_allclose(copied.held_out, np.sqrt(gaps.min(axis=1)))


@pytest.mark.covers("generator-copy-check")
def test_an_honest_generator_is_seldom_blamed(rng):
    """One in a hundred by the test's level; ten of two hundred is beyond chance (p < 1e-4)."""
    blamed = 0
    for _ in range(200):
        train, made, new = (rng.normal(size=(30, 2)) for _ in range(3))
        blamed += copy_check(train, made, new).copies
    assert blamed <= 10
    with pytest.raises(DataError, match="held_out has 3 columns, train 2"):
        copy_check(train, made, np.ones((4, 3)))
