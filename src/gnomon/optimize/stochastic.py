"""Stochastic gradient descent: steps along gradients of small batches of rows.

Batches are drawn with replacement, or cut from the rows shuffled anew in each epoch, or from one
cut that stays. The learning rate may follow a schedule of the season, a fixed block of steps that
for large data is shorter than an epoch. A running measure on rows put aside at random in each
season shows the progress; there is no valid test of convergence.

Texts: 000a 2.1.3 to 2.1.6 · 000c 16.1.3, 17.2.1 · 001 5.2.2 · 003 4.3.2.2 · 004 9.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.optimize.rules import Rule
from gnomon.optimize.schedules import Schedule, constant

BATCHES = ("shuffled", "replacement", "fixed")


@dataclass(repr=False)
class StochasticDescent(Result):
    """The result of a stochastic descent, and its history.

    Attributes
    ----------
    x : ndarray
        The last parameters.
    average : ndarray
        Their mean over the last half of the steps, which is less noisy.
    seasons : list of int
        The season of each measurement.
    learning_rates : list of float
    measured : list of float
        The validation function after each season.
    n_steps : int
    n_epochs : float
        Rows used, in multiples of all rows.
    message : str
    """

    x: np.ndarray
    average: np.ndarray
    n_steps: int
    n_epochs: float
    message: str
    seasons: list[int] = field(default_factory=list)
    learning_rates: list[float] = field(default_factory=list)
    measured: list[float] = field(default_factory=list)

    def _title(self) -> str:
        return f"{self.n_steps} stochastic steps over {self.n_epochs:.3g} epochs: {self.message}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "season": self.seasons,
            "learning rate": self.learning_rates,
            "validation": self.measured,
        }


def batches(
    n_rows: int, batch_size: int, kind: str, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Rows of batch after batch, without end.

    Parameters
    ----------
    n_rows, batch_size : int
    kind : {"shuffled", "replacement", "fixed"}
    rng : numpy.random.Generator

    Yields
    ------
    batch : ndarray of int
    """
    if kind not in BATCHES:
        raise DataError(f"batches is one of {BATCHES}, not {kind!r}")
    if not 1 <= batch_size <= n_rows:
        raise DataError(f"batch_size must be from 1 to {n_rows}, not {batch_size}")
    if kind == "replacement":
        while True:
            yield rng.integers(n_rows, size=batch_size)
    cut = rng.permutation(n_rows)
    while True:
        order = cut if kind == "fixed" else rng.permutation(n_rows)
        for start in range(0, n_rows, batch_size):
            yield order[start : start + batch_size]


def stochastic_gradient_descent(
    gradient: Callable[[np.ndarray, np.ndarray], ArrayLike],
    x0: ArrayLike,
    n_rows: int,
    *,
    batch_size: int = 1,
    batches: str = "shuffled",
    learning_rate: float | Schedule = 0.01,
    rule: Rule | None = None,
    n_seasons: int = 100,
    season_length: int | None = None,
    validation_share: float = 0.0,
    validate: Callable[[np.ndarray, np.ndarray], float] | None = None,
    patience: int | None = None,
    random_state: int = 0,
) -> StochasticDescent:
    """Descend along gradients of batches of rows.

    Parameters
    ----------
    gradient : callable
        ``gradient(x, rows)``: the gradient of the mean cost of some rows, penalty included.
    x0 : array-like of shape (d,)
    n_rows : int
    batch_size : int, default=1
    batches : {"shuffled", "replacement", "fixed"}, default="shuffled"
        Shuffled anew in each epoch, drawn with replacement, or cut once.
    learning_rate : float or callable, default=0.01
        A rate, or a schedule of the season.
    rule : Rule, default=None
        Momentum, Adam and so on; a plain step by default.
    n_seasons : int, default=100
    season_length : int, default=None
        Steps of a season; an epoch by default.
    validation_share : float, default=0.0
        Share of rows put aside at random, others in each season.
    validate : callable, default=None
        ``validate(x, rows)``: the cost on the rows put aside (on all rows where none are).
    patience : int, default=None
        Stop after so many seasons without a better validation.
    random_state : int, default=0

    Returns
    -------
    found : StochasticDescent

    Examples
    --------
    >>> from gnomon.optimize import Risk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1))
    >>> risk = Risk(X, 2 * X[:, 0] + 1)
    >>> stochastic_gradient_descent(risk.gradient, [0, 0], 200).x.round(3).tolist()
    [1.0, 2.0]
    """
    rng = np.random.default_rng(random_state)
    x = np.array(x0, dtype=float)
    schedule = learning_rate if callable(learning_rate) else constant(learning_rate)
    rule = rule or Rule()
    if not 0 <= validation_share < 1:
        raise DataError(f"validation_share is at least 0 and below 1, not {validation_share}")
    length = season_length or max(1, n_rows // batch_size)
    found = StochasticDescent(x, x, 0, 0.0, f"used all {n_seasons} seasons")
    mean, averaged, used = np.zeros_like(x), 0, 0
    stream = _stream(n_rows, batch_size, batches, rng) if not validation_share else None
    for season in range(n_seasons):
        aside = np.arange(n_rows)
        if validation_share:
            order = rng.permutation(n_rows)
            n_aside = max(1, int(validation_share * n_rows))
            aside, inside = order[:n_aside], order[n_aside:]
            size = min(batch_size, len(inside))
            stream = (inside[each] for each in _stream(len(inside), size, batches, rng))
        rate = schedule(season)
        assert stream is not None
        for _ in range(length):
            batch = next(stream)
            slope = np.asarray(gradient(x, batch), dtype=float)
            x = x + rule.step(x, slope, rate)
            used += len(batch)
            found.n_steps += 1
            if 2 * season >= n_seasons:
                mean, averaged = mean + x, averaged + 1
        if not np.isfinite(x).all():
            found.message = "diverges: decrease the learning rate"
            break
        found.seasons.append(season)
        found.learning_rates.append(rate)
        if validate is not None:
            found.measured.append(float(validate(x, aside)))
            if patience and _stalled(found.measured, patience):
                found.message = f"no better validation in {patience} seasons"
                break
    found.x, found.average = x, mean / averaged if averaged else x
    found.n_epochs = used / n_rows
    return found


_stream = batches


def _stalled(measured: list[float], patience: int) -> bool:
    return len(measured) - 1 - int(np.argmin(measured)) >= patience
