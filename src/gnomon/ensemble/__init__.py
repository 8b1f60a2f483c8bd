"""Ensembles: learners made of learners, of this library or any other that follows scikit-learn."""

from gnomon.ensemble.adaboost import AdaBoostClassifier, find_cycle
from gnomon.ensemble.backfitting import BackfittingRegressor
from gnomon.ensemble.bagging import BaggingClassifier, BaggingRegressor
from gnomon.ensemble.bayesian import (
    BayesianAveragingClassifier,
    BayesianAveragingRegressor,
    BayesianCombinationClassifier,
    BayesianCombinationRegressor,
)
from gnomon.ensemble.bucket import BucketClassifier, BucketRegressor
from gnomon.ensemble.cv_committee import CVCommitteeClassifier, CVCommitteeRegressor
from gnomon.ensemble.feature_subsets import FeatureSubsetClassifier, FeatureSubsetRegressor
from gnomon.ensemble.feature_weighted import (
    FeatureWeightedStackingClassifier,
    FeatureWeightedStackingRegressor,
)
from gnomon.ensemble.gating import GatingClassifier, GatingRegressor
from gnomon.ensemble.greedy_linear import GreedyStagewiseRegressor
from gnomon.ensemble.logitboost import LogitBoostClassifier
from gnomon.ensemble.output_codes import OutputCodeClassifier
from gnomon.ensemble.seed_ensemble import SeedEnsembleClassifier, SeedEnsembleRegressor
from gnomon.ensemble.stacking import StackingClassifier, StackingRegressor
from gnomon.ensemble.stagewise import StagewiseClassifier, StagewiseRegressor
from gnomon.ensemble.voting import VotingClassifier, VotingRegressor, agreement

__all__ = [
    "AdaBoostClassifier",
    "BackfittingRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BayesianAveragingClassifier",
    "BayesianAveragingRegressor",
    "BayesianCombinationClassifier",
    "BayesianCombinationRegressor",
    "BucketClassifier",
    "BucketRegressor",
    "CVCommitteeClassifier",
    "CVCommitteeRegressor",
    "FeatureSubsetClassifier",
    "FeatureSubsetRegressor",
    "FeatureWeightedStackingClassifier",
    "FeatureWeightedStackingRegressor",
    "GatingClassifier",
    "GatingRegressor",
    "GreedyStagewiseRegressor",
    "LogitBoostClassifier",
    "OutputCodeClassifier",
    "SeedEnsembleClassifier",
    "SeedEnsembleRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "StagewiseClassifier",
    "StagewiseRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "agreement",
    "find_cycle",
]
