"""Maps: shortest paths of Isomap and the iterations of metric scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon.accelerate.limits import worth
from gnomon.accelerate.routes import replaces
from gnomon.accelerate.unsupported import require
from gnomon.engine.threads import Crew, in_order

SOURCES_AT_ONCE = 16  # judgement: enough work for a thread, and all threads share the last ones


@replaces(
    "sklearn.manifold._isomap",
    "shortest_path",
    "Isomap.fit",
    needs="gnomon.reduce.path_kernels",
)
def shortest_path(
    original: Any,
    csgraph: Any,
    method: str = "auto",
    directed: bool = True,
    return_predecessors: bool = False,
    unweighted: bool = False,
    overwrite: bool = False,
    indices: Any = None,
) -> np.ndarray:
    """The shortest paths between all nodes, many sources at a time."""
    require(sp.issparse(csgraph) and csgraph.dtype == np.float64, "no sparse graph of doubles")
    require(not directed and not return_predecessors, "a directed graph")
    require(method in ("auto", "D"), f"path_method={method!r}")
    worth("paths", csgraph.shape[0])
    from gnomon.reduce.path_kernels import shortest_paths

    edges = csgraph.tocoo()
    require((edges.data > 0).all(), "edges of length zero")
    n = csgraph.shape[0]
    ends = np.concatenate([edges.row, edges.col]), np.concatenate([edges.col, edges.row])
    order = np.argsort(ends[0], kind="stable")
    starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(ends[0], minlength=n), out=starts[1:])
    columns = ends[1][order].astype(np.int64)
    lengths = np.concatenate([edges.data, edges.data])[order]
    paths = np.empty((n, n))

    def fill(first: int) -> None:
        some = slice(first, min(first + SOURCES_AT_ONCE, n))
        shortest_paths(starts, columns, lengths, np.arange(some.start, some.stop), paths[some])

    for _ in in_order(fill, range(0, n, SOURCES_AT_ONCE)):
        pass
    return paths


@replaces(
    "sklearn.manifold._mds", "_smacof_single", "MDS.fit", needs="gnomon.reduce.stress_kernels"
)
def smacof(
    original: Any,
    dissimilarities: Any,
    metric: bool = True,
    n_components: int = 2,
    init: Any = None,
    max_iter: int = 300,
    verbose: int = 0,
    eps: float = 1e-6,
    random_state: Any = None,
    normalized_stress: Any = False,
) -> Any:
    """Guttman's steps; distances, stress and step in one pass over the table."""
    from sklearn.utils import check_random_state, check_symmetric

    require(metric, "nonmetric scaling")
    require(not verbose, "verbose output")
    table = check_symmetric(dissimilarities, raise_exception=True)
    require(table.dtype == np.float64, "dissimilarities of float32")
    n = len(table)
    worth("scaling", n)
    from gnomon.reduce.stress_kernels import table_stress

    if init is None:
        rng = check_random_state(random_state)
        places = rng.uniform(size=n * n_components).reshape(n, n_components)
    else:
        require(init.shape[0] == n, "init of another number of rows")
        places = init
    places = np.ascontiguousarray((places - places.mean(axis=0)).T)
    table = np.ascontiguousarray(table)
    ones = np.ones((1, 1))

    with Crew() as crew:

        def step_of(places: np.ndarray) -> tuple[float, np.ndarray]:
            def share(worker: int, n_workers: int) -> tuple[np.ndarray, np.ndarray]:
                gradient, stress = np.zeros_like(places), np.zeros(n)
                first, last = n * worker // n_workers, n * (worker + 1) // n_workers
                table_stress(places, table, ones, first, last, gradient, stress)
                return gradient, stress

            parts = crew.shares(share)
            gradient = np.sum([part[0] for part in parts], axis=0)
            return sum(part[1].sum() for part in parts) / 2, gradient

        _, gradient = step_of(places)
        before = None
        for steps in range(1, max_iter + 1):  # noqa: B007  the last is returned
            places = places - gradient / (2 * n)
            stress, gradient = step_of(places)
            squares = 2 * n * float((places**2).sum())
            if before is not None and (before - stress) / (squares / 2) < eps:
                break
            before = stress
    if normalized_stress:
        stress = np.sqrt(stress / (squares / 2))
    return np.ascontiguousarray(places.T), stress, steps
