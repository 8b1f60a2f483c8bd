"""Training: weights are repetitions, threads change no bit, runs resume, faults are told."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.neural import (
    L1,
    BatchNorm,
    Conv2D,
    Dense,
    Dropout,
    Elastic,
    Flatten,
    Lp,
    MaxPool2D,
    MLPClassifier,
    Network,
    NetworkClassifier,
    Slots,
    corrupt_rows,
    max_norm,
    train,
    unit_report,
)
from gnomon.neural.batches import shard_bounds

CREDIT = Path(__file__).parents[2] / "../shared/data/credit_default.csv.gz"


def quiet_train(*given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        return train(*given, **options)


def problem(rng, n=60, d=4):
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


@pytest.mark.covers("network-description")
def test_a_weighted_row_takes_the_same_steps_to_the_bit_as_repeated_rows_in_any_order(rng):
    X, y = problem(rng)
    weights = rng.integers(0, 4, len(X))
    weights[:5] = 1
    rows = rng.permutation(np.repeat(np.arange(len(X)), weights))
    net = Network([Dense(6, "relu"), Dropout(0.3), BatchNorm(), Dense(2)], 4)
    options = {"max_iter": 4, "batch_size": 16}
    weighted = quiet_train(net, X, y, sample_weight=weights, **options)
    repeated = quiet_train(net, X[rows], y[rows], **options)
    np.testing.assert_array_equal(weighted.parameters.flat, repeated.parameters.flat)


def test_fractional_weights_count_by_exactly_their_weight_in_every_epoch(rng):
    weights = rng.random(30) * 3
    slots = Slots(rng.normal(size=(30, 2)), weights=weights)
    seen = np.zeros(30)
    for batch in slots.epoch(4, rng):
        np.add.at(seen, batch.rows, batch.weights)
        assert batch.total <= 4 + 1e-9
    np.testing.assert_allclose(seen, weights)


def test_halves_twice_are_the_same_as_a_whole_row(rng):
    X, y = problem(rng, 20)
    net = Network([Dense(5, "tanh"), Dense(2)], 4)
    one = quiet_train(net, X, y, max_iter=3, batch_size=8)
    halves = quiet_train(
        net,
        np.repeat(X, 2, axis=0),
        np.repeat(y, 2),
        sample_weight=np.full(40, 0.5),
        max_iter=3,
        batch_size=8,
    )
    np.testing.assert_allclose(one.parameters.flat, halves.parameters.flat, atol=1e-12)


def test_any_number_of_threads_gives_the_same_bits(rng):
    X = rng.normal(size=(200, 12, 12, 3))
    y = rng.integers(0, 3, 200)
    net = Network(
        [Conv2D(16, 5, "relu", padding="same"), MaxPool2D(2), Dropout(0.2), Flatten(), Dense(3)],
        (12, 12, 3),
    )
    assert len(shard_bounds(200, net.multiplications, net.across_rows)) > 2
    flats = [
        quiet_train(net, X, y, max_iter=1, batch_size=200, n_jobs=jobs).parameters.flat
        for jobs in (1, 2, 3)
    ]
    np.testing.assert_array_equal(flats[0], flats[1])
    np.testing.assert_array_equal(flats[0], flats[2])


@pytest.mark.parametrize("solver", ["sgd", "momentum", "nesterov", "adagrad", "rmsprop", "adam"])
def test_a_run_that_was_stopped_goes_on_with_the_same_bits(solver, rng, tmp_path):
    X, y = problem(rng)
    net = Network([Dense(6, "relu"), Dropout(0.3), BatchNorm(), Dense(2)], 4)
    options = {
        "solver": solver,
        "batch_size": 16,
        "validation": (X[:20], y[:20]),
        "learning_rate": lambda epoch: 0.01 / (1 + epoch),
    }
    whole = quiet_train(net, X, y, max_iter=6, **options)
    path = tmp_path / "run.npz"
    quiet_train(net, X, y, max_iter=3, checkpoint=path, **options)
    resumed = quiet_train(net, X, y, max_iter=6, checkpoint=path, **options)
    np.testing.assert_array_equal(whole.parameters.flat, resumed.parameters.flat)
    assert whole.losses == resumed.losses


def test_a_checkpoint_of_another_description_is_refused(rng, tmp_path):
    X, y = problem(rng)
    path = tmp_path / "run.npz"
    quiet_train(Network([Dense(3), Dense(2)], 4), X, y, max_iter=1, checkpoint=path)
    with pytest.raises(DataError, match="of another network"):
        train(Network([Dense(5), Dense(2)], 4), X, y, max_iter=2, checkpoint=path)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(DataError, match="is no checkpoint"):
        train(Network([Dense(3), Dense(2)], 4), X, y, max_iter=2, checkpoint=path)


@pytest.mark.covers("early-stopping-network")
def test_the_best_parameters_by_validation_rows_are_kept(rng):
    X, y = problem(rng, 80)
    noisy = np.where(rng.random(80) < 0.3, 1 - y, y)
    net = Network([Dense(40, "relu"), Dense(2)], 4)
    found = quiet_train(
        net,
        X[:40],
        noisy[:40],
        validation=(X[40:], y[40:]),
        learning_rate=0.05,
        max_iter=100,
        n_iter_no_change=10,
    )
    assert found.stopped in {"converged", "max_iter"}
    best = np.argmin(found.validation_losses)
    proba = found.predict(X[40:])[np.arange(40), y[40:]]
    assert -np.log(proba).mean() == pytest.approx(found.validation_losses[best])


def test_a_loss_that_is_not_finite_stops_with_the_last_good_parameters(rng):
    X, y = problem(rng)
    net = Network([Dense(6), Dense(1)], 4)
    with pytest.warns(GnomonWarning, match="the loss is not finite"):
        found = train(
            net, X, 1.0 * y, loss="squared_error", solver="sgd", learning_rate=1e6, max_iter=50
        )
    assert found.stopped == "loss is not finite"
    assert np.isfinite(found.parameters.flat).all()


@pytest.mark.covers("dead-unit-detector", "vanishing-gradient-check")
def test_inputs_that_are_not_scaled_dead_units_and_vanishing_gradients_are_told(rng):
    X, y = problem(rng)
    with pytest.warns(GnomonWarning, match="inputs are not scaled"):
        train(Network([Dense(5, "relu"), Dense(2)], 4), X * [1, 1, 1, 5000], y, max_iter=1)
    dead = Network([Dense(5, "relu", bias_start=-100.0), Dense(2)], 4)
    with pytest.warns(GnomonWarning, match="100% of the units of layer 'dense1' are dead"):
        found = train(dead, X, y, max_iter=1)
    assert unit_report(dead, found.parameters, X).dead == [1.0]
    deep = Network([*[Dense(5, "logistic") for _ in range(9)], Dense(2)], 4)
    with pytest.warns(GnomonWarning, match="gradients vanish"):
        train(deep, X, y, max_iter=1)


@pytest.mark.skipif(not CREDIT.exists(), reason="the table of credit cards is not here")
def test_runs_of_credit_cards_that_fail_are_told_and_healthy_ones_are_not():
    table = pd.read_csv(CREDIT)
    y = table["default"].to_numpy()
    X = table.drop(columns=["ID", "default"]).to_numpy(float)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    told = dict.fromkeys(("not scaled", "dead", "step is too large", "nothing"), 0)
    for seed in range(20):
        some = np.random.default_rng(seed).permutation(len(y))[:500]
        options = {"max_iter": 3, "random_state": seed}
        net = Network([Dense(20, "relu"), Dense(2)], X.shape[1])
        dead = Network([Dense(20, "relu", bias_start=-20.0), Dense(2)], X.shape[1])
        runs = {
            "not scaled": (net, X, {}),
            "dead": (dead, scaled, {}),
            "step is too large": (net, scaled, {"solver": "sgd", "learning_rate": 20.0}),
            "nothing": (net, scaled, {}),
        }
        for name, (network, rows, more) in runs.items():
            found = quiet_train(network, rows[some], y[some], **options, **more).findings
            told[name] += not found if name == "nothing" else name in " ".join(found)
    assert told == dict.fromkeys(told, 20)


@pytest.mark.parametrize("estimator", [MLPClassifier, NetworkClassifier])
def test_estimators_tell_a_step_that_is_too_large(rng, estimator):
    X, y = problem(rng)
    model = estimator(solver="sgd", learning_rate_init=30.0, max_iter=5, random_state=0)
    with pytest.warns(GnomonWarning, match="step is too large"):
        model.fit(X, y)


@pytest.mark.covers("network-l1-penalty", "network-elastic-penalty", "network-lp-penalty")
def test_penalties_shrink_weights_and_l1_gives_exact_zeros(rng):
    X, y = problem(rng, 100)
    net = Network([Dense(10, "tanh"), Dense(2)], 4)
    options = {"solver": "sgd", "learning_rate": 0.1, "max_iter": 60, "batch_size": 50}
    free = quiet_train(net, X, y, **options).parameters
    sparse = quiet_train(net, X, y, penalty=L1(0.01), **options).parameters
    assert (free["dense1"]["weight"] != 0).all()
    assert (sparse["dense1"]["weight"] == 0).any()
    for penalty in (L1(0.02), Elastic(0.05, 0.3), Lp(0.05, 1.5)):
        found = quiet_train(net, X, y, penalty=penalty, **options).parameters
        assert np.abs(found["dense1"]["weight"]).sum() < np.abs(free["dense1"]["weight"]).sum()


def test_penalties_have_the_gradient_of_central_differences(rng):
    weights = rng.normal(size=7)
    for penalty in (Lp(0.3, 1.7), Elastic(0.4, 0.0)):
        slopes = np.zeros(7)
        penalty.add_gradient(weights, slopes)
        for i in range(7):
            ends = []
            for step in (1e-6, -1e-6):
                moved = weights.copy()
                moved[i] += step
                ends.append(penalty.value(moved))
            assert slopes[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


@pytest.mark.covers("max-norm-constraint")
def test_max_norm_scales_the_weights_into_a_unit_down(rng):
    parameters = Network([Dense(3), Dense(2)], 4).initial(rng, init="normal", scale=3.0)
    parameters["dense1"]["weight"][:, 0] *= 1e-3
    before = parameters.copy()
    max_norm(parameters, 1.0)
    norms = np.linalg.norm(parameters["dense1"]["weight"], axis=0)
    assert (norms <= 1 + 1e-12).all()
    np.testing.assert_array_equal(
        parameters["dense1"]["weight"][:, 0], before["dense1"]["weight"][:, 0]
    )


def test_frozen_layers_stay(rng):
    X, y = problem(rng)
    net = Network([Dense(5, "tanh"), Dense(2)], 4)
    start = net.initial(0)
    found = quiet_train(net, X, y, parameters=start, frozen=("dense1",), max_iter=3)
    np.testing.assert_array_equal(found.parameters["dense1"]["weight"], start["dense1"]["weight"])
    assert (found.parameters["dense2"]["weight"] != start["dense2"]["weight"]).any()


BAD = {
    "no layers": (lambda: Network([], 3), "one layer or more"),
    "an unknown layer": (
        lambda: Network([{"kind": "Dence", "units": 3}], 3),
        "no layer 'Dence'",
    ),
    "a missing value": (lambda: Network([{"kind": "Dense"}], 3), "Dense needs 'units'"),
    "an unknown value": (
        lambda: Network([{"kind": "Dense", "units": 3, "unit": 1}], 3),
        "has no 'unit'",
    ),
    "columns for images": (
        lambda: Network([Conv2D(3, 3, name="first")], 3),
        r"Conv2D 'first' needs images.*shape \(3,\)",
    ),
    "images for columns": (lambda: Network([Dense(3)], (4, 4, 1)), "put Flatten before it"),
    "a window that is too large": (
        lambda: Network([Conv2D(3, 9)], (4, 4, 1)),
        r"at least 9 x 9 cells.*\(4, 4, 1\)",
    ),
    "an unknown activation": (lambda: Network([Dense(3, "rely")], 3), "no activation 'rely'"),
    "a cycle": (
        lambda: Network({"a": (Dense(2), ["b"]), "b": (Dense(2), ["a"])}, 3),
        "cycle through a and b",
    ),
    "an unknown input": (lambda: Network({"a": (Dense(2), ["c"])}, 3), "'c', which is not there"),
    "a layer that nothing takes in": (
        lambda: Network({"a": Dense(2), "b": (Dense(2), ["input"])}, 3),
        "nothing takes in the layer 'a'",
    ),
    "a text without input": (lambda: Network.from_text("Dense units=3"), "begins with a line"),
    "a text with a bad part": (
        lambda: Network.from_text("input 3\nDense units 3"),
        "line 2: 'units 3' is not of the form",
    ),
    "more classes than outputs": (
        lambda: train(Network([Dense(2)], 1), [[0.0], [1.0], [2.0]], [0, 1, 2]),
        "3 classes and the network has outputs",
    ),
    "no rows": (
        lambda: train(Network([Dense(2)], 1), np.zeros((0, 1)), np.zeros(0, int)),
        "no rows",
    ),
    "a negative weight": (
        lambda: train(Network([Dense(2)], 1), [[0.0], [1.0]], [0, 1], sample_weight=[2, -1]),
        "finite and not negative",
    ),
    "too few weights": (
        lambda: train(Network([Dense(2)], 1), [[0.0], [1.0]], [0, 1], sample_weight=[2]),
        r"2 rows and weights of shape \(1,\)",
    ),
    "a checkpoint in a folder that is not there": (
        lambda: train(Network([Dense(2)], 1), [[0.0], [1.0]], [0, 1], checkpoint="not there/c.npz"),
        "no folder not there for the checkpoint",
    ),
    "more than all cells changed": (
        lambda: corrupt_rows([[0.0, 1.0]], "masking", 1.5),
        "a share of the cells, 0 to 1, not 1.5",
    ),
    "rows of another shape": (
        lambda: train(Network([Dense(2)], 3), [[0.0], [1.0]], [0, 1]),
        r"rows of shape \(3,\)",
    ),
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_input_gets_an_error_that_names_the_place(name):
    make, message = BAD[name]
    with pytest.raises(DataError, match=message):
        make()


def test_a_description_survives_dict_and_text(rng):
    from tests.truth.test_network_gradients import ON_COLUMNS, ON_IMAGES, random_graph

    chains = [Network([layer, Flatten(), Dense(2)], (7, 6, 4)) for layer in ON_IMAGES.values()]
    chains += [Network([layer, Dense(2)], 5) for layer in ON_COLUMNS.values()]
    for net in [*chains, random_graph(rng)]:
        assert Network.from_dict(net.as_dict()) == net
        assert Network.from_text(net.as_text()) == net
        assert Network.from_text(net.as_text()).n_parameters == net.n_parameters


def test_no_rows_have_no_predictions():
    found = train(Network([Dense(3), Dense(2)], 1), [[0.0], [1.0]], [0, 1], max_iter=1)
    assert found.predict(np.zeros((0, 1))).shape == (0, 2)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_cells_that_are_not_finite_are_named_before_training(wrong):
    X = np.zeros((6, 2))
    X[3, 1] = wrong
    network = Network([Dense(1)], 2)
    with pytest.raises(DataError, match="X has cells that are not finite"):
        train(network, X, np.zeros(6), loss="squared_error", max_iter=1)
    with pytest.raises(DataError, match="y has cells that are not finite"):
        train(network, np.zeros((6, 2)), X[:, 1], loss="squared_error", max_iter=1)
