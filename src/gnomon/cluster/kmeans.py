"""k-means: split rows into k groups, each around its mean.

Minimises  sum_i w_i min_k |x_i - c_k|^2  by turns: every row goes to its nearest centre, every
centre moves to the mean of its rows. The objective never rises; the end is a local minimum, so
start well or several times.

Texts: 000 8.2 · 001 18.2 · 002 "K-means" · 003 2.9.2 · 004 12.3.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from gnomon.cluster.bounds import FEW_ROWS, ElkanBounds, HamerlyBounds
from gnomon.cluster.centers import (
    STARTING_WORDS,
    CentrePredictor,
    given_centers,
    warn_fewer_clusters,
)
from gnomon.cluster.nearest import BLOCK_CELLS, Centers, Nearest, find_nearest
from gnomon.cluster.sparse_rows import dense_rows, for_dense_kernels, sparse_by_entries
from gnomon.cluster.starts import STARTS, SurveyedData, most_pieces
from gnomon.cluster.sums import ClusterSums, cluster_sums
from gnomon.contract import Data, Step, SumLearner
from gnomon.contract.inert import without_effect
from gnomon.engine.config import settings
from gnomon.engine.history import History
from gnomon.engine.parameters import HISTORY, JOBS, SEED, StrOptions, at_least, meant, whole
from gnomon.engine.registry import method
from gnomon.engine.stored import Array, Number
from gnomon.engine.sums import (
    ArraySource,
    Chunk,
    Source,
    add_up,
    chunks_per_block,
    joined,
    totals_of_blocks,
)
from gnomon.engine.threads import WORTH_THREADS, in_order, one_blas_thread, resolve_jobs

CAREFUL_STARTS = frozenset({"k-means++", "farthest-first"})
ROUNDING = 16 * np.finfo(np.float64).eps
SPAN_CELLS = 2**20  # numbers of a span of rows: 8 MB
# Shapes whose distances cost so much that one bound for each of them pays.
DEAR_COLUMNS, MANY_CLUSTERS, MOST_BOUNDS = 500, 32, 2**25
# Products of columns and centres that are worth a thread where bounds spare most of them, how much
# more a pass costs where they do not, and what one of those takes.
FEWEST_PRODUCTS, FEWEST_ROWS, HEAVIER, SECONDS_PER_PRODUCT = 2**22, 256, 4, 2e-10
# Objectives that differ by a smaller share count as equal; rounding of sums that are kept from pass
# to pass shows in the eleventh digit at most (`bounds.LEAST_SHARE`).
SAME_END = 1e-9
BOUNDS = {"hamerly": HamerlyBounds, "elkan": ElkanBounds}


class Total(NamedTuple):
    """The sums of a pass, and far rows for clusters that lost all theirs."""

    sums: ClusterSums
    far_rows: np.ndarray
    following: Centers | None = None


@method(
    task="group",
    texts='000b 8.2 · 001 18.2 · 002 "K-means" · 003 2.9.2 · 004 12.3',
    use="Compact groups of similar size around centres, on scaled numeric columns; also many rows.",
    avoid="Groups that are long, nested or of very different spread; columns on unlike scales.",
    peers=("sklearn.cluster.KMeans",),
)
@without_effect("verbose", "copy_x", "algorithm")
class KMeans(CentrePredictor, SumLearner):
    """Groups of rows around k centres, each the mean of its rows (Lloyd's algorithm, exact).

    Minimises ``sum_i w_i min_k |x_i - c_k|^2`` by turns: rows go to their nearest centre (of
    equally near ones to the first), centres move to the means of their rows, until no centre moves
    by more than `tol`. The objective never rises. Use it for compact groups of similar size, to
    quantise, to summarise many rows by few; scale the columns first. Do not use it for groups that
    are long, nested or of very different spread (a `GaussianMixture` has shapes), nor when
    outliers abound: each must go somewhere and drags a centre.

    A cluster that loses all its rows takes over the row that is farthest from its centre (of
    equally far ones the lexicographically smallest; of several empty clusters each takes another
    row), as the texts ask; it is the only repair, and deterministic.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of groups.
    init : {"k-means++", "random", "random-rows", "random-partition", "farthest-first", \
            "uniform", "first-centre-d2"}, callable or array-like of shape \
            (n_clusters, n_columns), default="k-means++"
        The first centres. "k-means++": rows drawn in proportion to their squared distance to the
        nearest centre so far, the best of 2 + log k draws (Arthur and Vassilvitskii).
        "random-rows", in another word "random": different rows (000, 004). "random-partition": the
        means of random groups of equal weight (004). "uniform": points uniform in the range of
        each column (001).
        "farthest-first": always the row that is farthest from the centres so far; outliers attract
        it. "first-centre-d2": what 000 prints for k-means++, all others drawn by squared distance
        to the first centre only; it lacks the guarantee. A callable is given the rows, `n_clusters`
        and a RandomState, and returns the centres.
    n_init : int or "auto", default="auto"
        Number of starts, of which the one with the lowest objective is kept; "auto" is 1 for
        "k-means++", "farthest-first" and given centres, else 10.
    max_iter : int, default=300
        Most passes of one start.
    tol : float, default=1e-4
        Ends when the centres' squared movement, summed, is at most `tol` times the mean variance
        of the columns; 0 ends when no label changes.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start.
    bounds : {"auto", "none", "hamerly", "elkan"}, default="auto"
        Which bounds save distances; the result is the same to the bit (``history_`` to rounding).
        "hamerly" keeps 28 bytes per row, "elkan" 8 per row and cluster. "auto"
        is "none" for rows that are streamed; in memory "elkan" for 32 clusters or more in 500
        columns or more, where a distance costs most (and its bounds no more than 256 MB), else
        "hamerly".
    n_jobs : int or None, default=None
        Threads; None for one per processor. The result does not depend on it.
    keep_history : {"objective", "full"}, default="objective"
        "full" keeps the centres of every pass in ``history_.states``.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_columns)
        The centres.
    labels_ : ndarray of shape (n_samples,)
        The group of each row that was given to ``fit``.
    inertia_ : float
        The objective at the end.
    n_iter_ : int
        Passes of the best start.
    history_ : History
        The objective at each pass: with the centres that the pass began with.
    n_features_in_ : int
        Number of columns seen in ``fit``.

    See Also
    --------
    gnomon.density.GaussianMixture : Groups with shapes and soft membership.

    Notes
    -----
    Texts: 000 8.2 (empty clusters repaired by a far row; there drawn at random among far rows),
    001 18.2, 002 "K-means", 003 2.9.2, 004 12.3 (the objective is its quantisation error, eq.
    12.7). 001 and 002 end on a fixed movement of the centres; here it is relative to the variance,
    as in scikit-learn, so that units do not matter.

    Why it is fast: distances are one matrix product per block of rows that stays in cache, with a
    fused search of the two smallest; Hamerly's bounds then prove for most rows, in most passes,
    that their centre is still the nearest, without a look at them: sums of clusters change only by
    rows that move.

    Examples
    --------
    >>> from gnomon.cluster import KMeans
    >>> model = KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(model.cluster_centers_.ravel().tolist())
    [0.5, 9.5]
    >>> model.inertia_
    1.0
    """

    _parameter_constraints = {
        "n_clusters": [whole(1)],
        "init": [STARTING_WORDS, callable, "array-like"],
        "n_init": [StrOptions({"auto"}), whole(1)],
        "max_iter": [whole(1)],
        "tol": [at_least(0)],
        "bounds": [StrOptions({"auto", "none", *BOUNDS})],
        "random_state": SEED,
        "n_jobs": JOBS,
        "keep_history": HISTORY,
    }
    _stored = {
        "inertia_": Number(),
        "labels_": Array("i4", (None,), low=0, below="n_clusters"),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        verbose=0,
        random_state=None,
        copy_x=True,
        algorithm="lloyd",
        bounds="auto",
        n_jobs=None,
        keep_history="objective",
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.bounds = bounds
        self.n_jobs = n_jobs
        self.keep_history = keep_history

    def _learn(self, X, y, sample_weight):
        vars(self).pop("labels_", None)
        super()._learn(X, y, sample_weight)
        if not hasattr(self, "labels_"):
            self.labels_ = self.predict(X)
        return self

    def _fit(self, data: Data) -> None:
        if data.n_rows < self.n_clusters:
            raise ValueError(
                f"n_samples={data.n_rows} should be >= n_clusters={self.n_clusters}: there are "
                "fewer rows (of positive weight) than clusters; choose fewer clusters"
            )
        if not isinstance(self.init, str) and self.n_init not in ("auto", 1) and self._is_given():
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=8,
            )
        chosen = sparse_by_entries(data, self.n_clusters) if self._takes_entries(data) else None
        super()._fit(SurveyedData.of(chosen or for_dense_kernels(data), self.n_jobs))

    def _takes_entries(self, data: Data) -> bool:
        """Whether rows are sparse and stay so: bounds are for dense ones."""
        source = data.source
        in_memory = isinstance(source, ArraySource) and settings().executor is None
        return in_memory and sp.issparse(source.rows) and self.bounds in ("auto", "none")

    def _is_given(self) -> bool:
        """Whether the first centres are given as an array."""
        return not isinstance(self.init, str) and not callable(self.init)

    def _run(self, data: Data, rng: np.random.Generator) -> tuple[Any, History]:
        with one_blas_thread():  # held once, not once per pass
            return super()._run(data, rng)

    def _starts(self) -> int:
        if self._is_given():
            return 1
        if self.n_init == "auto":
            return 1 if self.init in CAREFUL_STARTS else 10
        return self.n_init

    def _start(self, data: SurveyedData, rng: np.random.Generator) -> dict[str, Any]:
        if isinstance(self.init, str):
            centers = STARTS[meant(self, "init")](data, self.n_clusters, rng)
        elif callable(self.init):
            seed = np.random.RandomState(int(rng.integers(2**31)))
            centers = self.init(data.rows, self.n_clusters, random_state=seed)
            centers = given_centers(centers, self.n_clusters, data.n_columns)
        else:
            centers = given_centers(self.init, self.n_clusters, data.n_columns)
        return {
            "centers": Centers.at(centers, data.mean),
            "least_movement": self.tol * float(data.variances.mean()) if self.tol > 0 else 0.0,
            "bounds": self._chosen_bounds(data.source),
        }

    def _bounds_for(self, n_rows: int, n_columns: int) -> str:
        """Those that were asked for, or the quickest for rows in memory of this shape."""
        if self.bounds != "auto":
            return self.bounds
        dear = n_columns >= DEAR_COLUMNS and self.n_clusters >= MANY_CLUSTERS
        return "elkan" if dear and n_rows * self.n_clusters <= MOST_BOUNDS else "hamerly"

    def _chosen_bounds(self, source: Source):
        chosen = self._bounds_for(source.n_rows, source.n_columns)
        remote = settings().executor is not None
        dense = isinstance(source, ArraySource) and not sp.issparse(source.rows)
        if self.bounds == "auto" and (remote or not dense):
            chosen = "none"
        if chosen == "none":
            return None
        if remote:
            raise ValueError(
                f"bounds={chosen!r} keeps numbers per row in this process and cannot be used with "
                "an executor; use bounds='none' or 'auto'"
            )
        return BOUNDS[chosen](source.n_rows, self.n_clusters)

    def _total(self, state: dict[str, Any], source: Source) -> Total:
        following = None
        if state["bounds"] is None:
            sums = super()._total(state, source)
        else:
            least = state["least_movement"]
            sums, following = next_pass(
                state["bounds"], state["centers"], source, self.n_jobs, least
            )
        return self._with_far_rows(sums, state["centers"], source)._replace(following=following)

    def _with_far_rows(self, sums: ClusterSums, centers: Centers, source: Source) -> Total:
        n_empty = int(np.count_nonzero(sums.weight == 0))
        if n_empty == 0:
            return Total(sums, np.empty((0, source.n_columns)))
        return Total(sums, farthest_rows(source, centers, n_empty, self.n_jobs))

    def _sums(self, state: dict[str, Any], chunk: Chunk) -> ClusterSums:
        found = find_nearest(chunk.rows, state["centers"], Nearest.of(chunk.rows.shape[0]))
        return cluster_sums(chunk, state["centers"], found)

    def _update(self, state: dict[str, Any], total: Total) -> Step:
        centers: Centers = state["centers"]
        following = total.following
        if following is None:
            following = Centers.at(moved_centers(centers, total), centers.shift)
        gap = following.points - centers.points
        movement = float(np.vdot(gap, gap))
        state = state | {"centers": following, "before": centers}
        return Step(state, total.sums.objective, movement <= state["least_movement"])

    def _attributes(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"cluster_centers_": state["centers"].points}

    def _replayable(self, state: dict[str, Any]) -> dict[str, Any]:
        return {"cluster_centers": state["centers"].points.copy()}

    def _end(self, state: dict[str, Any], data: Data) -> None:
        bounds, source = state["bounds"], data.source
        if bounds is None:
            labels, self.inertia_ = labeled(source, self._prepared(), self.n_jobs)
        else:
            centers = state["centers"]
            if source.n_rows > FEW_ROWS:
                centers = self._moved_again(bounds, state["before"], source)
                self._keep(self._attributes({"centers": centers}))
            sums = closing_pass(bounds, centers, source, self.n_jobs)
            labels, self.inertia_ = bounds.labels, sums.objective
        if data.kept is None:
            self.labels_ = labels
        warn_fewer_clusters(labels, self.n_clusters)
        if self.history_.stopped == "max_iter":
            warnings.warn(
                f"KMeans has not converged in max_iter={self.max_iter} passes (objective "
                f"{self.history_[-1]:.6g}); increase max_iter or tol (now {self.tol:g})",
                ConvergenceWarning,
                stacklevel=2,
            )

    def _moved_again(self, bounds, before: Centers, source: Source) -> Centers:
        """The last centres as a pass without bounds sums them up, to the bit."""
        sums = closing_pass(bounds, before, source, self.n_jobs)
        total = self._with_far_rows(sums, before, source)
        return Centers.at(moved_centers(before, total), before.shift)

    def _better(self, one: History, other: History) -> bool:
        # of starts that end alike the first is kept, whatever the rounding of their sums
        return one[-1] < other[-1] - SAME_END * abs(other[-1])

    def _working_memory(self, n_rows: int, n_columns: int) -> int:
        threads = resolve_jobs(self.n_jobs)
        chunk = min(rows_per_span(n_rows, n_columns, self.n_clusters), n_rows)
        centers = self.n_clusters * n_columns
        passing = threads * (2 * BLOCK_CELLS + 12 * chunk + 4 * centers)
        many = self._bounds_for(n_rows, n_columns) == "elkan"
        per_row = 12 + (2 * self.n_clusters if many else 0)
        pieces = 0
        if isinstance(self.init, str) and self.init == "random-partition":
            pieces = most_pieces(n_rows, self.n_clusters)
        return 8 * (per_row * n_rows // 2 + passing + 8 * centers + pieces)

    def _memory_remedy(self) -> str:
        if self.bounds == "elkan":
            return "Use bounds='hamerly'."
        return "Stream the rows with gnomon.table.scan."


def rows_per_span(n_rows: int, n_columns: int, n_centers: int, heavy: bool = False) -> int:
    """Rows in a chunk of a pass by bounds: long ones, as most rows cost next to nothing.

    A quarter of the rows, but no fewer than make it worth while to wake a thread; `heavy`: where
    most rows are compared with all centres.
    """
    fewest = FEWEST_PRODUCTS // (n_centers * max(n_columns, 1) * (HEAVIER if heavy else 1))
    most = max(SPAN_CELLS // max(n_columns, 1), FEWEST_ROWS)
    return min(max(-(-n_rows // 4), fewest, FEWEST_ROWS), most)


def moved_centers(centers: Centers, total: Total) -> np.ndarray:
    """The means of the clusters, and far rows for those that have none."""
    weight = total.sums.weight
    held = weight > 0
    if held.all():
        return centers.shift + total.sums.total / weight[:, None]
    moved = centers.points.copy()
    moved[held] = centers.shift + total.sums.total[held] / weight[held, None]
    emptied = np.flatnonzero(~held)[: len(total.far_rows)]
    moved[emptied] = total.far_rows
    return moved


def next_pass(
    bounds, centers: Centers, source: Source, n_jobs: int | None, least_movement: float
) -> tuple[ClusterSums, Centers | None]:
    """The sums of a pass by bounds and, where it was made together with others, what follows."""
    if not (bounds.ahead and bounds.ahead[-1].centers is centers):
        bounds.begin_pass(centers)
        spans, seconds = in_spans(source, centers, bounds.heavy)
        if (
            not bounds.light
            or not isinstance(spans, ArraySource)
            or not is_short(spans, centers, resolve_jobs(n_jobs))
        ):
            return rest_of_pass(bounds, centers, spans, n_jobs, seconds), None
        size = spans.chunk_rows
        [rows] = replace(spans, size=max(source.n_rows, size)).chunks()
        with one_blas_thread():
            bounds.pass_ahead(rows, centers, least_movement, size)
        if bounds.rounded:
            last = bounds.ahead[0]
            bounds.ahead[0] = last._replace(sums=exact_pass(bounds, last.centers, source, n_jobs))
    made = bounds.ahead.pop()
    return made.sums, made.following if (made.sums.weight > 0).all() else None


def exact_pass(bounds, centers: Centers, source: Source, n_jobs: int | None) -> ClusterSums:
    """A pass by bounds that sums the objective to the last digit."""
    bounds.begin_pass(centers, exact=True)
    spans, seconds = in_spans(source, centers, bounds.heavy)
    return rest_of_pass(bounds, centers, spans, n_jobs, seconds)


def closing_pass(bounds, centers: Centers, source: Source, n_jobs: int | None) -> ClusterSums:
    """A pass by bounds that adds all rows in the chunks, and so to the bits, of one without."""
    bounds.begin_pass(centers, anew=True)
    return bounds.end_pass(centers, add_up(partial(bounds.sums, centers=centers), source, n_jobs))


def rest_of_pass(bounds, centers: Centers, spans, n_jobs, seconds: float | None) -> ClusterSums:
    """The sums of all rows in a pass that has begun."""
    changes = add_up(partial(bounds.sums, centers=centers), spans, n_jobs, seconds)
    sums = bounds.end_pass(centers, changes)
    return exact_pass(bounds, centers, spans, n_jobs) if bounds.rounded else sums


def is_short(spans: ArraySource, centers: Centers, threads: int) -> bool:
    """Whether a pass is of few chunks, of one block, and not worth sharing among the threads."""
    if spans.in_one or spans.n_rows > FEW_ROWS:
        return spans.in_one
    in_a_block = spans.n_rows <= spans.chunk_rows * chunks_per_block(spans.n_columns)
    seconds = spans.n_rows * centers.points.size * SECONDS_PER_PRODUCT
    return in_a_block and (threads == 1 or seconds < WORTH_THREADS)


def in_spans(source: Source, centers: Centers, heavy: bool) -> tuple[Source, float | None]:
    """Rows in chunks for a pass by bounds, and how long a chunk takes, where that is known."""
    if not isinstance(source, ArraySource) or source.n_rows <= FEW_ROWS:
        return source, None
    k, d = centers.points.shape
    size = rows_per_span(source.n_rows, d, k, heavy)
    seconds = size * k * d * SECONDS_PER_PRODUCT if heavy else None
    return replace(source, size=size), seconds


def labeled(source: Source, centers: Centers, n_jobs: int | None) -> tuple[np.ndarray, float]:
    """The nearest centre of every row, and the objective."""
    labels = np.empty(source.n_rows, np.int32)

    def label(chunk: Chunk) -> tuple[float]:
        found = find_nearest(chunk.rows, centers, Nearest.of(chunk.rows.shape[0]))
        labels[chunk.start : chunk.stop] = found.labels
        return (cluster_sums(chunk, centers, found).objective,)

    parts = in_order(label, source.chunks(), n_jobs, short=True)
    [objective] = joined(totals_of_blocks(parts, chunks_per_block(source.n_columns)))
    return labels, objective


def farthest_rows(source: Source, centers: Centers, count: int, n_jobs: int | None) -> np.ndarray:
    """Up to `count` different rows that are farthest from their centres, none at a centre.

    A row that differs from its centre by rounding only is at it: a mean of equal rows may do so.
    """

    def farthest_of(chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
        rows = dense_rows(chunk.rows)
        found = find_nearest(rows, centers, Nearest.of(len(rows)))
        lengths = np.einsum("nd,nd->n", rows, rows) + centers.shift @ centers.shift
        away = (chunk.weights > 0) & (found.squared > ROUNDING**2 * lengths)
        return pick_farthest(rows, found.squared * away, count)

    parts = list(in_order(farthest_of, source.chunks(), n_jobs))
    rows, squared = (np.concatenate(each) for each in zip(*parts))
    return pick_farthest(rows, squared, count)[0]


def pick_farthest(
    rows: np.ndarray, squared: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The `count` different rows of largest `squared`; the lexicographically smallest of equals."""
    left = squared.copy()
    picked: list[int] = []
    while len(picked) < count and left.max(initial=0.0) > 0:
        ties = np.flatnonzero(left == left.max())
        first = ties[np.lexsort(rows[ties].T[::-1])[0]]
        picked.append(first)
        left[(rows == rows[first]).all(axis=1)] = 0.0
    return rows[picked], squared[picked]
