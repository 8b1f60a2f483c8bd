"""Gnomon in a shell: stopped by Ctrl-C, completed by the tab key."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gnomon
from gnomon.table import example
from gnomon.workbench.base.runs import read_record
from tests.jobs.terminal import arguments, call, environment

needs_signals = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal here")


@needs_signals
@pytest.mark.covers("progress-and-cancel")
def test_ctrl_c_in_the_middle_keeps_the_folds_exits_with_130_and_the_run_goes_on(tmp_path):
    example("customers")[:300].save(tmp_path / "table.csv")
    words = ["learn", "table.csv", "--target", "churn", "--name", "stopped", "--budget", "60"]
    words += ["--folds", 5, "--repeats", 1]
    words += ["--learner", "naive Bayes", "--learner", "random forest"]
    running = subprocess.Popen(
        arguments(*words),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=answer_to_ctrl_c,
    )
    folder = tmp_path / "runs" / "stopped"
    until = time.monotonic() + 120
    while not list(folder.glob("folds/random-forest/fold-*.json")) and running.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    said = running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert "what was computed is kept" in said
    assert "--resume" in said
    assert "Traceback" not in said
    record = read_record(folder)
    assert record["status"] == "stopped"
    assert {"baseline", "naive Bayes"} <= set(record["scores"])
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("folds/*/fold-*.json")}
    done = call("learn", "--resume", "stopped", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    resumed = read_record(folder)
    assert resumed["status"] == "finished"
    whole = gnomon.learn(
        tmp_path / "table.csv",
        "churn",
        budget=60,
        folds=5,
        repeats=1,
        learners=["naive Bayes", "random forest"],
        curve=resumed["settings"]["curve"],
    )
    assert resumed["results"]["test"]["value"] == whole.test.value


def answer_to_ctrl_c() -> None:
    """A child of a job in the background would ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def in_shell(shell: str, lines: str, folder: Path) -> list[str]:
    """What a shell prints for a script in which ``gnomon`` is this program."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed on this machine")
    program = folder / "bin" / "gnomon"
    program.parent.mkdir(exist_ok=True)
    program.write_text(
        f"#!{sys.executable}\nimport sys\nfrom gnomon.workbench.cli import main\n"
        "sys.argv[0] = 'gnomon'\nmain()\n"
    )
    program.chmod(0o755)
    # its parent tells gnomon which shell asks
    (folder / f"script.{shell}").write_text(lines)
    done = subprocess.run(
        [shell, folder / f"script.{shell}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=170,
        env=environment() | {"PATH": f"{program.parent}:{os.environ['PATH']}"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


BASH = """
gnomon --show-completion > completion.bash || exit 1
source completion.bash
offer() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _gnomon_completion gnomon
  echo "${COMPREPLY[*]}"
}
complete -p gnomon
offer gnomon le
offer gnomon learn --tar
offer gnomon learn --example cust
offer gnomon again fi
"""


def test_bash_completes_commands_options_examples_and_runs(tmp_path):
    for name in ("first-1", "other-1"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}")
    registered, *offered = in_shell("bash", BASH, tmp_path)
    assert "_gnomon_completion" in registered
    assert [each.split() for each in offered[:4]] == [
        ["learn", "levels"],
        ["--target"],
        ["customers"],
        ["first-1"],
    ]


ZSH = """
autoload -Uz compinit; compinit -u -d ./dump
gnomon --show-completion > completion.zsh || exit 1
_arguments() { print -r -- "$@" }
source ./completion.zsh
print -r -- $_comps[gnomon]
words=(gnomon le); CURRENT=2; _gnomon_completion
words=(gnomon learn --tar); CURRENT=3; _gnomon_completion
"""


def test_zsh_completes_commands_and_options(tmp_path):
    registered, *offered = in_shell("zsh", ZSH, tmp_path)
    assert registered == "_gnomon_completion"
    assert '"learn"' in "\n".join(offered)
    assert '"--target"' in "\n".join(offered)
    assert '"compare"' not in "\n".join(offered)


FISH = """
gnomon --show-completion > completion.fish; or exit 1
source completion.fish
complete --do-complete "gnomon le"
complete --do-complete "gnomon learn --tar"
"""


def test_fish_completes_commands_and_options(tmp_path):
    offered = [line.split("\t")[0] for line in in_shell("fish", FISH, tmp_path) if line]
    assert offered == ["learn", "--target"]


@pytest.mark.parametrize(
    ("shell", "asked"),
    [
        ("bash", {"COMP_WORDS": "gnomon le", "COMP_CWORD": "1"}),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "gnomon le"}),
        (
            "fish",
            {"_TYPER_COMPLETE_ARGS": "gnomon le", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        ),
    ],
)
def test_the_program_answers_what_each_shell_asks(shell, asked, tmp_path):
    """As their scripts ask it; so that a machine without a shell still tests its half."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv[0] = 'gnomon'; from gnomon.workbench.cli import main; main()",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment() | asked | {"_GNOMON_COMPLETE": f"complete_{shell}"},
    )
    assert "learn" in done.stdout
    assert "compare" not in done.stdout
