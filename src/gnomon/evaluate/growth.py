"""Growth functions: in how many ways can a family of classifiers label points?

A labelling of given points that some member of the family realises is a dichotomy; points that
have all 2^n are shattered. The growth function m(n) is the largest number of dichotomies of n
points, the VC dimension d the largest n with m(n) = 2^n, and d + 1 the first break point. From
there on m(n) is polynomial (Sauer): m(n) <= B(n, d + 1) = sum_{i<=d} C(n, i) <= (e n / d)^d.

For hyperplanes each labelling asks whether linear inequalities have a solution: a linear programme.
Its dual, whether zero lies in the hull of the signed points, is a small problem of non-negative
least squares, which decides most cases quickly; what it leaves open goes to the programme.
Dichotomies are grown point by point, and of each one's two continuations one comes free with the
hyperplane at hand, so that there are about as many problems as dichotomies, not 2^n.

Texts: 000a 3.3.1 (four points on a line have 8 labellings; the text says 10) · 001 4.1.2 to 4.1.4 ·
004 10.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, e, inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from sklearn.base import clone

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError

MOST_POINTS = 16  # 16 points have 65,536 labellings, each of them a small problem to solve
STEEPEST = 1e6  # bounds of weights keep the programme finite; planes between steeper ones are lost
# Norms of a residual: rounding, a true gap; between them a linear programme decides.
SURELY_NONE, SURELY_SOME = 1e-9, 1e-5
HULL_WIDTH = 1e-9  # rounding of `nnls` on scaled rows is 1e-15 or so; a gap of this size is one


@dataclass(frozen=True, repr=False, eq=False)
class Dichotomies(Result):
    """The labellings of given points that a family realises.

    Attributes
    ----------
    family : str
    points : ndarray of shape (n, d)
    labelings : ndarray of bool of shape (n_dichotomies, n)
        Each once, in lexicographic order.
    remarks : tuple of str
    """

    family: str
    points: np.ndarray
    labelings: np.ndarray
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labelings)

    @property
    def shattered(self) -> bool:
        """Whether every labelling is realised."""
        return len(self) == 2 ** len(self.points)

    def missing(self) -> np.ndarray:
        """The labellings that no member of the family realises."""
        every = all_labelings(len(self.points))
        there = {tuple(row) for row in self.labelings.tolist()}
        return np.array([row for row in every.tolist() if tuple(row) not in there], dtype=bool)

    def _title(self) -> str:
        n = len(self.points)
        return (
            f"{self.family}: {len(self):,} of {2**n:,} labellings of {n} points"
            f"{' (shattered)' if self.shattered else ''}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {"labeling": [signs(row) for row in self.labelings]}

    def _remarks(self) -> list[str]:
        return list(self.remarks)


@dataclass(frozen=True)
class Family:
    """A family of two-class classifiers.

    Attributes
    ----------
    name : str
    about : str
        Which rows its members call positive.
    dimension : callable
        Number of columns to VC dimension.
    growth : callable or None
        Number of points and of columns to the growth function, where it is known in closed form.
    realizes : callable
        Points and one labelling to whether a member of the family gives it.
    columns : int or None
        How many columns it needs; None for any number.
    """

    name: str
    about: str
    dimension: Callable[[int], float]
    growth: Callable[[int, int], int] | None
    realizes: Callable[[np.ndarray, np.ndarray], bool]
    columns: int | None = None


def all_labelings(n: int) -> np.ndarray:
    """All 2^n labellings of n points, in lexicographic order.

    Parameters
    ----------
    n : int

    Returns
    -------
    labelings : ndarray of bool of shape (2^n, n)

    Examples
    --------
    >>> all_labelings(2).astype(int).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    numbers = np.arange(2**n)[:, None]
    return (numbers >> np.arange(n)[::-1] & 1).astype(bool)


def signs(labeling: ArrayLike) -> str:
    """A labelling as plus and minus signs.

    Examples
    --------
    >>> signs([True, False, True])
    '+-+'
    """
    return "".join("+" if each else "-" for each in np.asarray(labeling, dtype=bool))


def dichotomies(points: ArrayLike, family: Any = "hyperplanes") -> Dichotomies:
    """Find all labellings of given points that a family of classifiers realises.

    Parameters
    ----------
    points : array-like of shape (n, d) or (n,)
        At most 16 for most families; hyperplanes take as many as have some ten thousand labellings.
    family : str or classifier, default="hyperplanes"
        A name in `FAMILIES`, or any classifier: a labelling is then realised if the classifier,
        fitted to it, predicts it without error. That is a lower bound for a learner which does not
        minimise its training error.

    Returns
    -------
    found : Dichotomies

    Notes
    -----
    A separation by hyperplanes narrower than a millionth of the spread of the points counts as
    none: rounding must not separate points on a line.

    Examples
    --------
    >>> found = dichotomies([0.0, 1.0, 2.0])
    >>> print(found)
    hyperplanes: 6 of 8 labellings of 3 points
    labeling
    ---
    --+
    -++
    +--
    ++-
    +++
    """
    points = _checked_points(points)
    if not isinstance(family, str):
        return _of_classifier(points, family)
    known = _family(family, points.shape[1])
    if family in ("hyperplanes", "hyperplanes through zero"):
        return Dichotomies(family, points, _of_hyperplanes(points, family == "hyperplanes"))
    _few_enough(len(points))
    every = all_labelings(len(points))
    realized = np.array([known.realizes(points, row) for row in every], dtype=bool)
    return Dichotomies(family, points, every[realized])


def is_shattered(points: ArrayLike, family: Any = "hyperplanes") -> bool:
    """Whether a family realises every labelling of the points; stops at the first that it does not.

    Parameters
    ----------
    points : array-like of shape (n, d) or (n,)
    family : str or classifier, default="hyperplanes"
        As in `dichotomies`.

    Returns
    -------
    shattered : bool

    Examples
    --------
    >>> is_shattered([[0, 0], [1, 0], [0, 1]]), is_shattered([[0, 0], [1, 1], [2, 2]])
    (True, False)
    """
    points = _checked_points(points)
    _few_enough(len(points))
    if isinstance(family, str):
        known = _family(family, points.shape[1])
        if len(points) > known.dimension(points.shape[1]):
            return False
        return all(known.realizes(points, row) for row in all_labelings(len(points)))
    return all(_memorizes(family, points, row)[0] for row in all_labelings(len(points)))


def find_shattered(
    n: int,
    family: Any = "hyperplanes",
    n_columns: int = 2,
    *,
    n_init: int = 200,
    random_state: int | np.random.Generator | None = None,
) -> np.ndarray | None:
    """Search for n points that a family shatters; to find them proves a VC dimension of n or more.

    Finding none proves nothing. Points are drawn on a ring (in general and convex position), then
    at random.

    Parameters
    ----------
    n : int
    family : str or classifier, default="hyperplanes"
    n_columns : int, default=2
    n_init : int, default=200
    random_state : int, Generator or None

    Returns
    -------
    points : ndarray of shape (n, n_columns) or None
        None when none was found.

    Examples
    --------
    >>> find_shattered(4, "rectangles", random_state=0) is None
    False
    >>> find_shattered(4, "hyperplanes", random_state=0) is None
    True
    """
    _few_enough(n)
    rng = np.random.default_rng(random_state)
    if family == "sines":
        return sine_points(n)
    if isinstance(family, str) and n > _family(family, n_columns).dimension(n_columns):
        return None
    for attempt in range(n_init):
        points = rng.standard_normal((n, n_columns))
        if attempt % 2 == 0 and n_columns > 1:
            points /= np.linalg.norm(points, axis=1, keepdims=True)
        if is_shattered(points, family):
            return points
    return None


def vc_dimension(family: str = "hyperplanes", n_columns: int = 2) -> float:
    """VC dimension of a known family.

    It is not the number of parameters: sines have one and an infinite dimension.

    Parameters
    ----------
    family : str, default="hyperplanes"
        A name in `FAMILIES`.
    n_columns : int, default=2

    Returns
    -------
    dimension : float
        Infinite for families that shatter sets of any size.

    Examples
    --------
    >>> vc_dimension("hyperplanes", n_columns=2), vc_dimension("sines", n_columns=1)
    (3, inf)
    """
    return _family(family, n_columns).dimension(n_columns)


def growth_function(n: int, family: str = "hyperplanes", n_columns: int = 2) -> int:
    """The largest number of labellings of n points by a known family, in closed form.

    For hyperplanes this is Cover's count, 2 sum_{i<=d} C(n - 1, i), reached by points in general
    position.

    Parameters
    ----------
    n : int
    family : str, default="hyperplanes"
        A name in `FAMILIES`.
    n_columns : int, default=2

    Returns
    -------
    m : int

    Examples
    --------
    >>> [growth_function(n, "hyperplanes", n_columns=2) for n in range(1, 7)]
    [2, 4, 8, 14, 22, 32]
    """
    if n < 1:
        raise DataError(f"n={n} must be 1 or more")
    known = _family(family, n_columns)
    if known.growth is None:
        raise DataError(
            f"the growth function of {family} has no closed form here; count with dichotomies(), "
            "or bound it with sauer_bound()"
        )
    return known.growth(n, n_columns)


def break_point(family: str = "hyperplanes", n_columns: int = 2) -> float:
    """The smallest number of points that a family shatters nowhere: VC dimension plus one.

    Parameters
    ----------
    family : str, default="hyperplanes"
        A name in `FAMILIES`.
    n_columns : int, default=2

    Returns
    -------
    k : float

    Examples
    --------
    >>> break_point("intervals", n_columns=1)
    3
    """
    return vc_dimension(family, n_columns) + 1


@dataclass(frozen=True, repr=False, eq=False)
class SauerBound(Result):
    """Upper bounds of the growth function from the VC dimension.

    Attributes
    ----------
    n : int
    dimension : int
    sum : int
        sum_{i<=d} C(n, i) = B(n, d + 1), exact.
    polynomial : float
        n^d + 1.
    exponential : float
        (e n / d)^d, for n >= d >= 1; else 2^n.
    """

    n: int
    dimension: int
    sum: int
    polynomial: float
    exponential: float

    def _title(self) -> str:
        return (
            f"At most {self.sum:,} labellings of {self.n} points at VC dimension {self.dimension}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "bound": ["sum of C(n, i), i <= d", "n^d + 1", "(e n / d)^d", "2^n"],
            "labelings": [
                float(self.sum),
                self.polynomial,
                self.exponential,
                2.0**self.n if self.n < 1024 else inf,
            ],
        }


def sauer_bound(n: int, dimension: int) -> SauerBound:
    """Sauer's lemma: a family of VC dimension d labels n points in at most sum_{i<=d} C(n, i) ways.

    Parameters
    ----------
    n : int
    dimension : int
        VC dimension, break point minus one.

    Returns
    -------
    bound : SauerBound

    Examples
    --------
    >>> [sauer_bound(n, 3).sum for n in range(1, 7)]
    [2, 4, 8, 15, 26, 42]
    """
    if n < 1 or dimension < 0:
        raise DataError(f"n={n} must be 1 or more and dimension={dimension} 0 or more")
    total = sum(comb(n, i) for i in range(min(dimension, n) + 1))
    exponential = (e * n / dimension) ** dimension if 1 <= dimension <= n else 2.0**n
    return SauerBound(n, dimension, total, float(n) ** dimension + 1, exponential)


def largest_dichotomy_count(n: int, break_point: int) -> int:
    """B(n, k): most labellings of n points of which no k points have all; by its recursion.

    B(n, k) = B(n - 1, k) + B(n - 1, k - 1), with B(n, 1) = 1 and B(1, k) = 2 for k > 1.

    Parameters
    ----------
    n : int
    break_point : int

    Returns
    -------
    count : int

    Examples
    --------
    >>> largest_dichotomy_count(4, 3)
    11
    """
    if n < 1 or break_point < 1:
        raise DataError(f"n={n} and break_point={break_point} must be 1 or more")
    row = [1] + [2] * (break_point - 1)
    for _ in range(n - 1):
        row = [1, *(row[k] + row[k - 1] for k in range(1, break_point))]
    return row[-1]


def _of_hyperplanes(points: np.ndarray, with_offset: bool) -> np.ndarray:
    """Labellings by hyperplanes, grown point by point; each carries a hyperplane that gives it."""
    lifted = lifted_points(points, with_offset)
    n, k = lifted.shape
    grown: list[tuple[tuple[bool, ...], np.ndarray]] = [((), np.zeros(k))]
    for m in range(1, n + 1):
        extended = []
        for labels, weights in grown:
            side = float(lifted[m - 1] @ weights)
            for label in (False, True):
                wanted = (*labels, label)
                if side and (side > 0) == label and abs(side) >= 1:
                    extended.append((wanted, weights))
                    continue
                found = separating(lifted[:m], np.array(wanted))
                if found is not None:
                    extended.append((wanted, found))
        grown = extended
    return np.array(sorted(labels for labels, _ in grown), dtype=bool).reshape(-1, n)


def lifted_points(points: np.ndarray, with_offset: bool) -> np.ndarray:
    """Points of unit spread, with a column of ones where hyperplanes have an offset."""
    center = points.mean(axis=0) if with_offset else 0.0
    spread = float(np.abs(points - center).max()) or 1.0
    scaled = (points - center) / spread
    return np.column_stack([scaled, np.ones(len(points))]) if with_offset else scaled


def separating(lifted: np.ndarray, labels: np.ndarray) -> np.ndarray | None:
    """Weights with row @ weights of 1 or more on the right side of every row, or None."""
    signed = np.where(labels, 1.0, -1.0)[:, None] * lifted
    return solution_of(signed, np.ones(len(signed)))


def solution_of(left: np.ndarray, least: np.ndarray) -> np.ndarray | None:
    """Weights with left @ weights >= least, or None where there are none.

    The smallest such weights come from the non-negative least-squares problem
    min ||[left'; least'] c - [0; 1]|| (Lawson and Hanson): its residual r is zero where there are
    none, and gives the weights -r / r_last, of norm about 1 / ||r||, elsewhere.
    """
    try:
        stacked = np.vstack([left.T, least])
        goal = np.append(np.zeros(left.shape[1]), 1.0)
        combination, _ = optimize.nnls(stacked, goal)
    except RuntimeError:  # its steps ran out
        return _by_linear_programme(left, least)
    residual = stacked @ combination - goal
    size = float(np.linalg.norm(residual))
    if size < SURELY_NONE:
        return None
    weights = -residual[:-1] / residual[-1]
    if size > SURELY_SOME and (left @ weights > least - 0.5).all():
        return weights
    return _by_linear_programme(left, least)


def _by_linear_programme(left: np.ndarray, least: np.ndarray) -> np.ndarray | None:
    """Weights of at most a million with left @ weights >= least, or None."""
    found = optimize.linprog(
        np.zeros(left.shape[1]),
        A_ub=-left,
        b_ub=-least,
        bounds=(-STEEPEST, STEEPEST),
        method="highs",
    )
    if found.status == 2:
        return None
    if found.status != 0:
        raise RuntimeError(f"the linear programme of {len(left)} points failed: {found.message}")
    # the solver allows small violations; a separation must be one
    return found.x if (left @ found.x > least - 0.5).all() else None


def _of_classifier(points: np.ndarray, classifier: Any) -> Dichotomies:
    _few_enough(len(points))
    every = all_labelings(len(points))
    outcomes = [_memorizes(classifier, points, row) for row in every]
    realized = np.array([outcome for outcome, _ in outcomes])
    refused = sum(trivially for _, trivially in outcomes)
    remarks: tuple[str, ...] = ("labellings found by fitting: a lower bound",)
    if refused:
        remarks += (f"{refused} labellings of one class were refused by fit; taken as realised",)
    return Dichotomies(type(classifier).__name__, points, every[realized], remarks)


def _memorizes(classifier: Any, points: np.ndarray, labels: np.ndarray) -> tuple[bool, bool]:
    """Whether the classifier reproduces the labels, and whether it refused a single class."""
    codes = labels.astype(np.int64)
    if codes.min() == codes.max():
        try:
            fitted = clone(classifier).fit(points, codes)
        except ValueError:
            return True, True
    else:
        fitted = clone(classifier).fit(points, codes)
    return bool((np.asarray(fitted.predict(points)) == codes).all()), False


def _checked_points(points: ArrayLike) -> np.ndarray:
    points = np.asarray(points, dtype=np.float64)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or not points.size or not np.isfinite(points).all():
        raise DataError(f"points must be finite rows, not of shape {points.shape}")
    return points


def _few_enough(n: int) -> None:
    if n > MOST_POINTS:
        raise DataError(f"{n} points have {2**n:,} labellings; take at most {MOST_POINTS}")


def _family(name: str, n_columns: int) -> Family:
    if name not in FAMILIES:
        raise DataError(f"no family is called {name!r}; there are {', '.join(FAMILIES)}")
    family = FAMILIES[name]
    if family.columns is not None and family.columns != n_columns:
        raise DataError(f"{name} are of {family.columns} column(s), not of {n_columns}")
    return family


def _by_hyperplane(points: np.ndarray, labels: np.ndarray) -> bool:
    return separating(lifted_points(points, True), labels) is not None


def _by_central_hyperplane(points: np.ndarray, labels: np.ndarray) -> bool:
    return separating(lifted_points(points, False), labels) is not None


def _by_ray(points: np.ndarray, labels: np.ndarray) -> bool:
    x = points[:, 0]
    return not labels.any() or bool(labels.all()) or bool(x[labels].min() > x[~labels].max())


def _by_stump(points: np.ndarray, labels: np.ndarray) -> bool:
    return any(
        _by_ray(points[:, [j]], side) for j in range(points.shape[1]) for side in (labels, ~labels)
    )


def _by_box(points: np.ndarray, labels: np.ndarray) -> bool:
    if not labels.any():
        return True
    low, high = points[labels].min(axis=0), points[labels].max(axis=0)
    return not ((points[~labels] >= low) & (points[~labels] <= high)).all(axis=1).any()


def _by_ball(points: np.ndarray, labels: np.ndarray) -> bool:
    """|x - c|^2 <= r^2 is w [x, |x|^2, 1] >= 0 with a negative weight of |x|^2, or none at all."""
    if not labels.any() or labels.all():
        return True
    scaled = lifted_points(points, True)[:, :-1]
    lifted = np.column_stack([scaled, (scaled**2).sum(axis=1), np.ones(len(scaled))])
    signed = np.where(labels, 1.0, -1.0)[:, None] * lifted
    outward = np.zeros(lifted.shape[1])
    outward[-2] = -1.0
    least = np.append(np.ones(len(signed)), 0.0)
    return solution_of(np.vstack([signed, outward]), least) is not None


def _by_convex_set(points: np.ndarray, labels: np.ndarray) -> bool:
    """No negative point in the hull of the positive ones."""
    if not labels.any():
        return True
    lifted = lifted_points(points, True)
    hull = lifted[labels]
    # a point is outside the hull where its gap to all mixtures of the hull's points is not zero
    return all(optimize.nnls(hull.T, row)[1] > HULL_WIDTH for row in lifted[~labels])


def sine_points(n: int) -> np.ndarray:
    """Points 10^-1 ... 10^-n, which sign(sin(w x)) labels in every way."""
    return 10.0 ** -np.arange(1, n + 1)[:, None]


def sine_frequency(labels: ArrayLike) -> float:
    """The frequency w at which sin(w x) has the wanted signs at 10^-1 ... 10^-n.

    w = pi (1 + sum_i (1 - y_i) / 2 * 10^i) with y_i = +1 or -1: one parameter, any labelling.

    Parameters
    ----------
    labels : array-like of bool of shape (n,)

    Returns
    -------
    frequency : float

    Examples
    --------
    >>> import numpy as np
    >>> w = sine_frequency([True, False, True])
    >>> (np.sin(w * 10.0 ** -np.arange(1, 4)) > 0).tolist()
    [True, False, True]
    """
    negative = ~np.asarray(labels, dtype=bool)
    return float(np.pi * (1 + (10.0 ** np.arange(1, len(negative) + 1))[negative].sum()))


def _by_sine(points: np.ndarray, labels: np.ndarray) -> bool:
    x = points[:, 0]
    if not np.allclose(x, sine_points(len(x))[:, 0], rtol=1e-12):
        raise DataError("sines are known to label the points 0.1, 0.01, ...: sine_points(n)")
    return bool(((np.sin(sine_frequency(labels) * x) > 0) == labels).all())


def _cover(n: int, k: int) -> int:
    """Labellings of n points in general position by hyperplanes through zero in k dimensions."""
    return 2 * sum(comb(n - 1, i) for i in range(min(k, n)))


def _stump_dimension(n_columns: int) -> float:
    """Largest n with ceil(C(n, n // 2) / 2) columns or fewer.

    A column orders the points; thresholds on it give the sets that stand first or last in that
    order, so two sets of each size. The sets of middle size are the most and need the columns; the
    smaller ones fit into the same orders (chains below a matching of the middle sets).
    """
    n = 1
    while -(-comb(n + 1, (n + 1) // 2) // 2) <= n_columns:
        n += 1
    return n


FAMILIES: dict[str, Family] = {
    each.name: each
    for each in (
        Family(
            "hyperplanes",
            "one side of a hyperplane with offset",
            lambda d: d + 1,
            lambda n, d: _cover(n, d + 1),
            _by_hyperplane,
        ),
        Family(
            "hyperplanes through zero",
            "one side of a hyperplane through zero",
            lambda d: d,
            _cover,
            _by_central_hyperplane,
        ),
        Family("rays", "x > t", lambda d: 1, lambda n, d: n + 1, _by_ray, 1),
        Family(
            "intervals",
            "low <= x <= high",
            lambda d: 2,
            lambda n, d: comb(n + 1, 2) + 1,
            _by_box,
            1,
        ),
        Family("rectangles", "a box along the axes", lambda d: 2 * d, None, _by_box),
        Family(
            "stumps", "one column above or below a threshold", _stump_dimension, None, _by_stump
        ),
        Family("balls", "inside a ball", lambda d: d + 1, None, _by_ball),
        Family(
            "convex sets",
            "inside a convex set",
            lambda d: inf if d > 1 else 2,
            lambda n, d: 2**n if d > 1 else comb(n + 1, 2) + 1,
            _by_convex_set,
        ),
        Family("sines", "sin(w x) > 0", lambda d: inf, lambda n, d: 2**n, _by_sine, 1),
    )
}
