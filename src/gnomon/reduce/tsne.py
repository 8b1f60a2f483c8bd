"""t-SNE: a map in which near rows stay near, whatever happens to the far ones.

p_j|i = exp(-|x_i - x_j|^2 / (2 s_i^2)) / sum_k,  s_i such that row i has `perplexity` neighbours;
p_ij = (p_j|i + p_i|j) / (2 n);  q_ij = (1 + |y_i - y_j|^2)^-1 / sum_kl.  Minimises
KL(P || Q) = sum p_ij log(p_ij / q_ij), whose gradient is
4 sum_j (p_ij - q_ij) (y_i - y_j) / (1 + |y_i - y_j|^2).

Texts: 000c 19.1.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.sparse as sp
from scipy.special import xlogy

from gnomon.contract import Data, Transformer
from gnomon.engine.errors import DataError
from gnomon.engine.parameters import (
    HISTORY,
    JOBS,
    SEED,
    StrOptions,
    above,
    at_least,
    validated,
    whole,
)
from gnomon.engine.storable import storable
from gnomon.engine.threads import Crew, in_order
from gnomon.neighbors.distances import distance_of
from gnomon.neighbors.index import NeighbourIndex
from gnomon.reduce.tsne_kernels import (
    attraction,
    exact_repulsion,
    move,
    neighbour_shares,
    read_potentials,
    spread_charges,
)

MOST_EXACT = 1500
FEWEST_CELLS = 40
CELL = 0.4
ITEMS_TOGETHER = 1024
EARLY_STEPS = 250
EARLY_MOMENTUM, MOMENTUM = 0.5, 0.8
WATCHED_EVERY = 50


@storable
class TSNE(Transformer):
    """A map in which near rows stay near: groups are seen, distances between groups mean nothing.

    Minimises ``KL(P || Q) = sum p_ij log(p_ij / q_ij)``, where p_ij says how much rows i and j are
    neighbours and q_ij the same on the map. Use it to look for groups in many columns. Do not read
    sizes of groups, gaps between them, or single outliers from it; look at several perplexities.

    Texts: 000c 19.1.2, whose weights lack a minus sign and whose q has y_i in the denominator. As
    fast as its grid: repulsion by interpolation and FFT for two dimensions, exact for few rows.

    Parameters
    ----------
    n_components : int, default=2
    perplexity : float, default=30.0
        Effective number of neighbours of a row, below the number of rows; solved exactly among
        three times as many nearest rows.
    max_iter : int, default=1000
        Steps, of which the first 250 (at most half) exaggerate attraction.
    early_exaggeration : float, default=12.0
        Factor of attraction in these.
    learning_rate : float or "auto", default="auto"
        "auto": rows / early_exaggeration / 4, at least 50.
    start : {"pca", "random"}, default="pca"
        First two principal components, scaled small, or random places.
    repulsion : {"auto", "exact", "fft"}, default="auto"
        "fft" for two dimensions only; "auto" takes it beyond 1,500 rows.
    tol : float, default=1e-7
        Stop after the exaggeration when the root mean square of the gradient is less.
    keep_history : {"objective", "full"}, default="objective"
        Whether ``history_`` also keeps the map every 50 steps.
    random_state : int, RandomState instance or None, default=None
        Random places; "pca" draws nothing.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map.
    kl_divergence_ : float
        KL(P || Q) at the end.
    precisions_ : ndarray of shape (n_samples,)
        1 / (2 s_i^2) of each row.
    rows_ : ndarray of shape (n_samples, n_columns)
        The training rows, for `transform`.
    n_iter_ : int
    history_ : History
        The divergence every 50 steps (of exaggerated P in the first ones).
    n_features_in_ : int
        Number of columns seen in ``fit``.

    Notes
    -----
    ``transform`` places new rows on the fixed map by the same objective, each for itself. Weights
    of rows are refused: a row of weight two has no place for its second.

    Examples
    --------
    >>> import numpy as np
    >>> from gnomon.reduce import TSNE
    >>> rows = np.vstack([np.eye(5), np.eye(5) + 10])
    >>> TSNE(perplexity=3, max_iter=300, random_state=0).fit_transform(rows).shape
    (10, 2)
    """

    _parameter_constraints = {
        "n_components": [whole(1)],
        "perplexity": [above(1)],
        "max_iter": [whole(1)],
        "early_exaggeration": [at_least(1)],
        "learning_rate": [above(0), StrOptions({"auto"})],
        "start": [StrOptions({"pca", "random"})],
        "repulsion": [StrOptions({"auto", "exact", "fft"})],
        "tol": [at_least(0)],
        "keep_history": HISTORY,
        "random_state": SEED,
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        n_components=2,
        *,
        perplexity=30.0,
        max_iter=1000,
        early_exaggeration=12.0,
        learning_rate="auto",
        start="pca",
        repulsion="auto",
        tol=1e-7,
        keep_history="objective",
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.perplexity = perplexity
        self.max_iter = max_iter
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.start = start
        self.repulsion = repulsion
        self.tol = tol
        self.keep_history = keep_history
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Data) -> None:
        if data.weights is not None and np.ptp(data.weights) > 0:
            raise DataError("TSNE takes no weights of rows; repeat rows instead")
        rows = np.ascontiguousarray(data.rows, dtype=np.float64)
        n = len(rows)
        if self.perplexity >= n:
            raise DataError(
                f"perplexity={self.perplexity:g} must be less than n_samples = {n}; a row cannot "
                "have so many neighbours"
            )
        if self.repulsion == "fft" and self.n_components != 2:
            raise DataError("repulsion='fft' is for n_components=2; use 'exact'")
        self.rows_ = rows
        near, self.precisions_ = self._neighbours(rows, rows, itself=True)
        self._affinities = joint(near)
        places = self._first_places(rows)
        self._descend(places, self.max_iter, early=min(EARLY_STEPS, self.max_iter // 2))

    def _neighbours(self, rows, stored, itself: bool):
        """Shares of the nearest stored rows of each row, as sparse rows, and their precisions."""
        k = min(int(3 * self.perplexity) + 1, len(stored) - itself)
        index = NeighbourIndex(distance_of("euclidean").fit(stored, None, None), stored).ready()
        starts = range(0, len(rows), ITEMS_TOGETHER)
        entropy = np.log(min(self.perplexity, k))

        def part(start):
            block = rows[start : start + ITEMS_TOGETHER]
            distances, indices = index.nearest(block, k + itself)
            if itself:
                own = np.arange(start, start + len(block))[:, np.newaxis]
                others = indices != own
                # a row that many equal ones push out of its own list: leave out the last instead
                others[others.all(axis=1), -1] = False
                distances = distances[others].reshape(len(block), k)
                indices = indices[others].reshape(len(block), k)
            shares, precisions = np.empty((len(block), k)), np.empty(len(block))
            neighbour_shares(
                np.ascontiguousarray(distances**2),
                entropy,
                np.zeros(len(block)),
                shares,
                precisions,
            )
            return indices, shares, precisions

        parts = list(in_order(part, starts, self.n_jobs))
        indices = np.concatenate([each[0] for each in parts])
        shares = np.concatenate([each[1] for each in parts])
        pointers = np.arange(0, indices.size + 1, k)
        table = sp.csr_array(
            (shares.ravel(), indices.ravel(), pointers), shape=(len(rows), len(stored))
        )
        return table, np.concatenate([each[2] for each in parts])

    def _first_places(self, rows: np.ndarray) -> np.ndarray:
        n, k = len(rows), self.n_components
        if self.start == "random":
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
        velocity, gains = np.zeros_like(places), np.ones_like(places)
        course = self._course("50 steps", -(-n_steps // WATCHED_EVERY))
        step, divergence = 0, np.nan
        with Crew(self.n_jobs) as crew:
            forces = Forces(self._affinities, crew, self._uses_grid(n))
            for _ in course:
                for _ in range(min(WATCHED_EVERY, n_steps - step)):
                    factor = self.early_exaggeration if step < early else 1.0
                    momentum = EARLY_MOMENTUM if step < early else MOMENTUM
                    gradient, divergence = forces(places, factor)
                    move(places, gradient, velocity, gains, rate, momentum)
                    np.subtract(places, places.mean(axis=0), out=places)
                    step += 1
                calm = step > early and np.sqrt((gradient**2).mean()) <= self.tol
                if course.end_step(
                    float(divergence),
                    bool(calm),
                    state=lambda: {"embedding": places.copy()},
                    attributes=lambda: {"embedding_": places.copy()},
                ):
                    break
            self.kl_divergence_ = float(forces(places, 1.0)[1])
        self.embedding_ = places
        self.n_iter_ = getattr(self, "n_iter_", 0) * (early == 0) + step
        self.history_ = course.history

    def _uses_grid(self, n: int) -> bool:
        if self.repulsion == "auto":
            return self.n_components == 2 and n > MOST_EXACT
        return self.repulsion == "fft"

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
        if not hasattr(self, "_affinities"):
            near, _ = self._neighbours(self.rows_, self.rows_, itself=True)
            self._affinities = joint(near)
        self._descend(self.embedding_.copy(), n_steps, early=0)
        return self

    def fit_transform(self, X, y=None, sample_weight=None) -> np.ndarray:
        """The map of the rows.

        Parameters
        ----------
        X : array-like, data frame, Table or Scan of shape (n_samples, n_features)
        y : None
            Not used.
        sample_weight : None
            Refused where it says anything.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
        """
        return self.fit(X, y, sample_weight=sample_weight).embedding_

    def _map(self, rows):
        """New rows on the fixed map: from the mean of their neighbours' places, each for itself."""
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        near, _ = self._neighbours(rows, self.rows_, itself=False)
        places = np.ascontiguousarray(near @ self.embedding_)
        fixed = self.embedding_
        velocity, gains = np.zeros_like(places), np.ones_like(places)
        for step in range(200):
            gradient = self._pull_of_fixed(near, places, fixed)
            move(places, gradient, velocity, gains, 0.1, EARLY_MOMENTUM if step < 50 else MOMENTUM)
        return places

    def _pull_of_fixed(self, near, places, fixed) -> np.ndarray:
        """Gradient of sum_i KL(p_.|i || q_.|i) with q normalised over the fixed places, per row."""
        gradient = np.empty_like(places)
        for i in range(len(places)):
            span = slice(near.indptr[i], near.indptr[i + 1])
            others, shares = fixed[near.indices[span]], near.data[span]
            gaps = places[i] - others
            pull = (shares / (1 + (gaps**2).sum(axis=1))) @ gaps
            forces = np.zeros((1, places.shape[1]))
            total = exact_repulsion(places[i : i + 1], fixed, 0, 1, forces)
            gradient[i] = 2 * (pull - forces[0] / total)
        return gradient

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_affinities", None)
        return state

    def _working_memory(self, n_rows, n_columns):
        near = int(3 * self.perplexity) + 1
        return 8 * n_rows * (3 * n_columns + 8 * near + 12) + 2**26

    def _check_loaded(self):
        if hasattr(self, "embedding_") and len(self.embedding_) != len(self.rows_):
            raise DataError("embedding_ and rows_ do not fit together")


def joint(near: sp.csr_array) -> sp.csr_array:
    """p_ij = (p_j|i + p_i|j) / (2 n)."""
    table = sp.csr_array((near + near.T) / (2 * near.shape[0]))
    table.sort_indices()
    return table


class Forces:
    """The gradient of the divergence, attraction and repulsion, on the threads of a crew."""

    def __init__(self, affinities: sp.csr_array, crew: Crew, grid: bool):
        self.starts = affinities.indptr.astype(np.int64)
        self.columns = affinities.indices.astype(np.int64)
        self.shares = np.ascontiguousarray(affinities.data)
        self.crew = crew
        self.grid = Grid(crew) if grid else None
        self.own = float(xlogy(self.shares, self.shares).sum())
        n = affinities.shape[0]
        self.blocks = [(s, min(s + ITEMS_TOGETHER, n)) for s in range(0, n, ITEMS_TOGETHER)]

    def __call__(self, places: np.ndarray, exaggeration: float) -> tuple[np.ndarray, float]:
        """Gradient (n, k) and the divergence of the P that is not exaggerated."""
        pulls, logs = self._attraction(places)
        pushes, total = self.grid(places) if self.grid is not None else self._exact(places)
        total -= len(places)  # every item has met itself
        gradient = 4 * (exaggeration * pulls - pushes / total)
        return gradient, self.own + logs + float(np.log(total))

    def _attraction(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        def part(block):
            forces = np.zeros((block[1] - block[0], places.shape[1]))
            logs = attraction(places, self.starts, self.columns, self.shares, *block, forces)
            return forces, logs

        return self._together(part)

    def _exact(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        def part(block):
            forces = np.zeros((block[1] - block[0], places.shape[1]))
            return forces, exact_repulsion(places, places, *block, forces)

        return self._together(part)

    def _together(self, part) -> tuple[np.ndarray, float]:
        parts = self.crew.each(part, self.blocks)
        return np.concatenate([each[0] for each in parts]), float(sum(each[1] for each in parts))


class Grid:
    """Repulsion of all points in the plane by a regular grid and FFT.

    The kernel (1 + d^2)^-2 is smooth on the scale of one, so that cubic interpolation from a grid
    of step 0.4 keeps forces to about a percent, and the sum over pairs to far less.
    """

    def __init__(self, crew: Crew):
        self.crew = crew
        self.known: tuple[int, float, np.ndarray] | None = None

    def __call__(self, places: np.ndarray) -> tuple[np.ndarray, float]:
        low = places.min(axis=0)
        span = float(np.ptp(places, axis=0).max())
        cells = max(int(span / CELL) + 1, FEWEST_CELLS)
        step = max(span / cells, 1e-300) if cells == FEWEST_CELLS else CELL
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
