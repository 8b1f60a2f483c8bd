"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from gnomon.engine.errors import GnomonError
from gnomon.table import Table


class WriteError(GnomonError, OSError):
    """A result cannot be written; the message says which file, why, and what to do."""


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file so that a reader, a crash or a full disk never leaves half of it.

    The content goes to a hidden file beside the target, which takes the target's place when all
    of it is on the disk; a failure leaves what was there before.

    Parameters
    ----------
    path : path
    content : str or bytes
        Text is written as UTF-8; what UTF-8 cannot hold (lone surrogates) becomes ``?``.

    Returns
    -------
    path : Path
    """
    path = Path(path)
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(unfinished, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        raise WriteError(
            f"cannot write {path}: {error.strerror or error}. Give another place, or free "
            "space there; nothing was written"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return path


def written(table: Table, path: str | Path) -> Path:
    """Write a table whole or not at all; in CSV, text that begins like a formula is escaped.

    Parameters
    ----------
    table : Table
    path : path
        Ends in .csv, .tsv, .parquet or .arrow.

    Returns
    -------
    path : Path
    """
    path = Path(path)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"table{path.suffix.lower()}"
        table.save(place, escape_formulas=True)
        return write_whole(path, place.read_bytes())
