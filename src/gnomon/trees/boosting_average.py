"""The average of boosted models that differ by chance alone, as one model.

Rows kept aside to end the rounds, and columns drawn in nodes, differ by the seed, and so do the
models; the mean of their scores varies less (bagging, 001 16.2). Scores are sums of trees, so that
the mean is again such a sum, with every leaf divided by the number of models.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np


def averaged(models: Sequence[Any]) -> Any:
    """One model whose scores are the means of the scores of several.

    Parameters
    ----------
    models : sequence of fitted HistGradientBoostingRegressor or HistGradientBoostingClassifier
        Of the same rows and settings, but for the seed. Of classes, log odds are averaged.

    Returns
    -------
    model : estimator
        The first one, with the rounds of all; what it keeps of its course is of the first alone.
    """
    first, n = models[0], len(models)
    if n == 1:
        return first
    found = copy.copy(first)
    found.trees_ = [
        replace(tree, value=tree.value / n) for model in models for tree in model.trees_
    ]
    found.baseline_ = np.mean([model.baseline_ for model in models], axis=0)
    found.n_estimators_ = sum(model.n_estimators_ for model in models)
    found.feature_importances_ = np.mean([each.feature_importances_ for each in models], axis=0)
    vars(found).pop("_packed", None)
    return found
