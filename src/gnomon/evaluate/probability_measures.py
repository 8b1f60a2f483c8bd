"""Measures of predicted probabilities: log loss, Brier score, deviance, calibration.

A lower log loss may go with a higher error rate: probabilities of rows that are already right
count too. Texts: 000b 11.3.4 (deviance) · 000c 16.1.2 (cross-entropy; the text drops a minus
sign) · 001 9.2.2 · 003 3.3.7.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy.special import gammaln, log_softmax, xlogy

from gnomon.contract.estimate import Estimate, frequency_weights, mean_interval, share_interval
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.quantiles import repeated_quantiles
from gnomon.evaluate.intake import (
    column_names,
    in_order_of_classes,
    number_block,
    number_pair,
    probability_block,
    two_classes,
)

FAMILIES = ("normal", "poisson", "bernoulli", "gamma")


def cross_entropy(
    y: Any,
    proba: Any,
    classes: Any = None,
    sample_weight: Any = None,
    *,
    logits: bool = False,
    smallest: float = 0.0,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean of -log p of the true class (cross-entropy), in nats.

    The proper score to train and to compare probabilities by; infinite when a true class was
    given probability zero, which is said in a warning and not hidden. Use `brier_score` where
    such a verdict is too harsh.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    proba : array-like of shape (n, n_classes) or (n,)
        Probabilities of the classes; of the second class where there is one column.
    classes : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; sorted classes of y by default.
    sample_weight : array-like of shape (n,), default=None
    logits : bool, default=False
        The columns are scores o whose softmax are the probabilities; log softmax is then computed
        without loss for large scores.
    smallest : float, default=0.0
        Probabilities below are raised to it.
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> round(cross_entropy([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]).value, 4)
    0.2798
    """
    if logits:
        losses = _logit_losses(y, proba, classes)
    else:
        losses = log_losses(y, proba, classes, smallest)
    figure = mean_log_loss(losses, sample_weight, confidence_level)
    if np.isinf(figure.value):
        warnings.warn(
            f"{int(np.isinf(losses).sum()):,} of {len(losses):,} rows have a true class of "
            "probability zero: the log loss is infinite. Smooth the probabilities, or bound them "
            "by smallest=1e-15",
            GnomonWarning,
            stacklevel=2,
        )
    return figure


def mean_log_loss(
    losses: np.ndarray, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean of log losses; infinite, without an interval, where one of them is."""
    if np.isinf(losses).any():
        return Estimate(
            np.inf, np.inf, np.inf, confidence_level, np.nan, "a true class had probability zero"
        )
    return mean_interval(losses, sample_weight, confidence_level=confidence_level, least=0)


def _logit_losses(y: Any, logits: Any, classes: Any) -> np.ndarray:
    block = number_block(logits, "logits")
    block = np.column_stack([np.zeros(len(block)), block]) if block.ndim == 1 else block
    names, stated = column_names(logits), classes is not None
    codes, _, classes = probability_block(y, np.full(block.shape, 1 / block.shape[1]), classes)
    block = in_order_of_classes(block, names, classes, stated)
    return -log_softmax(block, axis=1)[np.arange(len(codes)), codes]


def log_losses(y: Any, proba: Any, classes: Any = None, smallest: float = 0.0) -> np.ndarray:
    """-log p of the true class, per row; infinite where p is zero."""
    codes, proba, _ = probability_block(y, proba, classes)
    own = np.maximum(proba[np.arange(len(codes)), codes], smallest)
    with np.errstate(divide="ignore"):
        return -np.log(own)


def brier_score(
    y: Any,
    proba: Any,
    classes: Any = None,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean of sum_k (p_k - [y = k])^2 over rows: squared error of probabilities, between 0 and 2.

    With two classes this is twice the other common form, mean (p - [y = 1])^2, which scikit-learn
    gives by default there.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    proba : array-like of shape (n, n_classes) or (n,)
        Probabilities of the classes; of the second class where there is one column.
    classes : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; sorted classes of y by default.
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> round(brier_score([0, 1], [[0.9, 0.1], [0.2, 0.8]]).value, 4)
    0.05
    """
    losses = brier_losses(y, proba, classes)
    return mean_interval(losses, sample_weight, confidence_level=confidence_level, least=0)


def brier_losses(y: Any, proba: Any, classes: Any = None) -> np.ndarray:
    """sum_k (p_k - [y = k])^2, per row."""
    codes, proba, _ = probability_block(y, proba, classes)
    own = proba[np.arange(len(codes)), codes]
    return (proba**2).sum(axis=1) - 2 * own + 1


def deviance(
    y: Any,
    mean: Any,
    family: str = "normal",
    *,
    dispersion: float = 1.0,
    saturated: bool = True,
    sample_weight: Any = None,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean over rows of -2 log p(y | mean), the score of generalised linear models.

    With ``saturated=True`` the same quantity of a model that fits every row exactly is taken off,
    as statistics packages do; the text (000b 11.3.4) has no such term (``saturated=False``). For
    the normal family the saturated form is the squared error over the variance.

    Parameters
    ----------
    y : array-like of shape (n,)
        Observed values: counts for Poisson, 0 and 1 for Bernoulli, positive for gamma.
    mean : array-like of shape (n,)
        Predicted means.
    family : {"normal", "poisson", "bernoulli", "gamma"}, default="normal"
    dispersion : float, default=1.0
        Variance of the normal, or 1 / shape of the gamma distribution.
    saturated : bool, default=True
        Take off the deviance of the saturated model.
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> deviance([1.0, 2.0, 4.0], [1.0, 3.0, 2.0]).value
    1.6666666666666667
    """
    y, mean = number_pair(y, mean)
    if family not in FAMILIES:
        raise DataError(f"family={family!r} is none of {', '.join(FAMILIES)}")
    _check_family(y, mean, family)
    rows = -2 * _log_likelihood(y, mean, family, dispersion)
    if saturated:
        rows = rows + 2 * _log_likelihood(y, y, family, dispersion)
    least = 0.0 if saturated else -np.inf
    return mean_interval(
        rows.ravel(), sample_weight, confidence_level=confidence_level, least=least
    )


@dataclass(repr=False)
class Calibration(Result):
    """Predicted probabilities beside what happened, bin by bin.

    Attributes
    ----------
    positive : label
        The class whose probabilities these are.
    edges : ndarray of shape (n_bins + 1,)
    counts : ndarray
        Rows per bin, or their weight; bins without rows are left out everywhere.
    predicted : ndarray
        Mean predicted probability per bin.
    observed : list of Estimate
        Share of positive rows per bin.
    z : float
        Spiegelhalter's statistic, standard normal if the probabilities are right.
    p : float
        Two-sided probability of such a z for right probabilities.
    """

    positive: Any
    edges: np.ndarray
    counts: np.ndarray
    predicted: np.ndarray
    observed: list[Estimate]
    z: float
    p: float

    @property
    def shares(self) -> np.ndarray:
        """Observed share of positive rows per bin."""
        return np.array([each.value for each in self.observed])

    @property
    def expected_error(self) -> float:
        """Mean distance of predicted and observed, weighted by rows (ECE); above 0 by chance."""
        return float(np.average(np.abs(self.shares - self.predicted), weights=self.counts))

    @property
    def largest_error(self) -> float:
        """Largest distance of predicted and observed of a bin."""
        return float(np.abs(self.shares - self.predicted).max())

    def _title(self) -> str:
        return (
            f"Calibration of P({self.positive}): mean distance {self.expected_error:.3f}; "
            f"{p_text(self.p)} that right probabilities differ so much"
        )

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "rows": self.counts.tolist(),
            "predicted": self.predicted.tolist(),
            "observed": list(self.observed),
        }


def calibration(
    y: Any,
    proba: Any,
    positive: Any = None,
    *,
    n_bins: int = 10,
    equal_counts: bool = True,
    confidence_level: float = 0.95,
    sample_weight: Any = None,
) -> Calibration:
    """Do things that are given probability p happen in a share p of cases?

    Rows are binned by the predicted probability; each bin's observed share has an interval.
    The test is Spiegelhalter's (1986) and needs no bins:
    z = sum (y - p)(1 - 2 p) / sqrt(sum (1 - 2 p)^2 p (1 - p)). A calibrated predictor may still
    be useless (the baseline is calibrated): look at `log_loss` too.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    proba : array-like of shape (n,)
        Probability of the positive class.
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    n_bins : int, default=10
    equal_counts : bool, default=True
        Bins of equal numbers of rows, or one for each probability where there are at most
        ``n_bins`` different ones; otherwise bins of equal width.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice.

    Returns
    -------
    calibration : Calibration

    Examples
    --------
    >>> found = calibration([0, 0, 0, 1] * 10 + [0, 1] * 10, [0.25] * 40 + [0.5] * 20, n_bins=2)
    >>> found.expected_error
    0.0
    """
    is_positive, positive, _ = two_classes(y, positive)
    proba = number_block(proba, "proba")
    if proba.ndim == 2:
        raise DataError("give the probabilities of the positive class as one column")
    if len(proba) != len(is_positive):
        raise DataError(f"y has {len(is_positive):,} rows and the probabilities {len(proba):,}")
    if (proba < 0).any() or (proba > 1).any():
        raise DataError("probabilities must lie between 0 and 1; these are other scores")
    weights = frequency_weights(sample_weight, len(proba))
    edges = _edges(proba, weights, n_bins, equal_counts)
    bins = np.clip(np.searchsorted(edges, proba, side="right") - 1, 0, len(edges) - 2)
    masses = np.ones(len(proba), dtype=int) if weights is None else weights
    n = len(edges) - 1
    counts = np.bincount(bins, weights, minlength=n)
    hits = np.bincount(bins, is_positive * masses, minlength=n)
    totals = np.bincount(bins, proba * masses, minlength=n)
    filled = counts > 0
    observed = [
        share_interval(h, c, confidence_level) for h, c in zip(hits[filled], counts[filled])
    ]
    z, p = spiegelhalter(is_positive, proba, weights)
    return Calibration(
        positive, edges, counts[filled], totals[filled] / counts[filled], observed, z, p
    )


def spiegelhalter(
    is_positive: np.ndarray, proba: np.ndarray, weights: np.ndarray | None = None
) -> tuple[float, float]:
    """Spiegelhalter's z and its two-sided p.

    Where all probabilities are 0, 1/2 or 1 the statistic is undefined. A row that contradicts a
    probability of 0 or 1 then gives p = 0; otherwise the rows of probability 1/2 are tested by
    their number of positives.
    """
    slope = 1 - 2 * proba
    masses = np.ones(len(proba)) if weights is None else weights
    variance = float(masses @ (slope**2 * proba * (1 - proba)))
    if variance > 0:
        z = float(masses @ ((is_positive - proba) * slope) / np.sqrt(variance))
        return z, float(2 * scipy.stats.norm.sf(abs(z)))
    if (masses[(np.abs(is_positive - proba) == 1)] > 0).any():
        return np.inf, 0.0
    even = masses * (proba == 0.5)
    if not even.any():
        return 0.0, 1.0
    z = float(even @ (is_positive - 0.5) / np.sqrt(even.sum() / 4))
    return z, float(2 * scipy.stats.norm.sf(abs(z)))


def _edges(
    proba: np.ndarray, weights: np.ndarray | None, n_bins: int, equal_counts: bool
) -> np.ndarray:
    if n_bins < 1:
        raise DataError(f"n_bins={n_bins} must be at least 1")
    shares = np.linspace(0, 1, n_bins + 1)
    if not equal_counts:
        return shares
    counted = proba if weights is None else proba[weights > 0]
    distinct = np.unique(counted)
    if len(distinct) <= n_bins:  # errors of different values in one bin would cancel
        return np.append(distinct, np.nextafter(distinct[-1], 2))
    edges = np.unique(repeated_quantiles(proba, weights, shares))
    return edges if len(edges) > 1 else np.array([edges[0], np.nextafter(edges[0], 2)])


def _log_likelihood(y: np.ndarray, mean: np.ndarray, family: str, dispersion: float) -> np.ndarray:
    if family == "normal":
        return -0.5 * (np.log(2 * np.pi * dispersion) + (y - mean) ** 2 / dispersion)
    if family == "poisson":
        return xlogy(y, mean) - mean - gammaln(y + 1)
    if family == "bernoulli":
        with np.errstate(divide="ignore"):
            return xlogy(y, mean) + xlogy(1 - y, 1 - mean)
    shape = 1 / dispersion
    return (
        shape * np.log(shape / mean) + (shape - 1) * np.log(y) - shape * y / mean - gammaln(shape)
    )


def _check_family(y: np.ndarray, mean: np.ndarray, family: str) -> None:
    """Refuse values that the family cannot have."""
    wanted = {
        "normal": (True, True, ""),
        "poisson": ((y >= 0).all(), (mean > 0).all(), "counts and positive means"),
        "bernoulli": (
            np.isin(y, (0, 1)).all(),
            ((mean > 0) & (mean < 1)).all(),
            "0 and 1, and probabilities between them",
        ),
        "gamma": ((y > 0).all(), (mean > 0).all(), "positive values and means"),
    }
    right_y, right_mean, needs = wanted[family]
    if not (right_y and right_mean):
        raise DataError(f"the {family} deviance needs {needs}")
