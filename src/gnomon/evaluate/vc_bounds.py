"""VC bounds: what the VC dimension of a family says about the gap between training and true error.

With probability 1 - delta, for every hypothesis of a family at once,

    E_out <= E_in + sqrt(8/n ln(4 s(2n) / delta)),

where s(2n) is the largest number of ways in which the family labels 2n points; a family of VC
dimension d has s(m) <= sum_{i<=d} C(m, i). The penalty grows with d and falls with n, which gives a
number of rows to plan with, and for hyperplanes a price for small margins. It holds for every
distribution and every way to choose the hypothesis, and is very loose for that.

Texts: 000a 3.3 · 001 4.1.5 and 4.2 · 004 10.1. 000a has s(n) for s(2n): corrected here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, e, inf, isfinite, lgamma, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gnomon.contract.estimate import Estimate, share_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.evaluate.bounds import check_at_least, check_probability
from gnomon.evaluate.intake import number_block

VC_FORMS = ("growth", "polynomial", "exponential", "vapnik", "as printed")
PRACTICAL_ROWS_PER_DIMENSION = 10  # the texts' rule of thumb, see `rule_of_thumb`


@dataclass(frozen=True, repr=False, eq=False)
class VCBound(Result):
    """The forms of the VC bound side by side.

    Attributes
    ----------
    n : int
        Rows.
    dimension : float
        VC dimension of the family.
    delta : float
    gaps : dict of str to float
        E_out - E_in is at most this, with probability 1 - delta, by form.
    error : float or None
        Error on the training rows, where given.
    """

    n: int
    dimension: float
    delta: float
    gaps: dict[str, float]
    error: float | None = None

    @property
    def epsilon(self) -> float:
        """The gap with the exact sum of Sauer's lemma, the smallest of the 8/N forms."""
        return self.gaps["growth"]

    def _title(self) -> str:
        return (
            f"VC bound, dimension {self.dimension:g}, {self.n:,} rows: gap at most "
            f"{self.epsilon:.4g} with probability {1 - self.delta:.4g}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            "form": list(self.gaps),
            "gap": list(self.gaps.values()),
            "from": [_SOURCES[form] for form in self.gaps],
        }
        if self.error is not None:
            columns["E_out at most"] = [self.error + gap for gap in self.gaps.values()]
        return columns

    def _remarks(self) -> list[str]:
        remarks = ["'as printed' has n where 2n belongs and is no valid bound"]
        if self.epsilon >= 1:
            remarks.append("an error rate is at most 1 anyhow: the bound says nothing here")
        return remarks


_SOURCES = {
    "growth": "001 eq. 17, exact sum of Sauer's lemma",
    "polynomial": "001 eq. 21",
    "exponential": "000a 3.3.3, corrected",
    "vapnik": "004 10.1",
    "as printed": "000a 3.3.3",
}


def vc_gap(n: float, dimension: float, delta: float, form: str = "growth") -> float:
    """Largest gap between training and true error over a family of known VC dimension.

    With probability 1 - delta, for all hypotheses of the family at once,

    - ``"growth"``: sqrt(8/n ln(4 s / delta)), s = sum_{i<=d} C(2n, i), the exact sum of Sauer;
    - ``"polynomial"``: the same with s = (2n)^d + 1;
    - ``"exponential"``: sqrt(8/n (ln(4/delta) + d ln(2 e n / d))), from s <= (2en/d)^d;
    - ``"vapnik"``: sqrt((d (ln(2n/d) + 1) - ln(delta/4)) / n), which leaves out a term 1/n;
    - ``"as printed"``: the third with n for 2n, as 000a has it: no valid bound, for comparison.

    Parameters
    ----------
    n : float
        Rows.
    dimension : float
        VC dimension of the family.
    delta : float
        Probability of a larger gap.
    form : str, default="growth"

    Returns
    -------
    gap : float

    Examples
    --------
    >>> round(vc_gap(1000, 3, 0.05, form="polynomial"), 6)
    0.466345
    """
    check_at_least("n", n, 1)
    check_at_least("dimension", dimension, 0)
    check_probability(delta)
    if form not in VC_FORMS:
        raise DataError(f"form={form!r} is none of {', '.join(VC_FORMS)}")
    if not isfinite(dimension):
        return inf
    d = dimension
    if form == "vapnik":
        capacity = _log_growth(2 * n, d, "exponential")
        return sqrt((capacity - log(delta / 4)) / n)
    size = 2 * n if form != "as printed" else n
    return sqrt(8 / n * (log(4 / delta) + _log_growth(size, d, form)))


def _log_growth(size: float, d: float, form: str) -> float:
    """Logarithm of a bound of the growth function at so many points."""
    if form == "growth":
        return log_sauer_sum(size, d)
    if form == "polynomial":
        return float(np.logaddexp(d * log(size), 0.0))
    # (e size / d)^d holds from d points on; fewer have at most 2^size patterns
    return d * log(size * e / d) if 0 < d <= size else min(d, size) * log(2)


def log_sauer_sum(n: float, dimension: float) -> float:
    """ln of sum_{i=0}^{d} C(n, i), without forming the sum."""
    if dimension >= n:
        return n * log(2)
    i = np.arange(int(dimension) + 1)
    terms = lgamma(n + 1) - special.gammaln(i + 1) - special.gammaln(n - i + 1)
    return float(special.logsumexp(terms))


def vc_bound(n: int, dimension: float, delta: float = 0.05, error: float | None = None) -> VCBound:
    """The VC generalisation bound in the forms that the texts print, side by side.

    E_out <= E_in + gap with probability 1 - delta, whatever the distribution and however the
    hypothesis was chosen from the family. Use it to compare families and to see how the penalty
    grows with the dimension; as an estimate of E_out it is far too large: hold rows out instead.

    Parameters
    ----------
    n : int
        Training rows.
    dimension : float
        VC dimension of the family (see `vc_dimension`).
    delta : float, default=0.05
    error : float, default=None
        Error rate on the training rows.

    Returns
    -------
    bound : VCBound

    Examples
    --------
    >>> print(vc_bound(10_000, 10))
    VC bound, dimension 10, 10,000 rows: gap at most 0.2658 with probability 0.95
    form             gap  from
    growth        0.2658  001 eq. 17, exact sum of Sauer's lemma
    polynomial    0.2876  001 eq. 21
    exponential   0.2689  000a 3.3.3, corrected
    vapnik       0.09507  004 10.1
    as printed    0.2584  000a 3.3.3
    'as printed' has n where 2n belongs and is no valid bound
    """
    gaps = {form: vc_gap(n, dimension, delta, form) for form in VC_FORMS}
    return VCBound(n, dimension, delta, gaps, error)


@dataclass(frozen=True, repr=False, eq=False)
class SampleComplexity(Result):
    """How many rows a family needs.

    Attributes
    ----------
    n : int
        Smallest number of rows at which the bound holds.
    epsilon : float
    delta : float
    dimension : float
    form : str
    course : list of float
        The fixed-point iteration.
    """

    n: int
    epsilon: float
    delta: float
    dimension: float
    form: str
    course: list[float]

    @property
    def rule_of_thumb(self) -> int:
        """Ten rows per dimension, which is what practice needs."""
        return PRACTICAL_ROWS_PER_DIMENSION * int(self.dimension)

    def _title(self) -> str:
        return (
            f"{self.n:,} rows keep the gap of a family of VC dimension {self.dimension:g} below "
            f"{self.epsilon:g} with probability {1 - self.delta:g}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {"step": list(range(len(self.course))), "n": [round(n) for n in self.course]}

    def _remarks(self) -> list[str]:
        return [f"in practice about ten rows per dimension do: {self.rule_of_thumb:,}"]


def vc_sample_complexity(
    epsilon: float, delta: float, dimension: float, form: str = "polynomial"
) -> SampleComplexity:
    """The number of rows for which the VC bound promises a gap of epsilon (001 4.2.2).

    The smallest n with n >= (8 / eps^2) ln(4 s(2n) / delta), by iterating the right side until it
    stands still; the neighbours are then tried, so that n is exactly the smallest.

    Parameters
    ----------
    epsilon : float
        Allowed gap.
    delta : float
        Allowed probability of a larger one.
    dimension : float
        VC dimension.
    form : str, default="polynomial"
        As in `vc_gap`; the text's is the polynomial one.

    Returns
    -------
    found : SampleComplexity

    Examples
    --------
    >>> vc_sample_complexity(0.1, 0.1, 3).n
    29300
    """
    check_at_least("epsilon", epsilon, 0, above=True)
    if not isfinite(dimension):
        raise DataError("a family of infinite VC dimension needs infinitely many rows")

    def needed(n: float) -> float:
        return n * (vc_gap(n, dimension, delta, form) / epsilon) ** 2

    course = [max(1000.0, 8 / epsilon**2)]
    while len(course) < 1000:
        course.append(max(needed(course[-1]), 1.0))
        if abs(course[-1] - course[-2]) < 0.01:
            break
    n = max(ceil(course[-1]), 1)
    while vc_gap(n, dimension, delta, form) > epsilon:
        n += 1
    while n > 1 and vc_gap(n - 1, dimension, delta, form) <= epsilon:
        n -= 1
    return SampleComplexity(n, epsilon, delta, dimension, form, course)


@dataclass(frozen=True, repr=False, eq=False)
class MarginBound(Result):
    """VC dimension of hyperplanes that keep a margin on given points.

    Attributes
    ----------
    dimension : int
        At most min(ceil(R^2 A^2), n_columns) + 1.
    radius : float
        Radius R of a ball that holds the points.
    norm : float
        Norm A of the weights when the nearest point has |w x + b| = 1; the margin is 1 / A.
    n_columns : int
    """

    dimension: int
    radius: float
    norm: float
    n_columns: int

    @property
    def margin(self) -> float:
        """Distance of the nearest point from the hyperplane; infinite where there is none."""
        return 1 / self.norm if self.norm > 0 else inf

    def _title(self) -> str:
        return f"VC dimension at most {self.dimension} at margin {self.margin:.4g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "radius": [self.radius],
            "norm": [self.norm],
            "R^2 A^2": [(self.radius * self.norm) ** 2],
            "columns": [self.n_columns],
            "dimension": [self.dimension],
        }

    def _remarks(self) -> list[str]:
        if self.dimension <= self.n_columns:
            return []
        return ["the margin is too small to help: no better than hyperplanes without one"]


def margin_bound(radius: float, norm: float, n_columns: int) -> MarginBound:
    """VC dimension of hyperplanes with ||w|| <= A on points in a ball of radius R (004 10.1.1).

    h <= min(ceil(R^2 A^2), n_columns) + 1, where the nearest point has |w x + b| = 1. A large
    margin makes the dimension small however many columns there are.

    Parameters
    ----------
    radius : float
    norm : float
    n_columns : int

    Returns
    -------
    bound : MarginBound

    Examples
    --------
    >>> margin_bound(radius=1.0, norm=2.0, n_columns=1000).dimension
    5
    """
    check_at_least("radius", radius, 0)
    check_at_least("norm", norm, 0)
    check_at_least("n_columns", n_columns, 1)
    squared = (radius * norm) ** 2
    # R^2 A^2 = 4 that comes out as 4.0000000001 must not cost a dimension
    capacity = n_columns if not isfinite(squared) else min(ceil(squared - 1e-9), n_columns)
    return MarginBound(int(capacity) + 1, float(radius), float(norm), int(n_columns))


def margin_bound_of(estimator: Any, rows: Any) -> MarginBound:
    """The margin bound read from a fitted linear classifier and its training rows.

    The radius is that of a ball around the rows, at most three percent larger than the smallest
    one; the norm is that of the weights scaled so that the nearest row has |w x + b| = 1.

    Parameters
    ----------
    estimator : fitted classifier
        With ``coef_`` and ``intercept_`` for two classes.
    rows : array-like of shape (n, n_columns)

    Returns
    -------
    bound : MarginBound

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(coef_=[[0.5, 0.5]], intercept_=[-1.0])
    >>> rows = [[2, 2], [3, 3], [2, 3], [0, 0], [-1, 0], [0, -1]]
    >>> round(margin_bound_of(model, rows).margin, 6)
    1.414214
    """
    if not hasattr(estimator, "coef_"):
        raise DataError(f"{type(estimator).__name__} has no coef_: fit it, or take a linear model")
    rows = number_block(rows, "rows")
    weights = np.asarray(estimator.coef_, dtype=np.float64)
    if weights.size != rows.shape[1]:
        raise DataError(f"weights of shape {weights.shape} are not those of two classes")
    offset = float(np.ravel(estimator.intercept_)[0])
    nearest = float(np.abs(rows @ weights.ravel() + offset).min())
    size = float(np.linalg.norm(weights))
    norm = size / nearest if nearest > 0 else inf
    return margin_bound(enclosing_radius(rows), norm, rows.shape[1])


def enclosing_radius(rows: ArrayLike, n_steps: int = 1000) -> float:
    """Radius of a ball that holds all rows, nearly the smallest (Badoiu and Clarkson).

    The centre walks towards the farthest row in ever shorter steps; the radius is never too small
    and after t steps at most 1 + 1/sqrt(t) times the smallest.

    Parameters
    ----------
    rows : array-like of shape (n, d)
    n_steps : int, default=1000

    Returns
    -------
    radius : float

    Examples
    --------
    >>> round(enclosing_radius([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]), 2)
    1.0
    """
    rows = np.asarray(rows, dtype=np.float64)
    center = (rows.min(axis=0) + rows.max(axis=0)) / 2
    smallest = inf
    for step in range(1, n_steps + 1):
        squared = ((rows - center) ** 2).sum(axis=1)
        farthest = int(squared.argmax())
        smallest = min(smallest, float(squared[farthest]))
        center = center + (rows[farthest] - center) / (step + 1)
    return sqrt(smallest)


@dataclass(frozen=True, repr=False, eq=False)
class Symmetrisation(Result):
    """Both sides of the symmetrisation lemma, simulated.

    Attributes
    ----------
    n : int
    epsilon : float
    left : Estimate
        P(sup |L_n - L| > epsilon).
    right : Estimate
        2 P(sup |L_n - L'_n| > epsilon / 2), L' from a second sample of the same size.
    """

    n: int
    epsilon: float
    left: Estimate
    right: Estimate

    @property
    def holds(self) -> bool:
        """Whether the left side is at most the right one, within the simulation's error."""
        return self.left.low <= self.right.high

    def _title(self) -> str:
        return f"Symmetrisation with {self.n:,} rows, epsilon {self.epsilon:g}"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "side": ["P(sup |L_n - L| > eps)", "2 P(sup |L_n - L'_n| > eps / 2)"],
            "simulated": [self.left, self.right],
        }


def symmetrisation(
    n: int,
    epsilon: float,
    *,
    hypotheses: int = 50,
    noise: float = 0.1,
    n_runs: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> Symmetrisation:
    """Show the symmetrisation lemma on a family of thresholds (000a 3.3.2).

    P(sup |L_n - L| > eps) <= 2 P(sup |L_n - L'_n| > eps / 2) when n eps^2 >= 2: the unknown true
    losses give way to those of a second, ghost sample, and only finitely many sign patterns of 2n
    points are left to count. Here x is uniform on [0, 1], the label is x > 1/2 turned over with
    probability `noise`, and hypotheses say x > t for t on a grid.

    Parameters
    ----------
    n : int
    epsilon : float
        With n eps^2 of 2 or more.
    hypotheses : int, default=50
        Thresholds on the grid.
    noise : float, default=0.1
    n_runs : int, default=2000
    random_state : int, Generator or None

    Returns
    -------
    found : Symmetrisation

    Examples
    --------
    >>> symmetrisation(100, 0.15, random_state=0).holds
    True
    """
    if n * epsilon**2 < 2:
        raise DataError(f"n eps^2 = {n * epsilon**2:.3g} is below 2: the lemma does not apply")
    rng = np.random.default_rng(random_state)
    thresholds = (np.arange(hypotheses) + 0.5) / hypotheses
    true = noise + (1 - 2 * noise) * np.abs(thresholds - 0.5)
    far = ghost_far = 0
    for _ in range(n_runs):
        first = _threshold_losses(n, thresholds, noise, rng)
        second = _threshold_losses(n, thresholds, noise, rng)
        far += bool(np.abs(first - true).max() > epsilon)
        ghost_far += bool(np.abs(first - second).max() > epsilon / 2)
    left, right = share_interval(far, n_runs), share_interval(ghost_far, n_runs)
    twice = right._replace(
        value=2 * right.value, low=2 * right.low, high=2 * right.high, error=2 * right.error
    )
    return Symmetrisation(n, epsilon, left, twice)


def _threshold_losses(
    n: int, thresholds: np.ndarray, noise: float, rng: np.random.Generator
) -> np.ndarray:
    """Share of n fresh rows on which each rule x > t is wrong."""
    x = np.sort(rng.random(n))
    label = (x > 0.5) ^ (rng.random(n) < noise)
    # below the threshold positive labels are wrong, above it negative ones
    positives = np.concatenate([[0], np.cumsum(label)])
    place = np.searchsorted(x, thresholds, side="right")
    negatives_above = (n - place) - (positives[-1] - positives[place])
    return (positives[place] + negatives_above) / n
