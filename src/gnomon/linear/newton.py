"""Newton's method on sums over rows, damped: a step is halved until the objective falls.

A pass sums loss, slope and curvature at ``state["trial"]``. If the objective has not fallen by a
share of what the last step promised, the trial moves half-way back; otherwise it is accepted, and
the quadratic model of the new place gives the next direction. Logistic regression, its sparse form
and generalised linear models share this; they differ in loss and direction.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gnomon.contract import Data, Step
from gnomon.engine.sums import add_up
from gnomon.linear.solve import EPS

SUFFICIENT_FALL = 1e-4  # share of the promised fall that a step must reach (Armijo)
SMALLEST_STEP = 1e-10  # no shorter step changes the objective beyond rounding


def start_at(parameters: np.ndarray) -> dict[str, Any]:
    """The state of a fit that starts at given parameters."""
    return {
        "parameters": parameters,
        "trial": parameters.copy(),
        "direction": np.zeros_like(parameters),
        "objective": np.inf,
        "fall": 0.0,
        "step": 1.0,
    }


def halved(state: dict[str, Any], objective: float) -> Step | None:
    """The step back where the trial's objective has not fallen enough; None where it has."""
    before = state["objective"]
    allowed = before - SUFFICIENT_FALL * state["step"] * state["fall"]
    if objective <= allowed + (4 * EPS * abs(before) if np.isfinite(before) else 0.0):
        return None
    step = state["step"] / 2
    trial = state["parameters"] + step * state["direction"]
    return Step(state | {"step": step, "trial": trial}, before, step < SMALLEST_STEP)


def accepted(
    state: dict[str, Any],
    objective: float,
    direction: np.ndarray,
    fall: float,
    ended: bool,
    **more: Any,
) -> Step:
    """The next trial from an accepted one; where it is the end, the last step is taken."""
    trial = state["trial"]
    changes = {
        "parameters": trial + direction if ended else trial,
        "trial": trial + direction,
        "direction": direction,
        "objective": objective,
        "fall": fall,
        "step": 1.0,
    }
    return Step(state | changes | more, objective, ended)


def at_penalty(model: Any, data: Data, state: dict[str, Any], n_jobs: int | None):
    """The state at the minimum of the model's penalty, from a near one, and the last sums."""
    state = state | start_at(state["parameters"])
    for _ in range(model.max_iter):
        total = add_up(partial(model._sums, state), data.source, n_jobs)
        state, _, converged = model._update(state, total)
        if converged:
            break
    return state, total
