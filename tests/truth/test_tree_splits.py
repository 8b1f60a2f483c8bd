"""Splits of flexible trees against enumeration, and the rules for missing cells by hand."""

import itertools

import numpy as np
import pytest

from gnomon.table import Table
from gnomon.trees import (
    FlexibleTreeClassifier,
    FlexibleTreeRegressor,
    GaussianTreeClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from gnomon.trees.impurity import CostGini, Entropy, Gini, Misclassification, class_impurity
from gnomon.trees.oblique_splits import label_groups
from gnomon.trees.splits import all_divisions

IMPURITIES = {
    "gini": lambda p: 1 - (p**2).sum(),
    "entropy": lambda p: -(p[p > 0] * np.log2(p[p > 0])).sum(),
    "misclassification": lambda p: 1 - p.max(),
}


def weighted(impurity, y, w, n_classes):
    counts = np.bincount(y, w, n_classes)
    return counts.sum() * impurity(counts / counts.sum()) if counts.sum() else 0.0


def best_saving(rows, y, w, impurity, n_classes=3):
    """The best saving of any threshold, by trying all."""
    whole = weighted(impurity, y, w, n_classes)
    savings = []
    for column in rows.T:
        for t in np.unique(column)[:-1]:
            low = column <= t
            savings.append(
                whole
                - weighted(impurity, y[low], w[low], n_classes)
                - weighted(impurity, y[~low], w[~low], n_classes)
            )
    return max(savings)


def levels_table(codes, y):
    return Table.from_dict({"level": [f"v{code}" for code in codes], "y": [str(k) for k in y]})


@pytest.mark.covers("split-threshold-search", "split-gini", "split-entropy-gain")
@pytest.mark.covers("split-misclassification", "classification-tree")
@pytest.mark.parametrize("criterion", list(IMPURITIES))
def test_the_first_split_saves_as_much_as_the_best_of_all(criterion, rng):
    for _ in range(10):
        rows = rng.integers(0, 8, (40, 3)).astype(float)
        y, w = rng.integers(0, 3, 40), rng.integers(1, 4, 40).astype(float)
        model = FlexibleTreeClassifier(criterion, max_depth=1).fit(rows, y, sample_weight=w)
        expected = best_saving(rows, y, w, IMPURITIES[criterion])
        assert model.tree_.gain[0] == pytest.approx(expected)


@pytest.mark.covers("split-laplace-entropy")
@pytest.mark.parametrize("smoothing", [0.0, 0.3, 1.0, 25.0])
def test_smoothed_entropy_chooses_the_best_smoothed_split(smoothing, rng):
    def smoothed(counts):
        p = (counts + smoothing / 3) / (counts.sum() + smoothing)
        p = p[p > 0]
        return -counts.sum() * (p * np.log2(p)).sum()

    rows, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    model = FlexibleTreeClassifier("entropy", smoothing=smoothing, max_depth=1).fit(rows, y)
    whole = smoothed(np.bincount(y, minlength=3).astype(float))
    savings = []
    for column in rows.T:
        for t in np.sort(column)[:-1]:
            parts = [np.bincount(y[side], minlength=3) for side in (column <= t, column > t)]
            savings.append(whole - sum(smoothed(part.astype(float)) for part in parts))
    assert model.tree_.gain[0] == pytest.approx(max(savings))


@pytest.mark.covers("tree-loss-matrix")
def test_costs_of_three_classes_enter_the_gini_index(rng):
    costs = rng.uniform(0, 5, (3, 3))
    np.fill_diagonal(costs, 0)
    rows, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    model = FlexibleTreeClassifier(loss_matrix=costs, max_depth=1).fit(rows, y)
    expected = best_saving(rows, y, np.ones(40), lambda p: p @ costs @ p)
    assert model.tree_.gain[0] == pytest.approx(expected)


@pytest.mark.covers("tree-loss-matrix")
def test_two_classes_costs_leave_the_gini_index_as_it_is_so_that_classes_are_weighted(rng):
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])
    counts = rng.uniform(size=(5, 2))
    np.testing.assert_allclose(CostGini(costs).total(counts), 5.5 * Gini(2).total(counts))
    rows, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    model = FlexibleTreeClassifier(loss_matrix=costs, max_depth=3).fit(rows, y)
    factors = {0: 1.0, 1: 10.0}
    weighted_tree = FlexibleTreeClassifier(class_weight=factors, max_depth=3).fit(rows, y)
    np.testing.assert_array_equal(model.apply(rows), weighted_tree.apply(rows))
    np.testing.assert_allclose(model.predict_proba(rows), _shares_by_leaf(model, rows, y))


def _shares_by_leaf(model, rows, y):
    leaves = model.apply(rows)
    shares = {leaf: np.bincount(y[leaves == leaf], minlength=2) for leaf in np.unique(leaves)}
    return np.array([shares[leaf] / shares[leaf].sum() for leaf in leaves])


@pytest.mark.covers("tree-loss-matrix")
def test_the_class_of_least_expected_cost_is_predicted(rng):
    costs = np.array([[0.0, 1.0, 2.0], [30.0, 0.0, 1.0], [3.0, 4.0, 0.0]])
    rows, y = rng.normal(size=(80, 2)), rng.integers(0, 3, 80)
    model = FlexibleTreeClassifier(loss_matrix=costs, max_depth=2).fit(rows, y)
    expected = (model.predict_proba(rows) @ costs).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(rows), expected)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1]], "one row per true class"),
        ([[0, -1], [1, 0]], "zero or more"),
        ([[1, 1], [1, 0]], "diagonal"),
        ([[0, 0], [1, 0]], "costs nothing"),
    ],
)
def test_costs_that_mean_nothing_are_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        FlexibleTreeClassifier(loss_matrix=matrix).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.covers("split-entropy-gain")
def test_gain_ratio_keeps_off_a_column_with_a_value_per_row(rng):
    n = 40
    useful = rng.permutation(n) % 2
    y = np.where((np.arange(n) >= 4) & (np.arange(n) < 12), 1 - useful, useful)
    table = Table.from_dict(
        {
            "card": [f"no {i % (n - 4)}" for i in range(n)],
            "useful": [f"u{k}" for k in useful],
            "y": [str(k) for k in y],
        }
    )
    schema = table.schema.set("card", kind="category")
    table = table.with_schema(schema)
    plain = FlexibleTreeClassifier("entropy", categories="multiway", max_depth=1).fit(table, "y")
    ratio = FlexibleTreeClassifier("gain_ratio", categories="multiway", max_depth=1).fit(table, "y")
    names = plain.encoder_.columns.names
    assert names[plain.tree_.questions.feature[0]] == "card"
    assert names[ratio.tree_.questions.feature[0]] == "useful"


@pytest.mark.covers("split-entropy-gain")
def test_gain_ratio_is_the_saving_over_the_entropy_of_the_split(rng):
    rows, y = rng.normal(size=(50, 1)), rng.integers(0, 2, 50)
    from gnomon.trees.splits import Candidate, gain_ratio

    tree = FlexibleTreeClassifier("gain_ratio", max_depth=1).fit(rows, y).tree_
    sides = tree.weight[1:]
    share = sides / 50
    expected = tree.gain[0] / 50 / -(share * np.log2(share)).sum()
    assert gain_ratio(Candidate(None, tree.gain[0], sides), 50.0) == pytest.approx(expected)


@pytest.mark.covers("split-categorical-ordering")
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_ordering_finds_the_best_of_all_divisions_for_two_classes(criterion, rng):
    for _ in range(100):
        q = int(rng.integers(3, 8))
        codes, y = rng.integers(0, q, 60), rng.integers(0, 2, 60)
        table = levels_table(codes, y)
        ordered = FlexibleTreeClassifier(criterion, max_depth=1).fit(table, "y")
        tried = FlexibleTreeClassifier(criterion, categories="exhaustive", max_depth=1)
        tried.fit(table, "y")
        assert ordered.tree_.gain[0] == pytest.approx(tried.tree_.gain[0], abs=1e-9)


@pytest.mark.covers("split-categorical-ordering")
def test_ordering_by_the_mean_finds_the_best_division_for_numbers(rng):
    for _ in range(50):
        codes, y = rng.integers(0, 6, 40), rng.normal(size=40)
        table = Table.from_dict({"level": [f"v{c}" for c in codes]})
        gains = [
            FlexibleTreeRegressor(categories=how, max_depth=1, min_samples_leaf=1)
            .fit(table, y)
            .tree_.gain[0]
            for how in ("ordering", "exhaustive")
        ]
        assert gains[0] == pytest.approx(gains[1])


@pytest.mark.covers("split-categorical-ordering")
@pytest.mark.parametrize("q", [2, 3, 4, 5, 10])
def test_q_levels_have_2_to_the_q_minus_1_less_1_divisions(q):
    divisions = all_divisions(q)
    assert len(divisions) == 2 ** (q - 1) - 1
    both = {tuple(row) for row in divisions} | {tuple(~row) for row in divisions}
    assert both == set(itertools.product([False, True], repeat=q)) - {(True,) * q, (False,) * q}


def test_too_many_levels_for_all_divisions_are_refused_with_a_remedy(rng):
    table = levels_table(np.arange(60) % 20, np.arange(60) % 3)
    with pytest.raises(ValueError, match='categories="ordering"'):
        FlexibleTreeClassifier(categories="exhaustive").fit(table, "y")


@pytest.mark.covers("split-categorical-random-subset")
def test_coin_flips_never_beat_the_best_division_and_many_tries_reach_it(rng):
    table = levels_table(rng.integers(0, 4, 80), rng.integers(0, 2, 80))
    best = (
        FlexibleTreeClassifier(categories="exhaustive", max_depth=1).fit(table, "y").tree_.gain[0]
    )
    for tries in (1, 3, 200):
        model = FlexibleTreeClassifier(
            categories="coin_flips", n_tries=tries, max_depth=1, random_state=int(rng.integers(99))
        ).fit(table, "y")
        assert model.tree_.gain[0] <= best + 1e-9
    assert model.tree_.gain[0] == pytest.approx(best)


@pytest.mark.covers("split-random")
def test_a_random_pivot_is_the_value_of_a_row_and_parts_strictly_below_from_the_rest(rng):
    rows, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    seen = set()
    for seed in range(40):
        model = FlexibleTreeClassifier(split="random", max_depth=1, random_state=seed)
        questions = model.fit(rows, y).tree_.questions
        j, pivot = int(questions.feature[0]), questions.threshold[0]
        seen.add(j)
        assert pivot in rows[:, j]
        assert pivot > rows[:, j].min()
        low = rows[:, j] < pivot
        assert model.tree_.weight[1] == low.sum()
        leaves = model.apply(rows)
        np.testing.assert_array_equal(leaves == 1, low)
    assert seen == {0, 1, 2}


@pytest.mark.covers("split-random")
def test_pivots_are_drawn_as_often_as_their_values_occur():
    rows = np.array([[0.0]] + [[1.0]] * 9 + [[2.0]])
    y = np.arange(11) % 2
    pivots = [
        FlexibleTreeClassifier(split="random", max_depth=1, random_state=seed)
        .fit(rows, y)
        .tree_.questions.threshold[0]
        for seed in range(300)
    ]
    assert 0.8 < np.mean(np.array(pivots) == 1.0) < 0.97


@pytest.mark.covers("split-random", "classification-tree")
def test_a_full_random_tree_has_no_training_error(rng):
    rows, y = rng.normal(size=(100, 4)), rng.integers(0, 3, 100)
    model = FlexibleTreeClassifier(split="random", random_state=int(rng.integers(99)))
    assert model.fit(rows, y).score(rows, y) == 1.0


@pytest.mark.covers("split-threshold-search")
def test_sampled_thresholds_are_midpoints_of_sampled_values_and_save_no_more_than_all(rng):
    rows, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    best = FlexibleTreeClassifier(max_depth=1).fit(rows, y).tree_.gain[0]
    for tries in (1, 5, 250):
        model = FlexibleTreeClassifier(
            max_thresholds=tries, max_depth=1, random_state=int(rng.integers(99))
        ).fit(rows, y)
        questions = model.tree_.questions
        assert model.tree_.gain[0] <= best + 1e-9
        column = rows[:, questions.feature[0]]
        halves = (column[:, None] + column) / 2
        assert np.isclose(halves, questions.threshold[0], rtol=0, atol=1e-12).any()


def test_a_pool_no_larger_than_the_sample_is_searched_in_full(rng):
    rows, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    sampled = FlexibleTreeClassifier(max_thresholds=29, max_depth=1).fit(rows, y)
    assert sampled.tree_.gain[0] == FlexibleTreeClassifier(max_depth=1).fit(rows, y).tree_.gain[0]


@pytest.mark.covers("tree-fractional-missing")
def test_rows_with_missing_cells_are_divided_in_fit_by_the_shares_of_the_others(rng):
    rows = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0], [np.nan]])
    y = np.array([0, 0, 1, 1, 1, 1, 0])
    tree = FlexibleTreeClassifier(max_depth=1).fit(rows, y).tree_
    np.testing.assert_allclose(tree.share, [1, 1 / 3, 2 / 3])
    np.testing.assert_allclose(tree.weight, [7, 2 + 1 / 3, 4 + 2 / 3])
    np.testing.assert_allclose(tree.value[2], [2 / 3 / (4 + 2 / 3), 4 / (4 + 2 / 3)])
    known = FlexibleTreeClassifier(max_depth=1).fit(rows[:6], y[:6]).tree_
    assert tree.gain[0] == pytest.approx(known.gain[0])


@pytest.mark.covers("tree-fractional-missing")
def test_a_missing_cell_at_prediction_averages_the_leaves_below(rng):
    rows, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    model = FlexibleTreeClassifier(max_depth=4).fit(rows, y)
    tree = model.tree_

    def by_hand(node, row):
        if tree.n_children[node] == 0:
            return tree.value[node]
        left = tree.first_child[node]
        value = row[tree.questions.feature[node]]
        if np.isnan(value):
            return sum(tree.share[left + b] * by_hand(left + b, row) for b in (0, 1))
        return by_hand(left + (value > tree.questions.threshold[node]), row)

    new = rng.normal(size=(20, 3))
    new[rng.random((20, 3)) < 0.5] = np.nan
    np.testing.assert_allclose(model.predict_proba(new), [by_hand(0, row) for row in new])


@pytest.mark.covers("tree-surrogate-splits")
def test_surrogates_are_the_best_of_all_thresholds_and_ranked_by_agreement(rng):
    n = 80
    rows = rng.normal(size=(n, 4))
    rows[:, 1] = rows[:, 0] + 0.3 * rng.normal(size=n)
    rows[:, 2] = -rows[:, 0] + 1.0 * rng.normal(size=n)
    y = (rows[:, 0] > 0).astype(int)
    tree = FlexibleTreeClassifier(missing="surrogate", max_depth=1).fit(rows, y).tree_
    assert tree.questions.feature[0] == 0
    side = rows[:, 0] > tree.questions.threshold[0]

    def best_agreement(column):
        agreements = []
        for t in np.sort(column)[:-1]:
            high = column > t
            agreements += [np.mean(high == side), np.mean(high != side)]
        return max(agreements)

    majority = max(side.mean(), 1 - side.mean())
    expected = sorted(
        (a for a in (best_agreement(rows[:, j]) for j in (1, 2, 3)) if a > majority), reverse=True
    )
    np.testing.assert_allclose(tree.agreement, expected)
    assert tree.surrogates.feature[0] == 1


@pytest.mark.covers("tree-surrogate-splits")
def test_a_missing_cell_takes_the_first_surrogate_that_can_answer_then_the_heavier_branch(rng):
    n = 90
    x = np.arange(n, dtype=float)
    rows = np.column_stack([x, x + rng.normal(scale=0.1, size=n), -x])
    y = (x >= 30).astype(int)
    model = FlexibleTreeClassifier(missing="surrogate", max_surrogates=2).fit(rows, y)
    gone = np.nan
    new = [[gone, 5.0, gone], [gone, gone, -5.0], [gone, gone, -60.0], [gone, gone, gone]]
    assert model.predict(new).tolist() == [0, 0, 1, 1]


@pytest.mark.covers("tree-surrogate-splits")
def test_surrogates_send_missing_training_rows_too(rng):
    x = rng.permutation(np.repeat([0.0, 1.0], 30))
    rows = np.column_stack([x, 3 - 2 * x])
    rows[:5, 0] = np.nan
    y = x.astype(int)
    model = FlexibleTreeClassifier(missing="surrogate", max_depth=1).fit(rows, y)
    assert model.score(rows, y) == 1.0
    np.testing.assert_allclose(model.tree_.impurity[1:], 0)


@pytest.mark.covers("missing-as-category")
def test_missing_as_a_value_is_split_on_where_it_tells_the_classes_apart(rng):
    rows = rng.normal(size=(60, 2))
    gone = rng.random(60) < 0.4
    rows[gone, 0] = np.nan
    y = gone.astype(int)
    model = FlexibleTreeClassifier(missing="category").fit(rows, y)
    assert model.get_n_leaves() == 2
    assert model.score(rows, y) == 1.0
    categories = Table.from_dict(
        {"c": [None if g else "ab"[i % 2] for i, g in enumerate(gone)], "y": [str(k) for k in y]}
    )
    for how in ("ordering", "multiway"):
        by_level = FlexibleTreeClassifier(missing="category", categories=how).fit(categories, "y")
        assert by_level.score(categories, np.array([str(k) for k in y])) == 1.0


@pytest.mark.covers("missing-as-category")
def test_missing_numbers_go_to_the_side_where_they_save_most(rng):
    for _ in range(20):
        rows = rng.integers(0, 5, (30, 1)).astype(float)
        rows[rng.random(30) < 0.3] = np.nan
        y = rng.integers(0, 2, 30)
        tree = FlexibleTreeClassifier(missing="category", max_depth=1).fit(rows, y).tree_
        column, ones = rows[:, 0], np.ones(30)
        whole = weighted(IMPURITIES["gini"], y, ones, 2)
        gone = np.isnan(column)
        sides = [gone]
        for t in np.unique(column[~gone])[:-1]:
            sides += [column <= t, (column <= t) | gone]
        savings = [
            whole
            - weighted(IMPURITIES["gini"], y[s], ones[s], 2)
            - weighted(IMPURITIES["gini"], y[~s], ones[~s], 2)
            for s in sides
            if 0 < s.sum() < 30
        ]
        assert tree.gain[0] == pytest.approx(max(savings))


@pytest.mark.parametrize("missing", ["fractional", "surrogate", "category"])
def test_a_column_without_any_value_does_not_stop_the_tree(missing, rng):
    rows = np.column_stack([np.full(40, np.nan), rng.normal(size=40)])
    y = (rows[:, 1] > 0).astype(int)
    for split in ("best", "random"):
        model = FlexibleTreeClassifier(missing=missing, split=split, random_state=0)
        assert model.fit(rows, y).score(rows, y) == 1.0


@pytest.mark.covers("regression-tree", "classification-tree")
def test_a_tree_on_label_indicators_splits_by_the_summed_gini_index(rng):
    rows, labels = rng.normal(size=(50, 2)), rng.integers(0, 2, (50, 3)).astype(float)
    tree = FlexibleTreeRegressor(max_depth=1, min_samples_leaf=1).fit(rows, labels).tree_
    gini = sum(
        np.array([_two_class_gini(column <= t, labels) for t in np.sort(column)[:-1]]).max()
        for column in [rows[:, tree.questions.feature[0]]]
    )
    assert 2 * tree.gain[0] == pytest.approx(gini)


def _two_class_gini(low, labels):
    def total(part):
        p = part.mean(axis=0)
        return len(part) * (2 * p * (1 - p)).sum()

    return total(labels) - total(labels[low]) - total(labels[~low])


@pytest.mark.covers("split-oblique")
def test_label_groups_of_two_classes_are_the_classes_and_of_numbers_the_halves(rng):
    y = rng.integers(0, 2, 30)
    y[:2] = [0, 1]
    np.testing.assert_array_equal(label_groups(y, np.ones(30)), y == 1)
    numbers = rng.normal(size=30)
    np.testing.assert_array_equal(label_groups(numbers, np.ones(30)), numbers >= numbers.mean())


@pytest.mark.covers("split-oblique")
def test_label_groups_of_many_classes_follow_the_first_principal_component(rng):
    y = np.repeat([0, 1, 2, 3], [40, 30, 5, 3])
    units = np.eye(4)[y]
    centered = units - units.mean(axis=0)
    first = np.linalg.svd(centered, full_matrices=False)[2][0]
    expected = centered @ first >= 0
    found = label_groups(y, np.ones(len(y)))
    assert (found == expected).all() or (found == ~expected).all()


@pytest.mark.covers("split-oblique")
def test_an_optimized_plane_saves_at_least_as_much_as_any_single_column(rng):
    for _ in range(5):
        rows, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
        oblique = ObliqueTreeClassifier("optimised", max_depth=1, random_state=0).fit(rows, y)
        axis = FlexibleTreeClassifier(max_depth=1).fit(rows, y)
        assert oblique.tree_.gain[0] >= axis.tree_.gain[0] - 1e-9


@pytest.mark.covers("split-oblique")
@pytest.mark.parametrize("directions", ["optimised", "means"])
def test_an_oblique_step_is_found_with_one_plane(directions, rng):
    rows = rng.normal(size=(300, 2))
    rows = rows[np.abs(rows @ [1.0, 2.0]) > 0.7]
    y = np.where(rows @ [1.0, 2.0] > 0, 5.0, -5.0)
    model = ObliqueTreeRegressor(directions, max_depth=3).fit(rows, y)
    assert model.score(rows, y) > 0.95
    plain = FlexibleTreeRegressor(max_depth=3).fit(rows, y)
    assert model.score(rows, y) >= plain.score(rows, y)


@pytest.mark.covers("split-gaussian")
def test_the_first_gaussian_division_is_quadratic_discrimination(rng):
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    n = 150
    rows = np.concatenate(
        [rng.normal(size=(n, 2)), rng.normal(size=(2 * n, 2)) @ [[3, 1], [0, 0.5]] + 1.0]
    )
    y = np.repeat([0, 1], [n, 2 * n])
    model = GaussianTreeClassifier(shrinkage=0, max_depth=1).fit(rows, y)
    branch = model.apply(rows) - 1
    peer = QuadraticDiscriminantAnalysis().fit(rows, y)
    assert np.mean(branch == peer.predict(rows)) > 0.995


@pytest.mark.covers("split-gaussian")
def test_a_class_cloud_is_by_distance_the_nearest_in_its_own_units(rng):
    rows, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    rows[y == 1] = rows[y == 1] * 2 + 1
    model = GaussianTreeClassifier("distance", shrinkage=0, max_depth=1).fit(rows, y)
    scores = []
    for k in (0, 1):
        mean, cov = rows[y == k].mean(axis=0), np.cov(rows[y == k].T)
        scores.append([-(r - mean) @ np.linalg.solve(cov, r - mean) for r in rows])
    expected = np.argmax(scores, axis=0)
    if model.get_n_leaves() == 1:
        assert len(set(expected)) == 1
    else:
        np.testing.assert_array_equal(model.apply(rows) - 1, expected)


def test_impurities_of_a_factored_class_keep_plain_leaf_shares():
    impurity = class_impurity("entropy", 2, 0.0, np.array([[0.0, 1.0], [4.0, 0.0]]))
    sums = np.array([3.0, 1.0])
    np.testing.assert_allclose(impurity.value(sums), [0.75, 0.25])
    assert impurity.total(sums) == pytest.approx(Entropy(2).total(np.array([3.0, 4.0])))
    assert Misclassification(2).total(sums) == 1.0


@pytest.mark.covers("tree-pre-pruning")
def test_limits_of_growth_are_kept(rng):
    rows, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    weights = rng.integers(1, 3, 120)
    tree = FlexibleTreeClassifier(max_depth=3).fit(rows, y).tree_
    assert tree.max_depth <= 3
    tree = FlexibleTreeClassifier(min_samples_leaf=7).fit(rows, y, sample_weight=weights).tree_
    assert tree.count[tree.n_children == 0].min() >= 7
    tree = FlexibleTreeClassifier(min_samples_split=30).fit(rows, y).tree_
    assert tree.count[tree.n_children > 0].min() >= 30
    tree = FlexibleTreeClassifier(min_impurity_decrease=0.01).fit(rows, y).tree_
    assert (tree.gain[tree.n_children > 0] >= 0.01 * 120).all()
