"""The job `group`: from a table to named groups of its rows, or the statement that there are none.

Columns become coordinates on one scale; clusterers of different natures compete over the numbers of
groups; each grouping is judged by how well groups are parted (silhouettes) and by whether other
rows would give the same groups (halves of the table, grouped apart). The best parted of the stable
ones is chosen. Texts: 000a 8 · 001 20 · 004 8 and 9.
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
from gnomon.evaluate import Figure
from gnomon.table import Table
from gnomon.table.schema import no_such_column
from gnomon.workbench.group_model import GroupModel
from gnomon.workbench.group_profile import GroupProfile, profiles
from gnomon.workbench.group_search import (
    MOST_JUDGED,
    STABLE,
    Grouping,
    Tendency,
    fitted,
    parted_as_made,
    search,
    tendency_of,
)
from gnomon.workbench.learn import as_table, source_of
from gnomon.workbench.plain_data import as_json
from gnomon.workbench.result import written
from gnomon.workbench.runs import Run
from gnomon.workbench.whole_file import write_whole

MOST_GROUPS = 10
FEWEST_ROWS = 10
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
    seconds: float = 0.0

    @property
    def clear(self) -> bool:
        """Whether the groups are stable, and better parted than those of one cloud."""
        return self.chosen.is_stable and self.tendency.found

    def verdict(self) -> str:
        """In a sentence: are there groups, and how sure is it."""
        how = (
            f"{self.chosen.k} groups by {self.chosen.method}: silhouette "
            f"{self.chosen.silhouette}, stability {self.chosen.stability}"
        )
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
        """Row number, group and its name, for every row."""
        names = {each.number: each.name for each in self.groups}
        return Table.from_dict(
            {
                "row": list(range(1, len(self.labels) + 1)),
                "group": self.labels.tolist(),
                "name": [names[label] for label in self.labels.tolist()],
            }
        )

    def board(self) -> list[list[Any]]:
        """All groupings that competed, one per line."""
        return [
            [each.method, each.k, *map(with_error, each[2:4]), each.remark]
            for each in self.groupings
        ]

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
            }
        )

    def to_json(self) -> str:
        """All results as JSON."""
        return json.dumps(self.summary(), indent=1, ensure_ascii=False)

    def write(self, folder: Path) -> None:
        """Write labels, groupings, profiles, model, script and report."""
        written(self.named_labels(), folder / "labels.csv")
        headings = ["method", "groups", "silhouette", "stability", "remark"]
        columns = {name: list(cells) for name, cells in zip(headings, zip(*self.board()))}
        written(Table.from_dict(columns), folder / "groupings.csv")
        inputs = self.table.select([str(name) for name in self.model.feature_names_in_])
        write_whole(folder / "schema.toml", inputs.schema.to_toml())
        self.model.save(folder / "model.gnomon")
        write_whole(folder / "again.py", self.script())
        self.report(folder / "report.html")

    def script(self) -> str:
        """A script that makes the same groups again."""
        source = self.run.record["source"]
        asked = {k: v for k, v in asdict(self.settings).items() if v != getattr(_USUAL, k)}
        arguments = "".join(f", {key}={value!r}" for key, value in asked.items())
        counts = [each.rows for each in self.groups]
        lines = [
            f'"""Repeats a grouping of gnomon {self.run.record["versions"]["gnomon"]}."""',
            "",
            "import sys" if source is None else "",
            "import gnomon",
            "",
            f"table = {'sys.argv[1]' if source is None else repr(source)}",
            f"result = gnomon.group(table{arguments})",
            "print(result)",
            f"same = [each.rows for each in result.groups] == {counts!r}",
            'print("the groups are", "as recorded" if same else "OTHER")',
            "",
        ]
        return "\n".join(line for place, line in enumerate(lines) if line or place != 2)

    def __str__(self) -> str:
        left = [f"  {name}: {why}" for name, why in self.model.left_out_.items()]
        return "\n".join(
            [
                f"{len(self.table):,} rows, {self.model.n_features_in_} columns",
                *(["not used:", *left] if left else []),
                "",
                self.verdict(),
                "",
                *(line for each in self.groups for line in (str(each), "")),
                "Groups were made from these columns: effects describe them and prove nothing.",
            ]
        )

    def __repr__(self) -> str:
        return str(self)


_USUAL = GroupSettings()


def with_error(figure: Figure) -> str:
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
        model = GroupModel().fit_space(rows.drop(settings.without))
        points = model.coordinates(rows)
        run.decide(
            f"groups are made from {model.n_features_in_} columns",
            "; ".join(f"{name}: {why}" for name, why in model.left_out_.items())
            or "all columns tell rows apart",
        )
        if len(points) > MOST_JUDGED:
            run.decide(
                f"groupings are judged on {MOST_JUDGED:,} rows drawn with seed {seed}",
                "silhouettes of all pairs of rows would take too long",
            )
        groupings = search(points, settings, tell, run.decide)
        chosen = groupings[0]
        tell("clouds without groups", 0, 0)
        tendency = tendency_of(points, chosen.k, seed)
        run.decide(f"{chosen.method} with {chosen.k} groups is chosen", chosen.remark)
        tell(f"grouping all rows by {chosen.method}", 0, 0)
        model.clusterer = fitted(chosen, points, seed)
        labels = np.asarray(model.predict(rows))
        chosen = groupings[0] = parted_as_made(chosen, points, labels, seed)
        found = profiles(rows, labels)
        model.n_clusters = int(labels.max()) + 1
        model.group_names_ = [each.name for each in found if each.number >= 0]
        result = GroupResult(rows, settings, model, labels, found, groupings, chosen, tendency, run)
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
