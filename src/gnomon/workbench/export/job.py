"""`export`: a fitted model as an ONNX file, or as Python code without dependencies."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from gnomon.engine.errors import DataError
from gnomon.engine.modelfile import load
from gnomon.workbench.base.runs import find_run
from gnomon.workbench.base.whole_file import write_whole
from gnomon.workbench.export.onnx_file import onnx_model
from gnomon.workbench.export.plain_model import plain_model
from gnomon.workbench.export.python_source import python_source

FORMS = {"onnx": ".onnx", "python": ".py"}


def export(
    model: Any,
    to: str = "onnx",
    path: str | PathLike[str] | None = None,
    *,
    runs: str | PathLike[str] = "runs",
) -> Path:
    """Write a fitted model so that it runs without gnomon.

    Use it to predict where gnomon is not installed. Linear models, decision trees, forests and
    histogram gradient boosting can be exported; inputs may be numbers and categories. In an ONNX
    file the input is a matrix of doubles with the columns that the metadata names, of categories
    one for each level; Python code takes the rows of the table as they are.

    Parameters
    ----------
    model : estimator, path of a model file, or name of a run
    to : {"onnx", "python"}, default="onnx"
    path : path, default=None
        By default ``model.onnx`` or ``model.py`` in the run folder or the current one.
    runs : path, default="runs"
        Folder of the run folders.

    Returns
    -------
    path : Path

    Examples
    --------
    >>> import tempfile, runpy
    >>> import gnomon
    >>> from gnomon.linear import LinearRegression
    >>> line = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     code = runpy.run_path(str(gnomon.export(line, "python", f"{folder}/line.py")))
    >>> round(code["predict"]([3.0]), 6)
    7.0
    """
    if to not in FORMS:
        raise DataError(f"to={to!r} is not one of {', '.join(FORMS)}")
    fitted, folder = _loaded(model, Path(runs))
    place = folder / f"model{FORMS[to]}" if path is None else Path(path)
    plain = plain_model(fitted)
    if to == "python":
        return write_whole(place, python_source(plain))
    content: bytes = onnx_model(plain).SerializeToString()
    return write_whole(place, content)


def _loaded(model: Any, runs: Path) -> tuple[Any, Path]:
    """The fitted model, and the folder that it is in."""
    if not isinstance(model, (str, PathLike)):
        return model, Path(".")
    place = Path(model)
    if place.is_file():
        return load(place), place.parent
    folder = find_run(place, runs)
    if not (folder / "model.gnomon").exists():
        raise DataError(f"the run {folder} has no model")
    return load(folder / "model.gnomon"), folder
