"""Classes by regression: numbers stand for classes, and the nearest class is predicted.

Two classes are -1 and +1 and the sign of the regression decides; for more, every class has a column
that is 1 for its rows and 0 for others, each has a regression, and the greatest decides. Least
squares of such a target estimates the probability of the class as well as a plane can, so that
it may fall below 0 and above 1.

Texts: 000 10 and 12.2 ("not usually the best way") · 004 4.3 (a stronger demand than separability:
a point far on the right side counts as an error too).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils.validation import has_fit_parameter

from gnomon.contract import Data, ScoringClassifier
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HasMethods
from gnomon.engine.registry import method
from gnomon.engine.stored import ListOf, Object
from gnomon.linear.least_squares import LinearRegression


@method(
    task="classify",
    texts="000 10, 12.2 · 004 4.3",
    use="Classes, when only a regressor is at hand, or as the plainest linear classifier.",
    avoid="Where probabilities count, or classes of unequal spread: LogisticRegression.",
    peers=("sklearn.linear_model.RidgeClassifier",),
)
class RegressionClassifier(ScoringClassifier):
    """A classifier made of any regressor, which learns -1 and +1 (or a column per class).

    Minimises what the regressor minimises; with least squares, sum_i w_i (y_i - f(x_i))^2 of
    targets y_i = -1 or +1, and the class is the sign of f. With K > 2 classes there are K
    regressions of 0 and 1, and the greatest decides. Use it as a plain baseline, or to classify
    with a method that is made for numbers. Not for good probabilities, nor where some rows lie far
    on the right side of the border: their squared errors move it (004 4.3: a stronger demand than
    separability).

    Texts: 000 10, 12.2 · 004 4.3 (pseudo-inverse or gradient: any regressor here).

    Parameters
    ----------
    estimator : regressor or None, default=None
        The regressor, of which clones are fitted; least squares by default.

    Attributes
    ----------
    estimators_ : list of regressors
        The fitted ones: one for two classes, else one per class.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    LogisticRegression : With a loss made for classes.

    Examples
    --------
    >>> from gnomon.linear import RegressionClassifier
    >>> model = RegressionClassifier().fit([[0], [1], [2], [3]], ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['a', 'b']
    >>> model.decision_function([[1.5]]).round(6)
    array([0.])
    """

    _parameter_constraints = {"estimator": [None, HasMethods(["fit", "predict"])]}
    _largest: ClassVar[float] = 1e100
    _stored = {
        "estimators_": ListOf(Object()),
    }

    def __init__(self, estimator=None):
        self.estimator = estimator

    def _fit(self, data: Data) -> None:
        regressor = LinearRegression() if self.estimator is None else self.estimator
        if not is_regressor(regressor):
            raise DataError(
                f"estimator={type(regressor).__name__} is no regressor; a classifier needs no "
                "RegressionClassifier round it"
            )
        given = {}
        if data.weights is not None:
            if not has_fit_parameter(regressor, "sample_weight"):
                raise DataError(
                    f"{type(regressor).__name__} takes no sample_weight; use another estimator, or "
                    "repeat the rows"
                )
            given["sample_weight"] = data.weights
        self.estimators_ = [
            clone(regressor).fit(data.rows, target, **given) for target in self._targets(data.y)
        ]

    def _targets(self, codes: np.ndarray) -> list[np.ndarray]:
        if len(self.classes_) == 2:
            return [np.where(codes == 1, 1.0, -1.0)]
        return [(codes == c).astype(np.float64) for c in range(len(self.classes_))]

    def _scores(self, rows) -> np.ndarray:
        """Regressions of a block, one column each."""
        return np.column_stack([np.asarray(e.predict(rows)) for e in self.estimators_])
