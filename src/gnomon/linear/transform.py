"""Regression after a monotone change of inputs or target, seen in both coordinate systems.

With u = g(x) and v = h(y) a model v = f(u) is fitted, and predictions go back by h^-1. Weight grows
like the cube of height, so its cube root is linear in height; y = exp(-c x) becomes log y = -c x.

Texts: 000 10.2.5 · 004 5.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from gnomon.contract import Data, Regressor, Takes
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.estimator import forecast_of
from gnomon.engine.parameters import HasMethods
from gnomon.engine.registry import method
from gnomon.engine.stored import Object
from gnomon.linear.inference import column_names
from gnomon.linear.least_squares import LinearRegression


class Change(NamedTuple):
    """A monotone function with its inverse, and the interval where it is one."""

    forward: Callable[[np.ndarray], np.ndarray]
    inverse: Callable[[np.ndarray], np.ndarray]
    low: float = -np.inf
    open: bool = True
    image_low: float = -np.inf


def same(x: np.ndarray) -> np.ndarray:
    return x


CHANGES = {
    "identity": Change(same, same),
    "log": Change(np.log, np.exp, low=0.0),
    "log10": Change(np.log10, lambda v: 10.0**v, low=0.0),
    "log1p": Change(np.log1p, np.expm1, low=-1.0),
    "exp": Change(np.exp, np.log, image_low=0.0),
    "sqrt": Change(np.sqrt, np.square, low=0.0, open=False, image_low=0.0),
    "square": Change(np.square, np.sqrt, low=0.0, open=False, image_low=0.0),
    "cbrt": Change(np.cbrt, lambda v: v**3),
    "cube": Change(lambda x: x**3, np.cbrt),
    "reciprocal": Change(np.reciprocal, np.reciprocal, low=0.0, image_low=0.0),
}
TRANSFORM = [str, Real, tuple, list]


def change_of(given: Any, place: str) -> Change:
    """A change by its name, the power of a positive number, or a pair of functions."""
    if isinstance(given, str) and given in CHANGES:
        return CHANGES[given]
    if isinstance(given, Real) and np.isfinite(power := float(given)) and power != 0:
        return Change(lambda x: x**power, lambda v: v ** (1 / power), low=0.0, image_low=0.0)
    if isinstance(given, (tuple, list)) and len(given) == 2 and all(map(callable, given)):
        return Change(*given)
    raise DataError(
        f"{place}={given!r} is no transform; give one of {', '.join(CHANGES)}, a power other than "
        "0, or a pair of functions (forward, inverse)"
    )


@dataclass(repr=False)
class BothResiduals(Result):
    """Predictions and residuals in the target's own units and in those of the fit.

    Attributes
    ----------
    fitted, residuals : ndarray of shape (n,)
        In the target's own units.
    transformed_fitted, transformed_residuals : ndarray of shape (n,)
        In the units of the fit.
    """

    fitted: np.ndarray
    residuals: np.ndarray
    transformed_fitted: np.ndarray
    transformed_residuals: np.ndarray

    def _systems(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        return [
            ("original", self.fitted, self.residuals),
            ("transformed", self.transformed_fitted, self.transformed_residuals),
        ]

    @property
    def r2(self) -> dict[str, float]:
        """Share of the variance explained, in both systems."""
        found = {}
        for name, fitted, residuals in self._systems():
            spread = np.var(fitted + residuals)
            found[name] = float(1 - np.mean(residuals**2) / spread) if spread > 0 else np.nan
        return found

    @property
    def unevenness(self) -> dict[str, float]:
        """Rank correlation of the residuals' sizes with the fitted values: 0 for even errors."""
        found = {}
        for name, fitted, residuals in self._systems():
            constant = np.ptp(fitted) == 0 or np.ptp(np.abs(residuals)) == 0
            rank = 0.0 if constant else scipy.stats.spearmanr(fitted, np.abs(residuals)).statistic
            found[name] = float(rank)
        return found

    def _title(self) -> str:
        return f"Residuals of {len(self.residuals)} rows in two coordinate systems"

    def _columns(self) -> dict[str, list]:
        return {
            "coordinates": ["original", "transformed"],
            "R2": list(self.r2.values()),
            "root mean square": [
                float(np.sqrt(np.mean(residuals**2))) for _, _, residuals in self._systems()
            ],
            "size against fitted": list(self.unevenness.values()),
        }

    def _remarks(self) -> list[str]:
        sizes = {name: abs(value) for name, value in self.unevenness.items()}
        evener = min(sizes, key=lambda name: sizes[name])
        return [
            f"errors are more even in the {evener} coordinates; the fit takes them to be even in "
            "the transformed ones"
        ]


@method(
    task="regress",
    texts="000 10.2.5 · 004 5.1",
    use="When a power law, growth or decay becomes a straight line after a log or a root.",
    avoid="When errors are even in the original units: the transform then makes them uneven.",
    peers=("sklearn.compose.TransformedTargetRegressor",),
)
class TransformedRegression(Regressor):
    """Any regressor after monotone changes of the inputs and the target.

    Fits h(y) = f(g(x)) and predicts h^-1(f(g(x))). Use it when plots or the nature of the problem
    say that a log or a root makes the relation straight: log-log for power laws, log y for growth,
    the cube root of a weight against lengths. Not every relation can be straightened (tanh(x^3 /
    c) cannot).

    The error model changes with the target: squared errors of h(y) are minimised, so that errors
    are taken to be even there, and what goes back is nearer to the median of y than to its mean.
    `residuals` shows both systems and says in which errors are more even.

    Texts: 000 10.2.5 · 004 5.1.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The regressor; None for `LinearRegression`. A clone of it is fitted.
    inputs : str, float, pair, dict or None, default=None
        The change of all columns, or a dict of the names of columns (x0, x1 ... in arrays) to
        changes; None for none. A change is one of identity, log, log10, log1p, exp, sqrt,
        square, cbrt, cube, reciprocal; a number p for x^p of positive x; or a pair of functions
        (forward, inverse), with which a model cannot be saved to a model file.
    target : str, float or pair, default="identity"
        The change of the target.

    Attributes
    ----------
    estimator_ : estimator
        The fitted regressor, in transformed coordinates.
    encoder_ : TableEncoder
        How a table became numbers; only when a table was given.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.linear import TransformedRegression
    >>> rank = np.arange(1.0, 50.0)[:, None]
    >>> zipf = TransformedRegression(inputs="log", target="log").fit(rank, 1000 / rank[:, 0] ** 1.2)
    >>> zipf.estimator_.coef_.round(6)
    array([-1.2])
    >>> float(zipf.predict([[1.0]])[0].round(6))
    1000.0
    """

    natively = Takes(redundant=False)
    _parameter_constraints = {
        "estimator": [None, HasMethods(["fit", "predict"])],
        "inputs": [None, dict, *TRANSFORM],
        "target": TRANSFORM,
    }
    _stored = {
        "estimator_": Object(),
    }

    def __init__(self, estimator=None, *, inputs=None, target="identity"):
        self.estimator = estimator
        self.inputs = inputs
        self.target = target

    def _fit(self, data: Data) -> None:
        rows = self._changed_rows(np.asarray(data.rows, dtype=np.float64))
        y = self._changed_target(np.asarray(data.y, dtype=np.float64))
        model = LinearRegression() if self.estimator is None else clone(self.estimator)
        weights = {} if data.weights is None else {"sample_weight": data.weights}
        if weights and not has_fit_parameter(model, "sample_weight"):
            raise DataError(
                f"{type(model).__name__} takes no sample_weight; leave the weights out or choose "
                "another estimator"
            )
        self.estimator_ = model.fit(rows, y, **weights)

    def _changed_target(self, y: np.ndarray) -> np.ndarray:
        change = change_of(self.target, "target")
        changed = applied(change, y, f"the target {getattr(self, 'target_name_', 'y')!r}")
        require_monotone(change, y, changed, "target")
        return changed

    def _changed_rows(self, rows: np.ndarray) -> np.ndarray:
        if self.inputs is None:
            return rows
        names = column_names(self)
        changes = (
            self.inputs if isinstance(self.inputs, dict) else dict.fromkeys(names, self.inputs)
        )
        unknown = [name for name in changes if name not in names]
        if unknown:
            raise DataError(
                f"inputs names the column {unknown[0]!r}; the columns are: "
                f"{', '.join(map(repr, names[:20]))}"
            )
        rows = rows.copy()
        for j, name in enumerate(names):
            if name in changes:
                change = change_of(changes[name], "inputs")
                rows[:, j] = applied(change, rows[:, j], f"column {name!r}")
        return rows

    def _transformed(self, rows) -> np.ndarray:
        return np.asarray(self.estimator_.predict(self._changed_rows(rows)), dtype=np.float64)

    def _estimate(self, rows) -> np.ndarray:
        change = change_of(self.target, "target")
        said = self._transformed(rows)
        outside = said < change.image_low
        if outside.any():
            warnings.warn(
                f"{int(outside.sum()):,} predictions are below {change.image_low:g} in the "
                "transformed coordinates, where no target lies; they are taken as "
                f"{change.image_low:g}. Another transform may suit these rows better",
                GnomonWarning,
                stacklevel=2,
            )
            said = np.maximum(said, change.image_low)
        with np.errstate(all="ignore"):
            back = np.asarray(change.inverse(said), dtype=np.float64)
        if not np.isfinite(back).all():
            raise DataError(
                f"target={self.target!r}: some predictions cannot be turned back (they are "
                "infinite or undefined in the target's units); the rows may lie far "
                "beyond the training rows"
            )
        return back

    def predict_transformed(self, X) -> np.ndarray:
        """Predictions in the coordinates of the fit, h(y).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        v : ndarray of shape (n_samples,)
        """
        return self._each_block(self._transformed, X)

    def residuals(self, X, y) -> BothResiduals:
        """Predictions and residuals of rows in both coordinate systems.

        Parameters
        ----------
        X : array-like, data frame or Table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        residuals : BothResiduals
        """
        y = np.asarray(y, dtype=np.float64)
        fitted, transformed = self.predict(X), self.predict_transformed(X)
        return BothResiduals(fitted, y - fitted, transformed, self._changed_target(y) - transformed)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        inner = LinearRegression() if self.estimator is None else self.estimator
        copies = 2 * n_columns * (self.inputs is not None)
        return forecast_of(inner, n_rows, n_columns) + 8 * n_rows * (copies + 2)


def applied(change: Change, values: np.ndarray, what: str) -> np.ndarray:
    """The change of some values; refused outside its domain."""
    wrong = values <= change.low if change.open else values < change.low
    if wrong.any():
        place = int(np.argmax(wrong))
        sign = "above" if change.open else "at least"
        raise DataError(
            f"{what} must be {sign} {change.low:g} for this transform; row {place} holds "
            f"{values[place]:g}. Shift it first, or choose another transform"
        )
    with np.errstate(all="ignore"):
        changed = np.asarray(change.forward(values), dtype=np.float64)
    if changed.shape != values.shape or not np.isfinite(changed).all():
        raise DataError(f"{what}: the transform gives values that are infinite or undefined")
    return changed


def require_monotone(change: Change, values: np.ndarray, changed: np.ndarray, place: str) -> None:
    """Refuse a pair of functions that is not monotone with its inverse on the training values."""
    order = np.argsort(values, kind="stable")
    steps = np.diff(changed[order])[np.diff(values[order]) > 0]
    if (steps < 0).any() and (steps > 0).any():
        raise DataError(f"{place}: the transform both rises and falls; it must be monotone")
    with np.errstate(all="ignore"):
        back = np.asarray(change.inverse(changed), dtype=np.float64)
    if not np.allclose(back, values, rtol=1e-5, atol=1e-8 * (1 + np.abs(values).max(initial=0.0))):
        raise DataError(
            f"{place}: the inverse does not undo the transform on the training values (too large "
            "for it, or the two functions do not belong together)"
        )
