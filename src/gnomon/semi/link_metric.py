"""A metric from links: pairs that belong together become near, pairs that do not become far.

Fits  P(together) = 1 / (1 + exp(d_A^2 - b))  of linked pairs by maximum likelihood, where
d_A^2 = (x - x')' A (x - x') with A diagonal (weights of columns, also of words) or full. The
transformed rows have this distance as their Euclidean one, for k-means or nearest neighbors.

Texts: 004 17.1.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from gnomon.cluster.constrained import checked_links, contradictions
from gnomon.contract import Data, Takes, Transformer
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import StrOptions, at_least
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number

# steps of L-BFGS; the likelihood is flat, so that SciPy's default tolerances stop 1e-3 away
SEARCH = {"maxiter": 500, "ftol": 1e-14, "gtol": 1e-9}
MOST_FULL = 200  # columns of a full metric: 40,000 weights


@method(
    task="reduce",
    texts="004 17.1.4",
    use="A person knows of some pairs of rows that they belong together, or do not.",
    avoid="Labels of classes instead of pairs: LinearDiscriminantAnalysis.",
    peers=("metric_learn.MMC", "metric_learn.ITML"),
    synonyms=("metric learning", "must-link", "cannot-link", "constraints"),
)
class LinkMetric(ClassNamePrefixFeaturesOutMixin, Transformer):
    """New coordinates in which must-linked rows are near and cannot-linked rows are far.

    Maximizes ``sum_links log P(link) - alpha trace A`` with ``P(together) = 1 / (1 + exp(d_A^2 -
    b))``. ``metric="diagonal"`` learns a weight per column (also for sparse rows of documents),
    ``"full"`` a matrix. Use it before k-means or nearest neighbors, where some pairs are known. Not
    with classes of all rows. Without links it divides columns by their deviation. Texts: 004
    17.1.4.

    Parameters
    ----------
    must_link : sequence of (i, j) or (i, j, weight), default=()
        Pairs of rows that belong together, by their place in the table that ``fit`` is given.
    cannot_link : sequence of (i, j) or (i, j, weight), default=()
        Pairs of rows that do not.
    metric : {"diagonal", "full"}, default="diagonal"
        What is learned.
    alpha : float, default=0.01
        Weight of the trace, in units of one link.

    Attributes
    ----------
    components_ : ndarray of shape (n_columns, n_columns) or (n_columns,)
        The map L with A = L'L in units of the columns' deviations; a vector where it is diagonal.
    scale_ : ndarray of shape (n_columns,)
        Deviations of the columns.
    threshold_ : float
        The squared distance b at which both kinds of links are equally probable.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Examples
    --------
    >>> from gnomon.semi import LinkMetric
    >>> rows = [[0.0, 3.0], [0.1, -2.0], [1.0, 2.9], [1.1, -2.1]]
    >>> metric = LinkMetric([(0, 1), (2, 3)], [(0, 2), (1, 3)]).fit(rows)
    >>> bool(metric.components_[0] > metric.components_[1])
    True
    """

    natively = Takes(sparse=True)
    _parameter_constraints = {
        "must_link": ["array-like", tuple],
        "cannot_link": ["array-like", tuple],
        "metric": [StrOptions({"diagonal", "full"})],
        "alpha": [at_least(0)],
    }
    _stored = {
        "components_": Array("f8", [("n_columns",), ("n_columns", "n_columns")]),
        "scale_": Array("f8", ("n_columns",)),
        "threshold_": Number(),
    }

    def __init__(self, must_link=(), cannot_link=(), *, metric="diagonal", alpha=0.01):
        self.must_link = must_link
        self.cannot_link = cannot_link
        self.metric = metric
        self.alpha = alpha

    def _fit(self, data: Data) -> None:
        rows = data.rows
        d = rows.shape[1]
        n = data.n_rows if data.kept is None else len(data.kept)
        self.scale_ = _deviations(rows, data.weight_array)
        self.components_, self.threshold_ = np.ones(d), 1.0
        self.n_iter_ = 0
        broken = contradictions(self.must_link, self.cannot_link, n)
        if broken:
            raise DataError(
                f"cannot_link {broken[0]} contradicts must-links that join these rows; drop one"
            )
        links = checked_links(self.must_link, self.cannot_link, 1.0, n)
        pairs = np.concatenate([links.must, links.cannot])
        if not len(pairs):
            return
        if data.kept is not None:
            pairs = self._kept_pairs(pairs, data.kept)
        together = np.repeat([1.0, 0.0], [len(links.must), len(links.cannot)])
        weights = np.concatenate([links.must_weights, links.cannot_weights])
        away = rows[pairs[:, 0]] - rows[pairs[:, 1]]
        away = (
            sp.csr_array(away @ sp.diags_array(1 / self.scale_))
            if sp.issparse(away)
            else (away / self.scale_)
        )
        self._learn_diagonal(away, together, weights)
        if self.metric == "full":
            self._learn_full(away, together, weights)

    def _kept_pairs(self, pairs: np.ndarray, kept: np.ndarray) -> np.ndarray:
        if not kept[pairs].all():
            raise DataError("a link names a row whose weight is zero; drop the link or the weight")
        return (np.cumsum(kept) - 1)[pairs]

    def _loss(self, squares: np.ndarray, b: float, together: np.ndarray, weights: np.ndarray):
        """Negative log-likelihood of the links, and its slope in each squared distance."""
        margin = b - squares
        value = float(weights @ (np.logaddexp(0.0, margin) - together * margin))
        return value, -weights * (expit(margin) - together)

    def _learn_diagonal(self, away: Any, together: np.ndarray, weights: np.ndarray) -> None:
        squared = away.multiply(away).tocsr() if sp.issparse(away) else away**2
        d = squared.shape[1]
        mean = float(np.asarray(squared.sum(axis=1)).mean()) or 1.0
        start = np.append(np.full(d, 1.0 / mean), 1.0)

        def objective(given: np.ndarray) -> tuple[float, np.ndarray]:
            value, slope = self._loss(squared @ given[:d], given[d], together, weights)
            total = value + self.alpha * given[:d].sum()
            return total, np.append(squared.T @ slope + self.alpha, -slope.sum())

        bounds = [(0.0, None)] * d + [(None, None)]
        found = minimize(
            objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=SEARCH
        )
        self.components_ = np.sqrt(np.maximum(found.x[:d], 0.0))
        self.threshold_, self.n_iter_ = float(found.x[d]), max(int(found.nit), 1)

    def _learn_full(self, away: Any, together: np.ndarray, weights: np.ndarray) -> None:
        away = away.toarray() if sp.issparse(away) else away
        d = away.shape[1]
        if d > MOST_FULL:
            raise DataError(
                f"a full metric of {d} columns has {d * d:,} weights; use metric='diagonal', or "
                f"reduce to {MOST_FULL} columns first"
            )
        floor = 0.05 * max(self.components_.max(), 1e-3)
        start = np.append(np.diag(np.maximum(self.components_, floor)).ravel(), self.threshold_)

        def objective(given: np.ndarray) -> tuple[float, np.ndarray]:
            root = given[:-1].reshape(d, d)
            moved = np.dot(away, root.T)
            value, slope = self._loss((moved**2).sum(axis=1), given[-1], together, weights)
            total = value + self.alpha * float((root**2).sum())
            gradient = 2.0 * np.dot((moved * slope[:, None]).T, away) + 2.0 * self.alpha * root
            return total, np.append(gradient.ravel(), -slope.sum())

        found = minimize(objective, start, jac=True, method="L-BFGS-B", options=SEARCH)
        self.components_ = found.x[:-1].reshape(d, d)
        self.threshold_, self.n_iter_ = float(found.x[-1]), self.n_iter_ + int(found.nit)

    def _map(self, rows: Any) -> Any:
        if self.components_.ndim == 1:
            factors = self.components_ / self.scale_
            if sp.issparse(rows):
                return sp.csr_array(rows @ sp.diags_array(factors))
            return rows * factors
        root = self.components_ / self.scale_
        return np.asarray(rows @ root.T)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        return 8 * (4 * n_rows * n_columns + 40 * n_columns + 4 * n_rows)


def _deviations(rows: Any, weights: np.ndarray) -> np.ndarray:
    """Deviations of columns, dense or sparse, the same in any order of the rows."""
    found = distinct_rows(rows, weights)
    rows, shares = found.rows, found.weights / found.weights.sum()
    largest = abs(rows).max(axis=0)
    largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest).ravel()
    largest = np.where(largest > 1e-290, largest, 1.0)
    parts = rows @ sp.diags_array(1 / largest) if sp.issparse(rows) else rows / largest
    squares = parts.multiply(parts) if sp.issparse(parts) else parts**2
    mean, square = parts.T @ shares, squares.T @ shares
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    return np.where(spread > 1e-7, spread * largest, largest)


def links_from_labels(
    y: Any, n_links: int, *, random_state: int | None = None
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs of labeled rows drawn at random: those of one class and those of two.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes; missing cells (None, NaN) have no links.
    n_links : int
        Number of different pairs.
    random_state : int, default=None

    Returns
    -------
    must_link, cannot_link : list of (i, j)

    Examples
    --------
    >>> must, cannot = links_from_labels(["a", "a", None, "b"], 3, random_state=0)
    >>> sorted(must), sorted(cannot)
    ([(0, 1)], [(0, 3), (1, 3)])
    """
    labels = np.asarray(y, dtype=object)
    known = np.flatnonzero([value is not None and value == value for value in labels])
    most = len(known) * (len(known) - 1) // 2
    if n_links > most:
        raise DataError(f"{len(known)} labeled rows have {most} pairs, not {n_links}")
    rng = np.random.default_rng(random_state)
    drawn: dict[tuple[int, int], None] = {}
    while len(drawn) < n_links:
        a, b = sorted(rng.choice(known, 2, replace=False).tolist())
        drawn[a, b] = None
    must = [pair for pair in drawn if labels[pair[0]] == labels[pair[1]]]
    return must, [pair for pair in drawn if labels[pair[0]] != labels[pair[1]]]
