"""The exponential families of the texts: what each is made of, and how its members are named.

================== ============================= ======================================
family             S(x)                          usual parameters
================== ============================= ======================================
Normal             x, x^2                        mean, variance
NormalMean         x / variance                  mean (the variance is known)
MultivariateNormal x, x x'                       mean, covariance
Bernoulli          x                             probability
Categorical        one-hot of x                  probabilities
Multinomial        counts                        probabilities
Poisson            x                             rate
Geometric          x                             probability
Exponential        x                             rate
Gamma              log x, x                      shape, rate
InverseGamma       log x, 1/x                    shape, scale
ChiSquared         log x                         degrees
Beta               log x, log(1-x)               a, b
Dirichlet          log x                         alpha
Laplace            \\|x - centre\\|                scale (the centre is known)
Wishart            log det X, X                  degrees, scale
Mallows            -distance(x, centre)          spread (the central ranking is known)
================== ============================= ======================================

Texts: 002 "Exponential family models" (the catalogue) · 003 3.2 (categorical, normal) · 000a 4.4 ·
001 18.3. 002 prints the normal density with sqrt(2 pi sigma), and without the power d; 003 calls
the variance with n - 1 maximum likelihood: it is not, n is (`ddof` of `Normal.fit_unbiased`).
"""

from __future__ import annotations

from gnomon.density.count_families import Bernoulli, Categorical, Geometric, Multinomial, Poisson
from gnomon.density.exponential_family import ExponentialFamily
from gnomon.density.matrix_families import Mallows, Wishart
from gnomon.density.normal_families import MultivariateNormal, Normal, NormalMean
from gnomon.density.parameter_checks import simplex
from gnomon.density.positive_families import (
    Beta,
    ChiSquared,
    Dirichlet,
    Exponential,
    Gamma,
    InverseGamma,
    Laplace,
)

__all__ = [
    "FAMILIES",
    "Bernoulli",
    "Beta",
    "Categorical",
    "ChiSquared",
    "Dirichlet",
    "Exponential",
    "Gamma",
    "Geometric",
    "InverseGamma",
    "Laplace",
    "Mallows",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "NormalMean",
    "Poisson",
    "Wishart",
    "simplex",
]

FAMILIES: dict[str, type[ExponentialFamily]] = {
    "normal": Normal,
    "bernoulli": Bernoulli,
    "poisson": Poisson,
    "geometric": Geometric,
    "exponential": Exponential,
    "gamma": Gamma,
    "inverse-gamma": InverseGamma,
    "beta": Beta,
}
