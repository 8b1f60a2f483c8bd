"""Methods that compete, the origins they are tried from, and what each forecast there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.linear import Ridge
from gnomon.sequence import (
    Autoregression,
    ETSModel,
    LagForecaster,
    NaiveForecaster,
    RollingOrigin,
    StructuralModel,
    rolling_origin,
)
from gnomon.trees import HistGradientBoostingRegressor, RandomForestRegressor
from gnomon.workbench.base.job import Progress
from gnomon.workbench.forecast.options import ForecastOptions
from gnomon.workbench.forecast.series import OneSeries, SeriesSet

# Weights of the combination are the scaled errors to minus this power, measured on 18 series at
# three later windows: 4, 6, 8 and 12 gave 0.79, 0.78, 0.78, 0.79 of the error of statsmodels' ETS.
POWER = 8
LEAST_WEIGHT = 0.02
# A single method is chosen where its error is below this share of the combination's: at 1, 0.95
# and 0.9 the errors on later windows were 0.81, 0.80 and 0.78 of those of ETS.
CLEARLY_BETTER = 0.9
# Values of all series from which trees have enough rows to learn from.
ROWS_FOR_TREES = 60
MOST_LAGS = 24
# Seasons beyond which the states of smoothing and of the state space are too many.
LONGEST_SEASON = 60


class Entrant(NamedTuple):
    """A method that competes.

    Attributes
    ----------
    name : str
    forecaster : estimator
    together : bool
        Whether one fit serves all series; otherwise each series has its own.
    takes_inputs : bool
        Whether it uses columns that are known ahead.
    """

    name: str
    forecaster: Any
    together: bool = False
    takes_inputs: bool = False


class Origins(NamedTuple):
    """Where forecasts are tried.

    Attributes
    ----------
    tried : list of int
        Steps before the end, for the choice; the earliest first.
    test : int
        Steps before the end of the origin that is asked once; 0 where there are too few values.
    """

    tried: list[int]
    test: int

    def overlap(self, horizon: int) -> int:
        """How many origins before it a window overlaps."""
        if len(self.tried) < 2:
            return 0
        spacing = (self.tried[0] - self.tried[-1]) / (len(self.tried) - 1)
        return max(int(np.ceil(horizon / spacing)) - 1, 0)


class GaplessAutoregression(Autoregression):
    """Autoregression whose order is chosen by AIC; gaps before a forecast are interpolated."""

    def forecast_rows(self, sequence: Any, n_steps: int = 1) -> np.ndarray:
        """Expected rows after the end of a sequence."""
        return super().forecast_rows(without_gaps(np.ravel(sequence)), n_steps)


def without_gaps(values: np.ndarray) -> np.ndarray:
    """A series whose missing values are interpolated."""
    known = np.flatnonzero(~np.isnan(values))
    return np.interp(np.arange(len(values)), known, values[known])


def chosen_origins(shortest: int, period: int, options: ForecastOptions) -> Origins:
    """The origins: evenly over the later half, the last window put aside where rows suffice.

    Parameters
    ----------
    shortest : int
        Values of the shortest series.
    period : int
    options : ForecastOptions

    Returns
    -------
    origins : Origins
    """
    horizon = options.horizon
    least = max(2 * period + 4 if period > 1 else 0, 8)
    first = max(least, shortest // 2)
    if shortest - first < 2 * horizon + 2:
        first = least
    test = horizon if shortest - first >= 2 * horizon + 1 else 0
    nearest = 2 * horizon if test else horizon
    farthest = shortest - first
    if farthest < nearest:
        raise DataError(
            f"the shortest series has {shortest} values: forecasts of {horizon} steps need "
            f"{first + nearest}. Give a smaller --horizon"
        )
    count = min(options.origins, farthest - nearest + 1)
    backs = np.unique(np.round(np.linspace(farthest, nearest, count)).astype(int))[::-1]
    return Origins(backs.tolist(), test)


def entrants(
    found: SeriesSet, period: int, options: ForecastOptions
) -> tuple[list[Entrant], dict[str, str]]:
    """The methods that compete on these series, and why others do not."""
    shortest = min(map(len, found.series))
    farthest = chosen_origins(shortest, period, options).tried[0]
    before = shortest - farthest
    lags = int(np.clip(before - period - 4, 1, min(max(period, 6), MOST_LAGS)))
    inputs = found.series[0].inputs is not None
    # the last values alone train trees badly; all series together count
    rows = sum(len(each) - farthest - lags - period for each in found.series)
    seed = options.random_state

    def on_lags(name: str, estimator: Any) -> Entrant:
        forecaster = LagForecaster(estimator, lags, seasonal_periods=period)
        return Entrant(f"{name} on lags", forecaster, True, inputs)

    order = int(np.clip(before // 4, 1, min(max(period + 1, 8), 26)))
    smoothing = ETSModel("auto", "auto", "auto", "auto" if period > 1 else None, _or_none(period))
    every = [
        Entrant("naive", NaiveForecaster()),
        Entrant("seasonal naive", NaiveForecaster(seasonal_periods=period)),
        Entrant("drift", NaiveForecaster("drift")),
        Entrant("exponential smoothing", smoothing),
        Entrant("autoregression", GaplessAutoregression("aic", max_order=order)),
        Entrant("state space", StructuralModel(seasonal_periods=period)),
        on_lags("ridge", Ridge(alpha=1.0)),
        on_lags("forest", RandomForestRegressor(random_state=seed, min_samples_leaf=3)),
        on_lags(
            "boosting",
            HistGradientBoostingRegressor(
                random_state=seed, max_iter=50, max_leaf_nodes=8, min_samples_leaf=5
            ),
        ),
    ]
    out: dict[str, str] = {}
    if period == 1:
        out["seasonal naive"] = "there is no season"
    if rows < ROWS_FOR_TREES:
        why = f"{max(rows, 0)} rows of lags before the first origin; trees need {ROWS_FOR_TREES}"
        out |= {"forest on lags": why, "boosting on lags": why}
    if period > LONGEST_SEASON:
        why = f"a season of {period} steps has too many states"
        out |= {"exponential smoothing": why, "state space": why}
    if before < period + 6:
        out["state space"] = "too few values before the first origin"
    if before < lags + period + 4:
        out |= {name: "too few values before the first origin" for name in ("ridge on lags",)}
    if options.methods is not None:
        baseline = baseline_name(period)
        out |= {
            e.name: "not asked for" for e in every if e.name not in (*options.methods, baseline)
        }
    return [each for each in every if each.name not in out], out


def _or_none(period: int) -> int | None:
    return period if period > 1 else None


def baseline_name(period: int) -> str:
    """The forecast that others must beat."""
    return "seasonal naive" if period > 1 else "naive"


@dataclass
class Competition:
    """What the methods forecast from every origin.

    Attributes
    ----------
    results : dict of str to RollingOrigin
        By method, at the origins of the choice.
    left_out : dict of str to str
        Why a method did not compete.
    """

    results: dict[str, RollingOrigin]
    left_out: dict[str, str]


def tried(
    entrant: Entrant, found: SeriesSet, horizon: int, backs: list[int], period: int
) -> RollingOrigin:
    """The forecasts of a method from some origins."""
    inputs = _inputs_of(found.series, 0) if entrant.takes_inputs else None
    if entrant.together:
        return rolling_origin(
            entrant.forecaster,
            found.values,
            horizon,
            backs,
            seasonal_periods=period,
            inputs=inputs,
        )
    several = len(found.series) > 1
    parts = []
    for each in found.series:
        forecaster = entrant.forecaster
        if several and isinstance(forecaster, ETSModel):
            forecaster = fixed_form(forecaster, each.values[: len(each) - backs[0]])
        parts.append(
            rolling_origin(forecaster, [each.values], horizon, backs, seasonal_periods=period)
        )
    return RollingOrigin(
        parts[0].origins, *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
    )


def fixed_form(model: ETSModel, head: np.ndarray) -> ETSModel:
    """The form that the values before the first origin choose; it stays for later origins."""
    error, trend, damped, seasonal, period = model.fit([head]).parts_
    return ETSModel(error, trend, damped, seasonal, period if seasonal else None)


def _inputs_of(series: list[OneSeries], ahead: int) -> list[np.ndarray]:
    return [each.inputs[: len(each) + ahead] for each in series if each.inputs is not None]


def competition(
    found: SeriesSet, period: int, origins: Origins, options: ForecastOptions, tell: Progress
) -> tuple[Competition, list[Entrant]]:
    """Let all methods forecast from the origins of the choice."""
    competing, left_out = entrants(found, period, options)
    results: dict[str, RollingOrigin] = {}
    for place, each in enumerate(competing):
        tell(f"{each.name}: {len(origins.tried)} origins", place, len(competing))
        try:
            results[each.name] = tried(each, found, options.horizon, origins.tried, period)
        except DataError as error:
            left_out[each.name] = str(error)
    asked = options.methods is None or "combination" in options.methods
    if asked and len(results) > 2:
        results["combination"] = combination_of(results)
    return Competition(results, left_out), competing


def weights_of(results: dict[str, RollingOrigin], without: int | None = None) -> dict[str, float]:
    """Weights of the combination: scaled errors to a negative power, over the other origins."""
    sizes = {}
    for name, result in results.items():
        if name != "combination":
            losses = result.scaled_losses()
            kept = losses if without is None else np.delete(losses, without, axis=1)
            sizes[name] = float(np.nanmean(kept)) if (~np.isnan(kept)).any() else np.inf
    least = max(min(sizes.values()), 1e-12)
    weights = {name: (max(size, 1e-12) / least) ** -POWER for name, size in sizes.items()}
    total = sum(weights.values())
    weights = {name: w / total for name, w in weights.items() if w / total >= LEAST_WEIGHT}
    return {name: w / sum(weights.values()) for name, w in weights.items()}


def combination_of(results: dict[str, RollingOrigin]) -> RollingOrigin:
    """Weighted means of the methods; at each origin the weights come from the others."""
    any_of_them = next(iter(results.values()))
    y_pred = np.zeros_like(any_of_them.y_pred)
    for k in range(len(any_of_them.origins)):
        for name, weight in weights_of(results, without=k).items():
            y_pred[:, k] += weight * results[name].y_pred[:, k]
    return any_of_them._replace(y_pred=y_pred)


def chosen_of(errors: dict[str, float]) -> str:
    """The combination, or the best single method where it is clearly better or there is no other.

    Parameters
    ----------
    errors : dict of str to float
        Scaled errors by method.

    Returns
    -------
    name : str
    """
    best = min(errors, key=lambda name: errors[name])
    together = errors.get("combination", np.inf)
    return best if errors[best] < CLEARLY_BETTER * together else "combination"


def with_last(
    results: dict[str, RollingOrigin], last: dict[str, RollingOrigin]
) -> dict[str, RollingOrigin]:
    """The forecasts from all origins, the last window's among them, which the weights then count.

    Of 18 series at four later windows 12 instead of 11 have at most the error of ETS by it.
    """
    return {
        name: RollingOrigin(
            np.concatenate([result.origins, last[name].origins]),
            *(np.concatenate([result[k], last[name][k]], axis=1) for k in (1, 2, 3)),
        )
        for name, result in results.items()
        if name in last
    }


def weighted(weights: dict[str, float], made: dict[str, Any]) -> np.ndarray:
    """The weighted mean of the forecasts of some methods."""
    return np.sum([weight * np.asarray(made[name]) for name, weight in weights.items()], axis=0)


def chosen_weights(chosen: str, results: dict[str, RollingOrigin]) -> dict[str, float]:
    """The weights of the combination, or one of a single method."""
    return weights_of(results) if chosen == "combination" else {chosen: 1.0}


def final_forecasts(
    entrant: Entrant, found: SeriesSet, horizon: int, period: int
) -> tuple[list[np.ndarray], list[Any]]:
    """Forecasts after the end of every series by a method fitted to all values, and the fits."""
    ahead, fits = [], []
    if entrant.together:
        inputs = _inputs_of(found.series, 0) if entrant.takes_inputs else None
        model = entrant.forecaster
        model = (
            model.fit(found.values) if inputs is None else model.fit(found.values, inputs=inputs)
        )
        known = _inputs_of(found.series, horizon) if entrant.takes_inputs else None
        for place, each in enumerate(found.series):
            more = {} if known is None else {"inputs": known[place]}
            ahead.append(model.forecast_rows(each.values, horizon, **more)[:, 0])
        return ahead, [model] * len(found.series)
    from sklearn.base import clone

    for each in found.series:
        model = clone(entrant.forecaster).fit([each.values])
        ahead.append(model.forecast_rows(each.values, horizon)[:, 0])
        fits.append(model)
    return ahead, fits


def require_inputs_ahead(found: SeriesSet, options: ForecastOptions) -> None:
    """Refuse known columns whose values ahead are not in the table."""
    for each in found.series:
        if each.inputs is None:
            return
        there = len(each.inputs) - len(each)
        if there < options.horizon or np.isnan(each.inputs[: len(each) + options.horizon]).any():
            which = f" of {each.name}" if each.name else ""
            raise DataError(
                f"known={', '.join(options.known)}: the table has {there} later rows{which} with "
                f"an empty target, and {options.horizon} are needed, all with values of these "
                "columns. Add them, give a smaller --horizon, or leave the columns out"
            )
