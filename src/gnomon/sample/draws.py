"""Draws from named distributions, built from uniform and normal draws as the texts build them.

NumPy's generators are faster for everyday use; these functions are the constructions themselves:
the polar method, inversion, the one-pass draw of a category, and laws made of normal draws.

Texts: 003 3.2.4.1 (one-pass categorical), 3.2.4.2 (polar normal, inversion, laws from normals).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize

from gnomon.engine.errors import DataError

Seed = int | np.random.Generator | None


class PolarDraws(NamedTuple):
    """Normal draws and how many points of the square it took.

    Attributes
    ----------
    values : ndarray of shape (n,)
    n_tried : int
        Points drawn in the square; the share inside the disc is pi / 4 on average.
    acceptance : float
        Share of points inside the disc.
    """

    values: np.ndarray
    n_tried: int
    acceptance: float


def polar_normal(
    n: int, mean: float = 0.0, sd: float = 1.0, *, random_state: Seed = None
) -> PolarDraws:
    """Normal draws by the polar method: a point in the unit disc gives two of them.

    With (x, y) uniform in the square [-1, 1]^2 and m = x^2 + y^2, points with 0 < m < 1 are kept
    (a share of pi / 4); x sqrt(-2 log(m) / m) and y sqrt(-2 log(m) / m) are then independent
    standard normals. Use it to see how normals can be made of uniforms; NumPy's
    ``Generator.normal`` is faster. 003 3.2.4.2; the text uses one of the two values.

    Parameters
    ----------
    n : int
        How many draws.
    mean, sd : float
    random_state : int, Generator or None

    Returns
    -------
    draws : PolarDraws

    Examples
    --------
    >>> found = polar_normal(10_000, random_state=0)
    >>> bool(abs(found.values.mean()) < 0.05), bool(0.75 < found.acceptance < 0.82)
    (True, True)
    """
    _whole(n, "n")
    rng = np.random.default_rng(random_state)
    parts: list[np.ndarray] = []
    found = tried = kept = 0
    while found < n:
        size = int((n - found) / 2 * 4 / np.pi * 1.05) + 8
        points = rng.uniform(-1, 1, (size, 2))
        squares = (points**2).sum(axis=1)
        inside = (squares > 0) & (squares < 1)
        squares = squares[inside, None]
        pairs = points[inside] * np.sqrt(-2 * np.log(squares) / squares)
        parts.append(pairs.ravel())
        found += pairs.size
        tried += size
        kept += int(inside.sum())
    values = mean + sd * np.concatenate(parts)[:n] if parts else np.empty(0)
    return PolarDraws(values, tried, kept / tried if tried else float("nan"))


def reservoir_categorical(
    stream: Iterable[tuple[Hashable, float]], *, random_state: Seed = None
) -> Any:
    """One draw from weighted values that come one by one, their total not known beforehand.

    Each value v of weight w replaces the one held so far with probability w / t, t being the sum of
    weights until then; at the end every value is held in proportion to its weight. Values of
    weight zero are never drawn (the text's loop divides 0 by 0 when the first has none). Use it
    for streams; for a list in memory and many draws see `categorical`. 003 3.2.4.1.

    Parameters
    ----------
    stream : iterable of pairs
        Values with weights that need not sum to one.
    random_state : int, Generator or None

    Returns
    -------
    value : object

    Examples
    --------
    >>> reservoir_categorical([("a", 0.0), ("b", 3.0), ("c", 0.0)], random_state=0)
    'b'
    """
    rng = np.random.default_rng(random_state)
    total, held = 0.0, None
    for value, weight in stream:
        _weight(weight, value)
        if weight == 0:
            continue
        total += weight
        if rng.random() < weight / total:
            held = value
    if total == 0:
        raise DataError("no value of the stream has a positive weight; there is nothing to draw")
    return held


def categorical(weights: ArrayLike, n: int, *, random_state: Seed = None) -> np.ndarray:
    """Many draws of a category at once: how often each comes, by binomial counts, then shuffled.

    Category j comes Binomial(rest, w_j / (w_j + w_{j+1} + ...)) times, so that there is one random
    number per category and one shuffle. 003 3.2.4.1 (the variant for n draws).

    Parameters
    ----------
    weights : array-like of shape (k,)
        Zero or more, not necessarily summing to one.
    n : int
    random_state : int, Generator or None

    Returns
    -------
    codes : ndarray of int of shape (n,)

    Examples
    --------
    >>> categorical([0, 2, 0], 4, random_state=0).tolist()
    [1, 1, 1, 1]
    """
    _whole(n, "n")
    rng = np.random.default_rng(random_state)
    masses = np.asarray(weights, dtype=np.float64)
    for place, weight in enumerate(masses):
        _weight(weight, place)
    if not masses.sum() > 0:
        raise DataError("all weights are zero; there is nothing to draw")
    counts = np.zeros(len(masses), dtype=np.int64)
    rest = n
    tails = np.cumsum(masses[::-1])[::-1]
    for j in np.flatnonzero(masses > 0):
        counts[j] = rng.binomial(rest, min(masses[j] / tails[j], 1.0))
        rest -= counts[j]
    return rng.permutation(np.repeat(np.arange(len(masses)), counts))


def inverse_cdf(
    inverse: Callable[[np.ndarray], ArrayLike] | None = None,
    n: int = 1,
    *,
    cdf: Callable[[float], float] | None = None,
    support: tuple[float, float] = (-np.inf, np.inf),
    random_state: Seed = None,
) -> np.ndarray:
    """Draws by inversion: x = F^{-1}(u) with u uniform in (0, 1).

    Use it where the inverse is known in closed form, or where the distribution function can be
    computed and draws are few: without ``inverse`` every draw solves F(x) = u by root finding.
    003 3.2.4.2.

    Parameters
    ----------
    inverse : callable or None
        F^{-1} of an array of probabilities.
    n : int, default=1
    cdf : callable, default=None
        F, where the inverse is not known.
    support : pair of float, default=(-inf, inf)
        Where the distribution lives; used with ``cdf`` only.
    random_state : int, Generator or None

    Returns
    -------
    values : ndarray of shape (n,)

    Examples
    --------
    >>> exponential = inverse_cdf(lambda u: -np.log1p(-u), 20_000, random_state=0)
    >>> bool(abs(exponential.mean() - 1) < 0.05)
    True
    """
    _whole(n, "n")
    u = np.random.default_rng(random_state).random(n)
    if inverse is not None:
        return np.asarray(inverse(u), dtype=np.float64)
    if cdf is None:
        raise DataError("inversion needs the inverse or the distribution function (cdf=)")
    return np.array([_solved(cdf, probability, support) for probability in u])


def _solved(cdf: Callable[[float], float], u: float, support: tuple[float, float]) -> float:
    """x with cdf(x) = u, the bracket widened from the middle until it holds x."""
    low, high = support
    center = 0.0
    if np.isfinite(low) or np.isfinite(high):
        center = float(np.mean([end for end in (low, high) if np.isfinite(end)]))
    width = 1.0
    left = low if np.isfinite(low) else center - width
    right = high if np.isfinite(high) else center + width
    while cdf(left) > u or cdf(right) < u:
        width *= 2
        if width > 1e300:
            raise DataError(f"the cdf does not pass {u:g} within the support {support}")
        left = low if np.isfinite(low) else center - width
        right = high if np.isfinite(high) else center + width
    return float(optimize.brentq(lambda x: cdf(x) - u, left, right, xtol=1e-12))


def chi_square(df: int, n: int, *, random_state: Seed = None) -> np.ndarray:
    """Chi-square draws: the sum of `df` squared normal draws (003 3.2.4.2).

    Parameters
    ----------
    df : int
        Degrees of freedom.
    n : int
    random_state : int, Generator or None

    Returns
    -------
    values : ndarray of shape (n,)

    Examples
    --------
    >>> bool(abs(chi_square(3, 20_000, random_state=0).mean() - 3) < 0.1)
    True
    """
    _whole(df, "df")
    normals = np.random.default_rng(random_state).standard_normal((n, df))
    return (normals**2).sum(axis=1)


def student_t(df: int, n: int, *, random_state: Seed = None) -> np.ndarray:
    """Student's t draws: z / sqrt(chi2 / df) of a normal z and an independent chi-square.

    With ``df=1`` it is Cauchy's law, the ratio of two normals.

    Parameters
    ----------
    df : int
    n : int
    random_state : int, Generator or None

    Returns
    -------
    values : ndarray of shape (n,)

    Examples
    --------
    >>> student_t(5, 3, random_state=0).shape
    (3,)
    """
    rng = np.random.default_rng(random_state)
    return rng.standard_normal(n) / np.sqrt(chi_square(df, n, random_state=rng) / df)


def f_ratio(df_above: int, df_below: int, n: int, *, random_state: Seed = None) -> np.ndarray:
    """F draws: the ratio of two independent mean squares of normal draws.

    Parameters
    ----------
    df_above, df_below : int
    n : int
    random_state : int, Generator or None

    Returns
    -------
    values : ndarray of shape (n,)

    Examples
    --------
    >>> bool((f_ratio(2, 9, 5, random_state=0) > 0).all())
    True
    """
    rng = np.random.default_rng(random_state)
    above = chi_square(df_above, n, random_state=rng) / df_above
    return above / (chi_square(df_below, n, random_state=rng) / df_below)


def gamma(shape: float, n: int, *, random_state: Seed = None) -> np.ndarray:
    """Gamma draws of scale one, by rejection from a normal (Marsaglia and Tsang 2000).

    With d = a - 1/3 and c = 1 / sqrt(9 d), a normal z gives v = (1 + c z)^3, kept where v > 0 and
    log u < z^2 / 2 + d - d v + d log v; d v is then Gamma(a). Shapes below one use
    Gamma(a + 1) u^{1/a}.

    Parameters
    ----------
    shape : float
        The shape a.
    n : int
    random_state : int, Generator or None

    Returns
    -------
    values : ndarray of shape (n,)

    Examples
    --------
    >>> bool(abs(gamma(2.5, 20_000, random_state=0).mean() - 2.5) < 0.1)
    True
    """
    if not shape > 0:
        raise DataError(f"shape={shape} of a gamma law must be positive")
    rng = np.random.default_rng(random_state)
    raised = shape if shape >= 1 else shape + 1
    d = raised - 1 / 3
    c = 1 / np.sqrt(9 * d)
    kept = np.empty(0)
    while len(kept) < n:
        size = n - len(kept) + 8
        z = rng.standard_normal(size)
        v = (1 + c * z) ** 3
        log_u = np.log(rng.random(size))
        possible = v > 0
        log_v = np.log(np.where(possible, v, 1.0))
        taken = possible & (log_u < z**2 / 2 + d - d * v + d * log_v)
        kept = np.concatenate([kept, d * v[taken]])
    kept = kept[:n]
    return kept if shape >= 1 else kept * rng.random(n) ** (1 / shape)


def dirichlet(concentration: ArrayLike, n: int, *, random_state: Seed = None) -> np.ndarray:
    """Dirichlet draws: independent gamma draws divided by their sum.

    Parameters
    ----------
    concentration : array-like of shape (k,)
    n : int
    random_state : int, Generator or None

    Returns
    -------
    shares : ndarray of shape (n, k)
        Each row sums to one.

    Examples
    --------
    >>> shares = dirichlet([1.0, 2.0], 3, random_state=0)
    >>> shares.sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0]
    """
    rng = np.random.default_rng(random_state)
    parts = [gamma(float(a), n, random_state=rng) for a in np.asarray(concentration, dtype=float)]
    draws = np.column_stack(parts)
    return draws / draws.sum(axis=1, keepdims=True)


def _whole(n: int, name: str) -> None:
    if n != int(n) or n < 0:
        raise DataError(f"{name}={n} must be a whole number that is zero or more")


def _weight(weight: float, value: Any) -> None:
    if not (np.isfinite(weight) and weight >= 0):
        raise DataError(f"the weight {weight} of {value!r} must be a number that is zero or more")
