"""The options of the job ``look``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class LookOptions(Options):
    """The options of `look`."""

    target: str | None = option(
        None,
        column=True,
        help="The column that will be predicted: adds class balance and a search for leaks. "
        "Numbers of two values are taken for classes.",
    )
    without: list[str] = option([], column=True, help="Columns that are not used.")
    random_state: int = option(
        0, flag="seed", least=0, help="Seed of the rows drawn for pictures and large tables."
    )


JOB = Job("look", LookOptions, always_written=False, positional=("target",))
