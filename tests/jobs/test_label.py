"""The job ``label``: rows to ask for, answers, a copy of the table, the curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gnomon
from gnomon import show
from gnomon.engine.errors import DataError
from gnomon.evaluate import corrected_t_test
from gnomon.semi import HarmonicLabelPropagation, LabelPropagation
from gnomon.table import Table, read
from gnomon.workbench.label.command import ask
from tests.jobs.terminal import call


def calls(rng, n=120, n_labels=80) -> Table:
    X = rng.normal(size=(n, 2))
    words = np.where(X[:, 0] + X[:, 1] > 0, "sold", "lost").tolist()
    cells = words[:n_labels] + [None] * (n - n_labels)
    table = Table.from_dict({"a": X[:, 0], "b": X[:, 1]})
    return table.with_column("y", cells, kind="category")


@pytest.mark.covers("active-learning")
def test_rows_near_the_border_are_asked_for_and_answers_fill_the_copy(rng, tmp_path):
    table = calls(rng)
    result = gnomon.label(table, "y", n_questions=5, folder=tmp_path / "run")
    assert len(result.questions) == 5
    assert all(row >= 80 for row in result.questions)
    X = table.drop("y").to_pandas().to_numpy()
    margin = np.abs(X.sum(axis=1))
    assert margin[result.questions].mean() < margin[80:].mean()
    assert result.sureness == sorted(result.sureness)
    answers = iter(["sold", "", "q"])
    ask(result, lambda question: next(answers))
    assert result.answers == {result.questions[0]: "sold"}
    again = read(tmp_path / "run" / "labeled.csv")
    cells = again.column("y").to_pylist()
    assert cells[result.questions[0]] == "sold"
    assert sum(cell is not None for cell in cells) == 81
    assert again.columns == table.columns
    assert result.curve is not None
    assert "random choice" in str(result)
    assert (tmp_path / "run" / "report.html").exists()
    for chosen, helps in (([0.90, 0.91, 0.92], True), ([0.70, 0.90, 0.82], False)):
        test = corrected_t_test(chosen, [0.7, 0.72, 0.71], 0.4)
        result.curve = replace(result.curve, test=test)
        assert result.curve.helps == helps == ("it is not shown" not in result.verdict())


@pytest.mark.covers("active-learning")
def test_a_labeled_copy_is_labeled_on(rng, tmp_path):
    first = gnomon.label(calls(rng), "y", n_questions=3, folder=tmp_path / "one")
    for row in first.questions:
        first.answer(row, "sold")
    second = gnomon.label(str(tmp_path / "one" / "labeled.csv"), "y", n_questions=3)
    assert second.n_labeled == 83
    assert not set(first.questions) & set(second.questions)
    with pytest.raises(DataError, match="not chosen"):
        first.answer(0, "sold")


@pytest.mark.covers("active-learning")
def test_without_two_classes_rows_are_drawn_at_random(rng):
    table = calls(rng, 30, 0)
    result = gnomon.label(table, "y", n_questions=4)
    assert len(set(result.questions)) == 4
    assert result.curve is None
    with pytest.raises(DataError, match="every row has a label"):
        gnomon.label(calls(rng, 20, 20), "y")


@pytest.mark.covers("active-learning")
@pytest.mark.covers("job-label")
def test_the_command_lists_the_rows_without_a_terminal(rng, tmp_path):
    from gnomon.workbench.base.whole_file import written

    written(calls(rng, 60, 30), tmp_path / "calls.csv")
    said = call("label", "calls.csv", "--target", "y", "--questions", "2", folder=tmp_path)
    assert said.returncode == 0, said.stderr
    assert "rows to label" in said.stdout
    assert "labeled.csv" in said.stdout


@pytest.mark.covers("active-learning")
def test_the_curve_is_drawn_with_error_bars_and_the_random_choice(rng):
    curve = gnomon.label(calls(rng), "y").curve
    figure = show.label_curves(curve)
    assert [trace.name for trace in figure.data] == ["uncertainty", "random"]
    assert list(figure.data[0].x) == curve.n_labels


@pytest.mark.covers("harmonic-label-propagation", "laplace-relaxation")
@pytest.mark.parametrize(
    "model",
    [
        LabelPropagation(gamma=5, keep_history="full"),
        HarmonicLabelPropagation(solver="relaxation", tol=1e-3, keep_history="full"),
    ],
)
def test_spreading_labels_are_replayed(model, rng):
    X = rng.normal(size=(40, 2))
    y = np.where(np.arange(40) < 6, np.arange(40) % 3, np.nan)
    figure = show.propagation_replay(model.fit(X, y))
    assert 2 <= len(figure.frames) <= 40
    with pytest.raises(DataError, match="keep_history"):
        show.propagation_replay(HarmonicLabelPropagation().fit(X, y))
