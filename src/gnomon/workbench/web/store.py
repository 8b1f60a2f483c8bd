"""Tables as files that are mapped to memory: ten million rows open at once, and are not copied."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pyarrow as pa

from gnomon.table import Table
from gnomon.table.columnar import stored_schema

ROWS_AT_A_TIME = 65_536  # a page of rows touches one or two pieces


def write_table(table: Table, path: Path) -> None:
    """Write the columns uncompressed, with their kinds, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrow = table.arrow.unify_dictionaries().combine_chunks()
    arrow = arrow.replace_schema_metadata({"gnomon.schema": table.schema.to_toml()})
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, arrow.schema) as file:
            file.write_table(arrow, max_chunksize=ROWS_AT_A_TIME)
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_table(path: Path) -> Table:
    """A table that `write_table` wrote; its cells are read from the disk when they are used."""
    arrow = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    return Table(arrow, stored_schema(arrow.schema))
