"""Tuning: learners of the portfolio that search many settings inside every training part.

The settings are spread evenly over wide ranges (Halton's sequence), the same in every fold; the
usual setting is one of the candidates. Since the search is part of the fit, scores stay honest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import scipy
from sklearn.base import clone

from gnomon.ensemble import BucketClassifier, BucketRegressor
from gnomon.optimize import Categorical, Integer, Real, Space

AS_USUAL = "as usual"
FOLDS = 3  # fewer than five: many settings are compared, and each costs one fit per fold
# Judgement: the ranges that boosting's settings are usually searched in, on a log scale.
BOOSTING = {
    "max_leaf_nodes": Integer(4, 64, log=True),
    "learning_rate": Real(0.02, 0.3, log=True),
    "min_samples_leaf": Integer(3, 60, log=True),
    "l2_regularization": Real(1e-3, 30.0, log=True),
}
SPACES: dict[str, dict[str, Any]] = {
    "logistic regression": {"estimator__C": Real(1e-3, 1e3, log=True)},
    "ridge": {"estimator__alpha": Real(1e-3, 1e5, log=True)},
    "gradient boosting": BOOSTING,
    "random forest": {"max_features": Real(0.1, 1.0), "min_samples_leaf": Integer(1, 12, log=True)},
    "nearest neighbours": {
        "n_neighbors": Integer(1, 50, log=True),
        "weights": Categorical(["uniform", "distance"]),
    },
    "support vector machine": {
        "estimator__C": Real(0.1, 1e3, log=True),
        "estimator__gamma": Real(1e-3, 1.0, log=True),
    },
    "linear support vector machine": {"estimator__estimator__C": Real(1e-2, 1e2, log=True)},
}


def tuned(entrant: Any, usual: Any, task: str, count: int, scoring: str, n_rows: int) -> Any:
    """The entrant with a search of so many settings in place of its own.

    Parameters
    ----------
    entrant : Entrant
    usual : estimator
        The learner with its usual setting.
    task : {"classify", "regress"}
    count : int
        Settings beside the usual one.
    scoring : str
        What the search goes by.
    n_rows : int
        Training rows.

    Returns
    -------
    entrant : Entrant
        The same where the learner has no settings to search.
    """
    dimensions = dict(SPACES.get(entrant.name, {}))
    if not dimensions:
        return entrant
    if "n_neighbors" in dimensions:  # folds of folds have fewer rows
        dimensions["n_neighbors"] = Integer(1, max(min(50, n_rows // 4), 1), log=True)
    space = Space(dimensions)
    points = space.decode_all(
        scipy.stats.qmc.Halton(space.size, scramble=False).random(count + 1)[1:]
    )
    candidates = [(AS_USUAL, usual)]
    for params in points:
        name = ", ".join(f"{key.split('__')[-1]}={shown(value)}" for key, value in params.items())
        if name not in dict(candidates):
            candidates.append((name, clone(usual).set_params(**params)))
    kind = BucketClassifier if task == "classify" else BucketRegressor
    names = ", ".join(key.split("__")[-1] for key in dimensions)
    return replace(
        entrant,
        learner=kind(candidates, cv=FOLDS, scoring=scoring),
        search=f"{len(candidates)} settings of {names} by {FOLDS} folds",
    )


def shown(value: Any) -> str:
    """A value in a name."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
