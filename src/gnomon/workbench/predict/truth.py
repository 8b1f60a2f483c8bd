"""The score of a model on new rows whose target is known.

Where the run was told the groups or the time of its rows, the interval counts them as the run did.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from gnomon.engine.errors import GnomonError
from gnomon.evaluate import Estimate
from gnomon.evaluate.run_folder import fingerprint
from gnomon.table import Table
from gnomon.workbench.analysis.diagnosis import said_by
from gnomon.workbench.analysis.problem import LearningProblem
from gnomon.workbench.base.runs import RunError, read_record
from gnomon.workbench.learn.final_figure import final_figure

FEWEST_SCORED = 5  # judgement: a score of fewer rows has no useful interval
LEARNT_FROM = (
    "These rows are those of the run: the model has learnt from most of them, and the score is too "
    "good. The score on the run's test rows is the honest one."
)


def score_on(
    folder: Path, model: Any, rows: Table, inputs: Table, notes: list[str]
) -> tuple[str, Estimate] | None:
    """The measure of the run and its value on the rows whose target is known.

    Parameters
    ----------
    folder : Path
        The run folder of the model.
    model : fitted estimator
    rows : Table
        As given; may have the target.
    inputs : Table
        As the model sees them.
    notes : list of str
        Gets what could not be scored, and why.

    Returns
    -------
    score : (str, Estimate) or None
        None where the target is not there.
    """
    record = record_of_learning(folder)
    asked = None if record is None else record["settings"]
    if record is None or asked is None or asked["target"] not in rows.columns:
        return None
    told = (asked.get("groups"), asked.get("time"))
    known = np.flatnonzero(pc.is_valid(rows.column(asked["target"])).to_numpy())
    if len(known) < FEWEST_SCORED:
        return None
    try:
        some = rows[known]
        groups, moments = (name if name in rows.columns else None for name in told)
        problem = LearningProblem(
            some, rows[:0], asked["target"], asked["task"], asked["measure"], groups, moments
        )
        y = problem.values(some)
        found = final_figure(problem, some, y, said_by(model, inputs[known], y, problem.figure))
    except (GnomonError, ValueError, TypeError) as error:
        notes.append(f"The column {asked['target']!r} is there but could not be scored: {error}")
        return None
    lost = [name for name in told if name and name not in rows.columns]
    if lost:
        notes.append(
            f"Without the column {lost[0]!r} the score counts rows as independent: its interval is "
            "likely too short."
        )
    if is_of(record["data"], rows):
        notes.append(LEARNT_FROM)
    return asked["measure"], found


def record_of_learning(folder: Path) -> dict[str, Any] | None:
    """The record of a run of `learn`; None for other runs."""
    try:
        record = read_record(folder)
    except RunError:
        return None
    return record if record.get("job") == "learn" else None


def is_of(data: dict[str, Any], rows: Table) -> bool:
    """Whether rows are those of a run, by what its record says of them."""
    if data.get("rows") != len(rows) or data.get("columns") != list(rows.columns):
        return False
    return bool(data["fingerprint"] == fingerprint(rows))


def threshold_of(folder: Path) -> dict[str, Any] | None:
    """The threshold of least cost that a run of `learn` chose; None where it was given no costs."""
    try:
        record = read_record(folder)
    except RunError:
        return None
    found: dict[str, Any] | None = (record.get("results") or {}).get("threshold")
    return found
