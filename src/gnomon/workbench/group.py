"""The job `group`: from a table to named groups of its rows, or the statement that there are none.

Columns become coordinates on one scale; clusterers of different natures compete over the numbers of
groups; each grouping is judged by how well groups are parted (silhouettes; the density index for
groups of any shape) and by whether other rows would give the same groups (halves of the table,
grouped apart). The best parted of the stable ones is chosen, and compared with what the same method
makes of rows without groups. Texts: 000a 8 · 001 20 · 004 8 and 9.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.engine.errors import DataError
from gnomon.evaluate import Estimate
from gnomon.table import Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.given import as_table, source_of
from gnomon.workbench.group_model import GroupModel, name_columns
from gnomon.workbench.group_profile import GroupProfile, profiles
from gnomon.workbench.group_search import (
    MOST_JUDGED,
    STABLE,
    Grouping,
    fitted,
    parted_as_made,
    search,
)
from gnomon.workbench.group_tendency import Tendency, tendency_of
from gnomon.workbench.job_script import job_script
from gnomon.workbench.plain_data import as_json
from gnomon.workbench.result import written
from gnomon.workbench.runs import Run
from gnomon.workbench.whole_file import write_whole

MOST_GROUPS = 10
FEWEST_ROWS = 10
HEADINGS = ["method", "groups", "silhouette", "stability", "density", "remark"]
Tell = Callable[[str, int, int], None]


@dataclass
class GroupSettings:
    """What was asked for.

    Attributes
    ----------
    without : list of str
        Columns that groups are not made from; profiles show them all the same.
    groups : int or None
        The number of groups, where it is given.
    most : int
        The greatest number that is tried.
    methods : list of str or None
    seed : int
    """

    without: list[str] = field(default_factory=list)
    groups: int | None = None
    most: int = MOST_GROUPS
    methods: list[str] | None = None
    seed: int = 0


@dataclass
class GroupResult:
    """Groups of a table's rows; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
    settings : GroupSettings
    model : GroupModel
        Assigns new rows; `gnomon.predict` takes it.
    labels : int array of shape (n_rows,)
        The group of every row; -1 for rows of none.
    groups : list of GroupProfile
        What sets each group apart, with its name.
    groupings : list of Grouping
        All that competed, the best first.
    chosen : Grouping
    tendency : Tendency
        Whether the groups are better parted than those of a cloud without any.
    run : Run
        What was decided, and why.
    notes : list of str
        Which rows were judged, who did not compete, and what else a person should know.
    """

    table: Table
    settings: GroupSettings
    model: GroupModel
    labels: np.ndarray
    groups: list[GroupProfile]
    groupings: list[Grouping]
    chosen: Grouping
    tendency: Tendency
    run: Run
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def clear(self) -> bool:
        """Whether the groups are stable, and better parted than those of one cloud."""
        return self.chosen.is_stable and self.tendency.found

    def verdict(self) -> str:
        """In a sentence: are there groups, and how sure is it."""
        chosen = self.chosen
        parted = f"silhouette {chosen.silhouette}"
        if chosen.any_shape:
            alone = float(np.mean(self.labels < 0))
            parted = f"density index {chosen.density:.2f}"
            parted += f", {alone:.1%} of the rows in no group" if alone else ""
        how = f"{chosen.k} groups by {chosen.method}: {parted}, stability {chosen.stability}"
        if self.clear:
            return f"{how}. Other rows of this kind would give nearly the same groups."
        if not self.tendency.found:
            return (
                "There are no groups to be seen in these columns: rows without any would be parted "
                f"as well ({self.tendency}). The grouping given cuts a cloud into pieces; {how}."
            )
        return (
            f"No grouping is stable (at least {STABLE:g} is asked for): other rows would give "
            f"other groups. The best is given all the same; {how}."
        )

    def named_labels(self) -> Table:
        """Row number, identifiers, group and its name, for every row."""
        names = {each.number: each.name for each in self.groups}
        own = {
            "row": list(range(1, len(self.labels) + 1)),
            "group": self.labels.tolist(),
            "name": [names[label] for label in self.labels.tolist()],
        }
        return Table.from_dict(with_identifiers(own, self.table))

    def board(self) -> list[list[Any]]:
        """All groupings that competed, one per line; `HEADINGS` are those of the columns."""
        return [
            [each.method, each.k, *map(with_error, each[2:4]), f"{each.density:.2f}", each.remark]
            for each in self.groupings
        ]

    def board_numbers(self) -> Table:
        """All groupings that competed, one per line, in numbers."""
        lines = [
            {
                "method": each.method,
                "groups": each.k,
                "silhouette": each.silhouette.value,
                "silhouette error": each.silhouette.error,
                "stability": each.stability.value,
                "stability error": each.stability.error,
                "density": each.density,
                "reach": None if np.isnan(each.reach) else each.reach,
                "remark": each.remark,
            }
            for each in self.groupings
        ]
        return Table.from_dict({name: [line[name] for line in lines] for name in lines[0]})

    def figures(self, theme: str = "light") -> dict[str, Any]:
        """The pictures by name, as Plotly figures."""
        from gnomon.workbench.group_report import figures_of

        return figures_of(self, theme)

    def plot(self, theme: str = "light") -> None:
        """Show the pictures."""
        for figure in self.figures(theme).values():
            figure.show()

    def report(self, path: str | os.PathLike) -> Path:
        """Write the report to an HTML file."""
        from gnomon.workbench.group_report import report_of

        return report_of(self).write(path)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the model, which assigns new rows."""
        return self.model.save(Path(path))

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "clear": self.clear,
                "tendency": self.tendency._asdict(),
                "chosen": {"method": self.chosen.method, "k": self.chosen.k},
                "groupings": [each._asdict() for each in self.groupings],
                "groups": [asdict(each) for each in self.groups],
                "left out": self.model.left_out_,
                "missing": self.missing(),
                "notes": self.notes,
            }
        )

    def to_json(self) -> str:
        """All results as JSON."""
        return json.dumps(self.summary(), indent=1, ensure_ascii=False)

    def write(self, folder: Path) -> None:
        """Write labels, groupings, profiles, model, script and report."""
        written(self.named_labels(), folder / "labels.csv")
        written(self.board_numbers(), folder / "groupings.csv")
        inputs = self.table.select([str(name) for name in self.model.feature_names_in_])
        write_whole(folder / "schema.toml", inputs.schema.to_toml())
        self.model.save(folder / "model.gnomon")
        write_whole(folder / "again.py", self.script())
        self.report(folder / "report.html")

    def script(self) -> str:
        """A script that makes the same groups again."""
        counts = [each.rows for each in self.groups]
        same = f"[each.rows for each in result.groups] == {counts!r}"
        return job_script(self.run.record, self.settings, same)

    def missing(self) -> dict[str, str]:
        """Columns with missing cells, and how these are read."""
        return self.model.missing_cells(len(self.table))

    def caution(self) -> str:
        """What effects prove, and what not."""
        said = "Groups were made from these columns: effects describe them and prove nothing."
        if not self.settings.without:
            return said
        apart = ", ".join(self.settings.without)
        return (
            f"Groups were made without {apart}: there effects are findings. From the other columns "
            "groups were made: there effects describe them and prove nothing."
        )

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{len(self.table):,} rows, {self.model.n_features_in_} columns",
                *listed("not used:", self.model.left_out_),
                *listed("missing:", self.missing()),
                *self.notes,
                "",
                self.verdict(),
                "",
                *(line for each in self.groups for line in (str(each), "")),
                self.caution(),
            ]
        )

    def __repr__(self) -> str:
        return str(self)


def listed(heading: str, lines: dict[str, str]) -> list[str]:
    """A heading and a line for each column, or nothing where there is none."""
    return [heading, *(f"  {name}: {said}" for name, said in lines.items())] if lines else []


def with_identifiers(columns: dict[str, list], table: Table) -> dict[str, list]:
    """Columns of a result, those that say which row is which behind the first."""
    first, *rest = columns
    names = {
        name if name not in columns else f"{name} of the table": cells
        for name, cells in name_columns(table).items()
    }
    return {first: columns[first]} | names | {name: columns[name] for name in rest}


def with_error(figure: Estimate) -> str:
    """A figure with its standard error."""
    return f"{figure.value:.3f} ± {figure.error:.3f}"


def group(
    table: Any,
    *,
    without: list[str] | None = None,
    groups: int | None = None,
    most: int = MOST_GROUPS,
    methods: list[str] | None = None,
    seed: int = 0,
    folder: str | os.PathLike | None = None,
    progress: Tell | None = None,
) -> GroupResult:
    """Find groups of a table's rows, name them, and say whether they can be trusted.

    Use it to see which kinds of rows there are when nothing is to be predicted. Where a column is
    to be predicted, use `gnomon.learn`. Groupings are judged on at most 2,000 rows, drawn by the
    seed; the chosen one is made of all rows.

    Parameters
    ----------
    table : Table, data frame, dict of columns, path of a file, or "example:NAME"
    without : list of str, default=None
        Columns that groups are not made from, such as an outcome; profiles show them.
    groups : int, default=None
        The number of groups; by default it is chosen from 2 to `most`.
    most : int, default=10
    methods : list of str, default=None
        Of "k-means", "Gaussian mixture", "Ward" and "DBSCAN"; by default all that the rows allow.
    seed : int, default=0
    folder : path, default=None
        Where all is written: labels, groupings, model, report.
    progress : callable, default=None
        ``progress(what, done, total)``.

    Returns
    -------
    result : GroupResult

    Examples
    --------
    >>> found = group("example:iris", without=["species"], groups=3)
    >>> sorted(each.rows for each in found.groups)
    [47, 50, 53]
    """
    begin = time.perf_counter()
    tell = progress or (lambda what, done, total: None)
    rows = as_table(table)
    settings = GroupSettings(list(without or []), groups, most, methods, seed)
    require_sensible(rows, settings)
    with Run.begin(folder, rows, source_of(table), settings, job="group") as run:
        notes: list[str] = []

        def note(what: str, why: str) -> None:
            run.decide(what, why)
            notes.append(f"{what[:1].upper()}{what[1:]}: {why}.")

        model = GroupModel().fit_space(rows.drop(settings.without))
        points = model.coordinates(rows)
        run.decide(
            f"groups are made from {model.n_features_in_} columns",
            "; ".join(f"{name}: {why}" for name, why in model.left_out_.items())
            or "all columns tell rows apart",
        )
        for name, how in model.missing_cells(len(rows)).items():
            run.decide(f"{name} has missing cells: {how}", "groups need a place for every row")
        if len(points) > MOST_JUDGED:
            note(
                f"groupings are judged on {MOST_JUDGED:,} of {len(points):,} rows, drawn with seed "
                f"{seed}",
                "distances of all pairs of rows would take too long",
            )
        competed = search(points, settings, tell, note)
        chosen = competed[0].grouping
        tell("clouds without groups", 0, 0)
        tendency = tendency_of(points, chosen, seed, model.spans())
        run.decide(f"{chosen.method} with {chosen.k} groups is chosen", chosen.remark)
        tell(f"grouping all rows by {chosen.method}", 0, 0)
        model.clusterer = fitted(competed[0], points, seed, note)
        labels = np.asarray(model.predict(rows))
        chosen = parted_as_made(chosen, points, labels, seed)
        groupings = [chosen, *(each.grouping for each in competed[1:])]
        found = profiles(rows, labels)
        model.n_clusters = int(labels.max()) + 1
        model.group_names_ = [each.name for each in found if each.number >= 0]
        result = GroupResult(
            rows, settings, model, labels, found, groupings, chosen, tendency, run, notes
        )
        result.seconds = time.perf_counter() - begin
        run.finish(result)
    return result


def require_sensible(table: Table, settings: GroupSettings) -> None:
    """Refuse what cannot be grouped."""
    for name in settings.without:
        if name not in table:
            raise no_such_column(name, table.columns)
    if len(table) < FEWEST_ROWS:
        raise DataError(
            f"the table has {len(table)} rows; groups of fewer than {FEWEST_ROWS} rows can be seen "
            "by looking at them"
        )
    for name, value in (("groups", settings.groups), ("most", settings.most)):
        if value is not None and not 2 <= value <= len(table) // 2:
            raise DataError(
                f"{name}={value} must lie between 2 and half the number of rows, {len(table) // 2}"
            )
