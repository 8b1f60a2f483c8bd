"""Schedules of the learning rate: functions of the epoch (or season), counted from 0.

Texts: 000a 2.1.3 (m / (e + n), per epoch or per season, a fixed block of steps) · 000c 16.1.3
(1 / (a + b e); eta / gamma^e; a division every so many steps) · 003 4.3 (two rates at once).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnomon.engine.errors import DataError

Schedule = Callable[[int], float]


def constant(learning_rate: float) -> Schedule:
    """The same rate always.

    Parameters
    ----------
    learning_rate : float

    Returns
    -------
    schedule : callable
        Of the epoch.
    """
    return lambda epoch: _positive(learning_rate)


def inverse_time(m: float, n: float) -> Schedule:
    """m / (epoch + n); 1 / (a + b epoch) is m = 1/b, n = a/b.

    Parameters
    ----------
    m, n : float

    Returns
    -------
    schedule : callable

    Examples
    --------
    >>> round(inverse_time(1 / 0.01, 50 / 0.01)(100), 8)  # 1 / (0.01 s + 50)
    0.01960784
    """
    return lambda epoch: _positive(m / (epoch + n))


def geometric(learning_rate: float, gamma: float) -> Schedule:
    """learning_rate / gamma^epoch.

    Parameters
    ----------
    learning_rate : float
    gamma : float
        Above 1, such as 1.1.

    Returns
    -------
    schedule : callable
    """
    if gamma <= 1:
        raise DataError(f"gamma must be above 1, not {gamma}")
    return lambda epoch: _positive(learning_rate / gamma**epoch)


def step_drops(learning_rate: float, factor: float, every: int) -> Schedule:
    """The rate divided by a factor after every so many steps.

    Parameters
    ----------
    learning_rate : float
    factor : float
        Such as 1.77: about a factor of ten after four drops.
    every : int

    Returns
    -------
    schedule : callable

    Examples
    --------
    >>> round(step_drops(1.0, 1.77, 400)(1600), 3)
    0.102
    """
    return lambda step: _positive(learning_rate / factor ** (step // every))


class TwinRates:
    """Two runs with rates a factor apart; after each epoch both continue from the better one.

    003 tells that this tuner does not work well: the larger rate wins early and the smaller one
    late, so that it mostly follows what a falling schedule does. It is here for comparison.

    Parameters
    ----------
    learning_rate : float
    factor : float, default=2.0

    Examples
    --------
    >>> twins = TwinRates(0.1)
    >>> twins.rates
    (0.1, 0.2)
    >>> twins.keep(1)  # the larger rate gave the smaller error
    0.2
    """

    def __init__(self, learning_rate: float, factor: float = 2.0):
        self.learning_rate, self.factor = _positive(learning_rate), factor

    @property
    def rates(self) -> tuple[float, float]:
        """The two rates to try next."""
        return self.learning_rate, self.learning_rate * self.factor

    def keep(self, better: int) -> float:
        """Continue from the better of the two; a win of the smaller rate makes both smaller.

        Parameters
        ----------
        better : {0, 1}

        Returns
        -------
        learning_rate : float
        """
        if better == 1:
            self.learning_rate *= self.factor
        else:
            self.learning_rate /= self.factor
        return self.learning_rate


def _positive(rate: float) -> float:
    if not (np.isfinite(rate) and rate > 0):
        raise DataError(f"a learning rate must be above 0 and finite, not {rate}")
    return float(rate)
