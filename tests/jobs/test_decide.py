"""The job `gnomon decide`: proposals inside the data, refusals, answers, trials, repetition."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import gnomon
from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.cli import app

SETTINGS = {
    "turn": ["speed=0:10:0.5", "heat", "kind"],
    "want": ["output:more", "cost:less"],
    "learners": ["linear regression"],
    "budget": None,
}


@pytest.fixture(scope="module")
def trials() -> Table:
    rng = np.random.default_rng(3)
    speed, heat = rng.uniform(0, 10, 90), rng.uniform(0, 5, 90)
    kind = np.array(["old", "new"])[rng.integers(0, 2, 90)]
    output = 3 * speed + heat + 4 * (kind == "new") + rng.normal(0, 0.5, 90)
    return Table.from_dict(
        {
            "speed": speed.tolist(),
            "heat": heat.tolist(),
            "kind": kind.tolist(),
            "output": output.tolist(),
            "cost": (speed + 2 * heat + rng.normal(0, 0.2, 90)).tolist(),
            "noise": rng.normal(size=90).tolist(),
        }
    )


@pytest.fixture(scope="module")
def found(trials, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "one"
    trials.save(folder.parent / "trials.csv")
    file = str(folder.parent / "trials.csv")
    return gnomon.improve(
        file, **SETTINGS, worth=["output=1"], trial_cost=1e6, without=["noise"], folder=folder
    )


@pytest.mark.covers("job-decide")
def test_proposals_are_inside_the_data_and_differ(found, trials):
    settings = found.proposals.settings
    assert 5 <= len(settings) <= 9
    assert all(each["speed"] * 2 == round(each["speed"] * 2) for each in settings)
    assert found.proposals.inside.all()
    outputs = [each["output"].value for each in found.proposals.outcomes]
    assert np.ptp(outputs) > 5
    for each in found.proposals.outcomes:
        assert each["output"].low < each["output"].value < each["output"].high < np.inf
    best = settings[int(np.argmax(outputs))]
    assert best["kind"] == "new"
    assert best["speed"] > 8


def test_a_trial_that_costs_more_than_it_promises_is_advised_against(found):
    assert found.stop
    assert "Stop here" in str(found)


def test_the_run_folder_repeats_and_holds_proposals_and_measured_rows(found):
    folder = found.run.path
    names = {each.name for each in folder.iterdir()}
    assert {"run.json", "again.py", "report.html", "proposals.csv", "measured.csv"} <= names
    assert "gnomon.improve(" in (folder / "again.py").read_text(encoding="utf-8")
    assert len(gnomon.read(folder / "measured.csv")) == 90
    assert gnomon.again(folder.name, runs=folder.parent).same
    assert set(found.pictures) == {"proposals", "front", "sweeper of output", "sweeper of cost"}


def test_answers_order_the_proposals_and_contradictions_are_shown(trials):
    outcome = gnomon.improve(
        trials, **SETTINGS, without=["noise"], prefer=["A>B", "B>C", "C>A"], proposals=4
    )
    assert sorted(outcome.contradiction) == [0, 1, 2]
    assert "contradict" in str(outcome)
    wished = gnomon.improve(
        trials, **SETTINGS, without=["noise"], wish=["output:improve", "cost:free"], proposals=4
    )
    outputs = [each["output"].value for each in wished.proposals.outcomes]
    assert outputs[wished.order[0]] > outputs[0]


def test_what_no_model_predicts_is_not_optimized(trials):
    with pytest.raises(DataError, match="noise better than the baseline"):
        gnomon.improve(
            trials, turn=["speed"], want=["noise:more"], learners=["linear regression"], budget=None
        )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"turn": []}, "--turn"),
        ({"want": []}, "--want"),
        ({"turn": ["nothing"]}, "nothing"),
        ({"turn": ["speed=fast"]}, "LOW:HIGH"),
        ({"want": ["output:best"]}, "more, less or near"),
        ({"want": ["kind:more"]}, "holds no numbers"),
        ({"turn": ["output"]}, "turned and wanted"),
        ({"given": ["heat"]}, "NAME=VALUE"),
        ({"prefer": ["A>Z"]}, "two letters"),
    ],
)
def test_bad_words_are_refused_with_the_remedy(changes, words, trials):
    with pytest.raises(DataError, match=words):
        gnomon.improve(trials, **(SETTINGS | {"without": ["noise"]} | changes))


def test_a_column_that_never_varies_cannot_be_turned(trials):
    still = trials.with_column("heat", [1.0] * len(trials))
    with pytest.raises(DataError, match="never varies"):
        gnomon.improve(still, turn=["heat"], want=["output:more"], budget=None)


def test_the_command_keeps_measured_trials_and_uses_them(trials, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trials.save("trials.csv")
    words = ["decide", "trials.csv", "--turn", "speed", "--turn", "heat", "--want", "output:more"]
    words += [
        "--without",
        "noise",
        "--without",
        "cost",
        "--learner",
        "linear regression",
        "--budget",
        "none",
        "--json",
    ]
    for k, row in enumerate(("speed=9,heat=4,output=31.2", "speed=9.5,kind=new,output=33")):
        done = CliRunner().invoke(app, [*words, "--record", row])
        assert done.exit_code == 0, done.output
        kept = gnomon.read("trials.trials.csv")
        assert len(kept) == k + 1
    summary = json.loads(done.output[done.output.index("{") :])
    measured = gnomon.read(tmp_path / summary["folder"] / "measured.csv")
    assert len(measured) == len(trials) + 2
    assert measured.to_dict()["output"][-1] == 33
