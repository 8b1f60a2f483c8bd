"""Exponential smoothing: level, trend and season that follow the series, by maximum likelihood.

With level l, trend b (damped by phi) and season s of period m, the forecast of y_t is
mu_t = q_t + s_{t-m} or q_t s_{t-m}, where q_t = l_{t-1} + phi b_{t-1} or l_{t-1} b_{t-1}^phi. The
error e_t = y_t - mu_t moves the states:

    l_t = q_t + alpha e_t / c_t,   b_t = phi b_{t-1} + beta e_t / c_t,
    s_t = s_{t-m} + gamma e_t / d_t,

with c_t = 1, d_t = 1 for an additive season and c_t = s_{t-m}, d_t = q_t for a multiplicative one
(a multiplicative trend: b_t = b_{t-1}^phi + beta e_t / (c_t l_{t-1})). Errors that are additive or
multiplicative move the states alike; they differ in the likelihood, in which multiplicative errors
e_t / mu_t have a constant variance.

Texts: beyond the texts; Hyndman, Koehler, Ord and Snyder (2008), Forecasting with Exponential
Smoothing, tables 2.2 and 2.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.utils.validation import check_is_fitted

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel, lean_subkernel
from gnomon.engine.parameters import FLAG, StrOptions, at_least, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import DictOf, Flag, ListOf, Number, Text, Whole
from gnomon.sequence.learner import SequenceEstimator, fits, of_sequences
from gnomon.sequence.seasonality import one_series, seasonal_indices

NONE, ADD, MUL = 0, 1, 2  # codes of the forms in kernels
CODES = {None: NONE, "add": ADD, "mul": MUL}
LETTERS = {None: "N", "add": "A", "mul": "M"}
# The usual bounds of phi: below 0.8 a trend is gone after a few steps, above 0.98 it is undamped.
DAMPED = (0.8, 0.98)
# Starts of the smoothing parameters, as shares of their ranges: alpha, beta / alpha,
# gamma / (1 - alpha), place of phi. The best end is kept; the first alone ended 8 units of
# log-likelihood lower on the airline series with a multiplicative season.
COARSE = 0.1  # gain of log-likelihood below which a first climb ends
# Spread over slow, usual and fast smoothing; see above.
STARTS = ((0.3, 0.1, 0.3, 0.9), (0.75, 0.02, 0.002, 0.98), (0.95, 0.8, 0.1, 0.9))


class Form(NamedTuple):
    """Which states a model has, and how its errors act."""

    error: str
    trend: str | None
    damped: bool
    seasonal: str | None
    period: int

    @property
    def name(self) -> str:
        """As it is written in the field, such as ETS(M,Ad,M)."""
        trend = LETTERS[self.trend] + ("d" if self.damped else "")
        return f"ETS({LETTERS[self.error]},{trend},{LETTERS[self.seasonal]})"

    @property
    def free(self) -> np.ndarray:
        """Which of alpha, beta, gamma and phi the model has."""
        return np.array([True, self.trend is not None, self.seasonal is not None, self.damped])

    @property
    def n_parameters(self) -> int:
        """Smoothing parameters, first states (seasons sum to zero or m) and the variance."""
        seasons = self.period - 1 if self.seasonal else 0
        return int(self.free.sum()) + 1 + (self.trend is not None) + seasons + 1


class Filtered(NamedTuple):
    """The states along a series, before each step, and the forecasts one step ahead."""

    fitted: np.ndarray
    level: np.ndarray
    trend: np.ndarray
    season: np.ndarray
    state: np.ndarray


@method(
    task="forecast",
    texts="beyond",
    use="Forecasts of a series with a level, a trend or one season that change slowly.",
    avoid="Several seasons, inputs that are known ahead, many related series: LagForecaster.",
    peers=(
        "statsmodels.tsa.exponential_smoothing.ets.ETSModel",
        "statsmodels.tsa.holtwinters.ExponentialSmoothing",
    ),
    takes="sequences",
    synonyms=(
        "exponential smoothing",
        "ETS",
        "Holt-Winters",
        "ExponentialSmoothing",
        "time series",
    ),
)
class ETSModel(SequenceEstimator):
    """Exponential smoothing (error, trend, season) by maximum likelihood.

    Use it to forecast a series whose level, trend and season change slowly; not for several
    seasons or inputs that are known ahead (see `LagForecaster`).

    Parameters
    ----------
    error : {"add", "mul", "auto"}, default="add"
        Whether the size of errors is constant or in proportion to the forecast. Each "auto" is
        chosen by AICc among the forms that the series allows: multiplicative parts need positive
        values.
    trend : {"add", "mul", "auto"} or None, default=None
        "auto" tries none and an additive one.
    damped_trend : bool or "auto", default=False
    seasonal : {"add", "mul", "auto"} or None, default=None
    seasonal_periods : int, default=None
        Steps of a season, 2 or more; needed where there is a season.
    max_iter : int, default=10
        Most turns between smoothing parameters and first states.
    tol : float, default=1e-4
        Ends where a turn raises the log-likelihood by less.

    Attributes
    ----------
    form_ : str
        The model, such as ``"ETS(A,Ad,N)"``.
    smoothing_level_, smoothing_trend_, smoothing_seasonal_, damping_trend_ : float
        alpha, beta, gamma and phi; 0, 0 and 1 where the model has no such part.
    log_likelihood_ : float
    aicc_ : float
    criteria_ : dict of str to float
        AICc of every form that was tried.
    error_variance_ : float
        Variance of the additive or of the relative errors, over all sequences.

    Notes
    -----
    Sequences share the smoothing parameters; first states and variance are each one's own. First
    states are found by Gauss-Newton steps, which are exact where all parts are additive. A missing
    value (NaN) moves no state. Texts: beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.sequence import ETSModel
    >>> season = np.tile([10.0, 20.0, 30.0, 25.0], 6)
    >>> model = ETSModel(seasonal="add", seasonal_periods=4).fit([season])
    >>> model.forecast_rows(season, 4).round(3).ravel()
    array([10., 20., 30., 25.])
    """

    _parameter_constraints = {
        "error": [StrOptions({"add", "mul", "auto"})],
        "trend": [None, StrOptions({"add", "mul", "auto"})],
        "damped_trend": [*FLAG, StrOptions({"auto"})],
        "seasonal": [None, StrOptions({"add", "mul", "auto"})],
        "seasonal_periods": [None, whole(2)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
    }
    _stored = {
        "aicc_": Number(finite=False),
        "criteria_": DictOf(Number(finite=False)),
        "damping_trend_": Number(),
        "error_variance_": Number(),
        "form_": Text(),
        "log_likelihood_": Number(finite=False),
        "parts_": ListOf(Text(("add", "mul")) | Flag() | Whole(1) | None, 5),
        "smoothing_level_": Number(),
        "smoothing_seasonal_": Number(),
        "smoothing_trend_": Number(),
    }

    def __init__(
        self,
        error: str = "add",
        trend: str | None = None,
        damped_trend: bool | str = False,
        seasonal: str | None = None,
        seasonal_periods: int | None = None,
        *,
        max_iter: int = 10,
        tol: float = 1e-4,
    ):
        self.error = error
        self.trend = trend
        self.damped_trend = damped_trend
        self.seasonal = seasonal
        self.seasonal_periods = seasonal_periods
        self.max_iter = max_iter
        self.tol = tol

    @fits()
    def fit(self, sequences: Sequence, y: Any = None) -> ETSModel:
        """Maximize the likelihood of each form that is allowed, and keep that of the least AICc."""
        series = [one_series(sequence) for sequence in sequences]
        n = sum(int((~np.isnan(each)).sum()) for each in series)
        best = None
        self.criteria_ = {}
        for form in self._forms(series):
            smoothing, value = _maximum(form, series, self.max_iter, self.tol)
            criterion = _aicc(value, form.n_parameters, n)
            self.criteria_[form.name] = criterion
            if best is None or criterion < best[0]:
                best = criterion, form, smoothing, value
        assert best is not None
        self.aicc_, form, smoothing, self.log_likelihood_ = best
        self._keep(form, smoothing, series)
        return self

    def _forms(self, series: list[np.ndarray]) -> list[Form]:
        """The forms that the parameters and the series allow."""
        period = self.seasonal_periods
        if self.seasonal is not None and period is None:
            raise DataError("seasonal_periods is needed where there is a season, such as 12")
        shortest = min(len(each) for each in series)
        seasons = _tried(self.seasonal, (None, "add", "mul"))
        if period is not None and shortest < 2 * period:
            if self.seasonal != "auto" and self.seasonal is not None:
                raise DataError(
                    f"a season of {period} steps needs {2 * period} values, not {shortest}; use "
                    "seasonal=None or a shorter season"
                )
            seasons = [None]
        errors = _tried(self.error, ("add", "mul"))
        trends = _tried(self.trend, (None, "add"))
        dampings = [False, True] if self.damped_trend == "auto" else [bool(self.damped_trend)]
        found = [
            Form(e, t, d, s, period or 1)
            for e, t, d, s in itertools.product(errors, trends, dampings, seasons)
            if t is not None or not d
        ]
        if not found:
            raise DataError("damped_trend=True needs a trend; give trend='add'")
        positive = min(float(np.nanmin(each)) for each in series) > 0
        if not positive:
            found = [f for f in found if "mul" not in (f.error, f.trend, f.seasonal)]
            if not found:
                raise DataError("multiplicative parts need positive values; use 'add'")
        # an additive error with a multiplicative season is unstable and left out of a choice
        if self.error == "auto" and self.seasonal == "auto":
            found = [f for f in found if (f.error, f.seasonal) != ("add", "mul")]
        few = [f for f in found if f.n_parameters <= shortest - 3]
        if not few:
            raise DataError(
                f"the shortest sequence has {shortest} values, too few for {found[0].name}"
            )
        return few

    def _keep(self, form: Form, smoothing: np.ndarray, series: list[np.ndarray]) -> None:
        self.form_ = form.name
        self.parts_ = list(form)
        self.smoothing_level_ = float(smoothing[0])
        self.smoothing_trend_ = float(smoothing[1])
        self.smoothing_seasonal_ = float(smoothing[2])
        self.damping_trend_ = float(smoothing[3])
        errors = np.concatenate([self._errors(each) for each in series])
        self.error_variance_ = float(np.nanmean(errors**2))

    def _check_loaded(self) -> None:
        if not hasattr(self, "parts_"):
            return
        form = self._form
        known = {form.error, form.trend or "add", form.seasonal or "add"} <= {"add", "mul"}
        whole = isinstance(form.period, int) and not isinstance(form.period, bool)
        if not known or not isinstance(form.damped, bool) or not whole or form.name != self.form_:
            raise ValueError(f"the parts are not those of {self.form_}")

    @property
    def _form(self) -> Form:
        return Form(*self.parts_)

    @property
    def _smoothing(self) -> np.ndarray:
        return np.array(
            [
                self.smoothing_level_,
                self.smoothing_trend_,
                self.smoothing_seasonal_,
                self.damping_trend_,
            ]
        )

    def _errors(self, series: np.ndarray) -> np.ndarray:
        found = self._filtered(series)
        errors = series - found.fitted
        return errors / found.fitted if self._form.error == "mul" else errors

    def _filtered(self, series: np.ndarray) -> Filtered:
        form, smoothing = self._form, self._smoothing
        start = _improved_start(form, smoothing, series, first_states(form, series))
        return filtered(form, smoothing, series, start)

    @of_sequences()
    def score(self, sequences: Sequence, y: Any = None) -> float:
        """Log-likelihood of sequences under the fitted smoothing parameters."""
        form, smoothing = self._form, self._smoothing
        series = [one_series(sequence) for sequence in sequences]
        starts = [_improved_start(form, smoothing, s, first_states(form, s)) for s in series]
        return float(
            sum(log_likelihood(form, smoothing, s, x) for s, x in zip(series, starts, strict=True))
        )

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Expected rows after the end of a sequence, of shape (n_steps, 1)."""
        check_is_fitted(self)
        series = one_series(sequence)
        if self._form.seasonal and len(series) < 2 * self._form.period:
            raise DataError(
                f"{2 * self._form.period} values are needed to go on from, not {len(series)}"
            )
        ahead = np.concatenate([series, np.full(n_steps, np.nan)])
        form, smoothing = self._form, self._smoothing
        start = _improved_start(form, smoothing, series, first_states(form, series))
        return filtered(form, smoothing, ahead, start).fitted[len(series) :, None]

    def components(self, sequence: Any) -> dict[str, np.ndarray]:
        """Level, trend and season before each step, the forecast of it and the residual.

        Parameters
        ----------
        sequence : array-like of shape (n,) or (n, 1)

        Returns
        -------
        components : dict of str to ndarray of shape (n,)
        """
        check_is_fitted(self)
        series = one_series(sequence)
        found = self._filtered(series)
        return {
            "level": found.level,
            "trend": found.trend,
            "season": found.season,
            "fitted": found.fitted,
            "residual": series - found.fitted,
        }


def _tried(given: str | None, all_of_them: Sequence) -> list:
    return list(all_of_them) if given == "auto" else [given]


def _aicc(value: float, k: int, n: int) -> float:
    """Akaike's criterion, corrected for few values (Hurvich and Tsai, 1989)."""
    return float("inf") if n <= k + 1 else float(2 * (k - value) + 2 * k * (k + 1) / (n - k - 1))


def first_states(form: Form, series: np.ndarray) -> np.ndarray:
    """First level, trend and seasons, from a decomposition of the first values."""
    known = np.flatnonzero(~np.isnan(series))
    filled = np.interp(np.arange(len(series)), known, series[known])
    period = form.period if form.seasonal else 1
    seasons = np.zeros(period) if form.seasonal != "mul" else np.ones(period)
    if form.seasonal:
        head = filled[: max(4 * period, 12)]
        seasons = seasonal_indices(head, period, multiplicative=form.seasonal == "mul")
    places = np.arange(len(filled))
    if form.seasonal == "mul":
        adjusted = filled / np.maximum(seasons[places % period], 1e-8)
    else:
        adjusted = filled - seasons[places % period]
    count = min(len(adjusted), max(10, 2 * period))
    slope, level = (
        np.polyfit(np.arange(1, count + 1), adjusted[:count], 1)
        if count > 1
        else (
            0.0,
            adjusted[0],
        )
    )
    if form.trend is None:
        level, slope = adjusted[:count].mean(), 0.0
    if form.trend == "mul":
        level = max(level, 1e-8)
        slope = min(max(1 + slope / level, 0.5), 2.0)
    return np.concatenate([[level, slope], seasons])


def filtered(form: Form, smoothing: np.ndarray, series: np.ndarray, start: np.ndarray) -> Filtered:
    """Run the recursion along a series from a first state."""
    n = len(series)
    out = np.empty((4, n))
    state = np.array(start, dtype=np.float64)
    smooth_along(
        np.ascontiguousarray(series), smoothing, CODES[form.trend], CODES[form.seasonal], state, out
    )
    return Filtered(out[0], out[1], out[2], out[3], state)


def log_likelihood(
    form: Form, smoothing: np.ndarray, series: np.ndarray, start: np.ndarray
) -> float:
    """Log-likelihood of a series, the variance at its maximum."""
    sums = np.empty(4)
    likelihood_sums(
        series, smoothing, CODES[form.trend], CODES[form.seasonal], form.error == "mul", start, sums
    )
    n, squares, logs, size = sums.tolist()
    if not np.isfinite(squares + logs):
        return -np.inf
    # a perfect fit has no largest likelihood: the variance is kept off zero
    least = 1e-16 * max(size / n if form.error == "add" else 1.0, 1e-300)
    return -0.5 * n * (np.log(2 * np.pi * max(squares / n, least)) + 1) - logs


def _improved_start(
    form: Form, smoothing: np.ndarray, series: np.ndarray, start: np.ndarray, steps: int = 3
) -> np.ndarray:
    """Gauss-Newton steps on the first states, each halved until the likelihood does not fall."""
    best = log_likelihood(form, smoothing, series, start)
    free = np.concatenate(
        [[True, form.trend is not None], np.full(len(start) - 2, bool(form.seasonal))]
    )
    known = ~np.isnan(series)
    for _ in range(steps):
        fitted = filtered(form, smoothing, series, start).fitted
        if not np.isfinite(fitted).all():
            return start
        slopes = np.empty((len(series), len(start)))
        first_state_slopes(
            np.ascontiguousarray(series),
            smoothing,
            CODES[form.trend],
            CODES[form.seasonal],
            np.asarray(start, dtype=np.float64),
            fitted,
            slopes,
        )
        weight = 1 / fitted[known] if form.error == "mul" else np.ones(int(known.sum()))
        left = slopes[known][:, free] * weight[:, None]
        if not np.isfinite(left).all():
            return start
        move = np.zeros(len(start))
        sizes = np.maximum(np.linalg.norm(left, axis=0), 1e-300)
        # level against seasons is a direction without effect; slopes are exact to about 1e-8
        found = np.linalg.lstsq(left / sizes, (series - fitted)[known] * weight, rcond=1e-6)[0]
        move[free] = found / sizes
        gained = False
        for share in (1.0, 0.5, 0.25):
            value = log_likelihood(form, smoothing, series, start + share * move)
            if value > best + 1e-9:
                gained, best, start = True, value, start + share * move
                break
        if not gained:
            return start
    return start


def _maximum(
    form: Form, series: list[np.ndarray], max_iter: int, tol: float
) -> tuple[np.ndarray, float]:
    """Smoothing parameters of the greatest likelihood, and that likelihood."""
    free = form.free
    firsts = [first_states(form, each) for each in series]

    def improved(point: np.ndarray, states: list[np.ndarray]) -> list[np.ndarray]:
        smoothing = _smoothing_of(point, free)
        return [_improved_start(form, smoothing, s, x) for s, x in zip(series, states, strict=True)]

    def cost(point: np.ndarray, states: list[np.ndarray]) -> float:
        smoothing = _smoothing_of(point, free)
        value = sum(
            log_likelihood(form, smoothing, s, x) for s, x in zip(series, states, strict=True)
        )
        return -value if np.isfinite(value) else 1e300

    def climbed(
        point: np.ndarray, states: list[np.ndarray], max_iter: int, tol: float
    ) -> tuple[float, np.ndarray, list[np.ndarray]]:
        last = np.inf
        for _ in range(max_iter):
            options = {"xatol": 1e-2, "fatol": tol, "maxfev": 100 * int(free.sum())}
            point = minimize(cost, point, (states,), method="Nelder-Mead", options=options).x
            states = improved(point, states)
            value = cost(point, states)
            if last - value < tol:
                break
            last = value
        return value, point, states

    points = [logit(np.array(each))[free] for each in STARTS]
    ends = [climbed(point, improved(point, firsts), 1, COARSE) for point in points]
    _, point, states = min(ends, key=lambda each: each[0])
    least, point, _ = climbed(point, states, max_iter, tol)
    return _smoothing_of(point, free), -least


def _smoothing_of(point: np.ndarray, free: np.ndarray) -> np.ndarray:
    """alpha, beta, gamma and phi of shares of their ranges, on the scale of log odds."""
    shares = np.zeros(4)
    shares[free] = expit(np.clip(point, -12, 12))
    alpha = shares[0]
    phi = DAMPED[0] + (DAMPED[1] - DAMPED[0]) * shares[3] if free[3] else 1.0
    return np.array([alpha, alpha * shares[1], (1 - alpha) * shares[2], phi])


@lean_subkernel
def _along(series, smoothing, trend, seasonal, state, out):
    alpha, beta, gamma, phi = smoothing[0], smoothing[1], smoothing[2], smoothing[3]
    period = len(state) - 2
    for t in range(len(series)):
        level, slope, phase = state[0], state[1], 2 + t % period
        if trend == 2:
            slope = slope**phi if slope > 0 else np.nan
            base = level * slope
        elif trend == 1:
            slope = phi * slope
            base = level + slope
        else:
            base = level
        season = state[phase]
        mean = base
        if seasonal == 1:
            mean = base + season
        elif seasonal == 2:
            mean = base * season
        out[0, t] = mean
        out[1, t] = level
        out[2, t] = slope if trend > 0 else 0.0
        out[3, t] = season
        error = series[t] - mean
        if np.isnan(series[t]):
            error = 0.0
        share = error / season if seasonal == 2 and season != 0 else error
        state[0] = base + alpha * share
        if trend == 2:
            state[1] = slope + beta * share / level if level != 0 else np.nan
        elif trend == 1:
            state[1] = slope + beta * share
        if seasonal == 1:
            state[phase] = season + gamma * error
        elif seasonal == 2:
            state[phase] = season + gamma * error / base if base != 0 else np.nan


@kernel("f8[:]", "f8[:]", "i8", "i8", "out f8[:]", "out f8[:,:]")
def smooth_along(series, smoothing, trend, seasonal, state, out):
    """Run along a series (n); a missing value moves no state.

    smoothing holds alpha, beta, gamma, phi; state (2 + m): level, trend, the season of each phase,
    changed to the last one; out (4, n): forecast, level, trend and season before each step.
    """
    _along(series, smoothing, trend, seasonal, state, out)


@kernel("f8[:]", "f8[:]", "i8", "i8", "b1", "f8[:]", "out f8[:]")
def likelihood_sums(series, smoothing, trend, seasonal, relative, start, sums):
    """Known values, sum of squared (relative) errors, sum of log forecasts, sum of squares (4).

    The sums are NaN where a forecast is, or where relative errors meet a forecast below 0.
    """
    n = len(series)
    state = start.copy()
    out = np.empty((4, n))
    _along(series, smoothing, trend, seasonal, state, out)
    sums[:] = 0.0
    for t in range(n):
        mean = out[0, t]
        if relative and not mean > 0:
            sums[1] = np.nan
            mean = 1.0
        if np.isnan(series[t]):
            sums[1] += 0.0 * mean
            continue
        error = series[t] - mean
        sums[0] += 1.0
        sums[3] += series[t] ** 2
        if relative:
            error = error / mean
            sums[2] += np.log(mean)
        sums[1] += error * error


@kernel("f8[:]", "f8[:]", "i8", "i8", "f8[:]", "f8[:]", "out f8[:,:]")
def first_state_slopes(series, smoothing, trend, seasonal, start, fitted, slopes):
    """Slopes (n, 2 + m) of the forecasts along a series in the first states, by differences."""
    n, width = len(series), len(start)
    state = np.empty(width)
    out = np.empty((4, n))
    for j in range(width):
        for i in range(width):
            state[i] = start[i]
        step = 1e-6 * max(abs(start[j]), 1e-3 * abs(start[0]), 1e-8)
        state[j] += step
        _along(series, smoothing, trend, seasonal, state, out)
        for t in range(n):
            slopes[t, j] = (out[0, t] - fitted[t]) / step
