"""SGDClassifier and SGDRegressor give scikit-learn's bits, and record the passes between."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs

from gnomon import linear
from gnomon.linear.stochastic_gradient import LOSSES
from gnomon.margin import Perceptron

SCHEDULES = {
    "optimal": {},
    "constant": {},
    "invscaling": {"power_t": 0.3},
    "adaptive": {"eta0": 0.05},
    "pa1": {"eta0": 1.0},
    "pa2": {"eta0": 1.0},
}
FITTED = ("coef_", "intercept_", "t_", "n_iter_")


@pytest.fixture
def table(rng):
    X = rng.normal(size=(90, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.5 * rng.normal(size=90)
    return X, y, np.digitize(y, [-1.0, 1.0])


def assert_same(ours, peer, names=FITTED):
    for name in names:
        np.testing.assert_array_equal(getattr(ours, name), getattr(peer, name), err_msg=name)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("loss", sorted(theirs.SGDClassifier.loss_functions))
def test_every_loss_and_penalty_gives_the_bits_of_scikit_learn(loss, penalty, table):
    X, y, classes = table
    options = {"loss": loss, "penalty": penalty, "alpha": 0.01, "random_state": 3, "max_iter": 400}
    for target in (classes, classes > 0):
        ours = linear.SGDClassifier(**options).fit(X, target)
        peer = theirs.SGDClassifier(**options).fit(X, target)
        assert_same(ours, peer)
        np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
        if hasattr(peer, "predict_proba"):
            np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-12)
    if loss in theirs.SGDRegressor.loss_functions:
        assert_same(
            linear.SGDRegressor(**options).fit(X, y), theirs.SGDRegressor(**options).fit(X, y)
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"average": True},
        {"average": 40},
        {"early_stopping": True, "validation_fraction": 0.2},
        {"tol": None, "max_iter": 7},
        {"fit_intercept": False},
        {"shuffle": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
def test_every_schedule_gives_the_bits_of_scikit_learn(schedule, changes, table):
    X, y, classes = table
    options = {"learning_rate": schedule, "random_state": 1, **SCHEDULES[schedule], **changes}
    of_numbers = {"loss": "epsilon_insensitive"} | options
    assert_same(
        linear.SGDClassifier(**options).fit(X, classes),
        theirs.SGDClassifier(**options).fit(X, classes),
    )
    assert_same(
        linear.SGDRegressor(**of_numbers).fit(X, y), theirs.SGDRegressor(**of_numbers).fit(X, y)
    )


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("schedule", ["optimal", "constant", "invscaling", "pa1", "pa2"])
def test_the_state_after_k_passes_is_what_a_fit_of_k_passes_ends_with(schedule, penalty, table):
    X, y, classes = table
    X = X * (np.arange(len(X)) % 9 != 0)[:, None]  # rows of zeros, which pa1 leaves out
    options = {"learning_rate": schedule, "penalty": penalty, "alpha": 0.2, "random_state": 0}
    options |= {"eta0": 0.5 if schedule == "invscaling" else 0.05, "tol": None, "max_iter": 5}
    for cls, target in ((linear.SGDClassifier, classes), (linear.SGDRegressor, y)):
        asked = options | ({"loss": "epsilon_insensitive"} if cls is linear.SGDRegressor else {})
        for dtype, rtol in ((np.float64, 1e-9), (np.float32, 1e-3)):
            model = cls(**asked, keep_history="full").fit(X.astype(dtype), target)
            assert len(model.history_) == model.n_iter_ == 5
            for k in (1, 3, 5):
                short = cls(**asked | {"max_iter": k}).fit(X.astype(dtype), target)
                state = model.history_.states[k - 1]
                np.testing.assert_allclose(state["coef"], short.coef_, rtol=rtol, atol=rtol)
                np.testing.assert_allclose(state["intercept"], short.intercept_, rtol=rtol)
                assert model.history_[k - 1] == pytest.approx(short.history_[-1], rel=rtol)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_losses_are_those_of_scikit_learn(loss, rng):
    compiled = theirs.SGDClassifier(loss=loss, epsilon=0.3)._get_loss_function(loss)
    p = rng.normal(scale=2, size=50)
    y = (p > rng.normal(size=50)) * (1.0 if loss == "log_loss" else 2.0) - (loss != "log_loss")
    if loss in ("log_loss", "squared_error", "huber"):
        compiled.loss(y, p, None, expected := np.empty(50), 1)
    else:
        expected = [compiled.py_loss(*pair) for pair in zip(p, y)]
    np.testing.assert_allclose(LOSSES[loss](y, p, 0.3), expected, rtol=1e-12)


def test_the_objective_of_logistic_regression_is_its_mean_loss_with_the_penalty(table):
    X, _, classes = table
    model = linear.SGDClassifier("log_loss", alpha=0.1, random_state=0).fit(X, classes > 0)
    signs = np.where(classes > 0, 1, -1)
    loss = np.logaddexp(0, -signs * model.decision_function(X)).mean()
    assert model.history_[-1] == pytest.approx(loss + 0.05 * (model.coef_**2).sum())


def test_batches_are_learnt_as_by_scikit_learn(table):
    X, y, classes = table
    ours, peer = linear.SGDClassifier(random_state=0), theirs.SGDClassifier(random_state=0)
    numbers, peer_numbers = linear.SGDRegressor(random_state=0), theirs.SGDRegressor(random_state=0)
    for rows in np.array_split(np.arange(len(X)), 3):
        for model in (ours, peer):
            model.partial_fit(X[rows], classes[rows], classes=[0, 1, 2])
        for model in (numbers, peer_numbers):
            model.partial_fit(X[rows], y[rows])
    assert_same(ours, peer)
    assert_same(numbers, peer_numbers)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("average", [False, True])
def test_a_warm_start_begins_where_the_last_fit_ended(average, table):
    X, y, classes = table
    options = {"warm_start": True, "random_state": 0, "max_iter": 3, "average": average}
    pairs = [
        (linear.SGDClassifier, theirs.SGDClassifier, classes),
        (linear.SGDRegressor, theirs.SGDRegressor, y),
    ]
    if not average:
        pairs.append((Perceptron, theirs.Perceptron, classes))
        options.pop("average")
    for cls, peer_cls, target in pairs:
        ours, peer = cls(**options).fit(X, target), peer_cls(**options).fit(X, target)
        first = ours.coef_.copy()
        ours.fit(X, target)
        peer.fit(X, target)
        assert_same(ours, peer)
        assert not np.array_equal(first, ours.coef_)
        with pytest.raises(ValueError, match=r"features|dataset"):
            ours.fit(X[:, :3], target)


def test_given_coefficients_and_class_weights_have_the_effect_of_scikit_learn(table):
    X, _, classes = table
    for class_weight in ("balanced", {0: 2.0, 1: 0.5}):
        options = {"class_weight": class_weight, "random_state": 0}
        start = np.ones((3, 4)), np.ones(3)
        ours = linear.SGDClassifier(**options).fit(X, classes, *map(np.copy, start))
        peer = theirs.SGDClassifier(**options).fit(X, classes, *map(np.copy, start))
        assert_same(ours, peer)


def test_sparse_rows_without_intercept_give_the_bits_of_scikit_learn(table):
    X, y, classes = table
    X[:, 1:] *= X[:, 1:] > 0  # no row is all zeros: two of them would be repetitions
    X = sp.csr_array(X)
    options = {"fit_intercept": False, "random_state": 0}
    for name, target in (("SGDClassifier", classes), ("SGDRegressor", y)):
        ours = getattr(linear, name)(**options).fit(X, target)
        assert_same(ours, getattr(theirs, name)(**options).fit(X, target))


@pytest.mark.parametrize("cls", [linear.SGDClassifier, Perceptron])
def test_threads_change_neither_the_result_nor_the_history(cls, table):
    X, y, _ = table
    classes = np.digitize(y, np.quantile(y, np.linspace(0, 1, 12)[1:-1]))
    rows = sp.csr_array(X * (X > 0))
    one, two = (cls(random_state=0, n_jobs=n_jobs).fit(rows, classes) for n_jobs in (1, 2))
    assert_same(two, one)
    assert two.history_.objective == one.history_.objective


def test_an_adaptive_rate_records_the_last_pass(table):
    X, y, _ = table
    model = linear.SGDRegressor(learning_rate="adaptive", random_state=0, keep_history="full")
    model.fit(X, y)
    assert len(model.history_) == 1
    np.testing.assert_array_equal(model.history_.states[-1]["coef"], model.coef_)
