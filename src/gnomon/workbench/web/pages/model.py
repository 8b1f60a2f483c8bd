"""A model of a run: rows are typed in, sliders sweep its columns, and it says why.

The threshold of two classes is moved by hand over the test rows; the confusion table and the cost
move along.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.web.app import Asked, Workbench, data, run_of
from gnomon.workbench.web.pages.runs import listed, verdict_of


def model_of(bench: Workbench, asked: Asked) -> tuple[Path, Any, Table]:
    """Folder, model and sample of the run that an address names."""
    from gnomon.workbench.web.sweeper import loaded

    folder = run_of(bench, asked)
    place = folder / "model.gnomon"
    if not place.exists():
        raise DataError(f"{folder.name} has no model")
    return folder, *loaded(folder, place.stat().st_mtime)


def model_page(bench: Workbench, asked: Asked) -> Response:
    """The page of a model, with the fields of a typical row."""
    from gnomon.workbench.web.sweeper import fields_of_row

    folder, model, sample = model_of(bench, asked)
    record = read_record(folder)
    return bench.page(
        "model.html",
        here="runs",
        name=folder.name,
        record=record,
        card=card_of(record, model, sample, bench.session.words_of_source),
        is_open=bench.session.table is not None,
        fields=fields_of_row(sample),
        classes=[str(each) for each in getattr(model, "classes_", [])],
    )


def card_of(
    record: dict[str, Any], model: Any, sample: Table, words: Callable[[str], str]
) -> list[tuple[str, str]]:
    """The model card: what it predicts from what, how well, and what to be careful about."""
    results, settings = record.get("results", {}), record.get("settings", {})
    score = results.get("test") or results.get("test_score") or {}
    card = [
        ("method", str(results.get("chosen", type(model).__name__))),
        ("predicts", str(settings.get("target", ""))),
        ("from", f"{len(sample.columns)} columns: {', '.join(sample.columns)}"),
        ("data", f"{record['data']['rows']:,} rows of {words(record.get('source') or 'a table')}"),
    ]
    if results.get("n_fitted"):
        card.append(("fitted on", f"{results['n_fitted']:,} rows"))
    if score.get("value") is not None:
        how = f"{results.get('measure', 'score')} {score['value']:.4g}"
        if score.get("low") is not None:
            how += f" (95% interval {score['low']:.4g} to {score['high']:.4g})"
        card.append(("on test rows, used once", how))
    worries = [text for kind, text in verdict_of(record) if kind in ("warning", "bad")]
    card.append(("be careful", "\n".join(worries) or "no check found anything"))
    card.append(("made", f"{record.get('begun', '')}, seed {settings.get('random_state', '')}"))
    versions = record.get("versions", {})
    card.append(("with", ", ".join(f"{name} {which}" for name, which in versions.items())))
    return [(label, text) for label, text in card if text.strip(" ,")]


def predict_file(bench: Workbench, asked: Asked) -> Response:
    """Predict the rows of a file or of the table that is open; the answers are a file to keep."""
    from gnomon.workbench.base.whole_file import written
    from gnomon.workbench.predict.job import predict

    folder = run_of(bench, asked)
    path = asked.get("path").strip()
    found = predict(folder, path or bench.session.require_table()[0])
    name = f"predictions-{bench.session.next_id()}.csv"
    written(found.table, folder / name)
    given = repr(path) if path else "table"
    line = f"predictions = gnomon.predict({str(folder)!r}, {given})"
    bench.session.add("ask", {"lines": [line], "words": "predict a table"}, table=False)
    return bench.part(
        "predictions.html",
        name=folder.name,
        it=listed(found.table, name),
        notes=[each for each in (found.score_sentence(), *found.notes) if each],
    )


def answer(bench: Workbench, asked: Asked) -> Response:
    """What the model says of the typed row, and how that changes with each of its columns."""
    from gnomon.workbench.web.sweeper import answer_to, line_of, typed_row

    folder, model, sample = model_of(bench, asked)
    row = typed_row(sample, asked.data("values", {}))
    found = answer_to(model, sample, row, asked.get("outcome"), asked.get("theme", "light"))
    if asked.get("keep") == "yes":
        bench.session.add("ask", line_of(folder, row), table=False)
    return data(found)


def why(bench: Workbench, asked: Asked) -> Response:
    """How much every column adds to the prediction of the typed row."""
    from gnomon.workbench.web.sweeper import reasons, typed_row

    _, model, sample = model_of(bench, asked)
    row = typed_row(sample, asked.data("values", {}))
    return data(reasons(model, sample, row, asked.get("theme", "light")))


def test_rows(bench: Workbench, asked: Asked) -> Response:
    """Truth and probability of the test rows, for the threshold on a slider."""
    from gnomon.workbench.web.sweeper import chances_of_test_rows

    folder, model, sample = model_of(bench, asked)
    source = read_record(folder)["source"]
    if source is None:
        raise DataError("The table of this run was in memory; its test rows are not known.")
    return data(chances_of_test_rows(model, sample, folder, source))


ROUTES = [
    ("/runs/{name}/model", model_page, "GET"),
    ("/runs/{name}/predict", predict_file, "POST"),
    ("/runs/{name}/answer", answer, "POST"),
    ("/runs/{name}/why", why, "POST"),
    ("/runs/{name}/test-rows", test_rows, "GET"),
]
