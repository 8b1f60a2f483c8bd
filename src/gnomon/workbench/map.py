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
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from gnomon.engine.errors import DataError, GnomonError, GnomonWarning
from gnomon.evaluate import Estimate
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
from gnomon.workbench.given import as_table, source_of
from gnomon.workbench.group import listed, with_identifiers
from gnomon.workbench.group_model import GroupModel
from gnomon.workbench.group_search import neighbour_distances
from gnomon.workbench.job_script import job_script
from gnomon.workbench.map_quality import MapQuality, map_quality
from gnomon.workbench.plain_data import as_json
from gnomon.workbench.result import written
from gnomon.workbench.runs import Run
from gnomon.workbench.whole_file import write_whole

MOST_MAPPED = 2_000
FEWEST_ROWS = 5
OUTLYING_NEIGHBOUR = 6
NEIGHBOURS = 10
# Standard deviations of a normal law in the median of its absolute deviations.
NORMAL_SPREAD = 1.4826
# Of equal values, the share of others that are outliers whatever they are.
LONE_SHARE = 0.01
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
    rows : int
        The most rows that maps are made of.
    place_all : bool
        Whether the other rows are placed on the maps too, where the method can.
    """

    colour: str | None = None
    without: list[str] = field(default_factory=list)
    methods: list[str] | None = None
    seed: int = 0
    rows: int = MOST_MAPPED
    place_all: bool = False


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
    left_out, missing : dict of str to str
        Columns that are not used, and why; those with missing cells, and how these are read.
    n_rows : int
        Rows of the table that was given.
    given : Table or None
        That table, where its other rows are placed too.
    others : dict of str to ndarray of shape (n_rows, 2)
        Places of all its rows, by the methods that can place rows that were not mapped.
    """

    table: Table
    rows: np.ndarray
    settings: MapSettings
    places: dict[str, np.ndarray]
    quality: dict[str, MapQuality]
    far: np.ndarray
    run: Run
    left_out: dict[str, str]
    missing: dict[str, str] = field(default_factory=dict)
    n_rows: int = 0
    given: Table | None = None
    others: dict[str, np.ndarray] = field(default_factory=dict)
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
        """Row number, identifiers, place on every map, and whether it is an outlier.

        Where the other rows are placed too, ``mapped`` tells which rows the maps are made of; a
        method that cannot place others has no place for them, and outliers are sought among the
        mapped.
        """
        far = np.zeros(len(self.rows), dtype=bool)
        far[self.far] = True
        if self.given is None:
            columns: dict[str, list] = {"row": (self.rows + 1).tolist()}
            for name, place in self.places.items():
                columns[f"{name} 1"], columns[f"{name} 2"] = place.T.tolist()
            return Table.from_dict(
                with_identifiers(columns | {"outlier": far.tolist()}, self.table)
            )
        mapped = np.zeros(self.n_rows, dtype=bool)
        mapped[self.rows] = True
        columns = {"row": list(range(1, self.n_rows + 1)), "mapped": mapped.tolist()}
        for name, place in self.places.items():
            for axis in (0, 1):
                cells = np.full(self.n_rows, None, dtype=object)
                if name in self.others:
                    cells[:] = self.others[name][:, axis].tolist()
                cells[self.rows] = place[:, axis].tolist()
                columns[f"{name} {axis + 1}"] = cells.tolist()
        outlier = np.full(self.n_rows, None, dtype=object)
        outlier[self.rows] = far.tolist()
        return Table.from_dict(
            with_identifiers(columns | {"outlier": outlier.tolist()}, self.given)
        )

    def board(self) -> list[list[Any]]:
        """How far every map can be trusted."""
        return [
            [name, *[in_short(each) for each in found[:3]]] for name, found in self.quality.items()
        ]

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
                "missing": self.missing,
            }
        )

    def to_json(self) -> str:
        """All results as JSON."""
        return json.dumps(self.summary(), indent=1, ensure_ascii=False)

    def write(self, folder: Path) -> None:
        """Write coordinates, script and report."""
        written(self.coordinates(), folder / "coordinates.csv")
        write_whole(folder / "again.py", self.script())
        self.report(folder / "report.html")

    def script(self) -> str:
        """A script that makes the same maps again."""
        trust = {name: found.trustworthiness.value for name, found in self.quality.items()}
        same = (
            "{name: found.trustworthiness.value for name, found in result.quality.items()} == "
            f"{trust!r}"
        )
        return job_script(self.run.record, self.settings, same)

    def __str__(self) -> str:
        far = (self.rows[self.far] + 1).tolist()
        far_ones = ", ".join(str(row) for row in far[:12]) + (" ..." if len(far) > 12 else "")
        some = self.n_rows > len(self.rows)
        drawn = f", drawn from {self.n_rows:,} (--rows draws more)" if some else ""
        where = " (sought among the mapped ones only)" if some else ""
        return "\n".join(
            [
                f"{len(self.rows):,} rows are mapped{drawn}",
                *listed("not used:", self.left_out),
                *listed("missing:", self.missing),
                "",
                self.verdict(),
                f"Rows that lie far from the others{where}: {far_ones or 'none'}.",
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
    rows: int = MOST_MAPPED,
    place_all: bool = False,
    folder: str | os.PathLike | None = None,
    progress: Tell | None = None,
) -> MapResult:
    """Draw a table's rows on the plane by several methods, and say how far each can be trusted.

    Use it to see whether rows lie in clumps, along a curve or in one cloud, and which are outliers.
    At most 2,000 rows are mapped unless you ask for more, drawn by the seed.

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
    rows : int, default=2000
        The most rows that maps are made of; time and memory grow with their square.
    place_all : bool, default=False
        Place the rows that were not drawn too, by the methods that can: all but "stress", "Sammon".
        Their places stand among the coordinates; pictures and figures are of the drawn ones.
    folder : path, default=None
        Where all is written: coordinates, script and report.
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
    settings = MapSettings(colour, list(without or []), methods, seed, rows, place_all)
    chosen = require_sensible(given, settings)
    with Run.begin(folder, given, source_of(table), settings, job="map") as run:
        taken = np.arange(len(given))
        if len(given) > rows:
            taken = np.sort(np.random.default_rng(seed).choice(taken, rows, replace=False))
            run.decide(
                f"{rows:,} of {len(given):,} rows are mapped, drawn with seed {seed}",
                "more points cover each other, and time grows with their square",
            )
        drawn = given[taken]
        model = GroupModel().fit_space(given.drop(settings.without))
        missing = model.missing_cells(len(given))
        for name, how in missing.items():
            run.decide(f"{name} has missing cells: {how}", "a map needs a place for every row")
        points = model.coordinates(drawn)
        all_points = model.coordinates(given) if place_all and len(drawn) < len(given) else None
        maps: dict[str, Placed] = {}
        for done, method in enumerate(chosen):
            tell(method, done, len(chosen))
            try:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always", GnomonWarning)
                    maps[method] = placed(method, points, seed)
                for each in told:
                    run.decide(f"{method}: {each.message}", "the method says so")
            except (GnomonError, ValueError) as error:
                if settings.methods is not None:
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
            settings,
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


def require_sensible(table: Table, settings: MapSettings) -> list[str]:
    """Refuse what cannot be mapped; the methods to use."""
    for name in [*settings.without, *([settings.colour] if settings.colour else [])]:
        if name not in table:
            raise no_such_column(name, table.columns)
    if len(table) < FEWEST_ROWS:
        raise DataError(f"the table has {len(table)} rows; a map needs {FEWEST_ROWS} or more")
    if settings.rows < FEWEST_ROWS:
        raise DataError(f"rows={settings.rows}: a map needs {FEWEST_ROWS} rows or more")
    known = (*METHODS, *ON_REQUEST)
    unknown = [name for name in settings.methods or () if name not in known]
    if unknown:
        raise DataError(f"there is no method {unknown[0]!r}; there are {', '.join(known)}")
    return list(settings.methods or METHODS)


class Placed(NamedTuple):
    """The places of the rows on a map, and what places other rows, or None where nothing can."""

    places: np.ndarray
    place: Callable[[np.ndarray], np.ndarray] | None = None


def placed(method: str, points: np.ndarray, seed: int) -> Placed:
    """The places of the rows on the map of a method."""
    if method == "PCA" or points.shape[1] == 1:
        plane = PCA(min(2, points.shape[1])).fit(points)
        return Placed(
            on_plane(plane.transform(points)), lambda rows: on_plane(plane.transform(rows))
        )
    if method == "stress":
        return Placed(stress_map(pdist(points), random_state=seed).places)
    if method == "Sammon":
        return Placed(sammon(points, duplicates="together", random_state=seed).places)
    makers = {
        "t-SNE": lambda: TSNE(random_state=seed),
        "Isomap": lambda: Isomap(n_neighbors=NEIGHBOURS, random_state=seed),
        "LLE": lambda: LocallyLinearEmbedding(n_neighbors=NEIGHBOURS, random_state=seed),
        "spectral": lambda: SpectralEmbedding(n_neighbors=NEIGHBOURS),
        "UMAP": lambda: UMAP(random_state=seed),
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


def in_short(figure: Estimate) -> str:
    """A figure with its interval, in so few digits that three stand on a line of the terminal."""
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def far_rows(points: np.ndarray) -> np.ndarray:
    """Rows whose nearest neighbours are much farther than those of others, the farthest first."""
    distances = neighbour_distances(points, OUTLYING_NEIGHBOUR)
    middle = np.median(distances)
    limit = middle + FAR * max(robust_spread(distances), 1e-12 * middle)
    far = np.flatnonzero(distances > limit)
    return far[np.argsort(-distances[far], kind="stable")]


def robust_spread(values: np.ndarray) -> float:
    """The standard deviation of a normal law as wide as the values' middle, outliers apart.

    Where half of the values are one, as in tables of few values, the others tell the spread; unless
    they are so few that they are the outliers, and it is zero.
    """
    off = np.abs(values - np.median(values))
    spread = NORMAL_SPREAD * np.median(off)
    if spread > 0 or np.mean(off > 0) <= LONE_SHARE:
        return float(spread)
    return float(NORMAL_SPREAD * np.median(off[off > 0]))
