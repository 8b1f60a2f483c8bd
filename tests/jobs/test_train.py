"""The job `train`: watched, resumed after a kill with the same bits, honest about its score."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError
from gnomon.neural import (
    NetworkClassifier,
    NetworkRegister,
    NetworkRegressor,
    read_metadata,
    read_safetensors,
    write_safetensors,
)
from gnomon.table import Table, example
from tests.jobs.terminal import arguments, call

QUICK = {"hidden": [8], "learning_rate": 0.02, "max_iter": 6}


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=240)
    x = rng.normal(size=(240, 4)) + 2 * np.eye(4)[kind]
    columns = {f"x{k}": x[:, k] for k in range(4)}
    return Table.from_dict(columns | {"kind": np.array(["a", "b", "c"])[kind].tolist()})


@pytest.fixture(scope="module")
def trained(blobs, tmp_path_factory):
    steps = []
    folder = tmp_path_factory.mktemp("train") / "run"

    def progress(step, done, total):
        steps.append((step, done, total))

    found = gnomon.train(blobs, "kind", n_search=3, folder=folder, progress=progress, **QUICK)
    return found, steps, folder


@pytest.mark.covers("network-training-loop")
def test_every_epoch_is_told_with_loss_and_error_of_training_and_validation(trained):
    found, steps, _ = trained
    told = [step for step, done, total in steps if step.startswith("training: loss")]
    assert len(told) == len(found.curves.losses)
    assert all("validation" in step and "; error" in step for step in told)
    assert [done for step, done, _ in steps if step in told] == list(range(1, len(told) + 1))


@pytest.mark.covers("network-training-loop")
def test_the_setting_with_the_least_validation_loss_is_trained(trained):
    found, _, _ = trained
    assert len(found.tried) == 3
    best = min(found.tried, key=lambda each: each.least)
    params = found.model.get_params()
    assert all(params[name] == value for name, value in best.settings.items())
    assert len(best.losses) == 1  # a fifth of six epochs
    # the same seed: the first epoch of the final training is that of the search
    assert found.curves.validation_losses[0] == best.validation_losses[0]


@pytest.mark.covers("network-training-loop")
def test_the_run_folder_has_curves_network_model_report_and_script(trained, blobs):
    found, _, folder = trained
    names = {each.name for each in folder.iterdir()}
    assert {"curves.csv", "network.txt", "model.gnomon", "report.html", "again.py"} <= names
    assert len(gnomon.read(folder / "curves.csv")) == len(found.curves.losses)
    loaded = gnomon.load(folder / "model.gnomon")
    rows = blobs.drop("kind")
    np.testing.assert_array_equal(loaded.predict_proba(rows), found.model.predict_proba(rows))
    record = json.loads((folder / "run.json").read_text())
    assert record["status"] == "finished"
    assert found.pictures == ["curves", "search", "network"]
    figure = found.plot("curves")
    assert {"training", "validation", "most frequent class"} <= {d.name for d in figure.data}


def test_the_score_of_the_test_rows_is_that_of_rows_that_the_model_never_saw(trained, blobs):
    found, _, _ = trained
    assert found.n_test == 48
    assert found.test_score.low < found.test_score.value < found.test_score.high
    assert found.beats_baseline
    noise = blobs.with_column("kind", np.random.default_rng(1).permutation(["a", "b"] * 120))
    weak = gnomon.train(noise, "kind", **QUICK)
    assert not weak.beats_baseline
    assert "not shown to be better" in weak.verdict()


@pytest.mark.covers("network-training-loop")
def test_a_fit_that_goes_on_from_a_checkpoint_has_the_same_bits(blobs, tmp_path):
    X, y = blobs.drop("kind"), blobs.column("kind").to_pylist()
    shared = {"early_stopping": 0.2, "random_state": 3}
    whole = NetworkClassifier("Dense units=5\nDropout rate=0.3", max_iter=6, **shared).fit(X, y)
    half = NetworkClassifier("Dense units=5\nDropout rate=0.3", max_iter=3, **shared)
    half.set_params(checkpoint=tmp_path / "c.npz").fit(X, y)
    rest = half.set_params(max_iter=6).fit(X, y)
    np.testing.assert_array_equal(rest.parameters_, whole.parameters_)
    assert rest.validation_losses_ == whole.validation_losses_
    assert rest.history_.objective == whole.history_.objective
    with pytest.raises(DataError, match="of another network; remove it to start anew"):
        half.set_params(layers="Dense units=6").fit(X, y)


@pytest.mark.slow
@pytest.mark.covers("network-training-loop")
def test_a_killed_command_goes_on_with_the_same_bits(tmp_path):
    words = arguments("train", "--example", "customers", "--target", "churn")
    words += ["--epochs", "30", "--name", "killed"]
    at_work = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "runs/killed/checkpoint.npz"
    for _ in range(1200):
        if checkpoint.exists():
            break
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(at_work.pid, signal.SIGKILL)
    at_work.wait()
    assert json.loads((tmp_path / "runs/killed/run.json").read_text())["status"] == "running"
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    after = json.loads((tmp_path / "runs/killed/run.json").read_text())["results"]
    again = gnomon.train(example("customers"), "churn", max_iter=30)
    assert after["curves"]["validation_losses"] == again.curves.validation_losses


def test_numbers_are_trained_on_their_own_scale():
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    table = Table.from_dict({"x": x, "y": 1e6 + 1000 * x})
    found = gnomon.train(table, "y", hidden=[8], learning_rate=0.05, max_iter=30)
    assert isinstance(found.model, NetworkRegressor)
    assert found.test_score.value < 300
    assert found.baseline_score.value > 700


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"network": "nowhere.txt"}, "nowhere.txt cannot be read"),
        ({"network": "Dense units=4 activation=loud"}, "loud"),
        ({"network": "input 5\nDense units=4"}, "takes rows of 5 numbers .* 4 columns"),
        ({"network": "Wide units=4"}, "there is no layer 'Wide'"),
        ({"dropout": 1.5}, "dropout must be at least 0 and below 1"),
        ({"target": "colour"}, "colour"),
    ],
)
def test_a_wrong_description_or_target_is_refused_with_its_name(blobs, options, message):
    target = options.pop("target", "kind")
    with pytest.raises(DataError, match=message):
        gnomon.train(blobs, target, **(QUICK | options))


def test_an_image_description_trains_convolutions(tmp_path):
    rng = np.random.default_rng(0)
    rows = np.zeros((80, 4, 4))
    for k in range(80):
        place = rng.integers(4)
        rows[k][(place, slice(None)) if k % 2 else (slice(None), place)] = 1
    columns = {f"p{k}": rows.reshape(80, 16)[:, k] for k in range(16)}
    table = Table.from_dict(columns | {"bar": ["row" if k % 2 else "column" for k in range(80)]})
    file = tmp_path / "net.txt"
    file.write_text("input 4 4 1\nConv2D filters=4 kernel_size=2 activation=relu\nFlatten\n")
    found = gnomon.train(table, "bar", network=str(file), learning_rate=0.02, max_iter=40)
    assert type(found.model).__name__ == "ConvNetClassifier"
    assert found.test_score.value > 0.8


def test_the_command_prints_the_verdict_and_what_to_do_next(tmp_path):
    words = ("train", "--example", "iris", "--target", "species", "--epochs", "4")
    done = call(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "accuracy on 30 test rows" in done.stdout
    assert "predict with: gnomon predict runs/iris-network-1 NEW.csv" in done.stdout


@pytest.mark.covers("pretrained-register")
def test_a_network_of_the_register_predicts_as_the_model_that_was_entered(blobs, tmp_path):
    X, y = (
        np.column_stack([blobs.column(f"x{k}").to_numpy() for k in range(4)]),
        blobs.column("kind"),
    )
    X = 1000 * X + 5  # so that predictions without the stored scaling would be wrong
    layers = "Dense units=6\nBatchNorm\nActivation function=tanh"
    model = NetworkClassifier(layers, max_iter=4, random_state=0, dtype="float32")
    model.fit(X, y.to_pylist())
    register = NetworkRegister(tmp_path / "kept")
    file = register.add("blobs", model, about={"license": "CC0"})
    entry = register.get("blobs")
    assert entry.classes == ["a", "b", "c"]
    assert entry.about == {"license": "CC0"}
    np.testing.assert_allclose(entry.predict(X), model.predict_proba(X), atol=1e-6)
    assert read_safetensors(file)["dense1/weight"].shape == (4, 6)
    with pytest.raises(DataError, match="there is a network 'blobs' already"):
        register.add("blobs", model)
    register.add("copy", entry)
    np.testing.assert_array_equal(register.get("copy").predict(X), entry.predict(X))
    register.remove("copy")
    assert register.names() == ["blobs"]
    with pytest.raises(DataError, match=r"there is no network 'copy' .* there are: blobs"):
        register.get("copy")


@pytest.mark.covers("pretrained-register")
def test_a_damaged_or_foreign_entry_is_refused(blobs, tmp_path):
    model = NetworkClassifier(max_iter=1, random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    register = NetworkRegister(tmp_path)
    file = register.add("small", model)
    arrays, told = read_safetensors(file), read_metadata(file)
    for key, values in (("dense1/weight", np.zeros((4, 63))), ("dense1/bias", np.full(64, np.nan))):
        write_safetensors(file, arrays | {key: values}, told)
        with pytest.raises(DataError, match=key):
            register.get("small")
    write_safetensors(file, arrays)
    with pytest.raises(DataError, match="was not written by a register"):
        register.get("small")
    with pytest.raises(DataError, match="is no name for a network"):
        register.add("../escape", model)
    with pytest.raises(DataError, match="no description of its network"):
        register.add("tree", object())


def test_the_command_networks_enters_and_lists(trained, tmp_path):
    _, _, folder = trained
    words = ("networks", "--folder", tmp_path, "--add", folder, "--name", "blobs")
    done = call(*words, "--note", "license=CC0", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "blobs" in done.stdout
    assert "license: CC0" in done.stdout
