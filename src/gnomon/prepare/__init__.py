"""Filters: fitted, reversible transformers of some columns of a table; the others pass through."""

from gnomon.prepare.base import Filter
from gnomon.prepare.bins import Discretize, Quantize
from gnomon.prepare.categories import OneHot, OrdinalScores, levels_as_seen
from gnomon.prepare.filtered import FilteredLearner
from gnomon.prepare.gaps import Impute, MissingAsCategory
from gnomon.prepare.parts import DateParts, WordCounts
from gnomon.prepare.regression import RegressionImpute
from gnomon.prepare.rows import (
    KeptRows,
    add_noise,
    drop_incomplete_rows,
    drop_rare_classes,
    mask_cells,
)
from gnomon.prepare.scale import RoundToInteger, ScaleRange, Standardize
from gnomon.prepare.sets import FeatureSets, concatenate
from gnomon.prepare.whiten import Whiten

__all__ = [
    "DateParts",
    "Discretize",
    "FeatureSets",
    "Filter",
    "FilteredLearner",
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
