"""The checks of `learn`: each speaks on a table made for it, and is silent on a sound one."""

from __future__ import annotations

import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import gnomon
from gnomon.contract.estimate import Estimate
from gnomon.engine.errors import DataError
from gnomon.evaluate import MEASURES
from gnomon.evaluate.measures import Said
from gnomon.table import Table
from gnomon.workbench.analysis.diagnosis import (
    DRIFT_COLUMNS,
    PermutationImportance,
    group_scores,
    shift_check,
)
from gnomon.workbench.analysis.portfolio import BASELINE
from gnomon.workbench.analysis.problem import set_up
from gnomon.workbench.learn.checks import (
    CHECKS,
    as_on_folds,
    calibrated,
    stands_in,
    underfitting,
    useless_columns,
)
from gnomon.workbench.learn.evidence import WRONG
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
    assert "Remove duplicates" in found.remedy


@pytest.mark.covers("trap-warnings")
def test_moments_split_at_random_are_said(rng):
    columns = sound(rng, 300)
    first = datetime.datetime(2020, 1, 1)
    columns["when"] = [first + datetime.timedelta(days=int(d)) for d in rng.permutation(300)]
    found = checks_of(columns)["time"]
    assert found.verdict == "warning"
    assert "--time when" in found.remedy


@pytest.mark.covers("trap-warnings", "unbalanced-class-workflow")
def test_a_rare_class_makes_accuracy_doubtful_and_is_judged_otherwise_unasked(rng):
    columns = sound(rng)
    columns["y"] = ["yes" if i % 15 == 0 else "no" for i in range(600)]
    by_accuracy = checks_of(columns, measure="accuracy")
    assert by_accuracy["balanced classes"].verdict == "warning"
    assert by_accuracy["rows of every class"].verdict == "warning"
    assert checks_of(columns)["balanced classes"].verdict == "good"


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


@pytest.mark.covers("trap-warnings")
@pytest.mark.parametrize("measure", ["rmse", "r2"])
def test_a_target_that_stands_in_the_table_in_another_unit_is_a_leak(rng, measure):
    price = np.exp(rng.normal(10, 1, 400))
    columns = {
        "size": rng.normal(80, 20, 400).tolist(),
        "price_eur": (0.92 * price * (1 + 1e-3 * rng.normal(size=400))).tolist(),
        "y": price.tolist(),
    }
    found = checks_of(columns, learners=["linear regression"], measure=measure)["leak"]
    assert found.verdict == "bad", found
    assert "'price_eur'" in found.finding
    assert "in another unit" in found.finding
    del columns["price_eur"]
    sound = checks_of(columns, learners=["linear regression"], measure=measure)["leak"]
    assert sound.verdict == "good", sound
    assert "another" not in sound.finding


@pytest.mark.covers("trap-warnings")
def test_scores_of_groups_are_in_the_unit_of_the_measure(rng):
    n = 300
    y = rng.normal(size=n)
    level = np.repeat(["good", "bad", "few"], [n // 2, n // 2 - 5, 5])
    said = Said(y + np.where(level == "bad", 3.0, 0.5) * rng.normal(size=n))
    table = Table.from_dict({"level": level.tolist()}).set("level", kind="category")
    for measure in ("rmse", "mae", "r2"):
        problem = SimpleNamespace(figure=MEASURES[measure], task="regress")
        found = group_scores(problem, table, y, said)
        assert [each.level for each in found] == ["bad", "good"], "five rows are no group"
        used = "rmse" if measure == "r2" else measure
        own, rest = (
            MEASURES[used].figure(y[k], said.part(k)) for k in (level == "bad", level != "bad")
        )
        assert found[0].measure == used
        assert found[0].score == pytest.approx(getattr(own, "value", own))
        assert found[0].others == pytest.approx(getattr(rest, "value", rest))
        assert found[0].p < 0.01
        assert found[1].p == 1, "a group that scores better is not the worst"


def test_probabilities_that_are_all_too_small_are_told_where_they_lie_about_one_half():
    told = np.repeat([0.3, 0.7], 200)
    for n_yes, verdict in (((100, 180), "warning"), ((60, 140), "good")):
        y = np.concatenate([np.repeat(["yes", "no"], [n, 200 - n]) for n in n_yes])
        said = Said(y, np.column_stack([1 - told, told]), classes=np.array(["no", "yes"]))
        problem = SimpleNamespace(task="classify", time=None, groups=None)
        seen = SimpleNamespace(problem=problem, said=said, y_test=y, test=None)
        assert calibrated(seen).verdict == verdict


def test_rows_of_a_group_that_differ_in_ranks_and_not_in_score_are_not_called():
    inside = np.concatenate([np.full(39, 1.1), [1.0]])
    outside = np.concatenate([np.full(38, 1.0), [3.0, -1.9]])
    y, level = np.zeros(80), np.repeat(["a", "b"], 40)
    said = Said(np.concatenate([inside, outside]))
    table = Table.from_dict({"level": level.tolist()}).set("level", kind="category")
    problem = SimpleNamespace(figure=MEASURES["mae"], task="regress")
    worst = group_scores(problem, table, y, said)[0]
    ranks = stats.mannwhitneyu(inside, abs(outside), alternative="greater").pvalue
    assert ranks < 1e-6
    assert worst.p > 0.05


def test_two_rows_outside_a_group_prove_nothing(rng):
    y, said = np.zeros(100), Said(1 + 0.01 * rng.normal(size=100))
    said.predictions[:2] = 0.5
    table = Table.from_dict({"level": ["a", "a"] + ["b"] * 98}).set("level", kind="category")
    problem = SimpleNamespace(figure=MEASURES["rmse"], task="regress")
    assert group_scores(problem, table, y, said) == []


@pytest.mark.covers("trap-warnings")
def test_folds_that_differ_by_design_raise_no_alarm(rng):
    person = np.repeat(np.arange(30), 12)
    own = 5 * rng.normal(size=30)[person]
    x = own + rng.normal(size=360)
    first = datetime.datetime(2020, 1, 1)
    columns = {
        "person": [f"p{k}" for k in person],
        "when": [first + datetime.timedelta(days=int(d)) for d in rng.permutation(360)],
        "x": x.tolist(),
        "y": (x + own + rng.normal(size=360)).tolist(),
    }
    found = checks_of(columns, learners=["ridge"], groups="person")
    for name in ("folds agree", "drift", "time"):
        assert found[name].verdict in ("good", "not made"), found[name]
    assert "'person'" in found["folds agree"].finding
    for each in found.values():
        assert "(groups, time)" not in each.remedy


@pytest.mark.covers("trap-warnings")
def test_a_target_beyond_the_range_of_earlier_rows_is_said_without_a_test(rng):
    first = datetime.datetime(2020, 1, 1)
    columns = {
        "when": [first + datetime.timedelta(days=d) for d in range(200)],
        "y": (np.arange(200) / 10 + rng.normal(size=200)).tolist(),
    }
    found = checks_of(columns, learners=["ridge"], time="when")
    assert found["same target"].verdict == "warning"
    assert "outside the range" in found["same target"].finding
    assert "p =" not in found["same target"].finding
    assert found["leak"].verdict != "bad", "moments are known before the target"


def test_an_infinite_fold_does_not_hide_the_comparison_with_the_baseline(rng):
    columns = sound(rng, 120)
    found = checks_of(columns, measure="log_loss")["better than the baseline"]
    assert "nan" not in str(found)


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


@pytest.mark.parametrize("name", ["b", "y"])
def test_an_infinite_cell_is_refused_with_its_column_and_its_row_in_the_table(rng, name):
    columns = {k: rng.normal(size=100) for k in ("a", "b", "y")}
    columns["y"][3] = np.nan
    place = int(rng.integers(4, 100))
    columns[name][place] = np.inf
    with pytest.raises(DataError, match=rf"column '{name}' is infinite in row {place + 1} "):
        gnomon.learn(columns, "y", learners=["ridge"], **QUICK)


def test_few_whole_numbers_and_two_amounts_are_learnt_with_a_hint_at_the_other_task(rng):
    def target_line(values):
        columns = {"x": rng.normal(size=60), "y": values}
        return dict(set_up(Table.from_dict(columns), "y").card())["target"]

    assert "--task classify" in target_line(np.arange(60) % 5)
    assert "--task" not in target_line(rng.normal(size=60))
    assert "--task regress" in target_line(np.where(np.arange(60) % 2, 5.0, 7.5))
    assert "--task" not in target_line(np.arange(60) % 2)


@pytest.mark.parametrize(
    ("name", "values", "task"),
    [
        ("class", np.arange(60) % 3 + 1, "classify"),
        ("Cover_Type", np.arange(140) % 7 + 1.0, "classify"),
        ("label_id", np.repeat([1, 2, 5], 20), "classify"),
        ("pclass", np.arange(60) % 3 + 1, "classify"),
        ("wineVariety", np.arange(60) % 3 + 1, "classify"),
        ("y", np.arange(60) % 2, "classify"),
        ("y", np.arange(60) % 5, "regress"),
        ("rating", np.arange(60) % 5 + 1, "regress"),
        ("visits", np.arange(310) % 31, "regress"),
        ("year", 1990 + np.arange(60) % 12, "regress"),
        ("age", 20 + np.arange(400) % 40, "regress"),
        ("n_class", np.arange(60) % 5, "regress"),
        ("class_size", np.arange(60) % 5 + 20, "regress"),
        ("class", np.arange(60), "regress"),
        ("class", np.arange(60) % 3 + 0.5, "regress"),
        ("type_score", np.arange(60) % 5, "regress"),
    ],
)
def test_whole_numbers_are_classes_under_the_name_of_classes_only(name, values, task, rng):
    table = Table.from_dict({"x": rng.normal(size=len(values)), name: values})
    problem = set_up(table, name)
    assert problem.task == task
    if len(problem.classes) > 2:
        assert "--task regress" in dict(problem.card())["target"]
    assert set_up(table, name, task="regress").task == "regress"


def test_a_perfect_test_score_whose_interval_holds_the_folds_does_not_disagree():
    folds, test = Estimate(0.956, 0.90, 0.98, 0.95, 0.02), Estimate(1.0, 0.905, 1.0, 0.95, 0.0)
    seen = SimpleNamespace(
        scores=SimpleNamespace(figure=lambda: folds),
        figure=test,
        problem=SimpleNamespace(time=None, figure=SimpleNamespace(greater_is_better=True)),
        times_the_rows=1.25,
    )
    assert as_on_folds(seen).verdict == "good"
    far = SimpleNamespace(**(vars(seen) | {"figure": Estimate(0.6, 0.55, 0.65, 0.95, 0.02)}))
    assert as_on_folds(far).verdict == "warning"
    assert as_on_folds(far).title == "Test rows and folds disagree"


def test_a_model_of_many_more_rows_than_a_fold_may_be_better_but_not_worse():
    folds, better, worse = (
        Estimate(value, value - 0.01, value + 0.01, 0.95, 0.005) for value in (0.8, 0.9, 0.7)
    )

    def verdict(figure, times, greater=True):
        seen = SimpleNamespace(
            scores=SimpleNamespace(figure=lambda: folds),
            figure=figure,
            problem=SimpleNamespace(time=None, figure=SimpleNamespace(greater_is_better=greater)),
            times_the_rows=times,
        )
        return as_on_folds(seen).verdict

    assert [verdict(better, 75.0), verdict(worse, 75.0, greater=False)] == ["good", "good"]
    assert [verdict(worse, 75.0), verdict(better, 75.0, greater=False)] == ["warning", "warning"]
    assert verdict(better, 1.25) == "warning"


def test_every_check_has_a_title_for_what_is_wrong(rng):
    names = {each.name for each in gnomon.learn(Table.from_dict(sound(rng)), "y", **QUICK).checks}
    assert names <= set(WRONG)


def importance_of(means: list[float], n_columns: int) -> PermutationImportance:
    """Importances with an error of 0.01 each, of some of so many columns."""
    names = [f"x{j}" for j in range(len(means))]
    losses = np.tile(np.array(means)[:, None], 5)
    return PermutationImportance(
        names, losses, np.full(len(means), 0.01), 250, "accuracy", 20, n_columns
    )


@pytest.mark.parametrize(
    ("means", "n_columns", "verdict"),
    [
        ([0.2, 0.0, 0.001, 0.0], 4, "warning"),
        ([0.2, 0.1, 0.3, 0.0], 4, "good"),
        ([0.0, 0.001, 0.0], 3, "not made"),  # too few rows to show any
        ([0.2, 0.0, 0.0], 7_130, "not made"),  # most columns were not shuffled
    ],
)
def test_columns_are_called_of_no_use_only_where_all_were_tried_and_some_are(
    means, n_columns, verdict
):
    seen = SimpleNamespace(chosen="ridge", importance=importance_of(means, n_columns))
    assert useless_columns(seen).verdict == verdict


def test_of_many_columns_some_are_compared_and_the_result_says_how_many(rng):
    rows = Table.from_dict({f"x{j}": rng.normal(size=60) for j in range(DRIFT_COLUMNS + 50)})
    found = shift_check(rows[:30], rows[30:])
    assert (found.n_compared, found.n_columns) == (DRIFT_COLUMNS, DRIFT_COLUMNS + 50)
    assert "200 of 250 columns" in found.some()
    assert not shift_check(rows[["x0", "x1"]][:30], rows[["x0", "x1"]][30:]).some()


def test_rows_of_few_values_repeat_by_chance_and_the_score_of_the_others_is_given(rng):
    votes = {f"v{j}": np.where(rng.random(200) < 0.5, "yes", "no").tolist() for j in range(9)}
    y = [a if rng.random() < 0.9 else "maybe" for a in votes["v0"]]
    found = checks_of(votes | {"y": y}, learners=["naive Bayes"])["repeated rows"]
    assert found.figure > 0.05
    assert "of the others alone" in found.finding
    assert (found.verdict == "good") == ("does not hang" in found.finding)


def test_a_baseline_that_is_chosen_is_not_said_to_underfit(rng):
    problem = set_up(Table.from_dict({"x": rng.normal(size=40), "y": rng.normal(size=40)}), "y")
    seen = SimpleNamespace(losses=(1.3, 1.1, 1.0), chosen=BASELINE, problem=problem)
    assert underfitting(seen).verdict == "not made"


def test_an_estimate_far_below_the_middle_of_its_interval_keeps_two_digits():
    assert str(Estimate(0.35, 0.001, 218.0, 0.95, 50.0)) == "0.35 (0.00 to 218.00)"
    assert str(Estimate(0.01, -5.0, 5.0, 0.95, 2.5)) == "0.0 (-5.0 to 5.0)"


def test_a_target_over_orders_of_magnitude_has_a_hint_at_its_logarithm(rng):
    def line(y):
        table = Table.from_dict({"x": rng.normal(size=60), "y": y})
        return dict(set_up(table, "y").card())["target"]

    assert "logarithm" in line(10.0 ** np.linspace(0, 4, 60))
    assert "logarithm" not in line(np.linspace(1, 100, 60))
    assert "logarithm" not in line(np.linspace(-1, 1e6, 60))
    assert "number from 5000 to 20,000, median 12,500" in line(np.linspace(5000, 20000, 60))
