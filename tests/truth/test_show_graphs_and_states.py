"""Pictures of graphs, matrices, states and pixels draw what the objects hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, dijkstra

from gnomon import show
from gnomon.cluster import segment_image
from gnomon.engine.errors import DataError
from gnomon.graphical import segment_mixture
from gnomon.reduce import force_directed_layout, graph, stress_layout
from gnomon.sample import potts_gibbs
from gnomon.sequence import CategoricalEmission, HiddenMarkovModel, MarkovChain, link_graph
from gnomon.show.theme import look

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (3, 5)]
WEIGHTS = [1.0, 5.0, 2.0, 3.0, 9.0, 4.0, 1.0]


@pytest.mark.covers("graph-drawing")
@THEMES
@pytest.mark.parametrize("layout", [stress_layout, force_directed_layout])
def test_heavier_edges_are_wider_in_stress_and_spring_layouts(theme, layout):
    net = graph(EDGES, WEIGHTS)
    places = layout(graph(EDGES), random_state=0)
    figure = show.network(net, places, weighted=True, theme=theme)
    at = np.asarray(places.places)
    width = {}
    for trace in figure.data:
        if trace.mode == "lines":
            ends = np.c_[trace.x, trace.y].reshape(-1, 3, 2)[:, :2]
            for one, other in ends:
                i, j = (int(np.linalg.norm(at - end, axis=1).argmin()) for end in (one, other))
                width[i, j] = trace.line.width
    assert set(width) == set(EDGES)
    drawn = [width[edge] for edge in EDGES]
    order = np.argsort(WEIGHTS, kind="stable")
    assert (np.diff(np.array(drawn)[order]) >= 0).all()
    assert max(drawn) > 2 * min(drawn)
    near = show.network(net, places, weighted=True, focus=3, theme=theme)
    bright = [t for t in near.data if t.mode != "lines" and t.marker.opacity == 1]
    assert sorted(name for trace in bright for name in trace.text) == ["2", "3", "4", "5"]


@pytest.mark.covers("graph-drawing")
def test_nodes_are_colored_by_value_with_a_rim_where_it_is_known():
    net = graph(EDGES)
    values = np.linspace(-1, 1, 6)
    known = np.array([1, 0, 0, 0, 0, 1], bool)
    figure = show.network(net, stress_layout(net, random_state=0), values=values, known=known)
    nodes = figure.data[-1]
    np.testing.assert_allclose(nodes.marker.color, values)
    np.testing.assert_array_equal(np.asarray(nodes.marker.line.width) > 0, known)
    assert nodes.text[5] == "5<br>1"
    with pytest.raises(DataError, match="6 nodes"):
        show.network(net, np.zeros((6, 2)), values=[1.0])


@pytest.mark.covers("graph-drawing")
@THEMES
def test_all_connected_subsets_of_three_nodes_are_drawn(theme):
    net = graph(EDGES)
    table = net.matrix().toarray()
    expected = [
        each
        for each in combinations(range(6), 3)
        if connected_components(table[np.ix_(each, each)])[0] == 1
    ]
    figure = show.subgraphs(net, stress_layout(net, random_state=0), theme=theme)
    assert [note.text for note in figure.layout.annotations] == [
        " ".join(map(str, each)) for each in expected
    ]
    sizes = np.asarray(figure.data[2].marker.size)
    assert np.flatnonzero(sizes == sizes.max()).tolist() == list(expected[0])


@pytest.mark.covers("spy-plot")
@THEMES
def test_spy_draws_every_entry_and_orders_components_into_blocks(theme, rng):
    table = sp.block_diag([np.ones((n, n)) for n in (3, 5, 2)]).toarray()
    shuffle = rng.permutation(10)
    mixed = table[np.ix_(shuffle, shuffle)]
    plain = show.spy(mixed, theme=theme)
    filled = np.zeros((10, 10))
    filled[plain.data[0].y, plain.data[0].x] = 1
    np.testing.assert_array_equal(filled, mixed)
    sorted_ = show.spy(mixed, "components", theme=theme)
    blocks = np.zeros((10, 10))
    blocks[sorted_.data[0].y, sorted_.data[0].x] = 1
    ends = sorted({shape.x0 for shape in sorted_.layout.shapes if shape.x0 == shape.x1})
    assert ends == [4.5, 7.5]
    np.testing.assert_array_equal(
        blocks, sp.block_diag([np.ones((n, n)) for n in (5, 3, 2)]).toarray()
    )
    assert "38 of 10 × 10" in sorted_.layout.title.text
    groups = show.spy(mixed, np.arange(10) % 2)
    assert len(groups.data[0].x) == 38
    with pytest.raises(DataError, match="square"):
        show.spy(np.ones((2, 3)), [0, 1])


@pytest.mark.covers("spy-plot")
def test_spy_takes_link_graphs_and_counts_many_entries_in_blocks(rng):
    pages = link_graph([("a", "b"), ("b", "c")])
    assert list(show.spy(pages).data[0].text) == ["a → b", "b → c"]
    many = sp.random_array((1500, 1500), density=0.03, rng=rng, format="coo")
    figure = show.spy(many)
    assert figure.data[0].type == "heatmap"
    assert np.sum(figure.data[0].z) * 9 == pytest.approx(many.nnz)


@pytest.mark.covers("geodesic-path-picture")
@THEMES
def test_path_follows_the_curve_and_is_the_shortest_on_the_graph(theme, rng):
    angle = np.linspace(0, 1.7 * np.pi, 60)
    rows = np.c_[np.cos(angle), np.sin(angle)] + 0.001 * rng.normal(size=(60, 2))
    labels = np.full(60, -1, dtype=object)
    labels[0], labels[59] = "a", "b"
    figure = show.geodesic_path(rows, 0, 59, labels, n_neighbors=4, theme=theme)
    way, straight = figure.data[-2:]
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    near = np.argsort(apart, axis=1)[:, 1:5]
    links = np.zeros((60, 60))
    links[np.arange(60)[:, None], near] = np.take_along_axis(apart, near, axis=1)
    shortest = dijkstra(links, directed=False, indices=0)[59]
    drawn = np.c_[way.x, way.y]
    assert np.linalg.norm(np.diff(drawn, axis=0), axis=1).sum() == pytest.approx(shortest)
    assert shortest == pytest.approx(1.7 * np.pi, rel=0.03)
    np.testing.assert_allclose(np.c_[straight.x, straight.y], rows[[0, 59]])
    names = [trace.name for trace in figure.data]
    assert names[1:4] == ["without label", "a", "b"]
    assert len(figure.data[1].x) == 58
    with pytest.raises(DataError, match="link more"):
        show.geodesic_path(np.r_[rows, rows + 50], 0, 100, n_neighbors=3)
    assert show.geodesic_path(np.c_[rows, angle], 0, 59, n_neighbors=4).data[0].type == "scatter3d"


@pytest.mark.covers("geodesic-path-picture")
def test_boundary_in_the_valley_has_the_lower_density(rng):
    rows = np.r_[rng.normal([-3, 0], 0.5, (80, 2)), rng.normal([3, 0], 0.5, (80, 2))]
    labels = [1, *[-1] * 79, 2, *[-1] * 79]
    lines = {"A": ([1.0, 0.0], 0.0), "B": ([1.0, 0.0], -3.0)}
    figure = show.low_density_boundary(rows, labels, lines)
    one, other = (float(trace.name.split("density ")[1]) for trace in figure.data[-2:])
    assert one < other / 2
    assert "A runs through the lowest" in figure.layout.title.text
    np.testing.assert_allclose(figure.data[-1].x, [3, 3], atol=1e-9)


@pytest.fixture
def casino():
    law = CategoricalEmission([[1 / 6] * 6, [0.1] * 5 + [0.5]], list(range(1, 7)))
    return HiddenMarkovModel.known([0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], law, ["fair", "loaded"])


@pytest.mark.covers("state-probability-over-time")
@THEMES
def test_filtered_smoothed_decoded_and_true_states_are_drawn(theme, casino):
    truth, rolls = casino.sample(80, random_state=3)
    figure = show.state_inference(casino, rolls, truth, theme=theme)
    drawn = {trace.name: np.asarray(trace.y) for trace in figure.data}
    np.testing.assert_allclose(drawn["filtered"], casino.filter([rolls])[0][:, 1])
    np.testing.assert_allclose(drawn["smoothed"], casino.smooth([rolls])[0][:, 1])
    decoded = casino.predict([rolls])[0]
    assert [casino.states_[int(k)] for k in drawn["decoded"]] == decoded
    assert [casino.states_[int(k)] for k in drawn["true"]] == list(truth)
    right = np.mean([one == two for one, two in zip(decoded, truth, strict=True)])
    assert f"{right:.1%} of the steps" in figure.layout.title.text
    with pytest.raises(DataError, match="not a state"):
        show.state_inference(casino, rolls, state="bent")
    with pytest.raises(DataError, match="80 steps"):
        show.state_inference(casino, rolls, truth[:5])


@pytest.mark.covers("state-probability-over-time")
def test_occupation_is_the_power_of_the_matrix_and_tends_to_the_limit():
    table = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    chain = MarkovChain(table, ["a", "b", "c"])
    figure = show.occupation(chain, 12, "a")
    curves = np.array([trace.y for trace in figure.data[::2]])
    for n in (0, 1, 12):
        np.testing.assert_allclose(curves[:, n], np.linalg.matrix_power(table, n)[0])
    np.testing.assert_allclose([trace.y[0] for trace in figure.data[1::2]], chain.stationary())
    swinging = show.occupation(MarkovChain([[0, 1], [1, 0]]), 5, 0)
    assert "no limit" in swinging.layout.title.text
    assert len(swinging.data) == 2


@pytest.mark.covers("markov-chain-graph")
@THEMES
def test_graph_has_loops_arrows_double_circles_closed_classes_and_periods(theme):
    table = [[0.5, 0.25, 0.25, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    figure = show.chain_graph(MarkovChain(table, ["t", "p", "q", "end"]), theme=theme)
    assert figure.layout.paper_bgcolor == look(theme).paper
    written = [note.text for note in figure.layout.annotations if note.text]
    assert sorted(written) == ["0.25", "0.25", "0.5", "1", "1", "1"]
    assert sum(bool(note.showarrow) for note in figure.layout.annotations) == 6
    legends = {trace.name: trace for trace in figure.data if trace.name}
    assert set(legends) == {
        "closed, period 2: p, q",
        "closed, period 1: end",
        "transient: t",
        "absorbing (double circle)",
    }
    fills = {trace.marker.color for name, trace in legends.items() if "absorbing" not in name}
    assert len(fills) == 3
    ring, disc = legends["absorbing (double circle)"], legends["closed, period 1: end"]
    assert (ring.x[0], ring.y[0]) == (disc.x[0], disc.y[0])
    assert ring.marker.size > disc.marker.size


@pytest.mark.covers("trellis-diagram")
@THEMES
def test_trellis_beside_the_graph_costs_minus_ln_of_one_half(theme):
    table = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.25, 0.0, 0.75]])
    chain = MarkovChain(table, ["x", "y", "z"])
    figure = show.chain_and_trellis(chain, 3, theme=theme)
    costs = [note.text for note in figure.layout.annotations if (note.text or "").startswith("<b>")]
    # the text prints ln 2 = -0.69 for ln(1/2)
    assert sorted(costs) == sorted(["<b>0.69</b>"] * 8 + ["<b>1.39</b>", "<b>0.29</b>"] * 2)
    paths = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
    with np.errstate(divide="ignore"):
        all_costs = [
            -np.log(1 / 3) - np.log(table[a, b]) - np.log(table[b, c]) for a, b, c in paths
        ]
    best = next(trace for trace in figure.data if trace.name == "best path")
    assert list(best.y) == list(paths[int(np.argmin(all_costs))])
    assert f"best path costs {min(all_costs):.3g}" in figure.layout.title.text
    seen = show.chain_and_trellis(chain, 2, [[9, 0, 9], [0, 3, 9]])
    assert list(next(trace for trace in seen.data if trace.name == "best path").y) == [1, 1]
    with pytest.raises(DataError, match="at most 6 states"):
        show.chain_and_trellis(MarkovChain(np.eye(7)))


@pytest.mark.covers("segmented-image-render")
@THEMES
def test_segments_stand_with_and_without_smoothing_and_a_gray_map_each(theme, rng):
    image = np.repeat([[0.0, 4.0]], 8, axis=0).repeat(6, axis=1) + rng.normal(size=(8, 12))
    rough = segment_mixture(image, 2, 0.0, max_iter=40, random_state=0)
    smooth = segment_mixture(image, 2, 1.5, max_iter=40, random_state=0)
    figure = show.segment_maps(image, {"without": rough, "with": smooth}, theme=theme)
    assert len(figure.data) == 8
    np.testing.assert_allclose(figure.data[1].z, rough.means[rough.labels])
    np.testing.assert_allclose(figure.data[5].z, smooth.means[smooth.labels])
    np.testing.assert_allclose(figure.data[6].z, smooth.probabilities[:, :, 0])
    maps = np.asarray(figure.data[2].z) + np.asarray(figure.data[3].z)
    np.testing.assert_allclose(maps, 1)
    assert all(trace.colorscale[0][1] == figure.data[0].colorscale[0][1] for trace in figure.data)
    found = segment_image(image, 2, random_state=0)
    drawn = show.segment_maps(image, {"k-means": found}, theme=theme)
    for k in range(2):
        mine = found.labels == k
        np.testing.assert_allclose(np.asarray(drawn.data[1].z)[mine], image[mine].mean())
        np.testing.assert_array_equal(np.asarray(drawn.data[2 + k].z) == 1, mine)
    with pytest.raises(DataError, match="segments of small"):
        show.segment_maps(image[:4], {"small": found})


@pytest.mark.covers("segmented-image-render")
def test_potts_samples_stand_by_beta_and_sweeps():
    table = [
        [potts_gibbs((10, 12), beta, n, n_states=3, random_state=0) for n in (1, 50)]
        for beta in (0.2, 2.0)
    ]
    figure = show.potts_samples(table, sweeps=(1, 50))
    titles = [note.text for note in figure.layout.annotations]
    assert titles == [
        "beta 0.2, 1 sweep", "beta 0.2, 50 sweeps", "beta 2, 1 sweep", "beta 2, 50 sweeps",
    ]  # fmt: skip
    for trace, sample in zip(figure.data, [each for line in table for each in line], strict=True):
        np.testing.assert_array_equal(trace.z, sample.states)

    def agreeing(trace):
        z = np.asarray(trace.z)
        return (z[1:] == z[:-1]).mean() + (z[:, 1:] == z[:, :-1]).mean()

    assert agreeing(figure.data[3]) > agreeing(figure.data[1])
    with pytest.raises(DataError, match="each of 1"):
        show.potts_samples(table, sweeps=(1,))
