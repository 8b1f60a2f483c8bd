"""Better settings from a model of the data: optimize the inputs of fitted regressors.

    data -> model of each outcome -> settings of the best predicted outcomes -> trial -> data ...

Inputs are *turned* (between bounds, in steps, or among levels) or *given*; outcomes are wanted
more, less or near a value. The front of predicted outcomes is searched by NSGA-II within the region
where there are data, and a few settings that differ from each other are proposed, each with the
predicted outcomes, their intervals (from errors of rows that were not used in fitting), and the
nearest measured rows.

Texts: 004 1.1-1.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.columns import Rows
from gnomon.contract.estimate import Estimate
from gnomon.contract.result import Result, cell_text
from gnomon.decide.nsga2 import nsga2
from gnomon.decide.pareto import non_dominated
from gnomon.decide.support import Support
from gnomon.decide.sweeper import usual
from gnomon.engine.errors import DataError
from gnomon.table import Kind

POPULATION = 80  # judgement: settings of a front that fill a picture; 100 generations of them
EVALUATIONS = 8_000  # settings that the models are asked about; a boosted model takes a second
FEWEST = 5  # judgement: settings to choose from, where the front has fewer
DRAWN = 4_000  # settings among which those as good as the front are looked for; half a search
OUTSIDE = 1e6  # added to every goal of settings without data, times their distance from data


@dataclass(frozen=True)
class Turn:
    """An input that may be set.

    Parameters
    ----------
    low, high : float, default=None
        Bounds; those of the data where left out.
    step : float, default=None
        Settings are ``low`` plus whole multiples of it; whole multiples where there is no
        ``low``. 1 for a column of whole numbers.
    levels : tuple, default=None
        Of an input that is not a number: what it may be; the levels of the data where left out.
    cost : float, default=0.0
        Of changing it by its whole range (or to another level), from the setting that is kept now;
        a goal of its own where any turned input has a cost.
    """

    low: float | None = None
    high: float | None = None
    step: float | None = None
    levels: tuple[Any, ...] | None = None
    cost: float = 0.0


@dataclass(frozen=True)
class Goal:
    """What is wanted of an outcome.

    Parameters
    ----------
    want : {"more", "less", "near"}
    value : float, default=None
        With "near": the value.
    """

    want: str
    value: float | None = None

    def __post_init__(self) -> None:
        if self.want not in ("more", "less", "near"):
            raise DataError(f"what is wanted is 'more', 'less' or 'near', not {self.want!r}")
        if (self.want == "near") != (self.value is not None):
            raise DataError("'near' needs a value, 'more' and 'less' have none")

    def loss(self, outcome: ArrayLike) -> np.ndarray:
        """What is to be minimized.

        Parameters
        ----------
        outcome : array-like

        Returns
        -------
        loss : ndarray
        """
        outcome = np.asarray(outcome, dtype=np.float64)
        if self.want == "near":
            return np.abs(outcome - self.value)  # type: ignore[operator]
        return outcome if self.want == "less" else -outcome


@dataclass(repr=False)
class Proposals(Result):
    """Settings that are worth a trial.

    Attributes
    ----------
    settings : list of dict
        Values of the turned inputs.
    outcomes : list of dict of str to Estimate
        Predicted outcomes with their intervals.
    nearest : list of ndarray of int
        Places of the nearest measured rows of each; as a table rows are counted from 1.
    distance : ndarray
        To the nearest measured row, in shares of the inputs' ranges.
    inside : ndarray of bool
        Whether there are data near the setting.
    n_front : int
        How many are on the front of predicted outcomes; the rest are other settings, predicted to
        be worse by less than the models' typical error.
    """

    settings: list[dict[str, Any]]
    outcomes: list[dict[str, Estimate]]
    nearest: list[np.ndarray]
    distance: np.ndarray
    inside: np.ndarray
    n_front: int

    def _title(self) -> str:
        return f"{len(self.settings)} settings worth a trial"

    def shown(self) -> dict[str, list[Any]]:
        """The proposals as columns of texts, numbers with four digits.

        Returns
        -------
        columns : dict of str to list of str
        """
        return {name: list(map(cell_text, cells)) for name, cells in self._columns().items()}

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "proposal": [chr(ord("A") + i) for i in range(len(self.settings))]
        }
        for name in self.settings[0]:
            columns[name] = [each[name] for each in self.settings]
        for name in self.outcomes[0]:
            columns[f"predicted {name}"] = [each[name] for each in self.outcomes]
        columns["nearest row"] = [int(each[0]) + 1 for each in self.nearest]
        return columns | {"data near it": self.inside.tolist()}

    def others_sentence(self) -> str:
        """What the settings are that are not on the front; empty where all are.

        Returns
        -------
        sentence : str
        """
        others = [chr(ord("A") + i) for i in range(self.n_front, len(self.settings))]
        if not others:
            return ""
        return (
            f"Predicted to be worse than the best by less than the models' typical error: "
            f"{', '.join(others)}."
        )

    def _remarks(self) -> list[str]:
        return list(filter(None, [self.others_sentence()]))


def propose_settings(
    models: Mapping[str, Any],
    X: Any,
    turn: Mapping[str, Turn],
    want: Mapping[str, Goal],
    *,
    given: Mapping[str, Any] | None = None,
    errors: Mapping[str, ArrayLike] | None = None,
    now: Mapping[str, Any] | None = None,
    n: int = 7,
    confidence_level: float = 0.95,
    random_state: int = 0,
) -> Proposals:
    """Settings of the turned inputs with the best predicted outcomes, different from each other.

    Parameters
    ----------
    models : mapping of str to fitted regressor
        One for each wanted outcome; all take the columns of X.
    X : array-like, data frame or Table
        The measured inputs.
    turn : mapping of str to Turn
    want : mapping of str to Goal
    given : mapping of str to object, default=None
        Values of inputs that cannot be set; medians and the commonest levels where left out.
    errors : mapping of str to array-like, default=None
        Per outcome, measured less predicted for rows that were not used in fitting: they give the
        intervals, which are infinite where left out, and where the front has fewer than five
        settings, what counts as nearly as good.
    now : mapping of str to object, default=None
        Present settings, from which changes cost; the usual ones of the data where left out.
    n : int, default=7
        How many settings at most.
    confidence_level : float, default=0.95
    random_state : int, default=0

    Returns
    -------
    proposals : Proposals
    """
    rows = Rows(X)
    _check(rows, models, turn, want)
    given = {
        name: (given or {}).get(name, usual(rows.values(name)))
        for name in rows.names
        if name not in turn
    }
    ranges = {
        name: Range(name, rows.values(name), kept_whole(rows, name, each))
        for name, each in turn.items()
    }
    support = Support(rows, list(turn))
    here = {n: (now or {}).get(n, usual(rows.values(n))) for n in turn}

    def outcomes(points: np.ndarray) -> dict[str, np.ndarray]:
        start = rows.taken(np.zeros(len(points), dtype=np.int64))
        asked = start.replaced({**given, **settings_of(points, ranges)})
        return {name: np.asarray(models[name].predict(asked.X), float) for name in want}

    def losses(points: np.ndarray) -> np.ndarray:
        found = outcomes(points)
        table = np.column_stack([want[name].loss(found[name]) for name in want])
        change = cost_of_change(points, ranges, here)
        if change is not None:
            table = np.column_stack([table, change])
        settings = {k: np.asarray(v) for k, v in settings_of(points, ranges).items()}
        away = np.maximum(np.minimum(support.distance(settings), 1e3) - support.reach, 0.0)
        return table + OUTSIDE * away[:, None]

    bounds = np.array([each.bounds for each in ranges.values()])
    found = nsga2(
        losses,
        bounds,
        population_size=POPULATION,
        max_evaluations=EVALUATIONS,
        integer=[each.is_whole for each in ranges.values()],
        vectorized=True,
        random_state=random_state,
    )
    points = found.x[different(found.x, found.values, bounds, n)]
    n_front = len(points)
    known = {name: np.abs(np.asarray(each, float)) for name, each in (errors or {}).items()}
    if n_front < min(n, FEWEST) and known.keys() >= want.keys():
        typical = [float(np.nanmedian(known[name])) for name in want]
        drawn = drawn_settings(ranges, bounds, np.random.default_rng(random_state))
        near = nearly_as_good(losses(drawn), losses(points), typical)
        points = spread_out(points, drawn[near], bounds, min(n, FEWEST))
    settings = settings_of(points, ranges)
    columns = {name: np.asarray(values) for name, values in settings.items()}
    predicted = outcomes(points)
    estimates = {
        name: _with_interval(predicted[name], (errors or {}).get(name), confidence_level)
        for name in want
    }
    return Proposals(
        [{name: settings[name][i] for name in turn} for i in range(len(points))],
        [{name: estimates[name][i] for name in want} for i in range(len(points))],
        list(support.nearest(columns, 3)),
        support.distance(columns),
        support.holds(columns),
        n_front,
    )


def kept_whole(rows: Rows, name: str, turn: Turn) -> Turn:
    """The turn in whole steps between whole bounds, where the column has whole numbers only."""
    if not rows.is_table or rows.X.schema[name].kind is not Kind.INTEGER or turn.levels is not None:
        return turn
    step = 1.0 if turn.step is None else turn.step
    if step != round(step):
        raise DataError(
            f"the step of {name!r} must be a whole number, as the column has only those"
        )
    low = None if turn.low is None else float(np.ceil(turn.low))
    high = None if turn.high is None else float(np.floor(turn.high))
    return replace(turn, low=low, high=high, step=step)


class Range:
    """What a turned input may be, as a variable of the search.

    Parameters
    ----------
    name : str
    values : ndarray
        The input in the data.
    turn : Turn
    """

    def __init__(self, name: str, values: np.ndarray, turn: Turn):
        self.name, self.turn = name, turn
        self.levels: tuple[Any, ...] | None = None
        if values.dtype.kind != "f" or turn.levels is not None:
            known = sorted({v for v in values.tolist() if v is not None}, key=str)
            self.levels = tuple(turn.levels) if turn.levels is not None else tuple(known)
            if len(self.levels) < 2:
                raise DataError(f"input {name!r} has one level only: there is nothing to turn")
            self.low, self.high = 0.0, float(len(self.levels) - 1)
            return
        known = values[~np.isnan(values)]
        self.low = float(known.min()) if turn.low is None else float(turn.low)
        if turn.low is None and turn.step is not None and turn.step > 0:
            self.low = float(np.ceil(self.low / turn.step)) * turn.step
        self.high = float(known.max()) if turn.high is None else float(turn.high)
        if not self.low < self.high:
            raise DataError(
                f"input {name!r} cannot be turned: it lies between {self.low:g} and {self.high:g}; "
                "a model learns nothing of an input that never varies"
            )
        if turn.step is not None and not 0 < turn.step <= self.high - self.low:
            raise DataError(f"the step of {name!r} must be above 0 and within its bounds")

    @property
    def is_whole(self) -> bool:
        """Whether the search variable is a whole number."""
        return self.levels is not None or self.turn.step is not None

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds of the search variable: levels and steps are counted."""
        if self.levels is not None or self.turn.step is None:
            return self.low, self.high
        return 0.0, float(np.floor((self.high - self.low) / self.turn.step + 1e-9))

    def settings(self, variable: np.ndarray) -> list[Any]:
        """The settings that values of the search variable stand for."""
        if self.levels is not None:
            return [self.levels[round(v)] for v in variable.tolist()]
        if self.turn.step is not None:
            return (self.low + self.turn.step * variable).tolist()
        return variable.tolist()


def settings_of(points: np.ndarray, ranges: Mapping[str, Range]) -> dict[str, list[Any]]:
    """The settings of points of the search, by input."""
    return {name: each.settings(points[:, j]) for j, (name, each) in enumerate(ranges.items())}


def cost_of_change(
    points: np.ndarray, ranges: Mapping[str, Range], now: Mapping[str, Any]
) -> np.ndarray | None:
    """What it costs to go from the present settings to others; None where changes are free."""
    if not any(each.turn.cost for each in ranges.values()):
        return None
    total = np.zeros(len(points))
    for j, (name, each) in enumerate(ranges.items()):
        settings = each.settings(points[:, j])
        if each.levels is not None:
            share = np.array([float(s != now[name]) for s in settings])
        else:
            share = np.abs(np.asarray(settings) - float(now[name])) / (each.high - each.low)
        total += each.turn.cost * share
    return total


def different(points: np.ndarray, goals: np.ndarray, bounds: np.ndarray, n: int) -> np.ndarray:
    """Places of up to n points of the front that are far from each other in settings and goals.

    The first is the knee; each further one is the farthest from those chosen.
    """
    best = np.flatnonzero(non_dominated(goals))
    _, first = np.unique(points[best], axis=0, return_index=True)
    best = best[np.sort(first)]
    spread = np.ptp(goals[best], axis=0)
    scaled_goals = (goals[best] - goals[best].min(axis=0)) / np.where(spread > 0, spread, 1.0)
    scaled = np.hstack([(points[best] - bounds[:, 0]) / np.ptp(bounds, axis=1), scaled_goals])
    chosen = [int(scaled_goals.sum(axis=1).argmin())]
    gap = np.linalg.norm(scaled - scaled[chosen[0]], axis=1)
    while len(chosen) < min(n, len(best)) and gap.max() > 1e-6:
        chosen.append(int(gap.argmax()))
        gap = np.minimum(gap, np.linalg.norm(scaled - scaled[chosen[-1]], axis=1))
    return best[chosen]


def drawn_settings(
    ranges: Mapping[str, Range], bounds: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Random points of the search."""
    drawn = rng.uniform(bounds[:, 0], bounds[:, 1], size=(DRAWN, len(bounds)))
    whole = [each.is_whole for each in ranges.values()]
    drawn[:, whole] = np.rint(drawn[:, whole])
    return drawn


def nearly_as_good(losses: np.ndarray, front: np.ndarray, typical: Sequence[float]) -> np.ndarray:
    """Which points lose to some point of the front by at most a typical error in each outcome.

    Parameters
    ----------
    losses : ndarray of shape (n_points, n_goals)
    front : ndarray of shape (n_front, n_goals)
    typical : sequence of float
        Of the outcomes; what a change costs, if that is a goal, is known without error.

    Returns
    -------
    found : ndarray of bool of shape (n_points,)
    """
    slack = np.zeros(front.shape[1])
    slack[: len(typical)] = typical
    within = losses[:, None, :] <= front + slack
    return np.any(np.all(within, axis=2), axis=1)


def spread_out(points: np.ndarray, others: np.ndarray, bounds: np.ndarray, n: int) -> np.ndarray:
    """Points, and of the others the farthest from all chosen so far, up to n in all.

    Parameters
    ----------
    points, others : ndarray of shape (n_points, n_inputs)
    bounds : ndarray of shape (n_inputs, 2)
    n : int

    Returns
    -------
    chosen : ndarray of shape (at most n, n_inputs)
    """
    width = np.ptp(bounds, axis=1)
    while len(points) < n and len(others):
        gaps = np.linalg.norm((others[:, None, :] - points) / width, axis=2).min(axis=1)
        if gaps.max() <= 1e-6:
            break
        points = np.vstack([points, others[gaps.argmax()]])
    return points


def _with_interval(
    predicted: np.ndarray, errors: ArrayLike | None, confidence_level: float
) -> list[Estimate]:
    """Predictions with the interval that absolute errors of other rows give (split conformal)."""
    if errors is None:
        half = np.inf
    else:
        sizes = np.sort(np.abs(np.asarray(errors, dtype=np.float64)))
        place = int(np.ceil(confidence_level * (len(sizes) + 1))) - 1
        half = float(sizes[place]) if place < len(sizes) else np.inf
    how = "errors of rows not used in fitting"
    return [Estimate(v, v - half, v + half, confidence_level, np.nan, how) for v in predicted]


def _check(
    rows: Rows, models: Mapping[str, Any], turn: Mapping[str, Turn], want: Mapping[str, Goal]
) -> None:
    if not turn or not want:
        raise DataError("name at least one input to turn and one outcome that is wanted")
    unknown: Sequence[str] = sorted(set(turn) - set(rows.names))
    if unknown:
        raise DataError(f"there is no input {', '.join(unknown)}; the inputs are {rows.names}")
    missing = sorted(set(want) - set(models))
    if missing:
        raise DataError(f"there is no model of {', '.join(missing)}")
