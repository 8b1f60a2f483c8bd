"""First weights: rules that keep signals of one size from layer to layer.

========================  ==========================================================
rule                      weights
========================  ==========================================================
normal                    normal, standard deviation 0.01 (000c 17.1)
uniform                   uniform on (-0.5, 0.5) (004 9.2)
glorot_uniform            uniform on +-sqrt(6 / (fan_in + fan_out)); scikit-learn's
glorot_normal             normal, variance 2 / (fan_in + fan_out)
he_uniform, he_normal     uniform on +-sqrt(6 / fan_in), variance 2 / fan_in: for ReLU
lecun_normal              normal, variance 1 / fan_in
zeros                     all 0, which no hidden layer learns from
========================  ==========================================================

Biases start at 0 (or at the layer's `bias_start`), gains at 1.

Texts: 000c 17.1.2, 17.2.1 · 001 6.3.1, 8.4 · 004 9.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from gnomon.engine.errors import DataError

if TYPE_CHECKING:
    from gnomon.neural.layers import Parameter

Rule = Callable[["Parameter", float | None, np.random.Generator], np.ndarray]


def _normal(sd: Callable[[Parameter], float]) -> Rule:
    return lambda p, scale, rng: rng.normal(0.0, sd(p) * (1.0 if scale is None else scale), p.shape)


def _uniform(half: Callable[[Parameter], float]) -> Rule:
    def draw(p: Parameter, scale: float | None, rng: np.random.Generator) -> np.ndarray:
        width = half(p) * (1.0 if scale is None else scale)
        return rng.uniform(-width, width, p.shape)

    return draw


INITIALIZATIONS: dict[str, Rule] = {
    "normal": lambda p, scale, rng: rng.normal(0.0, 0.01 if scale is None else scale, p.shape),
    "uniform": lambda p, scale, rng: rng.uniform(
        -(0.5 if scale is None else scale), 0.5 if scale is None else scale, p.shape
    ),
    "glorot_uniform": _uniform(lambda p: np.sqrt(6 / (p.fan_in + p.fan_out))),
    "glorot_normal": _normal(lambda p: np.sqrt(2 / (p.fan_in + p.fan_out))),
    "he_uniform": _uniform(lambda p: np.sqrt(6 / p.fan_in)),
    "he_normal": _normal(lambda p: np.sqrt(2 / p.fan_in)),
    "lecun_normal": _normal(lambda p: np.sqrt(1 / p.fan_in)),
    "zeros": lambda p, scale, rng: np.zeros(p.shape),
}


def draw_start(
    parameter: Parameter, init: str, scale: float | None, rng: np.random.Generator
) -> np.ndarray:
    """The first values of a parameter.

    Parameters
    ----------
    parameter : Parameter
    init : str
        One of `INITIALIZATIONS`, for weights.
    scale : float or None
        Standard deviation of "normal", half width of "uniform", a factor of the others.
    rng : numpy.random.Generator

    Returns
    -------
    values : ndarray
    """
    if init not in INITIALIZATIONS:
        raise DataError(f"init is one of {', '.join(INITIALIZATIONS)}, not {init!r}")
    if parameter.start is not None:
        return np.full(parameter.shape, parameter.start)
    if parameter.role == "weight":
        return INITIALIZATIONS[init](parameter, scale, rng)
    return np.full(parameter.shape, 1.0 if parameter.role == "gain" else 0.0)
