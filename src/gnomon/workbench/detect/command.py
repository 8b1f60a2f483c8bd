"""The command ``gnomon detect``."""

from __future__ import annotations

from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.detect.options import JOB


class DetectCommand(JobCommand):
    """Draw boxes around the objects in pictures, or learn a detector from pictures with boxes.

    The run folder gets boxes.csv, pictures with boxes, model.gnomon and report.html.

    Examples:

      gnomon detect photos --boxes photos/boxes.csv --name digits

      gnomon detect new_photos --model runs/digits
    """

    job = JOB
    suffix = "detect"

    def show(self, result: Any) -> None:
        """The verdict and the classes."""
        from gnomon.workbench.detect.result import HEADINGS

        say(str(result))
        lines = result.lines()
        if lines:
            console.print()
            print_table(HEADINGS, lines, title="boxes of the test pictures")
