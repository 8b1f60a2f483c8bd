"""The job `predict`: columns by name, unseen levels, undecided rows, shifted tables."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import gnomon
from gnomon.engine.errors import DataError, ModelFileError
from gnomon.linear import LinearRegression
from gnomon.table import Table, example, read
from gnomon.workbench.learn.result import written
from gnomon.workbench.predict.job import predict
from tests.jobs.terminal import call

OPTIONS = {"learners": ["naive Bayes"], "budget": None, "folds": 3, "repeats": 1, "curve": False}


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """A finished run on customers, and its folder."""
    folder = tmp_path_factory.mktemp("runs") / "customers"
    return gnomon.learn("example:customers", "churn", folder=folder, **OPTIONS), folder


@pytest.mark.covers("model-files")
def test_order_and_further_columns_change_no_prediction(learnt):
    result, folder = learnt
    table = example("customers")[:150]
    wanted = result.model.predict(result.problem.inputs(table)).tolist()
    turned = table.select(list(table.columns)[::-1]).with_column("more", list(range(150)))
    for given in (table, turned):
        assert predict(folder, given).table.to_dict()["prediction"] == wanted
    assert any("more" in note for note in predict(folder, turned).notes)


def test_every_missing_column_is_named_with_its_nearest(learnt):
    _, folder = learnt
    table = example("customers").rename({"tenure_months": "tenure_month"}).drop("plan")
    with pytest.raises(DataError) as refused:
        predict(folder, table)
    for word in ("2 of the", "'plan'", "'tenure_months'", "'tenure_month'"):
        assert word in str(refused.value)


def test_levels_that_the_model_never_saw_are_said(learnt):
    _, folder = learnt
    table = example("customers")[:150]
    cells = ["abroad", *table.column("region").to_pylist()[1:]]
    table = table.drop("region").with_column("region", cells, kind="category")
    said = predict(folder, table)
    assert len(said) == 150
    assert any("'abroad'" in note for note in said.notes)


@pytest.mark.covers("undecided-queue")
def test_the_queue_holds_exactly_the_rows_below_the_limit(learnt):
    _, folder = learnt
    said = predict(folder, example("customers"), undecided=0.7)
    columns = said.table.to_dict()
    below = [p < 0.7 for p in columns["probability"]]
    assert columns["undecided"] == below
    np.testing.assert_array_equal(said.undecided, np.flatnonzero(below))
    assert len(said.queue()) == sum(below)
    assert "answer" in said.queue().columns
    with pytest.raises(DataError, match="between 0 and 1"):
        predict(folder, example("customers"), undecided=7)


@pytest.mark.covers("shift-check")
def test_rows_of_another_kind_are_noticed_and_rows_of_the_same_kind_are_not(learnt):
    _, folder = learnt
    table = example("customers")
    assert not any("not like the training rows" in note for note in predict(folder, table).notes)
    moved = np.asarray(table.column("monthly_charge").to_pylist(), dtype=float) + 500
    moved_table = table.drop("monthly_charge").with_column("monthly_charge", moved.tolist())
    said = predict(folder, moved_table)
    assert said.shift.found
    assert said.shift.columns[0] == "monthly_charge"
    assert any("not like the training rows" in note for note in said.notes)


def test_text_that_looks_like_a_formula_is_escaped_in_what_is_written(tmp_path):
    table = Table.from_dict({"note": ["=1+1", "@x", "plain"], "n": [-1.0, 2.0, 3.0]})
    lines = written(table, tmp_path / "out.csv").read_text().splitlines()
    assert lines[1].startswith("'=1+1,-1")
    assert lines[2].startswith("'@x,")
    assert lines[3].startswith("plain,")


def test_what_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.gnomon").write_text("not a model")
    with pytest.raises(ModelFileError, match=r"model\.gnomon"):
        predict(tmp_path / "model.gnomon", example("iris"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFileError, match="no run folder"):
        predict(tmp_path / "empty", example("iris"))


@pytest.fixture(scope="module")
def comma_run(tmp_path_factory):
    """A model of a file with decimal commas, days before months and yes and no, and its schema."""
    folder = tmp_path_factory.mktemp("runs") / "commas"
    folder.mkdir()
    lines = [
        f"{'K123'[i % 4]};{i},5;{'no' if i % 3 else 'yes'};{1 + i % 28}/{1 + i % 12}/2024;{i},5"
        for i in range(60)
    ]
    file = folder / "train.csv"
    file.write_text("\n".join(["grade;size;member;since;y", *lines, ""]))
    table = read(file)
    LinearRegression().fit(table, "y").save(folder / "model.gnomon")
    table.schema.save(folder / "schema.toml")
    return folder


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        (["1;1,125;yes;3/4/2024", "2;2,250;no;5/4/2024"], [1.125, 2.25]),
        (["1;1.5;yes;2024-04-03", "2;2.25;no;2024-04-05"], [1.5, 2.25]),
        (["1;4;yes;3/4/2024", "2;7;no;5/4/2024"], [4, 7]),
    ],
)
def test_a_new_file_is_read_as_the_training_file_was_written(rows, sizes, comma_run, tmp_path):
    file = tmp_path / "new.csv"
    file.write_text("\n".join(["grade;size;member;since", *rows, ""]))
    said = predict(comma_run, file)
    assert [day.month for day in said.rows["since"].to_pylist()] == [4, 4]
    np.testing.assert_allclose(said.table.to_dict()["prediction"], sizes)


def test_a_boolean_word_that_the_model_never_saw_is_said(comma_run, tmp_path):
    file = tmp_path / "new.csv"
    file.write_text("grade;size;member;since\n1;1,5;maybe;3/4/2024\n2;2,5;no;5/4/2024\n")
    said = predict(comma_run, file)
    assert any("'maybe'" in note and "'member'" in note for note in said.notes)
    np.testing.assert_allclose(said.table.to_dict()["prediction"], [1.5, 2.5])


def test_a_new_file_in_another_unit_is_refused(tmp_path):
    table = read(b"w,y\n" + b"".join(b"%d kg,%d\n" % (i, i) for i in range(1, 30)))
    LinearRegression().fit(table, "y").save(tmp_path / "model.gnomon")
    table.schema.save(tmp_path / "schema.toml")
    file = tmp_path / "new.csv"
    file.write_text("w\n1000 g\n2000 g\n")
    with pytest.raises(DataError, match=r"'w'.*'kg'.*'g'"):
        predict(tmp_path, file)


@pytest.fixture(scope="module")
def number_run(tmp_path_factory):
    rng = np.random.default_rng(2)
    folder = tmp_path_factory.mktemp("numbers")
    k = rng.integers(0, 50, 120)
    y = np.where(k + 5 * rng.normal(size=120) > 25, "high", "low")
    Table.from_dict({"k": k, "y": y.tolist()}).save(folder / "t.csv")
    options = {"learners": ["naive Bayes"], "budget": None, "folds": 3, "repeats": 1}
    gnomon.learn(folder / "t.csv", "y", folder=folder / "run", curve=False, **options)
    return folder


def test_a_decimal_in_a_column_of_whole_numbers_is_predicted_for_and_noted(number_run):
    (number_run / "new.csv").write_text("k\n1\n24.5\n49\n")
    found = gnomon.predict(number_run / "run", number_run / "new.csv")
    assert len(found) == 3
    assert any("'k' has decimals here" in note for note in found.notes)


def test_where_the_truth_is_there_its_score_is_given(number_run):
    found = gnomon.predict(number_run / "run", number_run / "t.csv")
    measure, score = found.score
    truth = gnomon.read(number_run / "t.csv").to_dict()["y"]
    assert measure == "accuracy"
    assert score.value == np.mean(np.array(truth) == found.table.to_dict()["prediction"])
    assert score.low < score.value < score.high
    assert "On these rows, whose target is known: accuracy" in repr(found)
    assert not any("Not used" in note for note in found.notes), "the target is used, as the truth"


def test_a_score_on_the_rows_of_the_run_is_called_too_good(number_run):
    same = gnomon.predict(number_run / "run", number_run / "t.csv")
    assert any("learnt from most of them" in note for note in same.notes)
    lines = (number_run / "t.csv").read_text().splitlines()
    (number_run / "others.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    others = gnomon.predict(number_run / "run", number_run / "others.csv")
    assert others.score[1].value == same.score[1].value
    assert not any("learnt from most of them" in note for note in others.notes)


def test_a_truth_that_cannot_be_scored_does_not_stop_the_answer(number_run):
    lines = "\n".join(f"{k},2024-01-0{k}" for k in range(1, 9))
    (number_run / "odd.csv").write_text(f"k,y\n{lines}\n")
    found = gnomon.predict(number_run / "run", number_run / "odd.csv")
    assert len(found) == 8
    assert found.score is None or found.score[1].value == 0


def test_a_model_of_text_alone_predicts_for_many_rows(tmp_path):
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 2, 120)
    words = ["a good and fine film", "a bad and dull film"]
    text = [f"{words[k]} of the year {i} which I have seen" for i, k in enumerate(kind)]
    y = np.where(kind == 1, "negative", "positive").tolist()
    Table.from_dict({"text": text, "y": y}).save(tmp_path / "t.csv")
    options = {"learners": ["naive Bayes"], "budget": None, "folds": 3, "repeats": 1}
    gnomon.learn(tmp_path / "t.csv", "y", folder=tmp_path / "run", curve=False, **options)
    found = gnomon.predict(tmp_path / "run", tmp_path / "t.csv")
    assert found.score[1].value > 0.9
    assert any("Not compared with the training rows" in note for note in found.notes)


def test_new_rows_are_read_with_the_flags_of_reading(learnt, tmp_path):
    _, folder = learnt
    table = example("customers")[:20]
    written(table, tmp_path / "new.csv")
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        archive.writestr("readme.txt", "not a table")
        archive.write(tmp_path / "new.csv", "new.csv")
    wanted = predict(folder, tmp_path / "new.csv").table.to_dict()["prediction"]
    out = tmp_path / "said.csv"
    flags = ["--member", "new.csv", "--kind", "tenure_months=number", "--out", str(out)]
    ended = call("predict", folder, tmp_path / "both.zip", *flags, folder=tmp_path)
    assert ended.returncode == 0, ended.stderr
    said = read(out, schema={"prediction": "category"})
    assert said.to_dict()["prediction"] == wanted
