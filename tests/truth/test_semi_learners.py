"""Learners from rows with and without labels, against references and what they promise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import DBSCAN
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import SelfTrainingClassifier as TheirSelfTraining

from gnomon.cluster import KMeans
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.linear import LinearRegression
from gnomon.margin import LinearSVC
from gnomon.reduce import PCA
from gnomon.semi import (
    ClusterThenLabelClassifier,
    HintRegressor,
    RepresentationClassifier,
    SelfTrainingClassifier,
    TransductiveNetClassifier,
    TransductiveSVC,
)
from gnomon.semi.transductive_net import SmallNet
from gnomon.semi.transductive_svm import OFFSET_SCALE, TwoSides


def blobs(rng, n=120, gap=6.0, d=2, labels=2):
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, 0] += gap * truth
    y = np.full(n, np.nan)
    y[: 2 * labels] = truth[: 2 * labels]
    return X, y, truth


@pytest.mark.covers("self-training")
@pytest.mark.parametrize(
    "options", [{}, {"threshold": 0.9}, {"criterion": "k_best", "k_best": 7, "max_iter": 4}]
)
def test_self_training_adds_the_labels_that_scikit_learn_adds(options, rng):
    X, y, _ = blobs(rng, gap=2.0, labels=4)
    marked = np.where(np.isnan(y), -1, y).astype(int)
    theirs = TheirSelfTraining(LogisticRegression(tol=1e-10), **options).fit(X, marked)
    ours = SelfTrainingClassifier(LogisticRegression(tol=1e-10), **options).fit(X, marked)
    np.testing.assert_array_equal(ours.transduction_, theirs.transduction_)
    np.testing.assert_array_equal(ours.labeled_iter_, theirs.labeled_iter_)
    assert ours.termination_condition_ == theirs.termination_condition_
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


@pytest.mark.covers("self-training")
def test_self_training_refuses_a_learner_without_probabilities(rng):
    X, y, _ = blobs(rng)
    with pytest.raises(DataError, match="predict_proba"):
        SelfTrainingClassifier(LinearSVC()).fit(X, y)


@pytest.mark.covers("cluster-then-label")
def test_rows_take_the_class_found_in_their_cluster(rng):
    X, y, truth = blobs(rng, gap=20.0)
    model = ClusterThenLabelClassifier(KMeans(2, random_state=0)).fit(X, y)
    np.testing.assert_array_equal(model.transduction_, truth)
    np.testing.assert_array_equal(model.predict(X), truth)


@pytest.mark.covers("cluster-then-label")
def test_a_cluster_without_label_and_noise_are_unknown(rng):
    X, y, truth = blobs(rng, gap=40.0)
    X = np.concatenate([X, rng.normal(scale=0.1, size=(20, 2)) + 500.0, [[-300.0, 0.0]]])
    y = np.concatenate([y, np.full(21, np.nan)])
    for clusterer in (KMeans(4, random_state=0, n_init=5), DBSCAN(eps=3.0)):
        with pytest.warns(GnomonWarning, match="without a label"):
            model = ClusterThenLabelClassifier(clusterer).fit(X, y)
        assert model.is_unlabeled(model.transduction_[120:]).all()
        np.testing.assert_array_equal(model.transduction_[:120], truth)
        np.testing.assert_allclose(model.predict_proba(X[120:140]), 0.5)


@pytest.mark.covers("unsupervised-then-supervised")
def test_the_representation_is_of_all_rows_and_the_classifier_of_the_labeled_ones(rng):
    X, y, _ = blobs(rng, d=5)
    model = RepresentationClassifier(PCA(2), LogisticRegression()).fit(X, y)
    of_all = PCA(2).fit(X)
    np.testing.assert_allclose(model.transformer_.components_, of_all.components_, atol=1e-8)
    known = ~np.isnan(y)
    alone = LogisticRegression().fit(of_all.transform(X[known]), y[known])
    expected = alone.predict_proba(of_all.transform(X))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-3)


@pytest.mark.covers("transductive-svm")
def test_without_unlabeled_rows_the_plane_is_that_of_the_svm(rng):
    X, _, truth = blobs(rng, gap=2.0)
    ours = TransductiveSVC().fit(X, truth)
    plain = LinearSVC(dual=False, tol=1e-8, intercept_scaling=OFFSET_SCALE)
    plain.fit(X - X.mean(axis=0), truth)
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-3)


@pytest.mark.covers("transductive-svm")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_plane_runs_through_the_gap_that_labels_alone_do_not_show(loss, rng):
    n = 80
    truth = np.arange(n) % 2
    X = np.column_stack([rng.uniform(-2, 2, n), 4.0 * truth + rng.uniform(-1, 1, n)])
    y = np.full(n, np.nan)
    X[0], X[1] = [-1.5, 0.5], [1.5, 3.5]  # the labels alone make a tilted plane
    y[:2] = [0, 1]
    model = TransductiveSVC(C=10.0, C_unlabeled=1.0, loss=loss).fit(X, y)
    plain = LinearSVC(C=10.0).fit(X[:2], y[:2])
    assert (plain.predict(X) == truth).mean() < 1.0
    assert (model.transduction_ == truth).mean() > 0.98


@pytest.mark.covers("transductive-svm")
def test_sparse_rows_around_zero_have_the_plane_of_dense_ones(rng):
    X, y, _ = blobs(rng)
    X -= X.mean(axis=0)
    dense, sparse = TransductiveSVC().fit(X, y), TransductiveSVC().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-3)


@pytest.mark.covers("transductive-svm")
def test_probabilities_of_unlabeled_rows_have_the_share_of_the_class(rng):
    X, y, _ = blobs(rng)
    model = TransductiveSVC(class_prior=[0.3, 0.7]).fit(X, y)
    from gnomon.semi.graph import Points

    codes = np.where(np.isnan(y), -1, y).astype(np.int64)
    points = Points(X, np.ones(len(X)), codes, np.arange(len(X)), 2)
    problem = TwoSides(points, 1, 1.0, 0.1, "squared_hinge")
    scores = model.decision_function(X)
    for temperature in (10.0, 0.1, 1e-3):
        shares = problem.probabilities(scores, temperature, 0.7)
        assert shares.mean() == pytest.approx(0.7, abs=1e-6)


@pytest.mark.covers("transductive-nets")
def test_the_gradient_of_the_net_is_that_of_differences(rng):
    net = SmallNet(3, 4, 2)
    rows, error = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    weights = net.start(rng) + 0.1 * rng.normal(size=sum(net.sizes))

    def value(w):
        return float((net.outputs(w, rows)[1] * error).sum() + net.decay(w, 0.3)[0])

    hidden, _ = net.outputs(weights, rows)
    slope = net.slope(weights, rows, hidden, error) + net.decay(weights, 0.3)[1]
    steps = 1e-6 * np.eye(len(weights))
    by_differences = [(value(weights + s) - value(weights - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(slope, by_differences, atol=1e-6)


@pytest.mark.covers("transductive-nets")
def test_the_objective_of_the_transductive_net_has_its_gradient(rng):
    from gnomon.semi.graph import Points

    model = TransductiveNetClassifier(3)
    model.center_, model.classes_ = np.zeros(2), np.arange(3)
    codes = np.array([0, 1, 2, -1, -1, -1])
    points = Points(None, rng.uniform(0.5, 2, 6), codes, np.arange(6), 3)
    objective = model._objective(rng.normal(size=(6, 2)), points, np.array([0.5, 0.3, 0.2]), 0.7)
    weights = rng.normal(size=sum(model._net().sizes))
    steps = 1e-6 * np.eye(len(weights))
    slopes = [(objective(weights + s)[0] - objective(weights - s)[0]) / 2e-6 for s in steps]
    np.testing.assert_allclose(objective(weights)[1], slopes, atol=1e-6)


@pytest.mark.covers("transductive-nets")
def test_the_transductive_net_is_surer_of_unlabeled_rows_and_right_of_separate_groups(rng):
    X, y, truth = blobs(rng, gap=9.0, labels=3)
    pulled = TransductiveNetClassifier(random_state=0, weight_unlabeled=1.0).fit(X, y)
    alone = TransductiveNetClassifier(random_state=0, weight_unlabeled=0.0).fit(X, y)

    def entropy(model):
        p = np.clip(model.predict_proba(X), 1e-12, 1)
        return float(-(p * np.log(p)).sum(axis=1).mean())

    assert entropy(pulled) <= entropy(alone) + 1e-3
    assert (pulled.transduction_ == truth).mean() > 0.9


@pytest.mark.covers("hints-monotonicity")
def test_hints_make_a_noisy_fit_monotone(rng):
    X = rng.uniform(-1, 1, size=(25, 2))
    y = 2 * X[:, 0] + 0.8 * rng.normal(size=25)
    free = HintRegressor(alpha=1e-4, random_state=0).fit(X, y)
    hinted = HintRegressor([1, 0], alpha=1e-4, hint_weight=1000, random_state=0).fit(X, y)
    assert hinted.violations_ < 0.3
    assert free.violations_ == 0.0  # nothing was hinted
    line = np.column_stack([np.linspace(-1, 1, 50), np.zeros(50)])

    def falls(model):
        return -np.minimum(np.diff(model.predict(line)), 0.0).sum()

    assert falls(hinted) <= max(0.5 * falls(free), 0.2)


@pytest.mark.covers("hints-monotonicity")
def test_hints_without_effect_leave_a_line_as_it_is(rng):
    X = rng.normal(size=(60, 1))
    y = 3.0 * X[:, 0]
    model = HintRegressor([1], alpha=1e-6, random_state=0).fit(X, y)
    line = LinearRegression().fit(X, y)
    inner = np.linspace(-1, 1, 20)[:, None]
    np.testing.assert_allclose(model.predict(inner), line.predict(inner), atol=0.3)


@pytest.mark.covers("hints-monotonicity")
@pytest.mark.parametrize(
    ("hint", "words"), [([1], "entries"), ([2, 0], "-1, 0 and 1"), ({"z": 1}, "names the column")]
)
def test_hints_that_fit_no_column_are_refused(hint, words, rng):
    X = rng.normal(size=(9, 2))
    with pytest.raises(DataError, match=words):
        HintRegressor(hint).fit(X, X[:, 0])


@pytest.mark.covers("transductive-learning")
@pytest.mark.parametrize(
    "model",
    [
        SelfTrainingClassifier(),
        ClusterThenLabelClassifier(n_clusters=2, random_state=0),
        TransductiveSVC(),
        TransductiveNetClassifier(random_state=0),
    ],
)
def test_transductive_learners_answer_for_the_given_rows_in_their_order(model, rng):
    X, y, truth = blobs(rng, gap=12.0)
    words = np.where(np.isnan(y), None, np.where(truth == 1, "one", "zero"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, words)
    known = ~model.is_unlabeled(model.transduction_)
    expected = np.where(truth == 1, "one", "zero")
    assert (model.transduction_ == expected)[known].mean() > 0.95
    assert known.mean() > 0.8
