"""Gradient descent: x <- x - eta grad f(x), and its relatives with memory.

A fixed learning rate converges on f = a x^2 / 2 only for 0 < eta a < 2; at eta a = 2 it jumps
between two points for ever, which is recognized and reported. Rules with momentum or a rate per
coordinate (`gnomon.optimize.rules`) and schedules of the rate are parameters.

Texts: 000a 2.1.3 · 000c 16.4.4 · 001 5.2.2 · 002 "Gradient descent" · 003 4.1.5 · 004 9.2.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.optimize.optimizer import Failed, Optimizer, Run, Search, optimizer
from gnomon.optimize.rules import AdagradRule, AdamRule, MomentumRule, RMSpropRule, Rule
from gnomon.optimize.space import Space

REVERSALS = 10  # steps of reversed gradients of no smaller size that count as oscillation
DIVERGED = 1e10  # growth of the gradient that counts as divergence


class RuleDescent(Optimizer):
    """Descent by an update rule; a class gives ``_rule()``."""

    uses = "gradient"
    real_only = True
    learning_rate: float
    schedule: Callable[[int], float] | None
    tol: float
    max_iter: int

    def _rule(self) -> Rule:
        return Rule()

    def _search(self, run: Run) -> Search:
        x, rule = run.start(), self._rule()
        rate, last, reversals, size_0 = self.learning_rate, None, 0, None
        if not rate > 0:
            raise DataError(f"learning_rate must be above 0, not {rate}")
        for epoch in range(self.max_iter):
            value, gradient = yield from run.slope(x)
            run.moved(x, value)
            size = float(np.linalg.norm(gradient))
            size_0 = size if size_0 is None else size_0
            if projected_size(run.space, x, gradient) <= self.tol:
                return f"the gradient is below tol ({self.tol:g})"
            if not np.isfinite(size) or size > DIVERGED * max(size_0, 1.0):
                return Failed(f"diverges: the gradient grew to {size:.3g}; decrease learning_rate")
            if last is not None and reverses(last, gradient):
                reversals += 1
                if reversals == REVERSALS:
                    return Failed("oscillates without progress; decrease learning_rate")
            else:
                reversals = 0
            if self.schedule is not None:
                new = float(self.schedule(epoch))
                if new != rate:
                    run.change("learning rate", rate, new, f"schedule at step {epoch}")
                rate = new
            x = bounded(run.space, x + rule.step(x, gradient, rate))
            last = gradient
        return Failed(f"used max_iter={self.max_iter} steps")


@optimizer("gradient-descent", "000a 2.1.3, 001 5.2.2, 002, 003 4.1.5, 004 9.2.1", "gd")
class GradientDescent(RuleDescent):
    """Batch gradient descent with a fixed learning rate or a schedule.

    Parameters
    ----------
    learning_rate : float, default=0.1
    schedule : callable, default=None
        The rate of each step; see `gnomon.optimize.schedules`.
    tol : float, default=1e-8
        Stop where the gradient is no longer than this.
    max_iter : int, default=100000

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> found = minimize(lambda x: x @ x, [1.0], GradientDescent(1.0), jac=lambda x: 2 * x)
    >>> found.message
    'oscillates without progress; decrease learning_rate'
    """

    def __init__(
        self,
        learning_rate: float = 0.1,
        *,
        schedule: Callable[[int], float] | None = None,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ):
        self.learning_rate, self.schedule = learning_rate, schedule
        self.tol, self.max_iter = tol, max_iter


@optimizer("momentum", "000c 16.4.4", "nesterov", "nag")
class Momentum(GradientDescent):
    """Gradient descent with momentum, also in Nesterov's form.

    Parameters
    ----------
    learning_rate : float, default=0.1
    momentum : float, default=0.9
    nesterov : bool, default=False
    schedule : callable, default=None
    tol : float, default=1e-8
    max_iter : int, default=100000
    """

    def __init__(
        self,
        learning_rate: float = 0.1,
        momentum: float = 0.9,
        *,
        nesterov: bool = False,
        schedule: Callable[[int], float] | None = None,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ):
        super().__init__(learning_rate, schedule=schedule, tol=tol, max_iter=max_iter)
        self.momentum, self.nesterov = momentum, nesterov

    def _rule(self) -> Rule:
        return MomentumRule(self.momentum, self.nesterov)


@optimizer("adagrad", "000c 16.4.4")
class Adagrad(GradientDescent):
    """Gradient descent with a rate per coordinate that falls with its summed squared gradients.

    Parameters
    ----------
    learning_rate : float, default=0.1
    alpha : float, default=1e-6
    schedule : callable, default=None
    tol : float, default=1e-8
    max_iter : int, default=100000
    """

    def __init__(
        self,
        learning_rate: float = 0.1,
        alpha: float = 1e-6,
        *,
        schedule: Callable[[int], float] | None = None,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ):
        super().__init__(learning_rate, schedule=schedule, tol=tol, max_iter=max_iter)
        self.alpha = alpha

    def _rule(self) -> Rule:
        return AdagradRule(self.alpha)


@optimizer("rmsprop", "000c 16.4.4")
class RMSprop(GradientDescent):
    """Gradient descent with each coordinate divided by its running root mean square.

    Parameters
    ----------
    learning_rate : float, default=0.1
    decay : float, default=0.9
    alpha : float, default=1e-6
    schedule : callable, default=None
    tol : float, default=1e-8
    max_iter : int, default=100000
    """

    def __init__(
        self,
        learning_rate: float = 0.1,
        decay: float = 0.9,
        alpha: float = 1e-6,
        *,
        schedule: Callable[[int], float] | None = None,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ):
        super().__init__(learning_rate, schedule=schedule, tol=tol, max_iter=max_iter)
        self.decay, self.alpha = decay, alpha

    def _rule(self) -> Rule:
        return RMSpropRule(self.decay, self.alpha)


@optimizer("adam", "000c 16.4.4", "adamw")
class Adam(GradientDescent):
    """Adam: momentum and a rate per coordinate, both without start bias; AdamW with weight decay.

    Parameters
    ----------
    learning_rate : float, default=0.1
    beta_1, beta_2 : float, default=0.9, 0.999
    epsilon : float, default=1e-8
    weight_decay : float, default=0.0
        Above 0: AdamW.
    schedule : callable, default=None
    tol : float, default=1e-8
    max_iter : int, default=100000
    """

    def __init__(
        self,
        learning_rate: float = 0.1,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        *,
        weight_decay: float = 0.0,
        schedule: Callable[[int], float] | None = None,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ):
        super().__init__(learning_rate, schedule=schedule, tol=tol, max_iter=max_iter)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.weight_decay = weight_decay

    def _rule(self) -> Rule:
        return AdamRule(self.beta_1, self.beta_2, self.epsilon, self.weight_decay)


@optimizer("bold-driver", "004 9.2.1")
class BoldDriver(Optimizer):
    """Gradient descent that adapts its rate: grows it after a fall, shrinks it after a rise.

    After a step that lowers the function the rate is multiplied by ``rho``; a step that does not is
    undone and tried again with the rate times ``sigma`` until it does.

    Parameters
    ----------
    learning_rate : float, default=0.01
    rho : float, default=1.1
    sigma : float, default=0.5
    tol : float, default=1e-8
    max_iter : int, default=100000

    Examples
    --------
    >>> from gnomon.optimize import minimize
    >>> fun, jac = lambda w: (w[0] ** 2 + 25 * w[1] ** 2) / 2, lambda w: np.array([w[0], 25 * w[1]])
    >>> minimize(fun, [1.0, 1.0], BoldDriver(), jac=jac).success
    True
    """

    uses = "gradient"
    real_only = True

    def __init__(
        self,
        learning_rate: float = 0.01,
        rho: float = 1.1,
        sigma: float = 0.5,
        *,
        tol: float = 1e-8,
        max_iter: int = 100_000,
    ):
        if not (learning_rate > 0 and rho >= 1 and 0 < sigma < 1):
            raise DataError("the bold driver needs learning_rate > 0, rho >= 1 and 0 < sigma < 1")
        self.learning_rate, self.rho, self.sigma = learning_rate, rho, sigma
        self.tol, self.max_iter = tol, max_iter

    def _search(self, run: Run) -> Search:
        x, rate = run.start(), self.learning_rate
        value, gradient = yield from run.slope(x)
        run.moved(x, value)
        for _ in range(self.max_iter):
            if projected_size(run.space, x, gradient) <= self.tol:
                return f"the gradient is below tol ({self.tol:g})"
            trial = bounded(run.space, x - rate * gradient)
            new, slope = yield from run.slope(trial)
            while not new < value:
                smaller = rate * self.sigma
                if np.array_equal(bounded(run.space, x - smaller * gradient), x):
                    return "no smaller step lowers the function"
                run.change("learning rate", rate, smaller, "the function rose; step undone")
                rate = smaller
                trial = bounded(run.space, x - rate * gradient)
                new, slope = yield from run.slope(trial)
            x, value, gradient = trial, new, slope
            run.moved(x, value)
            run.change("learning rate", rate, rate * self.rho, "the function fell")
            rate *= self.rho
        return Failed(f"used max_iter={self.max_iter} steps")


def bounded(space: Space, x: np.ndarray) -> np.ndarray:
    """The nearest point within the bounds."""
    return np.minimum(np.maximum(x, space.low), space.high)


def projected_size(space: Space, x: np.ndarray, gradient: np.ndarray) -> float:
    """Length of the gradient without the parts that push against bounds."""
    blocked = ((x <= space.low) & (gradient > 0)) | ((x >= space.high) & (gradient < 0))
    return float(np.linalg.norm(np.where(blocked, 0.0, gradient)))


def reverses(last: np.ndarray, gradient: np.ndarray) -> bool:
    """Whether a gradient is opposite to the last one and no shorter."""
    size, before = np.linalg.norm(gradient), np.linalg.norm(last)
    return bool(gradient @ last < -0.999 * size * before and 0.9999 < size / before < 1.0001)
