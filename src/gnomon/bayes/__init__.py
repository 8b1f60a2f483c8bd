"""Bayesian learning: Bayes' rule, posteriors, generative classifiers, kriging."""

from gnomon.bayes.comparison import GenerativeVersusDiscriminative, compare_generative
from gnomon.bayes.discriminant import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from gnomon.bayes.gaussian import GaussianClassifier
from gnomon.bayes.gaussian_process import GaussianProcessRegressor
from gnomon.bayes.generative import GenerativeClassifier
from gnomon.bayes.grid import (
    GridPosterior,
    laplace_log_prior,
    lasso_penalty,
    maximum_a_posteriori,
    normal_log_prior,
    posterior_grid,
    ridge_penalty,
)
from gnomon.bayes.hierarchical import HierarchicalModel, HierarchicalPosterior
from gnomon.bayes.kriging import (
    Kriging,
    Variogram,
    expected_improvement,
    fit_variogram,
    variogram,
)
from gnomon.bayes.naive_bayes import NaiveBayes
from gnomon.bayes.naive_bayes_by_kind import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)
from gnomon.bayes.optimization import BayesianOptimization
from gnomon.bayes.posteriors import (
    BetaBinomial,
    DirichletMultinomial,
    GammaPoisson,
    NaturalConjugate,
    NormalMeanPosterior,
    NormalVariancePosterior,
    posterior_predictive,
    predictive_from_draws,
)
from gnomon.bayes.rule import (
    BayesRisk,
    Belief,
    HypothesisSet,
    bayes_decision,
    bayes_risk,
    bayes_rule,
    expected_costs,
    odds_to_probability,
    probability_to_odds,
    simplicity_prior,
)
from gnomon.engine.renamed import accept_former_vocabulary, former_names

__all__ = [
    "BayesRisk",
    "BayesianOptimization",
    "Belief",
    "BernoulliNB",
    "BetaBinomial",
    "CategoricalNB",
    "ComplementNB",
    "DirichletMultinomial",
    "GammaPoisson",
    "GaussianClassifier",
    "GaussianNB",
    "GaussianProcessRegressor",
    "GenerativeClassifier",
    "GenerativeVersusDiscriminative",
    "GridPosterior",
    "HierarchicalModel",
    "HierarchicalPosterior",
    "HypothesisSet",
    "Kriging",
    "LinearDiscriminantAnalysis",
    "MultinomialNB",
    "NaiveBayes",
    "NaturalConjugate",
    "NormalMeanPosterior",
    "NormalVariancePosterior",
    "QuadraticDiscriminantAnalysis",
    "Variogram",
    "bayes_decision",
    "bayes_risk",
    "bayes_rule",
    "compare_generative",
    "expected_costs",
    "expected_improvement",
    "fit_variogram",
    "laplace_log_prior",
    "lasso_penalty",
    "maximum_a_posteriori",
    "normal_log_prior",
    "odds_to_probability",
    "posterior_grid",
    "posterior_predictive",
    "predictive_from_draws",
    "probability_to_odds",
    "ridge_penalty",
    "simplicity_prior",
    "variogram",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(__name__, {})
