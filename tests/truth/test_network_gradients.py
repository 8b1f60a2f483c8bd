"""Gradients of every layer, loss and activation against central differences."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.neural import (
    ACTIVATIONS,
    LAYERS,
    AbsoluteLoss,
    Activation,
    Add,
    BatchNorm,
    BinaryCrossEntropy,
    Conv2D,
    ConvTranspose2D,
    CrossEntropy,
    Dense,
    DropConnect,
    Dropout,
    Flatten,
    GroupNorm,
    LocalResponseNorm,
    Maxout,
    MaxPool2D,
    MaxUnpool2D,
    MeanPool2D,
    MeanUnpool2D,
    MixedLoss,
    Network,
    PoissonLoss,
    PReLU,
    Reshape,
    Residual,
    Run,
    Sequential,
    SquaredLoss,
    Stack,
    Upsample2D,
    grid_reduction,
    inception,
)

STEP = 1e-5
TRIED = 12
WITHIN = 1e-8

ON_IMAGES = {
    "grouped, strided convolution": Conv2D(4, 3, "tanh", 2, "same", groups=2),
    "dilated convolution": Conv2D(3, (2, 3), dilation=2, padding=(1, 0, 2, 1)),
    "1x1 convolution": Conv2D(3, 1, "logistic"),
    "transposed convolution": ConvTranspose2D(3, 3, "sine", 2, 1, 1),
    "max pooling": MaxPool2D(3, 2, "same"),
    "mean pooling": MeanPool2D(3, 2, "same"),
    "mean unpooling": MeanUnpool2D(2),
    "bilinear upsampling": Upsample2D((2, 3)),
    "batch normalisation": BatchNorm(),
    "batch normalisation by lagged statistics": BatchNorm(statistics="lagged"),
    "group normalisation": GroupNorm(2),
    "group normalisation over the batch": GroupNorm(2, over="batch"),
    "local response normalisation": LocalResponseNorm(3, alpha=0.5),
    "dropout": Dropout(0.3),
    "parametric relu": PReLU(),
    "activation": Activation("softplus"),
    "reshape": Reshape((6, 7, 4)),
    "residual with projection": Residual(
        (Conv2D(6, 3, "tanh", stride=2, padding="same"), Conv2D(6, 3, padding="same")), "tanh"
    ),
    "residual": Residual((Conv2D(4, 3, padding="same"),), "softplus"),
    "sequence": Sequential((Dropout(0.2), Conv2D(2, 2))),
    "inception": inception(2, (2, 3), (1, 2), 2, activation="tanh"),
    "grid reduction": grid_reduction(3, activation="tanh"),
}
ON_COLUMNS = {
    "dense": Dense(3, "tanh"),
    "dense without bias": Dense(3, bias=False),
    "maxout": Maxout(3),
    "dropconnect": DropConnect(3, 0.4, "tanh"),
    "batch normalisation": BatchNorm(),
    "residual": Residual((Dense(5),), "tanh"),
    "residual with projection": Residual((Dense(4),), "tanh"),
}


def worst_gradient_error(network, x, loss, y, rng, weights=None) -> float:
    """Largest difference of backward and extrapolated central differences, relative above one."""
    parameters = network.initial(rng)
    draws = int(rng.integers(2**31))

    def value():
        run = Run(True, np.random.default_rng(draws), weights)
        output, tape = network.forward(parameters, x, run)
        losses, gradient = loss(output, y)
        return losses.sum(), gradient, tape

    _, gradient, tape = value()
    slopes, to_input = network.backward(parameters, tape, gradient)
    pairs = [
        (parameters.flat, slopes.flat, network.n_parameters),
        (x.reshape(-1), to_input.ravel(), x.size),
    ]
    worst = 0.0
    for numbers, found, n in pairs:
        for i in rng.choice(n, min(n, TRIED), replace=False):
            at, slope = numbers[i], []
            for step in (STEP, 2 * STEP):
                ends = []
                for moved in (at + step, at - step):
                    numbers[i] = moved
                    ends.append(value()[0])
                numbers[i] = at
                slope.append((ends[0] - ends[1]) / (2 * step))
            expected = (4 * slope[0] - slope[1]) / 3
            worst = max(worst, abs(expected - found[i]) / max(1.0, abs(expected)))
    return worst


@pytest.mark.covers(
    "conv-layer", "conv-1x1", "grouped-convolution", "transposed-convolution", "pooling-layer",
    "unpooling", "bilinear-upsampling", "batch-normalisation", "group-normalisation",
    "local-response-normalisation", "residual-block", "inception-module", "stack-layer",
    "backpropagation-layers", "input-gradient",
)  # fmt: skip
@pytest.mark.parametrize("name", list(ON_IMAGES))
def test_a_layer_on_images_has_the_gradient_of_central_differences(name, rng):
    network = Network([Conv2D(4, 1), ON_IMAGES[name], Flatten(), Dense(2)], (7, 6, 4))
    x, y = rng.normal(size=(4, 7, 6, 4)), rng.normal(size=(4, 2))
    assert worst_gradient_error(network, x, SquaredLoss(), y, rng) < WITHIN


@pytest.mark.covers("activation-maxout", "dropconnect", "dropout")
@pytest.mark.parametrize("name", list(ON_COLUMNS))
def test_a_layer_on_columns_has_the_gradient_of_central_differences(name, rng):
    network = Network([Dense(5, "tanh"), ON_COLUMNS[name], Dense(3)], 4)
    x, y = rng.normal(size=(6, 4)), rng.integers(0, 3, 6)
    assert worst_gradient_error(network, x, CrossEntropy(), y, rng) < WITHIN


@pytest.mark.covers(
    "activation-sigmoid", "activation-tanh", "activation-relu", "activation-algebraic-arctan",
    "softmax",
)  # fmt: skip
@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_an_activation_has_the_gradient_of_central_differences(name, rng):
    network = Network([Dense(5, name), Dense(3)], 4)
    x, y = rng.normal(size=(6, 4)), rng.random((6, 3))
    assert worst_gradient_error(network, x, SquaredLoss(), y, rng) < WITHIN


LOSSES_TRIED = {
    "squared": (SquaredLoss(), lambda rng: rng.random((6, 3))),
    "absolute": (AbsoluteLoss(), lambda rng: rng.random((6, 3)) + 5),
    "classes": (CrossEntropy(), lambda rng: rng.integers(0, 3, 6)),
    "probabilities": (CrossEntropy(), lambda rng: rng.dirichlet(np.ones(3), 6)),
    "binary": (BinaryCrossEntropy(), lambda rng: rng.integers(0, 2, (6, 3))),
    "poisson": (PoissonLoss(), lambda rng: rng.poisson(2, (6, 3))),
    "mixed": (
        MixedLoss([(CrossEntropy(), 2), (SquaredLoss(), 1)]),
        lambda rng: np.column_stack([rng.integers(0, 2, 6), rng.normal(size=6)]),
    ),
}


@pytest.mark.covers("linear-output-unit")
@pytest.mark.parametrize("name", list(LOSSES_TRIED))
def test_a_loss_has_the_gradient_of_central_differences(name, rng):
    loss, target = LOSSES_TRIED[name]
    network = Network([Dense(4, "tanh"), Dense(3)], 4)
    assert worst_gradient_error(network, rng.normal(size=(6, 4)), loss, target(rng), rng) < WITHIN


def test_weighted_batch_normalisation_has_the_gradient_of_central_differences(rng):
    network = Network([Dense(5, "tanh"), BatchNorm(), Dense(3)], 4)
    x, y, weights = rng.normal(size=(6, 4)), rng.random((6, 3)), rng.random(6) + 0.1
    assert worst_gradient_error(network, x, SquaredLoss(), y, rng, weights) < WITHIN


@pytest.mark.covers("computation-graph")
def test_a_graph_with_several_consumers_has_the_gradient_of_central_differences(rng):
    network = Network(
        {
            "first": Conv2D(4, 1),
            "pool": MaxPool2D(2),
            "inner": Conv2D(4, 1, "tanh"),
            "back": MaxUnpool2D("pool"),
            "sum": (Add("tanh"), ["back", "first"]),
            "both": (Stack(), ["sum", "back"]),
            "flat": Flatten(),
            "scores": Dense(3),
        },
        (6, 6, 2),
    )
    x, y = rng.normal(size=(4, 6, 6, 2)), rng.integers(0, 3, 4)
    assert worst_gradient_error(network, x, CrossEntropy(), y, rng) < WITHIN


def random_graph(rng: np.random.Generator) -> Network:
    """Dense nodes that each take in one or two earlier ones of equal width."""
    graph: dict = {"n0": (Dense(4, "tanh"), ["input"])}
    unused = {"n0"}
    for number in range(1, 7):
        names = list(graph)
        taken = list(rng.choice(names, min(len(names), 2), replace=False))
        unused -= set(taken)
        if len(taken) == 2:
            graph[f"n{number}"] = (Add("tanh") if rng.random() < 0.7 else Add("sine"), taken)
        else:
            graph[f"n{number}"] = (Dense(4, "softplus"), taken)
        unused.add(f"n{number}")
    graph["all"] = (Stack(), sorted(unused)) if len(unused) > 1 else (Dense(4), sorted(unused))
    graph["out"] = (Dense(2), ["all"])
    return Network(graph, 3)


def test_random_graphs_have_the_gradient_of_central_differences(rng):
    for _ in range(4):
        network = random_graph(rng)
        x, y = rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
        assert worst_gradient_error(network, x, SquaredLoss(), y, rng) < WITHIN


def test_every_layer_is_tried_here():
    tried = {layer.kind for layer in [*ON_IMAGES.values(), *ON_COLUMNS.values()]}
    tried |= {"Add", "Stack", "MaxUnpool2D", "Flatten", "Parallel"}
    assert set(LAYERS) <= tried
