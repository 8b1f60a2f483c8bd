"""The command ``gnomon rules``."""

from __future__ import annotations

from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.screen import console, print_table, say
from gnomon.workbench.rules.options import JOB

MOST_RULES = 20  # judgement: one screen; the table has all


class RulesCommand(JobCommand):
    """Find which items go together, with corrected p-values, or that none do beyond chance.

    The run folder gets rules.csv and report.html.

    Examples:

      gnomon rules sales.csv --basket receipt --item article

      gnomon rules answers.csv --min-support 0.05 --has "tea" --has "milk"
    """

    job = JOB
    suffix = "rules"
    failure = "Exit with 3 where no rule is beyond chance."

    def show(self, result: Any) -> None:
        """The verdict, the first rules and the suggestions."""
        from gnomon.workbench.rules.result import HEADINGS

        say(str(result))
        console.print()
        if result.rules:
            title = (
                f"the first {min(MOST_RULES, len(result.rules))} rules, by the lower end of lift"
            )
            print_table(HEADINGS, result.lines(MOST_RULES), title=title)
        if result.settings.has:
            self.show_suggestions(result)

    def show_suggestions(self, result: Any) -> None:
        """What else goes with the given basket."""
        has = " and ".join(result.settings.has)
        if not result.suggestions:
            say(f"No rule says what else goes with {has}.")
            return
        print_table(
            ["item", "confidence", "lift", "by the rule"],
            result.suggestion_lines(),
            title=f"who has {has} also has",
        )

    def failed(self, result: Any) -> bool:
        """Whether there is no rule."""
        return not result.rules
