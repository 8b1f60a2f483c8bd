"""The job `map`: pictures of a table in two dimensions, and how far each can be trusted.

Columns become coordinates on one scale (as for `gnomon.group`); several methods draw the same rows;
each map says which share of its neighbours is true, and which rows not to believe. Texts: 000a 6 ·
003 2.7 · 004 6.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from gnomon.engine.errors import DataError, GnomonError, GnomonWarning
from gnomon.reduce import (
    PCA,
    TSNE,
    UMAP,
    Isomap,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    sammon,
    stress_map,
)
from gnomon.table import Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.base.given import as_table, source_of
from gnomon.workbench.base.job import Request
from gnomon.workbench.base.runs import Run
from gnomon.workbench.group.model import GroupModel
from gnomon.workbench.group.search import neighbor_distances
from gnomon.workbench.map.options import FEWEST_ROWS, JOB, METHODS, MapOptions
from gnomon.workbench.map.quality import map_quality
from gnomon.workbench.map.result import MapResult

OUTLYING_NEIGHBOR = 6  # judgement: up to five far rows may lie together and are still found
NEIGHBORS = 10  # judgement: scikit-learn's default of 5 often leaves the graph in parts
BODY, TAIL = 0.75, 0.95  # up to a twentieth of the rows may be far without hiding each other
FALSE_ALARM = 0.05  # chance that a table without far rows shows one; the usual level of 5%
FEW_VALUES_MEAN = 0.25  # counts of mean 1 in two columns have 0.1 to 0.2 in 200 tables


@JOB.public
def map(table: Any, options: MapOptions, request: Request) -> MapResult:
    """Draw a table's rows on the plane by several methods, and say how far each can be trusted.

    Use it to see whether rows lie in clumps, along a curve or in one cloud, and which are outliers.
    At most 2,000 rows are mapped unless you ask for more, drawn with `random_state`.

    Returns
    -------
    result : MapResult

    Examples
    --------
    >>> import gnomon
    >>> found = gnomon.map("example:iris", color="species", without=["species"], methods=["PCA"])
    >>> found.quality["PCA"].trustworthiness.value > 0.95
    True
    """
    begin = time.perf_counter()
    tell, random_state, rows = request.progress, options.random_state, options.rows
    given = as_table(table)
    require_sensible(given, options)
    chosen = options.methods or list(METHODS)
    source = source_of(table) or request.source
    with Run.begin(request.folder, given, source, options, JOB.name) as run:
        taken = np.arange(len(given))
        if len(given) > rows:
            taken = np.sort(np.random.default_rng(random_state).choice(taken, rows, replace=False))
            run.decide(
                f"{rows:,} of {len(given):,} rows are mapped, drawn with seed {random_state}",
                "more points cover each other, and time grows with their square",
            )
        drawn = given[taken]
        model = GroupModel().fit_space(given.drop(options.without))
        missing = model.missing_cells(len(given))
        for name, how in missing.items():
            run.decide(f"{name} has missing cells: {how}", "a map needs a place for every row")
        points = model.coordinates(drawn)
        all_points = (
            model.coordinates(given) if options.place_all and len(drawn) < len(given) else None
        )
        maps: dict[str, Placed] = {}
        for done, method in enumerate(chosen):
            tell(method, done, len(chosen))
            try:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always", GnomonWarning)
                    maps[method] = placed(method, points, random_state)
                for each in told:
                    run.decide(f"{method}: {each.message}", "the method says so")
            except (GnomonError, ValueError) as error:
                if options.methods is not None:
                    raise
                run.decide(f"{method} is left out", str(error))
        quality = {name: map_quality(points, each.places) for name, each in maps.items()}
        order = sorted(maps, key=lambda name: -quality[name].trustworthiness.value)
        others: dict[str, np.ndarray] = {}
        if all_points is not None:
            for name in order:
                tell(f"{name}: all rows", 0, 0)
                others |= placed_others(name, maps[name], all_points, run.decide)
        result = MapResult(
            drawn,
            taken,
            options,
            {name: maps[name].places for name in order},
            {name: quality[name] for name in order},
            far_rows(points),
            run,
            model.left_out_,
            missing,
            len(given),
            None if all_points is None else given,
            others,
        )
        run.decide(f"{result.best} comes first", "its neighbours are true most often")
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def require_sensible(table: Table, options: MapOptions) -> None:
    """Refuse what cannot be mapped."""
    for name in [*options.without, *([options.color] if options.color else [])]:
        if name not in table:
            raise no_such_column(name, table.columns)
    if len(table) < FEWEST_ROWS:
        raise DataError(f"the table has {len(table)} rows; a map needs {FEWEST_ROWS} or more")


class Placed(NamedTuple):
    """The places of the rows on a map, and what places other rows, or None where nothing can."""

    places: np.ndarray
    place: Callable[[np.ndarray], np.ndarray] | None = None


def placed(method: str, points: np.ndarray, random_state: int) -> Placed:
    """The places of the rows on the map of a method."""
    if method == "PCA" or points.shape[1] == 1:
        plane = PCA(min(2, points.shape[1])).fit(points)
        return Placed(
            on_plane(plane.transform(points)), lambda rows: on_plane(plane.transform(rows))
        )
    if method == "stress":
        return Placed(stress_map(pdist(points), random_state=random_state).places)
    if method == "Sammon":
        return Placed(sammon(points, duplicates="together", random_state=random_state).places)
    makers = {
        "t-SNE": lambda: TSNE(perplexity="auto", random_state=random_state),
        "Isomap": lambda: Isomap(n_neighbors=NEIGHBORS, random_state=random_state),
        "LLE": lambda: LocallyLinearEmbedding(n_neighbors=NEIGHBORS, random_state=random_state),
        "spectral": lambda: SpectralEmbedding(n_neighbors=NEIGHBORS),
        "UMAP": lambda: UMAP(random_state=random_state),
    }
    mapper = makers[method]()
    return Placed(mapper.fit_transform(points), mapper.transform)


def on_plane(places: np.ndarray) -> np.ndarray:
    """Two coordinates; the second is zero where there is but one."""
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))


def placed_others(
    name: str, found: Placed, points: np.ndarray, decide: Callable[[str, str], None]
) -> dict[str, np.ndarray]:
    """The places of all rows on a map, by its name; empty where the method has none for them."""
    if found.place is None:
        decide(f"{name} places the mapped rows only", "it has no rule for others")
        return {}
    return {name: found.place(points)}


def far_rows(points: np.ndarray) -> np.ndarray:
    """Rows that lie farther from their neighbours than any row of one cloud would, farthest first.

    The logarithms of the distances to the sixth nearest row, above the quantile BODY, are taken to
    be exponential up to the quantile TAIL (distances in the tail of a cloud fall off as a power or
    faster). A row is far where its distance is one that none of so many rows would have, in 95% of
    tables: in 5% of tables of one cloud, heavy-tailed ones too, a row is listed.

    Parameters
    ----------
    points : ndarray of shape (n, d)

    Returns
    -------
    far : ndarray of int
    """
    distances = neighbor_distances(points, OUTLYING_NEIGHBOR)
    positive = distances[distances > 0]
    if len(positive) < OUTLYING_NEIGHBOR:  # all others have equals
        return np.flatnonzero(distances > 0)
    logs = np.log(np.maximum(distances, positive.min()))
    body, tail = np.quantile(logs, [BODY, TAIL])
    inside = (logs > body) & (logs <= tail)
    beyond = logs > tail
    # mean of an exponential law of which what lies beyond the tail is known to be beyond only
    excess = (logs[inside] - body).sum() + beyond.sum() * (tail - body)
    mean = excess / max(inside.sum(), 1)
    if mean > 0 and body <= logs.min():  # distances of few values, three quarters of them equal
        mean = max(mean, FEW_VALUES_MEAN)
    if not mean > 0:  # nearly all of them equal
        mean = max(float((logs[beyond] - body).mean()) if beyond.any() else 0.0, FEW_VALUES_MEAN)
    limit = body + mean * np.log((1 - BODY) * len(logs) / FALSE_ALARM)
    far = np.flatnonzero(logs > limit)
    return far[np.argsort(-distances[far], kind="stable")]
