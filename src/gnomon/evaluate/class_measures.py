"""Measures of predicted classes: error, accuracy, balanced accuracy, precision, recall, F, top-k.

Texts: 000a 1.1.1 · 000c 17.2.1 · 002 "Loss functions" · 003 2.1.7 · 004 3.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from gnomon.contract.estimate import (
    Estimate,
    frequency_weights,
    mean_interval,
    share_interval,
    student_quantile,
)
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import (
    column_names,
    in_order_of_classes,
    label_pair,
    number_block,
    probability_block,
    two_classes,
)

FEW_DISAGREEMENTS = 10  # with more, intervals of kappa by the normal law hold 92 to 97% at 95%


def accuracy(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Share of right predictions, with the interval of `share_interval`.

    Nearly meaningless alone: show it beside the baseline's. With rare classes use
    `balanced_accuracy` or the class errors of `confusion_table`.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; weights that are not whole count
        as Kish's effective number of rows.
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> print(accuracy(["a", "b", "c", "a"] * 50, ["a", "b", "b", "a"] * 50))
    0.750 (0.685 to 0.805)
    """
    right = _right(y_true, y_pred)
    weights = frequency_weights(sample_weight, len(right))
    if weights is None:
        return share_interval(int(right.sum()), len(right), confidence_level)
    return share_interval(float(weights[right].sum()), float(weights.sum()), confidence_level)


def error_rate(
    y_true: Any, y_pred: Any, sample_weight: Any = None, confidence_level: float = 0.95
) -> Estimate:
    """Share of wrong predictions (the mean 0-1 loss), 1 - `accuracy`, with its interval.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
    sample_weight : array-like of shape (n,), default=None
    confidence_level : float, default=0.95

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> error_rate([0, 1, 1, 0], [0, 1, 0, 0]).value
    0.25
    """
    return complement(accuracy(y_true, y_pred, sample_weight, confidence_level))


def balanced_accuracy(
    y_true: Any, y_pred: Any, confidence_level: float = 0.95, *, sample_weight: Any = None
) -> Estimate:
    """Mean over the classes of the share of each that is predicted rightly.

    Every class counts the same, however rare. The interval joins the intervals (l_k, u_k)
    of the classes' recalls r_k: low = mean - sqrt(sum_k (r_k - l_k)^2) / K, and high alike.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; a class whose rows all weigh
        nothing does not count.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 0, 0]).value
    0.5
    """
    y_true, y_pred = label_pair(y_true, y_pred)
    weights = frequency_weights(sample_weight, len(y_true))
    classes, codes = np.unique(y_true, return_inverse=True)
    totals = np.bincount(codes, weights, len(classes))
    hits = np.bincount(codes, (y_true == y_pred) * (1.0 if weights is None else weights))
    parts = [share_interval(h, n, confidence_level) for h, n in zip(hits, totals) if n > 0]
    return mean_of_shares(parts, confidence_level)


def precision(
    y_true: Any,
    y_pred: Any,
    positive: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Estimate:
    """Share of truly positive rows among those predicted positive, TP / (TP + FP).

    Says nothing of the positives that were missed: give `recall` beside it. Undefined, and
    refused, where nothing is predicted positive.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; weights that are not whole count
        as Kish's effective number of rows.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> precision([0, 0, 1, 1], [0, 1, 1, 0]).value
    0.5
    """
    tp, fp, _ = _hits(y_true, y_pred, positive, sample_weight)
    if tp + fp == 0:
        raise DataError("no row is predicted positive: precision is undefined")
    return share_interval(tp, tp + fp, confidence_level)


def recall(
    y_true: Any,
    y_pred: Any,
    positive: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Estimate:
    """Share of the positive rows that are predicted positive, TP / (TP + FN) (sensitivity).

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; weights that are not whole count
        as Kish's effective number of rows.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> recall([0, 0, 1, 1], [0, 1, 1, 0]).value
    0.5
    """
    tp, _, fn = _hits(y_true, y_pred, positive, sample_weight)
    if tp + fn == 0:
        raise DataError("no row is truly positive: recall is undefined")
    return share_interval(tp, tp + fn, confidence_level)


def f_measure(
    y_true: Any,
    y_pred: Any,
    positive: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Estimate:
    """Harmonic mean of precision and recall, F1 = 2 TP / (2 TP + FP + FN).

    Its interval is exact in kind: J = TP / (TP + FP + FN) is a share, and F1 = 2 J / (1 + J) rises
    with it, so the interval of J carries over.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
    positive : label, default=None
        The positive class; the second in sorted order where there are two.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; weights that are not whole count
        as Kish's effective number of rows.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> f_measure([0, 0, 1, 1, 1], [0, 1, 1, 1, 0]).value
    0.6666666666666666
    """
    tp, fp, fn = _hits(y_true, y_pred, positive, sample_weight)
    if tp + fp + fn == 0:
        raise DataError("no row is positive, truly or by prediction: F is undefined")
    found = share_interval(tp, tp + fp + fn, confidence_level)
    value, low, high = (2 * each / (1 + each) for each in found[:3])
    return Estimate(
        value, low, high, confidence_level, found.error * 2 / (1 + found.value) ** 2, found.how
    )


def top_k_error(
    y: Any,
    scores: Any,
    k: int = 5,
    classes: Any = None,
    confidence_level: float = 0.95,
    *,
    sample_weight: Any = None,
) -> Estimate:
    """Share of rows whose class is not among the k classes of largest score.

    A class tied with others at the border counts by its chance of a place when ties are broken at
    random. The text (000c 17.2.1) calls the share of hits "top-1 error"; this is its complement.

    Parameters
    ----------
    y : array-like of shape (n,)
        True classes.
    scores : array-like of shape (n, n_classes)
        Probabilities or any scores, larger for likelier classes.
    k : int, default=5
    classes : array-like of shape (n_classes,), default=None
        The classes in the order of the columns; sorted classes of y by default.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; weights that are not whole count
        as Kish's effective number of rows.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> top_k_error([0, 1, 2], [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]], k=2).value
    0.3333333333333333
    """
    names, stated = column_names(scores), classes is not None
    scores = number_block(scores, "scores")
    flat = np.full(scores.shape, 1 / scores.shape[-1])
    codes, _, classes = probability_block(y, flat, classes)
    scores = in_order_of_classes(scores, names, classes, stated)
    if not 1 <= k <= len(classes):
        raise DataError(f"k={k} must lie between 1 and the number of classes, {len(classes)}")
    own = scores[np.arange(len(codes)), codes][:, None]
    above = (scores > own).sum(axis=1)
    tied = (scores == own).sum(axis=1)
    missed = 1 - np.clip((k - above) / tied, 0, 1)
    if np.isin(missed, (0, 1)).all():
        weights = frequency_weights(sample_weight, len(missed))
        masses = np.ones(len(missed)) if weights is None else weights
        return share_interval(float(missed @ masses), float(masses.sum()), confidence_level)
    return mean_interval(missed, sample_weight, confidence_level=confidence_level)


def mean_of_shares(parts: list[Estimate], confidence_level: float) -> Estimate:
    """The mean of independent shares, their intervals joined (MOVER)."""
    values, low, high = np.array([each[:3] for each in parts]).T
    mean, k = float(values.mean()), len(parts)
    below = float(np.sqrt(((values - low) ** 2).sum())) / k
    above = float(np.sqrt(((high - values) ** 2).sum())) / k
    error = float(np.sqrt(sum(each.error**2 for each in parts))) / k
    return Estimate(
        mean, mean - below, mean + above, confidence_level, error, "joined Agresti-Coull intervals"
    )


def complement(figure: Estimate) -> Estimate:
    """One minus a figure."""
    return figure._replace(value=1 - figure.value, low=1 - figure.high, high=1 - figure.low)


def cohen_kappa(
    y_true: Any, y_pred: Any, confidence_level: float = 0.95, *, sample_weight: Any = None
) -> Estimate:
    """Agreement beyond chance, (p_o - p_e) / (1 - p_e), with its large-sample standard error.

    p_o is the share of rows on which the two agree, p_e the share expected of independent ones
    with the same shares of classes. The standard error is that of Fleiss, Cohen and Everitt
    (1969); the interval is symmetric in Fisher's z of the kappa of a table to which two rows,
    spread over all pairs of classes, are added. Where fewer than ten rows disagree, it ends no
    earlier than the kappa of as few disagreements as their number allows: of 95% intervals of 20
    rows and more with a class of 2 to 10% at least 92% hold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    y_pred : array-like of shape (n,)
        The other labelling.
    confidence_level : float, default=0.95
    sample_weight : array-like of shape (n,), default=None
        Weight two is the same as the row standing there twice; weights that are not whole count
        as Kish's effective number of rows.

    Returns
    -------
    figure : Estimate

    Examples
    --------
    >>> cohen_kappa(list("aabb"), list("aaba")).value
    0.5
    """
    y_true, y_pred = label_pair(y_true, y_pred)
    classes, codes = np.unique(np.concatenate([y_true, y_pred]), return_inverse=True)
    weights, k = frequency_weights(sample_weight, len(y_true)), len(classes)
    pairs = codes[: len(y_true)] * k + codes[len(y_true) :]
    counts = np.bincount(pairs, weights, minlength=k * k).reshape(k, k)
    n = float(counts.sum())
    joint = counts / n
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    observed, expected = float(np.trace(joint)), float(rows @ columns)
    if expected == 1:
        raise DataError("both labellings have one class only: agreement beyond chance is undefined")
    kappa = (observed - expected) / (1 - expected)
    error = _kappa_error(joint, kappa, n)
    how = "large-sample with two rows added, Fisher's z"
    if kappa == 1:
        # no disagreement seen: as few as the interval of the agreement allows
        least = (share_interval(n, n, confidence_level).low - expected) / (1 - expected)
        return Estimate(
            kappa, least, 1.0, confidence_level, error, "Agresti-Coull, of the agreement"
        )
    if kappa <= -1:
        return Estimate(kappa, -1.0, 1.0, confidence_level, error, "no agreement at all")
    # two rows spread over all pairs of classes: without them intervals of rare classes are too
    # short (82% of 95% intervals with 40 rows and a class of 5%, 92 to 98% with them)
    more = joint * n + 2 / k**2
    shrunk = _kappa(more / (n + 2))
    width = student_quantile(confidence_level, max(n - 1, 1)) * _kappa_error(
        more / (n + 2), shrunk, n + 2
    )
    ends = np.tanh(np.arctanh(shrunk) + np.array([-1, 1]) * width / (1 - shrunk**2))
    low, high = min(float(ends[0]), kappa), max(float(ends[1]), kappa)
    if n * (1 - observed) < FEW_DISAGREEMENTS:
        high = max(high, _kappa_of_fewest_disagreements(joint * n, confidence_level))
    return Estimate(kappa, low, high, confidence_level, error, how)


def _kappa_of_fewest_disagreements(counts: np.ndarray, confidence_level: float) -> float:
    """Kappa where disagreements are as few as the Poisson law allows for those that are seen.

    The others go to the rarer of their two classes. Where one or two rows of a rare class disagree,
    intervals of the normal law end too low: with 40 rows, a class of 5% and a kappa of 0.9 they
    hold 81% at 95%; these, which are wide, 99%.
    """
    off = counts - np.diag(np.diag(counts))
    seen = float(off.sum())
    kept = scipy.stats.chi2.ppf((1 - confidence_level) / 2, 2 * seen) / 2 / seen
    totals = counts.sum(axis=0) + counts.sum(axis=1)
    first, second = np.indices(counts.shape)
    rarer = np.where(totals[first] <= totals[second], first, second)
    moved = np.bincount(rarer.ravel(), (off * (1 - kept)).ravel(), minlength=len(counts))
    fewest = off * kept + np.diag(np.diag(counts) + moved)
    return _kappa(fewest / fewest.sum())


def _kappa(joint: np.ndarray) -> float:
    expected = float(joint.sum(axis=1) @ joint.sum(axis=0))
    return (float(np.trace(joint)) - expected) / (1 - expected)


def _kappa_error(joint: np.ndarray, kappa: float, n: float) -> float:
    """Standard error of kappa (Fleiss, Cohen and Everitt 1969) from shares of pairs of classes."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    expected = float(rows @ columns)
    own = np.diag(joint) * (1 - (rows + columns) * (1 - kappa)) ** 2
    crossed = joint * (columns[:, None] + rows[None, :]) ** 2
    others = (1 - kappa) ** 2 * (crossed.sum() - np.trace(crossed))
    spread = own.sum() + others - (kappa - expected * (1 - kappa)) ** 2
    return float(np.sqrt(max(spread, 0.0) / n)) / (1 - expected)


def _right(y: Any, predicted: Any) -> np.ndarray:
    y, predicted = label_pair(y, predicted)
    return y == predicted


def _hits(y: Any, predicted: Any, positive: Any, sample_weight: Any) -> tuple[float, float, float]:
    """Weights of true positives, false positives, false negatives."""
    y, predicted = label_pair(y, predicted)
    truly, name, _ = two_classes(y, positive)
    said = predicted == name
    given = frequency_weights(sample_weight, len(y))
    weights = np.ones(len(y)) if given is None else given
    cells = (truly & said, ~truly & said, truly & ~said)
    tp, fp, fn = (float(weights[each].sum()) for each in cells)
    return tp, fp, fn
