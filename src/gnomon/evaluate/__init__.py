"""Evaluate: measures, resampling and baselines."""

from gnomon.evaluate.baseline import BaselineClassifier, BaselineRegressor
from gnomon.evaluate.class_measures import accuracy
from gnomon.evaluate.figure import Figure, share_interval
from gnomon.evaluate.number_measures import root_mean_squared_error
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
