"""Model files: data only, so that reading one can execute nothing.

A ``.gnomon`` file is a zip of ``model.json`` (classes by their names in gnomon's registry,
parameters and small values, versions) and one ``.npy`` member per array. The reader imports
nothing that the file names, refuses classes that it does not know, and compares every declared
size with the bytes that are there and with the memory limit before it allocates. An array that is
not what ``model.json`` says of it, an object that is not what its class declares
(`gnomon.engine.stored`), and a fitted model that cannot answer for one row, are refused. Digests
tell a damaged file; `gnomon.engine.signing` tells who made it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import hashlib
import inspect
import json
import math
import os
import secrets
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.utils import get_tags

from gnomon.engine import memory, signing, stored
from gnomon.engine.errors import GnomonError, ModelFileError
from gnomon.engine.renamed import class_of_today, name_of_today
from gnomon.engine.storable import FUNCTIONS, STORABLE, STORED_AS

FORMAT = 1  # rises with every change that older versions cannot read
TRANSIENT = frozenset(
    {
        "_given",
        "_skl_callbacks",
        "_callback_fit_ctx",
        "_parent_callback_ctx",
        "_skl_callbacks_to_teardown",
    }
)
# 256 MB; with JSON_TO_MEMORY it guards against a bomb: arrays are not in the JSON.
MOST_JSON = 2**28
JSON_TO_MEMORY = 25  # bytes of Python objects that one byte of JSON may become: "[]," makes 64
MOST_MEMBERS = 100_000  # judgement: one array is one member; forests keep theirs in a few
DEEPEST = 60  # far below Python's recursion limit of 1,000 at several calls per level
KINDS = frozenset("biufcSUMm")
PACKINGS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
BLOCK = 2**20  # 1 MB at a time: an untrue size in the header cannot make a great allocation
END = 22  # bytes of the record at the end of a zip archive, before its comment
TAG = "$"
# Probabilities first: their number says more than the class that cannot be looked up.
ANSWERS = ("predict_proba", "predict", "decision_function", "transform", "score_samples")


def save(estimator: Any, path: str | Path) -> Path:
    """Write an estimator, fitted or not, to a model file.

    Parameters
    ----------
    estimator : Estimator
        Of a class in gnomon's registry.
    path : str or Path
        An existing file is replaced only when the new one is complete.

    Returns
    -------
    path : Path
    """
    path = Path(path)
    writer = _Writer()
    content = {
        "format": FORMAT,
        "versions": _versions(),
        "model": writer.encode(estimator, type(estimator).__name__),
        "answers": _answers(estimator),
    }
    # without indents, which the encoder in C does not write: a schema may have 10,000 columns
    text = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(unfinished, "xb") as file:
            _write_archive(file, text, writer.arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        raise ModelFileError(f"cannot write {path}: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return path


class Saved:
    """A model that is no estimator (it has no parameters to set) and has a model file all the same.

    Its class must be `storable`.
    """

    def save(self, path: str | Path) -> Path:
        """Write this model to a model file, which `gnomon.load` reads.

        Parameters
        ----------
        path : str or Path
            Conventionally ends in ``.gnomon``.

        Returns
        -------
        path : Path
        """
        return save(self, path)


def _write_archive(file: Any, text: bytes, arrays: dict[str, np.ndarray]) -> None:
    """The zip; equal models give equal bytes, as members carry no time of writing."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.comment = signing.comment(hashlib.sha256(text).hexdigest())
        with archive.open("model.json", "w") as stream:
            stream.write(text)
        for name, array in arrays.items():
            with archive.open(name, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def load(path: str | Path, *, key: signing.KeyLike | None = None) -> Any:
    """Read an estimator from a model file.

    Parameters
    ----------
    path : str or Path
    key : path or bytes, default=None
        The public key of the person who signed the file (``gnomon sign``); a file that is not
        signed, or was changed since, is refused then.

    Returns
    -------
    estimator : Estimator
        With the parameters and fitted values that were saved.
    """
    from gnomon.engine.registry import load_packages

    if key is not None:
        with _opened(path) as reader:
            reader.verify(key)
    try:  # a class that is not imported yet is unknown; importing all packages takes a second
        with _opened(path) as reader:
            return reader.model()
    except ModelFileError:
        load_packages()
    with _opened(path) as reader:
        return reader.model()


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[_Reader]:
    """A reader of the file; whatever goes wrong in reading is told as a `ModelFileError`."""
    path = Path(path)
    if not path.is_file():
        what = "is a folder, not a model file" if path.is_dir() else "does not exist"
        raise ModelFileError(f"{path} {what}")
    try:
        with zipfile.ZipFile(path) as archive:
            if not _has_whole_comment(path):
                raise ModelFileError(f"{path} is cut short")
            yield _Reader(archive, path)
    except ModelFileError:
        raise
    except RecursionError:
        raise ModelFileError(f"{path}: its values are nested too deeply") from None
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, OSError) as error:
        raise ModelFileError(
            f"{path} is not a readable model file (cut short or damaged?): {error}"
        ) from error
    except Exception as error:
        raise ModelFileError(f"{path} does not hold what a model file must: {error}") from error


class _Writer:
    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {TAG: "float", "value": repr(float(value))}
        if isinstance(value, np.generic):
            array = np.asarray(value)
            return {TAG: "scalar", "array": self.keep(array)} | _declared(array)
        if isinstance(value, np.ndarray):
            return self.encode_array(value, where)
        if isinstance(value, list):
            return [self.encode(entry, f"{where}[{i}]") for i, entry in enumerate(value)]
        if isinstance(value, (tuple, set, frozenset)):
            name = next(t.__name__ for t in (tuple, set, frozenset) if isinstance(value, t))
            values = list(value) if name == "tuple" else sorted(value, key=repr)
            return {TAG: name, "values": self.encode(values, where)}
        if isinstance(value, dict):
            items = [
                [self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return {TAG: "dict", "items": items}
        if sp.issparse(value):
            return self.encode_sparse(value, where)
        if isinstance(value, (datetime.date, datetime.time)):
            kinds = (datetime.datetime, datetime.date, datetime.time)
            name = next(t.__name__ for t in kinds if isinstance(value, t))
            return {TAG: name, "value": value.isoformat()}
        if isinstance(value, np.dtype) and value.kind in KINDS:
            return {TAG: "dtype", "value": value.str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {TAG: "numpy_type", "value": np.dtype(value).name}
        if isinstance(value, np.random.RandomState):
            _, *state = value.get_state()
            return {TAG: "RandomState", "state": self.encode(tuple(state), where)}
        name = getattr(value, "__name__", "")
        if callable(value) and FUNCTIONS.get(name) is value:
            return {TAG: "function", "name": name}
        return self.encode_object(value, where)

    def keep(self, array: np.ndarray) -> str:
        name = f"arrays/{len(self.arrays)}.npy"
        self.arrays[name] = array
        return name

    def encode_array(self, array: np.ndarray, where: str) -> dict[Any, Any]:
        if isinstance(array, np.ma.MaskedArray):  # masked cells are None
            array = np.array(array.tolist(), dtype=object)
        if array.dtype.kind in KINDS:
            return {TAG: "array", "array": self.keep(array)} | _declared(array)
        if array.dtype.kind == "O":
            values = self.encode(array.ravel().tolist(), where)
            return {TAG: "objects", "shape": list(array.shape), "values": values}
        raise ModelFileError(f"{where} is an array of {array.dtype}, which model files cannot hold")

    def encode_sparse(self, matrix: Any, where: str) -> dict[Any, Any]:
        rows = sp.csr_array(matrix)
        return {
            TAG: "csr",
            "shape": list(rows.shape),
            "data": self.encode(rows.data, where),
            "indices": self.encode(rows.indices, where),
            "indptr": self.encode(rows.indptr, where),
        }

    def encode_object(self, value: Any, where: str) -> dict[Any, Any]:
        name = STORED_AS.get(type(value), type(value).__name__)
        if STORABLE.get(name) is not type(value):
            raise ModelFileError(
                f"{where} is a {type(value).__module__}.{type(value).__name__}, which a model file "
                "cannot hold: model files hold data only, of classes that gnomon knows"
            )
        state = _stored_attributes(value)
        for attribute in state:
            if reason := _misfit(type(value), attribute):
                raise ModelFileError(f"{where} cannot be saved: its attribute {reason}")
        if undeclared := stored.undeclared(type(value), state, _parameters(type(value))):
            raise ModelFileError(
                f"{where} cannot be saved: {type(value).__name__} does not declare its value "
                f"{undeclared[0]!r} in _stored (gnomon.engine.stored)"
            )
        return {
            TAG: "object",
            "class": name,
            "values": {k: self.encode(v, f"{where}.{k}") for k, v in state.items()},
        }


class _Reader:
    def __init__(self, archive: zipfile.ZipFile, path: Path):
        self.archive = archive
        self.path = path
        self.members = self.checked_members()
        self.read_arrays: set[str] = set()
        self.written = signing.read_comment(archive.comment)
        self.attribute = ""
        self.holds_nan = False

    def verify(self, key: signing.KeyLike) -> None:
        """Refuse a file without a signature of this key, or with arrays that it does not cover."""
        signing.verify(self.path, self.written, key)
        for value in _array_values(self.content()["model"]):
            if "sha256" not in value:
                raise self.refuse(f"its array {value.get('array')!r} is not covered by a digest")

    def refuse(self, reason: str) -> ModelFileError:
        return ModelFileError(f"{self.path}: {reason}")

    def checked_members(self) -> dict[str, zipfile.ZipInfo]:
        entries = self.archive.infolist()
        if len(entries) > MOST_MEMBERS:
            raise self.refuse(f"it has {len(entries):,} members, more than a model file can have")
        members = {entry.filename: entry for entry in entries}
        if len(members) < len(entries):
            raise self.refuse("it holds two members of one name")
        for name in members:
            if name != "model.json" and not _is_array_name(name):
                raise self.refuse(f"it holds {name!r}, which does not belong in a model file")
            if members[name].compress_type not in PACKINGS:
                raise self.refuse(f"{name} is packed in a way that gnomon does not write")
        if "model.json" not in members:
            raise self.refuse("it holds no model.json")
        text = members["model.json"].file_size
        if text > MOST_JSON:
            raise self.refuse(f"its model.json is too large ({memory.readable(text)})")
        total = sum(entry.file_size for entry in entries) + JSON_TO_MEMORY * text
        allowed = memory.limit()
        if total > allowed:
            raise self.refuse(
                f"it unpacks to as much as {memory.readable(total)}, and "
                f"{memory.readable(allowed)} are allowed; "
                "to allow more: gnomon.config(memory_limit=...)"
            )
        return members

    def content(self) -> dict[str, Any]:
        text = self.archive.read("model.json")
        if self.written and hashlib.sha256(text).hexdigest() != self.written["sha256"]:
            raise self.refuse("its model.json was changed after it was saved")
        content = json.loads(text.decode("utf-8", "surrogatepass"))
        number = content.get("format") if isinstance(content, dict) else None
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise self.refuse("its model.json does not say which format it has")
        if number > FORMAT:
            raise self.refuse(
                f"it has format {number}, this version of gnomon reads up to {FORMAT}; "
                "install a newer gnomon"
            )
        model = content.get("model")
        if not isinstance(model, dict) or model.get(TAG) != "object":
            raise self.refuse("its model.json holds no estimator")
        return content

    def model(self) -> Any:
        content = self.content()
        made = self.decode(content["model"], 0)
        if not hasattr(made, "get_params") and not isinstance(made, Saved):
            raise self.refuse(f"it holds a {type(made).__name__}, which is not an estimator")
        self.try_out(made)
        if content.get("answers") and content["answers"] != _answers(made):
            raise self.refuse(
                f"its {type(made).__name__} answers in another shape than when it was saved; load "
                "the file as it was saved"
            )
        return made

    def try_out(self, model: Any) -> None:
        """Predict one row with a fitted model, so that what does not fit fails now."""
        row = _any_row(model)
        for name in () if row is None else ANSWERS:
            flaw = self.flaw(model, name, row) if hasattr(model, name) else None
            if flaw:
                raise self.refuse(
                    f"its {type(model).__name__} cannot be used for {name}: {flaw}. Values that "
                    "were learnt are missing or do not fit together; fit it and save it again"
                )

    def flaw(self, model: Any, name: str, row: Any) -> str | None:
        """What goes wrong in answering for any row."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                answer = getattr(model, name)(row)
        except GnomonError:  # the model is whole, and this row is not for it
            return None
        except Exception as error:
            return str(error) or type(error).__name__
        if name != "transform" and self.holds_nan and _count_nan(answer):
            return "it learnt NaN and answers NaN"
        return _wrong_width(model, name, answer)

    def decode(self, value: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise self.refuse("its values are nested too deeply")
        if isinstance(value, list):
            return [self.decode(entry, depth + 1) for entry in value]
        if not isinstance(value, dict):
            return value
        decoder = getattr(self, f"decode_{value.get(TAG)}", None)
        if decoder is None:
            raise self.refuse(f"it holds a value of unknown kind {value.get(TAG)!r}")
        return decoder(value, depth + 1)

    def decode_float(self, value: Any, depth: Any) -> Any:
        number = float(value["value"])
        self.holds_nan |= math.isnan(number)
        return number

    def decode_scalar(self, value: Any, depth: Any) -> Any:
        return self.decode_array(value, depth)[()]

    def decode_array(self, value: Any, depth: Any) -> Any:
        array = self.array(value["array"])
        found = _declared(array)
        for key in found.keys() & value.keys():  # files of older versions declare nothing
            if found[key] != value[key]:
                raise self.refuse(
                    f"its {self.attribute} was saved with {key} {value[key]!r} and now has {key} "
                    f"{found[key]!r} ({value['array']} was changed); load the file as it was saved"
                )
        self.holds_nan |= found["missing"] > 0
        return array

    def decode_objects(self, value: Any, depth: Any) -> Any:
        values = self.decode(value["values"], depth)
        array = np.empty(len(values), dtype=object)
        for place, entry in enumerate(values):
            array[place] = entry
        return array.reshape(value["shape"])

    def decode_tuple(self, value: Any, depth: Any) -> Any:
        return tuple(self.decode(value["values"], depth))

    def decode_set(self, value: Any, depth: Any) -> Any:
        return set(self.decode(value["values"], depth))

    def decode_frozenset(self, value: Any, depth: Any) -> Any:
        return frozenset(self.decode(value["values"], depth))

    def decode_dict(self, value: Any, depth: Any) -> Any:
        return {self.decode(k, depth): self.decode(v, depth) for k, v in value["items"]}

    def decode_date(self, value: Any, depth: Any) -> Any:
        return datetime.date.fromisoformat(value["value"])

    def decode_datetime(self, value: Any, depth: Any) -> Any:
        return datetime.datetime.fromisoformat(value["value"])

    def decode_time(self, value: Any, depth: Any) -> Any:
        return datetime.time.fromisoformat(value["value"])

    def decode_dtype(self, value: Any, depth: Any) -> Any:
        return np.dtype(str(value["value"]))

    def decode_numpy_type(self, value: Any, depth: Any) -> Any:
        return np.dtype(str(value["value"])).type

    def decode_RandomState(self, value: Any, depth: Any) -> Any:
        state = np.random.RandomState()
        state.set_state(("MT19937", *self.decode(value["state"], depth)))
        return state

    def decode_function(self, value: Any, depth: Any) -> Any:
        if value["name"] not in FUNCTIONS:
            raise self.refuse(f"it names a function {value['name']!r} that gnomon does not know")
        return FUNCTIONS[value["name"]]

    def decode_csr(self, value: Any, depth: Any) -> Any:
        parts = [self.decode(value[key], depth) for key in ("data", "indices", "indptr")]
        matrix = sp.csr_array(tuple(parts), shape=tuple(value["shape"]))
        matrix.check_format(full_check=True)
        return matrix

    def decode_object(self, value: Any, depth: Any) -> Any:
        name = value["class"]
        known = isinstance(name, str) and isinstance(value["values"], dict)
        cls = _storable_class(name, value["values"]) if known else None
        if cls is None:
            raise self.refuse(
                f"it holds a {name!r}, a class that this version of gnomon does not know"
            )
        stored = {name_of_today(cls, key): content for key, content in value["values"].items()}
        for attribute in stored:
            if reason := _misfit(cls, attribute):
                raise self.refuse(f"its {name} has an attribute {reason}")
        made: Any = object.__new__(cls)
        values = {}
        for attribute, content in stored.items():
            self.attribute = f"{name}.{attribute}"
            values[attribute] = self.decode(content, depth)
        if hasattr(cls, "get_params"):
            values = self.defaults(cls, values) | values
        vars(made).update(values)
        self.check(made, name, values)
        return made

    def check(self, made: Any, name: str, values: dict[str, Any]) -> None:
        """Compare an object with the table of its class, before anything is computed with it."""
        cls = type(made)
        is_estimator = hasattr(cls, "get_params")
        fitted = not is_estimator or any(each.endswith("_") for each in values)
        complete = fitted and getattr(made, "_has_fitted_values", True)
        try:
            stored.check(cls, values, _parameters(cls), complete)
        except stored.Unfit as reason:
            raise self.refuse(f"its {name}{_joined(reason)}") from None
        has_table = isinstance(getattr(cls, "_parameter_constraints", None), dict)
        if has_table and (fitted or not get_tags(made).requires_fit):
            made._validate_params()
        if hasattr(made, "_check_loaded"):
            made._check_loaded()

    def defaults(self, cls: type, values: dict[str, Any]) -> dict[str, Any]:
        """Parameters that a file of an older version does not have yet."""
        found = {}
        for name, parameter in inspect.signature(cls).parameters.items():
            if name not in values:
                if parameter.default is parameter.empty:
                    raise self.refuse(f"its {cls.__name__} lacks the parameter {name!r}")
                found[name] = parameter.default
        return found

    def array(self, name: str) -> np.ndarray:
        """Read one array after comparing its header with the bytes that the member holds."""
        if not isinstance(name, str) or name not in self.members or name == "model.json":
            raise self.refuse(f"it names an array {name!r} that it does not hold")
        if name in self.read_arrays:
            raise self.refuse(f"it names the array {name!r} twice")
        self.read_arrays.add(name)
        size = self.members[name].file_size
        with self.archive.open(name) as stream:
            version = np.lib.format.read_magic(stream)
            if version not in ((1, 0), (2, 0)):
                raise self.refuse(f"{name} is not an array file that gnomon writes")
            header = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, fortran, dtype = header(stream, max_header_size=4096)
            if dtype.kind not in KINDS:
                raise self.refuse(f"{name} holds {dtype}, and model files hold plain numbers only")
            need = math.prod(shape) * dtype.itemsize
            if stream.tell() + need != size:
                raise self.refuse(
                    f"{name} declares {need:,} bytes of numbers and holds {size - stream.tell():,}"
                )
            content = np.empty(need, dtype=np.uint8)
            for start in range(0, need, BLOCK):
                block = stream.read(min(BLOCK, need - start))
                if len(block) != min(BLOCK, need - start):
                    raise self.refuse(f"{name} is cut short")
                content[start : start + len(block)] = np.frombuffer(block, dtype=np.uint8)
            if stream.read(1):
                raise self.refuse(f"{name} holds more than it declares")
        return np.ndarray(shape, dtype, content, order="F" if fortran else "C")


def describe(path: str | Path) -> dict[str, Any]:
    """What a model file says of itself (format, versions, class), without loading the model."""
    with _opened(path) as reader:
        content = reader.content()
        return {
            "format": content["format"],
            "versions": content["versions"],
            "class": content["model"]["class"],
            "sha256": reader.written.get("sha256"),
        }


def _array_values(value: Any) -> Iterator[dict[str, Any]]:
    """What model.json says of each array."""
    if isinstance(value, dict):
        if value.get(TAG) in ("array", "scalar"):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _array_values(each)


def _storable_class(name: str, names: Collection[str] = ()) -> type | None:
    """The class of this name, or of the name that it had in an earlier version."""
    return STORABLE.get(class_of_today(name, names)) or STORABLE.get(name)


def _stored_attributes(value: Any) -> dict[str, Any]:
    """An object's own values; not what belongs to a running fit, nor what it can compute again."""
    cls: Any = type(value)
    return {name: each for name, each in vars(value).items() if _is_stored(cls, name)}


@functools.lru_cache(maxsize=10_000)
def _is_stored(cls: type, name: str) -> bool:
    """Whether a value of this name belongs into the file."""
    if name in TRANSIENT or name in getattr(cls, "_transient", ()):
        return False
    return not isinstance(inspect.getattr_static(cls, name, None), functools.cached_property)


def _misfit(cls: type, name: str) -> str | None:
    """Why a value of this name must not be put on an object: it would hide a part of its class."""
    if not name.isidentifier() or (name.startswith("__") and name.endswith("__")):
        return f"{name!r}, which is not a name of a value"
    if hasattr(cls, name) and name not in _fields(cls) and name not in _parameters(cls):
        return f"{name!r}, which would hide {cls.__name__}.{name}"
    return None


def _fields(cls: type) -> frozenset[str]:
    if not dataclasses.is_dataclass(cls):
        return frozenset()
    return frozenset(field.name for field in dataclasses.fields(cls))


def _read_parameters(cls: Any) -> frozenset[str]:
    """The parameters of an estimator's constructor; they are checked by a table of their own."""
    if not hasattr(cls, "get_params"):
        return frozenset()
    return frozenset(inspect.signature(cls).parameters)


_parameters: Callable[[type], frozenset[str]] = functools.cache(_read_parameters)


def _joined(reason: stored.Unfit) -> str:
    text = str(reason)
    return text if text.startswith(".") else f" {text}"


def _wrong_width(model: Any, name: str, answer: Any) -> str | None:
    """Why the numbers for a row do not fit the model's classes: one each, or one for each pair."""
    if name not in ("predict_proba", "decision_function") or not hasattr(model, "classes_"):
        return None
    if isinstance(model.classes_, list):  # several outputs, whose answers are lists
        return None
    classes = len(model.classes_)
    fitting = {classes} if name == "predict_proba" else {classes, classes * (classes - 1) // 2}
    width = answer.shape[1] if answer.ndim == 2 else None
    if width is None or width in fitting:
        return None
    return f"it has {classes} classes and gives {width} numbers for a row"


def _count_nan(array: Any) -> int:
    is_float = isinstance(array, np.ndarray) and array.dtype.kind in "fc"
    return int(np.isnan(array).sum()) if is_float else 0


def _declared(array: np.ndarray) -> dict[str, Any]:
    """What model.json says of an array."""
    return {
        "shape": list(array.shape),
        "dtype": array.dtype.str,
        "missing": _count_nan(array),
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
    }


def _any_row(model: Any) -> Any:
    """One row like those that a model was fitted on: zeros, or a table's row of missing cells.

    None where the model is not fitted, or does not learn from rows.
    """
    if hasattr(model, "_example_row"):
        return model._example_row()
    encoder = getattr(model, "encoder_", None)
    if encoder is not None:
        names = getattr(model, "feature_names_in_", encoder.names_in)
        return pa.table({name: pa.nulls(1) for name in names})
    n_columns = vars(model).get("n_features_in_")
    if n_columns is None:
        return None
    memory.require(8 * n_columns, f"a row of {n_columns:,} columns", "Is the file damaged?")
    return np.zeros((1, n_columns))


def _answers(model: Any) -> dict[str, list[int] | None]:
    """The shape of the rows that a model takes, and of its answers for one; {} before a fit."""
    try:
        row = _any_row(model)
    except Exception:
        return {}
    if row is None:
        return {}
    shapes: dict[str, list[int] | None] = {"row": list(getattr(row, "shape", (1, 0))[1:])}
    for name in ANSWERS:
        if hasattr(model, name):
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    shapes[name] = _shape(getattr(model, name)(row))
            except Exception:  # the row is not for it
                shapes[name] = None
    return shapes


def _shape(answer: Any) -> list[int]:
    if isinstance(answer, (list, tuple)):
        return [len(answer), *(size for each in answer for size in _shape(each))]
    shape = getattr(answer, "shape", None)
    return list(shape) if shape is not None else []


def _has_whole_comment(path: Path) -> bool:
    """Whether the end of the archive is there; the standard library overlooks a part of it."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - END - 2**16, 0))
        end = file.read()
    place = end.rfind(b"PK\x05\x06")
    return len(end) - place - END == int.from_bytes(end[place + END - 2 : place + END], "little")


def _is_array_name(name: str) -> bool:
    folder, _, rest = name.partition("/")
    return folder == "arrays" and rest.endswith(".npy") and rest[:-4].isdecimal()


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("gnomon", "numpy", "scipy", "scikit-learn")}
