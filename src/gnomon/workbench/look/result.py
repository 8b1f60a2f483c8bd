"""What `look` gives back: everything that was found in a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gnomon.table.summary import Summary
from gnomon.table.table import Table
from gnomon.workbench.analysis.associations import GROUPED, Association, Associations
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.look.finding import Finding
from gnomon.workbench.look.missing_pattern import MissingPattern
from gnomon.workbench.look.options import LookOptions
from gnomon.workbench.look.overview import Overview


@dataclass(repr=False)
class Look(JobResult):
    """What was found in a table; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
    target : str or None
    source : str
        Where the table is from.
    columns : Summary
        Statistics by column.
    missing : MissingPattern
    duplicate_rows, duplicate_rows_apart : int
        Rows that repeat an earlier one, in all columns and in all but identifiers.
    associations : Associations
    overview : Overview
        Which column predicts which.
    with_target : list of Association
        Of every column with the target, the strongest first; empty without a target.
    alone : Overview or None
        What each column alone says of the target.
    class_counts : dict of str to int
        Rows by class of the target, commonest first; empty without a target of classes.
    limits : list of str
        What was sampled or left out, in sentences.
    findings : list of Finding
        The worst first.
    """

    table: Table
    target: str | None
    source: str
    columns: Summary
    missing: MissingPattern
    duplicate_rows: int
    duplicate_rows_apart: int
    associations: Associations
    overview: Overview
    run: Run
    settings: LookOptions
    limits: list[str] = field(default_factory=list)
    with_target: list[Association] = field(default_factory=list)
    alone: Overview | None = None
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @cached_property
    def class_counts(self) -> dict[str, int]:
        if self.target is None or self.table.schema[self.target].kind not in GROUPED:
            return {}
        return level_counts(self.table, self.target)

    @property
    def predictors(self) -> list[tuple[str, float, float]]:
        """What each column alone says of the target: name, explained share, its standard error."""
        return [] if self.alone is None or self.target is None else self.alone.of(self.target)

    def cleaning_script(self) -> str:
        """The steps that the findings ask for, as lines of Python; a person decides which to keep.

        Examples
        --------
        >>> import gnomon
        >>> print(gnomon.look({"a": [1.0, 2.0, 3.0], "b": ["x", "x", "x"]}).cleaning_script())
        import gnomon
        <BLANKLINE>
        table = gnomon.read('table.csv')
        # 'b': one value only
        table = table.drop(['b'])
        """
        reading = f"table = gnomon.read({self.source or 'table.csv'!r})"
        if self.source.startswith("example:"):
            reading = f"table = gnomon.table.example({self.source.removeprefix('example:')!r})"
        lines = ["import gnomon", "", reading]
        dropped: set[str] = set()
        for finding in self.findings:
            wanted = [name for name in finding.columns if name in finding.code]
            if not finding.code or (wanted and dropped.issuperset(wanted)):
                continue
            if finding.code.startswith("table = table.drop"):
                dropped.update(wanted)
            lines += [f"# {' '.join(finding.text.split())}", finding.code]
        return "\n".join(lines)

    def summary(self) -> dict[str, Any]:
        """Everything that was found as plain data, for records and scripts."""
        return as_json(
            {
                "source": self.source,
                "rows": len(self.table),
                "target": self.target,
                "seed": self.settings.random_state,
                "notes": list(self.table.notes),
                "columns": [
                    {**vars(each), "reason": self.table.schema[each.name].reason}
                    for each in self.columns
                ],
                "missing": vars(self.missing),
                "duplicate_rows": self.duplicate_rows,
                "duplicate_rows_apart_from_identifiers": self.duplicate_rows_apart,
                "class_counts": self.class_counts,
                "associations": [vars(pair) for pair in self.associations],
                "overview": {
                    **vars(self.overview),
                    "share": self.overview.share.tolist(),
                    "error": self.overview.error.tolist(),
                },
                "with_target": [vars(pair) for pair in self.with_target],
                "alone": [
                    {"column": name, "share": share, "error": error}
                    for name, share, error in self.predictors
                ],
                "findings": [vars(finding) for finding in self.findings],
                "limits": self.limits,
            }
        )

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same findings, as an expression."""
        topics = [finding.about for finding in self.findings]
        return f"[finding.about for finding in result.findings] == {topics!r}"

    def __str__(self) -> str:
        from rich.console import Console

        paper = StringIO()
        Console(width=100, file=paper, color_system=None).print(self.__rich__())
        return paper.getvalue().rstrip()

    def __rich__(self) -> Any:
        return self._beside("printed")(self)


def level_counts(table: Table, name: str) -> dict[str, int]:
    """Rows by level of a column of categories or booleans, commonest first."""
    counts = pc.value_counts(table.column(name).drop_null())
    values = counts.field("values")
    if pa.types.is_dictionary(values.type):
        values = values.cast(pa.string())
    words = table.schema[name].levels
    listed = values.to_pylist()
    if words and all(isinstance(value, bool) for value in listed):
        listed = [words[int(value)] for value in listed]
    pairs = zip(listed, counts.field("counts").to_pylist())
    return {str(v): c for v, c in sorted(pairs, key=lambda each: (-each[1], str(each[0])))}
