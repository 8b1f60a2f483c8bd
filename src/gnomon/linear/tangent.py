"""Local linearisation: the tangent plane of any fitted model at a point.

f(x) = f(c) + grad f(c) (x - c) + O(|x - c|^2): near c the plane says what the model says, and its
slopes say what each column does there. The error grows with the square of the distance.

Text: 004 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine.errors import DataError

STEP = np.finfo(np.float64).eps ** (1 / 3)


@dataclass(repr=False)
class TangentErrors(Result):
    """How far a tangent is from its model, by distance from the point.

    Attributes
    ----------
    distances : ndarray of shape (k,)
        In steps of one unit of `scale` along each column.
    errors : ndarray of shape (k,)
        Greatest error at this distance among the directions of the columns, both ways.
    """

    distances: np.ndarray
    errors: np.ndarray

    @property
    def order(self) -> float:
        """Slope of log error on log distance: about 2 where the model is smooth; NaN if exact."""
        seen = self.errors > 0
        if seen.sum() < 2:
            return float("nan")
        return float(np.polyfit(np.log(self.distances[seen]), np.log(self.errors[seen]), 1)[0])

    def _title(self) -> str:
        return "Error of the tangent by distance from the point"

    def _columns(self) -> dict[str, list]:
        return {"distance": self.distances.tolist(), "greatest error": self.errors.tolist()}

    def _remarks(self) -> list[str]:
        if np.isnan(self.order):
            return ["the model is its own tangent"]
        return [f"error grows like distance^{self.order:.2g} (2: the model is smooth here)"]


class LocalLinearization:
    """The tangent plane of a fitted model at a point.

    Slopes are central differences (f(c + h) - f(c - h)) / 2h, or given. Use it to read a model of
    any kind near one case: what would a little more of each column do? Not far from the point, and
    not for models of steps (trees), whose slopes are zero almost everywhere; with a step as
    large as the changes that matter it gives their mean slope.

    Text: 004 4.5 (a growth curve's tangent at seven years is good from two to about fifteen).

    Parameters
    ----------
    model : fitted regressor or callable
        Something with ``predict``, or a function of an array of shape (n, n_columns).
    point : array-like of shape (n_columns,)
        Where the tangent touches.
    step : float or array-like of shape (n_columns,), default=None
        The differences h; None for a small one, eps^(1/3) times `scale`.
    scale : float or array-like of shape (n_columns,), default=None
        What counts as a unit in each column, such as its standard deviation; None for
        max(1, |c|).
    gradient : callable or array-like, default=None
        Slopes where they are known: an array, or a function of the point.

    Attributes
    ----------
    value : float
        f(c).
    coef : ndarray of shape (n_columns,)
        The slopes.
    intercept : float
        The plane's height at the origin.
    point, scale : ndarray of shape (n_columns,)

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import LocalLinearization
    >>> tangent = LocalLinearization(lambda X: X[:, 0] ** 2 + 3 * X[:, 1], [2.0, 1.0])
    >>> tangent.value, tangent.coef.round(6)
    (7.0, array([4., 3.]))
    >>> tangent.predict([[2.1, 1.0]]).round(6)
    array([7.4])
    >>> round(tangent.errors().order, 3)
    2.0
    """

    def __init__(self, model: Any, point, *, step=None, scale=None, gradient=None):
        self.model = model
        self.point = np.atleast_1d(np.asarray(point, dtype=np.float64))
        if self.point.ndim != 1 or not np.isfinite(self.point).all():
            raise DataError("point must be one row of finite numbers, one for each column")
        unit = np.maximum(np.abs(self.point), 1.0) if scale is None else scale
        self.scale = self._per_column(unit, "scale")
        self.value = float(self._ask(self.point[None])[0])
        if gradient is None:
            steps = STEP * self.scale if step is None else self._per_column(step, "step")
            self.coef = self._differences(steps)
        else:
            slopes = gradient(self.point) if callable(gradient) else gradient
            self.coef = np.broadcast_to(np.asarray(slopes, dtype=np.float64), self.point.shape)
        self.intercept = float(self.value - self.point @ self.coef)

    def _per_column(self, given, name: str) -> np.ndarray:
        found = np.broadcast_to(np.asarray(given, dtype=np.float64), self.point.shape).copy()
        if not (np.isfinite(found) & (found > 0)).all():
            raise DataError(f"{name} must be positive, for every column")
        return found

    def _ask(self, rows: np.ndarray) -> np.ndarray:
        predict = getattr(self.model, "predict", self.model)
        said = np.asarray(predict(rows))
        if said.shape not in ((len(rows),), (len(rows), 1)) or said.dtype.kind not in "fiub":
            raise DataError(
                f"the model must give one number for each row; it gives {said.dtype} of shape "
                f"{said.shape} for {len(rows)} rows. For a classifier give a function such as "
                "lambda X: model.predict_proba(X)[:, 1]"
            )
        return said.reshape(-1).astype(np.float64)

    def _differences(self, steps: np.ndarray) -> np.ndarray:
        around = np.diag(steps)
        rows = np.concatenate([self.point + around, self.point - around])
        gaps = (rows[: len(steps)] - rows[len(steps) :]).diagonal()
        ahead, behind = np.split(self._ask(rows), 2)
        return (ahead - behind) / gaps

    def predict(self, X) -> np.ndarray:
        """Heights of the tangent plane.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        rows = np.atleast_2d(np.asarray(X, dtype=np.float64))
        return self.value + (rows - self.point) @ self.coef

    def errors(self, distances=(0.01, 0.03, 0.1, 0.3, 1.0)) -> TangentErrors:
        """How far the plane is from the model at growing distances.

        Parameters
        ----------
        distances : array-like, default=(0.01, 0.03, 0.1, 0.3, 1.0)
            In units of `scale`.

        Returns
        -------
        errors : TangentErrors
        """
        distances = np.asarray(distances, dtype=np.float64)
        around = np.concatenate([np.diag(self.scale), -np.diag(self.scale)])
        found = []
        for distance in distances:
            rows = self.point + distance * around
            found.append(np.abs(self._ask(rows) - self.predict(rows)).max())
        return TangentErrors(distances, np.array(found))
