"""Hints: what is known of a function beside examples, such as that it rises with an input.

A hint becomes virtual examples: pairs of rows that differ in one column only. A pair that breaks
the hint costs the square of the break, in any model that can be differentiated; here a network of
one hidden layer.

Texts: 004 17.1 (Abu-Mostafa's hints).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.contract import Data, Regressor
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import HISTORY, SEED, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import one_blas_thread
from gnomon.semi.small_net import SmallNet, descend
from gnomon.semi.transductive_net import standard_units, standardized

LONGEST_STEP = 0.5  # of a virtual pair, in deviations of the column
MOST_CELLS = 2**22  # of virtual rows


@method(
    task="regress",
    texts="004 17.1",
    use="Few examples, and it is known that the output rises or falls with some inputs.",
    avoid="Many examples, or a guarantee: gradient boosting with monotonic_cst has one.",
    peers=("sklearn.ensemble.HistGradientBoostingRegressor(monotonic_cst)",),
    synonyms=("monotonic", "monotone constraints", "hints", "virtual examples"),
)
class HintRegressor(Regressor):
    """A network that is fitted to examples and to hints that it rises or falls with columns.

    Minimizes ``mean (y - f(x))^2 + hint_weight mean_v max(0, -s (f(x_v + step) - f(x_v)))^2 + alpha
    / 2 |W|^2`` in standard units: virtual pairs x_v differ in one hinted column, s is its sign. Use
    it for few noisy examples and known directions. It is a preference, not a guarantee:
    ``violations_`` says what share of the virtual pairs still breaks a hint. Texts: 004 17.1.

    Parameters
    ----------
    monotonic_cst : array-like of int of shape (n_columns,), dict or None, default=None
        1: rises with the column, -1: falls, 0: nothing is known; or a dict from names or positions
        of columns to these. None: no hints.
    n_hidden : int, default=10
        Units of the hidden layer.
    hint_weight : float, default=10.0
        Weight of the hints against the examples.
    n_virtual : int, default=200
        Virtual pairs for each hinted column.
    alpha : float, default=1e-3
        Weight of the squared weights.
    max_iter : int, default=300
        Most steps of L-BFGS.
    random_state : int, RandomState instance or None, default=None
        First weights and virtual rows.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the weights of every step.

    Attributes
    ----------
    weights_ : ndarray of shape (n_weights,)
        All weights of the network.
    center_, scale_ : ndarray of shape (n_columns,)
        What rows are standardized by.
    target_center_, target_scale_ : float
        What the target is standardized by.
    violations_ : float
        Share of the virtual pairs that break a hint at the end.
    history_ : History
        The objective of each step.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import HintRegressor
    >>> model = HintRegressor([1], random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 2, 1, 3])
    >>> bool((model.predict([[0.0], [1.5], [3.0]])[1:] >= model.predict([[0.0], [1.5]])).all())
    True
    """

    _largest = 1e50
    _largest_target = 1e100
    _parameter_constraints = {
        "monotonic_cst": ["array-like", dict, None],
        "n_hidden": [whole(1)],
        "hint_weight": [at_least(0)],
        "n_virtual": [whole(1)],
        "alpha": [at_least(0)],
        "max_iter": [whole(1)],
        "random_state": SEED,
        "keep_history": HISTORY,
    }
    _stored = {
        "weights_": Array("f8", (None,)),
        "center_": Array("f8", ("n_columns",)),
        "scale_": Array("f8", ("n_columns",)),
        "target_center_": Number(),
        "target_scale_": Number(),
        "violations_": Number(0.0, 1.0),
    }

    def __init__(
        self,
        monotonic_cst=None,
        *,
        n_hidden=10,
        hint_weight=10.0,
        n_virtual=200,
        alpha=1e-3,
        max_iter=300,
        random_state=None,
        keep_history="objective",
    ):
        self.monotonic_cst = monotonic_cst
        self.n_hidden = n_hidden
        self.hint_weight = hint_weight
        self.n_virtual = n_virtual
        self.alpha = alpha
        self.max_iter = max_iter
        self.random_state = random_state
        self.keep_history = keep_history

    def _net(self) -> SmallNet:
        return SmallNet(len(self.center_), self.n_hidden, 1)

    def _signs(self, names: Any, d: int) -> np.ndarray:
        """The hint of every column that the network sees."""
        signs = np.zeros(d, dtype=np.int64)
        if self.monotonic_cst is None:
            return signs
        if isinstance(self.monotonic_cst, dict):
            places = {str(name): j for j, name in enumerate(names)}
            for key, sign in self.monotonic_cst.items():
                place = key if isinstance(key, int) else places.get(str(key))
                if place is None or not 0 <= place < d:
                    raise DataError(
                        f"monotonic_cst names the column {key!r}; the columns are "
                        f"{', '.join(map(str, list(places)[:20]))}"
                    )
                signs[place] = sign
        else:
            given = np.asarray(self.monotonic_cst)
            if given.shape != (d,):
                raise DataError(
                    f"monotonic_cst has {given.size} entries for {d} columns; give one for each"
                )
            signs[:] = given
        if not np.isin(signs, (-1, 0, 1)).all():
            raise DataError(f"monotonic_cst must hold -1, 0 and 1, not {signs.tolist()}")
        return signs

    def _fit(self, data: Data) -> None:
        found = distinct_rows(data.rows, data.weight_array, data.y)
        self.center_, self.scale_ = standard_units(found.rows, found.weights)
        middle, spread = standard_units(found.y[:, None], found.weights)
        self.target_center_, self.target_scale_ = float(middle[0]), float(spread[0])
        rows = standardized(found.rows, self.center_, self.scale_)
        target = standardized(found.y, self.target_center_, self.target_scale_)
        signs = self._signs(data.columns.names or range(rows.shape[1]), rows.shape[1])
        rng = self._rng()
        start = self._net().start(rng)
        pairs = self._virtual(rows, signs, rng)
        objective = self._objective(rows, target, found.weights / found.weights.sum(), pairs)
        course = self._course("iteration", self.max_iter)
        steps = iter(course)

        def seen(weights: np.ndarray, value: float) -> bool:
            if next(steps, None) is None:
                return True
            self.weights_ = weights
            self.violations_ = self._broken(weights, pairs)
            return course.end_step(
                value,
                state=lambda: {"weights": weights.copy()},
                attributes=lambda: self._public() | {"weights_": weights.copy()},
            )

        with one_blas_thread():
            self.weights_ = descend(objective, start, self.max_iter, seen)
        self.violations_ = self._broken(self.weights_, pairs)
        if course.history.stopped == "done":
            course.history.stopped = "converged"
        self.history_, self.n_iter_ = course.history, len(course.history)

    def _virtual(self, rows: np.ndarray, signs: np.ndarray, rng: np.random.Generator) -> Any:
        """Pairs of rows that differ in one hinted column, and the sign of each."""
        columns = np.flatnonzero(signs)
        if not len(columns):
            empty = np.zeros((0, rows.shape[1]))
            return empty, empty, np.zeros(0)
        low, high = rows.min(axis=0), rows.max(axis=0)
        n = min(self.n_virtual, max(MOST_CELLS // (len(columns) * rows.shape[1]), 1))
        first = rng.uniform(low, high, size=(n * len(columns), rows.shape[1]))
        second, place = first.copy(), np.repeat(columns, n)
        here = np.arange(len(first))
        second[here, place] += rng.uniform(0.01, LONGEST_STEP, size=len(first))
        return first, second, signs[place].astype(np.float64)

    def _objective(self, rows: np.ndarray, target: np.ndarray, shares: np.ndarray, pairs: Any):
        net, alpha, weight = self._net(), self.alpha, self.hint_weight
        first, second, signs = pairs
        n_pairs = max(len(signs), 1)

        def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = net.decay(weights, alpha)
            hidden, outputs = net.outputs(weights, rows)
            miss = outputs[:, 0] - target
            value += float(shares @ miss**2)
            slope = slope + net.slope(weights, rows, hidden, (2.0 * shares * miss)[:, None])
            if len(signs) and weight:
                before, low = net.outputs(weights, first)
                after, high = net.outputs(weights, second)
                broken = np.minimum(signs * (high - low)[:, 0], 0.0)
                value += weight * float((broken**2).mean())
                error = (2.0 * weight / n_pairs * broken * signs)[:, None]
                slope += net.slope(weights, second, after, error)
                slope -= net.slope(weights, first, before, error)
            return value, slope

        return objective

    def _broken(self, weights: np.ndarray, pairs: Any) -> float:
        first, second, signs = pairs
        if not len(signs):
            return 0.0
        net = self._net()
        rise = net.outputs(weights, second)[1] - net.outputs(weights, first)[1]
        return float((signs * rise[:, 0] < 0).mean())

    def _estimate(self, rows: Any) -> np.ndarray:
        standard = standardized(rows, self.center_, self.scale_)
        outputs = self._net().outputs(self.weights_, standard)[1][:, 0]
        return self.target_center_ + self.target_scale_ * outputs

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        virtual = 400 * n_columns if self.monotonic_cst is not None else 0
        rows = n_rows + virtual
        weights = 500 * n_columns * self.n_hidden
        return 8 * rows * (2 * n_columns + 8 * self.n_hidden + 12) + weights

    def _check_loaded(self) -> None:
        if hasattr(self, "weights_") and len(self.weights_) != sum(self._net().sizes):
            raise ValueError("weights_ do not fit the network")
