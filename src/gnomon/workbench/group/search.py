"""Groupings that compete: clusterers of different natures, and how each grouping is judged.

A grouping is good where its groups are parted and do not hang on the rows that happened to be drawn
(stability: two halves of the rows, grouped apart, must group the rows of one alike; adjusted for
chance). Groups like balls are parted by their silhouette (nearer to the own group than to the next
one); groups of any shape, of DBSCAN, by the density index (emptier between groups than inside).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from gnomon.cluster import DBSCAN, AgglomerativeClustering, KMeans, silhouette
from gnomon.cluster.density_validity import density_validity
from gnomon.contract.estimate import Estimate, mean_interval
from gnomon.density import GaussianMixture
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.errors import DataError, GnomonError
from gnomon.neighbors import NearestNeighbors
from gnomon.workbench.group.options import METHODS, GroupOptions

MOST_JUDGED = 2_000  # judgement: indices compare all pairs, two million of 2,000 rows
MOST_MERGED = 20_000  # judgement: Ward's time grows with the square of the rows
USUAL_MOST = 10  # judgement: people name up to ten groups; more are tried where ten is best
FURTHER = (12, 15, 18, 22, 26, 31, 37, 43, 50)  # numbers of groups that are looked at beyond ten
HALVES = 5  # judgement: each half is two fits; the mean over five tells 0.8 from chance
# Agreement of two halves from which on a grouping is called stable.
STABLE = 0.8
NEIGHBORS = 10  # judgement: as many equals make a place dense, in DBSCAN and in its index
# Shares of the rows that are dense at the reaches that DBSCAN tries.
DENSE_SHARES = (0.5, 0.75, 0.9, 0.97)
LEAST_REACH = 1e-12  # judgement: positive for rows of which most are equal
# Of DBSCAN's groupings the one of fewest groups is taken whose index has this share of the best.
NEARLY_AS_DENSE = 0.5
# Density index from which on groups of any shape are parted at all.
LEAST_DENSITY = 0.05
UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))


class Grouping(NamedTuple):
    """One way to group the rows.

    Attributes
    ----------
    method : str
    k : int
        Number of groups.
    silhouette : Estimate
        Mean over rows, with its 95% interval; from -1 to 1.
    stability : Estimate
        Mean adjusted Rand index of halves, with its 95% interval; 1 where they agree wholly.
    reach : float
        DBSCAN's eps; NaN for others.
    remark : str
        Why it is, or is not, chosen.
    density : float
        The density index, from -1 to 1: below 0 where groups are cut through dense places.
    dense_share : float
        Share of the rows that are dense at DBSCAN's reach; NaN for others.
    """

    method: str
    k: int
    silhouette: Estimate
    stability: Estimate
    reach: float = float("nan")
    remark: str = ""
    density: float = float("nan")
    dense_share: float = float("nan")

    @property
    def any_shape(self) -> bool:
        """Whether groups need not be balls, so that the density index judges them."""
        return self.method == "DBSCAN"

    @property
    def is_cut(self) -> bool:
        """Whether no gap lies between groups of any shape."""
        return self.any_shape and self.density < LEAST_DENSITY

    @property
    def is_stable(self) -> bool:
        return self.stability.value >= STABLE


def judged_places(n: int, random_state: int) -> np.ndarray:
    """Which rows groupings are judged on: all, or as many as that takes a bearable time."""
    if n <= MOST_JUDGED:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state).choice(n, MOST_JUDGED, replace=False))


class Judged(NamedTuple):
    """A grouping, and the groups that it gives the rows that it was judged on."""

    grouping: Grouping
    labels: np.ndarray


def search(
    points: np.ndarray,
    settings: GroupOptions,
    tell: Callable[[str, int, int], None],
    note: Callable[[str, str], None],
) -> list[Judged]:
    """All groupings that the settings allow, the chosen one first.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
    settings : GroupSettings
    tell : callable
        ``tell(what, done, total)``.
    note : callable
        ``note(what, why)``: what a person should know.

    Returns
    -------
    groupings : list of Judged
    """
    methods = allowed_methods(settings, len(points), note)
    numbers = allowed_numbers(settings, points, note)
    rows = points[judged_places(len(points), settings.random_state)]
    jobs = [(name, k, float("nan")) for name in methods if name != "DBSCAN" for k in numbers]
    if "DBSCAN" in methods:
        jobs += [("DBSCAN", settings.groups or 0, share) for share in dense_shares(rows)]
    kept = all_judged(jobs, rows, settings, tell)
    further = further_numbers(rows, kept, settings, tell) if kept else range(0)
    if further:
        note(
            f"{further[0]} to {further[-1]} groups are tried too",
            f"more than {numbers[-1]} groups are separated better",
        )
        jobs = [(name, k, float("nan")) for name in methods if name != "DBSCAN" for k in further]
        kept += all_judged(jobs, rows, settings, tell)
    if not kept:
        wanted = f"{settings.groups} groups" if settings.groups else "two groups or more"
        raise DataError(
            f"{' and '.join(methods)} could not make {wanted} of these rows. Ask for fewer groups, "
            "or for another method"
        )
    best_first = ranked(kept, rows)
    note_of_cap(best_first[0].grouping, [*numbers, *further], settings, note)
    return best_first


def all_judged(
    jobs: list[tuple[str, int, float]], rows: np.ndarray, settings: GroupOptions, tell: Any
) -> list[Judged]:
    """The groupings of some methods and numbers that could be made."""
    found = []
    for done, (name, k, share) in enumerate(jobs):
        what = f"{name}, {k} groups" if name != "DBSCAN" else f"DBSCAN, {share:.0%} dense"
        tell(what, done, len(jobs))
        found.append(judged(name, k, share, rows, settings.random_state))
    return [each for each in found if each is not None]


def allowed_methods(settings: GroupOptions, n: int, note: Callable[[str, str], None]) -> list[str]:
    """The methods that compete; says which cannot."""
    wanted = settings.methods or list(METHODS)
    if n > MOST_MERGED and "Ward" in wanted and len(wanted) > 1:
        note("Ward does not compete", f"its time grows with the square of the {n:,} rows")
        wanted = [name for name in wanted if name != "Ward"]
    if settings.groups is not None and "DBSCAN" in wanted and len(wanted) > 1:
        note("DBSCAN does not compete", "it finds the number of groups itself")
        wanted = [name for name in wanted if name != "DBSCAN"]
    return wanted


def allowed_numbers(
    settings: GroupOptions, points: np.ndarray, note: Callable[[str, str], None]
) -> range:
    """The numbers of groups that are tried: fewer than the rows have different values."""
    different = len(distinct_rows(points, np.ones(len(points))).rows)
    if different < 3:
        raise DataError(
            f"the rows have only {different} different values in the columns that groups are made "
            "from: these are the groups. Count them with gnomon look"
        )
    if settings.groups is not None:
        if settings.groups >= different:
            raise DataError(
                f"groups={settings.groups}: the rows have only {different} different values in the "
                f"columns that groups are made from; ask for at most {different - 1} groups"
            )
        return range(settings.groups, settings.groups + 1)
    most = settings.most or USUAL_MOST
    if most >= different:
        note(
            f"at most {different - 1} groups are tried",
            f"the rows have {different} different values",
        )
    return range(2, min(most, different - 1) + 1)


def further_numbers(
    rows: np.ndarray, found: list[Judged], settings: GroupOptions, tell: Any
) -> range:
    """Numbers of groups beyond the usual ones that are worth trying; none where fewer part better.

    Ward's groups of a few larger numbers are judged by their silhouette alone; where one of them
    is better than all groupings so far, the numbers around it are tried by all methods.
    """
    if settings.groups is not None or settings.most is not None:
        return range(0)
    different = len(np.unique(rows, axis=0))
    ladder = [k for k in FURTHER if k < different // 2]
    if not ladder:
        return range(0)
    best = max(each.grouping.silhouette.value for each in found)
    scores = []
    for k in ladder:
        tell(f"looking ahead, {k} groups", 0, 0)
        labels = np.asarray(
            made("Ward", k, float("nan"), rows, settings.random_state).predict(rows)
        )
        scores.append(parted_by(rows, labels).value)
    place = int(np.argmax(scores))
    if scores[place] <= best:
        return range(0)
    low = ladder[place - 1] if place else USUAL_MOST
    high = ladder[place + 1] if place + 1 < len(ladder) else ladder[place] + 1
    return range(low + 1, high)


def note_of_cap(
    chosen: Grouping, tried: list[int], settings: GroupOptions, note: Callable[[str, str], None]
) -> None:
    """Say where the search stopped at the greatest number that it was allowed to try."""
    if settings.groups is None and not chosen.any_shape and chosen.k == max(tried):
        note(
            f"the search stopped at {chosen.k} groups",
            f"that is the greatest number that was tried; --most {2 * chosen.k} lets it go on",
        )


def dense_shares(rows: np.ndarray) -> Iterator[float]:
    """Shares of dense rows that give DBSCAN different reaches, none of them zero."""
    distances = neighbor_distances(rows, NEIGHBORS)
    by_reach = {np.quantile(distances, share): share for share in reversed(DENSE_SHARES)}
    yield from sorted(share for reach, share in by_reach.items() if reach > 0)


def reach_of(rows: np.ndarray, share: float) -> float:
    """The reach at which this share of the rows is dense: has as many neighbours as DBSCAN asks."""
    return max(float(np.quantile(neighbor_distances(rows, NEIGHBORS), share)), LEAST_REACH)


def neighbor_distances(rows: np.ndarray, k: int) -> np.ndarray:
    """The distance of every row to its k-th nearest other row, or to the farthest of fewer."""
    search = NearestNeighbors(metric="euclidean").fit(rows)
    return search.others(min(k, len(rows) - 1)).distances[:, -1]


def made(method: str, k: int, share: float, rows: np.ndarray, random_state: int) -> Any:
    """A clusterer, fitted."""
    if method == "k-means":
        return KMeans(k, n_init=4, random_state=random_state).fit(rows)
    if method == "Gaussian mixture":
        form = "full" if rows.shape[1] <= 10 else "diag"
        mixture = GaussianMixture(
            k, covariance_type=form, reg_covar=1e-3, random_state=random_state
        )
        return mixture.fit(rows)
    if method == "Ward":
        return AgglomerativeClustering(k, linkage="ward").fit(rows)
    return DBSCAN(reach_of(rows, share), min_samples=NEIGHBORS).fit(rows)


def fitted(
    chosen: Judged, points: np.ndarray, random_state: int, note: Callable[[str, str], None]
) -> Any:
    """The clusterer of a grouping, on all rows.

    Where groups of all rows would not be those that were judged, the judged rows make them, and the
    others are assigned; that is noted.
    """
    grouping = chosen.grouping
    places = judged_places(len(points), random_state)
    of_judged = made(
        grouping.method, grouping.k, grouping.dense_share, points[places], random_state
    )
    if len(places) == len(points):
        return of_judged
    of_all = made_of_all(grouping, of_judged, points, len(places), random_state)
    labels = np.asarray(of_all.predict(points))[places]
    agreement = float(adjusted_rand_score(chosen.labels, labels))
    if agreement >= STABLE and n_groups(labels) == grouping.k:
        return of_all
    note(
        f"groups are made of the {len(places):,} rows that were judged; the others are assigned",
        f"made of all rows, groups come out otherwise: {n_groups(labels)} of them among the judged "
        f"rows, agreement {agreement:.2f} (adjusted Rand index)",
    )
    return of_judged


def made_of_all(
    grouping: Grouping, of_judged: Any, points: np.ndarray, n_judged: int, random_state: int
) -> Any:
    """A clusterer of all rows that is after the groups of the judged ones."""
    if grouping.method == "k-means":
        # from the centres that were judged: another start may end at other groups
        return KMeans(grouping.k, init=of_judged.cluster_centers_, random_state=random_state).fit(
            points
        )
    if grouping.method == "DBSCAN":
        # as many more rows within the same reach: dense is what was dense among the judged
        enough = NEIGHBORS * len(points) / n_judged
        return DBSCAN(grouping.reach, min_samples=enough).fit(points)
    return made(grouping.method, grouping.k, grouping.dense_share, points, random_state)


def n_groups(labels: np.ndarray) -> int:
    """How many groups there are; rows of none (-1) are not counted."""
    return len(set(labels[labels >= 0].tolist()))


def judged(method: str, k: int, share: float, rows: np.ndarray, random_state: int) -> Judged | None:
    """A grouping with its figures; None where the method cannot make such groups of these rows.

    That is: another number than was asked for (of DBSCAN 0 asks for any), one group, or a group for
    each of the different rows.
    """
    found = separated(method, k, share, rows, random_state)
    if found is None:
        return None
    try:
        agreement = list(half_agreements(method, k, share, rows, random_state))
    except (ValueError, GnomonError):
        return None
    return with_stability(found, agreement)


def separated(
    method: str, k: int, share: float, rows: np.ndarray, random_state: int
) -> Judged | None:
    """A grouping with all figures but its stability."""
    try:
        clusterer = made(method, k, share, rows, random_state)
        labels = np.asarray(clusterer.predict(rows))
    except (ValueError, GnomonError):
        return None
    found = n_groups(labels)
    if found < 2 or found != (k or found) or found >= len(np.unique(rows, axis=0)):
        return None
    grouping = Grouping(
        method,
        found,
        parted_by(rows, labels),
        UNKNOWN,
        clusterer.eps if method == "DBSCAN" else float("nan"),
        density=density_of(rows, labels),
        dense_share=share,
    )
    return Judged(grouping, labels)


def with_stability(found: Judged, agreement: list[float]) -> Judged:
    """The grouping with its stability: the mean agreement of halves."""
    stability = mean_interval(agreement, method="plain")
    stability = stability._replace(high=min(stability.high, 1.0))
    return found._replace(grouping=found.grouping._replace(stability=stability))


def half_agreements(
    method: str, k: int, share: float, rows: np.ndarray, random_state: int
) -> Iterator[float]:
    """How alike two halves group the rows of the second, for several ways to halve the rows."""
    for half in range(HALVES):
        yield half_agreement(method, k, share, rows, random_state + half)


def half_agreement(method: str, k: int, share: float, rows: np.ndarray, random_state: int) -> float:
    """How alike two halves group the rows of the second: adjusted Rand index.

    Lange, Roth, Braun, Buhmann, "Stability-based validation of clustering solutions", 2004.
    """
    order = np.random.default_rng(random_state).permutation(len(rows))
    first, second = np.array_split(order, 2)
    models = [made(method, k, share, rows[half], random_state) for half in (first, second)]
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
    grouping: Grouping, points: np.ndarray, labels: np.ndarray, random_state: int
) -> Grouping:
    """The grouping with the figures of the groups of all rows, on the rows that are judged."""
    places = judged_places(len(points), random_state)
    rows, labels = points[places], labels[places]
    return grouping._replace(
        k=n_groups(labels), silhouette=parted_by(rows, labels), density=density_of(rows, labels)
    )


def parted_by(rows: np.ndarray, labels: np.ndarray) -> Estimate:
    """The mean silhouette; rows of no group are separated from nothing."""
    parted = np.zeros(len(rows))
    held = labels >= 0
    if n_groups(labels) > 1:
        parted[held] = silhouette(rows[held], labels[held]).per_row
    return mean_interval(parted)


def density_of(rows: np.ndarray, labels: np.ndarray) -> float:
    """The density index; 0 where there are not two groups to be separated."""
    return density_validity(rows, labels).total if n_groups(labels) > 1 else 0.0


def ranked(found: list[Judged], rows: np.ndarray) -> list[Judged]:
    """The chosen one first, the others by their figures, each with a remark.

    Parameters
    ----------
    found : list of Judged
    rows : ndarray of shape (n_judged, n_columns)

    Returns
    -------
    ranked : list of Judged
    """
    able = [each for each in found if not each.grouping.is_cut] or found
    stable = [each for each in able if each.grouping.is_stable]
    if stable:
        chosen, why = best_of(stable, rows)
    else:
        chosen = max(able, key=lambda each: each.grouping.stability.value)
        why = "none is stable; this is the most stable"
    order = sorted(found, key=figures_in_order if stable else stability_in_order)
    rest = [with_remark(each, drawback(each.grouping)) for each in order if each is not chosen]
    return [with_remark(chosen, why), *rest]


def figures_in_order(judged: Judged) -> tuple[bool, float]:
    """Sorts the stable ones first, the better separated before others."""
    return not judged.grouping.is_stable, -judged.grouping.silhouette.value


def stability_in_order(judged: Judged) -> float:
    """Sorts the more stable ones first."""
    return -judged.grouping.stability.value


def drawback(grouping: Grouping) -> str:
    """Evidence against a grouping."""
    if not grouping.is_stable:
        return "not stable"
    return "no gaps between groups" if grouping.is_cut else ""


def with_remark(judged: Judged, remark: str) -> Judged:
    """The same with a remark."""
    return judged._replace(grouping=judged.grouping._replace(remark=remark))


def best_of(stable: list[Judged], rows: np.ndarray) -> tuple[Judged, str]:
    """The one to take of stable groupings, and why.

    Groups like balls by their silhouette. Groups of any shape where the balls are cut through
    places that are denser than what lies between, on the rows that the others hold.
    """
    balls = [each for each in stable if not each.grouping.any_shape]
    shapes = [each for each in stable if each.grouping.any_shape]
    if not shapes:
        return best_parted(balls)
    shape = plainest_shape(shapes)
    if not balls:
        return shape, "fewest groups among those of any shape that are separated nearly as well"
    ball, why = best_parted(balls)
    held = shape.labels >= 0
    if density_of(rows[held], ball.labels[held]) >= 0:
        return ball, why
    cut = f"{ball.grouping.method} with {ball.grouping.k} groups cuts dense places"
    return shape, f"emptier between groups than inside, where {cut}"


def plainest_shape(shapes: list[Judged]) -> Judged:
    """The fewest groups, then the most stable, of those nearly as well separated as the best."""
    enough = NEARLY_AS_DENSE * max(each.grouping.density for each in shapes)
    near = [each for each in shapes if each.grouping.density >= enough] or shapes
    return min(near, key=lambda each: (each.grouping.k, -each.grouping.stability.value))


def best_parted(stable: list[Judged]) -> tuple[Judged, str]:
    """By silhouettes: the fewest groups within one standard error of the best, and why."""
    groupings = [each.grouping for each in stable]
    best = max(groupings, key=lambda each: each.silhouette.value)
    close = best.silhouette.value - best.silhouette.error
    chosen = plainest([each for each in groupings if each.silhouette.value >= close])
    why = "best separated of the stable groupings"
    if chosen is not best:
        why = f"fewest groups within one standard error of the best separated ({best.method})"
    return next(each for each in stable if each.grouping is chosen), why
