"""Is there any structure at all, before one clusters? And does a clustering stay when shaken?

Texts: 001 20.1, which names tendency and stability and gives no algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from scipy.spatial import cKDTree
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from gnomon.cluster.intake import number_rows
from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError

HISTOGRAM_ROWS = 2000  # two million distances of 10 columns take 6 ms; `most_rows` sets it


@dataclass(repr=False)
class Hopkins(Result):
    """Hopkins' statistic: near 1/2 for rows without structure, near 1 for clusters.

    Attributes
    ----------
    statistic : float
    p_value : float
        Of rows spread uniformly giving as much or more: H is Beta(m, m) then.
    n_probes : int
    """

    statistic: float
    p_value: float
    n_probes: int

    def _title(self) -> str:
        return f"Hopkins {self.statistic:.3f} of {self.n_probes} probes, p = {self.p_value:.3g}"

    def _columns(self) -> dict[str, list]:
        return {"Hopkins": [self.statistic], "p": [self.p_value]}


def hopkins(
    X: Any, n_probes: int | None = None, random_state: int | np.random.Generator | None = None
) -> Hopkins:
    """Compare distances to the nearest row from random places and from rows themselves.

    ``H = sum u^d / (sum u^d + sum w^d)``: u from uniform points in the box of the rows, w from rows
    drawn without replacement. Values near one say that rows lie in clumps; the box makes rows of
    any non-uniform spread (a single normal cloud too) look clumped, so that a low value is the
    stronger finding.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_probes : int, default=None
        A tenth of the rows by default, at least one, at most 500.
    random_state : int, Generator or None, default=None

    Returns
    -------
    hopkins : Hopkins

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = np.vstack([rng.normal(0, 0.1, (100, 2)), rng.normal(9, 0.1, (100, 2))])
    >>> hopkins(rows, random_state=0).statistic > 0.9
    True
    """
    rows = np.unique(number_rows(X), axis=0)
    n, d = rows.shape
    if n < 3:
        raise DataError(f"Hopkins' statistic needs three different rows or more, not {n}")
    m = n_probes if n_probes is not None else int(np.clip(n // 10, 1, 500))
    if not 1 <= m < n:
        raise DataError(f"n_probes={m} must be from 1 to {n - 1}")
    rng = np.random.default_rng(random_state)
    low, high = rows.min(axis=0), rows.max(axis=0)
    places = low + rng.random((m, d)) * (high - low)
    drawn = rows[rng.choice(n, m, replace=False)]
    tree = cKDTree(rows)
    from_places, from_rows = tree.query(places)[0], tree.query(drawn, k=2)[0][:, 1]
    # in units of the farthest: powers of many columns would overflow
    farthest = max(from_places.max(), from_rows.max())
    empty, crowded = (float(((each / farthest) ** d).sum()) for each in (from_places, from_rows))
    statistic = empty / (empty + crowded)
    return Hopkins(statistic, float(scipy.stats.beta.sf(statistic, m, m)), m)


@dataclass(repr=False)
class DistanceHistogram(Result):
    """Distances of pairs of rows, counted, beside those of uniform rows in the same box.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
    share, uniform_share : ndarray of shape (n_bins,)
        Share of the pairs in each bin, of the rows and of uniform ones.
    divergence : float
        Kullback-Leibler divergence of the first from the second, in nats; larger for clusters.
    n_rows : int
        Rows that were used.
    """

    edges: np.ndarray
    share: np.ndarray
    uniform_share: np.ndarray
    divergence: float
    n_rows: int

    def _title(self) -> str:
        return f"Distances of {self.n_rows:,} rows; {self.divergence:.3g} nats from uniform ones"

    def _columns(self) -> dict[str, list]:
        return {
            "from": self.edges[:-1].tolist(),
            "to": self.edges[1:].tolist(),
            "share": self.share.tolist(),
            "uniform": self.uniform_share.tolist(),
        }


def distance_histogram(
    X: Any,
    n_bins: int = 30,
    *,
    most_rows: int = HISTOGRAM_ROWS,
    random_state: int | np.random.Generator | None = None,
) -> DistanceHistogram:
    """Several humps of distances speak for clusters: short ones within, long ones between.

    Parameters
    ----------
    X : array-like of shape (n, d)
    n_bins : int, default=30
    most_rows : int, default=2000
        A random sample of so many rows is used where there are more (``n_rows`` says it).
    random_state : int, Generator or None, default=None

    Returns
    -------
    histogram : DistanceHistogram

    Examples
    --------
    >>> rows = [[0.0], [0.1], [5.0], [5.1]]
    >>> distance_histogram(rows, 5, random_state=0).share.round(2).tolist()
    [0.33, 0.0, 0.0, 0.0, 0.67]
    """
    rows = number_rows(X)
    rng = np.random.default_rng(random_state)
    if len(rows) > most_rows:
        rows = rows[rng.choice(len(rows), most_rows, replace=False)]
    if len(rows) < 2:
        raise DataError("a histogram of distances needs two rows or more")
    low, high = rows.min(axis=0), rows.max(axis=0)
    if (low == high).all():
        raise DataError("all rows are equal: there is no distance to count")
    uniform = low + rng.random(rows.shape) * (high - low)
    distances, others = pdist(rows), pdist(uniform)
    edges = np.linspace(0, max(distances.max(), others.max()), n_bins + 1)
    share, reference = (np.histogram(each, edges)[0] / len(each) for each in (distances, others))
    smoothed = (reference * len(others) + 0.5) / (len(others) + 0.5 * n_bins)
    held = share > 0
    divergence = float((share[held] * np.log(share[held] / smoothed[held])).sum())
    return DistanceHistogram(edges, share, reference, divergence, len(rows))


@dataclass(repr=False)
class Sensitivity(Result):
    """How much a clustering changes when a parameter does, or the rows are shaken.

    Attributes
    ----------
    values : list
        The parameter's values.
    agreement : list of Estimate
        Adjusted Rand index between clusterings of bootstrap samples, on the rows of both.
    n_clusters : list of float
        Mean number of clusters.
    parameter : str
    """

    values: list
    agreement: list[Estimate]
    n_clusters: list[float]
    parameter: str

    def _title(self) -> str:
        return f"Agreement of clusterings of shaken rows, by {self.parameter}"

    def _columns(self) -> dict[str, list]:
        return {
            self.parameter: self.values,
            "agreement": self.agreement,
            "clusters": self.n_clusters,
        }


def parameter_sensitivity(
    clusterer: Any,
    X: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    n_repeats: int = 10,
    random_state: int | np.random.Generator | None = None,
) -> Sensitivity:
    """Does the clustering stay when rows are drawn anew? For each value of a parameter.

    Two bootstrap samples are clustered; the rows that are in both are compared by the adjusted Rand
    index. Near one: stable at this value. Compare values with their error bars.

    Parameters
    ----------
    clusterer : estimator
        With ``fit_predict``.
    X : array-like of shape (n, d)
    parameter : str
        One of its parameters.
    values : sequence
    n_repeats : int, default=10
        Pairs of samples.
    random_state : int, Generator or None, default=None

    Returns
    -------
    sensitivity : Sensitivity

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> rows = [[0.0], [0.2], [0.1], [9.0], [9.2], [9.1]] * 5
    >>> found = parameter_sensitivity(KMeans(random_state=0), rows, "n_clusters", [2], n_repeats=3)
    >>> found.agreement[0].value
    1.0
    """
    rows = number_rows(X)
    rng = np.random.default_rng(random_state)
    n = len(rows)
    agreement, counts = [], []
    for value in values:
        scores, found = [], []
        for _ in range(n_repeats):
            one, other = (np.unique(rng.integers(n, size=n)) for _ in range(2))
            labels = []
            for drawn in (one, other):
                model = clone(clusterer).set_params(**{parameter: value})
                of_all = np.full(n, -2)
                of_all[drawn] = model.fit_predict(rows[drawn])
                labels.append(of_all)
                found.append(len(np.unique(of_all[drawn])))
            both = np.intersect1d(one, other)
            scores.append(adjusted_rand_score(labels[0][both], labels[1][both]))
        agreement.append(mean_interval(scores))
        counts.append(float(np.mean(found)))
    return Sensitivity(list(values), agreement, counts, parameter)
