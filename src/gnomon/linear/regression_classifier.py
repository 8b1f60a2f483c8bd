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
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from gnomon.contract import Classifier, Data
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HasMethods
from gnomon.engine.registry import method
from gnomon.linear.least_squares import LinearRegression


def _refuse_probabilities(model) -> bool:
    raise AttributeError(
        "regressions on classes give no probabilities; use decision_function, or LogisticRegression"
    )


@method(
    task="classify",
    texts="000 10, 12.2 · 004 4.3",
    use="Classes, when only a regressor is at hand, or as the plainest linear classifier.",
    avoid="Where probabilities count, or classes of unequal spread: LogisticRegression.",
    peers=("sklearn.linear_model.RidgeClassifier",),
)
class RegressionClassifier(Classifier):
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

    def _values(self, rows) -> np.ndarray:
        """Regressions of a block, one column each."""
        return np.column_stack([np.asarray(e.predict(rows)) for e in self.estimators_])

    def decision_function(self, X) -> np.ndarray:
        """What the regressions say: the sign decides of two classes, the greatest of more.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        values = self._each_block(self._values, X)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X) -> np.ndarray:
        """The class of the greatest regression, for each row; of two, the second from zero on.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        if len(self.classes_) <= 2:
            return self.classes_[((values >= 0) & (len(self.classes_) == 2)).astype(np.int64)]
        return self.classes_[values.argmax(axis=1)]

    @available_if(_refuse_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Not given: a regression's values may lie below 0 and above 1.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        proba : None
            Asking for it raises AttributeError.
        """
        raise NotImplementedError

    @available_if(_refuse_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Not given, as `predict_proba`.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        log_proba : None
            Asking for it raises AttributeError.
        """
        raise NotImplementedError
