"""Ensembles: learners made of learners, of this library or any other that follows scikit-learn."""

from gnomon.ensemble.bagging import BaggingClassifier, BaggingRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]
