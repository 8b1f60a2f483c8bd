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
from gnomon.evaluate import Estimate, run_folder
from gnomon.table import Table
from gnomon.workbench.base import whole_file
from gnomon.workbench.base.process_mark import mark_of_this_process, tick_of_begin
from gnomon.workbench.base.runs import RunError, all_runs, read_record, state_of
from gnomon.workbench.base.whole_file import WriteError
from gnomon.workbench.learn import job as learn_module
from tests.jobs.terminal import arguments, call, environment

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
    assert (read_record(folder)["status"], state_of(read_record(folder))) == ("running", "stopped")
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


def test_what_is_known_of_a_process_depends_on_the_machine_and_its_start():
    mark = mark_of_this_process()
    assert state_of({"status": "running", "process": mark}) == "running"
    for change, state in (
        ({"host": "another machine"}, "running?"),
        ({"boot": "before the last start"}, "stopped"),
        ({"pid": 2**22 + 1}, "stopped"),
    ):
        assert state_of({"status": "running", "process": mark | change}) == state
    assert state_of({"status": "running"}) == "running?"
    assert state_of({"status": "failed", "process": mark}) == "failed"


def test_a_folder_in_which_another_process_is_at_work_is_refused(file, tmp_path):
    folder = tmp_path / "shared"
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        gnomon.learn(file, "y", folder=folder, **OPTIONS)
        record = read_record(folder) | {"status": "running"}
        began = tick_of_begin(sleeper.pid)
        if began is None:
            pytest.skip("this system does not tell when a process began")
        record["process"] = mark_of_this_process() | {"pid": sleeper.pid, "began": began}
        (folder / "run.json").write_text(json.dumps(record))
        with pytest.raises(RunError, match=f"process {sleeper.pid}"):
            gnomon.resume(folder)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert state_of(read_record(folder)) == "stopped"


def test_runs_names_the_remedy_of_a_run_whose_process_is_gone(file, tmp_path):
    folder = tmp_path / "runs" / "gone"
    gnomon.learn(file, "y", folder=folder, **OPTIONS)
    mark = mark_of_this_process() | {"boot": "before the last start"}
    record = read_record(folder) | {"status": "running", "process": mark}
    (folder / "run.json").write_text(json.dumps(record))
    done = call("runs", folder=tmp_path)
    assert done.returncode == 0
    assert "gnomon learn --resume runs/gone" in done.stdout.replace("\n", "")
    listed = json.loads(call("runs", "--json", folder=tmp_path).stdout)
    assert [each["status"] for each in listed] == ["stopped"]


def script_of(folder, *words, cwd):
    return subprocess.run(
        [sys.executable, folder / "again.py", *words],
        capture_output=True,
        text=True,
        timeout=170,
        env=environment(),
        cwd=cwd,
    )


@pytest.mark.covers("session-script")
def test_the_script_of_an_example_repeats_it_and_of_a_lost_table_asks_for_it(file, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    options = OPTIONS | {"learners": ["naive Bayes"]}
    gnomon.learn("example:iris", "species", folder=tmp_path / "iris", **options)
    done = script_of(tmp_path / "iris", cwd=elsewhere)
    assert (done.returncode, done.stderr) == (0, "")
    gnomon.learn(file, "y", folder=tmp_path / "lost", **options)
    moved = file.rename(elsewhere / "moved.csv")
    done = script_of(tmp_path / "lost", cwd=elsewhere)
    assert done.returncode == 1
    assert "python again.py FILE" in done.stderr
    assert "Traceback" not in done.stderr
    done = script_of(tmp_path / "lost", moved.name, cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert "the result is as recorded" in done.stdout


def test_a_run_with_an_infinite_figure_is_listed_compared_and_repeated(file, tmp_path, monkeypatch):
    folder = tmp_path / "runs" / "first"
    endless = Estimate(np.inf, 0.5, np.inf)
    monkeypatch.setattr(learn_module, "final_figure", lambda *_: endless)
    gnomon.learn(file, "y", folder=folder, measure="log_loss", **OPTIONS)
    assert read_record(folder)["results"]["test"]["value"] is None
    assert gnomon.again(folder).same
    assert call("runs", folder=tmp_path).returncode == 0
    done = call("compare", "first", "first", folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.covers("session-script", "reproducible-runs", "recorded-decisions")
def test_the_script_of_a_run_repeats_it_and_the_record_says_what_was_decided(file, tmp_path):
    folder = tmp_path / "first"
    gnomon.learn(file, "y", folder=folder, random_state=3, **OPTIONS)
    done = subprocess.run(
        [sys.executable, folder / "again.py"],
        capture_output=True,
        text=True,
        timeout=170,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    assert "the result is as recorded" in done.stdout
    assert gnomon.again(folder).same
    record = read_record(folder)
    assert record["settings"]["random_state"] == 3
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
    with pytest.raises(RunError, match="another random_state"):
        gnomon.learn(file, "y", folder=folder, random_state=1, **OPTIONS)


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
