"""Every address of the workbench, and the page that answers there."""

from __future__ import annotations

import functools

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gnomon.workbench.web.app import Asked, Workbench, endpoint
from gnomon.workbench.web.pages import (
    again,
    common,
    decide,
    help,
    jobs,
    label,
    model,
    replay,
    runs,
    start,
    table,
    views,
)

PAGES = (start, table, views, jobs, runs, decide, label, model, again, replay, help, common)


def make_app(bench: Workbench) -> Starlette:
    """The application of a workbench."""

    async def missing(request: Request, error: Exception) -> Response:
        return bench.refusal(Asked(), "There is no such page.", getattr(error, "status_code", 404))

    made = [
        Route(path, endpoint(bench, page), methods=[way])
        for module in PAGES
        for path, page, way in module.ROUTES
    ]
    made.append(Route("/upload", functools.partial(start.upload, bench), methods=["POST"]))
    return Starlette(routes=made, exception_handlers={404: missing, 405: missing})
