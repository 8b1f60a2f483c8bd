"""Which format a file has: by its first bytes, and only then by its name."""

from __future__ import annotations

import re
from pathlib import Path

from gnomon.table.errors import ReadError
from gnomon.table.source import ByteSource

_TABLE_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"SQLite format 3\x00", "sqlite"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "excel"),
)
_PICKLE = "a Python pickle, which could run any code; save it as Parquet or CSV"
_OTHER_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"BM", "a BMP picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"%PDF-", "a PDF document"),
    (b"\x93NUMPY", "a NumPy array; load it with numpy.load"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"\x7fELF", "a program"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (
        b"\x80\x02",
        "a Python pickle, which could run any code; save the table as Parquet or CSV instead",
    ),
    (
        b"\x80\x03",
        "a Python pickle, which could run any code; save the table as Parquet or CSV instead",
    ),
    (
        b"\x80\x04",
        "a Python pickle, which could run any code; save the table as Parquet or CSV instead",
    ),
    (
        b"\x80\x05",
        "a Python pickle, which could run any code; save the table as Parquet or CSV instead",
    ),
    (
        b"\x80\x06",
        "a Python pickle, which could run any code; save the table as Parquet or CSV instead",
    ),
    *((bytes([0x80, protocol]), _PICKLE) for protocol in range(2, 6)),
    (b"FEA1", "a Feather file of version 1; save it as version 2 or as Parquet"),
    (b"RDX", "an R data file; save it as CSV or Parquet from R"),
    (b"\x00asm", "a program"),
)
_ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arff": "arff",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
}
_TEXT_FORMATS = ("delimited", "json", "arff")
_COMPRESSED_ENDINGS = (".gz", ".bz2", ".zst", ".zstd", ".xz")
START = 4096  # judgement: one page of a file tells signatures, and text from bytes
_EXPECTED = "A table is expected: CSV, Parquet, Arrow, JSON lines, ARFF, Excel or SQLite."


def format_of(source: ByteSource) -> tuple[str, list[str]]:
    """The format of a file and what is worth telling about it; an error for what is no table."""
    start = source.head(START)
    if not start:
        raise ReadError(
            "is empty (0 bytes)", file=source.name, remedy="Check that it was written completely."
        )
    by_name = _ENDINGS.get(_ending(source.name))
    by_magic = _by_magic(start, source)
    if by_magic is not None:
        if by_name not in (None, by_magic):
            told = f"The name says {by_name}, the content is {by_magic}; it is read as {by_magic}."
            return by_magic, [told]
        return by_magic, []
    _refuse_other(start, source)
    if by_name in ("parquet", "arrow", "excel", "sqlite", "duckdb"):
        raise ReadError(
            f"the name says {by_name}, but the content does not",
            file=source.name,
            remedy="Give the file its right ending, or fetch it again if it is damaged.",
        )
    if by_name is None and b":" in start:
        if start.lstrip().startswith(b"{"):
            return "json", ["The file starts with '{' and is read as JSON lines."]
        if _ARRAY_OF_OBJECTS.match(start):
            return "json", ["The file starts with '[{' and is read as a JSON array of objects."]
    if by_name is None and _ARFF_START.match(start):
        return "arff", ["The file starts with '@relation' and is read as ARFF."]
    return by_name or "delimited", []


def _by_magic(start: bytes, source: ByteSource) -> str | None:
    for magic, name in _TABLE_MAGIC:
        if start.startswith(magic) and _is_binary(start):
            return name
    if start[8:12] == b"DUCK":
        return "duckdb"
    if start[:4] == b"\xff\xff\xff\xff" and _ending(source.name) in (".arrow", ".arrows", ".ipc"):
        return "arrow"
    if start.startswith(b"PK\x03\x04"):
        return _zip_format(source)
    return None


def _zip_format(source: ByteSource) -> str:
    import zipfile

    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise ReadError(
            f"is a damaged zip archive ({error})", file=source.name, remedy="Fetch it again."
        ) from error
    if any(name.startswith("xl/") for name in names) or "content.xml" in names:
        return "excel"
    inside = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    raise ReadError(
        f"is a zip archive with {inside}",
        file=source.name,
        remedy="Unpack it and name the file inside.",
    )


def _refuse_other(start: bytes, source: ByteSource) -> None:
    markup = _MARKUP.match(start)
    if markup is not None:
        raise ReadError(
            f"is an {'XML document' if markup['xml'] else 'HTML page'}, not a table",
            file=source.name,
            remedy="A site may have sent a page for people in place of the file: fetch the file "
            "itself, or save the table as CSV.",
        )
    for magic, what in _OTHER_MAGIC:
        if start.startswith(magic) and _is_binary(start):
            raise ReadError(
                f"is {what}",
                file=source.name,
                remedy=_EXPECTED,
            )
    zeros = start.count(0)
    control = sum(start.count(code) for code in _CONTROL)
    wide = zeros > 0.2 * len(start)
    if not wide and (control > 0.1 * len(start) or zeros > 0.1 * len(start)):
        raise ReadError(
            f"is binary: {control + zeros} of its first {len(start)} bytes are control characters",
            file=source.name,
            remedy=_EXPECTED,
        )


_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:(?P<xml>\?xml\s)|!doctype\s+html|html\b)", re.I)
_ARFF_START = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|%[^\n]*\n)*@relation\b", re.I)
_ARRAY_OF_OBJECTS = re.compile(rb"\s*\[\s*\{")
_CONTROL = [bytes([code]) for code in range(1, 32) if code not in (9, 10, 12, 13, 27)] + [b"\x7f"]


def _is_binary(start: bytes) -> bool:
    try:
        text = start[:-4].decode("utf-8") if len(start) == START else start.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return any(ord(letter) < 32 and letter not in "\t\n\r\f" for letter in text)


def _ending(name: str) -> str:
    path = Path(name)
    if path.suffix.lower() in _COMPRESSED_ENDINGS:
        path = path.with_suffix("")
    return path.suffix.lower()
