"""Filters: fitted, reversible transformers of some columns of a table; the others pass through."""

from gnomon.engine.renamed import former_names
from gnomon.prepare.base import Filter
from gnomon.prepare.bins import Discretize, Quantize
from gnomon.prepare.categories import OneHot, OrdinalScores, levels_as_seen
from gnomon.prepare.encoders import OneHotEncoder, OrdinalEncoder, TargetEncoder
from gnomon.prepare.filtered import FilteredLearner
from gnomon.prepare.gaps import Impute, MissingAsCategory
from gnomon.prepare.kbins import KBinsDiscretizer
from gnomon.prepare.normalizer import Normalizer
from gnomon.prepare.parts import DateParts, WordCounts
from gnomon.prepare.regression import RegressionImpute
from gnomon.prepare.rows import (
    KeptRows,
    add_noise,
    drop_incomplete_rows,
    drop_rare_classes,
    mask_cells,
)
from gnomon.prepare.scale import (
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    RoundToInteger,
    StandardScaler,
)
from gnomon.prepare.sets import FeatureSets, concatenate
from gnomon.prepare.shape import PowerTransformer, QuantileTransformer
from gnomon.prepare.simple_imputer import SimpleImputer
from gnomon.prepare.whiten import Whiten

__all__ = [
    "DateParts",
    "Discretize",
    "FeatureSets",
    "Filter",
    "FilteredLearner",
    "Impute",
    "KBinsDiscretizer",
    "KeptRows",
    "MaxAbsScaler",
    "MinMaxScaler",
    "MissingAsCategory",
    "Normalizer",
    "OneHot",
    "OneHotEncoder",
    "OrdinalEncoder",
    "OrdinalScores",
    "PowerTransformer",
    "QuantileTransformer",
    "Quantize",
    "RegressionImpute",
    "RobustScaler",
    "RoundToInteger",
    "SimpleImputer",
    "StandardScaler",
    "TargetEncoder",
    "Whiten",
    "WordCounts",
    "add_noise",
    "concatenate",
    "drop_incomplete_rows",
    "drop_rare_classes",
    "levels_as_seen",
    "mask_cells",
]

__getattr__ = former_names(
    __name__, {"ScaleRange": "MinMaxScaler", "Standardize": "StandardScaler"}
)
