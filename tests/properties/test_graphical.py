"""Invariances of graphical models that hold for any of them."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.engine.errors import DataError
from gnomon.graphical import (
    BeliefNetwork,
    JointTable,
    PairwiseModel,
    forest_min_cost,
    format_bif,
    iterated_modes,
    mean_field,
    parse_bif,
    topological_order,
)

SEEDS = st.integers(0, 2**31)


def random_field(rng):
    n, k = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    edges = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.6]
    tables = [rng.normal(size=(k, k)) for _ in edges]
    return PairwiseModel(rng.normal(size=(n, k)), edges, tables)


@given(SEEDS)
def test_turning_every_edge_round_changes_nothing(seed):
    model = random_field(np.random.default_rng(seed))
    turned = PairwiseModel(
        model.unary, model.edges[:, ::-1], [model.table(e).T for e in range(len(model.edges))]
    )
    assert np.isclose(model.exact().log_normalizer, turned.exact().log_normalizer)
    assert np.array_equal(iterated_modes(model).labels, iterated_modes(turned).labels)
    assert np.allclose(mean_field(model).q, mean_field(turned).q, atol=1e-5)


@given(SEEDS)
def test_a_cost_moved_between_terms_or_added_to_all_leaves_the_law(seed):
    rng = np.random.default_rng(seed)
    model = random_field(rng)
    shift = rng.normal(size=(model.n_variables, 1))
    moved = PairwiseModel(
        model.unary + shift,
        model.edges,
        [model.table(e) for e in range(len(model.edges))],
        -float(shift.sum()),
    )
    a, b = model.exact(), moved.exact()
    assert np.isclose(a.log_normalizer, b.log_normalizer)
    assert np.allclose(np.array(a.nodes), np.array(b.nodes))


@given(SEEDS)
def test_the_order_in_which_a_network_is_written_changes_no_answer(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    names = [f"x {i}" for i in range(n)]
    parents = {
        name: tuple(rng.permutation(names[:i])[: rng.integers(0, min(i, 2) + 1)].tolist())
        for i, name in enumerate(names)
    }
    tables = {name: rng.dirichlet(np.ones(2), size=(2,) * len(parents[name])) for name in names}
    one = BeliefNetwork(dict.fromkeys(names, ("no", "yes")), parents, tables)
    shuffled = rng.permutation(names).tolist()
    other = BeliefNetwork(dict.fromkeys(shuffled, ("no", "yes")), parents, tables)
    again = parse_bif(format_bif(other))
    order = topological_order(one.parents)
    assert all(order.index(p) < order.index(c) for p, c in one.links)
    for name in names:
        assert np.allclose(one.query(name).values, other.query(name).values)
        assert np.allclose(one.query(name).values, again.query(name).values)


@given(st.text(max_size=200))
def test_any_text_is_read_as_a_network_or_refused(text):
    with contextlib.suppress(DataError):
        assert isinstance(parse_bif(text), BeliefNetwork)


@given(SEEDS)
def test_marginalising_in_any_order_gives_the_same_table(seed):
    rng = np.random.default_rng(seed)
    joint = JointTable(rng.exponential(size=(2, 3, 2)), {"a": "xy", "b": "xyz", "c": "uv"})
    assert np.allclose(
        joint.marginalize("a").marginalize("c").values, joint.marginalize("c", "a").values
    )
    assert np.isclose(joint.marginal("b").values.sum(), 1)
    assert np.allclose(
        joint.condition(b="y").marginalize("a").values,
        joint.marginalize("a").condition(b="y").values,
    )


@given(SEEDS)
def test_joining_two_trees_without_cost_joins_their_least_costs(seed):
    rng = np.random.default_rng(seed)
    unary = rng.normal(size=(4, 2))
    tables = [rng.normal(size=(2, 2)) for _ in range(2)]
    apart = PairwiseModel(unary, [(0, 1), (2, 3)], tables)
    joined = PairwiseModel(unary, [(0, 1), (2, 3), (1, 2)], [*tables, np.zeros((2, 2))])
    assert np.isclose(forest_min_cost(apart).cost, forest_min_cost(joined).cost)


@given(SEEDS)
def test_joint_tables_of_counts_are_the_shares_of_rows(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, 30), rng.choice(["p", "q"], 30)
    joint = JointTable.from_counts({"a": a, "b": b})
    assert joint.n_rows == 30
    assert np.isclose(joint.probability(a=int(a[0])), (a == a[0]).mean())
    with pytest.raises(DataError, match="missing"):
        JointTable.from_counts({"a": [1, None], "b": ["p", "q"]})
