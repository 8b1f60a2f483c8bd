"""A model of a run: rows are typed in, sliders sweep its columns, and it says why.

The threshold of two classes is moved by hand over the test rows; the confusion table and the cost
move along.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.table import Table
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.web.app import Asked, Workbench, data
from gnomon.workbench.web.pages.runs import run_of


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
    return bench.page(
        "model.html",
        here="runs",
        name=folder.name,
        record=read_record(folder),
        fields=fields_of_row(sample),
        classes=[str(each) for each in getattr(model, "classes_", [])],
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
    ("/runs/{name}/answer", answer, "POST"),
    ("/runs/{name}/why", why, "POST"),
    ("/runs/{name}/test-rows", test_rows, "GET"),
]
