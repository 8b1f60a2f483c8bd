"""What `advise` gives back: methods with the reasons for and against each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnomon.evaluate import Leaderboard
from gnomon.workbench.advise.options import AdviseOptions
from gnomon.workbench.base.result import JobResult
from gnomon.workbench.base.runs import Run

FOLDS = 5  # usual number of folds (scikit-learn's default cv)


@dataclass(frozen=True)
class Facts:
    """What the rules look at.

    Attributes
    ----------
    task : str
        ``"classify"`` or ``"regress"``.
    rows, columns : int
    numbers, categories, texts, dates : int
        Columns of each nature.
    levels : int
        Most levels of a category.
    missing : float
        Share of cells without a value.
    outliers : float
        Share of numbers beyond the whiskers of their column's box plot.
    rarest : float
        Share of the rarest class; 1 for numbers.
    classes : int
    identifiers, constants : tuple of str
        Columns that say nothing.
    condition : float
        Condition number of the correlations of the number columns.
    """

    task: str
    rows: int
    columns: int
    numbers: int
    categories: int
    texts: int
    dates: int
    levels: int
    missing: float
    outliers: float
    rarest: float
    classes: int
    identifiers: tuple[str, ...]
    constants: tuple[str, ...]
    condition: float


@dataclass(frozen=True)
class Reason:
    """Why a method is advised, or advised against.

    Attributes
    ----------
    weight : int
        Above zero: for it; below: against it.
    why : str
    texts : str
    """

    weight: int
    why: str
    texts: str


@dataclass
class Recommendation:
    """A method and the reasons for and against it.

    Attributes
    ----------
    name : str
    learner : estimator
        As `learn` would try it.
    reasons : list of Reason
    """

    name: str
    learner: Any
    reasons: list[Reason] = field(default_factory=list)

    @property
    def weight(self) -> int:
        return sum(reason.weight for reason in self.reasons)


@dataclass(repr=False)
class Advice(JobResult):
    """What `advise` found; prints itself.

    Attributes
    ----------
    target : str
    facts : Facts
    recommendations : list of Recommendation
        Most reasons first.
    cautions : list of Reason
        What to watch, whichever method is taken.
    tried : Leaderboard or None
        The methods on the same folds, where that was asked for.
    """

    target: str
    facts: Facts
    recommendations: list[Recommendation]
    cautions: list[Reason]
    run: Run
    settings: AdviseOptions
    tried: Leaderboard | None = None
    seconds: float = 0.0

    def summary(self) -> dict[str, Any]:
        """The advice as plain data, for records and scripts."""
        found: dict[str, Any] = {
            "target": self.target,
            "facts": vars(self.facts),
            "methods": [
                {
                    "method": each.name,
                    "weight": each.weight,
                    "reasons": [vars(reason) for reason in each.reasons],
                }
                for each in self.recommendations
            ],
            "cautions": [vars(reason) for reason in self.cautions],
        }
        if self.tried is not None:
            found["tried"] = [
                {"method": each.name, "mean": each.mean} for each in self.tried.results
            ]
        return found

    @property
    def same_if(self) -> str:
        """Whether a repetition ranks the methods alike, as an expression."""
        names = [each.name for each in self.recommendations]
        return f"[each.name for each in result.recommendations] == {names!r}"

    def __str__(self) -> str:
        facts = self.facts
        lines = [
            f"to {facts.task} {self.target!r}: {facts.rows:,} rows, {facts.columns} columns",
            "",
        ]
        for place, each in enumerate(self.recommendations, 1):
            lines.append(f"{place}. {each.name}  ({each.weight:+d})")
            for reason in sorted(each.reasons, key=lambda reason: -reason.weight):
                sign = "+" if reason.weight > 0 else "-"
                lines.append(f"   {sign} {reason.why} ({reason.texts})")
        if self.cautions:
            lines += ["", "Watch:"]
            lines += [f" ! {reason.why} ({reason.texts})" for reason in self.cautions]
        if self.tried is not None:
            lines += ["", *self._trial()]
        return "\n".join(lines)

    def _trial(self) -> list[str]:
        """How the methods fared on this table, in lines."""
        board = self.tried
        assert board is not None
        lines = [f"Tried on the same {FOLDS} folds, {board.measure}:"]
        for each in board.results:
            figure = each.interval()
            lines.append(
                f"   {each.name}: {figure.value:.4g}, 95% interval {figure.low:.4g} to "
                f"{figure.high:.4g}"
            )
        best, first = board.results[0], board[self.recommendations[0].name]
        if first is best:
            return [*lines, f"The advice held: {best.name} came first."]
        p = first.p_against(best)
        if np.isnan(p):
            return [
                *lines,
                f"{best.name} beat the advised {first.name}; whether beyond chance is not known, "
                f"as a fold has an infinite {board.measure} or none.",
            ]
        verdict = "not beyond chance" if p >= 0.05 else "beyond chance: do not follow the advice"
        return [*lines, f"{best.name} beat the advised {first.name}, {verdict} (p = {p:.2g})."]
