"""IDX, the binary format of MNIST: a shape and an array, plain or gzipped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gnomon.table.errors import ReadError
from gnomon.table.source import ByteSource

TYPES = {
    0x08: ">u1",
    0x09: ">i1",
    0x0B: ">i2",
    0x0C: ">i4",
    0x0D: ">f4",
    0x0E: ">f8",
}


def read_idx(source: Any) -> np.ndarray:
    """Read an IDX file (MNIST and its relatives) as an array.

    The file starts with two zero bytes, a byte for the type, a byte for the number of dimensions,
    and the dimensions as big-endian 32-bit numbers; then come the values. The size is checked
    before anything is allocated.

    Parameters
    ----------
    source : path, bytes or binary file
        Plain or compressed with gzip.

    Returns
    -------
    array : ndarray
        In the byte order of this machine; images of MNIST have the shape (n, 28, 28), labels (n,).

    Notes
    -----
    Text: 000 (MNIST). The CSV form of MNIST that Kaggle offers is read by `read`.

    Examples
    --------
    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]))
    array([7, 8, 9], dtype=uint8)
    """
    file = ByteSource(source)
    with file.open() as raw:
        start = file.take(raw, 4)
        if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in TYPES or not start[3]:
            raise ReadError(
                f"is not an IDX file: it starts with {start!r}",
                file=file.name,
                remedy="IDX files start with two zero bytes, a type and the number of dimensions.",
            )
        header = file.take(raw, 4 * start[3])
        if len(header) < 4 * start[3]:
            raise ReadError("ends within its dimensions", file=file.name, remedy=_AGAIN)
        shape = tuple(int(size) for size in np.frombuffer(header, ">u4"))
        kind = np.dtype(TYPES[start[2]])
        expected = math.prod(shape) * kind.itemsize
        content = _content(file, raw, expected)
    if len(content) != expected:
        found = f"more than {expected:,}" if len(content) > expected else f"{len(content):,}"
        raise ReadError(
            f"declares {shape} values, {expected:,} bytes, and holds {found}",
            file=file.name,
            remedy=_AGAIN,
        )
    return np.frombuffer(content, kind).reshape(shape).astype(kind.newbyteorder("="))


_AGAIN = "Fetch the file again; it is cut off or damaged."


def _content(file: ByteSource, raw: Any, expected: int) -> bytes:
    """At most one byte more than is expected, read in blocks: a false size allocates nothing."""
    parts, lacking = [], expected + 1
    while lacking > 0 and (block := file.take(raw, min(lacking, 1 << 20))):
        parts.append(block)
        lacking -= len(block)
    return b"".join(parts)
