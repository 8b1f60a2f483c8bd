"""Forests: the same trees, built and evaluated on all processors.

Every tree of a forest has its own seed, so that the forest does not depend on how many are built
at a time. Predictions are shared by rows, so that each sums its trees in their order.
"""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend

from gnomon.accelerate.blocks import fill_blocks
from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require
from gnomon.engine.threads import processors

FOREST = "sklearn.ensemble._forest"


def on_all_processors(original: Any, self: Any, *args: Any) -> Any:
    """Call scikit-learn's method, which works on as many threads as ``n_jobs`` says, with all."""
    require(self.n_jobs is None, f"n_jobs={self.n_jobs}")
    require(processors() > 1, "one processor")
    backend, n_jobs = get_active_backend()
    require(not backend.nesting_level and n_jobs is None, "inside another parallel run")
    with joblib.parallel_config("threading", n_jobs=-1):
        return original(self, *args)


@replaces(FOREST, "BaseForest.fit", "{}.fit")
def fit_forest(original: Any, self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Build several trees at a time."""
    require(np.ndim(self.n_estimators) == 0, "n_estimators is not a number")
    worth("forest", _cells(X) * float(self.n_estimators))
    return on_all_processors(original, self, X, y, sample_weight)


@replaces("sklearn.ensemble._iforest", "IsolationForest.fit", "{}.fit")
def fit_isolation(
    original: Any, self: Any, X: Any, y: Any = None, sample_weight: Any = None
) -> Any:
    """Build several trees at a time."""
    worth("isolation forest", float(self.n_estimators))
    return on_all_processors(original, self, X, y, sample_weight)


def _cells(X: Any) -> int:
    shape = getattr(X, "shape", None)
    return int(np.prod(shape)) if shape is not None else np.size(X)


def _means(self: Any, X: Any, answer: str, width: tuple[int, ...]) -> np.ndarray:
    """The mean answer of the trees for each row."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(self)
    require(self.n_outputs_ == 1, "several outputs")
    require(self.n_jobs is None, f"n_jobs={self.n_jobs}")
    require(not self.verbose, "verbose output")
    X = self._validate_X_predict(X)
    require(isinstance(X, np.ndarray), "sparse rows")
    worth("forest predictions", len(X) * float(len(self.estimators_)))
    answers = [getattr(tree, answer) for tree in self.estimators_]
    found = np.zeros((len(X), *width))

    def fill(some: slice) -> None:
        rows, total = X[some], found[some]
        for each in answers:
            total += each(rows, check_input=False)

    fill_blocks(fill, *X.shape)
    found /= len(answers)
    return found


@replaces(FOREST, "ForestClassifier.predict_proba", "{}.predict")
def forest_proba(original: Any, self: Any, X: Any) -> np.ndarray:
    """Mean probabilities of the trees."""
    require(np.ndim(getattr(self, "n_classes_", ())) == 0, "several outputs")
    return _means(self, X, "predict_proba", (getattr(self, "n_classes_", 1),))


@replaces(FOREST, "ForestRegressor.predict", "{}.predict")
def forest_predict(original: Any, self: Any, X: Any) -> np.ndarray:
    """Mean predictions of the trees."""
    return _means(self, X, "predict", ())
