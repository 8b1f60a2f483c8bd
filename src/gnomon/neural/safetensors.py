"""Read and write safetensors files: arrays with names, and nothing that could be run.

The file starts with the length of a header in eight bytes; the header is JSON with the type, shape
and place of every array; then come the bytes. Everything is compared with the size of the file
before an array is made.

Texts: 000c 18.1.5 (trained networks as features for other tasks).
"""

from __future__ import annotations

import json
import os
import struct
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.table.errors import ReadError

TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "u1",
    "BOOL": "?",
}
MOST_HEADER = 100_000_000  # the format's own limit
METADATA = "__metadata__"


def read_safetensors(path: Any) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file by name.

    Parameters
    ----------
    path : path

    Returns
    -------
    arrays : dict from str to ndarray
        Half precision of the kind BF16 becomes float32.

    Examples
    --------
    >>> import tempfile
    >>> header = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
    >>> content = struct.pack("<Q", len(header)) + header + np.array([1, 2], "<f4").tobytes()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "w.safetensors"
    ...     _ = file.write_bytes(content)
    ...     read_safetensors(file)["w"].tolist()
    [1.0, 2.0]
    """
    file = Path(path)
    refused = _refusal(file)
    header, length = _header(file)
    size = file.stat().st_size
    memory.require(2 * size, f"Reading {file.name}", "Use a smaller network.")
    with file.open("rb") as raw:
        raw.seek(8 + length)
        content = raw.read()
    arrays = {}
    for name, each in header.items():
        if name == METADATA:
            continue
        try:
            kind, shape = each["dtype"], tuple(each["shape"])
            begin, end = each["data_offsets"]
            whole = all(isinstance(n, int) and n >= 0 for n in (*shape, begin, end))
        except (KeyError, TypeError, ValueError) as error:
            raise refused(f"array {name!r} is not described fully ({error})") from error
        width = 2 if kind == "BF16" else np.dtype(TYPES[kind]).itemsize if kind in TYPES else 0
        if not width:
            raise refused(f"array {name!r} is of the unknown type {kind!r}")
        if not whole or end > len(content) or end - begin != width * prod(shape):
            raise refused(f"array {name!r} does not fit in the file")
        part = content[begin:end]
        if kind == "BF16":
            bits = np.frombuffer(part, "<u2").astype(np.uint32) << 16
            arrays[name] = bits.view(np.float32).reshape(shape)
        else:
            arrays[name] = np.frombuffer(part, TYPES[kind]).reshape(shape).copy()
    return arrays


def read_metadata(path: Any) -> dict[str, str]:
    """The texts in the header of a safetensors file, by name; no array is read.

    Parameters
    ----------
    path : path

    Returns
    -------
    metadata : dict from str to str
    """
    found = _header(Path(path))[0].get(METADATA, {})
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise _refusal(Path(path))("has metadata that are no texts")
    return found


def write_safetensors(
    path: Any, arrays: dict[str, np.ndarray], metadata: dict[str, str] | None = None
) -> Path:
    """Write arrays by name to a safetensors file, whole or not at all.

    Parameters
    ----------
    path : path
    arrays : dict from str to ndarray
        Of numbers or truth values.
    metadata : dict from str to str, default=None
        Texts that are kept in the header.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write_safetensors(Path(folder) / "w.safetensors", {"w": np.eye(2)})
    ...     read_safetensors(file)["w"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    names = {np.dtype(kind): name for name, kind in TYPES.items()}
    header: dict[str, Any] = {METADATA: metadata} if metadata else {}
    content, begin = [], 0
    for name, values in arrays.items():
        values = np.ascontiguousarray(values)
        kind = values.dtype.newbyteorder("<")
        if kind not in names:
            raise DataError(f"array {name!r} holds {values.dtype}, which safetensors does not know")
        part = values.astype(kind, copy=False).tobytes()
        place = [begin, begin + len(part)]
        header[name] = {
            "dtype": names[kind],
            "shape": list(values.shape),
            "data_offsets": place,
        }
        content.append(part)
        begin += len(part)
    told = json.dumps(header).encode()
    told += b" " * (-len(told) % 8)
    file = Path(path)
    beside = file.with_name(f".{file.name}.part")
    with beside.open("wb") as raw:
        raw.write(struct.pack("<Q", len(told)) + told)
        raw.writelines(content)
        raw.flush()
        os.fsync(raw.fileno())
    os.replace(beside, file)
    return file


def _refusal(file: Path) -> Any:
    def refused(why: str) -> ReadError:
        return ReadError(why, file=str(file), remedy="Fetch the file again; it may be cut off.")

    return refused


def _header(file: Path) -> tuple[dict[str, Any], int]:
    """The header of a file and its length in bytes."""
    refused = _refusal(file)
    size = file.stat().st_size
    with file.open("rb") as raw:
        start = raw.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if not 2 <= length <= min(size - 8, MOST_HEADER):
            raise refused("is no safetensors file: its header does not fit in it")
        try:
            header = json.loads(raw.read(length))
        except ValueError as error:
            raise refused(f"has a header that cannot be read ({error})") from error
    if not isinstance(header, dict):
        raise refused("has a header that cannot be read (it is no object)")
    return header, length
