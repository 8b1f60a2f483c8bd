"""Every estimator is saved to a data-only file and loaded from it, with the same bits."""

from __future__ import annotations

import inspect
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import ModelFileError
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    digest,
    every_method,
    fit,
    make,
    mixed_columns,
    mixed_problem,
    outputs,
    parameters_of,
    problem,
)


def attributes(estimator) -> dict[str, str]:
    """Fitted plain arrays and numbers, as fingerprints."""
    return {
        name: digest(np.asarray(value))
        for name, value in vars(estimator).items()
        if isinstance(value, (np.ndarray, int, float, str, bool))
    }


@every_method
def test_a_loaded_model_says_the_same_to_the_bit(cls, rng, tmp_path):
    estimator = make(cls)
    X, y = problem(estimator, rng)
    fit(estimator, X, y)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert type(loaded) is cls
    assert repr(loaded) == repr(estimator)
    assert_same_bits(outputs(loaded, X), outputs(estimator, X))
    assert attributes(loaded) == attributes(estimator)
    assert vars(loaded).keys() == vars(estimator).keys()


@every_method
def test_a_model_of_a_mixed_table_is_loaded_with_its_codes(cls, rng, tmp_path):
    import pandas as pd

    estimator = make(cls)
    frame, y = mixed_problem(estimator, rng)
    fit(estimator, frame, y)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    new = pd.DataFrame(mixed_columns(rng, 25, unseen=True))
    assert_same_bits(outputs(loaded, new), outputs(estimator, new))


@every_method
def test_a_loaded_model_can_be_fitted_again(cls, rng, tmp_path):
    estimator = make(cls)
    X, y = problem(estimator, rng)
    fit(estimator, X, y)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(fit(loaded, X, y), X), outputs(estimator, X))


@every_method
def test_an_unfitted_estimator_is_saved_with_its_parameters(cls, tmp_path):
    estimator = make(cls)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert repr(loaded) == repr(estimator)
    assert repr(loaded.get_params()) == repr(estimator.get_params())


@every_method
def test_saving_twice_gives_the_same_file(cls, rng, tmp_path):
    estimator = make(cls)
    fit(estimator, *problem(estimator, rng))
    one = estimator.save(tmp_path / "one.gnomon").read_bytes()
    loaded = gnomon.load(tmp_path / "one.gnomon")
    assert loaded.save(tmp_path / "two.gnomon").read_bytes() == one


@every_method
def test_a_callback_on_the_estimator_is_not_saved(cls, rng, tmp_path):
    from sklearn.callback import ProgressBar

    estimator = make(cls).set_callbacks(ProgressBar())
    fit(estimator, *problem(estimator, rng))
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert not hasattr(loaded, "_skl_callbacks")


@every_method
def test_the_file_does_not_grow_with_the_rows_unless_the_method_keeps_rows(cls, rng, tmp_path):
    sizes = {}
    for n in (400, 4000):
        estimator = make(cls)
        X, y = problem(estimator, rng, n=n)
        fit(estimator, X, y)
        sizes[n] = unpacked_numbers(estimator.save(tmp_path / f"{n}.gnomon"), X)
    labels = 4000 if hasattr(estimator, "labels_") else 0
    few = 40  # a mean of one row is that row
    assert sizes[4000][0] <= few or keeps_rows(cls), "rows of the training table are in the file"
    if not keeps_rows(cls) and not grows(cls):
        assert sizes[4000][1] <= 1.2 * sizes[400][1] + labels * 8 + 2000


def unpacked_numbers(path, X: np.ndarray) -> tuple[int, int]:
    """How many of X's rows are found whole in the arrays of a model file, and the arrays' bytes."""
    rows = {row.tobytes() for row in X}
    found = total = 0
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(archive.read(name)))
                total += array.nbytes
                if array.ndim == 2 and array.shape[1] == X.shape[1] and array.dtype == X.dtype:
                    found += sum(row.tobytes() in rows for row in array)
    return found, total


def keeps_rows(cls: type) -> bool:
    """Whether the method says that its fitted form is the training rows themselves."""
    return getattr(cls, "_keeps_rows", False)


def grows(cls: type) -> bool:
    """Trees grow with their data, and ensembles with their members."""
    return "max_depth" in parameters_of(cls) or getattr(cls, "_grows", False)


def tampered(path, change) -> bytes:
    """The model file with each array passed through `change`."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(out, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            if name.endswith(".npy"):
                made = io.BytesIO()
                np.save(made, change(np.load(io.BytesIO(content))), allow_pickle=False)
                content = made.getvalue()
            copy.writestr(name, content)
    return out.getvalue()


def huge(array):
    return np.full_like(array, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else array


def negative(array):
    return np.full_like(array, -7) if array.dtype.kind == "i" else array


def shorter(array):
    return array[: len(array) // 2] if array.ndim else array


def no_numbers(array):
    return np.full_like(array, np.nan) if array.dtype.kind == "f" else array


def turned(array):
    return np.ascontiguousarray(array.T) if array.ndim == 2 else array[::-1].copy()


def other_type(array):
    return array.astype(np.int16) if array.dtype.kind in "fiu" else array


CHANGES = {
    change.__name__: change for change in (huge, negative, shorter, no_numbers, turned, other_type)
}
PROGRAM = """
import sys, warnings
import numpy as np
import gnomon
warnings.simplefilter("ignore")
for folder in sys.argv[1:]:
    X = np.load(f"{folder}/rows.npy")
    for change in %r:
        print("tries", folder, change, flush=True)
        try:
            model = gnomon.load(f"{folder}/{change}.gnomon")
            for name in ("predict", "predict_proba", "transform", "score_samples"):
                if hasattr(model, name):
                    getattr(model, name)(X)
        except Exception:
            pass
    print("survived", folder, flush=True)
"""


@pytest.fixture(scope="module")
def survivors(seed, tmp_path_factory) -> dict[str, str]:
    """Per method "survived", or the change of its file that killed the process that read it."""
    folders = {}
    for cls in CLASSES:
        folder = tmp_path_factory.mktemp(cls.__name__)
        folders[str(folder)] = cls.__name__
        estimator = make(cls)
        X, y = problem(estimator, np.random.default_rng(seed))
        path = fit(estimator, X, y).save(folder / "model.gnomon")
        np.save(folder / "rows.npy", X)
        for name, change in CHANGES.items():
            (folder / f"{name}.gnomon").write_bytes(tampered(path, change))
    found: dict[str, str] = {}
    while left := [folder for folder in folders if folders[folder] not in found]:
        command = [sys.executable, "-c", PROGRAM % (list(CHANGES),), *left]
        done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
        for line in done.stdout.splitlines():
            word, folder, *change = line.split()
            found[folders[folder]] = f"killed by {change[0]}" if word == "tries" else word
        assert done.stdout, done.stderr
    return found


@every_method
def test_wrong_numbers_in_a_file_never_kill_the_process(cls, survivors):
    assert survivors[cls.__name__] == "survived"


@every_method
def test_a_parameter_newer_than_the_file_takes_its_default(cls, rng, tmp_path):
    names = list(parameters_of(cls))
    if not names:
        pytest.skip("has no parameters")
    path = make(cls).save(tmp_path / "model.gnomon")
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("model.json"))
        members = {n: archive.read(n) for n in archive.namelist() if n != "model.json"}
    del content["model"]["values"][names[0]]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model.json", json.dumps(content))
        for name, member in members.items():
            archive.writestr(name, member)
    default = inspect.signature(cls).parameters[names[0]].default
    if default is inspect.Parameter.empty:
        with pytest.raises(ModelFileError, match=names[0]):
            gnomon.load(path)
    else:
        assert getattr(gnomon.load(path), names[0]) == default
