"""The command ``gnomon decide``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gnomon.workbench.base.command import JobCommand
from gnomon.workbench.base.options import Option
from gnomon.workbench.base.screen import print_table, say
from gnomon.workbench.decide.options import JOB

MOST_QUESTIONS = 8  # judgement: a person answers a few; the value known by then is stated


class DecideCommand(JobCommand):
    """Find settings that are worth the next trial, from rows that were measured.

    Columns are turned (may be set), wanted (more, less, near a value) or given. Where the terminal
    can answer, it asks which of two proposals is better.

    Examples:

      gnomon decide trials.csv --turn speed --turn heat=20:80:5 --want yield:more --want cost:less

      gnomon decide trials.csv ... --record "speed=4,heat=60,yield=12.5,cost=3"
    """

    job = JOB
    suffix = "decision"
    failure = "Exit with 3 where the next trial is worth less than it costs."
    own = (
        Option("record", str, None, "A trial that was measured: 'speed=4,...'.", flag="record"),
        Option("ask", bool, True, "Ask which of two proposals is better.", flag="ask"),
    )

    def run(self, words: dict[str, Any]) -> None:
        """Keep a trial that was measured, then do the job with it."""
        if words["record"] is not None:
            words["measured"] = str(self.recorded(words))
        super().run(words)

    def recorded(self, words: dict[str, Any]) -> Path:
        """The file of trials with one more row."""
        from gnomon.engine.errors import DataError
        from gnomon.table import Table
        from gnomon.workbench.base.given import as_table
        from gnomon.workbench.base.whole_file import written
        from gnomon.workbench.decide.words import settings

        table = self.table(self.given(words))
        place = Path(words["measured"] or f"{Path(str(words['file'] or 'table')).stem}.trials.csv")
        row = settings([each.strip() for each in words["record"].split(",")], table, "record")
        if not row:
            raise DataError("--record has no values: write 'speed=4,heat=60,yield=12.5'")
        before = as_table(place).to_dict() if place.exists() else {}
        n = len(next(iter(before.values()), []))
        columns = {
            name: [*before.get(name, [None] * n), row.get(name)]
            for name in table.columns
            if name in before or name in row
        }
        written(Table.from_dict(columns), place)
        say(f"kept the trial in {place} ({n + 1} trials)")
        return place

    def show(self, result: Any) -> None:
        """The proposals; then questions, where somebody can answer them."""
        for name, text in result.scores.items():
            say(f"{name}: {text}")
        columns = result.proposals.shown()
        print_table(list(columns), list(zip(*columns.values())), title="settings worth a trial")
        if result.proposals.others_sentence():
            say(result.proposals.others_sentence())
        say(result.gain_sentence())
        if result.choice_sentence():
            say(result.choice_sentence())
        if self.asking and sys.stdin.isatty() and len(result.proposals.settings) > 1:
            self.question(result)

    def work(self, words: dict[str, Any], subject: Any, given: str, folder: Path | None) -> Any:
        """The result of the job."""
        self.asking = words["ask"]
        return super().work(words, subject, given, folder)

    def question(self, result: Any) -> None:
        """Ask which of two proposals is better until the answers are clear or the person stops."""
        from gnomon.decide import PreferenceSearch
        from gnomon.engine.errors import DataError
        from gnomon.workbench.decide.job import predicted_losses

        predicted, wanted = predicted_losses(result)
        search = PreferenceSearch(predicted, wanted)
        for _ in range(MOST_QUESTIONS):
            try:
                first, second = search.ask()
            except DataError:
                break
            letters = result.letter(first), result.letter(second)
            answer = input(f"{letters[0]} or {letters[1]}? (empty to stop) ").strip().upper()
            if answer not in letters:
                break
            pair = (first, second) if answer == letters[0] else (second, first)
            search.tell(*pair)
        result.order = search.standing().rows.tolist()
        result.contradiction = search.contradiction()
        say(result.choice_sentence())
        said = " ".join(
            f'--prefer "{result.letter(a)}>{result.letter(b)}"' for a, b in search.answers
        )
        if said:
            say(f"the same without questions: {said}")

    def after(self, folder: Path) -> None:
        """How to add what a trial gave."""
        say('next: try a proposal, then repeat the command with --record "SETTING=...,OUTCOME=..."')

    def failed(self, result: Any) -> bool:
        """Whether the next trial is worth less than it costs."""
        return bool(result.stop)
