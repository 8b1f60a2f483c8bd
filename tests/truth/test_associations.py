"""Associations of columns against brute force and SciPy, and their behaviour under chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from gnomon.evaluate import chi2_independence, correlation_ratio
from gnomon.table import Table
from gnomon.workbench.analysis.associations import (
    MOST_RANKED,
    Standard,
    associations,
    associations_with,
    cramers_v,
    ranks,
    ratio_of_groups,
)
from gnomon.workbench.look.missing_pattern import missing_pattern
from gnomon.workbench.look.overview import which_predicts_which


def with_holes(rng, values, share=0.2):
    values = np.array(values, dtype=float)
    values[rng.random(len(values)) < share] = np.nan
    return values


@pytest.mark.covers("data-profile")
def test_pearson_is_scipys_on_the_rows_where_both_are_known(rng):
    columns = {name: with_holes(rng, rng.normal(size=80) * 10.0**k) for k, name in enumerate("abc")}
    columns["b"] += 5 * np.nan_to_num(columns["a"])
    found = associations(columns)
    for first, second in (("a", "b"), ("a", "c"), ("b", "c")):
        pair = found.between(first, second)
        both = ~np.isnan(columns[first]) & ~np.isnan(columns[second])
        expected = stats.pearsonr(columns[first][both], columns[second][both]).statistic
        assert pair.n == both.sum()
        assert pair.pearson == pytest.approx(expected, abs=1e-9)


def test_spearman_is_scipys_where_nothing_is_missing(rng):
    a = rng.normal(size=60).round(1)
    b = np.exp(a) + rng.normal(size=60).round(1)
    pair = associations({"a": a, "b": b}).between("b", "a")
    assert pair.spearman == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-9)


def test_ranks_are_scipys_with_ties_and_missing_values(rng):
    values = with_holes(rng, rng.integers(0, 7, 50))
    expected = stats.rankdata(values, nan_policy="omit")
    np.testing.assert_allclose(ranks(values), expected)


def test_correlation_ratio_is_epsilon_of_evaluate(rng):
    codes = rng.integers(-1, 4, 120)
    values = with_holes(rng, rng.normal(size=120) + codes)
    known = (codes >= 0) & ~np.isnan(values)
    expected = correlation_ratio(values[known], codes[known])
    strength, p, n = ratio_of_groups(Standard.of(values), codes)
    assert n == known.sum()
    assert strength**2 == pytest.approx(max(expected.effects["epsilon^2"], 0), abs=1e-9)
    assert p == pytest.approx(expected.p, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("levels", [(2, 3), (4, 60)])
def test_cramers_v_is_bergsmas_formula_on_the_table_of_counts(rng, levels):
    first, second = (rng.integers(-1, k, 300) for k in levels)
    second = np.where(rng.random(300) < 0.4, np.maximum(first, -1), second)
    known = (first >= 0) & (second >= 0)
    a, b = first[known], second[known]
    counts = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(counts, (a, b), 1)
    counts = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
    test = chi2_independence(counts)
    n, (k, width) = counts.sum(), counts.shape
    phi2 = max(0, test.statistic / n - (k - 1) * (width - 1) / (n - 1))
    most = min(k - (k - 1) ** 2 / (n - 1), width - (width - 1) ** 2 / (n - 1)) - 1
    strength, p, rows = cramers_v(first, second)
    assert rows == n
    assert strength == pytest.approx(min(np.sqrt(phi2 / most), 1), abs=1e-9)
    if n >= k * width:
        assert p == pytest.approx(test.p, rel=1e-6, abs=1e-300)
    else:
        assert np.isnan(p)


def test_independent_columns_are_seldom_called_associated(rng):
    """Holm: any false alarm at all in at most 5 % of tables, so more than 9 of 40 once in 10^4."""
    alarms = 0
    for _ in range(40):
        table = {
            "a": rng.normal(size=60),
            "b": rng.normal(size=60),
            "c": rng.permutation(np.repeat(["x", "y", "z"], 20)),
            "d": rng.permutation(np.repeat(["u", "v"], 30)),
        }
        alarms += any(pair.is_beyond_chance for pair in associations(table))
    assert alarms <= 9


def test_strengths_do_not_grow_with_the_number_of_levels(rng):
    """Raw eta and V of unrelated columns approach 1 with many levels; corrected ones do not."""
    codes, other = rng.integers(0, 150, 400), rng.integers(0, 150, 400)
    assert cramers_v(codes, other)[0] < 0.3
    assert ratio_of_groups(Standard.of(rng.normal(size=400)), codes)[0] < 0.65


def test_units_and_order_of_rows_change_no_association(rng):
    x, codes = rng.normal(size=90), rng.integers(0, 3, 90)
    table = {"x": x, "y": x + rng.normal(size=90), "c": [f"l{k}" for k in codes]}
    order = rng.permutation(90)
    other = {
        "x": 1e9 - 1e6 * x[order],
        "y": 1e-9 * table["y"][order],
        "c": [f"l{codes[k]}" for k in order],
    }
    first, second = associations(table), associations(other)
    for pair in first:
        again = second.between(pair.first, pair.second)
        assert again.strength == pytest.approx(pair.strength, abs=1e-7)


def test_values_at_the_end_of_the_range_do_not_overflow(rng):
    x = rng.normal(size=50)
    pair = associations({"x": x, "y": x * 1e307}).between("x", "y")
    assert pair.pearson == pytest.approx(1)


def test_ranks_of_many_rows_are_drawn_and_said(rng):
    n = MOST_RANKED + 1000
    x = rng.normal(size=n)
    y = x + rng.normal(size=n)
    found = associations({"x": x, "y": y}, random_state=3)
    assert (found.ranked_rows, found.random_state) == (MOST_RANKED, 3)
    assert found.pairs[0].n == n
    assert found.pairs[0].spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=0.02)


@pytest.mark.covers("overview-matrix")
def test_a_copy_is_explained_and_noise_is_not(rng):
    x = rng.normal(size=600)
    found = which_predicts_which(
        {"x": x, "square": x**2, "noise": rng.normal(size=600), "sign": np.where(x > 0, "+", "-")},
        random_state=int(rng.integers(1000)),
    )
    share = {
        (i, j): found.share[a, b]
        for a, i in enumerate(found.inputs)
        for b, j in enumerate(found.outputs)
    }
    assert share["x", "square"] > 0.6
    assert share["square", "x"] < 0.3, "a square does not give the sign"
    # half of the rows put the cut between two of them, and a dozen others may lie in that gap
    assert share["x", "sign"] > 0.84
    assert share["noise", "x"] < 4 * np.nanmax(found.error)
    assert np.isnan(share["x", "x"])


@pytest.mark.covers("overview-matrix")
def test_the_explained_share_is_that_of_plain_group_means(rng):
    """Of two levels, a tree is the two means of the fitted half: computed by hand."""
    groups = np.repeat([0, 1], 150)
    y = groups + rng.normal(size=300)
    seed = int(rng.integers(1000))
    found = which_predicts_which({"g": [f"l{g}" for g in groups], "y": y}, random_state=seed)
    generator = np.random.default_rng(seed)
    fitted = np.zeros(300, bool)
    fitted[generator.permutation(300)[:150]] = True
    means = np.array([y[fitted & (groups == g)].mean() for g in (0, 1)])
    missed = ((y - means[groups])[~fitted] ** 2).sum()
    base = ((y - y[fitted].mean())[~fitted] ** 2).sum()
    assert found.of("y")[0][1] == pytest.approx(1 - missed / base, abs=1e-9)


def test_columns_without_an_overview_are_named_with_the_reason():
    table = Table.from_dict(
        {
            "x": np.arange(400.0) % 50,
            "same": ["a"] * 400,
            "town": [f"t{i % 45}" for i in range(400)],
            "shop": [f"s{i % 210}" for i in range(400)],
        }
    )
    found = which_predicts_which(table.set("shop", kind="category"))
    assert found.left_out["same"] == "one value only"
    assert "town" in found.inputs
    assert "town" not in found.outputs
    assert "shop" not in found.inputs
    assert "levels" in found.left_out["shop"]


def test_sets_of_missing_columns_are_those_of_a_plain_count(rng):
    holes = rng.random((200, 70)) < 0.02
    table = {f"c{j}": np.where(holes[:, j], np.nan, 1.0 + np.arange(200)) for j in range(70)}
    found = missing_pattern(table)
    expected: dict[tuple, int] = {}
    for row in holes:
        names = frozenset(f"c{j}" for j in np.flatnonzero(row))
        expected[names] = expected.get(names, 0) + 1
    assert found.complete_rows == expected.pop(frozenset(), 0)
    assert {frozenset(names): count for names, count in found.patterns} == expected
    assert found.counts == {f"c{j}": holes[:, j].sum() for j in range(70) if holes[:, j].any()}


def test_missing_cells_that_go_with_a_column_are_found_and_others_are_not(rng):
    n = 500
    age = rng.normal(40, 10, n)
    income = np.where(age > 50, np.nan, rng.normal(size=n))
    found = missing_pattern(
        {"age": age, "income": income, "other": with_holes(rng, rng.normal(size=n))}
    )
    assert found.related[0][:2] == ("income", "age")
    assert found.related[0][3] < 1e-6


def test_columns_missing_in_the_same_rows_are_said_to_be(rng):
    gone = rng.random(300) < 0.3
    a, b = np.where(gone, np.nan, 1.5), np.where(gone, np.nan, 2.5)
    a[:5] = np.arange(5)
    found = missing_pattern({"a": a, "b": b, "c": with_holes(rng, rng.normal(size=300))})
    assert {found.together[0][0], found.together[0][1]} == {"a", "b"}
    assert found.together[0][2] > 0.9


def test_associations_with_one_column_are_those_of_its_pairs(rng):
    table = Table.from_dict(
        {
            "x": np.where(rng.random(80) < 0.1, np.nan, rng.normal(size=80)),
            "z": rng.normal(size=80),
            "c": rng.choice(["a", "b", "c"], 80),
            "d": rng.choice(["u", "v"], 80),
        }
    )
    whole = associations(table)
    for name in table.columns:
        found = associations_with(table, name)
        assert len(found) == 3
        assert [pair.strength for pair in found] == sorted(
            (pair.strength for pair in found), reverse=True
        )
        for pair in found:
            same = whole.between(pair.first, pair.second)
            assert (pair.first, pair.second, pair.measure, pair.n) in (
                (same.first, same.second, same.measure, same.n),
                (same.second, same.first, same.measure, same.n),
            )
            assert pair.strength == pytest.approx(same.strength)
