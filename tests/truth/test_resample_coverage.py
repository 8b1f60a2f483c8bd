"""Intervals of resampled estimates hold the truth as often as they say, or are shown not to."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from gnomon.evaluate import (
    HoldOut,
    bootstrap,
    bootstrap_error,
    cross_validation_estimates,
    k_fold,
    linear_leave_one_out,
    random_splits,
)
from tests.truth.coverage_bar import refuted

RUNS = 2000


class LeastSquares(RegressorMixin, BaseEstimator):
    """Without intercept, as fast as can be."""

    def fit(self, X, y):
        self.coef_ = np.linalg.solve(X.T @ X, X.T @ y)
        return self

    def predict(self, X):
        return X @ self.coef_

    def risk(self) -> float:
        """Expected squared error for standard normal columns, coefficients 1 and noise 1."""
        return 1 + float(((self.coef_ - 1) ** 2).sum())


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class whose mean is nearer."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
        self.direction_ = high - low
        self.cut_ = self.direction_ @ (low + high) / 2
        return self

    def decision_function(self, X):
        return X @ self.direction_ - self.cut_

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def accuracy(self, mean: np.ndarray) -> float:
        """Expected accuracy for normal classes about -mean and +mean."""
        length = np.linalg.norm(self.direction_)
        middle = self.direction_ @ mean
        return float(stats.norm.cdf((middle + np.array([-1, 1]) * self.cut_) / length).mean())

    def area(self, mean: np.ndarray) -> float:
        length = np.linalg.norm(self.direction_)
        return float(stats.norm.cdf(np.sqrt(2) * self.direction_ @ mean / length))


def numbers(rng, n: int, d: int):
    X = rng.normal(size=(n, d))
    return X, X.sum(axis=1) + rng.normal(size=n)


def classes(rng, n: int, mean: np.ndarray):
    y = np.tile([0, 1], n // 2)
    return rng.normal(size=(n, len(mean))) + np.where(y[:, None], mean, -mean), y


def holds(figure, truth: float) -> bool:
    return figure.low <= truth <= figure.high


@pytest.mark.covers("kfold-cv", "repeated-cv")
@pytest.mark.parametrize(
    ("splits", "measure"),
    [
        (k_fold(200, 10), "accuracy"),
        pytest.param(k_fold(200, 5, 2), "accuracy", marks=pytest.mark.slow),
        pytest.param(k_fold(200, 5), "auc", marks=pytest.mark.slow),
        pytest.param(random_splits(200, 10), "accuracy", marks=pytest.mark.slow),
    ],
    ids=["10 folds", "2 x 5 folds", "area, 5 folds", "random splits"],
)
def test_cross_validated_accuracy_and_area(splits, measure, rng):
    mean = np.full(3, 0.5)
    found = []
    for _ in range(RUNS):
        X, y = classes(rng, 200, mean)
        run = cross_validation_estimates(
            NearestMean(), X, y, cv=splits, measures=measure, n_jobs=1, keep_models=True
        )
        truth = [m.accuracy(mean) if measure == "accuracy" else m.area(mean) for m in run.models]
        found.append(holds(run.figure(), np.mean(truth)))
    assert not refuted(np.mean(found), RUNS)


@pytest.mark.covers("kfold-cv")
@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        (60, 6, 5),
        pytest.param(50, 10, 10, marks=pytest.mark.slow),
        pytest.param(100, 10, 10, marks=pytest.mark.slow),
        pytest.param(100, 20, 10, marks=pytest.mark.slow),
        pytest.param(60, 3, 10, marks=pytest.mark.slow),
        pytest.param(200, 10, 10, marks=pytest.mark.slow),
        pytest.param(500, 2, 5, marks=pytest.mark.slow),
    ],
)
def test_cross_validated_error_of_least_squares_with_few_and_many_rows_per_column(n, d, k, rng):
    splits, runs = k_fold(n, k), []
    for _ in range(RUNS):
        X, y = numbers(rng, n, d)
        run = cross_validation_estimates(
            LeastSquares(), X, y, cv=splits, measures="mse", n_jobs=1, keep_models=True
        )
        here = np.mean([model.risk() for model in run.models])
        runs.append((run.figure(), here))
    over_training_sets = np.mean([here for _, here in runs])
    for truth in (lambda here: here, lambda here: over_training_sets):
        held = [holds(figure, truth(here)) for figure, here in runs]
        assert not refuted(np.mean(held), RUNS)


def bell_and_logit(rng, n: int, d: int, steepness: float):
    """Normal columns, and classes with the log-odds steepness x (mean of columns) sqrt(d)."""
    X = rng.normal(size=(n, d))
    return X, (rng.random(n) < expit(steepness * X.sum(axis=1) / np.sqrt(d))).astype(int)


def expected_accuracy(models, rng, d: int, steepness: float) -> float:
    X = rng.normal(size=(2000, d))
    p = expit(steepness * X.sum(axis=1) / np.sqrt(d))
    return np.mean([np.where(model.predict(X) == 1, p, 1 - p).mean() for model in models])


def expected_log_loss(models, d: int, steepness: float) -> float:
    """By quadrature over the true log-odds and what the model adds to them."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = weights / weights.sum()
    p, losses = expit(steepness * nodes)[:, None], []
    for model in models:
        along = model.coef_[0].sum() / np.sqrt(d)
        across = np.sqrt(max((model.coef_[0] ** 2).sum() - along**2, 0.0))
        odds = model.intercept_[0] + along * nodes[:, None] + across * nodes[None]
        rows = p * np.logaddexp(0, -odds) + (1 - p) * np.logaddexp(0, odds)
        losses.append(weights @ rows @ weights)
    return float(np.mean(losses))


@pytest.mark.slow
@pytest.mark.covers("kfold-cv")
@pytest.mark.parametrize(
    ("learner", "measure", "d", "steepness"),
    [
        (KNeighborsClassifier(1), "accuracy", 3, 2.0),
        (DecisionTreeClassifier(random_state=0), "accuracy", 3, 2.0),
        (LogisticRegression(), "log_loss", 20, 1.0),
        (LogisticRegression(C=np.inf, max_iter=200), "log_loss", 5, 8.0),
    ],
    ids=["single neighbours", "trees", "logistic regression", "nearly separable rows"],
)
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_cross_validated_quality_of_learners_that_hang_on_single_rows(
    learner, measure, d, steepness, rng
):
    splits, found = k_fold(100, 10), []
    for _ in range(RUNS):
        X, y = bell_and_logit(rng, 100, d, steepness)
        run = cross_validation_estimates(
            learner, X, y, cv=splits, measures=measure, n_jobs=1, keep_models=True
        )
        if measure == "accuracy":
            truth = expected_accuracy(run.models, rng, d, steepness)
        else:
            truth = expected_log_loss(run.models, d, steepness)
        found.append(holds(run.figure(), truth))
    assert not refuted(np.mean(found), RUNS)


@pytest.mark.covers("kfold-cv")
def test_an_infinite_log_loss_has_a_lower_end_alone():
    """Two rows of a hundred had probability zero: at least the loss of 2^-53 for each."""
    X, y = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
    y[[10, 90]] = [1, 0]
    run = cross_validation_estimates(
        DecisionTreeClassifier(max_depth=1), X, y, measures="log_loss", n_jobs=1
    )
    found = run.figure()
    assert found.value == found.high == np.inf
    assert 0 < found.low < 2 * 53 * np.log(2) / 100
    assert "2 infinite losses" in found.how
    assert np.isinf(run.scores["log_loss"]).any()


@pytest.mark.covers("kfold-cv")
def test_without_pairs_of_folds_the_interval_is_too_narrow_and_that_of_fold_scores_is_wide(rng):
    splits, rows, folds = k_fold(50, 5), [], []
    for _ in range(700):
        X, y = numbers(rng, 50, 10)
        run = cross_validation_estimates(
            LeastSquares(),
            X,
            y,
            cv=splits,
            measures="mse",
            pair_fits=0,
            n_jobs=1,
            keep_models=True,
        )
        truth = np.mean([model.risk() for model in run.models])
        rows.append(holds(run.figure(), truth))
        folds.append(holds(run.figure(method="folds"), truth))
    assert np.mean(rows) < 0.945  # about 0.92; the share of 700 varies by 0.01
    assert np.mean(folds) > 0.94
    assert "may be too narrow" in str(run)


@pytest.mark.covers("kfold-cv")
def test_the_plain_standard_error_of_repeated_folds_is_far_too_small(rng):
    splits, plain, held = k_fold(100, 5, 10), [], []
    mean = np.full(3, 0.5)
    for _ in range(300):
        X, y = classes(rng, 100, mean)
        run = cross_validation_estimates(NearestMean(), X, y, cv=splits, n_jobs=1, keep_models=True)
        truth = np.mean([model.accuracy(mean) for model in run.models])
        scores = run.values
        half = stats.t.ppf(0.975, 49) * scores.std(ddof=1) / np.sqrt(50)
        plain.append(abs(scores.mean() - truth) <= half)
        held.append(holds(run.figure(), truth))
    assert np.mean(plain) < 0.75
    assert np.mean(held) > 0.91


@pytest.mark.covers("holdout-validation", "heldout-loss-error")
def test_held_out_error(rng):
    found = []
    for seed in range(RUNS):
        X, y = numbers(rng, 250, 2)
        held = HoldOut(X, y, 0.4, random_state=seed)
        figure = held.evaluate(LeastSquares(), "mse")
        train = held.splits[0][0]
        found.append(holds(figure, LeastSquares().fit(X[train], y[train]).risk()))
    assert 0.93 <= np.mean(found) <= 0.98  # a little too wide: folds of 100 rows


@pytest.mark.covers("analytic-loocv", "leave-one-out-cv")
def test_leave_one_out_error_in_closed_form(rng):
    found = []
    for _ in range(4000):
        X, y = numbers(rng, 300, 2)
        figure = linear_leave_one_out(X, y, intercept=False).mean_squared_error
        found.append(holds(figure, LeastSquares().fit(X, y).risk()))
    assert 0.93 <= np.mean(found) <= 0.97


@pytest.mark.covers("bootstrap-prediction-error")
def test_out_of_bag_error(rng):
    mean, found = np.full(2, 0.6), []
    for seed in range(300):
        X, y = classes(rng, 120, mean)
        error = bootstrap_error(NearestMean(), X, y, n_bags=25, random_state=seed, n_jobs=1)
        truth = 1 - NearestMean().fit(X, y).accuracy(mean)
        found.append(holds(error.out_of_bag, truth))
    assert not refuted(np.mean(found), 300)


def correlation(x, y):
    x, y = x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)
    return (x * y).sum(-1) / np.sqrt((x**2).sum(-1) * (y**2).sum(-1))


def correlated(rng, n: int):
    x = rng.normal(size=n)
    return x, 0.8 * x + 0.6 * rng.normal(size=n)


STATISTICS = {
    "mean": (lambda x: x.mean(axis=-1), lambda rng: (rng.normal(size=60),), 0.0),
    "mean of skew rows": (lambda x: x.mean(axis=-1), lambda rng: (rng.gamma(4, 0.25, 60),), 1.0),
    "median": (lambda x: np.median(x, axis=-1), lambda rng: (rng.normal(size=60),), 0.0),
    "variance": (lambda x: x.var(axis=-1, ddof=1), lambda rng: (rng.normal(size=60),), 1.0),
    "deviation": (lambda x: x.std(axis=-1, ddof=1), lambda rng: (rng.normal(size=40),), 1.0),
    "correlation": (correlation, lambda rng: correlated(rng, 100), 0.8),
}


def held_by(statistic, draw, truth: float, rng, runs: int = RUNS) -> dict[str, float]:
    """Shares of intervals that hold the truth, by method."""
    held: dict[str, list] = {"expanded": [], "bca": [], "percentile": [], "basic": []}
    for seed in range(runs):
        draws = bootstrap(
            statistic,
            *draw(rng),
            n_resamples=1000,
            vectorized=True,
            random_state=seed,
            n_jobs=1,
        )
        for method, found in held.items():
            found.append(holds(draws.interval(method=method), truth))
    return {method: float(np.mean(found)) for method, found in held.items()}


@pytest.mark.covers("bootstrap-interval")
@pytest.mark.parametrize(
    "name",
    [
        "mean of skew rows",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("mean", "variance", "deviation", "median", "correlation")
        ),
    ],
)
def test_default_bootstrap_interval(name, rng):
    held = held_by(*STATISTICS[name], rng)
    assert not refuted(held["expanded"], RUNS)
    assert held["expanded"] >= held["bca"] - 0.002


@pytest.mark.covers("bootstrap-interval")
def test_the_basic_interval_of_a_median_holds_far_too_seldom(rng):
    held = held_by(*STATISTICS["median"], rng, runs=600)
    assert held["basic"] < 0.91
    assert held["expanded"] > 0.92


@pytest.mark.covers("bootstrap-interval", "bootstrap-confidence-region")
def test_bootstrap_region_of_two_means(rng):
    held = []
    for seed in range(500):
        rows = rng.normal(size=(40, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
        draws = bootstrap(
            lambda rows: rows.mean(axis=0), rows, n_resamples=200, random_state=seed, n_jobs=1
        )
        held.append(bool(draws.region().contains([[0.0, 0.0]])[0]))
    assert not refuted(np.mean(held), 500)
