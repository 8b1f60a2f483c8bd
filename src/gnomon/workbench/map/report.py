"""What `gnomon map` shows: linked maps, and a report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gnomon import show
from gnomon.table.kinds import Kind
from gnomon.table.recode import as_strings
from gnomon.table.schema import Column
from gnomon.workbench.analysis.row_names import LONGEST_NAME, name_columns
from gnomon.workbench.base.report import Report
from gnomon.workbench.map.result import MapResult

MOST_COLORS = 12  # judgement: columns to color by; each adds a value for every row to the report
MOST_OUTLIERS = 50  # judgement: the farthest; a table of more is not read
MISSING = "missing"
UNCOLORED = (Kind.IDENTIFIER, Kind.TEXT, Kind.DATETIME)
CAPTION = (
    "Point at a row to find it on every map; draw round some with the mouse to mark them on all, "
    "double-click to let them go. The menu chooses the column that colours them. Axes have no "
    "unit, and of PCA alone a meaning."
)


def pictures_of(result: MapResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a map: functions of the theme, by name."""
    return {"maps": partial(maps_of, result)}


def maps_of(result: MapResult, theme: str = "light") -> Any:
    """The maps side by side, linked."""
    notes = {
        name: f"trustworthiness {found.trustworthiness.value:.2f}, "
        f"continuity {found.continuity.value:.2f}, stress {found.stress.value:.2f}"
        for name, found in result.quality.items()
    }
    return show.embeddings(
        result.places,
        colors_of(result),
        notes=notes,
        ids=names_of(result),
        far=result.far.tolist(),
        theme=theme,
    )


def colors_of(result: MapResult) -> dict[str, list[Any]]:
    """Columns to colour by: the one requested first, and how far each row is to be believed."""
    wanted = [column for column in result.table.schema if column.kind not in UNCOLORED]
    wanted.sort(key=lambda column: column.name != result.settings.color)
    found = {column.name: _cells(result, column) for column in wanted[:MOST_COLORS]}
    invented = result.quality[result.best].invented
    return found | {f"neighbours invented by {result.best}": invented.tolist()}


def _cells(result: MapResult, column: Column) -> list[Any]:
    """A column's cells, yes and no in the words of the table; missing ones said, or NaN."""
    values = result.table.column(column.name)
    if column.kind is Kind.BOOLEAN:
        values = as_strings(values, column)
    unknown = np.nan if column.kind.is_numeric else MISSING
    return [unknown if value is None else value for value in values.to_pylist()]


def names_of(result: MapResult) -> list[str]:
    """What every row is called: its number, its identifier, and its colour."""
    columns = result.table.to_dict()
    shown = list(name_columns(result.table))[:1]
    if result.settings.color is not None:
        shown.append(result.settings.color)
    names = []
    for place, row in enumerate(result.rows.tolist()):
        words = [f"row {row + 1}", *(f"{name} {columns[name][place]}" for name in shown)]
        names.append(", ".join(words)[:LONGEST_NAME])
    return names


def report_of(result: MapResult) -> Report:
    """The report of a map."""
    source = result.run.called or "a table"
    drawn = f" of {result.n_rows:,}" if result.n_rows > len(result.rows) else ""
    report = Report(f"Maps of {source}", f"{len(result.rows):,}{drawn} rows")
    report.section("Can the maps be trusted?").text(result.verdict())
    if result.missing:
        report.table(["column", "missing"], list(result.missing.items()))
    report.table(
        ["map", "trustworthiness", "continuity", "stress"],
        result.board(),
        "Trustworthiness: shown neighbours are neighbours. Continuity: neighbours are shown. One "
        "is best, one half is chance. Stress of distances: zero is best. With 95% intervals.",
    )
    report.section("The maps").figure(maps_of(result), CAPTION)
    if len(result.far):
        _outliers(report, result)
    report.section("Decisions")
    made = [[each["what"], each["why"]] for each in result.run.decisions]
    left = [[f"{name} is not used", why] for name, why in result.left_out.items()]
    report.table(["what", "why"], made + left)
    return report


def _outliers(report: Report, result: MapResult) -> None:
    among = " They were sought among the mapped rows." if result.n_rows > len(result.rows) else ""
    report.section("Outliers").text(
        "Their sixth nearest neighbour is farther than that of any row of one cloud would be, in "
        "95 of 100 tables: look at them." + among
    )
    far = result.far[:MOST_OUTLIERS]
    columns = list(result.table.columns)[:8]
    cells = result.table[far].to_dict()
    rows = [
        [row + 1, *(cells[name][place] for name in columns)]
        for place, row in enumerate(result.rows[far].tolist())
    ]
    report.table(["row", *columns], rows)
