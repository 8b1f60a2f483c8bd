"""Run folders: killed, stopped, resumed, repeated, and on a disk that is full."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import time

import numpy as np
import pytest

import gnomon
from gnomon.evaluate import run_folder
from gnomon.table import Table
from gnomon.workbench import whole_file
from gnomon.workbench.runs import RunError, all_runs, read_record
from gnomon.workbench.whole_file import WriteError
from tests.jobs.terminal import arguments, environment

LEARNERS = ["naive Bayes", "random forest"]
OPTIONS = {"learners": LEARNERS, "budget": None, "folds": 4, "repeats": 1, "curve": False}


@pytest.fixture
def file(tmp_path, rng):
    """A table of two classes in a file."""
    x = rng.normal(size=(300, 2))
    y = np.where(x[:, 0] + rng.normal(size=300) > 0, "yes", "no")
    path = tmp_path / "table.csv"
    Table.from_dict({"a": x[:, 0].tolist(), "b": x[:, 1].tolist(), "y": y.tolist()}).save(path)
    return path


def figures(result) -> dict[str, list]:
    """All numbers that a run must give again."""
    scores = {each.name: each.scores["accuracy"].tolist() for each in result.board.results}
    return scores | {"test": [result.test.value]}


@pytest.mark.covers("progress-and-cancel")
def test_a_run_killed_at_work_resumes_from_its_folds_to_the_same_numbers(file, tmp_path):
    words = ["learn", file, "--target", "y", "--budget", "60", "--folds", 4, "--repeats", 1]
    words += ["--name", "killed", "--learner", "naive Bayes", "--learner", "random forest"]
    running = subprocess.Popen(
        arguments(*words),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    folder = tmp_path / "runs" / "killed"
    until = time.monotonic() + 90
    while not list(folder.glob("folds/*/fold-*.json")) and running.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    running.kill()
    running.wait()
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("folds/*/fold-*.json")}
    assert kept
    result = gnomon.resume(folder)
    assert read_record(folder)["status"] == "finished"
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    whole = gnomon.learn(file, "y", **(OPTIONS | {"curve": result.settings.curve}))
    assert figures(result) == figures(whole)


@pytest.mark.covers("progress-and-cancel")
def test_a_run_stopped_by_the_user_says_so_and_goes_on(file, tmp_path):
    def stop(step, done, total):
        if step == "random forest" and done > 5:
            raise KeyboardInterrupt

    folder = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        gnomon.learn(file, "y", folder=folder, progress=stop, **OPTIONS)
    record = read_record(folder)
    assert record["status"] == "stopped"
    assert {"baseline", "naive Bayes"} <= set(record["scores"])
    result = gnomon.resume(folder)
    assert figures(result) == figures(gnomon.learn(file, "y", **OPTIONS))


@pytest.mark.covers("session-script", "reproducible-runs", "recorded-decisions")
def test_the_script_of_a_run_repeats_it_and_the_record_says_what_was_decided(file, tmp_path):
    folder = tmp_path / "first"
    gnomon.learn(file, "y", folder=folder, seed=3, **OPTIONS)
    done = subprocess.run(
        [sys.executable, folder / "again.py"],
        capture_output=True,
        text=True,
        timeout=170,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert "the test figure is as recorded" in done.stdout
    assert gnomon.again(folder).same
    record = read_record(folder)
    assert record["settings"]["seed"] == 3
    assert set(record["versions"]) >= {"python", "numpy", "gnomon"}
    assert all(each["what"] and each["why"] for each in record["decisions"])
    assert any("test rows are put aside" in each["what"] for each in record["decisions"])


def test_again_refuses_data_that_have_changed(file, tmp_path):
    folder = tmp_path / "first"
    gnomon.learn(file, "y", folder=folder, **OPTIONS)
    file.write_text(file.read_text().replace("yes", "yes", 1) + "0.5,0.5,no\n")
    with pytest.raises(RunError, match="changed"):
        gnomon.again(folder)


def test_a_folder_of_another_run_is_refused(file, tmp_path):
    folder = tmp_path / "first"
    gnomon.learn(file, "y", folder=folder, **OPTIONS)
    with pytest.raises(RunError, match="another seed"):
        gnomon.learn(file, "y", folder=folder, seed=1, **OPTIONS)


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_said_and_leaves_nothing_half_written(file, tmp_path, monkeypatch):
    monkeypatch.setattr(whole_file.os, "fsync", full_disk)
    with pytest.raises(WriteError, match="No space left"):
        gnomon.learn(file, "y", folder=tmp_path / "full", **OPTIONS)
    assert not [path for path in (tmp_path / "full").rglob("*") if path.is_file()]


def test_a_disk_that_fills_among_the_folds_leaves_a_run_that_goes_on(file, tmp_path, monkeypatch):
    folder = tmp_path / "full"
    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "write_json", full_disk)
        with pytest.raises(WriteError, match="--resume"):
            gnomon.learn(file, "y", folder=folder, **OPTIONS)
    assert read_record(folder)["status"] == "failed"
    assert figures(gnomon.resume(folder)) == figures(gnomon.learn(file, "y", **OPTIONS))


def test_runs_passes_over_what_is_no_run(tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text(json.dumps({"format": 99}))
    assert all_runs(tmp_path) == []
    with pytest.raises(RunError, match="cannot be read"):
        read_record(tmp_path / "broken")
