"""The job `learn`: its protocol, its budget, its checks, and what it does with odd tables."""

from __future__ import annotations

import time
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import gnomon
from gnomon.engine.errors import DataError, GnomonError
from gnomon.evaluate import cross_validation_estimates
from gnomon.evaluate.fold_run import Failure
from gnomon.table import Table, example
from gnomon.table.split import TestRowsUsed
from gnomon.trees import DecisionTreeClassifier
from gnomon.workbench.analysis.portfolio import (
    BASELINE,
    MACHINE,
    NEIGHBORS,
    STACK,
    Entrant,
    portfolio,
)
from gnomon.workbench.analysis.problem import set_up
from gnomon.workbench.base.budget import Budget, counted_from_here
from gnomon.workbench.base.job import quiet
from gnomon.workbench.learn import cost as cost_module
from gnomon.workbench.learn import job as learn_module
from gnomon.workbench.learn import plan as plan_module
from gnomon.workbench.learn.cost import Cost, forecast_cost
from gnomon.workbench.learn.options import LearnOptions

QUICK = {"budget": None, "folds": 3, "repeats": 1, "curve": False}


def classes(rng, n=240, strength=2.0) -> Table:
    """Two columns of numbers, one of noise, a category, and two classes."""
    x = rng.normal(size=(n, 3))
    shape = rng.choice(["round", "square"], n)
    likely = strength * (x[:, 0] - x[:, 1]) + (shape == "round")
    y = np.where(likely + rng.logistic(size=n) > 0, "yes", "no")
    columns = {f"x{j}": x[:, j].tolist() for j in range(3)}
    return Table.from_dict(columns | {"shape": shape.tolist(), "y": y.tolist()})


def numbers(rng, n=240) -> Table:
    """A line with noise."""
    x = rng.normal(size=(n, 2))
    y = 3 * x[:, 0] - x[:, 1] + rng.normal(size=n)
    return Table.from_dict({"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": y.tolist()})


@pytest.fixture(scope="module")
def found():
    """One run of two learners, with everything."""
    table = classes(np.random.default_rng(5), 400)
    learners = ["naive Bayes", "logistic regression"]
    return gnomon.learn(table, "y", learners=learners, **(QUICK | {"curve": True}))


@pytest.mark.covers("honest-protocol", "fit-with-defaults")
def test_test_rows_are_put_aside_first_and_no_learner_ever_fits_on_them(rng, monkeypatch):
    table = classes(rng, 200)
    table = table.with_column("row", list(range(200)), kind="number")
    seen: list[set] = []
    whole_fit = learn_module.cross_validation_estimates

    def watched(learner, rows, y, **options):
        seen.append(set(rows.column("row").to_pylist()))
        return whole_fit(learner, rows, y, **options)

    monkeypatch.setattr(learn_module, "cross_validation_estimates", watched)
    result = gnomon.learn(table, "y", learners=["naive Bayes"], **QUICK)
    aside = set(result.test_table.column("row").to_pylist())
    assert len(aside) == pytest.approx(50, abs=2)
    assert seen
    for rows in seen:
        assert not rows & aside
        assert len(rows) + len(aside) == 200


@pytest.mark.covers("honest-protocol")
def test_the_test_rows_can_be_taken_once_only(rng):
    problem = set_up(classes(rng), "y")
    settings = LearnOptions("y", budget=None, choose="best", folds=3, repeats=1, curve=False)
    run = learn_module.Run.begin(None, problem.rows, None, settings, "learn")
    job = learn_module.Learning(problem, settings, Budget(), run, quiet)
    _, parts = job.put_test_rows_aside()
    assert len(parts["test"]) > 0
    with pytest.raises(TestRowsUsed):
        parts["test"]


def test_the_board_holds_what_a_plain_cross_validation_gives(found):
    rows, aside = found.problem.rows, rows_of(found.test_table)
    part = rows[np.flatnonzero([row not in aside for row in rows_of(rows)])]
    plain = cross_validation_estimates(
        portfolio("classify", len(part))[1].learner,
        part.drop("y"),
        found.problem.values(part),
        cv=found.plan.splits,
        random_state=0,
    )
    assert plain.mean == pytest.approx(found.board["naive Bayes"].mean, abs=1e-12)


def rows_of(table: Table) -> list[dict]:
    return [table.row(i) for i in range(len(table))]


@pytest.mark.covers("baseline-first")
def test_noise_is_called_noise(rng):
    """A learner that looks better by chance is let through in one of forty runs, by its p."""
    n = 300
    said = []
    for _ in range(3):
        columns = {f"x{j}": rng.normal(size=n).tolist() for j in range(2)}
        table = Table.from_dict(columns | {"y": rng.choice(["a", "b"], n).tolist()})
        seed = int(rng.integers(1000))
        result = gnomon.learn(table, "y", learners=["naive Bayes"], random_state=seed, **QUICK)
        assert BASELINE in result.board.names
        said.append(result.beats_baseline)
        if not result.beats_baseline:
            assert "Do not act on the model" in str(result)
            assert result.checks[0].verdict == "bad"
    assert not all(said)


@pytest.mark.covers("reproducible-runs")
def test_a_budget_in_evaluations_gives_the_same_numbers_twice(rng):
    table = classes(rng)
    one, two = (
        gnomon.learn(table, "y", budget=18, folds=3, repeats=1, random_state=4) for _ in range(2)
    )
    assert one.board.names == two.board.names
    learners = [name for name in one.competed if name != STACK]
    assert learners == ["baseline", "naive Bayes", "logistic regression"]
    assert "random forest" in one.plan.left_out
    assert one.test == two.test
    for name in one.board.names:
        np.testing.assert_array_equal(
            one.board[name].scores["accuracy"], two.board[name].scores["accuracy"]
        )


@pytest.mark.covers("reproducible-runs")
def test_no_more_models_are_compared_than_the_budget_has_evaluations(rng, monkeypatch):
    fits = []

    def counted(*given, **options):
        found = cross_validation_estimates(*given, **options)
        fits.append(len(found.folds) + len(found.pair_folds))
        return found

    monkeypatch.setattr(learn_module, "cross_validation_estimates", counted)
    found = gnomon.learn(classes(rng, 120), "y", budget=25, curve=False)
    assert found.competed == ["baseline", "naive Bayes"]
    assert fits == [10, 10]  # five folds and five pairs of them, not repeated
    assert found.settings.repeats == 1
    assert "5 of 25 left" in found.plan.left_out["logistic regression"]


def test_the_choice_is_the_simplest_within_one_error_or_the_best(found):
    chosen, best = found.board[found.chosen], found.board.best
    ranks = {each.name: each.complexity for each in found.plan.entrants}
    assert best.mean - chosen.mean <= best.standard_error
    near = [e for e in found.board.results if best.mean - e.mean <= best.standard_error]
    assert ranks[found.chosen] == min(ranks[each.name] for each in near)


def test_the_reason_of_a_choice_is_in_scores_and_standard_errors(found):
    """Not in units of the losses, as squares of the target's unit."""
    best, *others = found.board.results
    for other in others:
        said = learn_module.distance_from(best, other)
        start = f"{found.measure} {other.mean:.4g} against {best.mean:.4g}; compared row by row, "
        assert said.startswith(start)
        assert said.endswith(("standard errors", "not worse"))


def test_a_baseline_that_is_beaten_is_not_chosen_however_near_it_is():
    rng = np.random.default_rng(7)
    flag = rng.uniform(size=6000) < 0.007
    y = np.where(rng.uniform(size=6000) < np.where(flag, 0.85, 0.15), "a", "b")
    table = Table.from_dict({"flag": np.where(flag, "on", "off").tolist(), "y": y.tolist()})
    found = gnomon.learn(
        table, "y", learners=["naive Bayes"], measure="accuracy", **(QUICK | {"folds": 10})
    )
    best = found.board.best
    assert abs(best.mean - found.baseline.mean) < best.standard_error
    assert found.beats_baseline
    assert found.chosen == "naive Bayes"
    assert "beats the baseline" in found.verdict()


def test_where_nothing_but_the_baseline_was_tried_that_is_said(rng):
    found = gnomon.learn(classes(rng), "y", **(QUICK | {"budget": 3}))
    assert found.board.names == [BASELINE]
    assert "Nothing but the baseline" in found.verdict()


def test_a_table_of_text_alone_is_learnt(rng):
    words = np.array(["sun", "rain", "wind", "snow", "cloud", "storm", "frost", "calm"])
    said = [" ".join(rng.choice(words, 12)) + f" {k}" for k in range(120)]
    y = ["wet" if text.count("rain") > 1 else "dry" for text in said]
    table = Table.from_dict({"said": said, "y": y}).set("said", kind="text")
    found = gnomon.learn(table, "y", learners=["naive Bayes"], **QUICK)
    assert next(each for each in found.checks if each.name == "drift").verdict == "not made"


def test_rows_without_a_target_are_set_apart_and_said(rng):
    table = classes(rng, 120)
    cells = [None if i % 6 == 0 else y for i, y in enumerate(table.column("y").to_pylist())]
    table = table.drop("y").with_column("y", cells, kind="category")
    result = gnomon.learn(table, "y", learners=["naive Bayes"], **QUICK)
    assert len(result.problem.unlabeled) == 20
    assert result.n_train + result.n_test == 100
    assert "20 without it are set apart" in str(result)
    assert any("20 rows without a target" in each["what"] for each in result.decisions)


def moons(rng, n=500, n_labels=300):
    """Two arcs around each other: a line is right of most rows and not of all."""
    arc, angle = np.arange(n) % 2, rng.uniform(0, np.pi, n)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    X[arc == 1] = [1.0, 0.62] - X[arc == 1]
    X += 0.07 * rng.normal(size=X.shape)
    truth = np.where(arc == 1, "lower", "upper")
    cells = truth[:n_labels].tolist() + [None] * (n - n_labels)
    table = Table.from_dict({"a": X[:, 0], "b": X[:, 1]}).with_column("y", cells, kind="category")
    return table, truth


def test_rows_without_a_target_are_used_where_folds_say_that_they_help(rng, tmp_path):
    table, truth = moons(rng)
    result = gnomon.learn(table, "y", learners=["logistic regression"], **QUICK)
    used = [each for each in result.decisions if "rows without a target are used" in each["what"]]
    assert used, result.decisions
    assert "points of accuracy" in used[0]["why"]
    said = np.array(result.model.predict(table.drop("y")))
    assert (said == truth).mean() > 0.9
    loaded = gnomon.load(result.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.predict(table.drop("y")), said)


def test_rows_without_a_target_are_not_used_where_they_do_not_help(rng):
    table, _ = moons(rng)
    shuffled = rng.permutation(table.column("y").to_pylist()[:300]).tolist() + [None] * 200
    table = table.drop("y").with_column("y", shuffled, kind="category")
    result = gnomon.learn(table, "y", learners=["logistic regression"], **QUICK)
    decided = [each for each in result.decisions if "not used" in each["what"]]
    assert decided or any("baseline is chosen" in each["what"] for each in result.decisions)


def test_numbers_are_regressed_with_rmse_and_the_line_wins(rng):
    result = gnomon.learn(numbers(rng), "y", learners=["linear regression", "pruned tree"], **QUICK)
    assert result.task == "regress"
    assert result.measure == "rmse"
    assert result.chosen == "linear regression"
    assert 0.7 < result.test.value < 1.4
    assert set(result.pictures) >= {"residuals", "predicted_versus_true", "importances"}


@pytest.mark.covers("model-recycling")
def test_the_stack_joins_the_learners_that_ran(rng):
    names = ["logistic regression", "random forest", "stack"]
    result = gnomon.learn(classes(rng, 150), "y", learners=names, **QUICK)
    if STACK in result.board.names:
        entrant = next(each for each in result.plan.entrants if each.name == STACK)
        assert {name for name, _ in entrant.learner.estimators} == set(names[:2])
    else:
        assert "all the weight" in result.plan.left_out[STACK]
    alone = gnomon.learn(classes(rng, 150), "y", learners=["random forest", "stack"], **QUICK)
    assert STACK not in alone.board.names


def priced(seconds: float):
    """A forecast by which every learner but the baseline takes so long per 1,000 rows."""

    def cost(entrant, problem, inputs, y, seed):
        each = 0.0 if entrant.name == BASELINE else seconds
        return Cost(entrant.name, (500, 1000), (each / 2, each), 1.0, 0.5)

    return cost


def plan_at(monkeypatch, table, seconds, budget="60s", **asked):
    """The plan of a run whose learners all take so long per 1,000 rows."""
    monkeypatch.setattr(plan_module, "forecast_cost", priced(seconds))
    problem = set_up(table, "y")
    y = problem.values(problem.rows)
    effort = plan_module.Effort(**asked)
    return plan_module.make_plan(
        problem, problem.rows, y, effort, None, Budget.of(budget), 0, lambda what: None
    )


def test_short_of_time_folds_and_searches_and_rows_are_spared_before_a_learner(rng, monkeypatch):
    table = classes(rng, 12_000)
    seen = []
    for seconds in (0.03, 0.08, 0.15, 0.25):
        plan = plan_at(monkeypatch, table, seconds)
        assert len(plan.entrants) == 6
        assert not plan.left_out
        seen.append(plan)
    folds = [len(plan.splits) for plan in seen]
    assert folds == [5, 5, 3, 3]
    assert seen[0].effort.search is None
    assert seen[1].effort.search == ["gradient boosting"]
    assert [len(plan.splits[0][0]) for plan in seen] == [9_600, 9_600, 8_000, 5_000]
    assert seen[0].decisions[0][1].startswith("12,000 training rows")
    for plan, spared in zip(seen[1:], ("not searched", "3 folds instead of 5", "5,000 rows")):
        assert "60 s are short for 6 learners" in plan.decisions[0][1]
        assert spared in plan.decisions[0][1]
    few = plan_at(monkeypatch, table, 30.0)
    assert few.left_out
    assert few.entrants[0].name == BASELINE
    assert all("forecast" in why for why in few.left_out.values())


def test_what_was_asked_for_is_not_spared(rng, monkeypatch):
    asked = {"folds": 4, "repeats": 2, "search": True, "pair_fits": 5}
    plan = plan_at(monkeypatch, classes(rng, 6_000), 5.0, **asked)
    assert len(plan.splits) == 8
    assert plan.effort == plan_module.Effort(**asked)
    assert plan.left_out


def test_a_run_that_spared_something_is_repeated_by_its_record(rng, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    classes(rng, 2_000).save(path)
    options = {"learners": ["naive Bayes", "pruned tree"], "folder": tmp_path / "run"}
    with monkeypatch.context() as patch:
        patch.setattr(plan_module, "forecast_cost", priced(0.9))
        result = gnomon.learn(path, "y", budget="30s", **options)
    assert result.settings.folds == 3
    assert result.competed == ["baseline", "naive Bayes", "pruned tree"]
    assert "folds=3" in result.script
    assert gnomon.again(tmp_path / "run").same


@pytest.mark.slow
def test_the_seconds_hold_for_the_whole_run_the_ending_too(rng, tmp_path):
    """A fifth more is borne: other programs may take the processors at the end."""
    table = classes(rng, 20_000)
    gnomon.learn(table[:400], "y", budget=3, folder=tmp_path / "warm")
    budget = Budget.of("25s")
    result = gnomon.learn(table, "y", budget=budget, folder=tmp_path / "run")
    assert budget.spent < 30
    assert len(result.competed) >= 3


@pytest.mark.covers("cost-estimate", "small-subset-trial")
def test_costs_are_extrapolated_by_the_power_of_two_trials(rng):
    cost = Cost("x", (1000, 4000), (1.0, 8.0), 1.5, 0.9, predict=1e-4)
    assert cost.at(4000) == pytest.approx(8.0)
    assert cost.at(16_000) == pytest.approx(64.0)
    assert cost.fold(4000, 1000) == pytest.approx(8.5)
    slow_start = Cost("y", (1000, 4000), (1.0, 1.6), 0.34, 0.9)
    assert slow_start.at(10_000) == pytest.approx(2.8)
    problem = set_up(classes(rng, 400), "y")
    y = problem.values(problem.rows)
    entrant = portfolio("classify", 400)[1]
    measured = forecast_cost(entrant, problem, problem.inputs(problem.rows), y, 0)
    assert measured.sizes == (50, 200)
    assert measured.seconds[1] > 0
    assert measured.predict > 0
    assert 0.4 < measured.score <= 1
    assert not measured.failure


def test_kernels_that_the_first_prediction_loads_are_not_counted_as_the_cost_of_rows(
    rng, monkeypatch
):
    passed = [0.0]

    class LoadsFirst(DecisionTreeClassifier):
        def predict_proba(self, X):
            passed[0] += 1e-3 if passed[0] else 30.0
            return super().predict_proba(X)

    monkeypatch.setattr(cost_module, "time", SimpleNamespace(perf_counter=lambda: passed[0]))
    problem = set_up(classes(rng, 400), "y")
    y = problem.values(problem.rows)
    entrant = Entrant("slow to load", LoadsFirst(), 1)
    measured = forecast_cost(entrant, problem, problem.inputs(problem.rows), y, 0)
    assert measured.predict < 1e-3
    assert max(measured.seconds) == 0


def test_a_learner_whose_forecast_exceeds_the_seconds_does_not_compete(rng):
    table = classes(rng, 8_000)
    result = gnomon.learn(table, "y", budget="0.5s", folds=3, repeats=1)
    assert BASELINE in result.board.names
    assert result.plan.left_out
    assert any("forecast" in why or "time was up" in why for why in result.plan.left_out.values())
    assert result.competed[:2] == ["baseline", "naive Bayes"]


def test_groups_never_stand_on_both_sides(rng):
    table = classes(rng, 240).with_column("person", [f"p{i // 6}" for i in range(240)])
    table = table.set("person", kind="category")
    result = gnomon.learn(table, "y", groups="person", learners=["naive Bayes"], **QUICK)
    tested = set(result.test_table.column("person").to_pylist())
    people = np.array(table.column("person").to_pylist())
    trained = set(people) - tested
    assert len(tested) + len(trained) == 40
    assert result.n_test == sum(each in tested for each in people)
    assert "person" not in result.problem.features


def test_with_time_the_test_rows_are_the_latest(rng):
    table = classes(rng, 240).with_column("day", rng.permutation(240).tolist())
    result = gnomon.learn(table, "y", time="day", learners=["naive Bayes"], **QUICK)
    assert min(result.test_table.column("day").to_pylist()) >= 179
    assert result.plan.splits.ordered


def test_the_final_interval_counts_a_group_as_one(rng):
    """Rows of a group err together here: spread over rows, the interval would be far too narrow."""
    n, size = 60, 30
    person = np.repeat(np.arange(n), size)
    y = 3 * rng.normal(size=n)[person] + 0.1 * rng.normal(size=n * size)
    columns = {"person": [f"p{i}" for i in person], "x": rng.normal(size=n * size).tolist()}
    table = Table.from_dict(columns | {"y": y.tolist()})
    found = gnomon.learn(table, "y", groups="person", learners=["linear regression"], **QUICK)
    of_rows = found.problem.figure.figure(found.problem.values(found.test_table), found.said)
    assert found.test.value == pytest.approx(of_rows.value)
    assert found.test.error > 3 * of_rows.error
    assert "every 'person' counts as one" in found.test_sentence()


@pytest.mark.parametrize("measure", ["accuracy", "auc", "balanced_accuracy", "log_loss"])
def test_a_measure_of_any_kind_has_its_interval_by_groups(rng, measure):
    table = classes(rng, 300, strength=1.0)
    table = table.with_column("person", [f"p{i % 40}" for i in range(300)], kind="category")
    options = QUICK | {"learners": ["logistic regression"], "search": False}
    found = gnomon.learn(table, "y", groups="person", measure=measure, **options)
    assert found.test.low < found.test.value < found.test.high
    assert "counts as one" in found.test.how


@pytest.mark.covers("baseline-first")
def test_forward_in_time_every_stretch_counts_as_one_in_intervals_and_p(rng):
    n = 360
    x = rng.normal(size=n)
    drift = np.cumsum(rng.normal(size=n)) / 3
    columns = {"day": list(range(n)), "x": x.tolist(), "y": (x + drift).tolist()}
    found = gnomon.learn(
        Table.from_dict(columns), "y", time="day", learners=["linear regression"], budget=None
    )
    line, base = found.board["linear regression"], found.board["baseline"]
    gaps = line.scores["rmse"] - base.scores["rmse"]
    assert line.p_against(base) == pytest.approx(stats.ttest_1samp(gaps, 0).pvalue)
    squares = line.scores["rmse"] ** 2
    error = squares.std(ddof=1) / np.sqrt(len(squares))
    assert line.figure().error == pytest.approx(error / (2 * line.mean), rel=1e-6)
    assert "each of 5 stretches of 'day' counts as one" in found.test_sentence()


@pytest.mark.parametrize("n", [20, 24, 30])
@pytest.mark.parametrize("kind", ["numbers", "rare classes"])
def test_on_a_tiny_table_no_learner_is_dropped_with_an_error(rng, n, kind):
    table = numbers(rng, n)
    if kind == "rare classes":
        table = table.with_column("y", ["rare"] * 4 + ["usual"] * (n - 4))
    names = [NEIGHBORS, "gradient boosting", "pruned tree"]
    found = gnomon.learn(table, "y", learners=names, **(QUICK | {"folds": None}))
    assert set(found.board.names) == {BASELINE, NEIGHBORS, "pruned tree"}
    assert not any(each.failures for each in found.board.results)
    said = found.plan.left_out["gradient boosting"]
    assert said == f"it needs 40 training rows, and there are {found.n_train}"


def test_a_measure_that_a_fold_cannot_give_makes_no_failed_fold(rng):
    found = gnomon.learn(numbers(rng, 60), "y", learners=["linear regression"], **QUICK)
    line = found.board["linear regression"]
    line.failures.append(Failure(0, "score", "DataError: r2 is NaN", measure="r2"))
    assert {each["learner"]: each["failed_folds"] for each in found.leaderboard_lines()} == {
        "linear regression": 0,
        "baseline": 0,
    }


def test_rows_and_target_may_come_apart(rng):
    x = rng.normal(size=(80, 2))
    y = np.where(x[:, 0] > 0, "yes", "no")
    options = QUICK | {"learners": ["naive Bayes"]}
    found = gnomon.learn(x, y, **options)
    assert (found.target, found.problem.features) == ("target", ["x0", "x1"])
    assert len(found.predict(x)) == 80
    frame = pd.DataFrame(x, columns=["a", "b"])
    by_frame = gnomon.learn(frame, pd.Series(y, name="bought"), **options)
    assert by_frame.target == "bought"
    assert by_frame.test == found.test


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda y: y[:-1], "80 rows and the target 79"),
        (lambda y: y[::-1], "different row labels"),
        (lambda y: y.rename("a"), "target='a'"),
        (lambda y: y.to_frame(), "one column of values"),
        (lambda y: None, "the target is None"),
    ],
)
def test_a_target_that_does_not_fit_its_rows_is_refused(rng, change, said):
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    with pytest.raises(DataError, match=said):
        gnomon.learn(frame, change(pd.Series(rng.choice([0, 1], 80), name="y")), **QUICK)


@pytest.mark.covers("problem-card")
def test_the_card_says_target_rows_columns_and_measure(found):
    card = dict(found.problem.card())
    assert card["rows"] == "400 with a known target"
    assert card["columns"] == "4 to predict from: 3 number, 1 category"
    assert card["measure"].startswith("accuracy")
    assert "2 classes" in card["target"]


@pytest.mark.covers("all-runs-shown")
def test_every_fold_of_every_learner_is_in_the_table_of_folds(found):
    table = found.fold_scores().to_dict()
    for each in found.board.results:
        kept = [
            score
            for name, measure, score in zip(table["learner"], table["measure"], table["score"])
            if (name, measure) == (each.name, "accuracy")
        ]
        np.testing.assert_allclose(kept, each.scores["accuracy"])


def test_pictures_are_drawn_in_both_themes(found):
    for name in found.pictures:
        for theme in ("light", "dark"):
            assert found.plot(name, theme=theme).data
    with pytest.raises(DataError, match="leaderboard"):
        found.plot("nothing")


def test_the_leaderboard_has_interval_p_times_memory_and_size(found):
    board = found.leaderboard().to_dict()
    assert board["p_against_best"][0] is None
    assert all(0 <= p <= 1 for p in board["p_against_best"][1:])
    for key in ("fit_seconds", "memory_mb", "model_kb"):
        assert all(value > 0 for value in board[key])
    assert all(lo <= v <= hi for lo, v, hi in zip(board["low"], board["accuracy"], board["high"]))


@pytest.mark.covers("automatic-filtering", "estimator-contract")
def test_any_table_is_learnt_from(mixed_table):
    result = gnomon.learn(mixed_table, "outcome", learners=["naive Bayes", "pruned tree"], **QUICK)
    assert len(result.said.predictions) == result.n_test
    assert set(result.said.predictions) <= {"no", "perhaps", "yes"}


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"x": [1.0] * 30, "y": ["a"] * 30}, {}, "one value only"),
        ({"x": [1.0] * 30, "y": [None] * 30}, {}, "no value at all|kind|nothing"),
        ({"x": [1.0, 2.0] * 5, "y": ["a", "b"] * 5}, {}, "too few"),
        ({"y": ["a", "b"] * 20}, {}, "no column beside"),
        ({"x": [1.0] * 40, "y": ["a"] * 37 + ["b", "c", "c"]}, {}, "nothing can be tested"),
        ({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20}, {"task": "regress"}, "cannot be regressed"),
        ({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20}, {"measure": "rmse"}, "does not classify"),
        ({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20}, {"choose": "luck"}, "luck"),
        ({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20}, {"test_share": 1.5}, "test_share"),
        ({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20}, {"budget": "-3"}, "no budget"),
        ({"x": [1.0, 2.0] * 20, "y": ["a", "b"] * 20}, {"groups": "g"}, "'g'"),
    ],
)
def test_what_cannot_be_learnt_is_refused_with_the_reason(columns, options, said):
    with pytest.raises(GnomonError, match=said):
        gnomon.learn(Table.from_dict(columns), "y", **options)


def test_a_wrong_target_names_the_nearest_columns():
    with pytest.raises(DataError, match="'churn'"):
        gnomon.learn(example("customers"), "chrun")


def test_budgets_are_read_as_people_write_them():
    assert Budget.of("90s").seconds == 90
    assert Budget.of("2 min").seconds == 120
    assert Budget.of("1.5h").seconds == 5400
    assert Budget.of(40).evaluations == 40
    assert Budget.of(None).seconds is Budget.of(None).evaluations is None


def test_very_many_rows_are_compared_on_few_splits_and_that_is_said(rng, monkeypatch):
    for name, value in (("VERY_MANY", 500), ("TRAIN_OF_MANY", 300), ("TEST_OF_MANY", 200)):
        monkeypatch.setattr(plan_module, name, value)
    options = {"learners": ["naive Bayes"], "budget": None, "curve": False}
    result = gnomon.learn(classes(rng, 1200), "y", **options)
    assert [len(train) for train, _ in result.plan.splits] == [300] * 3
    for train, test in result.plan.splits:
        assert len(test) == pytest.approx(200, abs=2)
        assert not set(train) & set(test)
    assert result.n_fitted == result.n_train == 900
    assert any("random splits" in each["what"] for each in result.decisions)


def test_a_final_fit_on_fewer_rows_is_said(rng):
    options = QUICK | {"learners": ["naive Bayes"], "fit_rows": 100}
    result = gnomon.learn(classes(rng, 400), "y", **options)
    assert result.n_fitted == 100
    assert any("learns from 100 of 300 rows" in each["what"] for each in result.decisions)


def test_a_search_that_all_rows_have_no_time_for_sees_those_of_a_fold(rng, monkeypatch):
    def within(self, scores, n, plan, trainings=1):
        return n if trainings > 1 else n // 2

    monkeypatch.setattr(learn_module.Learning, "rows_within", within)
    options = QUICK | {"learners": ["gradient boosting"]}
    result = gnomon.learn(classes(rng, 400), "y", **options)
    assert result.n_fitted == result.n_train == 300
    learnt, held = result.model.cv[0]
    np.testing.assert_array_equal(learnt, result.plan.splits[-1][0])
    np.testing.assert_array_equal(held, result.plan.splits[-1][1])
    assert any("searched on 200 rows" in each["what"] for each in result.decisions)


def test_a_learner_of_all_rows_is_fitted_before_an_equal_one_that_has_no_time_for_them(
    rng, monkeypatch
):
    def affordable(self, scores, n, plan):
        return n if scores.name == "naive Bayes" else n // 2

    monkeypatch.setattr(learn_module.Learning, "affordable_rows", affordable)
    monkeypatch.setattr(
        learn_module.Learning,
        "by_scores",
        lambda self, entrants, board: ("logistic regression", "best"),
    )
    monkeypatch.setattr(learn_module, "p_against_best", lambda board: {})
    options = QUICK | {"learners": ["naive Bayes", "logistic regression"]}
    found = gnomon.learn(classes(rng, 400), "y", **options)
    assert found.chosen == "naive Bayes"
    assert found.n_fitted == found.n_train
    assert found.settings.fit_learner == "naive Bayes", "a repetition fits it too"
    why = next(each["why"] for each in found.decisions if each["what"] == "naive Bayes is chosen")
    assert "logistic regression" in why


def test_the_kernel_machine_of_the_portfolio_sees_dates_and_numbers_in_one_scale():
    table = example("customers")
    machine = next(each for each in portfolio("classify", 1000) if each.name == MACHINE).learner
    rows, churn = table.drop(["churn"]), np.asarray(table.column("churn"))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        machine.fit(rows[np.arange(1000)], churn[:1000])
    assert not [each for each in said if "ranges of the columns" in str(each.message)]
    right = machine.predict(rows[np.arange(1000, 2000)]) == churn[1000:]
    commonest = max(np.mean(churn[1000:] == value) for value in np.unique(churn))
    assert right.mean() > commonest + 0.1


def test_tuned_learners_search_many_settings_inside_every_training_part(rng):
    x = rng.normal(size=(120, 3))
    table = {"a": x[:, 0], "b": x[:, 1], "y": x @ [3.0, -2.0, 0.0] + 0.1 * rng.normal(size=120)}
    found = gnomon.learn(
        Table.from_dict({k: v.tolist() for k, v in table.items()}), "y", learners=["ridge"],
        budget=None, tune=7, choose="best",
    )  # fmt: skip
    assert found.model.best_name_.startswith(("alpha=", "as usual"))
    assert len(found.model.estimators) == 8
    assert found.model.scores_.losses.shape == (8, 3)
    assert "8 settings of alpha by 3 folds" in {each.search for each in found.plan.entrants}
    assert "tune=7" in found.script


def test_a_budget_of_the_command_line_counts_from_its_start_and_others_from_now():
    with counted_from_here():
        begun = time.perf_counter()
        assert Budget.of("20s").began <= begun
    assert Budget.of("20s").began >= begun


@pytest.mark.parametrize(("seconds_of_a_fit", "n_fitted"), [(0.5, 54), (30.0, 36)])
def test_the_saved_model_learns_from_all_rows_where_that_takes_little_more(
    seconds_of_a_fit, n_fitted
):
    spent = Budget.of("20s")
    spent.began -= 19.0
    run = learn_module.Learning.__new__(learn_module.Learning)
    run.budget, run.settings = spent, LearnOptions(target="y")
    run.problem = SimpleNamespace(rows=range(72), features=["x"])
    scores = SimpleNamespace(
        name="ridge",
        fit_seconds=3 * seconds_of_a_fit,
        predict_seconds=0.1,
        folds=[None] * 3,
        scores={learn_module.MODEL_SIZE.name: np.array([1e3])},
    )
    splits = [(range(36), range(18))] * 3
    plan = SimpleNamespace(splits=splits, cost_of=lambda name: None)
    assert run.rows_within(scores, 54, plan) == n_fitted
    # a forecast in which half of a fit of 4,000 rows does not depend on the rows
    cost = Cost("ridge", (1000, 4000), (0.6, 1.0), 0.5, 1.0)
    scores.fit_seconds, run.settings.budget = 3 * 0.1, spent
    spent.began += 16.0
    plan = SimpleNamespace(splits=[(range(4000), range(9))] * 3, cost_of=lambda name: cost)
    affordable = run.rows_within(scores, 10**6, plan)
    spare = spent.left - run.ending() - (run.n_test + run.least_asked()) * 0.1 / 27
    assert affordable == pytest.approx(4000 + (10 * spare - 1) * 3000 / 0.4, rel=0.1)
