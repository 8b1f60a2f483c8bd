"""Labels on graphs of rows: against dense solves, random walks, brute force and scikit-learn."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from sklearn import semi_supervised

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.semi import (
    GeodesicNeighborsClassifier,
    GraphCutClassifier,
    HarmonicLabelPropagation,
    LabelPropagation,
    LabelSpreading,
    PoissonLearning,
    relax_laplace,
)
from gnomon.semi.graph import neighbor_edges

GRAPH_METHODS = [
    GeodesicNeighborsClassifier,
    GraphCutClassifier,
    HarmonicLabelPropagation,
    LabelPropagation,
    LabelSpreading,
    PoissonLearning,
]
every_graph_method = pytest.mark.parametrize("cls", GRAPH_METHODS)


def spirals(rng, n=240):
    """Two arms that wind around each other, with three labels on each."""
    t = np.linspace(0.5, 3.0, n)
    arm = np.arange(n) % 2
    turn = np.pi * t + np.pi * arm
    X = np.column_stack([t * np.cos(turn), t * np.sin(turn)]) + rng.normal(scale=0.02, size=(n, 2))
    y = np.full(n, -1)
    for k in (0, 1):
        own = np.flatnonzero(arm == k)
        y[own[[0, len(own) // 2, -1]]] = k
    return X, np.where(y < 0, np.nan, y), arm


def edges_of(model, n_neighbors, gamma):
    return neighbor_edges(model.index_.others(n_neighbors), gamma).toarray()


@pytest.mark.covers("harmonic-label-propagation")
@pytest.mark.parametrize("solver", ["direct", "cg", "relaxation"])
@pytest.mark.parametrize("gamma", ["local", None, 0.7])
def test_harmonic_values_are_those_of_the_dense_solve(solver, gamma, rng):
    X, y = rng.normal(size=(90, 3)), np.full(90, np.nan)
    y[:9] = np.arange(9) % 3
    model = HarmonicLabelPropagation(
        6, gamma=gamma, class_prior=None, solver=solver, tol=1e-12, max_iter=200_000
    ).fit(X, y)
    W = edges_of(model, 6, gamma)
    W = W[np.ix_(model.place_, model.place_)]
    labels = (y[:9, None] == np.arange(3)).astype(float)
    L = np.diag(W.sum(axis=1)) - W
    values = np.linalg.solve(L[9:, 9:], W[9:, :9] @ labels)
    np.testing.assert_allclose(model.label_distributions_[9:], values, atol=1e-8)
    np.testing.assert_array_equal(model.label_distributions_[:9], labels)


@pytest.mark.covers("harmonic-label-propagation")
def test_harmonic_values_are_the_ends_of_random_walks():
    X = np.cumsum(np.linspace(1.0, 0.5, 8))[:, None]  # the next row is the nearest: a path
    y = [0, None, None, None, None, None, None, 1]
    model = HarmonicLabelPropagation(1, gamma=None, class_prior=None).fit(X, y)
    # a walk from row i of a path of seven equal edges ends right with probability i / 7
    np.testing.assert_allclose(model.label_distributions_[:, 1], np.arange(8) / 7, atol=1e-9)


@pytest.mark.covers("harmonic-label-propagation", "transductive-learning")
def test_no_values_are_more_consistent_with_the_graph(rng):
    X, y, _ = spirals(rng, 60)
    model = HarmonicLabelPropagation(5, class_prior=None).fit(X, y)
    W = edges_of(model, 5, "local")

    def energy(f):
        return 0.5 * (W * (f[:, None] - f[None, :]) ** 2).sum()

    found = model.point_distributions_[:, 1]
    free = np.isnan(y)[np.argsort(model.place_)]
    for _ in range(20):
        other = found + 1e-3 * rng.normal(size=60) * free
        assert energy(other) >= energy(found)


@pytest.mark.covers("harmonic-label-propagation")
def test_class_masses_are_the_shares_that_were_asked_for(rng):
    X, y, _ = spirals(rng)
    model = HarmonicLabelPropagation(class_prior=[0.3, 0.7]).fit(X, y)
    plain = HarmonicLabelPropagation(class_prior=None).fit(X, y)
    free = np.isnan(y)
    odds = model.label_distributions_[free] / np.maximum(plain.label_distributions_[free], 1e-300)
    masses = plain.label_distributions_[free].sum(axis=0)
    sure = (plain.label_distributions_[free] > 1e-9).all(axis=1)
    expected = (0.7 / masses[1]) / (0.3 / masses[0])
    np.testing.assert_allclose((odds[:, 1] / odds[:, 0])[sure], expected, rtol=1e-6)


@pytest.mark.covers("harmonic-label-propagation")
def test_a_bandwidth_is_learnt_where_the_one_given_is_far_off(rng):
    X, y, arm = spirals(rng)
    learnt = HarmonicLabelPropagation(gamma="entropy").fit(X, y)
    assert np.isfinite(learnt.gamma_)
    assert (learnt.transduction_ == arm).mean() > 0.9


@pytest.mark.covers("laplace-relaxation")
def test_relaxation_solves_laplace_on_a_square(rng):
    n = 9
    border = np.ones((n, n), dtype=bool)
    border[1:-1, 1:-1] = False
    x, y = np.meshgrid(np.arange(n), np.arange(n))
    harmonic = (x**2 - y**2).astype(float)  # solves the difference equation exactly
    start = np.where(border, harmonic, 0.0)
    found = relax_laplace(start, border, tol=1e-12, keep_history=True)
    np.testing.assert_allclose(found.values, harmonic, atol=1e-8)
    assert len(found.states) == found.n_iter
    np.testing.assert_array_equal(found.states[-1], found.values)


@pytest.mark.covers("laplace-relaxation")
def test_relaxation_weighs_neighbors_by_conductance():
    strength = np.array([1.0, 1.0, 2.0, 2.0])
    found = relax_laplace([0, 0, 0, 7], [True, False, False, True], conductance=strength, tol=1e-13)
    left, middle, right = 1.0, 2.0, 4.0  # conductances of the three edges
    drop = np.array([1 / left, 1 / middle, 1 / right])
    np.testing.assert_allclose(np.diff(found.values), 7 * drop / drop.sum(), atol=1e-8)


@pytest.mark.covers("laplace-relaxation")
@pytest.mark.parametrize(
    ("values", "fixed", "more", "words"),
    [
        ([0, 1], [False, False], {}, "no value is fixed"),
        ([0, np.nan], [True, False], {}, "finite"),
        ([0, 1], [True], {}, "shape"),
        ([0, 1], [True, False], {"conductance": [1, 0]}, "positive"),
    ],
)
def test_relaxation_refuses_grids_without_an_answer(values, fixed, more, words):
    with pytest.raises(DataError, match=words):
        relax_laplace(values, fixed, **more)


@pytest.mark.covers("poisson-learning")
def test_poisson_values_solve_the_equation_with_sources(rng):
    X = rng.normal(size=(60, 2))
    y = np.full(60, np.nan)
    y[:4] = [0, 1, 2, 0]
    model = PoissonLearning(8, class_prior=None, tol=1e-12).fit(X, y)
    W = edges_of(model, 8, "local")
    W = W[np.ix_(model.place_, model.place_)]
    labels = (y[:, None] == np.arange(3)).astype(float)
    sources = np.zeros((60, 3))
    sources[:4] = labels[:4] - labels[:4].mean(axis=0)
    values = np.linalg.pinv(np.diag(W.sum(axis=1)) - W) @ sources
    values -= (W.sum(axis=1) @ values) / W.sum()
    free = np.isnan(y)
    np.testing.assert_array_equal(
        model.label_distributions_[free].argmax(axis=1), values[free].argmax(axis=1)
    )


@pytest.mark.covers("poisson-learning")
def test_poisson_learning_gives_each_class_its_share(rng):
    X = np.concatenate([rng.normal(0, 1, (150, 2)), rng.normal([5, 0], 1, (50, 2))])
    truth = np.repeat([0, 1], [150, 50])
    y = np.full(200, np.nan)
    y[[0, 150]] = 0, 1
    model = PoissonLearning(class_prior=[0.75, 0.25]).fit(X, y)
    np.testing.assert_allclose(model.label_distributions_.mean(axis=0), [0.75, 0.25], atol=0.05)
    assert (model.transduction_ == truth).mean() > 0.85


@pytest.mark.covers("geodesic-nearest-neighbour")
@pytest.mark.parametrize("n_nearest", [1, 3])
def test_geodesic_neighbors_are_those_of_all_shortest_paths(n_nearest, rng):
    X, y, _ = spirals(rng, 80)
    model = GeodesicNeighborsClassifier(n_nearest, n_neighbors=4).fit(X, y)
    found = model.index_.others(4)
    n = len(found.indices)
    graph = sp.csr_array(
        (found.distances.ravel(), found.indices.ravel(), np.arange(0, 4 * n + 1, 4)), (n, n)
    )
    codes = np.full(n, -1)
    codes[model.place_] = np.where(np.isnan(y), -1, y)
    paths = dijkstra(graph, directed=False)[:, codes >= 0]
    expected = np.sort(paths, axis=1)[:, :n_nearest]
    np.testing.assert_allclose(model.path_lengths_, expected, rtol=1e-12)
    nearest = codes[codes >= 0][paths.argmin(axis=1)]
    reached = np.isfinite(paths).any(axis=1)
    np.testing.assert_array_equal(model.path_labels_[reached, 0], nearest[reached])


@pytest.mark.covers("graph-cut-transduction", "transductive-learning")
def test_no_other_labels_cut_less_weight(rng):
    X = rng.normal(size=(13, 2))
    y = np.full(13, np.nan)
    y[:4] = [0, 1, 0, 1]
    model = GraphCutClassifier(3).fit(X, y)
    W = edges_of(model, 3, "local")
    W = W[np.ix_(model.place_, model.place_)]

    def cut(labels):
        return W[labels[:, None] != labels[None, :]].sum() / 2

    free = np.flatnonzero(np.isnan(y))
    labels = np.where(np.isnan(y), 0, y)
    least = np.inf
    for sides in itertools.product([0, 1], repeat=len(free)):
        labels[free] = sides
        least = min(least, cut(labels))
    decided = model.label_distributions_.argmax(axis=1)
    assert cut(decided) <= least + 13 * 1e-3 * W.max()
    assert model.cut_[0] * W.max() == pytest.approx(least, abs=1e-3 * W.max())


@pytest.mark.covers(
    "harmonic-label-propagation", "graph-cut-transduction", "geodesic-nearest-neighbour"
)
@pytest.mark.parametrize(
    "model",
    [
        HarmonicLabelPropagation(6),
        GraphCutClassifier(6),
        GeodesicNeighborsClassifier(n_neighbors=3),
    ],
)
def test_arms_of_a_spiral_are_told_apart_by_six_labels(model, rng):
    X, y, arm = spirals(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        model.fit(X, y)
    assert (model.transduction_ == arm).mean() > 0.9


@pytest.mark.covers("harmonic-label-propagation")
@pytest.mark.parametrize("name", ["LabelPropagation", "LabelSpreading"])
@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_propagation_and_spreading_are_those_of_scikit_learn(name, kernel, rng):
    X, y, _ = spirals(rng)
    y = np.where(np.isnan(y), -1, y).astype(int)
    ours = {"LabelPropagation": LabelPropagation, "LabelSpreading": LabelSpreading}[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(semi_supervised, name)(kernel=kernel).fit(X, y)
        model = ours(kernel=kernel).fit(X, y)
        new = X[::7] + 0.01
        expected = theirs.predict_proba(new)
    known = theirs.label_distributions_.sum(axis=1) > 0
    np.testing.assert_allclose(
        model.label_distributions_[known], theirs.label_distributions_[known], atol=1e-9
    )
    assert model.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(model.transduction_[known], theirs.transduction_[known])
    sure = np.isfinite(expected).all(axis=1)
    np.testing.assert_allclose(model.predict_proba(new)[sure], expected[sure], atol=1e-9)


@every_graph_method
@pytest.mark.covers("harmonic-label-propagation", "poisson-learning")
def test_a_part_of_the_graph_without_label_is_unknown_and_never_nan(cls, rng):
    X = np.concatenate([rng.normal(size=(20, 2)), 1e4 + rng.normal(size=(20, 2))])
    y = np.array(["a", "b"] * 2 + [None] * 36, dtype=object)
    model = cls(n_neighbors=4, **({"kernel": "knn"} if "Label" in cls.__name__[:5] else {}))
    with pytest.warns(GnomonWarning, match="no label reaches"):
        model.fit(X, y)
    assert model.is_unlabeled(model.transduction_[20:]).all()
    assert not model.is_unlabeled(model.transduction_[:4]).any()
    np.testing.assert_allclose(model.label_distributions_[20:], 0.5)
    new = model.predict_proba(np.concatenate([X, 1e8 + X]))
    assert np.isfinite(new).all()
    np.testing.assert_allclose(new.sum(axis=1), 1)
    np.testing.assert_allclose(new[20:40], 0.5)


@every_graph_method
@pytest.mark.covers("harmonic-label-propagation")
def test_labels_for_no_row_are_refused_and_labels_for_all_rows_stay(cls, rng):
    X = rng.normal(size=(12, 2))
    for unlabeled in (None, -1):
        with pytest.raises(DataError, match="no label"):
            cls().fit(X, [unlabeled] * 12)
    y = np.arange(12) % 3
    model = cls()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    np.testing.assert_array_equal(model.transduction_, y)


@pytest.mark.covers("harmonic-label-propagation")
def test_a_kernel_with_negative_values_is_refused():
    model = LabelPropagation(kernel=lambda a, b: a @ b.T)
    with pytest.raises(DataError, match="negative"):
        model.fit([[1.0], [-1.0], [2.0]], [0, 1, -1])
