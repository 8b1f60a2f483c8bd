"""Prior probabilities of classes, from the parameter ``priors``."""

from __future__ import annotations

from typing import Any

import numpy as np


def class_priors(priors: Any, class_count: np.ndarray) -> np.ndarray:
    """Shares of the classes among the rows, equal ones, or those that are given, checked.

    Parameters
    ----------
    priors : None, "uniform" or array-like of shape (n_classes,)
    class_count : ndarray of shape (n_classes,)
    """
    n_classes = len(class_count)
    if priors is None:
        return class_count / class_count.sum()
    if isinstance(priors, str):
        return np.full(n_classes, 1.0 / n_classes)
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != (n_classes,):
        raise ValueError(f"priors has shape {priors.shape}, and there are {n_classes} classes")
    if not (priors >= 0).all() or not np.isclose(priors.sum(), 1.0):
        raise ValueError("priors must be probabilities: zero or more each, and 1 together")
    return priors
