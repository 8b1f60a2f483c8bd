"""Every estimator is saved to a data-only file and loaded from it, with the same bits."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.callback import ProgressBar

import gnomon
from gnomon.engine.errors import ModelFileError
from gnomon.linear import GLM, LinearRegression
from gnomon.prepare.base import Filter
from gnomon.trees import DecisionTreeClassifier
from tests.contract.cases import (
    CLASSES,
    assert_same_bits,
    batches,
    digest,
    each,
    each_path,
    every_method,
    every_path,
    fit,
    fitted_on_numbers,
    make,
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


@pytest.fixture
def loaded(on_numbers, tmp_path):
    """The shared estimator, saved to and loaded from ``model.gnomon`` in the test's folder."""
    return gnomon.load(on_numbers.estimator.save(tmp_path / "model.gnomon"))


@every_method
def test_a_loaded_model_says_the_same_to_the_bit(cls, on_numbers, loaded):
    estimator = on_numbers.estimator
    assert type(loaded) is cls
    assert repr(loaded) == repr(estimator)
    assert_same_bits(outputs(loaded, on_numbers.X), on_numbers.outputs)
    assert attributes(loaded) == attributes(estimator)
    computed = set(cls._transient)  # made when first asked for, maybe by another test
    assert vars(loaded).keys() - computed == vars(estimator).keys() - computed


@every_method
def test_saving_a_loaded_model_gives_the_same_file(cls, loaded, tmp_path):
    again = loaded.save(tmp_path / "again.gnomon").read_bytes()
    assert again == (tmp_path / "model.gnomon").read_bytes()


@every_method
def test_a_model_of_a_mixed_table_is_loaded_with_its_codes(cls, on_table, tmp_path):
    loaded = gnomon.load(on_table.estimator.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(loaded, on_table.new), on_table.outputs_of_new)


FILTERS = [cls for cls in CLASSES if issubclass(cls, Filter)]


@pytest.mark.filterwarnings("ignore:.*no value at all")
@pytest.mark.filterwarnings("ignore:.*empty slice", "ignore:Degrees of freedom")
@pytest.mark.parametrize(
    "columns",
    [["word"], ["word", "a", "b", "c"], ["word", "a", "empty"]],
    ids=["words", "mixed", "empty"],
)
@each("cls", FILTERS)
def test_a_filter_of_any_columns_is_loaded(cls, columns, tmp_path):
    """Also where a table has no column that the filter concerns, one without a value, or many."""
    table = pd.DataFrame({"word": [*"xyzx"] * 5, "a": [1.0, 2.0, 3.0, np.nan] * 5})
    table = table.assign(b=[1.0, 2.0, 3.0, 8.0] * 5, c=[1.0, 4.0, 3.0, 8.0] * 5, empty=np.nan)
    table = table[columns]
    estimator = fit(make(cls), table)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(loaded, table), outputs(estimator, table))


@every_path
def test_a_loaded_model_can_be_fitted_again(cls, on_numbers, loaded):
    again = fit(loaded, on_numbers.X, on_numbers.y)
    assert_same_bits(outputs(again, on_numbers.X), on_numbers.outputs)


@every_method
def test_an_unfitted_estimator_is_saved_with_its_parameters(cls, tmp_path):
    estimator = make(cls)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert repr(loaded) == repr(estimator)
    assert repr(loaded.get_params()) == repr(estimator.get_params())


@every_path
def test_a_callback_on_the_estimator_is_not_saved(cls, on_numbers, tmp_path):
    estimator = copy.deepcopy(on_numbers.estimator).set_callbacks(ProgressBar())
    assert hasattr(estimator, "_skl_callbacks")
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    assert not hasattr(loaded, "_skl_callbacks")


FEW_ROWS, MANY_ROWS = 100, 700


@every_method
def test_the_file_does_not_grow_with_the_rows_unless_the_method_keeps_rows(cls, rng, tmp_path):
    sizes = {}
    for n in (FEW_ROWS, MANY_ROWS):
        estimator = make(cls)
        X, y = problem(estimator, rng, n=n)
        fit(estimator, X, y)
        sizes[n] = unpacked_numbers(estimator.save(tmp_path / f"{n}.gnomon"), X)
    labels = MANY_ROWS if hasattr(estimator, "labels_") else 0
    few = 40  # a mean of one row is that row
    rows, size = sizes[MANY_ROWS]
    assert rows <= few or keeps_rows(cls), "rows of the training table are in the file"
    if not keeps_rows(cls) and not grows(cls):
        assert size <= 1.2 * sizes[FEW_ROWS][1] + labels * 8 + 2000


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


def parts(path) -> tuple[dict, dict[str, np.ndarray]]:
    """What model.json says, and the arrays."""
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("model.json"))
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return content, {name: np.load(io.BytesIO(archive.read(name))) for name in names}


def packed(content: dict, arrays: dict[str, np.ndarray]) -> bytes:
    """A model file of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("model.json", json.dumps(content))
        for name, array in arrays.items():
            made = io.BytesIO()
            np.save(made, array, allow_pickle=False)
            archive.writestr(name, made.getvalue())
    return out.getvalue()


def tampered(path, change) -> bytes:
    """The model file with each array passed through `change`, of which model.json says nothing."""
    content, arrays = parts(path)
    for value in declared_arrays(content):
        for key in ("shape", "dtype", "missing", "sha256"):
            value.pop(key)
    return packed(content, {name: change(array) for name, array in arrays.items()})


def declared_arrays(value) -> list[dict]:
    """What model.json says of each array."""
    if isinstance(value, dict) and value.get("$") == "array":
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for each in inner for found in declared_arrays(each)]


def huge(array):
    return np.full_like(array, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else array


def negative(array):
    return np.full_like(array, -7) if array.dtype.kind == "i" else array


def one_short(array):
    return array[:-1] if array.ndim else array


def shorter(array):
    return array[: len(array) // 2] if array.ndim else array


def no_numbers(array):
    return np.full_like(array, np.nan) if array.dtype.kind == "f" else array


def turned(array):
    return np.ascontiguousarray(array.T) if array.ndim != 1 else array[::-1].copy()


def other_type(array):
    return array.astype(np.int16) if array.dtype.kind in "fiu" else array


CHANGES = {
    change.__name__: change for change in (huge, negative, shorter, no_numbers, turned, other_type)
}
PROGRAM = """
import sys, warnings
import numpy as np
import gnomon
from gnomon.engine.errors import GnomonError, ModelFileError
warnings.simplefilter("ignore")
for folder in sys.argv[1:]:
    X = np.load(f"{folder}/rows.npy")
    for change in %r:
        print("tries", folder, change, flush=True)
        try:
            model = gnomon.load(f"{folder}/{change}.gnomon")
        except ModelFileError:
            continue
        try:
            for name in ("predict", "predict_proba", "transform", "score_samples"):
                if hasattr(model, name):
                    getattr(model, name)(X)
        except GnomonError:
            continue
        except Exception:
            print("failed", folder, change, flush=True)
            break
    else:
        print("survived", folder, flush=True)
"""

END = {"survived": "survived", "tries": "killed by", "failed": "loaded and failed later by"}


def tamper_with(cls: type, seed: int, folder) -> None:
    """Write the class's rows and its changed model files into the folder."""
    shared = fitted_on_numbers(cls, seed)
    path = shared.estimator.save(folder / "model.gnomon")
    np.save(folder / "rows.npy", shared.X)
    for name, change in CHANGES.items():
        (folder / f"{name}.gnomon").write_bytes(tampered(path, change))


@batches(CLASSES, 2)
def test_wrong_numbers_in_a_file_neither_kill_the_process_nor_fail_later(classes, seed, tmp_path):
    folders = {}
    for cls in classes:
        folder = tmp_path / cls.__name__
        folder.mkdir()
        folders[str(folder)] = cls.__name__
        tamper_with(cls, seed, folder)
    found: dict[str, str] = {}
    while left := [folder for folder in folders if folders[folder] not in found]:
        command = [sys.executable, "-c", PROGRAM % (list(CHANGES),), *left]
        done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
        for line in done.stdout.splitlines():
            word, folder, *change = line.split()
            found[folders[folder]] = " ".join([END[word], *change])
        assert done.stdout, done.stderr
    assert {name: end for name, end in found.items() if end != "survived"} == {}


@every_method
def test_a_file_with_a_changed_or_lost_array_is_refused_or_says_the_same(
    cls, on_numbers, rng, tmp_path
):
    content, arrays = parts(on_numbers.estimator.save(tmp_path / "model.gnomon"))
    path = tmp_path / "changed.gnomon"
    for value in some(declared_arrays(content["model"]), rng):
        name = value["array"]
        for change in (one_short, no_numbers):
            changed = change(arrays[name])
            if digest(changed) != digest(arrays[name]):
                path.write_bytes(packed(content, arrays | {name: changed}))
                with pytest.raises(ModelFileError, match=rf"was saved with .*{name}"):
                    gnomon.load(path)
    learnt = content["model"]["values"]
    for name in some([name for name, value in learnt.items() if declared_arrays([value])], rng):
        without = content | {"model": content["model"] | {"values": dict(learnt)}}
        del without["model"]["values"][name]
        path.write_bytes(packed(without, arrays))
        with contextlib.suppress(ModelFileError):
            assert_same_bits(outputs(gnomon.load(path), on_numbers.X), on_numbers.outputs)


def some(entries: list, rng, most: int = 3) -> list:
    return [entries[i] for i in rng.permutation(len(entries))[:most]]


@pytest.mark.parametrize(
    "change",
    [{"coef_": np.ones(3)}, {"coef_": "word"}, {"coef_": np.full(4, np.nan)}, {"intercept_": None}],
    ids=["short", "word", "NaN", "None"],
)
def test_a_model_saved_with_coefficients_that_do_not_fit_is_refused(change, rng, tmp_path):
    model = LinearRegression().fit(rng.normal(size=(20, 4)), rng.normal(size=20))
    vars(model).update(change)
    with pytest.raises(
        ModelFileError, match=r"its LinearRegression\.(coef|intercept)_ (has|is|holds)"
    ):
        gnomon.load(model.save(tmp_path / "model.gnomon"))


def test_a_tree_of_more_classes_than_are_named_is_refused(rng, tmp_path):
    model = DecisionTreeClassifier().fit(rng.normal(size=(30, 2)), np.arange(30) % 3)
    model.classes_ = model.classes_[:2]
    with pytest.raises(ModelFileError, match="2 classes"):
        gnomon.load(model.save(tmp_path / "model.gnomon"))


def test_a_model_that_learnt_tables_far_from_zero_is_loaded(rng, tmp_path):
    years = rng.uniform(1990, 2020, size=(60, 1))
    model = GLM(family="poisson").fit(years, rng.poisson(np.exp(years[:, 0] - 2018)))
    loaded = gnomon.load(model.save(tmp_path / "model.gnomon"))
    assert_same_bits(outputs(loaded, years), outputs(model, years))


@each_path("cls", [cls for cls in CLASSES if parameters_of(cls)])
def test_a_parameter_newer_than_the_file_takes_its_default(cls, tmp_path):
    names = list(parameters_of(cls))
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
        assert repr(getattr(gnomon.load(path), names[0])) == repr(default)
