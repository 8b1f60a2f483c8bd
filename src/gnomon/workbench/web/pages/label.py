"""The questions of `label`: the next row with its cells, the classes to choose from, the curve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.label.options import JOB
from gnomon.workbench.label.result import curve_of
from gnomon.workbench.web.app import Asked, NotFound, Workbench, data, run_of, to
from gnomon.workbench.web.cells import cells_of_row
from gnomon.workbench.web.labels import Questions, questions_of

MOST_CELLS = 200  # judgement: columns that a person may read through for one row
MOST_BUTTONS = 24  # judgement: classes that are found by eye; of more the field offers the names


def labeling(bench: Workbench, folder: Path, asked: Asked) -> dict[str, Any]:
    """What the part of a run's page shows that takes the answers."""
    questions = questions_of(bench.session, folder)
    if questions is None:
        return {"questions": None}
    waiting, chosen = questions.waiting, asked.get("row")
    row = questions.require(asked.number("row", 0)) if chosen else next(iter(waiting), None)
    names = [name for name in questions.table.columns if name != questions.target]
    shown = questions.table.select(names[:MOST_CELLS])
    results = questions.record["results"]
    sureness: dict[int | None, Any] = dict(zip(questions.rows, results["sureness"]))
    return {
        "name": folder.name,
        "questions": questions,
        "row": row,
        "cells": [] if row is None else cells_of_row(shown, row),
        "n_hidden": max(len(names) - MOST_CELLS, 0),
        "sure": sureness.get(row),
        "buttons": questions.classes[:MOST_BUTTONS],
        "curve": bool(results["curve"]),
    }


def turn(bench: Workbench, asked: Asked) -> Response:
    """An answer, a row that is skipped, or what follows the answers."""
    folder = run_of(bench, asked)
    questions = questions_of(bench.session, folder)
    if questions is None:
        raise DataError("This is no finished run of label in this session.")
    what = asked.get("do")
    if what == "use":
        questions.use()
        return to("/table")
    if what == "next":
        questions.use()
        options = JOB.options(**questions.record["settings"]).changed()
        return to(f"/runs/{bench.session.run_job(JOB.name, options)}")
    wrong = ""
    try:
        note(questions, asked)
    except DataError as error:
        if not asked.fragment:
            raise
        wrong = str(error)
    if not asked.fragment:
        return to(f"/runs/{folder.name}")
    asked.form.clear()  # the next row is shown
    content = labeling(bench, folder, asked) | bench.script()
    return bench.part("labeled.html", wrong=wrong, **content)


def note(questions: Questions, asked: Asked) -> None:
    """Note an answer, or a row that is skipped."""
    what = asked.get("do")
    if what == "answer":
        questions.answer(asked.number("row", -1), asked.get("new").strip() or asked.get("label"))
    elif what == "skip":
        questions.skip(asked.number("row", -1))
    elif what == "take up":
        questions.take_up_skipped()
    else:
        raise DataError(f"{what[:40]!r} is no answer")


def curve(bench: Workbench, asked: Asked) -> Response:
    """The figure of asking against random choice."""
    from gnomon.show import label_curves
    from gnomon.show.theme import THEMES

    record = read_record(run_of(bench, asked))
    found = record.get("results", {}).get("curve") if record.get("job") == JOB.name else None
    if not found:
        raise NotFound(f"{asked.path['name']!r} has no curve")
    theme = asked.get("theme", "light")
    if theme not in THEMES:
        raise DataError(f"there is no theme {theme[:40]!r}")
    drawn = label_curves(curve_of(found, record["settings"]["strategy"]), theme=theme)
    return data(json.loads(drawn.to_json()))


ROUTES = [("/runs/{name}/label", turn, "POST"), ("/runs/{name}/curve", curve, "GET")]
