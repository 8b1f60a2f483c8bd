"""Perceptron as scikit-learn has it: stochastic gradient descent on max(0, -y (w . x + b)).

Rows are drawn as scikit-learn draws them; weighted or repeated rows are drawn from a canonical
order (`gnomon.contract.stochastic_gradient`).

Texts: 001 3.2 · 002 L532-606.
"""

from __future__ import annotations

import numpy as np
from sklearn import linear_model

from gnomon.contract.stochastic_gradient import Call, Rows, StochasticGradient
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
class Perceptron(StochasticGradient, linear_model.Perceptron):
    """Perceptron by stochastic gradient descent, with penalties, batches and early stopping.

    A row on the wrong side does w <- w + eta0 y x. Use it for very many or sparse rows; not where
    classes overlap and the best border is wanted. `PocketPerceptron` is the textbooks' form, which
    ends when all rows are right and keeps the plane of fewest errors.

    Attributes
    ----------
    history_ : History
        Sum over rows, and over classes if more than two, of max(0, -y (w . x + b)) after each
        pass, of the w and b of that pass (not their average).

    Examples
    --------
    >>> from gnomon.margin import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0, 0], [1, 1], [5, 5], [6, 6]], [0, 0, 1, 1])
    >>> model.predict([[0, 0], [6, 6]]).tolist()
    [0, 1]
    """

    _copies = 0.5
    _target = "classes"
    _stored = {
        "_expanded_class_weight": Array("f", ("n_classes",)),
        "average": Flag() | Whole(),
        "coef_": Array("f", (None, "n_columns")),
        "epsilon": Number(),
        "learning_rate": Text(),
        "loss": Text(),
        "power_t": Number(),
    }

    def _objective(self, rows: Rows, call: Call, coef: np.ndarray, intercept: float) -> float:
        wrong = np.maximum(0, -rows.y * (rows.X @ coef + intercept))
        return float(wrong @ rows.weights)
