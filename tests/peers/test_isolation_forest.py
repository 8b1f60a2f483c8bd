"""IsolationForest: scores by hand from its trees, and those of scikit-learn's class on average."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.ensemble
from sklearn.ensemble._iforest import _average_path_length
from sklearn.metrics import roc_auc_score

from gnomon.trees import IsolationForest
from gnomon.trees.isolation_forest import mean_depth
from gnomon.trees.tree import LEAF


def depth_by_hand(tree, row) -> float:
    node = steps = 0
    while tree.left[node] != LEAF:
        left = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
        node = tree.left[node] + (0 if left else 1)
        steps += 1
    return steps + float(mean_depth(tree.n_node_samples[node]))


@pytest.mark.parametrize("max_features", [1.0, 2])
def test_scores_are_those_of_the_depths_in_the_trees(max_features, rng):
    X = rng.normal(size=(90, 3))
    X[:40] = np.round(X[:40])  # equal cells, so that some leaves hold several rows
    model = IsolationForest(n_estimators=7, max_features=max_features, random_state=0).fit(X)
    assert any((tree.n_node_samples[tree.left == LEAF] > 1).any() for tree in model.trees_)
    mean = np.array([np.mean([depth_by_hand(tree, row) for tree in model.trees_]) for row in X])
    expected = -(2 ** (-mean / float(mean_depth(np.array(model.max_samples_)))))
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-12)


def test_mean_depths_are_those_of_scikit_learn():
    numbers = np.arange(1, 500)
    np.testing.assert_allclose(mean_depth(numbers), _average_path_length(numbers), rtol=1e-14)


@pytest.mark.parametrize(
    "options", [{}, {"max_samples": 0.3}, {"bootstrap": True}, {"max_features": 0.5}]
)
def test_scores_are_those_of_scikit_learn_but_for_chance(options, rng):
    X = np.vstack([rng.normal(size=(300, 4)), 6 * rng.normal(size=(10, 4))])
    options = {"n_estimators": 80, **options}
    peer = sklearn.ensemble.IsolationForest
    theirs = [peer(random_state=seed, **options).fit(X) for seed in range(4)]
    ours = [IsolationForest(random_state=seed, **options).fit(X) for seed in range(4)]
    assert ours[0].max_samples_ == theirs[0].max_samples_
    scores = np.mean([each.score_samples(X) for each in ours], axis=0)
    expected = np.mean([each.score_samples(X) for each in theirs], axis=0)
    # means of other seeds differ by 0.003 to 0.006; rows counted twice in leaves, by 0.02
    assert np.abs(scores - expected).mean() < 0.012
    is_usual = np.arange(310) < 300
    assert roc_auc_score(is_usual, scores) > roc_auc_score(is_usual, expected) - 0.02


def test_the_share_of_outliers_is_the_one_asked_for(rng):
    X = rng.normal(size=(200, 3))
    model = IsolationForest(n_estimators=20, contamination=0.1, random_state=0).fit(X)
    assert (model.predict(X) == -1).sum() == 20


def test_whole_weights_are_repetitions(rng):
    X = rng.normal(size=(120, 3))
    weights = rng.integers(0, 4, 120)
    options = {"n_estimators": 10, "contamination": 0.2, "random_state": 3}
    weighted = IsolationForest(**options).fit(X, sample_weight=weights)
    repeated = IsolationForest(**options).fit(rng.permutation(np.repeat(X, weights, axis=0)))
    np.testing.assert_array_equal(weighted.score_samples(X), repeated.score_samples(X))
    assert weighted.offset_ == pytest.approx(repeated.offset_, rel=1e-12)


def test_sparse_rows_have_the_scores_of_dense_ones(rng, monkeypatch):
    X = rng.normal(size=(60, 4)) * (rng.random((60, 4)) < 0.4)
    monkeypatch.setattr("gnomon.trees.isolation_forest.CELLS_AT_ONCE", 40)
    options = {"n_estimators": 10, "contamination": 0.2, "random_state": 0}
    dense, sparse = (IsolationForest(**options).fit(rows) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(sparse.score_samples(sp.csr_array(X)), dense.score_samples(X))
    assert sparse.offset_ == dense.offset_


def test_a_warm_start_keeps_the_trees_and_adds_others(rng):
    X = rng.normal(size=(80, 3))
    model = IsolationForest(n_estimators=4, warm_start=True, random_state=0).fit(X)
    first = list(model.trees_)
    model.set_params(n_estimators=9).fit(X)
    assert model.trees_[:4] == first
    whole = IsolationForest(n_estimators=9, random_state=0).fit(X)
    np.testing.assert_array_equal(model.score_samples(X), whole.score_samples(X))
    with pytest.raises(ValueError, match="n_estimators=2"):
        model.set_params(n_estimators=2).fit(X)
