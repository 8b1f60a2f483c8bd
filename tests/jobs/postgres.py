"""A private PostgreSQL server for tests, in a folder of its own and asking for a password."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

USER, PASSWORD = "ann", "s3cret@horse"
URL_PASSWORD = "s3cret%40horse"  # as a URL must write it
INSTALLED = sorted(Path("/usr/lib/postgresql").glob("*/bin"))  # where Debian keeps it


def program(name: str) -> str | None:
    """Where a program of PostgreSQL is; None where it is not installed."""
    places = os.pathsep.join([os.environ.get("PATH", ""), *map(str, INSTALLED)])
    return shutil.which(name, path=places)


def missing() -> str:
    """Why there can be no server here; empty where there can."""
    absent = [name for name in ("initdb", "postgres") if program(name) is None]
    if absent:
        return f"PostgreSQL is not installed here: there is no {' and no '.join(absent)}"
    try:
        import psycopg
    except ImportError as error:
        return f"PostgreSQL's driver is not installed here: {error}"
    return "" if psycopg.__version__ else "psycopg has no version"


def run_as() -> str | None:
    """Who runs the server: PostgreSQL refuses the administrator."""
    if os.name == "nt" or os.getuid() != 0:
        return None
    import pwd

    names = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The URL of an empty data base with its password, of a server that ends with the block."""
    user = run_as()
    with tempfile.TemporaryDirectory(prefix="gnomon-pg-", ignore_cleanup_errors=True) as name:
        folder, log = Path(name), Path(name, "log")
        (folder / "password").write_text(PASSWORD, encoding="utf-8")
        if user is not None:
            for place in (folder, folder / "password"):
                shutil.chown(place, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        data = str(folder / "data")
        made = subprocess.run(
            [program("initdb"), "-D", data, "-U", USER, f"--pwfile={folder / 'password'}",
             "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync"],
            user=user, capture_output=True, text=True, cwd=folder,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"initdb: {made.stderr}")
        with open(log, "w", encoding="utf-8") as said:
            server = subprocess.Popen(
                [program("postgres"), "-D", data, "-p", str(port), "-h", "127.0.0.1",
                 "-k", str(folder), "-F"],
                user=user, stdout=said, stderr=said, cwd=folder,
            )  # fmt: skip
        url = f"postgresql://{USER}:{URL_PASSWORD}@127.0.0.1:{port}/postgres"
        try:
            wait_for(url, server, log)
            yield url
        finally:
            server.terminate()
            server.wait(30)


def wait_for(url: str, server: subprocess.Popen, log: Path, seconds: float = 60) -> None:
    """Wait until a server answers."""
    import psycopg

    end = time.monotonic() + seconds
    while True:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError as error:
            if server.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start: {log.read_text()}") from error
            time.sleep(0.1)
