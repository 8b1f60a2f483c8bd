"""Start the server, say where it is, and open the browser."""

from __future__ import annotations

import socket
import threading
import webbrowser
from typing import Any

import uvicorn

from gnomon.engine.errors import GnomonError
from gnomon.engine.registry import load_packages
from gnomon.show.plotly_script import packed_script
from gnomon.table.sql import open_duckdb
from gnomon.workbench.web.app import Workbench
from gnomon.workbench.web.guard import Guard
from gnomon.workbench.web.routes import make_app
from gnomon.workbench.web.session import Session

READY = 2.0  # seconds after the start: the first page comes first
LOCAL = ("127.0.0.1", "localhost", "::1")


class PortError(GnomonError):
    """The port cannot be used."""


def guarded(bench: Workbench, host: str, port: int) -> Guard:
    """The application behind its guard."""
    bench.guard = Guard(
        make_app(bench),  # type: ignore[arg-type]
        bench.session.token(),
        port,
        host,
        bench.uploads,
        bool(bench.password),
    )
    return bench.guard


def bound(host: str, port: int) -> socket.socket:
    """A socket of the port, or of a free one where it is 0; it keeps who comes early waiting."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen()
    except OSError as error:
        found.close()
        raise PortError(
            f"port {port} of {host} cannot be used ({error.strerror}); give another with --port"
        ) from None
    return found


def link_of(host: str, port: int, token: str, place: str = "/") -> str:
    """The address that opens a page of the workbench."""
    name = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    shown = f"[{name}]" if ":" in name else name
    return f"http://{shown}:{port}{place}" + (f"?token={token}" if token else "")


def prepare(bench: Workbench) -> None:
    """Load what the first pages, views and lists of methods need, before anybody opens them."""
    for name in bench.templates.list_templates(["html"]):
        bench.templates.get_template(name)
    open_duckdb().close()
    load_packages()
    for in_a_plane in (True, False):
        packed_script(in_a_plane)


def serve(
    session: Session, place: str, host: str, port: int, password: str, browser: bool, say: Any
) -> None:
    """Serve until stopped.

    Parameters
    ----------
    session : Session
    place : str
        The page to begin with.
    host : str
    port : int
        0 takes a free one.
    password : str
        For others; empty where the token of the link suffices.
    browser : bool
        Whether to open the browser.
    say : callable
        Prints a line.
    """
    bench = Workbench(session, password)
    held = bound(host, port)
    port = held.getsockname()[1]
    link = link_of(host, port, "" if password else session.token(), place)
    say(f"gnomon is open at {link}")
    say("Ctrl-C ends the server; runs that are at work go on, and the session is kept.")
    threading.Timer(READY, prepare, [bench]).start()
    if browser:
        threading.Timer(0.4, webbrowser.open, [link]).start()
    settings = uvicorn.Config(
        guarded(bench, host, port),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(settings).run([held])
