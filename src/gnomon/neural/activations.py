"""Activation functions, with slope, inverse and integral where these have a closed form.

=============  =======================  =====================  ===========================
name           value                    slope                  integral
=============  =======================  =====================  ===========================
identity       z                        1                      z^2 / 2
logistic       1 / (1 + e^-z)           a (1 - a)              ln(1 + e^z)
tanh           tanh z                   1 - a^2                ln cosh z
relu           max(z, 0)                1 where z > 0, else 0  max(z, 0)^2 / 2
leaky_relu     z, 0.01 z below 0        1, 0.01 below 0
absolute       \\|z\\|                    sign z
elu            z, e^z - 1 below 0       1, a + 1 below 0
softplus       ln(1 + e^z)              logistic(z)
algebraic      z / sqrt(1 + z^2)        (1 + z^2)^-1.5         sqrt(1 + z^2) - 1
arctan         arctan z                 1 / (1 + z^2)          z arctan z - ln(1 + z^2) / 2
sine           sin z                    cos z                  1 - cos z
exponential    e^z                      a                      e^z
softmax        e^z_k / sum_j e^z_j      a_i ([i = j] - a_j)
=============  =======================  =====================  ===========================

The slope of ReLU at 0 is 0. Softmax takes the largest number off first, so that it never overflows.

Texts: 000c 17.1.1-17.1.2 · 001 6.2.2-6.3 · 003 4.3.1 · 004 9.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from gnomon.engine.errors import DataError

LEAK = 0.01  # the slope of Maas et al. (2013), and torch's default
LARGEST_EXPONENT = 50.0  # e^50 squared is far from the largest number of float32


@dataclass(frozen=True)
class ActivationFunction:
    """An activation function.

    Attributes
    ----------
    name : str
    value : callable
        Value of the input; a new array.
    slope : callable
        ``slope(z, a)``: the derivative from the input and the value.
    of_value : bool
        The slope needs the value alone, so that the input need not be kept.
    inverse : callable or None
    integral : callable or None
        From 0.
    """

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[Any, np.ndarray], np.ndarray]
    of_value: bool = False
    inverse: Callable[[np.ndarray], np.ndarray] | None = None
    integral: Callable[[np.ndarray], np.ndarray] | None = None

    def pull_back(self, z: np.ndarray | None, a: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """The gradient with respect to the input, from that with respect to the value.

        Parameters
        ----------
        z : ndarray or None
            The input; may be None where the slope follows from the value.
        a : ndarray
        gradient : ndarray

        Returns
        -------
        gradient : ndarray
        """
        if self.name == "softmax":
            return a * (gradient - (gradient * a).sum(axis=-1, keepdims=True))
        if self.name == "identity":
            return gradient
        return gradient * self.slope(z, a)


def softmax(z: np.ndarray) -> np.ndarray:
    """Probabilities along the last axis that are proportional to e^z.

    Parameters
    ----------
    z : ndarray

    Returns
    -------
    probabilities : ndarray

    Examples
    --------
    >>> softmax(np.array([1000.0, 1000.0])).tolist()
    [0.5, 0.5]
    """
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_jacobian(z: np.ndarray) -> np.ndarray:
    """The matrix of derivatives of softmax at one vector: diag(p) - p p'.

    Parameters
    ----------
    z : ndarray of shape (n_classes,)

    Returns
    -------
    jacobian : ndarray of shape (n_classes, n_classes)
    """
    p = softmax(np.asarray(z, dtype=np.float64))
    return np.diag(p) - np.outer(p, p)


def _exponential(z: np.ndarray) -> np.ndarray:
    return np.exp(np.minimum(z, LARGEST_EXPONENT))


def _log_cosh(z: np.ndarray) -> np.ndarray:
    return np.abs(z) + np.log1p(np.exp(-2 * np.abs(z))) - np.log(2)


def _softplus(z: np.ndarray) -> np.ndarray:
    return np.logaddexp(z, np.zeros((), dtype=z.dtype))


_ALL = (
    ActivationFunction(
        "identity",
        lambda z: z.copy(),
        lambda z, a: np.ones_like(a),
        True,
        lambda a: a.copy(),
        lambda z: z**2 / 2,
    ),
    ActivationFunction(
        "logistic",
        expit,
        lambda z, a: a * (1 - a),
        True,
        lambda a: np.log(a / (1 - a)),
        lambda z: _softplus(z) - np.log(2),
    ),
    ActivationFunction("tanh", np.tanh, lambda z, a: 1 - a**2, True, np.arctanh, _log_cosh),
    ActivationFunction(
        "relu",
        lambda z: np.maximum(z, 0),
        lambda z, a: a > 0,
        True,
        None,
        lambda z: np.maximum(z, 0) ** 2 / 2,
    ),
    ActivationFunction(
        "leaky_relu",
        lambda z: np.where(z > 0, z, LEAK * z).astype(z.dtype, copy=False),
        lambda z, a: np.where(a > 0, 1, LEAK).astype(a.dtype, copy=False),
        True,
        lambda a: np.where(a > 0, a, a / LEAK),
    ),
    ActivationFunction("absolute", np.abs, lambda z, a: np.sign(z)),
    ActivationFunction(
        "elu",
        lambda z: np.where(z > 0, z, np.expm1(np.minimum(z, 0))),
        lambda z, a: np.where(a > 0, 1, a + 1),
        True,
        lambda a: np.where(a > 0, a, np.log1p(np.minimum(a, 0))),
    ),
    ActivationFunction(
        "softplus",
        _softplus,
        lambda z, a: -np.expm1(-a),
        True,
        lambda a: a + np.log(-np.expm1(-a)),
    ),
    ActivationFunction(
        "algebraic",
        lambda z: z / np.sqrt(1 + z**2),
        lambda z, a: (1 - a**2) ** 1.5,
        True,
        lambda a: a / np.sqrt(1 - a**2),
        lambda z: np.sqrt(1 + z**2) - 1,
    ),
    ActivationFunction(
        "arctan",
        np.arctan,
        lambda z, a: 1 / (1 + z**2),
        False,
        np.tan,
        lambda z: z * np.arctan(z) - np.log1p(z**2) / 2,
    ),
    ActivationFunction(
        "sine", np.sin, lambda z, a: np.cos(z), False, None, lambda z: 1 - np.cos(z)
    ),
    ActivationFunction(
        "exponential", _exponential, lambda z, a: a, True, np.log, lambda z: np.exp(z) - 1
    ),
    ActivationFunction("softmax", softmax, lambda z, a: a * (1 - a), True),
)
ACTIVATIONS = {each.name: each for each in _ALL}
ACTIVATIONS["sigmoid"] = ACTIVATIONS["logistic"]
ACTIVATIONS["linear"] = ACTIVATIONS["identity"]


def activation_of(name: str) -> ActivationFunction:
    """The activation function of a name.

    Parameters
    ----------
    name : str
        One of the table above; "sigmoid" is "logistic", "linear" is "identity".

    Returns
    -------
    function : ActivationFunction

    Examples
    --------
    >>> activation_of("relu").value(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    try:
        return ACTIVATIONS[name]
    except (KeyError, TypeError):
        known = ", ".join(sorted(ACTIVATIONS))
        raise DataError(f"there is no activation {name!r}; choose one of {known}") from None
