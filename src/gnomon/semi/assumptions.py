"""Which assumption lets unlabeled rows help: smoothness, clusters, low density, manifold.

Each is measured on the labeled rows within all rows, and compared with the same measure after the
labels were shuffled, which gives a p-value.

Texts: 004 17.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from gnomon.cluster.kmeans import KMeans
from gnomon.cluster.transfer import fit_quietly
from gnomon.contract.result import Result
from gnomon.engine.errors import DataError
from gnomon.reduce.rows_map import neighbor_graph
from gnomon.semi.graph import index_of, squared_distances

MOST_LABELED = 500  # judgement: 125,000 pairs, a second or so


@dataclass
class AssumptionChecks(Result):
    """Measures of four assumptions.

    Attributes
    ----------
    names : list of str
    values : list of float
        The measure of each, between 0 and 1; the greater, the more it holds.
    by_chance : list of float
        Its mean over shuffled labels.
    p_values : list of float
        Share of shuffled labels (and the real ones) with a measure at least as great.
    """

    names: list[str]
    values: list[float]
    by_chance: list[float]
    p_values: list[float]

    def _title(self) -> str:
        return "which assumption holds of labeled and unlabeled rows"

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "assumption": self.names,
            "measure": self.values,
            "by chance": self.by_chance,
            "p": self.p_values,
        }

    def holds(self, alpha: float = 0.05) -> list[str]:
        """Names of the assumptions whose measure is beyond chance, corrected by Holm.

        Parameters
        ----------
        alpha : float, default=0.05

        Returns
        -------
        names : list of str
        """
        order = np.argsort(self.p_values)
        kept = []
        for rank, place in enumerate(order.tolist()):
            if self.p_values[place] * (len(order) - rank) > alpha:
                break
            kept.append(self.names[place])
        return kept


def check_assumptions(
    X: Any,
    y: Any,
    *,
    n_neighbors: int = 10,
    n_clusters: int = 10,
    n_permutations: int = 199,
    random_state: int | None = None,
) -> AssumptionChecks:
    """Measure which assumption of semi-supervised learning holds.

    Smoothness: the nearest labeled row has the same class. Clusters: labels in one cluster of
    k-means have one class. Low density: between labeled rows of one class there are more rows than
    between those of two. Manifold: the nearest label along shortest paths through all rows has the
    same class. Each is the share over labeled rows or pairs. Texts: 004 17.1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Labeled and unlabeled rows, columns in comparable units.
    y : array-like of shape (n_samples,)
        Classes; None or NaN where a row has no label.
    n_neighbors : int, default=10
        Neighbors of the graph and the density.
    n_clusters : int, default=10
    n_permutations : int, default=199
    random_state : int, default=None

    Returns
    -------
    checks : AssumptionChecks

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> X[45:] += 8.0
    >>> y = [0] * 10 + [None] * 70 + [1] * 10
    >>> "smoothness" in check_assumptions(X, y, n_clusters=2, random_state=0).holds()
    True
    """
    rows = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=object)
    known = np.flatnonzero([value is not None and value == value for value in labels])
    rng = np.random.default_rng(random_state)
    if len(known) > MOST_LABELED:
        known = np.sort(rng.choice(known, MOST_LABELED, replace=False))
    classes, codes = np.unique(labels[known].tolist(), return_inverse=True)
    if len(classes) < 2 or len(known) < 4:
        raise DataError(
            f"the checks need four labeled rows of two classes or more; there are {len(known)} "
            f"labels of {len(classes)}"
        )
    measures = _measures(rows, known, n_neighbors, n_clusters, rng)
    names = list(measures)
    values = [measures[name](codes) for name in names]
    shuffled = np.array(
        [
            [measures[name](moved) for name in names]
            for moved in (rng.permutation(codes) for _ in range(n_permutations))
        ]
    )
    beyond = (shuffled >= np.array(values) - 1e-12).sum(axis=0)
    p = (beyond + 1) / (n_permutations + 1)
    return AssumptionChecks(names, values, shuffled.mean(axis=0).tolist(), p.tolist())


def _measures(rows, known, n_neighbors, n_clusters, rng) -> dict[str, Any]:
    """Functions of the class codes of the labeled rows, by name."""
    straight = squared_distances(rows[known], rows[known])
    np.fill_diagonal(straight, np.inf)
    index = index_of(rows, "euclidean")
    k = min(n_neighbors, len(rows) - 1)
    graph = neighbor_graph(index.others(k))
    paths = dijkstra(graph, directed=False, indices=known)[:, known]
    np.fill_diagonal(paths, np.inf)
    model = KMeans(min(n_clusters, len(np.unique(rows, axis=0))), random_state=0)
    cluster = fit_quietly(model, rows).labels_[known]
    first, second = np.triu_indices(len(known), 1)
    if len(first) > 5000:
        some = rng.choice(len(first), 5000, replace=False)
        first, second = first[some], second[some]
    middle = 0.5 * (rows[known[first]] + rows[known[second]])
    reach = index.nearest(middle, k).distances[:, -1]
    ends = np.sqrt(straight[first, second])
    sparse = reach / np.maximum(ends, np.finfo(np.float64).tiny)

    def low_density(codes: np.ndarray) -> float:
        same = codes[first] == codes[second]
        if same.all() or not same.any():
            return 0.5
        ranks = np.argsort(np.argsort(sparse)).astype(np.float64)
        n_other = int((~same).sum())
        area = (ranks[~same].sum() - n_other * (n_other - 1) / 2) / (n_other * int(same.sum()))
        return float(area)

    def nearest_agrees(distances: np.ndarray) -> Any:
        nearest = distances.argmin(axis=1)
        reached = np.isfinite(distances.min(axis=1))
        return lambda codes: float(((codes[nearest] == codes) & reached).mean())

    def pure(codes: np.ndarray) -> float:
        table = np.zeros((cluster.max() + 1, codes.max() + 1))
        np.add.at(table, (cluster, codes), 1.0)
        return float(table.max(axis=1).sum() / len(codes))

    return {
        "smoothness": nearest_agrees(straight),
        "clusters": pure,
        "low density": low_density,
        "manifold": nearest_agrees(paths),
    }
