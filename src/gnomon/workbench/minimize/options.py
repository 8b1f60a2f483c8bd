"""The options of the job ``minimize``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class MinimizeOptions(Options):
    """The options of `minimize`."""

    bounds: list[str] = option(
        [],
        flag="bound",
        help="What varies, one for each argument: LOW:HIGH, NAME=LOW:HIGH, NAME=LOW:HIGH:log, "
        "NAME=LOW:HIGH:int or NAME=a|b|c. By default the variable `space` of the file.",
    )
    start: list[float] = option([], help="A point to start from, number by number.")
    methods: list[str] = option(
        [],
        flag="method",
        help="Methods of gnomon.optimize to compare. By default the one that fits the space.",
    )
    max_evaluations: int = option(
        1000, flag="evaluations", least=1, help="Most evaluations of each method."
    )
    max_seconds: float | None = option(
        None, flag="seconds", least=0, open=True, help="Most seconds of each method."
    )
    target: float | None = option(None, help="Stop at a value at most this.")
    on_error: str = option(
        "raise",
        choices=("raise", "skip"),
        flag="on-error",
        help="What to do where the function raises or gives NaN.",
    )
    random_state: int = option(0, flag="seed", least=0, help="Seed of random searches.")


JOB = Job("minimize", MinimizeOptions, subject="function")
