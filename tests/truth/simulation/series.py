"""What `forecast` says of values that are not there yet."""

from __future__ import annotations

import numpy as np

from gnomon.workbench.forecast.job import forecast
from tests.truth.simulation.harness import Outcome, simulation
from tests.truth.simulation.laws import FOR_INDEPENDENT, LAWS, MORE_LAWS, PER_GROUP

STEPS, HORIZON = 120, 4
CHEAP = ["naive", "drift", "exponential smoothing", "autoregression"]


@simulation("forecast", "prediction interval", quick=1, quick_laws=2)
def next_values(law: str, rng: np.random.Generator) -> Outcome:
    """A slow autoregression driven by a law; the share of the next four values inside.

    Methods that take seconds do not compete.
    """
    # from a random place: groups that always began with the first value ahead would make it, and no
    # value of the past, the first of its group
    skipped = int(rng.integers(PER_GROUP))
    steps = LAWS[law](rng, skipped + STEPS + HORIZON)[skipped:]
    y = np.empty(STEPS + HORIZON)
    y[0] = steps[0]
    for t in range(1, len(y)):
        y[t] = 0.5 * y[t - 1] + steps[t]
    table = {"step": list(range(STEPS)), "y": y[:STEPS].tolist()}
    found = forecast(table, "y", "step", horizon=HORIZON, period=1, methods=CHEAP)
    inside = (found.low[0] <= y[STEPS:]) & (y[STEPS:] <= found.high[0])
    return {"prediction interval": float(inside.mean())}


@simulation("forecast", "better than the baseline", laws=FOR_INDEPENDENT, quick=1, quick_laws=1)
def random_walk(law: str, rng: np.random.Generator) -> Outcome:
    """Independent steps of a law: no forecast is better than the last value."""
    y = np.cumsum(MORE_LAWS[law](rng, STEPS))
    table = {"step": list(range(STEPS)), "y": y.tolist()}
    found = forecast(table, "y", "step", horizon=HORIZON, period=1, methods=CHEAP)
    return {"better than the baseline": found.beats_baseline}
