"""Select: which features to keep, by filters, wrappers, elimination, stability and shadows."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.select.boruta import Boruta
from gnomon.select.by_model import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from gnomon.select.elimination import RecursiveElimination
from gnomon.select.filter import FeatureRanking, FilterSelector, rank_features
from gnomon.select.honest import (
    SelectionBias,
    SelectionStability,
    selection_bias,
    selection_stability,
    stability_score,
)
from gnomon.select.scores import entropy_of, mutual_information
from gnomon.select.search_cv import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from gnomon.select.searches import (
    AlongRanking,
    Backward,
    Beam,
    Evolution,
    Exhaustive,
    Floating,
    Forward,
)
from gnomon.select.stable import StabilitySelector
from gnomon.select.tuning import PenaltySearch, Tuning, penalty_search, tune
from gnomon.select.univariate import (
    GenericUnivariateSelect,
    SelectFdr,
    SelectFpr,
    SelectFwe,
    SelectKBest,
    SelectPercentile,
    VarianceThreshold,
)
from gnomon.select.wrapper import SelectionTrace, WrapperSelector

__all__ = [
    "RFE",
    "RFECV",
    "AlongRanking",
    "Backward",
    "Beam",
    "Boruta",
    "Evolution",
    "Exhaustive",
    "FeatureRanking",
    "FilterSelector",
    "Floating",
    "Forward",
    "GenericUnivariateSelect",
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "PenaltySearch",
    "RandomizedSearchCV",
    "RecursiveElimination",
    "SelectFdr",
    "SelectFpr",
    "SelectFromModel",
    "SelectFwe",
    "SelectKBest",
    "SelectPercentile",
    "SelectionBias",
    "SelectionStability",
    "SelectionTrace",
    "SequentialFeatureSelector",
    "StabilitySelector",
    "Tuning",
    "VarianceThreshold",
    "WrapperSelector",
    "entropy_of",
    "mutual_information",
    "penalty_search",
    "rank_features",
    "selection_bias",
    "selection_stability",
    "stability_score",
    "tune",
]

__getattr__ = former_names(__name__, {"stability": "selection_stability"})
accept_former_vocabulary(globals())
