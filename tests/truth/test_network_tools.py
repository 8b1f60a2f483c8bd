"""Graphs of scalars, symbolic derivatives, probes, reused and grown networks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.neural import (
    Conv2D,
    Dense,
    Flatten,
    MaxPool2D,
    Network,
    PerceptualLoss,
    Scalar,
    activation_maximization,
    adversarial_example,
    copied,
    count_linear_regions,
    dense_as_convolution,
    feature_stack,
    fine_tune,
    fully_connected_dag,
    input_gradient,
    linear_regions_bound,
    network_jacobian,
    train,
    train_curriculum,
)
from gnomon.neural.losses import CrossEntropy, SquaredLoss
from gnomon.neural.symbolic import cos, exp, gradient, log, ordered, sin, tanh, variable


def central(function, x, step=1e-5):
    slopes = [(function(x + h) - function(x - h)) / (2 * h) for h in (step, 2 * step)]
    return (4 * slopes[0] - slopes[1]) / 3


@pytest.mark.covers("backpropagation-scalar-graph")
def test_a_scalar_graph_has_the_gradient_of_central_differences(rng):
    a, b = rng.uniform(0.5, 1.5, 2)

    def formula(x, y):
        if isinstance(x, Scalar):
            return (
                (x * y + x.tanh()) / (1.0 + y.exp()) - x.log() * y.logistic() + (x - y).relu() ** 2
            )
        return (
            (x * y + np.tanh(x)) / (1 + np.exp(y))
            - np.log(x) / (1 + np.exp(-y))
            + max(x - y, 0) ** 2
        )

    x, y = Scalar(a), Scalar(b)
    z = formula(x, y)
    z.backward()
    assert z.value == pytest.approx(formula(a, b))
    assert x.gradient == pytest.approx(central(lambda v: formula(v, b), a), abs=1e-8)
    assert y.gradient == pytest.approx(central(lambda v: formula(a, v), b), abs=1e-8)


def test_the_cost_of_a_scalar_graph_is_its_edges_and_not_its_paths():
    x = Scalar(1.0)
    z = x
    for _ in range(60):  # 2^60 paths
        z = z + z
    assert z.backward() == 120
    assert x.gradient == 2.0**60


@pytest.mark.covers("backpropagation-symbolic")
def test_symbolic_derivatives_of_first_and_second_order_are_right(rng):
    x, y = variable("x"), variable("y")
    formula = tanh(x * y) + exp(sin(x)) / log(y + 3.0) + x**3.0 * cos(y)
    a, b = rng.uniform(0.3, 1.2, 2)
    first = gradient(formula, x)
    assert first.value(x=a, y=b) == pytest.approx(
        central(lambda v: formula.value(x=v, y=b), a), abs=1e-8
    )
    for by, at in ((x, a), (y, b)):
        second = gradient(first, by)

        def along(v, by=by):
            return first.value(**({"x": v, "y": b} if by is x else {"x": a, "y": v}))

        assert second.value(x=a, y=b) == pytest.approx(central(along, at), abs=1e-8)


def test_symbolic_derivatives_are_built_once_for_each_node():
    x = variable("x")
    z = x
    for _ in range(40):
        z = tanh(z + z)
    assert len(ordered(gradient(z, x))) < 40 * 12
    assert gradient(variable("y"), x).value() == 0.0
    with pytest.raises(DataError, match="value of the variable 'x'"):
        z.value(y=1.0)


@pytest.fixture
def net():
    return Network(
        [Conv2D(3, 2, "tanh", name="first"), Flatten(), Dense(3, name="last")], (4, 4, 1)
    )


@pytest.mark.covers("input-gradient", "jacobian-chain-rule")
def test_input_gradient_and_jacobian_agree_with_central_differences(net, rng):
    p, x = net.initial(rng), rng.normal(size=(4, 4, 1))
    jacobian = network_jacobian(net, p, x)
    slope = input_gradient(net, p, x[None], np.array([1]))[0].ravel()
    for i in rng.choice(16, 5, replace=False):

        def output(v, i=i):
            moved = x.ravel().copy()
            moved[i] = v
            return net.predict(p, moved.reshape(1, 4, 4, 1))

        np.testing.assert_allclose(
            jacobian[:, i], central(lambda v: output(v)[0], x.ravel()[i]), atol=1e-8
        )
        expected = central(lambda v: CrossEntropy()(output(v), np.array([1]))[0][0], x.ravel()[i])
        assert slope[i] == pytest.approx(expected, abs=1e-8)


@pytest.mark.covers("jacobian-chain-rule")
def test_the_jacobian_of_a_chain_is_the_product_of_jacobians(rng):
    whole = Network([Dense(4, "tanh"), Dense(3, "logistic")], 5)
    p, x = whole.initial(rng), rng.normal(size=5)
    first = Network([Dense(4, "tanh")], 5)
    second = Network([Dense(3, "logistic", name="dense2")], 4)
    a, b = copied(first, p), copied(second, p)
    between = first.predict(a, x[None])[0]
    product = network_jacobian(second, b, between) @ network_jacobian(first, a, x)
    np.testing.assert_allclose(network_jacobian(whole, p, x), product, atol=1e-12)


@pytest.mark.covers("adversarial-example")
def test_an_adversarial_example_reaches_its_class_by_a_small_change(rng):
    X = rng.normal(size=(200, 6))
    y = (X[:, 0] > 0).astype(int)
    network = Network([Dense(8, "tanh"), Dense(2)], 6)
    found = train(network, X, y, learning_rate=0.02, max_iter=40)
    row = X[np.argmax(X[:, 0])]
    changed = adversarial_example(network, found.parameters, row, 0, penalty=0.001)
    assert (changed.before, changed.after) == (1, 0)
    assert changed.probability > 0.5
    assert changed.norm < np.linalg.norm(row - X[y == 0].mean(axis=0)) + np.linalg.norm(row)
    with pytest.raises(DataError, match="there is no 5"):
        adversarial_example(network, found.parameters, row, 5)


@pytest.mark.covers("activation-maximisation")
def test_activation_maximization_excites_the_unit_more_than_random_inputs(net, rng):
    p = net.initial(rng)
    x = activation_maximization(net, p, "last", 2, penalty=0.001)
    others = rng.normal(size=(200, 4, 4, 1))
    others *= np.linalg.norm(x) / np.sqrt((others**2).sum(axis=(1, 2, 3), keepdims=True))
    assert net.predict(p, x[None])[0, 2] > net.predict(p, others)[:, 2].max()


@pytest.mark.covers("perceptual-loss")
def test_perceptual_loss_has_the_gradient_of_central_differences(net, rng):
    loss = PerceptualLoss(net, net.initial(rng), {"first": 0.7, "last": 0.2}, pixel_weight=0.3)
    output, target = rng.normal(size=(2, 16)), rng.normal(size=(2, 16))
    gradient_found = loss(output, target)[1]
    for i in rng.choice(16, 4, replace=False):

        def value(v, i=i):
            moved = output.copy()
            moved[1, i] = v
            return loss(moved, target)[0].sum()

        assert gradient_found[1, i] == pytest.approx(central(value, output[1, i]), abs=1e-8)
    assert loss(output, output)[0] == pytest.approx(0)


@pytest.mark.covers("fully-connected-as-convolution", "conv-1x1")
def test_a_dense_layer_is_a_convolution_and_scans_larger_images(rng):
    dense = Network([Flatten(), Dense(5, "tanh")], (3, 4, 2))
    p = dense.initial(rng)
    layer, weight = dense_as_convolution(dense.nodes[1].layer, p["dense1"]["weight"], (3, 4, 2))
    conv = Network([layer], (3, 4, 2))
    q = conv.initial(0)
    q["conv2d1"]["weight"][:], q["conv2d1"]["bias"][:] = weight, p["dense1"]["bias"]
    x = rng.normal(size=(6, 3, 4, 2))
    np.testing.assert_allclose(conv.predict(q, x)[:, 0, 0], dense.predict(p, x), atol=1e-12)
    larger = Network([layer], (5, 6, 2))
    image = rng.normal(size=(1, 5, 6, 2))
    scanned = larger.predict(larger.from_flat(q.flat), image)
    np.testing.assert_allclose(
        scanned[0, 2, 1], dense.predict(p, image[:, 2:5, 1:5])[0], atol=1e-12
    )
    mixing = Network([Conv2D(4, 1)], (3, 3, 2))
    m = mixing.initial(rng)
    x = rng.normal(size=(2, 3, 3, 2))
    expected = x @ m["conv2d1"]["weight"][0, 0] + m["conv2d1"]["bias"]
    np.testing.assert_allclose(mixing.predict(m, x), expected, atol=1e-12)


def classes(rng, n=200):
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.covers("transfer-learning")
def test_transfer_reuses_layers_frozen_or_fine_tuned(rng):
    X, y = classes(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        source = Network([Dense(20, "tanh", name="body"), Dense(2, name="head")], 4)
        found = train(source, X, y, learning_rate=0.02, max_iter=60)
        features = feature_stack(source, found.parameters, "body", X)
        frozen = fine_tune(
            source, found.parameters, "body", [Dense(2)], X, 1 - y, freeze=True, max_iter=5
        )
        tuned = fine_tune(source, found.parameters, "body", [Dense(2)], X, 1 - y, max_iter=5)
    assert features.shape == (200, 20)
    np.testing.assert_array_equal(
        frozen.parameters["body"]["weight"], found.parameters["body"]["weight"]
    )
    assert (tuned.parameters["body"]["weight"] != found.parameters["body"]["weight"]).any()


@pytest.mark.covers("depth-growing-initialisation")
def test_a_deeper_network_starts_from_the_trained_layers_of_a_shallower_one(rng):
    shallow = Network([Dense(6, "relu", name="one"), Dense(2, name="last")], 4)
    p = shallow.initial(rng)
    deep = Network(
        [Dense(6, "relu", name="one"), Dense(6, "relu", name="two"), Dense(2, name="last")], 4
    )
    q = copied(deep, p, 0)
    for name in ("one", "last"):
        np.testing.assert_array_equal(q[name]["weight"], p[name]["weight"])
    assert (q["two"]["weight"] != 0).all()


@pytest.mark.covers("curriculum-learning")
def test_a_curriculum_takes_more_and_harder_rows_in_each_stage(rng):
    X, y = classes(rng)
    network = Network([Dense(10, "tanh"), Dense(2)], 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        stages = train_curriculum(
            network, X, y, -np.abs(X[:, 0] * X[:, 1]), stages=3, max_iter=20, learning_rate=0.02
        )
    assert len(stages) == 3
    last = stages[-1]
    assert -np.log(last.predict(X)[np.arange(200), y]).mean() < np.log(2)


@pytest.mark.covers("fully-connected-dag-network")
def test_every_unit_of_a_fully_connected_dag_takes_in_all_before_it(rng):
    network = fully_connected_dag(3, 2, 4)
    assert network.n_parameters == 5 + 6 + 7 + 2 * 8
    p, x = network.initial(rng), rng.normal(size=(1, 4))
    seen = x[0]
    for number in (1, 2, 3):
        views = p[f"unit{number}"]
        seen = np.append(seen, np.tanh(seen @ views["weight"] + views["bias"]))
    expected = seen @ p["output"]["weight"] + p["output"]["bias"]
    np.testing.assert_allclose(network.predict(p, x)[0], expected)
    tape = network.forward(p, x)[1]
    assert network.backward(p, tape, SquaredLoss()(expected[None], np.zeros((1, 2)))[1])


@pytest.mark.covers("linear-regions-count")
def test_linear_regions_of_one_layer_are_those_of_an_arrangement_of_lines(rng):
    """n lines in general position cut the plane in 1 + n + n (n - 1) / 2 regions."""
    network = Network([Dense(3, "relu"), Dense(1)], 2)
    p = network.initial(0)
    p["dense1"]["weight"][:] = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    p["dense1"]["bias"][:] = [0.01, 0.02, -0.3]
    assert count_linear_regions(network, p, size=300) == 1 + 3 + 3
    assert linear_regions_bound(2, 1, 3) == 9
    assert linear_regions_bound(2, 4, 8) / linear_regions_bound(2, 3, 8) == 16
    with pytest.raises(DataError, match="two inputs"):
        count_linear_regions(Network([Dense(1)], 3), network.initial(0))


def test_max_pooling_keeps_the_first_of_equal_numbers():
    network = Network([MaxPool2D(2)], (2, 2, 1))
    tape = network.forward(network.initial(0), np.ones((1, 2, 2, 1)))[1]
    back = network.backward(network.initial(0), tape, np.ones((1, 1, 1, 1)))[1]
    assert back[0, :, :, 0].tolist() == [[1, 0], [0, 0]]
