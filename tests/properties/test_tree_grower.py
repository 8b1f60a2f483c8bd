"""What must not change a tree: the order of rows, weights written as repetitions, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gnomon.trees.binning import Binner
from gnomon.trees.grower import (
    GrowthRules,
    bootstrap_counts,
    class_statistics,
    fixed_point_weights,
    grow_tree,
    value_statistics,
)
from gnomon.trees.tree import LEAF, Tree

STRUCTURE = ("feature", "threshold", "missing_left", "category", "category_left", "left", "value")
CRITERIA = ["gini", "entropy", "misclassification", "squared_error"]
SEEDS = st.integers(0, 2**32 - 1)


class Case:
    """Rows with numbers of many values, categories and missing cells, weights and a target."""

    def __init__(self, rng: np.random.Generator, criterion: str, n: int = 400):
        self.criterion = criterion
        numbers = np.round(rng.normal(size=(n, 3)), rng.integers(0, 4))
        self.rows = np.column_stack([numbers, rng.integers(0, 9, n)]).astype(float)
        self.rows[rng.random(self.rows.shape) < 0.1] = np.nan
        self.weights = rng.integers(0, 4, n).astype(float)
        self.weights[0] = 2.0
        signal = np.nan_to_num(self.rows[:, 0]) + 0.3 * np.nan_to_num(self.rows[:, 3])
        self.target = signal + rng.normal(size=n)
        self.labels = np.digitize(self.target, [0.0, 1.5])
        self.kinds = [False, False, False, True]

    def grow(self, at=None, weights=None, **rules) -> Tree:
        at = np.arange(len(self.rows)) if at is None else at
        weights = self.weights[at] if weights is None else weights
        binned = Binner().fit(self.rows[at], weights, self.kinds).transform(self.rows[at])
        return grow_tree(binned, self.statistics(at, weights), GrowthRules(self.criterion, **rules))

    def statistics(self, at, weights):
        if self.criterion == "squared_error":
            return value_statistics(self.target[at], weights)
        return class_statistics(self.labels[at], 3, weights)


def assert_same(one: Tree, other: Tree, names=STRUCTURE) -> None:
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(seed=SEEDS, unit=st.sampled_from([1.0, 1 / 3]))
def test_the_order_of_the_rows_does_not_matter(criterion, seed, unit):
    rng = np.random.default_rng(seed)
    case = Case(rng, criterion)
    case.weights *= unit
    assert_same(case.grow(), case.grow(rng.permutation(400)), (*STRUCTURE, "gain", "weight"))


@pytest.mark.parametrize("criterion", CRITERIA)
@given(seed=SEEDS)
def test_a_weight_is_a_number_of_repetitions(criterion, seed):
    case = Case(np.random.default_rng(seed), criterion)
    repeated = np.repeat(np.arange(400), case.weights.astype(int))
    limits = {"max_leaf_nodes": 40, "min_weight_leaf": 3.0}
    by_repetition = case.grow(repeated, np.ones(repeated.size), **limits)
    assert_same(case.grow(**limits), by_repetition, (*STRUCTURE, "gain", "weight"))


@given(seed=SEEDS)
def test_counts_are_repetitions_too(seed):
    rng = np.random.default_rng(seed)
    case = Case(rng, "squared_error")
    counts = bootstrap_counts(400, 400, seed)
    binned = Binner().fit(case.rows, kinds=case.kinds).transform(case.rows)
    rules = GrowthRules("squared_error", max_depth=6)
    counted = grow_tree(binned, value_statistics(case.target), rules, counts)
    weighted = grow_tree(binned, value_statistics(case.target, counts.astype(float)), rules)
    names = [name for name in STRUCTURE if name != "value"]
    assert_same(counted, weighted, names)
    np.testing.assert_allclose(counted.value, weighted.value, rtol=1e-10, atol=1e-10)


@given(seed=SEEDS, exponent=st.integers(-30, 30))
def test_units_of_columns_and_target_do_not_matter(seed, exponent):
    case = Case(np.random.default_rng(seed), "squared_error")
    plain = case.grow(max_depth=5)
    factor = 2.0**exponent
    case.rows[:, :3] *= factor
    case.target *= factor
    scaled = case.grow(max_depth=5)
    assert_same(plain, scaled, ("feature", "left", "missing_left", "category_left"))
    np.testing.assert_array_equal(plain.threshold * factor, scaled.threshold)
    np.testing.assert_array_equal(plain.value * factor, scaled.value)


@given(seed=SEEDS)
def test_every_row_of_a_full_tree_gets_its_own_target(seed):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(np.arange(200.0))[:, None]
    target = rng.normal(size=200)
    binned = Binner().fit(rows).transform(rows)
    tree = grow_tree(binned, value_statistics(target), GrowthRules("squared_error"))
    np.testing.assert_allclose(tree.predict(rows)[:, 0], target, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(seed=SEEDS)
def test_impurity_never_rises_and_weights_add_up_from_children_to_parents(criterion, seed):
    tree = Case(np.random.default_rng(seed), criterion).grow(max_depth=7)
    inner = np.flatnonzero(tree.left != LEAF)
    left, right = tree.left[inner], tree.right_child[inner]
    np.testing.assert_allclose(tree.weight[left] + tree.weight[right], tree.weight[inner])
    samples = tree.n_node_samples
    np.testing.assert_array_equal(samples[left] + samples[right], samples[inner])
    cost = tree.impurity * tree.weight
    saved = cost[inner] - cost[left] - cost[right]
    np.testing.assert_allclose(saved, tree.gain[inner], atol=1e-9 * np.abs(cost[0]) + 1e-9)
    assert (tree.gain >= 0).all()


@given(seed=SEEDS)
def test_trees_grown_on_threads_are_those_grown_one_by_one(seed):
    rng = np.random.default_rng(seed)
    case = Case(rng, "gini")
    binned = Binner().fit(case.rows, kinds=case.kinds, n_jobs=2).transform(case.rows, n_jobs=2)
    alone = Binner().fit(case.rows, kinds=case.kinds, n_jobs=1).transform(case.rows, n_jobs=1)
    np.testing.assert_array_equal(binned.codes, alone.codes)
    np.testing.assert_array_equal(binned.rows, alone.codes.T)
    statistics = class_statistics(case.labels, 3)
    rules = GrowthRules("gini", max_features=2)

    def grow(number: int) -> Tree:
        return grow_tree(binned, statistics, rules, bootstrap_counts(400, 400, number), number)

    with ThreadPoolExecutor(3) as threads:
        together = list(threads.map(grow, range(6)))
    for number in range(6):
        assert_same(grow(number), together[number])


@given(seed=SEEDS, n=st.integers(1, 3000), n_values=st.integers(1, 3000))
def test_bins_keep_the_order_of_values_and_share_the_weight(seed, n, n_values):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, n_values, n).astype(float)
    weights = rng.integers(0, 3, n).astype(float)
    binner = Binner().fit(values[:, None], weights)
    binned = binner.transform(values[:, None])
    codes, used = binned.codes[0], weights > 0
    distinct = np.unique(values[used])
    assert binned.columns[0, 0] == min(distinct.size, 255) or distinct.size > 255
    by_value = codes[np.argsort(values, kind="stable")]
    assert (np.diff(by_value.astype(int)) >= 0).all()
    if distinct.size <= 255:
        np.testing.assert_array_equal(codes[used], np.searchsorted(distinct, values[used]))
    elif distinct.size:
        totals = np.bincount(codes[used], weights[used])
        heaviest = np.bincount(values[used].astype(int), weights[used]).max()
        assert totals.max() <= 2 * weights.sum() / 255 + 2 * heaviest


@given(seed=SEEDS)
def test_sparse_rows_and_lists_of_columns_are_binned_like_dense_rows(seed):
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((60, 4)) < 0.3, rng.normal(size=(60, 4)), 0.0)
    dense = Binner().fit(rows)
    for other in (sparse.csr_array(rows), list(rows.T), np.asfortranarray(rows)):
        same = Binner().fit(other)
        np.testing.assert_array_equal(dense.transform(rows).codes, same.transform(other).codes)


@given(st.lists(st.just(0.0) | st.floats(1e-60, 1e12), min_size=1, max_size=50))
def test_fixed_point_weights_keep_their_proportions(weights):
    integers, unit = fixed_point_weights(np.array(weights))
    total = sum(weights)
    np.testing.assert_allclose(integers * unit, weights, atol=total * 2.0**-59)
    assert ((integers > 0) == (np.array(weights) > 0)).all()
    assert int(integers.astype(object).sum()) < 2**62
