"""The contract: what every public estimator inherits, so that no method can opt out of it."""

from gnomon.contract.data import Data
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
from gnomon.engine.renamed import former_names
from gnomon.table.encode import Columns

__all__ = [
    "Classifier",
    "Clusterer",
    "Columns",
    "Data",
    "DensityEstimator",
    "Learner",
    "Regressor",
    "ScoringClassifier",
    "Step",
    "SumLearner",
    "Takes",
    "Transformer",
]

__getattr__ = former_names(__name__, {"FilteredLearner": "gnomon.prepare:FilteredLearner"})
