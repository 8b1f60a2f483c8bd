"""Where k-means starts: the texts' ways of choosing the first centres.

All draws are made along the canonical order of the rows (`gnomon.engine.draw`): they do not depend
on the order of the table, and a row of weight three is drawn like three copies of it. All work
goes chunk by chunk, so that a table larger than memory can be started from, with some twenty bytes
per row in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gnomon.cluster.nearest import squared_distance
from gnomon.cluster.sparse_rows import SparseSource, dense_rows
from gnomon.contract.data import Data
from gnomon.engine.draw import WeightedDraw, canonical_key
from gnomon.engine.kernel import kernel
from gnomon.engine.products import inner
from gnomon.engine.sums import ArraySource, Chunk, Source, add_up, as_float_rows
from gnomon.engine.threads import in_order

MOST_PIECES = 2**20  # judgement: bounds the memory of a line of weights at 8 MB
PIECES_PER_CENTER = 64  # judgement: so that two centers seldom fall in one piece
TRIED_ROWS = 512  # rows of a block of products, which stay in the cache


class Means(NamedTuple):
    weight: float
    total: np.ndarray


class GroupSums(NamedTuple):
    weight: np.ndarray
    total: np.ndarray


class SurveyedData(Data):
    """Data with what every start needs to know of it, computed once."""

    n_jobs: int | None = None

    @classmethod
    def of(cls, data: Data, n_jobs: int | None) -> SurveyedData:
        surveyed = cls(data.source, data.columns, data.kept)
        surveyed.n_jobs = n_jobs
        return surveyed

    @cached_property
    def mean(self) -> np.ndarray:
        """Weighted mean of the rows."""
        sums = add_up(_mean_sums, self.source, self.n_jobs)
        return sums.total / sums.weight

    @property
    def variances(self) -> np.ndarray:
        """Weighted variance of each column."""
        return self._around_mean[0]

    @property
    def squares(self) -> np.ndarray:
        """Squared distance of every row to the mean."""
        return self._around_mean[1]

    @cached_property
    def _around_mean(self) -> tuple[np.ndarray, np.ndarray]:
        squares = np.empty(self.n_rows)

        def sums(chunk: Chunk) -> Means:
            if sp.issparse(chunk.rows):
                return sums_of_sparse(chunk)
            away = (chunk.rows - self.mean) ** 2
            away.sum(axis=1, out=squares[chunk.start : chunk.stop])
            return Means(chunk.weights.sum(), inner(away, chunk.weights))

        def sums_of_sparse(chunk: Chunk) -> Means:
            mean, weight = self.mean, chunk.weights.sum()
            entries = chunk.rows.multiply(chunk.rows).tocsr()
            lengths = np.asarray(entries.sum(axis=1)).ravel()
            away = lengths - 2.0 * (chunk.rows @ mean) + mean @ mean
            squares[chunk.start : chunk.stop] = np.maximum(away, 0.0)
            total = inner(entries, chunk.weights) - weight * mean**2
            cross = inner(chunk.rows, chunk.weights) - weight * mean
            return Means(weight, np.maximum(total - 2.0 * mean * cross, 0.0))

        weight, total = 0.0, np.zeros(self.n_columns)
        for part in in_order(sums, self.source.chunks(), self.n_jobs, short=True):
            weight += part.weight
            total += part.total
        return total / weight, squares

    @property
    def dense(self) -> Source:
        """The chunks with dense rows, for kernels that take no others."""
        source = self.source
        in_memory = isinstance(source, ArraySource)
        return SparseSource(source) if in_memory and sp.issparse(source.rows) else source

    @cached_property
    def order(self) -> np.ndarray:
        """The canonical order of the rows."""
        return np.argsort(self.key)  # rows of one key are equal, or nearly: any order will do

    @cached_property
    def key(self) -> np.ndarray:
        """A mix of the columns by which rows are ordered."""
        key = np.empty(self.n_rows)

        def mix(chunk: Chunk) -> None:
            key[chunk.start : chunk.stop] = canonical_key(as_float_rows(chunk.rows))

        for _ in in_order(mix, self.dense.chunks(), self.n_jobs, short=True):
            pass
        return key

    @cached_property
    def row_weights(self) -> np.ndarray:
        weights = np.empty(self.n_rows)
        for chunk in self.source.chunks():
            weights[chunk.start : chunk.stop] = chunk.weights
        return weights


def _mean_sums(chunk: Chunk) -> Means:
    return Means(chunk.weights.sum(), inner(as_float_rows(chunk.rows), chunk.weights))


def rows_at(source: Source, positions: np.ndarray) -> np.ndarray:
    """The rows at some positions, as floats."""
    positions = np.asarray(positions)
    if isinstance(source, ArraySource):
        return dense_rows(source.rows[positions])
    found = np.empty((len(positions), source.n_columns))
    for chunk in source.chunks():
        here = (chunk.start <= positions) & (positions < chunk.stop)
        found[here] = chunk.rows[positions[here] - chunk.start]
    return found


class Spread:
    """Centres chosen so far, and the squared distance of every row to the nearest of them.

    Parameters
    ----------
    data : SurveyedData
    n_centers : int
        How many will be chosen.
    rng : numpy.random.Generator
    """

    def __init__(self, data: SurveyedData, n_centers: int, rng: np.random.Generator):
        self.data = data
        self.rng = rng
        self.draw = WeightedDraw(data.order)
        self.centers = np.empty((0, data.n_columns))
        self.n_centers = n_centers
        self.closest = np.full(data.n_rows, np.inf)
        self.owner = np.zeros(data.n_rows, np.int32)
        self.add(self.drawn(data.row_weights, 1)[0])

    def drawn(self, pull: np.ndarray, size: int) -> np.ndarray:
        """Rows drawn in proportion to `pull`; by weight when every row is at a centre already."""
        if not pull.any():
            pull = self.data.row_weights
        return rows_at(self.data.source, self.draw(pull, self.rng, size))

    def add(self, center: np.ndarray) -> None:
        """Take one more centre."""
        gaps = self._quarter_gaps(center[None])[0]
        number = len(self.centers)
        self.centers = np.vstack([self.centers, center])
        if number + 1 == self.n_centers:
            return

        def shrink(chunk: Chunk) -> None:
            here = slice(chunk.start, chunk.stop)
            take_center(chunk.rows, center, number, gaps, self.closest[here], self.owner[here])

        for _ in in_order(shrink, self.data.dense.chunks(), self.data.n_jobs, short=True):
            pass

    def best_of(self, candidates: np.ndarray) -> np.ndarray:
        """The candidate that leaves the smallest sum of squared distances."""
        shift = self.data.mean
        shifted = candidates - shift
        factors = np.ascontiguousarray(-2.0 * shifted.T)
        constants = np.einsum("td,td->t", shifted, shifted) - shift @ factors

        def left(chunk: Chunk) -> np.ndarray:
            sums = np.zeros(len(candidates))
            here = slice(chunk.start, chunk.stop)
            try_centers(
                as_float_rows(chunk.rows),
                chunk.weights,
                factors,
                constants,
                self.data.squares[here],
                self.closest[here],
                sums,
            )
            return sums

        chunks = self.data.dense.chunks()
        total = sum(in_order(left, chunks, self.data.n_jobs, short=True))
        return candidates[np.argmin(total)]

    def _quarter_gaps(self, points: np.ndarray) -> np.ndarray:
        """A quarter of the squared distance of points to centres; (points, at least one)."""
        if not len(self.centers):
            return np.zeros((len(points), 1))
        differences = points[:, None, :] - self.centers[None]
        return 0.25 * np.einsum("tkd,tkd->tk", differences, differences) * (1.0 - 1e-9)


def plus_plus(data: SurveyedData, k: int, rng: np.random.Generator) -> np.ndarray:
    """k-means++: each next centre in proportion to the squared distance to the nearest one so far.

    Of 2 + log k rows drawn, the one that helps most is taken (Arthur and Vassilvitskii 2007,
    greedy form).
    """
    spread = Spread(data, k, rng)
    trials = 2 + int(np.log(k))
    while len(spread.centers) < k:
        candidates = spread.drawn(data.row_weights * spread.closest, trials)
        spread.add(spread.best_of(candidates))
    return spread.centers


def first_center_squares(data: SurveyedData, k: int, rng: np.random.Generator) -> np.ndarray:
    """The text's variant (000 8.2): the others IID by squared distance to the *first* centre."""
    spread = Spread(data, max(k, 2), rng)
    if k == 1:
        return spread.centers
    others = spread.drawn(data.row_weights * spread.closest, k - 1)
    return np.vstack([spread.centers, others])


def random_rows(data: SurveyedData, k: int, rng: np.random.Generator) -> np.ndarray:
    """k different rows, by weight."""
    spread = Spread(data, k, rng)
    while len(spread.centers) < k:
        spread.add(spread.drawn(data.row_weights * (spread.closest > 0), 1)[0])
    return spread.centers


def farthest_first(data: SurveyedData, k: int, rng: np.random.Generator) -> np.ndarray:
    """A row by weight, then always the row that is farthest from all centres so far."""
    spread = Spread(data, k, rng)
    while len(spread.centers) < k:
        reach = (spread.closest * (data.row_weights > 0))[data.order]
        spread.add(rows_at(data.source, data.order[[reach.argmax()]])[0])
    return spread.centers


def random_partition(data: SurveyedData, k: int, rng: np.random.Generator) -> np.ndarray:
    """Rows dealt at random to k groups of equal weight; the means of the groups.

    The line of cumulated weights is cut in pieces of about one row (a million at most), which are
    dealt out; so a row of weight three may go to three groups, as three copies of it may.
    """
    ends = np.empty(data.n_rows)
    ends[data.order] = np.cumsum(data.row_weights[data.order])
    weight = float(ends.max())
    pieces = most_pieces(weight * (1 - 1e-12), k)
    group = rng.permutation(np.arange(pieces, dtype=np.int32) % np.int32(k))

    def sums(chunk: Chunk) -> GroupSums:
        part = GroupSums(np.zeros(k), np.zeros((k, data.n_columns)))
        here = ends[chunk.start : chunk.stop]
        deal_out(chunk.rows, chunk.weights, here, weight / pieces, group, data.mean, *part)
        return part

    parts = in_order(sums, data.dense.chunks(), data.n_jobs)
    total = GroupSums(np.zeros(k), np.zeros((k, data.n_columns)))
    for part in parts:
        total = GroupSums(total.weight + part.weight, total.total + part.total)
    return data.mean + total.total / total.weight[:, None]


def most_pieces(weight: float, k: int) -> int:
    """Pieces that the line of cumulated weights is cut in: about one per row of weight one."""
    return int(min(max(np.ceil(weight), PIECES_PER_CENTER * k), max(MOST_PIECES, k)))


def uniform(data: SurveyedData, k: int, rng: np.random.Generator) -> np.ndarray:
    """Points drawn uniformly in the box that the rows fill (001 18.2)."""
    low, high = np.full(data.n_columns, np.inf), np.full(data.n_columns, -np.inf)
    for chunk in data.dense.chunks():
        rows = chunk.rows[chunk.weights > 0] if chunk.weighted else chunk.rows
        low = np.minimum(low, rows.min(axis=0, initial=np.inf))
        high = np.maximum(high, rows.max(axis=0, initial=-np.inf))
    return low + rng.random((k, data.n_columns)) * (high - low)


STARTS: dict[str, Callable[[SurveyedData, int, np.random.Generator], np.ndarray]] = {
    "k-means++": plus_plus,
    "first-centre-d2": first_center_squares,
    "random-rows": random_rows,
    "random-partition": random_partition,
    "farthest-first": farthest_first,
    "uniform": uniform,
}


@kernel("f8|f4[:,:]", "f8[:]", "f8[:]", "f8", "i4[:]", "f8[:]", "out f8[:]", "out f8[:,:]")
def deal_out(rows, weights, ends, length, group, mean, weight, total):
    """Add rows (less the mean) to the groups of the pieces that their stretch of the line covers.

    rows (n, d); a row's stretch ends at ends[i] and is weights[i] long; group (pieces,): the pieces
    of equal length; weight (k,), total (k, d).
    """
    for i in range(len(rows)):
        begin = ends[i] - weights[i]
        piece = min(int(begin / length), len(group) - 1)
        while begin < ends[i]:
            stop = ends[i]
            if piece < len(group) - 1:
                stop = min(stop, (piece + 1) * length)
            share = max(stop - begin, 0.0)
            weight[group[piece]] += share
            for j in range(rows.shape[1]):
                total[group[piece], j] += share * (rows[i, j] - mean[j])
            begin = max(begin, stop)
            piece += 1
            if piece == len(group):
                break


@kernel("f8|f4[:,:]", "f8[:]", "i8", "f8[:]", "out f8[:]", "out i4[:]")
def take_center(rows, center, number, quarter_gap, closest, owner):
    """Shrink each row's squared distance to its nearest centre by a new centre, and note the owner.

    A row stays with a centre that is at least twice as far from the new one as from the row: no
    distance is computed for it. rows (n, d), quarter_gap (number of centres before,).
    """
    for i in range(len(rows)):
        if number > 0 and quarter_gap[owner[i]] >= closest[i]:
            continue
        distance = squared_distance(rows[i], center)
        if distance < closest[i]:
            closest[i] = distance
            owner[i] = number


@kernel("f8[:,:]", "f8[:]", "f8[:,:]", "f8[:]", "f8[:]", "f8[:]", "out f8[:]")
def try_centers(rows, weights, factors, constants, squares, closest, sums):
    """The weighted sum of squared distances that each candidate would leave.

    Distances come from products of matrices, which is enough to choose by. rows (n, d), factors
    (d, t), constants, sums (t,), squares (of rows around the mean) and closest (n,).
    """
    n, t = len(rows), len(constants)
    products = np.empty((TRIED_ROWS, t))
    for start in range(0, n, TRIED_ROWS):
        size = min(TRIED_ROWS, n - start)
        np.dot(rows[start : start + size], factors, products[:size])
        for i in range(size):
            for each in range(t):
                distance = products[i, each] + constants[each] + squares[start + i]
                least = min(max(distance, 0.0), closest[start + i])
                sums[each] += weights[start + i] * least
