"""What all pages share: styles and scripts, the password, the session's own script."""

from __future__ import annotations

import hmac
from pathlib import Path

from starlette.responses import RedirectResponse, Response

from gnomon.show.plotly_script import packed_script
from gnomon.show.theme import THEMES
from gnomon.workbench.web.app import Asked, NotFound, Workbench, download, static, to
from gnomon.workbench.web.labels import kept_again
from gnomon.workbench.web.script import as_notebook, as_python


def plotly_script(bench: Workbench, asked: Asked) -> Response:
    """The script that draws figures: the part for those in a plane, or all of it."""
    name = asked.path["name"]
    if name not in ("plane", "all"):
        raise NotFound(f"there is no script {name!r}")
    headers = {"content-encoding": "gzip", "cache-control": "private, max-age=86400"}
    return Response(packed_script(name == "plane"), headers=headers, media_type="text/javascript")


def static_file(bench: Workbench, asked: Asked) -> Response:
    """A style or a script of the pages."""
    return static(asked.path["name"])


def login(bench: Workbench, asked: Asked) -> Response:
    """The page that asks others for the password."""
    given = asked.get("password")
    if not bench.password:
        return to("/")
    right = hmac.compare_digest(given.encode("utf-8", "replace"), bench.password.encode())
    if given and right and bench.guard is not None:
        return RedirectResponse("/", 303, {"set-cookie": bench.guard.set_cookie()})
    return bench.part("login.html", 403 if given else 200, wrong=bool(given), themes=THEMES)


def session_script(bench: Workbench, asked: Asked) -> Response:
    """The session as a script or as a notebook."""
    if asked.path["name"] == "session.ipynb":
        return download(as_notebook(bench.session.steps), "session.ipynb")
    return download(as_python(bench.session.steps), "session.py")


def walk(bench: Workbench, asked: Asked) -> Response:
    """Undo or redo a step."""
    session = bench.session
    step = session.undo() if asked.path["way"] == "undo" else session.redo()
    if step is not None and step["do"] == "answer":
        kept_again(session, Path(step["with"]["run"]))
    back = asked.get("back")
    return to(back if back.startswith("/") and not back.startswith("//") else "/table")


ROUTES = [
    ("/static/plotly/{name}.js", plotly_script, "GET"),
    ("/static/{name}", static_file, "GET"),
    ("/script/{name}", session_script, "GET"),
    ("/walk/{way}", walk, "POST"),
    ("/login", login, "GET"),
    ("/login", login, "POST"),
]
