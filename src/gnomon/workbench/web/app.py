"""The application: every address, and how an answer is made of a request."""

from __future__ import annotations

import datetime
import functools
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from gnomon.engine.errors import DataError, GnomonError
from gnomon.show.plotly_script import IN_A_PLANE
from gnomon.show.theme import THEMES
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.runs import plain_name
from gnomon.workbench.web.guard import MOST_FORM, Guard
from gnomon.workbench.web.script import codes
from gnomon.workbench.web.session import Session
from gnomon.workbench.web.steps import words_of

log = logging.getLogger("gnomon.web")
MEDIA = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
}


class NotFound(GnomonError):
    """There is no such page."""


@dataclass
class Asked:
    """The request for a page.

    Attributes
    ----------
    path : dict of str to str
        Names in the address.
    query, form : dict of str to list of str
    fragment : bool
        Whether a part of a page is asked for, by htmx.
    """

    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, list[str]] = field(default_factory=dict)
    form: dict[str, list[str]] = field(default_factory=dict)
    fragment: bool = False

    def get(self, name: str, default: str = "") -> str:
        """The value of a field, of the form or of the address."""
        found = self.form.get(name) or self.query.get(name) or [default]
        return found[0]

    def number(self, name: str, default: int, least: int = 0, most: int = 2**53) -> int:
        """A whole number between two bounds; beyond them it is the bound."""
        text = self.get(name, str(default))
        try:
            value = int(text)
        except ValueError:
            raise DataError(f"{name}={text[:40]!r} is not a whole number") from None
        return min(max(value, least), most)

    def data(self, name: str, default: Any) -> Any:
        """A field that holds JSON."""
        text = self.get(name)
        if not text:
            return default
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise DataError(f"{name} is not JSON") from None


Page = Callable[["Workbench", Asked], Response]


class Workbench:
    """The server's own state: the session, the templates and who may enter.

    Parameters
    ----------
    session : Session
    password : str, default=""
        That gives the token, where others may enter.
    uploads : int
        Bytes of the largest upload.
    """

    def __init__(self, session: Session, password: str = "", uploads: int = 2_000_000_000):
        self.session, self.password, self.uploads = session, password, uploads
        self.templates = Environment(
            loader=PackageLoader("gnomon.workbench.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters.update(
            duration=duration, count=count, moment=moment, quoted=lambda text: quote(text, safe="")
        )
        self.guard: Guard | None = None

    def page(self, template: str, status: int = 200, **content: Any) -> Response:
        """A page with the frame that all have: navigation, script panel."""
        content |= {"themes": THEMES, "traces": IN_A_PLANE, "here": content.get("here", "")}
        content |= self.script()
        return html(self.templates.get_template(template).render(**content), status)

    def script(self) -> dict[str, Any]:
        """What the script panel shows."""
        shown = codes(self.session.steps)
        lines = [(step, words_of(step), "\n".join(code.lines)) for step, code in shown]
        return {"session": self.session, "script": lines}

    def part(self, template: str, status: int = 200, **content: Any) -> Response:
        """A part of a page."""
        return html(self.templates.get_template(template).render(**content), status)

    def refusal(self, asked: Asked, message: str, status: int) -> Response:
        """What went wrong, in words, as a page or as a part of one."""
        if asked.fragment:
            return self.part("message.html", status, message=message, kind="bad")
        return self.page(
            "error.html", status, message=message, title="This does not work", choices=None
        )


def html(text: str, status: int = 200) -> Response:
    """An answer of HTML that no cache keeps: it shows the state of the session."""
    return Response(text, status, {"cache-control": "no-store"}, "text/html; charset=utf-8")


def to(place: str) -> Response:
    """Send the browser to another page."""
    return RedirectResponse(place, 303)


def data(content: Any) -> Response:
    """Plain data."""
    return JSONResponse(as_json(content), headers={"cache-control": "no-store"})


def download(text: str, name: str) -> Response:
    """A file to keep."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, headers=headers, media_type="text/plain; charset=utf-8")


def duration(seconds: float | None) -> str:
    """Seconds as people say them."""
    if seconds is None:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def count(number: float) -> str:
    """A number with its thousands apart."""
    return f"{number:,}"


def moment(text: str) -> str:
    """A time of a record, to the minute."""
    try:
        return datetime.datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return text


def endpoint(bench: Workbench, page: Page) -> Callable[[Request], Any]:
    """An address of the server: reads the request, and makes the page on a thread."""

    @functools.wraps(page)
    async def answered(request: Request) -> Response:
        asked = Asked(
            {k: str(v) for k, v in request.path_params.items()},
            parsed(request.url.query),
            fragment="hx-request" in request.headers,
        )
        try:
            if request.method == "POST":
                asked.form = parsed((await bounded(request)).decode("utf-8", "replace"))
            return await run_in_threadpool(page, bench, asked)
        except NotFound as error:
            return bench.refusal(asked, str(error), 404)
        except GnomonError as error:
            return bench.refusal(asked, str(error), 400)
        except Exception:
            log.exception("a page failed: %s", request.url.path)
            return bench.refusal(asked, "A fault of gnomon; the terminal shows it.", 500)

    return answered


def parsed(text: str) -> dict[str, list[str]]:
    """The fields of a form or of an address."""
    try:
        return parse_qs(text, keep_blank_values=True, max_num_fields=2000)
    except ValueError:
        raise DataError("the form has too many fields") from None


async def bounded(request: Request) -> bytes:
    """The body of a request, of at most a form's size."""
    found = b""
    async for piece in request.stream():
        found += piece
        if len(found) > MOST_FORM:
            raise DataError(f"a form may have {MOST_FORM:,} bytes at most")
    return found


def static(name: str) -> Response:
    """A file of the package; only names that it has."""
    known = {each.name: each for each in files("gnomon.workbench.web").joinpath("static").iterdir()}
    if name not in known:
        raise NotFound(f"there is no file {name!r}")
    kind = MEDIA.get(Path(name).suffix, "application/octet-stream")
    return Response(
        known[name].read_bytes(), headers={"cache-control": "no-cache"}, media_type=kind
    )


def file_of(folder: Path, name: str) -> FileResponse:
    """A file of a folder; only names that it lists."""
    if name not in {each.name for each in folder.iterdir() if each.is_file()}:
        raise NotFound(f"there is no file {name!r} in {folder.name}")
    return FileResponse(folder / name, headers={"cache-control": "no-store"})


def run_of(bench: Workbench, asked: Asked) -> Path:
    """The folder of a run that an address names."""
    name = asked.path["name"]
    if name != plain_name(name) or not (bench.session.runs / name).is_dir():
        raise NotFound(f"there is no run {name!r}")
    return bench.session.runs / name
