"""The job `map`: pictures of a table in two dimensions, and how far each can be trusted.

Columns become coordinates on one scale (as for `gnomon.group`); several methods draw the same rows;
each map says which share of its neighbours is true, and which rows not to believe. Texts: 000a 6 ·
003 2.7 · 004 6.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
from gnomon.workbench.group_model import GroupModel
from gnomon.workbench.group_search import neighbour_distances
from gnomon.workbench.learn import as_table, source_of
from gnomon.workbench.map_quality import MapQuality, map_quality
from gnomon.workbench.plain_data import as_json
from gnomon.workbench.result import written
from gnomon.workbench.runs import Run

MOST_MAPPED = 2_000
FEWEST_ROWS = 5
OUTLYING_NEIGHBOUR = 6
NEIGHBOURS = 10
FAR = 4.0  # robust deviations from which on a row is called an outlier
METHODS = ("PCA", "stress", "Sammon", "t-SNE")
ON_REQUEST = ("Isomap", "LLE", "spectral", "UMAP")
Tell = Callable[[str, int, int], None]


@dataclass
class MapSettings:
    """What was asked for.

    Attributes
    ----------
    colour : str or None
        The column that colours the rows first.
    without : list of str
        Columns that distances are not made from; rows can be coloured by them all the same.
    methods : list of str or None
    seed : int
    """

    colour: str | None = None
    without: list[str] = field(default_factory=list)
    methods: list[str] | None = None
    seed: int = 0


@dataclass
class MapResult:
    """Maps of a table's rows; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
        The rows that are mapped.
    rows : int array of shape (n,)
        Their positions in the table that was given.
    settings : MapSettings
    places : dict of str to ndarray of shape (n, 2)
        Coordinates by method, the most trustworthy first.
    quality : dict of str to MapQuality
    far : int array
        Rows that lie far from all others, by position among the mapped.
    run : Run
    n_rows : int
        Rows of the table that was given.
    """

    table: Table
    rows: np.ndarray
    settings: MapSettings
    places: dict[str, np.ndarray]
    quality: dict[str, MapQuality]
    far: np.ndarray
    run: Run
    left_out: dict[str, str]
    n_rows: int = 0
    seconds: float = 0.0

    @property
    def best(self) -> str:
        """The method of the most trustworthy map."""
        return next(iter(self.places))

    def verdict(self) -> str:
        """In a sentence: how far the best map can be trusted."""
        found = self.quality[self.best]
        share = found.trustworthiness.value
        words = "shows true neighbours" if share >= 0.9 else "invents many neighbours"
        if 0.8 <= share < 0.9:
            words = "shows mostly true neighbours"
        return (
            f"The map by {self.best} {words}: trustworthiness {found.trustworthiness}, continuity "
            f"{found.continuity}, stress {found.stress}. "
            + (
                "Groups that are seen on several maps are likely to be there."
                if share >= 0.8
                else "The rows have more than two dimensions that matter: believe no map of them."
            )
        )

    def coordinates(self) -> Table:
        """Row number and place on every map, and whether it is an outlier."""
        columns: dict[str, list] = {"row": (self.rows + 1).tolist()}
        for name, place in self.places.items():
            columns[f"{name} 1"], columns[f"{name} 2"] = place.T.tolist()
        far = np.zeros(len(self.rows), dtype=bool)
        far[self.far] = True
        return Table.from_dict(columns | {"outlier": far.tolist()})

    def board(self) -> list[list[Any]]:
        """How far every map can be trusted."""
        return [[name, *[str(each) for each in found[:3]]] for name, found in self.quality.items()]

    def figures(self, theme: str = "light") -> dict[str, Any]:
        """The pictures by name, as Plotly figures."""
        from gnomon.workbench.map_report import figures_of

        return figures_of(self, theme)

    def plot(self, theme: str = "light") -> None:
        """Show the pictures."""
        for figure in self.figures(theme).values():
            figure.show()

    def report(self, path: str | os.PathLike) -> Path:
        """Write the report to an HTML file."""
        from gnomon.workbench.map_report import report_of

        return report_of(self).write(path)

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "best": self.best,
                "quality": {
                    name: dict(zip(("trustworthiness", "continuity", "stress"), found[:3]))
                    for name, found in self.quality.items()
                },
                "rows": len(self.rows),
                "outliers": (self.rows[self.far] + 1).tolist(),
                "left out": self.left_out,
            }
        )

    def to_json(self) -> str:
        """All results as JSON."""
        return json.dumps(self.summary(), indent=1, ensure_ascii=False)

    def write(self, folder: Path) -> None:
        """Write coordinates and report."""
        written(self.coordinates(), folder / "coordinates.csv")
        self.report(folder / "report.html")

    def __str__(self) -> str:
        left = [f"  {name}: {why}" for name, why in self.left_out.items()]
        far = (self.rows[self.far] + 1).tolist()
        listed = ", ".join(str(row) for row in far[:12]) + (" ..." if len(far) > 12 else "")
        return "\n".join(
            [
                f"{len(self.rows):,} rows are mapped"
                + (f", drawn from {self.n_rows:,}" if self.n_rows > len(self.rows) else ""),
                *(["not used:", *left] if left else []),
                "",
                self.verdict(),
                f"Rows that lie far from the others: {listed or 'none'}.",
            ]
        )

    def __repr__(self) -> str:
        return str(self)


def map(
    table: Any,
    *,
    colour: str | None = None,
    without: list[str] | None = None,
    methods: list[str] | None = None,
    seed: int = 0,
    folder: str | os.PathLike | None = None,
    progress: Tell | None = None,
) -> MapResult:
    """Draw a table's rows on the plane by several methods, and say how far each can be trusted.

    Use it to see whether rows lie in clumps, along a curve or in one cloud, and which are outliers.
    At most 2,000 rows are drawn, chosen by the seed.

    Parameters
    ----------
    table : Table, data frame, dict of columns, path of a file, or "example:NAME"
    colour : str, default=None
        The column that colours the rows first; the report offers all.
    without : list of str, default=None
        Columns that distances are not made from, such as an outcome.
    methods : list of str, default=None
        Of "PCA", "stress" (distances as they are), "Sammon" (small distances count more) and
        "t-SNE" (neighbours only), by default these four; and "Isomap" (distances along the sheet),
        "LLE" (mixes of neighbours), "spectral" (neighbours together), "UMAP" (an extra).
    seed : int, default=0
    folder : path, default=None
        Where all is written: coordinates and report.
    progress : callable, default=None
        ``progress(what, done, total)``.

    Returns
    -------
    result : MapResult

    Examples
    --------
    >>> found = map("example:iris", colour="species", without=["species"], methods=["PCA"])
    >>> found.quality["PCA"].trustworthiness.value > 0.95
    True
    """
    begin = time.perf_counter()
    tell = progress or (lambda what, done, total: None)
    given = as_table(table)
    settings = MapSettings(colour, list(without or []), methods, seed)
    chosen = require_sensible(given, settings)
    with Run.begin(folder, given, source_of(table), settings, job="map") as run:
        rows = np.arange(len(given))
        if len(given) > MOST_MAPPED:
            rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_MAPPED, replace=False))
            run.decide(
                f"{MOST_MAPPED:,} of {len(given):,} rows are mapped, drawn with seed {seed}",
                "more points cover each other",
            )
        drawn = given[rows]
        model = GroupModel().fit_space(given.drop(settings.without))
        points = model.coordinates(drawn)
        places, quality = {}, {}
        for done, method in enumerate(chosen):
            tell(method, done, len(chosen))
            try:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always", GnomonWarning)
                    places[method] = placed(method, points, seed)
                for each in told:
                    run.decide(f"{method}: {each.message}", "the method says so")
            except (GnomonError, ValueError) as error:
                if settings.methods is not None:
                    raise
                run.decide(f"{method} is left out", str(error))
                continue
            quality[method] = map_quality(points, places[method])
        order = sorted(places, key=lambda name: -quality[name].trustworthiness.value)
        result = MapResult(
            drawn,
            rows,
            settings,
            {name: places[name] for name in order},
            {name: quality[name] for name in order},
            far_rows(points),
            run,
            model.left_out_,
            len(given),
        )
        run.decide(f"{result.best} comes first", "its neighbours are true most often")
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def require_sensible(table: Table, settings: MapSettings) -> list[str]:
    """Refuse what cannot be mapped; the methods to use."""
    for name in [*settings.without, *([settings.colour] if settings.colour else [])]:
        if name not in table:
            raise no_such_column(name, table.columns)
    if len(table) < FEWEST_ROWS:
        raise DataError(f"the table has {len(table)} rows; a map needs {FEWEST_ROWS} or more")
    known = (*METHODS, *ON_REQUEST)
    unknown = [name for name in settings.methods or () if name not in known]
    if unknown:
        raise DataError(f"there is no method {unknown[0]!r}; there are {', '.join(known)}")
    return list(settings.methods or METHODS)


def placed(method: str, points: np.ndarray, seed: int) -> np.ndarray:
    """The places of the rows on the map of a method."""
    if method == "PCA" or points.shape[1] == 1:
        plane = PCA(min(2, points.shape[1])).fit_transform(points)
        return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    if method == "stress":
        return stress_map(pdist(points), random_state=seed).places
    if method == "Sammon":
        return sammon(points, duplicates="together", random_state=seed).places
    if method == "t-SNE":
        return TSNE(random_state=seed).fit_transform(points)
    others = {
        "Isomap": lambda: Isomap(n_neighbors=NEIGHBOURS, random_state=seed),
        "LLE": lambda: LocallyLinearEmbedding(n_neighbors=NEIGHBOURS, random_state=seed),
        "spectral": lambda: SpectralEmbedding(n_neighbors=NEIGHBOURS),
        "UMAP": lambda: UMAP(random_state=seed),
    }
    return others[method]().fit_transform(points)


def far_rows(points: np.ndarray) -> np.ndarray:
    """Rows whose nearest neighbours are much farther than those of others, the farthest first."""
    distances = neighbour_distances(points, OUTLYING_NEIGHBOUR)
    middle = np.median(distances)
    spread = 1.4826 * np.median(np.abs(distances - middle))
    far = np.flatnonzero(distances > middle + FAR * max(spread, 1e-12 * middle))
    return far[np.argsort(-distances[far], kind="stable")]
