"""Pictures of maps hold the numbers they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.reduce import (
    PCA,
    cca_permutation_test,
    choose_components,
    lattice,
    principal_coordinates,
    spectral_layout,
)
from gnomon.show import (
    biplot,
    canonical_correlations,
    eigenimages,
    map_points,
    network,
    residual_images,
    scree,
    shepard,
)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_scree_and_biplot_draw_the_components(rng, theme):
    X = rng.normal(size=(50, 4)) * [4, 3, 1, 1]
    pca = PCA(2).fit(X)
    figure = scree(pca, theme=theme)
    np.testing.assert_allclose(figure.data[0].y, pca.explained_variance_)
    assert figure.data[-1].y[-1] == pytest.approx(pca.explained_variance_ratio_.sum())
    choice = choose_components(X, "parallel", random_state=0)
    assert [trace.name for trace in scree(choice, theme=theme).data][-1] == "of noise"
    drawn = biplot(pca, X, np.arange(50) % 2, theme=theme)
    assert len(drawn.layout.annotations) == 4
    np.testing.assert_allclose(drawn.data[0].x, pca.transform(X)[::2, 0])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_canonical_picture_shows_every_rank(rng, theme):
    X, Y = rng.normal(size=(2, 40, 3))
    test = cca_permutation_test(X, Y, n_permutations=19, random_state=0)
    figure = canonical_correlations(test, theme=theme)
    np.testing.assert_allclose(figure.data[0].y, test.correlations)
    np.testing.assert_allclose(figure.data[-1].y, test.wilks)


@pytest.mark.covers("focus-context-navigation")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_focus_brings_a_node_and_its_neighbors_before_the_whole(theme):
    net = lattice(4, 4)
    places = spectral_layout(net).places
    whole = network(net, places, theme=theme)
    assert sum(len(trace.x) for trace in whole.data if trace.mode != "lines") == 16
    near = network(net, places, focus=5, theme=theme)
    bright = [trace for trace in near.data if trace.mode != "lines" and trace.marker.opacity == 1]
    assert sorted(bright[0].text, key=int) == ["1", "4", "5", "6", "9"]
    faded = [trace for trace in near.data if trace.mode != "lines" and trace.marker.opacity < 1]
    assert sum(len(trace.x) for trace in faded) == 11
    farther = network(net, places, focus=5, steps=2, theme=theme)
    bright = [
        trace for trace in farther.data if trace.mode != "lines" and trace.marker.opacity == 1
    ]
    assert len(bright[0].x) > 5
    with pytest.raises(DataError, match="16 nodes"):
        network(net, places[:5])


def test_shepard_diagram_holds_all_pairs_and_maps_have_one_scale(rng):
    X = rng.normal(size=(12, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    found = principal_coordinates(D)
    figure = shepard(D, found)
    assert len(figure.data[0].x) == 66
    np.testing.assert_allclose(figure.data[0].x, D[np.triu_indices(12, 1)])
    drawn = map_points(found, np.arange(12) % 3, names=[f"n{k}" for k in range(12)])
    assert drawn.layout.yaxis.scaleanchor == "x"
    assert len(drawn.data) == 3
    with pytest.raises(DataError, match="two coordinates"):
        map_points(X[:, :1])


@pytest.mark.covers("eigenimages")
def test_eigenimages_show_mean_components_and_growing_reconstructions(rng):
    images = rng.normal(size=(60, 20)) @ np.diag(np.linspace(3, 0.1, 20)) + 1
    pca = PCA(10).fit(images)
    figure = eigenimages(pca, (4, 5), most=3, item=images[0], counts=(1, 5, 10, 50))
    drawn = [np.asarray(trace.z) for trace in figure.data]
    np.testing.assert_allclose(drawn[0], pca.mean_.reshape(4, 5))
    np.testing.assert_allclose(drawn[2], pca.components_[1].reshape(4, 5))
    errors = [((each.ravel() - images[0]) ** 2).sum() for each in drawn[4:]]
    assert len(errors) == 4
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == 0
    assert figure.data[1].zmin == -figure.data[1].zmax
    with pytest.raises(DataError, match="shape"):
        eigenimages(pca, (3, 5))


@pytest.mark.covers("residual-pca-diagnostic")
@pytest.mark.parametrize("common", [True, False])
def test_residual_images_have_gray_at_zero_and_the_scale_asked_for(rng, common):
    left = rng.normal(size=(50, 12)) * np.linspace(5, 0.1, 12) + 0.5
    figure = residual_images(left, (3, 4), most=4, common=common)
    np.testing.assert_allclose(np.asarray(figure.data[0].z).ravel(), left.mean(axis=0))
    tops = {trace.zmax for trace in figure.data}
    assert all(trace.zmin == -trace.zmax for trace in figure.data)
    assert (len(tops) == 1) == common
    pca = PCA(1, ddof=0).fit(left)
    first = pca.components_[0] * np.sqrt(pca.explained_variance_[0])
    np.testing.assert_allclose(np.asarray(figure.data[1].z).ravel(), first)
