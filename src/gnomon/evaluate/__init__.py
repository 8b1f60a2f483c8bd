"""Evaluate: measures, resampling and baselines."""

from gnomon.evaluate.baseline import BaselineClassifier, BaselineRegressor
from gnomon.evaluate.measures import (
    Figure,
    accuracy,
    root_mean_squared_error,
    share_interval,
)
from gnomon.evaluate.resample import Scores, corrected_standard_error, folds, score_over_folds

__all__ = [
    "BaselineClassifier",
    "BaselineRegressor",
    "Figure",
    "Scores",
    "accuracy",
    "corrected_standard_error",
    "folds",
    "root_mean_squared_error",
    "score_over_folds",
    "share_interval",
]
