"""Hyperplanes: signed distances, sides, linear threshold classifiers, margins.

H = {x : <x, v> = c}. The signed distance of x is (<x, v> - c) / |v|: its sign is the side, and
scaling v and c together changes the score but not the distance. In homogeneous coordinates the
plane is z = (-c, v), and the score <(1, x), z>. One text writes the offset as -c (002), the others
as +b with b = -c; both are here.

Texts: 001 8.2 · 002 L393-474, L608-785, L1540-1569 · 004 4.4.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.storable import storable
from gnomon.engine.stored import LABELS, Anything, Array, Flag, ListOf, Number

UNLIKE_LENGTHS = 1.01  # judgement: scores differ by less than 1%


@storable
@dataclass(frozen=True)
class Hyperplane:
    """The plane <x, normal> + intercept = 0, and which side of it rows lie on.

    Use it for geometry, and to read a fitted linear classifier; it learns nothing itself. Texts:
    002 L393-474, L749-785 (whose c is `threshold`, minus the intercept).

    Attributes
    ----------
    normal : ndarray of shape (d,)
        The v: points to the positive side.
    intercept : float
        The b = -c.

    Examples
    --------
    >>> from gnomon.margin import Hyperplane
    >>> plane = Hyperplane.from_threshold([3, 4], 10)
    >>> plane.signed_distance([[3, 4], [0, 0]]).tolist()
    [3.0, -2.0]
    >>> plane.side([[3, 4], [0, 0]]).tolist()
    [1, -1]
    """

    normal: np.ndarray
    intercept: float = 0.0
    _stored = {
        "normal": Array("f8", ("n_columns",)),
        "intercept": Number(),
    }

    def __post_init__(self):
        normal = np.asarray(self.normal, dtype=np.float64).ravel()
        if not np.any(normal) or not np.isfinite(normal).all():
            raise DataError("a hyperplane needs a finite normal vector that is not zero")
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "intercept", float(self.intercept))

    @classmethod
    def from_threshold(cls, normal: Any, threshold: float) -> Hyperplane:
        """The plane <x, v> = c, with the offset as 002 and 004 4.4 write it."""
        return cls(normal, -float(threshold))

    @classmethod
    def from_point(cls, normal: Any, point: Any) -> Hyperplane:
        """The plane through a point: H + w of 002, with w the point."""
        normal = np.asarray(normal, dtype=np.float64)
        return cls(normal, -float(normal @ np.asarray(point, dtype=np.float64)))

    @classmethod
    def from_homogeneous(cls, z: Any) -> Hyperplane:
        """The plane of z = (-c, v) in homogeneous coordinates."""
        z = np.asarray(z, dtype=np.float64)
        return cls(z[1:], float(z[0]))

    @classmethod
    def of(cls, model: Any) -> Hyperplane:
        """The plane of a fitted linear classifier of two classes (``coef_``, ``intercept_``)."""
        coef = np.atleast_2d(getattr(model, "coef_", np.zeros((0, 0))))
        if coef.shape[0] != 1:
            raise DataError(
                f"{type(model).__name__} has no single plane: it needs coef_ of one row; for "
                "several classes see LinearDiscriminant.of"
            )
        return cls(coef[0], float(np.ravel(model.intercept_)[0]))

    @property
    def threshold(self) -> float:
        """The c of <x, v> = c."""
        return -self.intercept

    @property
    def homogeneous(self) -> np.ndarray:
        """(-c, v)."""
        return np.concatenate([[self.intercept], self.normal])

    def unit(self) -> Hyperplane:
        """The same plane with a normal of length one; its threshold is then a length."""
        length = float(np.linalg.norm(self.normal))
        return Hyperplane(self.normal / length, self.intercept / length)

    def score(self, X: Any) -> np.ndarray:
        """<x, v> - c of each row: changes with the length of v."""
        return np.asarray(X, dtype=np.float64) @ self.normal + self.intercept

    def signed_distance(self, X: Any) -> np.ndarray:
        """Distance of each row, positive on the side that the normal points to."""
        return self.score(X) / float(np.linalg.norm(self.normal))

    def side(self, X: Any) -> np.ndarray:
        """+1, -1, or 0 on the plane itself."""
        return np.sign(self.score(X)).astype(np.int64)

    def project(self, X: Any) -> np.ndarray:
        """The point of the plane that is nearest to each row."""
        unit = self.unit()
        X = np.asarray(X, dtype=np.float64)
        return X - unit.score(X)[:, None] * unit.normal


@storable
@dataclass(frozen=True)
class LinearThreshold:
    """A linear threshold unit: one class from the threshold on, the other below.

    f(x) = step(<x, w> - theta). The weights are given, or taken from a fitted model by `of`; to
    learn them use `Perceptron`, `LinearSVC` or any other linear classifier, all of which are of
    this form. Texts: 002 L458-510 · 004 4.4.

    Attributes
    ----------
    weights : ndarray of shape (d,)
    threshold : float
    classes : tuple of two labels
        Below, and from the threshold on.

    Examples
    --------
    >>> from gnomon.margin import LinearThreshold
    >>> both = LinearThreshold([1, 1], 1.5, classes=(False, True))
    >>> both.predict([[0, 1], [1, 1]]).tolist()
    [False, True]
    """

    weights: np.ndarray
    threshold: float = 0.0
    classes: Sequence[Any] = (-1, 1)
    _stored = {
        "weights": Array("f8", ("n_columns",)),
        "threshold": Number(),
        "classes": ListOf(Anything(), 2) | ListOf(Anything(), 2, kind=tuple),
    }

    def __post_init__(self):
        weights = np.asarray(self.weights, dtype=np.float64).ravel()
        object.__setattr__(self, "weights", weights)
        if len(self.classes) != 2:
            raise DataError(f"a threshold tells two classes apart, not {len(self.classes)}")

    @classmethod
    def of(cls, model: Any) -> LinearThreshold:
        """The unit that a fitted linear classifier of two classes is."""
        plane = Hyperplane.of(model)
        return cls(plane.normal, plane.threshold, tuple(model.classes_.tolist()))

    @property
    def hyperplane(self) -> Hyperplane:
        """The border between the classes."""
        return Hyperplane.from_threshold(self.weights, self.threshold)

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        above = np.asarray(X, dtype=np.float64) @ self.weights >= self.threshold
        return np.asarray(self.classes)[above.astype(np.int64)]


@storable
@dataclass(frozen=True)
class LinearDiscriminant:
    """The greatest of several linear scores g_k(x) = <x, v_k> + b_k decides.

    Scores can be compared only where the v_k are of like length; those of machines trained apart
    are not, so that `normalized` should be used, and a warning says so. Texts: 002 L1540-1569.

    Attributes
    ----------
    weights : ndarray of shape (n_classes, d)
    intercepts : ndarray of shape (n_classes,)
    classes : ndarray of shape (n_classes,)
    comparable : bool
        Whether the scores were found together, so that their lengths mean something.

    Examples
    --------
    >>> from gnomon.margin import LinearDiscriminant
    >>> best = LinearDiscriminant([[1, 0], [0, 1], [-1, 0]], [0, 0, 0], ["east", "north", "west"])
    >>> best.predict([[2, 1], [-3, 1]]).tolist()
    ['east', 'west']
    """

    weights: np.ndarray
    intercepts: np.ndarray
    classes: Sequence[Any]
    comparable: bool = False
    _stored = {
        "weights": Array("f8", ("n_classes", "n_columns")),
        "intercepts": Array("f8", ("n_classes",)),
        "classes": ListOf(Anything(), "n_classes")
        | ListOf(Anything(), "n_classes", kind=tuple)
        | Array(LABELS, ("n_classes",)),
        "comparable": Flag(),
    }

    def __post_init__(self):
        weights = np.atleast_2d(np.asarray(self.weights, dtype=np.float64))
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "intercepts", np.asarray(self.intercepts, dtype=np.float64))
        object.__setattr__(self, "classes", np.asarray(self.classes))
        if not len(weights) == len(self.intercepts) == len(self.classes):
            raise DataError(
                f"{len(weights)} weight vectors, {len(self.intercepts)} intercepts and "
                f"{len(self.classes)} classes do not belong together"
            )

    @classmethod
    def of(cls, model: Any) -> LinearDiscriminant:
        """The scores of a fitted linear classifier of three classes or more."""
        return cls(model.coef_, model.intercept_, model.classes_)

    @property
    def lengths(self) -> np.ndarray:
        """|v_k|."""
        return np.linalg.norm(self.weights, axis=1)

    def normalized(self) -> LinearDiscriminant:
        """The same planes with unit normals: scores are then signed distances."""
        lengths = np.where(self.lengths > 0, self.lengths, 1.0)
        return LinearDiscriminant(
            self.weights / lengths[:, None], self.intercepts / lengths, self.classes
        )

    def scores(self, X: Any) -> np.ndarray:
        """g_k(x), a column per class."""
        lengths = self.lengths
        if not self.comparable and lengths.max() > UNLIKE_LENGTHS * lengths.min():
            warnings.warn(
                f"the weight vectors have lengths from {lengths.min():.3g} to {lengths.max():.3g}, "
                "so that their scores are not comparable distances; use normalized()",
                GnomonWarning,
                stacklevel=3,
            )
        return np.asarray(X, dtype=np.float64) @ self.weights.T + self.intercepts

    def predict(self, X: Any) -> np.ndarray:
        """The class of the greatest score; of equal ones the first."""
        return self.classes[self.scores(X).argmax(axis=1)]


class Margins(Result):
    """How far rows lie on the right side of a classifier's border.

    Attributes
    ----------
    functional : ndarray of shape (n,)
        y_i f(x_i): negative where the row is on the wrong side.
    geometric : ndarray of shape (n,) or None
        y_i f(x_i) / |w|, a distance; None where |w| is not known.
    norm : float
        |w|, in the space of the kernel where there is one.
    """

    def __init__(self, functional: np.ndarray, norm: float):
        self.functional = functional
        self.norm = norm
        self.geometric = functional / norm if norm > 0 else None

    @property
    def functional_margin(self) -> float:
        """The least functional margin."""
        return float(self.functional.min())

    @property
    def geometric_margin(self) -> float:
        """The least geometric margin: distance of the nearest row, negative with errors."""
        return float("nan") if self.geometric is None else float(self.geometric.min())

    @property
    def n_errors(self) -> int:
        """Rows on the wrong side or on the border."""
        return int((self.functional <= 0).sum())

    def _title(self) -> str:
        return f"Margins of {len(self.functional):,} rows"

    def _columns(self) -> dict[str, list]:
        least, middle = float(self.functional.min()), float(np.median(self.functional))
        scale = self.norm if self.norm > 0 else np.nan
        return {
            "": ["functional", "geometric"],
            "least": [least, least / scale],
            "median": [middle, middle / scale],
        }

    def _remarks(self) -> list[str]:
        return [f"{self.n_errors} rows are not on the right side; |w| = {self.norm:.4g}"]


def margins(estimator: Any, X: Any, y: Any) -> Margins:
    """Functional and geometric margins of rows under a linear or kernel classifier of two classes.

    The functional margin y_i f(x_i) depends on the scale of f; the geometric one, its quotient by
    |w|, is the distance to the border (in the kernel's space, where there is one) and does not.
    The least of the geometric ones is the margin of the data, the lesser of the distances of the
    two classes' hulls from the plane (002 prints one hull twice). Texts: 001 8.2 · 002 L608-715.

    Parameters
    ----------
    estimator : Hyperplane, or classifier with ``decision_function`` and ``classes_``
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
        Labels; for a `Hyperplane` -1 and +1.

    Returns
    -------
    margins : Margins

    Examples
    --------
    >>> from gnomon.margin import Hyperplane, margins
    >>> found = margins(Hyperplane([2.0], -2.0), [[0.0], [2.5]], [-1, 1])
    >>> found.functional.tolist(), found.geometric_margin
    ([2.0, 3.0], 1.0)
    """
    y = np.asarray(y)
    if isinstance(estimator, Hyperplane):
        if not np.isin(y, (-1, 1)).all():
            raise DataError("the labels beside a Hyperplane are -1 and +1")
        return Margins(y * estimator.score(X), float(np.linalg.norm(estimator.normal)))
    classes = estimator.classes_
    if len(classes) != 2:
        raise DataError(f"margins are of two classes; this model has {len(classes)}")
    if not np.isin(y, classes).all():
        raise DataError(f"y holds labels that the model does not know; it knows {classes.tolist()}")
    sign = np.where(y == classes[1], 1.0, -1.0)
    return Margins(sign * np.asarray(estimator.decision_function(X)), weight_norm(estimator))


def weight_norm(model: Any) -> float:
    """|w| of a linear or kernel classifier of two classes; NaN where the model does not tell."""
    if hasattr(model, "coef_"):
        return float(np.linalg.norm(model.coef_))
    if not hasattr(model, "dual_coef_") or not hasattr(model, "kernel_"):
        return float("nan")
    if model.kernel_.pairwise:
        return float("nan")
    coefficients = model.dual_coef_[0]
    vectors = model.support_vectors_
    against = model.kernel_.against(vectors)
    square = 0.0
    for first in range(0, vectors.shape[0], 256):
        here = slice(first, first + 256)
        square += float(coefficients[here] @ against(vectors[here]) @ coefficients)
    return float(np.sqrt(max(square, 0.0)))
