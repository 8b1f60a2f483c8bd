"""Linear models: least squares, penalised, robust and generalised, with their inference."""

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
from gnomon.linear.glm import GLM
from gnomon.linear.inference import FitSummary, NoSummary
from gnomon.linear.least_squares import LinearRegression, Ridge
from gnomon.linear.logistic import LogisticRegression
from gnomon.linear.robust import RobustRegression, huber_scale, mad_scale, proposal_2_constant

__all__ = [
    "GLM",
    "ElasticNet",
    "FitSummary",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "NoSummary",
    "PenaltyPath",
    "Ridge",
    "RobustRegression",
    "box_cox",
    "compare_groups",
    "huber_scale",
    "influence",
    "mad_scale",
    "prediction_intervals",
    "proposal_2_constant",
    "remove_outliers",
    "stability",
    "trust_checks",
]
