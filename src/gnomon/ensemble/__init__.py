"""Ensembles: learners made of learners, of this library or any other that follows scikit-learn."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
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
from gnomon.ensemble.calibrated import CalibratedClassifierCV
from gnomon.ensemble.cascade import CascadeClassifier, cascade_rates
from gnomon.ensemble.condorcet import jury_table, majority_probability, simulate_majority
from gnomon.ensemble.cv_committee import CVCommitteeClassifier, CVCommitteeRegressor
from gnomon.ensemble.diagnostics import (
    average_variance,
    check_weak_learner,
    error_correlation,
    member_distribution,
    prediction_speed,
)
from gnomon.ensemble.feature_subsets import FeatureSubsetClassifier, FeatureSubsetRegressor
from gnomon.ensemble.feature_weighted import (
    FeatureWeightedStackingClassifier,
    FeatureWeightedStackingRegressor,
)
from gnomon.ensemble.gating import GatingClassifier, GatingRegressor
from gnomon.ensemble.greedy_linear import GreedyStagewiseRegressor
from gnomon.ensemble.logitboost import LogitBoostClassifier
from gnomon.ensemble.losses import Loss
from gnomon.ensemble.output_codes import OutputCodeClassifier
from gnomon.ensemble.pruning import lasso_prune
from gnomon.ensemble.referral import ReferralClassifier
from gnomon.ensemble.reject import (
    accuracy_rejection_curve,
    probabilistic_team,
    qualified_majority,
    two_thresholds,
    unanimity,
)
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
    "CalibratedClassifierCV",
    "CascadeClassifier",
    "FeatureSubsetClassifier",
    "FeatureSubsetRegressor",
    "FeatureWeightedStackingClassifier",
    "FeatureWeightedStackingRegressor",
    "GatingClassifier",
    "GatingRegressor",
    "GreedyStagewiseRegressor",
    "LogitBoostClassifier",
    "Loss",
    "OutputCodeClassifier",
    "ReferralClassifier",
    "SeedEnsembleClassifier",
    "SeedEnsembleRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "StagewiseClassifier",
    "StagewiseRegressor",
    "VotingClassifier",
    "VotingRegressor",
    "accuracy_rejection_curve",
    "agreement",
    "average_variance",
    "cascade_rates",
    "check_weak_learner",
    "error_correlation",
    "find_cycle",
    "jury_table",
    "lasso_prune",
    "majority_probability",
    "member_distribution",
    "prediction_speed",
    "probabilistic_team",
    "qualified_majority",
    "simulate_majority",
    "two_thresholds",
    "unanimity",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(__name__, {})
