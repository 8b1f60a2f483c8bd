"""The loop of `decide`: proposals side by side, answers, wishes, measured trials, and again."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import read
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.decide.options import JOB
from gnomon.workbench.web.app import Asked, Workbench, run_of, to

WISHES = ("improve", "keep", "free", "until", "give-up")


def goes_on(bench: Workbench, asked: Asked) -> Response:
    """One more turn of the loop: a run with an answer, a wish or a trial more than the last."""
    record = read_record(run_of(bench, asked))
    if record["job"] != JOB.name or record["status"] != "finished":
        raise DataError("This is no finished run of decide.")
    options = JOB.options(**record["settings"]).changed()
    what = asked.get("do")
    if what == "prefer":
        letters = [each["name"] for each in record["results"]["proposals"]]
        better, worse = asked.get("better"), asked.get("worse")
        if better not in letters or worse not in letters or better == worse:
            raise DataError("An answer names two different proposals.")
        options["prefer"] = [*options.get("prefer", []), f"{better}>{worse}"]
    elif what == "wish":
        options["wish"] = wishes_of(asked, record)
    elif what == "trial":
        options["measured"] = str(measured(bench, asked, options))
        options.pop("prefer", None)  # letters of former proposals
        options.pop("wish", None)
    else:
        raise DataError(f"{what[:40]!r} is no turn of the loop")
    return to(f"/runs/{bench.session.run_job(JOB.name, JOB.options(**options).changed())}")


def wishes_of(asked: Asked, record: dict[str, Any]) -> list[str]:
    """The wishes of the form, one for each outcome that has one."""
    found = []
    for name in record["results"]["models"]:
        wish = asked.get(f"wish {name}")
        if wish not in WISHES:
            continue
        value = asked.get(f"value {name}").strip()
        if wish in ("until", "give-up") and not value:
            raise DataError(f"Give the value of {name} by its slider or its field.")
        found.append(f"{name}:{wish}={value}" if wish in ("until", "give-up") else f"{name}:{wish}")
    if not found:
        raise DataError("Choose a wish for an outcome.")
    return found


def wishes_given(record: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Wish and value of each outcome in the settings of a run, for its form."""
    found = {}
    for text in record["settings"].get("wish", []):
        outcome, _, wish = text.rpartition(":")
        word, _, value = wish.partition("=")
        found[outcome] = (word, value)
    return found


def measured(bench: Workbench, asked: Asked, options: dict[str, Any]) -> Path:
    """A file of all trials so far, with the one of the form added."""
    table, _ = bench.session.require_table()
    given = {
        name: asked.get(f"cell {name}").strip()
        for name in table.columns
        if asked.get(f"cell {name}").strip()
    }
    if not given:
        raise DataError("Fill in what was set and what was measured.")
    before = []
    if options.get("measured"):
        known = read(options["measured"])
        before = [known.row(k) for k in range(len(known))]
    place = bench.session.folder / "trials" / f"{bench.session.next_id()}.csv"
    place.parent.mkdir(exist_ok=True)
    with open(place, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table.columns), restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows([*before, given])
    return place


ROUTES = [("/runs/{name}/decide", goes_on, "POST")]
