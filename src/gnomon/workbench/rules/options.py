"""The options of the job ``rules``."""

from __future__ import annotations

from dataclasses import dataclass

from gnomon.workbench.base.job import Job
from gnomon.workbench.base.options import Options, option


@dataclass
class RulesOptions(Options):
    """The options of `rules`."""

    basket: str | None = option(
        None,
        column=True,
        help="The column that names the basket, where each row is one item. Without it, each row "
        "is a basket, and its items are the columns that are true or 1 and the levels of "
        "categories.",
    )
    item: str | None = option(
        None, column=True, help="The column of items, where each row is one item."
    )
    without: list[str] = option([], column=True, help="Columns that are not items.")
    has: list[str] = option(
        [], help="Items of a basket to complete: what else do those who have them have?"
    )
    min_support: float = option(
        0.01, least=0, greatest=1, open=True, help="Least share of the baskets that hold a rule."
    )
    max_length: int = option(4, least=2, greatest=10, help="Most items of a rule.")
    min_confidence: float = option(0.0, least=0, greatest=1, help="Least confidence of a rule.")
    correction: str = option(
        "benjamini-hochberg",
        choices=("benjamini-hochberg", "holm"),
        help="Bounds the expected share of false rules, or the chance of any.",
    )
    alpha: float = option(
        0.05, least=0, greatest=1, open=True, help="Corrected p below which a rule is shown."
    )
    random_state: int = option(
        0, flag="seed", least=0, help="Seed of the baskets that are put aside."
    )


JOB = Job("rules", RulesOptions)
