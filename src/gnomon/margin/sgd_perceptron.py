"""Perceptron as scikit-learn has it: stochastic gradient descent on max(0, -y (w . x + b)).

Rows are drawn from a canonical order, and whole weights are written out as repetitions, so that
neither the order of a table nor weight versus repetition changes the result. With
``shuffle=False`` rows are visited in the order given, with scikit-learn's result to the bit.

Texts: 001 3.2 · 002 L532-606.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import linear_model
from sklearn.utils import _safe_indexing, column_or_1d

from gnomon.contract.over_scikit_learn import OverScikitLearn
from gnomon.engine.draw import canonical_order
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Flag, Number, Text, Whole


@method(
    task="classify",
    texts="001 3.2 · 002 L532-606",
    use="Very many rows or sparse ones, and a linear border; rows that arrive in batches.",
    avoid="Overlapping classes where the border must be the best one: LinearSVC.",
    peers=("sklearn.linear_model.Perceptron",),
    on="scikit-learn",
)
class Perceptron(OverScikitLearn, linear_model.Perceptron):
    """Perceptron by stochastic gradient descent, with penalties, batches and early stopping.

    A row on the wrong side does w <- w + eta0 y x. Use it for very many or sparse rows; not where
    classes overlap and the best border is wanted. `PocketPerceptron` is the textbooks' form, which
    ends when all rows are right and keeps the plane of fewest errors.

    Examples
    --------
    >>> from gnomon.margin import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0, 0], [1, 1], [5, 5], [6, 6]], [0, 0, 1, 1])
    >>> model.predict([[0, 0], [6, 6]]).tolist()
    [0, 1]
    """

    _target = "classes"
    _largest = 1e20
    _transient = ("_loss_function_",)  # is made again from the parameters
    _stored = {
        "_expanded_class_weight": Array("f", ("n_classes",)),
        "average": Flag() | Whole(),
        "coef_": Array("f", (None, "n_columns")),
        "epsilon": Number(),
        "intercept_": Array("f", (None,)),
        "learning_rate": Text(),
        "loss": Text(),
        "power_t": Number(),
        "t_": Number(),
    }

    def _taken(
        self, X: Any, given: dict[str, Any], more: bool
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        rows, given, of_table = super()._taken(X, given, more)
        if not self.shuffle or not can_be_sorted(rows, given.get("y")):
            return rows, given, of_table
        rows = rows.tocsr() if sp.issparse(rows) else np.asarray(rows)
        y = column_or_1d(np.asarray(given["y"]), warn=True)
        order = canonical_order(rows, np.unique(y, return_inverse=True)[1])
        weights = given.get("sample_weight")
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)[order]
            if (weights == np.rint(weights)).all():
                order, weights = np.repeat(order, weights.astype(np.int64)), None
        changed = {"y": y[order], "sample_weight": weights}
        return _safe_indexing(rows, order), {**given, **changed}, of_table


def can_be_sorted(rows: Any, y: Any) -> bool:
    """Whether rows are a matrix of numbers with a class each; what else, scikit-learn refuses."""
    if y is None or isinstance(y, str):
        return False
    numbers, classes = rows if sp.issparse(rows) else np.asarray(rows), np.asarray(y)
    is_matrix = numbers.ndim == 2 and numbers.dtype.kind in "fiub" and 0 not in numbers.shape
    n = numbers.shape[0]
    return is_matrix and classes.shape in ((n,), (n, 1)) and classes.dtype.kind in "iubUS"
