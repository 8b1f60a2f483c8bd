"""The posterior of one or two parameters on a grid, with the evidence; maximum a posteriori.

    posterior(t) = prod_i p(x_i | t) q(t) / evidence,   evidence = integral of the numerator

by the trapezoidal rule: exact enough for one or two parameters, whatever the likelihood and the
prior. For more parameters use conjugate forms (`gnomon.bayes.posteriors`) or a chain.

The maximum of the posterior is a penalised maximum likelihood: the log prior is the penalty. With
normal noise of variance s2, a normal prior of variance t2 is ridge regression with penalty s2 / t2,
and a Laplace prior of scale b the lasso with penalty 2 s2 / b on the squared error (see
`ridge_penalty`, `lasso_penalty`).

Texts: 002 "Posterior", "MAP" (L6633-6770).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from gnomon.contract.estimate import Estimate, finite_column
from gnomon.contract.result import Result
from gnomon.density.distributions import LikelihoodFit, likelihood_fit
from gnomon.density.draws import as_generator
from gnomon.engine.errors import DataError, GnomonWarning

# Judgement: a bell is at 1e-4 of its peak 4.3 deviations away, where 2e-5 of it is cut off.
CUT_OFF = 1e-4


@dataclass(repr=False, eq=False)
class GridPosterior(Result):
    """A posterior on a grid of one or two parameters.

    Attributes
    ----------
    axes : dict of str to ndarray
        The values of each parameter.
    density : ndarray
        Posterior density at the crossings of the axes.
    log_evidence : float
        log p(x): the numerator of Bayes' rule integrated over the grid. Differences between models
        of the same data are log Bayes factors.
    """

    axes: dict[str, np.ndarray]
    density: np.ndarray
    log_evidence: float

    @property
    def mass(self) -> np.ndarray:
        """Probability that belongs to each crossing."""
        mass = self.density * _weights(self.axes)
        return mass / mass.sum()

    @property
    def mode(self) -> dict[str, float]:
        """The crossing of the highest density."""
        best = np.unravel_index(int(self.density.argmax()), self.density.shape)
        return {name: float(axis[i]) for (name, axis), i in zip(self.axes.items(), best)}

    def expectation(self, function: Callable[..., Any]) -> Any:
        """Posterior expectation of a function of the parameters.

        Parameters
        ----------
        function : callable
            Of the parameters, in the order of the axes; a number or an array.

        Returns
        -------
        expectation : float or ndarray
        """
        mass = self.mass.ravel()
        held = mass > 1e-15 * mass.max()
        points = _points(self.axes)[held]
        values = np.array([function(*point) for point in points])
        found = np.tensordot(mass[held], values, axes=1)
        return float(found) if np.ndim(found) == 0 else found

    @property
    def mean(self) -> dict[str, float]:
        """Posterior mean of each parameter."""
        return {name: float(axis @ self._share(name)) for name, axis in self.axes.items()}

    @property
    def variance(self) -> dict[str, float]:
        """Posterior variance of each parameter."""
        mean = self.mean
        return {
            name: float((axis - mean[name]) ** 2 @ self._share(name))
            for name, axis in self.axes.items()
        }

    def marginal(self, name: str) -> np.ndarray:
        """Posterior density of one parameter at its values, the other integrated out."""
        self._require(name)
        if len(self.axes) == 1:
            return self.density
        place = list(self.axes).index(name)
        other = list(self.axes.values())[1 - place]
        return np.trapezoid(self.density, other, axis=1 - place)

    def interval(self, name: str, confidence_level: float = 0.95) -> Estimate:
        """Credible interval of one parameter, equal tails.

        Parameters
        ----------
        name : str
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
        """
        axis, line = self.axes[name], self.marginal(name)
        steps = np.diff(axis) * (line[1:] + line[:-1]) / 2
        cumulated = np.concatenate([[0.0], np.cumsum(steps)])
        low, high = np.interp(
            [(1 - confidence_level) / 2, (1 + confidence_level) / 2],
            cumulated / cumulated[-1],
            axis,
        )
        error = float(np.sqrt(self.variance[name]))
        return Estimate(
            self.mean[name], float(low), float(high), confidence_level, error, "credible"
        )

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Draws of the crossings, of shape (n, n_parameters)."""
        mass = self.mass.ravel()
        return _points(self.axes)[as_generator(random_state).choice(len(mass), n, p=mass)]

    def _share(self, name: str) -> np.ndarray:
        self._require(name)
        place = list(self.axes).index(name)
        return self.mass.sum(axis=tuple(i for i in range(len(self.axes)) if i != place))

    def _require(self, name: str) -> None:
        if name not in self.axes:
            raise DataError(f"there is no parameter {name!r}; there are {', '.join(self.axes)}")

    def _title(self):
        return f"Posterior on a grid: log evidence {self.log_evidence:.6g}"

    def _columns(self):
        return {
            "parameter": list(self.axes),
            "mode": [self.mode[name] for name in self.axes],
            "mean": [self.interval(name) for name in self.axes],
        }


def posterior_grid(
    log_likelihood: Callable[..., float],
    axes: Mapping[str, ArrayLike],
    log_prior: Callable[..., float] | None = None,
) -> GridPosterior:
    """The posterior of one or two parameters on a grid, any likelihood and any prior.

    Parameters
    ----------
    log_likelihood : callable
        ``log_likelihood(t)`` or ``log_likelihood(t, u)``: log of p(all data | parameters).
    axes : mapping of str to array-like
        Rising values of each parameter, wide enough to hold the posterior (a warning says where
        they are not).
    log_prior : callable, default=None
        Of the same parameters, a normalised log density where the evidence is to mean something;
        flat by default: one over the area of the grid.

    Returns
    -------
    posterior : GridPosterior

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> x = np.array([4, 5.5, 3.2, 6.1])
    >>> found = posterior_grid(
    ...     lambda m: stats.norm.logpdf(x, m, 1.5).sum(),
    ...     {"mean": np.linspace(-5, 15, 801)},
    ...     lambda m: stats.norm.logpdf(m, 2, 5),
    ... )
    >>> round(found.mean["mean"], 4), round(found.variance["mean"], 4)
    (4.6406, 0.5501)
    """
    grid = {name: finite_column(values, name) for name, values in axes.items()}
    if len(grid) not in (1, 2):
        raise DataError(
            f"a grid has one or two parameters, not {len(grid)}: use a conjugate form or a chain"
        )
    for name, axis in grid.items():
        if len(axis) < 3 or not (np.diff(axis) > 0).all():
            raise DataError(f"the values of {name!r} must rise, and be three or more")
    points = _points(grid)
    shape = tuple(len(axis) for axis in grid.values())
    area = float(np.prod([axis[-1] - axis[0] for axis in grid.values()]))
    logs = np.array([float(log_likelihood(*point)) for point in points])
    if log_prior is None:
        logs -= np.log(area)
    else:
        logs += np.array([float(log_prior(*point)) for point in points])
    if np.isnan(logs).any() or logs.max() == np.inf:
        at = points[int(np.argmax(~(logs < np.inf)))]
        raise DataError(f"likelihood times prior is undefined or infinite at {at.tolist()}")
    if logs.max() == -np.inf:
        raise DataError("likelihood times prior is zero on the whole grid")
    with np.errstate(divide="ignore"):
        log_evidence = float(logsumexp(logs + np.log(_weights(grid).ravel())))
    density = np.exp(logs - log_evidence).reshape(shape)
    _warn_of_cuts(grid, density)
    return GridPosterior(grid, density, log_evidence)


def _points(axes: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.stack(np.meshgrid(*axes.values(), indexing="ij"), axis=-1).reshape(-1, len(axes))


def _weights(axes: Mapping[str, np.ndarray]) -> np.ndarray:
    """Of the trapezoidal rule at each crossing."""
    found = np.ones(())
    for axis in axes.values():
        steps = np.diff(axis)
        own = np.concatenate([[steps[0]], steps[1:] + steps[:-1], [steps[-1]]]) / 2
        found = np.multiply.outer(found, own)
    return found


def _warn_of_cuts(axes: Mapping[str, np.ndarray], density: np.ndarray) -> None:
    for place, name in enumerate(axes):
        line = np.moveaxis(density, place, 0)
        for end, where in ((0, "low"), (-1, "high")):
            if line[end].max() > CUT_OFF * density.max():
                warnings.warn(
                    f"the posterior is not small at the {where} end of {name!r}: mass beyond it is "
                    "cut off. Widen the axis, unless the prior ends there",
                    GnomonWarning,
                    stacklevel=3,
                )


def maximum_a_posteriori(
    log_density: Callable[..., np.ndarray],
    x: ArrayLike,
    start: ArrayLike,
    log_prior: Callable[[np.ndarray], float],
    *,
    sample_weight: ArrayLike | None = None,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> LikelihoodFit:
    """The parameters of the highest posterior density: likelihood with the log prior as penalty.

    argmax_t sum_i log p(x_i | t) + log q(t). With a flat prior it is maximum likelihood; as rows
    grow the prior matters less. It depends on how parameters are written (a logarithm moves it),
    as the posterior mean's prediction does not.

    Parameters
    ----------
    log_density : callable
        ``log_density(x, parameters)`` gives log p per outcome.
    x : array-like
    start : array-like of shape (p,)
    log_prior : callable
        Of the parameters; up to a constant.
    sample_weight : array-like of shape (n,), default=None
    bounds : sequence of pairs, default=None

    Returns
    -------
    fit : LikelihoodFit
        ``log_likelihood`` holds log-likelihood plus log prior; the errors are from the curvature
        of both.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.bayes import maximum_a_posteriori, normal_log_prior
    >>> fit = maximum_a_posteriori(
    ...     lambda x, t: -0.5 * (x - t[0]) ** 2, [4.0, 6.0], [0.0], normal_log_prior(1.0)
    ... )
    >>> fit.parameters.round(4)
    array([3.3333])
    """
    return likelihood_fit(
        log_density, x, start, sample_weight=sample_weight, bounds=bounds, log_prior=log_prior
    )


def normal_log_prior(variance: float, mean: float = 0.0) -> Callable[[np.ndarray], float]:
    """Independent normal priors: the penalty of ridge regression.

    Parameters
    ----------
    variance : float
    mean : float, default=0.0

    Returns
    -------
    log_prior : callable
        Of the parameters, up to a constant.

    Examples
    --------
    >>> normal_log_prior(2.0)([2.0, 0.0])
    -1.0
    """

    def log_prior(parameters: np.ndarray) -> float:
        return float(-((np.asarray(parameters) - mean) ** 2).sum() / (2 * variance))

    return log_prior


def laplace_log_prior(scale: float) -> Callable[[np.ndarray], float]:
    """Independent Laplace priors about zero: the penalty of the lasso.

    Parameters
    ----------
    scale : float

    Returns
    -------
    log_prior : callable
        Of the parameters, up to a constant.

    Examples
    --------
    >>> laplace_log_prior(2.0)([3.0, -1.0])
    -2.0
    """

    def log_prior(parameters: np.ndarray) -> float:
        return float(-np.abs(np.asarray(parameters)).sum() / scale)

    return log_prior


def ridge_penalty(noise: float, prior_variance: float) -> float:
    """lambda of |y - X b|^2 + lambda |b|^2 for normal noise and a normal prior of the slopes.

    Parameters
    ----------
    noise : float
        Variance of the target about the plane.
    prior_variance : float
        Of each slope.

    Returns
    -------
    penalty : float

    Examples
    --------
    >>> ridge_penalty(2.0, 0.5)
    4.0
    """
    return noise / prior_variance


def lasso_penalty(noise: float, prior_scale: float) -> float:
    """lambda of |y - X b|^2 + lambda sum |b| for normal noise and a Laplace prior of the slopes.

    Parameters
    ----------
    noise : float
        Variance of the target about the plane.
    prior_scale : float
        Mean absolute size of a slope under the prior.

    Returns
    -------
    penalty : float

    Examples
    --------
    >>> lasso_penalty(2.0, 0.5)
    8.0
    """
    return 2 * noise / prior_scale
