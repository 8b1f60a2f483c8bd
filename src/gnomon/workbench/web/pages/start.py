"""The start page: a file is dropped, a path or an address typed, or an example taken."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from gnomon.engine.errors import DataError, GnomonError
from gnomon.table import ReadError, examples
from gnomon.workbench.base.given import with_reading
from gnomon.workbench.base.runs import all_runs
from gnomon.workbench.web.app import Asked, NotFound, Workbench, to

RECENT = 5  # judgement: what a returning person looks for is among the last few
MOST_NAME = 120  # bytes of the name of an uploaded file; systems allow 255
MOST_CHOICES = 200  # judgement: buttons of tables that are offered; the message names all
SHOWN_TASKS = ("read-", "columns-", "replay-", "again-")


def start(bench: Workbench, asked: Asked) -> Response:
    """The first page."""
    return bench.page(
        "start.html",
        here="start",
        examples=examples(),
        recent=list(reversed(all_runs(bench.session.runs)))[:RECENT],
        folder=os.getcwd(),
        at_work=[name for name in bench.session.at_work() if name.startswith(SHOWN_TASKS)],
        uploads=bench.uploads,
    )


def open_source(bench: Workbench, asked: Asked) -> Response:
    """Open what was typed or chosen."""
    source = asked.get("source").strip()
    if not source:
        raise DataError("Give a path, a postgresql:// URL, or take an example.")
    given = {name: asked.get(name).strip() for name in ("sheet", "table", "sql", "member")}
    try:
        return opened(bench, with_reading(source, {k: v for k, v in given.items() if v}))
    except ReadError as error:
        if error.choices is None or asked.fragment:
            raise
        given = {"source": source, **given}
        del given[error.choices[0]]
        title, choices = "Which table?", (error.choices[0], error.choices[1][:MOST_CHOICES])
        message = f"{error.file} {error.problem}."
        return bench.page("error.html", message=message, title=title, choices=choices, given=given)


def opened(bench: Workbench, source: str) -> Response:
    """The page to go to after a table was opened."""
    task = bench.session.open(source)
    return to("/table" if task is None else f"/tasks/{task}")


def task_page(bench: Workbench, asked: Asked) -> Response:
    """A task and how far it is; when it has ended, the page that it was for."""
    name = asked.path["name"]
    state = bench.session.state(name)
    if state is None:
        raise NotFound(f"there is no task {name!r}")
    what, _, about = name.partition("-")
    goes_to = {"read": "/table", "columns": "/views", "findings": "/table"}
    goes_to["again"] = f"/runs/{quote(about)}/again"
    place = goes_to.get(what, f"/replay/{name}")
    if state.status == "finished":
        if asked.fragment:
            return Response(headers={"hx-redirect": place})
        return to(place)
    template = "task_state.html" if asked.fragment else "task.html"
    content: dict[str, Any] = {"name": name, "state": state, "poll": f"/tasks/{name}"}
    if asked.fragment:
        return bench.part(template, **content)
    return bench.page(template, here="table", **content)


def cancel_task(bench: Workbench, asked: Asked) -> Response:
    """Stop a task."""
    from gnomon.workbench.web.tasks import cancel

    cancel(bench.session.task_folder(asked.path["name"]))
    return to(f"/tasks/{asked.path['name']}")


async def upload(bench: Workbench, request: Request) -> Response:
    """Keep an uploaded file in the session folder, piece by piece, and open it."""
    try:
        path = await received(bench, request)
        place = await run_in_threadpool(opened, bench, str(path))
    except GnomonError as error:
        return JSONResponse({"error": str(error)}, 400)
    except OSError as error:
        return JSONResponse({"error": f"The file cannot be kept: {error.strerror or error}."}, 400)
    return JSONResponse({"to": place.headers["location"]})


async def received(bench: Workbench, request: Request) -> Path:
    """The file of an upload; one that is too large is not kept."""
    given = Path(request.query_params.get("name", "")).name
    kept = re.sub(r"[^\w. -]+", "_", given).strip(". ").encode()
    name = kept[-MOST_NAME:].decode(errors="ignore").strip(". ") or "table.csv"
    folder = bench.session.folder / "uploads" / str(bench.session.next_id())
    folder.mkdir(parents=True, mode=0o700)
    size = 0
    with open(folder / name, "wb") as file:
        async for piece in request.stream():
            size += len(piece)
            if size > bench.uploads:
                break
            file.write(piece)
    if not 0 < size <= bench.uploads:
        (folder / name).unlink()
        what = "is empty" if not size else f"has more than {bench.uploads:,} bytes; give its path"
        raise DataError(f"The file {given!r} {what}.")
    return folder / name


ROUTES = [
    ("/", start, "GET"),
    ("/open", open_source, "POST"),
    ("/tasks/{name}", task_page, "GET"),
    ("/tasks/{name}/cancel", cancel_task, "POST"),
]
