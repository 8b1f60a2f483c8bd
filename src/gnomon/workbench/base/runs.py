"""Run folders: everything that a job found and decided, written as it comes.

``run.json`` says what was asked, with which data, versions and seed, what was decided and why, and
how far the run is; ``folds/`` holds what every learner said in every fold, so that a killed run
goes on; the rest is written at the end, each file whole or not at all.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import re
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from gnomon.engine.errors import GnomonError
from gnomon.evaluate.run_folder import fingerprint
from gnomon.table import Table
from gnomon.workbench.base.options import Options
from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.process_mark import at_work, mark_of_this_process
from gnomon.workbench.base.whole_file import WriteError, write_whole

FORMAT = 1  # rises with every change of run.json that older versions cannot read
RECORD = "run.json"
PACKAGES = ("gnomon", "numpy", "scipy", "scikit-learn", "numba", "pyarrow", "duckdb")


class RunError(GnomonError):
    """A run folder cannot be used; the message says why and what to do."""


@dataclass
class Run:
    """One run and its folder.

    Attributes
    ----------
    path : Path or None
        None for a run that is not written.
    record : dict
        What ``run.json`` holds.
    before : dict
        What it held where an earlier process began the run.
    lock : HeldFolder or None
        Held as long as this process works in the folder.
    """

    path: Path | None
    record: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    lock: Any = None

    @property
    def called(self) -> str | None:
        """What the table of the run is called: by the session that changed it, else its source."""
        found: str | None = self.record.get("called") or self.record["source"]
        return found

    @classmethod
    def begin(
        cls,
        folder: str | PathLike[str] | None,
        table: Table,
        source: str | None,
        settings: Options,
        job: str,
        *,
        fingerprinted: bool = True,
    ) -> Run:
        """A new run, or one that goes on in its folder; refuses a folder of another run."""
        record = {
            "format": FORMAT,
            "job": job,
            "status": "running",
            "process": mark_of_this_process(),
            "begun": now(),
            "source": source,
            "data": {
                "rows": len(table),
                "columns": list(table.columns),
                "fingerprint": fingerprint(table) if fingerprinted else None,
            },
            "settings": settings.record(),
            "versions": versions(),
            "decisions": [],
            "scores": {},
        }
        called = getattr(source, "called", source)
        if called != source:
            record["called"] = called
        if folder is None:
            return cls(None, record)
        path = Path(folder)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)  # it holds rows of the table
            lock = locked(path)
        except OSError as error:
            raise WriteError(
                f"cannot make the run folder {path}: {error.strerror}. Give another place with "
                "--runs or --name"
            ) from error
        kept = {}
        if (path / RECORD).exists():
            kept = read_record(path)
            require_left(path, kept)
            require_same(path, kept, record, settings)
        run = cls(path, record, kept, lock)
        run.write()
        return run

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, trace: Any) -> None:
        try:
            if kind is not None:
                self.end_early(kind, error)
        finally:
            if self.lock is not None:
                self.lock.close()

    def end_early(self, kind: type[BaseException], error: Any) -> None:
        """Record why the run ended; an error of the disk becomes one that says what to do."""
        is_stop = issubclass(kind, (KeyboardInterrupt, SystemExit))
        self.record.pop("process", None)
        self.record["status"] = "stopped" if is_stop else "failed"
        self.record["error"] = "" if is_stop else f"{kind.__name__}: {error}"
        try:
            self.write()
        except WriteError:  # a full disk
            assert self.path is not None
            mark_in_place(self.path / RECORD, self.record["status"])
        if isinstance(error, OSError) and not isinstance(error, GnomonError):
            is_learn = self.record["job"] == "learn"
            again = f"'gnomon learn --resume {self.path}'" if is_learn else "the same command again"
            raise WriteError(
                f"cannot write in {self.path}: {error.strerror or error}. Free some space; "
                f"{again} goes on from what is kept"
            ) from error

    @property
    def decisions(self) -> list[dict[str, str]]:
        """What was decided, and why."""
        return self.record["decisions"]

    def decide(self, what: str, why: str) -> None:
        """Record a decision."""
        self.decisions.append({"what": what, "why": why})
        self.write()

    def folds(self, name: str) -> Path | None:
        """Where the folds of a learner are kept."""
        return None if self.path is None else self.path / "folds" / plain_name(name)

    def write(self) -> None:
        """Write ``run.json``, whole."""
        if self.path is None:
            return
        content = json.dumps(as_json(self.record), indent=1, ensure_ascii=False)
        write_whole(self.path / RECORD, content + "\n")

    def finish(self, result: Any) -> None:
        """Write all results; the record last, so that a finished run is complete."""
        self.record["settings"] = result.settings.record()
        self.record["results"] = result.summary()
        self.record.pop("process", None)
        self.record["ended"] = now()
        self.record["seconds"] = round(result.seconds, 3)
        if self.path is None:
            self.record["status"] = "finished"
            return
        result.write(self.path)
        self.record["status"] = "finished"
        self.write()


def mark_in_place(place: Path, status: str) -> None:
    """Change the status in a record where it stands: a full disk cannot take a new one."""
    before, after = (f'"status": "{each}"'.encode() for each in ("running", status))
    with contextlib.suppress(OSError, ValueError), open(place, "r+b") as file:
        file.seek(file.read().index(before))
        file.write(after.ljust(len(before)))


def locked(path: Path) -> Any:
    """The folder, opened such that one process can hold it; None where the system cannot."""
    try:
        import fcntl
    except ImportError:
        return None
    held = HeldFolder(path)
    assert held.descriptor is not None
    try:
        fcntl.flock(held.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        held.close()
        raise RunError(
            f"{path} is still being written by another process; wait for it, stop it, or give "
            "another name"
        ) from None
    return held


class HeldFolder:
    """An open folder; closing it, or the end of the process, gives it free."""

    def __init__(self, path: Path):
        self.descriptor: int | None = os.open(path, os.O_RDONLY)

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def __del__(self) -> None:
        self.close()


def now() -> str:
    """This moment, as written in records."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Versions that a run depends on."""
    from importlib.metadata import PackageNotFoundError, version

    from gnomon import __version__

    found = {"python": platform.python_version(), "gnomon": __version__}
    for package in PACKAGES[1:]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def read_record(folder: str | Path) -> dict[str, Any]:
    """The record of a run folder.

    Parameters
    ----------
    folder : path

    Returns
    -------
    record : dict
    """
    place = Path(folder) / RECORD
    try:
        record = json.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{folder} is no run folder: it has no {RECORD}") from None
    except (OSError, ValueError) as error:
        raise RunError(
            f"{place} cannot be read ({error}); delete the folder and run again"
        ) from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise RunError(f"{place} is not of a format that this version of gnomon knows")
    settings = record.get("settings", {})
    if "seed" in settings:  # as written by versions before 0.2
        settings["random_state"] = settings.pop("seed")
    return record


def state_of(record: dict[str, Any]) -> str:
    """How far a run is: its status, where its process may be gone what can be known of it.

    Parameters
    ----------
    record : dict

    Returns
    -------
    state : str
        ``"finished"``, ``"failed"``, ``"stopped"``, ``"running"``, or ``"running?"`` where the
        run was begun on another machine, or by a version that kept no mark of its process.
    """
    if record["status"] != "running":
        return record["status"]
    alive = at_work(record["process"]) if "process" in record else None
    return {True: "running", False: "stopped", None: "running?"}[alive]


def require_left(path: Path, kept: dict[str, Any]) -> None:
    """Refuse a folder in which another process is still at work."""
    mark = kept.get("process")
    if state_of(kept) != "running" or mark == mark_of_this_process():
        return
    raise RunError(
        f"{path} is still being written by process {kept['process']['pid']}; wait for it, or stop "
        "it first"
    )


def require_same(
    path: Path, kept: dict[str, Any], record: dict[str, Any], settings: Options
) -> None:
    """Refuse a folder that holds a run of another job, of other data or with other options."""
    if kept["job"] != record["job"]:
        raise RunError(f"{path} holds a run of 'gnomon {kept['job']}'; give another name")
    if kept["data"]["fingerprint"] != record["data"]["fingerprint"]:
        raise RunError(
            f"{path} holds a run on other data (the table has changed?); give another name"
        )
    free = [each.name for each in settings.declared() if each.free or each.settled]
    old = {k: v for k, v in kept["settings"].items() if k not in free}
    new = {k: v for k, v in record["settings"].items() if k not in free}
    other = sorted(key for key in new if old.get(key) != new[key])
    if other:
        raise RunError(
            f"{path} holds a run with another {', '.join(other)}; give another name for this one"
        )


def all_runs(folder: str | Path) -> list[tuple[Path, dict[str, Any]]]:
    """The runs below a folder, oldest first; what is no run is passed over.

    Parameters
    ----------
    folder : path

    Returns
    -------
    runs : list of (Path, dict)
    """
    found = []
    for place in sorted(Path(folder).glob(f"*/{RECORD}")):
        try:
            found.append((place.parent, read_record(place.parent)))
        except RunError:
            continue
    return sorted(found, key=lambda each: each[1].get("begun", ""))


def new_name(folder: Path, source: str | None, target: str) -> str:
    """A name that is not taken: file, target and a number."""
    stem = "table" if source is None else re.sub(r"^example:", "", source)
    stem = Path(stem).name.split(".")[0]
    base = plain_name(f"{stem}-{target}")
    number = 1
    while (folder / f"{base}-{number}").exists():
        number += 1
    return f"{base}-{number}"


def plain_name(text: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:80].lower() or "run"


def find_run(name: str | Path, runs: str | Path = "runs") -> Path:
    """A run folder by its path or its name; ``last`` is the newest.

    Parameters
    ----------
    name : str or Path
    runs : path, default="runs"

    Returns
    -------
    path : Path
    """
    if str(name) == "last":
        found = all_runs(runs)
        if not found:
            raise RunError(f"there are no runs in {runs}")
        return found[-1][0]
    for place in (Path(name), Path(runs) / str(name)):
        if (place / RECORD).exists():
            return place
    known = [path.name for path, _ in all_runs(runs)]
    listed = f"there are {', '.join(known[-8:])}" if known else "there is none"
    raise RunError(f"there is no run {str(name)!r} in {runs}; {listed}")
