"""Model files from strangers: a clear refusal, nothing executed, memory bounded."""

from __future__ import annotations

import contextlib
import io
import json
import pickle
import stat
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon
from gnomon.cluster import KMeans
from gnomon.engine import modelfile
from gnomon.engine.errors import ModelFileError
from gnomon.engine.history import History
from gnomon.engine.storable import storable
from gnomon.engine.stored import Anything
from gnomon.evaluate import BaselineClassifier, BaselineRegressor

MEGABYTE = 10**6
ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [9.0, 8.0], [10.0, 9.0]])


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> bytes:
    """A good model file with several arrays."""
    path = tmp_path_factory.mktemp("models") / "good.gnomon"
    estimator = KMeans(2, random_state=0, keep_history="full").fit(ROWS)
    return estimator.save(path).read_bytes()


@pytest.fixture
def put(tmp_path):
    """Write bytes, or members, to a file and give its path."""

    def write(content: bytes | dict[str, bytes], packing=zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / "model.gnomon"
        if isinstance(content, bytes):
            path.write_bytes(content)
            return path
        with zipfile.ZipFile(path, "w", packing) as archive:
            for name, member in content.items():
                archive.writestr(name, member)
        return path

    return write


def members(model: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(model)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content(model: bytes) -> dict:
    return json.loads(members(model)["model.json"])


def with_content(model: bytes, changed) -> dict[str, bytes]:
    return members(model) | {"model.json": json.dumps(changed).encode()}


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    made = io.BytesIO()
    np.save(made, array, allow_pickle=allow_pickle)
    return made.getvalue()


def npy_header(text: str, body: bytes = b"") -> bytes:
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def assert_refused(path: Path, match: str = ".") -> str:
    """Loading and describing fail with one clear kind of error, in little memory."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match=match) as refused:
            gnomon.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60 * MEGABYTE
    message = str(refused.value)
    assert str(path) in message
    assert len(message) > len(str(path)) + 10
    return message


def test_the_untouched_file_loads(put, model):
    loaded = gnomon.load(put(model))
    np.testing.assert_array_equal(loaded.predict(ROWS), loaded.labels_)
    assert modelfile.describe(put(model))["class"] == "KMeans"


def test_a_file_cut_short_anywhere_is_refused(put, model):
    for length in range(0, len(model), 61):
        path = put(model[:length])
        with pytest.raises(ModelFileError):
            gnomon.load(path)
        with pytest.raises(ModelFileError):
            modelfile.describe(path)


@given(data=st.data())
def test_changed_bytes_give_the_model_or_a_refusal(put, model, data):
    changed = bytearray(model)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(model) - 1))
        changed[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(ModelFileError):
        assert isinstance(gnomon.load(put(bytes(changed))), KMeans)


def test_every_single_byte_may_be_wrong(put, model):
    for place in range(0, len(model), 7):
        changed = bytearray(model)
        changed[place] ^= 0xFF
        with contextlib.suppress(ModelFileError):
            gnomon.load(put(bytes(changed)))


@given(content=st.binary(max_size=300))
def test_any_bytes_are_refused(put, content):
    with pytest.raises(ModelFileError):
        gnomon.load(put(content))


@pytest.mark.parametrize(
    "content",
    [b"", b"a text file\n" * 50, b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 18, pickle.dumps([1])],
    ids=["empty", "text", "start of a zip", "empty zip", "pickle"],
)
def test_what_is_no_model_file_is_refused(put, content):
    assert_refused(put(content))


def test_a_folder_and_a_path_that_is_not_there_are_told_apart(tmp_path):
    assert "folder" in assert_refused(tmp_path)
    assert "does not exist" in assert_refused(tmp_path / "nothing.gnomon")


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["KMeans", "History", "object", "array", "arrays/0.npy", "dict", "csr"])
)
TREES = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["$", "class", "values", "value", "array", "items", "shape", "data"])
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(tree=TREES)
def test_any_json_is_refused_or_an_estimator(put, model, tree):
    for changed in (tree, content(model) | {"model": tree}):
        with contextlib.suppress(ModelFileError):
            assert hasattr(gnomon.load(put(with_content(model, changed))), "get_params")


@given(
    tree=TREES, attribute=st.sampled_from(["cluster_centers_", "history_", "n_clusters", "init"])
)
def test_any_value_of_an_attribute_is_refused_or_read_as_data(put, model, tree, attribute):
    changed = content(model)
    changed["model"]["values"][attribute] = tree
    try:
        loaded = gnomon.load(put(with_content(model, changed)))
    except ModelFileError:
        return
    assert isinstance(loaded, KMeans)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "eval",
        "sklearn.svm.SVC",
        "sklearn.linear_model.SGDClassifier",
        "object",
        "__import__",
        "",
        None,
    ],
)
def test_a_class_outside_the_registry_is_refused_and_not_imported(put, model, name):
    changed = content(model)
    changed["model"]["class"] = name
    assert_refused(put(with_content(model, changed)), "does not know")


def test_a_class_inside_a_value_is_looked_up_in_the_registry_too(put, model):
    changed = content(model)
    changed["model"]["values"]["n_clusters"] = {"$": "object", "class": "Popen", "values": {}}
    assert_refused(put(with_content(model, changed)), "Popen")


def test_a_stored_object_that_is_no_estimator_is_refused(put, model):
    changed = content(model)
    changed["model"] = {"$": "object", "class": History.__name__, "values": {}}
    changed["model"]["values"] = {"objective": [], "states": [], "stopped": "done"}
    assert_refused(put(with_content(model, changed)), "not an estimator")


@pytest.mark.parametrize(
    "name",
    [
        "__class__",
        "__dict__",
        "__reduce__",
        "__init__",
        "fit",
        "predict",
        "_nearest",
        "_sums",
        "save",
        "natively",
        "_largest",
        "_parameter_constraints",
        "1x",
        "a.b",
        "a-b",
        "get_params",
    ],
)
def test_an_attribute_that_would_hide_a_part_of_the_class_is_refused(put, model, name):
    changed = content(model)
    changed["model"]["values"][name] = 1
    assert_refused(put(with_content(model, changed)), "attribute")


def test_such_an_attribute_cannot_be_saved_either(tmp_path):
    estimator = BaselineClassifier()
    estimator.fit_ = estimator.score = 1
    with pytest.raises(ModelFileError, match=r"score.*hide"):
        estimator.save(tmp_path / "model.gnomon")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [2, 99, 10**30])
def test_a_newer_format_asks_for_a_newer_gnomon(put, model, number):
    path = put(with_content(model, content(model) | {"format": number}))
    assert_refused(path, "newer gnomon")


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "1", None, [1]])
def test_what_is_no_format_is_refused(put, model, number):
    assert_refused(put(with_content(model, content(model) | {"format": number})), "format")


@pytest.mark.parametrize(
    "changed", [[], {}, None, 5, "text", {"format": 1}, {"format": 1, "model": []}]
)
def test_json_of_another_shape_is_refused(put, model, changed):
    assert_refused(put(with_content(model, changed)))


class Attack:
    """A pickle that would create a file when it is read."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_pickle_in_an_array_is_not_read(put, model, tmp_path):
    witness = tmp_path / "executed"
    attack = np.array([Attack(witness)], dtype=object)
    path = put(members(model) | {"arrays/0.npy": npy(attack, allow_pickle=True)})
    assert_refused(path, "plain numbers")
    assert not witness.exists()


def test_a_pickle_in_place_of_an_array_is_not_read(put, model, tmp_path):
    witness = tmp_path / "executed"
    for name in ("arrays/0.npy", "model.json"):
        assert_refused(put(members(model) | {name: pickle.dumps(Attack(witness))}))
    assert not witness.exists()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|V8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 1, }",
        "{'descr': '<U1000000000', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': 3, 'shape': (1,), }",
        "{'descr': '<f8'}",
        "__import__('os').system('exit 1')",
        "((((((((((((((((((((((((((((((",
        "\x00",
    ],
)
def test_a_wrong_array_header_is_refused_before_anything_is_allocated(put, model, header):
    assert_refused(put(members(model) | {"arrays/0.npy": npy_header(header, b"\0" * 8)}))


def test_more_dimensions_than_numpy_has_are_refused(put, model):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'1,' * 65}), }}"
    body = b"\x93NUMPY\x01\x00" + struct.pack("<H", 512) + header.encode().ljust(511) + b"\n"
    assert_refused(put(members(model) | {"arrays/0.npy": body + b"\0" * 8}))


@pytest.mark.parametrize("extra", [b"\0", b"\0" * 8, b"\0" * 10_000])
def test_an_array_with_more_bytes_than_declared_is_refused(put, model, extra):
    longer = members(model)["arrays/0.npy"] + extra
    assert_refused(put(members(model) | {"arrays/0.npy": longer}), "declares")


def test_an_array_with_fewer_bytes_than_declared_is_refused(put, model):
    shorter = members(model)["arrays/0.npy"][:-8]
    assert_refused(put(members(model) | {"arrays/0.npy": shorter}), "declares")


def test_an_array_that_is_not_there_is_named(put, model):
    kept = {name: body for name, body in members(model).items() if name != "arrays/0.npy"}
    assert_refused(put(kept), "arrays/0.npy")


def test_an_array_named_again_and_again_is_read_once(put, model):
    big = npy(np.zeros(2 * 10**6))
    changed = content(model)
    again = {"$": "array", "array": "arrays/900.npy"}
    changed["model"]["values"]["extra_"] = [again] * 1000
    assert_refused(put(with_content(model, changed) | {"arrays/900.npy": big}), "twice")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.npy",
        "arrays/../../evil.npy",
        "/etc/evil",
        "arrays/a.npy",
        "arrays\\0.npy",
        "x.pkl",
        "arrays/",
        "model.json/",
        "arrays/0.npy/x",
        "C:\\evil.npy",
    ],
)
def test_members_with_other_names_are_refused_and_nothing_is_written(put, model, name, tmp_path):
    path = put(members(model) | {name: b"evil"})
    before = sorted(tmp_path.rglob("*"))
    assert_refused(path, "belong")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["model.json", "arrays/0.npy"])
def test_two_members_of_one_name_are_refused(put, model, name):
    path = put(model)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, members(model)[name])
    assert_refused(path, "two members")


def test_a_zip_without_a_model_is_refused(put):
    assert_refused(put({"arrays/0.npy": npy(np.zeros(3))}), "no model.json")


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_refused(put, model, packing):
    assert_refused(put(members(model), packing), "packed")


def test_an_encrypted_member_is_refused(put, model):
    changed = bytearray(model)
    changed[6] |= 1
    changed[model.index(b"PK\x01\x02") + 8] |= 1
    assert_refused(put(bytes(changed)), "damaged")


def test_a_declared_bomb_is_refused_by_its_size(put, model):
    bomb = npy_header(
        "{'descr': '|u1', 'fortran_order': False, 'shape': (300000000,), }", bytes(3 * 10**8)
    )
    path = put(members(model) | {"arrays/0.npy": bomb})
    del bomb
    assert path.stat().st_size < MEGABYTE
    with gnomon.config(memory_limit="100MB"):
        message = assert_refused(path, "300 MB")
    assert "100 MB" in message
    assert "gnomon.config(memory_limit=" in message


def test_an_undeclared_bomb_is_read_no_further_than_declared(put, model):
    """The directory says 136 bytes; the stream would unpack to 200 MB."""
    small = npy(np.zeros(1))
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    stream = packer.compress(small + bytes(2 * 10**8)) + packer.flush()
    honest = {name: (body, None) for name, body in members(model).items()}
    assert_refused(put(raw_zip(honest | {"arrays/0.npy": (small, stream)})))


def raw_zip(contents: dict[str, tuple[bytes, bytes | None]]) -> bytes:
    """A zip whose headers say what is given, whatever the packed streams hold."""
    out, directory = bytearray(), bytearray()
    for name, (declared, stream) in contents.items():
        packed = stream if stream is not None else declared
        method = zipfile.ZIP_DEFLATED if stream is not None else zipfile.ZIP_STORED
        common = struct.pack(
            "<HHHHHIIIHH",
            20,
            0,
            method,
            0,
            33,
            zlib.crc32(declared),
            len(packed),
            len(declared),
            len(name),
            0,
        )
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + common
        directory += struct.pack("<HHHII", 0, 0, 0, 0, len(out)) + name.encode()
        out += b"PK\x03\x04" + common + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(contents), len(contents), len(directory), len(out), 0)
    return bytes(out + directory + b"PK\x05\x06" + end)


def test_a_raw_zip_of_the_same_members_is_the_same_model(put, model):
    path = put(raw_zip({name: (body, None) for name, body in members(model).items()}))
    assert isinstance(gnomon.load(path), KMeans)


def test_huge_json_is_refused_before_it_is_parsed(put, model):
    huge = b'{"format": 1, "model": [' + b"[]," * 30_000_000 + b"[]]}"
    path = put(members(model) | {"model.json": huge})
    del huge
    with gnomon.config(memory_limit="1GB"):
        assert_refused(path, "unpacks")


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_deep_nesting_is_refused(put, model, start, end):
    for depth in (100, 100_000):
        deep = f'{{"format": 1, "model": {start * depth}1{end * depth}}}'.encode()
        assert_refused(put(members(model) | {"model.json": deep}))
        changed = content(model)
        changed["model"]["values"]["init"] = "@"
        text = json.dumps(changed).replace('"@"', "[" * depth + "]" * depth).encode()
        assert_refused(put(members(model) | {"model.json": text}), "nested")


def test_numbers_of_a_million_digits_are_refused(put, model):
    text = json.dumps(content(model)).replace('"format": 1', f'"format": {"9" * 10**6}')
    assert_refused(put(members(model) | {"model.json": text.encode()}))


def test_indices_of_a_sparse_matrix_are_checked(put, model):
    changed = content(model)
    changed["model"]["values"]["init"] = {
        "$": "csr",
        "shape": [2, 2],
        "data": {"$": "array", "array": "arrays/900.npy"},
        "indices": {"$": "array", "array": "arrays/901.npy"},
        "indptr": {"$": "array", "array": "arrays/902.npy"},
    }
    arrays = {
        "arrays/900.npy": npy(np.ones(2)),
        "arrays/901.npy": npy(np.array([0, 10**6], dtype=np.int32)),
        "arrays/902.npy": npy(np.array([0, 1, 2], dtype=np.int32)),
    }
    assert_refused(put(with_content(model, changed) | arrays))


def test_centers_that_do_not_fit_the_columns_are_refused(put, model):
    changed = content(model)
    changed["model"]["values"]["cluster_centers_"] = {"$": "array", "array": "arrays/900.npy"}
    # float32 is allowed: centres of float32 rows are float32
    for wrong in (np.zeros((2, 5)), np.zeros(2), np.zeros((2, 2), dtype=np.int64)):
        assert_refused(
            put(with_content(model, changed) | {"arrays/900.npy": npy(wrong)}), "cluster_centers_"
        )


def test_a_failed_save_leaves_the_old_file_and_no_rest(tmp_path):
    path = BaselineRegressor().save(tmp_path / "model.gnomon")
    before = path.read_bytes()
    broken = BaselineRegressor(strategy=lambda: None)
    with pytest.raises(ModelFileError, match=r"BaselineRegressor.strategy"):
        broken.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_saving_where_no_folder_is_says_so(tmp_path):
    with pytest.raises(ModelFileError, match="cannot write"):
        BaselineRegressor().save(tmp_path / "nowhere" / "model.gnomon")


def test_a_saved_file_may_be_read_by_those_who_may_read_others(tmp_path):
    (tmp_path / "other").write_text("")
    path = BaselineRegressor().save(tmp_path / "model.gnomon")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


def holder(names: list[str]) -> type:
    """A class that stands in model files and may hold anything under these names."""
    declared = dict.fromkeys(names, Anything())
    return storable(type("Holder", (modelfile.Saved,), {"_stored": declared}))


def test_every_value_that_can_be_saved_comes_back(tmp_path, rng):
    import datetime

    import scipy.sparse as sp

    values = {
        "none_": None,
        "truth_": True,
        "numbers_": [0, -1, 2**70, 0.1, -0.0, float("inf"), float("-inf"), 1e-320],
        "text_": ["", "naïve", "\u2028", "a\x00b", "\ud800", "😀", "$"],
        "tuple_": (1, ("a", [2.5])),
        "set_": {"a"},
        "frozen_": frozenset({1, 2}),
        "dict_": {1: "a", "b": {"$": "object"}, (1, 2): None, None: 3.5},
        "dates_": [datetime.date(2024, 2, 29), datetime.datetime(2024, 1, 1, 12), datetime.time(3)],
        "empty_": np.empty((0, 3)),
        "scalar_": np.float32(1.5),
        "zero_dimensional_": np.array(7),
        "fortran_": np.asfortranarray(rng.normal(size=(3, 4))),
        "strided_": rng.normal(size=(6, 4))[::2, ::-1],
        "strings_": np.array(["a", "long label"]),
        "objects_": np.array(["a", None, 3, ("x", 1)], dtype=object),
        "lists_": np.array([[1, 2], [3, 4], None], dtype=object)[:2],
        "moments_": np.array(["2024-01-01"], dtype="datetime64[us]"),
        "complex_": np.array([1 + 2j]),
        "flags_": np.array([[True], [False]]),
        "history_": History([1.0, 0.5], [{"center": np.ones(2)}], "converged"),
    }
    estimator = object.__new__(holder([*values, "matrix_"]))
    vars(estimator).update(values)
    estimator.matrix_ = sp.csr_array(np.eye(3))
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    for name, value in values.items():
        found = getattr(loaded, name)
        assert type(found) is type(value), name
        assert repr(found) == repr(value), name
        if isinstance(value, np.ndarray):
            assert found.dtype == value.dtype, name
            assert found.flags.writeable, name
    np.testing.assert_array_equal(loaded.matrix_.toarray(), np.eye(3))


def test_a_random_state_goes_on_where_it_was(tmp_path):
    state = np.random.RandomState(3)
    state.normal(size=7)
    estimator = KMeans(random_state=state)
    loaded = gnomon.load(estimator.save(tmp_path / "model.gnomon"))
    np.testing.assert_array_equal(loaded.random_state.normal(size=5), state.normal(size=5))
