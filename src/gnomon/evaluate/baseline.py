"""Baselines: what a learner must beat before anything is claimed of it.

The classifier gives every row the shares of the classes, p_k = sum_i w_i [y_i = k] / sum_i w_i,
and so predicts the commonest class; the regressor gives every row the mean (which minimises
squared error) or the median (absolute error). Columns are not looked at.

Texts: 003 2.1 (baseline) · 000 chance and majority baselines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gnomon.contract import Classifier, Data, Regressor, Step, SumLearner, Takes
from gnomon.engine.parameters import StrOptions
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import Chunk
from gnomon.evaluate.intake import label_column
from gnomon.table.table import Table

ROUNDING = 1e-12  # of sums of weights, within which half of them is reached exactly
EVERYTHING = Takes(missing=True, categories=True, sparse=True)


class ClassSums(NamedTuple):
    weight: np.ndarray


@method(
    task="classify",
    texts="003 2.1 · 000a chance baseline · 000b majority baseline",
    use="Always, first: the score that every other classifier must beat.",
    avoid="As a model to act on.",
    peers=("sklearn.dummy.DummyClassifier",),
)
class BaselineClassifier(Classifier, SumLearner):
    """Predicts the commonest class, with the classes' shares as probabilities.

    Use it first, always: a classifier that does not beat it beyond the error bars has learnt
    nothing. It is no model to act on. Minimises the error rate and the log loss among constant
    predictions. Looks at no column, so any table will do. Ties go to the class that sorts first.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    class_prior_ : ndarray of shape (n_classes,)
        Their shares among the training rows.
    history_ : History
        One step: the entropy of the shares, which is the log loss on the training rows.
    n_iter_ : int
        1.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.evaluate import BaselineClassifier
    >>> model = BaselineClassifier().fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> model.predict([[9]])
    array(['yes'], dtype='<U3')
    """

    natively = EVERYTHING
    _largest = np.inf
    _stored = {
        "class_prior_": Array("f8", ("n_classes",), low=0.0),
    }

    def __init__(self) -> None:
        pass

    def _sums(self, state: Any, chunk: Chunk) -> ClassSums:
        assert chunk.y is not None
        return ClassSums(np.bincount(chunk.y, chunk.weights, minlength=len(self.classes_)))

    def _update(self, state: Any, total: ClassSums) -> Step:
        shares = total.weight / total.weight.sum()
        seen = shares[shares > 0]
        return Step({"shares": shares}, float(-(seen * np.log(seen)).sum()), True)

    def _attributes(self, state: Any) -> dict[str, Any]:
        return {"class_prior_": state["shares"]}

    def _proba(self, rows: Any) -> np.ndarray:
        return np.tile(self.class_prior_, (rows.shape[0], 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


@method(
    task="regress",
    texts="003 2.1",
    use="Always, first: the score that every other regressor must beat.",
    avoid="As a model to act on.",
    peers=("sklearn.dummy.DummyRegressor",),
)
class BaselineRegressor(Regressor):
    """Predicts the mean, or the median, of the target.

    Use it first, always; it is no model to act on. The mean minimises sum_i w_i (y_i - c)^2, the
    median sum_i w_i |y_i - c|. Looks at no column, so any table will do.

    Parameters
    ----------
    strategy : {"mean", "median"}, default="mean"
        What to predict; the median is the mean of the two middle values where there are two.

    Attributes
    ----------
    constant_ : float or ndarray of shape (n_targets,)
        What is predicted.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.evaluate import BaselineRegressor
    >>> BaselineRegressor().fit([[1], [2], [3]], [1.0, 2.0, 6.0]).predict([[9]])
    array([3.])
    """

    natively = EVERYTHING
    _largest = 1e300
    _many_targets = True
    _parameter_constraints = {"strategy": [StrOptions({"mean", "median"})]}
    _stored = {
        "constant_": Number() | Array("f8", (None,)),
    }

    def __init__(self, strategy: str = "mean") -> None:
        self.strategy = strategy

    def _fit(self, data: Data) -> None:
        pick = weighted_mean if self.strategy == "mean" else weighted_median
        self.constant_ = pick(data.y, data.weight_array)

    def _estimate(self, rows: Any) -> np.ndarray:
        n = rows.shape[0]
        return np.full((n, *np.shape(self.constant_)), self.constant_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags


def weighted_mean(y: np.ndarray, weights: np.ndarray) -> float | np.ndarray:
    """Mean per column of y."""
    mean = (weights / weights.sum()) @ y
    return float(mean) if y.ndim == 1 else mean


def weighted_median(y: np.ndarray, weights: np.ndarray) -> float | np.ndarray:
    """Weighted median per column of y; the mean of the two middle values where there are two."""
    if y.ndim == 2:
        return np.array([weighted_median(column, weights) for column in y.T])
    order = np.argsort(y, kind="stable")
    order = order[weights[order] > 0]
    line = np.cumsum(weights[order])
    half = line[-1] / 2
    low = np.searchsorted(line, half * (1 - ROUNDING))
    high = np.searchsorted(line, half * (1 + ROUNDING))
    return float((y[order[low]] + y[order[min(high, len(order) - 1)]]) / 2)


def baseline_labels(labels: Any) -> dict[str, Any]:
    """The best constant for label columns of mixed kinds: mean of numbers, commonest of others.

    What a static machine predicts for every row (003 2.1.6); ties go to the value that sorts
    first.

    Parameters
    ----------
    labels : Table, data frame or mapping of str to column
        Booleans and whole numbers of a frame count as numbers unless their kind is a category.

    Returns
    -------
    constants : dict of str to value

    Examples
    --------
    >>> baseline_labels({"value": [1.0, 2.0, 6.0], "color": ["red", "blue", "red"]})
    {'value': 3.0, 'color': 'red'}
    """
    if isinstance(labels, dict):
        table = Table.from_dict({name: list(column) for name, column in labels.items()})
    else:
        table = Table.from_frame(labels)
    constants = {}
    for column in table.schema:
        values = label_column(table.column(column.name), column.name)
        if column.kind.is_numeric:
            constants[column.name] = float(np.mean(values))
        else:
            found, counts = np.unique(values, return_counts=True)
            constants[column.name] = found[counts.argmax()].item()
    return constants
