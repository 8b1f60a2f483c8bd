"""Ensembles: learners made of learners, of this library or any other that follows scikit-learn."""

from gnomon.ensemble.bagging import BaggingClassifier, BaggingRegressor
from gnomon.ensemble.cv_committee import CVCommitteeClassifier, CVCommitteeRegressor
from gnomon.ensemble.feature_subsets import FeatureSubsetClassifier, FeatureSubsetRegressor
from gnomon.ensemble.seed_ensemble import SeedEnsembleClassifier, SeedEnsembleRegressor
from gnomon.ensemble.stacking import StackingClassifier, StackingRegressor
from gnomon.ensemble.voting import VotingClassifier, VotingRegressor, agreement

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "CVCommitteeClassifier",
    "CVCommitteeRegressor",
    "FeatureSubsetClassifier",
    "FeatureSubsetRegressor",
    "SeedEnsembleClassifier",
    "SeedEnsembleRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "agreement",
]
