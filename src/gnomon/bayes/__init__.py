"""Bayesian learning: classifiers by Bayes' rule."""

from gnomon.bayes.gaussian import GaussianClassifier
from gnomon.bayes.naive_bayes import NaiveBayes

__all__ = ["GaussianClassifier", "NaiveBayes"]
