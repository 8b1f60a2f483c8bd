"""Linear models: least squares, ridge, lasso, logistic regression, with their inference."""

from gnomon.linear.elastic_net import ElasticNet, Lasso, PenaltyPath
from gnomon.linear.inference import FitSummary, NoSummary
from gnomon.linear.least_squares import LinearRegression, Ridge
from gnomon.linear.logistic import LogisticRegression

__all__ = [
    "ElasticNet",
    "FitSummary",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "NoSummary",
    "PenaltyPath",
    "Ridge",
]
