"""The torch engine takes the steps of the own engine; layers agree with torch's."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

from gnomon.engine.errors import GnomonWarning
from gnomon.neural import (
    L2,
    BinaryCrossEntropy,
    CrossEntropy,
    Dense,
    Flatten,
    MaxPool2D,
    MaxUnpool2D,
    Network,
    PoissonLoss,
    SquaredLoss,
    train,
)
from tests.truth.test_network_gradients import ON_COLUMNS, ON_IMAGES

torch = pytest.importorskip("torch", reason="the extra deep (torch) is not installed")
torch.set_num_threads(1)
STEPS = 20


def trained(engine: str, network: Network, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return train(network, X, y, engine=engine, max_iter=STEPS // 2, random_state=3, **options)


def assert_same_steps(network, X, y, **options):
    own = trained("own", network, X, y, batch_size=-(-len(X) // 2), **options)
    other = trained("torch", network, X, y, batch_size=-(-len(X) // 2), **options)
    np.testing.assert_allclose(other.parameters.flat, own.parameters.flat, rtol=0, atol=1e-10)
    np.testing.assert_allclose(other.losses, own.losses, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", list(ON_IMAGES))
def test_both_engines_take_the_same_steps_on_images(name, rng):
    network = Network([ON_IMAGES[name], Flatten(), Dense(2)], (7, 6, 4))
    X, y = rng.normal(size=(10, 7, 6, 4)), rng.normal(size=(10, 2))
    assert_same_steps(network, X, y, loss="squared_error", solver="momentum", penalty=L2(0.01))


@pytest.mark.parametrize("name", list(ON_COLUMNS))
def test_both_engines_take_the_same_steps_on_columns(name, rng):
    network = Network([Dense(5, "tanh"), ON_COLUMNS[name], Dense(3)], 4)
    weights = rng.random(12) + 0.5
    X, y = rng.normal(size=(12, 4)), rng.integers(0, 3, 12)
    assert_same_steps(network, X, y, solver="momentum", sample_weight=weights)


@pytest.mark.parametrize("loss", [SquaredLoss(), BinaryCrossEntropy(), PoissonLoss()])
@pytest.mark.parametrize("solver", ["sgd", "nesterov", "adam"])
def test_both_engines_take_the_same_steps_for_each_loss(loss, solver, rng):
    network = Network([Dense(5, "softplus"), Dense(2)], 4)
    X, y = rng.normal(size=(12, 4)), rng.integers(0, 2, (12, 2)).astype(float)
    assert_same_steps(network, X, y, loss=loss, solver=solver)


def test_unpooling_by_switches_is_the_same_in_both_engines(rng):
    network = Network(
        [MaxPool2D(2, name="pool"), MaxUnpool2D("pool"), Flatten(), Dense(3)], (6, 6, 2)
    )
    X, y = rng.normal(size=(8, 6, 6, 2)), rng.integers(0, 3, 8)
    assert_same_steps(network, X, y, loss=CrossEntropy())


def test_predictions_of_both_engines_agree(rng):
    from gnomon.neural.torch_engine import torch_predict

    for layer in ON_IMAGES.values():
        network = Network([layer, Flatten(), Dense(2)], (7, 6, 4))
        parameters, X = network.initial(rng), rng.normal(size=(3, 7, 6, 4))
        own = network.predict(parameters, X)
        np.testing.assert_allclose(torch_predict(network, parameters, X), own, atol=1e-12)


def test_the_package_never_imports_torch_by_itself():
    code = "import sys, gnomon.neural; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
