"""What `group` gives back: the groups, the groupings that competed, and the model of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gnomon.evaluate import Estimate
from gnomon.table import Table
from gnomon.workbench.analysis.row_names import listed, with_identifiers
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import write_whole, written
from gnomon.workbench.group.model import GroupModel
from gnomon.workbench.group.options import GroupOptions
from gnomon.workbench.group.profile import GroupProfile
from gnomon.workbench.group.search import STABLE, Grouping
from gnomon.workbench.group.tendency import Tendency

HEADINGS = ["method", "groups", "silhouette", "stability", "density", "remark"]


@dataclass(repr=False)
class GroupResult(JobResult):
    """Groups of a table's rows; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
    settings : GroupOptions
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
        Whether the groups are better separated than those of a cloud without any.
    run : Run
        What was decided, and why.
    notes : list of str
        Which rows were judged, who did not compete, and what else a person should know.
    """

    table: Table
    settings: GroupOptions
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
        """Whether the groups are stable, and better separated than those of one cloud."""
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
                "Groups are not shown in these columns: one cloud of rows would be split as well "
                f"({self.tendency}). The grouping given may cut a cloud into pieces; {how}."
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

    def write_files(self, folder: Path) -> None:
        """Write labels, groupings, schema and model."""
        written(self.named_labels(), folder / "labels.csv")
        written(self.board_numbers(), folder / "groupings.csv")
        inputs = self.table.select([str(name) for name in self.model.feature_names_in_])
        write_whole(folder / "schema.toml", inputs.schema.to_toml())
        self.model.save(folder / "model.gnomon")

    @property
    def same_if(self) -> str:
        """Whether a repetition has groups of the same sizes, as an expression."""
        counts = [each.rows for each in self.groups]
        return f"[each.rows for each in result.groups] == {counts!r}"

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


def with_error(figure: Estimate) -> str:
    """A figure with its standard error."""
    return f"{figure.value:.3f} ± {figure.error:.3f}"
