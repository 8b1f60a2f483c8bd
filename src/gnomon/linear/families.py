"""Families and links of generalised linear models.

A family says how the variance of the target depends on its mean, and what its deviance is; a link
g makes the mean linear, g(mean) = x b. Texts: 000 11.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from gnomon.optimize.losses import logistic


@dataclass(frozen=True)
class Link:
    """A link: the mean to the linear predictor, its inverse, and the inverse's slope."""

    name: str
    predictor: Callable[[np.ndarray], np.ndarray]
    mean: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    parameter: float = 0.0

    def __reduce__(self):
        return link_of, (self.name, self.parameter)


def _cloglog_mean(f):
    return -np.expm1(-np.exp(f))


LINKS = {
    "identity": Link("identity", lambda m: m, lambda f: f, np.ones_like),
    "log": Link("log", np.log, np.exp, np.exp),
    "logit": Link("logit", special.logit, logistic, lambda f: logistic(f) * logistic(-f)),
    "probit": Link(
        "probit", special.ndtri, special.ndtr, lambda f: np.exp(-(f**2) / 2) / np.sqrt(2 * np.pi)
    ),
    "cloglog": Link(
        "cloglog", lambda m: np.log(-np.log1p(-m)), _cloglog_mean, lambda f: np.exp(f - np.exp(f))
    ),
    "inverse": Link("inverse", lambda m: 1 / m, lambda f: 1 / f, lambda f: -1 / f**2),
    "inverse squared": Link(
        "inverse squared", lambda m: m**-2.0, lambda f: f**-0.5, lambda f: -0.5 * f**-1.5
    ),
    "sqrt": Link("sqrt", np.sqrt, lambda f: f**2, lambda f: 2 * f),
}


def negative_binomial_link(overdispersion: float) -> Link:
    """The canonical link of the negative binomial family: log(a m / (1 + a m))."""

    def mean(f):
        return 1 / (overdispersion * np.expm1(-f))

    return Link(
        "negative binomial",
        lambda m: -np.log1p(1 / (overdispersion * m)),
        mean,
        lambda f: mean(f) * (1 + overdispersion * mean(f)),
        overdispersion,
    )


LINK_NAMES = {*LINKS, "negative binomial"}


def link_of(name: str, parameter: float = 0.0) -> Link:
    """The link of a name, with its overdispersion where it has one."""
    return negative_binomial_link(parameter) if name == "negative binomial" else LINKS[name]


@dataclass(frozen=True)
class Family:
    """A family of distributions with variance ``dispersion * variance(mean)``.

    Attributes
    ----------
    name, link : str
        Its name and its usual link.
    low, high : float
        Between which the mean lies.
    target : str
        What the target must be, in words.
    lowest : float
        The lowest possible target, which is allowed where ``closed``.
    closed : bool
    dispersed : bool
        Whether the dispersion is estimated; it is one else.
    variance : callable
        Variance of the mean.
    deviance : callable
        Of target and mean, per row.
    log_density : callable or None
        Of target, mean and dispersion, per row; None where it has no closed form.
    parameter : float
        Overdispersion or power, where the family has one.
    """

    name: str
    link: str
    low: float
    high: float
    target: str
    lowest: float
    closed: bool
    dispersed: bool
    variance: Callable[[np.ndarray], np.ndarray]
    deviance: Callable[[np.ndarray, np.ndarray], np.ndarray]
    log_density: Callable[[np.ndarray, np.ndarray, float], np.ndarray] | None
    parameter: float = 0.0

    def __reduce__(self):
        return family_of, (self.name, self.parameter)

    def outside(self, low: float, high: float) -> bool:
        """Whether targets between low and high break its range."""
        too_low = low < self.lowest or (low == self.lowest and not self.closed)
        return too_low or high > self.high

    def valid(self, mean: np.ndarray) -> bool:
        """Whether all means are inside their range (ends of a probability allowed)."""
        if not np.isfinite(mean).all():
            return False
        if self.name == "binomial":
            return bool((mean >= 0).all() and (mean <= 1).all())
        return bool((mean > self.low).all())


def _gaussian_density(y, mean, dispersion):
    return -0.5 * ((y - mean) ** 2 / dispersion + np.log(2 * np.pi * dispersion))


def _binomial_deviance(y, mean):
    return -2 * _binomial_density(y, mean, 1.0) - 2 * (special.entr(y) + special.entr(1 - y))


def _binomial_density(y, mean, dispersion):
    return special.xlogy(y, mean) + special.xlog1py(1 - y, -mean)


def _poisson_deviance(y, mean):
    ratio = y / mean
    # of a target of zero y log(y / mean) is zero; NumPy takes many logarithms at a time
    return 2 * (y * np.log(np.where(ratio > 0, ratio, 1.0)) - y + mean)


def _poisson_density(y, mean, dispersion):
    return special.xlogy(y, mean) - mean - special.gammaln(y + 1)


def _gamma_deviance(y, mean):
    return 2 * (y / mean - 1 - np.log(y / mean))


def _gamma_density(y, mean, dispersion):
    shape = 1 / dispersion
    scaled = shape * y / mean
    return shape * np.log(scaled) - scaled - np.log(y) - special.gammaln(shape)


def _inverse_gaussian_deviance(y, mean):
    return (y - mean) ** 2 / (mean**2 * y)


def _inverse_gaussian_density(y, mean, dispersion):
    square = _inverse_gaussian_deviance(y, mean) / dispersion
    return -0.5 * (square + np.log(2 * np.pi * dispersion * y**3))


def negative_binomial(overdispersion: float) -> Family:
    """Counts of variance mean + overdispersion mean^2."""
    shape = 1 / overdispersion

    def deviance(y, mean):
        return 2 * (special.xlogy(y, y / mean) - (y + shape) * np.log((y + shape) / (mean + shape)))

    def density(y, mean, dispersion):
        choose = special.gammaln(y + shape) - special.gammaln(shape) - special.gammaln(y + 1)
        total = mean + shape
        return choose + special.xlogy(y, mean / total) + shape * np.log(shape / total)

    return Family(
        "negative binomial",
        "log",
        0.0,
        np.inf,
        "zero or more",
        0.0,
        True,
        False,
        lambda mean: mean + overdispersion * mean**2,
        deviance,
        density,
        overdispersion,
    )


def tweedie(power: float) -> Family:
    """Variance dispersion * mean^power: power below 0, from 1 (zeros too) to 2, or above 2."""

    def deviance(y, mean):
        if power in (1, 2):
            return _poisson_deviance(y, mean) if power == 1 else _gamma_deviance(y, mean)
        first = np.maximum(y, 0.0) ** (2 - power) / ((1 - power) * (2 - power))
        second = y * mean ** (1 - power) / (1 - power)
        return 2 * (first - second + mean ** (2 - power) / (2 - power))

    return Family(
        "tweedie",
        "log",
        0.0,
        np.inf,
        "above zero" if power >= 2 else "zero or more" if power > 0 else "a number",
        0.0 if power > 0 else -np.inf,
        power < 2,
        True,
        lambda mean: mean**power,
        deviance,
        None,
        power,
    )


FAMILIES = {
    "gaussian": Family(
        "gaussian",
        "identity",
        -np.inf,
        np.inf,
        "a number",
        -np.inf,
        True,
        True,
        np.ones_like,
        lambda y, mean: (y - mean) ** 2,
        _gaussian_density,
    ),
    "binomial": Family(
        "binomial",
        "logit",
        0.0,
        1.0,
        "between 0 and 1 (a share of successes)",
        0.0,
        True,
        False,
        lambda mean: mean * (1 - mean),
        _binomial_deviance,
        _binomial_density,
    ),
    "poisson": Family(
        "poisson",
        "log",
        0.0,
        np.inf,
        "zero or more (a count)",
        0.0,
        True,
        False,
        lambda mean: mean,
        _poisson_deviance,
        _poisson_density,
    ),
    "gamma": Family(
        "gamma",
        "log",
        0.0,
        np.inf,
        "above zero",
        0.0,
        False,
        True,
        lambda mean: mean**2,
        _gamma_deviance,
        _gamma_density,
    ),
    "inverse gaussian": Family(
        "inverse gaussian",
        "log",
        0.0,
        np.inf,
        "above zero",
        0.0,
        False,
        True,
        lambda mean: mean**3,
        _inverse_gaussian_deviance,
        _inverse_gaussian_density,
    ),
}


def family_of(name: str, parameter: float) -> Family:
    """The family of a name, with its overdispersion or power where it has one."""
    made = {"negative binomial": negative_binomial, "tweedie": tweedie}
    return made[name](parameter) if name in made else FAMILIES[name]


def newton_weights(family: Family, link: Link, predictor, mean, y, weights):
    """Derivatives of half the deviance: the score's factor, and the information's."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if family.name == "poisson" and link.name == "log":  # slope and variance are the mean
            return weights * (y - mean), weights * mean
        slope = link.slope(predictor)
        variance = family.variance(mean)
        share = np.where(variance > 0, slope / np.where(variance > 0, variance, 1.0), 0.0)
        residual = y - mean
        if family.name == "binomial" and link.name == "logit":
            share = np.ones_like(slope)
        return weights * share * residual, weights * share * slope
