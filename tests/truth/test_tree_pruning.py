"""Pruning against enumeration of all pruned trees, and the cross-validated choice by hand."""

import numpy as np
import pytest

from gnomon.trees import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    FlexibleTreeClassifier,
    PrunedTreeClassifier,
    PrunedTreeRegressor,
    cost_complexity_path,
    prune,
    reduced_error_prune,
)
from gnomon.trees.distinct import CountedRows
from gnomon.trees.pruned_tree import losses_of_sizes
from gnomon.trees.pruning import (
    Family,
    collapsed,
    grown_tree,
    held_out,
    held_out_errors,
    node_risks,
)


def prunings(tree, risks):
    """Leaves, risk and collapsed nodes of every pruned tree, by recursion."""
    family = Family.of(tree)

    def below(node):
        alone = [(1, float(risks[node]), frozenset([node]))]
        if family.n_children[node] == 0:
            return [(1, float(risks[node]), frozenset())]
        made = [(0, 0.0, frozenset())]
        for child in range(family.children(node).start, family.children(node).stop):
            made = [
                (n + m, r + s, stop | more) for n, r, stop in made for m, s, more in below(child)
            ]
        return alone + made

    return below(0)


def small_problem(rng, n=60):
    rows = rng.normal(size=(n, 3))
    y = (rows[:, 0] * rows[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)
    return rows, y


@pytest.mark.covers("tree-cost-complexity-pruning")
@pytest.mark.parametrize("risk", ["impurity", "misclassification"])
@pytest.mark.parametrize("kind", ["fast", "multiway"])
def test_at_every_price_the_pruned_tree_is_the_smallest_of_least_cost(risk, kind, rng):
    rows, y = small_problem(rng)
    if kind == "fast":
        model = DecisionTreeClassifier(max_depth=3).fit(rows, y)
    else:
        from gnomon.table import Table

        columns = {f"c{j}": [f"v{v}" for v in rng.integers(0, 3, 60)] for j in range(3)}
        model = FlexibleTreeClassifier(categories="multiway", max_depth=2)
        model.fit(Table.from_dict(columns), y)
    risks = node_risks(grown_tree(model), risk) / len(y)
    every = prunings(grown_tree(model), risks)
    path = cost_complexity_path(model, risk=risk)
    between = (path.alphas[:-1] + path.alphas[1:]) / 2
    for alpha in [*path.alphas, *between, path.alphas[-1] + 1]:
        least = min(r + alpha * n for n, r, _ in every)
        smallest = min(n for n, r, _ in every if r + alpha * n <= least + 1e-9)
        tree = collapsed(grown_tree(model), path.collapse <= alpha)
        leaves = Family.of(tree).n_children == 0
        found = node_risks(tree, risk)[leaves].sum() / len(y)
        assert found + alpha * leaves.sum() == pytest.approx(least)
        assert leaves.sum() == smallest


@pytest.mark.covers("tree-cost-complexity-pruning")
def test_the_trees_of_the_path_are_nested_and_end_with_the_root(rng):
    rows, y = small_problem(rng, 200)
    model = DecisionTreeClassifier().fit(rows, y)
    path = cost_complexity_path(model)
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert (np.diff(path.risks) > 0).all()
    assert path.n_leaves[-1] == 1
    family = Family.of(grown_tree(model))
    inner = family.inner[family.inner > 0]
    assert (path.collapse[family.parent[inner]] >= path.collapse[inner]).all()


@pytest.mark.covers("tree-cost-complexity-pruning")
def test_sums_and_means_price_a_leaf_in_their_own_units(rng):
    rows, y = small_problem(rng)
    model = DecisionTreeClassifier().fit(rows, y)
    by_sum = cost_complexity_path(model, scale="sum")
    by_mean = cost_complexity_path(model, scale="mean")
    np.testing.assert_allclose(by_sum.alphas, 60 * by_mean.alphas)
    alpha = float(by_mean.alphas[len(by_mean) // 2])
    one = prune(model, alpha * (1 + 1e-6))
    other = prune(model, 60 * alpha * (1 + 1e-6), scale="sum")
    np.testing.assert_array_equal(one.apply(rows), other.apply(rows))


@pytest.mark.covers("tree-cost-complexity-pruning")
def test_the_parameter_prunes_as_the_function_does_and_leaves_the_grown_model_alone(rng):
    rows, y = small_problem(rng, 150)
    for cls in (DecisionTreeClassifier, FlexibleTreeClassifier):
        grown = cls(random_state=0).fit(rows, y)
        n_leaves = grown.get_n_leaves()
        pruned = prune(grown, 0.01)
        assert grown.get_n_leaves() == n_leaves
        by_parameter = cls(ccp_alpha=0.01, random_state=0).fit(rows, y)
        np.testing.assert_array_equal(by_parameter.predict_proba(rows), pruned.predict_proba(rows))
        assert pruned.feature_importances_.sum() == pytest.approx(1)


def test_a_regression_tree_has_no_error_rate_to_prune_by(rng):
    model = DecisionTreeRegressor().fit(rng.normal(size=(20, 2)), rng.normal(size=20))
    with pytest.raises(ValueError, match="classification"):
        cost_complexity_path(model, risk="misclassification")
    with pytest.raises(ValueError, match="scale"):
        cost_complexity_path(model, scale="median")


@pytest.mark.covers("tree-reduced-error-pruning")
def test_reduced_error_pruning_is_the_best_of_all_prunings_on_the_held_out_rows(rng):
    rows, y = small_problem(rng)
    held_rows, held_y = small_problem(rng, 40)
    model = DecisionTreeClassifier(max_depth=4).fit(rows, y)
    errors = held_out_errors(grown_tree(model), held_out(model, held_rows, held_y, None), True)
    best = min(r for _, r, _ in prunings(grown_tree(model), errors))
    smallest = min(n for n, r, _ in prunings(grown_tree(model), errors) if r == best)
    pruned = reduced_error_prune(model, held_rows, held_y)
    assert np.sum(pruned.predict(held_rows) != held_y) == best
    assert pruned.get_n_leaves() == smallest
    kept = reduced_error_prune(model, held_rows, held_y, ties="keep")
    assert np.sum(kept.predict(held_rows) != held_y) == best
    assert kept.get_n_leaves() >= smallest


@pytest.mark.covers("tree-reduced-error-pruning")
def test_reduced_error_pruning_never_lowers_held_out_accuracy(rng):
    for _ in range(10):
        rows, y = small_problem(rng, 100)
        held_rows, held_y = small_problem(rng, 50)
        for model in (DecisionTreeClassifier(), FlexibleTreeClassifier()):
            model.fit(rows, y)
            for ties in ("prune", "keep"):
                pruned = reduced_error_prune(model, held_rows, held_y, ties=ties)
                assert pruned.score(held_rows, held_y) >= model.score(held_rows, held_y)


@pytest.mark.covers("tree-reduced-error-pruning")
def test_numbers_are_pruned_by_squared_error_and_named_targets_are_found(rng):
    import pandas as pd

    rows = rng.normal(size=(80, 2))
    y = rows[:, 0] + rng.normal(size=80)
    frame = pd.DataFrame(rows, columns=["a", "b"]).assign(y=y)
    model = DecisionTreeRegressor().fit(frame[:40], "y")
    pruned = reduced_error_prune(model, frame[40:], "y")
    before, after = (((m.predict(frame[40:]) - y[40:]) ** 2).sum() for m in (model, pruned))
    assert after <= before
    assert pruned.get_n_leaves() < model.get_n_leaves()


@pytest.mark.covers("tree-cost-complexity-pruning")
@pytest.mark.parametrize("classes", [True, False])
def test_losses_of_all_sizes_at_once_are_those_of_each_pruned_tree(classes, rng):
    rows, y = small_problem(rng, 80)
    y = y if classes else y + rng.normal(size=80)
    cls = DecisionTreeClassifier if classes else DecisionTreeRegressor
    model = cls().fit(rows, y)
    held, held_y = small_problem(rng, 30)
    weights = rng.integers(1, 4, 30).astype(float)
    path = cost_complexity_path(model)
    prices = np.concatenate([[0.0], np.sqrt(path.alphas[1:] * path.alphas[:-1]), [path.alphas[-1]]])
    sums = losses_of_sizes(
        grown_tree(model),
        path.collapse,
        CountedRows(held, held_y, weights, weights),
        prices,
        classes,
    )
    for k, price in enumerate(prices):
        answers = collapsed(grown_tree(model), path.collapse <= price).predict(held)
        if classes:
            losses = (answers.argmax(axis=1) != held_y).astype(float)
        else:
            losses = (answers[:, 0] - held_y) ** 2
        assert sums[0, k] == pytest.approx(weights @ losses)
        assert sums[1, k] == pytest.approx(weights @ losses**2)


@pytest.mark.covers("tree-cost-complexity-pruning")
def test_the_chosen_price_is_of_least_risk_or_the_largest_within_one_standard_error(rng):
    rows, y = small_problem(rng, 150)
    seed = int(rng.integers(1000))
    least = PrunedTreeClassifier(rule="least_error", random_state=seed).fit(rows, y)
    careful = PrunedTreeClassifier(random_state=seed).fit(rows, y)
    np.testing.assert_array_equal(least.cv_risk_, careful.cv_risk_)
    alphas, risk, error = least.pruning_path_.alphas, least.cv_risk_, least.cv_standard_error_
    assert risk[alphas == least.alpha_] == risk.min()
    bound = risk.min() + error[np.flatnonzero(risk == risk.min())[-1]]
    assert careful.alpha_ == alphas[np.flatnonzero(risk <= bound)[-1]]
    assert careful.get_n_leaves() <= least.get_n_leaves()
    np.testing.assert_allclose(error, np.sqrt(risk * (1 - risk) / 150))


@pytest.mark.covers("tree-cost-complexity-pruning", "tree-reduced-error-pruning")
@pytest.mark.parametrize("rule", ["one_standard_error", "least_error", "reduced_error"])
def test_a_step_in_noise_is_found_and_nothing_else_by_the_careful_rule(rule, rng):
    rows = rng.uniform(size=(400, 3))
    y = 10.0 * (rows[:, 1] > 0.5) + rng.normal(size=400)
    model = PrunedTreeRegressor(rule=rule, random_state=int(rng.integers(99))).fit(rows, y)
    assert grown_tree(model).feature[0] == 1
    assert grown_tree(model).threshold[0] == pytest.approx(0.5, abs=0.05)
    grown = DecisionTreeRegressor(min_samples_leaf=5).fit(rows, y).get_n_leaves()
    assert model.get_n_leaves() < grown / 2
    if rule == "one_standard_error":
        assert model.get_n_leaves() <= 4


def test_equal_rows_share_a_fold(rng):
    from gnomon.contract.data import Columns, Data
    from gnomon.engine.sums import ArraySource
    from gnomon.trees.distinct import counted_rows, folds_of_distinct_rows

    rows = rng.integers(0, 3, (50, 2)).astype(float)
    y = rng.integers(0, 2, 50)
    sample = counted_rows(Data(ArraySource(rows, y), Columns.of_numbers(2)))
    assert sample.counts.sum() == 50
    whole = np.column_stack([sample.rows, sample.y])
    assert len(np.unique(whole, axis=0)) == len(whole)
    folds = folds_of_distinct_rows(sample, 4, rng, sample.y)
    assert set(folds) == set(range(min(4, sample.n_rows)))
