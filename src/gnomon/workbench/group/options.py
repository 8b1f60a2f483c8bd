"""The options of the job ``group``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option

METHODS = ("k-means", "Gaussian mixture", "Ward", "DBSCAN")


@dataclass
class GroupOptions(Options):
    """The options of `group`."""

    without: list[str] = option(
        [],
        column=True,
        help="Columns that groups are not made from, such as an outcome; profiles show them.",
    )
    groups: int | None = option(
        None, least=2, help="The number of groups; by default it is chosen, from 2 to `most`."
    )
    most: int | None = option(
        None,
        least=2,
        help="The greatest number of groups that is tried; by default 10, and up to 50 where more "
        "groups are separated better.",
    )
    methods: list[str] | None = option(
        None,
        flag="method",
        choices=METHODS,
        help="k-means, Gaussian mixture, Ward, DBSCAN; by default all that the rows allow.",
    )
    random_state: int = option(0, flag="seed", least=0, help="Seed of drawn rows and of starts.")


JOB = Job("group", GroupOptions)
