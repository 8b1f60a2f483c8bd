"""Self-organising map: prototypes on a grid, neighbours on the grid alike in the data.

Each row's winner is the cell of the nearest prototype. Batch: every prototype becomes the mean of
all rows weighted by ``exp(-d^2 / (2 s^2))``, d the distance on the grid from the rows' winners.
On-line: after each row the prototypes move towards it by a rate times that weight. The radius s
shrinks on the way.

Texts: 003 2.9 · 004 14.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from gnomon.cluster.centers import check_centers
from gnomon.cluster.nearest import Centers, Nearest, find_nearest, squared_distance
from gnomon.cluster.starts import SurveyedData, random_rows
from gnomon.cluster.sums import ClusterSums, cluster_sums
from gnomon.contract import Data, Step, SumLearner, Transformer
from gnomon.engine.distinct import distinct_rows
from gnomon.engine.draw import WeightedDraw
from gnomon.engine.errors import DataError
from gnomon.engine.kernel import kernel
from gnomon.engine.parameters import (
    FLAG,
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    above,
    at_least,
    whole,
)
from gnomon.engine.products import inner
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Optional, Whole
from gnomon.engine.sums import Chunk, add_up
from gnomon.engine.threads import in_order

NOVEL = "novel"
NEIGHBORLY = 1.0 + 1e-9  # cells side by side are 1 apart, but for rounding on a hexagonal grid


@method(
    task="reduce",
    texts="003 2.9 · 004 14",
    use="A map of rows to look at: groups, gradients and unusual cases on a grid of prototypes.",
    avoid="Where a plain number of groups is asked for (KMeans), or distances must be kept.",
    peers=("minisom.MiniSom", "somoclu.Somoclu"),
)
class SelfOrganizingMap(ClassNamePrefixFeaturesOutMixin, Transformer, SumLearner):
    """Prototypes on a grid of cells, such that neighbouring cells hold similar rows.

    Batch pass: ``p_i = sum_j a(c_j, i) x_j / sum_j a(c_j, i)`` with c_j the winning cell of row j
    and ``a(c, i) = exp(-d_ci^2 / (2 s^2))`` on the grid. On-line step:
    ``p_i += A / (B + t) a(c, i) (x - p_i)``. The radius s falls in equal steps from `sigma_start`
    to `sigma_end`. Use it to look at many rows: component planes, distances between cells, cells
    named by a person, new cases placed among them. Scale the columns first. Not where a number of
    groups is all that is wanted, nor to keep distances: only neighbourhood is kept.

    ``transform`` gives the place of the winning cell on the grid, ``predict`` its number.

    Parameters
    ----------
    height : int, default=6
        Lines of the grid.
    width : int, default=6
        Cells in a line.
    grid : {"hexagonal", "square"}, default="hexagonal"
        Six or four neighbours.
    toroid : bool, default=False
        Whether opposite edges of the grid are neighbours.
    algorithm : {"batch", "online"}, default="batch"
        Batch passes stream over rows; on-line draws rows at random.
    init : {"plane", "random-rows"}, default="plane"
        First prototypes: spread over the plane of the two largest principal components, or rows
        drawn at random (004).
    max_iter : int, default=20
        Passes; on-line: as many draws as there are different rows, in each.
    sigma_start : float or "auto", default="auto"
        First radius, in cells; "auto": the root of the number of cells (004).
    sigma_end : float, default=2.0
        Last radius (004: 2; smaller fits the rows more closely).
    rate : float, default=1.0
        A of the on-line step.
    rate_delay : float, default=20.0
        B of the on-line step.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.
    n_jobs : int or None, default=None
        Threads of batch passes; the result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the prototypes of every pass in ``history_.states``.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_cells, n_columns)
        Cell 0 is the first of the first line of the grid; lines follow one another.
    grid_ : ndarray of shape (n_cells, 2)
        Place of each cell; neighbours are at distance one.
    cell_weights_ : ndarray of shape (n_cells,)
        Weight of the rows of ``fit`` in each cell.
    cell_reach_ : ndarray of shape (n_cells,)
        Largest distance of a row of ``fit`` to the prototype of its cell.
    n_iter_ : int
        Passes made.
    history_ : History
        Mean distance to the winner (the quantisation error) at each pass.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    Texts: 004 14.1 (eqs 14.1-14.5; its defaults for rate and radius), 14.2 (errors, planes, names).
    Prototypes of a batch pass are convex combinations of rows. The winners of a block of rows are
    one product of matrices; the neighbourhood is another, of the sums per cell.

    Examples
    --------
    >>> from gnomon.cluster import SelfOrganizingMap
    >>> from gnomon.table import example
    >>> iris = example("iris").drop("species")
    >>> model = SelfOrganizingMap(5, 4).fit(iris)
    >>> model.prototypes_.shape, model.topological_error(iris) < 0.3
    ((20, 4), True)
    """

    _parameter_constraints = {
        "height": [whole(1)],
        "width": [whole(1)],
        "grid": [StrOptions({"hexagonal", "square"})],
        "toroid": FLAG,
        "algorithm": [StrOptions({"batch", "online"})],
        "init": [StrOptions({"plane", "random-rows"})],
        "max_iter": [whole(1)],
        "sigma_start": [StrOptions({"auto"}), above(0)],
        "sigma_end": [above(0)],
        "rate": [above(0)],
        "rate_delay": [at_least(0)],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _largest = 1e140
    _stored = {
        "cell_reach_": Array("f8", ("n_cell_reach",)),
        "cell_weights_": Array("f8", ("n_cell_reach",), low=0.0),
        "grid_": Array("f8", ("n_cell_reach", 2)),
        "prototypes_": Array("f8", ("n_cell_reach", "n_columns")),
        "steps_": Optional(Whole()),
    }

    def __init__(
        self,
        height=6,
        width=6,
        *,
        grid="hexagonal",
        toroid=False,
        algorithm="batch",
        init="plane",
        max_iter=20,
        sigma_start="auto",
        sigma_end=2.0,
        rate=1.0,
        rate_delay=20.0,
        random_state=None,
        n_jobs=None,
        keep_history="objective",
    ):
        self.height = height
        self.width = width
        self.grid = grid
        self.toroid = toroid
        self.algorithm = algorithm
        self.init = init
        self.max_iter = max_iter
        self.sigma_start = sigma_start
        self.sigma_end = sigma_end
        self.rate = rate
        self.rate_delay = rate_delay
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _fit(self, data: Data) -> None:
        self.grid_ = grid_places(self.height, self.width, self.grid)
        surveyed = SurveyedData.of(data, self.n_jobs)
        if self.algorithm == "online":
            self._fit_online(surveyed)
        else:
            super()._fit(surveyed)

    def grid_distances(self) -> np.ndarray:
        """Distance on the grid of every two cells.

        Returns
        -------
        distances : ndarray of shape (n_cells, n_cells)
        """
        check_is_fitted(self, "grid_")
        return grid_distances(self.height, self.width, self.grid, self.toroid)

    def _radius(self, share: float) -> float:
        """The radius after a share of the course."""
        cells = self.height * self.width
        first = np.sqrt(cells) if self.sigma_start == "auto" else self.sigma_start
        return float((1 - share) * first + share * self.sigma_end)

    def _start(self, data: SurveyedData, rng: np.random.Generator) -> dict[str, Any]:
        return {
            "centers": Centers.at(self._first_prototypes(data, rng), data.mean),
            "squared_gaps": self.grid_distances() ** 2,
            "passes": 0,
        }

    def _first_prototypes(self, data: SurveyedData, rng: np.random.Generator) -> np.ndarray:
        cells = self.height * self.width
        if self.init == "random-rows":
            return random_rows(data, cells, rng)
        total = add_up(_Around(data.mean), data.source, self.n_jobs)
        values, vectors = np.linalg.eigh(total[1] / total[0])
        axes = vectors[:, ::-1][:, :2].T
        lengths = np.sqrt(np.maximum(values[::-1][:2], 0.0))
        axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
        spread = self.grid_ - self.grid_.mean(axis=0)
        spread /= np.maximum(np.abs(spread).max(axis=0), 1.0)
        if self.width < self.height:
            spread = spread[:, ::-1]
        return data.mean + 2 * (spread[:, : len(axes)] * lengths) @ axes

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> ClusterSums:
        found = find_nearest(chunk.rows, state["centers"], Nearest.of(len(chunk.rows)))
        sums = cluster_sums(chunk, state["centers"], found)
        return sums._replace(objective=float(chunk.weights @ np.sqrt(found.squared)))

    def _update(self, state: dict[str, Any], total: ClusterSums) -> Step:
        centers: Centers = state["centers"]
        share = state["passes"] / max(self.max_iter - 1, 1)
        action = np.exp(-state["squared_gaps"] / (2 * self._radius(share) ** 2))
        pull = action @ total.weight
        moved = centers.points.copy()
        reached = pull > 0
        moved[reached] = centers.shift + (action @ total.total)[reached] / pull[reached, None]
        following = state | {
            "centers": Centers.at(moved, centers.shift),
            "passes": state["passes"] + 1,
        }
        return Step(following, total.objective / total.weight.sum(), False)

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"prototypes_": state["centers"].points}

    def _replayable(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"prototypes": state["centers"].points.copy()}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        if self.history_.stopped == "max_iter":
            self.history_.stopped = "done"  # the schedule has so many passes; it does not converge
        weights, reach = np.zeros(len(self.grid_)), np.zeros(len(self.grid_))
        centers = self._prepared()

        def look(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
            found = find_nearest(chunk.rows, centers, Nearest.of(len(chunk.rows)))
            farthest = np.zeros(len(reach))
            np.maximum.at(farthest, found.labels, np.sqrt(found.squared))
            return np.bincount(found.labels, chunk.weights, minlength=len(weights)), farthest

        for part, farthest in in_order(look, data.source.chunks(), self.n_jobs, short=True):
            weights += part
            np.maximum(reach, farthest, out=reach)
        self.cell_weights_, self.cell_reach_ = weights, reach

    def _fit_online(self, data: SurveyedData) -> None:
        rng = self._rng()
        distinct = distinct_rows(data.rows, data.row_weights)
        n = len(distinct.rows)
        draw = WeightedDraw(np.arange(n))
        state = self._start(data, rng)
        prototypes = state["centers"].points.copy()
        steps = n * self.max_iter
        course = self._course("pass", self.max_iter)
        for number in course:
            drawn = draw(distinct.weights, rng, n)
            first, last = self._radius(0.0), self._radius(1.0)
            error = online_pass(
                distinct.rows,
                drawn,
                state["squared_gaps"],
                number * n,
                steps,
                first,
                last,
                float(self.rate),
                float(self.rate_delay),
                prototypes,
            )
            if course.end_step(
                error / n,
                state=lambda: {"prototypes": prototypes.copy()},
                attributes=lambda: self._public() | {"prototypes_": prototypes.copy()},
            ):
                break
        self.prototypes_, self.history_ = prototypes, course.history
        self.n_iter_ = len(course.history)
        self.steps_ = n * self.n_iter_
        self._end(state, data)

    def partial_fit(self, X, y=None) -> SelfOrganizingMap:
        """Go on learning on-line from more rows, one by one in their order, at the last radius.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            In the columns that ``fit`` has learnt from; the first call starts like ``fit``.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        if not hasattr(self, "prototypes_"):
            return self.fit(X)
        rows = self._each_block(lambda block: block, X)
        done = getattr(self, "steps_", 0)
        prototypes = self.prototypes_.copy()
        online_pass(
            rows,
            np.arange(len(rows)),
            self.grid_distances() ** 2,
            done,
            1,
            float(self.sigma_end),
            float(self.sigma_end),
            float(self.rate),
            float(self.rate_delay),
            prototypes,
        )
        self.prototypes_, self.steps_ = prototypes, done + len(rows)
        return self

    def _prepared(self) -> Centers:
        return Centers.at(self.prototypes_, self.prototypes_.mean(axis=0))

    def _winners(self, rows: np.ndarray) -> np.ndarray:
        return find_nearest(rows, self._prepared(), Nearest.of(len(rows))).labels

    def _map(self, rows: np.ndarray) -> np.ndarray:
        return self.grid_[self._winners(rows)]

    @property
    def _n_features_out(self) -> int:
        return self.grid_.shape[1]

    def predict(self, X) -> np.ndarray:
        """Number of the winning cell of each row.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        cells : ndarray of shape (n_samples,)
        """
        return self._each_block(self._winners, X)

    def distances(self, X) -> np.ndarray:
        """Distance of each row to its winner.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples,)
        """

        def of_block(rows: np.ndarray) -> np.ndarray:
            return np.sqrt(find_nearest(rows, self._prepared(), Nearest.of(len(rows))).squared)

        return self._each_block(of_block, X)

    def quantization_error(self, X) -> float:
        """Mean distance of rows to their winners (004 14.2).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        error : float
        """
        return float(self.distances(X).mean())

    def topological_error(self, X) -> float:
        """Share of rows whose two nearest prototypes are not neighbours on the grid (004 14.2).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)

        Returns
        -------
        error : float
        """
        gaps = self.grid_distances()

        def torn(rows: np.ndarray) -> np.ndarray:
            pairs = np.empty((len(rows), 2), np.int64)
            two_winners(rows, self.prototypes_, pairs)
            return gaps[pairs[:, 0], pairs[:, 1]] > NEIGHBORLY

        if len(self.grid_) < 2:
            raise DataError("a map of one cell has no neighbours")
        return float(self._each_block(torn, X).mean())

    def u_matrix(self) -> np.ndarray:
        """Mean distance of each prototype to those of neighbouring cells: high between groups.

        Returns
        -------
        distances : ndarray of shape (n_cells,)
        """
        gaps = self.grid_distances()
        beside = (gaps > 0) & (gaps <= NEIGHBORLY)
        apart = np.sqrt(((self.prototypes_[:, None] - self.prototypes_) ** 2).sum(axis=2))
        return (apart * beside).sum(axis=1) / np.maximum(beside.sum(axis=1), 1)

    def name_cells(self, X, labels) -> np.ndarray:
        """Name each cell by the commonest label of the rows that it wins; "" where it wins none.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        labels : array-like of shape (n_samples,)

        Returns
        -------
        names : ndarray of str of shape (n_cells,)
        """
        cells = self.predict(X)
        names, codes = np.unique(np.asarray(labels).astype(str), return_inverse=True)
        counts = np.zeros((len(self.grid_), len(names)), np.int64)
        np.add.at(counts, (cells, codes), 1)
        return np.where(counts.sum(axis=1) > 0, names[counts.argmax(axis=1)], "")

    def classify(self, X, names, unusual=()) -> np.ndarray:
        """Name of the winning cell of each row; "novel" for rows that are like no row of ``fit``.

        A row is novel when it lies farther from its winner than every row of ``fit`` in that cell,
        when no row of ``fit`` is in that cell, or when the cell is listed as unusual (004 14.2).

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        names : array-like of str of shape (n_cells,)
            From a person, or from `name_cells`.
        unusual : sequence of int, default=()
            Cells whose rows are novel whatever their distance.

        Returns
        -------
        names : ndarray of str of shape (n_samples,)
        """
        names = np.asarray(names, dtype=str)
        if names.shape != (len(self.grid_),):
            raise DataError(
                f"the map has {len(self.grid_)} cells; give a name for each, not {names.shape}"
            )
        cells, distances = self.predict(X), self.distances(X)
        reach = self.cell_reach_ * (1 + 1e-9)
        novel = (distances > reach[cells]) | (self.cell_weights_[cells] == 0)
        novel |= np.isin(cells, np.asarray(list(unusual), dtype=np.int64))
        return np.where(novel, NOVEL, names[cells])

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        cells = self.height * self.width
        rows = n_rows * (2 * n_columns + 10) if self.algorithm == "online" else 8 * n_rows
        return 8 * (rows + 6 * cells * (n_columns + cells) + n_columns * n_columns * 8) + 2**20

    def _memory_remedy(self) -> str:
        return "Use a smaller grid, or stream the rows with gnomon.table.scan."

    def _check_loaded(self) -> None:
        if not hasattr(self, "prototypes_"):
            return
        encoder = getattr(self, "encoder_", None)
        check_centers(
            self.prototypes_, self.n_features_in_ if encoder is None else len(encoder.columns)
        )
        if self.grid_.shape != (len(self.prototypes_), 2):
            raise ValueError("the grid does not fit the prototypes")


class _Around:
    """Weight and products of the columns of a chunk around the mean."""

    def __init__(self, mean: np.ndarray):
        self.mean = mean

    def __call__(self, chunk: Chunk) -> tuple[float, np.ndarray]:
        away = chunk.rows - self.mean
        return float(chunk.weights.sum()), inner(away * chunk.weights[:, None], away)


def grid_places(height: int, width: int, grid: str = "hexagonal") -> np.ndarray:
    """Where the cells of a grid are; neighbours are at distance one.

    Parameters
    ----------
    height, width : int
    grid : {"hexagonal", "square"}, default="hexagonal"

    Returns
    -------
    places : ndarray of shape (height * width, 2)

    Examples
    --------
    >>> grid_places(2, 2, "square").tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    line, place = np.divmod(np.arange(height * width), width)
    if grid == "square":
        return np.column_stack([place, line]).astype(np.float64)
    return np.column_stack([place + 0.5 * (line % 2), line * np.sqrt(0.75)])


def grid_distances(height: int, width: int, grid: str, toroid: bool = False) -> np.ndarray:
    """Distance of every two cells of a grid, round its edges where it is a toroid.

    Parameters
    ----------
    height, width : int
    grid : {"hexagonal", "square"}
    toroid : bool, default=False

    Returns
    -------
    distances : ndarray of shape (n_cells, n_cells)

    Examples
    --------
    >>> grid_distances(1, 4, "square", toroid=True)[0].tolist()
    [0.0, 1.0, 2.0, 1.0]
    """
    places = grid_places(height, width, grid)
    across, along = (np.abs(places[:, [j]] - places[:, j]) for j in range(2))
    if not toroid:
        return np.hypot(across, along)
    if grid == "hexagonal" and height % 2 and height > 1:
        raise DataError(
            f"a hexagonal grid of height {height} cannot be closed to a toroid, since every "
            "second line is shifted; use an even height"
        )
    period = height if grid == "square" else height * np.sqrt(0.75)
    shifted = places[:, [0]] - places[:, 0]
    across = np.abs(shifted - width * np.round(shifted / width))
    return np.hypot(across, np.minimum(along, period - along))


@kernel("f8[:,:]", "f8[:,:]", "out i8[:,:]")
def two_winners(rows, prototypes, pairs):
    """The two nearest prototypes of each row. rows (n, d), prototypes (k, d), pairs (n, 2)."""
    for i in range(len(rows)):
        first, second = 0, 0
        least, next_least = np.inf, np.inf
        for c in range(len(prototypes)):
            distance = squared_distance(rows[i], prototypes[c])
            if distance < least:
                second, next_least = first, least
                first, least = c, distance
            elif distance < next_least:
                second, next_least = c, distance
        pairs[i, 0], pairs[i, 1] = first, second


@kernel("f8[:,:]", "i8[:]", "f8[:,:]", "i8", "i8", "f8", "f8", "f8", "f8", "out f8[:,:]")
def online_pass(rows, drawn, squared_gaps, done, steps, first, last, rate, delay, prototypes):
    """Move the prototypes (k, d) after each drawn row; returns the distances to winners, summed.

    The radius falls from `first` to `last` over `steps` steps, of which `done` are behind.
    """
    k, d = prototypes.shape
    error = 0.0
    for number in range(len(drawn)):
        row = rows[drawn[number]]
        winner, least = 0, np.inf
        for c in range(k):
            distance = squared_distance(row, prototypes[c])
            if distance < least:
                winner, least = c, distance
        error += np.sqrt(least)
        t = done + number
        share = min(t / steps, 1.0)
        radius = (1.0 - share) * first + share * last
        for c in range(k):
            step = rate / (delay + t) * np.exp(-squared_gaps[winner, c] / (2.0 * radius * radius))
            step = min(step, 1.0)
            for j in range(d):
                prototypes[c, j] += step * (row[j] - prototypes[c, j])
    return error
