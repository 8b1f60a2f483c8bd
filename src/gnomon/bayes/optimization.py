"""Bayesian optimization: expected improvement on kriging.

For functions so costly that each evaluation must be planned. The model is kriging of the values so
far over the unit cube of the space; categories are one coordinate per value.

Texts: 004 1.2 (kriging and where to sample next).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.bayes.kriging import Kriging
from gnomon.optimize.optimizer import optimizer
from gnomon.optimize.surrogate import SurrogateSearch

FORMS = ("matern", "gaussian")
FOLDS = 5
LEAST_STD = 0.01  # of standardized values: one good guess must not decide


@optimizer("bayesian-optimization", "004 1.2", "bo", "kriging", "gp")
class BayesianOptimization(SurrogateSearch):
    """Search by expected improvement on a kriging model; for mixed spaces too.

    Parameters
    ----------
    surrogate : estimator, default=None
        A regressor with ``predict(X, return_std=True)``. By default kriging with a Matern or a
        Gaussian covariance, whichever predicts the values so far better in five folds.
    n_initial : int, default=None
        Points of the first design; 2 d + 2 by default.
    batch_size : int, default=1
        Points proposed at once, for evaluation in parallel.

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> search = BayesianOptimization()
    >>> found = minimize(lambda x: (x[0] - 0.3) ** 2, [(0, 1)], search, max_evaluations=12,
    ...                  random_state=0)
    >>> bool(found.fun < 1e-3)
    True
    """

    def __init__(self, surrogate: Any = None, *, n_initial: int | None = None, batch_size: int = 1):
        super().__init__(surrogate, n_initial=n_initial, batch_size=batch_size)

    def _model(self, known: np.ndarray, targets: np.ndarray) -> Any:
        if self.surrogate is not None:
            return super()._model(known, targets)
        models = [Kriging(kind, nugget=0, standardize=False, n_jobs=1) for kind in FORMS]
        best = min(models, key=lambda model: folded_loss(model, known, targets))
        return best.fit(known, targets)


def folded_loss(model: Kriging, known: np.ndarray, targets: np.ndarray) -> float:
    """Mean negative log density of values in folds that the model has not seen."""
    n_folds = min(FOLDS, len(known))
    fold = np.arange(len(known)) % n_folds
    total = 0.0
    for k in range(n_folds):
        inside = fold != k
        fitted = clone(model).fit(known[inside], targets[inside])
        mean, std = fitted.predict(known[~inside], return_std=True)
        std = np.maximum(std, LEAST_STD)
        total += float((((targets[~inside] - mean) / std) ** 2 / 2 + np.log(std)).sum())
    return total / len(known)
