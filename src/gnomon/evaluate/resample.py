"""Resampled scores with intervals that do not pretend that folds are independent.

The scores of overlapping training sets are correlated; the plain standard error of their mean is
too small. With test share r = n_test / n_train, the variance of the mean over J scores is taken as
(1/J + r) s^2 (Nadeau and Bengio 2003), with J - 1 degrees of freedom.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

from gnomon.evaluate.figure import Figure


@dataclass
class Scores:
    """Scores of one learner over the same folds as its rivals.

    Attributes
    ----------
    name : str
    values : ndarray
        One score per fold.
    test_share : float
        Test rows per training row, which the correction needs.
    fit_seconds, predict_seconds : float
        Sums over the folds.
    """

    name: str
    values: np.ndarray
    test_share: float
    fit_seconds: float
    predict_seconds: float

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def standard_error(self) -> float:
        """Of the mean, with the correction for overlapping training sets."""
        return corrected_standard_error(self.values, self.test_share)

    def interval(self, level: float = 0.95) -> Figure:
        """The mean score with its interval."""
        half = stats.t.ppf(0.5 + level / 2, len(self.values) - 1) * self.standard_error
        return Figure(self.mean, self.mean - half, self.mean + half, level)

    def p_against(self, other: Scores) -> float:
        """Two-sided p of no difference in mean score (corrected resampled t test)."""
        gaps = self.values - other.values
        error = corrected_standard_error(gaps, self.test_share)
        if error == 0:
            return 1.0 if gaps.mean() == 0 else 0.0
        return float(2 * stats.t.sf(abs(gaps.mean()) / error, len(gaps) - 1))


def corrected_standard_error(values: np.ndarray, test_share: float) -> float:
    """Standard error of the mean of resampled scores (Nadeau and Bengio).

    Parameters
    ----------
    values : ndarray of shape (n_folds,)
    test_share : float
        n_test / n_train.

    Returns
    -------
    standard_error : float
    """
    n = len(values)
    return float(np.sqrt((1 / n + test_share) * np.var(values, ddof=1)))


def folds(
    y: np.ndarray, classes: bool, n_folds: int, n_repeats: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and test positions of repeated cross-validation; stratified for classes."""
    cls = RepeatedStratifiedKFold if classes else RepeatedKFold
    splitter = cls(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y if classes else None))


def score_over_folds(
    learner,
    rows,
    y: np.ndarray,
    splits: list[tuple[np.ndarray, np.ndarray]],
    measure: Callable[[np.ndarray, np.ndarray], float],
    after_fold: Callable[[int], None] = lambda done: None,
) -> Scores:
    """Fit and score a learner on every split.

    Parameters
    ----------
    learner : estimator
        Cloned for every fold.
    rows : Table or ndarray
        Indexed by positions.
    y : ndarray
    splits : list of (train, test)
        Positions of rows.
    measure : callable
        ``measure(y, predicted) -> float``.
    after_fold : callable
        Called with the number of folds done, for a progress bar.

    Returns
    -------
    scores : Scores
        Named after the learner's class.
    """
    values, fit_seconds, predict_seconds = [], 0.0, 0.0
    for done, (train, test) in enumerate(splits):
        fresh = clone(learner)
        begin = time.perf_counter()
        fresh.fit(rows[train], y[train])
        fitted = time.perf_counter()
        values.append(measure(y[test], fresh.predict(rows[test])))
        fit_seconds += fitted - begin
        predict_seconds += time.perf_counter() - fitted
        after_fold(done + 1)
    train, test = splits[0]
    test_share = len(test) / len(train)
    name = type(learner).__name__
    return Scores(name, np.array(values), test_share, fit_seconds, predict_seconds)
