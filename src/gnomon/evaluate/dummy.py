"""DummyClassifier and DummyRegressor: predictions that look at no feature.

They show what a score is worth: a model that is not better than them has learnt nothing from the
features. scikit-learn's own classes, which take any table here.

Texts: 003 2.1 (baseline) · 000 chance and majority baselines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import dummy

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.errors import DataError
from gnomon.engine.estimator import Takes
from gnomon.engine.quantiles import repeated_quantiles
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Text, Whole
from gnomon.evaluate.baseline import weighted_median


@method(
    task="classify",
    texts="003 2.1 · 000a chance baseline · 000b majority baseline",
    use="Always, first: the score that every other classifier must beat.",
    avoid="As a model to act on.",
    peers=("sklearn.dummy.DummyClassifier",),
    on="scikit-learn",
)
class DummyClassifier(OverScikitLearn, dummy.DummyClassifier):
    """Classifier that ignores the features: the prior, the most frequent class, or random draws.

    Use it first, as the baseline that any other classifier must beat beyond the error bars; it is
    no model to act on.

    Examples
    --------
    >>> from gnomon.evaluate import DummyClassifier
    >>> model = DummyClassifier().fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> model.predict([[9]])
    array(['yes'], dtype='<U3')
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _target = "classes"
    _largest = float("inf")
    _stored = {
        "_strategy": Text(),
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
        "n_classes_": Whole(1),
        "n_outputs_": Whole(1),
        "sparse_output_": Flag(),
    }


@method(
    task="regress",
    texts="003 2.1",
    use="Always, first: the score that every other regressor must beat.",
    avoid="As a model to act on.",
    peers=("sklearn.dummy.DummyRegressor",),
    on="scikit-learn",
)
class DummyRegressor(OverScikitLearn, dummy.DummyRegressor):
    """Regressor that ignores the features: the mean, the median, a quantile or a constant.

    Use it first, as the baseline that any other regressor must beat; it is no model to act on.

    Examples
    --------
    >>> from gnomon.evaluate import DummyRegressor
    >>> DummyRegressor().fit([[1], [2], [3]], [1.0, 2.0, 6.0]).predict([[9]])
    array([3.])
    """

    natively = Takes(missing=True, categories=True, sparse=True)
    _target = "numbers"
    _many_targets = True
    _largest = float("inf")
    _stored = {
        "constant_": Array("f8", (None, None)),
        "n_outputs_": Whole(1),
    }

    def _fit_peer(self, fit: Callable[..., Any], rows: Any, given: dict[str, Any]) -> Any:
        for strategy in ("constant", "quantile"):  # each is also the parameter that it needs
            if self.strategy == strategy and getattr(self, strategy) is None:
                raise DataError(f"strategy={strategy!r} needs the parameter {strategy!r}; give it")
        result = super()._fit_peer(fit, rows, given)
        if self.strategy in ("median", "quantile") and given.get("sample_weight") is not None:
            self._take_quantiles(np.asarray(given["y"], dtype=float), given["sample_weight"])
        return result

    def _take_quantiles(self, y: np.ndarray, weights: np.ndarray) -> None:
        """Quantiles by weights that are repetitions; scikit-learn's class rounds them to a row."""
        for k, column in enumerate(y.reshape(len(y), -1).T):
            if self.strategy == "median":
                self.constant_[0, k] = weighted_median(column, weights)
            else:
                self.constant_[0, k] = repeated_quantiles(column, weights, np.array(self.quantile))
