"""The process of a task: ``python -m gnomon.workbench.web.worker FOLDER``."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gnomon.engine.errors import GnomonError, GnomonWarning
from gnomon.workbench.base.job import INTERIM, Progress
from gnomon.workbench.base.process_mark import mark_of_this_process
from gnomon.workbench.web.tasks import END, MARK, PROGRESS, TASK, read_json, write_json

EVERY = 0.2  # seconds between two reports
AUTOGROUP = Path("/proc/self/autogroup")
MOST_INTERIM = 40  # judgement: the last lines of progress; older ones are of no use


def reporter(folder: Path) -> Progress:
    """Progress that is written to the folder of the task, a few times in a second."""
    shown: dict[str, Any] = {"step": "", "done": 0, "total": 0, "interim": []}
    last = [0.0]

    def tell(step: str, done: int, total: int) -> None:
        now = time.time()
        if step.startswith(INTERIM):
            shown["interim"] = [*shown["interim"], step.removeprefix(INTERIM)][-MOST_INTERIM:]
        else:
            if done < shown["done"] or total != shown["total"] or "step_began" not in shown:
                shown["step_began"] = now
            shown.update(step=step, done=int(done), total=int(total or 0))
        if now - last[0] >= EVERY or step.startswith(INTERIM):
            last[0] = now
            write_json(folder / PROGRESS, shown)

    return tell


def do_read(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """Read a table once and keep its columns as a file that is mapped to memory."""
    from gnomon.workbench.base.given import as_table
    from gnomon.workbench.web.columns import headers_of
    from gnomon.workbench.web.store import write_table

    place = Path(task["to"])
    tell(f"reading {task['source']}", 0, 3)
    table = as_table(task["source"])
    tell("writing the columns", 1, 3)
    write_table(table, place)
    tell("counting values", 2, 3)
    headers_of(table, place.with_suffix(".headers.json"))
    return {"rows": len(table)}


def do_job(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """Run a job on a table, a picture or a function."""
    from gnomon.workbench.base.given import NamedSource
    from gnomon.workbench.jobs import JOBS

    job = JOBS[task["job"]]
    subject: Any = task["subject"]
    rest: dict[str, Any] = {"folder": task["run"], "progress": tell}
    if job.subject == "table":
        subject = _table(task)
        if task.get("source") is not None:
            rest["source"] = NamedSource(task["source"], task.get("called", task["source"]))
    job.function(subject, **task["options"], **rest)
    return {}


def do_resume(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """Go on with a run of `learn` that was stopped."""
    from gnomon.workbench.learn.job import resume

    resume(task["run"], table=_table(task), progress=tell)
    return {}


def do_findings(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """What `look` finds in a table, kept beside it."""
    from gnomon.workbench.look.job import look

    found = look(_table(task), progress=tell)
    write_json(Path(task["to"]), {"findings": [vars(f) for f in found.findings]})
    return {}


def do_columns(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """Columns that a method makes of a table: coordinates of a map, groups, predictions."""
    from gnomon.workbench.web.fitted import with_columns
    from gnomon.workbench.web.store import write_table

    tell(f"fitting {task['method']}", 0, 1)
    table, _ = with_columns(_table(task), task["method"], task["settings"], task["columns"])
    write_table(table, Path(task["to"]))
    return {"rows": len(table)}


def do_replay(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """The steps of a fit, a search or a PageRank, as a figure for each theme."""
    from gnomon.workbench.web.replays import replayed

    asked = task["step"]["with"]
    tell(f"running {asked['method']}", 0, 1)
    write_json(Path(task["to"]), replayed(_table(task), **asked))
    return {}


def do_again(task: dict[str, Any], tell: Progress) -> dict[str, Any]:
    """Repeat a run and compare its figures."""
    from gnomon.workbench.again.job import again

    found = again(task["run"], progress=tell)
    write_json(Path(task["to"]), vars(found) | {"same": found.same})
    return {}


def _table(task: dict[str, Any]) -> Any:
    from gnomon.workbench.web.store import read_table

    return read_table(Path(task["table"]))


WORK: dict[str, Callable[[dict[str, Any], Progress], dict[str, Any]]] = {
    "read": do_read,
    "job": do_job,
    "resume": do_resume,
    "findings": do_findings,
    "columns": do_columns,
    "replay": do_replay,
    "again": do_again,
}


def work(folder: Path) -> str:
    """Do the task of a folder and record how it ended.

    Returns
    -------
    status : {"finished", "failed", "stopped"}
    """
    task = read_json(folder / TASK)
    notes: list[str] = []

    def heard(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, GnomonWarning) and str(message) not in notes:
            notes.append(str(message))

    warnings.showwarning = heard
    end: dict[str, Any]
    try:
        end = {"status": "finished", "result": WORK[task["do"]](task, reporter(folder))}
    except (KeyboardInterrupt, SystemExit):
        end = {"status": "stopped"}
    except GnomonError as error:
        end = {"status": "failed", "error": str(error)}
    except Exception as error:
        traceback.print_exc()
        end = {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    end["at"] = time.time()
    end.setdefault("result", {})
    end["result"]["notes"] = notes
    write_json(folder / END, end)
    return str(end["status"])


def yield_to_pages(niceness: int) -> None:
    """Run at low priority.

    Linux may share the cores between sessions first (autogroup); a task has a session of its own,
    so the niceness of its process alone would change nothing.
    """
    os.nice(niceness)
    with contextlib.suppress(OSError):
        AUTOGROUP.write_text(str(niceness), encoding="ascii")


def main() -> None:
    """Mark the process and do the task."""
    folder = Path(sys.argv[1])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: nothing is lost
    write_json(folder / MARK, mark_of_this_process())
    yield_to_pages(read_json(folder / TASK)["niceness"])
    sys.exit(work(folder) != "finished")


if __name__ == "__main__":
    main()
