"""What pages ask of a fitted model: an answer, curves over each column, reasons."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from gnomon.engine.errors import DataError
from gnomon.show.theme import COLORS, FONT, look
from gnomon.table import Kind, Table, read
from gnomon.workbench.base.given import as_table
from gnomon.workbench.predict.explanation import explained, number_or_word, outcomes, typical_row
from gnomon.workbench.predict.job import matched, said_columns, saved
from gnomon.workbench.web.cells import as_text

SWEPT = 25  # values of a column that a curve shows
MOST_SWEPT = 12  # judgement: each column is predicted at all its points while a person waits
MOST_LEVELS = 12  # judgement: as MOST_SWEPT: a prediction for each level
MOST_TEST_ROWS = 20_000  # judgement: enough for the curve of a threshold, and read at once
MEASURED = (Kind.NUMBER, Kind.INTEGER)


@functools.lru_cache(maxsize=2)
def loaded(folder: Path, changed: float) -> tuple[Any, Table]:
    """The model of a run and its training sample; kept as long as the file does not change."""
    return saved(folder)


def field_of(sample: Table, name: str, value: str | None) -> dict[str, Any]:
    """A field for one column: a slider of its range, a choice of its levels, or words."""
    column = sample.schema[name]
    found: dict[str, Any] = {"name": name, "kind": str(column.kind), "value": value or ""}
    known = sample.column(name).drop_null()
    if column.kind in MEASURED and len(known):
        ends = pc.min_max(known).as_py()
        low, high = float(ends["min"]), float(ends["max"])
        whole = column.kind is Kind.INTEGER
        step = 1 if whole else float(f"{(high - low) / 200 or 1:.1g}")
        found |= {"shape": "slider", "low": low, "high": high, "step": step}
    elif column.kind in (Kind.CATEGORY, Kind.ORDERED) and column.levels:
        found |= {"shape": "choice", "levels": list(column.levels)}
    elif column.kind is Kind.BOOLEAN:
        found |= {"shape": "choice", "levels": list(column.levels or ("false", "true"))}
    else:
        found |= {"shape": "text"}
    return found


def typed_row(sample: Table, values: Any) -> Table:
    """The row that was typed in; what is left empty is missing."""
    if not isinstance(values, dict):
        raise DataError("a row is given as values by column")
    row = typical_row(sample)
    for name, text in values.items():
        column = sample.schema[str(name)]
        if text is None or str(text).strip() == "":
            cell: Any = None
        elif column.kind is Kind.BOOLEAN and column.levels:
            cell = str(text) == column.levels[1]
        else:
            cell = number_or_word(str(text), sample, str(name))
        if column.kind is Kind.DATETIME and cell is not None:
            cell = moment(str(cell), str(name))
        typed = Table.from_dict({str(name): [cell]})
        row = row.with_column(str(name), typed.column(str(name)), kind=column.kind)
    return row


def moment(text: str, name: str) -> Any:
    """A date as it is typed."""
    try:
        return np.datetime64(text.strip().replace(" ", "T"), "us").astype(object)
    except ValueError:
        raise DataError(f"{name}: {text!r} is no date; write it as 2024-05-31") from None


def outcome_of(said: dict[str, Any], wanted: str) -> str:
    """The output that is swept: the wanted one, P of the last class, or the prediction."""
    offered = [name for name in said if name.startswith("P(")]
    if wanted in offered:
        return wanted
    return offered[-1] if offered else "prediction"


def sweeps(model: Any, sample: Table, row: Table, outcome: str, theme: str) -> dict[str, Any]:
    """A curve for every column: the outcome where this column alone takes other values."""
    names = [name for name in sample.columns if swept_values(sample, name)][:MOST_SWEPT]
    colors = look(theme if theme in ("light", "dark") else "light")
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": colors.ink, "family": FONT, "size": 11},
        "showlegend": False,
        "margin": {"l": 45, "r": 10, "t": 10, "b": 40},
        "height": 210 * -(-len(names) // 3) + 30,
        "grid": {"rows": -(-len(names) // 3) or 1, "columns": 3, "pattern": "independent",
                 "ygap": 0.45, "xgap": 0.16},
    }  # fmt: skip
    for k, name in enumerate(names):
        values = swept_values(sample, name)
        found = outcomes(model, sample, {name: values}, row)
        ys = found.column(outcome).to_pylist()
        axis = "" if k == 0 else str(k + 1)
        shape = "lines" if sample.schema[name].kind in MEASURED else "markers"
        place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
        shown = [words(sample, name, each) for each in values]
        trace = {"type": "scatter", "x": shown, "y": ys, "mode": shape} | place
        traces.append(trace | {"line": {"color": COLORS[0]}, "marker": {"color": COLORS[0]}})
        here = row.column(name).to_pylist()[0]
        if here is not None:
            at = outcomes(model, sample, {name: [here]}, row).column(outcome).to_pylist()
            mark = {"color": colors.strong, "size": 9}
            spot = [words(sample, name, here)]
            traces.append({"type": "scatter", "x": spot, "y": at, "marker": mark} | place)
        lines = {"gridcolor": colors.grid, "zeroline": False, "automargin": True}
        layout[f"xaxis{axis}"] = lines | {"title": {"text": name, "standoff": 4}}
        layout[f"yaxis{axis}"] = lines
    if traces and outcome.startswith("P("):
        for key in [each for each in layout if each.startswith("yaxis")]:
            layout[key] |= {"range": [-0.02, 1.02]}
    return {"data": traces, "layout": layout}


def words(sample: Table, name: str, value: Any) -> Any:
    """A value as the axis of its column has it: booleans have the words of the file."""
    column = sample.schema[name]
    if column.kind is not Kind.BOOLEAN:
        return value
    return (column.levels or ("false", "true"))[str(value).lower() == "true"]


def swept_values(sample: Table, name: str) -> list[Any]:
    """The values that a curve of a column goes through; empty where it is not swept."""
    column = sample.schema[name]
    known = sample.column(name).drop_null()
    if column.kind in MEASURED and len(known):
        ends = pc.min_max(known).as_py()
        steps = np.linspace(float(ends["min"]), float(ends["max"]), SWEPT)
        if column.kind is Kind.INTEGER:
            return [int(each) for each in np.unique(np.round(steps))]
        return [float(each) for each in steps]
    if column.kind in (Kind.CATEGORY, Kind.ORDERED) and column.levels:
        return list(column.levels[:MOST_LEVELS])
    if column.kind is Kind.BOOLEAN:
        return ["false", "true"]
    return []


def fields_of_row(sample: Table) -> list[dict[str, Any]]:
    """A field for every column, with the values of a typical row."""
    typical = typical_row(sample)
    cells = dict(zip(typical.columns, as_text(typical)[0]))
    return [field_of(sample, name, cells[name]) for name in sample.columns]


def answer_to(model: Any, sample: Table, row: Table, wanted: str, theme: str) -> dict[str, Any]:
    """What the model says of a row, and how that changes with each column."""
    inputs, notes = matched(model, row, sample.schema)
    said = {name: values[0] for name, values in said_columns(model, inputs).items()}
    outcome = outcome_of(said, wanted)
    figure = sweeps(model, sample, row, outcome, theme)
    return {"said": said, "outcome": outcome, "figure": figure, "notes": notes}


def line_of(folder: Path, row: Table) -> dict[str, Any]:
    """The step that asks the model about a row."""
    cells = {name: row.column(name).to_pylist()[0] for name in row.columns}
    listed = ", ".join(f"{name!r}: [{value!r}]" for name, value in cells.items())
    imports = ["import gnomon", *(["import datetime"] if "datetime." in listed else [])]
    lines = [f"print(gnomon.predict({str(folder)!r}, {{{listed}}}))"]
    return {"lines": lines, "imports": imports, "words": "predict a row"}


def reasons(model: Any, sample: Table, row: Table, theme: str) -> dict[str, Any]:
    """How much every column adds to the prediction of a row, as a figure and in words."""
    found = explained(model, row, sample)
    order = np.argsort(-np.abs(found.values[0]))[::-1]
    colors = look("dark" if theme == "dark" else "light")
    values = found.values[0][order]
    trace = {
        "type": "bar",
        "orientation": "h",
        "x": values.tolist(),
        "y": [found.names[k] for k in order],
        "error_x": {"type": "data", "array": found.errors[0][order].tolist(), "thickness": 1},
        "marker": {"color": [COLORS[0] if v >= 0 else COLORS[1] for v in values]},
    }
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": colors.ink, "family": FONT, "size": 12},
        "margin": {"l": 10, "r": 10, "t": 10, "b": 40},
        "xaxis": {"gridcolor": colors.grid, "title": {"text": f"added to {found.what}"}},
        "yaxis": {"automargin": True},
        "height": 60 + 26 * len(order),
    }
    text = (
        f"{found.what}: {found.outputs[0]:.4g}. On the average of {found.n_background} training "
        f"rows it is {found.base:.4g}; the bars add up to the difference, with standard errors."
    )
    return {"figure": {"data": [trace], "layout": layout}, "text": text}


def chances_of_test_rows(model: Any, sample: Table, folder: Path, source: str) -> dict[str, Any]:
    """Truth and probability of the test rows of a run with two classes."""
    classes = [str(each) for each in getattr(model, "classes_", [])]
    place = folder / "test_predictions.parquet"
    if len(classes) != 2 or not hasattr(model, "predict_proba") or not place.exists():
        raise DataError("A threshold is chosen for two classes with probabilities.")
    told = read(place)[:MOST_TEST_ROWS]
    rows = np.asarray(told.column("row").to_pylist()) - 1
    inputs, _ = matched(model, as_table(source)[rows], sample.schema)
    chances = np.asarray(model.predict_proba(inputs))[:, 1]
    truth = [str(each) for each in told.column("truth").to_pylist()]
    return {
        "classes": classes,
        "positive": [int(each == classes[1]) for each in truth],
        "chance": [round(float(each), 6) for each in chances],
    }
