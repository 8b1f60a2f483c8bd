"""The command ``gnomon advise``."""

from __future__ import annotations

from gnomon.workbench.advise.options import JOB
from gnomon.workbench.base.command import JobCommand


class AdviseCommand(JobCommand):
    """Say which methods fit a table, and why, by the rules of the texts.

    A run folder is written where --name is given.

    Example: gnomon advise sales.csv --target churn --try
    """

    job = JOB
    suffix = "advice"
