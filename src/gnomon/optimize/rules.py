"""Update rules: from a gradient to a step. Momentum, Nesterov, Adagrad, RMSprop, Adam, AdamW.

With gradient g and learning rate eta, the parameters move by minus

- fixed step: eta g
- momentum: v <- mu v + eta g; v. Nesterov's form looks ahead: mu v + eta g after the update of v
- Adagrad: c <- c + g^2; eta g / (sqrt(c) + alpha)
- RMSprop: c <- D c + (1 - D) g^2; eta g / (sqrt(c) + alpha)
- Adam: v <- b1 v + (1 - b1) g, c <- b2 c + (1 - b2) g^2, both divided by 1 - b^t, t counted from 1;
  eta v / (sqrt(c) + eps). AdamW also shrinks the parameters by eta times the weight decay.

Texts: 000c 16.4.4 (its Adam misplaces a hat and leaves t undefined; the corrected form is here).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel


class Rule:
    """A fixed step, and the base of the other rules; stateful, one object per run."""

    def step(self, x: np.ndarray, gradient: np.ndarray, learning_rate: float) -> np.ndarray:
        """What to add to the parameters.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The parameters now.
        gradient : ndarray of shape (d,)
        learning_rate : float

        Returns
        -------
        step : ndarray of shape (d,)
        """
        return -learning_rate * gradient


class MomentumRule(Rule):
    """Momentum; with ``nesterov``, Nesterov's accelerated form.

    Parameters
    ----------
    momentum : float, default=0.9
    nesterov : bool, default=False

    Examples
    --------
    >>> rule = MomentumRule(0.9)
    >>> [float(rule.step(np.zeros(1), np.ones(1), 0.1)[0]) for _ in range(2)]
    [-0.1, -0.19]
    """

    def __init__(self, momentum: float = 0.9, nesterov: bool = False):
        if not 0 <= momentum < 1:
            raise DataError(f"momentum must be at least 0 and below 1, not {momentum}")
        self.momentum, self.nesterov = momentum, nesterov
        self.velocity: Any = 0.0

    def step(self, x: np.ndarray, gradient: np.ndarray, learning_rate: float) -> np.ndarray:
        self.velocity = self.momentum * self.velocity + learning_rate * gradient
        if self.nesterov:
            return -(self.momentum * self.velocity + learning_rate * gradient)
        return -np.asarray(self.velocity)


class AdagradRule(Rule):
    """Adagrad: each coordinate divided by the root of its summed squared gradients.

    Parameters
    ----------
    alpha : float, default=1e-6
    """

    def __init__(self, alpha: float = 1e-6):
        self.alpha = alpha
        self.squares: Any = 0.0

    def step(self, x: np.ndarray, gradient: np.ndarray, learning_rate: float) -> np.ndarray:
        self.squares = self.squares + gradient**2
        return -learning_rate * gradient / (np.sqrt(self.squares) + self.alpha)


class RMSpropRule(AdagradRule):
    """RMSprop: Adagrad with a running mean of squares instead of their sum.

    Parameters
    ----------
    decay : float, default=0.9
    alpha : float, default=1e-6
    """

    def __init__(self, decay: float = 0.9, alpha: float = 1e-6):
        super().__init__(alpha)
        self.decay = decay

    def step(self, x: np.ndarray, gradient: np.ndarray, learning_rate: float) -> np.ndarray:
        self.squares = self.decay * self.squares + (1 - self.decay) * gradient**2
        return -learning_rate * gradient / (np.sqrt(self.squares) + self.alpha)


class AdamRule(Rule):
    """Adam; with ``weight_decay``, AdamW.

    Parameters
    ----------
    beta_1, beta_2 : float, default=0.9, 0.999
    epsilon : float, default=1e-8
    weight_decay : float, default=0.0
    """

    def __init__(
        self,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.weight_decay = weight_decay
        self.mean: Any = 0.0
        self.squares: Any = 0.0
        self.t = 0

    def step(self, x: np.ndarray, gradient: np.ndarray, learning_rate: float) -> np.ndarray:
        self.t += 1
        if gradient.dtype != np.float32:
            gradient = np.asarray(gradient, dtype=np.float64)
        if self.t == 1:
            self.mean, self.squares = np.zeros_like(gradient), np.zeros_like(gradient)
        step = np.empty_like(gradient)
        adam_step(
            gradient,
            self.beta_1,
            self.beta_2,
            self.epsilon,
            -learning_rate / (1 - self.beta_1**self.t),
            1 / (1 - self.beta_2**self.t),
            self.mean,
            self.squares,
            step,
        )
        return step - learning_rate * self.weight_decay * x if self.weight_decay else step


@kernel("f8|f4[:]", "f8", "f8", "f8", "f8", "f8", *["out f8|f4[:]"] * 3)
def adam_step(
    gradient: Any,
    beta_1: float,
    beta_2: float,
    epsilon: float,
    rate: float,
    unbiased: float,
    mean: Any,
    squares: Any,
    step: Any,
) -> None:
    """Write a step of Adam, and move both means: one pass over the parameters, all of shape (d,).

    The rate is minus the learning rate over 1 - beta_1^t; `unbiased` is 1 over 1 - beta_2^t.
    """
    number = gradient.dtype.type  # constants of the precision of the arrays
    keep_1, keep_2 = number(beta_1), number(beta_2)
    new_1, new_2 = number(1 - beta_1), number(1 - beta_2)
    small, factor, scale = number(epsilon), number(rate), number(unbiased)
    for i in range(len(gradient)):
        slope = gradient[i]
        mean[i] = keep_1 * mean[i] + new_1 * slope
        squares[i] = keep_2 * squares[i] + new_2 * (slope * slope)
        step[i] = factor * mean[i] / (np.sqrt(scale * squares[i]) + small)
