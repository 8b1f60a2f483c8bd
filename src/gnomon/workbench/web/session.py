"""One session: its steps, the table after each of them, and the tasks that are at work for it.

Everything is in the session folder as soon as it is done, so that a killed server or tab loses
nothing: ``session.json`` has the steps, ``tables/`` the table after each, ``tasks/`` the work.
"""

from __future__ import annotations

import secrets
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError, GnomonError
from gnomon.table import Table
from gnomon.table.sql import without_secret
from gnomon.workbench.base.runs import (
    RECORD,
    RunError,
    find_run,
    new_name,
    plain_name,
    read_record,
)
from gnomon.workbench.jobs import JOBS
from gnomon.workbench.web import steps as step_kinds
from gnomon.workbench.web import worker
from gnomon.workbench.web.columns import headers_of
from gnomon.workbench.web.store import read_table, write_table
from gnomon.workbench.web.tasks import (
    TASK,
    TaskState,
    read_json,
    start,
    state_of_task,
    write_json,
)

SMALL_FILE = 20_000_000  # bytes that are read at once, in a second or two; more in a task
MOST_LOOKED_AT = 3_000_000  # cells that `look` goes through without being asked
NICENESS = 10  # pages come first: a tenth of their share of a core
FORMAT = 1  # rises with every change that older versions cannot read


class Session:
    """What one person does, across pages, tabs and restarts.

    Parameters
    ----------
    folder : path
        Of the session.
    runs : path
        Folder of the run folders.
    niceness : int, default=10
        How far tasks give way to the pages and to other programs, from 0 to 19.
    """

    def __init__(self, folder: Path, runs: Path, niceness: int = NICENESS):
        self.folder, self.runs = Path(folder).resolve(), Path(runs).resolve()
        self.niceness = niceness
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.lock = threading.RLock()
        kept = read_json(self.folder / "session.json")
        fresh = {
            "format": FORMAT,
            "steps": [],
            "at": 0,
            "next": 1,
            "views": [],
            "brush": [],
            "skipped": {},
        }
        self.content: dict[str, Any] = fresh | (kept if isinstance(kept, dict) else {})
        self._table = lru_cache(maxsize=4)(read_table)

    def token(self) -> str:
        """The token of the session: the same after a restart, so that open tabs go on."""
        place = self.folder / "token"
        if not place.exists():
            place.touch(mode=0o600)
            place.write_text(secrets.token_urlsafe(24), encoding="ascii")
        return place.read_text(encoding="ascii").strip()

    def write(self) -> None:
        """Write the state of the session."""
        write_json(self.folder / "session.json", self.content)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """The steps that count; those that were undone come after them."""
        return list(self.content["steps"][: self.content["at"]])

    @property
    def can_redo(self) -> bool:
        return self.content["at"] < len(self.content["steps"])

    def table_place(self, number: int) -> Path:
        """Where the table after a step is kept."""
        return self.folder / "tables" / f"{number}.arrow"

    def table_step(self) -> dict[str, Any] | None:
        """The last step that changed the table."""
        return next((each for each in reversed(self.steps) if each["table"]), None)

    def step_of_run(self, run: Path) -> dict[str, Any] | None:
        """The step whose table a run was given; None where the run is no step that counts."""
        found = None
        for each in self.steps:
            if each["table"]:
                found = each
            if each["do"] == "job" and each["with"]["run"] == str(run):
                return found
        return None

    def table_after(self, step: dict[str, Any]) -> Table:
        """The table that a step made."""
        return self._table(self.table_place(step["id"]))

    @property
    def table(self) -> Table | None:
        """The table after all steps; None before one is opened."""
        step = self.table_step()
        return None if step is None else self.table_after(step)

    def require_table(self) -> tuple[Table, dict[str, Any]]:
        """The table and the step that made it; refuses where there is none."""
        table, step = self.table, self.table_step()
        if table is None or step is None:
            raise DataError("There is no table yet. Open one on the start page.")
        return table, step

    def source(self) -> str:
        """Where the table can be read again: as it was opened, or as the session keeps it."""
        step = self.require_table()[1]
        if step["do"] == "open":
            return str(step["with"]["source"])
        return str(self.table_place(step["id"]))

    def name(self) -> str:
        """What the table is called."""
        opened = [each for each in self.steps if each["do"] == "open"]
        return step_kinds.shortened(opened[-1]["with"]["source"]) if opened else ""

    def words_of_source(self, source: str) -> str:
        """A source as people know it: tables of the session are called as they were opened."""
        place = Path(source)
        if place.parent != self.folder / "tables" or not place.stem.isdigit():
            return source
        steps = [each for each in self.content["steps"] if each["id"] <= int(place.stem)]
        opened = [each["with"]["source"] for each in steps if each["do"] == "open"]
        return f"{step_kinds.shortened(opened[-1])}, changed in this session" if opened else source

    def options_of(self, run: str) -> dict[str, Any]:
        """The options of a run: as it recorded them, else as it was given them."""
        place = self.runs / plain_name(run)
        if not (place / RECORD).exists():
            task = read_json(self.task_folder(plain_name(run)) / TASK) or {}
            if "options" in task:
                return dict(task["options"])
        return dict(read_record(find_run(run, self.runs))["settings"])

    def headers(self) -> list[dict[str, Any]]:
        """What the heads of the columns show."""
        table, step = self.require_table()
        kept = self.table_place(step["id"]).with_suffix(".headers.json")
        return headers_of(table, kept)

    def next_id(self) -> int:
        """A number for a step or a task, used once."""
        with self.lock:
            number = int(self.content["next"])
            self.content["next"] = number + 1
            self.write()
        return number

    def add(self, do: str, given: dict[str, Any], *, table: bool, number: int | None = None) -> int:
        """Append a step that is done; what was undone before is forgotten."""
        with self.lock:
            number = self.next_id() if number is None else number
            step = {"id": number, "do": do, "with": given, "table": table}
            self.content["steps"] = [*self.steps, step]
            self.content["at"] = len(self.content["steps"])
            self.write()
        return number

    def change(self, do: str, given: dict[str, Any]) -> None:
        """Do a step that changes the table, keep the table, and append the step."""
        with self.lock:
            self.adopt(step_kinds.done({"do": do, "with": given}, self.table), do, given)

    def adopt(self, made: Table, do: str, given: dict[str, Any]) -> None:
        """Keep the table that a step has made, and append the step."""
        with self.lock:
            number = self.next_id()
            write_table(made, self.table_place(number))
            self.content["brush"] = []
            self.add(do, given, table=True, number=number)

    def undo(self) -> dict[str, Any] | None:
        """Take the last step back and give it; its run folder, if it has one, stays."""
        return self._walk(-1)

    def redo(self) -> dict[str, Any] | None:
        """Do the step again that was taken back, and give it."""
        return self._walk(1)

    def _walk(self, way: int) -> dict[str, Any] | None:
        with self.lock:
            steps, before = self.content["steps"], self.content["at"]
            self.content["at"] = min(max(before + way, 0), len(steps))
            self.content["brush"] = []
            self.write()
            return None if self.content["at"] == before else steps[min(before, before + way)]

    def open(self, source: str) -> str | None:
        """Open a table: at once where it is small, else as a task whose name is given."""
        try:
            return self._open(source)
        except GnomonError:
            raise
        except (OSError, ValueError) as error:  # a name that no file can have
            raise DataError(f"{without_secret(source)[:80]!r} cannot be read: {error}") from None

    def _open(self, source: str) -> str | None:
        from gnomon.workbench.base.given import as_table

        number = self.next_id()
        place = self.table_place(number)
        shown = step_kinds.public_source(source)
        if is_large(source):
            task = {"do": "read", "source": source, "to": str(place)}
            step = {"id": number, "do": "open", "with": {"source": shown}, "table": True}
            return self.begin(f"read-{number}", task | {"step": step})
        write_table(as_table(source), place)
        self.add("open", {"source": shown}, table=True, number=number)
        return None

    def task_folder(self, name: str) -> Path:
        """The folder of a task; refuses what is no name."""
        if name != plain_name(name):
            raise RunError(f"{name!r} is no name of a run or a task")
        return self.folder / "tasks" / name

    def begin(self, name: str, task: dict[str, Any]) -> str:
        """Start a task."""
        start(self.task_folder(name), task | {"niceness": self.niceness}, worker.__name__)
        return name

    def state(self, name: str) -> TaskState | None:
        """How far a task is; a finished one whose step waits for it is entered."""
        folder = self.task_folder(name)
        found = state_of_task(folder)
        if found is not None and found.status == "finished":
            self._enter(folder)
        return found

    def _enter(self, folder: Path) -> None:
        with self.lock:
            task = read_json(folder / TASK)
            step = task.pop("step", None)
            if step is None or any(each["id"] == step["id"] for each in self.content["steps"]):
                return
            self.content["brush"] = []
            self.add(step["do"], step["with"], table=step["table"], number=step["id"])
            write_json(folder / TASK, task)

    def at_work(self) -> list[str]:
        """Names of the tasks that are running."""
        names = [each.name for each in sorted((self.folder / "tasks").glob("*"))]
        states = {name: self.state(name) for name in names}
        return [name for name, state in states.items() if state and state.status == "running"]

    def table_task(self) -> dict[str, Any]:
        """What every task of the present table is given."""
        step = self.require_table()[1]
        source = self.source()
        called = self.words_of_source(source)
        return {"table": str(self.table_place(step["id"])), "source": source, "called": called}

    def run_job(self, job_name: str, options: dict[str, Any], subject: str = "") -> str:
        """Start a job in a run folder of its own; its name is given."""
        job = JOBS[job_name]
        task: dict[str, Any] = {"do": "job", "job": job_name, "options": options}
        task["subject"] = subject
        if job.subject == "table":
            task |= self.table_task()
        with self.lock:
            stem = self.name() if job.subject == "table" else subject
            name = new_name(self.runs, stem, self._ending(job_name, options))
            (self.runs / name).mkdir(parents=True, mode=0o700)
        task["run"] = str(self.runs / name)
        given = {"job": job_name, "options": options, "run": task["run"], "subject": subject}
        self.add("job", given, table=False)
        return self.begin(name, task)

    @staticmethod
    def _ending(job_name: str, options: dict[str, Any]) -> str:
        target = options.get("target")
        return f"{job_name}-{target}" if isinstance(target, str) else job_name

    def findings(self, *, asked: bool = False) -> tuple[list[dict[str, Any]] | None, str | None]:
        """What `look` found in the table, or the name of the task that looks for it."""
        table, step = self.require_table()
        place = self.table_place(step["id"]).with_suffix(".findings.json")
        found = read_json(place)
        if found is not None:
            return found["findings"], None
        name = f"findings-{step['id']}"
        state = self.state(name)
        if state is not None:
            return ([], None) if state.status in ("failed", "stopped") else (None, name)
        if not asked and table.shape[0] * table.shape[1] > MOST_LOOKED_AT:
            return None, None
        self.begin(name, {"do": "findings", "to": str(place), **self.table_task()})
        return None, name


def is_large(source: str) -> bool:
    """Whether a source takes more than a moment to read."""
    if source.startswith(("example:", "postgresql://", "postgres://")):
        return False
    place = Path(source.partition("#")[0])
    return place.is_file() and place.stat().st_size > SMALL_FILE
