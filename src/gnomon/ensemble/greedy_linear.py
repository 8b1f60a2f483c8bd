"""Greedy stagewise linear regression: small least-squares fits to what is left, one after the
other.

e_0 = y;  in round j take a small subset of the columns, solve  min_b |e_{j-1} - X_j b|^2,  and go
on with e_j = e_{j-1} - X_j b. Earlier coefficients are never touched, and |e_j| never grows. With
all columns at once the second round finds nothing. The sum of all rounds is one linear model.

Texts: 000b 12.1.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.contract import Data, Regressor
from gnomon.engine.parameters import FLAG, HISTORY, SEED, between, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.ensemble.base import Training
from gnomon.ensemble.lots import Part


@method(
    task="regress",
    texts="000b 12.1.1",
    use="To see boosting at its simplest, or a linear model of very many columns, cheaply.",
    avoid="When least squares or ridge with all columns can be afforded.",
    peers=("R mboost glmboost",),
)
class GreedyStagewiseRegressor(Regressor):
    """A linear model grown by least squares on small subsets of the columns, residual by residual.

    Use it to see boosting at its simplest, or for a linear model of very many columns; not where
    least squares with all columns can be afforded. Each round lowers sum_i w_i e_i^2 over the
    coefficients of its subset only. Stops where the error on a held-out part no longer falls, if
    one is asked for. Texts: 000b 12.1.1.

    Parameters
    ----------
    subset_size : int, default=3
        Columns in a subset drawn at random.
    subsets : list of lists of int, default=None
        The columns (after encoding) of each round, in turns; None to draw them.
    max_iter : int, default=100
        Most rounds.
    fit_intercept : bool, default=True
        Begin with the mean and centre the columns; else everything goes through the origin.
    validation_fraction : float, default=None
        Share of the rows that is held out to find the number of rounds; None for none.
    n_iter_no_change : int, default=20
        Rounds without a lower error on these rows after which it ends.
    keep_history : {"objective", "full"}, default="objective"
        With "full", the coefficients of each round are kept.
    random_state : int, RandomState or None, default=None
        Seed of the subsets and of the held-out part.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The sum of all rounds' coefficients.
    intercept_ : float
        The constant.
    n_iter_ : int
        Number of rounds made.
    history_ : History
        The mean squared residual after each round, on the held-out rows where there are some.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.ensemble import GreedyStagewiseRegressor
    >>> rows = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 2.0]]
    >>> model = GreedyStagewiseRegressor(subset_size=2, max_iter=1)
    >>> model.fit(rows, [3.0, 3.0, 15.0, 11.0]).coef_.round(6).tolist()
    [2.0, 2.0]
    """

    _largest = 1e75
    _largest_target = 1e75
    _parameter_constraints = {
        "subset_size": [whole(1)],
        "subsets": [None, list, tuple],
        "max_iter": [whole(1)],
        "fit_intercept": FLAG,
        "validation_fraction": [None, between(0, 1, "neither")],
        "n_iter_no_change": [whole(1)],
        "keep_history": HISTORY,
        "random_state": SEED,
    }
    _stored = {
        "coef_": Array("f8", ("n_columns",)),
        "intercept_": Number(),
    }

    def __init__(
        self,
        subset_size=3,
        *,
        subsets=None,
        max_iter=100,
        fit_intercept=True,
        validation_fraction=None,
        n_iter_no_change=20,
        keep_history="objective",
        random_state=None,
    ):
        self.subset_size = subset_size
        self.subsets = subsets
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.keep_history = keep_history
        self.random_state = random_state

    def _fit(self, data: Data) -> None:
        training = Training.of(data)
        rng = self._rng()
        learn, held = self._parts(training, rng)
        rows, y, root = self._prepared(training, learn)
        held_rows, held_y, held_root = (
            self._prepared(training, held) if held else (None, None, None)
        )
        coefficients = np.zeros(rows.shape[1])
        left = y - self._mean_y
        held_left = None if held is None else held_y - self._mean_y
        best = (np.inf, 0, coefficients)
        course = self._course("round", self.max_iter)
        for number in course:
            columns = self._columns(number, rows.shape[1], rng)
            some = (rows[:, columns] - self._means[columns]) * root[:, None]
            found = np.linalg.lstsq(some, left * root, rcond=None)[0]
            left = left - (rows[:, columns] - self._means[columns]) @ found
            coefficients = coefficients.copy()
            np.add.at(coefficients, columns, found)
            error = float((root**2) @ left**2)
            if held_left is not None:
                held_left = held_left - (held_rows[:, columns] - self._means[columns]) @ found
                error = float(held_root**2 @ held_left**2)
            if error < best[0]:
                best = (error, number, coefficients)
            tired = held is not None and number - best[1] >= self.n_iter_no_change
            now = coefficients
            if course.end_step(
                error,
                tired,
                state=lambda now=now: {"coef": now.copy()},
                attributes=lambda now=now: self._public() | self._linear(now),
            ):
                break
        self._keep(self._linear(coefficients if held is None else best[2]))
        self.history_ = course.history
        self.n_iter_ = len(course.history)
        del self._means, self._mean_y

    def _parts(self, training: Training, rng) -> tuple[Part, Part | None]:
        if self.validation_fraction is None:
            order = training.lots.order
            weights = None if training.weights is None else training.weights[order]
            return Part(order, weights), None
        fold = training.lots.halves(self.validation_fraction, rng)
        return fold.learn, fold.held

    def _prepared(self, training: Training, part: Part):
        """Rows, target and the roots of the shares of weight; the first call sets the means."""
        rows = np.asarray(training.numbers[part.positions], dtype=np.float64)
        y = training.y[part.positions]
        shares = part.weight_array / part.weight_array.sum()
        if not hasattr(self, "_means"):
            self._means = shares @ rows if self.fit_intercept else np.zeros(rows.shape[1])
            self._mean_y = float(shares @ y) if self.fit_intercept else 0.0
        return rows, y, np.sqrt(shares)

    def _columns(self, number: int, n_columns: int, rng) -> np.ndarray:
        if self.subsets is None:
            return np.sort(rng.permutation(n_columns)[: self.subset_size])
        columns = np.asarray(self.subsets[number % len(self.subsets)], dtype=np.int64)
        if not len(columns) or columns.min() < 0 or columns.max() >= n_columns:
            raise ValueError(f"subsets names columns {columns.tolist()}; there are {n_columns}")
        return columns

    def _linear(self, coefficients: np.ndarray) -> dict[str, Any]:
        intercept = float(self._mean_y - self._means @ coefficients)
        return {"coef_": coefficients, "intercept_": intercept}

    def _estimate(self, rows):
        return rows @ self.coef_ + self.intercept_

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        states = 8 * n_columns * self.max_iter if self.keep_history == "full" else 0
        return 8 * n_rows * (2 * n_columns + 8 * self.subset_size + 20) + states
