"""Stumps: one question about one column or direction, two answers.

A decision stump  f(x) = s if v'x > t, else -s,  with s = -1 or 1, minimises  sum_i h_i f(x_i)  over
direction, threshold and sign; h_i are signed weights (-w_i y_i for rows of weight w_i and class
y_i = -1 or 1, or the derivative of a loss). A regression stump  f(x) = v1 if x_j <= t, else v2
minimises the weighted squared error. Both try every threshold half-way between neighbouring values:
n log n per direction, by sums over the sorted rows.

`DecisionTreeClassifier(max_depth=1)` and `DecisionTreeRegressor(max_depth=1)` are the same thing as
estimators, for any table; `gnomon.ensemble.AdaBoostClassifier` boosts stumps.

Texts: 000b 12.2.3 (Procedure 12.4), problem 12.3 · 002 "Decision stumps" (which has one sign).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.utils import check_random_state

from gnomon.engine.errors import DataError
from gnomon.trees.binning import midpoints


@dataclass(frozen=True)
class DecisionStump:
    """sign where direction'x > threshold, else -sign.

    Attributes
    ----------
    direction : ndarray of shape (n_columns,)
        One at a column, or any vector.
    threshold : float
    sign : int
    objective : float
        The sum of signed weights times answers that was reached, on the rows searched.
    """

    direction: np.ndarray
    threshold: float
    sign: int
    objective: float

    def predict(self, X) -> np.ndarray:
        """Answers -1 or 1 for rows of numbers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        """
        above = np.asarray(X, np.float64) @ self.direction > self.threshold
        return np.where(above, self.sign, -self.sign)


def decision_stump(
    X, signed_weights, *, directions: str | int = "axes", subsample: int | None = None,
    random_state=None,
) -> DecisionStump:  # fmt: skip
    """The stump that minimises the sum of signed weights times its answers.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Finite numbers.
    signed_weights : array-like of shape (n_rows,)
        -w_i y_i for classes y_i = -1 or 1 of weight w_i.
    directions : "axes" or int, default="axes"
        Every column, or so many random directions (normal components), which need not be columns.
    subsample : int, default=None
        Search so many rows only, drawn without replacement; None for all.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    stump : DecisionStump
        Its objective is never positive: the other sign is tried too.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([-1, -1, 1, 1])
    >>> stump = decision_stump([[0.0], [1.0], [2.0], [3.0]], -y / 4)
    >>> stump.threshold, stump.sign, stump.objective
    (1.5, 1, -1.0)
    """
    rows, weights = _checked(X, signed_weights, "signed_weights")
    rng = check_random_state(random_state)
    if subsample is not None:
        if not 2 <= subsample <= len(rows):
            raise DataError(f"subsample={subsample} must be from 2 to the {len(rows)} rows")
        chosen = rng.permutation(len(rows))[:subsample]
        rows, weights = rows[chosen], weights[chosen]
    best: DecisionStump | None = None
    for direction in _directions(directions, rows.shape[1], rng):
        found = _best_threshold(rows @ direction, weights)
        if found is not None and (best is None or found[2] < best.objective):
            best = DecisionStump(direction, *found)
    if best is None:
        raise DataError("all rows are equal: no threshold parts them")
    return best


def _directions(wanted: str | int, n_columns: int, rng) -> Iterator[np.ndarray]:
    if wanted == "axes":
        yield from np.eye(n_columns)
    elif isinstance(wanted, (int, np.integer)) and wanted >= 1:
        yield from rng.normal(size=(int(wanted), n_columns))
    else:
        raise ValueError(f"directions={wanted!r} must be 'axes' or a number of random directions")


def _best_threshold(values: np.ndarray, weights: np.ndarray) -> tuple[float, int, float] | None:
    order = np.argsort(values, kind="stable")
    values = values[order]
    cuts = np.flatnonzero(values[1:] > values[:-1])
    if cuts.size == 0:
        return None
    below = np.cumsum(weights[order])
    # answers 1 above and -1 below: the weight above less the weight below
    sums = below[-1] - 2 * below[cuts]
    place = int(np.argmax(np.abs(sums)))
    sign = -1 if sums[place] > 0 else 1
    cut = cuts[place]
    threshold = float(midpoints(values[cut : cut + 1], values[cut + 1 : cut + 2])[0])
    return threshold, sign, float(-abs(sums[place]))


@dataclass(frozen=True)
class RegressionStump:
    """left where the column is at most the threshold, else right.

    Attributes
    ----------
    column : int
    threshold : float
    left, right : float
        Weighted means of the two sides.
    squared_error : float
        Weighted sum of squared residuals.
    """

    column: int
    threshold: float
    left: float
    right: float
    squared_error: float

    def predict(self, X) -> np.ndarray:
        """Numbers for rows of numbers.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_columns)
        """
        below = np.asarray(X, np.float64)[:, self.column] <= self.threshold
        return np.where(below, self.left, self.right)


def regression_stump(X, y, sample_weight=None, column: int | None = None) -> RegressionStump:
    """The stump of least weighted squared error, on one column or the best of all.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        Finite numbers.
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,), default=None
        Positive weights.
    column : int, default=None
        The column to ask about; None for the best.

    Returns
    -------
    stump : RegressionStump

    Examples
    --------
    >>> stump = regression_stump([[1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 3.0, 5.0])
    >>> stump.threshold, stump.left, stump.right, stump.squared_error
    (2.5, 1.0, 4.0, 2.0)
    """
    rows, y = _checked(X, y, "y")
    _, weights = _checked(X, np.ones(len(rows)) if sample_weight is None else sample_weight,
                          "sample_weight")  # fmt: skip
    if (weights <= 0).any():
        raise DataError("sample_weight must be positive; leave rows of no weight out")
    columns = range(rows.shape[1]) if column is None else [column]
    found = [_best_step(rows[:, j], y, weights, j) for j in columns]
    known = [stump for stump in found if stump is not None]
    if not known:
        raise DataError("the column has one value only: no threshold parts the rows")
    return min(known, key=lambda stump: stump.squared_error)


def _best_step(values, y, weights, column: int) -> RegressionStump | None:
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    center = np.average(y, weights=weights[np.argsort(order)])
    gap = y[order] - center
    cuts = np.flatnonzero(values[1:] > values[:-1])
    if cuts.size == 0:
        return None
    weight, total = np.cumsum(weights), np.cumsum(weights * gap)
    left, right = (
        total[cuts] / weight[cuts],
        (total[-1] - total[cuts]) / (weight[-1] - weight[cuts]),
    )
    saved = weight[cuts] * left**2 + (weight[-1] - weight[cuts]) * right**2
    place = int(np.argmax(saved))
    cut = cuts[place]
    answers = np.where(np.arange(values.size) <= cut, left[place], right[place])
    return RegressionStump(
        column,
        float(midpoints(values[cut : cut + 1], values[cut + 1 : cut + 2])[0]),
        float(center + left[place]),
        float(center + right[place]),
        float(weights @ (gap - answers) ** 2),
    )


def _checked(X, other, name: str) -> tuple[np.ndarray, np.ndarray]:
    rows, other = np.asarray(X, np.float64), np.asarray(other, np.float64)
    if rows.ndim != 2 or other.shape != (len(rows),):
        raise DataError(
            f"X has shape {rows.shape} and {name} {other.shape}: give rows of numbers, and one "
            "number for each row"
        )
    if not (np.isfinite(rows).all() and np.isfinite(other).all()):
        raise DataError(f"X or {name} holds NaN or infinity; a decision tree takes missing cells")
    return rows, other
