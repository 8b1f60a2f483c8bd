"""A folder that keeps the results of folds as they come, so that a killed run can go on.

`plan.json` says what is run: learner, data, splits. Each finished fold is a `fold-0007.json` with
its times beside `.npy` arrays of what was predicted, written first; nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.table.frames import native
from gnomon.table.grid import is_table
from gnomon.table.table import Table

FORMAT = 1  # rises with every change of the folder that older versions cannot read
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Of the globals that a function uses, those that are told by what they are worth.
TAKEN_BY_VALUE = (bool, int, float, str, tuple, np.ndarray)


class RunFolder:
    """Where the folds of one run are kept.

    Parameters
    ----------
    path : str or Path
        Made where it does not exist.
    plan : dict
        What is run; a folder with another plan is refused.
    """

    def __init__(self, path: str | Path, plan: dict[str, Any]):
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)
        plan = {"format": FORMAT, **plan}
        place = self.path / "plan.json"
        if place.exists():
            self._require_same(self._kept_plan(place), plan)
        else:
            write_json(place, plan)

    def write(self, number: int, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Keep one fold: its arrays first, then the facts that mark it as done."""
        for name, array in arrays.items():
            target = self._array(number, name)
            rough = target.with_suffix(".part")
            with open(rough, "wb") as file:
                np.save(file, array, allow_pickle=False)
                _sync(file)
            os.replace(rough, target)
        write_json(self._facts(number), {**facts, "arrays": sorted(arrays)})

    def read(self, number: int) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """One fold, or None where it is not done; an unreadable one is reported and done again."""
        place = self._facts(number)
        if not place.exists():
            return None
        try:
            facts = json.loads(place.read_text(encoding="utf-8"))
            names = facts.pop("arrays")
            arrays = {n: np.load(self._array(number, n), allow_pickle=False) for n in names}
        except (OSError, ValueError, KeyError, EOFError) as error:
            warnings.warn(
                f"{place} cannot be read ({error}); the fold is run again",
                GnomonWarning,
                stacklevel=3,
            )
            return None
        return facts, arrays

    def _kept_plan(self, place: Path) -> dict[str, Any]:
        try:
            kept = json.loads(place.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(
                f"{place} is damaged ({error}). Delete the folder {self.path}: what it holds is "
                "run again"
            ) from error
        return kept if isinstance(kept, dict) else {}

    def _facts(self, number: int) -> Path:
        return self.path / f"fold-{number:04d}.json"

    def _array(self, number: int, name: str) -> Path:
        return self.path / f"fold-{number:04d}.{name}.npy"

    def _require_same(self, kept: dict[str, Any], plan: dict[str, Any]) -> None:
        other = [key for key in plan if kept.get(key) != plan[key]]
        if other:
            raise DataError(
                f"the folder {self.path} holds another run: it differs in {', '.join(other)}. "
                "Give another folder, or delete this one"
            )


def write_json(place: Path, content: dict[str, Any]) -> None:
    """Write all of a file or nothing."""
    rough = place.with_suffix(".part")
    with open(rough, "w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1, sort_keys=True))
        _sync(file)
    os.replace(rough, place)


def _sync(file: Any) -> None:
    """Have all of a file on the disk, so that it is whole after a crash of the machine."""
    file.flush()
    os.fsync(file.fileno())


def description(thing: Any, within: tuple[int, ...] = ()) -> Any:
    """What a learner or a function is, as data: classes, parameters, code; arrays by their hash.

    `within` are the things that it is a part of, so that circles end.
    """
    if thing is None or isinstance(thing, (bool, int, str)):
        return thing
    if id(thing) in within:
        return "itself"
    part = partial(description, within=(*within, id(thing)))
    if isinstance(thing, (list, tuple)):
        return [part(each) for each in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted(repr(part(each)) for each in thing)
    if isinstance(thing, dict):
        return {str(key): part(value) for key, value in thing.items()}
    if hasattr(thing, "to_numpy") or isinstance(thing, np.ndarray) or sp.issparse(thing):
        return f"array {fingerprint(thing)}"
    if hasattr(thing, "get_params") and not isinstance(thing, type):
        parameters = {k: part(v) for k, v in sorted(thing.get_params(deep=False).items())}
        return {"class": _full_name(type(thing)), "parameters": parameters}
    if isinstance(thing, FunctionType):
        return {"function": [_code(each, part) for each in _reached(thing)]}
    return _by_parts(thing, part)


def _code(function: FunctionType, part: Callable[[Any], Any]) -> dict[str, Any]:
    """A function by its code and all that the code takes from elsewhere, not by its name."""
    used = _globals_of(function)
    return {
        "code": fingerprint(list(_code_pieces(function.__code__))),
        "defaults": part([function.__defaults__, function.__kwdefaults__]),
        "closure": [part(_content(each)) for each in function.__closure__ or ()],
        "globals": part({k: v for k, v in used.items() if isinstance(v, TAKEN_BY_VALUE)}),
    }


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None


def _reached(function: FunctionType) -> list[FunctionType]:
    """A function and those of its module that it calls, by way of others too."""
    found = {id(function): function}
    waiting = [function]
    while waiting:
        for each in _globals_of(waiting.pop()).values():
            own = isinstance(each, FunctionType) and each.__module__ == function.__module__
            if own and id(each) not in found:
                found[id(each)] = each
                waiting.append(each)
    return list(found.values())


def _globals_of(function: FunctionType) -> dict[str, Any]:
    names = sorted(_names_in(function.__code__) & function.__globals__.keys())
    return {name: function.__globals__[name] for name in names}


def _code_pieces(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield from map(repr, (code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_pieces(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*(_names_in(each) for each in inner))


def _by_parts(thing: Any, part: Callable[[Any], Any]) -> Any:
    """Things that show no more than an address, by what they are made of; others as they show."""
    if isinstance(thing, partial):
        return {"partial": part(thing.func), "given": part([thing.args, thing.keywords])}
    if isinstance(thing, MethodType):
        return {"method": part(thing.__func__), "of": part(thing.__self__)}
    if isinstance(thing, scipy.stats.distributions.rv_frozen):
        return {"law": thing.dist.name, "given": part([thing.args, thing.kwds])}
    if hasattr(thing, "_score_func"):
        given = [thing._sign, thing._kwargs, thing._response_method]
        return {"scorer": part(thing._score_func), "given": part(given)}
    inner = getattr(thing, "py_func", getattr(thing, "__wrapped__", None))
    if inner is not None:
        return {"around": part(inner)}
    if thing is np.random.mtrand._rand:
        return "the global random state"
    if isinstance(thing, np.random.RandomState):
        return part(thing.get_state(legacy=False))
    if isinstance(thing, np.random.Generator):
        return part(thing.bit_generator.state)
    if isinstance(thing, type) or not ADDRESS.search(repr(thing)):
        return repr(thing)
    if hasattr(thing, "__qualname__"):
        return _full_name(thing)
    return {"class": _full_name(type(thing)), "parts": part(getattr(thing, "__dict__", {}))}


def _full_name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def fingerprint(*parts: Any) -> str:
    """A hash of arrays, frames, tables or lists that says whether data are the same."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        for piece in _pieces(part):
            found.update(piece)
    return found.hexdigest()


def _pieces(part: Any) -> Iterator[bytes | memoryview]:
    part = native(part)
    if part is None:
        yield b"none"
    elif sp.issparse(part):
        part = sp.csr_array(part)
        yield repr(part.shape).encode()
        yield from (np.ascontiguousarray(a).data for a in (part.data, part.indices, part.indptr))
    elif is_table(part):
        yield from _table_pieces(part if isinstance(part, Table) else Table.from_frame(part))
    else:
        array = np.asarray(part)
        yield f"{array.shape} {array.dtype.str if array.dtype.kind != 'O' else 'O'}".encode()
        plain = array.dtype.kind not in "OMm"
        yield np.ascontiguousarray(array).tobytes() if plain else repr(array.tolist()).encode()


def _table_pieces(table: Table) -> Iterator[memoryview]:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    arrow = table.arrow.combine_chunks().replace_schema_metadata(None)
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    yield memoryview(sink.getvalue())
