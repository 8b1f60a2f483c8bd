"""Pictures of measures, comparisons and resampling: what stands in the figures, in both themes."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from gnomon import evaluate, show
from gnomon.contract.estimate import Frequencies
from gnomon.engine.errors import DataError
from gnomon.show.theme import color, look

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


@pytest.fixture
def two(rng):
    """Labels, scores and predictions of 200 rows, both classes well present."""
    y = np.repeat([0, 1], 100)
    scores = 1 / (1 + np.exp(-(y * 2 - 1 + rng.normal(size=200))))
    return y, scores, (scores > 0.5).astype(int)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(120, 2))
    return X, np.where(X[:, 0] + rng.normal(size=120) > 0, "yes", "no")


@pytest.fixture
def board(rows):
    learners = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier(max_depth=2)}
    return evaluate.leaderboard(learners, *rows, cv=5, measures=["accuracy", "auc"])


def named(figure, start):
    return [trace for trace in figure.data if (trace.name or "").startswith(start)]


def texts(figure):
    return " ".join(each.text for each in figure.layout.annotations)


def figure_in(text, name):
    """Value and interval that stand after a name."""
    return [float(each) for each in re.search(rf"{name} (\S+) \((\S+) to (\S+)\)", text).groups()]


@pytest.mark.covers("confusion-heat-table")
@both_themes
def test_confusion_has_the_truth_in_rows_and_adds_up(theme, two):
    y, _, said = two
    figure = show.confusion(y, said, theme=theme)
    heat = figure.data[0]
    wrong = int(((y == 1) & (said == 0)).sum())
    row, column = list(heat.y).index("1"), list(heat.x).index("0")
    assert heat.text[row][column].startswith(f"{wrong}<br>")
    assert figure.layout.yaxis.title.text == "true class"
    assert figure.layout.xaxis.title.text == "predicted class"
    np.testing.assert_allclose(np.sum(heat.z, axis=1), 1)
    figure.to_json()


@pytest.mark.covers("confusion-heat-table")
@pytest.mark.parametrize(("shares", "axis"), [("predicted", 0), ("all", None)])
def test_shares_of_a_confusion_are_of_what_is_said(shares, axis, two):
    y, _, said = two
    heat = show.confusion(evaluate.confusion_table(y, said), shares=shares).data[0]
    np.testing.assert_allclose(np.sum(heat.z, axis=axis), 1)
    with pytest.raises(DataError, match="shares"):
        show.confusion(y, said, shares="rows")


def test_class_errors_stand_beside_the_confusion(two):
    y, _, said = two
    table = evaluate.confusion_table(y, said)
    shown = texts(show.confusion(table))
    assert all(str(error) in shown for error in table.class_errors)


@pytest.mark.covers("performance-areas")
@both_themes
def test_areas_are_the_shares_of_the_four_cells(theme, two):
    y, _, said = two
    figure = show.performance_areas(y, said, theme=theme)
    boxes = figure.layout.shapes[:4]
    areas = [(box.x1 - box.x0) * (box.y1 - box.y0) for box in boxes]
    cells = [(1, 1), (1, 0), (0, 1), (0, 0)]
    truth = [((y == a) & (said == b)).mean() for a, b in cells]
    np.testing.assert_allclose(areas, truth, atol=1e-12)
    assert f"precision {evaluate.precision(y, said)}" in texts(figure)


@both_themes
def test_roc_is_the_curve_within_its_band(theme, two):
    y, scores, _ = two
    figure = show.roc(y, scores, theme=theme)
    curve = named(figure, "area")[0]
    truth = evaluate.roc_curve(y, scores)
    np.testing.assert_array_equal(curve.x, truth.false_positive_rate)
    assert str(truth.area) in curve.name
    band = named(figure, "95%")[0]
    middle = len(band.x) // 2
    for x, t in zip(curve.x[1:-1], curve.y[1:-1]):
        upper = np.interp(x, np.sort(band.x[:middle]), np.sort(band.y[:middle]))
        lower = np.interp(x, np.sort(band.x[middle:]), np.sort(band.y[middle:]))
        assert lower <= t + 1e-9
        assert t <= upper + 1e-9


@both_themes
def test_roc_of_several_classes_has_one_curve_each(theme, rng):
    y = np.repeat(["a", "b", "c"], 20)
    proba = rng.dirichlet(np.ones(3), 60)
    figure = show.roc(y, proba, theme=theme)
    assert [trace.name[0] for trace in figure.data[1:]] == ["a", "b", "c"]
    with pytest.raises(DataError, match="columns of scores"):
        show.roc(y, proba[:, :2], classes=["a", "b", "c"], positive="a")


def test_a_cross_validation_is_drawn_from_its_predictions_out_of_fold(board):
    found = board["bayes"]
    rows, said = found.out_of_fold()
    truth = evaluate.roc_curve(found.y[rows], said.scores, pos_label="yes")
    assert str(truth.area) in named(show.roc(found), "area")[0].name
    with pytest.raises(DataError, match="log_loss"):
        show.calibration(found)


@pytest.mark.parametrize("repeated", [True, False])
def test_all_tests_of_a_cross_validation_are_drawn_and_count_as_the_rows_tested(repeated, rows):
    X, y = rows
    plan = evaluate.k_fold(120, 3, 4) if repeated else evaluate.random_splits(120, 10)
    found = evaluate.cross_validation_estimates(
        LogisticRegression(), X, y, cv=plan, measures=["error", "auc", "log_loss"]
    )
    n_tests = sum(len(test) for _, test in plan)
    n_rows = len(np.unique(np.concatenate([test for _, test in plan])))
    figure = show.confusion(found)
    assert f"{n_tests} tests of {n_rows} rows" in figure.layout.title.text
    cells = np.asarray(figure.data[0].text).ravel()
    counts = [float(cell.partition("<br>")[0]) for cell in cells]
    assert sum(counts) == pytest.approx(n_rows, abs=0.3)
    wrong = sum((fold.said.predictions != y[t]).sum() for (_, t), fold in zip(plan, found.folds))
    share = evaluate.share_interval(n_rows * wrong / n_tests, n_rows)
    assert figure_in(figure.layout.title.text, "error") == pytest.approx(share[:3], abs=0.0051)
    tested = np.concatenate([test for _, test in plan])
    scores = np.concatenate([fold.said.scores for fold in found.folds])
    weights = np.full(n_tests, n_rows / n_tests).view(Frequencies)
    truth = evaluate.roc_curve(y[tested], scores, pos_label="yes", sample_weight=weights)
    area = figure_in(named(show.roc(found), "area")[0].name, "area")
    assert area == pytest.approx(truth.area[:3], abs=0.0051)
    bars = next(trace for trace in show.calibration(found).data if trace.type == "bar")
    assert sum(bars.y) == pytest.approx(n_rows)
    assert len(show.calibration({"a": found, "b": found}).data) == 5


def test_numbers_of_every_repetition_are_drawn(rows):
    X, _ = rows
    plan = evaluate.random_splits(120, 6)
    found = evaluate.cross_validation_estimates(LinearRegression(), X[:, :1], X[:, 1], cv=plan)
    figure = show.predicted_versus_true(found)
    assert len(figure.data[0].x) == sum(len(test) for _, test in plan)
    assert f"{len(figure.data[0].x)} tests of" in figure.layout.title.text
    against = show.residuals(found, x=X[:, 0], groups=X[:, 0] > 0)
    lines = [trace for trace in against.data if trace.name in ("False", "True")][-2:]
    assert sum(len(trace.x) for trace in lines) == len(figure.data[0].x)
    assert all((np.asarray(trace.x) > 0).all() == (trace.name == "True") for trace in lines)
    with pytest.raises(DataError, match="60 values for the 120 rows"):
        show.residuals(found, x=X[:60, 0])


def test_curves_take_columns_by_the_names_of_classes(rng):
    y = np.repeat(["a", "b", "c"], 20)
    proba = pd.DataFrame(rng.dirichlet(np.ones(3), 60), columns=["a", "b", "c"])
    shuffled = show.roc(y, proba[["c", "a", "b"]])
    assert [trace.name for trace in shuffled.data] == [t.name for t in show.roc(y, proba).data]


def test_a_long_curve_says_how_much_of_it_is_not_drawn(rng):
    y, scores = rng.integers(0, 2, 5000), rng.normal(size=5000)
    figure = show.roc(y, scores)
    assert "steps too fine to see" in figure.layout.title.text
    assert figure.data[-1].x[-1] == 1
    assert len(figure.data[-1].x) == 1000


@pytest.mark.covers("precision-recall-plot")
@both_themes
def test_eleven_points_are_on_the_interpolated_line(theme, two):
    y, scores, _ = two
    figure = show.precision_recall(y, scores, theme=theme)
    points = named(figure, "eleven")[0]
    truth = evaluate.precision_recall_curve(y, scores)
    np.testing.assert_allclose(points.x, np.arange(11) / 10)
    assert np.mean(points.y) == pytest.approx(truth.eleven_point)
    raw, best = named(figure, "average")[0], named(figure, "largest")[0]
    assert (np.asarray(best.y) >= np.asarray(raw.y)).all()


@both_themes
def test_calibration_shows_every_row_once(theme, two):
    y, scores, _ = two
    figure = show.calibration(y, scores, n_bins=5, theme=theme)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert sum(bars[0].y) == len(y)
    points = named(figure, "P(1)")[0]
    np.testing.assert_allclose(np.average(points.y, weights=bars[0].y), y.mean())


@pytest.mark.covers("posterior-reject-zones")
@both_themes
def test_rejected_zones_are_where_no_class_is_certain(theme):
    x = np.linspace(-5, 5, 1001)
    figure = show.reject_zones(x, 1 / (1 + np.exp(-x)), threshold=0.8, theme=theme)
    zone = figure.layout.shapes[0]
    assert abs(zone.x0 + np.log(4)) < 0.02
    assert abs(zone.x1 - np.log(4)) < 0.02


@both_themes
def test_rejection_starts_at_the_plain_accuracy(theme, two):
    y, scores, said = two
    figure = show.rejection(y, said, np.abs(scores - 0.5), theme=theme)
    line = figure.data[-1]
    assert line.x[0] == 0
    assert line.y[0] == pytest.approx((y == said).mean())


@pytest.mark.covers("error-by-category-bars")
@both_themes
def test_worst_category_stands_first_with_its_interval(theme):
    y = ["a"] * 10 + ["b"] * 10
    said = ["a"] * 9 + ["b"] + ["b"] * 6 + ["a"] * 4
    bar = show.category_errors(y, said, theme=theme).data[0]
    assert bar.y[0] == "b (10)"
    np.testing.assert_allclose(bar.x, [0.4, 0.1])
    high = evaluate.share_interval(4, 10).high
    assert bar.error_x.array[0] == pytest.approx(high - 0.4)


@pytest.mark.covers("predicted-versus-true")
@both_themes
def test_many_rows_are_drawn_as_a_density_of_all_of_them(theme, rng):
    y = rng.normal(size=6000)
    few = show.predicted_versus_true(y[:100], y[:100] * 0.9, unit="m", theme=theme)
    assert len(few.data[0].x) == 100
    assert few.layout.xaxis.title.text == "true value (m)"
    many = show.predicted_versus_true(y, y * 0.9, theme=theme)
    assert np.sum(many.data[0].customdata) == 6000


@pytest.mark.covers("residual-plots")
@both_themes
def test_residuals_beyond_three_deviations_are_marked(theme, rng):
    y = rng.normal(size=200)
    said = np.zeros(200)
    y[7] = 50.0
    figure = show.residuals(y, said, x=np.arange(200.0), theme=theme)
    assert "1 beyond 3" in figure.layout.title.text
    assert 50.0 in [value for trace in figure.data for value in trace.y]
    grouped = show.residuals(y, said, groups=y > 0, theme=theme)
    assert {trace.name for trace in grouped.data if trace.name} == {"False", "True"}


@pytest.mark.covers("loss-shape-plot")
@both_themes
@pytest.mark.parametrize("kind", ["margin", "residual"])
def test_losses_are_not_negative_and_meet_their_formula(theme, kind):
    figure = show.losses(kind, theme=theme)
    lines = {trace.name: np.asarray(trace.y) for trace in figure.data}
    assert all((line >= 0).all() for line in lines.values())
    x = np.asarray(figure.data[0].x)
    if kind == "margin":
        np.testing.assert_allclose(lines["hinge"], np.maximum(0, 1 - x))
    else:
        np.testing.assert_allclose(lines["squared"], x**2)
    with pytest.raises(DataError, match="kind"):
        show.losses("slope")


@both_themes
def test_leaderboard_has_the_baseline_and_every_interval(theme, board):
    figure = show.leaderboard(board, theme=theme)
    shown = {y: x for trace in figure.data[1:] for x, y in zip(trace.x, trace.y)}
    assert shown == {each.name: each.figure().value for each in board.results}
    assert figure.layout.shapes[0].x0 == board["baseline"].figure().value
    plain = show.leaderboard({each.name: each.figure() for each in board.results}, theme=theme)
    assert list(plain.data[0].y) == board.names


def test_leaderboard_says_which_learners_are_not_shown(board):
    assert "1 worse learners not shown" in show.leaderboard(board, most=2).layout.title.text


@both_themes
def test_infinite_scores_are_arrows_beyond_all_others(theme, rows):
    learners = {"bayes": GaussianNB(), "tree": DecisionTreeClassifier()}
    board = evaluate.leaderboard(learners, *rows, cv=4, measures="log_loss", baseline=False)
    figure = show.leaderboard(board, theme=theme)
    arrow = next(
        trace for trace in figure.data if "tree" in (trace.y or ()) and trace.error_x.array
    )
    assert arrow.marker.symbol == ("triangle-right",)
    found = board["bayes"]
    largest = max(found.figure().high, *found.scores["log_loss"])
    assert largest < arrow.x[0] < figure.layout.xaxis.range[1]
    filled = next(trace for trace in figure.data if trace.marker.symbol == ("circle",))
    assert (list(filled.y), filled.marker.color) == (["bayes"], color(0))
    lines = show.fold_scores(board, theme=theme)
    folds = named(lines, "tree")[1]
    assert set(folds.marker.symbol) == {"triangle-up"}
    assert list(folds.x) == pytest.approx(range(4), abs=0.1)
    assert largest < folds.y[0] < lines.layout.yaxis.range[1]
    for each in (figure, lines):
        lines_of_note = re.sub("<span.*?>|</span>", "", each.layout.title.text).split("<br>")[1:]
        assert "arrows: infinite" in " ".join(lines_of_note)
        assert max(map(len, lines_of_note)) * 6 < each.layout.width - 40


def test_a_leaderboard_of_another_measure_is_ranked_and_compared_by_it(rng):
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, "yes", "no")
    learners = {"bayes": GaussianNB(), "logistic": LogisticRegression()}
    board = evaluate.leaderboard(learners, X, y, cv=10, measures=["accuracy", "log_loss"])
    figure = show.leaderboard(board, measure="log_loss")
    losses = {each.name: each.figure("log_loss").value for each in board.results}
    assert list(figure.layout.yaxis.categoryarray) == sorted(losses, key=losses.get)
    hollow = next(trace for trace in figure.data if trace.marker.color == look("light").paper)
    assert "baseline" in hollow.y
    with pytest.raises(DataError, match="'f' was not measured of"):
        show.leaderboard(board, measure="f")


@both_themes
def test_critical_difference_joins_those_that_are_not_told_apart(theme, rng):
    scores = rng.normal(size=(15, 5)) + np.array([3, 3, 3, 0, 0])
    test = evaluate.friedman_test(scores, list("abcde"))
    figure = show.critical_difference(test, theme=theme)
    joined = [trace.hovertext for trace in figure.data if trace.hovertext]
    assert joined == [", ".join(group) for group in test.groups() if len(group) > 1]
    assert all(f"{rank:.2f}" in texts(figure) for rank in test.ranks)


@pytest.mark.covers("permutation-null-histogram")
@both_themes
def test_null_histogram_holds_all_shuffles_and_the_observed_value(theme, rng):
    test = evaluate.significance(2.5, rng.normal(size=500))
    figure = show.null_histogram(test, theme=theme)
    assert sum(figure.data[0].y) == pytest.approx(1)
    assert figure.layout.shapes[0].x0 == 2.5
    assert f"p = {test.p:.3g}" in figure.layout.title.text
    with pytest.raises(DataError, match="no simulated values"):
        show.null_histogram(3.0)


@pytest.mark.covers("permutation-null-histogram")
@pytest.mark.parametrize("n_finite", [0, 3, 100])
def test_null_histogram_shows_infinite_values_at_the_edge(n_finite, rng):
    null = np.append(rng.normal(size=n_finite), np.full(20, np.inf))
    for observed in (0.5, np.inf):
        figure = show.null_histogram(observed, null)
        assert all(np.isfinite(np.asarray(bars.x, dtype=float)).all() for bars in figure.data)
        assert sum(sum(bars.y) for bars in figure.data) == pytest.approx(1)
        assert list(figure.data[-1].y) == pytest.approx([20 / len(null)])
        assert "20 of them infinite" in figure.layout.title.text
        assert np.isfinite(figure.layout.shapes[0].x0)
        assert "∞" in [each.text for each in figure.layout.annotations]


@pytest.mark.covers("bootstrap-estimate-histogram")
@both_themes
def test_bootstrap_interval_is_shaded(theme, rng):
    found = evaluate.bootstrap(np.mean, rng.exponential(size=40), n_resamples=300)
    figure = show.bootstrap_draws(found, theme=theme)
    interval = found.interval()
    shade = figure.layout.shapes[0]
    assert (shade.x0, shade.x1) == (interval.low, interval.high)
    assert sum(figure.data[0].y) == pytest.approx(1)


@pytest.mark.covers("bootstrap-confidence-region")
@both_themes
def test_the_ellipse_is_the_border_of_the_region(theme, rng):
    rows = rng.normal(size=(60, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    found = evaluate.bootstrap(lambda rows: rows.mean(axis=0), rows, n_resamples=300)
    region = found.region()
    figure = show.confidence_region(region, found.replicates, theme=theme)
    border = named(figure, "ellipse")[0]
    distances = region.distance(np.column_stack([border.x, border.y]))
    np.testing.assert_allclose(distances, region.radius)
    box = named(figure, "box")[0]
    assert (min(box.x), max(box.x)) == (region.low[0], region.high[0])
    with pytest.raises(DataError, match="parameters"):
        show.confidence_region(region, columns=(0, 2))


@pytest.mark.covers("majority-vote-curve")
@both_themes
def test_majority_of_three_is_the_binomial_sum(theme):
    figure = show.majority_vote([0.6], 5, theme=theme)
    np.testing.assert_allclose(figure.data[0].y[:2], [0.6, 0.6**3 + 3 * 0.6**2 * 0.4])


@pytest.mark.covers("information-diagram")
@both_themes
def test_information_bars_add_up_to_the_joint_entropy(theme, rng):
    figure = show.information(rng.integers(1, 20, size=(3, 4)), theme=theme)
    length = {trace.y[0]: trace.x[0] for trace in figure.data if trace.type == "bar"}
    parts = length["H(X | Y)"] + length["I(X; Y)"] + length["H(Y | X)"]
    assert parts == pytest.approx(length["H(X, Y)"])
    assert length["H(X)"] == pytest.approx(length["H(X | Y)"] + length["I(X; Y)"])
    with pytest.raises(DataError, match="table of counts"):
        show.information([1, 2])


@both_themes
def test_fold_scores_are_the_scores_of_the_folds(theme, board):
    figure = show.fold_scores(board, theme=theme)
    for each in board.results:
        line, whole = named(figure, each.name)
        np.testing.assert_array_equal(line.y, each.scores["accuracy"])
        assert whole.y[0] == each.figure().value
    assert len(show.fold_scores(board["tree"], measure="auc").data) == 2


@both_themes
def test_learning_curve_has_bars_and_the_baseline(theme, rows):
    curve = evaluate.learning_curve_estimates(GaussianNB(), *rows, cv=4, sizes=(0.3, 0.6, 1.0))
    figure = show.learning_curve(curve, theme=theme)
    for name, figures in curve.lines.items():
        line = named(figure, name)[0]
        np.testing.assert_array_equal(line.x, curve.x)
        np.testing.assert_allclose(
            np.asarray(line.y) + line.error_y.array, [each.high for each in figures]
        )
    assert figure.layout.shapes[0].y0 in curve.baselines.values()


@pytest.mark.covers("cv-curve-with-bars")
@both_themes
def test_cv_curve_marks_the_best_and_the_simplest_as_good(theme, rows):
    curve = evaluate.validation_curve_estimates(
        LogisticRegression(), *rows, "C", [0.001, 0.1, 10.0], cv=4
    )
    figure = show.cv_curve(curve, counts=[1, 2, 2], theme=theme)
    marks = [shape.x0 for shape in figure.layout.shapes]
    assert marks == [curve.best(), curve.within_one_error()]
    assert figure.layout.xaxis.type == "log"
    places = [each.x for each in figure.layout.annotations]
    np.testing.assert_allclose(places, [-3, -1, 1])
    several = show.cv_curve({"a": curve, "b": curve}, theme=theme)
    assert [trace.name for trace in several.data] == ["a", "b"]
    with pytest.raises(DataError, match="counts"):
        show.cv_curve(curve, counts=[1])


@pytest.mark.covers("data-split-picture")
@both_themes
def test_every_row_of_a_split_is_train_or_test(theme, rows):
    plan = evaluate.k_fold(120, 4)
    figure = show.splits(plan, strata=rows[1], theme=theme)
    table = np.asarray(figure.data[0].z)
    for drawn, (train, test) in zip(table, plan):
        assert set(np.flatnonzero(drawn == 1)) == set(train)
        assert set(np.flatnonzero(drawn == 2)) == set(test)
    assert [trace.name for trace in figure.data[1:]] == ["train", "test", "class no", "class yes"]


@pytest.mark.covers("sorted-score-curves")
@both_themes
def test_sorted_scores_fall(theme, rng):
    figure = show.sorted_scores({"train": rng.random(50), "test": rng.random(20)}, theme=theme)
    assert all((np.diff(trace.y) <= 0).all() for trace in figure.data)
    assert [len(trace.y) for trace in figure.data] == [50, 20]


@pytest.mark.covers("fold-stability-picture")
@both_themes
def test_stability_has_one_boundary_or_curve_per_model(theme, rows, rng):
    X, y = rows
    found = evaluate.cross_validation_estimates(GaussianNB(), X, y, cv=3, keep_models=True)
    figure = show.fold_stability(found, X, y, theme=theme)
    assert sum(trace.type == "contour" for trace in figure.data) == 3
    fits = [LinearRegression().fit(X[half, :1], X[half, 1]) for half in np.split(np.arange(120), 2)]
    curves = named(show.fold_stability(fits, X[:, :1], X[:, 1], theme=theme), "model")
    assert len(curves) == 2
    with pytest.raises(DataError, match="keep_models"):
        show.fold_stability(evaluate.cross_validation_estimates(GaussianNB(), X, y, cv=3), X, y)


@pytest.mark.covers("small-multiples-fit")
@both_themes
def test_small_multiples_share_their_rows(theme, rng):
    x = rng.uniform(-1, 1, 30)
    fits = {k: np.poly1d(np.polyfit(x, x**2, k)) for k in (1, 2, 3)}
    figure = show.small_multiples(fits, x, x**2, name="degree", theme=theme)
    assert len(figure.data) == 6
    assert [each.text for each in figure.layout.annotations] == [f"degree = {k}" for k in fits]
    np.testing.assert_allclose(figure.data[3].y, np.asarray(figure.data[3].x) ** 2, atol=1e-9)


@pytest.mark.covers("complexity-schematic")
@both_themes
def test_the_sum_is_least_where_it_is_marked(theme):
    choice = evaluate.structural_risk_minimization([0.3, 0.12, 0.1], [1, 3, 50], n=500)
    figure = show.complexity(choice, theme=theme)
    error, penalty, total = (np.asarray(trace.y) for trace in figure.data)
    np.testing.assert_allclose(error + penalty, total)
    assert figure.layout.shapes[0].x0 == 3


@pytest.mark.covers("shattering-picture")
@both_themes
def test_labelings_that_no_line_makes_are_crossed_out(theme):
    square = evaluate.dichotomies([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    figure = show.shattering(square, theme=theme)
    assert len(figure.data) == 16
    crossed = sum(shape.type == "line" for shape in figure.layout.shapes)
    assert crossed == 2 * len(square.missing()) == 4
    with pytest.raises(DataError, match="five points"):
        show.shattering(evaluate.dichotomies(np.eye(3)))


def test_unknown_themes_are_refused(two):
    with pytest.raises(ValueError, match="theme"):
        show.confusion(two[0], two[2], theme="sepia")
