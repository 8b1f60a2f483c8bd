"""The contract: what every public estimator inherits, so that no method can opt out of it."""

from gnomon.contract.data import Columns, Data
from gnomon.contract.filtered import FilteredLearner
from gnomon.contract.learner import (
    Classifier,
    Clusterer,
    DensityEstimator,
    Learner,
    Regressor,
    Transformer,
)
from gnomon.contract.scoring import ScoringClassifier
from gnomon.contract.sum_learner import Step, SumLearner
from gnomon.engine.estimator import Takes

__all__ = [
    "Classifier",
    "Clusterer",
    "Columns",
    "Data",
    "DensityEstimator",
    "FilteredLearner",
    "Learner",
    "Regressor",
    "ScoringClassifier",
    "Step",
    "SumLearner",
    "Takes",
    "Transformer",
]
