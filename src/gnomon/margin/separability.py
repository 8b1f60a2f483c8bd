"""Can a plane separate two classes? And if not, how few errors must it make?

Two classes are separable exactly where their hulls have no point in common: a linear programme
finds a plane, or a point that is a mixture of the rows of either class, which proves that there is
none. Fewest errors is a harder question: the number of errors does not change with small moves of
the plane, so that slopes say nothing; a mixed-integer programme answers it exactly on few rows.

Texts: 002 L470-531, L600-606 (separability), L478-513 (fewest errors).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from sklearn.exceptions import ConvergenceWarning

from gnomon.contract.result import Result
from gnomon.margin.hulls import two_sides
from gnomon.margin.hyperplane import Hyperplane
from gnomon.margin.kernels import as_rows
from gnomon.margin.linear_svm import LinearSVC
from gnomon.margin.perceptron import PocketPerceptron

# What linear programmes are solved to, where columns reach from -1 to 1.
LEAST_MARGIN = 1e-6
EXACT_ROWS = 60
# Room that a plane leaves to each row it gets right, where columns have length one.
MARGIN = 1e-5


@dataclass
class Separability(Result):
    """What `separability` found.

    Attributes
    ----------
    separable : bool
    plane : Hyperplane or None
        A plane between the classes.
    common_point : ndarray of shape (d,) or None
        A point of both hulls, where there is no such plane.
    weights : ndarray of shape (n,) or None
        Its mixture over the rows of each class; those of each class sum to one.
    """

    separable: bool
    plane: Hyperplane | None = None
    common_point: np.ndarray | None = None
    weights: np.ndarray | None = None

    def _title(self) -> str:
        if self.separable:
            return "A plane separates the classes"
        return "No plane separates the classes: their hulls have a point in common"

    def _columns(self) -> dict[str, list]:
        if self.plane is not None:
            return {
                "column": list(range(len(self.plane.normal))),
                "normal": self.plane.normal.tolist(),
            }
        if self.common_point is None:
            return {"column": []}
        return {
            "column": list(range(len(self.common_point))),
            "point in common": self.common_point.tolist(),
        }


def _scaled(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows within [-1, 1], their centre and half extent."""
    low, high = X.min(axis=0), X.max(axis=0)
    half = np.where(high > low, (high - low) / 2, 1.0)
    center = (low + high) / 2
    return (X - center) / half, center, half


def separability(X: Any, y: Any) -> Separability:
    """Test whether a plane separates two classes, with a proof of either answer.

    Classes that are nearer to each other than a millionth of the columns' extents count as
    touching. Texts: 002 L470-474, L524-531, L600-606.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Two classes.

    Returns
    -------
    answer : Separability

    Examples
    --------
    >>> from gnomon.margin import separability
    >>> separability([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]).common_point.tolist()
    [0.5, 0.5]
    >>> separability([[0], [1], [2]], [0, 0, 1]).separable
    True
    """
    X = as_rows(X)
    _, sign = two_sides(y)
    unit, center, half = _scaled(X)
    n, d = unit.shape
    # the greatest t with y (w . x + b) >= t, sizes of w bounded
    target = np.zeros(d + 2)
    target[-1] = -1.0
    limits = np.column_stack([-sign[:, None] * unit, -sign, np.ones(n)])
    bounds = [(-1, 1)] * d + [(None, None), (None, None)]
    found = linprog(target, A_ub=limits, b_ub=np.zeros(n), bounds=bounds, method="highs")
    if found.status == 0 and found.x[-1] > LEAST_MARGIN:
        normal = found.x[:d] / half
        return Separability(True, Hyperplane(normal, float(found.x[d] - normal @ center)))
    weights = _common_mixture(unit, sign)
    point = None if weights is None else weights[sign > 0] @ X[sign > 0]
    return Separability(False, None, point, weights)


def _common_mixture(unit: np.ndarray, sign: np.ndarray) -> np.ndarray | None:
    equalities = np.vstack([(unit * sign[:, None]).T, (sign > 0) * 1.0, (sign < 0) * 1.0])
    right = np.append(np.zeros(unit.shape[1]), [1.0, 1.0])
    found = linprog(np.zeros(len(unit)), A_eq=equalities, b_eq=right, method="highs")
    return np.maximum(found.x, 0.0) if found.status == 0 else None


@dataclass
class FewestErrors(Result):
    """A plane with few errors on the rows it was found on.

    Attributes
    ----------
    plane : Hyperplane
    classes : ndarray of shape (2,)
    n_errors : int
        Rows on the wrong side, or on the plane.
    exact : bool
        Whether it is proved that no plane has fewer.
    wrong : ndarray of int
        Positions of these rows.
    """

    plane: Hyperplane
    classes: np.ndarray
    n_errors: int
    exact: bool
    wrong: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        return self.classes[(self.plane.score(X) >= 0).astype(np.int64)]

    def _title(self) -> str:
        how = "no plane has fewer" if self.exact else "others may have fewer"
        return f"A plane with {self.n_errors} errors; {how}"

    def _columns(self) -> dict[str, list]:
        normal = self.plane.normal
        return {"column": list(range(len(normal))), "normal": normal.tolist()}


def fewest_errors(
    X: Any,
    y: Any,
    *,
    exact: bool | None = None,
    n_init: int = 20,
    time_limit: float = 60.0,
    random_state: int | None = 0,
) -> FewestErrors:
    """The linear classifier with the fewest training errors.

    Minimises the number of errors itself (empirical risk with 0-1 loss). That number is constant
    between its jumps, so that no slope leads to its minimum: few rows are solved exactly, by a
    mixed-integer programme; many by perceptrons with a pocket from many random orders and a linear
    SVM, of which the best is kept. Not a way to good predictions: planes with equal errors differ
    widely. Texts: 002 L478-513.

    Parameters
    ----------
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Two classes.
    exact : bool or None, default=None
        Whether to solve the programme; None for up to 60 rows. A plane that must pass nearer than
        1e-5 of the rows' extent to a row it gets right is not found by it.
    n_init : int, default=20
        Perceptrons.
    time_limit : float, default=60.0
        Seconds for the programme; what is found then is returned with ``exact=False``.
    random_state : int or None, default=0

    Returns
    -------
    found : FewestErrors

    Examples
    --------
    >>> from gnomon.margin import fewest_errors
    >>> print(fewest_errors([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])._title())
    A plane with 1 errors; no plane has fewer
    """
    X = as_rows(X)
    classes, sign = two_sides(y)
    unit, center, half = _scaled(X)
    exact = len(X) <= EXACT_ROWS if exact is None else exact
    answers = [_best_start(unit, sign, n_init, random_state)]
    proved = _count(answers[0], unit, sign) == 0
    if exact and not proved:
        found, proved = _integer_programme(unit, sign, time_limit)
        if found is not None:
            answers.append(found)
    best = min(answers, key=lambda plane: _count(plane, unit, sign))
    normal = best[:-1] / half
    plane = Hyperplane(normal, float(best[-1] - normal @ center))
    wrong = np.flatnonzero(sign * (unit @ best[:-1] + best[-1]) <= 0)
    return FewestErrors(plane, classes, len(wrong), bool(proved), wrong)


def _count(plane: np.ndarray, unit: np.ndarray, sign: np.ndarray) -> int:
    return int((sign * (unit @ plane[:-1] + plane[-1]) <= 0).sum())


def _best_start(unit, sign, n_starts: int, random_state: int | None) -> np.ndarray:
    """The best plane of perceptrons and a linear SVM."""
    seeds = np.random.default_rng(random_state).integers(2**31, size=max(n_starts, 1))
    models: list[Any] = [LinearSVC(random_state=0)]
    models += [PocketPerceptron("random", max_iter=100, random_state=int(seed)) for seed in seeds]
    planes = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for model in models:
            model.fit(unit, sign)
            plane = np.append(model.coef_[0], model.intercept_[0])
            if plane[:-1].any():
                planes.append(plane)
    if not planes:
        planes = [np.append(np.ones(unit.shape[1]), 0.0)]
    return min(planes, key=lambda plane: _count(plane, unit, sign))


def _integer_programme(unit, sign, time_limit: float) -> tuple[np.ndarray | None, bool]:
    """min sum e, y (w . x + b) >= MARGIN - big e, entries of w and b bounded, e 0 or 1."""
    n, d = unit.shape
    big = MARGIN + np.abs(unit).sum(axis=1) + d
    rows = np.column_stack([sign[:, None] * unit, sign, np.diag(big)])
    lower = np.concatenate([np.full(d, -1.0), [-float(d)], np.zeros(n)])
    upper = np.concatenate([np.full(d, 1.0), [float(d)], np.ones(n)])
    found = milp(
        np.concatenate([np.zeros(d + 1), np.ones(n)]),
        constraints=LinearConstraint(rows, np.full(n, MARGIN), np.inf),
        bounds=Bounds(lower, upper),
        integrality=np.concatenate([np.zeros(d + 1), np.ones(n)]),
        options={"time_limit": time_limit},
    )
    if found.x is None or not found.x[:d].any():
        return None, False
    plane = found.x[: d + 1]
    return plane, found.status == 0 and _count(plane, unit, sign) == round(found.fun)
