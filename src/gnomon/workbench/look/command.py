"""The command ``gnomon look``."""

from __future__ import annotations

from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import console
from gnomon.workbench.look.options import JOB


class LookCommand(JobCommand):
    """Look at a table: kinds, missing cells, duplicates, leaks, associations, what predicts what.

    A run folder is written where --name is given.

    Example: gnomon look sales.csv --target churn --report look.html
    """

    job = JOB
    suffix = "look"
    failure = "End with code 1 where something is bad, for scripts."
    failure_code = 1

    def before(self, given: str, table: Any) -> None:
        """What was read."""
        from gnomon.table.sql import without_secret

        console.print(without_secret(given), style="bold", markup=False, highlight=False)
        for note in table.notes:
            console.print(f"  · {note}", markup=False, highlight=False)

    def show(self, result: Any) -> None:
        """The columns, the associations and the findings."""
        console.print(result)

    def failed(self, result: Any) -> bool:
        """Whether a finding is bad."""
        return any(finding.kind == "bad" for finding in result.findings)
