"""Spiking neurons: charge that leaks, a threshold, a spike; and the rate that replaces spikes.

Between spikes the potential follows tau dV/dt = -V + R I. Where it reaches the threshold theta the
neuron fires, the potential returns to zero and stays there for the refractory time. A constant
current with R I > theta gives the rate 1 / (t_ref + tau log(R I / (R I - theta))); a unit that does
not spike carries this rate instead, which takes time out of the model.

Texts: 003 4.3.7, 4.3.7.1 (charge from weighted spikes, without leak: ``time_constant=inf``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError


@dataclass(frozen=True, eq=False)
class SpikeTrain:
    """What a spiking neuron did.

    Attributes
    ----------
    times : ndarray of shape (n_spikes,)
        Ends of the steps in which it fired.
    potential : ndarray of shape (n_steps,)
        After each step; zero where it has just fired.
    duration : float
        Time simulated.
    """

    times: np.ndarray
    potential: np.ndarray
    duration: float

    @property
    def rate(self) -> float:
        """Spikes per unit of time."""
        return len(self.times) / self.duration


def integrate_and_fire(
    inputs: Any,
    weights: Any = 1.0,
    *,
    threshold: float = 1.0,
    time_constant: float = np.inf,
    resistance: float = 1.0,
    refractory: float = 0.0,
    dt: float = 1.0,
) -> SpikeTrain:
    """Simulate a (leaky) integrate-and-fire neuron.

    Parameters
    ----------
    inputs : array-like of shape (n_steps,) or (n_steps, n_synapses)
        Charge that arrives in each step without a leak (spikes are ones), or the current during
        the step with a leak.
    weights : float or array-like of shape (n_synapses,), default=1.0
        Strength of each synapse; negative ones inhibit.
    threshold : float, default=1.0
    time_constant : float, default=inf
        tau of the leak; infinite where charge does not leak.
    resistance : float, default=1.0
        R, with a leak only.
    refractory : float, default=0.0
        Time after a spike during which input is lost.
    dt : float, default=1.0
        Length of a step.

    Returns
    -------
    spikes : SpikeTrain

    Notes
    -----
    With a leak a step is exact for a constant current, V <- V e + R I (1 - e), e = exp(-dt / tau).
    The potential returns to zero after a spike. Texts: 003 4.3.7.1.

    Examples
    --------
    >>> integrate_and_fire([[1, 0], [1, 1], [0, 1], [1, 1]], [0.5, 0.25]).times
    array([2., 4.])
    """
    given = np.asarray(inputs, dtype=np.float64)
    if given.ndim == 1:
        given = given[:, None]
    strength = np.broadcast_to(np.asarray(weights, dtype=np.float64), given.shape[1:])
    if not (threshold > 0 and time_constant > 0 and dt > 0 and refractory >= 0):
        raise DataError("threshold, time_constant and dt must be above 0, refractory 0 or more")
    if not len(given) or not np.isfinite(given).all():
        raise DataError("inputs must be finite numbers for one step or more")
    charge = given @ strength
    leaks = np.isfinite(time_constant)
    keep = np.exp(-dt / time_constant) if leaks else 1.0
    gain = resistance * (1 - keep) if leaks else 1.0
    waiting = round(refractory / dt)
    potential, level, rest, fired = np.zeros(len(charge)), 0.0, 0, []
    for step, arriving in enumerate(charge.tolist()):
        if rest:
            rest -= 1
            continue
        level = level * keep + gain * arriving
        if level >= threshold:
            fired.append(step + 1)
            level, rest = 0.0, waiting
        potential[step] = level
    return SpikeTrain(dt * np.array(fired, dtype=np.float64), potential, dt * len(charge))


def firing_rate(
    current: Any,
    *,
    threshold: float = 1.0,
    time_constant: float = np.inf,
    resistance: float = 1.0,
    refractory: float = 0.0,
) -> np.ndarray:
    """Spikes per unit of time of a neuron under a constant current: the non-spiking unit.

    Parameters
    ----------
    current : array-like
    threshold, time_constant, resistance, refractory : float
        As in `integrate_and_fire`.

    Returns
    -------
    rate : ndarray
        Zero where the threshold is never reached.

    Notes
    -----
    1 / (t_ref + tau log(R I / (R I - theta))); without a leak, 1 / (t_ref + theta / I). Texts: 003
    4.3.7.1.

    Examples
    --------
    >>> firing_rate([0.5, 2.0], threshold=1.0).tolist()
    [0.5, 2.0]
    """
    flow = np.asarray(current, dtype=np.float64)
    leaks = np.isfinite(time_constant)
    drive = resistance * flow if leaks else flow
    fires = drive > (threshold if leaks else 0.0)
    safe = np.where(fires, drive, 2.0 * threshold)
    if leaks:
        wait = time_constant * np.log(safe / (safe - threshold))
    else:
        wait = threshold / safe
    return np.where(fires, 1.0 / (refractory + wait), 0.0)
