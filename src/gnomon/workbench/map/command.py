"""The command ``gnomon map``."""

from __future__ import annotations

from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import print_table, say
from gnomon.workbench.map.options import JOB


class MapCommand(JobCommand):
    """Draw the rows on the plane by several methods, and say how far each map can be trusted.

    The run folder gets coordinates.csv and report.html, in which the maps are linked. Of more than
    2,000 rows so many are drawn unless --rows says otherwise.

    Examples:

      gnomon map customers.csv --color churn --without churn

      gnomon map --example wine --color cultivar --without cultivar
    """

    job = JOB
    suffix = "map"

    def show(self, result: Any) -> None:
        """The verdict, and the quality of every map."""
        say(str(result))
        print_table(["map", "trustworthiness", "continuity", "stress"], result.board())
