"""Evaluate: measures, resampling and baselines."""

from gnomon.evaluate.baseline import BaselineClassifier, BaselineRegressor

__all__ = ["BaselineClassifier", "BaselineRegressor"]
