"""The command ``gnomon open``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from gnomon.workbench.base.completion import example_names
from gnomon.workbench.base.screen import say

PASSWORD = "GNOMON_PASSWORD"


def open_in_browser(
    file: Annotated[str | None, typer.Argument(help="A table to begin with.")] = None,
    example: Annotated[
        str | None,
        typer.Option(help="Begin with a bundled example table.", autocompletion=example_names),
    ] = None,
    port: Annotated[int, typer.Option(help="0 takes a free one.", min=0, max=65535)] = 8020,
    host: Annotated[
        str, typer.Option(help="The address to listen on; others can enter with a password.")
    ] = "127.0.0.1",
    runs: Annotated[Path, typer.Option(help="Folder of the run folders.")] = Path("runs"),
    session: Annotated[
        Path | None, typer.Option(help="Folder of the session; by default RUNS/.session.")
    ] = None,
    niceness: Annotated[
        int, typer.Option(help="How far jobs give way to other programs.", min=0, max=19)
    ] = 10,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
) -> None:
    """Open the workbench in a browser: tables, views, jobs and runs, with the script of it.

    The page is for this machine alone: the printed link holds a token. With --host others can
    enter; they need a password (asked for, or taken from GNOMON_PASSWORD), and can then read what
    you can read and run jobs as you. The connection is not encrypted.

    Examples:

      gnomon open sales.csv

      gnomon open --example customers
    """
    from gnomon.workbench.web.server import LOCAL, serve
    from gnomon.workbench.web.session import Session

    if file is not None and example is not None:
        raise typer.BadParameter("give a file, or --example NAME")
    kept = Session(session or runs / ".session", runs, niceness)
    given = file if example is None else f"example:{example}"
    place = "/"
    if given is not None:
        say(f"reading {given}")
        task = kept.open(given)
        place = "/table" if task is None else f"/tasks/{task}"
    password = ""
    if host not in LOCAL:
        say(
            f"Everyone who can reach {host} and has the password can read the files that you can "
            "read, and run jobs as you; the connection is not encrypted."
        )
        password = os.environ.get(PASSWORD) or typer.prompt("Password", hide_input=True)
    serve(kept, place, host, port, password, browser, typer.echo)  # a link is not wrapped
