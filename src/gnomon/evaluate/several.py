"""Tests that compare several learners at once.

Friedman's test compares ranks over tables and Nemenyi's says which learners differ (Demsar 2006);
Cochran's Q compares classifiers on the same test rows. Text: 004 7.4 (frame of significance tests).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gnomon.contract.estimate import check_level
from gnomon.contract.result import Result, p_text
from gnomon.engine.errors import DataError
from gnomon.evaluate.intake import column_names


@dataclass(repr=False)
class RankTest(Result):
    """Friedman's test of several learners over several tables, with Nemenyi's comparison.

    Attributes
    ----------
    names : list of str
    ranks : ndarray of shape (k,)
        Mean rank of each learner over the tables; 1 is best.
    chi2, p : float
        Friedman's statistic and its p.
    f, f_p : float
        Iman and Davenport's F, which is less conservative, and its p.
    critical_difference : float
        Mean ranks further apart than this differ (Nemenyi, at `confidence_level`).
    pair_p : ndarray of shape (k, k)
        Nemenyi's p of every pair.
    n_tables : int
    confidence_level : float
    """

    names: list[str]
    ranks: np.ndarray
    chi2: float
    p: float
    f: float
    f_p: float
    critical_difference: float
    pair_p: np.ndarray
    n_tables: int
    confidence_level: float

    def groups(self) -> list[list[str]]:
        """Largest sets of learners that do not differ significantly, best first.

        Returns
        -------
        groups : list of list of str
        """
        order = np.argsort(self.ranks, kind="stable")
        ranks = self.ranks[order]
        found: list[tuple[int, int]] = []
        for i in range(len(order)):
            j = int(np.searchsorted(ranks, ranks[i] + self.critical_difference, "right")) - 1
            if not found or j > found[-1][1]:
                found.append((i, j))
        return [[self.names[place] for place in order[i : j + 1]] for i, j in found]

    def _title(self) -> str:
        return (
            f"Friedman's test of {len(self.names)} learners on {self.n_tables} tables: "
            f"{p_text(self.p)} ({p_text(self.f_p)} by F); critical difference of mean ranks "
            f"{self.critical_difference:.3f}"
        )

    def _columns(self) -> dict[str, list[Any]]:
        order = np.argsort(self.ranks, kind="stable")
        best = order[0]
        return {
            "learner": [self.names[i] for i in order],
            "mean rank": [float(self.ranks[i]) for i in order],
            "p against best": [None if i == best else float(self.pair_p[i, best]) for i in order],
        }

    def _remarks(self) -> list[str]:
        groups = [group for group in self.groups() if len(group) > 1]
        return ["No difference shown: " + "; ".join(", ".join(group) for group in groups)] * bool(
            groups
        )


def friedman_test(
    scores: ArrayLike,
    names: list[str] | None = None,
    *,
    greater_is_better: bool = True,
    confidence_level: float = 0.95,
) -> RankTest:
    """Do several learners differ over several tables, and which?

    Learners are ranked within every table (ties get mean ranks, and the statistic is corrected
    for them). Nemenyi's critical difference is q sqrt(k (k + 1) / (6 n)), q being the quantile
    of the studentised range over sqrt(2). One score per table: the folds of one table are not
    independent tables.

    Parameters
    ----------
    scores : array-like of shape (n_tables, k)
    names : list of str, default=None
        Names of the learners; their numbers by default.
    greater_is_better : bool, default=True
    confidence_level : float, default=0.95

    Returns
    -------
    test : RankTest

    Examples
    --------
    >>> found = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.8, 0.8], [0.7, 0.6, 0.5]])
    >>> found.ranks.tolist()
    [1.0, 2.125, 2.875]
    """
    check_level(confidence_level)
    headings = column_names(scores)
    scores = _score_table(scores)
    n, k = scores.shape
    if n < 2 or k < 2:
        raise DataError(f"{n} tables and {k} learners: two of each are the least")
    labels = _names(names, headings, k)
    ranks = scipy.stats.rankdata(-scores if greater_is_better else scores, axis=1)
    means = ranks.mean(axis=0)
    chi2 = _friedman_statistic(ranks)
    f = _iman_davenport(chi2, n, k)
    spread = np.sqrt(k * (k + 1) / (6 * n))
    gaps = np.abs(means[:, None] - means[None, :]) / spread
    pair_p = _studentised_range_p(gaps * np.sqrt(2), k)
    q = scipy.stats.studentized_range.ppf(confidence_level, k, np.inf) / np.sqrt(2)
    return RankTest(
        labels,
        means,
        chi2,
        float(scipy.stats.chi2.sf(chi2, k - 1)),
        f,
        float(scipy.stats.f.sf(f, k - 1, (k - 1) * (n - 1))),
        float(q * spread),
        pair_p,
        n,
        confidence_level,
    )


@dataclass(repr=False)
class CochranTest(Result):
    """Cochran's Q test of several classifiers on the same rows.

    Attributes
    ----------
    names : list of str
    shares : ndarray of shape (k,)
        Share of rows that each has right.
    q, p : float
    n : int
        Rows on which they are not all right or all wrong.
    """

    names: list[str]
    shares: np.ndarray
    q: float
    p: float
    n: int

    def _title(self) -> str:
        return f"Cochran's Q = {self.q:.4g}, {p_text(self.p)} ({self.n:,} rows decide)"

    def _columns(self) -> dict[str, list[Any]]:
        return {"classifier": self.names, "share right": self.shares.tolist()}


def cochran_q_test(right: Any, names: list[str] | None = None) -> CochranTest:
    """Are several classifiers right equally often on the same test rows? (McNemar for k > 2)

    Q = (k - 1) (k sum_j G_j^2 - G^2) / (k G - sum_i L_i^2), G_j rows right of classifier j, L_i
    classifiers right on row i, G all; chi2 with k - 1 degrees of freedom for many rows.

    Parameters
    ----------
    right : array-like of shape (n_rows, k)
        True or 1 where classifier j has row i right.
    names : list of str, default=None

    Returns
    -------
    test : CochranTest

    Examples
    --------
    >>> cochran_q_test([[1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]]).q
    5.2
    """
    headings, right = column_names(right), np.asarray(right)
    if right.ndim != 2 or right.shape[1] < 2 or not np.isin(right, (0, 1)).all():
        raise DataError("give a table of 0 and 1, rows by classifiers, of two classifiers at least")
    k = right.shape[1]
    labels = _names(names, headings, k)
    columns, rows = right.sum(axis=0).astype(float), right.sum(axis=1).astype(float)
    total = columns.sum()
    below = k * total - (rows**2).sum()
    decided = int(((rows > 0) & (rows < k)).sum())
    if below == 0:
        return CochranTest(labels, right.mean(axis=0), 0.0, 1.0, decided)
    q = float((k - 1) * (k * (columns**2).sum() - total**2) / below)
    return CochranTest(labels, right.mean(axis=0), q, float(scipy.stats.chi2.sf(q, k - 1)), decided)


def _names(names: list[str] | None, headings: list[str] | None, k: int) -> list[str]:
    """Names as given, or those of the columns of a table, or numbers."""
    given = headings if names is None else names
    labels = [str(each) for each in (range(k) if given is None else given)]
    if len(labels) != k:
        raise DataError(f"{len(labels)} names for {k} learners")
    return labels


def _score_table(scores: ArrayLike) -> np.ndarray:
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise DataError(f"scores must be a table of tables by learners, not {scores.shape}")
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise DataError(
            f"the score of table {row}, learner {column} is {scores[row, column]}; leave the table "
            "or the learner out"
        )
    return scores


def _friedman_statistic(ranks: np.ndarray) -> float:
    k = ranks.shape[1]
    centered = ranks - (k + 1) / 2
    spread = float((centered**2).sum())
    if spread == 0:
        return 0.0
    return float((k - 1) * (centered.sum(axis=0) ** 2).sum() / spread)


def _iman_davenport(chi2: float, n: int, k: int) -> float:
    rest = n * (k - 1) - chi2
    return np.inf if rest <= 1e-12 * n * k else float((n - 1) * chi2 / rest)


def _studentised_range_p(q: np.ndarray, k: int) -> np.ndarray:
    """p of every pair; each distinct distance is integrated once."""
    distinct, where = np.unique(np.round(q, 10), return_inverse=True)
    p = scipy.stats.studentized_range.sf(distinct, k, np.inf)
    return np.clip(p, 0, 1)[where].reshape(q.shape)
