"""Groupings that compete: clusterers of different natures, and how each grouping is judged.

A grouping is good where its groups are parted (the silhouette: nearer to the own group than to the
next one) and where they do not hang on the rows that happened to be drawn (stability: two halves
of the rows, grouped apart, must group a third set of rows alike; adjusted for chance). Both have
error bars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from gnomon.cluster import DBSCAN, Agglomerative, KMeans, silhouette
from gnomon.cluster.tendency import hopkins
from gnomon.density import GaussianMixture
from gnomon.engine.errors import DataError, GnomonError
from gnomon.evaluate.figure import Figure, mean_interval
from gnomon.neighbors import NearestNeighbors

MOST_JUDGED = 2_000
MOST_MERGED = 20_000
HALVES = 5
# Agreement of two halves from which on a grouping is called stable.
STABLE = 0.8
METHODS = ("k-means", "Gaussian mixture", "Ward", "DBSCAN")
NEIGHBOURS = 10
# Clouds without groups that a grouping is compared with, and the rows of each.
CLOUDS, CLOUD_ROWS = 39, 1_000


class Grouping(NamedTuple):
    """One way to group the rows.

    Attributes
    ----------
    method : str
    k : int
        Number of groups.
    silhouette : Figure
        Mean over rows, with its 95% interval; from -1 to 1.
    stability : Figure
        Mean adjusted Rand index of halves, with its 95% interval; 1 where they agree wholly.
    reach : float
        DBSCAN's eps; NaN for others.
    remark : str
        Why it is, or is not, chosen.
    """

    method: str
    k: int
    silhouette: Figure
    stability: Figure
    reach: float = float("nan")
    remark: str = ""

    @property
    def is_stable(self) -> bool:
        return self.stability.value >= STABLE


class Tendency(NamedTuple):
    """Whether there are groups at all: is the grouping better parted than that of one cloud?

    Attributes
    ----------
    parted : float
        Silhouette of k-means with the chosen number of groups.
    cloud : float
        Mean silhouette of k-means on normal clouds of the same means and covariances.
    p : float
        Share of clouds that are parted as well, the table counted among them.
    hopkins : float
        Half for rows spread evenly, near one for clumps.
    """

    parted: float
    cloud: float
    p: float
    hopkins: float

    @property
    def found(self) -> bool:
        return self.p <= 0.05

    def __str__(self) -> str:
        return (
            f"silhouette {self.parted:.3f} against {self.cloud:.3f} of normal clouds of the same "
            f"covariance, p = {self.p:.3g}"
        )


def tendency_of(points: np.ndarray, k: int, seed: int) -> Tendency:
    """Compare k groups of the rows with k groups of clouds that have none.

    Liu, Hayes, Nobel, Marron, "Statistical significance of clustering", 2008, whose measure is the
    cost of 2-means.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
    k : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    rows = points
    if len(points) > CLOUD_ROWS:
        rows = points[rng.choice(len(points), CLOUD_ROWS, replace=False)]
    mean, covariance = points.mean(axis=0), np.atleast_2d(np.cov(points, rowvar=False))

    def parted(some: np.ndarray) -> float:
        labels = KMeans(k, n_init=2, random_state=seed).fit(some).labels_
        return float(silhouette(some, labels).total)

    own = parted(rows)
    clouds = [
        parted(rng.multivariate_normal(mean, covariance, len(rows), method="eigh"))
        for _ in range(CLOUDS)
    ]
    p = (1 + sum(each >= own for each in clouds)) / (CLOUDS + 1)
    return Tendency(own, float(np.mean(clouds)), p, hopkins(rows, random_state=seed).statistic)


def judged_places(n: int, seed: int) -> np.ndarray:
    """Which rows groupings are judged on: all, or as many as that takes a bearable time."""
    if n <= MOST_JUDGED:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, MOST_JUDGED, replace=False))


def search(
    points: np.ndarray,
    settings: Any,
    tell: Callable[[str, int, int], None],
    decide: Callable[[str, str], None],
) -> list[Grouping]:
    """All groupings that the settings allow, the chosen one first.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
    settings : GroupSettings
    tell : callable
        ``tell(what, done, total)``.
    decide : callable
        ``decide(what, why)``.

    Returns
    -------
    groupings : list of Grouping
    """
    methods = allowed_methods(settings, len(points), decide)
    rows = points[judged_places(len(points), settings.seed)]
    numbers = [settings.groups] if settings.groups else range(2, settings.most + 1)
    jobs = [(name, k) for name in methods if name != "DBSCAN" for k in numbers]
    reaches = list(reaches_of(rows)) if "DBSCAN" in methods else []
    total = len(jobs) + len(reaches)
    found = []
    for done, (name, k) in enumerate(jobs):
        tell(f"{name}, {k} groups", done, total)
        found.append(judged(name, k, float("nan"), rows, settings.seed))
    for done, reach in enumerate(reaches, len(jobs)):
        tell(f"DBSCAN, reach {reach:.3g}", done, total)
        found.append(judged("DBSCAN", settings.groups or 0, reach, rows, settings.seed))
    kept = [each for each in found if each is not None]
    if not kept:
        raise DataError(
            "no method could make groups of these rows: they have fewer distinct values than "
            "groups, or all are alike. Ask for fewer groups"
        )
    return ranked(kept)


def allowed_methods(settings: Any, n: int, decide: Callable[[str, str], None]) -> list[str]:
    """The methods that compete; says which cannot."""
    unknown = [name for name in settings.methods or () if name not in METHODS]
    if unknown:
        raise DataError(f"there is no method {unknown[0]!r}; there are {', '.join(METHODS)}")
    wanted = settings.methods or list(METHODS)
    if n > MOST_MERGED and "Ward" in wanted and len(wanted) > 1:
        decide("Ward does not compete", f"its time grows with the square of the {n:,} rows")
        wanted = [name for name in wanted if name != "Ward"]
    if settings.groups is not None and "DBSCAN" in wanted and len(wanted) > 1:
        decide("DBSCAN does not compete", "it finds the number of groups itself")
        wanted = [name for name in wanted if name != "DBSCAN"]
    return wanted


def reaches_of(rows: np.ndarray) -> Iterator[float]:
    """Reaches for DBSCAN: quantiles of the distance to the tenth neighbour, each once."""
    distances = neighbour_distances(rows, NEIGHBOURS)
    yield from dict.fromkeys(
        float(reach) for reach in np.quantile(distances, [0.5, 0.75, 0.9, 0.97]) if reach > 0
    )


def neighbour_distances(rows: np.ndarray, k: int) -> np.ndarray:
    """The distance of every row to its k-th nearest other row, or to the farthest of fewer."""
    search = NearestNeighbors(metric="euclidean").fit(rows)
    return search.others(min(k, len(rows) - 1)).distances[:, -1]


def made(method: str, k: int, reach: float, n_columns: int, seed: int) -> Any:
    """A clusterer, not yet fitted."""
    if method == "k-means":
        return KMeans(k, n_init=4, random_state=seed)
    if method == "Gaussian mixture":
        form = "full" if n_columns <= 10 else "diag"
        return GaussianMixture(k, covariance_type=form, reg_covar=1e-3, random_state=seed)
    if method == "Ward":
        return Agglomerative(k, linkage="ward")
    return DBSCAN(reach, min_samples=NEIGHBOURS)


def fitted(grouping: Grouping, points: np.ndarray, seed: int) -> Any:
    """The clusterer of a grouping, on all rows."""
    clusterer = made(grouping.method, grouping.k, grouping.reach, points.shape[1], seed)
    places = judged_places(len(points), seed)
    if grouping.method == "k-means" and len(places) < len(points):
        # from the centres that were judged: another start may end at other groups
        judged_centres = clusterer.fit(points[places]).cluster_centers_
        clusterer = KMeans(grouping.k, init=judged_centres, random_state=seed)
    return clusterer.fit(points)


def judged(method: str, k: int, reach: float, rows: np.ndarray, seed: int) -> Grouping | None:
    """A grouping with its figures; None where the method cannot make groups of these rows."""
    try:
        clusterer = made(method, k, reach, rows.shape[1], seed).fit(rows)
        labels = np.asarray(clusterer.predict(rows))
        k = len(set(labels[labels >= 0].tolist()))
        if k < 2:
            return None
        parted = parted_by(rows, labels)
        agreement = [half_agreement(method, k, reach, rows, seed + half) for half in range(HALVES)]
    except (ValueError, GnomonError):
        return None
    stability = mean_interval(agreement, method="plain")
    high = min(stability.high, 1.0)
    return Grouping(method, k, parted, stability._replace(high=high), reach)


def half_agreement(method: str, k: int, reach: float, rows: np.ndarray, seed: int) -> float:
    """How alike two halves group the rows of the second: adjusted Rand index.

    Lange, Roth, Braun, Buhmann, "Stability-based validation of clustering solutions", 2004.
    """
    order = np.random.default_rng(seed).permutation(len(rows))
    first, second = np.array_split(order, 2)
    models = [
        made(method, k, reach, rows.shape[1], seed).fit(rows[half]) for half in (first, second)
    ]
    said = [np.asarray(model.predict(rows[second])) for model in models]
    return float(adjusted_rand_score(*said))


def plainest(groupings: list[Grouping]) -> Grouping:
    """Of those with fewest groups the first method that is as stable as the most stable one."""
    fewest = min(each.k for each in groupings)
    few = [each for each in groupings if each.k == fewest]
    most = max(few, key=lambda each: each.stability.value).stability
    as_stable = [
        each
        for each in few
        if each.stability.value >= most.value - np.hypot(most.error, each.stability.error)
    ]
    return min(as_stable, key=lambda each: METHODS.index(each.method))


def parted_as_made(
    grouping: Grouping, points: np.ndarray, labels: np.ndarray, seed: int
) -> Grouping:
    """The grouping with the silhouette of the groups of all rows, on the rows that are judged."""
    places = judged_places(len(points), seed)
    return grouping._replace(silhouette=parted_by(points[places], labels[places]))


def parted_by(rows: np.ndarray, labels: np.ndarray) -> Figure:
    """The mean silhouette; rows of no group are parted from nothing."""
    parted = np.zeros(len(rows))
    held = labels >= 0
    if len(set(labels[held].tolist())) > 1:
        parted[held] = silhouette(rows[held], labels[held]).per_row
    return mean_interval(parted)


def ranked(groupings: list[Grouping]) -> list[Grouping]:
    """The chosen one first, the others by their figures, each with a remark."""
    stable = [each for each in groupings if each.is_stable]
    if not stable:
        order = sorted(groupings, key=lambda each: -each.stability.value)
        chosen = order[0]
        why = "none is stable; this is the most stable"
    else:
        best = max(stable, key=lambda each: each.silhouette.value)
        close = best.silhouette.value - best.silhouette.error
        near = [each for each in stable if each.silhouette.value >= close]
        chosen = plainest(near)
        why = "best parted of the stable groupings"
        if chosen is not best:
            why = f"fewest groups within one standard error of the best parted ({best.method})"
        order = sorted(groupings, key=lambda each: (not each.is_stable, -each.silhouette.value))
    rest = [
        each._replace(remark="" if each.is_stable else "not stable")
        for each in order
        if each is not chosen
    ]
    return [chosen._replace(remark=why), *rest]
