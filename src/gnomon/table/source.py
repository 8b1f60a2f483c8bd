"""Bytes of a file: where they are, how they are compressed and encoded, whether they change."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from gnomon.engine import memory
from gnomon.table.errors import ReadError

BLOCK = 1 << 20  # judgement: 1 MB, few calls and little memory
ENDS = 1 << 16  # judgement: 64 KB of either end are read quickly from files of any size
DAMAGED = (EOFError, OSError, zlib.error, lzma.LZMAError, pa.ArrowException)

_COMPRESSIONS = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\x00", "xz"),
)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAFER = {
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
}


@dataclass(frozen=True)
class Stamp:
    """What tells that a file has changed."""

    size: int
    modified: int
    inode: int


class ByteSource:
    """A file, or bytes in memory, that can be read again from the start.

    Parameters
    ----------
    given : path, bytes or binary file object
        A file object is read to its end at once.
    """

    def __init__(self, given: Any):
        self.path: Path | None = None
        self._data: bytes | None = None
        if isinstance(given, (bytes, bytearray, memoryview)):
            self._data, self.name = bytes(given), "<bytes>"
        elif hasattr(given, "read"):
            content = given.read()
            self._data = content.encode() if isinstance(content, str) else content
            self.name = str(getattr(given, "name", "<file>"))
        else:
            self.path = Path(given).expanduser()
            self.name = str(given)
            self._check_path(self.path)
        self.compression = self._compression()
        self.stamp = self._stamp()

    def _check_path(self, path: Path) -> None:
        if path.is_dir():
            inside = sorted(entry.name for entry in path.iterdir() if entry.is_file())[:5]
            holds = f"it holds {', '.join(inside)}" if inside else "it holds no files"
            raise ReadError(
                f"is a directory; {holds}", file=self.name, remedy="Name one file in it."
            )
        if not path.exists() and re.match(r"\w[\w+.-]+://", self.name):
            raise ReadError(
                "is a URL, and files are not fetched",
                file=self.name,
                remedy="Fetch it first, and name the file on disk; of URLs, only postgresql:// "
                "ones are read.",
            )
        if not path.exists():
            raise ReadError("does not exist", file=self.name, remedy=_near(path))
        if not path.is_file():
            with self._raw() as pipe:
                self._data = self._all_of(pipe)

    def _all_of(self, pipe: BinaryIO) -> bytes:
        """What a pipe or device gives, which may be endless: no more than memory allows."""
        blocks, size, most = [], 0, memory.limit() // 4
        while block := pipe.read(BLOCK):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise ReadError(
                    f"is not a regular file and gives more than {memory.readable(most)}, a quarter "
                    "of the memory limit",
                    file=self.name,
                    remedy="Write it to a file, and stream that with gnomon.table.scan.",
                )
        return b"".join(blocks)

    def _raw(self) -> BinaryIO:
        if self._data is not None:
            return io.BytesIO(self._data)
        assert self.path is not None
        try:
            return self.path.open("rb")
        except OSError as error:
            raise ReadError(f"cannot be opened: {error.strerror}", file=self.name) from error

    def _compression(self) -> str | None:
        with self._raw() as file:
            start = file.read(8)
        return next((name for magic, name in _COMPRESSIONS if start.startswith(magic)), None)

    def open(self) -> BinaryIO:
        """The bytes from the start, decompressed."""
        if self.compression is None:
            return self._raw()
        self._raw().close()
        if self.compression == "zstd":
            packed = pa.BufferReader(self._data) if self._data is not None else str(self.path)
            return pa.CompressedInputStream(packed, "zstd")
        openers: dict[str, Any] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
        place = io.BytesIO(self._data) if self._data is not None else self.path
        return openers[self.compression](place)

    def plain_size(self) -> int | None:
        """The number of bytes, where any of them can be read without those before; else None."""
        if self.compression is not None:
            return None
        if self._data is not None:
            return len(self._data)
        return None if self.stamp is None else self.stamp.size

    def within(self, start: int, stop: int) -> ByteSource:
        """Some of the bytes as a source of their own."""
        part = _RangeSource.__new__(_RangeSource)
        vars(part).update(vars(self), start=start, stop=stop)
        return part

    def open_native(self) -> Any:
        """The same for Arrow's own readers, which are fastest on a file of their own."""
        if self.compression is None and self._data is None:
            self._raw().close()
            return pa.OSFile(str(self.path), "rb")
        return self.open()

    def blocks(self, size: int = BLOCK) -> Iterator[bytes]:
        """The decompressed bytes, block by block."""
        with self.open() as file:
            while block := self.take(file, size):
                yield block

    def is_longer_than(self, most: int) -> bool:
        """Whether the decompressed bytes are more than this many; counting stops there."""
        if self.compression is None:
            size = len(self._data) if self._data is not None else self.stamp and self.stamp.size
            return (size or 0) > most
        count = 0
        for block in self.blocks():
            count += len(block)
            if count > most:
                return True
        return False

    def take(self, file: BinaryIO, size: int) -> bytes:
        """The next bytes of an opened file; damage in a compressed file is a clear error."""
        try:
            return file.read(size)
        except DAMAGED as error:
            raise ReadError(
                f"the {self.compression or 'file'} data are damaged or cut off: {error}",
                file=self.name,
                remedy="Fetch or compress the file again.",
            ) from error

    def head(self, size: int) -> bytes:
        """The first decompressed bytes."""
        with self.open() as file:
            parts, lacking = [], size
            while lacking > 0 and (part := self.take(file, lacking)):
                parts.append(part)
                lacking -= len(part)
        return b"".join(parts)

    def check_unchanged(self) -> None:
        """Raise if the file is not the one that was opened first."""
        now, before = self._stamp(), self.stamp
        if now == before:
            return
        if now is None or before is None:
            what = "was removed while it was read"
        elif now.size != before.size:
            verb = "grew" if now.size > before.size else "shrank"
            what = f"{verb} from {before.size:,} to {now.size:,} bytes while it was read"
        else:
            what = "changed while it was read"
        raise ReadError(
            what,
            file=self.name,
            remedy="Wait until it is complete, or copy it, and read it again.",
        )

    def fingerprint(self) -> str:
        """A short name for the content: its size, its start and its end.

        Changes in the middle that keep the size are left to the time of modification.
        """
        with self._raw() as file:
            start = file.read(ENDS)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - ENDS, 0))
            end = file.read(ENDS)
        return hashlib.blake2b(b"%d:" % size + start + end, digest_size=16).hexdigest()

    def _stamp(self) -> Stamp | None:
        if self.path is None or self._data is not None:
            return None
        try:
            stat = os.stat(self.path)
        except OSError:
            return None
        return Stamp(stat.st_size, stat.st_mtime_ns, stat.st_ino)


def encoding_of_mark(start: bytes) -> str | None:
    """The encoding that a byte order mark announces."""
    return next((name for mark, name in _BYTE_ORDER_MARKS if start.startswith(mark)), None)


def length_of_mark(start: bytes, encoding: str) -> int:
    """Bytes of the byte order mark, if the text starts with the one of this encoding."""
    marks = {name: mark for mark, name in _BYTE_ORDER_MARKS}
    mark = marks.get(encoding)
    return len(mark) if mark and start.startswith(mark) else 0


def canonical_encoding(encoding: str, start: bytes, file: str) -> str:
    """The codec's plain name; UTF-16 and UTF-32 get the byte order of the mark."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise ReadError(
            f"{encoding!r} is not an encoding",
            file=file,
            remedy="Use one such as 'utf-8', 'utf-16', 'latin-1' or 'cp1252'.",
        ) from None
    marked = encoding_of_mark(start)
    if marked and _SAFER.get(name, name)[:6] == marked[:6]:
        return marked
    return _SAFER.get(name, name)


def first_undecodable(source: ByteSource, encoding: str) -> tuple[int, int, int] | None:
    """Byte offset, line and value of the first byte that is not of the encoding, or None."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, line = 0, 1
    pending = b""
    for block in source.blocks():
        if not pending and encoding in ("utf-8", "ascii") and block.isascii():
            offset, line = offset + len(block), line + block.count(b"\n")
            continue
        try:
            line += decoder.decode(block).count("\n")
        except UnicodeDecodeError as error:
            return _place(pending, block, error, offset, line)
        offset += len(block)
        pending = decoder.getstate()[0]
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return offset - len(pending), line, pending[0]
    return None


def _place(
    pending: bytes, block: bytes, error: UnicodeDecodeError, offset: int, line: int
) -> tuple[int, int, int]:
    seen = pending + block
    before = seen[: error.start]
    return offset - len(pending) + error.start, line + before.count(b"\n"), seen[error.start]


def undecodable_error(source: ByteSource, encoding: str) -> ReadError | None:
    """The error that names the first byte that is not of the encoding."""
    place = first_undecodable(source, encoding)
    if place is None:
        return None
    offset, line, byte = place
    other = "latin-1" if encoding != "latin-1" else "utf-8"
    return ReadError(
        f"byte 0x{byte:02x} at offset {offset:,} is not {encoding}",
        file=source.name,
        line=line,
        remedy=f"Give the file's encoding, for instance encoding='cp1252' or encoding='{other}', "
        "or correct the byte.",
    )


class _RangeSource(ByteSource):
    """Some of the bytes of a source that is not compressed."""

    start: int
    stop: int

    def _raw(self) -> BinaryIO:
        return io.BufferedReader(_Range(super()._raw(), self.start, self.stop))


class _Range(io.RawIOBase):
    """A file that begins at one place of another and ends at a later one."""

    def __init__(self, file: BinaryIO, start: int, stop: int):
        self.file, self.left = file, stop - start
        file.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        block = self.file.read(min(len(buffer), self.left))
        buffer[: len(block)] = block
        self.left -= len(block)
        return len(block)

    def close(self) -> None:
        self.file.close()
        super().close()


def _near(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f"The folder {folder} does not exist either."
    near = get_close_matches(path.name, os.listdir(folder), n=3, cutoff=0.5)
    if not near:
        return f"There is nothing of a similar name in {folder.resolve()}."
    return f"Did you mean {', '.join(repr(name) for name in near)}?"
