"""Curves, bias and variance, and studies beside closed forms, brute force and simulation."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge, SGDClassifier
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gnomon.engine.errors import DataError
from gnomon.evaluate import (
    BaselineClassifier,
    BaselineRegressor,
    bias_variance,
    bias_variance_curve,
    bias_variance_of,
    complexity_curve,
    error_rate,
    learning_curve_estimates,
    linear_learning_curve,
    linear_prediction_variance,
    misspecification_study,
    overfitting_study,
    training_curve,
    validation_curve_estimates,
)
from gnomon.evaluate.comparison import resampled_figure
from gnomon.linear import LogisticRegression
from gnomon.table import Clouds, FunctionOracle, Table


class QuickLine(RegressorMixin, BaseEstimator):
    """Least squares without checks, for simulations."""

    def fit(self, X, y):
        design = np.column_stack([np.ones(len(X)), X])
        self.coef_ = np.linalg.lstsq(design, y, rcond=None)[0]
        return self

    def predict(self, X):
        return self.coef_[0] + X @ self.coef_[1:]


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails when told to, or when it sees few rows."""

    def __init__(self, broken=False):
        self.broken = broken

    def fit(self, X, y):
        if self.broken or len(X) < 10:
            raise RuntimeError("gave up")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def noisy_wave(rng, n, noise=0.4):
    X = rng.uniform(0, 6, (n, 1))
    return X, np.sin(X[:, 0]) + noise * rng.standard_normal(n)


@pytest.mark.covers("learning-curve")
def test_the_closed_learning_curve_is_that_of_simulated_least_squares(rng):
    sizes, d, runs = [8, 15, 40], 4, 6000
    curve = linear_learning_curve(sizes, d, sigma=2.0)
    for n, inside, outside in zip(sizes, curve.inside, curve.outside):
        X = np.concatenate([np.ones((runs, n, 1)), rng.standard_normal((runs, n, d))], axis=2)
        noise = 2.0 * rng.standard_normal((runs, n))
        coef = (np.linalg.pinv(X) @ noise[:, :, None])[:, :, 0]  # the truth is zero
        residual = ((noise - np.einsum("rnk,rk->rn", X, coef)) ** 2).mean(axis=1)
        fresh = 4.0 + (coef**2).sum(axis=1)
        assert abs(residual.mean() - inside) < 5 * residual.std() / np.sqrt(runs)
        assert abs(fresh.mean() - outside) < 6 * fresh.std() / np.sqrt(runs)


@pytest.mark.covers("learning-curve")
def test_the_learning_curve_of_least_squares_follows_the_closed_form(rng):
    X = rng.standard_normal((3000, 5))
    y = X @ np.arange(5.0) + rng.standard_normal(3000)
    sizes = [12, 30, 100, 1000]
    found = learning_curve_estimates(
        QuickLine(), X, y, sizes=sizes, cv=ShuffleSplit(60, test_size=0.3, random_state=1)
    )
    exact = linear_learning_curve(sizes, 5)
    assert found.values("training")[1:] == pytest.approx(exact.inside[1:], rel=0.15)
    assert found.values("validation")[1:] == pytest.approx(exact.outside[1:], rel=0.15)
    assert (np.diff(found.values("training")) > 0).all()
    assert (np.diff(found.values("validation")) < 0).all()


@pytest.mark.covers("learning-curve")
def test_bars_of_learning_curves_cover_the_expected_error_at_every_size(rng):
    """Measured over 500 runs: 96 percent; the spread over rows alone would be 85 at 15 rows."""
    runs, sizes = 150, [15, 60]
    truth = linear_learning_curve(sizes, 3).outside
    covered = np.zeros(2)
    for k in range(runs):
        X, y = rng.standard_normal((75, 3)), rng.standard_normal(75)
        curve = learning_curve_estimates(
            QuickLine(), X, y, sizes=sizes, cv=5, random_state=k, n_jobs=1
        )
        figures = curve.lines["validation"]
        covered += [f.low <= expected <= f.high for f, expected in zip(figures, truth)]
    assert (covered / runs > 0.89).all()


@pytest.mark.covers("learning-curve")
def test_bars_of_a_rare_class_are_no_narrower_than_those_of_its_rows():
    y = np.repeat([0, 1], [190, 10])
    curve = learning_curve_estimates(
        BaselineClassifier(), np.zeros((200, 1)), y, sizes=[1.0], cv=10
    )
    (figure,) = curve.lines["validation"]
    rows = error_rate(y, np.zeros(200, dtype=int))
    assert figure.value == pytest.approx(0.05)
    assert figure.high - figure.low >= 0.99 * (rows.high - rows.low)
    over_folds = curve.points[0].figure(method="folds")
    assert over_folds[:3] == pytest.approx(figure[:3])


@pytest.mark.covers("learning-curve")
@pytest.mark.parametrize("size", ["half", np.nan, None])
def test_sizes_that_are_no_number_are_refused(size):
    with pytest.raises(DataError, match="neither a number of rows nor a share"):
        learning_curve_estimates(
            BaselineClassifier(), np.zeros((9, 1)), [0, 1, 1] * 3, sizes=[size], cv=3
        )


@pytest.mark.covers("learning-curve", "validation-curve")
def test_bands_of_shares_stay_between_0_and_1(rng):
    y = np.arange(60) % 2
    X = rng.standard_normal((60, 3)) + 4 * y[:, None]
    X[[1, 2]] = X[[2, 1]]
    for measure in ("accuracy", "error", "auc"):
        asked = {"measures": measure, "cv": 5, "test": (X, y)}
        curve = validation_curve_estimates(
            KNeighborsClassifier(), X, y, "n_neighbors", [3, 5, 9], **asked
        )
        over_folds = learning_curve_estimates(
            KNeighborsClassifier(3), X, y, sizes=[0.3, 1.0], cv=5, measures=measure
        )
        figures = [f for each in (curve, over_folds) for line in each.lines.values() for f in line]
        assert any(f.error > 0 for f in figures)
        assert all(0 <= f.low <= f.value <= f.high <= 1 for f in figures)
        assert over_folds.points[0].figure(measure, method="folds").low >= 0


@pytest.mark.covers("learning-curve")
def test_subsets_are_nested_and_hold_the_classes_in_proportion(rng):
    y = rng.permutation(np.repeat(["a", "b", "c"], [60, 30, 10]))
    curve = learning_curve_estimates(
        GaussianNB(), rng.standard_normal((100, 2)), y, sizes=[10, 40, 0.99]
    )
    small, middle, large = (point.splits for point in curve.points)
    for (few, _), (some, _), (many, _) in zip(small, middle, large):
        assert set(few) < set(some) < set(many)
        counts = [int((y[few] == each).sum()) for each in "abc"]
        assert np.abs(np.array(counts) - [6, 3, 1]).max() <= 1


@pytest.mark.covers("learning-curve", "validation-curve")
def test_curves_do_not_depend_on_the_number_of_threads_or_the_make_of_the_table(rng):
    X = rng.standard_normal((60, 2))
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0, "up", "down")
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(c=rng.choice(["x", "y"], 60), out=y)
    learner = LogisticRegression()
    runs = [
        learning_curve_estimates(learner, table, "out", sizes=[20, 40], cv=3, n_jobs=jobs)
        for table in (frame, Table.from_frame(frame))
        for jobs in (1, 3)
    ]
    forest = DecisionTreeClassifier(max_features=1)
    runs_of_random = [
        validation_curve_estimates(forest, X, y, "max_depth", [1, 3], cv=3, n_jobs=jobs)
        for jobs in (1, 2, 5)
    ]
    for group in (runs, runs_of_random):
        for other in group[1:]:
            for line in group[0].lines:
                assert other.lines[line] == group[0].lines[line]


@pytest.mark.covers("validation-curve")
def test_the_validation_curve_is_u_shaped_and_marks_its_minimum(rng):
    X, y = noisy_wave(rng, 300)
    test = noisy_wave(rng, 300)
    neighbors = [150, 40, 10, 3, 1]  # simple to complex
    curve = validation_curve_estimates(
        KNeighborsRegressor(), X, y, "n_neighbors", neighbors, cv=5, test=test
    )
    assert (np.diff(curve.values("training")) < 0).all()
    assert curve.best() in (40, 10, 3)
    assert neighbors.index(curve.within_one_error()) <= neighbors.index(curve.best())
    assert abs(curve.values("test") - curve.values("validation")).max() < 0.25
    assert all(figure.low < figure.value < figure.high for figure in curve.lines["test"])
    assert curve.baselines["mse"] > curve.values("validation").min()
    assert curve.to_table().columns[:3] == ("n_neighbors", "training", "training low")


@pytest.mark.covers("validation-curve")
def test_several_measures_give_several_lines(rng):
    X = rng.standard_normal((80, 2))
    y = (X[:, 0] + rng.standard_normal(80) > 0).astype(int)
    curve = validation_curve_estimates(
        KNeighborsClassifier(), X, y, "n_neighbors", [5, 15], cv=4, measures=["error", "brier"]
    )
    assert set(curve.lines) == {
        "training error",
        "training brier",
        "validation error",
        "validation brier",
    }
    better = validation_curve_estimates(
        KNeighborsClassifier(), X, y, "n_neighbors", [1, 25], cv=4, measures="accuracy"
    )
    assert better.greater_is_better
    assert better.best("training") == 1


@pytest.mark.covers("validation-curve")
def test_a_failing_fit_is_kept_with_its_place_and_the_rest_goes_on(rng):
    X, y = rng.standard_normal((60, 1)), np.arange(60) % 2
    curve = validation_curve_estimates(Fragile(), X, y, "broken", [False, True], cv=3)
    assert np.isfinite(curve.values("validation")[0])
    assert np.isnan(curve.values("validation")[1])
    assert len(curve.failures) == 3
    assert "broken True, fold 0, fit: RuntimeError: gave up" in curve.failures[0]
    assert "failed:" in str(curve)
    few = learning_curve_estimates(Fragile(), X, y, sizes=[5, 30], cv=3)
    assert np.isnan(few.values("validation")[0])
    with pytest.raises(DataError, match=r"every fit failed; the first: .*gave up"):
        validation_curve_estimates(Fragile(), X, y, "broken", [True], cv=3)


def test_curves_refuse_what_they_cannot_draw(rng):
    X, y = rng.standard_normal((30, 1)), np.arange(30) % 2
    with pytest.raises(DataError, match="size 100 is not among"):
        learning_curve_estimates(GaussianNB(), X, y, sizes=[100])
    with pytest.raises(DataError, match="no places"):
        validation_curve_estimates(GaussianNB(), X, y, "var_smoothing", [])
    with pytest.raises(DataError, match="class that X has not"):
        validation_curve_estimates(GaussianNB(), X, y, "var_smoothing", [1e-9], test=(X, y + 5))
    curve = learning_curve_estimates(GaussianNB(), X, y, sizes=[20])
    with pytest.raises(DataError, match="no line 'tets'"):
        curve.values("tets")
    with pytest.raises(DataError, match="interval='both'"):
        learning_curve_estimates(GaussianNB(), X, y, sizes=[20], interval="both")
    with pytest.raises(DataError, match="does not learn in steps"):
        training_curve(GaussianNB(), X, y, X, y)
    with pytest.raises(DataError, match="cannot be followed"):
        training_curve(GaussianNB(), X, y, X, y, how="stages")


@pytest.mark.covers("validation-curve")
def test_the_complexity_curve_is_ordered_by_what_was_fitted(rng):
    X, y = noisy_wave(rng, 150)
    settings = [{"max_depth": 8}, {"max_depth": 1}, {"max_leaf_nodes": 5}]
    curve = complexity_curve(
        DecisionTreeRegressor(), X, y, settings, lambda tree: tree.get_n_leaves(), cv=4
    )
    assert curve.x[:2] == [2.0, 5.0]
    assert curve.x[2] > 20
    assert (np.diff(curve.values("training")) < 0).all()
    assert "complexity 2: max_depth=1" in curve.notes


@pytest.mark.covers("training-curve")
def test_stages_and_refits_of_boosting_are_the_same_curve(rng):
    X, y = noisy_wave(rng, 120)
    X_test, y_test = noisy_wave(rng, 120)
    learner = GradientBoostingRegressor(n_estimators=12, max_depth=2)
    steps = [1, 4, 12]
    stages = training_curve(learner, X, y, X_test, y_test, steps=steps)
    refits = training_curve(learner, X, y, X_test, y_test, steps=steps, how="refit")
    assert stages.x == refits.x == steps
    for line in ("training", "test"):
        assert refits.values(line) == pytest.approx(stages.values(line), rel=1e-9)
    assert stages.course["train score"] == pytest.approx(refits.course["train score"])
    assert stages.baselines["mse"] == pytest.approx(((y_test - y.mean()) ** 2).mean())


@pytest.mark.covers("training-curve")
def test_stages_answer_for_probabilities_too(rng):
    X = rng.standard_normal((100, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(100) > 0, "up", "down")
    learner = GradientBoostingClassifier(n_estimators=10)
    curve = training_curve(learner, X[:60], y[:60], X[60:], y[60:], measures=["error", "log_loss"])
    assert (np.diff(curve.values("training log_loss")) < 0).all()
    shares = np.where(y[60:] == "up", (y[:60] == "up").mean(), (y[:60] == "down").mean())
    assert curve.baselines["log_loss"] == pytest.approx(-np.log(shares).mean())


@pytest.mark.covers("training-curve")
def test_our_own_learner_is_followed_with_its_history_and_no_warning(rng):
    X = rng.standard_normal((150, 3))
    y = (X @ [2.0, -1.0, 0.0] + rng.standard_normal(150) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        curve = training_curve(
            LogisticRegression(max_iter=50), X[:100], y[:100], X[100:], y[100:],
            measures="log_loss", steps=[1, 2, 50],
        )  # fmt: skip
    loss = curve.values("training")
    assert loss[0] >= loss[1] >= loss[2]
    objective = curve.course["history"]
    assert objective[-1] <= objective[0]
    assert "ended by itself" in str(curve)


@pytest.mark.covers("training-curve")
def test_passes_over_the_rows_and_budgets_of_networks_are_followed(rng):
    X = rng.standard_normal((120, 2))
    y = (X[:, 0] > 0).astype(int)
    passes = training_curve(
        SGDClassifier(loss="log_loss"), X, y, X, y, how="partial_fit", steps=[1, 20]
    )
    assert passes.x == [1, 20]
    assert passes.values("training")[1] <= 0.1
    network = MLPClassifier((5,), max_iter=8, learning_rate_init=0.05)
    curve = training_curve(network, X, y, X, y, measures="log_loss")
    assert curve.x[-1] == 8
    assert curve.values("training")[-1] < curve.values("training")[0]
    assert len(curve.course["loss curve"]) == 8


def test_the_resampled_figure_is_nadeau_and_bengios():
    scores = np.array([0.2, 0.25, 0.3, np.nan, 0.21])
    known = scores[~np.isnan(scores)]
    figure = resampled_figure(scores, 0.25)
    assert figure.error == pytest.approx(np.sqrt((1 / 4 + 0.25) * known.var(ddof=1)))
    assert np.isnan(resampled_figure(np.full(3, np.nan), 0.1).value)
    assert resampled_figure(np.array([0.5]), 0.1).high == np.inf


@pytest.mark.covers("bias-variance-decomposition")
def test_the_parts_of_the_mean_are_known_exactly(rng):
    """The mean of n rows: bias^2 is the variance of f, variance (var f + noise^2) / n."""
    wave = FunctionOracle(lambda X: np.sin(X[:, 0]), d=1, noise=0.8, high=2 * np.pi)
    found = bias_variance(
        BaselineRegressor(), wave, n=10, n_sets=200, random_state=int(rng.integers(2**31))
    )
    exact = {"noise": 0.64, "bias^2": 0.5, "variance": (0.5 + 0.64) / 10}
    exact["expected error"] = sum(exact.values())
    for part, value in exact.items():
        assert abs(found[part].value - value) <= 5 * found[part].error + 1e-12
    total = sum(found[part].value for part in ("noise", "bias^2", "variance"))
    assert found["expected error"].value == pytest.approx(total, rel=1e-12)


@pytest.mark.covers("bias-variance-decomposition")
def test_error_bars_of_the_parts_cover(rng):
    wave = FunctionOracle(lambda X: 3 * X[:, 0], d=1, noise=1.0)
    exact = {"bias^2": 0.75, "variance": 1.75 / 8}
    runs = 80
    covered = dict.fromkeys(exact, 0)
    for _ in range(runs):
        found = bias_variance(
            BaselineRegressor(),
            wave,
            n=8,
            n_sets=20,
            n_test=200,
            random_state=int(rng.integers(2**31)),
            n_jobs=1,
        )
        for part, value in exact.items():
            covered[part] += found[part].low <= value <= found[part].high
    assert all(0.82 <= count / runs <= 1 for count in covered.values())


@pytest.mark.covers("bias-variance-decomposition")
def test_at_every_row_the_parts_add_up_to_the_mean_squared_error(rng):
    X, y = noisy_wave(rng, 80)
    seed = int(rng.integers(2**31))
    found = bias_variance_of(DecisionTreeRegressor(), X, y, n_sets=20, random_state=seed)
    parts = found.by_row
    together = parts["noise"] + parts["bias^2"] + parts["variance"]
    assert together == pytest.approx(parts["expected error"])
    assert "part of the bias" in str(found)
    same = bias_variance_of(DecisionTreeRegressor(), X, y, n_sets=20, random_state=seed, n_jobs=3)
    assert same.parts == found.parts


@pytest.mark.covers("bias-variance-decomposition")
def test_a_correctly_specified_line_has_no_bias(rng):
    line = FunctionOracle(lambda X: 1 + 2 * X[:, 0], d=1, noise=1.0)
    found = bias_variance(
        LinearRegression(), line, n=20, n_sets=150, random_state=int(rng.integers(2**31))
    )
    assert abs(found["bias^2"].value) <= 5 * found["bias^2"].error


@pytest.mark.covers("bias-variance-decomposition")
def test_classes_err_by_noise_bias_and_variance_and_nothing_else(rng):
    clouds = Clouds([[0.0, 0.0], [1.5, 0.0], [0.0, 1.5]])
    found = bias_variance(
        KNeighborsClassifier(1), clouds, n=40, n_sets=60, random_state=int(rng.integers(2**31))
    )
    total = sum(found[part].value for part in ("noise", "bias", "variance"))
    assert found["expected error"].value == pytest.approx(total)
    risk = clouds.bayes_risk(50_000, random_state=rng)
    assert abs(found["noise"].value - risk.value) < 5 * (found["noise"].error + risk.error)
    assert found["variance"].value > 0
    assert 0 < found.disagreement < 1


@pytest.mark.covers("bias-variance-decomposition")
def test_classes_of_one_table_have_the_main_prediction_and_its_errors(rng):
    X = rng.standard_normal((90, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(90) > 0, "up", "down")
    seed = int(rng.integers(2**31))
    found = bias_variance_of(
        DecisionTreeClassifier(),
        X[:60],
        y[:60],
        test=(X[60:], y[60:]),
        n_sets=25,
        random_state=seed,
    )
    wrong = found.mean_prediction != y[60:]
    assert found["bias"].value == pytest.approx(wrong.mean())
    assert found.by_row["bias"] == pytest.approx(wrong.astype(float))
    assert found["noise"].value == 0
    # it is not known, so that none is printed
    assert found.to_table().column("share of the error").to_pylist()[0] is None
    assert all(each.low >= 0 for part, each in found.parts.items() if part != "variance")
    with pytest.raises(DataError, match="level=95"):
        bias_variance_of(DecisionTreeClassifier(), X, y, confidence_level=95)


@pytest.mark.covers("bias-variance-decomposition")
def test_bias_falls_and_variance_rises_with_complexity(rng):
    wave = FunctionOracle(lambda X: np.sin(X[:, 0]), d=1, noise=0.5, high=6.0)
    curve = bias_variance_curve(
        make_pipeline(PolynomialFeatures(), LinearRegression()),
        wave,
        30,
        "polynomialfeatures__degree",
        [0, 3, 9],
        n_sets=60,
        n_test=300,
        random_state=int(rng.integers(2**31)),
    )
    assert curve.values("variance")[2] > 1.4 * curve.values("variance")[:2].max()
    assert curve.values("bias^2")[0] > 5 * curve.values("bias^2")[1]
    assert curve.best("expected error") == 3
    assert curve.values("noise") == pytest.approx(0.25)


@pytest.mark.covers("bias-variance-decomposition")
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_the_variance_of_linear_predictions_is_that_of_new_noise(rng, alpha):
    X, at = rng.standard_normal((25, 3)), rng.standard_normal((4, 3))
    noise = 0.7 * rng.standard_normal((30_000, 25))
    solve = np.linalg.inv(X.T @ X + alpha * np.eye(3)) @ X.T
    predictions = noise @ solve.T @ at.T
    expected = linear_prediction_variance(X, at, 0.7, alpha)
    assert predictions.var(axis=0) == pytest.approx(expected, rel=0.05)
    if alpha == 0:
        with pytest.raises(DataError, match="infinite"):
            linear_prediction_variance(np.ones((5, 2)), [1.0, 1.0], 1.0)


@pytest.mark.covers("bias-variance-decomposition")
def test_ridge_has_the_closed_variance_of_scikit_learns(rng):
    X, at = rng.standard_normal((15, 2)), np.array([[1.0, -1.0]])
    said = [
        Ridge(alpha=2.0, fit_intercept=False).fit(X, y).predict(at)[0]
        for y in rng.standard_normal((1500, 15))
    ]
    assert np.var(said) == pytest.approx(linear_prediction_variance(X, at, 1.0, 2.0)[0], rel=0.25)


@pytest.mark.covers("misspecification-study")
def test_approximation_error_stays_and_estimation_error_falls_with_rows(rng):
    parabola = FunctionOracle(lambda X: X[:, 0] ** 2, d=1, noise=0.3, low=-1.0)
    study = misspecification_study(
        QuickLine(), parabola, [10, 40, 160], n_repeats=200, random_state=int(rng.integers(2**31))
    )
    assert study.values("approximation") == pytest.approx([4 / 45] * 3, abs=0.005)
    estimation = study.values("estimation")
    assert (np.diff(estimation) < 0).all()
    # two parameters: about (noise^2 + 4/45) * 2 / n, more for heavy errors at the ends
    assert 0.5 < estimation[2] / (2 * (0.09 + 4 / 45) / 160) < 2.5
    both = study.values("approximation") + estimation
    assert study.values("excess") == pytest.approx(both, abs=1e-12)


@pytest.mark.covers("misspecification-study")
def test_a_wrong_classifier_has_excess_risk_too(rng):
    clouds = Clouds([[0.0, 0.0], [2.0, 0.0]])
    study = misspecification_study(
        KNeighborsClassifier(1), clouds, [20, 80], n_repeats=5, n_best=2000, n_test=2000,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    assert (study.values("excess") > 0).all()


@pytest.mark.covers("overfitting-study")
def test_overfitting_grows_with_noise_and_target_and_falls_with_rows(rng):
    seed = int(rng.integers(2**31))
    by_noise = overfitting_study(
        [20, 120], noise=[0.0, 1.0, 2.0], target_degree=2, random_state=seed
    )
    assert (np.diff(by_noise.overfit[0]) > 0).all()
    assert (by_noise.overfit[0, 1:] > by_noise.overfit[1, 1:]).all()
    assert (by_noise.overfit[1, 1:] > 0).all()
    assert (by_noise.fits_better[:, 1:] > 0.99).all()
    by_target = overfitting_study([20, 60], noise=0.2, target_degree=[2, 40], random_state=seed)
    assert by_target.overfit[0, 1] > by_target.overfit[1, 1]
    assert by_target.overfit[0, 1] > by_target.overfit[0, 0]
    with pytest.raises(DataError, match="not for both"):
        overfitting_study([20], noise=[0.1], target_degree=[2, 3])
    with pytest.raises(DataError, match="too few for degree 10"):
        overfitting_study([11])


@pytest.mark.covers("overfitting-study")
def test_the_overfit_measure_of_a_true_model_is_a_chi_square(rng):
    """Both families hold the target: the excess is noise^2 / N times a chi-square of 11 - 3."""
    study = overfitting_study(
        [2000], noise=1.5, target_degree=1, n_repeats=400, random_state=int(rng.integers(2**31))
    )
    median = 1.5**2 / 2000 * stats.chi2(8).median()
    assert study.overfit[0, 0] == pytest.approx(median, rel=0.25)
    assert study.low[0, 0] < study.overfit[0, 0] < study.high[0, 0]


def test_splits_of_scikit_learn_and_pairs_are_taken_alike(rng):
    X, y = noisy_wave(rng, 60)
    folds = KFold(4, shuffle=True, random_state=3)
    one = validation_curve_estimates(KNeighborsRegressor(), X, y, "n_neighbors", [3, 9], cv=folds)
    other = validation_curve_estimates(
        KNeighborsRegressor(), X, y, "n_neighbors", [3, 9], cv=list(folds.split(X))
    )
    assert one.lines == other.lines
