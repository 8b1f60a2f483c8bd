"""The command line as a person uses it."""

import contextlib
import json
import signal

import pytest

import gnomon
from gnomon.table import example
from gnomon.workbench.base.screen import interrupt, shown_progress
from tests.jobs.terminal import QUICK, call, run


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A folder in which one quick run was made, and what the run printed."""
    folder = tmp_path_factory.mktemp("learnt")
    example("customers")[slice(0, 300)].save(folder / "small.csv")
    done = run(
        "learn", "small.csv", "--target", "churn", "--save", "m.gnomon", *QUICK, folder=folder
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.covers("command-line-verbs", "baseline-first", "problem-card", "run-report")
def test_learn_prints_card_board_with_baseline_verdict_and_what_it_wrote(learnt):
    folder, printed = learnt
    for word in ("which class is 'churn'", "baseline", "naive Bayes", "95% intervals", "used once"):
        assert word in printed
    run_folder = folder / "runs" / "small-churn-1"
    for name in ("run.json", "report.html", "model.gnomon", "again.py", "leaderboard.csv"):
        assert (run_folder / name).stat().st_size > 0
    assert len(gnomon.predict(folder / "m.gnomon", example("customers")[:5])) == 5


def test_a_second_run_gets_a_folder_of_its_own_and_runs_lists_both(learnt):
    folder, _ = learnt
    done = call("learn", "small.csv", "--target", "churn", *QUICK, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["folder"].endswith("small-churn-2")
    assert said["chosen"] in said["scores"]
    listed = call("runs", folder=folder)
    assert "small-churn-1" in listed.stdout
    assert "small-churn-2" in listed.stdout
    both = call("compare", "small-churn-1", "small-churn-2", folder=folder)
    assert both.returncode == 0, both.stderr
    assert "losses of the same 75 test rows" in both.stdout


@pytest.mark.covers("reproducible-runs")
def test_again_gives_the_same_numbers_and_exit_code_zero(learnt):
    folder, _ = learnt
    done = call("again", "small-churn-1", folder=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "the same numbers" in done.stdout


def test_predict_writes_a_row_for_every_row_and_keeps_a_column(learnt):
    folder, _ = learnt
    done = call(
        *("predict", "runs/small-churn-1", "small.csv", "--keep", "customer_id"),
        *("--undecided", "0.7", "--queue", "ask.csv"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    said = gnomon.read(folder / "predictions.csv")
    assert len(said) == 300
    assert said.columns[:3] == ("customer_id", "prediction", "probability")
    marked = sum(p < 0.7 for p in said.column("probability").to_pylist())
    asked = gnomon.read(folder / "ask.csv") if marked else []
    assert len(asked) == marked


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("learn", "small.csv", "--target", "chrun"), "'churn'"),
        (("learn", "nothing.csv", "--target", "y"), "nothing.csv"),
        (("learn", "small.csv", "--target", "churn", "--budget", "soon"), "no budget"),
        (("learn", "small.csv", "--target", "churn", "--measure", "rmse"), "rmse"),
        (("learn", "small.csv", "--target", "churn", "--learner", "magic"), "magic"),
        (("learn", "--resume", "never"), "never"),
        (("predict", "small.csv", "small.csv"), "small.csv"),
        (("predict", "nothing.gnomon", "small.csv"), "does not exist"),
        (("again", "never"), "no run 'never'"),
        (("compare", "a", "b"), "no run 'a'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line_with_exit_code_two(learnt, words, said):
    folder, _ = learnt
    before = sorted(path.name for path in folder.rglob("*"))
    done = call(*words, folder=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_strict_exits_with_three_where_nothing_beats_the_baseline(tmp_path, rng):
    table = {"x": rng.normal(size=200).tolist(), "y": ["a", "b"] * 100}
    gnomon.table.Table.from_dict(table).save(tmp_path / "noise.csv")
    words = ("learn", "noise.csv", "--target", "y", "--strict", "--json", *QUICK)
    done = call(*words, folder=tmp_path)
    said = json.loads(done.stdout)
    assert done.returncode == (0 if said["beats_baseline"] else 3)


def test_methods_lists_what_is_registered_and_finds_words(tmp_path):
    everything = call("methods", "--json", folder=tmp_path)
    trees = call("methods", "trees", folder=tmp_path)
    nothing = call("methods", "xyzzy", folder=tmp_path)
    names = [each["name"] for each in json.loads(everything.stdout)]
    assert "KMeans" in names
    assert "RandomForestClassifier" in trees.stdout
    assert "KMeans" not in trees.stdout
    assert nothing.returncode == 1
    assert "packages" in nothing.stderr


def test_terms_of_several_words_need_no_quotes(tmp_path):
    found = call("methods", "random", "forest", "--json", folder=tmp_path)
    assert "RandomForestClassifier" in [each["name"] for each in json.loads(found.stdout)]
    told = call("explain", "random", "forest", folder=tmp_path)
    assert "RandomForestClassifier" in told.stdout


@pytest.mark.covers("example-data-register")
def test_examples_are_listed_with_what_they_are_about(tmp_path):
    assert "customers" in json.loads(call("examples", "--json", folder=tmp_path).stdout)


@pytest.mark.covers("theory-desk")
def test_theory_gives_hoeffdings_gap(tmp_path):
    """sqrt(ln(2 / delta) / (2 n)) at n = 1000, delta = 0.05 is 0.042947 (001 4.2.4 at M = 1)."""
    done = call("theory", "--rows", 1000, "--json", folder=tmp_path)
    figures = list(json.loads(done.stdout).values())
    assert figures[0] == pytest.approx(0.042947, abs=1e-6)
    assert figures[1] == pytest.approx(figures[0])


def test_every_command_has_a_help_text_with_an_example(tmp_path):
    from gnomon.workbench.cli import app

    for command in app.registered_commands:
        text = command.callback.__doc__
        assert text
        assert "xample" in text or command.callback.__name__ == "warm"
    assert "--target" in call("learn", "--help", folder=tmp_path).stdout


def test_a_signal_that_python_dropped_stops_the_job_at_its_next_step():
    """Python drops an exception that is raised in a destructor: the job would go on to its end."""
    with shown_progress("learn") as tell:
        tell("first", 1, 3)
        with contextlib.suppress(KeyboardInterrupt):
            interrupt(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            tell("second", 2, 3)
        tell("the job ends its run folder", 3, 3)


def test_version_is_the_packages(tmp_path):
    assert gnomon.__version__ in run("--version", folder=tmp_path).stdout
