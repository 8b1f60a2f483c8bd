"""The options of the job ``decide``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class DecideOptions(Options):
    """The options of `improve`, the job that the command line calls ``decide``."""

    turn: list[str] = option(
        [],
        help="A column that may be set: 'speed', 'speed=0:10' (bounds), 'speed=0:10:0.5' (steps), "
        "'kind=old|new' (levels), each with '@3' behind it where a change over the whole range "
        "costs 3.",
    )
    want: list[str] = option(
        [], help="A column that is wanted: 'yield:more', 'cost:less' or 'heat:near=70'."
    )
    given: list[str] = option(
        [],
        help="A column that cannot be set, and its value: 'shift=night'. Others are held at "
        "their median or commonest value.",
    )
    without: list[str] = option([], column=True, help="Columns that are not used.")
    prefer: list[str] = option(
        [], help="An answer: 'B>D' prefers proposal B of the list to proposal D."
    )
    wish: list[str] = option(
        [],
        help="A wish about an outcome, from the present choice on: 'yield:improve', "
        "'yield:until=12', 'cost:keep', 'cost:give-up=5' or 'cost:free'.",
    )
    measured: str | None = option(
        None, help="A file of trials that were measured since; its rows are added to the table."
    )
    worth: list[str] = option(
        [], help="What a unit of an outcome is worth: 'yield=3'. Needed to weigh a trial's price."
    )
    trial_cost: float | None = option(None, least=0, help="What one more trial costs.")
    proposals: int = option(7, least=2, greatest=20, help="How many settings are proposed at most.")
    budget: Any = option("60s", help="Time for fitting the models, such as '60s'; as of `learn`.")
    learners: list[str] | None = option(
        None, flag="learner", help="Compare these learners only; all by default."
    )
    random_state: int = option(
        0, flag="seed", least=0, help="Seed of the splits, of random learners and of the search."
    )


JOB = Job("decide", DecideOptions, python="improve", positional=("turn", "want"))
