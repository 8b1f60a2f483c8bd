"""Tables: anything in, every column of a known kind, nothing lost in silence."""

from gnomon.table.errors import ReadError
from gnomon.table.kinds import Kind
from gnomon.table.reading import read
from gnomon.table.schema import Column, Schema
from gnomon.table.table import Table

__all__ = ["Column", "Kind", "ReadError", "Schema", "Table", "read"]
