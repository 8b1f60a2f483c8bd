"""The job `predict`: what a saved model says of new rows, and which it should leave to people.

Columns are found by name: their order is free, further columns are not looked at, and missing ones
are named all at once. Undecided cases, whose best class is not probable enough, go to people
(004 3.3: outputs between 0.4 and 0.6); their answers are training rows of the next run.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gnomon.engine.errors import DataError, GnomonError, ModelFileError
from gnomon.engine.modelfile import load
from gnomon.evaluate import Estimate
from gnomon.table import Column, Kind, ReadError, Schema, Table, missing, read
from gnomon.table.codes import (
    boolean_words,
    is_words,
    other_mark,
    plainly,
    refuse_other_unit,
    unseen_words,
)
from gnomon.table.recode import as_strings
from gnomon.workbench.analysis.diagnosis import Shift, shift_check
from gnomon.workbench.base.given import as_table, read_options, split_source
from gnomon.workbench.base.runs import RECORD, read_record
from gnomon.workbench.predict.truth import record_of_learning, score_on, threshold_of

MODEL = "model.gnomon"
SCHEMA = "schema.toml"
SAMPLE = "sample.parquet"
FEWEST_FOR_SHIFT = 100  # judgement: fewer rows do not tell a drift of 0.6 in area from chance
WORDS = (Kind.CATEGORY, Kind.ORDERED)


@dataclass
class Predictions:
    """What a model says of rows.

    Attributes
    ----------
    table : Table
        ``prediction``, for classes also ``probability`` of the predicted one and of each class,
        ``decision`` by the threshold of least cost where the run was given costs,
        for groups that a person has named ``group``, and ``undecided`` where a limit was given.
    rows : Table
        The rows as they were given.
    undecided : ndarray of int
        Positions of the rows to be left to people.
    notes : list of str
        What was left out or looks wrong.
    shift : Shift or None
        Are the rows like those that the model learnt from? None where that is not known.
    score : (str, Estimate) or None
        The run's measure on these rows, where their target is known.
    """

    table: Table
    rows: Table
    undecided: np.ndarray
    notes: list[str] = field(default_factory=list)
    shift: Shift | None = None
    score: tuple[str, Estimate] | None = None

    def queue(self, target: str = "answer") -> Table:
        """The undecided rows with what the model would say, and a column for people's answers.

        Parameters
        ----------
        target : str, default="answer"
            Name of the column to be filled in.

        Returns
        -------
        queue : Table
        """
        taken = self.rows[self.undecided]
        said = self.table[self.undecided]
        columns = taken.drop([n for n in (target,) if n in taken.columns]).to_dict()
        columns |= {n: v for n, v in said.to_dict().items() if n in ("prediction", "probability")}
        return Table.from_dict(columns | {target: [""] * len(taken)})

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        scored = [self.score_sentence()] if self.score is not None else []
        return "\n".join([repr(self.table), *scored, *self.notes])

    def score_sentence(self) -> str:
        """The score on these rows, in a sentence; empty where their target is not known."""
        if self.score is None:
            return ""
        measure, value = self.score
        return f"On these rows, whose target is known: {measure} {value}."


def predict(
    model: Any,
    table: Any,
    *,
    undecided: float | None = None,
    check_shift: bool = True,
) -> Predictions:
    """Ask a saved model about new rows.

    Parameters
    ----------
    model : fitted estimator, result of `learn`, path of a model file, or path of a run folder
        A run folder also knows the kinds of the columns, and rows to compare the new ones with.
        The folder of a run of `forecast` goes on with its forecast: the table has all values up to
        now, and the predictions are the steps after them.
    table : Table, data frame, array of shape (n, d), or path of a file
        The columns of an array are x0, x1, and so on.
    undecided : float, default=None
        Rows whose most probable class has less than this are marked, to be left to people.
    check_shift : bool, default=True
        Ask whether the rows are like those of training, where the run folder has a sample.

    Returns
    -------
    predictions : Predictions

    Examples
    --------
    >>> from gnomon.bayes import NaiveBayes
    >>> from gnomon.table import example
    >>> iris = example("iris")
    >>> said = predict(NaiveBayes().fit(iris, "species"), iris[:3])
    >>> said.table.to_dict()["prediction"]
    ['setosa', 'setosa', 'setosa']
    """
    if is_path(model) and job_of(Path(model)) == "forecast":
        return next_forecast(Path(model), table)
    folder = run_folder_of(model)
    fitted = load(folder / MODEL if folder else model) if is_path(model) else model
    fitted = getattr(fitted, "model", fitted)  # a result of `learn` holds its model
    schema = schema_of(folder)
    rows = read_as_learnt(table, schema) if is_path(table) else as_table(table)
    if not len(rows):
        raise DataError("the table has columns and no rows; there is nothing to predict for")
    record = None if folder is None else record_of_learning(folder)
    target = None if record is None else record["settings"]["target"]
    inputs, notes = matched(fitted, rows, schema, target)
    columns = said_columns(fitted, inputs)
    marked = np.zeros(0, dtype=int)
    if undecided is not None:
        if "probability" not in columns:
            raise DataError("undecided= needs probabilities of classes, and this model has none")
        if not 0 < undecided < 1:
            raise DataError(f"undecided={undecided} must lie between 0 and 1, such as 0.6")
        marks = np.asarray(columns["probability"]) < undecided
        columns["undecided"] = marks.tolist()
        marked = np.flatnonzero(marks)
    found = Predictions(Table.from_dict(columns), rows, marked, notes)
    if folder is None:
        return found
    if check_shift:
        found.shift = shift_against(folder / SAMPLE, inputs, notes)
    found.score = score_on(folder, fitted, rows, inputs, notes)
    found.table = with_decisions(found.table, folder)
    return found


def job_of(folder: Path) -> str | None:
    """The job whose run a folder holds; None where it holds none."""
    if not (folder / RECORD).exists():
        return None
    return str(read_record(folder)["job"])


def next_forecast(folder: Path, table: Any) -> Predictions:
    """The forecast of a run, continued after the values of a table."""
    from gnomon.workbench.forecast.continued import continued

    rows = read_as_learnt(table, None) if is_path(table) else as_table(table)
    forecasts, notes = continued(folder, rows)
    return Predictions(forecasts, rows, np.zeros(0, dtype=int), notes)


def saved(model: Any) -> tuple[Any, Table]:
    """The model of a run folder and the training rows that the run has kept."""
    folder = run_folder_of(model)
    if folder is None or not (folder / SAMPLE).exists():
        raise DataError(
            f"{model} is no run folder with training rows to compare with; give the folder that "
            "'gnomon learn' wrote"
        )
    fitted = load(folder / MODEL)
    sample, schema = read(folder / SAMPLE), schema_of(folder)
    names = wanted_columns(fitted)
    sample = sample.select(names)
    return fitted, sample if schema is None else sample.with_schema(schema.select(names))


def with_decisions(table: Table, folder: Path) -> Table:
    """Predictions with what is decided by the run's threshold of least cost, where it has one."""
    threshold = threshold_of(folder)
    if threshold is None:
        return table
    name = f"P({threshold['positive']})"
    if name not in table.columns:
        return table
    called = np.asarray(table.column(name).to_pylist(), dtype=float) >= threshold["value"]
    decided = [threshold["positive"] if each else threshold["negative"] for each in called]
    return table.with_column("decision", decided)


def is_path(given: Any) -> bool:
    """Whether something names a file."""
    return isinstance(given, (str, os.PathLike))


def run_folder_of(model: Any) -> Path | None:
    """The run folder that a path is, or lies in."""
    if not is_path(model):
        return None
    path = Path(model)
    if path.is_dir():
        if not (path / MODEL).exists():
            raise ModelFileError(
                f"{path} has no {MODEL}: it is no run folder, its run is not finished, or it chose "
                "an estimator of another library, which no model file holds"
            )
        return path
    beside = path.parent
    return beside if path.name == MODEL and (beside / "run.json").exists() else None


def schema_of(folder: Path | None) -> Schema | None:
    """The kinds of the training columns, where they were kept."""
    if folder is None or not (folder / SCHEMA).exists():
        return None
    return Schema.load(folder / SCHEMA)


def read_as_learnt(path: Any, schema: Schema | None) -> Table:
    """A file, its values taken as those of the training file are written wherever they can be.

    What a mark or a date means is guessed from the file alone at first; columns of which the guess
    is not what the run's schema says are read again by the schema.

    Parameters
    ----------
    path : str or path
        May end with how it is read, as `with_reading` writes it.
    schema : Schema or None
        The columns of training.

    Returns
    -------
    rows : Table
    """
    place, reading = split_source(os.fspath(path))
    options = read_options(reading)
    told = options.pop("schema", {})
    rows = read(place, **options, schema=told or None)
    again = {}
    for learnt in schema or ():
        if learnt.name in told:
            continue
        if learnt.name in rows.columns and read_otherwise(learnt, rows.schema[learnt.name]):
            again[learnt.name] = as_written(learnt)
    while again:
        try:
            read_again = read(place, **options, schema=Schema(again.values()))
        except ReadError as error:
            if error.column not in again:
                raise
            del again[error.column]  # it is not written as in training: its own marks count
            continue
        for name in again:
            rows = with_column_of(rows, read_again, name)
        break
    return rows


def read_otherwise(learnt: Column, here: Column) -> bool:
    """Whether a column was read with other marks, another format or another kind than in training.

    Whole numbers without marks are what they are.
    """
    if learnt.kind.is_numeric and here.kind.is_numeric:
        marked = here.kind is Kind.NUMBER or here.thousands is not None
        return marked and marks_of(learnt) != marks_of(here)
    if learnt.kind is Kind.DATETIME:
        return here.kind is Kind.DATETIME and learnt.format not in (None, here.format)
    return learnt.kind in WORDS and here.kind not in (*WORDS, Kind.TEXT)


def marks_of(column: Column) -> tuple[str, str | None]:
    """The mark before decimals and that between thousands."""
    return column.decimal or ".", column.thousands


def as_written(learnt: Column) -> Column:
    """How a column of training is written, whatever its levels were."""
    if learnt.kind not in WORDS:
        return plainly(learnt)
    words = missing.ALWAYS if learnt.missing is None else learnt.missing
    words = tuple(word for word in words if word not in (learnt.levels or ()))
    return replace(learnt, kind=Kind.CATEGORY, levels=None, missing=words)


def with_column_of(rows: Table, other: Table, name: str) -> Table:
    """A table with one of its columns taken from another."""
    place = rows.columns.index(name)
    arrow = rows.arrow.set_column(place, name, other.column(name))
    return Table(arrow, rows.schema.with_column(other.schema[name]), rows.notes)


def wanted_columns(model: Any) -> list[str]:
    """Names of the columns that a model was fitted on."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise DataError(
            f"this {type(model).__name__} was fitted on an array without column names; predict "
            "with arrays: model.predict(X)"
        )
    return [str(name) for name in names]


def matched(
    model: Any, rows: Table, schema: Schema | None, target: str | None = None
) -> tuple[Table, list[str]]:
    """The columns that the model wants, by name and of their kinds; says what was left out.

    The target is no such column: where it is there, the predictions are scored by it.
    """
    wanted = wanted_columns(model)
    missing = [name for name in wanted if name not in rows.columns]
    if missing:
        raise DataError(missing_columns(missing, rows.columns, wanted))
    extra = [name for name in rows.columns if name not in wanted and name != target]
    notes = [f"Not used: {', '.join(extra)}."] if extra else []
    inputs = rows.select(wanted)
    if schema is not None:
        inputs, said = without_unseen_words(inputs, schema)
        notes += said + [note for name in wanted if (note := written_note(schema[name], inputs))]
        learnt, said = with_decimals(inputs, schema.select(wanted))
        notes += said
        inputs = inputs.with_schema(learnt, unseen="extend")
        notes += unseen_levels(inputs, schema)
    return inputs, notes


def written_note(learnt: Column, inputs: Table) -> str | None:
    """What to know of a column that is not written as in training; another unit is refused."""
    here = inputs.schema[learnt.name]
    refuse_other_unit(learnt, here)
    return other_mark(learnt, here)


def with_decimals(inputs: Table, schema: Schema) -> tuple[Schema, list[str]]:
    """The schema of training, with numbers where whole numbers have decimals here."""
    notes = []
    for name in inputs.columns:
        whole = schema[name].kind is Kind.INTEGER
        if whole and has_decimals(inputs.column(name)):
            schema = schema.with_column(replace(schema[name], kind=Kind.NUMBER))
            notes.append(f"{name!r} has decimals here; in training it had whole numbers alone.")
    return schema, notes


def has_decimals(values: pa.ChunkedArray) -> bool:
    """Whether a column of numbers has one that is not whole."""
    if not pa.types.is_floating(values.type):
        return False
    found = values.drop_null().to_numpy()
    found = found[np.isfinite(found)]
    return bool((found != np.floor(found)).any())


def without_unseen_words(inputs: Table, schema: Schema) -> tuple[Table, list[str]]:
    """Words that are neither of the two of a training column are missing values, and reported."""
    notes = []
    for name in inputs.columns:
        learnt, values = schema[name], inputs.column(name)
        if learnt.kind is Kind.BOOLEAN and learnt.levels and is_words(values.type):
            known, unseen = boolean_words(as_strings(values), learnt.levels)
            if unseen:
                inputs = inputs.with_column(name, known, kind=Kind.TEXT)
                notes.append(unseen_words(learnt, unseen))
    return inputs, notes


def missing_columns(missing: list[str], present: Any, wanted: list[str]) -> str:
    """The error that names every missing column, with those that come near."""
    lines = []
    for name in missing[:20]:
        near = get_close_matches(name, list(present), n=1)
        lines.append(f"{name!r} (is it {near[0]!r}?)" if near else repr(name))
    more = f" and {len(missing) - 20} more" if len(missing) > 20 else ""
    return (
        f"{len(missing)} of the {len(wanted)} columns that the model needs are not in the table: "
        f"{', '.join(lines)}{more}. The table has: {', '.join(list(present)[:30])}. "
        "Where a column is not known, add it with empty cells"
    )


def unseen_levels(inputs: Table, schema: Schema) -> list[str]:
    """Categories that the model has never seen, reported per column."""
    notes = []
    for column in inputs.schema:
        known = schema[column.name].levels
        new = [level for level in column.levels or () if level not in known] if known else []
        if new:
            listed = ", ".join(map(repr, new[:5])) + (" ..." if len(new) > 5 else "")
            notes.append(f"{column.name!r} has levels that the model never saw: {listed}.")
    return notes


def said_columns(model: Any, inputs: Table) -> dict[str, list[Any]]:
    """What the model says, column by column."""
    said = np.asarray(model.predict(inputs))
    columns: dict[str, list[Any]] = {"prediction": said.tolist()}
    if hasattr(model, "group_names_"):
        columns["group"] = [model.group_names_[group] for group in said]
    if hasattr(model, "predict_proba"):
        given = np.asarray(model.predict_proba(inputs))
        columns["probability"] = given.max(axis=1).tolist()
        names: Any = getattr(model, "group_names_", range(given.shape[1]))
        for place, name in enumerate(getattr(model, "classes_", names)):
            columns[f"P({name})"] = given[:, place].tolist()
    return columns


def shift_against(sample: Path, inputs: Table, notes: list[str]) -> Shift | None:
    """Compare new rows with the kept training rows; notes say what was found."""
    if not sample.exists():
        return None
    if len(inputs) < FEWEST_FOR_SHIFT:
        notes.append(f"Fewer than {FEWEST_FOR_SHIFT} rows: not compared with the training rows.")
        return None
    try:
        shift = shift_check(read(sample), inputs)
    except GnomonError as error:
        notes.append(f"Not compared with the training rows: {error}.")
        return None
    if shift.found and shift.area.value > 0.6:
        notes.append(
            f"These rows are not like the training rows (a classifier between them has "
            f"area {shift.area}, by {', '.join(shift.columns)}): the model's figure may not "
            "hold for them."
        )
    return shift
