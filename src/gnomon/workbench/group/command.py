"""The command ``gnomon group``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.options import Option
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.group.options import JOB


class GroupCommand(JobCommand):
    """Find groups of rows, name them, and say whether they can be trusted.

    Methods and numbers of groups compete; each is judged by how well they are separated and by
    whether other rows would give the same ones. The run folder gets labels.csv, a model that
    assigns new rows (gnomon predict), and report.html.

    Examples:

      gnomon group customers.csv --without churn

      gnomon group --example wine --groups 3
    """

    job = JOB
    suffix = "groups"
    failure = "Exit with 3 where no clear groups are found."
    own = (Option("save", Path, None, "Write the model here too.", flag="save"),)

    def show(self, result: Any) -> None:
        """The groups, and the groupings that competed."""
        from gnomon.workbench.group.result import HEADINGS

        say(str(result))
        console.print()
        chosen, *others = result.board()[:8]
        lines = [[*chosen[:-1], "chosen"], *others]
        print_table([*HEADINGS[:-1], ""], lines, title="groupings that competed")
        say(f"chosen: {result.chosen.remark}")

    def after(self, folder: Path) -> None:
        """How to assign new rows."""
        say(f"next: gnomon predict {folder} NEW_ROWS.csv")

    def written(self, words: dict[str, Any], result: Any) -> list[Path]:
        """Write the model where ``--save`` asks for it."""
        return [] if words["save"] is None else [result.save(words["save"])]

    def failed(self, result: Any) -> bool:
        """Whether there are no clear groups."""
        return not result.clear
