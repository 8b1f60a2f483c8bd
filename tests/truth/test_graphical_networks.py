"""Belief networks against full enumeration on random tiny ones, and against closed forms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

import gnomon
from gnomon.engine.errors import DataError, MemoryLimitError
from gnomon.graphical import (
    BeliefNetwork,
    GaussianNetwork,
    JointTable,
    d_separated,
    format_bif,
    markov_blanket,
    parameter_node,
    parse_bif,
    plate,
    read_bif,
    row_index,
    write_bif,
)
from gnomon.sample import CategoricalNode, Network


def random_network(rng, n=5, most_parents=3, zeros=0.0) -> BeliefNetwork:
    names = [f"n{i}" for i in range(n)]
    levels = {name: tuple(f"v{k}" for k in range(rng.integers(2, 4))) for name in names}
    parents, tables = {}, {}
    for i, name in enumerate(names):
        count = int(rng.integers(0, min(i, most_parents) + 1))
        parents[name] = tuple(rng.permutation(names[:i])[:count].tolist())
        shape = [len(levels[each]) for each in (*parents[name], name)]
        table = rng.exponential(size=shape) * (rng.random(shape) >= zeros)
        table[..., 0] += 1e-3
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    shuffled = rng.permutation(names).tolist()
    return BeliefNetwork({name: levels[name] for name in shuffled}, parents, tables)


def multiplied(network: BeliefNetwork) -> dict[tuple, float]:
    """p of every combination of values, by the definition."""
    found = {}
    for values in itertools.product(*network.levels.values()):
        at = dict(zip(network.names, values))
        p = 1.0
        for name, table in network.tables.items():
            index = tuple(
                network.levels[each].index(at[each]) for each in (*network.parents[name], name)
            )
            p *= table[index]
        found[values] = p
    return found


def summed(joint: dict, network, wanted, evidence) -> np.ndarray:
    table = np.zeros([len(network.levels[name]) for name in wanted])
    for values, p in joint.items():
        at = dict(zip(network.names, values))
        if all(at[name] == value for name, value in evidence.items()):
            table[tuple(network.levels[name].index(at[name]) for name in wanted)] += p
    return table


def random_question(network, rng):
    names = rng.permutation(network.names).tolist()
    n_wanted, n_given = int(rng.integers(1, 3)), int(rng.integers(0, 3))
    given = names[n_wanted : n_wanted + n_given]
    evidence = {
        name: network.levels[name][rng.integers(len(network.levels[name]))] for name in given
    }
    return names[:n_wanted], evidence


@pytest.mark.covers("belief-network", "exact-inference-enumeration", "joint-table")
def test_every_query_equals_enumeration_on_hundreds_of_random_networks(rng):
    for _ in range(150):
        network = random_network(rng, n=int(rng.integers(3, 7)), zeros=rng.choice([0.0, 0.4]))
        joint = multiplied(network)
        wanted, evidence = random_question(network, rng)
        exact = summed(joint, network, wanted, evidence)
        if exact.sum() == 0:
            with pytest.raises(DataError, match="probability zero"):
                network.query(*wanted, **evidence)
            continue
        assert np.isclose(network.log_probability(**evidence), np.log(exact.sum()), atol=1e-10)
        for table in (network.query(*wanted, **evidence), network.enumerate(*wanted, **evidence)):
            assert table.names == tuple(wanted)
            assert np.allclose(table.values, exact / exact.sum(), atol=1e-12)
        laws = network.marginals(**evidence)
        for name in set(network.names) - set(evidence):
            own = summed(joint, network, [name], evidence)
            assert np.allclose(laws[name], own / own.sum(), atol=1e-12)
        best = network.most_probable(**evidence)
        found = joint[tuple((best | evidence)[name] for name in network.names)]
        assert np.isclose(found, max(summed_cells(joint, network, evidence)), rtol=1e-10)


def summed_cells(joint, network, evidence):
    return [
        p
        for values, p in joint.items()
        if all(dict(zip(network.names, values))[name] == each for name, each in evidence.items())
    ]


@pytest.mark.covers("conditional-independence-check", "belief-network")
def test_separated_nodes_are_independent_in_every_network_of_the_graph(rng):
    seen = set()
    for _ in range(80):
        network = random_network(rng, n=5, most_parents=2)
        x, y, *others = rng.permutation(network.names).tolist()
        given = others[: int(rng.integers(0, 3))]
        check = network.joint().independence(x, y, given, tol=1e-10)
        separated = network.d_separated(x, y, given)
        assert separated == moral_separated(network.parents, x, y, given)
        assert separated == d_separated(network.parents, y, x, given)
        # random tables are dependent wherever the graph lets them be, save by a miracle
        assert check.holds == separated
        seen.add(separated)
    assert seen == {True, False}


def moral_separated(parents, x, y, given) -> bool:
    """The other definition: no path in the moral graph of the ancestors without the given."""
    kept, waiting = set(), [x, y, *given]
    while waiting:
        name = waiting.pop()
        if name not in kept:
            kept.add(name)
            waiting += parents[name]
    pairs = set()
    for name in kept:
        for a, b in itertools.combinations((*parents[name], name), 2):
            pairs |= {(a, b), (b, a)}
    reached, waiting = {x}, [x]
    while waiting:
        name = waiting.pop()
        for a, b in pairs:
            if a == name and b not in reached and b not in given:
                reached.add(b)
                waiting.append(b)
    return y not in reached


@pytest.mark.covers("belief-network")
def test_a_markov_blanket_cuts_its_node_off(rng):
    for _ in range(50):
        parents = random_network(rng, n=6).parents
        for name in parents:
            blanket = markov_blanket(parents, name)
            rest = set(parents) - blanket - {name}
            assert not rest or d_separated(parents, name, rest, blanket)


@pytest.mark.covers("conditional-independence-check", "joint-table")
def test_the_test_of_independence_on_counts_keeps_its_level(rng):
    rejected = 0
    for _ in range(200):
        z = rng.integers(0, 2, 400)
        x = (rng.random(400) < 0.3 + 0.4 * z).astype(int)
        y = (rng.random(400) < 0.6 - 0.3 * z).astype(int)
        joint = JointTable.from_counts({"x": x, "y": y, "z": z})
        check = joint.independence("x", "y", "z")
        assert check.degrees == 2
        rejected += not check.holds
    assert stats.binomtest(rejected, 200, 0.06).pvalue > 1e-6
    assert not joint.independence("x", "z").holds


@pytest.mark.covers("joint-table")
def test_conditioning_and_marginalising_follow_their_definitions(rng):
    values = rng.exponential(size=(2, 3, 4))
    joint = JointTable(values, {"X": "ab", "Y": "abc", "Z": range(4)})
    p = values / values.sum()
    assert np.allclose(
        joint.condition(Z=2).marginalize("Y").values, p[:, :, 2].sum(1) / p[:, :, 2].sum()
    )
    assert np.allclose(joint.marginal("Z", "X").values, p.sum(1).T)
    assert np.isclose(joint.probability(X="b", Z=0), p[1, :, 0].sum())
    with pytest.raises(DataError, match="no value"):
        joint.condition(Z=9)
    with pytest.raises(DataError, match="no variable"):
        joint.marginalize("W")


@pytest.mark.covers("belief-network-fit")
def test_fitted_tables_are_smoothed_counts_mixed_with_the_expert(rng):
    network = random_network(rng, n=4, most_parents=2)
    rows = network.simulate(300, rng)
    said = {"n3": network.tables["n3"]}
    fitted = BeliefNetwork.fit(
        rows, network.parents, alpha=0.5, expert=said, expert_weight=7.0, levels=network.levels
    )
    for name in network.names:
        family = (*network.parents[name], name)
        for place in itertools.product(*(range(len(network.levels[each])) for each in family)):
            count = 0
            total = 0
            for i in range(300):
                at = [network.levels[each].index(rows[each][i]) for each in family]
                total += at[:-1] == list(place[:-1])
                count += at == list(place)
            weight = 7.0 if name == "n3" else 0.0
            expected = count + 0.5 + weight * network.tables[name][place]
            expected /= total + 0.5 * len(network.levels[name]) + weight
            assert np.isclose(fitted.tables[name][place], expected)


@pytest.mark.covers("belief-network-fit")
def test_a_fit_on_many_rows_finds_the_network_again(rng):
    network = random_network(rng, n=4, most_parents=1)
    rows = network.simulate(40_000, rng)
    fitted = BeliefNetwork.fit(rows, network.parents, alpha=1.0, levels=network.levels)
    for wanted in network.names:
        gap = np.abs(fitted.query(wanted).values - network.query(wanted).values).max()
        assert gap < 5.5 * np.sqrt(0.25 / 40_000)


@pytest.mark.covers("belief-network-fit")
def test_what_a_fit_cannot_know_is_said():
    rows = {"a": ["x", "x", "y"], "b": ["u", "v", None]}
    with pytest.raises(DataError, match="missing cells"):
        BeliefNetwork.fit(rows, {"b": ["a"]})
    with pytest.raises(DataError, match="alpha > 0"):
        BeliefNetwork.fit(rows, {"b": ["a"]}, missing="available")
    fitted = BeliefNetwork.fit(rows, {"b": ["a"]}, missing="available", alpha=1)
    assert np.allclose(fitted.tables["b"], 0.5)
    with pytest.raises(DataError, match="cycle"):
        BeliefNetwork.fit(rows, {"b": ["a"], "a": ["b"]})


@pytest.mark.covers("belief-network")
def test_wide_networks_are_refused_with_the_forecast_and_the_remedy():
    n = 40
    levels = {f"x{i}": (0, 1) for i in range(n)} | {"sum": (0, 1)}
    parents = {f"x{i}": tuple(f"x{j}" for j in range(max(0, i - 12), i)) for i in range(n)}
    tables = {name: np.full((2,) * (len(parents.get(name, ())) + 1), 0.5) for name in levels}
    network = BeliefNetwork(levels, parents, tables)
    assert network.forecast().width == 12
    with gnomon.config(memory_limit=10_000), pytest.raises(MemoryLimitError, match="sample"):
        network.marginals()
    # a leaf that nobody asks about costs nothing
    assert network.forecast("x0").width == 0


@pytest.mark.covers("belief-network")
def test_bad_networks_are_refused():
    with pytest.raises(DataError, match=r"sum to 0\.9"):
        BeliefNetwork({"a": "xy"}, {}, {"a": [0.4, 0.5]})
    with pytest.raises(DataError, match="cycle"):
        BeliefNetwork({"a": "xy", "b": "xy"}, {"a": "b", "b": "a"}, dict.fromkeys("ab", np.eye(2)))
    with pytest.raises(DataError, match="which is not a node"):
        BeliefNetwork({"a": "xy"}, {"a": "q"}, {"a": np.eye(2)})
    with pytest.raises(DataError, match="shape"):
        BeliefNetwork({"a": "xy"}, {}, {"a": [1.0]})
    with pytest.raises(DataError, match="typo lacks one"):
        BeliefNetwork({"a": "xy"}, {"typo": ["a"]}, {"a": [0.5, 0.5]})
    network = BeliefNetwork({"a": "xy"}, {}, {"a": [0.5, 0.5]})
    for ask in (network.forecast, network.query, network.enumerate):
        with pytest.raises(DataError, match="no node 'q'"):
            ask("q")
    with pytest.raises(DataError, match="has no value 'z'"):
        network.log_probability(a="z")


@pytest.mark.covers("belief-network")
def test_networks_survive_bif_files(rng, tmp_path):
    network = random_network(rng, n=5)
    for again in (
        read_bif(write_bif(network, tmp_path / "net.bif")),
        parse_bif(format_bif(network, "a name")),
    ):
        assert again.levels == network.levels
        assert again.parents == network.parents
        for name in network.names:
            assert np.allclose(again.tables[name], network.tables[name], atol=1e-15)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variable a { type discrete [ 3 ] { x, y }; }", "line 1: 'a' says 3 values"),
        ("variable a {\n type discrete [ 2 ] { x, y }; }\nprobability ( b ) {", "line 3.*'b'"),
        (
            "variable a { type discrete [2] {x, y}; }\nprobability (a) { table 0.5, 0.1; }",
            "line 2: .*does not sum to 1",
        ),
        ("variable a { type discrete [2] {x, y}; }\nprobability (a) { table 0.5", "ends in the"),
        ("hello", "'hello' where"),
        ("", "no variable"),
        ('variable "a', "quotation mark"),
    ],
)
def test_bad_bif_files_are_refused_with_the_line(text, said):
    with pytest.raises(DataError, match=said):
        parse_bif(text)


def test_bif_tables_defaults_comments_and_properties_are_read():
    text = """
    network weather { property made by hand; }
    variable rain { type discrete [ 2 ] { yes, no }; property position = (1, 2); }
    variable "wet grass" { type discrete [ 2 ] { yes, no }; }  // a comment
    probability ( rain ) { table 0.2, 0.8; }
    probability ( "wet grass" | rain ) { /* rows */ default 0.1, 0.9; (yes) 0.9, 0.1; }
    """
    network = parse_bif(text)
    assert network.tables["wet grass"].tolist() == [[0.9, 0.1], [0.1, 0.9]]
    whole = text.replace("default 0.1, 0.9; (yes) 0.9, 0.1;", "table 0.9, 0.1, 0.1, 0.9;")
    assert parse_bif(whole).tables["wet grass"].tolist() == [[0.9, 0.1], [0.1, 0.9]]


def random_gaussian(rng, n=5):
    names = [f"g{i}" for i in range(n)]
    parents = {
        name: tuple(rng.permutation(names[:i])[: rng.integers(0, min(i, 3) + 1)].tolist())
        for i, name in enumerate(names)
    }
    return GaussianNetwork(
        parents,
        {name: rng.normal(size=len(each)) for name, each in parents.items()},
        {name: rng.normal() for name in names},
        {name: rng.uniform(0.5, 2) for name in names},
    )


@pytest.mark.covers("belief-network")
def test_a_gaussian_network_has_the_law_of_its_equations(rng):
    for _ in range(50):
        net = random_gaussian(rng)
        names = net.names
        links = np.zeros((5, 5))
        for i, name in enumerate(names):
            for weight, parent in zip(net.coefficients[name], net.parents[name]):
                links[i, names.index(parent)] = weight
        lift = np.linalg.inv(np.eye(5) - links)
        mean = lift @ [net.intercepts[name] for name in names]
        covariance = lift @ np.diag([net.variances[name] for name in names]) @ lift.T
        joint = net.joint()
        assert np.allclose(joint.mean, mean)
        assert np.allclose(joint.covariance, covariance)
        precision = np.linalg.inv(covariance)
        law = net.query("g0", "g3", g1=0.7, g2=-1.0, g4=0.3)
        block = np.linalg.inv(precision[np.ix_([0, 3], [0, 3])])
        shift = np.array([0.7, -1.0, 0.3]) - mean[[1, 2, 4]]
        expected = mean[[0, 3]] - block @ precision[np.ix_([0, 3], [1, 2, 4])] @ shift
        assert np.allclose(law.mean, expected)
        assert np.allclose(law.covariance, block)


@pytest.mark.covers("belief-network-fit")
def test_a_gaussian_fit_has_the_moments_of_the_data_where_the_graph_is_full(rng):
    rows = rng.normal(size=(60, 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=3)
    columns = {name: rows[:, j] for j, name in enumerate("abc")}
    joint = GaussianNetwork.fit(columns, {"a": (), "b": ("a",), "c": ("a", "b")}).joint()
    assert np.allclose(joint.mean, rows.mean(axis=0))
    assert np.allclose(joint.covariance, np.cov(rows.T, bias=True))


@pytest.mark.covers("belief-network-node-table")
def test_the_row_of_a_node_table_runs_through_all_combinations_once(rng):
    sizes = rng.integers(1, 5, size=3).tolist()
    values = list(itertools.product(*(range(size) for size in reversed(sizes))))
    rows = [row_index(each[::-1], sizes) for each in values]
    assert rows == list(range(int(np.prod(sizes))))
    with pytest.raises(DataError, match="cannot have the value"):
        row_index([5, 0, 0], sizes)


@pytest.mark.covers("belief-network-node-table")
def test_cells_of_a_node_table_are_constants_or_values_of_other_nodes(rng):
    cells = [[0.0, "v"], ["m", 2.0], [1.0, 1.0], ["m", "v"]]
    net = Network(
        [
            CategoricalNode("a", [0.3, 0.7]),
            CategoricalNode("b", [0.6, 0.4]),
            parameter_node("m", "gamma", [[2.0, 3.0]]),
            parameter_node("v", "inverse gamma", [[4.0, 5.0]]),
            parameter_node("k", "poisson", [["m"]]),
            parameter_node("x", "normal", cells, {"a": 2, "b": 2}),
        ]
    )
    for _ in range(20):
        m, v, x = rng.gamma(2), rng.gamma(2), rng.normal()
        a, b, k = int(rng.integers(2)), int(rng.integers(2)), int(rng.integers(4))
        mean = [0.0, m, 1.0, m][a + 2 * b]
        variance = [v, 2.0, 1.0, v][a + 2 * b]
        expected = (
            np.log([0.3, 0.7][a])
            + np.log([0.6, 0.4][b])
            + stats.gamma.logpdf(m, 2, scale=1 / 3)
            + stats.invgamma.logpdf(v, 4, scale=5)
            + stats.poisson.logpmf(k, m)
            + stats.norm.logpdf(x, mean, np.sqrt(variance))
        )
        values = {"a": a, "b": b, "m": m, "v": v, "k": k, "x": x}
        assert np.isclose(net.log_density(values), expected)
    assert net.log_density(values | {"v": -1.0}) == -np.inf
    with pytest.raises(DataError, match="4 combinations"):
        parameter_node("x", "normal", cells[:2], {"a": 2, "b": 2})


@pytest.mark.covers("belief-network-node-table")
def test_chains_over_a_plate_find_the_conjugate_posterior_of_a_variance(rng):
    rows = rng.normal(scale=2.0, size=12)
    variance = parameter_node("variance", "inverse gamma", [[3.0, 6.0]], step=2.0)
    inside = plate([parameter_node("x", "normal", [[0.0, "variance"]])], 12)
    net = Network([variance, *inside])
    evidence = {f"x[{i}]": value for i, value in enumerate(rows)}
    drawn = net.gibbs(evidence, 1500, random_state=rng).of("variance")
    exact = stats.invgamma(3 + 6, scale=6 + (rows**2).sum() / 2)
    assert abs(drawn.mean() - exact.mean()) < 0.4 * exact.std()
    assert abs(np.median(drawn) - exact.median()) < 0.4 * exact.std()


@pytest.mark.covers("belief-network")
def test_tables_in_any_memory_order_give_the_same_answers(rng, tmp_path):
    levels = {"A": range(2), "B": range(3), "C": range(4)}
    parents = {"B": ["A"], "C": ["A", "B"]}
    shapes = {"A": (2,), "B": (2, 3), "C": (2, 3, 4)}
    tables = {name: rng.dirichlet(np.ones(s[-1]), s[:-1]) for name, s in shapes.items()}
    plain = BeliefNetwork(levels, parents, tables)
    fortran = {name: np.asfortranarray(table) for name, table in tables.items()}
    other = BeliefNetwork(levels, parents, fortran)
    loaded = gnomon.load(other.save(tmp_path / "network.gnomon"))
    expected = plain.enumerate("A", "C", B=1).values
    for network in (plain, other, loaded):
        np.testing.assert_allclose(network.query("A", "C", B=1).values, expected)
        assert network.most_probable(C=2) == plain.most_probable(C=2)
        assert network.log_probability(A=1, C=3) == pytest.approx(plain.log_probability(A=1, C=3))
        assert network.simulate(20, 0) == plain.simulate(20, 0)
