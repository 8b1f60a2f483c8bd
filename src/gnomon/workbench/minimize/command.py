"""The command ``gnomon minimize``."""

from __future__ import annotations

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.minimize.options import JOB


class MinimizeCommand(JobCommand):
    """Find the least value of a function in a Python file, by one or several methods.

    The run folder gets every evaluation at once; the same command with the same --name goes on
    where a killed one ended.

    Examples:

      gnomon minimize furnace.py:cost --bound 0:10 --bound 200:900

      gnomon minimize model.py:loss --bound rate=0.001:1:log --bound kind=a|b --method evolution
    """

    job = JOB
    suffix = "minimum"
