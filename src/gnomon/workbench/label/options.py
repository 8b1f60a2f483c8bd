"""The options of the job ``label``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class LabelOptions(Options):
    """The options of `label`."""

    target: str = option(
        column=True, help="The column of labels; labels for its empty cells are requested."
    )
    without: list[str] = option([], column=True, help="Columns that are not used.")
    n_questions: int = option(10, flag="questions", least=1, help="Rows whose label is requested.")
    strategy: str = option(
        "uncertainty",
        choices=("uncertainty", "margin", "entropy", "committee", "random"),
        help="How rows are chosen: the least sure of the model, or where a committee disagrees.",
    )
    random_state: int = option(0, flag="seed", least=0, help="Seed of draws.")


JOB = Job("label", LabelOptions, positional=("target",))
