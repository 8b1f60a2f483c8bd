"""The options of the job ``advise``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class AdviseOptions(Options):
    """The options of `advise`."""

    target: Any = option(
        column=True, help="The column to predict: its name or, in Python, its values."
    )
    task: str = option(
        "auto",
        choices=("auto", "classify", "regress"),
        help="Categories, booleans, two numbers, and few whole numbers under a name such as class, "
        "type or species are classified; other numbers are regressed.",
    )
    without: list[str] = option(
        [],
        column=True,
        help="Columns that are not used, such as one that is known only after the target.",
    )
    try_out: bool = option(
        False,
        flag="try",
        help="Also compare the methods on the same five folds. Tables of more than 20,000 rows are "
        "refused here: `learn` has a budget for them.",
    )
    random_state: int = option(
        0, flag="seed", least=0, help="Seed of the folds and of random learners."
    )


JOB = Job("advise", AdviseOptions, always_written=False, positional=("target",))
