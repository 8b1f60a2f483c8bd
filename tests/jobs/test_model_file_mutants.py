"""Model files changed with knowledge of their structure are refused, or harmless.

Kernels run as plain Python here, so that an access beyond an array is an error instead of a read
or write of other memory. ``make fuzz`` tries many more changes than these tests.
"""

from __future__ import annotations

import collections
import functools
import os
import pickle
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.cluster import BisectingKMeans, KMeans
from gnomon.engine import signing, stored
from gnomon.engine.errors import ModelFileError
from gnomon.engine.registry import load_packages
from gnomon.engine.storable import STORABLE, storable
from gnomon.engine.stored import Array, DictOf, Flag, ListOf, Number, Object, Text, Whole
from gnomon.graphical import BoltzmannMachine, PairwiseModel
from tests.contract.cases import CLASSES, batches, fitted_on_numbers, rng_of
from tests.contract.test_other_kinds import NETWORK_CALLS, OTHERS, PROBLEMS, shared
from tests.model_mutants import mutants, packed, parts, shapes

TIMES = 0.15  # files per class and kind of change
ROWS = 6  # rows that are asked about, as kernels in plain Python are slow
FINE = {"refused", "refused in use", "harmless"}


def prepare(estimator, X, folder: Path, rng: np.random.Generator, times: float) -> int:
    """Write some changed files of a model of rows to the folder; the number of files."""
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = shapes(estimator, X)
    if not expected:
        return 0
    (folder / "rows.pickle").write_bytes(pickle.dumps((X, expected)))
    return write_mutants(estimator, folder, rng, times)


def prepare_call(model, call: tuple, folder: Path, rng: np.random.Generator, times: float) -> int:
    """The same for a model of something else; `call` is a method and its arguments."""
    folder.mkdir()
    name, *arguments = call
    (folder / "call.pickle").write_bytes(pickle.dumps((name, arguments)))
    return write_mutants(model, folder, rng, times)


def write_mutants(model, folder: Path, rng: np.random.Generator, times: float) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content, arrays = parts(model.save(folder / "model.gnomon"))
    kinds = collections.defaultdict(list)
    for what, write in mutants(content, arrays):
        kinds[what.split(": ")[-1]].append((what, write))
    count = 0
    for found in kinds.values():
        number = int(times) + (rng.random() < times % 1)
        for i in rng.permutation(len(found))[:number]:
            what, write = found[i]
            (folder / f"{what.replace('/', '_')[-150:]}.gnomon").write_bytes(write())
            count += 1
    return count


def outcomes(folders: list[Path]) -> list[list[str]]:
    """Class, change and outcome of every changed file, found in a process without compilation."""
    command = [sys.executable, "-m", "tests.model_mutants", *map(str, folders)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [line.split("\t") for line in done.stdout.splitlines()]


def assert_none_fails(folders: list[Path], count: int) -> None:
    found = outcomes(folders)
    assert len(found) == count
    failed = ["  ".join(line) for line in found if line[-1] not in FINE]
    assert not failed, f"{len(failed)} of {count} changed files fail\n" + "\n".join(failed)


def prepared(
    classes: list[type], seed: int, folder: Path, times: float = TIMES
) -> tuple[list, int]:
    """The folders of changed files of these classes, and how many files there are."""
    count, folders = 0, []
    for cls in classes:
        fitted = fitted_on_numbers(cls, seed)
        place = folder / cls.__name__
        count += prepare(fitted.estimator, fitted.X[:ROWS], place, rng_of(cls, seed), times)
        if (place / "rows.pickle").exists():
            folders.append(place)
    return folders, count


@batches(CLASSES, 2)
def test_a_changed_model_is_refused_or_harmless(classes, seed, tmp_path):
    """Some of the kinds of changes of every class; `make fuzz` tries all."""
    assert_none_fails(*prepared(classes, seed, tmp_path))


@pytest.mark.slow
@batches(CLASSES, 8)
def test_many_changed_models_are_refused_or_harmless(classes, seed, tmp_path):
    assert_none_fails(*prepared(classes, seed, tmp_path, times=3))


OTHER_NAMES = [cls.__name__ for cls in [*OTHERS, *(call[0] for call in NETWORK_CALLS)]]
OTHER_NAMES += ["PairwiseModel", "BoltzmannMachine"]


@functools.cache
def other_models() -> dict[str, tuple]:
    """Models that are not of rows, by name, with a call that each answers."""
    found = {cls.__name__: (shared(cls), PROBLEMS[cls.__name__].ask) for cls in OTHERS}
    for cls, data, name in NETWORK_CALLS:
        found[cls.__name__] = (cls.fit(data, {"a": (), "b": ("a",)}), (name,))
    pairs = PairwiseModel([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]], [(0, 1), (1, 2)], [np.eye(2)])
    machine = BoltzmannMachine([[0.0, 1.0, -1.0], [1.0, 0.0, 0.5], [-1.0, 0.5, 0.0]])
    found["PairwiseModel"] = (pairs, ("exact_mode",))
    found["BoltzmannMachine"] = (machine, ("mean_field",))
    return found


def prepared_others(names: list[str], seed: int, folder: Path, times: float) -> tuple[list, int]:
    count = 0
    for name in names:
        model, call = other_models()[name]
        count += prepare_call(model, call, folder / name, rng_of(type(model), seed), times)
    return [folder / name for name in names], count


def test_a_changed_model_of_another_kind_is_refused_or_answers(seed, tmp_path):
    assert_none_fails(*prepared_others(OTHER_NAMES, seed, tmp_path, TIMES))


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_NAMES)
def test_many_changed_models_of_another_kind_are_refused_or_answer(name, seed, tmp_path):
    assert_none_fails(*prepared_others([name], seed, tmp_path, times=3))


def test_every_storable_class_declares_its_values():
    load_packages()
    missing = [name for name, cls in STORABLE.items() if stored.table_of(cls) is None]
    assert missing == []
    with pytest.raises(TypeError, match="does not declare its values"):
        storable(type("Undeclared", (), {}))


def test_a_value_that_is_not_declared_is_neither_saved_nor_loaded(tmp_path):
    model = KMeans(2, random_state=0).fit([[0.0], [1.0], [5.0], [6.0]])
    path = model.save(tmp_path / "model.gnomon")
    model.surprise_ = 3
    with pytest.raises(ModelFileError, match="does not declare its value 'surprise_'"):
        model.save(tmp_path / "other.gnomon")
    content, arrays = parts(path)
    content["model"]["values"]["surprise_"] = 3
    path.write_bytes(packed(content, arrays))
    with pytest.raises(ModelFileError, match="a value 'surprise_' that its class does not declare"):
        gnomon.load(path)


@pytest.mark.parametrize(
    ("kind", "good", "bad", "reason"),
    [
        (Array("f8", (2, "n")), np.ones((2, 3)), np.ones((3, 3)), "has shape"),
        (Array("f8", ("n", "n + 1")), np.ones((2, 3)), np.ones((2, 2)), "has shape"),
        (Array("i", (None,), low=0, below="m"), np.array([0, 3]), np.array([4]), "not less than 4"),
        (Array("f", rising=True), np.array([1.0, 2.0]), np.array([2.0, 1.0]), "do not rise"),
        (Array("f"), np.ones(2), np.array([np.nan]), "not finite"),
        (Array("f"), np.ones(2), np.ones(2, dtype=int), "an array of int64"),
        (Array("O", entry=Text()), np.array(["a"], object), np.array([1], object), "not a text"),
        (Whole(1, "m"), 4, 5, "greater than 4"),
        (Whole(), 0, True, "not a whole number"),
        (Number(), 0.5, float("inf"), "not finite"),
        (ListOf(Whole(), "m"), [1, 2, 3, 4], [1], "1 entries"),
        (DictOf(Number()), {"a": 1.0}, {"a": "x"}, "not a number"),
        (Text(("a", "b")), "a", "c", "not one of"),
        (Flag() | None, None, 3, "not True or False"),
        (Object(("KMeans",)), KMeans(), BisectingKMeans, "not an object of a stored class"),
    ],
)
def test_a_table_accepts_what_it_declares_and_refuses_the_rest(kind, good, bad, reason):
    kind.check(good, stored.Sizes({"m": 4}))
    with pytest.raises(stored.Unfit, match=reason):
        kind.check(bad, stored.Sizes({"m": 4}))


def test_a_changed_or_cut_file_is_told_by_its_digest(tmp_path):
    path = KMeans(2, random_state=0).fit([[0.0], [1.0], [5.0]]).save(tmp_path / "model.gnomon")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
        comment = archive.comment
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content.replace(b'"tol": 0.0001', b'"tol": 0.0002'))
    with pytest.raises(ModelFileError, match=r"model\.json was changed"):
        gnomon.load(path)


def test_a_signed_file_loads_with_its_key_alone(tmp_path):
    path = KMeans(2, random_state=0).fit([[0.0], [1.0], [5.0]]).save(tmp_path / "model.gnomon")
    private, public = signing.new_key(tmp_path / "key")
    _, other = signing.new_key(tmp_path / "other")
    with pytest.raises(ModelFileError, match="is not signed"):
        gnomon.load(path, key=public)
    signing.sign(path, private)
    assert gnomon.load(path, key=public).n_clusters == 2
    assert gnomon.load(path).n_clusters == 2
    with pytest.raises(ModelFileError, match="signed with another key"):
        gnomon.load(path, key=other)
    with pytest.raises(ModelFileError, match="public key cannot be used"):
        gnomon.load(path, key=private)
    assert private.stat().st_mode & 0o077 == 0
