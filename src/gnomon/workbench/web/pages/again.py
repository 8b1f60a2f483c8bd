"""A run is repeated from its record, and its model is written for use without gnomon."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from gnomon.engine.errors import DataError
from gnomon.workbench.base.runs import read_record
from gnomon.workbench.web.app import Asked, NotFound, Workbench, run_of, to
from gnomon.workbench.web.tasks import read_json

TARGETS = ("onnx", "python")


def repeat(bench: Workbench, asked: Asked) -> Response:
    """Repeat a run; its figures are compared with the recorded ones."""
    folder, session = run_of(bench, asked), bench.session
    if read_record(folder).get("status") != "finished":
        raise DataError("The run is not finished, so there is nothing to compare with.")
    name = f"again-{folder.name}"
    state = session.state(name)
    if state is None or state.status != "running":
        line = f"print(gnomon.again({str(folder)!r}))"
        given = {"lines": [line], "words": f"repeat {folder.name}"}
        step = {"id": session.next_id(), "do": "ask", "with": given, "table": False}
        place = str(session.task_folder(name) / "again.json")
        session.begin(name, {"do": "again", "run": str(folder), "to": place, "step": step})
    return to(f"/tasks/{name}")


def repeated(bench: Workbench, asked: Asked) -> Response:
    """What a repetition gave, beside what is recorded."""
    folder = run_of(bench, asked)
    found = read_json(bench.session.task_folder(f"again-{folder.name}") / "again.json")
    if found is None:
        raise NotFound(f"{folder.name} was not repeated")
    names = {**found["recorded"], **found["found"]}
    lines = [(name, found["recorded"].get(name), found["found"].get(name)) for name in names]
    return bench.page("again.html", here="runs", name=folder.name, lines=lines, same=found["same"])


def export(bench: Workbench, asked: Asked) -> Response:
    """Write the model of a run as an ONNX file or as Python; it is a file of the run."""
    from gnomon.workbench.export.job import export as write

    folder, target = run_of(bench, asked), asked.get("to")
    if target not in TARGETS:
        raise DataError(f"{target[:40]!r}: a model is exported to {' or '.join(TARGETS)}")
    path = Path(write(folder, target))
    line = f"gnomon.export({str(folder)!r}, {target!r})"
    bench.session.add("ask", {"lines": [line], "words": f"export to {target}"}, table=False)
    return bench.part(
        "exported.html", run=folder.name, file=path.name, size=path.stat().st_size / 1000
    )


ROUTES = [
    ("/runs/{name}/again", repeat, "POST"),
    ("/runs/{name}/again", repeated, "GET"),
    ("/runs/{name}/export", export, "POST"),
]
