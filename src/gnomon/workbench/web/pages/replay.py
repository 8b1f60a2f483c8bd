"""Replay: the fit of an iterative method on the table, played, stepped and scrubbed."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.workbench.web.app import Asked, NotFound, Workbench, data, to
from gnomon.workbench.web.fitted import (
    LEARNT,
    method_of,
    parameters_of,
    replayable,
    usual_columns,
)
from gnomon.workbench.web.forms import settings_of
from gnomon.workbench.web.tasks import read_json


def replay_page(bench: Workbench, asked: Asked) -> Response:
    """The form: a method whose steps are kept, its settings and the columns."""
    table, _ = bench.session.require_table()
    return bench.page(
        "replay.html",
        here="replay",
        methods=replayable(),
        learnt=LEARNT,
        table=table,
        used=usual_columns(table),
        shown=None,
    )


def begin_replay(bench: Workbench, asked: Asked) -> Response:
    """Fit the method with all its steps kept."""
    session = bench.session
    table, _ = session.require_table()
    method = method_of(asked.get("method"))
    if "keep_history" not in parameters_of(method):
        raise DataError(f"{method.name} keeps no steps")
    target = asked.get("target") or None
    if method.task in LEARNT and target is None:
        raise DataError(f"{method.name} learns a column: choose the target")
    if method.task not in LEARNT:
        target = None
    columns = [name for name in asked.form.get("columns", []) if name and name != target]
    columns = columns or [name for name in usual_columns(table) if name != target]
    table.select([*columns, target] if target else columns)
    settings = settings_of(asked.get("settings"), set(parameters_of(method)) - {"keep_history"})
    number = session.next_id()
    given = {"method": method.name, "settings": settings, "columns": columns, "target": target}
    step = {"id": number, "do": "replay", "with": given, "table": False}
    task = {"do": "replay", "to": str(place(bench, f"replay-{number}")), "step": step, **given}
    return to(f"/tasks/{session.begin(f'replay-{number}', task | session.table_task())}")


def place(bench: Workbench, name: str) -> Path:
    """Where the figures of a replay are kept."""
    return bench.session.task_folder(name) / "figures.json"


def shown_replay(bench: Workbench, asked: Asked) -> Response:
    """The player of a replay."""
    found = read_json(place(bench, asked.path["name"]))
    if found is None:
        raise NotFound(f"there is no replay {asked.path['name']!r}")
    return bench.page("player.html", here="replay", name=asked.path["name"], shown=found)


def replay_figure(bench: Workbench, asked: Asked) -> Response:
    """A figure of a replay, with a frame per step."""
    found = read_json(place(bench, asked.path["name"]))
    if found is None:
        raise NotFound(f"there is no replay {asked.path['name']!r}")
    figures = found["figures"].get(asked.path["figure"])
    if figures is None:
        raise NotFound(f"a replay has no figure {asked.path['figure']!r}")
    return data(figures["dark" if asked.get("theme") == "dark" else "light"])


ROUTES = [
    ("/replay", replay_page, "GET"),
    ("/replay", begin_replay, "POST"),
    ("/replay/{name}", shown_replay, "GET"),
    ("/replay/{name}/{figure}", replay_figure, "GET"),
]
