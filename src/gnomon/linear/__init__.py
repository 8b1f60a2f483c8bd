"""Linear models: least squares, penalised, robust and generalised, with their inference."""

from gnomon.engine.renamed import accept_former_vocabulary, former_names
from gnomon.linear.basis import (
    BasisExpansion,
    PolynomialFeatures,
    SplineBasis,
    polynomial_count,
)
from gnomon.linear.budget import BudgetRegression
from gnomon.linear.chi_square import ChiSquareFit, ChiSquareResult, chi_square_fit
from gnomon.linear.chosen_penalty import (
    ElasticNetCV,
    LassoCV,
    LogisticRegressionCV,
    RidgeClassifierCV,
    RidgeCV,
)
from gnomon.linear.coefficient_bootstrap import coefficient_bootstrap
from gnomon.linear.diagnostics import (
    box_cox,
    compare_groups,
    influence,
    prediction_intervals,
    remove_outliers,
    stability,
    trust_checks,
)
from gnomon.linear.elastic_net import ElasticNet, Lasso, PenaltyPath
from gnomon.linear.evidence import ARDRegression, BayesianRidge
from gnomon.linear.glm import GLM
from gnomon.linear.inference import FitSummary, MeanPredictionResults, NoSummary, PredictionResults
from gnomon.linear.least_angle import Lars, LassoLars
from gnomon.linear.least_squares import LinearRegression, Ridge
from gnomon.linear.line_with_outliers import LineWithOutliers
from gnomon.linear.local import BayesianLocallyWeightedRegression, LocallyWeightedRegression
from gnomon.linear.logistic import LogisticRegression
from gnomon.linear.mars import MARS, AnovaTable
from gnomon.linear.matching_pursuit import OrthogonalMatchingPursuit
from gnomon.linear.named_models import HuberRegressor, RidgeClassifier, TheilSenRegressor
from gnomon.linear.penalized import GroupLasso, LpRegression, PenalizedModel, TikhonovRegression
from gnomon.linear.penalties import lp_decay
from gnomon.linear.polynomial import DegreePath, PolynomialRegression
from gnomon.linear.quantile import QuantileRegressor
from gnomon.linear.ransac import RANSACRegressor
from gnomon.linear.reading import CoefficientReport, coefficient_report
from gnomon.linear.regression_classifier import RegressionClassifier
from gnomon.linear.robust import RobustRegression, huber_scale, mad_scale, proposal_2_constant
from gnomon.linear.sigmoid_units import SigmoidUnits
from gnomon.linear.sparse_logistic import SparseLogisticRegression
from gnomon.linear.splines import SplineTransformer
from gnomon.linear.stochastic_gradient import SGDClassifier, SGDRegressor
from gnomon.linear.tangent import LocalLinearization, TangentErrors
from gnomon.linear.transform import BothResiduals, TransformedRegression
from gnomon.linear.tweedie import GammaRegressor, PoissonRegressor, TweedieRegressor
from gnomon.linear.wide import WideRegression, wide_regression

__all__ = [
    "GLM",
    "MARS",
    "ARDRegression",
    "AnovaTable",
    "BasisExpansion",
    "BayesianLocallyWeightedRegression",
    "BayesianRidge",
    "BothResiduals",
    "BudgetRegression",
    "ChiSquareFit",
    "ChiSquareResult",
    "CoefficientReport",
    "DegreePath",
    "ElasticNet",
    "ElasticNetCV",
    "FitSummary",
    "GammaRegressor",
    "GroupLasso",
    "HuberRegressor",
    "Lars",
    "Lasso",
    "LassoCV",
    "LassoLars",
    "LineWithOutliers",
    "LinearRegression",
    "LocalLinearization",
    "LocallyWeightedRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "LpRegression",
    "MeanPredictionResults",
    "NoSummary",
    "OrthogonalMatchingPursuit",
    "PenalizedModel",
    "PenaltyPath",
    "PoissonRegressor",
    "PolynomialFeatures",
    "PolynomialRegression",
    "PredictionResults",
    "QuantileRegressor",
    "RANSACRegressor",
    "RegressionClassifier",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "RobustRegression",
    "SGDClassifier",
    "SGDRegressor",
    "SigmoidUnits",
    "SparseLogisticRegression",
    "SplineBasis",
    "SplineTransformer",
    "TangentErrors",
    "TheilSenRegressor",
    "TikhonovRegression",
    "TransformedRegression",
    "TweedieRegressor",
    "WideRegression",
    "box_cox",
    "chi_square_fit",
    "coefficient_bootstrap",
    "coefficient_report",
    "compare_groups",
    "huber_scale",
    "influence",
    "lp_decay",
    "mad_scale",
    "polynomial_count",
    "prediction_intervals",
    "proposal_2_constant",
    "remove_outliers",
    "stability",
    "trust_checks",
    "wide_regression",
]

accept_former_vocabulary(globals())

__getattr__ = former_names(
    __name__,
    {
        "QuantileRegression": "QuantileRegressor",
        "LocalLinearisation": "LocalLinearization",
        "PenalisedModel": "PenalizedModel",
    },
)
