"""Pictures of networks draw the numbers that the networks give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gnomon import show
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.neural import (
    Add,
    Conv2D,
    Dense,
    Flatten,
    MaxPool2D,
    Network,
    adversarial_example,
    train,
)

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])


@pytest.fixture
def bars(rng):
    """Images of rows and columns, and a small network that was trained on them."""
    X, y = 0.05 * rng.random((60, 8, 8, 1)), np.arange(60) % 2
    for i, place in enumerate(rng.integers(0, 8, 60)):
        if y[i]:
            X[i, place] = 1.0
        else:
            X[i, :, place] = 1.0
    net = Network(
        [Conv2D(6, 3, "relu", name="first"), MaxPool2D(2), Flatten(), Dense(2)], (8, 8, 1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        found = train(
            net, X[:40], y[:40], validation=(X[40:], y[40:]), max_iter=6, learning_rate=0.01
        )
    return X, y, net, found


def words(figure) -> str:
    return " ".join(each.text for each in figure.layout.annotations if each.text)


@pytest.mark.covers("activation-function-plot")
@THEMES
def test_activations_and_slopes_are_drawn_side_by_side(theme):
    figure = show.activation_curves(["tanh", "relu"], theme=theme)
    value, slope = figure.data[0], figure.data[1]
    np.testing.assert_allclose(value.y, np.tanh(value.x))
    np.testing.assert_allclose(slope.y, 1 - np.tanh(slope.x) ** 2)


@pytest.mark.covers("sigmoid-sum-builder")
@THEMES
def test_the_sum_of_sigmoids_passes_through_all_points(theme, rng):
    x, y = np.arange(6.0), rng.normal(size=6)
    figure = show.sigmoid_sum(x, y, theme=theme)
    total = next(trace for trace in figure.data if trace.name == "their sum")
    np.testing.assert_allclose(np.interp(x, total.x, total.y), y, atol=0.02)
    assert sum((trace.name or "").startswith("unit") for trace in figure.data) == 5
    with pytest.raises(DataError, match="distinct x"):
        show.sigmoid_sum([1, 1], [0, 1])


@pytest.mark.covers("neuron-drawing")
@THEMES
def test_a_unit_shows_its_weights(theme):
    assert "0.5 -1.2 0.3" in words(show.neuron([0.5, -1.2], 0.3, theme=theme))


@pytest.mark.covers("network-three-views", "architecture-comparison")
@THEMES
def test_blocks_boxes_and_units_tell_sizes_and_parameters(theme, bars):
    _, _, net, _ = bars
    told = words(show.network_blocks(net, theme=theme))
    assert "6 x 6 x 6" in told
    assert "sees 3" in told
    boxes = show.architectures({"a": net, "b": Network([Dense(2)], 3)}, theme=theme)
    assert "8 parameters" in words(boxes)
    assert len(boxes.layout.shapes) == 5
    small = Network([Dense(4, "tanh"), Dense(2)], 3)
    units = show.network_units(small, small.initial(0), theme=theme)
    assert sum(len(trace.x) for trace in units.data if trace.mode == "markers+text") == 9
    with pytest.raises(DataError, match="dense layers"):
        show.network_units(net)


@pytest.mark.covers("computation-graph-drawing")
@THEMES
def test_a_computation_graph_shows_values_and_summed_gradients(theme):
    net = Network({"a": Dense(1), "b": (Dense(1), ["a"]), "out": (Add(), ["a", "b"])}, 1)
    p = net.initial(0, init="zeros")
    p["a"]["weight"][:], p["b"]["weight"][:] = 3.0, 2.0
    told = words(show.computation_graph(net, p, [1.0], theme=theme))
    assert "value (9)" in told  # 3 + 2 * 3
    assert "gradient (9)" in told  # of the input: 3 (1 + 2)


@pytest.mark.covers("convolution-schematic")
@THEMES
def test_the_convolution_is_drawn_with_its_numbers(theme):
    figure = show.convolution_steps(
        np.arange(1, 26).reshape(5, 5), [[1, 0, -1]] * 3, stride=2, padding=1, theme=theme
    )
    assert figure.data[2].z.tolist() == [[-9, -4, 13], [-36, -6, 42], [-39, -4, 43]]
    with pytest.raises(DataError, match="too many"):
        show.convolution_steps(np.zeros((40, 40)), [[1]])


@pytest.mark.covers("adversarial-triple", "strongest-response-gallery")
@THEMES
def test_adversarial_triple_and_gallery_show_what_the_network_gives(theme, bars):
    X, y, net, found = bars
    example = adversarial_example(net, found.parameters, X[0], 1 - int(y[0]), bounds=(0, 1))
    figure = show.adversarial_triple(
        example, net, found.parameters, classes=["column", "row"], theme=theme
    )
    assert len(figure.data) == 3
    gallery = show.strongest_responses(
        net, found.parameters, "first", X, units=(0, 3), n_images=4, theme=theme
    )
    responses = net.forward(found.parameters, X)[1].outputs["first"][..., 3].max(axis=(1, 2))
    np.testing.assert_array_equal(
        gallery.data[4].z, X[np.argsort(-responses, kind="stable")[0], :, :, 0]
    )


@pytest.mark.covers("input-output-batches", "intensity-profile", "kernel-response-view")
@THEMES
def test_batches_profiles_and_responses_are_drawn(theme, bars):
    X, _, _, _ = bars
    figure = show.image_batches({"true": X[:3], "noisy": X[3:6]}, theme=theme)
    np.testing.assert_array_equal(figure.data[3].z, X[3, :, :, 0])
    edge = np.zeros((4, 9))
    edge[:, 4:] = 1
    shifted = np.roll(edge, 1, axis=1)
    shifted[:, 0] = 0
    profile = show.intensity_profile({"true": edge, "shifted": shifted}, 2, theme=theme)
    assert "0.111" in profile.data[1].name
    response = show.kernel_responses(edge, [[[-1, 1]]], theme=theme)
    assert len(response.data) == 4
    assert (np.argmax(response.data[2].z, axis=1) == 3).all()


@THEMES
def test_training_curves_show_the_history_and_the_baseline(theme, bars):
    _, _, _, found = bars
    figure = show.training_curves(found, theme=theme)
    losses, *_ = [list(trace.y) for trace in figure.data if trace.name == "training"]
    *_, errors = [list(trace.y) for trace in figure.data if trace.name == "validation"]
    assert losses == found.losses
    assert errors == found.validation_errors
    (level,) = [list(trace.y) for trace in figure.data if trace.name == "most frequent class"]
    assert level == [0.5, 0.5]
    together = show.training_curves([found, found], theme=theme)
    assert sum(trace.name == "validation, other settings" for trace in together.data) == 2
