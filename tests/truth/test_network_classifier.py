"""The belief network as a classifier, and networks in model files, against enumeration."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon
from gnomon.bayes import NaiveBayes
from gnomon.engine.errors import DataError, GnomonError, GnomonWarning
from gnomon.graphical import (
    BeliefNetwork,
    BeliefNetworkClassifier,
    BoltzmannMachine,
    GaussianNetwork,
    PairwiseModel,
    potts_costs,
)
from gnomon.graphical.network_classifier import cut_points, heaviest_forest, link_scores
from gnomon.table import Table


def mixed_table(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Categories and numbers that depend on a class and on each other, some cells missing."""
    y = rng.integers(3, size=n)
    color = (y + (rng.random(n) < 0.4) * rng.integers(3, size=n)) % 3
    size = y + rng.normal(size=n)
    twin = size + rng.normal(scale=0.3, size=n)
    frame = pd.DataFrame(
        {
            "color": np.array(["red", "green", "blue"], dtype=object)[color],
            "size": size,
            "twin": twin,
            "flag": (rng.random(n) < 0.2 + 0.2 * color).astype(float),
        }
    )
    for name in frame.columns:
        frame.loc[rng.random(n) < 0.2, name] = None
    return frame, np.array(["a", "b", "c"])[y]


STRUCTURES = ["naive", "tree", {"twin": ["size"], "flag": ["color", "size"]}]


@pytest.mark.covers("belief-network", "belief-network-fit")
@pytest.mark.parametrize("structure", STRUCTURES, ids=["naive", "tree", "given"])
def test_classes_have_the_probabilities_of_the_enumerated_network(structure, rng):
    frame, y = mixed_table(rng, 150)
    model = BeliefNetworkClassifier(structure, n_bins=3).fit(frame, y)
    joint = model.network_.joint()
    rows = model.encoder_.transform(Table.from_frame(frame))
    codes = model._codes(rows, model.network_.sizes[1:])
    found = model.predict_proba(frame)
    names = model.network_.names
    for i in range(40):
        known = {
            name: model.network_.levels[name][codes[i, j]]
            for j, name in enumerate(names[1:])
            if codes[i, j] >= 0
        }
        exact = (joint.condition(**known) if known else joint).marginal("class").values
        np.testing.assert_allclose(found[i], exact, rtol=1e-9, atol=1e-12)


def test_tables_of_the_network_are_smoothed_weighted_counts(rng):
    frame, y = mixed_table(rng, 120)
    weights = rng.integers(1, 4, size=120)
    model = BeliefNetworkClassifier("naive", alpha=0.5).fit(frame, y, sample_weight=weights)
    counts = np.zeros((3, 3))
    for label, color, weight in zip(y, frame["color"], weights):
        if isinstance(color, str):
            place = model.network_.levels["color"].index(color)
            counts["abc".index(label), place] += weight
    smoothed = (counts + 0.5) / (counts + 0.5).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.network_.tables["color"], smoothed)


def test_a_link_between_twins_keeps_probabilities_honest(rng):
    n = 4000
    y = rng.integers(2, size=n)
    base = (rng.random(n) < np.where(y == 1, 0.65, 0.35)).astype(float)
    rows = np.column_stack([base] * 8)
    tree = BeliefNetworkClassifier("tree").fit(rows[:2000], y[:2000])
    naive = NaiveBayes(models="categorical").fit(rows[:2000], y[:2000])
    assert len(tree.links_) == 7
    losses = [
        -np.log(each.predict_proba(rows[2000:])[np.arange(2000), y[2000:]]).mean()
        for each in (tree, naive)
    ]
    assert losses[0] < losses[1]
    np.testing.assert_allclose(tree.predict_proba([[1.0] * 8])[0, 1], 0.65, atol=0.08)


def test_links_that_say_nothing_are_left_out(rng):
    rows = rng.integers(3, size=(600, 4)).astype(float)
    found = sum(
        len(BeliefNetworkClassifier("tree").fit(rows, rng.integers(2, size=600)).links_)
        for _ in range(5)
    )
    assert found <= 3


def test_the_forest_has_the_largest_score_of_all_forests(rng):
    for _ in range(20):
        scores = rng.normal(size=(4, 4))
        scores = scores + scores.T
        pairs = list(itertools.combinations(range(4), 2))
        best = max(
            sum(scores[pair] for pair in chosen)
            for k in range(4)
            for chosen in itertools.combinations(pairs, k)
            if not has_cycle(chosen)
        )
        parents = heaviest_forest(scores)
        links = [(each[0], j) for j, each in enumerate(parents) if each]
        assert not has_cycle(links)
        assert sum(scores[link] for link in links) == pytest.approx(best, abs=1e-6)


def has_cycle(links) -> bool:
    group = list(range(4))
    for i, j in links:
        if group[i] == group[j]:
            return True
        group = [group[i] if each == group[j] else each for each in group]
    return False


def test_scores_of_links_are_conditional_information_less_the_price_of_cells(rng):
    n, sizes = 200, [2, 3]
    codes = np.column_stack([rng.integers(-1, size, size=n) for size in sizes])
    y, weights = rng.integers(2, size=n), rng.random(n) + 0.5
    expected = 0.0
    for k in range(2):
        table = np.zeros(sizes)
        for (a, b), label, weight in zip(codes, y, weights):
            if label == k and a >= 0 and b >= 0:
                table[a, b] += weight
        outer = table.sum(1, keepdims=True) * table.sum(0, keepdims=True) / table.sum()
        expected += np.where(table > 0, table * np.log(table / outer), 0.0).sum()
    expected -= 0.5 * np.log(weights.sum()) * 2 * 1 * 2
    assert link_scores(codes, sizes, y, weights, 2)[0, 1] == pytest.approx(expected)


def test_cuts_share_the_weight_and_see_weights_as_repetitions(rng):
    values = rng.normal(size=300)
    weights = rng.integers(1, 4, size=300).astype(float)
    cuts = cut_points(values, weights, 4)
    again = cut_points(np.repeat(values, weights.astype(int)), np.ones(int(weights.sum())), 4)
    np.testing.assert_array_equal(cuts, again)
    shares = np.bincount(np.searchsorted(cuts, values), weights) / weights.sum()
    np.testing.assert_allclose(shares, 0.25, atol=0.02)
    assert len(cut_points(np.ones(5), np.ones(5), 3)) == 0


@pytest.mark.parametrize(
    ("structure", "said"),
    [({"x0": ["x9"]}, "x9"), ({"x0": ["x1"], "x1": ["x0"]}, "cycle")],
)
def test_structures_that_cannot_be_are_refused(structure, said):
    with pytest.raises(DataError, match=said):
        BeliefNetworkClassifier(structure).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def saved_models(rng: np.random.Generator) -> dict:
    return {
        "belief": BeliefNetwork(
            {"a": "tf", "b": (1, 2, 3)}, {"b": ["a"]}, {"a": [0.3, 0.7], "b": [[0.2, 0.3, 0.5]] * 2}
        ),
        "gaussian": GaussianNetwork(
            {"a": (), "b": ("a",)}, {"b": [2.0]}, {"a": 1.0}, {"a": 1, "b": 4}
        ),
        "pairwise": PairwiseModel(rng.normal(size=(3, 2)), [(0, 1), (1, 2)], [potts_costs(2, 0.5)]),
        "boltzmann": BoltzmannMachine([[0, 0.4], [0.4, 0]], [0.1, -0.2]),
    }


ANSWERS = {
    "belief": lambda each: each.query("b", a="t").values,
    "gaussian": lambda each: each.query("a", b=4.0).mean,
    "pairwise": lambda each: each.cost([0, 1, 1]),
    "boltzmann": lambda each: each.energy([1, -1]),
}


@pytest.mark.covers("belief-network", "pairwise-graphical-model", "boltzmann-machine")
@pytest.mark.parametrize("name", list(ANSWERS))
def test_networks_answer_alike_after_a_model_file(name, rng, tmp_path):
    model = saved_models(rng)[name]
    before = ANSWERS[name](model)
    loaded = gnomon.load(model.save(tmp_path / "net.gnomon"))
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(ANSWERS[name](loaded), before)


def test_a_model_file_of_a_broken_network_is_refused(tmp_path, rng):
    network = saved_models(rng)["belief"]
    network.tables["b"] = np.ones((2, 3))
    with pytest.raises(GnomonError, match="sum to 3"):
        gnomon.load(network.save(tmp_path / "net.gnomon"))


@pytest.mark.covers("belief-network")
def test_questions_of_a_known_form_and_near_underflow_have_the_same_answer(rng):
    tiny = 1e-150
    chain = {f"x{i}": [[1 - tiny, tiny], [tiny, 1 - tiny]] for i in range(1, 6)}
    network = BeliefNetwork(
        {f"x{i}": (0, 1) for i in range(6)},
        {f"x{i}": [f"x{i - 1}"] for i in range(1, 6)},
        {"x0": [1 - tiny, tiny]} | chain,
    )
    exact = network._summed_in_logarithms(("x0",), {"x2": 1, "x3": 0, "x5": 1})
    assert network._summed(("x0",), {"x2": 1, "x3": 0, "x5": 1}) is None
    np.testing.assert_allclose(
        network.query("x0", x2=1, x3=0, x5=1).values, exact / exact.sum(), rtol=1e-9
    )
    assert network.log_probability(x1=1, x2=0, x3=1) == pytest.approx(3 * np.log(tiny), rel=1e-2)
    for value in (0, 1, 0):
        fresh = BeliefNetwork(network.levels, network.parents, network.tables)
        np.testing.assert_array_equal(
            network.query("x1", "x0", x2=value).values, fresh.query("x1", "x0", x2=value).values
        )


@pytest.mark.covers("belief-network")
def test_a_wide_network_is_answered_by_chains_and_says_so(rng):
    roots = [f"x{i}" for i in range(16)]
    pairs = {f"{u}{v}": [u, v] for u, v in itertools.combinations(roots, 2)}
    network = BeliefNetwork(
        dict.fromkeys([*roots, *pairs], (0, 1)),
        pairs,
        {name: [0.5, 0.5] for name in roots}
        | {name: np.dstack([each, 1 - each]) for name, each in tilted(pairs, rng).items()},
    )
    seen = dict.fromkeys(pairs, 1)
    exact = network.answer("x0", seen)
    assert exact.method == "exact"
    assert all(each.error == 0 for each in exact.figures)
    with gnomon.config(memory_limit=1_000_000):
        found = network.answer("x0", seen, n_draws=300, random_state=rng)
        with pytest.raises(GnomonError, match="width 15"):
            network.answer("x0", seen, method="exact")
    assert found.method == "gibbs"
    assert "would need width 15" in str(found)
    assert found.mixed
    assert abs(found.joint.values[1] - exact.joint.values[1]) < 0.15
    with pytest.raises(DataError, match="none of auto"):
        network.answer("x0", method="guess")


def tilted(pairs: dict, rng: np.random.Generator) -> dict:
    return {name: rng.uniform(0.45, 0.55, size=(2, 2)) for name in pairs}


@pytest.mark.covers("belief-network")
def test_chains_that_cannot_mix_are_said_not_to_have(rng):
    stuck = np.array([[1 - 1e-9, 1e-9], [1e-9, 1 - 1e-9]])
    network = BeliefNetwork(
        {"a": "tf", "b": "tf", "c": "tf"},
        {"b": ["a"], "c": ["b"]},
        {"a": [0.5, 0.5], "b": stuck, "c": stuck},
    )
    for _ in range(20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GnomonWarning)
            found = network.answer("a", method="gibbs", n_draws=200, random_state=rng)
        if 0 < found.joint.values[0] < 1:
            assert not found.mixed
            assert "HAVE NOT MIXED" in str(found)
            return
    raise AssertionError("twenty times all four chains began on one side")
