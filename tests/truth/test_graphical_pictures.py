"""Pictures of graphical models show their nodes, links, tables, plates and blankets."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.graphical import BeliefNetwork, PairwiseModel, parameter_node, potts_model
from gnomon.sample import Network

both_themes = pytest.mark.parametrize("theme", ["light", "dark"])


def diamond() -> BeliefNetwork:
    levels = dict.fromkeys(("a", "b", "c", "d", "far away"), ("no", "yes"))
    parents = {"b": ["a"], "c": ["a"], "d": ["b", "c"], "far away": ["d"]}
    rng = np.random.default_rng(0)
    tables = {
        name: rng.dirichlet([1, 1], size=(2,) * len(parents.get(name, ()))) for name in levels
    }
    return BeliefNetwork(levels, parents, tables)


def places(figure) -> dict[str, tuple[float, float]]:
    found = {}
    for trace in figure.data:
        if trace.hovertext:
            found |= {n: (x, y) for n, x, y in zip(trace.hovertext, trace.x, trace.y)}
    return found


def arrows(figure) -> set[tuple]:
    return {
        ((each.ax, each.ay), (each.x, each.y))
        for each in figure.layout.annotations
        if each.arrowhead
    }


@both_themes
@pytest.mark.covers("belief-network-drawing")
def test_a_network_is_drawn_with_parents_above_an_arrow_per_link_and_its_tables(theme):
    network = diamond()
    figure = show.belief_network(network, theme=theme)
    at = places(figure)
    assert set(at) == set(network.names)
    assert len(set(at.values())) == len(at)
    assert arrows(figure) == {(at[parent], at[child]) for parent, child in network.links}
    assert all(at[parent][1] > at[child][1] for parent, child in network.links)
    text = " ".join(each.text for each in figure.layout.annotations)
    for table in network.tables.values():
        for p in table.ravel():
            assert f"{p:.2f}" in text


@both_themes
@pytest.mark.covers("belief-network-drawing")
def test_a_blanket_is_colored_and_a_plate_has_its_count(theme):
    figure = show.belief_network(diamond(), tables=False, blanket="b", theme=theme)
    groups = {trace.name: set(trace.hovertext) for trace in figure.data}
    assert groups["Markov blanket of b"] == {"a", "c", "d"}
    assert groups["other nodes"] == {"far away"}
    nodes = [
        parameter_node("m", "normal", [[0.0, 1.0]]),
        parameter_node("x", "normal", [["m", 1.0]]),
    ]
    figure = show.belief_network(Network(nodes), plates={"i": (["x"], 12)}, observed=["x"])
    assert any("12" in each.text for each in figure.layout.annotations)
    frame, at = figure.layout.shapes[0], places(figure)
    inside = {name for name, (_, y) in at.items() if frame.y0 < y < frame.y1}
    assert inside == {"x"}
    with pytest.raises(DataError, match="no node 'y'"):
        show.belief_network(Network(nodes), observed=["y"])


@both_themes
@pytest.mark.covers("graphical-model-drawing")
def test_fields_are_drawn_with_a_line_per_edge_and_shaded_observations(theme):
    tree = PairwiseModel(np.zeros((5, 2)), [(0, 1), (0, 2), (0, 3), (3, 4)], [np.eye(2)])
    ring = PairwiseModel(np.zeros((3, 2)), [(0, 1), (1, 2), (2, 0)], [np.eye(2)])
    grid, chain = potts_model((2, 3), 1.0), potts_model((1, 4), 1.0)
    for model, shape in ((grid, (2, 3)), (chain, None), (tree, None), (ring, None)):
        figure = show.graphical_model(model, shape=shape, observed=[1], theme=theme)
        at = places(figure)
        assert len(set(at.values())) == model.n_variables
        lines = figure.data[0]
        drawn = {
            frozenset(((lines.x[k], lines.y[k]), (lines.x[k + 1], lines.y[k + 1])))
            for k in range(0, len(lines.x), 3)
        }
        assert drawn == {frozenset((at[f"x{i}"], at[f"x{j}"])) for i, j in model.edges}
        groups = {trace.name: trace for trace in figure.data}
        assert list(groups["observed"].hovertext) == ["x1"]
        assert groups["observed"].marker.color[0] != groups["unknown"].marker.color[0]
    assert len({y for _, y in places(show.graphical_model(chain)).values()}) == 1


@both_themes
@pytest.mark.covers("graphical-model-drawing")
def test_a_dependency_graph_has_an_arrow_from_every_parent(theme):
    figure = show.graphical_model({"X1": (), "X2": (), "Y": ("X1", "X2")}, theme=theme)
    at = places(figure)
    assert arrows(figure) == {(at["X1"], at["Y"]), (at["X2"], at["Y"])}
    with pytest.raises(DataError, match="too many"):
        show.graphical_model(potts_model((30, 30), 1.0), shape=(30, 30))
