"""The trade-off of boosting: a smaller learning rate needs more rounds, and is seldom worse.

Text: 001 13.11.2, which advises rates below 0.1 and the number of rounds by early stopping.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result


@dataclass(repr=False)
class ShrinkageTable(Result):
    """Best number of rounds and loss of the watching rows, for each learning rate.

    Attributes
    ----------
    learning_rates : list of float
    best_rounds : list of int
        Counted from one.
    losses : list of Estimate
        Mean loss of the watching rows at the best round. Slightly too good, since these rows chose
        the round: score the model that you keep on others.
    curves : list of ndarray
        Loss after each round.
    """

    learning_rates: list[float]
    best_rounds: list[int]
    losses: list[Estimate]
    curves: list[np.ndarray]

    def _title(self) -> str:
        return "Shrinkage: rounds needed and loss of the rows that watched"

    def _columns(self) -> dict[str, list]:
        return {
            "learning rate": self.learning_rates,
            "best round": self.best_rounds,
            "loss": self.losses,
        }

    def _remarks(self) -> list[str]:
        unfinished = [
            f"{rate:g}"
            for rate, best, curve in zip(self.learning_rates, self.best_rounds, self.curves)
            if best == len(curve)
        ]
        if not unfinished:
            return []
        return [f"still falling at the last round, give more: rate {', '.join(unfinished)}"]


def shrinkage_table(
    estimator,
    X,
    y,
    X_val,
    y_val,
    learning_rates: Sequence[float] = (1.0, 0.5, 0.2, 0.1, 0.05),
) -> ShrinkageTable:
    """How many rounds each learning rate needs, and how good it gets.

    Parameters
    ----------
    estimator : HistGradientBoostingClassifier or HistGradientBoostingRegressor
        Its ``max_iter`` is the most rounds tried; it is not changed.
    X, y : table and target
        To learn from.
    X_val, y_val : table and target
        Rows that watch.
    learning_rates : sequence of float
        Rates to try.

    Returns
    -------
    table : ShrinkageTable

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.trees import HistGradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(400, 1))
    >>> y = np.sin(6 * x[:, 0]) + rng.normal(size=400)
    >>> found = shrinkage_table(HistGradientBoostingRegressor(), x[:200], y[:200], x[200:], y[200:],
    ...                         [1.0, 0.1])
    >>> found.best_rounds[0] < found.best_rounds[1]
    True
    """
    best_rounds, losses, curves = [], [], []
    for rate in learning_rates:
        fitted = clone(estimator).set_params(learning_rate=rate, early_stopping=False, refit=False)
        fitted.fit(X, y, X_val=X_val, y_val=y_val)
        best = int(np.argmin(fitted.validation_loss_)) + 1
        curves.append(fitted.validation_loss_)
        best_rounds.append(best)
        losses.append(_with_error(fitted, best, X_val, y_val))
    return ShrinkageTable(list(map(float, learning_rates)), best_rounds, losses, curves)


def _with_error(fitted, best: int, X_val, y_val) -> Estimate:
    """The loss of the watching rows at a round, with its interval over the rows."""
    y = fitted._known_target(np.asarray(y_val))
    scores = next(itertools.islice(fitted._staged_scores(X_val), best - 1, None)).T
    loss, ones = fitted._make_loss(), np.ones(len(y))
    loss.begin(y, ones)
    # the Huber loss takes its delta from these rows here, from the training rows in the rounds
    loss.begin_round(y, scores, ones)
    return mean_interval(loss.values(y, scores))
