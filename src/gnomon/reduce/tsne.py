"""t-SNE: a map in which near rows stay near, whatever happens to the far ones.

p_j|i = exp(-|x_i - x_j|^2 / (2 s_i^2)) / sum_k,  s_i such that row i has `perplexity` neighbours;
p_ij = (p_j|i + p_i|j) / (2 n);  q_ij = (1 + |y_i - y_j|^2)^-1 / sum_kl.  Minimises
KL(P || Q) = sum p_ij log(p_ij / q_ij), whose gradient is
4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2).

Texts: 000c 19.1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse as sp
from scipy.special import xlogy
from sklearn import manifold
from sklearn.utils.validation import check_is_fitted

from gnomon.contract import Takes
from gnomon.contract.inert import without_effect
from gnomon.engine.distinct import DistinctRows
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import (
    HISTORY,
    SEED,
    StrOptions,
    above,
    at_least,
    between,
    validated,
    whole,
)
from gnomon.engine.registry import method
from gnomon.engine.renamed import former_parameters
from gnomon.engine.stored import Array, Number
from gnomon.engine.threads import Crew, in_order
from gnomon.neighbors.index import Neighbors
from gnomon.reduce.falls_back import FallsBack, is_euclidean
from gnomon.reduce.float32 import KeepsFloat32
from gnomon.reduce.rows_map import RowsMap
from gnomon.reduce.tsne_kernels import (
    attraction,
    build_tree,
    exact_repulsion,
    move,
    neighbor_shares,
    plane_attraction,
    pull_of_fixed,
    read_potentials,
    spread_charges,
    tree_repulsion,
)

MOST_EXACT = 600  # judgement: 360,000 pairs cost no more than a grid of the usual size
FEWEST_CELLS = 40  # judgement: an early map is small, and a coarser grid would blur it
MOST_CELLS = 2**20  # a grid of 2^20 cells with its transforms takes some tens of MB
# Of the kernel's width 1: cubic interpolation; the objective is read from a finer one.
CELL, FINE_CELL = 0.4, 0.1
ITEMS_TOGETHER = 1024  # judgement: one turn of a thread
# Van der Maaten's values, as in scikit-learn.
EARLY_STEPS = 250
STEPS_BETWEEN_CHECKS = 50
EARLY_MOMENTUM, MOMENTUM = 0.5, 0.8
STEPS_OF_NEW = 30  # judgement: new rows start at the mean of their neighbors and move little
USUAL_PERPLEXITY = 30.0  # scikit-learn's default
NEW_TOGETHER = 512  # judgement: one turn of a thread


@method(
    task="reduce",
    texts="000c 19.1.2",
    use="To look for groups of rows in many columns.",
    avoid="Sizes, gaps or outliers to be read from the map; columns for another learner.",
    peers=("sklearn.manifold.TSNE", "openTSNE.TSNE"),
)
@without_effect("verbose")
@former_parameters(start="init", tol="min_grad_norm")
class TSNE(KeepsFloat32, FallsBack, RowsMap):
    """A map in which near rows stay near: groups are seen, distances between groups mean nothing.

    Minimises ``KL(P || Q) = sum p_ij log(p_ij / q_ij)``, where p_ij says how much rows i and j are
    neighbours and q_ij the same on the map. Use it to look for groups in many columns. Do not read
    sizes of groups, gaps between them, or single outliers from it; look at several perplexities.

    Columns are read to 2^-32 of their range, as the last bits of a cell would else decide where
    all rows go. Equal rows are one point; a row's weight says how much its neighbours count in P.
    ``transform`` places new rows on the fixed map by the same objective, each for itself; a row
    that was mapped keeps its place.

    Texts: 000c 19.1.2, whose weights lack a minus sign and whose q has y_i in the denominator. As
    fast as its repulsion: by interpolation on a grid and FFT for two dimensions, by a tree of cells
    for three, over all pairs for few rows.

    Parameters
    ----------
    n_components : int, default=2
        Coordinates of the map.
    perplexity : float or "auto", default=30.0
        Effective number of neighbors of a row, less than the number of different rows; solved
        exactly among three times as many nearest rows. "auto": 30, and a third of the others where
        fewer than 91 rows differ.
    early_exaggeration : float, default=12.0
        Factor of attraction in the first 250 steps (at most half of all).
    learning_rate : float or "auto", default="auto"
        "auto": rows / early_exaggeration / 4, at least 50.
    max_iter : int, default=1000
        Most steps.
    n_iter_without_progress : int, default=300
        Stop after so many steps after the exaggeration in which the divergence did not fall;
        checked every 50 steps.
    min_grad_norm : float, default=1e-7
        Stop after the exaggeration when the root mean square of the gradient is less (times that
        of the places, where it is below one).
    metric : str or callable, default="euclidean"
        Distance, as in scikit-learn; "precomputed" for a matrix of distances.
    metric_params : dict or None, default=None
        Further arguments of the metric.
    init : {"random", "pca"} or ndarray of shape (n_samples, n_components), default="pca"
        First principal components, scaled small, random places, or the places that are given.
    random_state : int, RandomState instance or None, default=None
        Random places; "pca" draws nothing.
    method : {"barnes_hut", "exact"}, default="barnes_hut"
        "exact" sums the repulsion over all pairs, "barnes_hut" leaves it to ``repulsion``.
    angle : float, default=0.5
        Of "tree": a cell counts as one point where its size is less than this share of its
        distance.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    repulsion : {"auto", "exact", "tree", "fft"}, default="auto"
        Over all pairs; by a tree whose far cells count as one point (Barnes and Hut; two or three
        dimensions); by a grid (two dimensions; by the tree while the map is too wide for one).
        "auto": exact up to 600 rows, then "fft" in two dimensions and "tree" in three.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the map after each step.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    places_ : ndarray of shape (n_distinct, n_components)
        The places of the different rows.
    kl_divergence_ : float
        KL(P || Q) at the end.
    learning_rate_ : float
        The one that was used.
    peer_ : sklearn.manifold.TSNE
        Only where scikit-learn's class computed the map (other metrics, given ``init``).
    perplexity_ : float
        The one that was used.
    precisions_ : ndarray of shape (n_distinct,)
        1 / (2 s_i^2) of each different row.
    weights_ : ndarray of shape (n_distinct,)
        Their weights.
    point_ : ndarray of shape (n_samples,)
        Which of the different rows each row is.
    index_ : NeighbourIndex
        The different rows.
    grid_ : ndarray of shape (n_columns,)
        To what step each column is read.
    n_iter_ : int
    history_ : History
        The divergence after each step (of the P that is not exaggerated).
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Their names, where they had any.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import TSNE
    >>> rows = np.vstack([np.eye(5), np.eye(5) + 10])
    >>> TSNE(perplexity=3, max_iter=300, random_state=0).fit_transform(rows).shape
    (10, 2)
    """

    _chaotic = True
    _parameter_constraints = {
        "n_components": [whole(1)],
        "perplexity": [above(0), StrOptions({"auto"})],
        "early_exaggeration": [at_least(1)],
        "learning_rate": [above(0), StrOptions({"auto"})],
        "max_iter": [whole(1)],
        "n_iter_without_progress": [whole(-1)],
        "min_grad_norm": [at_least(0)],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "init": [StrOptions({"pca", "random"}), np.ndarray],
        "random_state": SEED,
        "method": [StrOptions({"barnes_hut", "exact"})],
        "angle": [between(0, 1)],
        "n_jobs": [None, Integral],
        "repulsion": [StrOptions({"auto", "exact", "tree", "fft"})],
        "keep_history": HISTORY,
    }
    _stored = {
        "_affinities": Array("f8", ("n_affinities", "n_affinities"), low=0.0, sparse=True),
        "kl_divergence_": Number(),
        "learning_rate_": Number(),
        "perplexity_": Number(),
        "precisions_": Array("f8", ("n_affinities",)),
        "weights_": Array("f8", ("n_affinities",), low=0.0),
    }

    def __init__(
        self,
        n_components=2,
        *,
        perplexity=30.0,
        early_exaggeration=12.0,
        learning_rate="auto",
        max_iter=1000,
        n_iter_without_progress=300,
        min_grad_norm=1e-7,
        metric="euclidean",
        metric_params=None,
        init="pca",
        verbose=0,
        random_state=None,
        method="barnes_hut",
        angle=0.5,
        n_jobs=None,
        repulsion="auto",
        keep_history="objective",
    ):
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs
        self.repulsion = repulsion
        self.keep_history = keep_history

    natively = Takes(sparse=True)
    _peer = manifold.TSNE
    _densifies = True
    _of_rows_dtype = ("embedding_",)

    def _is_own(self, X):
        given = isinstance(self.init, np.ndarray)
        return is_euclidean(self.metric, 2, self.metric_params) and not given

    def _require_enough(self, n_distinct: int, n_rows: int) -> None:
        if n_distinct < 3:
            raise DataError(
                f"TSNE needs three different rows or more, and there are {n_distinct} "
                f"(n_samples = {n_rows})"
            )
        if self.perplexity != "auto" and self.perplexity <= 1:
            raise DataError(
                f"perplexity={self.perplexity:g} must be more than 1: that of a row with a single "
                "neighbour; use 5 to 50, or 'auto'"
            )
        if self.perplexity != "auto" and self.perplexity >= n_distinct:
            raise DataError(
                f"perplexity={self.perplexity:g} must be less than the number of different rows, "
                f"{n_distinct} (n_samples = {n_rows}); a row cannot have so many neighbours"
            )
        most = {"fft": 2, "tree": 3}.get(self.repulsion, self.n_components)
        if self.n_components > most or (self.repulsion in ("fft", "tree") and most == 1):
            raise DataError(
                f"repulsion={self.repulsion!r} is for n_components up to {most}, not "
                f"{self.n_components}; use 'exact'"
            )

    def _place(self, distinct: DistinctRows) -> np.ndarray:
        self.weights_ = distinct.weights
        self.perplexity_ = self._wanted_perplexity(len(distinct.rows))
        self.n_iter_ = 0
        found = self.index_.others(self._n_neighbors(len(distinct.rows) - 1), self.n_jobs)
        near, self.precisions_ = self._shares(found)
        self._affinities = joint(near, distinct.weights)
        places = self._first_places(distinct.rows)
        self._descend(places, self.max_iter, early=min(EARLY_STEPS, self.max_iter // 2))
        return self.places_

    def _wanted_perplexity(self, n: int) -> float:
        if self.perplexity != "auto":
            return float(self.perplexity)
        return max(min(USUAL_PERPLEXITY, (n - 1) / 3), 1.5)

    def _n_neighbors(self, most: int) -> int:
        return min(int(3 * self.perplexity_) + 1, most)

    def _n_asked(self) -> int:
        return self._n_neighbors(self.index_.n_rows)

    def _shares(self, found: Neighbors) -> tuple[sp.csr_array, np.ndarray]:
        """Shares of the nearest stored rows of each row, as sparse rows, and their precisions."""
        n, k = found.indices.shape
        entropy = np.log(min(self.perplexity_, k))
        unit = safe_unit(found.distances)

        def part(start):
            mine = slice(start, start + ITEMS_TOGETHER)
            squares = np.ascontiguousarray((found.distances[mine] / unit) ** 2)
            shares, precisions = np.empty_like(squares), np.empty(len(squares))
            neighbor_shares(squares, entropy, np.zeros(len(squares)), shares, precisions)
            return shares, precisions

        parts = list(in_order(part, range(0, n, ITEMS_TOGETHER), self.n_jobs))
        shares = np.concatenate([each[0] for each in parts])
        pointers = np.arange(0, n * k + 1, k)
        table = sp.csr_array(
            (shares.ravel(), found.indices.ravel(), pointers), shape=(n, self.index_.n_rows)
        )
        with np.errstate(over="ignore", under="ignore"):  # infinite for distances of 1e-160
            precisions = np.concatenate([each[1] for each in parts]) / unit / unit
        return table, precisions

    def _first_places(self, rows: np.ndarray) -> np.ndarray:
        n, k = len(rows), self.n_components
        rows = rows / safe_unit(rows)
        if self.init == "random":
            return 1e-4 * self._rng().standard_normal((n, k))
        from gnomon.reduce.pca import PCA

        wanted = min(k, *rows.shape)
        places = np.zeros((n, k))
        places[:, :wanted] = PCA(wanted, random_state=0, n_jobs=self.n_jobs).fit_transform(rows)
        size = places[:, 0].std()
        if size == 0:
            return 1e-4 * self._rng().standard_normal((n, k))
        places *= 1e-4 / size
        if wanted < k:
            places[:, wanted:] = 1e-4 * self._rng().standard_normal((n, k - wanted))
        return places

    def _descend(self, places: np.ndarray, n_steps: int, early: int) -> None:
        n = len(places)
        rate = self.learning_rate
        if rate == "auto":
            rate = max(n / self.early_exaggeration / 4, 50.0)
        self.learning_rate_ = float(rate)
        velocity, gains = np.zeros_like(places), np.ones_like(places)
        course = self._course("step", n_steps)
        best, best_step = np.inf, early
        with Crew(self.n_jobs) as crew:
            forces = Forces(self._affinities, crew, self._repulsion(n), self.angle)
            for step in course:
                factor = self.early_exaggeration if step < early else 1.0
                momentum = EARLY_MOMENTUM if step < early else MOMENTUM
                if step == early:  # gains and speed fit the exaggerated forces, which end here
                    velocity[:], gains[:] = 0, 1
                gradient, divergence = forces(places, factor)
                move(places, gradient, velocity, gains, rate, momentum)
                np.subtract(places, places.mean(axis=0), out=places)
                # exaggeration may draw all rows to a point: there forces are small, and not at rest
                size = min(float(np.sqrt((places**2).mean())), 1.0)
                calm = step >= early and np.sqrt((gradient**2).mean()) <= self.min_grad_norm * size
                if step >= early and (step + 1) % STEPS_BETWEEN_CHECKS == 0:
                    if divergence < best:
                        best, best_step = divergence, step
                    calm |= step - best_step > self.n_iter_without_progress
                if course.end_step(
                    float(divergence),
                    bool(calm),
                    state=lambda: {"places": places.copy()},
                    attributes=lambda: self._public() | {"places_": places.copy()},
                ):
                    break
            self.kl_divergence_ = forces.divergence(places)
        self.places_ = places
        self.n_iter_ += len(course.history)
        self.history_ = course.history

    def _repulsion(self, n: int) -> str:
        if self.repulsion != "auto":
            return self.repulsion
        if self.method == "exact":
            return "exact"
        if n <= MOST_EXACT:
            return "exact"
        return {2: "fft", 3: "tree"}.get(self.n_components, "exact")

    @validated
    def go_on(self, n_steps: int = 250) -> TSNE:
        """Continue from the map that was reached, without exaggeration.

        Parameters
        ----------
        n_steps : int, default=250

        Returns
        -------
        self : TSNE
        """
        check_is_fitted(self)
        if not hasattr(self, "point_"):
            raise DataError(
                "rows of weight zero are on this map only by their neighbours' places: leave them "
                "out of fit to continue it"
            )
        if not hasattr(self, "_affinities"):
            found = self.index_.others(self._n_neighbors(self.index_.n_rows - 1), self.n_jobs)
            self._affinities = joint(self._shares(found)[0], self.weights_)
        self._descend(self.places_.copy(), n_steps, early=0)
        self.embedding_ = self.places_[self.point_]
        return self

    def _place_new(self, rows: np.ndarray, found: Neighbors) -> np.ndarray:
        """From the mean of their neighbours' places, downhill on the fixed map, each for itself."""
        near, _ = self._shares(found)
        fixed = self.places_
        places = np.ascontiguousarray(near @ fixed)
        starts, columns = (each.astype(np.int64) for each in (near.indptr, near.indices))
        velocity, gains = np.zeros_like(places), np.ones_like(places)
        gradient = np.empty_like(places)
        for step in range(STEPS_OF_NEW):
            pull_of_fixed(places, fixed, starts, columns, near.data, gradient)
            move(places, gradient, velocity, gains, 0.1, EARLY_MOMENTUM if step < 10 else MOMENTUM)
        return places

    def _rows_at_once(self, rows) -> int:
        return NEW_TOGETHER

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_affinities", None)
        return state

    def _working_memory(self, n_rows, n_columns):
        perplexity = USUAL_PERPLEXITY if self.perplexity == "auto" else self.perplexity
        near = min(int(3 * perplexity) + 1, max(n_rows, 1))
        grid = 256 * most_cells(n_rows) if self.n_components == 2 else 2**22
        states = 8 * n_rows * self.n_components * (self.max_iter * (self.keep_history == "full"))
        shares = 8 * n_rows * (10 * near + 16 * self.n_components)
        return shares + grid + states + self._rows_memory(n_rows, n_columns)

    def _check_loaded(self):
        super()._check_loaded()
        if hasattr(self, "weights_") and len(self.weights_) != self.index_.n_rows:
            raise ValueError("weights_ and index_ do not fit together")


def safe_unit(values: np.ndarray) -> float:
    """One, or the size of values whose squares would vanish or overflow."""
    largest = float(np.abs(values).max(initial=0.0))
    return 1.0 if largest == 0 or 1e-100 < largest < 1e100 else largest


def joint(near: sp.csr_array, weights: np.ndarray) -> sp.csr_array:
    """p_ij = (w_i p_j|i + w_j p_i|j) / (2 sum of weights)."""
    table = sp.csr_array(sp.diags_array(weights / (2 * weights.sum())) @ near)
    table = sp.csr_array(table + table.T)
    table.sort_indices()
    return table


class Forces:
    """The gradient of the divergence, attraction and repulsion, on the threads of a crew."""

    def __init__(self, affinities: sp.csr_array, crew: Crew, repulsion: str, angle: float = 0.5):
        self.starts = affinities.indptr.astype(np.int64)
        self.columns = affinities.indices.astype(np.int32)
        self.shares = np.ascontiguousarray(affinities.data)
        self.crew = crew
        ways: dict[str, Callable[[np.ndarray], tuple[np.ndarray, float]]] = {
            "fft": self._grid,
            "tree": self._tree,
            "exact": self._exact,
        }
        self.repulsion = ways[repulsion]
        self.grid, self.cell = Grid(crew), CELL
        self.angle = angle
        self.own = float(xlogy(self.shares, self.shares).sum())
        n = affinities.shape[0]
        self.blocks = [(s, min(s + ITEMS_TOGETHER, n)) for s in range(0, n, ITEMS_TOGETHER)]

    def __call__(self, places: np.ndarray, exaggeration: float) -> tuple[np.ndarray, float]:
        """Gradient (n, k) and the divergence of the P that is not exaggerated."""
        pulls, logs = self._attraction(places)
        pushes, total = self.repulsion(places)
        total -= len(places)  # every item has met itself
        gradient = 4 * (exaggeration * pulls - pushes / total)
        return gradient, self.own + logs + float(np.log(total))

    def divergence(self, places: np.ndarray) -> float:
        """The divergence alone, by a finer grid than the steps need: near pairs count in it."""
        self.cell = FINE_CELL
        found = self(places, 1.0)[1]
        self.cell = CELL
        return found

    def _attraction(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        pull = plane_attraction if places.shape[1] == 2 else attraction

        def part(block):
            forces = np.zeros((block[1] - block[0], places.shape[1]))
            logs = pull(places, self.starts, self.columns, self.shares, *block, forces)
            return forces, logs

        return self._together(part)

    def _grid(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        """By a grid; by a tree where the map is so wide that most of its cells would be empty."""
        least = np.ptp(places, axis=0).max() / np.sqrt(most_cells(len(places)))
        return self._tree(places) if least > CELL else self.grid(places, max(self.cell, least))

    def _exact(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        def part(block):
            forces = np.zeros((block[1] - block[0], places.shape[1]))
            return forces, exact_repulsion(places, places, *block, forces)

        return self._together(part)

    def _tree(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        tree = Tree(places)

        def part(block):
            forces = np.zeros((block[1] - block[0], places.shape[1]))
            return forces, tree_repulsion(places, *tree.arrays, self.angle**2, *block, forces)

        return self._together(part)

    def _together(self, part) -> tuple[np.ndarray, float]:
        parts = self.crew.each(part, self.blocks)
        return np.concatenate([each[0] for each in parts]), float(sum(each[1] for each in parts))


def most_cells(n_rows: int) -> int:
    """Cells of the largest grid that pays for so many rows."""
    return min(64 * n_rows + FEWEST_CELLS**2, MOST_CELLS)


class Tree:
    """Points in cells that are halved along every axis until each holds one (or equal ones)."""

    def __init__(self, places: np.ndarray):
        n, k = places.shape
        low = places.min(axis=0)
        size = max(float(np.ptp(places, axis=0).max()), 1e-300) * (1 + 1e-9)
        room = 2 * n + 64
        while True:
            children = np.full((room, 2**k), -1)
            centers, counts = np.zeros((room, k)), np.zeros(room)
            sizes = np.zeros(room)
            used = build_tree(places, low, size, children, centers, counts, sizes)
            if used > 0:
                break
            room *= 2
        self.arrays = children[:used], centers[:used], counts[:used], sizes[:used]


class Grid:
    """Repulsion of all points in the plane by a regular grid and FFT.

    The kernel (1 + d^2)^-2 is smooth on the scale of one, so that cubic interpolation from a grid
    of step 0.4 keeps forces to about a percent, and the sum over pairs to far less.
    """

    def __init__(self, crew: Crew):
        self.crew = crew
        self.known: tuple[int, float, np.ndarray] | None = None

    def __call__(self, places: np.ndarray, cell: float = CELL) -> tuple[np.ndarray, float]:
        low = places.min(axis=0)
        span = float(np.ptp(places, axis=0).max())
        cells = max(int(span / cell) + 1, FEWEST_CELLS)
        step = max(span / cells, 1e-300) if cells == FEWEST_CELLS else cell
        size = scipy.fft.next_fast_len(2 * (cells + 4), real=True)
        side = size // 2
        grid = np.zeros((4, side, side))
        at_x, at_y = low[0] - step, low[1] - step
        spread_charges(places, at_x, at_y, step, grid)
        kernel = self._kernel(size, step)

        def convolved(each: np.ndarray) -> np.ndarray:
            waves = scipy.fft.rfft2(each, (size, size))
            waves *= kernel
            return scipy.fft.irfft2(waves, (size, size), overwrite_x=True)[:side, :side]

        potentials = np.ascontiguousarray(self.crew.each(convolved, list(grid)))
        forces = np.empty_like(places)
        total = read_potentials(places, at_x, at_y, step, potentials, forces)
        return forces, float(total)

    def _kernel(self, size: int, step: float) -> np.ndarray:
        if self.known is None or self.known[:2] != (size, step):
            lag = step * np.minimum(np.arange(size), size - np.arange(size))
            squares = lag**2 + (lag**2)[:, np.newaxis]
            self.known = size, step, scipy.fft.rfft2((1 + squares) ** -2.0)
        return self.known[2]
