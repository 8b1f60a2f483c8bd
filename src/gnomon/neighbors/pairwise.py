"""Tables of distances: between all rows, of pairs that were rated, and between classes.

Texts: 000a 6.2.3 · 000b 8.2.4, 8.3.2 · 001 (distance matrices) · 004 12.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError
from gnomon.engine.threads import in_order
from gnomon.evaluate.intake import label_column
from gnomon.neighbors.distances import Distance, distance_of

CELLS_TOGETHER = 2**20  # distances of a block: 8 MB
REMEDY = "Use distance_blocks, which holds a part at a time, or fewer rows."


def pairwise_distances(
    X, Y=None, metric: Any = "euclidean", *, n_jobs: int | None = None
) -> np.ndarray:
    """The distance of every row of X to every row of Y, or of X.

    The distance learns what it needs (deviations, covariances) from X.

    Parameters
    ----------
    X : array-like of shape (n, n_columns)
    Y : array-like of shape (m, n_columns), default=None
        None for X itself; the table is then symmetric with zeros on its diagonal.
    metric : str, Distance or callable, default="euclidean"
        See `gnomon.neighbors.distance_of`.
    n_jobs : int or None, default=None

    Returns
    -------
    distances : ndarray of shape (n, m)

    Examples
    --------
    >>> pairwise_distances([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    """
    n, m = np.shape(X)[0], np.shape(X if Y is None else Y)[0]
    memory.require(8 * n * m, f"a table of {n:,} x {m:,} distances", REMEDY)
    found = np.empty((n, m))
    for start, block in distance_blocks(X, Y, metric, n_jobs=n_jobs):
        found[start : start + len(block)] = block
    if Y is None:
        np.fill_diagonal(found, 0.0)
    return found


def distance_blocks(
    X, Y=None, metric: Any = "euclidean", *, rows: int | None = None, n_jobs: int | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """The table of distances in blocks of rows, for tables larger than memory.

    Parameters
    ----------
    X : array-like of shape (n, n_columns)
    Y : array-like of shape (m, n_columns), default=None
    metric : str, Distance or callable, default="euclidean"
    rows : int or None, default=None
        Rows in a block; None for some eight megabytes.
    n_jobs : int or None, default=None

    Yields
    ------
    start : int
        The first row of the block.
    block : ndarray of shape (at most rows, m)

    Examples
    --------
    >>> [(start, block.shape) for start, block in distance_blocks([[0], [1], [2]], rows=2)]
    [(0, (2, 3)), (2, (1, 3))]
    """
    distance = _fitted(metric, X)
    Y = X if Y is None else Y
    n, m = np.shape(X)[0], np.shape(Y)[0]
    size = max(CELLS_TOGETHER // max(m, 1), 1) if rows is None else int(rows)

    def block(start: int) -> tuple[int, np.ndarray]:
        return start, distance.pairwise(X[start : start + size], Y)

    X = X if hasattr(X, "shape") else np.asarray(X)
    yield from in_order(block, range(0, n, size), n_jobs)


def condensed_distances(X, metric: Any = "euclidean", *, n_jobs: int | None = None) -> np.ndarray:
    """The distances of all pairs i < j in one line, as `scipy.spatial.distance.pdist` orders them.

    Parameters
    ----------
    X : array-like of shape (n, n_columns)
    metric : str, Distance or callable, default="euclidean"
    n_jobs : int or None, default=None

    Returns
    -------
    distances : ndarray of shape (n (n - 1) / 2,)

    Examples
    --------
    >>> condensed_distances([[0], [1], [3]])
    array([1., 3., 2.])
    """
    n = np.shape(X)[0]
    memory.require(4 * n * (n - 1), f"the distances of {n * (n - 1) // 2:,} pairs", REMEDY)
    found = np.empty(n * (n - 1) // 2)
    place = 0
    for start, block in distance_blocks(X, None, metric, n_jobs=n_jobs):
        for i, line in enumerate(block, start):
            found[place : place + n - i - 1] = line[i + 1 :]
            place += n - i - 1
    return found


def rowwise_distances(distance: Distance, one, other) -> np.ndarray:
    """The distance of each row to the row at the same place of another block.

    Parameters
    ----------
    distance : Distance
        Fitted.
    one, other : array-like of shape (n, n_columns)

    Returns
    -------
    distances : ndarray of shape (n,)
    """
    if not distance.has_coordinates:
        pairs = zip(np.asarray(one), np.asarray(other))
        return np.array([distance.pairwise(a[None], b[None])[0, 0] for a, b in pairs])
    apart = np.abs(distance.coordinates(one) - distance.coordinates(other))
    p = distance.exponent
    if np.isinf(p):
        return distance.finish(apart.max(axis=1, initial=0.0))
    return distance.finish((apart != 0).sum(axis=1) if p == 0 else (apart**p).sum(axis=1))


def checked_dissimilarities(table, *, missing: bool = False) -> np.ndarray:
    """A table of dissimilarities, checked: square, symmetric, not negative, zero on the diagonal.

    Parameters
    ----------
    table : array-like of shape (n, n)
    missing : bool, default=False
        Whether pairs may be missing (NaN).

    Returns
    -------
    table : ndarray of shape (n, n)

    Examples
    --------
    >>> checked_dissimilarities([[0, 2], [2, 0]])
    array([[0., 2.],
           [2., 0.]])
    """
    table = np.array(table, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(f"dissimilarities form a square table, not one of shape {table.shape}")
    gone = np.isnan(table)
    if gone.any() and not missing:
        row, column = np.argwhere(gone)[0]
        raise DataError(f"the pair ({row}, {column}) is missing; allow it with missing=True")
    size = float(np.nanmax(np.abs(table), initial=0.0))
    for wrong, what in (
        (table < 0, "is negative"),
        (np.isinf(table), "is infinite"),
        (
            np.abs(table - table.T) > 1e-9 * size,
            "differs from its mirror image (a mean of both is (D + D.T) / 2)",
        ),
        (gone != gone.T, "is missing on one side of the diagonal only"),
        (np.diag(np.abs(np.diag(table)) > 1e-9 * size), "is not zero on the diagonal"),
    ):
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise DataError(f"the entry of the pair ({row}, {column}) {what}: {table[row, column]}")
    np.fill_diagonal(table, 0.0)
    return table


def table_of_pairs(pairs, values, n: int | None = None, *, diagonal: float = 0.0) -> np.ndarray:
    """A symmetric table from rated pairs: the mean of the ratings of each, NaN where nothing was.

    Texts: 004 12.2 (averages of customers' ratings of pairs of products).

    Parameters
    ----------
    pairs : array-like of int of shape (n_ratings, 2)
    values : array-like of shape (n_ratings,)
    n : int or None, default=None
        Number of things; None for one more than the largest number in pairs.
    diagonal : float, default=0.0
        Of a thing with itself, where no pair says so: 0 for distances, the top for similarities.

    Returns
    -------
    table : ndarray of shape (n, n)

    Examples
    --------
    >>> table_of_pairs([[0, 1], [1, 0], [1, 2]], [2, 4, 7])
    array([[ 0.,  3., nan],
           [ 3.,  0.,  7.],
           [nan,  7.,  0.]])
    """
    pairs, values = np.asarray(pairs, dtype=np.int64), np.asarray(values, dtype=np.float64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or len(pairs) != len(values):
        raise DataError("pairs are two numbers of things for each value")
    n = int(pairs.max(initial=-1)) + 1 if n is None else int(n)
    if pairs.min(initial=0) < 0 or pairs.max(initial=-1) >= n:
        raise DataError(f"pairs must name things from 0 to {n - 1}")
    memory.require(24 * n * n, f"a table of {n:,} x {n:,} pairs", "Use fewer things.")
    sums, counts = np.zeros((n, n)), np.zeros((n, n))
    off = pairs[:, 0] != pairs[:, 1]
    for one, other, which in ((0, 1, slice(None)), (1, 0, off)):
        np.add.at(sums, (pairs[which, one], pairs[which, other]), values[which])
        np.add.at(counts, (pairs[which, one], pairs[which, other]), 1.0)
    table = np.divide(sums, counts, out=np.full((n, n), np.nan), where=counts > 0)
    unsaid = np.isnan(np.diag(table))
    table[unsaid, unsaid] = diagonal
    return table


def similarity_to_distance(
    similarity,
    how: str | Callable[[np.ndarray], np.ndarray] = "neg_log",
    *,
    low: float = 0.0,
    high: float = 1.0,
) -> np.ndarray:
    """Distances from similarities, by a decreasing map; ratings of several people are averaged.

    "neg_log" is -log s for s in (0, 1] (000b 8.2.4); "linear" is (high - s) / (high - low), for
    ratings between `low` and `high`, a five-point scale for instance (000a 6.2.3). The result
    feeds k-medoids and multidimensional scaling.

    Parameters
    ----------
    similarity : array-like of shape (n, n) or (n_people, n, n)
        Missing entries (NaN) are left out of the average, and stay missing where all are.
    how : {"neg_log", "linear"} or callable, default="neg_log"
        A callable must be decreasing and zero or more.
    low, high : float, default=0.0 and 1.0
        Ends of the scale of "linear".

    Returns
    -------
    distances : ndarray of shape (n, n)

    Examples
    --------
    >>> similarity_to_distance([[5, 3], [3, 5]], "linear", low=1, high=5)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    similarity = np.asarray(similarity, dtype=np.float64)
    if similarity.ndim == 3:
        known = ~np.isnan(similarity)
        counts = known.sum(axis=0)
        sums = np.where(known, similarity, 0.0).sum(axis=0)
        similarity = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    if callable(how):
        found = np.asarray(how(similarity), dtype=np.float64)
        if found.shape != similarity.shape or (found < 0).any():
            raise DataError("the map must keep the shape and give numbers that are zero or more")
        return found
    if how == "neg_log":
        _require_between(similarity, (similarity <= 0) | (similarity > 1), "beyond 0 to 1; rescale")
        return -np.log(similarity) + 0.0
    if how == "linear":
        if not high > low:
            raise DataError(f"the scale must rise: low={low}, high={high}")
        outside = (similarity < low) | (similarity > high)
        _require_between(similarity, outside, f"not between low={low} and high={high}")
        return (high - similarity) / (high - low)
    raise DataError(f"how is 'neg_log', 'linear' or a function, not {how!r}")


def _require_between(similarity: np.ndarray, wrong: np.ndarray, what: str) -> None:
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise DataError(f"the similarity at {place} is {similarity[place]:g}, {what}")


@dataclass(frozen=True)
class ClassDistances(Result):
    """Mean distance between rows of every two classes.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    mean : ndarray of shape (n_classes, n_classes)
        Between different rows; the diagonal is within a class, NaN for a class of one row.
    error : ndarray of shape (n_classes, n_classes)
        Standard errors, rows being a sample: from the spread of rows' mean distances, or of the
        pairs that were drawn.
    pairs : ndarray of int of shape (n_classes, n_classes)
        How many pairs each mean is of.
    sampled : bool
        Whether pairs were drawn, there being too many.
    """

    classes: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    pairs: np.ndarray
    sampled: bool

    @property
    def separates(self) -> bool:
        """Whether every class is nearer to itself than to any other."""
        within = np.diag(self.mean)[:, None]
        others = ~np.eye(len(self.classes), dtype=bool)
        return bool(((self.mean > within) | np.isnan(within) | ~others).all())

    def _title(self) -> str:
        return "Mean distance between classes" + (" (pairs drawn)" if self.sampled else "")

    def _columns(self) -> dict[str, list]:
        columns: dict[str, list] = {"class": self.classes.tolist()}
        for j, name in enumerate(self.classes.tolist()):
            columns[str(name)] = [
                f"{mean:.4g} ± {error:.2g}"
                for mean, error in zip(self.mean[:, j], self.error[:, j])
            ]
        return columns


def class_distance_table(
    X, y, metric: Any = "euclidean", *, max_pairs: int = 10**6, random_state: int | None = None
) -> ClassDistances:
    """The mean distance of rows of every two classes, within and between.

    A representation is good where the diagonal is the smallest of its row: then nearest
    neighbours will do. Texts: 000b 8.3.2, Table 8.1.

    Parameters
    ----------
    X : array-like of shape (n, n_columns)
    y : array-like of shape (n,)
    metric : str, Distance or callable, default="euclidean"
    max_pairs : int, default=1000000
        Where two classes have more pairs, so many are drawn with replacement, and the result says
        so.
    random_state : int or None, default=None

    Returns
    -------
    table : ClassDistances

    Examples
    --------
    >>> table = class_distance_table([[0], [1], [10], [12]], ["a", "a", "b", "b"])
    >>> table.mean, table.separates
    (array([[ 1. , 10.5],
           [10.5,  2. ]]), True)
    """
    X = np.asarray(X, dtype=np.float64)
    labels = label_column(y, "y")
    if len(labels) != len(X):
        raise DataError(f"X has {len(X)} rows and y {len(labels)}")
    distance = _fitted(metric, X)
    classes, codes = np.unique(labels, return_inverse=True)
    members = [X[codes == c] for c in range(len(classes))]
    rng = np.random.default_rng(random_state)
    n = len(classes)
    mean, error = np.full((n, n), np.nan), np.full((n, n), np.nan)
    pairs, sampled = np.zeros((n, n), dtype=np.int64), False
    for a in range(n):
        for b in range(a, n):
            available = len(members[a]) * (len(members[b]) - (a == b)) // (1 + (a == b))
            drawn = available > max_pairs
            sampled |= drawn
            way = _drawn_mean if drawn else _whole_mean
            found = way(distance, members[a], members[b], a == b, max_pairs, rng)
            mean[a, b], error[a, b] = found
            mean[b, a], error[b, a] = found
            pairs[a, b] = pairs[b, a] = min(available, max_pairs)
    return ClassDistances(classes, mean, error, pairs, sampled)


def _whole_mean(distance, one, other, same: bool, max_pairs: int, rng) -> tuple[float, float]:
    """Mean over all pairs, and its standard error from the rows' own means."""
    n, m = len(one), len(other)
    if n * (m - same) == 0:
        return np.nan, np.nan
    of_rows, of_columns = np.empty(n), np.zeros(m)
    size = max(CELLS_TOGETHER // m, 1)
    for start in range(0, n, size):
        block = distance.pairwise(one[start : start + size], other)
        if same:
            block[np.arange(len(block)), np.arange(start, start + len(block))] = 0.0
        of_rows[start : start + size] = block.sum(axis=1) / (m - same)
        of_columns += block.sum(axis=0) / n
    mean = float(of_rows.mean())
    if same:
        return mean, float(2 * of_rows.std(ddof=1) / np.sqrt(n)) if n > 2 else np.nan
    variances = [v.var(ddof=1) / len(v) if len(v) > 1 else np.nan for v in (of_rows, of_columns)]
    return mean, float(np.sqrt(sum(variances)))


def _drawn_mean(distance, one, other, same: bool, max_pairs: int, rng) -> tuple[float, float]:
    """Mean over pairs drawn with replacement, and its standard error."""
    i = rng.integers(len(one), size=max_pairs)
    j = rng.integers(len(other) - same, size=max_pairs)
    j += same & (j >= i)
    found = np.concatenate(
        [
            rowwise_distances(
                distance, one[i[start : start + 65536]], other[j[start : start + 65536]]
            )
            for start in range(0, max_pairs, 65536)
        ]
    )
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(max_pairs))


def _fitted(metric: Any, X) -> Distance:
    return distance_of(metric).fit(X)
