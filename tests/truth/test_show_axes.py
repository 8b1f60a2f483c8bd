"""Pictures of principal axes hold the numbers they are drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.reduce import PCA, cca_permutation_test, fisher_direction, wilks_lambda
from gnomon.show.theme import look

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


def arrows(figure):
    """Starts and ends of the arrows of a figure."""
    notes = [note for note in figure.layout.annotations if note.showarrow]
    return np.array([[(note.ax, note.ay), (note.x, note.y)] for note in notes], dtype=float)


def cloud(rng, n=60):
    return rng.normal(size=(n, 2)) @ [[3.0, 1.0], [0.0, 0.7]] + [5, -2]


@pytest.mark.covers("principal-axes-arrows")
@THEMES
def test_arrows_are_the_eigenvectors_from_the_centroid_to_the_ellipse(theme, rng):
    rows = cloud(rng)
    figure = show.principal_axes(rows, perpendiculars=True, theme=theme)
    assert figure.layout.paper_bgcolor == look(theme).paper
    drawn = arrows(figure)
    np.testing.assert_allclose(drawn[:, 0], [rows.mean(axis=0)] * 2)
    ways = drawn[:, 1] - drawn[:, 0]
    S = np.cov(rows, rowvar=False)
    values = np.linalg.eigvalsh(S)[::-1]
    np.testing.assert_allclose(S @ ways.T, ways.T * values, atol=1e-9 * values[0])
    np.testing.assert_allclose(np.linalg.norm(ways, axis=1), 2 * np.sqrt(values))
    traces = {trace.name: trace for trace in figure.data if trace.name}
    ring = np.array([traces["2 standard deviations"].x, traces["2 standard deviations"].y]).T
    away = ring - rows.mean(axis=0)
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", away, np.linalg.inv(S), away), 4)
    feet = np.array([traces["projections"].x, traces["projections"].y]).T
    np.testing.assert_allclose(feet, PCA(1).fit(rows).inverse_transform(PCA(1).fit_transform(rows)))
    np.testing.assert_allclose((rows - feet) @ ways[0], 0, atol=1e-9 * values[0])


@pytest.mark.covers("principal-axes-arrows")
def test_three_columns_have_an_ellipsoid_and_other_numbers_are_refused(rng):
    rows = rng.normal(size=(80, 3)) * [3, 2, 1]
    figure = show.principal_axes(rows)
    assert [trace.type for trace in figure.data] == ["scatter3d", "surface", *["scatter3d"] * 3]
    shell = np.array([figure.data[1].x, figure.data[1].y, figure.data[1].z]).reshape(3, -1).T
    away = shell - rows.mean(axis=0)
    inverse = np.linalg.inv(np.cov(rows, rowvar=False))
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", away, inverse, away), 4)
    with pytest.raises(DataError, match="2 or 3 columns"):
        show.principal_axes(rng.normal(size=(9, 4)))


@pytest.mark.covers("principal-axes-arrows")
@THEMES
def test_clouds_of_one_covariance_have_it_exactly(theme):
    wanted = [[2.0, -0.5], [-0.5, 1.0]]
    figure = show.one_covariance(wanted, theme=theme)
    clouds = [trace for trace in figure.data if trace.mode == "markers"]
    assert len(clouds) == 4
    for trace in clouds:
        np.testing.assert_allclose(np.cov(trace.x, trace.y), wanted)
        np.testing.assert_allclose([np.mean(trace.x), np.mean(trace.y)], 0, atol=1e-12)


@pytest.mark.covers("principal-axes-arrows")
@THEMES
def test_fishers_line_parts_classes_better_than_any_other_line(theme, rng):
    classes = np.arange(60) % 2
    rows = cloud(rng) + np.outer(classes, [-1.0, 2.0])
    figure = show.fisher_lines(rows, classes, theme=theme)

    def criterion(way):
        one, two = rows[classes == 0] @ way, rows[classes == 1] @ way
        return (one.mean() - two.mean()) ** 2 / (len(one) * one.var() + len(two) * two.var())

    said = [float(note.text.split("= ")[1]) for note in figure.layout.annotations[:2]]
    best = criterion(fisher_direction(rows[classes == 0], rows[classes == 1]))
    assert said[0] == pytest.approx(best, rel=0.01)
    angles = np.linspace(0, np.pi, 90)
    tried = [criterion(np.array([np.cos(a), np.sin(a)])) for a in angles]
    assert max(tried) <= best * (1 + 1e-9)
    assert said[1] <= said[0]
    feet = [trace for trace in figure.data if trace.mode == "markers" and trace.marker.size == 9]
    for one, two in (feet[:2], feet[2:]):
        both = np.r_[np.c_[one.x, one.y], np.c_[two.x, two.y]]
        spread = np.linalg.svd(both - both.mean(axis=0))[1]
        assert spread[1] < 1e-9 * spread[0]
    with pytest.raises(DataError, match="two classes"):
        show.fisher_lines(rows, np.arange(60) % 3)


@pytest.mark.covers("rotated-data-panels")
@THEMES
def test_blob_is_moved_turned_and_scaled_to_a_unit_covariance(theme, rng):
    rows = cloud(rng)
    figure = show.blob_steps(rows, theme=theme)
    given, moved, turned, scaled = (
        np.c_[trace.x, trace.y] for trace in figure.data if trace.name == "rows"
    )
    np.testing.assert_allclose(given, rows)
    np.testing.assert_allclose(moved.mean(axis=0), 0, atol=1e-9)
    covariance = np.cov(turned, rowvar=False)
    assert abs(covariance[0, 1]) < 1e-9 * covariance[0, 0]
    assert covariance[0, 0] >= covariance[1, 1]
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), np.linalg.norm(moved, axis=1))
    np.testing.assert_allclose(np.cov(scaled, rowvar=False), np.eye(2), atol=1e-9)
    with pytest.raises(DataError, match="one line"):
        show.blob_steps([[0, 0], [1, 1], [2, 2]])


@pytest.mark.covers("rotated-data-panels")
@THEMES
def test_principal_panels_number_the_planted_outlier_and_share_scales_when_asked(theme, rng):
    rows = rng.normal(size=(80, 4)) * [8, 4, 2, 1]
    rows[17] = [0, 0, 0, 30]
    pca = PCA(4).fit(rows)
    figure = show.rotated_data(pca, rows, scales="individual", numbered=3, theme=theme)
    marks = [trace for trace in figure.data if trace.name == "unusual"]
    assert len(marks) == 12
    assert all(trace.text[0] == "17" for trace in marks)
    plain = [trace for trace in figure.data if trace.name != "unusual"]
    places = pca.transform(rows)
    np.testing.assert_allclose(plain[0].x, places[:, 1])
    np.testing.assert_allclose(plain[0].y, places[:, 0])
    assert figure.layout.xaxis2.range != figure.layout.xaxis3.range
    equal = show.rotated_data(pca, rows, theme=theme)
    assert equal.layout.xaxis2.range == equal.layout.xaxis3.range == equal.layout.yaxis2.range
    assert max(abs(places).ravel()) < equal.layout.xaxis2.range[1]
    with pytest.raises(DataError, match="'equal' or 'individual'"):
        show.rotated_data(pca, rows, scales="own")


@pytest.mark.covers("reconstruction-by-components")
@THEMES
def test_curve_rebuilt_from_more_components_errs_less_and_from_all_not_at_all(theme, rng):
    curves = rng.normal(size=(40, 9)) * np.linspace(3, 0.2, 9)
    pca = PCA(9).fit(curves)
    figure = show.reconstruction(pca, curves[4], (0, 3, 5), x=np.arange(9) * 10, theme=theme)
    drawn = {trace.name: np.asarray(trace.y) for trace in figure.data}
    np.testing.assert_allclose(drawn["mean alone"], pca.mean_)
    errors = drawn["error"]
    for count in (3, 5):
        assert np.linalg.norm(drawn[f"from {count}"] - curves[4]) == pytest.approx(errors[count])
        best = PCA(count).fit(curves)
        expected = best.inverse_transform(best.transform(curves[4:5]))[0]
        np.testing.assert_allclose(drawn[f"from {count}"], expected, atol=1e-8)
    assert (np.diff(errors) <= 1e-9).all()
    assert errors[-1] < 1e-9
    with pytest.raises(DataError, match="9 were fitted"):
        show.reconstruction(pca, curves[0], (12,))


@pytest.mark.covers("reconstruction-by-components")
def test_images_are_rebuilt_as_images_and_rows_of_low_rank_lie_in_a_plane(rng):
    images = rng.normal(size=(30, 12)) * np.linspace(3, 0.2, 12) + 5
    pca = PCA(12).fit(images)
    figure = show.reconstruction(pca, images[0], (0, 4), shape=(3, 4))
    assert [trace.type for trace in figure.data] == ["heatmap"] * 3 + ["scatter"]
    np.testing.assert_allclose(figure.data[0].z, pca.mean_.reshape(3, 4))
    np.testing.assert_allclose(figure.data[2].z, images[0].reshape(3, 4))
    left = np.linalg.norm(np.asarray(figure.data[1].z).ravel() - images[0])
    assert left == pytest.approx(figure.data[-1].y[4])
    flat = show.low_rank_data(pca, images, 2, columns=[0, 1, 2])
    rebuilt = [trace for trace in flat.data if trace.name == "from 2 components"]
    columns = {0: rebuilt[2].x, 1: rebuilt[0].x, 2: rebuilt[1].x}
    table = np.column_stack([columns[k] for k in range(3)])
    sizes = np.linalg.svd(table - table.mean(axis=0))[1]
    assert sizes[2] < 1e-9 * sizes[0]


@pytest.mark.covers("scree-plot")
@THEMES
def test_scree_marks_the_gap_zooms_and_normalizes(theme):
    values = np.array([9.0, 8.0, 7.0, 0.5, 0.4, 0.3])
    figure = show.scree(values, theme=theme)
    assert "spectral gap after 3" in figure.layout.title.text
    assert figure.layout.shapes[0].x0 == 3.5
    np.testing.assert_allclose(figure.data[-1].y, np.cumsum(values) / values.sum())
    near = show.scree(values, normalized=True, zoom=4, kept=3, theme=theme)
    bars = np.concatenate([trace.y for trace in near.data if trace.type == "bar"])
    np.testing.assert_allclose(bars, values / 9)
    np.testing.assert_allclose(near.data[-1].y, values[3:] / 9)
    assert near.data[-1].xaxis == "x2"
    assert "3 kept: 95.2%" in near.layout.title.text
    with pytest.raises(DataError, match="zoom=7"):
        show.scree(values, zoom=7)


@pytest.mark.covers("canonical-correlation-plot")
@THEMES
def test_band_of_correlations_is_that_of_the_shuffles(theme, rng):
    X, Y = rng.normal(size=(2, 50, 3))
    Y[:, 0] += 3 * X[:, 0]
    test = cca_permutation_test(X, Y, n_permutations=39, random_state=1)
    figure = show.canonical_correlations(test, theme=theme)
    bands = [trace for trace in figure.data if trace.name == "95% of shuffles"]
    top, bottom = (np.asarray(trace.y) for trace in bands[:2])
    # the first lambda of a shuffle is 1 - rho_1^2
    first = np.sqrt(1 - test.shuffled[:, 0])
    np.testing.assert_allclose([bottom[0], top[0]], np.quantile(first, [0.025, 0.975]))
    assert (bottom <= top).all()
    drawn = next(trace for trace in figure.data if trace.name == "correlation")
    assert drawn.y[0] > top[0]
    assert wilks_lambda(drawn.y, 2) == pytest.approx(test.wilks[1])
