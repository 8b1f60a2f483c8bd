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
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.table.frames import native
from gnomon.table.grid import is_table
from gnomon.table.table import Table

FORMAT = 1


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
            self._require_same(json.loads(place.read_text(encoding="utf-8")), plan)
        else:
            write_json(place, plan)

    def write(self, number: int, facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Keep one fold: its arrays first, then the facts that mark it as done."""
        for name, array in arrays.items():
            target = self._array(number, name)
            rough = target.with_suffix(".part")
            with open(rough, "wb") as file:
                np.save(file, array, allow_pickle=False)
            os.replace(rough, target)
        write_json(self._facts(number), {**facts, "arrays": sorted(arrays)})

    def read(self, number: int) -> tuple[dict[str, Any], dict[str, np.ndarray]] | None:
        """One fold, or None where it is not done; an unreadable one is said and done again."""
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
    rough.write_text(json.dumps(content, indent=1, sort_keys=True), encoding="utf-8")
    os.replace(rough, place)


def description(learner: Any) -> Any:
    """What a learner is, as data: classes and parameters, arrays by their hash."""
    if isinstance(learner, BaseEstimator):
        parameters = {k: description(v) for k, v in sorted(learner.get_params(deep=False).items())}
        cls = type(learner)
        return {"class": f"{cls.__module__}.{cls.__qualname__}", "parameters": parameters}
    if isinstance(learner, (list, tuple)):
        return [description(each) for each in learner]
    if isinstance(learner, dict):
        return {str(k): description(v) for k, v in learner.items()}
    if isinstance(learner, np.ndarray):
        return f"array {fingerprint(learner)}"
    if learner is None or isinstance(learner, (bool, int, str)):
        return learner
    return re.sub(r" at 0x[0-9a-f]+", "", repr(learner))


def fingerprint(*parts: Any) -> str:
    """A hash of arrays, frames, tables or lists that says whether data are the same."""
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        for piece in _pieces(part):
            found.update(piece)
    return found.hexdigest()


def _pieces(part: Any):
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


def _table_pieces(table: Table):
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    arrow = table.arrow.combine_chunks().replace_schema_metadata(None)
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    yield memoryview(sink.getvalue())
