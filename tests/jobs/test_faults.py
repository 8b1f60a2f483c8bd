"""A job whose files cannot be written, or that is killed: the error is told, nothing is lost.

As SQLite is tested: every file operation of a small job fails once in turn. Then the same job runs
again in the same folder and gives what an undisturbed run gives.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import GnomonError
from gnomon.table import Table
from gnomon.workbench.base import runs
from gnomon.workbench.base.runs import Run, RunError, locked, read_record
from gnomon.workbench.base.whole_file import WriteError
from gnomon.workbench.learn.job import resume

KILLS = int(os.environ.get("GNOMON_TEST_KILLS", "5"))  # a full proof: 200
LONGEST = 280  # seconds of one command on a busy machine
PER_RUN = 5  # kills of a run at most, so that many kills are of many runs
LEARNERS = ["naive Bayes"]
# few folds, which all write the same kinds of files
SMALL: dict[str, Any] = {"budget": None, "folds": 2, "repeats": 1, "curve": False, "search": False}


class Disk:
    """Counts the file operations below a folder, and lets one of them fail."""

    def __init__(self, folder: Path, failing: int | None = None):
        self.folder, self.failing, self.count = str(folder), failing, 0

    def _pass(self, place) -> None:
        if not isinstance(place, (str, os.PathLike)):
            return
        if os.fspath(place).startswith(self.folder):
            self.count += 1
            if self.count - 1 == self.failing:
                raise OSError(errno.ENOSPC, "No space left on device", os.fspath(place))

    @contextlib.contextmanager
    def watched(self, monkeypatch):
        """Every opening for writing, renaming, and making of folders is counted inside."""
        opening, replacing, making = builtins.open, os.replace, os.mkdir

        def opened(file, mode="r", *args, **named):
            if set(mode) & set("wxa+"):
                self._pass(file)
            return opening(file, mode, *args, **named)

        def replaced(source, target, **named):
            self._pass(target)
            return replacing(source, target, **named)

        def made(path, *args, **named):
            self._pass(path)
            return making(path, *args, **named)

        with monkeypatch.context() as patched:
            patched.setattr(builtins, "open", opened)
            patched.setattr(io, "open", opened)
            patched.setattr(os, "replace", replaced)
            patched.setattr(os, "mkdir", made)
            yield self


@pytest.fixture
def table(rng) -> Table:
    x = rng.normal(size=60)
    return Table.from_dict({"x": x, "z": rng.normal(size=60), "y": np.where(x > 0, "a", "b")})


def learn(table: Table, folder: Path):
    return gnomon.learn(table, "y", learners=LEARNERS, folder=folder, **SMALL)


def look(table: Table, folder: Path):
    return gnomon.look(table, "y", folder=folder)


JOBS = {"learn": learn, "look": look}


def facts(folder: Path) -> dict:
    """What a finished run has recorded, but for times and the process."""
    record = json.loads((folder / "run.json").read_text())
    kept = ("status", "scores", "decisions", "data", "settings", "left_out", "plan")
    return {name: record.get(name) for name in kept}


def assert_told_and_not_lost(job, number: int, folder: Path, expected: dict, monkeypatch) -> None:
    """Operation number `number` fails; then the run is begun again and ends as if it had not."""
    with Disk(folder, number).watched(monkeypatch), contextlib.suppress(GnomonError):
        job(folder)
        assert facts(folder) == expected  # the operation was not needed
    job(folder)
    assert facts(folder) == expected
    assert not [path for path in folder.rglob("*.part")]


def test_a_file_operation_that_fails_is_told_and_nothing_is_lost(table, rng, tmp_path, monkeypatch):
    with Disk(tmp_path / "whole").watched(monkeypatch) as disk:
        learn(table, tmp_path / "whole")
    expected = facts(tmp_path / "whole")
    assert disk.count > 10
    job = partial(learn, table)
    for number in sorted(rng.permutation(disk.count)[:2].tolist()):
        assert_told_and_not_lost(job, number, tmp_path / f"failing{number}", expected, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", JOBS)
def test_every_file_operation_may_fail(name, table, tmp_path, monkeypatch):
    job = partial(JOBS[name], table)
    with Disk(tmp_path / "whole").watched(monkeypatch) as disk:
        job(tmp_path / "whole")
    expected = facts(tmp_path / "whole")
    assert disk.count > 5
    for number in range(disk.count):
        assert_told_and_not_lost(job, number, tmp_path / f"failing{number}", expected, monkeypatch)
        print(f"operation {number + 1} of {disk.count} of {name}", flush=True)


def words_of(folder: Path, file: Path, again: bool) -> list[str]:
    """What is written after ``gnomon`` to begin a run, or to go on with it."""
    if again:
        given = ["--resume", str(folder)]
    else:
        learners = [word for name in LEARNERS for word in ("--learner", name)]
        given = [str(file), "--target", "y", "--name", folder.name, "--budget", "None", *learners]
    return ["learn", *given, "--runs", str(folder.parent)]


def begun(folder: Path, file: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "gnomon", *words_of(folder, file, again=False)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def command_line(words: list[str], log: Path) -> None:
    """The command line in this process, which writes to a file."""
    from gnomon.workbench.cli import main

    sys.argv = ["gnomon", *words]
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        main()


class Commands:
    """Runs of the command line in processes that have it imported, as importing takes seconds."""

    def __init__(self, file: Path, folder: Path):
        self.file, self.log = file, folder / "log.txt"
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["gnomon.workbench.learn.job", "gnomon.workbench.cli"])

    def begun(self, folder: Path) -> multiprocessing.process.BaseProcess:
        words = words_of(folder, self.file, again=(folder / "run.json").exists())
        process = self.context.Process(target=command_line, args=(words, self.log))
        process.start()
        return process

    def ended(self, folder: Path) -> float:
        """Let a run end; its seconds."""
        started = time.monotonic()
        process = self.begun(folder)
        process.join(LONGEST)
        assert process.exitcode == 0, self.log.read_text(errors="replace")[-2000:]
        return time.monotonic() - started


@pytest.mark.timeout(0)
@pytest.mark.parametrize("kills", [1, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_ends_as_an_undisturbed_one(kills, table, rng, tmp_path):
    """Of many kills about three belong to each run; none of them comes after its end."""
    file = tmp_path / "table.csv"
    table.save(file)
    commands = Commands(file, tmp_path)
    seconds = commands.ended(tmp_path / "whole")
    expected = facts(tmp_path / "whole")
    done = runs = 0
    while done < kills:
        runs += 1
        folder = tmp_path / f"killed{runs}"
        done += killed(commands, folder, min(kills - done, PER_RUN), seconds, rng)
        commands.ended(folder)
        assert facts(folder) == expected, f"killed {done} times in {runs} runs"
    print(f"{done} kills in {runs} runs, each of which ended as an undisturbed one")


def killed(
    commands: Commands, folder: Path, most: int, seconds: float, rng: np.random.Generator
) -> int:
    """Kill a run at random moments and begin it again; how often, until it ends by itself."""
    for count in range(most):
        process = commands.begun(folder)
        process.join(rng.uniform(0, 1) * seconds)
        process.kill()
        process.join()
        if process.exitcode == 0:
            return count
        assert process.exitcode == -signal.SIGKILL, commands.log.read_text(errors="replace")[-2000:]
        if (folder / "run.json").exists():
            status = json.loads((folder / "run.json").read_text())["status"]
            assert status in ("running", "finished")
    return most


def test_a_run_that_is_asked_to_end_says_that_it_was_stopped(table, tmp_path):
    file = tmp_path / "table.csv"
    table.save(file)
    process = begun(tmp_path / "run", file)
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, complaints = process.communicate(timeout=60)
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    if process.returncode == 0:  # it was faster
        assert record["status"] == "finished"
        return
    assert process.returncode == 130
    assert "--resume" in complaints
    assert "Traceback" not in complaints
    assert record["status"] == "stopped"


def test_two_processes_cannot_work_in_one_folder(table, tmp_path):
    learn(table, tmp_path / "run")
    held = locked(tmp_path / "run")
    with pytest.raises(RunError, match="another process"):
        learn(table, tmp_path / "run")
    held.close()
    assert learn(table, tmp_path / "run").chosen


def test_a_run_folder_is_closed_to_others(table, tmp_path):
    learn(table, tmp_path / "run")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o700


def test_a_damaged_plan_is_refused_with_the_remedy(table, tmp_path):
    learn(table, tmp_path / "run")
    plan = next((tmp_path / "run" / "folds").rglob("plan.json"))
    plan.write_text("{half")
    with pytest.raises(GnomonError, match=r"plan\.json is damaged.*Delete the folder"):
        learn(table, tmp_path / "run")


@pytest.mark.parametrize(
    ("error", "status"),
    [(OSError(errno.ENOSPC, "No space left on device"), "failed"), (KeyboardInterrupt, "stopped")],
)
def test_a_run_that_ends_on_a_full_disk_says_so(error, status, table, tmp_path, monkeypatch):
    def refuse(path, content):
        raise WriteError(f"cannot write {path}: No space left on device")

    run = Run.begin(tmp_path / "run", table, None, options(), "learn")
    monkeypatch.setattr(runs, "write_whole", refuse)
    with pytest.raises((GnomonError, KeyboardInterrupt)) as caught, run:
        raise error
    if status == "failed":
        assert "No space left" in str(caught.value)
        assert "gnomon learn --resume" in str(caught.value)
    assert read_record(tmp_path / "run")["status"] == status


def options():
    from gnomon.workbench.learn.options import LearnOptions

    return LearnOptions(target="y")


def test_a_resumed_run_keeps_what_was_left_out_and_why(table, tmp_path):
    file = tmp_path / "table.csv"
    table.save(file)
    folder = tmp_path / "run"
    first = gnomon.learn(file, "y", learners=LEARNERS, budget="5s", folder=folder)
    record = json.loads((folder / "run.json").read_text())
    record["status"], record["left_out"] = "stopped", {"slow learner": "forecast: 99 s"}
    record["planned"] = [{"what": "3 splits", "why": "the time was short"}]
    (folder / "run.json").write_text(json.dumps(record))
    again = resume(folder)
    assert again.chosen == first.chosen
    assert again.plan.left_out["slow learner"] == "forecast: 99 s"
    assert {"what": "3 splits", "why": "the time was short"} in again.decisions
