"""Oracles: examples whose density, target, noise, Bayes rule and Bayes risk are known.

An oracle gives unlimited fresh rows, and says what no data set can: how well the best possible
rule does, and so how far a learner is from it. Texts: 004 3.2 (example oracle) · 001 learning
problem · 003 section 9 (generators).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr

from gnomon.engine.errors import DataError
from gnomon.table.table import Table


class Sample(NamedTuple):
    """Rows and labels that an oracle gave.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    """

    X: np.ndarray
    y: np.ndarray

    def to_table(self, target: str = "y") -> Table:
        """The rows as a table with columns x0, x1 ... and the target."""
        columns: dict[str, Any] = {f"x{j}": column for j, column in enumerate(self.X.T)}
        return Table.from_dict(columns | {target: self.y})


class Risk(NamedTuple):
    """An expected loss, and the standard error of its estimate (0 where it is exact)."""

    value: float
    error: float


class ClassOracle(ABC):
    """A source of labelled rows of which the probability of each class is known.

    Gives ``sample``, ``proba`` (the true p(y|x)), ``bayes_rule`` and ``bayes_risk`` (the least
    error rate that any classifier can have), and ``risk`` of any rule.
    """

    classes: np.ndarray

    @abstractmethod
    def _draw(self, n: int, rng: np.random.Generator) -> Sample: ...

    @abstractmethod
    def proba(self, X: Any) -> np.ndarray:
        """The true probability of each class at each row.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        proba : ndarray of shape (n, n_classes)
        """

    def sample(self, n: int, random_state: Any = None) -> Sample:
        """Fresh rows and their labels.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        sample : Sample
        """
        return self._draw(_checked_size(n), np.random.default_rng(random_state))

    def bayes_rule(self, X: Any) -> np.ndarray:
        """The most probable class at each row: no rule errs less often."""
        return self.classes[self.proba(X).argmax(axis=1)]

    def bayes_risk(self, n: int = 100_000, random_state: Any = 0) -> Risk:
        """Error rate of the Bayes rule: exact where there is a formula, else over fresh rows."""
        return self.risk(self.bayes_rule, n, random_state)

    def risk(
        self, rule: Callable[[np.ndarray], Any], n: int = 100_000, random_state: Any = 0
    ) -> Risk:
        """The error rate of a rule (such as ``model.predict``), with its standard error.

        The known p(y|x) is averaged over fresh rows instead of drawn labels, so that the error is
        smaller.

        Parameters
        ----------
        rule : callable
            Rows to labels.
        n : int
        random_state : int, Generator or None

        Returns
        -------
        risk : Risk
        """
        X = self.sample(n, random_state).X
        proba = self.proba(X)
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        codes = np.array([place.get(label, -1) for label in np.asarray(rule(X)).tolist()])
        right = np.where(codes >= 0, proba[np.arange(len(X)), codes], 0.0)
        losses = 1.0 - right
        return Risk(float(losses.mean()), float(losses.std(ddof=1) / math.sqrt(len(X))))


class Clouds(ClassOracle):
    """Normal clouds, one per class: p(x|k) = N(x; mean_k, sd^2 I).

    Parameters
    ----------
    means : array-like of shape (n_classes, d)
        Centres of the classes.
    sd : float
        Standard deviation of every cloud.
    weights : array-like of shape (n_classes,), optional
        Probabilities of the classes; equal if left out.

    Examples
    --------
    >>> from gnomon.table import Clouds
    >>> clouds = Clouds([[0.0, 0.0], [2.0, 0.0]])
    >>> clouds.bayes_risk().value.__round__(6)
    0.158655
    >>> clouds.sample(5, random_state=0).X.shape
    (5, 2)
    """

    def __init__(self, means: Any, sd: float = 1.0, weights: Any = None):
        self.means = np.atleast_2d(np.asarray(means, dtype=np.float64))
        if sd <= 0:
            raise DataError(f"sd must be positive, not {sd!r}")
        self.sd = float(sd)
        k = len(self.means)
        self.weights = np.full(k, 1 / k) if weights is None else np.asarray(weights, dtype=float)
        if self.weights.shape != (k,) or self.weights.min() <= 0:
            raise DataError(f"weights must be {k} positive numbers, one per class")
        self.weights = self.weights / self.weights.sum()
        self.classes = np.arange(k)

    def _draw(self, n: Any, rng: Any) -> Any:
        y = rng.choice(len(self.means), size=n, p=self.weights)
        return Sample(self.means[y] + self.sd * rng.standard_normal((n, self.means.shape[1])), y)

    def _log_joint(self, X: Any) -> np.ndarray:
        X = _checked_rows(X, self.means.shape[1])
        squares = ((X[:, np.newaxis, :] - self.means) ** 2).sum(axis=2)
        norm = self.means.shape[1] * math.log(self.sd * math.sqrt(2 * math.pi))
        return np.log(self.weights) - squares / (2 * self.sd**2) - norm

    def proba(self, X: Any) -> Any:
        joint = self._log_joint(X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def log_density(self, X: Any) -> np.ndarray:
        """Logarithm of the density of the rows, whatever their class."""
        return logsumexp(self._log_joint(X), axis=1)

    def bayes_risk(self, n: Any = 100_000, random_state: Any = 0) -> Any:
        if len(self.means) != 2:
            return super().bayes_risk(n, random_state)
        gap = float(np.linalg.norm(self.means[1] - self.means[0])) / self.sd
        first, second = self.weights
        if gap == 0:
            return Risk(float(min(first, second)), 0.0)
        shift = math.log(first / second) / gap
        risk = first * ndtr(-gap / 2 - shift) + second * ndtr(-gap / 2 + shift)
        return Risk(float(risk), 0.0)


class NoisyCurves(ClassOracle):
    """Classes along curves in the plane: x = curve_k(t) + normal noise, t uniform in (0, 1).

    The density of a class is the mean of normal densities along its curve, computed at many
    points of it; so p(y|x) and the Bayes risk are known. `spirals` and `moons` are made of it.

    Parameters
    ----------
    curves : list of callable
        Positions t of shape (n,) in (0, 1) to points of shape (n, 2), one per class.
    noise : float
        Standard deviation of the noise, positive.
    points : int
        Points along each curve at which the density is summed.
    """

    def __init__(self, curves: list[Callable[..., Any]], noise: float, points: int = 400):
        if noise <= 0:
            raise DataError(
                f"noise must be positive for the classes to have a density, not {noise!r}"
            )
        self.curves = list(curves)
        self.noise = float(noise)
        self.points = points
        self.classes = np.arange(len(self.curves))

    def _draw(self, n: Any, rng: Any) -> Any:
        y = rng.integers(len(self.curves), size=n)
        t = rng.random(n)
        X = np.empty((n, 2))
        for code, curve in enumerate(self.curves):
            X[y == code] = curve(t[y == code])
        return Sample(X + self.noise * rng.standard_normal((n, 2)), y)

    def _log_joint(self, X: Any) -> np.ndarray:
        X = _checked_rows(X, 2)
        line = (np.arange(self.points) + 0.5) / self.points
        joint = np.empty((len(X), len(self.curves)))
        for code, curve in enumerate(self.curves):
            along = curve(line)
            for start in range(0, len(X), 1000):
                rows = X[start : start + 1000]
                squares = ((rows[:, np.newaxis, :] - along) ** 2).sum(axis=2)
                inside = logsumexp(-squares / (2 * self.noise**2), axis=1)
                joint[start : start + 1000, code] = inside
        constant = math.log(self.points * len(self.curves) * 2 * math.pi * self.noise**2)
        return joint - constant

    def proba(self, X: Any) -> Any:
        joint = self._log_joint(X)
        return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))

    def log_density(self, X: Any) -> np.ndarray:
        """Logarithm of the density of the rows, whatever their class."""
        return logsumexp(self._log_joint(X), axis=1)

    def bayes_risk(self, n: Any = 20_000, random_state: Any = 0) -> Any:
        return super().bayes_risk(n, random_state)


def spirals(n_classes: int = 2, turns: float = 1.5, noise: float = 0.05) -> NoisyCurves:
    """Spirals wound into each other: a hard problem for any straight border.

    Parameters
    ----------
    n_classes : int
    turns : float
        Windings of each arm.
    noise : float
        Standard deviation around the arms, whose length from the centre is 1.

    Returns
    -------
    oracle : NoisyCurves

    Examples
    --------
    >>> from gnomon.table import spirals
    >>> spirals(3).sample(6, random_state=0).X.shape
    (6, 2)
    """

    def arm(code: int) -> Callable[..., Any]:
        def curve(t: np.ndarray) -> np.ndarray:
            radius = np.sqrt(0.02 + 0.98 * t)
            angle = 2 * np.pi * (turns * radius + code / n_classes)
            return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

        return curve

    return NoisyCurves([arm(code) for code in range(n_classes)], noise)


def moons(noise: float = 0.1) -> NoisyCurves:
    """Two half circles that reach into each other.

    Parameters
    ----------
    noise : float
        Standard deviation around the half circles of radius 1.

    Returns
    -------
    oracle : NoisyCurves

    Examples
    --------
    >>> from gnomon.table import moons
    >>> 0 < moons(0.3).bayes_risk(2000).value < 0.2
    True
    """

    def upper(t: np.ndarray) -> np.ndarray:
        return np.column_stack([np.cos(np.pi * t), np.sin(np.pi * t)])

    def lower(t: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - np.cos(np.pi * t), 0.5 - np.sin(np.pi * t)])

    return NoisyCurves([upper, lower], noise)


class KnownClasses(ClassOracle):
    """Classes 0 and 1 with a given probability of 1: any p(x), any rows.

    Parameters
    ----------
    probability : callable
        Rows of shape (n, d) to the probability of class 1.
    d : int
        Number of columns; rows are uniform in the cube between ``low`` and ``high``.
    low, high : float
        Sides of the cube.

    Examples
    --------
    >>> from gnomon.table import KnownClasses
    >>> coin = KnownClasses(lambda X: 0.8 + 0 * X[:, 0], d=1)
    >>> round(coin.bayes_risk().value, 6)
    0.2
    """

    def __init__(
        self, probability: Callable[..., Any], d: int, low: float = 0.0, high: float = 1.0
    ):
        self.probability = probability
        self.d = d
        self.low, self.high = float(low), float(high)
        self.classes = np.arange(2)

    def _draw(self, n: Any, rng: Any) -> Any:
        X = rng.uniform(self.low, self.high, (n, self.d))
        return Sample(X, (rng.random(n) < self.proba(X)[:, 1]).astype(np.int64))

    def proba(self, X: Any) -> Any:
        one = np.asarray(self.probability(_checked_rows(X, self.d)), dtype=np.float64)
        if one.min(initial=0) < 0 or one.max(initial=1) > 1:
            raise DataError("probability must give numbers between 0 and 1")
        return np.column_stack([1 - one, one])


class FunctionOracle:
    """A known function plus normal noise: y = f(x) + noise, rows uniform in a cube.

    The best prediction is f itself; its risk (mean squared error) is the variance of the noise.

    Parameters
    ----------
    f : callable
        Rows of shape (n, d) to numbers of shape (n,).
    d : int
        Number of columns.
    noise : float
        Standard deviation of the noise.
    low, high : float
        Sides of the cube that the rows are drawn from.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.table import FunctionOracle
    >>> wave = FunctionOracle(lambda X: np.sin(X[:, 0]), d=1, noise=0.5, high=6.0)
    >>> wave.bayes_risk()
    Risk(value=0.25, error=0.0)
    >>> wave.sample(3, random_state=0).y.shape
    (3,)
    """

    def __init__(
        self, f: Callable[..., Any], d: int, noise: float = 0.1, low: float = 0.0, high: float = 1.0
    ):
        if noise < 0:
            raise DataError(f"noise must be zero or more, not {noise!r}")
        self.f = f
        self.d = d
        self.noise = float(noise)
        self.low, self.high = float(low), float(high)

    def sample(self, n: int, random_state: Any = None) -> Sample:
        """Fresh rows and their numbers.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        sample : Sample
        """
        rng = np.random.default_rng(random_state)
        X = rng.uniform(self.low, self.high, (_checked_size(n), self.d))
        return Sample(X, self.target(X) + self.noise * rng.standard_normal(n))

    def target(self, X: Any) -> np.ndarray:
        """The true f at each row: the best prediction there is."""
        return np.asarray(self.f(_checked_rows(X, self.d)), dtype=np.float64)

    def bayes_risk(self) -> Risk:
        """The mean squared error of f itself: the variance of the noise, exactly."""
        return Risk(self.noise**2, 0.0)

    def risk(
        self, rule: Callable[[np.ndarray], Any], n: int = 100_000, random_state: Any = 0
    ) -> Risk:
        """The mean squared error of a rule (such as ``model.predict``), with its standard error.

        Parameters
        ----------
        rule : callable
            Rows to numbers.
        n : int
        random_state : int, Generator or None

        Returns
        -------
        risk : Risk
        """
        X = self.sample(n, random_state).X
        losses = (np.asarray(rule(X), dtype=np.float64) - self.target(X)) ** 2
        error = float(losses.std(ddof=1) / math.sqrt(n))
        return Risk(float(losses.mean()) + self.noise**2, error)


def friedman(noise: float = 1.0) -> FunctionOracle:
    """Friedman's function of ten columns, five of which matter.

    f(x) = 10 sin(pi x0 x1) + 20 (x2 - 1/2)^2 + 10 x3 + 5 x4.

    Parameters
    ----------
    noise : float

    Returns
    -------
    oracle : FunctionOracle

    Examples
    --------
    >>> from gnomon.table import friedman
    >>> friedman().target([[0.5] * 10]).round(6)
    array([14.571068])
    """

    def f(X: np.ndarray) -> np.ndarray:
        waves = 10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        return waves + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]

    return FunctionOracle(f, 10, noise)


class SwissRoll:
    """A sheet rolled up in space: (t cos t, h, t sin t), plus noise; its own coordinates are known.

    Parameters
    ----------
    noise : float
        Standard deviation around the sheet.
    turns : float
        How often it is rolled; t runs from 1.5 pi on.
    height : float
        Width of the sheet.

    Examples
    --------
    >>> from gnomon.table import SwissRoll
    >>> roll = SwissRoll(noise=0.0)
    >>> rows, sheet = roll.sample(4, random_state=0)
    >>> bool(abs(roll.embed(sheet) - rows).max() < 1e-12)
    True
    """

    def __init__(self, noise: float = 0.0, turns: float = 1.5, height: float = 21.0):
        if noise < 0:
            raise DataError(f"noise must be zero or more, not {noise!r}")
        self.noise = float(noise)
        self.turns = float(turns)
        self.height = float(height)

    def sample(self, n: int, random_state: Any = None) -> Sample:
        """Rows in space, and in ``y`` their true coordinates (t, h) on the sheet.

        Rows are uniform in t and h, as is usual for this set; denser, per area, near the axis.

        Parameters
        ----------
        n : int
        random_state : int, Generator or None

        Returns
        -------
        sample : Sample
            ``y`` has shape (n, 2).
        """
        rng = np.random.default_rng(random_state)
        t = 1.5 * np.pi + 2 * np.pi * self.turns * rng.random(_checked_size(n))
        sheet = np.column_stack([t, self.height * rng.random(n)])
        return Sample(self.embed(sheet) + self.noise * rng.standard_normal((n, 3)), sheet)

    def embed(self, sheet: Any) -> np.ndarray:
        """Points in space of coordinates (t, h) on the sheet."""
        t, h = np.asarray(sheet, dtype=np.float64).T
        return np.column_stack([t * np.cos(t), h, t * np.sin(t)])

    def flat(self, sheet: Any) -> np.ndarray:
        """The sheet unrolled: arc length and height, in which straight distances are true ones."""
        t, h = np.asarray(sheet, dtype=np.float64).T
        start = 1.5 * np.pi
        return np.column_stack([_arc(t) - _arc(np.array(start)), h])


def _arc(t: np.ndarray) -> np.ndarray:
    """Length of the spiral (t cos t, t sin t) from 0 to t."""
    return (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2


def _checked_size(n: int) -> int:
    if n < 1 or int(n) != n:
        raise DataError(f"n must be a whole number of rows, 1 or more, not {n!r}")
    return int(n)


def _checked_rows(X: Any, d: int) -> np.ndarray:
    rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != d:
        raise DataError(f"rows must have {d} columns, not the shape {rows.shape}")
    return rows
