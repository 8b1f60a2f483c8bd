"""What `map` gives back: places of the rows on every map, and how far each map can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.evaluate import Estimate
from gnomon.table import Table
from gnomon.workbench.analysis.row_names import listed, with_identifiers
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.map.options import MapOptions
from gnomon.workbench.map.quality import MapQuality


@dataclass(repr=False)
class MapResult(JobResult):
    """Maps of a table's rows; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
        The rows that are mapped.
    rows : int array of shape (n,)
        Their positions in the table that was given.
    settings : MapOptions
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
    settings: MapOptions
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

    @property
    def clear(self) -> bool:
        """Whether most neighbours on the best map are true ones."""
        return self.quality[self.best].trustworthiness.value >= 0.8

    def verdict(self) -> str:
        """In a sentence: how far the best map can be trusted."""
        found = self.quality[self.best]
        share = found.trustworthiness.value
        words = "shows true neighbours" if share >= 0.9 else "invents many neighbours"
        if self.clear and share < 0.9:
            words = "shows mostly true neighbours"
        return (
            f"The map by {self.best} {words}: trustworthiness {found.trustworthiness}, continuity "
            f"{found.continuity}, stress {found.stress}. "
            + (
                "Maps of one cloud show clumps too: whether there are groups, `gnomon group` tests."
                if self.clear
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
            columns: dict[str, list[Any]] = {"row": (self.rows + 1).tolist()}
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

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "clear": self.clear,
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

    def write_files(self, folder: Path) -> None:
        """Write the coordinates."""
        written(self.coordinates(), folder / "coordinates.csv")

    @property
    def same_if(self) -> str:
        """Whether a repetition has maps of the same trustworthiness, as an expression."""
        trust = {name: found.trustworthiness.value for name, found in self.quality.items()}
        return (
            "{name: found.trustworthiness.value for name, found in result.quality.items()} == "
            f"{trust!r}"
        )

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
                f"Rows that lie far from the others{where}: {far_ones or 'none'} (in 5 of 100 "
                "tables without such rows one is listed).",
            ]
        )


def in_short(figure: Estimate) -> str:
    """A figure with its interval, in so few digits that three stand on a line of the terminal."""
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"
