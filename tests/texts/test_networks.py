"""Worked numbers of the texts on networks: 000c 16-19, 001 9, 003 4.3, 004 9."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import convolve2d as scipy_convolve2d
from scipy.signal import correlate2d
from scipy.stats import norm

from gnomon.neural import (
    ACTIVATIONS,
    Activation,
    BatchNorm,
    Conv2D,
    ConvTranspose2D,
    Dense,
    Dropout,
    Flatten,
    MaxPool2D,
    MaxUnpool2D,
    MeanPool2D,
    MeanUnpool2D,
    Network,
    Residual,
    Run,
    SquaredLoss,
    convolve2d,
    softmax,
    softmax_jacobian,
)

COUNTED = np.arange(1.0, 26).reshape(5, 5)
EDGE = np.array([[1, 0, -1]] * 3)


def through(layer, image, **views):
    out = layer.forward(views, np.asarray(image, dtype=float)[None, :, :, None], Run())[0]
    return out[0, :, :, 0].tolist()


@pytest.mark.covers("backpropagation-layers", "mlp")
@pytest.mark.parametrize(
    ("name", "output", "loss", "dW1"),
    [
        ("tanh", -0.355644, 0.918886, [[-0.651416, -1.302832], [0.341601, 0.683203]]),
        ("relu", -0.4, 0.98, [[0, 0], [0.84, 1.68]]),
        ("logistic", -0.013552, 0.513644, [[-0.125435, -0.250871], [0.119566, 0.239132]]),
    ],
)
def test_back_propagation_of_001_section_9_5_5(name, output, loss, dW1):
    net = Network([Dense(2, name), Dense(1)], 2)
    p = net.initial(0)
    p["dense1"]["weight"][:] = np.array([[0.1, -0.2], [0.3, 0.4]]).T
    p["dense1"]["bias"][:] = [0.1, -0.1]
    p["dense2"]["weight"][:] = [[0.5], [-0.6]]
    p["dense2"]["bias"][:] = 0.2
    found, tape = net.forward(p, [[1.0, 2.0]])
    losses, gradient = SquaredLoss()(found, np.array([[1.0]]))
    slopes, _ = net.backward(p, tape, gradient)
    assert found[0, 0] == pytest.approx(output, abs=1e-6)
    assert losses[0] == pytest.approx(loss, abs=1e-6)
    np.testing.assert_allclose(slopes["dense1"]["weight"].T, dW1, atol=1e-6)


@pytest.mark.covers("softmax")
def test_softmax_and_its_jacobian_of_001():
    np.testing.assert_allclose(
        softmax(np.array([1.0, 2, 3])), [0.090031, 0.244728, 0.665241], atol=1e-6
    )
    rows = [[0.081925, -0.022033, -0.059892], [-0.022033, 0.184836, -0.162803]]
    np.testing.assert_allclose(softmax_jacobian([1.0, 2, 3])[:2], rows, atol=1e-6)


@pytest.mark.covers("convolution-2d", "conv-layer", "pooling-layer")
def test_convolution_and_pooling_of_000c_17_1():
    kernel = EDGE[:, :, None, None].astype(float)
    plain = {"weight": kernel}
    assert through(Conv2D(1, 3, bias=False), COUNTED, **plain) == [[-6.0] * 3] * 3
    assert through(Conv2D(1, 3, stride=2, bias=False), COUNTED, **plain) == [[-6.0] * 2] * 2
    padded = through(Conv2D(1, 3, stride=2, padding=1, bias=False), COUNTED, **plain)
    assert padded == [[-9, -4, 13], [-36, -6, 42], [-39, -4, 43]]
    assert through(MaxPool2D(2), COUNTED) == [[7, 9], [17, 19]]
    assert through(MaxPool2D(3, 2), COUNTED) == [[13, 15], [23, 25]]
    assert through(MeanPool2D(2), COUNTED) == [[4, 6], [14, 16]]
    assert through(MeanPool2D(3, 2), COUNTED) == [[7, 9], [17, 19]]


@pytest.mark.covers("convolution-2d")
def test_convolution_is_that_of_scipy(rng):
    for h, w in ((3, 3), (2, 4), (1, 1), (4, 3)):
        image, kernel = rng.normal(size=(7, 9)), rng.normal(size=(h, w))
        for mode in ("valid", "same", "full"):
            found = convolve2d(image, kernel, mode=mode)
            np.testing.assert_allclose(found, scipy_convolve2d(image, kernel, mode), atol=1e-12)
        found = convolve2d(image, kernel, flip=False)
        np.testing.assert_allclose(found, correlate2d(image, kernel, "valid"), atol=1e-12)


@pytest.mark.covers("unpooling", "transposed-convolution")
def test_unpooling_and_transposed_convolution_of_000c_19_2():
    numbers = [[1, 5, 2, 0], [3, 4, 1, 7], [6, 2, 0, 1], [0, 8, 3, 2]]
    net = Network([MaxPool2D(2, name="pool"), MaxUnpool2D("pool")], (4, 4, 1))
    image = np.array(numbers, dtype=float)[None, :, :, None]
    found = net.predict(net.initial(0), image)[0, :, :, 0]
    expected = np.zeros((4, 4))
    expected[0, 1], expected[1, 3], expected[3, 1], expected[3, 2] = 5, 7, 8, 3
    np.testing.assert_array_equal(found, expected)
    mean = Network([MeanPool2D(2), MeanUnpool2D(2)], (4, 4, 1))
    blocks = mean.predict(mean.initial(0), image)[0, ::2, ::2, 0]
    np.testing.assert_array_equal(blocks, [[3.25, 2.5], [4, 1.5]])
    ones = {"weight": np.ones((3, 3, 1, 1)), "bias": np.zeros(1)}
    spread = through(ConvTranspose2D(1, 3, stride=2), [[1, 2], [3, 4]], **ones)
    text = [[1, 1, 3, 2], [1, 1, 3, 2], [4, 4, 10, 6], [3, 3, 7, 4]]  # pads above and left only
    assert np.array(spread)[:4, :4].tolist() == text


@pytest.mark.covers("layer-size-calculator")
def test_sizes_parameters_and_receptive_fields_of_000c_17_2():
    mnist = Network(
        [
            Conv2D(20, 5),
            MaxPool2D(2),
            Conv2D(50, 5),
            MaxPool2D(2),
            Conv2D(500, 4, "relu"),
            Conv2D(10, 1),
            Flatten(),
        ],
        (28, 28, 1),
    )
    summary = mnist.summary()
    assert mnist.n_parameters == 431_080
    assert [n for n in summary.n_parameters if n] == [520, 25_050, 400_500, 5_010]
    assert summary.receptive_fields[:5] == [5, 6, 14, 16, 28]
    right = (0, 1, 0, 1)
    cifar = Network(
        [
            Conv2D(32, 5, padding=2),
            MaxPool2D(3, 2, right),
            Conv2D(32, 5, "relu", padding=2),
            MeanPool2D(3, 2, right),
            Conv2D(64, 5, "relu", padding=2),
            MeanPool2D(3, 2, right),
            Conv2D(64, 4, "relu"),
            Conv2D(10, 1),
        ],
        (32, 32, 3),
    )
    assert cifar.n_parameters == 145_578
    assert [n for n in cifar.summary().n_parameters if n] == [2_432, 25_632, 51_264, 65_600, 650]
    assert cifar.summary().receptive_fields[:7] == [5, 7, 15, 19, 35, 43, 67]
    assert "431,080 parameters" in str(summary)


@pytest.mark.parametrize(("depth", "expected"), [(1, 2602), (2, 12_702), (3, 22_802), (4, 32_902)])
def test_parameters_of_the_credit_networks_of_000c(depth, expected):
    assert Network([*[Dense(100) for _ in range(depth)], Dense(2)], 23).n_parameters == expected


@pytest.mark.covers("activation-tanh", "activation-sigmoid")
def test_tanh_and_the_normal_distribution_of_003_4_3():
    z = np.linspace(-5, 5, 2001)
    tanh, logistic = ACTIVATIONS["tanh"], ACTIVATIONS["logistic"]
    np.testing.assert_allclose(tanh.value(z), 2 * logistic.value(2 * z) - 1, atol=1e-12)
    assert np.abs((tanh.value(0.8505 * z) + 1) / 2 - norm.cdf(z)).max() < 0.0096
    bump = 0.25715 * (tanh.value(1.04356 * z + 1.0215) - tanh.value(1.04356 * z - 1.0215))
    assert np.abs(bump - norm.pdf(z)).max() < 0.0032


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_inverses_and_integrals_of_activations_are_such(name):
    function, z = ACTIVATIONS[name], np.linspace(-2, 2, 401)
    if function.inverse is not None:
        some = z[::50] if name != "exponential" else np.abs(z[::50])
        np.testing.assert_allclose(function.inverse(function.value(some)), some, atol=1e-9)
    if function.integral is not None:
        area = np.concatenate(
            [[0], np.cumsum((function.value(z)[1:] + function.value(z)[:-1]) / 200)]
        )
        found = function.integral(z) - function.integral(z[:1])
        np.testing.assert_allclose(found, area, atol=2e-4)


@pytest.mark.covers("dropout", "batch-normalisation", "residual-block")
def test_properties_of_dropout_batch_normalisation_and_residual_layers_of_000c(rng):
    x = rng.normal(3, 2, size=(4000, 3))
    dropped = Dropout(0.4).forward({}, x, Run(True, rng))[0]
    np.testing.assert_allclose(dropped.mean(axis=0), x.mean(axis=0), atol=0.35)
    net = Network([BatchNorm()], 3)
    out, _ = net.forward(net.initial(0), x, Run(True))
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(out.var(axis=0), 1, atol=1e-4)
    same = Network([Residual((Dense(3),), "identity")], 3)
    np.testing.assert_array_equal(same.predict(same.initial(0, init="zeros"), x), x)


@pytest.mark.covers("relu-unit-classifier", "dead-unit-detector")
def test_relu_units_and_softmax_tie_where_all_units_are_off():
    net = Network([Dense(3, "relu"), Activation("softmax")], 2)
    p = net.initial(0, init="zeros")
    p["dense1"]["bias"][:] = -1.0
    np.testing.assert_allclose(net.predict(p, [[0.5, 0.2]]), 1 / 3)
    p["dense1"]["weight"][:, 0] = 4.0
    o = 4 * 0.7 - 1
    expected = np.exp(o) / (np.exp(o) + 2)
    assert net.predict(p, [[0.5, 0.2]])[0, 0] == pytest.approx(expected)
