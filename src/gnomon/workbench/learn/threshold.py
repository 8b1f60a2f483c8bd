"""The threshold of two classes that costs least, chosen on folds and judged on the test rows.

A miss is a positive row that is called negative, a false alarm the reverse. Of costs m and f the
least expected cost is reached by calling a row positive where P(positive) is at least

    t = f / (m + f)                       (000a 1.1 · 001 3.1.3 · 004 3.3)

if the probabilities are right. They rarely are, so that the threshold is the one of the least mean
cost over the rows of the folds, whose probabilities come from models that have not seen them; of
equal ones the nearest to t.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from gnomon.contract.estimate import mean_interval
from gnomon.engine.errors import DataError
from gnomon.evaluate import CrossValidation, Estimate
from gnomon.evaluate.cross_validation_result import clustered
from gnomon.evaluate.measures import Said

MISS, FALSE_ALARM = "miss", "false alarm"
MOST_THRESHOLDS = 500  # judgement: costs between quantiles of 0.2% of rows differ by little


@dataclass(frozen=True)
class Threshold:
    """A threshold, what it costs, and what the usual one would cost.

    Attributes
    ----------
    value : float
        A row is called positive where its probability of that class is at least this.
    positive, negative : object
        The two classes.
    miss, false_alarm : float
        The costs that were given.
    cost, usual_cost : Estimate
        Mean cost of a test row with this threshold, and with 0.5.
    saved : Estimate
        Mean difference of both, by row.
    """

    value: float
    positive: Any
    negative: Any
    miss: float
    false_alarm: float
    cost: Estimate
    usual_cost: Estimate
    saved: Estimate

    def sentence(self) -> str:
        """The threshold and its cost in a sentence."""
        return (
            f"Call a row {self.positive} where its probability is at least {self.value:.3g}: that "
            f"costs {self.cost} per test row (a miss {self.miss:g}, a false alarm "
            f"{self.false_alarm:g}), the threshold 0.5 costs {self.usual_cost}; saved {self.saved}."
        )

    def record(self) -> dict[str, Any]:
        """The threshold as plain data."""
        return asdict(self) | {
            name: getattr(self, name)._asdict() for name in ("cost", "usual_cost", "saved")
        }


def costs_of(given: Any) -> tuple[float, float]:
    """Costs of a miss and of a false alarm, from ``"miss=10,false alarm=1"`` or a dict.

    Parameters
    ----------
    given : str or dict

    Returns
    -------
    miss, false_alarm : float

    Examples
    --------
    >>> costs_of("miss=10, false alarm=1")
    (10.0, 1.0)
    """
    parts = given
    if isinstance(given, str):
        parts = dict(each.split("=", 1) for each in given.split(",") if "=" in each)
    try:
        found = {str(k).strip().replace("_", " "): float(v) for k, v in dict(parts).items()}
    except (TypeError, ValueError):
        found = {}
    if set(found) != {MISS, FALSE_ALARM} or not all(0 < v < np.inf for v in found.values()):
        raise DataError(
            f"cost={given!r} is not understood: write both costs, above zero, as 'miss=10,false "
            "alarm=1'"
        )
    return found[MISS], found[FALSE_ALARM]


def row_costs(
    is_positive: np.ndarray, scores: np.ndarray, threshold: float, miss: float, false_alarm: float
) -> np.ndarray:
    """The cost of every row."""
    called = scores >= threshold
    return np.where(is_positive & ~called, miss, np.where(~is_positive & called, false_alarm, 0.0))


def cheapest(is_positive: np.ndarray, scores: np.ndarray, miss: float, false_alarm: float) -> float:
    """The threshold of the least cost over rows; of equal ones the nearest to f / (m + f)."""
    usual = false_alarm / (miss + false_alarm)
    levels = np.unique(scores)
    if len(levels) > MOST_THRESHOLDS:
        levels = np.unique(np.quantile(levels, np.linspace(0, 1, MOST_THRESHOLDS)))
    between = np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2, [1.0], [usual]])
    costs = np.array([row_costs(is_positive, scores, t, miss, false_alarm).sum() for t in between])
    best = between[costs <= costs.min() * (1 + 1e-12)]
    return float(best[np.argmin(np.abs(best - usual))])


def chosen_threshold(
    given: Any,
    folds: CrossValidation,
    y: np.ndarray,
    said: Said,
    owners: np.ndarray | None = None,
) -> Threshold:
    """The threshold of least cost on the folds, and what it costs on the test rows.

    Parameters
    ----------
    given : str or dict
        The costs.
    folds : CrossValidation
        Of the chosen learner.
    y : ndarray
        Classes of the test rows.
    said : Said
        What the fitted model says of them.
    owners : ndarray, default=None
        Rows that count as one in the intervals.

    Returns
    -------
    threshold : Threshold
    """
    miss, false_alarm = costs_of(given)
    if said.probabilities is None or said.classes is None or len(said.classes) != 2:
        raise DataError("a cost of misses and false alarms needs two classes with probabilities")
    negative, positive = said.classes
    rows, out = folds.out_of_fold()
    assert folds.y is not None
    assert out.probabilities is not None
    value = cheapest(folds.y[rows] == positive, out.probabilities[:, 1], miss, false_alarm)
    is_positive, scores = y == positive, np.asarray(said.probabilities)[:, 1]
    here = row_costs(is_positive, scores, value, miss, false_alarm)
    usual = row_costs(is_positive, scores, 0.5, miss, false_alarm)
    return Threshold(
        value,
        positive,
        negative,
        miss,
        false_alarm,
        mean_cost(here, owners, 0.0),
        mean_cost(usual, owners, 0.0),
        mean_cost(usual - here, owners, -np.inf),
    )


def mean_cost(costs: np.ndarray, owners: np.ndarray | None, least: float) -> Estimate:
    """The mean of costs of rows, with its interval; costs of rows cannot be below the least."""
    if owners is not None:
        mean, effects = clustered(costs, owners)
        costs = mean + effects
    return mean_interval(costs, least=least)
