"""The command ``gnomon search``."""

from __future__ import annotations

from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.search.options import JOB


class SearchCommand(JobCommand):
    """Find the rows whose text fits a query best.

    The run folder gets hits.csv, model.gnomon and report.html.

    Examples:

      gnomon search reviews.csv --text review --query "slow delivery"

      gnomon search letters.csv --text body --query "rent" --method lsa
    """

    job = JOB
    suffix = "search"
    failure = "Exit with 3 where no row fits."

    def show(self, result: Any) -> None:
        """The rows of each query."""
        from gnomon.workbench.search.result import HEADINGS

        say(str(result))
        for query in dict.fromkeys(result.settings.query):
            console.print()
            print_table(HEADINGS, result.lines(query), title=query)

    def failed(self, result: Any) -> bool:
        """Whether nothing was found."""
        return not result.hits
