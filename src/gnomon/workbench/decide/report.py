"""What `gnomon decide` shows: pictures, and a report."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from gnomon import show
from gnomon.decide import pareto_front, sweep
from gnomon.workbench.base.report import Report
from gnomon.workbench.decide.job import predicted_losses
from gnomon.workbench.decide.result import DecideResult
from gnomon.workbench.decide.words import settings, turns

CAPTIONS = {
    "proposals": "Predicted outcomes of the proposed settings, with 95% intervals from the errors "
    "of rows that the models had not seen.",
    "front": "The proposals by their predicted outcomes, and the measured rows: one goal is "
    "improved only by giving up another. The circle marks the proposal that is worth most.",
    "sweeper": "What the model predicts as two inputs are set and all others stay as they are; "
    "grey where there are no data.",
}


def pictures_of(result: DecideResult) -> dict[str, Callable[[str], Any]]:
    """The pictures of a decision: functions of the theme, by name."""
    found: dict[str, Callable[[str], Any]] = {
        "proposals": lambda theme: show.proposals(result.proposals, theme=theme)
    }
    if len(result.want) > 1 and len(result.proposals.settings) > 1:
        found["front"] = partial(_front, result)
    turned = list(turns(result.settings.turn, result.table))
    over = next(iter(pairwise(turned)), tuple(turned))
    for name in result.want:
        found[f"sweeper of {name}"] = partial(_sweeper, result, name, over)
    return found


def _front(result: DecideResult, theme: str) -> Any:
    predicted, wanted = predicted_losses(result)
    front = pareto_front(predicted, wanted)
    first = result.order[0] if result.order else result.trial.best
    chosen = first if first in front.rows else None
    letters = [result.letter(i) for i in range(len(result.proposals.settings))]
    measured = np.column_stack([result.table.column(name).to_numpy() for name in wanted])
    behind = measured if len(wanted) == 2 else None
    return show.front(front, behind, chosen=chosen, names=letters, theme=theme)


def _sweeper(result: DecideResult, name: str, over: tuple[str, ...], theme: str) -> Any:
    inputs = result.table.drop([*result.want, *result.settings.without])
    held = settings(result.settings.given, result.table, "given")
    best = result.proposals.settings[result.trial.best]
    fixed = held | {key: value for key, value in best.items() if key not in over}
    swept = sweep(result.models[name], inputs, over, fixed=fixed)
    return show.sweeper(swept, title=f"{name} over {' and '.join(over)}", theme=theme)


def report_of(result: DecideResult) -> Report:
    """The report of a decision."""
    source = result.run.called or "a table"
    report = Report(f"Settings worth a trial: {source}", f"{len(result.table):,} measured rows")
    report.section("What to try next")
    report.verdict(result.gain_sentence(), "warning" if result.stop else "good")
    if result.choice_sentence():
        report.text(result.choice_sentence())
    columns = result.proposals.shown()
    others = result.proposals.others_sentence()
    report.table(
        list(columns), zip(*columns.values()), f"Inside the data unless it says otherwise. {others}"
    )
    report.section("Pictures")
    for name, draw in pictures_of(result).items():
        report.figure(draw("light"), CAPTIONS[name.split(" ")[0]])
    report.section("Nearest measured rows")
    rows = []
    for i, near in enumerate(result.proposals.nearest):
        for place in near.tolist():
            row = result.table.row(place)
            rows.append([result.letter(i), place + 1, *(row[c] for c in result.table.columns)])
    report.table(["proposal", "row", *result.table.columns], rows)
    report.section("Models")
    report.table(["outcome", "predicted by"], list(result.scores.items()))
    report.section("Decisions")
    report.table(["what", "why"], [[e["what"], e["why"]] for e in result.run.decisions])
    return report
