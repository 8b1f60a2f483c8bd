"""Are there groups at all? The groups found, beside those that the same method finds in clouds.

A cloud without groups has the rows' columns one by one and the correlations of their ranks, and
nothing more: numbers that follow a normal copula. A column's spread is kept, skewness and all, but
for its humps, which are flattened to one: two humps are groups. A column of few values, or with one
very common value, keeps them: that answers are whole numbers, or often zero, makes no groups.
Categories are dealt out anew. Clouds of other shapes than these (bent, angular, of one skewed
factor) are told from groups by the valleys between groups (`gnomon.workbench.group.valley`); groups
are found where both tests find them.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import scipy
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri

from gnomon.cluster.tendency import hopkins
from gnomon.engine.errors import GnomonWarning
from gnomon.workbench.group.search import Grouping, density_of, made, parted_by
from gnomon.workbench.group.valley import valley_p

LEVEL = 0.05  # the usual level of 5%
# Clouds without groups that a grouping is compared with, and the rows of each.
CLOUDS, CLOUD_ROWS = 39, 1_000
# A column of no more different values than this, and on average five rows each, keeps them; so does
# one of which a value has a tenth of the rows.
FEW_VALUES, ROWS_PER_VALUE, LUMP = 20, 5, 0.1
# Steps of a column's density, and places at which its one hump is tried.
MOST_STEPS, HUMPS = 100, 32


class Tendency(NamedTuple):
    """Whether there are groups at all: is the grouping better separated than those of clouds?

    Attributes
    ----------
    parted : float
        Silhouette, or for DBSCAN the density index, of the chosen method's groups of some rows.
    cloud : float
        Median of the same over clouds of the same columns without groups.
    p : float
        Share of clouds that are parted as well, the table counted among them.
    hopkins : float
        Half for rows spread evenly, near one for clumps; NaN for fewer than three different rows.
    measure : str
    valley_p : float
        Chance of so few rows between the groups if they are parts of one cloud of any shape.
    """

    parted: float
    cloud: float
    p: float
    hopkins: float
    measure: str = "silhouette"
    valley_p: float = 0.0

    @property
    def found(self) -> bool:
        """Whether there are groups; false for 95 of 100 single clouds at least."""
        return self.p <= LEVEL and self.valley_p <= LEVEL

    def __str__(self) -> str:
        return (
            f"{self.measure} {self.parted:.3f} against {self.cloud:.3f} of clouds of the same "
            f"columns without groups, p = {self.p:.3g}; fewer rows between groups than inside "
            f"them: p = {self.valley_p:.3g}"
        )


def tendency_of(
    points: np.ndarray, grouping: Grouping, random_state: int, spans: list[slice] | None = None
) -> Tendency:
    """Compare a grouping of the rows with groupings of clouds that have no groups.

    The test is that of Liu, Hayes, Nobel, Marron, "Statistical significance of clustering", 2008,
    with the chosen method and its index for the cost of 2-means, and clouds of the table's own
    columns for normal ones.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_columns)
    grouping : Grouping
        Method, and number of groups or share of dense rows.
    random_state : int
    spans : list of slice, default=None
        Which coordinates each column of the table has; by default each is a column.

    Returns
    -------
    tendency : Tendency
    """
    rng = np.random.default_rng(random_state)
    rows = points
    if len(points) > CLOUD_ROWS:
        rows = points[rng.choice(len(points), CLOUD_ROWS, replace=False)]
    cloud = Cloud(rows, spans or [slice(j, j + 1) for j in range(rows.shape[1])], rng)

    def grouped(some: np.ndarray) -> np.ndarray:
        clusterer = made(grouping.method, grouping.k, grouping.dense_share, some, random_state)
        return np.asarray(clusterer.predict(some))

    def parted(some: np.ndarray, labels: np.ndarray) -> float:
        return density_of(some, labels) if grouping.any_shape else parted_by(some, labels).value

    with warnings.catch_warnings():
        # a cloud may have fewer different rows than groups are asked for
        warnings.simplefilter("ignore", GnomonWarning)
        labels = grouped(rows)
        own = parted(rows, labels)
        drawn = (cloud.draw(rng) for _ in range(CLOUDS))
        others = [parted(each, grouped(each)) for each in drawn]
    p = (1 + sum(each >= own for each in others)) / (CLOUDS + 1)
    clumped = float("nan")
    if len(np.unique(rows, axis=0)) > 2:
        clumped = hopkins(rows, random_state=random_state).statistic
    measure = "density index" if grouping.any_shape else "silhouette"
    apart = valley_p(rows, labels, random_state)
    return Tendency(own, float(np.median(others)), p, clumped, measure, apart)


class Cloud:
    """Rows without groups that have the columns of given rows.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    spans : list of slice
        The coordinates of each column; those of several coordinates are dealt out anew, whole.
    rng : Generator
    """

    def __init__(self, rows: np.ndarray, spans: list[slice], rng: np.random.Generator):
        self.rows = rows
        single = [each.start for each in spans if each.stop - each.start == 1]
        self.linked = np.array([j for j in single if np.ptp(rows[:, j]) > 0], dtype=np.int64)
        self.dealt = [each for each in spans if each.stop - each.start > 1]
        self.quantiles = [column_quantiles(rows[:, j]) for j in self.linked]
        if not len(self.linked):
            return
        wanted = correlations(rows[:, self.linked])
        self.factor = unit_factor(wanted)
        # ties weaken correlations: ask for as much more as was lost
        asked = np.clip(2 * wanted - correlations(self._linked_columns(rng)), -1.0, 1.0)
        np.fill_diagonal(asked, 1.0)
        self.factor = unit_factor(asked)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """As many rows as were given."""
        drawn = self.rows.copy()
        if len(self.linked):
            drawn[:, self.linked] = self._linked_columns(rng)
        for span in self.dealt:
            drawn[:, span] = self.rows[rng.permutation(len(drawn)), span]
        return drawn

    def _linked_columns(self, rng: np.random.Generator) -> np.ndarray:
        n = len(self.rows)
        scores = rng.standard_normal((n, self.factor.shape[1])) @ self.factor.T
        places = np.minimum((ndtr(scores) * n).astype(np.int64), n - 1)
        return np.column_stack([each[places[:, j]] for j, each in enumerate(self.quantiles)])


def unit_factor(wanted: np.ndarray) -> np.ndarray:
    """F of unit rows whose F F' is near to the wanted correlations, which no numbers need have."""
    values, vectors = np.linalg.eigh(wanted)
    held = values > 1e-12 * values[-1]
    factor = vectors[:, held] * np.sqrt(values[held])
    return factor / np.linalg.norm(factor, axis=1, keepdims=True)


def correlations(columns: np.ndarray) -> np.ndarray:
    """Correlations of normal scores of the ranks."""
    ranks = scipy.stats.rankdata(columns, axis=0)
    return np.atleast_2d(np.corrcoef(ndtri((ranks - 0.5) / len(columns)), rowvar=False))


def column_quantiles(values: np.ndarray) -> np.ndarray:
    """What the column of a cloud holds, sorted: as many values as there are rows."""
    n = len(values)
    counts = np.unique(values, return_counts=True)[1]
    if len(counts) <= min(FEW_VALUES, n // ROWS_PER_VALUE) or counts.max() >= LUMP * n > 1:
        return np.sort(values)
    places, shares = one_humped(values)
    return np.interp((np.arange(n) + 0.5) / n, shares, places)


def one_humped(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distribution of one hump that is nearest to the values, by the largest gap of shares.

    Its density rises up to the hump and falls behind it (Grenander's estimate on both sides); the
    best of some places of the hump is taken, as in Hartigan's dip.

    Parameters
    ----------
    values : ndarray of shape (n,)
        None of them very common.

    Returns
    -------
    places, shares : ndarray of shape (m,)
        The share of the distribution up to each place; straight between.
    """
    values = np.sort(values)
    steps = min(MOST_STEPS, len(values) // ROWS_PER_VALUE)
    places = np.unique(np.quantile(values, np.linspace(0, 1, max(steps, 2) + 1)))
    up_to = np.searchsorted(values, places) + np.searchsorted(values, places, side="right")
    widths, masses = np.diff(places), np.diff(up_to) / (up_to[-1] - up_to[0])
    densities = masses / widths
    given = np.cumsum(masses)
    best, least = given, np.inf
    for hump in np.unique(np.linspace(1, len(widths) - 1, HUMPS).astype(int)):
        rising = isotonic_regression(densities[:hump], weights=widths[:hump]).x
        falling = isotonic_regression(densities[hump:], weights=widths[hump:], increasing=False).x
        shares = np.cumsum(np.concatenate([rising, falling]) * widths)
        gap = np.abs(shares - given).max()
        if gap < least:
            best, least = shares, gap
    return places, np.concatenate([[0.0], best / best[-1]])
