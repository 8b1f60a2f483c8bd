"""Work in processes of its own, so that pages stay quick while a fit uses all cores.

A task is a folder: ``task.json`` says what to do, ``mark.json`` which process does it,
``progress.json`` how far it is and ``end.json`` how it ended. A server that starts again finds all
of it there; a process that was begun by an earlier server goes on and is seen as before.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gnomon.workbench.base.plain_data import as_json
from gnomon.workbench.base.process_mark import at_work
from gnomon.workbench.base.whole_file import write_whole

TASK, MARK, PROGRESS, END = "task.json", "mark.json", "progress.json", "end.json"
STARTING = 30.0  # seconds until a process must have left its mark
PATIENCE = 1.2  # seconds that a process gets to end by itself before it is killed
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass
class TaskState:
    """How far a task is.

    Attributes
    ----------
    status : {"running", "finished", "failed", "stopped"}
    step : str
        What is being done.
    done, total : int
    elapsed : float
        Seconds since it began.
    left : float or None
        Seconds that remain, by the pace of this step.
    interim : list of str
        Results on the way.
    error : str
    result : dict
        What a finished task has to tell.
    """

    status: str
    step: str = "starting"
    done: int = 0
    total: int = 0
    elapsed: float = 0.0
    left: float | None = None
    interim: list[str] = field(default_factory=list)
    error: str = ""
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def share(self) -> float | None:
        """What part is done; None where it is not known."""
        return min(self.done / self.total, 1.0) if self.total else None


def write_json(path: Path, content: Any) -> None:
    """Plain data as a file, whole or not at all."""
    write_whole(path, json.dumps(as_json(content), ensure_ascii=False))


def read_json(path: Path) -> Any:
    """The content of a JSON file; None where there is none or it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def start(folder: Path, content: dict[str, Any], program: str) -> None:
    """Begin a task in its folder, by a module that is run; an earlier attempt is forgotten."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (MARK, PROGRESS, END):
        (folder / name).unlink(missing_ok=True)
    write_json(folder / TASK, content | {"started": time.time()})
    with open(folder / "worker.log", "ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", program, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # it outlives the server
        )
    _children[child.pid] = child


def state_of_task(folder: Path) -> TaskState | None:
    """How far the task of a folder is; None where it has none."""
    task = read_json(folder / TASK)
    if task is None:
        return None
    _reap()
    end, progress = read_json(folder / END), read_json(folder / PROGRESS) or {}
    begun = task.get("started", 0.0)
    found = TaskState("running", **{k: v for k, v in progress.items() if k in _SHOWN})
    found.elapsed = max(time.time() - begun, 0.0)
    if end is not None:
        found.status, found.error = end["status"], end.get("error", "")
        found.elapsed, found.result = end.get("at", begun) - begun, end.get("result", {})
        return found
    mark = read_json(folder / MARK)
    alive = at_work(mark) if mark else found.elapsed < STARTING
    if alive is False:
        found.status = "stopped"
        return found
    pace = time.time() - progress.get("step_began", time.time())
    if found.done and found.total:
        found.left = max(pace / found.done * (found.total - found.done), 0.0)
    return found


_SHOWN = ("step", "done", "total", "interim")


def cancel(folder: Path) -> None:
    """End a task: by a signal first, so that the run is recorded as stopped, then killed."""
    mark = read_json(folder / MARK)
    deadline = time.monotonic() + PATIENCE
    while mark is None and time.monotonic() < deadline:
        time.sleep(0.05)
        mark = read_json(folder / MARK)
    if mark is None or at_work(mark) is not True:
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(mark["pid"], sign)
        while time.monotonic() < deadline:
            _reap()
            if at_work(mark) is not True:
                return
            time.sleep(0.05)


def _reap() -> None:
    """Forget processes that have ended."""
    for pid, child in list(_children.items()):
        if child.poll() is not None:
            _children.pop(pid, None)
