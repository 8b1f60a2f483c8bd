"""Jobs on the workers of a cluster, as a person starts them: ``gnomon learn ... --workers``."""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

import gnomon
from gnomon.distributed.cluster import WorkerState
from gnomon.workbench.base.screen import progress_bar
from tests.jobs.test_faults import facts, table  # noqa: F401

LONGEST = 280  # seconds of one command on a busy machine


@contextlib.contextmanager
def workers_started():
    """``gnomon workers start``: its address and its process; all of it has ended afterwards."""
    command = [sys.executable, "-u", "-m", "gnomon", "workers", "start", "2", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    try:
        line = process.stdout.readline()
        yield re.search(r"tcp://\S+", line)[0], process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def learn(*words):
    command = [sys.executable, "-m", "gnomon", "learn", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.covers("cluster-dask")
def test_a_job_whose_scheduler_is_killed_goes_on_with_another(table, tmp_path):  # noqa: F811
    file = tmp_path / "table.csv"
    table.save(file)
    given = [file, "--target", "y", "--budget", "None", "--runs", tmp_path]
    given += ["--learner", "naive Bayes", "--learner", "random forest"]
    whole = learn(*given, "--name", "whole")
    output = whole.communicate(timeout=LONGEST)
    assert whole.returncode == 0, output

    run = tmp_path / "cut"
    with workers_started() as (address, scheduler):
        job = learn(*given, "--name", "cut", "--workers", address)
        deadline = time.monotonic() + LONGEST
        while len(list(run.rglob("fold*.json"))) < 2 and job.poll() is None:
            assert time.monotonic() < deadline, "no fold was kept"
            time.sleep(0.02)
        os.killpg(scheduler.pid, signal.SIGKILL)
        _, complaints = job.communicate(timeout=LONGEST)
    assert job.returncode not in (0, None), "the job ended before its scheduler did"
    assert "run folder" in complaints
    assert "Traceback" not in complaints

    kept = {path: path.stat().st_mtime_ns for path in run.rglob("fold*.json")}
    with workers_started() as (address, _):
        again = learn("--resume", run, "--runs", tmp_path, "--workers", address)
        output = again.communicate(timeout=LONGEST)
    assert again.returncode == 0, output
    assert kept
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "kept folds are not run again"
    assert facts(run) == facts(tmp_path / "whole")


class TwoWorkers:
    """What a cluster tells of its workers; `lost` stands for a scheduler that is gone."""

    lost = False

    def workers(self):
        if self.lost:
            raise OSError("no scheduler")
        return [
            WorkerState(f"tcp://10.0.0.{k}:9", 2, 3 * 2**30, 8 * 2**30, 5, 4 + k, 150.0)
            for k in (1, 2)
        ]


def test_the_progress_bar_of_a_job_on_workers_shows_memory_and_tasks_of_each():
    cluster = TwoWorkers()
    with gnomon.config(executor=cluster), progress_bar() as bar:
        bar.add_task("learn", total=4)
        shown = render(bar)
        assert "tcp://10.0.0.1:9" in shown
        assert "tcp://10.0.0.2:9" in shown
        assert "3.22 GB" in shown
        assert "150%" in shown
        cluster.lost = True
        bar._looked_at = -math.inf
        assert "tcp://10.0.0.1:9" in render(bar), "the last answer of a scheduler that is gone"
    with progress_bar() as bar:
        assert "tcp" not in render(bar)


def render(bar) -> str:
    paper = Console(width=100, file=io.StringIO())
    paper.print(*bar.get_renderables())
    return paper.file.getvalue()
