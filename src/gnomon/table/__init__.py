"""Tables: anything in, every column of a known kind, nothing lost in silence."""

from gnomon.table.bundled import example, examples
from gnomon.table.errors import ReadError
from gnomon.table.idx import read_idx
from gnomon.table.images import ImageSet, image_dataset
from gnomon.table.kinds import Kind
from gnomon.table.read import read
from gnomon.table.scan import Scan, scan
from gnomon.table.schema import Column, Schema
from gnomon.table.summary import FiveNumbers, Summary, describe, entropy, five_numbers
from gnomon.table.table import Table

__all__ = [
    "Column",
    "FiveNumbers",
    "ImageSet",
    "Kind",
    "ReadError",
    "Scan",
    "Schema",
    "Summary",
    "Table",
    "describe",
    "entropy",
    "example",
    "examples",
    "five_numbers",
    "image_dataset",
    "read",
    "read_idx",
    "scan",
]
