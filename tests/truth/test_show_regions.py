"""Pictures of regions show what the models say."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest

from gnomon.bayes import GaussianClassifier
from gnomon.engine.errors import DataError
from gnomon.linear import LinearRegression
from gnomon.margin import LinearSVC, OneVsOneClassifier, OneVsRestClassifier
from gnomon.neighbors import KNeighborsClassifier
from gnomon.show import decision_regions
from gnomon.show.regions import GRID, STRENGTH
from gnomon.show.theme import color


def three_clouds(rng):
    X = rng.normal(size=(90, 3)) + np.repeat([[0, 0, 0], [4, 1, 0], [0, 4, 0]], 30, axis=0)
    return X, np.repeat(["a", "b", "c"], 30)


def images(figure):
    return [trace for trace in figure.data if isinstance(trace, go.Image)]


@pytest.mark.covers("decision-regions")
def test_colors_are_blended_by_probabilities_with_other_inputs_fixed(rng):
    X, y = three_clouds(rng)
    model = GaussianClassifier().fit(X, y)
    (image,) = images(decision_regions(model, X, y, columns=(1, 0), fixed={2: 0.7}))
    i, j = rng.integers(GRID, size=2)
    place = np.array([[image.y0 + i * image.dy, image.x0 + j * image.dx, 0.7]])
    inks = np.array([[int(color(k)[c : c + 2], 16) for c in (1, 3, 5)] for k in range(3)])
    expected = STRENGTH * (model.predict_proba(place) @ inks)[0] + (1 - STRENGTH) * 255
    np.testing.assert_allclose(np.asarray(image.z)[i, j], expected, atol=0.51)


@pytest.mark.covers("decision-regions")
def test_several_learners_stand_side_by_side_and_unclear_places_are_dotted(rng):
    X, y = three_clouds(rng)
    X = X[:, :2]
    models = {
        "nearest": KNeighborsClassifier(3),
        "rest": OneVsRestClassifier(LinearSVC()),
        "pairs": OneVsOneClassifier(LinearSVC()),
    }
    fitted = {name: model.fit(X, y) for name, model in models.items()}
    figure = decision_regions(fitted, X, y)
    assert len(images(figure)) == 3
    assert [note.text for note in figure.layout.annotations] == list(models)
    dots = [trace for trace in figure.data if getattr(trace, "legendgroup", "") == "unclear"]
    assert sum(bool(trace.showlegend) for trace in dots) <= 1
    for trace in dots:
        places = np.column_stack([trace.x, trace.y])
        if trace.xaxis == "x2":
            assert (fitted["rest"].claims(places).sum(axis=1) != 1).all()
        else:
            assert fitted["pairs"].ties(places).all()


@pytest.mark.covers("decision-regions")
def test_values_of_regressors_are_shades_on_one_scale(rng):
    X, _ = three_clouds(rng)
    models = {"one": LinearRegression().fit(X, X[:, 0]), "two": LinearRegression().fit(X, -X[:, 1])}
    figure = decision_regions(models, X)
    shades = [trace for trace in figure.data if isinstance(trace, go.Heatmap)]
    assert len({(shade.zmin, shade.zmax) for shade in shades}) == 1
    middle = np.median(X, axis=0)
    place = np.array([[shades[0].x[3], shades[0].y[5], middle[2]]])
    assert np.asarray(shades[1].z)[5, 3] == pytest.approx(models["two"].predict(place)[0])


@pytest.mark.covers("decision-regions")
def test_what_cannot_be_drawn_is_refused(rng):
    X, y = three_clouds(rng)
    model = GaussianClassifier().fit(X, y)
    with pytest.raises(DataError, match="two different"):
        decision_regions(model, X, columns=(1, 1))
    with pytest.raises(DataError, match="cannot be fixed"):
        decision_regions(model, X, fixed={0: 1.0})
    with pytest.raises(DataError, match="same classes"):
        decision_regions({"a": model, "b": LinearRegression().fit(X, X[:, 0])}, X)
