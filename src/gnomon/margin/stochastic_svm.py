"""Linear SVM by stochastic gradient, with seasons, as 000a trains it.

    min  (1/N) sum_i max(0, 1 - y_i (a . x_i + b)) + (lambda / 2) a . a

One row k is drawn at each step: if y_k (a . x_k + b) >= 1, a <- a - eta lambda a; else
a <- a - eta (lambda a - y_k x_k), b <- b + eta y_k. The rate eta = m / (s + n) falls from season s
to season, a season being a fixed number of steps. Each season holds a few rows out, other ones each
time, and looks at the accuracy on them now and then: the curve to watch.

Texts: 000a 2.1 (procedures 2.1 to 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from gnomon.contract import Data
from gnomon.contract.result import Result
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import FLAG, SEED, StrOptions, above, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import one_blas_thread
from gnomon.evaluate.cross_validation import cross_validation_estimates
from gnomon.evaluate.splits import random_splits
from gnomon.margin.distinct import distinct_data
from gnomon.margin.linear_machine import LinearMachine, one_against_rest

PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)  # 000a: factors of ten find the order


@kernel("f8[:,:]", "f8[:]", "i8[:]", "i8", "f8", "f8", "f8[:]", "out f8[:]")
def hinge_steps(rows, sign, drawn, batch, rate, penalty, penalized, plane):
    """Steps of stochastic gradient: `batch` drawn rows each. rows (n, d + 1), constant last.

    penalised (d + 1,) is 1 for what the penalty shrinks and 0 for what it leaves.
    """
    d = rows.shape[1]
    slope = np.zeros(d)
    for first in range(0, len(drawn) - batch + 1, batch):
        for j in range(d):
            slope[j] = 0.0
        for i in drawn[first : first + batch]:
            score = 0.0
            for j in range(d):
                score += rows[i, j] * plane[j]
            if sign[i] * score < 1.0:
                for j in range(d):
                    slope[j] += sign[i] * rows[i, j]
        for j in range(d):
            plane[j] += rate * (slope[j] / batch - penalty * penalized[j] * plane[j])


@method(
    task="classify",
    texts="000a 2.1",
    use="To train a linear SVM as 000a does and watch it; tables of any length at a fixed price.",
    avoid="Where the optimum itself is wanted: LinearSVC reaches it sooner.",
    peers=("sklearn.linear_model.SGDClassifier",),
)
class StochasticSVM(LinearMachine):
    """Linear SVM by stochastic gradient, in seasons of steps.

    Minimises mean hinge loss plus (penalty / 2) |a|^2 by steps along the slope of a few drawn rows.
    Use it to see such training, or where a fixed number of steps is all that can be afforded; scale
    the columns first. It does not end at the optimum but near it: no test of convergence is valid.
    Not where that matters (`LinearSVC`).

    Texts: 000a 2.1, procedure 2.4, which prints the penalty on b too (``penalize_intercept=True``)
    while section 2.1.6 leaves b free (the default). Of several classes each is trained against the
    rest, on the same rows.

    Parameters
    ----------
    penalty : float, default=0.001
        The texts' lambda; see `penalty_search`.
    n_seasons : int, default=50
        Seasons.
    n_steps : int, default=300
        Steps of a season.
    batch_size : int, default=1
        Rows drawn for a step.
    rate_top : float, default=1.0
        m of the rate m / (s + n) of season s = 0, 1, ...
    rate_base : float, default=10.0
        n of the rate; the texts' example is 1 / (0.01 s + 50), the same as m = 100, n = 5000.
    n_held : int, default=50
        Rows held out of each season (no more than a fifth of all).
    check_every : int, default=30
        Steps between looks at the held rows.
    fit_intercept : bool, default=True
        Whether there is a b.
    penalize_intercept : bool, default=False
        Whether the penalty shrinks b too.
    average : {"last", "season"}, default="last"
        The plane of the last step, or the mean of the planes at the checks of the last season.
    random_state : int, RandomState instance or None, default=None
        Draws rows.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_columns) or (n_classes, n_columns)
        The a: one for two classes, else one per class against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The b.
    accuracy_ : ndarray of shape (n_seasons, n_checks)
        Share of right classes among the held rows at each check.
    squared_norm_ : ndarray of shape (n_seasons, n_checks)
        a . a at each check, summed over planes.
    history_ : History
        The objective on all rows after each season, summed over planes.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.margin import StochasticSVM
    >>> X, y = [[0, 0], [1, 0], [0, 1], [4, 4], [5, 4], [4, 5]], [0, 0, 0, 1, 1, 1]
    >>> model = StochasticSVM(random_state=0).fit(X, y)
    >>> model.predict([[0.5, 0.5], [4.5, 4.5]])
    array([0, 1])
    """

    _parameter_constraints = {
        "penalty": [at_least(0.0)],
        "n_seasons": [whole(1)],
        "n_steps": [whole(1)],
        "batch_size": [whole(1)],
        "rate_top": [above(0.0)],
        "rate_base": [above(0.0)],
        "n_held": [whole(0)],
        "check_every": [whole(1)],
        "fit_intercept": FLAG,
        "penalize_intercept": FLAG,
        "average": [StrOptions({"last", "season"})],
        "random_state": SEED,
    }
    _largest = 1e30
    _stored = {
        "accuracy_": Array("f8", ("n_seasons", "n_accuracy_1"), low=0.0),
        "squared_norm_": Array("f8", ("n_seasons", "n_accuracy_1")),
    }

    def __init__(
        self,
        penalty=1e-3,
        *,
        n_seasons=50,
        n_steps=300,
        batch_size=1,
        rate_top=1.0,
        rate_base=10.0,
        n_held=50,
        check_every=30,
        fit_intercept=True,
        penalize_intercept=False,
        average="last",
        random_state=None,
    ):
        self.penalty = penalty
        self.n_seasons = n_seasons
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.rate_top = rate_top
        self.rate_base = rate_base
        self.n_held = n_held
        self.check_every = check_every
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.average = average
        self.random_state = random_state

    def _most_steps(self) -> int:
        return self.n_seasons

    def _fit(self, data: Data) -> None:
        if self.penalty * self.rate_top / self.rate_base >= 2:
            raise DataError(
                f"penalty={self.penalty:g} times the first rate, "
                f"{self.rate_top / self.rate_base:g}, is 2 or more, so that steps lead away from "
                "the optimum; raise rate_base or lower the penalty"
            )
        with one_blas_thread():
            self._train(data)

    def _train(self, data: Data) -> None:
        given = distinct_data(data)
        rows = np.column_stack([given.rows, np.full(len(given.rows), float(self.fit_intercept))])
        signs = one_against_rest(given.y, len(self.classes_))
        planes = np.zeros((len(signs), rows.shape[1]))
        rng = self._rng()
        accuracy, norms = [], []
        course = self._course("season", self.n_seasons)
        for season in course:
            watched, mean = self._season(season, rows, given, signs, planes, rng)
            accuracy.append([each[0] for each in watched])
            norms.append([each[1] for each in watched])
            final = mean if self.average == "season" else planes
            if course.end_step(
                self._objective(planes, rows, signs, given.weights),
                state=lambda: {"planes": planes.copy()},
                attributes=partial(self._planes, final),
            ):
                break
        self._keep(self._planes(final))
        self.accuracy_, self.squared_norm_ = np.array(accuracy), np.array(norms)
        if course.history.stopped == "max_iter":
            course.history.stopped = "done"
        self.history_ = course.history

    def _season(self, season, rows, given, signs, planes, rng):
        """Train for a season; gives accuracy and a . a at the checks, and the mean plane there."""
        draw = WeightedDraw(np.arange(len(rows)))
        held = np.zeros(0, dtype=np.int64)
        weights = given.weights.copy()
        n_held = min(self.n_held, len(rows) // 5)
        if n_held:
            held = np.unique(draw(weights, rng, n_held))
            weights[held] = 0.0
        rate = self.rate_top / (season + self.rate_base)
        penalized = np.ones(rows.shape[1])
        penalized[-1] = float(self.penalize_intercept)
        drawn = draw(weights, rng, self.n_steps * self.batch_size)
        together = self.check_every * self.batch_size
        watched, total = [], np.zeros_like(planes)
        for first in range(0, len(drawn), together):
            part = np.ascontiguousarray(drawn[first : first + together])
            for plane, sign in zip(planes, signs):
                hinge_steps(rows, sign, part, self.batch_size, rate, self.penalty, penalized, plane)
            norm = float((planes[:, :-1] ** 2).sum())
            watched.append((self._accuracy(planes, rows[held], given.y[held]), norm))
            total += planes
        return watched, total / len(watched)

    def _accuracy(self, planes: np.ndarray, rows: np.ndarray, codes: np.ndarray) -> float:
        if not len(rows):
            return float("nan")
        scores = rows @ planes.T
        if scores.shape[1] == 0:
            return 1.0
        said = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] >= 0)
        return float((said == codes).mean())

    def _objective(self, planes, rows, signs, weights) -> float:
        total = 0.0
        for plane, sign in zip(planes, signs):
            slack = np.maximum(1.0 - sign * (rows @ plane), 0.0)
            shrunk = plane if self.penalize_intercept else plane[:-1]
            total += float(weights @ slack / weights.sum() + self.penalty / 2 * (shrunk @ shrunk))
        return total

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        drawn = self.n_steps * self.batch_size
        checks = self.n_seasons * (self.n_steps // self.check_every + 1)
        return 8 * (n_rows * (3 * n_columns + 20) + 6 * drawn + 40 * checks)


@dataclass
class PenaltySearch(Result):
    """What `penalty_search` found.

    Attributes
    ----------
    penalties : ndarray of shape (k,)
    errors : ndarray of shape (k, n_splits)
        Share of wrong classes on the held rows of each split.
    best : float
        The penalty of least mean error.
    model : classifier
        Fitted on all rows with the best penalty.
    """

    penalties: np.ndarray
    errors: np.ndarray
    best: float
    model: Any

    def _title(self) -> str:
        return f"Penalty {self.best:g} of {len(self.penalties)}, by {self.errors.shape[1]} splits"

    def _columns(self) -> dict[str, list]:
        return {
            "penalty": self.penalties.tolist(),
            "mean error": self.errors.mean(axis=1).tolist(),
            "sd over splits": self.errors.std(axis=1, ddof=1).tolist(),
        }

    def _remarks(self) -> list[str]:
        return ["the winner's own error is biased low: report it on rows kept apart from this"]


def penalty_search(
    X: Any,
    y: Any,
    penalties: Sequence[float] = PENALTIES,
    *,
    model: Any = None,
    n_splits: int = 5,
    test_share: float = 0.2,
    random_state: int | None = 0,
) -> PenaltySearch:
    """Choose the weight of the penalty on a geometric grid, as procedures 2.1 to 2.3 of 000a do.

    For each penalty the error on random splits, with its spread; the best is refitted on all rows.

    Parameters
    ----------
    X : array-like, data frame or Table
    y : array-like
        Classes.
    penalties : sequence of float, default=(1e-4, 1e-3, 1e-2, 1e-1)
        Factors of ten find the order, factors of three are fussy enough.
    model : classifier with a parameter ``penalty``, default=None
        None for a `StochasticSVM`.
    n_splits : int, default=5
    test_share : float, default=0.2
    random_state : int or None, default=0

    Returns
    -------
    search : PenaltySearch

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.margin import penalty_search
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(-2, 1, (50, 2)), rng.normal(2, 1, (50, 2))])
    >>> search = penalty_search(X, np.repeat([0, 1], 50), [1e-3, 10.0])
    >>> search.best
    0.001
    """
    grid = np.asarray(penalties, dtype=np.float64)
    if grid.ndim != 1 or not len(grid):
        raise DataError("penalties is a list of numbers, such as [1e-4, 1e-3, 1e-2, 1e-1]")
    model = StochasticSVM(random_state=random_state) if model is None else model
    splits = random_splits(len(y), n_splits, test_share, stratify=y, random_state=random_state)
    errors = [
        1.0
        - cross_validation_estimates(
            clone(model).set_params(penalty=float(penalty)),
            X,
            y,
            cv=splits,
            measures="accuracy",
            pair_fits=0,
            random_state=random_state,
        ).values
        for penalty in grid
    ]
    best = float(grid[int(np.argmin(np.mean(errors, axis=1)))])
    fitted = clone(model).set_params(penalty=best).fit(X, y)
    return PenaltySearch(grid, np.array(errors), best, fitted)
