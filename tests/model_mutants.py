"""Model files changed with knowledge of their structure, and what becomes of them.

`mutants` changes one value of a model file at a time: an array gets a row or a column more or
fewer, another kind or numbers far out; a whole number becomes another; a value gets another kind
or is lost. A changed file must be refused with an error of gnomon's, or give answers of the same
shape without NaN, unless a warning says that some rows have no answer.
``python -m tests.model_mutants FOLDER...`` tries the files of folders. With
``NUMBA_DISABLE_JIT=1`` kernels are plain Python, so that an access beyond an array is an error.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import pickle
import resource
import signal
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from gnomon.engine.modelfile import _declared as declared
from gnomon.engine.registry import load_packages

SECONDS = 10  # of processor time, so that a busy machine is not taken for a hang
MEMORY = 6 * 2**30
FAR = 2**31 - 1
ASKED = ("predict_proba", "predict", "decision_function", "transform", "score_samples")
OUTSIDE = {"versions", "format"}

Path_ = tuple[Any, ...]
Write = Callable[[], bytes]


def parts(path: Path) -> tuple[dict, dict[str, np.ndarray]]:
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


def places(value: Any, where: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every value of model.json that can be changed, with the way to it."""
    if isinstance(value, dict):
        yield where, value
        inner = {"array": (), "scalar": (), "objects": ("values",), "dict": ("items",)}
        for key in inner.get(value.get("$"), [key for key in value if key not in ("$", "class")]):
            yield from places(value[key], (*where, key))
    elif isinstance(value, list):
        yield where, value
        for place, entry in enumerate(value):
            yield from places(entry, (*where, place))
    elif where:
        yield where, value


def changed_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The array with other sizes, kinds and numbers."""
    for axis in range(array.ndim):
        if array.shape[axis]:
            last = np.take(array, [-1], axis=axis)
            yield f"one more on axis {axis}", np.concatenate([array, last], axis=axis)
            yield f"one fewer on axis {axis}", np.delete(array, -1, axis=axis)
    if array.ndim:
        yield "no axis less", array[:0]
        yield "one axis more", array[None]
    if array.dtype.kind in "iu" and array.size:
        for number in dict.fromkeys((FAR, -FAR, int(array.max()) + 1, -1)):
            if np.can_cast(np.min_scalar_type(number), array.dtype) or number == FAR:
                yield f"an entry {number}", with_entry(array, number)
        yield "floats", array.astype(np.float64)
    if array.dtype.kind == "f" and array.size:
        for number in (np.nan, np.inf, -np.inf):
            yield f"an entry {number}", with_entry(array, number)
        yield "whole numbers", np.nan_to_num(array).astype(np.int64)
    if array.dtype.kind == "b":
        yield "whole numbers", array.astype(np.int64)
    yield "words", np.full(array.shape, "x")


def with_entry(array: np.ndarray, number: float) -> np.ndarray:
    made = array.copy()
    limits = np.iinfo(made.dtype) if made.dtype.kind in "iu" else None
    made.flat[made.size // 2] = (
        number if limits is None else min(max(number, limits.min), limits.max)
    )
    return made


def changed_values(value: Any) -> Iterator[tuple[str, Any]]:
    """A small value with another number or of another kind."""
    if isinstance(value, bool) or value is None:
        yield "a word", "x"
        yield "a number", 3
    elif isinstance(value, int):
        for number in dict.fromkeys((value + 1, value - 1, 0, -1, FAR, 2**63 - 1)):
            if number != value:
                yield f"{number}", number
        yield "a word", "x"
    elif isinstance(value, float):
        yield "NaN", {"$": "float", "value": "nan"}
        yield "infinity", {"$": "float", "value": "inf"}
        yield "a word", "x"
    elif isinstance(value, str):
        yield "a number", 7
        yield "another word", "x"
    elif isinstance(value, list):
        if value:
            yield "one entry fewer", value[:-1]
            yield "no entries", []
    elif value.get("$") in ("object", "dict", "tuple"):
        yield "None", None


def mutants(content: dict, arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, Write]]:
    """Every change of one value: its description, and a function that makes the changed file."""
    for where, value in list(places(content["model"])):
        name = ".".join(str(each) for each in where if each not in ("values", "items"))
        if isinstance(value, dict) and value.get("$") in ("array", "scalar"):
            for what, array in changed_arrays(arrays[value["array"]]):
                if value["$"] == "scalar" and array.ndim:
                    continue
                node = value | (declared(array) if "shape" in value else {})
                yield f"{name}: {what}", partial(repacked, content, arrays, where, node, array)
        elif where and where[-1] != "array":
            for what, other in changed_values(value):
                yield f"{name}: {what}", partial(repacked, content, arrays, where, other)
        if isinstance(value, dict) and value.get("$") == "object":
            for attribute in value["values"]:
                less = {k: v for k, v in value["values"].items() if k != attribute}
                node = value | {"values": less}
                yield f"{name}.{attribute}: lost", partial(repacked, content, arrays, where, node)


def repacked(content, arrays, where: Path_, value: Any, array: np.ndarray | None = None) -> bytes:
    changed = dict(content)
    changed["model"] = replaced(content["model"], where, value)
    if array is not None:
        arrays = arrays | {value["array"]: array}
    return packed(changed, arrays)


def replaced(tree: Any, where: Path_, value: Any) -> Any:
    """A copy of the tree with another value at one place."""
    if not where:
        return value
    made = copy.copy(tree)
    made[where[0]] = replaced(tree[where[0]], where[1:], value)
    return made


class TimeUp(BaseException):
    """The file took too long."""


class Faults(list):
    """Accesses beyond arrays inside kernels, also those that the loader turned into a refusal."""


def watch_kernels() -> Faults:
    """Record every IndexError inside a kernel, which compiled would read or write elsewhere."""
    from gnomon.engine.kernel import Kernel

    found = Faults()
    call = Kernel.__call__

    def watched(self, *arguments):
        try:
            return call(self, *arguments)
        except IndexError as error:
            found.append(f"{self.name}: {error}")
            raise

    Kernel.__call__ = watched
    return found


def shapes(model: Any, X: Any) -> dict[str, Any]:
    """Shape of every answer, and how many of its numbers are NaN without a warning that says so."""
    found = {}
    for name in ASKED:
        if hasattr(model, name):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                answer = getattr(model, name)(X)
            answer = np.asarray(answer.toarray() if hasattr(answer, "toarray") else answer)
            counts = answer.dtype.kind == "f" and not any("NaN" in str(w.message) for w in told)
            found[name] = answer.shape, int(np.isnan(answer).sum()) if counts else 0
    return found


def outcome(path: Path, ask: Any, expected: Any, faults: Faults) -> str:
    """What becomes of a changed file: "refused", "harmless", or a description of the failure."""
    import gnomon
    from gnomon.engine.errors import GnomonError

    faults.clear()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        try:
            model = gnomon.load(path)
        except GnomonError:
            return f"memory fault while loading in {faults[0]}" if faults else "refused"
        found = ask(model)
    except GnomonError:
        return f"memory fault in use in {faults[0]}" if faults else "refused in use"
    except TimeUp:
        return "hang"
    except Exception as error:
        return f"raw {type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if faults:
        return f"memory fault in {faults[0]}"
    if found == expected:
        return "harmless"
    for name, (shape, missing) in expected.items():
        if found[name][0] != shape:
            return f"another shape of {name}: {found[name][0]} instead of {shape}"
        if found[name][1] > missing:
            return f"{name} answers NaN"
    return "harmless"


def try_folder(folder: Path, faults: Faults) -> Iterator[tuple[str, str]]:
    """The outcome of every changed file of a folder.

    Beside the files lies "rows.pickle" (rows, and the shapes of what a model of rows answers) or
    "call.pickle" (a method and its arguments, for a model of something else).
    """
    if (folder / "rows.pickle").exists():
        X, expected = pickle.loads((folder / "rows.pickle").read_bytes())
        ask = partial(shapes, X=X)
    else:
        ask, expected = partial(called, *pickle.loads((folder / "call.pickle").read_bytes())), {}
    for path in sorted(folder.glob("*.gnomon")):
        if path.name != "model.gnomon":
            with contextlib.redirect_stdout(io.StringIO()):  # a model may have become verbose
                found = outcome(path, ask, expected, faults)
            yield path.stem, found


def called(name: str, arguments: tuple, model: Any) -> dict[str, Any]:
    """Call a method of the model. What it answers is not compared."""
    with contextlib.suppress(NotFittedError):  # all that was fitted may be lost
        getattr(model, name)(*arguments)
    return {}


def main() -> None:
    """Print a line for every changed file in the folders named on the command line."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def end(*_):
        raise TimeUp

    load_packages()  # no file is charged for it
    signal.signal(signal.SIGPROF, end)
    faults = watch_kernels()
    for folder in map(Path, sys.argv[1:]):
        for name, found in try_folder(folder, faults):
            print(folder.name, name, found.replace("\n", " ")[:200], sep="\t", flush=True)


if __name__ == "__main__":
    main()
