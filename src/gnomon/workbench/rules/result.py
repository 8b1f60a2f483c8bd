"""What `rules` gives back: the rules beyond chance, and how well they complete a basket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.cluster import Itemsets, Rule, Suggestion, suggest_items
from gnomon.evaluate import Estimate
from gnomon.table import Table
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.rules.options import RulesOptions

HEADINGS = ["lift", "confidence", "baskets", "p corrected", "rule"]


@dataclass(frozen=True)
class Completion:
    """How often an item that was taken out of a basket is among the first five suggestions.

    Attributes
    ----------
    rules, popular : Estimate
        By the rules, and by the five most frequent items that the basket lacks.
    n_baskets : int
        Baskets that were put aside for it.
    """

    rules: Estimate
    popular: Estimate
    n_baskets: int


@dataclass(repr=False)
class RulesResult(JobResult):
    """Association rules; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    itemsets : Itemsets
    rules : list of Rule
        Beyond chance and not redundant, the greatest lift first.
    n_rules : int
        Rules that are frequent enough, before the tests.
    n_redundant : int
        Rules beyond chance that a shorter rule makes redundant.
    completion : Completion or None
        None where there are no rules or too few baskets.
    suggestions : list of Suggestion
        For the basket that was asked for.
    """

    itemsets: Itemsets
    rules: list[Rule]
    n_rules: int
    n_redundant: int
    completion: Completion | None
    suggestions: list[Suggestion]
    run: Run
    settings: RulesOptions
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def suggest(self, basket: Iterable[str], *, n_items: int = 5) -> list[Suggestion]:
        """What else goes with a basket.

        Parameters
        ----------
        basket : iterable of str
        n_items : int, default=5

        Returns
        -------
        suggestions : list of Suggestion
        """
        return suggest_items(basket, self.rules, n_items=n_items)

    def verdict(self) -> str:
        """In a sentence: are there rules beyond chance."""
        searched = f"{self.itemsets.n_searched:,} rules were searched"
        least = f"support at least {self.settings.min_support:.2%}"
        if not self.rules:
            return (
                f"No rule is beyond chance: {searched} ({least}), and none has a corrected p below "
                f"{self.settings.alpha:g}."
            )
        what = (
            "expected share of false ones"
            if "hochberg" in self.settings.correction
            else ("chance of any false one")
        )
        return (
            f"{len(self.rules):,} rules are beyond chance ({what} at most "
            f"{self.settings.alpha:.0%}); {searched} ({least}), {self.n_redundant:,} more say "
            "nothing that a shorter rule does not say. Intervals are of one rule each: of the "
            "strongest of many they hold less often, least of all of few baskets."
        )

    def completion_text(self) -> str:
        """In a sentence: do the rules help to complete a basket."""
        found = self.completion
        if found is None:
            return ""
        apart = found.rules.low > found.popular.high
        so = "" if apart else " The rules are not shown to suggest items better than that."
        return (
            f"Of {found.n_baskets:,} baskets put aside, one item taken out of each: it is among "
            f"the first five suggestions of the rules in {found.rules.value:.1%} "
            f"({found.rules.low:.1%} to {found.rules.high:.1%}), among the five most frequent "
            f"items in {found.popular.value:.1%} ({found.popular.low:.1%} to "
            f"{found.popular.high:.1%}).{so}"
        )

    def lines(self, most: int | None = None) -> list[list[Any]]:
        """The rules as text; `HEADINGS` are those of the columns."""
        return [
            [
                str(rule.lift),
                f"{rule.confidence.value:.1%}",
                rule.count,
                "<0.001" if rule.p < 0.001 else f"{rule.p:.3f}",
                str(rule),
            ]
            for rule in self.rules[:most]
        ]

    def suggestion_lines(self) -> list[list[Any]]:
        """The suggestions as text: item, confidence and rule."""
        return [
            [each.item, f"{each.rule.confidence.value:.1%}", str(each.rule.lift), str(each.rule)]
            for each in self.suggestions
        ]

    def table(self) -> Table:
        """The rules in numbers."""
        columns: dict[str, list[Any]] = {
            "left": [" + ".join(map(str, rule.left)) for rule in self.rules],
            "right": [str(rule.right) for rule in self.rules],
            "baskets": [rule.count for rule in self.rules],
        }
        for name in ("support", "confidence", "lift"):
            for part in ("value", "low", "high"):
                heading = name if part == "value" else f"{name} {part}"
                columns[heading] = [getattr(getattr(rule, name), part) for rule in self.rules]
        columns["p corrected"] = [rule.p for rule in self.rules]
        return Table.from_dict(columns)

    def summary(self) -> dict[str, Any]:
        """All results as plain data."""
        return as_json(
            {
                "verdict": self.verdict(),
                "clear": bool(self.rules),
                "baskets": self.itemsets.n_baskets,
                "items": len(self.itemsets.items),
                "item sets": len(self.itemsets.counts),
                "searched": self.itemsets.n_searched,
                "rules": [rule._asdict() | {"text": str(rule)} for rule in self.rules[:1000]],
                "redundant": self.n_redundant,
                "completion": self.completion,
                "suggestions": [[each.item, str(each.rule)] for each in self.suggestions],
                "notes": self.notes,
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the rules, where there are any."""
        if self.rules:
            written(self.table(), folder / "rules.csv")

    @property
    def same_if(self) -> str:
        """Whether a repetition has the same rules, as an expression."""
        return f"len(result.rules) == {len(self.rules)} and result.n_rules == {self.n_rules}"

    def __str__(self) -> str:
        sizes = f"{self.itemsets.n_baskets:,} baskets, {len(self.itemsets.items):,} items"
        return "\n".join(
            [sizes, *self.notes, self.verdict(), *filter(None, [self.completion_text()])]
        )
