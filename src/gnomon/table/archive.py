"""Zip archives: one member, unpacked in memory within a bound."""

from __future__ import annotations

import io
import zipfile

from gnomon.engine import memory
from gnomon.table.errors import ReadError
from gnomon.table.source import ByteSource

MAGIC = b"PK\x03\x04"
# Files that systems put into archives beside the table.
BESIDE = ("__MACOSX/", ".DS_Store", "Thumbs.db")
# Bytes in memory for each byte of a member: the member and the table that is made of it.
MEMORY_PER_BYTE = 5


class NamedBytes(io.BytesIO):
    """Bytes with the name of the member that they were."""

    def __init__(self, content: bytes, name: str):
        super().__init__(content)
        self.name = name


def unpacked(source: ByteSource, member: str | None = None) -> ByteSource:
    """The member of a zip archive as a source of its own; other sources as they are.

    Parameters
    ----------
    source : ByteSource
    member : str, optional
        Its name in the archive; needed where there are several.

    Returns
    -------
    source : ByteSource
    """
    if not source.head(4).startswith(MAGIC):
        if member is not None:
            raise ReadError(
                f"member={member!r} was given, and the file is no zip archive", file=source.name
            )
        return source
    try:
        with source.open() as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            if any(name.startswith("xl/") for name in names) or "content.xml" in names:
                return source  # Excel and OpenDocument files are archives too
            info = archive.getinfo(_chosen(names, member, source.name))
            memory.require(
                MEMORY_PER_BYTE * info.file_size,
                f"Unpacking {info.filename} of {source.name}",
                "Unpack it to disk and stream it with gnomon.table.scan.",
            )
            with archive.open(info) as inside:
                content = inside.read(info.file_size + 1)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise ReadError(
            f"is a zip archive that cannot be unpacked ({error})",
            file=source.name,
            remedy="Fetch it again, or unpack it with its password first.",
        ) from error
    if len(content) != info.file_size:
        raise ReadError(
            f"{info.filename} is longer than the archive says",
            file=source.name,
            remedy="The archive is damaged or made to do harm; do not use it.",
        )
    return ByteSource(NamedBytes(content, f"{source.name}/{info.filename}"))


def _chosen(names: list[str], member: str | None, file: str) -> str:
    """The member that is asked for, or the only one."""
    tables = [name for name in names if not name.endswith("/") and not _is_beside(name)]
    listed = ", ".join(tables[:10]) + (" ..." if len(tables) > 10 else "")
    if member is not None:
        if member in names:
            return member
        raise ReadError(f"has no member {member!r}", file=file, remedy=f"It has {listed}.")
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise ReadError("is a zip archive without files", file=file)
    raise ReadError(
        f"is a zip archive with {len(tables)} files",
        file=file,
        remedy=f"Choose with member=... (--member): {listed}.",
        choices=("member", tables),
    )


def _is_beside(name: str) -> bool:
    return name.startswith(BESIDE[0]) or name.rpartition("/")[2] in BESIDE[1:]
