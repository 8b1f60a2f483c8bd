"""Properties of impurities, splits and trees that hold for any data."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from hypothesis.extra.numpy import arrays

from gnomon.trees import (
    FlexibleTreeClassifier,
    FlexibleTreeRegressor,
    GaussianTreeClassifier,
    ObliqueTreeClassifier,
    export_text,
)
from gnomon.trees.impurity import Entropy, Gini, Misclassification

counts = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(3)), elements=st.integers(0, 40))
small_rows = arrays(np.float64, (24, 3), elements=st.integers(-3, 3).map(float))
labels = arrays(np.int64, 24, elements=st.integers(0, 2))


@pytest.mark.covers("split-gini", "split-entropy-gain", "split-misclassification")
@given(parts=counts)
def test_no_division_raises_an_impurity(parts):
    for impurity in (Gini(3), Entropy(3), Misclassification(3)):
        whole = impurity.total(parts.sum(axis=0))
        assert impurity.total(parts).sum() <= whole + 1e-9 * max(whole, 1)


@pytest.mark.covers("split-laplace-entropy", "split-entropy-gain")
@given(parts=counts, smoothing=st.floats(0, 1e6))
def test_smoothed_entropy_lies_between_nothing_and_the_logarithm_of_the_classes(parts, smoothing):
    weight = parts.sum(axis=1)
    total = Entropy(3, smoothing).total(parts)
    assert (total >= -1e-9).all()
    assert (total <= weight * np.log2(3) + 1e-6).all()
    endless = Entropy(3, 1e12).total(parts)
    np.testing.assert_allclose(endless, weight * np.log2(3), rtol=1e-6, atol=1e-6)


@pytest.mark.covers("classification-tree")
@given(rows=small_rows, y=labels)
def test_a_full_tree_errs_only_where_equal_rows_have_different_labels(rows, y):
    found = FlexibleTreeClassifier().fit(rows, y).predict_proba(rows)
    for row in np.unique(rows, axis=0):
        mine = (rows == row).all(axis=1)
        shares = np.bincount(y[mine], minlength=3) / mine.sum()
        present = np.isin(np.arange(3), y)
        np.testing.assert_allclose(found[mine], [shares[present]] * mine.sum())


@given(rows=small_rows, y=labels, scale=st.floats(0.1, 10))
def test_strictly_increasing_changes_of_a_column_change_no_training_prediction(rows, y, scale):
    plain = FlexibleTreeClassifier("entropy").fit(rows, y).predict_proba(rows)
    other = rows.copy()
    other[:, 0] = np.exp(scale * rows[:, 0] / 3)
    other[:, 1] = rows[:, 1] ** 3
    changed = FlexibleTreeClassifier("entropy").fit(other, y).predict_proba(other)
    np.testing.assert_allclose(changed, plain)


@pytest.mark.covers("tree-fractional-missing", "tree-surrogate-splits", "missing-as-category")
@given(rows=small_rows, y=labels, gone=arrays(np.bool_, (24, 3)))
def test_any_pattern_of_missing_cells_is_learnt_from_and_predicted_for(rows, y, gone):
    rows = np.where(gone, np.nan, rows)
    for missing in ("fractional", "surrogate", "category"):
        model = FlexibleTreeClassifier(missing=missing, max_depth=6).fit(rows, y)
        shares = model.predict_proba(rows)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        tree = model.tree_
        for node in np.flatnonzero(tree.n_children):
            first = tree.first_child[node]
            below = tree.weight[first : first + tree.n_children[node]]
            assert below.sum() == pytest.approx(tree.weight[node])
        assert export_text(model).startswith("all: 24 rows")


@given(rows=small_rows, y=arrays(np.float64, 24, elements=st.floats(-1e3, 1e3)))
def test_squared_error_never_rises_with_depth(rows, y):
    errors = [
        (
            (FlexibleTreeRegressor(max_depth=d, min_samples_leaf=1).fit(rows, y).predict(rows) - y)
            ** 2
        ).sum()
        for d in (1, 2, 4)
    ]
    assert errors[2] <= errors[1] * (1 + 1e-9) + 1e-6
    assert errors[1] <= errors[0] * (1 + 1e-9) + 1e-6


@pytest.mark.covers("split-oblique", "split-gaussian")
@given(seed=st.integers(0, 2**32), scale=st.sampled_from([1e-3, 7.0, 1e4]))
def test_units_of_a_column_do_not_change_what_standardized_planes_and_clouds_say(seed, scale):
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    for model in (ObliqueTreeClassifier(max_depth=3), GaussianTreeClassifier(max_depth=2)):
        plain = model.fit(rows, y).predict_proba(rows)
        scaled = rows * [scale, 1, 1]
        np.testing.assert_allclose(model.fit(scaled, y).predict_proba(scaled), plain, atol=1e-9)
