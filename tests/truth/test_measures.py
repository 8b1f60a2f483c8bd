"""Measures and losses against their definitions, by brute force on small cases."""

import inspect
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

from gnomon import evaluate
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.evaluate import (
    MARGIN_LOSSES,
    Estimate,
    absolute_loss,
    accuracy,
    adjusted_r_squared,
    agreement_of_many,
    area_under_roc,
    average_precision,
    balanced_accuracy,
    baseline_labels,
    brier_score,
    calibration,
    check_enough_rows,
    cohen_kappa,
    compare_areas,
    confusion_table,
    correct_probabilities,
    cost_loss,
    cross_entropy,
    detection_curve,
    deviance,
    effective_parameters,
    error_agreement,
    error_rate,
    explained_variance_of_fit,
    exponential_loss,
    f_measure,
    fit_corrected,
    generalization_gap,
    huber_influence,
    huber_loss,
    huber_weight,
    label_agreement,
    logistic_loss,
    margin_hinge_loss,
    margin_squared_loss,
    mean_interval,
    mean_squared_distance,
    misclassification_loss,
    mixed_errors,
    multiclass_area,
    per_label_rates,
    pointwise,
    precision,
    precision_recall_curve,
    r_squared,
    recall,
    rejection_curve,
    roc_curve,
    root_mean_squared_distance,
    share_interval,
    sign_loss,
    smoothed_cosine,
    squared_loss,
    sum_squared_error,
    top_k_error,
    two_class_rates,
)
from gnomon.evaluate.number_measures import (
    mean_absolute_error,
    mean_squared_error,
    root_mean_squared_error,
)
from gnomon.evaluate.ranking import jackknife_areas
from gnomon.table import FunctionOracle, Table


@pytest.fixture
def scored(rng):
    """Labels and scores with ties."""
    y = np.concatenate([[0, 1], rng.integers(0, 2, 38)])
    return y, np.round(rng.normal(size=40) + y, 1)


@pytest.mark.covers("error-rate-accuracy")
def test_labels_of_any_make_give_the_same_accuracy():
    y, said = ["a", "b", "b", "c"], ["a", "b", "c", "c"]
    makes = [list, np.array, pd.Series, pl.Series, pa.array, lambda v: np.array(v, dtype=object)]
    for one, other in itertools.product(makes, makes):
        assert accuracy(one(y), other(said)).value == 0.75
    assert accuracy(Table.from_dict({"y": y}).column("y"), said).value == 0.75


@pytest.mark.covers("error-rate-accuracy", "two-class-rates")
def test_classes_in_another_coding_are_refused_and_not_counted_as_errors():
    with pytest.raises(DataError, match="never be equal"):
        accuracy([0, 1, 1], ["0", "1", "1"])
    with pytest.raises(DataError, match="3 classes"):
        two_class_rates([0, 1, 2], [0, 1, 2])
    with pytest.raises(DataError, match="3 rows and the predictions 2"):
        accuracy([0, 1, 1], [0, 1])
    with pytest.raises(DataError, match="missing in 1 of 3"):
        accuracy(["a", None, "b"], ["a", "a", "b"])


@pytest.mark.covers("error-rate-accuracy", "heldout-loss-error", "squared-error-measures")
def test_weights_are_repetitions(rng):
    y, said = rng.integers(0, 3, 30), rng.integers(0, 3, 30)
    numbers, estimates = rng.normal(size=30), rng.normal(size=30)
    weights = rng.integers(1, 5, 30)
    twice = np.repeat(np.arange(30), weights)
    for measure, a, b in [
        (accuracy, y, said),
        (error_rate, y, said),
        (mean_squared_error, numbers, estimates),
        (root_mean_squared_error, numbers, estimates),
        (mean_absolute_error, numbers, estimates),
        (r_squared, numbers, estimates),
    ]:
        weighted, repeated = measure(a, b, weights), measure(a[twice], b[twice])
        assert weighted[:3] == pytest.approx(repeated[:3], rel=1e-9)
        assert weighted.error == pytest.approx(repeated.error, rel=1e-9)


@pytest.mark.covers("confusion-matrix", "predicted-class-error")
def test_confusion_counts_rows_by_truth_and_columns_by_prediction(rng):
    y, said = rng.choice(list("abc"), 200), rng.choice(list("abcd"), 200)
    table = confusion_table(y, said)
    for i, true in enumerate("abcd"):
        for j, guess in enumerate("abcd"):
            assert table.counts[i, j] == sum((y == true) & (said == guess))
    assert table.class_errors[3] is None
    wrong = table.predicted_class_errors[1]
    assert wrong.value == pytest.approx((y[said == "b"] != "b").mean())
    assert table.to_table().columns[0] == "true \\ predicted"
    assert "truth in rows" in str(table)
    assert "<th>as a</th>" in table._repr_html_()


@pytest.mark.covers("confusion-matrix")
def test_classes_that_are_taken_for_each_other_are_named_and_can_be_merged():
    y = np.repeat(["cat", "lion", "dog"], 20)
    said = np.concatenate([["cat", "lion"] * 20, ["dog"] * 20])
    table = confusion_table(y, said)
    assert table.merge_hints() == [("cat", "lion")]
    merged = table.merge("cat", "lion")
    assert merged.error.value == 0
    assert merged.n == 60


@pytest.mark.covers("two-class-rates")
def test_exchanging_the_answers_turns_errors_into_hits():
    rates = two_class_rates([0, 0, 1, 1, 1], [1, 1, 0, 0, 1])
    assert "exchanging" in str(rates)
    swapped = rates.swapped()
    assert (swapped.tp, swapped.fp, swapped.fn, swapped.tn) == (2, 0, 1, 2)


@pytest.mark.covers("per-label-rates")
def test_rates_of_each_label_are_those_of_its_column(rng):
    y, said = rng.random((50, 4)) < [0.8, 0.2, 0.5, 0.4], rng.random((50, 4)) < 0.5
    found = per_label_rates(y, said, names=list("abcd"), n_commonest=3)
    order = np.argsort(-y.sum(axis=0), kind="stable")[:3]
    assert found.names == ["abcd"[j] for j in order]
    for j, rates in zip(order, found.rates):
        assert rates.false_negative_rate.value == pytest.approx((~said[y[:, j], j]).mean())
        assert rates.false_positive_rate.value == pytest.approx(said[~y[:, j], j].mean())


@pytest.mark.covers("precision-recall")
def test_precision_recall_and_f_by_counting(rng):
    y, said = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    hits = sum((y == 1) & (said == 1))
    p, r = hits / sum(said), hits / sum(y)
    assert precision(y, said).value == pytest.approx(p)
    assert recall(y, said).value == pytest.approx(r)
    assert f_measure(y, said).value == pytest.approx(2 * p * r / (p + r))
    with pytest.raises(DataError, match="no row is predicted positive"):
        precision([0, 1], [0, 0])


@pytest.mark.covers("roc-curve")
def test_area_is_the_share_of_pairs_in_the_right_order(scored):
    y, s = scored
    pairs = [(a > b) + (a == b) / 2 for a in s[y == 1] for b in s[y == 0]]
    curve = roc_curve(y, s)
    assert curve.area.value == pytest.approx(np.mean(pairs))
    trapezoids = np.trapezoid(curve.true_positive_rate, curve.false_positive_rate)
    assert trapezoids == pytest.approx(np.mean(pairs))
    assert (curve.true_positive_rate[-1], curve.false_positive_rate[-1]) == (1, 1)


@pytest.mark.covers("roc-curve")
def test_delongs_error_is_that_of_the_pairwise_kernel(scored):
    y, s = scored
    above = (s[y == 1][:, None] > s[y == 0]) + (s[y == 1][:, None] == s[y == 0]) / 2
    variance = above.mean(axis=1).var(ddof=1) / y.sum()
    variance += above.mean(axis=0).var(ddof=1) / (1 - y).sum()
    assert area_under_roc(y, s).error == pytest.approx(np.sqrt(variance))


@pytest.mark.covers("roc-curve")
def test_the_difference_of_a_score_with_itself_is_zero_and_of_two_is_their_gap(scored, rng):
    y, s = scored
    other = rng.normal(size=len(y))
    assert compare_areas(y, s, s).p == 1.0
    found = compare_areas(y, s, other)
    assert found.difference.value == pytest.approx(found.first.value - found.second.value)


@pytest.mark.covers("roc-curve", "precision-recall")
def test_one_class_alone_has_no_curve():
    with pytest.raises(DataError, match="all 3 rows are positive"):
        area_under_roc([1, 1, 1], [0.1, 0.2, 0.3], positive=1)


@pytest.mark.covers("precision-recall", "interpolated-precision")
def test_precision_and_recall_at_every_depth(rng):
    marks = rng.integers(0, 2, 25)
    marks[3] = 1
    curve = precision_recall_curve(marks, n_relevant=30)
    for depth in range(1, 26):
        assert curve.precision[depth - 1] == pytest.approx(marks[:depth].mean())
        assert curve.recall[depth - 1] == pytest.approx(marks[:depth].sum() / 30)
    for wanted in np.linspace(0, 1, 31):
        reached = curve.precision[curve.recall >= wanted - 1e-9]
        assert curve.interpolated(wanted)[0] == pytest.approx(reached.max(initial=0))


@pytest.mark.covers("precision-recall")
def test_areas_without_each_row_are_those_of_the_shorter_lists(scored):
    y, s = scored
    curve = precision_recall_curve(y, s)
    hits, depth = curve.recall * y.sum(), curve.depth.astype(float)
    of_relevant, of_others = jackknife_areas(hits, depth)
    without = []
    for k in range(len(y)):
        rest = np.arange(len(y)) != k
        expected = average_precision(y[rest], s[rest]).value
        step = np.flatnonzero(curve.thresholds == s[k])[0]
        assert (of_relevant if y[k] else of_others)[step] == pytest.approx(expected)
        without.append(expected)
    n = len(y)
    jackknife = np.sqrt((n - 1) / n * ((without - np.mean(without)) ** 2).sum())
    assert curve.average_precision.error == pytest.approx(jackknife)


@pytest.mark.covers("detection-curve")
def test_detection_rates_at_numbers_of_false_detections():
    curve = detection_curve([1, 0, 1, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5], n_objects=10)
    assert [curve.at(k).value for k in (0, 1, 2)] == [0.1, 0.2, 0.3]
    assert curve.table((0, 2))[2].value == 0.3
    with pytest.raises(DataError, match="n_objects says 2"):
        detection_curve([1, 1, 1], [3, 2, 1], n_objects=2)


@pytest.mark.covers("accuracy-rejection-curve")
def test_accuracy_on_accepted_rows_by_counting(rng):
    y, said = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
    sure = np.round(rng.random(80), 1)
    curve = rejection_curve(y, said, sure)
    assert curve.accuracy[0].value == pytest.approx((y == said).mean())
    for least, figure, rejected in zip(curve.thresholds, curve.accuracy, curve.rejected):
        kept = sure >= least
        assert figure.value == pytest.approx((y == said)[kept].mean())
        assert rejected == pytest.approx(1 - kept.mean())
    assert curve.accuracy[0].value <= 1
    assert curve.rejection_for(2.0) is None


@pytest.mark.covers("top-k-error")
def test_top_k_error_counts_ties_by_their_chance(rng):
    scores = rng.integers(0, 3, (30, 5)).astype(float)
    y = np.concatenate([np.arange(5), rng.integers(0, 5, 25)])
    for k in range(1, 6):
        draws = [scores + 1e-6 * rng.random((30, 5)) for _ in range(3000)]
        misses = [
            (np.argsort(-s, axis=1)[:, :k] != y[:, None]).all(axis=1).mean() for s in draws[:400]
        ]
        spread = np.std(misses) / np.sqrt(400) + 1e-12
        assert top_k_error(y, scores, k).value == pytest.approx(np.mean(misses), abs=6 * spread)
    assert top_k_error(y, scores, 5).value == 0


@pytest.mark.covers("cross-entropy-loss")
def test_log_loss_from_probabilities_and_from_logits(rng):
    logits = rng.normal(size=(20, 3)) * 5
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 17)])
    expected = -np.log(proba[np.arange(20), y]).mean()
    assert cross_entropy(y, proba).value == pytest.approx(expected)
    assert cross_entropy(y, logits, logits=True).value == pytest.approx(expected)
    far = cross_entropy([0, 1], [[0.0, 2000.0], [0.0, 2000.0]], logits=True)
    assert far.value == pytest.approx(1000)


@pytest.mark.covers("cross-entropy-loss")
def test_a_true_class_of_probability_zero_is_an_infinite_loss_and_is_said():
    with pytest.warns(GnomonWarning, match="1 of 2 rows"):
        assert cross_entropy([0, 1], [[0.0, 1.0], [0.0, 1.0]]).value == np.inf
    assert cross_entropy([0, 1], [[0.0, 1.0], [0.0, 1.0]], smallest=1e-15).value < 20
    with pytest.raises(DataError, match="add up to"):
        cross_entropy([0, 1], [[0.2, 0.2], [0.5, 0.5]])


@pytest.mark.covers("cross-entropy-loss", "error-rate-accuracy")
def test_a_lower_loss_may_go_with_a_higher_error():
    y = np.zeros(4, dtype=int)
    sure_and_once_wrong = np.array([0.99, 0.99, 0.99, 0.45])
    timid = np.array([0.51, 0.51, 0.51, 0.51])
    losses = [
        cross_entropy(y, np.column_stack([p, 1 - p]), [0, 1]) for p in (sure_and_once_wrong, timid)
    ]
    errors = [error_rate(y, (p < 0.5).astype(int)).value for p in (sure_and_once_wrong, timid)]
    assert losses[0].value < losses[1].value
    assert errors[0] > errors[1]


def test_brier_score_is_the_squared_distance_to_the_truth(rng):
    proba = rng.dirichlet(np.ones(3), 30)
    y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 27)])
    assert brier_score(y, proba).value == pytest.approx(
        ((proba - np.eye(3)[y]) ** 2).sum(axis=1).mean()
    )


@pytest.mark.covers("deviance")
def test_deviance_without_saturated_term_is_minus_two_log_density(rng):
    mean = rng.gamma(3, 1, 50)
    cases = {
        "poisson": (rng.poisson(mean), stats.poisson(mean).logpmf),
        "normal": (rng.normal(mean), stats.norm(mean, np.sqrt(2)).logpdf),
        "gamma": (rng.gamma(2, mean / 2) + 1e-9, stats.gamma(1 / 2, scale=mean * 2).logpdf),
    }
    for family, (y, log_density) in cases.items():
        found = deviance(y, mean, family, dispersion=2.0, saturated=False)
        assert found.value == pytest.approx(-2 * np.mean(log_density(y)))
    y = rng.integers(0, 2, 50)
    share = rng.uniform(0.1, 0.9, 50)
    expected = -2 * stats.bernoulli(share).logpmf(y).mean()
    assert deviance(y, share, "bernoulli").value == pytest.approx(expected)


@pytest.mark.covers("deviance")
def test_deviance_of_the_normal_family_is_the_squared_error_over_the_variance(rng):
    y, mean = rng.normal(size=30), rng.normal(size=30)
    expected = ((y - mean) ** 2).mean() / 3
    assert deviance(y, mean, dispersion=3.0).value == pytest.approx(expected)
    assert deviance(y, y, "normal").value == 0
    with pytest.raises(DataError, match="poisson deviance needs"):
        deviance([-1.0], [1.0], "poisson")


@pytest.mark.covers("squared-error-measures", "absolute-error")
def test_errors_of_several_columns_by_cells_and_by_rows(rng):
    y, said = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    squares = (y - said) ** 2
    assert sum_squared_error(y, said) == pytest.approx(squares.sum())
    assert mean_squared_error(y, said).value == pytest.approx(squares.mean())
    assert mean_squared_distance(y, said).value == pytest.approx(squares.sum() / 40)
    assert root_mean_squared_distance(y, said).value == pytest.approx(np.sqrt(squares.sum() / 40))
    assert mean_absolute_error(y, said).value == pytest.approx(np.abs(y - said).mean())


@pytest.mark.covers("r-squared", "adjusted-r-squared")
def test_r_squared_of_a_fit_and_of_held_out_rows_differ_and_agree_on_least_squares(rng):
    x = rng.normal(size=(50, 3))
    y = x[:, 0] + rng.normal(size=50)
    design = np.column_stack([np.ones(50), x])
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert explained_variance_of_fit(y, fitted) == pytest.approx(r_squared(y, fitted).value)
    assert r_squared(y, -10 * y).value < 0
    expected = 1 - ((y - fitted) ** 2).sum() / (50 - 4) / y.var(ddof=1)
    assert adjusted_r_squared(y, fitted, 4) == pytest.approx(expected)
    with pytest.raises(DataError, match="constant"):
        r_squared(np.ones(5), np.zeros(5))


@pytest.mark.covers("r-squared")
def test_error_of_r_squared_is_near_that_of_the_bootstrap(rng):
    y = rng.normal(size=400)
    said = y + rng.normal(size=400)
    draws = rng.integers(0, 400, (2000, 400))
    values = 1 - ((y - said) ** 2)[draws].mean(axis=1) / y[draws].var(axis=1)
    assert r_squared(y, said).error == pytest.approx(values.std(), rel=0.2)


@pytest.mark.covers("heldout-loss-error")
def test_intervals_of_a_mean_by_hoeffding_and_chebyshev():
    losses = np.repeat([0.0, 1.0], [750, 250])
    found = mean_interval(losses, method="hoeffding", span=1)
    assert found.high - found.value == pytest.approx(0.042947, abs=1e-6)
    wide = mean_interval(losses, method="chebyshev")
    assert wide.high - wide.value == pytest.approx(wide.error / np.sqrt(0.05))
    assert wide.error == pytest.approx(losses.std(ddof=1) / np.sqrt(1000))
    with pytest.raises(DataError, match="span"):
        mean_interval(losses, method="hoeffding")


def test_one_row_has_no_spread_and_says_so():
    figure = mean_squared_error([1.0], [2.0])
    assert figure[:3] == (1.0, 0.0, np.inf)
    assert mean_interval([1.0])[:3] == (1.0, -np.inf, np.inf)
    assert root_mean_squared_error([1.0], [2.0]).low == 0


@pytest.mark.parametrize(
    "measure",
    [
        mean_squared_error,
        mean_absolute_error,
        mean_squared_distance,
        deviance,
        squared_loss,
        absolute_loss,
        huber_loss(),
    ],
)
def test_intervals_of_what_is_never_negative_are_not_either(measure):
    figure = measure([0.0, 0.0, 0.0], [0.0, 0.0, 3.0])
    assert figure.low == 0
    assert figure.high > figure.value


def test_losses_of_probabilities_and_margins_are_never_negative():
    y, proba = [0, 1, 0], [0.001, 0.999, 0.9]
    margins = ([1, -1, 1], [5.0, -5.0, -5.0])
    figures = [cross_entropy(y, proba), brier_score(y, proba), margin_hinge_loss(*margins)]
    assert all(figure.low == 0 < figure.high for figure in figures)
    with_gains = cost_loss([[-1, 1], [5, 0]], [0, 1])
    assert with_gains([0, 1, 1], [0, 1, 0]).low == -1
    assert deviance([0.0], [0.0], saturated=False).low == -np.inf


def test_losses_of_0_and_1_are_a_share_only_where_losses_cannot_be_larger():
    exact = squared_loss([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert exact[:3] == mean_squared_error([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])[:3] == (0, 0, 0)
    cheap, dear = cost_loss([[0, 1], [1, 0]], [0, 1]), cost_loss([[0, 1], [9, 0]], [0, 1])
    y, said = [0, 0, 0, 1], [0, 0, 1, 1]
    assert cheap(y, said) == misclassification_loss(y, said)
    assert dear(y, said).high > 1 > cheap(y, said).high


def test_levels_and_columns_that_are_none_are_refused_by_name():
    for take in (
        mean_interval,
        lambda x, confidence_level: r_squared(
            x, [1.0, 2.0, 4.0], confidence_level=confidence_level
        ),
    ):
        with pytest.raises(DataError, match="level=95 must lie between 0 and 1"):
            take([1.0, 2.0, 3.0], confidence_level=95)
    with pytest.raises(DataError, match="values must be numbers"):
        mean_interval(["a", "b"])
    for days in (pd.date_range("2020", periods=2), np.array([1, 2], dtype="m8[D]")):
        with pytest.raises(DataError, match="y must be numbers: dates and times are none"):
            mean_squared_error(days, [1.0, 2.0])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_named_columns_of_probabilities_belong_to_their_classes(make):
    y = ["ja", "nein", "ja"]
    columns = {"nein": [0.1, 0.8, 0.1], "ja": [0.9, 0.2, 0.9]}
    sure = np.column_stack([columns["ja"], columns["nein"]])
    assert cross_entropy(y, make(columns)) == cross_entropy(y, sure)
    # other names, and numbers, leave the sorted order as it is
    assert cross_entropy(y, make({"P1": columns["ja"], "P2": columns["nein"]})) == cross_entropy(
        y, sure
    )
    assert cross_entropy([1, 2, 1], pd.DataFrame(sure)) == cross_entropy(y, sure)
    with pytest.raises(DataError, match="some columns are named after classes"):
        cross_entropy(y, make({"nein": columns["nein"], "x": columns["ja"]}))
    with pytest.raises(DataError, match="classes= says"):
        cross_entropy(y, make(columns), classes=["ja", "nein"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_named_columns_of_scores_belong_to_their_classes(make):
    y = ["ja", "nein", "ja"]
    columns = {"nein": [-2.0, 3.0, -1.0], "ja": [2.0, -3.0, 1.0]}
    block = np.column_stack([columns["ja"], columns["nein"]])
    assert top_k_error(y, make(columns), 1).value == top_k_error(y, block, 1).value == 0
    assert cross_entropy(y, make(columns), logits=True) == cross_entropy(y, block, logits=True)


@pytest.mark.covers("error-rate-accuracy")
def test_missing_and_mixed_labels_are_refused_and_a_single_column_is_taken():
    for missing in (pd.NA, None, np.nan, pd.NaT):
        with pytest.raises(DataError, match=r"y is missing in 1 of 3 rows \(first: row 1\)"):
            accuracy(pd.Series(["a", missing, "b"], dtype=object), ["a", "b", "b"])
    for make in ("string", "boolean", "Int64"):
        with pytest.raises(DataError, match="y is missing in 1 of 2 rows"):
            accuracy(pd.Series([None, 1 if make != "string" else "a"], dtype=make), [1, 1])
    with pytest.raises(DataError, match="mixes texts such as 'a' with others such as 1"):
        accuracy([1, "a"], ["1", "a"])
    for column in (np.array([[0], [1]]), pd.DataFrame({"y": [0, 1]}), [[0], [1]]):
        assert accuracy(column, [0, 1]).value == 1
    with pytest.raises(DataError, match="is one text, not a column"):
        accuracy("y", [0, 1])


@pytest.mark.covers("precision-recall")
def test_the_jackknife_of_weighted_lists_does_not_depend_on_the_scale_of_weights(rng):
    y, weights = rng.permutation(np.repeat([0, 1], [140, 60])), rng.uniform(0.5, 1.5, 200)
    scores = rng.normal(size=200) + y
    whole = average_precision(y, scores, sample_weight=weights)
    for part in (0.1, 0.5):
        small = average_precision(y, scores, sample_weight=part * weights)
        assert small.error == pytest.approx(whole.error, rel=1e-9)
    plain = average_precision(y, scores)
    nearly = average_precision(y, scores, sample_weight=np.append(np.ones(199), 1 - 1e-9))
    assert nearly.error == pytest.approx(plain.error, rel=1e-6)


def test_figures_print_the_digits_that_they_support():
    assert str(Estimate(182.3265, 182.2265, 182.4265)) == "182.33 (182.23 to 182.43)"
    assert str(Estimate(12345.6, 11345.6, 13345.6)) == "12346 (11346 to 13346)"
    assert str(Estimate(0.5, -np.inf, np.inf)) == "0.5 (-inf to inf)"
    assert str(share_interval(3, 3)) == "1.00 (0.38 to 1.00)"


@pytest.mark.covers(
    "hinge-loss",
    "logistic-loss",
    "exponential-loss",
    "margin-squared-error",
    "huber-loss",
    "pointwise-loss-object",
)
@pytest.mark.parametrize("loss", [*MARGIN_LOSSES[1:], squared_loss, absolute_loss, huber_loss(0.7)])
def test_derivatives_are_those_of_finite_differences(loss, rng):
    y = rng.choice([-1.0, 1.0], 40)
    f = rng.normal(scale=2, size=40)
    step = 1e-6
    slopes = (loss.values(y, f + step) - loss.values(y, f - step)) / (2 * step)
    assert loss.derivatives(y, f) == pytest.approx(slopes, abs=1e-5)


@pytest.mark.covers("margin-squared-error", "logistic-loss", "hinge-loss", "exponential-loss")
def test_losses_of_the_margin_bound_the_zero_one_loss_and_only_the_squared_one_rises_again():
    margin = np.linspace(-3, 5, 801)
    y = np.ones(801)
    wrong = sign_loss.values(y, margin)
    for loss in (margin_hinge_loss, exponential_loss, margin_squared_loss):
        assert (loss.values(y, margin) >= wrong - 1e-12).all()
    assert (logistic_loss.values(y, margin) / np.log(2) >= wrong - 1e-12).all()
    for loss in (margin_hinge_loss, exponential_loss, logistic_loss):
        assert (np.diff(loss.values(y, margin)) <= 1e-12).all()
    assert margin_squared_loss.values([1.0], [5.0])[0] > margin_squared_loss.values([1.0], [1.0])[0]


@pytest.mark.covers("logistic-loss")
def test_logistic_loss_neither_overflows_nor_vanishes():
    assert logistic_loss.values([1.0, -1.0], [-1e4, -1e4]).tolist() == [1e4, 0.0]
    assert logistic_loss.derivatives([1.0], [-1e4])[0] == -1.0


@pytest.mark.covers("absolute-error", "squared-error-measures", "huber-loss", "empirical-risk")
def test_mean_and_median_have_the_least_empirical_risk(rng):
    y = rng.exponential(size=51)
    grid = np.concatenate([y, [y.mean()], np.linspace(0, 5, 2001)])
    risks = {
        loss.name: np.array([loss.values(y, np.full(51, c)).mean() for c in grid])
        for loss in (squared_loss, absolute_loss)
    }
    assert grid[risks["squared"].argmin()] == pytest.approx(y.mean())
    assert grid[risks["absolute"].argmin()] == pytest.approx(np.median(y))
    assert squared_loss(y, np.full(51, y.mean())).value == pytest.approx(y.var())


@pytest.mark.covers("huber-loss")
def test_huber_loss_in_both_scalings_with_a_continuous_derivative():
    u = np.array([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0])
    half, whole = huber_loss(1.0), huber_loss(1.0, "whole")
    inside = np.abs(u) <= 1
    assert half.values(u, np.zeros(7)) == pytest.approx(np.where(inside, u**2 / 2, np.abs(u) - 0.5))
    assert whole.values(u, np.zeros(7)) == pytest.approx(np.where(inside, u**2, 2 * np.abs(u) - 1))
    near = huber_influence(np.array([1 - 1e-9, 1 + 1e-9]))
    assert near[0] == pytest.approx(near[1])
    assert huber_weight(u) == pytest.approx(np.minimum(1, 1 / np.maximum(np.abs(u), 1e-300)))


@pytest.mark.covers("zero-one-loss")
def test_zero_one_loss_of_categories_and_differences_of_numbers():
    assert misclassification_loss.values(list("aab"), list("abb")).tolist() == [0, 1, 0]
    y = pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]})
    said = pd.DataFrame({"size": [0.5, 4.0], "kind": ["a", "a"]})
    assert mixed_errors(y, said).tolist() == [[0.5, 0], [-2, 1]]


@pytest.mark.covers("pointwise-loss-object", "empirical-risk")
def test_a_table_of_costs_and_a_function_of_ones_own_are_losses(rng):
    costs = rng.random((3, 3))
    y, said = rng.choice(list("cab"), 50), rng.choice(list("cab"), 50)
    loss = cost_loss(costs, list("cab"))
    expected = [costs["cab".index(a), "cab".index(b)] for a, b in zip(y, said)]
    assert loss.values(y, said) == pytest.approx(expected)
    assert loss(y, said).value == pytest.approx(np.mean(expected))
    with pytest.raises(DataError, match="no class 'z'"):
        loss.values(["z"], ["a"])
    own = pointwise(lambda y, f: np.abs(y - f) ** 3, name="cubic")
    assert own([1.0, 3.0, 4.0], [0.0, 1.0, 3.0]).value == pytest.approx(10 / 3)
    with pytest.raises(DataError, match="no usable derivative"):
        own.derivatives([1.0], [2.0])


@pytest.mark.covers("empirical-risk")
def test_generalization_gap_is_out_of_sample_minus_in_sample():
    gap = generalization_gap(Estimate(0.1, 0.05, 0.15), Estimate(0.3, 0.25, 0.35, error=0.02))
    assert (gap.value, gap.low, gap.high, gap.error) == pytest.approx((0.2, 0.15, 0.25, 0.02))


@pytest.mark.covers("label-agreement")
def test_kappa_is_one_for_equal_and_zero_for_independent_labels(rng):
    y = np.arange(3).repeat(39)
    assert cohen_kappa(y, y).value == 1
    crossed = np.tile(np.arange(3), 39)
    assert cohen_kappa(y, crossed).value == pytest.approx(0)
    found = label_agreement(y, np.where(np.arange(117) == 7, 9, y))
    assert found.disputed.tolist() == [7]
    many = agreement_of_many(np.column_stack([y, y, y]))
    assert many.value == pytest.approx(1)


@pytest.mark.covers("label-agreement")
def test_error_of_kappa_is_near_that_of_the_bootstrap(rng):
    y = rng.integers(0, 3, 300)
    other = np.where(rng.random(300) < 0.7, y, rng.integers(0, 3, 300))
    draws = [rng.integers(0, 300, 300) for _ in range(600)]
    values = [cohen_kappa(y[d], other[d]).value for d in draws]
    assert cohen_kappa(y, other).error == pytest.approx(np.std(values), rel=0.25)
    fleiss = agreement_of_many(np.column_stack([y, other]))
    assert fleiss.error == pytest.approx(np.std(values), rel=0.25)


@pytest.mark.covers("conditional-error-agreement")
def test_errors_made_together_are_told_from_independent_ones(rng):
    y = np.zeros(400, dtype=int)
    shared = rng.random(400) < 0.2
    first = (shared | (rng.random(400) < 0.05)).astype(int)
    second = (shared | (rng.random(400) < 0.05)).astype(int)
    together = error_agreement(y, first, second)
    assert together.p < 0.01
    right, other = first == 0, second == 0
    assert together.right_given_right == pytest.approx(right[other].mean())
    assert together.right_given_wrong == pytest.approx(right[~other].mean())
    assert together.alike_when_both_wrong == 1.0
    mean, sd = together.simulated_right
    assert mean == pytest.approx(right.mean(), abs=5 * sd / np.sqrt(1000))


@pytest.mark.covers("smoothed-cosine-score")
def test_cosines_are_taken_in_the_leading_directions_of_the_training_rows(rng):
    basis = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    training = rng.normal(size=(50, 2)) @ basis[:, :2].T
    truth = rng.normal(size=(20, 2)) @ basis[:, :2].T
    noise = rng.normal(size=(20, 4)) @ basis[:, 2:].T
    found = smoothed_cosine(truth, truth + noise, training, n_components=2)
    assert found.cosines == pytest.approx(np.ones(20))
    assert smoothed_cosine(truth, -truth, training, 2).mean.value == pytest.approx(-1)
    assert (np.diff(found.curve) <= 1e-12).all()
    whole = smoothed_cosine(truth, truth + noise, np.eye(6), 6).cosines
    lengths = np.linalg.norm(truth, axis=1) * np.linalg.norm(truth + noise, axis=1)
    assert whole == pytest.approx((truth * (truth + noise)).sum(axis=1) / lengths)


@pytest.mark.covers("probability-calibration")
def test_bins_hold_what_was_predicted_and_what_happened(rng):
    p = rng.random(500)
    y = rng.random(500) < p
    found = calibration(y, p, n_bins=5, equal_counts=False)
    for k in range(5):
        inside = (p >= k / 5) & (p < (k + 1) / 5)
        assert found.counts[k] == inside.sum()
        assert found.predicted[k] == pytest.approx(p[inside].mean())
        assert found.observed[k].value == pytest.approx(y[inside].mean())
    assert calibration(y, p).counts.tolist() == [50] * 10


@pytest.mark.covers("probability-calibration")
def test_the_calibration_test_holds_its_level_and_finds_overconfidence(rng):
    p = rng.uniform(0.05, 0.95, (3000, 300))
    y = rng.random((3000, 300)) < p
    slope = 1 - 2 * p
    z = ((y - p) * slope).sum(axis=1) / np.sqrt((slope**2 * p * (1 - p)).sum(axis=1))
    assert 0.035 <= np.mean(np.abs(z) > stats.norm.ppf(0.975)) <= 0.065
    assert calibration(y[0], p[0]).z == pytest.approx(z[0])
    sure = p[0] ** 4 / (p[0] ** 4 + (1 - p[0]) ** 4)
    assert calibration(y[0], sure).p < 0.01


@pytest.mark.covers("probability-calibration")
@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_corrected_probabilities_are_nearer_to_the_truth(method, rng):
    p = rng.dirichlet([1, 1, 1], 4000)
    y = np.array([rng.choice(3, p=row) for row in p])
    sure = p**3 / (p**3).sum(axis=1, keepdims=True)
    mended = correct_probabilities(y[:3000], sure[:3000], method).apply(sure[3000:])
    assert mended.sum(axis=1) == pytest.approx(np.ones(1000))
    assert np.abs(mended - p[3000:]).mean() < 0.6 * np.abs(sure[3000:] - p[3000:]).mean()


@pytest.mark.covers("probability-calibration")
def test_a_corrected_model_learns_its_correction_from_unseen_rows(rng):
    from sklearn.tree import DecisionTreeClassifier

    X = rng.normal(size=(600, 4))
    y = np.where(rng.random(600) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    new = rng.normal(size=(2000, 4))
    truth = np.where(rng.random(2000) < 1 / (1 + np.exp(-new[:, 0])), "yes", "no")
    model = fit_corrected(DecisionTreeClassifier(), X, y)
    assert cross_entropy(truth, model.predict_proba(new), model.classes_).value < 0.75
    assert set(model.predict(new)) <= {"yes", "no"}


@pytest.mark.covers("degrees-of-freedom")
def test_effective_parameters_of_ridge_fall_from_columns_to_none(rng):
    X = rng.normal(size=(30, 4))
    traces = [
        effective_parameters(X @ np.linalg.solve(X.T @ X + a * np.eye(4), X.T))
        for a in (0.0, 1.0, 10.0, 1e6)
    ]
    assert traces[0] == pytest.approx(4)
    assert (np.diff(traces) < 0).all()
    with pytest.warns(GnomonWarning, match="cannot determine"):
        assert not check_enough_rows(3, 4)


def test_agreement_of_few_items_stays_between_what_it_can_be():
    for table in ([[0, 1]], [[0, 0], [1, 1]], [[0, 0], [0, 1], [1, 1], [1, 1]]):
        figure = agreement_of_many(table)
        assert -1 <= figure.low <= figure.value <= figure.high <= 1
    assert np.isnan(agreement_of_many([[0, 0], [1, 1]]).error)


def test_balanced_accuracy_is_the_mean_of_class_recalls(rng):
    y, said = rng.integers(0, 3, 90), rng.integers(0, 3, 90)
    expected = np.mean([(said[y == c] == c).mean() for c in range(3)])
    assert balanced_accuracy(y, said).value == pytest.approx(expected)


LABELS, SAID, SHARES = [0, 1, 1, 0], [0, 1, 0, 0], [0.1, 0.9, 0.6, 0.2]
NUMBERS, ESTIMATES = [1.0, 2.0, 4.0, 8.0], [1.0, 3.0, 4.0, 7.0]
PAIRS = np.column_stack([NUMBERS, ESTIMATES])
TWO_SHARES = np.column_stack([1 - np.array(SHARES), SHARES])
ROWS = np.tile(PAIRS, (10, 1))
FIVE_PAIRS = np.arange(10.0).reshape(5, 2)
LINE = FunctionOracle(lambda X: X[:, 0], d=1, noise=0.1)
# What every function with a level takes beside it; classes and numbers for the rest.
GIVEN = {
    "agreement_of_many": ([[0, 1], [1, 1], [0, 0]],),
    "bayesian_sign_test": (NUMBERS, ESTIMATES, 0.1),
    "bayesian_signed_rank_test": (NUMBERS, ESTIMATES, 0.1),
    "bayesian_t_test": (NUMBERS, ESTIMATES, 0.1),
    "bias_variance": (LinearRegression(), LINE, 10),
    "bias_variance_curve": (LinearRegression(), LINE, 10, "fit_intercept", [True]),
    "bias_variance_of": (LinearRegression(), PAIRS, NUMBERS),
    "bootstrap": (np.mean, NUMBERS),
    "bootstrap_predictions": (LinearRegression(), PAIRS, NUMBERS, PAIRS),
    "mean_over_origins": (NUMBERS,),
    "compare_areas": (LABELS, SHARES, NUMBERS),
    "compare_scores": ({"a": NUMBERS, "b": ESTIMATES}, 0.1),
    "complexity_curve": (LinearRegression(), ROWS, ROWS[:, 0], [{}], lambda model: 1.0),
    "confidence_region": (ROWS,),
    "corrected_t_test": (NUMBERS, ESTIMATES, 0.1),
    "correlation_ratio": (NUMBERS, LABELS),
    "covariance_region": ([0.0, 0.0], np.eye(2)),
    "five_by_two_t_test": (FIVE_PAIRS, FIVE_PAIRS[::-1]),
    "friedman_test": (FIVE_PAIRS,),
    "joint_box": (FIVE_PAIRS,),
    "learning_curve_estimates": (LinearRegression(), ROWS, ROWS[:, 0]),
    "mcnemar_of_counts": (1, 2, 10),
    "mcnemar_test": (LABELS, SAID, LABELS),
    "mean_estimation_error_of": (PAIRS,),
    "mean_interval": (NUMBERS,),
    "mean_region": (PAIRS,),
    "misspecification_study": (LinearRegression(), LINE, [10]),
    "monte_carlo_error_bars": (lambda rng: rng.normal(size=3), np.mean),
    "multiclass_area": (LABELS, TWO_SHARES),
    "per_label_rates": (np.eye(3), np.eye(3)),
    "rejection_curve": (LABELS, SAID, SHARES),
    "share_interval": (1, 2),
    "smoothed_cosine": (PAIRS, PAIRS[::-1], PAIRS, 1),
    "top_k_error": (LABELS, TWO_SHARES, 1),
    "validation_curve_estimates": (LinearRegression(), ROWS, ROWS[:, 0], "fit_intercept", [True]),
} | {
    name: pair
    for names, pair in (
        ("accuracy balanced_accuracy cohen_kappa confusion_table error_rate", (LABELS, SAID)),
        ("f_measure label_agreement precision recall", (LABELS, SAID)),
        ("accuracy_score balanced_accuracy_score cohen_kappa_score f1_score", (LABELS, SAID)),
        ("precision_score recall_score", (LABELS, SAID)),
        ("roc_auc_score average_precision_score", (LABELS, SHARES)),
        ("r2_score", (NUMBERS, ESTIMATES)),
        ("two_class_rates misclassification_loss zero_one_loss", (LABELS, SAID)),
        ("area_under_roc average_precision brier_score calibration", (LABELS, SHARES)),
        (
            "detection_curve cross_entropy log_loss precision_recall_curve roc_curve",
            (LABELS, SHARES),
        ),
        ("absolute_loss deviance mean_absolute_error", (NUMBERS, ESTIMATES)),
        ("mean_squared_distance mean_squared_error r_squared", (NUMBERS, ESTIMATES)),
        ("root_mean_squared_distance root_mean_squared_error", (NUMBERS, ESTIMATES)),
        ("squared_loss", (NUMBERS, ESTIMATES)),
        (
            "exponential_loss hinge_loss margin_hinge_loss logistic_loss",
            ([-1, 1, 1, -1], ESTIMATES),
        ),
        ("margin_squared_loss sign_loss", ([-1, 1, 1, -1], ESTIMATES)),
    )
    for name in names.split()
}


def with_level():
    for name in evaluate.__all__:
        thing = getattr(evaluate, name)
        is_function = callable(thing) and not isinstance(thing, type)
        if is_function and "confidence_level" in inspect.signature(thing).parameters:
            yield name


@pytest.mark.parametrize("name", list(with_level()))
def test_no_function_takes_95_or_text_for_a_level(name):
    for level in (95, 1.0, -0.5, np.nan, "0.95"):
        with pytest.raises(DataError, match=f"level={level!r} must lie between 0 and 1"):
            getattr(evaluate, name)(*GIVEN[name], confidence_level=level)


@pytest.mark.parametrize("risk", [5, 0.0, "0.05"])
def test_no_bound_takes_5_or_text_for_a_risk(risk):
    for take in (evaluate.largest_family, evaluate.vc_gap):
        with pytest.raises(DataError, match=f"delta={risk!r} must lie between 0 and 1"):
            take(100, 3, risk)
    with pytest.raises(DataError, match="delta="):
        evaluate.hoeffding(n=100, delta=risk)


@pytest.mark.covers("majority-mean-baseline", "zero-one-loss")
def test_no_constant_row_of_mixed_labels_does_better_than_the_baseline(rng):
    y = pd.DataFrame({"size": rng.normal(size=30), "kind": rng.choice(list("abc"), 30)})
    best = baseline_labels(y)

    def loss(constants):
        said = pd.DataFrame({name: [value] * 30 for name, value in constants.items()})
        return (mixed_errors(y, said) ** 2).mean(axis=0)

    for size in np.linspace(-2, 2, 41):
        for kind in "abc":
            assert (loss(best) <= loss({"size": size, "kind": kind}) + 1e-12).all()


@pytest.mark.covers("roc-curve")
def test_classes_that_scores_part_wholly_leave_the_area_uncertain():
    figure = area_under_roc([0] * 5 + [1] * 9, range(14))
    assert figure.value == 1
    # the area from which a whole parting is once in forty times, by the variance at that area
    true = figure.low
    spread = (1 - true) / (2 - true) + true / (1 + true)
    variance = true * (1 - true) * (1 + (7 - 1) * spread) / (5 * 9)
    shares = np.array([1 / 9, 1 / 5])
    freedom = shares.sum() ** 2 / (shares**2 / [8, 4]).sum()
    assert (1 - true) / np.sqrt(variance) == pytest.approx(stats.t.ppf(0.975, freedom))
    none = area_under_roc([1] * 5 + [0] * 9, range(14))
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(1 - figure.low)


@pytest.mark.covers("label-agreement")
def test_full_agreement_leaves_kappa_uncertain():
    figure = cohen_kappa([0, 1] * 6, [0, 1] * 6)
    assert figure.value == figure.high == 1
    assert 0.3 < figure.low < 0.9


@pytest.mark.covers("roc-curve", "precision-recall", "accuracy-rejection-curve")
def test_a_weight_of_two_is_the_row_twice_in_every_measure_of_order(rng):
    y = np.append([0, 1, 2], rng.integers(0, 3, 57))
    weights = np.append([1, 1, 1], rng.integers(0, 4, 57))
    twice = np.repeat(np.arange(60), weights)
    proba = rng.dirichlet(np.ones(3), 60)
    scores, two = np.round(proba[:, 1], 1), y == 1
    for measure in (roc_curve, precision_recall_curve, average_precision, area_under_roc):
        weighted = measure(two, scores, sample_weight=weights)
        repeated = measure(two[twice], scores[twice])
        name = {roc_curve: "area", precision_recall_curve: "average_precision"}.get(measure)
        if name is not None:
            weighted, repeated = getattr(weighted, name), getattr(repeated, name)
        np.testing.assert_allclose(weighted[:5], repeated[:5])
    for against in ("one", "rest"):
        weighted = multiclass_area(y, proba, against=against, sample_weight=weights).mean
        repeated = multiclass_area(y[twice], proba[twice], against=against).mean
        np.testing.assert_allclose(weighted[:5], repeated[:5])
    said = proba.argmax(axis=1)
    weighted = rejection_curve(y, said, scores, sample_weight=weights)
    repeated = rejection_curve(y[twice], said[twice], scores[twice])
    np.testing.assert_allclose(weighted.rejected, repeated.rejected, atol=1e-12)
    for one, other in zip(weighted.accuracy, repeated.accuracy, strict=True):
        np.testing.assert_allclose(one[:5], other[:5])


@pytest.mark.covers("error-rate-accuracy", "label-agreement", "two-class-rates")
def test_a_weight_of_two_is_the_row_twice_in_measures_of_classes(rng):
    y = np.append([0, 1, 2], rng.integers(0, 3, 57))
    said = np.where(rng.random(60) < 0.6, y, rng.integers(0, 3, 60))
    weights = np.append([1, 1, 1], rng.integers(0, 4, 57))
    twice = np.repeat(np.arange(60), weights)
    for measure in (balanced_accuracy, cohen_kappa):
        weighted = measure(y, said, sample_weight=weights)
        np.testing.assert_allclose(weighted[:5], measure(y[twice], said[twice])[:5])
    proba = rng.dirichlet(np.ones(3), 60)
    weighted = top_k_error(y, proba, 2, sample_weight=weights)
    np.testing.assert_allclose(weighted[:5], top_k_error(y[twice], proba[twice], 2)[:5])
    weighted = two_class_rates(y == 1, said == 1, True, sample_weight=weights)
    repeated = two_class_rates(y[twice] == 1, said[twice] == 1, True)
    np.testing.assert_allclose(weighted.sensitivity[:5], repeated.sensitivity[:5])


@pytest.mark.covers("probability-calibration")
@pytest.mark.parametrize("equal_counts", [True, False])
def test_a_weight_of_two_is_the_row_twice_in_calibration(equal_counts, rng):
    proba = np.round(rng.random(200), 2)
    y = np.append([False, True], rng.random(198) < proba[2:])
    weights = np.append([1, 1], rng.integers(0, 4, 198))
    twice = np.repeat(np.arange(200), weights)
    weighted = calibration(y, proba, True, equal_counts=equal_counts, sample_weight=weights)
    repeated = calibration(y[twice], proba[twice], True, equal_counts=equal_counts)
    for name in ("edges", "counts", "predicted", "shares", "z", "p", "expected_error"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-12)
    for one, other in zip(weighted.observed, repeated.observed, strict=True):
        np.testing.assert_allclose(one[:5], other[:5], atol=1e-12)


@pytest.mark.covers("r-squared")
def test_the_error_of_r_squared_is_that_of_the_jackknife_by_leaving_rows_out(rng):
    y, said = rng.normal(size=(2, 15))
    figure = r_squared(y, said)
    logs = [np.log(1 - r_squared(np.delete(y, i), np.delete(said, i)).value) for i in range(15)]
    error = np.sqrt(14 * np.var(logs))
    assert figure.error == pytest.approx((1 - figure.value) * error)
    half = stats.t.ppf(0.975, 14) * error
    assert np.log(1 - figure.low) - np.log(1 - figure.value) == pytest.approx(half)
    small = r_squared(y, said, np.full(15, 0.5))
    assert small.value == pytest.approx(figure.value)
    assert small.high - small.low == pytest.approx(figure.high - figure.low)


@pytest.mark.covers("error-rate-accuracy")
@pytest.mark.parametrize("scale", [1e-3, 0.1, 7.3])
def test_intervals_under_fractional_weights_have_the_effective_number_of_rows(scale, rng):
    y, said = rng.integers(0, 2, size=(2, 80))
    weights = rng.uniform(0.5, 2, 80)
    effective = weights.sum() ** 2 / (weights**2).sum()
    figure = accuracy(y, said, sample_weight=scale * weights)
    assert figure.value == pytest.approx(np.average(y == said, weights=weights))
    expected = np.sqrt(figure.value * (1 - figure.value) / effective)
    assert figure.error == pytest.approx(expected)
    mean = mean_interval(y.astype(float), scale * weights)
    assert mean.error == pytest.approx(mean_interval(y.astype(float), weights).error)


@pytest.mark.covers("error-rate-accuracy")
def test_whole_weights_are_repetitions(rng):
    y, said = rng.integers(0, 2, size=(2, 30))
    times = rng.integers(1, 4, 30)
    repeated = accuracy(np.repeat(y, times), np.repeat(said, times))
    assert accuracy(y, said, sample_weight=times)[:3] == pytest.approx(repeated[:3])


def test_errors_of_few_different_probabilities_do_not_cancel():
    y = [0, 1] * 100
    found = calibration(y, [0.1] * 100 + [0.9] * 100)
    assert found.expected_error == pytest.approx(0.4)
    assert found.p < 1e-6


def test_certain_probabilities_that_are_wrong_are_refuted():
    found = calibration([0, 1] * 20, [0.0] * 20 + [1.0] * 20)
    assert found.p == 0
    assert calibration([0] * 20 + [1] * 20, [0.0] * 20 + [1.0] * 20).p == 1
    even = calibration([0, 1] * 20, [0.5] * 40)
    assert (even.z, even.p) == (0.0, 1.0)


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_intervals_of_kappa_hold_the_truth_with_few_rows_and_a_rare_class(share, rng):
    joint = np.array([share * 0.9, share * 0.1, (1 - share) * 0.1, (1 - share) * 0.9])
    observed, first = joint[0] + joint[3], joint[0] + joint[2]
    expected = share * first + (1 - share) * (1 - first)
    truth = (observed - expected) / (1 - expected)
    held = []
    for _ in range(300):
        cells = rng.choice(4, 40, p=joint)
        if len(np.unique(cells // 2)) == len(np.unique(cells % 2)) == 1:
            continue
        figure = cohen_kappa(cells // 2, cells % 2)
        held.append(figure.low <= truth <= figure.high)
    assert np.mean(held) > 0.88  # 0.92 or more in 600 runs; the large-sample interval: 0.83


@pytest.mark.covers("roc-curve")
def test_area_of_pairs_of_classes_is_the_count_of_rightly_ordered_pairs(rng):
    y = np.repeat([0, 1, 2], 4)
    proba = rng.dirichlet(np.ones(3), 12)
    shares = []
    for one, other in itertools.permutations(range(3), 2):
        mine, theirs = proba[y == one, one], proba[y == other, one]
        shares.append(np.mean([a > b for a in mine for b in theirs]))
    assert multiclass_area(y, proba).mean.value == pytest.approx(np.mean(shares))
    with pytest.raises(DataError, match="no rows of 3"):
        multiclass_area([0, 1, 2], np.full((3, 4), 0.25), classes=[0, 1, 2, 3])
