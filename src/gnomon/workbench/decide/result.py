"""What `improve` gives back: proposals with predicted outcomes, and what a trial promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gnomon.decide import Goal, Proposals
from gnomon.table import Table
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run
from gnomon.workbench.base.whole_file import written
from gnomon.workbench.decide.options import DecideOptions


class Trial(NamedTuple):
    """What one more trial promises.

    Attributes
    ----------
    best : int
        The proposal of the greatest expected gain.
    gains : list of float
        Expected gain of each proposal.
    in_worth : bool
        Whether gains are in the unit of ``worth``; otherwise they are shares of the outcomes'
        ranges by which every measured row is surpassed.
    """

    best: int
    gains: list[float]
    in_worth: bool


@dataclass(repr=False)
class DecideResult(JobResult):
    """Settings that are worth a trial; prints itself, draws pictures, writes a report.

    Attributes
    ----------
    table : Table
        All measured rows.
    want : dict of str to Goal
    proposals : Proposals
    scores : dict of str to str
        What predicts each outcome, and how well on test rows.
    trial : Trial
    run : Run
    settings : DecideOptions
    models : dict of str to estimator
        One fitted regressor per outcome.
    order : list of int
        The proposals that answers and wishes leave, best first; empty without any.
    contradiction : list of int
        Proposals of a cycle of answers; empty where answers agree.
    """

    table: Table
    want: dict[str, Goal]
    proposals: Proposals
    scores: dict[str, str]
    trial: Trial
    run: Run
    settings: DecideOptions
    models: dict[str, Any] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    contradiction: list[int] = field(default_factory=list)
    seconds: float = 0.0

    def letter(self, place: int) -> str:
        """What a proposal is called."""
        return chr(ord("A") + place)

    def gain_sentence(self) -> str:
        """What one more trial promises, and whether it is worth its cost."""
        letter, gain = self.letter(self.trial.best), self.trial.gains[self.trial.best]
        cost = self.settings.trial_cost
        if not self.trial.in_worth:
            return (
                f"A trial of {letter} is expected to surpass every measured row in some outcome by "
                f"{gain:.1%} of its range. Give --worth and --trial-cost to see whether to stop."
            )
        text = f"A trial of {letter} is expected to gain {gain:.4g} over the best measured row"
        if cost is None:
            return f"{text}. Give --trial-cost to see whether to stop."
        if gain > cost:
            return f"{text}, more than the {cost:g} that it costs."
        return f"{text}, not more than the {cost:g} that it costs. Stop here."

    @property
    def stop(self) -> bool:
        """Whether the next trial is worth less than it costs."""
        cost = self.settings.trial_cost
        return (
            cost is not None and self.trial.in_worth and self.trial.gains[self.trial.best] <= cost
        )

    def choice_sentence(self) -> str:
        """What answers and wishes lead to."""
        if self.contradiction:
            cycle = " > ".join(map(self.letter, [*self.contradiction, self.contradiction[0]]))
            return f"The answers contradict each other: {cycle}. Take one of them back."
        if not self.order:
            return ""
        return f"By the answers, in this order: {', '.join(map(self.letter, self.order))}."

    def __str__(self) -> str:
        parts = [f"{name}: {text}" for name, text in self.scores.items()]
        lines = [*parts, "", str(self.proposals), "", self.gain_sentence()]
        return "\n".join([*lines, *filter(None, [self.choice_sentence()])])

    @property
    def same_if(self) -> str:
        return f"result.proposals.settings == {as_json(self.proposals.settings)!r}"

    def summary(self) -> dict[str, Any]:
        """The result as plain data."""
        return as_json(
            {
                "models": self.scores,
                "proposals": [
                    {
                        "name": self.letter(i),
                        "settings": settings,
                        "predicted": {k: list(v[:3]) for k, v in outcomes.items()},
                        "nearest rows": (near + 1).tolist(),
                        "data near it": bool(inside),
                        "expected gain": gain,
                    }
                    for i, (settings, outcomes, near, inside, gain) in enumerate(
                        zip(
                            self.proposals.settings,
                            self.proposals.outcomes,
                            self.proposals.nearest,
                            self.proposals.inside,
                            self.trial.gains,
                        )
                    )
                ],
                "best trial": self.letter(self.trial.best),
                "stop": self.stop,
                "order": [self.letter(place) for place in self.order],
                "contradiction": [self.letter(place) for place in self.contradiction],
            }
        )

    def write_files(self, folder: Path) -> None:
        """Write the proposals and all measured rows."""
        written(self.proposals.to_table(), folder / "proposals.csv")
        written(self.table, folder / "measured.csv")
