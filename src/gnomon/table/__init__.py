"""Tables: anything in, every column of a known kind, nothing lost in silence."""

from gnomon.engine.renamed import former_names
from gnomon.table.bundled import example, examples
from gnomon.table.errors import ReadError
from gnomon.table.generate import (
    ClassOracle,
    Clouds,
    FunctionOracle,
    KnownClasses,
    NoisyCurves,
    Sample,
    SwissRoll,
    friedman,
    moons,
    spirals,
)
from gnomon.table.hierarchy import Hierarchy, HierarchyScore
from gnomon.table.idx import read_idx
from gnomon.table.images import ImageSet, image_dataset
from gnomon.table.kinds import Kind
from gnomon.table.read import read
from gnomon.table.scan import Scan, scan
from gnomon.table.schema import Column, Schema
from gnomon.table.split import Split, split
from gnomon.table.summary import FiveNumbers, Summary, describe, entropy, five_numbers
from gnomon.table.table import Table

__all__ = [
    "ClassOracle",
    "Clouds",
    "Column",
    "FiveNumbers",
    "FunctionOracle",
    "Hierarchy",
    "HierarchyScore",
    "ImageSet",
    "Kind",
    "KnownClasses",
    "NoisyCurves",
    "ReadError",
    "Sample",
    "Scan",
    "Schema",
    "Split",
    "Summary",
    "SwissRoll",
    "Table",
    "describe",
    "entropy",
    "example",
    "examples",
    "five_numbers",
    "friedman",
    "image_dataset",
    "moons",
    "read",
    "read_idx",
    "scan",
    "spirals",
    "split",
]

__getattr__ = former_names(__name__, {})
