"""Fourier networks: units that are sine waves, started at frequencies of the Fourier transform.

y(t) = a + b t + sum_k (c_k cos(w_k t) + d_k sin(w_k t)). The output is linear in a, b, c, d, which
are solved for; the frequencies w are trained from the strongest Fourier frequency of what is left
to explain, one unit after the other, all frequencies together. A wave between two Fourier
frequencies is then one unit, and goes on beyond the end of the series, which the Fourier transform
itself repeats.

Texts: 003 4.7 names Fourier networks; Silvescu (1999), Gashler and Ashmore (2014). The slope of the
loss in w is that at the solved a, b, c, d (variable projection, Golub and Pereyra 1973).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.parameters import FLAG, HISTORY, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array
from gnomon.engine.threads import one_blas_thread
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.seasonality import one_series

FINER = 4  # Fourier frequencies per 1 / n: a peak between two is then seen at 90% of its height


@method(
    task="forecast",
    texts="003 4.7",
    use="Series of several waves whose periods are not known or no whole numbers of steps.",
    avoid="Waves that change or noise that dominates: ETSModel, StructuralModel.",
    takes="sequences",
    synonyms=("harmonic regression", "neural decomposition", "sinusoidal units", "periodogram"),
)
class FourierNetwork(SequenceEstimator):
    """A line and sine units whose frequencies are trained from Fourier frequencies on.

    Minimises ``|y - a - b t - sum_k (c_k cos w_k t + d_k sin w_k t)|^2 / (2 n)`` with a small
    ridge penalty. Use it for series of steady waves of unknown periods, to forecast far ahead. Not
    where periods or amplitudes change.

    Parameters
    ----------
    n_units : int, default=5
        Most sine units.
    trend : bool, default=True
        Whether there is a line beside the waves.
    alpha : float, default=1e-06
        Ridge penalty of the amplitudes, in units of the number of steps.
    tol : float, default=0.001
        Ends when a unit lowers the mean squared error by less than this share.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the frequencies after every unit in ``history_.states``.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_units_found,)
        Radians per step, of the units in the order in which they were added.
    n_iter_ : int
        Units that were tried.
    history_ : History
        Mean squared error after each unit.

    Notes
    -----
    All sequences have the same frequencies, and amplitudes of their own. Missing values are left
    out. Texts: 003 4.7.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.neural import FourierNetwork
    >>> t = np.arange(150)
    >>> series = 2 + 0.1 * t + np.sin(0.37 * t) + 0.5 * np.cos(1.1 * t)
    >>> model = FourierNetwork(3).fit([series[:100]])
    >>> bool(abs(model.forecast_rows(series[:100], 50)[:, 0] - series[100:]).max() < 0.01)
    True
    """

    _parameter_constraints = {
        "n_units": [whole(1)],
        "trend": FLAG,
        "alpha": [at_least(0)],
        "tol": [at_least(0)],
        "keep_history": HISTORY,
    }
    _stored = {"frequencies_": Array("f8", (None,), low=0.0, high=np.pi)}

    def __init__(
        self,
        n_units: int = 5,
        *,
        trend: bool = True,
        alpha: float = 1e-6,
        tol: float = 1e-3,
        keep_history: str = "objective",
    ):
        self.n_units = n_units
        self.trend = trend
        self.alpha = alpha
        self.tol = tol
        self.keep_history = keep_history

    def _most_steps(self) -> int:
        return self.n_units

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> FourierNetwork:
        """Find the frequencies.

        Parameters
        ----------
        sequences : list of array-like of shape (n,)
            Missing values are NaN.
        y : None
            Not used.

        Returns
        -------
        self : FourierNetwork
        """
        series = [one_series(each) for each in sequences]
        if not series or max(len(each) for each in series) < 4:
            raise DataError("a Fourier network needs a series of four values or more")
        longest = max(len(each) for each in series)
        with one_blas_thread():
            frequencies = np.empty(0)
            error = self._error(frequencies, series)
            course = self._course("unit", self.n_units)
            for _ in course:
                more = self._with_one_more(frequencies, series, longest)
                now = self._error(more, series)
                gained = now < error * (1 - self.tol)
                if gained:
                    frequencies, error = more, now
                if course.end_step(
                    error,
                    not gained,
                    state=partial(dict, frequencies=frequencies.copy()),
                    attributes=partial(self._so_far, frequencies, len(course.history) + 1),
                ):
                    break
        self.frequencies_ = frequencies
        self.history_, self.n_iter_ = course.history, len(course.history)
        return self

    def _so_far(self, frequencies: np.ndarray, n_iter: int) -> dict[str, Any]:
        return self._public() | {"frequencies_": frequencies.copy(), "n_iter_": n_iter}

    def _error(self, frequencies: np.ndarray, series: list[np.ndarray]) -> float:
        """Mean squared error of all series."""
        squares = [float((self._solved(frequencies, each).residuals ** 2).sum()) for each in series]
        return sum(squares) / sum(int((~np.isnan(each)).sum()) for each in series)

    def _solved(self, frequencies: np.ndarray, series: np.ndarray) -> Solved:
        return solved(frequencies, series, self.trend, self.alpha)

    def _with_one_more(
        self, frequencies: np.ndarray, series: list[np.ndarray], longest: int
    ) -> np.ndarray:
        """A unit at the strongest Fourier frequency of the residuals; then all are trained."""
        n = FINER * longest
        power = np.zeros(n // 2 + 1)
        for each in series:
            residuals = np.zeros(len(each))
            residuals[~np.isnan(each)] = self._solved(frequencies, each).residuals
            power += np.abs(np.fft.rfft(residuals, n)) ** 2
        power[: FINER // 2] = 0.0  # a wave of more than two lengths of the series is a trend
        start = np.append(frequencies, 2 * np.pi * np.argmax(power) / n)

        def loss(u: np.ndarray) -> tuple[float, np.ndarray]:
            found = [self._solved(u / longest, each) for each in series]
            slopes = np.sum([each.slopes for each in found], axis=0)
            return float(sum(each.loss for each in found)), slopes / longest

        trained = minimize(
            loss,
            start * longest,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.5 * np.pi, np.pi * longest)] * len(start),
        )
        return trained.x / longest

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Values after the end of a sequence, of shape (n_steps, 1).

        Parameters
        ----------
        sequence : array-like of shape (n,)
            Amplitudes and trend are fitted to it, with the frequencies of the network.
        n_steps : int, default=1

        Returns
        -------
        rows : ndarray of shape (n_steps, 1)
        """
        check_is_fitted(self)
        series = one_series(sequence)
        found = self._solved(self.frequencies_, series)
        times = len(series) + np.arange(n_steps)
        ahead = units_at(times, len(series), self.frequencies_, self.trend)
        return (ahead @ found.coef)[:, None]

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """R2 of the waves and the line on the sequences."""
        series = [one_series(each) for each in sequences]
        known = np.concatenate([each[~np.isnan(each)] for each in series])
        total = float(((known - known.mean()) ** 2).mean())
        return 1.0 - self._error(self.frequencies_, series) / total


class Solved(NamedTuple):
    """The best amplitudes for given frequencies, and the loss with its slopes in these."""

    coef: np.ndarray
    residuals: np.ndarray
    loss: float
    slopes: np.ndarray


def units_at(times: np.ndarray, length: int, frequencies: np.ndarray, trend: bool) -> np.ndarray:
    """Outputs of all units: one, the line, cosines, sines; shape (n, p)."""
    line = [times / length] if trend else []
    angles = np.outer(times, frequencies)
    return np.column_stack([np.ones(len(times)), *line, np.cos(angles), np.sin(angles)])


def solved(frequencies: np.ndarray, series: np.ndarray, trend: bool, alpha: float) -> Solved:
    """Ridge regression of the known values on the units, with the slopes of its minimum.

    The minimum over the amplitudes has the slope in w that the loss has at these amplitudes.
    """
    known = ~np.isnan(series)
    times, values = np.flatnonzero(known).astype(np.float64), series[known]
    units = units_at(times, len(series), frequencies, trend)
    penalty = np.sqrt(alpha * len(values)) * np.eye(units.shape[1])
    penalty[: 1 + trend] = 0.0
    wide = np.vstack([units, penalty])
    coef = np.linalg.lstsq(wide, np.append(values, np.zeros(len(penalty))), rcond=None)[0]
    residuals = values - units @ coef
    k, first = len(frequencies), 1 + trend
    cosines, sines = units[:, first : first + k], units[:, first + k :]
    moved = times[:, None] * (coef[first + k :] * cosines - coef[first : first + k] * sines)
    n = len(values)
    loss = 0.5 * (residuals @ residuals + ((penalty @ coef) ** 2).sum()) / n
    return Solved(coef, residuals, float(loss), -(residuals @ moved) / n)
