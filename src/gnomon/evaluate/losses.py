"""Pointwise losses: one object with the value, the derivative and the mean over rows.

A loss is used alike by whoever fits with it, scores with it or draws it. Losses of the margin take
y = -1 or +1 and a real score f; losses of numbers take y and a prediction; losses of classes take
labels and a table of costs. Any function of one's own becomes a loss by `pointwise`.

Texts: 000a 2.1.1 (hinge; its box means "when non-zero") · 000b 11.2.1 (Huber; its first derivative
is continuous, against the text), 12.2.1 · 001 3.6, 9.2.2, 13.4 to 13.6 · 002 "Loss functions" ·
003 2.1.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from gnomon.contract.estimate import Estimate, frequency_weights, mean_interval, share_interval
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import label_column, label_pair, number_pair, plain

Rows = np.ndarray


@dataclass(frozen=True)
class Loss:
    """A loss of one row, L(y, prediction).

    Attributes
    ----------
    name : str
    takes : str
        ``"numbers"``, ``"margin"`` (y of -1 and +1, a real score) or ``"classes"``.
    value : callable
        ``value(y, prediction)`` per row.
    slope : callable or None
        Derivative in the prediction; at a kink a subgradient.
    minimizer : str
        What the prediction of least expected loss is.
    least : float
        No loss is below this, nor is the interval of their mean.
    share : bool
        Whether losses lie between 0 and 1, so that those of 0 and 1 make a share.

    Examples
    --------
    >>> margin_hinge_loss.values([1, 1, -1], [2.0, 0.5, 0.5])
    array([0. , 0.5, 1.5])
    >>> squared_loss.derivatives([3.0], [1.0])
    array([-4.])
    """

    name: str
    takes: str
    value: Callable[[Rows, Rows], Rows]
    slope: Callable[[Rows, Rows], Rows] | None = None
    minimizer: str = ""
    least: float = -np.inf
    share: bool = False

    def values(self, y: Any, prediction: Any) -> Rows:
        """The loss of every row.

        Parameters
        ----------
        y : array-like of shape (n,)
        prediction : array-like of shape (n,)

        Returns
        -------
        losses : ndarray of shape (n,)
        """
        return np.asarray(self.value(*self._checked(y, prediction)), dtype=np.float64)

    def derivatives(self, y: Any, prediction: Any) -> Rows:
        """The derivative of every row's loss in its prediction.

        Parameters
        ----------
        y : array-like of shape (n,)
        prediction : array-like of shape (n,)

        Returns
        -------
        derivatives : ndarray of shape (n,)
        """
        if self.slope is None:
            raise DataError(f"the {self.name} loss has no usable derivative")
        return np.asarray(self.slope(*self._checked(y, prediction)), dtype=np.float64)

    def __call__(
        self, y: Any, prediction: Any, sample_weight: Any = None, confidence_level: float = 0.95
    ) -> Estimate:
        """The mean loss over rows (the empirical risk), with its standard error and interval.

        Parameters
        ----------
        y : array-like of shape (n,)
        prediction : array-like of shape (n,)
        sample_weight : array-like of shape (n,), default=None
        confidence_level : float, default=0.95

        Returns
        -------
        figure : Estimate
        """
        losses = self.values(y, prediction)
        weights = frequency_weights(sample_weight, len(losses))
        if self.share and np.isin(losses, (0.0, 1.0)).all():
            weights = np.ones(len(losses)) if weights is None else weights
            return share_interval(float(weights @ losses), float(weights.sum()), confidence_level)
        return mean_interval(losses, weights, confidence_level=confidence_level, least=self.least)

    def _checked(self, y: Any, prediction: Any) -> tuple[Rows, Rows]:
        if self.takes == "classes":
            return label_pair(y, prediction)
        y, prediction = number_pair(y, prediction)
        if self.takes == "margin" and not np.isin(y, (-1, 1)).all():
            raise DataError(f"the {self.name} loss takes y of -1 and +1; code the classes so")
        return y, prediction


squared_loss = Loss(
    "squared",
    "numbers",
    lambda y, f: (y - f) ** 2,
    lambda y, f: -2 * (y - f),
    "conditional mean",
    least=0,
)
absolute_loss = Loss(
    "absolute",
    "numbers",
    lambda y, f: np.abs(y - f),
    lambda y, f: -np.sign(y - f),
    "conditional median",
    least=0,
)
margin_hinge_loss = Loss(
    "hinge",
    "margin",
    lambda y, f: np.maximum(0.0, 1 - y * f),
    lambda y, f: np.where(y * f < 1, -y, 0.0),
    "the commoner class",
    least=0,
)
logistic_loss = Loss(
    "logistic",
    "margin",
    lambda y, f: np.logaddexp(0.0, -y * f),
    lambda y, f: -y * expit(-y * f),
    "log-odds",
    least=0,
)
exponential_loss = Loss(
    "exponential",
    "margin",
    lambda y, f: np.exp(-y * f),
    lambda y, f: -y * np.exp(-y * f),
    "half the log-odds",
    least=0,
)
margin_squared_loss = Loss(
    "squared error of the margin",
    "margin",
    lambda y, f: (1 - y * f) ** 2,
    lambda y, f: -2 * y * (1 - y * f),
    "2 P(+1) - 1; it rises again beyond margin 1",
    least=0,
)
misclassification_loss = Loss(
    "0-1",
    "classes",
    lambda y, said: (y != said).astype(float),
    None,
    "the commonest class",
    least=0,
    share=True,
)
sign_loss = Loss(
    "0-1 of the sign",
    "margin",
    lambda y, f: np.where(f == 0, 0.5, (y * f < 0).astype(float)),
    None,
    "the commoner class; a score of zero counts half",
    least=0,
    share=True,
)

MARGIN_LOSSES = (
    sign_loss,
    margin_hinge_loss,
    logistic_loss,
    exponential_loss,
    margin_squared_loss,
)


def huber_loss(delta: float = 1.0, scaling: str = "half") -> Loss:
    """Squared near zero, linear beyond `delta`: outliers pull with a bounded force.

    ``scaling="half"`` is u^2 / 2 inside and delta |u| - delta^2 / 2 beyond (000b 11.2.1);
    ``scaling="whole"`` is twice that, r^2 and 2 delta |r| - delta^2 (001 13.6.2). The first
    derivative is continuous. Use it for long tails; its minimiser lies between mean and median.

    Parameters
    ----------
    delta : float, default=1.0
        Distance at which a point stops being an inlier.
    scaling : {"half", "whole"}, default="half"

    Returns
    -------
    loss : Loss

    Examples
    --------
    >>> huber_loss(1.0).values([0.0, 0.0], [0.5, 3.0])
    array([0.125, 2.5  ])
    """
    if not delta > 0 or not np.isfinite(delta):
        raise DataError(f"delta={delta} must be positive and finite")
    if scaling not in ("half", "whole"):
        raise DataError(f"scaling={scaling!r} is neither 'half' nor 'whole'")
    factor = 1.0 if scaling == "half" else 2.0

    def value(y: Rows, f: Rows) -> Rows:
        distance = np.abs(y - f)
        inside = np.minimum(distance, delta)
        return factor * (inside * distance - inside**2 / 2)

    def slope(y: Rows, f: Rows) -> Rows:
        return -factor * huber_influence(y - f, delta)

    return Loss(f"Huber ({delta:g})", "numbers", value, slope, "between mean and median", least=0)


def huber_influence(residual: ArrayLike, delta: float = 1.0) -> np.ndarray:
    """psi(u) = u cut off at -delta and delta; the weight of iterated least squares is psi(u) / u.

    Parameters
    ----------
    residual : array-like
    delta : float, default=1.0

    Returns
    -------
    influence : ndarray

    Examples
    --------
    >>> huber_influence([0.5, -3.0])
    array([ 0.5, -1. ])
    """
    return np.clip(np.asarray(residual, dtype=np.float64), -delta, delta)


def huber_weight(residual: ArrayLike, delta: float = 1.0) -> np.ndarray:
    """psi(u) / u = min(1, delta / |u|), 1 at zero.

    Parameters
    ----------
    residual : array-like
    delta : float, default=1.0

    Returns
    -------
    weight : ndarray

    Examples
    --------
    >>> huber_weight([0.0, 4.0])
    array([1.  , 0.25])
    """
    distance = np.abs(np.asarray(residual, dtype=np.float64))
    return delta / np.maximum(distance, delta)


def cost_loss(costs: ArrayLike, classes: ArrayLike) -> Loss:
    """A loss from a table of costs: entry (i, j) is paid when class i is predicted as j.

    Parameters
    ----------
    costs : array-like of shape (k, k)
        Rows the truth; negative entries are gains.
    classes : array-like of shape (k,)
        The classes, in the order of the rows and columns.

    Returns
    -------
    loss : Loss

    Examples
    --------
    >>> poison = cost_loss([[0, 1], [1000, 0]], ["edible", "poisonous"])
    >>> poison.values(["edible", "poisonous"], ["poisonous", "edible"])
    array([   1., 1000.])
    """
    costs = np.asarray(costs, dtype=np.float64)
    names = label_column(classes, "classes")
    if costs.shape != (len(names), len(names)) or not np.isfinite(costs).all():
        raise DataError(
            f"costs must be a finite table of {len(names)} x {len(names)} classes, rows the truth"
        )
    order = np.argsort(names, kind="stable")

    def codes(labels: Rows) -> np.ndarray:
        place = np.minimum(np.searchsorted(names[order], labels), len(names) - 1)
        found = order[place]
        unknown = names[found] != labels
        if unknown.any():
            raise DataError(f"the table of costs has no class {plain(labels[unknown.argmax()])!r}")
        return found

    return Loss(
        "cost",
        "classes",
        lambda y, said: costs[codes(y), codes(said)],
        None,
        "least expected cost",
        least=float(costs.min()),
        share=bool(np.isin(costs, (0.0, 1.0)).all()),
    )


def pointwise(
    value: Callable[[Rows, Rows], Rows],
    derivative: Callable[[Rows, Rows], Rows] | None = None,
    *,
    takes: str = "numbers",
    name: str = "own",
) -> Loss:
    """A loss of one's own: "the error measure should follow the application" (001 3.6).

    Parameters
    ----------
    value : callable
        ``value(y, prediction)``, arrays in, losses of the rows out.
    derivative : callable, default=None
        In the prediction, for those who fit with it.
    takes : {"numbers", "margin", "classes"}, default="numbers"
    name : str, default="own"

    Returns
    -------
    loss : Loss

    Examples
    --------
    >>> late = pointwise(lambda y, f: 3.0 * (y > f) + 1.0 * (y < f), name="late")
    >>> late.values([2.0, 1.0], [1.0, 2.0])
    array([3., 1.])
    """
    if takes not in ("numbers", "margin", "classes"):
        raise DataError(f"takes={takes!r} is none of numbers, margin, classes")
    return Loss(name, takes, value, derivative)


def mixed_errors(y_true: Any, y_pred: Any) -> np.ndarray:
    """Errors of label columns of mixed kinds: y - prediction for numbers, 0 or 1 for categories.

    Parameters
    ----------
    y_true : dict, data frame or Table
        Label columns by name; columns of numbers are compared by difference, others by equality.
    y_pred : dict, data frame or Table
        The same columns.

    Returns
    -------
    errors : ndarray of shape (n, n_columns)

    Examples
    --------
    >>> mixed_errors({"size": [1.0, 2.0], "kind": ["a", "b"]}, {"size": [3.0, 2.0], "kind": "aa"})
    array([[-2.,  0.],
           [ 0.,  1.]])
    """
    names = list(y_true.keys() if isinstance(y_true, dict) else y_true.columns)
    columns = []
    for name in names:
        one, other = _column(y_true, name), _column(y_pred, name)
        if one.dtype.kind in "fiu":
            columns.append(np.subtract(*number_pair(one, other)))
        else:
            columns.append(misclassification_loss.values(one, other))
    return np.column_stack(columns)


def generalization_gap(inside: Estimate, outside: Estimate) -> Estimate:
    """Out-of-sample minus in-sample error, E_out - E_in, with the error of the former.

    The in-sample error is a fixed property of the training rows; the gap is as uncertain as the
    estimate of E_out.

    Parameters
    ----------
    inside : Estimate
        Mean loss on the training rows.
    outside : Estimate
        Mean loss on rows that were not used.

    Returns
    -------
    gap : Estimate

    Examples
    --------
    >>> print(generalization_gap(Estimate(0.1, 0.1, 0.1), Estimate(0.25, 0.2, 0.3, error=0.025)))
    0.150 (0.100 to 0.200)
    """
    value, low, high = (each - inside.value for each in outside[:3])
    return Estimate(
        value, low, high, outside.confidence_level, outside.error, "of the out-of-sample error"
    )


def _column(table: Any, name: str) -> np.ndarray:
    values = table.column(name) if hasattr(table, "column") else table[name]
    return label_column(list(values) if isinstance(values, str) else values, name)
