"""Filters: fitted, stored, reversible changes of some columns; the others pass through."""

from gnomon.table.filters.base import Filter
from gnomon.table.filters.bins import Discretize, Quantize
from gnomon.table.filters.categories import OneHot, OrdinalScores, levels_as_seen
from gnomon.table.filters.gaps import Impute, MissingAsCategory
from gnomon.table.filters.parts import DateParts, WordCounts
from gnomon.table.filters.regression import RegressionImpute
from gnomon.table.filters.rows import (
    KeptRows,
    add_noise,
    drop_incomplete_rows,
    drop_rare_classes,
    mask_cells,
)
from gnomon.table.filters.scale import RoundToInteger, ScaleRange, Standardize
from gnomon.table.filters.sets import FeatureSets, concatenate
from gnomon.table.filters.whiten import Whiten

__all__ = [
    "DateParts",
    "Discretize",
    "FeatureSets",
    "Filter",
    "Impute",
    "KeptRows",
    "MissingAsCategory",
    "OneHot",
    "OrdinalScores",
    "Quantize",
    "RegressionImpute",
    "RoundToInteger",
    "ScaleRange",
    "Standardize",
    "Whiten",
    "WordCounts",
    "add_noise",
    "concatenate",
    "drop_incomplete_rows",
    "drop_rare_classes",
    "levels_as_seen",
    "mask_cells",
]
