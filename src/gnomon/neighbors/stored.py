"""What the learners of nearest rows share: stored rows, the search, weights of neighbours.

Texts: 000a 1.2 · 003 2.2 · 004 2.1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import DistanceMetric
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Data, Learner, Takes
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import JOBS, Interval, StrOptions, Words, above, at_least, whole
from gnomon.engine.stored import (
    Anything,
    Array,
    DictOf,
    Number,
    Object,
    Optional,
    Text,
    Whole,
)
from gnomon.engine.sums import as_float_rows
from gnomon.neighbors.distances import (
    NAMES,
    SYNONYMS,
    Distance,
    MinkowskiDistance,
    PrecomputedDistance,
    distance_of,
    sparse_distance_of,
)
from gnomon.neighbors.graph import GraphIndex
from gnomon.neighbors.index import ALGORITHMS, NeighborIndex, Neighbors
from gnomon.table.scan import Scan
from gnomon.table.table import Table

QUERIES_AT_ONCE = 512  # 128 took 1.28 of the time, 2,048 0.94 (5,000 x 3); more share less evenly
TIED = 1e-12  # what rounding may put between equal distances
MOST_TIES = 2**20  # rows tied with their queries' k-th neighbours that are held at once
# Where rows are tied at the k-th place, so many times as many are asked for again, up to so many;
# of a query with more ties all rows are looked at. Measured on rows of whole numbers.
MORE = 4
MOST_ASKED = 1024
METRIC: list = [Words(NAMES, SYNONYMS), Distance, DistanceMetric, callable]
SEARCH: dict[str, list] = {
    "metric": METRIC,
    "algorithm": [StrOptions(set(ALGORITHMS))],
    "n_jobs": JOBS,
}
SKLEARN_SEARCH: dict[str, list] = SEARCH | {
    "p": [Interval(Real, 0, None, closed="right"), None],
    "metric_params": [dict, None],
}
RADIUS: dict[str, list] = {
    "radius": [at_least(0)],
    "weights": [StrOptions({"uniform", "distance"}), callable, None],
}
WEIGHING: dict[str, list] = {
    "n_neighbors": [whole(1)],
    "weights": [StrOptions({"uniform", "distance", "gaussian"}), callable, None],
    "power": [above(-np.inf)],
    "offset": [above(-1e-300)],
    "bandwidth": [StrOptions({"auto"}), above(0)],
}
# Texts of parameters that classes of several files share, for their docstrings.
NEIGHBOR_PARAMETERS = """\
algorithm : {"auto", "brute", "kd_tree", "ball_tree"}
    How the nearest rows are found; all give the same: see `gnomon.neighbors.index`.
p : float or None
    Power of "minkowski".
metric : str, Distance or callable
    How rows are compared: see `gnomon.neighbors.distance_of`. In a `Table`, and in a data frame
    that holds more than numbers, the columns of "minkowski" are divided by their deviation
    ("standardized"); "euclidean" compares all tables as they are.
metric_params : dict or None
    Further arguments of the metric.
n_jobs : int or None
    Threads; None for one per processor. Does not change the result.
offset : float
    The d0 of "distance": larger lets far rows count more.
bandwidth : float or "auto"
    The sigma of "gaussian"; "auto" is the mean distance of training rows to their k-th
    neighbour.
"""


class Neighborhood(NamedTuple):
    """Queries and the training rows near to them.

    Attributes
    ----------
    places : ndarray of int of shape (n,)
        Which queries of the block these are.
    distances : ndarray of shape (n, m)
    indices : ndarray of int of shape (n, m)
    counted : ndarray of shape (n, m)
        How many training rows each neighbour counts as; zero for those beyond the k-th.
    """

    places: np.ndarray
    distances: np.ndarray
    indices: np.ndarray
    counted: np.ndarray


def reached(distances: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """The distance within which k training rows lie, by weight; the farthest where there are fewer.

    Parameters
    ----------
    distances : ndarray of shape (n, m)
        In rising order.
    weights : ndarray of shape (n, m)
    k : int

    Returns
    -------
    reach : ndarray of shape (n, 1)
    """
    enough = np.cumsum(weights, axis=1) >= k * (1 - 1e-12)
    enough[:, -1] = True
    return np.take_along_axis(distances, enough.argmax(axis=1)[:, None], axis=1)


def is_within(distances: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Which distances are at most the reach, up to rounding."""
    return distances <= reach * (1 + TIED)


def shared(distances, weights, reach, k: int) -> np.ndarray:
    """What counts of each neighbour: all before the reach, and at it a share of what is left."""
    inside = np.where(distances < reach * (1 - TIED), weights, 0.0)
    tied = np.where(is_within(distances, reach), weights, 0.0) - inside
    mass = tied.sum(axis=1, keepdims=True)
    left = np.clip(k - inside.sum(axis=1, keepdims=True), 0.0, mass)
    return inside + tied * (left / np.maximum(mass, 1e-300))


class StoredRows(Learner):
    """A learner that keeps its rows and looks for the nearest ones in predict."""

    natively = Takes(missing=True, categories=True, sparse=True)
    _keeps_rows = True
    _stored = {
        "distance_": Object(),
        "effective_metric_": Text(),
        "effective_metric_params_": DictOf(Anything()),
        "index_": Optional(Object(("NeighborIndex",))),
        "n_samples_fit_": Whole(1),
        "weights_": Array("f8", ("n_samples_fit_",), low=0.0) | None,
    }

    def _learn(self, X, y, sample_weight):
        if isinstance(X, StoredRows):
            X = X.index_.stored
        elif hasattr(X, "_fit_X"):  # a search of scikit-learn's
            X = X._fit_X
        elif type(X).__name__ in ("KDTree", "BallTree") and hasattr(X, "data"):
            X = np.asarray(X.data)
        self._scaled = isinstance(X, (Table, Scan))
        try:
            return super()._learn(X, y, sample_weight)
        finally:
            del self._scaled

    def _store(self, data: Data) -> None:
        """Keep the rows, by the metric that was asked for."""
        rows = as_float_rows(data.rows)
        self._set_effective_metric()
        try:
            distance = self._distance_for(data)
            self.index_ = self._indexed(distance, rows, data)
        except DataError as error:
            raise DataError(
                f"metric={self.metric!r} with algorithm={self.algorithm!r}: {error}"
            ) from error
        self.n_samples_fit_ = rows.shape[0]
        self.weights_ = data.weights

    def _power(self) -> float | None:
        """The p of "minkowski"."""
        return getattr(self, "p", 2)

    def _metric_params(self) -> dict[str, Any] | None:
        return getattr(self, "metric_params", None)

    def _set_effective_metric(self) -> None:
        """scikit-learn's attributes for the metric that is used."""
        params, p = dict(self._metric_params() or {}), self._power()
        if "p" in params and p is not None:
            warnings.warn(
                "Parameter p is found in metric_params. The corresponding parameter from __init__ "
                "is ignored.",
                SyntaxWarning,
                stacklevel=7,
            )
        self.effective_metric_ = self.metric
        if self.metric == "minkowski":
            p, w = params.pop("p", p), params.pop("w", None)
            plain = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
            if p in plain and w is None:
                self.effective_metric_ = plain[p]
            else:
                params |= {"p": p, "w": w}
        self.effective_metric_params_ = params

    def _distance_for(self, data: Data) -> Distance:
        """The distance of `metric`; of a table "minkowski" is taken of standardised columns."""
        p = self._power()
        given = (self.metric, 2 if p is None else p, self._metric_params())
        if sp.issparse(data.rows):
            precomputed = isinstance(self.metric, PrecomputedDistance)
            if self.metric == "precomputed" or precomputed:
                return PrecomputedDistance()
            return sparse_distance_of(*given)
        distance = distance_of(*given)
        if self.metric == "minkowski" and (self._scaled or self._has_words(data)):
            return MinkowskiDistance(distance.p, "deviation", distance.w)
        return distance

    def _has_words(self, data: Data) -> bool:
        """Whether some column of a table is no column of numbers."""
        encoder = getattr(self, "encoder_", None)
        return encoder is not None and not encoder.only_numbers

    def _indexed(self, distance: Distance, rows, data: Data) -> NeighborIndex | GraphIndex:
        if sp.issparse(rows):
            if isinstance(distance, PrecomputedDistance):
                self.distance_ = distance
                return GraphIndex.of(rows)
            if self.algorithm not in ("auto", "brute"):
                warnings.warn(
                    "cannot use tree with sparse input: using brute force",
                    UserWarning,
                    stacklevel=7,
                )
        self.distance_ = distance.fit(rows, data.columns.levels, data.weights)
        algorithm = "brute" if sp.issparse(rows) else self.algorithm
        if self.metric == "minkowski" and 0 < distance.exponent < 1:
            if algorithm in ("kd_tree", "ball_tree"):
                raise ValueError(
                    f'algorithm="{algorithm}" does not support 0 < p < 1 for the Minkowski metric. '
                    'To resolve this problem either set p >= 1 or algorithm="brute".'
                )
            algorithm = "brute"
            warnings.warn(
                "Mind that for 0 < p < 1, Minkowski metrics are not distance metrics. Continuing "
                "the execution with `algorithm='brute'`.",
                UserWarning,
                stacklevel=7,
            )
        return NeighborIndex(self.distance_, rows, algorithm).ready(self.n_jobs)

    def _each_query(self, function: Callable[[Any], np.ndarray], X) -> np.ndarray:
        """`function` of every block of rows; of None, for the training rows, where X is None."""
        if X is not None:
            return self._each_block(function, X)
        check_is_fitted(self)
        return function(None)

    def _require_neighbors(self, k: int, what: str = "n_neighbors") -> None:
        """Refuse more neighbours than there are rows."""
        total = self.index_.n_rows if self.weights_ is None else float(self.weights_.sum())
        if k > total * (1 + 1e-9):
            raise DataError(
                f"{what}={k} neighbours cannot be found among n_samples = {total:g} training rows "
                f"(counted by weight); choose at most {int(total)}"
            )

    def _neighborhoods(self, rows: np.ndarray, k: int) -> Iterator[Neighborhood]:
        """For groups of queries, neighbours that make up k training rows, and what of each counts.

        A row of weight two counts as two neighbours. Rows that are tied at the distance where k is
        reached share what is left of k, so that the order of rows does not matter.
        """
        if rows is None:
            yield self._of_training_rows(k)
            return
        found = self._enough(rows, k)
        distances, indices = found
        weights = np.ones(distances.shape) if self.weights_ is None else self.weights_[indices]
        reach = reached(distances, weights, k)
        counted = shared(distances, weights, reach, k)
        cut_off = is_within(distances[:, -1:], reach).ravel()
        cut_off &= distances.shape[1] < self.index_.n_rows
        whole = np.flatnonzero(~cut_off)
        if len(whole) == len(distances):
            yield Neighborhood(whole, distances, indices, counted)
            return
        yield Neighborhood(whole, distances[whole], indices[whole], counted[whole])
        tied, asked = np.flatnonzero(cut_off), distances.shape[1]
        most = min(self.index_.n_rows // 4, MOST_ASKED)
        if isinstance(self.index_, GraphIndex):
            most = 0  # a graph knows no more neighbors than it was given
        while len(tied) and MORE * asked <= most:
            asked *= MORE
            distances, indices = self.index_.nearest(rows[tied], asked)
            open_ended = is_within(distances[:, -1:], reach[tied]).ravel()
            whole = ~open_ended
            distances, indices = distances[whole], indices[whole]
            weights = np.ones(distances.shape) if self.weights_ is None else self.weights_[indices]
            counted = shared(distances, weights, reach[tied[whole]], k)
            yield Neighborhood(tied[whole], distances, indices, counted)
            tied = tied[open_ended]
        size = max(MOST_TIES // self.index_.n_rows, 1)
        for start in range(0, len(tied), size):
            yield from self._with_all_ties(rows, tied[start : start + size], reach, k)

    def _of_training_rows(self, k: int) -> Neighborhood:
        """The other training rows nearest to each training row, and what of each counts."""
        n = self.index_.n_rows
        asked = min(k + 1, n - 1)
        while True:
            distances, indices = self.index_.others(asked, self.n_jobs)
            weights = np.ones(distances.shape) if self.weights_ is None else self.weights_[indices]
            reach = reached(distances, weights, k)
            if asked == n - 1 or not is_within(distances[:, -1:], reach).any():
                return Neighborhood(
                    np.arange(n), distances, indices, shared(distances, weights, reach, k)
                )
            asked = min(2 * asked, n - 1)

    def _enough(self, rows: np.ndarray, k: int) -> Neighbors:
        """So many neighbours that k and one more training rows are among them."""
        n = self.index_.n_rows
        asked = min(k + 1, n)
        while True:
            found = self.index_.nearest(rows, asked)
            if self.weights_ is None or asked == n:
                return found
            if (self.weights_[found.indices].sum(axis=1) >= k * (1 - 1e-12)).all():
                return found
            asked = min(2 * asked, n)

    def _with_all_ties(self, rows, places, reach, k: int) -> Iterator[Neighborhood]:
        """Neighbourhoods of queries one by one, as all tied rows must be looked for."""
        near: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in places]
        for start, block in self.index_.blocks(rows[places]):
            for each, line, limit in zip(near, block, reach[places]):
                which = np.flatnonzero(is_within(line, limit))
                each.append((line[which], which + start))
        for place, parts in zip(places, near):
            distances = np.concatenate([d for d, _ in parts])[None]
            indices = np.concatenate([i for _, i in parts])[None]
            weights = np.ones(distances.shape) if self.weights_ is None else self.weights_[indices]
            counted = shared(distances, weights, reach[place : place + 1], k)
            yield Neighborhood(np.array([place]), distances, indices, counted)

    def _rows_at_once(self, rows) -> int:
        return QUERIES_AT_ONCE

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        copies = 3 if self._has_units() else 1
        return 8 * n_rows * (copies * n_columns + 6)

    def _has_units(self) -> bool:
        """Whether rows are stored in the units of their distance too."""
        return self.metric not in ("minkowski", "euclidean", "precomputed")

    def _memory_remedy(self) -> str:
        return "Use fewer rows (all of them are kept), or prototypes of them."

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed" or isinstance(
            self.metric, PrecomputedDistance
        )
        return tags

    def _check_loaded(self) -> None:
        if not hasattr(self, "index_"):
            if hasattr(self, "distance_"):
                raise ValueError("there is no index of rows")
            return
        if not isinstance(self.index_, (NeighborIndex, GraphIndex)):
            raise ValueError("there is no index of rows")
        if isinstance(self.index_, NeighborIndex):
            self.distance_ = self.index_.distance  # one object, which a file holds twice
        if isinstance(self.index_, NeighborIndex) and self.index_.has_coordinates:
            encoder = getattr(self, "encoder_", None)
            self.index_.check_width(
                self.n_features_in_ if encoder is None else len(encoder.columns)
            )
        if self.weights_ is not None and self.weights_.shape != (self.index_.n_rows,):
            raise ValueError("the weights are not as many as the rows")


class WeighedNeighbors(StoredRows):
    """Neighbours with weights by distance: the part that classes and numbers share."""

    _stored = {
        "bandwidth_": Number() | None,
    }

    def _learn_bandwidth(self, rows: np.ndarray) -> None:
        """Settle the width of the Gaussian, where it is asked for."""
        self.bandwidth_ = None
        if self.weights != "gaussian":
            return
        if self.bandwidth != "auto":
            self.bandwidth_ = float(self.bandwidth)
            return
        n = self.index_.n_rows
        counts = np.ones(n) if self.weights_ is None else self.weights_
        k = int(min(self.n_neighbors + 1, np.floor(counts.sum() * (1 + 1e-9))))

        def reach(block: np.ndarray) -> np.ndarray:
            distances, indices = self._enough(block, max(k, 1))
            return reached(distances, counts[indices], max(k, 1)).ravel()

        self.bandwidth_ = float(np.average(self._on_threads(reach, rows), weights=counts))

    def _weighed(self, rows: np.ndarray, k: int) -> Iterator[Neighborhood]:
        """Neighbourhoods in which rows count by nearness too; shares that sum to one."""
        for each in self._neighborhoods(rows, k):
            shares = each.counted * self._by_distance(each)
            shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
            yield each._replace(counted=shares)

    def _by_distance(self, near: Neighborhood) -> np.ndarray | float:
        if self.weights in ("uniform", None):
            return 1.0
        if callable(self.weights):
            return _checked_weights(self.weights, near.distances)
        return inverse_powers(near.distances, self.power, self.offset)

    def _kernel_means(self, rows: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Means of targets over all training rows, weighed by a Gaussian of the distance."""
        assert self.bandwidth_ is not None
        nearest = self.index_.nearest(rows, 1).distances ** 2
        total = np.zeros((len(rows), targets.shape[1]))
        mass = np.zeros((len(rows), 1))
        for start, block in self.index_.blocks(rows):
            part = slice(start, start + block.shape[1])
            weights = gaussian_weights(block, nearest, self.bandwidth_)
            if self.weights_ is not None:
                weights *= self.weights_[part]
            total += np.dot(weights, targets[part])
            mass += weights.sum(axis=1, keepdims=True)
        return total / mass


def gaussian_weights(distances: np.ndarray, nearest: np.ndarray, width: float) -> np.ndarray:
    """exp(-d^2 / (2 width^2)) relative to that of the nearest row, which is one.

    Parameters
    ----------
    distances : ndarray of shape (n, m)
    nearest : ndarray of shape (n, 1)
        Squared distance of the nearest.
    width : float
        Zero for the limit: the nearest rows alone.
    """
    beyond = np.maximum(distances**2 - nearest, 0.0)
    if width == 0:
        return (beyond == 0).astype(np.float64)
    with np.errstate(over="ignore"):
        return np.exp(-(beyond / width / width) / 2)


def inverse_powers(distances: np.ndarray, power: float, offset: float) -> np.ndarray:
    """1 / (d + offset)^power relative to the nearest row's; rows of distance 0 alone where it is 0.

    Parameters
    ----------
    distances : ndarray of shape (n, k)
        In rising order.
    power : float
    offset : float
    """
    away = distances + offset
    least = away.min(axis=1, keepdims=True)
    exact = (least == 0) & (power > 0)
    safe = np.where(away == 0, 1.0, away)
    with np.errstate(over="ignore", under="ignore"):
        ratio = (np.where(least == 0, 1.0, least) / safe) ** power
    if power < 0:
        ratio = np.where((away == 0) & (away.max(axis=1, keepdims=True) > 0), 0.0, ratio)
        top = ratio.max(axis=1, keepdims=True)
        ratio = np.where(np.isfinite(top), ratio, np.isinf(ratio))
    return np.where(exact, (away == 0).astype(np.float64), ratio)


def _checked_weights(function: Callable[[np.ndarray], Any], distances: np.ndarray) -> np.ndarray:
    weights = np.asarray(function(distances), dtype=np.float64)
    if weights.shape != distances.shape:
        raise DataError(
            f"the function of weights must keep the shape of distances, {distances.shape}; it "
            f"gave {weights.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise DataError("the function of weights gave numbers that are negative or not finite")
    if (weights.sum(axis=1) == 0).any():
        raise DataError(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to "
            "avoid this case if you are using a user-defined function."
        )
    return weights
