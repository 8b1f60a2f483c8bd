"""Recurrent, echo state and Fourier networks: gradients, torch's cells, problems with memory."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.engine.errors import DataError
from gnomon.neural import (
    EchoStateClassifier,
    EchoStateRegressor,
    FourierNetwork,
    RecurrentClassifier,
    RecurrentRegressor,
)
from gnomon.neural.cells import CELLS, run_layer
from gnomon.neural.fourier import solved
from gnomon.neural.recurrent import Padded, RecurrentNetwork, targets_of

every_cell = pytest.mark.parametrize("cell", list(CELLS))


def ragged(rng, lengths=(5, 2, 4), d=3) -> list[np.ndarray]:
    return [rng.normal(size=(n, d)) for n in lengths]


@pytest.mark.covers("recurrent-network", "lstm-gru")
@every_cell
@pytest.mark.parametrize("each_step", [False, True], ids=["one label", "a label per step"])
@pytest.mark.parametrize("of_classes", [False, True], ids=["numbers", "classes"])
def test_back_propagation_through_time_gives_central_differences(cell, each_step, of_classes, rng):
    sequences = ragged(rng)
    network = RecurrentNetwork(cell, 3, 4, 2, 2, each_step)
    flat, batch = network.first(rng), Padded.of(sequences)
    parts = [rng.random((len(s), 2) if each_step else 2) for s in sequences]
    if of_classes:
        parts = [part / part.sum(axis=-1, keepdims=True) for part in parts]
    targets = targets_of(parts, each_step)
    _, gradient = network.loss_and_gradient(flat, batch, targets, of_classes)
    step = 1e-5
    for place in rng.choice(len(flat), 40, replace=False):
        moved = np.zeros_like(flat)
        moved[place] = step
        up, down = (
            network.loss_and_gradient(flat + sign * moved, batch, targets, of_classes)[0]
            for sign in (1, -1)
        )
        assert gradient[place] == pytest.approx((up - down) / (2 * step), abs=1e-8)


@pytest.mark.covers("lstm-gru", "recurrent-network")
@every_cell
def test_cells_are_equal_to_torchs(cell, rng):
    torch = pytest.importorskip("torch", reason="the extra deep (torch) is not installed")
    network = RecurrentNetwork(cell, 3, 5, 1, 2, True)
    parameters = network.named(network.first(rng))
    kind = {"simple": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[cell]
    peer = kind(3, 5).double()
    peer.load_state_dict(
        {k: torch.tensor(v) for k, v in parameters.items() if not k.endswith("_out")}
    )
    X = rng.normal(size=(7, 4, 3))
    found = run_layer(cell, parameters, 0, X, np.ones((7, 4), dtype=bool)).outputs
    expected = peer(torch.tensor(X))[0].detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-10)


@every_cell
def test_padding_changes_nothing(cell, rng):
    network = RecurrentNetwork(cell, 3, 4, 2, 2, False)
    flat, sequences = network.first(rng), ragged(rng)
    together = network.outputs(flat, Padded.of(sequences))
    alone = [network.outputs(flat, Padded.of([each]))[0] for each in sequences]
    np.testing.assert_allclose(together, alone, atol=1e-12)


@pytest.mark.covers("lstm-gru")
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gated_cells_remember_the_first_step(cell, rng, seed):
    sequences = [rng.normal(size=12) for _ in range(150)]
    y = ["up" if each[0] > 0 else "down" for each in sequences]
    model = RecurrentClassifier(8, cell=cell, max_iter=60, random_state=seed).fit(sequences, y)
    new = [rng.normal(size=12) for _ in range(100)]
    assert model.score(new, ["up" if each[0] > 0 else "down" for each in new]) > 0.85


@pytest.mark.covers("recurrent-network")
def test_a_label_for_each_step_depends_on_the_step_before(rng, seed):
    """Parity of the last two signs, which no model of single steps can learn."""
    sequences = [rng.choice([-1.0, 1.0], 15) for _ in range(80)]
    labels = [["?", *np.where(s[1:] == s[:-1], "same", "other")] for s in sequences]
    model = RecurrentClassifier(8, learning_rate=0.03, max_iter=60, random_state=seed)
    model.fit(sequences[:60], labels[:60])
    assert model.score(sequences[60:], labels[60:]) > 0.95
    flat = np.concatenate(sequences)[:, None]
    again = RecurrentClassifier(8, learning_rate=0.03, max_iter=3, random_state=seed).fit(
        flat[: 60 * 15], [x for part in labels[:60] for x in part], lengths=[15] * 60
    )
    parts = RecurrentClassifier(8, learning_rate=0.03, max_iter=3, random_state=seed).fit(
        sequences[:60], labels[:60]
    )
    for name, values in parts.parameters_.items():
        np.testing.assert_array_equal(again.parameters_[name], values)


@pytest.mark.covers("recurrent-network")
def test_sums_of_sequences_are_learned(rng, seed):
    sequences = [rng.normal(size=6) for _ in range(150)]
    sums = np.array([each.sum() for each in sequences])
    model = RecurrentRegressor(16, max_iter=60, random_state=seed).fit(sequences[:120], sums[:120])
    assert model.score(sequences[120:], sums[120:]) > 0.8


def test_faults_of_sequences_are_named(rng):
    with pytest.raises(DataError, match="sequence 1 has 3 steps and 2 target values"):
        RecurrentClassifier().fit([[1.0, 2], [1.0, 2, 3]], [["a", "b"], ["a", "b"]])
    with pytest.raises(DataError, match="step 1 of sequence 0 has a missing value"):
        RecurrentRegressor().fit([[1.0, np.nan]], [1.0])
    with pytest.raises(DataError, match="sequence 0 has 2 columns"):
        EchoStateRegressor(5).fit([rng.normal(size=20)]).predict([rng.normal(size=(4, 2))])
    with pytest.raises(DataError, match="decrease washout"):
        EchoStateRegressor(5, washout=50).fit([rng.normal(size=20)])
    with pytest.raises(DataError, match="2 sequences have 3 targets"):
        RecurrentClassifier().fit([[1.0], [2.0]], ["a", "b", "c"])


@pytest.mark.covers("echo-state-network")
def test_the_reservoir_has_its_spectral_radius_and_forgets_how_it_began(rng, seed):
    series = rng.normal(size=400)
    model = EchoStateRegressor(60, spectral_radius=0.8, random_state=seed).fit([series])
    radius = np.abs(np.linalg.eigvals(model.weight_hidden_)).max()
    assert radius == pytest.approx(0.8, abs=1e-9)
    whole, late = model.states(series), model.states(series[100:])
    np.testing.assert_allclose(late[-100:], whole[-100:], atol=1e-5)


@pytest.mark.covers("echo-state-network")
def test_the_read_out_is_ridge_regression_on_the_states(rng, seed):
    series = np.cumsum(rng.normal(size=120))
    model = EchoStateRegressor(20, alpha=1e-3, random_state=seed).fit([series])
    inputs = (series[:-1] - model.mean_) / model.scale_
    features = np.column_stack([np.ones(119), inputs, model.states(series[:-1])])
    slope = features.T @ (features @ model.coef_.T - series[1:, None]) + 0.119 * model.coef_.T
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)


@pytest.mark.covers("echo-state-network")
def test_a_chaotic_series_is_forecast_far_better_than_by_its_mean(seed):
    x = np.empty(1200)
    x[0] = 0.3
    for t in range(1199):
        x[t + 1] = 3.9 * x[t] * (1 - x[t])
    model = EchoStateRegressor(100, washout=50, random_state=seed).fit([x[:1000]])
    found = model.predict([x])[0][1000:-1]
    assert ((found - x[1001:]) ** 2).mean() < 0.02 * x.var()
    ahead = model.forecast_rows(x[:1000], 3)[:, 0]
    assert np.abs(ahead - x[1000:1003]).max() < 0.2


@pytest.mark.covers("echo-state-network")
def test_kinds_of_waves_are_classified(rng, seed):
    def wave(step):
        return np.sin(step * np.arange(rng.integers(20, 40)) + rng.uniform(0, 6))

    y = ["slow", "fast"] * 20
    parts = [wave(0.2 if kind == "slow" else 0.7) for kind in y]
    model = EchoStateClassifier(50, random_state=seed).fit(parts[:30], y[:30])
    assert model.score(parts[30:], y[30:]) >= 0.9


@pytest.mark.covers("fourier-network")
def test_slopes_of_frequencies_are_central_differences(rng):
    series = rng.normal(size=40)
    series[7] = np.nan
    w, step = np.array([0.3, 1.1, 2.0]), 1e-6
    found = solved(w, series, True, 1e-3)
    for k in range(3):
        up, down = (solved(w + s * step * np.eye(3)[k], series, True, 1e-3).loss for s in (1, -1))
        assert found.slopes[k] == pytest.approx((up - down) / (2 * step), abs=1e-7)


@pytest.mark.covers("fourier-network")
def test_waves_between_fourier_frequencies_are_found_and_continued(rng):
    t = np.arange(300)
    series = 5 - 0.02 * t + 2 * np.sin(0.213 * t) + np.cos(0.777 * t + 1)
    series += 0.05 * rng.normal(size=300)
    model = FourierNetwork(4).fit([series[:200]])
    found = np.sort(model.frequencies_[:2])
    np.testing.assert_allclose(found, [0.213, 0.777], atol=1e-3)
    error = model.forecast_rows(series[:200], 100)[:, 0] - series[200:]
    assert np.sqrt((error**2).mean()) < 0.2
    repeated = np.fft.irfft(np.fft.rfft(series[:200]))[:100]  # the transform repeats the series
    assert np.sqrt(((repeated - series[200:]) ** 2).mean()) > 1.0
