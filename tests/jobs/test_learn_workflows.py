"""Workflows of the texts: tune boosting, grow and prune a tree, verify a gradient."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.evaluate import cross_validation_estimates, k_fold
from gnomon.table import Table
from gnomon.workbench.workflows.single_method import check_gradient, grow_and_prune, tune_boosting


def classes(rng, n=300) -> Table:
    x = rng.normal(size=(n, 3))
    y = np.where(x[:, 0] + 0.5 * rng.logistic(size=n) > 0, "yes", "no")
    return Table.from_dict({f"x{j}": x[:, j].tolist() for j in range(3)} | {"y": y.tolist()})


@pytest.mark.covers("boosting-tuning-workflow")
def test_boosting_takes_the_smallest_trees_within_one_error_and_stops_early(rng):
    found = tune_boosting(classes(rng), "y", n_folds=3)
    values = np.array([each.value for each in found.figures])
    best = int(values.argmax())
    near = values >= values[best] - found.figures[best].error
    assert found.chosen == min(size for size, each in zip(found.leaves, near) if each)
    assert 1 <= found.rounds < 1000
    assert found.columns[0] == "x0"
    assert found.model.max_leaf_nodes == found.chosen


@pytest.mark.covers("tree-grow-prune-workflow")
def test_pruning_leaves_a_smaller_tree_whose_score_is_that_of_plain_folds(rng):
    table = classes(rng)
    found = grow_and_prune(table, "y", n_folds=5)
    assert found.pruned_leaves < found.grown_leaves
    y = np.asarray(table.column("y").to_pylist(), dtype=object)
    splits = k_fold(len(y), 5, stratify=y, random_state=0)
    plain = cross_validation_estimates(found.model, table.drop("y"), y, cv=splits, random_state=0)
    assert found.pruned.value == pytest.approx(plain.mean)


@pytest.mark.covers("tree-grow-prune-workflow")
def test_categories_of_many_levels_and_missing_cells_are_cautioned(rng):
    table = classes(rng, 200)
    table = table.with_column("town", [f"t{i % 40}" for i in range(200)], kind="category")
    gaps = [None if i % 5 == 0 else float(i) for i in range(200)]
    found = grow_and_prune(table.with_column("gaps", gaps), "y", n_folds=3)
    assert any("'town' has 40 levels" in each for each in found.cautions)
    assert any("'gaps' is missing in 40 rows" in each for each in found.cautions)


@pytest.mark.covers("gradient-verification")
def test_right_gradients_pass_and_any_wrong_entry_is_found(rng):
    rows, y = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], 30)

    def loss(w):
        return np.logaddexp(0, -y * (rows @ w)).sum()

    def slope(w):
        return -(rows.T @ (y / (1 + np.exp(y * (rows @ w)))))

    at = rng.normal(size=4)
    assert check_gradient(loss, slope, at).right
    for wrong in range(4):
        found = check_gradient(loss, lambda w, j=wrong: slope(w) + 0.01 * np.eye(4)[j], at)
        assert not found.right
        assert found.errors.argmax() == wrong


def test_a_gradient_of_another_shape_is_refused():
    with pytest.raises(DataError, match="shape"):
        check_gradient(lambda x: x @ x, lambda x: x[:1], [1.0, 2.0])
