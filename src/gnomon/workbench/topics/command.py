"""The command ``gnomon topics``."""

from __future__ import annotations

from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.topics.options import JOB


class TopicsCommand(JobCommand):
    """Find what the texts of a column are about: topics, their words, or that there are none.

    The run folder gets words.csv, shares.csv, model.gnomon and report.html.

    Examples:

      gnomon topics reviews.csv --text review

      gnomon topics letters.csv --text body --n-topics 12 --time written
    """

    job = JOB
    suffix = "topics"
    failure = "Exit with 3 where there are no topics."

    def show(self, result: Any) -> None:
        """The verdict and the topics."""
        from gnomon.workbench.topics.result import HEADINGS

        say(str(result))
        console.print()
        print_table(HEADINGS, result.lines(), title="topics by share of the texts")

    def failed(self, result: Any) -> bool:
        """Whether there are no topics."""
        return result.n_topics == 1
