"""Maps from distances: principal coordinates, stress, Sammon's mapping, order alone.

Principal coordinates: W = -1/2 A D^2 A with A = I - 11'/n holds the inner products of centred rows
with these distances; its leading eigenvectors times the roots of their values are the map. Stress:
places p_i with the least  sum_{i<j} w_ij (d_ij - |p_i - p_j|)^2.

Texts: 000a 6.2 · 000c 19.1 · 003 2.7.3 · 004 16.1.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
from scipy.optimize import OptimizeResult, minimize
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import isotonic_regression
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from gnomon.contract.numbers import number_rows
from gnomon.contract.result import Result
from gnomon.engine import memory
from gnomon.engine.errors import DataError, GnomonWarning
from gnomon.engine.threads import Crew, one_blas_thread
from gnomon.neighbors.pairwise import checked_dissimilarities
from gnomon.reduce.spectrum import leading_pairs
from gnomon.reduce.stress_kernels import pair_stress, table_stress

ITEMS_TOGETHER = 256  # judgement: one turn of a thread


@dataclass(repr=False)
class DistanceMap(Result):
    """Places of items on a map.

    Attributes
    ----------
    places : ndarray of shape (n, k)
    objective : float
        What was minimised, at the end; for principal coordinates the raw objective.
    relative_error : float
        ``sqrt(sum w (d - |p_i - p_j|)^2 / sum w d^2)`` over the pairs.
    n_iter : int
        Steps made.
    converged : bool
    history : list of float
        The objective after each step.
    eigenvalues : ndarray or None
        Of principal coordinates: all, negative ones too.
    negative_share : float
        Of principal coordinates: the negative eigenvalues' part of the sum of sizes. Above zero the
        distances are not those of points in a space.
    method : str
    stress : float or None
        Of ordinal maps: Kruskal's stress 1, which does not depend on the scale.
    items : list or None
        Names of the items; numbers where None.
    """

    places: np.ndarray
    objective: float
    relative_error: float
    n_iter: int = 0
    converged: bool = True
    history: list[float] = field(default_factory=list)
    eigenvalues: np.ndarray | None = None
    negative_share: float = 0.0
    method: str = ""
    stress: float | None = None
    items: list | None = None

    def _title(self) -> str:
        n, k = self.places.shape
        end = "" if self.converged else ", stopped before it had converged"
        fit = f"relative error {self.relative_error:.4g}"
        if self.stress is not None:
            fit = f"Kruskal's stress {self.stress:.4g}"
        return f"{self.method}: {n} items in {k} dimensions, {fit}{end}"

    def _columns(self) -> dict[str, list]:
        names = range(len(self.places)) if self.items is None else self.items
        columns: dict[str, list] = {"item": list(names)}
        for c in range(self.places.shape[1]):
            columns[f"coordinate {c + 1}"] = list(self.places[:, c])
        return columns


def _require_table(n: int, tables: int, what: str) -> None:
    memory.require(
        8 * tables * n * n, f"{what} of {n:,} items", "Map fewer items (centres of groups, say)."
    )


def _as_table(distances: Any, missing: bool = False) -> np.ndarray:
    try:
        table = np.asarray(distances, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a table of distances holds numbers alone: {error}. Make names of items the index of "
            "the frame"
        ) from None
    if table.ndim == 1:
        table = squareform(table)
    if not missing and np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise DataError(
            f"the distance of items {row} and {column} is missing: map by stress_map, which leaves "
            "missing pairs out, or fill them by complete_by_paths"
        )
    return checked_dissimilarities(table, missing=missing)


def _item_names(given: Any) -> list | None:
    """The index of a pandas frame, unless it only counts; else the columns of a square one."""
    if not hasattr(given, "iloc"):
        return None
    counted = list(range(len(given)))
    for names in (given.index.tolist(), given.columns.tolist()):
        if len(names) == len(given) and names != counted:
            return names
    return None


def _row_distances(rows: np.ndarray) -> np.ndarray:
    if rows.shape[0] == rows.shape[1] and (rows == rows.T).all() and not np.diag(rows).any():
        warnings.warn(
            "X is read as rows, and looks like a table of distances (symmetric, zero on its "
            "diagonal): use metric='precomputed' if it is one",
            GnomonWarning,
            stacklevel=3,
        )
    _require_table(len(rows), 3, "a table of distances")
    return squareform(pdist(rows))


def principal_coordinates(distances: Any, n_components: int = 2) -> DistanceMap:
    """The map whose inner products are nearest to those that the distances imply.

    Classical scaling: the leading eigenvectors of ``-1/2 A D^2 A`` times the roots of their values.
    Distances of points in a space of k dimensions are reproduced exactly with k coordinates. Large
    distances decide; for others see `stress_map` and `sammon`. Distances that no points have give
    negative eigenvalues, which have no coordinates: ``negative_share`` says how much.

    Texts: 000a 6.2 (Procedure 6.2 prints +1/2 where -1/2 must stand), 003 2.7.3.

    Parameters
    ----------
    distances : array-like of shape (n, n) or condensed
    n_components : int, default=2

    Returns
    -------
    map : DistanceMap

    Examples
    --------
    >>> found = principal_coordinates([[0, 3, 5], [3, 0, 4], [5, 4, 0]])
    >>> round(found.relative_error, 9)
    0.0
    """
    table = _as_table(distances)
    n = len(table)
    if not 1 <= n_components <= n:
        raise DataError(f"n_components={n_components} must lie between 1 and {n}, the items")
    _require_table(n, 4, "principal coordinates")
    inner = inner_products(table)
    values, vectors = leading_pairs(inner, n_components)
    every = scipy.linalg.eigvalsh(inner)[::-1]
    sizes = np.abs(every).sum()
    negative = float(-every[every < -1e-10 * sizes].sum() / sizes) if sizes > 0 else 0.0
    places = vectors * np.sqrt(np.maximum(values, 0.0))
    return DistanceMap(
        places,
        raw_stress(table, places).total,
        _relative_error(table, places),
        eigenvalues=every,
        negative_share=negative,
        method="principal coordinates",
        items=_item_names(distances),
    )


def inner_products(table: np.ndarray) -> np.ndarray:
    """Inner products of centred points with these distances: -1/2 A D^2 A."""
    squares = table**2
    means = squares.mean(axis=0)
    return -0.5 * (squares - means - means[:, np.newaxis] + means.mean())


def _relative_error(table: np.ndarray, places: np.ndarray, weights: np.ndarray | None = None):
    flat, far = squareform(table, checks=False), pdist(places)
    known = ~np.isnan(flat)
    share = np.ones(len(flat)) if weights is None else squareform(weights, checks=False)
    flat, far, share = flat[known], far[known], share[known]
    size = (share * flat**2).sum()
    return float(np.sqrt((share * (flat - far) ** 2).sum() / size)) if size > 0 else 0.0


@dataclass(repr=False)
class RawStress(Result):
    """The raw objective of a map, and each item's part.

    Attributes
    ----------
    total : float
        ``sum_ij (D_ij^2 - |p_i - p_j|^2)^2`` over ordered pairs.
    items : ndarray of shape (n,)
        Each item's part.
    pairs : ndarray of shape (n, n)
        ``D_ij^2 - |p_i - p_j|^2``.
    """

    total: float
    items: np.ndarray
    pairs: np.ndarray

    def _title(self) -> str:
        return f"Raw stress {self.total:.6g}"

    def _columns(self) -> dict[str, list]:
        return {"item": list(range(len(self.items))), "part": list(self.items)}


def raw_stress(distances: Any, places: Any) -> RawStress:
    """How far squared distances on a map are from those given (000a 6.2.1).

    Parameters
    ----------
    distances : array-like of shape (n, n) or condensed
    places : array-like of shape (n, k)

    Returns
    -------
    stress : RawStress

    Examples
    --------
    >>> raw_stress([[0, 1], [1, 0]], [[0.0], [2.0]]).total
    18.0
    """
    table = _as_table(distances)
    places = check_array(places, dtype=np.float64)
    if len(places) != len(table):
        raise DataError(f"there are {len(table)} items and {len(places)} places")
    errors = table**2 - squareform(pdist(places, "sqeuclidean"))
    items = (errors**2).sum(axis=1)
    return RawStress(float(items.sum()), items, errors)


class _TableObjective:
    """Stress of all pairs of a table, on threads; one number and a gradient for a flat vector."""

    def __init__(self, table: np.ndarray, weights: np.ndarray | None, crew: Crew):
        self.table = np.ascontiguousarray(table)
        self.weights = np.ones((1, 1)) if weights is None else np.ascontiguousarray(weights)
        self.crew = crew
        n = len(table)
        self.blocks = [(s, min(s + ITEMS_TOGETHER, n)) for s in range(0, n, ITEMS_TOGETHER)]

    def __call__(self, places: np.ndarray) -> tuple[float, np.ndarray]:
        """Stress over unordered pairs and its gradient; places (k, n)."""
        k, n = places.shape

        def part(block):
            gradient, stress = np.zeros((k, n)), np.zeros(n)
            table_stress(places, self.table, self.weights, *block, gradient, stress)
            return gradient, stress.sum()

        parts = self.crew.each(part, self.blocks)
        gradient = parts[0][0]
        for other, _ in parts[1:]:
            gradient += other
        return float(sum(each for _, each in parts)) / 2, gradient


class PairObjective:
    """Stress of listed pairs."""

    def __init__(self, pairs: np.ndarray, distances: np.ndarray, weights: np.ndarray):
        self.pairs = np.ascontiguousarray(pairs, dtype=np.int64)
        self.distances = np.ascontiguousarray(distances, dtype=np.float64)
        self.weights = np.ascontiguousarray(weights, dtype=np.float64)

    def __call__(self, places: np.ndarray) -> tuple[float, np.ndarray]:
        gradient = np.zeros_like(places)
        total = pair_stress(places, self.pairs, self.distances, self.weights, gradient)
        return float(total), gradient


@one_blas_thread()
def descend(objective, start: np.ndarray, max_iter: int, tol: float):
    """Minimise by L-BFGS from places (n, k); the places, and SciPy's result with a history."""
    n, k = start.shape
    history: list[float] = []

    def flat(values: np.ndarray) -> tuple[float, np.ndarray]:
        found, gradient = objective(np.ascontiguousarray(values.reshape(k, n)))
        return found, gradient.ravel()

    first = np.ascontiguousarray(start.T).ravel()
    if max_iter == 0:  # SciPy would make one step
        result = OptimizeResult(x=first, fun=flat(first)[0], nit=0)
        return start - start.mean(axis=0), result, history
    result = minimize(
        flat,
        first,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: history.append(float(intermediate_result.fun)),
        options={"maxiter": max_iter, "ftol": tol, "gtol": 1e-12, "maxcor": 10, "maxfun": 10**9},
    )
    places = result.x.reshape(k, n).T
    return np.ascontiguousarray(places - places.mean(axis=0)), result, history


def stress_map(
    distances: Any,
    n_components: int = 2,
    *,
    weights: Any = None,
    start: Any = "coordinates",
    n_init: int = 1,
    max_iter: int = 1000,
    tol: float = 1e-9,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DistanceMap:
    """The map with the least ``sum_{i<j} w_ij (d_ij - |p_i - p_j|)^2``.

    Metric scaling. Pairs may be missing (NaN): they have no term. The end is a local minimum: start
    several times from random places, or once from principal coordinates. Minimised by L-BFGS, whose
    steps cost one pass over the table; ``1/d^2`` weights make errors relative.

    Texts: 004 16.1 (which descends the plain gradient).

    Parameters
    ----------
    distances : array-like of shape (n, n) or condensed
        NaN where a pair is not known.
    n_components : int, default=2
    weights : None, "relative" or array-like of shape (n, n), default=None
        None for one everywhere; "relative" for 1 / d^2, where d = 0 is refused.
    start : {"coordinates", "random"} or array-like of shape (n, n_components)
        Principal coordinates (missing pairs: shortest paths through known ones), random places,
        or given places.
    n_init : int, default=1
        Starts; those after the first are random. The best is kept.
    max_iter : int, default=1000
    tol : float, default=1e-9
        Stop when a step's relative gain is less.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.

    Returns
    -------
    map : DistanceMap

    Examples
    --------
    >>> found = stress_map([[0, 3, 5], [3, 0, 4], [5, 4, 0]])
    >>> found.objective < 1e-9
    True
    """
    table = _as_table(distances, missing=True)
    _require_table(len(table), 6, "a stress map")
    shares = _pair_weights(table, weights)
    places = _start(table, n_components, start, check_random_state(random_state))
    rng = check_random_state(random_state)
    best = None
    with Crew(n_jobs) as crew:
        known = np.nan_to_num(table)
        objective = _TableObjective(known, shares, crew)
        for attempt in range(n_init):
            if attempt:
                places = _random_places(table, n_components, rng)
            found = descend(objective, places, max_iter, tol)
            if best is None or found[1].fun < best[1].fun:
                best = found
    assert best is not None
    placed, result, history = best
    return DistanceMap(
        placed,
        float(result.fun),
        _relative_error(table, placed, shares),
        int(result.nit),
        result.nit < max_iter,
        history,
        method="stress map",
        items=_item_names(distances),
    )


def _pair_weights(table: np.ndarray, weights: Any) -> np.ndarray | None:
    gone = np.isnan(table)
    if weights is None:
        if not gone.any():
            return None
        return np.where(gone, 0.0, 1.0)
    if isinstance(weights, str):
        if weights != "relative":
            raise DataError(f"weights={weights!r} must be None, 'relative' or a table")
        zero = (table == 0) & ~np.eye(len(table), dtype=bool)
        if zero.any():
            i, j = np.argwhere(zero)[0]
            raise DataError(f"items {i} and {j} have distance 0: weights 1 / d^2 are infinite")
        with np.errstate(divide="ignore"):
            shares = 1 / table**2
        np.fill_diagonal(shares, 0.0)
        return np.where(gone, 0.0, shares)
    shares = checked_dissimilarities(np.where(np.eye(len(table), dtype=bool), 0.0, weights))
    return np.where(gone, 0.0, shares)


def _start(table: np.ndarray, k: int, start: Any, rng) -> np.ndarray:
    if not isinstance(start, str):
        places = check_array(start, dtype=np.float64)
        if places.shape != (len(table), k):
            raise DataError(f"start has shape {places.shape}, not {(len(table), k)}")
        return places
    if start == "random":
        return _random_places(table, k, rng)
    if start != "coordinates":
        raise DataError(f"start={start!r} must be 'coordinates', 'random' or places")
    if np.isnan(table).any():
        table = complete_by_paths(table)
    if k > len(table):
        raise DataError(f"n_components={k} must be at most {len(table)}, the items")
    values, vectors = leading_pairs(inner_products(table), k)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _random_places(table: np.ndarray, k: int, rng) -> np.ndarray:
    size = np.sqrt(np.nanmean(table**2) / (2 * k)) if len(table) > 1 else 1.0
    return rng.standard_normal((len(table), k)) * max(size, 1e-12)


def complete_by_paths(distances: Any) -> np.ndarray:
    """Fill missing distances by the shortest paths through known ones (004 16.3).

    Parameters
    ----------
    distances : array-like of shape (n, n)
        NaN where not known. Known ones stay, also where a path is shorter.

    Returns
    -------
    table : ndarray of shape (n, n)

    Examples
    --------
    >>> nan = float("nan")
    >>> complete_by_paths([[0, 1, nan], [1, 0, 2], [nan, 2, 0]])[0].tolist()
    [0.0, 1.0, 3.0]
    """
    from scipy.sparse.csgraph import connected_components, csgraph_from_dense, shortest_path

    table = _as_table(distances, missing=True)
    graph = csgraph_from_dense(table, null_value=np.nan)
    n_parts, part = connected_components(graph, directed=False)
    if n_parts > 1:
        sizes = np.bincount(part)
        raise DataError(
            f"the known distances fall into {n_parts} parts that nothing joins (of sizes "
            f"{', '.join(map(str, sizes[:5]))}{' ...' if n_parts > 5 else ''}): map each part by "
            "itself, or give distances between them"
        )
    return np.where(np.isnan(table), shortest_path(graph, directed=False), table)


def sammon(
    X: Any,
    n_components: int = 2,
    *,
    metric: str = "euclidean",
    start: Any = "coordinates",
    duplicates: str = "refuse",
    max_iter: int = 1000,
    tol: float = 1e-9,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DistanceMap:
    """Sammon's mapping: the least ``(1 / sum d) sum_{i<j} (d_ij - |p_i - p_j|)^2 / d_ij``.

    Small distances count more than in a plain stress map. One extremely close pair may dominate.
    There is no map of new rows. Minimised by L-BFGS.

    Texts: 000c 19.1.1.

    Parameters
    ----------
    X : array-like of shape (n, d), or (n, n) with metric="precomputed"
    n_components : int, default=2
    metric : {"euclidean", "precomputed"}, default="euclidean"
    start : {"coordinates", "random"} or array-like of shape (n, n_components)
    duplicates : {"refuse", "together"}, default="refuse"
        Items of distance 0 would divide by it: refuse them, or place them together.
    max_iter : int, default=1000
    tol : float, default=1e-9
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    map : DistanceMap
        ``objective`` is Sammon's stress.

    Examples
    --------
    >>> found = sammon([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> found.objective < 1e-9
    True
    """
    if metric not in ("euclidean", "precomputed"):
        raise DataError(f"metric={metric!r} must be 'euclidean' or 'precomputed'")
    table = _as_table(X) if metric == "precomputed" else _row_distances(number_rows(X))
    _require_table(len(table), 6, "Sammon's mapping")
    first, place = _merged(table, duplicates)
    small = np.ascontiguousarray(table[np.ix_(first, first)])
    counts = np.bincount(place).astype(np.float64)
    with np.errstate(divide="ignore"):
        shares = np.outer(counts, counts) / small
    np.fill_diagonal(shares, 0.0)
    total = table.sum() / 2
    if total == 0:
        raise DataError("all items are the same: there is no distance to map")
    begin = start if isinstance(start, str) else np.asarray(start, dtype=np.float64)[first]
    begin = _start(small, n_components, begin, check_random_state(random_state))
    with Crew(n_jobs) as crew:
        objective = _TableObjective(small, shares / total, crew)
        placed, result, history = descend(objective, begin, max_iter, tol)
    return DistanceMap(
        placed[place],
        float(result.fun),
        _relative_error(table, placed[place]),
        int(result.nit),
        result.nit < max_iter,
        history,
        method="Sammon's mapping",
        items=_item_names(X),
    )


def _merged(table: np.ndarray, duplicates: str) -> tuple[np.ndarray, np.ndarray]:
    """Items that differ, and for each item the number of its equal among them."""
    if duplicates not in ("refuse", "together"):
        raise DataError(f"duplicates={duplicates!r} must be 'refuse' or 'together'")
    first = np.argmax(table == 0, axis=1)
    if duplicates == "refuse" and (first != np.arange(len(table))).any():
        j = int(np.argmax(first != np.arange(len(table))))
        raise DataError(
            f"items {first[j]} and {j} have distance 0, which Sammon's stress divides by: leave "
            "one out, or use duplicates='together'"
        )
    kept, place = np.unique(first, return_inverse=True)
    return kept, place


def ordinal_map(
    distances: Any,
    n_components: int = 2,
    *,
    start: Any = "coordinates",
    max_iter: int = 500,
    tol: float = 1e-7,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> DistanceMap:
    """A map that keeps the order of distances alone (non-metric scaling, Kruskal).

    By turns: the nearest rising sequence to the map's distances in the order of the given ones
    (isotonic regression), and one step of majorisation towards it, which never raises
    ``sum (dhat_ij - |p_i - p_j|)^2``. The objective is Kruskal's stress 1, the root of its share of
    ``sum |p_i - p_j|^2``. Order says nothing of size: the map is scaled to the given distances.

    Parameters
    ----------
    distances : array-like of shape (n, n) or condensed
    n_components : int, default=2
    start : {"coordinates", "random"} or array-like of shape (n, n_components)
    max_iter : int, default=500
    tol : float, default=1e-7
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None

    Returns
    -------
    map : DistanceMap

    Examples
    --------
    >>> found = ordinal_map([[0, 1, 100], [1, 0, 50], [100, 50, 0]], 1)
    >>> found.objective < 1e-6
    True
    """
    table = _as_table(distances)
    n = len(table)
    _require_table(n, 8, "an ordinal map")
    places = _start(table, n_components, start, check_random_state(random_state))
    order = np.argsort(squareform(table, checks=False), kind="stable")
    history: list[float] = []
    wanted = np.empty(len(order))
    with Crew(n_jobs) as crew:
        for step in range(max_iter):
            far = pdist(places)
            size = np.sqrt((far**2).sum())
            if size == 0:
                break
            wanted[order] = isotonic_regression(far[order])
            history.append(float(np.sqrt(((wanted - far) ** 2).sum()) / size))
            if history[-1] < 1e-12 or (step and history[-2] - history[-1] <= tol * history[-1]):
                break
            _, gradient = _TableObjective(squareform(wanted), None, crew)(
                np.ascontiguousarray(places.T)
            )
            places = places - gradient.T / (2 * n)
    places = _in_units_of(table, places - places.mean(axis=0))
    stress = history[-1] if history else 0.0
    return DistanceMap(
        places,
        stress,
        _relative_error(table, places),
        len(history),
        len(history) < max_iter,
        history,
        method="ordinal map",
        stress=stress,
        items=_item_names(distances),
    )


def _in_units_of(table: np.ndarray, places: np.ndarray) -> np.ndarray:
    """A map scaled so that its distances come as near as can be to those of the table."""
    far = pdist(places)
    size = float(far @ far)
    return places * (float(far @ squareform(table, checks=False)) / size) if size > 0 else places


@dataclass(repr=False)
class Alignment(Result):
    """One map turned, moved and scaled onto another.

    Attributes
    ----------
    places : ndarray of shape (n, k)
        The moved map, in the units of the target.
    rotation : ndarray of shape (k, k)
    scale : float
    shift : ndarray of shape (k,)
        ``places = scale * given @ rotation + shift``.
    disparity : float
        Squared error over the target's squares around its mean: 0 where both agree.
    """

    places: np.ndarray
    rotation: np.ndarray
    scale: float
    shift: np.ndarray
    disparity: float

    def _title(self) -> str:
        return f"Alignment: disparity {self.disparity:.4g}"

    def _columns(self) -> dict[str, list]:
        turned = np.linalg.det(self.rotation) < 0
        return {"scale": [self.scale], "mirrored": [bool(turned)], "disparity": [self.disparity]}


def procrustes(
    given: Any, target: Any, *, scale: bool = True, reflection: bool = True
) -> Alignment:
    """Rotate, move and scale one map onto another of the same items (000a 6.2.3).

    Parameters
    ----------
    given, target : array-like of shape (n, k)
    scale : bool, default=True
        Whether the size may change.
    reflection : bool, default=True
        Whether the map may be mirrored.

    Returns
    -------
    alignment : Alignment

    Examples
    --------
    >>> found = procrustes([[0, 0], [0, 1], [2, 0.0]], [[5, 5], [3, 5], [5, 9.0]])
    >>> round(found.disparity, 9), round(found.scale, 6)
    (0.0, 2.0)
    """
    given, target = (check_array(each, dtype=np.float64) for each in (given, target))
    if given.shape != target.shape:
        raise DataError(f"the maps have shapes {given.shape} and {target.shape}")
    one, other = given - given.mean(axis=0), target - target.mean(axis=0)
    left, values, right = np.linalg.svd(one.T @ other)
    if not reflection and np.linalg.det(left @ right) < 0:
        left[:, -1] *= -1
        values[-1] *= -1
    rotation = left @ right
    size = (one**2).sum()
    factor = float(values.sum() / size) if scale and size > 0 else 1.0
    shift = target.mean(axis=0) - factor * given.mean(axis=0) @ rotation
    moved = factor * given @ rotation + shift
    squares = (other**2).sum()
    disparity = float(((moved - target) ** 2).sum() / squares) if squares > 0 else 0.0
    return Alignment(moved, rotation, factor, shift, disparity)
