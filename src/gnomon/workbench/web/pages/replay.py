"""Replay: a fit, a search or a PageRank on the table, played, stepped and scrubbed."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.web.app import Asked, NotFound, Workbench, data, to
from gnomon.workbench.web.fitted import method_of, usual_columns
from gnomon.workbench.web.forms import settings_of
from gnomon.workbench.web.replays import KINDS, LEARNT, replayable, searches
from gnomon.workbench.web.tasks import read_json


def replay_page(bench: Workbench, asked: Asked) -> Response:
    """The forms: a fit, a search for a tour through the rows, a PageRank of rows that are links."""
    table, _ = bench.session.require_table()
    return bench.page(
        "replay.html",
        here="replay",
        methods=replayable(),
        searches=searches(),
        learnt=LEARNT,
        table=table,
        used=usual_columns(table),
        shown=None,
    )


def begin_replay(bench: Workbench, asked: Asked) -> Response:
    """Start a replay with all its steps kept."""
    session = bench.session
    table, _ = session.require_table()
    kind = asked.get("kind", "fit")
    if kind not in GIVEN:
        raise DataError(f"{kind[:40]!r} is no kind of replay")
    method, columns, target = GIVEN[kind](table, asked)
    table.select([*columns, target] if target else columns)
    settings = settings_of(asked.get("settings"), KINDS[kind].settings(method))
    number = session.next_id()
    given = {"method": method, "settings": settings, "columns": columns, "target": target}
    step = {"id": number, "do": "replay", "with": given | {"kind": kind}, "table": False}
    task = {"do": "replay", "to": str(place(bench, f"replay-{number}")), "step": step}
    return to(f"/tasks/{session.begin(f'replay-{number}', task | session.table_task())}")


def given_fit(table: Table, asked: Asked) -> tuple[str, list[str], str | None]:
    """Method, columns and target of a fit."""
    method = method_of(asked.get("method"))
    if method not in replayable():
        raise DataError(f"{method.name} keeps no steps")
    target = asked.get("target") or None
    if method.task in LEARNT and target is None:
        raise DataError(f"{method.name} learns a column: choose the target")
    if method.task not in LEARNT:
        target = None
    return method.name, chosen_columns(table, asked, target), target


def given_tour(table: Table, asked: Asked) -> tuple[str, list[str], None]:
    """Method and columns of a search."""
    method = asked.get("method")
    if method not in searches():
        raise DataError(f"{method[:40]!r} does not search among orders")
    return method, chosen_columns(table, asked, None), None


def given_links(table: Table, asked: Asked) -> tuple[str, list[str], None]:
    """The two columns of links."""
    return "PageRank", [asked.get("tail"), asked.get("head")], None


GIVEN = {"fit": given_fit, "tour": given_tour, "links": given_links}


def chosen_columns(table: Table, asked: Asked, target: str | None) -> list[str]:
    """The columns that were ticked, or the usual ones; never the target."""
    ticked = [name for name in asked.form.get("columns", []) if name and name != target]
    return ticked or [name for name in usual_columns(table) if name != target]


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
