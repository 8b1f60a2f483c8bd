"""Linear models: least squares, ridge and logistic regression, with their inference."""

from gnomon.linear.inference import FitSummary, NoSummary
from gnomon.linear.least_squares import LinearRegression, Ridge
from gnomon.linear.logistic import LogisticRegression

__all__ = ["FitSummary", "LinearRegression", "LogisticRegression", "NoSummary", "Ridge"]
